//! The generator behind `ElementwiseKernel`: it turns a C snippet over `i` into a kernel that is specialised for the
//! memory layout of its arrays.
//!
//! One description gives three forms. *Flat*: every array is addressed by the pointer that the user declared. *Packed*:
//! arrays whose elements the snippet accesses only as `x[i]` are read and written in vectors of up to 16 bytes; inside
//! the snippet such an array is a proxy of the same name whose `operator[]` returns the element in registers.
//! *Walked*: arrays of any layout, broadcast to one shape, by strides or through tiles, with proxies that have the
//! element's address. The loops of the last two are those of array operations, with the snippet as their leaf. The
//! snippet's text is never edited, and the proxies shadow the parameters, so a snippet cannot access an element in a
//! way that the analysis missed, except through a macro; snippets with macros of their own get the flat form.

use crate::array::element_loops::{ElementLoops, LoopArray};
use crate::array::{AccessPattern, OperandKind};
use crate::c_declarations::{Argument, ArgumentError, check_names};
use crate::snippet::{self, ControlFlow, ElementUse};
use std::fmt::Write;

/// How a kernel finds its elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum IndexingMode {
    /// `i` runs over `0..n`, or over a `long` range if `ranged`.
    Flat {
        /// Parameters `long start, long stop, long step` in place of `n`.
        ranged: bool,
    },
    /// `pack_size` elements at a time.
    Packed {
        /// Elements per thread and step; a power of two.
        pack_size: usize,
    },
    /// Arrays of any strides.
    Walked {
        /// How indices become addresses; not flat.
        pattern: AccessPattern,
        /// For each argument whether it is walked over; others stay pointers.
        walked: Vec<bool>,
    },
}

/// An elementwise kernel as the user describes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ElementwiseSnippet {
    /// Name of the kernel.
    pub name: String,
    /// Parameters.
    pub arguments: Vec<Argument>,
    /// Statements executed for each `i`.
    pub operation: String,
    /// Source before the kernel.
    pub preamble: String,
    /// Statements before the loop.
    pub loop_prep: String,
    /// Statements after the loop.
    pub after_loop: String,
}

/// What the text of a snippet says about its kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetAnalysis {
    /// How each argument is used; values count as read.
    pub uses: Vec<ElementUse>,
    /// Elements that a thread should process at a time; 1 if the packed form is not allowed.
    pub pack_size: usize,
    /// Whether proxies may replace the arrays, because the snippet's own text shows all accesses.
    pub can_replace_arrays_with_proxies: bool,
    /// Whether two arrays may share memory although elements are held in registers, because a single statement computes
    /// the whole element before it stores it.
    pub allows_aliasing: bool,
    /// Whether more of `i` is used than the elements `x[i]`, so that it must count elements in order.
    pub counts_elements: bool,
    /// Whether an element may be left early, so that not every thread reaches what follows the snippet.
    pub jumps: bool,
}

impl SnippetAnalysis {
    /// The arguments that a kernel walks over, in the order of its structure of strides: first one that is written.
    pub fn walk_order(&self, walked: &[bool]) -> Vec<usize> {
        let mut order: Vec<_> = (0..walked.len()).filter(|&at| walked[at]).collect();
        if let Some(first) = order.iter().position(|&at| self.uses[at].is_written()) {
            order[..=first].rotate_right(1);
        }
        order
    }
}

/// Default number of threads per block.
pub const BLOCK_THREADS: u32 = 256;

/// What `i` is in generated kernels.
pub(crate) const INDEX_NAME: (&str, &str) = ("i", "the index of the element");
/// What `n` is in generated kernels.
pub(crate) const SIZE_NAME: (&str, &str) = ("n", "the number of elements");

impl ElementwiseSnippet {
    /// Checks that no parameter has the name of another or of the index. `n`, as in PyCUDA, is a parameter's in the form
    /// for a range only; see [`ElementwiseSnippet::check_names_for`].
    ///
    /// # Errors
    /// When a name is taken.
    pub fn check_parameter_names(&self) -> Result<(), ArgumentError> {
        check_names(&self.arguments, &[INDEX_NAME])
    }

