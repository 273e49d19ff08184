//! Options of a launch beyond its geometry: the attributes of `cuLaunchKernelEx`.

use rtcg_cuda_sys::*;

/// Extra options of a launch. An option that the device does not support fails the launch; hints (priorities,
/// carve-outs, domains) may be ignored.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct LaunchOptions {
    /// All blocks must be resident at once, so that the grid can synchronise.
    pub cooperative: bool,
    /// Blocks per cluster (compute capability 9.0).
    pub cluster: Option<[u32; 3]>,
    /// A larger cluster size, a multiple of `cluster`, to use where it fits (compute capability 10.0).
    pub preferred_cluster: Option<[u32; 3]>,
    /// How the blocks of a cluster are distributed over multiprocessors.
    pub cluster_scheduling: Option<CUclusterSchedulingPolicy>,
    /// Programmatic dependent launch: the kernel may start while the preceding one in the stream still runs, and waits
    /// for it with `cudaGridDependencySynchronize()` (compute capability 9.0).
    pub programmatic_dependent: bool,
    /// The priority of this kernel instead of its stream's.
    pub priority: Option<i32>,
    /// The domain of memory operations for which this kernel's fences wait (compute capability 9.0).
    pub mem_sync_domain: Option<CUlaunchMemSyncDomain>,
    /// The physical domains of the logical domains default and remote.
    pub mem_sync_domain_map: Option<[u8; 2]>,
    /// Preferred share of the L1 cache to use as shared memory, in percent.
    pub shared_carveout: Option<u32>,
    /// Recorded when all blocks have started or triggered the event.
    pub programmatic_event: Option<CUevent>,
    /// Recorded when all blocks have started.
    pub launch_completion_event: Option<CUevent>,
}

/// The members of the union that `CUlaunchAttribute` holds.
type LaunchAttributeValue = CUlaunchAttributeValue;

impl LaunchOptions {
    /// Each option with the name of its attribute.
    fn named_attributes(&self) -> Vec<(&'static str, CUlaunchAttributeID, LaunchAttributeValue)> {
        let mut attributes = Vec::new();
        let mut add =
            |name, id, value: Option<LaunchAttributeValue>| attributes.extend(value.map(|value| (name, id, value)));
        let flag = |is_set: bool| is_set.then_some(1);
        add(
            "cooperative",
            CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            flag(self.cooperative).map(|cooperative| LaunchAttributeValue { cooperative }),
        );
        let dim =
            |[x, y, z]: [u32; 3]| LaunchAttributeValue { clusterDim: CUlaunchAttributeValue_clusterDim { x, y, z } };
        add("cluster", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, self.cluster.map(dim));
        add("preferred_cluster", CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, self.preferred_cluster.map(dim));
        let policy =
            self.cluster_scheduling.map(|policy| LaunchAttributeValue { clusterSchedulingPolicyPreference: policy });
        add("cluster_scheduling", CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, policy);
        let allowed = flag(self.programmatic_dependent)
            .map(|allowed| LaunchAttributeValue { programmaticStreamSerializationAllowed: allowed });
        add("programmatic_dependent", CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, allowed);
        add("priority", CU_LAUNCH_ATTRIBUTE_PRIORITY, self.priority.map(|priority| LaunchAttributeValue { priority }));
        let domain = self.mem_sync_domain.map(|domain| LaunchAttributeValue { memSyncDomain: domain });
        add("mem_sync_domain", CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, domain);
        let map = self.mem_sync_domain_map.map(|[default_, remote]| LaunchAttributeValue {
            memSyncDomainMap: CUlaunchMemSyncDomainMap { default_, remote },
        });
        add("mem_sync_domain_map", CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, map);
        let carveout = self.shared_carveout.map(|percent| LaunchAttributeValue { sharedMemCarveout: percent });
        add("shared_carveout", CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, carveout);
        let event = self.programmatic_event.map(|event| LaunchAttributeValue {
            programmaticEvent: CUlaunchAttributeValue_programmaticEvent { event, flags: 0, triggerAtBlockStart: 0 },
        });
        add("programmatic_event", CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, event);
        let event = self.launch_completion_event.map(|event| LaunchAttributeValue {
            launchCompletionEvent: CUlaunchAttributeValue_launchCompletionEvent { event, flags: 0 },
        });
        add("launch_completion_event", CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, event);
        attributes
    }

    pub(crate) fn launch_attributes(&self) -> Vec<CUlaunchAttribute> {
        let attribute = |(_, id, value)| CUlaunchAttribute { id, pad: [0; 4], value };
        self.named_attributes().into_iter().map(attribute).collect()
    }

    pub(crate) fn attribute_names(&self) -> Vec<&'static str> {
        self.named_attributes().into_iter().map(|(name, ..)| name).collect()
    }
}
