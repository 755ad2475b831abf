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
    "before": 3.63,
    "both2": 3.34,
    "flat": 3.08,
    "cover": 3.00,
    "pronoun": 2.87,
    "exact": 2.53,
    "names_near": 2.44,
    "defines": 2.26,
    "window": 2.16,
    "pairs": 2.01,
    "after": 1.76,
    "naming": 1.71,
    "has_when": 1.65,
    "names": -1.48,
    "has_number": 1.38,
    "before_other": -1.35,
    "block": 1.30,
    "by": 1.24,
    "because": 1.19,
    "new": -1.14,
    "year": 1.14,
    "near_number": 1.04,
    "has_who": 0.92,
    "unit": 0.87,
    "near_when": 0.82,
    "means": 0.75,
    "opening": 0.67,
    "long": -0.60,
    "place_lead": 0.50,
    "rare": 0.49,
    "first": 0.32,
    "has_where": 0.23,
    "length": 0.17,
}

WEIGHTS = {**BY_HAND, **LEARNED}

DOUBTFUL = 5.0
"""Below this score the best sentence is offered as the closest, not as the answer."""
