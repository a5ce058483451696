"""Models that REST framework can render as they are."""

from __future__ import annotations

from collections.abc import KeysView
from typing import Any


class Body:
    """Reads like the mapping that a model stands for.

    REST framework's JSON encoder writes anything that does as an object, so that a view
    may answer ``Response(success_response(...))`` over plain HTTP too.
    """

    def as_json(self) -> dict[str, Any]:
        """Return the JSON value."""
        raise NotImplementedError

    def as_envelope(self) -> dict[str, Any]:
        """Return the members of the envelope, ``data`` as the view made it."""
        raise NotImplementedError

    def keys(self) -> KeysView[str]:
        """Return the names of the members."""
        return self.as_json().keys()

    def __getitem__(self, name: str) -> Any:
        return self.as_json()[name]
