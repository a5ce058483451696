"""What is said of a filter of django-filter: its help text, its label, or the model field's."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext, gettext_noop
from django_filters import filters
from django_filters.utils import label_for_filter

from drf_mcp.introspection.model_fields import find_model_field
from drf_mcp.introspection.text import clean_text, says_more
from drf_mcp.introspection.types import Schema

PACKAGES = frozenset({"django", "django_filters"})
COMMAS = "Multiple values may be separated by commas."
UNNAMED = "[invalid name]"  # django-filter's label for a filter that is no model field
BOUNDS = {
    "gt": gettext_noop("More than this"),
    "gte": gettext_noop("This or more"),
    "lt": gettext_noop("Less than this"),
    "lte": gettext_noop("This or less"),
}


class FilterWords:
    def __init__(self, item: filters.Filter | None, name: str) -> None:
        self.item = item
        self.name = name
        self.model = getattr(item, "model", None)

    def get_purpose(self, field: Any, schema: Schema) -> str:
        help_text = clean_text(field.help_text)
        if help_text == gettext(COMMAS):  # django-filter's own, and an array here
            help_text = ""
        return help_text or self.name_purpose(field.label, schema)

    def name_purpose(self, label: Any, schema: Schema) -> str:
        named = clean_text(label)
        if not says_more(named, self.name) or UNNAMED in named:
            return self.get_help_text()
        if not self.is_own(named):
            return named
        # The filter's name says the rest of what django-filter's label says.
        item, is_number = self.item, schema.get("type") in ("integer", "number")
        words = BOUNDS.get(item.lookup_expr, "") if item is not None and is_number else ""
        return gettext(words)

    def is_own(self, label: str) -> bool:
        """Whether both label and name are those that django-filter gives a filter."""
        item = self.item
        if item is None or self.model is None or item.exclude:
            return False
        names = (item.field_name, f"{item.field_name}__{item.lookup_expr}")
        written = label_for_filter(self.model, item.field_name, item.lookup_expr, item.exclude)
        return label == written and self.name in names

    def get_help_text(self) -> str:
        # That of the model field: a filter has its label alone, which may be its name. Django's own
        # models speak to people who fill in a form ("Required. 150 characters or fewer.").
        if self.item is None or self.model is None or not self.item.field_name:
            return ""
        field = find_model_field(self.model, self.item.field_name)
        if field is None or field.model.__module__.partition(".")[0] in PACKAGES:
            return ""
        return clean_text(getattr(field, "help_text", ""))
