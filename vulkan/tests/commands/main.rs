// SPDX-License-Identifier: MIT
//! What the driver has, against the registry of the Khronos Group: every command and every structure
//! of the versions and extensions that it advertises, and none besides.

mod registry;
mod structures;

use std::collections::{BTreeMap, BTreeSet};

use agx_vulkan::entry::table::{COMMANDS, Command, Level, Provider};
use agx_vulkan::extensions;
use registry::Registry;

/// The newest version that the driver advertises.
const VERSION: (u32, u32) = (1, 3);

/// Names of the extensions that the driver advertises.
fn advertised() -> BTreeSet<&'static str> {
    let all = extensions::INSTANCE.iter().chain(extensions::DEVICE);
    all.map(|extension| extension.name.to_str().expect("names are ASCII"))
        .collect()
}

/// Whether the driver has a version or an extension.
fn has(name: &str) -> bool {
    match name.strip_prefix("VK_VERSION_") {
        Some(version) => {
            let (major, minor) = version.split_once('_').expect("major_minor");
            let number = |digits: &str| digits.parse::<u32>().expect("a number");
            (number(major), number(minor)) <= VERSION
        }
        None => advertised().contains(name),
    }
}

fn name_of(provider: &Provider) -> String {
    match provider {
        Provider::Core(version) => format!(
            "VK_VERSION_{}_{}",
            ash::vk::api_version_major(*version),
            ash::vk::api_version_minor(*version)
        ),
        Provider::Extension(name) => (*name).to_owned(),
    }
}

/// The level that the registry's first parameter tells.
fn level_of(name: &str, first: Option<&str>) -> Level {
    match first {
        Some("VkInstance") => Level::Instance,
        Some("VkPhysicalDevice") => Level::PhysicalDevice,
        Some("VkDevice" | "VkQueue" | "VkCommandBuffer") => Level::Device,
        _ => {
            assert!(
                name.starts_with("vkCreateInstance") || name.starts_with("vkEnumerateInstance"),
                "{name} is called on {first:?}"
            );
            Level::Global
        }
    }
}

#[test]
fn the_table_has_what_is_advertised_and_nothing_else() {
    let registry = Registry::installed();
    let mut faults = Vec::new();
    let mut table: BTreeMap<&str, &Command> = BTreeMap::new();
    for command in COMMANDS {
        if table.insert(command.name, command).is_some() {
            faults.push(format!("{} is there twice", command.name));
        }
    }
    let mut brought: BTreeSet<(String, String)> = BTreeSet::new();
    for (provider, require) in registry.brought(&has) {
        for name in &require.commands {
            brought.insert((name.clone(), provider.clone()));
            let Some(command) = table.get(name.as_str()) else {
                faults.push(format!("{name} ({provider}) is missing"));
                continue;
            };
            let level = level_of(name, registry.commands[name].as_deref());
            if command.level != level {
                let has = command.level;
                faults.push(format!("{name} is {level:?}'s, not {has:?}'s"));
            }
            if !command.from.iter().any(|from| name_of(from) == provider) {
                faults.push(format!("{name} is not said to come from {provider}"));
            }
        }
    }
    for command in COMMANDS {
        assert!(!command.from.is_empty(), "{}", command.name);
        for provider in command.from {
            let provider = name_of(provider);
            let newer = !provider.starts_with("VK_VERSION_")
                && !registry.extensions.contains_key(&provider);
            let known = brought.contains(&(command.name.to_owned(), provider.clone()));
            if !has(&provider) || !known && !newer {
                faults.push(format!("{} does not come from {provider}", command.name));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    // The registry was understood.
    assert!(brought.len() > 200, "only {} commands", brought.len());
}

#[test]
fn extensions_are_of_the_kind_that_they_are_advertised_as_and_have_what_they_need() {
    let registry = Registry::installed();
    let known = registry.extension_names();
    assert!(known.len() > 200, "only {} extensions", known.len());
    // What is part of a version need not be there as an extension, too: newer registries say so themselves.
    let there = |name: &str| {
        let promoted = registry.extensions.get(name);
        has(name) || promoted.is_some_and(|it| it.promoted.as_deref().is_some_and(has))
    };
    let mut newer = Vec::new();
    for (list, of_instance) in [(extensions::INSTANCE, true), (extensions::DEVICE, false)] {
        for extension in list {
            let name = extension.name.to_str().expect("names are ASCII");
            let Some(of) = registry.extensions.get(name) else {
                newer.push(name);
                continue;
            };
            assert_eq!(of.of_instance, of_instance, "{name}");
            assert!(
                registry.holds(&of.depends, &there),
                "{name}: {:?}",
                of.depends
            );
        }
    }
    // Debian 12's registry is of January 2023. A newer one has them all.
    let younger = [
        "VK_KHR_calibrated_timestamps",
        "VK_KHR_dynamic_rendering_local_read",
        "VK_KHR_index_type_uint8",
        "VK_KHR_load_store_op_none",
        "VK_KHR_shader_subgroup_rotate",
        "VK_KHR_vertex_attribute_divisor",
    ];
    newer.retain(|name| !younger.contains(name));
    assert!(newer.is_empty(), "not in the registry: {newer:?}");
}
