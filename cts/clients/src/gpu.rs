// SPDX-License-Identifier: MIT
//! Instance, device and queue, opened as an application that wants all of compute does.

use std::collections::HashSet;
use std::ffi::CStr;

use anyhow::{Context as _, anyhow, ensure};
use ash::vk;
use cortland_cts::messages::Messages;

use crate::outcome::Skip;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Device extensions that scenarios use where they are offered.
const EXTENSIONS: [&CStr; 23] = [
    ash::ext::multi_draw::NAME,
    ash::khr::push_descriptor::NAME,
    ash::ext::robustness2::NAME,
    ash::khr::external_memory_fd::NAME,
    ash::ext::external_memory_dma_buf::NAME,
    ash::ext::image_drm_format_modifier::NAME,
    ash::khr::external_semaphore_fd::NAME,
    ash::khr::external_fence_fd::NAME,
    ash::khr::pipeline_library::NAME,
    ash::ext::graphics_pipeline_library::NAME,
    ash::ext::calibrated_timestamps::NAME,
    ash::ext::memory_budget::NAME,
    ash::khr::swapchain::NAME,
    ash::khr::swapchain_mutable_format::NAME,
    ash::ext::attachment_feedback_loop_layout::NAME,
    ash::ext::border_color_swizzle::NAME,
    ash::ext::custom_border_color::NAME,
    ash::ext::depth_clip_enable::NAME,
    ash::ext::index_type_uint8::NAME,
    ash::ext::line_rasterization::NAME,
    ash::ext::non_seamless_cube_map::NAME,
    ash::ext::provoking_vertex::NAME,
    ash::ext::vertex_attribute_divisor::NAME,
];

/// Device extensions of an application of an older version, which are parts of version 1.3.
const OLDER: [&CStr; 5] = [
    ash::khr::create_renderpass2::NAME,
    ash::khr::depth_stencil_resolve::NAME,
    ash::khr::dynamic_rendering::NAME,
    ash::ext::extended_dynamic_state::NAME,
    ash::ext::extended_dynamic_state2::NAME,
];

/// Instance extensions that scenarios use where they are offered.
const INSTANCE_EXTENSIONS: [&CStr; 6] = [
    ash::khr::surface::NAME,
    ash::khr::get_surface_capabilities2::NAME,
    ash::khr::xcb_surface::NAME,
    ash::khr::xlib_surface::NAME,
    ash::khr::wayland_surface::NAME,
    ash::ext::headless_surface::NAME,
];

/// How to open the device.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Under the Khronos validation layer.
    pub validation: bool,
    /// Without robustness, as programs that count on speed open it.
    pub unchecked: bool,
    /// As an application of this older version of Vulkan, with extensions in place of what is newer.
    pub older: Option<u32>,
}

/// What the device offers of what scenarios ask for; all of it is enabled.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "the names are those of Vulkan's features")]
pub struct Features {
    pub robust_buffer_access: bool,
    pub robust_buffer_access2: bool,
    pub null_descriptor: bool,
    pub shader_int64: bool,
    pub storage_buffer_array_dynamic_indexing: bool,
    pub storage_buffer_array_non_uniform_indexing: bool,
    pub storage_buffer_update_after_bind: bool,
    pub uniform_buffer_update_after_bind: bool,
    pub update_unused_while_pending: bool,
    pub partially_bound: bool,
    pub variable_descriptor_count: bool,
    pub runtime_descriptor_array: bool,
    pub inline_uniform_block: bool,
    pub scalar_block_layout: bool,
    pub buffer_device_address: bool,
    pub timeline_semaphore: bool,
    pub host_query_reset: bool,
    pub synchronization2: bool,
    pub private_data: bool,
    pub pipeline_creation_cache_control: bool,
    pub maintenance4: bool,
    pub subgroup_size_control: bool,
}

/// An open device.
pub struct Gpu {
    /// The loader.
    pub entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The device's physical one.
    pub physical: vk::PhysicalDevice,
    /// The device.
    pub device: ash::Device,
    /// Its queue.
    pub queue: vk::Queue,
    /// The queue's family.
    pub family: u32,
    /// What the queue can do.
    pub queue_properties: vk::QueueFamilyProperties,
    /// What is enabled.
    pub features: Features,
    /// Limits and names.
    pub properties: vk::PhysicalDeviceProperties,
    /// Memory types and heaps.
    pub memory: vk::PhysicalDeviceMemoryProperties,
    extensions: HashSet<&'static CStr>,
    instance_extensions: HashSet<&'static CStr>,
    options: Options,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    messages: Box<Messages>,
}

