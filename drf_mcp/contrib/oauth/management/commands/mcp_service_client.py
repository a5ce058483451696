from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from drf_mcp.contrib.oauth.models import ServiceClient
from drf_mcp.contrib.oauth.servers import find_server
from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import UsageError


class Command(MCPCommand):
    """Makes clients that sign in without a person, changes their tools, and deletes them."""

    help = "Let a program sign in by client credentials, as a user whom you name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("name", help="the name of the client; one that exists is changed, and keeps its secret")
        self.add_user_argument(add, "the user as whom it acts, by USERNAME_FIELD")
        tools = 'the tools that it may call: patterns as in INCLUDE, "*" for all of the user'
        add("--tools", nargs="+", metavar="PATTERN", help=tools)
        add("--delete", action="store_true", help="delete the client with its tokens")
        add("--json", action="store_true", help="print JSON")

    @sensitive_variables()
    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        server = find_server()
        if server is None:
            raise UsageError("Neither django-oauth-toolkit nor allauth.idp.oidc is installed.")
        client = ServiceClient.objects.filter(name=options["name"]).first()
        if options["delete"]:
            if client is None:
                raise UsageError(f"There is no client {options['name']!r}.")
            server.delete_client(client.client_id)
            client.delete()
            return
        if not (options["username"] and options["tools"]):
            raise UsageError("A client needs --user and --tools.")
        client = client or ServiceClient(name=options["name"])
        client.user, client.tools = self.find_user(options["username"]), options["tools"]
        try:
            client.narrowing  # noqa: B018 - reads the patterns
        except ImproperlyConfigured as exc:
            raise UsageError(str(exc)) from exc
        found = {"client_id": client.client_id}
        if not client.client_id:
            client.client_id, secret = server.create_client(client.name)
            found = {"client_id": client.client_id, "client_secret": secret}
            notice = "Keep the secret now: it is shown this once, and cannot be looked up."
            self.stderr.write(notice, self.style.NOTICE)
        client.save()
        self.write_data(found, [f"{name}: {text}" for name, text in found.items()], options)
