"""Files among the arguments: base64 or data URIs, made into the uploads that views take."""

from __future__ import annotations

import base64
import binascii
import html
import mimetypes
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from django.core.files.uploadedfile import SimpleUploadedFile

from drf_mcp.introspection.types import ANY, Place, Upload
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.errors import escape

DATA_URI = re.compile(r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?P<parameters>(?:;[^;,]*)*),", re.ASCII)
SPACE = re.compile(r"\s+")
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
DATA_URI_FORM = "data:TYPE;name=FILE_NAME;base64,CONTENT"
FORM = f"Send base64, or a data URI: {DATA_URI_FORM}"
# Of a text that may stand for itself.
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")
LETTERS = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
SHORTEST_FILE, LONG = 8, 40


class UploadRefused(Exception):
    """A value cannot be the file that is wanted; holds the `Problem`, its place aside."""

    def __init__(self, code: str, message: str, accepted: str, remediation: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message
        self.accepted, self.remediation = accepted, remediation

    def problem(self, pointer: str) -> Problem:
        """Return the problem of the value at a pointer."""
        return Problem(
            code=self.code,
            message=self.message,
            pointer=pointer,
            accepted=self.accepted,
            remediation=self.remediation,
        )


def with_uploads(
    value: Any, uploads: Mapping[Place, Upload], pointer: str, problems: list[Problem]
) -> Any:
    """Return a value with the files in it as uploads.

    Args:
        value: the value of an argument.
        uploads: what the files in it have to be, by place.
        pointer: the JSON pointer of the value.
        problems: gets what is wrong with each file that cannot be one.
    """
    if value is None:
        return None
    if () in uploads and (uploads[()].sure or isinstance(value, str)):
        try:
            return uploaded(value, uploads[()])
        except UploadRefused as exc:
            problems.append(exc.problem(pointer))
            return None
    # What may be a file may be several, or hold some.
    unsure = {(): uploads[()]} if () in uploads else {}
    if isinstance(value, Mapping):
        return {
            name: with_uploads(
                member, unsure | below(uploads, name), f"{pointer}/{escape(name)}", problems
            )
            for name, member in value.items()
        }
    if isinstance(value, list):
        inside = unsure | below(uploads, ANY)
        return [
            with_uploads(item, inside, f"{pointer}/{index}", problems)
            for index, item in enumerate(value)
        ]
    return value


def below(uploads: Mapping[Place, Upload], name: str) -> dict[Place, Upload]:
    """Return the uploads in a member, by their places in it."""
    return {
        place[1:]: upload for place, upload in uploads.items() if place[:1] in ((name,), (ANY,))
    }


def holds_upload(value: Any) -> bool:
    """Return whether a file is among the values."""
    if isinstance(value, Mapping):
        return any(map(holds_upload, value.values()))
    if isinstance(value, list):
        return any(map(holds_upload, value))
    return isinstance(value, SimpleUploadedFile)


def uploaded(value: Any, upload: Upload) -> Any:
    """Return a file as an upload; a text as it is where it may be either.

    Raises:
        UploadRefused: if it is no base64, too large, or not of a type that is taken; or if
            it may be a text and reads like a file.
    """
    if not isinstance(value, str):
        raise not_base64("The file is not a string.")
    if not upload.sure and DATA_URI.match(value) is None:
        return plain_text(value)
    media_type, name, content = parsed(value)
    media_type = media_type or signature(content)
    name = name or default_name(media_type, upload)
    check_type(name, media_type, upload)
    guessed = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return SimpleUploadedFile(name, content, guessed)


def plain_text(value: str) -> str:
    """Return a text that may stand for itself; a file as base64 would arrive as text."""
    if reads_encoded(value):
        raise UploadRefused(
            "invalid",
            "The value reads like a file as base64, but would arrive as text.",
            "a text, or a file as a data URI",
            f"Send a file as a data URI: {DATA_URI_FORM}.",
        )
    return value


def reads_encoded(text: str) -> bool:
    """Return whether a text is hardly anything but base64: padded, or long and of all letters."""
    plain = text.strip().replace("\r", "").replace("\n", "")
    if len(plain) < SHORTEST_FILE or len(plain) % 4 or not BASE64.match(plain):
        return False
    mixed = len(plain) >= LONG and all(kind.search(plain) for kind in LETTERS)
    return plain.endswith("=") or mixed


def parsed(value: str) -> tuple[str, str, bytes]:
    """Return the media type, the file name ("" for what is not said) and the content."""
    match = DATA_URI.match(value)
    if match is None:
        return "", "", decoded(value)
    parameters = match["parameters"].split(";")
    name = next((file_name(p[5:]) for p in parameters if p.lower().startswith("name=")), "")
    text = value[match.end() :]
    if "base64" in map(str.lower, parameters):
        return match["type"] or "", name, decoded(unquote(text))
    return match["type"] or "", name, limited(unquote_to_bytes(text))


def file_name(encoded: str) -> str:
    """Return a name without its path; "" for one that Django would drop with its file."""
    name = html.unescape(unquote(encoded)).replace("\\", "/").rpartition("/")[2]
    name = "".join(character for character in name if character.isprintable())
    return "" if name.strip() in ("", ".", "..") else name


def decoded(text: str) -> bytes:
    """Return what base64 text holds; line breaks, URL-safe letters and no padding are fine."""
    limit = mcp_settings.MAX_UPLOAD_BYTES
    plain = SPACE.sub("", text).rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) * 3 // 4 > limit:
        raise too_large(len(plain) * 3 // 4)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise not_base64("The file is not base64.") from None


def limited(content: bytes) -> bytes:
    """Return content that is not too large."""
    if len(content) > mcp_settings.MAX_UPLOAD_BYTES:
        raise too_large(len(content))
    return content


def signature(content: bytes) -> str:
    """Return the media type that content shows by how it begins, "" if it shows none."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((name for start, name in SIGNATURES if content.startswith(start)), "")


def default_name(media_type: str, upload: Upload) -> str:
    """Return a name for a file that came without one, its extension one that is taken."""
    known = [extension[1:] for extension in mimetypes.guess_all_extensions(media_type)]
    preferred = (mimetypes.guess_extension(media_type) or "")[1:]
    taken = [extension for extension in known if extension in upload.extensions]
    if not known and len(upload.extensions) == 1:
        taken = list(upload.extensions)
    extension = next(iter(taken), preferred)
    return f"upload.{extension}" if extension else "upload"


def check_type(name: str, media_type: str, upload: Upload) -> None:
    """Raise if a file is not of a type that is taken."""
    extension = PurePosixPath(name).suffix[1:].lower()
    if upload.extensions and extension not in upload.extensions:
        raise wrong_type(extension or media_type, f"one of {', '.join(upload.extensions)}")
    kind = media_type or mimetypes.guess_type(name)[0] or ""
    if upload.image and not kind.startswith("image/"):
        raise wrong_type(extension or media_type, "an image")


def not_base64(message: str) -> UploadRefused:
    """Return the refusal of what is no encoded content."""
    return UploadRefused("invalid", message, "base64 or a data URI", f"{FORM}.")


def too_large(size: int) -> UploadRefused:
    """Return the refusal of content that is too large."""
    limit = mcp_settings.MAX_UPLOAD_BYTES
    return UploadRefused(
        "max_size",
        f"The file has {size} bytes; at most {limit} are taken.",
        f"a file of at most {limit} bytes",
        f"Send a file of at most {limit} bytes.",
    )


def wrong_type(given: str, wanted: str) -> UploadRefused:
    """Return the refusal of content of another type."""
    shown = f"is of type '{given}'" if given else "does not say its type"
    return UploadRefused(
        "invalid_extension",
        f"The file {shown}; its type must be {wanted}.",
        wanted,
        f"Send a file of another type, or name it: {FORM}.",
    )
