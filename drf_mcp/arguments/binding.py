"""The request that is made of what a caller sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlencode

from drf_mcp.arguments.call import (
    ANSWER,
    BODY,
    CONTROL,
    PATH,
    QUERY,
    Argument,
    Call,
    write_query,
    write_query_text,
)
from drf_mcp.arguments.encoders import EncodedBody, FormBody, holds_upload
from drf_mcp.arguments.errors import (
    MAX_UNKNOWN,
    ArgumentsRefused,
    KnownNames,
    Remarks,
    mask_secrets,
    not_an_object,
    suggest,
)
from drf_mcp.arguments.table import ArgumentTable, Places, Values
from drf_mcp.arguments.uploads import read_files
from drf_mcp.introspection.closed_sets import ClosedSet
from drf_mcp.introspection.text import describe_accepted
from drf_mcp.introspection.types import ANY, Place
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import find_nearest
from drf_mcp.outcomes import Problem

# About what HTTP servers take.
MAX_QUERY_LENGTH = 8190


class Arguments(ArgumentTable):
    """Binds what a caller sent to the path, query and body of a request.

    The view validates values. Names are checked here, since a view ignores unknown ones.
    """

    def bind(self, arguments: Mapping[str, Any], caller: Any = None) -> Call:
        if not self.url_names.keys().isdisjoint(arguments):
            arguments = self.use_own_names(arguments)
        if self.items is not None and self.items.are_sent(arguments):
            call: Call = self.items.bind(arguments, caller)
            return call
        return self.bind_one(arguments, (), caller)

    def bind_one(
        self, arguments: Mapping[str, Any], places: Places = (), caller: Any = None
    ) -> Call:
        remarks = Remarks()
        if sent := [a.pointer for a, _ in self.hidden if JSONPointer(a.pointer).is_in(arguments)]:
            raise ArgumentsRefused(list(map(_refuse_hidden, sent)))
        problems = self.find_problems(arguments, places, remarks)
        parts, wrong = self._read_values(arguments, remarks)
        if problems or wrong:
            raise ArgumentsRefused([*(problems or self.find_missing(arguments)), *wrong])
        try:
            encoded = self.encode(parts[BODY], self.find_hidden(caller))
            query_string = self._write_query(parts[PATH], parts[QUERY])
        except (ValueError, TypeError, RecursionError) as exc:
            message = f"The arguments cannot be sent as a request: {exc}"
            remediation = "Correct the value and call again."
            raise ArgumentsRefused([Problem("invalid", message, remediation=remediation)]) from exc
        # REST framework reads an empty form in another way than an empty body.
        is_form = isinstance(self.encoder, FormBody)
        call = Call(
            arguments,
            # An optional part of a path is left out.
            kwargs={a.parameter.name: _write_path(a, v) for a, v in parts[PATH] if v is not None},
            query_string=query_string,
            body=encoded.content,
            content_type=encoded.content_type if encoded.content or is_form else "",
            disposition=encoded.disposition,
            fields=parts[ANSWER][0][1] if parts[ANSWER] else (),
            many=self.many,
            controls={a.parameter.name: v for a, v in parts[CONTROL] if v is not None},
            warnings=tuple(remarks.make_warnings()),
        )
        if sent := [name for name, _ in parse_qsl(query_string) if self._hides(name)]:
            raise ArgumentsRefused([_refuse_hidden(JSONPointer.from_path(sent[:1]))])
        return self.fix(call, caller) if self.hidden else call

    # --- Hidden arguments ---------------------------------------------------------------------

    def find_hidden(self, caller: Any) -> Values:
        """Return the hidden arguments with their values; without a caller, no function is asked."""
        return [
            (argument, value(caller.authenticate()) if callable(value) else value)
            for argument, value in self.hidden
            if caller is not None or not callable(value)
        ]

    def fix(self, call: Call, caller: Any) -> Call:
        """Return a call with the hidden arguments of the path and the query."""
        hidden = self.find_hidden(caller)
        path = {a.parameter.name: _write_path(a, v) for a, v in hidden if a.location == PATH}
        query = parse_qsl(call.query_string, keep_blank_values=True)
        kept = [pair for pair in query if not self._hides(pair[0])]
        fixed = [pair for a, v in hidden if a.location == QUERY for pair in a.make_query_pairs(v)]
        return replace(
            call, kwargs={**call.kwargs, **path}, query_string=urlencode([*kept, *fixed])
        )

    def _hides(self, name: str) -> bool:
        names = {a.parameter.name for a, _ in self.hidden if a.location == QUERY}
        return name in names or name.partition("[")[0] in names

    def _read_values(
        self, arguments: Mapping[str, Any], remarks: Remarks
    ) -> tuple[dict[str, Values], list[Problem]]:
        # All wrong values are reported together.
        wrong: list[Problem] = []
        parts: dict[str, Values] = {PATH: [], QUERY: [], BODY: [], ANSWER: [], CONTROL: []}
        for argument, value in self.find_values(arguments):
            try:
                value = argument.read(value)
            except ArgumentsRefused as exc:
                wrong += exc.problems
                continue
            if argument.members:
                wrong += self._find_dropped(argument, value, remarks)
            if self.is_extra(argument) and value is not None:
                wrong += self._find_mistaken(argument, value, remarks)
            if argument.parameter.is_unread:
                remarks.unread[argument.pointer] = None
            if argument.uploads:
                value = read_files(value, argument.uploads, argument.pointer, wrong)
            if argument.parameter.closed is not None and value is not None:
                wrong += find_ignored(argument, value, argument.parameter.closed)
            parts[argument.location].append((argument, value))
        remarks.changes_nothing = self.is_change and not parts[BODY]
        return parts, wrong

    def encode(self, values: Values, hidden: Iterable[tuple[Argument, Any]] = ()) -> EncodedBody:
        encoder = self.encoder
        fixed = {a.parameter.name: value for a, value in hidden if a.location == BODY}
        if not values and not fixed and not encoder.expected:
            return EncodedBody()
        # Only the values of these are searched for files: others may be long.
        if encoder.files and holds_upload([value for a, value in values if a.uploads]):
            encoder = encoder.files
        body = self.get_body(values)
        whole = next((a.pointer for a, _ in values if a.whole), "")
        return encoder.encode(add_hidden(body, fixed, whole) if fixed else body)

    def _find_dropped(self, argument: Argument, value: Any, remarks: Remarks) -> list[Problem]:
        """Return problems of the first members that nested serializers do not know."""
        # The places whose keys the view's parser renames.
        renamed = {place[-1] for place in self.keys.values()}
        problems: list[Problem] = []
        for place, names in argument.members.items():
            for pointer, member in _walk(value, place, argument.pointer):
                known = KnownNames(
                    names.writable,
                    unlisted=renamed,
                    read_only=names.read_only,
                    ignores_read_only=True,
                    passes=bool(names.opened_by),
                    secret=self.write_only,
                )
                problems += known.check(member, pointer, remarks)
                if len(problems) >= MAX_UNKNOWN:
                    return problems[:MAX_UNKNOWN]
        return problems

    def _find_mistaken(self, argument: Argument, value: Any, remarks: Remarks) -> list[Problem]:
        if not isinstance(value, Mapping):
            return [not_an_object(value, argument.pointer)]
        same = [each for each in self.arguments if each.location == argument.location]
        names = [each.parameter.name for each in same if not each.whole]
        known = KnownNames(names, passes=True, secret=self.write_only)
        return known.check(value, argument.pointer, remarks)

    def get_body(self, values: Values) -> Any:
        whole = next((pair for pair in values if pair[0].whole), None)
        fields = {a.parameter.name: value for a, value in values if not a.whole}
        if whole is None:
            return fields
        argument, value = whole
        if self.is_extra(argument):
            return {**fields, **(value or {})}
        if not fields:
            return value
        name = argument.name
        message = f"'{name}' is the whole body, so no other field of it can be sent."
        advice = f"Send either '{name}' or the fields of one object, then call again."
        problem = Problem("invalid", message, argument.pointer, remediation=advice)
        raise ArgumentsRefused([problem])

    def _write_query(self, path: Values, query: Values) -> str:
        """Return the query, where the whole URL is no longer than servers take."""
        text = write_query(query)
        if len(text) + sum(len(v) for _, v in path if type(v) is str) > MAX_QUERY_LENGTH:
            raise _refuse_length(max(path + query, key=lambda each: len(write_query([each])))[0])
        return text


def add_hidden(body: Any, fixed: Mapping[str, Any], pointer: str = "") -> Any:
    """Return a body, or each row of a list, with the values of hidden arguments."""
    if isinstance(body, list):
        return [add_hidden(row, fixed, f"{pointer}/{index}") for index, row in enumerate(body)]
    if body is not None and not isinstance(body, Mapping):
        return body
    if sent := [name for name in body or () if name in fixed]:
        places = (JSONPointer.from_parent(pointer, name) for name in sent)
        raise ArgumentsRefused(list(map(_refuse_hidden, places)))
    return {**(body or {}), **fixed}


def _refuse_hidden(pointer: str) -> Problem:
    return Problem("unknown", "Unknown argument.", pointer, remediation="Leave it out.")


def _write_path(argument: Argument, value: Any) -> Any:
    # OpenAPI writes an array in a path with commas.
    is_array = isinstance(value, list) and argument.parameter.multiple
    return ",".join(map(write_query_text, value)) if is_array else value


def _refuse_length(longest: Argument) -> ArgumentsRefused:
    # Servers answer a longer URL with 414 (RFC 9110, 15.5.15).
    limit = MAX_QUERY_LENGTH
    problem = Problem(
        code="max_length",
        message=f"The URL of the request would have more than {limit} bytes of arguments.",
        pointer=longest.pointer,
        accepted=f"at most {limit} bytes in all arguments of the path and query",
        remediation=f"Shorten '{longest.name}', or send it in parts, one call each.",
    )
    return ArgumentsRefused([problem])


# --- Query parameters -----------------------------------------------------------------------------


def find_ignored(argument: Argument, value: Any, closed: ClosedSet) -> list[Problem]:
    """Return problems of the first values of a query parameter that the view ignores."""
    problems: list[Problem] = []
    several = type(value) is list
    for index, item in enumerate(value if several else (value,)):
        for part in islice(closed.find_ignored(write_query_text(item)), MAX_UNKNOWN):
            nearest = next(iter(find_nearest(part, closed.get_candidates(part))), "")
            words = describe_accepted(closed.get_schema())
            advice = f"Send {words}."
            problem = Problem(
                code=closed.code,
                message=closed.write_message(part),
                pointer=f"{argument.pointer}/{index}" if several else argument.pointer,
                received=mask_secrets(part),
                accepted=words or "none",
                remediation=advice if words and not nearest else suggest(nearest, ""),
            )
            problems.append(problem)
        if len(problems) >= MAX_UNKNOWN:
            break
    return problems[:MAX_UNKNOWN]


# --- Members of nested objects --------------------------------------------------------------------


def _walk(value: Any, place: Place, pointer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects at a place of a value, each with its pointer."""
    if not place:
        if isinstance(value, Mapping):
            yield pointer, value
        return
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        members = [pair for pair in value.items() if place[0] in (ANY, pair[0])]
    elif place[0] == ANY and isinstance(value, list):
        members = enumerate(value)
    for name, member in members:
        yield from _walk(member, place[1:], JSONPointer.from_parent(pointer, str(name)))
