from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.management.errors import UsageError


class CommandLineArguments:
    """A tool's arguments as ``key=value`` and as JSON objects; the later of two wins.

    A value that is JSON is that value, any other a string; ``a.b=1`` is ``{"a": {"b": 1}}``.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.values: dict[str, Any] = {}
        for text in texts:
            name, equals, value = text.partition("=")
            if text.lstrip().startswith("{"):
                try:
                    self.values.update(json.loads(text))
                except (ValueError, RecursionError) as exc:
                    message = _("The arguments are not JSON: %(error)s") % {"error": exc}
                    raise UsageError(message) from exc
            elif equals and all(name.split(".")):
                self.put(name.split("."), self.read_value(value))
            else:
                message = _("%(text)r is neither KEY=VALUE nor a JSON object.")
                raise UsageError(message % {"text": text[:60]})

    def read_value(self, text: str) -> Any:
        try:
            return json.loads(text, parse_constant=self.refuse_constant)
        except (ValueError, RecursionError):
            return text

    def refuse_constant(self, constant: str) -> None:
        # Python reads NaN and Infinity, which JSON does not have.
        raise ValueError(constant)

    def put(self, names: list[str], value: Any) -> None:
        place = self.values
        for depth, name in enumerate(names[:-1], start=1):
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                message = _("%(name)s is given twice: as a value, and as an object.")
                raise UsageError(message % {"name": ".".join(names[:depth])})
        place[names[-1]] = value
