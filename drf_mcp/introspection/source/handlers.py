"""What the source of a view's handler shows: the hooks it calls, the body it reads."""

from __future__ import annotations

import ast
import functools
import inspect
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rest_framework.generics import GenericAPIView
from rest_framework.serializers import BaseSerializer, Serializer

from drf_mcp.introspection.source.choices import name_serializers
from drf_mcp.introspection.source.members import find_member, get_synchronous_name, unwrap_function
from drf_mcp.introspection.source.trees import (
    REQUEST,
    FunctionSource,
    MappingReads,
    find_lookup,
    is_name,
    is_own_member,
    is_request,
    is_request_member,
)

HOOKS = frozenset(dir(GenericAPIView))
# Code of these packages does not read the body behind a handler's back.
TRUSTED = frozenset({"django", "rest_framework", "drf_mcp", "builtins", "logging"})
DATA, FILES = frozenset({"data", "POST"}), frozenset({"FILES"})
MOST_FUNCTIONS = 50
PAGINATE = "paginate_queryset"
Keys = dict[str, None]
WRITES = frozenset({"save", "create", "update", "delete", "bulk_create", "bulk_update"})
WRITES |= {"get_or_create", "update_or_create"}
WRITES |= {"perform_create", "perform_update", "perform_destroy"}


@dataclass(frozen=True)
class SerializerCall:
    """A serializer that a handler makes of the body.

    Attributes:
        serializer_class: None for the view's ``get_serializer()``.
        many: None where this depends on the request.
        attribute: the attribute of the view that holds the class, "" for none.
        partial: None where this depends on the request. A serializer of a body that the handler
            changed counts as partial, since the handler may add what is required.
    """

    serializer_class: type[BaseSerializer[Any]] | None
    many: bool | None = False
    attribute: str = ""
    partial: bool | None = False


