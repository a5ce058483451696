"""The classes by which an envelope that a view makes itself is known."""

from __future__ import annotations

from collections.abc import Container, KeysView, Mapping
from typing import Any, ClassVar


class OwnEnvelope(dict[str, Any]):
    """The JSON value of an envelope of a contract, as the models and helpers return it.

    Attributes:
        contract: the name of the contract.
        defaults: members of the metadata that the view did not set, and that a tool's result
            has of the call.
    """

    def __init__(
        self, members: Mapping[str, Any], contract: str, defaults: Container[str] = ()
    ) -> None:
        super().__init__(members)
        self.contract = contract
        self.defaults = defaults

    def __reduce__(self) -> Any:
        return OwnEnvelope, (dict(self), self.contract, self.defaults)


class EnvelopeModel:
    """A model of a contract, which REST framework's JSON encoder writes as an object."""

    # The encoder takes any value with `keys` and items: ``Response(success_response(...))``.

    mcp_contract: ClassVar[str] = ""

    def as_json(self) -> OwnEnvelope:
        """Return the envelope as JSON."""
        raise NotImplementedError

    def keys(self) -> KeysView[str]:
        return self.as_json().keys()

    def __getitem__(self, name: str) -> Any:
        return self.as_json()[name]
