//! Enumerates all valid configurations of a space.
//!
//! Parameters are bound one after the other, starting with those that share constraints; a constraint is checked as
//! soon as its names are bound, so that most of the product is never visited. A constraint that cannot be evaluated
//! (because of a division by zero) is an error only for configurations that satisfy all other constraints.

use crate::configurations::{Config, Configurations};
use crate::expression::fast::FastProgram;
use crate::expression::{Expression, shown};
use crate::space::{Constraint, Space, SpaceError};
use crate::value::Value;
use std::sync::Arc;

/// A table larger than this would not fit the memory of most machines.
const MAX_CONFIGURATIONS: usize = 1 << 26;

impl Space {
    /// Enumerates all valid configurations.
    ///
    /// # Errors
    /// When a constraint names an unknown parameter or cannot be evaluated, when there are too many configurations, and
    /// when there is none; the error then names constraints that contradict each other.
    pub fn enumerate(&self) -> Result<Configurations, SpaceError> {
        let checks = self.checks()?;
        let mut search = Enumeration::new(self, &checks, usize::MAX);
        search.run()?;
        if search.found.is_empty() {
            return Err(self.contradiction(&checks)?);
        }
        let (found, fields) = (std::mem::take(&mut search.found), std::mem::take(&mut search.fields));
        let names = self.names().map(str::to_owned).collect();
        let values = self.parameters.iter().map(|parameter| parameter.values.clone()).collect();
        Ok(Configurations::of_sorted_rows(names, values, unpack(found, &fields)))
    }

    /// Constraints and conditions as checks over places of parameters.
    fn checks(&self) -> Result<Vec<Check<'_>>, SpaceError> {
        let conditions = self.parameters.iter().enumerate().filter_map(|(place, parameter)| {
            let when = parameter.when.as_ref()?;
            Some(self.check_of(when).map(|check| Check { only_if_not_default: Some(place), ..check }))
        });
        let constraints = self.constraints.iter().map(|constraint| match constraint {
            Constraint::Expression(expression) => self.check_of(expression),
            Constraint::Function(name, _) => {
                let places = (0..self.parameters.len()).collect();
                Ok(Check { text: name, places, kind: CheckKind::Whole(constraint), only_if_not_default: None })
            }
        });
        conditions.chain(constraints).collect()
    }

    fn check_of<'s>(&'s self, expression: &'s Expression) -> Result<Check<'s>, SpaceError> {
        let place = |name: &String| {
            self.names().position(|known| known == name).ok_or_else(|| {
                let known: Vec<_> = self.names().collect();
                let (text, name, known) = (shown(expression.text()), shown(name), known.join(", "));
                SpaceError(format!("constraint {text:?} names {name}, which is no parameter; expected {known}"))
            })
        };
        let places = expression.names().iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let slots: Vec<u32> = places.iter().map(|&place| place as u32).collect();
        let is_number = |place: &usize| self.parameters[*place].values.iter().all(|value| value.as_f64().is_some());
        let fast = places.iter().all(is_number).then(|| FastProgram::compile(expression, &slots)).flatten();
        let kind = match fast.as_ref().and_then(|program| self.pair_table(program, &places)) {
            Some(table) => table,
            None => CheckKind::Expression { exact: expression, fast },
        };
        Ok(Check { text: expression.text(), places, kind, only_if_not_default: None })
    }

    /// The answers of a check about two parameters (others may have one value), where it has one for each pair.
    fn pair_table(&self, program: &FastProgram, places: &[usize]) -> Option<CheckKind<'static>> {
        const MAX_PAIRS: usize = 1 << 12;
        let size = |place: usize| self.parameters[place].values.len();
        let varied: Vec<usize> = places.iter().copied().filter(|&place| size(place) > 1).collect();
        let &[first, second] = &varied[..] else { return None };
        if size(first) * size(second) > MAX_PAIRS {
            return None;
        }
        let number = |place: usize, cell: usize| self.parameters[place].values[cell].as_f64().unwrap_or(0.0);
        let mut slots: Vec<f64> = (0..self.parameters.len()).map(|place| number(place, 0)).collect();
        let mut table = Vec::with_capacity(size(first) * size(second));
        let mut stack = Vec::new();
        for a in 0..size(first) {
            for b in 0..size(second) {
                (slots[first], slots[second]) = (number(first, a), number(second, b));
                table.push(program.run(&slots, &mut stack)? != 0.0);
            }
        }
        Some(CheckKind::Pairs { first, second, columns: size(second), table: table.into() })
    }

    /// A smallest set of constraints without any valid configuration, found by leaving out one after the other.
    fn contradiction(&self, checks: &[Check<'_>]) -> Result<SpaceError, SpaceError> {
        let mut needed: Vec<Check<'_>> = checks.to_vec();
        let mut at = 0;
        while at < needed.len() {
            let mut fewer = needed.clone();
            fewer.remove(at);
            let mut search = Enumeration::new(self, &fewer, 1);
            search.run()?;
            if search.found.is_empty() {
                needed = fewer;
            } else {
                at += 1;
            }
        }
        let texts: Vec<_> = needed.iter().map(|check| format!("{:?}", check.text)).collect();
        Ok(SpaceError(match &texts[..] {
            [] => "the space has no parameters".to_owned(),
            [single] => format!("no configuration fulfils the constraint {single}"),
            several => format!("no configuration fulfils these constraints together: {}", several.join(", ")),
        }))
    }
}

