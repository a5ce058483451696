"""A page next to the endpoint's, for a user who is signed in by a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from django.views.generic import View

from drf_mcp.browsable import wants_page, wants_texts
from drf_mcp.browsable.frame import Frame, ScriptTexts
from drf_mcp.server import Server
from drf_mcp.tools import registry


# Also without Django's CSRF middleware: another page's form must not act for the user.
@method_decorator(csrf_protect, name="dispatch")
class SessionPage(View):
    """Asks who is not signed in to sign in, and shows a page in the frame of the endpoint's."""

    frame_class: ClassVar[type[Frame]] = Frame
    endpoint = "drf_mcp:endpoint"
    http_method_names = ["get", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Only a session: a credential in a header, as agents have, must not act for its user here.
        if SESSION_KEY not in getattr(request, "session", ()) or not request.user.is_authenticated:
            try:
                login_url: str | None = reverse("rest_framework:login")
            except NoReverseMatch:
                login_url = None
            return redirect_to_login(request.get_full_path(), login_url)
        if request.method == "GET" and wants_texts(request):
            return ScriptTexts.respond(request)
        return super().dispatch(request, *args, **kwargs)  # type: ignore[return-value]

    def show_page(self, context: Mapping[str, Any], status: int = 200) -> HttpResponse:
        try:
            home = reverse(self.endpoint)
        except NoReverseMatch:
            home = self.request.path
        frame = self.frame_class(Server(registry), self.request, home)
        shared = {
            **frame.get_server_context(),
            "groups": [] if wants_page(self.request) else None,
            "user_name": self.request.user.get_username(),
        }
        return frame.respond({**shared, **context}, status, True)
