//! The generator behind `ElementwiseKernel`: it turns a C snippet over `i` into a kernel that is specialised for the
//! memory layout of its arrays.
//!
//! One description gives three forms. *Flat*: every array is addressed by the pointer that the user declared. *Packed*:
//! arrays whose elements the snippet accesses only as `x[i]` are read and written in vectors of up to 16 bytes; inside
//! the snippet such an array is a proxy of the same name whose `operator[]` returns the element in registers.
//! *Strided*: arrays of any layout, broadcast to one shape, with proxies that compute the element's address. The
//! snippet's text is never edited, and the proxies shadow the parameters, so a snippet cannot access an element in a
//! way that the analysis missed, except through a macro; snippets with macros of their own get the flat form.

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
    /// Arrays of `ndim` dimensions and any strides; `strided` marks those that the snippet accesses through proxies.
    Strided {
        /// Dimensions after joining.
        ndim: usize,
        /// For each argument whether it takes part; others stay pointers.
        strided: Vec<bool>,
        /// `i` and the sizes fit into 32 bits, whose divisions are faster.
        small: bool,
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

    /// How the snippet uses each argument; values count as read.
    pub fn element_uses(&self) -> Vec<ElementUse> {
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

    /// Whether proxies may replace the arrays, because the snippet's own text shows all accesses.
    pub fn can_replace_arrays_with_proxies(&self) -> bool {
        let ControlFlow { changes_index, has_directives, .. } = snippet::analyze_control_flow(&self.operation);
        let user_headers = self.preamble.contains("#include \"");
        let macros = self.preamble.contains("#define") || self.preamble.contains("# define");
        !(changes_index || has_directives || macros || user_headers)
    }

    /// Elements that a thread should process at a time; 1 if the packed form is not allowed.
    pub fn pack_size(&self) -> usize {
        let uses = self.element_uses();
        let flow = snippet::analyze_control_flow(&self.operation);
        if !self.can_replace_arrays_with_proxies() || flow.jumps || uses.contains(&ElementUse::Other) {
            return 1;
        }
        let sizes: Vec<_> = self.packed_arguments(&uses).map(|a| a.ctype.itemsize).collect();
        let power = |size: &usize| size.is_power_of_two() && *size <= 16;
        let (Some(&least), Some(&most)) = (sizes.iter().min(), sizes.iter().max()) else { return 1 };
        if !sizes.iter().all(power) {
            return 1;
        }
        // At most 32 bytes of each array in registers.
        (16 / least).min(32 / most).max(1)
    }

    /// Whether two arrays may share memory although elements are held in registers, because a single statement computes
    /// the whole element before it stores it.
    pub fn allows_aliasing(&self) -> bool {
        let written =
            self.element_uses().iter().filter(|u| matches!(u, ElementUse::Assigned | ElementUse::Changed)).count();
        snippet::analyze_control_flow(&self.operation).single_statement && written <= 1
    }

    fn packed_arguments<'a>(&'a self, uses: &'a [ElementUse]) -> impl Iterator<Item = &'a Argument> {
        self.arguments.iter().zip(uses).filter(|(a, u)| a.is_vector && **u != ElementUse::Unused).map(|(a, _)| a)
    }

    /// The kernel as CUDA C++. Its parameters are the arguments in order, and then: `unsigned long n`
    /// (flat, packed), `long start, long stop, long step` (ranged), or the structure that
    /// [`strided_layout_bytes`] fills (strided).
    pub fn source(&self, access: &IndexingMode) -> String {
        self.source_for_block(access, BLOCK_THREADS)
    }

    /// [`ElementwiseSnippet::source`] for blocks of at most this many threads.
    pub fn source_for_block(&self, access: &IndexingMode, block: u32) -> String {
        let mut out = String::new();
        self.emit_headers_and_preamble(&mut out, access);
        let declarations: Vec<_> = self.arguments.iter().map(Argument::declarator).collect();
        let last = match access {
            IndexingMode::Flat { ranged: true } => "long start, long stop, long step",
            IndexingMode::Flat { .. } | IndexingMode::Packed { .. } => "unsigned long n",
            IndexingMode::Strided { .. } => "const rtcg::layout rtcg_l",
        };
        let parameters: Vec<_> = declarations.iter().map(String::as_str).chain([last]).collect();
        // The flat form is launched by hand too, with any block.
        let bounds = match access {
            IndexingMode::Flat { .. } => String::new(),
            _ => format!("__launch_bounds__({block}) "),
        };
        let parameters = parameters.join(", ");
        let _ = write!(out, "extern \"C\" __global__ void {bounds}{}({parameters})\n{{\n", self.name);
        self.emit_pycuda_index_names(&mut out, access);
        emit_snippet(&mut out, "loop_prep", &self.loop_prep, ";");
        self.emit_loop(&mut out, access, &|out| emit_snippet(out, "operation", &self.operation, ";"));
        emit_snippet(&mut out, "after_loop", &self.after_loop, ";");
        out.push_str("}\n");
        out
    }

    /// The loop over `i`, with `body` where the snippet goes; arrays have the names that the user gave them.
    pub(crate) fn emit_loop(&self, out: &mut String, access: &IndexingMode, body: EmitBody<'_>) {
        self.emit_thread_indices(out, access);
        match access {
            IndexingMode::Flat { ranged: false } => emit_flat_loop(out, body),
            IndexingMode::Flat { ranged: true } => emit_ranged_loop(out, body),
            IndexingMode::Packed { pack_size } => self.emit_packed_loop(out, *pack_size, 1, body),
            IndexingMode::Strided { ndim, strided, small } => self.emit_strided_loop(out, *ndim, strided, *small, body),
        }
    }

    /// How many threads there are, and which of them this one is.
    pub(crate) fn emit_thread_indices(&self, out: &mut String, access: &IndexingMode) {
        out.push_str("  const size_t rtcg_total = (size_t)gridDim.x * blockDim.x;\n");
        if *access != (IndexingMode::Flat { ranged: false }) {
            out.push_str("  const size_t rtcg_first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n");
        }
    }

    /// Headers, proxies and the user's preamble.
    pub(crate) fn emit_headers_and_preamble(&self, out: &mut String, access: &IndexingMode) {
        emit_includes(out, &self.arguments, &[&self.preamble, &self.operation, &self.loop_prep, &self.after_loop]);
        match access {
            IndexingMode::Flat { .. } => {}
            IndexingMode::Packed { .. } => out.push_str(PACK_SOURCE),
            IndexingMode::Strided { ndim, .. } => {
                out.push_str(ELEMENT_PROXY_SOURCE);
                let arrays = self.arguments.iter().filter(|a| a.is_vector).count().max(1);
                let _ = writeln!(
                    out,
                    "namespace rtcg {{ struct layout {{ unsigned long n; long shape[{ndim}]; long strides[{arrays}][{ndim}]; }}; }}"
                );
            }
        }
        emit_snippet(out, "preamble", &self.preamble, "");
    }

    /// Upstream's names for the thread's place; those that are used.
    pub(crate) fn emit_pycuda_index_names(&self, out: &mut String, access: &IndexingMode) {
        let texts = [&self.operation, &self.loop_prep, &self.after_loop];
        let is_declared = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        let used = |name: &str| !is_declared(name) && texts.iter().any(|text| snippet::mentions_name(text, name));
        if matches!(access, IndexingMode::Strided { .. }) {
            out.push_str("  const unsigned long n = rtcg_l.n;\n");
        }
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

    /// The loop over packs, with more than one fetched ahead if `ahead` says so; only where nothing is stored.
    pub(crate) fn emit_packed_loop(&self, out: &mut String, pack_size: usize, ahead: usize, body: EmitBody<'_>) {
        let uses = self.element_uses();
        let _ = writeln!(out, "  const size_t rtcg_packs = n / {pack_size};\n  size_t rtcg_p = rtcg_first;");
        if ahead > 1 {
            let _ = writeln!(
                out,
                "  for (; rtcg_p + {last} * rtcg_total < rtcg_packs; rtcg_p += {ahead} * rtcg_total)\n  {{",
                last = ahead - 1
            );
            for a in self.packed_arguments(&uses) {
                let _ = write!(
                    out,
                    "    rtcg::pack<{t}, {pack_size}> rtcg_all_{name}[{ahead}];\n    #pragma unroll\n\
                     \x20   for (int rtcg_u = 0; rtcg_u < {ahead}; ++rtcg_u)\n\
                     \x20     rtcg::load_no_allocate(rtcg_all_{name}[rtcg_u], reinterpret_cast<const rtcg::pack<{t}, {pack_size}> *>({name}) + rtcg_p + rtcg_u * rtcg_total);\n",
                    name = a.name,
                    t = a.ctype.name
                );
            }
            let _ = writeln!(out, "    #pragma unroll\n    for (int rtcg_u = 0; rtcg_u < {ahead}; ++rtcg_u)\n    {{");
            for a in self.packed_arguments(&uses) {
                let _ = writeln!(
                    out,
                    "    rtcg::pack<{}, {pack_size}> &rtcg_{name} = rtcg_all_{name}[rtcg_u];",
                    a.ctype.name,
                    name = a.name
                );
            }
            self.emit_pack_elements(out, pack_size, "(rtcg_p + rtcg_u * rtcg_total)", body);
            out.push_str("    }\n  }\n");
        }
        out.push_str("  for (; rtcg_p < rtcg_packs; rtcg_p += rtcg_total)\n  {\n");
        for (a, used) in self.arguments.iter().zip(&uses).filter(|(a, u)| a.is_vector && **u != ElementUse::Unused) {
            let (name, t) = (&a.name, &a.ctype.name);
            let _ = write!(out, "    rtcg::pack<{t}, {pack_size}> rtcg_{name};");
            if *used == ElementUse::Assigned {
                out.push('\n');
            } else {
                let _ = writeln!(out, " rtcg_{name}.load({name}, rtcg_p);");
            }
        }
        self.emit_pack_elements(out, pack_size, "rtcg_p", body);
        for (a, used) in self.arguments.iter().zip(&uses) {
            if a.is_vector && matches!(used, ElementUse::Assigned | ElementUse::Changed) {
                let _ = writeln!(out, "    rtcg_{0}.store({0}, rtcg_p);", a.name);
            }
        }
        let _ = write!(
            out,
            "  }}\n  for (size_t i = rtcg_packs * {pack_size} + rtcg_first; i < n; i += rtcg_total)\n  {{\n"
        );
        body(out);
        out.push_str("  }\n");
    }

    /// The elements of the packs `rtcg_NAME`, which are those at `place`.
    fn emit_pack_elements(&self, out: &mut String, pack_size: usize, place: &str, body: EmitBody<'_>) {
        let uses = self.element_uses();
        let _ = writeln!(out, "    #pragma unroll\n    for (int rtcg_k = 0; rtcg_k < {pack_size}; ++rtcg_k)\n    {{");
        let _ = writeln!(out, "      const size_t i = {place} * {pack_size} + rtcg_k; (void)i;");
        for (a, used) in self.arguments.iter().zip(&uses).filter(|(a, u)| a.is_vector && **u != ElementUse::Unused) {
            let constness = if *used == ElementUse::Read { "const " } else { "" };
            let (name, t) = (&a.name, &a.ctype.name);
            let _ = writeln!(out, "      const rtcg::element<{constness}{t}> {name} = {{&rtcg_{name}.at(rtcg_k)}};");
        }
        body(out);
        out.push_str("    }\n");
    }

    fn emit_strided_loop(&self, out: &mut String, ndim: usize, strided: &[bool], small: bool, body: EmitBody<'_>) {
        let uses = self.element_uses();
        let arrays: Vec<_> = self
            .arguments
            .iter()
            .zip(&uses)
            .zip(strided)
            .filter(|((a, u), strided)| a.is_vector && **strided && **u != ElementUse::Unused)
            .map(|((a, u), _)| {
                (a, *u, self.arguments.iter().filter(|x| x.is_vector).position(|x| x.name == a.name).unwrap_or(0))
            })
            .collect();
        for (a, _, _) in &arrays {
            let constness = if a.is_const { "const " } else { "" };
            let _ = writeln!(out, "  {constness}{} *const rtcg_{n} = {n};", a.ctype.name, n = a.name);
        }
        let index = if small { "unsigned" } else { "size_t" };
        out.push_str("  for (size_t i = rtcg_first; i < n; i += rtcg_total)\n  {\n");
        let _ = writeln!(out, "    {index} rtcg_rest = ({index})i;");
        for axis in (1..ndim).rev() {
            let _ = writeln!(
                out,
                "    const {index} rtcg_q{axis} = rtcg_rest / ({index})rtcg_l.shape[{axis}];\n\
                 \x20   const long rtcg_i{axis} = rtcg_rest - rtcg_q{axis} * ({index})rtcg_l.shape[{axis}]; rtcg_rest = rtcg_q{axis};"
            );
        }
        out.push_str("    const long rtcg_i0 = rtcg_rest;\n");
        for (a, used, at) in &arrays {
            let constness = if a.is_const { "const " } else { "" };
            let (name, t) = (&a.name, &a.ctype.name);
            if *used == ElementUse::Other {
                let _ = writeln!(
                    out,
                    "    const rtcg::strided<{constness}{t}, {ndim}> {name} = {{rtcg_{name}, rtcg_l.shape, rtcg_l.strides[{at}]}};"
                );
                continue;
            }
            let offset: Vec<_> = (0..ndim).map(|axis| format!("rtcg_i{axis} * rtcg_l.strides[{at}][{axis}]")).collect();
            let _ = writeln!(
                out,
                "    const rtcg::element<{constness}{t}> {name} = {{rtcg::at(rtcg_{name}, {})}};",
                offset.join(" + ")
            );
        }
        body(out);
        out.push_str("  }\n");
    }
}

/// Puts what is executed for each `i`.
pub(crate) type EmitBody<'a> = &'a dyn Fn(&mut String);

/// Blocks whose threads all have an element decide so once for all of them.
fn emit_flat_loop(out: &mut String, body: EmitBody<'_>) {
    out.push_str(
        "  size_t rtcg_base = (size_t)blockIdx.x * blockDim.x;\n\
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
        "  const long rtcg_count = step < 0 ? (start - stop - step - 1) / -step : (stop - start + step - 1) / step;\n\
         \x20 for (long rtcg_k = (long)rtcg_first; rtcg_k < rtcg_count; rtcg_k += (long)rtcg_total)\n  {\n\
         \x20   long i = start + rtcg_k * step;\n",
    );
    body(out);
    out.push_str("  }\n");
}

/// The bytes of the last parameter of a strided kernel; `strides` has a row for each array argument.
pub fn strided_layout_bytes(n: usize, shape: &[usize], strides: &[Vec<isize>]) -> Vec<u8> {
    let mut bytes = (n as u64).to_ne_bytes().to_vec();
    bytes.extend(shape.iter().flat_map(|&length| (length as i64).to_ne_bytes()));
    bytes.extend(strides.iter().flatten().flat_map(|&stride| (stride as i64).to_ne_bytes()));
    if strides.is_empty() {
        bytes.extend(shape.iter().flat_map(|_| 0i64.to_ne_bytes()));
    }
    bytes
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
    let _ = writeln!(out, "#line 1 \"{name}\"\n{}\n{end}", text.trim_end());
    let next = out.matches('\n').count() + 2;
    let _ = writeln!(out, "#line {next} \"kernel.cu\"");
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
  alignas(wide) char raw[bytes];
  __device__ T &at(int k) { return reinterpret_cast<T *>(raw)[k]; }
  __device__ void load(const void *p, size_t at)
  {
    #pragma unroll
    for (int w = 0; w < words; ++w)
      reinterpret_cast<word_type *>(raw)[w] = reinterpret_cast<const word_type *>(p)[at * words + w];
  }
  __device__ void store(void *p, size_t at) const
  {
    #pragma unroll
    for (int w = 0; w < words; ++w)
      reinterpret_cast<word_type *>(p)[at * words + w] = reinterpret_cast<const word_type *>(raw)[w];
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
template <class T, int D> struct strided
{
  T *p;
  const long *shape, *strides;
  __device__ T &operator[](long i) const
  {
    long offset = 0;
    #pragma unroll
    for (int axis = D - 1; axis > 0; --axis) { offset += i % shape[axis] * strides[axis]; i /= shape[axis]; }
    return *at(p, offset + i * strides[0]);
  }
};
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
        assert_eq!(elementwise_snippet("float *z, float *x", "z[i] = x[i]").pack_size(), 4);
        assert_eq!(elementwise_snippet("double *z, float *x", "z[i] = x[i]").pack_size(), 4);
        assert_eq!(elementwise_snippet("unsigned char *z", "z[i] = i").pack_size(), 16);
        assert_eq!(elementwise_snippet("double *z, char *x", "z[i] = x[i]").pack_size(), 4);
        assert_eq!(elementwise_snippet("float3 *z", "z[i].x = 1").pack_size(), 1);
    }

    #[test]
    fn snippets_that_access_other_elements_are_not_packed() {
        for operation in ["z[i] = x[i + 1]", "if (x[i]) return; z[i] = 1", "z[i] = x[i]; i += 1", "f(z + i)"] {
            assert_eq!(elementwise_snippet("float *z, float *x", operation).pack_size(), 1, "{operation}");
        }
        let mut hidden = elementwise_snippet("float *z, float *x", "z[i] = NEXT");
        hidden.preamble = "#define NEXT x[i + 1]".into();
        assert_eq!(hidden.pack_size(), 1);
    }

    #[test]
    fn only_arrays_that_are_read_are_loaded() {
        let source = elementwise_snippet("float *z, float *x, float *y", "z[i] = x[i]; y[i] += 1")
            .source(&IndexingMode::Packed { pack_size: 4 });
        assert!(!source.contains("rtcg_z.load") && source.contains("rtcg_z.store"), "{source}");
        assert!(source.contains("rtcg_x.load") && !source.contains("rtcg_x.store"), "{source}");
        assert!(source.contains("rtcg_y.load") && source.contains("rtcg_y.store"), "{source}");
    }
}
