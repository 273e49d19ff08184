//! What a program brings along and what it is given: images to load, stack, memory that it maps
//! itself, and how many blocks are resident at once.

mod images;
mod limits;
mod mapping;
mod residency;
mod stack;
mod support;
