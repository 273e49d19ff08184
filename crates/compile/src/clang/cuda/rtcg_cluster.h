// Clusters of blocks: places, barriers, shared memory of other blocks. For devices from compute capability 9.0 on.
//
// Sources: CUDA C++ Programming Guide 13.0 (section "Thread Block Clusters"), PTX ISA 8.8, names as in clang's own headers for CUDA.
#pragma once

#if __CUDA_ARCH__ >= 900
extern "C++" {

#define RTCG_CLUSTER_PLACE(name, register) \
    RTCG_DEVICE dim3 name() { \
        dim3 v; \
        asm("mov.u32 %0, %%" register ".x; mov.u32 %1, %%" register ".y; mov.u32 %2, %%" register ".z;" : "=r"(v.x), "=r"(v.y), "=r"(v.z)); \
        return v; \
    }
#define RTCG_CLUSTER_NUMBER(name, register) \
    RTCG_DEVICE unsigned name() { \
        unsigned v; \
        asm("mov.u32 %0, %%" register ";" : "=r"(v)); \
        return v; \
    }
RTCG_CLUSTER_PLACE(__clusterDim, "cluster_nctaid")
RTCG_CLUSTER_PLACE(__clusterRelativeBlockIdx, "cluster_ctaid")
RTCG_CLUSTER_PLACE(__clusterGridDimInClusters, "nclusterid")
RTCG_CLUSTER_PLACE(__clusterIdx, "clusterid")
RTCG_CLUSTER_NUMBER(__clusterRelativeBlockRank, "cluster_ctarank")
RTCG_CLUSTER_NUMBER(__clusterSizeInBlocks, "cluster_nctarank")
#undef RTCG_CLUSTER_PLACE
#undef RTCG_CLUSTER_NUMBER
RTCG_DEVICE unsigned __clusterDimIsSpecified() {
    unsigned is_so;
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is_so));
    return is_so;
}
RTCG_DEVICE void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" : : : "memory"); }
RTCG_DEVICE void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" : : : "memory"); }
RTCG_DEVICE void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" : : : "memory"); }
RTCG_DEVICE void __threadfence_cluster() { asm volatile("fence.acq_rel.cluster;" : : : "memory"); }
RTCG_DEVICE unsigned __isCtaShared(const void *p) { return __isShared(p); }
RTCG_DEVICE unsigned __isClusterShared(const void *p) {
    unsigned is_so;
    asm("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is_so) : "l"(p));
    return is_so;
}
RTCG_DEVICE void *__cluster_map_shared_rank(const void *p, unsigned rank) {
    void *mapped;
    asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(p), "r"(rank));
    return mapped;
}
RTCG_DEVICE unsigned __cluster_query_shared_rank(const void *p) {
    unsigned rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(p));
    return rank;
}
RTCG_DEVICE uint2 __cluster_map_shared_multicast(const void *p, unsigned blocks) { return {(unsigned)__cvta_generic_to_shared(p), blocks}; }
}
#endif
