//! Makes a precompiled header of CUDA C++ quick to load.
//!
//! clang lists in it all functions of the device that have a body, reads each of them at the end of every program that
//! uses the header, and looks for errors of the kind that CUDA allows in functions that are never used. The prelude has
//! none. Without the list clang reads what a program uses, which halves the time of its front end. So the record with
//! the list gets a code that clang does not know and skips.
//!
//! Sources: LLVM's documentation of the bitstream format (<https://llvm.org/docs/BitCodeFormat.html>); headers of clang
//! 15 to 20 and 22, in which the record has this code (`programs_read_what_they_use_of_the_prelude` with each of them).

/// The block of a precompiled header that has the records about all of it.
const AST_BLOCK: u64 = 8;

/// `DECLS_TO_CHECK_FOR_DEFERRED_DIAGS`.
const LIST: u64 = 64;

/// A code of as many bits, far above those of records that clang has.
const UNKNOWN: u64 = 1000;

/// Renames the list in a precompiled header. Where the file is not as expected, it stays as it is: clang is then only
/// slower.
pub(super) fn without_list_of_functions(file: &mut [u8]) -> bool {
    let Some(at) = find_list(file) else { return false };
    vbr6(UNKNOWN).enumerate().for_each(|(bit, is_set)| {
        let (byte, mask) = ((at + bit) / 8, 1 << ((at + bit) % 8));
        if is_set { file[byte] |= mask } else { file[byte] &= !mask }
    });
    true
}

/// The bits of a code in two chunks, the low one first; each has 5 bits of the number, and one that says whether another
/// follows.
fn vbr6(code: u64) -> impl Iterator<Item = bool> {
    let chunks = [(code & 31) | 32, code >> 5];
    chunks.into_iter().flat_map(|chunk| (0..6).map(move |bit| chunk >> bit & 1 != 0))
}

/// How an operand of an abbreviated record is written.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Literal,
    Fixed(u32),
    Variable(u32),
    Array,
    Blob,
}

/// A reader of bits, the low ones of each byte first.
struct Bits<'a> {
    file: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn fixed(&mut self, width: u32) -> Option<u64> {
        let mut value = 0;
        for bit in 0..width {
            let byte = *self.file.get(self.at / 8)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << bit.min(63);
            self.at += 1;
        }
        Some(value)
    }

    fn variable(&mut self, width: u32) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let chunk = self.fixed(width)?;
            let more = 1 << (width - 1);
            value |= (chunk & (more - 1)).checked_shl(shift)?;
            shift += width - 1;
            if chunk & more == 0 {
                return Some(value);
            }
        }
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(32);
    }

    fn skip(&mut self, bits: u64) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(bits).ok()?)?;
        (self.at <= self.file.len() * 8).then_some(())
    }

    /// Enters a block: its number, the width of its abbreviations, and its size in bits.
    fn block(&mut self) -> Option<(u64, u32, u64)> {
        let (number, width) = (self.variable(8)?, self.variable(4)?);
        self.align();
        let words = self.fixed(32)?;
        let width = u32::try_from(width).ok().filter(|width| (2..=32).contains(width))?;
        Some((number, width, words * 32))
    }

    fn abbreviation(&mut self) -> Option<Vec<Operand>> {
        let count = self.variable(5)?;
        let mut operands = Vec::new();
        for _ in 0..count {
            operands.push(if self.fixed(1)? == 1 {
                self.variable(8)?;
                Operand::Literal
            } else {
                let encoding = self.fixed(3)?;
                let mut width = || u32::try_from(self.variable(5)?).ok().filter(|width| *width <= 64);
                match encoding {
                    1 => Operand::Fixed(width()?),
                    2 => match width()? {
                        0 => Operand::Fixed(0),
                        1 => return None,
                        width => Operand::Variable(width),
                    },
                    3 => Operand::Array,
                    4 => Operand::Fixed(6),
                    5 => Operand::Blob,
                    _ => return None,
                }
            });
        }
        Some(operands)
    }

    fn skip_operand(&mut self, operand: Operand) -> Option<()> {
        match operand {
            Operand::Literal => Some(()),
            Operand::Fixed(width) => self.skip(u64::from(width)),
            Operand::Variable(width) => self.variable(width).map(drop),
            Operand::Array | Operand::Blob => None,
        }
    }

    fn skip_record(&mut self, operands: &[Operand]) -> Option<()> {
        let mut rest = operands.iter().copied();
        while let Some(operand) = rest.next() {
            match operand {
                Operand::Array => {
                    let (count, element) = (self.variable(6)?, rest.next()?);
                    (0..count).try_for_each(|_| self.skip_operand(element))?;
                }
                Operand::Blob => {
                    let bytes = self.variable(6)?;
                    self.align();
                    self.skip(bytes.checked_mul(8)?)?;
                    self.align();
                }
                operand => self.skip_operand(operand)?,
            }
        }
        Some(())
    }
}

