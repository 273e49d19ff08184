//! Formats of images: which are offered, how their pixels lie in memory, and colours as pixels.

use crate::error::{ClError, Result, refuse};
use rtcg_opencl_sys::*;

/// How pixels of a format are read and written; the library of builtins has the same numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelLayout {
    pub(crate) channels: u32,
    pub(crate) pixel_bytes: u32,
    /// Byte k: which channel is component k of red, green, blue, alpha; [`ZERO`] and [`ONE`] are constants.
    pub(crate) read_swizzle: u32,
    /// Byte k: which component is channel k.
    pub(crate) write_swizzle: u32,
    pub(crate) is_srgb: bool,
    /// Whether the colour beyond the border has an alpha of 1.
    pub(crate) border_is_opaque: bool,
}

const ZERO: u8 = 4;
const ONE: u8 = 5;

/// Types with one number per channel.
const PLAIN_TYPES: &[cl_channel_type] = &[
    CL_SNORM_INT8,
    CL_SNORM_INT16,
    CL_UNORM_INT8,
    CL_UNORM_INT16,
    CL_SIGNED_INT8,
    CL_SIGNED_INT16,
    CL_SIGNED_INT32,
    CL_UNSIGNED_INT8,
    CL_UNSIGNED_INT16,
    CL_UNSIGNED_INT32,
    CL_HALF_FLOAT,
    CL_FLOAT,
];
const BYTE_TYPES: &[cl_channel_type] = &[CL_SNORM_INT8, CL_UNORM_INT8, CL_SIGNED_INT8, CL_UNSIGNED_INT8];
const NORMALIZED_TYPES: &[cl_channel_type] =
    &[CL_SNORM_INT8, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_INT16, CL_HALF_FLOAT, CL_FLOAT];
const PACKED_TYPES: &[cl_channel_type] = &[CL_UNORM_SHORT_565, CL_UNORM_SHORT_555, CL_UNORM_INT_101010];

/// An order of channels with the types that go with it.
struct Order {
    order: cl_channel_order,
    types: &'static [cl_channel_type],
    read: [u8; 4],
    write: [u8; 4],
    channels: u32,
}

const fn order(
    order: cl_channel_order,
    types: &'static [cl_channel_type],
    channels: u32,
    read: [u8; 4],
    write: [u8; 4],
) -> Order {
    Order { order, types, read, write, channels }
}

const ORDERS: &[Order] = &[
    order(CL_R, PLAIN_TYPES, 1, [0, ZERO, ZERO, ONE], [0, 1, 2, 3]),
    order(CL_A, PLAIN_TYPES, 1, [ZERO, ZERO, ZERO, 0], [3, 3, 3, 3]),
    order(CL_RG, PLAIN_TYPES, 2, [0, 1, ZERO, ONE], [0, 1, 2, 3]),
    order(CL_RA, PLAIN_TYPES, 2, [0, ZERO, ZERO, 1], [0, 3, 3, 3]),
    order(CL_RGB, PACKED_TYPES, 3, [0, 1, 2, ONE], [0, 1, 2, 3]),
    order(CL_RGBA, PLAIN_TYPES, 4, [0, 1, 2, 3], [0, 1, 2, 3]),
    order(CL_BGRA, BYTE_TYPES, 4, [2, 1, 0, 3], [2, 1, 0, 3]),
    order(CL_ARGB, BYTE_TYPES, 4, [1, 2, 3, 0], [3, 0, 1, 2]),
    order(CL_INTENSITY, NORMALIZED_TYPES, 1, [0, 0, 0, 0], [0, 1, 2, 3]),
    order(CL_LUMINANCE, NORMALIZED_TYPES, 1, [0, 0, 0, ONE], [0, 1, 2, 3]),
    order(CL_DEPTH, &[CL_UNORM_INT16, CL_FLOAT], 1, [0, ZERO, ZERO, ONE], [0, 1, 2, 3]),
    order(CL_sRGBA, &[CL_UNORM_INT8], 4, [0, 1, 2, 3], [0, 1, 2, 3]),
    order(CL_sBGRA, &[CL_UNORM_INT8], 4, [2, 1, 0, 3], [2, 1, 0, 3]),
];

fn is_srgb(order: cl_channel_order) -> bool {
    order == CL_sRGBA || order == CL_sBGRA
}

