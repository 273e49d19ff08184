//! Where vendors' libraries are: variables, folders of `.icd` files, folders of wheels. Nothing is opened.
//!
//! An `.icd` file holds the name of a library: a path, or a name for the dynamic linker. Wheels of Python put such
//! files beside the loader in PyOpenCL's wheel, and mean a file of that folder.

use super::Vendor;
use rtcg_cuda_sys::installations::{python_library_folders, python_packages};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where distributions of Linux list vendors.
const SYSTEM_FOLDER: &str = "/etc/OpenCL/vendors";
/// Set while a library is probed: one that asks for platforms then must not have others probed.
pub(super) const INSIDE_PROBE: &str = "RTCG_OPENCL_PROBE";

/// The libraries that are named, each once, in the order of the search:
///
/// 1. `OCL_ICD_FILENAMES`: libraries or `.icd` files, separated as in `PATH`;
/// 2. `OCL_ICD_VENDORS` (a folder of `.icd` files, one of them, or a library), else the folder `OPENCL_VENDOR_PATH`,
///    else `/etc/OpenCL/vendors`;
/// 3. `pyopencl/.libs` of each Python that is found (the wheels of PoCL, Oclgrind and `rtcg-icd`);
/// 4. Intel's library from its wheel, whose `.icd` file has a path of another machine.
pub fn find_vendors() -> Vec<Vendor> {
    if std::env::var_os(INSIDE_PROBE).is_some() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(names) = variable("OCL_ICD_FILENAMES") {
        for path in std::env::split_paths(&names).filter(|path| !path.as_os_str().is_empty()) {
            found.push(vendor_of_file(&path, "OCL_ICD_FILENAMES"));
        }
    }
    let named = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"].iter().find_map(|name| Some((*name, variable(name)?)));
    match named {
        Some((name, value)) if !Path::new(&value).is_dir() => found.push(vendor_of_file(Path::new(&value), name)),
        Some((name, value)) => {
            let listed = vendors_of_folder(Path::new(&value));
            // A folder that says nothing is reported when it is opened.
            let folder = listed.is_empty().then(|| Vendor { library: value.into(), named_by: name.to_owned() });
            found.extend(listed.into_iter().chain(folder));
        }
        None => found.extend(vendors_of_folder(Path::new(SYSTEM_FOLDER))),
    }
    for package in python_packages("pyopencl") {
        found.extend(vendors_of_folder(&package.join(".libs")));
    }
    for folder in python_library_folders() {
        let library = folder.join("libintelocl.so");
        if library.is_file() {
            found.push(Vendor { library, named_by: format!("the wheel intel-opencl-rt in {}", folder.display()) });
        }
    }
    without_repetitions(found)
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The libraries that the `.icd` files of a folder name, in the order of the files' names.
pub fn vendors_of_folder(folder: &Path) -> Vec<Vendor> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_icd(path)).collect();
    files.sort();
    files.iter().filter_map(|file| vendor_of_icd(file)).collect()
}

fn is_icd(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "icd")
}

/// The library that a variable names, itself or by an `.icd` file.
fn vendor_of_file(path: &Path, variable: &str) -> Vendor {
    let of_icd = if is_icd(path) { vendor_of_icd(path) } else { None };
    // A file that is not there is reported when it is opened.
    of_icd.unwrap_or_else(|| Vendor { library: library_file(path, None), named_by: variable.to_owned() })
}

/// The library whose name is the file's first line.
fn vendor_of_icd(file: &Path) -> Option<Vendor> {
    let text = std::fs::read_to_string(file).ok()?;
    let name = text.lines().next().map(str::trim).filter(|name| !name.is_empty())?;
    Some(Vendor { library: library_file(Path::new(name), file.parent()), named_by: file.display().to_string() })
}

/// A library by its path where that is known: a name without a folder is one of `folder`, else of where the dynamic
/// linker looks first. A path has a size and a time, by which the outcome of a probe is found again.
fn library_file(name: &Path, folder: Option<&Path>) -> PathBuf {
    if name.is_absolute() {
        return name.to_owned();
    }
    let of_variable = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let is_bare = name.components().count() == 1;
    let linkers = std::env::split_paths(&of_variable).chain(system_library_folders()).filter(|_| is_bare);
    let folders = folder.map(Path::to_owned).into_iter().chain(linkers);
    let mut files = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    files.find(|file| file.is_file()).unwrap_or_else(|| name.to_owned())
}

fn system_library_folders() -> impl Iterator<Item = PathBuf> {
    let of_processor = format!("{}-linux-gnu", std::env::consts::ARCH);
    ["/usr/local/lib", "/lib", "/usr/lib"]
        .into_iter()
        .flat_map(move |folder| [Path::new(folder).join(&of_processor), folder.into()])
        .chain(["/lib64".into(), "/usr/lib64".into()])
}

fn without_repetitions(found: Vec<Vendor>) -> Vec<Vendor> {
    let mut files = Vec::new();
    let mut is_new = |vendor: &Vendor| {
        let file = vendor.library.canonicalize().unwrap_or_else(|_| vendor.library.clone());
        !files.contains(&file) && {
            files.push(file);
            true
        }
    };
    found.into_iter().filter(|vendor| is_new(vendor)).collect()
}
