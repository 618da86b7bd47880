"""Sends requests with retries, and reads answers."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode

import httpx

from .errors import TollgateError
from .hosts import MAX_ANSWER_BYTES, Host
from .reading import invalid_answer
from .strict_json import Json, JsonRefused, parse_json

_FIRST_DELAY = 0.1
_MAX_DELAY = 5.0
# Longest `Retry-After` that is obeyed. A longer one is returned to the caller as an error.
_MAX_RETRY_AFTER = 30.0
_PROBLEM_CODE = re.compile("[a-z0-9-]{1,64}")


@dataclass(frozen=True)
class Connection:
    """The connection to a gateway. Its text has no token."""

    base: str
    host: Host
    timeout: float
    retries: int
    token: str = field(repr=False)


@dataclass(frozen=True)
class Moment:
    """A point in time on both clocks. One stops while the machine sleeps, the other can be set back."""

    monotonic: float
    wall: float

    def waited(self) -> float:
        return max(time.monotonic() - self.monotonic, time.time() - self.wall)


def moment() -> Moment:
    return Moment(time.monotonic(), time.time())


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: str | None = None
    query: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    #: The media type, without parameters, in lower case.
    type: str
    body: bytes
    #: When the request was sent.
    sent: Moment
    #: The `Date` header in seconds since 1970.
    date: float | None
    #: The `Retry-After` header in seconds.
    retry_after: float | None


Sent = Answer | TollgateError


async def exchange(connection: Connection, request: Request, retries: int | None = None) -> Answer:
    """Sends a request. Retries with growing pauses if it was lost or the gateway was busy."""
    limit = connection.retries if retries is None else retries
    tried = 0
    while True:
        outcome = await attempt(connection, request)
        delay = delay_after(outcome, tried) if tried < limit else None
        if delay is None:
            return _accepted(outcome)
        await connection.host.sleep(delay)
        tried += 1


async def attempt(connection: Connection, request: Request) -> Sent:
    """Sends a request once. Returns errors as values."""
    sent = moment()
    try:
        reply = await connection.host.send(_http_request(connection, request), connection.timeout)
    except TollgateError as error:
        return error
    if 300 <= reply.status < 400:
        # The token must go only to the gateway.
        return TollgateError(
            "gateway-unreachable",
            "the gateway cannot be reached: the answer is a redirect",
            remedy="Check that `url` is the address of the gateway.",
        )
    return Answer(
        status=reply.status,
        type=reply.headers.get("content-type", "").split(";")[0].strip().lower(),
        body=reply.body,
        sent=sent,
        date=_date_in(reply.headers.get("date")),
        retry_after=_seconds_in(reply.headers.get("retry-after")),
    )


def with_timeout(connection: Connection, timeout: float) -> Connection:
    return replace(connection, timeout=timeout, retries=0)


def delay_after(outcome: Sent, tried: int) -> float | None:
    """The delay before the next try; None if a retry is useless."""
    if isinstance(outcome, TollgateError):
        return pause(tried) if is_lost(outcome) else None
    after = outcome.retry_after
    if after is not None and after > _MAX_RETRY_AFTER:
        return None
    if outcome.status == 429:
        return None if after is None else after + pause(0)
    return max(after or 0.0, pause(tried)) if outcome.status in (502, 503, 504) else None


def is_lost(error: TollgateError) -> bool:
    """Whether it is unknown if the gateway received the request."""
    return error.code in ("gateway-unreachable", "gateway-timeout")


def pause(tried: int) -> float:
    """A delay that doubles with each try, with up to 50 % random reduction."""
    return min(_MAX_DELAY, _FIRST_DELAY * 2.0**tried) * random.uniform(0.5, 1.0)


def json_of(answer: Answer) -> Json:
    """The JSON of a successful answer."""
    _accepted(answer)
    if answer.type != "application/json":
        raise invalid_answer("it is not JSON", answer.status)
    try:
        return parse_json(answer.body, MAX_ANSWER_BYTES)
    except JsonRefused as refused:
        raise invalid_answer(f"it is not readable JSON: {refused}", answer.status) from None


def problem_in(answer: Answer) -> TollgateError:
    """The problem in an answer as an error."""
    problem = _problem_document(answer)
    texts = [problem.get(name) for name in ("detail", "title")]
    message = next((text for text in texts if isinstance(text, str)), None)
    code, remedy = problem.get("code"), problem.get("remedy")
    known = isinstance(code, str) and _PROBLEM_CODE.fullmatch(code) is not None
    return TollgateError(
        str(code) if known else "http-error",
        message or f"the gateway answered with status {answer.status}",
        remedy=remedy if isinstance(remedy, str) else None,
        status=answer.status,
        problem=problem or None,
    )


def _accepted(outcome: Sent) -> Answer:
    if isinstance(outcome, TollgateError):
        raise outcome
    if outcome.status not in (200, 201):
        raise problem_in(outcome)
    return outcome


def _problem_document(answer: Answer) -> Mapping[str, Json]:
    if answer.type != "application/problem+json":
        return {}
    try:
        value = parse_json(answer.body, MAX_ANSWER_BYTES)
    except JsonRefused:
        return {}
    return value if isinstance(value, Mapping) else {}


def _http_request(connection: Connection, request: Request) -> httpx.Request:
    query = f"?{urlencode(request.query)}" if request.query else ""
    headers = {"authorization": f"Bearer {connection.token}", "accept-encoding": "identity"}
    if request.body is not None:
        headers["content-type"] = "application/json"
    return httpx.Request(
        request.method,
        connection.base + request.path + query,
        headers=headers,
        content=None if request.body is None else request.body.encode(),
        extensions={"timeout": httpx.Timeout(connection.timeout).as_dict()},
    )


def _date_in(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (TypeError, ValueError, OverflowError):
        return None


def _seconds_in(text: str | None) -> float | None:
    """Reads only a number of seconds. A date would depend on a clock that can be wrong."""
    return float(text) if text is not None and re.fullmatch("[0-9]{1,6}", text) else None