impl Gpu {
    /// Opens the first device that the loader finds, with all features that compute can use.
    ///
    /// # Errors
    /// Whatever Vulkan refuses, or that the validation layer is wanted and not installed.
    pub fn open(options: Options) -> anyhow::Result<Gpu> {
        // SAFETY: the system's Vulkan loader is what its name says.
        let entry = unsafe { ash::Entry::load() }.context("the Vulkan loader")?;
        let messages = Box::<Messages>::default();
        let (instance, instance_extensions) = create_instance(&entry, options, &messages)?;
        // SAFETY: from here on, all handles belong to this instance, and every structure lives
        // while its call runs.
        unsafe {
            let physical = instance.enumerate_physical_devices()?;
            let physical = *physical.first().ok_or_else(|| anyhow!("no device"))?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let computes = |family: &vk::QueueFamilyProperties| {
                family.queue_flags.contains(vk::QueueFlags::COMPUTE)
            };
            let family = families.iter().position(computes);
            let family = family.ok_or_else(|| anyhow!("no queue family computes"))?;
            let (device, features, extensions) = match options.older {
                Some(_) => create_older(&instance, physical, family as u32)?,
                None => create_device(&instance, physical, family as u32, options)?,
            };
            let messenger = if options.validation {
                let utils = ash::ext::debug_utils::Instance::new(&entry, &instance);
                let info = messenger_info(&messages);
                let messenger = utils.create_debug_utils_messenger(&info, None)?;
                Some((utils, messenger))
            } else {
                None
            };
            Ok(Gpu {
                queue: device.get_device_queue(family as u32, 0),
                family: family as u32,
                queue_properties: families[family],
                features,
                properties: instance.get_physical_device_properties(physical),
                memory: instance.get_physical_device_memory_properties(physical),
                extensions,
                instance_extensions,
                options,
                messenger,
                messages,
                physical,
                device,
                instance,
                entry,
            })
        }
    }

    /// Opens the device once more, as an application of an older version does.
    ///
    /// # Errors
    /// As [`Gpu::open`].
    pub fn older(&self, version: u32) -> anyhow::Result<Gpu> {
        Gpu::open(Options {
            older: Some(version),
            ..self.options
        })
    }

    /// The version of Vulkan that shaders are for, as glslang names it.
    #[must_use]
    pub fn shader_target(&self) -> &'static str {
        match self.options.older {
            Some(vk::API_VERSION_1_1) => "vulkan1.1",
            Some(vk::API_VERSION_1_2) => "vulkan1.2",
            _ => "vulkan1.3",
        }
    }

    /// The driver's name and version.
    #[must_use]
    pub fn driver(&self) -> String {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: of this instance; the chain is live.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.physical, &mut properties);
        }
        let device = text(self.properties.device_name_as_c_str());
        let name = text(driver.driver_name_as_c_str());
        format!("{name} on {device}")
    }

    /// Whether a device extension is enabled: it is one of those listed and it is offered.
    #[must_use]
    pub fn has(&self, extension: &CStr) -> bool {
        self.extensions.contains(extension)
    }

    /// Ends the scenario as skipped when an extension is not offered.
    ///
    /// # Errors
    /// [`Skip`] with its name.
    pub fn needs(&self, extension: &CStr) -> anyhow::Result<()> {
        require(self.has(extension), &extension.to_string_lossy())
    }

    /// Ends the scenario as skipped when an instance extension is not offered.
    ///
    /// # Errors
    /// [`Skip`] with its name.
    pub fn needs_of_instance(&self, extension: &CStr) -> anyhow::Result<()> {
        let offered = self.instance_extensions.contains(extension);
        require(offered, &extension.to_string_lossy())
    }

    /// What was said since the last call; the driver's and the layer's words while the device is
    /// destroyed are given by [`Gpu::close`].
    #[must_use]
    pub fn take_messages(&self) -> Vec<String> {
        self.messages.take()
    }

    /// Destroys everything; what was said until its end.
    #[must_use]
    pub fn close(self) -> Vec<String> {
        // SAFETY: scopes borrow the device, so nothing of it is left; children go before parents.
        unsafe {
            self.device.destroy_device(None);
            if let Some((utils, messenger)) = self.messenger {
                utils.destroy_debug_utils_messenger(messenger, None);
            }
            // The instance was created with the same messages, for what destroying it says.
            self.instance.destroy_instance(None);
        }
        self.messages.take()
    }
}

/// Ends the scenario as skipped when something is not offered.
///
/// # Errors
/// [`Skip`] with its name.
pub fn require(offered: bool, name: &str) -> anyhow::Result<()> {
    if offered {
        Ok(())
    } else {
        Err(Skip(name.to_owned()).into())
    }
}

