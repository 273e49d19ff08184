//! Types by C name, with what the host must know to pass their values.

use rtcg_hal::DType;

/// How the bytes of a type are interpreted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CTypeForm {
    /// A number with a NumPy equivalent; the letter is NumPy's kind: `b`, `i`, `u`, `f` or `c`.
    Number(char),
    /// The upper half of a float32.
    BFloat16,
    /// A CUDA vector type: 1 to 4 components of a NumPy kind, named x y z w.
    Vector {
        /// NumPy's kind of a component.
        kind: char,
        /// How many components.
        components: u8,
    },
    /// A registered type; the number is the one that registration assigned.
    Registered(u32),
}

/// A type that kernel parameters can have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CType {
    /// Its spelling in kernels.
    pub name: String,
    /// How its bytes are interpreted.
    pub form: CTypeForm,
    /// Size of a value in bytes.
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

    /// The dtype of arrays of this type, if there is one.
    pub fn dtype(&self) -> Option<DType> {
        match self.form {
            CTypeForm::Number(kind) => DType::from_numpy(kind, self.itemsize).ok(),
            CTypeForm::BFloat16 => Some(DType::BF16),
            _ => u32::try_from(self.itemsize).ok().map(DType::Void),
        }
    }

    /// The dtype of its values, if they are numbers; `float2` and `double2` are complex ones.
    pub fn number(&self) -> Option<DType> {
        match (self.form, self.itemsize) {
            (CTypeForm::Vector { kind: 'f', components: 2 }, 8) => Some(DType::C64),
            (CTypeForm::Vector { kind: 'f', components: 2 }, 16) => Some(DType::C128),
            _ => self.dtype()?.number(),
        }
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
