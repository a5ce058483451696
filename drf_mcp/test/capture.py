"""What a tool call came to before an envelope makes it fit for a model."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import Any, ClassVar

from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.envelopes import Envelope
from drf_mcp.outcomes import Outcome
from drf_mcp.test.comparison import Observed
from drf_mcp.tools.capability import make_envelope

FAILED = 400


class CapturingEnvelope(Envelope):
    """Keeps what an outcome says, whole: an empty envelope fits every budget.

    Attributes:
        seen: what was kept, oldest first.
        chosen: the envelope that the project chose for the tool.
    """

    seen: ClassVar[list[Observed]] = []
    chosen: ClassVar[type[Envelope]]

    def render(self, outcome: Outcome) -> Any:
        """Keep the outcome; raise where its data cannot be written as JSON."""
        body = outcome.data if outcome.body is None else outcome.body
        # Over HTTP an envelope tells no measurements of the call.
        chosen = make_envelope(self.chosen)
        enveloped = chosen.render(chosen.prepare(replace(outcome, telemetry={}), encode_data))
        observed = Observed(
            outcome.status,
            plain(body) if outcome.status < FAILED else None,
            plain(outcome.content),
            [],
            plain(enveloped),
        )
        self.seen.append(observed)
        return {}


@functools.cache
def capture(chosen: type[Envelope]) -> type[Envelope]:
    """Return a capturing envelope in the place of the one that was chosen for a tool."""
    return type("Capturing", (CapturingEnvelope,), {"chosen": chosen})


def plain(value: Any) -> Any:
    """Return a value as JSON holds it."""
    return json.loads(encode_data(value))
