"""The statements of one function: its variables, the branches that run, and what is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from drf_mcp.introspection.source.members import AnyFunctionDef, refuses_call
from drf_mcp.introspection.source.values import (
    CONTAINERS,
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
    join_scopes,
    join_values_of,
)

Block = list[ast.stmt]
RETURNED, REFUSED = "returned", "refused"
SIZES = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
EQUAL, OTHER = (ast.Eq, ast.In, ast.Is), (ast.NotEq, ast.NotIn, ast.IsNot)


class StatementReader(RunParts):
    """Reads the statements, and the tests, of one function.

    Attributes:
        ended: ``refused`` after a branch that raises or returns an error, ``returned`` after any
            other end, "" before.
    """

    ended = ""

    def run(self) -> Values:
        assert self.tree is not None
        self.read_block(self.tree.body)
        # An inner function may use names that are assigned after it.
        while self.inner:
            function = self.inner.pop()
            parameters = ast.walk(function.args)
            names = {each.arg for each in parameters if isinstance(each, ast.arg)}
            with self.branch(None):
                for name in names & self.names.keys():
                    del self.names[name]
                self.returned_inside = True
                self.read_block(function.body)
                self.returned_inside = False
        return tuple(self.returned) or UNKNOWN

    def read_block(self, block: Block) -> None:
        for statement in block:
            self.is_dead |= bool(self.ended)
            method = getattr(self, f"read_{type(statement).__name__.lower()}", None)
            if method is not None:
                method(statement)
            else:
                self.read_parts(statement)

    # --- Values -----------------------------------------------------------------------------------

    def read_parts(self, statement: ast.stmt) -> None:
        for field in ast.iter_child_nodes(statement):
            if isinstance(field, ast.expr):
                self.escape(self.evaluate(field))

    def read_expr(self, statement: ast.Expr) -> None:
        self.evaluate(statement.value)

    def read_assign(self, statement: ast.Assign) -> None:
        values = self.evaluate(statement.value)
        for target in statement.targets:
            self.assign(target, values, statement.value)

    def read_annassign(self, statement: ast.AnnAssign) -> None:
        if statement.value is not None:
            self.assign(statement.target, self.evaluate(statement.value), statement.value)

    def read_augassign(self, statement: ast.AugAssign) -> None:
        self.escape(self.evaluate(statement.value))
        if isinstance(statement.target, ast.Name):
            self.names[statement.target.id] = UNKNOWN

    def read_delete(self, statement: ast.Delete) -> None:
        for target in statement.targets:
            for part in ast.iter_child_nodes(target):
                if isinstance(part, ast.expr):
                    self.evaluate(part)

    def read_return(self, statement: ast.Return) -> None:
        if statement.value is not None:
            values = self.evaluate(statement.value)
            if self.returned_inside:
                self.escape(values)
            elif not self.is_dead:
                self.returned |= dict.fromkeys(values)
        self.ended = self.ended or (REFUSED if refuses_call(statement) else RETURNED)

    def read_raise(self, statement: ast.Raise) -> None:
        self.is_raising = True
        self.read_parts(statement)
        self.is_raising = False
        self.ended = self.ended or REFUSED

    def read_assert(self, statement: ast.Assert) -> None:
        self.evaluate(statement.test)

    def read_continue(self, statement: ast.stmt) -> None:
        self.ended = self.ended or RETURNED

    read_break = read_continue

    def read_functiondef(self, statement: AnyFunctionDef) -> None:
        for default in (*statement.args.defaults, *statement.args.kw_defaults):
            if default is not None:
                self.evaluate(default)
        self.names[statement.name] = UNKNOWN
        self.inner.append(statement)

    read_asyncfunctiondef = read_functiondef

    def read_classdef(self, statement: ast.ClassDef) -> None:
        self.names[statement.name] = UNKNOWN

    # --- Branches ---------------------------------------------------------------------------------

    def read_if(self, statement: ast.If) -> None:
        truth = self.find_truth(self.evaluate(statement.test))
        refuses = bool(statement.body) and refuses_call(statement.body[-1])
        if refuses and truth is None and len(statement.body) == 1:
            self.read_refusal(statement.test)
        ends: list[tuple[dict[str, Values], str]] = []
        for block, is_taken in ((statement.body, truth), (statement.orelse, invert(truth))):
            with self.branch(is_taken):
                self.read_block(block)
                ends.append((self.names, self.ended))
        if truth is not None:
            self.names, self.ended = ends[0 if truth else 1]
            return
        going = [names for names, ended in ends if not ended]
        if not going:
            self.ended = REFUSED if all(e == REFUSED for _, e in ends) else RETURNED
            going = [ends[1][0]]
        self.names = join_scopes(*going)
        if RETURNED in (ended for _, ended in ends):
            self.is_sure = False

    @contextmanager
    def branch(self, truth: bool | None) -> Iterator[None]:
        """Restore afterwards what was known before a branch."""
        before = self.is_sure, self.is_dead, self.ended, self.names
        self.names = dict(self.names)
        self.is_sure = self.is_sure and truth is True
        self.is_dead = self.is_dead or truth is False
        yield
        self.is_sure, self.is_dead, self.ended, self.names = before

    def read_for(self, statement: ast.For) -> None:
        with self.branch(None):
            # A loop may use any member.
            self.look(self.bind_items(statement.target, statement.iter))
            self.read_block(statement.body)
            inside = self.names
        self.names = join_scopes(self.names, inside)
        self.read_block(statement.orelse)

    read_asyncfor = read_for

    def read_while(self, statement: ast.While) -> None:
        self.evaluate(statement.test)
        with self.branch(None):
            self.read_block(statement.body)
            inside = self.names
        self.names = join_scopes(self.names, inside)

    def read_with(self, statement: ast.With) -> None:
        for item in statement.items:
            values = self.evaluate(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, values, item.context_expr)
        self.read_block(statement.body)

    read_asyncwith = read_with

    def read_try(self, statement: ast.Try) -> None:
        # A key that is missing is refused, where every handler refuses.
        refuses = all(h.body and refuses_call(h.body[-1]) for h in statement.handlers)
        before = self.names
        with self.branch(True if refuses else None):
            self.read_block(statement.body)
            ends = [(self.names, self.ended)]
        for handler in statement.handlers:
            with self.branch(None):
                self.names = join_scopes(before, ends[0][0])
                if handler.name:
                    self.names[handler.name] = UNKNOWN
                self.read_block(handler.body)
                ends.append((self.names, self.ended))
        going = [names for names, ended in ends if not ended] or [ends[0][0]]
        self.names = join_scopes(*going)
        if all(ended for _, ended in ends):
            self.ended = ends[0][1]
        self.read_block(statement.orelse)
        self.read_block(statement.finalbody)

    def read_match(self, statement: ast.Match) -> None:
        subject = self.evaluate(statement.subject)
        known = [self.reader.use(v) for v in subject if isinstance(v, KnownValue) and v.is_fact]
        literals: list[Any] = []
        inside: list[dict[str, Values]] = []
        for case in statement.cases:
            parts = [p.value for p in ast.walk(case.pattern) if isinstance(p, ast.MatchValue)]
            matched = (getattr(v, "value", None) for part in parts for v in self.evaluate(part))
            chosen = [getattr(each, "value", each) for each in matched]
            literals += chosen
            truth = known[0] in chosen if known and chosen else None
            with self.branch(truth):
                self.read_block(case.body)
                if not self.ended:
                    inside.append(self.names)
        self.names = join_scopes(self.names, *inside)
        self.tell_literals(subject, literals)
        if not known:
            self.tell("weigh", literals)

    # --- Tests ------------------------------------------------------------------------------------

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
