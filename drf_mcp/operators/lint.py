"""What about the tools could be better, each with its place and the edit that mends it."""

from __future__ import annotations

import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.dispatch.visibility import is_open
from drf_mcp.introspection.locations import locate_view
from drf_mcp.introspection.safe_call import Finding
from drf_mcp.operators.client_limits import CLIENT_LIMITS
from drf_mcp.tools import Tool
from drf_mcp.tools.written_texts import WrittenTexts

DESCRIBE = "Write a docstring on it, or @mcp_tool(description=...)."
# An argument of more tools than this is reported once.
MANY = 5


class Rule:
    """One kind of finding about a tool, with the edit that mends it.

    ``{name}`` in the message is the tool's name.
    """

    message = ""
    remedy = ""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint

    def applies(self) -> bool:
        raise NotImplementedError

    def get_message(self) -> str:
        return self.message.format(name=self.tool.name)

    def get_remedy(self) -> str:
        return self.remedy

    def get_findings(self) -> list[Finding]:
        if not self.applies():
            return []
        return [Finding(self.endpoint.place, self.get_message(), self.get_remedy())]

    @property
    def texts(self) -> WrittenTexts:
        return WrittenTexts(self.endpoint, self.tool.view)

    @property
    def has_description(self) -> bool:
        annotations = self.texts.annotations
        return bool(self.tool.options.description or getattr(annotations, "description", ""))


class Undescribed(Rule):
    remedy = DESCRIBE

    def applies(self) -> bool:
        is_described = self.has_description or self.endpoint.handler_docstring
        return not is_described and not self.texts.get_view_description()

    def get_message(self) -> str:
        name, title = self.tool.name, self.tool.title
        return f"Nobody wrote what {name} does; the model reads {title!r} alone."


class InheritedDescription(Rule):
    remedy = DESCRIBE

    @property
    def base(self) -> str:
        return self.endpoint.handler.__qualname__.rpartition(".")[0]

    def applies(self) -> bool:
        view_class = self.endpoint.view_class
        is_own = self.endpoint.handler.__name__ in vars(view_class)
        if self.has_description or is_own or not self.endpoint.handler_docstring:
            return False
        return self.base not in ("", getattr(view_class, "__name__", ""))

    def get_message(self) -> str:
        return f"The description of {self.tool.name} is inherited from {self.base}."


class UnboundedList(Rule):
    message = "{name} answers with every row at once."

    def applies(self) -> bool:
        return self.endpoint.standard_action == "list" and not self.tool.schema.paginated

    def get_remedy(self) -> str:
        view = self.endpoint.view_class.__name__
        return f"Set pagination_class on {view}, or DEFAULT_PAGINATION_CLASS."


class OpenBody(Rule):
    message = "{name} takes any body."
    remedy = "Give the view a serializer_class, or @mcp_tool(input_schema={...})."

    def applies(self) -> bool:
        # Where a description failed, the finding about the failure says more.
        declared = self.tool.options.input_schema is not None or self.tool.findings
        return self.tool.schema.body.kind == "open" and not declared


class ComputedQuery(Rule):
    remedy = 'Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.'

    def applies(self) -> bool:
        options = self.tool.options
        declared = self.tool.extra_query or options.input_schema is not None or options.query
        return bool(self.tool.schema.computed_query) and not declared

    def get_message(self) -> str:
        names = ", ".join(self.tool.schema.computed_query)
        return f"{self.tool.name} reads the query by names that its code computes: {names}."


class UnclearFiles(Rule):
    @property
    def names(self) -> list[str]:
        return [
            parameter.name
            for parameter in self.tool.schema.body.fields
            if not all(upload.sure for upload in parameter.handling.uploads.values())
        ]

    def applies(self) -> bool:
        return self.tool.options.input_schema is None and bool(self.names)

    def get_message(self) -> str:
        names = ", ".join(self.names)
        return f"{self.tool.name} takes {names} as a text, or as a file that is a data URI."

    def get_remedy(self) -> str:
        return (
            f'Say which: @mcp_tool(body={{"{self.names[0]}": {{"type": "string"}}}}), with'
            ' "format": "binary" for a file.'
        )


class UnguardedWrite(Rule):
    message = "{name} changes data, and its view asks nobody for a permission."
    remedy = "Leave it out with EXCLUDE in DRF_MCP, unless everybody may call it."

    def applies(self) -> bool:
        return not self.tool.annotations["readOnlyHint"] and is_open(self.tool)

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
        properties = tool.input_schema["properties"].items()
        self.names = [n for n, schema in properties if n not in ignored and self.is_bare(schema)]

    def is_bare(self, schema: Any) -> bool:
        if not isinstance(schema, Mapping) or schema.get("description") or "enum" in schema:
            return False
        # Yes or no to a name is as clear as the name is.
        return schema.get("type") != "boolean"

    def applies(self) -> bool:
        return bool(self.names)

    def get_message(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.names)
        if len(self.names) > 1:
            return f"Arguments {names} of {self.tool.name} have no description."
        return f"Argument {names} of {self.tool.name} has no description."


class Lint:
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
