"""What the head and the address of a page say about its kind, as numbers."""

import re
from urllib.parse import urlsplit

_TYPES = re.compile(r'"@type"\s*:\s*\[?\s*"(\w{1,40})"')
_KINDS = (
    re.compile(r"Article|BlogPosting|NewsArticle|Report|Recipe|Review$"),
    re.compile(r"^Product|Offer|Vehicle"),
    re.compile(r"Discussion|QAPage|Question|Comment|Answer"),
    re.compile(r"ItemList|CollectionPage|SearchResults|ListItem"),
    re.compile(r"LocalBusiness|Service|Organization|Course|SoftwareApplication|Event"),
    re.compile(r"FAQPage"),
    re.compile(r"TechArticle|HowTo|APIReference|Dataset"),
)
_PATHS = (
    re.compile(r"forum|thread|topic|/t/|/comments|discuss|questions?/|community|viewtopic|/r/"),
    re.compile(r"product|/p/|/dp/|/item|/pd/|/itm/|/shop/.+"),
    re.compile(r"collections?/|categor|/c/|shop/?$|/browse|/s\?|store"),
    re.compile(r"docs?[./]|/api|reference|manual|guide|tutorial|learn|/wiki|/en/latest|help"),
    re.compile(r"blog|news|article|story|post|/20\d\d/|magazine|press"),
    re.compile(r"service|solution|about|pricing|feature|business|contact|plans"),
    re.compile(r"jobs?|listing|search|directory|events?|courses|properties|best-|top-|results|tag/"),
)
_OG_TYPES = {"article": 1.0, "product": 2.0, "product.item": 2.0, "og:product": 2.0, "website": 3.0}


def signs(url: str, data: str, og_type: str) -> list[float]:
    """Types named by structured data, words of the address, and the like."""
    types = _TYPES.findall(data)
    address = url.lower()
    try:
        path = urlsplit(address).path
    except ValueError:
        path = ""
    steps = [step for step in path.split("/") if step]
    last = steps[-1] if steps else ""
    return [
        *[sum(1 for name in types if kind.search(name)) for kind in _KINDS],
        *[kind.search(address) is not None for kind in _PATHS],
        len(steps),
        any(letter.isdigit() for letter in last),
        _OG_TYPES.get(og_type, 0.0),
        last.count("-") + last.count("_"),
    ]


SIGNS = (
    *[f"type-{name}" for name in ("article", "product", "forum", "list", "service", "faq", "tech")],
    *[f"path-{name}" for name in ("forum", "product", "collection", "docs", "article", "service", "listing")],
    *("steps", "digits", "og", "hyphens"),
)
