"""Sends one request within limits of time and size, blocking or with asyncio.

All other code of the client is written once, as coroutines. A `BlockingHost` never suspends, so `run` completes such a coroutine
without an event loop.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import httpx

from .errors import TollgateError
from .reading import invalid_answer

T = TypeVar("T")

MAX_ANSWER_BYTES = 8 << 20


@dataclass(frozen=True)
class Reply:
    """A whole HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Host(Protocol):
    """What the client needs of its surroundings."""

    async def send(self, request: httpx.Request, timeout: float) -> Reply:
        """Sends a request once. Raises `gateway-unreachable`, `gateway-timeout` or `answer-invalid`."""
        ...

    async def sleep(self, seconds: float) -> None: ...

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Completes the work, even if the caller is cancelled meanwhile."""
        ...

    async def settled(self, value: T | Awaitable[T]) -> T:
        """The value of a function of the program, which may be a coroutine function if this host can wait."""
        ...


def run(work: Coroutine[Any, Any, T]) -> T:
    """Completes a coroutine on a `BlockingHost`."""
    try:
        work.send(None)
    except StopIteration as done:
        # Sound: the value of a coroutine of `T`.
        value: T = done.value
        return value
    work.close()
    raise RuntimeError("a blocking host must not suspend")


class BlockingHost:
    def __init__(self, transport: httpx.BaseTransport | None) -> None:
        self._transport = transport or httpx.HTTPTransport(trust_env=False)

    async def send(self, request: httpx.Request, timeout: float) -> Reply:
        # In a thread, because the timeouts of a connection limit each read, and not the whole answer.
        exchange = _Exchange(self._transport, request, time.monotonic() + timeout)
        thread = threading.Thread(target=exchange.run, name="tollgate", daemon=True)
        thread.start()
        thread.join(timeout)
        if exchange.outcome is None:
            raise late(timeout)
        if isinstance(exchange.outcome, TollgateError):
            raise exchange.outcome
        return exchange.outcome

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        return await work

    async def settled(self, value: T | Awaitable[T]) -> T:
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise TypeError("a function of `Client` must not be asynchronous; use `AsyncClient`")
        # Sound: everything but an awaitable is the value itself.
        return value

    def close(self) -> None:
        self._transport.close()


class _Exchange:
    """One request in a thread of its own."""

    def __init__(self, transport: httpx.BaseTransport, request: httpx.Request, deadline: float) -> None:
        self._transport = transport
        self._request = request
        self._deadline = deadline
        self.outcome: Reply | TollgateError | None = None

    def run(self) -> None:
        try:
            self.outcome = self._read()
        except TollgateError as error:
            self.outcome = error
        except httpx.TimeoutException:
            # The caller has stopped waiting, or is about to.
            return
        except Exception as error:
            self.outcome = unreachable(error)

    def _read(self) -> Reply:
        response = self._transport.handle_request(self._request)
        try:
            body = bytearray()
            # The stream of a synchronous transport. Not decoded: the request asks for no encoding.
            for piece in cast(httpx.SyncByteStream, response.stream):
                body += piece
                check_size(body, response.status_code)
                if time.monotonic() > self._deadline:
                    raise httpx.ReadTimeout("too late")
            return Reply(response.status_code, response.headers, bytes(body))
        finally:
            response.close()


class AsyncHost:
    def __init__(self, transport: httpx.AsyncBaseTransport | None) -> None:
        self._transport = transport or httpx.AsyncHTTPTransport(trust_env=False)

    async def send(self, request: httpx.Request, timeout: float) -> Reply:
        failure: TollgateError
        try:
            return await asyncio.wait_for(self._read(request), timeout)
        except TollgateError:
            raise
        except (asyncio.TimeoutError, httpx.TimeoutException):
            failure = late(timeout)
        except Exception as error:
            failure = unreachable(error)
        # Outside of the handler: the errors of httpx have the request with its token.
        raise failure

    async def _read(self, request: httpx.Request) -> Reply:
        response = await self._transport.handle_async_request(request)
        try:
            body = bytearray()
            async for piece in cast(httpx.AsyncByteStream, response.stream):
                body += piece
                check_size(body, response.status_code)
            return Reply(response.status_code, response.headers, bytes(body))
        finally:
            await response.aclose()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def finish(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            # Read, or asyncio reports that nothing has read it.
            task.exception()
            raise cancelled
        return task.result()

    async def settled(self, value: T | Awaitable[T]) -> T:
        if inspect.isawaitable(value):
            # Sound: an awaitable of `T`.
            settled: T = await value
            return settled
        # Sound: everything but an awaitable is the value itself.
        return value

    async def close(self) -> None:
        await self._transport.aclose()


def check_size(body: bytearray, status: int) -> None:
    if len(body) > MAX_ANSWER_BYTES:
        raise invalid_answer(f"it is larger than {MAX_ANSWER_BYTES} bytes", status)


def late(timeout: float) -> TollgateError:
    return TollgateError(
        "gateway-timeout",
        f"the gateway did not answer within {timeout:g} s",
        remedy="Check that the gateway runs. Increase `timeout` if it is only slow.",
    )


def unreachable(error: Exception) -> TollgateError:
    """Has the class of the error, and not the error: it holds the request with the token."""
    return TollgateError(
        "gateway-unreachable",
        f"the gateway cannot be reached ({type(error).__name__})",
        remedy="Check that the gateway runs at this address. No guarded tool runs until then.",
    )
