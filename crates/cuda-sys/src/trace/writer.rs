//! The trace file: a JSON array of events, one per line. If the file is cut off (because the process was killed),
//! Perfetto still opens it, since it needs no closing bracket.

use super::TraceSummary;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Text is collected up to this many bytes before it is written.
const WRITE_BUFFER_BYTES: usize = 256 << 10;

/// An open trace.
pub(super) struct TraceWriter {
    pub(super) path: PathBuf,
    /// The process that opened it.
    pub(super) process: u32,
    /// Why the last write failed.
    pub(super) error: Option<io::Error>,
    file: File,
    text: String,
    n_events: u64,
    tracks: HashSet<(u64, u64)>,
}

impl TraceWriter {
    pub(super) fn create_file(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            process: std::process::id(),
            error: None,
            file: File::create(path)?,
            text: "[".to_owned(),
            n_events: 0,
            tracks: HashSet::new(),
        })
    }

    /// Appends an event, a JSON object.
    pub(super) fn append_event(&mut self, object: &str) {
        self.text.push_str(if self.n_events == 0 { "\n" } else { ",\n" });
        self.text.push_str(object);
        self.n_events += 1;
        if self.text.len() >= WRITE_BUFFER_BYTES
            && let Err(error) = self.flush_buffer()
        {
            self.error = Some(error);
        }
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        let written = self.file.write_all(self.text.as_bytes());
        self.text.clear();
        written
    }

    /// Whether this is the first event there.
    pub(super) fn is_new_track(&mut self, process: u64, thread: u64) -> bool {
        self.tracks.insert((process, thread))
    }

    pub(super) fn name_process(&mut self, process: u64, name: &str) {
        self.append_metadata_event("process_name", process, 0, name);
    }

    pub(super) fn name_thread(&mut self, process: u64, thread: u64, name: &str) {
        self.append_metadata_event("thread_name", process, thread, name);
    }

    fn append_metadata_event(&mut self, what: &str, process: u64, thread: u64, name: &str) {
        let mut event = JsonObject::new();
        event.push_text("ph", "M").push_text("name", what).push_number("pid", process).push_number("tid", thread);
        let mut args = JsonObject::new();
        args.push_text("name", name);
        event.push_object("args", args);
        self.append_event(&event.close_object());
    }

    pub(super) fn finish_file(mut self) -> io::Result<TraceSummary> {
        self.text.push_str("\n]\n");
        self.flush_buffer()?;
        Ok(TraceSummary { path: self.path, n_events: self.n_events })
    }

    /// Forgets what has not been written.
    pub(super) fn discard_buffer(mut self) {
        self.text.clear();
    }
}

/// A JSON object in the making.
pub(crate) struct JsonObject(String);

impl JsonObject {
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    fn push_key(&mut self, key: &str) -> &mut String {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_json_string(&mut self.0, key);
        self.0.push(':');
        &mut self.0
    }

    pub(crate) fn push_text(&mut self, key: &str, value: &str) -> &mut Self {
        push_json_string(self.push_key(key), value);
        self
    }

    pub(crate) fn push_number(&mut self, key: &str, value: u64) -> &mut Self {
        let _ = write!(self.push_key(key), "{value}");
        self
    }

    /// Nanoseconds as the microseconds that the format wants.
    pub(crate) fn push_microseconds(&mut self, key: &str, ns: u64) -> &mut Self {
        let _ = write!(self.push_key(key), "{}.{:03}", ns / 1000, ns % 1000);
        self
    }

    pub(crate) fn push_object(&mut self, key: &str, value: JsonObject) -> &mut Self {
        let text = value.close_object();
        self.push_key(key).push_str(&text);
        self
    }

    pub(crate) fn close_object(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_json() {
        let mut object = JsonObject::new();
        let mut inner = JsonObject::new();
        inner.push_number("n", 7);
        object.push_text("a", "say \"x\\y\"\n\u{1}").push_microseconds("t", 1_234_567).push_object("o", inner);
        assert_eq!(object.close_object(), r#"{"a":"say \"x\\y\"\n\u0001","t":1234.567,"o":{"n":7}}"#);
        assert_eq!(JsonObject::new().close_object(), "{}");
    }
}
