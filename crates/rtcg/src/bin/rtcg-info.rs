//! Prints what this installation of rtcg offers; `--attributes`, `--functions` and `--all` print more.

use rtcg::info::{ReportDetails, info_report};

fn main() {
    let mut details = ReportDetails::default();
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--attributes" => details.attributes = true,
            "--functions" => details.functions = true,
            "--all" => details.unset_settings = true,
            other => {
                eprintln!("usage: rtcg-info [--attributes] [--functions] [--all]; {other:?} is none of these");
                std::process::exit(2);
            }
        }
    }
    // The report itself says which devices are virtual.
    rtcg::driver::set_notice_hook(|_| ());
    print!("{}", info_report(details));
}