    /// Checks that the kernel of this form has no parameter whose name it needs itself.
    ///
    /// # Errors
    /// When a name is taken.
    pub fn check_names_for(&self, access: &IndexingMode) -> Result<(), ArgumentError> {
        let range_names = ["start", "stop", "step"].map(|name| (name, "a part of the range"));
        match access {
            IndexingMode::Flat { ranged: true } => check_names(&self.arguments, &range_names),
            _ => check_names(&self.arguments, &[SIZE_NAME]),
        }
    }

    pub(crate) fn element_uses(&self) -> Vec<ElementUse> {
        let references = self.preamble.contains('&') || self.preamble.contains("#include");
        let one = |a: &Argument| {
            if !a.is_vector {
                return ElementUse::Read;
            }
            let around = [&self.loop_prep, &self.after_loop].iter().any(|text| snippet::mentions_name(text, &a.name));
            match snippet::classify_element_use(&self.operation, &a.name, references) {
                _ if around => ElementUse::Other,
                ElementUse::Changed if a.is_const => ElementUse::Read,
                found => found,
            }
        };
        self.arguments.iter().map(one).collect()
    }

    /// What the text says about kernels.
    pub fn analyze(&self) -> SnippetAnalysis {
        let uses = self.element_uses();
        let ControlFlow { changes_index, has_directives, jumps, single_statement } =
            snippet::analyze_control_flow(&self.operation);
        let user_headers = self.preamble.contains("#include \"");
        let macros = self.preamble.contains("#define") || self.preamble.contains("# define");
        let can_replace_arrays_with_proxies = !(changes_index || has_directives || macros || user_headers);
        let named = || self.arguments.iter().zip(&uses).filter(|(a, used)| a.is_vector && **used != ElementUse::Unused);
        let is_indexed_freely = uses.contains(&ElementUse::Other);
        let pack_size = match can_replace_arrays_with_proxies && !jumps && !is_indexed_freely {
            true => pack_size(named().map(|(a, _)| a.ctype.itemsize)),
            false => 1,
        };
        let is_array = |name: &str| named().any(|(a, _)| a.name == name);
        SnippetAnalysis {
            pack_size,
            can_replace_arrays_with_proxies,
            allows_aliasing: single_statement && uses.iter().filter(|used| used.is_written()).count() <= 1,
            counts_elements: is_indexed_freely || !snippet::indexes_only(&self.operation, is_array),
            jumps,
            uses,
        }
    }

    /// The kernel as CUDA C++. Its parameters are the arguments in order, and then: `unsigned long n` (flat, packed,
    /// walked), for a walked form the structure of [`IndexSpace`](crate::array::IndexSpace) with the arrays of
    /// [`SnippetAnalysis::walk_order`], or `long start, long stop, long step` (ranged).
    pub fn source(&self, access: &IndexingMode) -> String {
        self.source_for_block(access, BLOCK_THREADS)
    }

    /// [`ElementwiseSnippet::source`] for blocks of at most this many threads.
    pub fn source_for_block(&self, access: &IndexingMode, block: u32) -> String {
        let mut out = String::new();
        self.emit_headers_and_preamble(&mut out, Some(access));
        let declarations: Vec<_> = self.arguments.iter().map(Argument::declarator).collect();
        let parameters: Vec<_> = declarations.iter().map(String::as_str).chain([access.last_parameters()]).collect();
        // The flat form is launched by hand too, with any block.
        let bounds = match access {
            IndexingMode::Flat { .. } => String::new(),
            _ => format!("__launch_bounds__({block}) "),
        };
        let parameters = parameters.join(", ");
        let _ = write!(out, "extern \"C\" __global__ void {bounds}{}({parameters})\n{{\n", self.name);
        self.emit_pycuda_index_names(&mut out);
        emit_snippet(&mut out, "loop_prep", &self.loop_prep, ";");
        self.emit_loop(&mut out, access, 1, &|out| emit_snippet(out, "operation", &self.operation, ";"));
        emit_snippet(&mut out, "after_loop", &self.after_loop, ";");
        out.push_str("}\n");
        with_line_numbers(out)
    }

