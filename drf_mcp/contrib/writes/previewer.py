"""Asks a view what a call would do: its permissions, its object and its own preview."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from django.db import router
from django.db.models import Model, ProtectedError, QuerySet, RestrictedError
from django.db.models.deletion import Collector
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from drf_mcp.contrib.writes.changes import get_listings
from drf_mcp.contrib.writes.dry_run import Rollback, read_fields
from drf_mcp.contrib.writes.versions import CallTarget
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.failures import MOST_ROWS, Rows
from drf_mcp.dispatch.request import get_named_object, needs_callback
from drf_mcp.dispatch.violations import find_violation
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import INPUT_REQUESTS, Asked
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.text import get_model_name, join_values
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import Outcome
from drf_mcp.tools.arguments.errors import escape_unprintable

# A method of a view by this name and that of a handler says what the handler would do.
PREFIX = "preview_"
# Fields that people know an object by, the likeliest first.
NAMES = ("name", "title", "label", "number", "reference", "subject", "code", "username", "email")
# Characters of a field's text.
LONGEST_TEXT = 100
# Of several objects so many are named.
MOST_LABELS = 5
# The primary keys of rows by model.
Keys: TypeAlias = Mapping[type[Model], Collection[Any]]


@dataclass(frozen=True)
class Preview:
    """What a call would do.

    Attributes:
        label: the object that the call is about, "" where none is known.
        deleted: the rows that are deleted with it.
        kept: the rows that stay, and no longer refer to it.
        changed: the rows that change with it, where the view has a way of its own to delete.
        is_kept: whether such a view leaves the object itself, as one that only marks it does.
        own: what the view's own preview says, any JSON value; None for nothing.
        state: the hash of everything that the preview was made from.
    """

    label: str = ""
    deleted: tuple[Rows, ...] = ()
    kept: tuple[Rows, ...] = ()
    changed: tuple[Rows, ...] = ()
    is_kept: bool = False
    own: Any = None
    state: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The preview as JSON, without what is empty."""
        rows = {"deleted": self.deleted, "kept": self.kept, "changed": self.changed}
        members = {name: [each.data for each in found] for name, found in rows.items()}
        kept = self.is_kept or None
        every = {"object": self.label, "object_kept": kept, **members, "preview": self.own}
        return {name: value for name, value in every.items() if value not in (None, "", [], {})}

    @property
    def sentences(self) -> Iterator[str]:
        """The preview in words; texts of rows and of the view stand in quotation marks."""
        if self.label:
            yield _("Object: %(label)s.") % {"label": self.label}
        if self.is_kept:
            yield _("The object itself is kept.")
        if self.deleted:
            yield _("Deleted with it: %(rows)s.") % {"rows": join_values(self.deleted)}
        if self.kept:
            rows = join_values(self.kept)
            yield _("Kept, without a reference to it: %(rows)s.") % {"rows": rows}
        if self.changed:
            yield _("Changed with it: %(rows)s.") % {"rows": join_values(self.changed)}
        if self.own not in (None, "", [], {}):
            yield _("The view says: %(text)s") % {"text": json.dumps(self.own, ensure_ascii=False)}


