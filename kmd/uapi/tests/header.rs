// SPDX-License-Identifier: MIT
//! Sizes, offsets, request numbers and flags against the kernel's own headers, by the C compiler.
//!
//! Needs `drm/asahi_drm.h`, which Linux has since 6.16 (Debian's linux-libc-dev of that version or
//! later), in /usr/include or in the directory that CORTLAND_DRM_HEADERS names. Says so and passes
//! when /usr/include has none; fails when the named directory has none.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agx_uapi::abi::*;

/// Names and values of the headers that are neither structures nor requests.
fn constants() -> Vec<(&'static str, u64)> {
    let mut list = Vec::new();
    let mut add = |name, value: u64| list.push((name, value));
    add("DRM_COMMAND_BASE", ioctl::COMMAND_BASE.into());
    add("DRM_IOCTL_BASE", ioctl::TYPE_DRM.into());
    add("DMA_BUF_BASE", ioctl::TYPE_DMA_BUF.into());
    add("SYNC_IOC_MAGIC", ioctl::TYPE_SYNC_FILE.into());
    add(
        "DRM_ASAHI_FEATURE_SOFT_FAULTS",
        Features::SOFT_FAULTS.bits(),
    );
    add(
        "DRM_ASAHI_FEATURE_FRAGMENT_BARRIER",
        Features::FRAGMENT_BARRIER.bits(),
    );
    add("DRM_ASAHI_GEM_WRITEBACK", GemFlags::WRITEBACK.bits().into());
    add(
        "DRM_ASAHI_GEM_VM_PRIVATE",
        GemFlags::VM_PRIVATE.bits().into(),
    );
    add("DRM_ASAHI_BIND_UNBIND", BindFlags::UNBIND.bits().into());
    add("DRM_ASAHI_BIND_READ", BindFlags::READ.bits().into());
    add("DRM_ASAHI_BIND_WRITE", BindFlags::WRITE.bits().into());
    add(
        "DRM_ASAHI_BIND_SINGLE_PAGE",
        BindFlags::SINGLE_PAGE.bits().into(),
    );
    add("DRM_ASAHI_BIND_OBJECT_OP_BIND", bind_object_op::BIND.into());
    add(
        "DRM_ASAHI_BIND_OBJECT_OP_UNBIND",
        bind_object_op::UNBIND.into(),
    );
    add(
        "DRM_ASAHI_BIND_OBJECT_USAGE_TIMESTAMPS",
        BindObjectFlags::USAGE_TIMESTAMPS.bits().into(),
    );
    add("DRM_ASAHI_CMD_RENDER", cmd_type::RENDER.into());
    add("DRM_ASAHI_CMD_COMPUTE", cmd_type::COMPUTE.into());
    add(
        "DRM_ASAHI_SET_VERTEX_ATTACHMENTS",
        cmd_type::SET_VERTEX_ATTACHMENTS.into(),
    );
    add(
        "DRM_ASAHI_SET_FRAGMENT_ATTACHMENTS",
        cmd_type::SET_FRAGMENT_ATTACHMENTS.into(),
    );
    add(
        "DRM_ASAHI_SET_COMPUTE_ATTACHMENTS",
        cmd_type::SET_COMPUTE_ATTACHMENTS.into(),
    );
    add("DRM_ASAHI_PRIORITY_LOW", priority::LOW.into());
    add("DRM_ASAHI_PRIORITY_MEDIUM", priority::MEDIUM.into());
    add("DRM_ASAHI_PRIORITY_HIGH", priority::HIGH.into());
    add("DRM_ASAHI_PRIORITY_REALTIME", priority::REALTIME.into());
    add("DRM_ASAHI_SYNC_SYNCOBJ", sync_type::SYNCOBJ.into());
    add(
        "DRM_ASAHI_SYNC_TIMELINE_SYNCOBJ",
        sync_type::TIMELINE_SYNCOBJ.into(),
    );
    add("DRM_ASAHI_BARRIER_NONE", BARRIER_NONE.into());
    add(
        "DRM_ASAHI_RENDER_VERTEX_SCRATCH",
        RenderFlags::VERTEX_SCRATCH.bits().into(),
    );
    add(
        "DRM_ASAHI_RENDER_PROCESS_EMPTY_TILES",
        RenderFlags::PROCESS_EMPTY_TILES.bits().into(),
    );
    add(
        "DRM_ASAHI_RENDER_NO_VERTEX_CLUSTERING",
        RenderFlags::NO_VERTEX_CLUSTERING.bits().into(),
    );
    add(
        "DRM_ASAHI_RENDER_VDM_BARRIER_FRAGMENT",
        RenderFlags::VDM_BARRIER_FRAGMENT.bits().into(),
    );
    add(
        "DRM_ASAHI_RENDER_DBIAS_IS_INT",
        RenderFlags::DBIAS_IS_INT.bits().into(),
    );
    add("DRM_RDWR", PrimeFlags::RDWR.bits().into());
    add("DRM_CLOEXEC", PrimeFlags::CLOEXEC.bits().into());
    add(
        "DRM_SYNCOBJ_CREATE_SIGNALED",
        SyncobjCreateFlags::SIGNALED.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE",
        HandleToFdFlags::EXPORT_SYNC_FILE.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_TIMELINE",
        HandleToFdFlags::TIMELINE.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE",
        FdToHandleFlags::IMPORT_SYNC_FILE.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_TIMELINE",
        FdToHandleFlags::TIMELINE.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL",
        SyncobjWaitFlags::ALL.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT",
        SyncobjWaitFlags::FOR_SUBMIT.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE",
        SyncobjWaitFlags::AVAILABLE.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE",
        SyncobjWaitFlags::DEADLINE.bits().into(),
    );
    add(
        "DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED",
        SyncobjQueryFlags::LAST_SUBMITTED.bits().into(),
    );
    add("DMA_BUF_SYNC_READ", DmaBufAccess::READ.bits().into());
    add("DMA_BUF_SYNC_WRITE", DmaBufAccess::WRITE.bits().into());
    list
}

