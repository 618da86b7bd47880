"""Notes, checkpoints, verifier keys, the Merkle tree and proofs."""

import base64
import re
from dataclasses import dataclass

from basics import from_base64, is_count, is_name, is_origin, is_signed, is_weak, Refused, sha256

EMPTY_ROOT = sha256()
LEDGER, WITNESS = 1, 4


@dataclass(frozen=True)
class Vkey:
    name: str
    hint: bytes
    type: int
    key: bytes
    # The sizes of checkpoints that it may sign.
    start: int = 0
    end: int | None = None

    def may_sign(self, size):
        return size >= self.start and (self.end is None or size < self.end)


def hint_of(name, key_type, key):
    return sha256(name.encode(), b"\n", bytes([key_type]), key)[:4]


def ledger_key(name, key):
    return Vkey(name, hint_of(name, LEDGER, key), LEDGER, key)


def vkey_text(name, key):
    typed = base64.b64encode(bytes([LEDGER]) + key).decode()
    return f"{name}+{hint_of(name, LEDGER, key).hex()}+{typed}"


def read_vkey(text):
    name, _, rest = text.partition("+")
    hint, _, encoded = rest.partition("+")
    data = from_base64(encoded, 33)
    if not is_name(name, 200) or not re.fullmatch("[0-9a-f]{8}", hint) or data[0] not in (LEDGER, WITNESS):
        raise Refused("not a verifier key")
    if hint_of(name, data[0], data[1:]).hex() != hint or is_weak(data[1:]):
        raise Refused("a wrong hint or a weak key")
    return Vkey(name, bytes.fromhex(hint), data[0], data[1:])


@dataclass(frozen=True)
class Checkpoint:
    ledger: str
    size: int
    root: bytes
    raw: bytes
    text: bytes
    # Pairs of a name and the bytes of hint and signature.
    lines: tuple


def decimal(text):
    """A decimal count without leading zeros."""
    if not re.fullmatch("0|[1-9][0-9]{0,15}", text) or not is_count(int(text)):
        raise Refused("not a count")
    return int(text)


def read_checkpoint(raw):
    if len(raw) > 65_536 or not raw.endswith(b"\n") or re.search(rb"[\x00-\x09\x0b-\x1f]", raw):
        raise Refused("not a note")
    try:
        note = raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Refused("not UTF-8") from fault
    text, found, signatures = note.rpartition("\n\n")
    rows = signatures[:-1].split("\n")
    lines = text.split("\n")
    if not found or not signatures or len(rows) > 64 or len(lines) != 3 or not is_origin(lines[0]):
        raise Refused("not a checkpoint")
    size, root = decimal(lines[1]), from_base64(lines[2], 32)
    return Checkpoint(lines[0], size, root, raw, (text + "\n").encode(), tuple(map(_signature_line, rows)))


def _signature_line(row):
    parts = row.split(" ")
    if len(parts) != 3 or parts[0] != "\u2014" or not is_name(parts[1], 200):
        raise Refused("not a signature line")
    data = from_base64(parts[2])
    if len(data) < 5:
        raise Refused("no signature")
    return parts[1], data


class NotOpened(Exception):
    """A checkpoint that its keys do not open. The argument is the code."""


@dataclass(frozen=True)
class Opened:
    checkpoint: Checkpoint
    signers: tuple
    # Pairs of a witness and a time.
    cosigners: tuple


def open_checkpoint(checkpoint, keys, witnesses):
    if not any(key.name == checkpoint.ledger for key in keys):
        raise NotOpened("CHECKPOINT_ORIGIN_WRONG")
    known = [key for key in keys if key.name == checkpoint.ledger and key.type == LEDGER]
    known += [key for key in witnesses if key.type == WITNESS]
    seen, signers, cosigners = set(), [], []
    for name, data in checkpoint.lines:
        key = next((each for each in known if (each.name, each.hint) == (name, data[:4])), None)
        if key is None:
            continue
        time = _check_line(key, data[4:], checkpoint.text)
        if time is None or key in seen:
            raise NotOpened("NOTE_SIGNATURE_WRONG")
        seen.add(key)
        if key.type == WITNESS:
            cosigners.append((key, time))
        elif key.may_sign(checkpoint.size):
            signers.append(key)
    if not signers:
        raise NotOpened("NOTE_UNSIGNED")
    return Opened(checkpoint, tuple(signers), tuple(cosigners))


