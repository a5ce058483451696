"""ERROR_MAPPER_CLASS gives a project's exceptions their own codes, categories and remediations."""

from __future__ import annotations

import pytest
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from drf_mcp.codes import Category
from drf_mcp.dispatch.errors import ErrorMapper
from tests.dispatch.views import answering


class StockLocked(Exception):
    """Stocktaking has locked the stock."""


class CreditExceeded(APIException):
    """The customer's debts are over the credit limit."""

    status_code = 402
    default_code = "credit_exceeded"


class ShopErrorMapper(ErrorMapper):
    """Gives the shop's exceptions their own codes."""

    def get_error_code(self, status, cause="", problems=(), exc=None):
        if isinstance(exc, StockLocked):
            return "STOCK_LOCKED"
        if cause == "credit_exceeded":
            return f"SHOP_17_{self.call.tool.name}_{self.request.method}".upper()
        return super().get_error_code(status, cause, problems, exc)

    def get_category(self, error_code, status):
        if error_code == "STOCK_LOCKED":
            return Category.UNAVAILABLE
        return super().get_category(error_code, status)

    def get_remediation(self, error_code, category, status, problems=(), context=None):
        if error_code == "STOCK_LOCKED":
            return "Call again in the evening."
        return super().get_remediation(error_code, category, status, problems, context)


@pytest.fixture
def failing(serve):
    def call(exc: Exception) -> dict[str, str]:
        def answer(request) -> Response:
            raise exc

        data = serve(answering(answer), ERROR_MAPPER_CLASS=ShopErrorMapper).call().envelope["data"]
        return {name: data[name] for name in ("error_code", "error_type", "remediation")}

    return call


def test_an_exception_that_is_no_api_exception_is_mapped(failing):
    assert failing(StockLocked()) == {
        "error_code": "STOCK_LOCKED",
        "error_type": "unavailable",
        "remediation": "Call again in the evening.",
    }


def test_the_code_of_an_api_exception_is_mapped(failing):
    assert failing(CreditExceeded())["error_code"] == "SHOP_17_THING_GET"
