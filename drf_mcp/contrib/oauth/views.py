"""The pages that people see, and the metadata that clients read."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db import transaction
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import TemplateView
from oauth2_provider import views as toolkit
from oauth2_provider.contrib.rest_framework import OAuth2Authentication
from oauth2_provider.exceptions import OAuthToolkitError
from oauth2_provider.models import (
    get_access_token_model,
    get_application_model,
    get_grant_model,
    get_refresh_token_model,
)
from oauth2_provider.scopes import get_scopes_backend
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error
from rest_framework.exceptions import APIException

from drf_mcp.access.resources import FoundEndpoint, PublicDocument
from drf_mcp.contrib.oauth.audiences import (
    find_default_resources,
    find_endpoints_of,
    is_resource,
)
from drf_mcp.contrib.oauth.backends import LOOPBACK
from drf_mcp.contrib.oauth.documents import PERSON, keep_offered_grants
from drf_mcp.exceptions import Refused, attempt
from drf_mcp.exposure import Tool, Visibility
from drf_mcp.features import Caller, RequestContext, mcp_settings

MAX_NAME_LENGTH = 60


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


class ConsentView(AgentPage, toolkit.AuthorizationView):  # type: ignore[misc]
    """Asks the person who signed in whether a client may act for them (OAuth 2.1, section 4.1)."""

    template_name = "drf_mcp/oauth/consent.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            request.META[PERSON] = str(request.user.pk)
        response: HttpResponse = super().dispatch(request, *args, **kwargs)
        return response

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # A program on the person's machine can take the name of a known client, so people are
        # always asked.
        asked = request.GET.copy()
        asked["approval_prompt"] = "force"
        # The person sees the resources of the token.
        if not asked.getlist("resource"):
            asked.setlist("resource", find_default_resources(request))
        request.GET = asked  # type: ignore[assignment]
        response: HttpResponse = super().get(request, *args, **kwargs)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        client_id = form.cleaned_data["client_id"]
        if not get_application_model().objects.filter(client_id=client_id).exists():
            # The client expired meanwhile: its document is read again, and the person asked again.
            return HttpResponseRedirect(self.request.get_full_path())
        response: HttpResponse = super().form_valid(form)
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
        return super().create_authorization_response(request, scopes, credentials, allow)

    def check(self, credentials: dict[str, Any], resources: list[str]) -> None:
        """Send the person back to the client where its request is not valid."""
        # Descriptions are ASCII, for programmers of the client (RFC 6749, section 4.1.2.1).
        error = None
        if credentials.get("code_challenge_method") != "S256":
            error = "invalid_request", "A code_challenge is needed, with the method S256."
        # A client that asks for tokens of another server was misled (RFC 8707, section 2).
        elif not all(is_resource(self.request, resource) for resource in resources):
            error = "invalid_target", "No tokens are given out for this resource."
        if error:
            state = credentials.get("state")
            raise OAuthToolkitError(
                error=CustomOAuth2Error(error=error[0], description=error[1], state=state),
                redirect_uri=credentials["redirect_uri"],
            )

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        asked = self.oauth2_data or self.request.POST
        if application := kwargs.get("application"):
            client = ClientCard(application, asked["redirect_uri"])
            self.form_actions = f"'self' {client.origin}"
            tools = ConsentPreview(
                self.request, kwargs["scopes"], asked.get("resource", "").split()
            )
            named = zip(kwargs["scopes"], kwargs["scopes_descriptions"], strict=True)
            context.update(client=client, tools=tools, named_scopes=list(named))
        return context


class ConnectionsView(AgentPage, LoginRequiredMixin, TemplateView):
    """Shows people which clients act for them, and ends what a client may do for them."""

    template_name = "drf_mcp/oauth/connections.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context, described = (
            super().get_context_data(**kwargs),
            get_scopes_backend().get_all_scopes(),
        )
        connections = []
        for application in self.find_applications():
            own = {"user": self.request.user, "application": application}
            texts = get_access_token_model().objects.filter(**own).values_list("scope", flat=True)
            names = sorted(set(" ".join(texts).split()))
            scopes = [(name, described.get(name, name)) for name in names]
            connections.append({"client": ClientCard(application), "scopes": scopes})
        return {**context, "connections": connections}

    def find_applications(self) -> Any:
        """Return the clients that still have a token, the last one that signed in first."""
        tokens = get_access_token_model().objects.filter(user=self.request.user)
        renewable = get_refresh_token_model().objects.filter(user=self.request.user, revoked=None)
        alive = Q(pk__in=tokens.filter(expires__gt=timezone.now()).values("application"))
        newest = tokens.filter(application=OuterRef("pk")).order_by("-created").values("created")
        found = get_application_model().objects.filter(
            alive | Q(pk__in=renewable.values("application"))
        )
        return found.annotate(last_token=Subquery(newest[:1])).order_by("-last_token", "-pk")

    def post(self, request: HttpRequest) -> HttpResponse:
        pk = request.POST.get("client", "")
        own = {"user": request.user, "application__client_id": pk}
        with transaction.atomic():
            for find_model in (get_refresh_token_model, get_access_token_model, get_grant_model):
                find_model().objects.filter(**own).delete()
        return HttpResponseRedirect(reverse("oauth2_provider:connections"))


@method_decorator(login_not_required, name="dispatch")
class ServerMetadataView(PublicDocument, toolkit.OAuthServerMetadataView):  # type: ignore[misc]
    """Serves the metadata of the issuer (RFC 8414), without authentication, to any origin."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().get(request, *args, **kwargs)
        for name, value in self.headers.items():
            response[name] = value
        return response


