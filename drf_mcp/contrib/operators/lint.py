"""What could be better about the tools, by root cause, each with the place and the remedy.

And the report of ``mcp_tools findings``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

from drf_mcp.contrib.operators.source_lines import EndpointLines
from drf_mcp.describers import FieldSchema, Finding, LostFilters
from drf_mcp.errors import join_names
from drf_mcp.exposure import PATH, Argument, Tool
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ToolReport
from drf_mcp.naming import Docstrings, Subject

# Words of a docstring that models never see.
STOCK = re.compile(r"\b(view ?set|end ?point|automatically|crud|api)\b", re.IGNORECASE)
# Where a step failed: "(.../rest_framework/request.py:428 in __getattr__)".
FAILED_AT = re.compile(r" \((?P<place>[^()]+:\d+) in (?P<subject>[^()]+)\)\Z")


@dataclass(frozen=True)
class Cause:
    """A kind of root cause.

    Attributes:
        cause: a short name, as data has it.
        title: the heading of the report.
        why: what it means for an agent, in one sentence.
        says: what was found; ``{tools}`` is where the names of the tools go.
        remedy: the edit that mends it.
        is_brief: whether title, place and subject say all.
    """

    cause: str
    title: str
    why: str
    says: str = ""
    remedy: str = ""
    is_brief: bool = True


LOST_ARGUMENTS = Cause(
    "lost-arguments",
    "Arguments that HTTP takes and the tool does not",
    "An agent cannot send what is no argument.",
    "The code of {tools} computes names of query parameters: {names}.",
    'Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.',
    is_brief=False,
)
NOT_DESCRIBED = Cause(
    "not-described",
    "Parts that could not be described",
    "The tools work, but agents do not learn what they take or return there.",
    is_brief=False,
)
OPEN_BODY = Cause(
    "open-body",
    "Bodies without a description",
    "An agent has to guess every field of the body.",
    "The body of {tools} is open: any JSON is taken.",
    "Give the view a serializer_class, or @mcp_tool(input_schema={...}).",
    is_brief=False,
)
UNDECLARED_EFFECT = Cause(
    "undeclared-effect",
    "Actions that may destroy something, for all that is known",
    "Nothing is known of a POST that is no create, so hosts ask a person before each call.",
    "Whether {tools} destroys something is not declared.",
    "Add @mcp_tool(destructive=False) where it only adds or can be taken back, "
    "@mcp_tool(read_only=True) where it only reads, else @mcp_tool(destructive=True).",
)
NO_DESCRIPTION = Cause(
    "no-description",
    "Tools about which nothing was written",
    "The model reads a sentence made of the name and the model, and nothing else.",
    "Nothing was written about {tools}.",
    "Write a docstring on the class, or on each of its methods.",
)
STOCK_DOCSTRING = Cause(
    "stock-docstring",
    "Docstrings that say nothing of the project",
    'Models never see words such as "This viewset automatically provides `list`".',
    "The docstring of the view of {tools} says nothing besides its actions and its model.",
    "Write what the objects are, and when to use the tools.",
)
INHERITED_DESCRIPTION = Cause(
    "inherited-description",
    "Descriptions inherited from another view",
    "The words are about the parent's objects.",
    "The description of {tools} is inherited from {base}.",
    "Write a docstring on the method, or @mcp_tool(description=...).",
)
NO_HELP_TEXT = Cause(
    "no-help-text",
    "Arguments without a description",
    "Clients search these words, and models fill arguments in by them.",
    "Argument `{name}` of {tools} has no description.",
)
NO_PAGES = Cause(
    "no-pages",
    "Lists without pages",
    "Each answer holds every row, and a long one is shortened.",
    "{tools} answers with every row at once.",
    "Set pagination_class on the view, or DEFAULT_PAGINATION_CLASS in REST_FRAMEWORK.",
)
# The most important first.
CAUSES = (
    LOST_ARGUMENTS,
    NOT_DESCRIBED,
    OPEN_BODY,
    UNDECLARED_EFFECT,
    NO_DESCRIPTION,
    STOCK_DOCSTRING,
    INHERITED_DESCRIPTION,
    NO_HELP_TEXT,
    NO_PAGES,
)


@dataclass(frozen=True)
class LintFinding:
    """What could be better about some tools, where, and how.

    Attributes:
        cause: the name of its `Cause`.
        place: the project's own line, ``shop/views.py:12``.
        subject: the class, field or filter that the line defines.
        says: what was found; ``{tools}`` is where the names of the tools go.
        remedy: the edit that mends it, to paste.
    """

    cause: str
    place: str
    subject: str
    says: str
    remedy: str
    tools: tuple[str, ...]

    def write(self, names: str) -> str:
        return self.says.replace("{tools}", names)

    @property
    def message(self) -> str:
        return self.write(", ".join(self.tools))

    def as_data(self) -> dict[str, Any]:
        data = {**asdict(self), "message": self.message}
        del data["says"]
        return data


class ToolLint:
    """The findings about one tool alone."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint
        self.lines = EndpointLines(tool)
        self.is_described = tool.options.input_schema is not None

    def make(self, cause: Cause, facts: Mapping[str, Any] | None = None, **own: Any) -> LintFinding:
        says = cause.says.format(tools="{tools}", **facts or {})
        made = {"place": self.lines.view, "subject": self.endpoint.view_class.__name__}
        made |= {"says": says, "remedy": cause.remedy, **own}
        return LintFinding(cause.cause, tools=(self.tool.name,), **made)

    def find(self) -> Iterator[LintFinding]:
        tool, schema = self.tool, self.tool.schema
        if schema.computed_query and not (
            tool.extra_query or self.is_described or tool.options.query
        ):
            yield self.make(LOST_ARGUMENTS, {"names": ", ".join(schema.computed_query)})
        is_open = schema.body.kind == "open" and not self.is_described
        for failure in tool.findings:
            cause = OPEN_BODY if is_open else NOT_DESCRIBED
            cause = LOST_ARGUMENTS if isinstance(failure, LostFilters) else cause
            yield self._make_failure(cause, failure)
        subject = f"{self.endpoint.view_class.__name__}.{self.endpoint.handler_name}"
        if is_open and not tool.findings:
            yield self.make(OPEN_BODY, place=self.lines.handler, subject=subject)
        is_declared = {tool.options.destructive, tool.options.read_only} != {None}
        is_action = self.endpoint.method == "POST" and tool.annotations["destructiveHint"]
        if is_action and not is_declared:
            yield self.make(UNDECLARED_EFFECT, place=self.lines.handler, subject=subject)
        yield from self._find_descriptions()
        if not self.is_described:
            yield from self._find_arguments()
        if self.endpoint.standard_action == "list" and not schema.paginated:
            yield self.make(NO_PAGES)

    def _make_failure(self, cause: Cause, finding: Finding) -> LintFinding:
        message, own = finding.message, dict[str, Any]()
        if failed := FAILED_AT.search(message):
            # The message ends in the place, which the finding has as a field. A function of a
            # library, which many views call, has one finding.
            message = message[: failed.start()]
            own = {"place": finding.source} if finding.source else failed.groupdict()
        own |= {"says": f"{{tools}}: {message}", "remedy": finding.remedy}
        return self.make(replace(cause, says=""), **own)

    def _find_descriptions(self) -> Iterator[LintFinding]:
        endpoint, view = self.endpoint, self.tool.view
        annotations = endpoint.find_annotations(view)
        if self.tool.options.description or getattr(annotations, "description", ""):
            return
        view_class, own = endpoint.view_class, endpoint.find_docstring(endpoint.handler)
        about = endpoint.find_docstring(view_class)
        if not own and not about and not getattr(view, "description", None):
            yield self.make(NO_DESCRIPTION)
        # "The orders of a customer" says little too, but names objects of the project.
        if STOCK.search(about) and not Docstrings(endpoint, view).read_about(
            Subject(endpoint, view).nouns
        ):
            yield self.make(STOCK_DOCSTRING)
        if own and endpoint.handler.__name__ not in vars(view_class):
            base = endpoint.handler.__qualname__.rpartition(".")[0]
            if base not in ("", getattr(view_class, "__name__", "")):
                yield self.make(INHERITED_DESCRIPTION, {"base": base})

    def _find_arguments(self) -> Iterator[LintFinding]:
        for argument in self.tool.arguments.arguments:
            properties = self.tool.input_schema.get("properties", {})
            if argument.group:
                properties = properties.get(argument.group, {}).get("properties", {})
            schema = properties.get(argument.name, {})
            if not argument.listed or argument.whole or not isinstance(schema, Mapping):
                continue
            if _lacks_words(argument, schema):
                found = self.lines.find_argument(argument)
                yield self.make(NO_HELP_TEXT, {"name": argument.name}, **found)


