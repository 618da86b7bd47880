"""Bytes and texts: canonical and strict JSON, base64, names, Ed25519 keys and signatures."""

import base64
import binascii
import hashlib
import json
import math
import re
import unicodedata

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MAX_COUNT = 2**53 - 1
MAX_DEPTH = 64
MAX_STRICT_BYTES = 1_048_576
MAX_STRICT_VALUES = 250_000


class Refused(Exception):
    """The input does not have the required form."""


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def sha256_hex(*parts):
    return sha256(*parts).hex()


def is_count(value, most=MAX_COUNT):
    return type(value) is int and 0 <= value <= most


def utf16_length(text):
    return len(text.encode("utf-16-le")) // 2


def from_base64(text, length=None):
    """The bytes of a canonical base64 text."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as fault:
        raise Refused("not base64") from fault
    given = text if isinstance(text, str) else text.decode("ascii", "replace")
    if base64.b64encode(data).decode() != given or (length is not None and len(data) != length):
        raise Refused("not canonical base64")
    return data


# Unicode 15 has these format controls. Older tables do not know them.
_LATER_FORMATS = range(0x13439, 0x13440)


def is_name(text, most):
    """Whether a text is a name of a ledger or a key."""
    if not isinstance(text, str) or not 1 <= utf16_length(text) <= most or "+" in text:
        return False
    refused = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}
    return not any(unicodedata.category(c) in refused or ord(c) in _LATER_FORMATS for c in text)


def is_origin(text):
    return is_name(text, 120)


# JSON


def _whole(text):
    value = int(text)
    if abs(value) > MAX_COUNT:
        raise Refused("a whole number that parsers read differently")
    return value


def _refuse(_):
    raise Refused("not JSON")


def number_text(value):
    """A number as ECMAScript writes it."""
    if isinstance(value, int):
        return str(value)
    size = abs(value)
    if math.isinf(value) or (value == 0 and math.copysign(1, value) < 0):
        raise Refused("a number without a canonical form")
    if size == int(size) and 2**53 <= size < 1e21:
        raise Refused("a whole number that parsers read differently")
    mantissa, _, exponent = repr(size).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if not digits:
        return "0"
    if 1e-6 <= size < 1e21:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return f"{sign}{digits[:point]}.{digits[point:]}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def _string_text(text):
    return '"' + _ESCAPED.sub(lambda m: _ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", text) + '"'


def _write(value, depth):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _string_text(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if depth == MAX_DEPTH:
        raise Refused("too deep")
    if isinstance(value, list):
        return "[" + ",".join(_write(each, depth + 1) for each in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{_string_text(key)}:{_write(value[key], depth + 1)}" for key in keys) + "}"


def canonical(value):
    """The canonical bytes of a value."""
    try:
        return _write(value, 0).encode("utf-8")
    except UnicodeEncodeError as fault:
        raise Refused("half of a surrogate pair") from fault


def _load(data, **hooks):
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse, **hooks)
    except (ValueError, RecursionError) as fault:
        raise Refused("not JSON") from fault


def read_canonical(data):
    """The value of canonical JSON."""
    value = _load(data, parse_int=_whole)
    if canonical(value) != data:
        raise Refused("not canonical")
    return value


def _strict_number(text):
    digits, _, _ = text.lower().partition("e")
    value = float(text)
    size = abs(value)
    if math.isinf(value) or (value == 0 and (text[0] == "-" or re.search("[1-9]", digits))):
        raise Refused("a number that parsers read differently")
    if size == int(size) and 2**53 <= size < 10**21:
        raise Refused("a number that parsers read differently")
    # No number of a trust file is so large, so the exact rule for these is left out.
    if size >= 1e21:
        raise Refused("a number that is too large here")
    return int(value) if value == int(value) else value


def _pairs(pairs):
    if len(dict(pairs)) != len(pairs):
        raise Refused("a key twice")
    return dict(pairs)


def _bound(value, depth=0):
    """The number of values."""
    if isinstance(value, str):
        value.encode("utf-8")
    if not isinstance(value, (dict, list)):
        return 1
    if depth == MAX_DEPTH:
        raise Refused("too deep")
    for key in value if isinstance(value, dict) else ():
        key.encode("utf-8")
    return 1 + sum(_bound(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value))


def read_strict(data):
    """The value of strict JSON."""
    if len(data) > MAX_STRICT_BYTES:
        raise Refused("too large")
    value = _load(data, parse_int=_strict_number, parse_float=_strict_number, object_pairs_hook=_pairs)
    try:
        if _bound(value) > MAX_STRICT_VALUES:
            raise Refused("too many values")
    except UnicodeEncodeError as fault:
        raise Refused("half of a surrogate pair") from fault
    return value


# Ed25519

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_NEUTRAL = b"\x01" + bytes(31)
_known_keys = {}


def _add(a, b):
    """Adds two points in extended coordinates."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    e, f = (y1 - x1) * (y2 - x2) % _P, (y1 + x1) * (y2 + x2) % _P
    g, h = 2 * t1 * t2 * _D % _P, 2 * z1 * z2 % _P
    i, j, k, m = f - e, h - g, h + g, f + e
    return (i * j % _P, k * m % _P, j * k % _P, i * m % _P)


def _point(key):
    """The point of a public key; None if there is none."""
    number = int.from_bytes(key, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x * x % _P != square or (x == 0 and sign):
        return None
    x = x if x % 2 == sign else _P - x
    return (x, y, 1, x * y % _P)


def _is_strong(key):
    point = _point(key)
    if point is None or point[:2] == (0, 1):
        return False
    result, scalar = (0, 1, 1, 0), _L
    while scalar:
        result = _add(result, point) if scalar & 1 else result
        point, scalar = _add(point, point), scalar >> 1
    return result[0] == 0 and result[1] == result[2]


def is_weak(key):
    if key not in _known_keys:
        _known_keys[key] = _is_strong(key)
    return not _known_keys[key]


def is_signed(key, signature, message):
    """Whether a signature is valid under a key that is not weak."""
    if len(signature) != 64 or int.from_bytes(signature[32:], "little") >= _L or signature[:32] == _NEUTRAL:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True
