"""The tests of one function: whether they hold, and what they say of members of the request."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from drf_mcp.introspection.source.values import (
    FIELD_NAME,
    PARTS_OF_REQUEST,
    THE_FIELDS,
    UNKNOWN,
    Comparison,
    KnownValue,
    RequestMember,
    RunParts,
    Values,
    invert,
    join_values_of,
)

CONTAINERS = (tuple, list, dict, set, frozenset)
SIZES = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
EQUAL, OTHER = (ast.Eq, ast.In, ast.Is), (ast.NotEq, ast.NotIn, ast.IsNot)


class ComparisonReader(RunParts):
    """Reads the tests of one function."""

    def evaluate_boolop(self, node: ast.BoolOp) -> Values:
        found: list[Values] = []
        stop = not isinstance(node.op, ast.And)
        truths: list[bool | None] = []
        for part in node.values:
            # The rest is read where the part before lets it.
            live = None if None in truths else stop not in truths
            with self.branch(live if truths else True):
                found.append(self.evaluate(part))
            truths.append(self.find_truth(found[-1]))
        if stop:
            self.tell_default(found)
        if stop in truths or None not in truths:
            return (KnownValue(stop in truths if stop else stop not in truths, is_fact=True),)
        return join_values_of(*found)

    def tell_default(self, parts: list[Values]) -> None:
        # request.data.get("by") or "status"
        last = parts[-1][0] if len(parts[-1]) == 1 else None
        for member in parts[0] if isinstance(last, KnownValue) else ():
            if isinstance(member, RequestMember) and not self.is_dead:
                self.tell_member("fall_back", member, last)

    def evaluate_ifexp(self, node: ast.IfExp) -> Values:
        truth = self.find_truth(self.evaluate(node.test))
        found = []
        for part, is_taken in ((node.body, truth), (node.orelse, invert(truth))):
            with self.branch(is_taken):
                values = self.evaluate(part)
            found += [values] if is_taken is not False else []
        return join_values_of(*found)

    def evaluate_unaryop(self, node: ast.UnaryOp) -> Values:
        truth = self.find_truth(self.evaluate(node.operand))
        if truth is None or not isinstance(node.op, ast.Not):
            return UNKNOWN
        return (KnownValue(not truth, is_fact=True),)

    def find_truth(self, values: Values) -> bool | None:
        """Return whether a test is true for every call of the action, None where calls differ."""
        facts = [v for v in values if isinstance(v, KnownValue) and v.is_fact]
        return bool(facts[0].value) if len(facts) == len(values) == 1 else None

    def evaluate_compare(self, node: ast.Compare) -> Values:
        left = self.evaluate(node.left)
        rights = [self.evaluate(part) for part in node.comparators]
        right, operator = rights[0], node.ops[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            parts = tuple(value for value in right if isinstance(value, PARTS_OF_REQUEST))
            found = self.look_up(parts, left, node.left, is_test=True) if parts else ()
            self.presences[id(node)] = found
            if THE_FIELDS in right and isinstance(node.left, ast.Name):
                # What goes on is the name of a field.
                self.names[node.left.id] = (FIELD_NAME,)
        found = self.compare(node, left, right, operator) if len(rights) == 1 else UNKNOWN
        if found == UNKNOWN:
            known = (v for each in (left, *rights) for v in each if isinstance(v, KnownValue))
            by_size = any(isinstance(each, SIZES) for each in node.ops)
            self.tell("weigh", [self.reader.use(value) for value in known], by_size=by_size)
        return found

    def compare(self, node: ast.AST, left: Values, right: Values, operator: ast.cmpop) -> Values:
        if not isinstance(operator, (*EQUAL, *OTHER)):
            return UNKNOWN
        is_positive, is_in = isinstance(operator, EQUAL), isinstance(operator, (ast.In, ast.NotIn))
        known = [value for value in (*left, *right) if isinstance(value, KnownValue)]
        if len(known) == len(left) + len(right) == 2 and any(each.is_fact for each in known):
            one, other = map(self.reader.use, known)
            try:
                is_equal = one in other if is_in else one == other
            except TypeError:
                return UNKNOWN
            return (KnownValue(is_equal is is_positive, is_fact=True),)
        if any(isinstance(v, RequestMember) for v in right) and not is_in:
            left, right = right, left
        members = tuple(value for value in left if isinstance(value, RequestMember))
        literals = self.list_literals(right, is_in=is_in)
        if members and literals:
            comparison = Comparison(members, literals, is_positive)
            self.comparisons[id(node)] = comparison
            self.tell_comparison(comparison)
        return UNKNOWN

    def list_literals(self, values: Values, *, is_in: bool) -> tuple[Any, ...]:
        if len(values) != 1 or not isinstance(values[0], KnownValue):
            return ()
        value = self.reader.use(values[0])
        if not is_in:
            value = (getattr(value, "value", value),)
        if not isinstance(value, CONTAINERS):
            return ()
        items = [getattr(each, "value", each) for each in value]
        items = sorted(items, key=str) if isinstance(value, (set, frozenset)) else items
        fit = all(isinstance(item, (str, int)) for item in items)
        return tuple(items) if fit else ()

    def tell_comparison(self, comparison: Comparison, *, is_closed: bool = False) -> None:
        self.tell_literals(comparison.members, comparison.literals, is_closed=is_closed)

    def tell_literals(self, values: Values, literals: Iterable[Any], *, is_closed: bool) -> None:
        every = tuple(literals)
        for member in values:
            if isinstance(member, RequestMember) and every and not self.is_dead:
                self.tell_member("compare", member, every)
                if is_closed and (self.is_sure or member in self.present):
                    self.tell_member("close", member, every)

    def need(self, values: Values) -> None:
        members = [value for value in values if isinstance(value, RequestMember)]
        others = [value for value in values if not isinstance(value, RequestMember)]
        is_empty = all(isinstance(v, KnownValue) and not v.value for v in others)
        if len(members) == 1 and is_empty and self.is_sure and not self.is_dead:
            self.tell_member("need", members[0])
