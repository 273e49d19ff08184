//! Kernels, and what their calls are made of. [`function`] is the class `Function`: a call reads grid, block and stream
//! from its keywords ([`geometry`], [`keywords`]) and converts the kernel's own [`arguments`]. The same call made again
//! takes the short path of [`cached_call`], by means that other repeated calls share ([`call_matcher`]); a [`prepared_call`] is given the types in advance.

pub(crate) mod arguments;
pub(crate) mod cached_call;
pub(crate) mod call_matcher;
mod dlpack;
pub(crate) mod function;
pub(crate) mod geometry;
mod keywords;
mod prepared_call;
