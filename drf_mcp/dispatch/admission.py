"""A call in two halves: the view lets it in now, and a worker makes it later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from rest_framework.response import Response

from drf_mcp.access.likeness import is_bare
from drf_mcp.dispatch.middleware import as_http_would, is_asynchronous
from drf_mcp.dispatch.previews import Previewer
from drf_mcp.dispatch.request import make_unthrottled_view, names_an_object
from drf_mcp.guards.preview import Preview
from drf_mcp.outcomes import Outcome
from drf_mcp.tools.tool import Tool


class Admission(Previewer):
    """Asks the permissions and throttles of a view, and whether it has the object."""

    def find_refusal(self) -> Outcome | None:
        # Of several objects each has its own outcome.
        call = self.pending.call
        found = None if call.many or call.items else self.preview()
        return found if isinstance(found, Outcome) else None

    def make_view(self, match: ResolverMatch) -> Any:
        view = super().make_view(match)
        # This is the call that counts.
        del view.check_throttles
        return view

    def look(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
        if names_an_object(view):
            view.get_object()
        self.found = Preview()
        return Response(status=204)


def get_rerun_callback(tool: Tool, match: ResolverMatch) -> Callable[..., HttpResponseBase] | None:
    """Return what makes a call that was let in before, None where only the route's callback can."""
    callback = tool.endpoint.route.callback
    if is_asynchronous(callback) or not is_bare(callback):
        return None

    def respond(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        view = make_unthrottled_view(tool.endpoint, match)
        for method, action in getattr(view, "action_map", {}).items():
            setattr(view, method, getattr(view, action))
        response: HttpResponseBase = view.dispatch(request, *args, **kwargs)
        return response

    return as_http_would(respond)