/// A constraint or a condition.
#[derive(Clone)]
struct Check<'s> {
    text: &'s str,
    /// The parameters that it depends on.
    places: Vec<usize>,
    kind: CheckKind<'s>,
    /// A condition counts only where this parameter has not its default.
    only_if_not_default: Option<usize>,
}

#[derive(Clone)]
enum CheckKind<'s> {
    Expression {
        exact: &'s Expression,
        fast: Option<FastProgram>,
    },
    /// Whether a pair of cells passes.
    Pairs {
        first: usize,
        second: usize,
        columns: usize,
        table: Arc<[bool]>,
    },
    Whole(&'s Constraint),
}

/// Where the cells of a parameter are in a packed row.
#[derive(Debug, Clone, Copy)]
struct Field {
    shift: u32,
    mask: u128,
}

/// A parameter, and the checks that binding it completes.
type Step<'s> = (usize, Vec<&'s Check<'s>>);

struct Enumeration<'s> {
    space: &'s Space,
    steps: Vec<Step<'s>>,
    fields: Vec<Field>,
    /// Values of parameters as numbers; 0 for what is no number.
    numbers: Vec<Vec<f64>>,
    slots: Vec<f64>,
    cells: Vec<u16>,
    stack: Vec<f64>,
    /// The first check on the way here that could not be evaluated.
    failed: Option<SpaceError>,
    found: Vec<u128>,
    limit: usize,
}

impl<'s> Enumeration<'s> {
    fn new(space: &'s Space, checks: &'s [Check<'s>], limit: usize) -> Self {
        let count = space.parameters.len();
        let mut shift = 0;
        let mut fields = vec![Field { shift: 0, mask: 0 }; count];
        for (field, parameter) in fields.iter_mut().zip(&space.parameters).rev() {
            let bits = usize::BITS - (parameter.values.len() - 1).leading_zeros();
            // A parameter with one value has no bits, and its place would be one past the last.
            *field = Field { shift: if bits == 0 { 0 } else { shift }, mask: (1 << bits) - 1 };
            shift += bits;
        }
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        Self {
            space,
            steps: order_steps(space, checks),
            fields,
            numbers: space.parameters.iter().map(|parameter| parameter.values.iter().map(number).collect()).collect(),
            slots: vec![0.0; count],
            cells: vec![0; count],
            stack: Vec::new(),
            failed: None,
            found: Vec::new(),
            limit,
        }
    }

    fn run(&mut self) -> Result<(), SpaceError> {
        let bits: u32 = self.fields.iter().map(|field| field.mask.count_ones()).sum();
        if bits > u128::BITS {
            return Err(SpaceError(format!(
                "the values of all parameters need {bits} bits; at most 128 are supported"
            )));
        }
        let steps = std::mem::take(&mut self.steps);
        self.bind(&steps, 0)
    }

    /// Binds the parameter of the first step to each of its values, and goes on with the other steps.
    fn bind(&mut self, steps: &[Step<'s>], packed: u128) -> Result<(), SpaceError> {
        let Some(((place, checks), others)) = steps.split_first() else { return Ok(()) };
        let place = *place;
        for cell in 0..self.numbers[place].len() {
            self.cells[place] = cell as u16;
            self.slots[place] = self.numbers[place][cell];
            let failed_before = self.failed.is_some();
            if !checks.iter().all(|check| self.passes(check)) {
                if !failed_before {
                    self.failed = None;
                }
                continue;
            }
            let packed = packed | (cell as u128) << self.fields[place].shift;
            if others.is_empty() {
                self.add(packed)?;
            } else {
                self.bind(others, packed)?;
            }
            if !failed_before {
                self.failed = None;
            }
            if self.found.len() >= self.limit {
                return Ok(());
            }
        }
        Ok(())
    }

    fn add(&mut self, packed: u128) -> Result<(), SpaceError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.found.len() == MAX_CONFIGURATIONS {
            return Err(SpaceError(format!(
                "the space has more than {MAX_CONFIGURATIONS} valid configurations; expected fewer values or more constraints"
            )));
        }
        self.found.push(packed);
        Ok(())
    }

    /// Whether the present values pass a check; one that cannot be evaluated passes for now.
    fn passes(&mut self, check: &Check<'_>) -> bool {
        if let Some(place) = check.only_if_not_default
            && usize::from(self.cells[place]) == self.space.parameters[place].default
        {
            return true;
        }
        let value = match &check.kind {
            CheckKind::Pairs { first, second, columns, table } => {
                return table[usize::from(self.cells[*first]) * columns + usize::from(self.cells[*second])];
            }
            CheckKind::Expression { fast: Some(program), .. } => program.run(&self.slots, &mut self.stack),
            _ => None,
        };
        if let Some(value) = value {
            return value != 0.0;
        }
        let result = match &check.kind {
            CheckKind::Expression { exact, .. } => {
                let lookup = |name: &str| {
                    let place = self.space.names().position(|known| known == name)?;
                    Some(self.space.parameters[place].values[usize::from(self.cells[place])].clone())
                };
                exact.evaluate(&lookup).map(|value| value.is_truthy()).map_err(SpaceError::from)
            }
            CheckKind::Whole(constraint) => constraint.holds(&self.config()),
            CheckKind::Pairs { .. } => Ok(true),
        };
        result.unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            true
        })
    }

    fn config(&self) -> Config {
        let names: Arc<[String]> = self.space.names().map(str::to_owned).collect();
        let cells = self.space.parameters.iter().zip(&self.cells);
        Config::new(names, cells.map(|(parameter, &cell)| parameter.values[usize::from(cell)].clone()).collect())
    }
}

