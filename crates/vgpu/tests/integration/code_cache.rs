//! The cache of machine code, from outside: what processes find that others have kept.
//!
//! The tests run this test binary again with `RTCG_CODE_CACHE_TEST` set; the child does one step and
//! prints what happened.

use crate::api_common::{alloc, new_context};
use crate::own_process::rerun;
use rtcg_cuda_sys::*;
use rtcg_vgpu_abi::instrument::Instrumentation;
use rtcg_vgpu_abi::instrument::ShadowStates;
use rtcg_vgpu_exec::RUNTIME_CALLS;
use rtcg_vgpu_exec::window::device_window;
use rtcg_vgpu_jit::cache_key::{CodeKey, compile_counts, module_text_key};
use rtcg_vgpu_jit::{CodeStore, LaunchVariant, ModuleCodeCache, SymbolLayout, WindowAddress, compile_or_load_cached};
use std::ffi::CString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Lanes run a loop for numbers of rounds of their own and add to a variable; `wild` writes to no memory.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 factors[2] = {3, 5};
.global .align 4 .b32 total[1] = {7};
.visible .entry work(.param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>;
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, 7;
    and.b32 %r2, %r2, 15;
    mov.u32 %r3, 0;
    mov.u32 %r4, 0;
    ld.const.u32 %r5, [factors+4];
LOOP:
    setp.ge.u32 %p1, %r3, %r2;
    @%p1 bra DONE;
    mad.lo.u32 %r4, %r4, %r5, %r3;
    add.u32 %r3, %r3, 1;
    bra LOOP;
DONE:
    atom.global.add.u32 %r6, [total], %r4;
    ld.param.u64 %d1, [out];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r4;
    ret;
}
.visible .entry wild(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    st.global.u32 [%d1], %r1;
    ret;
}
";
const THREADS: u32 = 64;

/// What `work` writes.
fn expected_output() -> Vec<u32> {
    let sum = |rounds: u32| (0..rounds).fold(0_u32, |sum, i| sum.wrapping_mul(5).wrapping_add(i));
    (0..THREADS).map(|t| sum((t * 7) & 15)).collect()
}

fn get_function(module: CUmodule, name: &str) -> CUfunction {
    let mut f = CUfunction::null();
    let name = CString::new(name).unwrap();
    ok!(cuModuleGetFunction(&raw mut f, module, name.as_ptr()));
    f
}

/// Launches a kernel with one pointer and waits for it.
fn launch(f: CUfunction, threads: u32, mut pointer: CUdeviceptr) -> Result<(), CUresult> {
    let mut params = [(&raw mut pointer).cast()];
    let (shared, stream, none) = (0, CUstream::null(), std::ptr::null_mut());
    ok!(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, shared, stream, params.as_mut_ptr(), none));
    call!(cuCtxSynchronize())
}

/// Runs `work` in blocks of `threads` threads, which must be right.
fn run_work(threads: u32) {
    let mut module = CUmodule::null();
    let text = CString::new(PTX).unwrap();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    let out = alloc(4 * THREADS as usize);
    assert_eq!(launch(get_function(module, "work"), threads, out), Ok(()));
    let mut got = vec![0_u32; threads as usize];
    ok!(cuMemcpyDtoH(got.as_mut_ptr().cast(), out, 4 * got.len()));
    assert_eq!(got, expected_output()[..threads as usize]);
    let (mut total, mut size, mut sum) = (0, 0, 0_u32);
    ok!(cuModuleGetGlobal(&raw mut total, &raw mut size, module, c"total".as_ptr()));
    ok!(cuMemcpyDtoH((&raw mut sum).cast(), total, 4));
    assert_eq!(sum, got.iter().fold(7_u32, |sum, x| sum.wrapping_add(*x)));
}

/// A store that tells what is kept in it, and in which order.
#[derive(Debug, Default)]
struct RecordingStore(Mutex<Vec<CodeKey>>);

impl CodeStore for RecordingStore {
    fn get_code(&self, _: &CodeKey) -> Option<Vec<u8>> {
        None
    }
    fn put_code(&self, _: &CodeKey, bytes: &[u8]) {
        let text: String = bytes.iter().map(|b| char::from(*b)).collect();
        self.0.lock().unwrap().push(module_text_key(&text));
    }
}

