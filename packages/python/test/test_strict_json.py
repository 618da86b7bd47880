"""The strict JSON of the client agrees with the vectors of the project."""

import json
import struct
import unittest
from pathlib import Path

from tollgate.strict_json import JsonRefused, canonical_json, format_number, parse_json

VECTORS = Path(__file__).parents[3] / "vectors"


def cases(folder):
    for path in sorted((VECTORS / folder).glob("*.case")):
        head, _, body = path.read_bytes().partition(b"---\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        yield path.name, fields, body


class StrictJson(unittest.TestCase):
    def test_reads_and_refuses_what_the_vectors_say(self):
        seen = 0
        for name, fields, body in cases("json"):
            with self.subTest(name):
                seen += 1
                if fields["expect"].startswith("accept"):
                    parse_json(body, 1 << 20)
                else:
                    self.assertRaises(JsonRefused, parse_json, body, 1 << 20)
        self.assertGreater(seen, 100)

    def test_writes_the_canonical_form_of_the_vectors(self):
        for name, fields, body in cases("canonical"):
            with self.subTest(name):
                self.assertEqual(canonical_json(parse_json(body, 1 << 20)), fields["canonical"])

    def test_writes_numbers_as_ecmascript(self):
        known = {
            "44b52d02c7e14af6": "1e+23",
            "444b1ae4d6e2ef50": "1e+21",
            "3eb0c6f7a0b5ed8d": "0.000001",
            "3e7ad7f29abcaf48": "1e-7",
            "0000000000000001": "5e-324",
            "7fefffffffffffff": "1.7976931348623157e+308",
            "c08f400000000000": "-1000",
        }
        for bits, text in known.items():
            (value,) = struct.unpack(">d", bytes.fromhex(bits))
            self.assertEqual(format_number(value), text)

    def test_refuses_what_is_not_plain_json_data(self):
        class Text(str):
            pass

        cyclic = []
        cyclic.append(cyclic)
        refused = [
            *({1}, (1,), b"x", object(), Text("x"), {1: 1}, {Text("a"): 1}, 2**53, -(2**53), float("nan")),
            *(float("inf"), -0.0, 1e20, "\ud800", {"\udfff": 1}, cyclic, json),
        ]
        for value in refused:
            with self.subTest(type(value).__name__):
                self.assertRaises(JsonRefused, canonical_json, {"a": [value]})

    def test_never_names_the_content_in_a_refusal(self):
        for text in (b'{"hunter2":1,"hunter2":2}', b'"hunter2', b"hunter2", b'{"a":123456789012345678}'):
            with self.assertRaises(JsonRefused) as caught:
                parse_json(text, 1 << 20)
            self.assertNotRegex(str(caught.exception), "hunter2|1234")
            self.assertIsNone(caught.exception.__context__)


if __name__ == "__main__":
    unittest.main()
