//! The formats of `printf` in device code: which conversions there are, and how each prints its value.
//!
//! A device handles a call twice, and so does this module. The device itself reads the arguments that the format asks
//! for into a record of eight-byte words, behind which the format and the strings lie. The host then prints the format
//! with those words. Both know the same conversions except for the size `hh`, which only the host knows, so words are
//! missing for it; and the device stops after [`PRINTF_MAX_ARGUMENTS`], so words are missing for the rest. For a
//! missing word the host reads on in the record: it prints bytes of the format.
//!
//! The measurements do not say how a conversion goes on that is not known: here its `%` is text, and what
//! follows it is read as any other part of the format. Formatting follows C because the C library does it.

use rtcg_vgpu_abi::model::printf::{
    PRINTF_MAX_ARGUMENTS, PRINTF_SIZE_WITHOUT_ARGUMENT, PRINTF_SLOT_BYTES, PRINTF_TYPES,
};
use std::ffi::{c_char, c_int};
use std::io::Write;

/// Widths and precisions beyond this are this.
const MAX_WIDTH: i32 = 1 << 20;
/// What `%s` prints for a null pointer, as the C library has it: nothing when the precision cuts it.
const NULL_TEXT: &[u8] = b"(null)";

/// The size of a conversion's integer argument.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ArgumentSize {
    /// `hh`, which the host alone knows.
    Byte,
    /// `h`
    Half,
    #[default]
    Word,
    /// `l` and `ll`
    Long,
}

/// A conversion of a format string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Conversion {
    flags: [u8; 5],
    n_flags: usize,
    width: Option<i32>,
    /// The width is an argument (`*`).
    width_arg: bool,
    precision: Option<i32>,
    size: ArgumentSize,
    /// The type in the end: `d`, `s`, ...
    kind: u8,
    /// Bytes of the format string it takes, with the `%`.
    len: usize,
}

/// A part of a format string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a [u8]),
    Conversion(Conversion),
}

/// An argument as the device has recorded it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Argument {
    /// The word; for a string its address.
    pub(super) word: u64,
    /// The string's bytes without the NUL; `None` for all that is no string, and for the null pointer.
    pub(super) text_len: Option<usize>,
}

/// The arguments of one call. Owns no memory, so that a fiber may end while it is filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments {
    list: [Argument; PRINTF_MAX_ARGUMENTS],
    len: usize,
}

/// What the device reads for a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    /// Four bytes, aligned so.
    Word,
    /// Eight bytes, aligned so.
    Long,
    /// The address of a string.
    Text,
}

impl Arguments {
    /// Asks `read` for every argument that a format needs, in order.
    pub(super) fn read(format: &[u8], mut read: impl FnMut(ArgumentKind) -> Argument) -> Arguments {
        let mut all = Arguments { list: [Argument::default(); PRINTF_MAX_ARGUMENTS], len: 0 };
        for part in parts(format) {
            let Part::Conversion(c) = part else { continue };
            if c.size == ArgumentSize::Byte {
                continue;
            }
            if c.width_arg && !all.is_full() {
                all.push(read(ArgumentKind::Word));
            }
            if all.is_full() {
                break;
            }
            all.push(read(c.argument_kind()));
        }
        all
    }

    fn is_full(&self) -> bool {
        self.len == PRINTF_MAX_ARGUMENTS
    }

    fn push(&mut self, argument: Argument) {
        self.list[self.len] = argument;
        self.len += 1;
    }

    /// How many there are, which is what `printf` returns.
    pub(super) fn count(&self) -> usize {
        self.len
    }

    /// The text of a call.
    ///
    /// # Safety
    /// The strings of the arguments are readable.
    pub(super) unsafe fn format_text(&self, format: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(format.len() + 32);
        let mut next = 0;
        let mut take = || {
            next += 1;
            // SAFETY: passed on.
            unsafe { self.word_of_record(format, next - 1) }
        };
        for part in parts(format) {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Conversion(mut c) => {
                    if c.width_arg {
                        c.set_width(take().word as i32);
                    }
                    // SAFETY: passed on.
                    unsafe { c.append_value(&mut out, take()) };
                }
            }
        }
        out
    }

    /// A word of the record: an argument, or what lies behind the arguments.
    ///
    /// # Safety
    /// As for [`Arguments::format_text`].
    unsafe fn word_of_record(&self, format: &[u8], index: usize) -> Argument {
        if index < self.len {
            return self.list[index];
        }
        let mut behind = padded_text(format);
        for argument in &self.list[..self.len] {
            // SAFETY: passed on.
            behind.extend(padded_text(unsafe { argument.text() }));
        }
        let from = (index - self.len) * PRINTF_SLOT_BYTES;
        let word = behind.get(from..from + PRINTF_SLOT_BYTES).and_then(|bytes| bytes.try_into().ok());
        Argument { word: word.map_or(0, u64::from_le_bytes), text_len: None }
    }
}

