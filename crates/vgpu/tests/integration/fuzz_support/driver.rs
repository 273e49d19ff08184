//! Random programs on any device that a driver table reaches, a real GPU above all.

use super::first_difference;
use super::objects::CreatedObjects;
use rtcg_cuda_sys::*;
use rtcg_oracle::generate::{BufferAddresses, KERNEL_NAME, MAX_OBJECTS};
use rtcg_oracle::{OracleBuffer, TestProgram};
use std::ffi::c_void;

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramOutcome {
    /// The device does as the oracle says.
    Same,
    /// It does not take the program: its log.
    Refused(String),
    /// It computes something else.
    Differs(String),
    /// It stops: this process cannot use the device any more.
    Fault(String),
}

/// Bytes of each buffer.
const BUFFER_BYTES: usize = 2 << 20;

/// A device with memory for the buffers of a program.
pub struct Device {
    table: &'static DriverTable,
    areas: [CUdeviceptr; 4],
    /// Its name.
    pub name: String,
}

fn check_result(what: &str, code: CUresult) -> Result<(), String> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{what}: {code:?}")) }
}

impl Device {
    /// The first device of a driver.
    pub fn open_first_device(table: &'static DriverTable) -> Result<Device, String> {
        let mut device = CUdevice::default();
        let mut name = [0u8; 100];
        // SAFETY: all pointers lead to places of the right type and size.
        unsafe {
            check_result("cuInit", table.cuInit(0))?;
            check_result("cuDeviceGet", table.cuDeviceGet(&raw mut device, 0))?;
            check_result("cuDeviceGetName", table.cuDeviceGetName(name.as_mut_ptr().cast(), 99, device))?;
        }
        let end = name.iter().position(|&b| b == 0).unwrap_or(0);
        let name = String::from_utf8_lossy(&name[..end]).into_owned();
        let mut made = Device { table, areas: [0; 4], name };
        made.create_context_and_buffers(device)?;
        Ok(made)
    }

    fn create_context_and_buffers(&mut self, device: CUdevice) -> Result<(), String> {
        let mut context = CUcontext::null();
        // SAFETY: all pointers lead to places of the right type and size.
        unsafe {
            check_result("cuDevicePrimaryCtxRetain", self.table.cuDevicePrimaryCtxRetain(&raw mut context, device))?;
            check_result("cuCtxSetCurrent", self.table.cuCtxSetCurrent(context))?;
            for area in &mut self.areas {
                check_result("cuMemAlloc", self.table.cuMemAlloc(area, BUFFER_BYTES))?;
            }
        }
        Ok(())
    }

    /// Runs a program and compares.
    pub fn run_and_compare(&mut self, p: &TestProgram, expected: &[OracleBuffer]) -> ProgramOutcome {
        let text = p.ptx_text() + "\0";
        let mut module = CUmodule::null();
        let mut log = vec![0u8; 8192];
        let mut keys = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len() - 1)];
        // SAFETY: the text ends in a zero; keys and values belong together.
        let code = unsafe {
            let (keys, values) = (keys.as_mut_ptr(), values.as_mut_ptr());
            self.table.cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), 2, keys, values)
        };
        if code != CUresult::CUDA_SUCCESS {
            let end = log.iter().position(|&b| b == 0).unwrap_or(0);
            let what = format!("{code:?}: {}", String::from_utf8_lossy(&log[..end]));
            // The compiler says why it takes no program; otherwise the device itself is in trouble.
            let refused = end > 0 || code == CUresult::CUDA_ERROR_INVALID_PTX;
            return if refused { ProgramOutcome::Refused(what) } else { ProgramOutcome::Fault(what) };
        }
        let outcome = self.launch(module, p, expected);
        // SAFETY: the module is not used afterwards.
        let unloaded = unsafe { self.table.cuModuleUnload(module) };
        match (&outcome, unloaded) {
            (ProgramOutcome::Fault(_), _) | (_, CUresult::CUDA_SUCCESS) => outcome,
            (_, code) => ProgramOutcome::Fault(format!("cuModuleUnload: {code:?}")),
        }
    }

    fn launch(&self, module: CUmodule, p: &TestProgram, expected: &[OracleBuffer]) -> ProgramOutcome {
        let [input, out, slots, counters] = self.areas;
        let objects = match CreatedObjects::create_objects(self.table, &p.objects) {
            Ok(objects) => objects,
            Err(e) => return ProgramOutcome::Fault(e),
        };
        let at = BufferAddresses {
            input,
            out,
            slots,
            counters,
            objects: [0; MAX_OBJECTS],
            handles: objects.object_handles(),
        };
        let buffers = p.initial_buffers(at);
        let launch = p.oracle_launch(at);
        match self.copy_and_launch(module, &buffers, &launch, &objects) {
            Ok(got) => first_difference(expected, &got).map_or(ProgramOutcome::Same, ProgramOutcome::Differs),
            Err(e) => ProgramOutcome::Fault(e),
        }
    }

    fn copy_and_launch(
        &self,
        module: CUmodule,
        buffers: &[OracleBuffer],
        launch: &rtcg_oracle::OracleLaunch,
        objects: &CreatedObjects,
    ) -> Result<Vec<Vec<u8>>, String> {
        let t = self.table;
        let mut function = CUfunction::null();
        let name = std::ffi::CString::new(KERNEL_NAME).unwrap_or_default();
        let mut bytes = launch.params.clone();
        // The parameters lie one after another without gaps: all of 8 bytes but two of 4 between them.
        let mut offsets = vec![0usize, 8, 16, 24, 32, 36];
        offsets.extend((40..bytes.len()).step_by(8));
        let first = bytes.as_mut_ptr();
        let mut params: Vec<*mut c_void> = offsets.iter().map(|o| first.wrapping_add(*o).cast()).collect();
        let (plain, texels) = buffers.split_at(4);
        texels.iter().enumerate().try_for_each(|(i, b)| objects.write_texels(i, &b.bytes))?;
        let ([gx, gy, gz], [bx, by, bz]) = (launch.grid, launch.block);
        // SAFETY: handles and memory are this device's; the copies stay inside both ends.
        unsafe {
            check_result("cuModuleGetFunction", t.cuModuleGetFunction(&raw mut function, module, name.as_ptr()))?;
            for b in plain {
                assert!(b.bytes.len() <= BUFFER_BYTES);
                check_result("cuMemcpyHtoD", t.cuMemcpyHtoD(b.address, b.bytes.as_ptr().cast(), b.bytes.len()))?;
            }
            let (p, none) = (params.as_mut_ptr(), std::ptr::null_mut());
            let code = t.cuLaunchKernel(function, gx, gy, gz, bx, by, bz, 0, CUstream::null(), p, none);
            check_result("cuLaunchKernel", code)?;
            check_result("cuCtxSynchronize", t.cuCtxSynchronize())?;
            let mut got = vec![];
            for b in plain {
                let mut bytes = vec![0u8; b.bytes.len()];
                check_result("cuMemcpyDtoH", t.cuMemcpyDtoH(bytes.as_mut_ptr().cast(), b.address, bytes.len()))?;
                got.push(bytes);
            }
            for i in 0..texels.len() {
                got.push(objects.read_texels(i)?);
            }
            Ok(got)
        }
    }
}
