"""Request bodies in the media types of REST framework's parsers: JSON, forms, files and text."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from django.core.files.uploadedfile import UploadedFile
from django.utils.http import urlencode
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.views import APIView

from drf_mcp.arguments.call import FilesBody
from drf_mcp.introspection.parsers import ViewParsers
from drf_mcp.introspection.types import ANY, Body, Place, find_uploads
from drf_mcp.json_text import encode_ascii

Pair: TypeAlias = "tuple[str, str | UploadedFile[Any]]"
Forms: TypeAlias = Mapping[Place, str]


def holds_upload(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(holds_upload, value.values()))
    if isinstance(value, list):
        return any(map(holds_upload, value))
    return isinstance(value, UploadedFile)


class EncodedBody(NamedTuple):
    """A body as it is sent, with its Content-Type and Content-Disposition, "" for none."""

    content: bytes | FilesBody = b""
    content_type: str = ""
    disposition: str = ""


@dataclass(frozen=True)
class BodyEncoder:
    """Encodes a body as JSON, which nearly every view takes.

    Attributes:
        expected: whether a body is sent even if the call has no field.
        files: encodes a body with files in it; None if the view takes no files.
    """

    content_type: str = "application/json"
    expected: bool = False
    files: BodyEncoder | None = None

    def encode(self, value: Any) -> EncodedBody:
        return EncodedBody(encode_ascii(value).encode(), self.content_type)


@dataclass(frozen=True)
class FormBody(BodyEncoder):
    forms: Forms = field(default_factory=dict)

    def encode(self, value: Any) -> EncodedBody:
        return EncodedBody(urlencode([*self._make_pairs(value)]).encode(), self.content_type)

    def _make_pairs(self, value: Any) -> Iterator[Pair]:
        is_list = isinstance(value, list) and self.forms.get(()) == "parts"
        if not is_list and not isinstance(value, Mapping):
            raise TypeError("this endpoint takes form fields, so its body must be an object")
        return self._find_pairs(value, "", ())

    def _find_pairs(self, value: Any, name: str, place: Place) -> Iterator[Pair]:
        form = self.forms.get(place)
        if isinstance(value, UploadedFile):
            yield name, value
        elif form == "json" and place:
            yield name, json.dumps(value, allow_nan=False)
        elif isinstance(value, Mapping) and (form == "parts" or not place):
            if not value and place:
                raise TypeError(f"a form cannot hold an empty object: leave out {name}")
            # REST framework reads ``line.price`` and ``lines[0]price`` as members; other objects
            # are sent as JSON.
            prefix = name if name[-1:] in ("", "]") else f"{name}."
            for key, member in value.items():
                # A dict takes members with any name.
                inside = (*place, key)
                if inside not in self.forms and (*place, ANY) in self.forms:
                    inside = (*place, ANY)
                yield from self._find_pairs(member, f"{prefix}{key}", inside)
        elif value is None and form == "null" and name:
            yield name, ""
        elif value is None or value == []:
            # REST framework would take a field that is not sent for one that keeps its value.
            kind = "null" if value is None else "an empty list"
            raise TypeError(
                f"a form cannot hold {kind}: leave out {name or 'it'}, or give it a value"
            )
        elif isinstance(value, list) and (form == "parts" or _is_flat_list(value)):
            # A list of texts or numbers repeats its name for each item. Inside a row REST framework
            # reads a name once, so the items are numbered.
            is_numbered = not name or "]" in name or not _is_flat_list(value)
            for index, item in enumerate(value):
                row = f"{name}[{index}]" if is_numbered else name
                if item is None or item == {}:
                    said = "null" if item is None else "an empty object"
                    raise TypeError(f"a form cannot hold {said}: leave out {name}[{index}]")
                yield from self._find_pairs(item, row, (*place, ANY))
        else:
            yield name, value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def _is_flat_list(items: Iterable[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in items)


class MultiPartBody(FormBody):
    # The boundary is random, so that no value can end a part.
    def __init__(self, expected: bool, forms: Forms) -> None:
        media_type = f"multipart/form-data; boundary={secrets.token_hex(16)}"
        super().__init__(media_type, expected, forms=forms)

    def encode(self, value: Any) -> EncodedBody:
        # RFC 7578
        boundary = b"--" + self.content_type.partition("=")[2].encode()
        lines: list[bytes | UploadedFile[Any]] = []
        for name, content in self._make_pairs(value):
            lines += [boundary, *self._make_part(name, content)]
        lines.append(boundary + b"--")
        body = FilesBody(part for line in lines for part in (line, b"\r\n"))
        return EncodedBody(body if holds_upload(lines) else bytes(body), self.content_type)

    def _make_part(
        self, name: str, content: str | UploadedFile[Any]
    ) -> list[bytes | UploadedFile[Any]]:
        disposition = f'Content-Disposition: form-data; name="{self._escape_name(name)}"'
        if isinstance(content, str):
            return [disposition.encode(), b"", content.encode("utf-8", "surrogatepass")]
        disposition += f'; filename="{self._escape_name(content.name or "upload")}"'
        media_type = f"Content-Type: {content.content_type}"
        return [disposition.encode(), media_type.encode(), b"", content]

    def _escape_name(self, name: str) -> str:
        for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "%0D"), ("\n", "%0A")):
            name = name.replace(character, escaped)
        return name


class FileBody(BodyEncoder):
    # One file, with its name in a header, for REST framework's FileUploadParser.
    def encode(self, value: Any) -> EncodedBody:
        # The field name that FileUploadParser gives the file.
        file = value.get("file") if isinstance(value, Mapping) else value
        others = value.values() if isinstance(value, Mapping) else ()
        if any(other is not None and other is not file for other in others):
            raise TypeError("the body is one file as it is, so nothing else can be sent with it")
        if file is None:
            return EncodedBody()
        name = f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"
        media_type = self.content_type or file.content_type
        return EncodedBody(FilesBody([file]), media_type, name)


class TextBody(BodyEncoder):
    # For parsers that take neither JSON nor forms.
    def encode(self, value: Any) -> EncodedBody:
        is_text = isinstance(value, str)
        return EncodedBody(value.encode(), self.content_type) if is_text else super().encode(value)


def choose_encoder(view: APIView, body: Body) -> BodyEncoder:
    """Return the encoder of a view's bodies, by the parsers of the view.

    JSON wins wherever the view takes it and no file is among the values; a view that takes
    neither JSON nor a form gets a text as the caller sent it.
    """
    readers, parsers, value_info = ViewParsers(view), view.parser_classes, body.all_value_info
    text, expected = readers.text_parser, body.kind in ("object", "either")
    if readers.reads_whole_file or body.is_file:
        return FileBody("" if text is None or "*" in text.media_type else text.media_type)
    forms: dict[Place, str] = {(): "parts"} if body.kind in ("list", "either") else {}
    forms |= {place: info.form for place, info in value_info.items() if info.form}
    files: BodyEncoder | None = None
    if any(issubclass(parser, MultiPartParser) for parser in parsers):
        files = MultiPartBody(expected, forms)
    elif readers.reads_raw_files:
        files = FileBody("")
    if readers.json_parser is not None and not (body.is_form and readers.reads_any_form):
        files = files if find_uploads(value_info) else None
        return BodyEncoder(readers.json_parser.media_type, expected, files)
    for parser in parsers:
        if isinstance(files, MultiPartBody) and issubclass(parser, MultiPartParser):
            return files
        if issubclass(parser, FormParser):
            return FormBody(parser.media_type, expected, files, forms=forms)
    return BodyEncoder(expected=expected) if text is None else TextBody(text.media_type)
