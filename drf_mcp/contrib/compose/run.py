"""One run of a program, from what the caller sent to the outcome; where it stops, and goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone
from rest_framework.exceptions import APIException

from drf_mcp.contrib.compose import LIMITS, PROGRAM
from drf_mcp.contrib.compose.calls import (
    FAILED,
    OWN_FUNCTIONS,
    Ended,
    ProgramCalls,
    ProgramStopped,
    describe_changes,
)
from drf_mcp.contrib.compose.keeping import Gone
from drf_mcp.contrib.compose.program import read_program
from drf_mcp.contrib.compose.records import Record, Stop
from drf_mcp.contrib.compose.sandbox import Printed, ProgramFailed, open_session, run_program
from drf_mcp.contrib.compose.tool import Sent
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.guards import CallRefused, TimeLimitGuard
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.exchange import ANSWER_SECONDS
from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import Category, Failure, Outcome, Problem
from drf_mcp.settings import mcp_settings
from drf_mcp.truncation.report import describe_retrieval

CORRECT = "Correct the program, and send it again."
SAME_RESUME = "Correct the program, and send it with the same 'resume'."
RESUME = (
    "What was changed stays. Go on by 'resume': call this tool with the id, and with the corrected "
    "program, or without one to go on with the same. Calls up to the last change are answered from "
    "the record, and are not made twice."
)
REST = "What was changed stays. Send a program for the rest only, without the calls in 'changed'."


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
    """Runs the program that a call sends, or goes on with one that has a record."""

    def __init__(self, call: CallState, sent: Sent) -> None:
        self.call = call
        self.sent = sent
        self.limits = {**LIMITS, **mcp_settings.COMPOSE_LIMITS}
        self.calls = ProgramCalls(call, self.limits)
        self.printed = Printed(self.limits["output"])
        self.program, self.now = sent.program, timezone.now()
        # `ComposeFeature.finish_result` reads it.
        PROGRAM.set(call, self.calls)

    def get_outcome(self) -> Outcome:
        calls = self.calls
        try:
            outcome = self.finish(self.run())
        except ProgramFailed as exc:
            outcome = self.explain(exc)
        except Ended as exc:
            outcome = self.fail(exc.status, exc.failure)
        except ProgramStopped as exc:
            outcome = Stop(exc, calls, self.program, self.now).get_outcome(self.call)
        except Gone:
            message = "Nothing of yours waits under this id: it has expired, or was used before."
            advice = "Send a program for the rest only, without what was done already."
            pointer = self.call.tool.get_pointer("resume")
            problem = Problem("not_found", message, pointer, remediation=advice)
            failure = Failure("NOT_FOUND", Category.NOT_FOUND, message, advice, (problem,))
            outcome = self.fail(404, failure)
        except APIException as exc:
            raise CallRefused(exc) from exc
        warnings = (*outcome.warnings, *calls.warnings.values())
        # A program gets the data of its calls, without their meta.
        noted = [each.noted for each in calls.record if each.noted is not None]
        meta = {**outcome.meta, **({"calls": noted} if noted else {})}
        return outcome.changed(warnings=warnings, meta=meta)

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
            names = {*calls.functions, *OWN_FUNCTIONS}
            try:
                return run_program(session, program, names, calls.answer, self.printed)
            except ProgramFailed as exc:
                exc.line = program.find_line(exc.line)
                raise

    # --- What came of it -----------------------------------------------------------------------

    def finish(self, value: Any) -> Outcome:
        changes = [compact(each) for each in self.calls.changes]
        data = {"result": value, **self.find_printed(), **({"changed": changes} if changes else {})}
        outcome = Outcome(self.call.tool.name, 200, data=data)
        if value is None and not self.printed.text:
            return self.explain_silence(outcome)
        context = self.call.context
        budget = self.call.server.tools_capability.get_budget(self.call.tool, context)
        if not budget.is_exceeded(outcome, encode_plain(data)):
            return outcome
        terms = self.calls.get_result_terms()
        name = self.calls.keeper.keep({"result": value, "terms": terms})
        if not name:
            return outcome
        text = f"The whole result is kept for {ANSWER_SECONDS // 60} minutes: programs read it by "
        return outcome.changed(data={"kept": name, **data}, suggestions=(f"{text}kept({name!r}).",))

    def explain_silence(self, outcome: Outcome) -> Outcome:
        if not self.calls.changes:
            advice = "Nothing came back: end the program with the expression that you want."
            return outcome.changed(suggestions=(advice,))
        advice = "The calls in 'changed' were made, and the program gave no value."
        if name := self.keep_record():
            outcome = outcome.changed(data={**outcome.data, "resume": name})
            advice += (
                " For one, call this tool with the id 'resume' and the program with an expression"
                " at its end: calls up to the last change are not made twice."
            )
        return outcome.changed(suggestions=(advice,))

    def keep_record(self) -> str:
        """Keep the answers up to the last change, and return the id; "" if they are not kept."""
        answers = self.calls.get_record_of_changes()
        self.calls.note_terms(answers)
        record = Record(self.program, self.now.isoformat(), answers)
        return contain(lambda: self.calls.keeper.keep(record.write()), lambda exc: "")

    def find_printed(self) -> dict[str, Any]:
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
            failure = Failure(
                failure.code,
                failure.category,
                message,
                failure.remediation,
                context={**said, "line": exc.line},
                details=failure.details,
            )
            outcome = self.fail(cause.status, failure).changed(scopes=cause.scopes)
            return self.keep_rest(outcome, cause, said)
        kind = f"{exc.kind}: " if exc.kind else ""
        message, pointer = f"{line}{kind}{exc.message}", self.call.tool.get_pointer("program")
        # The record still waits under the id.
        advice = SAME_RESUME if self.sent.resume else CORRECT
        problem = Problem("program", message, pointer, remediation=advice)
        failure = Failure(FAILED, Category.VALIDATION, problem.message, advice, (problem,))
        return self.fail(400, failure)

    def keep_rest(self, outcome: Outcome, cause: Outcome, said: Mapping[str, Any]) -> Outcome:
        """Keep what a call of the program said beside its error, where it is long, and name it."""
        failure, problems = outcome.failure, cause.failure.problems if cause.failure else ()
        own = self.calls.tools.get(cause.tool)
        if failure is None or own is None:
            return outcome
        if cause.status < 400 and len(problems) > 1:
            said = {**said, "problems": [each.message for each in problems]}
        text, capability = encode_data(said), self.call.server.tools_capability
        context = self.call.context
        # The error itself and its advice have the other half of the room.
        if not capability.get_budget(self.call.tool, context).is_exceeded(outcome, 2 * text):
            return outcome
        archive = capability.get_budget(own, context).get_archive()
        items = [{"id": n, "pointer": None, "value": each} for n, each in json.loads(text).items()]
        kept = None if archive is None else archive.keep(cause, items)
        if archive is None or kept is None:
            return outcome
        advice = f"{describe_retrieval(kept.archive_id, archive.seconds)} {failure.remediation}"
        return outcome.changed(failure=replace(failure, remediation=advice))

    def fail(self, status: int, failure: Failure) -> Outcome:
        context, message = {**failure.context, **self.find_printed()}, failure.message
        advice, problems = failure.remediation, failure.problems
        if changes := self.calls.changes:
            context["changed"] = changes
            end = "" if message.endswith((".", "?", "!")) else "."
            message = f"{message}{end} {describe_changes(changes)}"
            if name := self.keep_record():
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
