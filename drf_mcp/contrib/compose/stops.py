"""A program that stopped: what is asked, what is kept, and how the program goes on."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.compose import COMPOSE
from drf_mcp.contrib.compose.calls import CallAnswer, ProgramCalls, ProgramStopped, Reopened
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.tool import Sent
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import ANSWER_SECONDS, get_exchange
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Failure, Outcome, Problem, Question
from drf_mcp.tools.arguments.errors import ArgumentsRefused

# What an agent can answer in the place of the client's user.
ANSWERABLE = frozenset({"form", "url"})


@dataclass(frozen=True)
class Stop:
    """A program that waits at one of its calls, as it is kept.

    Attributes:
        program: its text.
        now: the time that it began, as ISO 8601.
        answers: the answers of the calls before.
        reopened: the call.
        questions: what the call asks: the key, the kind and the fields of each question.
        names: the arguments that the call lacks.
        suffix: the end of the keys under which the client's user is asked.
    """

    program: str
    now: str
    answers: Sequence[CallAnswer]
    reopened: Reopened
    questions: Sequence[Mapping[str, Any]]
    names: Sequence[str]
    suffix: str

    @classmethod
    def of(cls, stopped: ProgramStopped, calls: ProgramCalls, program: str, now: datetime) -> Stop:
        """Return what is kept of a program that stopped."""
        outcome, reopened = stopped.outcome, stopped.reopened
        asked = {question.key: question for question in outcome.questions}
        reopened.memory.update({key: question.memory for key, question in asked.items()})
        # What is asked again was answered wrongly.
        for key in asked:
            reopened.replies.pop(key, None)
        problems = outcome.failure.problems if outcome.failure and not asked else ()
        pointers = {problem.pointer for problem in problems}
        arguments = stopped.tool.arguments
        lacking = [
            each.name
            for each in stopped.tool.controls
            if arguments.get_control_pointer(each.name) in pointers
        ]
        # Read for its effect: it notes the terms of each answer.
        dict.fromkeys(name for name, _terms in calls.find_terms())
        questions = [
            {"key": q.key, "mode": q.mode, "fields": list((q.schema or {}).get("properties", ()))}
            for q in asked.values()
        ]
        suffix = f"-{secrets.token_hex(4)}"
        return cls(program, now.isoformat(), calls.answers, reopened, questions, lacking, suffix)

    @classmethod
    def find(cls, call: CallState, sent: Sent, keeper: Keeper) -> tuple[str, Stop | None]:
        """Return the id and the stop at which a call goes on; "" and None for a new program.

        Raises:
            Gone: if there is no such stop.
            ArgumentsRefused: if the call sends other answers than were asked for.
        """
        exchange = get_exchange(call)
        carried = [each for each in exchange.memory.values() if isinstance(each, list)]
        name = max(carried)[1] if carried else sent.resume
        if not name:
            return "", None
        state = keeper.read(name)
        if "program" not in state:
            raise Gone
        answers = [CallAnswer(**each) for each in state["answers"]]
        state |= {"answers": answers, "reopened": Reopened(**state["reopened"])}
        stop = cls(**{each: state[each] for each in cls.__dataclass_fields__})
        if sent.program and sent.program != stop.program:
            message = _("This is another program than the one that stopped.")
            advice = _("Leave the program out, or send the same one.")
            problem = Problem("differs", message, "/program", remediation=advice)
            raise ArgumentsRefused([problem])
        if carried:
            for question in stop.questions:
                if reply := exchange.answers.get(f"{question['key']}{stop.suffix}"):
                    stop.reopened.replies[question["key"]] = dict(reply.result)
        else:
            stop.take(sent.answers)
        return name, stop

    @property
    def fields(self) -> list[str]:
        """The names of what is asked for."""
        return [*self.names, *(name for each in self.questions for name in each["fields"])]

    def take(self, answers: Mapping[str, Any]) -> None:
        """Answer the call with what an agent sends."""
        message = _("The call did not ask for it.")
        advice = _("Send what was asked for: %(names)s.") % {"names": ", ".join(self.fields)}
        advice = advice if self.fields else _("Leave the answers out: nothing was asked for.")
        pointers = [JSONPointer.from_path(["answers", n]) for n in answers if n not in self.fields]
        if pointers:
            problem = partial(Problem, "unknown_argument", message, remediation=advice)
            raise ArgumentsRefused([problem(pointer) for pointer in pointers])
        self.reopened.further.update({n: answers[n] for n in self.names if n in answers})
        for each in self.questions:
            if each["mode"] in ANSWERABLE:
                content = {name: answers[name] for name in each["fields"] if name in answers}
                self.reopened.replies[each["key"]] = {"action": "accept", "content": content}

    def get_outcome(self, call: CallState, stopped: ProgramStopped, calls: ProgramCalls) -> Outcome:
        """Return the outcome that asks: questions for a client's user, and how an agent goes on."""
        inner, tool = stopped.outcome, stopped.tool
        assert inner.failure is not None
        shown = inner.data if isinstance(inner.data, Mapping) else {}
        data: dict[str, Any] = {
            "tool": tool.name,
            "arguments": tool.sanitize_arguments(stopped.arguments),
            **({"preview": shown["preview"]} if "preview" in shown else {}),
            **({"changed": calls.changes} if calls.changes else {}),
        }
        questions: tuple[Question, ...] = ()
        if name := calls.keeper.keep(asdict(self)):
            data |= {"resume": name, **({"answers": self.fields} if self.fields else {})}
            data["expires_in_seconds"] = ANSWER_SECONDS
            advice = _(
                "Compare it with what the user asked for. If it is that, call %(tool)s with this id"
                " in 'resume', without the program, and in 'answers' what is asked for. Calls that"
                " were made are not made again."
            ) % {"tool": COMPOSE}
            memory = [get_exchange(call).round + 1, name]
            questions = tuple(
                replace(each, key=f"{each.key}{self.suffix}", memory=memory)
                for each in inner.questions
            )
        else:
            advice = _("Call %(tool)s itself: nothing can be kept of this program.")
            advice %= {"tool": tool.name}
        code, category = inner.failure.code, inner.failure.category
        message = _("The program stopped at %(tool)s. %(reason)s")
        if calls.changes:
            message = _("The program stopped at %(tool)s, after changes that stay. %(reason)s")
        message %= {"tool": tool.name, "reason": inner.failure.message}
        failure = Failure(code, category, message, advice, soft=True)
        body = {"detail": f"{message} {advice}", "data": data}
        return Outcome(COMPOSE, 200, data=data, body=body, failure=failure, questions=questions)
