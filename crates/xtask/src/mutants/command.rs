//! Running a command with a limit of time, its output kept. A command that runs too long is killed
//! with the processes it has started.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

pub(super) struct CommandResult {
    /// The exit status; none after a signal.
    pub(super) code: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) output: String,
}

impl CommandResult {
    pub(super) fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    /// The first lines that speak of errors, or the last ones.
    pub(super) fn error_lines(&self) -> String {
        let errors: Vec<&str> = self.output.lines().filter(|line| line.starts_with("error")).take(5).collect();
        if errors.is_empty() { self.output.lines().last().unwrap_or("").to_string() } else { errors.join("; ") }
    }
}

pub(super) fn run_with_timeout(command: &mut Command, limit: Duration) -> Result<CommandResult> {
    let path = std::env::temp_dir().join(format!("rtcg-mutants-{}.txt", std::process::id()));
    // Nobody else has made it, and no link is followed.
    let file = File::create_new(&path)?;
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).process_group(0).spawn()?;
    let mut timed_out = false;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit && !timed_out {
            timed_out = true;
            kill_process_group(&child);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut output = Vec::new();
    File::open(&path)?.read_to_end(&mut output)?;
    let _ = std::fs::remove_file(&path);
    let code = if timed_out { None } else { status.code() };
    Ok(CommandResult { code, timed_out, output: String::from_utf8_lossy(&output).into_owned() })
}

fn kill_process_group(child: &Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-9", "--", &group]).status();
}
