"""A user with a browser without scripts, who logs in and fills in forms."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2

INPUT = re.compile(r"<input\b[^>]*>")
ACTION = re.compile(r'<form\b[^>]*\baction="([^"]*)"')
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class Person:
    """Signs in as a user of the shop, whose password is the username.

    Attributes:
        pages: the pages that were shown, as HTML.
    """

    def __init__(self, username: str) -> None:
        self.username = username
        self.browser = httpx2.Client(follow_redirects=False, timeout=30)
        self.pages: list[str] = []

    def consent(self, url: str, answer: str = "allow") -> dict[str, str]:
        """Return the parameters of the redirect back to the client."""
        response = self.go(url)
        if "/login/" in str(response.url):
            named = {"username": self.username, "password": self.username}
            response = self.submit(response, **named)
        return self.come_back(self.submit(response, **({answer: "true"} if answer else {})))

    def come_back(self, response: httpx2.Response) -> dict[str, str]:
        query = urlsplit(response.headers["location"]).query
        return {name: values[0] for name, values in parse_qs(query).items()}

    def go(self, url: str) -> httpx2.Response:
        """Open a URL, and follow redirects within its host."""
        response = self.browser.get(url)
        while response.is_redirect:
            target = urljoin(str(response.url), response.headers["location"])
            if urlsplit(target).netloc != urlsplit(url).netloc:
                return response
            response = self.browser.get(target)
        self.pages.append(response.text)
        return response

    def submit(self, page: httpx2.Response, **filled: str) -> httpx2.Response:
        """Send the form of a page, and follow redirects within its host."""
        inputs = (dict(ATTRIBUTE.findall(tag)) for tag in INPUT.findall(page.text))
        hidden = {i["name"]: unescape(i.get("value", "")) for i in inputs if i.get("name")}
        action = ACTION.search(page.text)
        address = urljoin(str(page.url), unescape(action[1]) if action else "")
        sent = self.browser.post(address, data={**hidden, **filled})
        if not sent.is_redirect:
            raise AssertionError(f"The form of {page.url} was refused: {sent.status_code}")
        target = urljoin(str(page.url), sent.headers["location"])
        same_host = urlsplit(target).netloc == urlsplit(str(page.url)).netloc
        return self.go(target) if same_host else sent
