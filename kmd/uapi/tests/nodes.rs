// SPDX-License-Identifier: MIT
//! Opening render nodes where there is no GPU: what is said, and that nothing else is taken.

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use agx_uapi::abi::DmaBufAccess;
use agx_uapi::{DriverError, DrmKernel, DrmNode, Errno, Mapping, Node, OpenError, Version};

/// A directory for one test, removed afterwards.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("agx-uapi-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Directory(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_missing_or_empty_directory_has_no_node() {
    let directory = Directory::new("empty");
    // Card nodes and other names are no render nodes.
    for name in ["card0", "renderD", "renderDx", "by-path"] {
        File::create(directory.path().join(name)).unwrap();
    }
    for path in [directory.path(), &directory.path().join("missing")] {
        let error = DrmKernel::open_first_in(path).unwrap_err();
        assert!(
            matches!(&error, OpenError::NoNode { directory } if directory == path),
            "{error}"
        );
        assert_eq!(
            error.to_string(),
            format!("no DRM render node in {}", path.display())
        );
    }
    let file = directory.path().join("card0");
    let error = DrmKernel::open_first_in(&file).unwrap_err();
    assert!(matches!(error, OpenError::Open { .. }), "{error}");
}

#[test]
fn each_node_says_why_it_is_not_taken() {
    let directory = Directory::new("refused");
    symlink("/dev/null", directory.path().join("renderD129")).unwrap();
    symlink("/nowhere/at/all", directory.path().join("renderD1000")).unwrap();
    File::create(directory.path().join("renderD128")).unwrap();
    let error = DrmKernel::open_first_in(directory.path()).unwrap_err();
    let OpenError::NoneFits { refused } = &error else {
        panic!("{error}")
    };
    // By ascending number, not by name.
    let [plain, null, dangling] = &refused[..] else {
        panic!("{error}")
    };
    for (refused, number) in [(plain, 128), (null, 129)] {
        let OpenError::Driver { path, error } = refused else {
            panic!("{refused}")
        };
        assert_eq!(*path, directory.path().join(format!("renderD{number}")));
        assert_eq!(*error, DriverError::Version(Errno::ENOTTY));
    }
    assert!(matches!(dangling, OpenError::Open { .. }), "{dangling}");
    let text = error.to_string();
    assert!(text.contains("renderD128: not a DRM file; "), "{text}");
    assert!(
        text.contains("renderD1000: No such file or directory"),
        "{text}"
    );
}

#[test]
fn a_file_that_may_not_be_opened() {
    // A read-only kernel setting refuses even root.
    let path = Path::new("/proc/sys/kernel/ostype");
    let error = DrmKernel::open(path).unwrap_err();
    assert!(
        matches!(&error, OpenError::Permission { path: p } if p == path),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with("/proc/sys/kernel/ostype: permission denied (")
    );
}

/// The real ioctl and mmap, on files that refuse them.
#[test]
fn the_operating_system_is_asked() {
    let node = DrmNode::open("/dev/null").unwrap();
    assert_eq!(node.path(), Path::new("/dev/null"));
    assert_eq!(Version::of(&node), Err(Errno::ENOTTY));
    assert_eq!(
        node.mmap(0, 0x4000).map(|mapping| mapping.len()),
        Err(Errno::ENODEV)
    );
    assert_eq!(
        node.mmap(0, 0).map(|mapping| mapping.len()),
        Err(Errno::EINVAL)
    );
    let mut argument = [DmaBufAccess::READ.bits(), 0];
    let request = agx_uapi::abi::ioctl::DMA_BUF_EXPORT_SYNC_FILE;
    // SAFETY: the argument has the eight bytes that the request encodes, and no pointers.
    let result = unsafe { node.dma_buf_ioctl(node.as_fd(), request, argument.as_mut_ptr().cast()) };
    assert_eq!(result, Err(Errno::ENOTTY));
}

/// An ioctl that every Linux answers shows that request and argument arrive: FIONREAD on a pipe.
#[test]
fn requests_reach_the_kernel_and_results_come_back() {
    use std::io::Write;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"seven77").unwrap();
    let node = DrmNode::open(format!(
        "/proc/self/fd/{}",
        std::os::fd::AsRawFd::as_raw_fd(&reader)
    ))
    .unwrap();
    let mut available = 0i32;
    // The generic encoding of x86-64 and aarch64.
    let fionread = 0x541b;
    // SAFETY: FIONREAD writes one int.
    unsafe { node.ioctl(fionread, (&raw mut available).cast()) }.unwrap();
    assert_eq!(available, 7);
}

#[test]
fn mappings_are_shared_and_end() {
    let directory = Directory::new("mapping");
    let path = directory.path().join("memory");
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .unwrap();
    file.set_len(0x2_0000).unwrap();
    // 64 KiB is a multiple of every page size of Linux.
    let first = Mapping::of_file(&file, 0x1_0000, 0x4000).unwrap();
    let second = Mapping::of_file(&file, 0x1_0000, 0x4000).unwrap();
    // SAFETY: both pointers are inside of their mappings, used by this thread only.
    let seen = unsafe {
        first.as_ptr().add(0x123).write_volatile(0x5a);
        second.as_ptr().add(0x123).read_volatile()
    };
    assert_eq!(seen, 0x5a);
    drop(first);
    drop(second);
    assert_eq!(fs::read(&path).unwrap()[0x1_0123], 0x5a);
    assert_eq!(
        Mapping::of_file(&file, 0x123, 0x4000).map(|m| m.len()),
        Err(Errno::EINVAL)
    );
    let file = File::open(&path).unwrap();
    assert_eq!(
        Mapping::of_file(&file, 0, 0x4000).map(|m| m.len()),
        Err(Errno::EACCES)
    );
}