def _check_line(key, signature, text):
    """The time of a valid signature, 0 for that of a ledger; None if it is not valid."""
    if key.type == LEDGER:
        return 0 if is_signed(key.key, signature, text) else None
    time = int.from_bytes(signature[:8], "big")
    message = b"cosignature/v1\ntime %d\n%b" % (time, text)
    valid = len(signature) == 72 and is_count(time) and is_signed(key.key, signature[8:], message)
    return time if valid else None


# The tree


def leaf_hash(leaf):
    return sha256(b"\x00", leaf)


def node_hash(left, right):
    return sha256(b"\x01", left, right)


def cover(start, end):
    """The levels of the shortest list of subtrees that contain exactly the leaves from `start` to `end`."""
    levels = []
    while start < end:
        level = (end - start).bit_length() - 1
        if start:
            level = min(level, (start & -start).bit_length() - 1)
        levels.append(level)
        start += 1 << level
    return levels


class Tree:
    """A tree that grows from the left. Its subtrees are pairs of a level and a hash."""

    def __init__(self, levels=(), hashes=()):
        self.size = 0
        self._pairs = []
        for level, each in zip(levels, hashes):
            self.append(level, each)

    def append(self, level, each):
        self._pairs.append((level, each))
        self.size += 1 << level
        while len(self._pairs) > 1 and self._pairs[-1][0] == self._pairs[-2][0]:
            (same, left), (_, right) = self._pairs[-2:]
            self._pairs[-2:] = [(same + 1, node_hash(left, right))]

    def root(self):
        if not self._pairs:
            return EMPTY_ROOT
        root = self._pairs[-1][1]
        for _, left in reversed(self._pairs[:-1]):
            root = node_hash(left, root)
        return root


def is_included(leaf, index, size, root, hashes):
    if index >= size:
        return False
    fn, sn, r = index, size - 1, leaf_hash(leaf)
    for p in hashes:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            r = node_hash(p, r)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node_hash(r, p)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and r == root


def is_consistent(old, old_root, size, root, hashes):
    if old > size:
        return False
    if old == 0:
        return not hashes and old_root == EMPTY_ROOT
    if old == size:
        return not hashes and old_root == root
    fn, sn = old - 1, size - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    hashes = ([old_root] if fn == 0 else []) + list(hashes)
    if not hashes:
        return False
    fr = sr = hashes[0]
    for c in hashes[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr, sr = node_hash(c, fr), node_hash(c, sr)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, c)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == old_root and sr == root


@dataclass(frozen=True)
class ProofText:
    index: int
    hashes: tuple
    checkpoint: bytes
    has_extra: bool


def read_proof(data):
    if len(data) > 131_072:
        raise Refused("too large")
    head, found, checkpoint = data.partition(b"\n\n")
    try:
        lines = head.decode("utf-8").split("\n")
        checkpoint.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise Refused("not UTF-8") from fault
    if not found or lines.pop(0) != "c2sp.org/tlog-proof@v1":
        raise Refused("not a proof")
    has_extra = bool(lines) and lines[0].startswith("extra ")
    if has_extra:
        from_base64(lines.pop(0)[6:])
    if not lines or not lines[0].startswith("index ") or len(lines) > 65:
        raise Refused("not a proof")
    hashes = tuple(from_base64(line, 32) for line in lines[1:])
    return ProofText(decimal(lines[0][6:]), hashes, checkpoint, has_extra)
