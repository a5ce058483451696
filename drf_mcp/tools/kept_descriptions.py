"""What was described of tools, in a file that the processes of a server start with."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import logging
import os
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.core.signals import setting_changed
from django.db import connections
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from drf_mcp.json_text import canonical_json
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.endpoints import Endpoint
from drf_mcp.tools.fingerprint import (
    UNKNOWN_FILES,
    UnknownValue,
    find_difference,
    find_loaded_files,
    spell,
    take_fingerprint,
)
from drf_mcp.tools.options import ToolOptions
from drf_mcp.tools.related_tools import RelatedTools
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")
SALT = "drf_mcp.tools.kept_descriptions"
OWN_OPTIONS = ToolOptions()
OWNER_ONLY = 0o077
# What reading a file of another version, or one that was cut, may raise.
ODD = (OSError, ValueError, LookupError, TypeError, AttributeError)


class UnusableFile(Exception):
    """The file cannot be used, and why."""


class DescriptionsFile:
    """A file of descriptions: a line with its signature, and a line of JSON.

    The signature is made with SECRET_KEY. The file is used only where it was signed so, where its
    owner alone may read it and runs this process, and where code, packages and settings are those
    that the descriptions were made of.
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> dict[str, bytes]:
        """Return the texts by their keys.

        Raises:
            UnusableFile: if the file is not used, with the reason.
        """
        try:
            signature, content = self._read_own().split(b"\n", 1)
            if not constant_time_compare(signature, self._sign(content)):
                raise UnusableFile(_("its signature is not of this SECRET_KEY"))
            known = json.loads(content)
            made_of = take_fingerprint(known["made_of"]["files"])
            if difference := find_difference(known["made_of"], made_of):
                raise UnusableFile(_("it was made of other %(what)s") % {"what": difference})
            texts = [text.encode() for text in known["texts"]]
            return {key: texts[number] for key, number in known["keys"].items()}
        except ODD as exc:
            raise UnusableFile(repr(exc)) from exc

    def write(self, texts: Mapping[str, bytes]) -> None:
        """Replace the file.

        Raises:
            UnusableFile: if no process could use it.
        """
        try:
            made_of = take_fingerprint(find_loaded_files())
        except UnknownValue as exc:
            text = _("a setting cannot be compared: %(setting)s")
            raise UnusableFile(text % {"setting": exc}) from exc
        changed = [path for path, found in made_of["files"].items() if found in UNKNOWN_FILES]
        if changed:
            text = _("%(path)s has changed since the command began")
            raise UnusableFile(text % {"path": changed[0]})
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts.values()))}
        known = {
            "made_of": made_of,
            "texts": [text.decode() for text in numbers],
            "keys": {key: numbers[text] for key, text in texts.items()},
        }
        content = json.dumps(known).encode()
        try:
            self._replace(self._sign(content) + b"\n" + content)
        except OSError as exc:
            raise UnusableFile(str(exc)) from exc

    def _sign(self, content: bytes) -> bytes:
        return salted_hmac(SALT, content, algorithm="sha256").hexdigest().encode()

    def _read_own(self) -> bytes:
        if os.name != "posix":
            raise UnusableFile(_("this system has no owners of files"))
        with open(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise UnusableFile(_("it is no regular file"))
            if facts.st_uid != os.geteuid():
                raise UnusableFile(_("another user owns it"))
            if facts.st_mode & OWNER_ONLY:
                raise UnusableFile(_("others than its owner have rights to it"))
            return file.read()

    def _replace(self, content: bytes) -> None:
        # Readers see the old file or the new one. mkstemp makes a file for its owner alone.
        handle, path = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(self.path)))
        try:
            with open(handle, "wb") as file:
                file.write(content)
            os.replace(path, self.path)
        except OSError:
            os.unlink(path)
            raise


