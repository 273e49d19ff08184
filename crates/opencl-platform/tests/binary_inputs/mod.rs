//! Binaries of programs, mutations of them with a right check sum, and what must hold for all: they are refused, or all
//! that is said about their kernels can be asked and set.
#![allow(dead_code, reason = "tests and fuzzers use some")]

use crate::setup::{Setup, binary_of};
use rtcg_opencl_sys::*;
use std::ptr::{null, null_mut};

/// Kernels with arguments of all kinds.
const SOURCE: &str = "
    typedef struct { float a[3]; char b; } pair;
    kernel void plain(global float *a, float s) { a[get_global_id(0)] = s; }
    kernel __attribute__((reqd_work_group_size(8, 2, 1))) void all(
        global int *a, constant int *b, local int *c, local char *d, char e, pair f, read_only image2d_t g, sampler_t h) {
        c[get_local_id(0)] = b[e];
        barrier(CLK_LOCAL_MEM_FENCE);
        a[get_global_id(0)] = c[0] + (int)f.a[1] + read_imagei(g, h, (int2)(0, 0)).x + d[0];
    }
    kernel void none(void) {}";

/// Whether a binary is accepted; one that is must answer all questions. Nothing is launched.
pub(crate) fn check(setup: &Setup, bytes: &[u8]) -> bool {
    let (mut pointer, size, mut status, mut code) = (bytes.as_ptr(), bytes.len(), 1, 1);
    let program = cl!(clCreateProgramWithBinary(
        setup.context,
        1,
        &raw const setup.device,
        &raw const size,
        &raw mut pointer,
        &raw mut status,
        &raw mut code
    ));
    assert!(code == CL_SUCCESS || code == CL_INVALID_BINARY || size == 0, "{code}");
    if code != CL_SUCCESS {
        return false;
    }
    assert_eq!(status, CL_SUCCESS);
    // Objects and libraries would start the compiler.
    if bytes[16..24] == [0; 8] && cl!(clBuildProgram(program, 0, null(), null(), None, null_mut())) == CL_SUCCESS {
        let mut kernels = vec![cl_kernel::NULL; 64];
        let mut count = 0;
        let code = cl!(clCreateKernelsInProgram(program, 64, kernels.as_mut_ptr(), &raw mut count));
        kernels.truncate(if code == CL_SUCCESS { count as usize } else { 0 });
        kernels.into_iter().for_each(|kernel| ask_and_set(setup, kernel));
    }
    assert!(binary_of(program).starts_with(b"rtcgocl"));
    assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
    true
}

fn ask_and_set(setup: &Setup, kernel: cl_kernel) {
    let mut bytes = [0u8; 4096];
    let (pointer, mut count) = (bytes.as_mut_ptr(), 0u32);
    let number = (&raw mut count).cast();
    assert_eq!(cl!(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, 4, number, null_mut())), CL_SUCCESS);
    cl!(clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, 4096, pointer.cast(), null_mut()));
    for name in [CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE] {
        cl!(clGetKernelWorkGroupInfo(kernel, setup.device, name, 4096, pointer.cast(), null_mut()));
    }
    for index in 0..=count.min(100) {
        for name in [CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_TYPE_QUALIFIER] {
            cl!(clGetKernelArgInfo(kernel, index, name, 4096, pointer.cast(), null_mut()));
        }
        cl!(clSetKernelArg(kernel, index, 64, null()));
        cl!(clSetKernelArg(kernel, index, usize::MAX - 7, null()));
        for size in [1, 4, 8, 16] {
            cl!(clSetKernelArg(kernel, index, size, pointer.cast()));
        }
        cl!(clSetKernelArgSVMPointer(kernel, index, null()));
    }
    assert_eq!(cl!(clReleaseKernel(kernel)), CL_SUCCESS);
}

