"""The manual as a site. Nothing is fetched, neither here nor by who reads it."""

from sphinx.application import Sphinx

from hermes import __version__

project = "Hermes"
release = version = __version__
copyright = "the authors of Hermes"
html_title = f"Hermes {__version__}"
html_theme = "furo"
html_theme_options = {"footer_icons": []}
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True

_CONTENTS = """
```{{toctree}}
:hidden:
:glob:
:caption: {}

{}
```
"""
_PARTS = (
    ("Guides", ("guides/install", "guides/first-question", "guides/models", "guides/keys", "guides/*")),
    ("Concepts", ("concepts/flow", "concepts/*")),
    ("Reference", ("reference/*",)),
    ("From the code", ("generated/*",)),
)


def _add_contents(_app: Sphinx, page: str, source: list[str]) -> None:
    """The order of the pages, which the manual itself has no need of."""
    if page == "index":
        source[0] += "".join(_CONTENTS.format(title, "\n".join(pages)) for title, pages in _PARTS)


def setup(app: Sphinx) -> None:
    app.connect("source-read", _add_contents)
