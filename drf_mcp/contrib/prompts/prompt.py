from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured
from django.template import engines
from django.template.backends.django import Template
from django.template.context import make_context
from django.template.loader import get_template
from django.utils.encoding import force_str
from rest_framework import serializers
from rest_framework.fields import HiddenField

from drf_mcp.errors import ask_nearest, find_nearest, mask_member, shorten_value
from drf_mcp.exceptions import InvalidParams
from drf_mcp.features import JSON_OBJECT, WORDS, Kind, ListOf, Text
from drf_mcp.option_types.kinds import ICON, refuse_wrong_values

SERIALIZER = Kind(
    "a subclass of rest_framework.serializers.Serializer",
    lambda value: isinstance(value, type) and issubclass(value, serializers.Serializer),
)
KINDS: Mapping[str, Kind] = {
    "name": Text(),
    "template": Text().or_none(),
    "text": Text().or_none(),
    "serializer_class": SERIALIZER.or_none(),
    "resources": WORDS,
    "title": Text(lazy=True).or_none(),
    "description": Text(lazy=True).or_none(),
    "icons": ListOf(ICON),
    "meta": JSON_OBJECT.or_none(),
}
VARIABLE = re.compile(r"\{(\w+)\}")


class Prompt:
    """A Django template that a person picks, such as a slash command, and fills in.

    ``registry.add(Prompt("complaint", "shop/complaint.md"))`` serves it.

    Args:
        name: by which clients name it.
        template: the name of a template, which is plain text: nothing is escaped.
        text: in place of a template's name, its source.
        serializer_class: its fields are the arguments, in the template as the validated values.
        resources: paths or URIs that are put before the text, read for the caller; an argument
            is in braces: ``"api/orders/{order}"``.
        title, description: for people, texts that may be translated.
        icons, meta: as of a tool.

    Raises:
        ImproperlyConfigured, TemplateDoesNotExist, TemplateSyntaxError: if it cannot be served.
    """

    def __init__(
        self,
        name: str,
        template: str | None = None,
        *,
        text: str | None = None,
        serializer_class: type[serializers.Serializer[Any]] | None = None,
        resources: Sequence[str] = (),
        meta: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        self.details = self._read_details(**details)
        own = {"template": template, "text": text, "serializer_class": serializer_class}
        values = {"name": name, **own, "resources": resources, "meta": meta, **self.details}
        refuse_wrong_values(KINDS, values, f"Prompt({name!r})")
        self.name = name
        self.serializer_class = serializer_class
        self.resources = tuple(resources)
        self.meta = meta
        if (template is None) is (text is None):
            raise ImproperlyConfigured(f"Prompt({name!r}) needs either a template or a text.")
        make_template = engines["django"].from_string
        self.template: Any = get_template(template) if template else make_template(text or "")

    def _read_details(
        self, title: Any = None, description: Any = None, icons: Sequence[Mapping[str, Any]] = ()
    ) -> dict[str, Any]:
        return {"title": title, "description": description, "icons": icons}

    def get_messages(self, values: Mapping[str, Any], request: Any) -> list[dict[str, Any]]:
        """Return the messages (server/prompts); a subclass may give several.

        Args:
            values: the validated arguments.
            request: REST framework's request of the caller.
        """
        text = self.render(values, request)
        return [{"role": "user", "content": {"type": "text", "text": text}}]

    def render(self, values: Mapping[str, Any], request: Any) -> str:
        """Return the text of the template."""
        template, http_request = self.template, request._request
        if not isinstance(template, Template):
            return force_str(template.render(dict(values), http_request))
        context = make_context(dict(values), http_request, autoescape=False)
        return force_str(template.template.render(context)).strip()

    def find_paths(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield the paths or URIs of the resources of one prompt."""
        for path in self.resources:
            if whole := VARIABLE.fullmatch(path):
                # An argument that is a URI.
                yield str(arguments.get(whole[1], ""))
            else:
                yield VARIABLE.sub(lambda m: quote(str(arguments.get(m[1], "")), safe=""), path)

    # --- Arguments ------------------------------------------------------------------------------

    def get_serializer(self, **kwargs: Any) -> serializers.Serializer[Any]:
        """Return an instance of the serializer, one without fields where there is none."""
        return (self.serializer_class or serializers.Serializer)(**kwargs)

    def find_fields(self, serializer: Any) -> dict[str, Any]:
        return {
            name: field
            for name, field in serializer.fields.items()
            if not field.read_only and not isinstance(field, HiddenField)
        }

    @property
    def label(self) -> Any:
        """What people read of the prompt, perhaps a lazy text."""
        docstring: str = getattr(self.serializer_class, "__doc__", None) or ""
        return self.details["description"] or inspect.cleandoc(docstring) or self.name

    def get_definition(self) -> dict[str, Any]:
        """Return the members of a Prompt (server/prompts)."""
        arguments = []
        for name, field in self.find_fields(self.get_serializer()).items():
            facts = {"name": name, "title": field.label, "description": field.help_text}
            facts["required"] = field.required
            arguments.append({k: v for k, v in facts.items() if v not in (None, "")})
        members = {
            "name": self.name,
            **self.details,
            "description": self.label,
            "arguments": arguments,
            "_meta": self.meta,
        }
        return {name: value for name, value in members.items() if value}

    def refuse_unknown(self, arguments: Mapping[str, Any], known: Mapping[str, Any]) -> None:
        for name in arguments:
            if name not in known:
                message = f"The prompt {self.name} has no argument {name[:64]!r}."
                asked = ask_nearest(find_nearest(name, known))
                raise InvalidParams(f"{message} {asked}".strip(), http_status=200)

    def sanitize_arguments(self, arguments: Any) -> Any:
        if not isinstance(arguments, Mapping):
            return None
        return shorten_value({n: mask_member(str(n), value) for n, value in arguments.items()})
