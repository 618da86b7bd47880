"""Reports the effect of an allowed call. A report can be sent twice; it is recorded once."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from hashlib import sha256

from .errors import Outcome, TollgateError
from .exchange import Connection, Request, Sent, attempt, delay_after, exchange, is_lost, json_of, pause, problem_in
from .outputs import output_text
from .reading import a_text, a_word, an_id, an_object, invalid_answer, list_of
from .strict_json import Json, canonical_json

_MAX_OUTPUT_BYTES = 512 << 10
_MAX_EFFECTS = 10


@dataclass(frozen=True)
class Reported:
    """The answer to a report: its receipt and what may be forwarded."""

    #: Id of the effect's receipt; None if the effect is recorded but the answer was lost.
    receipt: str | None
    #: `full`: forward the output as it is. `redacted`: forward only `output` of this answer. `withheld` or None (the answer was
    #: lost): forward nothing.
    delivery: str | None
    labels: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    #: The redacted output; text if the output was bytes.
    output: Json = None
    #: Whether the answer has an output. None is an output, too.
    has_output: bool = False


@dataclass(frozen=True)
class _Committed:
    """The output in a report: the member, its JSON text, and the content that is hashed."""

    member: str
    text: str
    content: bytes


@dataclass(frozen=True)
class _Report:
    decision: str
    status: Outcome
    committed: _Committed | None

    def request(self) -> Request:
        output = f',"{self.committed.member}":{self.committed.text}' if self.committed else ""
        decision = canonical_json(self.decision)
        return Request("POST", "/v1/effects", body=f'{{"decision":{decision},"status":"{self.status}"{output}}}')


async def report_effect(connection: Connection, decision: str, status: Outcome, output: object) -> Reported:
    """Sends a report, and retries if it is unknown whether it arrived."""
    report = _Report(decision, status, _commit(output))
    uncertain = False
    tried = 0
    while True:
        sent = await attempt(connection, report.request())
        taken = _received(sent)
        if isinstance(taken, Reported):
            return taken
        # The effect is already closed, probably by an earlier try.
        if uncertain and taken.code == "effect-refused":
            return await _look_up(connection, report)
        if taken.status == 413 and report.committed and report.committed.member != "output_digest":
            report = replace(report, committed=_digest_of(report.committed.content))
            tried += 1
            continue
        delay = delay_after(sent, tried)
        if delay is None and _is_uncertain(taken):
            delay = pause(tried)
        if delay is None or tried >= connection.retries:
            raise taken
        uncertain = uncertain or _is_uncertain(taken)
        await connection.host.sleep(delay)
        tried += 1


def _received(sent: Sent) -> Reported | TollgateError:
    """The accepted report, or the error."""
    if isinstance(sent, TollgateError):
        return sent
    if sent.status != 201:
        return problem_in(sent)
    try:
        return _read_reported(json_of(sent))
    except TollgateError as error:
        return error


def _read_reported(value: Json) -> Reported:
    answer = an_object(value, "answer")
    delivery = a_word("full", "redacted", "withheld")(answer.get("delivery"), "delivery")
    if (delivery == "redacted") != ("output" in answer):
        raise invalid_answer("it must have an output if it is redacted, and only then", 201)
    return Reported(
        receipt=an_id(answer.get("receipt"), "receipt"),
        delivery=delivery,
        labels=list_of(a_text)(answer.get("labels"), "labels"),
        findings=list_of(a_text)(answer.get("findings"), "findings"),
        output=answer.get("output"),
        has_output="output" in answer,
    )


_LOST = Reported(receipt=None, delivery=None)


async def _look_up(connection: Connection, report: _Report) -> Reported:
    """Looks up the effect in the ledger after a lost answer. The redacted output is lost."""
    query: dict[str, str | int] = {"decision": report.decision, "kind": "effect", "limit": _MAX_EFFECTS}
    try:
        found = an_object(json_of(await exchange(connection, Request("GET", "/v1/receipts", query=query))), "answer")
        entries = list_of(an_object)(found.get("receipts"), "receipts")
        for entry in entries:
            reported = _reported_in(report, entry.get("receipt"), entry.get("id"))
            if reported is not None:
                return reported
    except TollgateError:
        # The effect is recorded, but nothing else is known, so nothing may be forwarded.
        return _LOST
    return _LOST


def _reported_in(report: _Report, value: Json, receipt: Json) -> Reported | None:
    """What a receipt says, if it is for this report. Another program with the same token could have reported too."""
    effect = an_object(value, "receipt")
    same = (effect.get("kind"), effect.get("decision"), effect.get("status"))
    if same != ("effect", report.decision, report.status):
        return None
    content = report.committed.content if report.committed else b""
    if effect.get("commit") == "plain" and effect.get("effect_hash") != sha256(content).hexdigest():
        return None
    return Reported(
        receipt=an_id(receipt, "id"),
        delivery=a_word("full", "redacted", "withheld")(effect.get("delivery"), "delivery"),
        labels=list_of(a_text)(effect.get("labels", []), "labels"),
        findings=list_of(a_text)(effect.get("findings", []), "findings"),
    )


def _is_uncertain(error: TollgateError) -> bool:
    """Whether the gateway may have accepted the report despite the error."""
    status = 500 if error.status is None else error.status
    return is_lost(error) or status < 400 or status >= 500


def _commit(output: object) -> _Committed | None:
    if output is None:
        return None
    if isinstance(output, (bytes, bytearray, memoryview)):
        content = bytes(output)
        committed = _Committed("output_base64", f'"{base64.b64encode(content).decode()}"', content)
    else:
        text = output_text(output)
        # It cannot be inspected, so it must not count as no output.
        if text is None:
            return _digest_of(b"")
        committed = _Committed("output", text, text.encode())
    return _digest_of(committed.content) if len(committed.text) > _MAX_OUTPUT_BYTES else committed


def _digest_of(content: bytes) -> _Committed:
    text = canonical_json({"bytes": len(content), "sha256": sha256(content).hexdigest()})
    return _Committed("output_digest", text, text.encode())
