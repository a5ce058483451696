"""Asks a view what a call would do: its permissions, its object and its own preview."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.translation import ngettext
from rest_framework.response import Response

from drf_mcp.contrib.writes.cascades import Cascade
from drf_mcp.contrib.writes.preview import Preview
from drf_mcp.contrib.writes.reading import Reading
from drf_mcp.contrib.writes.rollback import Rollback
from drf_mcp.dispatch.blockers import Listings
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.dispatch.errors.exceptions import find_violation
from drf_mcp.dispatch.labels import describe_object, join_labels
from drf_mcp.dispatch.list_hints import ListHint
from drf_mcp.dispatch.probe import Probe
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.dispatch.rollback import find_written_databases
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import ROUNDS, Asked
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Outcome

# A method of a view by this name and that of a handler says what the handler would do.
PREFIX = "preview_"


@dataclass(frozen=True)
class Target:
    """What a call is about, as the view finds it.

    Attributes:
        instance: the object, None for a call of none.
        own: what the view's own preview says, any JSON value.
        shown: the object's fields as the view's serializer shows them, {} where it cannot.
        cascade: what Django deletes with the object, where the call deletes it.
        is_plain: whether REST framework and Django alone delete it.
    """

    instance: Any
    own: Any
    shown: Mapping[str, Any]
    cascade: Cascade | None
    is_plain: bool


class Previewer:
    """Runs a call as far as the view's handler, in whose place it looks at the object.

    Args:
        call: the call.
    """

    def __init__(self, call: CallState) -> None:
        self.dispatcher = call.dispatcher
        self.call = call
        self.tool = call.tool
        self.probe: Probe = Probe.of(call.caller, call.tool, call.bound)

    def preview(self) -> Preview | Outcome:
        if self.probe.is_decorated:
            # A decorator may refuse the call, and does not run here: nothing is said of the object.
            return Preview()
        found: list[Target] = []

        def look(*args: Any, **kwargs: Any) -> Response:
            found.append(self.look(*args, **kwargs))
            return Response(status=204)

        outcome = self.perform(look)
        if not found or outcome.failure is not None:
            return ListHint(self.tool).add_to(outcome)
        target = found[0]
        if target.cascade is None or target.is_plain:
            return self.find_conflict(target.cascade) or self.describe(target)
        return self.rehearse(target)

    def perform(self, look: Any) -> Outcome:
        call, respond = self.call, self.probe.answer_by(look)
        outcome: Outcome = self.dispatcher.perform_call(call, respond)
        return outcome

    def look(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> Target:
        instance, endpoint = get_named_object(view), self.tool.endpoint
        own = getattr(view, f"{PREFIX}{endpoint.handler_name}", None)
        said = None if own is None else json.loads(encode_data(own(request, *args, **kwargs)))
        shown = contain(lambda: dict(view.get_serializer(instance).data), lambda exc: {})
        if endpoint.method != "DELETE" or not isinstance(instance, Model):
            return Target(instance, said, shown, None, True)
        steps = {"destroy", "perform_destroy", endpoint.handler_name}
        is_plain = is_drf_code(type(view), *(step for step in steps if hasattr(view, step)))
        is_plain = is_plain and type(instance).delete is Model.delete
        return Target(instance, said, shown, Cascade(instance), is_plain)

    @property
    def listings(self) -> Listings:
        return Listings(self.tool, self.call.caller, self.call.bound.kwargs)

    def find_conflict(self, cascade: Cascade | None) -> Outcome | None:
        if cascade is None or cascade.refusal is None:
            return None
        failure = find_violation(cascade.refusal, self.listings.name_blockers)
        outcome: Outcome = self.dispatcher.get_failed_outcome(self.tool, 409, failure)
        return outcome

    def describe(self, target: Target) -> Preview:
        cascade, listings = target.cascade, self.listings
        deleted = {} if cascade is None else cascade.deleted
        changed = {} if cascade is None else cascade.changed
        return Preview(
            self.get_label(target),
            listings.describe(deleted),
            listings.describe(changed),
            own=target.own,
            state=self.get_state(target, deleted, changed),
        )

    def rehearse(self, target: Target) -> Preview | Outcome:
        """Return what a delete of the project's own does, which only trying it can show."""
        rollback = Rollback(find_written_databases())
        label = self.get_label(target)
        callback = self.tool.endpoint.route.callback
        # A project that has no dry run of the tool wants none here.
        unknown = Preview(label, own=target.own, state=self.get_state(target))
        if self.tool.options.dry_run is False or rollback.find_obstacle(callback):
            return unknown
        # A view that is only tried asks its questions later, and has no answers to them.
        call = self.call
        rounds = ROUNDS.get(call)
        ROUNDS.set(call, None)
        try:
            with rollback.undoing():
                outcome = rollback.watch(call, lambda: self.perform(None))
        except Asked:
            return unknown
        finally:
            ROUNDS.set(call, rounds)
        if rollback.obstacle:
            return unknown
        if outcome.failure is not None:
            return ListHint(self.tool).add_to(outcome)
        changes, listings = rollback.changes, self.listings
        deleted, updated = changes.get_deleted_keys(), changes.get_updated_keys()
        model, key = type(target.instance)._meta.concrete_model, target.instance.pk
        # The object itself is what the call names, wherever it is deleted.
        deleted = {m: keys - {key} if m is model else keys for m, keys in deleted.items()}
        return Preview(
            label,
            listings.describe({m: keys for m, keys in deleted.items() if keys or m is not model}),
            changed=listings.describe(updated),
            own=target.own,
            state=self.get_state(target, deleted, updated),
        )

    def get_state(self, target: Target, *rows: Mapping[type[Model], Collection[Any]]) -> str:
        keys = [{m._meta.label: sorted(map(str, k)) for m, k in each.items()} for each in rows]
        return hash_json([self.get_values(target.instance), *keys, target.own])

    def get_label(self, target: Target) -> str:
        if target.instance is None:
            return ""
        kwargs, reading = self.call.bound.kwargs, Reading(self.call)
        # The URL captures parents first.
        names = [name for name in self.tool.endpoint.route.kwargs if name in kwargs]
        # Where a tool reads the object, the label has nothing that the tool does not show.
        shown = reading.read_fields() if reading.reader else target.shown
        return describe_object(target.instance, kwargs[names[-1]] if names else None, shown)

    def get_values(self, instance: Any) -> Any:
        if not isinstance(instance, Model):
            return str(instance)
        fields = instance._meta.concrete_fields
        return [str(instance.pk), {f.attname: f.value_to_string(instance) for f in fields}]


def preview(call: CallState) -> Preview | Outcome:
    """Return what a call would do, without doing it; the outcome of one that is refused."""
    return preview_items(call) if call.bound.items else Previewer(call).preview()


def preview_items(call: CallState) -> Preview:
    """Return what a call about several objects would do, bound to the state of each.

    An object that the view refuses is refused again when the call is made.
    """
    calls = [call.of_item(item) for item in call.bound.items]
    found = [Previewer(each).preview() for each in calls]
    previews = [each for each in found if isinstance(each, Preview)]
    count = ngettext("%(count)d object", "%(count)d objects", len(calls)) % {"count": len(calls)}
    label = join_labels(each.label for each in previews)
    states = [each.state if isinstance(each, Preview) else each.status for each in found]
    return Preview(f"{count}: {label}" if label else count, state=hash_json(states))
