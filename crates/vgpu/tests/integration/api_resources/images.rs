//! Images: fat binaries with PTX are loaded, machine code is refused with advice.

use crate::api_common::{alloc, new_context};
use rtcg_cuda_sys::*;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

const PLAIN_FATBIN: &[u8] = include_bytes!("../../../../../tests/fatbins/plain.fatbin");
const LZ4_FATBIN: &[u8] = include_bytes!("../../../../../tests/fatbins/lz4.fatbin");
const ZSTD_FATBIN: &[u8] = include_bytes!("../../../../../tests/fatbins/zstd.fatbin");
const NEWER_ARCH_FATBIN: &[u8] = include_bytes!("../../../../../tests/fatbins/newer.fatbin");
const CUBINS_FATBIN: &[u8] = include_bytes!("../../../../../tests/fatbins/cubins.fatbin");

/// What the kernel `which` of a module says: the architecture that its PTX was compiled for.
fn ptx_architecture(module: CUmodule) -> u32 {
    let mut function = CUfunction::null();
    ok!(cuModuleGetFunction(&raw mut function, module, c"which".as_ptr()));
    let out = alloc(4);
    let mut argument = out;
    let mut arguments = [(&raw mut argument).cast::<c_void>()];
    let none = null_mut();
    ok!(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CUstream::null(), arguments.as_mut_ptr(), none));
    let mut value = 0_u32;
    ok!(cuMemcpyDtoH((&raw mut value).cast(), out, 4));
    ok!(cuMemFree(out));
    value
}

fn load_module_image(image: &[u8]) -> Result<CUmodule, CUresult> {
    let mut module = CUmodule::null();
    call!(cuModuleLoadData(&raw mut module, image.as_ptr().cast())).map(|()| module)
}

/// A fat binary with PTX entries as they are.
fn build_fatbin(texts: &[(u32, &str)]) -> Vec<u8> {
    let mut entries = Vec::new();
    for (arch, text) in texts {
        let padded = text.len().next_multiple_of(8) + 8;
        entries.extend([1_u16.to_le_bytes(), 0x101_u16.to_le_bytes()].concat());
        entries.extend(64_u32.to_le_bytes());
        entries.extend((padded as u64).to_le_bytes());
        entries.extend([0; 12]);
        entries.extend(arch.to_le_bytes());
        entries.extend([0; 32]);
        entries.extend(text.as_bytes());
        entries.resize(entries.len() + padded - text.len(), 0);
    }
    let mut image = 0xba55_ed50_u32.to_le_bytes().to_vec();
    image.extend([1, 0, 16, 0]);
    image.extend((entries.len() as u64).to_le_bytes());
    image.extend(entries);
    image
}

