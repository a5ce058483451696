"""What the calls in one function do: the methods they follow, and what they read and look up."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import logging
import re
import sys
from enum import Enum
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Manager, QuerySet
from django.shortcuts import aget_object_or_404, get_list_or_404, get_object_or_404
from rest_framework import generics
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, Serializer

from drf_mcp.introspection.source.members import (
    find_member,
    find_root,
    find_synchronous_name,
    is_framework_code,
    is_harmless,
    is_name,
    is_schema,
    unwrap_member,
)
from drf_mcp.introspection.source.values import (
    ANY,
    ANYTHING,
    BODY,
    FIELD_NAME,
    HOOKS,
    INITIAL_DATA,
    KINDS,
    NONE,
    QUERY,
    THE_CONTEXT,
    THE_FIELDS,
    THE_REQUEST,
    THE_VIEW,
    UNKNOWN,
    VIEWS_CHOICE,
    Bindings,
    GivenArguments,
    GivenKeywords,
    InheritedMembers,
    Keywords,
    KnownValue,
    MadeResponse,
    MadeSerializer,
    ModelRows,
    NameOfMember,
    ReadMethod,
    ReadObject,
    RequestPart,
    RunParts,
    Values,
    bind_arguments,
    find_constant,
    is_dull,
    is_member,
    join_values_of,
)

READERS = frozenset({"get", "getlist", "pop", "setdefault"})
COPIES = frozenset({"copy", "dict", "items", "lists", "__copy__"})
# What changes a copy, or takes nothing.
ADDITIONS = frozenset({"update", "setlist", "setlistdefault", "appendlist", "append", "extend"})
ADDITIONS |= {"clear", "is_valid", "__len__"}
# Methods of texts that compare them.
COMPARING = frozenset({"startswith", "endswith", "removeprefix", "removesuffix"})
TEXT_METHODS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title"})
WRITES = frozenset({"save", "create", "update", "delete", "bulk_create", "bulk_update"})
WRITES |= {f"perform_{name}" for name in ("create", "update", "destroy")}
WRITES |= {"get_or_create", "update_or_create"}
LISTING = frozenset({list, tuple, sorted, reversed, iter, enumerate, set})
LOOKING = frozenset({len, bool, isinstance, type, id, hasattr, callable, any, all, print})
FINDERS = frozenset(
    {get_object_or_404, aget_object_or_404, get_list_or_404, generics.get_object_or_404}
)
# What returns its first argument, or a copy.
RETURNING = frozenset({dict, copy.copy, copy.deepcopy, sync_to_async, async_to_sync, str})
BUILTINS = {*KINDS, getattr, hasattr, json.loads} | LISTING | LOOKING | FINDERS | RETURNING
PARTS = (RequestPart, NameOfMember)
ROW_METHODS = frozenset({"get", "aget", "filter", "exclude", "get_or_create"})
PLAIN = frozenset({"many", "data", "partial", "instance", "context"})


class CallReader(RunParts):
    """Reads the calls of one function."""

    def evaluate_call(self, node: ast.Call) -> Values:
        function = node.func
        if is_name(function, "super") and "super" not in self.names:
            home = self.source.find_outer("__class__")
            return (InheritedMembers(self.instance, home),) if self.instance else UNKNOWN
        if not isinstance(function, ast.Attribute):
            targets = self.evaluate(function)
            given = self.read_arguments(node)
            return join_values_of(*(self.call(target, given) for target in targets))
        holders = self.evaluate(function.value)
        given, name = self.read_arguments(node), function.attr
        if name == "paginate_queryset":
            # The view's own method, or its paginator's: self.paginator.paginate_queryset(...).
            self.tell("call", name)
        if name == "ask":
            self.read_question(given.first)
        if name in COMPARING:
            known = (v for each in given.positional for v in each if isinstance(v, KnownValue))
            self.tell("weigh", [self.reader.use(value) for value in known])
        self.has_written |= name in WRITES
        return join_values_of(*(self.call_method(each, name, given) for each in holders))

    def read_arguments(self, node: ast.Call) -> GivenArguments:
        positional = [self.evaluate(part) for part in node.args[:1]]
        # A class that something is compared with is no class to choose.
        is_test = getattr(node.func, "id", "") in ("isinstance", "issubclass")
        with self.branch(not is_test):
            positional += [self.evaluate(part) for part in node.args[1:]]
        keywords: Keywords = {}
        for each in node.keywords:
            values = self.evaluate(each.value)
            # **kwargs of the function that is read.
            for value in values if each.arg is None else ():
                keywords |= dict(value.values) if isinstance(value, GivenKeywords) else {}
            keywords[each.arg] = join_values_of(
                keywords.get(each.arg, ()),
                tuple(v for v in values if each.arg or not isinstance(v, GivenKeywords)),
            )
        return GivenArguments(node, positional, keywords)

    def escape_all(self, given: GivenArguments) -> Values:
        for values in given.every:
            self.escape(values)
        return UNKNOWN

    def escape_parts(self, given: GivenArguments) -> Values:
        # Code of a framework is given the request, but reads nothing that is not known.
        for values in given.every:
            self.escape(tuple(value for value in values if isinstance(value, PARTS)))
        return UNKNOWN

    def call_method(self, holder: Any, name: str, given: GivenArguments) -> Values:
        if is_member(holder) and name in TEXT_METHODS:
            return (holder,)
        if isinstance(holder, (RequestPart, GivenKeywords)):
            return self.call_part(holder, name, given)
        if isinstance(holder, InheritedMembers):
            return self.call_own(holder.instance, name, given, holder.home)
        if isinstance(holder, ReadObject):
            return self.call_own(holder, name, given)
        if isinstance(holder, KnownValue):
            return self.call_known(holder, name, given)
        if isinstance(holder, ModelRows):
            return self.call_rows(holder, name, given)
        if holder is THE_FIELDS:
            return (THE_FIELDS,) if name in ("keys", "items", "values") else UNKNOWN
        # A serializer finds the request in its context.
        keys = given.first if holder in (ANYTHING, THE_CONTEXT) and name == "get" else ()
        named = [key.value for key in keys if isinstance(key, KnownValue)]
        if "request" in named or "view" in named:
            return (THE_REQUEST,) if "request" in named else (THE_VIEW,)
        view = self.reader.get_view() if holder is THE_VIEW else None
        if view is not None and not is_framework_code(find_member(view.kind, name)):
            return self.call_own(view, name, given)
        return self.escape_all(given)

    def use_for(self, called: Any, given: GivenArguments) -> Any:
        """Return what is called; which it is matters where it is given something."""
        if called.attribute and not all(map(is_dull, given.every)):
            self.reader.asked.add(called.attribute)
        return getattr(called, "value", None)

    def call_known(self, holder: KnownValue, name: str, given: GivenArguments) -> Values:
        if isinstance(holder.value, (Manager, QuerySet)):
            rows = ModelRows(holder.value.model, holder.attribute)
            return self.call_rows(rows, name, given)
        value = self.use_for(holder, given)
        if isinstance(value, logging.Logger):
            return UNKNOWN
        if isinstance(value, dict) and name == "get" and given.positional:
            self.escape_all(given)
            found = self.look_up_table(value, given.first)
            return join_values_of(found, *given.positional[1:])
        targets = self.get_attribute(holder, name)
        return join_values_of(*(self.call(target, given) for target in targets))

    def call_part(self, part: Any, name: str, given: GivenArguments) -> Values:
        is_request = isinstance(part, RequestPart)
        if name in READERS and given.positional:
            default = given.find(1, "default")
            self.escape(default)
            several, strict = name == "getlist", name == "pop" and not default
            return self.look_up((part,), given.first, given.node.args[0], several, default, strict)
        if name in ("items", "lists") and is_request:
            self.tell("go_through", part)
        if name in COPIES:
            return (part,)
        if name == "keys" and is_request:
            return (NameOfMember(part),)
        if name not in ADDITIONS:
            self.escape((part,))
        return self.escape_all(given)

    def look_up(
        self,
        holders: Values,
        keys: Values,
        node: ast.AST,
        several: bool = False,
        default: Values = (),
        is_strict: bool = False,
    ) -> Values:
        """Return what a mapping has under a key."""
        found: list[Any] = []
        self.escape(tuple(key for key in keys if isinstance(key, RequestPart)))
        for holder in holders:
            if not isinstance(holder, RequestPart):
                found += self.look_up_known(holder, keys)
                continue
            how = {"several": several, "default": default, "is_strict": is_strict}
            found += [self.look_up_member(holder, key, node, how) for key in keys]
            found += default
        return tuple(dict.fromkeys(found)) or UNKNOWN

    def look_up_member(self, holder: Any, key: Any, node: ast.AST, how: dict[str, Any]) -> Any:
        name = self.reader.use(key) if isinstance(key, KnownValue) else None
        if isinstance(name, str):
            self.tell("take", holder, name, **how)
            return holder.step(name)
        if not isinstance(key, KnownValue) and key is not FIELD_NAME:
            self.tell("compute", holder, ast.unparse(node))
        return holder.step(ANY)

    def look_up_known(self, holder: Any, keys: Values) -> Values:
        names = [self.reader.use(key) for key in keys if isinstance(key, KnownValue)]
        if isinstance(holder, KnownValue):
            value = self.reader.use(holder)
            return self.look_up_table(value, keys) if isinstance(value, dict) else UNKNOWN
        inside = dict(holder.values) if isinstance(holder, GivenKeywords) else {}
        if found := [inside[name] for name in names if name in inside]:
            return join_values_of(*found)
        if "QUERY_STRING" in names:
            self.escape((RequestPart(QUERY),))
        if "request" in names:
            return (THE_REQUEST,)
        return (THE_VIEW,) if "view" in names else UNKNOWN

    def look_up_table(self, table: dict[Any, Any], keys: Values) -> Values:
        self.tell_literals(keys, tuple(table))
        known = [key.value for key in keys if isinstance(key, KnownValue) and key.value in table]
        if len(known) < len(keys):
            self.tell("weigh", [*table])
            known = [*table]
        found = [table[key] for key in known]
        classes = tuple(KnownValue(each) for each in found if inspect.isclass(each))
        for each in classes:
            self.tell("name", each.value)
        return classes or UNKNOWN

    def bind(self, function: Any, given: GivenArguments, **how: Any) -> Bindings:
        bound, lost = bind_arguments(function, given, **how)
        self.escape(tuple(v for values in lost for v in values if isinstance(v, PARTS)))
        return bound

    # --- Methods of the class that is read --------------------------------------------------------

    def call_own(
        self, instance: ReadObject, name: str, given: GivenArguments, after: type | None = None
    ) -> Values:
        is_view = instance is self.reader.instance
        is_known = is_view and find_synchronous_name(name) in HOOKS
        self.use_for(instance, given)
        if is_view:
            self.tell("call", find_synchronous_name(name))
            self.reader.asked.add(name)
        if name == "get_initial" and issubclass(instance.kind, BaseSerializer):
            return (RequestPart(INITIAL_DATA, is_of_fields=True),)
        member = find_member(instance.kind, name, after)
        if inspect.isclass(member):
            return self.call(KnownValue(member, name), given)
        made: Values = ()
        if is_known and name == "get_serializer":
            made = self.make(None, given)
        if name == "get_paginated_response" and given.positional:
            made = (MadeResponse(given.first, is_page=True),)
        function = unwrap_member(member)
        if not inspect.isfunction(function):
            # The hook of a framework may be a mixin's that another class brings, and the method of
            # a field that makes the URL of a row is an attribute of each instance.
            if made or after is not None:
                return made or UNKNOWN
            is_stock = name == "reverse" or is_known
            return self.escape_parts(given) if is_stock else self.escape_all(given)
        if not is_view and is_harmless(function):
            return self.escape_parts(given)
        flow = self.flow.enter(name) if is_known or self.hook else self.flow
        bound = NONE
        if not is_framework_code(function):
            skip = not isinstance(member, staticmethod)
            bound = self.bind(function, given, is_method=True, skip=skip)
        if is_view:
            self.reader.followed.add(name)
        found = self.reader.follow(function, instance, bound, flow)
        if is_view and name == "get_serializer_class":
            made = (VIEWS_CHOICE,)
        if is_known and bound == NONE and not made:
            self.escape_parts(given)
        return made or found

    def make(self, kind: Any, given: GivenArguments, attribute: str = "") -> Values:
        is_form = kind is not None and not issubclass(kind, BaseSerializer)
        keywords = given.keywords
        data = given.find(0, "data") if is_form else keywords.get("data", ())
        self.tell("make", kind, keywords, attribute=attribute, data=data)
        others = [values for name, values in keywords.items() if name not in ("data", "context")]
        parts = (v for each in (*given.positional[1:], *others) for v in each)
        # A form is given the files, too.
        (self.look if is_form else self.escape)(tuple(v for v in parts if isinstance(v, PARTS)))
        if is_form:
            return UNKNOWN
        is_plain = keywords.keys() <= PLAIN and len(given.positional) < 2
        many = find_constant(keywords.get("many"))
        return (MadeSerializer(kind, many, is_plain and not attribute),)

    def read_question(self, asked: Values) -> None:
        for value in asked:
            kind = value.value if isinstance(value, KnownValue) else None
            if inspect.isclass(kind) and issubclass(kind, Serializer):
                self.tell("ask", kind)

    # --- Functions and classes --------------------------------------------------------------------

    def call(self, target: Any, given: GivenArguments) -> Values:
        if isinstance(target, ReadMethod):
            return self.call_own(target.instance, target.name, given)
        if target is VIEWS_CHOICE:
            return self.make(None, given)
        value = self.use_for(target, given) if isinstance(target, KnownValue) else None
        if not callable(value):
            return self.escape_all(given)
        try:
            is_builtin = value in BUILTINS and bool(given.positional)
        except TypeError:  # without a hash
            return self.escape_all(given)
        if is_builtin and not (value is dict and given.keywords):
            return self.call_builtin(value, given)
        is_class = inspect.isclass(value)
        return self.construct(target, given) if is_class else self.call_function(value, given)

    def call_builtin(self, function: Any, given: GivenArguments) -> Values:
        first = given.first
        if function in KINDS:
            self.escape_all(given)
            for member in first:
                self.learn(member, kind=KINDS[function])
            return first
        if function in (getattr, hasattr):
            return self.read_getattr(function, given)
        if function is json.loads:
            is_body = RequestPart(BODY) in first
            return (RequestPart(BODY, is_same=False),) if is_body else self.escape_parts(given)
        if function in LOOKING:
            self.look(join_values_of(*given.positional) if function is not bool else ())
            return UNKNOWN
        if function in FINDERS:
            return self.find_row(given)
        if function in LISTING:
            self.look(first)
        if function is str:
            self.escape(first)
        return first

    def read_getattr(self, function: Any, given: GivenArguments) -> Values:
        holders, keys = given.first, given.find(1, "name")
        names = [self.reader.use(key) for key in keys if isinstance(key, KnownValue)]
        if len(names) != len(keys) or not names:
            self.escape(holders)
            return UNKNOWN
        if function is hasattr:
            return UNKNOWN
        default = given.positional[2:]
        if not default and holders == (THE_VIEW,):
            # hasattr() asks before whether the view has it.
            view = self.reader.get_view()
            if view is not None and not any(hasattr(view.kind, name) for name in names):
                return ()
        found = [self.get_attribute(each, name) for each in holders for name in names]
        # What has no such attribute has the default.
        unknown = [each for each in found if ANYTHING in each or THE_REQUEST in holders]
        known = [each for each in found if ANYTHING not in each]
        return join_values_of(*known, *(default or [UNKNOWN] if unknown else []))

    def construct(self, target: KnownValue, given: GivenArguments) -> Values:
        kind: Any = target.value
        if is_schema(kind):
            return self.make(self.reader.use(target), given, target.attribute)
        if issubclass(kind, Enum) and given.positional:
            self.tell_literals(given.first, [each.value for each in kind])
            return given.first
        if issubclass(kind, Response):
            self.escape_parts(given)
            status = given.find(1, "status")
            codes = [each.value if isinstance(each, KnownValue) else None for each in status]
            code = codes[0] if len(codes) == 1 else None
            is_error = code >= 400 if isinstance(code, int) else (None if status else False)
            return (MadeResponse(given.find(0, "data"), is_error),)
        function = find_member(kind, "__init__")
        made = ReadObject(kind, target.attribute)
        if is_harmless(kind) or is_framework_code(function):
            self.escape_parts(given)
        elif inspect.isfunction(function):
            if bound := self.bind(function, given, skip=True):
                self.reader.follow(function, made, bound, self.flow)
        else:
            self.escape_all(given)
        return (made,)

    def call_function(self, function: Any, given: GivenArguments) -> Values:
        if is_harmless(function):
            return self.escape_parts(given)
        if not inspect.isfunction(function) or find_root(function) in sys.stdlib_module_names:
            return self.escape_all(given)
        follow = self.reader.follow
        if any(isinstance(each, ast.Starred) for each in given.node.args) and self.instance:
            # A decorator hands all on, the view and the request too.
            return follow(function, self.instance, NONE, self.flow)  # type: ignore[no-any-return]
        bound = self.bind(function, given, skip=False)
        if bound or self.reader.follows_all:
            return follow(function, None, bound, self.flow)  # type: ignore[no-any-return]
        return UNKNOWN

    # --- Rows -------------------------------------------------------------------------------------

    def call_rows(self, rows: ModelRows, name: str, given: GivenArguments) -> Values:
        self.use_for(rows, given)
        self.call_manager(rows.model, name, given)
        if name in ROW_METHODS:
            self.read_keys(rows, given, is_key=name in ("get", "aget"))
        return (rows,) if name not in ("get", "first", "last", "create") else UNKNOWN

    def call_manager(self, model: Any, name: str, given: GivenArguments) -> None:
        # A project's own method of a manager may be given the request.
        kind = getattr(model._default_manager, "_queryset_class", QuerySet)
        for owner in (kind, type(model._default_manager)):
            function = find_member(owner, name)
            if inspect.isfunction(function) and not is_harmless(function):
                if bound := self.bind(function, given, skip=True):
                    self.reader.follow(function, ReadObject(owner), bound, self.flow)
                return
        self.escape_parts(given)

    def read_keys(self, rows: ModelRows, given: GivenArguments, *, is_key: bool) -> None:
        for lookup, values in given.keywords.items():
            members = list(filter(is_member, values))
            found = find_key(rows.model, lookup or "", is_key) if members else None
            if found is not None:
                if rows.attribute:
                    self.reader.asked.add(rows.attribute)
                for member in members:
                    self.learn(member, rows={found: None})

    def find_row(self, given: GivenArguments) -> Values:
        for value in given.first:
            known, attribute = getattr(value, "value", value), getattr(value, "attribute", "")
            model = getattr(known, "model", known)
            if hasattr(model, "_meta"):
                self.read_keys(ModelRows(model, attribute), given, is_key=True)
        return self.escape_parts(given)


def find_key(model: Any, lookup: str, is_key: bool) -> tuple[Any, str] | None:
    """Return the model of the row that a lookup finds, and the key; None for other lookups.

    Args:
        is_key: whether the lookup finds one row, whatever its field.
    """
    name = re.sub(r"__(iexact|exact|in)\Z", "", lookup)
    if name == "pk":
        return model, name
    try:
        found = model._meta.get_field(name.removesuffix("_id"))
    except FieldDoesNotExist:
        return None
    if found.related_model is not None:
        return (found.related_model, "pk") if found.many_to_one or found.one_to_one else None
    if getattr(found, "primary_key", False):
        return model, "pk"
    return (model, name) if is_key or getattr(found, "unique", False) else None
