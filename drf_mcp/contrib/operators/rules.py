"""The rules of the lint about single tools, each a kind of root cause with its remedy."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.archive.slices import PassageSearch
from drf_mcp.contrib.operators.source_lines import EndpointLines, LintFinding
from drf_mcp.dispatch.visibility import is_open
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.introspection.source.overrides import asks_who_calls
from drf_mcp.introspection.types import LostFilters
from drf_mcp.tools.descriptions import Docstrings
from drf_mcp.tools.titles import Subject
from drf_mcp.tools.tool import Tool

# Another tool is confused with the tool that is searched for at this share of its score.
NEAR = 0.95
SENTENCE = re.compile(r"[.;:\n]")


@dataclass(frozen=True)
class Overlap:
    # A search for the words of `wanted` finds `found` first, or as well.
    wanted: str
    found: str
    query: str


class ToolTextSearch(PassageSearch):
    # A tool is one passage of any length.
    passage_length = 1_000_000


class OverlapSearch:
    """Searches for each tool by its title and the first sentence of its description."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self.texts = {name: self._write_text(tool) for name, tool in tools.items()}

    def _write_text(self, tool: Tool) -> str:
        # What clients search: names, description, and the arguments with theirs.
        words = [tool.name, tool.title, tool.description]
        for name, schema in tool.input_schema.get("properties", {}).items():
            words += [name, schema.get("description", "") if isinstance(schema, dict) else ""]
        return " ".join(words).replace("_", " ")

    def _write_query(self, tool: Tool) -> str:
        sentence = SENTENCE.split(tool.description, maxsplit=1)[0]
        query = sentence if sentence.startswith(tool.title) else f"{tool.title} {sentence}"
        return query.replace("_", " ")

    def find(self) -> Iterator[Overlap]:
        names, texts = list(self.tools), list(self.texts.values())
        seen: set[frozenset[str]] = set()
        for wanted, tool in self.tools.items():
            query = self._write_query(tool)
            scores = dict(zip(names, ToolTextSearch(query).score(texts), strict=True))
            for found, score in scores.items():
                pair = frozenset((wanted, found))
                if len(pair) == 2 and pair not in seen and score >= NEAR * scores[wanted] > 0:
                    seen.add(pair)
                    yield Overlap(wanted, found, query)


SETTINGS_PLACE = "DRF_MCP"
STOCK = re.compile(r"\b(view ?set|end ?point|automatically|crud|api)\b", re.IGNORECASE)


# Where a step failed: "(.../rest_framework/request.py:428 in __getattr__)".
FAILED_AT = re.compile(r" \((?P<place>[^()]+:\d+) in (?P<subject>[^()]+)\)\Z")
# What a view overrides to show callers different rows.
ROW_HOOKS = ("get_queryset", "get_object")


class Rule:
    """One kind of root cause: its rank is its place in `Lint.rule_classes`.

    The texts of the class are in English, marked by ``gettext_noop``; a finding has the language
    of its reader.

    Attributes:
        cause: a short name, as data has it.
        title: the heading of the report.
        why: what it means for an agent, in one sentence.
        sentence: what was found; ``{tools}`` is replaced by the names of the tools.
        remedy: the edit that mends it.
        is_brief: whether the place and its subject say all, where the title is known.
    """

    cause: ClassVar[str] = ""
    title: ClassVar[str] = ""
    why: ClassVar[str] = ""
    sentence: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    is_brief: ClassVar[bool] = True

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint

    def applies(self) -> bool:
        raise NotImplementedError

    def find_findings(self) -> Iterator[LintFinding]:
        if self.applies():
            yield self.make()

    def make(self, sentence: str = "", **facts: Any) -> LintFinding:
        made = {
            "place": self.lines.handler,
            "subject": f"{self.endpoint.view_class.__name__}.{self.endpoint.handler_name}",
            "remedy": self.find_remedy(),
        }
        about = {**made, "tools": (self.tool.name,), **facts}
        return LintFinding(self.cause, sentence=sentence or _(self.sentence), **about)

    def find_remedy(self) -> str:
        return _(self.remedy)

    @functools.cached_property
    def lines(self) -> EndpointLines:
        return EndpointLines(self.endpoint)

    @property
    def view_facts(self) -> dict[str, Any]:
        # Of what is mended once for all tools of a view.
        return {"place": self.lines.view, "subject": self.endpoint.view_class.__name__}

    def make_failure(self, finding: Finding) -> LintFinding:
        facts, message = {**self.view_facts, "remedy": finding.remedy}, finding.message
        if failed := FAILED_AT.search(message):
            # The message ends in the place, which the finding has as a field.
            message = message[: failed.start()]
            own = {"place": finding.source}
            # Of a library's function that many views call one finding says all.
            facts |= own if finding.source else failed.groupdict()
        return self.make(f"{{tools}}: {message}", **facts)

    @property
    def view_docstring(self) -> str:
        return self.endpoint.find_docstring(self.endpoint.view_class)

    @property
    def has_description(self) -> bool:
        annotations = self.endpoint.find_annotations(self.tool.view)
        return bool(self.tool.options.description or getattr(annotations, "description", ""))


