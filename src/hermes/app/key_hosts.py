"""A stored key stays with the host it was entered for, whatever address is set later."""

from collections.abc import Callable, Sequence

from hermes.agent.keys import fingerprint
from hermes.errors import NotConfigured
from hermes.protocols import Notebook
from hermes.providers.base import Choice, Keys
from hermes.providers.base.address import host, is_loopback

TOPIC = "key host"

Ask = Callable[[str], bool]
"""Puts a yes-or-no question to the user."""


def bind(keys: Keys, url: str, notes: Notebook) -> None:
    """Remember that these keys are for the host of this address."""
    for key in keys.values:
        notes.write(TOPIC, fingerprint(key), _place(url))


def check(choice: Choice, notes: Notebook, ask: Ask | None) -> None:
    """Let the keys of a choice go to its host, or raise `NotConfigured`.

    A key that was never used may go where its provider is, to this machine, and to any host of a
    provider that has none of its own. What else it is to meet is a question for the user.
    """
    if choice.keys is not None:
        admit(choice.keys, choice.endpoint.base_url, choice.own_hosts, notes, ask)


def admit(keys: Keys, url: str, own_hosts: Sequence[str], notes: Notebook, ask: Ask | None) -> None:
    """The same for keys to anybody who has these hosts of its own."""
    if not keys.are_stored:
        return
    bound = [notes.read(TOPIC, fingerprint(key)) for key in keys.values]
    place = _place(url)
    if all(known == place for known in bound):
        return
    elsewhere = next((known for known in bound if known and known.removeprefix("http://") != place), None)
    is_expected = not own_hosts or place in own_hosts or is_loopback(url)
    if elsewhere or not is_expected:
        _ask_for(keys, elsewhere or own_hosts[0], place, ask)
    bind(keys, url, notes)


def _ask_for(keys: Keys, meant: str, other: str, ask: Ask | None) -> None:
    if ask is not None and ask(f"send the key stored for {meant} to {other}?"):
        return
    raise NotConfigured(
        f"the key in `{keys.name}` is stored for `{meant}` and was not sent to `{other}`",
        hint=f"run `hermes config set {keys.name}` again to use a key for `{other}`",
    )


def _place(url: str) -> str:
    """The host of an address; one that is reached over open lines is another place than the same over TLS."""
    is_open = url.lower().startswith("http://") and not is_loopback(url)
    return f"http://{host(url)}" if is_open else host(url)
