"""The serializers that a view may choose for a body, which it is asked for without a call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from drf_mcp.exceptions import attempt
from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.findings import make_finding
from drf_mcp.introspection.forms import find_writable_fields
from drf_mcp.introspection.input_serializer import InputSerializer
from drf_mcp.introspection.inspection import (
    RETURN_EARLY,
    Inspection,
    make_superuser,
)
from drf_mcp.introspection.serializer_fields import FIELD_HOOKS, SharedFields, is_recursive
from drf_mcp.introspection.source.readings import ChoiceReading, has_own, read_choice
from drf_mcp.introspection.text import join_values
from drf_mcp.introspection.types import Body
from drf_mcp.introspection.unknown import (
    ANY_VALUE,
    EMPTY,
    MOST_ASKED,
    Notes,
    UnknownMapping,
    start_asking,
    without_database,
)

# The members of a view behind its choice of a serializer.
VIEW_HOOKS = ("serializer_class", "get_serializer_class", "get_serializer")
CONTEXT = "get_serializer_context"
READS = {
    "data": "request.data",
    "query": "request.query_params",
    "kwargs": "self.kwargs",
    "headers": "request.headers",
    "object": "the object",
    "rows": "the database",
    "version": "request.version",
    "caller": "request.user",
    "path": "request.path",
}


class Alternative(NamedTuple):
    """A serializer that a view chose, and the inspection of the view that chose it.

    Attributes:
        value: the value that was sent, `EMPTY` for none.
        signature: what distinguishes it from others.
    """

    inspection: Inspection
    serializer: Any
    value: Any = EMPTY
    signature: Any = None

    @property
    def row(self) -> Any:
        is_list = isinstance(self.serializer, ListSerializer)
        return self.serializer.child if is_list else self.serializer


class Alternatives:
    """All that a view may choose for the body of one call.

    Attributes:
        found: the alternatives, the first one without a value.
        keys: the keys of the body that code chooses by.
        opened_by: the line that chooses by the call, "" where the choice is known.
        failure: the exception that the view raised, None for none.
        has_failed: whether the view fails for one of the callers, or whatever it is asked with.
    """

    def __init__(self, inspection: Inspection, reader: InputSerializer) -> None:
        self.inspection = inspection
        self.reader = reader
        self.found: list[Alternative] = []
        self.keys: dict[str, None] = {}
        self.opened_by = ""
        self.failure: Exception | None = None
        self.signs: set[Any] = set()
        self.places: set[str] = set()
        self.asked = self.succeeded = 0
        self.has_failed = False
        self.line = ""

    def find(self) -> list[Alternative]:
        findings = self.inspection.findings
        known = len(findings)
        usual = self.reader.get_serializer()
        if self.reader.is_unread or not self._may_choose(usual):
            self.found = [] if usual is None else [Alternative(self.inspection, usual)]
            return self.found
        reported = findings[known:]
        del findings[known:]
        first = self.ask(EMPTY)
        if usual is not None and first is not None and sign(usual) == first.signature:
            self.found = [first._replace(inspection=self.inspection, serializer=usual)]
        elif usual is not None and (self.places or first is None):
            self.add(Alternative(self.inspection, usual))
        if self._by_call or self.failure is not None:
            self._ask_again()
        elif "caller" in self.places:
            self.ask(EMPTY, _make_sample_superuser())
        self.has_failed = self.succeeded < self.asked and not self._by_call
        named = self._add_named()
        if not self.found and not self.has_failed:
            self.has_failed = True
            named = self._add_named()
        self._set_opened(named)
        if not self.found:
            findings += reported
        return self.found

    @property
    def _by_call(self) -> set[str]:
        """What the choice depends on besides the caller."""
        return self.places - {"caller"}

    def _may_choose(self, usual: Any) -> bool:
        """Return whether the project wrote code that chooses the serializer or its fields."""
        call = self.reader.call
        view_class: Any = type(self.inspection.view)
        is_views_own = usual is None or call is None or call.serializer_class is None
        if is_views_own and has_own(view_class, VIEW_HOOKS):
            return True
        return isinstance(usual, BaseSerializer) and not _has_fixed_fields(usual)

    # --- Asking

    def ask(self, answer: Any, user: Any = None) -> Alternative | None:
        """Ask the view for the serializer of a call whose values are all ``answer``."""
        is_first = answer is EMPTY and user is None
        notes = Notes(answer, keeps_line=is_first)
        failures: list[Exception] = []
        asked = start_asking(self.inspection, notes, user)
        reader = InputSerializer(asked, self.reader.call, UnknownMapping(notes))
        database = nullcontext() if is_first else without_database(notes)

        def make() -> Alternative:
            with database:
                serializer = reader.make_serializer()
                sign(serializer)
            return Alternative(asked, serializer, answer)

        self.asked += 1
        made = attempt(make, otherwise=failures.append)
        self.places |= notes.places
        self.keys.update(notes.keys)
        self.line = self.line or notes.line
        if made is None:
            if is_first:
                self.failure = failures[0]
            return None
        self.succeeded += 1
        return self.add(made)

    def _ask_again(self) -> None:
        users = [None, _make_sample_superuser()] if "caller" in self.places else [None]
        for user in users[1:]:
            self.ask(EMPTY, user)
        values = [*self.read().values, ANY_VALUE]
        for value, user in ((value, user) for user in users for value in values):
            if self.asked < MOST_ASKED:
                self.ask(value, user)

    def add(self, made: Alternative) -> Alternative | None:
        """Add and return a choice, None for one that is known."""
        signed = attempt(lambda: sign(made.serializer), None)
        made = made._replace(signature=signed)
        if signed is None or signed in self.signs or self._only_takes_away(made):
            return None
        self.signs.add(signed)
        self.found.append(made)
        return made

    def _only_takes_away(self, made: Alternative) -> bool:
        # As a mixin for ``?fields=`` does: what is left can always be sent.
        if not self.found or not self.places <= {"query", "caller", "headers"}:
            return False
        first = self.found[0]
        if "query" not in self.places or type(made.row) is not type(first.row):
            return False
        own, usual = (set(find_names(each.signature)) for each in (made, first))
        return own < usual

    # --- Reading

    def read(self) -> ChoiceReading:
        view = self.inspection.view
        facts = {"action": getattr(view, "action", None), "method": self.inspection.method}
        owner = type(view)
        members = [(owner, name) for name in (*VIEW_HOOKS, CONTEXT)]
        known = {part for each in self.found for part in find_parts(each.signature)}
        known |= set(read_choice(members, facts).classes)
        members += [(part, hook) for part in known for hook in FIELD_HOOKS]
        return read_choice(members, facts)

    def _add_named(self) -> set[type]:
        """Add the serializers that the source names, where asking shows too few; return them."""
        is_unclear = self.places & {"object", "rows", "caller"}
        if not is_unclear and not self.has_failed and (not self._by_call or len(self.found) > 1):
            return set()
        own: list[Any] = [*self.read().classes]
        if self.has_failed:
            own.append(getattr(self.inspection.view, "serializer_class", None))
        present = {type(each.row) for each in self.found}
        named = {each for each in own if isinstance(each, type) and each not in present}
        options = {"context": self.reader.context}
        for each in sorted(named, key=lambda one: f"{one.__module__}.{one.__qualname__}"):
            made = attempt(lambda one=each: one(**options), None)  # type: ignore[misc]
            if made is not None:
                self.add(Alternative(self.inspection, made))
        return named

    def _set_opened(self, named: set[type]) -> None:
        has_one = len(self.found) == 1
        if self._by_call == {"query"} and has_one and not self.has_failed:
            return
        is_unsure = self.asked > self.succeeded or self.read().is_unreadable
        by_call = bool(self._by_call) and (not has_one or is_unsure)
        if self.has_failed or by_call or named:
            place = min(self._by_call or self.places or {""}, key=[*READS, ""].index)
            line = self.line or self._place_of_failure
            what = READS.get(place, "what this call does not have")
            self.opened_by = f"{line} chooses the serializer by {what}"

    def explain_requirements(self, joined: Body | None, bodies: list[Body]) -> Body | None:
        """Return a joined body whose words say for which value of the key a field is required."""
        values: dict[str, list[Any]] = {}
        for chosen, body in zip(self.found, bodies, strict=True):
            if chosen.value not in (EMPTY, ANY_VALUE):
                for field in body.fields:
                    values.setdefault(field.name, []).extend([chosen.value] * field.required)
        if joined is None or len(self.keys) != 1 or len(bodies) < 2:
            return joined
        key, fields = next(iter(self.keys)), []
        for field in joined.fields:
            found = [] if field.required or field.name == key else values.get(field.name, [])
            words = f"Required where {key} is {join_values(map(str, found))}" if found else ""
            fields.append(replace(field, schema=explain(field.schema, words)))
        return replace(joined, fields=tuple(fields))

    @property
    def _place_of_failure(self) -> str:
        if self.failure is None:
            return self.inspection.place
        return make_finding(self.inspection.place, self.failure, "").source or self.inspection.place

    def report(self) -> None:
        """Add the finding of a view that chooses a serializer only for a call."""
        if self.has_failed and self.failure is not None:
            finding = make_finding(self.inspection.place, self.failure, RETURN_EARLY)
            known = [each.message for each in self.inspection.findings]
            if finding.message not in known:
                self.inspection.findings.append(finding)


def _make_sample_superuser() -> Any:
    user = make_superuser()
    # What belongs to the user is asked of the database, which refuses.
    user.pk = 0
    return user


def _has_fixed_fields(serializer: Any) -> bool:
    row = serializer.child if isinstance(serializer, ListSerializer) else serializer
    if not isinstance(row, Serializer):
        return True
    return attempt(lambda: SharedFields.of(row) is not None, False)


def find_parts(signature: Any) -> Iterator[type]:
    """Yield the classes of a serializer and those in it."""
    if isinstance(signature, tuple):
        for part in signature:
            yield from find_parts(part)
    elif isinstance(signature, type) and issubclass(signature, BaseSerializer):
        yield signature


def find_names(signature: Any) -> Iterator[str]:
    """Yield the names of the fields of a serializer, or of its rows."""
    if isinstance(signature, tuple):
        fields = signature[-1]
        is_list = issubclass(signature[0], ListSerializer)
        yield from find_names(fields) if is_list else (name for name, *_ in fields)


def sign(serializer: Any) -> Any:
    """Return what distinguishes two choices: the classes, and the fields that a request writes."""
    if isinstance(serializer, ListSerializer):
        return type(serializer), sign(serializer.child)
    if not isinstance(serializer, Serializer) or is_recursive(serializer):
        return type(serializer)
    shared = SharedFields.of(serializer)
    if shared is None:
        return _sign_fields(serializer, serializer)
    if shared.signature is None:
        shared.signature = _sign_fields(serializer, shared)
    return shared.signature


def _sign_fields(serializer: Any, owner: Any) -> Any:
    fields = find_writable_fields(owner).items()
    return type(serializer), tuple((name, field.required, sign(field)) for name, field in fields)
