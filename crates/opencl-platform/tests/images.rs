//! Images: sampling against a reference, pixels of every format, and the ways between images, buffers and the host.
#![allow(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "calls OpenCL's functions, as programs in C do")]

#[macro_use]
mod setup;

use rtcg_opencl_sys::*;
use setup::{Setup, set, set_up};
use std::ptr::{null, null_mut};

const RGBA_FLOAT: cl_image_format = format(CL_RGBA, CL_FLOAT);

const fn format(order: cl_channel_order, data_type: cl_channel_type) -> cl_image_format {
    cl_image_format { image_channel_order: order, image_channel_data_type: data_type }
}

fn description(kind: cl_mem_object_type, [width, height, depth, layers]: [usize; 4]) -> cl_image_desc {
    cl_image_desc {
        image_type: kind,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: layers,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        mem_object: cl_mem::NULL,
    }
}

fn image<T>(
    setup: &Setup,
    flags: cl_mem_flags,
    format: cl_image_format,
    desc: &cl_image_desc,
    pixels: Option<&[T]>,
) -> Result<cl_mem, cl_int> {
    let mut code = 1;
    let (pointer, copies) =
        pixels.map_or((null_mut(), 0), |pixels| (pixels.as_ptr().cast_mut().cast(), CL_MEM_COPY_HOST_PTR));
    let (format, desc) = (&raw const format, &raw const *desc);
    let made = cl!(clCreateImage(setup.context, flags | copies, format, desc, pointer, &raw mut code));
    if code == CL_SUCCESS { Ok(made) } else { Err(code) }
}

fn read_image<T: Copy + Default>(setup: &Setup, image: cl_mem, at: [usize; 3], region: [usize; 3], n: usize) -> Vec<T> {
    let mut values = vec![T::default(); n];
    let pointer = values.as_mut_ptr().cast();
    let (at, region) = (at.as_ptr(), region.as_ptr());
    let code = cl!(clEnqueueReadImage(setup.queue, image, CL_TRUE, at, region, 0, 0, pointer, 0, null(), null_mut()));
    assert_eq!(code, CL_SUCCESS);
    values
}

/// Numbers between 0 and 1 that look random.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.618_034).fract()).collect()
}

/// The pixel that an index beyond the image stands for; none is the border.
fn addressed(mode: cl_addressing_mode, i: i64, extent: i64) -> Option<i64> {
    match mode {
        CL_ADDRESS_REPEAT => Some(i.rem_euclid(extent)),
        CL_ADDRESS_MIRRORED_REPEAT => {
            let i = i.rem_euclid(2 * extent);
            Some(if i < extent { i } else { 2 * extent - 1 - i })
        }
        CL_ADDRESS_CLAMP_TO_EDGE => Some(i.clamp(0, extent - 1)),
        _ => (0..extent).contains(&i).then_some(i),
    }
}

/// A sample of one channel of a 3D image, in double precision.
fn sampled(
    pixels: &[f32],
    extents: [usize; 3],
    (mode, filter): (cl_addressing_mode, cl_filter_mode),
    at: [f64; 3],
    channel: usize,
) -> f64 {
    let fetch = |index: [i64; 3]| {
        let found: Option<Vec<i64>> = (0..3).map(|k| addressed(mode, index[k], extents[k] as i64)).collect();
        found.map_or(0.0, |i| {
            let pixel = (i[2] as usize * extents[1] + i[1] as usize) * extents[0] + i[0] as usize;
            f64::from(pixels[4 * pixel + channel])
        })
    };
    if filter == CL_FILTER_NEAREST {
        return fetch(at.map(|c| c.floor() as i64));
    }
    (0..8)
        .map(|corner| {
            let mut weight = 1.0;
            let index = [0, 1, 2].map(|k| {
                let (whole, high) = ((at[k] - 0.5).floor(), corner >> k & 1);
                let part = at[k] - 0.5 - whole;
                weight *= if high == 1 { part } else { 1.0 - part };
                whole as i64 + high
            });
            weight * fetch(index)
        })
        .sum()
}

