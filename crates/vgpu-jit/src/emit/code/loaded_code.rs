//! A kernel's machine code in memory, and the way from program counters back to instructions.
#![allow(unsafe_code, reason = "an address of machine code becomes a function")]

use super::host_state::KernelHostState;
use super::image::MappedImage;
use super::relocations::RelocResolver;
use crate::emit::function::compile::{CompiledCodeImage, KernelImage, KernelSource, KernelWithInputs};
use crate::emit::function::out_of_line::SlowPathRequest;
use crate::simt::{instruction_sites, kernel_usage::SiteTable};
use crate::{InstructionSite, JitError, JitKernel};
use rtcg_ptx::ast::FuncId;
use rtcg_vgpu_abi::LaneSet;
use std::collections::HashMap;
use std::sync::Arc;

/// One part of a kernel in memory.
pub(crate) struct LoadedCode {
    placed: MappedImage,
    pub(crate) addresses: HashMap<FuncId, usize>,
    /// Start, end and site of pieces of machine code, by start.
    ranges: Vec<[u32; 3]>,
    /// Start and end of each function.
    functions: Vec<(u32, u32)>,
    pub(crate) requests: Vec<SlowPathRequest>,
}

impl LoadedCode {
    /// Puts a part into memory.
    pub(crate) fn new(part: CompiledCodeImage, targets: &RelocResolver<'_>) -> Result<LoadedCode, String> {
        let placed = MappedImage::new(&part.image, |link| targets.resolve_address(link))?;
        let starts = part.image.functions.iter().map(|&(start, _)| placed.address_of_offset(start));
        let addresses = part.ids.iter().copied().zip(starts).collect();
        Ok(LoadedCode {
            placed,
            addresses,
            ranges: part.ranges,
            functions: part.image.functions,
            requests: part.requests,
        })
    }

    fn contains_pc(&self, pc: usize) -> bool {
        let Some(at) = self.placed.offset_of_pc(pc) else { return false };
        self.functions.iter().any(|&(a, b)| (a..b).contains(&at))
    }

    fn site_number(&self, pc: usize) -> Option<u32> {
        let at = self.placed.offset_of_pc(pc)?;
        let i = self.ranges.partition_point(|r| r[0] <= at).checked_sub(1)?;
        let [_, end, site] = self.ranges[i];
        (at < end).then_some(site)
    }
}

/// The machine code of a kernel, its masked part as soon as it was needed.
pub(crate) struct KernelCode {
    host: Box<KernelHostState>,
    sites: SiteTable,
}

impl std::fmt::Debug for KernelCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelCode").finish_non_exhaustive()
    }
}

impl KernelCode {
    pub(crate) fn compile_masked_code(&self) {
        let _ = self.host.compile_masked_code();
    }
    pub(crate) fn contains_pc(&self, pc: usize) -> bool {
        self.host.loaded_code_versions().any(|part| part.contains_pc(pc))
    }
    pub(crate) fn site_number(&self, pc: usize) -> Option<u32> {
        self.host.loaded_code_versions().find_map(|part| part.site_number(pc))
    }
    pub(crate) fn site_by_number(&self, number: u32) -> Option<InstructionSite> {
        let (statement, lanes) = instruction_sites::decode_site(number);
        let mut site = self.sites.get_instruction_site(statement)?;
        site.lanes = match lanes {
            0..32 => LaneSet::Lane(lanes),
            32..36 => LaneSet::Chunk((lanes - 32) * 8),
            _ => LaneSet::Warp,
        };
        Some(site)
    }
}

/// Puts a kernel into memory.
pub(crate) fn link_into_memory(source: Arc<KernelSource>, kernel: KernelWithInputs) -> Result<JitKernel, JitError> {
    let fail = |why: String| source.kernel_error(why);
    let KernelWithInputs { image, masked, inputs } = kernel;
    let KernelImage { part, usage, suspends, shared, sites } = image;
    // Masked code that is there need not be made.
    let inputs = inputs.filter(|_| masked.is_none());
    let host = KernelHostState::new(Arc::clone(&source), inputs, &part.ids);
    let built = LoadedCode::new(part, &host.reloc_resolver(None)).map_err(fail)?;
    let built = host.set_outer_code(built);
    if let Some(masked) = masked {
        host.set_masked_code(masked).map_err(fail)?;
    }
    let entry = *built.addresses.get(&source.kernel).ok_or_else(|| fail("the kernel has no code".to_owned()))?;
    // SAFETY: the machine function was emitted with the signature of a kernel entry.
    let entry = unsafe { std::mem::transmute::<usize, rtcg_vgpu_abi::KernelEntry>(entry) };
    Ok(JitKernel {
        entry,
        host: std::ptr::from_ref(&*host) as usize,
        suspends,
        local_bytes_per_warp: usage.local_bytes,
        recursive: usage.recursive,
        stack_bytes: usage.stack_bytes,
        shared,
        code: KernelCode { host, sites },
    })
}
