//! What a rank asks for: one collective, or one end of a transfer between two ranks; and what data it moves.

use crate::elements::Reduction;
use rtcg_cuda_sys::nccl::ncclDataType_t;

/// The operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    AllReduce,
    Reduce,
    Broadcast,
    AllGather,
    ReduceScatter,
    AllToAll,
    Gather,
    Scatter,
    Send,
    Recv,
}

impl Kind {
    pub(crate) const ALL: [Kind; 10] = [
        Kind::AllReduce,
        Kind::Reduce,
        Kind::Broadcast,
        Kind::AllGather,
        Kind::ReduceScatter,
        Kind::AllToAll,
        Kind::Gather,
        Kind::Scatter,
        Kind::Send,
        Kind::Recv,
    ];

    fn name(self) -> &'static str {
        match self {
            Kind::AllReduce => "AllReduce",
            Kind::Reduce => "Reduce",
            Kind::Broadcast => "Broadcast",
            Kind::AllGather => "AllGather",
            Kind::ReduceScatter => "ReduceScatter",
            Kind::AllToAll => "AlltoAll",
            Kind::Gather => "Gather",
            Kind::Scatter => "Scatter",
            Kind::Send => "Send",
            Kind::Recv => "Recv",
        }
    }

    fn is_reduction(self) -> bool {
        matches!(self, Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter)
    }

    pub(crate) fn is_rooted(self) -> bool {
        matches!(self, Kind::Reduce | Kind::Broadcast | Kind::Gather | Kind::Scatter)
    }

    pub(crate) fn is_transfer(self) -> bool {
        matches!(self, Kind::Send | Kind::Recv)
    }
}

/// The operation, without the places of the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    /// Elements, as the function of this kind counts them.
    pub(crate) count: u64,
    pub(crate) dtype: ncclDataType_t,
    pub(crate) reduction: Reduction,
    /// The root, or the other rank of a transfer; 0 where there is none.
    pub(crate) peer: usize,
}

impl Call {
    fn bytes(&self) -> u64 {
        self.count * self.dtype.size().unwrap_or(1) as u64
    }

    /// Bytes that `rank` of `n_ranks` gives.
    pub(crate) fn sent_bytes(&self, rank: usize, n_ranks: usize) -> u64 {
        let is_root = rank == self.peer;
        match self.kind {
            Kind::ReduceScatter | Kind::AllToAll => self.bytes() * n_ranks as u64,
            Kind::Scatter if is_root => self.bytes() * n_ranks as u64,
            Kind::Broadcast if !is_root => 0,
            Kind::Scatter | Kind::Recv => 0,
            _ => self.bytes(),
        }
    }

    /// Bytes that `rank` of `n_ranks` gets.
    pub(crate) fn received_bytes(&self, rank: usize, n_ranks: usize) -> u64 {
        let is_root = rank == self.peer;
        match self.kind {
            Kind::AllGather | Kind::AllToAll => self.bytes() * n_ranks as u64,
            Kind::Gather if is_root => self.bytes() * n_ranks as u64,
            Kind::Reduce | Kind::Gather if !is_root => 0,
            Kind::Send => 0,
            _ => self.bytes(),
        }
    }

    /// Whether two ranks that ask for these ask for parts of the same.
    pub(crate) fn fits(&self, other: &Call) -> bool {
        let same_kind = self.kind == other.kind && (!self.kind.is_rooted() || self.peer == other.peer);
        // The two ends of a transfer only have to agree on the number of bytes.
        let is_transfer = self.kind.is_transfer() && other.kind.is_transfer();
        let same_size = if is_transfer {
            self.bytes() == other.bytes()
        } else {
            self.count == other.count && self.dtype == other.dtype
        };
        let same_reduction = !self.kind.is_reduction() || self.reduction.fits(other.reduction);
        (same_kind || is_transfer) && same_size && same_reduction
    }

