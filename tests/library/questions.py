"""Ten questions about Python, each with words that a sensible answer has."""

from __future__ import annotations

QUESTIONS = {
    "What does the with statement do?": ["context manager", "__exit__"],
    "What is a lambda expression?": ["anonymous function"],
    "How does a for loop end early?": ["break", "loop"],
    "How are exceptions handled with try and except?": ["exception", "except"],
    "What does yield do in a generator?": ["generator", "yield"],
    "What does __getattr__ do when attribute access fails?": ["__getattr__", "AttributeError"],
    "What is a metaclass?": ["metaclass", "class"],
    "How do format strings and replacement fields work?": ["format", "replacement field"],
    "What does the global statement mean?": ["global", "name"],
    "How do I set a breakpoint in the debugger?": ["breakpoint", "debugger"],
}
