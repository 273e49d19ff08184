//! A report, in words, of what this installation offers: drivers, devices, driver functions, the compiler, the cache
//! and the settings. It initialises the drivers and changes nothing else.

use rtcg_driver::sys::{CUdevice_attribute, DriverFn, DriverTable, NvJitLinkTable, NvrtcTable};
use rtcg_driver::{Device, sys};
use std::fmt::Write;

/// What a report contains beyond the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReportDetails {
    /// Every attribute of every device.
    pub attributes: bool,
    /// Every declared function of the driver API, and which drivers have it.
    pub functions: bool,
    /// Settings that are not set, and their defaults.
    pub unset_settings: bool,
}

/// The settings read from the environment, and what holds when one is not set.
const ENVIRONMENT_SETTINGS: &[(&str, &str)] = &[
    ("RTCG_VIRTUAL_DEVICES", "one virtual device if there is no real one"),
    ("RTCG_VIRTUAL_MEMORY", "each virtual device has half of the machine's memory"),
    ("RTCG_VIRTUAL_TIMEOUT", "kernels may run as long as they want"),
    ("RTCG_CHECK", "kernels run unchecked"),
    ("RTCG_FAULTS", "a fault on the virtual GPU ends its context, and the program may go on with another"),
    ("RTCG_SCHEDULE", "threads of the virtual GPU run in its normal order"),
    ("RTCG_TRACEBACK", "errors of `@cu` programs leave out the frames of rtcg"),
    ("RTCG_TRACE", "driver calls are not traced"),
    ("RTCG_EXPORT_WAITS", "consumers of exported arrays wait for the stream that they are told"),
    ("RTCG_WORKERS", "one thread per core runs grids of the virtual GPU"),
    ("RTCG_LIBCUDA", "the loader finds the CUDA driver"),
    ("RTCG_COMPILER", "NVRTC compiles CUDA C++ where it is installed, else clang does"),
    ("RTCG_NVRTC", "NVRTC is searched in wheels and toolkits"),
    ("RTCG_NVJITLINK", "nvJitLink is searched where NVRTC is"),
    ("RTCG_NCCL", "NCCL is searched in wheels and toolkits; virtual devices have one of their own"),
    ("RTCG_CUBLAS", "cuBLAS is searched in wheels and toolkits, where `rtcg.cublas` is used"),
    ("RTCG_CUBLASLT", "cuBLASLt is searched where cuBLAS is"),
    ("RTCG_CUFFT", "cuFFT is searched in wheels and toolkits, where `rtcg.cufft` is used"),
    ("RTCG_CUSOLVER", "cuSOLVER is searched in wheels and toolkits, where `rtcg.cusolver` is used"),
    ("RTCG_NCCL_TIMEOUT", "ranks on virtual devices wait for others to join for 300 seconds"),
    ("RTCG_NVML", "the loader finds NVML, which reads a device's sensors"),
    ("RTCG_NVTX", "ranges go to the profiler that started the program, if one did"),
    ("RTCG_STAGING", "long copies of pageable memory are shared by threads where that pays"),
    ("RTCG_ARGUMENT_TYPES", "arguments of kernels are checked against the types in their source"),
    ("RTCG_TENSOR_COPIES", "matrix products copy their factors without tensor maps"),
    ("RTCG_APPROX", "approximate functions of the virtual GPU have the bits of an H200"),
    ("RTCG_JIT_TIER", "kernels of the virtual GPU are optimised when they have run for a while"),
    ("RTCG_PREBUILT", "PTX of common array kernels comes with the package"),
    ("RTCG_TUNING_DIR", "results of tuning lie in the user's folder for data"),
    ("RTCG_CLANG", "clang, for OpenCL C and CUDA C++, is that of the wheel ziglang, or the first on PATH"),
    ("RTCG_CLANG_HEADERS", "clang gets the headers of rtcg for CUDA C++"),
    ("RTCG_OPENCL_ERRORS", "functions of OpenCL return codes without saying why"),
    ("RTCG_OPENCL_VENDORS", "libOpenCL.so.1 lists other vendors' platforms, too"),
    ("RTCG_CACHE_SIZE", "the compiler's cache holds up to 1 GiB"),
    ("PYCUDA_CACHE_DIR", "the compiler's cache lies in the user's cache folder"),
    ("PYCUDA_DISABLE_CACHE", "compiled programs are kept"),
    ("CUDA_CACHE_DISABLE", "the virtual GPU keeps machine code on disk"),
    ("CUDA_CACHE_PATH", "machine code lies in the compiler's cache"),
    ("CUDA_CACHE_MAXSIZE", "up to 1 GiB of machine code is kept"),
    ("PYCUDA_DEFAULT_NVCC_FLAGS", "no further options"),
    ("CUDA_DEVICE", "the first device that works is the default one"),
    ("CUDA_HOME", "toolkits are searched in wheels and where they usually are"),
    ("CUDA_PATH", "the same"),
    ("CUDA_ROOT", "the same"),
    ("CUDA_VISIBLE_DEVICES", "NVIDIA's driver shows all its devices"),
    ("LD_LIBRARY_PATH", "the loader searches the system's folders"),
];