class ViewRule(Rule):
    """A root cause that is mended once for all tools of a view."""

    def make(self, sentence: str = "", **facts: Any) -> LintFinding:
        return super().make(sentence, **{**self.view_facts, **facts})


class LostArguments(ViewRule):
    cause = "lost-arguments"
    is_brief = False
    title = gettext_noop("Arguments that HTTP takes and the tool does not")
    why = gettext_noop("An agent cannot send what is no argument.")
    remedy = gettext_noop(
        'Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.'
    )

    def find_findings(self) -> Iterator[LintFinding]:
        lost = [f for f in self.tool.findings if isinstance(f, LostFilters)]
        yield from map(self.make_failure, lost)
        yield from super().find_findings()

    def applies(self) -> bool:
        options = self.tool.options
        declared = self.tool.extra_query or options.input_schema is not None or options.query
        return bool(self.tool.schema.computed_query) and not declared

    def make(self, sentence: str = "", **facts: Any) -> LintFinding:
        names = ", ".join(self.tool.schema.computed_query)
        computed = _("The code of {tools} computes names of query parameters: %(names)s.")
        return super().make(sentence or computed % {"names": names}, **facts)


class Undescribable(Rule):
    cause = "not-described"
    is_brief = False
    title = gettext_noop("Parts that could not be described")
    why = gettext_noop("The tools work, but agents do not learn what they take or return there.")

    def find_findings(self) -> Iterator[LintFinding]:
        if OpenBody(self.tool).applies():
            return
        others = [f for f in self.tool.findings if not isinstance(f, LostFilters)]
        yield from map(self.make_failure, others)


class OpenBody(Rule):
    cause = "open-body"
    is_brief = False
    title = gettext_noop("Bodies without a description")
    why = gettext_noop("An agent has to guess every field of the body.")
    sentence = gettext_noop("The body of {tools} is open: any JSON is taken.")
    remedy = gettext_noop("Give the view a serializer_class, or @mcp_tool(input_schema={...}).")

    def find_findings(self) -> Iterator[LintFinding]:
        if not self.applies():
            return
        failures = [f for f in self.tool.findings if not isinstance(f, LostFilters)]
        # Where a description failed, the failure says more.
        yield from map(self.make_failure, failures)
        if not failures:
            yield self.make()

    def applies(self) -> bool:
        return self.tool.schema.body.kind == "open" and self.tool.options.input_schema is None


class UnguardedWrite(Rule):
    cause = "unguarded-write"
    title = gettext_noop("Writes without a permission")
    why = gettext_noop("Every client that reaches the endpoint may change data.")
    sentence = gettext_noop("{tools} changes data, and its view asks for no permission.")
    remedy = gettext_noop("Leave it out with EXCLUDE in DRF_MCP, unless everybody may call it.")

    def applies(self) -> bool:
        if self.tool.annotations["readOnlyHint"] or not is_open(self.tool):
            return False
        # Of rows that depend on the caller, a caller without any finds none.
        view_class: type = self.endpoint.view_class
        alike = not any(asks_who_calls(view_class, name) for name in ROW_HOOKS)
        return alike or not self.endpoint.route.kwargs

    def find_remedy(self) -> str:
        # The project does not edit the views of an installed package.
        if self.lines.classes.line:
            return _("Set permission_classes on the view.")
        return super().find_remedy()


