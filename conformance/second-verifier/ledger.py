"""The receipts of a pack together: keys, the chains of writers, references, approvals, effects, policies."""

import re
from dataclasses import dataclass

from basics import canonical, from_base64, is_weak, sha256_hex
from notes import ledger_key, vkey_text
from receipts import NO_HASH

MAX_OUTSIDE, MAX_LINKS = 200_000, 9
_PROCESS = re.compile("mcp:[0-9a-f]{32}")


@dataclass
class Key:
    key: bytes
    role: str
    of: str | None
    name: str
    retired: bool = False


@dataclass
class Node:
    """A receipt in the pack, or outside of it."""

    type: str | None = None
    lamport: int = 0
    index: int | None = None
    in_range: bool = False
    closed: bool = False
    unknown: bool = False
    late: bool = False
    # The index of the first receipt that refers to a receipt outside of the pack.
    referred_at: int | None = None


@dataclass(frozen=True)
class Last:
    index: int
    seq: int
    id: str
    lamport: int
    time: str


@dataclass(frozen=True)
class Request:
    principal: str
    call: bytes
    seen: str | None


@dataclass(frozen=True)
class Grant:
    approver: str
    expires: str
    seen: str | None
    call: bytes | None


# The finding of a reference whose required type is the key. `None` is a reference in `causes`.
FINDING_OF = {
    None: "CAUSE_UNKNOWN",
    "allowed": "EFFECT_WITHOUT_DECISION",
    "granted": "APPROVAL_NOT_GRANTED",
    "escalated": "APPROVAL_WITHOUT_ESCALATION",
}
_TYPE_OF = {
    "ALLOW": "allowed",
    "DENY": "denied",
    "ESCALATE": "escalated",
    "GRANTED": "granted",
    "REFUSED": "refused",
}


def type_of(r):
    return _TYPE_OF[r["verdict"] if r["kind"] == "decision" else r["answer"]] if r["kind"] in ("decision", "approval") else None


def call_of(r):
    session, browser = r["session"]["id"], r.get("browser", {})
    call = [
        r["tenant"],
        r["principal"],
        r["principal"] if _PROCESS.fullmatch(session) else session,
        r["tool"],
        r["effect_class"],
        r.get("definition_hash", ""),
        "" if r["commit"] == "salted" else r["args_hash"],
        r.get("author", ""),
    ]
    if "seen_hash" in browser:
        names = ("dom_hash", "visual_text_hash", "planner_ref", "page_host", "destination_host", "target_hash")
        call += [browser.get(name, "") for name in names]
    if "person" in r:
        call += ["person", r["person"]]
    return canonical(call)


