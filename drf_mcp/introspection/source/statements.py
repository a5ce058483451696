"""The statements of one function: what its variables may be, and which branches run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from drf_mcp.introspection.source.members import AnyFunctionDef, refuses_call
from drf_mcp.introspection.source.values import (
    UNKNOWN,
    KnownValue,
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