    /// The loop over `i`, with `body` where the snippet goes; arrays have the names that the user gave them. Packs may
    /// be fetched `ahead` of the element where nothing is stored.
    pub(crate) fn emit_loop(&self, out: &mut String, access: &IndexingMode, ahead: usize, body: EmitBody<'_>) {
        match access {
            IndexingMode::Flat { ranged: false } => emit_flat_loop(out, body),
            IndexingMode::Flat { ranged: true } => emit_ranged_loop(out, body),
            IndexingMode::Packed { pack_size } => {
                let moved = self.arguments.iter().zip(self.element_uses());
                let moved: Vec<_> = moved.map(|(a, used)| a.is_vector && used != ElementUse::Unused).collect();
                self.emit_walk(out, AccessPattern::Flat(*pack_size as u8), &moved, ahead, body);
            }
            IndexingMode::Walked { pattern, walked } => self.emit_walk(out, *pattern, walked, ahead, body),
        }
    }

    /// The loops of array operations, whose leaf declares the index and proxies, and then has the snippet.
    fn emit_walk(&self, out: &mut String, pattern: AccessPattern, walked: &[bool], ahead: usize, body: EmitBody<'_>) {
        let analysis = self.analyze();
        let (uses, order) = (&analysis.uses, analysis.walk_order(walked));
        for (place, a) in order.iter().map(|&at| &self.arguments[at]).enumerate() {
            let constness = if a.is_const { "const " } else { "" };
            let _ = writeln!(out, "  {constness}{} *const {} = {};", a.ctype.name, loop_name(place), a.name);
        }
        let leaf = |index: &str, indent: &str, element: &dyn Fn(usize) -> String| {
            let mut text = self.leaf_declarations(&order, uses, index, indent, element);
            body(&mut text);
            (text, Vec::new())
        };
        out.push_str(&self.loops(&order, ahead).body(pattern, &leaf));
    }

    /// The index and the proxies that the snippet sees, of the elements of arrays in the order of the walk.
    pub(crate) fn leaf_declarations(
        &self,
        order: &[usize],
        uses: &[ElementUse],
        index: &str,
        indent: &str,
        element: &dyn Fn(usize) -> String,
    ) -> String {
        let mut text = format!("{indent}const size_t i = {index}; (void)i;\n");
        for (place, &at) in order.iter().enumerate() {
            let Argument { name, ctype, is_const, .. } = &self.arguments[at];
            let constness = if *is_const || uses[at] == ElementUse::Read { "const " } else { "" };
            let _ = match uses[at] {
                ElementUse::Other => writeln!(
                    text,
                    "{indent}const auto {name} = rtcg::by_strides({}, rtcg_dims.size, rtcg_dims.stride[{place}]);",
                    loop_name(place)
                ),
                _ => writeln!(
                    text,
                    "{indent}const rtcg::element<{constness}{t}> {name} = {{&{place}}};",
                    t = ctype.name,
                    place = element(place)
                ),
            };
        }
        text
    }

    /// The arrays of loops, in the order of the walk.
    pub(crate) fn loop_arrays(&self, order: &[usize], uses: &[ElementUse]) -> Vec<LoopArray> {
        let array = |(place, &at): (usize, &usize)| LoopArray {
            name: loop_name(place),
            element: self.arguments[at].ctype.name.clone().into(),
            access: OperandKind::Element,
            used: uses[at],
        };
        order.iter().enumerate().map(array).collect()
    }

