from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, Field, model_validator
from typing_extensions import Self

from drf_mcp.codes import gettext_noop as _
from drf_mcp.envelopes.metadata import OPEN, TRANSLATED
from drf_mcp.json_text import JSONBody

__all__ = [
    "OkError",
    "OkMeta",
    "OkResponse",
]


class OkError(BaseModel):
    """One entry of ``errors``."""

    model_config = TRANSLATED

    code: str = Field(description=_("Stable machine-readable code"))
    message: str = Field(description=_("Human-readable diagnostic"))
    path: str | None = Field(default=None, description=_("JSON path into the caller's arguments"))
    fix_hint: str | None = Field(
        default=None, description=_("Short instruction for a human or agent")
    )


class OkMeta(BaseModel):
    """``meta``: facts about the answer."""

    model_config = OPEN

    content_hash: str | None = Field(
        default=None,
        description=_(
            "Hash of that version, the same for every read of it; of the answer, where "
            "nobody said a version"
        ),
        pattern="^sha256-",
    )
    version: str | None = Field(default=None, description=_("Canonical version of what was read"))
    next_cursor: str | None = Field(default=None, description=_("Null on the final page"))
    warnings: list[str] | None = Field(default=None, description=_("Non-blocking issues"))


class OkResponse(JSONBody, BaseModel):
    """The whole envelope; dump it with ``exclude_unset=True``."""

    model_config = TRANSLATED
    mcp_contract: ClassVar[str] = "ok"

    ok: bool = Field(description=_("Whether the answer is yes"))
    data: Any = Field(default=None, description=_("The answer"))
    errors: list[OkError] | None = Field(default=None, description=_("Why not; on failure only"))
    meta: OkMeta = Field(description=_("Facts about the answer"))

    @model_validator(mode="after")
    def errors_only_on_failure(self) -> Self:
        if self.ok is bool(self.errors):
            raise ValueError("errors are given on failure and only then")
        return self

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)

    def as_envelope(self) -> dict[str, Any]:
        members = self.model_dump(exclude_unset=True, exclude={"data"})
        return {**members, "data": self.data}
