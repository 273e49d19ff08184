//! Decisions as types: rules and planners work with fields, tools with values.

use super::Choices;
use super::decision::{Config, Decision, Problem, Refusal};
use crate::{DType, DeviceInfo};

/// The configuration of a decision as a type of its own, declared by [`tunable!`](crate::tunable).
pub trait Tunable: Copy + PartialEq + 'static {
    /// What the configuration depends on.
    type Problem: Copy;

    /// The decision as data.
    fn decision() -> &'static Decision;

    /// The rule's configuration.
    fn from_rule(problem: &Self::Problem, device: &DeviceInfo) -> Self;

    /// Checks that kernels can run with it, whether or not it is a candidate.
    ///
    /// # Errors
    /// The constraint that is violated.
    fn check_constraints(&self, problem: &Self::Problem, device: &DeviceInfo) -> Result<(), Refusal>;

    /// Converts to values.
    fn to_config(&self) -> Config;

    /// Converts from values.
    fn from_config(config: &Config) -> Option<Self>;

    /// Converts a problem to values.
    fn problem_values(problem: &Self::Problem) -> Problem;

    /// Converts a problem from values.
    fn problem_from_values(problem: &Problem) -> Option<Self::Problem>;

    /// The configuration that `choices` gives if kernels can run with it, otherwise the rule's.
    fn choose(problem: &Self::Problem, device: &DeviceInfo, choices: &dyn Choices) -> Self {
        let rule = Self::from_rule(problem, device);
        let (values, default) = (Self::problem_values(problem), rule.to_config());
        let Some(config) = choices.choose(&values, &default, device).filter(|config| *config != default) else {
            return rule;
        };
        match Self::decision().check(&config, &values, device) {
            Ok(()) => Self::from_config(&config).unwrap_or(rule),
            Err(refusal) => {
                choices.refused(&values, &refusal);
                rule
            }
        }
    }
}

/// Translates a Rust expression over integers, booleans and names to Python.
#[doc(hidden)]
pub fn python_expression(text: &str) -> String {
    let text = text.replace("&&", "and").replace("||", "or").replace(" / ", " // ").replace("\n", " ");
    let mut result = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '!' if characters.peek() != Some(&'=') => result.push_str("not "),
            _ => result.push(c),
        }
    }
    for dtype in DType::all_dtypes() {
        result = result.replace(&format!("DType::{dtype:?}"), &format!("\"{}\"", dtype.name()));
    }
    result
}

