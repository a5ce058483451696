"""The table of features, and cases in which each pair of their values occurs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

Case: TypeAlias = dict[str, str]
Possible: TypeAlias = Callable[[Mapping[str, str]], bool]
OFF, ON = "off", "on"

# A new feature adds a row.
FEATURES: Mapping[str, Sequence[str]] = {
    "view": ("viewset", "overridden list", "action", "APIView", "function", "async"),
    "answer": ("rows", "own envelope", "soft failure"),
    "envelope": ("v2", "ok", "status", "plain"),
    # Each case also tries an anonymous caller, who would reach no other feature.
    # A narrowed token lacks the tool that deletes, a blind one the tool that reads one note.
    "caller": ("plain", "staff", "narrowed", "blind"),
    "door": ("HTTP", "host with forms", "stdio", "in process", "toolbox"),
    # Guards, several of which may apply to one call.
    "dry run": (OFF, ON),
    "confirmation": (OFF, ON),
    "idempotency": (OFF, ON),
    "if_match": (OFF, ON),
    # Changes and deletions need approval.
    "approval": (OFF, ON),
    # The URL of the endpoint names a toolset.
    "toolset": (OFF, ON),
    # The formats of requests and answers.
    "parser": ("JSON", "form", "files"),
    "renderer": ("JSON", "camel case", "packed", "own encoder"),
    "pages": (OFF, "numbers", "offset", "cursor"),
    "versioning": (OFF, "path", "header", "query"),
    # The path also has the customer.
    "nested": (OFF, ON),
    # The request asks for German.
    "language": (OFF, "of the client"),
    # Each tool that reads is also a resource.
    "resources": (OFF, ON),
    "middleware": (OFF, ON),
    "tasks": (OFF, ON),
    "search": (OFF, ON),
    # Each call says why, the same call in other words.
    "intent": (OFF, ON),
    # Each call is made in a program.
    "program": (OFF, ON),
    # The project's exception handler writes the bodies of errors.
    "own errors": (OFF, ON),
    # A write may have several notes: all or none are written, or those without an error.
    "several": (OFF, ON, "partial"),
    "time limit": (OFF, ON),
    # A caller may hold two keys, and two proposals.
    "bounds": (OFF, ON),
    "throttle": (OFF, ON),
    "atomic": (OFF, ON),
    # The budget is set by the project, the endpoint or the client.
    "over budget": (OFF, ON, "by endpoint", "by client"),
    "output schema": (OFF, ON),
    # Rows are columns and rows.
    "tabular": (OFF, ON),
    # The customer in the path and the version in the query are hidden, and a field is left out.
    "hidden": (OFF, ON),
    # The event between a shortened answer and the reading of its rest.
    "meanwhile": ("nothing", "rows added", "rows deleted", "rows taken away", "rights changed"),
}


def is_possible(case: Mapping[str, str]) -> bool:
    """Return whether values can occur together."""
    # Only a caller over HTTP leaves a worker a credential; no in-process caller has a narrowed
    # token.
    if case.get("tasks") == ON and case.get("door", "HTTP") != "HTTP":
        return False
    if case.get("door") == "in process" and case.get("caller") in ("narrowed", "blind"):
        return False
    if case.get("view") == "viewset" and case.get("answer", "rows") != "rows":
        return False
    # The answer of a handler without REST framework's rows has no pages.
    if case.get("pages", OFF) != OFF and case.get("answer", "rows") != "rows":
        return False
    # Stdio has no Accept-Language header.
    if (case.get("door"), case.get("language")) == ("stdio", "of the client"):
        return False
    # A program gets rows; rows over the budget are kept for the next program.
    others = {"answer": "rows", "search": OFF, "over budget": OFF}
    if case.get("program") == ON and any(case.get(n, v) != v for n, v in others.items()):
        return False
    # A URI has all arguments in it.
    in_url = case.get("nested") == ON or case.get("versioning") == "query"
    if in_url and (case.get("hidden"), case.get("resources")) == (ON, ON):
        return False
    # Django forbids atomic requests for asynchronous views.
    return (case.get("view"), case.get("atomic")) != ("async", ON)


def draw(
    strength: int,
    features: Mapping[str, Sequence[str]] = FEATURES,
    is_possible: Possible = is_possible,
) -> Iterator[Case]:
    """Yield cases until each possible combination of values of this many features occurs."""
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
    """Return the value that completes most missing combinations of a case."""
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
