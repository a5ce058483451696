"""What the own code of fields takes, and the rules that it says in a ValidationError."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from typing import Any

from drf_mcp.introspection.source.members import (
    FunctionSource,
    cached,
    find_root,
    is_drf_code,
    is_framework_code,
    is_name,
    parse_function,
    unwrap_function,
    unwrap_member,
)

CONVERSIONS = ("to_internal_value", "run_validation")


def converts_like_drf(field: Any) -> bool:
    """Return whether the schema of REST framework's class says what the field takes."""
    return all(is_converted_first(field, name) for name in CONVERSIONS)


def is_converted_first(field: Any, name: str) -> bool:
    """Return whether REST framework's method is the first to change the input of a field."""
    owner: Any = type(field)
    if is_drf_code(owner, name):
        return True
    for base in owner.__mro__:
        function = unwrap_member(vars(base).get(name))
        if function is not None and find_root(function) == "rest_framework":
            return True
        if function is not None and not begins_with_super(function, field):
            return False
    return False


def begins_with_super(function: Any, field: Any) -> bool:
    # A conversion whose first statement gives its argument to ``super()`` can only refuse more
    # values afterwards: the schema of REST framework's class describes it. The statement may be in
    # the branch of an ``if self.flag`` that the field takes, as in NetBox's serializers: without
    # this three in five of NetBox's tools have no schema.
    tree = FunctionSource(function).tree
    # A decorator may change what the method is called with.
    if not isinstance(tree, ast.FunctionDef) or hasattr(function, "__wrapped__"):
        return False
    own, argument = [*(each.arg for each in tree.args.args), "", ""][:2]
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    node = getattr(find_beginning(body, own, field), "value", None)
    inherited = rf"super\([^)]*\)\.{tree.name}\((\w+=)?{argument}\)"
    # Only the part that is always evaluated, and first, counts.
    while node is not None and not re.fullmatch(inherited, ast.unparse(node)):
        if isinstance(node, ast.Call):
            first = node.args[0] if node.args else None
            node = node.func if isinstance(node.func, ast.Attribute) else first
        else:
            is_part = isinstance(node, (ast.Attribute, ast.Subscript))
            node = node.value if is_part else None
    return node is not None and argument != ""


def find_beginning(body: list[ast.stmt], own: str, field: Any) -> ast.stmt | None:
    """Return the first statement, in the branches of ``if self.flag`` that the field takes."""
    for statement in body:
        test = statement.test if isinstance(statement, ast.If) else None
        value: Any = None
        if isinstance(test, ast.Attribute) and is_name(test.value, own):
            value = inspect.getattr_static(field, test.attr, None)
        if not isinstance(statement, ast.If) or not isinstance(value, bool):
            return statement
        beginning = find_beginning(statement.body if value else statement.orelse, own, field)
        if beginning is not None:
            return beginning
    return None


def forget_trees() -> None:
    """Free the syntax trees; a function that is read again is parsed again."""
    parse_function.cache_clear()


LONGEST_RULE, MOST_RULES = 120, 2
# A sentence with such a word says what a value has to be; others only say that something is wrong.
RULE = re.compile(
    r"\b(must|should|has to|have to|can ?not|can't|may not|only|at (?:least|most)"
    r"|no (?:more|longer)"
    r"|already|too|between|before|after|needs?|requires?|do(?:es)? not match|is not allowed)\b",
    re.IGNORECASE,
)
FAILURE = re.compile(r"\b(could not|couldn't|failed|unable|try again|error)\b", re.IGNORECASE)
TRANSLATIONS = frozenset({"_", "gettext", "gettext_lazy", "ugettext_lazy", "pgettext", "str"})
# The field of rules about the whole object, and of a validator's.
WHOLE = ""


@cached
def read_rules(owner: type) -> dict[str, tuple[str, ...]]:
    """Return the rules for the fields of a serializer class, by their names."""
    found: dict[str, dict[str, None]] = {}
    for base in owner.__mro__:
        for method, function in () if is_framework_code(base) else vars(base).items():
            if method.startswith("validate") and inspect.isfunction(function):
                of_field = method.removeprefix("validate").removeprefix("_")
                for name, text in find_sentences(function):
                    if name or of_field:
                        found.setdefault(name or of_field, {})[text] = None
    return {name: tuple(texts)[:MOST_RULES] for name, texts in found.items()}


@functools.lru_cache(maxsize=2048)
def find_rules_of_validator(function: Any) -> tuple[str, ...]:
    """Return the rules of a function among a field's validators."""
    if is_framework_code(function):
        return ()
    return tuple(text for name, text in find_sentences(function) if not name)[:MOST_RULES]


def find_sentences(function: Any) -> Iterator[tuple[str, str]]:
    """Yield the rules in the errors that a function raises, each with the field it is about."""
    for layer, _ in unwrap_function(function):
        source = FunctionSource(layer)
        for node in source.nodes:
            error = node.exc if isinstance(node, ast.Raise) else None
            if not isinstance(error, ast.Call) or not error.args:
                continue
            name = getattr(error.func, "attr", getattr(error.func, "id", ""))
            if not name.endswith("ValidationError"):
                continue
            yield from read_sentences(error.args[0], source)


def read_sentences(
    node: ast.expr, source: FunctionSource, name: str = WHOLE
) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Dict) and not name:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from read_sentences(value, source, key.value)
    elif isinstance(node, (ast.List, ast.Tuple)):
        for part in node.elts:
            yield from read_sentences(part, source, name)
    else:
        text = find_text(node, source)
        if is_rule(text):
            yield name, text


def find_text(node: ast.expr, source: FunctionSource) -> str:
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        return find_text(node.args[0], source) if called in TRANSLATIONS else ""
    value = source.find_value(node)
    return value if isinstance(value, str) else ""


def is_rule(text: str) -> bool:
    fits = len(text.split()) > 2 and len(text) <= LONGEST_RULE and text.isprintable()
    is_template = "{" in text or "%" in text
    return fits and not is_template and bool(RULE.search(text)) and not FAILURE.search(text)
