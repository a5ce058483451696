"""System checks of the settings and of what they make of the tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.urls import URLResolver, get_resolver

from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import contain
from drf_mcp.settings import SETTINGS, mcp_settings, project_faults
from drf_mcp.tools import Registry, Tool, registry
from drf_mcp.views import MCPView


@register("drf_mcp")
def check_settings(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Read every setting once, so that a bad one shows before the first request."""
    hint = "Correct DRF_MCP in the settings."
    return [Error(message, hint=hint, id="drf_mcp.E001") for message in setting_errors()]


@register("drf_mcp", deploy=True)
def check_descriptions(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Describe every tool, so that what cannot be described shows before an agent asks.

    Only with ``--deploy``, since nothing is described at startup otherwise.
    """
    count = sum(len(tool.findings) for tool in readable_tools().values())
    if not count:
        return []
    message = f"{count} part{'s' if count > 1 else ''} of the tools could not be described."
    hint = "See python manage.py mcp_tools --warnings for each place and its remedy."
    return [Warning(message, hint=hint, id="drf_mcp.W010")]


@register("drf_mcp")
def check_tools(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Read the tools off the URLconf, so that clashing names show before the first request."""
    if not can_read_tools():
        return []
    try:
        registry.tools()
    except ImproperlyConfigured as exc:
        return [Error(str(exc), hint="Give each tool a name of its own.", id="drf_mcp.E002")]
    return []


@register("drf_mcp")
def check_envelopes(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """Look at every envelope class in use, so that one lacking something shows before a call."""
    if not can_read_tools():
        return []
    hint = 'See docs/envelopes.md, "An envelope of your own".'
    return [
        Error(f"{used.__name__} {lack}", hint=hint, id="drf_mcp.E003")
        for used in dict.fromkeys(envelopes_in_use())
        for lack in lacks(used)
    ]


def envelopes_in_use() -> Iterator[Any]:
    """Yield the envelope of the project, those of endpoints and those of tools."""
    yield mcp_settings.ENVELOPE_CLASS
    yield from endpoint_envelopes(get_resolver().url_patterns)
    tools = readable_tools().values()
    yield from (tool.options.envelope_class for tool in tools if tool.options.envelope_class)


def endpoint_envelopes(patterns: Sequence[Any]) -> Iterator[Any]:
    """Yield the envelope that each MCP endpoint among URL patterns was given."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from endpoint_envelopes(pattern.url_patterns)
        view_class = getattr(pattern.callback, "view_class", None)
        if isinstance(view_class, type) and issubclass(view_class, MCPView):
            given = pattern.callback.view_initkwargs.get("envelope_class")
            if chosen := given or view_class.envelope_class:
                yield chosen


def lacks(used: Any) -> Iterator[str]:
    """Yield what an envelope class lacks, each as the end of a sentence that it begins."""
    if used.render is Envelope.render:
        yield "has no render(outcome) method."
    schema = contain(lambda: used().schema({}), lambda exc: exc)
    if isinstance(schema, Exception):
        yield f"cannot state its schema({{}}): {type(schema).__name__}: {schema}"
    elif schema is not None:
        yield from schema_lacks(schema)


def schema_lacks(schema: Any) -> Iterator[str]:
    """Yield what keeps a schema from being an ``outputSchema`` that every client takes."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        yield 'gives a schema whose root is not {"type": "object"}.'
        return
    try:
        from jsonschema import Draft202012Validator, SchemaError
    except ImportError:  # It is no requirement of this package.
        return
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as exc:
        yield f"gives a schema that is no JSON Schema: {exc.message}."


def can_read_tools() -> bool:
    """Return whether the settings are in order and there is a URLconf to read tools off."""
    return bool(getattr(settings, "ROOT_URLCONF", None)) and not any(setting_errors())


def readable_tools(of: Registry = registry) -> Mapping[str, Tool]:
    """Return the tools of a registry, none where another check says why they cannot be read."""
    if not can_read_tools():
        return {}
    try:
        return of.tools()
    except ImproperlyConfigured:
        return {}


def setting_errors() -> Iterator[str]:
    """Yield what is wrong with the settings: unknown keys and every wrong value."""
    project = getattr(settings, "DRF_MCP", {})
    yield from project_faults(project)
    given = project if isinstance(project, Mapping) else {}
    for name, setting in SETTINGS.items():
        if fault := setting_fault(name, given.get(name, setting.default)):
            yield fault


def setting_fault(name: str, value: Any) -> str:
    """Return why a setting cannot be read, "" if it can; a module it names may raise anything."""
    place = f"DRF_MCP[{name!r}]"

    def read() -> str:
        SETTINGS[name].kind.read(value, place)
        return ""

    def say(exc: Exception) -> str:
        expected = isinstance(exc, ImproperlyConfigured)
        return str(exc) if expected else f"{place} cannot be read: {type(exc).__name__}: {exc}"

    return contain(read, say)
