"""prompts/list and prompts/get."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.template import TemplateDoesNotExist, TemplateSyntaxError

from drf_mcp.contrib.prompts import Prompt
from example_project.shop.models import Order
from tests.agents import REVISIONS
from tests.contrib.prompts.prompts import AttachedSerializer, ComplaintSerializer

COMPLAINT = Prompt(
    "complaint",
    text="Settle {{ order.number }}{% if tone %}, {{ tone }}{% endif %}."
    "{% if urgent %} Now!{% endif %}",
    serializer_class=ComplaintSerializer,
    title="A complaint",
)
PLAIN = Prompt("plain", text="What sells best?", description="Look at what sells.")
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def own_order(db):
    return Order.objects.filter(customer__owner__username="alice").first()


def text_of(agent, name: str, **arguments: str) -> str:
    [message] = agent.result("prompts/get", name=name, arguments=arguments)["messages"]
    assert message["role"] == "user"
    return message["content"]["text"]


# --- Methods and capabilities -------------------------------------------------------------------


def test_without_prompts_there_are_no_methods(subtests, serve):
    for revision in REVISIONS:
        for method in ["prompts/list", "prompts/get"]:
            with subtests.test(revision=revision, method=method):
                params = {"name": "plain"} if method == "prompts/get" else {}
                assert serve(revision=revision).error(method, **params)["code"] == -32601


# --- The list -----------------------------------------------------------------------------------


def test_arguments_are_the_fields_of_the_serializer(serve):
    [prompt] = serve(COMPLAINT).result("prompts/list")["prompts"]
    assert prompt["title"] == "A complaint"
    assert prompt["description"] == "Settle a complaint about an order."
    assert [(each["name"], each["required"]) for each in prompt["arguments"]] == [
        ("order", True),
        ("tone", False),
        ("days", False),
        ("urgent", False),
    ]
    assert prompt["arguments"][0]["description"] == "The order that the customer wrote about."


# --- One prompt ---------------------------------------------------------------------------------


def test_the_template_has_validated_values(serve, own_order):
    agent = serve(COMPLAINT)
    text = text_of(agent, "complaint", order=str(own_order.pk), tone="kind", urgent="true")
    assert text == f"Settle {own_order.number}, kind. Now!"


def test_a_text_is_not_escaped(serve):
    prompt = Prompt("p", text="Say {{ order }}", serializer_class=AttachedSerializer)
    assert text_of(serve(prompt), "p", order="<b> & 'c'") == "Say <b> & 'c'"


def test_wrong_arguments_are_refused_with_the_reason(subtests, serve):
    for arguments, reason in [
        ({}, "order: This field is required."),
        ({"order": "x"}, "order: Incorrect type"),
        ({"order": "1", "tone": "rude"}, "tone:"),
        ({"order": "1", "tome": "kind"}, "Did you mean tone?"),
    ]:
        with subtests.test(arguments=arguments, reason=reason):
            error = serve(COMPLAINT).error("prompts/get", name="complaint", arguments=arguments)
            assert error["code"] == -32602
            assert reason in error["message"]


def test_an_unknown_prompt_is_refused_with_the_nearest(serve):
    error = serve(COMPLAINT).error("prompts/get", name="complain")
    assert (error["code"], error["message"]) == (
        -32602,
        "Unknown prompt: complain. Did you mean complaint?",
    )


def test_an_object_that_no_list_shows_the_caller_does_not_exist(serve):
    foreign = Order.objects.exclude(customer__owner__username="alice").first()
    agent = serve(COMPLAINT)
    error = agent.error("prompts/get", name="complaint", arguments={"order": str(foreign.pk)})
    assert "object does not exist" in error["message"]
    assert foreign.number not in str(error)


def test_an_object_of_an_excluded_list_does_not_exist(serve, own_order):
    agent = serve(COMPLAINT, endpoint={"tools": ["products_*"]})
    error = agent.error("prompts/get", name="complaint", arguments={"order": str(own_order.pk)})
    assert "object does not exist" in error["message"]


def test_a_prompt_needs_a_credential(serve):
    agent = serve(PLAIN, username=None)
    message, headers = agent.frame("prompts/get", {"name": "plain"})
    assert agent.post(message, headers).status_code == 401


# --- Resources in prompts -----------------------------------------------------------------------


@pytest.fixture
def attaching():
    return Prompt(
        "about",
        text="Sum it up.",
        resources=["api/orders/{order}"],
        serializer_class=AttachedSerializer,
    )


def test_resources_come_before_the_text(serve, attaching, own_order):
    arguments = {"order": str(own_order.pk)}
    result = serve(attaching).result("prompts/get", name="about", arguments=arguments)
    first, last = result["messages"]
    resource = first["content"]["resource"]
    assert resource["uri"] == f"shop://api/orders/{own_order.pk}"
    assert json.loads(resource["text"])["number"] == own_order.number
    assert last["content"]["text"] == "Sum it up."


def test_a_resource_that_the_caller_may_not_read_refuses_the_prompt(serve, attaching):
    foreign = Order.objects.exclude(customer__owner__username="alice").first()
    arguments = {"order": str(foreign.pk)}
    error = serve(attaching).error("prompts/get", name="about", arguments=arguments)
    assert error["message"] == "Resource not found"


def test_an_argument_cannot_reach_another_resource(serve, attaching):
    arguments = {"order": "../products/cast-iron-pan"}
    error = serve(attaching).error("prompts/get", name="about", arguments=arguments)
    assert error["message"] == "Resource not found"


def test_a_subclass_may_return_several_messages(serve):
    class Dialogue(Prompt):
        def get_messages(self, values, request):
            asked = super().get_messages(values, request)
            answer = {"type": "text", "text": f"Gladly, {request.user.username}."}
            return [*asked, {"role": "assistant", "content": answer}]

    result = serve(Dialogue("d", text="Help me.")).result("prompts/get", name="d")
    assert [message["role"] for message in result["messages"]] == ["user", "assistant"]
    assert result["messages"][1]["content"]["text"] == "Gladly, alice."


# --- Logs ---------------------------------------------------------------------------------------


# --- Wrong declarations -------------------------------------------------------------------------


def test_a_wrong_declaration_of_a_prompt_is_refused_at_once(subtests):
    for options, exception in [
        ({"template": "no/such.md"}, TemplateDoesNotExist),
        ({"text": "{% if %}"}, TemplateSyntaxError),
        ({}, ImproperlyConfigured),
        ({"text": "a", "template": "b"}, ImproperlyConfigured),
        ({"text": "a", "serializer_class": dict}, ImproperlyConfigured),
        ({"text": "a", "resources": "api/orders"}, ImproperlyConfigured),
        ({"text": "a", "icons": ["x"]}, ImproperlyConfigured),
    ]:
        with subtests.test(options=options, exception=exception), pytest.raises(exception):
            Prompt("p", **options)


# --- The example project ------------------------------------------------------------------------