#[test]
fn samples_as_the_specification_says() {
    let setup = set_up(0);
    let program = setup.build(
        "__kernel void f(read_only image3d_t image, sampler_t s, __global const float4 *at, __global float4 *to) {
            to[get_global_id(0)] = read_imagef(image, s, at[get_global_id(0)]);
        }",
    );
    let kernel = setup.kernel(program, "f");
    let extents = [5, 4, 3];
    let pixels = numbers(4 * 5 * 4 * 3);
    let desc = description(CL_MEM_OBJECT_IMAGE3D, [5, 4, 3, 0]);
    let image = image(&setup, CL_MEM_READ_ONLY, RGBA_FLOAT, &desc, Some(&pixels)).unwrap();
    const COUNT: usize = 200;
    let places: Vec<f32> = numbers(4 * COUNT).iter().map(|x| 3.0 * x - 1.0).collect();
    let to = setup.buffer(&vec![0f32; 4 * COUNT]);
    assert_eq!(set(kernel, 0, &image), CL_SUCCESS);
    assert_eq!(set(kernel, 3, &to), CL_SUCCESS);
    let modes = [CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];
    for (mode, filter, normalized) in modes.iter().flat_map(|mode| {
        [CL_FILTER_NEAREST, CL_FILTER_LINEAR].into_iter().flat_map(|f| [(*mode, f, CL_FALSE), (*mode, f, CL_TRUE)])
    }) {
        let mut code = 1;
        let sampler = cl!(clCreateSampler(setup.context, normalized, mode, filter, &raw mut code));
        if normalized == CL_FALSE && [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT].contains(&mode) {
            assert_eq!(code, CL_INVALID_VALUE);
            continue;
        }
        assert_eq!(code, CL_SUCCESS);
        let scale = |k: usize| if k < 3 { extents[k] as f32 } else { 1.0 };
        let given: Vec<f32> =
            places.iter().enumerate().map(|(k, x)| if normalized == CL_TRUE { *x } else { x * scale(k % 4) }).collect();
        let at = setup.buffer(&given);
        assert_eq!(set(kernel, 1, &sampler), CL_SUCCESS);
        assert_eq!(set(kernel, 2, &at), CL_SUCCESS);
        assert_eq!(setup.launch(kernel, &[COUNT], None), CL_SUCCESS);
        let found: Vec<f32> = setup.read(to, 4 * COUNT);
        for (point, place) in given.as_chunks::<4>().0.iter().enumerate() {
            let factor = |k: usize| if normalized == CL_TRUE { extents[k] as f64 } else { 1.0 };
            let at = [0, 1, 2].map(|k| f64::from(place[k]) * factor(k));
            for channel in 0..4 {
                let expected = sampled(&pixels, extents, (mode, filter), at, channel);
                let error = (f64::from(found[4 * point + channel]) - expected).abs();
                assert!(error < 2e-6, "{mode:#x} {filter:#x} {normalized}: {at:?}[{channel}] {error}");
            }
        }
        cl!(clReleaseMemObject(at));
        cl!(clReleaseSampler(sampler));
    }
    for object in [image, to] {
        cl!(clReleaseMemObject(object));
    }
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

