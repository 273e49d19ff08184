//! From what the elaborator makes to statements that each become a few kernels.
//!
//! | file | what it establishes |
//! |---|---|
//! | `check_indices.rs` | indices that may be wrong are clamped by a statement of their own |
//! | `split_choices.rs` | elements are read from the sequence that a condition chose |
//! | `forward_views.rs` | elements are read from arrays, never from rows or slices |
//! | `lift_scalars.rs` | scalars that depend on arrays are computed on the device |
//! | `flatten_nests.rs` | no element is an array |
//! | `fold_filters.rs` | what a filter keeps of an element is reduced without being made |
//! | `fuse.rs` | sequences that are only read are not stored |
//! | `bound_indices.rs` | indices that are always inside are neither wrapped nor clamped |
//! | `distribute.rs` | reductions of rows by themselves, as another form of a map |
//! | `merge.rs` | statements over one space that do not need each other are one |

mod bound_indices;
mod check_indices;
mod distribute;
mod flatten_nests;
mod fold_filters;
mod forward_views;
mod fuse;
mod lift_scalars;
mod merge;
mod split_choices;

use crate::ir::{Block, Exp, Program};
use crate::problem::{Problem, Problems};
use crate::simplify::{remove_dead_statements, simplify_branches};

pub use distribute::distribute;
pub use lift_scalars::{Place, Places, places};
pub use merge::storing_reductions;

/// A pass with its name.
type Pass = (&'static str, fn(&mut Program, &mut Problems));

/// All passes, in order.
const PASSES: &[Pass] = &[
    ("dead statements", |program, _| remove_dead_statements(program)),
    ("branches", |program, _| simplify_branches(program)),
    ("check indices", |program, _| check_indices::run(program)),
    ("split choices", |program, _| split_choices::run(program)),
    ("forward views", |program, _| forward_views::run(program)),
    ("lift scalars", |program, _| lift_scalars::run(program)),
    ("fuse elements", |program, _| fuse::run_in_elements(program)),
    ("fold filters", |program, _| fold_filters::run(program)),
    ("branches", |program, _| simplify_branches(program)),
    ("sequences in loops", refuse_sequences_in_loops),
    ("flatten nests", flatten_nests::run),
    ("forward views", |program, _| forward_views::run(program)),
    ("dead statements", |program, _| remove_dead_statements(program)),
    ("fuse", |program, _| fuse::run(program)),
    ("fuse elements", |program, _| fuse::run_in_elements(program)),
    ("merge", |program, _| merge::run(program)),
    // What is merged with one statement may be merged with another one.
    ("merge", |program, _| merge::run(program)),
    // After statements have moved: what is inside may be so because of a check before.
    ("bound indices", |program, _| bound_indices::run(program)),
    ("dead statements", |program, _| remove_dead_statements(program)),
];

/// Runs all passes.
///
/// # Errors
/// What kernels cannot compute yet.
///
/// # Panics
/// In debug builds, if a pass makes a program that is not valid.
pub fn schedule(program: &mut Program) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for (name, pass) in PASSES {
        pass(program, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        if cfg!(debug_assertions) {
            let checked = crate::check::check(program);
            assert!(checked.is_ok(), "after '{name}': {checked:?}\n{}", crate::text::print_program(program));
        }
    }
    Ok(())
}

/// Refuses loops of elements whose variables are sequences: kernels have no room for these.
fn refuse_sequences_in_loops(program: &mut Program, problems: &mut Problems) {
    fn look(program: &Program, block: &Block, is_element: bool, problems: &mut Problems) {
        for stmt in &block.stmts {
            if let (true, Exp::Loop { params, .. }) = (is_element, &stmt.exp)
                && params.iter().any(|param| program.var_type(*param).ndim > 0)
            {
                problems.add(Problem::sequence_of_element(stmt.span));
            }
            let is_inside = is_element || stmt.exp.is_kernel();
            stmt.exp.blocks().into_iter().for_each(|inner| look(program, inner, is_inside, problems));
        }
    }
    look(program, &program.body, false, problems);
}
