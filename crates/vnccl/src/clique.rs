//! The clique of a communicator: where the ranks meet, in the process of rank 0.
//!
//! Establishes: operation number `n` of each rank meets operation number `n` of all others, or none of them runs. Who
//! brings the last part of an operation runs it; nobody waits for a part. Every part is finished exactly once, with a
//! failure if the ranks disagree, or one of them left or died.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use crate::call::Call;
use crate::elements::{Destination, Source, combine};
use rtcg_cuda_sys::nccl::ncclResult_t;
use rtcg_vgpu_abi::IgnorePoison;

/// Why a communicator is good for nothing any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) code: ncclResult_t,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(code: ncclResult_t, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }
}

/// One rank's part of an operation, wherever the rank is.
pub(crate) trait Part: Send {
    /// Where its data is, or why it cannot be used.
    fn begin(&mut self) -> Result<Data, String>;
    /// Whether its rank is in the process of the clique.
    fn is_in_this_process(&self) -> bool {
        true
    }
    /// The operation has run, or failed.
    fn finish(self: Box<Self>, outcome: Result<(), Failure>);
}

/// Addresses of a part's data, as long as it says in its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) sent: *const u8,
    pub(crate) received: *mut u8,
}

/// What a rank wants in a split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitWish {
    pub(crate) color: i32,
    pub(crate) key: i32,
}

/// What a rank gets from it: the seed of the new communicator's id, its rank, the number of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SplitPlace {
    pub(crate) seed: [u8; 16],
    pub(crate) rank: usize,
    pub(crate) n_ranks: usize,
}

/// How another process hears of the clique.
pub(crate) trait Listener: Send {
    fn all_joined(&self);
    fn failed(&self, failure: &Failure);
}

/// What a split tells a rank: a place, or none for a rank without a colour.
pub(crate) type SplitReply = Box<dyn FnOnce(Result<Option<SplitPlace>, Failure>) + Send>;

type PendingPart = (Call, Box<dyn Part>);

#[derive(Default)]
struct State {
    joined: Vec<bool>,
    /// The ranks of this process by their devices.
    devices: HashMap<i32, usize>,
    /// Ranks that left, and how many operations they took part in before does not matter.
    left: Vec<bool>,
    collectives: Vec<VecDeque<PendingPart>>,
    /// By sender and receiver.
    sends: HashMap<(usize, usize), VecDeque<PendingPart>>,
    recvs: HashMap<(usize, usize), VecDeque<PendingPart>>,
    splits: Vec<Option<(SplitWish, SplitReply)>>,
    listeners: Vec<Box<dyn Listener>>,
    failure: Option<Failure>,
    n_collectives: u64,
}

/// The ranks of a communicator.
pub(crate) struct Clique {
    pub(crate) n_ranks: usize,
    state: Mutex<State>,
    changed: Condvar,
}

impl std::fmt::Debug for Clique {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clique").field("n_ranks", &self.n_ranks).finish_non_exhaustive()
    }
}

/// Parts that are ready to run.
struct ReadyOperation {
    /// What it is called in errors.
    number: Option<u64>,
    /// The rank of each part.
    ranks: Vec<usize>,
    parts: Vec<PendingPart>,
}

