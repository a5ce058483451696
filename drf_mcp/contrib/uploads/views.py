"""The door for files: its callers are those of the endpoint."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from rest_framework.exceptions import Throttled

from drf_mcp.access.origins import check_origin
from drf_mcp.contrib.uploads.waiting_files import TooLarge, WaitingFile
from drf_mcp.exceptions import Refused
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.uploads import clean_file_name
from drf_mcp.views import MCPView

# What a browser or curl sends for a body of no stated type.
UNKNOWN_TYPES = ("", "application/x-www-form-urlencoded", "application/octet-stream")


class UploadView(MCPView):
    """Stores the body of a POST, and answers 201 with the reference for the arguments of a call.

    It has the authentication, permissions and throttles of the endpoint. ``?name=`` is the file
    name that the view of the call gets, the header Content-Type its media type.
    """

    http_method_names = ["post", "options"]

    def check_request(self, request: HttpRequest) -> None:
        # A body of any type, which pages of other origins could send too.
        check_origin(request)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        known = self.caller.authenticate()
        for throttle in self.get_throttles():
            if not throttle.allow_request(known, self):  # type: ignore[arg-type]
                raise Throttled(throttle.wait())
        name = clean_file_name(request.GET.get("name", "")) or "upload"
        kind = "" if request.content_type in UNKNOWN_TYPES else request.content_type or ""
        try:
            file = WaitingFile.store(request, name, kind)
        except TooLarge:
            text = _("The file is larger than %(limit)d bytes.")
            raise Refused(413, text % {"limit": mcp_settings.UPLOAD_MAX_BYTES}) from None
        answer = {
            "reference": file.get_reference(self.caller.principal),
            "name": file.name,
            "size": file.size,
            "expires_in": mcp_settings.UPLOAD_SECONDS,
        }
        return JsonResponse(answer, status=201)
