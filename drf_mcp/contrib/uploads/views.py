"""The door for files: the callers of the endpoint send them, and they wait for a call."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.core.files.storage import Storage, storages
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from rest_framework.exceptions import PermissionDenied, Throttled

from drf_mcp.access.origins import check_origin
from drf_mcp.arguments.uploads import clean_file_name
from drf_mcp.contrib.uploads import PREFIX
from drf_mcp.errors import ArgumentsRefused
from drf_mcp.exceptions import Refused
from drf_mcp.exposure import Visibility
from drf_mcp.features import LimitReached, get_rows, mcp_settings
from drf_mcp.outcomes import Problem
from drf_mcp.views import MCPView

FOLDER = "mcp_uploads"
PIECE = 2**16
# What a browser or curl sends for a body of no stated type.
UNKNOWN_TYPES = ("", "application/x-www-form-urlencoded", "application/octet-stream")


def _find_storage() -> Storage:
    return storages[mcp_settings.UPLOAD_STORAGE]


def _stored_files() -> Any:
    return get_rows("drf_mcp_uploads.WaitingFile")


class StoredUpload(UploadedFile):  # type: ignore[type-arg]
    """A stored file, opened whenever it is read."""

    def __init__(self, row: Any) -> None:
        super().__init__(None, row.name, row.content_type, row.size)
        self.path = row.path

    def read(self) -> bytes:  # type: ignore[override]
        return b"".join(self.chunks())

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        with _find_storage().open(self.path) as file:
            yield from file.chunks(chunk_size)


def find_file(reference: str, owner: str) -> StoredUpload:
    """Return the file of a reference.

    Raises:
        ArgumentsRefused: if the owner has no such file, or has it no more.
    """
    known = _stored_files().filter(pk=reference.removeprefix(PREFIX), owner=owner)
    row = known.filter(expires__gt=timezone.now()).first()
    if row is None or not _find_storage().exists(row.path):
        minutes = mcp_settings.UPLOAD_SECONDS // 60
        problem = Problem(
            "invalid",
            "No uploaded file has this reference.",
            accepted=f"a reference of an upload of the last {minutes} minutes",
            remediation="Upload the file again, and send the new reference.",
        )
        raise ArgumentsRefused([problem])
    return StoredUpload(row)


def delete_expired() -> int:
    expired = list(_stored_files().filter(expires__lte=timezone.now()))
    for row in expired:
        _find_storage().delete(row.path)
        row.delete()
    return len(expired)


def check_bounds(holder: str) -> None:
    """Raise `LimitReached` if a holder has more files, or bytes, than one may have."""
    now = timezone.now()
    rows = _stored_files().filter(holder=holder, expires__gt=now)
    held = list(rows.order_by("expires").values_list("size", "expires"))
    size = sum(each for each, _expires in held)
    for name, count in (("MAX_UPLOADS", len(held)), ("MAX_UPLOADS_BYTES", size)):
        if count > getattr(mcp_settings, name):
            raise LimitReached(name, (held[0][1] - now).total_seconds())


class UploadView(MCPView):
    """Stores the body of a POST, and answers 201 with the reference for the arguments of a call.

    It has the authentication, permissions and throttles of the endpoint. ``?name=`` is the file
    name that the view of the call gets, the header Content-Type its media type.
    """

    serves_mcp = False

    http_method_names = ["post", "options"]

    def check_request(self, request: HttpRequest) -> None:
        # Pages of other origins can send such a body without a preflight.
        check_origin(request)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        known = self.caller.authenticate()
        for throttle in self.get_throttles():
            if not throttle.allow_request(known, self):  # type: ignore[arg-type]
                raise Throttled(throttle.wait())
        if not self._sees_file_argument():
            raise PermissionDenied("No tool that you may call takes a file.")
        row = self.store(request, self._read_length(request))
        answer = {
            "reference": f"{PREFIX}{row.pk}",
            "name": row.name,
            "size": row.size,
            "expires_in": mcp_settings.UPLOAD_SECONDS,
        }
        return JsonResponse(answer, status=201)

    def _sees_file_argument(self) -> bool:
        """Return whether tools/list shows the caller a tool that takes a file."""
        server, urlconf = self.server, getattr(self.request, "urlconf", None)
        tools = server.registry.tools(urlconf, server.tool_options)
        offered = server.registry.narrow(tools, self.caller.narrowings).values()
        return Visibility(self.caller).sees_any(t for t in offered if t.arguments.uploading)

    def _read_length(self, request: HttpRequest) -> int:
        """Return the length of the body, which is counted before the body is read."""
        length = request.META.get("CONTENT_LENGTH") or ""
        # A WSGI server may hand a body in chunks on as one without a length.
        if not length.isdecimal() or request.META.get("HTTP_TRANSFER_ENCODING"):
            raise Refused(411, "Send the file with a Content-Length header.")
        limit = mcp_settings.UPLOAD_MAX_BYTES
        if int(length) > limit:
            raise Refused(413, f"The file is larger than {limit:,} bytes.")
        if not int(length):
            raise Refused(400, "The file is empty.")
        return int(length)

    def store(self, request: HttpRequest, length: int) -> Any:
        """Store the body, and return its row; a body that is not stored whole leaves nothing."""
        kind = "" if request.content_type in UNKNOWN_TYPES else request.content_type or ""
        row = _stored_files().create(
            reference=secrets.token_urlsafe(24),
            owner=self.caller.principal,
            holder=self.caller.holder,
            path=f"{FOLDER}/{secrets.token_urlsafe(24)}",
            name=clean_file_name(request.GET.get("name", ""))[-255:] or "upload",
            content_type=kind[:255],
            size=length,
            expires=timezone.now() + timedelta(seconds=mcp_settings.UPLOAD_SECONDS),
        )
        is_stored = False
        try:
            # With its row, so that uploads at the same time count each other.
            check_bounds(row.holder)
            row.path = self.store_body(request, row)
            row.save(update_fields=["path"])
            is_stored = True
        finally:
            if not is_stored:
                _find_storage().delete(row.path)
                row.delete()
        return row

    def store_body(self, request: HttpRequest, row: Any) -> str:
        with TemporaryUploadedFile(row.name, row.content_type, row.size, None) as file:
            try:
                while piece := request.read(PIECE):
                    file.write(piece)
            except OSError as exc:
                raise Refused(400, "The file could not be read.") from exc
            if file.tell() != row.size:
                text = f"{file.tell():,} bytes came in place of {row.size:,}."
                raise Refused(400, text)
            file.seek(0)
            return _find_storage().save(row.path, file)
