"""Files among the arguments: base64 or data URIs, made into the uploads that views take."""

from __future__ import annotations

import html
import mimetypes
import re
import string
from binascii import a2b_base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.utils.translation import gettext as _

from drf_mcp.introspection.types import ANY, Place, Upload
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Problem

DATA_URI = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<parameters>(?:;[^;,]*)*),", re.ASCII)
# What files of a kind begin with, for content sent without its type.
SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
)
FORM = {"form": "data:TYPE;name=FILE_NAME;base64,CONTENT"}
# Of a text that may stand for itself.
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")
LETTERS = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
SHORTEST_FILE, LONG = 8, 40
DIGITS = (string.ascii_letters + string.digits + "+/").encode()
# Digits that are decoded at once, whole groups of four.
PIECE = 2**16


class UploadRefused(Exception):
    # The problem has no pointer: a reader does not know where its value stands.
    def __init__(self, code: str, message: str, accepted: str, remediation: str) -> None:
        super().__init__(message)
        self.problem = Problem(code, message, accepted=accepted, remediation=remediation)


class Base64File(UploadedFile):  # type: ignore[type-arg]
    # Decoded whenever it is read: beside the text that the client sent, which stays for as long
    # as the call, a file of megabytes would be in memory once more.

    size: int

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        super().__init__(None, size=(end - start) * 3 // 4)

    def read(self) -> bytes:  # type: ignore[override]
        return b"".join(self.chunks())

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        for digits in self.get_pieces():
            yield a2b_base64(digits + "=" * (-len(digits) % 4))

    def get_pieces(self) -> Iterator[str]:
        for place in range(self.start, self.end, PIECE):
            yield self.text[place : min(place + PIECE, self.end)]

    def is_valid(self) -> bool:
        if (self.end - self.start) % 4 == 1:
            return False
        try:
            # Without its digits nothing is left of a piece.
            return not any(piece.encode().translate(None, DIGITS) for piece in self.get_pieces())
        except UnicodeEncodeError:
            return False


class UploadPlaces:
    def __init__(self, uploads: Mapping[Place, Upload], limit: int) -> None:
        self.uploads = uploads
        self.limit = limit

    def read(self, value: Any, pointer: str, problems: list[Problem]) -> Any:
        if value is None:
            return None
        own = self.uploads.get(())
        if own is not None and (own.sure or isinstance(value, str)):
            try:
                return FileReader(own, self.limit).read(value)
            except UploadRefused as exc:
                problems.append(replace(exc.problem, pointer=pointer))
                return None
        if isinstance(value, Mapping):
            return {
                name: self.get_member(name).read(
                    member, f"{pointer}/{JSONPointer.escape(name)}", problems
                )
                for name, member in value.items()
            }
        if isinstance(value, list):
            member = self.get_member(ANY)
            return [
                member.read(item, f"{pointer}/{index}", problems)
                for index, item in enumerate(value)
            ]
        return value

    def get_member(self, name: str) -> UploadPlaces:
        own = {place: upload for place, upload in self.uploads.items() if not place}
        inner = {
            place[1:]: upload
            for place, upload in self.uploads.items()
            if place[:1] in ((name,), (ANY,))
        }
        # What may be a file may be several, or hold some.
        return UploadPlaces(own | inner, self.limit)


class FileReader:
    def __init__(self, upload: Upload, limit: int) -> None:
        self.upload = upload
        self.limit = limit

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise self.not_base64(_("The file is not a string."))
        if not self.upload.sure and DATA_URI.match(value) is None:
            return self.read_text(value)
        media_type, name, file = self.parse(value)
        media_type = media_type or self.detect_media_type(next(file.chunks(), b""))
        name = name or self.get_default_name(media_type)
        self.check_type(name, media_type)
        guessed = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        file.name, file.content_type = name, guessed
        return file

    def read_text(self, value: str) -> str:
        if self.looks_like_base64(value):
            raise UploadRefused(
                "invalid",
                _("The value reads like a file as base64, but would arrive as text."),
                _("a text, or a file as a data URI"),
                _("Send a file as a data URI: %(form)s.") % FORM,
            )
        return value

    def parse(self, value: str) -> tuple[str, str, UploadedFile[Any]]:
        match = DATA_URI.match(value)
        if match is None:
            return "", "", self.open(value, 0)
        parameters = match["parameters"].split(";")
        names = (p[5:] for p in parameters if p.lower().startswith("name="))
        name = next(map(self.decode_name, names), "")
        if "base64" in map(str.lower, parameters):
            return match["type"] or "", name, self.open(value, match.end(), unquote)
        content = unquote_to_bytes(value[match.end() :])
        if len(content) > self.limit:
            raise self.too_large(len(content))
        return match["type"] or "", name, SimpleUploadedFile("upload", content)

    def open(
        self, text: str, start: int, unescape: Callable[[str], str] = str
    ) -> UploadedFile[Any]:
        padding = text.find("=", start)
        end = len(text) if padding < 0 else padding
        file = Base64File(text, start, end)
        is_padded = text[end : end + 3] == "=" * ((start - end) % 4)
        # Base64 as the standard has it: of a text of megabytes no copy is made.
        if is_padded and file.size <= self.limit and file.is_valid():
            return file
        # Line breaks, URL-safe letters and missing padding are all common.
        lines = unescape(text[start:]).replace("\n", "").replace("\r", "").split()
        digits = "".join(lines).rstrip("=").replace("-", "+").replace("_", "/")
        file = Base64File(digits, 0, len(digits))
        if file.size > self.limit:
            raise self.too_large(file.size)
        if not file.is_valid():
            raise self.not_base64(_("The file is not base64."))
        return file

    def get_default_name(self, media_type: str) -> str:
        extensions = self.upload.extensions
        known = [extension[1:] for extension in mimetypes.guess_all_extensions(media_type)]
        preferred = (mimetypes.guess_extension(media_type) or "")[1:]
        taken = [extension for extension in known if extension in extensions]
        if not known and len(extensions) == 1:
            taken = list(extensions)
        extension = next(iter(taken), preferred)
        return f"upload.{extension}" if extension else "upload"

    def check_type(self, name: str, media_type: str) -> None:
        extension, extensions = PurePosixPath(name).suffix[1:].lower(), self.upload.extensions
        if extensions and extension not in extensions:
            accepted = _("one of %(names)s") % {"names": ", ".join(extensions)}
            raise self.wrong_type(extension or media_type, accepted)
        kind = media_type or mimetypes.guess_type(name)[0] or ""
        if self.upload.image and not kind.startswith("image/"):
            raise self.wrong_type(extension or media_type, _("an image"))

    def not_base64(self, message: str) -> UploadRefused:
        remediation = _("Send base64, or a data URI: %(form)s.") % FORM
        return UploadRefused("invalid", message, _("base64 or a data URI"), remediation)

    def too_large(self, size: int) -> UploadRefused:
        facts = {"size": size, "limit": self.limit}
        return UploadRefused(
            "max_size",
            _("The file has %(size)d bytes; at most %(limit)d are taken.") % facts,
            _("a file of at most %(limit)d bytes") % facts,
            _("Send a file of at most %(limit)d bytes.") % facts,
        )

    def wrong_type(self, found: str, accepted: str) -> UploadRefused:
        # Translators: what is accepted is "an image" or "one of" and names of types.
        message = _("The file does not say its type; its type must be %(accepted)s.")
        if found:
            message = _("The file is of type '%(found)s'; its type must be %(accepted)s.")
        return UploadRefused(
            "invalid_extension",
            message % {"found": found, "accepted": accepted},
            accepted,
            _("Send a file of another type, or name it: Send base64, or a data URI: %(form)s.")
            % FORM,
        )

    def looks_like_base64(self, text: str) -> bool:
        # Padded, or long and of all kinds of letters: a text is hardly ever that.
        content = text.strip().replace("\r", "").replace("\n", "")
        if len(content) < SHORTEST_FILE or len(content) % 4 or not BASE64.match(content):
            return False
        mixed = len(content) >= LONG and all(kind.search(content) for kind in LETTERS)
        return content.endswith("=") or mixed

    def decode_name(self, encoded: str) -> str:
        # Without its path; Django would drop a file of one of the last names.
        name = html.unescape(unquote(encoded)).replace("\\", "/").rpartition("/")[2]
        name = "".join(character for character in name if character.isprintable())
        return "" if name.strip() in ("", ".", "..") else name

    def detect_media_type(self, content: bytes) -> str:
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return "image/webp"
        return next((name for start, name in SIGNATURES if content.startswith(start)), "")
