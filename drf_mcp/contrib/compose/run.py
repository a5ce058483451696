"""One run of a program, from what the caller sent to the outcome; where it stops, and goes on."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework.exceptions import APIException

from drf_mcp.budgets import describe_retrieval
from drf_mcp.contrib.compose import COMPOSE, LIMITS
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
from drf_mcp.contrib.compose.program import read_program
from drf_mcp.contrib.compose.sandbox import (
    HOST_FUNCTIONS,
    Printed,
    ProgramFailed,
    open_session,
    run_program,
)
from drf_mcp.contrib.compose.tool import Sent
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.guards import TimeLimitGuard
from drf_mcp.errors import ArgumentsRefused, CallRefused
from drf_mcp.exceptions import attempt
from drf_mcp.features import CallState, Guard, Proceed, mcp_settings
from drf_mcp.interaction.exchange import ANSWER_SECONDS, read_exchange
from drf_mcp.outcomes import MISSING, Category, Failure, JSONPointer, Outcome, Problem, Question

CORRECT = "Correct the program, and send it again."
OTHER_WAYS = "Check the arguments, or call the tools themselves."
SAME_RESUME = "Correct the program, and send it with the same 'resume'."
RESUME = (
    "What was changed stays. Go on by 'resume': call this tool with the id, and with the corrected "
    "program, or without one to go on with the same. Calls up to the last change are answered from "
    "the record, and are not made twice."
)
REST = "What was changed stays. Send a program for the rest only, without the calls in 'changed'."


class ProgramGuard(Guard):
    """Runs the program of a call instead of a view, outside transactions."""

    # Inside the guards that record a call, outside the guards of a single change.
    order = 450

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        call.caller.authenticate()
        return ProgramRun(call, call.tool.read(call.bound.arguments)).make_outcome()


class ProgramTimeGuard(TimeLimitGuard):
    """Stops a call when the time of its program is over."""

    # Inside the time limit of the tool itself.
    order = 401

    def __init__(self, program: ProgramCalls) -> None:
        self.program = program

    def find_seconds(self, call: CallState) -> float:
        return self.program.left


class ProgramRun:
    """Runs the program that a call sends, or goes on with one that has a record."""

    def __init__(self, call: CallState, sent: Sent) -> None:
        self.call = call
        self.sent = sent
        self.limits = {**LIMITS, **mcp_settings.COMPOSE_LIMITS}
        self.calls = ProgramCalls(call, self.limits)
        self.printed = Printed(self.limits["output"])
        self.program, self.now = sent.program, timezone.now()

    def make_outcome(self) -> Outcome:
        calls = self.calls
        try:
            outcome = self.finish(self.run())
        except ProgramFailed as exc:
            outcome = self.explain(exc)
        except Ended as exc:
            outcome = self.fail(exc.status, exc.failure)
        except ProgramStopped as exc:
            outcome = self.stop(exc)
        except Gone:
            message = "Nothing of yours waits under this id: it has expired, or was used before."
            advice = "Send a program for the rest only, without what was done already."
            pointer = self.call.tool.find_pointer("resume")
            problem = Problem("not_found", message, pointer, remediation=advice)
            failure = Failure("NOT_FOUND", Category.NOT_FOUND, message, advice, (problem,))
            outcome = self.fail(404, failure)
        except APIException as exc:
            raise CallRefused(exc) from exc
        warnings = (*outcome.warnings, *calls.warnings.values())
        # A program gets the data of its calls, without their meta.
        noted = [each.noted for each in calls.record if each.noted is not None]
        meta = {**outcome.meta, **({"calls": noted} if noted else {})}
        # A program may write what it read anywhere.
        hints = self.call.tool.hints
        labels = hints.label("result", "output") if calls.is_untrusted else {}
        return outcome.changed(warnings=warnings, meta=meta, result_meta=labels)

    def run(self) -> Any:
        calls = self.calls
        name, record = Record.find(self.call, self.sent, calls.keeper)
        if record is not None:
            self.program = self.sent.program or record.program
            self.now = datetime.fromisoformat(record.now)
        program = read_program(self.program, calls)
        with open_session(self.limits, self.now, self.call.caller.holder) as session:
            calls.start()
            if record is not None:
                calls.keeper.claim(name)
                calls.earlier, calls.reopened = record.answers, record.reopened
            names = {*calls.functions, *OWN_FUNCTIONS, *HOST_FUNCTIONS}
            try:
                return run_program(session, program, names, calls.answer, self.printed)
            except ProgramFailed as exc:
                exc.line = program.find_line(exc.line)
                raise

    # --- What came of it -----------------------------------------------------------------------

    def finish(self, value: Any) -> Outcome:
        value = self.call.tool.shape(value)
        changes = [compact(each) for each in self.calls.changes]
        data = {
            "result": value,
            **self._find_printed(),
            **({"changed": changes} if changes else {}),
        }
        outcome = Outcome(self.call.tool.name, 200, data=data)
        if value is None and not self.printed.text:
            return self._explain_silence(outcome)
        context = self.call.context
        budget = self.call.server.tools_capability.make_budget(self.call.tool, context)
        if not budget.is_exceeded(outcome, encode_data(data)):
            return outcome
        terms = self.calls.make_result_terms()
        name = self.calls.keeper.keep({"result": value, "terms": terms})
        if not name:
            return outcome
        text = f"The whole result is kept for {ANSWER_SECONDS // 60} minutes: programs read it by "
        return outcome.changed(data={"kept": name, **data}, suggestions=(f"{text}kept({name!r}).",))

    def _explain_silence(self, outcome: Outcome) -> Outcome:
        if not self.calls.changes:
            advice = "Nothing came back: end the program with the expression that you want."
            return outcome.changed(suggestions=(advice,))
        advice = "The calls in 'changed' were made, and the program gave no value."
        if name := self._keep_record():
            outcome = outcome.changed(data={**outcome.data, "resume": name})
            advice += (
                " For one, call this tool with the id 'resume' and the program with an expression"
                " at its end: calls up to the last change are not made twice."
            )
        return outcome.changed(suggestions=(advice,))

    def stop(self, stopped: ProgramStopped) -> Outcome:
        """Return the outcome of a program that waits at one of its calls, and is kept for that."""
        calls, inner, tool = self.calls, stopped.outcome, stopped.tool
        assert inner.failure is not None
        record = self._make_record(stopped)
        shown = inner.data if isinstance(inner.data, Mapping) else {}
        data: dict[str, Any] = {
            "tool": tool.name,
            "arguments": tool.sanitize_arguments(stopped.arguments),
            **{each: shown[each] for each in ("preview", "object", "shown") if each in shown},
            **({"changed": calls.changes} if calls.changes else {}),
        }
        questions: tuple[Question, ...] = ()
        is_personal = any(each.is_personal for each in inner.questions)
        if name := calls.keeper.keep(record.write()):
            data |= {"resume": name, **({"answers": record.fields} if record.fields else {})}
            data["expires_in_seconds"] = ANSWER_SECONDS
            advice = (
                "Compare it with what the user asked for. If it is that, call"
                f" {self.call.tool.name} with this id in 'resume', without the program, and in"
                " 'answers' what is asked for. Calls that were made are not made again."
            )
            if is_personal:
                # A client without forms cannot resume the program.
                del data["resume"]
                advice = inner.failure.remediation
            memory = [read_exchange(self.call).round + 1, name]
            questions = tuple(
                replace(each, key=f"{each.key}{record.suffix}", memory=memory)
                for each in inner.questions
            )
        else:
            advice = f"Call {tool.name} itself: nothing can be kept of this program."
            advice = f"{advice} {calls.keeper.refusal}".strip()
        stopped_at = f"The program stopped at {tool.name}."
        texts = (stopped_at, _describe_changes(calls.changes), inner.failure.message)
        message = " ".join(filter(None, texts))
        code, category = inner.failure.code, inner.failure.category
        failure = Failure(code, category, message, advice, soft=not is_personal)
        status, own = inner.status if is_personal else 200, self.call.tool.name
        asked: dict[str, Any] = {"questions": questions, "waits": inner.waits}
        return Outcome(own, status, data=data, failure=failure, **asked)

    def _make_record(self, stopped: ProgramStopped) -> Record:
        outcome, reopened, questions = stopped.outcome, stopped.reopened, []
        for each in outcome.questions:
            reopened.memory[each.key] = each.memory
            # The answer to a question that is asked again was wrong.
            reopened.replies.pop(each.key, None)
            fields = list((each.schema or {}).get("properties", ()))
            question = {"key": each.key, "mode": each.mode, "fields": fields}
            questions.append({**question, "is_personal": each.is_personal})
        lacking = [] if questions else find_lacking(stopped.tool, outcome)
        record = self._record(self.calls.answers)
        suffix = f"-{secrets.token_hex(4)}"
        return replace(record, reopened=reopened, questions=questions, names=lacking, suffix=suffix)

    def _record(self, answers: Sequence[CallAnswer]) -> Record:
        self.calls.note_terms(answers)
        return Record(self.call.tool.name, self.program, self.now.isoformat(), answers)

    def _keep_record(self) -> str:
        """Keep the answers up to the last change, and return the id; "" if they are not kept."""
        record = self._record(self.calls.cut_record_of_changes())
        return attempt(lambda: self.calls.keeper.keep(record.write()), "")

    def _find_printed(self) -> dict[str, Any]:
        text = self.printed.text
        return {"output": text + ("…" if self.printed.is_cut else "")} if text else {}

    def explain(self, exc: ProgramFailed) -> Outcome:
        line = f"Line {exc.line}: " if exc.line else ""
        cause = self.calls.failures.get(exc.message)
        if cause is not None and cause.failure is not None:
            failure, message = cause.failure, f"{line}{cause.tool}: {exc.message}"
            # The remediation of a soft failure speaks of members of the data.
            data = cause.data if failure.soft and cause.data is not None else {}
            said = {**failure.context, **(data if isinstance(data, Mapping) else {"results": data})}
            if self.calls.changes:
                # The advice of the program takes its place.
                message = f"{message} {failure.remediation}"
            context = {**said, "line": exc.line}
            plain = replace(failure, message=message, context=context, problems=(), soft=False)
            plain = replace(plain, recoverable=None, data=None, body=MISSING)
            outcome = self.fail(cause.status, plain)
            return self._keep_rest(outcome, cause, said)
        kind = f"{exc.kind}: " if exc.kind else ""
        message, pointer = f"{line}{kind}{exc.message}", self.call.tool.find_pointer("program")
        # The record still waits under the id.
        advice = SAME_RESUME if self.sent.resume else CORRECT
        advice = OTHER_WAYS if self.call.tool.name != COMPOSE else advice
        problem = Problem("program", message, pointer, remediation=advice)
        failure = Failure(FAILED, Category.VALIDATION, problem.message, advice, (problem,))
        return self.fail(400, failure)

    def _keep_rest(self, outcome: Outcome, cause: Outcome, said: Mapping[str, Any]) -> Outcome:
        """Keep and name the long context of a call's error."""
        failure, problems = outcome.failure, cause.failure.problems if cause.failure else ()
        own = self.calls.tools.get(cause.tool)
        if failure is None or own is None:
            return outcome
        if cause.status < 400 and len(problems) > 1:
            said = {**said, "problems": [each.message for each in problems]}
        text, capability = encode_data(said), self.call.server.tools_capability
        context = self.call.context
        # The error itself and its advice have the other half of the room.
        if not capability.make_budget(self.call.tool, context).is_exceeded(outcome, 2 * text):
            return outcome
        archive = capability.make_budget(own, context).get_archive()
        items = [{"id": n, "pointer": None, "value": each} for n, each in json.loads(text).items()]
        kept = None if archive is None else archive.keep(cause, items)
        if archive is None or kept is None:
            return outcome
        advice = f"{describe_retrieval(kept.archive_id, archive.seconds)} {failure.remediation}"
        return outcome.changed(failure=replace(failure, remediation=advice))

    def fail(self, status: int, failure: Failure) -> Outcome:
        context, message = {**failure.context, **self._find_printed()}, failure.message
        advice, problems = failure.remediation, failure.problems
        if changes := self.calls.changes:
            context["changed"] = changes
            end = "" if message.endswith((".", "?", "!")) else "."
            message = f"{message}{end} {_describe_changes(changes)}"
            if name := self._keep_record():
                context["resume"], advice = name, RESUME
            else:
                advice = f"{REST} {self.calls.keeper.refusal}".strip()
            problems = tuple(
                replace(each, message=message, remediation=advice) for each in problems
            )
        failure = replace(
            failure, message=message, remediation=advice, context=context, problems=problems
        )
        return Outcome(self.call.tool.name, status, failure=failure)


