"""What the calls in one function do: the methods they follow, and the members they read."""

from __future__ import annotations

import ast
import copy
import inspect
import json
import logging
import sys
from enum import Enum
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
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
COPIERS = (dict, copy.copy, copy.deepcopy)
LISTING = (list, tuple, sorted, reversed, iter, enumerate, set)
LOOKING = (len, bool, isinstance, type, id, hasattr, callable, any, all, print)
TWINS = (sync_to_async, async_to_sync)
FINDERS = (get_object_or_404, aget_object_or_404, get_list_or_404, generics.get_object_or_404)
PARTS = (RequestPart, NameOfMember)
PLAIN = frozenset({"many", "data", "partial", "instance", "context"})


class CallReader(RunParts):
    """Reads the calls of one function."""

    def evaluate_call(self, node: ast.Call) -> Values:
        function = node.func
        if is_name(function, "super") and "super" not in self.names:
            return (InheritedMembers(self.instance, self.home),) if self.instance else UNKNOWN
        if not isinstance(function, ast.Attribute):
            targets = self.evaluate(function)
            positional, keywords = self.read_arguments(node)
            return join_values_of(
                *(self.call(target, node, positional, keywords) for target in targets)
            )
        holders = self.evaluate(function.value)
        positional, keywords = self.read_arguments(node)
        name = function.attr
        if name == "paginate_queryset":
            # The view's own method, or its paginator's: self.paginator.paginate_queryset(...).
            self.tell("call", name)
        if name == "ask" and positional:
            self.read_question(positional[0])
        if name in COMPARING:
            known = (v for each in positional for v in each if isinstance(v, KnownValue))
            self.tell("weigh", [self.reader.use(value) for value in known])
        self.has_written |= name in WRITES
        return join_values_of(
            *(self.call_method(each, name, node, positional, keywords) for each in holders)
        )

    def read_arguments(self, node: ast.Call) -> tuple[list[Values], Keywords]:
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
        return positional, keywords

    def escape_all(self, positional: list[Values], keywords: Keywords) -> Values:
        for values in (*positional, *keywords.values()):
            self.escape(values)
        return UNKNOWN

    def escape_parts(self, positional: list[Values], keywords: Keywords) -> Values:
        # Code of a framework is given the request, but reads nothing that is not known.
        for values in (*positional, *keywords.values()):
            self.escape(tuple(value for value in values if isinstance(value, PARTS)))
        return UNKNOWN

    def call_method(
        self, holder: Any, name: str, node: ast.Call, positional: list[Values], keywords: Keywords
    ) -> Values:
        if is_member(holder) and name in TEXT_METHODS:
            return (holder,)
        if isinstance(holder, (RequestPart, GivenKeywords)):
            return self.call_part(holder, name, node, positional, keywords)
        if isinstance(holder, InheritedMembers):
            return self.call_own(holder.instance, name, node, positional, keywords, holder.home)
        if isinstance(holder, ReadObject):
            return self.call_own(holder, name, node, positional, keywords)
        if isinstance(holder, KnownValue):
            return self.call_known(holder, name, node, positional, keywords)
        if isinstance(holder, ModelRows):
            found: Values = self.call_rows(holder, name, positional, keywords)
            return found
        if holder is THE_FIELDS:
            return (THE_FIELDS,) if name in ("keys", "items", "values") else UNKNOWN
        # A serializer finds the request in its context.
        is_mapping = holder in (ANYTHING, THE_CONTEXT) and name == "get" and bool(positional)
        keys = positional[0] if is_mapping else ()
        named = [key.value for key in keys if isinstance(key, KnownValue)]
        if "request" in named or "view" in named:
            return (THE_REQUEST,) if "request" in named else (THE_VIEW,)
        view = self.reader.get_view() if holder is THE_VIEW else None
        if view is not None and not is_framework_code(find_member(view.kind, name)[0]):
            return self.call_own(view, name, node, positional, keywords)
        return self.escape_all(positional, keywords)

    def use_for(self, called: Any, positional: list[Values], keywords: Keywords) -> Any:
        """Return what is called; which it is matters where it is given something."""
        is_given = not all(map(is_dull, (*positional, *keywords.values())))
        if called.attribute and is_given:
            self.reader.asked.add(called.attribute)
        return getattr(called, "value", None)

    def call_known(
        self,
        holder: KnownValue,
        name: str,
        node: ast.Call,
        positional: list[Values],
        keywords: Keywords,
    ) -> Values:
        if isinstance(holder.value, (Manager, QuerySet)):
            rows = ModelRows(holder.value.model, holder.attribute)
            found: Values = self.call_rows(rows, name, positional, keywords)
            return found
        value = self.use_for(holder, positional, keywords)
        if isinstance(value, logging.Logger):
            return UNKNOWN
        if isinstance(value, dict) and name == "get" and positional:
            self.escape_all(positional, keywords)
            return join_values_of(self.look_up_table(value, positional[0]), *positional[1:])
        targets = self.get_attribute(holder, name)
        return join_values_of(*(self.call(t, node, positional, keywords) for t in targets))

    def call_part(
        self, part: Any, name: str, node: ast.Call, positional: list[Values], keywords: Keywords
    ) -> Values:
        if name in READERS and node.args:
            default = positional[1] if len(positional) > 1 else keywords.get("default", ())
            several, strict = name == "getlist", name == "pop" and not default
            self.escape(default)
            return self.look_up(
                (part,), positional[0], node.args[0], several, default, is_strict=strict
            )
        if name in ("items", "lists") and not isinstance(part, GivenKeywords):
            self.tell("go_through", part)
        if name in COPIES:
            return (part,)
        if name == "keys" and not isinstance(part, GivenKeywords):
            return (NameOfMember(part),)
        if name not in ADDITIONS:
            self.escape((part,))
        return self.escape_all(positional, keywords)

    def look_up(
        self,
        holders: Values,
        keys: Values,
        node: ast.AST,
        several: bool = False,
        default: Values = (),
        *,
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
        if isinstance(holder, GivenKeywords):
            given = dict(holder.values)
            if found := [given[name] for name in names if name in given]:
                return join_values_of(*found)
        if "request" in names and not isinstance(holder, KnownValue):
            return (THE_REQUEST,)
        if "QUERY_STRING" in names and not isinstance(holder, KnownValue):
            self.escape((RequestPart(QUERY),))
        if "view" in names and not isinstance(holder, KnownValue):
            return (THE_VIEW,)
        value = self.reader.use(holder) if isinstance(holder, KnownValue) else None
        return self.look_up_table(value, keys) if isinstance(value, dict) else UNKNOWN

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

    def bind(
        self, function: Any, positional: list[Values], keywords: Keywords, **how: Any
    ) -> Bindings:
        given, lost = bind_arguments(function, positional, keywords, **how)
        self.escape_parts(lost, {})
        return given

    # --- Methods of the class that is read --------------------------------------------------------

    def call_own(
        self,
        instance: ReadObject,
        name: str,
        node: ast.Call,
        positional: list[Values],
        keywords: Keywords,
        after: type | None = None,
    ) -> Values:
        is_view = instance is self.reader.instance
        self.use_for(instance, positional, keywords)
        if is_view:
            self.tell("call", find_synchronous_name(name))
            self.reader.asked.add(name)
        if name == "get_initial" and issubclass(instance.kind, BaseSerializer):
            return (RequestPart(INITIAL_DATA, is_of_fields=True),)
        member, home = find_member(instance.kind, name, after)
        if inspect.isclass(member):
            return self.call(KnownValue(member, name), node, positional, keywords)
        function = unwrap_member(member)
        made: Values = ()
        is_known = is_view and find_synchronous_name(name) in HOOKS
        if is_known and name == "get_serializer":
            made = self.make(None, positional, keywords)
        if name == "get_paginated_response" and positional:
            made = (MadeResponse(positional[0], is_page=True),)
        if not inspect.isfunction(function):
            # The method of a field that makes the URL of a row is an attribute of each instance.
            is_known_attribute = name == "reverse" or is_known
            if after is not None:
                # The hook of a framework may be a mixin's that another class brings.
                return made or UNKNOWN
            escape = self.escape_parts if is_known_attribute else self.escape_all
            return made or escape(positional, keywords)
        if not is_view and is_harmless(function):
            return self.escape_parts(positional, keywords)
        flow = self.flow.enter(name) if is_known or self.hook else self.flow
        skip = not isinstance(member, staticmethod)
        given = NONE
        if not is_framework_code(function):
            given = self.bind(function, positional, keywords, is_method=True, skip=skip)
        if is_view:
            self.reader.followed.add(name)
        found = self.reader.follow(function, home, instance, given, flow)
        if is_view and name == "get_serializer_class":
            made = (VIEWS_CHOICE,)
        if is_known and given == NONE:
            self.escape_parts([] if made else positional, {} if made else keywords)
        return made or found

    def make(
        self, kind: Any, positional: list[Values], keywords: Keywords, attribute: str = ""
    ) -> Values:
        data = keywords.get("data", ())
        if not data and positional and kind is not None and not issubclass(kind, BaseSerializer):
            data = positional[0]
        self.tell("make", kind, keywords, attribute=attribute, data=data)
        others = [values for name, values in keywords.items() if name not in ("data", "context")]
        is_form = kind is not None and not issubclass(kind, BaseSerializer)
        for values in (*positional[1:], *others):
            # A form is given the files, too.
            (self.look if is_form else self.escape)(
                tuple(v for v in values if isinstance(v, PARTS))
            )
        if is_form:
            return UNKNOWN
        many = find_constant(keywords.get("many"))
        plain = keywords.keys() <= PLAIN and len(positional) < 2
        return (MadeSerializer(kind, many, plain and not attribute),)

    def read_question(self, asked: Values) -> None:
        for value in asked:
            kind = value.value if isinstance(value, KnownValue) else None
            if inspect.isclass(kind) and issubclass(kind, Serializer):
                self.tell("ask", kind)

    # --- Functions and classes --------------------------------------------------------------------

    def call(
        self, target: Any, node: ast.Call, positional: list[Values], keywords: Keywords
    ) -> Values:
        if isinstance(target, ReadMethod):
            return self.call_own(target.instance, target.name, node, positional, keywords)
        if target is VIEWS_CHOICE:
            return self.make(None, positional, keywords)
        if not isinstance(target, KnownValue):
            return self.escape_all(positional, keywords)
        value = self.use_for(target, positional, keywords)
        try:
            if value in KINDS:
                return self.convert(KINDS[value], positional)
        except TypeError:
            return self.escape_all(positional, keywords)
        if value in COPIERS and len(positional) == 1 and not keywords:
            return positional[0]
        if value in LISTING and positional:
            self.look(positional[0])
            return positional[0]
        if value in TWINS and positional:
            return positional[0]
        if value in (getattr, hasattr):
            return self.read_getattr(value, node, positional, keywords)
        if value is json.loads and positional and RequestPart(BODY) in positional[0]:
            return (RequestPart(BODY, is_same=False),)
        if value is str and positional:
            self.escape(positional[0])
            return positional[0]
        if value in LOOKING:
            self.look(join_values_of(*positional) if value is not bool else ())
            return UNKNOWN
        if value in FINDERS and positional:
            found: Values = self.find_row(positional, keywords)
            return found
        if inspect.isclass(value):
            if is_schema(value):
                self.reader.use(target)
            return self.construct(value, positional, keywords, target.attribute)
        return self.call_function(value, node, positional, keywords)

    def convert(self, kind: str, positional: list[Values]) -> Values:
        for values in positional:
            self.escape(values)
            for member in values:
                self.learn(member, kind=kind)
        return positional[0] if positional else UNKNOWN

    def read_getattr(
        self, function: Any, node: ast.Call, positional: list[Values], keywords: Keywords
    ) -> Values:
        keys = positional[1] if len(positional) > 1 else ()
        names = [self.reader.use(key) for key in keys if isinstance(key, KnownValue)]
        if len(names) != len(keys) or not names:
            return self.escape_all(positional[:1], keywords)
        if function is hasattr:
            return UNKNOWN
        if len(positional) == 2 and positional[0] == (THE_VIEW,):
            # hasattr() asks before whether the view has it.
            view = self.reader.get_view()
            if view is not None and not any(hasattr(view.kind, name) for name in names):
                return ()
        found = [self.get_attribute(each, name) for each in positional[0] for name in names]
        # What has no such attribute has the default.
        unknown = [each for each in found if ANYTHING in each or THE_REQUEST in positional[0]]
        known = [each for each in found if ANYTHING not in each]
        return join_values_of(*known, *(positional[2:] or [UNKNOWN] if unknown else []))

    def construct(
        self, kind: Any, positional: list[Values], keywords: Keywords, attribute: str = ""
    ) -> Values:
        if is_schema(kind):
            return self.make(kind, positional, keywords, attribute)
        if issubclass(kind, Enum) and positional:
            self.tell_literals(positional[0], [each.value for each in kind])
            return positional[0]
        if issubclass(kind, Response):
            self.escape_parts(positional, keywords)
            data = positional[0] if positional else keywords.get("data", ())
            status = keywords.get("status", positional[1] if len(positional) > 1 else ())
            codes = [each.value if isinstance(each, KnownValue) else None for each in status]
            code = codes[0] if len(codes) == 1 else None
            is_error = code >= 400 if isinstance(code, int) else (None if status else False)
            return (MadeResponse(data, is_error),)
        function, home = find_member(kind, "__init__")
        made = ReadObject(kind, attribute)
        if is_harmless(kind) or is_framework_code(function):
            self.escape_parts(positional, keywords)
        elif inspect.isfunction(function):
            if given := self.bind(function, positional, keywords, skip=True):
                self.reader.follow(function, home, made, given, self.flow)
        else:
            self.escape_all(positional, keywords)
        return (made,)

    def call_function(
        self, function: Any, node: ast.Call, positional: list[Values], keywords: Keywords
    ) -> Values:
        if is_harmless(function):
            return self.escape_parts(positional, keywords)
        if not inspect.isfunction(function) or find_root(function) in sys.stdlib_module_names:
            return self.escape_all(positional, keywords)
        found: Values = UNKNOWN
        if any(isinstance(argument, ast.Starred) for argument in node.args) and self.instance:
            # A decorator hands all on, the view and the request too.
            found = self.reader.follow(function, self.home, self.instance, NONE, self.flow)
            return found
        given = self.bind(function, positional, keywords, skip=False)
        if given or self.reader.follows_all:
            found = self.reader.follow(function, None, None, given, self.flow)
        return found
