"""A session as an HTML page: whoever wrote the words in it, a browser obeys none of them."""

import asyncio
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.agent.compaction import SUMMARY
from hermes.agent.untrusted import fenced
from hermes.cli import _shell
from hermes.cli._html import html
from hermes.messages import Image, Message, ToolCall
from hermes.store import Session, SessionInfo, Store

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&</pre></details>"
ALLOWED = {
    *("html", "meta", "title", "style", "h1", "h2", "p", "pre", "details", "summary", "code"),
    *("ul", "li", "a"),
}


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.links, self.text = [], set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data):
        self.text += data


def page(*messages, title="a title"):
    info = SessionInfo("s1", title, 0.0, 0.0, "p", "m", "/", "done", len(messages))
    return Page(html(info, messages))


def searched(*rows):
    payload = {
        "success": True,
        "data": {"web": [{"title": t, "url": u, "description": d} for t, u, d in rows]},
    }
    return Message("tool", fenced(json.dumps(payload), "00ff"), tool_call_id="1")


def talk(url, words=HOSTILE):
    return (
        Message("user", words, images=(Image("image/png<script>", "AAAA"), Image(url="javascript:x"))),
        Message("assistant", words, tool_calls=(ToolCall("1", words, words),)),
        searched((words, url, words)),
        Message("tool", words, is_error=True),
        Message("assistant", f"{words} [1]"),
    )


@pytest.mark.parametrize("url", ["https://a.example/?q=\"onload='x'<b>", f"https://a.example/{HOSTILE}"])
def test_everything_is_escaped_and_nothing_is_run_or_loaded(url):
    made = page(*talk(url), title=HOSTILE)
    assert set(made.tags) <= ALLOWED
    assert made.attributes <= {"lang", "charset", "name", "content", "href", "rel"}
    assert made.links == [url]
    assert made.text.count("<script>alert(1)</script>") >= 6


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,<script>",
        "file:///etc/passwd",
        "hermes://docs/x.md",
        "//a.example",
    ],
)
def test_only_http_addresses_are_links(url):
    made = page(*talk(url, "plain words"))
    assert made.links == []
    assert url in made.text


def test_sources_stand_under_the_numbers_of_the_answer():
    made = page(
        Message("user", "why?"),
        Message("assistant", tool_calls=(ToolCall("1", "web_search", "{}"),)),
        searched(("First", "https://a.example/1", "one"), ("Second", "https://a.example/2", "two")),
        Message("assistant", "Because of the second. [2]"),
        Message("user", SUMMARY + "all of it", replaces=3),
    )
    assert made.links == ["https://a.example/2"]
    assert "[2] Second" in made.text
    assert "all of it" not in made.text


@settings(max_examples=60, deadline=None)
@given(st.text(), st.text(), st.text())
def test_no_words_make_a_tag(title, words, url):
    made = page(*talk(url, words), title=title)
    assert set(made.tags) <= ALLOWED
    assert all(link.startswith(("http://", "https://")) for link in made.links)


def test_the_command_writes_the_page(tmp_path, monkeypatch, capsys):
    home = tmp_path / "home"
    monkeypatch.setenv("HERMES_HOME", str(home))

    async def fill():
        store = Store.open(str(home / "sessions.db"))
        await store.create(Session("s1", "A talk", 0, 0, "p", "m", "/"))
        await store.append("s1", talk("https://a.example/"))
        await store.close()

    asyncio.run(fill())
    target = tmp_path / "talk.html"
    assert _shell.run(["sessions", "export", "s1", "--format", "html", "-o", str(target)]) == 0
    assert capsys.readouterr() == ("", f"wrote `{target}`\n")
    made = Page(target.read_text())
    assert made.links == ["https://a.example/"]
    assert "A talk" in made.text
