//! Exact evaluation of expressions by Python's rules. Integers have 64 bits; overflow is an error.

use super::{BinaryOp, CompareOp, Function, Node, UnaryOp};
use crate::value::Value;
use std::cmp::Ordering;

type Evaluated = Result<Value, String>;

/// The value of a node where the names have `values`.
pub(super) fn evaluate(node: &Node, values: &[Value]) -> Evaluated {
    match node {
        Node::Constant(value) => Ok(value.clone()),
        Node::Name(place) => Ok(values[*place].clone()),
        Node::Unary(op, operand) => unary(*op, evaluate(operand, values)?),
        Node::Binary(op, a, b) => binary(*op, &evaluate(a, values)?, &evaluate(b, values)?),
        Node::Compare(first, rest) => compare_chain(evaluate(first, values)?, rest, values),
        Node::And(a, b) => {
            let a = evaluate(a, values)?;
            if a.is_truthy() { evaluate(b, values) } else { Ok(a) }
        }
        Node::Or(a, b) => {
            let a = evaluate(a, values)?;
            if a.is_truthy() { Ok(a) } else { evaluate(b, values) }
        }
        Node::IfElse(parts) => {
            let [condition, then, other] = &**parts;
            evaluate(if evaluate(condition, values)?.is_truthy() { then } else { other }, values)
        }
        Node::Call(function, arguments) => {
            let arguments: Result<Vec<_>, _> = arguments.iter().map(|argument| evaluate(argument, values)).collect();
            call(*function, &arguments?)
        }
        Node::Tuple(items) => {
            items.iter().map(|item| evaluate(item, values)).collect::<Result<_, _>>().map(Value::Tuple)
        }
        Node::Index(sequence, index) => subscript(&evaluate(sequence, values)?, &evaluate(index, values)?),
        Node::Comprehension { variable, body, sequence } => {
            let Value::Tuple(items) = evaluate(sequence, values)? else { return Err("a list of no sequence".into()) };
            let mut inner = values.to_vec();
            let mut element = |item| {
                inner[*variable] = item;
                evaluate(body, &inner)
            };
            items.into_iter().map(&mut element).collect::<Result<_, _>>().map(Value::Tuple)
        }
    }
}

/// A number: Python's booleans are integers.
#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(Self::Int(i64::from(*flag))),
            Value::Int(number) => Some(Self::Int(*number)),
            Value::Float(number) => Some(Self::Float(*number)),
            Value::Str(_) | Value::Tuple(_) => None,
        }
    }

    fn as_f64(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

const OVERFLOW: &str = "an integer does not fit 64 bits";

fn unary(op: UnaryOp, value: Value) -> Evaluated {
    if op == UnaryOp::Not {
        return Ok(Value::Bool(!value.is_truthy()));
    }
    match (op, Number::from_value(&value)) {
        (UnaryOp::Negate, Some(Number::Int(number))) => number.checked_neg().map(Value::Int).ok_or(OVERFLOW.into()),
        (UnaryOp::Negate, Some(Number::Float(number))) => Ok(Value::Float(-number)),
        (UnaryOp::Plus, Some(Number::Int(number))) => Ok(Value::Int(number)),
        (UnaryOp::Plus, Some(Number::Float(number))) => Ok(Value::Float(number)),
        (UnaryOp::Invert, Some(Number::Int(number))) => Ok(Value::Int(!number)),
        _ => Err(format!("{value} is no number for a sign")),
    }
}

fn binary(op: BinaryOp, a: &Value, b: &Value) -> Evaluated {
    match (Number::from_value(a), Number::from_value(b)) {
        (Some(Number::Int(x)), Some(Number::Int(y))) => integers(op, x, y),
        (Some(x), Some(y)) => floats(op, x.as_f64(), y.as_f64()),
        _ => match (op, a, b) {
            (BinaryOp::Add, Value::Str(a), Value::Str(b)) => Ok(Value::Str(format!("{a}{b}"))),
            (BinaryOp::Add, Value::Tuple(a), Value::Tuple(b)) => Ok(Value::Tuple([&a[..], b].concat())),
            _ => Err(format!("{a} and {b} are no numbers for an operation")),
        },
    }
}

fn integers(op: BinaryOp, x: i64, y: i64) -> Evaluated {
    let by_zero = || Err(format!("{x} is divided by zero"));
    let shift = || u32::try_from(y).map_err(|_| format!("a shift by {y}"));
    let result = match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Modulo if y == 0 => return by_zero(),
        BinaryOp::Div => return Ok(Value::Float(x as f64 / y as f64)),
        BinaryOp::FloorDiv => x.checked_div(y).map(|q| q - i64::from(x % y != 0 && (x < 0) != (y < 0))),
        // The sign of the result is the divisor's.
        BinaryOp::Modulo => {
            x.checked_rem(y).map(|rest| if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest })
        }
        BinaryOp::Power if y < 0 => return floats(op, x as f64, y as f64),
        BinaryOp::Power => u32::try_from(y).ok().and_then(|y| x.checked_pow(y)),
        BinaryOp::BitAnd => Some(x & y),
        BinaryOp::BitOr => Some(x | y),
        BinaryOp::BitXor => Some(x ^ y),
        BinaryOp::ShiftLeft => {
            let by = shift()?;
            x.checked_shl(by).filter(|shifted| shifted.checked_shr(by) == Some(x))
        }
        BinaryOp::ShiftRight => Some(x >> shift()?.min(63)),
    };
    result.map(Value::Int).ok_or_else(|| OVERFLOW.into())
}

