"""The learned numbers of the ranking.

`LEARNED` is a conditional logit over the features of `rank`, fitted by `python -m bench.fit_scout DIR`
on 1,103 questions with known answers over six encyclopedia articles. With one article left out at a time and
all six given as pages, the best sentence held the answer for 87% of its questions, the best three for 96%.
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
    "before": 3.77,
    "pronoun": 2.77,
    "both2": 2.72,
    "flat": 2.68,
    "cover": 2.52,
    "exact": 2.49,
    "window": 2.40,
    "pairs": 2.29,
    "defines": 2.14,
    "naming": 1.68,
    "new": -1.62,
    "has_when": 1.53,
    "has_number": 1.42,
    "nameless": -1.40,
    "names": -1.36,
    "names_near": 1.35,
    "by": 1.27,
    "after": 1.23,
    "before_other": -1.21,
    "year": 1.20,
    "near_number": 1.19,
    "because": 1.18,
    "block": 1.06,
    "near_when": 0.95,
    "has_who": 0.91,
    "unit": 0.84,
    "rare": 0.81,
    "long": -0.80,
    "means": 0.79,
    "opening": 0.61,
    "place_lead": 0.51,
    "length": 0.45,
    "has_where": 0.39,
    "first": 0.33,
}

WEIGHTS = {**BY_HAND, **LEARNED}

DOUBTFUL = 3.0
DOUBTFUL_NAMELESS = 5.5
"""Below this score the best sentence is offered as the closest, not as the answer; the second limit is for
a sentence that stands nowhere near a name the question gives. Set so low that hardly a right answer is lost.
"""
