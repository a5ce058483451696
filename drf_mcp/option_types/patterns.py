"""Patterns that choose tools: ``"/api/*"``, ``"orders_*"``, ``"tag:billing"``, ``"PUT *"``."""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from django.views.generic import View

METHODS = frozenset(name.upper() for name in View.http_method_names)
STANDARD_ACTIONS = frozenset(
    {"list", "create", "retrieve", "update", "partial_update", "destroy"},
)
WITH_METHOD = re.compile(r"(?P<method>[A-Za-z]+)\s+(?P<glob>\S.*)")
# A pattern that begins like a word has to be a name or a tag.
WRITABLE = re.compile(r"[/*?\[].*|tag:.+|[a-z][a-z0-9_*?\[\]!-]*")


@dataclass(frozen=True)
class Pattern:
    """One pattern over the method ("" for any), and the path, name or tags of a tool."""

    method: str
    glob: str

    def matches(
        self, method: str, path: str, tags: Iterable[str], name: str, action: str | None
    ) -> bool:
        if self.method not in ("", method):
            return False
        subjects = (path, *(f"tag:{tag}" for tag in tags))
        by_place = any(fnmatch.fnmatchcase(subject, self.glob) for subject in subjects)
        return by_place or self.matches_name(name, action)

    def matches_name(self, name: str, action: str | None) -> bool:
        # REST framework's own actions are matched whole: *_update is not partial_update.
        ending, tail = f"_{action}", self.glob.rpartition("*")[2]
        within = tail.startswith("_") and tail != ending and ending.endswith(tail)
        inside_action = action in STANDARD_ACTIONS and name.endswith(ending) and within
        return fnmatch.fnmatchcase(name, self.glob) and not inside_action


@functools.lru_cache(maxsize=1024)
def read_pattern(text: str) -> Pattern:
    text = text.strip()
    written = WITH_METHOD.fullmatch(text)
    method, glob = (written["method"].upper(), written["glob"]) if written else ("", text)
    if method and method not in METHODS:
        raise ValueError(f"{written and written['method']} is no HTTP method")
    if not WRITABLE.fullmatch(glob):
        raise ValueError('a path begins with "/" or "*", a name is in lower case')
    return Pattern(method, glob)
