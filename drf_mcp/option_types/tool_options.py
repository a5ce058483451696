"""The kinds of values that options of tools, views and endpoints take."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from drf_mcp.option_types.kinds import (
    Choice,
    Class,
    Either,
    Flag,
    Function,
    Icon,
    InstanceOf,
    Issuer,
    Kind,
    ListOf,
    MappingOf,
    NamedPatterns,
    Number,
    PermissionClass,
    ResourceURI,
    Scope,
    Text,
    ToolPattern,
    Words,
    shorten_repr,
)

# The names of the members of ``_meta`` (2025-11-25, basic, "General fields").
LABEL = r"[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
PREFIX = re.compile(rf"{LABEL}(?:\.{LABEL})*")
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
PROTOCOL = ("modelcontextprotocol", "mcp")
TRACING = ("traceparent", "tracestate", "baggage")


class JSONObject(Kind):
    words = "a dict of JSON values"

    def takes(self, value: Any) -> bool:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            return False
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return False
        return True


class MetaMembers(JSONObject):
    def fault(self, value: Any) -> str:
        fault = super().fault(value)
        if fault or value is None:
            return fault
        faults = ((key, self.find_fault(key)) for key in value)
        return next(
            (f"holds the key {shorten_repr(k)}: {found}." for k, found in faults if found), ""
        )

    def find_fault(self, key: str) -> str:
        prefix, slash, name = key.rpartition("/")
        if (slash and not PREFIX.fullmatch(prefix)) or not (
            NAME.fullmatch(name) or (slash and not name)
        ):
            return "a key is a name such as 'team', or has a prefix such as 'com.example/team'"
        labels = prefix.split(".")
        # Up to 2025-06-18 any label but the last, since then the second one.
        if any(label in PROTOCOL for label in (*labels[:-1], *labels[1:2])):
            return "the prefix is reserved for the protocol"
        return "the name is reserved for the protocol" if key in TRACING else ""


EXAMPLES = ListOf(JSONObject())
ICONS = ListOf(Icon())
SCHEMAS = MappingOf(
    MappingOf(Kind(none=True), "a schema"), "a dict from names to JSON Schemas", none=True
)
JSON_SCHEMA = MappingOf(Kind(none=True), "a JSON Schema as a dict", none=True)
# The kind of value that each option of a tool takes.
KINDS: Mapping[str, Kind] = {
    "name": Text(none=True),
    "title": Text(lazy=True, none=True),
    "description": Text(lazy=True, none=True),
    **dict.fromkeys(
        ("read_only", "destructive", "idempotent", "open_world", "extra_query", "portable", "many"),
        Flag(none=True),
    ),
    "archive": Flag(none=True),
    "query": SCHEMAS,
    "body": SCHEMAS,
    "input_schema": JSON_SCHEMA,
    "output_schema": Either(Choice("envelope", "full", "data"), JSON_SCHEMA, none=True),
    "envelope_class": Class("drf_mcp.envelopes.Envelope", none=True),
    "max_result_tokens": Number(0, none=True),
    "max_error_tokens": Number(0, none=True),
    "throttle_scope": Text(none=True),
    "time_limit": Number(0, none=True),
    "condition": Function(none=True),
    "tags": Words(),
    "examples": EXAMPLES,
    "keywords": Words(),
    "untrusted": Words(),
    "required_capabilities": MappingOf(Kind(), "a dict such as {'elicitation': {}}", none=True),
    "meta": MetaMembers(none=True),
    "icons": ICONS,
}
COLLECTIONS = frozenset({"tags", "examples", "keywords", "icons", "untrusted"})
VIEW_KINDS: Mapping[str, Kind] = {
    "actions": Words(none=True),
    "exclude": Words(),
    "name": Text(none=True),
}
# The kind of value that each attribute of an endpoint takes.
ENDPOINT_KINDS: Mapping[str, Kind] = {
    "server_class": Class("drf_mcp.server.Server"),
    "registry": InstanceOf("drf_mcp.tools.Registry"),
    "envelope_class": Class("drf_mcp.envelopes.Envelope", none=True),
    "authentication_classes": ListOf(
        Class("rest_framework.authentication.BaseAuthentication"), none=True
    ),
    "permission_classes": ListOf(PermissionClass(), none=True),
    "tools": ListOf(ToolPattern(), none=True),
    "read_only": Flag(),
    "toolsets": NamedPatterns(none=True),
    "tool_options": MappingOf(Kind(none=True), "a dict of options of tools", none=True),
    "server_name": Text(none=True),
    "server_title": Text(lazy=True, none=True),
    "server_version": Text(none=True),
    "instructions": Text(lazy=True, none=True, empty=True),
    "throttle_classes": ListOf(Class("rest_framework.throttling.BaseThrottle"), none=True),
    "browsable_page": Flag(none=True),
    "authorization_servers": ListOf(Issuer(), none=True),
    "scopes": ListOf(Scope(), none=True),
    "resource": ResourceURI(none=True),
}
