"""What an envelope is: `render` and `schema`, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from drf_mcp.outcomes import Outcome


class Envelope:
    """The shape in which outcomes reach the model.

    A subclass gives `render`, and `schema` if its shape can be stated. An envelope
    keeps nothing between calls: one instance serves every tool and thread.

    Attributes:
        structured_content: True if results carry ``structuredContent`` beside the
            text block, both of the same value.
    """

    structured_content: ClassVar[bool] = True

    def render(self, outcome: Outcome) -> Any:
        """Return the JSON value for an outcome.

        The view's own values are placed as they are; the caller encodes the result
        with REST framework's JSON encoder.
        """
        raise NotImplementedError(f"{type(self).__name__} must define render().")

    def answer(self, outcome: Outcome) -> Any:
        """Return the part of an outcome that is shortened where the result is too long."""
        return outcome.data

    def schema(self, data_schema: dict[str, Any]) -> dict[str, Any] | None:
        """Return the JSON Schema (2020-12) of everything that `render` gives.

        It holds for success, failure, soft failure and trimmed results alike, and
        its root is ``type: object`` (MCP, server/tools, Output Schema).

        Args:
            data_schema: what is known of the view's own value; ``{}`` if nothing.

        Returns:
            The tool's ``outputSchema``, or None to have none.
        """
        return None

    def remarks(self, outcome: Outcome) -> Any:
        """Return what the shape has no place for, as the JSON value of a second text block.

        None for no such block.
        """
        return None

    def result_meta(self, outcome: Outcome) -> dict[str, Any]:
        """Return the ``_meta`` of the MCP result: what clients may read and models do not.

        Empty for none.
        """
        return {}

    def texts(self, outcome: Outcome, encode: Callable[[Any], str]) -> list[str]:
        """Return the result's text blocks, the envelope first.

        Args:
            encode: turns a JSON value into compact JSON text.
        """
        text = self.text(outcome, self.render(outcome), encode)
        remarks = self.remarks(outcome)
        return [text] if remarks is None else [text, encode(remarks)]

    def text(self, outcome: Outcome, rendered: Any, encode: Callable[[Any], str]) -> str:
        """Return the text block of the envelope.

        Args:
            rendered: what `render` gave for the outcome.
            encode: turns a JSON value into compact JSON text.
        """
        return encode(rendered)
