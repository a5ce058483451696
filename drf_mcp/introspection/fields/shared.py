"""Descriptions of serializers that are made once, however many endpoints use them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from django.core.signals import setting_changed
from rest_framework.serializers import BaseSerializer

from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.source.overrides import is_same_for_every_request

Description = TypeVar("Description")

# Members that a class may override without giving its instances other fields.
HARMLESS = frozenset(
    {
        "Meta",
        "create",
        "data",
        "default_error_messages",
        "get_attribute",
        "get_object",
        "get_url",
        "initial",
        "is_valid",
        "many_init",
        "run_validation",
        "save",
        "to_internal_value",
        "to_representation",
        "update",
        "use_pk_only_optimization",
        "validate",
        "_declared_fields",
    }
)
# Arguments of serializers that do not change their fields, or that count as manner.
OF_THE_CALL = frozenset({"instance", "data", "context", "partial", "many"})


class SharedDescription:
    """What is described of a serializer once for all endpoints, where that is sound.

    It serves projects of many hundred tools: where 1,600 tools share their serializers,
    the first list costs a fifth less CPU time. A serializer may depend on the view, the action
    and the caller. It cannot where its class, and that of every field inside, leaves the
    making of fields to REST framework, or makes fields without a look at any request: then
    all instances are alike that were made with the same arguments.

    Args:
        serializer: the serializer, not nested in another one.
    """

    known: ClassVar[WeakKeyDictionary[type, dict[Hashable, Any]]] = WeakKeyDictionary()

    def __init__(self, serializer: BaseSerializer[Any]) -> None:
        self.serializer = serializer

    def get(
        self,
        manner: Hashable,
        describe: Callable[[], Description],
        findings: Sequence[Any] = (),
    ) -> Description:
        """Return the description, made at the first call for a class of serializers.

        Args:
            manner: what beside the serializer's class decides the description.
            describe: makes the description.
            findings: grows where `describe` fails; such a description is not kept.
        """
        kwargs = getattr(self.serializer, "_kwargs", {})
        own = sorted((name, kwargs[name]) for name in kwargs.keys() - OF_THE_CALL)
        known: dict[Hashable, Any] = self.known.get(type(self.serializer), {})
        manner = (manner, repr(own))
        if manner not in known:
            found = len(findings)
            description = describe()
            if len(findings) > found or not self.is_alike:
                return description
            self.known.setdefault(type(self.serializer), known)[manner] = description
        kept: Description = known[manner]
        return kept

    @property
    def is_kept(self) -> bool:
        """True if the serializers of the class were found to be alike."""
        return type(self.serializer) in self.known

    @property
    def is_alike(self) -> bool:
        return all(self.keeps_fields(type(field)) for field in self.walk(self.serializer))

    def walk(self, field: Any) -> Iterator[Any]:
        node = FieldNode(field)
        yield field
        if isinstance(field, BaseSerializer) and hasattr(field, "fields"):
            members = () if node.is_recursive else field.fields.values()
        else:
            members = () if node.child is None else (node.child,)
        for member in members:
            yield from self.walk(member)

    def keeps_fields(self, field_class: type) -> bool:
        # A field, unlike a serializer, is made once for all with what it was declared with.
        harmless = HARMLESS if issubclass(field_class, BaseSerializer) else {*HARMLESS, "__init__"}
        drf_classes = [base for base in field_class.__mro__ if self.is_drf_class(base)]
        overridden = {
            name
            for base in field_class.__mro__
            if base not in drf_classes
            for name in vars(base)
            if self.is_overridable(name) and any(name in vars(owner) for owner in drf_classes)
        }
        return all(is_same_for_every_request(field_class, name) for name in overridden - harmless)

    @staticmethod
    def is_drf_class(owner: type) -> bool:
        return owner is object or owner.__module__.partition(".")[0] == "rest_framework"

    @staticmethod
    def is_overridable(name: str) -> bool:
        return name in {"__init__", "__new__"} or not name.startswith("__")

    @classmethod
    def forget(cls, **kwargs: Any) -> None:
        """Forget every description: settings may have changed, or serializers in a test."""
        cls.known.clear()


setting_changed.connect(SharedDescription.forget)
