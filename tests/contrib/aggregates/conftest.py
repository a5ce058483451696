"""The tables and endpoints that the tests of aggregates share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from django.urls import include, path
from rest_framework.routers import DefaultRouter

from tests.contrib.aggregates.journeys import Journey, JourneyViewSet, Station, make_journeys

router = DefaultRouter()
router.register("journeys", JourneyViewSet)


@pytest.fixture(scope="package")
def tables(django_db_setup, django_db_blocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        with connection.schema_editor() as editor:
            editor.create_model(Station)
            editor.create_model(Journey)
        make_journeys(70)
    yield
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        editor.delete_model(Journey)
        editor.delete_model(Station)


@pytest.fixture
def journeys(tables, expose, db) -> None:
    expose(path("", include(router.urls)))
