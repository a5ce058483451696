"""The argument ``ids`` of a read of several objects, in place of the key of one."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.introspection.field_schema import FieldSchema, explain
from drf_mcp.introspection.types import Parameter, Schema
from drf_mcp.outcomes import MISSING, Problem
from drf_mcp.tools.arguments.call import PATH, Argument
from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.arguments.masking import mask_secrets

NAME = "ids"
MOST = 50


class IdsArgument(Argument):
    @classmethod
    def for_key(cls, key: Parameter, group: str) -> IdsArgument:
        parameter = Parameter(key.name, cls.build_schema(key.schema), required=True)
        return cls(NAME, PATH, parameter, group=group)

    @classmethod
    def build_schema(cls, key: Schema) -> Schema:
        known = FieldSchema.of(key)
        items = {name: value for name, value in known.items() if name != "description"}
        order = _("Answered in this order, with null for a miss")
        return {
            "type": "array",
            **explain({}, known.get("description", ""), order),
            "items": FieldSchema(items, known.meaning),
            "minItems": 1,
            "maxItems": MOST,
        }

    def read(self, value: Any) -> list[Any]:
        # Models send the one id that they have without a list around it as well.
        value = super().read(value)
        if value is None:
            return []  # refused by its name
        ids = value if isinstance(value, list) else [value]
        if not 0 < len(ids) <= MOST:
            raise ArgumentsRefused([self.wrong_number(len(ids))])
        wrong = [(i, v) for i, v in enumerate(ids) if not is_id(v)]
        if wrong:
            raise ArgumentsRefused([self.not_an_id(i, v, ids is value) for i, v in wrong])
        return ids

    def wrong_number(self, count: int) -> Problem:
        sentences = [_("Send an array of 1 to %(most)d ids.") % {"most": MOST}]
        if count:
            sentences.append(_("Ask for the others in further calls."))
        text = _("'%(name)s' has %(count)d ids; it takes 1 to %(most)d.")
        return Problem(
            code="max_length" if count else "empty",
            message=text % {"name": self.name, "count": count, "most": MOST},
            pointer=self.pointer,
            accepted=_("an array of 1 to %(most)d ids") % {"most": MOST},
            remediation=" ".join(sentences),
        )

    def not_an_id(self, index: int, value: Any, listed: bool) -> Problem:
        return Problem(
            code="invalid",
            message=_("An id is a string or a number."),
            pointer=f"{self.pointer}/{index}" if listed else self.pointer,
            received=mask_secrets(value),
            accepted=_("an array of 1 to %(most)d ids") % {"most": MOST},
            remediation=_("Send an array of 1 to %(most)d ids.") % {"most": MOST},
        )

    def find_in_request(self, view: Any, body: Any) -> Any:
        value = super().find_in_request(view, body)
        return value if value is MISSING else [value]


def is_id(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)
