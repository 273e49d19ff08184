//! `suld`, `sust` and `sured` for the lanes of a warp.
//!
//! Unformatted accesses name x in bytes; an access must be aligned to its size. `.p` names it in
//! texels and converts: integers saturate, floats round towards zero to `f16` where the surface holds those.

use super::TextureResource;
use super::format::ChannelKind;
use rtcg_ptx::ast::{SurfOp, SurfaceClamp, TextureGeometry, Type};
use rtcg_vgpu_abi::WARP_LANES;
use rtcg_vgpu_abi::model::lanes::STORE_GROUP_BYTES;
use rtcg_vgpu_abi::texture_request::{TextureLanes, TextureOp, TextureRequest};
use rtcg_vgpu_softmath::convert::float_to_float;
use rtcg_vgpu_softmath::float::FloatFormat;
use rtcg_vgpu_softmath::{FloatMode, RoundMode};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Why an access ends the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessError {
    /// Out of bounds with `.trap`.
    Outside,
    /// x is no multiple of the access's size.
    Misaligned,
    /// No such operation on this format.
    Format,
}

/// Executes an instruction for the lanes of `mask`; the error names the faulting lane.
///
/// # Safety
/// The surface's memory may be accessed, or faults; this function owns nothing meanwhile.
pub(crate) unsafe fn access_surface(
    surface: &TextureResource,
    request: &TextureRequest,
    mask: u32,
    lanes: &mut TextureLanes,
) -> Result<(), (u32, AccessError)> {
    let size = access_bytes(surface, request);
    let flip = if request.op == TextureOp::Store { lane_flip_of_store(size) } else { 0 };
    for lane in (0..WARP_LANES).map(|number| number ^ flip).filter(|l| mask >> l & 1 != 0) {
        let at = access_address(surface, request, size, lanes, lane).map_err(|why| (lane as u32, why))?;
        // SAFETY: passed on; `at` is aligned and within the surface.
        let done = unsafe {
            match request.op {
                TextureOp::Load => load_texel(at, request, lanes, lane),
                TextureOp::Store => store_texel(at, surface, request, lanes, lane),
                TextureOp::Reduce(op) => reduce_texel(at, op, surface, request, lanes.wide[0][lane]),
                _ => false,
            }
        };
        if !done {
            return Err((lane as u32, AccessError::Format));
        }
    }
    Ok(())
}

/// What is flipped in the numbers of lanes so that stores of `bytes` come in the order of the device: the groups one after
/// the other, and the lowest lane of each last.
fn lane_flip_of_store(bytes: u32) -> usize {
    STORE_GROUP_BYTES as usize / bytes.clamp(4, 16) as usize - 1
}

/// Bytes of one lane's access.
fn access_bytes(surface: &TextureResource, request: &TextureRequest) -> u32 {
    if request.formatted { surface.format.bytes } else { request.ty.bytes() * u32::from(request.n) }
}

/// Address and bytes of a lane's access; `None` when it makes none or is refused.
pub(crate) fn lane_access_address(
    surface: &TextureResource,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
) -> Option<(u64, u32)> {
    let size = access_bytes(surface, request);
    let at = access_address(surface, request, size, lanes, lane).ok()??;
    Some((at as u64, size))
}

/// The address of a lane's access; `None` when it is to be left out.
fn access_address(
    surface: &TextureResource,
    request: &TextureRequest,
    size: u32,
    lanes: &TextureLanes,
    lane: usize,
) -> Result<Option<*mut u8>, AccessError> {
    let geometry = request.geometry;
    let layered = usize::from(geometry.is_layered());
    let word = |i: usize| lanes.words[i][lane] as i32;
    let level = &surface.levels[0];
    let unit = if request.formatted { i64::from(surface.format.bytes) } else { 1 };
    let row = i64::from(level.extents[0]) * i64::from(surface.format.bytes);
    if row < i64::from(size) {
        return Err(AccessError::Format);
    }
    let mut offset = 0;
    let mut inside = true;
    let x = i64::from(word(layered)) * unit;
    let mut limit = |v: i64, last: i64| {
        inside &= (0..=last).contains(&v);
        v.clamp(0, last)
    };
    offset += limit(x, row - i64::from(size));
    if geometry.n_axes() > 1 {
        offset += limit(i64::from(word(layered + 1)), i64::from(level.extents[1]) - 1) * level.pitch as i64;
    }
    let slices = if surface.layered { surface.layers } else { level.extents[2] };
    if geometry == TextureGeometry::D3 {
        offset += limit(i64::from(word(2)), i64::from(slices) - 1) * level.slice as i64;
    } else if geometry.is_layered() {
        offset += limit(i64::from(word(0) as u32), i64::from(slices) - 1) * level.slice as i64;
    }
    // The device asks for the alignment of x first, also of one outside.
    if !request.formatted && x.rem_euclid(i64::from(size)) != 0 {
        return Err(AccessError::Misaligned);
    }
    match request.clamp {
        SurfaceClamp::Trap if !inside => return Err(AccessError::Outside),
        SurfaceClamp::Zero if !inside => return Ok(None),
        _ => {}
    }
    let address = level.start + offset as u64;
    if !request.formatted && !address.is_multiple_of(u64::from(size)) {
        return Err(AccessError::Misaligned);
    }
    Ok(Some(address as *mut u8))
}

/// # Safety
/// As [`access_surface`].
unsafe fn load_texel(at: Option<*mut u8>, request: &TextureRequest, lanes: &mut TextureLanes, lane: usize) -> bool {
    for e in 0..usize::from(request.n) {
        let bytes = request.ty.bytes() as usize;
        let value = match at {
            None => 0,
            // SAFETY: the caller's contract.
            Some(p) => unsafe { read_word(p.wrapping_add(e * bytes), bytes) },
        };
        match bytes {
            8 => lanes.wide[e][lane] = value,
            _ => lanes.results[e][lane] = value as u32,
        }
    }
    true
}

