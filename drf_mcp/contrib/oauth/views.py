"""The pages that people see, and the metadata that clients read."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db import DataError, transaction
from django.db.models import Q
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    JsonResponse,
    QueryDict,
)
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic import TemplateView
from oauth2_provider import views as toolkit
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.forms import AllowForm
from oauth2_provider.models import get_access_token_model as get_token_model
from oauth2_provider.models import get_grant_model, get_refresh_token_model
from oauth2_provider.scopes import get_scopes_backend
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error, InvalidGrantError
from rest_framework.exceptions import APIException

from drf_mcp.access.resources import FoundEndpoint, PublicDocument
from drf_mcp.browsable import is_page_on
from drf_mcp.browsable.frame import PagePart
from drf_mcp.contrib.oauth.audiences import find_default_resources, find_endpoints_of, find_resource
from drf_mcp.contrib.oauth.backends import READ_ONLY, end_family
from drf_mcp.contrib.oauth.documents import JWT_BEARER, LOOPBACK, PERSON, choose_offered
from drf_mcp.exceptions import Refused
from drf_mcp.exposure import Tool, Visibility
from drf_mcp.features import Caller, RequestContext, mcp_settings

MAX_NAME_LENGTH = 60
# The profile of assertions in the metadata.
ID_JAG = "urn:ietf:params:oauth:grant-profile:id-jag"


class AgentPage:
    """Pages with the name of the project and headers against framing and caching."""

    form_actions = "'self'"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)  # type: ignore[misc]
        title = mcp_settings.SERVER_TITLE or mcp_settings.SERVER_NAME
        return {**context, "server_title": title}

    def render_to_response(self, context: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().render_to_response(context, **kwargs)  # type: ignore[misc]
        response["Content-Security-Policy"] = (
            f"default-src 'none'; style-src 'self' https:; img-src 'self' https: data:; "
            f"form-action {self.form_actions}; frame-ancestors 'none'; base-uri 'none'"
        )
        response["X-Frame-Options"] = "DENY"
        # Not "no-referrer": then a browser does not name the origin of the form, and Django's
        # protection against CSRF refuses it.
        response["Referrer-Policy"] = "same-origin"
        add_never_cache_headers(response)
        return response


def refuses_unstorable(method: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Answer what no client sends and a database cannot store: NUL, or half of a character."""

    @functools.wraps(method)
    def answer(view: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return method(view, request, *args, **kwargs)
        except (DataError, UnicodeEncodeError):
            return JsonResponse({"error": "invalid_request"}, status=400)

    return answer


class ConsentForm(AllowForm):  # type: ignore[misc]
    read_only = forms.BooleanField(required=False, label=gettext_lazy("Read only"))


class ConsentView(AgentPage, toolkit.AuthorizationView):  # type: ignore[misc]
    """Asks the person who signed in whether a client may act for them (OAuth 2.1, section 4.1)."""

    template_name = "drf_mcp/oauth/consent.html"
    form_class = ConsentForm

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            request.META[PERSON] = str(request.user.pk)
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response

    @refuses_unstorable
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = QueryDict(mutable=True)
        for name, values in request.GET.lists():
            # RFC 6749, section 3.1: a parameter without a value counts as left out.
            if sent := list(filter(None, values)):
                asked.setlist(name, sent)
        # The person sees the resources of the token.
        named = [find_resource(request, each) or each for each in asked.getlist("resource")]
        asked.setlist("resource", named or find_default_resources(request))
        # A program on the person's machine can take the name of a known client, so people are
        # always asked.
        asked["approval_prompt"] = "force"
        request.GET, request.META["QUERY_STRING"] = asked, asked.urlencode()  # type: ignore[assignment]
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response

    def validate_authorization_request(self, request: HttpRequest) -> Any:
        scopes, credentials = super().validate_authorization_request(request)
        self.check(credentials, request.GET.getlist("resource"))
        return scopes, credentials

    def create_authorization_response(
        self, request: HttpRequest, scopes: Any, credentials: dict[str, Any], allow: bool
    ) -> Any:
        # Fields of the form can be changed, and left out.
        credentials["resource"] = credentials.get("resource") or find_default_resources(request)
        self.check(credentials, credentials["resource"])
        if "read_only" in request.POST:
            scopes, credentials["reads_only"] = f"{scopes} {READ_ONLY}", True
        return super().create_authorization_response(request, scopes, credentials, allow)

    def check(self, credentials: dict[str, Any], resources: list[str]) -> None:
        # A client that asks for tokens of another server was misled (RFC 8707, section 2).
        if not all(find_resource(self.request, resource) for resource in resources):
            text = "No tokens are given out for this resource."
            state = credentials.get("state")
            error = CustomOAuth2Error(error="invalid_target", description=text, state=state)
            raise OAuthToolkitError(error=error, redirect_uri=credentials["redirect_uri"])

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        asked = self.oauth2_data or self.request.POST
        if application := kwargs.get("application"):
            client = ClientCard(application, asked["redirect_uri"])
            self.form_actions = f"'self' {client.origin}"
            endpoints = find_endpoints_of(self.request, asked.get("resource", "").split())
            tools = list(find_opened_tools(self.request, endpoints, kwargs["scopes"]))
            named = [e.describe(self.request) for e in endpoints if e.view.get_resource()]
            # The addresses besides endpoints that RESOURCE opens to the token.
            addresses = sorted({each.uri for each in named if not each.uri.endswith(each.path)})
            scopes = zip(kwargs["scopes"], kwargs["scopes_descriptions"], strict=True)
            context |= {"client": client, "named_scopes": list(scopes), "addresses": addresses}
            context |= {"tools": tools, "kinds": sort_by_kind(tools)}
        return context


class ConnectionsPart(PagePart):
    """Leads to the clients that act for the user of the page."""

    def get_addresses(self) -> Mapping[str, str]:
        if not getattr(getattr(self.page.request, "user", None), "is_authenticated", False):
            return {}
        try:
            return {reverse("oauth2_provider:connections"): _("Connections")}
        except NoReverseMatch:
            return {}


class ConnectionsView(AgentPage, LoginRequiredMixin, TemplateView):
    """Shows people which clients act for them, and ends what a client may do for them."""

    template_name = "drf_mcp/oauth/connections.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        described, cards = get_scopes_backend().get_all_scopes(), dict[Any, ClientCard]()
        renewable = Q(refresh_token__isnull=False, refresh_token__revoked=None)
        alive = Q(expires__gt=timezone.now()) | renewable
        tokens = get_token_model().objects.filter(alive, user=self.request.user)
        for token in tokens.select_related("application").order_by("created", "pk"):
            is_registration = oauth2_settings.DCR_REGISTRATION_SCOPE in token.scope.split()
            if token.application is not None and not is_registration:
                # The newest token of a client is the last in its row.
                card = cards.pop(token.application_id, None) or ClientCard(token.application)
                card.scopes |= {name: described.get(name, name) for name in token.scope.split()}
                card.is_read_only &= READ_ONLY in token.scope.split()
                card.scopes.pop(READ_ONLY, None)
                card.last_token, cards[token.application_id] = token.created, card
        clients, home = [*reversed(cards.values())], ""
        if is_page_on():
            with suppress(NoReverseMatch):
                home = reverse("drf_mcp:endpoint")
        return super().get_context_data(clients=clients, home=home, **kwargs)

    def post(self, request: HttpRequest) -> HttpResponse:
        client_id = request.POST.get("client", "")
        own = {"user": request.user, "application__client_id": client_id}
        with transaction.atomic():
            for find_model in (get_refresh_token_model, get_token_model, get_grant_model):
                find_model().objects.filter(**own).delete()
        return HttpResponseRedirect(reverse("oauth2_provider:connections"))


class TokenRequestView(toolkit.TokenView):  # type: ignore[misc]
    """Gives tokens; where other requests with the same code or token were faster, none."""

    @refuses_unstorable
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().post(request, *args, **kwargs)
        except (get_grant_model().DoesNotExist, get_token_model().DoesNotExist):
            # Another request has spent the code meanwhile, or ended the connection.
            end_family(request.POST.get("code", ""))
            content = InvalidGrantError().json
            response = HttpResponse(content, content_type="application/json", status=400)
        return response


class RevocationView(toolkit.RevokeTokenView):  # type: ignore[misc]
    post = refuses_unstorable(toolkit.RevokeTokenView.post)


@method_decorator(login_not_required, name="dispatch")
class ServerMetadataView(PublicDocument, toolkit.OAuthServerMetadataView):  # type: ignore[misc]
    """Serves the metadata of the issuer (RFC 8414), without authentication, to any origin."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().get(request, *args, **kwargs)
        if mcp_settings.IDENTITY_PROVIDERS:
            document = json.loads(response.content)
            document["grant_types_supported"].append(JWT_BEARER)
            document["authorization_grant_profiles_supported"] = [ID_JAG]
            response.content = json.dumps(document).encode()
        return response


class ClientCard:
    """A client as pages show it: its own name, and what is known for certain.

    Args:
        redirect_uri: where this sign-in sends the code; by default the first of the client.
    """

    def __init__(self, application: Any, redirect_uri: str = "") -> None:
        self.application, source = application, application.registration_source
        first = next(iter(application.redirect_uris.split()), "")
        self.address = urlsplit(redirect_uri or first)
        is_document = source == application.RegistrationSource.CIMD
        # The host of the document that the client published.
        self.publisher = urlsplit(application.client_id).hostname if is_document else ""
        # Whether the project added the client by hand.
        self.is_known = source == application.RegistrationSource.MANUAL
        self.is_local = self.address.hostname in LOOPBACK
        # Descriptions of the scopes of its tokens by name, and when it got the last one.
        self.scopes: dict[str, str] = {}
        # Whether all of its tokens only read.
        self.is_read_only = True
        self.last_token: datetime | None = None

    @cached_property
    def name(self) -> str:
        # Without line breaks and characters that change the direction of the text.
        printable = (c if c.isprintable() else " " for c in self.application.name)
        name = " ".join("".join(printable).split())
        if len(name) > MAX_NAME_LENGTH:
            name = f"{name[:MAX_NAME_LENGTH].rstrip()}…"
        return name or _("A client without a name")

    @property
    def destination(self) -> str:
        """Where the browser takes the code: a host, or the scheme of a program."""
        return self.address.hostname or "" if self._is_web else f"{self.address.scheme}:"

    @property
    def origin(self) -> str:
        """The origin of the redirect URI, as a Content-Security-Policy names it."""
        return f"{self.address.scheme}:" + (f"//{self.address.netloc}" if self._is_web else "")

    @property
    def _is_web(self) -> bool:
        return self.address.scheme in ("http", "https")


class PreviewAuthentication(OAuth2Authentication):  # type: ignore[misc]
    """Authenticates the person who is asked, with the token that the client would get."""

    def __init__(self, token: Any) -> None:
        self.token = token

    def authenticate(self, request: Any) -> tuple[Any, Any]:
        return self.token.user, self.token


class PreviewVisibility(Visibility):
    """Asks every view on behalf of the token, which is in no database yet."""

    authenticates_once = True

    def is_short_of_scopes(self, view: Any) -> bool:
        # A list shows such tools to clients, which may ask for scopes; this token opens none.
        return False


def find_opened_tools(
    request: HttpRequest, endpoints: Iterable[FoundEndpoint], scopes: Sequence[str]
) -> Iterator[Tool]:
    """Yield the tools that a person would open to a client by consenting."""
    seen: set[str] = set()
    script = request.path.removesuffix(request.path_info)
    expires = timezone.now() + timedelta(minutes=1)
    token = get_token_model()(user=request.user, scope=" ".join(scopes), expires=expires)
    for endpoint in endpoints:
        view, asked = endpoint.view, copy.copy(request)
        asked.method = "POST"
        asked.path_info, asked.path = endpoint.path, f"{script}{endpoint.path}"
        asked.META = {**request.META, "HTTP_AUTHORIZATION": "Bearer preview"}
        view.setup(asked, *endpoint.args, **endpoint.kwargs)
        caller = Caller(asked, view, [PreviewAuthentication(token)], view.get_permissions())
        view.caller, server = caller, view.get_server()
        # The endpoint may refuse such a token, or there is no such toolset.
        with suppress(APIException, Refused):
            caller.narrowings += tuple(view.find_narrowings())
            offered = server.tools_capability.find_offered_tools(RequestContext.of_list(caller))
            found = [*PreviewVisibility(caller).of(offered.values())]
            yield from (tool for tool in found if tool.name not in seen)
            seen.update(tool.name for tool in found)


def sort_by_kind(tools: Iterable[Tool]) -> list[tuple[str, list[Tool]]]:
    found: dict[str, list[Tool]] = {"reading": [], "changing": [], "destroying": []}
    for tool in tools:
        kind = "destroying" if tool.annotations["destructiveHint"] else "changing"
        found["reading" if tool.annotations["readOnlyHint"] else kind].append(tool)
    return list(found.items())


class RegistrationView(toolkit.DynamicClientRegistrationView):  # type: ignore[misc]
    """Registers clients without what they are not offered (RFC 7591, section 3.2.1)."""

    @refuses_unstorable
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        methods = oauth2_settings.OAUTH2_TOKEN_ENDPOINT_AUTH_METHODS_SUPPORTED
        try:
            sent = json.dumps(choose_offered(json.loads(request.body), methods))
        except (ValueError, AttributeError, RecursionError):
            # django-oauth-toolkit refuses it.
            sent = ""
        request._body = sent.encode()
        response: HttpResponse = super().post(request, *args, **kwargs)
        made = json.loads(response.content)
        if "client_secret" in made:
            # It has to be said that the secret does not end.
            response.content = json.dumps({**made, "client_secret_expires_at": 0}).encode()
        return response
