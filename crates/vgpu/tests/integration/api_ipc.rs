//! Memory, events and memory pools between two processes: this test, and itself once more as a child
//! that does what it is told on its standard input.

use std::ffi::{CString, c_void};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crate::api_common::*;
use crate::own_process::{is_child, rerun};
use rtcg_cuda_sys::*;

/// `slow` goes on for `n` steps before it stores 7 at each of the 64 words.
const KERNELS_PTX: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry slow(.param .u64 out, .param .u32 n)
{
    .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r3, 0;
LOOP:
    mad.lo.u32 %r2, %r2, %r2, 1;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, %r1;
    @%p bra LOOP;
    and.b32 %r2, %r2, 0;
    add.u32 %r2, %r2, 7;
    st.global.u32 [%rd3], %r2;
    ret;
}
.visible .entry counts(.param .u64 out, .param .u32 n)
{
    .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r3, 0;
LOOP:
    ld.volatile.global.u32 %r4, [%rd3];
    add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%rd3], %r4;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, %r1;
    @%p bra LOOP;
    ret;
}
";

fn launch(name: &str, out: CUdeviceptr, n: u32, on: CUstream) {
    let text = CString::new(KERNELS_PTX).unwrap();
    let mut module = CUmodule::null();
    ok!(cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
    let (name, mut f) = (CString::new(name).unwrap(), CUfunction::null());
    ok!(cuModuleGetFunction(&raw mut f, module, name.as_ptr()));
    let mut args: [*mut c_void; 2] = [(&raw const out).cast_mut().cast(), (&raw const n).cast_mut().cast()];
    ok!(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, on, args.as_mut_ptr(), std::ptr::null_mut()));
}

fn read_u32s(p: CUdeviceptr, n: usize) -> Vec<u32> {
    let mut host = vec![0_u32; n];
    ok!(cuMemcpyDtoH(host.as_mut_ptr().cast(), p, 4 * n));
    host
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn ipc_memory_handle(p: CUdeviceptr) -> CUipcMemHandle {
    let mut handle = CUipcMemHandle::default();
    ok!(cuIpcGetMemHandle(&raw mut handle, p));
    handle
}

fn open_memory_handle(handle: CUipcMemHandle) -> Result<CUdeviceptr, CUresult> {
    let mut p = 0;
    call!(cuIpcOpenMemHandle(&raw mut p, handle, 1)).map(|()| p)
}

fn handle_bytes(chars: &[std::ffi::c_char; 64]) -> Vec<u8> {
    chars.iter().map(|&c| c as u8).collect()
}

fn handle_from_hex(text: &str) -> [std::ffi::c_char; 64] {
    let bytes = from_hex(text);
    std::array::from_fn(|i| bytes[i] as std::ffi::c_char)
}

/// A child that obeys.
struct ChildProcess {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl ChildProcess {
    fn spawn() -> ChildProcess {
        let mut child =
            rerun(module_path!(), "child_obeys_commands").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        ChildProcess { child, to, from }
    }

    fn send_command(&mut self, order: &str) {
        writeln!(self.to, "{order}").unwrap();
    }

    fn read_answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the child has ended");
            if let Some(at) = line.find("answer ") {
                return line[at + 7..].trim().to_owned();
            }
        }
    }

    fn query_child(&mut self, order: &str) -> String {
        self.send_command(order);
        self.read_answer()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let _ = writeln!(self.to, "end");
        let _ = self.child.wait();
    }
}

