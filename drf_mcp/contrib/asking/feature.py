from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import ngettext_lazy

from drf_mcp.features import CallState, Feature, Guard, Setting
from drf_mcp.interaction.exchange import INPUT_REQUESTS
from drf_mcp.option_types.kinds import Number
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol.eras import RESPONSES, STATE
from drf_mcp.protocol.jsonrpc import ClientResponse
from drf_mcp.settings import mcp_settings

# In which a client can declare that its user can be asked.
FIRST_REVISION = "2025-06-18"
# Of a request that the client gives up.
CANCELLED = "notifications/cancelled"


class AskingFeature(Feature):
    settings = {
        # Seconds for which a call waits for the user of a client that shook hands; its thread waits
        # too. 0: such users are not asked. See docs/asking.md.
        "ANSWER_TIMEOUT": Setting(120, Number(0)),
        # Calls that may wait at once in a process under WSGI: fewer than it has threads, since one
        # of them has to receive the answers. Under ASGI there is no such limit.
        "WAITING_CALLS": Setting(1, Number()),
    }
    expires = {
        "open_questions": (
            "drf_mcp.contrib.asking.open_questions.delete_expired_questions",
            ngettext_lazy(
                "Deleted %(count)d open question.", "Deleted %(count)d open questions.", "count"
            ),
        )
    }

    # --- Clients that carry each round themselves (2026-07-28) ----------------------------------

    def open_input_requests(self, context: Any, subject: str) -> Any:
        from drf_mcp.contrib.asking.input_requests import InputRequests

        input_requests = InputRequests(context, subject)
        if input_requests.is_retry:
            input_requests.exchange  # noqa: B018 - what cannot be trusted is refused before anything runs
        return input_requests

    def prepare(self, call: CallState) -> None:
        params = call.context.message.params if call.context else {}
        # A call that brings no answers asks first.
        if STATE in params or RESPONSES in params:
            self._open(call)

    def get_unfinished(self, outcome: Outcome, call: CallState) -> Any:
        return self._open(call).write(outcome.questions) if outcome.questions else None

    def _open(self, call: CallState) -> Any:
        if INPUT_REQUESTS.get(call) is None:
            INPUT_REQUESTS.set(
                call, self.open_input_requests(call.context, f"tools/call {call.tool.name}")
            )
        return INPUT_REQUESTS.get(call)

    # --- Clients that shook hands (2025-06-18 and 2025-11-25) -----------------------------------

    def get_session_headers(self, context: Any) -> Mapping[str, str]:
        from drf_mcp.contrib.asking.sessions import HEADER, Session

        if context.era.revision < FIRST_REVISION or not mcp_settings.ANSWER_TIMEOUT:
            return {}
        declared = context.message.params.get("capabilities")
        session = Session.open(declared, context.caller.principal)
        return {HEADER: session.write()} if session else {}

    def receive(self, item: Any, era: Any, headers: Any, caller: Any) -> None:
        has_sessions = era.revision >= FIRST_REVISION and not era.asks_for_input
        if headers is None or not has_sessions or getattr(item, "method", "") == "initialize":
            return
        from drf_mcp.contrib.asking.open_questions import OpenQuestions
        from drf_mcp.contrib.asking.sessions import Session

        session = Session.find(headers, caller)
        if session and isinstance(item, ClientResponse):
            OpenQuestions(session).answer(item.id, item.result)
        elif session and item.method == CANCELLED:
            OpenQuestions(session).cancel(item.params.get("requestId"))

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        sent, channel = call.sent, call.channel
        if sent is None or channel is None or not channel.is_live or sent.era.asks_for_input:
            return ()
        from drf_mcp.contrib.asking.sessions import Session
        from drf_mcp.contrib.asking.waiting import WaitingGuard

        session = Session.find(sent.headers, call.caller)
        return [WaitingGuard(session)] if session and mcp_settings.ANSWER_TIMEOUT else ()
