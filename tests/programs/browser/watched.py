"""A page that records its errors, and on which axe-core can run."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

# Runs before any script of the page: the browser reports each refused script, style or image.
TELL_OF_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
});
"""


# A rule of WCAG that axe-core leaves out by default.
FURTHER_RULES = {"label-content-name-mismatch": {"enabled": True}}
# The rules of axe-core about colours, which are the only ones that a dark scheme can violate.
COLOUR_RULES = ["color-contrast", "link-in-text-block"]


def find_violations(frame: Any, scheme: str) -> list[str]:
    """Return the violations that axe-core, evaluated in the frame, finds in a colour scheme."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": FURTHER_RULES}
    if scheme == "dark":
        options["runOnly"] = COLOUR_RULES
    found = frame.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{scheme}: {item['id']}: {node['html'][:160]} {node['failureSummary']}"
        for item in found["violations"]
        for node in item["nodes"]
    ]


class Watched:
    """A page and the errors that it logged."""

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
        """Return the violations that axe-core finds on the page, in light and dark colours."""
        # The page's policy refuses the script; the browser evaluates it in spite of the policy.
        self.page.evaluate(axe)
        found = []
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            found += find_violations(self.page, scheme)
        return found

    def call(self, name: str) -> None:
        self.page.locator("[data-form]").get_by_role("button", name=f"Call {name}").click()

    def verdict(self) -> str:
        verdict = self.page.locator("[data-verdict] h3")
        verdict.wait_for()
        return verdict.inner_text()

    def text_of(self, element: str) -> str:
        """Return the text of an element by its id, with folded and hidden parts."""
        return self.page.locator(f"#{element}").text_content()
