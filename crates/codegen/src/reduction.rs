//! The generator of reductions: combines the values of `map_expr` over `i` by `reduce_expr` over `a` and `b`.
//!
//! *Full* reductions fold each thread's elements, then each block's threads, then the blocks' results; *axis*
//! reductions assign a group of threads to each output, and split long runs over blocks. Both take one launch; see
//! `block_reduce.rs`.
//!
//! The order in which elements are combined is undefined: `reduce_expr` must be associative and commutative, and
//! `neutral` its neutral element.

use crate::array::ReduceShape;
use crate::array::reduce_loops::ReduceLoops;
pub use crate::block_reduce::REDUCE_THREADS;
use crate::block_reduce::{BLOCK_REDUCE_SOURCE, MAX_SERIAL_TERMS};
use crate::c_declarations::{Argument, ArgumentError, CType, CTypeForm, check_names};
use crate::pointwise::{
    ElementwiseSnippet, EmitBody, INDEX_NAME, IndexingMode, SIZE_NAME, emit_snippet, loop_name, with_line_numbers,
};
use std::fmt::Write;

/// A reduction as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReductionSnippet {
    /// Name of the kernel.
    pub name: String,
    /// Parameters.
    pub arguments: Vec<Argument>,
    /// Type of the result and of all intermediate values.
    pub out: CType,
    /// The neutral element, a C expression.
    pub neutral: String,
    /// Combines `a` and `b`.
    pub reduce_expr: String,
    /// The value of element `i`.
    pub map_expr: String,
    /// Source before the kernel.
    pub preamble: String,
}

