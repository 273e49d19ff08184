//! Any bytes as an image for a module: fat binaries, whose headers and compressed texts may say anything, and others.
#![no_main]

use rtcg_vgpu::module::{LoadOptions, load_image};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let fatbin = [&0xba55_ed50_u32.to_le_bytes()[..], bytes].concat();
    for image in [bytes, &fatbin] {
        drop(load_image(image, &LoadOptions::default()));
    }
});
