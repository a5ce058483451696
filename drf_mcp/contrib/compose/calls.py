"""The calls of one program: each is an ordinary call of the program's caller."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.compose import PROGRAM
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.sandbox import MAX_DEPTH, CallFailed, UnknownFunction, WrongArguments
from drf_mcp.contrib.compose.tool import get_functions, get_mode
from drf_mcp.dispatch.crashes import close_broken_connections
from drf_mcp.dispatch.encoding import AnswerEncoder
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import ProtocolError
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import ROUNDS, Exchange
from drf_mcp.interaction.exchange import Answer as Reply
from drf_mcp.interaction.slots import Slot
from drf_mcp.json_text import hash_json, is_nested_deeper
from drf_mcp.option_types.spelling import ask_nearest
from drf_mcp.outcomes import PAGE_MEMBERS, Category, Failure, Outcome, Warning
from drf_mcp.tools.signatures import Signature
from drf_mcp.tools.tool import Tool

SIGNATURES, KEPT = "signatures", "kept"
# Those of an error that a program gets in words.
MOST_PROBLEMS = 3
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


class ProgramStopped(Exception):
    """A call of the program waits for something: a confirmation, an answer, a key.

    Args:
        tool: the tool that is called.
        arguments: what the program sent.
        outcome: what the call was answered with.
        reopened: the call, with the answers that it had already.
    """

    def __init__(
        self, tool: Tool, arguments: Mapping[str, Any], outcome: Outcome, reopened: Reopened
    ) -> None:
        super().__init__(tool.name)
        self.tool = tool
        self.arguments = arguments
        self.outcome = outcome
        self.reopened = reopened


class LimitReached(Exception):
    """A program made too many calls, or took too long for another one."""


class Diverged(Exception):
    """A program that goes on makes another call than it made before."""


@dataclass
class CallAnswer:
    """What one call of a program gave, as JSON: a value, or the text of an error.

    Attributes:
        tool: the name of the tool.
        arguments: the hash of what the program sent.
        following: the arguments of the next page of rows.
        terms: what has to hold for the answer to be given again, once it was kept.
        call: what the terms are made of.
        changed: the arguments of a call that changed something, without secrets.
    """

    tool: str
    arguments: str
    value: Any = None
    error: str = ""
    following: Mapping[str, Any] | None = None
    terms: Mapping[str, Any] | None = None
    call: Mapping[str, Any] = field(default_factory=dict)
    changed: Any = None


class ProgramCalls:
    """Makes the calls of one program, and counts them.

    Args:
        call: the call of the tool that runs the program.
        limits: those of COMPOSE_LIMITS.
        earlier: the answers that the program had before it stopped.
        reopened: the call at which it stopped.
    """

    def __init__(
        self,
        call: CallState,
        limits: Mapping[str, int],
        earlier: Sequence[CallAnswer] = (),
        reopened: Reopened | None = None,
    ) -> None:
        assert call.context is not None
        self.call = call
        self.context = call.context
        self.limits = limits
        self.earlier = earlier
        self.reopened = reopened
        self.keeper = Keeper(call.caller)
        self.tools = get_functions(call.server, self.context)
        self.writes = get_mode(call.server.view_attributes) == "writes"
        self.ends = time.monotonic() + limits["seconds"]
        self.answers: list[CallAnswer] = []
        # The terms of results that other programs left, which this one read.
        self.borrowed: list[tuple[str, Mapping[str, Any]]] = []
        self.warnings: dict[tuple[str, str], Warning] = {}
        # The texts of the errors that the program got, each with what was wrong.
        self.failures: dict[str, Outcome] = {}

    @property
    def names(self) -> frozenset[str]:
        return frozenset({*self.tools, SIGNATURES, KEPT})

    @property
    def left(self) -> float:
        """Seconds in which the program may go on."""
        return max(self.ends - time.monotonic(), 0.001)

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The calls that changed something."""
        made = (each for each in self.answers if each.changed is not None)
        return [{"tool": each.tool, "arguments": each.changed} for each in made]

    def answer(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what a function of the program gives.

        Raises:
            CallFailed, UnknownFunction, WrongArguments: which the program can catch.
            ProgramStopped, LimitReached, Diverged, Gone: which end it.
        """
        if name == SIGNATURES:
            return self.get_signatures(*map(str, args))
        if name == KEPT:
            return self.read_kept(*map(str, args))
        tool = self.find_tool(name)
        if args:
            signature = Signature(tool).get_arguments()
            message = _("%(tool)s takes arguments by name: %(arguments)s")
            raise WrongArguments(message % {"tool": name, "arguments": signature})
        try:
            arguments = AnswerEncoder().plain(kwargs)
        except (TypeError, ValueError, RecursionError) as exc:
            raise WrongArguments(str(exc)) from exc
        return self.collect(tool, arguments)

    def find_tool(self, name: str) -> Tool:
        tool = self.tools.get(name)
        visibility = Visibility(self.context.caller)
        if tool is None or (not tool.reads and not self.writes and not visibility.of([tool])):
            nearest = visibility.find_nearest(name, self.tools)
            message = _("There is no function or tool %(name)s.") % {"name": name[:128]}
            raise UnknownFunction(f"{message} {ask_nearest(nearest)}".strip())
        if not tool.reads and not self.writes:
            message = _("%(tool)s changes something, and programs only read here. Call it itself.")
            failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message % {"tool": name}, "")
            raise CallFailed(self.describe(tool, Outcome(name, 403, failure=failure)))
        return tool

    # --- Rows of several pages ---------------------------------------------------------------

    def collect(self, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        """Return the data of a call; of a list all rows, unless the program asks for one page."""
        answer = self.ask(tool, arguments)
        if answer.following is None or self.names_page(tool, arguments):
            return answer.value
        rows = list(answer.value)
        while answer.following is not None:
            answer = self.ask(tool, answer.following)
            rows += answer.value
        return rows

    def names_page(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        endpoint = tool.endpoint
        own = getattr(endpoint.view_class, "pagination_class", None)
        paginator = endpoint.route.initkwargs.get("pagination_class", own)
        paging = {getattr(paginator, name, None) for name in PAGING}
        sent = {
            argument.parameter.name for argument, _value in tool.arguments.get_values(arguments)
        }
        return not paging.isdisjoint(sent)

    # --- One call ------------------------------------------------------------------------------

    def ask(self, tool: Tool, arguments: Mapping[str, Any]) -> CallAnswer:
        number = len(self.answers)
        if number >= self.limits["calls"]:
            message = _("The program made %(most)d calls, which is the most that it may make.")
            raise LimitReached(message % {"most": number})
        if time.monotonic() >= self.ends or self.is_cancelled:
            message = _("The program took longer than %(seconds)d seconds.")
            raise LimitReached(message % {"seconds": self.limits["seconds"]})
        known = CallAnswer(tool.name, hash_json(arguments))
        if number < len(self.earlier):
            known = self.replay(tool, known, self.earlier[number])
        else:
            self.make(tool, arguments, known)
        self.answers.append(known)
        if self.call.progress is not None:
            self.call.progress.report(len(self.answers), None, tool.name)
        if known.error:
            raise CallFailed(known.error)
        return known

    @property
    def is_cancelled(self) -> bool:
        channel = self.call.channel
        return channel is not None and channel.is_cancelled

    def replay(self, tool: Tool, asked: CallAnswer, earlier: CallAnswer) -> CallAnswer:
        if (asked.tool, asked.arguments) != (earlier.tool, earlier.arguments):
            raise Diverged(tool.name)
        self.keeper.check_terms(tool, earlier.terms or {})
        return earlier

    def make(self, tool: Tool, arguments: Mapping[str, Any], known: CallAnswer) -> None:
        sent, reopened = arguments, Reopened(known.tool, known.arguments)
        slots: dict[Slot[Any], Any] = {PROGRAM: self}
        if self.reopened is not None:
            # It is the first call after the answers that were kept.
            reopened, self.reopened = self.reopened, None
            if (known.tool, known.arguments) != (reopened.tool, reopened.arguments):
                raise Diverged(tool.name)
            for name, value in reopened.further.items():
                sent = tool.arguments.replace_control(sent, name, value)
            replies = {key: Reply(reply) for key, reply in reopened.replies.items()}
            exchange = Exchange((), replies, reopened.memory, 1)
            slots[ROUNDS] = SimpleNamespace(exchange=exchange)
        try:
            outcome = self.call.server.call_within(self.context, tool.name, sent, slots)
        except ProtocolError as exc:
            failure = Failure("INVALID_REQUEST", Category.VALIDATION, exc.message, "")
            outcome = Outcome(tool.name, exc.http_status, failure=failure)
        finally:
            close_broken_connections()
        if outcome.questions or self.lacks_control(tool, outcome):
            raise ProgramStopped(tool, arguments, outcome, reopened)
        known.call = outcome.call
        if outcome.failure is not None:
            known.error = self.describe(tool, outcome)
            return
        self.read(tool, outcome, known)
        if not tool.reads and not outcome.is_trial:
            known.changed = tool.sanitize_arguments(arguments)

    def lacks_control(self, tool: Tool, outcome: Outcome) -> bool:
        """Return whether the call was refused for nothing but arguments that guards read."""
        problems = outcome.failure.problems if outcome.failure is not None else ()
        pointers = {tool.arguments.get_control_pointer(each.name) for each in tool.controls}
        return bool(problems) and all(
            problem.code == "required" and problem.pointer in pointers for problem in problems
        )

    def describe(self, tool: Tool, outcome: Outcome) -> str:
        """Return the text of a failure: its code, where it is, and what is wrong."""
        failure = outcome.failure
        assert failure is not None
        problems = [f"{each.pointer}: {each.message}" for each in failure.problems if each.pointer]
        text = f"{failure.code} {' '.join(problems[:MOST_PROBLEMS]) or failure.message}"
        self.failures[text] = outcome
        return text

    def read(self, tool: Tool, outcome: Outcome, known: CallAnswer) -> None:
        """Note the data of an outcome, and what its caller should know of it."""
        for warning in outcome.warnings:
            self.warnings.setdefault((warning.code, warning.message), warning)
        data, page = outcome.data, outcome.pagination
        if outcome.is_page and isinstance(data, Mapping) and "results" in data:
            rest = {name: value for name, value in data.items() if name not in PAGE_MEMBERS}
            following = page.next if page is not None else None
            if rest.keys() == {"results"}:
                data, known.following = rest["results"], following
            else:
                data = rest if following is None else {**rest, "next": following}
        try:
            text = AnswerEncoder().encode(data)
        except (TypeError, ValueError, RecursionError) as exc:
            known.error = f"INTERNAL_ERROR {exc}"
            return
        # Of a character three bytes at most are ASCII's.
        if len(text) > self.limits["memory"] * 1_000_000 or is_nested_deeper(text, MAX_DEPTH):
            known.error = _("CONTENT_TRUNCATED The answer is too long for a program.")
            return
        known.value = AnswerEncoder().plain(data)

    # --- Functions that call no tool -----------------------------------------------------------

    def get_signatures(self, *patterns: str) -> str:
        """Return the signatures of the tools that one of the patterns names, a line each."""
        matching = (
            tool
            for name, tool in self.tools.items()
            if (tool.reads or self.writes)
            and (not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns))
        )
        visible = Visibility(self.context.caller).of(list(matching))
        return "\n".join(Signature(tool).write() for tool in visible)

    def read_kept(self, *ids: str) -> Any:
        """Return the result that was too long, of an earlier program of the caller."""
        try:
            state = self.keeper.read("".join(ids))
            if "result" not in state:
                raise Gone
            for name, terms in state["terms"]:
                if (tool := self.tools.get(name)) is None:
                    raise Gone
                self.keeper.check_terms(tool, terms)
        except Gone:
            raise CallFailed(_("NOT_FOUND There is no such result, or no more.")) from None
        self.borrowed += state["terms"]
        return state["result"]

    def find_terms(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield what has to hold of each call for its answers to be given again."""
        yield from self.borrowed
        for answer in self.answers:
            if answer.terms is None:
                answer.terms = self.keeper.note_terms(self.tools[answer.tool], answer.call)
            yield answer.tool, answer.terms
