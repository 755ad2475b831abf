"""Somebody who is asked before a tool runs."""


class Person:
    """Answers every question the same way, and remembers what was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    async def __call__(self, wanted):
        self.asked.append(wanted)
        return self.answer
