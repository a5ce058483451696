"""What the source of a view's handler shows: the hooks it calls, the body it reads.

An action may inherit its viewset's serializer, filters and paginator without using any
of them. What it does with them stands only in its source, so that is read: the handler
itself, the methods it calls on ``self`` and the functions it hands the request to.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.source.branches import running
from drf_mcp.introspection.source.given import filled_in
from drf_mcp.introspection.source.trees import (
    REQUEST,
    files_used,
    get_synchronous_name,
    is_body,
    is_data,
    is_files,
    is_own_method,
    keys_read,
    layers,
    lists_read,
    lookup,
    parse,
    passes_request,
    resolve,
    truth,
    value_of,
)

# Called on self these have a known part to play and are not followed.
HOOKS = frozenset(dir(GenericAPIView))
# Code of these packages does not read the body behind a handler's back.
TRUSTED = frozenset({"django", "rest_framework", "drf_mcp", "builtins", "logging"})
MOST_FUNCTIONS = 50


@dataclass(frozen=True)
class SerializerCall:
    """One construction of a serializer from ``request.data``.

    Attributes:
        serializer_class: the class called, None for the view's own `get_serializer`.
        many: True if it is given ``many=True``, None if that depends on what was sent.
        attribute: the view's attribute that holds the class, "" if it is named itself.
        partial: True if it is given ``partial=True``, None if that depends.
        filled_in: the keys that the handler itself puts into what it gives.
    """

    serializer_class: type[BaseSerializer[Any]] | None
    many: bool | None = False
    attribute: str = ""
    partial: bool | None = False
    filled_in: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reading:
    """What was found in a handler.

    Attributes:
        calls: the names of the methods it calls on ``self`` or `super`; asynchronous ones
            by the names of their twins.
        reads_body: True if it reads ``request.data`` or the like.
        hands_on: True if the request goes where reading could not follow.
        serializer_calls: the serializers it makes of ``request.data``.
        reads_parts: True if it gives the view's own serializer something else to read.
        keys: the keys that it reads of ``request.data`` itself.
        files: the keys that it reads of ``request.FILES``, or whose values it uses as files.
        lists: the keys of which it reads every value.
        reads_whole: True if ``request.data`` or the like goes anywhere as a whole.
    """

    calls: frozenset[str]
    reads_body: bool
    hands_on: bool
    serializer_calls: frozenset[SerializerCall]
    reads_parts: bool = False
    keys: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    lists: frozenset[str] = frozenset()
    reads_whole: bool = False

    @property
    def ignores_body(self) -> bool:
        """True if nothing the handler does can depend on the request's body."""
        return not self.reads_body and not self.hands_on

    @property
    def reads_keys_alone(self) -> bool:
        """True if the handler asks the body for keys, and nothing sees it as a whole."""
        return self.reads_body and not self.reads_whole and not self.hands_on


def read(view_class: type, name: str, method: str | None = None) -> Reading | None:
    """Read a handler; None if it does not exist or has no source.

    Args:
        view_class: the class of the view.
        name: the handler's name, an action or an HTTP method in lower case.
        method: the HTTP method in upper case, to leave out what the handler does for others.
    """
    function, owner = resolve(view_class, name)
    if not inspect.isfunction(function) or parse(function.__code__) is None:
        return None
    reader = Reader(view_class, method)
    reader.follow(function, owner)
    return Reading(
        calls=frozenset(reader.calls),
        reads_body=reader.reads_body,
        hands_on=reader.hands_on,
        serializer_calls=frozenset(reader.serializer_calls),
        reads_parts=reader.reads_parts,
        keys=tuple(reader.keys),
        files=tuple(reader.files),
        lists=frozenset(reader.lists),
        reads_whole=reader.reads_whole,
    )


