from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence

from rest_framework.views import APIView

from drf_mcp.routes.descriptions import Docstrings, Subject, describe_tool, snake_case
from drf_mcp.routes.endpoint import GENERIC_ACTIONS, Endpoint
from drf_mcp.routes.tool import NAME, Tool

DEFAULT_MAX_LENGTH = 48

# Leading path segments that all tools of an API share.
PREFIX_SEGMENT = re.compile(r"(?:api|rest|v\d+(?:[._]\d+)*)\Z", re.IGNORECASE)
VERSION_SEGMENT = re.compile(r"v\d+(?:[._]\d+)*\Z", re.IGNORECASE)

# Endings of the names of view classes and functions.
VIEW_SUFFIX = re.compile(r"(?:(?:API|Api)?View(?:[Ss]et)?|(?:_api)?_view(?:_?set)?)\Z")
# Actions at the end of the class names of generic views; the tool's name has the action already.
ACTION_SUFFIX = re.compile(r"(?:List|Create|Retrieve|Update|Destroy|Detail)+\Z")


class Naming:
    """Names, titles and descriptions of tools that have none in their options.

    A subclass overrides the ``get_*`` methods; the setting NAMING_CLASS takes its dotted path.
    A name consists of lower-case letters, digits and underscores, a letter first, and has at
    most 64 characters.

    Attributes:
        shared_words: the first words of every path, which names that are too long leave out.
    """

    shared_words: Sequence[str] = ()

    def get_name(self, endpoint: Endpoint) -> str:
        """Return the name that a tool has unless another tool has the same name.

        INCLUDE and EXCLUDE match their patterns against this name.
        """
        return self.build_name(endpoint)

    def get_versioned_name(self, endpoint: Endpoint) -> str:
        """Return the name with the version that the path begins with, such as ``v2_orders_list``.

        The name is `get_name`'s where the path begins with no version.
        """
        return self.build_name(endpoint, versioned=True)

    def get_candidates(self, endpoint: Endpoint) -> Sequence[str]:
        """Return the names to choose from, best first.

        Tools with the same first candidate all get the second one if their second candidates
        differ, else the third one, and so on. Where no candidates differ, each tool gets the first
        one that is free, or a number.
        """
        name = self.get_name(endpoint)
        parameters = "_and_".join(snake_case(kwarg) for kwarg in endpoint.route.kwargs)
        by_path = _shorten_name(f"{name}_by_{parameters}") if parameters else name
        by_method = _shorten_name(f"{name}_{endpoint.method.lower()}")
        whole = self.build_name(endpoint, versioned=True, whole=True)
        return name, self.get_versioned_name(endpoint), whole, by_path, by_method

    def get_noun(self, endpoint: Endpoint) -> str:
        """Return the noun for a view whose path has no words, from its basename or its class.

        The name of a tool is its noun and its action.
        """
        if basename := snake_case(endpoint.route.initkwargs.get("basename") or ""):
            return basename
        name = endpoint.view_class.__name__
        short = VIEW_SUFFIX.sub("", name) or name
        if endpoint.action is None and endpoint.standard_action is not None:
            short = ACTION_SUFFIX.sub("", short) or short
        return snake_case(short)

    def get_title(self, endpoint: Endpoint, view: APIView) -> str:
        """Return the title of a tool, "" for its name with spaces; the view has no caller."""
        summary = Docstrings(endpoint, view).read_summary()
        return summary or Subject(endpoint, view).get_title()

    def get_description(self, tool: Tool) -> str:
        """Return the description that models read, for a tool without one of its own.

        A tool has a ``name``, a ``title``, an ``endpoint``, a ``view`` without a caller, and a
        ``schema`` with the parameters of ``path``, ``query`` and ``body``.
        """
        return describe_tool(tool)

    def build_name(
        self, endpoint: Endpoint, *, versioned: bool = False, whole: bool = False
    ) -> str:
        """Return a name made of the words of the path and the action.

        Args:
            versioned: whether the name keeps the version that the path begins with.
            whole: whether it has all words of the path; a hash replaces words that do not fit.
        """
        words = _find_fixed_segments(endpoint.route.path)
        words = words if whole else _drop_prefix(words, versioned=versioned)
        own = _find_fixed_segments(re.sub(r"\(.*\)|<.*>", "{}", endpoint.extra_path))
        if endpoint.action and own and words[-len(own) :] == own:
            words = words[: -len(own)]
        nouns = [endpoint.noun] if endpoint.noun else list(filter(None, map(snake_case, words)))
        if not nouns or (all(map(PREFIX_SEGMENT.match, words)) and endpoint.noun is None):
            nouns.append(self.get_noun(endpoint))
        action = endpoint.standard_action
        if action is None:
            # A plain view with one method needs no action.
            handled = [m for m in GENERIC_ACTIONS if hasattr(endpoint.view_class, m.lower())]
            action = endpoint.method.lower() if len(handled) > 1 else ""
        if not NAME.match(nouns[0]):
            nouns.insert(0, "tool")
        ending = [snake_case(action)] if action else []
        if whole:
            return _shorten_name("_".join([*nouns, *ending]), ending="".join(ending))
        if endpoint.action is None and "_".join(nouns).endswith(f"_{action}"):
            # The path of a generic view, such as /orders/list/, has the action already.
            ending = []
        return _join_words(nouns, ending, self.shared_words)

    def choose_names(self, endpoints: Sequence[Endpoint], taken: set[str]) -> list[str]:
        self.shared_words = _find_shared_words(endpoints)
        candidates = [tuple(self.get_candidates(endpoint)) for endpoint in endpoints]
        groups: dict[str, list[tuple[str, ...]]] = {}
        for options in candidates:
            groups.setdefault(options[0], []).append(options)
        used = taken | {name for name, group in groups.items() if len(group) == 1}
        names: dict[str, Iterator[str]] = {}
        for name, group in groups.items():
            chosen = [name]
            if len(group) > 1 or name in taken:
                chosen = self._distinguish(group, used)
                used |= set(chosen)
            names[name] = iter(chosen)
        return [next(names[options[0]]) for options in candidates]

    def _distinguish(self, group: list[tuple[str, ...]], used: set[str]) -> list[str]:
        for names in zip(*group, strict=False):
            if len(set(names)) == len(names) and used.isdisjoint(names):
                return list(names)
        found: list[str] = []
        for name, *others in group:
            unavailable = used.union(found)
            numbered = (f"{name}_{number}" for number in range(2, len(unavailable) + 3))
            free = (n for n in (*others, name, *numbered) if n not in unavailable)
            found.append(next(free))
        return found