def _lacks_words(argument: Argument, schema: Mapping[str, Any]) -> bool:
    # The package describes no argument whose name, type, choices or pattern says enough.
    parameter, shape = argument.parameter, schema
    if isinstance(schema.get("items"), Mapping):
        shape = schema["items"]
    return not (
        schema.get("description")
        or (argument.location == PATH and parameter.name.endswith(("pk", "id")))
        or parameter.role in ("page", "sort")
        or {"enum", "pattern"} & shape.keys()
        or FieldSchema.of(shape).meaning.finder
        or schema.get("type") == "boolean"
    )


def find_all(tools: Mapping[str, Tool]) -> list[LintFinding]:
    """Return the findings about tools by the rank of their cause, those about most tools first.

    Tools with one root cause have one finding.
    """
    own = {name: tool for name, tool in tools.items() if not tool.endpoint.is_built_in}
    found = [each for tool in own.values() for each in ToolLint(tool).find()]
    joined: dict[LintFinding, list[LintFinding]] = {}
    for each in found:
        # Code that views inherit is read off each of them, without its own line.
        place = {"place": "", "subject": ""} if each.cause == LOST_ARGUMENTS.cause else {}
        joined.setdefault(replace(each, tools=(), **place), []).append(each)
    ranks = [cause.cause for cause in CAUSES]
    return sorted(
        (
            replace(alike[0], tools=tuple(dict.fromkeys(name for f in alike for name in f.tools)))
            for alike in joined.values()
        ),
        key=lambda f: (ranks.index(f.cause), -len(f.tools), f.place, f.subject),
    )


