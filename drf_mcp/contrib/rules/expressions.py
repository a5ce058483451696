"""Conditions of rules: small typed expressions, read by Python's parser and never evaluated by it.

A value that is missing or cannot be read makes a comparison `UNKNOWN`, as NULL does in SQL.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import ISO_8601, serializers

MOST_CHARACTERS, MOST_NODES, MOST_LEVELS = 500, 100, 20
Path: TypeAlias = tuple[str, ...]
GetValue: TypeAlias = Callable[[Path], Any]
NUMBER, TEXT, BOOLEAN, LIST, NULL, ANY = "number", "text", "boolean", "list", "null", "any"
DATE, DATETIME, TIME = "date", "datetime", "time"
MOMENTS = (DATE, DATETIME, TIME)
# A subclass before its base.
KINDS: Mapping[type, str] = {
    type(None): NULL,
    bool: BOOLEAN,
    **dict.fromkeys((int, float, Decimal), NUMBER),
    **dict.fromkeys((str, UUID), TEXT),
    datetime: DATETIME,
    date: DATE,
    time: TIME,
    **dict.fromkeys((list, tuple, set), LIST),
}
# They read a value as the serializer of a view does.
FIELDS: Mapping[str, Any] = {
    NUMBER: serializers.DecimalField(None, None),
    BOOLEAN: serializers.BooleanField(),
    DATE: serializers.DateField(input_formats=[ISO_8601]),
    DATETIME: serializers.DateTimeField(input_formats=[ISO_8601]),
    TIME: serializers.TimeField(input_formats=[ISO_8601]),
}
EQUALITIES = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    **dict.fromkeys((ast.Eq, ast.Is), operator.eq),
    **dict.fromkeys((ast.NotEq, ast.IsNot), operator.ne),
}
WORDS = {("true",): True, ("false",): False, ("null",): None}


class Unknown:
    """The value of a name that is missing or cannot be read, and of all operations on it."""

    def __repr__(self) -> str:
        return "unknown"

    def __bool__(self) -> bool:
        raise TypeError("What is unknown is neither true nor false.")


UNKNOWN = Unknown()
# Of each operator and function: the types that it takes, the type that it returns, and its code.
OPERATIONS: Mapping[Any, tuple[tuple[str, ...], str, Callable[..., Any]]] = {
    ast.Not: ((BOOLEAN,), BOOLEAN, operator.not_),
    ast.USub: ((NUMBER,), NUMBER, operator.neg),
    ast.Add: ((NUMBER,), NUMBER, operator.add),
    ast.Sub: ((NUMBER,), NUMBER, operator.sub),
    ast.Mult: ((NUMBER,), NUMBER, operator.mul),
    ast.Div: ((NUMBER,), NUMBER, operator.truediv),
    "len": ((TEXT, LIST), NUMBER, len),
    "lower": ((TEXT,), TEXT, str.lower),
}


class ExpressionError(ValueError):
    """A condition that cannot be read, or that does not fit the tool: the message says why."""


class Term(NamedTuple):
    # A checked part of a condition: its type, what reads its value, and the value of a literal.
    kind: str
    read: Callable[[GetValue], Any]
    literal: Any = None


class Expression:
    """The condition of a rule, such as ``amount > 500 and "support" in caller.groups``.

    Args:
        text: the condition.

    Raises:
        ExpressionError: if it is no expression, or a long one.
    """

    def __init__(self, text: str) -> None:
        text = text.strip()
        if len(text) > MOST_CHARACTERS:
            raise ExpressionError(_("A condition has at most %d characters.") % MOST_CHARACTERS)
        try:
            self.root = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
            raise ExpressionError(_("The condition cannot be read: %s.") % exc) from exc
        level: list[ast.AST] = [self.root]
        count = 0
        for _depth in range(MOST_LEVELS):
            count += len(level)
            children = [child for node in level for child in ast.iter_child_nodes(node)]
            level = [child for child in children if isinstance(child, ast.expr)]
        if level or count > MOST_NODES:
            raise ExpressionError(_("The condition is too long."))

    def check(self, get_type: Callable[[Path], str]) -> None:
        """Check that the condition is true or false of a call.

        Args:
            get_type: returns the type of a name, or raises ExpressionError.

        Raises:
            ExpressionError: where it has anything but names, literals and the operators of
                conditions, and where names or types do not fit.
        """
        if (found := TermReader(get_type).read(self.root).kind) not in (BOOLEAN, ANY):
            raise ExpressionError(_("A condition is true or false; this one is a %s.") % found)

    def evaluate(self, get_value: GetValue) -> bool | Unknown:
        """Return whether the condition holds of a call, `UNKNOWN` where that cannot be said."""
        return join_truths([TermReader(lambda path: ANY).read(self.root).read(get_value)], False)


class TermReader:
    """Makes terms of the nodes of a condition; what has no case is no part of a condition."""

    def __init__(self, get_type: Callable[[Path], str]) -> None:
        self.get_type = get_type

    def read(self, node: ast.expr) -> Term:
        path = read_path(node)
        if path and path not in WORDS:
            return Term(self.get_type(path), lambda get: get(path))
        match node:
            case ast.Name():
                return self.read(ast.Constant(WORDS[path]))  # type: ignore[index]
            case ast.Constant(value=None | bool() | int() | float() | str() as literal):
                if (value := convert(literal)) is not UNKNOWN:
                    return Term(kind_of(value), lambda get: value, literal)
            case ast.List(elts=nodes) | ast.Tuple(elts=nodes):
                items = [self.read(each) for each in nodes]
                return Term(LIST, lambda get: [each.read(get) for each in items])
            case ast.BoolOp(op=op, values=nodes):
                terms = [self.require(each, BOOLEAN) for each in nodes]
                # The first that decides does, so that a guard against null protects what follows.
                is_or = isinstance(op, ast.Or)
                return Term(
                    BOOLEAN, lambda get: join_truths((each.read(get) for each in terms), is_or)
                )
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATIONS:
                return self.read_operation(type(op), [operand])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
                return self.read_operation(type(op), [left, right])
            case ast.Compare(left=left, ops=ops, comparators=others):
                steps = list(zip(map(type, ops), [left, *others], others, strict=False))
                return self.read_steps(steps)
            case ast.Call(func=ast.Name(id="coalesce"), args=[_, *_] as args, keywords=[]):
                terms = [self.read(each) for each in args]
                kinds = {each.kind for each in terms} - {NULL}
                return Term(
                    kinds.pop() if len(kinds) == 1 else ANY,
                    lambda get: next(
                        (v for v in (each.read(get) for each in terms) if v is not None), None
                    ),
                )
            case ast.Call(func=ast.Name(id=name), args=[arg], keywords=[]) if name in OPERATIONS:
                return self.read_operation(name, [arg])
            case ast.Call(func=ast.Name(id="coalesce" | "len" | "lower" as name)):
                raise ExpressionError(_("%s takes another number of values.") % name)
        raise ExpressionError(_("%s is no part of a condition.") % ast.unparse(node))

    def require(self, node: ast.expr, *kinds: str) -> Term:
        term = self.read(node)
        if term.kind not in (*kinds, ANY):
            facts = {"part": ast.unparse(node), "found": term.kind, "kind": kinds[0]}
            raise ExpressionError(_("%(part)s is a %(found)s, not a %(kind)s.") % facts)
        return term

    def read_operation(self, name: Any, nodes: Sequence[ast.expr]) -> Term:
        takes, kind, apply = OPERATIONS[name]
        terms = [self.require(each, *takes) for each in nodes]

        def read(get: GetValue) -> Any:
            values = [each.read(get) for each in terms]
            if any(kind_of(value) not in takes for value in values):
                return UNKNOWN
            try:
                return convert(apply(*values))
            except ArithmeticError:
                return UNKNOWN

        return Term(kind, read)

    def read_steps(self, nodes: Iterable[tuple[type[ast.cmpop], ast.expr, ast.expr]]) -> Term:
        steps = []
        for op, *sides in nodes:
            left, right = map(self.read, sides)
            if not can_compare(op, left, right):
                facts = {"left": f"{ast.unparse(sides[0])} ({left.kind})"}
                facts["right"] = f"{ast.unparse(sides[1])} ({right.kind})"
                raise ExpressionError(_("%(left)s and %(right)s cannot be compared.") % facts)
            steps.append((op, left.read, right.read))
        return Term(
            BOOLEAN,
            lambda get: join_truths((compare(op, a(get), b(get)) for op, a, b in steps), False),
        )


def read_path(node: ast.expr) -> Path | None:
    """Return the parts of a name such as ``object.customer.tier``, None for no name."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=name):
            return (*before, name) if (before := read_path(value)) else None
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            return (*before, name) if (before := read_path(value)) else None
    return None


