"""The folders of the package, and which folder may import which."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import ROOT, SOURCES, nodes_of

# These tests parse the whole package.
pytestmark = pytest.mark.slow

# Values and names that both sides share, without REST framework and without the protocol.
WAIST = {
    "codes",
    "outcomes",
    "settings",
    "features",
    "option_types",
    "exceptions",
    "json_text",
}
RIGHT = {"protocol", "truncation", "envelopes"}
# Modules that see both sides, and pass values from one to the other.
BRIDGES = {
    "server",
    "renderers",
    "views",
    "stored.retrieval",
    # The package names the decorator `standardized_response`.
    "envelopes",
}
# Flat modules, from which a project imports what it derives its classes from.
PUBLIC = {
    "naming",
    "exposure",
    "budgets",
    "describers",
    "errors",
    "digests",
    "archives",
    "archive",
    "tools",
}
ONLOOKERS = {
    *PUBLIC,
    "calls",
    "observability",
    "transports",
    "browsable",
    "checks",
    "management",
    "test",
}

# The folders that a folder may import besides itself. A folder without a row may import all except
# those in `READERS`.
MAY_IMPORT: dict[str, set[str]] = {
    "features": {
        *{"access", "arguments", "interaction", "option_types", "outcomes", "protocol"},
        "settings",
    },
    "option_types": set(),
    "exceptions": {"option_types"},
    "signals": set(),
    "codes": set(),
    "outcomes": {"codes", "json_text"},
    "models": set(),
    "json_text": set(),
    "settings": {"option_types"},
    "protocol": WAIST,
    "truncation": WAIST,
    "envelopes": WAIST | {"truncation"},
    "stored": WAIST | {"access", "arguments", "dispatch", "models", "truncation"},
    "access": WAIST,
    "interaction": WAIST | {"introspection"},
    "introspection": WAIST,
    "arguments": WAIST | {"introspection", "routes"},
    "routes": WAIST | {"access", "arguments", "introspection"},
    "dispatch": WAIST | {"access", "arguments", "interaction", "introspection", "routes"},
}

# Only the folders in these sets may import them: no call needs checks and commands.
READERS = {
    "checks": {"apps", "checks", "contrib"},
    "test": {"test", "management", "contrib", "pytest_plugin"},
    "browsable": {"views", "browsable", "contrib"},
    "contrib": {"contrib"},
    "management": {"management", "__main__", "contrib"},
}

# Modules that break a rule, with the folders that they import. A pair that is no longer in the code
# has to leave this list.
EXPECTED_VIOLATIONS: dict[str, set[str]] = {
    # The content of the lock file; the name is public.
    "test.assertions": {"contrib"},
}

# The most modules that import each other in a row.
LONGEST_CHAIN = 15


def module_name(source: Path) -> str:
    """Return a module's name below the package: ``arguments.call``, "" for the package."""
    name = ".".join(source.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix("__init__").rstrip(".")


MODULES = {module_name(source): source for source in SOURCES if "migrations" not in source.parts}


def imported_names(module: str) -> Iterator[str]:
    """Yield the dotted names of all imports, also those in functions and for types alone."""
    for node in nodes_of(MODULES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def modules_imported(module: str) -> set[str]:
    """Return the modules of the package that a module imports."""
    found = set()
    for name in imported_names(module):
        if name.split(".")[0] == "drf_mcp":
            parts = name.split(".")[1:]
            known = (".".join(parts[:length]) for length in range(len(parts), -1, -1))
            found.add(next(candidate for candidate in known if candidate in MODULES))
    return found - {module}


def folder_of(module: str) -> str:
    """Return the folder of a module, or the module itself at the root."""
    return module.split(".")[0]


def violations(module: str) -> set[str]:
    """Return the folders that a module imports against the rules of its folder."""
    folder = folder_of(module)
    folders = {folder_of(imported) for imported in modules_imported(module)} - {folder, ""}
    unread = {other for other in folders if folder not in READERS.get(other, {folder})}
    if module in BRIDGES or folder in ONLOOKERS or folder not in MAY_IMPORT:
        return unread
    return unread | (folders - MAY_IMPORT[folder])


def test_a_folder_imports_only_what_its_rule_allows():
    found = {module: violations(module) for module in MODULES}
    assert {module: folders for module, folders in found.items() if folders} == EXPECTED_VIOLATIONS


def test_the_rules_name_existing_modules():
    named = {*BRIDGES, *EXPECTED_VIOLATIONS, *VIEW_CALLERS}
    folders = {*WAIST, *RIGHT, *ONLOOKERS, *MAY_IMPORT, *READERS}
    folders = folders.union(*MAY_IMPORT.values(), *READERS.values(), *EXPECTED_VIOLATIONS.values())
    assert named <= MODULES.keys()
    assert folders <= {folder_of(module) for module in MODULES}


def test_the_right_side_does_not_import_rest_framework():
    """The modules get DRF's encoder and settings as arguments."""
    modules = [m for m in MODULES if folder_of(m) in RIGHT and m not in BRIDGES]
    imported = {name.partition(".")[0] for module in modules for name in imported_names(module)}
    assert "rest_framework" not in imported


def test_no_modules_import_each_other_in_a_circle():
    try:
        TopologicalSorter({module: modules_imported(module) for module in MODULES}).prepare()
    except CycleError as exc:
        pytest.fail(f"circle: {exc.args[1]}")


def test_no_chain_of_imports_is_too_long():
    order = TopologicalSorter({module: modules_imported(module) for module in MODULES})
    chains: dict[str, tuple[str, ...]] = {"": ("",)}
    for module in order.static_order():
        below = [chains[imported] for imported in modules_imported(module)]
        chains[module] = (module, *max(below, key=len, default=()))
    assert max(map(len, chains.values())) <= LONGEST_CHAIN, max(chains.values(), key=len)


# The modules that may call a view: for the call itself, and for questions to the view.
VIEW_CALLERS = {"dispatch.dispatcher", "dispatch.probe", "dispatch.refusals"}
# Steps of a view, each of which takes the request.
STEPS = {"initial", "check_permissions", "check_throttles", "perform_authentication"}


def direct_view_calls(module: str) -> Iterator[str]:
    """Yield what a module does to run a view by itself.

    It makes a call handler, sets throttles, or runs a step of a view; a call of ``super()`` is
    allowed.
    """
    yield from (n for n in imported_names(module) if n.endswith(".CallHandler"))
    for node in nodes_of(MODULES[module]):
        if isinstance(node, ast.Assign):
            targets = map(ast.unparse, node.targets)
            yield from (target for target in targets if target.endswith("check_throttles"))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner = node.func.value
            is_base = isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"
            if node.func.attr in STEPS and not is_base:
                yield node.func.attr


def test_only_the_dispatcher_and_the_probe_call_views():
    """Each question to a view goes through CALL_MIDDLEWARE, authentication and throttles."""
    found = {module: list(direct_view_calls(module)) for module in MODULES.keys() - VIEW_CALLERS}
    assert {module: calls for module, calls in found.items() if calls} == {}
