//! The lane-level form of a function: what a back end emits.
//!
//! A function becomes a [`plan::Plan`]: basic blocks of guarded statements ([`body`]), the class of
//! every register ([`classes`]: one value for all lanes, a stride, or a value per lane), the order
//! in which statements may be emitted ([`segments`]) and the layout of its frame. Nothing here
//! knows how machine code is made, so a back end with wider vectors can be put beside
//! [`super::emit`].

pub(crate) mod addresses;
#[cfg(test)]
mod affine_tests;
pub(crate) mod barrier;
pub(crate) mod body;
pub(crate) mod bounds;
pub(crate) mod classes;
pub(crate) mod contract;
pub(crate) mod ends;
pub(crate) mod flow;
pub(crate) mod ifconvert;
pub(crate) mod inline;
pub(crate) mod known;
pub(crate) mod layout;
pub(crate) mod low_bits;
mod masks;
pub(crate) mod nan;
pub(crate) mod never;
pub mod operands;
pub(crate) mod parameters;
pub(crate) mod pieces;
pub(crate) mod plan;
pub(crate) mod pure;
mod quotients;
mod rename;
pub(crate) mod segments;
pub(crate) mod seldom;
pub(crate) mod sites;
pub(crate) mod spin;
pub(crate) mod splits;
pub(crate) mod unread;
pub(crate) mod usage;
pub(crate) mod widening;
pub(crate) mod width;
