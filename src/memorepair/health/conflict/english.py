"""English: the tables of the conflict rules."""

from __future__ import annotations

import re
from types import MappingProxyType

from memorepair.health.conflict.tables import Tables, pairs, words

_PLUS = (
    r"loves?|likes?|enjoys?|prefers?|wants?|accepts?|is fond of|eats?|drinks?|can have|is fine with|takes?"
    r"|adores?"
)
_MINUS = r"hates?|dislikes?|detests?|can'?t stand|cannot stand|refuses?|avoids?|abhors?"
_NOT = r"(?:does not|doesn'?t|do not|don'?t|never|no longer|did not|is not|isn'?t|not)"

ENGLISH = Tables(
    language="en",
    spelling=tuple(
        (re.compile(pattern), replacement)
        for pattern, replacement in (
            (r"^(?:correction|update|actually|note)[:,，]\s*", ""),
            (r"^the ", ""),
            (r"^my\b", "user's"),
            (r"^i'm\b|^i am\b", "user is"),
            (r"^i\b", "user"),
            (r"\buser(have|want|need)\b", r"user \1s"),
        )
    ),
    scenes=re.compile(
        r"^(when \w+|at \w+|on trains|on weekends|during \w+|after \w+|before \w+|for work)[,，]\s*"
    ),
    limits=re.compile(
        r"\b(?:a little|a bit of|a small amount of|small amounts of|occasionally|sometimes|rarely"
        r"|in moderation)\b"
    ),
    preference=re.compile(rf"^(?P<s>user|[a-z]+) (?P<n>{_NOT} )?(?:(?P<m>{_MINUS})|{_PLUS}) (?P<v>.+)"),
    attributes=tuple(
        (re.compile(pattern), attribute)
        for pattern, attribute in (
            (r"^(?P<s>.+?) (?:starts|begins|is|moved|was moved) (?:at|to) (?P<v>(?:\d|noon).*)", "time"),
            (
                r"^(?P<s>.+?) (?:now )?(?:lives? (?:in|at)|is living in|moved to|resides? in) (?P<v>.+)",
                "residence",
            ),
            (r"^(?P<s>.+?)'s? (?:new |current |home )?(?:address|home) is (?P<v>.+)", "residence"),
            (r"^(?P<s>.+?) (?:now )?works? (?:at|for) (?P<v>.+)", "employer"),
            (
                r"^(?P<v>.+?) (?:is|became) (?:now )?(?:the )?(?P<role>lead|owner|manager|head) (?:of|on) "
                r"(?P<s>.+)",
                "is",
            ),
            (r"^(?P<s>.+?) (?:is|'?s) (?:now )?(?P<n>not )?allergic to (?P<v>.+)", "allergic"),
            (r"^(?P<s>.+?) is (?P<v>\d+) years old", "age"),
            (
                r"^(?P<s>.+?) (?:was |is )?(?:escalated to |set to |raised to |lowered to |changed to |at )?"
                r"priority (?P<v>p\d)",
                "priority",
            ),
            (r"^(?P<s>.+?) (?P<a>speaks|tested with|has visited|visited|owns) (?P<v>.+)", "{a}"),
            (r"^(?P<s>.+?) (?P<n>does not have|doesn't have|has no|has) (?:an? |any )?(?P<v>.+)", "has"),
            (r"^(?P<s>[^']+?'s .+?|[^']+?) (?:is|are) (?:now )?(?:named|called) (?P<v>.+)", "is"),
            (r"^(?P<s>.+?) (?:is|are|was|were) (?:now )?(?P<n>not )?(?P<v>.+)", "is"),
        )
    ),
    idle=re.compile(r"\b(really|very|also|now|still|currently|usually) "),
    negation=re.compile(r"not|n't|no\b"),
    denial=re.compile(r"\b(does|do|did|is|has) ?n[o']t\b|\b(?:not|never)\b|(?<=[a-z])s\b"),
    denials=re.compile(r"\bnot\b|n't|\bnever\b"),
    antonyms=pairs(
        "enabled/disabled open/closed single/married on/off online/offline required/optional short/long"
        " quiet/loud early/late morning/evening formal/casual hot/cold always/never allowed/forbidden"
        " public/private true/false"
    ),
    units=MappingProxyType(
        {
            "minute": ("second", 60.0),
            "hour": ("second", 3600.0),
            "gb": ("mb", 1024.0),
            "second": ("second", 1.0),
        }
    ),
    many=words(
        "speaks owns has uses knows likes allergic visited language languages hobby hobbies allergy allergies"
        " skill skills pet pets tag tags interest interests preference topic friend friends"
        " brother sister sibling child son daughter cousin uncle aunt colleague neighbour neighbor customer"
        " client"
    )
    | {"tested with", "has visited", "member of"},
    single=words(
        "residence home address city country employer company job profession title age birthday birthplace"
        " name nickname email phone timezone gender height weight status priority deadline owner lead manager"
        " version branch budget timeout time date plan tier spouse is needs"
    ),
    single_begins=(
        "favourite ",
        "favorite ",
        "default ",
        "current ",
        "preferred ",
        "primary ",
        "max ",
        "min ",
    ),
    change=re.compile(
        r"\b(?:moved|changed|now|no longer|instead|switched|started|stopped|again|correction|update)\b"
    ),
    excludes=re.compile(r"\b(?:never|no|none|nothing|nobody|only|always|every|vegetarian|vegan|teetotal)\b"),
    fillers=words("user user's the a an of on in at with for is my new was s and to"),
    pronouns=words("it this that these those there here he she they we you who which what one both all"),
    speaker=re.compile(r"\b(i|i'm|my|user)\b"),
)
