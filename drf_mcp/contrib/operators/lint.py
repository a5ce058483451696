"""The lint: what could be better about the tools, by root cause, each with place and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from django.core.checks import CheckMessage, Warning
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.operators.source_lines import ArgumentSearch, EndpointLines
from drf_mcp.contrib.operators.tool_costs import CLIENT_LIMITS, ToolCost, measure_tools
from drf_mcp.dispatch.visibility import is_open
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.introspection.source.overrides import asks_who_calls
from drf_mcp.introspection.types import LostFilters
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.tools.descriptions import Docstrings
from drf_mcp.tools.titles import Subject
from drf_mcp.tools.tool import Tool

TOOLS, SETTINGS_PLACE = "{tools}", "DRF_MCP"
# So many names are said of tools that reach outside.
NAMED = 3
# Words of a docstring that models never see.
STOCK = re.compile(r"\b(view ?set|end ?point|automatically|crud|api)\b", re.IGNORECASE)
# Where a step failed: "(.../rest_framework/request.py:428 in __getattr__)".
FAILED_AT = re.compile(r" \((?P<place>[^()]+:\d+) in (?P<subject>[^()]+)\)\Z")
# What a view overrides to show callers different rows.
ROW_HOOKS = ("get_queryset", "get_object")


@dataclass(frozen=True)
class Cause:
    """A kind of root cause: its rank is its place in `Lint.causes`.

    The texts are in English, marked by ``gettext_noop``; a finding has the language of its reader.

    Attributes:
        cause: a short name, as data has it.
        title: the heading of the report.
        why: what it means for an agent, in one sentence.
        sentence: what was found; ``{tools}`` is replaced by the names of the tools.
        remedy: the edit that mends it.
        is_brief: whether the place and its subject say all, where the title is known.
        is_of_view: whether it is mended once for all tools of a view.
    """

    cause: str
    title: str
    why: str
    sentence: str = ""
    remedy: str = ""
    is_brief: bool = True
    is_of_view: bool = True


LOST_ARGUMENTS = Cause(
    "lost-arguments",
    gettext_noop("Arguments that HTTP takes and the tool does not"),
    gettext_noop("An agent cannot send what is no argument."),
    gettext_noop("The code of {tools} computes names of query parameters: %(names)s."),
    gettext_noop('Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.'),
    is_brief=False,
)
NOT_DESCRIBED = Cause(
    "not-described",
    gettext_noop("Parts that could not be described"),
    gettext_noop("The tools work, but agents do not learn what they take or return there."),
    is_brief=False,
)
OPEN_BODY = Cause(
    "open-body",
    gettext_noop("Bodies without a description"),
    gettext_noop("An agent has to guess every field of the body."),
    gettext_noop("The body of {tools} is open: any JSON is taken."),
    gettext_noop("Give the view a serializer_class, or @mcp_tool(input_schema={...})."),
    is_brief=False,
    is_of_view=False,
)
UNGUARDED_WRITE = Cause(
    "unguarded-write",
    gettext_noop("Writes without a permission"),
    gettext_noop("Every client that reaches the endpoint may change data."),
    gettext_noop("{tools} changes data, and its view asks for no permission."),
    gettext_noop("Set permission_classes on the view."),
    is_of_view=False,
)
NO_DESCRIPTION = Cause(
    "no-description",
    gettext_noop("Tools about which nothing was written"),
    gettext_noop("The model reads a sentence made of the name and the model, and nothing else."),
    gettext_noop("Nothing was written about {tools}."),
    gettext_noop("Write a docstring on the class, or on each of its methods."),
)
STOCK_DOCSTRING = Cause(
    "stock-docstring",
    gettext_noop("Docstrings that say nothing of the project"),
    gettext_noop('Models never see words such as "This viewset automatically provides `list`".'),
    gettext_noop(
        "The docstring of the view of {tools} says nothing besides its actions and its model."
    ),
    gettext_noop("Write what the objects are, and when to use the tools."),
)
INHERITED_DESCRIPTION = Cause(
    "inherited-description",
    gettext_noop("Descriptions inherited from another view"),
    gettext_noop("The words are about the parent's objects."),
    gettext_noop("The description of {tools} is inherited from %(base)s."),
    gettext_noop("Write a docstring on the method, or @mcp_tool(description=...)."),
)
NO_HELP_TEXT = Cause(
    "no-help-text",
    gettext_noop("Arguments without a description"),
    gettext_noop("Clients search these words, and models fill arguments in by them."),
    gettext_noop("Argument `{name}` of {tools} has no description."),
)
NO_PAGES = Cause(
    "no-pages",
    gettext_noop("Lists without pages"),
    gettext_noop("Each answer holds every row, and a long one is shortened."),
    gettext_noop("{tools} answers with every row at once."),
    gettext_noop(
        "Set pagination_class on the view, or DEFAULT_PAGINATION_CLASS in REST_FRAMEWORK."
    ),
)
UNCLEAR_FILES = Cause(
    "unclear-files",
    gettext_noop("Arguments that are a text or a file"),
    gettext_noop("Nothing says which of the two the view expects."),
    gettext_noop("{tools} takes %(names)s as a text, or as a file that is a data URI."),
    gettext_noop(
        'Say which: @mcp_tool(body={"%(name)s": {"type": "string"}}), with "format": "binary" '
        "for a file."
    ),
    is_brief=False,
    is_of_view=False,
)
MIXED_TRUST = Cause(
    "foreign-text",
    gettext_noop("Tools that reach outside, together with texts that others wrote"),
    gettext_noop("A text can ask a model to send what it has read."),
    gettext_noop("{tools} reaches beyond this API, and %(readers)s shows what others wrote."),
    gettext_noop("Serve the two at different endpoints, or to different callers."),
    is_brief=False,
)
PASSED_LIMITS = Cause(
    "client-limits",
    gettext_noop("Limits of known clients"),
    gettext_noop("These clients leave tools out, or cut their texts."),
    # Translators: the excess is what the client takes, or cuts.
    gettext_noop("%(client)s %(excess)s."),
    gettext_noop("Expose less: actions=, exclude=, or EXCLUDE in DRF_MCP."),
    is_brief=False,
)


@dataclass(frozen=True)
class LintFinding:
    """What could be better about some tools, where, and how.

    Attributes:
        cause: the kind of root cause, such as ``open-body``.
        place: the project's own line, ``shop/views.py:12``, or ``DRF_MCP`` for the settings.
        subject: the class, field or filter that the line defines.
        sentence: what was found; ``{tools}`` is replaced by the names of the tools.
        remedy: the edit that mends it, to paste.
    """

    cause: str
    place: str
    subject: str
    sentence: str
    remedy: str
    tools: tuple[str, ...]

    @property
    def message(self) -> str:
        return self.sentence.replace(TOOLS, ", ".join(self.tools))

    def as_data(self) -> dict[str, Any]:
        data = {**asdict(self), "message": self.message}
        del data["sentence"]
        return data


class ToolLint:
    """The findings about one tool alone."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint
        self.lines = EndpointLines(tool.endpoint)

    def make(self, cause: Cause, sentence: str = "", **facts: Any) -> LintFinding:
        name = self.endpoint.view_class.__name__
        made = {"place": self.lines.handler, "subject": f"{name}.{self.endpoint.handler_name}"}
        if cause.is_of_view:
            made = {"place": self.lines.view, "subject": name}
        about = {**made, "remedy": _(cause.remedy) if cause.remedy else "", **facts}
        sentence = sentence or _(cause.sentence)
        return LintFinding(cause.cause, sentence=sentence, tools=(self.tool.name,), **about)

    def make_failure(self, cause: Cause, finding: Finding) -> LintFinding:
        message, place = finding.message, self.lines.view
        facts = {"place": place, "subject": self.endpoint.view_class.__name__}
        if failed := FAILED_AT.search(message):
            # The message ends in the place, which the finding has as a field. Of a library's
            # function that many views call one finding says all.
            message = message[: failed.start()]
            facts |= {"place": finding.source} if finding.source else failed.groupdict()
        return self.make(cause, f"{TOOLS}: {message}", remedy=finding.remedy, **facts)

    def find(self) -> Iterator[LintFinding]:
        tool, schema, options = self.tool, self.tool.schema, self.tool.options
        lost = [each for each in tool.findings if isinstance(each, LostFilters)]
        others = [each for each in tool.findings if not isinstance(each, LostFilters)]
        is_described = options.input_schema is not None
        yield from (self.make_failure(LOST_ARGUMENTS, each) for each in lost)
        if schema.computed_query and not (tool.extra_query or is_described or options.query):
            names = {"names": ", ".join(schema.computed_query)}
            yield self.make(LOST_ARGUMENTS, _(LOST_ARGUMENTS.sentence) % names)
        has_open_body = schema.body.kind == "open" and not is_described
        # Where a description failed, the failure says more than that the body is open.
        failed = OPEN_BODY if has_open_body else NOT_DESCRIBED
        yield from (self.make_failure(failed, each) for each in others)
        if has_open_body and not others:
            yield self.make(OPEN_BODY)
        if self.is_unguarded():
            # The project does not edit the views of an installed package.
            leave_out = _("Leave it out with EXCLUDE in DRF_MCP, unless everybody may call it.")
            own = _(UNGUARDED_WRITE.remedy) if self.lines.classes.line else ""
            yield self.make(UNGUARDED_WRITE, remedy=own or leave_out)
        yield from self.find_descriptions()
        search, arguments = ArgumentSearch(tool, self.lines), tool.arguments.arguments
        for argument in () if is_described else arguments:
            if argument.listed and not argument.whole and self.has_no_words(argument):
                sentence = _(NO_HELP_TEXT.sentence).replace("{name}", argument.name)
                yield self.make(NO_HELP_TEXT, sentence, **search.find(argument))
        if self.endpoint.standard_action == "list" and not schema.paginated:
            yield self.make(NO_PAGES)
        unclear = [
            parameter.name
            for parameter in schema.body.fields
            if not all(upload.sure for upload in parameter.handling.uploads.values())
        ]
        if unclear and not is_described:
            sentence = _(UNCLEAR_FILES.sentence) % {"names": ", ".join(unclear)}
            remedy = _(UNCLEAR_FILES.remedy) % {"name": unclear[0]}
            yield self.make(UNCLEAR_FILES, sentence, remedy=remedy)

    def is_unguarded(self) -> bool:
        if self.tool.annotations["readOnlyHint"] or not is_open(self.tool):
            return False
        # Of rows that depend on the caller, a caller without any finds none.
        view_class: type = self.endpoint.view_class
        alike = not any(asks_who_calls(view_class, name) for name in ROW_HOOKS)
        return alike or not self.endpoint.route.kwargs

    def find_descriptions(self) -> Iterator[LintFinding]:
        endpoint, view = self.endpoint, self.tool.view
        annotations = endpoint.find_annotations(view)
        if self.tool.options.description or getattr(annotations, "description", ""):
            return
        view_class, own = endpoint.view_class, endpoint.find_docstring(endpoint.handler)
        about = endpoint.find_docstring(view_class)
        if not own and not about and not getattr(view, "description", None):
            yield self.make(NO_DESCRIPTION)
        # "The orders of a customer" says little as well, but in words of the project.
        if STOCK.search(about):
            nouns = Subject(endpoint, view).nouns
            if not Docstrings(endpoint, view).get_about(nouns):
                yield self.make(STOCK_DOCSTRING)
        if own and endpoint.handler.__name__ not in vars(view_class):
            base = endpoint.handler.__qualname__.rpartition(".")[0]
            if base not in ("", getattr(view_class, "__name__", "")):
                sentence = _(INHERITED_DESCRIPTION.sentence) % {"base": base}
                yield self.make(INHERITED_DESCRIPTION, sentence)

    def has_no_words(self, argument: Argument) -> bool:
        properties = self.tool.input_schema.get("properties", {})
        if argument.group:
            properties = properties.get(argument.group, {}).get("properties", {})
        schema = properties.get(argument.name, {})
        if not isinstance(schema, Mapping) or schema.get("description"):
            return False
        # The package itself leaves words out where the name or the pattern says all.
        parameter = argument.parameter
        is_key = argument.location == PATH and parameter.name.endswith(("pk", "id"))
        if is_key or parameter.role in ("page", "sort"):
            return False
        items = schema.get("items")
        shape = items if isinstance(items, Mapping) else schema
        if "enum" in shape or "pattern" in shape or FieldSchema.of(shape).meaning.finder:
            return False
        # Yes or no to a name is as clear as the name is.
        return schema.get("type") != "boolean"


