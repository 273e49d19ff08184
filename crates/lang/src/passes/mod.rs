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

use crate::check::check_with_names;
use crate::ir::{Block, Exp, Program};
use crate::problem::{Problem, Problems};
use crate::simplify::{remove_dead_statements, simplify_branches};

pub use distribute::distribute;
pub use lift_scalars::{Place, Places, places};
pub use merge::storing_reductions;

type Pass = fn(&mut Program, &mut Problems);

/// All passes, in order.
const PASSES: &[Pass] = &[
    |program, _| remove_dead_statements(program),
    |program, _| simplify_branches(program),
    |program, _| check_indices::run(program),
    |program, _| split_choices::run(program),
    |program, _| forward_views::run(program),
    |program, _| lift_scalars::run(program),
    |program, _| fuse::run_in_elements(program),
    |program, _| fold_filters::run(program),
    |program, _| simplify_branches(program),
    refuse_sequences_in_loops,
    flatten_nests::run,
    |program, _| forward_views::run(program),
    |program, _| remove_dead_statements(program),
    |program, _| fuse::run(program),
    |program, _| fuse::run_in_elements(program),
    |program, _| merge::run(program),
    // What is merged with one statement may be merged with another one.
    |program, _| merge::run(program),
    // After statements have moved: what is inside may be so because of a check before.
    |program, _| bound_indices::run(program),
    |program, _| remove_dead_statements(program),
];

/// Runs all passes.
///
/// # Errors
/// What kernels cannot compute yet.
pub fn schedule(program: &mut Program) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for pass in PASSES {
        pass(program, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        // Some nests are not flattened right: what they use is out of scope then.
        if let Err(wrong) = check_with_names(program, &|var| format!("v{}", var.0)) {
            problems.add(Problem::sequence_of_element(wrong.span));
            return Err(problems);
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
