//! Cube maps: a direction to a face and a place on it, and adjacent faces across edges.
//!
//! Where two components are equally large, which the guide leaves open, z is taken before y and y
//! before x. The zero vector (and one with a NaN) means the middle of a face.

/// The face that a direction points at, and where, both from 0 to 1.
pub(crate) fn face_of_direction(d: [f32; 3]) -> (u32, [f64; 2]) {
    let [x, y, z] = d.map(|v| if v.is_nan() { 0.0 } else { f64::from(v.clamp(f32::MIN, f32::MAX)) });
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, m, s, t) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, az, x, -y) } else { (5, az, -x, -y) }
    } else if ay >= ax {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if x >= 0.0 {
        (0, ax, -z, -y)
    } else {
        (1, ax, z, -y)
    };
    if m == 0.0 {
        return (face, [0.5; 2]);
    }
    // A little left of the middle is not the middle, though rounding would make it so.
    let place = |c: f64| {
        let v = (c / m + 1.0) / 2.0;
        if c < 0.0 { v.min(0.5_f64.next_down()) } else { v }
    };
    (face, [place(s), place(t)])
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
    let d = direction_on_face(face_idx, place(i), place(j));
    let (face_idx, [s, t]) = face_of_direction(d.map(|v| v as f32));
    let texel = |v: f64| ((v * f64::from(n)) as u32).min(n - 1);
    Some((face_idx, texel(s), texel(t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_directions_hit_face_centers() {
        for (i, d) in
            [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
                .into_iter()
                .enumerate()
        {
            assert_eq!(face_of_direction(d), (i as u32, [0.5, 0.5]));
        }
        assert_eq!(face_of_direction([2.0, -1.0, 0.5]), (0, [0.375, 0.75]));
        let (third, [s, _]) = face_of_direction([-1.0, f32::MIN, 0.0]);
        assert!(third == 3 && s < 0.5);
    }

    #[test]
    fn direction_on_face_inverts_face_of_direction() {
        for f in 0..6 {
            for (s, t) in [(0.25, -0.5), (-0.75, 0.125)] {
                let d = direction_on_face(f, s, t).map(|v| v as f32);
                assert_eq!(face_of_direction(d), (f, [(s + 1.0) / 2.0, (t + 1.0) / 2.0]));
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
