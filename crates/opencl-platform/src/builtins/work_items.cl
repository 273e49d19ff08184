/* Ids and sizes (6.15.1), from the launch record. */

PURE uint get_work_dim(void) { return RECORD(27); }

#define BY_AXIS(name, x, y, z, other) \
    PURE size_t name(uint axis) { return axis == 0 ? (x) : axis == 1 ? (y) : axis == 2 ? (z) : (other); }

/* A launch has less than 2^32 items in each dimension; what comes before it is added once. */
BY_AXIS(get_global_id, RECORD_LONG(0) + (GROUP_X * EXTENT_X + ITEM_X), RECORD_LONG(2) + (GROUP_Y * EXTENT_Y + ITEM_Y),
        RECORD_LONG(4) + (GROUP_Z * EXTENT_Z + ITEM_Z), 0)
BY_AXIS(get_global_offset, RECORD_LONG(6), RECORD_LONG(8), RECORD_LONG(10), 0)
BY_AXIS(get_global_size, RECORD_LONG(12), RECORD_LONG(14), RECORD_LONG(16), 1)
BY_AXIS(get_group_id, GROUP_X + RECORD(18), GROUP_Y + RECORD(19), GROUP_Z + RECORD(20), 0)
BY_AXIS(get_local_id, ITEM_X, ITEM_Y, ITEM_Z, 0)
BY_AXIS(get_num_groups, RECORD(21), RECORD(22), RECORD(23), 1)
BY_AXIS(get_enqueued_local_size, RECORD(24), RECORD(25), RECORD(26), 1)
BY_AXIS(get_local_size, EXTENT_X, EXTENT_Y, EXTENT_Z, 1)

__attribute__((overloadable, always_inline, convergent)) void barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
BUILTIN void mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
BUILTIN void read_mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
BUILTIN void write_mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }

PURE size_t get_global_linear_id(void) {
    return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1))
         * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}

/* Subgroups are warps. */
#define AT_MOST_A_WARP(n) ({ uint n_ = (n); n_ < 32 ? n_ : 32; })
PURE size_t get_local_linear_id(void) { return ITEM; }
PURE uint get_sub_group_size(void) { return AT_MOST_A_WARP(ITEMS - ITEM / 32 * 32); }
PURE uint get_max_sub_group_size(void) { return AT_MOST_A_WARP(RECORD(24) * RECORD(25) * RECORD(26)); }
PURE uint get_num_sub_groups(void) { return (ITEMS + 31) / 32; }
PURE uint get_enqueued_num_sub_groups(void) { return (RECORD(24) * RECORD(25) * RECORD(26) + 31) / 32; }
PURE uint get_sub_group_id(void) { return ITEM / 32; }
PURE uint get_sub_group_local_id(void) { return ITEM % 32; }
CONVERGENT void work_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
CONVERGENT void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __nvvm_bar_sync(0); }
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_warp_sync(-1); }
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __nvvm_bar_warp_sync(-1); }