/// The library's pixels are those of the host, which writes them for `clEnqueueFillImage`.
#[test]
fn writes_pixels_of_every_format_as_the_host_does() {
    let setup = set_up(0);
    let program = setup.build(
        "#define WRITE(name, T, write) __kernel void name(write_only image2d_t image, __global const T *from) { \\
            int i = get_global_id(0); write(image, (int2)(i, 0), from[i]); }
        WRITE(f, float4, write_imagef) WRITE(i, int4, write_imagei) WRITE(u, uint4, write_imageui)",
    );
    let kernels = ["f", "i", "u"].map(|name| setup.kernel(program, name));
    const COUNT: usize = 16;
    let floats: Vec<u32> = numbers(4 * COUNT).iter().map(|x| (x * 2.4 - 1.2).to_bits()).collect();
    let integers: Vec<u32> = (0..4 * COUNT as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> (i % 31)).collect();
    let buffers = [setup.buffer(&floats), setup.buffer(&integers)];
    let mut formats = vec![cl_image_format::default(); 200];
    let mut count = 0;
    let (flags, list) = (CL_MEM_READ_WRITE, formats.as_mut_ptr());
    let code = cl!(clGetSupportedImageFormats(setup.context, flags, CL_MEM_OBJECT_IMAGE2D, 200, list, &raw mut count));
    assert_eq!(code, CL_SUCCESS);
    formats.truncate(count as usize);
    assert!(formats.contains(&RGBA_FLOAT) && formats.contains(&format(CL_BGRA, CL_UNORM_INT8)));
    for format in formats.into_iter().filter(|format| format.image_channel_order != CL_DEPTH) {
        let kind = match format.image_channel_data_type {
            CL_SIGNED_INT8 | CL_SIGNED_INT16 | CL_SIGNED_INT32 => 1,
            CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32 => 2,
            _ => 0,
        };
        let (kernel, buffer, colors) =
            (kernels[kind], buffers[kind.min(1)], [&floats, &integers][kind.min(1)].as_chunks::<4>().0);
        let desc = description(CL_MEM_OBJECT_IMAGE2D, [COUNT, 1, 0, 0]);
        let [by_kernel, by_host] =
            [(); 2].map(|()| image::<u8>(&setup, CL_MEM_READ_WRITE, format, &desc, None).unwrap());
        assert_eq!(set(kernel, 0, &by_kernel), CL_SUCCESS);
        assert_eq!(set(kernel, 1, &buffer), CL_SUCCESS);
        assert_eq!(setup.launch(kernel, &[COUNT], None), CL_SUCCESS);
        for (i, color) in colors.iter().enumerate() {
            let (at, region, color) = ([i, 0, 0], [1, 1, 1], color.as_ptr().cast());
            let (at, region) = (at.as_ptr(), region.as_ptr());
            let code = cl!(clEnqueueFillImage(setup.queue, by_host, color, at, region, 0, null(), null_mut()));
            assert_eq!(code, CL_SUCCESS);
        }
        let mut pixel = 0usize;
        let pointer = (&raw mut pixel).cast();
        assert_eq!(cl!(clGetImageInfo(by_host, CL_IMAGE_ELEMENT_SIZE, 8, pointer, null_mut())), CL_SUCCESS);
        let read = |image| read_image::<u8>(&setup, image, [0; 3], [COUNT, 1, 1], COUNT * pixel);
        assert_eq!(read(by_kernel), read(by_host), "{format:?}");
        for image in [by_kernel, by_host] {
            cl!(clReleaseMemObject(image));
        }
    }
    for buffer in buffers {
        cl!(clReleaseMemObject(buffer));
    }
    for kernel in kernels {
        cl!(clReleaseKernel(kernel));
    }
    cl!(clReleaseProgram(program));
}

