// SPDX-License-Identifier: MIT
//! Compute pipelines.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use agx_compiler::CompileKey;
use agx_compiler::binary::ShaderBinary;
use ash::vk;
use mesa_nir::{CompilerOptions, ComputeLowering, SpecConstant, SpirvOptions, Stage, spirv_to_nir};

use crate::device::Device;
use crate::error::VkResult;
use crate::object::{self, Object};
use crate::pipeline_layout::PipelineLayout;
use crate::program::Program;
use crate::shader_module::{ShaderModule, Spirv};
use crate::{debug, entry};

static OPTIONS: LazyLock<Arc<CompilerOptions>> =
    LazyLock::new(|| Arc::new(CompilerOptions::apple9()));
static SPIRV: LazyLock<SpirvOptions> = LazyLock::new(SpirvOptions::apple9_compute);

/// A compute pipeline.
pub(crate) struct ComputePipeline {
    /// Its shader.
    pub(crate) program: Arc<Program>,
}

impl Object for ComputePipeline {
    type Handle = vk::Pipeline;
}

fn compile(
    spirv: Spirv<'_>,
    entry_point: &str,
    constants: &[SpecConstant],
    lowering: ComputeLowering,
) -> Result<ShaderBinary, agx_compiler::Error> {
    let shader = spirv_to_nir(
        spirv.words,
        Stage::Compute,
        entry_point,
        constants,
        &SPIRV,
        &OPTIONS,
    )?;
    agx_compiler::compile(shader, &CompileKey { lowering })
}

/// The values that a structure gives to specialisation constants.
///
/// # Safety
/// The structure is valid.
unsafe fn constants(info: &vk::SpecializationInfo<'_>) -> Vec<SpecConstant> {
    // SAFETY: the caller's promise.
    let (entries, data) = unsafe {
        let data: &[u8] = match info.data_size {
            0 => &[],
            size => std::slice::from_raw_parts(info.p_data.cast(), size),
        };
        (entry::slice(info.p_map_entries, info.map_entry_count), data)
    };
    let one = |entry: &vk::SpecializationMapEntry| {
        let start = entry.offset as usize;
        let bytes = data.get(start..start.checked_add(entry.size)?)?;
        let mut value = [0; 8];
        value.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(SpecConstant {
            id: entry.constant_id,
            bits: u64::from_le_bytes(value),
        })
    };
    entries.iter().filter_map(one).collect()
}

/// # Safety
/// The structure is valid.
unsafe fn create(
    device: &Device,
    info: &vk::ComputePipelineCreateInfo<'_>,
) -> VkResult<ComputePipeline> {
    // SAFETY: valid by the specification.
    let (spirv, entry_point, constants, layout) = unsafe {
        let stage = &info.stage;
        let spirv = match object::get_optional::<ShaderModule>(stage.module) {
            Some(module) => module.spirv(),
            None => {
                let inline = entry::find::<vk::ShaderModuleCreateInfo<'_>>(stage.p_next);
                Spirv::of(inline.ok_or(vk::Result::ERROR_UNKNOWN)?)
            }
        };
        let constants = stage.p_specialization_info.as_ref();
        (
            spirv,
            CStr::from_ptr(stage.p_name),
            constants.map_or_else(Vec::new, |constants| self::constants(constants)),
            object::get::<PipelineLayout>(info.layout),
        )
    };
    let lowering = ComputeLowering {
        bindings: layout.describe(),
        robust: true,
        has_base_workgroup: info.flags.contains(vk::PipelineCreateFlags::DISPATCH_BASE),
    };
    let name = entry_point
        .to_str()
        .map_err(|_| vk::Result::ERROR_UNKNOWN)?;
    let binary = compile(spirv, name, &constants, lowering).map_err(|error| {
        debug::error(&format_args!("a compute pipeline: {error}"));
        vk::Result::ERROR_UNKNOWN
    })?;
    let program = Program::upload(&device.gpu, &device.arena, &binary)?;
    Ok(ComputePipeline {
        program: Arc::new(program),
    })
}

/// vkCreateComputePipelines.
pub(crate) unsafe extern "system" fn create_compute_pipelines(
    device: vk::Device,
    _cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    entry::try_guard("vkCreateComputePipelines", || {
        let mut result = Ok(());
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let host = device.allocator(allocator);
            for (at, info) in entry::slice(infos, count).iter().enumerate() {
                let made = create(device, info).and_then(|made| object::create(host, made));
                pipelines.add(at).write(made.unwrap_or_default());
                if let Err(error) = made {
                    result = Err(error);
                }
            }
        }
        result
    })
}

/// vkDestroyPipeline.
pub(crate) unsafe extern "system" fn destroy_pipeline(
    device: vk::Device,
    pipeline: vk::Pipeline,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    entry::guard("vkDestroyPipeline", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            object::destroy::<ComputePipeline>(host, pipeline);
        }
    });
}
