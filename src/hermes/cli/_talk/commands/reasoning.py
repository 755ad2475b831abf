"""Show the thoughts behind the last answer; `/reasoning on` shows them always, `off` folds them."""

from hermes.cli._talk.talk import Talk
from hermes.errors import UsageError


async def run(talk: Talk, words: str) -> None:
    if words in ("on", "off"):
        talk.view.reasoning = words == "on"
        talk.border.say("thoughts are shown in full" if talk.view.reasoning else "thoughts are folded")
    elif words:
        raise UsageError(
            f"`/reasoning {words}` means nothing", hint="say `/reasoning on` or `/reasoning off`"
        )
    else:
        talk.border.aside(talk.thoughts.strip() or "the last answer came without thoughts")
