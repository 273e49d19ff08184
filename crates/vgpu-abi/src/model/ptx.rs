//! Which PTX modules the driver takes: versions, targets, sizes.

measured! {
    /// A module of a later major version of PTX is refused with `UNSUPPORTED_PTX_VERSION`.
    MAX_PTX_MAJOR_VERSION: u32 = 9, from "q61";
    /// The targets that there are, with the first version of PTX that has each; a module of an older version is refused
    /// with `INVALID_PTX`.
    PTX_TARGETS: &[(u32, (u32, u32))] = &[
        (10, (1, 0)), (11, (1, 0)), (12, (1, 2)), (13, (1, 2)), (20, (2, 0)), (30, (3, 0)), (32, (4, 0)), (35, (3, 1)),
        (37, (4, 1)), (50, (4, 0)), (52, (4, 1)), (53, (4, 2)), (60, (5, 0)), (61, (5, 0)), (62, (5, 0)), (70, (6, 0)),
        (72, (6, 1)), (75, (6, 3)), (80, (7, 0)), (86, (7, 1)), (87, (7, 4)), (88, (9, 0)), (89, (7, 8)), (90, (7, 8)), (100, (8, 6)), (101, (8, 6)),
        (103, (8, 8)), (110, (9, 0)), (120, (8, 7)), (121, (8, 8)),
    ], from "q61";
    /// The first version of PTX that converts 8-bit floats on sm_89.
    FP8_VERSION_ON_SM_89: (u32, u32) = (8, 1), from "q68";
    /// Bytes of parameters that a kernel may have in every version of PTX.
    MAX_PARAM_BYTES: usize = 4_352, from "q61";
    /// Bytes of parameters that a kernel may have for these versions of PTX and targets, and later ones.
    MAX_LARGE_PARAM_BYTES: (usize, (u32, u32), u32) = (32_764, (8, 1), 70), from "q61";
    /// Each `.global` variable begins at a multiple of this; constants follow each other.
    GLOBAL_VARIABLE_ALIGNMENT: u64 = 256, from "q61";
    /// `CU_JIT_CACHE_MODE` has values below this one.
    CACHE_MODES: u32 = 3, from "q61";
    /// Levels that `CU_JIT_TARGET` can have; others are invalid.
    JIT_TARGETS: &[u32] = &[30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121],
        from "q61";
}