fn floats(op: BinaryOp, x: f64, y: f64) -> Evaluated {
    let divides = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Modulo);
    if divides && y == 0.0 || op == BinaryOp::Power && x == 0.0 && y < 0.0 {
        return Err(format!("{x} is divided by zero"));
    }
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::FloorDiv => (x / y).floor(),
        BinaryOp::Modulo => {
            let rest = x % y;
            if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
        }
        BinaryOp::Power => x.powf(y),
        _ => return Err("bits of a float".to_owned()),
    };
    if result.is_finite() { Ok(Value::Float(result)) } else { Err("a float that is not finite".to_owned()) }
}

fn compare_chain(first: Value, rest: &[(CompareOp, Node)], values: &[Value]) -> Evaluated {
    let mut left = first;
    for (op, node) in rest {
        let right = evaluate(node, values)?;
        if !compare(*op, &left, &right)? {
            return Ok(Value::Bool(false));
        }
        left = right;
    }
    Ok(Value::Bool(true))
}

fn compare(op: CompareOp, a: &Value, b: &Value) -> Result<bool, String> {
    match op {
        CompareOp::Equal => Ok(equals(a, b)),
        CompareOp::NotEqual => Ok(!equals(a, b)),
        CompareOp::In => contains(b, a),
        CompareOp::NotIn => contains(b, a).map(|found| !found),
        _ => {
            let ordering = order(a, b).ok_or_else(|| format!("{a} and {b} have no order"))?;
            Ok(match op {
                CompareOp::Less => ordering == Ordering::Less,
                CompareOp::LessEqual => ordering != Ordering::Greater,
                CompareOp::Greater => ordering == Ordering::Greater,
                _ => ordering != Ordering::Less,
            })
        }
    }
}

/// As Python's `==`: numbers by value, whatever their type.
fn equals(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::Tuple(a), Value::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equals(a, b)),
        _ => order(a, b) == Some(Ordering::Equal),
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Tuple(a), Value::Tuple(b)) => {
            let different = a.iter().zip(b).find(|(a, b)| !equals(a, b));
            different.map_or(Some(a.len().cmp(&b.len())), |(a, b)| order(a, b))
        }
        _ => match (Number::from_value(a)?, Number::from_value(b)?) {
            (Number::Int(x), Number::Int(y)) => Some(x.cmp(&y)),
            (x, y) => x.as_f64().partial_cmp(&y.as_f64()),
        },
    }
}

fn contains(sequence: &Value, value: &Value) -> Result<bool, String> {
    match (sequence, value) {
        (Value::Tuple(items), value) => Ok(items.iter().any(|item| equals(item, value))),
        (Value::Str(text), Value::Str(part)) => Ok(text.contains(part)),
        _ => Err(format!("{sequence} has no elements to look for {value} in")),
    }
}

fn subscript(sequence: &Value, index: &Value) -> Evaluated {
    let (Value::Tuple(items), Some(Number::Int(index))) = (sequence, Number::from_value(index)) else {
        return Err(format!("{sequence}[{index}] is no element of a tuple"));
    };
    let place = if index < 0 { index + items.len() as i64 } else { index };
    let item = usize::try_from(place).ok().and_then(|place| items.get(place));
    item.cloned().ok_or_else(|| format!("index {index} is out of range of {sequence}"))
}

