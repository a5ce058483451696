"""The one way to ask a view something on behalf of a caller who did not call it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.exceptions import APIException, MethodNotAllowed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response

from drf_mcp.access.authentication import Caller
from drf_mcp.dispatch.approach import Approach, Look
from drf_mcp.dispatch.middleware import as_http_would
from drf_mcp.dispatch.request import ToolRequest, names_an_object
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.dispatch.shown_rows import (
    ShownRows,
    find_keys,
    get_listed_rows,
    is_stock_list,
)
from drf_mcp.tools.arguments.call import Call

REFUSALS = (APIException, PermissionDenied, Http404)

Found = TypeVar("Found")


class Intercepted(APIException):
    """A response came from middleware or from a step of the view, before the view's handler.

    Args:
        response: the response.
    """

    def __init__(self, response: HttpResponseBase) -> None:
        super().__init__(getattr(response, "data", None))
        self.status_code = response.status_code


class Probe(Approach):
    """Asks the view of a tool on behalf of a caller.

    Nothing that changes data is run.
    """

    @classmethod
    def of(cls, caller: Caller, tool: Any, call: Call) -> Probe:
        """Return the probe of a call, with the request that the call would make."""
        return cls(caller, tool, call.kwargs, call.query_string, call.body, call.content_type)

    # --- Questions ------------------------------------------------------------------------------

    def check_permissions(self) -> None:
        """Ask the view's permissions, but for those of an object.

        Raises:
            APIException, PermissionDenied, Http404: as the view does.
        """
        if self.is_routed:
            self.ask(lambda view, request, *args, **kwargs: None)
        else:
            self.check_permissions_alone()

    def check_permissions_alone(self, prepare: Callable[[Any], object] | None = None) -> None:
        """Ask the view's permissions and run no other step of it: its arguments are not known.

        Args:
            prepare: gets the view before.
        """

        def answer(request: ToolRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            view = self.view
            view.kwargs = kwargs
            view.request = self.identities.make_request(view, request)
            if prepare is not None:
                prepare(view)
            view.check_permissions(view.request)
            return HttpResponse(status=204)

        self.view = self.endpoint.view()
        response = self.respond_alone(answer)
        if response.status_code != 204:
            raise Intercepted(response)

    def get_object(self) -> Any:
        """Return the object that the view finds for the caller; None for a view of none.

        Raises:
            APIException, PermissionDenied, Http404: as the view does.
        """
        return self.ask(
            lambda view, *args, **kwargs: view.get_object() if names_an_object(view) else None
        )

    def ask(self, look: Look[Found]) -> Found:
        """Return what is found in the place of the view's handler.

        Raises:
            APIException, PermissionDenied, Http404: as the view does, or what is called.
        """
        found: list[Found] = []
        raised: list[Exception] = []

        def take(*args: Any, **kwargs: Any) -> Response:
            found.append(look(*args, **kwargs))
            return Response(status=204)

        response = self.respond(self.answer_by(take, raised))
        if found:
            return found[0]
        if raised and isinstance(raised[-1], REFUSALS):
            raise raised[-1]
        raise Intercepted(response)

    def read(self) -> ViewResponse:
        """Return the response of the view's handler, which has to be one of a safe method."""
        with self.undoing():
            request, response = self.run()
            return ViewResponse.read(response, request, self.query_string)

    def run(self) -> tuple[ToolRequest, HttpResponseBase]:
        if self.endpoint.method not in SAFE_METHODS:
            raise MethodNotAllowed(self.endpoint.method)
        callback = self.endpoint.route.callback
        respond = as_http_would(callback) if self.is_decorated else self.answer_by(None)
        request = self.make_request(self.path)
        return request, self.respond(respond, request)

    # --- Rows of a list -------------------------------------------------------------------------

    def find_visible_keys(self, model: type[Model], keys: Collection[Any]) -> set[Any] | None:
        """Return those of some primary keys whose rows the list shows the caller.

        No rows where the list refuses the caller; None where it cannot be said.

        Args:
            model: the model of the keys.
        """

        def find(rows: QuerySet[Any]) -> set[str] | None:
            is_of_model = rows.model._meta.concrete_model is model._meta.concrete_model
            return find_keys(rows, keys) if is_of_model else None

        try:
            found = self.ask_listed_rows(find)
            if found is None:
                shown = self.read_rows()
                found = shown.get_keys(model)
                if found is None or not (shown.is_whole or found.issuperset(map(str, keys))):
                    return None
        except REFUSALS as exc:
            if getattr(exc, "status_code", 403) >= 500:
                raise
            return set()
        return {key for key in keys if str(key) in found}

    def take_rows(self, take: Callable[[QuerySet[Any]], Found]) -> Found | None:
        """Return what is taken of the rows that the list shows the caller, None where it cannot be.

        Of a list with a handler of the project's own, these are the rows of its first page.

        Args:
            take: gets the queryset of the rows, within CALL_MIDDLEWARE.

        Raises:
            APIException, PermissionDenied, Http404: as the list does.
        """
        found = self.ask_listed_rows(take)
        if found is not None:
            return found
        shown = self.read_rows().rows
        if not shown:
            return None
        model = type(shown[0])
        if {type(row) for row in shown} != {model}:
            return None
        rows = model._default_manager.filter(pk__in=[row.pk for row in shown])
        return self.ask_middleware(lambda: take(rows))

    def ask_listed_rows(self, take: Callable[[QuerySet[Any]], Found]) -> Found | None:
        # None where the filtered queryset does not say what the list shows.
        if not is_stock_list(self.endpoint):
            return None

        def look(view: Any, *args: Any, **kwargs: Any) -> Found | None:
            rows = get_listed_rows(view)
            return None if rows is None else take(rows)

        return self.ask(look)

    def read_rows(self) -> ShownRows:
        with self.undoing():
            request, response = self.run()
        if response.status_code >= 300:
            raise Intercepted(response)
        # Of what middleware wrote the rows are not known.
        is_altered = request.passage is not None and request.passage.is_altered(response)
        return ShownRows(None if is_altered else getattr(response, "data", None))
