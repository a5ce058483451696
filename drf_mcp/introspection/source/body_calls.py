"""What the calls of one function do with parts of the body."""

from __future__ import annotations

import ast
import copy
import inspect
import logging
from collections.abc import Callable, Iterator
from typing import Any

from django.forms import BaseForm
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.body_parts import (
    ANY,
    CONTEXT,
    FIELD,
    FIELDS,
    NOTHING,
    THE_REQUEST,
    Instance,
    Keywords,
    Known,
    LiteralText,
    Names,
    PartOfBody,
    Values,
    is_library,
)
from drf_mcp.introspection.source.members import find_member, is_framework_code, unwrap_member

READERS = frozenset({"get", "getlist", "pop", "setdefault"})
# What leaves an object as it is, or changes a copy of it.
HARMLESS = frozenset({"update", "setlist", "appendlist", "append", "extend", "clear", "is_valid"})
COPIES = frozenset({"copy", "dict", "deepcopy", "__copy__"})
COPYING = (dict, copy.copy, copy.deepcopy)
LISTING = (list, tuple, sorted, reversed, iter, enumerate, set)
LOOKING = (len, bool, isinstance, type, id, hasattr, callable, any, all, print, int, float)
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class BodyCalls:
    """Reads the calls of one function."""

    reader: Any
    home: type | None
    evaluate: Callable[[ast.AST], Values]
    find_text: Callable[[ast.AST], Any]
    get_attribute: Callable[[Values, str], Values]
    is_own: Callable[[Values], bool]
    open: Callable[..., None]

    # --- Calls

    def look_up(self, holders: Values, key: ast.AST, node: ast.AST) -> Values:
        keys = self.evaluate(key)
        self.open(frozenset(k for k in keys if isinstance(k, PartOfBody)), key)
        texts = [value.text for value in keys if isinstance(value, LiteralText)]
        constant = self.find_text(key)
        texts += [constant] if isinstance(constant, str) and constant not in texts else []
        found: set[Any] = set()
        for holder in holders:
            if holder == CONTEXT:
                found |= {THE_REQUEST} if "request" in texts else set()
                found |= self.reader.get_view() if "view" in texts else set()
            elif isinstance(holder, Keywords):
                found.update(v for name, inner in holder.values if name in texts for v in inner)
            elif isinstance(holder, PartOfBody):
                found |= self.look_up_part(holder, key, node, keys, texts, constant)
        return frozenset(found)

    def look_up_part(
        self,
        part: PartOfBody,
        key: ast.AST,
        node: ast.AST,
        keys: Values,
        texts: list[str],
        constant: Any,
    ) -> set[Any]:
        if isinstance(key, ast.Slice):
            return {part}
        for text in texts:
            self.reader.reading.names.setdefault(part, {})[text] = None
        is_known = texts or FIELD in keys or isinstance(constant, int)
        if not is_known:
            self.open(frozenset([part]), node, is_deep=False)
        return {part.step(text) for text in texts} or {part.step(ANY)}

    def _evaluate_call(self, node: ast.Call) -> Values:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super":
            own = self.evaluate(ast.Name("self"))
            kinds = [value.kind for value in own if isinstance(value, Instance)]
            return frozenset(Instance(kind, self.home or kind) for kind in kinds)
        if isinstance(function, ast.Attribute):
            return self.call_method(node, function)
        found = NOTHING
        targets = self.evaluate(function)
        for target in targets:
            found |= self.call(getattr(target, "value", None), node)
        if not targets:
            self.open(self.evaluate_arguments(node), node)
        return found

    def evaluate_arguments(self, node: ast.Call) -> Values:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        return frozenset().union(*map(self.evaluate, arguments))

    def call_method(self, node: ast.Call, function: ast.Attribute) -> Values:
        holders, name = self.evaluate(function.value), function.attr
        found = NOTHING
        for holder in holders:
            if isinstance(holder, (PartOfBody, Keywords)) or holder == CONTEXT:
                found |= self.call_part(holder, name, node)
            elif isinstance(holder, Instance):
                found |= self.call_own(holder, name, node)
            elif isinstance(holder, Known) and isinstance(holder.value, logging.Logger):
                self.evaluate_arguments(node)
            elif isinstance(holder, Known):
                value = inspect.getattr_static(holder.value, name, None)
                found |= self.call(getattr(value, "__func__", value), node)
        if FIELDS in holders and name in ("keys", "items", "values"):
            return frozenset([FIELDS])
        if not any(isinstance(v, (PartOfBody, Keywords, Instance, Known)) for v in holders):
            self.open(self.evaluate_arguments(node), node)
        return found

    def call_part(self, part: Any, name: str, node: ast.Call) -> Values:
        if name in READERS and node.args:
            for default in node.args[1:]:
                self.evaluate(default)
            return self.look_up(frozenset([part]), node.args[0], node)
        self.evaluate_arguments(node)
        if name in COPIES:
            return frozenset([part])
        if name not in HARMLESS and isinstance(part, PartOfBody):
            self.open(frozenset([part]), node)
        return NOTHING

    def call_own(self, holder: Instance, name: str, node: ast.Call) -> Values:
        if name == "get_initial" and issubclass(holder.kind, BaseSerializer):
            return frozenset([PartOfBody("self", (), True)])
        member, home = find_member(holder.kind, name, holder.after)
        function = unwrap_member(member)
        if inspect.isclass(function):
            return self.call(function, node)
        if function is None or not inspect.isfunction(function):
            # The hook of a framework may be a mixin's that another class brings.
            arguments = self.evaluate_arguments(node)
            self.open(arguments if holder.after is None else NOTHING, node)
            return NOTHING
        if is_framework_code(function):
            # REST framework's own methods are known.
            self.evaluate_arguments(node)
            return NOTHING
        own = frozenset([Instance(holder.kind)])
        skip = not isinstance(member, staticmethod)
        given = self.bind(function, node, own if skip else None)
        found: Values = self.reader.read(function, home, given)
        return found

    def call(self, target: Any, node: ast.Call) -> Values:
        first = node.args[0] if node.args else None
        if target in COPYING and first is not None and not node.keywords:
            return self.evaluate(first)
        if target in LISTING and first is not None:
            return self.evaluate(first)
        if target is getattr and len(node.args) > 1:
            name = self.find_text(node.args[1])
            if isinstance(name, str):
                return self.get_attribute(self.evaluate(node.args[0]), name)
        if target in LOOKING:
            self.evaluate_arguments(node)
            return NOTHING
        if inspect.isclass(target):
            return self.construct(target, node)
        if inspect.isfunction(target) and not is_framework_code(target) and not is_library(target):
            found: Values = self.reader.read(target, None, self.bind(target, node, None))
            return found
        arguments = self.evaluate_arguments(node)
        is_known = is_framework_code(target) or is_library(target)
        self.open(arguments - {THE_REQUEST} if is_known else arguments, node)
        return NOTHING

    def construct(self, kind: Any, node: ast.Call) -> Values:
        if issubclass(kind, (BaseSerializer, BaseForm)):
            return self.make(kind, node)
        made = frozenset([Instance(kind)])
        function, home = find_member(kind, "__init__")
        if inspect.isfunction(function) and not is_framework_code(kind) and not is_library(kind):
            self.reader.read(function, home, self.bind(function, node, made))
            return made
        arguments = self.evaluate_arguments(node)
        is_known = is_framework_code(kind) or is_library(kind)
        self.open(arguments - {THE_REQUEST} if is_known else arguments, node)
        return made

    def make(self, kind: type, node: ast.Call) -> Values:
        for name, found in self.evaluate_keywords(node):
            if name == "data":
                self.note_made(kind, found)
            elif name != "context":
                self.open(found - {THE_REQUEST}, node)
        for argument in node.args:
            found = self.evaluate(argument)
            if issubclass(kind, BaseForm):
                self.note_made(kind, found)
            else:
                self.open(found - {THE_REQUEST}, node)
        return NOTHING

    def note_made(self, kind: type, values: Values) -> None:
        for part in values:
            if isinstance(part, PartOfBody):
                self.reader.reading.made[part, kind] = None

    def evaluate_keywords(self, node: ast.Call) -> Iterator[tuple[str | None, Values]]:
        for keyword in node.keywords:
            values = self.evaluate(keyword.value)
            if keyword.arg is not None:
                yield keyword.arg, values
                continue
            # **kwargs of the function that is read.
            for value in values:
                if isinstance(value, Keywords):
                    yield from value.values
            yield None, frozenset(v for v in values if not isinstance(v, Keywords))

    def bind(self, function: Any, node: ast.Call, own: Values | None) -> Names:
        """Return what the parameters of a function are given."""
        signature = inspect.signature(function).parameters
        names = [n for n, p in signature.items() if p.kind not in VARIABLE]
        given: Names = {}
        defaults = {n: p.default for n, p in signature.items() if isinstance(p.default, str)}
        given |= {name: frozenset([LiteralText(text)]) for name, text in defaults.items()}
        if own is not None and names:
            given[names.pop(0)] = own
        further, rest = dict[str, Values](), NOTHING
        for index, argument in enumerate(node.args):
            values = self.evaluate(argument)
            if isinstance(argument, ast.Starred) or index >= len(names):
                rest |= values
            else:
                given[names[index]] = values
        for keyword, values in self.evaluate_keywords(node):
            if keyword is not None and keyword in names:
                given[keyword] = values
            elif keyword is not None and values:
                further[keyword] = values
            else:
                rest |= values
        given = {name: values for name, values in given.items() if values}
        return given | self.bind_others(signature, further, rest, node)

    def bind_others(self, signature: Any, further: Names, rest: Values, node: ast.Call) -> Names:
        # What *args and **kwargs have.
        others: Names = {}
        for name, parameter in signature.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD and further:
                others[name] = frozenset([Keywords(tuple(further.items()))])
                further = {}
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL and rest:
                others[name], rest = rest, NOTHING
        self.open(rest.union(*further.values()) - {THE_REQUEST}, node)
        return others
