"""Markdown on a terminal while it is still being written: text is only ever added, never changed.

style   what a terminal can show: attributes, links, letters beyond ASCII
inline  the words of a paragraph, each let go when nothing that follows can change it
lines   words laid into lines of the terminal's width
table   a whole table, made to fit
page    lines of Markdown sorted into blocks, and everything above put together

Nothing here does I/O: a `Page` is fed text and gives back what is to be written.
"""

from hermes.cli._markdown.page import Page
from hermes.cli._markdown.style import Style

__all__ = ["Page", "Style"]
