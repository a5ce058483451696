"""JSON texts: encoding, canonical hashes, pointers, and depth."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

_AS_ARRAYS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS_OR_QUOTES = bytes(set(range(256)) - set(b'[]{}"'))

# The types of a JSON object: isinstance() is fast for a dict and slow for Mapping.
OBJECTS = (dict, Mapping)
Path = tuple[str | int, ...]

# The depth of a message, and so of JSON in a string of the message.
MAX_TEXT_DEPTH = 100


def _make_encode(*, ensure_ascii: bool, is_canonical: bool = False) -> Callable[[Any], str]:
    # `JSONEncoder.encode` makes an encoder in C for each value, which is half the work for a small
    # value. `check_circular` is off, since plain values contain no circles.
    encoder = json.JSONEncoder(
        ensure_ascii=ensure_ascii,
        check_circular=False,
        allow_nan=is_canonical,
        sort_keys=is_canonical,
        separators=(",", ":"),
    )
    make_encoder: Any = getattr(json.encoder, "c_make_encoder", None)
    quote = encode_basestring_ascii if ensure_ascii else encode_basestring
    try:
        options = (encoder.sort_keys, False, encoder.allow_nan)
        write = make_encoder(None, encoder.default, quote, None, ":", ",", *options)
    except TypeError:
        # Not every Python has this function with these arguments.
        return encoder.encode
    return lambda value: "".join(write(value, 0))


# With the settings of REST framework's encoder, and with every other character than ASCII escaped.
encode_plain, encode_ascii = _make_encode(ensure_ascii=False), _make_encode(ensure_ascii=True)
# With sorted members, and so the same for the same value.
canonical_json = _make_encode(ensure_ascii=False, is_canonical=True)


def to_bytes(text: str) -> bytes:
    """Return text as UTF-8; half a surrogate pair becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def content_hash(value: Any) -> str:
    """Return the SHA-256 hash of a value's canonical JSON, which clients can compute, too."""
    return "sha256-" + hashlib.sha256(to_bytes(canonical_json(value))).hexdigest()


class JSONPointer(str):
    """A JSON pointer (RFC 6901), such as ``/lines/0/quantity``; "" is the whole document."""

    __slots__ = ()

    @classmethod
    def from_path(cls, path: Iterable[Any]) -> JSONPointer:
        return cls("".join(f"/{cls.escape(str(token))}" for token in path))

    @classmethod
    def from_parent(cls, pointer: str, name: str) -> JSONPointer:
        return cls(f"{pointer}/{cls.escape(name)}")

    @staticmethod
    def escape(name: str) -> str:
        if "~" in name or "/" in name:
            return name.replace("~", "~0").replace("/", "~1")
        return name

    @staticmethod
    def unescape(token: str) -> str:
        return token.replace("~1", "/").replace("~0", "~")

    @classmethod
    def from_dotted(cls, path: str) -> JSONPointer:
        """Return the pointer of a dotted path, ``a[0].b``, or of a pointer."""
        if path.startswith("/"):
            return cls(path)
        names = path.replace("[", ".").replace("]", "").lstrip(".")
        return cls.from_path(names.split(".")) if names else cls()

    @property
    def dotted(self) -> str:
        # Most pointers have the name of one argument.
        if self[1:].isidentifier():
            return self[1:]
        parts = (f"[{name}]" if name.isdecimal() else f".{name}" for name in self.path)
        return "".join(parts).removeprefix(".")

    @property
    def path(self) -> tuple[str, ...]:
        """The names of the pointer; an index is a string of digits."""
        tokens = self.split("/")[1:]
        return tuple(map(self.unescape, tokens) if "~" in self else tokens)

    def is_in(self, document: Any) -> bool:
        return self.find_in(document, self) is not self

    def find_in(self, document: Any, default: Any = None) -> Any:
        """Return the value at the pointer, the default where there is none."""
        for name in self.path:
            if isinstance(document, OBJECTS) and name in document:
                document = document[name]
            elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
                document = document[int(name)]
            else:
                return default
        return document


def walk_objects(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the objects in a value, the value itself first, with their paths."""
    if isinstance(value, OBJECTS):
        yield path, value
        for name, member in value.items():
            yield from walk_objects(member, (*path, str(name)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk_objects(item, (*path, index))


class NestedTooDeep(ValueError):
    """A value is nested deeper than parsers of JSON take."""

    def __init__(self, most: int) -> None:
        super().__init__(f"nested deeper than {most} levels")


# The most levels of an answer. serde_json, which clients in Rust use, reads 127 of a message, the
# official Python SDK 200, Python's json some 990; a message adds three.
MAX_DEPTH = 120


def refuse_deep(text: str) -> None:
    """Raise `NestedTooDeep` if valid JSON is nested deeper than every client can read."""
    if is_nested_deeper(text, MAX_DEPTH):
        raise NestedTooDeep(MAX_DEPTH)


def is_nested_deeper(text: str, most: int) -> bool:
    """Return whether valid JSON nests more objects and arrays in one another than this."""
    if text.count("[") + text.count("{") <= most:
        return False
    encoded = text.encode(errors="replace")
    if b"\\" in encoded:
        encoded = encoded.replace(rb"\\", b"").replace(rb"\"", b"")
    brackets = encoded.translate(_AS_ARRAYS, delete=_NO_BRACKETS_OR_QUOTES)
    # Removes the strings: every second piece between quotes is one.
    brackets = brackets.replace(b'""', b"")
    brackets = b"".join(brackets.split(b'"')[::2])
    for _ in range(most):
        if not brackets:
            return False
        # The innermost pairs.
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def parse_json_text(value: Any, wanted: type | tuple[type, ...]) -> Any:
    """Return the parsed value of a string with JSON of the wanted type, another value as it is."""
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    is_wanted = isinstance(parsed, wanted) and not is_nested_deeper(value, MAX_TEXT_DEPTH)
    return parsed if is_wanted else value


def hash_json(value: Any) -> str:
    """Return the hash of a value, whatever the order of its members, for tokens of the server."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
