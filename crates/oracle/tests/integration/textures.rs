//! Texture and surface instructions on small objects whose results are known by hand.

use rtcg_oracle::texture::{AddressMode, BoundTextureObject, ChannelFormat, SamplerState, TexelStorage, TextureObject};
use rtcg_oracle::{OracleBuffer, OracleLaunch, run_kernel};
use rtcg_ptx::ast::TextureGeometry;

const POINT_SAMPLER: SamplerState = SamplerState {
    address: [AddressMode::Clamp; 3],
    linear: false,
    normalized: false,
    as_integers: false,
    border: [0; 4],
    mip_linear: false,
};

fn texture_object(
    geometry: TextureGeometry,
    extents: [u32; 3],
    channel: ChannelFormat,
    sampler: Option<SamplerState>,
) -> TextureObject {
    TextureObject {
        geometry,
        storage: TexelStorage::Array,
        channel,
        channels: 1,
        extents,
        layers: 1,
        levels: 1,
        sampler,
    }
}

fn texture_1d(n: u32, sampler: SamplerState) -> TextureObject {
    texture_object(TextureGeometry::D1, [n, 1, 1], ChannelFormat::F32, Some(sampler))
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Runs a body in one thread with the object's handle in `%o`; gives `%r0` to `%r3` and the texels.
fn run_with_texture(o: TextureObject, texels: &[u8], body: &str) -> Result<([u32; 4], Vec<u8>), String> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u64 h) {{ .reg .b64 %d, %o; .reg .b32 %r<9>; .reg .b16 %h<4>; \
         ld.param.u64 %d, [p]; ld.param.u64 %o, [h]; mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n\
         {body}\nst.global.v4.b32 [%d], {{%r0, %r1, %r2, %r3}}; ret; }}"
    );
    let parsed = rtcg_ptx::parse(text);
    assert!(!parsed.has_errors(), "{}", parsed.render_diagnostics("test"));
    let mut buffers = vec![
        OracleBuffer { address: 0x1000, bytes: vec![0; 16], writable: true },
        OracleBuffer { address: 0x2000, bytes: texels.to_vec(), writable: o.sampler.is_none() },
    ];
    assert_eq!(texels.len(), o.total_bytes());
    let params = [0x1000u64, 77].iter().flat_map(|p| p.to_le_bytes()).collect();
    let objects = vec![BoundTextureObject { handle: 77, address: 0x2000, object: o }];
    let launch = OracleLaunch { grid: [1; 3], block: [1; 3], dynamic_shared: 0, params, objects, ..Default::default() };
    run_kernel(&parsed.module, "k", &launch, &mut buffers).map_err(|e| e.to_string())?;
    let words: Vec<u32> = buffers[0].bytes.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    Ok(([words[0], words[1], words[2], words[3]], buffers.remove(1).bytes))
}

/// What one `tex` gives: `words` are what stands between `tex` and the results.
fn run_tex(o: TextureObject, texels: &[u8], words: &str, place: &str) -> Result<[u32; 4], String> {
    let (opcode, types) = words.split_once(' ').unwrap_or(("tex", words));
    run_with_texture(o, texels, &format!("{opcode}.{types} {{%r0, %r1, %r2, %r3}}, [%o, {place};")).map(|r| r.0)
}

/// The first channel as a float, at a float coordinate of a line.
fn sample_1d(o: TextureObject, texels: &[f32], x: f32) -> f32 {
    let place = format!("{{0f{:08X}}}]", x.to_bits());
    f32::from_bits(run_tex(o, &f32_bytes(texels), "1d.v4.f32.f32", &place).unwrap()[0])
}

