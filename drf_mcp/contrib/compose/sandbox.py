"""Programs in the interpreter of pydantic-monty: a process of its own for each of them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pydantic_monty as monty
from django.utils.translation import gettext as _

from drf_mcp.dispatch.encoding import AnswerEncoder
from drf_mcp.exceptions import Unavailable
from drf_mcp.json_text import is_nested_deeper

# What a program catches. A class of its own it cannot have: the interpreter has none that inherit.
PRELUDE = "ToolError = RuntimeError"
# Programs at once in a process of the project, and seconds for which one more waits.
MOST_PROGRAMS, MAX_WAIT = 8, 10.0
MAX_RECURSION = 200
# Of values that a program gets or gives: an envelope around it may have more.
MAX_DEPTH = 100
MEGABYTE = 1_000_000

pools: dict[int, monty.Monty] = {}
lock = threading.Lock()


class CallFailed(Exception):
    """A call that failed, as the program gets it."""


class UnknownFunction(Exception):
    """A program calls what is neither a tool nor a function of the interpreter."""


class WrongArguments(Exception):
    """A program calls a function with arguments that it does not take."""


# The classes of the interpreter that stand for ours.
RAISED: Mapping[type[Exception], type[Exception]] = {
    CallFailed: RuntimeError,
    UnknownFunction: NameError,
    WrongArguments: TypeError,
}


class ProgramFailed(Exception):
    """A program ended with an exception.

    Args:
        message: what is wrong.
        kind: the name of the exception.
        line: the line of the program, None where that is not known.
    """

    def __init__(self, message: str, kind: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.line = line


@dataclass
class Printed:
    """What a program prints, up to some length."""

    most: int
    text: str = ""
    is_cut: bool = False

    def __call__(self, stream: str, text: str) -> None:
        room = self.most - len(self.text)
        self.is_cut = self.is_cut or len(text) > room
        self.text += text[:room]


@dataclass(frozen=True)
class Sandbox:
    """Runs one program.

    Args:
        functions: the names of the functions that a program has.
        answer: returns what a function of the program gives: gets its name, and its arguments by
            position and by name.
        now: the time that the program sees, and the seed of what is random to it: the same
            program does the same when it runs again.
        seconds: how long the program may run, without its calls.
        memory: megabytes that the program may have.
        calls: how many functions it may call.
        printed: gets what the program prints.
    """

    functions: Collection[str]
    answer: Callable[[str, tuple[Any, ...], Mapping[str, Any]], Any]
    now: datetime
    seconds: float
    memory: int
    calls: int
    printed: Printed

    def run(self, program: str) -> Any:
        """Return the value of the last expression.

        Raises:
            ProgramFailed: if the program ends with an exception, or exceeds a limit.
            Unavailable: if too many programs are running.
        """
        with ExitStack() as stack:
            try:
                session = stack.enter_context(self.open_session())
            except TimeoutError as exc:
                raise Unavailable(_("Too many programs are running.")) from exc
            try:
                session.feed_run(PRELUDE)
                step = session.feed_start(program, print_callback=self.printed)
                while not isinstance(step, monty.MontyComplete):
                    step = self.go_on(step)
            except (monty.MontyRuntimeError, monty.MontySyntaxError) as exc:
                raise read_failure(exc) from exc
            except monty.MontyError as exc:
                message = _("The program took too long, or needed too much memory.")
                raise ProgramFailed(message) from exc
            return read_result(step)

    def open_session(self) -> monty.MontySession:
        return get_pool().checkout(
            limits={
                "max_feed_duration_secs": self.seconds,
                "max_memory": self.memory * MEGABYTE,
                "max_recursion_depth": MAX_RECURSION,
                # Names that are looked up, and imports, count as well.
                "max_suspensions": self.calls * 4 + 1000,
            },
            os_policy={
                "datetime": self.now,
                "random_start": {"seed": self.now.timestamp()},
                "sleep": "zero",
            },
        )

    def go_on(self, step: Any) -> Any:
        if isinstance(step, monty.NameLookupSnapshot):
            # Such as `f = orders_list`, whose name the call of f has.
            known = step.variable_name in self.functions
            return step.resume(value=refer_to(step.variable_name)) if known else step.resume()
        if not isinstance(step, monty.FunctionSnapshot):
            raise ProgramFailed(_("A program cannot wait for several calls at once."))
        if step.is_os_function:
            return step.resume_not_handled()
        try:
            value = self.answer(str(step.function_name), step.args, step.kwargs)
        except tuple(RAISED) as exc:
            return step.resume({"exception": RAISED[type(exc)](str(exc))})
        return step.resume({"return_value": value})


def get_pool() -> monty.Monty:
    """Return the pool of this process: a process that was forked has none of its parent's."""
    with lock:
        pool = pools.get(os.getpid())
        if pool is None:
            pool = monty.Monty(
                min_processes=0,
                max_processes=MOST_PROGRAMS,
                checkout_timeout=MAX_WAIT,
                # Nothing of one caller's program is there for the next.
                max_checkouts_per_worker=1,
            )
            pools[os.getpid()] = pool.__enter__()
        return pool


def refer_to(name: str) -> Callable[[], None]:
    """Return the value of a function's name until the program calls it."""

    def function() -> None:
        pass

    function.__name__ = function.__qualname__ = name
    return function


def read_result(step: monty.MontyComplete) -> Any:
    """Return the value of a program, as JSON.

    Raises:
        ProgramFailed: if it is nothing that JSON can write.
    """
    try:
        text = AnswerEncoder().encode(step.output)
        if is_nested_deeper(text, MAX_DEPTH):
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
        return json.loads(text)
    except (TypeError, ValueError, RecursionError) as exc:
        message = _("The result cannot be written as JSON: %(reason)s") % {"reason": exc}
        raise ProgramFailed(message, type(exc).__name__) from exc


def read_failure(exc: monty.MontyRuntimeError | monty.MontySyntaxError) -> ProgramFailed:
    frames = exc.traceback()
    kind, _colon, message = exc.display("type-msg").partition(": ")
    return ProgramFailed(message or kind, kind, frames[-1].line if frames else None)
