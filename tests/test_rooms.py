"""The folders of the package, and which folder may import which."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import ROOT, SOURCES, nodes_of

# These tests parse the whole package.
pytestmark = pytest.mark.slow

DRAWING = (ROOT.parent / "ARCHITECTURE.md").read_text()
# A line of the tree of folders: two blanks for each level, and what it is for.
IN_TREE = re.compile(r"^(?P<indent>(?:  )+)(?P<name>[\w.]+/?)  +\S", re.M)
RIGHT = {"protocol", "truncation", "envelopes"}
BOTH_SIDES = "both sides"
# Modules of a folder that do not follow its row.
ALIASES = {"archive", "tools"}
# The package names the decorator `standardized_response`.
BRIDGES = {"envelopes"}


def read_rows(arrow: str) -> dict[str, set[str]]:
    """Return what the drawing has on the right of an arrow, by each name on its left."""
    waist = split_names(re.search(r"^the waist = (.*)$", DRAWING, re.M)[1])
    found: dict[str, set[str]] = {}
    for left, right in re.findall(rf"^(\w[\w., ]*) {arrow} (.*)$", DRAWING, re.M):
        names = split_names(right) - {"nothing"}
        names = (names - {"the waist"}) | waist if "the waist" in names else names
        found.update(dict.fromkeys(split_names(left), names))
    return found


def split_names(text: str) -> set[str]:
    return {name.strip() for name in text.split(",")}


# The folders that a folder may import besides itself. "both sides" are all folders except those in
# `READERS`.
MAY_IMPORT = read_rows("->")
# Only the folders in these sets may import them: no call needs checks and commands.
READERS = {folder: readers | {folder} for folder, readers in read_rows("<-").items()}

# Modules that break a rule, with the folders that they import. A pair that is no longer in the code
# has to leave this list.
EXPECTED_VIOLATIONS: dict[str, set[str]] = {
    # The content of the lock file; the name is public.
    "test.parity": {"contrib"},
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
    allowed = MAY_IMPORT.get(module, MAY_IMPORT.get(folder, {BOTH_SIDES}))
    if module in BRIDGES or BOTH_SIDES in allowed:
        return unread
    return unread | (folders - allowed)


def test_a_folder_imports_only_what_its_rule_allows():
    found = {module: violations(module) for module in MODULES}
    assert {module: folders for module, folders in found.items() if folders} == EXPECTED_VIOLATIONS


def test_the_tree_of_folders_is_the_package():
    drawn, place = set(), [ROOT]
    for line in IN_TREE.finditer(DRAWING):
        level = len(line["indent"]) // 2
        place[level:] = [place[level - 1] / line["name"]]
        drawn.add(place[level])
    assert {path for path in drawn if not path.exists()} == set()
    folders = {source.parent for source in SOURCES if source.parent.parent == ROOT}
    # `urls` is for the project's URLconf, `migrations` for the database.
    assert {f.name for f in folders - drawn} == {"urls", "migrations"}


def test_every_folder_has_a_rule():
    folders = {folder_of(module) for module in MODULES} - ALIASES
    # What Django looks for by its name.
    named = {"", "__main__", "admin", "apps", "pytest_plugin", "urls"}
    assert folders - MAY_IMPORT.keys() == named


def test_the_rules_name_existing_modules():
    named = {*BRIDGES, *EXPECTED_VIOLATIONS, *VIEW_CALLERS, *ALIASES}
    folders = {*MAY_IMPORT, *READERS}.union(*READERS.values(), *EXPECTED_VIOLATIONS.values())
    folders = folders.union(*MAY_IMPORT.values()) - {BOTH_SIDES}
    assert named <= MODULES.keys()
    assert folders - MODULES.keys() <= {folder_of(module) for module in MODULES}


# The flat modules and folders from which an app imports what a stranger may.
PUBLIC = {
    *("archives", "budgets", "describers", "digests", "errors", "exposure", "features", "naming"),
    *("codes", "envelopes", "exceptions", "interaction", "outcomes", "signals", "test"),
}


def test_apps_take_few_names_of_the_insides_of_the_core():
    taken = {
        (node.module, alias.name)
        for module in MODULES
        if folder_of(module) == "contrib"
        for node in nodes_of(MODULES[module])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("drf_mcp.")
        for alias in node.names
        if folder_of(node.module.removeprefix("drf_mcp.")) not in {*PUBLIC, "contrib"}
    }
    assert len(taken) <= 100, sorted(taken)


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
