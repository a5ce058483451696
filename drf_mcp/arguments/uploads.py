"""Files among the arguments: base64 and data URIs become uploaded files."""

from __future__ import annotations

import html
import mimetypes
import re
import string
from binascii import a2b_base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile

from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.introspection.types import ANY, Place, Upload
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings

DATA_URI = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<parameters>(?:;[^;,]*)*),", re.ASCII)
# The first bytes of files, for content without a media type.
SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
)
FORM = "data:TYPE;name=FILE_NAME;base64,CONTENT"
# Base64 that a caller may have sent for a field of text.
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")
LETTERS = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
SHORTEST_FILE, LONG = 8, 40
DIGITS = (string.ascii_letters + string.digits + "+/").encode()
# Digits that are decoded at once, a multiple of four.
PIECE = 2**16


# Finds the file that a text in the arguments of the running call names.
FINDER: ContextVar[Callable[[str], UploadedFile[Any] | None]] = ContextVar(
    "FINDER", default=lambda text: None
)


@contextmanager
def finding_files(find: Callable[[str], UploadedFile[Any] | None]) -> Iterator[None]:
    """Read arguments with a function that returns the file which a text names, None for none."""
    token = FINDER.set(find)
    try:
        yield
    finally:
        FINDER.reset(token)