/// Returns the report, as several lines of text.
pub fn info_report(details: ReportDetails) -> String {
    let system = (std::env::consts::OS, std::env::consts::ARCH);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!("rtcg {} on {} {}, {cores} cores\n", env!("CARGO_PKG_VERSION"), system.0, system.1);
    let started = rtcg_driver::init(0);
    write_drivers(&mut text);
    write_section(&mut text, "Devices");
    if let Err(error) = started {
        write_item(&mut text, "none", &join_lines(&error.to_string()));
    }
    for device in Device::all().unwrap_or_default() {
        write_device(&mut text, &device, details.attributes);
    }
    write_compilers(&mut text);
    write_libraries(&mut text);
    write_settings(&mut text, details.unset_settings);
    if details.functions {
        write_function_coverage(&mut text);
    }
    text
}

fn write_section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n{title}");
}

fn write_item(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<26} {value}");
}

/// The lines of a message in one, so that a report stays a list.
fn join_lines(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join("; ").replace(":; ", ": ")
}

/// Why a library is missing, with a line for each place that was tried.
fn write_load_error(text: &mut String, name: &str, message: &str) {
    for (place, line) in message.lines().enumerate() {
        write_item(text, if place == 0 { name } else { "" }, line);
    }
}

fn version_text(number: Option<u32>) -> String {
    number.map_or("of unknown version".to_owned(), |v| format!("CUDA {}.{}", v / 1000, v % 1000 / 10))
}

fn function_count_text(table: &DriverTable) -> String {
    let resolved = table.function_coverage().filter(|c| c.resolved).count();
    format!("{resolved} of {} driver functions", DriverFn::FUNCTION_COUNT)
}

fn write_drivers(text: &mut String) {
    write_section(text, "Drivers");
    match DriverTable::real_driver() {
        Ok(table) => {
            let value = format!(
                "{}, {}, {}",
                table.library_name(),
                version_text(table.driver_version()),
                function_count_text(table)
            );
            write_item(text, "real", &value);
        }
        Err(error) => write_load_error(text, "real", &error.to_string()),
    }
    let value = match rtcg_driver::virtual_table() {
        Some(table) => format!("built in, {}, {}", version_text(table.driver_version()), function_count_text(table)),
        None => "not built in (the feature `vgpu` of rtcg is off)".to_owned(),
    };
    write_item(text, "virtual", &value);
}

