// SPDX-License-Identifier: MIT
//! Graphics pipelines and their caches, through the entry points.

use super::*;
use crate::testing::address;

impl Test {
    fn cache(&self, data: &[u8]) -> vk::PipelineCache {
        let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: a valid structure.
        unsafe { self.driver.device.create_pipeline_cache(&info, None) }.expect("a cache")
    }

    fn data(&self, cache: vk::PipelineCache) -> Vec<u8> {
        // SAFETY: a live cache.
        unsafe { self.driver.device.get_pipeline_cache_data(cache) }.expect("data")
    }

    fn drop_cache(&self, cache: vk::PipelineCache) {
        // SAFETY: a live cache.
        unsafe { self.driver.device.destroy_pipeline_cache(cache, None) };
    }

    /// Creates a pipeline, and says what feedback tells of hits: of the pipeline, the vertex shader, the
    /// fragment shader. Nothing of what was not valid.
    fn hits(
        &self,
        cache: vk::PipelineCache,
        change: &dyn Fn(&mut Info),
    ) -> (Vec<vk::Pipeline>, vk::Result, [Option<bool>; 3]) {
        let mut whole = vk::PipelineCreationFeedback::default();
        let mut stages = [vk::PipelineCreationFeedback::default(); 2];
        let chained = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut whole)
            .pipeline_stage_creation_feedbacks(&mut stages);
        let chained = std::cell::Cell::new(chained);
        let (made, result) = self.create_with(
            cache,
            &[&|info| {
                change(info);
                // SAFETY: the structure outlives the call.
                unsafe { (*chained.as_ptr()).p_next = info.p_next };
                info.p_next = chained.as_ptr().cast_const().cast();
            }],
        );
        let hit = |feedback: &vk::PipelineCreationFeedback| {
            use vk::PipelineCreationFeedbackFlags as Flags;
            let is_hit = feedback
                .flags
                .contains(Flags::APPLICATION_PIPELINE_CACHE_HIT);
            feedback.flags.contains(Flags::VALID).then_some(is_hit)
        };
        assert!(stages.iter().all(|stage| stage.duration <= whole.duration));
        let hits = [hit(&whole), hit(&stages[0]), hit(&stages[1])];
        (made, result, hits)
    }

    /// Whether a cache has both shaders, as an application sees it: in a device that has not compiled
    /// them.
    fn knows(&self, cache: vk::PipelineCache) -> bool {
        let (made, result, hits) = self.hits(cache, &only_found);
        self.destroy(&made);
        let is_hit = hits[0] == Some(true);
        let expected = match is_hit {
            true => vk::Result::SUCCESS,
            false => vk::Result::PIPELINE_COMPILE_REQUIRED,
        };
        assert_eq!(result, expected);
        assert_eq!(hits == [Some(true); 3], is_hit);
        is_hit
    }
}

fn plain(_: &mut Info) {}

fn only_found(info: &mut Info) {
    info.flags |= vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
}

fn first_view(pipeline: vk::Pipeline) -> &'static View {
    // SAFETY: a live pipeline, for as long as the test looks.
    let pipeline = unsafe { object::get::<Pipeline>(pipeline) };
    &pipeline.graphics().expect("a graphics pipeline").views[0]
}

#[test]
fn equal_shaders_are_one_and_others_are_not() {
    let test = Test::new();
    let points = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::POINT_LIST);
    let masked = [vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::R)];
    let masked = vk::PipelineColorBlendStateCreateInfo::default().attachments(&masked);
    let wide = vk::PipelineRasterizationStateCreateInfo::default().line_width(4.0);
    let (made, result) = test.create(&[
        &plain,
        &plain,
        &|info| info.p_rasterization_state = std::ptr::from_ref(&wide).cast(),
        &|info| info.p_input_assembly_state = std::ptr::from_ref(&points).cast(),
        &|info| info.p_color_blend_state = std::ptr::from_ref(&masked).cast(),
    ]);
    assert_eq!(result, vk::Result::SUCCESS);
    let same = |at: usize| {
        let (one, other) = (first_view(made[0]), first_view(made[at]));
        (
            Arc::ptr_eq(&one.vertex, &other.vertex),
            Arc::ptr_eq(&one.fragment, &other.fragment),
        )
    };
    assert_eq!(same(1), (true, true));
    // What shaders do not depend on.
    assert_eq!(same(2), (true, true));
    // A point size is one more output.
    assert_eq!(same(3), (false, true));
    assert_eq!(same(4), (true, false));
    test.destroy(&made);
}

