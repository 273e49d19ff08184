//! Machine code that can be put into memory anywhere: bytes, the places in them that name something
//! ([`RelocTarget`]), and what belongs to them. [`CodeImageBuilder`] makes one of the functions that Cranelift has
//! compiled, [`MappedImage`] is one in memory.
#![allow(unsafe_code, reason = "maps memory that can be executed")]

use super::libcalls;
use super::relocations::RelocTarget;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExternalName, Function};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{CompiledCode, FinalizedRelocTarget};
use std::ptr::NonNull;

/// A place of eight bytes that is to hold an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relocation {
    /// Offset of the place.
    pub(crate) at: u32,
    pub(crate) link: RelocTarget,
    /// To be added to the address.
    pub(crate) addend: i64,
}

/// Code and its references.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CodeImage {
    pub(crate) bytes: Vec<u8>,
    pub(crate) references: Vec<Relocation>,
    /// Start and end of each function.
    pub(crate) functions: Vec<(u32, u32)>,
}

impl CodeImage {
    /// Whether other programs can use it.
    pub(crate) fn is_cacheable(&self) -> bool {
        !self.references.iter().any(|r| matches!(r.link, RelocTarget::UnlistedHostFunction(_)))
    }
}

/// A call between two functions of an image.
struct RelativeCall {
    at: u32,
    to: u32,
    addend: i64,
    kind: Reloc,
}

/// An image in the making.
#[derive(Default)]
pub(crate) struct CodeImageBuilder {
    image: CodeImage,
    near: Vec<RelativeCall>,
}

impl CodeImageBuilder {
    /// Adds constant bytes, which [`RelocTarget::ImageOffset`] leads to.
    pub(crate) fn add_constant_bytes(&mut self, bytes: &[u8]) -> Result<RelocTarget, String> {
        let at = self.end_offset()?;
        self.image.bytes.extend_from_slice(bytes);
        Ok(RelocTarget::ImageOffset(at))
    }

    fn end_offset(&self) -> Result<u32, String> {
        u32::try_from(self.image.bytes.len()).map_err(|_| "the machine code has more than 4 GiB".to_owned())
    }

    /// Adds a function, which [`RelocTarget::ImageFunction`] leads to with the number of those before it; where it starts.
    pub(crate) fn add_function(
        &mut self,
        code: &CompiledCode,
        f: &Function,
        isa: &dyn TargetIsa,
    ) -> Result<u32, String> {
        let align = u64::from(code.buffer.alignment)
            .max(u64::from(isa.function_alignment().minimum))
            .max(isa.symbol_alignment());
        let start = self.image.bytes.len().next_multiple_of(align as usize);
        self.image.bytes.resize(start, 0);
        let start = self.end_offset()?;
        self.image.bytes.extend_from_slice(code.code_buffer());
        let end = self.end_offset()?;
        self.image.functions.push((start, end));
        for r in code.buffer.relocs() {
            let FinalizedRelocTarget::ExternalName(name) = &r.target else {
                return Err(format!("code refers to {:?}", r.target));
            };
            let link = reloc_target_of_name(name, f).ok_or_else(|| format!("code refers to {name:?}"))?;
            let at = start + r.offset;
            match (r.kind, link) {
                (Reloc::Abs8, RelocTarget::ImageFunction(_)) => {
                    return Err("code takes the address of a function".to_owned());
                }
                (Reloc::Abs8, _) => self.image.references.push(Relocation { at, link, addend: r.addend }),
                (kind, RelocTarget::ImageFunction(to)) => {
                    self.near.push(RelativeCall { at, to, addend: r.addend, kind })
                }
                (kind, _) => return Err(format!("code refers to {link:?} by {kind:?}")),
            }
        }
        Ok(start)
    }

    /// The image, in which the functions find each other.
    pub(crate) fn finish_image(mut self) -> Result<CodeImage, String> {
        for near in &self.near {
            let (to, _) =
                self.image.functions.get(near.to as usize).ok_or("code calls a function that is not there")?;
            let distance = i64::from(*to) + near.addend - i64::from(near.at);
            let field = self.image.bytes.get_mut(near.at as usize..near.at as usize + 4);
            let field: &mut [u8; 4] = field.and_then(|f| f.try_into().ok()).ok_or("a call ends outside the code")?;
            let word = relocate_call_word(near.kind, u32::from_le_bytes(*field), distance)?;
            *field = word.to_le_bytes();
        }
        Ok(self.image)
    }
}

