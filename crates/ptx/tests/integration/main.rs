//! All integration tests of the PTX front end, in one binary.

mod common;
mod corpus;
mod instruction_forms;
mod messages;
mod mutations;
mod operand_forms;
mod parser;
mod texture;