#[test]
fn caches_carry_shaders_from_device_to_device() {
    let test = Test::new();
    let cache = test.cache(&[]);
    assert!(!test.knows(cache));
    let (made, result, hits) = test.hits(cache, &plain);
    assert_eq!(result, vk::Result::SUCCESS);
    assert_eq!(hits, [Some(false); 3]);
    let data = test.data(cache);
    // Those that are alive go into the caches of later pipelines, too.
    let late = test.cache(&[]);
    let (more, _, hits) = test.hits(late, &only_found);
    assert_eq!(hits, [Some(false); 3]);
    assert_eq!(test.data(late), data);
    test.destroy(&made);
    test.destroy(&more);

    let other = Test::new();
    let (loaded, merged) = (other.cache(&data), other.cache(&[]));
    assert!(other.knows(loaded));
    assert!(!other.knows(merged));
    // SAFETY: live caches.
    unsafe {
        let device = &other.driver.device;
        let merging = device.merge_pipeline_caches(merged, &[loaded]);
        merging.expect("memory");
    }
    assert!(other.knows(merged));
    assert_eq!(other.data(merged), data);
    for cache in [cache, late] {
        test.drop_cache(cache);
    }
    for cache in [loaded, merged] {
        other.drop_cache(cache);
    }
}

/// A stage is found by itself; the pipeline is only when all are.
#[test]
fn stages_are_found_one_by_one() {
    let test = Test::new();
    let cache = test.cache(&[]);
    let (made, _, _) = test.hits(cache, &plain);
    let data = test.data(cache);
    test.destroy(&made);
    test.drop_cache(cache);

    let masked = [vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::R)];
    let masked = vk::PipelineColorBlendStateCreateInfo::default().attachments(&masked);
    let change = |info: &mut Info| info.p_color_blend_state = std::ptr::from_ref(&masked).cast();
    let other = Test::new();
    let cache = other.cache(&data);
    let lone = |info: &mut Info| {
        change(info);
        only_found(info);
    };
    let (made, result, hits) = other.hits(cache, &lone);
    assert_eq!(made, [vk::Pipeline::null()]);
    assert_eq!(result, vk::Result::PIPELINE_COMPILE_REQUIRED);
    // Nothing came to the vertex shader: which it is follows from the fragment shader.
    assert_eq!(hits, [Some(false), None, Some(false)]);
    let (made, _, hits) = other.hits(cache, &change);
    assert_eq!(hits, [Some(false), Some(true), Some(false)]);
    other.destroy(&made);
    let (made, _, hits) = other.hits(cache, &lone);
    assert_eq!(hits, [Some(true); 3]);
    other.destroy(&made);
    other.drop_cache(cache);
}

#[test]
fn a_pipeline_without_a_fragment_shader_is_kept_too() {
    let test = Test::new();
    let cache = test.cache(&[]);
    let vertex_only = |info: &mut Info| info.stage_count = 1;
    let (made, result) = test.create_with(cache, &[&vertex_only]);
    assert_eq!(result, vk::Result::SUCCESS);
    // SAFETY: a live pipeline.
    let pipeline = unsafe { object::get::<Pipeline>(made[0]) };
    let stages: Vec<_> = pipeline.executables().iter().map(|one| one.stage).collect();
    assert_eq!(stages, [vk::ShaderStageFlags::VERTEX]);
    let data = test.data(cache);
    test.destroy(&made);
    test.drop_cache(cache);
    let other = Test::new();
    let cache = other.cache(&data);
    let lone = |info: &mut Info| {
        vertex_only(info);
        only_found(info);
    };
    let (made, result) = other.create_with(cache, &[&lone]);
    assert_eq!(result, vk::Result::SUCCESS);
    other.destroy(&made);
    other.drop_cache(cache);
}