def _find_fixed_segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment and "{" not in segment]


def _drop_prefix(segments: list[str], *, versioned: bool = False) -> list[str]:
    """Return the segments of a path without ``api/v1`` and all that precedes it."""
    start = 0
    for place, segment in enumerate(segments):
        follows = segments[place + 1] if place + 1 < len(segments) else ""
        if segment.lower() == "api" and VERSION_SEGMENT.match(follows):
            start = place
    while start < len(segments) and PREFIX_SEGMENT.match(segments[start]):
        if versioned and VERSION_SEGMENT.match(segments[start]):
            break
        start += 1
    return segments[start:]


def _find_shared_words(endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    paths = [_drop_prefix(_find_fixed_segments(endpoint.route.path)) for endpoint in endpoints]
    if len(paths) < 2:
        return ()
    shared = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*paths, strict=False))
    return tuple(snake_case(column[0]) for column in shared)


def _join_words(nouns: list[str], ending: list[str], shared: Sequence[str]) -> str:
    """Return a name of the words that fit, the last noun and the action first of all.

    A name that is too long leaves out the words that all tools share, then words from the middle,
    then the first one.
    """
    whole = "_".join([*nouns, *ending])
    if len(whole) > DEFAULT_MAX_LENGTH and tuple(nouns[: len(shared)]) == tuple(shared):
        nouns = nouns[len(shared) :] or nouns
    shorter = [[nouns[0], *nouns[1 + dropped :]] for dropped in range(max(len(nouns) - 1, 1))]
    for kept in (*shorter, nouns[-1:]):
        name = "_".join([*kept, *ending])
        if len(name) <= DEFAULT_MAX_LENGTH and NAME.match(name):
            return name
    return _shorten_name(whole, ending="".join(ending))


def _shorten_name(name: str, ending: str = "") -> str:
    # Long names with the same beginning differ in a hash of the whole name.
    if len(name) <= DEFAULT_MAX_LENGTH:
        return name
    tail = f"_{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    if ending != name and 0 < len(ending) <= DEFAULT_MAX_LENGTH // 2:
        tail = f"{tail}_{ending}"
    return f"{name[: DEFAULT_MAX_LENGTH - len(tail)].rstrip('_')}{tail}"
