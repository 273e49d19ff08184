"""What the application is compared with: C on one core, scipy.ndimage, cuDNN through PyTorch."""

import ctypes
from pathlib import Path

import numpy as np

from apps import _harness as harness


def on_one_core(x, w, rows):
    """Some rows by C on one core, compiled when it is called."""
    function = harness.compile_c(Path(__file__).with_name("reference.c")).filter_bank
    out = np.empty((rows, x.shape[1] - w.shape[2] + 1, len(w)), np.float32)
    x_, w_, out_ = (ctypes.c_void_p(array.ctypes.data) for array in (x, w, out))

    def call():
        function(x_, w_, x.shape[1], x.shape[2], *w.shape[:3], rows, out_)
        return out

    return call


def scipy_first(x, w):
    """The first filter by scipy.ndimage, whose middle is where it fits."""
    from scipy.ndimage import correlate

    _, fh, fw, d = w.shape
    whole = correlate(x, w[0], mode="constant")[:, :, d // 2]
    return whole[fh // 2 : fh // 2 + x.shape[0] - fh + 1, fw // 2 : fw // 2 + x.shape[1] - fw + 1, None]


def cudnn(x, w, channels_last, dtype="float32"):
    """A function that calls cuDNN through PyTorch, with TF32 off, and waits."""
    operands = []

    def call():
        import torch

        if not operands:
            torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = False, True
            layout = torch.channels_last if channels_last else torch.contiguous_format
            for array in (np.moveaxis(x, 2, 0)[None], np.moveaxis(w, 3, 1)):
                there = torch.from_numpy(np.ascontiguousarray(array)).cuda().to(getattr(torch, dtype))
                operands.append(there.to(memory_format=layout))
        with torch.no_grad():
            found = torch.nn.functional.conv2d(*operands)
        torch.cuda.synchronize()
        return found

    return call


def of_torch(found):
    """A result of cuDNN in our order of axes."""
    return np.moveaxis(found[0].float().cpu().numpy(), 0, 2)


def cudnn_bank(x, w, low, high):
    """The filter bank of `screening.bank` by cuDNN through PyTorch, with TF32 off, in the stream of the caller."""
    import torch

    import rtcg.numpy as xp
    from rtcg import driver

    # Shapes differ from model to model: a search for each would take longer than the bank.
    torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = False, False
    with torch.no_grad(), torch.cuda.stream(torch.cuda.ExternalStream(driver.Stream.get_current().handle)):
        image, filters = (torch.as_tensor(array, device="cuda") for array in (x, w))
        found = torch.nn.functional.conv2d(image.permute(0, 3, 1, 2), filters.permute(0, 3, 1, 2)).clamp_(low, high)
        return xp.asarray(found.permute(0, 2, 3, 1).contiguous())
