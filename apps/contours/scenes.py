"""Images whose contours are known, and how well found ones agree with them."""

import numpy as np


def scene(rows, columns, seed=1):
    """Shapes of different colour, brightness or texture: an image of floats (rows, columns, 3), and its regions."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:rows, :columns] / float(min(rows, columns))
    width = columns / min(rows, columns)
    regions = np.zeros((rows, columns), int)
    regions[y > 0.75 + 0.04 * np.sin(5 * x)] = 1
    regions[((x - 0.27 * width) / 0.2) ** 2 + ((y - 0.38) / 0.26) ** 2 < 1] = 2
    regions[(abs(x - 0.68 * width) < 0.22) & (abs(y - 0.33) < 0.2)] = 3
    regions[((x - 0.68 * width) / 0.12) ** 2 + ((y - 0.33) / 0.12) ** 2 < 1] = 4
    regions[(y > 0.62) & (y < 0.92) & (abs(x - 0.5 * width) < 0.5 * (y - 0.62))] = 5
    colours = np.array(
        [
            [0.55, 0.62, 0.7],
            [0.3, 0.42, 0.25],
            [0.75, 0.5, 0.35],
            [0.45, 0.45, 0.5],
            [0.45, 0.45, 0.5],
            [0.65, 0.3, 0.4],
        ]
    )
    image = colours[regions]
    # Regions 3 and 4 have one colour, and stripes of different directions.
    stripes = 0.16 * np.sin(2 * np.pi * np.where(regions == 3, np.arange(columns), np.arange(rows)[:, None]) / 5)
    image = image + np.where((regions == 3) | (regions == 4), stripes, 0)[..., None]
    return np.clip(image + rng.normal(scale=0.04, size=image.shape), 0, 1).astype(np.float32), regions


def boundaries(regions):
    """Pixels whose right or lower neighbour is of another region."""
    found = np.zeros(regions.shape, bool)
    found[:, :-1] |= regions[:, :-1] != regions[:, 1:]
    found[:-1] |= regions[:-1] != regions[1:]
    return found


def f_measure(strength, truth, distance):
    """The greatest harmonic mean of precision and recall over thresholds, and both.

    Pixels within `distance` of one of the other kind count as found.
    """
    reach = int(np.ceil(distance))
    disc = [(y, x) for y in range(-reach, reach + 1) for x in range(-reach, reach + 1) if y * y + x * x <= distance**2]

    def spread(mask):
        padded = np.pad(mask, reach)
        rows, columns = mask.shape
        return np.any([padded[reach + y : reach + y + rows, reach + x : reach + x + columns] for y, x in disc], axis=0)

    near_truth, best = spread(truth), (0.0, 0.0, 0.0)
    for threshold in np.linspace(0.02, 0.9, 45):
        found = strength >= threshold
        if found.any():
            precision, recall = near_truth[found].mean(), spread(found)[truth].mean()
            best = max(best, (2 * precision * recall / max(precision + recall, 1e-9), precision, recall))
    return best