class Base64File(UploadedFile):  # type: ignore[type-arg]
    # Decoded in pieces at each read: the text of the message is in memory anyway, and the whole
    # decoded file would take its size once more.

    size: int

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        super().__init__(None, size=(end - start) * 3 // 4)

    def read(self) -> bytes:  # type: ignore[override]
        return b"".join(self.chunks())

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        for digits in self._find_pieces():
            yield a2b_base64(digits + "=" * (-len(digits) % 4))

    def _find_pieces(self) -> Iterator[str]:
        for place in range(self.start, self.end, PIECE):
            yield self.text[place : min(place + PIECE, self.end)]

    def is_valid(self) -> bool:
        if (self.end - self.start) % 4 == 1:
            return False
        try:
            # Without the digits of base64 nothing is left of a piece.
            return not any(piece.encode().translate(None, DIGITS) for piece in self._find_pieces())
        except UnicodeEncodeError:
            return False


def read_files(
    value: Any, uploads: Mapping[Place, Upload], pointer: str, problems: list[Problem]
) -> Any:
    """Return a value with uploaded files in place of texts, and add to the problems."""
    own = uploads.get(())
    if own is not None and value is not None and (own.sure or isinstance(value, str)):
        try:
            return FileReader(own, pointer).read(value)
        except ArgumentsRefused as exc:
            problems += exc.problems
            return None

    def read_member(name: str, member: Any, token: Any) -> Any:
        places = ((place, upload) for place, upload in uploads.items() if place)
        inner = {place[1:]: upload for place, upload in places if place[0] in (name, ANY)}
        # Instead of one file, a list or an object with files may be sent.
        inner = inner if own is None else {(): own, **inner}
        return read_files(member, inner, JSONPointer.from_parent(pointer, str(token)), problems)

    if isinstance(value, Mapping):
        return {name: read_member(name, member, name) for name, member in value.items()}
    if isinstance(value, list):
        return [read_member(ANY, item, index) for index, item in enumerate(value)]
    return value


def clean_file_name(name: str) -> str:
    """Return a file name without a path; "" where Django would drop the file for its name."""
    name = name.replace("\\", "/").rpartition("/")[2]
    name = "".join(character for character in name if character.isprintable())
    return "" if name.strip() in ("", ".", "..") else name


class FileReader:
    """Reads one file of the arguments."""

    def __init__(self, upload: Upload, pointer: str = "") -> None:
        self.upload = upload
        self.pointer = pointer
        self.limit: int = mcp_settings.MAX_UPLOAD_BYTES

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise self._not_base64("The file is not a string.")
        file = self.find(value)
        if file is None:
            if not self.upload.sure and DATA_URI.match(value) is None:
                return self.read_text(value)
            file = self.parse(value)
        media_type = file.content_type or _detect_media_type(next(file.chunks(), b""))
        name = file.name or self._make_default_name(media_type)
        self._check_type(name, media_type)
        guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
        file.name, file.content_type = name, media_type or guessed
        return file

    def find(self, text: str) -> UploadedFile[Any] | None:
        try:
            return FINDER.get()(text)
        except ArgumentsRefused as exc:
            problems = [replace(problem, pointer=self.pointer) for problem in exc.problems]
            raise ArgumentsRefused(problems) from exc

    def read_text(self, value: str) -> str:
        # Hardly a text ends with padding, or is one long word of digits and letters of both cases.
        content = value.strip().replace("\r", "").replace("\n", "")
        size = len(content)
        is_base64 = size >= SHORTEST_FILE and size % 4 == 0 and BASE64.match(content)
        if is_base64 and (
            content.endswith("=") or (size >= LONG and all(k.search(content) for k in LETTERS))
        ):
            raise self.refuse(
                "invalid",
                "The value reads like a file as base64, but would arrive as text.",
                "a text, or a file as a data URI",
                f"Send a file as a data URI: {FORM}.",
            )
        return value

    def parse(self, value: str) -> UploadedFile[Any]:
        match = DATA_URI.match(value)
        if match is None:
            return self.open(value, 0)
        parameters = match["parameters"].split(";")
        if "base64" in map(str.lower, parameters):
            file = self.open(value, match.end(), unquote)
        else:
            content = unquote_to_bytes(value[match.end() :])
            if len(content) > self.limit:
                raise self._too_large(len(content))
            file = SimpleUploadedFile("upload", content)
        named = next((p[5:] for p in parameters if p.lower().startswith("name=")), "")
        file.name = clean_file_name(html.unescape(unquote(named))) or None
        file.content_type = match["type"] or ""
        return file

    def open(
        self, text: str, start: int, unescape: Callable[[str], str] = str
    ) -> UploadedFile[Any]:
        padding = text.find("=", start)
        end = len(text) if padding < 0 else padding
        file = Base64File(text, start, end)
        is_padded = text[end : end + 3] == "=" * ((start - end) % 4)
        # Standard base64 is read without a copy of the text.
        if is_padded and file.size <= self.limit and file.is_valid():
            return file
        # Clients send line breaks, URL-safe letters and no padding.
        lines = unescape(text[start:]).replace("\n", "").replace("\r", "").split()
        digits = "".join(lines).rstrip("=").replace("-", "+").replace("_", "/")
        file = Base64File(digits, 0, len(digits))
        if file.size > self.limit:
            raise self._too_large(file.size)
        if not file.is_valid():
            raise self._not_base64("The file is not base64.")
        return file

    def _make_default_name(self, media_type: str) -> str:
        extensions = self.upload.extensions
        known = [extension[1:] for extension in mimetypes.guess_all_extensions(media_type)]
        preferred = (mimetypes.guess_extension(media_type) or "")[1:]
        taken = [extension for extension in known if extension in extensions]
        if not known and len(extensions) == 1:
            taken = list(extensions)
        extension = next(iter(taken), preferred)
        return f"upload.{extension}" if extension else "upload"

    def _check_type(self, name: str, media_type: str) -> None:
        extension, extensions = PurePosixPath(name).suffix[1:].lower(), self.upload.extensions
        if extensions and extension not in extensions:
            accepted = f"one of {', '.join(extensions)}"
            raise self._wrong_type(extension or media_type, accepted)
        kind = media_type or mimetypes.guess_type(name)[0] or ""
        if self.upload.image and not kind.startswith("image/"):
            raise self._wrong_type(extension or media_type, "an image")

    def refuse(self, code: str, message: str, accepted: str, remediation: str) -> ArgumentsRefused:
        problem = Problem(
            code, message, pointer=self.pointer, accepted=accepted, remediation=remediation
        )
        return ArgumentsRefused([problem])

    def _not_base64(self, message: str) -> ArgumentsRefused:
        remediation = f"Send base64, or a data URI: {FORM}."
        return self.refuse("invalid", message, "base64 or a data URI", remediation)

    def _too_large(self, size: int) -> ArgumentsRefused:
        message = f"The file has {size} bytes; at most {self.limit} are taken."
        accepted = f"a file of at most {self.limit} bytes"
        return self.refuse("max_size", message, accepted, f"Send {accepted}.")

    def _wrong_type(self, found: str, accepted: str) -> ArgumentsRefused:
        said = f"is of type '{found}'" if found else "does not say its type"
        message = f"The file {said}; its type must be {accepted}."
        advice = "Send a file of another type, or name it: Send base64, or a data URI:"
        return self.refuse("invalid_extension", message, accepted, f"{advice} {FORM}.")


def _detect_media_type(content: bytes) -> str:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((name for start, name in SIGNATURES if content.startswith(start)), "")
