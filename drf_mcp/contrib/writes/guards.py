"""What the options of the app do with a tool.

They guard it, by arguments that the guards read, and say how to take a call back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.core.checks import CheckMessage, Error
from django.db import router
from django.db.models import Model
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.writes.changes import DRY_RUN
from drf_mcp.contrib.writes.confirmation import CONFIRMATION, ConfirmationGuard
from drf_mcp.contrib.writes.dry_run import DryRunGuard
from drf_mcp.contrib.writes.idempotency import get_records
from drf_mcp.contrib.writes.idempotency_guard import (
    IDEMPOTENCY_KEY,
    IdempotencyGuard,
    requires_key,
    takes_header,
)
from drf_mcp.contrib.writes.versions import IF_MATCH, PreconditionGuard, find_precondition
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Guard, Slot
from drf_mcp.introspection.inspection import find_declared_model
from drf_mcp.introspection.types import Parameter, ValueInfo
from drf_mcp.option_types.spelling import find_nearest
from drf_mcp.outcomes import MISSING, Outcome
from drf_mcp.settings import mcp_settings, override_language
from drf_mcp.tools.arguments.call import PATH
from drf_mcp.tools.tool import Tool

# By the arguments that they read, in the order of a definition. A dry run is made where the call
# itself would be.
GUARDS: dict[str, type[Guard]] = {
    IDEMPOTENCY_KEY: IdempotencyGuard,
    IF_MATCH: PreconditionGuard,
    CONFIRMATION: ConfirmationGuard,
    DRY_RUN: DryRunGuard,
}
PARAMETERS = {
    IDEMPOTENCY_KEY: Parameter(
        IDEMPOTENCY_KEY,
        {
            "type": "string",
            "pattern": "^[!-~]{1,255}$",
            "description": gettext_noop(
                "Names the change you intend. Send the same key when you try again."
            ),
        },
    ),
    CONFIRMATION: Parameter(
        CONFIRMATION,
        {"type": "string", "description": gettext_noop("Leave out; the first call answers it.")},
        value_info={(): ValueInfo(is_secret=True)},
    ),
    DRY_RUN: Parameter(
        DRY_RUN,
        {"type": "boolean", "description": gettext_noop("True: only show what would change.")},
    ),
}
# The member of ``meta``.
UNDO = "undo"
ATOMIC_REMEDY = (
    "A change and its record are committed together or not at all. Leave the option out: "
    "idempotency_key=False. See docs/writes.md."
)
# The names of a primary key in answers, where no serializer says which object they show.
KEYS = ("pk", "id")
logger = logging.getLogger("drf_mcp")
CONTROL_NAMES: Slot[tuple[str, ...]] = Slot()


def find_control_names(tool: Any) -> tuple[str, ...]:
    """Return the names of the arguments that the guards of a tool read."""
    known = CONTROL_NAMES.get(tool)
    if known is not None:
        return known
    options, precondition = tool.options, find_precondition(tool)
    destroys = options.get_flag("destructive", tool.endpoint.method == "DELETE")
    switched_on = {
        # A tool takes all that its view takes over HTTP: also the header, as an argument.
        IDEMPOTENCY_KEY: not tool.reads
        and (
            takes_header(tool) or options.get_flag("idempotency_key", mcp_settings.IDEMPOTENCY_KEYS)
        ),
        IF_MATCH: precondition is not None and precondition.guards_tool,
        CONFIRMATION: not tool.annotations["readOnlyHint"]
        and options.get_flag("confirm", mcp_settings.CONFIRM and destroys),
        DRY_RUN: not tool.reads and options.get_flag("dry_run", mcp_settings.DRY_RUN),
    }
    known = tuple(name for name in GUARDS if switched_on[name])
    CONTROL_NAMES.set(tool, known)
    return known


@override_language()
def get_parameters(tool: Any) -> Sequence[Parameter]:
    """Return the arguments that the guards of a tool read."""
    found = []
    for name in find_control_names(tool):
        if name == IF_MATCH:
            found.append(find_precondition(tool).parameter)  # type: ignore[union-attr]
            continue
        known = PARAMETERS[name]
        schema = {**known.schema, "description": _(known.schema["description"])}
        required = name == IDEMPOTENCY_KEY and requires_key(tool)
        found.append(replace(known, schema=schema, required=required))
    return found


def get_guards(tool: Any) -> Sequence[Guard]:
    """Return the guards of a tool that writes."""
    return [GUARDS[name]() for name in find_control_names(tool)]


# --- Undo -----------------------------------------------------------------------------------


def note_undo(outcome: Outcome, call: CallState) -> Outcome:
    """Return the outcome of a request, with what takes the request back if it worked."""
    tool = call.tool
    if tool.reads or outcome.failure is not None or call.is_trial or call.context is None:
        return outcome
    inverse = call.server.tools_capability.get_tools(call.context).get(tool.options.undo)
    if inverse is None:
        return outcome

    def go_without(exc: Exception) -> None:
        logger.warning("How to take %s back cannot be said", tool.name, exc_info=exc)

    step = contain(lambda: get_step(tool, inverse, call.bound.kwargs, outcome.data), go_without)
    return outcome if step is None else outcome.changed(meta={**outcome.meta, UNDO: step})


def narrow_undo(outcome: Outcome, call: CallState) -> Outcome:
    """Return the outcome of a call; a tool that the caller does not see is not named."""
    if UNDO not in outcome.meta:
        return outcome
    offered = call.server.tools_capability.get_offered_tools(call.context)
    inverse = offered.get(call.tool.options.undo)
    if inverse is not None and Visibility(call.caller).sees_any([inverse]):
        return outcome
    return outcome.changed(meta={n: value for n, value in outcome.meta.items() if n != UNDO})


def get_step(tool: Tool, inverse: Tool, kwargs: Mapping[str, Any], data: Any) -> dict[str, Any]:
    """Return the call of one tool that takes a call of another back."""
    pairs: list[Any] = []
    missing = []
    for argument in inverse.arguments.arguments:
        if not argument.required or not argument.listed:
            continue
        name, value = argument.parameter.name, MISSING
        if argument.location == PATH:
            value = find_kwarg(tool, inverse, name, kwargs, data)
        elif isinstance(data, Mapping):
            value = data.get(name, MISSING)
        if value is MISSING:
            missing.append(argument.name)
        else:
            pairs.append((argument, value))
    arguments = inverse.arguments.change({}, pairs)
    step = {"tool": inverse.name, "arguments": arguments}
    return {**step, "missing": missing} if missing else step


def find_kwarg(tool: Tool, inverse: Tool, name: str, kwargs: Mapping[str, Any], data: Any) -> Any:
    # After another path, a kwarg of the same name is the key of another object.
    paths = {each.endpoint.route.path.partition(f"{{{name}}}")[:2] for each in (tool, inverse)}
    known = kwargs.get(name, MISSING) if len(paths) == 1 else MISSING
    if name != inverse.endpoint.key_kwarg:
        return known
    row = getattr(getattr(data, "serializer", None), "instance", None)
    model = inverse.endpoint.model
    field = str(getattr(inverse.endpoint.view_class, "lookup_field", "pk"))
    if isinstance(row, Model) and model is not None and isinstance(row, model):
        # An action may answer with another object than it was called for, such as a copy.
        key = getattr(row, field, None)
        return MISSING if key is None else key
    names = [name, field, *(KEYS if field in KEYS else ())]
    answer = data if isinstance(data, Mapping) else {}
    shown = next((answer[each] for each in names if each in answer), MISSING)
    if known is MISSING:
        before_key = inverse.endpoint.object_path.rpartition("{")[0].rstrip("/")
        is_member = tool.endpoint.collection == before_key
        return shown if is_member else MISSING
    return known if shown is MISSING or str(shown) == str(known) else MISSING


# --- Checks ---------------------------------------------------------------------------------


@register_check()
def check_versions(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        precondition = find_precondition(tool)
        # One option may be about all tools of a view, and counts for those that write one object.
        writes = not tool.reads and tool.endpoint.key_kwarg is not None
        if precondition is None or precondition.is_etag or not writes or precondition.guards_tool:
            continue
        fault = "the view has no get_object(), or no model is known of it."
        if precondition.model is not None and hasattr(tool.endpoint.view_class, "get_object"):
            names = [field.name for field in precondition.model._meta.concrete_fields]
            fault = f"{precondition.model.__name__} has no field {precondition.name!r}."
            fault += say_nearest(precondition.name, names)
        yield Error(
            f"if_match= of {name} at {tool.endpoint.place}: {fault}",
            hint="Name a field of the model that each save changes, or write if_match=True"
            " where the view has ETags. See docs/writes.md.",
            id="drf_mcp.E009",
        )


def say_nearest(name: str, known: Iterable[str]) -> str:
    nearest = find_nearest(name, known)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


@register_check()
def check_undo(project: Project) -> Iterator[CheckMessage]:
    for name, tool in project.tools.items():
        undo = tool.options.undo
        if undo and undo not in project.tools and not tool.reads:
            fault = f"names {undo!r}, which is no tool.{say_nearest(undo, project.tools)}"
            yield Error(
                f"undo= of {name} at {tool.endpoint.place} {fault}",
                hint="Name the tool that takes a call back. See docs/writes.md.",
                id="drf_mcp.E010",
            )


@register_check()
def check_idempotency(project: Project) -> Iterator[CheckMessage]:
    tools = dict(project.tools)
    for endpoint in project.endpoints:
        if endpoint.view.tool_options:
            tools.update(endpoint.view.registry.tools(None, endpoint.view.tool_options))
    kept = get_records().db
    for name, tool in tools.items():
        if IDEMPOTENCY_KEY not in find_control_names(tool):
            continue
        # A change and its record cannot be in one transaction.
        view, fault = f"its view {tool.endpoint.place}", ""
        model = find_declared_model(tool.endpoint.view_class)
        written = kept if model is None else router.db_for_write(model)
        if kept in getattr(tool.endpoint.route.callback, "_non_atomic_requests", ()):
            fault = f"{view} runs outside transactions (non_atomic_requests)"
        elif written != kept:
            fault = f"{view} writes to '{written}', while records are in '{kept}'"
        if fault:
            yield Error(
                f"{name} takes an idempotency_key, and {fault}.", ATOMIC_REMEDY, id="drf_mcp.E014"
            )
