"""Narrowings of the tools: by the endpoint, a toolset, a header, a credential or READ_ONLY.

The permissions of a view are checked for the tools that are left.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from rest_framework.request import Request

from drf_mcp.exceptions import Refused
from drf_mcp.option_types.kinds import PATTERNS
from drf_mcp.option_types.spelling import ask_nearest, find_nearest
from drf_mcp.settings import mcp_settings

TOOLSETS_HEADER = "MCP-Toolsets"
TOOLSETS_META = "HTTP_MCP_TOOLSETS"


@dataclass(frozen=True)
class Narrowing:
    """Leaves some of the tools, and says what takes the others away.

    An authentication class narrows what its credential may call: the attribute ``narrowing``
    of ``request.auth`` is a `Narrowing` or None.

    Attributes:
        source: what takes tools away, as the beginning of a sentence: ``"this endpoint"``.
        tools: patterns as in INCLUDE; a tool has to match one; None for every tool.
            `content_retrieve` needs no pattern: it only gives what other tools left out.
        read_only: whether only tools that read are left: GET, and POST where the
            project said ``read_only=True``.

    Raises:
        ImproperlyConfigured: on patterns that could never match.
    """

    source: str
    tools: tuple[str, ...] | None = None
    read_only: bool = False

    def __post_init__(self) -> None:
        patterns = PATTERNS.or_none().read(self.tools, "Narrowing(tools=...)")
        object.__setattr__(self, "tools", None if patterns is None else tuple(patterns))

    def allows(self, tool: Any) -> bool:
        if self._hides_writing(tool):
            return False
        return self.tools is None or tool.endpoint.is_built_in or tool.matches(self.tools)

    def write_reason(self, tool: Any) -> str:
        return f"{self.source} {self.write_words(tool)}"

    def write_words(self, tool: Any) -> str:
        return "only has tools that read" if self._hides_writing(tool) else "does not have it"

    def _hides_writing(self, tool: Any) -> bool:
        return self.read_only and not tool.reads


SERVER_READS = Narrowing("the server", read_only=True)


def find_own_narrowings(request: Request) -> Iterator[Narrowing]:
    """Yield the narrowings of an authenticated request: by its credential, and by READ_ONLY."""
    narrowing = getattr(request.auth, "narrowing", None)
    if narrowing is not None:
        if not isinstance(narrowing, Narrowing):
            raise ImproperlyConfigured(
                f"request.auth.narrowing must be a drf_mcp.access.narrowing.Narrowing or None, "
                f"not {type(narrowing).__name__}."
            )
        yield narrowing
    if callable(mcp_settings.READ_ONLY) and mcp_settings.READ_ONLY(request):
        yield SERVER_READS


def find_toolset(
    name: str, named: Mapping[str, Sequence[str]], tools: Iterable[Any]
) -> tuple[str, ...]:
    """Return the patterns of a toolset in TOOLSETS, or the pattern of a tag.

    Raises:
        Refused: if there is no such toolset or tag, with 404.
    """
    if name in named:
        return tuple(named[name])
    if any(name in tool.options.tags for tool in tools):
        # A tag may have characters such as ``*``.
        return (f"tag:{glob.escape(name)}",)
    # Tags are internal to the project: only names of TOOLSETS are suggested.
    message = f"There is no toolset {name[:64]!r}."
    raise Refused(404, f"{message} {ask_nearest(find_nearest(name, named))}".strip())


def narrow_by_header(value: str, find: Callable[[str], tuple[str, ...]]) -> Narrowing:
    """Return the narrowing to the toolsets that a header names.

    Raises:
        Refused: if a toolset is unknown, or none is named, with 400.
    """
    names = list(dict.fromkeys(filter(None, map(str.strip, value.split(",")))))
    if not names:
        raise Refused(400, f"The header {TOOLSETS_HEADER} names no toolset.")
    try:
        patterns = tuple(pattern for name in names for pattern in find(name))
    except Refused as exc:
        raise Refused(400, f"{TOOLSETS_HEADER}: {exc.message}") from None
    return Narrowing(f"the header {TOOLSETS_HEADER} ({', '.join(names)})", patterns)
