//! Which devices a process sees, by what is installed and what `RTCG_VIRTUAL_DEVICES` says.
//!
//! The device list is made once per process, so each case runs in a process of its own: this
//! file starts itself again with `RTCG_TEST_CHILD` set.

use crate::own_process::{is_child, rerun};
use rtcg_driver::Device;

/// The list of devices (or the error) in a process with these variables, and its standard error.
fn list_devices_in_child(env: &[(&str, &str)]) -> (String, String) {
    let output = rerun(module_path!(), "print_devices")
        .env_remove("RTCG_VIRTUAL_DEVICES")
        .envs(env.iter().copied())
        .output()
        .expect("the test can start itself");
    assert!(output.status.success());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn print_devices() {
    if !is_child() {
        return;
    }
    if let Err(error) = rtcg_driver::init(0) {
        println!("error: {error}");
        return;
    }
    rtcg_driver::init(0).expect("a second time does nothing");
    let kinds: Vec<_> =
        Device::all().expect("initialised").iter().map(|d| if d.is_virtual() { "virtual" } else { "real" }).collect();
    println!("devices: {}.", kinds.join(" "));
}

#[test]
fn without_a_real_device_there_is_one_virtual_and_the_user_is_told_once() {
    let (out, err) = list_devices_in_child(&[("RTCG_LIBCUDA", "none")]);
    assert!(out.contains("devices: virtual."), "{out}");
    assert_eq!(err.matches("using the virtual GPU").count(), 1, "{err}");
    assert!(err.starts_with("rtcg: no NVIDIA GPU is usable here (could not load the CUDA driver (libcuda))"), "{err}");
}

#[test]
fn requested_virtual_devices_cause_no_notice() {
    let (out, err) = list_devices_in_child(&[("RTCG_LIBCUDA", "none"), ("RTCG_VIRTUAL_DEVICES", "3")]);
    assert!(out.contains("devices: virtual virtual virtual."), "{out}");
    assert_eq!(err, "");
}

#[test]
fn virtual_devices_come_after_real_ones() {
    let (plain, _) = list_devices_in_child(&[]);
    let (out, _) = list_devices_in_child(&[("RTCG_VIRTUAL_DEVICES", "2")]);
    let real = plain.matches("real").count();
    let expected = [vec!["real"; real], vec!["virtual"; 2]].concat().join(" ");
    assert!(out.contains(&format!("devices: {expected}.")), "{plain}{out}");
}

#[test]
fn no_device_at_all_is_an_error_that_says_why() {
    let (out, _) = list_devices_in_child(&[("RTCG_LIBCUDA", "none"), ("RTCG_VIRTUAL_DEVICES", "0")]);
    assert!(out.contains("error: cuInit failed: no CUDA-capable device is detected - "), "{out}");
    assert!(out.contains("RTCG_LIBCUDA=none: the real driver is switched off"), "{out}");
    let (out, _) = list_devices_in_child(&[("RTCG_VIRTUAL_DEVICES", "many")]);
    assert!(out.contains("RTCG_VIRTUAL_DEVICES=many is not a number"), "{out}");
}
