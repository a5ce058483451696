"""What the app adds to the page of an endpoint: who may call a tool, and the findings."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.utils.translation import gettext as _

from drf_mcp.browsable.frame import PagePart
from drf_mcp.contrib.operators.comparison import compare_users, is_comparable, may_compare
from drf_mcp.contrib.operators.lint import Lint, ToolLint
from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.exceptions import contain
from drf_mcp.tools.tool import Tool

# Decisions that say nothing about other people's rows.
SHOWN_TO_ALL = frozenset({"narrowing", "endpoint", "permission", "throttle"})


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
        def trace(user: Any) -> PermissionTrace:
            return PermissionTrace(tool, user, narrowings=self.page.caller.narrowings)

        steps = list(trace(self.page.caller.user if self.page.user_name else None).steps)
        if not self.page.is_trusted:
            steps = [step for step in steps if step.allows and step.kind in SHOWN_TO_ALL]
        card: dict[str, Any] = {"template": "drf_mcp_operators/access.html", "steps": steps}
        card["staff"] = self.page.is_staff
        if self.page.is_staff and (asked := self.page.request.GET.get("as", "").strip()):
            users: Any = get_user_model()._default_manager
            user = contain(lambda: users.get_by_natural_key(asked), lambda exc: None)
            card |= {"asked": asked, "trace": user and trace(user)}
        return [card]

    def get_sections(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        folder, sections = "drf_mcp_operators", list[Mapping[str, Any]]()
        if may_compare(self.page.caller) and is_comparable(tool):
            sections.append({"template": f"{folder}/comparison.html"})
        if self.page.is_trusted and (found := [*ToolLint(tool).find()]):
            sections.append({"template": f"{folder}/findings_of_tool.html", "findings": found})
        return sections

    def answer(self, show: str) -> HttpResponse | None:
        if show != "comparison":
            return None
        return compare_users(self.page.server, self.page.caller)

    def get_audience(self, tool: Tool) -> str:
        if not self.page.is_staff:
            return ""
        asked = contain(PermissionTrace(tool, None).ask_permissions, lambda exc: [])
        needs = dict.fromkeys(permission.find_audience() for permission in asked)
        return "; ".join(filter(None, needs)) or _("anybody")
