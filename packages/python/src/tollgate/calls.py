"""Asks the gateway whether a call may run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from .errors import TollgateError
from .exchange import Answer, Connection, Moment, Request, exchange, json_of
from .reading import a_text, a_time, a_word, an_id, an_object, invalid_answer, or_none, seconds_of
from .strict_json import Json, JsonRefused, canonical_json

#: The reason codes that allow a call. A test compares them with those of the gateway.
ALLOWING = frozenset({"RULE_ALLOWED", "APPROVAL_GRANTED", "ASKED_IN_CLIENT", "OBSERVE_MODE_ALLOWED"})


class Source(TypedDict):
    """A text that led to a call: from the user, or from a tool or a page."""

    source_channel: Literal["USER", "TOOL_OUTPUT"]
    text: str


class Context(TypedDict, total=False):
    """The claimed origin of a call."""

    environment: str
    workspace: str
    tenant: str
    session_id: str
    delegation_session_id: str


class PageObservation(TypedDict, total=False):
    """What a Sentinel saw of a page. A missing member never counts as harmless."""

    url: str
    dom_hash: str
    visual_text_hash: str
    #: From 0 to 100.
    sentinel_risk: int
    sentinel_findings: Sequence[str]


class PageOptions(TypedDict, total=False):
    """The members that make a call a browser call."""

    #: The page that the call acts on. With `observation_id`, only its URL counts.
    observation: PageObservation
    #: Id of an observation that a Sentinel posted. It is valid for one call, within ten seconds.
    observation_id: str
    #: The digest of the plan: `sha256:` and 64 hexadecimal digits, or the digits alone. Other texts are hashed.
    planner_ref: str
    #: True makes a read a call with a side effect. False changes nothing.
    side_effect: bool
    #: The URL that the action leads to, if it is not the page itself.
    destination: str


class CallOptions(PageOptions, total=False):
    """The members of a call besides its tool and its arguments, as on the wire."""

    #: The session of the call. Default: `session` of the client.
    session_id: str
    delegation_session_id: str
    #: The claimed principal. The gateway denies the call if the token belongs to another one.
    principal: str
    context: Context
    #: Id of the request for approval that the call uses.
    approval: str
    #: Id of the delegation that the call is made under.
    delegation: str
    #: The texts that led to the call, in order.
    sources: Sequence[Source]


_PAGE_MEMBERS = frozenset(PageOptions.__annotations__)
_MEMBERS = _PAGE_MEMBERS | frozenset(CallOptions.__annotations__)


@dataclass(frozen=True)
class Evaluation:
    """The gateway's answer to a call."""

    #: Run the tool only on `ALLOW`, once, before `expires`.
    verdict: Literal["ALLOW", "DENY", "ESCALATE"]
    reason_code: str
    message: str
    remedy: str
    #: The step that decided.
    rung: str
    rule: str | None
    #: Details, without any value of the arguments.
    detail: str | None
    #: Id of the decision's receipt. Always there on ALLOW; None on a DENY that could not be recorded.
    receipt: str | None
    #: Id of the request for approval, if the verdict is ESCALATE.
    approval: str | None
    #: When an ALLOW expires, by the clock of the gateway.
    expires: str | None


@dataclass(frozen=True)
class Call:
    """A captured call: its members as immutable text."""

    tool: str
    #: Canonical JSON of the arguments.
    arguments: str
    #: Each further member with its JSON text.
    members: Mapping[str, str]

    def request(self) -> Request:
        # A call about a page has a door of its own, which gives the tool another name.
        is_browser = not _PAGE_MEMBERS.isdisjoint(self.members)
        named = {("tool_name" if is_browser else "tool"): canonical_json(self.tool)}
        members = {**named, **self.members, "arguments": self.arguments}
        body = ",".join(f'"{name}":{text}' for name, text in members.items())
        return Request(
            "POST", "/v1/browser/evaluate" if is_browser else "/v1/evaluate", body="{" + body + "}"
        )

    def with_members(self, options: Mapping[str, object]) -> Call:
        return Call(self.tool, self.arguments, {**self.members, **_captured_all(options)})