impl ReductionSnippet {
    /// Checks that no parameter has the name of another or one that the kernel defines.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn check_parameter_names(&self) -> Result<(), ArgumentError> {
        check_names(&self.arguments, &[INDEX_NAME, SIZE_NAME])
    }

    /// Packs of each array that a thread fetches before it combines the first of them.
    fn prefetched_pack_count(&self, pack_size: usize) -> usize {
        const IN_FLIGHT_BYTES: usize = 64;
        let bytes: usize = self.arguments.iter().filter(|a| a.is_vector).map(|a| a.ctype.itemsize * pack_size).sum();
        (IN_FLIGHT_BYTES / bytes.max(1)).clamp(1, 4)
    }

    /// The map expression as an elementwise snippet, which determines how arrays may be accessed.
    pub fn map_as_elementwise(&self) -> ElementwiseSnippet {
        ElementwiseSnippet {
            name: self.name.clone(),
            arguments: self.arguments.iter().map(|a| Argument { is_const: a.is_vector, ..a.clone() }).collect(),
            operation: self.map_expr.clone(),
            preamble: self.preamble.clone(),
            ..ElementwiseSnippet::default()
        }
    }

    /// The source of the kernel that reduces everything to one value. Parameters: the result's address, the arguments,
    /// what [`ElementwiseSnippet::source`] adds for this access, then an array of one value per block and the address
    /// of the counters. There must be no more blocks than counters; the launch chooses whether they `gather` and how
    /// many threads a block has (a multiple of 32).
    pub fn full_reduction_source(&self, access: &IndexingMode, gather: bool, block: u32) -> String {
        let map = self.map_as_elementwise();
        let mut out = String::new();
        self.emit_headers_and_preamble(&mut out, &map, Some(access));
        self.emit_signature(
            &mut out,
            block,
            &[access.last_parameters(), "rtcg_out_type *rtcg_partials", "unsigned *rtcg_tickets"],
        );
        out.push_str("{\n");
        map.emit_pycuda_index_names(&mut out);
        self.emit_reduce_lambda(&mut out);
        // The completion counter is incremented where no thread waits for it.
        let _ = write!(
            out,
            "  constexpr bool rtcg_gathers = {gather} && rtcg::flagged_values<rtcg_out_type>::fits;\n\
             \x20 unsigned rtcg_drawn = 0;\n\
             \x20 if (rtcg_gathers && gridDim.x > 1 && threadIdx.x == 0) rtcg_drawn = atomicInc(rtcg_tickets, gridDim.x - 1);\n\
             \x20 rtcg_out_type rtcg_acc = rtcg_neutral;\n"
        );
        let element = |out: &mut String| {
            self.emit_accumulate_statement(out);
            self.emit_cascade_step(out, "rtcg_k", last_index_of_step(access));
        };
        self.emit_cascade(&mut out, "rtcg_k");
        match access {
            IndexingMode::Flat { .. } => self.emit_chunked_loop(&mut out, block, &element),
            IndexingMode::Packed { pack_size } => {
                map.emit_loop(&mut out, access, self.prefetched_pack_count(*pack_size), &element);
            }
            IndexingMode::Walked { .. } => map.emit_loop(&mut out, access, 1, &element),
        }
        self.emit_cascade_total(&mut out);
        let _ = writeln!(out, "  constexpr int rtcg_threads = {block};");
        out.push_str(FULL_REDUCTION_EPILOGUE);
        with_line_numbers(out)
    }

    /// The source of the kernel that reduces over some axes; the loops are those of arrays. `walked` says which
    /// arguments are arrays that it walks over. Parameters: the result's address, the arguments, and what
    /// [`ReduceShape`] says, where the index is an operand behind the arrays if the snippet counts elements.
    pub fn axis_reduction_source(&self, shape: &ReduceShape, walked: &[bool]) -> String {
        let map = self.map_as_elementwise();
        let analysis = map.analyze();
        let order = analysis.walk_order(walked);
        let loops = ReduceLoops {
            shape,
            arrays: map.loop_arrays(&order, &analysis.uses),
            has_index: analysis.counts_elements,
            out: "rtcg_out_type",
            combiner: "rtcg_combine",
            prefix: "rtcg_",
            pack: "rtcg::pack",
        };
        let mut out = String::new();
        self.emit_headers_and_preamble(&mut out, &map, None);
        let _ = writeln!(out, "typedef rtcg_out_type rtcg_A;\n{}", loops.dims_structs());
        let declared: String = self.arguments.iter().map(|a| a.declarator() + ", ").collect();
        let _ = write!(
            out,
            "extern \"C\" __global__ void __launch_bounds__({}) {}({})\n{{\n\
             \x20 const unsigned long n = rtcg_n_red; (void)n;\n",
            shape.threads,
            self.name,
            loops.parameters(&declared)
        );
        for (place, &at) in order.iter().enumerate() {
            let name = &self.arguments[at].name;
            let _ = writeln!(out, "  const char *const {} = (const char *){name};", loop_name(place));
        }
        self.emit_reduce_lambda(&mut out);
        out.push_str(
            "  auto rtcg_start = [&]() -> rtcg_out_type { return rtcg_neutral; };\n\
             \x20 auto rtcg_finish = [](const rtcg_out_type &a, unsigned long long) { return a; };\n",
        );
        let leaf = |_: &str, indent: &str, element: &dyn Fn(usize) -> String| {
            let index = if loops.has_index { loops.index() } else { "0".into() };
            let mut text = map.leaf_declarations(&order, &analysis.uses, &index, indent, element);
            self.emit_accumulate_statement(&mut text);
            text
        };
        out.push_str(&loops.body(&leaf));
        with_line_numbers(out)
    }

    fn emit_headers_and_preamble(&self, out: &mut String, map: &ElementwiseSnippet, access: Option<&IndexingMode>) {
        let result = Argument::vector_arg(self.out.clone(), "rtcg_out");
        crate::pointwise::emit_includes(out, &[result], &[&self.reduce_expr, &self.neutral]);
        map.emit_headers_and_preamble(out, access);
        out.push_str(BLOCK_REDUCE_SOURCE);
        let _ = writeln!(out, "typedef {} rtcg_out_type;", self.out.name);
    }

    fn emit_signature(&self, out: &mut String, block: u32, last: &[&str]) {
        let declared: Vec<_> = self.arguments.iter().map(Argument::declarator).collect();
        let parameters: Vec<_> = std::iter::once("rtcg_out_type *rtcg_out")
            .chain(declared.iter().map(String::as_str))
            .chain(last.iter().copied())
            .collect();
        let _ = writeln!(
            out,
            "extern \"C\" __global__ void __launch_bounds__({block}) {}({})",
            self.name,
            parameters.join(", ")
        );
    }

    /// The neutral element, and the function that combines two values. It may use the arguments.
    fn emit_reduce_lambda(&self, out: &mut String) {
        out.push_str("  const rtcg_out_type rtcg_neutral =\n");
        emit_snippet(out, "neutral", &self.neutral, ";");
        out.push_str("  auto rtcg_combine = [&](rtcg_out_type a, rtcg_out_type b) -> rtcg_out_type { return (\n");
        emit_snippet(out, "reduce_expr", &self.reduce_expr, "); };");
    }

    /// Blocks take chunks of eight elements per thread; only the last one looks at each element's index.
    fn emit_chunked_loop(&self, out: &mut String, block: u32, element: EmitBody<'_>) {
        let chunk = CHUNK_TERMS * block;
        let _ = write!(
            out,
            "  for (size_t rtcg_base = (size_t)blockIdx.x * {chunk}; rtcg_base < n; rtcg_base += (size_t)gridDim.x * {chunk})\n  {{\n\
             \x20   if (rtcg_base + {chunk} <= n)\n    {{\n\
             \x20     #pragma unroll\n\
             \x20     for (unsigned rtcg_k = 0; rtcg_k < {CHUNK_TERMS}; ++rtcg_k)\n      {{\n\
             \x20       const size_t i = rtcg_base + threadIdx.x + rtcg_k * {block};\n",
        );
        element(out);
        let _ = write!(
            out,
            "      }}\n    }}\n    else for (size_t i = rtcg_base + threadIdx.x; i < n; i += {block})\n    {{\n"
        );
        element(out);
        out.push_str("    }\n  }\n");
    }

    fn emit_accumulate_statement(&self, out: &mut String) {
        out.push_str("    rtcg_acc = rtcg_combine(rtcg_acc, (rtcg_out_type)(\n");
        emit_snippet(out, "map_expr", &self.map_expr, "));");
    }

    /// Whether the results of few elements are combined by levels: where they can be rounded.
    pub fn is_cascaded(&self) -> bool {
        !matches!(self.out.form, CTypeForm::Number('b' | 'i' | 'u'))
    }

    /// The levels, and the index within a step, which loops hide by theirs.
    fn emit_cascade(&self, out: &mut String, index: &str) {
        if self.is_cascaded() {
            let _ = writeln!(
                out,
                "  rtcg::cascade<rtcg_out_type> rtcg_sums(rtcg_neutral);\n\
                 \x20 unsigned rtcg_steps = 0;\n\
                 \x20 const int {index} = -1; (void){index};"
            );
        }
    }

    /// Behind an element: hands on what a thread has combined, at the end of so many steps, in which the last element
    /// has the `index` `last`.
    fn emit_cascade_step(&self, out: &mut String, index: &str, last: isize) {
        if self.is_cascaded() {
            let steps = MAX_SERIAL_TERMS / (last + 1).max(1) as usize;
            let _ = writeln!(
                out,
                "    if ((int){index} == {last} && ++rtcg_steps % {steps} == 0) {{ \
                 rtcg_sums.push(rtcg_acc, rtcg_neutral, rtcg_combine); rtcg_acc = rtcg_neutral; }}"
            );
        }
    }

    fn emit_cascade_total(&self, out: &mut String) {
        if self.is_cascaded() {
            out.push_str("  rtcg_acc = rtcg_combine(rtcg_sums.total(rtcg_combine), rtcg_acc);\n");
        }
    }
}

