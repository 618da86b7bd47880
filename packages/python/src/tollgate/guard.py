"""Wraps a tool: asks, runs, reports.

The function runs at most once per call, only after a valid ALLOW, and only with the judged arguments.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .approvals import ApprovalRequest, get_request, wait_for_answer
from .arguments import judged_copy
from .calls import Call, Evaluation, PageOptions, Timed, ask
from .errors import ApprovalRequired, EffectUnreported, Outcome, ToolDenied, ToolFailed, TollgateError, Withheld
from .exchange import Connection
from .failures import failure_text
from .reading import invalid_answer
from .reports import Reported, report_effect

OnDenied = Literal["raise", "return"]
OnUnreported = Literal["raise", "return"]
Observe = Callable[[], PageOptions | Awaitable[PageOptions]]

# Limits the rounds with a gateway that escalates an approved call again.
_MAX_ROUNDS = 4
# An ALLOW expires after 60 seconds.
_LIFETIME = 60.0
_MIN_REMEMBERED = 10_000


class Spent:
    """The used decisions of a client. Only expired ones are forgotten, and only beyond a number."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, receipt: str) -> bool:
        """Remembers a decision for at least 60 seconds. Returns False if it is already known."""
        now = time.monotonic()
        with self._lock:
            if receipt in self._until:
                return False
            self._until[receipt] = now + _LIFETIME
            for known in [name for name, until in list(self._until.items())[:2] if until < now]:
                if len(self._until) > _MIN_REMEMBERED:
                    del self._until[known]
            return True


@dataclass(frozen=True)
class Gate:
    """What a guard depends on."""

    connection: Connection
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True)
class Rules:
    """The options of a guard."""

    wait: float | None
    on_waiting: Callable[[ApprovalRequest], object] | None
    on_denied: OnDenied
    on_unreported: OnUnreported
    observe: Observe | None


async def run_guarded(gate: Gate, call: Call, rules: Rules, tool: Callable[..., Any]) -> Any:
    """The result of the tool, or the part of it that may be forwarded; or a `ToolDenied`, if denials are returned."""
    timed = await _obtain(gate.connection, call, rules)
    evaluation = timed.evaluation
    if evaluation.verdict == "DENY":
        denied = denial(call.tool, evaluation)
        if rules.on_denied == "return":
            return denied
        raise denied
    receipt = _use(gate.spent, timed)
    return await _run_and_report(gate.connection, _Run(call, receipt, tool), rules)


def denial(tool: str, evaluation: Evaluation) -> ToolDenied:
    return ToolDenied(
        tool,
        reason_code=evaluation.reason_code,
        message=evaluation.message,
        remedy=evaluation.remedy,
        rung=evaluation.rung,
        rule=evaluation.rule,
        detail=evaluation.detail,
        receipt=evaluation.receipt,
    )


async def _obtain(connection: Connection, call: Call, rules: Rules) -> Timed:
    """Asks until the verdict is ALLOW or DENY."""
    begun = time.monotonic()
    for round_number in range(_MAX_ROUNDS):
        if rules.observe is not None:
            call = call.with_members(_page_in(await connection.host.settled(rules.observe())))
        timed = await ask(connection, call)
        if timed.evaluation.verdict != "ESCALATE":
            return timed
        approval = timed.evaluation.approval
        if rules.wait is None or approval is None:
            raise ApprovalRequired(call.tool, approval)
        if rules.on_waiting is not None and round_number == 0:
            await connection.host.settled(rules.on_waiting(await get_request(connection, approval)))
        await wait_for_answer(connection, approval, rules.wait - (time.monotonic() - begun))
        # Asks again after any answer: only an ALLOW counts, and a DENY leaves a receipt.
        call = call.with_members({"approval": approval})
    raise invalid_answer("it escalates an answered call again", 200)


def _page_in(page: Mapping[str, object]) -> Mapping[str, object]:
    unknown = sorted(set(page) - set(PageOptions.__annotations__))
    if unknown:
        raise TypeError(f"`observe` gave the unknown member `{unknown[0]}`")
    return page