/// The order of binding: again and again the check whose unbound parameters have the smallest product of values, and
/// of these the parameter with the fewest values first. Checks with a parameter that nothing else names come later,
/// since binding it early would only repeat the work of the others; what no check names comes last.
fn order_steps<'s>(space: &'s Space, checks: &'s [Check<'s>]) -> Vec<Step<'s>> {
    let count = space.parameters.len();
    let size = |place: usize| space.parameters[place].values.len();
    let mut is_bound = vec![false; count];
    let mut steps: Vec<Step<'_>> = Vec::new();
    let places =
        |check: &Check<'_>| -> Vec<usize> { check.places.iter().copied().chain(check.only_if_not_default).collect() };
    let uses = |place: usize| checks.iter().filter(|check| places(check).contains(&place)).count();
    let has_parameter_of_its_own =
        |check: &Check<'_>| places(check).into_iter().any(|place| size(place) > 1 && uses(place) == 1);
    let mut open: Vec<(bool, &Check<'_>)> =
        checks.iter().map(|check| (has_parameter_of_its_own(check), check)).collect();
    loop {
        let cost = |(is_late, check): &(bool, &Check<'_>)| -> (bool, f64) {
            let unbound = places(check).into_iter().filter(|&place| !is_bound[place]);
            (*is_late, unbound.map(|place| (size(place) as f64).ln()).sum())
        };
        let compare = |a: (bool, f64), b: (bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        let next = (0..open.len()).min_by(|&a, &b| compare(cost(&open[a]), cost(&open[b])));
        let mut unbound: Vec<usize> = match next {
            Some(next) => places(open[next].1).into_iter().filter(|&place| !is_bound[place]).collect(),
            None => (0..count).filter(|&place| !is_bound[place]).collect(),
        };
        unbound.sort_by_key(|&place| (size(place), place));
        unbound.dedup();
        for place in unbound {
            is_bound[place] = true;
            steps.push((place, Vec::new()));
        }
        if steps.is_empty() && next.is_some() {
            // A constraint without names is checked with the first parameter.
            let Some(place) = (0..count).find(|&place| !is_bound[place]) else { break };
            is_bound[place] = true;
            steps.push((place, Vec::new()));
        }
        let Some(next) = next else { break };
        let (_, check) = open.swap_remove(next);
        let last = steps.iter().rposition(|(place, _)| places(check).contains(place)).unwrap_or(0);
        steps[last].1.push(check);
    }
    steps
}

/// Rows of cells in lexicographic order.
fn unpack(mut found: Vec<u128>, fields: &[Field]) -> Vec<u16> {
    let all_fit = fields.iter().map(|field| field.mask.count_ones()).sum::<u32>() <= u64::BITS;
    let mut cells = Vec::with_capacity(found.len() * fields.len());
    if all_fit {
        let mut narrow: Vec<u64> = found.drain(..).map(|packed| packed as u64).collect();
        drop(found);
        narrow.sort_unstable();
        let fields: Vec<_> = fields.iter().map(|field| (field.shift, field.mask as u64)).collect();
        for packed in narrow {
            cells.extend(fields.iter().map(|&(shift, mask)| (packed >> shift & mask) as u16));
        }
    } else {
        found.sort_unstable();
        for packed in found {
            cells.extend(fields.iter().map(|field| (packed >> field.shift & field.mask) as u16));
        }
    }
    cells
}

#[cfg(test)]
mod tests;
