"""The request that a tool's view sees: the caller's own, for another resource."""

from __future__ import annotations

import io
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils.functional import cached_property
from rest_framework.generics import GenericAPIView
from rest_framework.negotiation import DefaultContentNegotiation

from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.tools.arguments.files_body import FilesBody

# Attributes of the outer request that describe its own method, path, query and body.
OUTER_ONLY = frozenset(
    {
        "GET",
        "POST",
        "FILES",
        "headers",
        "accepted_types",
        "accepted_types_by_precedence",
        "_encoding",
        "_post",
        "_files",
        "_upload_handlers",
        "resolver_match",
    }
)
# Headers that speak of the outer message, of how to send the answer or of a cached copy of it.
OUTER_HEADERS = frozenset(
    {
        "HTTP_ACCEPT_ENCODING",
        # One message may hold several calls.
        "HTTP_IDEMPOTENCY_KEY",
        "HTTP_IF_MATCH",
        "HTTP_IF_NONE_MATCH",
        "HTTP_IF_MODIFIED_SINCE",
        "HTTP_IF_UNMODIFIED_SINCE",
        "HTTP_IF_RANGE",
        "HTTP_RANGE",
        "HTTP_TRANSFER_ENCODING",
        "HTTP_CONTENT_ENCODING",
        "HTTP_CONTENT_DISPOSITION",
        "REQUEST_URI",
        "RAW_URI",
    }
)
ACCEPT = "application/json, */*;q=0.5"


def parse_accept() -> Any:
    # As REST framework's negotiation keeps it for the time of a request; None before 3.18.
    parse = getattr(DefaultContentNegotiation(), "_get_parsed_accept_list", None)
    sample = HttpRequest()
    sample.META["HTTP_ACCEPT"] = ACCEPT
    return parse and tuple(parse(sample))


PARSED_ACCEPT = parse_accept()


def names_an_object(view: Any) -> bool:
    if not isinstance(view, GenericAPIView):
        return False
    has_rows = getattr(view, "queryset", None) is not None or not is_drf_code(
        type(view), "get_queryset"
    )
    return has_rows and (view.lookup_url_kwarg or view.lookup_field) in view.kwargs


def get_named_object(view: Any) -> Any:
    """Return the object that a view's URL names, None for a view of no object."""
    return view.get_object() if names_an_object(view) else None


class ToolRequest(HttpRequest):
    """The request a tool's view sees: the caller's, for another resource.

    It carries everything that middleware put on the request to the endpoint, and
    method, path, query and body of its own. ``is_mcp_request`` is True, ``caller`` the `Caller`.
    """

    is_mcp_request = True
    # The way through CALL_MIDDLEWARE, while it is on it.
    passage: Any = None
    # Whether REST framework's own negotiation reads the Accept header.
    has_standard_negotiation = False

    def __init__(
        self,
        caller: Any,
        method: str,
        path_info: str,
        query_string: str = "",
        body: bytes | FilesBody = b"",
        content_type: str = "",
        call: Any = None,
    ) -> None:
        own = self.__dict__
        own.update({n: v for n, v in caller.attributes.items() if n not in OUTER_ONLY})
        outer = caller.request
        self.caller = caller
        # The `CallState` that the view answers; None where it is asked something else.
        self.mcp_call = call
        self.method = method
        self.path_info = path_info
        self.path = outer.path.removesuffix(outer.path_info) + path_info
        self.COOKIES = outer.COOKIES
        self.resolver_match = None
        self.META = {
            **{name: value for name, value in outer.META.items() if name not in OUTER_HEADERS},
            "REQUEST_METHOD": method,
            "PATH_INFO": path_info,
            "QUERY_STRING": query_string,
            "CONTENT_TYPE": content_type,
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_ACCEPT": ACCEPT,
        }
        if "environ" in own:
            self.environ = self.META
        if type(body) is FilesBody:
            # As from a socket: to be read once.
            own.pop("_body", None)
            self._stream, self._read_started = body.open(), False
        else:
            self._body = body  # type: ignore[assignment]
            self._stream = io.BytesIO(body)  # type: ignore[arg-type]
            self._read_started = True
        if ";" in content_type:
            self._set_content_type_params(self.META)  # type: ignore[attr-defined]
        else:
            self.content_type, self.content_params = content_type, {}

    def _get_scheme(self) -> Any:
        return self.caller.request._get_scheme()

    @property
    def _parsed_accept_list(self) -> list[Any]:
        # Parsing the header for each call anew would be a tenth of what the call costs.
        is_own = self.META.get("HTTP_ACCEPT") is ACCEPT
        if PARSED_ACCEPT is None or not is_own or not self.has_standard_negotiation:
            raise AttributeError("_parsed_accept_list")
        return [*PARSED_ACCEPT]

    @cached_property
    def GET(self) -> QueryDict:  # type: ignore[override]
        return QueryDict(self.META["QUERY_STRING"], encoding=self.encoding)

    @property
    def POST(self) -> Any:
        if "_post" not in self.__dict__:
            self._load_post_and_files()
        return self._post

    @POST.setter
    def POST(self, value: Any) -> None:
        self._post = value

    @property
    def FILES(self) -> Any:  # type: ignore[override]
        if "_files" not in self.__dict__:
            self._load_post_and_files()
        return self._files  # type: ignore[attr-defined]

    @property
    def user(self) -> Any:
        # The session's, until authentication says otherwise.
        try:
            return self.__dict__["user"]
        except KeyError:
            raise AttributeError("user") from None

    @user.setter
    def user(self, value: Any) -> None:
        self.__dict__["user"] = value
        self.caller.request.user = value

    @property
    def auth(self) -> Any:
        try:
            return self.__dict__["auth"]
        except KeyError:
            raise AttributeError("auth") from None

    @auth.setter
    def auth(self, value: Any) -> None:
        # REST framework sets the user first and this second: now both are known.
        self.__dict__["auth"] = value
        self.caller.request.auth = value
        if not self.caller.admitted:
            self.caller.admit(self.user, value, self.mcp_call and self.mcp_call.tool)
