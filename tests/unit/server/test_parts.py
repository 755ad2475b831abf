"""The small parts of the server: tokens, limits, words on their way out, pages and their numbers."""

import os
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes import discover
from hermes.agent.conversation import Conversation
from hermes.agent.prompt import NUDGE
from hermes.app import Terms
from hermes.config.secret import Redactor, Secret
from hermes.errors import ConfigError, RequestFault
from hermes.events import Answer, Reasoning, Text, ToolFinished, ToolStarted
from hermes.messages import Citation, Message, ToolCall, Usage
from hermes.protocols import Source
from hermes.server.app import PACKAGE, endpoints
from hermes.server.asked import Asked
from hermes.server.endpoint import Endpoint
from hermes.server.faults import _STATUSES, error_response
from hermes.server.holding import Holding
from hermes.server.limits import RateLimit, Room
from hermes.server.metrics import Metrics
from hermes.server.pending import Pending
from hermes.server.responses.instructions import instructed, uninstructed
from hermes.server.runs import LARGE, joined
from hermes.server.sonar import SonarOptions, UserLocation, WebSearchOptions, filters
from hermes.server.sources import SearchResult, Seen, marks
from hermes.server.tokens import Tokens, read_or_make
from hermes.tools.base import as_json
from hermes.tools.web.narrowing import both

TOKEN = "a-token-for-tests-0123456789"


def test_a_token_is_made_once_for_its_owner_alone(tmp_path):
    path = str(tmp_path / "home" / "server-token")
    tokens, made = read_or_make(path)
    again, nothing = read_or_make(path)
    assert (os.stat(path).st_mode & 0o777, nothing) == (0o600, "")
    assert tokens.owner(made) == again.owner(made) is not None
    assert tokens.owner(made) not in made
    assert again.owner(made[:-1]) is None
    assert again.owner_of_cookie(again.cookie(made)) == again.owner(made)
    assert again.cookie("nonsense") is None


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ("", 0o600, "needs a token"),
        ("short", 0o600, "needs a token"),
        (TOKEN, 0o644, "read by other users"),
    ],
)
def test_a_file_of_tokens_that_is_none_is_refused(tmp_path, text, mode, words):
    path = tmp_path / "tokens"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=words):
        read_or_make(str(path))
    with pytest.raises(ConfigError, match="cannot be"):
        read_or_make(str(path / "below"))


def test_a_file_may_hold_several_tokens(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"# mine\n{TOKEN}\n\n{TOKEN}-2\n")
    path.chmod(0o600)
    tokens, _ = read_or_make(str(path))
    assert len({tokens.owner(TOKEN), tokens.owner(f"{TOKEN}-2"), tokens.owner("# mine")}) == 3
    assert Tokens([]).owner(TOKEN) is None


def test_each_caller_has_a_bucket_and_old_ones_are_forgotten():
    now = [0.0]
    rate = RateLimit(60, lambda: now[0])
    for _ in range(60):
        rate.take("me")
    rate.take("you")
    with pytest.raises(RequestFault) as refused:
        rate.take("me")
    assert (refused.value.status, refused.value.retry_after) == (429, 1.0)
    now[0] = 2.0
    rate.take("me")
    rate.take("me")
    with pytest.raises(RequestFault):
        rate.take("me")
    for number in range(2_000):
        rate.take(str(number))
    rate.take("me")


def test_who_leaves_makes_room_however_they_leave():
    room = Room(1)

    def stumble():
        with room.enter():
            room.enter().__enter__()

    with pytest.raises(RequestFault):
        stumble()
    assert room.inside == 0


KEY = "sk-0123456789abcdef"


@given(st.lists(st.sampled_from(["a ", "b", "\n", "é", KEY[:9], KEY[9:], KEY, "鍵", "x" * 50])))
def test_no_piece_of_words_gives_a_key_away_and_none_is_lost(pieces):
    redact = Redactor([Secret(KEY)])
    holding = Holding(redact)
    out = [*map(holding.add, pieces), holding.rest()]
    assert KEY not in "".join(out)
    assert "".join(out) == redact("".join(pieces))
    free = Holding(None)
    assert [*map(free.add, pieces), free.rest()] == [*pieces, ""]


def test_words_without_blanks_are_not_held_for_ever():
    holding = Holding(str)
    assert sum(len(holding.add("x" * 100)) for _ in range(100)) > 5_000


