"""The functions of programs that Copperhead had; `rtcg.copperhead` has more."""

# ruff: noqa: F401, I001

from rtcg.copperhead import (
    abs, all, any, argmax, bounded_range, cast_to, cast_to_el, cmp_eq, cmp_ge, cmp_gt, cmp_le, cmp_lt, cmp_ne,
    enumerate, exclusive_rscan, exclusive_scan, exp, filter, float32, float64, gather, indices, int32, int64, len,
    log, map, max, max_bound, max_bound_el, min, min_bound, min_bound_el, op_add, op_and, op_band, op_bor, op_div,
    op_invert, op_lshift, op_mod, op_mul, op_neg, op_not, op_or, op_pos, op_pow, op_rshift, op_sub, op_xor, permute,
    range, reduce, replicate, rotate, rscan, scan, scatter, shift, sort, sqrt, sum, unzip, update, zip,
)  # fmt: skip

__all__ = [name for name in globals() if not name.startswith("_")]
