from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured

from drf_mcp.contrib.resources.routes import Document, Folder
from drf_mcp.dispatch.content import encode_data
from drf_mcp.exceptions import InvalidParams
from drf_mcp.features import Capability, Encoded, Feature, RequestContext, mcp_settings
from drf_mcp.json_text import to_bytes
from drf_mcp.protocol.constants import CACHE_MEMBERS

MAIN = "SKILL.md"
FRONTMATTER = re.compile(rb"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.S | re.M)
# The Agent Skills specification, "name field".
NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")
# What every host takes of one skill ("Limits").
MOST_FILES, MOST_BYTES = 512, 16 * 1024 * 1024


class Skill(Folder):
    """A folder with a ``SKILL.md``, and what else its instructions speak of.

    ``registry.add(Skill(HERE / "skills" / "refunds"))`` serves it as ``skill://refunds/SKILL.md``
    (extension ``io.modelcontextprotocol/skills``). Its files are read anew each time, but those
    whose names begin with a dot, and links that lead out of the folder.

    Args:
        folder: the folder, which has the name of the skill.
        prefix: path segments before the name in its URIs, such as ``acme/billing``.

    Raises:
        ImproperlyConfigured: if it is no skill, or without PyYAML.
    """

    def __init__(self, folder: str | Path, prefix: str = "") -> None:
        self.folder = Path(folder).resolve()
        path = "/".join(filter(None, (prefix.strip("/"), self.folder.name)))
        self.root = f"skill://{quote(path)}"
        if fault := self.find_fault():
            raise ImproperlyConfigured(f"Skill({str(folder)!r}) {fault}.")

    @classmethod
    def find(cls, folder: str | Path, prefix: str = "") -> list[Skill]:
        """Return a skill for each folder in a folder that has a ``SKILL.md``."""
        mains = sorted(Path(folder).glob(f"*/{MAIN}"))
        return [cls(main.parent, prefix) for main in mains]

    def find_fault(self) -> str:
        if not (self.folder / MAIN).is_file():
            return f"has no {MAIN}"
        frontmatter = self.frontmatter
        if frontmatter.get("name") != self.folder.name or not NAME.fullmatch(self.folder.name):
            return (
                f"needs the name of its folder in the frontmatter of {MAIN}: lower-case letters, "
                "digits and single hyphens"
            )
        description = frontmatter.get("description")
        if not isinstance(description, str) or not 0 < len(description) <= 1024:
            return f"needs a description in the frontmatter of {MAIN}, of at most 1024 characters"
        files = list(self.files)
        if len(files) > MOST_FILES or sum(file.stat().st_size for file in files) > MOST_BYTES:
            return f"has more than {MOST_FILES} files or {MOST_BYTES} bytes"
        return ""

    @property
    def uri(self) -> str:
        return f"{self.root}/{MAIN}"

    @property
    def files(self) -> Iterator[Path]:
        """The files that are served, ``SKILL.md`` first."""
        yield self.folder / MAIN
        for file in sorted(self.folder.rglob("*")):
            parts = file.relative_to(self.folder).parts
            is_hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
            if parts == (MAIN,) or is_hidden or not file.is_file():
                continue
            if file.resolve().is_relative_to(self.folder):
                yield file

    @property
    def frontmatter(self) -> dict[str, Any]:
        return _read_frontmatter((self.folder / MAIN).read_bytes())

    def make_uri(self, file: Path) -> str:
        return f"{self.root}/{quote(file.relative_to(self.folder).as_posix())}"

    def get_document(self, uri: str) -> Document | None:
        """Return the file of a URI as a document, None if it is none of the skill's."""
        if not uri.startswith(f"{self.root}/"):
            return None
        file = next((file for file in self.files if self.make_uri(file) == uri), None)
        return None if file is None else Document(uri, file=file)

    @property
    def main(self) -> Document:
        frontmatter = self.frontmatter
        name, description = self.folder.name, str(frontmatter.get("description", ""))
        return Document(self.uri, file=self.folder / MAIN, name=name, description=description)

    def make_entry(self) -> Mapping[str, Any]:
        """Return the members of a Skill entry ("Skill Entries")."""
        resources = []
        for file in self.files:
            state = file.stat()
            manifest = _digest_file(file, state.st_mtime_ns, state.st_size)
            resources.append({"uri": self.make_uri(file), **manifest})
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": resources}


@functools.lru_cache(maxsize=4096)
def _digest_file(file: Path, modified: int, size: int) -> Mapping[str, Any]:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"digest": f"sha256:{digest}", "size": len(content)}


@functools.lru_cache(maxsize=256)
def _read_frontmatter(content: bytes) -> dict[str, Any]:
    try:
        yaml = import_module("yaml")
    except ImportError as exc:
        message = 'Skills need PyYAML: pip install "drf-mcp-server[skills]".'
        raise ImproperlyConfigured(message) from exc
    found = FRONTMATTER.match(content)
    try:
        read = yaml.safe_load(found[1]) if found else None
    except (yaml.YAMLError, UnicodeDecodeError):
        read = None
    # YAML reads dates, which JSON does not have, so they are written as texts.
    return json.loads(json.dumps(read, default=str)) if isinstance(read, dict) else {}


EXTENSION = "io.modelcontextprotocol/skills"


class SkillsCapability(Capability):
    """Lists the skills that were added to the registry; their files are resources (SEP-2640)."""

    name = EXTENSION
    is_extension = True
    methods = {"skills/list": "list_skills", "skills/get": "find_skill"}
    result_members = {
        "2026-07-28": {
            "skills/list": CACHE_MEMBERS | {"skills", "nextCursor", "_meta", "resultType"},
            "skills/get": CACHE_MEMBERS | {"skill", "_meta", "resultType"},
        }
    }

    @property
    def is_on(self) -> bool:
        return bool(self.get_skills())

    def get_skills(self) -> Sequence[Skill]:
        """Return the skills of the server."""
        skills: Sequence[Skill] = self.server.registry.find_added(Skill)
        return skills

    def list_skills(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        size = mcp_settings.TOOLS_PAGE_SIZE
        page, following = context.cut_page(self.get_skills(), size, lambda s: s.uri)
        entries = [skill.make_entry() for skill in page]
        members: dict[str, Any] = {"skills": Encoded(to_bytes(encode_data(entries)))}
        members |= self._find_scope(context)
        return members if following is None else {**members, "nextCursor": following}

    def _find_scope(self, context: RequestContext) -> dict[str, str]:
        # Skills are the same for every caller whom the endpoint lets in.
        is_public = self.server.tools_capability.is_public((), context)
        return {"cacheScope": "public"} if is_public else {}

    def find_skill(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        uri = context.message.params.get("uri")
        if not isinstance(uri, str):
            message = 'The params of skills/get must name a skill: "uri", a string.'
            raise InvalidParams(message)
        for skill in self.get_skills():
            if skill.uri == uri:
                return {"skill": skill.make_entry(), **self._find_scope(context)}
        message = f"No skill is served at {uri[:200]}"
        raise InvalidParams(message, data={"uri": uri}, http_status=200)


class SkillsFeature(Feature):
    capability_classes = ("drf_mcp.contrib.skills.capability.SkillsCapability",)
