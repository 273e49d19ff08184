//! Programs of scalars as a part of kernels that others write, such as those of fused operations of arrays.

use super::writer::Writer;
use super::{AllOnHost, Input};
use crate::ir::Program;
use crate::problem::Problem;
use rtcg_codegen::array::ExpressionSource;
use rtcg_hal::DType;

/// The text of a program whose first `n_elements` parameters are elements of arrays. The other parameters are arguments
/// of the kernel, behind [`ZERO_COUNT`](super::ZERO_COUNT) zeros of 64 bits.
///
/// Each operation gives the bits that it gives in a kernel of its own. The compiler must not contract it with another,
/// nor change it depending on its surroundings: what it may do within one operation (contract a product and a sum to
/// one rounding, share subexpressions) would, across two, give results that differ from those of separate kernels.
/// Products of real numbers are therefore never contracted, and the operands and results of operations with several
/// roundings pass through an exclusive-or with a zero that only the launch knows.
///
/// `reduced_in` are the dtypes of what reduces the results, which is kept apart from them; there are none if results
/// are stored.
///
/// # Errors
/// When the program has sequences that an element cannot have.
pub fn emit_expression(
    program: &Program,
    n_elements: usize,
    reduced_in: &[DType],
) -> Result<ExpressionSource, Box<Problem>> {
    let mut writer = Writer::new(program, &AllOnHost);
    writer.functions.keeps_apart = true;
    writer.indent = 0;
    reduced_in.iter().for_each(|dtype| writer.mention(*dtype));
    let (elements, numbers) = program.params.split_at(n_elements);
    elements.iter().for_each(|element| {
        writer.declare(*element);
    });
    let mut statements = String::new();
    let mut values = writer.block(&mut statements, &program.body)?;
    if !reduced_in.is_empty() {
        values.iter_mut().for_each(|value| *value = writer.functions.hidden(value));
    }
    let mut parameters = vec!["const rt_zeros zeros".to_owned()];
    parameters.extend(numbers.iter().map(|number| writer.argument(&Input::Host(*number)).declarator()));
    Ok(ExpressionSource { preamble: writer.preamble(), parameters, statements, values })
}
