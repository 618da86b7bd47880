"""The arguments of a Python function as the arguments of a tool call, and back."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

_REFUSED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


class Arguments:
    """The parameters of a function. Each one is a member of the arguments that the gateway judges."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._signature = inspect.signature(function)
        self._rest: str | None = None
        for parameter in self._signature.parameters.values():
            if parameter.kind in _REFUSED:
                raise TypeError(
                    f"the parameter `{parameter.name}` of a guarded function has no name in a call; "
                    "use parameters that can be given by name"
                )
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                self._rest = parameter.name

    def bind(self, args: tuple[object, ...], kwargs: dict[str, Any]) -> dict[str, object]:
        """The arguments by name, with defaults: the gateway judges everything that the function gets."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments: dict[str, object] = dict(bound.arguments)
        if self._rest is not None:
            rest = arguments.pop(self._rest)
            # Sound: the value of a `**` parameter is a dict, and its names differ from all others.
            arguments.update(rest)  # type: ignore[call-overload]
        return arguments


def judged_copy(arguments: str) -> dict[str, Any]:
    """A new copy of the judged arguments, which the caller cannot change."""
    # Sound: the canonical text of a dict with string keys.
    copied: dict[str, Any] = json.loads(arguments)
    return copied