# --- Types ---------------------------------------------------------------------------------------


def kind_of(value: Any) -> str:
    """Return the type of a value, "any" for one that has none."""
    return next((kind for each, kind in KINDS.items() if isinstance(value, each)), ANY)


def can_compare(op: type[ast.cmpop], left: Term, right: Term) -> bool:
    """Return whether two terms can be compared."""
    kinds = {left.kind, right.kind}
    if op in (ast.In, ast.NotIn):
        is_text = right.kind == TEXT and left.kind in (TEXT, ANY)
        return is_text or right.kind in (LIST, ANY)
    if NULL in kinds or (kinds & {BOOLEAN, LIST} and op not in EQUALITIES):
        return op in EQUALITIES
    if len(kinds) == 1 or ANY in kinds or kinds == {DATE, DATETIME}:
        return True
    # A date or time may be written as a text.
    pairs = ((left.kind, right.literal), (right.kind, left.literal))
    return any(
        kind in MOMENTS and isinstance(text, str) and read_as(kind, text) is not UNKNOWN
        for kind, text in pairs
    )


# --- Values --------------------------------------------------------------------------------------


def read_as(kind: str, value: Any) -> Any:
    """Return a value as one of a type, `UNKNOWN` where it cannot be read."""
    try:
        return FIELDS[kind].to_internal_value(value)
    except serializers.ValidationError:
        return UNKNOWN


