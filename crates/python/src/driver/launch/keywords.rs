//! The keywords of launches, recognised by address: the interpreter keeps one string of each name.

use crate::driver::event::PyEvent;
use crate::driver::launch::geometry::parse_dimensions;
use crate::errors::OrRaise;
use crate::integer::extract_named_int;
use crate::resource_lifetime::filled_object;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use rtcg::driver::{LaunchOptions, sys};

/// A keyword of a launch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchKeyword {
    Block,
    Grid,
    Stream,
    Shared,
    SharedSize,
    TimeKernel,
    Texrefs,
    Option(LaunchOption),
    Unknown,
}

/// What a launch may wish beyond its geometry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchOption {
    Cooperative,
    Cluster,
    PreferredCluster,
    ClusterScheduling,
    ProgrammaticDependent,
    Priority,
    MemSyncDomain,
    MemSyncDomainMap,
    SharedCarveout,
    ProgrammaticEvent,
    LaunchCompletionEvent,
}

const LAUNCH_KEYWORDS: [(&str, LaunchKeyword); 18] = [
    ("block", LaunchKeyword::Block),
    ("grid", LaunchKeyword::Grid),
    ("stream", LaunchKeyword::Stream),
    ("shared", LaunchKeyword::Shared),
    ("shared_size", LaunchKeyword::SharedSize),
    ("time_kernel", LaunchKeyword::TimeKernel),
    ("texrefs", LaunchKeyword::Texrefs),
    ("cooperative", LaunchKeyword::Option(LaunchOption::Cooperative)),
    ("cluster", LaunchKeyword::Option(LaunchOption::Cluster)),
    ("preferred_cluster", LaunchKeyword::Option(LaunchOption::PreferredCluster)),
    ("cluster_scheduling", LaunchKeyword::Option(LaunchOption::ClusterScheduling)),
    ("programmatic_dependent", LaunchKeyword::Option(LaunchOption::ProgrammaticDependent)),
    ("priority", LaunchKeyword::Option(LaunchOption::Priority)),
    ("mem_sync_domain", LaunchKeyword::Option(LaunchOption::MemSyncDomain)),
    ("mem_sync_domain_map", LaunchKeyword::Option(LaunchOption::MemSyncDomainMap)),
    ("shared_carveout", LaunchKeyword::Option(LaunchOption::SharedCarveout)),
    ("programmatic_event", LaunchKeyword::Option(LaunchOption::ProgrammaticEvent)),
    ("launch_completion_event", LaunchKeyword::Option(LaunchOption::LaunchCompletionEvent)),
];

static INTERNED_KEYWORDS: PyOnceLock<Vec<Py<PyString>>> = PyOnceLock::new();

/// The keyword with this name.
#[inline]
pub(crate) fn keyword_by_name(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<LaunchKeyword> {
    let names = INTERNED_KEYWORDS
        .get_or_init(py, || LAUNCH_KEYWORDS.iter().map(|(name, _)| PyString::intern(py, name).unbind()).collect());
    if let Some(index) = names.iter().position(|known| known.as_ptr() == name.as_ptr()) {
        return Ok(LAUNCH_KEYWORDS[index].1);
    }
    let name: &str = &name.extract::<String>()?;
    Ok(LAUNCH_KEYWORDS.iter().find(|(known, _)| *known == name).map_or(LaunchKeyword::Unknown, |(_, keyword)| *keyword))
}

impl LaunchOption {
    /// Sets the wish; `None` and `False` are no wish.
    pub(crate) fn set_option(self, options: &mut LaunchOptions, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if value.is_none() {
            return Ok(());
        }
        match self {
            Self::Cooperative => options.cooperative = value.is_truthy()?,
            Self::Cluster => options.cluster = Some(parse_dimensions(value, "cluster")?),
            Self::PreferredCluster => options.preferred_cluster = Some(parse_dimensions(value, "preferred_cluster")?),
            Self::ClusterScheduling => {
                options.cluster_scheduling =
                    Some(sys::CUclusterSchedulingPolicy(extract_named_int(value, "cluster_scheduling")?));
            }
            Self::ProgrammaticDependent => options.programmatic_dependent = value.is_truthy()?,
            Self::Priority => options.priority = Some(extract_named_int(value, "priority")?),
            Self::MemSyncDomain => {
                options.mem_sync_domain =
                    Some(sys::CUlaunchMemSyncDomain(extract_named_int(value, "mem_sync_domain")?));
            }
            Self::MemSyncDomainMap => options.mem_sync_domain_map = Some(parse_mem_sync_domain_map(value)?),
            Self::SharedCarveout => options.shared_carveout = Some(extract_named_int(value, "shared_carveout")?),
            Self::ProgrammaticEvent => options.programmatic_event = Some(event_handle(value, "programmatic_event")?),
            Self::LaunchCompletionEvent => {
                options.launch_completion_event = Some(event_handle(value, "launch_completion_event")?);
            }
        }
        Ok(())
    }
}

/// The numbers that the domains default and remote stand for.
fn parse_mem_sync_domain_map(value: &Bound<'_, PyAny>) -> PyResult<[u8; 2]> {
    let items = value.try_iter().and_then(Iterator::collect::<PyResult<Vec<_>>>).unwrap_or_default();
    let [default, remote] = &items[..] else {
        let text = format!("mem_sync_domain_map is {value}; expected two integers, for default and remote");
        return Err(PyTypeError::new_err(text));
    };
    Ok([extract_named_int(default, "mem_sync_domain_map[0]")?, extract_named_int(remote, "mem_sync_domain_map[1]")?])
}

fn event_handle(value: &Bound<'_, PyAny>, name: &str) -> PyResult<sys::CUevent> {
    let event = value.cast::<PyEvent>();
    let event = event.map_err(|_| PyTypeError::new_err(format!("{name} is {value}; expected an Event")))?;
    filled_object(event)?.0.handle_for_launch_attribute().or_raise()
}
