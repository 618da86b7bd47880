"""The client of a gateway for asyncio."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

import httpx

from .approvals import (
    DEFAULT_WAIT,
    Answered,
    ApprovalRequest,
    answer_request,
    get_request,
    list_requests,
    wait_for_answer,
)
from .arguments import Arguments
from .calls import CallOptions, Evaluation, ask, capture_call, check_options
from .errors import Outcome, ToolDenied
from .exchange import Connection
from .guard import Gate, Observe, OnDenied, OnUnreported, Rules, is_asynchronous, run_guarded
from .guarded import DEFAULT_RETRIES, DEFAULT_TIMEOUT, Guarded, checked, connection_of, with_both
from .hosts import AsyncHost
from .reports import Reported, report_effect

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")


class AsyncClient:
    """`Client` for asyncio: the same options, methods and guarantees. Use it in one event loop."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        session: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._host = AsyncHost(transport)
        self._gate = Gate(connection_of(url, token, self._host, timeout, retries))
        self._session = session
        #: Requests for approval.
        self.approvals = AsyncApprovals(self._gate.connection)

    def __repr__(self) -> str:
        return f"AsyncClient(url={self._gate.connection.base!r})"

    async def evaluate(
        self, tool: str, arguments: Mapping[str, object] | None = None, **options: Unpack[CallOptions]
    ) -> Evaluation:
        """As `Client.evaluate`."""
        check_options(options)
        call = capture_call(tool, {} if arguments is None else arguments, options, self._session)
        return (await ask(self._gate.connection, call)).evaluation

    async def report(self, decision: str, status: Outcome = "COMPLETED", output: object = None) -> Reported:
        """As `Client.report`."""
        return await report_effect(self._gate.connection, decision, status, output)

    @overload
    def guard(
        self,
        name: str,
        *,
        wait: float | None = DEFAULT_WAIT,
        on_waiting: Callable[[ApprovalRequest], object] | None = None,
        on_denied: Literal["raise"] = "raise",
        on_unreported: OnUnreported = "raise",
        observe: Observe | None = None,
        **options: Unpack[CallOptions],
    ) -> Callable[[Callable[P, Awaitable[R]]], Guarded[P, Awaitable[R]]]: ...

    @overload
    def guard(
        self,
        name: str,
        *,
        wait: float | None = DEFAULT_WAIT,
        on_waiting: Callable[[ApprovalRequest], object] | None = None,
        on_denied: Literal["return"],
        on_unreported: OnUnreported = "raise",
        observe: Observe | None = None,
        **options: Unpack[CallOptions],
    ) -> Callable[[Callable[P, Awaitable[R]]], Guarded[P, Awaitable[R | ToolDenied]]]: ...

    def guard(
        self,
        name: str,
        *,
        wait: float | None = DEFAULT_WAIT,
        on_waiting: Callable[[ApprovalRequest], object] | None = None,
        on_denied: OnDenied = "raise",
        on_unreported: OnUnreported = "raise",
        observe: Observe | None = None,
        **options: Unpack[CallOptions],
    ) -> Callable[[Callable[P, Awaitable[Any]]], Guarded[P, Awaitable[Any]]]:
        """As `Client.guard`, for a coroutine function.

        If the task is cancelled before the function starts, the function does not run. If it is cancelled later, the function gets
        the cancellation, and its effect is reported.
        """
        rules = Rules(wait, on_waiting, on_denied, on_unreported, observe)

        def decorate(function: Callable[P, Awaitable[Any]]) -> Guarded[P, Awaitable[Any]]:
            if not is_asynchronous(function):
                raise TypeError("the function is not asynchronous; use `Client`, or `async def`")
            return self._guarded(name, function, rules, options)

        return checked(name, options, decorate)

    def _guarded(
        self, name: str, function: Callable[P, Awaitable[Any]], rules: Rules, options: CallOptions
    ) -> Guarded[P, Awaitable[Any]]:
        arguments = Arguments(function)

        @functools.wraps(function)
        async def guarded(*args: P.args, **kwargs: P.kwargs) -> Any:
            call = capture_call(name, arguments.bind(args, kwargs), options, self._session)
            return await run_guarded(self._gate, call, rules, function)

        def with_options(**more: Unpack[CallOptions]) -> Guarded[P, Awaitable[Any]]:
            check_options(more)
            return self._guarded(name, function, rules, {**options, **more})

        return with_both(guarded, with_options)

    async def close(self) -> None:
        await self._host.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncApprovals:
    """`Approvals` for asyncio."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list(self) -> tuple[ApprovalRequest, ...]:
        return await list_requests(self._connection)

    async def get(self, request: str) -> ApprovalRequest:
        return await get_request(self._connection, request)

    async def wait(self, request: str, timeout: float = DEFAULT_WAIT) -> ApprovalRequest:
        return await wait_for_answer(self._connection, request, timeout)

    async def approve(self, request: str, because: str | None = None, *, widen: bool = False) -> Answered:
        return await answer_request(self._connection, request, "approve", because, widen)

    async def deny(self, request: str, because: str | None = None) -> Answered:
        return await answer_request(self._connection, request, "deny", because, False)
