"""Rows as columns and rows: the names of the fields once, in place of once a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

from drf_mcp.envelopes.base import Encode, Envelope
from drf_mcp.json_text import OBJECTS, content_hash
from drf_mcp.outcomes import Outcome

TABLE: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
    },
    "required": ["columns", "rows"],
}


class TabularEnvelope(Envelope):
    """Writes ``[{"id": 1}, {"id": 2}]`` as ``{"columns": ["id"], "rows": [[1], [2]]}``."""

    def text(self, outcome: Outcome, rendered: Any, encode: Encode) -> str:
        return super().text(outcome, _write_table(rendered), encode)

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any] | None:
        return super().schema(_describe_table(data_schema))


def _make_tabular(envelope_class: Any) -> type[Envelope]:
    if not envelope_class.has_tables:
        return cast("type[Envelope]", envelope_class)
    bases = (TabularEnvelope, envelope_class)
    return cast("type[Envelope]", type(envelope_class.__name__, bases, {}))


# The class that writes tables in the same envelope; the same class where it has none.
make_tabular: Callable[[Any], type[Envelope]] = lru_cache(maxsize=64)(_make_tabular)


def _write_table(rendered: Any) -> Any:
    data: Any = rendered.get("data") if isinstance(rendered, Mapping) else None
    rows = data.get("results") if isinstance(data, OBJECTS) else data
    # In a table a field that is missing would look like a null, so all rows have the same fields.
    if not isinstance(rows, list) or not rows or not all(isinstance(r, OBJECTS) for r in rows):
        return rendered
    columns = list(rows[0])
    if any(list(row) != columns for row in rows):
        return rendered
    table = {"columns": columns, "rows": [list(row.values()) for row in rows]}
    written = table if rows is data else {**data, "results": table}
    known = rendered.get("meta", {}).get("content_hash")
    if known and known == content_hash(data):
        # Clients hash the data that they get.
        rendered = {**rendered, "meta": {**rendered["meta"], "content_hash": content_hash(written)}}
    return {**rendered, "data": written}


def _describe_table(data_schema: dict[str, Any]) -> dict[str, Any]:
    # Rows with different fields, and rows that were cut to fit, stay objects.
    properties = data_schema.get("properties", {})
    if "results" in properties:
        either = {"anyOf": [properties["results"], TABLE]}
        return {**data_schema, "properties": {**properties, "results": either}}
    return {} if "array" in str(data_schema.get("type", "")) else data_schema