/// Whether images of a kind have an order of channels, and kernels the access that `flags` ask for.
fn is_offered(order: cl_channel_order, kind: cl_mem_object_type, flags: cl_mem_flags) -> bool {
    match order {
        CL_DEPTH => matches!(kind, CL_MEM_OBJECT_IMAGE2D | CL_MEM_OBJECT_IMAGE2D_ARRAY),
        // Writing them is an extension.
        _ if is_srgb(order) => {
            let reads_only = flags & (CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE | CL_MEM_KERNEL_READ_AND_WRITE) == 0;
            reads_only && flags & CL_MEM_READ_ONLY != 0 && kind != CL_MEM_OBJECT_IMAGE1D_BUFFER
        }
        _ => true,
    }
}

/// All formats of a kind of images with some flags.
pub(crate) fn formats(kind: cl_mem_object_type, flags: cl_mem_flags) -> Vec<cl_image_format> {
    let offered = ORDERS.iter().filter(|order| is_offered(order.order, kind, flags));
    let all = offered.flat_map(|order| order.types.iter().map(|data_type| (order.order, *data_type)));
    all.map(|(order, data_type)| cl_image_format { image_channel_order: order, image_channel_data_type: data_type })
        .collect()
}

fn type_bytes(data_type: cl_channel_type) -> u32 {
    match data_type {
        CL_SNORM_INT8 | CL_UNORM_INT8 | CL_SIGNED_INT8 | CL_UNSIGNED_INT8 => 1,
        CL_SIGNED_INT32 | CL_UNSIGNED_INT32 | CL_FLOAT | CL_UNORM_INT_101010 => 4,
        _ => 2,
    }
}

impl PixelLayout {
    /// The layout of an offered format.
    ///
    /// # Errors
    /// `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR` for numbers that are no format, `CL_IMAGE_FORMAT_NOT_SUPPORTED` for others.
    pub(crate) fn new(format: cl_image_format, kind: cl_mem_object_type, flags: cl_mem_flags) -> Result<Self> {
        let cl_image_format { image_channel_order: order, image_channel_data_type: data_type } = format;
        let why = format!("image_format: order {order:#x} with type {data_type:#x} in an image of kind {kind:#x}");
        if !(CL_R..=CL_ABGR).contains(&order) || !(CL_SNORM_INT8..=CL_UNORM_INT_101010_2).contains(&data_type) {
            return refuse(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, why);
        }
        let known = ORDERS.iter().find(|known| known.order == order && known.types.contains(&data_type));
        let Some(known) = known.filter(|_| is_offered(order, kind, flags)) else {
            return refuse(CL_IMAGE_FORMAT_NOT_SUPPORTED, why);
        };
        let numbers = if PACKED_TYPES.contains(&data_type) { 1 } else { known.channels };
        Ok(Self {
            channels: known.channels,
            pixel_bytes: numbers * type_bytes(data_type),
            read_swizzle: u32::from_le_bytes(known.read),
            write_swizzle: u32::from_le_bytes(known.write),
            is_srgb: is_srgb(order),
            border_is_opaque: matches!(order, CL_R | CL_RG | CL_RGB | CL_LUMINANCE | CL_DEPTH),
        })
    }

