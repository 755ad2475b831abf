"""Choose who answers and who searches: by a few questions, or by options alone."""

import os
import sys
from typing import Any

import click
import msgspec

from hermes import discover
from hermes.app import Runtime
from hermes.cli import _complete
from hermes.cli._ask import ask
from hermes.cli._border import border, is_terminal
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import ctrl_c_waits, run_in_loop
from hermes.cli._model_setup import Wish, asked_for, tried
from hermes.cli._settings import read_settings
from hermes.cli._web_setup import Chosen, choose, which
from hermes.config import Config, Secret, load
from hermes.config.loading import config_path
from hermes.errors import ConfigError, UnknownName, UsageError

FIRST_QUESTION = "What is Hermes?"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What was given on the command line."""

    model: str
    base_url: str
    key_from_env: str
    key_stdin: bool
    web_backend: str
    web_key_from_env: str
    web_url: str
    no_test: bool
    yes: bool
    question: str
    as_json: bool


@click.command()
@click.option(
    "--model", default="", metavar="PROVIDER[/MODEL]", shell_complete=_complete.models, help="Who answers."
)
@click.option("--base-url", default="", metavar="URL", help="Where the model server is, up to `/v1`.")
@click.option("--key-from-env", default="", metavar="VARIABLE", help="Keep the key that is in this variable.")
@click.option("--key-stdin", is_flag=True, help="Read the key from standard input.")
@click.option(
    "--web-backend",
    default="",
    metavar="NAME",
    shell_complete=_complete.backends,
    help="Who searches and reads.",
)
@click.option("--web-key-from-env", default="", metavar="VARIABLE", help="Keep its key from this variable.")
@click.option("--web-url", default="", metavar="URL", help="Where the web backend is, if not at its vendor.")
@click.option("--no-test", is_flag=True, help="Write it without asking the model first.")
@click.option("--yes", is_flag=True, help="Ask nothing: take the best that is found.")
@click.option("--ask", "question", default="", metavar="TEXT", help="Ask this when all is written.")
@json_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> int:
    """Choose the model and the web backend, try them, and keep them in `config.yaml` and `.env`."""
    options = Options(**given)
    asks = is_terminal(sys.stdin) and is_terminal(sys.stderr) and not options.yes
    _check(options, asks=asks)
    config = read_settings()
    wish = _wish(config, options, asks=asks)
    web = _web(config, options, asks=asks)
    with ctrl_c_waits():
        changed = [*(wish.write(config) if wish else ()), *(_written(web, config))]
    _tell(config, wish, web, changed, options)
    question = options.question or (_question() if asks else "")
    if not question:
        return 0
    chat: click.Command = discover.load("hermes.cli", "chat", "command").command
    code: int = context.invoke(chat, query=question)
    return code


def _check(options: Options, *, asks: bool) -> None:
    if (options.key_from_env or options.key_stdin or options.base_url) and not (options.model or asks):
        raise UsageError("nobody is named whose key or address this is", hint="add `--model PROVIDER/MODEL`")
    if not (asks or options.yes or options.model or options.web_backend):
        raise UsageError(
            "nobody is here to answer questions",
            hint="say it by options: `hermes setup --model PROVIDER/MODEL --key-from-env VARIABLE "
            "--web-backend NAME`, or `--yes` to take the best that is found",
        )
    if options.key_from_env and options.key_stdin:
        raise UsageError("`--key-from-env` and `--key-stdin` exclude each other", hint="choose one of them")
    if options.question and options.as_json:
        raise UsageError("`--ask` and `--json` exclude each other", hint="ask with `hermes chat --json`")


def _wish(config: Config, options: Options, *, asks: bool) -> Wish | None:
    """Who shall answer, tried; None where only the web is set up."""
    if not (asks or options.model or options.yes):
        return None
    wish = asked_for(config, options.model, options.base_url, _given_key(options), asks=asks)
    return wish if options.no_test else tried(wish, asks=asks)


def _given_key(options: Options) -> Secret | None:
    if options.key_from_env:
        return Secret(_in_variable(options.key_from_env))
    if not options.key_stdin:
        return None
    value = ask("key (not shown)", hidden=True)
    if not value:
        raise UsageError("no key came on standard input", hint="pipe it into `hermes setup --key-stdin`")
    return Secret(value)


def _in_variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise UsageError(f"the variable `{name}` is not set", hint="set it, or use `--key-stdin`")
    return value


def _web(config: Config, options: Options, *, asks: bool) -> Chosen | None:
    """Who shall search; None where that stays as it is."""
    name = options.web_backend
    if not name and asks:
        border().say("who shall search and read pages? a blank answer leaves it as it is")
        name = which(config)
    while name and (options.web_backend or name != config.web.backend):
        try:
            return choose(config, name, _given_for_web(options), asks=asks)
        except UnknownName as error:
            if options.web_backend:
                raise
            border().complain(error)
            name = ask("web backend")
    return None


def _given_for_web(options: Options) -> dict[str, str]:
    """What the options say for a web backend, by the names of its own."""
    key = _in_variable(options.web_key_from_env) if options.web_key_from_env else ""
    return {name: value for name, value in (("key", key), ("base_url", options.web_url)) if value}


def _written(web: Chosen | None, config: Config) -> list[str]:
    if web is None:
        return []
    web.write(config.home)
    return ["web.backend"]


def _tell(
    config: Config, wish: Wish | None, web: Chosen | None, changed: list[str], options: Options
) -> None:
    files = [config_path(config.home), os.path.join(config.home, ".env")]
    if web is not None:
        web.say_what_lacks()
    if wish is not None:
        _say_what_overrides(wish)
    if options.as_json:
        show_json(
            {
                "model": wish.name if wish else None,
                "web_backend": web.backend.name if web else None,
                "tested": bool(wish) and not options.no_test,
                "changed": changed,
                "files": [file for file in files if os.path.exists(file)],
            }
        )
        return
    told = ", ".join(f"`{name}`" for name in changed) or "nothing, it was so already"
    border().say(f"set {told} in `{config.home}`; look at it with `hermes config show --origin`")


def _say_what_overrides(wish: Wish) -> None:
    """A variable that wins over what was written is said: nothing in a file can change it."""
    if wish.key is not None and os.environ.get(wish.key_name, wish.key.reveal()) != wish.key.reveal():
        border().say(f"warning: `{wish.key_name}` in the environment overrides the key that was kept")
    name = _who_would_answer()
    if name != wish.name:
        outcome = f"`{name}` would answer" if name else "nobody could answer"
        border().say(
            f"warning: the environment says otherwise, and {outcome}\n"
            "hint: `hermes config show --origin` says which variable it is"
        )


def _who_would_answer() -> str:
    """Who answers by all that is set now; empty when that makes no sense."""
    runtime = Runtime(load(os.environ))
    try:
        endpoint = runtime.choose_model().endpoint
    except (ConfigError, UsageError):
        return ""
    finally:
        run_in_loop(runtime.__aexit__())
    return f"{endpoint.provider.name}/{endpoint.model}"


def _question() -> str:
    return ask(f"what do you want to know? [{FIRST_QUESTION}]") or FIRST_QUESTION
