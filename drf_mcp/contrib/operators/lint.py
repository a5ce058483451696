"""The lint: what could be better about the tools, by root cause, each with place and remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from rest_framework.generics import GenericAPIView

from drf_mcp.contrib.operators.source_lines import ArgumentSearch, EndpointLines
from drf_mcp.contrib.operators.tool_costs import (
    CLIENT_LIMITS,
    ToolCost,
    find_overlaps,
    measure_tools,
)
from drf_mcp.dispatch.visibility import is_open
from drf_mcp.introspection.field_schema import FieldSchema
from drf_mcp.introspection.findings import Finding
from drf_mcp.introspection.source.members import asks_who_calls, unwrap_function
from drf_mcp.introspection.types import LostFilters, find_uploads
from drf_mcp.json_text import encode_plain
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.tools.descriptions import Docstrings, Subject
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation.tokens import estimate_tokens

TOOLS, SETTINGS_PLACE = "{tools}", "DRF_MCP"
# An enumeration of so many bytes costs more than it explains; the tokens of the words instead.
LARGE_ENUM_BYTES, WORDS = 1000, 20
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
    "Arguments that HTTP takes and the tool does not",
    "An agent cannot send what is no argument.",
    "The code of {tools} computes names of query parameters: %(names)s.",
    'Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.',
    is_brief=False,
)
OWN_PAGES = "{tools} answers in pages, and takes no argument for the next one."
DECLARE_PAGES = 'Declare it: @mcp_tool(query={"page": {"type": "integer"}}).'
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
    is_of_view=False,
)
UNGUARDED_WRITE = Cause(
    "unguarded-write",
    "Writes without a permission",
    "Every client that reaches the endpoint may change data.",
    "{tools} changes data, and its view asks for no permission.",
    "Set permission_classes on the view.",
    is_of_view=False,
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
    "The description of {tools} is inherited from %(base)s.",
    "Write a docstring on the method, or @mcp_tool(description=...).",
)
NO_HELP_TEXT = Cause(
    "no-help-text",
    "Arguments without a description",
    "Clients search these words, and models fill arguments in by them.",
    "Argument `{name}` of {tools} has no description.",
)
LARGE_ENUM = Cause(
    "large-enum",
    "Enumerations of more than a thousand bytes",
    "Each list of tools carries all of the values.",
    "The values of argument `{name}` of {tools} are a long list.",
    (
        'Describe the values in words: @mcp_tool(query={"NAME": {"type": "string", "description":'
        ' "..."}}), with body= for a field of the body.'
    ),
)
NO_PAGES = Cause(
    "no-pages",
    "Lists without pages",
    "Each answer holds every row, and a long one is shortened.",
    "{tools} answers with every row at once.",
    "Set pagination_class on the view, or DEFAULT_PAGINATION_CLASS in REST_FRAMEWORK.",
)
UNCLEAR_FILES = Cause(
    "unclear-files",
    "Arguments that are a text or a file",
    "Nothing says which of the two the view expects.",
    "{tools} takes %(names)s as a text, or as a file that is a data URI.",
    (
        'Say which: @mcp_tool(body={"%(name)s": {"type": "string"}}), with "format": "binary" '
        "for a file."
    ),
    is_brief=False,
    is_of_view=False,
)
MIXED_TRUST = Cause(
    "foreign-text",
    "Tools that reach outside, together with texts that others wrote",
    "A text can ask a model to send what it has read.",
    "{tools} reaches beyond this API, and %(readers)s shows what others wrote.",
    "Serve the two at different endpoints, or to different callers.",
    is_brief=False,
)
CONFUSED_TOOLS = Cause(
    "confused-tools",
    "Tools that a search confuses",
    "A search for the words of the first tool finds the second as well.",
    "A search for %(query)r finds %(found)s as well as %(wanted)s.",
    (
        "Name in each description what the other tool does not do, or give one of them another "
        "title: @mcp_tool(title=..., description=...)."
    ),
)
PASSED_LIMITS = Cause(
    "client-limits",
    "Limits of known clients",
    "These clients leave tools out, or cut their texts.",
    "%(client)s %(excess)s.",
    "Expose less: actions=, exclude=, or EXCLUDE in DRF_MCP.",
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
        saves: the tokens of ``tools/list`` that the edit saves, 0 for none.
    """

    cause: str
    place: str
    subject: str
    sentence: str
    remedy: str
    tools: tuple[str, ...]
    saves: int = 0

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
        made["remedy"] = cause.remedy if cause.remedy else ""
        about = {**made, "sentence": sentence or cause.sentence, "tools": (self.tool.name,)}
        return LintFinding(cause.cause, **{**about, **facts})

    def make_failure(self, cause: Cause, finding: Finding) -> LintFinding:
        message, place = finding.message, self.lines.view
        facts = {"place": place, "subject": self.endpoint.view_class.__name__}
        if failed := FAILED_AT.search(message):
            # The message ends in the place, which the finding has as a field. A function of a
            # library, which many views call, has one finding.
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
            yield self.make(LOST_ARGUMENTS, LOST_ARGUMENTS.sentence % names)
        if self.has_unknown_pages() and not (tool.extra_query or is_described or options.query):
            yield self.make(LOST_ARGUMENTS, OWN_PAGES, remedy=DECLARE_PAGES)
        has_open_body = schema.body.kind == "open" and not is_described
        # Where a description failed, the failure says more than that the body is open.
        failed = OPEN_BODY if has_open_body else NOT_DESCRIBED
        yield from (self.make_failure(failed, each) for each in others)
        if has_open_body and not others:
            yield self.make(OPEN_BODY)
        if self.is_unguarded():
            # The project does not edit the views of an installed package.
            leave_out = "Leave it out with EXCLUDE in DRF_MCP, unless everybody may call it."
            own = UNGUARDED_WRITE.remedy if self.lines.classes.line else ""
            yield self.make(UNGUARDED_WRITE, remedy=own or leave_out)
        yield from self.find_descriptions()
        if not is_described:
            yield from self.find_arguments()
        if self.endpoint.standard_action == "list" and not schema.paginated:
            yield self.make(NO_PAGES)
        unclear = [
            parameter.name
            for parameter in schema.body.fields
            if not all(upload.sure for upload in find_uploads(parameter.value_info).values())
        ]
        if unclear and not is_described:
            sentence = UNCLEAR_FILES.sentence % {"names": ", ".join(unclear)}
            remedy = UNCLEAR_FILES.remedy % {"name": unclear[0]}
            yield self.make(UNCLEAR_FILES, sentence, remedy=remedy)

    def has_unknown_pages(self) -> bool:
        """Return whether a view that REST framework knows no paginator of answers in pages."""
        if issubclass(self.endpoint.view_class, GenericAPIView):
            return False
        layers = unwrap_function(self.endpoint.handler)
        return any("paginate_queryset" in layer.__code__.co_names for layer, _wraps in layers)

    def is_unguarded(self) -> bool:
        if self.tool.annotations["readOnlyHint"] or not is_open(self.tool):
            return False
        # Where the rows depend on the caller, an anonymous caller finds no object to change.
        view_class: type = self.endpoint.view_class
        depends_on_caller = any(asks_who_calls(view_class, name) for name in ROW_HOOKS)
        return not (depends_on_caller and self.endpoint.route.kwargs)

    def find_descriptions(self) -> Iterator[LintFinding]:
        endpoint, view = self.endpoint, self.tool.view
        annotations = endpoint.find_annotations(view)
        if self.tool.options.description or getattr(annotations, "description", ""):
            return
        view_class, own = endpoint.view_class, endpoint.find_docstring(endpoint.handler)
        about = endpoint.find_docstring(view_class)
        if not own and not about and not getattr(view, "description", None):
            yield self.make(NO_DESCRIPTION)
        # "The orders of a customer" says little too, but names objects of the project.
        if STOCK.search(about):
            nouns = Subject(endpoint, view).nouns
            if not Docstrings(endpoint, view).get_about(nouns):
                yield self.make(STOCK_DOCSTRING)
        if own and endpoint.handler.__name__ not in vars(view_class):
            base = endpoint.handler.__qualname__.rpartition(".")[0]
            if base not in ("", getattr(view_class, "__name__", "")):
                sentence = INHERITED_DESCRIPTION.sentence % {"base": base}
                yield self.make(INHERITED_DESCRIPTION, sentence)

    def find_arguments(self) -> Iterator[LintFinding]:
        search = ArgumentSearch(self.tool, self.lines)
        for argument in self.tool.arguments.arguments:
            properties = self.tool.input_schema.get("properties", {})
            if argument.group:
                properties = properties.get(argument.group, {}).get("properties", {})
            schema = properties.get(argument.name, {})
            if not argument.listed or argument.whole or not isinstance(schema, Mapping):
                continue
            if self.has_no_words(argument, schema):
                sentence = NO_HELP_TEXT.sentence.replace("{name}", argument.name)
                yield self.make(NO_HELP_TEXT, sentence, **search.find(argument))
            enums = [encode_plain(values) for values in find_enums(schema)]
            if sum(map(len, enums)) >= LARGE_ENUM_BYTES:
                sentence = LARGE_ENUM.sentence.replace("{name}", argument.name)
                saves = max(sum(map(estimate_tokens, enums)) - WORDS, 0)
                facts = {**search.find(argument), "remedy": LARGE_ENUM.remedy, "saves": saves}
                yield self.make(LARGE_ENUM, sentence, **facts)

    def has_no_words(self, argument: Argument, schema: Mapping[str, Any]) -> bool:
        if schema.get("description"):
            return False
        # The package itself describes no argument whose name or pattern says enough.
        parameter = argument.parameter
        is_key = argument.location == PATH and parameter.name.endswith(("pk", "id"))
        if is_key or parameter.role in ("page", "sort"):
            return False
        items = schema.get("items")
        shape = items if isinstance(items, Mapping) else schema
        if "enum" in shape or "pattern" in shape or FieldSchema.of(shape).meaning.finder:
            return False
        # The name of a boolean says enough.
        return schema.get("type") != "boolean"