/// The child's side. Without a parent that gives orders this is no test.
#[test]
fn child_obeys_commands() {
    if !is_child() {
        return;
    }
    new_context();
    let (mut memory, mut event, mut pool) = (0, CUevent::null(), CUmemoryPool::null());
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (order, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match order {
            "alloc" => {
                memory = alloc(rest.parse().unwrap());
                ok!(cuMemsetD32(memory, 5, 64));
                to_hex(&handle_bytes(&ipc_memory_handle(memory).reserved))
            }
            "open" => match open_memory_handle(CUipcMemHandle { reserved: handle_from_hex(rest) }) {
                Ok(p) => {
                    memory = p;
                    "opened".into()
                }
                Err(code) => format!("{}", code.0),
            },
            "range" => {
                let (mut start, mut size) = (0, 0);
                ok!(cuMemGetAddressRange(&raw mut start, &raw mut size, memory));
                format!("{} {size}", start == memory)
            }
            "read" => format!("{:?}", read_u32s(memory, rest.parse().unwrap())),
            "fill" => {
                ok!(cuMemsetD32(memory, rest.parse().unwrap(), 64));
                "filled".into()
            }
            "close" => format!("{:?}", call!(cuIpcCloseMemHandle(memory)).map_err(|c| c.0)),
            "free" => format!("{:?}", call!(cuMemFree(memory)).map_err(|c| c.0)),
            "event" => {
                let handle = CUipcEventHandle { reserved: handle_from_hex(rest) };
                format!("{:?}", call!(cuIpcOpenEventHandle(&raw mut event, handle)).map_err(|c| c.0))
            }
            "query" => format!("{:?}", call!(cuEventQuery(event)).map_err(|c| c.0)),
            "wait" => {
                ok!(cuEventSynchronize(event));
                "waited".into()
            }
            "wait-in-stream" => {
                let on = new_stream(0);
                ok!(cuStreamWaitEvent(on, event, 0));
                let mut host = [0_u32; 64];
                ok!(cuMemcpyDtoHAsync(host.as_mut_ptr().cast(), memory, 256, on));
                ok!(cuStreamSynchronize(on));
                format!("{}", host[63])
            }
            "record" => {
                let on = new_stream(0);
                launch("slow", memory, rest.parse().unwrap(), on);
                ok!(cuEventRecord(event, on));
                "recorded".into()
            }
            "pool" => {
                let fd: usize = rest.parse().unwrap();
                let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
                let handle = std::ptr::without_provenance_mut(fd);
                format!(
                    "{:?}",
                    call!(cuMemPoolImportFromShareableHandle(&raw mut pool, handle, kind, 0)).map_err(|c| c.0)
                )
            }
            "pointer" => {
                let bytes = from_hex(rest);
                let mut data = CUmemPoolPtrExportData { reserved: std::array::from_fn(|i| bytes[i]) };
                format!("{:?}", call!(cuMemPoolImportPointer(&raw mut memory, pool, &raw mut data)).map_err(|c| c.0))
            }
            "alloc-from-pool" => {
                let mut p = 0;
                let made = call!(cuMemAllocFromPoolAsync(&raw mut p, 256, pool, CUstream::null()));
                format!("{:?}", made.map_err(|c| c.0))
            }
            _ => break,
        };
        println!("answer {answer}");
    }
}

const ANSWER_ALL_FIVES: &str = "[5, 5]";

#[test]
fn memory_is_the_same_in_both_processes() {
    new_context();
    let mut other = ChildProcess::spawn();
    for bytes in [256_usize, 5000, 1 << 20] {
        let p = alloc(bytes);
        let neighbour = alloc(bytes);
        ok!(cuMemsetD32(p, 5, 64));
        ok!(cuMemsetD32(neighbour, 6, 64));
        let handle = to_hex(&handle_bytes(&ipc_memory_handle(p + 8).reserved));
        assert_eq!(other.query_child(&format!("open {handle}")), "opened");
        assert_eq!(other.query_child("range"), format!("true {bytes}"));
        assert_eq!(other.query_child("read 2"), ANSWER_ALL_FIVES);
        assert_eq!(other.query_child("fill 9"), "filled");
        assert_eq!(read_u32s(p, 64), [9; 64]);
        ok!(cuMemsetD32(p, 11, 1));
        assert_eq!(other.query_child("read 2"), "[11, 9]");
        assert_eq!(read_u32s(neighbour, 64), [6; 64]);
        // Opened twice, it has to be closed twice.
        assert_eq!(other.query_child(&format!("open {handle}")), "opened");
        assert_eq!(other.query_child("free"), "Err(1)");
        assert_eq!(other.query_child("close"), "Ok(())");
        assert_eq!(other.query_child("read 2"), "[11, 9]");
        assert_eq!(other.query_child("close"), "Ok(())");
        assert_eq!(other.query_child("close"), "Err(1)");
        ok!(cuMemFree(p));
        ok!(cuMemFree(neighbour));
    }
}

