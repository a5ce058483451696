"""Which tests are quick, and how all are divided among the workers of pytest-xdist."""

from __future__ import annotations

import random
import subprocess
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Rooms, modules and tests that start servers, browsers and interpreters, or that measure. They are
# marked as slow beside those that say so themselves.
PROGRAMS = (
    "tests/archive/test_two_processes.py",
    "tests/benchmarks/test_agents.py::test_every_figure_is_in_the_table",
    "tests/benchmarks/test_agents.py::test_tokens_are_counted_exactly_or_said_to_be_estimated",
    "tests/benchmarks/test_agents.py::test_no_figure_of_an_agent_becomes_worse_than_recorded",
    "tests/benchmarks/test_agents.py::test_the_tasks_of_the_sample_can_be_done",
    "tests/benchmarks/test_agents_beside.py::test_a_request_is_served_while_its_answer",
    "tests/benchmarks/test_agents_beside.py::test_a_transcript_has_each_message_of_a_task",
    "tests/benchmarks/test_listing.py",
    "tests/benchmarks/test_runs.py",
    "tests/browsable/test_in_browser.py",
    "tests/browsable/test_sign_in_pages.py",
    "tests/browsable/test_ui_pages.py",
    "tests/commands/test_example_calls.py::test_the_call_that_is_printed_can_be_pasted",
    "tests/commands/test_terminal.py::test_a_pipe_that_is_closed_ends_a_command_quietly",
    "tests/commands/test_terminal.py::test_bash_completes_names_of_tools",
    "tests/commands/test_terminal.py::test_the_script_of_a_project_reads_real_names",
    "tests/contracts/test_notes.py::test_the_package_gives_call_notes_without_loading_django",
    "tests/documentation/test_blocks.py::test_an_excuse_is_needed",
    "tests/documentation/test_blocks.py::test_command_lines_are_what_a_shell_takes",
    "tests/documentation/test_blocks.py::test_the_tests_that_pages_show_pass",
    "tests/documentation/test_blocks.py::test_what_a_page_shows_works",
    "tests/documentation/test_oauth.py",
    "tests/documentation/test_prose.py::test_words_are_spelt_right",
    "tests/documentation/test_sign_in.py",
    "tests/documentation/test_site.py::test_the_",
    "tests/documentation/test_tutorial.py::test_the_tutorial_does_what_it_says",
    "tests/envelopes/test_imports.py::test_pydantic_is_imported_when_a_model_is_first_used",
    "tests/example_project/test_demo.py::test_a_folder_that_cannot_be_made_is_named",
    "tests/example_project/test_demo.py::test_any_command_may_be_the_first_one",
    "tests/example_project/test_production.py",
    "tests/first_command/",
    "tests/guards/idempotency/test_workers.py",
    "tests/interop/",
    "tests/introspection/test_forms.py::test_every_pattern_compiles_in_clients",
    "tests/introspection/test_patterns.py",
    "tests/nasty/test_annotations.py::test_nothing_of_it_is_imported",
    "tests/nasty/test_patterns.py",
    "tests/observability/test_tracing.py::test_calls_work_where_it_is_not_installed",
    "tests/observability/test_tracing.py::test_opentelemetry_is_not_imported",
    "tests/packaging/test_distributions.py",
    "tests/packaging/test_installed_wheel.py",
    "tests/packaging/test_interpreters.py",
    "tests/parity/test_host.py",
    "tests/test_client/test_plugin.py::test_a_project_gets_the_fixture_and_the_ready_test",
    "tests/test_client/test_plugin.py::test_the_plugin_imports_nothing_of_django",
    "tests/services/",
    "tests/test_structure.py::test_importing_the_package_loads",
    "tests/test_structure.py::test_listing_and_calling_tools_loads_nothing_heavy",
    "tests/tokens/test_browser.py",
    "tests/transports/test_clients.py",
    "tests/transports/test_process.py",
)
# Rooms whose modules share servers and browsers, which one worker therefore starts for all.
TOGETHER = ("tests/interop/", "tests/packaging/", "tests/transports/")


def is_slow(item: pytest.Item) -> bool:
    """Return whether a test is marked as slow."""
    return item.get_closest_marker("slow") is not None


def put_slow_ones_first(items: list[pytest.Item]) -> None:
    """Put the modules with slow tests first: whoever comes last to one keeps all waiting."""
    slow = {item.path for item in items if is_slow(item)}
    items.sort(key=lambda item: item.path not in slow)


def mark_variants(items: list[pytest.Item], seed: int) -> None:
    """Mark of each test with parameters all variants but one, another one with each seed."""
    variants: dict[str, list[pytest.Item]] = {}
    for item in items:
        variants.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chance = random.Random(seed)
    for of_one_test in variants.values():
        chosen = chance.choice(of_one_test)
        for item in of_one_test:
            if item is not chosen:
                item.add_marker("variant")


class Programs:
    """Lets only slow tests start programs, so that quick ones stay quick."""

    def __init__(self) -> None:
        self.test = ""
        self.allowed = True
        self.start = subprocess.Popen.__init__

    def enter(self, item: pytest.Item) -> None:
        """Begin with a test."""
        self.test, self.allowed = item.nodeid, is_slow(item)

    def watch(self) -> None:
        """Hear of each program that is started."""

        def start(process: Any, *args: Any, **kwargs: Any) -> None:
            assert self.allowed, f"{self.test} starts a program: name it in tests/division.py"
            self.start(process, *args, **kwargs)

        subprocess.Popen.__init__ = start


class Division(LoadScopeScheduling):
    """Gives a module to one worker, so that what its tests share is made once.

    The modules are handed out in the order in which they were collected.
    """

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        """Return what a test is run with: its room or its module."""
        module = nodeid.partition("::")[0]
        return next((room for room in TOGETHER if module.startswith(room)), module)
