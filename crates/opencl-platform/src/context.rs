//! Contexts: the devices that a program's objects share.

use crate::completion::in_flight::InFlight;
use crate::error::{ClError, Result, code_of, object_of, refuse};
use crate::info::{Answer, info_function};
use crate::object::{Ref, body, release, resolve, retain};
use crate::platform::device::{DeviceBody, devices_of_list};
use crate::platform::{PlatformBody, devices_of_type};
use rtcg_opencl_sys::*;
use std::sync::{Arc, Mutex, Weak};

pub(crate) struct ContextBody {
    pub(crate) devices: Vec<Ref<DeviceBody>>,
    properties: Vec<cl_context_properties>,
    destructors: Destructors<cl_context>,
    /// What the commands of the context's queues use.
    in_flight: Mutex<Vec<Weak<InFlight>>>,
}

body!(ContextBody: cl_context, b"cont", CL_INVALID_CONTEXT, "context", destructors = take_destructors);

/// A pointer of the user's, handed back as it is.
#[derive(Clone, Copy)]
pub(crate) struct UserData(pub(crate) *mut c_void);

// SAFETY: the pointer is never followed here.
unsafe impl Send for UserData {}
// SAFETY: the pointer is never followed here.
unsafe impl Sync for UserData {}

/// Functions that are called when an object is gone, the last one first.
pub(crate) struct Destructors<H>(Mutex<Vec<(DestructorFunction<H>, UserData)>>);

type DestructorFunction<H> = unsafe extern "C" fn(H, *mut c_void);

impl<H: 'static> Destructors<H> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// # Errors
    /// `CL_INVALID_VALUE` where there is no function.
    pub(crate) fn add(&self, function: Option<DestructorFunction<H>>, user_data: *mut c_void) -> Result<()> {
        let Some(function) = function else { return ClError::value("pfn_notify is null") };
        let mut list = self.0.lock().expect("no panic while destructors are listed");
        list.push((function, UserData(user_data)));
        Ok(())
    }

    /// What [`Body::take_destructors`](crate::object::Body) returns.
    pub(crate) fn take(&mut self) -> Option<Box<dyn FnOnce(H)>>
    where
        H: Copy,
    {
        let list = std::mem::take(self.0.get_mut().expect("no panic while destructors are listed"));
        if list.is_empty() {
            return None;
        }
        let call = move |handle: H| {
            for (function, user_data) in list.into_iter().rev() {
                // SAFETY: the promise of the caller that registered it.
                unsafe { function(handle, user_data.0) };
            }
        };
        Some(Box::new(call))
    }
}

fn take_destructors(context: &mut ContextBody) -> Option<Box<dyn FnOnce(cl_context)>> {
    context.destructors.take()
}

impl ContextBody {
    fn create(devices: Vec<Ref<DeviceBody>>, properties: Vec<cl_context_properties>) -> Result<cl_context> {
        for device in &devices {
            device.cuda_context()?;
        }
        Ok(Ref::new_for_user(Self {
            devices,
            properties,
            destructors: Destructors::new(),
            in_flight: Mutex::new(Vec::new()),
        }))
    }

    /// Refuses a device that the context does not have.
    pub(crate) fn check_device(&self, device: &Ref<DeviceBody>) -> Result<()> {
        if self.devices.iter().any(|own| own.is(device)) {
            return Ok(());
        }
        refuse(CL_INVALID_DEVICE, "device: it is not one of the context's")
    }

    pub(crate) fn remember_in_flight(&self, of_queue: &Arc<InFlight>) {
        self.in_flight.lock().expect("no panic while queues are listed").push(Arc::downgrade(of_queue));
    }

    pub(crate) fn forget_in_flight(&self, of_queue: &Arc<InFlight>) {
        let mut list = self.in_flight.lock().expect("no panic while queues are listed");
        list.retain(|known| !std::ptr::eq(known.as_ptr(), Arc::as_ptr(of_queue)));
    }

    /// What the commands of each queue use.
    pub(crate) fn all_in_flight(&self) -> Vec<Arc<InFlight>> {
        let list = self.in_flight.lock().expect("no panic while queues are listed");
        list.iter().filter_map(Weak::upgrade).collect()
    }