#[test]
fn copies_regions_between_images_buffers_and_the_host() {
    let setup = set_up(0);
    let integers = format(CL_R, CL_SIGNED_INT32);
    // Layers of a 1D array are counted by the second coordinate.
    let pixels: Vec<i32> = (0..24).collect();
    let desc = description(CL_MEM_OBJECT_IMAGE1D_ARRAY, [6, 0, 0, 4]);
    let lines = image(&setup, CL_MEM_READ_WRITE, integers, &desc, Some(&pixels)).unwrap();
    assert_eq!(read_image::<i32>(&setup, lines, [1, 2, 0], [2, 2, 1], 4), [13, 14, 19, 20]);
    let desc = description(CL_MEM_OBJECT_IMAGE3D, [3, 2, 2, 0]);
    let block = image::<i32>(&setup, CL_MEM_READ_WRITE, integers, &desc, None).unwrap();
    let (zero, one) = ([0usize; 3], [0usize, 0, 1]);
    let region = [3usize, 2, 1];
    for (from, to) in [([0usize, 0, 0], zero), ([3, 2, 0], one)] {
        let code = cl!(clEnqueueCopyImage(
            setup.queue,
            lines,
            block,
            from.as_ptr(),
            to.as_ptr(),
            region.as_ptr(),
            0,
            null(),
            null_mut()
        ));
        assert_eq!(code, CL_SUCCESS);
    }
    let expected = [0, 1, 2, 6, 7, 8, 15, 16, 17, 21, 22, 23];
    assert_eq!(read_image::<i32>(&setup, block, [0; 3], [3, 2, 2], 12), expected);
    let buffer = setup.buffer(&[0i32; 8]);
    let (at, region) = ([1usize, 0, 0], [2usize, 2, 2]);
    let (at, region) = (at.as_ptr(), region.as_ptr());
    let refused = cl!(clEnqueueCopyImageToBuffer(setup.queue, block, buffer, at, region, 4, 0, null(), null_mut()));
    assert_eq!(refused, CL_INVALID_VALUE, "it is beyond the buffer");
    let code = cl!(clEnqueueCopyImageToBuffer(setup.queue, block, buffer, at, region, 0, 0, null(), null_mut()));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(setup.read::<i32>(buffer, 8), [1, 2, 7, 8, 16, 17, 22, 23]);
    let code =
        cl!(clEnqueueCopyBufferToImage(setup.queue, buffer, block, 0, zero.as_ptr(), region, 0, null(), null_mut()));
    assert_eq!(code, CL_SUCCESS);
    // What is written through a mapping is in the image.
    let (mut row, mut slice, mut code) = (0, 0, 1);
    let mapped = cl!(clEnqueueMapImage(
        setup.queue,
        block,
        CL_TRUE,
        CL_MAP_READ | CL_MAP_WRITE,
        zero.as_ptr(),
        region,
        &raw mut row,
        &raw mut slice,
        0,
        null(),
        null_mut(),
        &raw mut code
    ));
    assert_eq!(code, CL_SUCCESS);
    unsafe {
        let value = mapped.byte_add(slice + row + 4).cast::<i32>();
        assert_eq!(*value, 23);
        *value = -1;
    }
    assert_eq!(cl!(clEnqueueUnmapMemObject(setup.queue, block, mapped, 0, null(), null_mut())), CL_SUCCESS);
    let expected = [1, 2, 2, 7, 8, 8, 16, 17, 17, 22, -1, 23];
    assert_eq!(read_image::<i32>(&setup, block, [0; 3], [3, 2, 2], 12), expected);
    for object in [lines, block, buffer] {
        assert_eq!(cl!(clReleaseMemObject(object)), CL_SUCCESS);
    }
}

