"""A prompt whose arguments are missing asks for them, where the client can ask."""

from __future__ import annotations

from rest_framework import serializers

from drf_mcp.contrib.prompts import Prompt
from tests.agents import STATELESS

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class GreetingSerializer(serializers.Serializer):
    """Greet somebody."""

    name = serializers.CharField(max_length=5)
    tone = serializers.ChoiceField(choices=["kind", "formal"], default="kind")


GREETING = Prompt("greet", text="{{ tone }}: hello {{ name }}", serializer_class=GreetingSerializer)


def get(agent, answer=None, *, able: bool = True, state: str = "", **arguments):
    params = {"name": "greet", "arguments": arguments}
    if answer is not None:
        params |= {"inputResponses": {"greet": answer}, "requestState": state}
    params["_meta"] = {CAPABILITIES: {"elicitation": {}} if able else {}}
    return agent.request("prompts/get", **params)


def test_what_is_missing_is_asked_for(serve):
    agent = serve(GREETING)
    asked = get(agent, tone="formal")["result"]
    assert asked["resultType"] == "input_required"
    params = asked["inputRequests"]["greet"]["params"]
    assert params["message"] == "Greet somebody."
    assert params["requestedSchema"]["required"] == ["name"]
    assert params["requestedSchema"]["properties"].keys() == {"name"}
    answer = {"action": "accept", "content": {"name": "Ada"}}
    result = get(agent, answer, state=asked["requestState"], tone="formal")["result"]
    assert result["messages"][0]["content"]["text"] == "formal: hello Ada"


def test_an_answer_that_is_refused_is_asked_for_again_with_the_reason(serve):
    agent = serve(GREETING)
    state = get(agent)["result"]["requestState"]
    answer = {"action": "accept", "content": {"name": "Ada Lovelace"}}
    again = get(agent, answer, state=state)["result"]
    assert "no more than 5 characters" in again["inputRequests"]["greet"]["params"]["message"]


def test_who_declines_is_told_what_is_missing(subtests, serve):
    for action in ["decline", "cancel"]:
        with subtests.test(action=action):
            agent = serve(GREETING)
            state = get(agent)["result"]["requestState"]
            error = get(agent, {"action": action}, state=state)["error"]
            assert (error["code"], "name: " in error["message"]) == (-32602, True)


def test_wrong_arguments_are_refused_and_not_asked_for(serve):
    assert get(serve(GREETING), name="Ada Lovelace")["error"]["code"] == -32602


def test_a_client_that_cannot_ask_is_told_what_is_missing(serve):
    error = get(serve(GREETING), able=False)["error"]
    assert error["message"] == "name: This field is required."


def test_the_state_of_another_prompt_is_refused(serve):
    agent = serve(GREETING, Prompt("other", text="a", serializer_class=GreetingSerializer))
    meta = {CAPABILITIES: {"elicitation": {}}}
    asked = agent.request("prompts/get", name="other", arguments={}, _meta=meta)["result"]
    answer = {"action": "accept", "content": {"name": "Ada"}}
    assert agent.revision == STATELESS
    assert get(agent, answer, state=asked["requestState"])["error"]["code"] == -32602
