"""What descriptions of tools are made of: code, packages and settings, alike in each process."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import hashlib
import os
import re
import sys
import types
import uuid
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from django.apps import apps
from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise

from drf_mcp.json_text import canonical_json

Fingerprint: TypeAlias = dict[str, Any]

SALT = "drf_mcp.tools.fingerprint"
INSTALLED = frozenset({"site-packages", "dist-packages"})
# What pip leaves for each package, with its version.
PACKAGES = (".dist-info", ".egg-info", ".egg-link", ".pth")
# Code, and compiled translations of it.
SUFFIXES = (".py", ".mo")
UNREAD = frozenset({"__pycache__", "node_modules", *INSTALLED})
CHANGED, UNREADABLE = UNKNOWN_FILES = ("changed", "unreadable")
# The values of settings are hardly nested so deep, but they may hold themselves.
MAX_DEPTH = 20
# Of classes that Python code defines (Py_TPFLAGS_HEAPTYPE).
HEAP_TYPE = 1 << 9
PLAIN = (str, int, float, bool, type(None))
WRITTEN_ALIKE = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    decimal.Decimal,
    PurePath,
    uuid.UUID,
    range,
    complex,
    bytes,
)


class UnknownValue(ValueError):
    """A value that may differ between processes without a sign of it."""


def take_fingerprint(files: Iterable[str]) -> Fingerprint:
    """Return what the descriptions of this process are made of.

    Args:
        files: further files whose content counts; those of the project's apps always do.

    Raises:
        UnknownValue: if a setting holds a value that cannot be compared.
    """
    every = sorted({*files, *find_project_files()})
    return {
        "python": sys.version,
        "packages": sorted(find_packages()),
        "settings": {name: hash_setting(name) for name in dir(settings) if name.isupper()},
        "files": {path: hash_source(path) for path in every},
    }


def find_difference(one: Fingerprint, other: Fingerprint) -> str:
    """Return which part of two fingerprints differs first, with a few names; "" for none."""
    for part in ("python", "packages", "settings", "files"):
        if one[part] == other[part]:
            continue
        if part == "python":
            return part
        if part == "packages":
            names = set(one[part]) ^ set(other[part])
        else:
            every = {*one[part], *other[part]}
            names = {name for name in every if one[part].get(name) != other[part].get(name)}
        return f"{part} ({', '.join(sorted(names)[:3])})"
    return ""


def find_loaded_files() -> set[str]:
    """Return the files of the modules that this process has imported."""
    files = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
    return {os.path.abspath(path) for path in files if path and os.path.isfile(path)}


def find_project_files() -> Iterator[str]:
    # Apps find some modules by their names, so a new file counts as well.
    of_apps = (config.path for config in apps.get_app_configs())
    for folder in {*of_apps, *map(str, settings.LOCALE_PATHS)}:
        if INSTALLED.isdisjoint(Path(folder).parts):
            yield from find_files(os.path.abspath(folder))


def find_files(folder: str) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each[0] != "." and each not in UNREAD]
        yield from (os.path.join(root, name) for name in names if name.endswith(SUFFIXES))


def find_packages() -> Iterator[str]:
    for folder in sys.path:
        if os.path.basename(folder) in INSTALLED and os.path.isdir(folder):
            yield from (name for name in os.listdir(folder) if name.endswith(PACKAGES))


def hash_source(path: str) -> str:
    # A file that was written after this process began is not what the process runs.
    try:
        with open(path, "rb") as file:
            config: Any = apps.get_app_config("drf_mcp")
            if os.fstat(file.fileno()).st_ctime > config.started:
                return CHANGED
            return hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError:
        return UNREADABLE


def hash_setting(name: str) -> str:
    # Keyed, so that a short secret cannot be found out from its hash by trying.
    try:
        text = canonical_json(spell(getattr(settings, name)))
    except UnknownValue as exc:
        raise UnknownValue(f"{name}: {exc}") from exc
    return salted_hmac(SALT, f"{name}={text}", algorithm="sha256").hexdigest()


def spell(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON that is the same in each process that has the same value.

    Raises:
        UnknownValue: if the value has a state that cannot be seen.
    """
    if type(value) in PLAIN:
        return value
    if depth > MAX_DEPTH:
        raise UnknownValue("a value that is nested too deeply")
    if isinstance(value, (str, Promise)):
        return str(value)
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return spell_code(value, depth)
    kind = spell_code(type(value), depth)
    if isinstance(value, Enum):
        return [kind, value.name]
    if isinstance(value, WRITTEN_ALIKE):
        return [kind, repr(value)]
    if isinstance(value, re.Pattern):
        return [kind, value.pattern, value.flags]
    if isinstance(value, types.ModuleType):
        return [kind, value.__name__]
    if isinstance(value, Mapping):
        return [kind, [[spell(k, depth + 1), spell(v, depth + 1)] for k, v in value.items()]]
    if isinstance(value, (list, tuple)):
        return [kind, [spell(each, depth + 1) for each in value]]
    if isinstance(value, (set, frozenset)):
        return [kind, sorted(canonical_json(spell(each, depth + 1)) for each in value)]
    return [kind, spell(get_state(value), depth + 1)]


def spell_code(value: Any, depth: int) -> Any:
    """Return the name of a class or function, and of a function what it remembers."""
    name = [value.__module__ or "", value.__qualname__]
    code = getattr(value, "__code__", None)
    if code is not None:
        remembered = [cell.cell_contents for cell in value.__closure__ or ()]
        state = [value.__defaults__, value.__kwdefaults__, remembered]
        return [*name, code.co_firstlineno, spell(state, depth + 1)]
    found: Any = sys.modules.get(name[0])
    for part in name[1].split("."):
        found = getattr(found, part, None)
    if found is not value:
        raise UnknownValue(f"{name[0]}.{name[1]}, which is found by no name")
    return name


def get_state(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    own = type(value).__mro__[:-1]
    # A class that is written in C may keep what no attribute shows.
    is_seen = all(base.__flags__ & HEAP_TYPE and "__slots__" not in vars(base) for base in own)
    if not is_seen or not hasattr(value, "__dict__"):
        raise UnknownValue(f"an object of {type(value).__module__}.{type(value).__qualname__}")
    state: dict[str, Any] = vars(value)
    return state
