"""What the expressions of one function may be, and what they do with the request."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import Any

from django.conf import settings

from drf_mcp.introspection.source.trees import MISSING, REQUEST, AnyFunctionDef, FunctionSource
from drf_mcp.introspection.source.values import (
    ANYTHING,
    AS_HOOK,
    BODY,
    FILES,
    NONE,
    QUERY,
    SIMPLE,
    THE_REQUEST,
    THE_VIEW,
    UNKNOWN,
    Bindings,
    Comparison,
    Flow,
    KnownValue,
    MadeResponse,
    MadeSerializer,
    ModelRows,
    ReadObject,
    RequestMember,
    RequestPart,
    RunParts,
    SerializedData,
    Values,
    change,
    invert,
    join_values_of,
)

PARTS = {
    "query_params": QUERY,
    "GET": QUERY,
    "data": BODY,
    "POST": BODY,
    "body": BODY,
    "stream": BODY,
    "FILES": FILES,
}
CONTAINERS = (tuple, list, dict, set, frozenset)
EQUAL, OTHER = (ast.Eq, ast.In, ast.Is), (ast.NotEq, ast.NotIn, ast.IsNot)


class ExpressionReader(RunParts):
    """Reads the expressions of one function.

    Attributes:
        names: what the variables may be.
        evaluated: what expressions may be, by the ids of their nodes.
        comparisons: the comparisons of members with literals, by the ids of their nodes.
        presences: the members that tests such as ``"name" in request.data`` look for.
    """

    def __init__(
        self,
        reader: Any,
        function: Any,
        home: type | None,
        instance: ReadObject | None,
        given: Bindings = NONE,
        flow: Flow = AS_HOOK,
        is_wrapper: bool = False,
    ) -> None:
        self.reader = reader
        self.source = FunctionSource(function)
        self.tree = self.source.tree
        self.function = function
        self.home = home
        self.instance = instance
        self.hook, self.is_sure, self.is_dead, self.depth = flow
        self.is_wrapper = is_wrapper
        self.names: dict[str, Values] = dict(given)
        self.evaluated: dict[int, Values] = {}
        self.comparisons: dict[int, Comparison] = {}
        self.presences: dict[int, Values] = {}
        self.present: frozenset[RequestMember] = frozenset()
        self.returned: dict[Any, None] = {}
        self.inner: list[AnyFunctionDef] = []
        self.returned_inside = self.has_written = False
        self.line = 1
        first = next(iter(function.__code__.co_varnames), "") if self.tree is not None else ""
        if instance is not None and first in ("self", "cls", "view"):
            self.names.setdefault(first, (instance,))

    @property
    def flow(self) -> Flow:
        return Flow(self.hook, self.is_sure, self.is_dead, self.depth + 1)

    def tell(self, event: str, *values: Any, **how: Any) -> None:
        self.reader.tell(event, *values, self, **how)

    def describe_line(self, value: Any) -> str:
        """Return the line that is being read, and what it uses, such as for a finding."""
        code = self.function.__code__
        number = code.co_firstlineno + self.line - 1
        path = "/".join(code.co_filename.split("/")[-2:])
        part = f"request.{value.place}" if isinstance(value, RequestPart) else "the request"
        return f"{path}:{number} passes {part} on"

    def evaluate(self, node: ast.AST) -> Values:
        """Return what an expression may be; what it reads of the request is said to listeners."""
        self.line = getattr(node, "lineno", self.line)
        method = getattr(self, f"evaluate_{type(node).__name__.lower()}", self.evaluate_parts)
        found: Values = method(node)
        self.evaluated[id(node)] = found
        return found

    def escape(self, values: Values) -> None:
        """Take note of values that go where no code is read."""
        if str(self.function.__module__).startswith("drf_mcp."):
            return  # what this package's own views read is declared
        for value in values:
            is_view = value is self.reader.instance
            if isinstance(value, RequestPart) or (
                (is_view or value is THE_REQUEST) and not self.is_wrapper
            ):
                self.tell("escape", value)

    def evaluate_parts(self, node: ast.AST) -> Values:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.escape(self.evaluate(part))
        return UNKNOWN

    # --- Names and attributes ---------------------------------------------------------------------

    def evaluate_constant(self, node: ast.Constant) -> Values:
        return (KnownValue(node.value),)

    def evaluate_name(self, node: ast.Name) -> Values:
        if node.id in self.names:
            return self.names[node.id]
        if node.id in REQUEST:
            return (THE_REQUEST,)
        value = self.source.find_outer(node.id)
        if value is MISSING:
            return (THE_VIEW,) if node.id == "view" else UNKNOWN
        return (KnownValue(value),)

    def evaluate_attribute(self, node: ast.Attribute) -> Values:
        holders = self.evaluate(node.value)
        return join_values_of(*(self.get_attribute(holder, node.attr) for holder in holders))

    def get_attribute(self, holder: Any, name: str) -> Values:
        if holder is THE_REQUEST:
            return self.find_request_attribute(name)
        if isinstance(holder, ReadObject):
            found: Values = self.reader.get_attribute(holder, name, self.flow)
            return found
        if isinstance(holder, KnownValue):
            return self.find_known_attribute(self.reader.use(holder), name)
        if isinstance(holder, MadeSerializer) and name == "data":
            return (SerializedData(holder),)
        if holder is THE_VIEW and name in ("action", "basename"):
            return self.get_fact(name)
        is_holder = holder is ANYTHING or holder is THE_VIEW
        return (THE_REQUEST,) if is_holder and name in REQUEST else UNKNOWN

    def find_request_attribute(self, name: str) -> Values:
        if name in REQUEST:
            return (THE_REQUEST,)
        if name in PARTS:
            self.tell("touch", PARTS[name] if name != "POST" else "form")
            return (RequestPart(PARTS[name]),)
        return self.get_fact(name) if name == "method" else UNKNOWN

    def get_fact(self, name: str) -> Values:
        self.reader.facts_asked = True
        value = self.reader.facts.get(name)
        return (KnownValue(value, is_fact=True),) if value else UNKNOWN

    def find_known_attribute(self, holder: Any, name: str) -> Values:
        if isinstance(holder, type) and self.by_class(holder):
            found: Values = self.reader.get_attribute(self.reader.instance, name, self.flow)
            return found
        if hasattr(holder, "_meta") and name in ("objects", "_default_manager"):
            return (ModelRows(holder),)
        if holder is settings:
            static = getattr(settings, name, MISSING)
        else:
            static = inspect.getattr_static(holder, name, MISSING)
        if hasattr(type(holder), "__members__") or isinstance(static, (staticmethod, classmethod)):
            # The values and members of an enumeration are descriptors.
            static = getattr(holder, name, MISSING)
        return UNKNOWN if static is MISSING else (KnownValue(static),)

    def by_class(self, holder: type) -> bool:
        return self.instance is self.reader.instance and holder is self.reader.owner

    # --- Containers -------------------------------------------------------------------------------

    def evaluate_tuple(self, node: ast.Tuple | ast.List | ast.Set) -> Values:
        parts = [self.evaluate(part) for part in node.elts]
        if all(len(part) == 1 and isinstance(part[0], KnownValue) for part in parts):
            return (KnownValue(tuple(self.reader.use(part[0]) for part in parts)),)
        for part in parts:
            self.escape(part)
        return UNKNOWN

    evaluate_list = evaluate_set = evaluate_tuple

    def evaluate_dict(self, node: ast.Dict) -> Values:
        spread: list[Values] = []
        for key, value in zip(node.keys, node.values, strict=True):
            found = self.evaluate(value)
            if key is None:
                spread.append(found)
            else:
                self.evaluate(key)
                # The context of a serializer has the request.
                self.escape(tuple(each for each in found if each is not THE_REQUEST))
        if spread:
            return change(join_values_of(*spread))
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        return (
            (KnownValue(dict.fromkeys(keys)),) if keys and len(keys) == len(node.keys) else UNKNOWN
        )

    def evaluate_subscript(self, node: ast.Subscript) -> Values:
        holders, keys = self.evaluate(node.value), self.evaluate(node.slice)
        if isinstance(node.ctx, ast.Store):
            return UNKNOWN
        found: Values = self.look_up(holders, keys, node.slice, is_strict=True)
        return found

    def evaluate_joinedstr(self, node: ast.JoinedStr) -> Values:
        texts = [""]
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            found = self.evaluate(inner)
            self.escape(found)
            if len(found) != 1 or not isinstance(found[0], KnownValue):
                texts = []
            value = self.reader.use(found[0]) if texts else None
            texts = [f"{text}{value}" for text in texts]
        return (KnownValue(texts[0]),) if texts else UNKNOWN

    def evaluate_comprehension(self, node: Any) -> Values:
        with self.branch(None):
            iterated = [self.read_generator(each) for each in node.generators]
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            for part in parts:
                self.escape(self.evaluate(part))
        first = node.generators[0].target
        names = [each.id for each in ast.walk(first) if isinstance(each, ast.Name)]
        key = node.key if isinstance(node, ast.DictComp) else None
        whole = join_values_of(*iterated)
        # {name: values[-1] for name, values in query.lists()} is a copy with one value each.
        if isinstance(key, ast.Name) and names[:1] == [key.id]:
            return change(whole) or UNKNOWN
        self.escape(whole)
        return UNKNOWN

    evaluate_listcomp = evaluate_setcomp = evaluate_generatorexp = evaluate_comprehension
    evaluate_dictcomp = evaluate_comprehension

    def read_generator(self, generator: ast.comprehension) -> Values:
        values = self.evaluate(generator.iter)
        self.assign_items(generator.target, generator.iter, values)
        for test in generator.ifs:
            self.evaluate(test)
        return tuple(each for each in values if isinstance(each, RequestPart))

    def assign_items(self, target: ast.expr, iterated: ast.AST, values: Values) -> None:
        """Bind the variable of a loop."""
        items: Values = UNKNOWN
        for value in values:
            known = self.reader.use(value) if isinstance(value, KnownValue) else None
            if isinstance(known, (tuple, list, dict, set, frozenset)) and isinstance(
                target, ast.Name
            ):
                items = (
                    tuple(KnownValue(each) for each in known if isinstance(each, SIMPLE)) or items
                )
            elif isinstance(value, RequestMember):
                items = (value,)
        self.assign(target, items, None)

    def evaluate_lambda(self, node: ast.Lambda) -> Values:
        with self.branch(None):
            for argument in node.args.args:
                if argument.arg not in REQUEST:
                    self.names[argument.arg] = UNKNOWN
            self.escape(self.evaluate(node.body))
        return UNKNOWN

    def evaluate_starred(self, node: ast.Starred) -> Values:
        return self.evaluate(node.value)

    evaluate_await = evaluate_starred

    def evaluate_namedexpr(self, node: ast.NamedExpr) -> Values:
        self.assign(node.target, self.evaluate(node.value), node.value)
        return self.names.get(node.target.id, UNKNOWN)

    def assign(self, target: ast.expr, values: Values, source: ast.AST | None) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = self.keep_answers(target.id, change(values))
        elif isinstance(target, ast.Attribute):
            for holder in self.evaluate(target.value):
                if isinstance(holder, ReadObject):
                    holder.attributes[target.attr] = join_values_of(
                        holder.attributes.get(target.attr, ()), change(values)
                    )
                else:
                    self.escape(values)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
            for index, inner in enumerate(target.elts):
                part = parts[index] if len(parts) == len(target.elts) else None
                self.assign(inner, UNKNOWN if part is None else self.evaluated[id(part)], part)
        else:
            self.evaluate(target)
            self.escape(tuple(each for each in values if isinstance(each, RequestPart)))

    def keep_answers(self, name: str, values: Values) -> Values:
        # Code that names an answer twice may change its data.
        answers = [v for v in values if isinstance(v, (SerializedData, MadeResponse))]
        if not answers or self.tree is None:
            return values
        loads = [n for n in ast.walk(self.tree) if isinstance(n, ast.Name) and n.id == name]
        is_once = sum(isinstance(n.ctx, ast.Load) for n in loads) == 1
        return values if is_once else UNKNOWN

    # --- Tests ------------------------------------------------------------------------------------

    def evaluate_boolop(self, node: ast.BoolOp) -> Values:
        found: list[Values] = []
        stop = not isinstance(node.op, ast.And)
        truths: list[bool | None] = []
        for part in node.values:
            # The rest is read where the part before lets it.
            live = None if None in truths else stop not in truths
            with self.branch(live if truths else True):
                found.append(self.evaluate(part))
            truths.append(self.find_truth(found[-1]))
        if stop:
            self.tell_default(found)
        if stop in truths or None not in truths:
            return (KnownValue(stop in truths if stop else stop not in truths, is_fact=True),)
        return join_values_of(*found)

    def tell_default(self, parts: list[Values]) -> None:
        # request.data.get("by") or "status"
        last = parts[-1][0] if len(parts[-1]) == 1 else None
        for member in parts[0] if isinstance(last, KnownValue) else ():
            if isinstance(member, RequestMember) and not self.is_dead:
                self.tell("fall_back", member, last)

    def evaluate_ifexp(self, node: ast.IfExp) -> Values:
        truth = self.find_truth(self.evaluate(node.test))
        found = []
        for part, is_taken in ((node.body, truth), (node.orelse, invert(truth))):
            with self.branch(is_taken):
                values = self.evaluate(part)
            found += [values] if is_taken is not False else []
        return join_values_of(*found)

    def evaluate_unaryop(self, node: ast.UnaryOp) -> Values:
        truth = self.find_truth(self.evaluate(node.operand))
        if truth is None or not isinstance(node.op, ast.Not):
            return UNKNOWN
        return (KnownValue(not truth, is_fact=True),)

    def find_truth(self, values: Values) -> bool | None:
        """Return whether a test is true for every call of the action, None where calls differ."""
        facts = [v for v in values if isinstance(v, KnownValue) and v.is_fact]
        return bool(facts[0].value) if len(facts) == len(values) == 1 else None

    def evaluate_compare(self, node: ast.Compare) -> Values:
        left = self.evaluate(node.left)
        rights = [self.evaluate(part) for part in node.comparators]
        right, operator = rights[0], node.ops[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            parts = tuple(value for value in right if isinstance(value, RequestPart))
            found = self.look_up(parts, left, node.left, is_test=True) if parts else ()
            self.presences[id(node)] = found
        if len(rights) > 1:
            return UNKNOWN
        return self.compare(node, left, right, operator)

    def compare(self, node: ast.AST, left: Values, right: Values, operator: ast.cmpop) -> Values:
        if not isinstance(operator, (*EQUAL, *OTHER)):
            return UNKNOWN
        is_positive, is_in = isinstance(operator, EQUAL), isinstance(operator, (ast.In, ast.NotIn))
        known = [value for value in (*left, *right) if isinstance(value, KnownValue)]
        if len(known) == len(left) + len(right) == 2 and any(each.is_fact for each in known):
            one, other = map(self.reader.use, known)
            try:
                is_equal = one in other if is_in else one == other
            except TypeError:
                return UNKNOWN
            return (KnownValue(is_equal is is_positive, is_fact=True),)
        if any(isinstance(v, RequestMember) for v in right) and not is_in:
            left, right = right, left
        members = tuple(value for value in left if isinstance(value, RequestMember))
        literals = self.list_literals(right, is_in=is_in)
        if members and literals:
            comparison = Comparison(members, literals, is_positive)
            self.comparisons[id(node)] = comparison
            self.tell_comparison(comparison)
        return UNKNOWN

    def list_literals(self, values: Values, *, is_in: bool) -> tuple[Any, ...]:
        if len(values) != 1 or not isinstance(values[0], KnownValue):
            return ()
        value = self.reader.use(values[0])
        if not is_in:
            value = (getattr(value, "value", value),)
        if not isinstance(value, CONTAINERS):
            return ()
        items = [getattr(each, "value", each) for each in value]
        items = sorted(items, key=str) if isinstance(value, (set, frozenset)) else items
        fit = all(isinstance(item, (str, int)) for item in items)
        return tuple(items) if fit else ()

    def tell_comparison(self, comparison: Comparison, *, is_closed: bool = False) -> None:
        self.tell_literals(comparison.members, comparison.literals, is_closed=is_closed)

    def tell_literals(self, values: Values, literals: Iterable[Any], *, is_closed: bool) -> None:
        every = tuple(literals)
        for member in values:
            if isinstance(member, RequestMember) and every and not self.is_dead:
                self.tell("compare", member, every)
                if is_closed and (self.is_sure or member in self.present):
                    self.tell("close", member, every)

    def need(self, values: Values) -> None:
        members = [value for value in values if isinstance(value, RequestMember)]
        others = [value for value in values if not isinstance(value, RequestMember)]
        is_empty = all(isinstance(v, KnownValue) and not v.value for v in others)
        if len(members) == 1 and is_empty and self.is_sure and not self.is_dead:
            self.tell("need", members[0])

    def branch(self, truth: bool | None) -> Any:
        raise NotImplementedError
