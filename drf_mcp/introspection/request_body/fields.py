"""The members of a body: the fields of a serializer, and the keys that code reads by itself."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from rest_framework.fields import FileField, empty
from rest_framework.serializers import ListSerializer, Serializer

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.described import DescribedField
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.fields.shared import SharedDescription
from drf_mcp.introspection.inspection import GUARD, Inspection
from drf_mcp.introspection.request_body.handling import FieldHandling
from drf_mcp.introspection.request_body.parsers import ViewParsers
from drf_mcp.introspection.source.handlers import read_handler
from drf_mcp.introspection.source.overrides import (
    CONVERSIONS,
    converts_like_drf,
    is_drf_code,
)
from drf_mcp.introspection.source.trees import MappingReads, is_name, parse_function
from drf_mcp.introspection.types import (
    ANY,
    PLAIN,
    AnyField,
    Body,
    Handling,
    Parameter,
    Parameters,
    Schema,
    Upload,
)

OPEN = Body("open", schema={})
BESIDE = "Read beside the fields of the serializer."
HAND_OVER = (
    "Describe the body with @mcp_tool(body=...), or begin to_internal_value() and"
    " run_validation() with super() and their argument, unchanged."
)
ANY_FILE = "A file is sent as a data URI: data:TYPE;name=FILE_NAME;base64,CONTENT"
# Keys that name a file, where bodies are sent as forms in order to carry files.
FILE_NAME = re.compile(
    r"(?:^|_)(?:file|image|photo|picture|upload|attachment|avatar)s?\Z", re.IGNORECASE
)


class SerializerBody:
    """The body that a serializer reads."""

    def __init__(self, inspection: Inspection, serializer: Any) -> None:
        self.inspection = inspection
        self.serializer = serializer
        self.takes_json = ViewParsers(inspection.view).json is not None

    def get_body(self) -> Body:
        """Return the body, open for a serializer that may read anything."""
        serializer, inspection = self.serializer, self.inspection
        if isinstance(serializer, ListSerializer):
            schema = inspection.shaped({"type": "array", **DescribedField(serializer).input_schema})
            return Body("list", schema=schema, handling=self.get_handling(serializer))
        if not isinstance(serializer, Serializer):
            inspection.find("The serializer declares no fields.", "Derive it from Serializer.")
            return OPEN
        if converts_like_drf(serializer):
            fields = self.get_shared_fields()
        else:
            inspection.find(f"{type(serializer).__name__} reads its input itself.", HAND_OVER)
            if not self.is_built_on_fields():
                return OPEN
            fields = self.get_open_fields()
        return Body("object", fields=(*fields, *self.get_key_parameters(fields)))

    def get_shared_fields(self) -> Parameters:
        inspection, serializer = self.inspection, self.serializer
        # What annotations say of a field is the schema class's to know, whatever the view.
        annotated = inspection.annotations is not None and type(inspection.view.schema)
        manner = ("input", serializer.partial, inspection.portable, self.takes_json, annotated)
        shared = SharedDescription(serializer)
        return shared.get(manner, self.get_closed_fields, inspection.findings)

    def get_closed_fields(self) -> Parameters:
        rules: dict[str, str] = {}
        rules = self.inspection.attempt(lambda: FieldNode(self.serializer).uniqueness, GUARD, rules)

        def describe_field(field: Any) -> Schema:
            return explain(DescribedField(field).input_schema, rules.get(field.field_name, ""))

        return self.get_fields(describe_field, is_closed=True)

    def get_open_fields(self) -> Parameters:
        # Its own conversion may take other values, and may do without any of the fields.
        def describe_field(field: Any) -> Schema:
            needed = "Meant to be required" if FieldNode(field).is_required else ""
            return explain(DescribedField(field).intended_schema, needed)

        return self.get_fields(describe_field, is_closed=False)

    def get_fields(self, describe: Callable[[AnyField], Schema], *, is_closed: bool) -> Parameters:
        node = FieldNode(self.serializer)
        listed = node.listed
        return tuple(
            Parameter(
                name,
                self.guard(field, describe),
                is_closed and FieldNode(field).is_required,
                handling=self.get_handling(field),
                listed=name in listed,
            )
            for name, field in node.sendable.items()
        )

    def guard(self, field: AnyField, describe: Callable[[AnyField], Schema]) -> Schema:
        inspection = self.inspection
        remedy = f"Let the field {field.field_name!r} be built without a caller. {GUARD}"
        return inspection.attempt(lambda: inspection.shaped(describe(field)), remedy, {})

    def get_handling(self, field: AnyField) -> Handling:
        handling = FieldHandling(field, takes_json=self.takes_json)
        return self.inspection.attempt(handling.get_handling, GUARD, PLAIN)

    def get_key_parameters(self, fields: Parameters) -> Parameters:
        """Return what the serializer and the handler read beside the fields, of any type."""
        serializer, keys = self.serializer, KeyParameters(self.inspection)
        none: list[str] = []
        found = self.inspection.attempt(
            lambda: SharedDescription(serializer).get("keys", SerializerKeys(serializer).find),
            GUARD,
            none,
        )
        known = {field.name for field in fields}
        further = (key for key in dict.fromkeys((*found, *keys.names)) if key not in known)
        return tuple(keys.get_parameter(key, BESIDE) for key in further)

    def is_built_on_fields(self) -> bool:
        # Its own conversions call those of REST framework somewhere.
        serializer_class = type(self.serializer)
        for method in CONVERSIONS:
            if not is_drf_code(serializer_class, method):
                reading = read_handler(serializer_class, method)
                if reading is None or method not in reading.calls:
                    return False
        return True


class SerializerKeys:
    """The keys that a serializer reads of a body and that are none of its fields."""

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer

    def find(self) -> list[str]:
        """Return the keys that its methods, and its fields' own `get_value`, ask for."""
        fields = FieldNode(self.serializer).sendable
        found = [key for field in fields.values() for key in self.find_of_field(field)]
        for base in type(self.serializer).__mro__:
            if base.__module__.partition(".")[0] != "rest_framework":
                for member in filter(inspect.isfunction, vars(base).values()):
                    found += find_keys_of_method(member)
        return [key for key in dict.fromkeys(found) if key not in fields]

    def find_of_field(self, field: Any) -> list[str]:
        if is_drf_code(type(field), "get_value"):
            return []
        # Asked once without its own value and once with it: one may hide the other.
        data = RecordedKeys()
        field.get_value(data)
        data.known[field.field_name] = ""
        field.get_value(data)
        return list(data.keys_asked)