#[test]
fn writes_into_the_buffer_of_an_image() {
    let setup = set_up(0);
    let program = setup.build(
        "__kernel void f(read_only image1d_buffer_t from, write_only image2d_t to) {
            int i = get_global_id(0);
            write_imageui(to, (int2)(i % 4, i / 4), read_imageui(from, i) + (uint)get_image_width(from));
        }",
    );
    let kernel = setup.kernel(program, "f");
    let (from, to) = (setup.buffer(&[1u32, 2, 3, 4, 5, 6, 7, 8]), setup.buffer(&[0u32; 12]));
    let number = format(CL_R, CL_UNSIGNED_INT32);
    let of = |kind, extents, mem_object, image_row_pitch| {
        let desc = cl_image_desc { mem_object, image_row_pitch, ..description(kind, extents) };
        image::<u32>(&setup, 0, number, &desc, None)
    };
    let line = of(CL_MEM_OBJECT_IMAGE1D_BUFFER, [8, 0, 0, 0], from, 0).unwrap();
    assert_eq!(of(CL_MEM_OBJECT_IMAGE2D, [4, 4, 0, 0], to, 0), Err(CL_INVALID_IMAGE_SIZE));
    let plane = of(CL_MEM_OBJECT_IMAGE2D, [4, 2, 0, 0], to, 24).unwrap();
    assert_eq!(set(kernel, 0, &plane), CL_INVALID_MEM_OBJECT, "a 2D image");
    assert_eq!(set(kernel, 0, &from), CL_INVALID_MEM_OBJECT, "a buffer");
    assert_eq!(set(kernel, 0, &line), CL_SUCCESS);
    assert_eq!(set(kernel, 1, &plane), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[8], None), CL_SUCCESS);
    assert_eq!(setup.read::<u32>(to, 12), [9, 10, 11, 12, 0, 0, 13, 14, 15, 16, 0, 0]);
    for object in [line, plane, from, to] {
        assert_eq!(cl!(clReleaseMemObject(object)), CL_SUCCESS);
    }
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn reads_and_writes_depths() {
    let setup = set_up(0);
    let program = setup.build(
        "__kernel void f(read_only image2d_depth_t from, sampler_t s, write_only image2d_depth_t to) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            write_imagef(to, at, read_imagef(from, s, convert_float2(at) + 1.5f) + 0.25f);
        }",
    );
    let kernel = setup.kernel(program, "f");
    let desc = description(CL_MEM_OBJECT_IMAGE2D, [2, 2, 0, 0]);
    let depth = format(CL_DEPTH, CL_FLOAT);
    let from = image(&setup, CL_MEM_READ_ONLY, depth, &desc, Some(&[1f32, 2.0, 3.0, 4.0])).unwrap();
    let to = image::<f32>(&setup, CL_MEM_WRITE_ONLY, depth, &desc, None).unwrap();
    let mut code = 1;
    let (mode, filter) = (CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST);
    let sampler = cl!(clCreateSampler(setup.context, CL_FALSE, mode, filter, &raw mut code));
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(set(kernel, 0, &to), CL_INVALID_ARG_VALUE, "it is only written");
    for (index, object) in [(0, &from), (2, &to)] {
        assert_eq!(set(kernel, index, object), CL_SUCCESS);
    }
    assert_eq!(set(kernel, 1, &sampler), CL_SUCCESS);
    assert_eq!(setup.launch(kernel, &[2, 2], None), CL_SUCCESS);
    assert_eq!(read_image::<f32>(&setup, to, [0; 3], [2, 2, 1], 4), [4.25; 4]);
    for object in [from, to] {
        assert_eq!(cl!(clReleaseMemObject(object)), CL_SUCCESS);
    }
    cl!(clReleaseSampler(sampler));
    cl!(clReleaseKernel(kernel));
    cl!(clReleaseProgram(program));
}

#[test]
fn refuses_images_that_there_are_not() {
    let setup = set_up(0);
    let plane = description(CL_MEM_OBJECT_IMAGE2D, [4, 4, 0, 0]);
    let made = |format, desc: &cl_image_desc| image::<u8>(&setup, CL_MEM_READ_WRITE, format, desc, None);
    assert_eq!(made(format(CL_RGB, CL_FLOAT), &plane), Err(CL_IMAGE_FORMAT_NOT_SUPPORTED));
    assert_eq!(made(format(1, CL_FLOAT), &plane), Err(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
    assert_eq!(made(RGBA_FLOAT, &cl_image_desc { image_width: 0, ..plane }), Err(CL_INVALID_IMAGE_SIZE));
    assert_eq!(made(RGBA_FLOAT, &cl_image_desc { image_row_pitch: 64, ..plane }), Err(CL_INVALID_IMAGE_DESCRIPTOR));
    assert_eq!(made(format(CL_sRGBA, CL_UNORM_INT8), &plane), Err(CL_IMAGE_FORMAT_NOT_SUPPORTED), "kernels only read");
    let read_only = image::<u8>(&setup, CL_MEM_READ_ONLY, format(CL_sRGBA, CL_UNORM_INT8), &plane, None).unwrap();
    assert_eq!(cl!(clReleaseMemObject(read_only)), CL_SUCCESS);
}
