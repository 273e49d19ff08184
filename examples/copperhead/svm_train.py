"""A support vector machine: sequential minimal optimisation with an RBF kernel.

Each iteration changes the weights of the two points that violate the conditions of optimality most (first-order
selection): it computes the kernel of all points with these two, updates the gradient `f`, and finds the next two by one
reduction.
"""

import sys

import numpy as np
from harness import options

from rtcg.copperhead import cu, exp, indices, map, reduce, sum, to_numpy, update, zip

GAMMA, COST, EPS, TOLERANCE = np.float32(0.5), np.float32(10), np.float32(1e-3), np.float32(1e-3)


@cu
def squared_distance(x, y):
    def element(xi, yi):
        difference = xi - yi
        return difference * difference

    return sum(map(element, x, y))


@cu
def rbf(gamma, x, y):
    return exp(-gamma * squared_distance(x, y))


@cu
def extremes(a, b):
    a_low_index, a_low, a_high_index, a_high = a
    b_low_index, b_low, b_high_index, b_high = b
    if a_low < b_low:
        if a_high > b_high:
            return a_low_index, a_low, a_high_index, a_high
        else:
            return a_low_index, a_low, b_high_index, b_high
    else:
        if a_high > b_high:
            return b_low_index, b_low, a_high_index, a_high
        else:
            return b_low_index, b_low, b_high_index, b_high


@cu
def iteration(points, labels, gamma, alpha, f, high, low, high_step, low_step, eps, cost, infinity):
    """The gradient after steps of two weights, and the two points to change next."""

    def kernels(x):
        return rbf(gamma, x, points[high]), rbf(gamma, x, points[low])

    def updated(fi, pair):
        with_high, with_low = pair
        return fi + high_step * with_high + low_step * with_low

    def is_between(weight):
        return weight >= eps and weight <= cost - eps

    def candidate_high(weight, label, fi):
        if is_between(weight) or (label > 0 and weight < eps) or (label < 0 and weight > cost - eps):
            return fi
        else:
            return infinity

    def candidate_low(weight, label, fi):
        if is_between(weight) or (label > 0 and weight > cost - eps) or (label < 0 and weight < eps):
            return fi
        else:
            return -infinity

    f = map(updated, f, map(kernels, points))
    high_values = map(candidate_high, alpha, labels, f)
    low_values = map(candidate_low, alpha, labels, f)
    numbered = zip(indices(f), high_values, indices(f), low_values)
    return f, reduce(extremes, numbered, (-1, infinity, -1, -infinity))


@cu
def set_two(alpha, first, first_value, second, second_value):
    return update(alpha, [(first, first_value), (second, second_value)])


def bounds_of_low(alpha_high, alpha_low, are_alike):
    """Where the weight of the lower point may be, so that both weights stay between 0 and the cost."""
    if are_alike:
        total = alpha_high + alpha_low
        return max(np.float32(0), total - COST), min(COST, total)
    difference = alpha_low - alpha_high
    return max(np.float32(0), difference), min(COST, COST + difference)


def train(points, labels, most_iterations):
    """The weights, the offset of the decision function, and the number of iterations."""
    high, low = int(np.argmax(labels > 0)), int(np.argmax(labels < 0))
    alpha, f = np.zeros(len(labels), np.float32), -labels
    high_step = low_step = np.float32(0)
    high_value, low_value = np.float32(-1), np.float32(1)
    weights = dict.fromkeys(range(len(labels)), np.float32(0))
    count = 0
    while count < most_iterations and low_value > high_value + 2 * TOLERANCE:
        count += 1
        eta = 2 - 2 * to_numpy(rbf(GAMMA, points[high], points[low]))
        alike = labels[high] * labels[low]
        old_high, old_low = weights[high], weights[low]
        least, greatest = bounds_of_low(old_high, old_low, alike > 0)
        new_low = np.clip(old_low + labels[low] * (high_value - low_value) / eta, least, greatest)
        new_high = np.clip(old_high - alike * (new_low - old_low), np.float32(0), COST)
        weights[high], weights[low] = new_high, new_low
        alpha = set_two(alpha, high, new_high, low, new_low)
        high_step, low_step = (new_high - old_high) * labels[high], (new_low - old_low) * labels[low]
        f, found = iteration(
            points, labels, GAMMA, alpha, f, high, low, high_step, low_step, EPS, COST, np.float32(np.inf)
        )
        high, high_value, low, low_value = (to_numpy(value)[()] for value in found)
        high, low = int(high), int(low)
    return to_numpy(alpha), (high_value + low_value) / 2, count


def two_moons(n, rng):
    """Two half circles that interlock, with noise, and their labels 1 and -1."""
    labels = np.where(np.arange(n) % 2, 1, -1).astype(np.float32)
    angle = rng.uniform(0, np.pi, n)
    x, y = np.cos(angle), np.sin(angle)
    points = np.stack([np.where(labels > 0, x, 1 - x), np.where(labels > 0, y, 0.5 - y)], axis=1)
    return (points + 0.08 * rng.standard_normal(points.shape)).astype(np.float32), labels


def main(arguments=None):
    chosen = options(__doc__, arguments, size=400, size_here=40, iterations=(3_000, 300))
    points, labels = two_moons(chosen.size, np.random.default_rng(7))
    with chosen.place:
        alpha, offset, count = train(points, labels, chosen.iterations)
    wide = points.astype(np.float64)
    kernel = np.exp(-float(GAMMA) * ((wide[:, None] - wide) ** 2).sum(axis=2))
    decision = kernel @ (alpha * labels) - offset
    margins = labels * decision
    # Karush, Kuhn and Tucker: points without weight are beyond the margin, those with less than the cost on it.
    inside = (alpha > EPS) & (alpha < COST - EPS)
    if abs(alpha @ labels) > 1e-3 or margins[alpha < EPS].min() < 0.98 or abs(margins[inside] - 1).max() > 0.02:
        raise AssertionError("the weights are not optimal")
    right = np.count_nonzero(margins > 0)
    if right < 0.95 * chosen.size:
        raise AssertionError(f"{right} of {chosen.size} points are classified right")
    print(f"SVM of {chosen.size} points at {chosen.place.name}: optimal after {count} iterations, {right} points right")


if __name__ == "__main__":
    sys.exit(main())
