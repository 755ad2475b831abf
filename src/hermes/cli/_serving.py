"""Who answers and who searches, in the one line that stands before an answer."""

from collections.abc import Sequence

from hermes.providers.base import Choice

_BETTER = (
    "for a model that writes, start a model server, set a key such as `OPENAI_API_KEY` and use "
    "`-m PROVIDER/MODEL`, or run `hermes setup`"
)
_CHANGE = "change with `%s PROVIDER/MODEL` and `hermes config set web.backend NAME`"


def serving_line(choice: Choice, backends: Sequence[str], chooses: str = "-m") -> str:
    """What serves, why, and how to change it; with nothing set up, what would make it better.

    `chooses` is the word by which another model is chosen.
    """
    endpoint = choice.endpoint
    searching = " and ".join(f"`{name}`" for name in backends)
    return (
        f"answering with `{endpoint.provider.name}/{endpoint.model}` ({choice.reason}), "
        f"searching with {searching}; {_BETTER if choice.is_last_resort else _CHANGE % chooses}"
    )