fn text<E>(text: Result<&CStr, E>) -> String {
    text.map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn create_instance(
    entry: &ash::Entry,
    options: Options,
    messages: &Messages,
) -> anyhow::Result<(ash::Instance, HashSet<&'static CStr>)> {
    let application = vk::ApplicationInfo::default()
        .application_name(c"cortland-clients")
        .api_version(options.older.unwrap_or(vk::API_VERSION_1_3));
    let mut layers = Vec::new();
    // SAFETY: the entry is loaded.
    let offered = unsafe { entry.enumerate_instance_extension_properties(None) }?;
    let offered: HashSet<&CStr> = offered
        .iter()
        .filter_map(|extension| extension.extension_name_as_c_str().ok())
        .collect();
    let used: HashSet<&'static CStr> = INSTANCE_EXTENSIONS
        .into_iter()
        .filter(|name| offered.contains(name))
        .collect();
    let mut extensions: Vec<_> = used.iter().map(|name| name.as_ptr()).collect();
    let mut messenger = messenger_info(messages);
    let enabled = [
        // Barriers and accesses of commands against each other, too.
        vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION,
    ];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    let mut info = vk::InstanceCreateInfo::default().application_info(&application);
    if options.validation {
        // SAFETY: the entry is loaded.
        let installed = unsafe { entry.enumerate_instance_layer_properties() }?;
        let found = installed
            .iter()
            .any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
        ensure!(
            found,
            "the validation layer (Debian package vulkan-validationlayers) is not installed"
        );
        layers.push(VALIDATION_LAYER.as_ptr());
        extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        extensions.push(ash::ext::validation_features::NAME.as_ptr());
        info = info.push_next(&mut messenger).push_next(&mut features);
    }
    let info = info
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    // SAFETY: the info and what it points to are complete and live during the call.
    let instance = unsafe { entry.create_instance(&info, None) }.context("vkCreateInstance")?;
    Ok((instance, used))
}

fn messenger_info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    use vk::DebugUtilsMessageTypeFlagsEXT as Type;
    messages.messenger(
        Severity::ERROR | Severity::WARNING,
        // Not of performance: what is slow on some devices (general layouts) is not wrong.
        Type::VALIDATION | Type::GENERAL,
    )
}

/// The device with one queue, and every feature and extension that scenarios look at.
///
/// # Safety
/// The handles belong to the instance.
unsafe fn create_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
    options: Options,
) -> anyhow::Result<(ash::Device, Features, HashSet<&'static CStr>)> {
    // SAFETY: of this instance.
    let offered = unsafe { instance.enumerate_device_extension_properties(physical) }?;
    let offered: HashSet<&CStr> = offered
        .iter()
        .filter_map(|extension| extension.extension_name_as_c_str().ok())
        .collect();
    let extensions: HashSet<&'static CStr> = EXTENSIONS
        .into_iter()
        .filter(|name| offered.contains(name))
        .collect();
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut robustness2 = vk::PhysicalDeviceRobustness2FeaturesEXT::default();
    let mut library = vk::PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT::default();
    let mut multi_draw = vk::PhysicalDeviceMultiDrawFeaturesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13);
    if extensions.contains(ash::ext::robustness2::NAME) && !options.unchecked {
        features = features.push_next(&mut robustness2);
    }
    if extensions.contains(ash::ext::graphics_pipeline_library::NAME) {
        features = features.push_next(&mut library);
    }
    if extensions.contains(ash::ext::multi_draw::NAME) {
        features = features.push_next(&mut multi_draw);
    }
    // SAFETY: of this instance; the chain is live. What is offered is then what is asked for.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    let mut of_extensions = ExtensionFeatures::default();
    // SAFETY: of this instance.
    unsafe { of_extensions.ask(instance, physical, &extensions) };
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    if options.unchecked {
        features.features.robust_buffer_access = vk::FALSE;
    }
    let v10 = features.features;
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut features);
    let info = of_extensions.chain(info, &extensions);
    // SAFETY: the info and its chain are complete and live during the call.
    let device =
        unsafe { instance.create_device(physical, &info, None) }.context("vkCreateDevice")?;
    let features = Features {
        robust_buffer_access: on(v10.robust_buffer_access),
        robust_buffer_access2: on(robustness2.robust_buffer_access2),
        null_descriptor: on(robustness2.null_descriptor),
        shader_int64: on(v10.shader_int64),
        storage_buffer_array_dynamic_indexing: on(v10.shader_storage_buffer_array_dynamic_indexing),
        storage_buffer_array_non_uniform_indexing: on(
            v12.shader_storage_buffer_array_non_uniform_indexing
        ),
        storage_buffer_update_after_bind: on(
            v12.descriptor_binding_storage_buffer_update_after_bind
        ),
        uniform_buffer_update_after_bind: on(
            v12.descriptor_binding_uniform_buffer_update_after_bind
        ),
        update_unused_while_pending: on(v12.descriptor_binding_update_unused_while_pending),
        partially_bound: on(v12.descriptor_binding_partially_bound),
        variable_descriptor_count: on(v12.descriptor_binding_variable_descriptor_count),
        runtime_descriptor_array: on(v12.runtime_descriptor_array),
        inline_uniform_block: on(v13.inline_uniform_block),
        scalar_block_layout: on(v12.scalar_block_layout),
        buffer_device_address: on(v12.buffer_device_address),
        timeline_semaphore: on(v12.timeline_semaphore),
        host_query_reset: on(v12.host_query_reset),
        synchronization2: on(v13.synchronization2),
        private_data: on(v13.private_data),
        pipeline_creation_cache_control: on(v13.pipeline_creation_cache_control),
        maintenance4: on(v13.maintenance4),
        subgroup_size_control: on(v13.subgroup_size_control),
    };
    Ok((device, features, extensions))
}

