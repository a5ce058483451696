"""The files that wait for a call, and their references."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.core.files import File
from django.core.files.storage import Storage, storages
from django.core.files.uploadedfile import UploadedFile
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _

from drf_mcp.contrib.uploads import PREFIX
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.errors import ArgumentsRefused

FOLDER = "mcp_uploads"
PIECE = 2**16


class TooLarge(Exception):
    """More bytes were sent than a file may have."""


def make_salt(principal: str) -> str:
    # A signature of another caller's salt is none.
    return f"drf_mcp.contrib.uploads/{principal}"


def get_storage() -> Storage:
    return storages[mcp_settings.UPLOAD_STORAGE]


class StoredUpload(UploadedFile):  # type: ignore[type-arg]
    """A stored file, opened whenever it is read."""

    def __init__(self, file: WaitingFile) -> None:
        super().__init__(None, file.name, file.content_type, file.size)
        self.path = file.path

    def read(self) -> bytes:  # type: ignore[override]
        return b"".join(self.chunks())

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        with get_storage().open(self.path) as file:
            yield from file.chunks(chunk_size)


class MeasuredBody(File):  # type: ignore[type-arg]
    """A body that is stored while it is read, in pieces.

    Raises:
        TooLarge: once the body is longer than UPLOAD_MAX_BYTES.
    """

    def __init__(self, body: Any, name: str) -> None:
        super().__init__(body, name)
        self.count = 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        body: Any = self.file
        while piece := body.read(PIECE):
            self.count += len(piece)
            if self.count > mcp_settings.UPLOAD_MAX_BYTES:
                raise TooLarge
            yield piece


@dataclass(frozen=True)
class WaitingFile:
    """A stored file that a caller may name in the arguments of a call.

    Attributes:
        path: where the storage has the file. The name begins with the second of the upload.
        name: the file name that the view gets.
        content_type: the media type that the view gets, "" for one by the name.
        size: bytes.
    """

    path: str
    name: str
    content_type: str
    size: int

    @classmethod
    def store(cls, body: Any, name: str, content_type: str) -> WaitingFile:
        """Store a body, in pieces; a body that is too long leaves nothing behind."""
        path = f"{FOLDER}/{int(time.time())}-{get_random_string(22)}"
        measured, storage = MeasuredBody(body, path), get_storage()
        try:
            stored = storage.save(path, measured)
        except TooLarge:
            storage.delete(path)
            raise
        return cls(stored, name, content_type, measured.count)

    def get_reference(self, principal: str) -> str:
        """Return the text that names the file in arguments of that caller alone."""
        facts = [self.path, self.name, self.content_type, self.size]
        return PREFIX + signing.dumps(facts, salt=make_salt(principal))

    @classmethod
    def find(cls, reference: str, principal: str) -> WaitingFile:
        """Return the file of a reference.

        Raises:
            ArgumentsRefused: if the reference is another caller's, or is no longer taken.
        """
        signed = reference.removeprefix(PREFIX)
        try:
            facts = signing.loads(
                signed, salt=make_salt(principal), max_age=mcp_settings.UPLOAD_SECONDS
            )
        except signing.BadSignature:
            raise cls.refuse() from None
        return cls(*facts)

    def open(self) -> UploadedFile[Any]:
        """Return the file as a view gets one that a form uploads."""
        if not get_storage().exists(self.path):
            raise self.refuse()
        return StoredUpload(self)

    @staticmethod
    def refuse() -> ArgumentsRefused:
        return ArgumentsRefused(
            [
                Problem(
                    "invalid",
                    _("No uploaded file has this reference."),
                    accepted=_("a reference of an upload of the last %(minutes)d minutes")
                    % {"minutes": mcp_settings.UPLOAD_SECONDS // 60},
                    remediation=_("Upload the file again, and send the new reference."),
                )
            ]
        )


def delete_expired() -> int:
    """Delete the files that no call may name any more, and return their number."""
    storage, oldest = get_storage(), time.time() - mcp_settings.UPLOAD_SECONDS
    try:
        names = storage.listdir(FOLDER)[1]
    except FileNotFoundError:
        return 0
    expired = [name for name in names if int(name.partition("-")[0]) < oldest]
    for name in expired:
        storage.delete(f"{FOLDER}/{name}")
    return len(expired)