class Lint:
    """The findings about the project's tools, and what all tools cost.

    Attributes:
        causes: the kinds of root cause, the most important first.
    """

    causes: ClassVar[tuple[Cause, ...]] = (
        LOST_ARGUMENTS,
        NOT_DESCRIBED,
        OPEN_BODY,
        UNGUARDED_WRITE,
        NO_DESCRIPTION,
        STOCK_DOCSTRING,
        INHERITED_DESCRIPTION,
        NO_HELP_TEXT,
        NO_PAGES,
        UNCLEAR_FILES,
        MIXED_TRUST,
        PASSED_LIMITS,
    )

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.all_tools = tools
        self.tools = {n: tool for n, tool in tools.items() if not tool.endpoint.is_built_in}

    @cached_property
    def findings(self) -> list[LintFinding]:
        """The findings by the rank of their cause, then by the number of tools they are about.

        There is one for each root cause, with the tools of all.
        """
        found = [each for tool in self.tools.values() for each in ToolLint(tool).find()]
        joined: dict[LintFinding, dict[str, None]] = {}
        for each in (*found, *self.find_mixed_trust(), *self.find_limits()):
            joined.setdefault(replace(each, tools=()), {}).update(dict.fromkeys(each.tools))
        ranks = [cause.cause for cause in self.causes]
        return sorted(
            (replace(each, tools=tuple(tools)) for each, tools in joined.items()),
            key=lambda f: (ranks.index(f.cause), -len(f.tools), f.place, f.subject),
        )

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
        }

    def find_mixed_trust(self) -> Iterator[LintFinding]:
        readers = [name for name, tool in self.tools.items() if tool.hints.untrusted]
        shown = ", ".join(readers[:NAMED])
        if len(readers) > NAMED:
            shown = _("%(names)s and others") % {"names": shown}
        sentence = _(MIXED_TRUST.sentence) % {"readers": shown}
        for name, tool in self.tools.items() if readers else ():
            if tool.annotations["openWorldHint"]:
                found = ToolLint(tool)
                yield found.make(MIXED_TRUST, sentence, place=found.lines.handler, subject=name)

    def find_limits(self) -> Iterator[LintFinding]:
        for limit in CLIENT_LIMITS:
            for excess in limit.find_excesses(self.all_tools):
                sentence = _(PASSED_LIMITS.sentence) % {"client": limit.client, "excess": excess}
                about = (PASSED_LIMITS.cause, SETTINGS_PLACE, limit.client, sentence)
                yield LintFinding(*about, _(PASSED_LIMITS.remedy), ())

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        tools = self.all_tools
        return {
            "findings": [finding.as_data() for finding in self.findings],
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
