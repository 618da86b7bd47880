"""Reads requests for approval, waits for an answer, and answers them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

from .errors import ApprovalTimedOut, TollgateError
from .exchange import Connection, Request, exchange, is_lost, json_of, pause, with_timeout
from .reading import a_text, a_time, a_word, an_id, an_object, invalid_answer, list_of, or_none
from .strict_json import Json, canonical_json

_STATUSES = ("waiting", "granted", "refused", "timed_out", "expired", "used")

#: Default time to wait for a person, in seconds.
DEFAULT_WAIT = 300.0
_MAX_POLL = 30.0
# Limits the polling of a gateway that answers at once.
_MIN_POLL = 1.0


@dataclass(frozen=True)
class ApprovalRequest:
    """A request for approval, as on the wire."""

    #: Id of the ESCALATE decision that opened it.
    id: str
    principal: str
    session: str
    tool: str
    effect_class: str | None
    reason_code: str
    rung: str
    rule: str | None
    #: The objections that an approval overrides.
    asks: tuple[str, ...]
    #: The hash of the arguments in the receipt of the decision.
    args_hash: str
    #: Principals and groups that may answer; empty for any approver.
    approvers: tuple[str, ...]
    opened: str | None
    #: When the request expires or, after an approval, when the approval expires.
    until: str | None
    #: `waiting`, `granted`, `refused`, `timed_out`, `expired` or `used`.
    status: str
    #: The principal that answered.
    approver: str | None
    because: str | None
    #: The page of a browser call, as the gateway shows it.
    page: Mapping[str, Json] | None
    #: Whether the policy requires a reason for the answer.
    reason_required: bool


@dataclass(frozen=True)
class Answered:
    """The receipt of an answer."""

    receipt: str
    answer: str


async def list_requests(connection: Connection) -> tuple[ApprovalRequest, ...]:
    answer = an_object(json_of(await exchange(connection, Request("GET", "/v1/approvals"))), "answer")
    return list_of(_read_request)(answer.get("approvals"), "approvals")


async def get_request(connection: Connection, request: str, wait: int = 0) -> ApprovalRequest:
    query: dict[str, str | int] = {"wait": wait} if wait > 0 else {}
    answer = await exchange(connection, Request("GET", _path(request), query=query))
    found = _read_request(json_of(answer), "answer")
    if found.id != request:
        raise invalid_answer("it is about another request", answer.status)
    return found


async def wait_for_answer(connection: Connection, request: str, timeout: float) -> ApprovalRequest:
    """Waits until the status is no longer `waiting`. Retries until the timeout if the gateway cannot be reached."""
    end = time.monotonic() + timeout
    lost = 0
    while (asked := time.monotonic()) < end:
        found = await _look_or_miss(connection, request, end - asked)
        if found is not None and found.status != "waiting":
            return found
        lost = 0 if found else lost + 1
        early = asked + _MIN_POLL - time.monotonic() if found else pause(lost)
        await connection.host.sleep(max(0.0, min(early, end - time.monotonic())))
    raise ApprovalTimedOut(request, timeout)


async def _look_or_miss(connection: Connection, request: str, left: float) -> ApprovalRequest | None:
    """The request once it is answered or the poll ends; None if the gateway could not be reached."""
    wait = int(min(_MAX_POLL, left))
    patient = with_timeout(connection, min(left, connection.timeout + wait))
    try:
        return await get_request(patient, request, wait)
    except TollgateError as error:
        if is_lost(error) or error.status == 429 or (error.status or 0) >= 500:
            return None
        raise


async def answer_request(
    connection: Connection, request: str, word: Literal["approve", "deny"], because: str | None, widen: bool
) -> Answered:
    """Answers a request. Not retried: after an error, check the status of the request."""
    body = {
        **({} if because is None else {"because": because}),
        **({"widen": True} if widen else {}),
    }
    sent = await exchange(
        connection, Request("POST", f"{_path(request)}/{word}", body=canonical_json(body)), 0
    )
    answered = an_object(json_of(sent), "answer")
    return Answered(
        receipt=an_id(answered.get("receipt"), "receipt"),
        answer=a_word("GRANTED", "REFUSED")(answered.get("answer"), "answer"),
    )


def _path(request: str) -> str:
    return f"/v1/approvals/{quote(request, safe='')}"


def _read_request(value: Json, name: str) -> ApprovalRequest:
    request = an_object(value, name)

    def text(member: str) -> str:
        return a_text(request.get(member), member)

    def text_or_none(member: str) -> str | None:
        return or_none(a_text)(request.get(member), member)

    return ApprovalRequest(
        id=an_id(request.get("id"), "id"),
        principal=text("principal"),
        session=text("session"),
        tool=text("tool"),
        effect_class=text_or_none("effect_class"),
        reason_code=text("reason_code"),
        rung=text("rung"),
        rule=text_or_none("rule"),
        asks=list_of(a_text)(request.get("asks", []), "asks"),
        args_hash=text("args_hash"),
        approvers=list_of(a_text)(request.get("approvers"), "approvers"),
        opened=or_none(a_time)(request.get("opened"), "opened"),
        until=or_none(a_time)(request.get("until"), "until"),
        status=a_word(*_STATUSES)(request.get("status"), "status"),
        approver=text_or_none("approver"),
        because=text_or_none("because"),
        page=or_none(an_object)(request.get("page"), "page"),
        reason_required=request.get("reason_required") is True,
    )
