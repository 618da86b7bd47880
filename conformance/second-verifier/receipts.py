"""The form of receipts: envelopes, fields of each kind, rules between fields."""

import re
from dataclasses import dataclass

from basics import canonical, from_base64, is_count, is_origin, read_canonical, Refused, sha256_hex, utf16_length

NO_HASH = "0" * 64
MAX_PAYLOAD, MAX_ENVELOPE = 16_384, 22_248
TYPE = "application/vnd.tollgate.receipt+json;v=1"

# Types. Each is a function from a value to whether it belongs to the type.

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


def text(most):
    return lambda v: isinstance(v, str) and 1 <= utf16_length(v) <= most and not _CONTROLS.search(v)


def count(most=2**53 - 1):
    return lambda v: is_count(v, most)


def one_of(*words):
    return lambda v: isinstance(v, str) and v in words


def words(line):
    return one_of(*line.split())


def pattern(regex):
    compiled = re.compile(regex)
    return lambda v: isinstance(v, str) and compiled.fullmatch(v) is not None


def array_of(each, most):
    return lambda v: isinstance(v, list) and len(v) <= most and all(map(each, v))


def list_of(each, most):
    fits = array_of(each, most)
    return lambda v: fits(v) and len({canonical(item) for item in v}) == len(v)


def fields(table):
    """An object with exactly these members. A name that ends in `?` can be left out."""
    types = {name.rstrip("?"): fits for name, fits in table.items()}
    required = {name for name in table if not name.endswith("?")}
    return lambda v: (
        isinstance(v, dict)
        and required <= v.keys() <= types.keys()
        and all(types[name](value) for name, value in v.items())
    )


def is_true(v):
    return v is True


def is_flag(v):
    return isinstance(v, bool)


def is_one(v):
    return type(v) is int and v == 1


def milliseconds(moment):
    """The time since 1970; None if the day does not exist."""
    year, month, day = int(moment[:4]), int(moment[5:7]), int(moment[8:10])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    months = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if day > months[month - 1]:
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 + sum(months[: month - 1]) + day
    hours, minutes, seconds = int(moment[11:13]), int(moment[14:16]), float(moment[17:23])
    return (days - 719_163) * 86_400_000 + hours * 3_600_000 + minutes * 60_000 + round(seconds * 1000)


DATE = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_moment = pattern(DATE + r"T([01][0-9]|2[0-3])(:[0-5][0-9]){2}\.[0-9]{3}Z")


def moment(v):
    return _moment(v) and milliseconds(v) is not None


