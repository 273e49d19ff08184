//! Vendors' libraries that a C compiler makes: good ones, and ones that do what no library should.

use rtcg_opencl_sys::vendor::{
    Probe, ProbeSettings, Vendor, VendorError, VendorErrorKind, find_vendors, vendors_of_folder,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A folder that goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("rtcg-vendors-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        Self(folder)
    }

    /// A library of `vendor.c` with these macros.
    fn library(&self, name: &str, macros: &[&str]) -> Vendor {
        let library = self.0.join(format!("lib{name}.so"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vendors/vendor.c");
        let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]);
        compiler.args([&library, &source]).args(macros.iter().map(|name| format!("-D{name}")));
        assert!(compiler.status().expect("a C compiler runs").success());
        Vendor { library, named_by: "a test".to_owned() }
    }

    fn settings(&self) -> ProbeSettings {
        ProbeSettings { limit: Duration::from_secs(30), folder: Some(self.0.join("cache")) }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.0.join(name), text).expect("the folder can be written");
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn kind_of(outcome: Result<Probe, VendorError>) -> VendorErrorKind {
    outcome.expect_err("the library is none to be used").kind
}

#[test]
fn a_good_library_is_opened_and_asked_through_its_table() {
    own_process!("PYCUDA_DISABLE_CACHE" = "1");
    let folder = Folder::new("good");
    let vendor = folder.library("good", &[]);
    assert_eq!(vendor.probe(&folder.settings()).expect("the library is good").suffixes(), ["SML"]);
    // That was in another process.
    assert!(std::env::var_os("SMALL_VENDOR_WAS_LOADED").is_none());
    let platforms = vendor.platforms().expect("the library is good");
    let texts = |platform: &rtcg_opencl_sys::Platform| [platform.name(), platform.vendor(), platform.version()];
    let wanted = ["Small", "Tests", "OpenCL 1.2 tests"].map(|text| Ok(text.to_owned()));
    assert_eq!(platforms.iter().map(texts).collect::<Vec<_>>(), [wanted]);
    assert!(platforms[0].table().clGetDeviceIDs.is_none());
}

#[test]
fn a_library_that_crashes_or_exits_costs_a_message() {
    let folder = Folder::new("crash");
    let vendor = folder.library("crashes", &["CRASHES"]);
    let error = vendor.probe(&folder.settings()).expect_err("it crashes");
    let being_loaded = || "being loaded".to_owned();
    assert_eq!(error.kind, VendorErrorKind::Crashed { how: "signal 11".to_owned(), step: being_loaded() });
    let message = error.to_string();
    let file = error.cached_in.clone().expect("it is cached");
    assert!(message.contains("libcrashes.so (named by a test) is skipped: it crashed"), "{message}");
    assert!(message.ends_with(&format!("remove {} to probe it again", file.display())), "{message}");
    assert!(std::env::var_os("SMALL_VENDOR_WAS_LOADED").is_none());
    let exits = folder.library("exits", &["EXITS"]).probe(&folder.settings());
    assert_eq!(kind_of(exits), VendorErrorKind::Crashed { how: "exit status 7".to_owned(), step: being_loaded() });
}

#[test]
fn a_process_with_threads_that_ignores_its_children_probes_libraries() {
    own_process!("PYCUDA_DISABLE_CACHE" = "1");
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let folder = Folder::new("threads");
    let (good, crashes) = (folder.library("good", &[]), folder.library("crashes", &["CRASHES"]));
    // SAFETY: this process has no other code that looks at its children.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    std::thread::scope(|scope| {
        // Nearly always one of them holds the allocator's lock.
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    drop(vec![1u8; 300_000])
                }
            });
        }
        for _ in 0..5 {
            assert_eq!(good.probe(&ProbeSettings::default()).expect("the library is good").suffixes(), ["SML"]);
            let kind = kind_of(crashes.probe(&ProbeSettings::default()));
            // Nobody waits for the process, so that its status is lost.
            let how = "exit status unknown".to_owned();
            assert_eq!(kind, VendorErrorKind::Crashed { how, step: "being loaded".to_owned() });
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_library_that_hangs_is_given_up() {
    let folder = Folder::new("hang");
    let limit = Duration::from_millis(300);
    let settings = ProbeSettings { limit, ..folder.settings() };
    for (name, step) in [("HANGS", "being loaded"), ("HANGS_LISTING", "listing its platforms")] {
        let start = Instant::now();
        let outcome = folder.library(name, &[name]).probe(&settings);
        assert_eq!(kind_of(outcome), VendorErrorKind::Hung { limit, step: step.to_owned() });
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

#[test]
fn libraries_of_another_kind_are_refused() {
    let folder = Folder::new("other");
    let settings = folder.settings();
    assert_eq!(kind_of(folder.library("other", &["NO_PROTOCOL"]).probe(&settings)), VendorErrorKind::NoProtocol);
    let missing = Vendor { library: folder.0.join("missing.so"), named_by: "a test".to_owned() };
    let text = folder.write("text.so", "no library");
    for (vendor, reason) in [(missing, "No such file"), (Vendor { library: text, named_by: "a test".to_owned() }, "")] {
        let error = vendor.probe(&settings).expect_err("it cannot be opened");
        let VendorErrorKind::NotLoaded(said) = &error.kind else { panic!("{error}") };
        assert!(said.contains(reason), "{said}");
        assert_eq!(error.cached_in, None);
    }
}

#[test]
fn an_outcome_is_found_again_until_the_library_changes() {
    let folder = Folder::new("again");
    let settings = folder.settings();
    let vendor = folder.library("changes", &["HANGS"]);
    let hangs = ProbeSettings { limit: Duration::from_millis(200), ..settings.clone() };
    let error = vendor.probe(&hangs).expect_err("it hangs");
    // Found again: with this limit a probe would take half a minute.
    let start = Instant::now();
    assert_eq!(vendor.probe(&settings), Err(error.clone()));
    assert!(start.elapsed() < Duration::from_secs(20));
    // A damaged file is none.
    let file = error.cached_in.expect("it is cached");
    let text = std::fs::read_to_string(&file).expect("the file is there");
    std::fs::write(&file, &text[..text.len() - 3]).expect("the file can be written");
    let start = Instant::now();
    assert_eq!(vendor.probe(&hangs).map_err(|error| error.cached_in), Err(Some(file)));
    assert!(start.elapsed() >= hangs.limit, "{:?}", start.elapsed());
    // Another library of the same name.
    let good = folder.library("changes", &[]);
    assert_eq!(good.probe(&settings).expect("the library is good").suffixes(), ["SML"]);
    // With nowhere to keep it, the outcome is the same.
    let kept_nowhere = ProbeSettings { folder: None, ..settings };
    assert_eq!(good.probe(&kept_nowhere), good.probe(&kept_nowhere));
}

#[test]
fn libraries_are_named_by_variables_and_files() {
    own_process!("OCL_ICD_FILENAMES" = "/named/lib1.so:/nowhere/missing.icd", "OPENCL_VENDOR_PATH" = "/nowhere");
    let folder = Folder::new("search");
    let beside = folder.write("libbeside.so", "");
    folder.write("2.icd", "/absolute/libcl.so\n");
    folder.write("1.icd", "  libbeside.so \nmore");
    folder.write("3.icd", "libof_the_linker.so");
    folder.write("4.icd", "\n");
    folder.write("5.txt", "/ignored.so");
    let libraries = |vendors: &[Vendor]| vendors.iter().map(|vendor| vendor.library.clone()).collect::<Vec<_>>();
    let of_folder = [beside, "/absolute/libcl.so".into(), "libof_the_linker.so".into()];
    assert_eq!(libraries(&vendors_of_folder(&folder.0)), of_folder);
    assert!(vendors_of_folder(&folder.0)[0].named_by.ends_with("/1.icd"));

    let named = [PathBuf::from("/named/lib1.so"), "/nowhere/missing.icd".into()];
    let begins = |wanted: &[PathBuf]| {
        let found = libraries(&find_vendors());
        assert_eq!(&found[..wanted.len().min(found.len())], wanted);
    };
    begins(&named);
    // The folder counts, and the other one no more; a library that is named twice is one.
    // SAFETY: this process has no other thread that reads variables.
    let set = |name: &str, value: &Path| unsafe { std::env::set_var(name, value) };
    set("OCL_ICD_VENDORS", &folder.0);
    begins(&[&named[..], &of_folder].concat());
    set("OCL_ICD_FILENAMES", Path::new("/absolute/libcl.so"));
    begins(&[of_folder[1].clone(), of_folder[0].clone(), of_folder[2].clone()]);
    for (value, library) in [("2.icd", "/absolute/libcl.so"), ("libbeside.so", of_folder[0].to_str().expect("UTF-8"))] {
        set("OCL_ICD_FILENAMES", Path::new(""));
        set("OCL_ICD_VENDORS", &folder.0.join(value));
        begins(&[library.into()]);
    }
    let without_files = folder.0.join("without_files");
    std::fs::create_dir_all(&without_files).expect("folders can be made");
    set("OCL_ICD_VENDORS", &without_files);
    let error = find_vendors()[0].platforms().expect_err("there is nothing in the folder").to_string();
    assert!(
        error.contains("named by OCL_ICD_VENDORS") && error.ends_with("it is a folder, and has no file *.icd"),
        "{error}"
    );
    // Wheels of a Python environment.
    let wheels = folder.0.join("environment/lib/python3.12/site-packages/pyopencl/.libs");
    std::fs::create_dir_all(&wheels).expect("folders can be made");
    folder.write("environment/lib/python3.12/site-packages/pyopencl/.libs/libpocl.so", "");
    folder.write("environment/lib/python3.12/site-packages/pyopencl/.libs/pocl.icd", "libpocl.so");
    let intel = folder.write("environment/lib/libintelocl.so", "");
    set("VIRTUAL_ENV", &folder.0.join("environment"));
    let found = libraries(&find_vendors());
    assert!(found.contains(&wheels.join("libpocl.so")) && found.contains(&intel), "{found:?}");
}

/// The libraries of the wheels of PoCL and Intel, in the environment of Python that `RTCG_OPENCL_WHEELS` names.
#[test]
fn vendors_of_wheels_have_platforms() {
    let Some(environment) = std::env::var_os("RTCG_OPENCL_WHEELS") else {
        println!("not tested: RTCG_OPENCL_WHEELS names no environment with pocl-binary-distribution");
        return;
    };
    if !crate::own_process::is_child() {
        let environment = environment.to_str().expect("a path in UTF-8");
        struct Here;
        crate::own_process::pass_alone(
            std::any::type_name::<Here>(),
            &[("VIRTUAL_ENV", environment), ("OCL_ICD_VENDORS", "/nowhere")],
        );
        return;
    }
    let outcomes: Vec<_> = find_vendors().iter().map(Vendor::platforms).collect();
    let mut names = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(platforms) => names.extend(platforms.iter().map(|platform| platform.name().expect("it has a name"))),
            Err(error) => println!("{error}"),
        }
    }
    println!("{names:?}");
    assert!(names.iter().any(|name| name == "Portable Computing Language"), "{names:?}");
}
