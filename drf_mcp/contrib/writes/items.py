"""The argument ``items`` of a write: the arguments of several objects in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.db import DEFAULT_DB_ALIAS, router, transaction

from drf_mcp.contrib.writes.versions import IF_MATCH
from drf_mcp.describers import Schema
from drf_mcp.dispatch.batches import Batch
from drf_mcp.errors import ArgumentsRefused, not_an_object
from drf_mcp.exposure import BODY, CONTROL, PATH, Argument
from drf_mcp.features import Call, CallState
from drf_mcp.interaction.exchange import Asked
from drf_mcp.json_text import parse_json_text
from drf_mcp.outcomes import JSONPointer, Outcome, Problem, Warning


class WriteBatch(Batch):
    """The outcomes of the requests of one call, one for each of its items.

    All of them are made, or none is; with ``bulk="partial"`` the ones that work are kept.
    """

    def find_ids(self) -> Sequence[str]:
        name = self.tool.arguments.items.name
        return [f"{name}[{index}]" for index in range(len(self.call.items))]

    def ask(self, perform: Callable[[Call], Outcome]) -> Outcome:
        keeps_some = self.tool.options.bulk == "partial"
        model = self.tool.endpoint.model
        using = DEFAULT_DB_ALIAS if model is None else router.db_for_write(model)

        def begin_item() -> AbstractContextManager[Any]:
            # A request that the database refuses must not break the transaction around it,
            # which holds all items, or is a guard's.
            has_outer = transaction.get_connection(using).in_atomic_block
            return transaction.atomic(using) if has_outer else nullcontext()

        def roll_back_misses(outcomes: Sequence[Outcome]) -> bool:
            is_rolled_back = not keeps_some and any(map(self.is_miss, outcomes))
            if is_rolled_back:
                transaction.set_rollback(True, using=using)
            return is_rolled_back

        throttled: Outcome | None = None
        with nullcontext() if keeps_some else transaction.atomic(using):
            for request in self.call.items:
                with begin_item():
                    try:
                        # Where a throttle refuses one request, the others are not sent.
                        outcome = throttled or perform(request)
                    except Asked as exc:
                        if not keeps_some or all(map(self.is_miss, self.outcomes)):
                            raise
                        # The call would be made again with the answer, and with it the kept items.
                        outcome = Outcome(self.tool.name, 200, failure=exc.failure)
                    roll_back_misses([outcome])
                throttled = outcome if outcome.status == 429 else None
                self.outcomes.append(outcome)
            self.distinct = self.outcomes
            fails = roll_back_misses(self.outcomes)
        return self.fail() if fails else self.answer()

    def fail(self) -> Outcome:
        main = next(o for o in self.outcomes if self.is_miss(o))
        failures = [o.failure for o in self.outcomes if self.is_miss(o) and o.failure]
        hard = [failure for failure in failures if not failure.soft]
        message = self.describe_misses()
        if len(failures) < len(self.outcomes):
            message = " ".join(["Nothing was written.", message])
        first = (hard or failures)[0]
        failure = replace(first, message=message, problems=self.misses, soft=not hard)
        suggestions = tuple(self.join_suggestions())
        return main.changed(failure=failure, data=None, meta={}, suggestions=suggestions)

    @cached_property
    def misses(self) -> tuple[Problem, ...]:
        items = self.tool.arguments.items
        shared = {n: v for n, v in self.call.arguments.items() if n != items.name}
        misses: list[Problem] = []
        for index, outcome in enumerate(self.outcomes):
            failure = outcome.failure
            if failure is None or not self.is_miss(outcome):
                continue
            whole = Problem(
                failure.code,
                failure.message,
                remediation=failure.remediation,
                recoverable=failure.recoverable,
                context=failure.context,
            )
            # The members of meta, such as the present version, go with the first problem.
            first, *others = failure.problems or (whole,)
            first = replace(first, context={**first.context, **outcome.meta})
            misses += [items.locate(problem, index, shared) for problem in (first, *others)]
        return tuple(misses)

    def count_failed(self) -> int:
        return sum(map(self.is_miss, self.outcomes))

    def make_warning(self) -> Warning:
        failed = [index for index, outcome in enumerate(self.outcomes) if self.is_miss(outcome)]
        context = {
            "failed_items": failed,
            "successful_items": len(self.ids) - len(failed),
            "total_items": len(self.ids),
            **self.find_details(),
        }
        return replace(super().make_warning(), context=context)


NAME = "items"
MOST = 50
# The actions whose calls may take several.
ACTIONS = frozenset({"create", "update", "partial_update"})


class Items:
    """Binds each item as a call of its own.

    Args:
        arguments: the `Arguments` of a call about one object.
        key: the path kwarg of that object, which each item has; "" where a call makes one.
        most: the most items of a call.

    Attributes:
        own: the arguments that each item has.
        shared: the arguments that all items share, next to ``items``.
    """

    def __init__(self, arguments: Any, key: str, most: int) -> None:
        self.arguments = arguments
        self.key = key
        self.most = most
        every = [*arguments.arguments, *arguments.controls]
        self.own = [argument for argument in every if self._is_own(argument)]
        self.shared = [argument for argument in every if not self._is_own(argument)]
        taken = {argument.name for argument in every}
        self.name = NAME if NAME not in taken else f"{NAME}_{BODY}"
        self.own_names = frozenset(argument.name for argument in self.own)
        self.shared_names = frozenset({self.name, *(each.name for each in self.shared)})

    @classmethod
    def of(cls, arguments: Any, tool: Any) -> Items | None:
        """Return the items of a tool, None for a tool that takes one object at a time."""
        is_described = tool.options.input_schema is None
        if not is_described or tool.endpoint.standard_action not in ACTIONS:
            return None
        if tool.schema.body.kind not in ("object", "open"):
            return None
        return cls(arguments, tool.endpoint.key_kwarg or "", tool.options.bulk_limit or MOST)

    def _is_own(self, argument: Argument) -> bool:
        # Of the arguments that guards read, the version alone belongs to one object.
        name, location = argument.parameter.name, argument.location
        if location == CONTROL:
            return name == IF_MATCH
        return location == BODY or (location == PATH and name == self.key)

    def make_batch(self, call: CallState) -> WriteBatch:
        """Return what makes the requests of a call, and one outcome of theirs."""
        return WriteBatch(call)

    def describe(self) -> Schema:
        """Return the schema of ``items`` and of the arguments that all items share.

        The arguments of one object are accepted as well, but not listed: a model that read both
        would send both.
        """
        own = []
        for argument in self.own:
            if not argument.listed:
                continue
            required = argument.required or argument.location == PATH
            own.append(replace(argument, parameter=replace(argument.parameter, required=required)))
        schema = self.arguments.make_object_schema([a for a in self.shared if a.listed])
        schema["properties"][self.name] = {
            "type": "array",
            "description": f"1 to {self.most} objects.",
            "items": self.arguments.make_object_schema(own),
            "minItems": 1,
            "maxItems": self.most,
        }
        schema["required"] = [*schema.get("required", ()), self.name]
        return {**schema, "additionalProperties": False}

    def are_sent(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a caller sent several objects, or no argument of one object."""
        return arguments.get(self.name) is not None or not find_present(self.own, arguments)

    def bind(self, arguments: Mapping[str, Any], caller: Any = None) -> Call:
        items = parse_json_text(arguments.get(self.name), list)
        if not isinstance(items, list) or not 0 < len(items) <= self.most:
            raise ArgumentsRefused([self._describe_number(items)])
        own_names = self.arguments.use_own_names
        items = [own_names(item) if isinstance(item, Mapping) else item for item in items]
        shared = {name: value for name, value in arguments.items() if name != self.name}
        message = "With '%(items)s', '%(name)s' goes into each of '%(items)s'."
        remediation = "Put '%(name)s' into each of '%(items)s'."
        self.refuse(find_present(self.own, shared), message, remediation)
        calls: list[Call] = []
        problems: list[Problem] = []
        for index, item in enumerate(items):
            try:
                calls.append(self._bind_item(item, shared, caller))
            except ArgumentsRefused as exc:
                located = (self.locate(problem, index, shared) for problem in exc.problems)
                # A problem of a shared argument is reported once.
                problems += [problem for problem in located if problem not in problems]
        if problems:
            raise ArgumentsRefused(problems)
        first = calls[0]
        keys = {self.key: [call.kwargs[self.key] for call in calls]} if self.key else {}
        controls = {name: value for name, value in first.controls.items() if name != IF_MATCH}
        return Call(
            {**arguments, self.name: items},
            {**first.kwargs, **keys},
            first.query_string,
            controls=controls,
            items=tuple(calls),
        )

    def _bind_item(self, item: Any, shared: Mapping[str, Any], caller: Any) -> Call:
        if not isinstance(item, Mapping):
            raise ArgumentsRefused([not_an_object(item)])
        controls = [argument for argument in self.shared if argument.location == CONTROL]
        message = "With '%(items)s', '%(name)s' goes next to '%(items)s'."
        remediation = "Put '%(name)s' next to '%(items)s'."
        self.refuse(find_present(controls, item), message, remediation)
        merged = self.arguments.merge(shared, item)
        places = ((shared, self.shared_names), (item, self.own_names))
        call: Call = self.arguments.bind_one(merged, places, caller)
        return call

    def refuse(self, misplaced: Iterable[Argument], message: str, remediation: str) -> None:
        problems = []
        for argument in misplaced:
            facts = {"items": self.name, "name": argument.name}
            advice = remediation % facts
            problem = Problem("misplaced", message % facts, argument.pointer, remediation=advice)
            problems.append(problem)
        if problems:
            raise ArgumentsRefused(problems)

    def locate(self, problem: Problem, index: int, shared: Mapping[str, Any]) -> Problem:
        """Return the problem of an item, with the pointer in all arguments."""
        pointer = problem.pointer
        if pointer and JSONPointer(pointer).is_in(shared):
            return problem
        return replace(problem, pointer=f"/{self.name}/{index}{pointer}")

    def _describe_number(self, items: Any) -> Problem:
        accepted = f"an array of 1 to {self.most} objects"
        remediation = f"Send {accepted}."
        code = "required" if items is None else "not_a_list"
        if isinstance(items, list):
            code = "max_length" if items else "empty"
        if code == "max_length":
            remediation += " Send the others in further calls."
        return Problem(
            code,
            f"'{self.name}' takes {accepted}.",
            f"/{self.name}",
            accepted=accepted,
            remediation=remediation,
        )


def find_present(known: Iterable[Argument], arguments: Mapping[str, Any]) -> list[Argument]:
    return [argument for argument in known if JSONPointer(argument.pointer).is_in(arguments)]