/// Declares a decision: a type of problems, a type of configurations that implements [`Tunable`], and the candidates.
///
/// Integers are `i64`, so that all constraints have one type; they may use the names of parameters, of the problem, and
/// of the listed device quantities. `a / b` divides integers. Constraints are checked in order, so that earlier ones
/// can keep divisors from being zero. Conditions that no expression can state are checked by the function after `also`,
/// which returns a reason to refuse the configuration.
#[macro_export]
macro_rules! tunable {
    (
        $(#[doc = $doc:literal])*
        $vis:vis $choice:ident = $name:literal;
        $(#[doc = $problem_doc:literal])*
        problem $problem:ident { $($(#[doc = $field_doc:literal])* $field:ident: $field_ty:ty = $bucket:ident,)* }
        parameters { $($(#[doc = $parameter_doc:literal])* $parameter:ident: $parameter_ty:ty = [$($value:expr),* $(,)?],)* }
        device { $($quantity:ident),* }
        require { $($constraint:expr;)* }
        rule $rule:path;
        $(also $also:path;)?
    ) => {
        $(#[doc = $problem_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis struct $problem { $($(#[doc = $field_doc])* $vis $field: $field_ty,)* }

        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis struct $choice { $($(#[doc = $parameter_doc])* $vis $parameter: $parameter_ty,)* }

        impl $crate::tuning::Tunable for $choice {
            type Problem = $problem;

            fn decision() -> &'static $crate::tuning::Decision {
                use $crate::tuning::{Bucket, Decision, Parameter, ProblemField, Tunable, ParameterType};
                static DECISION: ::std::sync::LazyLock<Decision> = ::std::sync::LazyLock::new(|| Decision::new(
                    $name,
                    concat!($($doc, "\n",)*),
                    vec![$(ProblemField {
                        name: stringify!($field),
                        doc: concat!($($field_doc, "\n",)*).trim_ascii(),
                        bucket: Bucket::$bucket,
                    }),*],
                    vec![$(Parameter {
                        name: stringify!($parameter),
                        doc: concat!($($parameter_doc, "\n",)*).trim_ascii(),
                        values: vec![$(<$parameter_ty as ParameterType>::to_value($value)),*],
                    }),*],
                    vec![$($crate::tuning::python_expression(stringify!($constraint))),*],
                    |config, problem, device| {
                        let problem = <$choice as Tunable>::problem_from_values(problem);
                        match <$choice as Tunable>::from_config(config).zip(problem) {
                            Some((choice, problem)) => choice.check_constraints(&problem, device),
                            None => Ok(()),
                        }
                    },
                    |problem, device| {
                        let problem = <$choice as Tunable>::problem_from_values(problem)?;
                        Some(<$choice as Tunable>::from_rule(&problem, device).to_config())
                    },
                ));
                &DECISION
            }

            fn from_rule(problem: &$problem, device: &$crate::DeviceInfo) -> Self {
                $rule(problem, device)
            }

            #[allow(unused_variables, reason = "not every name is part of a constraint")]
            fn check_constraints(
                &self,
                problem: &$problem,
                device: &$crate::DeviceInfo,
            ) -> ::std::result::Result<(), $crate::tuning::Refusal> {
                let $problem { $($field),* } = *problem;
                let $choice { $($parameter),* } = *self;
                $(let $quantity = i64::from(device.$quantity);)*
                $(if !($constraint) {
                    let reason = $crate::tuning::python_expression(stringify!($constraint));
                    return Err($crate::tuning::Refusal { decision: $name, reason });
                })*
                $(if let Some(reason) = $also(self, problem, device) {
                    return Err($crate::tuning::Refusal { decision: $name, reason: reason.into() });
                })?
                Ok(())
            }

            fn to_config(&self) -> $crate::tuning::Config {
                use $crate::tuning::ParameterType;
                let values = [$(self.$parameter.to_value()),*];
                $crate::tuning::Config { decision: Self::decision(), values: values.into_iter().collect() }
            }

            fn from_config(config: &$crate::tuning::Config) -> Option<Self> {
                let mut values = config.values.iter().copied();
                (config.decision == Self::decision()).then_some(())?;
                Some($choice { $($parameter: $crate::tuning::ParameterType::from_value(values.next()?)?),* })
            }

            fn problem_values(problem: &$problem) -> $crate::tuning::Problem {
                use $crate::tuning::ParameterType;
                let values = [$(problem.$field.to_value()),*];
                $crate::tuning::Problem { decision: Self::decision(), values: values.into_iter().collect() }
            }

            fn problem_from_values(problem: &$crate::tuning::Problem) -> Option<$problem> {
                let mut values = problem.values.iter().copied();
                (problem.decision == Self::decision()).then_some(())?;
                Some($problem { $($field: $crate::tuning::ParameterType::from_value(values.next()?)?),* })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExecutionModel;
    use crate::tuning::{Bucket, ParameterValue};
    use std::sync::Mutex;

    tunable! {
        /// How a test cuts its work.
        pub(super) Cut = "test.cut";
        /// Some work.
        problem Work {
            /// The elements.
            dtype: DType = Exact,
            /// How many there are.
            n: i64 = PowerOfTwo,
            /// Whether they are adjacent.
            dense: bool = Exact,
        }
        parameters {
            /// Threads of a block.
            threads: i64 = [32, 64, 128],
            /// Elements of a thread.
            items: i64 = [1, 2, 4],
            /// Adjacent elements are read at once.
            packed: bool = [false, true],
            /// What computes.
            unit: &'static str = ["simt", "mma"],
        }
        device { shared_bytes, compute_capability }
        require {
            threads * items * 16 <= shared_bytes;
            !packed || dense && items != 1;
            unit != "mma" || (compute_capability >= 80 && dtype == DType::F16);
            n / threads >= 0;
        }
        rule cut_rule;
    }

    fn cut_rule(problem: &Work, _: &DeviceInfo) -> Cut {
        Cut { threads: if problem.n > 1000 { 128 } else { 32 }, items: 1, packed: false, unit: "simt" }
    }

    const DEVICE: DeviceInfo = DeviceInfo {
        multiprocessors: 2,
        max_blocks: 64,
        execution: ExecutionModel::Simt,
        vector_bytes: 16,
        bulk_copy_smem_bytes: 0,
        shared_bytes: 4096,
        compute_capability: 80,
    };

    /// Answers one choice, and collects refusals.
    struct Forced(Config, Mutex<Vec<Refusal>>);

    impl Choices for Forced {
        fn choose(&self, _: &Problem, _: &Config, _: &DeviceInfo) -> Option<Config> {
            Some(self.0.clone())
        }

        fn refused(&self, _: &Problem, refusal: &Refusal) {
            self.1.lock().unwrap().push(refusal.clone());
        }
    }

    fn forced(config: Config) -> Forced {
        Forced(config, Mutex::default())
    }

    #[test]
    fn a_declaration_is_data_and_a_check() {
        let decision = Cut::decision();
        assert_eq!((decision.name, decision.doc), ("test.cut", "How a test cuts its work."));
        assert_eq!((decision.problem[1].name, decision.problem[1].bucket), ("n", Bucket::PowerOfTwo));
        assert_eq!(decision.parameters[0].values, [32, 64, 128].map(ParameterValue::Int));
        assert_eq!(decision.parameters[2].doc, "Adjacent elements are read at once.");
        let problem = Cut::problem_values(&Work { dtype: DType::F32, n: 1000, dense: true });
        assert_eq!(problem.to_string(), "test.cut(dtype='float32', n=1000, dense=True)");
        assert_eq!(problem.key()[1], ParameterValue::Int(1024));
        let default = decision.default_config(&problem, &DEVICE).unwrap();
        assert_eq!(default.to_string(), "test.cut(threads=32, items=1, packed=False, unit='simt')");
        assert_eq!(decision.check(&default, &problem, &DEVICE), Ok(()));
        let parsed = [("items", "4"), ("unit", "'mma'"), ("threads", "128"), ("packed", "True")];
        let config = decision.parse_config(parsed).unwrap();
        let refusal = decision.check(&config, &problem, &DEVICE).unwrap_err();
        assert_eq!(refusal.to_string(), "test.cut: threads * items * 16 <= shared_bytes");
        let fewer = config.with("items", ParameterValue::Int(2)).with("unit", ParameterValue::Name("simt"));
        assert_eq!(decision.check(&fewer, &problem, &DEVICE), Ok(()));
        let no_candidate = fewer.with("items", ParameterValue::Int(3));
        assert_eq!(decision.check(&no_candidate, &problem, &DEVICE).unwrap_err().reason, "items = 3 is no candidate");
    }

    #[test]
    fn constraints_are_pythons_expressions() {
        assert_eq!(
            Cut::decision().constraints,
            [
                "threads * items * 16 <= shared_bytes",
                "not packed or dense and items != 1",
                "unit != \"mma\" or (compute_capability >= 80 and dtype == \"float16\")",
                "n // threads >= 0",
            ]
        );
    }

    #[test]
    fn what_cannot_be_parsed_is_named() {
        let reason = |values: &[(&'static str, &'static str)]| {
            Cut::decision().parse_config(values.iter().copied()).unwrap_err().reason
        };
        assert_eq!(reason(&[("thread", "32")]), "thread is no parameter of it");
        assert_eq!(reason(&[("threads", "33")]), "33 is no candidate of threads");
        assert_eq!(reason(&[("threads", "32.0")]), "32.0 is no candidate of threads");
        assert_eq!(reason(&[("threads", "32"), ("packed", "True")]), "items is missing");
    }

    #[test]
    fn choices_are_taken_where_kernels_can_run_with_them() {
        let work = Work { dtype: DType::F32, n: 5000, dense: false };
        let rule = Cut::from_rule(&work, &DEVICE);
        let good = forced(Cut { threads: 64, items: 4, ..rule }.to_config());
        assert_eq!(Cut::choose(&work, &DEVICE, &good), Cut { threads: 64, items: 4, ..rule });
        assert!(good.1.lock().unwrap().is_empty());
        for bad in [Cut { packed: true, ..rule }, Cut { unit: "mma", ..rule }, Cut { threads: 48, ..rule }] {
            let choices = forced(bad.to_config());
            assert_eq!(Cut::choose(&work, &DEVICE, &choices), rule);
            assert_eq!(choices.1.lock().unwrap().len(), 1, "{bad:?}");
        }
    }
}
