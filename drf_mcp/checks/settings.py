from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error, Warning

from drf_mcp.archive import Archive
from drf_mcp.checks.project import Project, register_check
from drf_mcp.envelopes import Envelope
from drf_mcp.exceptions import contain
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation import Digester

CONTRIB = "drf_mcp.contrib."
# Setting -> the class to derive from, and the methods that a class must have.
CLASSES: dict[str, tuple[type, tuple[str, ...]]] = {
    "DIGESTER_CLASS": (Digester, ("condense",)),
    "ARCHIVE_CLASS": (Archive, ("store", "read", "latest")),
}


@register_check(needs_settings=False)
def check_settings(project: Project) -> Iterator[CheckMessage]:
    hint = "Correct DRF_MCP in the settings."
    for message in project.setting_errors:
        yield Error(message, hint=hint, id="drf_mcp.E001")


@register_check()
def check_envelopes(project: Project) -> Iterator[CheckMessage]:
    candidates = [
        mcp_settings.ENVELOPE_CLASS,
        *(endpoint.view.envelope_class for endpoint in project.endpoints),
        *(tool.options.envelope_class for tool in project.tools.values()),
    ]
    hint = 'See docs/envelopes.md, "An envelope of your own".'
    for envelope_class in dict.fromkeys(filter(None, candidates)):
        for fault in find_envelope_faults(envelope_class):
            yield Error(f"{envelope_class.__name__} {fault}", hint=hint, id="drf_mcp.E003")


@register_check()
def check_fidelity_classes(project: Project) -> Iterator[CheckMessage]:
    for name, (base, methods) in CLASSES.items():
        named = getattr(mcp_settings, name)
        for method in methods if named is not None else ():
            if getattr(named, method) is getattr(base, method):
                yield Error(
                    f"DRF_MCP[{name!r}]: {named.__name__} has no method {method}().",
                    hint="See docs/large_results.md.",
                    id="drf_mcp.E005",
                )


@register_check()
def check_required_apps(project: Project) -> Iterator[CheckMessage]:
    for config in apps.get_app_configs():
        for name in getattr(config, "mcp_requires", ()):
            if not apps.is_installed(name):
                yield Error(
                    f"{config.name} needs {name}, which is not installed.",
                    hint=f"Add {name!r} to INSTALLED_APPS.",
                    id="drf_mcp.E018",
                )


@register_check()
def check_added_items(project: Project) -> Iterator[CheckMessage]:
    kinds = {type(item) for item in project.registry.find_added(object)}
    modules = {base.__module__ for kind in kinds for base in kind.__mro__}
    needed = {".".join(name.split(".")[:3]) for name in modules if name.startswith(CONTRIB)}
    for name in sorted(needed):
        if not apps.is_installed(name):
            yield Warning(
                f"What was added to the registry of {name} is served to no client.",
                hint=f"Add {name!r} to INSTALLED_APPS.",
                id="drf_mcp.W029",
            )


def find_envelope_faults(envelope_class: type[Envelope]) -> Iterator[str]:
    """Yield what an envelope class lacks, each as the end of a sentence that its name begins."""
    if envelope_class.render is Envelope.render:
        yield "has no render(outcome) method."
    schema: Any = contain(lambda: envelope_class().schema({}), lambda exc: exc)
    if isinstance(schema, Exception):
        yield f"cannot state its schema({{}}): {type(schema).__name__}: {schema}"
    elif schema is not None and (not isinstance(schema, Mapping) or schema.get("type") != "object"):
        yield 'gives a schema whose root is not {"type": "object"}.'
    elif schema is not None:
        try:
            from jsonschema import Draft202012Validator, SchemaError
        except ImportError:  # The package does not require it.
            return
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as exc:
            yield f"gives a schema that is not a JSON Schema: {exc.message}."
