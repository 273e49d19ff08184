//! The linker: several PTX texts become one.
//!
//! Only PTX can be linked, alone or in fat binaries: there is no machine code of a GPU here. The texts are joined under one
//! header; declarations that another text defines are resolved by the module loader. In place of
//! CUDA's device runtime library, which is machine code, its functions for grids are joined as PTX.

use rtcg_vgpu_abi::IgnorePoison;
use std::ffi::{c_char, c_uint, c_void};
use std::sync::{Arc, Mutex};

use rtcg_cuda_sys::*;

use super::jit_options;
use super::module::read_file;
use super::ptx_linker;
use super::{Handle, driver_functions, write_out, write_out_if_not_null};
use crate::module::fatbin::FATBIN_MAGIC;
use crate::module::{self, LoadOptions, MAX_REGISTERS_COMMENT, TARGET_COMMENT};
use crate::resource::linker::LINKERS;
use crate::resource::linker::{DriverLinker, LinkState};
use crate::stream::context::current;
use rtcg_vgpu_abi::error::{Error, Res, ResultCode, ensure};

fn add_link_input(state: CUlinkState, kind: CUjitInputType, name: String, data: Vec<u8>) -> Res {
    let linker = LINKERS.get_object(state.handle_number())?;
    let mut link = linker.state.lock().ignore_poison();
    ensure(link.output.is_none(), ResultCode::INVALID_VALUE)?;
    if let Some(error) = &link.failed {
        return Err(error.clone());
    }
    let added = match kind {
        CUjitInputType::CU_JIT_INPUT_PTX => add_ptx(&mut link, name, &data),
        CUjitInputType::CU_JIT_INPUT_FATBINARY if data.starts_with(&FATBIN_MAGIC.to_le_bytes()) => {
            add_fatbin(&mut link, name, &data)
        }
        CUjitInputType::CU_JIT_INPUT_FATBINARY => add_ptx(&mut link, name, &data),
        CUjitInputType::CU_JIT_INPUT_LIBRARY if is_device_runtime(&name) => {
            link.device_runtime = true;
            return Ok(());
        }
        _ => Err(unusable_input(kind, &name, &data)),
    };
    added.inspect_err(|error| {
        write_error_log(&link, error);
        // After an image that is none, or one that collides, the link cannot be completed.
        let is_final = matches!(
            (kind, error.code),
            (CUjitInputType::CU_JIT_INPUT_CUBIN, ResultCode::INVALID_IMAGE) | (CUjitInputType::CU_JIT_INPUT_NVVM, _)
        ) || matches!(kind, CUjitInputType::CU_JIT_INPUT_PTX | CUjitInputType::CU_JIT_INPUT_FATBINARY)
            && error.code == link.code_of_misfits();
        if is_final {
            link.failed = Some(error.clone());
        }
    })
}

/// Why an input cannot be linked that is no PTX.
fn unusable_input(kind: CUjitInputType, name: &str, data: &[u8]) -> Error {
    let what = match kind {
        CUjitInputType::CU_JIT_INPUT_CUBIN if !data.starts_with(b"\x7fELF") => return ResultCode::INVALID_IMAGE.into(),
        CUjitInputType::CU_JIT_INPUT_CUBIN => "machine code of a GPU (cubin)",
        CUjitInputType::CU_JIT_INPUT_OBJECT if data.starts_with(b"\x7fELF") => "an object file",
        CUjitInputType::CU_JIT_INPUT_LIBRARY if data.starts_with(b"!<arch>") => "a device library",
        CUjitInputType::CU_JIT_INPUT_OBJECT | CUjitInputType::CU_JIT_INPUT_LIBRARY => {
            return ResultCode::UNKNOWN.into();
        }
        CUjitInputType::CU_JIT_INPUT_NVVM => {
            return ResultCode::JIT_COMPILER_NOT_FOUND
                .with_detail(format!("{name}: there is no compiler of NVVM code"));
        }
        _ => return ResultCode::INVALID_VALUE.into(),
    };
    ResultCode::NO_BINARY_FOR_GPU.with_detail(format!("{name}: the virtual GPU links PTX only, this is {what}"))
}

/// Adds a text, which must be right, and fit to what the others define and declare.
fn add_ptx(link: &mut LinkState, name: String, data: &[u8]) -> Res {
    let text: Vec<u8> = data.iter().copied().take_while(|&b| b != 0).collect();
    let target = link.target;
    let checked = module::ptx_text_of(&text).and_then(|text| module::check_link_input(text, target).map(|()| text));
    let text_str = checked.map_err(|e| e.code.with_detail(format!("{name}: {}", e.log)))?;
    let earlier: Vec<&str> = link.inputs.iter().filter_map(|(_, text)| std::str::from_utf8(text).ok()).collect();
    if let Some(conflict) = ptx_linker::find_conflict(&earlier, text_str) {
        return Err(link.code_of_misfits().with_detail(format!("{name}: {conflict}")));
    }
    link.inputs.push((name, text));
    Ok(())
}

