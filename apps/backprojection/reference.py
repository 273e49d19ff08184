"""The oracle in NumPy and float64: pulses of point targets, and single pixels of their image."""

import numpy as np


def pulse(antenna, targets, amplitudes, bins, carrier, bandwidth, oversampling):
    """A range-compressed pulse of point targets."""
    c = 299792458.0
    step = c / (2 * bandwidth * oversampling)
    ranges = (np.arange(bins) - bins // 2) * step
    result = np.zeros(bins, complex)
    for (x, y), amplitude in zip(targets, amplitudes, strict=True):
        offset = np.linalg.norm([x - antenna[0], y - antenna[1], antenna[2]]) - np.linalg.norm(antenna)
        echo = amplitude * np.exp(-4j * np.pi * carrier / c * offset)
        result += echo * np.sinc((ranges - offset) * (2 * bandwidth / c))
    return result


def pixels(data, antennas, x, y, carrier, bandwidth, oversampling):
    """Backprojection to the points (x, y) of the plane z = 0, with linear interpolation of the pulses."""
    c = 299792458.0
    step = c / (2 * bandwidth * oversampling)
    image = np.zeros(len(x), complex)
    for samples, antenna in zip(data, antennas, strict=True):
        at = np.column_stack([x, y, np.zeros(len(x))])
        offset = np.linalg.norm(at - antenna, axis=1) - np.linalg.norm(antenna)
        ranges = (np.arange(len(samples)) - len(samples) // 2) * step
        value = np.interp(offset, ranges, samples.astype(complex))
        image += value * np.exp(4j * np.pi * carrier / c * offset)
    return image


def signal_to_error(found, expected):
    """Decibels."""
    found, expected = np.asarray(found, complex), np.asarray(expected, complex)
    error = (np.abs(found - expected) ** 2).sum()
    return 10 * np.log10((np.abs(expected) ** 2).sum() / error) if error else np.inf


def profile(cut):
    """Of a response along a line, sampled finely: peak and width at half power, in samples, first side lobe in dB."""
    power = np.abs(np.asarray(cut, complex)) ** 2
    peak = int(np.argmax(power))
    power = power / power[peak]
    a, b, c = power[peak - 1 : peak + 2]
    place = peak + (a - c) / (2 * (a - 2 * b + c))
    edges, lobes = [], []
    for step in (-1, 1):
        i = peak
        while power[i + step] > 0.5:
            i += step
        edges.append(i + step * (power[i] - 0.5) / (power[i] - power[i + step]))
        while power[i + step] < power[i]:
            i += step
        while power[i + step] > power[i]:
            i += step
        lobes.append(power[i])
    return place, edges[1] - edges[0], 10 * np.log10(max(lobes))
