//! Instructions of a compiled kernel in words, for reports.

use rtcg_cuda_sys::quoted_source;
use rtcg_ptx::ast::{Module, SourceLine, Span};
use rtcg_ptx::opencl_launch::record_of;
use rtcg_vgpu_exec::{InstructionLocation, SourceMap};
use rtcg_vgpu_jit::{InstructionSite, JitKernel};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The longest line of the source that a report shows.
const MAX_SOURCE_TEXT: usize = 120;
/// The longest instruction text that a report shows.
const MAX_INSTRUCTION_TEXT: usize = 200;

pub(super) struct KernelSourceMap {
    module: Arc<Module>,
    compiled: JitKernel,
    text_hash: OnceLock<u64>,
}

impl KernelSourceMap {
    pub(super) fn new(module: Arc<Module>, compiled: JitKernel) -> KernelSourceMap {
        KernelSourceMap { module, compiled, text_hash: OnceLock::new() }
    }

    fn describe_site(&self, site: InstructionSite) -> InstructionLocation {
        let source = site.line.and_then(|l| self.source_file_and_line(l));
        InstructionLocation {
            function: site.function,
            instruction: span_text(&self.module.source, site.span),
            ptx_line: span_line_number(&self.module.source, site.span),
            source_text: source.as_ref().and_then(|(file, line)| self.source_line(file, *line)),
            source,
            lanes: site.lanes,
            is_store: site.is_store,
            access_bytes: site.access_bytes,
        }
    }

    fn source_file_and_line(&self, line: SourceLine) -> Option<(String, u32)> {
        let file = self.module.files.get(line.file as usize)?;
        let file = file.strip_prefix(quoted_source::IN_MEMORY_PREFIX).unwrap_or(file);
        Some((file.to_owned(), line.line))
    }

    /// The text of a line: from the PTX's comments, or of a file.
    fn source_line(&self, file: &str, line: u32) -> Option<String> {
        let quoted = quoted_source::find_line(&self.module.source, file, line).map(str::to_owned);
        let of_file =
            || std::fs::read_to_string(file).ok()?.lines().nth((line as usize).checked_sub(1)?).map(str::to_owned);
        let text = quoted.or_else(of_file)?;
        Some(text.trim().chars().take(MAX_SOURCE_TEXT).collect())
    }
}

impl SourceMap for KernelSourceMap {
    fn contains_pc(&self, pc: usize) -> bool {
        self.compiled.contains_pc(pc)
    }
    fn lookup_pc(&self, pc: usize) -> Option<InstructionLocation> {
        self.compiled.site_of_pc(pc).map(|s| self.describe_site(s))
    }
    fn lookup_site(&self, number: u32) -> Option<InstructionLocation> {
        self.compiled.site_by_number(number).map(|s| self.describe_site(s))
    }
    fn opencl_record(&self, kernel: &str) -> Option<u32> {
        let function = self.module.functions.iter().find(|function| function.entry && &*function.name == kernel)?;
        record_of(function).map(|record| record.offset)
    }
    fn text_hash(&self) -> u64 {
        *self.text_hash.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.module.source.hash(&mut hasher);
            hasher.finish()
        })
    }
}

/// The text of a span on one line.
fn span_text(source: &str, span: Span) -> String {
    let text = source.get(span.start as usize..span.end as usize).unwrap_or("");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(MAX_INSTRUCTION_TEXT).collect()
}

/// Line number of a span, from 1.
pub(super) fn span_line_number(source: &str, span: Span) -> u32 {
    let before = source.as_bytes().get(..span.start as usize).unwrap_or_default();
    before.iter().filter(|&&b| b == b'\n').count() as u32 + 1
}
