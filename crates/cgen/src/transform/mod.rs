//! Transformations of kernels, as functions that return trees: splitting, unrolling and double-buffering loops, staging
//! arrays in shared memory, and vectorising loads.
//!
//! Wherever a transformation takes a number, it also takes the name of a tunable parameter. The tree then contains the
//! name, to be defined at compile time (`-DTILE=8`), and [`Transformed::parameters`] lists the name with sensible
//! values, from which to build a search space.

mod counted;
mod double_buffer;
mod loops;
mod memory;

pub use counted::CountedLoop;
pub use double_buffer::double_buffer;
pub use loops::{Remainder, split, unroll};
pub use memory::{Stage, stage, vectorise};

use crate::expr::{Expr, Number};
use crate::names::is_identifier;
use crate::tree::Node;

/// A tunable parameter: its name in the program, and the values to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// A C identifier in the tree.
    pub name: String,
    /// Its candidate values.
    pub values: Vec<i64>,
}

/// A number, or a parameter in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// This number.
    Fixed(i64),
    /// A tunable parameter. Without values it gets those that the transformation proposes.
    Tuned(Parameter),
}

/// The result of a transformation.
#[derive(Clone, Debug, PartialEq)]
pub struct Transformed {
    /// The statements.
    pub node: Node,
    /// The parameters that the statements use.
    pub parameters: Vec<Parameter>,
    /// What the rest of the program reads: the tile in shared memory, or the array of loaded values.
    pub value: Option<Expr>,
}

/// Why a transformation is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformError(pub String);

impl std::fmt::Display for TransformError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TransformError {}

type Result<T> = std::result::Result<T, TransformError>;

fn error<T>(message: impl Into<String>) -> Result<T> {
    Err(TransformError(message.into()))
}

impl Amount {
    /// Makes a tunable parameter with these values.
    pub fn tuned(name: impl Into<String>, values: impl IntoIterator<Item = i64>) -> Self {
        Self::Tuned(Parameter { name: name.into(), values: values.into_iter().collect() })
    }

    /// The amount in the program; a parameter joins `parameters`. `argument` names it in errors.
    fn resolve(
        self,
        argument: &str,
        proposed: &[i64],
        valid: impl Fn(i64) -> bool,
        parameters: &mut Vec<Parameter>,
    ) -> Result<Expr> {
        let expected = || format!("expected one of {proposed:?} or the like, or the name of a tunable parameter");
        match self {
            Self::Fixed(n) if valid(n) => Ok(Expr::number_beside(Number::Int(n.into()), None)),
            Self::Fixed(n) => error(format!("{argument} is {n}, {}", expected())),
            Self::Tuned(mut parameter) => {
                let Parameter { name, values } = &parameter;
                if !is_identifier(name) {
                    return error(format!("{argument} is '{name}', {}", expected()));
                }
                if let Some(wrong) = values.iter().find(|v| !valid(**v)) {
                    return error(format!("the value {wrong} of {argument} '{name}' is wrong, {}", expected()));
                }
                let expr = Expr::var(name, crate::dtype::Dtype::Int32);
                if values.is_empty() {
                    parameter.values = proposed.to_vec();
                }
                if !parameters.iter().any(|p| p.name == parameter.name) {
                    parameters.push(parameter);
                }
                Ok(expr)
            }
        }
    }
}

impl From<i64> for Amount {
    fn from(n: i64) -> Self {
        Self::Fixed(n)
    }
}

impl From<&str> for Amount {
    fn from(name: &str) -> Self {
        Self::tuned(name, [])
    }
}

/// `a * b` without factors of one.
fn product(a: Expr, b: &Expr) -> Expr {
    let is_one = |e: &Expr| e.to_string() == "1";
    match (is_one(&a), is_one(b)) {
        (_, true) => a,
        (true, false) => b.clone(),
        _ => a * b,
    }
}

fn statement(text: &str) -> Node {
    Node::Statement(text.to_owned())
}
