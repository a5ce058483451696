"""Request bodies in the media types of REST framework's parsers: JSON, forms, files and text."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from urllib.parse import quote

from django.core.files.uploadedfile import UploadedFile
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from rest_framework.parsers import FileUploadParser, FormParser, MultiPartParser
from rest_framework.views import APIView

from drf_mcp.introspection.parsers import ViewParsers, is_json_parser
from drf_mcp.introspection.types import ANY, Body, Place
from drf_mcp.outcomes import MISSING
from drf_mcp.tools.arguments.call import FilesBody

Pair: TypeAlias = "tuple[str, str | UploadedFile[Any]]"
Forms: TypeAlias = Mapping[Place, str]
# NaN and infinities are no JSON: they raise a ValueError.
ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def is_flat_list(items: Iterable[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in items)


def holds_upload(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(holds_upload, value.values()))
    if isinstance(value, list):
        return any(map(holds_upload, value))
    return isinstance(value, UploadedFile)


@dataclass(frozen=True)
class BodyEncoder:
    """Encodes a body as JSON, which nearly every view takes.

    Attributes:
        expected: an object is sent even without any field.
        files: encodes bodies with files among them; None if the view takes none.
        disposition: the body's Content-Disposition, "" for none.
    """

    content_type: str = "application/json"
    expected: bool = False
    files: BodyEncoder | None = None
    disposition: str = ""

    def encode(self, value: Any) -> bytes | FilesBody:
        if value is MISSING:
            return b""
        return ENCODER.encode(value).encode()

    def get_encoder(self, value: Any, files: Iterable[Any]) -> BodyEncoder:
        # ``files`` are the parts of the value that may hold files.
        if self.files is None or value is MISSING:
            return self
        return self.files.get_encoder(value, files) if any(map(holds_upload, files)) else self


@dataclass(frozen=True)
class FormBody(BodyEncoder):
    forms: Forms = field(default_factory=dict)

    def encode(self, value: Any) -> bytes | FilesBody:
        return b"" if value is MISSING else urlencode([*self.get_pairs(value)]).encode()

    def get_pairs(self, value: Any) -> Iterator[Pair]:
        # REST framework reads ``line.price`` and ``lines[0]price`` as members; other objects are
        # sent as JSON.
        if isinstance(value, Mapping):
            for name, member in value.items():
                yield from self._value_pairs(member, name, (name,))
        elif isinstance(value, list) and self.forms.get(()) == "parts":
            yield from self._item_pairs(value, "", ())
        else:
            raise TypeError(_("this endpoint takes form fields, so its body must be an object"))

    def _value_pairs(self, value: Any, name: str, place: Place) -> Iterator[Pair]:
        form = self.forms.get(place)
        if isinstance(value, UploadedFile):
            yield name, value
        elif form == "json":
            yield name, json.dumps(value, allow_nan=False)
        elif isinstance(value, Mapping) and form == "parts":
            for key, member in value.items():
                yield from self._value_pairs(member, f"{name}.{key}", self._place_of(place, key))
        elif isinstance(value, list) and (form == "parts" or is_flat_list(value)):
            yield from self._item_pairs(value, name, place)
        elif value is not None:
            yield name, value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        elif form == "null":
            # A field of another form leaves null out.
            yield name, ""

    def _item_pairs(self, items: list[Any], name: str, place: Place) -> Iterator[Pair]:
        # A list of texts or numbers repeats its name for each item. Inside a row REST framework
        # reads a name once, so the items are numbered.
        inside = (*place, ANY)
        numbered = not name or "]" in name or not is_flat_list(items)
        for index, item in enumerate(items):
            row = f"{name}[{index}]" if numbered else name
            if isinstance(item, Mapping) and self.forms.get(inside) == "parts":
                for key, member in item.items():
                    yield from self._value_pairs(member, f"{row}{key}", self._place_of(inside, key))
            else:
                yield from self._value_pairs(item, row, inside)

    def _place_of(self, place: Place, name: str) -> Place:
        # The members of a dict have any name: their form is under `ANY`.
        named, free = (*place, name), (*place, ANY)
        return named if named in self.forms or free not in self.forms else free


class MultiPartBody(FormBody):
    # The boundary is random, so that no value can end a part.
    def __init__(self, expected: bool, forms: Forms) -> None:
        media_type = f"multipart/form-data; boundary={secrets.token_hex(16)}"
        super().__init__(media_type, expected, forms=forms)

    def encode(self, value: Any) -> bytes | FilesBody:
        # RFC 7578
        if value is MISSING:
            return b""
        boundary = b"--" + self.content_type.partition("=")[2].encode()
        lines: list[bytes | UploadedFile[Any]] = []
        for name, content in self.get_pairs(value):
            lines += [boundary, *self.get_part(name, content)]
        lines.append(boundary + b"--")
        body = FilesBody(part for line in lines for part in (line, b"\r\n"))
        return body if holds_upload(lines) else bytes(body)

    def get_part(
        self, name: str, content: str | UploadedFile[Any]
    ) -> list[bytes | UploadedFile[Any]]:
        disposition = f'Content-Disposition: form-data; name="{self.escape_name(name)}"'
        if isinstance(content, str):
            return [disposition.encode(), b"", content.encode("utf-8", "surrogatepass")]
        disposition += f'; filename="{self.escape_name(content.name or "upload")}"'
        media_type = f"Content-Type: {content.content_type}"
        return [disposition.encode(), media_type.encode(), b"", content]

    def escape_name(self, name: str) -> str:
        for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "%0D"), ("\n", "%0A")):
            name = name.replace(character, escaped)
        return name


class FileBody(BodyEncoder):
    # One file, with its name in a header, for REST framework's FileUploadParser.
    def get_encoder(self, value: Any, files: Iterable[Any]) -> BodyEncoder:
        file = self.get_file(value)
        if file is None:
            return self
        name = f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"
        media_type = self.content_type or file.content_type
        return replace(self, content_type=media_type, disposition=name)

    def encode(self, value: Any) -> bytes | FilesBody:
        file = self.get_file(value)
        if isinstance(value, Mapping) and any(
            v is not None and v is not file for v in value.values()
        ):
            raise TypeError(_("the body is one file as it is, so nothing else can be sent with it"))
        return b"" if file is None else FilesBody([file])

    def get_file(self, value: Any) -> Any:
        # The field name that FileUploadParser gives the file.
        if isinstance(value, Mapping):
            return value.get("file")
        return None if value is MISSING else value


class TextBody(BodyEncoder):
    # For parsers that take neither JSON nor forms.
    def encode(self, value: Any) -> bytes | FilesBody:
        return value.encode() if isinstance(value, str) else super().encode(value)


def choose_encoder(view: APIView, body: Body) -> BodyEncoder:
    """Return the encoder of a view's bodies, by the parsers of the view.

    JSON wins wherever the view takes it and no file is among the values; a view that takes
    neither JSON nor a form gets a text as the caller sent it.
    """
    readers, parsers, handling = ViewParsers(view), view.parser_classes, body.all_handling
    text, expected = readers.text, body.kind in ("object", "either")
    if readers.reads_whole_file or () in handling.uploads:
        return FileBody("" if text is None or "*" in text.media_type else text.media_type)
    forms: dict[Place, str] = {(): "parts"} if body.kind in ("list", "either") else {}
    forms |= handling.forms
    files: BodyEncoder | None = None
    if any(issubclass(parser, MultiPartParser) for parser in parsers):
        files = MultiPartBody(expected, forms)
    elif any(issubclass(parser, FileUploadParser) for parser in parsers):
        files = FileBody("")
    for parser in parsers:
        if is_json_parser(parser):
            # A body that cannot hold files is never searched for them.
            files = files if handling.uploads else None
            return BodyEncoder(parser.media_type, expected, files)
    for parser in parsers:
        if isinstance(files, MultiPartBody) and issubclass(parser, MultiPartParser):
            return files
        if issubclass(parser, FormParser):
            return FormBody(parser.media_type, expected, files, forms=forms)
    return BodyEncoder(expected=expected) if text is None else TextBody(text.media_type)
