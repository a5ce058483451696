"""Where the code of a view stands, as people look for it."""

from __future__ import annotations


def place_of(view_class: type) -> str:
    """Return where a view stands: ``shop.views.OrderViewSet``.

    The class that ``@api_view`` makes has the name of its function, but not its qualified name.
    """
    made = view_class.__qualname__ == "WrappedAPIView"
    name = view_class.__name__ if made else view_class.__qualname__
    return f"{view_class.__module__}.{name}"
