"""The files that are made from the code."""

from functools import cache
from pathlib import Path

from hermes import discover

FOLDER = Path(__file__).parents[1] / "docs" / "generated"


@cache
def made() -> dict[str, str]:
    """Each file of `docs/generated` by its name, as it should be."""
    pages = (discover.module(f"manual.pages.{name}") for name in discover.names("manual.pages"))
    return {page.NAME: page.text() for page in pages}
