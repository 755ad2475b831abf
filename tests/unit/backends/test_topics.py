"""A topic that a backend does not know is told, whoever it is."""

import pytest

from simulators.web.base import answers


@pytest.mark.parametrize("name", ["brave-free", "firecrawl", "searxng", "serper"])
async def test_those_that_know_news_alone_say_so(name, desk):
    outcome, _ = await desk(name).search(answers([]), topic="finance")
    assert [note.endswith("finance was not heeded") for note in outcome.notes] == [True]
    outcome, _ = await desk(name).search(answers([]), topic="general")
    assert outcome.notes == ()
