"""Verifies a pack, from docs/formats.md and docs/verification.md alone. `python verify.py --help` explains the use."""

import argparse
import json
import re
import sys
from pathlib import Path

from archive import Manifest, read_archive, read_hashes, Stop
from basics import from_base64, is_count, is_origin, is_signed, is_weak, read_strict, Refused, sha256, sha256_hex
from ledger import Ledger
from notes import (
    cover,
    EMPTY_ROOT,
    is_consistent,
    is_included,
    leaf_hash,
    LEDGER,
    NotOpened,
    open_checkpoint,
    read_checkpoint,
    read_proof,
    read_vkey,
    Tree,
    Vkey,
    vkey_text,
    WITNESS,
)
from receipts import array_of, BadReceipt, count, fields, read_receipt, text

STAGES = """
archive: ARCHIVE_MALFORMED! ARCHIVE_TOO_LARGE! PACK_MALFORMED! MEMBER_MISSING! MEMBER_UNEXPECTED! MEMBER_CHANGED MANIFEST_WRONG
trust: TRUST_LEDGER_WRONG
checkpoint: CHECKPOINT_MALFORMED! CHECKPOINT_UNSIGNED CHECKPOINT_SIGNATURE_WRONG CHECKPOINT_KEY_FOREIGN
 CHECKPOINT_INCONSISTENT CHECKPOINT_OLDER CONSISTENCY_MISSING WITNESS_QUORUM_MISSED
leaves: PROOF_MALFORMED! RECEIPT_COUNT_WRONG LEAVES_WRONG INCLUSION_WRONG
parse: RECEIPT_MALFORMED! RECEIPT_VERSION_UNKNOWN! RECEIPT_KIND_UNKNOWN! RECEIPT_FOREIGN GENESIS_MISSING GENESIS_MISPLACED
signatures: SIGNATURE_WRONG KEY_UNKNOWN KEY_RETIRED KEY_ROLE_WRONG KEY_WEAK KEY_FILE_WRONG
chain: REFERENCES_TOO_MANY! CHAIN_BROKEN CHAIN_GAP CHAIN_FORKED LAMPORT_WRONG TIME_REWOUND RECEIPT_REPEATED CAUSE_UNKNOWN
pairing: EFFECT_WITHOUT_DECISION EFFECT_NOT_ALLOWED EFFECT_REPEATED EFFECT_LATE_WRONG APPROVAL_WITHOUT_ESCALATION
 APPROVAL_NOT_GRANTED APPROVAL_REUSED APPROVAL_FOR_ANOTHER_CALL APPROVAL_BY_REQUESTER DELEGATION_NOT_GRANTED
policy: POLICY_CHANGED POLICY_NOT_ACTIVE PAYLOAD_CHANGED PAYLOAD_UNREFERENCED
"""
STAGE_OF, MALFORMED = {}, set()
for _number, _line in enumerate(STAGES.strip().replace("\n ", " ").split("\n")):
    for _code in _line.split()[1:]:
        STAGE_OF[_code.rstrip("!")] = _number
        if _code.endswith("!"):
            MALFORMED.add(_code[:-1])

MAX_LISTED, MIN_OF_CODE = 1_000, 10


class Findings:
    """The findings, each once."""

    def __init__(self):
        self._all = {}

    def add(self, code, index=None, member=None):
        self._all.setdefault((code, index, member), len(self._all))

    def level(self, trust, witnessed):
        if any(code in MALFORMED for code, _, _ in self._all):
            return "malformed", 2
        if self._all:
            return "failed", 1
        return ("integrity only", 3) if trust is None else ("witnessed" if witnessed else "verified", 0)

    def listed(self):
        order = lambda each: (STAGE_OF[each[0]], -1 if each[1] is None else each[1], self._all[each])
        kept, of_code = [], {}
        for each in sorted(self._all, key=order):
            of_code[each[0]] = of_code.get(each[0], 0) + 1
            if len(kept) < MAX_LISTED or of_code[each[0]] <= MIN_OF_CODE:
                kept.append(dict(zip(("code", "index", "member"), each)))
        listed = [{name: value for name, value in each.items() if value is not None} for each in kept]
        return listed, len(self._all) - len(kept)


