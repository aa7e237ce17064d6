// SPDX-License-Identifier: MIT
//! Every command that the driver has: its name, who may ask for it, and what brings it.
//!
//! The test `commands` compares the table with the registry of the Khronos Group: for the version
//! and the extensions that are advertised it must be complete.

use ash::vk;

use crate::{descriptor, device, instance, pipeline, pipeline_layout, shader_module};

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// As the specification writes it.
    pub name: &'static str,
    /// What it is called on.
    pub level: Level,
    /// What brings it: any of these.
    pub from: &'static [Provider],
    /// The function.
    pub(crate) function: unsafe extern "system" fn(),
}

/// What a command is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// On nothing: before there is an instance.
    Global,
    /// On an instance.
    Instance,
    /// On a physical device.
    PhysicalDevice,
    /// On a device or what it owns.
    Device,
}

/// What brings a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// A version of the core.
    Core(u32),
    /// An extension.
    Extension(&'static str),
}

const V1_0: &[Provider] = &[Provider::Core(vk::API_VERSION_1_0)];
const V1_1: &[Provider] = &[Provider::Core(vk::API_VERSION_1_1)];

/// Forgets a function's type.
const fn erase<F: Copy>(function: F) -> unsafe extern "system" fn() {
    const { assert!(size_of::<F>() == size_of::<unsafe extern "system" fn()>()) };
    // SAFETY: F is a function pointer of the specification; callers get it under the name that
    // tells its type.
    unsafe { std::mem::transmute_copy(&function) }
}

const fn command(
    name: &'static str,
    level: Level,
    from: &'static [Provider],
    function: unsafe extern "system" fn(),
) -> Command {
    Command {
        name,
        level,
        from,
        function,
    }
}

