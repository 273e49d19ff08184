"""A filter bank as a tuned kernel, and what was published for it."""

import functools

import numpy as np

import rtcg.numpy as xp
from rtcg import driver, tune

from . import kernels, tensor

#: Inputs and banks of 2011-12, and GFLOP/s there: by default and tuned. From the results that were published with
#: N. Pinto and D. D. Cox, "GPU Metaprogramming: A Case Study in Large-Scale Convolutional Neural Networks", 2011, and
#: J. Bergstra, N. Pinto and D. Cox, "Machine learning for predictive auto-tuning with boosted regression trees", 2012.
SHAPES_2011 = [
    ((256, 256, 8), (64, 9, 9, 8)),
    ((512, 512, 4), (32, 13, 13, 4)),
    ((1024, 1024, 8), (16, 5, 5, 8)),
    ((2048, 2048, 4), (4, 8, 8, 4)),
]
PUBLISHED = {
    "9600M GT": [(6.7, 36.6), (13.6, 35.6), (20.2, 36.4), (25.7, 46.8)],
    "Tesla C1060": [(104, 168), (126, 234), (144, 244), (180, 323)],
    "GTX 285": [(123, 197), (143, 270), (149, 311), (205, 377)],
    "Tesla C2050": [(381, 461), (661, 764), (436, 458), (293, 619)],
    "GTX 580": [(617, 669), (979, 1074), (745, 763), (480, 904)],
}


def flops(shape, bank):
    """Operations of a filter bank: a multiplication and an addition for each tap."""
    (h, w, d), (f, fh, fw, _) = shape, bank
    return 2 * (h - fh + 1) * (w - fw + 1) * f * fh * fw * d


def made(shape, bank, seed=2011):
    """An image and filters, from a seed."""
    rng = np.random.Generator(np.random.Philox(seed))
    return rng.random(shape, np.float32) - np.float32(0.5), rng.standard_normal(bank, np.float32)


def tolerance(bank):
    """The error that a sum of float32 may have, relative to the sum of magnitudes that it is made of."""
    _, fh, fw, d = bank
    return (fh * fw * d) ** 0.5 * 2.0**-23 * 4


def _aligned(x):
    """The array, or a copy of it that vectors can be read from."""
    return x.copy() if x.ptr % 16 else x


class Bank:
    """A bank of filters (F, FH, FW, D), for images of one shape: a tuned kernel.

    The space is `kernels.space`, or that of `tensor` for tensor cores, without an activation. By default a
    configuration is the stored one, else that of the nearest problem.
    """

    def __init__(self, shape, filters, activation="acc", half=False, uses_tensor_cores=False):
        self.shape, self.filters = tuple(shape), np.ascontiguousarray(filters, np.float32)
        if len(self.shape) != 3 or self.filters.ndim != 4 or self.shape[2] != self.filters.shape[3]:
            raise ValueError(
                f"shape is {self.shape}, filters have shape {self.filters.shape}; expected (rows, columns, channels) "
                "and (filters, height, width, channels)"
            )
        f, fh, fw, d = self.filters.shape
        if not (1 <= fh <= self.shape[0] and 1 <= fw <= self.shape[1]):
            raise ValueError(f"filters are {fh} x {fw}; expected 1 x 1 to {self.shape[0]} x {self.shape[1]}")
        self.dtype = np.float16 if half else np.float32
        self.result_shape = (self.shape[0] - fh + 1, self.shape[1] - fw + 1, f)
        rows, columns, _ = self.result_shape
        self.on_device = xp.asarray(self.filters.astype(self.dtype))
        if uses_tensor_cores:
            self.kernel = tune.Kernel(
                functools.partial(tensor.source, self.shape, self.filters.shape, half), "filter_bank",
                tensor.space(self.filters.shape, half), block="32 * warps",
                grid=(f"ceil_div({columns}, 16 * mt)", f"ceil_div({rows}, warps)", f"ceil_div({f}, 8 * nt)"),
                problem=("out", "w"),
            )  # fmt: skip
            return
        self.kernel = tune.Kernel(
            functools.partial(kernels.source, self.shape, self.filters, activation, half), "filter_bank",
            kernels.space(self.shape, self.filters.shape, half), block=("bx", "by", "groups"),
            grid=(f"ceil_div({columns}, bx * px)", f"ceil_div({rows}, by * py)", f"ceil_div({f}, filters * groups)"),
            problem=("out", "w"),
        )  # fmt: skip

    def __call__(self, x, **config):
        """The result for an image on the device; by the configuration that is given, or else the best known one."""
        if x.shape != self.shape or x.dtype != self.dtype:
            raise ValueError(
                f"x has shape {x.shape} and dtype {x.dtype}; expected {self.shape} and {np.dtype(self.dtype)}"
            )
        out = xp.empty(self.result_shape, self.dtype)
        launch = self.kernel.variant(**config) if config else self.kernel
        launch(out, _aligned(x), self.on_device)
        return out

    def tune(self, x, budget, **options):
        """Search; see `tune.Kernel.tune`."""
        out = xp.zeros(self.result_shape, self.dtype)
        loose = 50 if self.dtype == np.float16 else 4
        atol = loose * tolerance(self.filters.shape) * float(np.abs(self.filters).sum(axis=(1, 2, 3)).max())
        return self.kernel.tune(
            out, _aligned(x), self.on_device, budget=budget, rtol=1e-3, atol=atol, progress=False, **options
        )


class Bank2011:
    """The same by the kernel and the space of 2011, in as many launches as constant memory needs."""

    def __init__(self, shape, filters):
        if shape[2] % 4 or filters.shape[0] % 4:
            raise ValueError(f"{shape[2]} channels and {filters.shape[0]} filters; expected multiples of 4")
        self.shape, self.filters = tuple(shape), np.ascontiguousarray(filters, np.float32)
        f, fh, fw, _ = filters.shape
        self.result_shape = (shape[0] - fh + 1, shape[1] - fw + 1, f)
        self.kernels = [self._kernel(first, count) for first, count in kernels.passes_2011(filters.shape)]

    def _kernel(self, first, count):
        rows, columns, _ = self.result_shape
        return tune.Kernel(
            functools.partial(kernels.source_2011, self.shape, self.filters, first, count), "filter_bank",
            kernels.space_2011(self.filters.shape), block=("block_w", "block_h"),
            grid=(f"ceil_div({columns}, block_w)", f"ceil_div({rows}, block_h)"), problem=("out",),
        )  # fmt: skip

    def __call__(self, x, texels=None, **config):
        """The result for an image on the device, of which `texels` is the texture; without one it is made here."""
        out, texels = xp.empty(self.result_shape, np.float32), texels or self.texture(x)
        for kernel in self.kernels:
            (kernel.variant(**config) if config else kernel)(out, x, texels)
        return out

    def texture(self, x):
        """A copy of the image with four channels in a texel."""
        rows = xp.asarray(x, order="C").reshape(self.shape[0], -1, 4)
        return driver.texture_object(driver.make_multichannel_2d_array(rows, order="C"))

    def tune(self, x, budget, **options):
        """Search with the first launch, whose filters are as many as those of others, or more."""
        out = xp.zeros(self.result_shape, np.float32)
        atol = 4 * tolerance(self.filters.shape) * float(np.abs(self.filters).sum(axis=(1, 2, 3)).max())
        return self.kernels[0].tune(
            out, x, self.texture(x), budget=budget, rtol=1e-3, atol=atol, progress=False, **options
        )