impl Argument {
    /// The string's bytes; none for what is no string.
    ///
    /// # Safety
    /// The string is readable.
    unsafe fn text(&self) -> &[u8] {
        match self.text_len {
            // SAFETY: this function's contract.
            Some(len) => unsafe { std::slice::from_raw_parts(self.word as *const u8, len) },
            None => &[],
        }
    }
}

/// A text with its NUL, filled up to whole words of the record.
fn padded_text(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    bytes.resize((text.len() + 1).next_multiple_of(PRINTF_SLOT_BYTES), 0);
    bytes
}

/// The parts of a format string. A `%` that begins no known conversion is text.
fn parts(format: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        if first == b'%' && rest.get(1) == Some(&b'%') {
            let text = &rest[..1];
            rest = &rest[2..];
            return Some(Part::Text(text));
        }
        if let Some(c) = parse_conversion(rest) {
            rest = &rest[c.len..];
            return Some(Part::Conversion(c));
        }
        let len = rest[1..].iter().position(|&b| b == b'%').map_or(rest.len(), |at| at + 1);
        let text = &rest[..len];
        rest = &rest[len..];
        Some(Part::Text(text))
    })
}

/// Parses the conversion that `s` begins with; `None` when it begins with none that is known.
fn parse_conversion(s: &[u8]) -> Option<Conversion> {
    if s.first() != Some(&b'%') {
        return None;
    }
    let mut c = Conversion::default();
    let mut i = 1;
    while let Some(&flag) = s.get(i).filter(|f| b"-+ #0".contains(f)) {
        c.add_flag(flag);
        i += 1;
    }
    c.width_arg = s.get(i) == Some(&b'*');
    if c.width_arg {
        i += 1;
    } else {
        c.width = parse_number(s, &mut i);
    }
    if s.get(i) == Some(&b'.') {
        i += 1;
        c.precision = Some(parse_number(s, &mut i).unwrap_or(0));
    }
    let start = i;
    while s.get(i).is_some_and(|b| b"hl".contains(b)) {
        i += 1;
    }
    c.size = match &s[start..i] {
        PRINTF_SIZE_WITHOUT_ARGUMENT => ArgumentSize::Byte,
        b"h" => ArgumentSize::Half,
        b"" => ArgumentSize::Word,
        b"l" | b"ll" => ArgumentSize::Long,
        _ => return None,
    };
    c.kind = *s.get(i).filter(|b| PRINTF_TYPES.contains(b))?;
    c.len = i + 1;
    Some(c)
}

fn parse_number(s: &[u8], i: &mut usize) -> Option<i32> {
    let mut n = None;
    while let Some(d) = s.get(*i).filter(|d| d.is_ascii_digit()) {
        n = Some(n.unwrap_or(0_i32).saturating_mul(10).saturating_add(i32::from(d - b'0')).min(MAX_WIDTH));
        *i += 1;
    }
    n
}

/// A value in the type that its conversion has in C.
enum CValue {
    Int(i64),
    Float(f64),
    Pointer(usize),
}

impl Conversion {
    fn add_flag(&mut self, flag: u8) {
        if !self.flags.contains(&flag) {
            self.flags[self.n_flags] = flag;
            self.n_flags += 1;
        }
    }

    /// A negative width is one with the flag `-`.
    fn set_width(&mut self, width: i32) {
        if width < 0 {
            self.add_flag(b'-');
        }
        self.width = Some(width.saturating_abs().min(MAX_WIDTH));
    }

    fn argument_kind(&self) -> ArgumentKind {
        match self.kind {
            b's' => ArgumentKind::Text,
            b'c' => ArgumentKind::Word,
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' if self.size != ArgumentSize::Long => ArgumentKind::Word,
            _ => ArgumentKind::Long,
        }
    }

