"""The client of a gateway, with one token. It blocks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
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
from .hosts import BlockingHost, run
from .reports import Reported, report_effect

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")


class Client:
    """A client of one gateway. It blocks; threads can share it.

    `url` is the address of the gateway: `https://…`, or `http://` on this machine. `token` is the token of the agent; it never
    reaches a text of this package. `session` is the session of calls that name none. `timeout` is the longest wait for an answer
    in seconds, and `retries` how often a lost request is sent again. `transport` replaces the connection, for example
    `httpx.HTTPTransport(verify=context)` for an authority of your own.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        session: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._host = BlockingHost(transport)
        self._gate = Gate(connection_of(url, token, self._host, timeout, retries))
        self._session = session
        #: Requests for approval.
        self.approvals = Approvals(self._gate.connection)

    def __repr__(self) -> str:
        return f"Client(url={self._gate.connection.base!r})"

    def evaluate(
        self, tool: str, arguments: Mapping[str, object] | None = None, **options: Unpack[CallOptions]
    ) -> Evaluation:
        """Asks whether a call may run.

        Run the tool only on ALLOW, once, before `expires`, with exactly these arguments, and report its effect. `guard` does all
        of that. Raises `TollgateError` without a valid answer: do not run the tool then.
        """
        check_options(options)
        call = capture_call(tool, {} if arguments is None else arguments, options, self._session)
        return run(ask(self._gate.connection, call)).evaluation

    def report(self, decision: str, status: Outcome = "COMPLETED", output: object = None) -> Reported:
        """Reports the effect of an allowed call, by the id of the decision's receipt. Give the agent only what the answer allows."""
        return run(report_effect(self._gate.connection, decision, status, output))

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
    ) -> Callable[[Callable[P, R]], Guarded[P, R]]: ...

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
    ) -> Callable[[Callable[P, R]], Guarded[P, R | ToolDenied]]: ...

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
    ) -> Callable[[Callable[P, Any]], Guarded[P, Any]]:
        """A decorator for a tool. Every call asks the gateway, runs the function only on ALLOW, and reports the effect.

        The gateway judges the arguments by the names of the parameters, with their defaults. `wait` is how long an escalated call
        waits for a person, in seconds; None raises `ApprovalRequired` at once. `on_waiting` gets the request before.

        A call raises `ToolDenied`, `ApprovalRequired`, `ApprovalTimedOut` or another `TollgateError` if the function did not run;
        `ToolFailed`, `Withheld` or `EffectUnreported` if it did.
        """
        rules = Rules(wait, on_waiting, on_denied, on_unreported, observe)

        def decorate(function: Callable[P, Any]) -> Guarded[P, Any]:
            if is_asynchronous(function):
                raise TypeError("the function is asynchronous; use `AsyncClient`")
            return self._guarded(name, function, rules, options)

        return checked(name, options, decorate)

    def _guarded(
        self, name: str, function: Callable[P, Any], rules: Rules, options: CallOptions
    ) -> Guarded[P, Any]:
        arguments = Arguments(function)

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> Any:
            call = capture_call(name, arguments.bind(args, kwargs), options, self._session)
            return run(run_guarded(self._gate, call, rules, function))

        def with_options(**more: Unpack[CallOptions]) -> Guarded[P, Any]:
            check_options(more)
            return self._guarded(name, function, rules, {**options, **more})

        return with_both(guarded, with_options)

    def close(self) -> None:
        self._host.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Approvals:
    """The requests for approval of a gateway. An agent sees only its own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> tuple[ApprovalRequest, ...]:
        return run(list_requests(self._connection))

    def get(self, request: str) -> ApprovalRequest:
        return run(get_request(self._connection, request))

    def wait(self, request: str, timeout: float = DEFAULT_WAIT) -> ApprovalRequest:
        """Waits until a person has answered. Raises `ApprovalTimedOut` after `timeout` seconds; you can wait again."""
        return run(wait_for_answer(self._connection, request, timeout))

    def approve(self, request: str, because: str | None = None, *, widen: bool = False) -> Answered:
        """Approves a request, with the token of an operator. Not retried."""
        return run(answer_request(self._connection, request, "approve", because, widen))

    def deny(self, request: str, because: str | None = None) -> Answered:
        return run(answer_request(self._connection, request, "deny", because, False))
