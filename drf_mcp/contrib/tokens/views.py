"""The page on which users make, list and revoke their own tokens."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_variables
from django.views.generic import View
from rest_framework.exceptions import APIException

from drf_mcp.browsable.frame import Frame, ScriptTexts
from drf_mcp.contrib.tokens.forms import OwnTokenForm
from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.server import Server
from drf_mcp.tools import Tool, registry
from drf_mcp.transports.local_endpoint import make_local_caller


@dataclass(frozen=True)
class Row:
    token: AgentToken
    # How many of the user's tools it opens.
    count: int


class TokensFrame(Frame):
    template_name = "drf_mcp_tokens/page.html"


# Also without Django's CSRF middleware: another page's form must not make a token.
@method_decorator(csrf_protect, name="dispatch")
class TokensView(View):
    """Makes, lists and revokes the tokens of the user who is signed in.

    Attributes:
        form_class: the form that makes a token.
        endpoint: the name of the endpoint's URL.
    """

    form_class: type[OwnTokenForm] = OwnTokenForm
    endpoint = "drf_mcp:endpoint"
    http_method_names = ["get", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Only a session makes tokens: a credential in a header must not make another credential.
        if SESSION_KEY not in getattr(request, "session", ()) or not request.user.is_authenticated:
            return self.ask_to_sign_in()
        return super().dispatch(request, *args, **kwargs)  # type: ignore[return-value]

    def get(self, request: HttpRequest) -> HttpResponse:
        if ScriptTexts.are_wanted(request):
            return ScriptTexts.respond(request)
        return self.show(self.get_form())

    @sensitive_variables("key")
    def post(self, request: HttpRequest) -> HttpResponse:
        if "revoke" in request.POST:
            return self.revoke(request.POST["revoke"])
        form = self.get_form(request.POST)
        if not form.is_valid():
            return self.show(form)
        form.instance.user = request.user
        key = form.instance.issue()
        form.save()
        # Not after a redirect: the key would have to be stored meanwhile.
        return self.show(self.get_form(), form.instance, key)

    def revoke(self, prefix: str) -> HttpResponse:
        get_object_or_404(self.get_queryset(), prefix=prefix).revoke()
        return HttpResponseRedirect(self.request.path)

    def get_queryset(self) -> Any:
        """Return the tokens that the user may see and revoke."""
        user: Any = self.request.user
        return AgentToken.objects.filter(user=user)

    def get_form(self, data: Any = None) -> OwnTokenForm:
        return self.form_class(data, tools_of_user=self.tools, label_suffix="")

    @property
    def tools(self) -> Collection[Tool]:
        """The tools that the user sees; none if the endpoint does not let the user in."""
        tools = registry.tools(getattr(self.request, "urlconf", None)).values()
        try:
            return Visibility(make_local_caller(self.request.user)).of(tools)
        except APIException:
            return []

    @sensitive_variables("key")
    def show(
        self, form: OwnTokenForm, made: AgentToken | None = None, key: str = ""
    ) -> HttpResponse:
        frame = TokensFrame(Server(registry), self.request, self.get_home())
        context = {
            **frame.get_server_context(),
            "template": "drf_mcp_tokens/tokens.html",
            "groups": [] if Frame.is_wanted(self.request) else None,
            "user_name": self.request.user.get_username(),
            "form": form,
            "made": made,
            "key": key,
            "rows": [self.get_row(token, form.tools_of_user) for token in self.get_queryset()],
        }
        return frame.respond(context, 200 if form.is_valid() or not form.is_bound else 400, True)

    def get_row(self, token: AgentToken, tools: Collection[Tool]) -> Row:
        allows = token.narrowing.allows
        return Row(token, sum(allows(tool) for tool in tools if not tool.endpoint.is_built_in))

    def get_home(self) -> str:
        try:
            return reverse(self.endpoint)
        except NoReverseMatch:
            return self.request.path

    def ask_to_sign_in(self) -> HttpResponse:
        try:
            login_url: str | None = reverse("rest_framework:login")
        except NoReverseMatch:
            login_url = None
        return redirect_to_login(self.request.get_full_path(), login_url)
