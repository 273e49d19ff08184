//! Virtual devices and what they say about themselves.
//!
//! The numbers are those of a GPU of compute capability 8.0 where a program could rely on them
//! (warp size, limits of blocks and grids, shared memory), and this machine's where they describe
//! speed or size. The number of multiprocessors is a large one on purpose: programs size their
//! grids by it, and many small blocks suit the cores better than few threads with long loops.

use rtcg_cuda_sys::*;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::launch::REGISTERS_PER_MULTIPROCESSOR;
use rtcg_vgpu_abi::model::memory::{MAX_SHARED_ALLOCATION_BYTES, MEMORY_BLOCK_BYTES, RESERVED_SHARED_BYTES};
use rtcg_vgpu_exec::launch::{
    MAX_BLOCK_DIM, MAX_GRID_DIM, MAX_SHARED_BYTES, MAX_SHARED_OPTIN_BYTES, MAX_THREADS_PER_BLOCK,
};

/// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`
pub(crate) fn n_multiprocessors() -> u32 {
    rtcg_vgpu_exec::n_multiprocessors()
}
/// `CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR`
pub(crate) const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
/// `CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR`
pub(crate) const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
/// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR`
pub(crate) const SHARED_BYTES_PER_MULTIPROCESSOR: u32 = 164 << 10;
/// What `cuDriverGetVersion` reports.
pub(crate) const DRIVER_VERSION: i32 = 13_000;
/// Compute capability.
pub(crate) const COMPUTE_CAPABILITY: (i32, i32) = (8, 0);
/// PCI domain of virtual devices: outside what machines use, so that no real device has it.
const PCI_DOMAIN: i32 = 0x7274;
/// No more devices than this, whatever the environment says.
const MAX_DEVICES: usize = 64;

/// Devices with less memory report it to the byte.
const MIN_BYTES_FOR_BLOCKS: u64 = 1 << 30;

/// A virtual device.
#[derive(Debug)]
pub(crate) struct Device {
    /// Number of the device.
    pub(crate) ordinal: u32,
    /// As `cuDeviceGetName` says it.
    pub(crate) name: String,
    /// Bytes that `cuMemAlloc` may hand out in all.
    pub(crate) memory_bytes: u64,
    used_bytes: AtomicU64,
    report: ReportedUse,
    peak_bytes: AtomicU64,
    /// Code of the fault that ended the device, 0 as long as it works.
    fault: AtomicU32,
    /// Handle of the current memory pool, 0 for the default one.
    pub(crate) pool: AtomicU64,
}

/// What a device says about its memory in use, in the blocks in which a card hands memory out. Only a report: what a
/// program can allocate is counted to the byte.
#[derive(Debug, Default)]
pub(crate) struct ReportedUse {
    /// Bytes of allocations that share blocks.
    shared: AtomicU64,
    /// Bytes of the blocks of larger ones.
    whole: AtomicU64,
    /// Bytes that memory pools keep.
    pools: AtomicU64,
}

impl ReportedUse {
    fn place(&self, bytes: u64) -> (&AtomicU64, u64) {
        if bytes <= MAX_SHARED_ALLOCATION_BYTES {
            (&self.shared, bytes)
        } else {
            (&self.whole, bytes.next_multiple_of(MEMORY_BLOCK_BYTES))
        }
    }

