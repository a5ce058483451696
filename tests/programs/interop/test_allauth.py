"""allauth.idp.oidc as the authorization server, in the project of docs/sign_in_allauth.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from drf_mcp.access.authentication import NO_USER
from tests.documentation.pages import ROOT

METADATA = "https://shop.example/.well-known/oauth-protected-resource/mcp"


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    environment = {name: os.environ[name] for name in os.environ if "DJANGO" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs.interop.allauth_project"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_person_signs_in_with_the_companys_login_and_a_published_client_calls_tools(facts):
    assert facts["said"] == {"name": "ada"}


@pytest.mark.parametrize("token", ["api", "unnamed_api"])
def test_a_token_opens_no_api(facts, token):
    assert facts[token] == 401


def test_a_token_without_a_resource_opens_tools(facts):
    assert facts["unnamed"] == [200, ""]


def test_a_token_for_another_address_is_answered_with_the_challenge(facts):
    status, challenge = facts["other"]
    assert status == 401
    assert 'error_description="The access token is for another resource."' in challenge
    assert f'resource_metadata="{METADATA}"' in challenge


def test_a_token_of_an_inactive_user_opens_nothing(facts):
    assert facts["inactive"] == 401


@pytest.mark.parametrize("address", ["oauth-authorization-server", "openid-configuration"])
def test_the_metadata_says_that_clients_may_publish_a_document(facts, address):
    assert facts[address] == ["https://shop.example", True]


def test_documents_are_read_for_people_alone(facts):
    assert facts["read_for_strangers"] == []


def test_a_program_acts_as_the_user_of_its_service_account_with_its_tools(facts):
    assert facts["service who*"] == {"name": "ada"}
    assert facts["service other*"]["error_code"] == "FORBIDDEN"
    assert facts["deleted"] == 401


def test_a_program_without_a_service_account_is_nobody_and_not_its_owner(facts):
    assert facts["nobody"] == [403, NO_USER]


def test_the_class_of_allauth_is_reported_and_ours_is_not(facts):
    assert facts["checks"] == []
    assert facts["checks of allauth's class"] == ["drf_mcp.W019"]