/// Defined by forks for Apple9 and not, or not yet, in Linux (sections 5.1, 11.5).
const NOT_IN_EVERY_HEADER: [&str; 2] = [
    "DRM_ASAHI_FEATURE_FRAGMENT_BARRIER",
    "DRM_ASAHI_RENDER_VDM_BARRIER_FRAGMENT",
];

/// A C expression and the value that this crate gives it.
fn expressions(header: &str) -> Vec<(String, u64)> {
    let mut list = Vec::new();
    for layout in LAYOUTS {
        list.push((
            format!("sizeof(struct {})", layout.name),
            layout.size as u64,
        ));
        for field in layout.fields {
            // The padding of this structure has no name in C; and Rust names are in lower case.
            let name = match (layout.name, field.name) {
                ("drm_version", "pad") => continue,
                (_, "sample_size_b") => "sample_size_B",
                (_, name) => name,
            };
            let member = format!("(struct {}, {name})", layout.name);
            list.push((format!("offsetof{member}"), field.offset as u64));
            let size = format!("sizeof(((struct {} *)0)->{name})", layout.name);
            list.push((size, field.size as u64));
        }
    }
    for (name, request) in ioctl::REQUESTS {
        list.push(((*name).into(), (*request).into()));
    }
    for (name, value) in constants() {
        if !NOT_IN_EVERY_HEADER.contains(&name) || header.contains(name) {
            list.push((name.into(), value));
        }
    }
    list
}

/// Every structure that the header declares is described here.
fn check_complete(header: &str) {
    for line in header.lines() {
        let Some(name) = line
            .strip_prefix("struct ")
            .and_then(|rest| rest.strip_suffix(" {"))
        else {
            continue;
        };
        assert!(
            LAYOUTS.iter().any(|layout| layout.name == name),
            "no layout of struct {name}"
        );
    }
}

/// The values that the C compiler gives the expressions.
fn ask_c(directory: &Path, expressions: &[(String, u64)]) -> Vec<u64> {
    let mut source = String::from(
        "#define _GNU_SOURCE\n#include <fcntl.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         #include <sys/ioctl.h>\n#include <drm/asahi_drm.h>\n#include <linux/dma-buf.h>\n\
         #include <linux/sync_file.h>\n\
         int main(void) {\n",
    );
    for (expression, _) in expressions {
        // Request numbers are enumerators, negative where int has 32 bits; sizes are not.
        writeln!(
            source,
            "printf(\"%llu\\n\", (unsigned long long)(unsigned)({expression}));"
        )
        .expect("strings grow");
    }
    source.push_str("return 0; }\n");

    // Cargo's own directory for this crate's tests.
    let work = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = work.join(format!("header-{}", std::process::id()));
    let file = program.with_extension("c");
    fs::write(&file, source).expect("the target directory is writable");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(&compiler)
        .arg("-I")
        .arg(directory)
        .arg("-o")
        .args([&program, &file])
        .status()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", compiler.display()));
    assert!(
        status.success(),
        "{} refuses {}",
        compiler.display(),
        file.display()
    );
    let output = Command::new(&program)
        .output()
        .expect("the compiled program runs");
    assert!(output.status.success());
    fs::remove_file(&program).expect("it was there");
    fs::remove_file(&file).expect("it was there");
    let text = String::from_utf8(output.stdout).expect("digits");
    text.lines()
        .map(|line| line.parse().expect("a number"))
        .collect()
}

fn main() {
    let named = std::env::var_os("CORTLAND_DRM_HEADERS").map(PathBuf::from);
    let directory = named.clone().unwrap_or_else(|| "/usr/include".into());
    let path = directory.join("drm/asahi_drm.h");
    let header = match fs::read_to_string(&path) {
        Ok(header) => header,
        Err(error) if named.is_none() => {
            println!(
                "header: SKIPPED, nothing compared: {}: {error}. Linux has the header since 6.16; \
                 CORTLAND_DRM_HEADERS may name another include directory.",
                path.display()
            );
            return;
        }
        Err(error) => panic!("CORTLAND_DRM_HEADERS: {}: {error}", path.display()),
    };
    check_complete(&header);
    let expressions = expressions(&header);
    let values = ask_c(&directory, &expressions);
    assert_eq!(values.len(), expressions.len());
    let mut wrong = 0;
    for ((expression, ours), theirs) in expressions.iter().zip(values) {
        if *ours != theirs {
            println!("{expression}: {theirs:#x} in the header, {ours:#x} here");
            wrong += 1;
        }
    }
    assert_eq!(wrong, 0, "values differ from {}", path.display());
    println!(
        "header: {} values equal those of {}",
        expressions.len(),
        path.display()
    );
}
