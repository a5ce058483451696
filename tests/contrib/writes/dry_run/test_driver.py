"""A view that commits behind Django's back is no view of which nothing was changed."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.db import connection

pytestmark = pytest.mark.django_db(transaction=True)


def commit(request):
    Group.objects.create(name="kept")
    connection.connection.commit()
    return {}


def commit_and_go_on(request):
    commit(request)
    Group.objects.create(name="later")
    return {}


def test_what_the_driver_committed_is_said_to_be_kept(agent, do, caplog):
    for deed in (commit, commit_and_go_on):
        do(deed)
        result = agent.call("deed", dry_run=True)
        assert (result.is_error, result.code) == (True, "VALIDATION_ERROR")
        text = str(result.raw)
        assert "commits through the driver" in text
        assert "has been kept" in text
        assert "othing was changed" not in text
        assert Group.objects.filter(name="kept").exists()
        assert "committed by its driver" in caplog.text
        Group.objects.all().delete()
        caplog.clear()
    # The next call is made as ever.
    do(lambda request: {"done": True})
    assert agent.call("deed", dry_run=True).data == {"done": True}
    assert agent.call("deed").data == {"done": True}


def test_a_view_that_fails_in_the_database_has_kept_nothing(agent, do, caplog):
    def fail(request):
        Group.objects.create(name="twice")
        Group.objects.create(name="twice")

    do(fail)
    assert agent.call("deed", dry_run=True).is_error
    assert not Group.objects.exists()
    assert "committed by its driver" not in caplog.text
