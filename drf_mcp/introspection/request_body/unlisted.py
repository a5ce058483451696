"""Members that a view takes although what people wrote of its body leaves them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from drf_mcp.introspection.types import Body, Handling, Parameter


def with_unlisted(body: Body, own: Body) -> Body:
    """Return a written body that also takes the members which the view's own code knows.

    Args:
        body: the body as people wrote it.
        own: the body that the view's own code reads.
    """
    keys = {**own.keys, **body.keys}
    if body.kind == "open":
        return replace(body, handling=body.handling.union(handled_as_whole(own)), keys=keys)
    if body.kind == "object" and own.kind in ("list", "either"):
        body = body.union(replace(own, kind="list", fields=()))
    if body.kind == "none" and own.kind == "open":
        body = replace(body, schema=own.schema, handling=own.handling)
    known = {field.name: field for field in own.fields}
    if body.kind in ("list", "either"):
        body = replace(body, handling=body.handling.union(own.handling))
    fields = (*handled_as_known(body, known), *unlisted(body, known))
    return replace(body, fields=fields, keys=keys)


def handled_as_known(body: Body, known: dict[str, Parameter]) -> Iterator[Parameter]:
    """Yield the members of a written body, with what the view's own code tells of their values."""
    for field in body.fields:
        own = known.get(field.name, field).handling
        uploads = {place: upload for place, upload in own.uploads.items() if upload.sure}
        yield replace(field, handling=field.handling.union(replace(own, uploads=uploads)))


def unlisted(body: Body, known: dict[str, Parameter]) -> Iterator[Parameter]:
    """Yield the members that are known, and not written down."""
    listed = {field.name for field in body.fields}
    for name, field in known.items():
        if name not in listed:
            yield replace(field, required=False, listed=False)


def handled_as_whole(body: Body) -> Handling:
    """Return what has to be known of the values of a body that is one argument."""
    whole = body.handling
    for field in body.fields:
        whole = whole.union(field.handling.under(field.name))
    return whole
