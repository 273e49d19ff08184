//! Cube maps: a direction to a face and a place on it, and adjacent faces across edges.
//!
//! The device's compiler divides a direction by its largest component with the approximate reciprocal, so that huge
//! directions become zero, and infinite ones NaN; the texture unit divides no more. Where two components are equally
//! large, z is taken before y and y before x, and NaN is smaller than all.

use super::addressing::flush_subnormal;
use rtcg_vgpu_softmath::interpolator::rcp_ftz;

/// The face that a direction, given as bits, points at, and where, both from 0 to 1.
pub(crate) fn face_of_direction(direction: [u32; 3]) -> (u32, [f64; 2]) {
    let d = direction.map(f32::from_bits);
    // The largest magnitude of those that are numbers.
    let largest = d.iter().fold(f32::NAN, |most, v| most.max(v.abs()));
    let reciprocal = f32::from_bits(rcp_ftz(largest.to_bits()));
    let [x, y, z] = d.map(|v| f64::from(f32::from_bits(flush_subnormal((v * reciprocal).to_bits()))));
    let (face, _, s, t) = major_face([x, y, z]);
    // A little left of the middle is not the middle, though rounding would make it so.
    let place = |c: f64| {
        let c = if c.is_nan() { 0.0 } else { c.clamp(-1.0, 1.0) };
        let v = (c + 1.0) / 2.0;
        if c < 0.0 { v.min(0.5_f64.next_down()) } else { v }
    };
    (face, [place(s), place(t)])
}

/// The face that a direction points at, its largest component and those along the face.
fn major_face(direction: [f64; 3]) -> (u32, f64, f64, f64) {
    let [ax, ay, az] = direction.map(|v| if v.is_nan() { -1.0 } else { v.abs() });
    let axis = if az >= ax && az >= ay { 2 } else { usize::from(ay >= ax) };
    let face = 2 * axis as u32 + u32::from(direction[axis] < 0.0);
    let [largest, s, t] = along_face(face, direction);
    (face, largest, s, t)
}

/// A direction's component towards a face, which is negative behind the middle of the cube, and those along the face.
fn along_face(face: u32, [x, y, z]: [f64; 3]) -> [f64; 3] {
    match face {
        0 => [x, -z, -y],
        1 => [-x, z, -y],
        2 => [y, x, z],
        3 => [-y, x, -z],
        4 => [z, x, -y],
        _ => [-z, -x, -y],
    }
}

/// What the gradient of a direction is along the face that the direction points at, in units of half the face: how far
/// the place moves when the gradient is added to the direction.
pub(crate) fn gradient_on_face(direction: [f32; 3], gradient: [f32; 3]) -> [f32; 3] {
    let from = direction.map(f64::from);
    let to: [f64; 3] = std::array::from_fn(|axis| from[axis] + f64::from(gradient[axis]));
    let (face, largest, s, t) = major_face(from);
    let [moved_largest, moved_s, moved_t] = along_face(face, to);
    [moved_s / moved_largest - s / largest, moved_t / moved_largest - t / largest, 0.0].map(|v| v as f32)
}

/// The direction of a place on a face, given from -1 to 1.
fn direction_on_face(face: u32, s: f64, t: f64) -> [f64; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texel beyond at most one edge of a face of `n` by `n` texels, on the face it belongs to.
/// `None` for one beyond a corner, where there is none.
pub(crate) fn texel_across_cube_edge(face_idx: u32, i: i32, j: i32, n: u32) -> Option<(u32, u32, u32)> {
    let size = n as i32;
    let (out_i, out_j) = (!(0..size).contains(&i), !(0..size).contains(&j));
    if out_i && out_j {
        return None;
    }
    if !out_i && !out_j {
        return Some((face_idx, i as u32, j as u32));
    }
    let place = |k: i32| (2.0 * f64::from(k) + 1.0) / f64::from(n) - 1.0;
    let (face_idx, m, s, t) = major_face(direction_on_face(face_idx, place(i), place(j)));
    let texel = |c: f64| (((c / m + 1.0) / 2.0 * f64::from(n)) as u32).min(n - 1);
    Some((face_idx, texel(s), texel(t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn face(d: [f32; 3]) -> (u32, [f64; 2]) {
        face_of_direction(d.map(f32::to_bits))
    }

    #[test]
    fn axis_directions_hit_face_centers() {
        for (i, d) in
            [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
                .into_iter()
                .enumerate()
        {
            assert_eq!(face(d), (i as u32, [0.5, 0.5]));
        }
        assert_eq!(face([2.0, -1.0, 0.5]), (0, [0.375, 0.75]));
    }

    /// The reciprocal of a huge component is zero, and infinity times zero is no number.
    #[test]
    fn odd_directions_are_divided_as_the_device_does() {
        const INF: f32 = f32::INFINITY;
        const NAN: f32 = f32::NAN;
        for (d, expected) in [
            ([0.0, 0.0, 0.0], (4, [0.5, 0.5])),
            ([INF, -INF, 1.0], (4, [0.5, 0.5])),
            ([1.0, INF, INF], (0, [0.5, 0.5])),
            ([INF, 1.0, 1.0], (4, [0.5, 0.5])),
            ([3e38, 3e38, 1.0], (4, [0.5, 0.5])),
            ([1e-40, 0.0, 0.0], (0, [0.5, 0.5])),
            ([1e-40, 1e-40, 0.0], (2, [1.0, 0.5])),
            ([NAN, 1.0, 1.0], (4, [0.5, 0.0])),
            ([1.0, NAN, 1.0], (4, [1.0, 0.5])),
            ([1.0, 1.0, NAN], (2, [1.0, 0.5])),
            ([NAN, NAN, NAN], (4, [0.5, 0.5])),
        ] {
            assert_eq!(face(d), expected, "{d:?}");
        }
    }

    #[test]
    fn direction_on_face_inverts_face_of_direction() {
        for f in 0..6 {
            for (s, t) in [(0.25, -0.5), (-0.75, 0.125)] {
                let d = direction_on_face(f, s, t).map(|v| v as f32);
                assert_eq!(face(d), (f, [(s + 1.0) / 2.0, (t + 1.0) / 2.0]));
            }
        }
    }

    #[test]
    fn texels_across_cube_edges_lie_on_adjacent_faces() {
        // Left of the front face is the right column of the left face.
        assert_eq!(texel_across_cube_edge(4, -1, 2, 4), Some((1, 3, 2)));
        assert_eq!(texel_across_cube_edge(4, 4, 2, 4), Some((0, 0, 2)));
        assert_eq!(texel_across_cube_edge(4, 1, 1, 4), Some((4, 1, 1)));
        assert_eq!(texel_across_cube_edge(4, -1, -1, 4), None);
    }
}
