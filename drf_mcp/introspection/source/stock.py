"""Telling REST framework's own code from a project's, which may do anything."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from django.utils.functional import cached_property


def is_stock(owner: type, *names: str) -> bool:
    """Return True if REST framework itself wrote each of the class's attributes.

    Decorators that keep the wrapped function's ``__module__``, as `functools.wraps`
    does, count as what they wrap: caching or logging a method does not change what
    it returns.
    """
    return all(package_of(owner, name) == "rest_framework" for name in names)


def vars_through(owner: type, name: str) -> Any:
    """Return a class attribute without calling its descriptor."""
    return next((vars(base)[name] for base in owner.__mro__ if name in vars(base)), None)


def package_of(owner: type, name: str) -> str:
    """Return the top-level package that defines a class's attribute; "" if nothing does."""
    attribute = inspect.getattr_static(owner, name, None)
    module = getattr(function_behind(attribute), "__module__", None) or ""
    return str(module).partition(".")[0]


def function_behind(attribute: Any) -> Any:
    """Return the function inside a property, a class method or a cached property."""
    if isinstance(attribute, property):
        return attribute.fget
    if isinstance(attribute, (cached_property, functools.cached_property)):
        return attribute.func
    return getattr(attribute, "__func__", attribute)
