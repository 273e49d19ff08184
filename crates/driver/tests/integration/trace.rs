//! Traces of driver calls and kernels. There is one trace a process, so the tests take turns.

use rtcg_driver::memory::mem_alloc;
use rtcg_driver::{Context, Device, LaunchOptions, Module, Stream, trace};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

const PTX: &[u8] = include_bytes!("kernels.ptx");

fn lock_trace() -> MutexGuard<'static, ()> {
    static TRACE_LOCK: Mutex<()> = Mutex::new(());
    TRACE_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn trace_file_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("rtcg-trace-{}-{name}.json", std::process::id()))
}

/// Runs `body` in a context of the first device while a trace is made; the lines of the trace.
fn record_trace(name: &str, body: impl FnOnce()) -> Vec<String> {
    rtcg_driver::set_notice_hook(|_| ());
    rtcg_driver::init(0).expect("there is a device, if only a virtual one");
    let path = trace_file_path(name);
    trace::start(&path).expect("the file can be written");
    assert!(trace::is_tracing());
    let ctx = Device::new(0).unwrap().make_context(0).expect("a context can be made");
    body();
    Context::pop().expect("the context is on the stack");
    ctx.detach().expect("the context is alive");
    let finished = trace::stop().expect("the file can be written").expect("there is a trace");
    assert!(!trace::is_tracing());
    let text = std::fs::read_to_string(&finished.path).expect("the file is there");
    std::fs::remove_file(&finished.path).expect("the file can be removed");
    let lines: Vec<String> = text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
    assert_eq!((lines.first().map(String::as_str), lines.last().map(String::as_str)), (Some("["), Some("]")));
    assert_eq!(lines.len() as u64, finished.n_events + 2);
    lines
}

fn launch_in_a_stream() {
    let module = Module::from_image(PTX).expect("the module loads");
    let function = module.function("scale").expect("the kernel exists");
    let memory = mem_alloc(400).expect("there is memory");
    let stream = Stream::new(0).expect("a stream can be made");
    let mut arguments = memory.ptr().to_ne_bytes().to_vec();
    arguments.extend(2.0_f32.to_ne_bytes());
    arguments.extend(100_u32.to_ne_bytes());
    // SAFETY: the kernel scales the 100 floats of `memory`.
    unsafe {
        function
            .launch_with_options([4, 1, 1], [32, 1, 1], 0, Some(&stream), &arguments, LaunchOptions::default())
            .unwrap();
    }
    stream.synchronize().expect("the kernel runs");
}

fn lines_containing<'a>(lines: &'a [String], words: &[&str]) -> Vec<&'a String> {
    lines.iter().filter(|line| words.iter().all(|word| line.contains(word))).collect()
}

fn number_after(line: &str, key: &str) -> f64 {
    let at = line.find(key).unwrap_or_else(|| panic!("{key} in {line}")) + key.len();
    let digits: String = line[at..].chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().unwrap_or_else(|_| panic!("a number after {key} in {line}"))
}

#[test]
fn calls_have_arguments_results_and_times() {
    own_process!();
    let _turn = lock_trace();
    let lines = record_trace("calls", || {
        launch_in_a_stream();
        assert!(mem_alloc(0).is_err());
    });
    let alloc = lines_containing(&lines, &[r#""name":"cuMemAlloc""#, r#""bytesize":"400""#, "CUDA_SUCCESS"]);
    assert_eq!(alloc.len(), 1, "{lines:?}");
    assert!(alloc[0].contains(r#""dptr":"0x"#) && alloc[0].contains(r#""ph":"X""#), "{}", alloc[0]);
    assert!(number_after(alloc[0], r#""dur":"#) >= 0.0);
    assert_eq!(lines_containing(&lines, &[r#""name":"scale""#, "cuModuleGetFunction"]).len(), 1, "strings are shown");
    assert_eq!(lines_containing(&lines, &[r#""name":"cuMemAlloc""#, "CUDA_ERROR_INVALID_VALUE"]).len(), 1);
    assert_eq!(lines_containing(&lines, &["cuCtxDestroy"]).len(), 1);
    assert!(!lines_containing(&lines, &["thread_name", "calls_have_arguments"]).is_empty(), "threads are named");
}

/// The span of the kernel on its stream, inside of the time between launch and synchronisation,
/// and the arrow that leads to it.
fn assert_kernel_span(lines: &[String], device: &str) {
    let spans = lines_containing(lines, &[r#""cat":"kernel""#, r#""name":"scale""#]);
    assert_eq!(spans.len(), 1, "{lines:?}");
    assert!(spans[0].contains(r#""grid":"[4, 1, 1]","block":"[32, 1, 1]""#), "{}", spans[0]);
    assert_eq!(lines_containing(lines, &["process_name", device]).len(), 1, "{lines:?}");
    let launch = lines_containing(lines, &["cuLaunchKernel", r#""kernel":"scale""#]);
    let wait = lines_containing(lines, &["cuStreamSynchronize"]);
    let end_of = |line: &str| number_after(line, r#""ts":"#) + number_after(line, r#""dur":"#);
    // Microseconds between the clocks of host and device.
    let slack = 30.0;
    assert!(number_after(spans[0], r#""ts":"#) >= number_after(launch[0], r#""ts":"#) - slack, "{lines:?}");
    assert!(end_of(spans[0]) <= end_of(wait[0]) + slack, "{lines:?}");
    let (from, to) = (lines_containing(lines, &[r#""ph":"s""#]), lines_containing(lines, &[r#""ph":"f""#]));
    assert_eq!((from.len(), to.len()), (1, 1));
    assert_eq!(number_after(from[0], r#""id":"#), number_after(to[0], r#""id":"#));
}

#[test]
fn kernels_have_spans_on_their_stream() {
    own_process!();
    let _turn = lock_trace();
    let lines = record_trace("kernels", launch_in_a_stream);
    let is_virtual = Device::new(0).unwrap().is_virtual();
    assert_kernel_span(&lines, if is_virtual { "virtual GPU, context" } else { "GPU, context" });
}

#[test]
fn kernels_of_any_device_can_be_timed_by_events() {
    own_process!();
    let _turn = lock_trace();
    trace::set_virtual_gpu_timed_by_events(true);
    let lines = record_trace("events", launch_in_a_stream);
    trace::set_virtual_gpu_timed_by_events(false);
    assert_kernel_span(&lines, r#""name":"GPU, context"#);
    assert!(lines_containing(&lines, &["cuEventCreate"]).is_empty(), "the trace's own calls are not in it");
}

#[test]
fn ranges_and_marks_are_on_the_thread() {
    own_process!();
    let _turn = lock_trace();
    let lines = record_trace("ranges", || {
        let _outer = trace::nvtx::scoped_range("say \"outer\"");
        trace::nvtx::mark("now");
    });
    assert_eq!(lines_containing(&lines, &[r#""ph":"B""#, r#"say \"outer\""#]).len(), 1);
    assert_eq!(lines_containing(&lines, &[r#""ph":"E""#]).len(), 1);
    assert_eq!(lines_containing(&lines, &[r#""ph":"i""#, "now"]).len(), 1);
}

#[test]
fn without_a_trace_nothing_is_written() {
    own_process!();
    let _turn = lock_trace();
    assert!(!trace::is_tracing());
    assert_eq!(trace::stop().expect("nothing can fail"), None);
    trace::nvtx::mark("nobody hears this");
    assert_eq!(trace::current_launch_number(), 0);
    let missing = std::env::temp_dir().join("rtcg-no-such-folder").join("trace.json");
    assert!(trace::start(&missing).is_err() && !trace::is_tracing());
}