#[test]
fn the_best_ptx_of_a_fat_binary_runs() {
    let ctx = new_context();
    for (image, arch) in [(PLAIN_FATBIN, 750), (LZ4_FATBIN, 800), (ZSTD_FATBIN, 800), (NEWER_ARCH_FATBIN, 900)] {
        let module = load_module_image(image).unwrap();
        assert_eq!(ptx_architecture(module), arch);
        ok!(cuModuleUnload(module));
        let mut module = CUmodule::null();
        ok!(cuModuleLoadFatBinary(&raw mut module, image.as_ptr().cast()));
        ok!(cuModuleUnload(module));
    }
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn fat_binaries_are_found_in_wrappers_files_and_libraries() {
    let ctx = new_context();
    #[repr(C)]
    struct FatbinWrapper {
        magic: u32,
        version: u32,
        data: *const u8,
        unused: usize,
    }
    let wrapper = FatbinWrapper { magic: 0x4662_43b1, version: 1, data: LZ4_FATBIN.as_ptr(), unused: 0 };
    let mut module = CUmodule::null();
    ok!(cuModuleLoadFatBinary(&raw mut module, (&raw const wrapper).cast()));
    assert_eq!(ptx_architecture(module), 800);
    let nothing = FatbinWrapper { data: std::ptr::null(), ..wrapper };
    fails!(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&raw mut module, (&raw const nothing).cast()));

    let path = CString::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fatbins/zstd.fatbin")).unwrap();
    ok!(cuModuleLoad(&raw mut module, path.as_ptr()));
    assert_eq!(ptx_architecture(module), 800);

    let mut library = CUlibrary::null();
    let none = null_mut();
    ok!(cuLibraryLoadData(
        &raw mut library,
        ZSTD_FATBIN.as_ptr().cast(),
        none,
        none.cast(),
        0,
        none.cast(),
        none.cast(),
        0
    ));
    ok!(cuLibraryGetModule(&raw mut module, library));
    assert_eq!(ptx_architecture(module), 800);
    ok!(cuLibraryUnload(library));

    let mut link = CUlinkState::null();
    ok!(cuLinkCreate(0, none.cast(), none.cast(), &raw mut link));
    let kind = CUjitInputType::CU_JIT_INPUT_FATBINARY;
    let add = |image: &[u8]| {
        call!(cuLinkAddData(
            link,
            kind,
            image.as_ptr().cast_mut().cast(),
            image.len(),
            c"fat".as_ptr(),
            0,
            none.cast(),
            none.cast()
        ))
    };
    assert_eq!(add(CUBINS_FATBIN), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU));
    assert_eq!(add(LZ4_FATBIN), Ok(()));
    let (mut image, mut size) = (null_mut(), 0);
    ok!(cuLinkComplete(link, &raw mut image, &raw mut size));
    ok!(cuModuleLoadData(&raw mut module, image));
    assert_eq!(ptx_architecture(module), 800);
    ok!(cuLinkDestroy(link));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn machine_code_is_refused_with_advice() {
    let ctx = new_context();
    assert_eq!(load_module_image(CUBINS_FATBIN), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU));
    let detail = rtcg_vgpu::last_error_detail().unwrap();
    assert!(detail.contains("(sm_80, sm_90)") && detail.contains("compute_80"), "{detail}");
    let mut elf = [0x7f_u8, b'E', b'L', b'F', 2, 1, 1, 0].repeat(8);
    elf[18..20].copy_from_slice(&190_u16.to_le_bytes());
    assert_eq!(load_module_image(&elf), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU));
    assert!(rtcg_vgpu::last_error_detail().unwrap().contains("compute_80"));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn ptx_that_cannot_run_is_passed_over() {
    let ctx = new_context();
    let good = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry which(.param .u64 p) {
    .reg .b64 %rd1; .reg .b32 %r1;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, 750; st.global.u32 [%rd1], %r1; ret; }\n";
    let bad = good.replace("mov.u32 %r1, 750", "frobnicate.u32 %r1, 1");
    let module = load_module_image(&build_fatbin(&[(80, &bad), (75, good)])).unwrap();
    assert_eq!(ptx_architecture(module), 750);
    assert_eq!(load_module_image(&build_fatbin(&[(80, &bad), (70, &bad)])), Err(CUresult::CUDA_ERROR_INVALID_PTX));
    let detail = rtcg_vgpu::last_error_detail().unwrap();
    assert!(detail.contains("compute_80") && detail.contains("frobnicate"), "{detail}");
    assert_eq!(load_module_image(&build_fatbin(&[])), Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU));
    ok!(cuCtxDestroy(ctx));
}

#[test]
fn broken_fat_binaries_are_errors() {
    let ctx = new_context();
    let options = rtcg_vgpu::module::LoadOptions::default();
    for image in [PLAIN_FATBIN, LZ4_FATBIN, ZSTD_FATBIN] {
        for n in (0..image.len()).step_by(37) {
            assert!(rtcg_vgpu::module::load_image(&image[..n], &options).is_err());
        }
        // The header of the first entry, and some of the contents.
        for at in (16..100).chain((100..image.len()).step_by(97)) {
            let mut broken = image.to_vec();
            broken[at] ^= 0xff;
            let _ = rtcg_vgpu::module::load_image(&broken, &options);
        }
    }
    ok!(cuCtxDestroy(ctx));
}

/// What a call is given has no length but the one that its header claims: that many bytes must be readable.
#[test]
fn claimed_bytes_that_cannot_be_read_are_refused() {
    let _ctx = new_context();
    let page = rtcg_vgpu_exec::window::page_size();
    // SAFETY: fresh pages, of which the second one loses its access.
    let pages = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let p = libc::mmap(std::ptr::null_mut(), 2 * page, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        assert_eq!(libc::mprotect(p.byte_add(page), page, libc::PROT_NONE), 0);
        p.cast::<u8>()
    };
    let mut module = CUmodule::null();
    let mut load = |image: &[u8]| {
        // SAFETY: the image ends where the first page ends.
        let at = unsafe { pages.add(page - image.len()) };
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(image.as_ptr(), at, image.len()) };
        call!(cuModuleLoadData(&raw mut module, at.cast()))
    };
    let magic = 0xba55_ed50_u32.to_le_bytes();
    for claimed in [1_u64, 4096, 1 << 31, 1 << 40, u64::MAX] {
        let header = [&magic[..], &[1, 0, 16, 0], &claimed.to_le_bytes()].concat();
        assert_eq!(load(&header), Err(CUresult::CUDA_ERROR_INVALID_IMAGE), "{claimed}");
    }
    assert_eq!(load(&magic), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
    assert_eq!(load(b"\x7fELF"), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
    let wrapper = 0x4662_43b1_u32.to_le_bytes();
    for data in [0x1000_u64, 0, pages as u64 + page as u64, u64::MAX - 7] {
        let image = [&wrapper[..], &[1, 0, 0, 0], &data.to_le_bytes(), &[0; 8]].concat();
        assert_eq!(load(&image), Err(CUresult::CUDA_ERROR_INVALID_IMAGE), "{data:#x}");
    }
    assert_eq!(load(&wrapper), Err(CUresult::CUDA_ERROR_INVALID_IMAGE));
}
