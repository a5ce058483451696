"""What the app adds to the page of an endpoint: who may call a tool, and the findings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.permissions import DjangoModelPermissions, DjangoObjectPermissions

from drf_mcp.access.authentication_reuse import lets_all_in
from drf_mcp.browsable.frame import PagePart
from drf_mcp.contrib.operators.lint import Lint
from drf_mcp.contrib.operators.permission_trace import AskedPermission, PermissionTrace, Step
from drf_mcp.exceptions import contain
from drf_mcp.tools.tool import Tool

# Decisions that say nothing about other people's rows.
SHOWN_TO_ALL = frozenset({"narrowing", "endpoint", "permission", "throttle"})
ANYBODY = gettext_noop("anybody")


@dataclass(frozen=True)
class Requirement:
    # The permission class, and the callers that it lets in, in words.
    name: str
    says: str
    # The first line of the docstring of a project's own class.
    about: str = ""
    # The groups with the model permissions that it requires.
    groups: tuple[str, ...] = ()


class ToolAudience:
    """Which callers the permissions of a tool's view let in."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    def requirements(self) -> list[Requirement]:
        trace = PermissionTrace(self.tool, None)
        return [self.describe(asked) for asked in contain(trace.ask_permissions, lambda exc: [])]

    @property
    def words(self) -> str:
        """The requirements in one line."""
        anybody = _(ANYBODY)
        says = (requirement.says for requirement in self.requirements)
        return "; ".join(dict.fromkeys(text for text in says if text != anybody)) or anybody

    def describe(self, asked: AskedPermission) -> Requirement:
        permission = asked.permission
        if lets_all_in(permission):
            return Requirement(asked.name, _(ANYBODY))
        names = contain(lambda: self._find_required(asked), lambda exc: ())
        if names:
            groups = contain(lambda: self._find_groups(names), lambda exc: ())
            both = _("%(first)s and %(last)s")
            held = reduce(lambda first, last: both % {"first": first, "last": last}, names)
            says = _("a user with %(permissions)s") % {"permissions": held}
            return Requirement(asked.name, says, self._describe_class(permission), groups)
        says = asked.find_needs(permission) or asked.name
        return Requirement(asked.name, says, self._describe_class(permission))

    def _describe_class(self, permission: Any) -> str:
        # REST framework's docstrings are for programmers.
        if type(permission).__module__.startswith("rest_framework."):
            return ""
        return (type(permission).__doc__ or "").strip().partition("\n")[0]

    def _find_required(self, asked: AskedPermission) -> tuple[str, ...]:
        permission, method = asked.permission, str(asked.request.method)
        # A permission that asks about the row is described by its own words.
        if not isinstance(permission, DjangoModelPermissions) or (
            isinstance(permission, DjangoObjectPermissions)
            and type(permission).has_permission is not DjangoModelPermissions.has_permission
        ):
            return ()
        model = permission._queryset(asked.view).model
        return tuple(permission.get_required_permissions(method, model))

    def _find_groups(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if not apps.is_installed("django.contrib.auth"):
            return ()
        groups: Any = apps.get_model("auth", "Group").objects.all()
        for name in names:
            label, _, codename = name.partition(".")
            groups = groups.filter(
                permissions__content_type__app_label=label, permissions__codename=codename
            )
        return tuple(groups.order_by("name").values_list("name", flat=True).distinct())


class OperatorsPart(PagePart):
    def get_links(self) -> Mapping[str, str]:
        return {"findings": _("Findings")} if self.page.is_trusted else {}

    def get_page(self, show: str, tools: Mapping[str, Tool]) -> Mapping[str, Any] | None:
        if show not in self.get_links():
            return None
        lint = Lint(tools)
        # Of classes: a template would call one.
        causes = {
            cause.cause: {"name": cause.cause, "title": _(cause.title), "why": _(cause.why)}
            for cause in lint.causes
        }
        grouped = itertools.groupby(lint.findings, key=lambda finding: finding.cause)
        found = [(causes[name], list(findings)) for name, findings in grouped]
        return {"template": "drf_mcp_operators/findings.html", "causes": found}

    def get_cards(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        card: dict[str, Any] = {"template": "drf_mcp_operators/access.html"}
        card["steps"] = self._list_steps(tool)
        if not self.page.is_staff:
            return [card]
        card |= {"staff": True, "requirements": ToolAudience(tool).requirements}
        if asked := self.page.request.GET.get("as", "").strip():
            users: Any = get_user_model()._default_manager
            user = contain(lambda: users.get_by_natural_key(asked), lambda exc: None)
            card["asked"], card["trace"] = asked, user and self._trace(tool, user)
        return [card]

    def get_sections(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        found = Lint.lint_tool(tool) if self.page.is_trusted else []
        template = "drf_mcp_operators/findings_of_tool.html"
        return [{"template": template, "findings": found}] if found else []

    def get_audience(self, tool: Tool) -> str:
        return ToolAudience(tool).words if self.page.is_staff else ""

    def _list_steps(self, tool: Tool) -> list[Step]:
        steps = self._trace(tool, self.page.caller.user if self.page.user_name else None).steps
        if self.page.is_trusted:
            return list(steps)
        return [step for step in steps if step.allows and step.kind in SHOWN_TO_ALL]

    def _trace(self, tool: Tool, user: Any) -> PermissionTrace:
        return PermissionTrace(tool, user, narrowings=self.page.caller.narrowings)
