//! Fat binaries: containers of PTX and of machine code for several kinds of GPU.
//!
//! Establishes: whatever the bytes are, [`ptx_entries`] returns PTX texts or says why not; every
//! length in the container is checked against the bytes that are there.
//!
//! The container is little-endian: a header (magic number, version, its own size, bytes that
//! follow), then entries, each with a header of its own before its contents.

use super::LoadError;
use super::lz4;
use rtcg_vgpu_abi::error::ResultCode;
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// First word of a fat binary.
pub(crate) const FATBIN_MAGIC: u32 = 0xba55_ed50;
/// First word of the structure by which compiled programs refer to a fat binary.
pub(crate) const WRAPPER_MAGIC: u32 = 0x4662_43b1;
/// Bytes that are enough to know the length of a fat binary.
pub(crate) const HEADER_BYTES: usize = 16;
/// Machine code of this compute capability is what the device has; PTX for it is preferred.
const DEVICE_ARCH: u32 = (crate::device::COMPUTE_CAPABILITY.0 * 10 + crate::device::COMPUTE_CAPABILITY.1) as u32;
/// No PTX text is longer than this.
const MAX_PTX_BYTES: u64 = 1 << 30;

/// `kind` of an entry: a PTX text, machine code.
const PTX_KIND: u16 = 1;
const CUBIN_KIND: u16 = 2;
/// `flags` of an entry: how its contents are compressed.
const LZ4_FLAG: u64 = 0x2000;
const ZSTD_FLAG: u64 = 0x8000;

/// An entry of a fat binary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FatbinEntry<'a> {
    kind: u16,
    /// The compute capability it was compiled for, times 10.
    pub(crate) arch: u32,
    flags: u64,
    /// Bytes when decompressed.
    full_len: u64,
    contents: &'a [u8],
}

/// Bytes of a whole fat binary, by its header.
pub(crate) fn fatbin_total_bytes(header: &[u8]) -> Option<usize> {
    (read_u32(header, 0)? == FATBIN_MAGIC).then_some(())?;
    usize::from(read_u16(header, 6)?).checked_add(usize::try_from(read_u64(header, 8)?).ok()?)
}

/// The PTX texts in the order in which they should be tried: those that a GPU of this compute
/// capability could use, the newest first, then those for newer GPUs, the oldest first.
///
/// # Errors
/// `NO_BINARY_FOR_GPU` if there is none, `INVALID_IMAGE` if the container is broken.
pub(crate) fn ptx_entries(image: &[u8]) -> Result<Vec<FatbinEntry<'_>>, LoadError> {
    let entries =
        fatbin_entries(image).ok_or_else(|| invalid_fatbin_error("it is cut off or its lengths are wrong"))?;
    let mut texts: Vec<FatbinEntry<'_>> = entries.iter().copied().filter(|e| e.kind == PTX_KIND).collect();
    if texts.is_empty() {
        return Err(LoadError { code: ResultCode::NO_BINARY_FOR_GPU, log: missing_ptx_message(&entries) });
    }
    texts.sort_by_key(|e| if e.arch <= DEVICE_ARCH { (0, DEVICE_ARCH - e.arch) } else { (1, e.arch) });
    Ok(texts)
}

fn invalid_fatbin_error(why: &str) -> LoadError {
    LoadError { code: ResultCode::INVALID_IMAGE, log: format!("the image is a broken fat binary: {why}") }
}

/// What to do about a fat binary without PTX.
fn missing_ptx_message(entries: &[FatbinEntry<'_>]) -> String {
    let mut archs: Vec<String> =
        entries.iter().filter(|e| e.kind == CUBIN_KIND).map(|e| format!("sm_{}", e.arch)).collect();
    archs.dedup();
    let holds = match archs.as_slice() {
        [] => "no code".to_owned(),
        archs => format!("machine code only ({})", archs.join(", ")),
    };
    format!("the image is a fat binary with {holds}: {MACHINE_CODE_UNSUPPORTED}")
}

/// What to do about machine code.
pub(crate) const MACHINE_CODE_UNSUPPORTED: &str = "the virtual GPU runs PTX and cannot run machine code of a real GPU; \
     compile to PTX, or put PTX into the fat binary (nvcc -gencode arch=compute_80,code=compute_80)";

fn fatbin_entries(image: &[u8]) -> Option<Vec<FatbinEntry<'_>>> {
    let end = fatbin_total_bytes(image)?;
    let image = image.get(..end)?;
    let mut at = usize::from(read_u16(image, 6)?);
    let mut entries = Vec::new();
    while at < end {
        let header = image.get(at..)?;
        let header_len = usize::try_from(read_u32(header, 4)?).ok()?;
        let stored_len = usize::try_from(read_u64(header, 8)?).ok()?;
        let contents = header.get(header_len..)?.get(..stored_len)?;
        let compressed_len = read_u32(header, 16)? as usize;
        entries.push(FatbinEntry {
            kind: read_u16(header, 0)?,
            arch: read_u32(header, 28)?,
            flags: read_u64(header, 40)?,
            full_len: read_u64(header, 56)?,
            // The contents are padded; where they are compressed, their own length is told.
            contents: if compressed_len == 0 { contents } else { contents.get(..compressed_len)? },
        });
        at = at.checked_add(header_len)?.checked_add(stored_len)?;
        // An entry without a length would be read for ever.
        (header_len > 0).then_some(())?;
    }
    Some(entries)
}

impl FatbinEntry<'_> {
    /// The contents, as long as the entry says. Only one is decompressed at a time: little can stand for much.
    pub(crate) fn decompress(&self) -> Result<Vec<u8>, LoadError> {
        let compressed = self.flags & (LZ4_FLAG | ZSTD_FLAG);
        if compressed != 0 && self.full_len > MAX_PTX_BYTES {
            return Err(invalid_fatbin_error(&format!("an entry says that it has {} bytes", self.full_len)));
        }
        let full = self.full_len as usize;
        let text = match compressed {
            0 => Some(self.contents.to_vec()),
            LZ4_FLAG => lz4::decompress(self.contents, full),
            ZSTD_FLAG => decompress_zstd(self.contents, full),
            _ => None,
        };
        text.ok_or_else(|| invalid_fatbin_error("the PTX of an entry cannot be decompressed"))
    }
}

/// The text of a zstd frame, which must have the length that was announced.
fn decompress_zstd(frame: &[u8], full: usize) -> Option<Vec<u8>> {
    let decoder = StreamingDecoder::new(frame).ok()?;
    let mut text = Vec::new();
    decoder.take(full as u64 + 1).read_to_end(&mut text).ok()?;
    (text.len() == full).then_some(text)
}

fn read_bytes<const N: usize>(from: &[u8], at: usize) -> Option<[u8; N]> {
    from.get(at..)?.first_chunk().copied()
}

fn read_u16(from: &[u8], at: usize) -> Option<u16> {
    read_bytes(from, at).map(u16::from_le_bytes)
}

fn read_u32(from: &[u8], at: usize) -> Option<u32> {
    read_bytes(from, at).map(u32::from_le_bytes)
}

fn read_u64(from: &[u8], at: usize) -> Option<u64> {
    read_bytes(from, at).map(u64::from_le_bytes)
}
