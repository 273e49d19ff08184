//! Checks of images for drivers that take an address without a length.
//!
//! Establishes: an image passed to a driver contains every byte that its headers refer to. This crate knows the image's
//! length; the driver would read past its end.

use crate::error::{Error, Result};
use rtcg_cuda_sys::CUresult;
use std::borrow::Cow;

const ELF_MAGIC: &[u8] = b"\x7fELF";
const FATBIN_MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// Begins the structure by which compiled programs refer to a fat binary, by its address.
const WRAPPER_MAGIC: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const ELF_HEADER_BYTES: usize = 64;
/// Type of an ELF section that has no bytes in the file.
const SHT_NOBITS: u32 = 8;
/// `kind` of an entry of a fat binary that is a cubin, and `flags` of compressed ones.
const CUBIN_KIND: u16 = 2;
const COMPRESSED_FLAGS: u64 = 0xa000;

/// An image as `call` wants it: text ends with a NUL. Machine code, which may be large, is not copied.
///
/// # Errors
/// `CUDA_ERROR_INVALID_IMAGE` for a cubin or a fat binary whose headers speak of more bytes than there are.
pub(super) fn driver_image<'a>(call: &'static str, image: &'a [u8]) -> Result<Cow<'a, [u8]>> {
    check_image_lengths(call, image)?;
    let is_binary = image.starts_with(ELF_MAGIC) || image.starts_with(&FATBIN_MAGIC);
    let missing = ELF_HEADER_BYTES.saturating_sub(image.len());
    Ok(match is_binary {
        true if missing == 0 => Cow::Borrowed(image),
        true => Cow::Owned([image, &vec![0; missing]].concat()),
        false if image.last() == Some(&0) => Cow::Borrowed(image),
        false => Cow::Owned([image, &[0]].concat()),
    })
}

/// See [`driver_image`].
pub(super) fn check_image_lengths(call: &'static str, image: &[u8]) -> Result<()> {
    let problem = if image.starts_with(&WRAPPER_MAGIC) {
        Some("it begins like the structure that refers to a fat binary by an address".to_owned())
    } else if image.starts_with(&FATBIN_MAGIC) {
        fatbin_problem(image)
    } else if image.starts_with(ELF_MAGIC) {
        cubin_problem(image)
    } else {
        None
    };
    problem.map_or(Ok(()), |problem| {
        let detail = format!("the image of {} bytes is broken: {problem}", image.len());
        Err(Error::new(call, CUresult::CUDA_ERROR_INVALID_IMAGE, detail))
    })
}

fn fatbin_problem(image: &[u8]) -> Option<String> {
    let Some((header, rest)) = read_u16(image, 6).zip(read_u64(image, 8)) else {
        return Some("the header of a fat binary has 16 bytes".to_owned());
    };
    let total = u64::from(header).saturating_add(rest);
    if total > image.len() as u64 {
        return Some(format!("the header of the fat binary speaks of {total} bytes"));
    }
    let mut entries = image.get(usize::from(header)..total as usize)?;
    while !entries.is_empty() {
        let lengths = read_u32(entries, 4).zip(read_u64(entries, 8));
        let entry = lengths.and_then(|(header, stored)| {
            let header = header as usize;
            let contents = entries.get(header..)?.get(..usize::try_from(stored).ok()?)?;
            Some((header, contents)).filter(|_| header > 0)
        });
        let Some((header, contents)) = entry else {
            return Some("an entry of the fat binary speaks of more bytes than there are".to_owned());
        };
        let plain = read_u64(entries, 40).is_some_and(|flags| flags & COMPRESSED_FLAGS == 0);
        if plain && read_u16(entries, 0) == Some(CUBIN_KIND) && contents.starts_with(ELF_MAGIC) {
            let problem = cubin_problem(contents);
            if problem.is_some() {
                return problem;
            }
        }
        entries = &entries[header + contents.len()..];
    }
    None
}

