//! Source text in PTX comments, so that a report can quote its lines.

use crate::nvrtc::FMAD_DISABLED_COMMENT;

/// The prefix of names of sources that are not files.
pub const IN_MEMORY_PREFIX: &str = "/<source in memory>/";

const HEADER: &str = "//rtcg-source ";
const LINE: &str = "//|";

/// Appends `text`, which line information calls `name`, to PTX. The last comment stays last.
pub fn append(ptx: &mut Vec<u8>, name: &str, text: &str) {
    let is_last = ptx.trim_ascii_end().ends_with(FMAD_DISABLED_COMMENT.as_bytes());
    let end = ptx.trim_ascii_end().len() - if is_last { FMAD_DISABLED_COMMENT.len() } else { 0 };
    let last = ptx.split_off(end);
    ptx.extend_from_slice(format!("\n{HEADER}{name}\n").as_bytes());
    for line in text.lines() {
        ptx.extend_from_slice(format!("{LINE}{}\n", line.trim_end()).as_bytes());
    }
    ptx.extend_from_slice(&last);
}

/// Finds a line, numbered from 1, of the file `name` in the comments of PTX.
pub fn find_line<'p>(ptx: &'p str, name: &str, line: u32) -> Option<&'p str> {
    let header = format!("\n{HEADER}{name}\n");
    let text = &ptx[ptx.find(&header)? + header.len()..];
    let mut lines = text.lines().map_while(|quoted| quoted.strip_prefix(LINE));
    lines.nth((line as usize).checked_sub(1)?).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_file_and_number() {
        let mut ptx = format!(".version 8.0\n\n{FMAD_DISABLED_COMMENT}\n").into_bytes();
        append(&mut ptx, "operation", "z[i] = x[i]");
        append(&mut ptx, "kernel.cu", "// one\n\n  three\r\n");
        let text = String::from_utf8(ptx).unwrap();
        assert!(text.starts_with(".version 8.0") && text.trim_end().ends_with(FMAD_DISABLED_COMMENT), "{text}");
        assert_eq!(find_line(&text, "kernel.cu", 3), Some("three"));
        assert_eq!(find_line(&text, "operation", 1), Some("z[i] = x[i]"));
        for (name, line) in [("kernel.cu", 0), ("kernel.cu", 4), ("operation", 2), ("other.cu", 1)] {
            assert_eq!(find_line(&text, name, line), None);
        }
    }
}
