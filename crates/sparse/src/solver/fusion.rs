//! Fuses lines of a program into kernels.
//!
//! A kernel begins with scalars, which every thread computes from the state and from the sums of earlier kernels, and
//! continues with a loop over elements, which may accumulate its own sums. So a line that needs a sum of the current
//! kernel begins a new one, and so do operators. After this pass a scalar's name has a version (`rho_0` is in the
//! state, `rho_1` is the first one that the kernel computes), and sums are numbered (`sum_3`).

use super::expression::Expr;
use super::kernel::{Kind, kind_of};
use super::program::Statement;
use rtcg_hal::{ArrayError, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The length of a vector: as many elements as the matrix has rows, or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Rows,
    Columns,
}

/// What a preconditioner's application is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Application {
    Identity,
    /// The product with a vector of this name, or with its conjugate.
    Diagonal(String, bool),
    /// Calls and launches of an external operator.
    External,
}

/// Scalars that the kernel's threads compute, in order.
#[derive(Debug, Clone)]
pub(crate) enum ScalarStep {
    /// `name_version = value`.
    Set { name: String, version: usize, value: Expr },
    /// `history[iterations] = residual`.
    Record { iterations: Expr, residual: Expr },
}

/// What is done with each element.
#[derive(Debug, Clone)]
pub(crate) enum BodyStep {
    /// With a guard, elements stay what they were where that is less than 0.
    Assign { target: String, value: Expr, guard: Option<Expr> },
    /// `conj(left) . right`.
    Dot { sum: usize, left: Expr, right: Expr },
    /// The squared norm.
    Norm2 { sum: usize, value: Expr },
}

/// A kernel.
#[derive(Debug, Clone, Default)]
pub(crate) struct FusedKernel {
    pub(crate) scalars: Vec<ScalarStep>,
    pub(crate) body: Vec<BodyStep>,
    pub(crate) space: Option<Space>,
    versions: HashMap<String, usize>,
}

/// What is enqueued.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Apply { operator: String, x: String, y: String },
    Kernel(FusedKernel),
}

/// What all programs of a solver share: names and their kinds.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) vectors: BTreeMap<String, Space>,
    pub(crate) parameters: Vec<String>,
    /// Scalars of the state, in its order.
    pub(crate) scalars: Vec<(String, Kind)>,
    pub(crate) is_complex: bool,
    /// Kinds of the sums, by their numbers.
    pub(crate) sums: Vec<Kind>,
    /// Vectors that are expressions of others.
    pub(crate) definitions: HashMap<String, Expr>,
}

/// Gathers lines into kernels; see the module.
pub(crate) fn fuse(
    names: &mut Names,
    statements: &[Statement],
    applications: &HashMap<String, Application>,
) -> Result<Vec<Step>> {
    let mut fuser = Fuser {
        names,
        applications,
        operands: statements.iter().filter_map(operand).collect(),
        steps: Vec::new(),
        kernel: FusedKernel::default(),
        pending: Vec::new(),
    };
    statements.iter().try_for_each(|statement| fuser.add(statement))?;
    fuser.close()?;
    fuser.close()?;
    Ok(fuser.steps)
}

/// The vector that an operator takes.
fn operand(statement: &Statement) -> Option<String> {
    match statement {
        Statement::Apply { x, .. } => Some(x.clone()),
        Statement::Assign { .. } | Statement::Record => None,
    }
}

/// A scalar statement that waits for sums.
enum Pending {
    Set(String, Expr),
    Record,
}

struct Fuser<'a> {
    names: &'a mut Names,
    applications: &'a HashMap<String, Application>,
    /// Vectors that operators take, which have to be in memory.
    operands: HashSet<String>,
    steps: Vec<Step>,
    kernel: FusedKernel,
    pending: Vec<Pending>,
}

