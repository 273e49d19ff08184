"""The spectrum of a chirp as time goes by

A tone that rises. One kernel cuts the signal into overlapping pieces and weights them with a window; `rtcg.fft`
transforms all pieces in one call. The peak of each spectrum is at the frequency that the tone has at that time.
"""

import sys

import matplotlib.image
import numpy as np

import rtcg.autoinit  # noqa: F401
import rtcg.fft
import rtcg.numpy as rnp
from rtcg.elementwise import ElementwiseKernel

RATE, SECONDS, LENGTH, HOP = 8000, 4, 512, 128
FIRST_HZ, LAST_HZ = 300, 3000

cut = ElementwiseKernel(
    "float *pieces, const float *signal",
    f"""
    int k = i % {LENGTH}, piece = i / {LENGTH};
    float window = 0.5f - 0.5f * cospif(2.0f * k / {LENGTH});
    pieces[i] = window * signal[piece * {HOP} + k];
    """,
    "cut",
)


def chirp():
    """The signal, and the frequency in Hz at each sample."""
    t = np.arange(RATE * SECONDS) / RATE
    slope = (LAST_HZ - FIRST_HZ) / SECONDS
    return np.sin(2 * np.pi * (FIRST_HZ + slope * t / 2) * t).astype(np.float32), FIRST_HZ + slope * t


def main(picture):
    """Transform, compare with NumPy and with the tone's frequency, and save the spectra in decibels."""
    signal, frequency_hz = chirp()
    n_pieces = (len(signal) - LENGTH) // HOP + 1
    pieces = rnp.empty((n_pieces, LENGTH), np.float32)
    cut(pieces, rnp.to_gpu(signal), range=slice(pieces.size))
    spectra = np.abs(rtcg.fft.rfft(pieces)).get()

    windows = np.lib.stride_tricks.sliding_window_view(signal, LENGTH)[::HOP] * np.hanning(LENGTH + 1)[:-1]
    assert np.allclose(spectra, np.abs(np.fft.rfft(windows)), atol=1e-3)
    peaks_hz = spectra.argmax(1) * RATE / LENGTH
    middles = np.arange(n_pieces) * HOP + LENGTH // 2
    assert np.abs(peaks_hz - frequency_hz[middles]).max() < 1.5 * RATE / LENGTH
    decibels = 20 * np.log10(spectra.T[::-1] + 1e-3)
    matplotlib.image.imsave(picture, np.kron(decibels, np.ones((1, 2))), cmap="magma", vmin=-20)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "spectrogram.png")