class ClientCard:
    """A client as pages show it: its own name, and what is known for certain.

    Args:
        application: the client, as django-oauth-toolkit keeps it.
        redirect_uri: where this sign-in sends the code; by default the first of the client.
    """

    def __init__(self, application: Any, redirect_uri: str = "") -> None:
        self.application = application
        self.redirect_uri = redirect_uri or next(iter(application.redirect_uris.split()), "")

    @cached_property
    def name(self) -> str:
        # Without line breaks and characters that change the direction of the text.
        printable = (c if c.isprintable() else " " for c in self.application.name)
        name = " ".join("".join(printable).split())
        if len(name) > MAX_NAME_LENGTH:
            name = f"{name[:MAX_NAME_LENGTH].rstrip()}…"
        return name or _("A client without a name")

    @property
    def is_known(self) -> bool:
        """Whether the project added the client by hand."""
        source = self.application.registration_source
        return bool(source == self.application.RegistrationSource.MANUAL)

    @property
    def publisher(self) -> str:
        """The host of the document that the client published, "" without a document."""
        application = self.application
        is_document = application.registration_source == application.RegistrationSource.CIMD
        return urlsplit(application.client_id).hostname or "" if is_document else ""

    @property
    def destination(self) -> str:
        """Where the browser takes the code: a host, or the scheme of a program."""
        parts = urlsplit(self.redirect_uri)
        if parts.scheme in ("http", "https"):
            return parts.hostname or ""
        return f"{parts.scheme}:"

    @property
    def is_local(self) -> bool:
        return urlsplit(self.redirect_uri).hostname in LOOPBACK

    @property
    def origin(self) -> str:
        """The origin of the redirect URI, as a Content-Security-Policy names it."""
        parts = urlsplit(self.redirect_uri)
        named = parts.scheme in ("http", "https")
        return f"{parts.scheme}://{parts.netloc}" if named else f"{parts.scheme}:"


class PreviewAuthentication(OAuth2Authentication):  # type: ignore[misc]
    """Authenticates the person who is asked, with the token that the client would get."""

    def __init__(self, user: Any, token: Any) -> None:
        self.user = user
        self.token = token

    def authenticate(self, request: Any) -> tuple[Any, Any]:
        return self.user, self.token


