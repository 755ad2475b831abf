"""Waiting that takes no time."""


class Naps(list[float]):
    """A sleep that takes no time and remembers how long it should have."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