/// Adds the best PTX of a fat binary. Which one can run shows only when the link is complete.
fn add_fatbin(link: &mut LinkState, name: String, data: &[u8]) -> Res {
    // There is at least one entry.
    match module::fatbin::ptx_entries(data).and_then(|entries| entries[0].decompress()) {
        Ok(text) => add_ptx(link, name, &text),
        Err(e) => Err(e.code.with_detail(format!("{name}: {}", e.log))),
    }
}

fn write_error_log(link: &LinkState, error: &Error) {
    // SAFETY: the program keeps the buffers it gave to `cuLinkCreate` until it destroys the linker.
    unsafe { link.logs.write_logs("", error.detail.as_deref().unwrap_or("")) };
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
const EMPTY_PTX: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

/// Whether a text calls a function of the device runtime.
fn needs_device_runtime(text: &[u8]) -> bool {
    text.windows(6).any(|w| w == b"cudaCG")
}

/// Joins the inputs to one text.
fn link_ptx_inputs(link: &LinkState) -> Res<Vec<u8>> {
    let mut texts = Vec::with_capacity(link.inputs.len());
    for (name, bytes) in &link.inputs {
        let text = std::str::from_utf8(bytes);
        texts.push(text.map_err(|_| ResultCode::INVALID_PTX.with_detail(format!("{name}: not a PTX text")))?);
    }
    if let Some(missing) = ptx_linker::undefined_variable(&texts) {
        return Err(link.code_of_misfits().with_detail(format!("no input defines the variable {missing}")));
    }
    Ok(ptx_linker::join_ptx_texts(&texts).into_bytes())
}

fn complete_link(link: &mut LinkState) -> Res<(usize, usize)> {
    if let Some(error) = &link.failed {
        return Err(error.clone());
    }
    if link.output.is_none() {
        if link.device_runtime && link.inputs.iter().any(|(_, text)| needs_device_runtime(text)) {
            link.inputs.push(("device runtime".to_owned(), DEVICE_RUNTIME.into()));
        }
        let mut text = if link.inputs.is_empty() { EMPTY_PTX.into() } else { link_ptx_inputs(link)? };
        if let Some(most) = link.max_registers {
            // The image carries the option to the loader.
            text.extend_from_slice(format!("{MAX_REGISTERS_COMMENT}{most}\n").as_bytes());
        }
        module::load_image(&text, &LoadOptions::default()).map_err(|e| match e.code {
            // Each text is right, so that something is missing.
            ResultCode::INVALID_PTX => link.code_of_misfits().with_detail(e.log),
            code => code.with_detail(e.log),
        })?;
        if let Some(target) = link.target {
            text.extend_from_slice(format!("{TARGET_COMMENT}{target}\n").as_bytes());
        }
        text.push(0);
        link.output = Some(text);
    }
    let output = link.output.as_ref().ok_or(ResultCode::UNKNOWN)?;
    Ok((output.as_ptr().addr(), output.len()))
}

driver_functions! {
    fn cuLinkCreate(numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void, stateOut: *mut CUlinkState) {
        ensure(!stateOut.is_null(), ResultCode::INVALID_VALUE)?;
        let context = current()?;
        let options = jit_options::from_option_arrays(numOptions, options, optionValues)?;
        options.logs.write_logs("", "");
        let (max_registers, target) = (options.load.max_registers, options.load.target);
        let state = Mutex::new(LinkState { logs: options.logs, max_registers, target, ..LinkState::default() });
        let (handle, _) = LINKERS.insert_with(|_| Arc::new(DriverLinker { ctx_id: context.id, state }))?;
        write_out(stateOut, CUlinkState::from_handle_number(handle))
    }

    fn cuLinkAddData(state: CUlinkState, type_: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        // All of them are advice; but there must be such options.
        jit_options::from_option_arrays(numOptions, options, optionValues)?;
        ensure(!data.is_null() && size > 0, ResultCode::INVALID_VALUE)?;
        let name = if name.is_null() { "input" } else { super::str_from_c(name)? };
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size);
        add_link_input(state, type_, name.to_owned(), bytes.to_vec())
    }

    fn cuLinkAddFile(state: CUlinkState, type_: CUjitInputType, path: *const c_char, numOptions: c_uint, options: *mut CUjit_option, optionValues: *mut *mut c_void) {
        // All of them are advice; but there must be such options.
        jit_options::from_option_arrays(numOptions, options, optionValues)?;
        LINKERS.get_object(state.handle_number())?;
        let bytes = read_file(path)?;
        add_link_input(state, type_, super::str_from_c(path)?.to_owned(), bytes)
    }

    fn cuLinkComplete(state: CUlinkState, cubinOut: *mut *mut c_void, sizeOut: *mut usize) {
        ensure(!cubinOut.is_null(), ResultCode::INVALID_VALUE)?;
        let linker = LINKERS.get_object(state.handle_number())?;
        let mut link = linker.state.lock().ignore_poison();
        let (start, size) = complete_link(&mut link).inspect_err(|e| write_error_log(&link, e))?;
        write_out_if_not_null(sizeOut, size);
        write_out(cubinOut, start as *mut c_void)
    }

    fn cuLinkDestroy(state: CUlinkState) {
        LINKERS.remove_object(state.handle_number()).map(drop)
    }
}
