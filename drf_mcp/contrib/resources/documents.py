"""Resources that are no endpoint: texts and files of the project, and schemas of serializers."""

from __future__ import annotations

import json
import mimetypes
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from drf_mcp.contrib.resources.routes import URISpace
from drf_mcp.describers import DescribedField
from drf_mcp.features import JSON_OBJECT, Kind, ListOf, Text
from drf_mcp.option_types.kinds import ICON, refuse_wrong_values

# ISO 8601, as far as it names a moment.
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?")


def _are_annotations(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    known = {"audience": [], "priority": 0, "lastModified": "2026-07-28"}
    given = {**known, **value}
    roles, priority, time = (given[name] for name in known)
    return (
        value.keys() <= known.keys()
        and (isinstance(roles, list) and {*roles} <= {"user", "assistant"})
        and (type(priority) in (int, float) and 0 <= priority <= 1)
        and (isinstance(time, str) and bool(TIME.fullmatch(time)))
    )


ANNOTATIONS = Kind(
    "a dict with any of audience (['user', 'assistant'] or one of them), priority (0 to 1) and "
    "lastModified ('2026-07-28T12:00:00Z')",
    _are_annotations,
)
KINDS: Mapping[str, Kind] = {
    "path": Text(),
    "title": Text(lazy=True).or_none(),
    "description": Text(lazy=True).or_none(),
    "mime_type": Text().or_none(),
    "annotations": ANNOTATIONS.or_none(),
    "icons": ListOf(ICON),
    "meta": JSON_OBJECT.or_none(),
}
# The types of texts that Python's table knows on some machines alone.
TYPES = {".md": "text/markdown", ".yaml": "application/yaml", ".yml": "application/yaml"}


class Document:
    """A text or a file that every caller of the endpoint may read.

    ``registry.add(Document("guides/returns", file=HERE / "returns.md"))`` serves it.

    Args:
        path: the URI after the scheme of the server, such as ``guides/returns``; or a whole URI.
        content: text, bytes, or a function without arguments that returns one of them.
        file: in place of the content, a file; it is read anew each time.
        name: by default the last part of the path.
        title, description: for people and models, texts that may be translated.
        mime_type: by default guessed by the file's name, for a text ``text/plain``.
        annotations: ``audience``, ``priority`` and ``lastModified``, which a file says itself.
        icons, meta: as of a tool.

    Raises:
        ImproperlyConfigured: on an argument of a wrong kind, or unless there is either content
            or a file.
    """

    # A caller has to see one of these tools to read the document.
    tools: tuple[Any, ...] = ()

    def __init__(
        self,
        path: str,
        content: str | bytes | Callable[[], str | bytes] | None = None,
        *,
        file: str | Path | None = None,
        name: str | None = None,
        mime_type: str | None = None,
        meta: Mapping[str, Any] | None = None,
        **details: Any,
    ) -> None:
        if (content is None) is (file is None):
            raise ImproperlyConfigured(f"Document({path!r}) needs either content or a file.")
        self.path = path
        self.content = content
        self.file = None if file is None else Path(file)
        if self.file is not None and not self.file.is_file():
            raise ImproperlyConfigured(f"Document({path!r}): there is no file {self.file}.")
        self.name = name or path.rstrip("/").rpartition("/")[2]
        self.meta = meta
        self.details = self._read_details(mime_type, **details)
        values = {**self.details, "path": path, "mime_type": mime_type, "meta": meta}
        refuse_wrong_values(KINDS, values, f"Document({path!r})")
        self.media_type = mime_type or self.guess_type()

    def _read_details(
        self,
        mime_type: str | None,
        title: Any = None,
        description: Any = None,
        annotations: Mapping[str, Any] | None = None,
        icons: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        known = {"title": title, "description": description, "icons": icons}
        return {**known, "annotations": annotations}

    def guess_type(self) -> str:
        if self.file is not None:
            known = TYPES.get(self.file.suffix) or mimetypes.guess_type(self.file.name)[0]
            return known or "application/octet-stream"
        return "application/octet-stream" if isinstance(self.content, bytes) else "text/plain"

    def read(self) -> str | bytes:
        """Return the content."""
        if self.file is None:
            given: Any = self.content
            content: str | bytes = given() if callable(given) else given
            return content
        raw = self.file.read_bytes()
        try:
            return raw.decode() if self._is_text else raw
        except UnicodeDecodeError:
            return raw

    @property
    def is_fixed(self) -> bool:
        """Whether every caller reads the same; a function may look at the language."""
        return not callable(self.content)

    @property
    def _is_text(self) -> bool:
        kind = self.media_type.partition(";")[0]
        return kind.startswith("text/") or kind.endswith(("json", "xml", "yaml", "javascript"))

    @property
    def size(self) -> int | None:
        """The bytes of the content, None where only reading it would tell."""
        if self.file is not None:
            return self.file.stat().st_size
        if callable(self.content) or self.content is None:
            return None
        content = self.content
        return len(content.encode() if isinstance(content, str) else content)

    @property
    def annotations(self) -> Mapping[str, Any] | None:
        own: Mapping[str, Any] = self.details["annotations"] or {}
        if self.file is None:
            return own
        modified = datetime.fromtimestamp(int(self.file.stat().st_mtime), UTC)
        return {"lastModified": modified.isoformat().replace("+00:00", "Z"), **own}

    def make_uri(self, uris: URISpace) -> str:
        return uris.write(self.path)

    def get_resource(self, uris: URISpace) -> dict[str, Any]:
        """Return the members of a Resource (server/resources)."""
        members = {
            "uri": self.make_uri(uris),
            "name": self.name,
            "mimeType": self.media_type,
            **self.details,
            "annotations": self.annotations,
            "_meta": self.meta,
        }
        known = {name: value for name, value in members.items() if value}
        return known if self.size is None else {**known, "size": self.size}

    def sanitize_arguments(self, arguments: Any) -> Any:
        return arguments


class Folder(ABC):
    """Documents that belong together: one is listed, each can be read."""

    @property
    @abstractmethod
    def main(self) -> Document:
        """The document that is listed."""

    @abstractmethod
    def get_document(self, uri: str) -> Document | None:
        """Return the document of a URI, None if it is none of the folder's."""


class SchemaDocument(Document):
    """The JSON Schema of what a serializer takes, for people and models who write its data.

    Args:
        serializer_class: the serializer.
        path: by default ``schemas/`` and the name of the class without ``Serializer``.
        details: as of `Document`.
    """

    def __init__(self, serializer_class: type, path: str | None = None, **details: Any) -> None:
        self.serializer_class = serializer_class
        noun = serializer_class.__name__.removesuffix("Serializer").lower()
        details.setdefault("mime_type", "application/schema+json")
        super().__init__(path or f"schemas/{noun}", self.write, **details)

    def write(self) -> str:
        schema = DescribedField(self.serializer_class()).accepted_schema
        dialect = "https://json-schema.org/draft/2020-12/schema"
        return json.dumps({"$schema": dialect, **schema}, indent=2, ensure_ascii=False, default=str)
