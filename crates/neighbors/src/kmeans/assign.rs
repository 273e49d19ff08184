//! Assigns rows to the nearest centres.

use super::{Centers, Problem};
use crate::kernels::{KMeansSpec, KMeansStep};
use rtcg_array::{GpuArray, array_args, nearest_columns, push_arrays, push_optional};
use rtcg_hal::{DType, DeviceInfo, Result, tunable};

/// Shared memory that the tiles of tensor cores need, and those of warpgroups.
const MIN_SHARED_BYTES: u32 = 66 << 10;
const MIN_GROUP_SHARED_BYTES: u32 = 166 << 10;

/// One of so many rows is looked at again by itself; of more, all rows are.
const FEW_ROWS: usize = 8;

tunable! {
    /// How k-means assigns rows to centres.
    pub(crate) AssignChoice = "kmeans.assign";
    /// `n` rows of `columns` numbers, and `k` centres.
    problem AssignProblem {
        /// The dtype of rows.
        dtype: DType = Exact,
        /// Number of rows.
        n: i64 = PowerOfTwo,
        /// Number of columns.
        columns: i64 = Exact,
        /// Number of centres.
        k: i64 = PowerOfTwo,
    }
    parameters {
        /// `tensor` keeps rows in registers while centres are multiplied by tensor cores, and so does `warpgroup` by those
        /// of compute capability 9.0; `product` is a product of matrices with an arg-min epilogue where the device has
        /// one, `tiles` multiplies by tiles.
        kernel: &'static str = ["warpgroup", "tensor", "product", "tiles"],
    }
    device { compute_capability, shared_bytes }
    require {
        kernel != "warpgroup" || compute_capability == 90 && shared_bytes >= 169984;
        kernel == "product" || kernel == "tiles" || compute_capability >= 80 && shared_bytes >= 67584;
        kernel == "product" || kernel == "tiles" || dtype != DType::F64 && n <= 2147483647;
        kernel == "product" || kernel == "tiles" || columns <= 256 && (dtype == DType::F16 || columns <= 128);
        kernel != "product" || dtype != DType::F64;
    }
    rule assign_rule;
}

fn assign_rule(problem: &AssignProblem, device_info: &DeviceInfo) -> AssignChoice {
    let AssignProblem { dtype, n, columns, .. } = *problem;
    let most = if dtype == DType::F16 { 256 } else { 128 };
    let has_units = !device_info.is_simd_cpu()
        && device_info.compute_capability >= 80
        && device_info.shared_bytes >= MIN_SHARED_BYTES;
    let kernel = match dtype {
        DType::F64 => "tiles",
        _ if has_units && columns <= most && n <= i64::from(i32::MAX) => {
            let is_hopper = device_info.compute_capability == 90 && device_info.shared_bytes >= MIN_GROUP_SHARED_BYTES;
            if is_hopper { "warpgroup" } else { "tensor" }
        }
        _ => "product",
    };
    AssignChoice { kernel }
}

/// Whether a kernel takes centres as tensor cores read them.
pub(super) fn is_tensor(kernel: &str) -> bool {
    matches!(kernel, "tensor" | "warpgroup")
}

pub(super) fn choose_kernel(rows: &GpuArray, k: usize) -> &'static str {
    let [n, columns] = [rows.shape()[0], rows.shape()[1]];
    let problem = AssignProblem { dtype: rows.dtype(), n: n as i64, columns: columns as i64, k: k as i64 };
    let kernel = rows.context().choose::<AssignChoice>(&problem).kernel;
    // Choices are made for similar sizes.
    let spec = KMeansSpec { dtype: rows.dtype(), dimensions: columns, step: KMeansStep::Assign };
    if is_tensor(kernel) && !(spec.has_nearest() && i32::try_from(n).is_ok()) { "product" } else { kernel }
}

impl Problem {
    /// Writes the nearest centre of each row, and how many have another one than before.
    pub(super) fn assign(&self, centers: &Centers, labels: &GpuArray, changed: &GpuArray) -> Result<()> {
        changed.memset_zero()?;
        if is_tensor(self.kernel) {
            return self.assign_by_tensor_cores(centers, labels, changed);
        }
        let is_half = self.rows.dtype() == DType::F16;
        let operand = if is_half { centers.operand.swapaxes(0, 1)? } else { centers.operand.clone() };
        let keys = match self.kernel {
            "product" => nearest_columns(&self.rows, &operand, &centers.bias)?,
            _ => None,
        };
        let Some(keys) = keys else { return self.assign_by_tiles(centers, labels, changed, None) };
        let mut args = array_args(&[labels, changed, &keys])?;
        args.push_u64(self.n() as u64);
        args.push_u32(self.k as u32);
        self.launch(KMeansStep::Labels, self.n(), &args)
    }

    /// Of rows of float32 the products are not exact; those whose nearest centre is not certain are looked at again.
    fn assign_by_tensor_cores(&self, centers: &Centers, labels: &GpuArray, changed: &GpuArray) -> Result<()> {
        let unsure = match self.rows.dtype() {
            DType::F32 => Some(self.empty(&[1 + self.n()], DType::U32)?),
            _ => None,
        };
        let mut args = array_args(&[labels, changed])?;
        if let Some(unsure) = &unsure {
            self.ctx().queue().fill_zero(unsure.first_element_address(), 4)?;
        }
        push_optional(&mut args, unsure.as_ref())?;
        push_arrays(&mut args, &[&self.rows, &centers.operand, &centers.bias])?;
        args.push_u64(self.n() as u64);
        args.push_u32(self.k as u32);
        let row_bytes = self.width() * self.rows.itemsize();
        let is_vector = row_bytes.is_multiple_of(16) && self.rows.first_element_address().is_multiple_of(16);
        let spec = self.spec(KMeansStep::Nearest { is_vector, is_warpgroup: self.kernel == "warpgroup" });
        let multiprocessors = self.ctx().device_info().multiprocessors as usize;
        let blocks = spec.nearest_blocks(self.n(), multiprocessors) as u32;
        self.ctx().launch_grid(&spec, [blocks, 1, 1], [spec.block()[0], 1, 1], spec.nearest_bytes() as u32, &args)?;
        let Some(unsure) = unsure else { return Ok(()) };
        let few = (self.n() / FEW_ROWS) as u32;
        let mut args = array_args(&[labels, changed, &unsure, &self.rows, &centers.centers, &centers.bias])?;
        [few, self.k as u32].iter().for_each(|&n| args.push_u32(n));
        self.launch(KMeansStep::Recheck, 4 * self.n(), &args)?;
        self.assign_by_tiles(centers, labels, changed, Some((&unsure, few)))
    }

    /// If rows are given that are unsure, only if these are more than so many.
    fn assign_by_tiles(
        &self,
        centers: &Centers,
        labels: &GpuArray,
        changed: &GpuArray,
        unsure: Option<(&GpuArray, u32)>,
    ) -> Result<()> {
        let mut args = array_args(&[labels, changed, &self.rows, &centers.centers, &centers.bias])?;
        push_optional(&mut args, unsure.map(|unsure| unsure.0))?;
        args.push_u32(unsure.map_or(0, |unsure| unsure.1));
        args.push_u64(self.n() as u64);
        args.push_u32(self.k as u32);
        self.launch(KMeansStep::Assign, 4 * self.n(), &args)
    }
}