#[test]
fn address_modes_extend_a_texture() {
    let texels = [10.0, 20.0, 30.0, 40.0];
    let border = SamplerState { address: [AddressMode::Border; 3], border: [7f32.to_bits(); 4], ..POINT_SAMPLER };
    let border = SamplerState { address: [AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp], ..border };
    for (x, clamp, bordered) in [
        (-0.5, 10.0, 7.0),
        (-1e-45, 10.0, 10.0),
        (-1e-30, 10.0, 7.0),
        (0.0, 10.0, 10.0),
        (1.0, 20.0, 20.0),
        (3.75, 40.0, 40.0),
        (4.0, 40.0, 7.0),
        (f32::NAN, 10.0, 10.0),
        (f32::INFINITY, 40.0, 7.0),
        (f32::NEG_INFINITY, 10.0, 7.0),
        (3e38, 40.0, 7.0),
    ] {
        assert_eq!(sample_1d(texture_1d(4, POINT_SAMPLER), &texels, x), clamp, "{x}");
        assert_eq!(sample_1d(texture_1d(4, border), &texels, x), bordered, "{x}");
    }
    let wrap = SamplerState { address: [AddressMode::Wrap; 3], normalized: true, ..POINT_SAMPLER };
    let mirror = SamplerState { address: [AddressMode::Mirror; 3], normalized: true, ..POINT_SAMPLER };
    for (x, wrapped, mirrored) in [
        (0.25, 20.0, 20.0),
        (0.999, 40.0, 40.0),
        (1.0, 10.0, 40.0),
        (1.3, 20.0, 30.0),
        (-0.1, 40.0, 10.0),
        (-1e-30, 40.0, 10.0),
        (-1.1, 40.0, 40.0),
        (7.5, 30.0, 20.0),
        (1e10, 10.0, 10.0),
        (f32::INFINITY, 10.0, 10.0),
        (f32::NAN, 10.0, 10.0),
    ] {
        assert_eq!(sample_1d(texture_1d(4, wrap), &texels, x), wrapped, "{x}");
        assert_eq!(sample_1d(texture_1d(4, mirror), &texels, x), mirrored, "{x}");
    }
    // Coordinates in texels neither wrap nor mirror.
    assert_eq!(sample_1d(texture_1d(4, SamplerState { normalized: false, ..wrap }), &texels, 5.0), 40.0);
}

#[test]
fn linear_filter_weights_have_8_bits() {
    let linear = SamplerState { linear: true, ..POINT_SAMPLER };
    let texels = [0.0, 256.0, 512.0, -256.0];
    for (x, want) in [
        (0.5, 0.0),
        (1.0, 128.0),
        (0.0, 0.0),
        (0.5 + 1.0 / 512.0, 1.0),
        (0.5 + 0.9 / 512.0, 0.0),
        (1.5 - 1.0 / 512.0, 256.0),
        (1.5 - 2.0 / 512.0, 255.0),
        (3.0, 128.0),
        (9.0, -256.0),
    ] {
        assert_eq!(sample_1d(texture_1d(4, linear), &texels, x), want, "{x}");
    }
    let sides = [AddressMode::Border, AddressMode::Clamp, AddressMode::Clamp];
    let border = SamplerState { address: sides, border: [8f32.to_bits(); 4], ..linear };
    assert_eq!(sample_1d(texture_1d(4, border), &texels, 0.0), 4.0);
    assert_eq!(sample_1d(texture_1d(4, border), &texels, 4.25), 0.25 * -256.0 + 0.75 * 8.0);
    let wrap = SamplerState { address: [AddressMode::Wrap; 3], normalized: true, ..linear };
    assert_eq!(sample_1d(texture_1d(4, wrap), &texels, 0.0), -128.0);
    assert_eq!(sample_1d(texture_1d(4, wrap), &texels, -1.0 / 16.0), 0.75 * -256.0);
    // A texel of weight 0 takes no part, whatever it is.
    assert_eq!(sample_1d(texture_1d(2, linear), &[3.0, f32::INFINITY], 0.5), 3.0);
}

