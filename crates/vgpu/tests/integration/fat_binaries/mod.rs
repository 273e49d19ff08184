//! Fat binaries put together by hand.

use rtcg_vgpu::module::{LoadOptions, load_image};
use rtcg_vgpu_abi::error::ResultCode;

pub(crate) const TEXT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
pub(crate) const LZ4: u64 = 0x2000;
pub(crate) const ZSTD: u64 = 0x8000;

/// An entry: PTX for a compute capability, with the bytes it is stored as.
pub(crate) fn entry(arch: u32, flags: u64, full_len: u64, contents: &[u8]) -> Vec<u8> {
    let mut e = vec![0; 64];
    e[..2].copy_from_slice(&1_u16.to_le_bytes());
    e[4..8].copy_from_slice(&64_u32.to_le_bytes());
    e[8..16].copy_from_slice(&(contents.len() as u64).to_le_bytes());
    e[16..20].copy_from_slice(&(if flags == 0 { 0 } else { contents.len() as u32 }).to_le_bytes());
    e[28..32].copy_from_slice(&arch.to_le_bytes());
    e[40..48].copy_from_slice(&flags.to_le_bytes());
    e[56..64].copy_from_slice(&full_len.to_le_bytes());
    e.extend(contents);
    e
}

pub(crate) fn fatbin(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    [&0xba55_ed50_u32.to_le_bytes()[..], &[1, 0, 16, 0], &(body.len() as u64).to_le_bytes(), &body].concat()
}

/// A block of LZ4 with literals only.
pub(crate) fn lz4(text: &[u8]) -> Vec<u8> {
    let rest = text.len() - 15;
    let lengths = std::iter::repeat_n(255, rest / 255).chain([(rest % 255) as u8]);
    [0xf0].into_iter().chain(lengths).chain(text.iter().copied()).collect()
}

/// A frame of zstd with one raw block.
pub(crate) fn zstd(text: &[u8]) -> Vec<u8> {
    let header = (text.len() as u32) << 3 | 1;
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, text.len() as u8];
    frame.extend(&header.to_le_bytes()[..3]);
    frame.extend(text);
    frame
}

pub(crate) fn whole() -> Vec<u8> {
    let (text, full) = (TEXT.as_bytes(), TEXT.len() as u64);
    fatbin(&[entry(90, 0, 0, b"no PTX"), entry(75, LZ4, full, &lz4(text)), entry(80, ZSTD, full, &zstd(text))])
}

/// The code of a load, which must be one of those for images.
pub(crate) fn load(image: &[u8]) -> ResultCode {
    let code = load_image(image, &LoadOptions::default()).map_or_else(|e| e.code, |_| ResultCode::SUCCESS);
    let known =
        [ResultCode::SUCCESS, ResultCode::INVALID_IMAGE, ResultCode::INVALID_PTX, ResultCode::NO_BINARY_FOR_GPU];
    assert!(known.contains(&code), "{code:?}");
    code
}
