"""The rooms of the package: what stands where, and who may import whom."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import ROOT, SOURCES, nodes_of

# The whole package is parsed.
pytestmark = pytest.mark.slow

# Values and names that both sides share; nothing of REST framework, nothing of the wire.
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
# Modules that see both sides: they hand over from one to the other.
BRIDGES = {
    "server",
    "renderers",
    "views",
    "tools.capability",
    "tools.results",
    "archive.retrieval",
    "envelopes.standardized",
    "interaction.rounds",
    "tasks.capability",
    "tasks.task_store",
    "tasks.run",
}
ONLOOKERS = {"observability", "transports", "browsable", "checks", "management", "test"}

# The rooms that a room may import beside its own. Rooms that are not named here see all but
# those in `READERS`.
MAY_IMPORT: dict[str, set[str]] = {
    "features": {"access", "interaction", "option_types", "outcomes", "protocol", "tools"},
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
    "archive": WAIST | {"access", "models", "truncation"},
    "access": WAIST,
    "interaction": WAIST | {"introspection"},
    "introspection": WAIST,
    "tools": WAIST | {"access", "introspection"},
    "surface": WAIST
    | {
        "access",
        "archive",
        "dispatch",
        "interaction",
        "introspection",
        "protocol",
        "tools",
        "truncation",
    },
    "tasks": WAIST | {"access", "interaction", "models"},
    "guards": WAIST | {"access", "interaction", "introspection", "models", "tools"},
    "dispatch": WAIST | {"access", "interaction", "introspection", "tools", "guards"},
}

# Read by those named alone: checks and commands are no part of answering a call.
READERS = {
    "checks": {"apps", "checks", "contrib"},
    "test": {"test", "management", "contrib", "pytest_plugin"},
    "browsable": {"views", "browsable", "contrib"},
    "contrib": {"contrib"},
    "management": {"management", "__main__", "contrib"},
}

# Modules that import what their room should not, with the rooms they import. A pair that no
# longer stands in the code has to leave this list.
EXPECTED_VIOLATIONS: dict[str, set[str]] = {
    # What the lock file holds; the name is public.
    "test.assertions": {"contrib"},
}

# Modules that stand one on the other.
LONGEST_CHAIN = 15


def module_name(source: Path) -> str:
    """Return a module's name below the package: ``tools.arguments.call``, "" for the package."""
    name = ".".join(source.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix("__init__").rstrip(".")


MODULES = {module_name(source): source for source in SOURCES if "migrations" not in source.parts}


def imported_names(module: str) -> Iterator[str]:
    """Yield the dotted names of what is imported, at once, when used, or for types alone."""
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


def room_of(module: str) -> str:
    """Return the folder of a module, or the module itself at the root."""
    return module.split(".")[0]


def violations(module: str) -> set[str]:
    """Return the rooms that a module imports although its room may not."""
    room = room_of(module)
    rooms = {room_of(imported) for imported in modules_imported(module)} - {room, ""}
    unread = {other for other in rooms if room not in READERS.get(other, {room})}
    if module in BRIDGES or room in ONLOOKERS or room not in MAY_IMPORT:
        return unread
    return unread | (rooms - MAY_IMPORT[room])


def test_a_room_imports_only_what_it_may():
    found = {module: violations(module) for module in MODULES}
    assert {module: rooms for module, rooms in found.items() if rooms} == EXPECTED_VIOLATIONS


def test_the_right_side_knows_no_rest_framework():
    """DRF's encoder and settings are handed in."""
    modules = [m for m in MODULES if room_of(m) in RIGHT and m not in BRIDGES]
    assert not list(filter(knows_rest_framework, modules))


def knows_rest_framework(module: str) -> bool:
    """Return whether a module imports REST framework."""
    return any(name.partition(".")[0] == "rest_framework" for name in imported_names(module))


def test_there_are_no_circles():
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


# The modules that bring a request to a view: the call's own, and whatever asks a view something.
BRINGERS = {"dispatch.dispatcher", "dispatch.probe"}
# Steps of a view, each of which takes the request.
STEPS = {"initial", "check_permissions", "check_throttles", "perform_authentication"}


def own_ways(module: str) -> Iterator[str]:
    """Yield what a module does to bring a request to a view itself.

    It makes a handler of calls, sets throttles, or runs a step of a view, but for one of a
    class's own base.
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


def test_views_are_asked_by_the_probe_alone():
    """There is no second way: CALL_MIDDLEWARE, identity and throttles hold for each question."""
    found = {module: list(own_ways(module)) for module in MODULES.keys() - BRINGERS}
    assert {module: ways for module, ways in found.items() if ways} == {}
