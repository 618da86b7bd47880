"""The archive of a pack, and the form of its small members."""

import re

from basics import canonical, from_base64, is_count, is_origin, read_canonical, Refused
from receipts import array_of, count, fields, HASH, is_one, one_of, pattern

MEMBER_NAME = pattern(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")
MAX_MEMBERS = 1_000_000
BUNDLE = 256


class Stop(Exception):
    """The rest of the pack cannot be read. The argument is the code."""


def is_member_name(name):
    return isinstance(name, str) and len(name) <= 100 and MEMBER_NAME(name)


def max_size(name):
    if name == "manifest.json" or name.startswith("payloads/"):
        return 67_108_864
    if name.startswith("receipts/"):
        return 5_695_744
    if name.startswith("policy/"):
        return 4_194_304
    return 1_024 if name.startswith("keys/") else 262_144


def header(name, size):
    block = bytearray(512)
    for offset, value in (
        (0, name.encode()),
        (100, b"0000644"),
        (108, b"0000000"),
        (116, b"0000000"),
        (124, b"%011o" % size),
        (136, b"00000000000"),
        (148, b" " * 8),
        (156, b"0"),
        (257, b"ustar\x0000"),
        (329, b"0000000"),
        (337, b"0000000"),
    ):
        block[offset : offset + len(value)] = value
    block[148:156] = b"%06o\x00 " % sum(block)
    return bytes(block)


def read_archive(data):
    """The members, as pairs of a name and the content. @raises Stop"""
    at, previous, number = 0, "", 0
    while True:
        block = data[at : at + 512]
        if len(block) < 512:
            raise Stop("ARCHIVE_MALFORMED")
        if not any(block):
            if len(data) != at + 1024 or any(data[at:]):
                raise Stop("ARCHIVE_MALFORMED")
            return
        if number == MAX_MEMBERS:
            raise Stop("ARCHIVE_TOO_LARGE")
        name, size = _read_header(block)
        if name <= previous:
            raise Stop("ARCHIVE_MALFORMED")
        if size > max_size(name):
            raise Stop("ARCHIVE_TOO_LARGE")
        start, end = at + 512, at + 512 + size
        at = end + -size % 512
        if len(data) < at or any(data[end:at]):
            raise Stop("ARCHIVE_MALFORMED")
        yield name, data[start:end]
        previous, number = name, number + 1


def _read_header(block):
    name = block[:100].partition(b"\x00")[0].decode("ascii", "replace")
    digits = block[124:135]
    if not is_member_name(name) or not re.fullmatch(b"[0-7]{11}", digits):
        raise Stop("ARCHIVE_MALFORMED")
    size = int(digits, 8)
    if block != header(name, size):
        raise Stop("ARCHIVE_MALFORMED")
    return name, size


_MANIFEST = fields({
    "format": one_of("tollgate-evidence-pack"),
    "v": is_one,
    "ledger": is_origin,
    "tree_size": count(),
    "range?": fields({"start": count(), "end": count()}),
    "selected": array_of(count(), 10_000),
    "members": array_of(fields({"name": is_member_name, "sha256": HASH, "size": count()}), MAX_MEMBERS),
})


def _ascends(values):
    return all(a < b for a, b in zip(values, values[1:]))


class Manifest:
    """The manifest, with the bundles that it implies."""

    def __init__(self, data):
        value = read_canonical(data)
        if not _MANIFEST(value):
            raise Refused("not a manifest")
        self.ledger, self.size = value["ledger"], value["tree_size"]
        self.range, self.selected = value.get("range"), value["selected"]
        self.start, self.end = (self.range["start"], self.range["end"]) if self.range else (0, 0)
        names = [row["name"] for row in value["members"]]
        self.rows = {row["name"]: (row["size"], row["sha256"]) for row in value["members"]}
        head = len(canonical(value | {"members": []}))
        if not (
            head <= 1_048_576
            and _ascends(names)
            and _ascends(self.selected)
            and (self.selected or self.range)
            and (not self.range or self.start < self.end <= self.size)
            and all(index < self.size and not self.in_range(index) for index in self.selected)
            and (self.end - self.start) / BUNDLE <= len(names)
        ):
            raise Refused("not a manifest")
        self.bundles = self._bundles()

    def in_range(self, index):
        return self.start <= index < self.end

    def _bundles(self):
        """The bundles in order, as pairs of a name and the indexes."""
        numbers = {index // BUNDLE for index in self.selected}
        if self.range:
            numbers |= set(range(self.start // BUNDLE, (self.end - 1) // BUNDLE + 1))
        chosen = {}
        for index in self.selected:
            chosen.setdefault(index // BUNDLE, []).append(index)
        return [(f"receipts/{n * BUNDLE:016}.jsonl", self._indexes(n, chosen.get(n, []))) for n in sorted(numbers)]

    def _indexes(self, number, chosen):
        first = number * BUNDLE
        ranged = range(max(first, self.start), min(first + BUNDLE, self.end))
        return sorted([*chosen, *ranged])

    def required(self):
        """The names of the members that the pack must have."""
        yield "checkpoint"
        if self.range:
            yield "proofs/range.json"
        yield from (f"proofs/{index:016}.tlog-proof" for index in self.selected)
        yield from (name for name, _ in self.bundles)


def read_hashes(data, names, numbers=()):
    """A member with lists of hashes. Returns its values in the order of the names."""
    value = read_canonical(data)
    if not isinstance(value, dict) or set(value) != {*names, *numbers}:
        raise Refused("other members")
    if not all(is_count(value[name]) for name in numbers):
        raise Refused("not a count")
    lists = [value[name] for name in names]
    if not all(isinstance(each, list) and len(each) <= 128 for each in lists):
        raise Refused("not a list of hashes")
    return [[_hash(text) for text in each] for each in lists] + [value[name] for name in numbers]


def _hash(text):
    if not isinstance(text, str):
        raise Refused("not a hash")
    return from_base64(text, 32)
