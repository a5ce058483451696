"""What an override changes in its argument before it hands it to ``super()``."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from drf_mcp.introspection.source.conditions import Conditions, Write
from drf_mcp.introspection.source.trees import FunctionSource, find_copied, find_lookup, is_name

# Functions that change nothing of what they are given: of a mapping, and of its members.
KEY_READERS = frozenset({"bool", "isinstance", "len", "list", "set", "sorted", "tuple", "type"})
READERS = frozenset({"any", "all", "bool", "int", "isinstance", "issubclass", "len", "str", "type"})
LOOKUPS = frozenset({"get", "pop", "setdefault"})
CHANGES = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
# What a name may hide: an attribute that is set, or the mapping under another name.
HIDING = frozenset({"delattr", "eval", "exec", "locals", "setattr", "super", "vars"})
ALIASES = frozenset({"initial_data", "_writable_fields", "_readable_fields"})
UNFOLLOWED = (
    *(ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Lambda, ast.Global, ast.Nonlocal),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)
TESTS = (ast.If, ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.While)
CHAINS = (ast.Attribute, ast.Subscript)


class Preparation:
    # Followed are lookups, conditions and loops over the argument's keys; whatever else touches
    # the argument, the serializer or its fields leaves the whole override unfollowed.

    def __init__(self, source: FunctionSource, own: str, argument: str, body: list[ast.stmt]):
        self.source, self.own, self.argument = source, own, argument
        self.nodes = [node for statement in body for node in ast.walk(statement)]
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @functools.cached_property
    def writes(self) -> tuple[Write, ...] | None:
        names = [node for node in self.nodes if isinstance(node, ast.Name)]
        if any(map(self.is_unfollowed, self.nodes)) or not all(map(self.follows, names)):
            return None
        return tuple(self.find_writes())

    def is_unfollowed(self, node: ast.AST) -> bool:
        if isinstance(node, UNFOLLOWED):
            return True
        if isinstance(node, ast.Attribute):
            return not isinstance(node.ctx, ast.Load) or node.attr in ALIASES
        # What is no variable may be the argument under another name: ``request.data``.
        changed = getattr(node, "func", None) if isinstance(node, ast.Call) else node
        is_change = isinstance(changed, ast.Attribute) and changed.attr in CHANGES
        is_change = is_change or not isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
        return is_change and isinstance(getattr(changed, "value", None), (ast.Attribute, ast.Call))

    def follows(self, node: ast.Name) -> bool:
        if node.id == self.argument:
            return self.follows_argument(node)
        return self.follows_own(node) if node.id == self.own else node.id not in HIDING

    def follows_argument(self, node: ast.Name) -> bool:
        parent = self.parents.get(node)
        if isinstance(parent, ast.Assign):
            copied = find_copied(parent.value) if isinstance(parent.value, ast.Call) else None
            return copied is not None and is_name(copied, self.argument)
        if isinstance(parent, ast.Subscript):
            return isinstance(parent.ctx, ast.Load) or self.is_known_key(parent.slice)
        if isinstance(parent, ast.Attribute):
            return self.follows_method(parent)
        return (
            self.is_iterated(node)
            or isinstance(parent, (ast.Compare, ast.FormattedValue, *TESTS))
            or self.is_given_to(node, KEY_READERS)
            or self.is_copied(parent)
        )

    def follows_method(self, method: ast.Attribute) -> bool:
        call = self.parents.get(method)
        if not isinstance(call, ast.Call) or call.func is not method:
            return False
        if method.attr in LOOKUPS:
            is_read = method.attr == "get"
            return bool(call.args) and (is_read or self.is_known_key(call.args[0]))
        return method.attr == "keys" or self.is_copied(call)

    def is_copied(self, call: ast.AST | None) -> bool:
        assigned = self.parents.get(call) if isinstance(call, ast.Call) else None
        is_whole = isinstance(call, ast.Call) and find_copied(call) is not None
        targets = assigned.targets if isinstance(assigned, ast.Assign) and is_whole else []
        return len(targets) == 1 and is_name(targets[0], self.argument)

    def follows_own(self, node: ast.Name) -> bool:
        member = self.parents.get(node)
        if not isinstance(member, ast.Attribute):
            return False
        if member.attr == "fields":
            return self.follows_fields(member)
        top = self.find_top(member)
        is_method = isinstance(top, ast.Call) and top.func is member
        return member.attr == "fail" if is_method else self.is_read(top)

    def follows_fields(self, fields: ast.Attribute) -> bool:
        parent = self.parents.get(fields)
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load):
            inside = isinstance(self.parents.get(parent), ast.Attribute)
            return self.is_read(self.find_top(parent)) if inside else self.is_given_to(parent)
        compared = isinstance(parent, ast.Compare)
        return compared or self.is_iterated(fields) or self.is_given_to(fields, KEY_READERS)

    def find_top(self, node: ast.AST) -> ast.AST:
        # The whole of ``self.fields[name].Meta.model.objects.get(...)``.
        while True:
            parent = self.parents.get(node)
            if parent is None or node not in (
                getattr(parent, "func", None),
                getattr(parent, "value", None) if isinstance(parent, CHAINS) else None,
            ):
                return node
            node = parent

    def is_read(self, top: ast.AST) -> bool:
        calls = [node for node in ast.walk(top) if isinstance(node, ast.Call)]
        user = self.parents.get(top)
        if not calls and isinstance(user, (ast.Call, ast.keyword)):
            return self.is_given_to(top)
        changed = isinstance(top, ast.Subscript) and not isinstance(top.ctx, ast.Load)
        return not changed and not any(getattr(call.func, "attr", "") in CHANGES for call in calls)

    def is_given_to(self, node: ast.AST, functions: frozenset[str] = READERS) -> bool:
        call = self.parents.get(node)
        return (
            isinstance(call, ast.Call)
            and node in call.args
            and isinstance(call.func, ast.Name)
            and call.func.id in functions
        )

    def is_iterated(self, node: ast.AST) -> bool:
        return getattr(self.parents.get(node), "iter", None) is node

    def is_known_key(self, key: ast.expr) -> bool:
        is_text = isinstance(key, ast.Constant) and isinstance(key.value, str)
        return is_text or (isinstance(key, ast.Name) and key.id in self.key_variables)

    @functools.cached_property
    def key_variables(self) -> frozenset[str]:
        bound = [n for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        loops = {n.target for n in self.nodes if isinstance(n, ast.For) and self.gives_keys(n.iter)}
        others = {node.id for node in bound if node not in loops}
        return frozenset(node.id for node in bound) - others

    def gives_keys(self, node: ast.expr) -> bool:
        # data, list(data), data.keys()
        while isinstance(node, ast.Call):
            owner = node.func
            if isinstance(owner, ast.Attribute) and owner.attr == "keys" and not node.args:
                node = owner.value
            elif isinstance(owner, ast.Name) and owner.id in KEY_READERS and len(node.args) == 1:
                node = node.args[0]
            else:
                return False
        return is_name(node, self.argument)

    def find_writes(self) -> Iterator[Write]:
        for node in self.nodes:
            mapping, keys = find_lookup(node)
            if isinstance(node, ast.Subscript) and is_name(node.value, self.argument):
                mapping, keys = node.value, [node.slice]
            elif self.sets_default(node):
                mapping, keys = node.func.value, node.args[:1]  # type: ignore[attr-defined]
            if mapping is None or not is_name(mapping, self.argument) or not keys:
                continue
            if not isinstance(node, ast.Compare):
                yield from self.find_changes(node, keys[0])

    def sets_default(self, node: ast.AST) -> bool:
        method = node.func if isinstance(node, ast.Call) else None
        return isinstance(method, ast.Attribute) and method.attr == "setdefault"

    def find_changes(self, node: ast.AST, key: ast.expr) -> Iterator[Write]:
        conditions = Conditions(self.source, self.parents, (self.own, self.argument), key)
        value = key.value if isinstance(key, ast.Constant) else None
        name = value if isinstance(value, str) else None
        method = getattr(getattr(node, "func", None), "attr", "get")
        if method != "get" or isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            yield conditions.get_write(node, name)
        elif not self.is_harmless(node) and not conditions.are_of_scalar(node):
            yield Write(name, True, contents=True)

    def is_harmless(self, node: ast.AST) -> bool:
        parent = self.parents.get(node)
        if isinstance(parent, ast.comprehension) and parent.iter is node:
            inside = [n for n in ast.walk(self.parents[parent]) if isinstance(n, ast.Name)]
            target = getattr(parent.target, "id", None)
            each = [n for n in inside if n.id == target and isinstance(n.ctx, ast.Load)]
            return target is not None and all(map(self.is_harmless, each))
        is_item = isinstance(parent, (ast.ListComp, ast.SetComp, ast.GeneratorExp))
        return is_item or isinstance(parent, (ast.Compare, *TESTS)) or self.is_given_to(node)
