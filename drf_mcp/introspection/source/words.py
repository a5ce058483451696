"""The words of a project's code: what the names in it speak of.

Read of compiled code, which needs no source.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from drf_mcp.introspection.source.members import (
    find_members_used,
    is_framework_code,
    unwrap_function,
    unwrap_member,
)

# Parts of names that speak of who is calling.
WHO = ("user", "tenant", "session", "auth")
# Parts of names and of keys that speak of the request, or of the view that is asked.
AROUND = ("context", "request", "view", "action", *WHO)


def find_own(owner: type, name: str) -> Iterator[Any]:
    """Yield the functions of a project's own behind a member, the nearest first."""
    for base in owner.__mro__:
        if name not in vars(base) or is_framework_code(base):
            continue
        function = unwrap_member(vars(base)[name])
        is_own = callable(function) and not is_framework_code(function)
        if is_own and not inspect.isclass(function):
            yield function


@functools.cache
def asks_who_calls(owner: type, name: str) -> bool:
    """Return whether the project's own code of a member speaks of the caller."""
    return any(
        not inspect.isfunction(function) or has_part(find_names(function), WHO)
        for function in find_own(owner, name)
    )


@functools.cache
def depends_on_request(owner: type, names: tuple[str, ...]) -> bool:
    """Return whether the own code of members speaks of a request or a view.

    What this code uses of the same class is read as well.
    """
    waiting = list(names)
    seen = set(waiting)
    while waiting:
        for function in find_own(owner, waiting.pop()):
            if not inspect.isfunction(function) or has_part(find_words(function), AROUND):
                return True
            used = {name for name, _ in find_members_used(function.__code__)} - seen
            waiting += used
            seen |= used
    return False


def has_part(words: Iterable[str], parts: tuple[str, ...]) -> bool:
    spoken = " ".join(words).lower()
    return any(part in spoken for part in parts)


def find_names(function: Any) -> frozenset[str]:
    """Return the names that a function and what it decorates use."""
    layers = (layer.__code__ for layer, _ in unwrap_function(function))
    return frozenset().union(*(names for names, _ in map(read_words, layers)))


def find_words(function: Any) -> frozenset[str]:
    """Return the names and the keys that a function and what it decorates use."""
    layers = (layer.__code__ for layer, _ in unwrap_function(function))
    return frozenset().union(*(names | keys for names, keys in map(read_words, layers)))


@functools.lru_cache(maxsize=4096)
def read_words(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    names, keys = {*code.co_names, *code.co_varnames, *code.co_freevars}, set[str]()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = read_words(constant)
            names |= inner[0]
            keys |= inner[1]
        texts = constant if isinstance(constant, (tuple, frozenset)) else (constant,)
        # No sentence, and no name of an inner function.
        keys |= {t for t in texts if isinstance(t, str) and " " not in t and "<" not in t}
    return frozenset(names), frozenset(keys)
