"""The oracle: distances of one query to all vectors in float64, and a sort."""

import numpy as np


def ranking(query, vectors, k, metric):
    """The `k` nearest vectors of a query and their distances; the lower index first."""
    query, vectors = query.astype(np.float64), vectors.astype(np.float64)
    if metric == "cosine":
        dots, lengths, own = np.zeros(len(vectors)), np.zeros(len(vectors)), 0.0
        for q, column in zip(query, vectors.T, strict=True):
            dots += q * column
            lengths += column * column
            own += q * q
        found = 1 - dots / (np.sqrt(own) * np.sqrt(lengths))
    else:
        found = np.zeros(len(vectors))
        for q, column in zip(query, vectors.T, strict=True):
            found += (q - column) ** 2
        found = np.sqrt(found)
    order = np.argsort(found, kind="stable")[:k]
    return order, found[order]