    /// The bytes of a pixel with a colour as `clEnqueueFillImage` is given it: four floats, or four integers.
    pub(crate) fn pixel(&self, data_type: cl_channel_type, color: [u32; 4]) -> Vec<u8> {
        let channel = |number: usize| color[usize::from(self.write_swizzle.to_le_bytes()[number])];
        let scaled = |number: usize, scale: f32| (f32::from_bits(channel(number)) * scale).round_ties_even();
        let packed = |bits: [u32; 3]| {
            let parts =
                (0..3).map(|k| (k, scaled(k, ((1 << bits[k]) - 1) as f32).clamp(0.0, ((1 << bits[k]) - 1) as f32)));
            parts.fold(0u32, |all, (k, value)| all << bits[k] | value as u32)
        };
        let each = |encode: &dyn Fn(usize) -> Vec<u8>| (0..self.channels as usize).flat_map(encode).collect();
        match data_type {
            CL_UNORM_INT8 if self.is_srgb => each(&|k| {
                let linear = f32::from_bits(channel(k)).clamp(0.0, 1.0);
                let is_color = self.read_swizzle.to_le_bytes()[3] != k as u8;
                let value = if is_color { srgb_of_linear(linear) } else { linear };
                vec![(value * 255.0).round_ties_even() as u8]
            }),
            // A conversion of floats to integers saturates.
            CL_UNORM_INT8 => each(&|k| vec![scaled(k, 255.0) as u8]),
            CL_UNORM_INT16 => each(&|k| (scaled(k, 65535.0) as u16).to_le_bytes().to_vec()),
            CL_SNORM_INT8 => each(&|k| vec![scaled(k, 127.0) as i8 as u8]),
            CL_SNORM_INT16 => each(&|k| (scaled(k, 32767.0) as i16).to_le_bytes().to_vec()),
            CL_SIGNED_INT8 => each(&|k| vec![(channel(k) as i32).clamp(-128, 127) as u8]),
            CL_SIGNED_INT16 => each(&|k| ((channel(k) as i32).clamp(-32768, 32767) as i16).to_le_bytes().to_vec()),
            CL_UNSIGNED_INT8 => each(&|k| vec![channel(k).min(255) as u8]),
            CL_UNSIGNED_INT16 => each(&|k| (channel(k).min(65535) as u16).to_le_bytes().to_vec()),
            CL_HALF_FLOAT => each(&|k| half_bits(f32::from_bits(channel(k))).to_le_bytes().to_vec()),
            CL_UNORM_SHORT_565 => (packed([5, 6, 5]) as u16).to_le_bytes().to_vec(),
            CL_UNORM_SHORT_555 => (packed([5, 5, 5]) as u16).to_le_bytes().to_vec(),
            CL_UNORM_INT_101010 => packed([10, 10, 10]).to_le_bytes().to_vec(),
            _ => each(&|k| channel(k).to_le_bytes().to_vec()),
        }
    }
}

fn srgb_of_linear(linear: f32) -> f32 {
    if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

/// The nearest number of half precision, ties to even.
fn half_bits(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16 & 0x8000) as u16;
    let magnitude = value.abs();
    let rest = if magnitude.is_nan() {
        0x7e00
    } else if magnitude >= 65520.0 {
        0x7c00
    } else if magnitude < 6.103_515_6e-5 {
        // Multiples of 2^-24.
        (magnitude * 16_777_216.0).round_ties_even() as u16
    } else {
        let bits = magnitude.to_bits();
        let rounded = bits + 0xfff + (bits >> 13 & 1);
        ((rounded >> 13) - (112 << 10)) as u16
    };
    sign | rest
}

/// The format that a caller gave.
///
/// # Safety
/// `format` is null or readable.
pub(crate) unsafe fn format_of(format: *const cl_image_format) -> Result<cl_image_format> {
    // SAFETY: the caller's promise.
    unsafe { format.as_ref() }
        .copied()
        .ok_or_else(|| ClError::new(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_halves_to_nearest() {
        let cases = [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65520.0, 0x7c00),
            (5.960_464_5e-8, 1),
            (2.0_f32.powi(-25), 0),
            (6.1e-5, 0x3ff),
            (1.0 + 2.0_f32.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2.0_f32.powi(-11), 0x3c02),
            (f32::INFINITY, 0x7c00),
        ];
        for (value, bits) in cases {
            assert_eq!(half_bits(value), bits, "{value}");
        }
    }

    #[test]
    fn writes_colors_in_the_order_of_channels() {
        let format =
            |order, data_type| cl_image_format { image_channel_order: order, image_channel_data_type: data_type };
        let color = [0.0f32, 0.5, 1.0, 2.0].map(f32::to_bits);
        let pixel = |order, data_type| {
            let layout = PixelLayout::new(format(order, data_type), CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE).unwrap();
            let bytes = layout.pixel(data_type, color);
            assert_eq!(bytes.len(), layout.pixel_bytes as usize);
            bytes
        };
        assert_eq!(pixel(CL_RGBA, CL_UNORM_INT8), [0, 128, 255, 255]);
        assert_eq!(pixel(CL_BGRA, CL_UNORM_INT8), [255, 128, 0, 255]);
        assert_eq!(pixel(CL_ARGB, CL_UNORM_INT8), [255, 0, 128, 255]);
        assert_eq!(pixel(CL_A, CL_SNORM_INT8), [127]);
        assert_eq!(pixel(CL_RGB, CL_UNORM_SHORT_565), (32u16 << 5 | 31).to_le_bytes());
        let refused = PixelLayout::new(format(CL_RGB, CL_FLOAT), CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE);
        assert_eq!(refused.unwrap_err().code, CL_IMAGE_FORMAT_NOT_SUPPORTED);
    }
}
