"""The admin site makes tokens for any user, changes and revokes them; it shows a secret once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from drf_mcp.contrib.tokens.forms import AgentTokenForm
from drf_mcp.contrib.tokens.models import KEY, AgentToken


class StateFilter(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("open", _("open")), ("expired", _("expired")), ("revoked", _("revoked"))]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.in_state(self.value()) if self.value() else queryset


def is_superuser(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))


@admin.register(AgentToken)
class AgentTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = AgentTokenForm
    list_display = ("name", "user", "shown_key", "read_only", "expires", "last_used", "revoked")
    list_filter = (StateFilter, "read_only", "last_used")
    list_select_related = ("user",)
    date_hierarchy = "created"
    raw_id_fields = ("user",)
    readonly_fields = ("shown_key", "created", "last_used", "revoked")
    actions = ["revoke"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # The holder of a narrow token of a superuser must not widen it.
        above = obj is not None and obj.user.is_superuser and not is_superuser(request)
        return not above and super().has_change_permission(request, obj)

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        username: str = get_user_model().USERNAME_FIELD
        return ("name", "prefix", f"user__{username}")

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> Any:
        # A whole token may be searched for, or its beginning.
        found = KEY.match(f"{search_term.strip()}_")
        term = found["prefix"] if found else search_term
        return super().get_search_results(request, queryset, term)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # With another user, the holder of the token would act for that user.
        return self.readonly_fields if obj is None else ("user", *self.readonly_fields)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        own = AgentTokenForm.Meta.fields
        return own if obj is None else (*own, *self.readonly_fields)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form_class: Any = super().get_form(request, obj, change, **kwargs)

        class Form(form_class):  # type: ignore[misc]
            def clean_user(self) -> Any:
                user = self.cleaned_data["user"]
                if user.is_superuser and not is_superuser(request):
                    message = _("Only a superuser makes tokens for a superuser.")
                    raise ValidationError(message, "superuser")
                return user

        return Form

    @sensitive_variables("key")
    def save_model(self, request: HttpRequest, obj: AgentToken, form: Any, change: bool) -> None:
        if not change:
            # For `response_add`.
            request.agent_token_key = obj.issue()  # type: ignore[attr-defined]
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: AgentToken, post_url_continue: Any = None
    ) -> HttpResponse:
        # Not by a message or after a redirect: the key would have to be stored meanwhile.
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("The token of %(name)s") % {"name": obj.name},
            "opts": self.opts,
            "token": obj,
            "key": request.agent_token_key,  # type: ignore[attr-defined]
        }
        # The admin site lets no cache keep any of its pages.
        return TemplateResponse(request, "drf_mcp_tokens/admin_made.html", context)

    @admin.display(description=_("token"), ordering="prefix")
    def shown_key(self, token: AgentToken) -> str:
        return f"{token.shown_key}_…"

    @admin.action(description=_("Revoke selected tokens"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: Any) -> None:
        tokens = list(queryset.in_state("open"))
        for token in tokens:
            token.revoke()
            self.log_change(request, token, gettext("Revoked."))
        count = len(tokens)
        words = ngettext("%(count)d token was revoked.", "%(count)d tokens were revoked.", count)
        self.message_user(request, words % {"count": count})
