"""What an envelope is: `render`, `schema` and `parse`, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from drf_mcp.outcomes import Outcome


class Envelope:
    """The shape in which outcomes reach the model.

    A subclass gives `render`, and `schema` if its shape can be stated. An envelope
    keeps nothing between calls: one instance serves every tool and thread.

    Attributes:
        structured_content: True if results carry ``structuredContent`` beside the
            text block, both of the same value.
        contract: the name of the contract, which ``mcp_contract`` of its models repeats.
        self_describing: True if each JSON object of the contract names the contract, so
            that a dict which a view returns can be told from the view's data.
        meta_member: the member of the envelope that holds facts about the answer, "" if
            the contract has none.
    """

    structured_content: ClassVar[bool] = True
    contract: ClassVar[str] = ""
    self_describing: ClassVar[bool] = False
    meta_member: ClassVar[str] = ""

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

    def parse(self, body: Any, status: int = 200) -> Outcome | None:
        """Return the outcome that a body of this contract describes, None for another body.

        A view may return the body itself, as a model of the contract or as the JSON value;
        a test reads the results of tools with it.

        Args:
            body: the model or the JSON value, ``data`` in it as the view made it.
            status: the HTTP status of the response; 200 for the result of a tool.
        """
        return None

    def get_members(self, body: Any) -> Mapping[str, Any]:
        """Return the members of a body, of a model of the contract or of a JSON object."""
        if getattr(type(body), "mcp_contract", None) == self.contract:
            members: Mapping[str, Any] = body.as_envelope()
            return members
        return body if isinstance(body, Mapping) else {}

    def format_code(self, code: str) -> str:
        """Return an error code, SCREAMING_SNAKE_CASE in an `Outcome`, as the contract has it."""
        return code

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
