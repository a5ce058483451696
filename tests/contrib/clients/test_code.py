"""Clients written from schemas: their code runs, and their types have the schemas' members."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import Required, get_type_hints

from drf_mcp.contrib.clients.writers import PythonWriter, TypeScriptWriter
from tests.contrib.clients.writing import (
    AWKWARD_NAMES,
    AWKWARD_SCHEMA,
    AWKWARD_TEXT,
    run_client,
    write_client,
)

NAMES = st.sampled_from(AWKWARD_NAMES) | st.text(min_size=1, max_size=6)
TEXTS = st.just(AWKWARD_TEXT) | st.text(max_size=20)
SCALARS = st.sampled_from(["string", "integer", "number", "boolean", "null"])


def nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=4)},
        optional={"additionalProperties": st.booleans() | inner, "description": TEXTS},
    )
    arrays = st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner})
    branches = st.lists(inner, min_size=1, max_size=3).map(lambda every: {"anyOf": every})
    return objects | arrays | branches


SCHEMAS = st.recursive(
    st.just({})
    | st.fixed_dictionaries(
        {"type": SCALARS | st.lists(SCALARS, min_size=1)}, optional={"description": TEXTS}
    )
    | st.lists(TEXTS | st.integers() | st.booleans() | st.none() | st.floats(), min_size=1).map(
        lambda choices: {"enum": choices}
    ),
    nest,
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, SCHEMAS, max_size=5).flatmap(
    lambda members: st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.just(members),
            "required": st.lists(st.sampled_from([*members]), unique=True)
            if members
            else st.just([]),
        }
    )
)


def read_hints(module: ModuleType, name: str) -> dict[str, Any]:
    return get_type_hints(getattr(module, name), vars(module), include_extras=True)


@given(schemas=st.dictionaries(NAMES, st.tuples(OBJECTS, SCHEMAS), max_size=3), text=TEXTS)
def test_any_schema_gives_python_that_runs(schemas, text):
    """The arguments of each method have the names that the schema of its tool has."""
    written = write_client(PythonWriter, schemas, text)
    ast.parse(written)
    module = run_client(written)
    methods = [each for each in vars(module.Tools).values() if callable(each)]
    calls = [each for each in methods if each.__name__ not in ("__init__", "_call")]
    assert len(calls) == len(schemas)
    for call, (arguments, _data) in zip(calls, schemas.values(), strict=True):
        annotation = call.__annotations__.get("arguments")
        assert (annotation is None) is (not arguments["properties"])
        if annotation:
            hints = read_hints(module, annotation.removeprefix("Unpack[").removesuffix("]"))
            assert set(hints) == set(arguments["properties"])
            required = {name for name, hint in hints.items() if get_origin(hint) is Required}
            assert required == set(arguments["required"])


@given(schemas=st.dictionaries(NAMES, st.tuples(OBJECTS, SCHEMAS), max_size=3))
def test_the_same_schemas_give_the_same_code(schemas):
    for writer in (PythonWriter, TypeScriptWriter):
        assert write_client(writer, schemas) == write_client(writer, schemas)


def test_choices_are_literals():
    module = run_client(write_client(PythonWriter, {"find": (AWKWARD_SCHEMA, {})}))
    literal = read_hints(module, "FindArguments")["x-y"]
    assert get_origin(literal) is Literal
    assert get_args(literal) == ("x-y", AWKWARD_TEXT)


def test_objects_with_the_same_members_are_one_type():
    row = {"type": "object", "properties": {"id": {"type": "integer"}}}
    nothing = {"type": "object", "properties": {}}
    rows = {"type": "array", "items": row}
    text = write_client(PythonWriter, {"cats_list": (nothing, rows), "cats_show": (nothing, row)})
    assert text.count("(TypedDict, total=False)") == 1
    assert "CatsListData: TypeAlias = list[CatsListDataItem]" in text
    assert "CatsShowData: TypeAlias = CatsListDataItem" in text


def test_tools_whose_names_collide_in_a_language_get_different_names():
    nothing = {"type": "object", "properties": {}}
    tools = {name: (nothing, {}) for name in ("a-b", "a_b", "aB", "import", "class")}
    python = write_client(PythonWriter, tools)
    typescript = write_client(TypeScriptWriter, tools)
    for name in ("a_b", "a_b2", "aB", "import_", "class_"):
        assert f"async def {name}(" in python
    for name in ("aB", "aB2", "aB3", "import_", "class_"):
        assert f"export function {name}(" in typescript


def test_open_arguments_take_any_name():
    anything = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
    assert "**arguments: Any" in write_client(PythonWriter, {"find": (anything, {})})
    assert "[name: string]: unknown;" in write_client(TypeScriptWriter, {"find": (anything, {})})
