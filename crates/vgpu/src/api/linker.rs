//! The linker: several PTX texts become one.
//!
//! Only PTX can be linked, alone or in fat binaries: there is no machine code of a GPU here. The texts are joined under one
//! header; declarations that another text defines are resolved by the module loader. In place of
//! CUDA's device runtime library, which is machine code, its functions for grids are joined as PTX.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::{Arc, Mutex};

use rtcg_cuda_sys::*;

use super::jit_options;
use super::module::read_file;
use super::ptx_linker;
use super::{Handle, driver_functions, write_optional, write_out};
use crate::context::current;
use crate::driver::LINKERS;
use crate::error::{Code, Error, Res, ensure};
use crate::module::{self, LoadOptions, MAX_REGISTERS};
use crate::objects::{LinkState, Linker, lock};

fn add(state: CUlinkState, kind: CUjitInputType, name: String, data: Vec<u8>) -> Res {
    let linker = LINKERS.get(state.number())?;
    let mut link = lock(&linker.state);
    ensure(link.output.is_none(), Code::INVALID_VALUE)?;
    let what = match kind {
        CUjitInputType::CU_JIT_INPUT_PTX => {
            let text: Vec<u8> = data.into_iter().take_while(|&b| b != 0).collect();
            let checked = module::text_of(&text).map(drop);
            let error = checked.map_err(|e| Code(e.code as u32).because(format!("{name}: {}", e.log)));
            error.inspect_err(|e| log_error(&link, e))?;
            link.inputs.push((name, text));
            return Ok(());
        }
        CUjitInputType::CU_JIT_INPUT_FATBINARY => return add_fatbin(&mut link, name, &data),
        CUjitInputType::CU_JIT_INPUT_LIBRARY if is_device_runtime(&name) => {
            link.device_runtime = true;
            return Ok(());
        }
        CUjitInputType::CU_JIT_INPUT_CUBIN if !data.starts_with(b"\x7fELF") => return Code::INVALID_IMAGE.err(),
        CUjitInputType::CU_JIT_INPUT_CUBIN => "machine code of a GPU (cubin)",
        CUjitInputType::CU_JIT_INPUT_OBJECT => "an object file",
        CUjitInputType::CU_JIT_INPUT_LIBRARY => "a device library",
        CUjitInputType::CU_JIT_INPUT_NVVM => "NVVM code",
        _ => return Code::INVALID_VALUE.err(),
    };
    let error = Code::NO_BINARY_FOR_GPU.because(format!("{name}: the virtual GPU links PTX only, this is {what}"));
    log_error(&link, &error);
    Err(error)
}

/// Adds the best PTX of a fat binary. Which one can run shows only when the link is complete.
fn add_fatbin(link: &mut LinkState, name: String, data: &[u8]) -> Res {
    match module::fatbin::ptx_entries(data) {
        Ok(entries) => {
            let best = entries.into_iter().next().ok_or(Code::NO_BINARY_FOR_GPU)?;
            link.inputs.push((name, best.text.into_iter().take_while(|&b| b != 0).collect()));
            Ok(())
        }
        Err(e) => {
            let error = Code(e.code as u32).because(format!("{name}: {}", e.log));
            log_error(link, &error);
            Err(error)
        }
    }
}

fn log_error(link: &LinkState, error: &Error) {
    // SAFETY: the program keeps the buffers it gave to `cuLinkCreate` until it destroys the linker.
    unsafe { link.logs.write("", error.detail.as_deref().unwrap_or("")) };
}

/// Whether a file is `libcudadevrt.a`.
fn is_device_runtime(name: &str) -> bool {
    name.rsplit(['/', '\\']).next().is_some_and(|file| file.contains("cudadevrt"))
}

/// The functions of the device runtime library that the virtual GPU has. The handle of the grid is
/// the address of the words for its barrier, 0 if the launch is not cooperative; the barrier's
/// words (how many blocks have come, how often all came) are not those of cooperative groups.
const DEVICE_RUNTIME: &str = include_str!("device_runtime.ptx");

/// What a link of nothing makes.
const EMPTY: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

/// Whether a text calls a function of the device runtime.
fn needs_device_runtime(text: &[u8]) -> bool {
    text.windows(6).any(|w| w == b"cudaCG")
}

/// Joins the inputs to one text.
fn join(inputs: &[(String, Vec<u8>)]) -> Res<Vec<u8>> {
    let mut texts = Vec::with_capacity(inputs.len());
    for (name, bytes) in inputs {
        let text = std::str::from_utf8(bytes);
        texts.push(text.map_err(|_| Code::INVALID_PTX.because(format!("{name}: not a PTX text")))?);
    }
    Ok(ptx_linker::join(&texts).into_bytes())
}

fn complete(link: &mut LinkState) -> Res<(usize, usize)> {
    if link.output.is_none() {
        if link.device_runtime && link.inputs.iter().any(|(_, text)| needs_device_runtime(text)) {
            link.inputs.push(("device runtime".to_owned(), DEVICE_RUNTIME.into()));
        }
        let mut text = if link.inputs.is_empty() { EMPTY.into() } else { join(&link.inputs)? };
        if let Some(most) = link.max_registers {
            // The image carries the option to the loader.
            text.extend_from_slice(format!("{MAX_REGISTERS}{most}\n").as_bytes());
        }
        module::load(&text, &LoadOptions::default()).map_err(|e| Code(e.code as u32).because(e.log))?;
        text.push(0);
        link.output = Some(text);
    }
    let output = link.output.as_ref().ok_or(Code::UNKNOWN)?;
    Ok((output.as_ptr().addr(), output.len()))
}

driver_functions! {
    fn cuLinkCreate(numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState) {
        ensure(!stateOut.is_null(), Code::INVALID_VALUE)?;
        let context = current()?;
        let options = jit_options::read(numOptions, options, optionValues)?;
        options.logs.write("", "");
        let max_registers = options.load.max_registers;
        let state = Mutex::new(LinkState { logs: options.logs, max_registers, ..LinkState::default() });
        let (handle, _) = LINKERS.insert_with(|_| Arc::new(Linker { ctx_id: context.id, state }))?;
        write_out(stateOut, CUlinkState::from_number(handle))
    }

    fn cuLinkAddData(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        let _ = (numOptions, options, optionValues);
        ensure(!data.is_null() && size > 0, Code::INVALID_VALUE)?;
        let name = if name.is_null() { "input" } else { super::text(name)? };
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size);
        add(state, type_, name.to_owned(), bytes.to_vec())
    }

    fn cuLinkAddFile(state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        let _ = (numOptions, options, optionValues);
        LINKERS.get(state.number())?;
        let bytes = read_file(path)?;
        add(state, type_, super::text(path)?.to_owned(), bytes)
    }

    fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize) {
        ensure(!cubinOut.is_null(), Code::INVALID_VALUE)?;
        let linker = LINKERS.get(state.number())?;
        let mut link = lock(&linker.state);
        let (start, size) = complete(&mut link).inspect_err(|e| log_error(&link, e))?;
        write_optional(sizeOut, size);
        write_out(cubinOut, start as *mut c_void)
    }

    fn cuLinkDestroy(state: CUlinkState) {
        LINKERS.remove(state.number()).map(drop)
    }
}