    fn loops(&self, order: &[usize], ahead: usize) -> ElementLoops {
        let arrays = self.loop_arrays(order, &self.element_uses());
        ElementLoops { arrays, n_results: 0, prefix: "rtcg_", pack: "rtcg::pack", packs_ahead: ahead }
    }

    /// Headers, what a form needs (`None`: packs), and the user's preamble.
    pub(crate) fn emit_headers_and_preamble(&self, out: &mut String, access: Option<&IndexingMode>) {
        emit_includes(out, &self.arguments, &[&self.preamble, &self.operation, &self.loop_prep, &self.after_loop]);
        match access {
            Some(IndexingMode::Flat { .. }) => {}
            None | Some(IndexingMode::Packed { .. }) => out.push_str(PACK_SOURCE),
            Some(IndexingMode::Walked { .. }) => out.push_str(ELEMENT_PROXY_SOURCE),
        }
        if let Some(IndexingMode::Walked { pattern, walked }) = access
            && let Some(space) = pattern.index_space()
        {
            out.push_str(&self.loops(&self.analyze().walk_order(walked), 1).dims_struct(space, "rtcg_layout"));
        }
        emit_snippet(out, "preamble", &self.preamble, "");
    }

    /// Upstream's names for the thread's place; those that are used.
    pub(crate) fn emit_pycuda_index_names(&self, out: &mut String) {
        let texts = [&self.operation, &self.loop_prep, &self.after_loop];
        let is_declared = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        let used = |name: &str| !is_declared(name) && texts.iter().any(|text| snippet::mentions_name(text, name));
        if used("tid") {
            out.push_str("  const unsigned tid = threadIdx.x;\n");
        }
        if used("total_threads") {
            out.push_str("  const unsigned total_threads = gridDim.x * blockDim.x;\n");
        }
        if used("cta_start") {
            out.push_str("  const unsigned cta_start = blockDim.x * blockIdx.x;\n");
        }
    }
}

impl IndexingMode {
    /// The kernel's parameters after the user's.
    pub(crate) fn last_parameters(&self) -> &'static str {
        match self {
            IndexingMode::Flat { ranged: true } => "long start, long stop, long step",
            IndexingMode::Flat { .. } | IndexingMode::Packed { .. } => "unsigned long n",
            IndexingMode::Walked { .. } => "unsigned long n, const rtcg_layout rtcg_dims",
        }
    }
}

/// The pointer to an array in loops, whose proxy has its name.
pub(crate) fn loop_name(place: usize) -> String {
    format!("rtcg_x{place}")
}

/// The elements that fill 16 bytes of the narrowest array, and at most 32 of each.
fn pack_size(itemsizes: impl Iterator<Item = usize> + Clone) -> usize {
    let (Some(least), Some(most)) = (itemsizes.clone().min(), itemsizes.clone().max()) else { return 1 };
    let mut all = itemsizes;
    if all.all(|size| size.is_power_of_two() && size <= 16) { (16 / least).min(32 / most).max(1) } else { 1 }
}

/// Puts what is executed for each `i`.
pub(crate) type EmitBody<'a> = &'a dyn Fn(&mut String);

/// Blocks whose threads all have an element decide so once for all of them.
fn emit_flat_loop(out: &mut String, body: EmitBody<'_>) {
    out.push_str(
        "  const size_t rtcg_total = (size_t)gridDim.x * blockDim.x;\n\
         \x20 size_t rtcg_base = (size_t)blockIdx.x * blockDim.x;\n\
         \x20 for (; rtcg_base + blockDim.x <= n; rtcg_base += rtcg_total)\n  {\n    size_t i = rtcg_base + threadIdx.x;\n",
    );
    body(out);
    out.push_str("  }\n  if (rtcg_base + threadIdx.x < n)\n  {\n    size_t i = rtcg_base + threadIdx.x;\n");
    body(out);
    out.push_str("  }\n");
}