/// Elements that a thread takes from a chunk.
const CHUNK_TERMS: u32 = 8;

/// The largest index within a step of a loop with this access; -1 where it has none.
fn last_index_of_step(access: &IndexingMode) -> isize {
    match access {
        IndexingMode::Flat { .. } => CHUNK_TERMS as isize - 1,
        IndexingMode::Packed { pack_size } => *pack_size as isize - 1,
        IndexingMode::Walked { .. } => -1,
    }
}

/// From the threads' values to the result.
const FULL_REDUCTION_EPILOGUE: &str = "\
  rtcg_acc = rtcg::block_reduce<rtcg_threads>(rtcg_acc, rtcg_combine);
  if (gridDim.x > 1)
  {
    if constexpr (rtcg_gathers)
    {
      if (!rtcg::gather_blocks<rtcg_threads>(rtcg_acc, rtcg_neutral, rtcg_tickets, 0, blockIdx.x, gridDim.x, rtcg_drawn, rtcg_combine)) return;
    }
    else
    {
      if (threadIdx.x == 0) rtcg_partials[blockIdx.x] = rtcg_acc;
      if (!rtcg::is_last_block(rtcg_tickets, gridDim.x)) return;
      rtcg_acc = rtcg_neutral;
      for (unsigned rtcg_b = threadIdx.x; rtcg_b < gridDim.x; rtcg_b += rtcg_threads)
        rtcg_acc = rtcg_combine(rtcg_acc, rtcg_partials[rtcg_b]);
      rtcg_acc = rtcg::block_reduce<rtcg_threads>(rtcg_acc, rtcg_combine);
    }
  }
  if (threadIdx.x == 0) *rtcg_out = rtcg_acc;
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_declarations::{TypeRegistry, parse_arguments};

    fn dot_snippet() -> ReductionSnippet {
        let registry = TypeRegistry::new();
        ReductionSnippet {
            name: "dot".into(),
            arguments: parse_arguments("float *x, const float *y, float scale", &registry).unwrap(),
            out: registry.lookup("double").unwrap(),
            neutral: "0".into(),
            reduce_expr: "a + b".into(),
            map_expr: "scale * x[i] * y[i]".into(),
            preamble: String::new(),
        }
    }

    #[test]
    fn inputs_are_read_in_packs() {
        assert_eq!(dot_snippet().map_as_elementwise().analyze().pack_size, 4);
        let source = dot_snippet().full_reduction_source(&IndexingMode::Packed { pack_size: 4 }, true, 256);
        assert!(
            source.contains("const rtcg::pack<float, 4> rtcg_x0p = ((const rtcg::pack<float, 4> *)rtcg_x0)[rtcg_p];"),
            "{source}"
        );
        assert!(
            source.contains("void __launch_bounds__(256) dot(rtcg_out_type *rtcg_out, float *x, const float *y"),
            "{source}"
        );
    }

    #[test]
    fn the_index_is_an_operand_where_it_is_counted() {
        let walked = [true, true, false];
        let plain = dot_snippet().axis_reduction_source(&ReduceShape::PLAIN, &walked);
        assert!(plain.contains("const size_t i = 0;") && plain.contains("int stride[2][1]; };"), "{plain}");
        let counted = ReductionSnippet { map_expr: "x[i] * y[i] * i".into(), ..dot_snippet() };
        let counted = counted.axis_reduction_source(&ReduceShape::PLAIN, &walked);
        assert!(counted.contains("const size_t i = rtcg_k3 + rtcg_r2;") && counted.contains("int stride[4][1]; };"));
    }
}
