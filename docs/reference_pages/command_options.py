"""The page of the options of commands: what their parsers say of them."""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from docs.reference_pages.markdown import code, page, table


def command_options_page() -> str:
    """Return the page of the options of every command."""
    named = sorted((name, app) for name, app in get_commands().items() if app.startswith("drf_mcp"))
    parts = [part for name, app in named for part in describe_command(name, app)]
    return page("Options of commands", COMMANDS_HEAD, *parts)


def describe_command(name: str, app: str) -> Iterator[str]:
    """Yield the heading of a command, what it does, and the tables of its options."""
    parser = load_command_class(app, name).create_parser("manage.py", name)
    yield f"## `{name}`"
    yield f"{parser.description} With `{app}`." if app != "drf_mcp" else str(parser.description)
    yield from describe_parser(parser, shared_options())


def describe_parser(parser: ArgumentParser, shared: set[str]) -> Iterator[str]:
    """Yield the table of a parser's options, then those of its parts."""
    own = [action for action in parser._actions if not shared & {*action.option_strings}]
    rows = [row for action in own if (row := row_of(action))]
    if rows:
        yield table(["Option", "What it does"], rows)
    for verbs in (action for action in own if isinstance(action, _SubParsersAction)):
        helps = {verb.dest: verb.help for verb in verbs._choices_actions}
        yield table(["Verb", "What it does"], [[code(n), sentence(h)] for n, h in helps.items()])
        said = shared | {option for action in own for option in action.option_strings}
        for name in helps:
            tables = [*describe_parser(verbs.choices[name], said)]
            yield from [f"### `{parser.prog.split()[1]} {name}`", *tables] if tables else []


def shared_options() -> set[str]:
    """Return the options that every command of Django takes."""
    actions = BaseCommand().create_parser("manage.py", "command")._actions
    return {option for action in actions for option in action.option_strings}


# What every command that has it takes alike.
COMMON = {"--json", "--endpoint"}


def row_of(action: Action) -> list[str]:
    """Return the row of an option, [] of what is none or common."""
    if isinstance(action, _SubParsersAction) or COMMON & {*action.option_strings}:
        return []
    names = action.option_strings or [str(action.metavar or action.dest).lower()]
    value = " " + str(action.metavar or action.dest.upper()) if takes_value(action) else ""
    value = f" [{value.strip()}]" if value and action.nargs == "?" else value
    shown = ", ".join(code(name + value) for name in names)
    return [shown, sentence(action.help or "")]


def takes_value(action: Action) -> bool:
    return bool(action.option_strings) and action.nargs != 0


def sentence(text: str) -> str:
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isalpha() else text


COMMANDS_HEAD = """\
What `manage.py COMMAND --help` prints. [Commands](../commands.md) shows what they are for. `--json`
prints data, where a command has any. `--endpoint PATH` chooses an endpoint with fewer tools:
`/mcp/readonly`. Every command also takes Django's own options."""
