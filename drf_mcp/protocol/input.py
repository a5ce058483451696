"""Questions to the client's user, over several rounds (2026-07-28, basic/patterns/mrtr)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.exceptions import InvalidParams
from drf_mcp.outcomes import Question
from drf_mcp.protocol.constants import CLIENT_CAPABILITIES_KEY

# The members of ``params`` with the state and the answers of an earlier round.
STATE, RESPONSES = "requestState", "inputResponses"


class Unfinished:
    """The result of a request that is not complete yet (2026-07-28, ``resultType``)."""

    @property
    def members(self) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class InputRequired(Unfinished):
    """The result of a request that waits for answers of the client.

    Attributes:
        questions: the questions.
        state: a text that the client sends back with the answers.
    """

    questions: Sequence[Question]
    state: str

    @property
    def members(self) -> dict[str, Any]:
        return {
            "resultType": "input_required",
            "inputRequests": {q.key: self.get_request(q) for q in self.questions},
            "requestState": self.state,
        }

    def get_request(self, question: Question) -> Mapping[str, Any]:
        # client/elicitation
        if question.request is not None:
            return question.request
        params: dict[str, Any] = {"mode": question.mode, "message": question.message}
        form = {"url": question.url} if question.url else {"requestedSchema": question.schema}
        return {"method": "elicitation/create", "params": params | form}


# What a client declares that shows forms to its user.
FORM_CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}}}


def read_modes(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the client can be asked for: "form", "url", "sampling", "roots"."""
    capabilities = meta.get(CLIENT_CAPABILITIES_KEY)
    if not isinstance(capabilities, dict):
        return ()
    others = tuple(mode for mode in ("sampling", "roots") if mode in capabilities)
    declared = capabilities.get("elicitation")
    if not isinstance(declared, dict):
        return others
    # An empty object declares forms.
    modes = tuple(mode for mode in ("form", "url") if mode in declared) or ("form",)
    return (*modes, *others)


def read_responses(params: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the answers of a request by the key of their question.

    Raises:
        InvalidParams: if the answers are malformed.
    """
    responses = params.get(RESPONSES, {})
    if not isinstance(responses, Mapping):
        raise InvalidParams(_('The member "inputResponses" must be an object.'))
    for key, response in responses.items():
        if not isinstance(response, Mapping):
            text = _('The answer "%(key)s" of "inputResponses" must be an object.')
            raise InvalidParams(text % {"key": key[:100]})
    return responses