    /// Adds an allocation outside of pools.
    pub(crate) fn add_allocation(&self, bytes: u64) {
        let (counter, bytes) = self.place(bytes);
        counter.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Takes away an allocation that was added.
    pub(crate) fn remove_allocation(&self, bytes: u64) {
        let (counter, bytes) = self.place(bytes);
        counter.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Replaces what a pool keeps.
    pub(crate) fn change_pool(&self, before: u64, after: u64) {
        self.pools.fetch_add(after.wrapping_sub(before), Ordering::AcqRel);
    }

    fn bytes(&self) -> u64 {
        let shared = self.shared.load(Ordering::Acquire).next_multiple_of(MEMORY_BLOCK_BYTES);
        shared + self.whole.load(Ordering::Acquire) + self.pools.load(Ordering::Acquire)
    }
}

impl Device {
    fn new(ordinal: u32, name: String, memory_bytes: u64) -> Device {
        Device {
            ordinal,
            name,
            memory_bytes,
            used_bytes: AtomicU64::new(0),
            report: ReportedUse::default(),
            peak_bytes: AtomicU64::new(0),
            fault: AtomicU32::new(0),
            pool: AtomicU64::new(0),
        }
    }

    /// Ends the device for this process with the code of a fault; the first one stays.
    pub(crate) fn end(&self, code: u32) {
        let _ = self.fault.compare_exchange(0, code, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Fails with the fault that ended the device.
    pub(crate) fn check_not_ended(&self) -> Res {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            code => ResultCode(code).err(),
        }
    }

    /// Takes `bytes` out of the device's memory.
    pub(crate) fn charge_memory(&self, bytes: u64) -> Res {
        let take = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.memory_bytes);
        match self.used_bytes.fetch_update(Ordering::AcqRel, Ordering::Relaxed, take) {
            Ok(before) => {
                self.peak_bytes.fetch_max(before + bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(_) => ResultCode::OUT_OF_MEMORY.err(),
        }
    }

    /// Gives `bytes` back.
    pub(crate) fn uncharge_memory(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Bytes that `cuMemGetInfo` says are not in use: a large device counts in blocks, as a card does. On a small one,
    /// where a block is much, the count is exact.
    pub(crate) fn reported_free_bytes(&self) -> u64 {
        if self.memory_bytes < MIN_BYTES_FOR_BLOCKS {
            return self.free_bytes();
        }
        self.memory_bytes.saturating_sub(self.report.bytes())
    }

    /// What is reported about the memory in use.
    pub(crate) fn report(&self) -> &ReportedUse {
        &self.report
    }

    /// Bytes that are not in use.
    pub(crate) fn free_bytes(&self) -> u64 {
        self.memory_bytes.saturating_sub(self.used_bytes.load(Ordering::Acquire))
    }

    /// `cuDeviceGetPCIBusId`
    pub(crate) fn pci_bus_id(&self) -> String {
        format!("{PCI_DOMAIN:04X}:{:02X}:00.0", self.ordinal + 1)
    }

    /// `cuDeviceGetUuid`
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let mut uuid = *b"rtcg virtual GPU";
        uuid[15] = b'0' + self.ordinal as u8;
        uuid
    }

    /// A device attribute; `None` for one that does not exist.
    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Option<i32> {
        let machine = host_machine();
        let value = match attribute {
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK => MAX_THREADS_PER_BLOCK as i32,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X => MAX_BLOCK_DIM[0] as i32,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => MAX_BLOCK_DIM[1] as i32,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => MAX_BLOCK_DIM[2] as i32,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => MAX_GRID_DIM[0] as i32,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y => MAX_GRID_DIM[1] as i32,
            CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => MAX_GRID_DIM[2] as i32,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => MAX_SHARED_BYTES as i32,
            CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY => 65_536,
            CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
            CU_DEVICE_ATTRIBUTE_MAX_PITCH => i32::MAX,
            CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK | CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR => {
                REGISTERS_PER_MULTIPROCESSOR as i32
            }
            CU_DEVICE_ATTRIBUTE_CLOCK_RATE => machine.clock_khz,
            CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT => 512,
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => n_multiprocessors() as i32,
            CU_DEVICE_ATTRIBUTE_PCI_BUS_ID => self.ordinal as i32 + 1,
            CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID => 0,
            CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => 1_600_000,
            CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => 64,
            CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => machine.cache_bytes,
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR => THREADS_PER_MULTIPROCESSOR as i32,
            CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT => 2,
            CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID => PCI_DOMAIN,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => COMPUTE_CAPABILITY.0,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => COMPUTE_CAPABILITY.1,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR => SHARED_BYTES_PER_MULTIPROCESSOR as i32,
            CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID => self.ordinal as i32,
            CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO => 2,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => MAX_SHARED_OPTIN_BYTES as i32,
            CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR => BLOCKS_PER_MULTIPROCESSOR as i32,
            CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK => RESERVED_SHARED_BYTES as i32,
            CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT => 1,
            CU_DEVICE_ATTRIBUTE_NUMA_ID => -1,
            CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID => -1,
            CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID => 0,
            CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID => 0,
            _ => return texture_limit_attribute(attribute).or_else(|| capability_attribute(attribute)),
        };
        Some(value)
    }
}

/// What the device can do, as 0 or 1.
fn capability_attribute(attribute: CUdevice_attribute) -> Option<i32> {
    const SUPPORTED_ATTRIBUTES: &[CUdevice_attribute] = &[
        CU_DEVICE_ATTRIBUTE_GPU_OVERLAP,
        CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
        CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS,
        CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
        CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
        CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
        CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
        CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        // A wish: what is allocated says that it is not compressed.
        CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
        CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS,
        CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR,
        CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED,
    ];
    let exists = (1..CU_DEVICE_ATTRIBUTE_MAX.0).contains(&attribute.0);
    exists.then(|| i32::from(SUPPORTED_ATTRIBUTES.contains(&attribute)))
}

/// Limits of textures and surfaces, those of compute capability 8.0.
fn texture_limit_attribute(attribute: CUdevice_attribute) -> Option<i32> {
    let value = match attribute {
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH => 131_072,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH => 16_384,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH => 32_768,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT => 65_536,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS => 2_048,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS => 2_046,
        CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT => 512,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE
        | CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE => 8_192,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE => 32_768,
        CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT => 32,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH => 268_435_456,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH => 131_072,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT => 65_000,
        CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH => 2_097_120,
        _ => return None,
    };
    Some(value)
}

/// The devices of this process; the environment is read once.
pub(crate) fn virtual_devices() -> &'static [Device] {
    static VIRTUAL_DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    VIRTUAL_DEVICES.get_or_init(|| {
        let count =
            rtcg_vgpu_abi::env::env_setting("RTCG_VIRTUAL_DEVICES", "a number of devices", |text| text.parse().ok());
        let count = count.unwrap_or(1_usize);
        let machine = host_machine();
        let name = format!(
            "rtcg virtual GPU ({}, {} {})",
            machine.cpu,
            machine.n_cores,
            if machine.n_cores == 1 { "core" } else { "cores" }
        );
        let memory = device_memory_bytes(machine.memory_bytes);
        (0..count.min(MAX_DEVICES)).map(|i| Device::new(i as u32, name.clone(), memory)).collect()
    })
}

/// The device with this number.
pub(crate) fn device_by_ordinal(ordinal: i32) -> Res<&'static Device> {
    ensure(!virtual_devices().is_empty(), ResultCode::NO_DEVICE)?;
    usize::try_from(ordinal).ok().and_then(|i| virtual_devices().get(i)).ok_or(ResultCode::INVALID_DEVICE.into())
}

fn device_memory_bytes(machine_bytes: u64) -> u64 {
    let asked =
        rtcg_vgpu_abi::env::env_setting("RTCG_VIRTUAL_MEMORY", "a number of bytes such as 512M or 4G", parse_bytes);
    let least = 1 << 20;
    match address_space_limit() {
        Some((_, bytes)) => asked.unwrap_or(machine_bytes / 2).clamp(least, bytes.max(least)),
        None => asked.unwrap_or(machine_bytes / 2).max(least),
    }
}

/// The limit on the process's addresses (`ulimit -v`), and what a device's memory may be for it: half of what the
/// process has not mapped yet, for kernels need stacks and the compiler memory. `None` when there is room enough.
fn address_space_limit() -> Option<(u64, u64)> {
    static MEMORY_LIMIT: OnceLock<Option<(u64, u64)>> = OnceLock::new();
    *MEMORY_LIMIT.get_or_init(|| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the structure is valid for writing.
        let asked = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
        if !asked || rtcg_vgpu_exec::window::is_reserved() {
            return None;
        }
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = statm.split(' ').next()?.parse().ok()?;
        let mapped = pages * rtcg_vgpu_exec::window::page_size() as u64;
        Some((limit.rlim_cur, limit.rlim_cur.saturating_sub(mapped) / 2))
    })
}

/// What users should know about the devices' memory.
pub fn memory_limit_notice() -> Option<String> {
    let (limit, _) = address_space_limit()?;
    let bytes = virtual_devices().first()?.memory_bytes;
    Some(format!(
        "a limit of {} MiB on this process's addresses (ulimit -v) leaves the virtual GPU {} MiB of memory.",
        limit >> 20,
        bytes >> 20
    ))
}

/// `"512M"`, `"4 GiB"`, `"1000000"`: a number of bytes, binary units.
fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * (1_u64 << shift) as f64;
    (bytes.is_finite() && bytes >= 0.0).then_some(bytes as u64)
}

