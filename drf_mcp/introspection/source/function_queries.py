"""What one function reads of the query, for the classes that its ``self`` may be of."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterable
from typing import Any

from django.forms import BaseForm
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.meanings import Meanings
from drf_mcp.introspection.source.members import (
    Answers,
    Questions,
    find_member,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import (
    FunctionSource,
    evaluates_to,
    find_lookup,
    is_name,
    is_own_member,
)

# What reads its fields in what it is given as data.
SCHEMAS = (BaseSerializer, BaseForm)
Binding = tuple[str, Any]
# A method of the reader that follows the functions, by name, and its arguments.
Step = tuple[Any, ...]
# The names of parameters, and the defaults that are texts.
Parameters = tuple[tuple[str, ...], tuple[Binding, ...]]
# Classes that a function is read for anew each time, once so many others were unlike.
MOST_VARIANTS = 16


class FunctionReadings:
    # Views inherit most of their code. What a function reads is found once for all classes that
    # answer alike what the reading asks of them.

    def __init__(self, function: Any, home: type | None, bindings: frozenset[Binding]) -> None:
        self.source = function, home, bindings
        self.known: list[tuple[Answers, tuple[Step, ...]]] = []

    def get_answered(self, owner: type) -> tuple[Answers, tuple[Step, ...]]:
        for answers, steps in self.known:
            if all(question(owner, *rest) == known for (question, *rest), known in answers.items()):
                return answers, steps
        questions = Questions(owner)
        found = questions.answers, tuple(FunctionReader(questions, *self.source).read())
        if len(self.known) < MOST_VARIANTS:
            self.known.append(found)
        return found


@functools.lru_cache(maxsize=4096)
def find_readings(
    function: Any, home: type | None, bindings: frozenset[Binding]
) -> FunctionReadings:
    return FunctionReadings(function, home, bindings)


class FunctionReader:
    def __init__(
        self,
        questions: Questions,
        function: Any,
        home: type | None,
        bindings: Iterable[Binding],
    ) -> None:
        self.questions = questions
        self.source = FunctionSource(function)
        self.home = home
        self.meanings = Meanings(questions, self.source, dict(bindings))
        # A step that is taken again finds nothing new.
        self.steps: dict[Step, None] = {}

    def note(self, *step: Any) -> None:
        self.steps[step] = None

    def read(self) -> Iterable[Step]:
        if self.source.tree is None:
            self.note("note_open")
            return self.steps
        nodes = self.source.nodes
        # An inner function may use names that are assigned after it.
        for node in nodes:
            self.meanings.learn(node)
        for node in nodes:
            self.read_lookup(node)
            if isinstance(node, ast.Call):
                self.read_call(node)
            elif is_own_member(node):
                self.note("read_property", node.attr)
        if any(map(self.meanings.is_open_use, nodes)):
            self.note("note_open")
        return self.steps

    def read_lookup(self, node: ast.AST) -> None:
        mapping, keys = find_lookup(node)
        if mapping is None or not evaluates_to(mapping, self.meanings.is_query):
            return
        self.meanings.understand(mapping)
        is_list = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "getlist"
        for key in keys:
            found = self.meanings.find_texts(key)
            if found is None:
                self.note("note_computed", ast.unparse(key))
            for name in found or ():
                self.note("note_name", name, is_list)

    def read_call(self, node: ast.Call) -> None:
        if is_own_member(node.func):
            return self.read_method(node, node.func)
        target, is_framework = self.meanings.find_callee(node.func)
        if inspect.isclass(target) and issubclass(target, SCHEMAS):
            return self.read_schema(node, target)
        bindings = self.bind_parameters(node, list_parameters(target))
        if not is_framework and bindings:
            return self.note("follow", target, None, bindings)
        values = (*node.args, *(keyword.value for keyword in node.keywords))
        if not is_framework and any(map(self.reaches_query, values)):
            self.note("note_open")
        return None

    def read_method(self, node: ast.Call, method: ast.Attribute) -> None:
        after = None if isinstance(method.value, ast.Name) else self.home
        # A serializer may be a class inside the view.
        if schema := self.questions.ask(find_schema, method.attr, after):
            return self.read_schema(node, schema)
        parameters = self.questions.ask(find_parameters, method.attr, after)
        return self.note("read", method.attr, after, self.bind_parameters(node, parameters))

    def reaches_query(self, node: ast.AST) -> bool:
        return is_name(node, "self") or self.meanings.is_request(node)

    def read_schema(self, node: ast.Call, target: type) -> None:
        data = next((keyword.value for keyword in node.keywords if keyword.arg == "data"), None)
        if data is None and node.args and issubclass(target, BaseForm):
            data = node.args[0]
        if data is not None and evaluates_to(data, self.meanings.is_query):
            self.note("note_schema", target)
            self.meanings.understand(data)
        elif issubclass(target, BaseSerializer):
            self.note("note_serializer", target)

    def bind_parameters(self, node: ast.Call, parameters: Parameters) -> frozenset[Binding]:
        names, defaults = parameters
        pairs = [*zip(names, node.args, strict=False)]
        pairs += [(word.arg, word.value) for word in node.keywords if word.arg in names]
        found = {name: self.meanings.find_meaning(value) for name, value in pairs}
        bound = {**dict(defaults), **found}
        return frozenset((name, v) for name, v in bound.items() if v is not None)


def find_schema(owner: type, name: str, after: type | None) -> type | None:
    member, _ = find_member(owner, name, after)
    return member if inspect.isclass(member) and issubclass(member, SCHEMAS) else None


def find_parameters(owner: type, name: str, after: type | None) -> Parameters:
    member, _ = find_member(owner, name, after)
    names, defaults = list_parameters(unwrap_member(member))
    return names[0 if isinstance(member, staticmethod) else 1 :], defaults


def list_parameters(function: Any) -> Parameters:
    return read_signature(function) if inspect.isfunction(function) else ((), ())


@functools.lru_cache(maxsize=4096)
def read_signature(function: Any) -> Parameters:
    parameters = inspect.signature(function).parameters
    texts = ((name, each.default) for name, each in parameters.items())
    return tuple(parameters), tuple(pair for pair in texts if isinstance(pair[1], str))