fn call(function: Function, arguments: &[Value]) -> Evaluated {
    let count = arguments.len();
    let wrong = |expected: &str| Err(format!("{function:?} has {count} arguments; expected {expected}"));
    match (function, arguments) {
        (Function::Max | Function::Min, [Value::Tuple(items)]) => extreme(function, items),
        (Function::Max | Function::Min, [_, _, ..]) => extreme(function, arguments),
        (Function::Max | Function::Min, _) => wrong("two or more, or a tuple"),
        (Function::CeilDiv, [a, b]) => {
            let floor = binary(BinaryOp::FloorDiv, &unary(UnaryOp::Negate, a.clone())?, b)?;
            unary(UnaryOp::Negate, floor)
        }
        (Function::CeilDiv, _) => wrong("two"),
        (Function::List, [Value::Tuple(items)]) => Ok(Value::Tuple(items.clone())),
        (Function::Range, [_] | [_, _] | [_, _, _]) => range(arguments),
        (_, [argument]) => call_of_one(function, argument),
        _ => wrong("one"),
    }
}

fn range(arguments: &[Value]) -> Evaluated {
    const MAX_LENGTH: usize = 1 << 16;
    let integers: Option<Vec<i64>> = arguments
        .iter()
        .map(|argument| if let Some(Number::Int(number)) = Number::from_value(argument) { Some(number) } else { None })
        .collect();
    let (start, stop, step) = match integers.ok_or("a range of no integers")?[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step),
        _ => return Err("a range of no integers".into()),
    };
    if step == 0 {
        return Err("the step of a range is zero".into());
    }
    let goes_on = |at: &i64| if step > 0 { *at < stop } else { *at > stop };
    let numbers = std::iter::successors(Some(start), |at| at.checked_add(step)).take_while(goes_on);
    let numbers: Vec<Value> = numbers.take(MAX_LENGTH + 1).map(Value::Int).collect();
    if numbers.len() > MAX_LENGTH { Err("a range is too long".into()) } else { Ok(Value::Tuple(numbers)) }
}

fn extreme(function: Function, items: &[Value]) -> Evaluated {
    let wanted = if function == Function::Max { Ordering::Greater } else { Ordering::Less };
    let (first, rest) = items.split_first().ok_or("the extreme of nothing")?;
    rest.iter().try_fold(first.clone(), |best, item| {
        let ordering = order(item, &best).ok_or_else(|| format!("{item} and {best} have no order"))?;
        Ok(if ordering == wanted { item.clone() } else { best })
    })
}

fn call_of_one(function: Function, argument: &Value) -> Evaluated {
    let rounded = |number: f64| match number.is_finite() && number.abs() < 9.2e18 {
        true => Ok(Value::Int(number as i64)),
        false => Err(OVERFLOW.to_owned()),
    };
    match (function, Number::from_value(argument)) {
        (Function::Bool, _) => Ok(Value::Bool(argument.is_truthy())),
        (Function::Len, _) => match argument {
            Value::Tuple(items) => Ok(Value::Int(items.len() as i64)),
            Value::Str(text) => Ok(Value::Int(text.chars().count() as i64)),
            other => Err(format!("{other} has no length")),
        },
        (Function::Abs, Some(Number::Int(number))) => number.checked_abs().map(Value::Int).ok_or(OVERFLOW.into()),
        (Function::Abs, Some(Number::Float(number))) => Ok(Value::Float(number.abs())),
        (Function::Int | Function::Round, Some(Number::Int(number))) => Ok(Value::Int(number)),
        (Function::Int, Some(Number::Float(number))) => rounded(number.trunc()),
        (Function::Round, Some(Number::Float(number))) => rounded(number.round_ties_even()),
        (Function::Float, Some(number)) => Ok(Value::Float(number.as_f64())),
        (Function::Log2, Some(number)) if number.as_f64() > 0.0 => Ok(Value::Float(number.as_f64().log2())),
        (Function::NextPow2, Some(Number::Int(number))) if (1..=1 << 62).contains(&number) => {
            Ok(Value::Int((number as u64).next_power_of_two() as i64))
        }
        _ => Err(format!("{function:?} of {argument} is not defined")),
    }
}
