//! Decompresses LZ4 blocks (without frames), as fat binaries hold them.
//!
//! Establishes: any bytes give a text of the announced length or nothing.

/// The contents of `block`, which must be `full` bytes.
pub(crate) fn decompress(block: &[u8], full: usize) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    let mut rest = block;
    loop {
        let token = take_byte(&mut rest)?;
        let literals = extended_length(&mut rest, token >> 4)?;
        let (copied, behind) = rest.split_at_checked(literals)?;
        (out.len() + literals <= full).then_some(())?;
        out.extend_from_slice(copied);
        rest = behind;
        // The last sequence has no match.
        if rest.is_empty() {
            return (out.len() == full).then_some(out);
        }
        let distance = usize::from(u16::from_le_bytes([take_byte(&mut rest)?, take_byte(&mut rest)?]));
        let repeated = extended_length(&mut rest, token & 15)?.checked_add(4)?;
        (distance > 0 && distance <= out.len() && repeated <= full - out.len()).then_some(())?;
        // What is repeated may be part of the repetition itself.
        for _ in 0..repeated {
            out.push(out[out.len() - distance]);
        }
    }
}

fn take_byte(rest: &mut &[u8]) -> Option<u8> {
    let (&first, behind) = rest.split_first()?;
    *rest = behind;
    Some(first)
}

/// A length of four bits, which bytes follow if it is 15.
fn extended_length(rest: &mut &[u8], start: u8) -> Option<usize> {
    let mut n = usize::from(start);
    if start == 15 {
        loop {
            let more = take_byte(rest)?;
            n = n.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::decompress;

    #[test]
    fn literals_matches_and_long_lengths_decompress() {
        assert_eq!(decompress(b"\x30abc", 3).unwrap(), b"abc");
        // Two letters, then eight bytes that repeat them, then a last letter.
        assert_eq!(decompress(b"\x24ab\x02\x00\x10c", 11).unwrap(), b"ababababab\x63");
        let long: Vec<u8> = [&[0xf0, 255, 2][..], &[7; 272]].concat();
        assert_eq!(decompress(&long, 272).unwrap(), [7; 272]);
    }

    #[test]
    fn broken_blocks_are_refused() {
        for block in [&b""[..], b"\x30ab", b"\x24ab\x03\x00\x10c", b"\x24ab\x00\x00\x10c", b"\x24ab\x02", b"\xf0\xff"] {
            assert_eq!(decompress(block, 11), None, "{block:x?}");
        }
        assert_eq!(decompress(b"\x30abc", 2), None);
        assert_eq!(decompress(b"\x30abc", 4), None);
    }
}