struct HostMachine {
    cpu: String,
    n_cores: usize,
    clock_khz: i32,
    cache_bytes: i32,
    memory_bytes: u64,
}

fn host_machine() -> &'static HostMachine {
    static HOST_MACHINE: OnceLock<HostMachine> = OnceLock::new();
    HOST_MACHINE.get_or_init(|| {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        HostMachine {
            cpu: cpuinfo_field(&cpuinfo, "model name").unwrap_or(std::env::consts::ARCH).to_owned(),
            n_cores: std::thread::available_parallelism().map_or(1, usize::from),
            clock_khz: clock_khz(&cpuinfo),
            cache_bytes: l3_cache_bytes().unwrap_or(8 << 20),
            memory_bytes: host_memory_bytes(),
        }
    })
}

fn cpuinfo_field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let line = cpuinfo.lines().find(|l| l.starts_with(key))?;
    line.split_once(':').map(|(_, value)| value.trim())
}

fn clock_khz(cpuinfo: &str) -> i32 {
    let file = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").ok();
    let from_file = file.and_then(|s| s.trim().parse::<i32>().ok());
    let from_info =
        || cpuinfo_field(cpuinfo, "cpu MHz").and_then(|s| s.parse::<f64>().ok()).map(|mhz| (mhz * 1000.0) as i32);
    from_file.or_else(from_info).filter(|&khz| khz > 0).unwrap_or(2_000_000)
}