#[test]
fn damaged_cache_data_is_ignored() {
    let test = Test::new();
    let cache = test.cache(&[]);
    let (made, _, _) = test.hits(cache, &plain);
    let data = test.data(cache);
    test.destroy(&made);
    test.drop_cache(cache);
    let other = Test::new();
    let whole = other.cache(&data);
    assert!(other.knows(whole));
    other.drop_cache(whole);
    let check = |data: &[u8], what: &dyn std::fmt::Debug| {
        let cache = other.cache(data);
        assert!(!other.knows(cache), "{what:?}");
        other.drop_cache(cache);
    };
    // Every bit is tried with compute; here each byte, which may be of either shader.
    for byte in 0..data.len() {
        let mut changed = data.clone();
        changed[byte] ^= 1 << (byte % 8);
        check(&changed, &("byte", byte));
    }
    for length in (0..data.len()).step_by(7) {
        check(&data[..length], &("length", length));
    }
}

/// Data whose checksums are right and whose binaries are of another stage than their keys say.
#[test]
fn a_binary_of_another_stage_is_not_believed() {
    use crate::pipeline::binary;
    use crate::pipeline::key::Key;

    let test = Test::new();
    let cache = test.cache(&[]);
    let (made, _, _) = test.hits(cache, &plain);
    let data = test.data(cache);
    test.destroy(&made);
    test.drop_cache(cache);
    let mut rest = &data[32..];
    let mut entries = Vec::new();
    while let Some((key, after)) = rest.split_first_chunk::<32>() {
        let (length, after) = after.split_first_chunk::<4>().expect("a length");
        let (blob, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        let key = Key(*key);
        entries.push((key, binary::decode(&key, blob).expect("whole")));
        rest = after;
    }
    let [(one, first), (other, second)] = &entries[..] else {
        panic!("{} shaders", entries.len());
    };
    let mut forged = data[..32].to_vec();
    for (key, binary) in [(one, second), (other, first)] {
        let blob = binary::encode(key, binary);
        forged.extend_from_slice(&key.0);
        forged.extend_from_slice(&(blob.len() as u32).to_le_bytes());
        forged.extend_from_slice(&blob);
    }
    let other = Test::new();
    let cache = other.cache(&forged);
    assert!(!other.knows(cache));
    // It is made as if the cache were empty.
    let (made, result, hits) = other.hits(cache, &plain);
    assert_eq!((result, hits), (vk::Result::SUCCESS, [Some(false); 3]));
    other.destroy(&made);
    other.drop_cache(cache);
}

#[test]
fn modules_are_found_by_their_identifiers() {
    let test = Test::new();
    let commands = ash::ext::shader_module_identifier::DeviceFn::load(address);
    let mut identifiers = [vk::ShaderModuleIdentifierEXT::default(); 2];
    for (module, identifier) in [test.vertex, test.fragment]
        .into_iter()
        .zip(&mut identifiers)
    {
        // SAFETY: a live module.
        unsafe {
            (commands.get_shader_module_identifier_ext)(
                test.driver.device.handle(),
                module,
                identifier,
            );
        }
    }
    let chained = [0, 1].map(|at: usize| {
        vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default()
            .identifier(&identifiers[at].identifier[..32])
    });
    let mut stages = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT].map(|stage| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .name(c"main")
    });
    for (stage, chained) in stages.iter_mut().zip(&chained) {
        stage.p_next = std::ptr::from_ref(chained).cast();
    }
    let by_identifier = |info: &mut Info| {
        info.p_stages = stages.as_ptr().cast();
        only_found(info);
    };
    let (made, result) = test.create(&[&by_identifier]);
    assert_eq!(made, [vk::Pipeline::null()]);
    assert_eq!(result, vk::Result::PIPELINE_COMPILE_REQUIRED);
    let (made, _) = test.create(&[&plain]);
    let (found, result) = test.create(&[&by_identifier]);
    assert_eq!(result, vk::Result::SUCCESS);
    assert!(Arc::ptr_eq(
        &first_view(made[0]).vertex,
        &first_view(found[0]).vertex
    ));
    test.destroy(&made);
    test.destroy(&found);
}

