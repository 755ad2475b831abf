"""The learned numbers of the ranking.

`WEIGHTS` is a conditional logit over the features of `rank`, fitted with `bench/fit_scout.py` on 1,103
questions over six encyclopedia articles and checked by leaving out one article at a time.
"""

BY_HAND = {
    "head": 0.8,
    "asks": -2.0,
    "fragment": -1.5,
    "code": 1.0,
    "quoted": 1.0,
}
"""What those articles cannot teach: they have no headings, no questions, no code and few quotations."""

LEARNED = {
    "before": 3.64,
    "both2": 3.23,
    "flat": 3.13,
    "cover": 2.92,
    "pronoun": 2.75,
    "exact": 2.46,
    "names_near": 2.41,
    "defines": 2.28,
    "window": 2.25,
    "pairs": 1.97,
    "naming": 1.83,
    "after": 1.74,
    "has_when": 1.64,
    "names": -1.46,
    "block": 1.40,
    "has_number": 1.36,
    "before_other": -1.31,
    "by": 1.27,
    "new": -1.18,
    "because": 1.16,
    "year": 1.12,
    "near_number": 1.00,
    "has_who": 0.91,
    "unit": 0.88,
    "near_when": 0.83,
    "means": 0.74,
    "opening": 0.64,
    "long": -0.62,
    "rare": 0.52,
    "place_lead": 0.48,
    "first": 0.30,
    "has_where": 0.23,
    "length": 0.22,
}

WEIGHTS = {**BY_HAND, **LEARNED}

DOUBTFUL = 5.0
"""Below this score the best sentence is offered as the closest, not as the answer."""