/// The corpus, compiled in several ways, as hashes of what would be kept.
fn hashes_of_corpus() -> String {
    let store = Arc::new(RecordingStore::default());
    // Nothing is run, so all may lie where it never does; the processes differ in it.
    let bits = device_window().unwrap().size_log2();
    let somewhere = Arc::as_ptr(&store) as u64;
    let place = WindowAddress { base: ((somewhere >> 12) % 97 + 1) << bits, bits };
    let states = ShadowStates { base: somewhere, mask: (1 << bits) - 1 };
    let checked = Instrumentation { memory: Some(states), init: true, ..Instrumentation::NO_INSTRUMENTATION };
    let mut names = vec![];
    for path in corpus_files() {
        let parsed = rtcg_ptx::parse(std::fs::read_to_string(&path).unwrap());
        let module = Arc::new(parsed.module);
        let symbols = SymbolLayout { globals: (0..module.vars.len() as u64).map(|i| place.base + 4096 * i).collect() };
        for (id, f) in module.functions.iter().enumerate().filter(|(_, f)| f.entry && f.body.len() < 300) {
            let plain = LaunchVariant::from_block_shape([256, 1, 1]);
            let ways = [
                (plain, Instrumentation::NO_INSTRUMENTATION),
                (LaunchVariant { baseline: true, ..plain }, Instrumentation::NO_INSTRUMENTATION),
                (plain, checked),
                (LaunchVariant { force_masked: true, ..plain }, checked),
            ];
            for (variant, instrument) in ways {
                let kept: Arc<dyn CodeStore> = Arc::<RecordingStore>::clone(&store);
                let code_cache = ModuleCodeCache { store: kept, text: [0; 32], generator: [0; 32] };
                let id = rtcg_ptx::ast::FuncId(id as u32);
                let calls = (&RUNTIME_CALLS, &instrument);
                if compile_or_load_cached(&module, id, &symbols, variant, calls, place, Some(code_cache)).is_ok() {
                    names.push(format!("{} {}", path.file_name().unwrap().display(), f.name));
                }
            }
        }
    }
    let hashes = store.0.lock().unwrap();
    assert_eq!(hashes.len(), names.len());
    names.iter().zip(&*hashes).fold(String::new(), |mut text, (name, hash)| {
        let _ = writeln!(text, "{name} {hash:02x?}");
        text
    })
}

fn corpus_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ptx/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    files
}

/// Not a test by itself: the other side of the tests below.
#[test]
fn child_process() {
    let Ok(step) = std::env::var("RTCG_CODE_CACHE_TEST") else { return };
    if step == "corpus" {
        println!("{}", hashes_of_corpus());
        return;
    }
    rtcg_vgpu::code_cache::enable_code_cache();
    new_context();
    match step.as_str() {
        "work" => run_work(THREADS),
        "part of a warp" => run_work(20),
        _ => {
            let mut module = CUmodule::null();
            let text = CString::new(PTX).unwrap();
            ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
            assert_eq!(launch(get_function(module, "wild"), 32, 1 << 20), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
            println!("report: {}", rtcg_vgpu::last_fault_report(CUcontext::null()).unwrap().replace('\n', "|"));
        }
    }
    let counts = compile_counts();
    println!("compiled={} loaded={}", counts.compiled, counts.loaded);
}

/// A folder for a cache, which is removed when dropped.
struct CacheFolder(PathBuf);

impl CacheFolder {
    fn new(name: &str) -> CacheFolder {
        let path = std::env::temp_dir().join(format!("rtcg-code-cache-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        CacheFolder(path)
    }

    /// The files that hold code.
    fn code_files(&self) -> Vec<PathBuf> {
        let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().map(|e| e.unwrap().path());
        let shards = entries(&self.0).flat_map(|folder| entries(&folder).collect::<Vec<_>>());
        let mut files: Vec<_> = shards.flat_map(|shard| entries(&shard).collect::<Vec<_>>()).collect();
        files.retain(|path| path.extension().is_some_and(|e| e == "code"));
        files.sort();
        files
    }

    /// What a new process prints that does a step with this cache.
    fn run_child(&self, step: &str, environment: &[(&str, &str)]) -> String {
        let mut command = rerun(module_path!(), "child_process");
        command.env("RTCG_CODE_CACHE_TEST", step).env("CUDA_CACHE_PATH", &self.0).env("RTCG_JIT_TIER", "optimized");
        for name in [
            "CUDA_CACHE_DISABLE",
            "CUDA_CACHE_MAXSIZE",
            "PYCUDA_DISABLE_CACHE",
            "RTCG_CHECK",
            "RTCG_JIT_ISA",
            "RTCG_JIT_FORCE_MASKED",
        ] {
            command.env_remove(name);
        }
        let output = command.envs(environment.iter().copied()).output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
        assert!(output.status.success(), "{out}\n{err}");
        out
    }

    fn run_child_for_counts(&self, step: &str, environment: &[(&str, &str)]) -> String {
        let out = self.run_child(step, environment);
        out.find("compiled=").and_then(|at| out[at..].lines().next()).unwrap_or(&out).to_owned()
    }
}

impl Drop for CacheFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const COUNTS_ONE_COMPILED: &str = "compiled=1 loaded=0";
const COUNTS_ONE_LOADED: &str = "compiled=0 loaded=1";
/// The kernel and its masked part, which a warp with missing lanes needs.
const COUNTS_TWO_COMPILED: &str = "compiled=2 loaded=0";
const COUNTS_TWO_LOADED: &str = "compiled=0 loaded=2";

#[test]
fn a_second_process_compiles_nothing() {
    let folder = CacheFolder::new("second");
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_COMPILED);
    assert_eq!(folder.code_files().len(), 1);
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_LOADED);
    assert_eq!(folder.code_files().len(), 1);
}

#[test]
fn masked_code_is_cached_too() {
    let folder = CacheFolder::new("masked");
    assert_eq!(folder.run_child_for_counts("part of a warp", &[]), COUNTS_TWO_COMPILED);
    assert_eq!(folder.run_child_for_counts("part of a warp", &[]), COUNTS_TWO_LOADED);
}

#[test]
fn other_code_is_not_taken() {
    let folder = CacheFolder::new("other");
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_COMPILED);
    for environment in [("RTCG_JIT_ISA", "baseline"), ("RTCG_CHECK", "memory"), ("RTCG_CHECK", "race")] {
        assert_eq!(folder.run_child_for_counts("work", &[environment]), COUNTS_ONE_COMPILED, "{environment:?}");
        assert_eq!(folder.run_child_for_counts("work", &[environment]), COUNTS_ONE_LOADED, "{environment:?}");
    }
    assert_eq!(folder.run_child_for_counts("part of a warp", &[]), COUNTS_TWO_COMPILED, "another shape of the block");
    assert_eq!(folder.run_child_for_counts("part of a warp", &[]), COUNTS_TWO_LOADED);
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_LOADED);
}

