"""Conditions of rules: small typed expressions, read by Python's parser and never evaluated by it.

A value that is missing or cannot be read makes a comparison `UNKNOWN`, as NULL does in SQL.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime, parse_time
from django.utils.translation import gettext as _

MOST_CHARACTERS, MOST_NODES, MOST_LEVELS = 500, 100, 20
Path: TypeAlias = tuple[str, ...]
NUMBER, TEXT, BOOLEAN, LIST, NULL, ANY = "number", "text", "boolean", "list", "null", "any"
DATE, DATETIME, TIME = "date", "datetime", "time"
MOMENTS: Mapping[str, Callable[[str], Any]] = {
    DATE: parse_date,
    DATETIME: parse_datetime,
    TIME: parse_time,
}
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EQUALITIES = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)
NEGATED = (ast.NotEq, ast.IsNot, ast.NotIn)
ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
WORDS = {"true": True, "false": False, "null": None}
FUNCTIONS = ("coalesce", "len", "lower")


class Unknown:
    """The value of what is missing or cannot be read, and of what is made of it."""

    def __repr__(self) -> str:
        return "unknown"

    def __bool__(self) -> bool:
        raise TypeError("What is unknown is neither true nor false.")


UNKNOWN = Unknown()


class ExpressionError(ValueError):
    """A condition that cannot be read, or that does not fit the tool: the message says why."""


class Expression:
    """The condition of a rule, such as ``amount > 500 and "support" in caller.groups``.

    Args:
        text: the condition.

    Raises:
        ExpressionError: if it has anything but names, literals and the operators of conditions.
    """

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        if len(self.text) > MOST_CHARACTERS:
            raise ExpressionError(_("A condition has at most %d characters.") % MOST_CHARACTERS)
        try:
            self.root = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
            raise ExpressionError(_("The condition cannot be read: %s.") % exc) from exc
        self.measure(self.root)

    def measure(self, root: ast.expr) -> None:
        level, count = [root], 0
        for _depth in range(MOST_LEVELS):
            count += len(level)
            level = [c for n in level for c in ast.iter_child_nodes(n) if isinstance(c, ast.expr)]
        if level or count > MOST_NODES:
            raise ExpressionError(_("The condition is too long."))

    @property
    def paths(self) -> Iterator[Path]:
        """The names that the condition reads, each as its parts."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            if (path := read_path(node)) is None:
                children = ast.iter_child_nodes(node)
                pending += [child for child in children if isinstance(child, ast.expr)]
            elif path[0] not in WORDS and path[0] not in FUNCTIONS:
                yield path

    def check(self, get_type: Callable[[Path], str]) -> None:
        """Check that the condition is true or false of a call.

        Args:
            get_type: returns the type of a name, or raises ExpressionError.

        Raises:
            ExpressionError: where names or types do not fit.
        """
        if (found := TypeReader(get_type).read(self.root)) not in (BOOLEAN, ANY):
            raise ExpressionError(_("A condition is true or false; this one is a %s.") % found)

    def evaluate(self, get_value: Callable[[Path], Any]) -> bool | Unknown:
        """Return whether the condition holds of a call, `UNKNOWN` where that cannot be said."""
        return as_truth(ValueReader(get_value).read(self.root))


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


def read_literal(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)) and (number := read_number(value)) is not UNKNOWN:
        return number
    raise ExpressionError(_("%r is no number, text, true, false or null.") % (value,))


