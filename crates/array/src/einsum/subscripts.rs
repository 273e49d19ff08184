//! Subscripts such as `ij,jk->ik`: which axes of the operands coincide, which are summed over, and their lengths.

use crate::layout::{PythonTuple, Shape};
use rtcg_hal::{ArrayError, Result};
use smallvec::SmallVec;

/// A named axis: a letter, or one of those that `...` stands for.
pub(super) type Label = u8;
/// The axes of an operand or of the result.
pub(super) type Labels = SmallVec<[Label; 8]>;

/// The last axis that `...` stands for; those before it follow.
const LAST_ELLIPSIS_LABEL: Label = 128;

/// A sum of products over named axes, with shapes that fit.
#[derive(Debug)]
pub(super) struct Subscripts {
    pub(super) inputs: Vec<Labels>,
    pub(super) output: Labels,
    lengths: [usize; 256],
}

impl Subscripts {
    /// Reads subscripts for operands of these shapes.
    pub(super) fn parse(text: &str, shapes: &[&[usize]]) -> Result<Self> {
        let text: String = text.chars().filter(|c| *c != ' ').collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (text.as_str(), None),
        };
        let words: Vec<&str> = left.split(',').collect();
        if shapes.is_empty() {
            return Err(error("must specify the einstein sum subscripts string and at least one operand"));
        }
        if words.len() != shapes.len() {
            let which = if words.len() > shapes.len() { "fewer" } else { "more" };
            return Err(error(format!(
                "{which} operands provided to einstein sum function than specified in the subscripts string: \
                 {} for {} subscripts",
                shapes.len(),
                words.len()
            )));
        }
        let operands = words.iter().zip(shapes).enumerate();
        let inputs = operands.map(|(k, (word, shape))| parse_operand(word, k, shape.len()));
        let inputs: Vec<Labels> = inputs.collect::<Result<_>>()?;
        let lengths = find_lengths(&inputs, shapes)?;
        let output = match right {
            Some(right) => parse_output(right, &inputs)?,
            None => implicit_output(&inputs),
        };
        Ok(Self { inputs, output, lengths })
    }

    /// How long an axis is.
    pub(super) fn length(&self, label: Label) -> usize {
        self.lengths[usize::from(label)]
    }

    pub(super) fn lengths_of(&self, labels: &[Label]) -> Shape {
        labels.iter().map(|&label| self.length(label)).collect()
    }
}

fn error(message: impl Into<String>) -> ArrayError {
    ArrayError::value_error(message)
}

/// The name of an axis for messages.
fn shown(label: Label) -> String {
    if label < LAST_ELLIPSIS_LABEL { char::from(label).to_string() } else { "...".into() }
}

fn parse_operand(word: &str, operand: usize, ndim: usize) -> Result<Labels> {
    let (before, behind) = match word.split_once("...") {
        Some((before, behind)) => (before, Some(behind)),
        None => (word, None),
    };
    let letters = before.chars().chain(behind.unwrap_or_default().chars());
    let named = check_letters(letters, &format!(" in operand {operand}"))?;
    if named > ndim {
        return Err(error(format!(
            "einstein sum subscripts string contains too many subscripts for operand {operand}: '{word}' for {ndim} axes"
        )));
    }
    if behind.is_none() && named < ndim {
        return Err(error(format!(
            "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to \
             broadcast the extra dimensions: operand {operand} has {ndim} axes for '{word}'"
        )));
    }
    let mut labels: Labels = before.bytes().collect();
    if let Some(behind) = behind {
        labels.extend((0..ndim - named).rev().map(|axis| LAST_ELLIPSIS_LABEL + axis as u8));
        labels.extend(behind.bytes());
    }
    Ok(labels)
}

/// Counts letters; an error for anything else.
fn check_letters(text: impl Iterator<Item = char>, place: &str) -> Result<usize> {
    let mut count = 0;
    for c in text {
        if c == '.' {
            return Err(error(format!(
                "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...'){place}"
            )));
        }
        if !c.is_ascii_alphabetic() {
            return Err(error(format!(
                "invalid subscript '{c}' in einstein sum subscripts string, subscripts must be letters"
            )));
        }
        count += 1;
    }
    Ok(count)
}

