// SPDX-License-Identifier: MIT
//! The library as the loader finds it: its symbols, and its manifest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agx_vulkan::entry::loader;
use ash::vk;
use object::{Object, ObjectSymbol};

/// The library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let name = "libvulkan_cortland.so";
    let places = test.ancestors().skip(1).take(2);
    let mut found = places
        .map(|place| place.join(name))
        .filter(|it| it.exists());
    found.next().expect("the library is beside its test")
}

/// The library is loaded into programs that have symbols of all sorts, Mesa's among them: nothing of
/// its own may take their place.
#[test]
fn only_the_loaders_functions_are_exported() {
    let bytes = std::fs::read(library()).expect("the library can be read");
    let file = object::File::parse(&*bytes).expect("an object file");
    let exported: BTreeSet<_> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| symbol.name().expect("a name"))
        .collect();
    let expected = BTreeSet::from([
        "vk_icdGetInstanceProcAddr",
        "vk_icdGetPhysicalDeviceProcAddr",
        "vk_icdNegotiateLoaderICDInterfaceVersion",
    ]);
    assert_eq!(exported, expected);
}

/// The loader believes the manifest before it opens the library.
#[test]
fn the_manifest_says_the_version_that_the_driver_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cortland_icd.json.in");
    let text = std::fs::read_to_string(path).expect("the template");
    let text = text.replace("@LIBRARY@", "/usr/lib/libvulkan_cortland.so");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let null = vk::Instance::null();
    // SAFETY: no instance, and a valid string.
    let found =
        unsafe { loader::get_instance_proc_addr(null, c"vkEnumerateInstanceVersion".as_ptr()) };
    let found = found.expect("a command of version 1.1");
    // SAFETY: the type of the command of this name.
    let enumerate: vk::PFN_vkEnumerateInstanceVersion = unsafe { std::mem::transmute(found) };
    let mut version = 0;
    // SAFETY: valid usage.
    let result = unsafe { enumerate(&mut version) };
    assert_eq!(result, vk::Result::SUCCESS);
    let version = format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    );
    assert_eq!(manifest["ICD"]["api_version"], version);
    assert_eq!(
        manifest["ICD"]["library_path"],
        "/usr/lib/libvulkan_cortland.so"
    );
}