#[test]
fn damaged_files_are_replaced() {
    let folder = CacheFolder::new("damaged");
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_COMPILED);
    let good: Vec<Vec<u8>> = folder.code_files().iter().map(|f| std::fs::read(f).unwrap()).collect();
    for (file, bytes) in folder.code_files().iter().zip(&good) {
        std::fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_COMPILED);
    let again: Vec<Vec<u8>> = folder.code_files().iter().map(|f| std::fs::read(f).unwrap()).collect();
    assert!(good == again, "the same code is other bytes");
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_LOADED);
}

#[test]
fn the_environment_switches_it_off() {
    let folder = CacheFolder::new("off");
    for environment in [("CUDA_CACHE_DISABLE", "1"), ("PYCUDA_DISABLE_CACHE", "1"), ("CUDA_CACHE_MAXSIZE", "100")] {
        assert_eq!(folder.run_child_for_counts("work", &[environment]), COUNTS_ONE_COMPILED, "{environment:?}");
        assert!(folder.code_files().is_empty(), "{environment:?}");
    }
    assert_eq!(folder.run_child_for_counts("work", &[("CUDA_CACHE_DISABLE", "0")]), COUNTS_ONE_COMPILED);
    assert_eq!(folder.code_files().len(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_none() {
    let folder = CacheFolder::new("unwritable");
    let file = folder.0.join("file");
    std::fs::write(&file, b"").unwrap();
    for _ in 0..2 {
        assert_eq!(
            folder.run_child_for_counts("work", &[("CUDA_CACHE_PATH", file.to_str().unwrap())]),
            COUNTS_ONE_COMPILED
        );
    }
}

#[test]
fn code_of_the_first_tier_is_kept_too() {
    let folder = CacheFolder::new("first-tier");
    let first = &[("RTCG_JIT_TIER", "first")];
    assert_eq!(folder.run_child_for_counts("work", first), COUNTS_TWO_COMPILED, "masked code comes with it");
    assert_eq!(folder.run_child_for_counts("work", first), COUNTS_TWO_LOADED);
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_COMPILED, "optimised code is other code");
}

#[test]
fn faults_are_reported_alike() {
    let folder = CacheFolder::new("faults");
    for environment in [&[][..], &[("RTCG_CHECK", "memory")]] {
        let [first, second] = [(); 2].map(|()| folder.run_child("wild", environment));
        let report = |text: &str| text.lines().find(|line| line.contains("report: ")).unwrap().to_owned();
        assert_eq!(report(&first), report(&second));
        assert!(report(&first).contains("st.global.u32 [%d1], %r1;"), "{first}");
        assert!(first.contains("compiled=1 loaded=0"), "{first}");
        assert!(second.contains("compiled=0 loaded=1"), "{second}");
    }
}

#[test]
fn many_processes_share_a_folder() {
    let folder = CacheFolder::new("many");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| folder.run_child("work", &[]));
        }
    });
    assert_eq!(folder.run_child_for_counts("work", &[]), COUNTS_ONE_LOADED);
    assert_eq!(folder.code_files().len(), 1);
}

/// Processes have their memory at other addresses, so an address in code would differ.
#[test]
fn processes_make_the_same_code() {
    let folder = CacheFolder::new("same");
    let [first, second] = [(); 2].map(|()| folder.run_child("corpus", &[]));
    let lines = |text: &str| text.lines().filter(|l| l.contains(".ptx ")).map(str::to_owned).collect::<Vec<_>>();
    assert!(lines(&first).len() > 200, "{first}");
    for (a, b) in lines(&first).iter().zip(&lines(&second)) {
        assert_eq!(a, b);
    }
}
