"""The lines of a project's own source that a finding is about, as ``shop/views.py:12``."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import get_resolver

from drf_mcp.exceptions import contain
from drf_mcp.introspection.findings import attempt, is_project_file, write_line
from drf_mcp.introspection.input_serializer import InputSerializer
from drf_mcp.introspection.inspection import Inspection, locate_view
from drf_mcp.introspection.source.members import unwrap_function
from drf_mcp.tools.arguments.call import BODY, PATH, QUERY, Argument
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.tool import Tool

HELP_TEXT = 'Give the field a help_text: help_text="..."'
EXTRA_KWARGS = (
    'Name the field in Meta of the serializer: extra_kwargs = {"NAME": {"help_text": "..."}}'
)
DECLARED_FILTER = 'Give the filter a help_text: NAME = filters.CharFilter(help_text="...")'
MADE_FILTER = (
    'Declare the filter in a FilterSet, of its own kind: NAME = filters.CharFilter(help_text="...")'
)
PARAMETER = 'Describe the parameter: OpenApiParameter("NAME", description="...")'
PATH_PARAMETER = (
    "Describe the parameter: @extend_schema(parameters=[OpenApiParameter("
    '"NAME", location="path", description="...")])'
)
DECLARED = (
    'Describe it on the view: @mcp_tool({location}={{"NAME": {{"type": "string", '
    '"description": "..."}}}})'
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class SourceFile:
    """The classes of a module by their qualified names, as syntax trees."""

    def __init__(self, path: str) -> None:
        self.classes: dict[str, ast.ClassDef] = {}
        try:
            with open(path, "rb") as source:
                self.tree: ast.AST = ast.parse(source.read())
        except (OSError, SyntaxError, ValueError):
            self.tree = ast.Module([], [])
        self.add_classes(self.tree, "")

    def add_classes(self, tree: ast.AST, prefix: str) -> None:
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.ClassDef):
                self.classes[f"{prefix}{node.name}"] = node
                self.add_classes(node, f"{prefix}{node.name}.")
            elif isinstance(node, FUNCTIONS):
                self.add_classes(node, f"{prefix}{node.name}.<locals>.")
            else:
                self.add_classes(node, prefix)


read_source = functools.lru_cache(maxsize=None)(SourceFile)


@dataclass(frozen=True)
class SourceLine:
    place: str
    # The name of the class around the line, and of what is called there, "" for nothing.
    owner: str
    call: str = ""


class OwnClasses:
    """The classes of an MRO that the project wrote, with their syntax trees."""

    def __init__(self, *owners: Any) -> None:
        self.found: list[tuple[type, str, ast.ClassDef]] = []
        for owner in owners:
            for base in inspect.getmro(owner) if isinstance(owner, type) else ():
                self.add(base)

    def add(self, base: type) -> None:
        path = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
        node = read_source(path).classes.get(base.__qualname__) if is_project_file(path) else None
        if node is not None:
            self.found.append((base, path, node))

    @property
    def line(self) -> str:
        """The place of the nearest class, "" where the project wrote none."""
        return next((write_line(path, node.lineno) for _, path, node in self.found), "")

    def find_member(self, name: str) -> SourceLine | None:
        """Return the line of ``name = ...`` or of the method of that name, None for none."""
        for base, path, node in self.found:
            for member in node.body:
                if name in self._find_names(member):
                    return SourceLine(write_line(path, member.lineno), base.__name__)
        return None

    def _find_names(self, member: ast.stmt) -> list[str]:
        if isinstance(member, (*FUNCTIONS, ast.ClassDef)):
            return [member.name]
        targets: list[ast.expr] = member.targets if isinstance(member, ast.Assign) else []
        targets = [member.target] if isinstance(member, ast.AnnAssign) else targets
        return [target.id for target in targets if isinstance(target, ast.Name)]

    def find_text(self, text: str, within: str = "") -> SourceLine | None:
        """Return the line of a string, with the name of what it is an argument of.

        The string may be anywhere in a class, or in the member of one name.
        """
        for base, path, node in self.found:
            members = [m for m in node.body if not within or within in self._find_names(m)]
            for call, constant in (pair for member in members for pair in self.walk(member, "")):
                if constant.value == text:
                    return SourceLine(write_line(path, constant.lineno), base.__name__, call)
        return None

    def walk(self, node: ast.AST, call: str) -> Iterator[tuple[str, ast.Constant]]:
        if isinstance(node, ast.Call):
            call = str(getattr(node.func, "id", None) or getattr(node.func, "attr", ""))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield call, child
            else:
                yield from self.walk(child, call)


class EndpointLines:
    """Where the project wrote an endpoint: its handler, its class, or its route."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.classes = OwnClasses(endpoint.view_class)

    @property
    def handler(self) -> str:
        return self.function or self.view

    @property
    def view(self) -> str:
        # A function of @api_view is what its class was made of.
        return self.classes.line or self.function or self.route

    @property
    def function(self) -> str:
        handler: Any = attempt(lambda: self.endpoint.handler, None)
        codes = [function.__code__ for function, _ in unwrap_function(handler)]
        own = [code for code in codes if is_project_file(code.co_filename)]
        return write_line(own[-1].co_filename, own[-1].co_firstlineno) if own else ""

    @property
    def route(self) -> str:
        """The line of a URLconf that names a view of an installed package."""
        name = locate_view(self.endpoint.view_class).rpartition(".")[2]
        for path in find_urlconf_files(get_resolver(settings.ROOT_URLCONF)):
            for node in ast.walk(read_source(path).tree):
                named = getattr(node, "id", None) or getattr(node, "attr", None)
                if isinstance(node, (ast.Name, ast.Attribute)) and named == name:
                    return write_line(path, node.lineno)
        return self.endpoint.place