class PreviewVisibility(Visibility):
    """Asks every view on behalf of the token, which is in no database yet."""

    authenticates_once = True

    def is_short_of_scopes(self, view: Any) -> bool:
        # A list shows such tools to clients, which may ask for scopes; this token opens none.
        return False


class ConsentPreview:
    """The tools that a person would open to a client by consenting.

    Args:
        request: the request of the person.
        scopes: the scopes that the client asks for.
        resources: the resources of the token.
    """

    def __init__(self, request: HttpRequest, scopes: Sequence[str], resources: Sequence[str]):
        self.request = request
        self.scopes = scopes
        self.resources = resources

    @cached_property
    def endpoints(self) -> list[FoundEndpoint]:
        return find_endpoints_of(self.request, self.resources)

    @property
    def addresses(self) -> list[str]:
        """The addresses besides endpoints that RESOURCE opens to the token."""
        named = {e.describe(self.request) for e in self.endpoints if e.view.get_resource()}
        return sorted({each.uri for each in named if not each.uri.endswith(each.path)})

    @cached_property
    def tools(self) -> list[Tool]:
        found = {tool.name: tool for endpoint in self.endpoints for tool in self.find(endpoint)}
        return list(found.values())

    def find(self, endpoint: FoundEndpoint) -> Iterator[Tool]:
        view, user, request = endpoint.view, self.request.user, copy.copy(self.request)
        script = request.path.removesuffix(request.path_info)
        request.method = "POST"
        request.path_info, request.path = endpoint.path, f"{script}{endpoint.path}"
        request.META = {**request.META, "HTTP_AUTHORIZATION": "Bearer preview"}
        expires = timezone.now() + timedelta(minutes=1)
        token = get_access_token_model()(user=user, scope=" ".join(self.scopes), expires=expires)
        view.setup(request, *endpoint.args, **endpoint.kwargs)
        caller = Caller(request, view, [PreviewAuthentication(user, token)], view.get_permissions())
        view.caller, server = caller, view.get_server()
        context = RequestContext.of_list(caller)
        try:
            caller.narrowings += tuple(view.find_narrowings())
            offered = server.tools_capability.find_offered_tools(context)
            yield from PreviewVisibility(caller).of(offered.values())
        except (APIException, Refused):
            # The endpoint refuses such a token, or there is no such toolset.
            return

    @property
    def reading(self) -> list[Tool]:
        return [tool for tool in self.tools if tool.annotations["readOnlyHint"]]

    @property
    def changing(self) -> list[Tool]:
        hints = ("readOnlyHint", "destructiveHint")
        return [t for t in self.tools if not any(t.annotations[hint] for hint in hints)]

    @property
    def destroying(self) -> list[Tool]:
        writing = (tool for tool in self.tools if not tool.annotations["readOnlyHint"])
        return [tool for tool in writing if tool.annotations["destructiveHint"]]


@method_decorator(csrf_exempt, name="dispatch")
class OfferedGrants:
    """Registers a client that asks for other grants too, without these (RFC 7591, 3.2.1)."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        def narrow() -> bytes:
            return json.dumps(keep_offered_grants(json.loads(request.body))).encode()

        if request.method in ("POST", "PUT"):
            # Where the body is no object, django-oauth-toolkit refuses it.
            request._body = attempt(narrow, otherwise=lambda exc: request.body)
        response: HttpResponse = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]
        return response


class RegistrationView(OfferedGrants, toolkit.DynamicClientRegistrationView):  # type: ignore[misc]
    """Registers clients, where the project switched that on."""


class RegistrationManagementView(
    OfferedGrants,
    toolkit.DynamicClientRegistrationManagementView,  # type: ignore[misc]
):
    """Shows, changes and deletes the registration of a client, for that client."""
