"""A prompt asks for missing arguments by a form where the client supports forms."""

from __future__ import annotations

from rest_framework import serializers

from drf_mcp.contrib.prompts import Prompt

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class GreetingSerializer(serializers.Serializer):
    """Greet a person."""

    name = serializers.CharField(max_length=5)
    tone = serializers.ChoiceField(choices=["kind", "formal"], default="kind")


GREETING = Prompt("greet", text="{{ tone }}: hello {{ name }}", serializer_class=GreetingSerializer)


def get_greeting(agent, answer=None, *, has_forms: bool = True, state: str = "", **arguments):
    params = {"name": "greet", "arguments": arguments}
    if answer is not None:
        params |= {"inputResponses": {"greet": answer}, "requestState": state}
    params["_meta"] = {CAPABILITIES: {"elicitation": {}} if has_forms else {}}
    return agent.request("prompts/get", **params)


def test_a_form_asks_for_missing_arguments(serve):
    agent = serve(GREETING)
    asked = get_greeting(agent, tone="formal")["result"]
    assert asked["resultType"] == "input_required"
    params = asked["inputRequests"]["greet"]["params"]
    assert params["message"] == "Greet a person."
    assert params["requestedSchema"]["required"] == ["name"]
    assert params["requestedSchema"]["properties"].keys() == {"name"}
    answer = {"action": "accept", "content": {"name": "Ada"}}
    result = get_greeting(agent, answer, state=asked["requestState"], tone="formal")["result"]
    assert result["messages"][0]["content"]["text"] == "formal: hello Ada"


def test_declining_is_an_error_that_names_the_missing_arguments(subtests, serve):
    for action in ["decline", "cancel"]:
        with subtests.test(action=action):
            agent = serve(GREETING)
            state = get_greeting(agent)["result"]["requestState"]
            error = get_greeting(agent, {"action": action}, state=state)["error"]
            assert (error["code"], "name: " in error["message"]) == (-32602, True)


def test_a_client_without_forms_gets_an_error_that_names_the_missing_arguments(serve):
    error = get_greeting(serve(GREETING), has_forms=False)["error"]
    assert error["message"] == "name: This field is required."


def test_the_state_of_another_prompt_is_refused(serve):
    agent = serve(GREETING, Prompt("other", text="a", serializer_class=GreetingSerializer))
    meta = {CAPABILITIES: {"elicitation": {}}}
    asked = agent.request("prompts/get", name="other", arguments={}, _meta=meta)["result"]
    answer = {"action": "accept", "content": {"name": "Ada"}}
    assert get_greeting(agent, answer, state=asked["requestState"])["error"]["code"] == -32602
