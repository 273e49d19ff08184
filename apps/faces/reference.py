"""The oracle: distances of one query to all vectors in float64, and a sort."""

import numpy as np

BLOCK = 1 << 14
"""Vectors whose distances are found at once, so that they stay in the processor's cache."""


def ranking(query, vectors, k, metric):
    """The `k` nearest vectors of a query and their distances; the lower index first."""
    query = query.astype(np.float64)
    found = np.concatenate(
        [_distances(query, vectors[i : i + BLOCK], metric) for i in range(0, max(len(vectors), 1), BLOCK)]
    )
    order = np.argsort(found, kind="stable")[:k]
    return order, found[order]


def _distances(query, vectors, metric):
    columns = vectors.T.astype(np.float64)
    if metric == "cosine":
        dots, lengths, own = np.zeros(len(vectors)), np.zeros(len(vectors)), 0.0
        for q, column in zip(query, columns, strict=True):
            dots += q * column
            lengths += column * column
            own += q * q
        return 1 - dots / (np.sqrt(own) * np.sqrt(lengths))
    found = np.zeros(len(vectors))
    for q, column in zip(query, columns, strict=True):
        found += (q - column) ** 2
    return np.sqrt(found)
