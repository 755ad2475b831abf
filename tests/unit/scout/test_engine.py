import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import HttpStatus
from hermes.protocols import HttpRequest
from hermes.providers.scout import PROVIDER
from hermes.providers.scout.engine import Scout

from .talk import calls, found, request, result, user

PAGE = (
    "The Harbour Bridge was designed by Ellen Marsh. "
    "Ida Holm designed the lamps of the Harbour Bridge. Soup is hot."
)


async def whole(body):
    async with Scout().open(
        HttpRequest("POST", "/v1/chat/completions", body=msgspec.json.encode(body))
    ) as reply:
        assert reply.status == 200
        assert reply.headers["content-type"] == "application/json"
        return json.loads(await reply.read())


async def stream(body):
    body = msgspec.json.encode({**body, "stream": True})
    async with Scout().open(HttpRequest("POST", "/v1/chat/completions", body=body)) as reply:
        assert reply.headers["content-type"] == "text/event-stream"
        payloads = [payload async for batch in reply.events() for payload in batch]
    assert payloads[-1] == b"[DONE]"
    return [json.loads(payload) for payload in payloads[:-1]]


async def step(*messages, **more):
    """The names and arguments of the calls scout makes next, or its words."""
    message = (await whole(request(*messages, **more)))["choices"][0]["message"]
    if message.get("tool_calls"):
        return [
            (c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message["tool_calls"]
        ]
    return message["content"]


ASKED = user("Who designed the Harbour Bridge?")
SEARCHED = calls(("c1", "web_search", {"query": "designed Harbour Bridge"}))
ROWS = result("c1", found(("Harbour Bridge", "https://b.test/", "The Harbour Bridge, designed by Marsh"),
                          ("Marsh", "https://m.test/", "Marsh designed the Harbour Bridge")))  # fmt: skip
READ = calls(("c2", "web_extract", {"urls": ["https://b.test/"]}))
PAGES = result("c2", {"results": [{"url": "https://b.test/", "title": "Harbour Bridge", "content": PAGE}]})


async def test_first_it_searches():
    assert await step(ASKED) == [("web_search", {"query": "designed Harbour Bridge"})]


async def test_then_it_reads_the_best_pages_one_call_each():
    assert await step(ASKED, SEARCHED, ROWS) == [
        ("web_extract", {"urls": ["https://b.test/"], "char_limit": 100_000}),
        ("web_extract", {"urls": ["https://m.test/"], "char_limit": 100_000}),
    ]


async def test_then_it_answers_and_cites():
    body = await whole(request(ASKED, SEARCHED, ROWS, READ, PAGES))
    choice = body["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"].startswith("The Harbour Bridge was designed by Ellen Marsh. [1] ")
    cited = choice["message"]["annotations"][0]
    assert cited["type"] == "url_citation"
    assert (cited["url_citation"]["url"], cited["url_citation"]["title"]) == (
        "https://b.test/",
        "Harbour Bridge",
    )
    span = slice(cited["url_citation"]["start_index"], cited["url_citation"]["end_index"])
    assert choice["message"]["content"][span] == "[1]"
    assert (
        body["usage"]["total_tokens"]
        == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]
        > 20
    )


async def test_a_follow_up_searches_for_the_subject_of_the_turn_before():
    answered = {"role": "assistant", "content": "The bridge was designed by Ellen Marsh. [1]"}
    again = await step(ASKED, SEARCHED, ROWS, READ, PAGES, answered, user("and when was it opened?"))
    assert again == [("web_search", {"query": "Harbour Bridge opened"})]


async def test_nothing_found_is_searched_for_again_in_other_words_three_times_in_all():
    messages, tried = [user("Which architect designed the very old Harbour Bridge in Sydney?")], []
    while isinstance(said := await step(*messages), list):
        [(name, arguments)] = said
        assert name == "web_search"
        tried.append(arguments["query"])
        messages += [calls((f"c{len(tried)}", name, arguments)), result(f"c{len(tried)}", found())]
    assert len(tried) == len(set(tried)) == 3
    assert said.startswith("I found nothing about this.")
    assert "hermes index add PATH" in said


async def test_weak_results_are_searched_for_once_more():
    weak = result("c1", found(("Soup", "https://s.test/", "Onions")))
    [(name, arguments)] = await step(ASKED, SEARCHED, weak)
    assert name == "web_search"
    assert arguments["query"] != "designed Harbour Bridge"


async def test_pages_that_do_not_answer_lead_to_one_more_search():
    soup = result(
        "c2", {"results": [{"url": "https://b.test/", "title": "", "content": "Onion soup is hot."}]}
    )
    [(name, _)] = await step(ASKED, SEARCHED, ROWS, READ, soup)
    assert name == "web_search"


