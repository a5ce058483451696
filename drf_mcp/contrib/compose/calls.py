"""The calls of one program: each is an ordinary call of the program's caller."""

from __future__ import annotations

import builtins
import keyword
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from rest_framework.exceptions import APIException

from drf_mcp.archives import StoredAnswer
from drf_mcp.codes import UNWRITABLE
from drf_mcp.contrib.compose import PROGRAM
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.sandbox import (
    HOST_FUNCTIONS,
    MAX_DEPTH,
    MEGABYTE,
    ProgramEncoder,
    RaisedInProgram,
)
from drf_mcp.contrib.compose.signatures import (
    MORE_ROWS,
    ONE_PAGE,
    FunctionSignature,
    ListReader,
    write_signatures,
)
from drf_mcp.contrib.compose.tool import write_functions
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.dispatch.failures import close_broken_connections
from drf_mcp.dispatch.guards import find_narrowing_refusal
from drf_mcp.errors import ask_nearest
from drf_mcp.exceptions import ProtocolError, attempt
from drf_mcp.exposure import Tool, Visibility
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import INPUT_REQUESTS, Exchange, Slot
from drf_mcp.interaction.exchange import Answer as Reply
from drf_mcp.json_text import hash_json, is_nested_deeper
from drf_mcp.outcomes import Category, Failure, Outcome, Warning

FAILED = "PROGRAM_FAILED"
SIGNATURES, KEPT = OWN_FUNCTIONS = ("signatures", "kept")
# Under these names a program does not reach a function of its tools.
RESERVED = frozenset({*keyword.kwlist, *dir(builtins), *OWN_FUNCTIONS})
# How many texts these two functions take, the characters of a text, and the nouns in an answer.
MOST_TEXTS, MAX_NAME, MOST_NOUNS = 20, 128, 60
# How many problems the text of an error has.
MOST_PROBLEMS = 3
# The characters of a value, and of a call, where it is only named.
MAX_SHOWN, MAX_CALL = 60, 200
# What functions of the parts raise for values that are none of theirs.
HOST_ERRORS = (ArithmeticError, AttributeError, TypeError, ValueError)
CODES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 429: "RATE_LIMIT_EXCEEDED"}


@dataclass
class Reopened:
    """The call at which a program stopped: with the hash of what was sent, as a person reads it.

    Attributes:
        replies: the answers to the questions of the call, by their keys, as clients send them.
        memory: what its questions remember, by their keys.
        further: arguments that the call lacked.
    """

    tool: str
    arguments: str
    shown: str
    replies: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    further: dict[str, Any] = field(default_factory=dict)


@dataclass
class ProgramStopped(Exception):
    """A call of the program waits for something: a confirmation, an answer, a key."""

    tool: Tool
    arguments: Mapping[str, Any]
    outcome: Outcome
    reopened: Reopened


@dataclass
class Ended(Exception):
    """A program may not go on."""

    status: int
    failure: Failure


@dataclass
class CallAnswer:
    """What one call of a program gave, as JSON: a value, or the text of an error.

    Attributes:
        arguments: the hash of what the program sent.
        shown: the call as a person reads it, without secrets.
        source: the tool that answered: the tool itself, or the one whose call it made.
        following: the arguments of the next page of rows.
        terms: what has to hold for the answer to be given again, made of the `call`.
        changed: what the call changed: tool, arguments and the key of the object.
        noted: the call and the meta of its answer, such as of a dry run.
    """

    tool: str
    arguments: str
    shown: str
    source: str
    value: Any = None
    error: str = ""
    following: Mapping[str, Any] | None = None
    terms: Mapping[str, Any] | None = None
    call: Mapping[str, Any] = field(default_factory=dict)
    changed: Mapping[str, Any] | None = None
    noted: Mapping[str, Any] | None = None


