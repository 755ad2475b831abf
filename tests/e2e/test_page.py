"""The page of `hermes serve` in a real Chromium, over a staged model and a page of its own."""

import shutil
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from hermes.hooks import Registration
from simulators.chat_completions import calls, fails, says
from simulators.scripted import ScriptedServer, http_reply
from simulators.served import Served
from simulators.serving import TOKEN
from simulators.staged import Held, StagedModel

CHROMIUM = shutil.which("chromium")
WAIT = 10_000
DESK, PHONE = {"width": 1280, "height": 860}, {"width": 360, "height": 740}

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here"),
]

FACT = "HTTP/3 replaces TCP with QUIC, a transport that runs over UDP"
FILLER = "".join(
    f"<p>Paragraph {n} is about something else, and long enough to be read.</p>" for n in range(40)
)
SITE = f"""<html><head><title>HTTP/3 in practice</title></head><body><article><h1>HTTP/3 in practice</h1>
{FILLER}<p>{FACT.replace("QUIC", "<b>QUIC</b>")}.</p>{FILLER}</article></body></html>"""
ATTACKS = """<img src=x onerror="window.hacked=1"> <script>window.hacked=2</script>
[click](javascript:window.hacked=3) [data](data:text/html,<script>window.hacked=4</script>)
<a href="javascript:window.hacked=5">x</a> ![p](http://127.0.0.1:9/p.png) <iframe src="//127.1"></iframe>
<style>body{display:none}</style> [v](vbscript:x) [s](//evil.example/) <svg onload="window.hacked=6">
<javascript:window.hacked=7> `<b>code</b>` &lt;script&gt;window.hacked=8&lt;/script&gt;"""
EVIL_TITLE = "</title><script>window.hacked=9</script><img src=x onerror=window.hacked=10>"
EVIL_SITE = f"""<html><head><title>{EVIL_TITLE.replace("<", "&lt;")}</title></head><body><article>
<h1>A page</h1><p>This page says something that is quoted here word for word.</p>
<p>{ATTACKS.replace("&", "&amp;").replace("<", "&lt;")}</p></article></body></html>"""

