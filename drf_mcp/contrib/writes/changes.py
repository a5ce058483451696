"""What a call changes in the databases, seen by signals and by the statements themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from typing import Any, TypeAlias

from django.apps import apps
from django.db import Error
from django.db.models.signals import post_save, pre_save
from django.utils.translation import gettext as _

from drf_mcp.dispatch.failures import MOST_ROWS

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
# What Django writes, in which nothing else than the rows depends on the verb.
DELETE = re.compile(
    rf"\s*DELETE\s+FROM\s+{TABLE}(?P<rest>(?:\s+WHERE\b(?!.*\bRETURNING\b).*)?)",
    WRITE_STATEMENT.flags,
)
# Whether rows of a model are counted, or the model is only named.
Counts: TypeAlias = Callable[[Any], bool]
QUOTES = str.maketrans("", "", '"`[]')


class Statement:
    """A statement that writes.

    Attributes:
        verb: ``INSERT``, ``UPDATE``, ``DELETE``, or the word it begins with.
        table: the table's name without quotes; "" where it is not known.
        keys: the primary keys of the rows that it deletes, None where they are not known.
    """

    def __init__(self, verb: str, table: str) -> None:
        self.verb = verb
        self.table = table
        self.cursor: Any = None
        self.keys: set[Any] | None = None
        self.counted: int | None = None

    @classmethod
    def read(cls, sql: Any) -> Statement | None:
        """Return the statement of an SQL text, None for one that is not known to write."""
        text = str(sql)
        if (found := WRITE_STATEMENT.match(text) or WRITE_BEHIND_WITH.match(text)) is not None:
            verb = found["verb"].split()[0].upper()
            table = found["table"].translate(QUOTES).lower()
            return cls("INSERT" if verb == "REPLACE" else verb, table)
        found = OTHER_STATEMENT.match(text)
        return None if found is None else cls(found["verb"].upper(), "")

    def count(self, cursor: Any) -> None:
        # SQLite counts the rows of an INSERT … RETURNING while they are fetched.
        self.counted = cursor.rowcount
        if self.verb == "INSERT" and self.counted in (0, -1):
            self.cursor = cursor

    @property
    def rows(self) -> int | None:
        """How many rows it changed, None where the driver does not say."""
        rows = self.counted if self.cursor is None else self.cursor.rowcount
        return rows if isinstance(rows, int) and rows >= 0 else None


class Changes:
    """Counts rows: saved ones by the signals, deleted ones and bulk statements by the database.

    No signal of a deletion is listened to: Django deletes in another way where anybody does.
    """

    def __init__(self) -> None:
        self.created: dict[Any, set[Any]] = {}
        self.updated: dict[Any, set[Any]] = {}
        # The keys of deleted rows where they can be known, else how many there are, by table.
        self.deleted_keys: dict[Any, set[Any]] = {}
        self.deleted: Counter[str] = Counter()
        self.bulk: list[Statement] = []
        # The tables that the save of an object is going to write to, by the id of the object.
        self.saving: dict[int, set[str]] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        # Signals are heard by every thread of the process.
        token = current.set(self)
        pre_save.connect(self.begin_saving, weak=False, dispatch_uid=id(self))
        post_save.connect(self.end_saving, weak=False, dispatch_uid=id(self))
        try:
            yield
        finally:
            pre_save.disconnect(dispatch_uid=id(self))
            post_save.disconnect(dispatch_uid=id(self))
            current.reset(token)

    def begin_saving(self, sender: Any, instance: Any, **kwargs: Any) -> None:
        if current.get() is self:
            models = (instance, *instance._meta.concrete_model._meta.get_parent_list())
            tables = {normalise_name(model._meta.db_table) for model in models}
            self.saving[id(instance)] = tables

    def end_saving(self, sender: Any, instance: Any, created: bool, **kwargs: Any) -> None:
        if current.get() is not self:
            return
        self.saving.pop(id(instance), None)
        model, key = instance._meta.concrete_model, instance.pk
        if created:
            self.created.setdefault(model, set()).add(key)
        elif key not in self.created.get(model, ()):
            self.updated.setdefault(model, set()).add(key)

    def run(self, statement: Statement, execute: Callable[[], Any], cursor: Any) -> Any:
        """Execute a statement that writes, and count what no signal counts."""
        saving = self.find_saving(statement)
        try:
            result = execute()
        except Error:
            if saving is not None:
                saving.discard(statement.table)
            raise
        statement.count(cursor)
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
        # The text and the parameters are those of the statement that is about to run.
        select = f"SELECT {table}.{pk} FROM {table}{found['rest']}"  # nosec B608
        with connection.cursor() as cursor:
            cursor.execute(select, params)
            rows = cursor.fetchmany(MOST_ROWS + 1)
        if len(rows) <= MOST_ROWS:
            statement.keys = {model._meta.pk.to_python(key) for (key,) in rows}

    def find_saving(self, statement: Statement) -> set[str] | None:
        if statement.verb not in ("INSERT", "UPDATE"):
            return None
        every = reversed(self.saving.values())
        return next((tables for tables in every if statement.table in tables), None)

    @cached_property
    def models(self) -> Mapping[str, Any]:
        every = apps.get_models(include_auto_created=True)
        return {normalise_name(model._meta.db_table): model for model in every}

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

    def get_updated_keys(self) -> dict[Any, set[Any]]:
        """Return the keys of the rows that change and are not deleted, by model."""
        known = self.deleted_keys
        rest = {model: keys - known.get(model, set()) for model, keys in self.updated.items()}
        tables = [statement.table for statement in self.bulk if statement.rows != 0]
        return {**self.find_models(tables), **{model: k for model, k in rest.items() if k}}

    def get_deleted_keys(self) -> dict[Any, set[Any]]:
        """Return the keys of the deleted rows by model, none where they are not known."""
        known = {model: keys for model, keys in self.deleted_keys.items() if keys}
        return {**self.find_models(self.deleted), **known}

    def find_models(self, tables: Iterable[str]) -> dict[Any, set[Any]]:
        # Without the keys of their rows.
        return {self.models[table]: set() for table in tables if table in self.models}

    def report(self, shown: Mapping[Any, set[Any]], shows_all: Counts) -> dict[str, Any]:
        """Return the counts by model, and what they leave out: see docs/writes.md.

        Args:
            shown: the keys of the rows that the caller may see, by model; no others are counted.
            shows_all: whether the caller sees every row of a model.
        """
        # No tool lists a table without a model.
        counts: Counts = cache(lambda model: model is not None and shows_all(model))

        def count(rows: Mapping[Any, set[Any]]) -> Iterator[tuple[Any, int | None]]:
            for model, keys in rows.items():
                if keys:
                    yield model, len(keys & shown.get(model, set())) or None

        unknown = (
            (model, rows if counts(model) else None)
            for model, rows in ((self.models.get(t), rows) for t, rows in self.deleted.items())
            if rows
        )
        report = {
            "created": self.name_all(count(self.created)),
            "updated": self.name_all(count(self.updated)),
            "deleted": self.name_all([*count(self.deleted_keys), *unknown]),
            "bulk_statements": list(self.describe_bulk(counts)),
        }
        return {name: value for name, value in report.items() if value}

    def name_all(self, rows: Iterable[tuple[Any, int | None]]) -> dict[str, int | None]:
        named: dict[str, int | None] = {}
        for model, count in rows:
            known = named.get(name := self.get_name(model), 0)
            named[name] = None if known is None or count is None else known + count
        return named

    def describe_bulk(self, counts: Counts) -> Iterator[dict[str, Any]]:
        found: dict[tuple[str, str], list[int | None]] = {}
        for statement in self.bulk:
            # What changed no row is no change.
            if statement.rows != 0:
                model = self.models.get(statement.table)
                key = statement.verb, self.get_name(model)
                rows = statement.rows if counts(model) else None
                found.setdefault(key, []).append(rows)
        for (verb, name), each in found.items():
            known = [count for count in each if count is not None]
            total = {"rows": sum(known)} if len(known) == len(each) else {}
            yield {"statement": verb, "model": name, **total}

    def get_name(self, model: Any) -> str:
        # Names of tables are none of a caller's business.
        return _("another table") if model is None else str(model._meta.verbose_name)


def normalise_name(name: str) -> str:
    return name.translate(QUOTES).lower()


current: ContextVar[Changes | None] = ContextVar("drf_mcp_changes", default=None)
