"""What about the tools could be better, each with its place and the edit that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from drf_mcp.client_limits import limits_passed
from drf_mcp.schemas.endpoint import Finding
from drf_mcp.tools import Tool
from drf_mcp.tools.descriptions import own_docstring, written_about
from drf_mcp.tools.names import DEFAULT_MAX_LENGTH, standard_action
from drf_mcp.visibility import is_open

FEWER = "Expose less: actions=, exclude=, or EXCLUDE in DRF_MCP."
DESCRIBE = "Write a docstring on it, or @mcp_tool(description=...)."


def findings_of(tools: Mapping[str, Tool]) -> list[Finding]:
    """Return every finding: about the tools one by one, then about all of them together."""
    found = [finding for tool in tools.values() for finding in tool_findings(tool)]
    found += [
        Finding("DRF_MCP", f"{limit.client} {words}.", FEWER)
        for limit, words in limits_passed(tools)
    ]
    return list(dict.fromkeys(found))


def tool_findings(tool: Tool) -> Iterator[Finding]:
    """Yield the findings about one tool: what could not be described, then what was not said."""
    yield from tool.findings
    for rule in RULES:
        told = rule(tool)
        if told is not None:
            yield Finding(tool.endpoint.place, *told)


Told = tuple[str, str] | None


def undescribed(tool: Tool) -> Told:
    """Tell of a tool of which nobody wrote what it does."""
    if tool.options.description or getattr(written(tool), "description", ""):
        return None
    if own_docstring(tool.endpoint.handler) or own_docstring(tool.endpoint.view_class):
        return None
    return f"Nobody wrote what {tool.name} does; the model reads {tool.title!r} alone.", DESCRIBE


def written(tool: Tool) -> Any:
    """Return what was written about a tool for drf-spectacular, None if nothing."""
    return written_about(tool.endpoint, tool.view)


def inherited(tool: Tool) -> Told:
    """Tell of a description that a class above wrote, about whatever inherits it."""
    if tool.options.description or getattr(written(tool), "description", ""):
        return None
    handler = tool.endpoint.handler
    own = vars(tool.endpoint.view_class).get(handler.__name__)
    if own is not None or not own_docstring(handler):
        return None
    home = handler.__qualname__.rpartition(".")[0]
    if not home or getattr(tool.endpoint.view_class, "__name__", "") == home:
        return None
    return f"The description of {tool.name} is inherited from {home}.", DESCRIBE


def unbounded(tool: Tool) -> Told:
    """Tell of a list that comes whole, however long it is."""
    if standard_action(tool.endpoint) != "list" or tool.schema.paginated:
        return None
    view = tool.endpoint.view_class.__name__
    return (
        f"{tool.name} answers with every row at once.",
        f"Set pagination_class on {view}, or DEFAULT_PAGINATION_CLASS.",
    )


def long_name(tool: Tool) -> Told:
    """Tell of a name that some clients refuse once they put the server's before it."""
    if len(tool.name) <= DEFAULT_MAX_LENGTH:
        return None
    return (
        f"The name {tool.name} is {len(tool.name)} characters long.",
        f"Give it a shorter one: @mcp_tool(name=...), at most {DEFAULT_MAX_LENGTH}.",
    )


def open_body(tool: Tool) -> Told:
    """Tell of a tool whose body may be anything, as far as the model is told."""
    described = tool.schema.body.kind != "open" or tool.options.input_schema is not None
    if described or tool.findings:
        return None
    return (
        f"{tool.name} takes any body.",
        "Give the view a serializer_class, or @mcp_tool(input_schema={...}).",
    )


def unguarded(tool: Tool) -> Told:
    """Tell of a tool that changes something for whoever reaches the endpoint."""
    if tool.annotations["readOnlyHint"] or not is_open(tool):
        return None
    return (
        f"{tool.name} changes data, and its view asks nobody for a permission.",
        f"Set permission_classes on {tool.endpoint.view_class.__name__}.",
    )


def unexplained(tool: Tool) -> Told:
    """Tell of arguments that nobody described."""
    names = [name for name, schema in tool.input_schema["properties"].items() if is_bare(schema)]
    if not names:
        return None
    return (
        f"{tool.name} takes {', '.join(names)} without a word about {one_or_many(names)}.",
        "Give the field a help_text, in the serializer, the filter or the model.",
    )


def is_bare(schema: Any) -> bool:
    """Return whether a model can only guess from the name what a value is for."""
    if not isinstance(schema, Mapping) or schema.get("description") or "enum" in schema:
        return False
    # Yes or no to a name is as clear as the name is.
    return schema.get("type") != "boolean"


def one_or_many(names: list[str]) -> str:
    """Return the pronoun for so many names."""
    return "it" if len(names) == 1 else "them"


RULES: tuple[Callable[[Tool], Told], ...] = (
    undescribed,
    inherited,
    unbounded,
    long_name,
    open_body,
    unguarded,
    unexplained,
)
