"""What a view class names: its place in the code, as people look for it, and its model."""

from __future__ import annotations

from typing import Any


def locate_view(view_class: type) -> str:
    # The class that @api_view makes has the name of its function, but not its qualified name.
    made = view_class.__qualname__ == "WrappedAPIView"
    name = view_class.__name__ if made else view_class.__qualname__
    return f"{view_class.__module__}.{name}"


def find_declared_model(view: Any) -> Any:
    declared = getattr(getattr(view, "queryset", None), "model", None)
    return declared or find_serializer_model(getattr(view, "serializer_class", None))


def find_serializer_model(serializer_class: Any) -> Any:
    return getattr(getattr(serializer_class, "Meta", None), "model", None)
