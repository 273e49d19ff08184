//! Budgets of searches.

use std::fmt;
use std::str::FromStr;

/// Limits of a search, which ends when it reaches the first of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Seconds of wall time.
    pub seconds: Option<f64>,
    /// Configurations to try, whatever their outcome.
    pub evaluations: Option<usize>,
}

impl Budget {
    /// A budget of this many seconds.
    pub fn of_seconds(seconds: f64) -> Self {
        Self { seconds: Some(seconds), evaluations: None }
    }

    /// A budget of this many configurations.
    pub fn of_evaluations(evaluations: usize) -> Self {
        Self { seconds: None, evaluations: Some(evaluations) }
    }
}

/// `"20 s"`, `"500 ms"`, `"2 min"`, `"1 h"`, `"200 evaluations"`, or several with commas.
///
/// ```
/// use rtcg_tune::Budget;
///
/// let budget: Budget = "1.5 min, 200 evaluations".parse()?;
/// assert_eq!(budget, Budget { seconds: Some(90.0), evaluations: Some(200) });
/// # Ok::<(), rtcg_tune::BudgetError>(())
/// ```
impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let wrong = || BudgetError(text.chars().take(80).collect());
        let mut budget = Self::default();
        for part in text.split(',') {
            let part = part.trim();
            let digits = part.find(|c: char| !(c.is_ascii_digit() || c == '.')).ok_or_else(wrong)?;
            let (number, unit) = part.split_at(digits);
            let number: f64 = number.parse().map_err(|_| wrong())?;
            if number <= 0.0 {
                return Err(wrong());
            }
            let seconds = match unit.trim() {
                "ms" => number * 1e-3,
                "s" | "sec" | "second" | "seconds" => number,
                "min" | "minute" | "minutes" => number * 60.0,
                "h" | "hour" | "hours" => number * 3600.0,
                "evaluation" | "evaluations" if number.fract() == 0.0 => {
                    budget.evaluations = Some(number as usize);
                    continue;
                }
                _ => return Err(wrong()),
            };
            budget.seconds = Some(seconds);
        }
        Ok(budget)
    }
}

/// A text that is not a valid budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetError(String);

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "budget is {:?}; expected such as \"20 s\", \"2 min\" or \"200 evaluations\"", self.0)
    }
}

impl std::error::Error for BudgetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read() {
        assert_eq!("20 s".parse(), Ok(Budget::of_seconds(20.0)));
        assert_eq!("1.5min".parse(), Ok(Budget::of_seconds(90.0)));
        assert_eq!("200 evaluations".parse(), Ok(Budget::of_evaluations(200)));
        assert_eq!("5 s, 10 evaluations".parse(), Ok(Budget { seconds: Some(5.0), evaluations: Some(10) }));
        for wrong in ["", "20", "s", "20 weeks", "1..2 s", "-3 s", "0 s", "0 evaluations", "1.5 evaluations"] {
            assert!(wrong.parse::<Budget>().unwrap_err().to_string().contains("expected such as"), "{wrong}");
        }
    }
}
