// SPDX-License-Identifier: MIT
//! The smallest way through the pipeline: the worked programs of isa-3, 6 draw one triangle.

use crate::studio::{Studio, gpu, hex};
use agx_hw::format::Format;
use agx_hw::launcher::Samples;

/// isa-3, 6.1.
const VERTEX: &str = "
    4c dd 10 06  a7 17 54 0a 03 10 ac 20  69 b1 3c 0b 80 00  79 8d 25 8d 00 00  8c 00
    99 b1 24 91 80 00
    09 8d 25 93 41 00 00 00  57 16 54 00 00 40 00 00  19 8f 25 93 41 00 00 04  57 26 54 02 20 40 00 00
    29 91 25 93 41 00 00 08  57 46 54 04 40 40 00 00  39 93 25 93 41 00 00 0c  57 86 54 06 60 40 00 00
    4b 8d 26 91 42 08 00 10 00 00  57 06 55 08 80 40 00 00
    5b 8f 26 91 42 08 00 14 00 00  57 06 56 0a a0 40 00 00
    6b 91 26 91 42 08 00 00 00 00  57 16 54 0c c0 40 00 00
    7b 93 26 91 42 08 00 04 00 00  57 26 54 0e e0 40 00 00
    0e 00 00 00";

/// isa-3, 6.2.
const FRAGMENT: &str = "
    87 02 54 00 06 00  87 02 54 0c 08 00
    2f 05 54 00 03 00 00 02 10 00  af 00 54 02 03 00 10 48 20 00
    2f 05 54 04 03 02 00 02 10 00  2f 05 54 06 03 04 00 02 10 00
    2f 05 54 08 03 06 00 02 10 00  2f 05 54 0a 03 08 00 02 10 00
    69 05 2f 83 00 01 00 00  79 07 2f 83 00 02 00 00  89 09 2f 83 00 03 00 00  99 0b 3f 03 00 04 00 00
    97 04 54 14 02 18 38 50 44 c2  97 04 54 15 02 20 48 50 44 c2
    bc 01  e7 16 54 14 00 00 16 4e 08 00 00 08  07 02 54 0c 02 00  0e 00 00 00";

#[test]
fn the_worked_programs_draw_a_triangle() {
    let mut studio = Studio::new([64, 64], Samples::One, 4);
    let image = studio.image(Format::from_name("R8G8B8A8_UNORM").unwrap());
    studio.tile_programs(&[0xff00_4000], &[(&image, 0)]);
    let vertex = studio.code(&hex(VERTEX));
    let fragment = studio.code(&hex(FRAGMENT));
    let setup = studio.setup(vertex, fragment, 0, 4);
    studio.draw(&setup);
    if let Err(fault) = studio.render(&gpu(1)) {
        panic!("{fault}");
    }
    // Vertices (-1, 1), (0, 0), (1, 1): below the lines from the middle to the lower corners.
    let mut drawn = 0;
    for y in 0..64 {
        for x in 0..64 {
            let pixel = studio.pixel(&image, x, y);
            // Window: (0, 64), (32, 32), (64, 64).
            let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
            // The left edge owns what lies on it, the right one does not.
            let inside = py >= 64.0 - px && py > px;
            if !inside {
                assert_eq!(pixel, 0xff00_4000, "{x} {y}");
                continue;
            }
            drawn += 1;
            // Red is the position's x, green its y where clamped to 0..1.
            let unorm = |value: f64| (value.clamp(0.0, 1.0) * 255.0).round() as u32;
            let expected = [unorm(px / 32.0 - 1.0), unorm(py / 32.0 - 1.0), 0, 255];
            for (channel, expected) in expected.into_iter().enumerate() {
                let value = pixel >> (8 * channel) & 0xff;
                assert!(
                    value.abs_diff(expected) <= 1,
                    "{x} {y}: {pixel:#x} {expected}"
                );
            }
        }
    }
    assert!(drawn > 900);
}
