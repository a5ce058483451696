"""What the expressions of one function stand for: the request, its query, texts."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, TypeGuard

from drf_mcp.introspection.source.members import Questions, is_framework_code
from drf_mcp.introspection.source.trees import (
    QUERY,
    FunctionSource,
    evaluates_to,
    find_lookup,
    is_own_member,
    is_request,
)

# The values of parameters that are no texts.
THE_REQUEST, THE_QUERY = object(), object()
UNKNOWN = object()
COLLECTIONS = (tuple, list, set, frozenset, dict)

Texts = tuple[str, ...]


class Meanings:
    def __init__(
        self, questions: Questions, source: FunctionSource, bindings: Mapping[str, Any]
    ) -> None:
        self.questions = questions
        self.source = source
        self.known: dict[str, Texts] = {
            name: (value,) for name, value in bindings.items() if isinstance(value, str)
        }
        self.requests = {name for name, value in bindings.items() if value is THE_REQUEST}
        self.queries = {name for name, value in bindings.items() if value is THE_QUERY}
        self.understood: set[int] = set()

    def learn(self, node: ast.AST) -> None:
        if isinstance(node, (ast.For, ast.comprehension)):
            self.learn_texts(node.target, self.find_items(node.iter))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self.learn_value(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            self.learn_value(node.target, node.value)

    def learn_value(self, target: ast.AST, value: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            return
        if evaluates_to(value, self.is_query):
            self.queries.add(target.id)
            self.understand(value)
        elif self.is_request(value):
            self.requests.add(target.id)
        elif isinstance(value, ast.Constant) and isinstance(value.value, str):
            self.learn_texts(target, (value.value,))

    def learn_texts(self, target: ast.AST, texts: Texts | None) -> None:
        if isinstance(target, ast.Name) and texts:
            self.known[target.id] = (*self.known.get(target.id, ()), *texts)

    def understand(self, node: ast.AST) -> None:
        self.understood |= {id(part) for part in ast.walk(node)}

    def is_open_use(self, node: ast.AST) -> bool:
        is_use = not isinstance(getattr(node, "ctx", None), ast.Store)
        return is_use and id(node) not in self.understood and self.is_query(node)

    def is_request(self, node: ast.AST) -> bool:
        # A serializer finds the request in its context.
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Constant) and node.slice.value == "request"
        if isinstance(node, ast.Call):
            keys = find_lookup(node)[1]
            return any(isinstance(key, ast.Constant) and key.value == "request" for key in keys)
        if isinstance(node, ast.Name) and node.id in self.requests:
            return True
        return is_request(node)

    def is_query(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.queries
        # Code for requests of Django and of REST framework asks getattr(request, "query_params").
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr":
            name = node.args[1] if len(node.args) > 1 else None
            named = isinstance(name, ast.Constant) and name.value in QUERY
            return named and self.is_request(node.args[0])
        if not isinstance(node, ast.Attribute):
            return False
        # A filter set of django-filter holds the query in self.data.
        if node.attr == "data" and is_own_member(node) and self.questions.ask(is_filter_set):
            return True
        return node.attr in QUERY and self.is_request(node.value)

    def find_meaning(self, node: ast.expr) -> Any:
        if evaluates_to(node, self.is_query):
            self.understand(node)
            return THE_QUERY
        if self.is_request(node):
            return THE_REQUEST
        texts = self.find_texts(node) or ()
        return texts[0] if len(texts) == 1 else None

    def find_texts(self, node: ast.AST) -> Texts | None:
        if isinstance(node, ast.Constant):
            return (node.value,) if isinstance(node.value, str) else ()
        if isinstance(node, ast.Name) and node.id in self.known:
            return self.known[node.id]
        if isinstance(node, ast.IfExp):
            either = self.find_all_texts([node.body, node.orelse])
            return None if either is None else tuple(text for texts in either for text in texts)
        if isinstance(node, ast.JoinedStr):
            return self.join_texts(node.values)
        if isinstance(node, ast.FormattedValue):
            return self.find_texts(node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.join_texts([node.left, node.right])
        if self.is_of_class(node):
            return self.questions.ask(find_text, node.attr)
        return pick_text(self.find_value(node))

    def find_all_texts(self, nodes: Iterable[ast.AST]) -> list[Texts] | None:
        found = [self.find_texts(node) for node in nodes]
        known = [texts for texts in found if texts is not None]
        return known if len(known) == len(found) else None

    def join_texts(self, parts: Iterable[ast.AST]) -> Texts | None:
        known = self.find_all_texts(parts)
        return None if known is None else tuple(map("".join, product(*known)))

    def find_items(self, node: ast.AST) -> Texts | None:
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            found = self.find_all_texts(node.elts)
            return None if found is None else tuple(text for texts in found for text in texts)
        if self.is_of_class(node):
            return self.questions.ask(find_texts_of, node.attr)
        return pick_texts_of(self.find_value(node))

    def find_callee(self, node: ast.AST) -> tuple[Any, bool]:
        # The class or function that is called, None for another, and whether it is a framework's.
        if self.is_of_class(node):
            return self.questions.ask(find_callable, node.attr)
        return pick_callable(self.find_value(node))

    def find_value(self, node: ast.AST) -> Any:
        value = self.source.find_value(node)
        return UNKNOWN if value is None else value

    def is_of_class(self, node: ast.AST) -> TypeGuard[ast.Attribute]:
        holder = getattr(node, "value", None)
        by_class = getattr(holder, "id", getattr(holder, "attr", "")) in ("cls", "__class__")
        return is_own_member(node) or (isinstance(node, ast.Attribute) and by_class)


def is_filter_set(owner: type) -> bool:
    return hasattr(owner, "base_filters")


def find_text(owner: type, name: str) -> Texts | None:
    return pick_text(inspect.getattr_static(owner, name, UNKNOWN))


def find_texts_of(owner: type, name: str) -> Texts | None:
    return pick_texts_of(inspect.getattr_static(owner, name, UNKNOWN))


def find_callable(owner: type, name: str) -> tuple[Any, bool]:
    return pick_callable(inspect.getattr_static(owner, name, UNKNOWN))


def pick_text(value: Any) -> Texts | None:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else None


def pick_texts_of(value: Any) -> Texts | None:
    if not isinstance(value, COLLECTIONS):
        return None
    return tuple(item for item in value if isinstance(item, str))


def pick_callable(value: Any) -> tuple[Any, bool]:
    is_callable = inspect.isclass(value) or inspect.isfunction(value)
    return value if is_callable else None, is_framework_code(value)
