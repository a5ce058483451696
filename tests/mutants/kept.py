"""Lines that guard access, money or data, each with the change that must turn a test red.

A mutant is caught by the tests that stand nearest to its line; see ``python -m tests.mutants``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of one line.

    Attributes:
        guards: what the line holds, which names the mutant.
        path: the module, below ``drf_mcp``.
        old: the text as it is, which the module has once.
        new: the text that stands there in its place.
        tests: the nearest tests, below ``tests``, one of which must fail.
    """

    guards: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTANTS = (
    # --- Who is calling ------------------------------------------------------------------------
    Mutant(
        "401 before anything that guards say",
        "dispatch/dispatcher.py",
        "        caller.authenticate()\n        # What a credential takes away",
        "        # What a credential takes away",
        ("dispatch/test_strangers.py",),
    ),
    Mutant(
        "a caller whom the view's authentication refuses is refused at the door",
        "dispatch/dispatcher.py",
        "            raise caller.refusal\n        caller.auth",
        "            pass\n        caller.auth",
        ("parity/test_introductions.py", "server/test_door.py"),
    ),
    Mutant(
        "401 before what is wrong with a message",
        "server.py",
        "                caller.authenticate()\n                return exc",
        "                return exc",
        ("server/test_door.py",),
    ),
    Mutant(
        "the endpoint's permissions",
        "access/authentication.py",
        "            if permission.has_permission(request, self.view):\n                continue",
        "            continue",
        ("access/test_sign_in.py", "server/test_door.py"),
    ),
    Mutant(
        "users who are not active",
        "access/authentication.py",
        "        if is_gone(request.user):",
        "        if False:",
        ("access/test_gone_users.py",),
    ),
    Mutant(
        "the audience of a token, at the endpoint",
        "access/authentication.py",
        "if allows_audience and self.endpoint and not allows_audience(self.endpoint.uri):",
        "if False:",
        ("access/test_jwt.py",),
    ),
    Mutant(
        "the audience of a JWT, compared whole",
        "access/jwt.py",
        'if f"{place.path}/".startswith(above):',
        "if place.path.startswith(parts.path):",
        ("access/test_jwt.py",),
    ),
    Mutant(
        "claims that a JWT must have, its end among them",
        "access/jwt.py",
        'options={"require": REQUIRED_CLAIMS},',
        "options={},",
        ("access/test_jwt.py",),
    ),
    Mutant(
        "the endpoint's scopes",
        "access/authentication.py",
        "if scopes and get_granted_scopes(auth) is not None and not has_scopes(auth, scopes):",
        "if False:",
        ("access/test_scopes.py",),
    ),
    Mutant(
        "the tenant in the memory of lists",
        "access/visibility_cache.py",
        "        get_tenant_key(request),\n",
        "",
        ("access/test_visibility_cache.py",),
    ),
    Mutant(
        "the credential in the memory of lists",
        "access/visibility_cache.py",
        'hashlib.sha256(credential.encode()).digest() if len(credential) > 1 else b"",',
        'b"",',
        ("access/test_visibility_cache.py",),
    ),
    Mutant(
        "the tenant of who owns what is stored",
        "access/principals.py",
        'return f"{tenant}/{key}" if tenant else key',
        "return key",
        ("access/test_principals.py",),
    ),
    # --- The door ------------------------------------------------------------------------------
    Mutant(
        "pages of other origins",
        "access/origins.py",
        "if unnamed or (origin is not None and not admits(origin, request)):",
        "if unnamed:",
        ("server/test_origins.py",),
    ),
    Mutant(
        "the scheme and the port of an origin",
        "access/origins.py",
        'place == read_origin(f"{request.scheme}://{request.get_host()}")',
        "True",
        ("server/test_origins.py",),
    ),
    Mutant(
        "requests that a browser calls cross-site",
        "access/origins.py",
        'crosses = request.method == "POST" and site not in OWN_SITES',
        "crosses = False",
        ("server/test_origins.py", "parity/test_sessions.py"),
    ),
    Mutant(
        "forms of other pages, which send no JSON",
        "access/origins.py",
        'if request.method == "POST" and request.content_type != JSON:',
        "if False:",
        ("parity/test_sessions.py", "server/test_door.py"),
    ),
    Mutant(
        "bodies that are longer than they may be",
        "transports/http.py",
        "    if len(body) > limit:",
        "    if False:",
        ("server/test_chunked_bodies.py", "server/test_door.py"),
    ),
    Mutant(
        "one reading of JSON, without repeated names",
        "protocol/jsonrpc.py",
        "            if name in members:",
        "            if False:",
        ("protocol/test_jsonrpc.py",),
    ),
    Mutant(
        "the number of messages in a batch",
        "protocol/jsonrpc.py",
        "        if len(value) > max_batch:",
        "        if False:",
        ("server/test_batches.py",),
    ),
    Mutant(
        "headers that contradict the message",
        "protocol/headers.py",
        "    elif value != expected:",
        "    elif False:",
        ("protocol/test_headers.py", "protocol/test_eras.py"),
    ),
    # --- What a caller may call ----------------------------------------------------------------
    Mutant(
        "tools that write, where only reading is left",
        "access/narrowing.py",
        "        return self.read_only and not tool.reads",
        "        return False",
        ("dispatch/narrowing/test_narrowing.py",),
    ),
    Mutant(
        "patterns of what is left",
        "access/narrowing.py",
        "tool.endpoint.is_built_in or tool.matches(self.tools)",
        "True",
        ("dispatch/narrowing/test_narrowing.py",),
    ),
    Mutant(
        "the narrowing of a credential",
        "access/authentication.py",
        "            self.narrowings += tuple(get_own_narrowings(request))",
        "            pass",
        ("dispatch/narrowing/test_narrowing.py",),
    ),
    Mutant(
        "arguments that lead to another route",
        "tools/routes.py",
        "if match.func is not self.callback or match.route != self.match_route:",
        "if False:",
        ("parity/test_path_values.py::test_a_value_that_an_earlier_route_takes_reaches_neither",),
    ),
    Mutant(
        "arguments that change what the path names",
        "tools/routes.py",
        "return match if captured == expected else None",
        "return match",
        (
            "parity/test_path_values.py::test_a_value_that_spills_into_the_next_argument_reaches_nothing",
        ),
    ),
    Mutant(
        "names of arguments that are unknown",
        "tools/arguments/errors.py",
        "for name in arguments if name not in taken",
        "for name in ()",
        ("tools/test_refusals.py",),
    ),
    Mutant(
        "tools that write, run as one that reads",
        "contrib/search/tool_search.py",
        "if tool is None or tool.reads != (runner.name == READ):",
        "if tool is None:",
        ("contrib/search/test_runs.py",),
    ),
    Mutant(
        "resources that the caller may not read",
        "contrib/resources/reading.py",
        "HIDDEN = frozenset({Category.NOT_FOUND, Category.AUTHORIZATION, Category.AUTHENTICATION})",
        "HIDDEN = frozenset({Category.NOT_FOUND})",
        ("contrib/resources/test_reading.py",),
    ),
    Mutant(
        "comparing users on the page",
        "browsable/comparison.py",
        '            and getattr(user, "is_superuser", False)\n',
        "",
        ("browsable/test_comparison.py",),
    ),
    # --- Tokens --------------------------------------------------------------------------------
    Mutant(
        "the secret of a token",
        "contrib/tokens/models.py",
        "return token if token and constant_time_compare(token.digest, digest) else None",
        "return token",
        ("contrib/tokens/test_authentication.py",),
    ),
    Mutant(
        "tokens that were revoked",
        "contrib/tokens/models.py",
        "        if self.revoked is not None:\n            return",
        "        if False:\n            return",
        ("contrib/tokens/test_authentication.py",),
    ),
    Mutant(
        "the networks of a token",
        "contrib/tokens/models.py",
        "if address is not None and self.networks and not self.is_within(address):",
        "if False:",
        ("contrib/tokens/test_authentication.py",),
    ),
    Mutant(
        "tokens for tools at the plain API",
        "contrib/tokens/authentication.py",
        "        if not self.is_for_tools(request):",
        "        if False:",
        ("contrib/tokens/test_authentication.py",),
    ),
    Mutant(
        "OAuth tokens for tools at the plain API",
        "contrib/oauth/backends.py",
        "if not is_for_endpoint(called) and not opens_address(called, found.access_token):",
        "if False:",
        ("contrib/oauth/test_audiences.py",),
    ),
    Mutant(
        "codes that are sent without TLS",
        "contrib/oauth/validators.py",
        'if parts.scheme == "http" and parts.hostname not in LOOPBACK:',
        "if False:",
        ("contrib/oauth/test_clients.py", "contrib/oauth/test_consent.py"),
    ),
    Mutant(
        "clients that registered themselves, without a person",
        "contrib/oauth/validators.py",
        "if request.client.registration_source != manual and grant_type not in OWN_GRANTS:",
        "if False:",
        ("contrib/oauth/test_clients.py",),
    ),
    Mutant(
        "access tokens and no others",
        "access/jwt.py",
        "if kind not in map(str.lower, read_names(self.token_types)):",
        "if False:",
        ("access/test_jwt.py",),
    ),
    Mutant(
        "refreshing tokens of users who are gone",
        "contrib/oauth/validators.py",
        "return bool(is_good) and not is_gone(request.user)",
        "return bool(is_good)",
        ("contrib/oauth/test_gone_users.py",),
    ),
    Mutant(
        "documents are read for people alone",
        "contrib/oauth/documents.py",
        "if person is None or not ReadingRate().has_room:",
        "if False:",
        ("contrib/oauth/test_slow_documents.py",),
    ),
    # --- Writes --------------------------------------------------------------------------------
    Mutant(
        "a confirmation that was given to another caller",
        "contrib/writes/confirmation.py",
        "FOREIGN: shorten_hash(call.caller.principal),",
        'FOREIGN: shorten_hash(""),',
        ("contrib/writes/confirmation/test_tokens.py",),
    ),
    Mutant(
        "a confirmation of other arguments",
        "contrib/writes/confirmation.py",
        "ARGUMENTS: shorten_hash(hash_json(self.arguments)),",
        'ARGUMENTS: shorten_hash(""),',
        ("contrib/writes/confirmation/test_tokens.py",),
    ),
    Mutant(
        "a confirmation of another state",
        "contrib/writes/confirmation.py",
        "CHANGED: shorten_hash(preview.state),",
        'CHANGED: shorten_hash(""),',
        ("contrib/writes/confirmation/test_tokens.py",),
    ),
    Mutant(
        "a confirmation that was used",
        "contrib/writes/confirmation.py",
        '("" if self.claim(max_age) else USED)',
        '""',
        ("contrib/writes/confirmation/test_tokens.py",),
    ),
    Mutant(
        "a dry run is taken back",
        "dispatch/approach.py",
        "            stack.callback(transaction.set_rollback, True, using=alias)\n",
        "",
        ("contrib/writes/dry_run/test_transactions.py",),
    ),
    Mutant(
        "a dry run writes to no database that is not rolled back",
        "contrib/writes/dry_run.py",
        "        if connection.alias not in self.aliases:",
        "        if False:",
        ("contrib/writes/dry_run/test_transactions.py",),
    ),
    Mutant(
        "whose key names a change",
        "contrib/writes/idempotency/records.py",
        "[self.owner, self.key or",
        '["", self.key or',
        ("contrib/writes/idempotency/test_calls.py",),
    ),
    Mutant(
        "a key that comes with other arguments",
        "contrib/writes/idempotency/records.py",
        "        both = row.arguments.items() ^ self.arguments.items()",
        "        both = ()",
        ("contrib/writes/idempotency/test_calls.py",),
    ),
    Mutant(
        "a key that comes with another tool",
        "contrib/writes/idempotency/records.py",
        "        if row.operation != self.operation:",
        "        if False:",
        ("contrib/writes/idempotency/test_calls.py",),
    ),
    Mutant(
        "a write to what has changed since",
        "contrib/writes/preconditions.py",
        "if row is None or precondition.matches(sent, row):",
        "if True:",
        ("contrib/writes/stale/test_versions.py",),
    ),
    Mutant(
        "permissions before arguments",
        "dispatch/failures.py",
        "if refused := self.find_permission_refusal(call):",
        "if refused := None:",
        ("dispatch/test_permissions_first.py",),
    ),
    # --- Questions to views --------------------------------------------------------------------
    Mutant(
        "lists whose own handler withholds rows",
        "dispatch/shown_rows.py",
        "    return not find_obstacle(endpoint)",
        "    return True",
        ("dispatch/shown_rows/test_shown_rows.py",),
    ),
    Mutant(
        "filters of a list whose rows are counted",
        "dispatch/shown_rows.py",
        "    rows = view.filter_queryset(view.get_queryset())",
        "    rows = view.get_queryset()",
        ("dispatch/test_probe.py", "dispatch/shown_rows/test_shown_rows.py"),
    ),
    Mutant(
        "rows of prompts are those of the caller's list",
        "contrib/prompts/capability.py",
        "                field.queryset = self.find_rows(field.queryset, arguments)",
        "                pass",
        ("dispatch/shown_rows/test_shown_rows.py",),
    ),
    Mutant(
        "questions go through the middleware of calls",
        "dispatch/approach.py",
        "            if middleware is None:",
        "            if True:",
        ("dispatch/test_probe.py",),
    ),
    Mutant(
        "questions write nothing",
        "dispatch/approach.py",
        "return nullcontext() if self.keeps_locks else undoing",
        "return nullcontext() if True else undoing",
        ("dispatch/test_questions_write_nothing.py",),
    ),
    Mutant(
        "questions run no handler that writes",
        "dispatch/probe.py",
        "        if self.endpoint.method not in SAFE_METHODS:",
        "        if False:",
        ("dispatch/test_probe.py",),
    ),
    # --- What is kept for a caller -------------------------------------------------------------
    Mutant(
        "whose archived content it is",
        "archive/stores.py",
        'return self.owner in ("", owner)',
        "return True",
        ("archive/test_stores.py", "archive/test_readable_rows.py"),
    ),
    Mutant(
        "archived content of tools that were taken away",
        "archive/retrieval.py",
        "if tool is None or caller.find_narrowing(tool) is not None:",
        "if tool is None:",
        ("contrib/writes/test_doors.py",),
    ),
    Mutant(
        "rights that an answer was made under",
        "dispatch/stored_answers.py",
        'if finding.rights != terms.get("rights"):',
        "if False:",
        ("archive/test_rights.py",),
    ),
    Mutant(
        "archived rows that the caller may not read any more",
        "dispatch/stored_answers.py",
        "        return frozenset(keys - finding.keys)",
        "        return frozenset()",
        ("archive/test_readable_rows.py",),
    ),
    Mutant(
        "the flags of a user among the rights",
        "access/principals.py",
        '"flags": [bool(getattr(user, name, False)) for name in USER_FLAGS],',
        '"flags": [],',
        ("archive/test_rights.py",),
    ),
    Mutant(
        "what is promised stays when there is no room",
        "archive/database.py",
        'if usage["count"] >= self.max_entries or size > self.max_size:',
        "if False:",
        ("archive/test_database.py",),
    ),
    Mutant(
        "replays under other rights",
        "contrib/writes/idempotency/guard.py",
        "if call.dispatcher.get_stored_answer(call).find_rights() != rights:",
        "if False:",
        ("contrib/writes/idempotency/test_calls.py",),
    ),
    Mutant(
        "results of tasks under other rights",
        "contrib/tasks/capability.py",
        "if row.status != COMPLETED or self.may_read(row, tool, context):",
        "if True:",
        ("contrib/tasks/test_callers.py",),
    ),
    Mutant(
        "results of tools that were taken away",
        "contrib/tasks/capability.py",
        "return None if narrowed else tool",
        "return tool",
        ("contrib/tasks/test_callers.py",),
    ),
    Mutant(
        "objects of a bulk call, in the state that was confirmed",
        "contrib/writes/previewer.py",
        "state=hash_json(states)",
        'state=""',
        ("contrib/writes/confirmation/test_labels.py",),
    ),
    Mutant(
        "quotation marks around texts of rows",
        "dispatch/labels.py",
        'return json.dumps(f"{cut}…" if len(text) > LONGEST_TEXT else cut, ensure_ascii=False)',
        "return cut",
        ("contrib/writes/confirmation/test_labels.py",),
    ),
    # --- Limits --------------------------------------------------------------------------------
    Mutant(
        "arguments for which no URL has room",
        "tools/arguments/base.py",
        "        if length > mcp_settings.MAX_QUERY_LENGTH:",
        "        if False:",
        ("tools/test_long_urls.py",),
    ),
    Mutant(
        "the endpoint's throttles",
        "dispatch/guards.py",
        "        if waits:",
        "        if False:",
        ("dispatch/test_limits.py",),
    ),
    Mutant(
        "the time of a call",
        "dispatch/guards.py",
        "if not self.left and str(sql)",
        "if False and str(sql)",
        ("dispatch/test_limits.py",),
    ),
    Mutant(
        "no call without its record",
        "contrib/audit/recording.py",
        "            raise CallRefused(exc) from exc\n        return proceed(call)",
        "            pass\n        return proceed(call)",
        ("contrib/audit/test_strict.py",),
    ),
    Mutant(
        "records of calls, at the end of the process",
        "contrib/audit/batches.py",
        "    for batch in [*batches]:\n        batch.flush()",
        "    for batch in [*batches]:\n        pass",
        ("contrib/audit/test_batches.py",),
    ),
    Mutant(
        "records of calls that the database cannot take now",
        "contrib/audit/auditor.py",
        "                return records",
        "                return ()",
        ("contrib/audit/test_batches.py",),
    ),
    Mutant(
        "the length of a result",
        "truncation/budget.py",
        "return limit is not None and not is_within(text, limit - VARIANCE, count)",
        "return False",
        ("truncation/test_budget.py",),
    ),
    Mutant(
        "how many tasks a caller has",
        "contrib/tasks/ledger.py",
        "        if unfinished >= self.max_unfinished:",
        "        if False:",
        ("contrib/tasks/test_quota.py",),
    ),
    Mutant(
        "how many streams a caller has",
        "contrib/subscriptions/listening.py",
        "            if self.taken[owner] >= most:",
        "            if False:",
        ("contrib/subscriptions/test_places.py",),
    ),
    Mutant(
        "writes of the package, which reading for a client makes",
        "contrib/subscriptions/bus.py",
        'if kwargs.get("raw") or OWN_APP.match(sender._meta.app_label):',
        'if kwargs.get("raw"):',
        ("contrib/subscriptions/test_notices.py",),
    ),
    Mutant(
        "news of what a client may not read",
        "contrib/subscriptions/listening.py",
        "elif self.capability.is_readable(subject, self.context) or is_deleted:",
        "else:",
        ("contrib/subscriptions/test_listening.py",),
    ),
    Mutant(
        "how many changes are remembered for a caller",
        "contrib/writes/idempotency/records.py",
        'if usage["count"] < MAX_RECORDS and (usage["size"] or 0) < MAX_SIZE:',
        "if True:",
        ("contrib/writes/idempotency/test_quota.py",),
    ),
    # --- What is said --------------------------------------------------------------------------
    Mutant(
        "the mark of a failure",
        "tools/results.py",
        '            result["isError"] = True',
        "            pass",
        ("server/test_results.py", "envelopes/test_golden.py"),
    ),
    Mutant(
        "secrets among the arguments",
        "tools/arguments/masking.py",
        "return MASK if sounds_secret(name) else mask_secrets(value)",
        "return mask_secrets(value)",
        ("tools/test_refusals.py", "observability/test_log.py"),
    ),
    Mutant(
        "tasks of other callers",
        "contrib/tasks/ledger.py",
        "self.rows.filter(expires__gt=django_timezone.now(), owner=owner)",
        "self.rows.filter(expires__gt=django_timezone.now())",
        ("contrib/tasks/test_callers.py",),
    ),
)