fn l3_cache_bytes() -> Option<i32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index3/size").ok()?;
    parse_bytes(&text).and_then(|bytes| i32::try_from(bytes).ok())
}

/// Memory of the machine, or of the container if that has less.
fn host_memory_bytes() -> u64 {
    // SAFETY: sysconf has no preconditions.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(page).unwrap_or(0));
    let machine = if machine == 0 { 4 << 30 } else { machine };
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = files.iter().filter_map(|f| std::fs::read_to_string(f).ok()?.trim().parse::<u64>().ok());
    limits.fold(machine, u64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_binary_units() {
        assert_eq!(parse_bytes("1000"), Some(1000));
        assert_eq!(parse_bytes(" 2G "), Some(2 << 30));
        assert_eq!(parse_bytes("1.5 MiB"), Some(3 << 19));
        assert_eq!(parse_bytes("32768K"), Some(32 << 20));
        assert_eq!(parse_bytes("many"), None);
    }

    #[test]
    fn memory_in_use_is_reported_in_blocks() {
        let mib = |n: u64| n << 20;
        let device = Device::new(0, String::new(), mib(4096));
        let falls_by = |bytes: u64| {
            let before = device.reported_free_bytes();
            device.report().add_allocation(bytes);
            before - device.reported_free_bytes()
        };
        assert_eq!([1, 1, mib(1), mib(1), mib(1) + 1, mib(2) + 1].map(falls_by), [2, 0, 0, 2, 2, 4].map(mib));
        device.report().remove_allocation(mib(2) + 1);
        device.report().change_pool(0, mib(32));
        assert_eq!(device.reported_free_bytes(), mib(4096 - 6 - 32));
        let small = Device::new(0, String::new(), mib(64));
        small.report().add_allocation(1);
        assert!(small.charge_memory(512).is_ok());
        assert_eq!(small.reported_free_bytes(), mib(64) - 512);
    }

    #[test]
    fn every_attribute_has_a_value_and_no_other_number() {
        let device = Device::new(0, String::new(), 1 << 30);
        let attribute = |number| device.attribute(CUdevice_attribute(number));
        assert!((1..=147).all(|n| attribute(n).is_some()));
        assert!([0, u32::MAX, 148, 100_000].iter().all(|&n| attribute(n).is_none()));
        assert_eq!(device.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), Some(32));
        // Of waits for values in streams only the present form is named; it is there.
        assert_eq!([92, 93, 94, 122, 123].map(attribute), [0, 0, 0, 1, 1].map(Some));
        assert!(device.charge_memory(1 << 30).is_ok());
        assert_eq!(device.charge_memory(1).unwrap_err().code, ResultCode::OUT_OF_MEMORY);
    }
}
