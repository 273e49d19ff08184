//! Collectives, and their signatures: what ranks are about to do, which they exchange before each collective
//! (`RTCG_CHECK=nccl`). NCCL itself computes wrong numbers or waits for ever where ranks disagree; a virtual NCCL compares
//! them anyway.

use crate::error::Result;
use crate::memory::{DeviceAllocation, mem_alloc};
use rtcg_cuda_sys::nccl::{ncclDataType_t, ncclRedOp_t};
use std::sync::LazyLock;

/// A collective, or one end of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Collective {
    /// Combines the elements of all ranks for all ranks.
    AllReduce,
    /// Combines them for one rank.
    Reduce {
        /// That rank.
        root: usize,
    },
    /// Copies one rank's elements to all.
    Broadcast {
        /// That rank.
        root: usize,
    },
    /// Gathers all ranks' elements, in the order of ranks, for all ranks.
    AllGather,
    /// Combines elements, and gives each rank its part; counted are those of a part.
    ReduceScatter,
    /// Each rank sends a part to each rank; counted are the elements of a part.
    AllToAll,
    /// Gathers the elements for one rank.
    Gather {
        /// That rank.
        root: usize,
    },
    /// Gives each rank its part of one rank's elements.
    Scatter {
        /// That rank.
        root: usize,
    },
    /// Sends to one rank, which receives.
    Send {
        /// That rank.
        peer: usize,
    },
    /// Receives from one rank, which sends.
    Recv {
        /// That rank.
        peer: usize,
    },
}

/// Whether `RTCG_CHECK` lists `nccl`.
pub(crate) fn are_collectives_checked() -> bool {
    static IS_LISTED: LazyLock<bool> = LazyLock::new(|| {
        std::env::var("RTCG_CHECK").is_ok_and(|list| list.split(',').any(|word| word.trim() == "nccl"))
    });
    *IS_LISTED
}

const WORDS: usize = 4;
/// Bytes of a signature.
pub(crate) const SIGNATURE_BYTES: usize = WORDS * 8;

/// A collective as all ranks must call it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Signature([u64; WORDS]);

const NAMES: [&str; 8] =
    ["AllReduce", "Reduce", "Broadcast", "AllGather", "ReduceScatter", "AlltoAll", "Gather", "Scatter"];
const NO_ROOT: u64 = u64::MAX;

impl Signature {
    /// `None` for transfers, which two ranks call only.
    pub(crate) fn new(what: Collective, count: usize, dtype: ncclDataType_t, op: ncclRedOp_t) -> Option<Self> {
        let (kind, root) = match what {
            Collective::AllReduce => (0, NO_ROOT),
            Collective::Reduce { root } => (1, root as u64),
            Collective::Broadcast { root } => (2, root as u64),
            Collective::AllGather => (3, NO_ROOT),
            Collective::ReduceScatter => (4, NO_ROOT),
            Collective::AllToAll => (5, NO_ROOT),
            Collective::Gather { root } => (6, root as u64),
            Collective::Scatter { root } => (7, root as u64),
            Collective::Send { .. } | Collective::Recv { .. } => return None,
        };
        let is_reduction = matches!(kind, 0 | 1 | 4);
        // Each rank has a number of its own for an operation that it made.
        let op = if is_reduction { op.0.min(rtcg_cuda_sys::nccl::NCCL_NUM_OPS) } else { u32::MAX };
        Some(Self([kind, root, count as u64, u64::from(dtype.0) << 32 | u64::from(op)]))
    }

    fn to_bytes(self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|b| bytes[i * 8 + b]));
        Self(std::array::from_fn(word))
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [kind, root, count, types] = self.0;
        let name = |text: Option<&'static str>| text.map_or("?", |text| text.trim_start_matches("nccl"));
        let kind = NAMES.get(kind as usize).copied().unwrap_or("an unknown collective");
        write!(f, "{kind} of {count} {}", name(ncclDataType_t((types >> 32) as u32).name()))?;
        let op = ncclRedOp_t(types as u32);
        if op.0 < rtcg_cuda_sys::nccl::NCCL_NUM_OPS {
            write!(f, " with {}", name(op.name()).to_lowercase())?;
        } else if op.0 == rtcg_cuda_sys::nccl::NCCL_NUM_OPS {
            f.write_str(" with a scaled sum")?;
        }
        if root == NO_ROOT { Ok(()) } else { write!(f, " with root {root}") }
    }
}

/// Where the signatures of all ranks meet, on the device.
#[derive(Debug)]
pub(crate) struct SignatureExchange {
    memory: DeviceAllocation,
    n_ranks: usize,
    n_compared: u64,
}

impl SignatureExchange {
    /// In the current context.
    pub(crate) fn new(n_ranks: usize) -> Result<Self> {
        Ok(Self { memory: mem_alloc(n_ranks * SIGNATURE_BYTES)?, n_ranks, n_compared: 0 })
    }

    /// Writes this rank's signature. Returns where it lies, and where the signatures of all ranks begin.
    pub(crate) fn write(&self, rank: usize, signature: Signature) -> Result<(u64, u64)> {
        self.memory.write(rank * SIGNATURE_BYTES, &signature.to_bytes())?;
        Ok((self.memory.ptr() + (rank * SIGNATURE_BYTES) as u64, self.memory.ptr()))
    }

    /// What ranks disagree about, if they do.
    pub(crate) fn difference(&mut self) -> Result<Option<String>> {
        let mut bytes = vec![0; self.n_ranks * SIGNATURE_BYTES];
        self.memory.read(0, &mut bytes)?;
        self.n_compared += 1;
        let all: Vec<Signature> = bytes.chunks_exact(SIGNATURE_BYTES).map(Signature::from_bytes).collect();
        let other = all.iter().position(|signature| *signature != all[0]);
        let text = |rank: usize| {
            format!("ranks 0 and {rank} disagree on collective {}: {}, and {}", self.n_compared, all[0], all[rank])
        };
        Ok(other.map(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_say_what_ranks_must_agree_on() {
        let of = |what, op| Signature::new(what, 5, ncclDataType_t::ncclFloat32, ncclRedOp_t(op));
        let sum = of(Collective::AllReduce, 0).unwrap();
        assert_eq!(sum.to_string(), "AllReduce of 5 Float32 with sum");
        assert_eq!(Signature::from_bytes(&sum.to_bytes()), sum);
        assert_ne!(of(Collective::AllReduce, 2).unwrap(), sum);
        assert_eq!(of(Collective::AllReduce, 5), of(Collective::AllReduce, 7), "operations of the ranks' own");
        assert_eq!(of(Collective::AllGather, 0), of(Collective::AllGather, 2), "which gathers do not look at");
        let broadcast = of(Collective::Broadcast { root: 3 }, 0).unwrap();
        assert_eq!(broadcast.to_string(), "Broadcast of 5 Float32 with root 3");
        assert_ne!(Some(broadcast), of(Collective::Broadcast { root: 2 }, 0));
        assert_eq!(of(Collective::Send { peer: 0 }, 0), None);
    }
}
