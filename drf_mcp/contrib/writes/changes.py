"""What a call changes in the databases, seen by signals and by the statements themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from django.apps import apps
from django.db import Error
from django.db.models.signals import post_save, pre_save
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.dispatch.failures import MOST_ROWS, ProtectedRows
from drf_mcp.features import CallState
from drf_mcp.outcomes import Problem
from drf_mcp.tools.arguments.errors import ArgumentsRefused

# The argument that asks what a call would change, which is also the member of ``meta``.
DRY_RUN = "dry_run"
NOTE = gettext_noop("Dry run: nothing was changed.")

BLANKS_OR_COMMENTS = r"(?:\s|\(|/\*.*?\*/|--[^\n]*\n)*"
NAME = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|[\w$]+)"
TABLE = rf"(?P<table>{NAME}(?:\.{NAME})*)"
INTO = r"(?:INSERT|REPLACE)(?:\s+OR\s+\w+|\s+IGNORE)?\s+INTO"
WRITES = rf"(?P<verb>{INTO}|UPDATE(?:\s+ONLY)?|DELETE\s+FROM(?:\s+ONLY)?|MERGE\s+INTO)\s+{TABLE}"
WRITE_STATEMENT = re.compile(rf"{BLANKS_OR_COMMENTS}{WRITES}", re.IGNORECASE | re.DOTALL)
# A statement that begins with WITH may write further down, and may only lock rows for it.
WRITE_BEHIND_WITH = re.compile(
    rf"{BLANKS_OR_COMMENTS}WITH\b.*?(?<!FOR )(?<!KEY )(?<!DO )\b{WRITES}", WRITE_STATEMENT.flags
)
# What changes more than rows, or rows in a way that leaves no trace.
OTHER_STATEMENT = re.compile(
    rf"{BLANKS_OR_COMMENTS}(?P<verb>CREATE|ALTER|DROP|TRUNCATE|RENAME|COPY|CALL|DO|LOAD)\b",
    WRITE_STATEMENT.flags,
)
# A deletion as Django writes it: with SELECT in place of DELETE it finds the same rows.
DELETE = re.compile(
    rf"\s*DELETE\s+FROM\s+{TABLE}(?P<rest>(?:\s+WHERE\b(?!.*\bRETURNING\b).*)?)",
    WRITE_STATEMENT.flags,
)
QUOTES = str.maketrans("", "", '"`[]')


def is_dry_run(call: CallState) -> bool:
    """Return whether the caller asks what would change.

    Raises:
        ArgumentsRefused: if the argument is neither true nor false.
    """
    asked = call.bound.controls.get(DRY_RUN, False)
    answer = {"true": True, "false": False}.get(str(asked).lower())
    if answer is None:
        pointer = call.tool.arguments.get_control_pointer(DRY_RUN)
        message, advice = _("Must be true or false."), _("Send true or false. Nothing was run.")
        problem = Problem("invalid", message, pointer, received=asked, remediation=advice)
        raise ArgumentsRefused([problem])
    return answer


def get_listings(call: CallState) -> ProtectedRows:
    """Return the lists, as far as the caller of a call may see their rows."""
    return ProtectedRows(call.tool, call.caller, call.bound.kwargs)


@dataclass(eq=False)
class Statement:
    """A statement that writes.

    Attributes:
        verb: ``INSERT``, ``UPDATE``, ``DELETE``, or the word it begins with.
        table: the table's name without quotes; "" where it is not known.
        keys: the primary keys of the rows that it deletes, None where they are not known.
        counted: how many rows the driver says that it changed.
        cursor: what counts them later, None for `counted`.
    """

    verb: str
    table: str
    keys: set[Any] | None = None
    counted: int | None = None
    cursor: Any = None

    @classmethod
    def read(cls, sql: Any) -> Statement | None:
        """Return the statement of an SQL text, None for one that is not known to write."""
        text = str(sql)
        if (found := WRITE_STATEMENT.match(text) or WRITE_BEHIND_WITH.match(text)) is not None:
            verb = found["verb"].split()[0].upper()
            return cls("INSERT" if verb == "REPLACE" else verb, normalise_name(found["table"]))
        found = OTHER_STATEMENT.match(text)
        return None if found is None else cls(found["verb"].upper(), "")

    @property
    def rows(self) -> int | None:
        """How many rows it changed, None where the driver does not say."""
        rows = self.counted if self.cursor is None else self.cursor.rowcount
        return rows if isinstance(rows, int) and rows >= 0 else None


class Changes:
    """Counts rows: saved ones by the signals, deleted ones and bulk statements by the database.

    Deletions have signals as well, but with a receiver Django deletes row by row what it would
    delete by one statement.

    Attributes:
        created: the keys of saved rows that are new, by model.
        updated: the keys of other saved rows, by model.
        deleted_keys: the keys of deleted rows that are known, by model.
        deleted: how many other rows were deleted, by table.
        bulk: the other statements that write.
        saving: the tables that the save of an object is going to write to, by the object's id.
    """

    def __init__(self) -> None:
        self.created: dict[Any, set[Any]] = {}
        self.updated: dict[Any, set[Any]] = {}
        self.deleted_keys: dict[Any, set[Any]] = {}
        self.deleted: Counter[str] = Counter()
        self.bulk: list[Statement] = []
        self.saving: dict[int, set[str]] = {}

    @cached_property
    def models(self) -> Mapping[str, Any]:
        every = apps.get_models(include_auto_created=True)
        return {normalise_name(model._meta.db_table): model for model in every}

    @contextmanager
    def watching(self) -> Iterator[None]:
        token = active_changes.set(self)
        pre_save.connect(self.begin_saving, weak=False, dispatch_uid=id(self))
        post_save.connect(self.end_saving, weak=False, dispatch_uid=id(self))
        try:
            yield
        finally:
            pre_save.disconnect(dispatch_uid=id(self))
            post_save.disconnect(dispatch_uid=id(self))
            active_changes.reset(token)

    def begin_saving(self, sender: Any, instance: Any, **kwargs: Any) -> None:
        if active_changes.get() is self:
            models = (instance, *instance._meta.concrete_model._meta.get_parent_list())
            tables = {normalise_name(model._meta.db_table) for model in models}
            self.saving[id(instance)] = tables

    def end_saving(self, sender: Any, instance: Any, created: bool, **kwargs: Any) -> None:
        if active_changes.get() is not self:
            return
        self.saving.pop(id(instance), None)
        model, key = instance._meta.concrete_model, instance.pk
        if created:
            self.created.setdefault(model, set()).add(key)
        elif key not in self.created.get(model, ()):
            self.updated.setdefault(model, set()).add(key)

    def run(self, statement: Statement, execute: Callable[[], Any], cursor: Any) -> Any:
        """Execute a statement that writes, and count what no signal counts."""
        saving = None
        if statement.verb in ("INSERT", "UPDATE"):
            every = reversed(self.saving.values())
            saving = next((tables for tables in every if statement.table in tables), None)
        try:
            result = execute()
        except Error:
            if saving is not None:
                saving.discard(statement.table)
            raise
        statement.counted = cursor.rowcount
        if statement.verb == "INSERT" and statement.counted in (0, -1):
            # SQLite counts the rows of an INSERT … RETURNING while they are fetched.
            statement.cursor = cursor
        if saving is not None:
            # An update of no row is followed by an insert.
            if statement.verb == "INSERT" or statement.rows:
                saving.discard(statement.table)
        elif statement.keys is not None:
            self.deleted_keys.setdefault(self.models[statement.table], set()).update(statement.keys)
        elif statement.verb == "DELETE" and statement.rows is not None:
            self.deleted[statement.table] += statement.rows
        else:
            self.bulk.append(statement)
        return result

    def find_deleted_keys(
        self, statement: Statement, sql: str, params: Any, connection: Any
    ) -> None:
        """Find which rows a statement is about to delete."""
        model, found = self.models.get(statement.table), DELETE.fullmatch(sql)
        if model is None or found is None or not (column := model._meta.pk.column):
            return
        table = found["table"]
        pk = connection.ops.quote_name(column)
        # Text and parameters are those of the view's own statement.
        select = f"SELECT {table}.{pk} FROM {table}{found['rest']}"  # nosec B608
        with connection.cursor() as cursor:
            cursor.execute(select, params)
            rows = cursor.fetchmany(MOST_ROWS + 1)
        if len(rows) <= MOST_ROWS:
            statement.keys = {model._meta.pk.to_python(key) for (key,) in rows}

    @property
    def touched(self) -> set[Any]:
        """The models whose foreign keys may lead nowhere now."""
        touched = {*self.created, *self.updated}
        touched |= {self.models[s.table] for s in self.bulk if s.table in self.models}
        tables = (self.models[table] for table in self.deleted if table in self.models)
        for model in {*self.deleted_keys, *tables}:
            fields = model._meta.get_fields(include_hidden=True)
            touched |= {f.related_model for f in fields if f.auto_created and not f.concrete}
        return touched

    def get_keys(self) -> tuple[dict[Any, set[Any]], dict[Any, set[Any]]]:
        """Return the keys of the rows that are deleted, and of those that change and stay.

        Both are by model; a model whose rows are not known has none.
        """
        deleted: dict[Any, set[Any]] = {
            self.models[t]: set() for t in self.deleted if t in self.models
        }
        deleted |= {model: keys for model, keys in self.deleted_keys.items() if keys}
        tables = [each.table for each in self.bulk if each.rows != 0]
        updated: dict[Any, set[Any]] = {self.models[t]: set() for t in tables if t in self.models}
        for model, keys in self.updated.items():
            if left := keys - self.deleted_keys.get(model, set()):
                updated[model] = left
        return deleted, updated

    def report(
        self, shown: Mapping[Any, set[Any]], shows_all: Callable[[Any], bool]
    ) -> dict[str, Any]:
        """Return the counts by model, and what they leave out: see docs/writes.md.

        Args:
            shown: the keys of the rows that the caller may see, by model; no others are counted.
            shows_all: whether the caller sees every row of a model.
        """
        # No tool lists a table without a model.
        counts = cache(lambda model: model is not None and shows_all(model))
        report: dict[str, Any] = {}

        def add(member: str, model: Any, count: int | None) -> None:
            counted = report.setdefault(member, {})
            known = counted.get(name := name_model(model), 0)
            counted[name] = None if known is None or count is None else known + count

        known_keys = {"created": self.created, "updated": self.updated}
        for member, rows in {**known_keys, "deleted": self.deleted_keys}.items():
            for model, keys in rows.items():
                if keys:
                    add(member, model, len(keys & shown.get(model, set())) or None)
        for table, count in self.deleted.items():
            if count:
                model = self.models.get(table)
                add("deleted", model, count if counts(model) else None)
        bulk: dict[tuple[str, str], dict[str, Any]] = {}
        for statement in self.bulk:
            # What changed no row is no change.
            if statement.rows == 0:
                continue
            model = self.models.get(statement.table)
            key = verb, name = statement.verb, name_model(model)
            each = bulk.setdefault(key, {"statement": verb, "model": name, "rows": 0})
            if statement.rows is None or not counts(model):
                each["rows"] = None
            elif each["rows"] is not None:
                each["rows"] += statement.rows
        for each in bulk.values():
            members = {name: value for name, value in each.items() if value is not None}
            report.setdefault("bulk_statements", []).append(members)
        return report


def name_model(model: Any) -> str:
    # No caller learns the name of a table.
    return _("another table") if model is None else str(model._meta.verbose_name)


def normalise_name(name: str) -> str:
    return name.translate(QUOTES).lower()


# What this thread counts: a signal reaches the receivers of every thread.
active_changes: ContextVar[Changes | None] = ContextVar("drf_mcp_changes", default=None)