fn write_device(text: &mut String, device: &Device, attributes: bool) {
    let kind = if device.is_virtual() { "virtual" } else { "real" };
    let name = device.name().unwrap_or_else(|e| join_lines(&e.to_string()));
    write_item(text, &format!("{} ({kind})", device.ordinal()), &name);
    let attribute = |which| device.attribute(which).map_or("?".to_owned(), |v| v.to_string());
    let (major, minor) = device.compute_capability().unwrap_or_default();
    let memory = device.total_memory().unwrap_or_default();
    let _ = writeln!(
        text,
        "{:29}compute capability {major}.{minor}, {:.1} GiB, {} multiprocessors, {}",
        "",
        memory as f64 / f64::from(1 << 30),
        attribute(sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        device.pci_bus_id().unwrap_or_default(),
    );
    if !attributes {
        return;
    }
    let mut last = None;
    for (name, which) in CUdevice_attribute::NAMED_CONSTANTS {
        // Several names may share a number; names of unknown numbers mark the end of the list.
        if last.replace(which.0) != Some(which.0)
            && let Ok(value) = device.attribute(*which)
        {
            let _ = writeln!(text, "{:29}{:<58} {value}", "", name.trim_start_matches("CU_DEVICE_ATTRIBUTE_"));
        }
    }
}

fn write_compilers(text: &mut String) {
    write_section(text, "Compiler");
    match NvrtcTable::load() {
        Ok(table) => {
            let version = table.version().map_or("?".to_owned(), |(major, minor)| format!("{major}.{minor}"));
            write_item(text, "NVRTC", &format!("{version}, {}", table.library_path().display()));
            let archs: Vec<_> = table.supported_archs().iter().map(u32::to_string).collect();
            write_item(text, "", &format!("compiles for {}", archs.join(" ")));
        }
        Err(error) => write_load_error(text, "NVRTC", &error.to_string()),
    }
    match rtcg_compile::clang::find_clang() {
        Ok(clang) => write_item(text, "clang", &clang.description()),
        Err(error) => write_item(text, "clang", &error.message),
    }
    match rtcg_compile::Compiler.compiler_info(None) {
        Ok(info) => write_item(text, "CUDA C++ by", info.version.trim()),
        Err(error) => write_item(text, "CUDA C++ by", &format!("none: {}", error.message)),
    }
    match NvJitLinkTable::load() {
        Ok(table) => {
            let version = table.version().map_or("?".to_owned(), |(major, minor)| format!("{major}.{minor}"));
            write_item(text, "nvJitLink", &format!("{version}, {}", table.library_path().display()));
        }
        Err(_) => write_item(text, "nvJitLink", "not found; link-time optimisation (-dlto) needs it"),
    }
    let nvcc = sys::find_nvcc("nvcc").map_or("not found, not needed".to_owned(), |path| path.display().to_string());
    write_item(text, "nvcc", &nvcc);
    let directories: Vec<_> = sys::header_directories().iter().map(|d| d.display().to_string()).collect();
    write_item(text, "CUDA headers", if directories.is_empty() { "not found" } else { "" });
    for directory in directories {
        write_item(text, "", &directory);
    }
    write_cache(text);
}

fn write_cache(text: &mut String) {
    let Some(status) = rtcg_compile::cache_status() else {
        return write_item(text, "cache", "nothing is kept on disk");
    };
    write_item(text, "cache", &status.dir.display().to_string());
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let (programs, used, limit) = (status.n_programs, mib(status.n_bytes), mib(status.limit_bytes));
    write_item(text, "", &format!("{programs} programs, {used:.1} MiB of at most {limit:.0} MiB"));
    if let Some(reason) = status.unwritable {
        write_item(text, "", &format!("nothing new is kept: {}", join_lines(&reason)));
    }
}

/// Libraries beside the driver and the compiler that are used when they are there.
fn write_libraries(text: &mut String) {
    write_section(text, "Libraries");
    for installation in sys::installations::find_installations() {
        write_item(text, "CUDA", &installation.origin);
    }
    let curand = sys::installations::find_library("curand")
        .map_or("not found, not needed".to_owned(), |p| p.display().to_string());
    write_item(text, "cuRAND", &curand);
    write_item(
        text,
        "NVTX listener",
        rtcg_driver::trace::nvtx::listener_library_name().unwrap_or("none: no profiler is attached"),
    );
}

fn write_settings(text: &mut String, unset_too: bool) {
    write_section(text, "Environment");
    let mut n_unset = 0;
    for (name, otherwise) in ENVIRONMENT_SETTINGS {
        match std::env::var_os(name).filter(|v| !v.is_empty()) {
            Some(value) => write_item(text, name, &value.to_string_lossy()),
            None if unset_too => write_item(text, name, &format!("not set: {otherwise}")),
            None => n_unset += 1,
        }
    }
    let listed = |name: &str| ENVIRONMENT_SETTINGS.iter().any(|(known, _)| *known == name);
    for (name, value) in std::env::vars().filter(|(name, _)| name.starts_with("RTCG_") && !listed(name)) {
        write_item(text, &name, &format!("{value} (unknown: rtcg has no such setting)"));
    }
    if n_unset > 0 {
        let _ = writeln!(text, "  {n_unset} settings are not set; --all lists them");
    }
}

fn write_function_coverage(text: &mut String) {
    write_section(text, "Driver functions (r: real driver, v: virtual GPU)");
    let real = DriverTable::real_driver().ok();
    let simulated = rtcg_driver::virtual_table();
    for function in DriverFn::ALL_FUNCTIONS {
        let info = function.function_info();
        let r = if real.is_some_and(|t| t.has_function(*function)) { 'r' } else { '-' };
        let v = if simulated.is_some_and(|t| t.has_function(*function)) { 'v' } else { '-' };
        let _ =
            writeln!(text, "  {r}{v} {:<52} since CUDA {}.{}", info.name, info.since / 1000, info.since % 1000 / 10);
    }
}
