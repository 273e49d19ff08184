//! The linker: several PTX texts become one.
//!
//! Only PTX can be linked: there is no machine code of a GPU here. The texts are joined under one
//! header; declarations that another text defines are resolved by the module loader.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::{Arc, Mutex};

use rtcg_cuda_sys::*;

use super::jit_options;
use super::module::read_file;
use super::{Handle, driver_functions, put, put_optional};
use crate::context::current;
use crate::driver::LINKERS;
use crate::error::{Code, Error, Res, ensure};
use crate::module::{self, LoadOptions};
use crate::objects::{LinkState, Linker, lock};

fn add(state: CUlinkState, kind: CUjitInputType, name: String, data: Vec<u8>) -> Res {
    let linker = LINKERS.get(state.number())?;
    let mut link = lock(&linker.state);
    ensure(link.output.is_none(), Code::INVALID_VALUE)?;
    let what = match kind {
        CUjitInputType::CU_JIT_INPUT_PTX => {
            let text: Vec<u8> = data.into_iter().take_while(|&b| b != 0).collect();
            link.inputs.push((name, text));
            return Ok(());
        }
        CUjitInputType::CU_JIT_INPUT_CUBIN => "machine code of a GPU (cubin)",
        CUjitInputType::CU_JIT_INPUT_FATBINARY => "a fat binary",
        CUjitInputType::CU_JIT_INPUT_OBJECT => "an object file",
        CUjitInputType::CU_JIT_INPUT_LIBRARY => "a device library",
        CUjitInputType::CU_JIT_INPUT_NVVM => "NVVM code",
        _ => return Code::INVALID_VALUE.err(),
    };
    let error = Code::NO_BINARY_FOR_GPU.because(format!("{name}: the virtual GPU links PTX only, this is {what}"));
    complain(&link, &error);
    Err(error)
}

fn complain(link: &LinkState, error: &Error) {
    // SAFETY: the program keeps the buffers it gave to `cuLinkCreate` until it destroys the linker.
    unsafe { link.logs.write("", error.detail.as_deref().unwrap_or("")) };
}

/// Joins PTX texts: the first one's header serves for all.
fn join(inputs: &[(String, Vec<u8>)]) -> Res<Vec<u8>> {
    let mut joined = String::new();
    for (i, (name, text)) in inputs.iter().enumerate() {
        let text =
            std::str::from_utf8(text).map_err(|_| Code::INVALID_PTX.because(format!("{name}: not a PTX text")))?;
        for line in text.lines() {
            let is_header = [".version", ".target", ".address_size"].iter().any(|d| line.trim_start().starts_with(d));
            // Headers stay as empty lines, so that line numbers stay what they were in each text.
            if i == 0 || !is_header {
                joined.push_str(line);
            }
            joined.push('\n');
        }
    }
    Ok(joined.into_bytes())
}

fn complete(link: &mut LinkState) -> Res<(usize, usize)> {
    ensure(!link.inputs.is_empty(), Code::INVALID_VALUE)?;
    if link.output.is_none() {
        let mut text = join(&link.inputs)?;
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
        let logs = jit_options::read(numOptions, options, optionValues)?.logs;
        logs.write("", "");
        let state = Mutex::new(LinkState { logs, ..LinkState::default() });
        let (handle, _) = LINKERS.insert_with(|_| Arc::new(Linker { ctx_id: context.id, state }))?;
        put(stateOut, CUlinkState::from_number(handle))
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
        let (start, size) = complete(&mut link).inspect_err(|e| complain(&link, e))?;
        put_optional(sizeOut, size);
        put(cubinOut, start as *mut c_void)
    }

    fn cuLinkDestroy(state: CUlinkState) {
        LINKERS.remove(state.number()).map(drop)
    }
}
