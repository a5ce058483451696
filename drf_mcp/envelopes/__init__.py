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
from drf_mcp.envelopes.base import EnvelopeModel, OwnEnvelope
from drf_mcp.envelopes.ok import OkEnvelope as OkEnvelope
from drf_mcp.envelopes.plain import PlainEnvelope as PlainEnvelope
from drf_mcp.envelopes.response_v2 import ResponseV2Envelope as ResponseV2Envelope
from drf_mcp.envelopes.status import StatusEnvelope as StatusEnvelope
from drf_mcp.outcomes import Outcome

if TYPE_CHECKING:
    from drf_mcp.calls.standardized import *  # noqa: F403
    from drf_mcp.envelopes.digest import *  # noqa: F403
    from drf_mcp.envelopes.models import *  # noqa: F403

RESPONSE_V2 = ResponseV2Envelope()
# In the order of parsing: the plain envelope comes last, since it parses any body.
BUILT_IN_ENVELOPES: tuple[Envelope, ...] = (
    RESPONSE_V2,
    OkEnvelope(),
    StatusEnvelope(),
    PlainEnvelope(),
)
BY_CONTRACT = {envelope.contract: envelope for envelope in BUILT_IN_ENVELOPES}
# The modules that import pydantic; their ``__all__`` is part of this package.
MODEL_MODULES = (
    "drf_mcp.envelopes.digest",
    "drf_mcp.envelopes.models",
    "drf_mcp.calls.standardized",
)


def parse_own_envelope(
    body: Any, status: int, named: type[Envelope] | None = None
) -> Outcome | None:
    """Return the outcome of an envelope that a view built itself, None for plain data.

    Args:
        body: the data of the response.
        named: the envelope that the view is said to write.
    """
    if isinstance(body, EnvelopeModel):
        body = body.as_json()
    if isinstance(body, OwnEnvelope):
        return BY_CONTRACT[body.contract].parse(body, status)
    # A plain dict says its version, or the view names its envelope.
    return (RESPONSE_V2 if named is None else named()).parse(body, status)


def __getattr__(name: str) -> Any:
    # Imports the models when one of them is used.
    if name == "__all__" or not name.startswith("_"):
        modules = list(map(import_module, MODEL_MODULES))
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