CITE = "What changed in HTTP/3?"
TWICE = "What else is there?"
HOLD = "Tell me slowly"
TABLE = "Show me everything"
EVERYTHING = """## Heading

A **bold** and an *em* word, `code`, ~~old~~ and [a link](https://example.org/a_b_c).

1. one
2. two
   - nested

| a | b |
|---|--:|
| 1 | 2 |

> quoted

```python
print("<b>not bold</b>")
```
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site():
    async def serve(exchange):
        body = EVIL_SITE if exchange.request.path == "/evil" else SITE
        await exchange.send(http_reply(200, body.encode(), content_type="text/html; charset=utf-8"))
        exchange.close()

    async with ScriptedServer(serve) as server:
        yield server.url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model(site):
    read, evil = ("web_extract", {"urls": [f"{site}/http3"]}), ("web_extract", {"urls": [f"{site}/evil"]})
    quoted = "This page says something that is quoted here word for word."
    scripts = {
        CITE: [calls(read, text="I will read it."), says(f"{FACT}. [1] Much else stays as it was.")],
        TWICE: [calls(read), says(f'{FACT}. [1] It adds that "paragraph 7 is about something else". [1]')],
        HOLD: [Held("The first half ", "and the second half.")],
        TABLE: [says(EVERYTHING)],
        "Attack me": [calls(evil), says(f"{quoted} [1]\n\n{ATTACKS}")],
        EVIL_TITLE: [says("A title is only text.")],
        "Fail": [fails(401, "Incorrect API key provided")],
        "Again": [says("Once more.")],
    }
    async with StagedModel(scripts) as staged:
        yield staged


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(model, tmp_path_factory):
    home = tmp_path_factory.mktemp("page")
    (home / "config.yaml").write_text(
        "model: {provider: custom, default: m-large}\nsecurity: {allow_private_urls: true}\n"
    )
    async with Served(home, CUSTOM_BASE_URL=model.base_url) as served:
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser():
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        await running.close()


@asynccontextmanager
async def opened(browser, server, *, path="", signed_in=True, **options):
    """A page that has said nothing wrong on its console when it is left."""
    context = await browser.new_context(**{"viewport": DESK, **options})
    context.set_default_timeout(WAIT)
    page = await context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
    strangers = []
    page.on(
        "request", lambda sent: strangers.append(sent.url) if not sent.url.startswith(server.url) else None
    )
    await page.goto(server.door if signed_in else server.url + path)
    if signed_in:
        await expect(page.locator("#serving")).to_contain_text("custom/m-large")
        if path:
            await page.goto(server.url + path)
    try:
        yield page
        assert complaints == []
        assert strangers == []
    finally:
        await context.close()


async def ask(page, question):
    await page.locator("#question").fill(question)
    await page.keyboard.press("Enter")


async def answered(page, question):
    await ask(page, question)
    turn = page.locator(".turn").last
    await expect(turn).to_have_attribute("data-state", "over")
    return turn


async def test_a_question_is_asked_watched_and_answered_with_its_source(browser, server, site):
    async with opened(browser, server) as page:
        turn = await answered(page, CITE)
        await expect(turn.locator(".answer")).to_contain_text(FACT)
        rows = turn.locator(".rows > li")
        kinds = [await row.get_attribute("data-kind") for row in await rows.all()]
        assert kinds == ["model", "said", "tool", "model"]
        tool = rows.nth(2)
        await expect(tool.locator(".about")).to_have_text(f"{site}/http3")
        await expect(tool.locator(".facts")).to_contain_text("by reader")
        await expect(tool.locator(".facts")).to_contain_text("characters")
        await expect(rows.first.locator(".facts")).to_contain_text("10 in · 5 out")
        await expect(turn.locator(".steps > summary")).to_contain_text(
            "2 model calls · 1 tool call · 30 tokens"
        )
        await expect(turn.locator(".served")).to_have_text("Answered by custom/m-large, with reader")
        await turn.locator("button.chip").click()
        source = page.locator("#source")
        await expect(source.locator("h2")).to_have_text("HTTP/3 in practice")
        await expect(source.locator("mark").first).to_be_in_viewport()
        assert "".join(await source.locator("mark").all_text_contents()) == FACT
        await expect(page.locator("#source-note")).to_contain_text("quoted words are marked")
        await page.locator("#close").click()
        await expect(source).to_be_hidden()
        await expect(turn.locator("button.chip")).to_be_focused()


async def test_a_source_opens_at_what_was_said_before_its_number(browser, server):
    async with opened(browser, server) as page:
        turn = await answered(page, TWICE)
        for number, words in enumerate([FACT, "Paragraph 7 is about something else"]):
            await turn.locator("button.chip").nth(number).click()
            await expect(page.locator("#source mark").first).to_be_in_viewport()
            assert "".join(await page.locator("#source mark").all_text_contents()) == words
            await page.keyboard.press("Escape")


async def test_a_session_has_an_address_and_looks_the_same_when_it_is_opened_again(browser, server):
    async with opened(browser, server) as page:
        live = await answered(page, CITE)
        before = await live.locator(".answer").inner_text()
        await live.locator(".steps").evaluate("steps => steps.open = true")
        names = await live.locator(".rows .name").all_text_contents()
        assert "/?session=" in page.url
        await page.reload()
        stored = page.locator(".turn").last
        await expect(stored.locator("button.chip")).to_be_visible()
        assert await stored.locator(".answer").inner_text() == before
        assert await stored.locator(".rows .name").all_text_contents() == names
        await stored.locator("button.source").click()
        await expect(page.locator("#source mark").first).to_be_visible()
        await page.go_back()
        await expect(page.locator(".welcome")).to_be_visible()


async def test_a_reload_in_the_middle_of_a_run_goes_on_with_it(browser, server, model):
    async with opened(browser, server) as page:
        await ask(page, HOLD)
        answer = page.locator(".answer").last
        await expect(answer).to_have_text("The first half")
        await page.reload()
        await expect(answer).to_have_text("The first half")
        await expect(page.locator("#stop")).to_be_visible()
        model.go()
        await expect(answer).to_have_text("The first half and the second half.")
        await expect(page.locator("#send")).to_be_visible()
        assert await page.locator(".turn").count() == 1


async def test_a_run_can_be_stopped_and_its_words_stay(browser, server):
    async with opened(browser, server) as page:
        await ask(page, HOLD)
        turn = page.locator(".turn").last
        await expect(turn.locator(".answer")).to_have_text("The first half")
        await page.locator("#stop").click()
        await expect(turn.locator(".problem")).to_contain_text("Stopped")
        await expect(turn.locator(".answer")).to_have_text("The first half")
        again = await answered(page, "Again")
        await expect(again.locator(".answer")).to_have_text("Once more.")


async def test_sessions_are_searched_and_opened(browser, server):
    async with opened(browser, server) as page:
        await answered(page, TABLE)
        await page.locator("#new").click()
        await expect(page.locator(".welcome")).to_be_visible()
        await page.locator("#words").fill("nested bold")
        found = page.locator("#sessions a")
        await expect(page.locator("#found")).to_contain_text("1 session found")
        await expect(found).to_have_count(1)
        await found.click()
        await expect(page.locator(".answer table td").last).to_have_text("2")
        await expect(page.locator("#sessions a[aria-current=page]")).to_have_count(1)
        await page.locator("#words").fill("xyzzy plugh")
        await expect(page.locator("#found")).to_have_text("0 sessions found")


async def test_markdown_becomes_elements_and_nothing_else(browser, server):
    async with opened(browser, server) as page:
        answer = (await answered(page, TABLE)).locator(".answer")
        for path in (
            "h4",
            "strong",
            "em",
            "code",
            "del",
            "ol > li > ul > li",
            "table th",
            "blockquote p",
            "pre",
        ):
            await expect(answer.locator(path).first).to_be_visible()
        link = answer.locator("a")
        assert await link.get_attribute("href") == "https://example.org/a_b_c"
        assert "noopener" in await link.get_attribute("rel")
        await expect(answer.locator("pre")).to_have_text('print("<b>not bold</b>")')


async def test_nothing_that_a_model_a_page_or_a_title_says_is_run(browser, server):
    async with opened(browser, server) as page:
        turn = await answered(page, "Attack me")
        await turn.locator("button.chip").click()
        await expect(page.locator("#source mark").first).to_be_visible()
        await expect(page.locator("#source-title")).to_contain_text("</title><script>")
        inside = "main :is(script, img, iframe, style, svg), aside :is(script, img, iframe, style, svg)"
        assert await page.locator(inside).count() == 0
        links = await page.locator("#conversation a, #source a").evaluate_all("all => all.map(a => a.href)")
        assert all(link.startswith(("http://", "https://")) for link in links)
        await page.keyboard.press("Escape")
        await answered(page, EVIL_TITLE)
        await page.locator("#new").click()
        await answered(page, EVIL_TITLE)
        await page.reload()
        await expect(page.locator(".answer")).to_have_text("A title is only text.")
        await expect(page.locator("#sessions .title").first).to_contain_text("<script>")
        assert EVIL_TITLE[:20] in await page.title()
        assert await page.evaluate("() => window.hacked") is None


async def test_waits_and_middleware_are_rows_of_their_own(browser, server, model):
    replies = [fails(503, retry_after=0.1), says("In the end.", reasoning_content="Let me think.")]

    def reply(body):
        return replies.pop(0)(body)

    model.scripts["Try twice"] = [reply]
    hooks = server.services.runtime.hooks
    hooks.add([Registration(plugin="mine", kind="llm_request", callback=_colder)])
    async with opened(browser, server) as page:
        turn = await answered(page, "Try twice")
        rows = turn.locator(".rows > li")
        kinds = [await row.get_attribute("data-kind") for row in await rows.all()]
        assert [kind for kind in kinds if kind != "thinking"] == [
            "middleware",
            "model",
            "retry_waiting",
            "middleware",
            "model",
        ]
        await expect(rows.nth(0)).to_contain_text("changed /temperature")
        await expect(rows.nth(1)).to_have_attribute("data-state", "failed")
        await expect(rows.nth(2)).to_contain_text("status 503")
        await expect(turn.locator(".answer")).to_have_text("In the end.")
    hooks.remove("mine")


def _colder(request, **_):
    return {"request": {**request, "temperature": 0.1}}


async def test_a_failure_is_said_with_what_to_do(browser, server):
    async with opened(browser, server) as page:
        turn = await answered(page, "Fail")
        await expect(turn.locator(".problem")).to_contain_text("Incorrect API key provided")
        await expect(turn.locator(".rows > li")).to_have_attribute("data-state", "failed")


async def test_a_server_that_goes_away_is_said_and_waited_for(browser, server, model):
    async with opened(browser, server) as page:
        await ask(page, HOLD)
        await expect(page.locator(".answer").last).to_have_text("The first half")
        await server.stop()
        trouble = page.locator("#trouble")
        await expect(trouble).to_contain_text("does not answer")
        await server.start()
        await expect(trouble).to_be_hidden()
        turn = page.locator(".turn").last
        await expect(turn.locator(".answer")).to_have_text("The first half")
        await expect(turn.locator(".problem")).to_contain_text("Stopped")
        await answered(page, "Again")


async def test_a_question_to_a_server_that_is_away_is_not_lost(browser, server):
    async with opened(browser, server) as page:
        await server.stop()
        await ask(page, "Again")
        await expect(page.locator(".problem")).to_contain_text("does not answer")
        await expect(page.locator("#question")).to_have_value("Again")
        await server.start()
        await page.keyboard.press("Enter")
        await expect(page.locator(".answer").last).to_have_text("Once more.")


async def test_who_has_no_cookie_signs_in_with_the_token(browser, server):
    async with opened(browser, server, signed_in=False) as page:
        dialog = page.locator("#sign-in")
        await expect(dialog).to_be_visible()
        await page.locator("#token").fill("not the token")
        await page.keyboard.press("Enter")
        await expect(page.locator("#refused")).to_contain_text("not the token of this server")
        await page.locator("#token").fill(TOKEN)
        await page.keyboard.press("Enter")
        await expect(dialog).to_be_hidden()
        await expect(page.locator("#serving")).to_contain_text("custom/m-large")
        assert await page.evaluate("() => document.cookie + JSON.stringify(localStorage)") == "{}"


async def test_the_token_does_not_stay_in_the_address(browser, server):
    async with opened(browser, server) as page:
        assert TOKEN not in page.url


async def test_everything_can_be_done_with_the_keyboard_alone(browser, server):
    async with opened(browser, server) as page:
        await page.keyboard.type("What changed in HTTP/3?")
        await page.keyboard.press("Enter")
        chip = page.locator("button.chip")
        await expect(chip).to_be_visible()
        await _tab_to(page, chip, back=True)
        await page.keyboard.press("Enter")
        await expect(page.locator("#source-title")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(chip).to_be_focused()
        await _tab_to(page, page.locator(".steps > summary").first, back=True)
        was_open = await page.locator(".steps").evaluate("steps => steps.open")
        await page.keyboard.press("Space")
        assert await page.locator(".steps").evaluate("steps => steps.open") != was_open
        await _tab_to(page, page.locator("#words"), back=True)
        await page.keyboard.type("QUIC")
        await expect(page.locator("#found")).to_contain_text("found")
        await _tab_to(page, page.locator("#sessions a").first)
        await page.keyboard.press("Enter")
        await expect(page.locator("button.chip")).to_be_visible()


async def _tab_to(page, wanted, *, back=False):
    for _ in range(60):
        if await wanted.evaluate("element => element === document.activeElement"):
            return
        await page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"the focus never comes to {wanted}")


AUDIT = Path(__file__).with_name("audit.js")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
async def test_everybody_can_read_it(browser, server, scheme, size):
    async with opened(browser, server, viewport=size, color_scheme=scheme) as page:
        audit = AUDIT.read_text()
        assert await page.evaluate(audit) == []
        turn = await answered(page, CITE)
        await turn.locator("summary.row").last.click()
        assert await page.evaluate(audit) == []
        await turn.locator("button.chip").click()
        await expect(page.locator("#source mark").first).to_be_visible()
        assert await page.evaluate(audit) == []
        if size == PHONE:
            for _ in range(6):
                await page.keyboard.press("Tab")
                assert await page.evaluate("() => !document.activeElement.closest('main, nav, #top')")
        await page.keyboard.press("Escape")
        await answered(page, "Fail")
        assert await page.evaluate(audit) == []
        width = await page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= size["width"]
        if size == PHONE:
            await page.locator("#menu").click()
            await expect(page.locator("#words")).to_be_focused()
            assert await page.evaluate(audit) == []
            await page.keyboard.press("Escape")
            await expect(page.locator("#past")).to_be_hidden()


QUOTES = [
    ("A **bold** word stays.", "A bold word stays.", "A bold word stays"),
    ("- one\n- two words here\n", "one two words here", "onetwo words here"),
    ("See [the link](https://a.example/) now.", "See the link now.", "See the link now"),
    ("Nothing of it.", "Other words entirely.", ""),
    ("First part. Something else. Last part of it.", "First part is. Last part of it.", "Last part of it"),
    ("答えはここにあります。", "答えはここに", "答えはここに"),
]


async def test_quotes_are_found_across_marks(browser, server):
    async with opened(browser, server) as page:
        for text, quote, marked in QUOTES:
            found = await page.evaluate(
                """async ([text, quote]) => {
                    const { render } = await import("/page/markdown.js");
                    const { markQuote } = await import("/page/quote.js");
                    const into = document.createElement("div");
                    render(text, into);
                    markQuote(into, quote);
                    return [...into.querySelectorAll("mark")].map((mark) => mark.textContent).join("");
                }""",
                [text, quote],
            )
            assert found == marked, text


MARKDOWN = [
    ("**bold *and em* too**", "<p><strong>bold <em>and em</em> too</strong></p>"),
    ("a * b * c and snake_case_word", "<p>a * b * c and snake_case_word</p>"),
    ("***both***", "<p><strong><em>both</em></strong></p>"),
    ("`a``b` and ``c`d``", "<p><code>a``b</code> and <code>c`d</code></p>"),
    ("\\*not\\* em", "<p>*not* em</p>"),
    ("line  \nbreak\nnone", "<p>line  <br>break none</p>"),
    ("# One\n## Two", "<h3>One</h3><h4>Two</h4>"),
    ("- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"),
    ("3. c\n4. d", '<ol start="3"><li>c</li><li>d</li></ol>'),
    ("```\n<b>\n", '<pre tabindex="0"><code>&lt;b&gt;\n</code></pre>'),
    ("> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"),
    ("[x](javascript:alert(1))", "<p><span>x</span></p>"),
    ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
    ("&lt;b&gt; &copy; &#65;", "<p>&lt;b&gt; &amp;copy; A</p>"),
    ("**", "<p>**</p>"),
    ("[" * 40, f"<p>{'[' * 40}</p>"),
    ("a | b\n--- | ---\n1 | 2", None),
    ("> " * 60 + "deep", None),
    ("*" * 300 + " x " + "_" * 300, None),
]


async def test_markdown_is_read_as_people_write_it(browser, server):
    async with opened(browser, server) as page:
        for text, wanted in MARKDOWN:
            for part in range(len(text)):
                assert isinstance(await _render(page, text[:part]) if part % 7 == 0 else "", str)
            made = await _render(page, text)
            assert wanted is None or made == wanted, text


HOSTILE = [
    "word **bold** [1] `x` " * 10_000,
    "# " + " " * 50_000 + "x",
    "```" + " " * 50_000 + "`",
    "a | b\n-" + " " * 50_000 + "x",
    "-" + " " * 50_000 + "x",
    "[" * 20_000,
    "![" * 10_000,
    "*a " * 20_000,
    "_a_b" * 20_000,
    "`" * 20_000 + "x",
    "<http://" * 10_000,
    "(" * 20_000 + "[a](" + "(" * 20_000,
    "&#" * 20_000,
    "- " * 2_000 + "deep",
    "> " * 2_000 + "deep",
]


async def test_no_text_keeps_the_page_busy(browser, server):
    async with opened(browser, server) as page:
        for text in HOSTILE:
            began = time.monotonic()
            assert await _render(page, text)
            assert time.monotonic() - began < 5, text[:20]


async def _render(page, text):
    return await page.evaluate(
        """async (text) => {
            const { render } = await import("/page/markdown.js");
            const into = document.createElement("div");
            render(text, into);
            return into.innerHTML;
        }""",
        text,
    )
