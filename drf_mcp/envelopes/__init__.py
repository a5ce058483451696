"""Envelopes: the documented shapes in which every outcome reaches the model.

Choose one by ``DRF_MCP["ENVELOPE_CLASS"]``, per endpoint or per tool, or write your
own: a subclass of `Envelope` with ``render()`` and, if you like, ``schema()``.

The pydantic models and the functions built on them describe the same contracts for
your own code. They are imported when first used, so that pydantic is loaded only
where somebody wants it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
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
    from drf_mcp.envelopes.ok_models import *  # noqa: F403
    from drf_mcp.envelopes.response_v2_models import *  # noqa: F403
    from drf_mcp.envelopes.standardized import *  # noqa: F403
    from drf_mcp.envelopes.status_models import *  # noqa: F403

# Asked in this order; the last takes any body.
BUILT_IN_ENVELOPES: tuple[Envelope, ...] = (
    ResponseV2Envelope(),
    OkEnvelope(),
    StatusEnvelope(),
    PlainEnvelope(),
)
# Modules that need pydantic, of which everything in ``__all__`` is a name of this package.
MODEL_MODULES = ("digest", "ok_models", "response_v2_models", "standardized", "status_models")


def parse_own_envelope(body: Any, status: int) -> Outcome | None:
    """Return the outcome of an envelope that a view built itself, None for plain data."""
    contract = getattr(type(body), "mcp_contract", None)
    if contract is None and not isinstance(body, OBJECTS):
        return None
    for envelope in BUILT_IN_ENVELOPES:
        if envelope.contract == contract or (contract is None and envelope.self_describing):
            outcome = envelope.parse(body, status)
            if outcome is not None:
                return outcome
    return None


class EnvelopesPackage(ModuleType):
    # Imports the module of a model when the model is first used.

    @property
    def __all__(self) -> list[str]:
        classes = [Envelope, *map(type, BUILT_IN_ENVELOPES)]
        return [*(one.__name__ for one in classes), *self.find_models()]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in (models := self.find_models()):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(models[name]), name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})

    def find_models(self) -> dict[str, str]:
        modules = [f"{__name__}.{module}" for module in MODEL_MODULES]
        return {name: module for module in modules for name in import_module(module).__all__}


# A module's own class is how Python gives modules properties (Python reference, 3.3.2.1).
sys.modules[__name__].__class__ = EnvelopesPackage