/// A range of either direction, as Python's.
fn emit_ranged_loop(out: &mut String, body: EmitBody<'_>) {
    out.push_str(
        "  const size_t rtcg_total = (size_t)gridDim.x * blockDim.x;\n\
         \x20 const size_t rtcg_first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n\
         \x20 const long rtcg_count = step < 0 ? (start - stop - step - 1) / -step : (stop - start + step - 1) / step;\n\
         \x20 for (long rtcg_k = (long)rtcg_first; rtcg_k < rtcg_count; rtcg_k += (long)rtcg_total)\n  {\n\
         \x20   long i = start + rtcg_k * step;\n",
    );
    body(out);
    out.push_str("  }\n");
}

/// Includes what the types and the snippets need.
pub(crate) fn emit_includes(out: &mut String, arguments: &[Argument], texts: &[&str]) {
    let mut headers: Vec<_> = arguments.iter().filter_map(|a| a.ctype.declaring_header()).collect();
    let words = [
        ("complex", "pycuda-complex.hpp"),
        ("half", "cuda_fp16.h"),
        ("__half", "cuda_fp16.h"),
        ("half2", "cuda_fp16.h"),
        ("__nv_bfloat16", "cuda_bf16.h"),
        ("nv_bfloat16", "cuda_bf16.h"),
    ];
    for (word, header) in words {
        if texts.iter().any(|text| snippet::mentions_name(text, word)) {
            headers.push(header);
        }
    }
    headers.sort_unstable();
    headers.dedup();
    for header in headers {
        let _ = writeln!(out, "#include <{header}>");
    }
}

/// Puts the user's text so that messages of the compiler count its lines and call it by `name`.
pub(crate) fn emit_snippet(out: &mut String, name: &str, text: &str, end: &str) {
    if text.trim().is_empty() {
        return;
    }
    // The end stands on a line of its own, because the text may close with a comment.
    let _ = writeln!(out, "#line 1 \"{name}\"\n{}\n{end}\n{OWN_LINE}", text.trim_end());
}

/// Where the generator's own text goes on, which [`with_line_numbers`] numbers.
const OWN_LINE: &str = "#line 0 \"kernel.cu\"";

/// The finished source, in which messages count the lines of the generator's text, too.
pub(crate) fn with_line_numbers(source: String) -> String {
    let mut text = String::with_capacity(source.len() + 64);
    for (at, line) in source.split_inclusive('\n').enumerate() {
        let _ = match line.trim_end_matches('\n') == OWN_LINE {
            true => writeln!(text, "#line {} \"kernel.cu\"", at + 2),
            false => write!(text, "{line}"),
        };
    }
    text
}

/// A pack is moved with the widest accesses its size allows.
pub(crate) const PACK_SOURCE: &str = "\
namespace rtcg {
template <int bytes> struct word { typedef int4 type; };
template <> struct word<8> { typedef int2 type; };
template <> struct word<4> { typedef int type; };
template <> struct word<2> { typedef short type; };
template <> struct word<1> { typedef char type; };
template <class T, int N> struct pack
{
  static const int bytes = N * sizeof(T), wide = bytes < 16 ? bytes : 16, words = bytes / wide;
  typedef typename word<wide>::type word_type;
  struct elements
  {
    alignas(wide) char raw[bytes];
    __device__ T &operator[](int k) { return reinterpret_cast<T *>(raw)[k]; }
    __device__ const T &operator[](int k) const { return reinterpret_cast<const T *>(raw)[k]; }
  } at;
  __device__ pack() {}
  __device__ pack(const pack &from) { *this = from; }
  __device__ pack &operator=(const pack &from)
  {
    #pragma unroll
    for (int w = 0; w < words; ++w)
      reinterpret_cast<word_type *>(at.raw)[w] = reinterpret_cast<const word_type *>(from.at.raw)[w];
    return *this;
  }
};
template <class T> struct element
{
  T *p;
  __device__ T &operator[](size_t) const { return *p; }
};
}
";

