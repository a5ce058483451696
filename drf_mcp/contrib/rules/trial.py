"""What a call would do, and a hash of everything that it would do it to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db import router
from django.db.models import Model
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied

from drf_mcp.contrib.rules.values import CallValues
from drf_mcp.contrib.writes.controls import DRY_RUN
from drf_mcp.contrib.writes.dry_run import DryRunGuard, Rollback
from drf_mcp.contrib.writes.previewer import Preview, preview
from drf_mcp.dispatch.guards import CallRefused
from drf_mcp.dispatch.probe import Probe
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import Asked
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Outcome


class Trial:
    """A dry run of a call, for those who approve it.

    Args:
        call: the call.
        locks: whether the rows are locked that the call is about; within a transaction.

    Attributes:
        refusal: the outcome of a call that the view refuses, None of one that it would make.
        shown: what the call would do, as its caller may see it.
        fingerprint: the hash of the arguments, of the rows that change as they are before, and of
            the numbers of rows that are added. Values that the call makes are no part of it.

    Raises:
        CallRefused: if the call cannot be tried.
    """

    def __init__(self, call: CallState, *, locks: bool = False) -> None:
        self.call, self.locks = call, locks
        self.refusal: Outcome | None = None
        self.shown: Mapping[str, Any] = {}
        self.fingerprint = ""
        targets = list(self.find_targets())
        try:
            self.look(targets)
        except Asked as exc:
            # Answers to questions of a view are not kept for a later call.
            raise self.get_obstacle(_("it asks its caller")) from exc

    def look(self, targets: list[Any]) -> None:
        call, guard = self.call, DryRunGuard()
        foreseen = preview(call)
        if isinstance(foreseen, Outcome):
            self.refusal = foreseen
            return
        rollback = Rollback(guard.get_databases(call))
        if rollback.find_obstacle(call.tool.endpoint.route.callback):
            raise self.get_obstacle(_("it has no dry run"))
        outcome = guard.make_trial(call, call.dispatcher.perform, rollback)
        if rollback.obstacle:
            raise self.get_obstacle(_("it has no dry run"))
        if outcome.failure is not None:
            meta = {name: value for name, value in outcome.meta.items() if name != DRY_RUN}
            self.refusal = outcome.changed(meta=meta, is_trial=False)
            return
        facts = {k: v for k, v in outcome.meta[DRY_RUN].items() if k != "note"}
        self.shown = {**foreseen.data, **facts} if isinstance(foreseen, Preview) else facts
        self.fingerprint = self.get_fingerprint(targets, rollback.changes)

    def get_obstacle(self, reason: str) -> CallRefused:
        facts = {"tool": self.call.tool.name, "reason": reason}
        message = _("A call of %(tool)s cannot be shown to those who approve it: %(reason)s.")
        return CallRefused(PermissionDenied(message % facts))

    def find_targets(self) -> Iterator[Any]:
        for bound in self.call.bound.requests:
            each = self.call.of_item(bound)
            if not Probe.of(each.caller, each.tool, bound).is_decorated:
                target = CallValues(each).object
                if isinstance(target, Model):
                    yield type(target)._meta.concrete_model, target.pk

    def get_fingerprint(self, targets: list[Any], changes: Any) -> str:
        rows: dict[Any, set[Any]] = {}
        for model, key in targets:
            rows.setdefault(model, set()).add(key)
        for found in (changes.updated, changes.deleted_keys):
            for model, keys in found.items():
                rows.setdefault(model, set()).update(keys)
        # A row that the call itself adds has no state before.
        for model, keys in changes.created.items():
            rows[model] = rows.get(model, set()) - keys
        seen = {model._meta.label: self.read_rows(model, rows[model]) for model in rows}
        created = {model._meta.label: len(keys) for model, keys in changes.created.items()}
        bulk = [[each.verb, each.table, each.rows] for each in changes.bulk]
        deleted = dict(changes.deleted)
        sent = [self.call.tool.name, self.call.bound.arguments]
        return hash_json([sent, seen, created, deleted, bulk])

    def read_rows(self, model: Any, keys: set[Any]) -> list[list[str]]:
        rows = model._base_manager.using(router.db_for_write(model)).filter(pk__in=keys)
        rows = rows.select_for_update() if self.locks else rows
        fields = model._meta.concrete_fields
        return sorted([str(row.pk), *(f.value_to_string(row) for f in fields)] for row in rows)
