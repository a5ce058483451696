"""The calls of one program: each is an ordinary call of the program's caller."""

from __future__ import annotations

import builtins
import fnmatch
import keyword
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.compose import PROGRAM
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.sandbox import MAX_DEPTH, MEGABYTE, RaisedInProgram
from drf_mcp.contrib.compose.tool import get_functions, get_mode
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.dispatch.error_texts import UNWRITABLE
from drf_mcp.dispatch.failures import close_broken_connections
from drf_mcp.dispatch.guards import find_narrowing_refusal
from drf_mcp.dispatch.response import PAGE_SIZE_LIMITED
from drf_mcp.dispatch.stored_answers import StoredAnswer
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import ProtocolError
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import INPUT_REQUESTS, Exchange, Slot
from drf_mcp.interaction.exchange import Answer as Reply
from drf_mcp.json_text import hash_json, is_nested_deeper
from drf_mcp.option_types.spelling import ask_nearest
from drf_mcp.outcomes import PAGE_MEMBERS, Category, Failure, Outcome, Warning
from drf_mcp.tools.summaries import Signature
from drf_mcp.tools.tool import Tool

FAILED = "PROGRAM_FAILED"
SIGNATURES, KEPT = OWN_FUNCTIONS = ("signatures", "kept")
# Under these names a program does not reach a function of its tools.
RESERVED = frozenset({*keyword.kwlist, *dir(builtins), *OWN_FUNCTIONS})
# How many texts these two functions take, and the characters of a text.
MOST_TEXTS, MAX_NAME = 20, 128
# How many problems the text of an error has.
MOST_PROBLEMS = 3
SEND_ANEW = gettext_noop("Send a program anew, without what this one has done already.")
# The attributes of paginators that name a parameter of theirs.
PAGING = tuple(f"{each}_query_param" for each in ("page", "page_size", "limit", "offset", "cursor"))


