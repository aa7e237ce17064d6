// SPDX-License-Identifier: MIT
//! Errors, as the kernel numbers them.

use core::fmt;

/// A kernel error number, positive.
///
/// The numbers are those of Linux on every machine that has this GPU; 524 has no name in libc
/// (section 4).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(pub i32);

macro_rules! errnos {
    ($($name:ident = $value:literal, $meaning:literal;)*) => {
        impl Errno {
            $(#[doc = concat!($meaning, ".")] pub const $name: Errno = Errno($value);)*

            /// The symbolic name, when the interface is known to use the number.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            const fn meaning(self) -> &'static str {
                match self.0 {
                    $($value => $meaning,)*
                    _ => "unknown error",
                }
            }
        }
    };
}

errnos! {
    EPERM = 1, "operation not permitted";
    ENOENT = 2, "no such file, ID or handle";
    EINTR = 4, "interrupted by a signal";
    EIO = 5, "input/output error; the device is lost";
    ENXIO = 6, "no such device or address";
    E2BIG = 7, "a record is too long";
    EBADF = 9, "bad file descriptor";
    EAGAIN = 11, "try again";
    ENOMEM = 12, "out of memory";
    EACCES = 13, "permission denied";
    EFAULT = 14, "bad address";
    EBUSY = 16, "still in use";
    EEXIST = 17, "something is already there";
    ENODEV = 19, "no such device";
    ENOTDIR = 20, "not a directory";
    EINVAL = 22, "invalid argument";
    ENFILE = 23, "too many open files in the system";
    EMFILE = 24, "too many open files in the process";
    ENOTTY = 25, "the file does not know this ioctl";
    ENOSPC = 28, "no space left";
    ERANGE = 34, "out of range";
    ENOSYS = 38, "not implemented by this kernel";
    ETIME = 62, "the deadline has passed";
    EOVERFLOW = 75, "a number overflows";
    EOPNOTSUPP = 95, "operation not supported";
    ETIMEDOUT = 110, "the device did not answer in time";
    ECANCELED = 125, "cancelled before it started";
    ENOTSUPP = 524, "operation not supported (number internal to the kernel)";
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({}): {}", self.0, self.meaning()),
            None => write!(f, "{} {}", self.meaning(), self.0),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Errno({})", self.0),
        }
    }
}

impl core::error::Error for Errno {}

#[cfg(feature = "drm")]
impl From<rustix::io::Errno> for Errno {
    fn from(errno: rustix::io::Errno) -> Errno {
        Errno(errno.raw_os_error())
    }
}

#[cfg(feature = "drm")]
impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> std::io::Error {
        std::io::Error::from_raw_os_error(errno.0)
    }
}

#[cfg(all(test, feature = "drm"))]
mod tests {
    use super::Errno;
    use std::string::ToString;

    /// The host's own table is the judge of the numbers it has.
    #[test]
    fn numbers_are_those_of_the_host() {
        use rustix::io::Errno as Host;
        let pairs = [
            (Errno::EPERM, Host::PERM),
            (Errno::ENOENT, Host::NOENT),
            (Errno::EINTR, Host::INTR),
            (Errno::EIO, Host::IO),
            (Errno::ENXIO, Host::NXIO),
            (Errno::E2BIG, Host::TOOBIG),
            (Errno::EBADF, Host::BADF),
            (Errno::EAGAIN, Host::AGAIN),
            (Errno::ENOMEM, Host::NOMEM),
            (Errno::EACCES, Host::ACCESS),
            (Errno::EFAULT, Host::FAULT),
            (Errno::EBUSY, Host::BUSY),
            (Errno::EEXIST, Host::EXIST),
            (Errno::ENODEV, Host::NODEV),
            (Errno::ENOTDIR, Host::NOTDIR),
            (Errno::EINVAL, Host::INVAL),
            (Errno::ENFILE, Host::NFILE),
            (Errno::EMFILE, Host::MFILE),
            (Errno::ENOTTY, Host::NOTTY),
            (Errno::ENOSPC, Host::NOSPC),
            (Errno::ERANGE, Host::RANGE),
            (Errno::ENOSYS, Host::NOSYS),
            (Errno::ETIME, Host::TIME),
            (Errno::EOVERFLOW, Host::OVERFLOW),
            (Errno::EOPNOTSUPP, Host::OPNOTSUPP),
            (Errno::ETIMEDOUT, Host::TIMEDOUT),
            (Errno::ECANCELED, Host::CANCELED),
        ];
        for (ours, host) in pairs {
            assert_eq!(ours, Errno::from(host), "{ours}");
        }
    }

    #[test]
    fn texts_name_the_error() {
        assert_eq!(
            Errno::EEXIST.to_string(),
            "EEXIST (17): something is already there"
        );
        assert!(Errno::ENOTSUPP.to_string().starts_with("ENOTSUPP (524): "));
        assert_eq!(Errno(4000).to_string(), "unknown error 4000");
    }
}
