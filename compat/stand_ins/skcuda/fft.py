"""Transforms of complex arrays by ``rtcg.fft``, in place of cuFFT's."""

import rtcg.driver as driver
import rtcg.fft


class Plan:
    """A transform along the last axis of `shape`, on a stream."""

    def __init__(self, shape, input_dtype, output_dtype, batch=1, stream=None):
        self.stream = stream


def ifft(source, target, plan, scale=False):
    """The inverse transform, divided by its length with `scale` alone; has ended when this returns."""
    if plan.stream is not None:
        plan.stream.synchronize()
    rtcg.fft.ifft(source, norm="backward" if scale else "forward", out=target)
    driver.Context.synchronize()
