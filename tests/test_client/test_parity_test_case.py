"""The parity test case as a `unittest.TestCase`, which Django's test runner finds."""

from __future__ import annotations

import unittest

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.test import ToolParity

pytestmark = pytest.mark.django_db


class Open(APIView):
    permission_classes = []

    def get(self, request) -> Response:
        return Response({"a": 1})


class Different(Open):
    def get(self, request) -> Response:
        return Response({"tool": getattr(request._request, "is_mcp_request", False)})


@pytest.fixture
def run(expose):
    def run(*views: type[APIView], **attributes) -> unittest.TestResult:
        letters = zip("abcdef", views, strict=False)
        expose(*(path(f"{letter}/", view.as_view()) for letter, view in letters))
        case = type("ParityTest", (ToolParity, unittest.TestCase), attributes)
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
        return result

    return run


def test_tools_that_agree_with_their_views_pass(run):
    result = run(Open, Open)
    assert result.testsRun == 1
    assert result.wasSuccessful()


def test_each_tool_that_differs_from_its_view_fails(run):
    result = run(Different, Open, Different)
    failures = [str(test) for test, _ in result.failures]
    assert len(failures) == 2
    assert all(f"tool='{name}'" in text for name, text in zip("ac", failures, strict=True))


def test_every_user_is_tested(run):
    result = run(Different, users=["alice", "carol"])
    names = [f"user='{name}'" for name in ("alice", "carol")]
    assert all(name in str(test) for name, (test, _) in zip(names, result.failures, strict=True))


def test_excluded_tools_are_left_out(run):
    assert run(Different, Open, exclude=["a"]).wasSuccessful()