class ProgramCalls:
    """Makes the calls of one program, and counts them."""

    def __init__(self, call: CallState, limits: Mapping[str, int]) -> None:
        assert call.context is not None
        self.call = call
        self.context = call.context
        self.limits = limits
        # Of a program that is resumed: the answers up to its last change, and the call that waits.
        self.earlier: Sequence[CallAnswer] = ()
        self.reopened: Reopened | None = None
        self.keeper = Keeper(call.caller, limits)
        self.tools = write_functions(call.server, self.context)
        # By the names of the tools.
        self.function_names = name_functions(self.tools)
        self.functions = {self.function_names[name]: tool for name, tool in self.tools.items()}
        self.writes = call.tool.may_write(call.server)
        self.visibility = Visibility(call.caller)
        self.start()
        self.answers: list[CallAnswer] = []
        # Characters of the answers.
        self.size = 0
        # The terms of results that other programs left, which this one read.
        self.borrowed: list[tuple[str, Mapping[str, Any]]] = []
        self.warnings: dict[tuple[str, str], Warning] = {}
        # By the text of the error that the program got.
        self.failures: dict[str, Outcome] = {}
        # Whether an answer holds texts of others.
        self.is_untrusted = False

    def start(self) -> None:
        """Begin to count the seconds of the program."""
        self.ends = time.monotonic() + self.limits["seconds"]

    @property
    def left(self) -> float:
        return max(self.ends - time.monotonic(), 0.001)

    @property
    def record(self) -> list[CallAnswer]:
        """The answers so far, then the answers of the record that the program has not asked for."""
        return [*self.answers, *self.earlier[len(self.answers) :]]

    @property
    def changes(self) -> list[Mapping[str, Any]]:
        return [each.changed for each in self.record if each.changed is not None]

    def cut_record_of_changes(self) -> list[CallAnswer]:
        """Return the answers up to the last change: what follows can be asked anew."""
        record = self.record
        while record and record[-1].changed is None:
            record.pop()
        return record

    def answer(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the value of a call of a function in the program.

        Raises:
            RaisedInProgram: for an exception that the program may catch.
            Ended: if the program may not go on.
            ProgramStopped: if the call waits for something.
        """
        self._check_time()
        if name in OWN_FUNCTIONS:
            # Longer patterns take the time of the process, which no limit of the program counts.
            fits = all(isinstance(each, str) and len(each) <= MAX_NAME for each in args)
            if kwargs or not fits or len(args) > MOST_TEXTS:
                text = f"{name} takes at most {MOST_TEXTS} texts of {MAX_NAME} characters."
                raise RaisedInProgram(TypeError(text))
            return self._write_signatures(*args) if name == SIGNATURES else self._read_kept(*args)
        if name in HOST_FUNCTIONS:
            try:
                return HOST_FUNCTIONS[name](*args)
            except HOST_ERRORS as exc:
                raise RaisedInProgram(ValueError(str(exc))) from exc
        tool = self.find_tool(name)
        arguments = self._read_arguments(tool, name, args, kwargs)
        rows = ListReader(tool)
        answer = self.call_tool(tool, rows.enlarge(arguments))
        if answer.following is None:
            return answer.value
        if rows.chooses_page(arguments):
            self.warn(rows.say_page(arguments))
            return answer.value
        parts = [answer.value]
        while answer.following is not None:
            self._check_time()
            answer = self.call_tool(tool, answer.following)
            parts.append(answer.value)
        return rows.join(parts)

    def _read_arguments(
        self, tool: Tool, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        required = find_required(tool)
        if len(args) > len(required):
            signature = FunctionSignature(tool).get_arguments()
            raise RaisedInProgram(TypeError(f"{name} takes arguments by name: {signature}"))
        sent = dict(zip(required, args, strict=False))
        sent |= {name_argument(tool, each): value for each, value in kwargs.items()}
        try:
            plain: Mapping[str, Any] = ProgramEncoder().plain(sent)
        except (TypeError, ValueError, RecursionError) as exc:
            raise RaisedInProgram(TypeError(str(exc))) from exc
        return plain

    def _check_time(self) -> None:
        channel = self.call.channel
        if time.monotonic() >= self.ends or (channel is not None and channel.is_cancelled):
            message = f"The program took longer than {self.limits['seconds']} seconds."
            raise _make_limit_error(message)

    def find_tool(self, name: str) -> Tool:
        tool = self.functions.get(name)
        refused: Outcome | None = None
        if tool is None:
            # The narrowing that takes the tool away says why, as for any call.
            taken = self.call.server.tools_capability.get_tools(self.context).get(name)
            refused = find_narrowing_refusal(taken, self.call.caller) if taken else None
        elif tool.reads or self.writes:
            return tool
        elif self.visibility.of([tool]):
            message = f"{name} changes something, and programs only read here. Call it itself."
            failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message, "")
            refused = Outcome(name, 403, failure=failure)
        if refused is not None:
            raise RaisedInProgram(RuntimeError(self.describe(refused)))
        nearest = [
            self.function_names[each] for each in self.visibility.find_nearest(name, self.functions)
        ]
        message = f"There is no function or tool {name[:MAX_NAME]}."
        raise RaisedInProgram(NameError(f"{message} {ask_nearest(nearest)}".strip()))

    # --- One call ------------------------------------------------------------------------------

    def call_tool(self, tool: Tool, arguments: Mapping[str, Any]) -> CallAnswer:
        """Return the answer to a call: of a program that is resumed, first the answers it had."""
        number = len(self.answers)
        if number - len(self.earlier) >= self.limits["calls"]:
            most = self.limits["calls"]
            message = f"The program made {most} calls, which is the most that it may make."
            raise _make_limit_error(message)
        shown = _name_call(tool.name, tool.sanitize_arguments(arguments))
        answer = CallAnswer(tool.name, hash_json(arguments), shown, tool.name)
        if number < len(self.earlier):
            earlier = self.earlier[number]
            self._check_same_call(answer, earlier)
            answer = earlier
            source = self.tools.get(earlier.source)
            try:
                self.keeper.check_terms(source, earlier.terms or {})
            except Gone:
                message = "An answer of the record cannot be given again: your rights changed."
                failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message, "")
                raise Ended(403, failure) from None
        else:
            self.make(tool, arguments, answer)
        self.answers.append(answer)
        self.is_untrusted = self.is_untrusted or bool(tool.hints.untrusted)
        if self.call.progress is not None:
            self.call.progress.report(len(self.answers), None, tool.name)
        if answer.error:
            raise RaisedInProgram(RuntimeError(answer.error))
        return answer

    def make(self, tool: Tool, arguments: Mapping[str, Any], answer: CallAnswer) -> None:
        sent, reopened = arguments, Reopened(answer.tool, answer.arguments, answer.shown)
        slots: dict[Slot[Any], Any] = {PROGRAM: self}
        if self.reopened is not None:
            # This is the first call after the answers that were kept.
            reopened, self.reopened = self.reopened, None
            self._check_same_call(answer, reopened)
            for name, value in reopened.further.items():
                sent = tool.arguments.replace_control(sent, name, value)
            replies = {key: Reply(reply) for key, reply in reopened.replies.items()}
            exchange = Exchange((), replies, reopened.memory, 1)
            slots[INPUT_REQUESTS] = SimpleNamespace(exchange=exchange)
        try:
            outcome = self.call.server.call_within(self.context, tool.name, sent, slots)
        except ProtocolError as exc:
            failure = Failure("INVALID_REQUEST", Category.VALIDATION, exc.message, "")
            outcome = Outcome(tool.name, exc.http_status, failure=failure)
        except APIException as exc:
            if not self.changes:
                raise
            # The endpoint lets the caller in no more: what was changed before has to be said.
            code = CODES.get(exc.status_code, "UNAVAILABLE")
            category = Category.AUTHORIZATION if exc.status_code < 500 else Category.UNAVAILABLE
            raise Ended(exc.status_code, Failure(code, category, str(exc.detail), "")) from exc
        finally:
            close_broken_connections()
        if outcome.questions or find_lacking(tool, outcome):
            raise ProgramStopped(tool, arguments, outcome, reopened)
        answer.call = outcome.call
        if outcome.tool in self.tools:
            answer.source = outcome.tool
        if outcome.failure is not None:
            answer.error = self.describe(outcome)
            if outcome.status >= 500 and not tool.reads:
                # Only the view knows how far it came.
                answer.changed = {**self._name_change(tool, arguments, None), "uncertain": True}
            return
        self.read(outcome, answer)
        if tool.reads:
            return
        # An answer that comes again belongs to an earlier change.
        if not outcome.is_trial and not outcome.meta.get("replayed"):
            answer.changed = self._name_change(tool, arguments, outcome.data)
        shown = tool.sanitize_arguments(arguments)
        if outcome.meta:
            noted = {**outcome.meta, "tool": tool.name, "arguments": shown}
            answer.noted = attempt(lambda: AnswerEncoder().plain(noted), answer.noted)

    def _name_change(self, tool: Tool, arguments: Mapping[str, Any], data: Any) -> dict[str, Any]:
        """Return what a call changed: the tool, its arguments, and the key of a new object."""
        shown = _shorten_shown(tool.sanitize_arguments(arguments))
        change, endpoint = {"tool": tool.name, "arguments": shown}, tool.endpoint
        for other in self.tools.values() if isinstance(data, Mapping) else ():
            kwarg = other.endpoint.key_kwarg
            if kwarg is None or other.endpoint.collection != endpoint.collection:
                continue
            names = [a.name for a in other.arguments.arguments if a.parameter.name == kwarg]
            for name in (*names, kwarg, endpoint.lookup_kwarg):
                if isinstance(key := data.get(name), (int, str, UUID)):
                    named = {name: key if isinstance(key, int) else str(key)}
                    is_sent = named.items() <= arguments.items()
                    return change if is_sent else {**change, "object": named}
        return change

    def _check_same_call(self, asked: CallAnswer, earlier: CallAnswer | Reopened) -> None:
        if (asked.tool, asked.arguments) != (earlier.tool, earlier.arguments):
            number = len(self.answers) + 1
            message = (
                f"Call {number} was {earlier.shown}, and is {asked.shown} in this program:"
                " a program that is resumed repeats the calls that were made."
            )
            raise Ended(409, Failure("CONFLICT", Category.CONFLICT, message, ""))

    def describe(self, outcome: Outcome) -> str:
        failure = outcome.failure
        assert failure is not None
        problems = [f"{each.pointer}: {each.message}" for each in failure.problems if each.pointer]
        text = f"{failure.code} {' '.join(problems[:MOST_PROBLEMS]) or failure.message}"
        self.failures[text] = outcome
        return text

    def read(self, outcome: Outcome, answer: CallAnswer) -> None:
        for warning in outcome.warnings:
            if warning.code != MORE_ROWS:
                self.warnings.setdefault((warning.code, warning.message), warning)
        data, answer.following, partial = ListReader(self.tools[answer.source]).read(outcome)
        if partial:
            self.warn(partial)
        encoder = AnswerEncoder()
        try:
            text = encoder.encode(data)
        except (TypeError, ValueError, RecursionError) as exc:
            failure = Failure("INTERNAL_ERROR", Category.INTERNAL, str(exc), UNWRITABLE.remediation)
            answer.error = self.describe(Outcome(outcome.tool, 500, failure=failure))
            return
        self.size += len(text)
        if self.size > self.limits["memory"] * MEGABYTE or is_nested_deeper(text, MAX_DEPTH):
            answer.error = "CONTENT_TRUNCATED The answers are too long for a program."
            return
        answer.value = encoder.plain(data)

    def warn(self, text: str) -> None:
        self.warnings.setdefault((ONE_PAGE, text), Warning(ONE_PAGE, text))

    # --- Functions that call no tool -----------------------------------------------------------

    def _write_signatures(self, *patterns: str) -> str:
        """Return the signatures of the tools that one of the patterns names, a line each."""
        own = (tool for tool in self.functions.values() if tool.reads or self.writes)
        visible = {self.function_names[each.name]: each for each in self.visibility.of(own)}
        nouns = dict.fromkeys(
            name.removesuffix(f"_{tool.endpoint.standard_action}") for name, tool in visible.items()
        )
        return write_signatures(patterns, visible, list(nouns)[:MOST_NOUNS])

    def _read_kept(self, *ids: str) -> Any:
        """Return the result that was too long, of an earlier program of the caller."""
        try:
            state = self.keeper.read("".join(ids))
            if "result" not in state or not self.tools.keys() >= {n for n, _t in state["terms"]}:
                raise Gone
            for name, terms in state["terms"]:
                self.keeper.check_terms(self.tools.get(name), terms)
                self.is_untrusted |= bool(self.tools[name].hints.untrusted)
        except Gone:
            text = "NOT_FOUND There is no such result, or no more."
            raise RaisedInProgram(RuntimeError(text)) from None
        self.borrowed += state["terms"]
        return state["result"]

    def note_terms(self, answers: Iterable[CallAnswer]) -> None:
        """Keep what has to hold for each answer to be given again."""
        for answer in answers:
            if answer.terms is None:
                made = StoredAnswer.of(self.call.caller, self.tools[answer.source], answer.call)
                answer.terms = made.note_terms()

    def make_result_terms(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return what has to hold of each call for the result to be given again."""
        self.note_terms(self.answers)
        own = [(answer.source, answer.terms or {}) for answer in self.answers]
        return [*self.borrowed, *own]


def name_functions(names: Collection[str]) -> dict[str, str]:
    """Return the names of the functions by the names of the tools.

    As is usual in Python, an underscore follows a name that is taken: `import_`.
    """
    functions = {}
    for name in names:
        function = name
        while function in RESERVED or (function != name and function in names):
            function += "_"
        functions[name] = function
    return functions


def find_required(tool: Tool) -> list[str]:
    """Return the arguments that a call needs, in the order of the signature."""
    schema = tool.input_schema
    required = schema.get("required", ())
    return [name for name in schema.get("properties", {}) if name in required]


def name_argument(tool: Tool, name: str) -> str:
    """Return the argument that a program names, such as `from` for `from_`."""
    plain = name.removesuffix("_")
    is_other = keyword.iskeyword(plain) and name not in tool.input_schema.get("properties", {})
    return plain if is_other else name


def find_lacking(tool: Tool, outcome: Outcome) -> list[str]:
    """Return the arguments of guards that a call lacks, [] where it was refused for more."""
    problems = outcome.failure.problems if outcome.failure is not None else ()
    pointers = {tool.arguments.find_control_pointer(each.name): each.name for each in tool.controls}
    if any(each.code != "required" or each.pointer not in pointers for each in problems):
        return []
    return [pointers[each.pointer] for each in problems]


def _make_limit_error(message: str) -> Ended:
    advice = "Ask for less: filter, or let a tool count. Or call the tools themselves."
    return Ended(400, Failure(FAILED, Category.VALIDATION, message, advice))


def _shorten_shown(value: Any) -> Any:
    """Return a value with short texts, and few items of lists."""
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        return f"{value[:MAX_SHOWN]}…"
    if isinstance(value, Mapping):
        return {name: _shorten_shown(member) for name, member in value.items()}
    if isinstance(value, list):
        return [*map(_shorten_shown, value[:3]), *([f"… ({len(value)})"] if len(value) > 3 else [])]
    return value


def _name_call(name: str, arguments: Any) -> str:
    members = arguments.items() if isinstance(arguments, Mapping) else ()
    text = ", ".join(f"{each}={_shorten_shown(value)!r}" for each, value in members)
    return f"{name}({text[:MAX_CALL]}{'…' if len(text) > MAX_CALL else ''})"
