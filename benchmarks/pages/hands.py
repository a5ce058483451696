"""What a person does on a page, counted: clicks, keystrokes, mistakes and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, Page

# The program never pauses; a page that does not answer within this time has failed.
SECONDS_TO_ANSWER = 15


class Impossible(Exception):
    """The page cannot do the task."""


@dataclass(frozen=True)
class Effort:
    """The cost of one task; `mistakes` are those that the page lets a careful person make.

    Attributes:
        done: whether the page can do the task.
    """

    done: bool
    clicks: int
    keys: int
    mistakes: int
    seconds: float


class Hands:
    """Clicks and types on a page. A pasted text is two keystrokes, a chosen option two clicks."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.keys = self.mistakes = 0

    def click(self, target: Locator) -> None:
        target.first.click()
        self.clicks += 1

    def type(self, target: Locator, text: str) -> None:
        """Click a field that is empty or holds an example, and type into it."""
        target.first.fill(text)
        self.clicks += 1
        self.keys += len(text)

    def paste(self, target: Locator, text: str) -> None:
        target.first.fill(text)
        self.clicks += 1
        self.keys += 2

    def choose(self, target: Locator, value: str) -> None:
        target.first.select_option(value)
        self.clicks += 2

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.keys += 1

    def find_on_page(self, text: str) -> None:
        """Use the browser's own search, which has to find the text."""
        self.keys += 1 + len(text)
        self.expect(text)

    def expect(self, text: str) -> None:
        """Wait until a person can see a text."""
        shown = self.page.get_by_text(text).locator("visible=true")
        shown.first.wait_for(timeout=SECONDS_TO_ANSWER * 1000)

    def measure(self, task: Callable[[Hands], None]) -> Effort:
        started = time.perf_counter()
        try:
            task(self)
            done = True
        except Impossible:
            done = False
        seconds = time.perf_counter() - started
        return Effort(done, self.clicks, self.keys, self.mistakes, round(seconds, 1))
