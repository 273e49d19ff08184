//! The Rust programs of the README and of `docs/`, which run as documentation tests: `cargo test --doc`. They are no
//! part of the crate `rtcg`, whose package has none of these files.
#![doc = include_str!("../../../README.md")]
#![doc = include_str!("../../rtcg/README.md")]
#![doc = include_str!("../../../docs/guide.md")]
#![doc = include_str!("../../../docs/arrays.md")]
#![doc = include_str!("../../../docs/cgen.md")]
#![doc = include_str!("../../../docs/copperhead.md")]
#![doc = include_str!("../../../docs/generators.md")]
#![doc = include_str!("../../../docs/sparse.md")]