def read_number(value: Any) -> Decimal | Unknown:
    """Return a number as REST framework's fields read it, `UNKNOWN` for none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        return UNKNOWN
    try:
        number = Decimal(str(value).strip())
    except ArithmeticError:
        return UNKNOWN
    return number if number.is_finite() else UNKNOWN


def as_truth(value: Any) -> bool | Unknown:
    return value if isinstance(value, bool) else UNKNOWN


class Reader:
    """Reads a condition node by node; what has no method is no part of a condition."""

    def read(self, node: ast.expr) -> Any:
        """Return the value of a node."""
        path = read_path(node)
        if path and path[0] in WORDS and len(path) == 1:
            return self.read_constant(WORDS[path[0]])
        if path:
            return self.read_name(path)
        match node:
            case ast.Constant(value=value):
                return self.read_constant(read_literal(value))
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self.read_items([self.read(item) for item in items])
            case ast.BoolOp(op=op, values=values):
                return self.read_logic(values, isinstance(op, ast.Or))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.read_not(operand)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.read_arithmetic(operator.sub, ast.Constant(0), operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
                return self.read_arithmetic(ARITHMETIC[type(op)], left, right)
            case ast.Compare(left=left, ops=ops, comparators=others):
                steps = list(zip([left, *others], ops, others, strict=False))
                return self.read_steps(steps)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
                if len(args) != 1 and (name != "coalesce" or not args):
                    raise ExpressionError(_("%s takes another number of values.") % name)
                return self.read_function(name, args)
        text = ast.unparse(node)
        raise ExpressionError(_("%s is no part of a condition.") % text)

    read_constant: Callable[..., Any]
    read_name: Callable[..., Any]
    read_items: Callable[..., Any]
    read_logic: Callable[..., Any]
    read_not: Callable[..., Any]
    read_arithmetic: Callable[..., Any]
    read_steps: Callable[..., Any]
    read_function: Callable[..., Any]


class TypeReader(Reader):
    def __init__(self, get_type: Callable[[Path], str]) -> None:
        self.read_name = get_type

    def read_constant(self, value: Any) -> str:
        kinds = {bool: BOOLEAN, str: TEXT, Decimal: NUMBER}
        return kinds.get(type(value), NULL)

    def read_items(self, items: list[str]) -> str:
        return LIST

    def read_logic(self, values: list[ast.expr], is_or: bool) -> str:
        for value in values:
            self.require(value, BOOLEAN)
        return BOOLEAN

    def read_not(self, operand: ast.expr) -> str:
        return self.require(operand, BOOLEAN)

    def read_arithmetic(self, apply: Any, left: ast.expr, right: ast.expr) -> str:
        self.require(left, NUMBER)
        return self.require(right, NUMBER)

    def read_steps(self, steps: list[tuple[ast.expr, ast.cmpop, ast.expr]]) -> str:
        for left, op, right in steps:
            kinds = self.read(left), self.read(right)
            if isinstance(op, (ast.In, ast.NotIn)):
                fits = kinds[1] in (LIST, ANY) or (kinds[1] == TEXT and kinds[0] in (TEXT, ANY))
            elif isinstance(op, EQUALITIES):
                fits = NULL in kinds or self.agree(*kinds, left, right)
            else:
                fits = not {BOOLEAN, LIST, NULL} & {*kinds} and self.agree(*kinds, left, right)
            if not fits:
                facts = {"left": f"{ast.unparse(left)} ({kinds[0]})"}
                facts["right"] = f"{ast.unparse(right)} ({kinds[1]})"
                raise ExpressionError(_("%(left)s and %(right)s cannot be compared.") % facts)
        return BOOLEAN

    def agree(self, one: str, other: str, left: ast.expr, right: ast.expr) -> bool:
        if one == other or ANY in (one, other) or {one, other} == {DATE, DATETIME}:
            return True
        for kind, written in ((one, right), (other, left)):
            if kind in MOMENTS and isinstance(written, ast.Constant):
                return read_moment(kind, written.value) is not UNKNOWN
        return False

    def read_function(self, name: str, args: list[ast.expr]) -> str:
        kinds = [self.read(each) for each in args]
        if name == "coalesce":
            known = [kind for kind in dict.fromkeys(kinds) if kind != NULL]
            return known[0] if len(known) == 1 else ANY
        wanted = (TEXT, LIST, ANY) if name == "len" else (TEXT, ANY)
        if kinds[0] not in wanted:
            raise ExpressionError(
                _("%(name)s takes no %(kind)s.") % {"name": name, "kind": kinds[0]}
            )
        return NUMBER if name == "len" else TEXT

    def require(self, node: ast.expr, kind: str) -> str:
        if (found := self.read(node)) not in (kind, ANY):
            facts = {"part": ast.unparse(node), "found": found, "kind": kind}
            raise ExpressionError(_("%(part)s is a %(found)s, not a %(kind)s.") % facts)
        return kind


class ValueReader(Reader):
    def __init__(self, get_value: Callable[[Path], Any]) -> None:
        self.read_name = get_value

    def read_constant(self, value: Any) -> Any:
        return value

    def read_items(self, items: list[Any]) -> list[Any]:
        return items

    def read_logic(self, values: list[ast.expr], is_or: bool) -> bool | Unknown:
        # The first that decides does, so that a guard against null comes before what it guards.
        truths: list[bool | Unknown] = []
        for value in values:
            if (truth := as_truth(self.read(value))) is is_or:
                return is_or
            truths.append(truth)
        return UNKNOWN if UNKNOWN in truths else not is_or

    def read_not(self, operand: ast.expr) -> bool | Unknown:
        truth = as_truth(self.read(operand))
        return UNKNOWN if isinstance(truth, Unknown) else not truth

    def read_arithmetic(self, apply: Any, left: ast.expr, right: ast.expr) -> Any:
        values = self.read(left), self.read(right)
        if not all(isinstance(value, Decimal) for value in values):
            return UNKNOWN
        try:
            return read_number(apply(*values))
        except ArithmeticError:
            return UNKNOWN

    def read_steps(self, steps: list[tuple[ast.expr, ast.cmpop, ast.expr]]) -> bool | Unknown:
        truths = []
        for left, op, right in steps:
            truth = self.compare(op, self.read(left), self.read(right))
            if truth is False:
                return False
            truths.append(truth)
        return UNKNOWN if UNKNOWN in truths else True

    def compare(self, op: ast.cmpop, left: Any, right: Any) -> bool | Unknown:
        if isinstance(op, (ast.In, ast.NotIn)):
            truth = contains(right, left)
        elif isinstance(op, EQUALITIES):
            truth = equals(left, right)
        else:
            truth = precedes(COMPARISONS[type(op)], *align(left, right))
        return truth if isinstance(truth, Unknown) else truth is not isinstance(op, NEGATED)

    def read_function(self, name: str, args: list[ast.expr]) -> Any:
        if name == "coalesce":
            values = map(self.read, args)
            return next((value for value in values if value is not None), None)
        value = self.read(args[0])
        if name == "len" and isinstance(value, (str, list)):
            return Decimal(len(value))
        return value.lower() if name == "lower" and isinstance(value, str) else UNKNOWN


def precedes(compare: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | Unknown:
    if not isinstance(left, (Decimal, str, date, time)) or type(left) is not type(right):
        return UNKNOWN
    try:
        found: bool = compare(left, right)
    except TypeError:
        # One of two moments has no time zone.
        return UNKNOWN
    return found


def equals(left: Any, right: Any) -> bool | Unknown:
    left, right = align(left, right)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN
    if left is None or right is None:
        return bool(left is right)
    return bool(left == right) if type(left) is type(right) else UNKNOWN


def contains(values: Any, value: Any) -> bool | Unknown:
    if isinstance(values, str):
        return value in values if isinstance(value, str) else UNKNOWN
    if not isinstance(values, list):
        return UNKNOWN
    found = [equals(value, each) for each in values]
    if any(each is True for each in found):
        return True
    return UNKNOWN if UNKNOWN in found else False


def align(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two values of one type, where one is a date or time that the other can be read as."""
    for one, other in ((left, right), (right, left)):
        kind = get_moment_kind(one)
        if kind and not (kind == DATETIME and get_moment_kind(other) == DATE):
            read = read_moment(kind, other)
            return (one, read) if one is left else (read, one)
    return left, right


def get_moment_kind(value: Any) -> str:
    # A datetime is a date as well.
    kinds = ((datetime, DATETIME), (date, DATE), (time, TIME))
    return next((kind for each, kind in kinds if isinstance(value, each)), "")


def read_moment(kind: str, value: Any) -> Any:
    """Return a value as a date or time of a kind, `UNKNOWN` where it is none."""
    found = get_moment_kind(value)
    if value is None or found == kind:
        return value
    if found == DATETIME and kind == DATE:
        return timezone.localtime(value).date() if timezone.is_aware(value) else value.date()
    try:
        read = MOMENTS[kind](value) if isinstance(value, str) else None
        if kind == DATETIME and read is None and isinstance(value, str):
            day = parse_date(value)
            read = day and datetime.combine(day, time())
    except ValueError:
        read = None
    if kind == DATETIME and read is not None and settings.USE_TZ and timezone.is_naive(read):
        read = timezone.make_aware(read)
    return UNKNOWN if read is None else read