@dataclass
class Target:
    """What a call is about, as the view finds it.

    Attributes:
        instance: the object, None for a call of none.
        own: what the view's own preview says, any JSON value.
        shown: the object's fields as the view's serializer shows them, {} where it cannot.
        is_plain: whether REST framework and Django alone delete it, where the call deletes it.
        deleted: the rows that Django deletes with it.
        changed: the rows that stay and refer to something else.
        refusal: why Django would not delete it, None if it would.
    """

    instance: Any
    own: Any
    shown: Mapping[str, Any]
    is_plain: bool = True
    deleted: Keys = field(default_factory=dict)
    changed: Keys = field(default_factory=dict)
    refusal: ProtectedError | RestrictedError | None = None

    def collect(self) -> None:
        """Find what Django deletes and changes with the object, or is refused by."""
        instance: Any = self.instance
        using = router.db_for_write(type(instance), instance=instance)
        collector: Any = Collector(using=using, origin=instance)
        try:
            collector.collect([instance])
        except (ProtectedError, RestrictedError) as exc:
            self.refusal = exc
        own = {type(instance)._meta.concrete_model, *instance._meta.get_parent_list()}
        rows = [
            (model, [row for row in rows if model not in own or row.pk != instance.pk])
            for model, rows in collector.data.items()
        ]
        self.deleted = get_keys([*rows, *((rows.model, rows) for rows in collector.fast_deletes)])
        updates = collector.field_updates.items()
        self.changed = get_keys(
            (field.model, rows) for (field, _), each in updates for rows in each
        )


def get_keys(found: Iterable[tuple[Any, Any]]) -> Keys:
    keys: dict[type[Model], set[Any]] = {}
    for model, rows in found:
        if isinstance(rows, QuerySet):
            # One more than the limit shows that there are more.
            own = set(rows.order_by("pk").values_list("pk", flat=True)[: MOST_ROWS + 1])
        else:
            own = {row.pk for row in (rows if isinstance(rows, Iterable) else (rows,))}
        keys.setdefault(model, set()).update(own)
    models = sorted((model for model in keys if keys[model]), key=lambda m: m._meta.label)
    return {model: sorted(keys[model], key=str) for model in models}


def preview(call: CallState) -> Preview | Outcome:
    """Return what a call would do, without doing it; the outcome of one that is refused.

    Of a call about several objects it is bound to the state of each; an object that the view
    refuses is refused again when the call is made.
    """
    if not call.bound.items:
        return preview_one(call)
    found = [preview_one(call.of_item(item)) for item in call.bound.items]
    count = ngettext("%(count)d object", "%(count)d objects", len(found)) % {"count": len(found)}
    labels = [each.label for each in found if isinstance(each, Preview) and each.label]
    more = ["…"] if len(labels) > MOST_LABELS else []
    label = "; ".join(labels[:MOST_LABELS] + more)
    states = [each.state if isinstance(each, Preview) else each.status for each in found]
    return Preview(f"{count}: {label}" if label else count, state=hash_json(states))


def preview_one(call: CallState) -> Preview | Outcome:
    # The view runs as far as its handler, and `look` in place of the handler.
    tool = call.tool
    if needs_callback(tool.endpoint.route.callback):
        # A decorator may refuse the call, and does not run here: nothing is said of the object.
        return Preview()

    def look(view: Any, request: Any, *args: Any, **kwargs: Any) -> Target:
        instance, endpoint = get_named_object(view), tool.endpoint
        own = getattr(view, f"{PREFIX}{endpoint.handler_name}", None)
        said = None if own is None else json.loads(encode_data(own(request, *args, **kwargs)))
        shown = contain(lambda: dict(view.get_serializer(instance).data), lambda exc: {})
        target = Target(instance, said, shown)
        if endpoint.method == "DELETE" and isinstance(instance, Model):
            steps = {"destroy", "perform_destroy", endpoint.handler_name}
            is_stock = is_drf_code(type(view), *(step for step in steps if hasattr(view, step)))
            target.is_plain = is_stock and type(instance).delete is Model.delete
            target.collect()
        return target

    target = call.dispatcher.ask_view(call, look)
    if isinstance(target, Outcome):
        return target
    if not target.is_plain:
        return rehearse_delete(call, target)
    listings = get_listings(call)
    if target.refusal is not None:
        failure = find_violation(target.refusal, listings.name_blockers)
        return call.dispatcher.get_failed_outcome(tool, 409, failure)  # type: ignore[no-any-return]
    deleted, kept = listings.describe(target.deleted), listings.describe(target.changed)
    state = get_state(target, target.deleted, target.changed)
    return Preview(get_label(call, target), deleted, kept, own=target.own, state=state)


