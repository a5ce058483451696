"""Serves one case: its endpoint, its caller and their requests."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.urls import include, path
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient
from rest_framework.throttling import BaseThrottle

from drf_mcp.calls.budget import CLIENT_LIMIT_KEY
from drf_mcp.contrib.rules.apps import RulesConfig
from drf_mcp.contrib.rules.models import CallRule, Proposal
from drf_mcp.contrib.rules.proposal_store import ProposalStore
from drf_mcp.contrib.rules.proposing import run_proposal
from drf_mcp.contrib.tokens.models import AgentToken
from drf_mcp.dispatch.request import ACCEPT
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.exposure import registry
from drf_mcp.introspection.field_selection import Omission
from drf_mcp.option_types.installed import features
from drf_mcp.transports.in_process import LocalEndpoint
from drf_mcp.views import MCPView
from example_project.shop.models import Customer, Ticket
from tests.crossings.doors import Doors
from tests.crossings.drawing import OFF, ON, Case
from tests.crossings.formats import VERSION_HEADER
from tests.crossings.views import AUTHENTICATION, STAMP, Notes
from tests.parity.answers import CODES, PAGE_MEMBERS

ENVELOPES = {
    "v2": ResponseV2Envelope,
    "ok": OkEnvelope,
    "status": StatusEnvelope,
    "plain": PlainEnvelope,
}
USERS = {"plain": "bob", "staff": "carol", "narrowed": "alice", "blind": "alice"}
MARK = re.compile(r"note<\d+>")
ARCHIVED = re.compile(r"archive_id='([A-Za-z0-9_-]+)'")
# The token limit of a small result, and the text of each of thirty notes.
SMALL, LONG_TEXT = 1000, "It has been said before, and is said again. " * 12
GUARDS = ("dry_run", "confirmation", "idempotency_key", "if_match")
FORM = "application/x-www-form-urlencoded"
LOCALES = "django.middleware.locale.LocaleMiddleware"


class Counted(BaseThrottle):
    """Counts calls and rejects none."""

    calls = 0

    def allow_request(self, request: Any, view: Any) -> bool:
        type(self).calls += 1
        return True


def read_rows(data: Any) -> Any:
    """Return data with rows as objects, also where the rows are a table."""
    if not isinstance(data, dict):
        return data
    if data.keys() == {"columns", "rows"}:
        return [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    return {**data, "results": read_rows(data["results"])} if "results" in data else data


@dataclass(frozen=True)
class Reply:
    """A tool result and its envelope."""

    raw: Mapping[str, Any]
    envelope_name: str
    of_program: bool = False
    omits: bool = False

    @property
    def text(self) -> str:
        return json.dumps(self.raw)

    @property
    def is_error(self) -> bool:
        return bool(self.raw.get("isError"))

    @property
    def envelope(self) -> Any:
        text = self.raw["content"][0]["text"]
        return text if self.is_error and self.envelope_name == "plain" else json.loads(text)

    @property
    def data(self) -> Any:
        data = self.envelope if self.envelope_name == "plain" else self.envelope["data"]
        return data["result"] if self.of_program and "result" in data else read_rows(data)

    @property
    def soft_failure_data(self) -> Any:
        """The data of a soft failure."""
        return self.data["data"] if self.envelope_name == "plain" else self.data

    @property
    def code(self) -> str | None:
        """The error code, None if the envelope has other codes or none."""
        return str(self.data["error_code"]) if self.envelope_name == "v2" else None

    @property
    def meta(self) -> Mapping[str, Any] | None:
        """The metadata of the envelope, None if it has none."""
        name = {"v2": "meta", "ok": "meta", "status": "metadata"}.get(self.envelope_name)
        return None if name is None or self.of_program else self.envelope[name]

    @property
    def words(self) -> str:
        """All texts of the result, decoded from JSON."""
        return " ".join(find_texts([self.envelope, self.raw.get("structuredContent")]))

    def assert_equals_response(self, response: Any, *, pages: bool = False) -> None:
        """Compare verdict and data with those of an HTTP response.

        Args:
            pages: whether the paginator of the view is known.
        """
        status = response.status_code
        assert self.is_error is (status >= 400), (status, self.raw)
        if status >= 400:
            code = self.code
            assert code is None or code in CODES[status], (status, self.raw)
        elif response.content:
            body = json.loads(response.content)
            body = Omission(["hours"]).leave_out(body) if self.omits else body
            if pages and (self.of_program or self.envelope_name == "ok"):
                body = body["results"]
            elif pages and self.envelope_name != "plain":
                body = {name: value for name, value in body.items() if name not in PAGE_MEMBERS}
            wraps = isinstance(body, list) and self.envelope_name in ("v2", "status")
            wraps = wraps and not self.of_program
            assert self.data == ({"results": body} if wraps else body)


def find_next_tools(value: Any) -> Iterator[str]:
    """Yield the tools that an answer names in ``next``."""
    for name, member in value.items() if isinstance(value, dict) else ():
        steps = member if isinstance(member, list) else [member]
        if name == "next":
            yield from (step["tool"] for step in steps if step and "tool" in step)
        yield from find_next_tools(member)


def find_texts(value: Any) -> Iterator[str]:
    if isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from find_texts(member)
    elif isinstance(value, str):
        yield value


class ServedCase:
    """Serves a case, and calls its tools."""

    def __init__(self, case: Case, patch: Any, settings: Any) -> None:
        self.case = case
        self.user = User.objects.get(username=USERS[case["caller"]])
        self.sent = 0
        self.patch = patch
        self.doors = Doors(self)
        Counted.calls = 0
        self.fill_notes()
        self.kind = Notes.of(case)
        # The rules app, which other tests leave out, applies to the calls of these tests.
        patch.setattr(
            apps.get_app_config("drf_mcp_rules"), "mcp_features", RulesConfig.mcp_features
        )
        features.forget()
        self.serve(settings)
        if self.is_on("atomic"):
            patch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
        if self.is_on("approval"):
            members = {"effect": "approve", "reason": "People look at it."}
            for method in ("PATCH", "DELETE"):
                CallRule.objects.create(name=method, tool=f"{method} *", **members)

    def is_on(self, feature: str) -> bool:
        return self.case[feature] != OFF

    def fill_notes(self) -> None:
        """Give each user some notes, each with a unique mark."""
        customer = Customer.objects.earliest("pk")
        Ticket.objects.all().delete()
        users = [User.objects.get(username=name) for name in ("alice", "bob", "carol")]
        notes = Ticket.objects.bulk_create(
            Ticket(customer=customer, opened_by=users[number % 3], body=LONG_TEXT)
            for number in range(30)
        )
        for note in notes:
            note.subject = f"note<{note.pk}>"
        Ticket.objects.bulk_update(notes, ["subject"])

    # --- The endpoint --------------------------------------------------------------------------

    @property
    def endpoint(self) -> str:
        return "/crossing/desk/mcp" if self.is_on("toolset") else "/crossing/mcp"

    def serve(self, settings: Any) -> None:
        patterns = [path("", include("drf_mcp.urls")), *self.kind.urls]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": patterns})
        settings.NOTES_ANSWER = self.case["answer"]
        settings.DRF_MCP = self.make_settings()
        if self.is_on("middleware"):
            settings.MIDDLEWARE = [*settings.MIDDLEWARE, STAMP]
        if self.is_on("language"):
            settings.MIDDLEWARE = [*settings.MIDDLEWARE, LOCALES]
        if self.is_on("own errors"):
            own = "tests.crossings.views.answer_error"
            settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "EXCEPTION_HANDLER": own}
        registry.reload()
        endpoint = MCPView.as_view(
            envelope_class=ENVELOPES[self.case["envelope"]],
            tool_search=self.is_on("search"),
            compose="writes" if self.is_on("program") else False,
            tool_options=self.make_options(),
            throttle_classes=[Counted] if self.is_on("throttle") else [],
        )
        routes = [path("crossing/mcp", endpoint), path("crossing/<toolset>/mcp", endpoint)]
        settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": [*patterns, *routes]})
        registry.reload()

    def make_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.is_on("if_match"):
            options["if_match"] = "subject"
        if self.is_on("several"):
            options["bulk"] = True if self.case["several"] == ON else "partial"
        if self.is_on("tasks"):
            options["task"] = "optional"
        if self.is_on("dry run"):
            options["dry_run"] = True
        if self.is_on("resources"):
            options["resource"] = True
        if self.is_on("tabular"):
            options["tabular"] = True
        if self.is_on("hidden"):
            customer = self.kind.kwargs.get("customer_pk")
            options |= {"omit": ["hours"], "hidden": dict(self.kind.query)}
            options["hidden"] |= {"customer_pk": lambda request: customer} if customer else {}
        if self.case["over budget"] == "by endpoint":
            options["max_result_tokens"] = SMALL
        return options

    def make_settings(self) -> dict[str, Any]:
        return {
            "EXPOSE": "urlconf",
            "INCLUDE": ["*"],
            "SERVER_NAME": "shop",
            "AUTHENTICATION_CLASSES": AUTHENTICATION,
            "CONFIRM": self.is_on("confirmation"),
            "IDEMPOTENCY_KEYS": self.is_on("idempotency"),
            "TOOLSETS": {"desk": ["*/notes/*", "*/notes/"]},
            "CALL_MIDDLEWARE": [STAMP] if self.is_on("middleware") else [],
            "TASKS_BACKEND": "background" if self.is_on("tasks") else None,
            "TIME_LIMIT": 60 if self.is_on("time limit") else None,
            "MAX_RESULT_TOKENS": {OFF: None, ON: SMALL}.get(self.case["over budget"], 10_000),
            "INTENT": "optional" if self.is_on("intent") else None,
            "OUTPUT_SCHEMA": "full" if self.is_on("output schema") else None,
            **({"MAX_KEYS": 2, "MAX_PROPOSALS": 2} if self.is_on("bounds") else {}),
        }

    # --- Callers -------------------------------------------------------------------------------

    @cached_property
    def header(self) -> str | None:
        if self.case["caller"] not in ("narrowed", "blind"):
            return f"Token {Token.objects.get_or_create(user=self.user)[0].key}"
        closed = self.find_tool("DELETE" if self.case["caller"] == "narrowed" else "GET", one=True)
        kept = [name for name in registry.tools() if name != closed.name]
        token = AgentToken(user=self.user, name="Agent", tools=kept)
        key = token.issue()
        token.save()
        return f"Bearer {key}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of each request by an agent over HTTP."""
        headers = {}
        if self.case["language"] == "of the client":
            headers["Accept-Language"] = "de"
        if self.case["versioning"] == "header":
            headers[VERSION_HEADER] = "v2"
        return headers

    @cached_property
    def http(self) -> APIClient:
        key = Token.objects.get_or_create(user=self.user)[0].key
        headers = {"authorization": f"Token {key}", "accept": ACCEPT}
        if self.is_on("language"):
            headers["accept-language"] = "de"
        # Stdio and in-process calls have no headers.
        if self.case["versioning"] == "header" and self.case["door"] not in ("stdio", "in process"):
            headers[VERSION_HEADER] = "v2"
        # The doors in this process use localhost as the host.
        is_local = self.case["door"] in ("stdio", "in process")
        return APIClient(headers=headers, SERVER_NAME="localhost" if is_local else "testserver")

    # --- Requests ------------------------------------------------------------------------------

    def over_http(self, method: str, pk: int | None = None, body: Any = None) -> Any:
        path = self.kind.every if pk is None else self.kind.one
        path = path.format(pk=pk, **self.kind.kwargs)
        path += "?" + urlencode(self.kind.query) if self.kind.query else ""
        if body is None:
            return self.http.generic(method, path)
        body, send = self.write_names(body), getattr(self.http, method.lower())
        if self.case["parser"] == "form":
            return send(path, urlencode(body), content_type=FORM)
        if self.case["parser"] == "JSON":
            return send(path, body, format="json")
        if "text_file" in body:
            text = body["text_file"].encode()
            body = {**body, "text_file": SimpleUploadedFile("note.txt", text, "text/plain")}
        return send(path, body, format="multipart")

    def write_names(self, note: Mapping[str, Any]) -> dict[str, Any]:
        """Return a note with the field names that the view's parser expects."""
        note = dict(note)
        if self.case["parser"] == "files" and "note_text" in note:
            note["text_file"] = note.pop("note_text")
        if (self.case["renderer"], self.case["parser"]) == ("camel case", "JSON"):
            note = {"noteText" if name == "note_text" else name: v for name, v in note.items()}
        return note

    def write_arguments(self, note: Mapping[str, Any]) -> dict[str, Any]:
        note = self.write_names(note)
        if "text_file" in note:
            text = base64.b64encode(note["text_file"].encode()).decode()
            note["text_file"] = f"data:text/plain;name=note.txt;base64,{text}"
        return note

    def find_tool(self, method: str, *, one: bool = False) -> Any:
        path = self.kind.one if one else self.kind.every
        return next(
            tool
            for tool in registry.tools().values()
            if (tool.endpoint.method, tool.endpoint.route.path) == (method, path)
        )

    def call(self, method: str, pk: int | None = None, /, **arguments: Any) -> Reply:
        """Call the tool of a method, for all notes or for one."""
        tool = self.find_tool(method, one=pk is not None)
        names = self.describe(tool)
        guards = {name: arguments.pop(name) for name in list(arguments) if name in GUARDS}
        if "items" in arguments:
            body = {"items": [self.write_arguments(each) for each in arguments["items"]]}
        else:
            body = self.write_arguments(arguments)
            # A body without a serializer is one argument.
            if body and "body" in names and "subject" not in names:
                body = {"body": body}
        key = {} if pk is None else {"id" if "id" in names else "pk": pk}
        reads = method == "GET"
        return self.call_tool(tool.name, {**self.where, **key, **body, **guards}, reads=reads)

    @property
    def where(self) -> dict[str, Any]:
        """The arguments of the path and the query that each call sends."""
        hidden = self.make_options().get("hidden", ())
        every = {**self.kind.kwargs, **self.kind.query}
        return {name: value for name, value in every.items() if name not in hidden}

    def describe(self, tool: Any) -> Mapping[str, Any]:
        """Return the schemas of a tool's arguments at the endpoint."""
        options = LocalEndpoint(self.endpoint).make_server().tool_options
        properties: Mapping[str, Any] = registry.tool(tool.name, None, options).arguments.schema[
            "properties"
        ]
        return properties

    def call_tool(self, name: str, arguments: Mapping[str, Any], *, reads: bool) -> Reply:
        # The tools of the package have no intent, and neither have calls of programs.
        if self.is_on("intent") and not self.is_on("program") and name != "content_retrieve":
            arguments = {**arguments, "intent": f"It was asked for {self.sent} times."}
        if self.is_on("search"):
            arguments = {"name": name, "arguments": arguments}
            name = "tools_read" if reads else "tools_write"
        if self.is_on("program"):
            return self.compose({"program": f"{name}(**{dict(arguments)!r})"})
        reply = self.make_reply(self.send_call(name, arguments))
        # The tools in `next` are tools of the caller.
        assert set(find_next_tools(reply.raw.get("structuredContent"))) <= self.listed, reply.raw
        return reply

    @cached_property
    def listed(self) -> set[str]:
        """The names of the tools in the caller's list."""
        listed = self.doors.send("tools/list", {}, self.header)
        return {tool["name"] for tool in listed["tools"]}

    def compose(self, arguments: Mapping[str, Any]) -> Reply:
        """Run a program, or resume one."""
        # The call in the program counts for throttles too.
        self.sent += 1
        message = self.send_call("tools_compose", arguments)
        return self.make_reply(message, of_program=True)

    def omit(self, body: Any) -> Any:
        return Omission(["hours"]).leave_out(body) if self.is_on("hidden") else body

    def make_reply(self, message: Mapping[str, Any], **known: Any) -> Reply:
        reply = Reply(message, self.case["envelope"], omits=self.is_on("hidden"), **known)
        assert not (reply.omits and "hours" in reply.text)
        return reply

    def send_call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.send("tools/call", {"name": name, "arguments": arguments})

    def send(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sent += 1
        if self.case["over budget"] == "by client":
            params = {**params, "_meta": {CLIENT_LIMIT_KEY: SMALL}}
        return self.doors.send(method, params, self.header)

    def read_resource(self, pk: int | None = None) -> str:
        """Return the text of the resource of all notes, or of one."""
        path = self.kind.every if pk is None else self.kind.one
        uri = "shop:/" + path.format(pk=pk, **self.kind.kwargs).rstrip("/")
        uri += "?" + urlencode(self.kind.query) if self.kind.query else ""
        text: str = self.send("resources/read", {"uri": uri})["contents"][0]["text"]
        return text

    def approve(self, call: Callable[[], Reply]) -> Reply:
        """Make a call that needs approval, approve it unless it is refused, return its reply."""
        store, before = ProposalStore(), get_notes()
        refused = call()
        assert get_notes() == before
        row = Proposal.objects.filter(status="waiting").first()
        if row is None:
            return refused
        row = store.approve(row, User.objects.get(username="admin"), row.fingerprint)
        if row.request is None:
            # The caller has no stored credential, so the caller makes the call again.
            reply = call()
            row.refresh_from_db()
            assert row.status in ("done", "failed"), row.status
            return reply
        self.sent += 1
        run_proposal(row.pk)
        row.refresh_from_db()
        assert row.status in ("done", "failed"), (row.status, row.answer)
        return self.make_reply(row.answer["result"])


def get_notes() -> list[tuple[Any, ...]]:
    return list(Ticket.objects.order_by("pk").values_list("pk", "subject", "body", "priority"))


def rolled_back(send: Callable[[], Any]) -> tuple[Any, Any]:
    """Return an answer and the notes after it, and roll back its writes."""
    cache.clear()
    with transaction.atomic():
        answer = send()
        notes = get_notes()
        transaction.set_rollback(True)
    return answer, notes
