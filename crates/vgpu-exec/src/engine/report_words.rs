//! Places of a grid in the words of who wrote the kernel: CUDA's blocks and threads, or, where a kernel has OpenCL's
//! launch record, work-groups and work-items with their global ids.

use super::grid_job::GridJob;
use rtcg_ptx::opencl_launch::{RECORD_BYTES, word};

/// The words of a language.
pub(crate) struct Words {
    pub(super) group: &'static str,
    pub(super) item: &'static str,
    pub(super) shared: &'static str,
    /// What an allocation is called.
    pub(super) allocation: &'static str,
}

const CUDA: Words = Words { group: "block", item: "thread", shared: "shared", allocation: "allocation" };
const OPENCL: Words =
    Words { group: "work-group", item: "work-item", shared: "__local", allocation: "__global buffer" };

/// The launch record of an OpenCL kernel.
struct Record(*const u32);

impl Record {
    fn from_job(job: &GridJob<'_>) -> Option<Record> {
        let offset = job.program.sites.opencl_record(&job.program.name)? as usize;
        let is_whole = offset + RECORD_BYTES as usize <= job.param_bytes;
        is_whole.then(|| Record((job.params + offset) as *const u32))
    }

    fn word(&self, index: usize) -> u64 {
        // SAFETY: the parameters of a job live as long as it does, and have the whole record.
        u64::from(unsafe { self.0.add(index).read_unaligned() })
    }

    /// The numbers of all dimensions that the launch has.
    fn tuple(&self, number: impl Fn(usize) -> u64) -> String {
        let dimensions = (self.word(word::DIMENSIONS) as usize).clamp(1, 3);
        let numbers: Vec<String> = (0..dimensions).map(|axis| number(axis).to_string()).collect();
        format!("({})", numbers.join(", "))
    }
}

pub(super) fn words_of(job: &GridJob<'_>) -> &'static Words {
    if Record::from_job(job).is_some() { &OPENCL } else { &CUDA }
}

/// One thread, or those from one to another.
pub(super) fn describe_place(job: &GridJob<'_>, block: [u32; 3], first: [u32; 3], last: [u32; 3]) -> String {
    let Some(record) = Record::from_job(job) else {
        let block = format_dim3(block);
        return match first == last {
            true => format!("block {block}, thread {}", format_dim3(first)),
            false => format!("block {block}, one of the threads {} to {}", format_dim3(first), format_dim3(last)),
        };
    };
    let group = record.tuple(|axis| record.word(word::FIRST_GROUP + axis) + u64::from(block[axis]));
    let local = |item: [u32; 3]| record.tuple(|axis| u64::from(item[axis]));
    let global = |item: [u32; 3]| {
        record.tuple(|axis| {
            let first = record.word(word::FIRST_ITEM + 2 * axis) | record.word(word::FIRST_ITEM + 2 * axis + 1) << 32;
            first + u64::from(block[axis]) * u64::from(job.shape.block[axis]) + u64::from(item[axis])
        })
    };
    match first == last {
        true => format!("work-group {group}, work-item {}, global id {}", local(first), global(first)),
        false => format!(
            "work-group {group}, one of the work-items {} to {}, global ids {} to {}",
            local(first),
            local(last),
            global(first),
            global(last)
        ),
    }
}

fn format_dim3([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}
