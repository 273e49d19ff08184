//! Communicators on virtual devices.

use rtcg_driver::memory::{DeviceAllocation, mem_alloc};
use rtcg_driver::nccl::{Collective, Communicator, NcclGroup, NcclMemory, UniqueId, nccl_version};
use rtcg_driver::sys::nccl::{ncclDataType_t, ncclRedOp_t, ncclResult_t};
use rtcg_driver::{Context, Device, Stream};
use std::time::Duration;

/// Contexts of two virtual devices.
fn two_contexts() -> [Context; 2] {
    rtcg_driver::init(0).unwrap();
    [0, 1].map(|ordinal| Device::new(ordinal).unwrap().retain_primary_context().unwrap())
}

fn floats(ctx: &Context, values: &[f32]) -> DeviceAllocation {
    ctx.with_current(|| {
        let memory = mem_alloc(values.len() * 4)?;
        memory.write(0, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())?;
        Ok::<_, rtcg_driver::Error>(memory)
    })
    .unwrap()
}

fn read(memory: &DeviceAllocation, n: usize) -> Vec<f32> {
    let mut bytes = vec![0; n * 4];
    memory.context().with_current(|| memory.read(0, &mut bytes)).unwrap();
    bytes.chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect()
}

/// A sum of one element for each rank, in place.
fn enqueue(rank: &Communicator, memory: &DeviceAllocation, count: usize, stream: Option<&Stream>) {
    let (place, dtype, op) = (memory.ptr(), ncclDataType_t::ncclFloat32, ncclRedOp_t::ncclSum);
    // SAFETY: the memory outlives the test's waits.
    unsafe { rank.enqueue(Collective::AllReduce, place, place, count, dtype, op, stream) }.unwrap();
}

#[test]
fn ranks_of_one_thread_meet_in_a_group() {
    own_process!("RTCG_LIBCUDA" = "none", "RTCG_VIRTUAL_DEVICES" = "2");
    let contexts = two_contexts();
    let ranks = Communicator::init_all(&contexts).unwrap();
    assert_eq!(ranks.iter().map(|r| (r.rank(), r.n_ranks())).collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    let memory = [floats(&contexts[0], &[1.0, 2.0]), floats(&contexts[1], &[10.0, 20.0])];
    let group = contexts[0].with_current(NcclGroup::begin).unwrap();
    ranks.iter().zip(&memory).for_each(|(rank, memory)| enqueue(rank, memory, 2, None));
    group.end().unwrap();
    ranks.iter().for_each(|rank| rank.wait(None, None).unwrap());
    assert_eq!(memory.each_ref().map(|m| read(m, 2)), [[11.0, 22.0], [11.0, 22.0]]);
    let parts = Communicator::split_all(&[(&ranks[0], Some(3), 0), (&ranks[1], None, 0)]).unwrap();
    assert_eq!(parts[0].as_ref().map(Communicator::n_ranks), Some(1));
    assert!(parts[1].is_none());
    let alone = ranks[0].shrink(&[1], false).unwrap();
    enqueue(&alone, &memory[0], 1, None);
    alone.close().unwrap();
    assert_eq!(alone.check_async_error().unwrap_err().code, ncclResult_t::ncclInvalidUsage);
}

#[test]
fn ranks_of_threads_meet_and_disagree() {
    own_process!("RTCG_LIBCUDA" = "none", "RTCG_VIRTUAL_DEVICES" = "2");
    let contexts = two_contexts();
    let id = contexts[0].with_current(UniqueId::new).unwrap();
    assert!(contexts[0].with_current(nccl_version).unwrap() > 20000);
    let join = |rank: usize| contexts[rank].with_current(|| Communicator::new(2, id, rank)).unwrap();
    let ranks: Vec<Communicator> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|rank| scope.spawn(move || join(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let memory = [floats(&contexts[0], &[1.0, 2.0]), floats(&contexts[1], &[10.0, 20.0])];
    let streams = contexts.each_ref().map(|ctx| ctx.with_current(|| Stream::new(1)).unwrap());
    enqueue(&ranks[0], &memory[0], 2, Some(&streams[0]));
    assert!(!streams[0].is_done().unwrap(), "rank 1 has not come");
    let late = ranks[0].wait(Some(&streams[0]), Some(Duration::from_millis(20)));
    assert_eq!(late.unwrap_err().code, ncclResult_t::ncclTimeout);
    assert!(ranks[0].is_closed());
    let told = ranks[1].check_async_error().unwrap_err();
    assert!(told.text.contains("rank 0 has aborted"), "{told}");

    let ranks = Communicator::init_all(&contexts).unwrap();
    enqueue(&ranks[0], &memory[0], 2, Some(&streams[0]));
    enqueue(&ranks[1], &memory[1], 1, Some(&streams[1]));
    for (rank, stream) in ranks.iter().zip(&streams) {
        let error = rank.wait(Some(stream), None).unwrap_err();
        let named = error.text.contains("ranks 0 and 1 disagree") || error.text.contains("has aborted");
        assert!(named, "{error}");
    }
}

#[test]
fn what_cannot_be() {
    own_process!("RTCG_LIBCUDA" = "none", "RTCG_VIRTUAL_DEVICES" = "2");
    let contexts = two_contexts();
    let twice = Communicator::init_all(&[contexts[0].clone(), contexts[0].clone()]).unwrap_err();
    assert!(twice.text.contains("both on device 0"), "{twice}");
    let id = contexts[0].with_current(UniqueId::new).unwrap();
    let none = contexts[0].with_current(|| Communicator::new(2, id, 2)).unwrap_err();
    assert!(none.text.contains("no rank 2 of 2"), "{none}");
    let foreign = UniqueId::from_bytes([1; 128]);
    assert_ne!(foreign, id);
    assert_eq!(UniqueId::from_bytes(id.to_bytes()), id);
    let wrong = contexts[0].with_current(|| Communicator::new(1, foreign, 0)).unwrap_err();
    assert_eq!(wrong.code, ncclResult_t::ncclInvalidArgument);
    let memory = contexts[0].with_current(|| NcclMemory::new(100)).unwrap();
    assert!(memory.nbytes() == 100 && memory.address() != 0);
}
