//! Options of a launch beyond its geometry: the attributes of `cuLaunchKernelEx`.

use rtcg_cuda_sys::*;

/// Extra options of a launch. What a device does not have is an error of the launch; what is
/// mere advice (priorities, carve-outs, domains) a device may ignore.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct LaunchOptions {
    /// All blocks must be resident at once, so that the grid can synchronise.
    pub cooperative: bool,
    /// Blocks per cluster (compute capability 9.0).
    pub cluster: Option<[u32; 3]>,
    /// A larger cluster to use where it fits (compute capability 10.0). A multiple of `cluster`.
    pub preferred_cluster: Option<[u32; 3]>,
    /// How blocks of a cluster are spread over multiprocessors.
    pub cluster_scheduling: Option<CUclusterSchedulingPolicy>,
    /// Programmatic dependent launch: the kernel may start while the one before it in the stream
    /// still runs, and waits for it with `cudaGridDependencySynchronize()` (compute capability 9.0).
    pub programmatic_dependent: bool,
    /// The priority of this kernel instead of its stream's.
    pub priority: Option<i32>,
    /// Which memory operations fences of this kernel wait for (compute capability 9.0).
    pub mem_sync_domain: Option<CUlaunchMemSyncDomain>,
    /// The numbers that the logical domains default and remote stand for.
    pub mem_sync_domain_map: Option<[u8; 2]>,
    /// How much of the first-level cache shall be shared memory, in percent.
    pub shared_carveout: Option<u32>,
    /// Recorded when all blocks have started or triggered it.
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
