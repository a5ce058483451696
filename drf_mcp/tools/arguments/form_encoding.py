"""Values as form fields, named the way REST framework's serializers read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from django.core.files.uploadedfile import UploadedFile

from drf_mcp.introspection.types import ANY, Place

Pair: TypeAlias = "tuple[str, str | UploadedFile[Any]]"
Forms: TypeAlias = Mapping[Place, str]


def form_pairs(value: Any, forms: Forms) -> Iterator[Pair]:
    """Yield the (name, text or file) pairs of a body.

    Members of what has parts get a name each, ``line.price`` or ``lines[0]price``; other
    objects are written as JSON.

    Args:
        value: an object, or a list of rows that the body's serializer reads.
        forms: how values are written, by place.

    Raises:
        TypeError: on a value that a form cannot carry.
    """
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from value_pairs(member, name, (name,), forms)
    elif isinstance(value, list) and forms.get(()) == "parts":
        yield from item_pairs(value, "", (), forms)
    else:
        raise TypeError("this endpoint takes form fields, so its body must be an object")


def value_pairs(value: Any, name: str, place: Place, forms: Forms) -> Iterator[Pair]:
    """Yield the pairs of one value; null is as good as not sent where it is not taken."""
    written = forms.get(place)
    if isinstance(value, UploadedFile):
        yield name, value
    elif written == "json":
        yield name, json.dumps(value, allow_nan=False)
    elif isinstance(value, Mapping) and written == "parts":
        for key, member in value.items():
            yield from value_pairs(member, f"{name}.{key}", below(place, key, forms), forms)
    elif isinstance(value, list) and (written == "parts" or is_plain(value)):
        yield from item_pairs(value, name, place, forms)
    elif value is not None:
        yield name, form_text(value)
    elif written == "null":
        yield name, ""


def item_pairs(items: list[Any], name: str, place: Place, forms: Forms) -> Iterator[Pair]:
    """Yield the pairs of a list's items.

    Plain values repeat the name of their list, but not inside a row: a field in there is
    read once, so they are numbered.
    """
    inside = (*place, ANY)
    numbered = not name or "]" in name or not is_plain(items)
    for index, item in enumerate(items):
        row = f"{name}[{index}]" if numbered else name
        if isinstance(item, Mapping) and forms.get(inside) == "parts":
            for key, member in item.items():
                yield from value_pairs(member, f"{row}{key}", below(inside, key, forms), forms)
        else:
            yield from value_pairs(item, row, inside, forms)


def below(place: Place, name: str, forms: Forms) -> Place:
    """Return the place of a member, the one of any member where names are free."""
    named = (*place, name)
    return named if named in forms or (*place, ANY) not in forms else (*place, ANY)


def is_plain(items: Iterable[Any]) -> bool:
    """Return whether a list holds neither objects nor lists."""
    return not any(isinstance(item, (dict, list)) for item in items)


def form_text(value: Any) -> str:
    """Write one form value."""
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def multipart(pairs: Iterable[Pair], boundary: str) -> bytes:
    """Return form fields and files as ``multipart/form-data`` (RFC 7578)."""
    lines: list[bytes] = []
    for name, value in pairs:
        disposition = f'form-data; name="{quoted(name)}"'
        lines.append(f"--{boundary}".encode())
        if isinstance(value, str):
            content = value.encode("utf-8", "surrogatepass")
            lines += [f"Content-Disposition: {disposition}".encode(), b"", content]
            continue
        disposition += f'; filename="{quoted(value.name or "upload")}"'
        lines += [
            f"Content-Disposition: {disposition}".encode(),
            f"Content-Type: {value.content_type}".encode(),
            b"",
            value.read(),
        ]
    return b"\r\n".join([*lines, f"--{boundary}--".encode(), b""])


def quoted(name: str) -> str:
    """Return a name as it stands between quotation marks in a header."""
    for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "%0D"), ("\n", "%0A")):
        name = name.replace(character, escaped)
    return name
