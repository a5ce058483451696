"""The lint: what could be better about the tools, by root cause, each with place and remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from functools import cached_property
from typing import Any, ClassVar

from django.contrib.auth import get_user_model
from django.core.checks import CheckMessage, Warning
from django.db import connections, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.access.authentication import Caller
from drf_mcp.access.authentication_reuse import find_view_classes
from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.operators import argument_rules, rules
from drf_mcp.contrib.operators.rules import SETTINGS_PLACE, Overlap, OverlapSearch, Rule
from drf_mcp.contrib.operators.source_lines import (
    NAMED,
    EndpointLines,
    LintFinding,
    SharedCause,
    join_findings,
)
from drf_mcp.contrib.operators.tool_costs import CLIENT_LIMITS, ToolCost, measure_tools
from drf_mcp.dispatch.visibility import Visibility, classify, find_leaves, get_question
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import locate_view
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool
from drf_mcp.transports.local_endpoint import LocalEndpoint

CONFUSED_TOOLS = SharedCause(
    "confused-tools",
    gettext_noop("Tools that a search confuses"),
    gettext_noop("A search for the words of the first tool finds the second as well."),
    gettext_noop(
        "Name in each description what the other tool does not do, or give one of them another "
        "title: @mcp_tool(title=..., description=...)."
    ),
)
MIXED_TRUST = SharedCause(
    "foreign-text",
    gettext_noop("Tools that reach outside, together with texts that others wrote"),
    gettext_noop("A text can ask a model to send what it has read."),
    gettext_noop("Serve the two at different endpoints, or to different callers."),
    is_brief=False,
)
OUTPUT_SCHEMAS = SharedCause(
    "output-schemas",
    gettext_noop("Output schemas in the list"),
    gettext_noop("Most models never see them, and clients compile each one."),
    gettext_noop('Leave OUTPUT_SCHEMA out of DRF_MCP, or set "OUTPUT_SCHEMA": None.'),
)
PASSED_LIMITS = SharedCause(
    "client-limits",
    gettext_noop("Limits of known clients"),
    gettext_noop("These clients leave tools out, or cut their texts."),
    gettext_noop("Expose less: actions=, exclude=, or EXCLUDE in DRF_MCP."),
    is_brief=False,
)
# Causes of findings about several tools together.
ABOUT_ALL = frozenset({CONFUSED_TOOLS.cause, MIXED_TRUST.cause, PASSED_LIMITS.cause})


class Lint:
    """The findings about the project's tools, and what all tools cost.

    Attributes:
        rule_classes: the kinds of root cause, the most important first.
    """

    rule_classes: ClassVar[tuple[type[Rule], ...]] = (
        rules.LostArguments,
        rules.Undescribable,
        rules.OpenBody,
        rules.UnguardedWrite,
        rules.Undescribed,
        rules.StockDocstring,
        rules.InheritedDescription,
        argument_rules.UnexplainedArguments,
        argument_rules.LargeEnums,
        rules.UnboundedList,
        rules.UnclearFiles,
    )
    # A cause that several tools share ranks after the rules.
    causes: ClassVar[tuple[type[Rule] | SharedCause, ...]] = (
        *rule_classes,
        MIXED_TRUST,
        OUTPUT_SCHEMAS,
        CONFUSED_TOOLS,
        PASSED_LIMITS,
    )

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.all_tools = tools
        self.tools = {n: tool for n, tool in tools.items() if not tool.endpoint.is_built_in}

    @classmethod
    def lint_tool(cls, tool: Tool) -> list[LintFinding]:
        """Return the findings about one tool alone."""
        return [f for rule_class in cls.rule_classes for f in rule_class(tool).find_findings()]

    @cached_property
    def findings(self) -> list[LintFinding]:
        """The findings by the rank of their cause, then by the number of tools they are about."""
        found = [f for tool in self.tools.values() for f in self.lint_tool(tool)]
        found += [
            *self.find_mixed_trust(),
            *self.find_output_schemas(),
            *self.find_confusions(),
            *self.find_limits(),
        ]
        return sorted(join_findings(found), key=self.rank)

    def rank(self, finding: LintFinding) -> tuple[Any, ...]:
        causes = [cause.cause for cause in self.causes]
        return causes.index(finding.cause), -len(finding.tools), finding.place, finding.subject

    @cached_property
    def costs(self) -> list[ToolCost]:
        return measure_tools(self.all_tools)

    @property
    def sums(self) -> dict[str, int]:
        return {
            "tools": len(self.all_tools),
            "tokens": sum(cost.tokens for cost in self.costs),
            "findings": len(self.findings),
            "places": len({(finding.cause, finding.place) for finding in self.findings}),
            "causes": len({finding.cause for finding in self.findings}),
            "saves": sum(finding.saves for finding in self.findings),
        }

    def find_mixed_trust(self) -> Iterator[LintFinding]:
        readers = [name for name, tool in self.tools.items() if tool.untrusted_fields.paths]
        shown = ", ".join(readers[:NAMED])
        if len(readers) > NAMED:
            shown = _("%(names)s and others") % {"names": shown}
        sentence = _("{tools} reaches beyond this API, and %(readers)s shows what others wrote.")
        sentence %= {"readers": shown}
        for name, tool in self.tools.items() if readers else ():
            if tool.annotations["openWorldHint"]:
                place = EndpointLines(tool.endpoint).handler
                yield MIXED_TRUST.make(place, name, sentence, (name,))

    def find_output_schemas(self) -> Iterator[LintFinding]:
        if mcp_settings.OUTPUT_SCHEMA is None:
            return
        sentence = _("The output schemas of {tools} are sent with every list.")
        about = (SETTINGS_PLACE, "OUTPUT_SCHEMA", sentence)
        for cost in self.costs:
            if cost.output:
                yield OUTPUT_SCHEMAS.make(*about, (cost.tool.name,), cost.output)

    @cached_property
    def confusions(self) -> list[Overlap]:
        return list(OverlapSearch(self.tools).find())

    def find_confusions(self) -> Iterator[LintFinding]:
        # One finding for each view: its actions are confused for one reason.
        by_view: dict[type, list[Overlap]] = {}
        for confusion in self.confusions:
            view_class = self.tools[confusion.wanted].endpoint.view_class
            by_view.setdefault(view_class, []).append(confusion)
        for confusions in by_view.values():
            first = confusions[0]
            lines = EndpointLines(self.tools[first.wanted].endpoint)
            sentence = _("A search for %(query)r finds %(found)s as well as %(wanted)s.")
            sentence %= asdict(first)
            names = (name for pair in confusions for name in (pair.wanted, pair.found))
            subject = f"{first.wanted} ~ {first.found}"
            yield CONFUSED_TOOLS.make(lines.view, subject, sentence, tuple(dict.fromkeys(names)))

    def find_limits(self) -> Iterator[LintFinding]:
        for limit in CLIENT_LIMITS:
            for excess in limit.find_excesses(self.all_tools):
                # Translators: the excess is what the client takes, or cuts.
                sentence = _("%(client)s %(excess)s.") % {"client": limit.client, "excess": excess}
                yield PASSED_LIMITS.make(SETTINGS_PLACE, limit.client, sentence)

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        tools = self.all_tools
        return {
            "findings": [finding.as_data() for finding in self.findings],
            "confusions": [asdict(confusion) for confusion in self.confusions],
            "sizes": [cost.as_data() for cost in self.costs],
            "limits": {limit.client: list(limit.find_excesses(tools)) for limit in CLIENT_LIMITS},
            "sums": self.sums,
        }


# Only with --deploy, since nothing is described at startup otherwise.
@register_check(deploy=True)
def check_descriptions(project: Project) -> Iterator[CheckMessage]:
    count = sum(len(tool.findings) for tool in project.tools.values())
    if count:
        yield Warning(
            f"{count} part{'s' if count > 1 else ''} of the tools could not be described.",
            hint="python manage.py mcp_tools findings shows each place and its remedy.",
            id="drf_mcp.W010",
        )


# Only with --deploy, since no database is queried at startup otherwise.
@register_check(deploy=True)
def check_list_costs(project: Project) -> Iterator[CheckMessage]:
    nothing: list[tuple[str, int, int]] = []
    # A database that cannot be reached is found out by others.
    for names, queries, count in contain(lambda: ListCosts(project).find(), lambda exc: nothing):
        yield Warning(
            f"{names} makes {queries} {'query' if queries == 1 else 'queries'} for each of "
            f"{count} tool{'' if count == 1 else 's'}, at every list.",
            hint="If the answer depends on nothing but the user, the credential, the view and the "
            "method, set list_cache = True on the class. See docs/many_tools.md.",
            id="drf_mcp.W031",
        )


class ListCosts:
    """What permissions that are asked at each list cost, found out on behalf of the first user."""

    def __init__(self, project: Project) -> None:
        self.groups: dict[str, list[Tool]] = {}
        for tool in project.tools.values():
            if not get_question(tool).is_kept:
                self.groups.setdefault(self._name_permissions(tool), []).append(tool)

    def _name_permissions(self, tool: Tool) -> str:
        own = find_view_classes(tool.endpoint.route.callback, "permission_classes")
        leaves = find_leaves(own or ())
        names = [locate_view(leaf) for leaf in leaves if not classify(leaf)[0]]
        return " and ".join(names) or f"What {locate_view(tool.endpoint.view_class)} asks"

    def find(self) -> list[tuple[str, int, int]]:
        """Return the names of classes with the queries of a tool, and how many tools there are."""
        user = get_user_model()._default_manager.filter(is_active=True).first()
        if user is None or not self.groups:
            return []
        with transaction.atomic():
            caller = Caller(LocalEndpoint().make_request(user), None, [], [])
            found = [
                (n, self.count(tools[0], caller), len(tools)) for n, tools in self.groups.items()
            ]
            transaction.set_rollback(True)
        return [each for each in found if each[1]]

    def count(self, tool: Tool, caller: Caller) -> int:
        # What the user's object remembers is asked once for all tools.
        Visibility(caller).allows(tool)
        counted: list[str] = []

        def note(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
            counted.append(sql)
            return execute(sql, *arguments)

        with ExitStack() as stack:
            for connection in connections.all():
                stack.enter_context(connection.execute_wrapper(note))
            Visibility(caller).allows(tool)
        return len(counted)
