"""One run of a program, from what the caller sent to the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from drf_mcp.contrib.compose import LIMITS, PROGRAM
from drf_mcp.contrib.compose.calls import FAILED, Ended, ProgramCalls, ProgramStopped
from drf_mcp.contrib.compose.keeping import Gone
from drf_mcp.contrib.compose.sandbox import Printed, ProgramFailed, open_session, run_program
from drf_mcp.contrib.compose.stops import Stop
from drf_mcp.contrib.compose.tool import ComposeTool, Sent
from drf_mcp.dispatch.guards import CallRefused, TimeLimitGuard
from drf_mcp.exceptions import Unavailable
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.exchange import ANSWER_SECONDS
from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import Category, Failure, Outcome, Problem
from drf_mcp.settings import mcp_settings


class ProgramGuard(Guard):
    """Runs the program of a call, in the place of a view: in no transaction of its own."""

    # After what records a call, and before what belongs to a single change.
    order = 450

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        call.caller.authenticate()
        return ProgramRun(call, call.tool.read(call.bound.arguments)).get_outcome()


class ProgramTimeGuard(TimeLimitGuard):
    """Stops a call when the time of its program is over."""

    # Within the limit of the tool's own.
    order = 401

    def __init__(self, program: ProgramCalls) -> None:
        self.program = program

    def find_seconds(self, call: CallState) -> float:
        return self.program.left


def find_program_guards(call: CallState, program: Any) -> Sequence[Guard]:
    """Return the guards of a call that a program makes, or that runs one."""
    if program is not None:
        return [ProgramTimeGuard(program)]
    return [ProgramGuard()] if isinstance(call.tool, ComposeTool) else ()


class ProgramRun:
    """Runs the program that a call sends, or goes on with one that stopped."""

    def __init__(self, call: CallState, sent: Sent) -> None:
        self.call = call
        self.sent = sent
        self.limits = {**LIMITS, **mcp_settings.COMPOSE_LIMITS}
        self.calls = ProgramCalls(call, self.limits)
        self.keeper = self.calls.keeper
        self.printed = Printed(self.limits["output"])
        # For what is added to the result.
        PROGRAM.set(call, self.calls)

    def get_outcome(self) -> Outcome:
        """Return what came of the program.

        Raises:
            ArgumentsRefused: if the caller sends what no program goes on with.
            CallRefused: if too many programs are running.
        """
        program, now, calls = self.sent.program, timezone.now(), self.calls
        try:
            name, stop = Stop.find(self.call, self.sent, self.keeper)
            if stop is not None:
                program, now = stop.program, datetime.fromisoformat(stop.now)
                calls.earlier, calls.reopened = stop.answers, stop.reopened
            with open_session(self.limits, now) as session:
                if stop is not None:
                    self.keeper.claim(name)
                functions = calls.names
                value = run_program(session, program, functions, calls.answer, self.printed)
            outcome = self.finish(value)
        except ProgramFailed as exc:
            outcome = self.explain(exc)
        except Ended as exc:
            outcome = self.fail(exc.status, exc.failure)
        except ProgramStopped as exc:
            outcome = Stop.of(exc, calls, program, now).get_outcome(self.call, exc, calls)
        except Gone:
            outcome = self.fail(404, self.describe_gone())
        except Unavailable as exc:
            raise CallRefused(exc) from exc
        return outcome.changed(warnings=(*outcome.warnings, *calls.warnings.values()))

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
        name = self.keeper.keep({"result": value, "terms": list(self.calls.find_terms())})
        if not name:
            return outcome
        text = _("The whole result is kept for %(minutes)d minutes: programs read it by %(call)s.")
        text %= {"minutes": ANSWER_SECONDS // 60, "call": f"kept({name!r})"}
        return outcome.changed(data={"kept": name, **data}, suggestions=(text,))

    def find_printed(self) -> dict[str, Any]:
        text = self.printed.text
        return {"output": text + ("…" if self.printed.is_cut else "")} if text else {}

    def explain(self, exc: ProgramFailed) -> Outcome:
        """Return the outcome of a program that ended with an exception."""
        line = _("Line %(line)d: ") % {"line": exc.line} if exc.line else ""
        cause = self.calls.failures.get(exc.message)
        if cause is not None and cause.failure is not None:
            failure = Failure(
                cause.failure.code,
                cause.failure.category,
                f"{line}{cause.tool}: {exc.message}",
                cause.failure.remediation,
                context={"line": exc.line},
            )
            return self.fail(cause.status, failure).changed(scopes=cause.scopes)
        kind = f"{exc.kind}: " if exc.kind else ""
        advice = _("Correct the program, and send it again.")
        problem = Problem("program", f"{line}{kind}{exc.message}", "/program", remediation=advice)
        failure = Failure(FAILED, Category.VALIDATION, problem.message, advice, (problem,))
        return self.fail(400, failure)

    def describe_gone(self) -> Failure:
        message = _(
            "No program of yours waits under this id: it has expired, or has gone on before."
        )
        advice = _("Send the program anew, without what it has done already.")
        problem = Problem("not_found", message, "/resume", remediation=advice)
        return Failure("NOT_FOUND", Category.NOT_FOUND, message, advice, (problem,))

    def fail(self, status: int, failure: Failure) -> Outcome:
        context = {**failure.context, **self.find_printed()}
        if changes := self.calls.changes:
            context["changed"] = changes
        failure = Failure(**{**vars(failure), "context": context})
        return Outcome(self.call.tool.name, status, failure=failure)
