"""The page of the options of commands: what their parsers say of them."""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator

from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand

from docs.reference_pages.markdown import code, page


def command_options_page() -> str:
    """Return the page of the options of every command."""
    named = sorted((name, app) for name, app in get_commands().items() if app.startswith("drf_mcp"))
    parts = [part for name, app in named for part in describe_command(name, app)]
    return page("Options of commands", COMMANDS_HEAD, *parts)


def describe_command(name: str, app: str) -> Iterator[str]:
    """Yield the heading of a command, what it does, and the list of its options."""
    parser = load_command_class(app, name).create_parser("manage.py", name)
    yield f"## `{name}`"
    yield f"{parser.description} With `{app}`." if app != "drf_mcp" else str(parser.description)
    if options := list(describe_parser(parser, shared_options())):
        yield "\n".join(options)


def describe_parser(parser: ArgumentParser, shared: set[str], indent: str = "") -> Iterator[str]:
    """Yield an item for each option of a parser, then for its verbs, each with its own options."""
    own = [each for each in parser._actions if not shared & {*(each.option_strings or [each.dest])}]
    for action in own:
        if item := describe_option(action):
            yield indent + item
    for verbs in (action for action in own if isinstance(action, _SubParsersAction)):
        said = shared | {option for action in own for option in action.option_strings}
        for verb in verbs._choices_actions:
            taken = verbs.choices[verb.dest]
            positional = [each for each in taken._actions if not each.option_strings]
            names = [str(each.metavar or each.dest).upper() for each in positional]
            yield f"{indent}- {code(' '.join([verb.dest, *names]))}: {plain(verb.help)}"
            known = said.union(each.dest for each in positional)
            yield from describe_parser(taken, known, f"{indent}  ")


def shared_options() -> set[str]:
    """Return the options that every command of Django takes."""
    actions = BaseCommand().create_parser("manage.py", "command")._actions
    return {option for action in actions for option in action.option_strings}


# What every command that has it takes alike.
COMMON = {"--json", "--endpoint"}
SYNONYMS = {"--user"}


def describe_option(action: Action) -> str:
    """Return the item of an option, "" of what is none or common."""
    if isinstance(action, _SubParsersAction) or COMMON & {*action.option_strings}:
        return ""
    names = action.option_strings or [str(action.metavar or action.dest).lower()]
    value = " " + str(action.metavar or action.dest.upper()) if takes_value(action) else ""
    value = f" [{value.strip()}]" if value and action.nargs == "?" else value
    shown = ", ".join(code(name + value) for name in names if name not in SYNONYMS)
    return f"- {shown}: {plain(action.help)}"


def takes_value(action: Action) -> bool:
    return bool(action.option_strings) and action.nargs != 0


def plain(text: str | None) -> str:
    """Return a help text as it follows a colon."""
    # The head of the page says so once.
    words = (text or "").replace(", by USERNAME_FIELD", "")
    first = words.partition(" ")[0]
    is_name = not first.isalpha() or (first.isupper() and len(first) > 1)
    return words if is_name else words[:1].lower() + words[1:]


COMMANDS_HEAD = """\
`manage.py COMMAND --help` prints them too. [Commands](../commands.md) shows what the commands are
for. Every command that prints data takes `--json`, every command about tools takes `--endpoint
PATH`, such as `/mcp/readonly`. Name users by `USERNAME_FIELD`; `--user` is `--as`."""
