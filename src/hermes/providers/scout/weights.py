"""The learned numbers of the ranking.

`WEIGHTS` is a conditional logit over the features of `rank`, fitted with `bench/fit_scout.py` on 1,103
questions over six encyclopedia articles and checked by leaving out one article at a time.
"""

BY_HAND = {
    "head": 0.8,
    "asks": -20.0,
    "fragment": -1.5,
    "code": 1.0,
    "quoted": 1.0,
}
"""What those articles cannot teach: they have no headings, no questions, no code and few quotations."""

LEARNED = {
    "before": 3.58,
    "both2": 3.30,
    "flat": 3.10,
    "cover": 2.98,
    "pronoun": 2.84,
    "exact": 2.51,
    "defines": 2.26,
    "window": 2.16,
    "pairs": 2.00,
    "naming": 1.71,
    "after": 1.69,
    "has_when": 1.64,
    "names": -1.52,
    "names_near": 1.50,
    "has_number": 1.39,
    "before_other": -1.36,
    "by": 1.27,
    "block": 1.24,
    "because": 1.20,
    "new": -1.16,
    "nameless": -1.16,
    "year": 1.16,
    "near_number": 1.05,
    "has_who": 0.91,
    "unit": 0.85,
    "near_when": 0.82,
    "means": 0.75,
    "opening": 0.67,
    "long": -0.61,
    "rare": 0.49,
    "place_lead": 0.49,
    "first": 0.32,
    "has_where": 0.23,
    "length": 0.18,
}

WEIGHTS = {**BY_HAND, **LEARNED}

DOUBTFUL = 4.25
DOUBTFUL_NAMELESS = 7.0
"""Below this score the best sentence is offered as the closest, not as the answer; the second limit is for
a sentence that stands nowhere near a name the question gives. Set so low that hardly a right answer is lost.
"""