def convert(value: Any) -> Any:
    """Return a value of Python's as conditions compare it; numbers are decimals."""
    kind = kind_of(value)
    if kind == NUMBER:
        return read_as(NUMBER, value)
    if kind == LIST:
        return [convert(each) for each in value]
    # Members of enumerations are texts as well.
    if kind == TEXT:
        return str(value)
    return value if kind != ANY or isinstance(value, Mapping) else UNKNOWN


def join_truths(truths: Iterable[Any], decides: bool) -> bool | Unknown:
    """Return ``decides`` at the first truth that equals it, else the opposite.

    The result is `UNKNOWN` where only an unknown truth is in the way.
    """
    are_known = True
    for truth in truths:
        if isinstance(truth, bool) and truth == decides:
            return decides
        are_known &= isinstance(truth, bool)
    return not decides if are_known else UNKNOWN


def compare(op: type[ast.cmpop], left: Any, right: Any) -> bool | Unknown:
    """Return how two values compare, `UNKNOWN` where that cannot be said."""
    if op is ast.NotIn:
        found = compare(ast.In, left, right)
        return not found if isinstance(found, bool) else UNKNOWN
    if op is ast.In:
        if isinstance(right, list):
            return join_truths((compare(ast.Eq, left, each) for each in right), True)
        if isinstance(left, str) and isinstance(right, str):
            return left in right
        return UNKNOWN
    left, right = fit(left, right), fit(right, left)
    kinds = {kind_of(left), kind_of(right)}
    if UNKNOWN in (left, right):
        return UNKNOWN
    if op not in EQUALITIES and kinds & {NULL, BOOLEAN, LIST, ANY}:
        return UNKNOWN
    if len(kinds) > 1 and NULL not in kinds:
        return UNKNOWN
    try:
        return bool(COMPARISONS[op](left, right))
    except TypeError:
        # One of two moments has no time zone.
        return UNKNOWN


def fit(value: Any, other: Any) -> Any:
    """Return a value as one of the type of another, where dates or times are compared."""
    kinds = kind_of(value), kind_of(other)
    # Dates are those of the project's time zone, not of the caller's.
    with timezone.override(timezone.get_default_timezone()):
        if kinds == (DATETIME, DATE):
            return timezone.localtime(value).date() if timezone.is_aware(value) else value.date()
        return read_as(kinds[1], value) if kinds[0] == TEXT and kinds[1] in MOMENTS else value
