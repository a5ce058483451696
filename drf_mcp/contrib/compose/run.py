"""One run of a program, from what the caller sent to the outcome; where it stops, and goes on."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException

from drf_mcp.contrib.compose import COMPOSE, LIMITS, PROGRAM
from drf_mcp.contrib.compose.calls import (
    FAILED,
    OWN_FUNCTIONS,
    CallAnswer,
    Ended,
    ProgramCalls,
    ProgramStopped,
    Reopened,
    find_lacking,
)
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.sandbox import Printed, ProgramFailed, open_session, run_program
from drf_mcp.contrib.compose.tool import Sent
from drf_mcp.dispatch.guards import CallRefused, TimeLimitGuard
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.exchange import ANSWER_SECONDS, get_exchange
from drf_mcp.json_text import JSONPointer, encode_plain
from drf_mcp.outcomes import Category, Failure, Outcome, Problem, Question
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.errors import ArgumentsRefused

# What an agent can answer in the place of the client's user.
ANSWERABLE = frozenset({"form", "url"})


class ProgramGuard(Guard):
    """Runs the program of a call in the place of a view, outside transactions."""

    # Inside the guards that record a call, outside those of a single change.
    order = 450

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        call.caller.authenticate()
        return ProgramRun(call, call.tool.read(call.bound.arguments)).get_outcome()


class ProgramTimeGuard(TimeLimitGuard):
    """Stops a call when the time of its program is over."""

    # Inside the time limit of the tool itself.
    order = 401

    def __init__(self, program: ProgramCalls) -> None:
        self.program = program

    def find_seconds(self, call: CallState) -> float:
        return self.program.left


class ProgramRun:
    """Runs the program that a call sends, or goes on with one that stopped."""

    def __init__(self, call: CallState, sent: Sent) -> None:
        self.call = call
        self.sent = sent
        self.limits = {**LIMITS, **mcp_settings.COMPOSE_LIMITS}
        self.calls = ProgramCalls(call, self.limits)
        self.printed = Printed(self.limits["output"])
        # `ComposeFeature.finish_result` reads it.
        PROGRAM.set(call, self.calls)

    def get_outcome(self) -> Outcome:
        program, now, calls = self.sent.program, timezone.now(), self.calls
        try:
            name, stop = Stop.find(self.call, self.sent, calls.keeper)
            if stop is not None:
                program, now = stop.program, datetime.fromisoformat(stop.now)
                calls.earlier, calls.reopened = stop.answers, stop.reopened
            with open_session(self.limits, now) as session:
                if stop is not None:
                    calls.keeper.claim(name)
                names = {*calls.functions, *OWN_FUNCTIONS}
                value = run_program(session, program, names, calls.answer, self.printed)
            outcome = self.finish(value)
        except ProgramFailed as exc:
            outcome = self.explain(exc)
        except Ended as exc:
            outcome = self.fail(exc.status, exc.failure)
        except ProgramStopped as exc:
            outcome = Stop.of(exc, calls, program, now).get_outcome(self.call, exc, calls)
        except Gone:
            message = _(
                "No program of yours waits under this id: it has expired, or has gone on before."
            )
            advice = _("Send the program anew, without what it has done already.")
            pointer = self.call.tool.get_pointer("resume")
            problem = Problem("not_found", message, pointer, remediation=advice)
            failure = Failure("NOT_FOUND", Category.NOT_FOUND, message, advice, (problem,))
            outcome = self.fail(404, failure)
        except APIException as exc:
            raise CallRefused(exc) from exc
        warnings = (*outcome.warnings, *calls.warnings.values())
        return outcome.changed(warnings=warnings, meta={**outcome.meta, **calls.meta})

    # --- What came of it -----------------------------------------------------------------------

    def finish(self, value: Any) -> Outcome:
        data = {"result": value, **self.find_printed()}
        outcome = Outcome(self.call.tool.name, 200, data=data)
        if value is None and not self.printed.text:
            advice = _("Nothing came back: end the program with the expression that you want.")
            return outcome.changed(suggestions=(advice,))
        context = self.call.context
        budget = self.call.server.tools_capability.get_budget(self.call.tool, context)
        if not budget.is_exceeded(outcome, encode_plain(data)):
            return outcome
        name = self.calls.keeper.keep({"result": value, "terms": self.calls.note_terms()})
        if not name:
            return outcome
        text = _("The whole result is kept for %(minutes)d minutes: programs read it by %(call)s.")
        text %= {"minutes": ANSWER_SECONDS // 60, "call": f"kept({name!r})"}
        return outcome.changed(data={"kept": name, **data}, suggestions=(text,))

    def find_printed(self) -> dict[str, Any]:
        text = self.printed.text
        return {"output": text + ("…" if self.printed.is_cut else "")} if text else {}

    def explain(self, exc: ProgramFailed) -> Outcome:
        line = _("Line %(line)d: ") % {"line": exc.line} if exc.line else ""
        cause = self.calls.failures.get(exc.message)
        if cause is not None and cause.failure is not None:
            failure, message = cause.failure, f"{line}{cause.tool}: {exc.message}"
            # The remediation of a soft failure speaks of members of the data.
            data = cause.data if failure.soft and isinstance(cause.data, Mapping) else {}
            failure = Failure(
                failure.code,
                failure.category,
                message,
                failure.remediation,
                context={**failure.context, **data, "line": exc.line},
            )
            return self.fail(cause.status, failure).changed(scopes=cause.scopes)
        kind = f"{exc.kind}: " if exc.kind else ""
        advice = _("Correct the program, and send it again.")
        message, pointer = f"{line}{kind}{exc.message}", self.call.tool.get_pointer("program")
        problem = Problem("program", message, pointer, remediation=advice)
        failure = Failure(FAILED, Category.VALIDATION, problem.message, advice, (problem,))
        return self.fail(400, failure)

    def fail(self, status: int, failure: Failure) -> Outcome:
        context, message = {**failure.context, **self.find_printed()}, failure.message
        if changes := self.calls.changes:
            context["changed"] = changes
            end = "" if message.endswith((".", "?", "!")) else "."
            message = f"{message}{end} {describe_changes(changes)}"
        failure = replace(failure, message=message, context=context)
        return Outcome(self.call.tool.name, status, failure=failure)


def describe_changes(changes: Iterable[Mapping[str, Any]]) -> str:
    """Return the sentence that counts the changes of a program, "" for none."""
    counts = Counter(each["tool"] for each in changes)
    calls = ", ".join(f"{tool} ({count})" for tool, count in counts.items())
    return _("What was changed before stays: %(calls)s.") % {"calls": calls} if calls else ""


# --- Stops ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """A program that waits at one of its calls, as `Keeper` keeps it.

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
        outcome, reopened, questions = stopped.outcome, stopped.reopened, []
        for each in outcome.questions:
            reopened.memory[each.key] = each.memory
            # The answer to a question that is asked again was wrong.
            reopened.replies.pop(each.key, None)
            fields = list((each.schema or {}).get("properties", ()))
            questions.append({"key": each.key, "mode": each.mode, "fields": fields})
        lacking = [] if questions else find_lacking(stopped.tool, outcome)
        calls.note_terms()
        suffix = f"-{secrets.token_hex(4)}"
        return cls(program, now.isoformat(), calls.answers, reopened, questions, lacking, suffix)

    @classmethod
    def find(cls, call: CallState, sent: Sent, keeper: Keeper) -> tuple[str, Stop | None]:
        """Return the id and the stop at which a call goes on; "" and None for a new program."""
        exchange = get_exchange(call)
        # A client whose user is asked sends what the questions remember: the number of the round,
        # and the id. The program goes on where the last round stopped it.
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
            pointer = call.tool.get_pointer("program")
            problem = Problem("differs", message, pointer, remediation=advice)
            raise ArgumentsRefused([problem])
        if carried:
            for question in stop.questions:
                if reply := exchange.answers.get(f"{question['key']}{stop.suffix}"):
                    stop.reopened.replies[question["key"]] = dict(reply.result)
        else:
            stop.take(sent.answers, call.tool.get_pointer("answers"))
        return name, stop

    @property
    def fields(self) -> list[str]:
        return [*self.names, *(name for each in self.questions for name in each["fields"])]

    def take(self, answers: Mapping[str, Any], pointer: str) -> None:
        message = _("The call did not ask for it.")
        advice = _("Send what was asked for: %(names)s.") % {"names": ", ".join(self.fields)}
        advice = advice if self.fields else _("Leave the answers out: nothing was asked for.")
        if strange := [name for name in answers if name not in self.fields]:
            pointers = [pointer + JSONPointer.from_path([name]) for name in strange]
            code = "unknown_argument"
            problems = [Problem(code, message, each, remediation=advice) for each in pointers]
            raise ArgumentsRefused(problems)
        self.reopened.further.update({n: answers[n] for n in self.names if n in answers})
        for each in self.questions:
            if each["mode"] in ANSWERABLE:
                content = {name: answers[name] for name in each["fields"] if name in answers}
                self.reopened.replies[each["key"]] = {"action": "accept", "content": content}

    def get_outcome(self, call: CallState, stopped: ProgramStopped, calls: ProgramCalls) -> Outcome:
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
        stopped_at = _("The program stopped at %(tool)s.") % {"tool": tool.name}
        texts = (stopped_at, describe_changes(calls.changes), inner.failure.message)
        message = " ".join(filter(None, texts))
        failure = Failure(code, category, message, advice, soft=True)
        body = {"detail": f"{message} {advice}", "data": data}
        return Outcome(COMPOSE, 200, data=data, body=body, failure=failure, questions=questions)
