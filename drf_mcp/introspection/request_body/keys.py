"""The members of a body that code reads by key, with or without the fields of a serializer."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.fields import FileField, empty

from drf_mcp.introspection.field_schema import explain
from drf_mcp.introspection.fields.serializers import FieldNode
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.request_body.parsers import ViewParsers
from drf_mcp.introspection.source.members import is_drf_code
from drf_mcp.introspection.source.overrides import CONVERSIONS
from drf_mcp.introspection.source.trees import MappingReads, is_name, parse_function
from drf_mcp.introspection.types import ANY, PLAIN, Handling, Parameter, Parameters, Schema, Upload

ANY_FILE = gettext_noop("A file is sent as a data URI: data:TYPE;name=FILE_NAME;base64,CONTENT")
# Keys that name a file, where bodies are sent as forms in order to carry files.
FILE_NAME = re.compile(
    r"(?:^|_)(?:file|image|photo|picture|upload|attachment|avatar)s?\Z", re.IGNORECASE
)


class SerializerKeys:
    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer

    def find(self) -> list[str]:
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
    walked = parse_function(function.__code__)
    tree = walked.root
    if tree is None:
        return ()
    found = list(MappingReads(walked.nodes, is_initial_data).keys)
    if tree.name in CONVERSIONS and len(tree.args.args) > 1:
        data = tree.args.args[1].arg
        if not is_validated(tree, data):
            found += MappingReads(walked.nodes, lambda node: is_name(node, data)).keys
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
    def __init__(self, inspection: Inspection, describe: Callable[[Any], Any]) -> None:
        self.describe = describe
        self.reading = inspection.reading
        # There, any key may be a file's.
        self.takes_forms = ViewParsers(inspection.view).reads_forms_with_files

    @property
    def names(self) -> tuple[str, ...]:
        reading = self.reading
        return () if reading is None else tuple(dict.fromkeys((*reading.files, *reading.keys)))

    @property
    def are_files(self) -> bool:
        # The handler asks for files, and for nothing else than keys.
        reading = self.reading
        if reading is None or not reading.reads_keys_alone:
            return False
        return bool(reading.files or (reading.keys and self.takes_forms))

    def get_parameters(self) -> Parameters:
        return tuple(map(self.get_parameter, self.names))

    def get_parameter(self, key: str, words: str = "") -> Parameter:
        # A file if it can be nothing else; the words are for a value that may be anything.
        reading = self.reading
        is_known = reading is not None and key in reading.files
        if is_known or (self.takes_forms and FILE_NAME.search(key)):
            file = self.get_file(key, Upload(by_name=not is_known))
            if reading is None or key not in reading.lists:
                return file
            schema: Schema = {"type": "array", "items": file.schema}
            return Parameter(key, schema, handling=file.handling.under(ANY))
        if self.takes_forms:
            handling = Handling({(): Upload(sure=False)})
            return Parameter(key, explain({}, words, _(ANY_FILE)), handling=handling)
        return Parameter(key, explain({}, words))

    def get_file(self, name: str, upload: Upload, *, required: bool = False) -> Parameter:
        schema = self.describe(FileField()).input_schema
        return Parameter(name, schema, required, handling=Handling({(): upload}))

    def get_any_handling(self) -> Handling:
        return Handling({(ANY,): Upload(sure=False)}) if self.takes_forms else PLAIN
