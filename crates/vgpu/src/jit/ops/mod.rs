//! Arithmetic: lowers one pure PTX instruction to Cranelift for a scalar or a chunk of lanes.
