"""The door for files, whose callers are those of the endpoint; the files wait for a call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.core.files import File
from django.core.files.storage import Storage, storages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _
from rest_framework.exceptions import Throttled

from drf_mcp.access.origins import check_origin
from drf_mcp.contrib.uploads import PREFIX
from drf_mcp.exceptions import Refused
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.arguments.uploads import clean_file_name
from drf_mcp.views import MCPView

FOLDER = "mcp_uploads"
PIECE = 2**16
# What a browser or curl sends for a body of no stated type.
UNKNOWN_TYPES = ("", "application/x-www-form-urlencoded", "application/octet-stream")


def make_salt(principal: str) -> str:
    # The reference of one caller is not valid for another.
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
    """A body that is stored while it is read, in pieces, up to UPLOAD_MAX_BYTES."""

    def __init__(self, body: Any, name: str) -> None:
        super().__init__(body, name)
        self.count = 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        body: Any = self.file
        while piece := body.read(PIECE):
            self.count += len(piece)
            if self.count > mcp_settings.UPLOAD_MAX_BYTES:
                text = _("The file is larger than %(limit)d bytes.")
                raise Refused(413, text % {"limit": mcp_settings.UPLOAD_MAX_BYTES})
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
        except Refused:
            storage.delete(path)
            raise
        return cls(stored, name, content_type, measured.count)

    def get_reference(self, principal: str) -> str:
        facts = [self.path, self.name, self.content_type, self.size]
        return PREFIX + signing.dumps(facts, salt=make_salt(principal))

    @classmethod
    def find(cls, reference: str, principal: str) -> WaitingFile:
        signed, age = reference.removeprefix(PREFIX), mcp_settings.UPLOAD_SECONDS
        try:
            return cls(*signing.loads(signed, salt=make_salt(principal), max_age=age))
        except signing.BadSignature:
            raise refuse_reference() from None

    def open(self) -> UploadedFile[Any]:
        if not get_storage().exists(self.path):
            raise refuse_reference()
        return StoredUpload(self)


def refuse_reference() -> ArgumentsRefused:
    accepted = _("a reference of an upload of the last %(minutes)d minutes")
    problem = Problem(
        "invalid",
        _("No uploaded file has this reference."),
        accepted=accepted % {"minutes": mcp_settings.UPLOAD_SECONDS // 60},
        remediation=_("Upload the file again, and send the new reference."),
    )
    return ArgumentsRefused([problem])


def delete_expired() -> int:
    storage, oldest = get_storage(), time.time() - mcp_settings.UPLOAD_SECONDS
    try:
        names = storage.listdir(FOLDER)[1]
    except FileNotFoundError:
        return 0
    expired = [name for name in names if int(name.partition("-")[0]) < oldest]
    for name in expired:
        storage.delete(f"{FOLDER}/{name}")
    return len(expired)


class UploadView(MCPView):
    """Stores the body of a POST, and answers 201 with the reference for the arguments of a call.

    It has the authentication, permissions and throttles of the endpoint. ``?name=`` is the file
    name that the view of the call gets, the header Content-Type its media type.
    """

    http_method_names = ["post", "options"]

    def check_request(self, request: HttpRequest) -> None:
        # Pages of other origins can send such a body without a preflight.
        check_origin(request)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        known = self.caller.authenticate()
        for throttle in self.get_throttles():
            if not throttle.allow_request(known, self):  # type: ignore[arg-type]
                raise Throttled(throttle.wait())
        name = clean_file_name(request.GET.get("name", "")) or "upload"
        kind = "" if request.content_type in UNKNOWN_TYPES else request.content_type or ""
        file = WaitingFile.store(request, name, kind)
        answer = {
            "reference": file.get_reference(self.caller.principal),
            "name": file.name,
            "size": file.size,
            "expires_in": mcp_settings.UPLOAD_SECONDS,
        }
        return JsonResponse(answer, status=201)
