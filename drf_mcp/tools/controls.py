"""What guards a tool, by its options and the settings, and which arguments the guards read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.introspection.types import Handling, Parameter
from drf_mcp.settings import mcp_settings, override_language
from drf_mcp.tools.preconditions import PRECONDITION

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
DRY_RUN = "dry_run"
TRIAL = Parameter(
    DRY_RUN,
    {"type": "boolean", "description": gettext_noop("True: only show what would change.")},
)


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
            yield "idempotency"
        if self.checks_version:
            yield PRECONDITION
        if self.asks_to_confirm:
            yield "confirm"
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
            yield self.tool.precondition.parameter
        if self.asks_to_confirm:
            yield self.translate(CONFIRMATION)
        if self.has_dry_run:
            yield self.translate(TRIAL)

    def translate(self, parameter: Parameter) -> Parameter:
        words = _(parameter.schema["description"])
        return replace(parameter, schema={**parameter.schema, "description": words})

    @property
    def checks_version(self) -> bool:
        precondition = self.tool.precondition
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