fn reloc_target_of_name(name: &ExternalName, f: &Function) -> Option<RelocTarget> {
    match name {
        ExternalName::User(name) => RelocTarget::from_external_name(&f.params.user_named_funcs()[*name]),
        ExternalName::LibCall(call) => libcalls::libcall_address(*call).map(RelocTarget::rust_function_target),
        _ => None,
    }
}

/// The word of a call or of its distance, with the distance in it.
fn relocate_call_word(kind: Reloc, word: u32, distance: i64) -> Result<u32, String> {
    let far = || format!("a call over {distance} bytes");
    match kind {
        Reloc::X86CallPCRel4 | Reloc::X86PCRel4 => Ok(i32::try_from(distance).map_err(|_| far())? as u32),
        // `bl`: 26 bits that count words.
        Reloc::Arm64Call if distance % 4 == 0 && (-(1 << 27)..1 << 27).contains(&distance) => {
            Ok(word & !0x03ff_ffff | (distance >> 2) as u32 & 0x03ff_ffff)
        }
        Reloc::Arm64Call => Err(far()),
        kind => Err(format!("a call by {kind:?}")),
    }
}

/// An image in executable memory, which is freed when dropped.
#[derive(Debug)]
pub(crate) struct MappedImage {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is never written again.
unsafe impl Send for MappedImage {}
// SAFETY: the memory is never written again.
unsafe impl Sync for MappedImage {}

impl MappedImage {
    /// Puts an image into memory; `address` tells where the things are that it refers to outside of itself.
    pub(crate) fn new(
        image: &CodeImage,
        address: impl Fn(RelocTarget) -> Option<usize>,
    ) -> Result<MappedImage, String> {
        let len = image.bytes.len().max(1);
        let failed = |what: &str| format!("{what} {len} bytes of machine code: {}", std::io::Error::last_os_error());
        let (rw, how) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: asks for new memory.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), len, rw, how, -1, 0) };
        let base = NonNull::new(at.cast::<u8>()).filter(|_| at != libc::MAP_FAILED);
        let placed = MappedImage { base: base.ok_or_else(|| failed("no memory for"))?, len };
        // SAFETY: the memory is new and has this length.
        let bytes = unsafe { std::slice::from_raw_parts_mut(placed.base.as_ptr(), image.bytes.len()) };
        bytes.copy_from_slice(&image.bytes);
        for r in &image.references {
            let target = match r.link {
                RelocTarget::ImageOffset(offset) => {
                    Some(placed.address_of_offset(offset)).filter(|_| (offset as usize) < image.bytes.len())
                }
                link => address(link),
            };
            let target = target.ok_or_else(|| format!("code refers to {:?}, which does not exist", r.link))?;
            let field = bytes.get_mut(r.at as usize..).and_then(|rest| rest.first_chunk_mut::<8>());
            let field = field.ok_or("a reference lies outside the code")?;
            *field = (target as u64).wrapping_add_signed(r.addend).to_le_bytes();
        }
        // SAFETY: these are the memory's own addresses.
        unsafe { flush_icache(placed.base, len).map_err(|e| format!("machine code cannot be made visible: {e}"))? };
        // SAFETY: the range is the one that was mapped above, and nothing runs in it yet.
        if unsafe { libc::mprotect(at, len, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
            return Err(failed("no right to execute"));
        }
        flush_pipelines().map_err(|e| format!("machine code cannot be made visible: {e}"))?;
        Ok(placed)
    }

    /// The address of an offset.
    pub(crate) fn address_of_offset(&self, offset: u32) -> usize {
        self.base.as_ptr() as usize + offset as usize
    }

    /// The offset of an address that lies in the image.
    pub(crate) fn offset_of_pc(&self, pc: usize) -> Option<u32> {
        let offset = pc.checked_sub(self.address_of_offset(0))?;
        if offset < self.len { u32::try_from(offset).ok() } else { None }
    }
}

impl Drop for MappedImage {
    fn drop(&mut self) {
        // SAFETY: a kernel is dropped only when no launch runs it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Makes written bytes visible to the fetching of instructions.
///
/// # Safety
/// The memory belongs to the caller.
unsafe fn flush_icache(base: NonNull<u8>, len: usize) -> std::io::Result<()> {
    // SAFETY: by contract.
    unsafe { wasmtime_internal_jit_icache_coherence::clear_cache(base.as_ptr().cast(), len) }
}

fn flush_pipelines() -> std::io::Result<()> {
    wasmtime_internal_jit_icache_coherence::pipeline_flush_mt()
}