async def test_without_an_extractor_it_answers_from_descriptions():
    tools = [{"type": "function", "function": {"name": "web_search"}}]
    said = await step(ASKED, SEARCHED, ROWS, tools=tools)
    assert said == "The Harbour Bridge, designed by Marsh [1]"


async def test_pages_that_cannot_be_read_leave_the_descriptions():
    failed = result(
        "c2", {"results": [{"url": "https://b.test/", "title": "", "content": "", "error": "gone"}]}
    )
    said = await step(ASKED, SEARCHED, ROWS, READ, failed)
    assert "Marsh" in said


async def test_without_tools_it_says_what_is_missing():
    said = await step(ASKED, tools=[])
    assert "no search tool" in said
    assert "--tools web" in said


async def test_failed_searches_are_told_with_their_reason():
    tried = ["designed Harbour Bridge", "two", "three"]
    messages = [calls((f"c{n}", "web_search", {"query": query})) for n, query in enumerate(tried)]
    failed = [result(f"c{n}", {"success": False, "error": "no key for `exa`."}) for n in range(3)]
    said = await step(ASKED, *messages, *failed)
    assert said.startswith("I could not search or read anything: no key for `exa`. Add documents")


async def test_call_ids_are_new():
    body = await whole(request(ASKED, SEARCHED, ROWS))
    ids = [call["id"] for call in body["choices"][0]["message"]["tool_calls"]]
    assert ids == ["call_scout_1", "call_scout_2"]


@pytest.mark.parametrize(
    "messages", [(ASKED,), (ASKED, SEARCHED, ROWS), (ASKED, SEARCHED, ROWS, READ, PAGES)]
)
async def test_a_stream_says_what_a_whole_reply_says(messages):
    body = await whole(request(*messages))
    *chunks, usage = await stream(request(*messages))
    assert all(chunk["object"] == "chat.completion.chunk" and chunk["id"] == body["id"] for chunk in chunks)
    assert (usage["choices"], usage["usage"]) == ([], body["usage"])
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    message = body["choices"][0]["message"]
    assert deltas[0]["role"] == "assistant"
    assert "".join(delta.get("content") or "" for delta in deltas) == (message["content"] or "")
    called = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert [{k: v for k, v in call.items() if k != "index"} for call in called] == message.get(
        "tool_calls", []
    )
    assert [call["index"] for call in called] == list(range(len(called)))
    marked = [delta["annotations"] for delta in deltas if "annotations" in delta]
    assert marked == ([message["annotations"]] if "annotations" in message else [])
    assert chunks[-1]["choices"][0]["finish_reason"] == body["choices"][0]["finish_reason"]


async def test_text_streams_sentence_by_sentence():
    chunks = await stream(request(ASKED, SEARCHED, ROWS, READ, PAGES))
    pieces = [c["choices"][0]["delta"].get("content") for c in chunks if c["choices"]]
    assert [piece.count("[1]") for piece in pieces if piece] == [1, 1]


async def test_a_stream_read_whole_is_an_event_stream():
    body = msgspec.json.encode(request(ASKED, stream=True))
    async with Scout().open(HttpRequest("POST", "/", body=body)) as reply:
        assert (await reply.read()).endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff"])
async def test_a_body_that_is_no_object_is_rejected(body):
    with pytest.raises(HttpStatus) as caught:
        async with Scout().open(HttpRequest("POST", "/", body=body)):
            pass
    assert caught.value.status == 400
    assert "request body" in json.loads(caught.value.body)["error"]["message"]


async def test_the_provider_makes_its_own_wire():
    wire = PROVIDER.engine()
    assert isinstance(wire, Scout)
    await wire.close()
    assert PROVIDER.default_model in PROVIDER.models
    assert not PROVIDER.key_required


KEYS = "role content tool_calls function name arguments data web results url id".split()  # noqa: SIM905
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system"])
RESULTS = st.sampled_from(
    [json.dumps(found(("A", "https://a.test/", "a b c"))), ROWS["content"], PAGES["content"], "{"]
)
MESSAGES = st.lists(
    JSON
    | st.fixed_dictionaries(
        {"role": ROLES, "content": st.text(max_size=40) | JSON | RESULTS}, optional={"tool_calls": JSON}
    ),
    max_size=6,
)


@given(messages=MESSAGES | JSON, tools=st.just(request()["tools"]) | JSON, model=JSON)
async def test_any_messages_get_a_valid_and_repeatable_completion(messages, tools, model):
    asked = {"messages": messages, "tools": tools, "model": model}
    body = await whole(asked)
    message = body["choices"][0]["message"]
    assert bool(message["content"]) != bool(message.get("tool_calls"))
    assert body == await whole(asked)
    assert "".join(
        chunk["choices"][0]["delta"].get("content") or "" for chunk in await stream(asked) if chunk["choices"]
    ) == (message["content"] or "")