@dataclass
class Reopened:
    """The call at which a program stopped.

    Attributes:
        arguments: the hash of what the program sent.
        replies: the answers to the questions of the call, by their keys, as clients send them.
        memory: what its questions remember, by their keys.
        further: arguments that the call lacked.
    """

    tool: str
    arguments: str
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
        tool: the name of the tool.
        arguments: the hash of what the program sent.
        source: the tool that answered: the tool itself, or the one whose call it made.
        following: the arguments of the next page of rows.
        terms: what has to hold for the answer to be given again, once it was kept.
        call: what the terms are made of.
        changed: the arguments of a call that changed something, without secrets.
        noted: the meta of the answer to a call that writes, such as how it is taken back, with
            the call that it belongs to.
    """

    tool: str
    arguments: str
    source: str
    value: Any = None
    error: str = ""
    following: Mapping[str, Any] | None = None
    terms: Mapping[str, Any] | None = None
    call: Mapping[str, Any] = field(default_factory=dict)
    changed: Any = None
    noted: Mapping[str, Any] | None = None


class ProgramCalls:
    """Makes the calls of one program, and counts them."""

    def __init__(self, call: CallState, limits: Mapping[str, int]) -> None:
        assert call.context is not None
        self.call = call
        self.context = call.context
        self.limits = limits
        # Of a program that is resumed: the answers before it stopped, and the call that stopped it.
        self.earlier: Sequence[CallAnswer] = ()
        self.reopened: Reopened | None = None
        self.keeper = Keeper(call.caller)
        self.tools = get_functions(call.server, self.context)
        # By the names of the tools.
        self.function_names = name_functions(self.tools)
        self.functions = {self.function_names[name]: tool for name, tool in self.tools.items()}
        self.writes = get_mode(call.server.view_attributes) == "writes"
        self.visibility = Visibility(call.caller)
        self.ends = time.monotonic() + limits["seconds"]
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

    @property
    def left(self) -> float:
        return max(self.ends - time.monotonic(), 0.001)

    @property
    def changes(self) -> list[dict[str, Any]]:
        made = (each for each in self.answers if each.changed is not None)
        return [{"tool": each.tool, "arguments": each.changed} for each in made]

    @property
    def meta(self) -> dict[str, Any]:
        # A program gets the data of its calls, without their meta.
        noted = [answer.noted for answer in self.answers if answer.noted is not None]
        return {"calls": noted} if noted else {}

    def answer(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return the value of a call of a function in the program.

        Raises:
            RaisedInProgram: for an exception that the program may catch.
            Ended: if the program may not go on.
            ProgramStopped: if the call waits for something.
        """
        self.check_time()
        if name in OWN_FUNCTIONS:
            # Longer patterns take the time of the process, which no limit of the program counts.
            fits = all(isinstance(each, str) and len(each) <= MAX_NAME for each in args)
            if kwargs or not fits or len(args) > MOST_TEXTS:
                message = _("%(name)s takes at most %(count)d texts of %(most)d characters.")
                facts = {"name": name, "count": MOST_TEXTS, "most": MAX_NAME}
                raise RaisedInProgram(TypeError(message % facts))
            return self.get_signatures(*args) if name == SIGNATURES else self.read_kept(*args)
        tool = self.find_tool(name)
        if args:
            signature = Signature(tool).get_arguments()
            message = _("%(tool)s takes arguments by name: %(arguments)s")
            raise RaisedInProgram(TypeError(message % {"tool": name, "arguments": signature}))
        try:
            arguments = AnswerEncoder().plain(kwargs)
        except (TypeError, ValueError, RecursionError) as exc:
            raise RaisedInProgram(TypeError(str(exc))) from exc
        answer = self.call_tool(tool, arguments)
        if answer.following is None or chooses_page(tool, arguments):
            return answer.value
        # A list gives all of its rows, unless the program asks for a page.
        rows = list(answer.value)
        while answer.following is not None:
            self.check_time()
            answer = self.call_tool(tool, answer.following)
            rows += answer.value
        return rows

    def check_time(self) -> None:
        channel = self.call.channel
        if time.monotonic() >= self.ends or (channel is not None and channel.is_cancelled):
            message = _("The program took longer than %(seconds)d seconds.")
            raise make_limit_error(message % {"seconds": self.limits["seconds"]})

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
            message = _("%(tool)s changes something, and programs only read here. Call it itself.")
            failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message % {"tool": name}, "")
            refused = Outcome(name, 403, failure=failure)
        if refused is not None:
            raise RaisedInProgram(RuntimeError(self.describe(refused)))
        nearest = [
            self.function_names[each] for each in self.visibility.find_nearest(name, self.functions)
        ]
        message = _("There is no function or tool %(name)s.") % {"name": name[:MAX_NAME]}
        raise RaisedInProgram(NameError(f"{message} {ask_nearest(nearest)}".strip()))

    # --- One call ------------------------------------------------------------------------------

    def call_tool(self, tool: Tool, arguments: Mapping[str, Any]) -> CallAnswer:
        """Return the answer to a call: of a program that is resumed, first the answers it had."""
        number = len(self.answers)
        if number >= self.limits["calls"]:
            message = _("The program made %(most)d calls, which is the most that it may make.")
            raise make_limit_error(message % {"most": number})
        answer = CallAnswer(tool.name, hash_json(arguments), tool.name)
        if number < len(self.earlier):
            earlier = self.earlier[number]
            check_same_call(answer, earlier)
            answer = earlier
            try:
                self.keeper.check_terms(self.tools[earlier.source], earlier.terms or {})
            except Gone:
                message = _("An answer from before the stop cannot be given again: rights changed.")
                failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message, _(SEND_ANEW))
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
        sent, reopened = arguments, Reopened(answer.tool, answer.arguments)
        slots: dict[Slot[Any], Any] = {PROGRAM: self}
        if self.reopened is not None:
            # This is the first call after the answers that were kept.
            reopened, self.reopened = self.reopened, None
            check_same_call(answer, reopened)
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
        finally:
            close_broken_connections()
        if outcome.questions or find_lacking(tool, outcome):
            raise ProgramStopped(tool, arguments, outcome, reopened)
        answer.call = outcome.call
        if outcome.tool in self.tools:
            answer.source = outcome.tool
        if outcome.failure is not None:
            answer.error = self.describe(outcome)
            return
        self.read(outcome, answer)
        if tool.reads:
            return
        shown = tool.sanitize_arguments(arguments)
        # An answer that comes again is that of an earlier change.
        if not outcome.is_trial and not outcome.meta.get("replayed"):
            answer.changed = shown
        noted, encoder = {**outcome.meta, "tool": tool.name, "arguments": shown}, AnswerEncoder()
        if outcome.meta and encoder.can_encode(noted):
            answer.noted = encoder.plain(noted)

    def describe(self, outcome: Outcome) -> str:
        failure = outcome.failure
        assert failure is not None
        problems = [f"{each.pointer}: {each.message}" for each in failure.problems if each.pointer]
        text = f"{failure.code} {' '.join(problems[:MOST_PROBLEMS]) or failure.message}"
        self.failures[text] = outcome
        return text

    def read(self, outcome: Outcome, answer: CallAnswer) -> None:
        for warning in outcome.warnings:
            self.warnings.setdefault((warning.code, warning.message), warning)
        data, page = outcome.data, outcome.pagination
        if outcome.is_page and isinstance(data, Mapping) and "results" in data:
            rest = {name: value for name, value in data.items() if name not in PAGE_MEMBERS}
            following = page.next if page is not None else None
            if page is not None and page.has_more and following is None:
                self.warn_of_missing_pages(outcome.tool)
            if rest.keys() == {"results"}:
                data, answer.following = rest["results"], following
            else:
                data = rest if following is None else {**rest, "next": following}
        encoder = AnswerEncoder()
        try:
            text = encoder.encode(data)
        except (TypeError, ValueError, RecursionError) as exc:
            failure = Failure("INTERNAL_ERROR", Category.INTERNAL, str(exc), UNWRITABLE.remediation)
            answer.error = self.describe(Outcome(outcome.tool, 500, failure=failure))
            return
        self.size += len(text)
        if self.size > self.limits["memory"] * MEGABYTE or is_nested_deeper(text, MAX_DEPTH):
            answer.error = _("CONTENT_TRUNCATED The answers are too long for a program.")
            return
        answer.value = encoder.plain(data)

    def warn_of_missing_pages(self, name: str) -> None:
        # Nothing describes the parameters of such a paginator.
        text = _("%(tool)s gave the rows of one page: it takes no argument for the next one.")
        warning = Warning(PAGE_SIZE_LIMITED, text % {"tool": name})
        self.warnings.setdefault((warning.code, warning.message), warning)

    # --- Functions that call no tool -----------------------------------------------------------

    def get_signatures(self, *patterns: str) -> str:
        """Return the signatures of the tools that one of the patterns names, a line each."""
        matching = (
            tool
            for name, tool in self.functions.items()
            if (tool.reads or self.writes)
            and (not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns))
        )
        visible = self.visibility.of(list(matching))
        return "\n".join(Signature(tool).write(self.function_names[tool.name]) for tool in visible)

    def read_kept(self, *ids: str) -> Any:
        """Return the result that was too long, of an earlier program of the caller."""
        try:
            state = self.keeper.read("".join(ids))
            if "result" not in state or not self.tools.keys() >= {n for n, _t in state["terms"]}:
                raise Gone
            for name, terms in state["terms"]:
                self.keeper.check_terms(self.tools[name], terms)
                self.is_untrusted |= bool(self.tools[name].hints.untrusted)
        except Gone:
            text = _("NOT_FOUND There is no such result, or no more.")
            raise RaisedInProgram(RuntimeError(text)) from None
        self.borrowed += state["terms"]
        return state["result"]

    def note_terms(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Return what has to hold of each call for its answer to be given again, and keep it."""
        for answer in self.answers:
            if answer.terms is None:
                made = StoredAnswer(self.call.caller, self.tools[answer.source], **answer.call)
                answer.terms = made.note_terms()
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


def chooses_page(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments choose a page of a list."""
    endpoint = tool.endpoint
    own = getattr(endpoint.view_class, "pagination_class", None)
    paginator = endpoint.route.initkwargs.get("pagination_class", own)
    paging = {getattr(paginator, name, None) for name in PAGING}
    sent = tool.arguments.get_values(arguments)
    return not paging.isdisjoint(argument.parameter.name for argument, _value in sent)


def find_lacking(tool: Tool, outcome: Outcome) -> list[str]:
    """Return the arguments of guards that a call lacks, [] where it was refused for more."""
    problems = outcome.failure.problems if outcome.failure is not None else ()
    pointers = {tool.arguments.get_control_pointer(each.name): each.name for each in tool.controls}
    if any(each.code != "required" or each.pointer not in pointers for each in problems):
        return []
    return [pointers[each.pointer] for each in problems]


def check_same_call(asked: CallAnswer, earlier: CallAnswer | Reopened) -> None:
    if (asked.tool, asked.arguments) != (earlier.tool, earlier.arguments):
        message = _("The program called %(tool)s otherwise than before it stopped.")
        message %= {"tool": asked.tool}
        raise Ended(409, Failure("CONFLICT", Category.CONFLICT, message, _(SEND_ANEW)))


def make_limit_error(message: str) -> Ended:
    advice = _("Ask for less: filter, or let a tool count. Or call the tools themselves.")
    return Ended(400, Failure(FAILED, Category.VALIDATION, message, advice))
