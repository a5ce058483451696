"""What a server can do beside the lifecycle: tools, and whatever a project adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_mcp.protocol.eras import Era


class Capability:
    """One capability of a server: its methods, and their place in the protocol.

    A subclass listed in `Server.capability_classes` is advertised and served in each revision
    that `result_members` names. A handler takes the `RequestContext` of the request, makes
    sure that the caller is authenticated, and returns the members of the result.

    Attributes:
        name: the member of the capabilities object that advertises the capability.
        methods: the name of the handler by MCP method.
        name_parameters: the member of ``params`` that the Mcp-Name header repeats, by method.
        result_members: the members of each result by revision and method. Members that a
            revision does not define are not sent, and a method without an entry does not exist
            in the revision. A result with ``ttlMs`` may be cached.

    Args:
        server: the server that has the capability.
    """

    name: ClassVar[str]
    methods: ClassVar[Mapping[str, str]] = {}
    name_parameters: ClassVar[Mapping[str, str]] = {}
    result_members: ClassVar[Mapping[str, Mapping[str, frozenset[str]]]] = {}

    def __init__(self, server: Any) -> None:
        self.server = server

    def get_capability_object(self, era: Era) -> Mapping[str, Any] | None:
        """Return the options that a client is told of; None to advertise nothing."""
        return {} if era.revision in self.result_members else None

    def get_result_members(self, method: str, era: Era) -> frozenset[str] | None:
        """Return the members of a method's result; None where there is no such method."""
        if method not in self.methods:
            return None
        return self.result_members.get(era.revision, {}).get(method)