/// Makes binaries that are wrong somewhere.
pub(crate) struct Mutator {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Mutator {
    pub(crate) fn new(setup: &Setup, seed: u64) -> Self {
        let program = setup.build(SOURCE);
        let seeds = vec![binary_of(program), object_of(setup)];
        assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
        Self { seeds, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }

    /// Binaries as the platform writes them: an executable and an object.
    pub(crate) fn seeds(&self) -> Vec<Vec<u8>> {
        self.seeds.clone()
    }

    /// The executable with each number of its description replaced by ones that cannot be.
    pub(crate) fn wrong_numbers(&self) -> Vec<Vec<u8>> {
        let seed = &self.seeds[0];
        let ptx_bytes = u64::from_le_bytes(seed[24..32].try_into().unwrap()) as usize;
        // The number of kernels, the length of the first one's name, its slots.
        let count = 32 + ptx_bytes;
        let name_bytes = u64::from_le_bytes(seed[count + 8..count + 16].try_into().unwrap()) as usize;
        let slots = count + 16 + name_bytes;
        let numbers = [24, count, count + 8, slots, slots + 8, slots + 16, slots + 24, slots + 32, slots + 40];
        let mut found = Vec::new();
        for place in numbers {
            let own = u64::from_le_bytes(seed[place..place + 8].try_into().unwrap());
            for value in [0, own + 1, own + 8, own.wrapping_sub(1), 1 << 31, 1 << 42, 1 << 62, u64::MAX] {
                if value != own {
                    let mut binary = seed.clone();
                    binary[place..place + 8].copy_from_slice(&value.to_le_bytes());
                    found.push(with_check_sum(binary));
                }
            }
        }
        found
    }

    pub(crate) fn next_binary(&mut self) -> Vec<u8> {
        let which = self.below(self.seeds.len() * 4) / 7;
        let mut binary = self.seeds[which.min(1)].clone();
        let text_end = 32 + u64::from_le_bytes(binary[24..32].try_into().unwrap()) as usize;
        for _ in 0..=self.below(3) {
            // Mostly the description behind the text.
            let first = if self.below(8) > 0 { text_end.min(binary.len() - 1) } else { 16 };
            let place = first + self.below(binary.len() - first);
            match self.below(6) {
                0 => binary[place] ^= 1 << self.below(8),
                1 => binary.truncate(place.max(17)),
                2 => drop(binary.splice(place..place, [0; 8])),
                3 => drop(binary.splice(place..(place + 8).min(binary.len()), [])),
                _ => {
                    let values = [0, 1, 4, 8, 255, 1 << 31, u64::from(u32::MAX), 1 << 62, u64::MAX];
                    let value = values[self.below(values.len())].to_le_bytes();
                    binary.iter_mut().skip(place).zip(value).for_each(|(to, from)| *to = from);
                }
            }
            if binary.len() <= text_end {
                break;
            }
        }
        with_check_sum(binary)
    }

    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % end.max(1) as u64) as usize
    }
}

/// The binary of a program that is compiled and not linked.
fn object_of(setup: &Setup) -> Vec<u8> {
    let text = std::ffi::CString::new("kernel void f(global int *a) { *a = 1; }").unwrap();
    let (mut pointer, mut code) = (text.as_ptr(), 1);
    let program = cl!(clCreateProgramWithSource(setup.context, 1, &raw mut pointer, null(), &raw mut code));
    let code = cl!(clCompileProgram(program, 0, null(), null(), 0, null(), null_mut(), None, null_mut()));
    assert_eq!(code, CL_SUCCESS);
    let binary = binary_of(program);
    assert_eq!(cl!(clReleaseProgram(program)), CL_SUCCESS);
    binary
}

/// A binary whose check sum is that of what follows it: FNV-1a.
pub(crate) fn with_check_sum(mut binary: Vec<u8>) -> Vec<u8> {
    let sum = binary[16..]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    binary[8..16].copy_from_slice(&sum.to_le_bytes());
    binary
}
