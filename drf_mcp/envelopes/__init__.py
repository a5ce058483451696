"""Envelopes: the documented shapes of results.

Choose one by ``DRF_MCP["ENVELOPE_CLASS"]``, per endpoint or per tool, or write your
own: a subclass of `Envelope` with ``render()`` and, if you like, ``schema()``.

The pydantic models and their functions describe the same contracts for your own code.
They are imported when first used, so that tool calls need no pydantic.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from drf_mcp.envelopes.base import Envelope as Envelope
from drf_mcp.envelopes.ok import OkEnvelope as OkEnvelope
from drf_mcp.envelopes.plain import PlainEnvelope as PlainEnvelope
from drf_mcp.envelopes.response_v2 import ResponseV2Envelope as ResponseV2Envelope
from drf_mcp.envelopes.status import StatusEnvelope as StatusEnvelope
from drf_mcp.json_text import OBJECTS
from drf_mcp.outcomes import Outcome

if TYPE_CHECKING:
    from drf_mcp.envelopes.digest import *  # noqa: F403
    from drf_mcp.envelopes.models import *  # noqa: F403
    from drf_mcp.envelopes.standardized import *  # noqa: F403

RESPONSE_V2 = ResponseV2Envelope()
# In the order of parsing: the plain envelope comes last, since it parses any body.
BUILT_IN_ENVELOPES: tuple[Envelope, ...] = (
    RESPONSE_V2,
    OkEnvelope(),
    StatusEnvelope(),
    PlainEnvelope(),
)
# The modules that import pydantic; their ``__all__`` is part of this package.
MODEL_MODULES = ("digest", "models", "standardized")


def parse_own_envelope(body: Any, status: int) -> Outcome | None:
    """Return the outcome of an envelope that a view built itself, None for plain data."""
    contract = getattr(type(body), "mcp_contract", None)
    if contract is None:
        # A dict is an envelope only if it names its contract, as those of "response-v2" do.
        is_envelope = isinstance(body, OBJECTS) and "success" in body
        return RESPONSE_V2.parse(body, status) if is_envelope else None
    own = (envelope for envelope in BUILT_IN_ENVELOPES if envelope.contract == contract)
    envelope = next(own, None)
    return None if envelope is None else envelope.parse(body, status)


def __getattr__(name: str) -> Any:
    # Imports the models when one of them is used.
    if name == "__all__" or not name.startswith("_"):
        modules = [import_module(f"{__name__}.{module}") for module in MODEL_MODULES]
        if name == "__all__":
            classes = [Envelope, *map(type, BUILT_IN_ENVELOPES)]
            models = [model for module in modules for model in module.__all__]
            return [*(each.__name__ for each in classes), *models]
        for module in modules:
            if name in module.__all__:
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
