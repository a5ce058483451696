"""Values as form fields, named the way REST framework's serializers read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from django.core.files.uploadedfile import UploadedFile

from drf_mcp.introspection.types import ANY, Place

Pair: TypeAlias = "tuple[str, str | UploadedFile[Any]]"
Forms: TypeAlias = Mapping[Place, str]


class FormEncoding:
    """Writes a body as the (name, text or file) pairs of a form.

    Args:
        forms: how values are written, by place.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms = forms

    def get_pairs(self, value: Any) -> Iterator[Pair]:
        """Yield the pairs of a body.

        Members of what has parts get a name each, ``line.price`` or ``lines[0]price``; other
        objects are written as JSON.

        Args:
            value: an object, or a list of rows that the body's serializer reads.

        Raises:
            TypeError: on a value that a form cannot carry.
        """
        if isinstance(value, Mapping):
            for name, member in value.items():
                yield from self._value_pairs(member, name, (name,))
        elif isinstance(value, list) and self.forms.get(()) == "parts":
            yield from self._item_pairs(value, "", ())
        else:
            raise TypeError("this endpoint takes form fields, so its body must be an object")

    def _value_pairs(self, value: Any, name: str, place: Place) -> Iterator[Pair]:
        form = self.forms.get(place)
        if isinstance(value, UploadedFile):
            yield name, value
        elif form == "json":
            yield name, json.dumps(value, allow_nan=False)
        elif isinstance(value, Mapping) and form == "parts":
            for key, member in value.items():
                yield from self._value_pairs(member, f"{name}.{key}", self._below(place, key))
        elif isinstance(value, list) and (form == "parts" or is_flat_list(value)):
            yield from self._item_pairs(value, name, place)
        elif value is not None:
            yield name, value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        elif form == "null":
            # Elsewhere null is as good as not sent.
            yield name, ""

    def _item_pairs(self, items: list[Any], name: str, place: Place) -> Iterator[Pair]:
        # Plain values repeat the name of their list, but not inside a row: a field in there is
        # read once, so they are numbered.
        inside = (*place, ANY)
        numbered = not name or "]" in name or not is_flat_list(items)
        for index, item in enumerate(items):
            row = f"{name}[{index}]" if numbered else name
            if isinstance(item, Mapping) and self.forms.get(inside) == "parts":
                for key, member in item.items():
                    yield from self._value_pairs(member, f"{row}{key}", self._below(inside, key))
            else:
                yield from self._value_pairs(item, row, inside)

    def _below(self, place: Place, name: str) -> Place:
        # The place of any member where names are free.
        named, free = (*place, name), (*place, ANY)
        return named if named in self.forms or free not in self.forms else free


def is_flat_list(items: Iterable[Any]) -> bool:
    """Return whether a list holds neither objects nor lists."""
    return not any(isinstance(item, (dict, list)) for item in items)


def encode_multipart(pairs: Iterable[Pair], boundary: str) -> bytes:
    """Return form fields and files as ``multipart/form-data`` (RFC 7578)."""
    lines: list[bytes] = []
    for name, value in pairs:
        disposition = f'form-data; name="{quote_header_value(name)}"'
        lines.append(f"--{boundary}".encode())
        if isinstance(value, str):
            content = value.encode("utf-8", "surrogatepass")
            lines += [f"Content-Disposition: {disposition}".encode(), b"", content]
            continue
        disposition += f'; filename="{quote_header_value(value.name or "upload")}"'
        lines += [
            f"Content-Disposition: {disposition}".encode(),
            f"Content-Type: {value.content_type}".encode(),
            b"",
            value.read(),
        ]
    return b"\r\n".join([*lines, f"--{boundary}--".encode(), b""])


def quote_header_value(name: str) -> str:
    """Return a name as it stands between quotation marks in a header."""
    for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "%0D"), ("\n", "%0A")):
        name = name.replace(character, escaped)
    return name
