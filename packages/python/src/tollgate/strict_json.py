"""Strict JSON in both directions: the documents that every parser reads alike, and their canonical text (RFC 8785)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Union

Json = Union[None, bool, int, float, str, Sequence["Json"], Mapping[str, "Json"]]

MAX_DEPTH = 64
MAX_SAFE_INTEGER = 2**53 - 1
# From here on the written form has an exponent, so no parser takes it for an exact integer.
_EXPONENT_FROM = 1e21
_MAX_LITERAL = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonRefused(ValueError):
    """The text or the value is not strict JSON. The message never contains the content."""


def parse_json(data: bytes, max_bytes: int) -> Json:
    """Parse one strict JSON text.

    Refuses bytes that are not UTF-8, a byte-order mark, duplicate keys, lone surrogates, trailing data, `NaN`, `-0`, numbers that
    parsers read differently, more than 64 levels and more than `max_bytes` bytes.
    """
    if len(data) > max_bytes:
        raise JsonRefused(f"the document is larger than {max_bytes} bytes")
    try:
        value: Json = _DECODER.decode(data.decode("utf-8"))
    except JsonRefused:
        raise
    except (ValueError, RecursionError):
        refused = JsonRefused("the document is not JSON")
    else:
        # Also checks the strings and the depth.
        canonical_json(value)
        return value
    raise refused


def canonical_json(value: object) -> str:
    """The canonical text of a value.

    Accepts only None, booleans, numbers, strings, lists and dicts with string keys, of exactly these types.
    """
    try:
        return _write(value, 0)
    except RecursionError:  # pragma: no cover - the depth is limited before
        raise JsonRefused("the value is nested too deep") from None


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise JsonRefused("the document has the same key twice")
    return members


def _constant(_: str) -> Json:
    raise JsonRefused("the document has a number that is not finite")


def _integer(literal: str) -> int:
    value = int(literal) if len(literal) <= _MAX_LITERAL else _EXPONENT_FROM
    if abs(value) > MAX_SAFE_INTEGER or literal == "-0":
        raise _ambiguous()
    return int(value)


def _fraction(literal: str) -> float:
    value = float(literal)
    if not _is_number(value) or _loses_digits(literal, value):
        raise _ambiguous()
    return value


def _ambiguous() -> JsonRefused:
    return JsonRefused("the document has a number that parsers read differently")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer, parse_float=_fraction
)


def _is_number(value: float) -> bool:
    if value - value != 0:
        return False
    if not value.is_integer():
        return True
    if abs(value) <= MAX_SAFE_INTEGER:
        return not (value == 0 and str(value).startswith("-"))
    return abs(value) >= _EXPONENT_FROM


def _loses_digits(literal: str, value: float) -> bool:
    """Whether a small number became 0, or a large whole number was rounded."""
    mantissa = re.split("[eE]", literal)[0]
    if value == 0:
        return re.search("[1-9]", mantissa) is not None
    if abs(value) < _EXPONENT_FROM:
        return False
    has_exponent = len(literal) <= _MAX_LITERAL and mantissa != literal
    return not has_exponent or _decimal(literal) != _decimal(repr(value))


def _decimal(literal: str) -> tuple[str, int]:
    """A normal form of a decimal: its significant digits and the power of ten of the last one."""
    mantissa, _, exponent = literal.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    digits = (digits + fraction).lstrip("0")
    kept = digits.rstrip("0")
    return sign + kept, int(exponent or "0") - len(fraction) + len(digits) - len(kept)


def _write(value: object, depth: int) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    # Exact types: a subclass could give another value the next time it is read.
    if type(value) is str:
        return _quote(value)
    if type(value) is int:
        if abs(value) > MAX_SAFE_INTEGER:
            raise JsonRefused("an integer is beyond 2^53-1")
        return str(value)
    if type(value) is float:
        return format_number(value)
    if type(value) in (list, dict) and depth >= MAX_DEPTH:
        raise JsonRefused(f"the value is cyclic or nests deeper than {MAX_DEPTH} levels")
    if type(value) is list:
        return "[" + ",".join([_write(item, depth + 1) for item in list(value)]) + "]"
    if type(value) is dict:
        return "{" + ",".join(_members(dict(value), depth + 1)) + "}"
    raise JsonRefused(f"the value contains a `{type(value).__name__}`, which JSON cannot express")


def _members(members: dict[object, object], depth: int) -> list[str]:
    names: list[str] = []
    for name in members:
        if type(name) is not str:
            raise JsonRefused("a key is not a string")
        names.append(name)
    # In the order of UTF-16 units (RFC 8785, 3.2.3).
    names.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return [f"{_quote(name)}:{_write(members[name], depth)}" for name in names]


def _quote(text: str) -> str:
    if _SURROGATE.search(text):
        raise JsonRefused("a string contains half of a surrogate pair")
    return json.dumps(text, ensure_ascii=False)


def format_number(value: float) -> str:
    """A number as ECMAScript writes it (RFC 8785, 3.2.2.3)."""
    if not _is_number(value):
        raise JsonRefused("a number is not finite, is -0, or is beyond 2^53-1")
    if value == 0:
        return "0"
    digits, power = _decimal(repr(value))
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    # The decimal point is after `point` digits.
    point = len(digits) + power
    if 0 < point <= 21:
        padded = digits.ljust(point, "0")
        return sign + padded[:point] + ("." + padded[point:] if len(padded) > point else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