@functools.lru_cache(maxsize=4096)
def find_keys_of_method(function: Any) -> tuple[str, ...]:
    tree = parse_function(function.__code__)
    if tree is None:
        return ()
    found = list(MappingReads(tree, is_initial_data).keys)
    if tree.name in CONVERSIONS and len(tree.args.args) > 1:
        data = tree.args.args[1].arg
        if not is_validated(tree, data):
            found += MappingReads(tree, lambda node: is_name(node, data)).keys
    return tuple(found)


def is_initial_data(node: ast.AST) -> bool:
    own = isinstance(node, ast.Attribute) and is_name(node.value, "self")
    return own and getattr(node, "attr", "") == "initial_data"


def is_validated(tree: ast.AST, data: str) -> bool:
    # From there on the variable holds what `super` made of the body.
    return any(
        isinstance(node, ast.Assign)
        and any(is_name(target, data) for target in node.targets)
        and any(is_name(part, "super") for part in ast.walk(node.value))
        for node in ast.walk(tree)
    )


class RecordedKeys(dict[str, Any]):
    # An empty body that notes which keys it is asked for.
    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, Any] = {}
        self.keys_asked: dict[str, None] = {}

    def get(self, key: Any, default: Any = None) -> Any:
        self.keys_asked[str(key)] = None
        return self.known.get(key, default)

    def __getitem__(self, key: Any) -> Any:
        return self.get(key, empty)

    def __contains__(self, key: Any) -> bool:
        self.get(key)
        return key in self.known


class KeyParameters:
    """The members that a handler asks the body for by key."""

    def __init__(self, inspection: Inspection) -> None:
        self.reading = inspection.reading
        # There, any key may be a file's.
        self.takes_forms = ViewParsers(inspection.view).reads_forms_with_files

    @property
    def names(self) -> tuple[str, ...]:
        reading = self.reading
        return () if reading is None else tuple(dict.fromkeys((*reading.files, *reading.keys)))

    @property
    def are_files(self) -> bool:
        """Whether the handler asks for files, and for nothing else than keys."""
        reading = self.reading
        if reading is None or not reading.reads_keys_alone:
            return False
        return bool(reading.files or (reading.keys and self.takes_forms))

    def get_parameters(self) -> Parameters:
        """Return a member for each key."""
        return tuple(map(self.get_parameter, self.names))

    def get_parameter(self, key: str, words: str = "") -> Parameter:
        """Return the member of a key: a file if it can be nothing else.

        Args:
            key: the key.
            words: what to say of a value that may be anything.
        """
        reading = self.reading
        is_known = reading is not None and key in reading.files
        if is_known or (self.takes_forms and FILE_NAME.search(key)):
            file = get_file_parameter(key, upload=Upload(by_name=not is_known))
            if reading is None or key not in reading.lists:
                return file
            schema: Schema = {"type": "array", "items": file.schema}
            return Parameter(key, schema, handling=file.handling.under(ANY))
        if self.takes_forms:
            handling = Handling({(): Upload(sure=False)})
            return Parameter(key, explain({}, words, ANY_FILE), handling=handling)
        return Parameter(key, explain({}, words))

    def get_any_handling(self) -> Handling:
        """Return the handling of members of which nothing is known."""
        return Handling({(ANY,): Upload(sure=False)}) if self.takes_forms else PLAIN


ANY_UPLOAD = Upload()


def get_file_parameter(
    name: str, *, required: bool = False, upload: Upload = ANY_UPLOAD
) -> Parameter:
    field: Any = FileField()
    field.field_name = name
    return Parameter(
        name, DescribedField(field).input_schema, required, handling=Handling({(): upload})
    )