def compact(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change without the arguments, where the key of the object says what was made."""
    return {n: value for n, value in change.items() if n != "arguments" or "object" not in change}


def _describe_changes(changes: Iterable[Mapping[str, Any]]) -> str:
    """Return the sentence that counts the changes of a program, "" for none."""
    every = list(changes)
    counts = Counter(each["tool"] for each in every if "uncertain" not in each)
    calls = ", ".join(f"{tool} ({count})" for tool, count in counts.items())
    sure = f"What was changed before stays: {calls}." if calls else ""
    failed = ", ".join(dict.fromkeys(each["tool"] for each in every if "uncertain" in each))
    unsure = f"Look whether {failed} changed something before it failed." if failed else ""
    return " ".join(filter(None, [sure, unsure]))


# What an agent can answer instead of the client's user.
ANSWERABLE = frozenset({"form", "url"})


@dataclass(frozen=True)
class Record:
    """A program that can go on, as `Keeper` keeps it.

    Attributes:
        tool: the tool that ran it.
        program: its text.
        now: the time that it began, as ISO 8601.
        answers: the answers of its calls.
        reopened: the call after these that waits for something, None where the program ended.
        questions: what that call asks: the key, the kind and the fields of each question.
        names: the arguments that that call lacks.
        suffix: the end of the keys under which the client's user is asked.
    """

    tool: str
    program: str
    now: str
    answers: Sequence[CallAnswer]
    reopened: Reopened | None = None
    questions: Sequence[Mapping[str, Any]] = ()
    names: Sequence[str] = ()
    suffix: str = ""

    def write(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def find(cls, call: CallState, sent: Sent, keeper: Keeper) -> tuple[str, Record | None]:
        """Return the id and the record with which a call goes on; "" and None for a new program."""
        exchange = read_exchange(call)
        # A client whose user is asked sends what the questions remember: the number of the round,
        # and the id. The program goes on where the last round stopped it.
        carried = [each for each in exchange.memory.values() if isinstance(each, list)]
        name = max(carried)[1] if carried else sent.resume
        if not name:
            return "", None
        state = keeper.read(name)
        if state.get("tool") != call.tool.name:
            raise Gone
        answers = [CallAnswer(**each) for each in state["answers"]]
        reopened = state["reopened"] and Reopened(**state["reopened"])
        state |= {"answers": answers, "reopened": reopened}
        record = cls(**{each: state[each] for each in cls.__dataclass_fields__})
        if carried and record.reopened is not None:
            for question in record.questions:
                if reply := exchange.answers.get(f"{question['key']}{record.suffix}"):
                    record.reopened.replies[question["key"]] = dict(reply.result)
        else:
            record.take(sent.answers, call.tool.find_pointer("answers"))
        return name, record

    @property
    def fields(self) -> list[str]:
        return [*self.names, *(name for each in self.questions for name in each["fields"])]

    def take(self, answers: Mapping[str, Any], pointer: str) -> None:
        if strange := [name for name in answers if name not in self.fields]:
            advice = f"Send what was asked for: {', '.join(self.fields)}."
            advice = advice if self.fields else "Leave the answers out: nothing was asked for."
            message, code = "The call did not ask for it.", "unknown_argument"
            pointers = [pointer + JSONPointer.from_path([name]) for name in strange]
            problems = [Problem(code, message, each, remediation=advice) for each in pointers]
            raise ArgumentsRefused(problems)
        if self.reopened is None:
            return
        self.reopened.further.update({n: answers[n] for n in self.names if n in answers})
        for each in self.questions:
            # What a person has to agree to, no model accepts in the person's place.
            if each["mode"] in ANSWERABLE and not each["is_personal"]:
                content = {name: answers[name] for name in each["fields"] if name in answers}
                self.reopened.replies[each["key"]] = {"action": "accept", "content": content}
