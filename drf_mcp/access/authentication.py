"""The caller: authenticated once, and admitted by the endpoint's permissions.

A view that authenticates as the endpoint does authenticates alone: REST framework sets ``user`` and
``auth`` on the `ToolRequest`, which calls `Caller.admit`. For any other view the endpoint
authenticates by `Caller.authenticate`, and then the view.
"""

from __future__ import annotations

import functools
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Model
from django.http import HttpRequest, QueryDict
from django.utils.encoding import force_str
from django.utils.translation import override
from rest_framework import permissions
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import (
    APIException,
    AuthenticationFailed,
    NotAuthenticated,
    PermissionDenied,
)
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet, ViewSetMixin

from drf_mcp.access.limits import find_holder
from drf_mcp.access.narrowing import SERVER_READS, Narrowing, find_own_narrowings
from drf_mcp.access.resources import BEARER, TOKEN, BearerChallenge, ProtectedResource
from drf_mcp.access.scopes import (
    ScopeDenied,
    describe_scopes,
    find_granted_scopes,
    find_missing_scopes,
    has_scopes,
    is_gone,
    make_caller_key,
)
from drf_mcp.exceptions import Refused, attempt
from drf_mcp.option_types.spelling import join_alternatives
from drf_mcp.settings import mcp_settings

# The methods of a view that run before its permissions.
AUTHENTICATION_STEPS = (
    "setup",
    "dispatch",
    "initial",
    "perform_content_negotiation",
    "determine_version",
    "perform_authentication",
    "get_authenticators",
)
INITIALIZERS = (APIView.initialize_request, ViewSetMixin.initialize_request)


class SampleViewSet(ViewSet):
    # Not `ViewSet` itself: `as_view` sets attributes on the class.
    pass


# The code of the functions that `as_view` returns: a callback with other code has a decorator.
CALLBACKS: Any = (APIView.as_view(), SampleViewSet.as_view({"get": "list"}))
OUTER_CODE = CALLBACKS[0].__code__
INNER_CODES = frozenset(callback.__wrapped__.__code__ for callback in CALLBACKS)


@functools.cache
def has_same_authentication(callback: Callable[..., Any], classes: tuple[type, ...]) -> bool:
    """Return whether a view authenticates with these classes, by REST framework's steps alone."""
    view_class = callback.cls  # type: ignore[attr-defined]
    return (
        find_view_classes(callback, "authentication_classes") == classes
        and is_undecorated(callback)
        and view_class.initialize_request in INITIALIZERS
        and all(getattr(view_class, n) is getattr(APIView, n) for n in AUTHENTICATION_STEPS)
    )


def find_view_classes(callback: Any, name: str) -> tuple[Any, ...] | None:
    """Return the classes in an attribute of a view, None where only an instance has them."""
    own = getattr(callback, "initkwargs", {}).get(name)
    if own is None:
        # Not `getattr`, which would call a property of the view.
        own = next((vars(base)[name] for base in callback.cls.__mro__ if name in vars(base)), None)
    return tuple(own) if isinstance(own, (list, tuple, set, frozenset)) else None


def is_undecorated(callback: Any) -> bool:
    """Return whether a callback is what ``as_view`` returns, without a decorator around it."""
    view = getattr(callback, "__wrapped__", None)
    outer, inner = getattr(callback, "__code__", None), getattr(view, "__code__", None)
    return outer is OUTER_CODE and inner in INNER_CODES


