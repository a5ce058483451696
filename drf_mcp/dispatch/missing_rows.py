"""The arguments that identify rows which do not exist, where the database refused them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.dispatch.errors.exceptions import Rule
from drf_mcp.dispatch.errors.remediation import PROBLEM_REMEDIES
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.outcomes import Failure, Problem
from drf_mcp.tools.arguments.call import BODY
from drf_mcp.tools.arguments.masking import mask_member
from drf_mcp.tools.tool import Tool


class MissingRows:
    """The foreign keys in the body of a call that broke a reference.

    Args:
        tool: the tool that was called.
        content: the body of its request.
    """

    def __init__(self, tool: Tool, content: bytes) -> None:
        self.tool = tool
        self.content = content

    def add_to(self, failure: Failure) -> Failure:
        """Return the failure with the arguments whose rows do not exist."""
        if failure.message != _(Rule.REFERENCE.value[0]):
            return failure
        # The connection may be unusable, and a body need not be JSON.
        none: tuple[Problem, ...] = ()
        problems = attempt(self.tool.name, lambda: tuple(self.find_problems()), "", [], none)
        if not problems:
            return failure
        return replace(failure, problems=problems, remediation=problems[0].remediation)

    def find_problems(self) -> Iterator[Problem]:
        body = json.loads(self.content)
        for argument in self.tool.arguments.arguments if isinstance(body, Mapping) else ():
            name = argument.parameter.name
            if argument.location == BODY and body.get(name) is not None:
                model = self.find_model(name)
                if model is not None and not model._base_manager.filter(pk=body[name]).exists():
                    yield self.get_problem(argument, model, body[name])

    def find_model(self, name: str) -> Any:
        model = self.tool.endpoint.model
        columns = () if model is None else model._meta.concrete_fields
        field = next((each for each in columns if name in (each.name, each.attname)), None)
        return getattr(field, "related_model", None)

    def get_problem(self, argument: Any, model: Any, value: Any) -> Problem:
        advice = PROBLEM_REMEDIES["does_not_exist"]
        remediation = _(advice).format(name=f"'{argument.name}'")
        if finder := self.tool.related.find_list(model):
            text = _("Use %(tool)s to find existing ids, then call again with one of them.")
            remediation = text % {"tool": finder}
        return Problem(
            code="does_not_exist",
            message=_("No object has this key."),
            pointer=argument.pointer,
            received=mask_member(argument.name, value),
            remediation=remediation,
        )