#[test]
fn subgroups_have_one_size() {
    let test = Test::new();
    let required = |size| vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
        required_subgroup_size: size,
        ..Default::default()
    };
    for (size, expected) in [(32, vk::Result::SUCCESS), (16, vk::Result::ERROR_UNKNOWN)] {
        let required = required(size);
        let stages = std::cell::Cell::new(Vec::new());
        let (made, result) = test.create(&[&|info: &mut Info| {
            // SAFETY: there are two stages.
            let mut changed = unsafe { entry::slice(info.p_stages, 2) }.to_vec();
            changed[1].p_next = std::ptr::from_ref(&required).cast();
            info.p_stages = changed.as_ptr();
            stages.set(changed);
        }]);
        assert_eq!(result, expected);
        test.destroy(&made);
    }
}

#[test]
fn each_stage_has_statistics_and_texts() {
    let test = Test::new();
    let (made, _) = test.create(&[&|info| {
        info.flags |= vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR
            | vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
    }]);
    let commands = ash::khr::pipeline_executable_properties::DeviceFn::load(address);
    let device = test.driver.device.handle();
    let about = vk::PipelineInfoKHR::default().pipeline(made[0]);
    let mut all = [vk::PipelineExecutablePropertiesKHR::default(); 3];
    let mut count = 3;
    // SAFETY: valid structures, here and below.
    let result = unsafe {
        (commands.get_pipeline_executable_properties_khr)(
            device,
            &about,
            &mut count,
            all.as_mut_ptr(),
        )
    };
    assert_eq!((result, count), (vk::Result::SUCCESS, 2));
    for (index, (stage, name)) in [
        (vk::ShaderStageFlags::VERTEX, "MESA_SHADER_VERTEX"),
        (vk::ShaderStageFlags::FRAGMENT, "MESA_SHADER_FRAGMENT"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!((all[index].stages, all[index].subgroup_size), (stage, 32));
        let about = vk::PipelineExecutableInfoKHR::default()
            .pipeline(made[0])
            .executable_index(index as u32);
        let mut count = 0;
        // SAFETY: as above.
        let result = unsafe {
            (commands.get_pipeline_executable_statistics_khr)(
                device,
                &about,
                &mut count,
                std::ptr::null_mut(),
            )
        };
        assert_eq!(result, vk::Result::SUCCESS);
        assert!(count > 0);
        let mut memory = vec![0; 1 << 16];
        let mut texts = [vk::PipelineExecutableInternalRepresentationKHR::default(); 4];
        texts[0].data_size = memory.len();
        texts[0].p_data = memory.as_mut_ptr().cast();
        let mut count = 4;
        // SAFETY: as above.
        let result = unsafe {
            (commands.get_pipeline_executable_internal_representations_khr)(
                device,
                &about,
                &mut count,
                texts.as_mut_ptr(),
            )
        };
        assert_eq!((result, count), (vk::Result::SUCCESS, 4));
        assert!(texts.iter().all(|text| text.data_size > 1));
        let text = std::ffi::CStr::from_bytes_until_nul(&memory).expect("a NUL");
        assert!(text.to_str().expect("text").contains(name));
    }
    test.destroy(&made);
}
