"""What the expressions of one function may be, and what they do with the request."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from django.conf import settings

from drf_mcp.introspection.findings import write_line
from drf_mcp.introspection.source.members import MISSING, REQUEST, AnyFunctionDef, FunctionSource
from drf_mcp.introspection.source.values import (
    ANY,
    ANYTHING,
    AS_HOOK,
    BODY,
    CONTAINERS,
    FIELD_NAME,
    FILES,
    INITIAL_DATA,
    MOST_TEXTS,
    NONE,
    QUERY,
    SENT,
    SIMPLE,
    THE_CONTEXT,
    THE_FIELDS,
    THE_REQUEST,
    THE_VIEW,
    UNKNOWN,
    Bindings,
    Flow,
    GivenKeywords,
    KnownValue,
    MadeResponse,
    MadeSerializer,
    ModelRows,
    NameOfMember,
    ReadObject,
    RequestPart,
    RunParts,
    SerializedData,
    Values,
    change,
    is_member,
    is_whole,
    join_values_of,
    read_parameters,
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


class ExpressionReader(RunParts):
    """Reads the expressions of one function.

    Attributes:
        names: what the variables may be.
        evaluated: what expressions may be, by the ids of their nodes.
    """

    def __init__(
        self,
        reader: Any,
        function: Any,
        instance: ReadObject | None,
        given: Bindings = NONE,
        flow: Flow = AS_HOOK,
        is_wrapper: bool = False,
    ) -> None:
        self.reader = reader
        self.source = FunctionSource(function)
        self.tree = self.source.tree
        self.function = function
        self.instance = instance
        self.hook, self.is_sure, self.is_dead = flow
        self.is_wrapper = is_wrapper
        self.names: dict[str, Values] = dict(given)
        self.evaluated: dict[int, Values] = {}
        self.returned: dict[Any, None] = {}
        self.inner: list[AnyFunctionDef] = []
        self.returned_inside = self.has_written = self.is_raising = False
        self.line = 1
        # A parameter that a call gives something else is not the request, whatever its name.
        parameters = read_parameters(function) if given and not is_wrapper else ()
        self.others = {each.name for each in parameters}
        first = next(iter(function.__code__.co_varnames), "") if self.tree is not None else ""
        if instance is not None and first in ("self", "cls", "view"):
            self.names.setdefault(first, (instance,))

    @property
    def flow(self) -> Flow:
        return Flow(self.hook, self.is_sure, self.is_dead)

    def tell(self, event: str, *values: Any, **how: Any) -> None:
        self.reader.tell(event, *values, self, **how)

    def learn(self, value: Any, **facts: Any) -> None:
        member = value.member if isinstance(value, RequestPart) else None
        if member is not None and not self.is_dead:
            self.tell("learn", member, **facts)

    @property
    def place(self) -> str:
        """The line that is being read, such as for a finding."""
        code = self.function.__code__
        return write_line(code.co_filename, code.co_firstlineno + self.line - 1)

    def describe_line(self, value: Any) -> str:
        """Return the line that is being read, and what it uses."""
        part = f"request.{value.place}" if is_whole(value) else "the request"
        return f"{self.place} passes {part} on"

    def evaluate(self, node: ast.AST) -> Values:
        """Return what an expression may be; what it reads of the request is said to listeners."""
        self.line = getattr(node, "lineno", self.line)
        method = getattr(self, f"evaluate_{type(node).__name__.lower()}", self.evaluate_parts)
        found: Values = method(node)
        self.evaluated[id(node)] = found
        for value in found if isinstance(node, (ast.Name, ast.Attribute)) else ():
            if isinstance(value, KnownValue):
                self.tell("name", value.value)
        return found

    def escape(self, values: Values) -> None:
        """Take note of values that go where no code is read."""
        if str(self.function.__module__).startswith("drf_mcp."):
            return  # what this package's own views read is declared
        for value in values:
            if isinstance(value, GivenKeywords):
                for _, inner in value.values:
                    self.escape(inner)
            is_whole = value is self.reader.instance or value is THE_REQUEST
            is_part = isinstance(value, (RequestPart, NameOfMember))
            if is_part or (is_whole and not self.is_wrapper):
                self.tell("escape", value)

    def look(self, values: Values) -> Values:
        """Take note of parts that code looks at, and takes nothing of yet."""
        for value in values:
            if isinstance(value, RequestPart):
                self.tell("look", value)
        return values

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
        if node.id in REQUEST and node.id not in self.others:
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
            return self.find_known_attribute(holder, name)
        if isinstance(holder, MadeSerializer) and name == "data":
            return (SerializedData(holder),)
        if holder is THE_VIEW and name in ("action", "basename"):
            return self.get_fact(name)
        if holder is not ANYTHING and holder is not THE_VIEW and name != INITIAL_DATA:
            return UNKNOWN
        named = {"context": THE_CONTEXT, INITIAL_DATA: RequestPart(SENT)}
        named |= dict.fromkeys(REQUEST, THE_REQUEST)
        view = self.reader.get_view() if holder is THE_VIEW and name not in named else None
        if view is not None:
            return self.get_attribute(view, name)
        return (named.get(name, ANYTHING),)

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

    def find_known_attribute(self, known: KnownValue, name: str) -> Values:
        holder: Any = known.value
        if hasattr(holder, "_meta") and name in ("objects", "_default_manager"):
            return (ModelRows(holder, known.attribute),)
        if holder is settings:
            static = getattr(settings, name, MISSING)
        else:
            static = inspect.getattr_static(holder, name, MISSING)
        if hasattr(type(holder), "__members__") or isinstance(static, (staticmethod, classmethod)):
            # The values and members of an enumeration are descriptors.
            static = getattr(holder, name, MISSING)
        return UNKNOWN if static is MISSING else (KnownValue(static, known.attribute),)

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
        spread, keys, values = list[Values](), list[Values](), list[Values]()
        for key, value in zip(node.keys, node.values, strict=True):
            found = self.evaluate(value)
            if key is None:
                spread.append(found)
            else:
                keys.append(self.evaluate(key))
                values.append(found)
                # The context of a serializer has the request.
                self.escape(tuple(each for each in found if each is not THE_REQUEST))
        if spread:
            return change(join_values_of(*spread))
        if not keys or not all(isinstance(key[0], KnownValue) for key in keys):
            return UNKNOWN
        names = [self.reader.use(key[0]) for key in keys]
        chosen = [getattr(each[0], "value", None) if len(each) == 1 else None for each in values]
        try:
            return (KnownValue(dict(zip(names, chosen, strict=True))),)
        except TypeError:
            return UNKNOWN

    def evaluate_subscript(self, node: ast.Subscript) -> Values:
        holders, keys = self.evaluate(node.value), self.evaluate(node.slice)
        if isinstance(node.ctx, ast.Store):
            return UNKNOWN
        if isinstance(node.slice, ast.Slice):
            return holders
        found: Values = self.look_up(holders, keys, node.slice, is_strict=True)
        return found

    def evaluate_joinedstr(self, node: ast.JoinedStr) -> Values:
        texts = [""]
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            found = self.evaluate(inner)
            self.escape(found)
            known = [self.reader.use(v) for v in found if isinstance(v, KnownValue)]
            known = known if len(known) == len(found) else []
            texts = [f"{text}{value}" for text in texts for value in known][:MOST_TEXTS]
        return tuple(map(KnownValue, texts)) or UNKNOWN

    def evaluate_comprehension(self, node: Any) -> Values:
        with self.branch(None):
            iterated = [self.read_generator(each) for each in node.generators]
            parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            found = join_values_of(*map(self.evaluate, parts))
            # [row for row in rows if ...] are items of the same list.
            items = [v for v in found if is_member(v) and v.steps[-1] == ANY]
            self.escape(tuple(v for v in found if v not in items))
        first = node.generators[0].target
        names = [each.id for each in ast.walk(first) if isinstance(each, ast.Name)]
        key = node.key if isinstance(node, ast.DictComp) else None
        whole = join_values_of(*iterated)
        # {name: values[-1] for name, values in query.lists()} is a copy with one value each.
        if isinstance(key, ast.Name) and names[:1] == [key.id]:
            return change(whole) or UNKNOWN
        self.look(whole)
        return tuple(RequestPart(each.place, each.steps[:-1]) for each in items) or UNKNOWN

    evaluate_listcomp = evaluate_setcomp = evaluate_generatorexp = evaluate_comprehension
    evaluate_dictcomp = evaluate_comprehension

    def read_generator(self, generator: ast.comprehension) -> Values:
        values = self.bind_items(generator.target, generator.iter)
        for test in generator.ifs:
            self.evaluate(test)
        return tuple(filter(is_whole, values))

    def bind_items(self, target: ast.expr, iterated: ast.expr) -> Values:
        """Bind the variables of a loop, and return what it goes through."""
        called = iterated.func if isinstance(iterated, ast.Call) else None
        function = getattr(called, "id", "")
        pair = target.elts if isinstance(target, ast.Tuple) else [target]
        if isinstance(iterated, ast.Call) and function == "zip" and len(pair) > 1:
            several = zip(pair, iterated.args, strict=False)
            return join_values_of(*(self.bind_items(*each) for each in several))
        if isinstance(called, ast.Attribute) and called.attr in ("items", "lists", "values"):
            holders = self.evaluate(called.value)
            names, members = self.find_pairs(holders)
            for holder in holders:
                if isinstance(holder, RequestPart):
                    self.tell("go_through", holder)
            if names:
                self.assign(pair[-1], members or UNKNOWN, None)
                if called.attr != "values":
                    self.assign(pair[0], names, None)
                return holders
        holders = self.evaluate(iterated)
        names, members = self.find_pairs(holders)
        is_counted = function == "enumerate" and len(pair) == 2
        self.assign(pair[1] if is_counted else target, (*members, *names) or UNKNOWN, None)
        return holders

    def find_pairs(self, holders: Values) -> tuple[Values, Values]:
        """Return the names of members, or what is in constants, and the members."""
        names, members = list[Any](), list[Any]()
        for holder in holders:
            known = self.reader.use(holder) if isinstance(holder, KnownValue) else None
            if isinstance(holder, RequestPart):
                names.append(FIELD_NAME if holder.is_of_fields else NameOfMember(holder))
                members.append(holder.step(ANY))
            elif holder is THE_FIELDS:
                names.append(FIELD_NAME)
            elif isinstance(holder, NameOfMember):
                names.append(holder)
            elif isinstance(known, CONTAINERS):
                items = [*known][:MOST_TEXTS]
                names += [KnownValue(each) for each in items if isinstance(each, (*SIMPLE, tuple))]
        return tuple(names), tuple(members)

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
                    self.keep(holder, target.attr, values)
                else:
                    self.escape(values)
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
            for index, inner in enumerate(target.elts):
                part = parts[index] if len(parts) == len(target.elts) else None
                inside = find_part(values, index) if part is None else self.evaluated[id(part)]
                self.assign(inner, inside, part)
        else:
            self.evaluate(target)
            holder = self.evaluated.get(id(getattr(target, "value", None)), ())
            # request.data["name"] = value changes the body.
            if not any(isinstance(each, RequestPart) for each in holder):
                self.escape(tuple(each for each in values if each is not THE_REQUEST))

    def keep(self, holder: ReadObject, name: str, values: Values) -> None:
        known = holder.attributes.get(name, ())
        holder.attributes[name] = join_values_of(known, change(values))
        for value in values if name != INITIAL_DATA else ():
            if is_whole(value):
                self.tell("keep", value)

    def keep_answers(self, name: str, values: Values) -> Values:
        # Code that names an answer twice may change its data.
        answers = [v for v in values if isinstance(v, (SerializedData, MadeResponse))]
        if not answers or self.tree is None:
            return values
        loads = [n for n in ast.walk(self.tree) if isinstance(n, ast.Name) and n.id == name]
        is_once = sum(isinstance(n.ctx, ast.Load) for n in loads) == 1
        return values if is_once else UNKNOWN


def find_part(values: Values, index: int) -> Values:
    # for model, name in [(Order, "order"), (Customer, "customer")]
    known = [v.value for v in values if isinstance(v, KnownValue) and isinstance(v.value, tuple)]
    if len(known) < len(values) or any(len(each) <= index for each in known):
        return UNKNOWN
    return tuple(KnownValue(each[index]) for each in known)
