"""Broken database constraints are conflicts, and the database's own text is not returned."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connections
from django.db.models import ProtectedError
from django.urls import include, path
from rest_framework import viewsets
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from drf_mcp.dispatch import errors
from drf_mcp.dispatch.errors import ErrorMapper
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.views import MCPView
from example_project.shop.models import Order, OrderLine, Product
from example_project.shop.serializers import ProductSerializer
from tests.dispatch.views import answering, raising

REFUSED = "The deletion was refused: {} depend on what would be deleted."


class Products(viewsets.ModelViewSet):
    queryset = Product.objects.all()
    serializer_class = ProductSerializer
    permission_classes = []


@pytest.fixture
def products(serve):
    router = SimpleRouter()
    router.register("products", Products)
    return serve(path("", include(router.urls)))


def get_sold_product() -> Product:
    return OrderLine.objects.first().product


def test_a_protected_row_is_answered_with_the_models_that_protect_it_and_no_count(products):
    doors, product = products, get_sold_product()
    result = doors.agent.call("products_destroy", pk=product.pk)
    assert result.is_error
    assert (result.code, result.data["error_type"]) == ("CONFLICT", "conflict")
    assert result.envelope["error"] == REFUSED.format("order lines")
    assert result.data["remediation"].startswith("Delete the order lines first or let them refer")
    assert Product.objects.filter(pk=product.pk).exists()


def test_a_conflict_that_is_500_over_http_is_logged_and_signalled(products, reported, caplog):
    doors, product = products, get_sold_product()
    assert doors.http.delete(f"/products/{product.pk}/").status_code == 500
    reported.clear()
    doors.agent.call("products_destroy", pk=product.pk)
    (request,) = reported
    assert (request.method, request.path) == ("DELETE", f"/products/{product.pk}/")
    crashes = [r for r in caplog.records if r.name == "drf_mcp" and r.exc_info]
    assert [record.exc_info[0] for record in crashes] == [ProtectedError]


def test_every_envelope_names_the_protecting_rows(subtests, serve):
    for envelope in [ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope]:
        with subtests.test(envelope=envelope):
            endpoint = path("own/mcp", MCPView.as_view(envelope_class=envelope))
            doors = serve(raising(ProtectedError("secret", {Order(pk=1)})), endpoint)
            doors.agent.path = "/own/mcp"
            text = str(doors.call().raw)
            assert REFUSED.format("orders") in text
            assert "secret" not in text


# --- Constraints that only the database checks ----------------------------------------------

ALIAS = "accounts"


@pytest.fixture(params=[True, False], ids=["atomic", "not_atomic"])
def accounts(request, db):
    """A second database, with and without ATOMIC_REQUESTS."""
    own = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ":memory:",
        "ATOMIC_REQUESTS": request.param,
    }
    connections.settings[ALIAS] = connections.configure_settings({"default": {}, ALIAS: own})[ALIAS]
    connection = connections[ALIAS]
    connection.connect()  # cursor() would connect, but the test runner guards it
    execute(
        "CREATE TABLE owner"
        " (id INTEGER PRIMARY KEY, email TEXT UNIQUE, age INTEGER CHECK (age > 0))"
    )
    execute(
        "CREATE TABLE account (owner INTEGER NOT NULL REFERENCES owner (id)"
        " DEFERRABLE INITIALLY DEFERRED, now INTEGER REFERENCES owner (id))"
    )
    execute("INSERT INTO owner VALUES (1, 'hunter2', 1)")
    yield
    connection.connection.close()
    del connections[ALIAS], connections.settings[ALIAS]


def execute(statement: str) -> list[tuple[Any, ...]]:
    cursor = connections[ALIAS].cursor()
    cursor.execute(statement)
    return cursor.fetchall()


def make_view_with_statement(statement: str) -> Any:
    def write(request) -> Response:
        execute("INSERT INTO owner VALUES (7, 'seven', 1)")
        execute(statement)
        return Response({})

    return answering(write, "POST")


REFERENCE = "A reference between objects would be broken."
BROKEN = {
    "unique": (
        "INSERT INTO owner VALUES (2, 'hunter2', 1)",
        "A value that has to be unique is taken.",
    ),
    "primary key": (
        "INSERT INTO owner VALUES (1, 'other', 1)",
        "A value that has to be unique is taken.",
    ),
    "immediate reference": ("INSERT INTO account VALUES (1, 99)", REFERENCE),
    "deferred reference": ("INSERT INTO account VALUES (99, 1)", REFERENCE),
}


@pytest.mark.parametrize(("statement", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_constraint_is_a_conflict_and_leaves_the_rows_that_http_leaves(
    serve, accounts, statement, message
):
    # as_view() excludes the endpoint from the transactions of the databases that are known then.
    doors = serve(make_view_with_statement(statement), path("accounts/mcp", MCPView.as_view()))
    doors.agent.path = "/accounts/mcp"
    assert doors.http.post("/thing/").status_code == 500
    left = execute("SELECT id FROM owner")
    execute("DELETE FROM owner WHERE id = 7")
    result = doors.call()
    assert (result.code, result.data["error_type"]) == ("CONFLICT", "conflict")
    assert result.envelope["error"] == message
    assert execute("SELECT id FROM owner") == left
    assert "owner" not in str(result.raw)
    assert "hunter2" not in str(result.raw)


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO owner VALUES (2, 'b', -1)", "INSERT INTO account (now) VALUES (1)"],
    ids=["check", "not null"],
)
def test_a_check_and_a_not_null_constraint_are_internal_errors(serve, accounts, statement):
    result = serve(make_view_with_statement(statement)).call()
    assert (result.code, result.data["error_type"]) == ("INTERNAL_ERROR", "internal")
    assert "owner" not in str(result.raw)


# --- Errors of the database drivers ----------------------------------------------------------


def make_integrity_error(cause: BaseException | None) -> IntegrityError:
    exc = IntegrityError("secret")
    exc.__cause__ = cause
    return exc


def with_members(cause: Exception, **members: Any) -> Exception:
    vars(cause).update(members)
    return cause


class OracleError:
    """The first argument of oracledb's exceptions."""

    def __init__(self, code: int) -> None:
        self.code, self.full_code = code, f"ORA-{code:05}"


