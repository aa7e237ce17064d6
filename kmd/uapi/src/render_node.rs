// SPDX-License-Identifier: MIT
//! Render nodes of the operating system.

use core::ffi::c_void;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::vec::Vec;

use crate::node::file_ioctl;
use crate::{DriverError, Drm, Errno, Mapping, Node};

/// Where Linux keeps DRM nodes.
const DIRECTORY: &str = "/dev/dri";

/// An open render node. Which driver is behind it only [`DrmKernel`] checks.
#[derive(Debug)]
pub struct DrmNode {
    file: File,
    path: PathBuf,
}

impl DrmNode {
    /// Opens a file for reading and writing; it closes on exec.
    ///
    /// # Errors
    ///
    /// [`OpenError::Permission`] or [`OpenError::Open`].
    pub fn open(path: impl Into<PathBuf>) -> Result<DrmNode, OpenError> {
        let path = path.into();
        match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => Ok(DrmNode { file, path }),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                Err(OpenError::Permission { path })
            }
            Err(error) => Err(OpenError::Open { path, error }),
        }
    }

    /// Where it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsFd for DrmNode {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

// SAFETY: the operating system's kernel does what is asked.
unsafe impl Node for DrmNode {
    unsafe fn ioctl(&self, request: u32, arg: *mut c_void) -> Result<(), Errno> {
        // SAFETY: passed on from the caller.
        unsafe { file_ioctl(self.as_fd(), request, arg) }
    }

    fn mmap(&self, offset: u64, len: usize) -> Result<Mapping, Errno> {
        Mapping::of_file(self, offset, len)
    }
}

/// A GPU of the operating system.
pub type DrmKernel = Drm<DrmNode>;

impl DrmKernel {
    /// Opens the first render node in /dev/dri whose driver is the Asahi driver.
    ///
    /// # Errors
    ///
    /// [`OpenError`], which says for each node why it was not taken.
    pub fn open_first() -> Result<DrmKernel, OpenError> {
        DrmKernel::open_first_in(Path::new(DIRECTORY))
    }

    /// As [`open_first`](Self::open_first), in another directory.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open_first_in(directory: &Path) -> Result<DrmKernel, OpenError> {
        let nodes = render_nodes(directory)?;
        if nodes.is_empty() {
            return Err(OpenError::NoNode {
                directory: directory.into(),
            });
        }
        let mut refused = Vec::new();
        for path in nodes {
            match DrmKernel::open(path) {
                Ok(kernel) => return Ok(kernel),
                Err(error) => refused.push(error),
            }
        }
        Err(OpenError::NoneFits { refused })
    }

    /// Opens a render node of the Asahi driver.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn open(path: impl Into<PathBuf>) -> Result<DrmKernel, OpenError> {
        let node = DrmNode::open(path)?;
        let path = node.path.clone();
        Drm::new(node).map_err(|error| OpenError::Driver { path, error })
    }
}

/// Paths of the render nodes, by ascending number.
fn render_nodes(directory: &Path) -> Result<Vec<PathBuf>, OpenError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(OpenError::Permission {
                path: directory.into(),
            });
        }
        Err(error) => {
            return Err(OpenError::Open {
                path: directory.into(),
                error,
            });
        }
    };
    let mut nodes: Vec<(u32, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let number = entry
                .file_name()
                .to_str()?
                .strip_prefix("renderD")?
                .parse()
                .ok()?;
            Some((number, entry.path()))
        })
        .collect();
    nodes.sort();
    Ok(nodes.into_iter().map(|(_, path)| path).collect())
}

/// Why no GPU was opened.
#[derive(Debug)]
pub enum OpenError {
    /// The directory is missing or has no render node.
    NoNode {
        /// The directory.
        directory: PathBuf,
    },
    /// There are render nodes, and none can be used.
    NoneFits {
        /// Why not, node by node.
        refused: Vec<OpenError>,
    },
    /// The user may not open the file.
    Permission {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be opened for another reason.
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The file is no DRM file, or its driver is another one.
    Driver {
        /// The file.
        path: PathBuf,
        /// Which.
        error: DriverError,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::NoNode { directory } => {
                write!(f, "no DRM render node in {}", directory.display())
            }
            OpenError::NoneFits { refused } => {
                f.write_str("no render node can be used: ")?;
                for (index, error) in refused.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{error}")?;
                }
                Ok(())
            }
            OpenError::Permission { path } => write!(
                f,
                "{}: permission denied (is the user in the group that owns it, often \"render\"?)",
                path.display()
            ),
            OpenError::Open { path, error } => write!(f, "{}: {error}", path.display()),
            OpenError::Driver { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Open { error, .. } => Some(error),
            OpenError::Driver { error, .. } => Some(error),
            OpenError::NoNode { .. }
            | OpenError::NoneFits { .. }
            | OpenError::Permission { .. } => None,
        }
    }
}
