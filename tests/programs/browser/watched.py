"""A page whose complaints are collected, and which axe-core can be asked about."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

# Runs before anything of the page: the browser tells of each refused script, style or image.
TELL_OF_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


class Watched:
    """A page and what went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.add_init_script(TELL_OF_VIOLATIONS)
        page.on("console", self.on_console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def violations(self, axe: str) -> list[str]:
        """Return what axe-core has against the page as it is now, in light and dark colours."""
        # The page's own policy would not let the script in, so the browser evaluates it.
        self.page.evaluate(axe)
        return [text for scheme in ("light", "dark") for text in self.violations_in(scheme)]

    def violations_in(self, scheme: Any) -> list[str]:
        self.page.emulate_media(color_scheme=scheme)
        found = self.page.evaluate("() => axe.run(document)")
        return [
            f"{scheme}: {item['id']}: {node['html'][:160]} {node['failureSummary']}"
            for item in found["violations"]
            for node in item["nodes"]
        ]

    def call(self, name: str) -> None:
        self.page.locator("[data-form]").get_by_role("button", name=f"Call {name}").click()

    def verdict(self) -> str:
        verdict = self.page.locator("[data-verdict] h3")
        verdict.wait_for()
        return verdict.inner_text()

    def text_of(self, element: str) -> str:
        """Return the text of an element by its id, folded and hidden parts too."""
        return self.page.locator(f"#{element}").text_content()
