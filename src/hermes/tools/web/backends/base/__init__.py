"""What a web backend declares, what it is given to work with, and how its file reads a vendor's reply.

declare   `Backend`, the one value of a backend's file, with `Option` and `Site`
reading   a vendor's JSON taken apart without trusting it
"""

from hermes.tools.web.backends.base.declare import (
    Backend,
    Option,
    Sent,
    Services,
    Site,
    address_option,
    key_option,
)
from hermes.tools.web.backends.base.reading import (
    SEARCHES_WITHIN,
    Columns,
    at,
    cut,
    cut_note,
    first_text,
    google_range,
    items,
    json_request,
    number,
    text,
    texts,
    unknown_topic,
    us_date,
    with_operators,
)

__all__ = [
    "SEARCHES_WITHIN",
    "Backend",
    "Columns",
    "Option",
    "Sent",
    "Services",
    "Site",
    "address_option",
    "at",
    "cut",
    "cut_note",
    "first_text",
    "google_range",
    "items",
    "json_request",
    "key_option",
    "number",
    "text",
    "texts",
    "unknown_topic",
    "us_date",
    "with_operators",
]
