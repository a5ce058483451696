"""What goes with an object that is deleted, by Django's own collector."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from django.db import router
from django.db.models import Model, ProtectedError, QuerySet, RestrictedError
from django.db.models.deletion import Collector

from drf_mcp.dispatch.blockers import MOST_ROWS


class Cascade:
    """The rows that Django deletes, changes or is refused by, if an object is deleted.

    Attributes:
        refusal: why Django would not delete the object, None if it would.
    """

    def __init__(self, instance: Model) -> None:
        self.instance = instance
        using = router.db_for_write(type(instance), instance=instance)
        self.collector: Any = Collector(using=using, origin=instance)
        self.refusal: ProtectedError | RestrictedError | None = None
        try:
            self.collector.collect([instance])
        except (ProtectedError, RestrictedError) as exc:
            self.refusal = exc

    @cached_property
    def deleted(self) -> dict[type[Model], list[Any]]:
        """The primary keys of the rows that are deleted with the object, by model."""
        collected = self.collector.data.items()
        own = {type(self.instance)._meta.concrete_model, *self.instance._meta.get_parent_list()}
        rows = [
            (model, [row for row in rows if model not in own or row.pk != self.instance.pk])
            for model, rows in collected
        ]
        fast = ((queryset.model, queryset) for queryset in self.collector.fast_deletes)
        return self.get_keys((*rows, *fast))

    @cached_property
    def changed(self) -> dict[type[Model], list[Any]]:
        """The primary keys of the rows that stay and refer to something else, by model."""
        updates = self.collector.field_updates.items()
        return self.get_keys((field.model, rows) for (field, _), found in updates for rows in found)

    def get_keys(self, found: Iterable[tuple[Any, Any]]) -> dict[type[Model], list[Any]]:
        keys: dict[type[Model], set[Any]] = {}
        for model, rows in found:
            if isinstance(rows, QuerySet):
                # One more than are counted tells that they are too many.
                own = set(rows.order_by("pk").values_list("pk", flat=True)[: MOST_ROWS + 1])
            else:
                own = {row.pk for row in (rows if isinstance(rows, Iterable) else (rows,))}
            keys.setdefault(model, set()).update(own)
        models = sorted((model for model in keys if keys[model]), key=lambda m: m._meta.label)
        return {model: sorted(keys[model], key=str) for model in models}
