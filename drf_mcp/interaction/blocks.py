"""Content blocks that follow the envelope of a result (2026-07-28, server/tools)."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

AUDIENCE = frozenset({"user", "assistant"})


class Block:
    """One content block: text, a picture, a sound, a file or a link.

    Attributes:
        members: the block as the protocol has it.
        size: bytes of what it carries.

    Args:
        audience: whom it is for: ``user``, ``assistant`` or both; everybody by default.
        priority: from 0 (may be left out) to 1 (must be seen).
        last_modified: when what it carries was changed.

    Raises:
        ValueError: if the audience or the priority is none.
    """

    def __init__(
        self,
        members: Mapping[str, Any],
        size: int = 0,
        *,
        audience: Iterable[str] = (),
        priority: float | None = None,
        last_modified: datetime | None = None,
    ) -> None:
        self.size = size
        annotations: dict[str, Any] = {}
        if audience := list(audience):
            if not AUDIENCE.issuperset(audience):
                raise ValueError(f"The audience is of {sorted(AUDIENCE)}, not {audience!r}.")
            annotations["audience"] = audience
        if priority is not None:
            if not 0 <= priority <= 1:
                raise ValueError(f"The priority is from 0 to 1, not {priority!r}.")
            annotations["priority"] = priority
        if last_modified is not None:
            annotations["lastModified"] = last_modified.isoformat()
        self.members = {**members, "annotations": annotations} if annotations else dict(members)

    @classmethod
    def text(cls, text: str, **annotations: Any) -> Block:
        """Return a text for people or models."""
        return cls({"type": "text", "text": text}, len(text.encode()), **annotations)

    @classmethod
    def image(cls, data: bytes, mime_type: str, **annotations: Any) -> Block:
        """Return a picture, such as the bytes of a PNG and ``image/png``."""
        return cls._of_bytes("image", data, mime_type, annotations)

    @classmethod
    def audio(cls, data: bytes, mime_type: str, **annotations: Any) -> Block:
        """Return a sound, such as the bytes of a WAV and ``audio/wav``."""
        return cls._of_bytes("audio", data, mime_type, annotations)

    @classmethod
    def _of_bytes(
        cls, kind: str, data: bytes, mime_type: str, annotations: Mapping[str, Any]
    ) -> Block:
        members = {"type": kind, "data": encode_base64(data), "mimeType": mime_type}
        return cls(members, len(data), **annotations)

    @classmethod
    def resource(
        cls, uri: str, content: str | bytes, mime_type: str = "", **annotations: Any
    ) -> Block:
        """Return a file with its content: text, or bytes."""
        if isinstance(content, str):
            size, body = len(content.encode()), {"text": content}
        else:
            size, body = len(content), {"blob": encode_base64(content)}
        typed = {"mimeType": mime_type} if mime_type else {}
        return cls(
            {"type": "resource", "resource": {"uri": uri, **typed, **body}}, size, **annotations
        )

    @classmethod
    def link(
        cls,
        uri: str,
        name: str,
        *,
        title: str = "",
        description: str = "",
        mime_type: str = "",
        **annotations: Any,
    ) -> Block:
        """Return a link to a resource, which the client may fetch (since 2025-06-18)."""
        further = {"title": title, "description": description, "mimeType": mime_type}
        known = {key: value for key, value in further.items() if value}
        return cls({"type": "resource_link", "uri": uri, "name": name, **known}, **annotations)


def encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
