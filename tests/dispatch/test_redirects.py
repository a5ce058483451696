"""Redirects and places in the headers of an answer."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.views import redirect_to_login
from django.http import HttpResponse
from rest_framework.response import Response
from rest_framework.views import APIView

LOGIN = "/accounts/login/"


class Answers(APIView):
    """Answers every method with a status, a place and a body."""

    permission_classes = []
    answer: Any = None

    def get(self, request) -> Any:
        return type(self).answer()

    post = get


@pytest.fixture
def answering(serve):
    def mount(answer: Any, method: str = "post") -> Any:
        members = {"answer": staticmethod(answer), "http_method_names": [method]}
        return serve(type("Answering", (Answers,), members).as_view())

    return mount


def to(location: str, status: int = 302, body: Any = None) -> Any:
    return lambda: Response(body, status, headers={"Location": location})


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "answer",
    [
        lambda: redirect_to_login("/thing/"),
        to(f"http://testserver{LOGIN}"),
        to("https://sso.example/sign?next=/thing/"),
        to("https://sso.example/sign?next=http%3A%2F%2Ftestserver%2Fthing%2F", 303),
        to(LOGIN, 307, {"detail": "Sign in."}),
        to("/en/users/sign-in/?to=/thing/"),
        to("https://sso.example/login?client_id=7"),
    ],
)
def test_a_redirect_to_a_login_page_is_unauthorized(answering, answer, method):
    result = answering(answer, method).call()
    assert result.is_error
    data = result.envelope["data"]
    assert data["error_code"] == "UNAUTHORIZED"
    assert data["location"] == answer()["Location"]
    assert data["location"] in result.envelope["error"]


@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_redirect_of_a_change_to_another_place_is_not_carried_out(answering, status):
    result = answering(to("/other/", status)).call()
    assert result.is_error
    assert result.envelope["data"]["error_code"] == "NOT_FOUND"
    assert result.envelope["data"]["location"] == "/other/"
    assert "was not carried out" in result.envelope["data"]["remediation"]


@pytest.mark.parametrize(
    ("method", "status"), [("post", 302), ("post", 303), ("get", 301), ("get", 302), ("get", 308)]
)
def test_another_redirect_is_an_answer_with_its_place(answering, method, status):
    result = answering(to("/other/7/?next=/home/", status), method).call()
    assert not result.is_error
    assert result.data == {"location": "/other/7/?next=/home/"}


@pytest.mark.parametrize("route", ["users/log-out/", "signup/", "register/", "password/reset/"])
def test_the_login_page_is_a_success_of_a_logout_and_a_registration(serve, route):
    answer = {"answer": staticmethod(to(LOGIN)), "http_method_names": ["post"]}
    thing = serve(type("Answering", (Answers,), answer).as_view(), route=route)
    assert not thing.call().is_error


@pytest.mark.parametrize("make", [Response, lambda body, **kw: HttpResponse('{"job":7}', **kw)])
def test_an_accepted_call_keeps_its_place_beside_its_body(answering, make):
    headers = {"Location": "/jobs/7/", "Content-Type": "application/json"}
    result = answering(lambda: make({"job": 7}, status=202, headers=headers)).call()
    assert result.data == {"job": 7}
    assert result.envelope["meta"]["location"] == "/jobs/7/"


def test_an_accepted_call_without_a_body_has_its_place_as_data(answering):
    result = answering(to("/jobs/7/", 202)).call()
    assert result.data == {"location": "/jobs/7/"}
    assert "location" not in result.envelope["meta"]
