//! Tests that every back end of [`rtcg_hal`] runs: what arrays and sparse matrices compute on a device has to be what
//! the host computes, and a device that lacks a capability has to give the documented fallback or an error that says
//! so.
//!
//! [`conformance_tests!`](crate::conformance_tests) takes an expression that makes an `Arc<ArrayContext>` and defines a
//! `#[test]` for each function of these files. Results are compared with loops over the host's numbers, exactly where
//! all numbers are small integers. No test assumes a back end, so none compiles a source of its own that is valid, but
//! for snippets.
//!
//! | file | what is tested |
//! |---|---|
//! | `device.rs` | memory, copies, workspaces, and sources that do not compile |
//! | `arrays.rs` | elements, views, reductions, scans, sorts, indexing, segments, fusion |
//! | `products.rs` | matrix products, `einsum`, FFT, linear algebra |
//! | `generators.rs` | kernels from snippets, and calls that are repeated |
//! | `sparse.rs` | products and systems of sparse matrices |
//! | `capabilities.rs` | asynchronous reads, graphs, cooperative launches, and devices without them |
//!
//! A new test is a `pub fn` of a group and a line of the macro; this crate's own test compares the two.
#![deny(unsafe_code)]

pub mod arrays;
pub mod capabilities;
pub mod device;
pub mod generators;
#[path = "../../../tests/support/host_arrays.rs"]
mod host_arrays;
pub mod products;
pub mod sparse;

/// Defines all tests for the device whose `Arc<ArrayContext>` an expression makes. Every test makes its own.
#[macro_export]
macro_rules! conformance_tests {
    ($context:expr) => {
        $crate::conformance_tests! { @group $context, device:
            memory_is_copied_byte_for_byte
            memory_is_zeroed_where_it_is_asked_for
            reduction_workspaces_begin_zeroed
            sources_that_do_not_compile_are_errors
        }
        $crate::conformance_tests! { @group $context, arrays:
            elements_arrive_in_either_order
            conversions_are_those_of_the_host
            arithmetic_is_exact_for_every_dtype
            functions_are_close_to_the_hosts
            operands_are_broadcast_strided_and_reversed
            operands_that_overlap_are_read_before_they_are_written
            comparisons_select_and_nan_is_kept
            arrays_without_elements_or_axes_are_arrays
            reductions_are_those_of_loops
            reductions_of_nothing_are_identities_or_errors
            scans_are_those_of_loops
            sorts_are_stable_and_put_nan_last
            searches_find_where_elements_belong
            indices_are_checked_wrapped_or_clipped
            elements_are_put_and_found
            segments_are_reduced_by_themselves
            fused_operations_have_the_same_bits
        }
        $crate::conformance_tests! { @group $context, products:
            matrix_products_are_exact
            einstein_sums_are_those_of_loops
            transforms_are_those_of_the_definition
            systems_are_solved_and_factored
        }
        $crate::conformance_tests! { @group $context, generators:
            snippets_are_executed_for_every_layout
            snippets_walk_over_arrays_of_any_order
            ranges_write_to_arrays_with_gaps
            snippets_are_reduced
            snippets_are_reduced_over_any_axes
            snippets_are_scanned
            random_numbers_depend_on_their_position_only
            repeated_calls_read_their_own_operands
        }
        $crate::conformance_tests! { @group $context, sparse:
            products_of_all_formats_are_those_of_the_host
            products_of_sparse_matrices_cancel
            triangular_systems_are_solved
            iterations_converge_in_the_default_mode
            eigenvalues_are_those_of_the_spectrum
        }
        $crate::conformance_tests! { @group $context, capabilities:
            asynchronous_reads_arrive
            graphs_repeat_what_was_recorded
            loops_in_graphs_end_or_say_what_is_missing
            launches_know_their_own_kernels
            solvers_use_what_a_device_has_and_say_what_it_lacks
        }
    };
    (@group $context:expr, $group:ident: $($test:ident)*) => {
        $(
            #[test]
            fn $test() {
                $crate::$group::$test(&$context);
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    /// The names of tests that a file defines, in their order.
    fn defined(source: &'static str) -> impl Iterator<Item = &'static str> {
        source.lines().filter_map(|line| line.strip_prefix("pub fn ")?.split('(').next())
    }

    #[test]
    fn the_macro_has_every_test() {
        let groups = [
            include_str!("device.rs"),
            include_str!("arrays.rs"),
            include_str!("products.rs"),
            include_str!("generators.rs"),
            include_str!("sparse.rs"),
            include_str!("capabilities.rs"),
        ];
        let defined: Vec<&str> = groups.into_iter().flat_map(defined).collect();
        let text = include_str!("lib.rs").split("macro_rules!").nth(1).unwrap().split("(@group").next().unwrap();
        let is_name = |line: &&str| line.contains('_') && line.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let listed: Vec<&str> = text.lines().map(str::trim).filter(is_name).collect();
        assert_eq!(listed, defined);
    }
}