impl Fuser<'_> {
    fn add(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Apply { operator, x, y } => self.apply(operator, x, y),
            Statement::Assign { target, value } if self.names.vectors.contains_key(target) => {
                self.assign_vector(target, value)
            }
            Statement::Assign { target, value } => self.assign_scalar(target, value),
            Statement::Record if self.pending.is_empty() => {
                self.record();
                Ok(())
            }
            Statement::Record => {
                self.pending.push(Pending::Record);
                Ok(())
            }
        }
    }

    fn apply(&mut self, operator: &str, x: &str, y: &str) -> Result<()> {
        match self.applications.get(operator).unwrap_or(&Application::External) {
            Application::Identity => {
                let of = self.names.definitions.get(x).cloned().unwrap_or_else(|| Expr::name(x));
                self.names.definitions.insert(y.to_owned(), of);
                Ok(())
            }
            Application::Diagonal(diagonal, is_conjugate) => {
                let (diagonal, is_conjugate) = (Expr::name(diagonal.as_str()), *is_conjugate);
                let diagonal = if is_conjugate { Expr::Call("conj".into(), vec![diagonal]) } else { diagonal };
                let of = self.names.definitions.get(x).cloned().unwrap_or_else(|| Expr::name(x));
                let product = Expr::Binary("*", Box::new(diagonal), Box::new(of));
                if self.operands.contains(y) {
                    return self.assign_vector(y, &product);
                }
                self.names.definitions.insert(y.to_owned(), product);
                Ok(())
            }
            Application::External => {
                if !self.kernel.body.is_empty() {
                    self.close()?;
                }
                let x = match self.names.definitions.get(x) {
                    Some(Expr::Name(other)) => other.clone(),
                    _ => x.to_owned(),
                };
                self.steps.push(Step::Apply { operator: operator.to_owned(), x, y: y.to_owned() });
                Ok(())
            }
        }
    }

    fn assign_vector(&mut self, target: &str, value: &Expr) -> Result<()> {
        let value = self.defined(value)?;
        self.make_room(&value, Some(target))?;
        let guard = (target == "x" && self.kernel.versions.contains_key("stop")).then(|| self.current("stop"));
        let value = self.resolved(&value)?;
        self.kernel.body.push(BodyStep::Assign { target: target.to_owned(), value, guard });
        Ok(())
    }

    fn assign_scalar(&mut self, target: &str, value: &Expr) -> Result<()> {
        let value = self.defined(value)?;
        let before = self.names.sums.len();
        let value = value.map(&mut |part| match part {
            Expr::Call(name, args) if name == "dot" || name == "norm2" => self.add_sum(&name, &args),
            other => Ok(other),
        })?;
        let kind = kind_of(&value, self.names)?;
        self.declare(target, kind);
        if self.pending.is_empty() && self.names.sums.len() == before {
            self.set(target, &value)
        } else {
            self.pending.push(Pending::Set(target.to_owned(), value));
            Ok(())
        }
    }

    fn declare(&mut self, name: &str, kind: Kind) {
        match self.names.scalars.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = (*known).max(kind),
            None => self.names.scalars.push((name.to_owned(), kind)),
        }
    }

    fn add_sum(&mut self, name: &str, args: &[Expr]) -> Result<Expr> {
        for arg in args {
            self.make_room(arg, None)?;
        }
        let sum = self.names.sums.len();
        let mut args = args.iter().map(|arg| self.resolved(arg)).collect::<Result<Vec<_>>>()?;
        let last = args.pop();
        let (step, kind) = match (args.pop(), last) {
            (Some(left), Some(right)) if name == "dot" => (BodyStep::Dot { sum, left, right }, Kind::Scalar),
            (None, Some(value)) => (BodyStep::Norm2 { sum, value }, Kind::Real),
            _ => return Err(ArrayError::value_error(format!("a solver's program has {name} with other arguments"))),
        };
        self.kernel.body.push(step);
        self.names.sums.push(if self.names.is_complex { kind } else { Kind::Real });
        Ok(Expr::name(format!("sum_{sum}")))
    }

    /// Begins a kernel where the one at hand does not know scalars of the expression yet, or has vectors of another length.
    fn make_room(&mut self, value: &Expr, target: Option<&str>) -> Result<()> {
        let mut names = Vec::new();
        value.names(&mut names);
        let is_pending = |name: &String| self.pending.iter().any(|p| matches!(p, Pending::Set(set, _) if set == name));
        if names.iter().any(is_pending) {
            self.close()?;
        }
        let vector = names.iter().map(String::as_str).chain(target).find_map(|name| self.names.vectors.get(name));
        if let Some(&space) = vector {
            if self.kernel.space.is_some_and(|other| other != space) && !self.kernel.body.is_empty() {
                self.close()?;
            }
            self.kernel.space = Some(space);
        }
        Ok(())
    }

    /// Ends the kernel at hand if there is one, and begins the next with the scalars that waited.
    fn close(&mut self) -> Result<()> {
        let kernel = std::mem::take(&mut self.kernel);
        if !kernel.scalars.is_empty() || !kernel.body.is_empty() {
            self.steps.push(Step::Kernel(kernel));
        }
        for pending in std::mem::take(&mut self.pending) {
            match pending {
                Pending::Set(target, value) => self.set(&target, &value)?,
                Pending::Record => self.record(),
            }
        }
        Ok(())
    }

    fn set(&mut self, target: &str, value: &Expr) -> Result<()> {
        let value = self.resolved(value)?;
        let version = self.kernel.versions.entry(target.to_owned()).or_default();
        *version += 1;
        let version = *version;
        self.kernel.scalars.push(ScalarStep::Set { name: target.to_owned(), version, value });
        Ok(())
    }

    fn record(&mut self) {
        let (iterations, residual) = (self.current("iterations"), self.current("residual"));
        self.kernel.scalars.push(ScalarStep::Record { iterations, residual });
    }

    /// A scalar as the kernel at hand has it.
    fn current(&self, name: &str) -> Expr {
        Expr::name(format!("{name}_{}", self.kernel.versions.get(name).copied().unwrap_or(0)))
    }

    fn defined(&self, value: &Expr) -> Result<Expr> {
        value.map(&mut |part| {
            Ok(match &part {
                Expr::Name(name) => self.names.definitions.get(name).cloned().unwrap_or(part),
                _ => part,
            })
        })
    }

    fn resolved(&self, value: &Expr) -> Result<Expr> {
        value.map(&mut |part| {
            let Expr::Name(name) = &part else { return Ok(part) };
            let is_known = self.names.vectors.contains_key(name) || self.names.parameters.contains(name);
            if is_known || name.starts_with("sum_") {
                return Ok(part);
            }
            if self.names.scalars.iter().any(|(known, _)| known == name) {
                return Ok(self.current(name));
            }
            Err(ArrayError::value_error(format!("a solver's program has '{name}' before anything is assigned to it")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::parse;
    use super::*;

    fn names() -> Names {
        let vectors = ["x", "r", "d", "q"].map(|name| (name.to_owned(), Space::Columns)).into();
        let scalars = ["stop", "iterations", "residual", "rho"].map(|name| (name.to_owned(), Kind::Real)).to_vec();
        Names {
            vectors,
            parameters: Vec::new(),
            scalars,
            is_complex: false,
            sums: Vec::new(),
            definitions: HashMap::new(),
        }
    }

    fn shape(steps: &[Step]) -> Vec<String> {
        let count = |kernel: &FusedKernel| format!("{}+{}", kernel.scalars.len(), kernel.body.len());
        let shape = |step: &Step| match step {
            Step::Apply { operator, x, y } => format!("{y}={operator}{x}"),
            Step::Kernel(kernel) => count(kernel),
        };
        steps.iter().map(shape).collect()
    }

    #[test]
    fn a_line_that_needs_a_sum_begins_a_kernel() {
        let text = "q = A d\nalpha = rho / dot(d, q)\nx = x + alpha * d\nr = r - alpha * q\n\
                    rr = norm2(r)\nbeta = rr / rho\nrho = rr\nd = r + beta * d";
        let steps = fuse(&mut names(), &parse(text).unwrap(), &HashMap::new()).unwrap();
        assert_eq!(shape(&steps), ["q=Ad", "0+1", "1+3", "3+1"]);
    }

    #[test]
    fn a_preconditioner_that_is_none_costs_nothing() {
        let text = "d = M r\nq = A d\nrho = dot(r, d)";
        let none = HashMap::from([("M".to_owned(), Application::Identity)]);
        assert_eq!(shape(&fuse(&mut names(), &parse(text).unwrap(), &none).unwrap()), ["q=Ar", "0+1", "1+0"]);
        let diagonal = HashMap::from([("M".to_owned(), Application::Diagonal("x".to_owned(), false))]);
        let steps = fuse(&mut names(), &parse(text).unwrap(), &diagonal).unwrap();
        assert_eq!(shape(&steps), ["0+1", "q=Ad", "0+1", "1+0"]);
        assert!(fuse(&mut names(), &parse("rho = unknown + 1").unwrap(), &none).is_err());
    }
}
