// SPDX-License-Identifier: MIT
//! Many pipelines, and pipeline caches.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use crate::gpu::require;
use crate::model::to_bytes;
use crate::scenario::Scenario;
use crate::scope::{Kernel, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("pipeline.many", many),
    scenario("pipeline.batch", batch),
    scenario("pipeline.cache", cache),
    scenario("pipeline.cache_corrupt", cache_corrupt),
    scenario("pipeline.cache_control", cache_control),
    scenario("pipeline.derivatives", derivatives),
];

/// Writes what its constant says; one text for any number of different pipelines.
const NUMBERED: &str = "
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint NUMBER = 0;
layout(set = 0, binding = 0) buffer R { uint r[]; };
void main() { r[NUMBER * 32u + gl_LocalInvocationIndex] += NUMBER * 7u + 1u; }
";

/// What create infos of [`NUMBERED`] point to.
struct Numbered {
    kernel: Kernel,
    module: vk::ShaderModule,
    entry: [vk::SpecializationMapEntry; 1],
    numbers: Vec<[u8; 4]>,
}

unsafe fn numbered(s: &Scope<'_>, count: u32) -> anyhow::Result<Numbered> {
    Ok(Numbered {
        kernel: s.kernel(NUMBERED, 1, 0)?,
        module: s.module(NUMBERED)?,
        entry: [vk::SpecializationMapEntry {
            constant_id: 0,
            offset: 0,
            size: 4,
        }],
        numbers: (0..count).map(u32::to_le_bytes).collect(),
    })
}

impl Numbered {
    fn specializations<'a>(&'a self) -> Vec<vk::SpecializationInfo<'a>> {
        let info = |number: &'a [u8; 4]| {
            vk::SpecializationInfo::default()
                .map_entries(&self.entry)
                .data(number)
        };
        self.numbers.iter().map(info).collect()
    }

    fn infos<'a>(
        &self,
        specializations: &'a [vk::SpecializationInfo<'a>],
    ) -> Vec<vk::ComputePipelineCreateInfo<'a>> {
        let info = |specialization: &'a vk::SpecializationInfo<'a>| {
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(self.module)
                .name(c"main")
                .specialization_info(specialization);
            vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(self.kernel.layout)
        };
        specializations.iter().map(info).collect()
    }

    /// Runs pipelines that were made in order, each writing a part of its own. How many runs there
    /// are depends on the driver, so they are not compared between drivers.
    unsafe fn check(
        &self,
        s: &Scope<'_>,
        name: &str,
        pipelines: &[vk::Pipeline],
    ) -> anyhow::Result<()> {
        let numbers: Vec<_> = pipelines.iter().copied().enumerate().collect();
        self.check_some(s, name, &numbers, pipelines.len())
    }

    /// Runs some of the pipelines, given with their numbers, which are less than `count`.
    unsafe fn check_some(
        &self,
        s: &Scope<'_>,
        name: &str,
        pipelines: &[(usize, vk::Pipeline)],
        count: usize,
    ) -> anyhow::Result<()> {
        let buffer = s.buffer(128 * count as u64)?;
        let set = s.bind(&self.kernel, &[&buffer])?;
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let mut expected = vec![0; 32 * count];
        for (number, pipeline) in pipelines {
            expected[32 * number..32 * (number + 1)].fill(*number as u32 * 7 + 1);
            let kernel = Kernel {
                pipeline: *pipeline,
                ..self.kernel
            };
            s.dispatch(commands, &kernel, set, 1);
        }
        s.finish(commands)?;
        s.report.check(name, &buffer.bytes(), &to_bytes(&expected))
    }
}

