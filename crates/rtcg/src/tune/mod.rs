//! Auto-tuning: re-exports [`rtcg_tune`] and connects it to devices.

mod launch_timer;
mod results;
mod sensors;

pub use launch_timer::{EnqueueError, LaunchTimer};
pub use results::{default_results_folder, device_key, results_store};
pub use rtcg_tune::*;
pub use sensors::device_sensors;