/// The bit where the code of the record with the list begins.
fn find_list(file: &[u8]) -> Option<usize> {
    let mut bits = Bits { file: file.strip_prefix(b"CPCH").map(|_| file)?, at: 32 };
    let width = loop {
        if bits.fixed(2)? != 1 {
            return None;
        }
        let (number, width, size) = bits.block()?;
        if number == AST_BLOCK {
            break width;
        }
        bits.skip(size)?;
    };
    let mut abbreviations: Vec<Vec<Operand>> = Vec::new();
    loop {
        match bits.fixed(width)? {
            0 => return None,
            1 => {
                let (_, _, size) = bits.block()?;
                bits.skip(size)?;
            }
            2 => abbreviations.push(bits.abbreviation()?),
            3 => {
                let at = bits.at;
                if bits.variable(6)? == LIST {
                    return Some(at);
                }
                let count = bits.variable(6)?;
                (0..count).try_for_each(|_| bits.variable(6).map(drop))?;
            }
            number => bits.skip_record(abbreviations.get(usize::try_from(number - 4).ok()?)?)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Writer {
        bits: Vec<bool>,
    }

    impl Writer {
        fn fixed(&mut self, value: u64, width: u32) -> &mut Self {
            self.bits.extend((0..width).map(|bit| value >> bit & 1 != 0));
            self
        }

        fn variable(&mut self, mut value: u64, width: u32) -> &mut Self {
            let more = 1 << (width - 1);
            while value >= more {
                self.fixed((value & (more - 1)) | more, width);
                value >>= width - 1;
            }
            self.fixed(value, width)
        }

        fn align(&mut self) -> &mut Self {
            self.bits.resize(self.bits.len().next_multiple_of(32), false);
            self
        }

        fn record(&mut self, code: u64, operands: &[u64]) -> &mut Self {
            self.fixed(3, 5).variable(code, 6).variable(operands.len() as u64, 6);
            for &operand in operands {
                self.variable(operand, 6);
            }
            self
        }

        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| bits.iter().enumerate().map(|(at, &bit)| u8::from(bit) << at).sum();
            self.bits.chunks(8).map(byte).collect()
        }
    }

    /// A header with a block to skip, an abbreviated record of every kind of operand, and records of these codes.
    fn header(codes: &[u64]) -> Vec<u8> {
        let mut inner = Writer::default();
        inner.fixed(2, 5).variable(5, 5);
        inner.fixed(1, 1).variable(7, 8);
        inner.fixed(0, 1).fixed(1, 3).variable(9, 5);
        inner.fixed(0, 1).fixed(2, 3).variable(6, 5);
        inner.fixed(0, 1).fixed(3, 3).fixed(0, 1).fixed(4, 3);
        inner.fixed(2, 5).variable(2, 5).fixed(1, 1).variable(8, 8).fixed(0, 1).fixed(5, 3);
        inner.record(63, &[1, 2, 1 << 40]);
        inner.fixed(4, 5).fixed(300, 9).variable(1000, 6).variable(3, 6).fixed(1, 6).fixed(2, 6).fixed(3, 6);
        inner.fixed(5, 5).variable(5, 6).align().fixed(0x12_3456_789a, 40).align();
        inner.fixed(1, 5).variable(9, 8).variable(3, 4).align().fixed(1, 32).fixed(0xffff_ffff, 32);
        for &code in codes {
            inner.record(code, &[5, 600]);
        }
        inner.fixed(0, 5).align();
        let mut file = Writer::default();
        file.fixed(u64::from(u32::from_le_bytes(*b"CPCH")), 32);
        file.fixed(1, 2).variable(0, 8).variable(2, 4).align().fixed(1, 32).fixed(7, 32);
        file.fixed(1, 2).variable(AST_BLOCK, 8).variable(5, 4).align();
        file.fixed(inner.bits.len() as u64 / 32, 32);
        file.bits.extend(inner.bits);
        file.bytes()
    }

    #[test]
    fn the_list_gets_another_code() {
        let mut file = header(&[60, LIST, 65]);
        assert!(without_list_of_functions(&mut file));
        assert_eq!(file, header(&[60, UNKNOWN, 65]));
    }

    #[test]
    fn other_files_stay() {
        for file in [header(&[60, 65]), b"CPCH".to_vec(), b"no header".to_vec(), Vec::new()] {
            let mut same = file.clone();
            assert!(!without_list_of_functions(&mut same));
            assert_eq!(same, file);
        }
        let whole = header(&[60, LIST]);
        (0..whole.len() - 16).for_each(|end| assert!(!without_list_of_functions(&mut whole[..end].to_vec())));
    }
}
