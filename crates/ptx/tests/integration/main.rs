//! All integration tests of the PTX front end, in one binary.

mod cfg;
mod common;
mod corpus;
mod forms;
mod messages;
mod mutations;
mod parser;
mod texture;
