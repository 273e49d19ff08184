//! Auto-tuning: re-exports [`rtcg_tune`] and connects it to devices.

mod launch_timer;
mod sensors;

pub use launch_timer::{EnqueueError, LaunchTimer};
pub use rtcg_cuda::{default_results_folder, device_key, results_store};
pub use rtcg_tune::*;
pub use sensors::device_sensors;