def rehearse_delete(call: CallState, target: Target) -> Preview | Outcome:
    """Return what a delete of the project's own does, which only trying it can show."""
    rollback, tool = Rollback(), call.tool
    # With ``dry_run=False`` the project says that the tool cannot be tried.
    unknown = Preview(get_label(call, target), own=target.own, state=get_state(target))
    if tool.options.dry_run is False or rollback.find_obstacle(tool.endpoint.route.callback):
        return unknown
    # The view asks its questions when the call is made, and gets no answers here.
    input_requests = INPUT_REQUESTS.get(call)
    INPUT_REQUESTS.set(call, None)
    try:
        with rollback.undoing():
            outcome = rollback.watch(call, lambda: call.dispatcher.perform(call))
            is_kept = contain(lambda: is_stored(target.instance), lambda exc: False)
    except Asked:
        return unknown
    finally:
        INPUT_REQUESTS.set(call, input_requests)
    if rollback.obstacle:
        return unknown
    if outcome.failure is not None:
        return outcome
    deleted, updated = rollback.changes.get_keys()
    state, listings = get_state(target, deleted, updated), get_listings(call)
    # The object itself is not listed among the rows that go with it.
    model, key = type(target.instance)._meta.concrete_model, target.instance.pk

    def find_others(rows: Mapping[Any, set[Any]]) -> dict[Any, set[Any]]:
        others = {each: keys - {key} if each is model else keys for each, keys in rows.items()}
        return {each: keys for each, keys in others.items() if keys or each is not model}

    return Preview(
        unknown.label,
        listings.describe(find_others(deleted)),
        changed=listings.describe(find_others(updated)),
        is_kept=is_kept,
        own=target.own,
        state=state,
    )


def is_stored(instance: Any) -> bool:
    rows = type(instance)._base_manager.using(router.db_for_write(type(instance)))
    return bool(rows.filter(pk=instance.pk).exists())


def get_state(target: Target, *rows: Keys) -> str:
    keys = [{m._meta.label: sorted(map(str, k)) for m, k in each.items()} for each in rows]
    instance = target.instance
    values: Any
    if isinstance(instance, Model):
        fields = instance._meta.concrete_fields
        values = [str(instance.pk), {f.attname: f.value_to_string(instance) for f in fields}]
    else:
        values = str(instance)
    return hash_json([values, *keys, target.own])


def get_label(call: CallState, target: Target) -> str:
    """Return the label of an object: its model, its key, and a field that says what it is."""
    instance, kwargs = target.instance, call.bound.kwargs
    if instance is None:
        return ""
    # The URL captures parents first.
    names = [name for name in call.tool.endpoint.route.kwargs if name in kwargs]
    # Where a tool reads the object, the label has only what that tool shows the caller.
    shown = read_fields(call) if CallTarget(call).reader else target.shown
    label = get_model_name(type(instance)) if isinstance(instance, Model) else _("object")
    key = kwargs[names[-1]] if names else None
    label = label if key is None else f"{label} {quote_value(key)}"
    texts = {n: text for n, text in shown.items() if isinstance(text, str) and text and text != key}
    # A date and a URL are texts in JSON, and say little.
    telling = (n for n, text in texts.items() if text[0].isalpha() and "://" not in text)
    name = next((n for n in NAMES if n in texts), None) or next(telling, None)
    return label if name is None else f"{label}, {name} {quote_value(texts[name])}"


def quote_value(value: Any) -> str:
    """Return a value of a row as JSON, whose quotation marks no text of a row can close."""
    if not isinstance(value, str):
        return json.dumps(value, default=str)
    text = " ".join(value.split())
    cut = escape_unprintable(text, LONGEST_TEXT)
    return json.dumps(f"{cut}…" if len(text) > LONGEST_TEXT else cut, ensure_ascii=False)