#[test]
fn freed_memory_and_ended_processes_are_recognised() {
    new_context();
    let mut other = ChildProcess::spawn();
    let p = alloc(1 << 20);
    let handle = ipc_memory_handle(p);
    // Of one's own process one cannot open anything.
    assert_eq!(open_memory_handle(handle), Err(CUresult::CUDA_ERROR_INVALID_CONTEXT));
    ok!(cuMemFree(p));
    let again = alloc(1 << 20);
    let new = ipc_memory_handle(again);
    assert_ne!(handle_bytes(&new.reserved), handle_bytes(&handle.reserved));
    assert_eq!(other.query_child(&format!("open {}", to_hex(&handle_bytes(&handle.reserved)))), "400");
    assert_eq!(other.query_child(&format!("open {}", to_hex(&handle_bytes(&new.reserved)))), "opened");
    assert_eq!(other.query_child(&format!("open {}", "00".repeat(64))), "1");

    // What the other process has opened stays when this one frees it.
    ok!(cuMemsetD32(again, 3, 64));
    ok!(cuMemFree(again));
    assert_eq!(other.query_child("read 2"), "[3, 3]");

    let theirs = CUipcMemHandle { reserved: handle_from_hex(&other.query_child("alloc 4096")) };
    let q = open_memory_handle(theirs).unwrap();
    assert_eq!(read_u32s(q, 64), [5; 64]);
    drop(other);
    assert_eq!(read_u32s(q, 64), [5; 64]);
    ok!(cuIpcCloseMemHandle(q));
    assert_eq!(open_memory_handle(theirs), Err(CUresult::CUDA_ERROR_INVALID_HANDLE));
}

#[test]
fn what_is_not_plain_device_memory_has_no_handle() {
    new_context();
    let (mut handle, mut managed, mut host) = (CUipcMemHandle::default(), 0, std::ptr::null_mut());
    ok!(cuMemAllocManaged(&raw mut managed, 4096, 1));
    ok!(cuMemAllocHost(&raw mut host, 4096));
    let mut pooled = 0;
    ok!(cuMemAllocAsync(&raw mut pooled, 4096, CUstream::null()));
    for p in [managed, host.addr() as u64, pooled, 64] {
        fails!(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&raw mut handle, p));
        let mut capable = 7_u32;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
        if p != 64 {
            ok!(cuPointerGetAttribute((&raw mut capable).cast(), attribute, p));
            assert_eq!(capable, 0);
        }
    }
}

#[test]
fn kernels_lose_nothing_while_their_memory_is_moved() {
    new_context();
    const INCREMENT_COUNT: u32 = 1 << 18;
    let rest: Vec<_> = (0..20).map(|_| alloc(8 << 20)).collect();
    for (i, &p) in rest.iter().enumerate() {
        ok!(cuMemsetD32(p, 0, 2 << 20));
        ok!(cuCtxSynchronize());
        let on = new_stream(1);
        launch("counts", p, INCREMENT_COUNT, on);
        std::thread::sleep(Duration::from_micros(300 * i as u64));
        ipc_memory_handle(p);
        ok!(cuStreamSynchronize(on));
        assert_eq!(read_u32s(p, 64), [INCREMENT_COUNT; 64]);
    }
}

#[test]
fn events_order_the_work_of_two_processes() {
    new_context();
    let mut other = ChildProcess::spawn();
    let mut event = CUevent::null();
    ok!(cuEventCreate(&raw mut event, 4 | 2));
    fails!(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&raw mut event, 4));
    let mut plain = CUevent::null();
    ok!(cuEventCreate(&raw mut plain, 0));
    let mut handle = CUipcEventHandle::default();
    fails!(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&raw mut handle, plain));
    ok!(cuIpcGetEventHandle(&raw mut handle, event));
    assert_eq!(other.query_child(&format!("event {}", to_hex(&handle_bytes(&handle.reserved)))), "Ok(())");
    assert_eq!(other.query_child("query"), "Ok(())");

    // The other process waits for work of this one.
    let p = alloc(256);
    ok!(cuMemsetD32(p, 0, 64));
    assert_eq!(other.query_child(&format!("open {}", to_hex(&handle_bytes(&ipc_memory_handle(p).reserved)))), "opened");
    for order in ["wait-in-stream", "wait"] {
        ok!(cuMemsetD32(p, 0, 64));
        ok!(cuCtxSynchronize());
        let on = new_stream(1);
        launch("slow", p, 8_000_000, on);
        ok!(cuEventRecord(event, on));
        assert_eq!(other.query_child("query"), "Err(600)");
        let begin = Instant::now();
        let answer = other.query_child(order);
        assert!(begin.elapsed() > Duration::from_millis(10), "{:?}", begin.elapsed());
        assert!(answer == "7" || answer == "waited", "{answer}");
        assert_eq!(other.query_child("query"), "Ok(())");
        ok!(cuStreamSynchronize(on));
    }

    // And the other way round.
    ok!(cuMemsetD32(p, 0, 64));
    assert_eq!(other.query_child("record 8000000"), "recorded");
    fails!(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    let on = new_stream(0);
    ok!(cuStreamWaitEvent(on, event, 0));
    let mut host = [0_u32; 64];
    ok!(cuMemcpyDtoHAsync(host.as_mut_ptr().cast(), p, 256, on));
    ok!(cuStreamSynchronize(on));
    assert_eq!(host, [7; 64]);
    ok!(cuEventSynchronize(event));
    drop(other);
    ok!(cuEventQuery(event));
}