unsafe fn create(
    s: &Scope<'_>,
    cache: vk::PipelineCache,
    infos: &[vk::ComputePipelineCreateInfo<'_>],
) -> anyhow::Result<Vec<vk::Pipeline>> {
    let created = s.device().create_compute_pipelines(cache, infos, None);
    let pipelines = created.map_err(|(_, error)| error)?;
    for pipeline in &pipelines {
        let pipeline = *pipeline;
        s.at_end(move |device| device.destroy_pipeline(pipeline, None));
    }
    Ok(pipelines)
}

/// Two thousand different pipelines, alive at once, a tenth of which runs.
unsafe fn many(s: &Scope<'_>) -> anyhow::Result<()> {
    let numbered = numbered(s, 2000)?;
    let specializations = numbered.specializations();
    let mut pipelines = Vec::new();
    for info in numbered.infos(&specializations) {
        pipelines.extend(create(s, vk::PipelineCache::null(), &[info])?);
    }
    let chosen: Vec<_> = pipelines.iter().copied().enumerate().step_by(10).collect();
    numbered.check_some(s, "r", &chosen, pipelines.len())
}

unsafe fn batch(s: &Scope<'_>) -> anyhow::Result<()> {
    let numbered = numbered(s, 64)?;
    let specializations = numbered.specializations();
    let infos = numbered.infos(&specializations);
    let pipelines = create(s, vk::PipelineCache::null(), &infos)?;
    numbered.check(s, "r", &pipelines)
}

unsafe fn cache_of(s: &Scope<'_>, data: &[u8]) -> anyhow::Result<vk::PipelineCache> {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    let cache = s.device().create_pipeline_cache(&info, None)?;
    s.at_end(move |device| device.destroy_pipeline_cache(cache, None));
    Ok(cache)
}

/// The header that Vulkan lays down, and data that another cache takes; merging.
unsafe fn cache(s: &Scope<'_>) -> anyhow::Result<()> {
    let numbered = numbered(s, 32)?;
    let specializations = numbered.specializations();
    let infos = numbered.infos(&specializations);
    let device = s.device();
    let (first, second) = (cache_of(s, &[])?, cache_of(s, &[])?);
    let mut pipelines = create(s, first, &infos[..16])?;
    pipelines.extend(create(s, second, &infos[16..])?);
    numbered.check(s, "cold", &pipelines)?;
    device.merge_pipeline_caches(first, &[second])?;
    let data = device.get_pipeline_cache_data(first)?;
    let properties = &s.gpu.properties;
    let word = |at: usize| u32::from_le_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    ensure!(
        data.len() >= 32 && word(0) >= 32,
        "no header in {} bytes",
        data.len()
    );
    let version = vk::PipelineCacheHeaderVersion::ONE.as_raw() as u32;
    ensure!(word(4) == version, "header version {}", word(4));
    ensure!(
        (word(8), word(12)) == (properties.vendor_id, properties.device_id),
        "the header's device is {:#x}:{:#x}",
        word(8),
        word(12)
    );
    ensure!(
        data[16..32] == properties.pipeline_cache_uuid,
        "the header's UUID"
    );
    let warm = cache_of(s, &data)?;
    let pipelines = create(s, warm, &infos)?;
    numbered.check(s, "warm", &pipelines)?;
    // A buffer that is too small gets whole entries or none, and says so.
    let mut size = data.len() - 1;
    let mut part = vec![0_u8; size];
    let get = device.fp_v1_0().get_pipeline_cache_data;
    let result = get(device.handle(), first, &mut size, part.as_mut_ptr().cast());
    ensure!(
        result == vk::Result::INCOMPLETE,
        "a buffer too small: {result:?}"
    );
    ensure!(size < data.len(), "{size} bytes written");
    let short = cache_of(s, &part[..size])?;
    let pipelines = create(s, short, &infos)?;
    numbered.check(s, "short", &pipelines)
}

/// Data that is cut, flipped, of another driver or garbage makes no difference.
unsafe fn cache_corrupt(s: &Scope<'_>) -> anyhow::Result<()> {
    let numbered = numbered(s, 4)?;
    let specializations = numbered.specializations();
    let infos = numbered.infos(&specializations);
    let good = cache_of(s, &[])?;
    create(s, good, &infos)?;
    let data = s.device().get_pipeline_cache_data(good)?;
    let mut bad = Vec::new();
    for cut in [0, 1, 3, 16, 31, 32, 33, data.len() / 2, data.len() - 1] {
        bad.push((
            format!("cut to {cut}"),
            data[..cut.min(data.len())].to_vec(),
        ));
    }
    let step = (data.len() / 40).max(1);
    for at in (0..32).step_by(4).chain((32..data.len()).step_by(step)) {
        let mut flipped = data.clone();
        if let Some(byte) = flipped.get_mut(at) {
            *byte ^= 1 << (at % 8);
        }
        bad.push((format!("a bit of byte {at} flipped"), flipped));
    }
    let mut longer = data.clone();
    longer.extend(crate::model::bytes(500, 100));
    bad.push(("garbage behind".to_owned(), longer));
    let mut garbage = crate::model::bytes(501, 4096);
    bad.push(("garbage".to_owned(), garbage.clone()));
    garbage[..data.len().min(32)].copy_from_slice(&data[..data.len().min(32)]);
    bad.push(("garbage behind the header".to_owned(), garbage));
    for (name, data) in bad {
        let cache = cache_of(s, &data)?;
        let pipelines = create(s, cache, &infos)?;
        numbered.check(s, &name, &pipelines)?;
        let again = s.device().get_pipeline_cache_data(cache)?;
        cache_of(s, &again)?;
    }
    Ok(())
}

/// No compilation where none is allowed: refused when cold, given when warm.
unsafe fn cache_control(s: &Scope<'_>) -> anyhow::Result<()> {
    require(
        s.gpu.features.pipeline_creation_cache_control,
        "pipelineCreationCacheControl",
    )?;
    let numbered = numbered(s, 3)?;
    let specializations = numbered.specializations();
    let mut infos = numbered.infos(&specializations);
    let cache = cache_of(s, &[])?;
    let warm = create(s, cache, &infos[..1])?;
    for info in &mut infos {
        info.flags |= vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    }
    let create = s.device().fp_v1_0().create_compute_pipelines;
    let mut pipelines = vec![vk::Pipeline::null(); 3];
    let result = create(
        s.device().handle(),
        cache,
        3,
        infos.as_ptr(),
        std::ptr::null(),
        pipelines.as_mut_ptr(),
    );
    for pipeline in pipelines.iter().copied() {
        s.at_end(move |device| device.destroy_pipeline(pipeline, None));
    }
    ensure!(
        matches!(
            result,
            vk::Result::SUCCESS | vk::Result::PIPELINE_COMPILE_REQUIRED
        ),
        "{result:?}"
    );
    let missing = pipelines.iter().any(|p| *p == vk::Pipeline::null());
    let required = result == vk::Result::PIPELINE_COMPILE_REQUIRED;
    ensure!(missing == required, "{result:?} with {pipelines:?}");
    numbered.check(s, "first", &warm)?;
    if pipelines[0] != vk::Pipeline::null() {
        numbered.check(s, "from the cache", &pipelines[..1])?;
    }
    Ok(())
}

/// Derivatives by handle and by index, as old programs ask for them.
unsafe fn derivatives(s: &Scope<'_>) -> anyhow::Result<()> {
    let numbered = numbered(s, 3)?;
    let specializations = numbered.specializations();
    let mut infos = numbered.infos(&specializations);
    infos[0].flags |= vk::PipelineCreateFlags::ALLOW_DERIVATIVES;
    infos[1].flags |= vk::PipelineCreateFlags::DERIVATIVE;
    infos[1].base_pipeline_index = 0;
    let mut pipelines = create(s, vk::PipelineCache::null(), &infos[..2])?;
    infos[2].flags |= vk::PipelineCreateFlags::DERIVATIVE;
    infos[2].base_pipeline_handle = pipelines[0];
    infos[2].base_pipeline_index = -1;
    pipelines.extend(create(s, vk::PipelineCache::null(), &infos[2..])?);
    numbered.check(s, "r", &pipelines)
}