class UnreadBody(BaseParser):
    """Parses nothing: the body is an MCP message, not a form that could hold a CSRF token."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> QueryDict:
        return QueryDict()


# Permissions that read only the user and the method, not the successful authenticator.
USER_PERMISSIONS = frozenset(
    {
        permissions.AllowAny,
        permissions.IsAuthenticated,
        permissions.IsAdminUser,
        permissions.IsAuthenticatedOrReadOnly,
    }
)
OTHER_AUDIENCE = "The access token is for another resource."
USER_GONE = "The user is not active."
NO_USER = (
    "The credential is valid, but belongs to no user, and the endpoint's permissions ask for one: "
    "PERMISSION_CLASSES of DRF_MCP."
)


def resolve_authentication_classes(
    own: Sequence[type[BaseAuthentication]] | None = None,
) -> Sequence[type[BaseAuthentication]]:
    # An empty list is a value.
    for classes in (own, mcp_settings.AUTHENTICATION_CLASSES):
        if classes is not None:
            return classes
    default: Any = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    return default  # type: ignore[no-any-return]


def copy_identity(request: Request, known: Request) -> None:
    # Not by setting ``request.user``, which would also set the user of the caller's request.
    request._user, request._auth = known.user, known.auth  # type: ignore[attr-defined]
    request._authenticator = known.successful_authenticator  # type: ignore[attr-defined]
    request._request.__dict__["user"] = known.user


class Caller:
    """The sender of one HTTP request to the endpoint.

    Attributes:
        attributes: what middleware had set on the request before authentication.
        refusal: the exception of an endpoint that refused the caller within a view.
        admitted: whether the endpoint has let the caller in.
        is_guess: whether the view alone knows which of several classes authenticated the caller.
        view_request: the view's request, where `is_guess`.
        narrowings: what takes tools away; authentication adds the credential's.
        channel: the way to the client while a call runs, None where there is none.

    Args:
        view: the endpoint's view, None for a caller of this process.
        authenticators: of the endpoint, instances or classes.
        permissions: of the endpoint, instances or classes.
    """

    def __init__(
        self,
        request: HttpRequest,
        view: Any,
        authenticators: Sequence[type[BaseAuthentication] | BaseAuthentication],
        permissions: Sequence[Any],
    ) -> None:
        self.request = request
        self.view = view
        self.authenticators = [a() if isinstance(a, type) else a for a in authenticators]
        self.authentication_classes = tuple(map(type, self.authenticators))
        self.permissions = [p() if callable(p) else p for p in permissions]
        self.attributes = dict(vars(request))
        # An exception that is being handled already is not one of authentication.
        self.handled = sys.exc_info()[1]
        self.refusal: APIException | None = None
        self._authenticated: Request | None = None
        self.admitted = False
        self.is_guess = False
        self.view_request: Request | None = None
        reads = mcp_settings.READ_ONLY is True
        self.narrowings: tuple[Narrowing, ...] = (SERVER_READS,) if reads else ()
        self.channel: Any = None

    @property
    def permission_classes(self) -> tuple[Any, ...]:
        return tuple(map(type, self.permissions))

    @property
    def user(self) -> Any:
        return getattr(self.request, "user", None)

    @property
    def successful_authenticator(self) -> BaseAuthentication | None:
        """The authenticator that found the user, None for an anonymous caller."""
        request = self.view_request if self.is_guess else self._authenticated
        return None if request is None else request.successful_authenticator  # type: ignore[return-value]

    @functools.cached_property
    def endpoint(self) -> ProtectedResource | None:
        # None for a caller of this process.
        describe = getattr(self.view, "make_protected_resource", None)
        return describe(self.request.path_info) if describe else None

    @functools.cached_property
    def resource(self) -> ProtectedResource | None:
        # None without OAuth.
        endpoint = self.endpoint
        return endpoint if endpoint and endpoint.authorization_servers else None

    @property
    def principal(self) -> str:
        """A key of the authenticated caller, "" for an anonymous one."""
        known = self.authenticate()
        return make_caller_key(known.user, known.auth, self.request)

    @property
    def holder(self) -> str:
        """Whom bounds count: see `find_holder`."""
        known = self.authenticate()
        return find_holder(known.user, known.auth, self.request)

    def make_scope_error(self, scopes: tuple[str, ...]) -> Refused:
        """Return the error of a call whose token lacks a scope (basic/authorization, "Runtime
        Insufficient Scope Errors")."""
        challenge = _get_scope_challenge(self, scopes)
        data = {"error": "insufficient_scope", "scope": challenge.parameters["scope"]}
        headers = {"WWW-Authenticate": str(challenge)}
        return Refused(403, describe_scopes(scopes), data=data, headers=headers)

    @property
    def bearer(self) -> str | None:
        """The text after ``Bearer``; None for any other credential."""
        scheme, _, token = self.request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    def find_missing_scopes(
        self, view: Any, request: Request, permissions: Sequence[Any]
    ) -> tuple[str, ...]:
        """Return the scopes that a refused request lacks, () where scopes are not the reason."""
        if self.bearer is None or self.resource is None:
            return ()
        return attempt(lambda: find_missing_scopes(view, request, permissions), ())

    def find_lacking_scopes(self, tool: Any) -> tuple[str, ...]:
        """Return the scopes of TOOL_SCOPES that a tool needs, () for a token that has all."""
        patterns = mcp_settings.TOOL_SCOPES.items()
        needed = tuple(scope for scope, chosen in patterns if tool.matches(chosen))
        auth = self.authenticate().auth if needed else None
        # As with SCOPES, a credential without scopes may do what its user may.
        has_all = find_granted_scopes(auth) is None or has_scopes(auth, needed)
        return () if has_all else needed

    def find_narrowing(self, tool: Any) -> Narrowing | None:
        return next((n for n in self.narrowings if not n.allows(tool)), None)

    def authenticate(self) -> Request:
        """Return the authenticated request; the endpoint's permissions are asked, too, once.

        Raises:
            APIException: if the endpoint refuses the caller.
        """
        if self._authenticated is None:
            request = self.drf_request()
            request.user  # noqa: B018 - reading it authenticates
            self._ask_permissions(request, request.auth)
            self._authenticated = request
            self.admitted = True
        return self._authenticated

    def admit(self, user: Any, auth: Any, tool: Any) -> None:
        """Ask the endpoint's permissions about the user whom a view's authentication found.

        The view turns an APIException into a response, so `refusal` keeps it for the endpoint.
        """
        failure = sys.exc_info()[1]
        try:
            if isinstance(failure, APIException) and failure is not self.handled:
                raise failure
            request = self.drf_request()
            known = auth is not None or bool(user and user.is_authenticated)
            request._user, request._auth = user, auth  # type: ignore[attr-defined]
            request._authenticator = self.authenticators[0] if known else None  # type: ignore[attr-defined]
            self.is_guess = len(self.authenticators) > 1
            self._ask_permissions(request, auth)
        except APIException as exc:
            self.refusal = exc
            raise
        self._authenticated = self._authenticated or request
        self.admitted = True
        if self.narrowings and tool is not None and self.find_narrowing(tool):
            # This ends the view; `find_narrowing_refusal` then makes the outcome.
            raise PermissionDenied()

    def renew(self) -> Caller:
        """Return the sender of the same request before authentication, with the same narrowings."""
        request = object.__new__(type(self.request))
        request.__dict__.update(vars(self.request))
        # The user whom middleware set is read anew; the one whom REST framework set is left out.
        user = request.__dict__.pop("user", None) and self.attributes.get("user")
        if isinstance(user, Model):
            row: Any = user._meta.model._base_manager.filter(pk=user.pk).first()
            request.user = row
        caller = Caller(request, self.view, self.authenticators, self.permissions)
        caller.narrowings = self.narrowings
        return caller

    def is_broken_by(self, exc: Exception) -> bool:
        """Return whether authentication or a permission crashed, so that no answer may be sent."""
        steps = (frame.f_code for frame, _ in traceback.walk_tb(exc.__traceback__))
        return not self.admitted and not ADMISSION_CODE.isdisjoint(steps)

    def is_authenticated_by(self, callback: Callable[..., Any]) -> bool:
        """Return whether a view authenticates as the endpoint would, so that the view is enough."""
        return has_same_authentication(callback, self.authentication_classes) and self.is_plain

    @property
    def is_plain(self) -> bool:
        """Whether a view with the endpoint's authentication classes admits the same callers."""
        classes = self.authentication_classes
        if any(map(vars, self.authenticators)):
            # An instance with attributes differs from the one that the view makes of the class.
            return False
        if len(classes) > 1 and not USER_PERMISSIONS.issuperset(self.permission_classes):
            return False
        cookies = self.request.COOKIES
        if not cookies or settings.SESSION_COOKIE_NAME not in cookies:
            return True
        return not any(issubclass(c, SessionAuthentication) for c in classes)

    def drf_request(self) -> Request:
        return Request(self.request, parsers=[UnreadBody()], authenticators=self.authenticators)

    def _ask_permissions(self, request: Request, auth: Any) -> None:
        # Not every authentication class looks at ``is_active``.
        if is_gone(request.user):
            raise AuthenticationFailed(USER_GONE, "user_inactive")
        # RFC 8707: the resource that a token is for. django-oauth-toolkit has this method.
        allows_audience = getattr(auth, "allows_audience", None)
        if allows_audience and self.endpoint and not allows_audience(self.endpoint.uri):
            raise AuthenticationFailed(OTHER_AUDIENCE, "invalid_token")
        if auth is not None and self.bearer is not None:
            scopes = self.view.get_scopes() if self.endpoint else mcp_settings.SCOPES
            if scopes and find_granted_scopes(auth) is not None and not has_scopes(auth, scopes):
                raise ScopeDenied(scopes)
        for permission in self.permissions:
            if permission.has_permission(request, self.view):
                continue
            if self.authenticators and not request.successful_authenticator:
                raise NotAuthenticated()
            if missing := self.find_missing_scopes(self.view, request, self.permissions):
                raise ScopeDenied(missing)
            message = getattr(permission, "message", None)
            known = request.user and request.user.is_authenticated
            if self.authenticators and type(permission) in USER_PERMISSIONS and not known:
                message = NO_USER
            raise PermissionDenied(message, getattr(permission, "code", None))
        if getattr(auth, "narrowing", None) is not None or mcp_settings.READ_ONLY:
            self.narrowings += tuple(find_own_narrowings(request))


# The functions that authenticate the caller and ask the permissions, for `Caller.is_broken_by`.
ADMISSION_CODE = frozenset({Request._authenticate.__code__, Caller.admit.__code__})  # type: ignore[attr-defined]

DEFAULT_CHALLENGE = f'{BEARER} realm="mcp"'
# The scheme of an Authorization header, as far as an error repeats it.
SENT_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,19}")


