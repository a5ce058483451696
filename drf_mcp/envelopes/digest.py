"""The "digest/v1" contract: a condensed document that can be verified by its source."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, field_validator

__all__ = [
    "DigestPayload",
    "EvidenceSnippet",
    "Locator",
    "deserialize_payload",
    "serialize_payload",
    "validate_payload_dict",
    "verify_evidence",
    "verify_payload",
]

# [0-9], since \d takes the digits of every script.
LOCATOR = re.compile(r"(?:page:(?P<page>[1-9][0-9]*):)?char:(?P<start>[0-9]+)-(?P<end>[0-9]+)")
KEY_POINT_LENGTH = 500

Ratio = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class Locator:
    """The position of an excerpt in the canonical text, or in a page of it; pages count from 1."""

    start: int
    end: int
    page: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``char:1500-1800`` or ``page:3:char:200-450``, else raise ValueError."""
        match = LOCATOR.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is neither 'char:START-END' nor 'page:N:char:START-END'")
        start, end = int(match["start"]), int(match["end"])
        if end < start:
            raise ValueError(f"{text!r} ends before it starts")
        return cls(start, end, int(match["page"]) if match["page"] else None)

    def __str__(self) -> str:
        page = "" if self.page is None else f"page:{self.page}:"
        return f"{page}char:{self.start}-{self.end}"

    def excerpt(self, canonical: str | Sequence[str]) -> str:
        """Return the excerpt, of the canonical text or of the canonical texts of its pages."""
        if isinstance(canonical, str):
            text = canonical
        elif self.page is None:
            text = "".join(canonical)
        else:
            text = "".join(canonical[self.page - 1 : self.page])
        return text[self.start : self.end]


class EvidenceSnippet(BaseModel):
    """An exact excerpt of the source, and its position."""

    text: str = Field(max_length=500, description="Exact substring of the canonical text")
    locator: str = Field(description="char:START-END or page:N:char:START-END")
    relevance_score: Ratio = Field(description="Query relevance")

    @field_validator("locator")
    @classmethod
    def locator_is_readable(cls, value: str) -> str:
        Locator.parse(value)
        return value


class DigestPayload(BaseModel):
    """A condensed document: summary, key points and evidence."""

    version: str = Field(default="1.0", description="Schema version identifier")
    content_type: Literal["digest/v1"] = Field(default="digest/v1", description="For detection")
    query_hash: str = Field(pattern="^[a-f0-9]{8}$", description="Hash of the query")
    summary: str = Field(max_length=2000, description="Condensed summary")
    key_points: list[str] = Field(max_length=10, description="Key insights")
    evidence_snippets: list[EvidenceSnippet] = Field(max_length=10, description="Excerpts")
    original_chars: Count = Field(description="Characters of the source")
    digest_chars: Count = Field(description="Characters of the digest")
    compression_ratio: Ratio = Field(description="digest_chars to original_chars")
    source_text_hash: str = Field(
        pattern="^sha256:[a-f0-9]{64}$", description="Hash of the canonical text"
    )

    @field_validator("key_points")
    @classmethod
    def key_points_are_short(cls, value: list[str]) -> list[str]:
        for index, point in enumerate(value):
            if len(point) > KEY_POINT_LENGTH:
                raise ValueError(
                    f"key_points[{index}]: exceeds maximum length of {KEY_POINT_LENGTH} characters"
                )
        return value

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a payload from JSON; raises ``pydantic.ValidationError``."""
        return cls.model_validate_json(text)

    def to_json(self) -> str:
        """Return the payload as compact JSON."""
        return self.model_dump_json()


def serialize_payload(payload: DigestPayload) -> str:
    """Return a payload as a JSON string."""
    return payload.to_json()


def deserialize_payload(text: str | bytes) -> DigestPayload:
    """Return the payload in a JSON string; raises ``pydantic.ValidationError``."""
    return DigestPayload.from_json(text)


def validate_payload_dict(data: Mapping[str, Any]) -> DigestPayload:
    """Return the payload in a dict; raises ``pydantic.ValidationError``."""
    return DigestPayload.model_validate(data)


def verify_evidence(snippet: EvidenceSnippet, canonical: str | Sequence[str]) -> bool:
    """Return whether a text, or a list of pages, has the snippet at its locator."""
    return Locator.parse(snippet.locator).excerpt(canonical) == snippet.text


def verify_payload(payload: DigestPayload, canonical: str | Sequence[str]) -> bool:
    """Return whether the source has the payload's hash and holds all of its evidence."""
    # A document with pages has the hash of the joined pages.
    text = canonical if isinstance(canonical, str) else "".join(canonical)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return payload.source_text_hash == f"sha256:{digest}" and all(
        verify_evidence(snippet, canonical) for snippet in payload.evidence_snippets
    )
