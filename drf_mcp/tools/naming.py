"""Tool names: from the path and the action, short, stable and portable."""

from __future__ import annotations

import difflib
import hashlib
import inspect
import re
from collections.abc import Iterable

from rest_framework import mixins

from drf_mcp.introspection.source.twins import plain_name
from drf_mcp.tools.routes import Endpoint

NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MAX_LENGTH = 64
DEFAULT_MAX_LENGTH = 48

# Leading path segments that say nothing of what a tool is about.
PREFIX_SEGMENT = re.compile(r"(?:api|rest|v\d+(?:[._]\d+)*)\Z", re.IGNORECASE)

# What the names of view classes and functions end with, which says nothing of what they show.
VIEW_SUFFIX = re.compile(r"(?:(?:API|Api)?View(?:[Ss]et)?|(?:_api)?_view(?:_?set)?)\Z")
# What the names of generic views end with: the actions, which tools have at the end anyway.
ACTION_SUFFIX = re.compile(r"(?:List|Create|Retrieve|Update|Destroy|Detail)+\Z")

GENERIC_ACTIONS: dict[str, tuple[tuple[type, str], ...]] = {
    "GET": ((mixins.ListModelMixin, "list"), (mixins.RetrieveModelMixin, "retrieve")),
    "POST": ((mixins.CreateModelMixin, "create"),),
    "PUT": ((mixins.UpdateModelMixin, "update"),),
    "PATCH": ((mixins.UpdateModelMixin, "partial_update"),),
    "DELETE": ((mixins.DestroyModelMixin, "destroy"),),
}


def standard_action(endpoint: Endpoint) -> str | None:
    """Return the action that an endpoint amounts to: its own, or its mixin's."""
    if endpoint.action is not None:
        handler = getattr(endpoint.view_class, endpoint.action, None)
        is_twin = inspect.iscoroutinefunction(handler)
        return plain_name(endpoint.action) if is_twin else endpoint.action
    for mixin, action in GENERIC_ACTIONS.get(endpoint.method, ()):
        if issubclass(endpoint.view_class, mixin):
            return action
    return None


def static_segments(path: str) -> list[str]:
    """Return the segments of a path that hold no parameter."""
    return [segment for segment in path.split("/") if segment and "{" not in segment]


def snake(text: str) -> str:
    """Return text as a lower-case identifier; "" if nothing of it is left."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


def default_name(endpoint: Endpoint, noun: str | None = None, *, versioned: bool = False) -> str:
    """Return the name of a tool that was not given one.

    Args:
        endpoint: what the tool stands for.
        noun: the words before the action, by default the path's static segments.
        versioned: keep a leading version segment, to tell two tools apart.
    """
    segments = static_segments(endpoint.route.path)
    while segments and PREFIX_SEGMENT.match(segments[0]):
        if versioned and segments[0].lower().startswith("v"):
            break
        segments.pop(0)
    action = standard_action(endpoint)
    words = strip_action(segments, endpoint) if endpoint.action else segments
    base = noun if noun is not None else "_".join(map(snake, words))
    if noun is None and all(map(PREFIX_SEGMENT.match, words)):
        base = "_".join(filter(None, (base, own_noun(endpoint))))
    name = complete(base, action, endpoint)
    return shorten(name, ending=name.removeprefix(f"{base}_") if base else "")


def strip_action(segments: list[str], endpoint: Endpoint) -> list[str]:
    """Return the segments without those that an extra action's url_path adds."""
    own = static_segments(re.sub(r"\(.*\)|<.*>", "{}", extra_path(endpoint)))
    if own and segments[-len(own) :] == own:
        return segments[: -len(own)]
    return segments


def extra_path(endpoint: Endpoint) -> str:
    """Return what ``@action(url_path=...)`` adds to a route, whichever method's it is."""
    actions: dict[str, str] = getattr(endpoint.route.callback, "actions", None) or {}
    handlers = (getattr(endpoint.view_class, name) for name in actions.values())
    return next((handler.url_path for handler in handlers if hasattr(handler, "url_path")), "")


