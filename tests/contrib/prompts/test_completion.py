"""completion/complete: values of arguments and URI variables that the caller may use."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.prompts import Prompt
from example_project.shop.models import Customer, Order
from tests.agents import REVISIONS
from tests.contrib.prompts.prompts import ComplaintSerializer, CustomersSerializer

COMPLAINT = Prompt("complaint", text="a", serializer_class=ComplaintSerializer)
CUSTOMERS = Prompt("customers", text="a", serializer_class=CustomersSerializer)


def complete(agent, ref: dict, name: str, value: str = "", **chosen: str) -> dict:
    params = {"context": {"arguments": chosen}} if chosen else {}
    asked = {"name": name, "value": value}
    answer = agent.result("completion/complete", ref=ref, argument=asked, **params)
    return answer["completion"]


def prompt_reference(name: str) -> dict:
    return {"type": "ref/prompt", "name": name}


def template_reference(uri: str) -> dict:
    return {"type": "ref/resource", "uri": uri}


# --- Prompts ------------------------------------------------------------------------------------


def test_choices_that_begin_with_the_text_come_first(subtests, serve):
    for revision in REVISIONS:
        with subtests.test(revision=revision):
            agent = serve(COMPLAINT, revision=revision)
            found = complete(agent, prompt_reference("complaint"), "tone", "k")
            assert found == {"values": ["kind", "formal"], "total": 2, "hasMore": False}


def test_related_objects_are_those_that_the_list_shows_the_caller(subtests, serve, http_of):
    for username in ["alice", "bob", "carol"]:
        with subtests.test(username=username):
            agent = serve(CUSTOMERS, username=username)
            found = complete(agent, prompt_reference("customers"), "customers")
            listed = http_of(username).get("/api/customers/", {"page_size": 100}).json()["results"]
            assert sorted(found["values"]) == sorted(str(row["id"]) for row in listed)


def test_a_list_that_the_endpoint_excludes_completes_nothing(serve):
    agent = serve(CUSTOMERS, endpoint={"tools": ["orders_*"]})
    assert complete(agent, prompt_reference("customers"), "customers")["values"] == []


def test_unknown_prompts_and_arguments_are_refused(serve):
    agent = serve(COMPLAINT)
    asked = {"name": "tome", "value": ""}
    error = agent.error("completion/complete", ref=prompt_reference("complaint"), argument=asked)
    assert (error["code"], "Did you mean tone?" in error["message"]) == (-32602, True)
    error = agent.error("completion/complete", ref=prompt_reference("nothing"), argument=asked)
    assert error["code"] == -32602


# --- Templates ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_keys_are_those_of_the_rows_that_the_list_shows(subtests, serve):
    for username in ["alice", "bob", "carol"]:
        with subtests.test(username=username):
            orders = Order.objects.all()
            if username != "carol":
                orders = orders.filter(customer__owner__username=username)
            found = complete(
                serve(username=username), template_reference("shop://api/orders/{pk}"), "pk"
            )
            keys = {str(pk) for pk in orders.values_list("pk", flat=True)}
            assert set(found["values"]) <= keys
            assert len(found["values"]) == min(len(keys), 100)


def test_an_earlier_argument_narrows_the_values(serve):
    customer = Customer.objects.filter(owner__username="alice", orders__isnull=False).first()
    template = template_reference("shop://api/customers/{customer_pk}/orders/{pk}")
    found = complete(serve(), template, "pk", customer_pk=str(customer.pk))
    assert set(found["values"]) == {str(o.pk) for o in customer.orders.all()}
    assert complete(serve(), template, "pk")["values"] == []


def test_the_key_of_a_parent_comes_from_the_list_of_parents(serve):
    template = template_reference("shop://api/customers/{customer_pk}/orders/{pk}")
    found = complete(serve(), template, "customer_pk")["values"]
    own = Customer.objects.filter(owner__username="alice").values_list("pk", flat=True)
    assert set(found) == {str(pk) for pk in own}


def test_the_choices_of_a_filter_complete_its_variable(serve):
    [template] = [
        each["uriTemplate"]
        for each in serve().result("resources/templates/list")["resourceTemplates"]
        if each["name"] == "products_list"
    ]
    values = complete(serve(), template_reference(template), "category", "k")["values"]
    assert values[0] == "kitchen"


def test_malformed_requests_are_refused(subtests, serve):
    for params in [
        {},
        {"ref": {"type": "ref/prompt", "name": "complaint"}},
        {"ref": [], "argument": {}},
        {"ref": {"type": "ref/prompt"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/resource"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/other"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "complaint"}, "argument": {"name": 1, "value": ""}},
    ]:
        with subtests.test(params=params):
            agent = serve(COMPLAINT)
            message, headers = agent.frame("completion/complete", params)
            assert agent.post(message, headers).json()["error"]["code"] == -32602
