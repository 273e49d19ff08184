//! Numeric expressions compiled for a small stack machine, for enumerating spaces.
//!
//! Numbers are floats, which represent integers below 2^52 exactly, also through division and remainder. If a value
//! leaves that range, or a division by zero occurs, the machine gives no answer and the exact evaluation takes over.

use super::{BinaryOp, CompareOp, Expression, Function, Node, UnaryOp};

/// Beyond this, integers are not exact enough.
const LIMIT: f64 = (1u64 << 52) as f64;

#[derive(Debug, Clone, Copy)]
enum Instruction {
    Push(f64),
    Load(u32),
    Negate,
    Not,
    Binary(BinaryOp),
    Compare(CompareOp),
    /// To a place if the top is false (true), which then stays; else the top is dropped.
    JumpIfFalse(u32),
    JumpIfTrue(u32),
    /// The top is dropped in any case.
    JumpIfFalseDropping(u32),
    Jump(u32),
    /// `b`, where the stack ends with `a b` and `a < b` holds; else leaves 0 and jumps.
    CompareOrJump(CompareOp, u32),
    Abs,
    CeilDiv,
    Max,
    Min,
}

/// A compiled expression.
#[derive(Debug, Clone)]
pub(crate) struct FastProgram(Vec<Instruction>);

impl FastProgram {
    /// The program of an expression whose names are slots; `None` where it is not only about numbers.
    pub(crate) fn compile(expression: &Expression, slots: &[u32]) -> Option<Self> {
        if expression.names != expression.slots {
            return None;
        }
        let mut program = Vec::new();
        emit(&expression.root, slots, &mut program)?;
        Some(Self(program))
    }

    /// The value, or `None` where the exact evaluation must be asked.
    pub(crate) fn run(&self, slots: &[f64], stack: &mut Vec<f64>) -> Option<f64> {
        stack.clear();
        let mut at = 0;
        while let Some(instruction) = self.0.get(at) {
            at += 1;
            match *instruction {
                Instruction::Push(value) => stack.push(value),
                Instruction::Load(slot) => stack.push(slots[slot as usize]),
                Instruction::Negate => *stack.last_mut()? *= -1.0,
                Instruction::Abs => *stack.last_mut()? = stack.last()?.abs(),
                Instruction::Not => *stack.last_mut()? = f64::from(u8::from(*stack.last()? == 0.0)),
                Instruction::Binary(op) => {
                    let b = stack.pop()?;
                    let a = stack.last_mut()?;
                    *a = binary(op, *a, b)?;
                }
                Instruction::CeilDiv => {
                    let b = stack.pop()?;
                    let a = stack.last_mut()?;
                    *a = -binary(BinaryOp::FloorDiv, -*a, b)?;
                }
                Instruction::Max => {
                    let b = stack.pop()?;
                    let a = stack.last_mut()?;
                    *a = a.max(b);
                }
                Instruction::Min => {
                    let b = stack.pop()?;
                    let a = stack.last_mut()?;
                    *a = a.min(b);
                }
                Instruction::Compare(op) => {
                    let b = stack.pop()?;
                    let a = stack.last_mut()?;
                    *a = f64::from(u8::from(compare(op, *a, b)));
                }
                Instruction::CompareOrJump(op, to) => {
                    let b = stack.pop()?;
                    let a = stack.last_mut()?;
                    if compare(op, *a, b) {
                        *a = b;
                    } else {
                        *a = 0.0;
                        at = to as usize;
                    }
                }
                Instruction::JumpIfFalse(to) if *stack.last()? == 0.0 => at = to as usize,
                Instruction::JumpIfTrue(to) if *stack.last()? != 0.0 => at = to as usize,
                Instruction::JumpIfFalse(_) | Instruction::JumpIfTrue(_) => drop(stack.pop()),
                Instruction::JumpIfFalseDropping(to) => {
                    if stack.pop()? == 0.0 {
                        at = to as usize;
                    }
                }
                Instruction::Jump(to) => at = to as usize,
            }
        }
        stack.pop()
    }
}

fn binary(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        _ if b == 0.0 => return None,
        BinaryOp::Div => return Some(a / b),
        BinaryOp::FloorDiv => (a / b).floor(),
        _ => {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
        }
    };
    (value.abs() < LIMIT).then_some(value)
}