/// All commands, one a line.
#[rustfmt::skip]
pub static COMMANDS: &[Command] = {
    use Level::{Device, Global, Instance, PhysicalDevice};
    &[
        command("vkCreateInstance", Global, V1_0, erase::<vk::PFN_vkCreateInstance>(instance::create_instance)),
        command("vkDestroyInstance", Instance, V1_0, erase::<vk::PFN_vkDestroyInstance>(instance::destroy_instance)),
        command("vkEnumeratePhysicalDevices", Instance, V1_0, erase::<vk::PFN_vkEnumeratePhysicalDevices>(instance::enumerate_physical_devices)),
        command("vkCreateDevice", PhysicalDevice, V1_0, erase::<vk::PFN_vkCreateDevice>(device::create_device)),
        command("vkDestroyDevice", Device, V1_0, erase::<vk::PFN_vkDestroyDevice>(device::destroy_device)),
        // descriptor
        command("vkCreateDescriptorSetLayout", Device, V1_0, erase::<vk::PFN_vkCreateDescriptorSetLayout>(descriptor::create_descriptor_set_layout)),
        command("vkDestroyDescriptorSetLayout", Device, V1_0, erase::<vk::PFN_vkDestroyDescriptorSetLayout>(descriptor::destroy_descriptor_set_layout)),
        command("vkGetDescriptorSetLayoutSupport", Device, V1_1, erase::<vk::PFN_vkGetDescriptorSetLayoutSupport>(descriptor::get_descriptor_set_layout_support)),
        command("vkGetDescriptorSetLayoutSupportKHR", Device, &[Provider::Extension("VK_KHR_maintenance3")], erase::<vk::PFN_vkGetDescriptorSetLayoutSupport>(descriptor::get_descriptor_set_layout_support)),
        command("vkCreateDescriptorPool", Device, V1_0, erase::<vk::PFN_vkCreateDescriptorPool>(descriptor::create_descriptor_pool)),
        command("vkDestroyDescriptorPool", Device, V1_0, erase::<vk::PFN_vkDestroyDescriptorPool>(descriptor::destroy_descriptor_pool)),
        command("vkResetDescriptorPool", Device, V1_0, erase::<vk::PFN_vkResetDescriptorPool>(descriptor::reset_descriptor_pool)),
        command("vkAllocateDescriptorSets", Device, V1_0, erase::<vk::PFN_vkAllocateDescriptorSets>(descriptor::allocate_descriptor_sets)),
        command("vkFreeDescriptorSets", Device, V1_0, erase::<vk::PFN_vkFreeDescriptorSets>(descriptor::free_descriptor_sets)),
        command("vkUpdateDescriptorSets", Device, V1_0, erase::<vk::PFN_vkUpdateDescriptorSets>(descriptor::update_descriptor_sets)),
        command("vkCreateDescriptorUpdateTemplate", Device, V1_1, erase::<vk::PFN_vkCreateDescriptorUpdateTemplate>(descriptor::create_descriptor_update_template)),
        command("vkCreateDescriptorUpdateTemplateKHR", Device, &[Provider::Extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkCreateDescriptorUpdateTemplate>(descriptor::create_descriptor_update_template)),
        command("vkDestroyDescriptorUpdateTemplate", Device, V1_1, erase::<vk::PFN_vkDestroyDescriptorUpdateTemplate>(descriptor::destroy_descriptor_update_template)),
        command("vkDestroyDescriptorUpdateTemplateKHR", Device, &[Provider::Extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkDestroyDescriptorUpdateTemplate>(descriptor::destroy_descriptor_update_template)),
        command("vkUpdateDescriptorSetWithTemplate", Device, V1_1, erase::<vk::PFN_vkUpdateDescriptorSetWithTemplate>(descriptor::update_descriptor_set_with_template)),
        command("vkUpdateDescriptorSetWithTemplateKHR", Device, &[Provider::Extension("VK_KHR_descriptor_update_template")], erase::<vk::PFN_vkUpdateDescriptorSetWithTemplate>(descriptor::update_descriptor_set_with_template)),
        // pipeline_layout
        command("vkCreatePipelineLayout", Device, V1_0, erase::<vk::PFN_vkCreatePipelineLayout>(pipeline_layout::create_pipeline_layout)),
        command("vkDestroyPipelineLayout", Device, V1_0, erase::<vk::PFN_vkDestroyPipelineLayout>(pipeline_layout::destroy_pipeline_layout)),
        // shader_module
        command("vkCreateShaderModule", Device, V1_0, erase::<vk::PFN_vkCreateShaderModule>(shader_module::create_shader_module)),
        command("vkDestroyShaderModule", Device, V1_0, erase::<vk::PFN_vkDestroyShaderModule>(shader_module::destroy_shader_module)),
        command("vkGetShaderModuleIdentifierEXT", Device, &[Provider::Extension("VK_EXT_shader_module_identifier")], erase::<vk::PFN_vkGetShaderModuleIdentifierEXT>(shader_module::get_shader_module_identifier)),
        command("vkGetShaderModuleCreateInfoIdentifierEXT", Device, &[Provider::Extension("VK_EXT_shader_module_identifier")], erase::<vk::PFN_vkGetShaderModuleCreateInfoIdentifierEXT>(shader_module::get_shader_module_create_info_identifier)),
        // pipeline
        command("vkCreateComputePipelines", Device, V1_0, erase::<vk::PFN_vkCreateComputePipelines>(pipeline::create_compute_pipelines)),
        command("vkDestroyPipeline", Device, V1_0, erase::<vk::PFN_vkDestroyPipeline>(pipeline::destroy_pipeline)),
        command("vkCreatePipelineCache", Device, V1_0, erase::<vk::PFN_vkCreatePipelineCache>(pipeline::create_pipeline_cache)),
        command("vkDestroyPipelineCache", Device, V1_0, erase::<vk::PFN_vkDestroyPipelineCache>(pipeline::destroy_pipeline_cache)),
        command("vkGetPipelineCacheData", Device, V1_0, erase::<vk::PFN_vkGetPipelineCacheData>(pipeline::get_pipeline_cache_data)),
        command("vkMergePipelineCaches", Device, V1_0, erase::<vk::PFN_vkMergePipelineCaches>(pipeline::merge_pipeline_caches)),
        command("vkGetPipelineExecutablePropertiesKHR", Device, &[Provider::Extension("VK_KHR_pipeline_executable_properties")], erase::<vk::PFN_vkGetPipelineExecutablePropertiesKHR>(pipeline::get_pipeline_executable_properties)),
        command("vkGetPipelineExecutableStatisticsKHR", Device, &[Provider::Extension("VK_KHR_pipeline_executable_properties")], erase::<vk::PFN_vkGetPipelineExecutableStatisticsKHR>(pipeline::get_pipeline_executable_statistics)),
        command("vkGetPipelineExecutableInternalRepresentationsKHR", Device, &[Provider::Extension("VK_KHR_pipeline_executable_properties")], erase::<vk::PFN_vkGetPipelineExecutableInternalRepresentationsKHR>(pipeline::get_pipeline_executable_internal_representations)),
    ]
};

/// The command of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Command> {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static INDEX: LazyLock<HashMap<&'static str, &'static Command>> = LazyLock::new(|| {
        COMMANDS
            .iter()
            .map(|command| (command.name, command))
            .collect()
    });
    INDEX.get(name).copied()
}