class Trust:
    """A trust file. @raises Refused, NotOpened"""

    def __init__(self, data):
        value = read_strict(data)
        if not isinstance(value, dict) or not is_count(value.get("tollgate_trust")):
            raise Refused("not a trust file")
        version = value["tollgate_trust"]
        ranged = array_of(fields({"vkey": text(1000), "from": count(), "until?": count()}), 1000)
        form = fields({
            "tollgate_trust": lambda v: version in (1, 2),
            "ledger": is_origin,
            "keys": array_of(text(1000), 16) if version == 1 else ranged,
            "witnesses?": array_of(text(1000), 64),
            "quorum?": count(64),
            "checkpoint?": lambda v: isinstance(v, str),
        })
        if not form(value):
            raise Refused("not a trust file")
        self.ledger = value["ledger"]
        self.keys = [self._key(each) for each in value["keys"]]
        self.witnesses = [read_vkey(each) for each in value.get("witnesses", [])]
        self.quorum = value.get("quorum", 0)
        self._check("witnesses" in value, "quorum" in value)
        self.pinned = None
        if "checkpoint" in value:
            checkpoint = read_checkpoint(value["checkpoint"].encode())
            self.pinned = open_checkpoint(checkpoint, self.keys, self.witnesses).checkpoint

    @staticmethod
    def _key(given):
        if isinstance(given, str):
            return read_vkey(given)
        key, start, end = read_vkey(given["vkey"]), given["from"], given.get("until")
        if end is not None and end <= start:
            raise Refused("an empty range")
        return Vkey(key.name, key.hint, key.type, key.key, start, end)

    def _check(self, with_witnesses, with_quorum):
        both = [*self.keys, *self.witnesses]
        if not (
            self.keys
            and all(key.type == LEDGER and key.name == self.ledger for key in self.keys)
            and all(key.type == WITNESS for key in self.witnesses)
            and len({key.key for key in both}) == len(both)
            and len({key.name for key in self.witnesses}) == len(self.witnesses)
            and (with_quorum if with_witnesses else self.quorum == 0)
            and self.quorum <= len(self.witnesses)
        ):
            raise Refused("not a trust file")


DIGEST = "[0-9a-f]{64}"
PROOF = re.compile(r"proofs/([0-9]{16})\.tlog-proof")
PAYLOAD = re.compile(rf"payloads/({DIGEST})(\.args|\.effect)?")
MAX_KEY_FILES = 10_000