#[test]
fn pools_are_shared_by_descriptors() {
    new_context();
    let mut props =
        CUmemPoolProps { allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED, ..Default::default() };
    props.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let kind = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let (mut own, mut pool, mut fd) = (CUmemoryPool::null(), CUmemoryPool::null(), -1_i32);
    ok!(cuMemPoolCreate(&raw mut own, &raw const props));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportToShareableHandle((&raw mut fd).cast(), own, kind, 0));
    props.handleTypes = kind;
    ok!(cuMemPoolCreate(&raw mut pool, &raw const props));
    ok!(cuMemPoolExportToShareableHandle((&raw mut fd).cast(), pool, kind, 0));
    // The child inherits the descriptor.
    // SAFETY: clears the close-on-exec flag of a descriptor of this test.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }, 0);
    let mut other = ChildProcess::spawn();
    assert_eq!(other.query_child(&format!("pool {fd}")), "Ok(())");
    assert_eq!(other.query_child("pool 0"), "Err(1)");

    let (mut p, mut q, mut data) = (0, 0, CUmemPoolPtrExportData::default());
    ok!(cuMemAllocFromPoolAsync(&raw mut p, 1024, pool, CUstream::null()));
    ok!(cuMemAllocFromPoolAsync(&raw mut q, 1024, own, CUstream::null()));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&raw mut data, q));
    ok!(cuMemPoolExportPointer(&raw mut data, p));
    ok!(cuMemsetD32(p, 5, 64));
    let pointer = format!("pointer {}", to_hex(&data.reserved));
    assert_eq!(other.query_child(&pointer), "Ok(())");
    assert_eq!(other.query_child("read 2"), ANSWER_ALL_FIVES);
    assert_eq!(other.query_child("fill 8"), "filled");
    assert_eq!(read_u32s(p, 64), [8; 64]);
    assert_eq!(other.query_child("alloc-from-pool"), "Err(1)");

    // In this process, too: an imported pool takes pointers and nothing else.
    let (mut imported, mut again, mut value) = (CUmemoryPool::null(), 0, 1_u64);
    let handle = std::ptr::without_provenance_mut(fd as usize);
    ok!(cuMemPoolImportFromShareableHandle(&raw mut imported, handle, kind, 0));
    ok!(cuMemPoolImportPointer(&raw mut again, imported, &raw mut data));
    assert!(again != p && read_u32s(again, 64) == [8; 64]);
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&raw mut again, own, &raw mut data));
    for attribute in (1..=8).map(CUmemPool_attribute) {
        let place = (&raw mut value).cast();
        fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(imported, attribute, place));
        fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolSetAttribute(imported, attribute, place));
    }
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(imported, 0));
    fails!(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(imported));
    for (kind, code) in [(0, 1), (99, 1), (2, 801)] {
        let kind = CUmemAllocationHandleType(kind);
        let made = call!(cuMemPoolImportFromShareableHandle(&raw mut imported, handle, kind, 0));
        assert_eq!(made.map_err(|c| c.0), Err(code));
    }
    let mut types = 9_u64;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES;
    ok!(cuPointerGetAttribute((&raw mut types).cast(), attribute, p));
    assert_eq!(types, 1);
    assert_eq!(other.query_child("free"), "Ok(())");
    ok!(cuMemFreeAsync(p, CUstream::null()));
    ok!(cuStreamSynchronize(CUstream::null()));
    assert_eq!(other.query_child(&pointer), "Err(400)");
}