DRIVERS = [
    (with_members(Exception("x"), sqlstate="23505"), errors.UNIQUE),
    (with_members(Exception("x"), sqlstate="23503"), errors.REFERENCE),
    (with_members(Exception("x"), sqlstate="23001"), errors.REFERENCE),
    (with_members(Exception("x"), sqlstate="23502"), None),
    (with_members(Exception("x"), sqlstate="23P01"), None),
    (with_members(Exception("x"), pgcode="23505"), errors.UNIQUE),
    (with_members(Exception("x"), pgcode="23514"), None),
    (Exception(1062, "Duplicate entry"), errors.UNIQUE),
    (Exception(1451, "Cannot delete or update a parent row"), errors.REFERENCE),
    (Exception(1452, "Cannot add or update a child row"), errors.REFERENCE),
    (with_members(Exception(1062, "x", "23000"), sqlstate="23000"), errors.UNIQUE),
    (Exception(1048, "Column cannot be null"), None),
    (Exception(OracleError(1)), errors.UNIQUE),
    (Exception(OracleError(2291)), errors.REFERENCE),
    (Exception(OracleError(2292)), errors.REFERENCE),
    (Exception(OracleError(1400)), None),
    (Exception("UNIQUE constraint failed: written by a project"), None),
    (None, None),
]


def test_the_error_code_of_the_driver_decides_which_constraint_broke(subtests):
    for cause, rule in DRIVERS:
        with subtests.test(cause=cause, rule=rule):
            assert errors.find_broken_rule(make_integrity_error(cause)) is rule
            failure = ErrorMapper().from_exception(make_integrity_error(cause), "req_1")
            assert failure.code == ("INTERNAL_ERROR" if rule is None else "CONFLICT")
            assert "secret" not in failure.message
