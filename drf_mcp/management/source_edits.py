"""Small additions to a project's modules, which leave every other line as it is."""

from __future__ import annotations

import ast
import re
from typing import Any

COMMENT = re.compile(r"#.*")


class SourceText:
    """The text of a Python module.

    Raises:
        SyntaxError: if it is none.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)

    def has_text(self, *texts: str) -> bool:
        """Return whether one of some texts is outside of comments."""
        return any(each in COMMENT.sub("", self.text) for each in texts)

    def find_value(self, name: str) -> Any:
        """Return the node of the last value that the module assigns to a name, None for none."""
        found = None
        for node in self.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                found = node.value  # type: ignore[attr-defined]
        return found

    def with_item(self, name: str, item: str, *, extends: bool = False) -> str | None:
        """Return the text with one more item in a list, None where the module writes no list.

        Args:
            extends: whether a list that is computed gets the item in a line at the end.
        """
        node = self.find_value(name)
        if extends and node is not None and not isinstance(node, (ast.List, ast.Tuple)):
            return f"{self.text.rstrip()}\n\n{name} += [{item}]\n"
        if not isinstance(node, ast.List):
            return None
        end = self._place(node.end_lineno, node.end_col_offset) - 1
        if not node.elts:
            return f"{self.text[:end]}{item}{self.text[end:]}"
        last = node.elts[-1]
        after = self._place(last.end_lineno, last.end_col_offset)
        inside = self.text[after:end]
        if "\n" not in inside:
            return f"{self.text[:after]}, {item}{self.text[after:]}"
        comma = "" if "," in COMMENT.sub("", inside) else ","
        head, newline, before_bracket = inside.rpartition("\n")
        first_line = self.text.splitlines()[last.lineno - 1]
        indent = first_line[: len(first_line) - len(first_line.lstrip())]
        added = f"{comma}{head}{newline}{indent}{item},{newline}{before_bracket}"
        return f"{self.text[:after]}{added}{self.text[end:]}"

    def with_names(self, module: str, names: set[str]) -> str:
        """Return the text with names imported from a module."""
        imports = [n for n in self.tree.body if isinstance(n, (ast.Import, ast.ImportFrom))]
        own = [n for n in imports if isinstance(n, ast.ImportFrom) and n.module == module]
        # django.conf.urls has the function of django.urls.
        root = module.partition(".")[0]
        same = [n for n in imports if str(getattr(n, "module", "")).startswith(root)]
        missing = names - {alias.asname or alias.name for node in same for alias in node.names}
        if not missing:
            return self.text
        lines = self.text.splitlines(keepends=True)
        plain = [
            n for n in own if n.lineno == n.end_lineno and all(a.asname is None for a in n.names)
        ]
        if plain:
            missing |= {alias.name for alias in plain[0].names}
        statement = f"from {module} import {', '.join(sorted(missing))}\n"
        if plain:
            lines[plain[0].lineno - 1] = statement
        else:
            lines.insert(imports[-1].end_lineno or 0 if imports else 0, statement)
        return "".join(lines)

    def _place(self, line: int | None, column: int | None) -> int:
        # The tree counts bytes.
        lines = self.text.splitlines(keepends=True)
        number = (line or 1) - 1
        text = lines[number].encode()[:column].decode()
        return sum(map(len, lines[:number])) + len(text)
