"""A file of descriptions of tools, which ``mcp_warm`` writes and the processes of a server read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import pprint
import re
import stat
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.signals import setting_changed
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from drf_mcp.introspection.inspection import noted_queries
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")
SALT = "drf_mcp.tools.kept_descriptions"
OWNER_ONLY = 0o077
UNREAD = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
# Code, and compiled translations of it.
SUFFIXES = (".py", ".mo")
CHANGED, UNREADABLE = "changed", "unreadable"
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# What reading a truncated file, or a file of another version, may raise.
ODD = (OSError, ValueError, LookupError, TypeError, AttributeError)


class UnusableFile(Exception):
    """The file cannot be used, and why."""


class DescriptionsFile:
    """A file of descriptions: a line with its signature, and a line of JSON.

    The file is used only if it is signed with SECRET_KEY, if this process runs as the owner and
    the owner alone has rights to it, and if code and settings are those of which it was made.
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
            before, now = known["made_of"], take_fingerprint(known["files"])
            changed = sorted(each for each in {*before, *now} if before.get(each) != now.get(each))
            if changed:
                text = _("it was made of other code or settings: %(what)s")
                raise UnusableFile(text % {"what": ", ".join(changed[:3])})
            return {key: text.encode() for key, text in known["texts"].items()}
        except ODD as exc:
            raise UnusableFile(repr(exc)) from exc

    def write(self, texts: Mapping[str, bytes]) -> None:
        """Replace the file.

        Raises:
            UnusableFile: if no process could use it.
        """
        files = sorted(find_loaded_files())
        made_of = take_fingerprint(files)
        for path, found in made_of.items():
            if found in (CHANGED, UNREADABLE):
                text = _("%(path)s has changed since the command began")
                raise UnusableFile(text % {"path": path})
        decoded = {key: text.decode() for key, text in texts.items()}
        content = json.dumps({"files": files, "made_of": made_of, "texts": decoded}).encode()
        try:
            # Readers see the old file or the new one. mkstemp makes a file for its owner alone.
            handle, path = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(self.path)))
            try:
                with open(handle, "wb") as file:
                    file.write(self._sign(content) + b"\n" + content)
                os.replace(path, self.path)
            except OSError:
                os.unlink(path)
                raise
        except OSError as exc:
            raise UnusableFile(str(exc)) from exc

    def _sign(self, content: bytes) -> bytes:
        return salted_hmac(SALT, content, algorithm="sha256").hexdigest().encode()

    def _read_own(self) -> bytes:
        # A system without owners of files has neither O_NOFOLLOW nor geteuid.
        with open(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise UnusableFile(_("it is no regular file"))
            if facts.st_uid != os.geteuid():
                raise UnusableFile(_("another user owns it"))
            if facts.st_mode & OWNER_ONLY:
                raise UnusableFile(_("others than its owner have rights to it"))
            return file.read()


class KeptDescriptions:
    """The descriptions in the file, and those that are recorded for the next file.

    Attributes:
        recorded: the texts that were made since `recording` began, None outside of it.
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
        route = tool.endpoint.route
        # A URLconf that is an object has no name in another process.
        if mcp_settings.DESCRIPTIONS_FILE is None or not isinstance(route.urlconf, str):
            return make()
        made_of = (kind, tool, route.match_route, tool.related.digest)
        spelled = ADDRESS.sub("", repr(made_of))
        key = hashlib.blake2b(spelled.encode(), digest_size=16).hexdigest()
        if self.recorded is not None:
            return self._record(tool, key, make)
        known = self._find_texts().get(key)
        return make() if known is None else known

    def ignore(self) -> None:
        """Do not use the file in this process any more: the tools have changed."""
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
        with noted_queries() as queries:
            text = make()
        if queries:
            # Other texts of the tool may depend on the same rows.
            self.left_out.add(tool)
            for each in keys:
                self.recorded.pop(each, None)
        if tool not in self.left_out:
            keys.add(key)
            self.recorded[key] = text
        return text

    def _find_texts(self) -> Mapping[str, bytes]:
        with self._lock:
            if self._texts is None:
                path = mcp_settings.DESCRIPTIONS_FILE
                try:
                    self._texts = DescriptionsFile(path).read()
                except UnusableFile as exc:
                    logger.info("Tools are described anew: %s is not used, %s.", path, exc)
                    self._texts = {}
            return self._texts

    def _read_again(self, **kwargs: Any) -> None:
        self._texts = None


kept_descriptions = KeptDescriptions()


def take_fingerprint(files: Iterable[str]) -> dict[str, str]:
    """Return hashes of all that descriptions are made of: Python, settings and files, by name.

    Args:
        files: files besides those of the project's apps.
    """
    with warnings.catch_warnings():
        # Django warns of settings that are deprecated.
        warnings.simplefilter("ignore")
        hashes = {name: hash_setting(name) for name in dir(settings) if name.isupper()}
    paths = {*files, *find_project_files()}
    return {"Python": sys.version, **hashes, **{path: hash_source(path) for path in paths}}


def hash_setting(name: str) -> str:
    # pprint sorts sets. Of an object whose repr has only an address, the class counts.
    value = pprint.pformat(getattr(settings, name), width=1, sort_dicts=False)
    # Keyed, so that a short secret cannot be found out from its hash by trying.
    text = f"{name}={ADDRESS.sub('', value)}"
    return salted_hmac(SALT, text, algorithm="sha256").hexdigest()


def find_loaded_files() -> set[str]:
    """Return the files of the modules that this process has imported."""
    files = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
    return {os.path.abspath(path) for path in files if path and os.path.isfile(path)}


def find_project_files() -> Iterator[str]:
    # All files, not only the loaded ones: an app may import a new module by its name.
    of_apps = (config.path for config in apps.get_app_configs())
    for folder in {*of_apps, *map(str, settings.LOCALE_PATHS)}:
        if UNREAD.isdisjoint(Path(folder).parts):
            for root, folders, names in os.walk(os.path.abspath(folder)):
                folders[:] = [each for each in folders if each[0] != "." and each not in UNREAD]
                yield from (os.path.join(root, name) for name in names if name.endswith(SUFFIXES))


def hash_source(path: str) -> str:
    # The process does not run a file that was written after the process began.
    config: Any = apps.get_app_config("drf_mcp")
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_ctime > config.started:
                return CHANGED
            return hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError:
        return UNREADABLE