@given(
    st.lists(
        st.one_of(
            st.builds(Text, st.text(max_size=5)),
            st.builds(Reasoning, st.text(max_size=5)),
            st.just(Text("y" * LARGE)),
            st.just(ToolStarted("1", "web_search", "{}")),
        ),
        max_size=8,
    )
)
@settings(max_examples=50)
def test_joined_news_say_the_same_in_the_same_order(news):
    def told(all):
        said = []
        for each in all:
            words = each.id if isinstance(each, ToolStarted) else each.delta
            if said and said[-1][0] is type(each) is not ToolStarted:
                said[-1] = (type(each), said[-1][1] + words)
            else:
                said.append((type(each), words))
        return said

    assert told(joined(news)) == told(news)
    assert told(joined(joined(news))) == told(news)


def search(id, *urls, error=False):
    rows = [
        {"title": url, "url": url, "description": "said", "position": 1, "date": "2026-01-02"} for url in urls
    ]
    return ToolFinished(id, "web_search", as_json({"success": True, "data": {"web": rows}}), error, 0.1)


def answer(**data):
    said = Message(role="assistant", provider_data=data or None)
    return Answer("s", "", (), (said,), Usage(), "stop", "p", "m", "chat_completions")


def test_pages_are_told_in_the_order_the_model_knows_them_with_what_tools_said_of_them():
    seen = Seen((SearchResult("Earlier", "http://0", "2025-01-01"),))
    seen.begin(ToolStarted("a", "web_search", "{}"))
    seen.take(search("a", "http://3", "http://1"))
    seen.begin(ToolStarted("a", "x_search", "{}"))
    seen.take(search("a", "http://never", error=True))
    read = {"results": [{"url": "http://2", "title": "Two", "content": "words", "error": None}]}
    seen.begin(ToolStarted("a", "web_extract", "{}"))
    seen.take(ToolFinished("a", "web_extract", as_json(read), False, 0.1))
    seen.number([Source(f"http://{n}", f"Page {n}", "seen") for n in (0, 1, 2, 3, 9)])
    pages = seen.results(answer())
    assert [page.url for page in pages] == [f"http://{n}" for n in (0, 1, 2, 3, 9)]
    assert [page.title for page in pages] == ["Earlier", "http://1", "Two", "http://3", "Page 9"]
    assert [page.snippet for page in pages] == ["seen", "said", "words", "said", "seen"]
    assert [page.date for page in pages] == ["2025-01-01", "2026-01-02", None, "2026-01-02", None]
    assert seen.searches == 2


def test_a_provider_that_numbers_its_own_sources_is_believed():
    seen = Seen()
    seen.take(search("a", "http://1"))
    seen.number([Source("http://1", "One", "")])
    named = answer(citations=["http://own", {"url": "http://1"}, 3])
    assert [page.url for page in seen.results(named)] == ["http://own", "http://1"]


@pytest.mark.parametrize("result", ["", "{", "[]", "{}", '{"data": 3}', '{"results": [1, {"url": null}]}'])
def test_what_a_tool_says_otherwise_brings_no_page(result):
    seen = Seen()
    seen.take(ToolFinished("a", "terminal", result, False, 0.1))
    seen.number(())
    assert seen.results(answer()) == ()


def test_a_turn_that_waits_is_found_by_its_own_conversation_alone():
    now = [0.0]
    pending = Pending(lambda: now[0])
    call = Message(role="assistant", tool_calls=(ToolCall("call_0", "weather", "{}"),))
    hidden = (Message(role="assistant", content="hm"), Message(role="user", content=NUDGE))

    def asked(question, *after):
        said = (Message(role="user", content=question), call) if after else ()
        return Asked(terms=Terms(history=said), question="" if after else question, results=after)

    result = Message(role="tool", tool_call_id="call_0", content="rain")
    first = msgspec.structs.replace(answer(), finish_reason="tool_calls", messages=(call,))
    known = Terms(history=(Message(role="user", content="mine?"), *hidden, call))
    pending.keep(asked("mine?"), first, known, (SearchResult("One", "http://1"),))
    mine, pages = pending.resume(asked("mine?", result))
    assert mine.terms.history == known.history
    assert [page.url for page in pages] == ["http://1"]
    other = asked("another's?", result)
    assert pending.resume(other) == (other, ())
    now[0] = 10_000.0
    late = asked("mine?", result)
    assert pending.resume(late) == (late, ())


