"""The statements of one function: what its variables may be, and which branches run."""

from __future__ import annotations

import ast
from typing import Any

from drf_mcp.introspection.source.members import AnyFunctionDef, refuses_call
from drf_mcp.introspection.source.values import (
    UNKNOWN,
    Comparison,
    KnownValue,
    RequestMember,
    RunParts,
    Values,
    invert,
    join_scopes,
)

Block = list[ast.stmt]
RETURNED, REFUSED = "returned", "refused"


class StatementReader(RunParts):
    """Reads the statements of one function.

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
        chain: list[Comparison] = []
        for statement in block:
            if self.ended:
                self.is_dead = True
            if refuses_call(statement):
                self.close_chain(chain)
            was_sure = self.is_sure or bool(chain)
            method = getattr(self, f"read_{type(statement).__name__.lower()}", None)
            if method is not None:
                method(statement)
            else:
                self.read_parts(statement)
            if isinstance(statement, ast.If) and was_sure:
                chain = [*chain, *self.find_chain(statement)]
            else:
                chain = []

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
        was_sure = self.is_sure
        for block, is_taken in ((statement.body, truth), (statement.orelse, invert(truth))):
            with self.branch(is_taken):
                if block is statement.body and was_sure:
                    self.present |= self.find_present(statement.test)
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

    def branch(self, truth: bool | None) -> Any:
        return Branch(self, truth)

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
        pattern, last = statement.cases[-1].pattern, statement.cases[-1].body[-1]
        others = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        self.tell_literals(subject, literals, is_closed=others and refuses_call(last))
        if not known:
            self.tell("weigh", literals)

    # --- Values that are refused ------------------------------------------------------------------

    def read_refusal(self, test: ast.expr) -> None:
        """Take what a test says after which the request is refused."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
            for part in test.values:
                self.read_refusal(part)
            return
        parts = test.values if isinstance(test, ast.BoolOp) else [test]
        found = [self.comparisons[id(part)] for part in parts if id(part) in self.comparisons]
        for comparison in found:
            others = [part for part in parts if self.comparisons.get(id(part)) is not comparison]
            if not comparison.is_positive and all(self.is_presence(p, comparison) for p in others):
                self.tell_comparison(comparison, is_closed=True)
        if len(parts) == 1 and isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.need(self.evaluated.get(id(test.operand), ()))
        if len(parts) == 1 and isinstance(test, ast.Compare):
            name, is_none = self.evaluated.get(id(test.left), ()), isinstance(test.ops[0], ast.Is)
            if is_none and isinstance(test.comparators[0], ast.Constant):
                self.need(name)
            if isinstance(test.ops[0], ast.NotIn):
                self.need(self.presences.get(id(test), ()))

    def is_presence(self, test: ast.expr, comparison: Comparison) -> bool:
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
            test = test.left
        return set(comparison.members) <= set(self.evaluated.get(id(test), ()))

    def find_present(self, test: ast.expr) -> frozenset[RequestMember]:
        # A value that is sent is judged alone where a test says no more than that it is sent.
        if isinstance(test, ast.Compare):
            if isinstance(test.ops[0], ast.In):
                return frozenset(self.presences.get(id(test), ()))
            test = test.left if isinstance(test.ops[0], ast.IsNot) else test
        values = self.evaluated.get(id(test), ())
        return frozenset(value for value in values if isinstance(value, RequestMember))

    def find_chain(self, statement: ast.If) -> list[Comparison]:
        """Return the comparisons of ``if ... elif ...``, where each has to be true."""
        found: list[Comparison] = []
        ends: list[ast.stmt] = [statement]
        while isinstance(ends[0], ast.If):
            comparison = self.comparisons.get(id(ends[0].test))
            if comparison is None or not comparison.is_positive:
                return []
            found.append(comparison)
            ends = ends[0].orelse or [ast.Pass()]
        if refuses_call(ends[-1]):
            self.close_chain(found)
        return found

    def close_chain(self, chain: list[Comparison]) -> None:
        for comparison in chain:
            for member in comparison.members:
                self.tell_member("close", member, comparison.literals)


class Branch:
    # Restores what was known before a branch.

    def __init__(self, run: Any, truth: bool | None) -> None:
        self.run, self.truth = run, truth
        self.before = run.is_sure, run.is_dead, run.ended, run.names, run.present

    def __enter__(self) -> None:
        run = self.run
        run.names = dict(run.names)
        run.is_sure = run.is_sure and self.truth is True
        run.is_dead = run.is_dead or self.truth is False

    def __exit__(self, *exc: object) -> None:
        run = self.run
        run.is_sure, run.is_dead, run.ended, run.names, run.present = self.before
