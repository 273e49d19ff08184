//! The kernel of a fused expression, known by the structure of the expression. Its text is made when it is compiled:
//! the expression becomes a program of the core language, whose C the compiler of data-parallel programs writes.
//!
//! In the kernel each operation is what a kernel of its own would compute, with the same intermediate types and
//! roundings.

use super::graph::{FusionNode, NO_INPUT};
use rtcg_codegen::array::{AccessPattern, ExpressionSource, Op, PointwiseOperand, ReduceSpec};
use rtcg_hal::{DType, DTypeKind, KernelSpec};
use rtcg_lang::emit::emit_expression;
use rtcg_lang::ir::{Atom, Exp, Program, Stmt};
use rtcg_lang::span::Span;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Whether an operation may be part of an expression. Functions of complex numbers may not: they are sums of products,
/// which a compiler contracts depending on their surroundings.
pub(super) fn is_fusable(op: Op, compute: DType) -> bool {
    match compute.kind() {
        DTypeKind::Record => false,
        DTypeKind::Complex => op.has_explicit_rounding(compute),
        _ => op != Op::Index,
    }
}

/// The nodes of an expression, each after those it depends on, and what they read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct FusedExpression {
    /// Inputs are places in this list. Arrays and numbers are numbered in order of appearance.
    pub(super) nodes: Vec<FusionNode>,
    /// The arrays.
    pub(super) arrays: SmallVec<[PointwiseOperand; 4]>,
    /// The dtypes of the numbers, which are arguments of the kernel.
    pub(super) numbers: SmallVec<[DType; 4]>,
}

/// A kernel that stores values of an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct FusedSpec {
    pub(super) expression: FusedExpression,
    /// The values that are stored, by their nodes, and where.
    pub(super) outputs: SmallVec<[(u16, PointwiseOperand); 2]>,
    pub(super) pattern: AccessPattern,
}

/// A [`ReduceSpec`] that reduces the value of an expression's last node in place of `x`, whose dtype it has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct FusedReduceSpec {
    pub(super) reduce: ReduceSpec,
    pub(super) expression: FusedExpression,
}

impl KernelSpec for FusedSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_fused".into()
    }

    fn source(&self) -> String {
        let outputs = || self.outputs.iter();
        self.expression.source(outputs().map(|(node, _)| *node), &[], |text, arrays| {
            text.kernel(&self.kernel_name(), outputs().map(|(_, output)| *output), arrays, self.pattern)
        })
    }
}

impl KernelSpec for FusedReduceSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.reduce.kernel_name()
    }

    fn source(&self) -> String {
        let ReduceSpec { x, compute, out, .. } = self.reduce;
        let last = self.expression.nodes.len() as u16 - 1;
        self.expression.source(std::iter::once(last), &[x, compute, out], |text, arrays| {
            self.reduce.expression_source(arrays, text)
        })
    }
}

impl FusedExpression {
    /// The kernel that `frame` makes of the text of these nodes. What cannot be written is an error of its compilation.
    fn source(
        &self,
        nodes: impl Iterator<Item = u16>,
        reduced_in: &[DType],
        frame: impl FnOnce(&ExpressionSource, &[PointwiseOperand]) -> String,
    ) -> String {
        match emit_expression(&self.program(nodes), self.arrays.len(), reduced_in) {
            Ok(text) => frame(&text, &self.arrays),
            Err(problem) => format!("#error {}\n", problem.message),
        }
    }

    /// The program that computes some nodes from the elements of the arrays and the numbers.
    fn program(&self, results: impl Iterator<Item = u16>) -> Program {
        let mut program = Program::default();
        let dtypes = self.arrays.iter().map(|array| array.dtype).chain(self.numbers.iter().copied());
        program.params = dtypes.map(|dtype| program.new_var(dtype, 0)).collect();
        let mut atoms: Vec<Atom> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let atom = match *node {
                FusionNode::Leaf(array) => program.params[usize::from(array)].into(),
                FusionNode::Value(number) => program.params[self.arrays.len() + usize::from(number)].into(),
                FusionNode::Op { op, compute, out, inputs } => {
                    let used = inputs.iter().filter(|input| **input != NO_INPUT);
                    let args = used.map(|input| atoms[usize::from(*input)]).collect();
                    add_operation(&mut program, op, compute, out, args)
                }
            };
            atoms.push(atom);
        }
        program.body.results = results.map(|node| atoms[usize::from(node)]).collect();
        program
    }
}