def find_enums(schema: Any) -> Iterator[list[Any]]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("enum"), list):
            yield schema["enum"]
        for member in schema.values():
            yield from find_enums(member)


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
        LARGE_ENUM,
        NO_PAGES,
        UNCLEAR_FILES,
        MIXED_TRUST,
        CONFUSED_TOOLS,
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
        found += [*self.find_mixed_trust(), *self.find_confusions(), *self.find_limits()]
        joined: dict[LintFinding, LintFinding] = {}
        for each in found:
            key = replace(each, tools=(), saves=0)
            known = joined.get(key, key)
            tools = tuple(dict.fromkeys((*known.tools, *each.tools)))
            joined[key] = replace(key, tools=tools, saves=known.saves + each.saves)
        ranks = [cause.cause for cause in self.causes]
        return sorted(
            joined.values(),
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
            "saves": sum(finding.saves for finding in self.findings),
        }

    def find_mixed_trust(self) -> Iterator[LintFinding]:
        readers = [name for name, tool in self.tools.items() if tool.hints.untrusted]
        shown = ", ".join(readers[:NAMED])
        if len(readers) > NAMED:
            shown = f"{shown} and others"
        sentence = MIXED_TRUST.sentence % {"readers": shown}
        for name, tool in self.tools.items() if readers else ():
            if tool.annotations["openWorldHint"]:
                found = ToolLint(tool)
                yield found.make(MIXED_TRUST, sentence, place=found.lines.handler, subject=name)

    @cached_property
    def confusions(self) -> list[dict[str, str]]:
        return list(find_overlaps(self.tools))

    def find_confusions(self) -> Iterator[LintFinding]:
        # One finding for each view: its actions are confused for one reason.
        by_view: dict[type, list[dict[str, str]]] = {}
        for each in self.confusions:
            view_class = self.tools[each["wanted"]].endpoint.view_class
            by_view.setdefault(view_class, []).append(each)
        for confusions in by_view.values():
            first = confusions[0]
            names = (pair[name] for pair in confusions for name in ("wanted", "found"))
            yield ToolLint(self.tools[first["wanted"]]).make(
                CONFUSED_TOOLS,
                CONFUSED_TOOLS.sentence % first,
                subject=f"{first['wanted']} ~ {first['found']}",
                tools=tuple(dict.fromkeys(names)),
            )

    def find_limits(self) -> Iterator[LintFinding]:
        for limit in CLIENT_LIMITS:
            for excess in limit.find_excesses(self.all_tools):
                sentence = PASSED_LIMITS.sentence % {"client": limit.client, "excess": excess}
                about = (PASSED_LIMITS.cause, SETTINGS_PLACE, limit.client, sentence)
                yield LintFinding(*about, PASSED_LIMITS.remedy, ())

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        tools = self.all_tools
        return {
            "findings": [finding.as_data() for finding in self.findings],
            "confusions": self.confusions,
            "sizes": [cost.as_data() for cost in self.costs],
            "limits": {limit.client: list(limit.find_excesses(tools)) for limit in CLIENT_LIMITS},
            "sums": self.sums,
        }
