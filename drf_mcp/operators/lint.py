"""What about the tools could be better, each with its place and the edit that mends it."""

from __future__ import annotations

import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from drf_mcp.dispatch.visibility import is_open
from drf_mcp.introspection.locations import place_of
from drf_mcp.introspection.types import Finding
from drf_mcp.operators.client_limits import limits_passed
from drf_mcp.tools import Tool
from drf_mcp.tools.descriptions import project_docstring
from drf_mcp.tools.naming import DEFAULT_MAX_LENGTH

FEWER = "Expose less: actions=, exclude=, or EXCLUDE in DRF_MCP."
DESCRIBE = "Write a docstring on it, or @mcp_tool(description=...)."
DESCRIBE_VIEW = "Write docstrings on its methods, or one on the class."
EXPLAIN = "Give the field a help_text, in the serializer, the filter or the model."
UNLESS_OPEN = "Leave it out with EXCLUDE in DRF_MCP, unless everybody may call it."
# An argument of more tools than this is told of once.
MANY = 5
# Where packages are installed.
INSTALLED = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def findings_of(tools: Mapping[str, Tool]) -> list[Finding]:
    """Return every finding: about the tools one by one, then about several of them together."""
    alone = [rule for rule in RULES if rule not in (undescribed, unexplained)]
    found = [finding for tool in tools.values() for finding in tool.findings]
    found += [finding for tool in tools.values() for finding in told_of(tool, alone)]
    found += undescribed_views(tools.values())
    found += unexplained_arguments(tools.values())
    found += [
        Finding("DRF_MCP", f"{limit.client} {words}.", FEWER)
        for limit, words in limits_passed(tools)
    ]
    return list(dict.fromkeys(found))


def tool_findings(tool: Tool) -> Iterator[Finding]:
    """Yield the findings about one tool: what could not be described, then what was not said."""
    yield from tool.findings
    yield from told_of(tool, RULES)


Told = tuple[str, str] | None
Rule = Callable[[Tool], Told]


def told_of(tool: Tool, rules: Iterable[Rule]) -> Iterator[Finding]:
    """Yield what rules tell of one tool."""
    for rule in rules:
        told = rule(tool)
        if told is not None:
            yield Finding(tool.endpoint.place, *told)


def undescribed(tool: Tool) -> Told:
    """Tell of a tool of which nobody wrote what it does."""
    if tool.options.description or getattr(tool.texts.annotations, "description", ""):
        return None
    if project_docstring(tool.endpoint.handler) or tool.texts.get_view_description():
        return None
    return f"Nobody wrote what {tool.name} does; the model reads {tool.title!r} alone.", DESCRIBE


def undescribed_views(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield the tools of which nobody wrote what they do, those of one view together."""
    silent: dict[type, list[Tool]] = {}
    for tool in filter(undescribed, tools):
        silent.setdefault(tool.endpoint.view_class, []).append(tool)
    for view_class, several in silent.items():
        if len(several) == 1:
            yield from told_of(several[0], [undescribed])
            continue
        names = ", ".join(tool.name for tool in several)
        told = f"Nobody wrote what {names} do; the model reads their titles alone."
        yield Finding(place_of(view_class), told, DESCRIBE_VIEW)


def inherited(tool: Tool) -> Told:
    """Tell of a description that a class above wrote, about whatever inherits it."""
    if tool.options.description or getattr(tool.texts.annotations, "description", ""):
        return None
    handler = tool.endpoint.handler
    own = vars(tool.endpoint.view_class).get(handler.__name__)
    if own is not None or not project_docstring(handler):
        return None
    home = handler.__qualname__.rpartition(".")[0]
    if not home or getattr(tool.endpoint.view_class, "__name__", "") == home:
        return None
    return f"The description of {tool.name} is inherited from {home}.", DESCRIBE


def unbounded(tool: Tool) -> Told:
    """Tell of a list that comes whole, however long it is."""
    if tool.endpoint.standard_action != "list" or tool.schema.paginated:
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


def unclear_files(tool: Tool) -> Told:
    """Tell of members of the body that may be texts or files, as far as the view shows."""
    names = [
        parameter.name
        for parameter in tool.schema.body.fields
        if not all(upload.sure for upload in parameter.handling.uploads.values())
    ]
    if not names or tool.options.input_schema is not None:
        return None
    return (
        f"{tool.name} takes {', '.join(names)} as a text, or as a file that is a data URI.",
        f'Say which: @mcp_tool(body={{"{names[0]}": {{"type": "string"}}}}), with'
        ' "format": "binary" for a file.',
    )


def unnamed_query(tool: Tool) -> Told:
    """Tell of query parameters that the view reads by names that only the running code knows."""
    if tool.extra_query or tool.options.input_schema is not None or tool.options.query:
        return None
    names = ", ".join(tool.schema.computed_query)
    if not names:
        return None
    return (
        f"{tool.name} reads the query by names that its code computes: {names}.",
        'Declare them: @mcp_tool(query={"...": {"type": "string"}}), or set EXTRA_QUERY.',
    )


def unguarded(tool: Tool) -> Told:
    """Tell of a tool that changes something for whoever reaches the endpoint."""
    if tool.annotations["readOnlyHint"] or not is_open(tool):
        return None
    view_class = tool.endpoint.view_class
    return (
        f"{tool.name} changes data, and its view asks nobody for a permission.",
        UNLESS_OPEN
        if is_installed(view_class)
        else f"Set permission_classes on {view_class.__name__}.",
    )


def is_installed(view_class: type) -> bool:
    """Return whether a view came with a package, which the project does not edit."""
    source = getattr(sys.modules.get(view_class.__module__), "__file__", None) or ""
    return source.startswith(INSTALLED)


def unexplained(tool: Tool) -> Told:
    """Tell of arguments that nobody described."""
    return without_a_word(tool, bare_names(tool))


def without_a_word(tool: Tool, names: Sequence[str]) -> Told:
    """Tell of these arguments of a tool that nobody described them."""
    if not names:
        return None
    them = "it" if len(names) == 1 else "them"
    return f"{tool.name} takes {', '.join(names)} without a word about {them}.", EXPLAIN


def unexplained_arguments(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield the arguments that nobody described, one that many tools take only once."""
    bare = [(tool, bare_names(tool)) for tool in tools]
    counts = Counter(name for _, names in bare for name in names)
    for name, count in counts.items():
        if count > MANY:
            yield Finding("DRF_MCP", f"{count} tools take {name} without a word about it.", EXPLAIN)
    for tool, names in bare:
        told = without_a_word(tool, [name for name in names if counts[name] <= MANY])
        if told is not None:
            yield Finding(tool.endpoint.place, *told)


def bare_names(tool: Tool) -> list[str]:
    """Return the arguments of a tool that nobody described."""
    return [name for name, schema in tool.input_schema["properties"].items() if is_bare(schema)]


def is_bare(schema: Any) -> bool:
    """Return whether a model can only guess from the name what a value is for."""
    if not isinstance(schema, Mapping) or schema.get("description") or "enum" in schema:
        return False
    # Yes or no to a name is as clear as the name is.
    return schema.get("type") != "boolean"


RULES: tuple[Rule, ...] = (
    undescribed,
    inherited,
    unbounded,
    long_name,
    open_body,
    unnamed_query,
    unclear_files,
    unguarded,
    unexplained,
)