impl Clique {
    pub(crate) fn new(n_ranks: usize) -> Arc<Self> {
        let state = State {
            joined: vec![false; n_ranks],
            left: vec![false; n_ranks],
            collectives: (0..n_ranks).map(|_| VecDeque::new()).collect(),
            splits: (0..n_ranks).map(|_| None).collect(),
            ..State::default()
        };
        Arc::new(Self { n_ranks, state: Mutex::new(state), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// A rank of this process is there. As in NVIDIA's library a device of a process has one rank.
    pub(crate) fn join_here(&self, rank: usize, n_ranks: usize, device: i32) -> Result<(), Failure> {
        let is_allowed = std::env::var("NCCL_MULTI_RANK_GPU_ENABLE").is_ok_and(|value| value == "1");
        let other = self.lock().devices.insert(device, rank);
        if let Some(other) = other.filter(|other| *other != rank && !is_allowed) {
            let text = format!(
                "ranks {other} and {rank} are both on device {device}, which NCCL refuses unless \
                 NCCL_MULTI_RANK_GPU_ENABLE=1"
            );
            return Err(self.refuse(Failure::new(ncclResult_t::ncclInvalidUsage, text)));
        }
        self.join(rank, n_ranks, None)
    }

    /// A rank is there.
    pub(crate) fn join(&self, rank: usize, n_ranks: usize, listener: Option<Box<dyn Listener>>) -> Result<(), Failure> {
        if n_ranks != self.n_ranks {
            let text = format!("rank 0 says that there are {} ranks, rank {rank} says {n_ranks}", self.n_ranks);
            return Err(self.refuse(Failure::new(ncclResult_t::ncclInvalidArgument, text)));
        }
        let mut state = self.lock();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if std::mem::replace(&mut state.joined[rank], true) {
            drop(state);
            let text = format!("two members of the communicator say that they are rank {rank} of {n_ranks}");
            return Err(self.refuse(Failure::new(ncclResult_t::ncclInvalidArgument, text)));
        }
        state.listeners.extend(listener);
        if state.joined.iter().all(|joined| *joined) {
            state.listeners.iter().for_each(|listener| listener.all_joined());
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Refuses a rank, of which those that wait for it hear too.
    pub(crate) fn refuse(&self, failure: Failure) -> Failure {
        if !self.lock().joined.iter().all(|joined| *joined) {
            self.fail(failure.clone());
        }
        failure
    }

    /// Waits until all ranks are there. `false` when the time is over.
    pub(crate) fn wait_until_joined(&self, until: Instant) -> Result<bool, Failure> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.joined.iter().all(|joined| *joined) {
                return Ok(true);
            }
            let Some(left) = until.checked_duration_since(Instant::now()) else { return Ok(false) };
            state = self.changed.wait_timeout(state, left).ignore_poison().0;
        }
    }

    /// What a rank waits for, as text.
    pub(crate) fn awaited(&self, rank: usize) -> String {
        let state = self.lock();
        let ranks = |is_missing: &dyn Fn(usize) -> bool| {
            let missing: Vec<_> = (0..self.n_ranks).filter(|rank| is_missing(*rank)).collect();
            let names: Vec<_> = missing.iter().map(usize::to_string).collect();
            format!("rank{} {}", if missing.len() == 1 { "" } else { "s" }, names.join(", "))
        };
        let of_pair = |((from, to), queue): (&(usize, usize), &VecDeque<PendingPart>)| {
            let (call, _) = queue.front().filter(|_| rank == *from || rank == *to)?;
            Some(format!("rank {} in {call}", if rank == *from { to } else { from }))
        };
        if !state.joined.iter().all(|joined| *joined) {
            format!("{}, which did not join", ranks(&|rank| !state.joined[rank]))
        } else if let Some((call, _)) = state.collectives[rank].front() {
            let missing = ranks(&|rank| state.collectives[rank].is_empty());
            format!("{missing} in collective {}, {call}", state.n_collectives + 1)
        } else if state.splits[rank].is_some() {
            format!("{} in a split", ranks(&|rank| state.splits[rank].is_none()))
        } else {
            state.sends.iter().chain(&state.recvs).find_map(of_pair).unwrap_or_else(|| "other ranks".into())
        }
    }

    /// Why the communicator is good for nothing, if it is.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.lock().failure.clone()
    }

    /// Ends the communicator: all parts that wait are finished with the failure, and so are later ones.
    pub(crate) fn fail(&self, failure: Failure) {
        let mut state = self.lock();
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(failure.clone());
        let mut parts: Vec<PendingPart> = state.collectives.iter_mut().flat_map(std::mem::take).collect();
        let State { sends, recvs, splits, listeners, .. } = &mut *state;
        parts.extend(sends.drain().chain(recvs.drain()).flat_map(|(_, queue)| queue));
        let splits: Vec<_> = splits.iter_mut().filter_map(Option::take).collect();
        // Before anyone of this process, which may end when it hears, and leave the others without a word.
        std::mem::take(listeners).iter().for_each(|listener| listener.failed(&failure));
        self.changed.notify_all();
        drop(state);
        parts.into_iter().for_each(|(_, part)| part.finish(Err(failure.clone())));
        splits.into_iter().for_each(|(_, reply)| reply(Err(failure.clone())));
    }

    /// A rank leaves. Operations that need it fail, now and later.
    pub(crate) fn leave(&self, rank: usize) {
        let mut state = self.lock();
        state.left[rank] = true;
        let needed = self.needed_rank(&state);
        drop(state);
        needed.into_iter().for_each(|rank| self.fail_because_left(rank));
    }

    fn fail_because_left(&self, rank: usize) {
        let text = format!("rank {rank} has destroyed its communicator, and other ranks wait for it");
        self.fail(Failure::new(ncclResult_t::ncclRemoteError, text));
    }

    /// A rank that has left, and without which something that waits can never run.
    fn needed_rank(&self, state: &State) -> Option<usize> {
        let waits = state.collectives.iter().any(|queue| !queue.is_empty()) || state.splits.iter().any(Option::is_some);
        let of_collectives = (0..self.n_ranks).find(|&rank| {
            waits && state.left[rank] && state.collectives[rank].is_empty() && state.splits[rank].is_none()
        });
        let has_parts = |(_, queue): &(&(usize, usize), &VecDeque<PendingPart>)| !queue.is_empty();
        let of_sends = || state.sends.iter().filter(has_parts).map(|((_, to), _)| *to).find(|&rank| state.left[rank]);
        let of_recvs =
            || state.recvs.iter().filter(has_parts).map(|((from, _), _)| *from).find(|&rank| state.left[rank]);
        of_collectives.or_else(of_sends).or_else(of_recvs)
    }

    /// Brings a rank's part of an operation, and runs what is complete with it.
    pub(crate) fn arrive(&self, rank: usize, call: Call, part: Box<dyn Part>) {
        let mut state = self.lock();
        if let Some(failure) = state.failure.clone() {
            drop(state);
            return part.finish(Err(failure));
        }
        let ready = if call.kind.is_transfer() {
            self.add_transfer(&mut state, rank, call, part)
        } else {
            state.collectives[rank].push_back((call, part));
            self.take_collective(&mut state)
        };
        let needed = if ready.is_none() { self.needed_rank(&state) } else { None };
        drop(state);
        needed.into_iter().for_each(|rank| self.fail_because_left(rank));
        ready.into_iter().for_each(|operation| self.run(operation));
    }

    fn add_transfer(&self, state: &mut State, rank: usize, call: Call, part: Box<dyn Part>) -> Option<ReadyOperation> {
        let is_send = call.kind == crate::call::Kind::Send;
        let pair = if is_send { (rank, call.peer) } else { (call.peer, rank) };
        let (own, others) =
            if is_send { (&mut state.sends, &mut state.recvs) } else { (&mut state.recvs, &mut state.sends) };
        let Some(other) = others.get_mut(&pair).and_then(VecDeque::pop_front) else {
            own.entry(pair).or_default().push_back((call, part));
            return None;
        };
        let mut parts = vec![(call, part), other];
        if !is_send {
            parts.reverse();
        }
        Some(ReadyOperation { number: None, ranks: vec![pair.0, pair.1], parts })
    }

    fn take_collective(&self, state: &mut State) -> Option<ReadyOperation> {
        if state.collectives.iter().any(VecDeque::is_empty) {
            return None;
        }
        state.n_collectives += 1;
        let parts = state.collectives.iter_mut().filter_map(VecDeque::pop_front).collect();
        Some(ReadyOperation { number: Some(state.n_collectives), ranks: (0..self.n_ranks).collect(), parts })
    }

    fn run(&self, operation: ReadyOperation) {
        let ReadyOperation { number, ranks, mut parts } = operation;
        let run = std::panic::AssertUnwindSafe(|| run_parts(self.n_ranks, number, &ranks, &mut parts));
        let outcome = std::panic::catch_unwind(run)
            .unwrap_or_else(|_| Err(Failure::new(ncclResult_t::ncclInternalError, "the virtual NCCL has a bug")));
        if let Err(failure) = &outcome {
            self.fail(failure.clone());
        }
        // Who hears first may end this process, without which the others would hear nothing.
        let (here, elsewhere): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(_, part)| part.is_in_this_process());
        elsewhere.into_iter().chain(here).for_each(|(_, part)| part.finish(outcome.clone()));
    }

    /// A rank's wish for a split; all replies are given when the last wish is there.
    pub(crate) fn split(&self, rank: usize, wish: SplitWish, seed: [u8; 16], reply: SplitReply) {
        let mut state = self.lock();
        if let Some(failure) = state.failure.clone() {
            drop(state);
            return reply(Err(failure));
        }
        if state.splits[rank].is_some() {
            drop(state);
            let text = format!("rank {rank} splits the communicator while it splits it");
            return reply(Err(Failure::new(ncclResult_t::ncclInvalidUsage, text)));
        }
        state.splits[rank] = Some((wish, reply));
        if state.splits.iter().any(Option::is_none) {
            let needed = self.needed_rank(&state);
            drop(state);
            return needed.into_iter().for_each(|rank| self.fail_because_left(rank));
        }
        let wishes: Vec<_> = state.splits.iter_mut().filter_map(Option::take).collect();
        drop(state);
        let places = split_places(&wishes.iter().map(|(wish, _)| *wish).collect::<Vec<_>>(), seed);
        wishes.into_iter().zip(places).for_each(|((_, reply), place)| reply(Ok(place)));
    }
}

/// The rank of each in its part: ordered by key, then by rank.
fn split_places(wishes: &[SplitWish], seed: [u8; 16]) -> Vec<Option<SplitPlace>> {
    let place = |(rank, wish): (usize, &SplitWish)| {
        if wish.color < 0 {
            return None;
        }
        let members: Vec<_> = wishes.iter().enumerate().filter(|(_, other)| other.color == wish.color).collect();
        let before = members.iter().filter(|(other, w)| (w.key, *other) < (wish.key, rank)).count();
        let mut seed = seed;
        seed.iter_mut().zip(wish.color.to_le_bytes()).for_each(|(byte, color)| *byte ^= color);
        Some(SplitPlace { seed, rank: before, n_ranks: members.len() })
    };
    wishes.iter().enumerate().map(place).collect()
}

/// Runs a complete operation, if its parts fit.
fn run_parts(n_ranks: usize, number: Option<u64>, ranks: &[usize], parts: &mut [PendingPart]) -> Result<(), Failure> {
    let first = parts[0].0;
    if let Some(at) = parts.iter().position(|(call, _)| !call.fits(&first)) {
        let other = parts[at].0;
        let which = number.map_or_else(String::new, |number| format!(" on collective {number}"));
        let text = format!("ranks {} and {} disagree{which}: {first}, and {other}", ranks[0], ranks[at]);
        return Err(Failure::new(ncclResult_t::ncclInvalidUsage, text));
    }
    let begin = |(at, (_, part)): (usize, &mut PendingPart)| {
        part.begin().map_err(|why| Failure::new(ncclResult_t::ncclRemoteError, format!("rank {}: {why}", ranks[at])))
    };
    let data = parts.iter_mut().enumerate().map(begin).collect::<Result<Vec<Data>, Failure>>()?;
    for piece in first.pieces(n_ranks) {
        let source = |&(rank, offset): &(usize, u64)| Source {
            address: data[rank].sent.wrapping_add(offset as usize),
            reduction: parts[rank].0.reduction,
        };
        let destination =
            |&(rank, offset): &(usize, u64)| Destination(data[rank].received.wrapping_add(offset as usize));
        let sources: Vec<Source> = piece.sources.iter().map(source).collect();
        let destinations: Vec<Destination> = piece.destinations.iter().map(destination).collect();
        let is_copy = sources.len() == 1;
        // One source of a reduction is a communicator with one rank, whose factors still apply.
        if is_copy
            && !matches!(
                first.kind,
                crate::call::Kind::AllReduce | crate::call::Kind::Reduce | crate::call::Kind::ReduceScatter
            )
        {
            let bytes = first.count as usize * first.dtype.size().unwrap_or(1);
            for destination in destinations {
                // SAFETY: each part answers for its data, and a place may be its own source.
                unsafe { std::ptr::copy(sources[0].address, destination.0, bytes) };
            }
        } else {
            // SAFETY: each part answers for its data.
            unsafe { combine(first.dtype, &sources, &destinations, first.count as usize) };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Kind;
    use crate::elements::Reduction;
    use rtcg_cuda_sys::nccl::ncclDataType_t;
    use std::sync::Weak;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct TestPart {
        sent: Vec<f32>,
        received: Vec<f32>,
        to: Sender<Result<Vec<f32>, Failure>>,
    }

    impl Part for TestPart {
        fn begin(&mut self) -> Result<Data, String> {
            Ok(Data { sent: self.sent.as_ptr().cast(), received: self.received.as_mut_ptr().cast() })
        }
        fn finish(self: Box<Self>, outcome: Result<(), Failure>) {
            let Self { received, to, .. } = *self;
            let _ = to.send(outcome.map(|()| received));
        }
    }

    fn part(clique: &Clique, rank: usize, call: Call, sent: &[f32]) -> Receiver<Result<Vec<f32>, Failure>> {
        let (to, from) = channel();
        let received = vec![0.0; (call.received_bytes(rank, clique.n_ranks) / 4) as usize];
        clique.arrive(rank, call, Box::new(TestPart { sent: sent.to_vec(), received, to }));
        from
    }

    fn call(kind: Kind, count: u64, peer: usize) -> Call {
        Call { kind, count, dtype: ncclDataType_t::ncclFloat32, reduction: Reduction::Sum, peer }
    }

    #[test]
    fn operations_meet_by_their_number() {
        let clique = Clique::new(2);
        let early: Vec<_> = (0..3).map(|i| part(&clique, 0, call(Kind::AllReduce, 1, 0), &[i as f32])).collect();
        let late: Vec<_> = (0..3).map(|i| part(&clique, 1, call(Kind::AllReduce, 1, 0), &[10.0 * i as f32])).collect();
        for (i, (a, b)) in early.into_iter().zip(late).enumerate() {
            assert_eq!(a.recv().unwrap().unwrap(), [11.0 * i as f32]);
            assert_eq!(b.recv().unwrap().unwrap(), [11.0 * i as f32]);
        }
    }

    #[test]
    fn every_collective_moves_what_it_says() {
        let sent = |rank: usize, n: u64| (0..n).map(|i| (100 * rank as u64 + i) as f32).collect::<Vec<_>>();
        let run = |kind, root| {
            let clique = Clique::new(3);
            let call = call(kind, 2, root);
            let results: Vec<_> = (0..3).map(|r| part(&clique, r, call, &sent(r, call.sent_bytes(r, 3) / 4))).collect();
            results.into_iter().map(|result| result.recv().unwrap().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(run(Kind::AllReduce, 0), [[300.0, 303.0]; 3]);
        assert_eq!(run(Kind::Reduce, 1), [vec![], vec![300.0, 303.0], vec![]]);
        assert_eq!(run(Kind::Broadcast, 2), [[200.0, 201.0]; 3]);
        assert_eq!(run(Kind::AllGather, 0), [[0.0, 1.0, 100.0, 101.0, 200.0, 201.0]; 3]);
        assert_eq!(run(Kind::ReduceScatter, 0), [[300.0, 303.0], [306.0, 309.0], [312.0, 315.0]]);
        assert_eq!(run(Kind::Gather, 1)[1], [0.0, 1.0, 100.0, 101.0, 200.0, 201.0]);
        assert_eq!(run(Kind::Scatter, 2), [[200.0, 201.0], [202.0, 203.0], [204.0, 205.0]]);
        assert_eq!(run(Kind::AllToAll, 0)[1], [2.0, 3.0, 102.0, 103.0, 202.0, 203.0]);
    }

    #[test]
    fn transfers_meet_in_the_order_of_each_pair() {
        let clique = Clique::new(3);
        let first = part(&clique, 2, call(Kind::Recv, 1, 0), &[]);
        let second = part(&clique, 2, call(Kind::Recv, 1, 0), &[]);
        let other = part(&clique, 1, call(Kind::Recv, 1, 0), &[]);
        let sends = [(2, 5.0), (1, 7.0), (2, 6.0)].map(|(to, x)| part(&clique, 0, call(Kind::Send, 1, to), &[x]));
        assert_eq!(first.recv().unwrap().unwrap(), [5.0]);
        assert_eq!(second.recv().unwrap().unwrap(), [6.0]);
        assert_eq!(other.recv().unwrap().unwrap(), [7.0]);
        assert!(sends.iter().all(|send| send.recv().unwrap().is_ok()));
    }

    #[test]
    fn every_rank_hears_who_disagrees() {
        let clique = Clique::new(3);
        let results: Vec<_> = [4, 4, 5]
            .iter()
            .enumerate()
            .map(|(r, &n)| part(&clique, r, call(Kind::AllReduce, n, 0), &[0.0; 5]))
            .collect();
        for result in results {
            let failure = result.recv().unwrap().unwrap_err();
            assert_eq!(failure.code, ncclResult_t::ncclInvalidUsage);
            let text = "ranks 0 and 2 disagree on collective 1: AllReduce of 4 Float32 with sum, and AllReduce of 5";
            assert!(failure.text.starts_with(text), "{}", failure.text);
        }
        let later = part(&clique, 1, call(Kind::AllReduce, 1, 0), &[0.0]);
        assert!(later.recv().unwrap().is_err(), "the communicator is good for nothing");
    }

    #[test]
    fn a_rank_that_left_is_waited_for_by_nobody() {
        let clique = Clique::new(2);
        let waiting = part(&clique, 0, call(Kind::AllReduce, 1, 0), &[0.0]);
        clique.leave(1);
        assert!(waiting.recv().unwrap().unwrap_err().text.contains("rank 1 has destroyed"));
        let clique = Clique::new(2);
        clique.leave(1);
        assert!(part(&clique, 0, call(Kind::Recv, 1, 1), &[]).recv().unwrap().is_err());
    }

    #[test]
    fn splits_are_ordered_by_key_and_rank() {
        let wishes = [(1, 5), (0, 0), (1, 5), (-1, 0), (1, 4)].map(|(color, key)| SplitWish { color, key });
        let places = split_places(&wishes, [7; 16]);
        let ranks: Vec<_> = places.iter().map(|p| p.map(|p| (p.rank, p.n_ranks))).collect();
        assert_eq!(ranks, [Some((1, 3)), Some((0, 1)), Some((2, 3)), None, Some((0, 3))]);
        assert_eq!(places[0].unwrap().seed, places[4].unwrap().seed);
        assert_ne!(places[0].unwrap().seed, places[1].unwrap().seed);
    }

    #[test]
    fn members_that_cannot_be_are_known_to_those_that_wait() {
        let joins: [(usize, usize, &str); 2] = [(0, 2, "rank 0 of 2"), (1, 3, "rank 1 says 3")];
        for (rank, n_ranks, text) in joins {
            let clique = Clique::new(2);
            clique.join(0, 2, None).unwrap();
            assert!(clique.join(rank, n_ranks, None).unwrap_err().text.contains(text));
            assert!(clique.wait_until_joined(Instant::now()).unwrap_err().text.contains(text));
        }
        let clique = Clique::new(2);
        clique.join(0, 2, None).unwrap();
        assert!(!clique.wait_until_joined(Instant::now()).unwrap());
        assert_eq!(clique.awaited(0), "rank 1, which did not join");
        clique.join(1, 2, None).unwrap();
        assert!(clique.wait_until_joined(Instant::now()).unwrap());
        assert!(clique.join(1, 2, None).is_err());
        assert!(clique.failure().is_none(), "the communicator is complete without the third");
    }

    #[test]
    fn who_joins_too_late_hears_why() {
        let clique = Clique::new(3);
        clique.join(0, 3, None).unwrap();
        clique.fail(Failure::new(ncclResult_t::ncclRemoteError, "rank 0 has waited"));
        assert_eq!(clique.join(2, 3, None).unwrap_err().text, "rank 0 has waited");
    }

    /// Says what a rank of this process can know when another process is told.
    struct TestListener(Weak<Clique>, Sender<bool>);

    impl Listener for TestListener {
        fn all_joined(&self) {}
        fn failed(&self, _: &Failure) {
            let is_known = self.0.upgrade().is_some_and(|clique| clique.state.try_lock().is_ok());
            let _ = self.1.send(is_known);
        }
    }

    #[test]
    fn other_processes_hear_before_this_one() {
        let clique = Clique::new(3);
        let (to, from) = channel();
        let listener = TestListener(Arc::downgrade(&clique), to);
        clique.join(1, 3, Some(Box::new(listener))).unwrap();
        clique.fail(Failure::new(ncclResult_t::ncclRemoteError, "rank 0 has waited"));
        assert_eq!(from.recv(), Ok(false));
    }

    #[test]
    fn what_ranks_wait_for() {
        let clique = Clique::new(3);
        (0..3).for_each(|rank| clique.join(rank, 3, None).unwrap());
        assert_eq!(clique.awaited(0), "other ranks");
        let _parts = [(0, Kind::AllReduce, 0), (1, Kind::AllReduce, 0), (2, Kind::Recv, 1)]
            .map(|(rank, kind, peer)| part(&clique, rank, call(kind, 4, peer), &[0.0; 4]));
        assert_eq!(clique.awaited(1), "rank 2 in collective 1, AllReduce of 4 Float32 with sum");
        assert_eq!(clique.awaited(2), "rank 1 in Recv of 4 Float32 from rank 1");
    }
}