    /// The device whose CUDA context memory is made in.
    pub(crate) fn first_device(&self) -> &Ref<DeviceBody> {
        &self.devices[0]
    }
}

/// A list of pairs that ends with zero, with its end.
///
/// # Safety
/// `list` is null or such a list.
pub(crate) unsafe fn property_list<T: Copy + Default + PartialEq>(list: *const T) -> Vec<T> {
    let mut found = Vec::new();
    if list.is_null() {
        return found;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let mut at = list;
        while *at != T::default() {
            found.extend([*at, *at.add(1)]);
            at = at.add(2);
        }
    }
    found.push(T::default());
    found
}

/// # Safety
/// `list` is null or a list of properties.
unsafe fn checked_properties(list: *const cl_context_properties) -> Result<Vec<cl_context_properties>> {
    // SAFETY: the caller's promise.
    let properties = unsafe { property_list(list) };
    for (place, pair) in properties.chunks_exact(2).enumerate() {
        if properties.chunks_exact(2).take(place).any(|earlier| earlier[0] == pair[0]) {
            return refuse(CL_INVALID_PROPERTY, format!("properties: {:#x} is there twice", pair[0]));
        }
        match pair[0] {
            CL_CONTEXT_PLATFORM => {
                let platform = cl_platform_id(pair[1] as *mut ObjectHead);
                // SAFETY: the caller's promise.
                unsafe { resolve::<PlatformBody>(platform) }?;
            }
            CL_CONTEXT_INTEROP_USER_SYNC => {}
            other => return refuse(CL_INVALID_PROPERTY, format!("properties: {other:#x} is none of a context")),
        }
    }
    Ok(properties)
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateContext(
    properties: *const cl_context_properties,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    pfn_notify: Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_context {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_context::NULL, || {
            check_notify(pfn_notify.is_some(), user_data)?;
            let properties = checked_properties(properties)?;
            let mut list = devices_of_list(num_devices, devices)?;
            let mut seen = std::collections::HashSet::new();
            list.retain(|device| seen.insert(device.handle()));
            ContextBody::create(list, properties)
        })
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clCreateContextFromType(
    properties: *const cl_context_properties,
    device_type: cl_device_type,
    pfn_notify: Option<unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void)>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_context {
    // SAFETY: the caller's promise.
    unsafe {
        object_of(errcode_ret, cl_context::NULL, || {
            check_notify(pfn_notify.is_some(), user_data)?;
            let properties = checked_properties(properties)?;
            match devices_of_type(device_type)? {
                devices if devices.is_empty() => refuse(CL_DEVICE_NOT_FOUND, "device_type: there is no such device"),
                devices => ContextBody::create(devices, properties),
            }
        })
    }
}

fn check_notify(has_function: bool, user_data: *mut c_void) -> Result<()> {
    if !has_function && !user_data.is_null() {
        return ClError::value("user_data is given without pfn_notify");
    }
    Ok(())
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clRetainContext(context: cl_context) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { retain::<ContextBody>(context) })
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clReleaseContext(context: cl_context) -> cl_int {
    // SAFETY: the caller's promise.
    code_of(|| unsafe { release::<ContextBody>(context) })
}

info_function!(clGetContextInfo(cl_context, cl_context_info) of ContextBody = context_info);

fn context_info(context: &Ref<ContextBody>, param_name: cl_context_info, answer: Answer) -> Result<()> {
    match param_name {
        CL_CONTEXT_REFERENCE_COUNT => answer.plain(context.user_count()),
        CL_CONTEXT_NUM_DEVICES => answer.plain(context.devices.len() as cl_uint),
        CL_CONTEXT_DEVICES => answer.slice(&context.devices.iter().map(Ref::handle).collect::<Vec<_>>()),
        CL_CONTEXT_PROPERTIES => answer.slice(&context.properties),
        _ => answer.unknown("context", param_name),
    }
}

/// # Safety
/// As the specification of OpenCL says.
pub(crate) unsafe extern "C" fn clSetContextDestructorCallback(
    context: cl_context,
    pfn_notify: Option<unsafe extern "C" fn(cl_context, *mut c_void)>,
    user_data: *mut c_void,
) -> cl_int {
    code_of(|| {
        // SAFETY: the caller's promise.
        unsafe { resolve::<ContextBody>(context) }?.destructors.add(pfn_notify, user_data)
    })
}
