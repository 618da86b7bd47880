"""Reads members of an answer and checks their types. A missing or wrong member is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from .errors import TollgateError
from .strict_json import Json

T = TypeVar("T")
Read = Callable[[Json, str], T]

_ID = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def invalid_answer(problem: str, status: int | None = None) -> TollgateError:
    """The error for an answer that a gateway does not give."""
    return TollgateError(
        "answer-invalid",
        f"this is not the answer of a gateway: {problem}",
        remedy="Check for a proxy between client and gateway, and that both have the same version.",
        status=status,
    )


def an_object(value: Json, name: str) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise _wrong(name, "an object")
    return value


def a_text(value: Json, name: str) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a string")
    return value


def an_id(value: Json, name: str) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise _wrong(name, "the id of a receipt")
    return value


def a_time(value: Json, name: str) -> str:
    """A timestamp: RFC 3339 with milliseconds, in UTC."""
    if not isinstance(value, str) or not _TIME.fullmatch(value) or seconds_of(value) is None:
        raise _wrong(name, "a timestamp")
    return value


def seconds_of(timestamp: str) -> float | None:
    """The seconds since 1970 of a timestamp."""
    try:
        return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None


def a_word(*words: str) -> Read[str]:
    """One of the given words."""

    def read(value: Json, name: str) -> str:
        if not isinstance(value, str) or value not in words:
            raise _wrong(name, f"one of {', '.join(words)}")
        return value

    return read


def or_none(read: Read[T]) -> Read[T | None]:
    """The value or None. A missing member counts as None."""
    return lambda value, name: None if value is None else read(value, name)


def list_of(read: Read[T]) -> Read[tuple[T, ...]]:
    def read_all(value: Json, name: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise _wrong(name, "a list")
        return tuple(read(item, f"{name}[{i}]") for i, item in enumerate(value))

    return read_all


def _wrong(name: str, expected: str) -> TollgateError:
    return invalid_answer(f"`{name}` is not {expected}")
