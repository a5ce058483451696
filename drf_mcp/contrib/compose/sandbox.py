"""Runs programs in the interpreter of pydantic-monty, each in another process, in turn.

Each owner has a part of the interpreters, and a turn.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pydantic_monty as monty

from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.exceptions import Unavailable
from drf_mcp.features import LimitReached, mcp_settings
from drf_mcp.json_text import is_nested_deeper


class ProgramQueue:
    """Running and waiting programs of this process.

    The next one is of the owner who has the fewest running, and of these the first. An owner who
    has as many running as one may lets others pass.
    """

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.running: Counter[str] = Counter()
        # By a ticket, in the order in which they came: the owner.
        self.tickets: dict[object, str] = {}

    @contextmanager
    def waiting(self, owner: str, limits: Mapping[str, int]) -> Iterator[None]:
        """Run a block when it is the owner's turn.

        Raises:
            LimitReached: if as many of the owner wait as may run, or these do not end in time.
            Unavailable: if programs of others do not end in time.
        """
        own, every = mcp_settings.MAX_PROGRAMS, limits["processes"]
        ticket = object()
        with self.condition:
            if list(self.tickets.values()).count(owner) >= own:
                raise LimitReached("MAX_PROGRAMS")
            self.tickets[ticket] = owner
            try:
                comes = self.condition.wait_for(
                    lambda: self._find_next(own, every) is ticket, limits["waiting"]
                )
                if not comes:
                    if self.running[owner] >= own:
                        raise LimitReached("MAX_PROGRAMS")
                    raise Unavailable("Too many programs are running.")
                self.running[owner] += 1
            finally:
                del self.tickets[ticket]
                self.condition.notify_all()
        try:
            yield
        finally:
            with self.condition:
                self.running -= Counter([owner])
                self.condition.notify_all()

    def _find_next(self, own: int, every: int) -> object | None:
        if self.running.total() >= every:
            return None
        able = [each for each, owner in self.tickets.items() if self.running[owner] < own]
        return min(able, key=lambda each: self.running[self.tickets[each]], default=None)


# A program catches RuntimeError by this name: the interpreter has no classes that inherit.
PRELUDE = "ToolError = RuntimeError"
MAX_RECURSION = 200
# The most problems that one refusal names.
MOST_PROBLEMS = 8
# How deeply values may be nested that a program gets or returns; the envelope adds levels.
MAX_DEPTH = 100
MEGABYTE = 1_000_000

# More than any project lets run at once.
MOST_PROCESSES = 1000

pools: dict[int, monty.Monty] = {}
lock = threading.Lock()
queue = ProgramQueue()


class ProgramEncoder(AnswerEncoder):
    """Writes values of a program as REST framework's serializers do: a decimal as its text."""

    def default(self, obj: Any) -> Any:
        if isinstance(obj, Decimal):
            return str(obj)
        if isinstance(obj, (set, frozenset)):
            # The same program sends the same again.
            return sorted(obj, key=str)
        if isinstance(obj, monty.MontyClassProxy):
            return obj.attributes
        return super().default(obj)


class RaisedInProgram(Exception):
    """A function of a program raises one of Python's exceptions there.

    RuntimeError is `ToolError` to the program.
    """

    def __init__(self, exception: Exception) -> None:
        super().__init__(exception)
        self.exception = exception


