//! Fat binaries: what they hold is loaded, and whatever their headers claim, nothing else is read.

#[path = "fat_binaries/mod.rs"]
mod fat_binaries;

use fat_binaries::{LZ4, TEXT, ZSTD, entry, fatbin, load, lz4, whole, zstd};
use rtcg_vgpu_abi::error::ResultCode;

#[test]
fn each_way_of_storing_text_is_read() {
    let (text, full) = (TEXT.as_bytes(), TEXT.len() as u64);
    for one in [entry(80, 0, 0, text), entry(80, LZ4, full, &lz4(text)), entry(80, ZSTD, full, &zstd(text))] {
        assert_eq!(load(&fatbin(&[one])), ResultCode::SUCCESS);
    }
    assert_eq!(load(&whole()), ResultCode::SUCCESS);
    assert_eq!(load(&fatbin(&[])), ResultCode::NO_BINARY_FOR_GPU);
}

#[test]
fn lengths_that_claim_more_than_there_is_are_refused() {
    let image = whole();
    for len in 4..image.len() {
        assert_eq!(load(&image[..len]), ResultCode::INVALID_IMAGE, "cut off after {len}");
    }
    for value in [u64::MAX, 1 << 63, 1 << 40, image.len() as u64] {
        for at in [8, 16 + 8] {
            let mut broken = image.clone();
            broken[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert_eq!(load(&broken), ResultCode::INVALID_IMAGE, "{value:#x} at {at}");
        }
    }
    let text = TEXT.as_bytes();
    for claimed in [0, TEXT.len() as u64 - 1, TEXT.len() as u64 + 1, 1 << 29, 1 << 40, u64::MAX] {
        for one in [entry(80, LZ4, claimed, &lz4(text)), entry(80, ZSTD, claimed, &zstd(text))] {
            assert_eq!(load(&fatbin(&[one])), ResultCode::INVALID_IMAGE, "{claimed}");
        }
    }
    // A broken entry does not hide a good one.
    let good = entry(75, 0, 0, text);
    assert_eq!(load(&fatbin(&[entry(80, LZ4, 1 << 40, &lz4(text)), good])), ResultCode::SUCCESS);
}

#[test]
fn fields_with_any_value_never_panic() {
    let image = whole();
    for at in 4..image.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut broken = image.clone();
            broken[at] = value;
            load(&broken);
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for _ in 0..5000 {
        let mut broken = image.clone();
        for _ in 0..1 + below(8) {
            let at = 4 + below(image.len() - 4);
            broken[at] = below(256) as u8;
        }
        load(&broken);
    }
}
