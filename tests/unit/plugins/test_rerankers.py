"""Rerankers that plugins offer, from `ctx` to the result of a search."""

import pytest

from hermes.app import Runtime

CODE = """
class Finds:
    def __init__(self, name, *titles):
        self.name, self.titles = name, titles
    def is_available(self): return True
    def supports_search(self): return True
    def search(self, query, limit=5):
        web = [
            {"title": title, "url": f"https://{title.lower()}.example/", "description": "All of it."}
            for title in self.titles
        ]
        return {"success": True, "data": {"web": web}}

class Longest:
    name = "longest"
    def rank(self, query, rows):
        return [len(row.title) for row in rows]

class Broken:
    name = "broken"
    async def rank(self, query, rows):
        raise RuntimeError("no weights")

def register(ctx):
    ctx.register_web_search_provider(Finds("one", "Soup", "Bridge"))
    ctx.register_web_search_provider(Finds("two", "Longwinded", "Bread"))
    ctx.register_reranker(Longest())
    ctx.register_reranker(Broken())
    ctx.register_reranker("longest")
"""


async def search(home, web):
    home.plugin("mine", CODE)
    home.settings(f"plugins:\n  enabled: [mine]\nweb: {{cache_enabled: false, {web}}}\n")
    async with Runtime(home.config()) as runtime:
        assert "what it registered as a reranker is none" in runtime.plugins._loaded.warnings[0]
        outcome = await runtime.services.web.search("bridge")
    return [row.title for row in outcome.rows], outcome.notes


@pytest.mark.parametrize(
    ("web", "titles"),
    [
        ("backend: one", ["Soup", "Bridge"]),
        ("backend: one, rerank: off", ["Soup", "Bridge"]),
        ("backend: one, rerank: lexical", ["Bridge", "Soup"]),
        ("backend: one, rerank: longest", ["Bridge", "Soup"]),
        ("federate: [one, two]", ["Bridge", "Soup", "Longwinded", "Bread"]),
        ("federate: [one, two], rerank: off", ["Soup", "Longwinded", "Bridge", "Bread"]),
        ("federate: [one, two], rerank: longest", ["Longwinded", "Bridge", "Bread", "Soup"]),
    ],
)
async def test_results_are_reordered_where_the_settings_say_so(home, web, titles):
    assert await search(home, web) == (titles, ())


async def test_a_reranker_that_fails_leaves_the_order_of_the_words_and_a_note(home):
    titles, notes = await search(home, "backend: one, rerank: broken")
    assert titles == ["Bridge", "Soup"]
    assert notes[0].startswith("`broken` could not rank the results (RuntimeError)")