def capture_call(tool: str, arguments: object, options: Mapping[str, object], session: str | None) -> Call:
    """Captures a call: reads each member once. Raises `arguments-invalid` for anything but plain JSON data."""
    context = options.get("context")
    names_session = isinstance(context, Mapping) and context.get("session_id") is not None
    # The session of the client is only a default.
    default = {} if session is None or names_session else {"session_id": session}
    return Call(tool, _captured("arguments", arguments), {**_captured_all(default), **_captured_all(options)})


def check_options(options: Mapping[str, object]) -> None:
    unknown = sorted(set(options) - _MEMBERS)
    if unknown:
        raise TypeError(f"unknown option `{unknown[0]}`; the options of a call are {', '.join(sorted(_MEMBERS))}")


def _captured_all(options: Mapping[str, object]) -> dict[str, str]:
    return {name: _captured(name, value) for name, value in options.items() if value is not None}


def _captured(name: str, value: object) -> str:
    try:
        return canonical_json(value)
    except JsonRefused as refused:
        raise TollgateError(
            "arguments-invalid",
            f"`{name}` of the call is not plain JSON data: {refused}",
            remedy="Pass only None, booleans, finite numbers, strings, lists and dicts with string keys.",
        ) from None


@dataclass(frozen=True)
class Timed:
    """A decision, when it was asked for, and how long an ALLOW is valid after that."""

    evaluation: Evaluation
    sent: Moment
    valid_for: float


async def ask(connection: Connection, call: Call) -> Timed:
    """Sends a call, and retries if the answer was lost. Each try is a separate decision; unused ALLOWs expire."""
    answer = await exchange(connection, call.request())
    if answer.status != 200:
        raise invalid_answer("a verdict must have status 200", answer.status)
    evaluation = _read_evaluation(json_of(answer))
    return Timed(evaluation, answer.sent, _usable_for(answer, evaluation))


# Longest validity of an ALLOW, and a reserve for rounding and for the time until the function starts.
_LIFETIME = 60.0
_MARGIN = 5.0


def _usable_for(answer: Answer, evaluation: Evaluation) -> float:
    """How long an ALLOW is valid after the request was sent.

    The two clocks need not agree: the remaining time comes from the clock of the gateway, and the client counts it down.
    """
    if evaluation.expires is None:
        return 0.0
    until = seconds_of(evaluation.expires)
    if until is None or answer.date is None:
        return _LIFETIME - _MARGIN
    return min(_LIFETIME, until - answer.date) - _MARGIN


def _read_evaluation(value: Json) -> Evaluation:
    answer = an_object(value, "answer")
    verdict = a_word("ALLOW", "DENY", "ESCALATE")(answer.get("verdict"), "verdict")
    reason_code = a_text(answer.get("reason_code"), "reason_code")
    # An unknown code, or a code of another verdict, does not allow the call.
    if verdict == "ALLOW" and reason_code not in ALLOWING:
        raise invalid_answer("its reason code does not allow the call", 200)
    receipt = (or_none(an_id) if verdict == "DENY" else an_id)(answer.get("receipt"), "receipt")
    approval = or_none(an_id)(answer.get("approval"), "approval") if verdict == "ESCALATE" else None
    return Evaluation(
        # Sound: `a_word` has read one of these.
        verdict=verdict,  # type: ignore[arg-type]
        reason_code=reason_code,
        message=a_text(answer.get("message"), "message"),
        remedy=a_text(answer.get("remedy"), "remedy"),
        rung=a_text(answer.get("rung"), "rung"),
        rule=or_none(a_text)(answer.get("rule"), "rule"),
        detail=or_none(a_text)(answer.get("detail"), "detail"),
        receipt=receipt,
        approval=approval,
        expires=a_time(answer.get("expires"), "expires") if verdict == "ALLOW" else None,
    )
