"""The conditions under which an override changes a member of its argument."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from drf_mcp.introspection.source.trees import FunctionSource, find_lookup, is_name

JSON_TYPES = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
OPEN_TYPES = frozenset({"any"})


@dataclass(frozen=True)
class Write:
    # A member that may be changed. name: None for every member that was sent. types: of the values
    # that are changed, of which some may be unknown; item_types: of items. fields: classes of the
    # serializer fields that are meant, or are not. contents: only what the member holds may change.
    # is_certain: the member was sent.

    name: str | None
    is_certain: bool
    types: frozenset[str] = OPEN_TYPES
    item_types: frozenset[str] = frozenset()
    fields: tuple[tuple[Any, bool], ...] = ()
    contents: bool = False

    @property
    def is_open(self) -> bool:
        return not self.contents and "any" in self.types | self.item_types

    def concerns(self, name: str, field: Any) -> bool:
        named = self.name is None or self.name == name
        return named and all(isinstance(field, kinds) is wanted for kinds, wanted in self.fields)


class Conditions:
    """The conditions around a statement that say of which type a member or its field is."""

    def __init__(
        self,
        source: FunctionSource,
        parents: Mapping[ast.AST, ast.AST],
        names: tuple[str, str],
        key: ast.expr,
    ) -> None:
        self.source = source
        self.parents = parents
        self.own, self.argument = names
        self.key = ast.dump(key)

    def find_conditions(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        parent = self.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.If) and node is not parent.test:
                holds = node in parent.body
                joined = isinstance(parent.test, ast.BoolOp) and isinstance(parent.test.op, ast.And)
                tests = parent.test.values if joined and holds else [parent.test]  # type: ignore[attr-defined]
                for test in tests:
                    yield test, holds
            node, parent = parent, self.parents.get(parent)

    def are_of_scalar(self, node: ast.AST) -> bool:
        types = self.get_write(node, None).types
        return not types & {"any", "array", "object"} and bool(types)

    def get_write(self, node: ast.AST, name: str | None) -> Write:
        types, item_types, fields = OPEN_TYPES, frozenset[str](), list[tuple[Any, bool]]()
        for test, holds in self.find_conditions(node):
            if (kinds := self.find_field_classes(test)) is not None:
                fields.append((kinds, holds))
            elif holds and (found := self.find_types(test)):
                types = found
            elif holds and (found := self.find_item_types(test)):
                types, item_types = frozenset(), found
        is_removed = isinstance(getattr(node, "ctx", None), ast.Del) or isinstance(node, ast.Call)
        is_certain = not is_removed and (name is None or types != OPEN_TYPES)
        return Write(name, is_certain, types, item_types, tuple(fields))

    def read_test(self, test: ast.AST) -> tuple[ast.expr, Any]:
        # The subject and the classes of isinstance() and issubclass().
        is_call = isinstance(test, ast.Call) and isinstance(test.func, ast.Name)
        if not is_call or test.func.id not in ("isinstance", "issubclass") or len(test.args) != 2:  # type: ignore[attr-defined]
            return ast.Constant(None), None
        subject, classes = test.args  # type: ignore[attr-defined]
        parts = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        values = tuple(self.source.find_value(part) for part in parts)
        return subject, values if all(map(inspect.isclass, values)) else None

    def find_field_classes(self, test: ast.expr) -> Any:
        subject, classes = self.read_test(test)
        if isinstance(subject, ast.Attribute) and subject.attr == "__class__":
            subject = subject.value
        elif isinstance(subject, ast.Call) and is_name(subject.func, "type") and subject.args:
            subject = subject.args[0]
        if not isinstance(subject, ast.Subscript) or ast.dump(subject.slice) != self.key:
            return None
        fields = subject.value
        own = isinstance(fields, ast.Attribute) and fields.attr == "fields"
        is_own = own and is_name(fields.value, self.own)  # type: ignore[attr-defined]
        return classes if is_own else None

    def find_types(self, test: ast.expr) -> frozenset[str]:
        subject, classes = self.read_test(test)
        return self.name_types(classes) if self.is_member(subject) else frozenset()

    def find_item_types(self, test: ast.expr) -> frozenset[str]:
        # any(isinstance(each, int) for each in data[name])
        is_any = isinstance(test, ast.Call) and is_name(test.func, "any") and len(test.args) == 1
        items = test.args[0] if is_any else None  # type: ignore[attr-defined]
        if not isinstance(items, ast.GeneratorExp) or len(items.generators) != 1:
            return frozenset()
        (loop,) = items.generators
        subject, classes = self.read_test(items.elt)
        is_each = ast.unparse(subject) == ast.unparse(loop.target)
        return self.name_types(classes) if is_each and self.is_member(loop.iter) else frozenset()

    def is_member(self, node: ast.AST) -> bool:
        mapping, keys = find_lookup(node)
        is_argument = mapping is not None and is_name(mapping, self.argument)
        is_value = not isinstance(node, ast.Compare)
        return is_argument and is_value and [ast.dump(key) for key in keys] == [self.key]

    def name_types(self, classes: Any) -> frozenset[str]:
        return frozenset(JSON_TYPES.get(each, "any") for each in classes or ())