def own_noun(endpoint: Endpoint) -> str:
    """Return the words for a view whose path has none: its router's basename, or its class's."""
    if basename := snake(endpoint.route.initkwargs.get("basename") or ""):
        return basename
    name = endpoint.view_class.__name__
    short = VIEW_SUFFIX.sub("", name) or name
    if endpoint.action is None and standard_action(endpoint) is not None:
        short = ACTION_SUFFIX.sub("", short) or short
    return snake(short)


def complete(base: str, action: str | None, endpoint: Endpoint) -> str:
    """Join noun and action; a plain view with one method needs no action."""
    base = base or own_noun(endpoint)
    if action is None:
        handled = [m for m in GENERIC_ACTIONS if hasattr(endpoint.view_class, m.lower())]
        action = endpoint.method.lower() if len(handled) > 1 else ""
    name = f"{base}_{snake(action)}" if action else base
    return name if NAME.match(name) else f"tool_{name}"


def shorten(name: str, limit: int = DEFAULT_MAX_LENGTH, ending: str = "") -> str:
    """Cut a name to the limit, with a hash of the whole in it so that it stays its own.

    Args:
        name: the name.
        limit: how long it may be.
        ending: the words at its end to keep, such as the action, unless they are its most.
    """
    if len(name) <= limit:
        return name
    tail = f"_{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    if ending != name and 0 < len(ending) <= limit // 2:
        tail = f"{tail}_{ending}"
    return f"{name[: limit - len(tail)].rstrip('_')}{tail}"


def default_names(pairs: list[tuple[Endpoint, str | None]], taken: set[str]) -> list[str]:
    """Name endpoints so that no two share a name and none takes a given one.

    A clash is settled by the first thing that tells all of them apart: the version in the
    path, then the path's parameters, then the method. Where none does alone, each gets what
    is free, or a number.

    Args:
        pairs: endpoints, each with the noun it was given or None.
        taken: names that were given to other tools.
    """
    candidates = [name_candidates(endpoint, noun) for endpoint, noun in pairs]
    clashes: dict[str, list[tuple[str, ...]]] = {}
    for options in candidates:
        clashes.setdefault(options[0], []).append(options)
    alone = {name for name, alike in clashes.items() if len(alike) == 1} - taken
    used = taken | alone
    names = {name: iter([name]) for name in alone}
    for name, alike in clashes.items():
        if name not in alone:
            told = told_apart(alike, used)
            used |= set(told)
            names[name] = iter(told)
    return [next(names[options[0]]) for options in candidates]


def told_apart(alike: list[tuple[str, ...]], used: set[str]) -> list[str]:
    """Return a free name for each of the endpoints whose plainest name is the same."""
    for names in zip(*alike, strict=True):
        if len(set(names)) == len(names) and used.isdisjoint(names):
            return list(names)
    found: list[str] = []
    for plain, *others in alike:
        not_free = used.union(found)
        free = (name for name in (*others, plain) if name not in not_free)
        found.append(next(free, None) or numbered(plain, not_free))
    return found


def name_candidates(endpoint: Endpoint, noun: str | None) -> tuple[str, ...]:
    """Return names for an endpoint: plain, by its version, its parameters and its method."""
    plain = default_name(endpoint, noun)
    versioned = default_name(endpoint, noun, versioned=True)
    parameters = "_and_".join(snake(name) for name in endpoint.route.kwargs)
    by_path = shorten(f"{plain}_by_{parameters}") if parameters else plain
    return plain, versioned, by_path, shorten(f"{plain}_{endpoint.method.lower()}")


def numbered(name: str, used: set[str]) -> str:
    """Return the first of NAME_2, NAME_3, … that is free."""
    number = 2
    while f"{name}_{number}" in used:
        number += 1
    return f"{name}_{number}"


def nearest_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three names close to one that does not exist."""
    return difflib.get_close_matches(name[:MAX_LENGTH], list(names), n=3)
