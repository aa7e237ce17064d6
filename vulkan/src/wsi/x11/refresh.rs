// SPDX-License-Identifier: MIT
//! How often the screen is refreshed (RandR).

use std::time::Duration;

use x11rb::connection::RequestConnection as _;
use x11rb::protocol::randr::{self, ConnectionExt as _, ModeInfo};
use x11rb::xcb_ffi::XCBConnection;

/// Where the server does not say.
const DEFAULT: Duration = Duration::from_nanos(1_000_000_000 / 60);

/// The shortest period of the monitors of a root window.
pub(super) fn period(connection: &XCBConnection, root: u32) -> Duration {
    shortest(connection, root).unwrap_or(DEFAULT)
}

fn shortest(connection: &XCBConnection, root: u32) -> Option<Duration> {
    connection
        .extension_information(randr::X11_EXTENSION_NAME)
        .ok()??;
    // The request after next is of version 1.3.
    let version = connection.randr_query_version(1, 3).ok()?.reply().ok()?;
    if (version.major_version, version.minor_version) < (1, 3) {
        return None;
    }
    let resources = connection.randr_get_screen_resources_current(root);
    let resources = resources.ok()?.reply().ok()?;
    let mut periods = Vec::new();
    for crtc in &resources.crtcs {
        let info = connection.randr_get_crtc_info(*crtc, resources.config_timestamp);
        let mode = info.ok()?.reply().ok()?.mode;
        let mut modes = resources.modes.iter();
        periods.extend(modes.find(|info| info.id == mode).and_then(of_mode));
    }
    periods.into_iter().min()
}

/// The period of a mode; nothing for one that means no real screen.
fn of_mode(mode: &ModeInfo) -> Option<Duration> {
    let pixels = u64::from(mode.htotal) * u64::from(mode.vtotal);
    let nanoseconds = (pixels * 1_000_000_000).checked_div(mode.dot_clock.into())?;
    // From 10 to 1000 Hz.
    let real = 1_000_000..=100_000_000;
    real.contains(&nanoseconds)
        .then(|| Duration::from_nanos(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_tells_its_period() {
        let mode = |dot_clock, htotal, vtotal| ModeInfo {
            dot_clock,
            htotal,
            vtotal,
            ..ModeInfo::default()
        };
        // 1920x1080 at 60 Hz, as CTA-861 has it.
        let period = of_mode(&mode(148_500_000, 2200, 1125)).unwrap();
        assert_eq!(period.as_nanos(), 16_666_666);
        assert_eq!(of_mode(&mode(0, 2200, 1125)), None);
        assert_eq!(of_mode(&mode(148_500_000, 1, 1)), None);
    }
}
