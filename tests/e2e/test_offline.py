"""A fresh machine: no key, no network, no model server. Hermes answers from its own manual."""

import json
import re

QUESTION = "How do I add a web search backend?"


async def test_the_first_question_is_answered_with_citations(hermes):
    outcome = await hermes("chat", "-q", QUESTION)
    assert outcome.code == 0
    assert re.search(r"backends?/", outcome.out)
    assert re.search(r"\[1\]", outcome.out)
    assert re.search(r"^\[1\] .+hermes://docs/", outcome.out, flags=re.MULTILINE)
    said = outcome.err.strip().splitlines()
    assert len(said) == 1
    assert "`scout/scout-1`" in said[0]
    assert "`local`" in said[0]
    assert "-m PROVIDER/MODEL" in said[0]


async def test_the_answer_as_one_object(hermes):
    outcome = await hermes("chat", "-q", QUESTION, "--json")
    answer = outcome.json()
    assert set(answer) == {
        "session_id", "answer", "citations", "tool_calls", "model", "provider", "api_mode", "finish_reason",
        "usage", "cost", "error",
    }  # fmt: skip
    assert (answer["model"], answer["provider"], answer["api_mode"]) == (
        "scout-1",
        "scout",
        "chat_completions",
    )
    assert (answer["finish_reason"], answer["cost"], answer["error"]) == ("stop", 0.0, None)
    assert {call["name"] for call in answer["tool_calls"]} == {"web_search", "web_extract"}
    assert all(call["served_by"] == "local" for call in answer["tool_calls"])
    for cited in answer["citations"]:
        assert set(cited) == {"n", "url", "title", "quote", "verified"}
        assert f"[{cited['n']}]" in answer["answer"]
        assert cited["url"].startswith("hermes://docs/")
        assert cited["title"]
    assert any(cited["quote"] for cited in answer["citations"])


async def test_the_same_question_gets_the_same_answer(hermes):
    first = (await hermes("chat", "-q", QUESTION, "--json")).json()
    second = (await hermes("chat", "-q", QUESTION, "--json")).json()
    assert first["answer"] == second["answer"]
    assert first["session_id"] != second["session_id"]


async def test_every_event_on_a_line_of_its_own(hermes):
    outcome = await hermes("chat", "-q", QUESTION, "--json-lines")
    events = [json.loads(line) for line in outcome.out.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "done"
    assert {"tool_started", "tool_finished", "text"} <= set(kinds)
    text = "".join(event["delta"] for event in events if event["type"] == "text")
    assert text == events[-1]["answer"]["text"]


async def test_your_own_documents_answer_too(hermes, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "boiler.md").write_text(
        "# The boiler\n\nThe boiler in the cellar was installed in 1987 by Ada Quill.\n\nIt burns oil.\n"
    )
    (notes / "page.html").write_text(
        "<html><title>Garden</title><body><main><h1>Garden</h1>"
        "<p>The pear tree was planted by Tom Vale in spring.</p></main></body></html>"
    )
    added = await hermes("index", "add", str(notes))
    assert added.code == 0
    assert added.out == ""
    answer = (await hermes("chat", "-q", "Who installed the boiler?", "--json")).json()
    assert "Ada Quill" in answer["answer"]
    assert answer["citations"][0]["url"].endswith("/boiler.md")
    assert "Tom Vale" in (await hermes("chat", "-q", "Who planted the pear tree?")).out


async def test_search_and_extract_print_the_shapes_programs_rely_on(hermes):
    found = (await hermes("search", "add a provider", "-n", "3", "--json")).json()
    assert found["success"] is True
    rows = found["data"]["web"]
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    assert all(set(row) == {"title", "url", "description", "position"} for row in rows)
    read = (await hermes("extract", rows[0]["url"], "hermes://docs/none.md", "--json")).json()
    assert [page["url"] for page in read["results"]] == [rows[0]["url"], "hermes://docs/none.md"]
    good, bad = read["results"]
    assert good["content"]
    assert good["error"] is None
    assert bad["content"] == ""
    assert bad["error"]


async def test_a_conversation_goes_on(hermes):
    first = (await hermes("chat", "-q", QUESTION, "--json")).json()
    second = (await hermes("chat", "-c", "-q", "And how is it tested?", "--json")).json()
    assert second["session_id"] == first["session_id"]
    third = (await hermes("chat", "-r", first["session_id"][:12], "-q", "Thanks?", "--json")).json()
    assert third["session_id"] == first["session_id"]
    shown = await hermes("sessions", "show", first["session_id"])
    assert QUESTION in shown.out
    assert "And how is it tested?" in shown.out


async def test_what_the_sources_do_not_answer_is_said_plainly(hermes):
    outcome = await hermes("chat", "-q", "Which zebra won the 1734 regatta of Ljubljana?")
    assert outcome.code == 0
    assert re.search(r"do not answer|nothing", outcome.out)


async def test_doctor_finds_a_fresh_home_sound(hermes):
    outcome = await hermes("doctor", "--offline", "--json")
    assert outcome.code == 0
    checks = {row["check"]: row for row in outcome.json()["checks"]}
    assert {"python", "home", "model", "search", "documents", "sessions"} <= set(checks)
    assert all(row["status"] == "ok" for row in checks.values())


async def test_the_version_and_the_help_are_there(hermes):
    assert re.fullmatch(r"hermes \d+\.\d+\.\d+\n", (await hermes("--version")).out)
    page = (await hermes("--help")).out
    for command in ("chat", "config", "doctor", "extract", "index", "models", "search", "sessions"):
        assert re.search(rf"^  {command}  +\S", page, flags=re.MULTILINE)


async def test_what_would_be_sent_is_explained_and_not_sent(hermes):
    outcome = await hermes("chat", "-q", "hi", "--explain", "--json")
    fields = {reason["field"]: reason["because"] for reason in outcome.json()["fields"]}
    assert fields["messages"] == ["the conversation"]
    assert "the tools offered" in fields["tools"]
    shown = await hermes("chat", "-q", "hi", "--explain")
    assert "because of the conversation" in shown.out
    assert (await hermes("sessions", "list", "--json")).json() == {"sessions": []}


async def test_extract_explains_how_a_file_was_read(hermes, tmp_path):
    page = tmp_path / "page.html"
    text = "<p>The heron stood in the shallow water for an hour and did not move at all.</p>" * 5
    page.write_text(f"<title>Herons</title><nav><a href=/>Home</a></nav><article>{text}</article>")
    told = await hermes("extract", "--explain", str(page))
    assert "Herons" in told.out
    assert "route       model" in told.out
    assert "unread      1 runs, 1 words of menus and footers\n        Home\n" in told.out
    as_data = (await hermes("extract", "--explain", str(page), "--json")).json()
    assert as_data["page"]["title"] == "Herons"
    refused = await hermes("extract", "--explain", "nowhere.html")
    assert (refused.code, "is not a file" in refused.err) == (2, True)


async def test_a_first_run_says_in_one_line_what_would_make_it_better(hermes):
    first = (await hermes("chat", "-q", QUESTION)).err
    assert first.count("\n") == 1
    assert all(word in first for word in ("a model server", "`OPENAI_API_KEY`", "`hermes setup`"))
    assert "hermes setup" not in (await hermes("chat", "-q", QUESTION, "-m", "scout")).err
