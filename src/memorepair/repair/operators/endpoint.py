"""An endpoint that speaks an OpenAI protocol over HTTP: where it is, and how it is asked."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import urlsplit

from memorepair.errors import InvalidInput, MissingDependency, StepFailed
from memorepair.memory.artifact import Json
from memorepair.memory.values import is_number, is_whole
from memorepair.repair.jsontext import parse
from memorepair.repair.operators.deadline import Deadline

if TYPE_CHECKING:
    import httpx
    import tenacity

Structured = Literal["json_schema", "json_object", "none"]
"""How the endpoint is asked for JSON (`response_format`); ``none``: by the prompt alone."""

_BUSY = 429
_SERVER_ERRORS = 500
_OK = 200
_LONGEST_KEY = 4096


class TryAgain(StepFailed):
    """What may be otherwise the next time; `after` is how many seconds the endpoint asks to wait."""

    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """What a token costs, read and written, in the unit that the memory's costs are in."""

    read: float
    written: float

    def __post_init__(self) -> None:
        for price in (self.read, self.written):
            if not is_number(price, low=0):
                raise InvalidInput("the price of a token is finite and not negative", witness=price)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is served, and the limits within which it is asked.

    Attributes
    ----------
    base_url
        Up to the version, such as ``https://api.openai.com/v1``. Plain http only to this machine, or where no
        key is sent.
    model
        As the endpoint names it.
    key_variable
        The environment variable that holds the key; read at each request, kept nowhere, shown nowhere. None:
        no key is sent.
    structured
        What the endpoint understands of `response_format`.
    timeout
        Seconds for the connection, for every pause of the endpoint, and for the whole of its response.
    attempts
        Requests at most, the first among them.
    first_wait, longest_wait
        Seconds between requests: doubled each time, with jitter; the endpoint's ``Retry-After`` goes before.
        One that asks for longer than the longest is not asked again.
    response_bytes
        The longest response that is read.
    temperature, answer_tokens
        Passed on; None leaves them to the endpoint.
    prices
        Of its tokens; None counts cost in tokens.
    """

    base_url: str
    model: str
    key_variable: str | None = "MEMOREPAIR_LLM_KEY"
    structured: Structured = "json_schema"
    timeout: float = 60.0
    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 60.0
    response_bytes: int = 1 << 20
    temperature: float | None = 0.0
    answer_tokens: int | None = None
    prices: TokenPrices | None = None
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        require_packages()
        _check_url(self.base_url, sends_key=self.key_variable is not None)
        for name, text in (("model", self.model), ("key_variable", self.key_variable)):
            if text is not None and not (isinstance(text, str) and text and text.isprintable()):
                raise InvalidInput(f"the {name} of an endpoint is printable text", witness=name)
        if self.structured not in ("json_schema", "json_object", "none"):
            raise InvalidInput("structured is json_schema, json_object or none", witness=self.structured)
        for name, number in (("first_wait", self.first_wait), ("longest_wait", self.longest_wait)):
            if not is_number(number, low=0):
                raise InvalidInput(f"the {name} of an endpoint is a number of seconds", witness=number)
        if not is_number(self.timeout, low=0) or self.timeout == 0:
            raise InvalidInput("the timeout of an endpoint is more than 0 seconds", witness=self.timeout)
        if self.temperature is not None and not is_number(self.temperature, low=0):
            raise InvalidInput("a temperature is finite and not negative", witness=self.temperature)
        for name, count in (
            ("attempts", self.attempts),
            ("response_bytes", self.response_bytes),
            ("answer_tokens", self.answer_tokens),
        ):
            if count is not None and not is_whole(count, low=1):
                raise InvalidInput(f"{name} is a whole number from 1", witness=count)

    @classmethod
    def from_environment(cls, prefix: str = "MEMOREPAIR_LLM") -> Self:
        """The endpoint that ``PREFIX_BASE_URL`` and ``PREFIX_MODEL`` name; its key is in ``PREFIX_KEY``.

        Without ``PREFIX_KEY`` none is sent. `dataclasses.replace` sets what else is wanted.

        Raises
        ------
        InvalidInput
            One of the two is not set, or not valid.
        """
        found = {name: os.environ.get(f"{prefix}_{name}", "") for name in ("BASE_URL", "MODEL")}
        for name, value in found.items():
            if not value:
                variable = f"{prefix}_{name}"
                raise InvalidInput(f"the environment variable {variable} is not set", witness=variable)
        key = f"{prefix}_KEY" if os.environ.get(f"{prefix}_KEY") else None
        return cls(base_url=found["BASE_URL"], model=found["MODEL"], key_variable=key)

    def post(self, body: Mapping[str, Json], *, path: str = "chat/completions") -> dict[str, Json]:
        """Ask once: the response's JSON object.

        Raises
        ------
        TryAgain
            No answer in time, 429, 5xx, a response that was cut off or is no JSON object.
        StepFailed
            Any other status, a redirection, a response that is too long, no key where one is wanted. Errors
            tell the status, never what the endpoint says: it may quote the key or the request.
        """
        import httpx

        headers = self._headers()
        url = f"{self.base_url.rstrip('/')}/{path}"
        late = TryAgain(f"no answer within {self.timeout:g} seconds", witness=self.timeout)
        with Deadline(self.timeout) as deadline:
            extensions = {"trace": deadline.trace}
            try:
                with (
                    httpx.Client(verify=_trust(), timeout=self.timeout, follow_redirects=False) as client,
                    client.stream(
                        "POST", url, json=dict(body), headers=headers, extensions=extensions
                    ) as response,
                ):
                    self._check(response)
                    received = self._received(response)
            except httpx.TimeoutException as error:
                raise late from error
            except (httpx.TransportError, httpx.DecodingError) as error:
                name = type(error).__name__
                failed = TryAgain(f"the connection failed ({name})", witness=name)
                raise (late if deadline.over else failed) from None
            if deadline.over:  # a response without a length ends where its connection does
                raise late
        try:
            answer = parse(received.decode())
        except (UnicodeDecodeError, InvalidInput):
            raise TryAgain("the response is not JSON", witness=len(received)) from None
        if not isinstance(answer, dict):
            raise TryAgain("the response is not a JSON object", witness=len(received))
        return answer

    def retrying(self) -> tenacity.Retrying:
        """Call again what raises `TryAgain`, as often and as slowly as the limits say."""
        import tenacity

        doubling = tenacity.wait_exponential(
            multiplier=self.first_wait, max=self.longest_wait
        ) + tenacity.wait_random(0, self.first_wait)

        def again(error: BaseException) -> bool:
            return isinstance(error, TryAgain) and (error.after or 0.0) <= self.longest_wait

        def wait(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome is not None else None
            asked = error.after if isinstance(error, TryAgain) else None
            return doubling(state) if asked is None else asked

        return tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=wait,
            retry=tenacity.retry_if_exception(again),
            sleep=self.sleep,
            reraise=True,
        )

    def _headers(self) -> dict[str, str]:
        # No compression: a short response cannot unfold into a long one.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if self.key_variable is not None:
            key = os.environ.get(self.key_variable, "").strip()
            # Checked here, because the HTTP library quotes a header that it refuses.
            if not key or len(key) > _LONGEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
                raise StepFailed(
                    f"the environment variable {self.key_variable} holds no key", witness=self.key_variable
                )
            headers["Authorization"] = f"Bearer {key}"
        return headers

    @staticmethod
    def _check(response: httpx.Response) -> None:
        status = response.status_code
        if status == _BUSY or status >= _SERVER_ERRORS:
            error = TryAgain(f"the endpoint answered {status}", witness=status)
            error.after = _seconds(response.headers.get("Retry-After"))
            raise error
        if status != _OK:
            raise StepFailed(f"the endpoint answered {status}", witness=status)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise StepFailed("the response is compressed, which was not asked for", witness=status)

    def _received(self, response: httpx.Response) -> bytes:
        received = bytearray()
        for piece in response.iter_raw():
            received += piece
            if len(received) > self.response_bytes:
                raise StepFailed(
                    f"the response is longer than {self.response_bytes} bytes", witness=self.response_bytes
                )
        return bytes(received)


def _check_url(url: str, *, sends_key: bool) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except (ValueError, TypeError, AttributeError):
        raise InvalidInput("the base URL of an endpoint cannot be read", witness="base_url") from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidInput("the base URL of an endpoint is http(s)://host/path", witness="base_url")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput("a key belongs into the environment, not into the URL", witness="base_url")
    if parts.scheme == "http" and sends_key and not _is_here(host):
        raise InvalidInput("a key goes to another machine by https only", witness="base_url")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _seconds(header: str | None) -> float | None:
    """What ``Retry-After`` asks for: seconds, or a date; None where it says nothing that can be read."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (date.astimezone(UTC) - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if is_number(seconds) else None


@cache
def _trust() -> ssl.SSLContext:
    """The certificates to trust; read once, since this takes longer than a request to this machine."""
    import httpx

    return httpx.create_ssl_context()


def require_packages() -> None:
    """Refuse to go on where what speaks HTTP is not installed."""
    for package in ("httpx", "tenacity", "jsonschema"):
        if find_spec(package) is None:
            raise MissingDependency(
                f"a model over HTTP needs {package}: pip install 'memorepair[llm]'", witness=package
            )