    /// What data moves: pieces, of which each combines the elements of some ranks for some ranks.
    pub(crate) fn pieces(&self, n_ranks: usize) -> Vec<Piece> {
        let (n, all, root) = (self.bytes(), 0..n_ranks, self.peer);
        let everyone_at = |offset: u64| all.clone().map(|rank| (rank, offset)).collect::<Vec<_>>();
        let at = |rank: usize| rank as u64 * n;
        let piece = |sources, destinations| Piece { sources, destinations };
        match self.kind {
            Kind::AllReduce => vec![piece(everyone_at(0), everyone_at(0))],
            Kind::Reduce => vec![piece(everyone_at(0), vec![(root, 0)])],
            Kind::Broadcast => vec![piece(vec![(root, 0)], everyone_at(0))],
            Kind::AllGather => all.clone().map(|r| piece(vec![(r, 0)], everyone_at(at(r)))).collect(),
            Kind::ReduceScatter => all.clone().map(|r| piece(everyone_at(at(r)), vec![(r, 0)])).collect(),
            Kind::Gather => all.map(|r| piece(vec![(r, 0)], vec![(root, at(r))])).collect(),
            Kind::Scatter => all.map(|r| piece(vec![(root, at(r))], vec![(r, 0)])).collect(),
            Kind::AllToAll => {
                let pairs = all.clone().flat_map(|from| all.clone().map(move |to| (from, to)));
                pairs.map(|(from, to)| piece(vec![(from, at(to))], vec![(to, at(from))])).collect()
            }
            // A transfer is executed from its two ends, which are "rank" 0 and 1 of it.
            Kind::Send | Kind::Recv => vec![piece(vec![(0, 0)], vec![(1, 0)])],
        }
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dtype = self.dtype.name().map_or("elements", |name| name.trim_start_matches("nccl"));
        write!(f, "{} of {} {dtype}", self.kind.name(), self.count)?;
        if self.kind.is_reduction() {
            write!(f, " with {}", self.reduction.name())?;
        }
        match self.kind {
            Kind::Send => write!(f, " to rank {}", self.peer),
            Kind::Recv => write!(f, " from rank {}", self.peer),
            kind if kind.is_rooted() => write!(f, " with root {}", self.peer),
            _ => Ok(()),
        }
    }
}

/// Elements of some ranks, each rank with the first byte in its data, that become elements of other ranks.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) sources: Vec<(usize, u64)>,
    pub(crate) destinations: Vec<(usize, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: Kind, count: u64, peer: usize) -> Call {
        Call { kind, count, dtype: ncclDataType_t::ncclFloat32, reduction: Reduction::Sum, peer }
    }

    #[test]
    fn pieces_stay_in_the_data_of_each_rank() {
        for kind in Kind::ALL.into_iter().filter(|kind| !kind.is_transfer()) {
            for root in 0..3 {
                let call = call(kind, 5, root);
                let mut received = [0; 3];
                for piece in call.pieces(3) {
                    for &(rank, offset) in &piece.sources {
                        assert!(offset + 20 <= call.sent_bytes(rank, 3), "{call}, rank {rank}");
                    }
                    for &(rank, offset) in &piece.destinations {
                        received[rank] += 20;
                        // A broadcast writes the root's own result too, in its one element range.
                        assert!(offset + 20 <= call.received_bytes(rank, 3), "{call}, rank {rank}");
                    }
                }
                let whole: [u64; 3] = std::array::from_fn(|rank| call.received_bytes(rank, 3));
                assert_eq!(received, whole, "{call}");
            }
        }
    }

    #[test]
    fn calls_that_fit_and_calls_that_do_not() {
        let sum = call(Kind::AllReduce, 5, 0);
        assert!(sum.fits(&sum));
        assert!(!sum.fits(&Call { count: 6, ..sum }));
        assert!(!sum.fits(&Call { reduction: Reduction::Max, ..sum }));
        assert!(
            Call { reduction: Reduction::ScaledSum(1), ..sum }
                .fits(&Call { reduction: Reduction::ScaledSum(2), ..sum })
        );
        let gather = call(Kind::AllGather, 5, 0);
        assert!(gather.fits(&Call { reduction: Reduction::Max, ..gather }), "which gathers do not look at");
        assert!(!call(Kind::Broadcast, 5, 0).fits(&call(Kind::Broadcast, 5, 1)));
        let (send, recv) = (call(Kind::Send, 4, 1), call(Kind::Recv, 2, 0));
        assert!(send.fits(&Call { dtype: ncclDataType_t::ncclFloat64, ..recv }), "16 bytes each");
        assert!(!send.fits(&recv));
        assert_eq!(sum.to_string(), "AllReduce of 5 Float32 with sum");
        assert_eq!(send.to_string(), "Send of 4 Float32 to rank 1");
    }
}
