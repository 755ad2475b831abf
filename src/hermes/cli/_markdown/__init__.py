"""Markdown on a terminal while it is still being written: text is only ever added, never changed.

style   what a terminal can show: attributes, links, letters beyond ASCII
pieces  a paragraph cut into pieces, each let go when nothing that follows can change it
inline  a piece as markdown-it reads it: texts with their marks
lines   words laid into lines of the terminal's width
table   a whole table, made to fit
blocks  how a line begins, and what that says of it
page    lines sorted into blocks, and everything above put together

Nothing here does I/O: a `Page` is fed text and gives back what is to be written.
"""

from hermes.cli._markdown.page import Page
from hermes.cli._markdown.style import Style

__all__ = ["Page", "Style"]
