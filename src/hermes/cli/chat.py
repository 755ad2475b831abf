"""Ask one question, or hold a conversation."""

import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from hermes import discover
from hermes.app import Dialogue, Runtime, Terms
from hermes.cli import _complete
from hermes.cli._border import border, is_terminal, one_line, visible
from hermes.cli._consent import Consent, Decided
from hermes.cli._json import show_json
from hermes.cli._loop import event_loop
from hermes.cli._question import read_question
from hermes.cli._render import JsonRenderer, LinesRenderer, Meanwhile, Remarks, Renderer, TextRenderer, View
from hermes.cli._serving import serving_line
from hermes.cli._settings import read_settings
from hermes.cli._waiting import Patient
from hermes.errors import UsageError
from hermes.messages import Image
from hermes.protocols import Effort
from hermes.store import Session

if TYPE_CHECKING:
    from hermes.agent.explain import Reason

SHOWN_VALUE = 100


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What was given on the command line."""

    query: str | None
    model: str
    as_json: bool
    json_lines: bool
    no_stream: bool
    resume_last: bool
    resume: str | None
    tools: tuple[str, ...]
    images: tuple[str, ...]
    explain: bool
    schema: str | None
    yes: bool
    effort: Effort | None
    max_turns: int | None
    reasoning: bool
    usage: bool


@click.command()
@click.option("-q", "--query", help="The question; standard input is appended to it.")
@click.option(
    "-m",
    "--model",
    default="",
    metavar="PROVIDER/MODEL",
    shell_complete=_complete.models,
    help="Who answers.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--json-lines", is_flag=True, help="Print each event as a line of JSON.")
@click.option("--no-stream", is_flag=True, help="Print the answer when it is whole.")
@click.option("-c", "--continue", "resume_last", is_flag=True, help="Go on with the last session.")
@click.option(
    "-r", "--resume", metavar="ID", shell_complete=_complete.sessions, help="Go on with this session."
)
@click.option(
    "--tools",
    multiple=True,
    metavar="NAME",
    shell_complete=_complete.tools,
    help="Toolsets or tools to offer, or `none`.",
)
@click.option("--image", "images", multiple=True, metavar="FILE", help="A picture the question is about.")
@click.option("--explain", is_flag=True, help="Show what would be sent and why, and send nothing.")
@click.option("--schema", type=click.Path(dir_okay=False), help="A JSON Schema the answer must keep.")
@click.option("--yes", is_flag=True, help="Allow beforehand whatever would be asked.")
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How hard the model thinks.")
@click.option("--max-turns", type=click.IntRange(min=1), help="Model calls allowed for one answer.")
@click.option("--reasoning", is_flag=True, help="Show a model's thoughts in full, and do not fold them.")
@click.option("--usage", is_flag=True, help="Show tokens and cost under each answer.")
def command(**given: Any) -> int:
    """Ask one question with -q or on standard input, or hold a conversation."""
    options = Options(**given)
    if options.as_json and options.json_lines:
        raise UsageError("`--json` and `--json-lines` exclude each other", hint="choose one of them")
    person = sys.stdin if is_terminal(sys.stdin) and is_terminal(sys.stderr) else None
    consent = Consent(border(), person) if person is not None else None
    settings = read_settings()
    if settings.wants_plugins() and not is_terminal(sys.stdout):
        border().keep_stdout()
    runtime = Runtime(settings, consent, yes=options.yes, listeners=(Decided(border()),))
    if person is not None:
        runtime.chooser.ask = lambda question: click.confirm(visible(question), err=True)
    interactive = options.query is None and is_terminal(sys.stdin)
    question = "" if interactive else read_question(options.query, sys.stdin)
    pictures = _read_images(options.images)
    with event_loop() as runner:
        try:
            if interactive and not options.explain:
                _talk(runner, runtime, options, pictures)
                return 0
            dialogue = _begin(runner, runtime, options)
            if options.explain:
                return _show_reasons(dialogue.explain(question, pictures), as_json=options.as_json)
            answer = runner.run(dialogue.ask(question, _renderer(options, _view(options)).show, pictures))
            return 0 if answer.complete else 1
        finally:
            runner.run(runtime.__aexit__())
            for notice in runtime.services.notices:
                border().say(f"note: {notice.message}")


def _begin(runner: asyncio.Runner, runtime: Runtime, options: Options) -> Dialogue:
    """The conversation that the options ask for, after saying who holds it."""
    terms = runner.run(_terms(runtime, options))
    runner.run(runtime.chooser.look_around(options.model))
    dialogue = runtime.converse(terms)
    _say_who_serves(runtime, options.model)
    return dialogue


async def _terms(runtime: Runtime, options: Options) -> Terms:
    session = await _find_session(runtime, options.resume_last, options.resume)
    return Terms(
        model=options.model,
        tools=_tool_names(options.tools),
        session=session,
        history=await runtime.store().messages(session.id) if session else (),
        max_turns=options.max_turns,
        effort=options.effort,
        output_schema=_read_schema(options.schema),
        platform="cli",
        priced=options.as_json or options.json_lines or options.usage,
    )


def _view(options: Options) -> View:
    return View(streams=not options.no_stream, reasoning=options.reasoning, usage=options.usage)


def _renderer(options: Options, view: View) -> Renderer:
    if options.as_json:
        return Patient(JsonRenderer(border()), border())
    if options.json_lines:
        return Patient(LinesRenderer(border()), border())
    if is_terminal(sys.stdout) and not options.schema:  # data is no Markdown
        screen: Renderer = discover.module("hermes.cli._screen").ScreenRenderer(border(), view)
        return screen if border().is_live else Patient(screen, border())
    if is_terminal(sys.stderr):
        progress: Meanwhile = discover.module("hermes.cli._progress").Progress(border(), view)
        shown = TextRenderer(border(), view, progress)
        return shown if border().is_live else Patient(shown, border())
    return Patient(TextRenderer(border(), view, Remarks(border())), border())


def _talk(runner: asyncio.Runner, runtime: Runtime, options: Options, pictures: Sequence[Image]) -> None:
    view = _view(options)
    discover.module("hermes.cli._talk.begin").begin(
        runner,
        runtime,
        runner.run(_terms(runtime, options)),
        border(),
        _renderer(options, view),
        view,
        introduce=lambda model: _say_who_serves(runtime, model, "/model"),
        pictures=pictures,
    )


async def _find_session(runtime: Runtime, resume_last: bool, resume: str | None) -> Session | None:
    if resume:
        return await runtime.store().find(resume)
    if not resume_last:
        return None
    session = await runtime.store().latest()
    if session is None:
        raise UsageError("there is no session to go on with", hint='start one with `hermes chat -q "…"`')
    return session


def _read_images(paths: Sequence[str]) -> list[Image]:
    return [discover.module("hermes.app.pictures").read_image(path) for path in paths]


def _read_schema(path: str | None) -> dict[str, Any] | None:
    return discover.module("hermes.cli._schema").read_schema(path) if path else None


def _show_reasons(reasons: "Sequence[Reason]", *, as_json: bool) -> int:
    if as_json:
        show_json({"fields": reasons})
        return 0
    for reason in reasons:
        value = one_line(msgspec.json.encode(reason.value).decode(), SHOWN_VALUE)
        border().show(f"{reason.field}: {value}\n    because of {', '.join(reason.because)}\n")
    return 0


def _tool_names(given: Sequence[str]) -> tuple[str, ...] | None:
    names = tuple(name.strip() for item in given for name in item.split(",") if name.strip())
    return names or None


def _say_who_serves(runtime: Runtime, model: str, chooses: str = "-m") -> None:
    border().say(serving_line(runtime.choose_model(model), runtime.services.web_names(), chooses))