class Verifier:
    """One verification of a pack."""

    def __init__(self, trust):
        self.trust = trust
        self.findings = Findings()
        self.checkpoint = self.opened = self.manifest = self.consistency = self.tree = None
        self.left, self.right = [], []
        self.proofs, self.key_files, self.policies, self.payloads = {}, {}, {}, {}
        self.before_manifest, self.names, self.bundles_seen = [], set(), 0
        self.roots = {0: EMPTY_ROOT}
        self.ledger = Ledger(self.findings)
        self.report = self.findings.add

    def run(self, data):
        try:
            for name, content in read_archive(data):
                self._member(name, content)
            self._end()
        except Stop as stop:
            self.report(stop.args[0])
        witnessed = self.opened is not None and len(self.opened.cosigners) > 0
        level, code = self.findings.level(self.trust, witnessed)
        listed, more = self.findings.listed()
        report = {"level": level, "exit": code, "findings": listed, "more_findings": more}
        if self.checkpoint:
            report |= {"ledger": self.checkpoint.ledger, "tree_size": self.checkpoint.size}
        return report

    # Members

    def _member(self, name, content):
        use = self._read(name, content)
        if name == "manifest.json":
            return use()
        self.names.add(name)
        if self.manifest:
            self._compare(name, len(content), sha256_hex(content))
        elif name > "manifest.json":
            return None
        else:
            self.before_manifest.append((name, len(content), sha256_hex(content)))
        return use()

    def _compare(self, name, size, digest):
        row = self.manifest.rows.get(name)
        if row is None:
            self.report("MEMBER_UNEXPECTED", member=name)
        elif row != (size, digest):
            self.report("MEMBER_CHANGED", member=name)

    def _read(self, name, content):
        """Checks the form of a member. Returns the step that uses it."""
        if name == "checkpoint":
            checkpoint = _read_or_stop("CHECKPOINT_MALFORMED", read_checkpoint, content)
            return lambda: self._use_checkpoint(checkpoint)
        if name == "manifest.json":
            manifest = _read_or_stop("PACK_MALFORMED", Manifest, content)
            return lambda: self._use_manifest(manifest)
        if name == "proofs/range.json":
            hashes = _read_or_stop("PACK_MALFORMED", read_hashes, content, ("left", "right"))
            return lambda: self._use_range(hashes)
        if name == "proofs/consistency.json":
            hashes = _read_or_stop("PACK_MALFORMED", read_hashes, content, ("hashes",), ("size",))
            return lambda: setattr(self, "consistency", hashes)
        if found := PROOF.fullmatch(name):
            proof = _read_or_stop("PROOF_MALFORMED", read_proof, content)
            if proof.index != int(found[1]) or proof.has_extra:
                raise Stop("PACK_MALFORMED")
            return lambda: self._use_proof(name, proof)
        if name.startswith("receipts/"):
            return self._read_bundle(name, content)
        if re.fullmatch(f"keys/{DIGEST}", name):
            return lambda: self._use_key_file(name, content)
        if re.fullmatch(f"policy/{DIGEST}", name):
            return lambda: self._use_policy(name, content)
        if found := PAYLOAD.fullmatch(name):
            return lambda: self._use_payload(name, content, found[1], found[2])
        return self._unexpected(name)

    def _unexpected(self, name):
        return lambda: self.report("MEMBER_UNEXPECTED", member=name)

    def _read_bundle(self, name, content):
        number, self.bundles_seen = self.bundles_seen, self.bundles_seen + 1
        bundles = self.manifest.bundles if self.manifest else []
        if number >= len(bundles) or bundles[number][0] != name:
            return self._unexpected(name)
        indexes = bundles[number][1]
        lines = content.split(b"\n")
        tail = lines.pop()
        if tail and len(lines) <= len(indexes):
            raise Stop("PACK_MALFORMED")
        return lambda: self._use_bundle(name, lines, indexes)

    # Before the receipts

    def _use_checkpoint(self, checkpoint):
        self.checkpoint = checkpoint
        if self.trust is None:
            return
        try:
            self.opened = open_checkpoint(checkpoint, self.trust.keys, self.trust.witnesses)
        except NotOpened as fault:
            code = {"CHECKPOINT_ORIGIN_WRONG": "TRUST_LEDGER_WRONG", **AS_FINDING}[fault.args[0]]
            return self.report(code, member="checkpoint")
        if len(self.opened.cosigners) < self.trust.quorum:
            self.report("WITNESS_QUORUM_MISSED", member="checkpoint")

    def _use_key_file(self, name, content):
        if len(self.key_files) == MAX_KEY_FILES:
            return self.report("MEMBER_UNEXPECTED", member=name)
        self.key_files[name] = content

    def _use_manifest(self, manifest):
        self.manifest = self.ledger.manifest = manifest
        for name in manifest.required():
            if name not in manifest.rows:
                self.report("MEMBER_MISSING", member=name)
        for each in self.before_manifest:
            self._compare(*each)
        at = self.checkpoint
        if at and (manifest.ledger, manifest.size) != (at.ledger, at.size):
            self.report("MANIFEST_WRONG", member="manifest.json")

    def _use_payload(self, name, content, digest, ending):
        label = ending and b"tollgate/" + ending[1:].encode() + b"/v1\n"
        if (sha256_hex(label, content) if label else sha256_hex(content)) == digest and (not label or len(content) >= 32):
            self.payloads[name] = True
        else:
            self.report("PAYLOAD_CHANGED", member=name)

    def _use_policy(self, name, content):
        if sha256_hex(content) != name.removeprefix("policy/"):
            self.report("POLICY_CHANGED", member=name)
        self.policies[name] = True

    def _use_proof(self, name, proof):
        if self.checkpoint and proof.checkpoint != self.checkpoint.raw:
            self.report("INCLUSION_WRONG", proof.index, name)
        if self.checkpoint and proof.index in self.manifest.selected:
            self.proofs[proof.index] = proof.hashes
        else:
            self.report("MEMBER_UNEXPECTED", member=name)

    def _use_range(self, hashes):
        self.left, self.right = hashes
        if not self.manifest.range:
            self.report("MEMBER_UNEXPECTED", member="proofs/range.json")

    # Receipts

    def _use_bundle(self, name, lines, indexes):
        if len(lines) != len(indexes):
            self.report("RECEIPT_COUNT_WRONG", member=name)
        signed = [self._receipt(line, index) for line, index in zip(lines, indexes)]
        for index, key, receipt in filter(None, signed):
            if not is_signed(key, receipt.signature, receipt.signed()):
                self.report("SIGNATURE_WRONG", index)

    def _receipt(self, line, index):
        """Returns what the check of its signature needs, if its key is known."""
        if self.checkpoint:
            self._leaf(line, index)
        try:
            receipt = read_receipt(line)
        except BadReceipt as fault:
            return self.report(fault.args[0], index)
        self._reference_payload(receipt.body)
        if receipt.body["ledger"] != (self.checkpoint or self.manifest).ledger:
            self.report("RECEIPT_FOREIGN", index)
        key = self.ledger.take(receipt, index)
        return key and (index, key, receipt)

    def _leaf(self, line, index):
        if not self.manifest.in_range(index):
            at = self.checkpoint
            if not is_included(line, index, at.size, at.root, self.proofs.get(index, ())) or index not in self.proofs:
                self.report("INCLUSION_WRONG", index)
            return
        if self.tree is None:
            levels = cover(0, self.manifest.start)
            self.tree = Tree(levels, self.left) if len(levels) == len(self.left) else False
        if self.tree is not False:
            self.tree.append(0, leaf_hash(line))
            if self.manifest.start == 0:
                self._keep_root()

    def _keep_root(self):
        pinned = self.trust and self.trust.pinned
        wanted = {pinned.size if pinned else None, self.consistency[1] if self.consistency else None}
        if self.tree.size in wanted:
            self.roots[self.tree.size] = self.tree.root()

    def _reference_payload(self, body):
        field, ending = {"decision": ("args_hash", ".args"), "effect": ("effect_hash", ".effect")}.get(
            body["kind"], ("", "")
        )
        if field in body:
            self.payloads.pop(f"payloads/{body[field]}{ending if body['commit'] == 'salted' else ''}", None)

    # After the last member

    def _end(self):
        manifest, at = self.manifest, self.checkpoint
        for name in manifest.rows if manifest else ():
            if name not in self.names:
                self.report("MEMBER_MISSING", member=name)
        if not manifest:
            self.report("MEMBER_MISSING", member="manifest.json")
        if at and manifest and manifest.range and not self._has_root():
            self.report("LEAVES_WRONG")
        if manifest:
            self.ledger.end(self.key_files)
        for name in self.policies:
            if name.removeprefix("policy/") not in self.ledger.policies_named:
                self.report("MEMBER_UNEXPECTED", member=name)
        for name in self.payloads:
            self.report("PAYLOAD_UNREFERENCED", member=name)
        if manifest and at:
            self._check_signer()
        if at:
            self._check_continuation()

    def _has_root(self):
        end, size = self.manifest.end, self.checkpoint.size
        if not self.tree or end > size or self.tree.size != end:
            return False
        levels = cover(end, size)
        if len(levels) != len(self.right):
            return False
        for level, each in zip(levels, self.right):
            self.tree.append(level, each)
        return self.tree.root() == self.checkpoint.root

    def _check_signer(self):
        in_service = self.ledger.keys_in_service()
        if self.trust is None:
            try:
                open_checkpoint(self.checkpoint, in_service, [])
            except NotOpened as fault:
                code = {"CHECKPOINT_ORIGIN_WRONG": "CHECKPOINT_KEY_FOREIGN", **AS_FINDING}[fault.args[0]]
                self.report(code, member="checkpoint")
            return
        if self.opened and not {key.key for key in self.opened.signers} & {key.key for key in in_service}:
            self.report("CHECKPOINT_KEY_FOREIGN", member="checkpoint")
        if any(sha256_hex(witness.key) in self.ledger.keys for witness in self.trust.witnesses):
            self.report("KEY_ROLE_WRONG", member="checkpoint")

    def _check_continuation(self):
        at, pinned = self.checkpoint, self.trust and self.trust.pinned
        known = self.roots | {at.size: at.root}
        hashes, size = self.consistency or ([], None)
        if size is not None and not (pinned and size == pinned.size):
            holds = size not in known or is_consistent(size, known[size], at.size, at.root, hashes)
            if size > at.size or not holds:
                self.report("PROOF_MALFORMED", member="proofs/consistency.json")
        if not pinned:
            return
        has_proof = size == pinned.size
        if pinned.size > at.size:
            self.report("CHECKPOINT_OLDER", member="checkpoint")
        elif pinned.size in known and known[pinned.size] != pinned.root:
            self.report("CHECKPOINT_INCONSISTENT", member="checkpoint")
        elif pinned.size not in known and not has_proof:
            self.report("CONSISTENCY_MISSING", member="checkpoint")
        elif has_proof and not is_consistent(pinned.size, pinned.root, at.size, at.root, hashes):
            self.report("CHECKPOINT_INCONSISTENT", member="checkpoint")


