"""Findings: what of an endpoint could not be described, and where the project's code failed."""

from __future__ import annotations

import inspect
import os
import sysconfig
import traceback
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = str(Path(__file__).parents[1])
# The folders of installed packages. A project may be next to its environment, or above it.
STANDARD_LIBRARY = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
INSTALLED = (*STANDARD_LIBRARY, sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
FRAMEWORKS = frozenset({"django", "rest_framework"})
INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class Finding:
    """Something of an endpoint that could not be described.

    Attributes:
        place: where, such as ``shop.api.OrderViewSet.create``.
        message: what went wrong.
        remedy: what the project can do about it.
        source: the project's own line, such as ``shop/api.py:12``, "" if it is not known.
    """

    place: str
    message: str
    remedy: str
    source: str = field(default="", compare=False)


def make_finding(place: str, exc: BaseException, remedy: str) -> Finding:
    """Return the finding of an exception, with the last line of the project's own code."""
    if isinstance(exc, KeyError):  # such as of a context that could not be made
        exc = exc.__cause__ or exc
    frames = [(f.f_code, number) for f, number in traceback.walk_tb(exc.__traceback__)]
    own = [each for each in frames if is_project_file(each[0].co_filename)]
    unread = (*STANDARD_LIBRARY, f"{PACKAGE}/", "<")
    libraries = [
        each
        for each in frames
        if not each[0].co_filename.startswith(unread) or "site-packages" in each[0].co_filename
    ]
    (code, number) = (own or libraries or frames)[-1]
    line = next(iter(str(exc).strip().splitlines()), "")
    message = f"{type(exc).__name__}: {line} ({code.co_filename}:{number} in {code.co_name})"
    source = write_line(code.co_filename, number or 1) if own else ""
    return Finding(place, message, remedy, source)


def find_calling_line() -> str:
    """Return the line of the code that this package asked and that called it back.

    It is the project's own where there is one, else the first one that is not a framework's.
    """
    lines, frame, has_left = list[tuple[str, int]](), inspect.currentframe(), False
    while frame is not None:
        path = frame.f_code.co_filename
        is_here = path.startswith(f"{PACKAGE}/")
        if is_here and has_left:
            break
        has_left |= not is_here
        if not is_here and FRAMEWORKS.isdisjoint(Path(path).parts):
            lines.append((path, frame.f_lineno))
        frame = frame.f_back
    own = [each for each in lines if is_project_file(each[0])]
    return next((write_line(*each) for each in (*own, *lines)), "")


def is_project_file(path: str) -> bool:
    """Return whether a file of Python is the project's own, and of no installed package."""
    if not path.endswith(".py") or path.startswith((*INSTALLED, f"{PACKAGE}/")):
        return False
    return INSTALLED_FOLDERS.isdisjoint(Path(path).parts)


def write_line(path: str, line: int) -> str:
    """Return ``path:line``, the path relative to the working directory where it is below it."""
    relative = os.path.relpath(path)
    return f"{path if relative.startswith(os.pardir) else relative}:{line}"
