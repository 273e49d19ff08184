//! Auto-tuning: everything of [`rtcg_tune`], and what ties it to devices.

mod results;

pub use results::{default_results_folder, device_key, results_store};
pub use rtcg_tune::*;
