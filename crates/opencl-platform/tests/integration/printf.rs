//! `printf` where it has what CUDA's does not: bytes, and more than 32 arguments.

use crate::own_process::{is_child, rerun};
use crate::setup::set_up;
use rtcg_opencl_sys::*;

const SOURCE: &str = r#"
    __kernel void print(int a) {
        float16 v = (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        printf("<%hhd|%3hhu|%hhx|%s|%d>\n", a + 300, a + 300, a - 1, "text", a);
        printf("<%v16g|%v16g|%v16g|%v4hhd|%d>\n", v, v + 16, v + 32, (char4)(1, -2, 3, -4), a + 7);
    }"#;

#[test]
fn bytes_and_many_arguments_are_printed() {
    if is_child() {
        let setup = set_up(0);
        let kernel = setup.kernel(setup.build(SOURCE), "print");
        assert_eq!(crate::setup::set(kernel, 0, &0_i32), CL_SUCCESS);
        assert_eq!(setup.launch(kernel, &[1], None), CL_SUCCESS);
        assert_eq!(cl!(clFinish(setup.queue)), CL_SUCCESS);
        return;
    }
    let output = rerun(module_path!(), "bytes_and_many_arguments_are_printed").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let numbers = |from: i32| (from..from + 16).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let many = format!("<{}|{}|{}|1,-2,3,-4|7>\n", numbers(0), numbers(16), numbers(32));
    assert!(text.contains(&format!("<44| 44|ff|text|0>\n{many}")), "{text}");
}