class Reader:
    """Walks a handler and what it calls, and gathers what it sees."""

    def __init__(self, view_class: type, method: str | None = None) -> None:
        self.view_class = view_class
        self.method = method
        self.calls: set[str] = set()
        self.reads_body = False
        self.reads_whole = False
        self.hands_on = False
        self.serializer_calls: set[SerializerCall] = set()
        self.reads_parts = False
        self.keys: dict[str, None] = {}
        self.files: dict[str, None] = {}
        self.lists: set[str] = set()
        self.seen: set[CodeType] = set()

    def follow(self, function: Any, owner: type | None) -> None:
        """Read a function and, through decorators, the functions it wraps.

        Each is read as the method of the class that defines it: a decorator may have put
        into a class what another class defines.
        """
        for layer, is_wrapper in layers(function):
            owner = self.home(layer) or owner
            if layer.__code__ in self.seen:
                continue
            self.seen.add(layer.__code__)
            tree = parse(layer.__code__)
            if tree is None or len(self.seen) > MOST_FUNCTIONS:
                self.hands_on = True
            else:
                if self.method is not None:
                    tree = running(tree, self.method, layer.__globals__)
                self.walk(tree, layer, owner, is_wrapper)

    def home(self, function: Any) -> type | None:
        """Return the class that defines a method, None if it stands in none by itself."""
        mro = self.view_class.__mro__
        return next((base for base in mro if vars(base).get(function.__name__) is function), None)

    def walk(self, tree: ast.AST, function: Any, owner: type | None, is_wrapper: bool) -> None:
        """Read one function's body."""
        self.keys.update(dict.fromkeys(keys_read(tree, is_data)))
        used = files_used(tree, is_data, lambda node: value_of(node, function))
        self.files.update(dict.fromkeys((*keys_read(tree, is_files), *used)))
        self.lists.update((*lists_read(tree, is_data), *lists_read(tree, is_files)))
        asked = {id(lookup(node)[0]) for node in ast.walk(tree)}
        for statement in getattr(tree, "body", ()):
            for node in ast.walk(statement):
                if is_body(node):
                    self.reads_body = True
                    self.reads_whole |= id(node) not in asked
                if isinstance(node, ast.Call):
                    self.read_call(node, function, owner, is_wrapper)

    def read_call(
        self, node: ast.Call, function: Any, owner: type | None, is_wrapper: bool
    ) -> None:
        """Read one call: of a method of the view, of a serializer, of anything else."""
        if is_own_method(node.func):
            after = None if isinstance(node.func.value, ast.Name) else owner
            return self.read_method(node, function, node.func.attr, after)
        target = value_of(node.func, function)
        if inspect.isclass(target) and issubclass(target, BaseSerializer):
            self.note_serializer(node, function, target)
        elif passes_request(node) and not is_wrapper:
            self.read_function(target, owner)

    def read_method(self, node: ast.Call, function: Any, name: str, after: type | None) -> None:
        """Read a call of one of the view's own methods."""
        plain = get_synchronous_name(name)
        self.calls.add(plain)
        if name == "get_serializer":
            self.note_serializer(node, function, None)
        method, owner = resolve(self.view_class, name, after)
        if inspect.isclass(method) and issubclass(method, BaseSerializer):
            self.note_serializer(node, function, method, name)
        elif plain in HOOKS:
            return
        elif inspect.isfunction(method):
            self.follow(method, owner)
        elif passes_request(node):
            self.hands_on = True

    def read_function(self, target: Any, owner: type | None) -> None:
        """Read a call that is given the request or the view; a decorator may call a method."""
        package = (getattr(target, "__module__", None) or "").partition(".")[0]
        if package in TRUSTED and target is not getattr:
            return
        if inspect.isfunction(target) and REQUEST & set(inspect.signature(target).parameters):
            self.follow(target, owner)
        else:
            self.hands_on = True

    def note_serializer(
        self,
        node: ast.Call,
        function: Any,
        serializer_class: type[BaseSerializer[Any]] | None,
        attribute: str = "",
    ) -> None:
        """Note a serializer that is given ``request.data``, or a part of it to read."""
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        filled = filled_in(keywords.get("data"), parse(function.__code__), is_body)
        if filled is not None:
            many = truth(keywords.get("many"))
            partial = None if None in keywords else truth(keywords.get("partial"))
            call = SerializerCall(serializer_class, many, attribute, partial, filled)
            self.serializer_calls.add(call)
        elif "data" in keywords and serializer_class is None:
            self.reads_parts = True


def mentions(function: Any, names: frozenset[str]) -> bool:
    """Return True if a function uses one of some names, or has no source to tell."""
    tree = parse(function.__code__) if inspect.isfunction(function) else None
    if tree is None:
        return True
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return bool(names & (used | attributes))
