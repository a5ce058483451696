"""The lines of a project's own source that a finding is about, as ``shop/views.py:12``."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from drf_mcp.describers import Inspection
from drf_mcp.exceptions import attempt
from drf_mcp.exposure import BODY, PATH, QUERY, Argument, Tool
from drf_mcp.introspection.findings import is_project_file, write_line
from drf_mcp.introspection.input_serializer import InputSerializer
from drf_mcp.introspection.source.members import unwrap_function

HELP_TEXT = 'Give the field a help_text: help_text="..."'
EXTRA_KWARGS = (
    'Name the field in Meta of the serializer: extra_kwargs = {"NAME": {"help_text": "..."}}'
)
DECLARED_FILTER = 'Give the filter a help_text: NAME = filters.CharFilter(help_text="...")'
MADE_FILTER = (
    'Declare the filter in a FilterSet, of its own kind: NAME = filters.CharFilter(help_text="...")'
)
PATH_PARAMETER = (
    "Describe the parameter: @extend_schema(parameters=[OpenApiParameter("
    '"NAME", location="path", description="...")])'
)
DECLARED = (
    'Describe it on the view: @mcp_tool(%s={"NAME": {"type": "string", "description": "..."}})'
)


class SourceLine(NamedTuple):
    place: str
    # The name of the class around the line.
    owner: str


@functools.cache
def _read_lines(owner: type) -> Mapping[str, SourceLine]:
    found: dict[str, SourceLine] = {}
    for base in owner.__mro__:
        path = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
        if is_project_file(path):
            with suppress(OSError, SyntaxError, TypeError):
                lines, start = inspect.getsourcelines(base)
                own: Any = ast.parse(textwrap.dedent("".join(lines))).body[0]
                for node in (own, *own.body):
                    line = SourceLine(write_line(path, start + node.lineno - 1), base.__name__)
                    for name in [""] if node is own else _list_targets(node):
                        found.setdefault(name, line)
    return found


def find_line(owner: Any, name: str = "") -> SourceLine | None:
    """Return the line of the nearest class in an MRO that the project wrote, None for none.

    Args:
        name: of a member; the line is its ``name = ...`` or the method of that name.
    """
    return _read_lines(owner).get(name) if isinstance(owner, type) else None


def _list_targets(member: Any) -> list[str]:
    targets = getattr(member, "targets", [getattr(member, "target", member)])
    return [getattr(target, "id", getattr(target, "name", "")) for target in targets]


class EndpointLines:
    """Where the project wrote an endpoint: its handler, or its class."""

    def __init__(self, tool: Tool) -> None:
        self.tool, self.endpoint = tool, tool.endpoint

    @property
    def handler(self) -> str:
        return self.function or self.view

    @functools.cached_property
    def view(self) -> str:
        # A function of @api_view is what its class was made of. A view of an installed package has
        # no line of the project's.
        own = find_line(self.endpoint.view_class)
        return own.place if own else self.function or str(self.endpoint.place)

    @property
    def function(self) -> str:
        handler: Any = attempt(lambda: self.endpoint.handler, None)
        codes = [function.__code__ for function, _wraps in unwrap_function(handler)]
        own = [code for code in codes if is_project_file(code.co_filename)]
        return write_line(own[-1].co_filename, own[-1].co_firstlineno) if own else ""

    @functools.cached_property
    def serializer(self) -> Any:
        inspection = Inspection(self.tool.view, self.endpoint.method)
        made: Any = attempt(lambda: InputSerializer(inspection).get_serializer(), None)
        return getattr(made, "child", made)

    def find_argument(self, argument: Argument) -> dict[str, str]:
        """Return the place, the subject and the remedy of an argument without words."""
        name = argument.parameter.name
        subject = f"{self.endpoint.view_class.__name__}.{name}"
        if argument.location == PATH:
            return {"place": self.handler, "subject": subject, "remedy": PATH_PARAMETER}
        if argument.location == QUERY:
            found = attempt(lambda: _find_filter(self.tool.view, name), None)
        else:
            found = attempt(lambda: _find_field(self.serializer, name), None)
        remedy = DECLARED % (BODY if argument.location == BODY else QUERY)
        return found or {"place": self.handler, "subject": subject, "remedy": remedy}


def _find_field(serializer: Any, name: str) -> dict[str, str] | None:
    """Return the line of a field: of the serializer, else of its model, else of Meta."""
    owner, field, source = type(serializer), serializer.fields.get(name), name
    model, line = getattr(getattr(owner, "Meta", None), "model", None), find_line(owner, name)
    if line is None and model:
        source = getattr(field, "source", name)
        known = {each.name: each.model for each in model._meta.get_fields()}
        line = find_line(known.get(source), source)
    if line is not None:
        subject = f"{line.owner}.{source}"
        return {"place": line.place, "subject": subject, "remedy": HELP_TEXT}
    own = find_line(owner)
    if field is None or own is None:
        return None
    return {"place": own.place, "subject": f"{owner.__name__}.{name}", "remedy": EXTRA_KWARGS}


def _find_filter(view: Any, name: str) -> dict[str, str] | None:
    """Return the line of a filter, or of the class that names it in a list."""
    filterset = getattr(view, "filterset_class", None)
    # A range is two arguments of one filter.
    for item in filter(None, (name, name.rpartition("_")[0])):
        if line := find_line(filterset, item):
            subject = f"{line.owner}.{item}"
            return {"place": line.place, "subject": subject, "remedy": DECLARED_FILTER}
    made = {
        *getattr(filterset, "base_filters", ()),
        *(getattr(view, "filterset_fields", None) or ()),
    }
    owner = type(view) if filterset is None else filterset
    own = find_line(owner)
    if own is None or not made & {name, name.partition("__")[0]}:
        return None
    return {"place": own.place, "subject": f"{owner.__name__}.{name}", "remedy": MADE_FILTER}
