"""Pages written for the floors: each kind and each trap. Comments in them mark the text that is wanted."""

import re
from html import unescape
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).parent / "pages"
_GOLD = re.compile(r"<!--gold-->(.*?)<!--/gold-->", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


class Written(msgspec.Struct, frozen=True):
    """A page, its address, and the least F1 that reading it may have."""

    name: str
    url: str
    floor: float

    @property
    def html(self) -> str:
        return (_FOLDER / f"{self.name}.html").read_text(encoding="utf-8")

    @property
    def gold(self) -> str:
        return unescape(_TAG.sub(" ", " ".join(_GOLD.findall(self.html))))


_NEWS = "https://news.example.org/2026/11/old-bridge-closed-for-a-year"
_THREAD = "https://forum.example.org/t/printer-stops-after-three-pages/4711"

PAGES = (
    Written("article", _NEWS, 0.98),
    Written("article-with-comments", _NEWS, 0.97),
    Written("article-without-tags", _NEWS, 0.97),
    Written("article-streamed", _NEWS, 0.97),
    Written("documentation", "https://docs.example.org/reference/reading-files", 0.98),
    Written("service", "https://heating.example.org/services", 0.97),
    Written("forum", _THREAD, 0.95),
    Written("forum-in-noscript", _THREAD, 0.95),
    Written("listing", "https://jobs.example.org/listing", 0.95),
    Written("product", "https://shop.example.org/products/oak-desk-lamp", 0.95),
    Written("collection", "https://shop.example.org/collections/lamps", 0.9),
    Written("table-layout", "http://old.example.org/bridge.html", 0.97),
)
ERROR = Written("error", "https://www.example.org/gone", 0.0)
SHELL = Written("shell", "https://app.example.org/", 0.0)
