"""The errors of the client. Problems of the gateway keep their code; the client's own codes are in `docs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .strict_json import Json

Outcome = Literal["COMPLETED", "FAILED"]


class TollgateError(Exception):
    """An error of the client or the gateway. Branch on `code`.

    The message and all attributes are safe to log: they never contain the token or a value of the arguments.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        remedy: str | None = None,
        status: int | None = None,
        problem: Mapping[str, Json] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: What to do, if known.
        self.remedy = remedy
        #: The HTTP status, if the gateway answered.
        self.status = status
        #: The whole problem document of the gateway.
        self.problem = problem

    def __str__(self) -> str:
        return self.message if self.remedy is None else f"{self.message} {self.remedy}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(code={self.code!r}, message={self.message!r})"


class ToolDenied(TollgateError):
    """The gateway denied the call. The tool did not run. Code `tool-denied`."""

    def __init__(
        self,
        tool: str,
        *,
        reason_code: str,
        message: str,
        remedy: str,
        rung: str,
        rule: str | None,
        detail: str | None,
        receipt: str | None,
    ) -> None:
        super().__init__("tool-denied", message, remedy=remedy)
        self.tool = tool
        self.reason_code = reason_code
        #: The step that decided.
        self.rung = rung
        self.rule = rule
        #: Details, without any value of the arguments.
        self.detail = detail
        #: Id of the decision's receipt; None if none could be written.
        self.receipt = receipt

    def __str__(self) -> str:
        return f"{self.reason_code}: {super().__str__()}"

    def to_dict(self) -> dict[str, Json]:
        """The part that a model may see: the reason and the remedy, no internals."""
        return {
            "denied": True,
            "tool": self.tool,
            "reason_code": self.reason_code,
            "message": self.message,
            "remedy": self.remedy,
            "receipt": self.receipt,
        }


class ApprovalRequired(TollgateError):
    """The call needs approval, and the caller chose not to wait. The tool did not run. Code `approval-required`."""

    def __init__(self, tool: str, approval: str | None) -> None:
        super().__init__(
            "approval-required",
            f"a person must approve this call of `{tool}`",
            remedy="Wait for the approval, then make the same call again with the id of the request.",
        )
        self.tool = tool
        #: Id of the request; None if none was opened. Make the same call with it after the approval.
        self.approval = approval


class ApprovalTimedOut(TollgateError):
    """The request for approval had no answer in time. The tool did not run. Code `approval-timed-out`."""

    def __init__(self, approval: str, waited: float) -> None:
        super().__init__(
            "approval-timed-out",
            f"the request for approval had no answer within {round(waited)} s",
            remedy="Wait longer. After the approval, make the same call again with the id of the request.",
        )
        #: Id of the request. After a later approval, make the same call with it.
        self.approval = approval


class _Ended:
    """How a function ended. Its text does not show it, so that a log or a framework does not show it to a model."""

    __slots__ = ("failure", "result")

    def __init__(self, result: object, failure: str | None) -> None:
        self.result = result
        self.failure = failure


class EffectUnreported(TollgateError):
    """The tool ran, but its effect could not be reported. Code `effect-unreported`.

    The record is incomplete: the gateway closes the call as UNKNOWN. Do not run the tool again because of this error.
    """

    def __init__(
        self, decision: str, outcome: Outcome, *, result: object = None, failure: str | None = None
    ) -> None:
        super().__init__(
            "effect-unreported",
            "the tool ran, but its effect could not be reported to the gateway",
            remedy="Do not run it again. Report the effect later with `client.report`. "
            "Until then the call counts as UNKNOWN.",
        )
        #: Id of the decision that allowed the call.
        self.decision = decision
        self.outcome: Outcome = outcome
        self._ended = _Ended(result, failure)

    @property
    def result(self) -> object:
        """The return value of the function, if it returned. Not inspected: do not show it to a model."""
        return self._ended.result

    @property
    def failure(self) -> str | None:
        """The message of the error, if the function raised one. Not inspected: do not show it to a model."""
        return self._ended.failure


class Withheld(TollgateError):
    """The tool ran and its effect is recorded, but its output is withheld. Code `output-withheld`.

    It does not contain the output, so a model may see it. Do not run the tool again because of this error.
    """

    def __init__(
        self,
        tool: str,
        decision: str,
        *,
        receipt: str | None,
        labels: Sequence[str],
        findings: Sequence[str],
    ) -> None:
        super().__init__(
            "output-withheld",
            f"`{tool}` ran, but its output is withheld",
            remedy="Do not run it again. The receipt lists the findings. A person can check the output.",
        )
        self.tool = tool
        #: Id of the decision that allowed the call.
        self.decision = decision
        #: Id of the effect's receipt; None if the answer of the gateway was lost.
        self.receipt = receipt
        self.labels = tuple(labels)
        self.findings = tuple(findings)

    def to_dict(self) -> dict[str, Json]:
        """The part that a model may see."""
        return {
            "withheld": True,
            "tool": self.tool,
            "message": self.message,
            "remedy": self.remedy,
            "receipt": self.receipt,
            "labels": list(self.labels),
            "findings": list(self.findings),
        }


class ToolFailed(TollgateError):
    """The tool raised an error, and that is recorded as FAILED. Code `tool-failed`.

    The message is the inspected message of the tool. The error itself is not included, neither as `__cause__` nor as
    `__context__`, so a model may see it. A program that needs the error must catch it inside the tool.
    """

    def __init__(
        self,
        tool: str,
        decision: str,
        message: str | None,
        *,
        receipt: str | None = None,
        labels: Sequence[str] = (),
        findings: Sequence[str] = (),
    ) -> None:
        super().__init__("tool-failed", message or f"`{tool}` failed, but its message is withheld")
        self.tool = tool
        #: Id of the decision that allowed the call.
        self.decision = decision
        #: Id of the effect's receipt; None if the report or its answer was lost.
        self.receipt = receipt
        self.labels = tuple(labels)
        self.findings = tuple(findings)
        #: Whether the message of the tool is missing: the policy withholds it, or it could not be inspected.
        self.withheld = message is None

    def to_dict(self) -> dict[str, Json]:
        """The part that a model may see."""
        return {
            "failed": True,
            "tool": self.tool,
            "message": self.message,
            "receipt": self.receipt,
            "labels": list(self.labels),
            "findings": list(self.findings),
            "withheld": self.withheld,
        }
