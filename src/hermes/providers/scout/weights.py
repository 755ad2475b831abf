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
    "both2": 3.29,
    "flat": 3.18,
    "cover": 2.93,
    "pronoun": 2.83,
    "exact": 2.49,
    "defines": 2.13,
    "window": 2.09,
    "pairs": 2.01,
    "naming": 1.69,
    "after": 1.69,
    "has_when": 1.63,
    "names": -1.53,
    "names_near": 1.47,
    "has_number": 1.38,
    "before_other": -1.37,
    "by": 1.27,
    "block": 1.25,
    "because": 1.20,
    "nameless": -1.18,
    "year": 1.17,
    "new": -1.16,
    "near_number": 1.05,
    "has_who": 0.91,
    "unit": 0.86,
    "near_when": 0.84,
    "means": 0.75,
    "opening": 0.66,
    "long": -0.61,
    "place_lead": 0.53,
    "rare": 0.50,
    "has_where": 0.34,
    "first": 0.33,
    "length": 0.19,
}

WEIGHTS = {**BY_HAND, **LEARNED}

DOUBTFUL = 4.25
DOUBTFUL_NAMELESS = 7.0
"""Below this score the best sentence is offered as the closest, not as the answer; the second limit is for
a sentence that stands nowhere near a name the question gives. Set so low that hardly a right answer is lost.
"""
