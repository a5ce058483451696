"""What a program has done, kept for the call that goes on with it; and where it waits."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.contrib.compose import COMPOSE
from drf_mcp.contrib.compose.calls import (
    CallAnswer,
    ProgramCalls,
    ProgramStopped,
    Reopened,
    describe_changes,
    find_lacking,
)
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.tool import Sent
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import ANSWER_SECONDS, get_exchange
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import Failure, Outcome, Problem, Question

# What an agent can answer instead of the client's user.
ANSWERABLE = frozenset({"form", "url"})


@dataclass(frozen=True)
class Record:
    """A program that can go on, as `Keeper` keeps it.

    Attributes:
        program: its text.
        now: the time that it began, as ISO 8601.
        answers: the answers of its calls.
        reopened: the call after these that waits for something, None where the program ended.
        questions: what that call asks: the key, the kind and the fields of each question.
        names: the arguments that that call lacks.
        suffix: the end of the keys under which the client's user is asked.
    """

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
        reopened = state["reopened"] and Reopened(**state["reopened"])
        state |= {"answers": answers, "reopened": reopened}
        record = cls(**{each: state[each] for each in cls.__dataclass_fields__})
        if carried and record.reopened is not None:
            for question in record.questions:
                if reply := exchange.answers.get(f"{question['key']}{record.suffix}"):
                    record.reopened.replies[question["key"]] = dict(reply.result)
        else:
            record.take(sent.answers, call.tool.get_pointer("answers"))
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


class Stop:
    """A program that waits at one of its calls."""

    def __init__(
        self, stopped: ProgramStopped, calls: ProgramCalls, program: str, now: datetime
    ) -> None:
        self.stopped = stopped
        self.calls = calls
        outcome, reopened, questions = stopped.outcome, stopped.reopened, []
        for each in outcome.questions:
            reopened.memory[each.key] = each.memory
            # The answer to a question that is asked again was wrong.
            reopened.replies.pop(each.key, None)
            fields = list((each.schema or {}).get("properties", ()))
            question = {"key": each.key, "mode": each.mode, "fields": fields}
            questions.append({**question, "is_personal": each.is_personal})
        lacking = [] if questions else find_lacking(stopped.tool, outcome)
        calls.note_terms(calls.answers)
        suffix = f"-{secrets.token_hex(4)}"
        self.record = Record(
            program, now.isoformat(), calls.answers, reopened, questions, lacking, suffix
        )

    def get_outcome(self, call: CallState) -> Outcome:
        calls, inner, tool = self.calls, self.stopped.outcome, self.stopped.tool
        assert inner.failure is not None
        shown = inner.data if isinstance(inner.data, Mapping) else {}
        data: dict[str, Any] = {
            "tool": tool.name,
            "arguments": tool.sanitize_arguments(self.stopped.arguments),
            **{each: shown[each] for each in ("preview", "object", "shown") if each in shown},
            **({"changed": calls.changes} if calls.changes else {}),
        }
        questions: tuple[Question, ...] = ()
        is_personal = any(each.is_personal for each in inner.questions)
        if name := calls.keeper.keep(self.record.write()):
            fields = self.record.fields
            data |= {"resume": name, **({"answers": fields} if fields else {})}
            data["expires_in_seconds"] = ANSWER_SECONDS
            advice = (
                f"Compare it with what the user asked for. If it is that, call {COMPOSE} with this"
                " id in 'resume', without the program, and in 'answers' what is asked for. Calls"
                " that were made are not made again."
            )
            if is_personal:
                # A client without forms cannot resume the program.
                del data["resume"]
                advice = inner.failure.remediation
            memory = [get_exchange(call).round + 1, name]
            questions = tuple(
                replace(each, key=f"{each.key}{self.record.suffix}", memory=memory)
                for each in inner.questions
            )
        else:
            advice = f"Call {tool.name} itself: nothing can be kept of this program."
            advice = f"{advice} {calls.keeper.refusal}".strip()
        code, category = inner.failure.code, inner.failure.category
        stopped_at = f"The program stopped at {tool.name}."
        texts = (stopped_at, describe_changes(calls.changes), inner.failure.message)
        message = " ".join(filter(None, texts))
        failure = Failure(code, category, message, advice, soft=not is_personal)
        body = {"detail": f"{message} {advice}", "data": data}
        status = inner.status if is_personal else 200
        return Outcome(COMPOSE, status, data=data, body=body, failure=failure, questions=questions)
