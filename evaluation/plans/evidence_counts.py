"""What plans are made before: kind of data → lazy import path of a function that says how much of it there is.

The function takes the part (campaign, study; "" for all) and the run ("" for all); None where there is no such thing
yet. This list stands above the apps because data comes from `evaluation` and `review` alike.
"""

COUNTS = {
    "reviews": "review.receivers:count",
    "units": "evaluation.plans.evidence:count_units",
}
