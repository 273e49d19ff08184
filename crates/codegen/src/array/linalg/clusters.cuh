// The blocks of a cluster (compute capability 9.0) that share a matrix. They store words to each other's shared memory
// asynchronously; the mbarrier of a block counts the bytes, and completes its phase when all that it expects have come.
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

// Makes mbarriers of one arrival, the one that says how many bytes to expect.
__device__ void init_mbarriers(Word *mbarriers, int count)
{
    if (threadIdx.x == 0) {
        for (int mbarrier = 0; mbarrier < count; ++mbarrier)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared_address(mbarriers + mbarrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_barrier();
}

// Arrives at an mbarrier, once a block, and says how many bytes its phase expects.
__device__ void expect_bytes(Word *mbarrier, int bytes)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(shared_address(mbarrier)), "r"(bytes) : "memory");
}

// The offset of the shared memory of another block from that of this one, in the window of the cluster.
__device__ unsigned block_offset(int rank, const Word *mbarrier)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(mbarrier)), "r"(rank));
    return there - shared_address(mbarrier);
}

// Stores a word to where `place` is in the shared memory of a block, this one too, and counts its bytes there.
__device__ void store_async(int rank, void *place, Word word, Word *mbarrier)
{
    unsigned offset = block_offset(rank, mbarrier);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
                 :: "r"(shared_address(place) + offset), "l"(word), "r"(shared_address(mbarrier) + offset) : "memory");
}

// Stores words to where `place` is in the shared memory of each block.
__device__ void store_to_blocks(const void *words, void *place, int count, Word *mbarrier)
{
    for (int e = threadIdx.x; e < CLUSTER * count; e += blockDim.x)
        store_async(e / count, (Word *)place + e % count, ((const Word *)words)[e % count], mbarrier);
}

// Waits until the mbarrier completes a phase; phases count from 0.
__device__ void wait_mbarrier(Word *mbarrier, int phase)
{
    asm volatile("{\n\t.reg .pred done;\nagain%=:\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n\t@!done bra again%=;\n\t}"
                 :: "r"(shared_address(mbarrier)), "r"(phase % 2) : "memory");
}
#else
#define CLUSTER_DIMS
__device__ int cluster_rank() { return 0; }
__device__ void cluster_barrier() {}
#endif