def test_instructions_come_and_go_and_a_summary_stands_for_the_same_messages():
    said = [Message(role="user", content=str(number)) for number in range(5)]
    summary = Message(role="user", content="in short", replaces=4, besides=(1,))
    history = (*said, summary)

    def sent(messages):
        return [message.content for message in Conversation("s", messages, None).messages[1:]]

    under = instructed("be brief", history)
    assert sent(history) == ["in short", "1", "4"]
    assert sent(under) == ["in short", "be brief", "1", "4"]
    assert uninstructed(under) == history
    assert uninstructed(instructed("x", said)) == tuple(said)


@given(st.lists(st.sampled_from(["[1]", "[2]", "[3]", "🦉", "ü ", "a[", "]"])))
def test_every_mark_is_where_it_is_said_to_be(pieces):
    text = "".join(pieces)
    cited = [Citation(1, "http://1", "One", ""), Citation(2, "http://2", "", ""), Citation(3, "", "", "")]
    found = marks(text, cited)
    assert [text[mark.start : mark.end] for mark in found] == re.findall(r"\[1\]|\[2\]", text)
    assert all(mark.title for mark in found)


def test_sonars_options_become_filters():
    options = SonarOptions(
        search_domain_filter=("A.example", "-b.example"),
        search_recency_filter="week",
        search_after_date_filter="3/1/2026",
        search_before_date_filter="2026-04-01",
        search_language_filter=("EN",),
        web_search_options=WebSearchOptions(UserLocation("de")),
    )
    assert filters(options) == {
        "include_domains": ["a.example"],
        "exclude_domains": ["b.example"],
        "freshness": "week",
        "after": "2026-03-01",
        "before": "2026-04-01",
        "region": "DE",
        "language": "en",
    }
    assert filters(SonarOptions()) == {}
    assert filters(SonarOptions(search_recency_filter="hour")) == {"freshness": "day"}


@pytest.mark.parametrize(
    "options",
    [
        {"search_language_filter": ("en", "de")},
        {"search_language_filter": ("english",)},
        {"search_domain_filter": ("a",) * 21},
        {"web_search_options": WebSearchOptions(UserLocation("Germany"))},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(RequestFault) as refused:
        filters(SonarOptions(**options))
    assert refused.value.param in options


def test_a_search_is_as_narrow_as_both_want_it():
    asked = {"query": "q", "after": "2026-03-01", "before": "2026-03-09", "include_domains": ["x"]}
    held = {"after": "2026-02-01", "before": "2026-03-05", "include_domains": ["a"]}
    assert both(asked, held) == {
        "query": "q",
        "after": "2026-03-01",
        "before": "2026-03-05",
        "include_domains": ["a"],
    }
    assert both({"query": "q"}, {"exclude_domains": ["b"]}) == {"query": "q", "exclude_domains": ["b"]}


def test_every_file_is_one_path_and_no_two_are_the_same():
    found = endpoints()
    assert all(isinstance(endpoint, Endpoint) for endpoint in found)
    assert len({endpoint.path for endpoint in found}) == len(found) == len(discover.names(PACKAGE))
    assert {endpoint.path for endpoint in found} >= {
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/responses/{id}",
        "/v1/models",
        "/v1/search",
        "/v1/extract",
        "/healthz",
        "/metrics",
        "/openapi.json",
    }


def test_every_error_has_a_status():
    for kind, (status, code) in _STATUSES.items():
        assert 400 <= status < 600, kind
        assert code.replace("_", "").isalpha()
    response = error_response(RequestFault("no", status=429, retry_after=0.2))
    assert response.headers["retry-after"] == "1"


def test_figures_are_in_prometheus_form():
    metrics = Metrics()
    metrics.request("/v1/models", "GET", 200, 0.02)
    metrics.request("/v1/models", "GET", 200, 3.0)
    metrics.rejected("overloaded")
    text = metrics.text(3, 4)
    assert 'hermes_requests_total{path="/v1/models",method="GET",status="200"} 2' in text
    assert 'hermes_request_seconds_bucket{path="/v1/models",le="0.025"} 1' in text
    assert 'hermes_request_seconds_bucket{path="/v1/models",le="+Inf"} 2' in text
    assert 'hermes_request_seconds_sum{path="/v1/models"} 3.02' in text
    assert "hermes_runs_in_flight 3\n" in text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .+|\w+(\{[^{}]+\})? [\d.e+-]+", line), line
