"""The lines of a project's own source that a finding is about, as ``shop/views.py:12``."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.conf import settings
from django.urls import get_resolver
from django.utils.translation import gettext as _

from drf_mcp.introspection.inspection import locate_view
from drf_mcp.introspection.safe_call import is_project_file, write_line
from drf_mcp.introspection.source.members import unwrap_function
from drf_mcp.tools.endpoints import Endpoint

TOOLS = "{tools}"
NAMED = 3


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

    @property
    def key(self) -> tuple[str, ...]:
        return self.cause, self.place, self.subject, self.sentence, self.remedy

    def join(self, other: LintFinding) -> LintFinding:
        tools = dict.fromkeys((*self.tools, *other.tools))
        return replace(self, tools=tuple(tools), saves=self.saves + other.saves)

    def as_data(self) -> dict[str, Any]:
        data = {**asdict(self), "message": self.message}
        del data["sentence"]
        return data


def join_findings(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """Return one finding for each root cause, with the tools of all."""
    joined: dict[tuple[str, ...], LintFinding] = {}
    for finding in findings:
        known = joined.get(finding.key)
        joined[finding.key] = finding if known is None else known.join(finding)
    return list(joined.values())


@dataclass(frozen=True)
class SharedCause:
    """A kind of root cause that several tools have together, with the attributes of a `Rule`."""

    cause: str
    title: str
    why: str
    remedy: str
    is_brief: bool = True

    def make(
        self, place: str, subject: str, sentence: str, tools: tuple[str, ...] = (), saves: int = 0
    ) -> LintFinding:
        return LintFinding(self.cause, place, subject, sentence, _(self.remedy), tools, saves)


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
        handler: Any = self.endpoint.attempt(lambda: self.endpoint.handler, None)
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
