"""Kinds of classes, given as such or by their dotted paths."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from drf_mcp.option_types.base import Kind


class Class(Kind):
    """A class, or the dotted path of one.

    Args:
        base: the dotted path of the class that it is derived from.
        none: None is taken as well.
    """

    def __init__(self, base: str, *, none: bool = False) -> None:
        super().__init__(none=none)
        self.base = base
        self.words = f"a subclass of {base}"

    def takes(self, value: Any) -> bool:
        """Return whether a value is derived from the base."""
        return isinstance(value, type) and issubclass(value, import_string(self.base))

    def resolve(self, value: Any, place: str) -> Any:
        """Return the class of a dotted path."""
        if not isinstance(value, str):
            return value
        try:
            return import_string(value)
        except ImportError as exc:
            raise ImproperlyConfigured(
                f"{place} names {value!r}, which cannot be imported: {exc}"
            ) from exc


class PermissionClass(Class):
    """A permission class, or several put together with operators."""

    def __init__(self) -> None:
        super().__init__("rest_framework.permissions.BasePermission")
        self.words = "a permission class"

    def takes(self, value: Any) -> bool:
        """Return whether REST framework can make a permission of a value."""
        from rest_framework.permissions import OperandHolder, SingleOperandHolder

        if isinstance(value, (OperandHolder, SingleOperandHolder)):
            return True
        return isinstance(value, type) and callable(getattr(value, "has_permission", None))


class Middleware(Class):
    """Middleware as Django's MIDDLEWARE names it: a class or a function that makes one."""

    def __init__(self) -> None:
        super().__init__("")
        self.words = "the dotted path of middleware"

    def takes(self, value: Any) -> bool:
        """Return whether a value makes middleware."""
        return callable(value)


class InstanceOf(Kind):
    """An instance of a class.

    Args:
        base: the dotted path of the class.
    """

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.words = f"an instance of {base}"

    def takes(self, value: Any) -> bool:
        """Return whether a value is an instance."""
        return isinstance(value, import_string(self.base))
