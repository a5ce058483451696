"""What code takes of the body besides the fields of serializers."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import Any

from drf_mcp.introspection.findings import write_line
from drf_mcp.introspection.source.body_calls import BodyCalls
from drf_mcp.introspection.source.body_parts import (
    ANY,
    CONTEXT,
    FIELD,
    FIELDS,
    MOST_TEXTS,
    NOTHING,
    TELLING,
    THE_REQUEST,
    BodyReading,
    Flags,
    Instance,
    Key,
    Keywords,
    Known,
    LiteralText,
    Names,
    PartOfBody,
    Texts,
    Values,
    find_literal_texts,
    find_telling,
    has_parts,
    is_item,
    names_any,
    write_part,
)
from drf_mcp.introspection.source.members import (
    find_class_attribute,
    find_member,
    is_framework_code,
    unwrap_function,
    unwrap_member,
)
from drf_mcp.introspection.source.trees import REQUEST, FunctionSource
from drf_mcp.introspection.source.values import invert

MOST_FUNCTIONS, DEEPEST = 200, 12
BODY = frozenset({"data", "POST", "FILES", "body", "stream"})
FIELD_NAMES = frozenset({"fields", "_writable_fields", "_declared_fields"})
MEMBERS = frozenset({"items", "lists", "values"})


class BodyReader:
    """Reads methods of a class, and the code that they call.

    Args:
        owner: the class, None for a function.
        view_class: the class of the view that is in the context.
        flags: attributes of the instance whose values are known.
    """

    def __init__(self, owner: type | None, view_class: Any, flags: Flags = ()) -> None:
        self.owner = owner
        self.view_class = view_class
        self.flags = dict(flags)
        self.reading = BodyReading()
        self.attributes: dict[tuple[type, str], Values] = {}
        self.seen: dict[Any, Values] = {}
        self.depth = 0

    def get_view(self) -> Values:
        self.reading.asks_view = True
        return NOTHING if self.view_class is None else frozenset([Instance(self.view_class)])

    def read(self, function: Any, home: type | None, given: Names | None = None) -> Values:
        found = NOTHING
        for layer, _ in unwrap_function(function):
            if not is_framework_code(layer):
                found |= self.read_layer(layer, home, given or {})
        return found

    def read_layer(self, function: Any, home: type | None, given: Names) -> Values:
        if not has_parts(given) and not self.is_telling(function, given):
            return NOTHING
        run = function.__code__, frozenset(given.items())
        if run in self.seen:
            return self.seen[run]
        self.seen[run] = NOTHING
        source = FunctionSource(function)
        if source.tree is None or len(self.seen) > MOST_FUNCTIONS or self.depth > DEEPEST:
            self.lose(given, source.function.__code__.co_firstlineno, source)
            return NOTHING
        self.depth += 1
        made = BodyFunctionReader(self, source, home, given)
        self.seen[run] = made.read()
        self.depth -= 1
        return self.seen[run]

    def is_telling(self, function: Any, given: Names) -> bool:
        """Return whether a function names what leads to the body."""
        own = next(iter(given.get("self", ())), None)
        kind = own.kind if isinstance(own, Instance) else self.owner
        kept = {name for (_, name), values in self.attributes.items() if has_parts({"": values})}
        return names_any(function, (find_telling(kind) if kind is not None else TELLING) | kept)

    def lose(self, given: Names, number: int, source: FunctionSource) -> None:
        line = write_line(source.function.__code__.co_filename, number)
        for value in frozenset().union(*given.values()) if given else ():
            self.open(value, line)

    def open(self, value: Any, line: str, *, is_deep: bool = True) -> None:
        if isinstance(value, Keywords):
            for _, inner in value.values:
                for each in inner:
                    self.open(each, line, is_deep=is_deep)
            return
        if isinstance(value, Key):
            return self.open(value.part, line, is_deep=False)
        if value == THE_REQUEST:
            part, says = PartOfBody("body"), "hands the request on"
        elif isinstance(value, PartOfBody):
            # Copies of the fields have no other member, but what they hold is as it was sent.
            part = value.step(ANY) if value.is_copy_of_fields and is_deep else value
            if part.is_copy_of_fields:
                return
            says = f"reads {write_part(part)}"
        else:
            return
        known = self.reading.opened.get(part)
        if known is None or (is_deep and not known[1]):
            self.reading.opened[part] = (f"{line} {says}", is_deep)


class BodyFunctionReader(BodyCalls):
    def __init__(
        self, reader: BodyReader, source: FunctionSource, home: type | None, given: Names
    ) -> None:
        self.reader = reader
        self.source = source
        self.home = home
        self.names: Names = dict(given)
        self.returned = NOTHING
        self.is_raising = False
        self.locals = frozenset(source.function.__code__.co_varnames)

    def read(self) -> Values:
        assert self.source.tree is not None
        self.read_block(self.source.tree.body)
        return self.returned

    def find_line(self, node: ast.AST) -> str:
        code = self.source.function.__code__
        number = code.co_firstlineno + getattr(node, "lineno", 1) - 1
        return write_line(code.co_filename, number)

    def open(self, values: Values, node: ast.AST, *, is_deep: bool = True) -> None:
        if self.is_raising:
            # The text of an exception quotes the body, and takes nothing of it.
            return
        for value in values:
            if value == THE_REQUEST or isinstance(value, (PartOfBody, Key, Keywords)):
                self.reader.open(value, self.find_line(node), is_deep=is_deep)

    # --- Statements

    def read_block(self, block: Iterable[ast.stmt]) -> None:
        for statement in block:
            self.read_statement(statement)

    def read_statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            values = self.evaluate(node.value)
            for target in node.targets:
                self.assign(target, values, node.value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.assign(node.target, self.evaluate(node.value), node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.bind_items(node.target, node.iter)
            self.read_branches([*node.body, *node.body], node.orelse)
        elif isinstance(node, ast.If):
            self.evaluate(node.test)
            truth = self.find_truth(node.test)
            blocks = ((node.body, True), (node.orelse, False))
            self.read_branches(*(block for block, taken in blocks if truth in (None, taken)))
        elif isinstance(node, ast.Return):
            self.returned |= self.evaluate(node.value) if node.value is not None else NOTHING
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            before = dict(self.names)
            self.names = {name: v for name, v in before.items() if name not in inner}
            returned = self.returned
            self.read_block(node.body)
            self.names, self.returned = before, returned
        elif not isinstance(node, ast.ClassDef):
            was_raising, self.is_raising = self.is_raising, isinstance(node, ast.Raise)
            self.read_parts(node)
            self.is_raising = was_raising

    def find_truth(self, test: ast.expr) -> bool | None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return invert(self.find_truth(test.operand))
        if isinstance(test, ast.Attribute) and self.is_own(self.evaluate(test.value)):
            found: bool | None = self.reader.flags.get(test.attr)
            return found
        return None

    def read_parts(self, node: ast.AST) -> None:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.evaluate(part)
            elif isinstance(part, ast.stmt):
                self.read_statement(part)
            else:
                self.read_parts(part)
        if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
            self.names[node.optional_vars.id] = NOTHING

    def read_branches(self, *blocks: Iterable[ast.stmt]) -> None:
        before, after = self.names, dict[str, Values]()
        for block in blocks:
            self.names = dict(before)
            self.read_block(block)
            for name, values in self.names.items():
                after[name] = after.get(name, NOTHING) | values
        self.names = after

    def assign(self, target: ast.AST, values: Values, source: ast.AST | None) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = values
        elif isinstance(target, ast.Attribute):
            holders = [v for v in self.evaluate(target.value) if isinstance(v, Instance)]
            for holder in holders:
                place = holder.kind, target.attr
                known = self.reader.attributes.get(place, NOTHING)
                self.reader.attributes[place] = known | values
            whole = frozenset(v for v in values if isinstance(v, PartOfBody) and not v.steps)
            if not holders:
                self.open(values - {THE_REQUEST}, target)
            elif target.attr != "initial_data":
                # What is kept of the whole body may be read anywhere.
                self.open(whole, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) else ()
            for index, inner in enumerate(target.elts):
                part = parts[index] if len(parts) == len(target.elts) else None
                self.assign(inner, NOTHING if part is None else self.evaluate(part), part)
        elif isinstance(target, ast.Subscript):
            self.evaluate(target.slice)
            # request.data["name"] = value changes the body.
            if not any(isinstance(v, PartOfBody) for v in self.evaluate(target.value)):
                self.open(values - {THE_REQUEST}, target)

    def is_own(self, values: Values) -> bool:
        return any(isinstance(v, Instance) and v.kind is self.reader.owner for v in values)

    def bind_items(self, target: ast.AST, iterated: ast.expr) -> None:
        """Bind the variables of a loop."""
        called = iterated.func if isinstance(iterated, ast.Call) else None
        name = getattr(called, "id", "")
        if isinstance(iterated, ast.Call) and name == "zip" and isinstance(target, ast.Tuple):
            for inner, argument in zip(target.elts, iterated.args, strict=False):
                self.bind_items(inner, argument)
            return
        if isinstance(called, ast.Attribute) and called.attr in MEMBERS:
            found = self.evaluate(called.value)
            if self.bind_pairs(target, found, iterated):
                return
        items = self.find_items(self.evaluate(iterated))
        counted = name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2
        self.assign(target.elts[1] if counted else target, items, None)  # type: ignore[attr-defined]

    def bind_pairs(self, target: ast.AST, found: Values, node: ast.AST) -> bool:
        """Bind the variables of ``for name, value in mapping.items()``."""
        parts = frozenset(value for value in found if isinstance(value, PartOfBody))
        texts = frozenset(map(LiteralText, find_literal_texts(found)))
        if not parts and not texts and FIELDS not in found:
            return False
        self.open(parts, node, is_deep=False)
        pair = target.elts if isinstance(target, ast.Tuple) else [target]
        names = texts | (frozenset([FIELD]) if FIELDS in found else NOTHING)
        self.assign(pair[0], names, None)
        self.assign(pair[-1], frozenset(part.step(ANY) for part in parts), None)
        if len(pair) == 2:
            self.assign(pair[0], names, None)
        return True

    def find_items(self, values: Values) -> Values:
        parts = [v for v in values if isinstance(v, PartOfBody)]
        found: set[Any] = {part.step(ANY) for part in parts}
        # Of an object the names of its members are gone through.
        found |= {FIELD if part.is_copy_of_fields else Key(part) for part in parts}
        found |= {FIELD} if FIELDS in values else set()
        return frozenset(found | set(map(LiteralText, find_literal_texts(values))))

    # --- Expressions

    def evaluate(self, node: ast.AST) -> Values:
        method = getattr(self, f"_evaluate_{type(node).__name__.lower()}", None)
        if method is not None:
            found: Values = method(node)
            return found
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                # What goes into a list, a text or the like is read as a whole there.
                self.open(self.evaluate(part) - {THE_REQUEST}, part)
        return NOTHING

    def _evaluate_constant(self, node: ast.Constant) -> Values:
        return frozenset([LiteralText(node.value)]) if isinstance(node.value, str) else NOTHING

    def _evaluate_tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Values:
        parts = [self.evaluate(part) for part in node.elts]
        texts = [v.text for part in parts for v in part if isinstance(v, LiteralText)]
        for part in parts:
            self.open(part - {THE_REQUEST}, node)
        return frozenset([Texts(tuple(texts))]) if texts else NOTHING

    _evaluate_list = _evaluate_set = _evaluate_tuple

    def _evaluate_joinedstr(self, node: ast.JoinedStr) -> Values:
        texts = [""]
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            found = self.evaluate(inner)
            self.open(found - {THE_REQUEST}, node)
            known = [value.text for value in found if isinstance(value, LiteralText)]
            texts = [f"{text}{each}" for text in texts for each in known][:MOST_TEXTS]
        return frozenset(map(LiteralText, texts))

    def _evaluate_name(self, node: ast.Name) -> Values:
        if node.id in self.names:
            return self.names[node.id]
        if node.id in ("self", "cls") and self.reader.owner is not None:
            return frozenset([Instance(self.reader.owner)])
        if node.id in REQUEST:
            return frozenset([THE_REQUEST])
        if node.id == "view":
            found: Values = self.reader.get_view()
            return found
        value = None if node.id in self.locals else self.source.find_value(node)
        return NOTHING if value is None else frozenset([Known(value)])

    def _evaluate_attribute(self, node: ast.Attribute) -> Values:
        return self.get_attribute(self.evaluate(node.value), node.attr)

    def get_attribute(self, holders: Values, name: str) -> Values:
        if THE_REQUEST in holders and name in BODY:
            return frozenset([PartOfBody("body")])
        if name in REQUEST:
            return frozenset([THE_REQUEST])
        if name == "context":
            return frozenset([CONTEXT])
        if name == "initial_data":
            return frozenset([PartOfBody("self" if self.is_own(holders) else "body")])
        if name in FIELD_NAMES and self.is_own(holders):
            return frozenset([FIELDS])
        found = NOTHING
        for holder in holders:
            if isinstance(holder, Instance):
                stored = self.reader.attributes.get((holder.kind, name))
                found |= self.read_property(holder, name) if stored is None else stored
            elif isinstance(holder, Known):
                value = inspect.getattr_static(holder.value, name, None)
                value = getattr(value, "__func__", value)
                found |= NOTHING if value is None else frozenset([Known(value)])
        return found

    def read_property(self, holder: Instance, name: str) -> Values:
        member, home = find_member(holder.kind, name, holder.after)
        behind = unwrap_member(member)
        if behind is not member and not isinstance(member, (staticmethod, classmethod)):
            if inspect.isfunction(behind) and not is_framework_code(behind):
                own = {"self": frozenset([Instance(holder.kind)])}
                found: Values = self.reader.read(behind, home, own)
                return found
            return NOTHING
        return NOTHING if member is None else frozenset([Known(behind)])

    def _evaluate_subscript(self, node: ast.Subscript) -> Values:
        return self.look_up(self.evaluate(node.value), node.slice, node)

    def find_text(self, node: ast.AST) -> Any:
        """Return the value of a literal or a constant, None for any other expression."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and (node.id in self.names or node.id in self.locals):
            return None
        if isinstance(node, ast.Attribute):
            for holder in self.evaluate(node.value):
                if isinstance(holder, Instance):
                    found = find_class_attribute(holder.kind, node.attr)
                    return found if isinstance(found, (str, int)) else None
        value = self.source.find_value(node)
        value = getattr(value, "value", value)
        return value if isinstance(value, (str, int)) else None

    def _evaluate_boolop(self, node: ast.BoolOp) -> Values:
        return frozenset().union(*map(self.evaluate, node.values))

    def _evaluate_ifexp(self, node: ast.IfExp) -> Values:
        self.evaluate(node.test)
        return self.evaluate(node.body) | self.evaluate(node.orelse)

    def _evaluate_namedexpr(self, node: ast.NamedExpr) -> Values:
        values = self.evaluate(node.value)
        self.assign(node.target, values, node.value)
        return values

    def _evaluate_await(self, node: ast.Await) -> Values:
        return self.evaluate(node.value)

    def _evaluate_unaryop(self, node: ast.UnaryOp) -> Values:
        self.evaluate(node.operand)
        return NOTHING

    def _evaluate_compare(self, node: ast.Compare) -> Values:
        is_membership = isinstance(node.ops[0], (ast.In, ast.NotIn))
        for part in node.comparators:
            found = self.evaluate(part)
            if is_membership and any(isinstance(v, PartOfBody) for v in found):
                self.look_up(found, node.left, node)
            if is_membership and FIELDS in found and isinstance(node.left, ast.Name):
                # What goes on is the name of a field.
                self.names[node.left.id] = frozenset([FIELD])
        self.evaluate(node.left)
        return NOTHING

    def _evaluate_dict(self, node: ast.Dict) -> Values:
        spread, texts = NOTHING, list[str]()
        for key, value in zip(node.keys, node.values, strict=True):
            found = self.evaluate(value)
            if key is None:
                spread |= found
            else:
                texts += [v.text for v in self.evaluate(key) if isinstance(v, LiteralText)]
                # The context of a serializer has the request.
                self.open(found - {THE_REQUEST}, value)
        return spread | (frozenset([Texts(tuple(texts))]) if texts else NOTHING)

    def _evaluate_lambda(self, node: ast.Lambda) -> Values:
        self.evaluate(node.body)
        return NOTHING

    def _evaluate_comprehension(self, node: Any) -> Values:
        before = dict(self.names)
        for generator in node.generators:
            self.bind_items(generator.target, generator.iter)
            for test in generator.ifs:
                self.evaluate(test)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        found = frozenset().union(*map(self.evaluate, parts))
        self.names = before
        # [row for row in rows if ...] are items of the same list.
        whole = {PartOfBody(v.root, v.steps[:-1]) for v in found if is_item(v)}
        self.open(frozenset(v for v in found if not is_item(v)) - {THE_REQUEST}, node)
        return frozenset(whole)

    _evaluate_listcomp = _evaluate_setcomp = _evaluate_comprehension
    _evaluate_generatorexp = _evaluate_dictcomp = _evaluate_comprehension
