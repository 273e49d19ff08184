//! Checks that indices ascend within each row: the number of positions at which an element does not ascend from the one
//! before it, less those at which a row begins, must be 0.
//!
//! Parameters: the number, to which the kernel adds; `indices`, `indptr`, elements, rows.

use super::THREADS;
use super::elements::{block_sum, c_type, element_functions};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// A kernel, as everything that decides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OrderSpec {
    /// `I32` or `I64`.
    pub(crate) index: DType,
    /// Elements of one place are out of order, too.
    pub(crate) is_strict: bool,
}

impl KernelSpec for OrderSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "csr_count_descents".into()
    }

    fn source(&self) -> String {
        let mut text = CUDA_PRELUDE.to_owned();
        let _ = writeln!(
            text,
            "typedef {} I;\nenum {{ THREADS = {THREADS} }};\n#define DESCENDS(k) (indices[k] {} indices[(k) - 1])",
            c_type(self.index),
            if self.is_strict { "<=" } else { "<" }
        );
        text.push_str(&element_functions("N", DType::I64));
        text.push_str(&block_sum("N", THREADS));
        text.push_str(SOURCE);
        text
    }
}

const SOURCE: &str = "\
RT_KERNEL csr_count_descents(RT_GLOBAL unsigned long long *number, RT_GLOBAL const I *indices, RT_GLOBAL const I *indptr, long long count, long long rows)
{
  const long long step = (long long)RT_GROUP_COUNT * THREADS, first = RT_GROUP_ID * (long long)THREADS + RT_LOCAL_ID;
  long long found = 0;
  for (long long k = first + 1; k < count; k += step) found += DESCENDS(k);
  for (long long row = first; row < rows; row += step) {
    const long long k = indptr[row];
    if (k > 0 && k < indptr[row + 1]) found -= DESCENDS(k);
  }
  found = N_block_sum(found);
  if (RT_LOCAL_ID == 0 && found != 0) RT_ATOMIC_ADD(number, (unsigned long long)found);
}
";
