"""The canonical text of what a tool returns."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import uuid

from .strict_json import MAX_DEPTH, JsonRefused, canonical_json


def output_text(output: object) -> str | None:
    """The canonical text; None for a value whose content JSON does not show, such as a generator or an error."""
    try:
        return canonical_json(output)
    except JsonRefused:
        pass
    try:
        return canonical_json(_plain(output, 0))
    # The tool ran, so its effect must be reported even if the output is not JSON. Its methods can raise anything.
    except Exception:
        return None


def _plain(value: object, depth: int) -> object:
    """The value in plain JSON types. Shows all content of a value, or raises."""
    if depth > MAX_DEPTH:
        raise JsonRefused("the value is nested too deep")
    if isinstance(value, enum.Enum):
        return _plain(value.value, depth + 1)
    if value is None or isinstance(value, (bool, int, float, str)):
        return _simple(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, dict):
        return {_key(name): _plain(item, depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    return _plain(_shown(value), depth + 1)


def _simple(value: bool | int | float | str | None) -> object:
    """The same value of the plain type: a subclass could give another value the next time it is read."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return "".join((str.__str__(value),))
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise JsonRefused("a key is not a string")
    return str.__str__(name)


def _shown(value: object) -> object:
    """The members of a data class or a model of pydantic. Other objects can hide content."""
    if isinstance(value, type):
        raise JsonRefused("JSON does not show a class")
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        shown: object = dump(value, mode="json")
        return shown
    raise JsonRefused("JSON does not show the content of a value")
