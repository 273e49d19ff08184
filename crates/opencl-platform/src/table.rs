//! The dispatch table of this platform: which function of the interface is which of ours.

use rtcg_opencl_sys::DispatchTable;

macro_rules! table {
    ($($module:path { $($name:ident)* })*) => {
        static TABLE: DispatchTable = DispatchTable {
            $($($name: Some({ use $module as module; module::$name }),)*)*
            ..crate::unsupported::NOT_OFFERED
        };
    };
}

table! {
    crate::platform {
        clGetPlatformIDs clGetPlatformInfo clGetDeviceIDs clUnloadCompiler clUnloadPlatformCompiler
        clGetExtensionFunctionAddress clGetExtensionFunctionAddressForPlatform
    }
    crate::platform::device {
        clCreateSubDevices clRetainDevice clReleaseDevice clGetDeviceAndHostTimer clGetHostTimer
    }
    crate::platform::device_info { clGetDeviceInfo }
    crate::context {
        clCreateContext clCreateContextFromType clRetainContext clReleaseContext clGetContextInfo
        clSetContextDestructorCallback
    }
    crate::command::queue_functions {
        clCreateCommandQueue clCreateCommandQueueWithProperties clRetainCommandQueue clReleaseCommandQueue
        clGetCommandQueueInfo clSetCommandQueueProperty clFlush clFinish clEnqueueMarker clEnqueueBarrier
        clEnqueueWaitForEvents clEnqueueMarkerWithWaitList clEnqueueBarrierWithWaitList clSetDefaultDeviceCommandQueue
    }
    crate::command::event {
        clWaitForEvents clGetEventInfo clRetainEvent clReleaseEvent clGetEventProfilingInfo clCreateUserEvent
        clSetUserEventStatus clSetEventCallback
    }
    crate::memory { clRetainMemObject clReleaseMemObject clGetMemObjectInfo clSetMemObjectDestructorCallback }
    crate::memory::buffer { clCreateBuffer clCreateBufferWithProperties clCreateSubBuffer }
    crate::memory::transfer {
        clEnqueueReadBuffer clEnqueueWriteBuffer clEnqueueCopyBuffer clEnqueueFillBuffer clEnqueueMigrateMemObjects
    }
    crate::memory::rectangle { clEnqueueReadBufferRect clEnqueueWriteBufferRect clEnqueueCopyBufferRect }
    crate::memory::image {
        clCreateImage clCreateImageWithProperties clCreateImage2D clCreateImage3D clGetSupportedImageFormats
        clGetImageInfo
    }
    crate::memory::image_transfer {
        clEnqueueReadImage clEnqueueWriteImage clEnqueueCopyImage clEnqueueCopyImageToBuffer
        clEnqueueCopyBufferToImage clEnqueueFillImage clEnqueueMapImage
    }
    crate::memory::map { clEnqueueMapBuffer clEnqueueUnmapMemObject }
    crate::memory::svm {
        clSVMAlloc clSVMFree clEnqueueSVMFree clEnqueueSVMMemcpy clEnqueueSVMMemFill clEnqueueSVMMap clEnqueueSVMUnmap
        clEnqueueSVMMigrateMem
    }
    crate::sampler {
        clCreateSampler clCreateSamplerWithProperties clRetainSampler clReleaseSampler clGetSamplerInfo
    }
    crate::program {
        clCreateProgramWithSource clCreateProgramWithBuiltInKernels clCreateProgramWithIL clRetainProgram
        clReleaseProgram clGetProgramInfo clGetProgramBuildInfo clSetProgramReleaseCallback
        clSetProgramSpecializationConstant
    }
    crate::program::binary { clCreateProgramWithBinary }
    crate::program::build { clBuildProgram clCompileProgram clLinkProgram }
    crate::kernel {
        clCreateKernel clCreateKernelsInProgram clCloneKernel clRetainKernel clReleaseKernel clSetKernelArg
        clSetKernelArgSVMPointer clSetKernelExecInfo
    }
    crate::kernel::queries {
        clGetKernelInfo clGetKernelArgInfo clGetKernelWorkGroupInfo clGetKernelSubGroupInfo
        clGetKernelSubGroupInfoKHR
    }
    crate::kernel::launch { clEnqueueNDRangeKernel clEnqueueTask clEnqueueNativeKernel }
    crate::unsupported {
        clCreatePipe clGetPipeInfo clCreateFromGLBuffer clCreateFromGLTexture clCreateFromGLTexture2D
        clCreateFromGLTexture3D clCreateFromGLRenderbuffer
    }
}

/// The dispatch table, for libraries that export the functions by name.
pub fn dispatch_table() -> &'static DispatchTable {
    crate::object::set_table(&TABLE);
    &TABLE
}
