//! Calls between `ncclGroupStart` and `ncclGroupEnd`, which take effect together at the end.

use std::cell::RefCell;
use std::sync::Arc;

use crate::clique::{Failure, SplitWish};
use crate::communicator::{COMMUNICATORS, Communicator, Join, PlacedCall, Res, failed, join_all};
use rtcg_cuda_sys::CUstream;
use rtcg_cuda_sys::nccl::{ncclComm_t, ncclResult_t};

/// A communicator that is to be made, and where its handle goes.
pub(crate) enum NewCommunicator {
    Join(Join),
    Split(Arc<Communicator>, SplitWish),
}

#[derive(Default)]
struct Group {
    depth: usize,
    new: Vec<(NewCommunicator, *mut ncclComm_t)>,
    calls: Vec<(Arc<Communicator>, CUstream, PlacedCall)>,
    /// What a call in the group failed with; the group then does nothing.
    failure: Option<Failure>,
}

thread_local! {
    static GROUP: RefCell<Group> = RefCell::default();
}

pub(crate) fn start_group() {
    GROUP.with_borrow_mut(|group| group.depth += 1);
}

pub(crate) fn end_group() -> Res {
    let group = GROUP.with_borrow_mut(|group| match group.depth {
        0 => failed(ncclResult_t::ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart"),
        1 => Ok(Some(std::mem::take(group))),
        _ => {
            group.depth -= 1;
            Ok(None)
        }
    })?;
    let Some(group) = group else { return Ok(()) };
    if let Some(failure) = group.failure {
        return Err(failure);
    }
    make_communicators(group.new)?;
    submit_calls(group.calls)
}

/// Ends a group without its calls.
pub(crate) fn drop_group() -> Res {
    GROUP.with_borrow_mut(|group| match group.depth {
        0 => failed(ncclResult_t::ncclInvalidUsage, "there is no group"),
        1 => {
            drop(std::mem::take(group));
            Ok(())
        }
        _ => {
            group.depth -= 1;
            Ok(())
        }
    })
}

/// Remembers that a call in a group failed, whose end then fails too.
pub(crate) fn note_failure_in_group(failure: &Failure) {
    GROUP.with_borrow_mut(|group| {
        if group.depth > 0 {
            group.failure.get_or_insert_with(|| failure.clone());
        }
    });
}

/// Makes a communicator, now or at the end of the group.
///
/// # Safety
/// `place` can be written until then.
pub(crate) unsafe fn add_communicator(new: NewCommunicator, place: *mut ncclComm_t) -> Res {
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Some(new);
        }
        group.new.push((new, place));
        None
    });
    now.map_or(Ok(()), |new| make_communicators(vec![(new, place)]))
}

/// Submits a call, now or at the end of the group.
pub(crate) fn add_call(communicator: Arc<Communicator>, stream: CUstream, call: PlacedCall) -> Res {
    let now = GROUP.with_borrow_mut(|group| {
        if group.depth == 0 {
            return Some(communicator);
        }
        group.calls.push((communicator, stream, call));
        None
    });
    now.map_or(Ok(()), |communicator| communicator.submit(vec![call], &[stream]))
}

fn make_communicators(new: Vec<(NewCommunicator, *mut ncclComm_t)>) -> Res {
    let (mut joins, mut splits) = (Vec::new(), Vec::new());
    for (new, place) in new {
        match new {
            NewCommunicator::Join(join) => joins.push((join, place)),
            NewCommunicator::Split(parent, wish) => {
                let reply = parent.begin_split(wish)?;
                splits.push((parent, reply, place));
            }
        }
    }
    for (parent, reply, place) in splits {
        match parent.end_split(&reply)? {
            Some(join) => joins.push((join, place)),
            // SAFETY: as promised to `add_communicator`.
            None => unsafe { place.write(ncclComm_t::null()) },
        }
    }
    // Rank 0 makes what the others look for.
    joins.sort_by_key(|(join, _)| join.rank());
    let (joins, places): (Vec<_>, Vec<_>) = joins.into_iter().unzip();
    for (communicator, place) in join_all(joins)?.into_iter().zip(places) {
        let (handle, _) = COMMUNICATORS
            .insert_with(|_| Arc::new(communicator))
            .map_err(|_| Failure::new(ncclResult_t::ncclSystemError, "there are too many communicators"))?;
        // SAFETY: as promised to `add_communicator`.
        unsafe { place.write(ncclComm_t(std::ptr::without_provenance_mut(handle as usize))) };
    }
    Ok(())
}

/// Calls of one communicator are one operation: a rank may send and receive in any order in a group.
fn submit_calls(calls: Vec<(Arc<Communicator>, CUstream, PlacedCall)>) -> Res {
    let mut sets: Vec<(Arc<Communicator>, Vec<CUstream>, Vec<PlacedCall>)> = Vec::new();
    for (communicator, stream, call) in calls {
        match sets.iter_mut().find(|(known, _, _)| Arc::ptr_eq(known, &communicator)) {
            Some((_, streams, calls)) => {
                if !streams.contains(&stream) {
                    streams.push(stream);
                }
                calls.push(call);
            }
            None => sets.push((communicator, vec![stream], vec![call])),
        }
    }
    sets.into_iter().try_for_each(|(communicator, streams, calls)| communicator.submit(calls, &streams))
}