AS_FINDING = {"NOTE_SIGNATURE_WRONG": "CHECKPOINT_SIGNATURE_WRONG", "NOTE_UNSIGNED": "CHECKPOINT_UNSIGNED"}


def _read_or_stop(code, read, *given):
    try:
        return read(*given)
    except Refused as fault:
        raise Stop(code) from fault


def verify(pack, trust=None):
    """The report on the bytes of a pack. @raises Refused, NotOpened for a trust file that is not valid"""
    return Verifier(None if trust is None else Trust(trust)).run(pack)


def _verify_files(pack, trust):
    try:
        return verify(Path(pack).read_bytes(), None if trust is None else Path(trust).read_bytes())
    except (OSError, Refused, NotOpened) as fault:
        return {"exit": 2, "error": f"nothing was verified: {fault}"}


def main():
    parser = argparse.ArgumentParser(description="Verifies an EvidencePack and prints the report as JSON.")
    parser.add_argument("pack", nargs="?", help="the file of the pack")
    parser.add_argument("--trust", help="the trust file")
    parser.add_argument("--many", action="store_true", help='read lines {"pack":…,"trust":…} and print a report for each')
    given = parser.parse_args()
    if given.many:
        for line in sys.stdin:
            asked = json.loads(line)
            print(json.dumps(_verify_files(asked["pack"], asked.get("trust"))), flush=True)
        return 0
    if given.pack is None:
        parser.error("name the file of a pack")
    report = _verify_files(given.pack, given.trust)
    print(json.dumps(report, indent=2))
    return report["exit"]


if __name__ == "__main__":
    sys.exit(main())
