"""What about the tools could be better, each with its place and the edit that mends it."""

from __future__ import annotations

import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from drf_mcp.dispatch.visibility import is_open
from drf_mcp.introspection.locations import locate_view
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.operators.client_limits import CLIENT_LIMITS
from drf_mcp.tools import Tool
from drf_mcp.tools.naming import ViewTexts

DESCRIBE = "Write a docstring on it, or @mcp_tool(description=...)."
# An argument of more tools than this is reported once.
MANY = 5


class Rule:
    """One kind of finding about a tool, with the edit that mends it."""

    remedy = ""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint

    def get_message(self) -> str:
        """Return what is wrong with the tool in a sentence, "" if nothing is."""
        raise NotImplementedError

    def get_remedy(self) -> str:
        return self.remedy

    def get_findings(self) -> list[Finding]:
        message = self.get_message()
        return [Finding(self.endpoint.place, message, self.get_remedy())] if message else []

    @property
    def has_description(self) -> bool:
        annotations = ViewTexts(self.endpoint, self.tool.view).annotations
        return bool(self.tool.options.description or getattr(annotations, "description", ""))


class Undescribed(Rule):
    remedy = DESCRIBE

    def get_message(self) -> str:
        is_described = self.has_description or self.endpoint.handler_docstring
        if is_described or ViewTexts(self.endpoint, self.tool.view).get_view_description():
            return ""
        name, title = self.tool.name, self.tool.title
        return f"Nobody wrote what {name} does; the model reads {title!r} alone."


class InheritedDescription(Rule):
    remedy = DESCRIBE

    def get_message(self) -> str:
        handler, view_class = self.endpoint.handler, self.endpoint.view_class
        is_own = handler.__name__ in vars(view_class)
        if self.has_description or is_own or not self.endpoint.handler_docstring:
            return ""
        base = handler.__qualname__.rpartition(".")[0]
        if base in ("", getattr(view_class, "__name__", "")):
            return ""
        return f"The description of {self.tool.name} is inherited from {base}."


class UnboundedList(Rule):
    def get_message(self) -> str:
        if self.endpoint.standard_action != "list" or self.tool.schema.paginated:
            return ""
        return f"{self.tool.name} answers with every row at once."

    def get_remedy(self) -> str:
        view = self.endpoint.view_class.__name__
        return f"Set pagination_class on {view}, or DEFAULT_PAGINATION_CLASS."


class OpenBody(Rule):
    remedy = "Give the view a serializer_class, or @mcp_tool(input_schema={...})."

    def get_message(self) -> str:
        declared = self.tool.options.input_schema is not None
        if self.tool.schema.body.kind != "open" or declared or self.tool.findings:
            return ""
        return f"{self.tool.name} takes any body."


class ComputedQuery(Rule):
    remedy = 'Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.'

    def get_message(self) -> str:
        options, names = self.tool.options, ", ".join(self.tool.schema.computed_query)
        declared = self.tool.extra_query or options.input_schema is not None or options.query
        if declared or not names:
            return ""
        return f"{self.tool.name} reads the query by names that its code computes: {names}."


class UnclearFiles(Rule):
    @cached_property
    def names(self) -> list[str]:
        if self.tool.options.input_schema is not None:
            return []
        return [
            parameter.name
            for parameter in self.tool.schema.body.fields
            if not all(upload.sure for upload in parameter.handling.uploads.values())
        ]

    def get_message(self) -> str:
        if not self.names:
            return ""
        names = ", ".join(self.names)
        return f"{self.tool.name} takes {names} as a text, or as a file that is a data URI."

    def get_remedy(self) -> str:
        return (
            f'Say which: @mcp_tool(body={{"{self.names[0]}": {{"type": "string"}}}}), with'
            ' "format": "binary" for a file.'
        )


