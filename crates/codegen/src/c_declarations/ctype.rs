//! A type by its C name, with what the host must know to pass values of it.

use crate::DType;

/// What the bytes of a type mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CTypeForm {
    /// A number that NumPy knows; the letter is NumPy's kind: `b`, `i`, `u`, `f` or `c`.
    Number(char),
    /// The upper half of a float32.
    BFloat16,
    /// CUDA's vector types: components of a NumPy kind, 1 to 4 of them, named x y z w.
    Vector {
        /// NumPy's kind of a component.
        kind: char,
        /// How many components.
        components: u8,
    },
    /// A type that was registered; the number is the one that registration gave.
    Registered(u32),
}

/// A type that kernel parameters can have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CType {
    /// How kernels spell it.
    pub name: String,
    /// What its bytes mean.
    pub form: CTypeForm,
    /// Bytes of a value.
    pub itemsize: usize,
    /// Alignment in C.
    pub align: usize,
}

impl CType {
    /// A number of a NumPy kind.
    pub(crate) fn numeric_type(name: &str, kind: char, itemsize: usize) -> CType {
        // pycuda::complex is aligned as its parts are.
        let align = if kind == 'c' { itemsize / 2 } else { itemsize };
        CType { name: name.into(), form: CTypeForm::Number(kind), itemsize, align }
    }

    /// The header that declares the type, if any.
    pub fn declaring_header(&self) -> Option<&'static str> {
        match self.form {
            CTypeForm::Number('c') => Some("pycuda-complex.hpp"),
            CTypeForm::Number('f') if self.itemsize == 2 => Some("cuda_fp16.h"),
            CTypeForm::BFloat16 => Some("cuda_bf16.h"),
            _ => None,
        }
    }

    /// The dtype of arrays of this type, where arrays have it.
    pub fn dtype(&self) -> Option<DType> {
        match self.form {
            CTypeForm::Number(kind) => DType::from_numpy(kind, self.itemsize).ok(),
            CTypeForm::BFloat16 => Some(DType::BF16),
            _ => u32::try_from(self.itemsize).ok().map(DType::Void),
        }
    }

    /// Whether values are real floating-point numbers.
    pub fn is_real_float(&self) -> bool {
        matches!(self.form, CTypeForm::Number('f') | CTypeForm::BFloat16)
    }
}

impl From<DType> for CType {
    /// The type with the name that generated kernels use; a record is a type without name.
    fn from(dtype: DType) -> Self {
        let (name, itemsize) = (dtype.c_type().to_owned(), dtype.itemsize());
        match dtype {
            DType::BF16 => return CType { name, form: CTypeForm::BFloat16, itemsize, align: 2 },
            DType::Void(_) => return CType { name, form: CTypeForm::Registered(u32::MAX), itemsize, align: 1 },
            _ => {}
        }
        let kind = dtype.typestr().chars().nth(1).unwrap_or('V');
        CType::numeric_type(dtype.c_type(), kind, dtype.itemsize())
    }
}