fn compare(op: CompareOp, a: f64, b: f64) -> bool {
    match op {
        CompareOp::Equal => a == b,
        CompareOp::NotEqual => a != b,
        CompareOp::Less => a < b,
        CompareOp::LessEqual => a <= b,
        CompareOp::Greater => a > b,
        _ => a >= b,
    }
}

fn emit(node: &Node, slots: &[u32], program: &mut Vec<Instruction>) -> Option<()> {
    match node {
        Node::Constant(value) => {
            let number = value.as_f64().filter(|number| number.abs() < LIMIT)?;
            program.push(Instruction::Push(number));
        }
        Node::Name(place) => program.push(Instruction::Load(slots[*place])),
        Node::Unary(op, operand) => {
            emit(operand, slots, program)?;
            match op {
                UnaryOp::Negate => program.push(Instruction::Negate),
                UnaryOp::Not => program.push(Instruction::Not),
                UnaryOp::Plus => {}
                UnaryOp::Invert => return None,
            }
        }
        Node::Binary(op, a, b) => {
            use BinaryOp::{Add, Div, FloorDiv, Modulo, Mul, Sub};
            if !matches!(op, Add | Sub | Mul | Div | FloorDiv | Modulo) {
                return None;
            }
            emit(a, slots, program)?;
            emit(b, slots, program)?;
            program.push(Instruction::Binary(*op));
        }
        Node::Compare(first, rest) => emit_comparison(first, rest, slots, program)?,
        Node::And(a, b) => emit_short_circuit(Instruction::JumpIfFalse, a, b, slots, program)?,
        Node::Or(a, b) => emit_short_circuit(Instruction::JumpIfTrue, a, b, slots, program)?,
        Node::IfElse(parts) => emit_if_else(parts, slots, program)?,
        Node::Call(function, arguments) => emit_call(*function, arguments, slots, program)?,
        Node::Tuple(_) | Node::Index(..) | Node::Comprehension { .. } => return None,
    }
    Some(())
}

fn emit_short_circuit(
    jump: fn(u32) -> Instruction,
    a: &Node,
    b: &Node,
    slots: &[u32],
    program: &mut Vec<Instruction>,
) -> Option<()> {
    emit(a, slots, program)?;
    let place = program.len();
    program.push(jump(0));
    emit(b, slots, program)?;
    program[place] = jump(program.len() as u32);
    Some(())
}

/// All comparisons but the last leave their right side for the next.
fn emit_comparison(
    first: &Node,
    rest: &[(CompareOp, Node)],
    slots: &[u32],
    program: &mut Vec<Instruction>,
) -> Option<()> {
    if rest.iter().any(|(op, _)| matches!(op, CompareOp::In | CompareOp::NotIn)) {
        return None;
    }
    emit(first, slots, program)?;
    let (last, chained) = rest.split_last()?;
    let mut places = Vec::new();
    for (op, node) in chained {
        emit(node, slots, program)?;
        places.push((program.len(), *op));
        program.push(Instruction::CompareOrJump(*op, 0));
    }
    emit(&last.1, slots, program)?;
    program.push(Instruction::Compare(last.0));
    let end = program.len() as u32;
    for (place, op) in places {
        program[place] = Instruction::CompareOrJump(op, end);
    }
    Some(())
}

fn emit_if_else(parts: &[Node; 3], slots: &[u32], program: &mut Vec<Instruction>) -> Option<()> {
    let [condition, then, other] = parts;
    emit(condition, slots, program)?;
    let to_other = program.len();
    program.push(Instruction::JumpIfFalseDropping(0));
    emit(then, slots, program)?;
    let to_end = program.len();
    program.push(Instruction::Jump(0));
    program[to_other] = Instruction::JumpIfFalseDropping(program.len() as u32);
    emit(other, slots, program)?;
    program[to_end] = Instruction::Jump(program.len() as u32);
    Some(())
}

fn emit_call(function: Function, arguments: &[Node], slots: &[u32], program: &mut Vec<Instruction>) -> Option<()> {
    let (instruction, count) = match function {
        Function::Abs => (Instruction::Abs, 1),
        Function::CeilDiv => (Instruction::CeilDiv, 2),
        Function::Max => (Instruction::Max, 2),
        Function::Min => (Instruction::Min, 2),
        _ => return None,
    };
    if arguments.len() != count {
        return None;
    }
    arguments.iter().try_for_each(|argument| emit(argument, slots, program))?;
    program.push(instruction);
    Some(())
}
