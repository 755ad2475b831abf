"""A conversation begun: who holds it is said, and the prompt is there."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence

from hermes import discover
from hermes.app import Runtime, Terms
from hermes.cli._border import Border, is_terminal
from hermes.cli._render import Renderer, View
from hermes.cli._talk.hold import Reader, hold
from hermes.cli._talk.past import Past
from hermes.cli._talk.plain import PlainReader
from hermes.cli._talk.talk import Talk
from hermes.cli._terminal import is_able
from hermes.messages import Image

LOOKED_FOR = 0.3
"""Seconds that a prompt waits for what runs on this machine."""


def begin(
    runner: asyncio.Runner,
    runtime: Runtime,
    terms: Terms,
    border: Border,
    renderer: Renderer,
    view: View,
    *,
    introduce: Callable[[str], None],
    pictures: Sequence[Image],
) -> None:
    """Hold a conversation on these terms. Its prompt waits for no server, unless a model was asked for."""
    looking = runner.get_loop().create_task(runtime.chooser.look_around(terms.model))
    runner.run(asyncio.wait([looking], timeout=None if terms.model else LOOKED_FOR))
    talk = Talk(runtime, terms, border, renderer, view, introduce)
    if looking.done():
        looking.result()
        talk.introduce()
    else:
        talk.look_around(looking)
        border.say("still looking for model servers on this machine")
    hold(runner, talk, _reader(talk), pictures)


def _reader(talk: Talk) -> Reader:
    """Where questions are typed: with history and completion where the terminal can do that."""
    screen = next(filter(is_terminal, (sys.stderr, sys.stdout)), None)
    if screen is None or not is_able(os.environ):
        return PlainReader(talk.border, sys.stdin)
    past = Past(os.path.join(talk.runtime.config.home, "history"), talk.border.redact)
    prompt = discover.module("hermes.cli._talk.prompt")
    reader: Reader = prompt.PromptReader(talk.border, past, talk.completions(), sys.stdin, screen)
    return reader
