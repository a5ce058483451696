"""Names of tools and arguments: those of the data files, and those of another package's list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from drf_mcp.exposure import registry

PLACEHOLDER = re.compile(r"\{([^}]+)\}")


def make_pattern(path: str) -> str:
    """Return a regular expression for the path of a route, as another package may write it."""
    parts = PLACEHOLDER.split(path)
    # Every second part names a placeholder; the other package may write a value in its place.
    return "".join("([^/]+)" if n % 2 else re.escape(part) for n, part in enumerate(parts))


def blank(path: str) -> str:
    return PLACEHOLDER.sub("{}", path)


class Names:
    """Names of tools and arguments in the data files, which are those of our list."""

    def find_tool(self, name: str) -> str | None:
        """Return the tool that a data file names, None if the list does not have it."""
        return name

    def find_data_name(self, tool: str) -> str:
        """Return the data files' name of a tool."""
        return tool

    def translate(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a tool of the data files under the names of the list."""
        return dict(arguments)

    def covers(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the list has a tool of the data files with these arguments."""
        return True


class RouteNames(Names):
    """Names of another package's list: two tools are the same if route and method are.

    Args:
        routes: method, path and ``arguments`` (``location`` and ``openapi_name`` of each) of every
            tool of the other list.
        own: the tools of our list.
    """

    def __init__(
        self, routes: Mapping[str, Mapping[str, Any]], own: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.tools: dict[str, str] = {}
        self.arguments: dict[str, dict[str, str]] = {}
        self.data_names: dict[str, str] = {}
        known = registry.tools()
        self.paths: dict[str, str] = {}
        for name in filter(known.__contains__, own):
            endpoint = known[name].endpoint
            path = endpoint.route.path
            self.add(name, endpoint.method.upper(), path, own[name], routes)
        for tool, route in routes.items():
            # A PUT of the other list has the arguments of our PATCH at the same path.
            method, path = route["method"], blank(route["path"])
            owners = [name for name, its in self.paths.items() if its == path]
            if tool not in self.data_names and owners and method == "PUT":
                self.add_update(tool, owners)

    @classmethod
    def find_common_paths(cls, paths: Iterable[str]) -> list[str]:
        """Return the other list's paths that have a tool of ours, for any user."""
        routes = [tool.endpoint.route.path for tool in registry.tools().values()]
        patterns = [re.compile(make_pattern(route)) for route in routes]
        return [path for path in paths if any(each.fullmatch(path) for each in patterns)]

    def add(
        self,
        name: str,
        method: str,
        path: str,
        tool: Mapping[str, Any],
        routes: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Add our tool, if the other list has its route."""
        pattern = re.compile(make_pattern(path))
        for other, route in routes.items():
            match = pattern.fullmatch(route["path"])
            if match is None or route["method"].upper() != method:
                continue
            self.tools[name], self.data_names[other] = other, name
            self.paths[name] = blank(route["path"])
            self.arguments[name] = self.pair(tool, path, match.groups(), route["arguments"])
            return

    def add_update(self, tool: str, owners: list[str]) -> None:
        """Add a PUT of the other list where our list has PATCH alone."""
        patch = next((each for each in owners if each.endswith("_partial_update")), None)
        if patch is not None:
            name = patch.replace("_partial_update", "_update")
            self.tools[name], self.data_names[tool] = tool, name
            self.arguments[name] = self.arguments[patch]

    def pair(
        self,
        tool: Mapping[str, Any],
        path: str,
        values: tuple[str, ...],
        arguments: Mapping[str, Mapping[str, str]],
    ) -> dict[str, str]:
        """Return the other list's name of each argument that both tools have."""
        places = {
            place: {
                a["openapi_name"]: name for name, a in arguments.items() if a["location"] == place
            }
            for place in ("path", "query", "body")
        }
        found = {}
        in_path = dict(zip(PLACEHOLDER.findall(path), values, strict=True))
        for name in tool["inputSchema"]["properties"]:
            plain = name.removesuffix("_path")
            value = in_path.get(name if name == plain or name in in_path else plain)
            if value is not None and (name != plain or name not in places["body"]):
                other = places["path"].get(value.strip("{}"))
            else:
                bare = name.removesuffix("_query")
                other = places["body"].get(name) or places["query"].get(bare)
            if other:
                found[name] = other
        # A tool that takes several keys at once has no argument for the key in the path.
        keys = {name: places["path"].get(value.strip("{}")) for name, value in in_path.items()}
        return {**{name: key for name, key in keys.items() if key}, **found}

    def find_tool(self, name: str) -> str | None:
        return self.tools.get(name)

    def find_data_name(self, tool: str) -> str:
        return self.data_names.get(tool, tool)

    def translate(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        known = self.arguments.get(tool, {})
        return {known.get(name, name): value for name, value in arguments.items()}

    def covers(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        # Each package has its own way to send a file.
        files = any(str(value).startswith("data:") for value in arguments.values())
        return tool in self.tools and not files and set(arguments) <= self.arguments[tool].keys()
