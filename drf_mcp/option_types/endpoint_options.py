from __future__ import annotations

from collections.abc import Mapping

from drf_mcp.option_types.kinds import (
    Class,
    Flag,
    InstanceOf,
    Issuer,
    Kind,
    ListOf,
    MappingOf,
    NamedPatterns,
    PermissionClass,
    ResourceURI,
    Scope,
    Text,
    ToolPattern,
)

# The kind of value that each attribute of an endpoint takes.
KINDS: Mapping[str, Kind] = {
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