    /// Appends the value as C formats it.
    ///
    /// # Safety
    /// The argument's string is readable.
    unsafe fn append_value(&self, out: &mut Vec<u8>, argument: Argument) {
        let word = argument.word;
        match self.kind {
            // SAFETY: passed on.
            b's' => self.append_string(out, argument.text_len.map(|_| unsafe { argument.text() })),
            b'c' if self.size == ArgumentSize::Long => self.append_by_c(out, b"l", &CValue::Int(word as u32 as i64)),
            b'c' => self.append_padded_text(out, None, &[word as u8]),
            b'd' | b'i' => self.append_by_c(out, b"ll", &CValue::Int(self.sign_extend(word))),
            b'u' | b'o' | b'x' | b'X' => self.append_by_c(out, b"ll", &CValue::Int(self.truncate(word) as i64)),
            b'p' => self.append_by_c(out, b"", &CValue::Pointer(word as usize)),
            _ => self.append_by_c(out, b"", &CValue::Float(f64::from_bits(word))),
        }
    }

    fn append_string(&self, out: &mut Vec<u8>, text: Option<&[u8]>) {
        let Some(text) = text else {
            let fits = self.precision.is_none_or(|p| p as usize >= NULL_TEXT.len());
            return self.append_padded_text(out, None, if fits { NULL_TEXT } else { b"" });
        };
        if self.size == ArgumentSize::Long {
            // The host takes the bytes of the string for wide characters.
            let words: Vec<u64> = padded_text(text)
                .chunks_exact(8)
                .map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default()))
                .collect();
            return self.append_by_c(out, b"l", &CValue::Pointer(words.as_ptr() as usize));
        }
        self.append_padded_text(out, self.precision, text);
    }

    fn unused_bits(&self) -> u32 {
        match self.size {
            ArgumentSize::Byte => 56,
            ArgumentSize::Half => 48,
            ArgumentSize::Word => 32,
            ArgumentSize::Long => 0,
        }
    }

    fn sign_extend(&self, value: u64) -> i64 {
        ((value << self.unused_bits()) as i64) >> self.unused_bits()
    }

    fn truncate(&self, value: u64) -> u64 {
        value << self.unused_bits() >> self.unused_bits()
    }

    fn append_padded_text(&self, out: &mut Vec<u8>, precision: Option<i32>, text: &[u8]) {
        let text = &text[..text.len().min(precision.map_or(usize::MAX, |p| p as usize))];
        let pad = (self.width.unwrap_or(0) as usize).saturating_sub(text.len());
        let left = self.flags.contains(&b'-');
        if !left {
            out.resize(out.len() + pad, b' ');
        }
        out.extend_from_slice(text);
        if left {
            out.resize(out.len() + pad, b' ');
        }
    }

    /// Lets the C library format one value; nothing is printed for what it cannot format.
    fn append_by_c(&self, out: &mut Vec<u8>, size: &[u8], value: &CValue) {
        let mut spec = vec![b'%'];
        spec.extend_from_slice(&self.flags[..self.n_flags]);
        // Writing to a vector cannot fail.
        if let Some(w) = self.width {
            let _ = write!(spec, "{w}");
        }
        if let Some(p) = self.precision {
            let _ = write!(spec, ".{p}");
        }
        spec.extend_from_slice(size);
        spec.extend_from_slice(&[self.kind, 0]);
        let format = |buffer: &mut [u8]| -> usize {
            let (to, n, spec) = (buffer.as_mut_ptr().cast::<c_char>(), buffer.len(), spec.as_ptr().cast::<c_char>());
            // SAFETY: `spec` is NUL-terminated and has one conversion of the type of the argument; a pointer that
            // is read (`%ls`) is one to words that end with a NUL.
            let len: c_int = unsafe {
                match *value {
                    CValue::Int(v) => libc::snprintf(to, n, spec, v),
                    CValue::Float(v) => libc::snprintf(to, n, spec, v),
                    CValue::Pointer(v) => libc::snprintf(to, n, spec, v as *const u8),
                }
            };
            usize::try_from(len).unwrap_or(0)
        };
        let mut buffer = vec![0_u8; 128];
        let mut need = format(&mut buffer);
        if need >= buffer.len() {
            buffer.resize(need + 1, 0);
            need = format(&mut buffer);
        }
        out.extend_from_slice(&buffer[..need.min(buffer.len() - 1)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a call prints and returns whose arguments are these words, or strings.
    fn print(format: &str, words: &[Result<u64, &str>]) -> (String, usize) {
        let mut words = words.iter();
        let arguments = Arguments::read(format.as_bytes(), |kind| match words.next() {
            Some(Ok(word)) => Argument { word: *word, text_len: None },
            Some(Err(text)) => Argument { word: text.as_ptr() as u64, text_len: Some(text.len()) },
            None => panic!("{format}: {kind:?} more than given"),
        });
        assert_eq!(words.next(), None, "{format}: arguments left");
        // SAFETY: the strings live.
        let text = unsafe { arguments.format_text(format.as_bytes()) };
        (String::from_utf8(text).unwrap(), arguments.count())
    }

    fn prints(format: &str, words: &[u64], expected: &str) {
        let words: Vec<_> = words.iter().map(|&w| Ok(w)).collect();
        assert_eq!(print(format, &words), (expected.to_owned(), words.len()), "{format}");
    }

    #[test]
    fn conversions_format_as_c_does() {
        prints("%d|%i", &[u64::from(u32::MAX), 5], "-1|5");
        prints("%5d|%-5d|%05d", &[42, 42, 42], "   42|42   |00042");
        prints("%+.3d|% d|%+-5d|%0-5d|%.d", &[7, 5, 5, 5, 0], "+007| 5|+5   |5    |");
        prints("%u", &[u64::from(u32::MAX)], "4294967295");
        prints("%hd|%hu", &[70_000, 0x1_2345], "4464|9029");
        prints("%lld|%ld", &[u64::MAX, u64::MAX], "-1|-1");
        prints("%#lx|%#x|%#X|%#o|%+x", &[0xdead_beef_1234, 255, 255, 8, 255], "0xdeadbeef1234|0xff|0XFF|010|ff");
        prints("%08.3f|%lf", &[2.71849_f64.to_bits(), 1.5_f64.to_bits()], "0002.718|1.500000");
        prints("%g|%A", &[1e-7_f64.to_bits(), 1.0_f64.to_bits()], "1e-07|0X1P+0");
        prints("%c|%3c|%lc", &[65, 66, 67], "A|  B|C");
        prints("%p|%8p|%p", &[0x1000, 0x20, 0], "0x1000|    0x20|(nil)");
        assert_eq!(print("%.200f", &[Ok(1.5_f64.to_bits())]).0.len(), 202);
        assert_eq!(print("%8.3s|%-6s|%s", &[Err("hello"), Err("ab"), Err("")]), ("     hel|ab    |".into(), 3));
        prints("%s|%3.2s|%.7s", &[0, 0, 0], "(null)|   |(null)");
    }

    #[test]
    fn a_width_may_be_an_argument_and_a_precision_may_not() {
        prints("%*d|%-*d|%*d", &[6, 5, 6, 5, -6_i64 as u64, 5], "     5|5     |5     ");
        prints("%*.2f", &[8, 3.25_f64.to_bits()], "    3.25");
        for text in ["%.*d", "%.*f", "%*.*f", "%.*s", "%.-1d"] {
            prints(text, &[], text);
        }
    }

    #[test]
    fn an_unknown_conversion_is_text() {
        for text in
            ["%zu", "%jd", "%td", "%La", "%Lf", "%qd", "%I64d", "%y", "%b", "%m", "%n", "%'d", "%1$d", "%", "%5", "%l"]
        {
            prints(text, &[], text);
            prints(&format!("a{text}"), &[], &format!("a{text}"));
        }
        prints("%5%", &[], "%5%");
        prints("100%% %d", &[3], "100% 3");
        prints("%zu %d", &[3], "%zu 3");
        prints("%hld %lhd %llld", &[], "%hld %lhd %llld");
    }

    #[test]
    fn words_that_are_missing_come_from_the_format() {
        prints("%hhd", &[], "37");
        prints("%hhx %d", &[5], "5 2020108325");
        let many = vec!["%d"; 34].join(" ");
        let words: Vec<u64> = (0..32).collect();
        let known = words.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        prints(&many, &words, &format!("{known} 622879781 543434016"));
        // A string that is missing is none, whatever the number of the missing word.
        let (text, n) = print(&format!("{many}%s"), &words.iter().map(|&w| Ok(w)).collect::<Vec<_>>());
        assert!(text.ends_with("543434016(null)") && n == 32, "{text}");
        // The last argument that there is room for may be a width.
        let (text, n) = print(&format!("{}%*d", "%d".repeat(31)), &[Ok(1); 32]);
        assert!(text.ends_with("11680172069") && n == 32, "{text}");
    }
}