class HandlerReading:
    """What a handler, and the code that it calls, does with the request.

    Attributes:
        calls: the names of the view's methods that are called; an asynchronous twin of one of REST
            framework's methods has the name of this method.
        reads_body: whether the body is read.
        reads_whole: whether the body is read as a whole, not only by keys.
        reads_parts: whether the view's serializer is given other data than the body.
        hands_on: whether the request is passed to code that could not be read.
        serializer_calls: the serializers that are made of the body.
        keys: the keys that are read of the body.
        files: the keys that are read of the files.
        asked: the serializers of `call_context(request).ask()`.
        writes_before_asking: whether rows are saved before. The view runs once more with the
            answer, and would save them twice.
    """

    def __init__(self, view_class: type) -> None:
        self.view_class = view_class
        self.calls: set[str] = set()
        self.reads_body = self.reads_whole = self.reads_parts = self.hands_on = False
        self.serializer_calls: dict[SerializerCall, None] = {}
        self.keys: dict[str, None] = {}
        self.files: dict[str, None] = {}
        self.seen: dict[CodeType, None] = {}
        self.asked: dict[type[Serializer[Any]], None] = {}
        self.writes_before_asking = False

    @property
    def ignores_body(self) -> bool:
        return not self.reads_body and not self.hands_on

    @property
    def reads_keys_alone(self) -> bool:
        return self.reads_body and not self.reads_whole and not self.hands_on

    def follow(self, function: Any, owner: type | None) -> None:
        # A class may take over a method of another class: super() in it starts from the other.
        for layer, is_wrapper in unwrap_function(function):
            owner = self.find_home(layer) or owner
            if layer.__code__ in self.seen:
                continue
            self.seen[layer.__code__] = None
            source = FunctionSource(layer)
            if source.tree is None or len(self.seen) > MOST_FUNCTIONS:
                self.hands_on = True
            else:
                self.read_body(source)
                for node in source.walked.body_calls:
                    self.read_call(node, source, owner, is_wrapper)

    def find_home(self, function: Any) -> type | None:
        mro = self.view_class.__mro__
        return next((base for base in mro if vars(base).get(function.__name__) is function), None)

    def read_body(self, source: FunctionSource) -> None:
        use = find_body_use(source.function)
        self.keys.update(use.keys)
        self.files.update(use.files)
        self.reads_body |= use.reads
        self.reads_whole |= use.reads_whole

    def read_call(
        self, node: ast.Call, source: FunctionSource, owner: type | None, is_wrapper: bool
    ) -> None:
        # The view's own method, or its paginator's: self.paginator.paginate_queryset(...).
        if getattr(node.func, "attr", "") == PAGINATE:
            self.calls.add(PAGINATE)
        if is_own_member(node.func):
            after = None if isinstance(node.func.value, ast.Name) else owner
            return self.read_method(node, source, node.func.attr, after)
        if getattr(node.func, "attr", "") == "ask" and node.args:
            self.note_question(node, source)
        target = source.find_value(node.func)
        if inspect.isclass(target) and issubclass(target, BaseSerializer):
            self.note_serializer(node, source, target)
        elif any(keyword.arg == "data" for keyword in node.keywords) and target is None:
            for named in name_serializers(self.view_class, source, node.func):
                self.note_serializer(node, source, named)
        # The request that a decorator passes on goes to the function inside, which is read anyway.
        elif self.passes_request(node) and not is_wrapper:
            self.read_function(target, owner)

    def read_method(
        self, node: ast.Call, source: FunctionSource, name: str, after: type | None
    ) -> None:
        synchronous = get_synchronous_name(name)
        self.calls.add(synchronous)
        if name == "get_serializer":
            self.note_serializer(node, source, None)
        method, owner = find_member(self.view_class, name, after)
        if inspect.isclass(method) and issubclass(method, BaseSerializer):
            self.note_serializer(node, source, method, name)
        # What REST framework's hooks are for is known: a project's override is not read.
        elif synchronous in HOOKS:
            return
        elif inspect.isfunction(method):
            self.follow(method, owner)
        elif self.passes_request(node):
            self.hands_on = True

    def note_question(self, node: ast.Call, source: FunctionSource) -> None:
        asked = source.find_value(node.args[0])
        if not inspect.isclass(asked) or not issubclass(asked, Serializer):
            return
        self.asked[asked] = None
        writes = (n for n in source.nodes if isinstance(n, ast.Call) and n.lineno < node.lineno)
        self.writes_before_asking |= any(getattr(n.func, "attr", "") in WRITES for n in writes)

    def passes_request(self, node: ast.Call) -> bool:
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return any(
            isinstance(value, ast.Starred) or is_request(value) or is_name(value, "self")
            for value in values
        )

    def read_function(self, target: Any, owner: type | None) -> None:
        package = (getattr(target, "__module__", None) or "").partition(".")[0]
        # getattr(self, name)(request) may call any method of the view.
        if package in TRUSTED and target is not getattr:
            return
        if inspect.isfunction(target) and REQUEST & set(inspect.signature(target).parameters):
            self.follow(target, owner)
        else:
            self.hands_on = True

    def note_serializer(
        self,
        node: ast.Call,
        source: FunctionSource,
        serializer_class: type[BaseSerializer[Any]] | None,
        attribute: str = "",
    ) -> None:
        keywords = {keyword.arg: keyword.value for keyword in node.keywords}
        reads = MappingReads(source.nodes, is_request_member)
        unchanged = reads.is_unchanged(keywords.get("data"))
        if unchanged is not None:
            partial = None if None in keywords else self.find_truth(keywords.get("partial"))
            many = self.find_truth(keywords.get("many"))
            partial = partial if unchanged else True
            call = SerializerCall(serializer_class, many, attribute, partial)
            self.serializer_calls[call] = None
        elif "data" in keywords and serializer_class is None:
            self.reads_parts = True

    def find_truth(self, node: ast.AST | None) -> bool | None:
        if node is None:
            return False
        return bool(node.value) if isinstance(node, ast.Constant) else None


@dataclass(frozen=True)
class BodyUse:
    # What one function reads of the body: see `HandlerReading`.

    keys: Keys
    files: Keys
    reads: bool
    reads_whole: bool


@functools.lru_cache(maxsize=4096)
def find_body_use(function: Any) -> BodyUse:
    source = FunctionSource(function)
    data = MappingReads(source.nodes, lambda node: is_request_member(node, DATA))
    files = MappingReads(source.nodes, lambda node: is_request_member(node, FILES))
    reads = [node for node in source.walked.body_nodes if is_request_member(node)]
    mappings = {id(find_lookup(node)[0]) for node in source.nodes} if reads else set()
    return BodyUse(
        dict.fromkeys(data.keys),
        dict.fromkeys(files.keys),
        bool(reads),
        any(id(node) not in mappings for node in reads),
    )


def read_handler(view_class: type, name: str) -> HandlerReading | None:
    """Return what the handler and the methods that it calls do, None without readable source."""
    return follow_handler(view_class, name)


# A cached function cannot be called with classes: mypy does not take them for hashable.
@functools.lru_cache(maxsize=4096)
def follow_handler(view_class: type, name: str) -> HandlerReading | None:
    function, home = find_member(view_class, name)
    if FunctionSource(function).tree is None:
        return None
    reading = HandlerReading(view_class)
    reading.follow(function, home)
    reading.seen.clear()
    return reading
