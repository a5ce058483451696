"""The page on which users make, list and revoke their own tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from rest_framework.exceptions import APIException

from drf_mcp.browsable.frame import Frame, PagePart
from drf_mcp.browsable.page import SessionPage
from drf_mcp.contrib.tokens.authentication import AgentTokenAuthentication
from drf_mcp.contrib.tokens.forms import OwnTokenForm
from drf_mcp.contrib.tokens.models import AgentToken, find_last_day
from drf_mcp.exposure import Tool, Visibility, registry
from drf_mcp.features import LimitReached, mcp_settings
from drf_mcp.transports.in_process import LocalEndpoint


class TokensPart(PagePart):
    """Leads to the page of tokens, and makes one for a client that is being connected.

    Only where the project serves that page, since not every project lets users make tokens.
    """

    def get_addresses(self) -> Mapping[str, str]:
        url = self._find_url()
        return {url: _("Tokens")} if url else {}

    def get_client_cards(self, authorization: str) -> Sequence[Mapping[str, Any]]:
        url, expires = self._find_url(), find_last_day().isoformat()
        card = {"url": url, "authorization": authorization, "expires": expires}
        is_shown = url and authorization
        return [{"template": "drf_mcp_tokens/connect.html", **card}] if is_shown else []

    def _find_url(self) -> str:
        user = getattr(self.page.request, "user", None)
        if not getattr(user, "is_authenticated", False):
            return ""
        try:
            return reverse("drf_mcp_tokens:tokens")
        except NoReverseMatch:
            return ""


class TokensFrame(Frame):
    template_name = "drf_mcp_tokens/page.html"


class TokensView(SessionPage):
    """Makes, lists and revokes the tokens of the user who is signed in.

    Attributes:
        form_class: the form that makes a token.
    """

    form_class: type[OwnTokenForm] = OwnTokenForm
    frame_class = TokensFrame

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(self._get_form())

    @sensitive_variables("key")
    def post(self, request: HttpRequest) -> HttpResponse:
        if "revoke" in request.POST:
            return self.revoke(request.POST["revoke"])
        form = self._get_form(request.POST)
        wants_json = not request.accepts("text/html")
        key = self.make_token(form) if form.is_valid() else ""
        if not key:
            errors = JsonResponse({"errors": form.errors}, status=400)
            return errors if wants_json else self.show(form)
        if wants_json:
            authorization = f"{AgentTokenAuthentication.keyword} {key}"
            made = JsonResponse({"authorization": authorization}, status=201)
            add_never_cache_headers(made)
            return made
        # Not after a redirect: the key would have to be stored meanwhile.
        return self.show(self._get_form(), form.instance, key)

    @sensitive_variables("key")
    def make_token(self, form: Any) -> str:
        """Return the key of a new token, "" where the user has too many: the form says so."""
        form.instance.user = self.request.user
        key: str = form.instance.issue()
        form.save()
        # Counted afterwards, so that requests at the same time do not pass the bound together.
        if self.get_queryset().count() <= mcp_settings.MAX_TOKENS:
            return key
        form.instance.delete()
        form.add_error(None, str(LimitReached("MAX_TOKENS").detail))
        return ""

    def revoke(self, prefix: str) -> HttpResponse:
        get_object_or_404(self.get_queryset(), prefix=prefix).revoke()
        return HttpResponseRedirect(self.request.path)

    def get_queryset(self) -> Any:
        """Return the tokens that the user may see and revoke."""
        user: Any = self.request.user
        return AgentToken.objects.filter(user=user)

    def _get_form(self, data: Any = None) -> OwnTokenForm:
        return self.form_class(data, tools_of_user=self.tools, label_suffix="")

    @property
    def tools(self) -> Collection[Tool]:
        """The tools that the user sees; none if the endpoint does not let the user in."""
        tools = registry.tools(getattr(self.request, "urlconf", None)).values()
        try:
            return Visibility(LocalEndpoint().make_caller(self.request.user)).of(tools)
        except APIException:
            return []

    @sensitive_variables("key")
    def show(
        self, form: OwnTokenForm, made: AgentToken | None = None, key: str = ""
    ) -> HttpResponse:
        own = [tool for tool in form.tools_of_user if not tool.endpoint.is_built_in]
        rows = []
        for token in self.get_queryset():
            opened = filter(token.narrowing.allows, own)
            rows.append({"token": token, "count": sum(1 for _tool in opened)})
        context = {
            "template": "drf_mcp_tokens/tokens.html",
            "form": form,
            "made": made,
            "key": key,
            "rows": rows,
        }
        return self.show_page(context, 200 if form.is_valid() or not form.is_bound else 400)
