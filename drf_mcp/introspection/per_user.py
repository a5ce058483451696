"""Request bodies that depend on who asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.handling import walk_fields
from drf_mcp.introspection.input_serializer import FIELD_HOOKS, find_own_hooks
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.renaming import Renaming
from drf_mcp.introspection.request_body import complete_body
from drf_mcp.introspection.safe_call import Finding, attempt
from drf_mcp.introspection.source.callers import asks_no_caller, is_same_for_every_caller
from drf_mcp.introspection.source.overrides import is_left_to_frameworks, is_same_without_flag
from drf_mcp.introspection.types import UNDECLARED, Body

RENAMED = gettext_noop("Let the view's parser and renderer work without a request that was sent.")
DECLARE = gettext_noop(
    "Name the members that only a real request may send with @mcp_tool(body={...}), or choose"
    " the serializer without swagger_fake_view."
)
CHOSEN_BY_FLAG = gettext_noop(
    "The serializer depends on swagger_fake_view, and cannot be made without it: %(failure)s"
)
# What views and serializers override to give different callers different fields.
VIEW_HOOKS = ("serializer_class", "get_serializer_class", "get_serializer")


class CallerBody:
    # Fields that may depend on the caller are described for an anonymous one and for a superuser,
    # those that may depend on ``swagger_fake_view`` with it and without, as a request finds the
    # view. What only one of them may send is optional.

    def __init__(self, inspection: Inspection, describe: Callable[[Inspection], Body]) -> None:
        self.inspection = inspection
        self.describe = describe

    def ask_as(self, inspection: Inspection) -> CallerBody:
        return CallerBody(inspection, self.describe)

    def get_body(self) -> Body:
        body = self.get_union()
        if self.inspection.declared_request is UNDECLARED:
            return body
        own = self.inspection.again()
        own.heeds_request = False
        known = attempt(self.inspection.place, self.ask_as(own).get_union, "", [], Body("none"))
        return complete_body(body, known)

    def get_union(self) -> Body:
        findings = self.inspection.findings
        known = len(findings)
        body = self.get_own()
        failed = body.kind == "open" and len(findings) > known
        for other in self.find_others(failed=failed):
            if failed:
                del findings[known:]
            body, failed = (other if failed else body.union(other)), False
        return self.describe_class(body, known) if failed else body

    def describe_class(self, body: Body, known: int) -> Body:
        # What no instance shows, the class declares. Code of its own that chooses fields is a gap.
        of_class = self.inspection.of_class
        for described in self.ask_as(of_class).try_own([]):
            body = described
            if not any(find_own_hooks(type(each)) for each in of_class.serializers):
                del self.inspection.findings[known:]
        return body

    def get_own(self) -> Body:
        body = self.describe(self.inspection)
        return self.inspection.attempt(
            lambda: Renaming(self.inspection.view).rename_body(body), RENAMED, body
        )

    def find_others(self, *, failed: bool) -> Iterator[Body]:
        inspection = self.inspection
        if not inspection.serializers and not failed:
            return
        if failed or self.depends_on_caller():
            yield from self.ask_as(inspection.privileged).try_own([])
        if self.depends(is_same_without_flag):
            failures: list[Finding] = []
            real = inspection.without_flag
            callers = (self.ask_as(real), self.ask_as(real.privileged))
            bodies = [body for caller in callers for body in caller.try_own(failures)]
            if failures and not bodies:
                failure = failures[0].message
                inspection.find(_(CHOSEN_BY_FLAG) % {"failure": failure}, DECLARE)
                bodies = list(self.ask_as(real.of_class).try_own([]))
            yield from bodies

    def try_own(self, failures: list[Finding]) -> Iterator[Body]:
        findings = self.inspection.findings
        known = len(findings)
        body = attempt(self.inspection.place, self.get_own, "", failures, None)
        if body is not None and body.kind == "open" and len(findings) > known:
            failures += findings[known:]
        elif body is not None:
            yield body

    def depends_on_caller(self) -> bool:
        if not self.depends(lambda owner, name: is_left_to_frameworks(owner, [name])):
            return False
        return not self.inspection.attempt(self.asks_no_caller, GUARD, False)

    def asks_no_caller(self) -> bool:
        view_class: type = type(self.inspection.view)
        return all(is_same_for_every_caller(view_class, name) for name in VIEW_HOOKS) and all(
            map(asks_no_caller, self.find_field_classes())
        )

    def find_field_classes(self) -> set[type]:
        return {
            type(field)
            for serializer in self.inspection.serializers
            for _, field in walk_fields(serializer)
        }

    def depends(self, is_same: Callable[[type, str], bool]) -> bool:
        return self.inspection.attempt(partial(self.has_other_hooks, is_same), GUARD, False)

    def has_other_hooks(self, is_same: Callable[[type, str], bool]) -> bool:
        view_class = type(self.inspection.view)
        if not all(is_same(view_class, name) for name in VIEW_HOOKS):
            return True
        return not all(
            is_same(type(field), name)
            for serializer in self.inspection.serializers
            for _, field in walk_fields(serializer)
            if isinstance(field, BaseSerializer)
            for name in FIELD_HOOKS
        )