def find_urlconf_files(resolver: Any) -> Iterable[str]:
    path = getattr(resolver.urlconf_module, "__file__", None)
    if path and is_project_file(path):
        yield path
    for entry in resolver.url_patterns:
        if hasattr(entry, "url_patterns"):
            yield from find_urlconf_files(entry)


class ArgumentSearch:
    """Finds the lines that make one tool's arguments; nothing is imported, no view is called."""

    def __init__(self, tool: Tool, lines: EndpointLines) -> None:
        self.tool = tool
        self.view: Any = tool.view
        self.lines = lines

    @functools.cached_property
    def serializer(self) -> Any:
        inspection = Inspection(self.view, self.tool.endpoint.method)
        made = contain(lambda: InputSerializer(inspection).get_serializer(), lambda exc: None)
        return getattr(made, "child", made)

    def find(self, argument: Argument) -> dict[str, str]:
        """Return the place, the subject and the remedy of an argument without words."""
        name, location = argument.parameter.name, argument.location
        subject = f"{self.tool.endpoint.view_class.__name__}.{name}"
        if location == PATH:
            return make_source(self.lines.handler, subject, PATH_PARAMETER)
        find = self.find_field if location == BODY else self.find_filter
        if found := contain(lambda: find(name), lambda exc: None):
            return found
        # Code reads the parameter by its name: a view, its filters, its serializer, its pages.
        view = self.view
        owners = [type(view), getattr(view, "filterset_class", None), type(self.serializer)]
        owners += [getattr(view, "pagination_class", None), *getattr(view, "filter_backends", ())]
        line = OwnClasses(*owners).find_text(name)
        if line is not None and line.call == "OpenApiParameter":
            return make_source(line.place, f"{line.owner}.{name}", PARAMETER)
        remedy = DECLARED.format(location=BODY if location == BODY else QUERY)
        if line is None:
            return {"place": self.lines.handler, "subject": subject, "remedy": remedy}
        return {"place": line.place, "subject": f"{line.owner}.{name}", "remedy": remedy}

    def find_field(self, name: str) -> dict[str, str] | None:
        if self.serializer is None:
            return None
        owner = type(self.serializer)
        classes, field = OwnClasses(owner), self.serializer.fields.get(name)
        if name in getattr(owner, "_declared_fields", {}):
            line = classes.find_member(name)
            return make_source(line.place, f"{line.owner}.{name}", HELP_TEXT) if line else None
        model = getattr(getattr(owner, "Meta", None), "model", None)
        source = getattr(field, "source", name)
        known = {each.name: each for each in model._meta.get_fields()} if model else {}
        if source in known and (line := OwnClasses(known[source].model).find_member(source)):
            return make_source(line.place, f"{line.owner}.{source}", HELP_TEXT)
        if field is None or not classes.line:
            return None
        return make_source(classes.line, f"{owner.__name__}.{name}", EXTRA_KWARGS)

    def find_filter(self, name: str) -> dict[str, str] | None:
        filterset_class = getattr(self.view, "filterset_class", None)
        line, field = None, name.partition("__")[0]
        if isinstance(filterset_class, type):
            classes, listing = OwnClasses(filterset_class), "Meta"
            # A range is two arguments of one filter.
            for item in filter(None, (name, name.rpartition("_")[0])):
                if line := classes.find_member(item):
                    return make_source(line.place, f"{line.owner}.{item}", DECLARED_FILTER)
            is_listed = name in getattr(filterset_class, "base_filters", {})
        else:
            classes, listing = self.lines.classes, "filterset_fields"
            fields = getattr(self.view, listing, None) or ()
            is_listed = fields == "__all__" or name in fields or field in fields
        if is_listed:
            line = classes.find_text(name, listing) or classes.find_text(field, listing)
            line = line or classes.find_member(listing)
        return make_source(line.place, f"{line.owner}.{name}", MADE_FILTER) if line else None


def make_source(place: str, subject: str, remedy: str) -> dict[str, str]:
    return {"place": place, "subject": subject, "remedy": remedy}
