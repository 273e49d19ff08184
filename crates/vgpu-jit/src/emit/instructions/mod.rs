//! Instructions that are not plain arithmetic, a file for each kind. Those that one lane executes alone begin in
//! [`special_registers`] or [`loads_and_stores`], once [`addresses`] has checked where they go; those that lanes
//! execute together, such as [`atomics`], [`barriers`] and [`warp_ops`], begin in [`ordering_points`].

mod address_groups;
pub(super) mod addresses;
mod async_copy;
mod atomics;
mod barriers;
mod calls;
mod loads_and_stores;
pub(super) mod matrix;
pub(super) mod matrix_encoding;
mod ordering_points;
mod runtime_ordering_points;
mod shadow_checks;
mod special_registers;
mod texture;
mod traps;
mod warp_ops;
pub(super) mod warp_rendezvous;
