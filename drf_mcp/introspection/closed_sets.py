"""The values that a query parameter takes, and how a filter reads them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import ngettext


class ClosedSet:
    """The values of a query parameter that a view uses; it ignores any other value.

    Attributes:
        separator: the text between several values, "" where there is one value.
        code: the code of the problem with a value that is ignored.
    """

    separator: ClassVar[str] = ""
    code: ClassVar[str] = "invalid_choice"

    @property
    def choices(self) -> tuple[str, ...]:
        return ()

    def get_schema(self) -> dict[str, Any]:
        return {"enum": list(self.choices)} if self.choices else {}

    def write_message(self, text: str) -> str:
        # REST framework's own words.
        return f'"{text}" is not a valid choice.'

    def takes(self, text: str) -> bool:
        raise NotImplementedError

    def get_candidates(self, text: str) -> Sequence[str]:
        """Return the values that an ignored value may be a misspelling of."""
        return self.choices

    def find_ignored(self, text: str) -> list[str]:
        if not self.separator:
            part = text.strip()
            return [part] if part and not self.takes(part) else []
        parts = text.split(self.separator)
        return [part.strip() for part in parts if part.strip() and not self.takes(part.strip())]


@dataclass(frozen=True)
class OrderingTerms(ClosedSet):
    names: tuple[str, ...]
    separator: ClassVar[str] = ","

    @property
    def choices(self) -> tuple[str, ...]:
        terms = (term for name in self.names for term in (name, f"-{name}"))
        return tuple(filter(self.takes, terms))

    @classmethod
    def among(cls, choices: Collection[str]) -> OrderingTerms | None:
        """Return the terms of these choices, None where a term sorts in one direction only."""
        terms = cls(tuple(name for name in choices if not name.startswith("-")))
        return terms if {*terms.choices} == {*choices} else None

    @property
    def pattern(self) -> str:
        # An enumeration would have each name twice.
        return f"^-?({'|'.join(map(re.escape, self.names))})$"

    def takes(self, text: str) -> bool:
        return text.removeprefix("-") in self.names


@dataclass(frozen=True)
class LongestTexts(ClosedSet):
    """Texts that a column can hold: no row equals a longer one."""

    max_length: int
    # Some filters take several texts with commas between them.
    separator: str = ""  # type: ignore[misc]
    code: ClassVar[str] = "max_length"

    def get_schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": self.max_length}

    def write_message(self, text: str) -> str:
        words = ngettext(
            "No value has more than %(limit)d character (this has %(count)d).",
            "No value has more than %(limit)d characters (this has %(count)d).",
            self.max_length,
        )
        return words % {"limit": self.max_length, "count": len(text)}

    def takes(self, text: str) -> bool:
        return len(text) <= self.max_length

    def get_candidates(self, text: str) -> Sequence[str]:
        # A number with hyphens or spaces in it, as people write numbers of books and cards.
        bare = re.sub(r"[\W_]+", "", text)
        return [bare] if bare and self.takes(bare) else []


@dataclass(frozen=True)
class FormValues(ClosedSet):
    form_field: Any = field(compare=False)
    value_schema: dict[str, Any]
    is_lenient: bool = False

    def get_schema(self) -> dict[str, Any]:
        return super().get_schema() or self.value_schema

    @property
    def choices(self) -> tuple[str, ...]:
        if isinstance(self.form_field, forms.NullBooleanField):
            return ("true", "false")
        return tuple(str(choice) for choice in self.value_schema.get("enum", ()))

    def takes(self, text: str) -> bool:
        try:
            data = self.form_field.widget.value_from_datadict({"value": text}, {}, "value")
            # A filter ignores a value that its form cleans to None.
            return self.form_field.clean(data) is not None
        except ValidationError:
            return not self.is_lenient


@dataclass(frozen=True)
class FilterPart:
    """A query parameter that is one of several of a filter, or a bound of a range.

    Attributes:
        filter: the name of the filter, under which its form reports errors.
        form_field: the form field that reads the value.
        range: the name of the range that the value bounds, "" for none.
        end: ``lower`` or ``upper`` for a bound.
    """

    filter: str
    form_field: Any = field(compare=False)
    range: str = ""
    end: str = ""

    def read(self, value: Any) -> Any:
        """Return the value as the filter has it, None for a value that its form refuses."""
        try:
            return self.form_field.clean(str(value))
        except ValidationError:
            return None

    def bounds_with(self, other: FilterPart) -> bool:
        """Return whether this is the lower, and the other the upper bound of one range."""
        ends = (self.end, other.end)
        return ends == ("lower", "upper") and self.range == other.range