fn find_lengths(inputs: &[Labels], shapes: &[&[usize]]) -> Result<[usize; 256]> {
    let mut lengths = [1; 256];
    for (operand, (labels, shape)) in inputs.iter().zip(shapes).enumerate() {
        for (axis, (&label, &length)) in labels.iter().zip(*shape).enumerate() {
            let first = labels.iter().position(|other| *other == label).unwrap_or(axis);
            if shape[first] != length {
                let which = if inputs.len() == 1 { "single operand".into() } else { format!("operand {operand}") };
                return Err(error(format!(
                    "dimensions in {which} for collapsing index '{}' don't match ({} != {length})",
                    shown(label),
                    shape[first]
                )));
            }
            let known = &mut lengths[usize::from(label)];
            if *known == 1 {
                *known = length;
            } else if length != 1 && length != *known {
                let shapes: Vec<String> = shapes.iter().map(|shape| PythonTuple(shape).to_string()).collect();
                return Err(error(format!(
                    "operands could not be broadcast together with shapes {}: axis '{}' has lengths {known} and \
                     {length} (operand {operand})",
                    shapes.join(" "),
                    shown(label),
                )));
            }
        }
    }
    Ok(lengths)
}

/// The axes of `...`, the first one first.
fn ellipsis_labels(inputs: &[Labels]) -> Labels {
    let last = inputs.iter().flatten().copied().filter(|label| *label >= LAST_ELLIPSIS_LABEL).max();
    last.map_or(Labels::new(), |last| (LAST_ELLIPSIS_LABEL..=last).rev().collect())
}

fn parse_output(word: &str, inputs: &[Labels]) -> Result<Labels> {
    let (before, behind) = match word.split_once("...") {
        Some((before, behind)) => (before, Some(behind)),
        None => (word, None),
    };
    check_letters(before.chars().chain(behind.unwrap_or_default().chars()), "")?;
    let dots = ellipsis_labels(inputs);
    if behind.is_none() && !dots.is_empty() {
        return Err(error(format!(
            "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to \
             broadcast the extra dimensions: '{word}' lacks the {} axes of '...'",
            dots.len()
        )));
    }
    let mut output: Labels = before.bytes().collect();
    output.extend(dots);
    output.extend(behind.unwrap_or_default().bytes());
    for (k, &label) in output.iter().enumerate() {
        if output[..k].contains(&label) {
            let shown = shown(label);
            return Err(error(format!(
                "einstein sum subscripts string includes output subscript '{shown}' multiple times"
            )));
        }
        if !inputs.iter().any(|labels| labels.contains(&label)) {
            let shown = shown(label);
            return Err(error(format!(
                "einstein sum subscripts string included output subscript '{shown}' which never appeared in an input"
            )));
        }
    }
    Ok(output)
}

/// The axes of `...`, then the letters that are there once, by the alphabet.
fn implicit_output(inputs: &[Labels]) -> Labels {
    let count = |label: Label| inputs.iter().flatten().filter(|other| **other == label).count();
    let mut output = ellipsis_labels(inputs);
    output.extend((b'A'..=b'z').filter(|label| count(*label) == 1));
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str, shapes: &[&[usize]]) -> (String, Vec<usize>) {
        let parsed = Subscripts::parse(text, shapes).unwrap();
        (parsed.output.iter().map(|label| shown(*label)).collect(), parsed.lengths_of(&parsed.output).to_vec())
    }

    #[test]
    fn results_have_the_axes_that_numpy_gives_them() {
        assert_eq!(output("ij,jk", &[&[2, 3], &[3, 4]]), ("ik".into(), vec![2, 4]));
        assert_eq!(output("bA->", &[&[2, 3]]), (String::new(), vec![]));
        assert_eq!(output("bA", &[&[2, 3]]), ("Ab".into(), vec![3, 2]));
        assert_eq!(output("i i", &[&[3, 3]]), (String::new(), vec![]));
        assert_eq!(output("...i,j...->j...", &[&[5, 1, 3], &[2, 4]]), ("j......".into(), vec![2, 5, 4]));
        assert_eq!(output("ij,ij->ji", &[&[1, 3], &[2, 1]]), ("ji".into(), vec![3, 2]));
    }

    #[test]
    fn errors_name_what_does_not_fit() {
        let message = |text: &str, shapes: &[&[usize]]| Subscripts::parse(text, shapes).unwrap_err().to_string();
        assert!(message("ij", &[&[2]]).contains("too many subscripts for operand 0"));
        assert!(message("i,i", &[&[2]]).starts_with("fewer operands"));
        assert!(message("i", &[&[2], &[2]]).starts_with("more operands"));
        assert!(message("i,i", &[&[2], &[3]]).contains("axis 'i' has lengths 2 and 3 (operand 1)"));
        assert!(message("ii", &[&[1, 3]]).contains("collapsing index 'i' don't match (1 != 3)"));
        assert!(message("i->ii", &[&[2]]).contains("'i' multiple times"));
        assert!(message("i->k", &[&[2]]).contains("'k' which never appeared"));
        assert!(message("i.j", &[&[2]]).contains("not part of an ellipsis"));
        assert!(message("i1", &[&[2, 2]]).contains("invalid subscript '1'"));
        assert!(message("...i->i", &[&[2, 2]]).contains("no '...' ellipsis"));
    }
}
