// The blocks of a cluster (compute capability 9.0) that share a matrix, and messages between them: words are sent to the
// shared memory of other blocks, each of which waits until all bytes of a message that it expects have come.
#if CLUSTER > 1
#define CLUSTER_DIMS __cluster_dims__(CLUSTER, 1, 1)
typedef unsigned long long Word;

__device__ int cluster_rank() { return blockIdx.x % CLUSTER; }
__device__ unsigned shared_address(const void *place) { return (unsigned)__cvta_generic_to_shared(place); }

// Waits for all threads of the cluster.
__device__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Makes places that messages come to.
__device__ void open_mailboxes(Word *boxes, int count)
{
    if (threadIdx.x == 0) {
        for (int box = 0; box < count; ++box)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(boxes + box)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_barrier();
}

// Says how many bytes the next message of a box has, once a block.
__device__ void expect_bytes(Word *box, int bytes)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(box)), "r"(bytes) : "memory");
}

// From an address in the shared memory of this block to the same one of another, in bytes.
__device__ unsigned way_to_block(int rank, const Word *box)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(box)), "r"(rank));
    return there - shared_address(box);
}

// Sends a word to where `place` is in the shared memory of a block, this one too, and counts it there.
__device__ void send_word(int rank, void *place, Word word, Word *box)
{
    unsigned way = way_to_block(rank, box);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
                 :: "r"(shared_address(place) + way), "l"(word), "r"(shared_address(box) + way) : "memory");
}

// Sends words to where `place` is in the shared memory of each block.
__device__ void tell_blocks(const void *words, void *place, int count, Word *box)
{
    for (int e = threadIdx.x; e < CLUSTER * count; e += blockDim.x)
        send_word(e / count, (Word *)place + e % count, ((const Word *)words)[e % count], box);
}

// Waits for the message of a box; `turn` counts its messages from 0.
__device__ void await_message(Word *box, int turn)
{
    asm volatile("{\n\t.reg .pred done;\nagain%=:\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t@!done bra again%=;\n\t}"
                 :: "r"(shared_address(box)), "r"(turn % 2) : "memory");
}
#else
#define CLUSTER_DIMS
__device__ int cluster_rank() { return 0; }
__device__ void cluster_barrier() {}
#endif