def _use(spent: Spent, timed: Timed) -> str:
    """Marks an ALLOW as used. Raises if it is expired or already used."""
    if not timed.sent.waited() < timed.valid_for:
        raise TollgateError(
            "decision-expired", "the ALLOW has expired; the tool did not run", remedy="Make the call again."
        )
    receipt = timed.evaluation.receipt
    if receipt is None or not spent.add(receipt):
        raise TollgateError(
            "decision-spent",
            "the gateway answered with an ALLOW that is already used; the tool did not run",
            remedy="Check for a proxy between client and gateway: an answer came twice.",
        )
    return receipt


@dataclass(frozen=True)
class _Run:
    """An allowed call, and the function to run."""

    call: Call
    decision: str
    tool: Callable[..., Any]


async def _run_and_report(connection: Connection, run: _Run, rules: Rules) -> Any:
    stopped: BaseException | None = None
    failure: str | None = None
    result: Any = None
    try:
        result = await connection.host.settled(run.tool(**judged_copy(run.call.arguments)))
    except BaseException as raised:
        # The message of the tool is output and is inspected. Nothing else of the error is passed on.
        failure = failure_text(raised)
        stopped = _stop_of(raised)
    # Outside of the handler: an error that is raised there would carry the error of the tool as its context.
    status: Outcome = "COMPLETED" if failure is None else "FAILED"
    reported = await _report(connection, run, status, result if failure is None else failure, rules)
    if stopped is not None:
        raise stopped
    if failure is not None:
        raise _failed(run, failure, reported)
    return result if reported is None else _forwarded(result, reported, run)


def _stop_of(raised: BaseException) -> BaseException | None:
    """What ends the program or the task goes on, without its text."""
    for kind in (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        if isinstance(raised, kind):
            return kind()
    if isinstance(raised, SystemExit):
        return SystemExit(raised.code if type(raised.code) is int else 1)
    return None


async def _report(
    connection: Connection, run: _Run, status: Outcome, output: object, rules: Rules
) -> Reported | None:
    try:
        return await connection.host.finish(report_effect(connection, run.decision, status, output))
    except TollgateError as error:
        cause = error
    if rules.on_unreported == "return":
        return None
    unreported = EffectUnreported(
        run.decision,
        status,
        result=output if status == "COMPLETED" else None,
        failure=output if isinstance(output, str) and status == "FAILED" else None,
    )
    unreported.__cause__ = cause
    raise unreported


def _failed(run: _Run, failure: str, reported: Reported | None) -> ToolFailed:
    if reported is None:
        return ToolFailed(run.call.tool, run.decision, None)
    left: str | None = None
    if reported.delivery == "full":
        left = failure
    elif reported.delivery == "redacted" and isinstance(reported.output, str):
        left = reported.output
    return ToolFailed(
        run.call.tool,
        run.decision,
        left,
        receipt=reported.receipt,
        labels=reported.labels,
        findings=reported.findings,
    )


def _forwarded(result: Any, reported: Reported, run: _Run) -> Any:
    """The part of a result that may be forwarded. Raises `Withheld` if there is none or it is unknown."""
    # There is nothing to withhold in None.
    if reported.delivery == "full" or result is None:
        return result
    if reported.delivery != "redacted" or not reported.has_output:
        raise Withheld(
            run.call.tool,
            run.decision,
            receipt=reported.receipt,
            labels=reported.labels,
            findings=reported.findings,
        )
    # Bytes are reported as text.
    if isinstance(result, (bytes, bytearray, memoryview)):
        text = reported.output if isinstance(reported.output, str) else ""
        return bytearray(text.encode()) if isinstance(result, bytearray) else text.encode()
    return reported.output


def is_asynchronous(function: Callable[..., object]) -> bool:
    """Whether calling the function gives a coroutine or an asynchronous generator."""
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain)
