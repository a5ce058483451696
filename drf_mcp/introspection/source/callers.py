"""Whether what a class gives a description differs between callers, by its source."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from drf_mcp.introspection.source.overrides import FRAMEWORKS, ProjectMember
from drf_mcp.introspection.source.trees import (
    QUERY,
    FunctionSource,
    is_name,
    is_request_member,
)

# Run with what was sent or with what is answered, never while a class is described.
WITH_DATA = frozenset(
    {"create", "data", "errors", "filter", "filter_queryset", "get_attribute", "get_value", "qs"}
    | {"is_valid", "run_validation", "run_validators", "save", "to_internal_value", "update"}
    | {"to_representation", "validate", "validate_empty_values", "validated_data"}
)
SAME_FOR_ALL = QUERY | {"method"}


class CallerQuestion(ProjectMember):
    # The callers that a view is described for send the same request, without a query. A class that
    # is handed on knows none of them.

    instances = frozenset({"self"})

    def ignores_caller(self) -> bool:
        passed = {id(node) for source in self.sources for node in self.find_passed(source)}
        return self.has_none(lambda node: id(node) not in passed and self.speaks_of_caller(node))

    def find_passed(self, source: FunctionSource) -> Iterator[ast.AST]:
        for node in source.nodes:
            if is_request_member(node, SAME_FOR_ALL):
                yield node.value  # type: ignore[attr-defined]
        if hasattr(self.owner, "base_filters"):
            yield from self.find_unsent(source)

    def find_unsent(self, source: FunctionSource) -> set[ast.AST]:
        # What a filter set does under ``if data``, its query, is not done while it is described.
        found = {
            node
            for branch in source.nodes
            if isinstance(branch, ast.If) and self.needs_data(branch.test)
            for statement in branch.body
            for node in ast.walk(statement)
        }
        stores = (node for node in source.nodes if is_name(node, "data"))
        kept = all(isinstance(node.ctx, ast.Load) or node in found for node in stores)  # type: ignore[attr-defined]
        return found if kept else set()

    def needs_data(self, test: ast.expr) -> bool:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return self.needs_data(test.values[0])
        return is_name(test, "data")


@functools.cache
def is_same_for_every_caller(owner: type, name: str) -> bool:
    return CallerQuestion(owner, name).ignores_caller()


@functools.cache
def asks_no_caller(owner: type) -> bool:
    """Return whether nothing that a class overrides of the frameworks asks who is calling."""
    return all(is_same_for_every_caller(owner, name) for name in find_overrides(owner))


def find_overrides(owner: type) -> set[str]:
    known, own = set[str](), set[str]()
    for base in owner.__mro__:
        theirs = base.__module__.partition(".")[0] in FRAMEWORKS
        (known if theirs else own).update(vars(base))
    return (known & own) - WITH_DATA
