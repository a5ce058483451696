"""The hooks that describe a class of serializer fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_mcp.introspection.types import Schema


class FieldDescriber:
    """Describes the serializer fields of some classes as JSON Schema.

    Each field is described by the describer of the nearest class in its MRO. A subclass
    whose `field_classes` name a project's own fields is found as soon as it is imported,
    for example in an app's ``mcp.py``::

        class MoneyDescriber(FieldDescriber):
            field_classes = (MoneyField,)

            def get_input_schema(self):
                return {"type": "string", "description": "An amount such as 12.50 EUR."}

            def get_output_schema(self):
                return {"type": "object", "properties": {"amount": {"type": "string"}}}

    Help texts, defaults, null and validators are added to what the hooks return.

    Attributes:
        field_classes: the field classes, and so their subclasses.
        field: the serializer field to describe.
        describe: returns the `DescribedField` of a field inside this one.
    """

    field_classes: ClassVar[tuple[type, ...]] = ()
    registry: ClassVar[dict[type, type[FieldDescriber]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        FieldDescriber.registry.update(dict.fromkeys(vars(cls).get("field_classes", ()), cls))

    def __init__(self, field: Any, describe: Callable[[Any], Any]) -> None:
        self.field = field
        self.describe = describe

    def get_input_schema(self) -> Schema:
        """Return the schema of the values that the field takes; ``{}`` for any."""
        return {}

    def get_output_schema(self) -> Schema:
        """Return the schema of the values that the field gives; ``{}`` for any."""
        return {}


class ArrayDescriber(FieldDescriber):
    """Describes fields of many values by the schema of one."""

    def get_input_items(self) -> Schema:
        return {}

    def get_output_items(self) -> Schema:
        return {}

    def get_input_schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.get_input_items()}
        return schema if self.field.allow_empty else {**schema, "minItems": 1}

    def get_output_schema(self) -> Schema:
        return {"type": "array", "items": self.get_output_items()}
