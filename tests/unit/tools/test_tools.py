"""Tools: the schema follows the signature, arguments are made to fit, shapes are exact."""

import json
from typing import Annotated

import pytest

from hermes.errors import ToolError, UnknownName, UnknownTool, WebError
from hermes.protocols import ToolResult
from hermes.tools.base import Param, coerce, tool
from hermes.tools.toolbox import Toolbox, all_tools, select
from hermes.tools.web.kernel import ExtractOutcome, FoundRow, ReadPage, SearchOutcome


async def sample(
    services: object,
    name: Annotated[str, Param("Who.")],
    size: Annotated[int, Param("How big.", minimum=1, maximum=9)] = 3,
    tags: list[str] | None = None,
    exact: bool = False,
) -> ToolResult:
    """Do a thing
    in two lines.

    What the model does not read.
    """
    return ToolResult(text=repr((name, size, tags, exact)))


SAMPLE = tool(sample, toolset="test")


def test_the_signature_is_the_schema():
    assert SAMPLE.spec.description == "Do a thing in two lines."
    assert SAMPLE.spec.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who."},
            "size": {"type": "integer", "default": 3, "description": "How big.", "minimum": 1, "maximum": 9},
            "tags": {"type": "array", "items": {"type": "string"}},
            "exact": {"type": "boolean", "default": False},
        },
        "required": ["name"],
    }


@pytest.mark.parametrize(
    ("given", "fitted"),
    [
        ({"size": "5"}, {"size": 5}),
        ({"size": " -5 "}, {"size": -5}),
        ({"size": "many"}, {"size": "many"}),
        ({"exact": "true"}, {"exact": True}),
        ({"exact": "False"}, {"exact": False}),
        ({"tags": "one"}, {"tags": ["one"]}),
        ({"name": 7, "other": 1}, {"name": 7}),
    ],
)
def test_arguments_are_made_to_fit(given, fitted):
    assert coerce(given, SAMPLE.spec.parameters) == fitted


async def test_a_tool_is_called_with_its_arguments():
    box = Toolbox([SAMPLE], object())
    assert (await box.call("sample", {"name": "x", "size": "4"})).text == "('x', 4, None, False)"


async def test_unknown_tools_and_missing_arguments_are_said():
    box = Toolbox([SAMPLE], object())
    with pytest.raises(UnknownTool, match="there are sample"):
        await box.call("smaple", {})
    with pytest.raises(ToolError, match="needs `name`"):
        await box.call("sample", {"size": 1})


def test_tools_are_chosen_by_name_or_toolset():
    assert {found.spec.name for found in select(["web"])} == {"web_search", "web_extract"}
    assert [found.spec.name for found in select(["web_search"])] == ["web_search"]
    assert select([]) == ()
    with pytest.raises(UnknownName, match="webb"):
        select(["webb"])


@pytest.mark.parametrize("found", all_tools(), ids=lambda found: found.spec.name)
def test_every_tool_tells_the_model_what_it_needs_to_know(found):
    assert found.spec.description.endswith(".")
    assert found.toolset
    for name, parameter in found.spec.parameters["properties"].items():
        assert parameter.get("description"), name


class Web:
    def __init__(self, outcome):
        self.outcome, self.asked = outcome, []

    async def search(self, query, limit):
        self.asked.append((query, limit))
        return self._answer()

    async def extract(self, items, char_limit, *, in_all):
        self.asked.append((items, char_limit, in_all))
        return self._answer()

    def _answer(self):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Services:
    def __init__(self, outcome):
        self.web = Web(outcome)


async def call(name, outcome, **arguments):
    services = Services(outcome)
    return await Toolbox(select([name]), services).call(name, arguments), services.web


async def test_web_search_prints_the_exact_shape():
    outcome = SearchOutcome(rows=(FoundRow("Köln", "https://k/", "d", 1),), served_by="x")
    result, web = await call("web_search", outcome, query="q", limit="7")
    assert web.asked == [("q", 7)]
    assert json.loads(result.text) == {
        "success": True,
        "data": {"web": [{"title": "Köln", "url": "https://k/", "description": "d", "position": 1}]},
    }
    assert "Köln" in result.text
    assert (result.served_by, result.sources[0].url, result.is_error) == ("x", "https://k/", False)


async def test_a_failed_search_is_an_error_in_its_shape():
    result, _ = await call("web_search", WebError("down"), query="q")
    assert json.loads(result.text) == {"success": False, "error": "down"}
    assert result.is_error


async def test_web_extract_prints_the_exact_shape():
    pages = (ReadPage("https://a/", "A", "text", None), ReadPage("https://b/", "", "", "gone"))
    result, web = await call("web_extract", ExtractOutcome(pages, "x"), urls="https://a/", char_limit="9000")
    assert web.asked == [(["https://a/"], 9000, 90_000)]
    assert json.loads(result.text) == {
        "results": [
            {"url": "https://a/", "title": "A", "content": "text", "error": None},
            {"url": "https://b/", "title": "", "content": "", "error": "gone"},
        ]
    }
    assert [source.url for source in result.sources] == ["https://a/"]
    assert not result.is_error


async def test_a_failed_extract_is_an_error_in_its_shape():
    result, _ = await call("web_extract", WebError("down"), urls=[])
    assert json.loads(result.text) == {"error": "Error extracting content: down"}
    assert result.is_error
