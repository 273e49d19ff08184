//! Texture units: what texels, borders and coordinates become.

measured! {
    /// The linear intensity of each sRGB value, as the upper 16 bits of a float32.
    SRGB_INTENSITIES: [u16; 256] = [
        0x0000, 0x39a0, 0x3a20, 0x3a70, 0x3aa0, 0x3ac8, 0x3af0, 0x3b0c, 0x3b20, 0x3b34, 0x3b48, 0x3b5c, 0x3b70, 0x3b84, 0x3b90, 0x3b9c,
        0x3baa, 0x3bb8, 0x3bc6, 0x3bd6, 0x3be6, 0x3bf6, 0x3c03, 0x3c0c, 0x3c16, 0x3c1f, 0x3c29, 0x3c34, 0x3c3e, 0x3c49, 0x3c55, 0x3c60,
        0x3c6c, 0x3c7a, 0x3c83, 0x3c8a, 0x3c91, 0x3c98, 0x3c9f, 0x3ca6, 0x3cae, 0x3cb6, 0x3cbe, 0x3cc6, 0x3cce, 0x3cd7, 0x3ce0, 0x3ce9,
        0x3cf2, 0x3cfc, 0x3d03, 0x3d08, 0x3d0d, 0x3d12, 0x3d17, 0x3d1c, 0x3d22, 0x3d28, 0x3d2d, 0x3d33, 0x3d39, 0x3d3f, 0x3d45, 0x3d4c,
        0x3d52, 0x3d58, 0x3d60, 0x3d66, 0x3d6c, 0x3d74, 0x3d7a, 0x3d81, 0x3d85, 0x3d88, 0x3d8c, 0x3d90, 0x3d94, 0x3d98, 0x3d9c, 0x3da0,
        0x3da4, 0x3da9, 0x3dad, 0x3db1, 0x3db6, 0x3dba, 0x3dbf, 0x3dc3, 0x3dc8, 0x3dcd, 0x3dd1, 0x3dd6, 0x3ddb, 0x3de0, 0x3de5, 0x3dea,
        0x3df0, 0x3df4, 0x3dfa, 0x3e00, 0x3e02, 0x3e05, 0x3e08, 0x3e0b, 0x3e0e, 0x3e11, 0x3e14, 0x3e17, 0x3e1a, 0x3e1d, 0x3e20, 0x3e23,
        0x3e26, 0x3e29, 0x3e2c, 0x3e30, 0x3e33, 0x3e36, 0x3e3a, 0x3e3d, 0x3e40, 0x3e44, 0x3e47, 0x3e4b, 0x3e4e, 0x3e52, 0x3e56, 0x3e59,
        0x3e5d, 0x3e61, 0x3e65, 0x3e68, 0x3e6c, 0x3e70, 0x3e74, 0x3e78, 0x3e7c, 0x3e80, 0x3e82, 0x3e84, 0x3e86, 0x3e88, 0x3e8a, 0x3e8d,
        0x3e8f, 0x3e91, 0x3e93, 0x3e95, 0x3e98, 0x3e9a, 0x3e9c, 0x3e9e, 0x3ea1, 0x3ea3, 0x3ea5, 0x3ea8, 0x3eaa, 0x3ead, 0x3eaf, 0x3eb2,
        0x3eb4, 0x3eb6, 0x3eb9, 0x3ebc, 0x3ebe, 0x3ec1, 0x3ec3, 0x3ec6, 0x3ec8, 0x3ecb, 0x3ece, 0x3ed1, 0x3ed3, 0x3ed6, 0x3ed9, 0x3edb,
        0x3ede, 0x3ee1, 0x3ee4, 0x3ee7, 0x3eea, 0x3eed, 0x3ef0, 0x3ef2, 0x3ef6, 0x3ef8, 0x3efc, 0x3efe, 0x3f01, 0x3f02, 0x3f04, 0x3f05,
        0x3f07, 0x3f09, 0x3f0a, 0x3f0c, 0x3f0d, 0x3f0f, 0x3f11, 0x3f12, 0x3f14, 0x3f16, 0x3f17, 0x3f19, 0x3f1b, 0x3f1c, 0x3f1e, 0x3f20,
        0x3f21, 0x3f23, 0x3f25, 0x3f27, 0x3f29, 0x3f2a, 0x3f2c, 0x3f2e, 0x3f30, 0x3f32, 0x3f33, 0x3f35, 0x3f37, 0x3f39, 0x3f3b, 0x3f3d,
        0x3f3f, 0x3f41, 0x3f43, 0x3f45, 0x3f47, 0x3f49, 0x3f4b, 0x3f4d, 0x3f4f, 0x3f51, 0x3f53, 0x3f55, 0x3f57, 0x3f59, 0x3f5b, 0x3f5d,
        0x3f5f, 0x3f61, 0x3f63, 0x3f65, 0x3f68, 0x3f6a, 0x3f6c, 0x3f6e, 0x3f70, 0x3f72, 0x3f74, 0x3f76, 0x3f7a, 0x3f7c, 0x3f7e, 0x3f80,
    ], from "q28";
    /// A normalised coordinate is rounded down to a multiple of 1 over this.
    NORMALIZED_FRACTIONS: f64 = 2_097_152.0, from "gpu_textures";
    /// A filter cuts the texels of a level, or of a slice of a volume, to multiples of the last place that the largest one has with this many significant bits: float16, float32 and sRGB.
    ALIGNMENT_BITS: [i32; 3] = [15, 28, 8], from "gpu_textures";
    /// The sums of two levels or slices are rounded down to multiples of the place that lies this many bits below the larger one's last.
    SUM_ALIGNMENT_BITS: i32 = 9, from "gpu_textures";
    /// Blocks of this many sRGB values have one exponent, that of their last value.
    SRGB_BLOCK: u8 = 8, from "gpu_textures";
    /// A filtered value of normalised integers of 8 or 16 bits is a multiple of 1/65535, or 1/32767 with signs; halves are rounded up.
    FILTERED_UNIT: [f32; 2] = [65535.0, 32767.0], from "q28";
    /// A sum of signed 8-bit texels, times 256, is widened with this many fractional bits.
    SIGNED_SUM_BITS: u32 = 3, from "gpu_textures";
    /// A filter gives one NaN, as float32 here, and as float16 converted to float32.
    FILTERED_NANS: [u32; 2] = [0x7fff_ffff, 0x7fff_e000], from "q28";
    /// A fetch by the number of a texel in one dimension (`tex.1d` with integer coordinates) reads linear memory; of a
    /// CUDA array it gives zeros.
    FETCH_1D_READS_LINEAR_MEMORY_ONLY: bool = true, from "q63";
    /// The level of detail is rounded down to a multiple of 1 over this.
    LEVEL_FRACTIONS: f64 = 256.0, from "q28";
    /// The fraction of a level of detail, in 1/256, by the eight bits behind the first one of the length of a gradient.
    LEVEL_OF_LENGTH: [u8; 256] = [
        0, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22, 23, 24, 26, 27, 28, 30, 31, 32, 34, 35, 36, 38, 39, 40, 42, 43,
        44, 45, 47, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 60, 62, 63, 64, 65, 66, 68, 69, 70, 71, 72, 74, 75, 76, 77, 78, 79, 81, 82,
        83, 84, 85, 86, 88, 89, 90, 91, 92, 93, 94, 95, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117,
        118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149,
        150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179,
        180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206,
        207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232,
        233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255,
    ], from "q91";
    /// Bits behind the first one that a gradient, times the extent of the texture, keeps.
    GRADIENT_BITS: u32 = 9, from "q91";
    /// Bits of the extent that a gradient is multiplied by.
    EXTENT_BITS: u32 = 10, from "q91";
    /// The product of a gradient and an extent, both of ten bits, lacks the partial products of this many low places.
    GRADIENT_PRODUCT_CUT: u32 = 6, from "q91";
    /// What is added to that product before it is cut.
    GRADIENT_PRODUCT_ROUNDING: u64 = 448, from "q91";
    /// The length of a gradient is its largest component and these parts of the second and the third one.
    LENGTH_PARTS: [f64; 2] = [11.0 / 32.0, 8.0 / 32.0], from "q91";
    /// The length across is that of the sum or of the difference of two gradients, times this.
    DIAGONAL: f64 = 11.0 / 16.0, from "q91";
    /// The flags of a texture that are accepted, those without a name included; a cube map takes the one for no seams too.
    ACCEPTED_TEXTURE_FLAGS: u32 = 0x3f, from "q62";
    /// The widest one-dimensional array.
    MAX_ARRAY_1D: usize = 131_072, from "q62";
    /// The widest one-dimensional array for surfaces.
    MAX_SURFACE_1D: usize = 32_768, from "q62";
    /// The largest two-dimensional array.
    MAX_ARRAY_2D: [usize; 2] = [131_072, 65_536], from "q62";
    /// The largest three-dimensional array.
    MAX_ARRAY_3D: [usize; 3] = [16_384, 16_384, 16_384], from "q62";
    /// The largest three-dimensional array that is narrower and deeper.
    MAX_ARRAY_3D_ALTERNATE: [usize; 3] = [8_192, 8_192, 32_768], from "q62";
    /// The most layers of an array.
    MAX_LAYERS: usize = 2_048, from "q62";
    /// The most faces of layered cubes.
    MAX_CUBE_LAYERS: usize = 2_046, from "q62";
    /// The largest width and height of a layer or a face.
    LAYERED_EXTENT: usize = 32_768, from "q62";
    /// The largest width and height of an array for `tld4`, which has two dimensions.
    GATHER_EXTENT: usize = 32_768, from "q62";
    /// Arrays cannot be made with these flags: depth textures and colour attachments. Other unknown flags are accepted.
    REFUSED_ARRAY_FLAGS: u32 = 0x30, from "q62";
    /// The most bytes of a texture of linear memory.
    MAX_LINEAR_BYTES: u64 = 1 << 32, from "q65";
    /// A subnormal coordinate counts as zero: these bits tell one from others.
    COORDINATE_EXPONENT: u32 = 0x7f80_0000, from "q27";
}
