//! What ranks find each other by: random bytes, of which the first name a socket and all are the key to it.

use rtcg_cuda_sys::nccl::ncclUniqueId;
use std::ffi::c_char;
use std::fs::File;
use std::io::Read;

/// The id of a clique.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct UniqueId([u8; 128]);

const MAGIC: &[u8; 8] = b"rtcgnccl";

impl std::fmt::Debug for UniqueId {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UniqueId({})", self.name())
    }
}

/// Random bytes of the system.
pub(crate) fn random_bytes<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

impl UniqueId {
    pub(crate) fn random() -> std::io::Result<Self> {
        let random = random_bytes::<120>()?;
        let mut id = [0; 128];
        id[..8].copy_from_slice(MAGIC);
        id[8..].copy_from_slice(&random);
        Ok(Self(id))
    }

    /// The id that all ranks with the same seed have.
    pub(crate) fn from_seed(seed: [u8; 16]) -> Self {
        let mut id = [0; 128];
        id[..8].copy_from_slice(MAGIC);
        id[8..24].copy_from_slice(&seed);
        Self(id)
    }

    /// `None` for bytes that [`Self::random`] did not make.
    pub(crate) fn from_c(id: &ncclUniqueId) -> Option<Self> {
        let bytes = id.internal.map(|c| c as u8);
        (bytes[..8] == *MAGIC).then_some(Self(bytes))
    }

    pub(crate) fn to_c(self) -> ncclUniqueId {
        ncclUniqueId { internal: self.0.map(|byte| byte as c_char) }
    }

    pub(crate) fn bytes(&self) -> &[u8; 128] {
        &self.0
    }

    /// The name of its socket.
    pub(crate) fn name(&self) -> String {
        let hex: String = self.0[8..16].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("rtcg-nccl-{hex}")
    }

    /// A seed that ranks that do the same with their communicators agree on.
    pub(crate) fn derived_seed(&self, parts: impl Iterator<Item = u64>) -> [u8; 16] {
        let bytes: Vec<u8> = self.0.iter().copied().chain(parts.flat_map(u64::to_le_bytes)).collect();
        // FNV, from two beginnings.
        let hash = |begin: u64| {
            bytes.iter().fold(begin, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
        };
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&hash(0xcbf2_9ce4_8422_2325).to_le_bytes());
        seed[8..].copy_from_slice(&hash(0x6c62_272e_07bb_0142).to_le_bytes());
        seed
    }
}
