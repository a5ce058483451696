"""What guards a tool, by its options and the settings, and which arguments the guards read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.writes.versions import find_precondition
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import Slot
from drf_mcp.introspection.types import Handling, Parameter
from drf_mcp.outcomes import Problem
from drf_mcp.settings import mcp_settings, override_language
from drf_mcp.tools.arguments.errors import ArgumentsRefused

SECRET = Handling(secrets=frozenset({()}))
CONFIRMATION = Parameter(
    "confirmation",
    {"type": "string", "description": gettext_noop("Leave out; the first call answers it.")},
    handling=SECRET,
)
IDEMPOTENCY_KEY = Parameter(
    "idempotency_key",
    {
        "type": "string",
        "pattern": "^[!-~]{1,255}$",
        "description": gettext_noop(
            "Names the change you intend. Send the same key when you try again."
        ),
    },
)
IDEMPOTENCY, VERSION, CONFIRM, DRY_RUN = "idempotency", "version", "confirm", "dry_run"
NOTE = gettext_noop("Dry run: nothing was changed.")
GUARDED_BY: Slot[frozenset[str]] = Slot()
TRIAL = Parameter(
    DRY_RUN,
    {"type": "boolean", "description": gettext_noop("True: only show what would change.")},
)


def find_guards(tool: Any) -> frozenset[str]:
    """Return the names of the guards that a project switches on for a tool that writes."""
    known = GUARDED_BY.get(tool)
    if known is None:
        known = frozenset(Controls(tool).find_guards())
        GUARDED_BY.set(tool, known)
    return known


def is_dry_run(call: CallState) -> bool:
    """Return whether the caller asks what would change.

    Raises:
        ArgumentsRefused: if the argument is neither true nor false.
    """
    asked = call.bound.controls.get(DRY_RUN, False)
    answer = {"true": True, "false": False}.get(str(asked).lower())
    if answer is None:
        pointer = call.tool.arguments.get_control_pointer(DRY_RUN)
        message = _("Must be true or false.")
        advice = _("Send true or false. Nothing was run.")
        problem = Problem("invalid", message, pointer, received=asked, remediation=advice)
        raise ArgumentsRefused([problem])
    return answer


class Controls:
    """The guards of one tool that a project switches on.

    Args:
        tool: a `Tool`.
    """

    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.options = tool.options
        self.view_class = tool.endpoint.view_class

    def find_guards(self) -> Iterator[str]:
        """Yield the names of the guards of the tool."""
        if self.takes_idempotency_key:
            yield IDEMPOTENCY
        if self.checks_version:
            yield VERSION
        if self.asks_to_confirm:
            yield CONFIRM
        if self.has_dry_run:
            yield DRY_RUN

    @override_language()
    def get_parameters(self) -> tuple[Parameter, ...]:
        """Return the arguments that the guards of the tool read."""
        return tuple(self.find_parameters())

    def find_parameters(self) -> Iterator[Parameter]:
        if self.takes_idempotency_key:
            required = getattr(self.view_class, "idempotency_key_required", False)
            yield replace(self.translate(IDEMPOTENCY_KEY), required=required)
        if self.checks_version:
            yield find_precondition(self.tool).parameter  # type: ignore[union-attr]
        if self.asks_to_confirm:
            yield self.translate(CONFIRMATION)
        if self.has_dry_run:
            yield self.translate(TRIAL)

    def translate(self, parameter: Parameter) -> Parameter:
        words = _(parameter.schema["description"])
        return replace(parameter, schema={**parameter.schema, "description": words})

    @property
    def checks_version(self) -> bool:
        precondition = find_precondition(self.tool)
        return precondition is not None and precondition.guards_tool

    @property
    def takes_idempotency_key(self) -> bool:
        # A view that takes the header has the argument, as it has all that HTTP takes.
        return not self.tool.reads and (
            getattr(self.view_class, "takes_idempotency_key", False)
            or self.options.get_flag("idempotency_key", mcp_settings.IDEMPOTENCY_KEYS)
        )

    @property
    def asks_to_confirm(self) -> bool:
        if self.tool.annotations["readOnlyHint"]:
            return False
        destroys = self.options.get_flag("destructive", self.tool.endpoint.method == "DELETE")
        asks: bool = self.options.get_flag("confirm", mcp_settings.CONFIRM and destroys)
        return asks

    @property
    def has_dry_run(self) -> bool:
        asked = self.options.get_flag("dry_run", mcp_settings.DRY_RUN)
        return asked and not self.tool.reads
