//! Constants of crates that do not know the model of the device agree with it.

use rtcg_vgpu_abi::model::tensor;
use rtcg_vgpu_softmath::matrix;

#[test]
fn facts_about_tensor_cores_are_those_of_the_model() {
    assert_eq!(matrix::HALF_STEP, tensor::HALF_STEP);
    assert_eq!(matrix::TF32_STEP, tensor::TF32_STEP);
    assert_eq!(matrix::WMMA_TF32_STEP, tensor::WMMA_TF32_STEP);
    assert_eq!(matrix::exact::SUM_FRACTION_BITS, tensor::SUM_FRACTION_BITS);
    assert_eq!(matrix::exact::MIN_EXPONENT, tensor::MIN_EXPONENT);
    assert_eq!(matrix::exact::ZERO_OF_HALF_SUMS, tensor::ZERO_OF_HALF_SUMS);
    assert_eq!(matrix::MIXED_SUM.bits(), tensor::MIXED_SUM_BITS);
    assert_eq!(matrix::DOUBLE_NAN_ORDER, tensor::DOUBLE_NAN_ORDER);
    assert_eq!(matrix::MULTIPLIES_UNSTORED_ZEROS, tensor::MULTIPLIES_UNSTORED_ZEROS);
    assert_eq!(matrix::layout::TRANSPOSED_COLUMNS, tensor::TRANSPOSED_COLUMNS);
}
