"""Lines that guard access, money or data, each with a change that must make a test fail.

``python -m tests.mutants`` applies each change and runs the nearest tests. A function is named as
Python qualifies it, and found in whichever module of the package has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutants.changes import Change, always, drop, drop_call, never, rename, returns


@dataclass(frozen=True, init=False)
class Mutant:
    """A change of one function.

    Attributes:
        tests: the nearest tests, relative to ``tests``; one of them must fail.
    """

    function: str
    change: Change
    tests: tuple[str, ...]

    def __init__(self, function: str, change: Change, *tests: str) -> None:
        vars(self).update(function=function, change=change, tests=tests)

    def __str__(self) -> str:
        return f"{self.function} {self.change.name}"


ENDPOINT = "server/test_endpoint.py"
NARROWING = "dispatch/narrowing/test_narrowing.py"
PROPOSALS = "contrib/rules/test_proposals.py"
PATHS = "parity/test_path_values.py"
KEYS = "contrib/writes/idempotency/test_calls.py"
CONFIRMED = "contrib/writes/confirmation/test_tokens.py"
CLIENTS = "contrib/oauth/test_clients.py"
TOKENS = "contrib/tokens/test_authentication.py"
PROGRAMS = "contrib/compose/test_guards.py"
NAMED = "contrib/compose/test_named.py"

MUTANTS = (
    # Who is calling: 401 first, the endpoint's permissions, tokens, scopes and tenants.
    Mutant("Dispatcher.answer", drop_call("authenticate"), "dispatch/test_strangers.py"),
    Mutant("Server.get_error", drop_call("authenticate"), ENDPOINT),
    Mutant("Caller._ask_permissions", never(1), "access/test_gone_users.py"),
    Mutant("Caller._ask_permissions", never(2), "access/test_jwt.py"),
    Mutant("Caller._ask_permissions", never(5), "access/test_scopes.py"),
    Mutant("Caller._ask_permissions", always(6), "access/test_sign_in.py", ENDPOINT),
    Mutant("Caller._ask_permissions", drop_call("find_own_narrowings"), NARROWING),
    Mutant("AccessToken.allows_audience", always(2), "access/test_jwt.py"),
    Mutant("JWTAuthentication.get_claims", drop("options"), "access/test_jwt.py"),
    Mutant("JWTAuthentication.get_claims", never(1), "access/test_jwt.py"),
    Mutant("find_principal", never(2), "access/test_principals.py"),
    Mutant("AgentTokenQuerySet.find", always(2, 2), TOKENS),
    Mutant("AgentToken.find_fault", never(1), TOKENS),
    Mutant("AgentToken.find_fault", never(4), TOKENS),
    Mutant("AgentTokenAuthentication.authenticate", never(2), TOKENS),
    Mutant("OAuthServer.admit", never(3), "contrib/oauth/test_audiences.py"),
    Mutant("OAuthServer.admit", never(2), "contrib/oauth/test_service_clients.py"),
    Mutant("ToolkitServer.admit", never(1), CLIENTS),
    Mutant("AgentValidator.validate_redirect_uri", always(1, 2), "contrib/oauth/test_consent.py"),
    Mutant("AgentValidator.validate_grant_type", never(1), CLIENTS),
    Mutant(
        "AgentValidator.validate_refresh_token", always(3, 2), "contrib/oauth/test_gone_users.py"
    ),
    Mutant("AgentValidator.validate_refresh_token", never(2), "contrib/oauth/test_read_only.py"),
    Mutant("Session.find", never(3), "contrib/asking/test_sessions.py"),
    Mutant("Session._find_unanswered", drop("session"), "contrib/asking/test_handshake.py"),
    # The door.
    Mutant("check_origin", never(1), "server/test_origins.py"),
    Mutant("admits", always(7, 2), "server/test_origins.py"),
    Mutant("check_media_type", never(1), "parity/test_sessions.py", ENDPOINT),
    Mutant("read_body", never(3), "server/test_chunked_bodies.py", ENDPOINT),
    Mutant("StrictDecoder._make_object", never(1), "protocol/test_jsonrpc.py"),
    Mutant("_compare_header", never(1), "protocol/test_headers.py", "protocol/test_eras.py"),
    # What may be called, and with what.
    Mutant("Narrowing._hides_writing", returns("False"), NARROWING),
    Mutant("Narrowing.allows", always(2, 3), NARROWING),
    Mutant("FailureOutcomes.find_permission_refusal", drop_call("authenticate"), NARROWING),
    Mutant("FailureOutcomes.refuse_arguments", never(1), "dispatch/test_permissions_first.py"),
    Mutant("Route.match", never(1), PATHS),
    Mutant("Route.match", always(4), PATHS),
    Mutant("KnownNames.check", returns("[]"), "tools/test_refusals.py"),
    Mutant("ToolSearch.redirect", never(3, 2), "contrib/search/test_runs.py"),
    Mutant("ThrottleGuard.__call__", never(2), "dispatch/test_limits.py"),
    Mutant("Deadline.__call__", never(1), "dispatch/test_limits.py"),
    Mutant("Held.take", drop_call("refuse_beyond"), "access/test_limits.py"),
    Mutant("TaskStore.check_bounds", drop_call("refuse_beyond"), "contrib/tasks/test_quota.py"),
    # What a caller is shown.
    Mutant("ResultWriter.write", never(3), "server/test_results.py", "envelopes/test_golden.py"),
    Mutant("mask_member", never(1), "tools/test_refusals.py", "observability/test_log.py"),
    Mutant("mask_body", never(1), "envelopes/test_error_members.py"),
    Mutant("FailureOutcomes.find_offered", never(3), "access/test_narrowed_endpoints.py"),
    Mutant("CallObject._reading_tool", never(3), "contrib/rules/test_lists.py"),
    Mutant("_may_compare", returns("True"), "contrib/operators/test_comparison.py"),
    Mutant("is_stock_list", returns("True"), "dispatch/test_narrowing_lists.py"),
    Mutant("ListProbe._ask_listed_rows.look", never(2), "dispatch/test_narrowing_lists.py"),
    Mutant("AggregateList.list", never(1), "dispatch/test_narrowing_lists.py"),
    Mutant("_announce_row", never(1, 2), "contrib/subscriptions/test_notices.py"),
    Mutant("Listener._find_messages", always(6), "contrib/subscriptions/test_listening.py"),
    # To ask is never to act.
    Mutant("Probe._refuse_write", never(1), "dispatch/test_probe.py"),
    Mutant("Probe.make_callback.answer.handle", never(2), "dispatch/test_probe.py"),
    Mutant("Probe.respond", always(6), "dispatch/test_probe.py"),
    Mutant("Probe.rolling_back", always(1), "dispatch/test_probe_rollback.py"),
    Mutant("rolling_back", drop_call("callback"), "contrib/writes/dry_run/test_transactions.py"),
    Mutant("Rollback.__call__", never(5), "contrib/writes/dry_run/test_transactions.py"),
    # Writes: confirmed, once, to the row that was seen.
    Mutant("Confirmation.__init__", drop("FOREIGN"), CONFIRMED),
    Mutant("Confirmation.__init__", drop("ARGUMENTS"), CONFIRMED),
    Mutant("Confirmation.__init__", drop("CHANGED"), CONFIRMED),
    Mutant("Confirmation.find_fault", always(3), CONFIRMED),
    Mutant("IntendedChange.digest", rename("owner", "operation"), KEYS),
    Mutant("IntendedChange.find_answer", never(3), KEYS),
    Mutant("IntendedChange.find_answer", never(4), KEYS),
    Mutant("PreconditionGuard.__call__", always(5), "contrib/writes/stale/test_versions.py"),
    Mutant("WriteBatch.ask", always(5), "contrib/writes/test_together.py"),
    Mutant("RecordGuard.__call__", drop_call("CallRefused"), "contrib/audit/test_strict.py"),
    # Rules and approvals.
    Mutant("CallRule.decide", never(2, 2), "contrib/rules/test_rules.py"),
    Mutant("decide_requests", rename("max", "min"), "contrib/rules/test_crossings.py"),
    Mutant("FollowsRules.has_permission", never(4), "contrib/rules/test_http.py"),
    Mutant("RulesGuard.refuse", never(2), "contrib/rules/test_rules.py"),
    Mutant("CallToApprove.make_outcome", never(4), PROPOSALS),
    Mutant("ProposalStore.find_same", drop("digest"), PROPOSALS),
    Mutant("CallToApprove.make", always(1), PROPOSALS),
    Mutant("CallToApprove.make", never(2), PROPOSALS),
    Mutant("ProposalStore.check_approver", never(1, 2), PROPOSALS),
    Mutant("ProposalStore.check_approver", never(2), PROPOSALS),
    Mutant("ProposalStore.check_approver", never(3), PROPOSALS),
    Mutant("ProposalStore.approve", never(1), PROPOSALS),
    Mutant("ProposalStore.lock", never(1), PROPOSALS),
    Mutant("ProposalStore.begin", drop("status"), PROPOSALS),
    Mutant("ProposalStore.find", drop("credential_key"), PROPOSALS),
    # What is kept, and for whom.
    Mutant("Entry.is_for", returns("True"), "stored/test_stores.py"),
    Mutant("StoredAnswer.check", never(1, 2), "access/test_narrowed_endpoints.py"),
    Mutant("StoredAnswer.check", never(5), "stored/test_rights.py"),
    Mutant("StoredAnswer.check", never(7), "contrib/rules/test_kept_answers.py"),
    Mutant("get_rights_fingerprint", drop("flags"), "stored/test_rights.py"),
    Mutant("DatabaseArchive.store", never(3), "stored/test_database.py"),
    Mutant("IdempotencyGuard.make.replay", never(1), KEYS),
    Mutant("TaskStore.find", drop("owner"), "contrib/tasks/test_callers.py"),
    Mutant("TasksCapability.get_tool", never(1), "contrib/tasks/test_callers.py"),
    Mutant("JobReader.find", never(3, 2), "contrib/tasks/test_jobs.py"),
    Mutant("find_file", drop("owner"), "contrib/uploads/test_uploads.py"),
    Mutant("UploadView.post", never(2), "contrib/uploads/test_uploads.py"),
    # Programs.
    Mutant("ProgramCalls.find_tool", always(3), "contrib/compose/test_programs.py"),
    Mutant("ProgramCalls.call_tool", never(1), "contrib/compose/test_ends.py"),
    Mutant("ProgramCalls.call_tool", drop_call("check_terms"), PROGRAMS),
    Mutant("ProgramCalls._check_same_call", never(1), PROGRAMS),
    Mutant("Keeper.read", never(2), PROGRAMS),
    Mutant("Keeper.claim", never(1), "contrib/compose/test_attacks.py"),
    Mutant("ComposeTool.may_write", returns("True"), "contrib/compose/test_programs.py"),
    Mutant("ProgramPermission.has_permission", returns("True"), NAMED),
    Mutant("Record.find", never(2), NAMED),
)
