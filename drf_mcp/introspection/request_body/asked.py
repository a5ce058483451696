"""The fields that a view asks its user for, which the body may have as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.serializers import Serializer

from drf_mcp.introspection.forms import Form
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.request_body.describer import SerializerBody
from drf_mcp.introspection.types import Body, Parameter

FLAT = gettext_noop(
    "Give ask() a flat serializer without secrets; visit() sends the user to a page."
)
ASK_FIRST = gettext_noop(
    "Ask before the first write: the view runs again from its start with the answer."
)


class AskedFields:
    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection

    def add_to(self, body: Body) -> Body:
        """Return a body with the fields of `call_context(request).ask()` as optional members."""
        reading = self.inspection.reading
        if reading is None or not reading.asked:
            return body
        if reading.writes_before_asking:
            self.inspection.find(_("The view writes before it asks."), ASK_FIRST)
        known = {parameter.name for parameter in body.fields}
        further = [p for p in self.find_parameters(reading.asked) if p.name not in known]
        if body.kind == "list" or not further:
            return body
        kind = "object" if body.kind == "none" else body.kind
        return replace(body, kind=kind, fields=(*body.fields, *further))

    def find_parameters(self, asked: Any) -> Iterator[Parameter]:
        for serializer_class in asked:
            serializer: Serializer[Any] = serializer_class(partial=True)
            for fault in Form(serializer).find_faults():
                self.inspection.find(fault, FLAT)
            own = self.inspection.again()
            for parameter in SerializerBody(own, serializer).get_body().fields:
                yield replace(parameter, required=False)
