//! Summarises where a program spent its time, from its trace: kernels, copies, compilation, driver calls and ranges.
//!
//! ```
//! use rtcg::driver::trace;
//! use rtcg::prelude::*;
//! use rtcg::profile::{Group, Profile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("rtcg-profile-{}.json", std::process::id()));
//! let ctx = Context::new()?;
//! trace::start(&path)?;
//! let x = ctx.zeros::<f32>(1000)?;
//! let set = ctx.compile("__global__ void set(float *x) { x[threadIdx.x] = 1; }")?.function("set")?;
//! // SAFETY: there are more elements than threads.
//! unsafe { set.launch(Grid::new(1, 256), &[&x])? };
//! x.to_vec()?;
//! trace::stop()?;
//! let profile = Profile::read(&path)?;
//! println!("{profile}");
//! assert_eq!(profile.rows(Group::Kernels).next().map(|row| (&row.name[..], row.calls)), Some(("set", 1)));
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```

use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;

/// The kind of event that a row of a profile is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Kernels, by the time they ran on their device.
    Kernels,
    /// Copies and fills of memory, by the duration of the call, which includes any wait for kernels.
    Copies,
    /// Compilation of CUDA C++ and by the virtual GPU.
    Compilation,
    /// Other driver calls, by the time on the host.
    Driver,
    /// Ranges that the program named (NVTX), on the host.
    Ranges,
}

impl Group {
    /// All groups, in the order of the table.
    pub const ALL: [Group; 5] = [Group::Kernels, Group::Copies, Group::Compilation, Group::Driver, Group::Ranges];

    /// The heading of the group.
    pub fn title(self) -> &'static str {
        match self {
            Group::Kernels => "kernels",
            Group::Copies => "copies and fills (time of the call)",
            Group::Compilation => "compilation",
            Group::Driver => "driver calls (host)",
            Group::Ranges => "ranges (host)",
        }
    }
}

/// All events with the same name.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRow {
    /// The group of the events.
    pub group: Group,
    /// The name of the kernel, call, file or range.
    pub name: String,
    /// Number of events.
    pub calls: u64,
    /// Total duration in seconds.
    pub seconds: f64,
    /// Shortest duration in seconds.
    pub min_seconds: f64,
    /// Longest duration in seconds.
    pub max_seconds: f64,
    /// Bytes copied or filled; 0 if the calls do not report it.
    pub bytes: u64,
}

/// The activity of one device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceUse {
    /// The device and its context, in words.
    pub name: String,
    /// Number of kernels that ran.
    pub launches: u64,
    /// Seconds in which at least one kernel ran.
    pub busy_seconds: f64,
    /// Number of gaps between kernels, in which none ran.
    pub gaps: u64,
    /// Duration of the longest gap in seconds.
    pub longest_gap_seconds: f64,
}

/// A summary of a trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Seconds from the first event to the end of the last.
    pub seconds: f64,
    /// The devices that ran kernels.
    pub devices: Vec<DeviceUse>,
    /// Rows by group, then by descending time.
    pub rows: Vec<ProfileRow>,
}

/// Rows of a group that a table shows.
const SHOWN_ROWS: usize = 15;
/// Characters of a name that a table shows.
const SHOWN_NAME: usize = 60;

impl Profile {
    /// Summarises a trace file that [`rtcg_driver::trace`] or `RTCG_TRACE` wrote.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a trace.
    pub fn read(path: &Path) -> io::Result<Profile> {
        let text = std::fs::read_to_string(path)?;
        let is_no_trace = |error| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()));
        let events: Vec<Value> = serde_json::from_str(&text).map_err(is_no_trace)?;
        Ok(Profile::from_events(&events))
    }

    /// The rows of a group.
    pub fn rows(&self, group: Group) -> impl Iterator<Item = &ProfileRow> {
        self.rows.iter().filter(move |row| row.group == group)
    }

    fn from_events(events: &[Value]) -> Profile {
        let mut summary = Summary::default();
        events.iter().for_each(|event| summary.add(event));
        summary.finish()
    }
}

/// A profile in the making. Times are in microseconds, as in traces.
#[derive(Default)]
struct Summary {
    rows: HashMap<(Group, String), ProfileRow>,
    /// The kernels of each device.
    kernels: HashMap<u64, Vec<(f64, f64)>>,
    names: HashMap<u64, String>,
    /// Ranges of each thread that have begun.
    open: HashMap<u64, Vec<(String, f64)>>,
    span: Option<(f64, f64)>,
}

impl Summary {
    fn add(&mut self, event: &Value) {
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        let (pid, tid) = (event["pid"].as_u64().unwrap_or(0), event["tid"].as_u64().unwrap_or(0));
        let (start, duration) = (event["ts"].as_f64().unwrap_or(0.0), event["dur"].as_f64().unwrap_or(0.0));
        match text("ph") {
            "M" if text("name") == "process_name" => {
                self.names.insert(pid, event["args"]["name"].as_str().unwrap_or_default().to_owned());
            }
            "B" => self.open.entry(tid).or_default().push((text("name").to_owned(), start)),
            "E" => {
                if let Some((name, begun)) = self.open.get_mut(&tid).and_then(Vec::pop) {
                    self.note(Group::Ranges, name, begun, start - begun, 0);
                }
            }
            "X" => {
                let (group, name) = classify(text("cat"), text("name"));
                if group == Group::Kernels {
                    self.kernels.entry(pid).or_default().push((start, start + duration));
                }
                self.note(group, name, start, duration, copied_bytes(&event["args"]));
            }
            _ => {}
        }
    }

    fn note(&mut self, group: Group, name: String, start: f64, duration: f64, bytes: u64) {
        let (begin, end) = self.span.unwrap_or((start, start));
        self.span = Some((begin.min(start), end.max(start + duration)));
        let seconds = duration * 1e-6;
        let row = self.rows.entry((group, name.clone())).or_insert_with(|| ProfileRow {
            group,
            name,
            calls: 0,
            seconds: 0.0,
            min_seconds: f64::INFINITY,
            max_seconds: 0.0,
            bytes: 0,
        });
        row.calls += 1;
        row.seconds += seconds;
        row.min_seconds = row.min_seconds.min(seconds);
        row.max_seconds = row.max_seconds.max(seconds);
        row.bytes += bytes;
    }

    fn finish(self) -> Profile {
        let mut rows: Vec<ProfileRow> = self.rows.into_values().collect();
        rows.sort_by(|a, b| a.group.cmp(&b.group).then(b.seconds.total_cmp(&a.seconds)).then(a.name.cmp(&b.name)));
        let mut pids: Vec<_> = self.kernels.into_iter().collect();
        pids.sort_by_key(|(pid, _)| *pid);
        let names = self.names;
        let device = |(pid, kernels)| device_use(names.get(&pid).cloned().unwrap_or_default(), kernels);
        let (begin, end) = self.span.unwrap_or_default();
        Profile { seconds: (end - begin) * 1e-6, devices: pids.into_iter().map(device).collect(), rows }
    }
}

fn classify(category: &str, name: &str) -> (Group, String) {
    let group = match category {
        "kernel" => Group::Kernels,
        "compiler" | "jit" => Group::Compilation,
        _ if name.starts_with("cuMemcpy") || name.starts_with("cuMemset") => Group::Copies,
        _ => Group::Driver,
    };
    // A launch names its kernel, which has a row of its own.
    let name = if group == Group::Driver { name.split(' ').next().unwrap_or_default() } else { name };
    (group, name.to_owned())
}

/// The number of bytes among the arguments of a copy.
fn copied_bytes(args: &Value) -> u64 {
    let number = |key: &str| args[key].as_u64().or_else(|| args[key].as_str()?.parse().ok());
    number("ByteCount").or_else(|| number("N")).unwrap_or(0)
}

fn device_use(name: String, mut kernels: Vec<(f64, f64)>) -> DeviceUse {
    kernels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut busy, mut gaps, mut longest, mut until) = (0.0, 0, 0.0_f64, f64::NEG_INFINITY);
    for &(start, end) in &kernels {
        if start > until && until.is_finite() {
            gaps += 1;
            longest = longest.max(start - until);
        }
        busy += (end - start.max(until)).max(0.0);
        until = until.max(end);
    }
    DeviceUse {
        name,
        launches: kernels.len() as u64,
        busy_seconds: busy * 1e-6,
        gaps,
        longest_gap_seconds: longest * 1e-6,
    }
}

/// Seconds with three digits and a unit.
fn in_words(seconds: f64) -> String {
    let (factor, unit) = match seconds {
        s if s >= 1.0 => (1.0, "s"),
        s if s >= 1e-3 => (1e3, "ms"),
        _ => (1e6, "us"),
    };
    let value = seconds * factor;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

impl fmt::Display for Profile {
    /// Tables of a terminal's width.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "profile of {}", in_words(self.seconds))?;
        for device in &self.devices {
            let share = 100.0 * device.busy_seconds / self.seconds.max(f64::MIN_POSITIVE);
            write!(
                f,
                "{}: {} launches, busy {} ({share:.1} %)",
                device.name,
                device.launches,
                in_words(device.busy_seconds)
            )?;
            writeln!(f, ", {} gaps, the longest {}", device.gaps, in_words(device.longest_gap_seconds))?;
        }
        Group::ALL.into_iter().try_for_each(|group| self.write_group(f, group))
    }
}

impl Profile {
    fn write_group(&self, f: &mut fmt::Formatter<'_>, group: Group) -> fmt::Result {
        let rows: Vec<_> = self.rows(group).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let sum: f64 = rows.iter().map(|row| row.seconds).sum();
        writeln!(f, "\n{}: {}", group.title(), in_words(sum))?;
        writeln!(f, "{:>10} {:>7} {:>8} {:>10} {:>10} {:>10}  name", "time", "share", "calls", "mean", "min", "max")?;
        for row in rows.iter().take(SHOWN_ROWS) {
            let share = 100.0 * row.seconds / sum.max(f64::MIN_POSITIVE);
            let mean = in_words(row.seconds / row.calls as f64);
            write!(f, "{:>10} {share:>5.1} % {:>8} {mean:>10}", in_words(row.seconds), row.calls)?;
            write!(f, " {:>10} {:>10}  ", in_words(row.min_seconds), in_words(row.max_seconds))?;
            f.write_str(&row.name.chars().take(SHOWN_NAME).collect::<String>())?;
            if row.bytes > 0 {
                let rate = row.bytes as f64 / row.seconds.max(f64::MIN_POSITIVE) * 1e-9;
                write!(f, " ({} bytes, {rate:.1} GB/s)", row.bytes)?;
            }
            writeln!(f)?;
        }
        let rest = &rows[rows.len().min(SHOWN_ROWS)..];
        if !rest.is_empty() {
            let seconds = rest.iter().map(|row| row.seconds).sum();
            writeln!(f, "{:>10}  in {} more", in_words(seconds), rest.len())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(events: &str) -> Profile {
        Profile::from_events(&serde_json::from_str::<Vec<Value>>(events).unwrap())
    }

    #[test]
    fn events_are_counted_by_group_and_name() {
        let profile = profile(
            r#"[{"ph": "M", "name": "process_name", "pid": 9, "tid": 0, "args": {"name": "GPU 0"}}, null,
            {"ph": "B", "name": "step", "pid": 1, "tid": 5, "ts": 0},
            {"ph": "X", "cat": "driver", "name": "cuLaunchKernel k", "pid": 1, "tid": 5, "ts": 1, "dur": 2},
            {"ph": "X", "cat": "driver", "name": "cuMemcpyDtoH", "pid": 1, "tid": 5, "ts": 3, "dur": 4, "args": {"ByteCount": "4000"}},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 9, "tid": 1, "ts": 10, "dur": 10},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 9, "tid": 2, "ts": 15, "dur": 10},
            {"ph": "X", "cat": "kernel", "name": "k", "pid": 9, "tid": 1, "ts": 40, "dur": 20},
            {"ph": "X", "cat": "compiler", "name": "compile kernel.cu", "pid": 1, "tid": 5, "ts": 60, "dur": 40},
            {"ph": "E", "pid": 1, "tid": 5, "ts": 80}]"#,
        );
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(close(profile.seconds, 1e-4));
        let [device] = &profile.devices[..] else { panic!("{profile:?}") };
        assert_eq!((&device.name[..], device.launches, device.gaps), ("GPU 0", 3, 1));
        assert!(close(device.busy_seconds, 35e-6) && close(device.longest_gap_seconds, 15e-6), "{device:?}");
        let names: Vec<_> = profile.rows.iter().map(|row| (row.group, &row.name[..], row.calls)).collect();
        let expected = [
            (Group::Kernels, "k", 3),
            (Group::Copies, "cuMemcpyDtoH", 1),
            (Group::Compilation, "compile kernel.cu", 1),
            (Group::Driver, "cuLaunchKernel", 1),
            (Group::Ranges, "step", 1),
        ];
        assert_eq!(names, expected);
        let text = profile.to_string();
        assert!(text.contains("GPU 0: 3 launches, busy 35.0 us (35.0 %), 1 gaps, the longest 15.0 us"), "{text}");
        assert!(text.contains("cuMemcpyDtoH (4000 bytes, 1.0 GB/s)"), "{text}");
    }

    #[test]
    fn nothing_is_a_profile_too() {
        assert_eq!(profile("[]").to_string(), "profile of 0.00 us\n");
        assert_eq!([0.5, 2e-3, 1.5, 123e-6].map(in_words), ["500 ms", "2.00 ms", "1.50 s", "123 us"]);
    }
}
