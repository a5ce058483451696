"""The argument ``items`` of a write: the arguments of several objects in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.db import DEFAULT_DB_ALIAS, router, transaction
from django.utils.translation import gettext as _

from drf_mcp.contrib.writes.versions import IF_MATCH
from drf_mcp.dispatch.batches import THROTTLED, Batch, is_miss
from drf_mcp.features import CallState
from drf_mcp.introspection.types import Schema
from drf_mcp.json_text import JSONPointer, parse_json_text
from drf_mcp.outcomes import Failure, Outcome, Problem, Warning
from drf_mcp.settings import override_language
from drf_mcp.tools.arguments.call import BODY, CONTROL, PATH, Argument, Call
from drf_mcp.tools.arguments.errors import ArgumentErrors, ArgumentsRefused


class WriteBatch(Batch):
    """The outcomes of the requests of one call, one for each of its items.

    All of them are made, or none is; with ``bulk="partial"`` those that work are kept.
    """

    def __init__(self, call: CallState) -> None:
        self.tool = tool = call.tool
        self.call = bound = call.bound
        self.outcomes: list[Outcome] = []
        self.name = tool.arguments.items.name
        self.ids = [f"{self.name}[{index}]" for index in range(len(bound.items))]

    @property
    def keeps_some(self) -> bool:
        return bool(self.tool.options.bulk == "partial")

    @property
    def database(self) -> str:
        model = self.tool.related.find_model(self.tool.endpoint)
        return DEFAULT_DB_ALIAS if model is None else router.db_for_write(model)

    def ask(self, perform: Callable[[Call], Outcome]) -> Outcome:
        if self.keeps_some:
            self.perform_all(perform)
        else:
            using = self.database
            with transaction.atomic(using=using):
                self.perform_all(lambda request: self.perform_within(using, perform, request))
                if any(map(is_miss, self.outcomes)):
                    transaction.set_rollback(True, using=using)
        self.distinct = self.outcomes
        if any(map(is_miss, self.outcomes)) and not self.keeps_some:
            return self.fail()
        return self.answer()

    def perform_all(self, perform: Callable[[Call], Outcome]) -> None:
        # Where a throttle refuses one request, the others are not sent.
        refused: Outcome | None = None
        for request in self.call.items:
            outcome = refused or perform(request)
            refused = outcome if outcome.status == THROTTLED else None
            self.outcomes.append(outcome)

    def perform_within(
        self, using: str, perform: Callable[[Call], Outcome], request: Call
    ) -> Outcome:
        # What a refused request leaves behind must not be in the way of the next one.
        with transaction.atomic(using=using):
            outcome = perform(request)
            if is_miss(outcome):
                transaction.set_rollback(True, using=using)
        return outcome

    def fail(self) -> Outcome:
        main = next(o for o in self.outcomes if is_miss(o))
        failures = [o.failure for o in self.outcomes if is_miss(o) and o.failure]
        hard = [failure for failure in failures if not failure.soft]
        message = self.describe_misses()
        if len(failures) < len(self.outcomes):
            message = " ".join([_("Nothing was written."), message])
        failure = replace(
            (hard or failures)[0],
            message=message,
            problems=self.misses,
            soft=not hard,
        )
        suggestions = tuple(self.join_suggestions())
        return main.changed(failure=failure, data=None, body=None, meta={}, suggestions=suggestions)

    @cached_property
    def misses(self) -> tuple[Problem, ...]:
        return tuple(
            problem
            for index, outcome in enumerate(self.outcomes)
            if is_miss(outcome) and outcome.failure
            for problem in self.get_problems(outcome, outcome.failure, index)
        )

    def get_problems(self, outcome: Outcome, failure: Failure, index: int) -> Iterable[Problem]:
        shared = {n: v for n, v in self.call.arguments.items() if n != self.name}
        whole = Problem(
            failure.code,
            failure.message,
            remediation=failure.remediation,
            recoverable=failure.recoverable,
            context=failure.context,
        )
        # What a refusal says of the object goes with its first problem.
        first, *others = failure.problems or (whole,)
        first = replace(first, context={**first.context, **outcome.meta})
        locate = self.tool.arguments.items.locate
        return [locate(problem, index, shared) for problem in (first, *others)]

    def describe_misses(self) -> str:
        failed = [outcome for outcome in self.outcomes if is_miss(outcome)]
        groups = self.groups.items()
        parts = [f"{', '.join(names)}: {code}, {text}" for (code, text), names in groups]
        return f"{self.count_failed(len(failed))} {' '.join(parts)}"

    def get_warning(self) -> Warning:
        failed = [index for index, outcome in enumerate(self.outcomes) if is_miss(outcome)]
        context = {
            "failed_items": failed,
            "successful_items": len(self.ids) - len(failed),
            "total_items": len(self.ids),
        }
        return replace(super().get_warning(), context=context)


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
    """

    def __init__(self, arguments: Any, key: str, most: int) -> None:
        self.arguments = arguments
        self.key = key
        self.most = most
        every = [*arguments.arguments, *arguments.controls]
        self.own = [argument for argument in every if self.is_own(argument)]
        self.shared = [argument for argument in every if not self.is_own(argument)]
        taken = {argument.name for argument in every}
        self.name = NAME if NAME not in taken else f"{NAME}_{BODY}"

    @classmethod
    def of(cls, arguments: Any, tool: Any) -> Items | None:
        """Return the items of a tool, None for one that makes no several requests.

        A view of lists makes none.
        """
        is_described = tool.options.input_schema is None
        if not is_described or tool.endpoint.standard_action not in ACTIONS:
            return None
        if tool.schema.body.kind not in ("object", "open"):
            return None
        return cls(arguments, tool.endpoint.key_kwarg or "", tool.options.bulk_limit or MOST)

    def is_own(self, argument: Argument) -> bool:
        # Of the arguments of guards, only the version belongs to one object.
        name, location = argument.parameter.name, argument.location
        if location == CONTROL:
            return name == IF_MATCH
        return location == BODY or (location == PATH and name == self.key)

    def make_batch(self, call: CallState) -> WriteBatch:
        """Return what makes the requests of a call, and one outcome of theirs."""
        return WriteBatch(call)

    @override_language()
    def describe(self) -> Schema:
        """Return the schema of ``items`` and of the arguments that all items share.

        The arguments of one object are accepted as well, but not listed: a model that read both
        would send both.
        """
        schema = self.arguments.get_object_schema(self.shared)
        schema["properties"][self.name] = self.schema
        schema["required"] = [*schema.get("required", ()), self.name]
        return {**schema, "additionalProperties": False}

    @property
    def schema(self) -> Schema:
        return {
            "type": "array",
            "description": _("1 to %(most)d objects.") % {"most": self.most},
            "items": self.arguments.get_object_schema(map(self.require_key, self.own)),
            "minItems": 1,
            "maxItems": self.most,
        }

    def require_key(self, argument: Argument) -> Argument:
        required = argument.required or argument.location == PATH
        return replace(argument, parameter=replace(argument.parameter, required=required))

    def are_meant(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a caller sent several objects, or no argument of one object."""
        return arguments.get(self.name) is not None or not self.find_sent(self.own, arguments)

    def bind(self, arguments: Mapping[str, Any]) -> Call:
        items = parse_json_text(arguments.get(self.name), list)
        if not isinstance(items, list) or not 0 < len(items) <= self.most:
            raise ArgumentsRefused([self.wrong_number(items)])
        items = [self.use_own_names(item) for item in items]
        shared = {name: value for name, value in arguments.items() if name != self.name}
        if problems := [self.misplaced(a, True) for a in self.find_sent(self.own, shared)]:
            raise ArgumentsRefused(problems)
        calls = []
        for index, item in enumerate(items):
            try:
                calls.append(self.bind_item(item, shared))
            except ArgumentsRefused as exc:
                located = (self.locate(problem, index, shared) for problem in exc.problems)
                # A problem of a shared argument is reported once.
                problems += [problem for problem in located if problem not in problems]
        if problems:
            raise ArgumentsRefused(problems)
        return self.join({**arguments, self.name: items}, calls)

    def use_own_names(self, item: Any) -> Any:
        return self.arguments.use_own_names(item) if isinstance(item, Mapping) else item

    def bind_item(self, item: Any, shared: Mapping[str, Any]) -> Call:
        if not isinstance(item, Mapping):
            raise ArgumentsRefused([ArgumentErrors().not_an_object(item)])
        controls = [argument for argument in self.shared if argument.location == CONTROL]
        if problems := [self.misplaced(a, False) for a in self.find_sent(controls, item)]:
            raise ArgumentsRefused(problems)
        call: Call = self.arguments.bind_one(self.arguments.merge(shared, item))
        return call

    def join(self, arguments: Mapping[str, Any], calls: list[Call]) -> Call:
        first = calls[0]
        keys = {self.key: [call.kwargs[self.key] for call in calls]} if self.key else {}
        controls = {name: value for name, value in first.controls.items() if name != IF_MATCH}
        return Call(
            arguments,
            {**first.kwargs, **keys},
            first.query_string,
            controls=controls,
            items=tuple(calls),
        )

    def find_sent(self, known: Iterable[Argument], arguments: Mapping[str, Any]) -> list[Argument]:
        return [argument for argument in known if JSONPointer(argument.pointer).is_in(arguments)]

    def locate(self, problem: Problem, index: int, shared: Mapping[str, Any]) -> Problem:
        """Return the problem of an item, with the pointer in all arguments."""
        pointer = problem.pointer
        if pointer and JSONPointer(pointer).is_in(shared):
            return problem
        return replace(problem, pointer=f"/{self.name}/{index}{pointer}")

    def wrong_number(self, items: Any) -> Problem:
        facts = {"name": self.name, "most": self.most}
        sentences = [_("Send an array of 1 to %(most)d objects.") % facts]
        if isinstance(items, list) and items:
            sentences.append(_("Send the others in further calls."))
        return Problem(
            code=self.get_code(items),
            message=_("'%(name)s' takes an array of 1 to %(most)d objects.") % facts,
            pointer=f"/{self.name}",
            accepted=_("an array of 1 to %(most)d objects") % facts,
            remediation=" ".join(sentences),
        )

    def get_code(self, items: Any) -> str:
        if items is None:
            return "required"
        if not isinstance(items, list):
            return "not_a_list"
        return "max_length" if items else "empty"

    def misplaced(self, argument: Argument, into: bool) -> Problem:
        # Translators: the items are the name of the argument that holds several objects.
        message = _("With '%(items)s', '%(name)s' goes next to '%(items)s'.")
        remediation = _("Put '%(name)s' next to '%(items)s'.")
        if into:
            message = _("With '%(items)s', '%(name)s' goes into each of '%(items)s'.")
            remediation = _("Put '%(name)s' into each of '%(items)s'.")
        facts = {"items": self.name, "name": argument.name}
        return Problem(
            code="misplaced",
            message=message % facts,
            pointer=argument.pointer,
            remediation=remediation % facts,
        )
