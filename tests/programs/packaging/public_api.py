"""The public API, as the page \"Python API\" lists it.

``python -m tests.programs.packaging.public_api --write`` writes it as the API of a release.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.utils.module_loading import import_string

from tests.documentation.pages import DOCS

PAGE = DOCS / "reference" / "api.md"
RELEASED = Path(__file__).with_name("released_api.json")
DIRECTIVE = re.compile(
    r"^\.\. (?P<kind>currentmodule|automodule|auto\w+|py:data):: (?P<name>\S+)"
    r"(?P<options>(?:\n {3}:\w.*)*)",
    re.M,
)
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

# Names of parameters, each with its kind ("positional" or "keyword") and whether it is optional.
# None for a name that is not callable.
Signature = Mapping[str, tuple[str, bool]]
API = dict[str, "Signature | None"]


def read_api() -> API:
    """Return the signature of each public name and member."""
    return dict(sorted(find_names()))


def find_names() -> Iterator[tuple[str, Signature | None]]:
    module = ""
    for found in DIRECTIVE.finditer(PAGE.read_text()):
        kind, name = found["kind"], found["name"]
        if kind in ("currentmodule", "automodule"):
            module = name
            continue
        dotted = name if name.startswith("drf_mcp") else f"{module}.{name}"
        value = import_string(dotted)
        yield dotted, read_signature(value)
        members = re.search(r":members:(?P<names>.*)", found["options"])
        if members and inspect.isclass(value):
            chosen = [part.strip() for part in members["names"].split(",") if part.strip()]
            for member in chosen or find_members(value):
                yield f"{dotted}.{member}", read_signature(getattr(value, member, None))


def find_members(value: type) -> list[str]:
    # As autodoc: members with a docstring that are written in the package.
    return [
        name
        for name, member in vars(value).items()
        if not name.startswith("_") and getattr(member, "__doc__", None) and callable(member)
    ]


def read_signature(value: Any) -> Signature | None:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return {
        ("*" if p.kind in VARIADIC else "") + p.name: (
            "positional" if p.kind in POSITIONAL else "keyword",
            p.kind in VARIADIC or p.default is not inspect.Parameter.empty,
        )
        for p in parameters
        if p.name != "self"
    }


def find_breaks(released: API, present: API) -> Iterator[str]:
    """Yield each change that breaks code for the release."""
    for name, before in released.items():
        if name not in present:
            yield f"{name} is gone."
            continue
        now = present[name]
        if before is not None and now is None:
            yield f"{name} cannot be called any more."
        elif before is not None and now is not None:
            yield from (f"{name}: {difference}" for difference in compare(before, now))


def compare(before: Signature, now: Signature) -> Iterator[str]:
    takes_any = any(name.startswith("*") for name in now)
    for name, (kind, may_be_left_out) in before.items():
        if name not in now:
            if not takes_any:
                yield f"the parameter {name} is gone."
            continue
        kind_now, may_be_left_out_now = now[name]
        if kind == "positional" and kind_now == "keyword":
            yield f"{name} can be given by its name alone."
        if may_be_left_out and not may_be_left_out_now:
            yield f"{name} has become required."
    for name, (_, may_be_left_out) in now.items():
        if name not in before and not may_be_left_out:
            yield f"the new parameter {name} is required."
    order = [n for n, (kind, _) in before.items() if kind == "positional" and n in now]
    order_now = [n for n, (kind, _) in now.items() if kind == "positional"]
    if order != order_now[: len(order)] and set(order) <= set(order_now):
        yield f"the order of {', '.join(order)} is another."


def read_released() -> API:
    known = json.loads(RELEASED.read_text())["names"]
    return {
        name: signature and {k: tuple(v) for k, v in signature.items()}
        for name, signature in known.items()
    }


def write_released(version: str) -> None:
    # One line for each name, so that a diff shows the changes.
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in read_api().items()]
    names = ",\n".join(lines)
    RELEASED.write_text(f'{{"version": {json.dumps(version)}, "names": {{\n{names}\n}}}}\n')


def main() -> None:
    """Print the breaking changes, or write the API as that of this version."""
    import django

    django.setup()
    from drf_mcp import __version__

    if "--write" in sys.argv:
        write_released(__version__)
        return
    sys.stdout.write("\n".join(find_breaks(read_released(), read_api())) or "Nothing breaks.\n")


if __name__ == "__main__":
    main()
