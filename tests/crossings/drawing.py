"""The table of features, and the cases that are drawn from it: each pair of values meets."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

Case: TypeAlias = dict[str, str]
Possible: TypeAlias = Callable[[Mapping[str, str]], bool]
OFF, ON = "off", "on"

# A feature that is new adds a row.
FEATURES: Mapping[str, Sequence[str]] = {
    "view": ("viewset", "overridden list", "action", "APIView", "function", "async"),
    "answer": ("rows", "own envelope", "soft failure"),
    "envelope": ("v2", "ok", "status", "plain"),
    # A caller whom nobody knows is tried in each case: no other feature would be reached by one.
    "caller": ("plain", "staff", "narrowed"),
    "door": ("HTTP", "batch", "host with forms", "stdio", "in process"),
    # Guards, which may meet in one call.
    "dry run": (OFF, ON),
    "confirmation": (OFF, ON),
    "idempotency": (OFF, ON),
    "if_match": (OFF, ON),
    "undo": (OFF, ON),
    # People approve changes and deletions.
    "approval": (OFF, ON),
    # The endpoint is that of a toolset.
    "toolset": (OFF, ON),
    # How requests are written, and how answers are.
    "parser": ("JSON", "form", "files"),
    "renderer": ("JSON", "camel case", "packed", "own encoder"),
    "pages": (OFF, "numbers", "offset", "cursor"),
    "versioning": (OFF, "path", "header", "query"),
    # The path names the customer as well.
    "nested": (OFF, ON),
    # German, by the request or by LANGUAGE.
    "language": (OFF, "of the client", "of the setting"),
    # What tools read can be read as resources.
    "resources": (OFF, ON),
    "middleware": (OFF, ON),
    "tasks": (OFF, ON),
    "search": (OFF, ON),
    # Each call is the only one of a program.
    "program": (OFF, ON),
    # One tool for the figures of all lists.
    "figures": (OFF, ON),
    # Errors have a body of the project's own.
    "own errors": (OFF, ON),
    # A write may name several notes: all of them are made or none, or those that work.
    "several": (OFF, ON, "partial"),
    "time limit": (OFF, ON),
    "throttle": (OFF, ON),
    "atomic": (OFF, ON),
    # The budget is that of the project, of an endpoint, or of a client.
    "over budget": (OFF, ON, "by endpoint", "by client"),
    "output schema": (OFF, ON),
    # Between an answer that leaves something out, and the call that fetches it.
    "meanwhile": ("nothing", "rows added", "rows deleted", "rows taken away", "rights changed"),
}


def is_possible(case: Mapping[str, str]) -> bool:
    """Return whether values can meet at all."""
    # Only who calls over HTTP leaves a worker a credential; a narrowed token has none in process.
    if case.get("tasks") == ON and case.get("door", "HTTP") != "HTTP":
        return False
    if (case.get("door"), case.get("caller")) == ("in process", "narrowed"):
        return False
    if case.get("view") == "viewset" and case.get("answer", "rows") != "rows":
        return False
    # An answer of a project's own has no pages.
    if case.get("pages", OFF) != OFF and case.get("answer", "rows") != "rows":
        return False
    # There are no headers.
    if (case.get("door"), case.get("language")) == ("stdio", "of the client"):
        return False
    # A program gets rows, and what is too long of them is kept for the next program.
    others = {"answer": "rows", "search": OFF, "over budget": OFF}
    if case.get("program") == ON and any(case.get(n, v) != v for n, v in others.items()):
        return False
    # A program has the tools that are routes, and counts what they give.
    if case.get("program") == case.get("figures") == ON:
        return False
    # Django refuses them.
    return (case.get("view"), case.get("atomic")) != ("async", ON)


def draw(
    strength: int,
    features: Mapping[str, Sequence[str]] = FEATURES,
    is_possible: Possible = is_possible,
) -> Iterator[Case]:
    """Yield cases in which each combination of so many features' values occurs that can."""
    chance = random.Random(0)
    missing = {
        tuple(zip(names, values, strict=True))
        for names in itertools.combinations(features, strength)
        for values in itertools.product(*(features[name] for name in names))
    }
    missing = {combination for combination in missing if is_possible(dict(combination))}
    while missing:
        case = dict(min(missing))
        for name in chance.sample(list(features), len(features)):
            if name not in case:
                values = [v for v in features[name] if is_possible({**case, name: v})]
                chance.shuffle(values)
                case[name] = choose(name, values, case, missing)
        yield case
        missing = {combination for combination in missing if not case.items() >= set(combination)}


def choose(
    name: str, values: list[str], case: Case, missing: set[tuple[tuple[str, str], ...]]
) -> str:
    """Return the value with which a case has the most of the combinations that are missing."""
    gains = dict.fromkeys(values, 0)
    for combination in missing:
        for of, value in combination:
            if of == name and value in gains:
                others = (case.get(n, v) == v for n, v in combination if n != name)
                gains[value] += all(others)
    return max(values, key=gains.__getitem__)


def name_case(case: Mapping[str, str]) -> str:
    said = [value for name, value in case.items() if value not in (OFF, ON)]
    return "-".join([*said, *(name for name, value in case.items() if value == ON)])
