/* The library of builtins, in OpenCL C. Words of the launch record are read as %envreg0, %envreg1, ...: the pass over
   PTX turns them into loads from the kernel's last parameter. The numbers are those of `program/pass.rs`. */



#define RECORD(n) ({ uint word_; __asm__("mov.u32 %0, %%envreg" #n ";" : "=r"(word_)); word_; })

PURE uint get_work_dim(void) { return RECORD(6); }

#define BY_AXIS(name, x, y, z, other) \
    PURE size_t name(uint axis) { return axis == 0 ? (x) : axis == 1 ? (y) : axis == 2 ? (z) : (other); }

#define GROUP_X ((uint)__nvvm_read_ptx_sreg_ctaid_x())
#define GROUP_Y ((uint)__nvvm_read_ptx_sreg_ctaid_y())
#define GROUP_Z ((uint)__nvvm_read_ptx_sreg_ctaid_z())
#define FULL_X ((uint)__nvvm_read_ptx_sreg_ntid_x())
#define FULL_Y ((uint)__nvvm_read_ptx_sreg_ntid_y())
#define FULL_Z ((uint)__nvvm_read_ptx_sreg_ntid_z())
#define ITEM_X ((uint)__nvvm_read_ptx_sreg_tid_x())
#define ITEM_Y ((uint)__nvvm_read_ptx_sreg_tid_y())
#define ITEM_Z ((uint)__nvvm_read_ptx_sreg_tid_z())
#define REST(axis_size, group, full) ((axis_size) - (group) * (full) < (full) ? (axis_size) - (group) * (full) : (full))

BY_AXIS(get_global_id, GROUP_X * FULL_X + ITEM_X + RECORD(0), GROUP_Y * FULL_Y + ITEM_Y + RECORD(1),
        GROUP_Z * FULL_Z + ITEM_Z + RECORD(2), 0)
BY_AXIS(get_global_offset, RECORD(0), RECORD(1), RECORD(2), 0)
BY_AXIS(get_global_size, RECORD(3), RECORD(4), RECORD(5), 1)
BY_AXIS(get_group_id, GROUP_X, GROUP_Y, GROUP_Z, 0)
BY_AXIS(get_local_id, ITEM_X, ITEM_Y, ITEM_Z, 0)
BY_AXIS(get_num_groups, __nvvm_read_ptx_sreg_nctaid_x(), __nvvm_read_ptx_sreg_nctaid_y(),
        __nvvm_read_ptx_sreg_nctaid_z(), 1)
BY_AXIS(get_enqueued_local_size, FULL_X, FULL_Y, FULL_Z, 1)
BY_AXIS(get_local_size, REST(RECORD(3), GROUP_X, FULL_X), REST(RECORD(4), GROUP_Y, FULL_Y),
        REST(RECORD(5), GROUP_Z, FULL_Z), 1)

__attribute__((overloadable, always_inline, convergent)) void barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
BUILTIN void mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
BUILTIN void read_mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }
BUILTIN void write_mem_fence(cl_mem_fence_flags flags) { __nvvm_membar_cta(); }


PURE size_t get_global_linear_id(void) {
    return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + get_global_id(1) - get_global_offset(1))
         * get_global_size(0) + get_global_id(0) - get_global_offset(0);
}
PURE size_t get_local_linear_id(void) { return (ITEM_Z * get_local_size(1) + ITEM_Y) * get_local_size(0) + ITEM_X; }

/* Subgroups are warps: items in the order of the full group. */
#define FULL_ITEM (ITEM_X + FULL_X * (ITEM_Y + FULL_Y * ITEM_Z))
#define FULL_ITEMS (FULL_X * FULL_Y * FULL_Z)
PURE uint get_sub_group_size(void) {
    uint rest = FULL_ITEMS - FULL_ITEM / 32 * 32;
    return rest < 32 ? rest : 32;
}
PURE uint get_max_sub_group_size(void) { return FULL_ITEMS < 32 ? FULL_ITEMS : 32; }
PURE uint get_num_sub_groups(void) { return (FULL_ITEMS + 31) / 32; }
PURE uint get_enqueued_num_sub_groups(void) { return (FULL_ITEMS + 31) / 32; }
PURE uint get_sub_group_id(void) { return FULL_ITEM / 32; }
PURE uint get_sub_group_local_id(void) { return FULL_ITEM % 32; }
CONVERGENT void work_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_sync(0); }
CONVERGENT void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __nvvm_bar_sync(0); }
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags) { __nvvm_bar_warp_sync(-1); }
CONVERGENT void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { __nvvm_bar_warp_sync(-1); }