class Undescribed(ViewRule):
    cause = "no-description"
    title = gettext_noop("Tools about which nothing was written")
    why = gettext_noop(
        "The model reads a sentence made of the name and the model, and nothing else."
    )
    sentence = gettext_noop("Nothing was written about {tools}.")
    remedy = gettext_noop("Write a docstring on the class, or on each of its methods.")

    def applies(self) -> bool:
        if self.has_description or self.endpoint.handler_docstring:
            return False
        return not (self.view_docstring or getattr(self.tool.view, "description", None))


class StockDocstring(ViewRule):
    cause = "stock-docstring"
    title = gettext_noop("Docstrings that say nothing of the project")
    why = gettext_noop(
        'Models never see words such as "This viewset automatically provides `list`".'
    )
    sentence = gettext_noop(
        "The docstring of the view of {tools} says nothing besides its actions and its model."
    )
    remedy = gettext_noop("Write what the objects are, and when to use the tools.")

    def applies(self) -> bool:
        # "The orders of a customer" says little as well, but in words of the project.
        if self.has_description or not STOCK.search(self.view_docstring):
            return False
        nouns = Subject(self.endpoint, self.tool.view).nouns
        return not Docstrings(self.endpoint, self.tool.view).get_about(nouns)


class InheritedDescription(ViewRule):
    cause = "inherited-description"
    title = gettext_noop("Descriptions inherited from another view")
    why = gettext_noop("The words are about the parent's objects.")
    remedy = gettext_noop("Write a docstring on the method, or @mcp_tool(description=...).")

    @property
    def base(self) -> str:
        return self.endpoint.handler.__qualname__.rpartition(".")[0]

    def applies(self) -> bool:
        view_class = self.endpoint.view_class
        is_own = self.endpoint.handler.__name__ in vars(view_class)
        if self.has_description or is_own or not self.endpoint.handler_docstring:
            return False
        return self.base not in ("", getattr(view_class, "__name__", ""))

    def make(self, sentence: str = "", **facts: Any) -> LintFinding:
        inherited = _("The description of {tools} is inherited from %(base)s.")
        return super().make(inherited % {"base": self.base}, **facts)


class UnboundedList(ViewRule):
    cause = "no-pages"
    title = gettext_noop("Lists without pages")
    why = gettext_noop("Each answer holds every row, and a long one is shortened.")
    sentence = gettext_noop("{tools} answers with every row at once.")
    remedy = gettext_noop(
        "Set pagination_class on the view, or DEFAULT_PAGINATION_CLASS in REST_FRAMEWORK."
    )

    def applies(self) -> bool:
        return self.endpoint.standard_action == "list" and not self.tool.schema.paginated


class UnclearFiles(Rule):
    cause = "unclear-files"
    is_brief = False
    title = gettext_noop("Arguments that are a text or a file")
    why = gettext_noop("Nothing says which of the two the view expects.")

    @property
    def names(self) -> list[str]:
        return [
            parameter.name
            for parameter in self.tool.schema.body.fields
            if not all(upload.sure for upload in parameter.handling.uploads.values())
        ]

    def applies(self) -> bool:
        return self.tool.options.input_schema is None and bool(self.names)

    def make(self, sentence: str = "", **facts: Any) -> LintFinding:
        unclear = _("{tools} takes %(names)s as a text, or as a file that is a data URI.")
        return super().make(unclear % {"names": ", ".join(self.names)}, **facts)

    def find_remedy(self) -> str:
        remedy = _(
            'Say which: @mcp_tool(body={"%(name)s": {"type": "string"}}), with "format": "binary" '
            "for a file."
        )
        return remedy % {"name": self.names[0]}
