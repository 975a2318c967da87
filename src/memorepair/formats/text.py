"""Text as files hold it: lines with their numbers, decimals without rounding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from memorepair.errors import InvalidFile, InvalidInstance
from memorepair.graphs.digraph import INDEX_LIMIT
from memorepair.problems.integers import Number, fraction, shown

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?")
_PLAIN_DIGITS = 30
_QUICK = re.compile(r"[+-]?[0-9]{1,500}(?:\.([0-9]{1,500}))?")
_LARGEST = 10**4_000  # Python writes and reads integers of up to 4,300 digits


def read_text(path: Path) -> str:
    """The UTF-8 text in the file at `path`.

    Raises
    ------
    InvalidFile
        It cannot be read (witness: the path), or is no UTF-8 (witness: the line).
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidFile.cannot("read", path, error) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = f"{path} is no UTF-8: {error.reason} at byte {error.start}, 0x{data[error.start]:02x}"
        raise fault(line, why) from error


def write_text(path: Path, text: str) -> None:
    """Put `text` into the file at `path`, as UTF-8.

    Raises
    ------
    InvalidFile
        It cannot be written, or holds half a surrogate pair (witness: the path).
    """
    try:
        path.write_bytes(text.encode("utf-8"))
    except (OSError, UnicodeEncodeError) as error:
        raise InvalidFile.cannot("written", path, error) from error


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line of `text` that is not blank, stripped, with its number from 1."""
    for line, content in enumerate(text.split("\n"), 1):
        bare = content.strip()
        if bare:
            yield line, bare


def fault(line: int, why: str) -> InvalidFile:
    """The error that says what is wrong with a line; its number is the witness."""
    return InvalidFile(f"line {line}: {why}", witness=line)


def integer(text: str, line: int, what: str) -> int:
    """The integer that `text` spells in ASCII digits, of any size that Python converts."""
    if _INTEGER.fullmatch(text):
        try:
            return int(text)
        except ValueError:  # more digits than Python converts
            raise fault(line, f"{what} has {len(text)} digits") from None
    raise fault(line, f"{what} must be an integer, not {text[:40]!r}")


def count(text: str, line: int, what: str) -> int:
    """An integer from 0 that arrays can be as long as."""
    number = integer(text, line, what)
    if not 0 <= number < INDEX_LIMIT:
        raise fault(line, f"{what} {number} is outside 0 .. {INDEX_LIMIT - 1}")
    return number


def place(text: str, line: int, what: str, first: int, n: int) -> int:
    """An integer of first .. first + n - 1, as a position from 0."""
    number = integer(text, line, what)
    if not first <= number < first + n:
        raise fault(line, f"{what} {number} is outside {first} .. {first + n - 1}")
    return number - first


def number(text: str, line: int, what: str) -> int | Fraction:
    """The decimal number that `text` spells, exactly."""
    if _INTEGER.fullmatch(text):
        return integer(text, line, what)
    if not _NUMBER.fullmatch(text):
        raise fault(line, f"{what} must be a number, not {text[:40]!r}")
    try:
        return fraction(Decimal(text))
    except InvalidInstance as error:
        raise fault(line, f"{what}: {error}") from None


def quick_number(text: str) -> int | Fraction | None:
    """What `number` makes of a decimal without fault, several times as fast; None where there is one."""
    found = _QUICK.fullmatch(text)
    if found is None:
        try:
            return number(text, 0, "number")
        except InvalidFile:
            return None
    tail = found[1]
    return int(text) if tail is None else Fraction(int(text.replace(".", "")), 10 ** len(tail))


def decimal(number: Number, witness: object) -> str:
    """`number` as a finite decimal that reads back as it.

    Raises
    ------
    InvalidFile
        It has none, such as 1/3 (witness: what was handed over with it).
    """
    if isinstance(number, float):
        return float.__repr__(number)
    number = Fraction(number)
    digits, rest = 0, number.denominator
    for factor in (2, 5):
        power = 0
        while rest % factor == 0:
            rest, power = rest // factor, power + 1
        digits = max(digits, power)
    if rest != 1:
        raise InvalidFile(f"{shown(number)} has no finite decimal", witness=witness)
    integer = int(number * 10**digits)
    if abs(integer) >= _LARGEST:
        raise InvalidFile("a number has too many digits to write", witness=witness)
    if digits > _PLAIN_DIGITS:
        return f"{integer}e-{digits}"
    whole, tail = divmod(abs(integer), 10**digits)
    return ("-" if number < 0 else "") + str(whole) + (f".{tail:0{digits}d}" if digits else "")