class KeptDescriptions:
    """Texts that describing tools has made, by what they were made of.

    Attributes:
        recorded: the texts that are made meanwhile, None unless they are recorded.
        left_out: the tools whose descriptions depend on rows of a database.
    """

    def __init__(self) -> None:
        self.recorded: dict[str, bytes] | None = None
        self.left_out: set[Tool] = set()
        self._texts: Mapping[str, bytes] | None = None
        self._keys: dict[Tool, set[str]] = {}
        self._lock = threading.Lock()
        setting_changed.connect(self._read_again)

    def get(self, tool: Any, kind: Sequence[Any], make: Callable[[], bytes]) -> bytes:
        """Return a text of a tool: from the file, or made now.

        Args:
            kind: what the text is, and what it depends on besides the tool and the settings.
        """
        path = mcp_settings.DESCRIPTIONS_FILE
        if path is None or not (key := find_description_key(tool, kind)):
            return make()
        if self.recorded is not None:
            return self._record(tool, key, make)
        known = self._find_texts(path).get(key)
        return make() if known is None else known

    def ignore(self) -> None:
        """Use the file no more in this process: what it describes has changed meanwhile."""
        self._texts = {}

    @contextlib.contextmanager
    def recording(self) -> Iterator[dict[str, bytes]]:
        """Record what is described within, and use no file meanwhile."""
        self.recorded, self.left_out, self._keys = {}, set(), {}
        try:
            yield self.recorded
        finally:
            self.recorded = None

    def _record(self, tool: Tool, key: str, make: Callable[[], bytes]) -> bytes:
        assert self.recorded is not None
        while tool.origin is not None:
            tool = tool.origin
        keys = self._keys.setdefault(tool, set())
        with watch_queries() as queries:
            text = make()
        if queries:
            # What a tool knows already, it uses for its other texts as well.
            self.left_out.add(tool)
            for each in keys:
                self.recorded.pop(each, None)
        if tool not in self.left_out:
            keys.add(key)
            self.recorded[key] = text
        return text

    def _find_texts(self, path: str) -> Mapping[str, bytes]:
        if self._texts is None:
            with self._lock:
                if self._texts is None:
                    self._texts = self._read(path)
        return self._texts

    def _read(self, path: str) -> Mapping[str, bytes]:
        try:
            return DescriptionsFile(path).read()
        except UnusableFile as exc:
            logger.info("Tools are described anew: %s is not used, %s.", path, exc)
            return {}

    def _read_again(self, **kwargs: Any) -> None:
        self._texts = None


kept_descriptions = KeptDescriptions()


@contextlib.contextmanager
def watch_queries() -> Iterator[list[str]]:
    """Have the queries of this thread, while they are made."""
    queries: list[str] = []

    def watch(execute: Any, sql: str, *args: Any) -> Any:
        queries.append(sql)
        return execute(sql, *args)

    with contextlib.ExitStack() as stack:
        for connection in connections.all():
            stack.enter_context(connection.execute_wrapper(watch))
        yield queries


def find_description_key(tool: Any, kind: Sequence[Any]) -> str:
    """Return the key of a text, "" where nothing says which tool it is in another process."""
    try:
        spelled = canonical_json([spell(kind), *spell_tool(tool)])
    except UnknownValue:
        return ""
    return hashlib.blake2b(spelled.encode(), digest_size=16).hexdigest()


def spell_tool(tool: Any) -> list[Any]:
    # The route and the method say which view it is; code and settings are those of the file.
    endpoint, route = tool.endpoint, tool.endpoint.route
    if not isinstance(tool.related, RelatedTools) or not isinstance(route.urlconf, str):
        raise UnknownValue("a tool without a name of its route")
    return [
        spell(type(tool)),
        spell(get_own_fields(tool, Tool)),
        tool.name,
        "" if tool.options == OWN_OPTIONS else spell(tool.options),
        spell(type(endpoint)),
        spell(get_own_fields(endpoint, Endpoint)),
        [endpoint.method, endpoint.action, endpoint.noun, endpoint.many],
        [route.urlconf, route.match_route],
        tool.related.digest,
    ]


def get_own_fields(value: Any, base: Any) -> dict[str, Any]:
    if type(value) is base:
        return {}
    known = {field.name for field in dataclasses.fields(base)}
    names = (field.name for field in dataclasses.fields(value))
    return {name: getattr(value, name) for name in names if name not in known}
