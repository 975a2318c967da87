"""A generator behind an endpoint that speaks the OpenAI chat protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memorepair.errors import InvalidInput, StepFailed
from memorepair.memory.artifact import Json
from memorepair.memory.values import is_whole
from memorepair.repair.jsontext import canonical, parse
from memorepair.repair.operators.endpoint import Endpoint, TokenPrices, TryAgain
from memorepair.repair.operators.prompts import messages
from memorepair.repair.operators.regen import Generated, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatGenerator:
    """Has a model write, from the sources of the request alone, and checks what it answers.

    An answer is a JSON object: the text, and the numbers of the sources it stands on. One that breaks this
    schema, or is no JSON, is asked for again within the attempts of the endpoint; what it cost counts.

    Examples
    --------
    >>> import memorepair as mr  # doctest: +SKIP
    >>> writer = ChatGenerator(endpoint=Endpoint(base_url="https://api.openai.com/v1", model="gpt-4o-mini"))
    >>> memory = mr.Memory.open("agent.db", generator=writer)  # doctest: +SKIP
    """

    endpoint: Endpoint

    def generate(self, request: Request) -> Generated:
        """What the model writes.

        Raises
        ------
        StepFailed
            No attempt gave an answer that can be used; the message has the last reason, in no words of the
            model, and `cost` what was spent.
        """
        spent = _Spent()
        try:
            return self.endpoint.retrying()(self._once, request, spent)
        except StepFailed as error:
            cost = spent.cost(self.endpoint.prices)
            raise StepFailed(error.message, witness=error.witness, cost=cost) from None

    def _once(self, request: Request, spent: _Spent) -> Generated:
        schema = _schema(request)
        system, user = messages(request, schema)
        body: dict[str, Json] = {
            "model": self.endpoint.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        }
        if self.endpoint.temperature is not None:
            body["temperature"] = self.endpoint.temperature
        if self.endpoint.answer_tokens is not None:
            body["max_tokens"] = self.endpoint.answer_tokens
        if self.endpoint.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif self.endpoint.structured == "json_schema":
            body["response_format"] = _format(request)
        response = self.endpoint.post(body)
        spent.add(response.get("usage"))
        answer = _answer(response, schema)
        text, cites = answer["text"], answer["cites"]
        written = text if isinstance(text, str) else canonical(text)
        if len(written) > request.limits.characters:
            raise TryAgain(
                f"the model wrote more than {request.limits.characters} characters", witness=len(written)
            )
        places = (
            sorted({int(place) for place in cites if isinstance(place, int | float)})
            if isinstance(cites, list)
            else []
        )
        return Generated(
            text=written,
            cites=tuple(request.sources[place - 1].key for place in places),
            tokens=spent.tokens(),
            cost=spent.cost(self.endpoint.prices),
        )


@dataclass(slots=True)
class _Spent:
    """Tokens of all attempts of one request; None once an answer does not say."""

    read: int | None = 0
    written: int | None = 0
    answers: int = field(default=0)

    def add(self, usage: Json) -> None:
        said = usage if isinstance(usage, dict) else {}
        self.answers += 1
        self.read = _sum(self.read, said.get("prompt_tokens"))
        self.written = _sum(self.written, said.get("completion_tokens"))

    def tokens(self) -> int | None:
        return None if self.read is None or self.written is None else self.read + self.written

    def cost(self, prices: TokenPrices | None) -> float | None:
        if self.read is None or self.written is None:
            return None
        if prices is None:
            return float(self.read + self.written)
        return self.read * prices.read + self.written * prices.written


def _sum(so_far: int | None, more: Json) -> int | None:
    return so_far + more if so_far is not None and isinstance(more, int) and is_whole(more, low=0) else None


def _text(request: Request, limits: Mapping[str, Json]) -> dict[str, Json]:
    """The schema of the text: the artifact's own, unless that is a text as well."""
    own = request.schema
    if own is None or own.get("type") == "string":
        return {**(own or {}), "type": "string", **limits}
    return dict(own)


def _schema(request: Request) -> dict[str, Json]:
    """The schema of an answer."""
    cite: dict[str, Json] = {"type": "integer", "minimum": 1, "maximum": len(request.sources)}
    return {
        "type": "object",
        "properties": {
            "text": _text(request, {"minLength": 1, "maxLength": request.limits.characters}),
            "cites": {"type": "array", "items": cite, "minItems": 1},
        },
        "required": ["text", "cites"],
        "additionalProperties": False,
    }


def _format(request: Request) -> dict[str, Json]:
    """The schema as `response_format` has it: strict endpoints refuse bounds, so they stay in the prompt."""
    plain = request.schema is None
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "text": _text(request, {}),
            "cites": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["text", "cites"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": plain, "schema": schema}}


def _answer(response: Mapping[str, Json], schema: dict[str, Json]) -> dict[str, Json]:
    """What the model answered, once it satisfies the schema.

    Raises
    ------
    StepFailed
        It ran into its own limit of tokens, or declined: asking again would not help.
    TryAgain
        It is no answer, no JSON, or breaks the schema.
    """
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(message, dict):
        raise TryAgain("the response holds no answer", witness="choices")
    ended = first.get("finish_reason")
    if ended == "length":
        raise StepFailed("the model's answer was cut off at its limit of tokens", witness="length")
    content = message.get("content")
    if ended == "content_filter" or message.get("refusal") or not isinstance(content, str):
        raise StepFailed("the model declined to answer", witness="refusal")
    try:
        answer = parse(content)
    except InvalidInput:
        raise TryAgain("the model's answer is not JSON", witness=len(content)) from None
    broken = _broken(answer, schema)
    if broken is not None or not isinstance(answer, dict):
        raise TryAgain(f"the model's answer breaks its schema: {broken}", witness=broken)
    return answer


def _broken(answer: Json, schema: dict[str, Json]) -> str | None:
    """The first keyword that the answer breaks; None where it satisfies the schema."""
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # An empty registry: no schema is ever fetched from anywhere.
    error = next(Draft202012Validator(schema, registry=Registry()).iter_errors(answer), None)
    return None if error is None else str(error.validator)