/// The device of an application of an older version.
///
/// # Safety
/// The handles belong to the instance.
unsafe fn create_older(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
) -> anyhow::Result<(ash::Device, Features, HashSet<&'static CStr>)> {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let mut rendering =
        vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
    let mut state =
        vk::PhysicalDeviceExtendedDynamicStateFeaturesEXT::default().extended_dynamic_state(true);
    let mut state2 =
        vk::PhysicalDeviceExtendedDynamicState2FeaturesEXT::default().extended_dynamic_state2(true);
    let names = OLDER.map(CStr::as_ptr);
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut rendering)
        .push_next(&mut state)
        .push_next(&mut state2);
    // SAFETY: the info and its chain are complete and live during the call.
    let device =
        unsafe { instance.create_device(physical, &info, None) }.context("vkCreateDevice")?;
    Ok((device, Features::default(), OLDER.into_iter().collect()))
}

/// Features of extensions of graphics.
macro_rules! extension_features {
    ($($field:ident: $structure:ident of $extension:path),* $(,)?) => {
        #[derive(Default)]
        struct ExtensionFeatures {
            $($field: vk::$structure<'static>,)*
        }

        impl ExtensionFeatures {
            /// Asks for each by itself what is there.
            ///
            /// # Safety
            /// The device is of the instance.
            unsafe fn ask(
                &mut self,
                instance: &ash::Instance,
                physical: vk::PhysicalDevice,
                enabled: &HashSet<&'static CStr>,
            ) {
                $(if enabled.contains($extension) {
                    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut self.$field);
                    // SAFETY: the caller's promise; the chain is live.
                    unsafe { instance.get_physical_device_features2(physical, &mut all) };
                })*
            }

            /// Asks a device that is created for all that is there.
            fn chain<'a>(
                &'a mut self,
                mut info: vk::DeviceCreateInfo<'a>,
                enabled: &HashSet<&'static CStr>,
            ) -> vk::DeviceCreateInfo<'a> {
                $(if enabled.contains($extension) {
                    // What asking linked it to is not what it is to be linked to.
                    self.$field.p_next = std::ptr::null_mut();
                    info = info.push_next(&mut self.$field);
                })*
                info
            }
        }
    };
}

extension_features! {
    feedback: PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT of ash::ext::attachment_feedback_loop_layout::NAME,
    border_swizzle: PhysicalDeviceBorderColorSwizzleFeaturesEXT of ash::ext::border_color_swizzle::NAME,
    border: PhysicalDeviceCustomBorderColorFeaturesEXT of ash::ext::custom_border_color::NAME,
    clip: PhysicalDeviceDepthClipEnableFeaturesEXT of ash::ext::depth_clip_enable::NAME,
    bytes: PhysicalDeviceIndexTypeUint8FeaturesKHR of ash::ext::index_type_uint8::NAME,
    lines: PhysicalDeviceLineRasterizationFeaturesKHR of ash::ext::line_rasterization::NAME,
    cubes: PhysicalDeviceNonSeamlessCubeMapFeaturesEXT of ash::ext::non_seamless_cube_map::NAME,
    provoking: PhysicalDeviceProvokingVertexFeaturesEXT of ash::ext::provoking_vertex::NAME,
    divisors: PhysicalDeviceVertexAttributeDivisorFeaturesKHR of ash::ext::vertex_attribute_divisor::NAME,
}

fn on(flag: vk::Bool32) -> bool {
    flag == vk::TRUE
}
