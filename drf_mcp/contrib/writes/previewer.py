"""Asks a view what a call would do: its permissions, its object and its own preview."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import router
from django.db.models import Model, ProtectedError, QuerySet, RestrictedError
from django.db.models.deletion import Collector
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rest_framework.response import Response

from drf_mcp.contrib.writes.dry_run import ObjectReading, Rollback
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.errors import find_violation
from drf_mcp.dispatch.failures import MOST_ROWS, ProtectedRows, Rows, add_hints
from drf_mcp.dispatch.probe import Probe, find_written_databases
from drf_mcp.dispatch.request import get_named_object
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import INPUT_REQUESTS, Asked
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.text import get_model_name, join_values
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Outcome
from drf_mcp.tools.arguments.errors import escape_unprintable


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
                # One more than are counted shows that they are too many.
                own = set(rows.order_by("pk").values_list("pk", flat=True)[: MOST_ROWS + 1])
            else:
                own = {row.pk for row in (rows if isinstance(rows, Iterable) else (rows,))}
            keys.setdefault(model, set()).update(own)
        models = sorted((model for model in keys if keys[model]), key=lambda m: m._meta.label)
        return {model: sorted(keys[model], key=str) for model in models}


@dataclass(frozen=True)
class Preview:
    """What a call would do.

    Attributes:
        label: the object that the call is about, "" where none is known.
        deleted: the rows that are deleted with it.
        kept: the rows that stay, and no longer refer to it.
        changed: the rows that change with it, where the view has a way of its own to delete.
        own: what the view's own preview says, any JSON value; None for nothing.
        state: the hash of everything that the preview was made from.
    """

    label: str = ""
    deleted: tuple[Rows, ...] = ()
    kept: tuple[Rows, ...] = ()
    changed: tuple[Rows, ...] = ()
    own: Any = None
    state: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The preview as JSON, without what is empty."""
        rows = {"deleted": self.deleted, "kept": self.kept, "changed": self.changed}
        members = {name: [each.data for each in found] for name, found in rows.items()}
        every = {"object": self.label, **members, "preview": self.own}
        return {name: value for name, value in every.items() if value not in (None, "", [], {})}

    @property
    def sentences(self) -> Iterator[str]:
        """The preview in words; texts of rows and of the view stand in quotation marks."""
        if self.label:
            yield _("Object: %(label)s.") % {"label": self.label}
        if self.deleted:
            yield _("Deleted with it: %(rows)s.") % {"rows": join_values(self.deleted)}
        if self.kept:
            rows = join_values(self.kept)
            yield _("Kept, without a reference to it: %(rows)s.") % {"rows": rows}
        if self.changed:
            yield _("Changed with it: %(rows)s.") % {"rows": join_values(self.changed)}
        if self.own not in (None, "", [], {}):
            yield _("The view says: %(text)s") % {"text": json.dumps(self.own, ensure_ascii=False)}


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
            return add_hints(outcome, self.tool)
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
    def listings(self) -> ProtectedRows:
        return ProtectedRows(self.tool, self.call.caller, self.call.bound.kwargs)

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
        input_requests = INPUT_REQUESTS.get(call)
        INPUT_REQUESTS.set(call, None)
        try:
            with rollback.undoing():
                outcome = rollback.watch(call, lambda: self.perform(None))
        except Asked:
            return unknown
        finally:
            INPUT_REQUESTS.set(call, input_requests)
        if rollback.obstacle:
            return unknown
        if outcome.failure is not None:
            return add_hints(outcome, self.tool)
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
        kwargs, reading = self.call.bound.kwargs, ObjectReading(self.call)
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


# Fields that people know an object by, the likeliest first.
NAMES = ("name", "title", "label", "number", "reference", "subject", "code", "username", "email")
# Characters of a field's text.
LONGEST_TEXT = 100
# Of several objects so many are named.
MOST_LABELS = 5


def describe_object(instance: Any, key: Any, shown: Mapping[str, Any]) -> str:
    """Return the label of an object: its model, its key, and a field that says what it is.

    Args:
        key: what the caller names the object by, None for nothing.
        shown: the object's fields as its GET shows them to the caller.
    """
    model = get_model_name(type(instance)) if isinstance(instance, Model) else _("object")
    label = model if key is None else f"{model} {quote_value(key)}"
    texts = {n: text for n, text in shown.items() if isinstance(text, str) and text and text != key}
    likely = [name for name in NAMES if name in texts]
    names = likely or [name for name in texts if says_what_it_is(texts[name])]
    return f"{label}, {names[0]} {quote_value(texts[names[0]])}" if names else label


def join_labels(labels: Iterable[str]) -> str:
    """Return the labels of several objects, of which some are left out where they are many."""
    known = [label for label in labels if label]
    more = ["…"] if len(known) > MOST_LABELS else []
    return "; ".join(known[:MOST_LABELS] + more)


def says_what_it_is(text: str) -> bool:
    # A date and a URL are texts in JSON, and say little.
    return text[0].isalpha() and "://" not in text


def quote_value(value: Any) -> str:
    """Return a value of a row as JSON, whose quotation marks no text of a row can close."""
    if not isinstance(value, str):
        return json.dumps(value, default=str)
    text = " ".join(value.split())
    cut = escape_unprintable(text, LONGEST_TEXT)
    return json.dumps(f"{cut}…" if len(text) > LONGEST_TEXT else cut, ensure_ascii=False)
