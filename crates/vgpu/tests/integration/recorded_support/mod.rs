//! The table of what a GPU computed (`tests/recorded/README.md`), and how to run its forms here.

pub mod bounds;
pub mod run;
pub mod table;
