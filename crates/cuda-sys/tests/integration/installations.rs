//! Wheels are found beside the interpreter that runs, also when its environment is not activated.

use crate::own_process::{is_child, rerun};
use rtcg_cuda_sys::installations::python_packages;
use std::os::unix::process::CommandExt;
use std::path::Path;

const PACKAGE: &str = "rtcg_test_package";

fn run_as(program: &Path, path: &Path) -> String {
    let mut command = rerun(module_path!(), "finds_packages_beside_a_program_that_is_called_by_a_link");
    command.arg0(program).env("PATH", path).env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
    let output = command.output().expect("the test can start itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn finds_packages_beside_a_program_that_is_called_by_a_link() {
    if is_child() {
        println!("found {:?}", python_packages(PACKAGE));
        return;
    }
    let prefix = std::env::temp_dir().join(format!("rtcg-installations-{}", std::process::id()));
    let package = prefix.join("lib/python3.13/site-packages").join(PACKAGE);
    std::fs::create_dir_all(&package).expect("a folder can be made");
    std::fs::create_dir_all(prefix.join("bin")).expect("a folder can be made");
    std::os::unix::fs::symlink(std::env::current_exe().expect("a test has a file"), prefix.join("bin/python"))
        .expect("the folder is new");
    let expected = format!("found {:?}", [&package]);
    assert!(run_as(&prefix.join("bin/python"), Path::new("/nowhere")).contains(&expected));
    assert!(run_as(Path::new("python"), &prefix.join("bin")).contains(&expected));
    assert!(run_as(Path::new("python"), Path::new("/nowhere")).contains("found []"));
    let _ = std::fs::remove_dir_all(&prefix);
}
