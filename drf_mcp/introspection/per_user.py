"""Request bodies that depend on who asks."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext_noop
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.handling import walk_fields
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.renaming import Renaming
from drf_mcp.introspection.request_body import complete_body
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.source.overrides import asks_who_calls
from drf_mcp.introspection.types import UNDECLARED, Body

RENAMED = gettext_noop("Let the view's parser and renderer work without a request that was sent.")
# What views override to give different callers different fields.
VIEW_HOOKS = ("serializer_class", "get_serializer_class", "get_serializer")
# What serializers override to choose their fields while an instance is made.
FIELD_HOOKS = (
    "__init__",
    "get_fields",
    "fields",
    "_writable_fields",
    "get_field_names",
    "get_extra_kwargs",
)
FAILED: Body | None = None


class CallerBody:
    # A body is described for an anonymous caller. Where code that chooses its fields speaks of the
    # caller, or fails, it is described for a superuser as well: what only one of them may send is
    # optional.

    def __init__(self, inspection: Inspection, describe: Callable[[Inspection], Body]) -> None:
        self.inspection = inspection
        self.describe = describe

    def get_body(self) -> Body:
        body = self.get_union()
        if self.inspection.declared_request is UNDECLARED:
            return body
        own = self.inspection.again()
        own.heeds_request = False
        undeclared = CallerBody(own, self.describe).get_union
        return complete_body(body, attempt(own.place, undeclared, "", [], Body("none")))

    def get_union(self) -> Body:
        inspection, findings = self.inspection, self.inspection.findings
        known = len(findings)
        body = self.describe_renamed(inspection)
        failed = body.kind == "open" and len(findings) > known
        if not failed:
            if not inspection.attempt(self.depends_on_caller, GUARD, False):
                return body
            other = self.describe_as(inspection.privileged)
            return body if other is None else body.union(other)
        if (other := self.describe_as(inspection.privileged)) is not None:
            del findings[known:]
            return other
        return body

    def describe_renamed(self, inspection: Inspection) -> Body:
        body = self.describe(inspection)
        return inspection.attempt(
            lambda: Renaming(inspection.view).rename_body(body), RENAMED, body
        )

    def describe_as(self, inspection: Inspection) -> Body | None:
        known = len(inspection.findings)
        body = attempt(inspection.place, lambda: self.describe_renamed(inspection), "", [], FAILED)
        is_gap = body is not None and body.kind == "open" and len(inspection.findings) > known
        return None if is_gap else body

    def depends_on_caller(self) -> bool:
        inspection = self.inspection
        if not inspection.serializers:
            return False
        hooks: list[tuple[type, str]] = [(type(inspection.view), name) for name in VIEW_HOOKS]
        for serializer in inspection.serializers:
            for _, field in walk_fields(serializer):
                if isinstance(field, BaseSerializer):
                    hooks += [(type(field), name) for name in FIELD_HOOKS]
        return any(asks_who_calls(owner, name) for owner, name in hooks)
