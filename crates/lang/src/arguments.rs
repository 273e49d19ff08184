//! What a program is given, and what it returns.

use rtcg_hal::DType;

/// The type of an argument, by which programs are compiled and cached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArgType {
    /// A number; one of Python is weak: it adapts to the types around it.
    Scalar {
        /// Its dtype.
        dtype: DType,
        /// Whether it adapts.
        weak: bool,
    },
    /// A tuple.
    Tuple(Vec<ArgType>),
    /// A sequence of numbers, or of sequences of one length: an array.
    Array {
        /// The dtype of its elements.
        dtype: DType,
        /// One or more axes.
        ndim: usize,
        /// Whether its elements are numbers of Python.
        weak: bool,
    },
    /// A sequence of tuples: a sequence for each part, all of one length.
    Zip(Vec<ArgType>),
    /// A sequence of sequences of any lengths: offsets (int64), then the values of all.
    Ragged(Box<ArgType>),
    /// A function, known when the program is compiled: one of [`Source::arguments`].
    ///
    /// [`Source::arguments`]: crate::surface::Source::arguments
    Function(usize),
}

/// What a program returns.
pub type ResultType = ArgType;

impl ArgType {
    /// The variables that it is made of: their dtypes and numbers of axes.
    pub fn leaves(&self) -> Vec<(DType, usize)> {
        let mut all = Vec::new();
        self.put_leaves(&mut all);
        all
    }

    fn put_leaves(&self, all: &mut Vec<(DType, usize)>) {
        match self {
            ArgType::Scalar { dtype, .. } => all.push((*dtype, 0)),
            ArgType::Array { dtype, ndim, .. } => all.push((*dtype, *ndim)),
            ArgType::Tuple(parts) | ArgType::Zip(parts) => parts.iter().for_each(|part| part.put_leaves(all)),
            ArgType::Ragged(values) => {
                all.push((DType::I64, 1));
                values.put_leaves(all);
            }
            ArgType::Function(_) => {}
        }
    }
}
