"""Request bodies that depend on who asks."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext_noop
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.handling import walk_fields
from drf_mcp.introspection.input_serializer import find_own_hooks
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.renaming import Renaming
from drf_mcp.introspection.request_body import complete_body
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.shared_fields import SharedFields
from drf_mcp.introspection.source.words import asks_who_calls
from drf_mcp.introspection.stock_serializers import FIELD_HOOKS, is_stock_serializer
from drf_mcp.introspection.types import UNDECLARED, Body

RENAMED = gettext_noop("Let the view's parser and renderer work without a request that was sent.")
# What views override to give different callers different fields.
VIEW_HOOKS = ("serializer_class", "get_serializer_class", "get_serializer")
FAILED: Body | None = None


class CallerBody:
    # A body is described for an anonymous caller. Where code that chooses its fields speaks of the
    # caller, or fails, it is described for a superuser as well: what only one of them may send is
    # optional.

    def __init__(self, inspection: Inspection, describe: Callable[[Inspection], Body]) -> None:
        self.inspection = inspection
        self.describe = describe

    def get_body(self) -> Body:
        body = self.get_union(self.inspection)
        if self.inspection.declared_request is UNDECLARED:
            return body
        own = self.inspection.again()
        own.heeds_request = False
        undeclared = attempt(own.place, lambda: self.get_union(own), "", None, Body("none"))
        return complete_body(body, undeclared)

    def get_union(self, inspection: Inspection) -> Body:
        findings = inspection.findings
        known = len(findings)
        body = self.describe_renamed(inspection)
        failed = body.kind == "open" and len(findings) > known
        if not failed and not inspection.attempt(lambda: asks_for_caller(inspection), GUARD, False):
            return body
        if (other := self.describe_as(inspection.privileged)) is not None:
            if not failed:
                return body.union(other)
            del findings[known:]
            return other
        if not failed:
            return body
        # What no instance shows, the class declares. Code of its own that chooses fields is a gap.
        of_class = inspection.again()
        of_class.describes_class = True
        if (other := self.describe_as(of_class)) is None:
            return body
        if not any(find_own_hooks(type(each)) for each in of_class.serializers):
            del findings[known:]
        return other

    def describe_as(self, inspection: Inspection) -> Body | None:
        known = len(inspection.findings)
        body = attempt(
            inspection.place, lambda: self.describe_renamed(inspection), "", None, FAILED
        )
        is_gap = body is not None and body.kind == "open" and len(inspection.findings) > known
        return None if is_gap else body

    def describe_renamed(self, inspection: Inspection) -> Body:
        body = self.describe(inspection)
        return inspection.attempt(
            lambda: Renaming(inspection.view).rename_body(body), RENAMED, body
        )


def asks_for_caller(inspection: Inspection) -> bool:
    if not inspection.serializers:
        return False
    hooks: list[tuple[type, str]] = [(type(inspection.view), name) for name in VIEW_HOOKS]
    for serializer in inspection.serializers:
        if is_stock_serializer(serializer) or SharedFields.of(serializer) is not None:
            continue
        for _, field in walk_fields(serializer):
            if isinstance(field, BaseSerializer):
                hooks += [(type(field), name) for name in FIELD_HOOKS]
    return any(asks_who_calls(owner, name) for owner, name in hooks)