const ELEMENT_PROXY_SOURCE: &str = "\
namespace rtcg {
template <class T> struct element
{
  T *p;
  __device__ T &operator[](size_t) const { return *p; }
};
template <class T> struct as_bytes { typedef char type; };
template <class T> struct as_bytes<const T> { typedef const char type; };
template <class T> __device__ T *at(T *p, long offset)
{
  return reinterpret_cast<T *>(reinterpret_cast<typename as_bytes<T>::type *>(p) + offset);
}
template <class T, class S, class O, int D> struct strided
{
  T *p;
  const S (&size)[D];
  const O (&strides)[D];
  __device__ T &operator[](long i) const
  {
    long offset = 0;
    #pragma unroll
    for (int axis = D - 1; axis > 0; --axis) { offset += i % (long)size[axis] * strides[axis]; i /= (long)size[axis]; }
    return *at(p, offset + i * strides[0]);
  }
};
template <class T, class S, class O, int D>
__device__ strided<T, S, O, D> by_strides(T *p, const S (&size)[D], const O (&strides)[D]) { return {p, size, strides}; }
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_declarations::{TypeRegistry, parse_arguments};

    fn elementwise_snippet(arguments: &str, operation: &str) -> ElementwiseSnippet {
        let arguments = parse_arguments(arguments, &TypeRegistry::new()).unwrap();
        ElementwiseSnippet { name: "k".into(), arguments, operation: operation.into(), ..Default::default() }
    }

    #[test]
    fn the_snippet_keeps_its_own_line_numbers() {
        let source =
            elementwise_snippet("float *z", "z[i] =\n  undeclared").source(&IndexingMode::Flat { ranged: false });
        let lines: Vec<_> = source.lines().collect();
        let at = lines.iter().position(|line| *line == "#line 1 \"operation\"").unwrap();
        assert_eq!(lines[at + 2..at + 4], ["  undeclared", ";"]);
        // The line after a #line has the number it says.
        assert_eq!(lines[at + 4], format!("#line {} \"kernel.cu\"", at + 6));
    }

    #[test]
    fn packs_fill_sixteen_bytes() {
        assert_eq!(elementwise_snippet("float *z, float *x", "z[i] = x[i]").analyze().pack_size, 4);
        assert_eq!(elementwise_snippet("double *z, float *x", "z[i] = x[i]").analyze().pack_size, 4);
        assert_eq!(elementwise_snippet("unsigned char *z", "z[i] = i").analyze().pack_size, 16);
        assert_eq!(elementwise_snippet("double *z, char *x", "z[i] = x[i]").analyze().pack_size, 4);
        assert_eq!(elementwise_snippet("float3 *z", "z[i].x = 1").analyze().pack_size, 1);
    }

    #[test]
    fn snippets_that_access_other_elements_are_not_packed() {
        for operation in ["z[i] = x[i + 1]", "if (x[i]) return; z[i] = 1", "z[i] = x[i]; i += 1", "f(z + i)"] {
            assert_eq!(elementwise_snippet("float *z, float *x", operation).analyze().pack_size, 1, "{operation}");
        }
        let mut hidden = elementwise_snippet("float *z, float *x", "z[i] = NEXT");
        hidden.preamble = "#define NEXT x[i + 1]".into();
        assert_eq!(hidden.analyze().pack_size, 1);
    }

    #[test]
    fn only_arrays_that_are_read_are_loaded() {
        let source = elementwise_snippet("float *z, float *x, float *y", "z[i] = x[i]; y[i] += 1")
            .source(&IndexingMode::Packed { pack_size: 4 });
        let moved = |name: &str| {
            let (load, store) = (format!("{name}p = ((const rtcg::pack<float, 4> *){name})["), format!("] = {name}p;"));
            (source.contains(&load), source.contains(&store))
        };
        assert_eq!(
            ["rtcg_x0", "rtcg_x1", "rtcg_x2"].map(moved),
            [(false, true), (true, false), (true, true)],
            "{source}"
        );
    }
}