class AccessError(NamedTuple):
    """How the endpoint answers a caller whom it refuses.

    Attributes:
        status: the HTTP status.
        challenge: the value of WWW-Authenticate, "" where no other credential would help.
        advice: a sentence about an unknown scheme in the Authorization header, else "".
    """

    status: int
    challenge: str
    advice: str = ""


def describe_access_error(caller: Caller, exc: APIException) -> AccessError:
    resource, token = caller.resource, caller.bearer
    if not isinstance(exc, (NotAuthenticated, AuthenticationFailed)):
        challenge = ""
        if isinstance(exc, ScopeDenied) and resource:
            challenge = str(_get_scope_challenge(caller, exc.scopes))
        return AccessError(exc.status_code, challenge)
    request = caller.drf_request()
    challenges = (each.authenticate_header(request) for each in caller.authenticators)
    own = [str(challenge) for challenge in challenges if challenge]

    advice, taken = "", [challenge.split()[0] for challenge in own] + [BEARER] * bool(resource)
    sent = caller.request.META.get("HTTP_AUTHORIZATION", "").partition(" ")[0]
    is_other = SENT_SCHEME.fullmatch(sent) and sent.lower() not in map(str.lower, taken)
    if isinstance(exc, NotAuthenticated) and taken and is_other:
        schemes = join_alternatives(dict.fromkeys(taken))
        advice = f"The Authorization header has to begin with {schemes}, not with {sent}."
    if resource is None:
        return AccessError(401, own[0] if own else DEFAULT_CHALLENGE, advice)

    # RFC 6750, section 3: no error where no token was sent. Section 3.1: 400 for a malformed one.
    is_malformed = token is not None and not TOKEN.fullmatch(token)
    error = {}
    if token is not None:
        error["error"] = "invalid_request" if is_malformed else "invalid_token"
        if isinstance(exc, AuthenticationFailed) and isinstance(exc.detail, str):
            error["error_description"] = force_str(exc.detail)
    bearer = next(filter(None, map(BearerChallenge.parse, own)), BearerChallenge())
    parameters = {**error, **bearer.parameters, **error, **resource.challenge().parameters}
    # Clients of OAuth read only the first challenge.
    others = [own[0]] if own and BearerChallenge.parse(own[0]) is None else []
    challenge = ", ".join([str(BearerChallenge(parameters)), *others])
    return AccessError(400 if is_malformed else 401, challenge, advice)


def _get_scope_challenge(caller: Caller, scopes: tuple[str, ...]) -> BearerChallenge:
    assert caller.resource is not None
    # A header holds ASCII only.
    with override("en"):
        error = {"error": "insufficient_scope", "error_description": describe_scopes(scopes)}
    return BearerChallenge({**error, **caller.resource.challenge(*scopes).parameters})