class UnguardedWrite(Rule):
    remedy = "Leave it out with EXCLUDE in DRF_MCP, unless everybody may call it."

    def get_message(self) -> str:
        if self.tool.annotations["readOnlyHint"] or not is_open(self.tool):
            return ""
        return f"{self.tool.name} changes data, and its view asks nobody for a permission."

    def get_remedy(self) -> str:
        view_class = self.endpoint.view_class
        source = getattr(sys.modules.get(view_class.__module__), "__file__", None) or ""
        # The project does not edit the views of an installed package.
        if source.startswith((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
            return self.remedy
        return f"Set permission_classes on {view_class.__name__}."


class UnexplainedArguments(Rule):
    remedy = "Give the field a help_text, in the serializer, the filter or the model."

    def __init__(self, tool: Tool, ignored: Sequence[str] = ()) -> None:
        super().__init__(tool)
        self.ignored = ignored

    @property
    def names(self) -> list[str]:
        return [
            name
            for name, schema in self.tool.input_schema["properties"].items()
            if name not in self.ignored and self.is_bare(schema)
        ]

    def is_bare(self, schema: Any) -> bool:
        if not isinstance(schema, Mapping) or schema.get("description") or "enum" in schema:
            return False
        # Yes or no to a name is as clear as the name is.
        return schema.get("type") != "boolean"

    def get_message(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.names)
        if len(self.names) > 1:
            return f"Arguments {names} of {self.tool.name} have no description."
        return f"Argument {names} of {self.tool.name} has no description." if names else ""


class Lint:
    """The findings about tools."""

    rule_classes: tuple[type[Rule], ...] = (
        Undescribed,
        InheritedDescription,
        UnboundedList,
        OpenBody,
        ComputedQuery,
        UnclearFiles,
        UnguardedWrite,
        UnexplainedArguments,
    )
    # Reported of several tools together, so as not to repeat themselves.
    grouped = (Undescribed, UnexplainedArguments)

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools

    def get_findings(self) -> list[Finding]:
        """Return every finding: about the tools one by one, then about several together."""
        found = [finding for tool in self.tools.values() for finding in tool.findings]
        for tool in self.tools.values():
            for rule_class in self.rule_classes:
                if rule_class not in self.grouped:
                    found += rule_class(tool).get_findings()
        found += self.find_undescribed_views()
        found += self.find_unexplained_arguments()
        found += self.find_limits()
        return list(dict.fromkeys(found))

    @classmethod
    def get_findings_of(cls, tool: Tool) -> list[Finding]:
        """Return the findings about one tool."""
        rules = [rule_class(tool) for rule_class in cls.rule_classes]
        return [*tool.findings, *(finding for rule in rules for finding in rule.get_findings())]

    def find_undescribed_views(self) -> Iterator[Finding]:
        by_view: dict[type, dict[str, Finding]] = {}
        for tool in self.tools.values():
            for finding in Undescribed(tool).get_findings():
                by_view.setdefault(tool.endpoint.view_class, {})[tool.name] = finding
        for view_class, found in by_view.items():
            if len(found) == 1:
                yield from found.values()
                continue
            message = (
                f"Nobody wrote what {', '.join(found)} do; the model reads their titles alone."
            )
            remedy = "Write docstrings on its methods, or one on the class."
            yield Finding(locate_view(view_class), message, remedy)

    def find_unexplained_arguments(self) -> Iterator[Finding]:
        tools = self.tools.values()
        counts = Counter(name for tool in tools for name in UnexplainedArguments(tool).names)
        frequent = [name for name, count in counts.items() if count > MANY]
        for name in frequent:
            message = f"Argument `{name}` of {counts[name]} tools has no description."
            yield Finding("DRF_MCP", message, UnexplainedArguments.remedy)
        for tool in tools:
            yield from UnexplainedArguments(tool, frequent).get_findings()

    def find_limits(self) -> Iterator[Finding]:
        remedy = "Expose less: actions=, exclude=, or EXCLUDE in DRF_MCP."
        for limit in CLIENT_LIMITS:
            for excess in limit.find_excesses(self.tools):
                yield Finding("DRF_MCP", f"{limit.client} {excess}.", remedy)
