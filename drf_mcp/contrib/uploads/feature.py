from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.urls import NoReverseMatch, reverse

from drf_mcp.contrib.uploads import PREFIX
from drf_mcp.features import (
    Bound,
    CallState,
    Feature,
    Guard,
    Kind,
    Number,
    Proceed,
    Setting,
    ToolSource,
    finding_files,
)
from drf_mcp.outcomes import Outcome

STORAGE_ALIAS = Kind(
    "an alias in STORAGES", lambda value: isinstance(value, str) and value in settings.STORAGES
)


class UploadsFeature(Feature):
    settings = {
        # Where uploaded files wait for a call: an alias in STORAGES that serves its files to no
        # one. See docs/files.md.
        "UPLOAD_STORAGE": Setting("default", STORAGE_ALIAS),
        # Bytes of one uploaded file.
        "UPLOAD_MAX_BYTES": Setting(100 * 1024 * 1024, Number()),
        # Seconds for which a call may name an uploaded file.
        "UPLOAD_SECONDS": Setting(3600, Number()),
        # Uploaded files of a caller that wait at once.
        "MAX_UPLOADS": Setting(
            100, Bound("%(most)s uploaded files of yours wait for their calls.")
        ),
        # Bytes of these files together.
        "MAX_UPLOADS_BYTES": Setting(
            500 * 1024 * 1024, Bound("Your uploaded files may have %(most)s bytes together.")
        ),
    }
    expires = {"uploaded_files": "drf_mcp.contrib.uploads.views.delete_expired"}

    tool_source = "drf_mcp.contrib.uploads.feature.UploadsSource"

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        return [FilesGuard()] if call.tool.arguments.uploading else ()


class FilesGuard(Guard):
    """Finds the files that texts among the arguments name, while these are bound."""

    order = 90

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        def find(text: str) -> UploadedFile[Any] | None:
            if not text.startswith(PREFIX):
                return None
            from drf_mcp.contrib.uploads.views import find_file

            return find_file(text, call.caller.principal)

        with finding_files(find):
            return proceed(call)


class UploadsSource(ToolSource):
    def get_hints(self, context: Any, server: Any) -> Sequence[str]:
        try:
            path = reverse("drf_mcp_uploads:upload")
        except NoReverseMatch:
            return ()
        url = context.caller.request.build_absolute_uri(path)
        return [
            f"A file too large for base64: POST its bytes to {url}?name=FILE_NAME with the same "
            "Authorization, and send the reference that comes back as the argument."
        ]
