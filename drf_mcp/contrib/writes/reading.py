"""What a guard of a call reads as long as a transaction lasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from drf_mcp.contrib.writes.preconditions import CallTarget
from drf_mcp.dispatch.blockers import Listings
from drf_mcp.dispatch.encoding import AnswerEncoder
from drf_mcp.exceptions import contain
from drf_mcp.outcomes import Outcome


class Reading(CallTarget):
    """Reads the object of a call, and its answer."""

    def read_fields(self) -> Mapping[str, Any]:
        """Return the object as its GET shows it to the caller, {} if it does not."""
        if not self.is_offered:
            return {}

        def read() -> Any:
            answer = self.read()
            return None if answer is None else AnswerEncoder().plain(answer.content.data)

        data = contain(read, lambda exc: None)
        return data if isinstance(data, Mapping) else {}

    @property
    def reader(self) -> Any:
        """The endpoint that reads the object, None if no tool does."""
        return self.tool.related.find_read(self.tool.endpoint.object_path)

    @property
    def is_offered(self) -> bool:
        # What takes the tool that reads the object away from the caller takes the fields as well.
        caller, endpoints = self.call.caller, self.tool.related.endpoints
        reader = self.reader
        names = (name for name, endpoint in endpoints.items() if endpoint is reader)
        tool = replace(self.tool.for_endpoint(reader), name=next(names, ""))
        return reader is not None and caller.find_narrowing(tool) is None

    @property
    def listings(self) -> Listings:
        """The lists, as far as the caller may see their rows."""
        return Listings(self.tool, self.call.caller, self.call.bound.kwargs)

    def settle(self, outcome: Outcome) -> Outcome:
        """Return an outcome of JSON values, which no database has to be asked for any more."""
        if outcome.is_error:
            return outcome
        encoder = AnswerEncoder()

        def settle() -> Outcome:
            data, body = encoder.plain(outcome.data), encoder.plain(outcome.body)
            return outcome.changed(data=data, body=body)

        # What cannot be written is explained where it is written.
        return contain(settle, lambda exc: outcome)