/// # Safety
/// `p` may be read, or faults.
unsafe fn read_word(p: *const u8, bytes: usize) -> u64 {
    // SAFETY: the caller's contract.
    unsafe {
        match bytes {
            1 => u64::from(p.read()),
            2 => u64::from(p.cast::<u16>().read_unaligned()),
            4 => u64::from(p.cast::<u32>().read_unaligned()),
            _ => p.cast::<u64>().read_unaligned(),
        }
    }
}

/// # Safety
/// `p` may be written, or faults.
unsafe fn write_word(p: *mut u8, bytes: usize, value: u64) {
    // SAFETY: the caller's contract.
    unsafe {
        match bytes {
            1 => p.write(value as u8),
            2 => p.cast::<u16>().write_unaligned(value as u16),
            4 => p.cast::<u32>().write_unaligned(value as u32),
            _ => p.cast::<u64>().write_unaligned(value),
        }
    }
}

/// # Safety
/// As [`access_surface`].
unsafe fn store_texel(
    at: Option<*mut u8>,
    surface: &TextureResource,
    request: &TextureRequest,
    lanes: &TextureLanes,
    lane: usize,
) -> bool {
    let Some(p) = at else { return true };
    let bytes = if request.formatted { surface.format.kind.channel_bytes() } else { request.ty.bytes() } as usize;
    let given = usize::from(request.n);
    let n = if request.formatted { surface.format.channels as usize } else { given };
    for e in 0..n {
        // A formatted store writes whole texels, zeros where it names no value.
        let value = if e < given { lanes.wide[e][lane] } else { 0 };
        let value = if request.formatted { convert_to_channel(surface, value as u32).into() } else { value };
        // SAFETY: the caller's contract; the element lies in the access.
        unsafe { write_word(p.wrapping_add(e * bytes), bytes, value) };
    }
    true
}

/// A 32-bit value as a channel of the surface.
fn convert_to_channel(surface: &TextureResource, value: u32) -> u32 {
    match (surface.format.kind, surface.format.code) {
        (ChannelKind::F16, _) => {
            let towards_zero = FloatMode { rnd: RoundMode::Zero, ..FloatMode::default() };
            float_to_float(FloatFormat::F16, FloatFormat::F32, towards_zero, value.into()) as u32
        }
        (ChannelKind::U8, _) => value.min(0xff),
        (ChannelKind::U16, _) => value.min(0xffff),
        (ChannelKind::S8, _) => (value as i32).clamp(-128, 127) as u32,
        (ChannelKind::S16, _) => (value as i32).clamp(-32768, 32767) as u32,
        _ => value,
    }
}

/// # Safety
/// As [`access_surface`].
unsafe fn reduce_texel(
    at: Option<*mut u8>,
    op: SurfOp,
    surface: &TextureResource,
    request: &TextureRequest,
    value: u64,
) -> bool {
    let ty = match (request.formatted, surface.format.kind, surface.format.code) {
        (false, ..) => request.ty,
        (true, ChannelKind::Word, 10) if surface.format.channels == 1 => Type::S32,
        (true, ChannelKind::Word, _) if surface.format.channels == 1 => Type::U32,
        _ => return false,
    };
    let Some(p) = at else { return true };
    if !(p as usize).is_multiple_of(ty.bytes() as usize) {
        return false;
    }
    let signed = matches!(ty, Type::S32 | Type::S64);
    // SAFETY: aligned, and accessed only atomically by `sured`; the caller's contract.
    unsafe {
        if ty.bytes() == 8 {
            let word = AtomicU64::from_ptr(p.cast());
            match op {
                SurfOp::Add => word.fetch_add(value, Ordering::Relaxed),
                SurfOp::Min if signed => word.update_signed(|old| old.min(value as i64)),
                SurfOp::Max if signed => word.update_signed(|old| old.max(value as i64)),
                SurfOp::Min => word.fetch_min(value, Ordering::Relaxed),
                SurfOp::Max => word.fetch_max(value, Ordering::Relaxed),
                SurfOp::And => word.fetch_and(value, Ordering::Relaxed),
                SurfOp::Or => word.fetch_or(value, Ordering::Relaxed),
            };
        } else {
            let (word, value) = (AtomicU32::from_ptr(p.cast()), value as u32);
            match op {
                SurfOp::Add => word.fetch_add(value, Ordering::Relaxed),
                SurfOp::Min if signed => word.update_signed(|old| old.min(value as i32)),
                SurfOp::Max if signed => word.update_signed(|old| old.max(value as i32)),
                SurfOp::Min => word.fetch_min(value, Ordering::Relaxed),
                SurfOp::Max => word.fetch_max(value, Ordering::Relaxed),
                SurfOp::And => word.fetch_and(value, Ordering::Relaxed),
                SurfOp::Or => word.fetch_or(value, Ordering::Relaxed),
            };
        }
    }
    true
}

/// Atomic updates of words that hold signed numbers.
trait SignedUpdate<T> {
    type Word;
    fn update_signed(&self, f: impl Fn(T) -> T) -> Self::Word;
}
macro_rules! impl_signed_update {
    ($atomic:ty, $word:ty, $signed:ty) => {
        impl SignedUpdate<$signed> for $atomic {
            type Word = $word;
            fn update_signed(&self, f: impl Fn($signed) -> $signed) -> $word {
                let next = |old: $word| Some(f(old as $signed) as $word);
                self.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or_else(|old| old)
            }
        }
    };
}
impl_signed_update!(AtomicU32, u32, i32);
impl_signed_update!(AtomicU64, u64, i64);
