"""What the app adds to the page of an endpoint: who may call a tool, and the findings."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice
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
from drf_mcp.features import Example
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.tools import registry
from drf_mcp.tools.arguments.call import PATH
from drf_mcp.tools.tool import Tool

# Decisions that say nothing about other people's rows.
SHOWN_TO_ALL = frozenset({"narrowing", "endpoint", "permission", "throttle"})
ANYBODY = gettext_noop("anybody")
# How many users and rows are tried.
SAMPLE = 20


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


def find_example(tool: Tool, user: Any = None) -> Example:
    """Return a call of a tool by a user or, by default, by the first caller who may make it.

    Rows are only read. Where the database cannot be read, the arguments are of the right kind.
    """
    caller = find_caller(tool) if user is None else ExampleCaller(tool, user)
    arguments = tool.hints.call
    if caller is None:
        return Example(arguments, None)
    if tool.options.input_schema is None:
        arguments = contain(lambda: caller.fill(tool.hints.call), lambda exc: tool.hints.call)
    return Example(arguments, "" if caller.user is None else str(caller.user.get_username()))


def find_caller(tool: Tool) -> ExampleCaller | None:
    """Return the first caller who may call a tool and sees a row for it, else the first who may."""
    rows = get_user_model()._default_manager.order_by("pk")[:SAMPLE]
    users: list[Any] = contain(lambda: list(rows), lambda exc: [])
    first = None
    for user in (None, *users):
        caller = ExampleCaller(tool, user)
        if contain(caller.may_call, lambda exc: False):
            if contain(caller.has_row, lambda exc: False):
                return caller
            first = first or caller
    return first


class ExampleCaller:
    # A user of None is an anonymous caller.

    def __init__(self, tool: Tool, user: Any) -> None:
        self.tool = tool
        self.user = user
        self.trace = PermissionTrace(tool, user)

    def may_call(self) -> bool:
        return self.trace.allows is not False

    def has_row(self) -> bool:
        return not self.tool.endpoint.route.kwargs or self.find_row({}) is not None

    def fill(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        filled = json.loads(json.dumps(arguments))
        for argument in self.tool.arguments.arguments:
            group = filled.get(argument.group, {}) if argument.group else filled
            if argument.name not in group or "examples" in argument.parameter.schema:
                continue
            for place, relation in argument.parameter.handling.relations.items():
                key = self._find_key(relation)
                if key is not None:
                    group[argument.name] = self._put(group[argument.name], place, key)
        self._fill_own_row(filled)
        return filled  # type: ignore[no-any-return]

    def _fill_own_row(self, filled: dict[str, Any]) -> None:
        places = [
            argument for argument in self.tool.arguments.arguments if argument.location == PATH
        ]
        groups = {a.parameter.name: filled.get(a.group, {}) if a.group else filled for a in places}
        kwargs = {a.parameter.name: groups[a.parameter.name].get(a.name) for a in places}
        row, view = self.find_row(kwargs), self.trace.view
        lookup = getattr(view, "lookup_url_kwarg", None) or getattr(view, "lookup_field", None)
        for argument in places:
            if argument.parameter.name == lookup and row is not None:
                value = getattr(row, view.lookup_field)
                value = value if isinstance(value, int) else str(value)
                is_list = argument.json_type == "array"
                groups[lookup][argument.name] = [value] if is_list else value

    def find_row(self, kwargs: Mapping[str, Any]) -> Any:
        trace = self.trace
        trace.view.kwargs = dict(kwargs)
        rows = contain(lambda: trace.view.get_queryset(), lambda exc: None)
        if rows is None:
            return None
        asked = [permission.allows_object for permission in trace.ask_permissions()]
        for row in islice(rows.all(), SAMPLE):
            if all(contain(partial(ask, row), lambda exc: False) for ask in asked):
                return row
        return None

    def _find_key(self, relation: Any) -> Any:
        # A row of the list that the caller sees, else any.
        finder = self.tool.related.by_model.get(relation.model._meta.concrete_model)
        seen = None
        if finder is not None:
            caller = ExampleCaller(registry.tool(finder), self.user)
            seen = contain(lambda: caller.find_row({}), lambda exc: None)
        row = seen or relation.model._default_manager.first()
        key = getattr(row, relation.key, None)
        return key if key is None or isinstance(key, int) else str(key)

    def _put(self, value: Any, place: Place, key: Any) -> Any:
        if not place:
            return key
        if isinstance(value, list) and place[0] == ANY:
            return [self._put(item, place[1:], key) for item in value]
        if isinstance(value, dict) and place[0] in value:
            return {**value, place[0]: self._put(value[place[0]], place[1:], key)}
        return value
