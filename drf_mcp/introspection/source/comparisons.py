"""The tests of one function: whether they hold, and what they say of members of the request."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from drf_mcp.introspection.source.values import (
    FIELD_NAME,
    THE_FIELDS,
    UNKNOWN,
    KnownValue,
    RequestPart,
    RunParts,
    Values,
    invert,
    is_member,
    is_whole,
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
            self.learn(member, default=self.reader.use(last))

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
            parts = tuple(value for value in right if isinstance(value, RequestPart))
            if parts:
                self.look_up(parts, left, node.left)
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
        if any(map(is_member, right)) and not is_in:
            left, right = right, left
        self.tell_literals(left, self.list_literals(right, is_in=is_in))
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

    def tell_literals(self, values: Values, literals: Iterable[Any]) -> None:
        for member in values if literals else ():
            self.learn(member, literals=dict.fromkeys(literals))

    # --- Values that are refused ------------------------------------------------------------------

    def read_refusal(self, test: ast.expr) -> None:
        """Take what a test says after which the request is refused."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            for part in test.values:
                self.read_refusal(part)
            return
        *before, last = test.values if isinstance(test, ast.BoolOp) else [test]
        if isinstance(last, ast.Compare) and isinstance(last.ops[0], OTHER):
            self.read_refused_values(before, last)
        if before:
            return
        if isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.Not):
            self.need(self.evaluated.get(id(last.operand), ()))
        elif isinstance(last, ast.Compare) and isinstance(last.ops[0], ast.Is):
            self.need(self.evaluated.get(id(last.left), ()))

    def read_refused_values(self, before: list[ast.expr], test: ast.Compare) -> None:
        is_in = isinstance(test.ops[0], ast.NotIn)
        left, right = (
            self.evaluated.get(id(each), ()) for each in (test.left, test.comparators[0])
        )
        if is_in and not before:
            parts = filter(is_whole, right)
            keys = (key.value for key in left if isinstance(key, KnownValue))
            names = [key for key in keys if isinstance(key, str)]
            self.need(tuple(part.step(name) for part in parts for name in names))
        # A value that is sent is judged alone where other tests say no more than that it is sent.
        is_alone = all(set(left) <= set(self.evaluated.get(id(find_sent(b)), ())) for b in before)
        if is_alone and self.list_literals(right, is_in=is_in):
            for member in left if self.is_sure else ():
                self.learn(member, is_closed=True)

    def need(self, values: Values) -> None:
        members = list(filter(is_member, values))
        others = [value for value in values if not is_member(value)]
        is_empty = all(isinstance(v, KnownValue) and not v.value for v in others)
        if len(members) == 1 and is_empty and self.is_sure:
            self.learn(members[0], is_needed=True)


def find_sent(test: ast.expr) -> ast.expr:
    """Return what a test such as ``value is not None`` is about."""
    is_not = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)
    return test.left if is_not else test  # type: ignore[attr-defined]