# How many places of a remedy, and names of tools, the report shows; --json has all.
MAX_ROWS, MAX_NAMES = 8, 2


class FindingsReport(ToolReport):
    help = "findings by root cause, with their remedies"

    def run(
        self, command: Any, options: Mapping[str, Any], screen: Screen, tools: Mapping[str, Tool]
    ) -> Iterable[str]:
        findings = find_all(tools)
        if options["json"]:
            return [command.format_json({"findings": [each.as_data() for each in findings]})]
        return self.list_lines(findings, screen)

    def list_lines(self, findings: Sequence[LintFinding], screen: Screen) -> Iterator[str]:
        known, number = {cause.cause: cause for cause in CAUSES}, 0
        for number, (name, group) in enumerate(groupby(findings, lambda f: f.cause), start=1):
            cause, found = known[name], [*group]
            count = len({finding.place for finding in found})
            heading = f"{number}. {cause.title} ({screen.count_noun(count, 'place')})"
            yield from map(screen.style.MIGRATE_HEADING, screen.wrap(heading))
            yield from screen.wrap(cause.why, 3)
            by_remedy: dict[str, list[LintFinding]] = {}
            for finding in found:
                by_remedy.setdefault(finding.remedy, []).append(finding)
            for remedy, of_remedy in by_remedy.items():
                yield from map(screen.style.SUCCESS, screen.wrap(remedy, 3))
                yield from self._list_places(of_remedy, cause, screen)
            yield ""
        if not findings:
            yield "Nothing to mend."
            return
        places = len({(finding.cause, finding.place) for finding in findings})
        causes = screen.count_noun(number, "cause")
        yield f"{screen.count_noun(places, 'place')} to mend, of {causes}."

    def _list_places(
        self, findings: Sequence[LintFinding], cause: Cause, screen: Screen
    ) -> Iterator[str]:
        by_place: dict[str, list[str]] = {}
        for each in findings:
            names = f" ({len(each.tools)} tools)" if len(each.tools) > 1 else ""
            said = each.write(join_names(each.tools, MAX_NAMES))
            by_place.setdefault(each.place, []).append(
                f"{each.subject}{names}" if cause.is_brief else said
            )
        shown = [*by_place.items()][:MAX_ROWS]
        width = max(len(place) for place, _texts in shown)
        for place, texts in shown:
            text = ", ".join(texts)
            line = f"     {place:<{width}}  {text}"
            if len(line) <= screen.width:
                yield line
            else:
                yield f"     {place}"
                yield from screen.wrap(text, 7)
        if rest := len(by_place) - len(shown):
            yield f"     and {screen.count_noun(rest, 'more place')}"
