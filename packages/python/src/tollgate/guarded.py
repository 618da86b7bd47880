"""The form of a guarded function, and what both clients share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar
from urllib.parse import urlsplit

from .calls import CallOptions, check_options
from .exchange import Connection
from .hosts import Host

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
Decorator = TypeVar("Decorator")

#: Of one request, in seconds.
DEFAULT_TIMEOUT = 10.0
DEFAULT_RETRIES = 3
_HEADER_TEXT = re.compile(r"[\x21-\x7e]+")
_LOCAL = re.compile(r"localhost|::1|127\.[0-9.]+")


class Guarded(Protocol[P, R_co]):
    """A guarded function. It has the name, the documentation and the signature of the function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def with_options(self, **options: Unpack[CallOptions]) -> Guarded[P, R_co]:
        """The same guarded function with further options, for example the `approval` of one call."""
        ...


def connection_of(url: str, token: str, host: Host, timeout: float, retries: int) -> Connection:
    # The message must not contain the token.
    if not isinstance(token, str) or not _HEADER_TEXT.fullmatch(token):
        raise ValueError("the token is empty or contains characters that a header does not allow")
    if not timeout > 0 or retries < 0:
        raise ValueError("`timeout` must be more than 0, and `retries` at least 0")
    return Connection(base=_base(url), host=host, timeout=timeout, retries=retries, token=token)


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("`url` is not an http or https URL")
    if parts.username or parts.password:
        raise ValueError("`url` contains a user name or a password; remove them, the token is enough")
    if parts.scheme == "http" and not _LOCAL.fullmatch(parts.hostname):
        raise ValueError("`url` would send the token unencrypted; use an https URL")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def checked(name: str, options: Mapping[str, object], decorate: Decorator) -> Decorator:
    if not isinstance(name, str) or name == "":
        raise TypeError("the name of a tool must be a text: `@client.guard('notes/read')`")
    check_options(options)
    return decorate


def with_both(guarded: Callable[P, R], with_options: Callable[..., Guarded[P, R]]) -> Guarded[P, R]:
    # A function and not an object, because frameworks look at functions. Sound: it has both parts of the protocol.
    guarded.with_options = with_options  # type: ignore[attr-defined]
    return guarded  # type: ignore[return-value]
