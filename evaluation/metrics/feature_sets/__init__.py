"""Sets of feature vectors of images held against each other: manifolds, distances of distributions, consistency.

Pure numpy. `manifold` and `nearest` take a device for their matrix products, which workers with a card have.
"""
