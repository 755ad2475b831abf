"""The page reader's data, scorer, labels and training."""