class Ledger:
    """Takes the receipts of a pack in order, and reports what contradicts the rules."""

    def __init__(self, findings):
        self.report = findings.add
        self.manifest = None
        self.keys, self.nodes, self.outside, self.last = {}, {}, {}, {}
        self.requests, self.grants, self.delegations, self.active = {}, {}, {}, {}
        self.policies_named, self.has_genesis = set(), False

    def take(self, receipt, index):
        """Checks one receipt. Returns the public key that it names, if the key is known."""
        r = receipt.body
        key = self._key(r, index)
        is_new = self._chain(receipt.id, r, index)
        getattr(self, f"_take_{r['kind']}", lambda *_: None)(receipt.id, r, index, is_new)
        return key

    def _complete_up_to(self, index):
        m = self.manifest
        return bool(m.range) and m.start == 0 and index <= m.end

    # Keys

    def _key(self, r, index):
        is_genesis = r["kind"] == "genesis"
        self.has_genesis |= is_genesis
        if is_genesis != (index == 0):
            self.report("GENESIS_MISPLACED", index)
        if is_genesis and index == 0:
            self._add_key(r, "ledger", index)
        found = self.keys.get(r["key"])
        if found is None:
            return self.report("KEY_UNKNOWN", index)
        signs_keys = r["kind"] in ("genesis", "key")
        if (found.role, found.of) != (("ledger", None) if signs_keys else ("writer", r["writer"])):
            self.report("KEY_ROLE_WRONG", index)
        if found.retired:
            self.report("KEY_RETIRED", index)
        return found.key

    def _add_key(self, r, role, index):
        key, of = from_base64(r["public_key"]), r.get("of")
        if is_weak(key):
            return self.report("KEY_WEAK", index)
        if sha256_hex(key) in self.keys:
            return self.report("KEY_ROLE_WRONG", index)
        name = r["ledger"] if of is None else f"{r['ledger']}/{of}"
        self.keys[sha256_hex(key)] = Key(key, role, of, name)

    def _take_key(self, _id, r, index, _is_new):
        if r["op"] == "add":
            return self._add_key(r, r["role"], index)
        found = self.keys.get(sha256_hex(from_base64(r["public_key"])))
        if found is None or (found.role, found.of) != (r["role"], r.get("of")) or found.retired:
            return self.report("KEY_UNKNOWN", index)
        found.retired = True

    def keys_in_service(self):
        return [ledger_key(key.name, key.key) for key in self.keys.values() if key.role == "ledger" and not key.retired]

    def end(self, key_files):
        if not self.has_genesis:
            self.report("GENESIS_MISSING")
        for digest, key in self.keys.items():
            if key_files.get(f"keys/{digest}") != f"{vkey_text(key.name, key.key)}\n".encode():
                self.report("KEY_FILE_WRONG", member=f"keys/{digest}")
        for name in key_files:
            if name.removeprefix("keys/") not in self.keys:
                self.report("KEY_FILE_WRONG", member=name)

    # The chain of the writer

    def _chain(self, own_id, r, index):
        """Returns whether the id is new."""
        for cause in r["causes"]:
            if cause not in self.nodes:
                self._refer(cause, None, index)
        last, clock = self.last.get(r["writer"]), r["lamport_clock"]
        here = [self.nodes[cause].lamport for cause in r["causes"] if cause in self.nodes]
        self._check_chain(r, index, last, max([*here, last.lamport if last else 0], default=0) + 1)
        if last and r["time"] < last.time:
            self.report("TIME_REWOUND", index)
        self.last[r["writer"]] = Last(index, r["seq"], own_id, clock, r["time"])
        if (outside := self.outside.get(own_id)) is not None:
            self.report("CAUSE_UNKNOWN", outside.referred_at)
            if outside.type is not None:
                self.report(FINDING_OF[outside.type], outside.referred_at)
        if own_id in self.nodes:
            self.report("RECEIPT_REPEATED", index)
            return False
        self.nodes[own_id] = Node(type_of(r), clock, index, self.manifest.in_range(index))
        return True

    def _check_chain(self, r, index, last, c):
        m, seq, clock = self.manifest, r["seq"], r["lamport_clock"]
        n = last.seq + 1 if last else 0
        adjacent = seq == n
        gapless = m.in_range(index) and (last.index >= m.start if last else m.start == 0)
        gap = seq - n if not gapless and seq > n else 0
        least = max(c, (last.lamport if last else 0) + 1 + gap)
        previous = r["prev_receipt_hash"]
        if previous != (last.id if last else NO_HASH) if adjacent else gap != 0 and previous == NO_HASH:
            self.report("CHAIN_BROKEN", index)
        if gapless and seq > n:
            self.report("CHAIN_GAP", index)
        if seq < n:
            self.report("CHAIN_FORKED", index)
        exact = adjacent and all(cause in self.nodes for cause in r["causes"])
        if clock != c if exact else clock < least:
            self.report("LAMPORT_WRONG", index)

    # Receipts outside of the pack

    def _refer(self, wanted, required, index):
        """A reference to an id that no earlier receipt has. Returns the outside receipt; None if a finding was reported."""
        if self._complete_up_to(index):
            return self.report(FINDING_OF[required], index)
        if wanted not in self.outside:
            if len(self.outside) == MAX_OUTSIDE:
                return self.report("REFERENCES_TOO_MANY", index)
            self.outside[wanted] = Node(referred_at=index)
        found = self.outside[wanted]
        found.type = found.type or required
        return found

    def _look_up(self, wanted, required, r, index):
        if wanted not in r["causes"]:
            return self.report(FINDING_OF[required], index)
        return self.nodes.get(wanted) or self._refer(wanted, required, index)

    # Rules of the kinds

    def _take_decision(self, own_id, r, index, is_new):
        self.policies_named.add(r["policy_hash"])
        if r["verdict"] == "ESCALATE" and is_new:
            self.requests[own_id] = Request(r["principal"], call_of(r), r.get("browser", {}).get("seen_hash"))
        if "approval" in r and (approval := self._look_up(r["approval"], "granted", r, index)):
            if code := self._wrong_approval(approval, r):
                self.report(code, index)
            approval.closed = True
        if r["verdict"] == "ALLOW" and "delegation" in r and not self._is_delegated(r, index):
            self.report("DELEGATION_NOT_GRANTED", index)
        self._check_policy(r, index)

    def _wrong_approval(self, approval, r):
        in_pack, grant = approval.index is not None, self.grants.get(r["approval"])
        if approval.closed:
            return "APPROVAL_REUSED"
        if approval.type != "granted" or (in_pack and (not grant or r["time"] > grant.expires)):
            return "APPROVAL_NOT_GRANTED"
        if not in_pack:
            return None
        if grant.call is None and grant.approver == r["principal"]:
            return "APPROVAL_BY_REQUESTER"
        same_page = grant.seen == r.get("browser", {}).get("approved_hash")
        same_call = grant.call is None or grant.call == call_of(r)
        return None if same_page and same_call else "APPROVAL_FOR_ANOTHER_CALL"

    def _is_delegated(self, r, index):
        wanted, delegate, followed = r["delegation"], r["principal"], 0
        while wanted is not None:
            found = self.delegations.get((r["tenant"], wanted))
            if found is None and not self._complete_up_to(index):
                return True
            if (
                found is None
                or found["op"] != "grant"
                or found["delegate"] != delegate
                or found["expires"] < r["time"]
                or followed == MAX_LINKS
            ):
                return False
            wanted, delegate, followed = found.get("parent"), found["delegator"], followed + 1
        return True

    def _check_policy(self, r, index):
        m, (at, active) = self.manifest, self.active.get(r["tenant"], (0, NO_HASH))
        if m.in_range(index) and at >= m.start and r["policy_hash"] != active:
            self.report("POLICY_NOT_ACTIVE", index)

    def _take_effect(self, _id, r, index, _is_new):
        decision = self._look_up(r["decision"], "allowed", r, index)
        if decision is None:
            return
        if code := self._wrong_effect(decision, r, self.manifest.in_range(index)):
            return self.report(code, index)
        decision.closed = True
        decision.unknown |= r["status"] == "UNKNOWN"
        decision.late |= "late" in r

    @staticmethod
    def _wrong_effect(decision, r, in_range):
        if decision.type in ("denied", "escalated"):
            return "EFFECT_NOT_ALLOWED"
        if decision.type != "allowed":
            return "EFFECT_WITHOUT_DECISION"
        if decision.late:
            return "EFFECT_REPEATED"
        if "late" in r:
            outside = not decision.closed and not (decision.in_range and in_range)
            return None if decision.unknown or outside else "EFFECT_LATE_WRONG"
        if decision.unknown:
            return "EFFECT_LATE_WRONG"
        return "EFFECT_REPEATED" if decision.closed else None

    def _take_approval(self, own_id, r, index, is_new):
        decision = self._look_up(r["decision"], "escalated", r, index)
        request = self.requests.get(r["decision"])
        if r["answer"] == "GRANTED" and is_new:
            self.grants[own_id] = Grant(r["approver"], r["expires"], r.get("seen_hash"), request and request.call)
        if decision is None:
            return
        if request and r["approver"] == request.principal:
            self.report("APPROVAL_BY_REQUESTER", index)
        if request and request.seen is not None and request.seen != r.get("seen_hash"):
            self.report("APPROVAL_FOR_ANOTHER_CALL", index)
        if decision.type == "escalated" and not decision.closed:
            decision.closed = True
        else:
            self.report("APPROVAL_WITHOUT_ESCALATION", index)
        self.requests.pop(r["decision"], None)

    def _take_policy(self, _id, r, index, _is_new):
        self.active[r["tenant"]] = (index, r["policy_hash"])

    def _take_delegation(self, _id, r, _index, _is_new):
        self.delegations[(r["tenant"], r["delegation_hash"])] = r