class ProgramFailed(Exception):
    """A program ended with an exception, of a kind, at a line where that is known."""

    def __init__(self, message: str, kind: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.line = line


def refuse(problems: Collection[tuple[int, str]]) -> None:
    """Raise ProgramFailed with all that is wrong on lines of a program, if something is."""
    if not problems:
        return
    ordered = sorted(dict.fromkeys(problems))
    first, *others = ordered[:MOST_PROBLEMS]
    texts = [first[1], *(f"Line {line}: {text}" for line, text in others)]
    if len(ordered) > MOST_PROBLEMS:
        texts.append("There are more.")
    raise ProgramFailed(" ".join(texts), "", first[0])


@dataclass
class Printed:
    """What a program prints, up to some length."""

    most: int
    text: str = ""
    is_cut: bool = False

    def __call__(self, stream: str, text: str) -> None:
        room = self.most - len(self.text)
        self.is_cut = self.is_cut or len(text) > room
        # The last line is whole, if it is not the only one.
        end = room if len(text) <= room else text.rfind("\n", 0, room) + 1 or room
        self.text += text[:end] if room > 0 else ""


@contextmanager
def open_session(
    limits: Mapping[str, int], now: datetime, owner: str
) -> Iterator[monty.MontySession]:
    """Open a process for one program, when it is the turn of its owner.

    Args:
        limits: COMPOSE_LIMITS.
        now: the time that the program sees, and the seed of what is random to it: the same program
            does the same when it runs again.
    """
    checkout = _open_pool().checkout(
        limits={
            "max_feed_duration_secs": limits["seconds"],
            "max_memory": limits["memory"] * MEGABYTE,
            "max_recursion_depth": MAX_RECURSION,
            # Names that are looked up, imports and offsets of time zones count as well.
            "max_suspensions": limits["calls"] * 4 + 20_000,
        },
        os_policy={
            "datetime": now,
            "random_start": {"seed": now.timestamp()},
            "sleep": "zero",
        },
    )
    with queue.waiting(owner, limits), checkout as session:
        yield session


def _open_pool() -> monty.Monty:
    with lock:
        if os.getpid() not in pools:
            if pools:
                # The interpreter would wait for threads that the fork does not have.
                raise Unavailable("Programs cannot run in this process.")
            pool = monty.Monty(
                min_processes=0,
                # The queue has the bound.
                max_processes=MOST_PROCESSES,
                # Nothing of one caller's program is there for the next.
                max_checkouts_per_worker=1,
            )
            pools[os.getpid()] = pool.__enter__()
        return pools[os.getpid()]


def run_program(
    session: monty.MontySession,
    program: Any,
    functions: Collection[str],
    answer: Callable[[str, tuple[Any, ...], Mapping[str, Any]], Any],
    printed: Printed,
) -> Any:
    """Return the value of the last expression, as JSON.

    Args:
        program: a `Program`.
        functions: the names of the functions that the program has.
        answer: returns what a function gives: gets its name, and its arguments by position and by
            name; raises `RaisedInProgram`, or what ends the program.
        printed: gets what the program prints.
    """
    try:
        session.feed_run(f"{PRELUDE}\n{program.parts}")
        _check_imports(session, program.imports)
        step: Any = session.feed_start(program.text, print_callback=printed)
        while not isinstance(step, monty.MontyComplete):
            step = _go_on(step, functions, answer)
    except (monty.MontyRuntimeError, monty.MontySyntaxError) as exc:
        frames = exc.traceback()
        kind, _colon, message = _explain_error(exc.display("type-msg")).partition(": ")
        line = frames[-1].line if frames else None
        raise ProgramFailed(message or kind, kind, line) from exc
    except monty.MontyError as exc:
        message = "The program took too long, or needed too much memory."
        raise ProgramFailed(message) from exc
    try:
        text = ProgramEncoder().encode(step.output)
        if is_nested_deeper(text, MAX_DEPTH):
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as exc:
        message = f"The result cannot be written as JSON: {exc}"
        raise ProgramFailed(message, type(exc).__name__) from exc


def _check_imports(session: monty.MontySession, imports: Iterable[tuple[int, str]]) -> None:
    problems = []
    for line, text in imports:
        try:
            session.feed_run(text)
        except monty.MontyRuntimeError as exc:
            message = exc.display("type-msg").removesuffix(" (unknown location)")
            problems.append((line, f"{message}. Write it in other words."))
    refuse(problems)


def find_offset(zone: str, moment: datetime) -> timedelta:
    """Return the offset that a time zone has at a time, for the parts of a program."""
    try:
        found = ZoneInfo(zone)
    except (LookupError, OSError, TypeError, ValueError):
        raise ValueError("There is no time zone of this name.") from None
    moment = datetime(moment.year, moment.month, moment.day) if type(moment) is date else moment
    is_utc = moment.tzinfo is not None
    placed = moment.astimezone(found) if is_utc else moment.replace(tzinfo=found)
    return placed.utcoffset() or timedelta()


def read_attributes(value: Any) -> Any:
    """Return a dataclass of a program as `dataclasses.asdict` does."""
    if isinstance(value, monty.MontyClassProxy):
        value = value.attributes
    if isinstance(value, dict):
        return {name: read_attributes(member) for name, member in value.items()}
    return [*map(read_attributes, value)] if isinstance(value, list) else value


# By their names in the parts of a program.
HOST_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "_offset": find_offset,
    "_asdict": read_attributes,
}


# Types whose methods Python has and the interpreter may lack, by the names in its errors.
TYPES: dict[str, type] = {
    **{kind.__name__: kind for kind in (str, dict, list, set, tuple, int, float, bytes)},
    "datetime.datetime": datetime,
    "datetime.date": date,
}


def _explain_error(text: str) -> str:
    """Return the text of an error, without what is not true of Python."""
    found = re.search(r"'([\w.]+)'(?: object)? has no attribute '(\w+)'", text)
    if found and found[2][0] != "_" and hasattr(TYPES.get(found[1]), found[2]):
        return f"NotImplementedError: {found[1]}.{found[2]} does not work here."
    if found and found[1] == "dict":
        return f"{text}. Write [{found[2]!r}]."
    if "list indices must be integers" in text:
        return f"{text}. A tool that lists gives the rows themselves."
    if "cannot suspend" in text:
        return "NotImplementedError: A tool cannot be called here: call it in a loop before."
    lacks = "The monty syntax parser does not yet support "
    return text.replace(lacks, "A program has no ")


def _go_on(step: Any, functions: Collection[str], answer: Callable[..., Any]) -> Any:
    """Give the interpreter what it waits for, and return where it waits next."""
    if isinstance(step, monty.NameLookupSnapshot):
        # For `f = orders_list`: a later call of f has the name of this function.
        name = step.variable_name
        if name not in functions:
            return step.resume()

        def function() -> None:
            pass

        function.__name__ = function.__qualname__ = name
        return step.resume(value=function)
    if not isinstance(step, monty.FunctionSnapshot):
        raise ProgramFailed("A program cannot wait for several calls at once.")
    if step.is_os_function:
        return step.resume_not_handled()
    try:
        value = answer(str(step.function_name), step.args, step.kwargs)
    except RaisedInProgram as exc:
        return step.resume({"exception": exc.exception})
    return step.resume({"return_value": value})
