"""The words of a project's code: what the names in it speak of.

Read of compiled code, which needs no source.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

from drf_mcp.introspection.source.members import (
    is_framework_code,
    unwrap_function,
    unwrap_member,
)

# Parts of names that speak of who is calling.
WHO = ("user", "tenant", "session", "auth")


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
    for function in find_own(owner, name):
        names = " ".join(find_names(function)).lower()
        if not inspect.isfunction(function) or any(word in names for word in WHO):
            return True
    return False


def find_names(function: Any) -> frozenset[str]:
    """Return the names that a function and what it decorates use."""
    layers = (layer.__code__ for layer, _ in unwrap_function(function))
    return frozenset().union(*map(find_names_of_code, layers))


@functools.lru_cache(maxsize=4096)
def find_names_of_code(code: CodeType) -> frozenset[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    own = frozenset((*code.co_names, *code.co_varnames, *code.co_freevars))
    return own.union(*map(find_names_of_code, inner))
