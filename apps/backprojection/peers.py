"""What the benchmark prints beside ours: FastSAR in the same run, and what MatX has published."""

import numpy as np

from rtcg import fft

# github.com/NVIDIA/MatX, examples/sarbp: Gbp/s and dB for 8192^2 pixels and 11,566 pulses.
MATX = {
    "double": (191, None), "mixed": (353, 102), "float-float": (241, 101), "Taylor per block": (511, 87),
    "float": (470, -1.8),
}  # fmt: skip
MATX_DEVICE = "H200"


def fastsar(scene, backend):
    """FastSAR's exact backprojection, from the spectra of the pulses; its range compression is part of it."""
    radar, grid, formers = scene.radar, scene.grid, []

    def call():
        from fastsar import ExactFormer

        if not formers:
            count = scene.bins // radar.oversampling
            first, step = scene.bins // 2 - count // 2, radar.bandwidth * radar.oversampling / scene.bins
            spectra = [
                fft.fftshift(fft.fft(fft.ifftshift(part, axes=1), axis=1), axes=1)[:, first : first + count].get()
                for part in (scene.data[at : at + 256] for at in range(0, len(scene.positions), 256))
            ]
            formers.append(np.concatenate(spectra))
            formers.append(ExactFormer(
                scene.positions, radar.carrier - count // 2 * step, step, count, grid.width, grid.height, grid.dx,
                grid.dy, window=False, interp="linear", center=(grid.dx / 2, grid.dy / 2, 0), backend=backend,
            ))  # fmt: skip
        spectra, former = formers
        return former(spectra).T

    return call