/// Adds an operation whose result is stored as `out`: a result of another dtype is converted as `astype` does it.
fn add_operation(program: &mut Program, op: Op, compute: DType, out: DType, args: Vec<Atom>) -> Atom {
    let mut value = args[0];
    if op != Op::Copy || program.dtype(value) != compute {
        let result = |compute| op.resolve_types(compute).map_or(out, |types| types.out);
        // Numbers of 16 bits are computed in float32, and rounded only to the dtype of the result.
        let is_rounded_once = compute.kind() == DTypeKind::Float && compute.itemsize() == 2 && op != Op::Nextafter;
        let is_wider = is_rounded_once && result(compute) == compute && out != compute;
        let compute = if is_wider { DType::F32 } else { compute };
        value = add_statement(program, Exp::Prim { op, compute, args }, result(compute));
    }
    if program.dtype(value) == out { value } else { add_statement(program, Exp::Cast { arg: value, to: out }, out) }
}

fn add_statement(program: &mut Program, exp: Exp, dtype: DType) -> Atom {
    let var = program.new_var(dtype, 0);
    program.body.stmts.push(Stmt { outs: vec![var], exp, span: Span::default() });
    var.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_codegen::array::OperandKind;
    use smallvec::smallvec;

    const X: PointwiseOperand = PointwiseOperand { dtype: DType::F32, access: OperandKind::Element };

    /// `second(x * 2)`, of which `second` is stored as `out`.
    fn two_operation_spec(second: Op, dtype: DType, out: DType) -> FusedSpec {
        let operand = PointwiseOperand { dtype, ..X };
        let op = |op, out, inputs| FusionNode::Op { op, compute: dtype, out, inputs };
        let nodes = vec![
            FusionNode::Leaf(0),
            FusionNode::Value(0),
            op(Op::Multiply, dtype, [0, 1, NO_INPUT, NO_INPUT]),
            op(second, out, [2, NO_INPUT, NO_INPUT, NO_INPUT]),
        ];
        let expression = FusedExpression { nodes, arrays: smallvec![operand], numbers: smallvec![dtype] };
        let outputs = smallvec![(3, PointwiseOperand { dtype: out, ..X })];
        FusedSpec { expression, outputs, pattern: AccessPattern::Flat(4) }
    }

    #[test]
    fn products_are_never_contracted() {
        let source = two_operation_spec(Op::Negative, DType::F32, DType::F32).source();
        assert!(source.contains("const float v0 = x0p.at[k];\n"), "{source}");
        assert!(source.contains("const float v2 = __fmul_rn(v0, s1);\n"), "{source}");
        assert!(source.contains("const float v3 = -v2;\n"), "{source}");
        assert!(source.contains("out0p.at[k] = v3;"), "{source}");
    }

    #[test]
    fn operations_of_several_roundings_are_kept_apart() {
        let source = two_operation_spec(Op::Exp, DType::F32, DType::F32).source();
        let hidden = "v3 = rt_opaque(rtcg_exp_float32(0, rt_opaque(v2, zeros.at[1])), zeros.at[2]);";
        assert!(source.contains(hidden), "{source}");
    }

    #[test]
    fn results_of_16_bit_operations_are_rounded_once() {
        let source = two_operation_spec(Op::Square, DType::F16, DType::F64).source();
        assert!(source.contains("const float v3 = rtcg_square_float32_float16(0, v2);\n"), "{source}");
        assert!(source.contains("const double v4 = rt_cast<double>(rt_load(v3));\n"), "{source}");
    }

    #[test]
    fn expressions_are_valid_core_programs() {
        let dtypes = [DType::Bool, DType::U8, DType::I64, DType::F16, DType::BF16, DType::F64, DType::C64];
        for op in Op::all_ops().filter(|op| op.arity() == 1) {
            for dtype in dtypes {
                let Ok(types) = op.resolve_types(dtype) else { continue };
                let first = if dtype == DType::Bool { Op::LogicalAnd } else { Op::Add };
                for out in [types.out, DType::F64, DType::C128] {
                    let mut program = Program::default();
                    program.params = vec![program.new_var(dtype, 0), program.new_var(types.compute, 0)];
                    let args: Vec<Atom> = program.params.iter().map(|var| (*var).into()).collect();
                    let sum = add_operation(&mut program, first, dtype, dtype, vec![args[0], args[0]]);
                    let value = add_operation(&mut program, op, types.compute, out, vec![sum]);
                    program.body.results = vec![value];
                    assert_eq!(program.dtype(value), out, "{op:?} of {dtype}");
                    assert_eq!(rtcg_lang::check::check(&program), Ok(()), "{op:?} of {dtype}");
                }
            }
        }
    }
}