/// What is wrong with the tables and sections of a 64-bit ELF file.
fn cubin_problem(image: &[u8]) -> Option<String> {
    // What is shorter is filled up with zeros, which are no tables.
    let header = image.get(..ELF_HEADER_BYTES)?;
    let inside = |start: Option<u64>, len: Option<u64>| {
        start.zip(len).and_then(|(start, len)| start.checked_add(len)).is_some_and(|end| end <= image.len() as u64)
    };
    let table = |offset: usize, size: usize, count: usize| {
        let (start, size) = (read_u64(header, offset)?, u64::from(read_u16(header, size)?));
        Some((start, size, u64::from(read_u16(header, count)?)))
    };
    let (segments, sections) = (table(32, 54, 56)?, table(40, 58, 60)?);
    for (what, (start, size, count)) in [("segments", segments), ("sections", sections)] {
        if count > 0 && !inside(Some(start), Some(size * count)) {
            return Some(format!("its table of {what} lies behind its end"));
        }
    }
    let rows = |(start, size, count): (u64, u64, u64)| (0..count).map(move |i| (start + i * size) as usize);
    let segment_fits = |at: usize| inside(read_u64(image, at + 8), read_u64(image, at + 32));
    let section_fits = |at: usize| {
        read_u32(image, at + 4) == Some(SHT_NOBITS) || inside(read_u64(image, at + 24), read_u64(image, at + 32))
    };
    let fine = rows(segments).all(segment_fits) && rows(sections).all(section_fits);
    (!fine).then(|| "one of its sections lies behind its end".to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fatbin(header: u16, claimed: u64, entries: &[u8]) -> Vec<u8> {
        [&FATBIN_MAGIC[..], &[1, 0], &header.to_le_bytes(), &claimed.to_le_bytes(), entries].concat()
    }

    fn entry(kind: u16, header: u32, stored: u64, contents: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&header.to_le_bytes());
        bytes[8..16].copy_from_slice(&stored.to_le_bytes());
        bytes.extend(contents);
        bytes
    }

    #[test]
    fn lengths_of_fat_binaries_are_checked() {
        let good = entry(1, 64, 5, b"hello");
        assert!(driver_image("f", &fatbin(16, 69, &good)).is_ok());
        assert!(driver_image("f", &[fatbin(16, 69, &good), vec![7; 9]].concat()).is_ok(), "what follows is ignored");
        for len in 0..69 {
            assert!(driver_image("f", &fatbin(16, 69, &good[..len])).is_err(), "cut off after {len}");
            assert!(
                len == 0 || driver_image("f", &fatbin(16, len as u64, &good[..len])).is_err(),
                "one entry of {len}"
            );
        }
        for (header, claimed) in [(16, u64::MAX), (16, 1 << 40), (u16::MAX, 69), (17, 69)] {
            assert!(driver_image("f", &fatbin(header, claimed, &good)).is_err(), "{header} {claimed}");
        }
        for (header, stored) in [(0, 5), (u32::MAX, 5), (64, u64::MAX), (64, 6), (65, 5)] {
            assert!(driver_image("f", &fatbin(16, 69, &entry(1, header, stored, b"hello"))).is_err());
        }
        let error = driver_image("f", &WRAPPER_MAGIC.repeat(8)).unwrap_err();
        assert!(error.to_string().contains("refers to a fat binary"), "{error}");
    }

    #[test]
    fn tables_of_cubins_are_checked() {
        let mut elf = vec![0; 64 + 64 + 8];
        elf[..4].copy_from_slice(ELF_MAGIC);
        elf[40..48].copy_from_slice(&64_u64.to_le_bytes());
        elf[58..62].copy_from_slice(&[64, 0, 1, 0]);
        elf[64 + 24..64 + 32].copy_from_slice(&128_u64.to_le_bytes());
        elf[64 + 32..64 + 40].copy_from_slice(&8_u64.to_le_bytes());
        assert!(driver_image("f", &elf).is_ok());
        for len in 64..elf.len() {
            assert!(driver_image("f", &elf[..len]).is_err(), "{len}");
        }
        assert_eq!(driver_image("f", &elf[..20]).unwrap().len(), ELF_HEADER_BYTES);
        for (at, value) in [(40, u64::MAX), (40, 1 << 40), (88, u64::MAX), (96, 9), (96, u64::MAX)] {
            let mut broken = elf.clone();
            broken[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
            assert!(driver_image("f", &broken).is_err(), "{at} {value}");
            let container = fatbin(16, 64 + broken.len() as u64, &entry(2, 64, broken.len() as u64, &broken));
            assert!(driver_image("f", &container).is_err(), "{at} {value}, in a fat binary");
        }
    }

    #[test]
    fn texts_end_with_a_nul() {
        assert_eq!(driver_image("f", b".version 8.0").unwrap().last(), Some(&0));
        assert!(matches!(driver_image("f", b".version 8.0\0").unwrap(), Cow::Borrowed(_)));
        assert_eq!(&*driver_image("f", b"").unwrap(), b"\0");
    }
}