HASH = pattern("[0-9a-f]{64}")
BYTES32 = pattern("[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
DAY = pattern(DATE)
DECIMAL = pattern(r"(-(?!0\.0000$))?(0|[1-9][0-9]{0,9})\.[0-9]{4}")
WRITER = pattern("[a-z0-9][a-z0-9.-]{0,62}")
LABEL = pattern("[a-z][a-z0-9-]{0,31}")
FINDING = pattern("[A-Z][A-Z0-9_]{0,63}")
AUTHOR = pattern("server:[a-z0-9][a-z0-9_-]{0,31}")
DOOR = words("mcp llm hook http sdk browser")
EFFECT_CLASS = words("read write delete execute send pay admin")
TIER = words("observer standard elevated admin")
STEP = words(
    "capture freeze schema context identity browser egress taint threat delegation session-risk trust"
    " privilege scope policy temporal compliance"
)
COMMIT = words("plain salted raw")
NAME, LONG = text(256), text(500)

VERDICTS = {
    "ALLOW": "RULE_ALLOWED APPROVAL_GRANTED ASKED_IN_CLIENT OBSERVE_MODE_ALLOWED",
    "DENY": "AMBIGUOUS_INPUT SYSTEM_FROZEN AGENT_KILLED TOOL_FROZEN SESSION_FROZEN QUOTA_EXCEEDED"
    " STORAGE_QUOTA_EXCEEDED DENY_TOOL_NOT_FOUND TOOL_NOT_DECLARED TOOL_DEFINITION_CHANGED SCHEMA_VIOLATION"
    " CONTEXT_MISMATCH IDENTITY_MISSING IDENTITY_ISOLATION_VIOLATION COGNITIVE_FIREWALL_INVALID_URL"
    " COGNITIVE_FIREWALL_DOMAIN_DENY COGNITIVE_FIREWALL_SENTINEL_DENY COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED"
    " COGNITIVE_FIREWALL_TARGET_DENY DATA_EGRESS_BLOCKED TAINTED_DATA_EGRESS_DENY UNTRUSTED_VALUE_DENY"
    " PROMPT_INJECTION_DETECTED UNICODE_OBFUSCATION_DETECTED COMMAND_ATTACK_DETECTED DELEGATION_INVALID"
    " DELEGATION_SCOPE_VIOLATION SESSION_RISK_MEMORY_DENY TRUST_INSUFFICIENT INSUFFICIENT_PRIVILEGE"
    " NO_POLICY_DEFINED NO_RULE_MATCHED POLICY_VIOLATION POLICY_EVALUATION_ERROR OUTSIDE_HOURS RATE_EXCEEDED"
    " BUDGET_EXCEEDED COMPLIANCE_VIOLATION APPROVAL_TIMEOUT APPROVAL_REFUSED APPROVAL_INVALID APPROVAL_TOO_LARGE"
    " GATE_FAILED STATE_MISMATCH LEDGER_UNAVAILABLE",
    "ESCALATE": "APPROVAL_REQUIRED CALL_NOT_UNDERSTOOD TOOL_NOT_PINNED EGRESS_APPROVAL_REQUIRED"
    " TAINT_APPROVAL_REQUIRED THREAT_APPROVAL_REQUIRED SESSION_RISK_APPROVAL_REQUIRED ELEVATION_REQUIRED"
    " TASK_SCOPE_EXCEEDED TEMPORAL_INTERVENTION COMPLIANCE_APPROVAL_REQUIRED"
    " COGNITIVE_FIREWALL_APPROVAL_REQUIRED COGNITIVE_FIREWALL_TARGET_UNRESOLVED",
}
REASONS = {verdict: set(codes.split()) for verdict, codes in VERDICTS.items()}

COMMON = {
    "v": is_one,
    "kind": text(32),
    "ledger": is_origin,
    "tenant": NAME,
    "writer": WRITER,
    "seq": count(),
    "lamport_clock": count(),
    "prev_receipt_hash": HASH,
    "causes": list_of(HASH, 16),
    "time": moment,
    "key": HASH,
}

KINDS = {
    "genesis": {
        "public_key": BYTES32,
        "commit": words("plain salted"),
        "succeeds?": fields({"ledger": is_origin, "checkpoint_hash": HASH, "because": LONG}),
    },
    "key": {"op": words("add retire"), "role": words("ledger writer"), "of?": WRITER, "public_key": BYTES32},
    "decision": {
        "principal": NAME,
        "session": fields({"id": NAME, "seq": count()}),
        "door": DOOR,
        "assurance": words("enforced advised"),
        "author?": AUTHOR,
        "person?": NAME,
        "tool": NAME,
        "effect_class": EFFECT_CLASS,
        "args_hash": HASH,
        "commit": COMMIT,
        "definition_hash?": HASH,
        "verdict": words("ALLOW DENY ESCALATE"),
        "reason_code": text(64),
        "rung": STEP,
        "rule?": text(100),
        "policy_hash": HASH,
        "ladder": HASH,
        "state_hash": HASH,
        "next_state_hash": HASH,
        "evidence": HASH,
        "approval?": HASH,
        "delegation?": HASH,
        "asks?": list_of(LONG, 16),
        "labels?": list_of(LABEL, 32),
        "findings?": list_of(FINDING, 32),
        "compliance?": list_of(text(100), 16),
        "elevation?": fields({"tier": TIER, "until": moment}),
        "trust?": DECIMAL,
        "provenance_hash?": HASH,
        "scope_hash?": HASH,
        "next_scope_hash?": HASH,
        "expires?": moment,
        "trajectory_risk_score": DECIMAL,
        "session_centroid_hash": HASH,
        "risk_accumulation_window": count(10_000),
        "browser?": fields({
            "sentinel_risk?": count(100),
            "sentinel_findings": list_of(FINDING, 32),
            "dom_hash?": HASH,
            "visual_text_hash?": HASH,
            "planner_ref?": NAME,
            "planner_derived?": is_true,
            "page_host?": text(260),
            "destination_host?": text(260),
            "target_state?": words("bound covered moved replaced other-origin unresolved"),
            "target_hash?": HASH,
            "without_egress?": is_true,
            "seen_hash?": HASH,
            "approved_hash?": HASH,
        }),
    },
    "effect": {
        "decision": HASH,
        "status": words("COMPLETED FAILED UNKNOWN CANCELLED"),
        "cause?": words("crash timeout lost"),
        "effect_hash?": HASH,
        "commit": COMMIT,
        "reported_by": words("gateway caller"),
        "delivery": words("full redacted withheld"),
        "late?": is_true,
        "labels?": list_of(LABEL, 32),
        "findings?": list_of(FINDING, 32),
        "trust?": DECIMAL,
        "provenance_hash?": HASH,
    },
    "approval": {
        "decision": HASH,
        "answer": words("GRANTED REFUSED"),
        "widen?": is_true,
        "approver": NAME,
        "because?": LONG,
        "seen_hash?": HASH,
        "expires": moment,
    },
    "freeze": {
        "scope": words("all principal tool session"),
        "target?": NAME,
        "frozen": is_flag,
        "by": NAME,
        "because?": LONG,
        "denials?": count(),
    },
    "policy": {"policy_hash": HASH, "name": NAME, "by": NAME},
    "pin": {"op": words("pin unpin"), "tool": NAME, "definition_hash": HASH, "by": NAME},
    "token": {
        "op": words("issue revoke"),
        "token_hash": HASH,
        "role": words("agent host sentinel operator admin auditor metrics"),
        "principal?": NAME,
        "groups?": list_of(NAME, 32),
        "expires?": moment,
        "by": NAME,
    },
    "delegation": {
        "op": words("grant revoke"),
        "delegation_hash": HASH,
        "delegator": NAME,
        "delegate": NAME,
        "parent?": HASH,
        "expires": moment,
        "by": NAME,
    },
    "session": {
        "op": words("open scope reset close trust"),
        "session": NAME,
        "principal": NAME,
        "scope_hash?": HASH,
        "scope?": fields({
            "effects?": list_of(EFFECT_CLASS, 7),
            "tools?": list_of(NAME, 256),
            "sinks?": count(65_536),
            "looked_up?": is_true,
            "until?": moment,
            "by": words("host user proposed"),
        }),
        "next_state_hash?": HASH,
        "by?": NAME,
        "because?": LONG,
        "decisions?": count(),
        "trust?": DECIMAL,
    },
    "observe": {"scope": words("door principal"), "target": NAME, "on": is_flag, "until?": moment, "by": NAME},
    "recovery": {"closed": count(), "because": LONG},
    "quota": {"of": words("storage"), "principal": NAME, "day": DAY, "denials": count()},
    "blocked": {
        "principal": NAME,
        "session": NAME,
        "page_host?": text(260),
        "pages": count(),
        "hosts": list_of(text(260), 20),
        "requests": count(),
        "more?": count(),
        "types": list_of(pattern("[a-z]{1,24}"), 16),
    },
}
FORMS = {kind: fields(COMMON | own) for kind, own in KINDS.items()}

# Rules between fields. Each is a function from a receipt to whether they agree.


def _decision_agrees(r):
    approved, granted = "approval" in r, r["reason_code"] == "APPROVAL_GRANTED"
    observed = r["reason_code"] == "OBSERVE_MODE_ALLOWED"
    in_client = (r["door"], r["assurance"], r["rung"]) == ("hook", "advised", "policy")
    return (
        r["reason_code"] in REASONS[r["verdict"]]
        and (in_client or r["reason_code"] != "ASKED_IN_CLIENT")
        and ("expires" in r) == (r["verdict"] == "ALLOW" and r["assurance"] == "advised")
        and (r["policy_hash"] != NO_HASH or r["verdict"] == "DENY")
        and approved == granted
        and ("asks" not in r or r["verdict"] == "ESCALATE")
        and (r.get("rule") == "observe") == observed
        and not (observed and r["effect_class"] in ("delete", "pay", "admin"))
        and ("elevation" not in r or (approved and r["rung"] == "privilege"))
        and (approved or ("next_scope_hash" not in r and "approved_hash" not in r.get("browser", {})))
    )


def _effect_agrees(r):
    ended = r["status"] in ("COMPLETED", "FAILED")
    return (
        ("cause" in r) == (r["status"] == "UNKNOWN")
        and ("effect_hash" in r or r["status"] != "COMPLETED")
        and (ended or ("effect_hash" not in r and "late" not in r))
    )


SESSION_OPTIONAL = {"scope_hash", "scope", "next_state_hash", "by", "because", "decisions", "trust"}
_SCOPED = {"scope_hash", "scope", "next_state_hash", "by", "decisions"}
SESSION_SETS = {
    "open": [set(), {"scope_hash"}, _SCOPED],
    "scope": [_SCOPED],
    "reset": [{"next_state_hash", "decisions", "by", "because"}],
    "close": [{"decisions"}, {"decisions", "by", "because"}],
    "trust": [{"trust", "by", "because"}],
}


def _observe_agrees(r):
    lasts = milliseconds(r["until"]) - milliseconds(r["time"]) if "until" in r else 0
    return ("until" in r) == r["on"] and lasts <= 86_400_000 and (r["scope"] != "door" or DOOR(r["target"]))


def _blocked_agrees(r):
    return (
        len(r["hosts"]) > 0
        and r["requests"] >= len(r["hosts"]) + r.get("more", 0)
        and ("more" not in r or len(r["hosts"]) == 20)
        and ("page_host" not in r or r["pages"] == 1)
    )


RULES = {
    "key": lambda r: ("of" in r) == (r["role"] == "writer"),
    "decision": _decision_agrees,
    "effect": _effect_agrees,
    "approval": lambda r: "widen" not in r or r["answer"] == "GRANTED",
    "freeze": lambda r: ("target" in r) == (r["scope"] != "all") and not ("denials" in r and r["frozen"]),
    "session": lambda r: r.keys() & SESSION_OPTIONAL in SESSION_SETS[r["op"]],
    "observe": _observe_agrees,
    "blocked": _blocked_agrees,
}


# Envelopes

_HEAD = b'{"payload":"'
_MIDDLE = f'","payloadType":"{TYPE}","signatures":[{{"keyid":"'.encode()
_OTHER_VERSION = re.compile(
    rb'\{"payload":"[A-Za-z0-9+/=]*","payloadType":"application/vnd\.tollgate\.receipt\+json;v=([0-9]{1,9})"'
)
_TAIL = len(_MIDDLE) + 64 + len(b'","sig":"') + 88 + len(b'"}]}')


@dataclass(frozen=True)
class Receipt:
    id: str
    body: dict
    payload: bytes
    signature: bytes

    def signed(self):
        return b"DSSEv1 %d %b %d %b" % (len(TYPE), TYPE.encode(), len(self.payload), self.payload)


class BadReceipt(Exception):
    """A line that is no receipt. The argument is the code."""


def read_receipt(line):
    if len(line) > MAX_ENVELOPE:
        raise BadReceipt("RECEIPT_MALFORMED")
    encoded, key, sig = _parts(line)
    try:
        payload, signature = from_base64(encoded), from_base64(sig, 64)
    except Refused as fault:
        raise BadReceipt("RECEIPT_MALFORMED") from fault
    body = _body(payload)
    if body["key"].encode() != key:
        raise BadReceipt("RECEIPT_MALFORMED")
    return Receipt(sha256_hex(payload), body, payload, signature)


def _parts(line):
    at = len(line) - _TAIL
    key, sig = line[at + len(_MIDDLE) :][:64], line[-92:-4]
    whole = _HEAD + line[len(_HEAD) : max(at, 0)] + _MIDDLE + key + b'","sig":"' + sig + b'"}]}'
    if at < len(_HEAD) or line != whole:
        found = _OTHER_VERSION.match(line)
        raise BadReceipt("RECEIPT_VERSION_UNKNOWN" if found and found[1] != b"1" else "RECEIPT_MALFORMED")
    return line[len(_HEAD) : at], key, sig


def _body(payload):
    try:
        body = read_canonical(payload)
    except Refused as fault:
        raise BadReceipt("RECEIPT_MALFORMED") from fault
    kind = body.get("kind") if isinstance(body, dict) else None
    known = isinstance(kind, str) and kind in KINDS
    if known and FORMS[kind](body) and RULES.get(kind, lambda _: True)(body):
        return body
    if not isinstance(body, dict) or len(payload) > MAX_PAYLOAD:
        raise BadReceipt("RECEIPT_MALFORMED")
    if not is_one(body.get("v")):
        raise BadReceipt("RECEIPT_VERSION_UNKNOWN")
    raise BadReceipt("RECEIPT_MALFORMED" if known else "RECEIPT_KIND_UNKNOWN")
