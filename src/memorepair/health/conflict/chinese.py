"""Chinese: the tables of the conflict rules."""

from __future__ import annotations

import re
from types import MappingProxyType

from memorepair.health.conflict.tables import Tables, pairs, words

_PLUS = "喜欢|喜爱|热爱|很爱|爱吃|爱喝|爱|接受|想要|要|吃|喝"
_MINUS = "讨厌|厌恶|拒绝|反感|避免|忌"

CHINESE = Tables(
    language="zh",
    spelling=tuple(
        (re.compile(pattern), replacement)
        for pattern, replacement in ((r"^(?:更正|更新)[:,，]\s*", ""), (r"^我", "用户"))
    ),
    numbers=re.compile(
        r"(?<=[上下]午)[零一二三四五六七八九两十]+(?=点)|[零一二三四五六七八九两十百千万]+(?=[岁元秒分天个月年公])"
    ),
    scenes=re.compile(r"^(在公司|在家|[^，]{1,6}时|周末|工作日|平时|假期)[，,]\s*"),
    limits=re.compile("少量|少许|一点|偶尔|适量|微"),
    preference=re.compile(
        r"^(?P<s>用户|.{2,3}?)(?:早上|晚上)?(?P<n>不|从不|没|不再|不能|不可以)?(?:可以|能|会)?"
        rf"(?:(?P<m>{_MINUS})|(?:接受|可以吃|{_PLUS}))(?P<v>.+)"
    ),
    not_preference=re.compile("喜欢的.+是"),
    habits=re.compile(
        r"^(?P<s>用户|.{2,3}?)(?:周末|早上|晚上)*(?P<n>不|从不)?(?P<v>跑步|喝酒|抽烟|加班|开车)"
    ),
    attributes=tuple(
        (re.compile(pattern), attribute)
        for pattern, attribute in (
            (r"^(?P<s>.+?)(?:现在|目前|现)?(?:居住在|居住于|搬到了?|住在|现居)(?P<v>.+)", "residence"),
            (r"^(?P<s>.+?)(?:现在)?在(?P<v>.+?)(?:工作|上班)$", "employer"),
            (r"^(?P<s>.+?)对(?P<v>.+?)(?P<n>不|没有)?过敏", "allergic"),
            (r"^(?P<s>.+?)(?:今年)?(?P<v>\d+)岁", "age"),
            (r"^(?P<s>.+?)在(?P<v>\d.*?)(?:开始|举行)$", "time"),
            (r"^(?P<s>.+?)改到(?P<v>\d.*?)$", "time"),
            (r"^(?P<s>.+?)(?P<a>会说|去过|养了)(?P<v>.+)", "{a}"),
            (r"^(?P<s>.+?)用(?P<v>.+?)(?P<a>测试)过", "tested with"),
            (r"^(?P<s>.+?)(?P<n>没有|有)(?P<v>.+)", "has"),
            (r"^(?P<s>.+?)(?P<n>不需要|需要)(?P<v>.+)", "needs"),
            (r"^(?P<s>.+?)(?:的名字)?(?:是|叫做|叫|名叫)(?P<v>.+)", "is"),
            (r"^(?P<s>.+?)已?(?P<v>启用|禁用|营业|关门|单身|已婚|未婚|上线|下线)$", "is"),
        )
    ),
    idle=re.compile("(?<=用户)(并|也|目前|非常|最)(?!喜欢的)|了$"),
    negation=re.compile("不|没"),
    denial=re.compile("[已还]?[不没未](?:有|再)?|已"),
    denials=re.compile("不|没|未"),
    antonyms=pairs(
        "启用/禁用 开启的/关闭的 营业/关门 单身/已婚 已婚/未婚 热/冷 早上/晚上 上线/下线 公开/私有 允许/禁止"
    ),
    units=MappingProxyType(
        {"分钟": ("second", 60.0), "小时": ("second", 3600.0), "秒": ("second", 1.0), "万元": ("元", 1e4)}
    ),
    many=words("会说 去过 养了 测试 爱好 过敏 语言 技能 兴趣 朋友 同事 兄弟 姐妹 孩子 儿子 女儿 客户 宠物"),
    single=words(
        "住址 地址 城市 国家 公司 职业 职位 年龄 生日 姓名 状态 优先级 截止日期 负责人 经理 版本 预算 时区"
    ),
    change=re.compile("更正|更新|改|换|不再|搬"),
    excludes=re.compile("从不|从来|从没|没有|(?<![一二两三四五六七八九十几\\d])只|总是|每天|吃素"),
    fillers=frozenset("用户的是在"),
    pronouns=words("它 这 那 这个 那个 这里 那里 他 她 他们 她们 我们 大家 其中"),
    speaker=re.compile("我|用户"),
)
