"""`__nv_bfloat16` and `__nv_bfloat162` from ``cuda_bf16.h``. Oracle: rational arithmetic on bit patterns."""

from __future__ import annotations

import numpy as np

from tests.kernels.case import Launch, Suite, poisoned
from tests.kernels.exact import BF16
from tests.kernels.half_common import HalfCases
from tests.kernels.inputs import BF16_BITS, rng

SUITE = Suite("bfloat16")

cases = HalfCases(SUITE, "bfloat16", BF16, BF16_BITS)
cases.add_all()

SUITE.add("bfloat16_mixed_precision_row_sums", cases.header + """
extern "C" __global__ void k(const __nv_bfloat16 *a, float *out) {
    float s = 0.0f;
    for (int i = threadIdx.x; i < 512; i += 32) s += __bfloat162float(a[blockIdx.x * 512 + i]);
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
}""", Launch(["a", "out"], (5,), (32,)),
          buffers={"a": (rng(141).integers(-64, 64, 5 * 512).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), "out": poisoned(5, np.float32)},
          expect=lambda b: {"out": (b["a"].astype(np.uint32) << 16).view(np.float32).reshape(5, 512).sum(1)}, no_extern_c=True)
