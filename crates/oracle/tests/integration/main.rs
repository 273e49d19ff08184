//! All integration tests of the interpreter and the random programs, in one binary.

mod arithmetic;
mod programs;
mod textures;
