"""What the calls in one function do with rows, and by which members they look rows up."""

from __future__ import annotations

import inspect
import re
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import QuerySet

from drf_mcp.introspection.source.members import find_member, is_harmless
from drf_mcp.introspection.source.values import (
    UNKNOWN,
    Arguments,
    ModelRows,
    ReadObject,
    RunParts,
    Values,
    is_member,
)

ROW_METHODS = frozenset({"get", "aget", "filter", "exclude", "get_or_create"})


class RowReader(RunParts):
    """Reads the calls of managers and querysets."""

    def call_rows(self, rows: ModelRows, name: str, given: Arguments) -> Values:
        self.use_for(rows, given)
        self.call_manager(rows.model, name, given)
        if name in ROW_METHODS:
            self.read_keys(rows, given, is_key=name in ("get", "aget"))
        return (rows,) if name not in ("get", "first", "last", "create") else UNKNOWN

    def call_manager(self, model: Any, name: str, given: Arguments) -> None:
        # A project's own method of a manager may be given the request.
        kind = getattr(model._default_manager, "_queryset_class", QuerySet)
        for owner in (kind, type(model._default_manager)):
            function = find_member(owner, name)
            if inspect.isfunction(function) and not is_harmless(function):
                if bound := self.bind(function, given, skip=True):
                    self.reader.follow(function, ReadObject(owner), bound, self.flow)
                return
        self.escape_parts(given)

    def read_keys(self, rows: ModelRows, given: Arguments, *, is_key: bool) -> None:
        for lookup, values in given.keywords.items():
            members = list(filter(is_member, values))
            found = find_key(rows.model, lookup or "", is_key) if members else None
            if found is not None:
                if rows.attribute:
                    self.reader.asked.add(rows.attribute)
                for member in members:
                    self.learn(member, rows={found: None})

    def find_row(self, given: Arguments) -> Values:
        for value in given.first:
            known, attribute = getattr(value, "value", value), getattr(value, "attribute", "")
            model = getattr(known, "model", known)
            if hasattr(model, "_meta"):
                self.read_keys(ModelRows(model, attribute), given, is_key=True)
        return self.escape_parts(given)  # type: ignore[no-any-return]


def find_key(model: Any, lookup: str, is_key: bool) -> tuple[Any, str] | None:
    """Return the model of the row that a lookup finds, and the key; None for other lookups.

    Args:
        is_key: whether the lookup finds one row, whatever its field.
    """
    name = re.sub(r"__(iexact|exact|in)\Z", "", lookup)
    if name == "pk":
        return model, name
    try:
        found = model._meta.get_field(name.removesuffix("_id"))
    except FieldDoesNotExist:
        return None
    if found.related_model is not None:
        return (found.related_model, "pk") if found.many_to_one or found.one_to_one else None
    if getattr(found, "primary_key", False):
        return model, "pk"
    return (model, name) if is_key or getattr(found, "unique", False) else None
