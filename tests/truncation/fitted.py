"""Fits an outcome into a limit without a server, and joins the parts again."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from drf_mcp.calls.budget import ToolBudget
from drf_mcp.dispatch.content import encode_data
from drf_mcp.envelopes import Envelope, ResponseV2Envelope
from drf_mcp.outcomes import Outcome
from drf_mcp.stored import Entry
from drf_mcp.stored.stores import new_archive_id
from drf_mcp.truncation import Digester, LeadDigester, count_tokens, fit_outcome


@dataclass
class Fitted:
    """A fitted result.

    Attributes:
        outcome: the outcome that is sent.
        text: its text blocks, joined.
        texts: its text blocks, the envelope first.
        entries: the entries of the archive.
        written: how often the envelope was written.
    """

    outcome: Outcome
    text: str
    texts: list[str]
    entries: list[Entry]
    written: int

    @property
    def envelope(self) -> Any:
        """The envelope as a client reads it."""
        return json.loads(self.texts[0])

    @property
    def tokens(self) -> int:
        """The number of tokens of the text blocks."""
        return count_tokens(self.text)

    @property
    def level(self) -> str | None:
        """The content fidelity."""
        return self.outcome.fidelity and self.outcome.fidelity.level

    @property
    def items(self) -> list[dict[str, Any]]:
        """The archived items."""
        return [item for entry in self.entries for item in entry.items]

    @property
    def restored(self) -> Any:
        """The data that is sent, with the archived items put back."""
        return restored(self.outcome.data, self.items)


@dataclass
class Shelf:
    """An archive in memory that may be made to fail."""

    entries: list[Entry]
    works: bool
    seconds: int | None = 3600
    is_full: bool = False

    def keep(self, outcome: Outcome, items: Iterable[dict[str, Any]]) -> Entry | None:
        """Keep the items if the archive works."""
        entry = Entry.of(new_archive_id(), "", outcome.tool, items)
        if not self.works:
            return None
        self.entries.append(entry)
        return entry


def fit(
    outcome: Outcome,
    limit: int,
    envelope_class: type[Envelope] = ResponseV2Envelope,
    keep: Any = True,
    less: str = "",
    **options: Any,
) -> Fitted:
    """Fit an outcome. ``keep`` is whether the archive works, or None for no archive."""
    envelope, entries, written = envelope_class(), [], [0]

    def write(outcome: Outcome) -> str:
        written[0] += 1
        return "".join(envelope.texts(outcome, encode_data))

    archive = None if keep is None else Shelf(entries, works=keep)
    budget = FixedBudget(limit, archive, less, **options)
    sample = encode_data(outcome.data)[:8_000]
    fitted = fit_outcome(budget, outcome, write, len(write(outcome)), sample)
    texts = envelope.texts(fitted, encode_data)
    return Fitted(fitted, "".join(texts), texts, entries, written[0])


@dataclass
class FixedBudget(ToolBudget):
    """A budget that does not depend on a tool."""

    limit: int
    archive: Shelf | None
    hint: str
    digester: type[Digester] | None = LeadDigester
    query: str = ""
    reads = True

    @property
    def fields_hint(self) -> str:
        return self.hint

    def get_limit(self, outcome: Outcome) -> int:
        return self.limit

    def get_archive(self) -> Shelf | None:
        return self.archive

    def get_digester(self) -> type[Digester] | None:
        return self.digester

    def get_query(self) -> str:
        return self.query


def fit_data(data: Any, limit: int, **options: Any) -> Fitted:
    """Fit the outcome of a success with this data."""
    return fit(success(data), limit, **options)


def success(data: Any, **members: Any) -> Outcome:
    """Return the outcome of a success."""
    return Outcome("things_list", 200, data, request_id="req_0123456789abcdef", **members)


def restored(data: Any, items: list[dict[str, Any]]) -> Any:
    """Put every item back at its pointer; an index past the end appends.

    An item without a pointer is metadata.
    """
    holder = {"": copy.deepcopy(data)}
    for item in items:
        if item["pointer"] is None:
            continue
        tokens = ["", *item["pointer"].split("/")[1:]]
        node: Any = holder
        for token in tokens[:-1]:
            node = node[key_of(node, token)]
        key = key_of(node, tokens[-1])
        if "length" in item:
            assert len(node) == key
            assert len(item["value"]) == item["length"]
            node.extend(item["value"])
        elif isinstance(node, list) and key == len(node):
            node.append(item["value"])
        else:
            node[key] = item["value"]
    return holder[""]


def key_of(node: Any, token: str) -> Any:
    """Return a token of a pointer as a key of this object or list."""
    return int(token) if isinstance(node, list) else token.replace("~1", "/").replace("~0", "~")


def schema_of(value: Any) -> dict[str, Any]:
    """Return the schema that a serializer with stock fields has for a value."""
    if isinstance(value, dict):
        members = {name: schema_of(member) for name, member in value.items()}
        return {"type": "object", "properties": members}
    if isinstance(value, list):
        schemas = [schema_of(item) for item in value]
        alike = schemas and all(schema == schemas[0] for schema in schemas)
        return {"type": "array", "items": schemas[0] if alike else {}}
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return {"type": kinds[type(value)]} if type(value) in kinds else {}