#[test]
fn filters_in_2d_and_3d_blend_4_and_8_texels() {
    let linear = Some(SamplerState { linear: true, ..POINT_SAMPLER });
    let square = texture_object(TextureGeometry::D2, [2, 2, 1], ChannelFormat::F32, linear);
    let texels = f32_bytes(&[1.0, 2.0, 4.0, 8.0]);
    let of = |place: &str| f32::from_bits(run_tex(square, &texels, "2d.v4.f32.f32", place).unwrap()[0]);
    assert_eq!(of("{0f3F800000, 0f3F800000}]"), 3.75);
    // x = 0.75, y = 1.25: weights 1/4 and 3/4.
    assert_eq!(of("{0f3F400000, 0f3FA00000}]"), (3.0 + 2.0 + 3.0 * (12.0 + 8.0)) / 16.0);
    assert_eq!(of("{0f3F400000, 0f3FA00000}], {7, -8}"), 2.0);
    let volume = texture_object(TextureGeometry::D3, [2, 2, 2], ChannelFormat::F32, linear);
    let texels = f32_bytes(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let of = |place: &str| f32::from_bits(run_tex(volume, &texels, "3d.v4.f32.f32", place).unwrap()[0]);
    assert_eq!(of("{0f3F800000, 0f3F800000, 0f3F800000, 0f00000000}]"), 3.5);
    assert_eq!(of("{0f3F800000, 0f3F000000, 0f3FC00000, 0f00000000}]"), 4.5);
}

#[test]
fn channel_formats_are_read_normalized_or_raw() {
    let one = |channel: ChannelFormat, as_integers: bool, texels: &[u8]| {
        let o = texture_object(
            TextureGeometry::D2,
            [1, 1, 1],
            channel,
            Some(SamplerState { as_integers, ..POINT_SAMPLER }),
        );
        let ty = if o.reads_floats() { "f32" } else { "s32" };
        run_tex(o, texels, &format!("2d.v4.{ty}.s32"), "{0, 0}]").unwrap()[0]
    };
    let float = |channel: ChannelFormat, texels: &[u8]| f32::from_bits(one(channel, false, texels));
    assert_eq!(float(ChannelFormat::U8, &[255]), 1.0);
    assert_eq!(one(ChannelFormat::U8, false, &[1]), 0x3b80_8081);
    assert_eq!((float(ChannelFormat::S8, &[0x80]), float(ChannelFormat::S8, &[0x81])), (-1.0, -1.0));
    assert_eq!(float(ChannelFormat::S8, &[127]), 1.0);
    assert_eq!(one(ChannelFormat::U16, false, &[1, 0]), 0x3780_0080);
    assert_eq!(float(ChannelFormat::S16, &[0xff, 0x7f]), 1.0);
    assert_eq!(float(ChannelFormat::F16, &[0, 0xc5]), -5.0);
    assert_eq!(float(ChannelFormat::F16, &[1, 0]), 2f32.powi(-24));
    assert_eq!(one(ChannelFormat::F32, false, &[1, 0, 0x80, 0xff]), 0xff80_0001);
    assert_eq!((one(ChannelFormat::U8, true, &[200]), one(ChannelFormat::S8, true, &[200])), (200, 0xffff_ffc8));
    assert_eq!(
        (one(ChannelFormat::U16, true, &[0, 0x80]), one(ChannelFormat::S16, true, &[0, 0x80])),
        (0x8000, 0xffff_8000)
    );
    assert_eq!(one(ChannelFormat::U32, false, &[1, 2, 3, 0xf4]), 0xf403_0201);
    // (0 + 1) / 2 of 255 in 16 bits, halves up; channels that are missing are 0.
    let o = TextureObject {
        channels: 2,
        ..texture_object(
            TextureGeometry::D1,
            [2, 1, 1],
            ChannelFormat::U8,
            Some(SamplerState { linear: true, ..POINT_SAMPLER }),
        )
    };
    let got = run_tex(o, &[0, 255, 1, 255], "1d.v4.f32.f32", "{0f3F800000}]").unwrap();
    assert_eq!(got, [(129.0f32 / 65535.0).to_bits(), 1f32.to_bits(), 0, 0]);
}

#[test]
fn texels_are_fetched_by_index_and_layer() {
    let layers = TextureObject {
        layers: 3,
        ..texture_object(TextureGeometry::A1, [2, 1, 1], ChannelFormat::F32, Some(POINT_SAMPLER))
    };
    let texels = f32_bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let of = |place: &str| f32::from_bits(run_tex(layers, &texels, "a1d.v4.f32.s32", place).unwrap()[0]);
    assert_eq!(["{0, 1}]", "{1, 0}]", "{9, 1}]", "{-1, 0}]"].map(of), [2.0, 3.0, 6.0, 5.0]);
    assert_eq!(["{1, 2}]", "{1, -1}]", "{1, 3}], {-2}", "{1, -3}], {4}"].map(of), [0.0, 0.0, 4.0, 4.0]);
    // The rows of pitched memory are 32 bytes long.
    let pitched = TextureObject {
        storage: TexelStorage::Pitched,
        ..texture_object(
            TextureGeometry::D2,
            [3, 2, 1],
            ChannelFormat::U8,
            Some(SamplerState { as_integers: true, ..POINT_SAMPLER }),
        )
    };
    let texels: Vec<u8> = (0..64).collect();
    assert_eq!(run_tex(pitched, &texels, "2d.v4.u32.s32", "{2, 1}]").unwrap()[0], 34);
    assert_eq!(run_tex(pitched, &texels, "2d.v4.u32.f32", "{0f41200000, 0f41200000}]").unwrap()[0], 34);
}

#[test]
fn gathers_order_their_four_texels() {
    let o = texture_object(TextureGeometry::D2, [3, 2, 1], ChannelFormat::F32, Some(POINT_SAMPLER));
    let texels = f32_bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let of = |place: &str| run_tex(o, &texels, "tld4.r 2d.v4.f32.f32", place).unwrap().map(f32::from_bits);
    assert_eq!(of("{0f3F800000, 0f3F800000}]"), [4.0, 5.0, 2.0, 1.0]);
    assert_eq!(of("{0f40400000, 0f00000000}]"), [3.0, 3.0, 3.0, 3.0]);
    let texels: Vec<u8> = f32_bytes(&[1.0, 2.0, 3.0, 4.0]);
    let o = TextureObject { channels: 2, extents: [2, 1, 1], ..o };
    assert_eq!(
        run_tex(o, &texels, "tld4.g 2d.v4.f32.f32", "{0f3F800000, 0f00000000}]").unwrap(),
        [2f32, 4.0, 4.0, 2.0].map(f32::to_bits)
    );
}

#[test]
fn cube_directions_select_faces() {
    let o = TextureObject {
        layers: 6,
        ..texture_object(
            TextureGeometry::Cube,
            [2, 2, 1],
            ChannelFormat::F32,
            Some(SamplerState { normalized: true, ..POINT_SAMPLER }),
        )
    };
    // The tens are faces, the ones texels.
    let texels: Vec<f32> = (0..24).map(|i| (i / 4 * 10 + i % 4) as f32).collect();
    let of = |d: [f32; 3]| {
        let [x, y, z] = d.map(|v| format!("0f{:08X}", v.to_bits()));
        let got = run_tex(o, &f32_bytes(&texels), "cube.v4.f32.f32", &format!("{{{x}, {y}, {z}, {z}}}]"));
        f32::from_bits(got.unwrap()[0])
    };
    for (d, want) in [
        // s = -z, t = -y
        ([4.0, 1.0, 1.0], 0.0),
        ([4.0, -1.0, -1.0], 3.0),
        // s = z, t = -y
        ([-4.0, 1.0, 1.0], 11.0),
        // s = x, t = z
        ([1.0, 4.0, -1.0], 21.0),
        // s = x, t = -z
        ([-1.0, -4.0, -1.0], 32.0),
        // s = x, t = -y
        ([1.0, 1.0, 4.0], 41.0),
        // s = -x, t = -y
        ([1.0, -1.0, -4.0], 52.0),
        // z before y before x
        ([1.0, 1.0, 1.0], 41.0),
        ([1.0, 1.0, 0.5], 23.0),
        ([0.0, 0.0, 0.0], 43.0),
        ([-2f32.powi(-60), 0.0, 2f32.powi(60)], 42.0),
        ([1.0, f32::INFINITY, f32::INFINITY], 3.0),
        ([f32::INFINITY, 1.0, 1.0], 43.0),
        ([3e38, 3e38, 1.0], 43.0),
        ([1e-40, 1e-40, 0.0], 23.0),
        ([f32::NAN, -2.0, f32::NAN], 33.0),
    ] {
        assert_eq!(of(d), want, "{d:?}");
    }
    // A filter stays on its face: the middle of it, a quarter to the right, the edge.
    let filtered =
        TextureObject { sampler: Some(SamplerState { linear: true, normalized: true, ..POINT_SAMPLER }), ..o };
    for (x, want) in [("0f00000000", 41.5), ("0f3E800000", 41.75), ("0f3F800000", 42.0)] {
        let place = format!("{{{x}, 0f00000000, 0f3F800000, 0f00000000}}]");
        let got = run_tex(filtered, &f32_bytes(&texels), "cube.v4.f32.f32", &place).unwrap()[0];
        assert_eq!(f32::from_bits(got), want, "{x}");
    }
}

#[test]
fn mip_levels_are_selected_and_blended() {
    let sampler = SamplerState { normalized: true, ..POINT_SAMPLER };
    let o = TextureObject { levels: 3, ..texture_1d(4, sampler) };
    // 4, 2 and 1 texels.
    let texels = f32_bytes(&[1.0, 1.0, 1.0, 1.0, 3.0, 5.0, 9.0]);
    let of = |o: TextureObject, level: f32| {
        let place = format!("{{0f3F400000}}], 0f{:08X}", level.to_bits());
        f32::from_bits(run_tex(o, &texels, "tex.level 1d.v4.f32.f32", &place).unwrap()[0])
    };
    let levels = [-3.0, 0.0, 0.49999997, 0.5, 1.4, 1.5, 70.0, f32::NAN];
    assert_eq!(levels.map(|l| of(o, l)), [1.0, 1.0, 1.0, 5.0, 5.0, 9.0, 9.0, 1.0]);
    let mixed = TextureObject { sampler: Some(SamplerState { mip_linear: true, ..sampler }), ..o };
    assert_eq!([0.25, 1.5, 2.0, 9.0].map(|l| of(mixed, l)), [2.0, 7.0, 9.0, 9.0]);
    assert_eq!(of(mixed, 0.25 + 0.999 / 256.0), 2.0);
    let whole = |level: i32| run_tex(o, &texels, "tex.level 1d.v4.f32.s32", &format!("{{1}}], {level}")).unwrap()[0];
    // In one dimension a number names a texel of linear memory.
    assert_eq!([-1, 0, 1, 2, 3].map(whole), [0; 5]);
    let query = |what: &str, level: &str| {
        run_with_texture(o, &texels, &format!("txq.{what}.b32 %r0, [%o]{level};")).unwrap().0[0]
    };
    assert_eq!((query("width", ""), query("level.width", ", 1"), query("num_mipmap_levels", "")), (4, 2, 3));
    assert_eq!(query("normalized_coords", ""), 1);
}

#[test]
fn surfaces_are_read_and_written() {
    let o = texture_object(TextureGeometry::D2, [2, 2, 1], ChannelFormat::U16, None);
    let texels = [1, 0, 2, 0, 3, 0, 4, 0];
    let load = |place: &str, clamp: &str| {
        run_with_texture(o, &texels, &format!("suld.b.2d.b16.{clamp} {{%h1}}, [%o, {place}]; cvt.u32.u16 %r0, %h1;"))
            .map(|r| r.0[0])
    };
    assert_eq!(load("{2, 1}", "trap"), Ok(4));
    assert_eq!((load("{4, 0}", "zero"), load("{4, 0}", "clamp"), load("{-6, 9}", "clamp")), (Ok(0), Ok(2), Ok(3)));
    assert!(load("{4, 0}", "trap").unwrap_err().contains("out of bounds"));
    assert!(load("{1, 0}", "zero").unwrap_err().contains("not aligned"));
    let store = |text: &str| run_with_texture(o, &texels, text).unwrap().1;
    assert_eq!(store("sust.b.2d.b16.trap [%o, {2, 0}], {0x1234};"), [1, 0, 0x34, 0x12, 3, 0, 4, 0]);
    assert_eq!(store("sust.b.2d.v2.b16.zero [%o, {0, 2}], {9, 9};"), texels);
    // Formatted: x counts texels, values saturate.
    assert_eq!(store("sust.p.2d.b32.clamp [%o, {9, 1}], {70000};"), [1, 0, 2, 0, 3, 0, 0xff, 0xff]);
    let signed = TextureObject { channel: ChannelFormat::S8, channels: 2, ..o };
    let (_, got) = run_with_texture(signed, &[0; 8], "sust.p.2d.v2.b32.trap [%o, {1, 0}], {-200, 300};").unwrap();
    assert_eq!(got, [0, 0, 0x80, 0x7f, 0, 0, 0, 0]);
    let half = TextureObject { channel: ChannelFormat::F16, ..o };
    let (_, got) = run_with_texture(half, &[0; 8], "sust.p.2d.b32.trap [%o, {0, 1}], {0f40490FDB};").unwrap();
    assert_eq!(got, [0, 0, 0, 0, 0x48, 0x42, 0, 0]);
    let words = TextureObject { layers: 2, ..texture_object(TextureGeometry::A1, [2, 1, 1], ChannelFormat::S32, None) };
    let before: Vec<u8> = [5u32, 6, 7, 8].iter().flat_map(|w| w.to_le_bytes()).collect();
    let reduce = |text: &str| {
        let after = run_with_texture(words, &before, text).unwrap().1;
        after.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect::<Vec<_>>()
    };
    assert_eq!(reduce("sured.b.add.a1d.u32.trap [%o, {1, 4}], 10;"), [5, 6, 7, 18]);
    assert_eq!(reduce("sured.p.min.a1d.b32.clamp [%o, {7, -1}], -2;"), [5, 6, -2i32 as u32, 8]);
    assert_eq!(reduce("sured.b.max.a1d.u32.zero [%o, {0, 8}], 9;"), [5, 6, 7, 8]);
    let query = |what: &str| run_with_texture(o, &texels, &format!("suq.{what}.b32 %r0, [%o];")).unwrap().0[0];
    assert_eq!((query("width"), query("height")), (2, 2));
}

/// What an H200 gives: weights are rounded products, and small texels lose bits beside large ones.
#[test]
fn filtered_sums_are_those_of_a_device() {
    let linear = SamplerState { linear: true, ..POINT_SAMPLER };
    let of = |values: &[f32], x: f32| sample_1d(texture_1d(2, linear), values, x);
    // Weights 246 and 10.
    let x = 0.5 + 10.0 / 256.0;
    assert_eq!(of(&[0.189_889_71, -4.565_378], x).to_bits(), (8_884_242.0_f32 / 2_147_483_648.0).to_bits());
    assert_eq!(of(&[1e30, 1.0], 1.0), 5e29);
    // A line of an array has no texels for whole coordinates.
    let o = texture_1d(2, POINT_SAMPLER);
    assert_eq!(run_tex(o, &f32_bytes(&[1.0, 2.0]), "1d.v4.f32.s32", "{1}]").unwrap(), [0; 4]);
}

#[test]
fn unspecified_texture_results_are_refused() {
    let linear = SamplerState { linear: true, ..POINT_SAMPLER };
    let refused = |o: TextureObject, texels: &[f32], words: &str, place: &str, what: &str| {
        let error = run_tex(o, &f32_bytes(texels), words, place).expect_err(what);
        assert!(error.contains(what), "{error}");
    };
    let middle = "{0f3F800000}]";
    refused(texture_1d(2, linear), &[f32::NAN, 1.0], "1d.v4.f32.f32", middle, "not finite");
    refused(texture_1d(2, linear), &[-0.0, -0.0], "1d.v4.f32.f32", middle, "sign of a filtered zero");
    refused(texture_1d(2, linear), &[1.0, 2.0], "1d.v4.s32.f32", middle, "another type");
    refused(texture_1d(2, linear), &[1.0, 2.0], "2d.v4.f32.s32", "{0, 0}]", "another shape");
    let memory = TextureObject { storage: TexelStorage::Linear, ..texture_1d(2, POINT_SAMPLER) };
    refused(memory, &[1.0, 2.0], "1d.v4.f32.f32", middle, "linear memory");
    let levels = TextureObject { levels: 2, ..texture_1d(2, SamplerState { normalized: true, ..POINT_SAMPLER }) };
    refused(
        levels,
        &[1.0, 2.0, 3.0],
        "tex.grad 1d.v4.f32.f32",
        "{0f00000000}], {0f00000000}, {0f00000000}",
        "derivatives",
    );
    let surface = texture_object(TextureGeometry::D1, [2, 1, 1], ChannelFormat::F32, None);
    refused(surface, &[1.0, 2.0], "1d.v4.f32.f32", middle, "no such object");
    let half = TextureObject { channel: ChannelFormat::F16, ..surface };
    let nan = run_with_texture(half, &[0; 4], "sust.p.1d.b32.trap [%o, {0}], {0f7FC00000};");
    assert!(nan.unwrap_err().contains("no single result"));
}
