//! Constants of crates that do not know the model of the device agree with it.

use rtcg_vgpu_abi::model::tensor;
use rtcg_vgpu_softmath::matrix;

#[test]
fn facts_about_tensor_cores_are_those_of_the_model() {
    assert_eq!(matrix::HALF_STEP, tensor::HALF_STEP);
    assert_eq!(matrix::TF32_STEP, tensor::TF32_STEP);
    assert_eq!(matrix::WMMA_TF32_STEP, tensor::WMMA_TF32_STEP);
    assert_eq!(matrix::layout::TRANSPOSED_COLUMNS, tensor::TRANSPOSED_COLUMNS);
}
