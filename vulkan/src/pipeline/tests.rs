// SPDX-License-Identifier: MIT
//! Pipelines and their caches through the entry points.

use std::sync::Arc;

use agx_compiler::binary::Pointer;
use ash::vk;

use super::*;
use crate::object;
use crate::testing::{Driver, FailingHost, address, for_each_failure};

/// Stores a specialisation constant, plus a push constant, at the invocation's place in a buffer.
fn module(set: u32, binding: u32) -> Vec<u32> {
    let text = format!(
        r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main" %id %buffer %push
               OpExecutionMode %main LocalSize 8 2 1
               OpDecorate %id BuiltIn GlobalInvocationId
               OpDecorate %spec SpecId 5
               OpDecorate %words ArrayStride 4
               OpDecorate %block Block
               OpMemberDecorate %block 0 Offset 0
               OpDecorate %buffer DescriptorSet {set}
               OpDecorate %buffer Binding {binding}
               OpDecorate %constants Block
               OpMemberDecorate %constants 0 Offset 16
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %uint = OpTypeInt 32 0
      %uint3 = OpTypeVector %uint 3
   %in_uint3 = OpTypePointer Input %uint3
    %in_uint = OpTypePointer Input %uint
         %id = OpVariable %in_uint3 Input
      %words = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %words
  %block_ptr = OpTypePointer StorageBuffer %block
   %word_ptr = OpTypePointer StorageBuffer %uint
     %buffer = OpVariable %block_ptr StorageBuffer
  %constants = OpTypeStruct %uint
   %push_ptr = OpTypePointer PushConstant %constants
%push_uint = OpTypePointer PushConstant %uint
       %push = OpVariable %push_ptr PushConstant
       %zero = OpConstant %uint 0
       %spec = OpSpecConstant %uint 7
       %main = OpFunction %void None %fn
      %start = OpLabel
       %at_x = OpAccessChain %in_uint %id %zero
          %x = OpLoad %uint %at_x
       %at_p = OpAccessChain %push_uint %push %zero
          %p = OpLoad %uint %at_p
        %sum = OpIAdd %uint %p %spec
         %to = OpAccessChain %word_ptr %buffer %zero %x
               OpStore %to %sum
               OpReturn
               OpFunctionEnd
"#
    );
    mesa_nir::assemble(&text).expect("assembles")
}

/// A device with a module, and a layout whose sets have a storage buffer at a binding.
struct Test {
    driver: Driver,
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
}

const SET: u32 = 1;
const BINDING: u32 = 3;

impl Test {
    fn new() -> Test {
        Test::with(Driver::new(), vk::DescriptorType::STORAGE_BUFFER)
    }

    fn with(driver: Driver, descriptor_type: vk::DescriptorType) -> Test {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .binding(BINDING)
            .descriptor_type(descriptor_type)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 16,
            size: 4,
        }];
        // SAFETY: valid structures.
        unsafe {
            let device = &driver.device;
            let set_layout = device
                .create_descriptor_set_layout(&info, None)
                .expect("a layout");
            let layouts = [set_layout; 2];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(&ranges);
            let layout = device
                .create_pipeline_layout(&info, None)
                .expect("a layout");
            let words = module(SET, BINDING);
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = device.create_shader_module(&info, None).expect("a module");
            Test {
                driver,
                module,
                set_layout,
                layout,
            }
        }
    }

    fn stage(&self) -> vk::PipelineShaderStageCreateInfo<'static> {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(c"main")
    }

    fn info(&self) -> vk::ComputePipelineCreateInfo<'static> {
        vk::ComputePipelineCreateInfo::default()
            .stage(self.stage())
            .layout(self.layout)
    }

    fn create(
        &self,
        cache: vk::PipelineCache,
        infos: &[vk::ComputePipelineCreateInfo<'_>],
    ) -> (Vec<vk::Pipeline>, vk::Result) {
        // SAFETY: valid structures.
        let made = unsafe {
            self.driver
                .device
                .create_compute_pipelines(cache, infos, None)
        };
        match made {
            Ok(made) => (made, vk::Result::SUCCESS),
            Err((made, error)) => (made, error),
        }
    }

    fn one(&self, info: vk::ComputePipelineCreateInfo<'_>) -> Result<vk::Pipeline, vk::Result> {
        let (made, result) = self.create(vk::PipelineCache::null(), &[info]);
        assert_eq!(
            made[0] == vk::Pipeline::null(),
            result != vk::Result::SUCCESS
        );
        match result {
            vk::Result::SUCCESS => Ok(made[0]),
            error => Err(error),
        }
    }

    fn destroy(&self, pipelines: &[vk::Pipeline]) {
        for pipeline in pipelines {
            // SAFETY: null or live, and unused.
            unsafe { self.driver.device.destroy_pipeline(*pipeline, None) };
        }
    }

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
}

impl Drop for Test {
    fn drop(&mut self) {
        // SAFETY: live objects that no one uses.
        unsafe {
            let device = &self.driver.device;
            device.destroy_shader_module(self.module, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

fn inner(pipeline: vk::Pipeline) -> &'static ComputePipeline {
    // SAFETY: a live pipeline, for as long as the test looks.
    unsafe { object::get::<Pipeline>(pipeline) }
        .compute()
        .expect("a compute pipeline")
}

#[test]
fn a_pipeline_wants_what_its_layout_has() {
    for (kind, wanted) in [
        (
            vk::DescriptorType::STORAGE_BUFFER,
            Pointer::DescriptorSet(1),
        ),
        (
            vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
            Pointer::DynamicBuffers,
        ),
    ] {
        let test = Test::with(Driver::new(), kind);
        let pipeline = test.one(test.info()).expect("a pipeline");
        let program = &inner(pipeline).program;
        assert_eq!(program.local.get(), [8, 2, 1]);
        assert!(program.pointers.contains(&wanted), "{:?}", program.pointers);
        assert!(program.pointers.contains(&Pointer::PushConstants));
        assert!(!program.pointers.contains(&Pointer::BaseWorkgroup));
        let based = test.info().flags(vk::PipelineCreateFlags::DISPATCH_BASE);
        let based = test.one(based).expect("a pipeline");
        assert!(
            inner(based)
                .program
                .pointers
                .contains(&Pointer::BaseWorkgroup)
        );
        test.destroy(&[pipeline, based]);
    }
}

#[test]
fn equal_shaders_are_one_and_others_are_not() {
    let test = Test::new();
    let entries = [vk::SpecializationMapEntry {
        constant_id: 5,
        offset: 0,
        size: 4,
    }];
    let with = |value: u32| {
        let data = value.to_le_bytes();
        let constants = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let stage = test.stage().specialization_info(&constants);
        test.one(test.info().stage(stage)).expect("a pipeline")
    };
    // The module itself, or its words with the stage.
    let words = module(SET, BINDING);
    let mut chained = vk::ShaderModuleCreateInfo::default().code(&words);
    let stage = test
        .stage()
        .module(vk::ShaderModule::null())
        .push_next(&mut chained);
    let inline = test.one(test.info().stage(stage)).expect("a pipeline");
    let plain = test.one(test.info()).expect("a pipeline");
    let (one, other) = (with(1), with(2));
    let again = with(1);
    let program = |pipeline| &inner(pipeline).program;
    assert!(Arc::ptr_eq(program(inline), program(plain)));
    assert!(Arc::ptr_eq(program(one), program(again)));
    assert!(!Arc::ptr_eq(program(one), program(other)));
    assert!(!Arc::ptr_eq(program(one), program(plain)));
    test.destroy(&[one, other, again, inline, plain]);
}

#[test]
fn shaders_that_cannot_be_leave_nulls_and_say_why() {
    let test = Test::new();
    let good = test.info();
    let bad = test.info().stage(test.stage().name(c"missing"));
    let lone = good.flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED);
    let null = |pipelines: &[vk::Pipeline]| -> Vec<bool> {
        pipelines
            .iter()
            .map(|one| *one == vk::Pipeline::null())
            .collect()
    };
    let cache = vk::PipelineCache::null();

    let (made, result) = test.create(cache, &[lone]);
    assert_eq!(
        (null(&made), result),
        (vec![true], vk::Result::PIPELINE_COMPILE_REQUIRED)
    );
    // An error counts for more.
    let (made, result) = test.create(cache, &[lone, bad, good]);
    assert_eq!(
        (null(&made), result),
        (vec![true, true, false], vk::Result::ERROR_UNKNOWN)
    );
    // Now it is there.
    let (more, result) = test.create(cache, &[lone]);
    assert_eq!((null(&more), result), (vec![false], vk::Result::SUCCESS));
    test.destroy(&made);
    test.destroy(&more);
    let (made, result) = test.create(cache, &[good, bad, good]);
    assert_eq!(
        (null(&made), result),
        (vec![false, true, false], vk::Result::ERROR_UNKNOWN)
    );
    test.destroy(&made);
    let early = bad.flags(vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE);
    let (made, result) = test.create(cache, &[good, early, good]);
    assert_eq!(
        (null(&made), result),
        (vec![false, true, true], vk::Result::ERROR_UNKNOWN)
    );
    test.destroy(&made);

    // A binding that the layout does not have, and words that are no module.
    for words in [
        module(0, 9),
        vec![1, 2, 3, 4, 5, 6, 7],
        vec![],
        module(SET, BINDING)[..40].to_vec(),
    ] {
        let mut chained = vk::ShaderModuleCreateInfo::default().code(&words);
        let stage = test
            .stage()
            .module(vk::ShaderModule::null())
            .push_next(&mut chained);
        assert!(test.one(test.info().stage(stage)).is_err());
    }
    let mut sixteen = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
        required_subgroup_size: 16,
        ..Default::default()
    };
    let stage = test.stage().push_next(&mut sixteen);
    assert_eq!(
        test.one(test.info().stage(stage)),
        Err(vk::Result::ERROR_UNKNOWN)
    );
}

#[test]
fn checks_are_compiled_in_where_they_are_asked_for() {
    let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
    let device = vk::DeviceCreateInfo::default().enabled_features(&features);
    let mut null = vk::PhysicalDeviceRobustness2FeaturesEXT::default().null_descriptor(true);
    let with_null = vk::DeviceCreateInfo::default().push_next(&mut null);
    let storage = vk::DescriptorType::STORAGE_BUFFER;
    let plain = Test::new();
    let robust = Test::with(Driver::with(&device, None), storage);
    let with_null = Test::with(Driver::with(&with_null, None), storage);
    let size = |test: &Test, behavior: Option<vk::PipelineRobustnessBufferBehaviorEXT>| {
        let mut chained = vk::PipelineRobustnessCreateInfoEXT::default();
        let mut info = test.info();
        if let Some(behavior) = behavior {
            chained = chained.storage_buffers(behavior).uniform_buffers(behavior);
            info = info.push_next(&mut chained);
        }
        let pipeline = test.one(info).expect("a pipeline");
        let instructions = inner(pipeline).executable.shader.stats.instructions;
        test.destroy(&[pipeline]);
        instructions
    };
    use vk::PipelineRobustnessBufferBehaviorEXT as Behavior;
    let (without, with) = (size(&plain, None), size(&robust, None));
    assert!(with > without, "{with} instructions against {without}");
    assert_eq!(size(&plain, Some(Behavior::DEVICE_DEFAULT)), without);
    assert_eq!(size(&plain, Some(Behavior::ROBUST_BUFFER_ACCESS)), with);
    assert_eq!(size(&plain, Some(Behavior::ROBUST_BUFFER_ACCESS_2)), with);
    assert_eq!(size(&robust, Some(Behavior::DISABLED)), without);
    assert_eq!(size(&robust, Some(Behavior::DEVICE_DEFAULT)), with);
    assert_eq!(size(&with_null, None), with);
    assert_eq!(size(&with_null, Some(Behavior::DISABLED)), with);
}

/// Whether a cache has the shader, as an application sees it: in a device that has not compiled it.
fn knows(test: &Test, cache: vk::PipelineCache) -> bool {
    let mut feedback = vk::PipelineCreationFeedback::default();
    let mut stage = [vk::PipelineCreationFeedback::default()];
    let mut chained = vk::PipelineCreationFeedbackCreateInfo::default()
        .pipeline_creation_feedback(&mut feedback)
        .pipeline_stage_creation_feedbacks(&mut stage);
    let info = test
        .info()
        .flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED)
        .push_next(&mut chained);
    let (made, result) = test.create(cache, &[info]);
    test.destroy(&made);
    use vk::PipelineCreationFeedbackFlags as Flags;
    assert!(feedback.flags.contains(Flags::VALID));
    assert_eq!(stage[0].flags, feedback.flags);
    let is_hit = feedback
        .flags
        .contains(Flags::APPLICATION_PIPELINE_CACHE_HIT);
    let expected = match is_hit {
        true => vk::Result::SUCCESS,
        false => vk::Result::PIPELINE_COMPILE_REQUIRED,
    };
    assert_eq!(result, expected);
    is_hit
}

#[test]
fn caches_carry_shaders_from_device_to_device() {
    let test = Test::new();
    let cache = test.cache(&[]);
    let empty = test.data(cache);
    assert_eq!(empty.len(), 32);
    assert!(!knows(&test, cache));
    let (made, _) = test.create(cache, &[test.info()]);
    let data = test.data(cache);
    // One that is alive goes into the caches of later pipelines, too.
    let late = test.cache(&[]);
    let (more, _) = test.create(late, &[test.info()]);
    assert_eq!(test.data(late), data);
    test.destroy(&made);
    test.destroy(&more);

    let other = Test::new();
    let (loaded, merged) = (other.cache(&data), other.cache(&[]));
    assert!(knows(&other, loaded));
    assert!(!knows(&other, merged));
    // SAFETY: live caches.
    unsafe {
        let device = &other.driver.device;
        device
            .merge_pipeline_caches(merged, &[loaded, loaded])
            .expect("memory");
    }
    assert!(knows(&other, merged));
    assert_eq!(other.data(merged), data);

    // Only whole entries, and only with the header.
    for room in 0..=data.len() {
        let mut part = vec![0xaa; data.len()];
        let mut size = room;
        // SAFETY: as many bytes as it says.
        let result = unsafe {
            get_pipeline_cache_data(
                other.driver.device.handle(),
                loaded,
                &raw mut size,
                part.as_mut_ptr().cast(),
            )
        };
        let expected = match room {
            0..32 => 0,
            _ if room < data.len() => 32,
            whole => whole,
        };
        assert_eq!(size, expected);
        assert_eq!(part[..size], data[..size]);
        assert!(part[size..].iter().all(|byte| *byte == 0xaa));
        assert_eq!(result == vk::Result::SUCCESS, room == data.len());
        assert!(matches!(
            result,
            vk::Result::SUCCESS | vk::Result::INCOMPLETE
        ));
    }
    for cache in [cache, late] {
        test.drop_cache(cache);
    }
    for cache in [loaded, merged] {
        other.drop_cache(cache);
    }
}

#[test]
fn threads_share_a_cache_and_a_device() {
    const THREADS: u32 = 4;
    const SHADERS: u32 = 24;
    let test = Test::new();
    let cache = test.cache(&[]);
    let entries = [vk::SpecializationMapEntry {
        constant_id: 5,
        offset: 0,
        size: 4,
    }];
    let create = |value: u32| {
        let data = value.to_le_bytes();
        let constants = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let stage = test.stage().specialization_info(&constants);
        let (made, result) = test.create(cache, &[test.info().stage(stage)]);
        assert_eq!(result, vk::Result::SUCCESS);
        made[0]
    };
    let mut all: Vec<Vec<vk::Pipeline>> = std::thread::scope(|scope| {
        let create = &create;
        let one = |thread: u32| (0..SHADERS).map(move |at| (at + 7 * thread) % SHADERS);
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    let mut made = vec![vk::Pipeline::null(); SHADERS as usize];
                    one(thread).for_each(|value| made[value as usize] = create(value));
                    made
                })
            })
            .collect();
        let all = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        all.collect()
    });
    let first = all.pop().expect("four");
    for (at, pipeline) in first.iter().enumerate() {
        for other in &all {
            assert!(Arc::ptr_eq(
                &inner(*pipeline).program,
                &inner(other[at]).program
            ));
        }
    }
    let other = test.cache(&test.data(cache));
    assert_eq!(test.data(other), test.data(cache));
    // SAFETY: a live cache.
    let entries = unsafe { object::get::<cache::PipelineCache>(cache) }.count();
    assert_eq!(entries, SHADERS as usize);
    test.destroy(&first);
    all.iter().for_each(|pipelines| test.destroy(pipelines));
    test.drop_cache(cache);
    test.drop_cache(other);
}

#[test]
fn damaged_cache_data_is_ignored() {
    let test = Test::new();
    let cache = test.cache(&[]);
    let (made, _) = test.create(cache, &[test.info()]);
    let data = test.data(cache);
    test.destroy(&made);
    test.drop_cache(cache);
    let other = Test::new();
    let check = |data: &[u8], what: &dyn std::fmt::Debug| {
        let cache = other.cache(data);
        assert!(!knows(&other, cache), "{what:?}");
        assert_eq!(other.data(cache).len(), 32, "{what:?}");
        other.drop_cache(cache);
    };
    for bit in 0..data.len() * 8 {
        let mut changed = data.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        check(&changed, &("bit", bit));
    }
    for length in 0..data.len() {
        check(&data[..length], &("length", length));
    }
    // What follows is no reason to ignore what is whole.
    let cache = other.cache(&[&data[..], &[1, 2, 3]].concat());
    assert!(knows(&other, cache));
    other.drop_cache(cache);
}

#[test]
fn executables_have_statistics_and_texts() {
    let test = Test::new();
    let flags = vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR
        | vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
    let plain = test.one(test.info()).expect("a pipeline");
    let pipeline = test.one(test.info().flags(flags)).expect("a pipeline");
    let commands = ash::khr::pipeline_executable_properties::DeviceFn::load(address);
    let device = test.driver.device.handle();
    let about = vk::PipelineInfoKHR::default().pipeline(pipeline);
    let mut one = [vk::PipelineExecutablePropertiesKHR::default()];
    let mut count = 1;
    // SAFETY: valid structures, here and below.
    let result = unsafe {
        (commands.get_pipeline_executable_properties_khr)(
            device,
            &about,
            &mut count,
            one.as_mut_ptr(),
        )
    };
    assert_eq!((result, count), (vk::Result::SUCCESS, 1));
    assert_eq!(one[0].subgroup_size, 32);
    assert_eq!(one[0].stages, vk::ShaderStageFlags::COMPUTE);

    let about = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
    let count_numbers = |numbers: *mut vk::PipelineExecutableStatisticKHR<'_>, count: &mut u32| {
        // SAFETY: as above.
        let result = unsafe {
            (commands.get_pipeline_executable_statistics_khr)(device, &about, count, numbers)
        };
        assert_eq!(result, vk::Result::SUCCESS);
    };
    let mut count = 0;
    count_numbers(std::ptr::null_mut(), &mut count);
    let mut numbers = vec![vk::PipelineExecutableStatisticKHR::default(); count as usize];
    count_numbers(numbers.as_mut_ptr(), &mut count);
    let named = |name: &std::ffi::CStr| {
        let found = numbers.iter().find(|one| one.name_as_c_str() == Ok(name));
        // SAFETY: all are 64-bit numbers.
        unsafe { found.expect("there").value.u64 }
    };
    assert!(named(c"instructions") > 0);
    assert!(named(c"bytes") >= 2 * named(c"instructions"));
    assert_eq!(named(c"spills"), 0);

    let get = |texts: *mut vk::PipelineExecutableInternalRepresentationKHR<'_>, count: &mut u32| {
        // SAFETY: as above.
        unsafe {
            (commands.get_pipeline_executable_internal_representations_khr)(
                device, &about, count, texts,
            )
        }
    };
    let mut count = 0;
    assert_eq!(get(std::ptr::null_mut(), &mut count), vk::Result::SUCCESS);
    let mut texts =
        vec![vk::PipelineExecutableInternalRepresentationKHR::default(); count as usize];
    assert_eq!(get(texts.as_mut_ptr(), &mut count), vk::Result::SUCCESS);
    let mut memory: Vec<Vec<u8>> = texts
        .iter()
        .map(|text| vec![0xff; text.data_size])
        .collect();
    for (text, memory) in texts.iter_mut().zip(&mut memory) {
        assert_eq!(text.is_text, vk::TRUE);
        text.p_data = memory.as_mut_ptr().cast();
    }
    assert_eq!(get(texts.as_mut_ptr(), &mut count), vk::Result::SUCCESS);
    let text = |name: &std::ffi::CStr| {
        let at = texts.iter().position(|one| one.name_as_c_str() == Ok(name));
        let bytes = std::ffi::CStr::from_bytes_with_nul(&memory[at.expect("there")]);
        bytes.expect("one NUL, at the end").to_str().expect("text")
    };
    assert!(text(c"NIR").contains("shader: MESA_SHADER_COMPUTE"));
    assert!(!text(c"SSA").is_empty());
    let assembly = text(c"Assembly");
    assert_eq!(assembly.lines().count() as u64, named(c"instructions"));
    assert!(
        assembly
            .lines()
            .last()
            .is_some_and(|line| line.ends_with("stop")),
        "{assembly}"
    );
    texts[0].data_size = 10;
    assert_eq!(get(texts.as_mut_ptr(), &mut count), vk::Result::INCOMPLETE);
    assert_eq!(memory[0][9], 0);
    test.destroy(&[plain, pipeline]);
}

#[test]
fn modules_have_identifiers_by_which_caches_find_shaders() {
    let test = Test::new();
    let commands = ash::ext::shader_module_identifier::DeviceFn::load(address);
    let mut of_module = vk::ShaderModuleIdentifierEXT::default();
    let mut of_words = vk::ShaderModuleIdentifierEXT::default();
    let words = module(SET, BINDING);
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let device = test.driver.device.handle();
    // SAFETY: valid structures.
    unsafe {
        (commands.get_shader_module_identifier_ext)(device, test.module, &mut of_module);
        (commands.get_shader_module_create_info_identifier_ext)(device, &info, &mut of_words);
    }
    let size = of_module.identifier_size as usize;
    assert_eq!(size, 32);
    assert_eq!(of_module.identifier, of_words.identifier);
    let mut chained = vk::PipelineShaderStageModuleIdentifierCreateInfoEXT::default()
        .identifier(&of_module.identifier[..size]);
    let stage = test
        .stage()
        .module(vk::ShaderModule::null())
        .push_next(&mut chained);
    let info = test
        .info()
        .stage(stage)
        .flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED);
    assert_eq!(test.one(info), Err(vk::Result::PIPELINE_COMPILE_REQUIRED));
    let plain = test.one(test.info()).expect("a pipeline");
    let found = test.one(info).expect("the same");
    assert!(Arc::ptr_eq(&inner(plain).program, &inner(found).program));
    test.destroy(&[plain, found]);
}

#[test]
fn every_refusal_of_host_memory_is_told_and_leaks_nothing() {
    let host = FailingHost::new();
    {
        let test = Test::with(Driver::with_host(&host), vk::DescriptorType::STORAGE_BUFFER);
        let device = &test.driver.device;
        let words = module(SET, BINDING);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let failures = for_each_failure(
            &host,
            // SAFETY: valid structures and live objects, here and below.
            |callbacks| unsafe { device.create_shader_module(&info, Some(callbacks)) },
            // SAFETY: as above.
            |made, callbacks| unsafe { device.destroy_shader_module(made, Some(callbacks)) },
        );
        assert_eq!(failures, 2);
        let flags = vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        let infos = [test.info().flags(flags)];
        let none = vk::PipelineCache::null();
        let failures = for_each_failure(
            &host,
            |callbacks| {
                // SAFETY: as above.
                let made =
                    unsafe { device.create_compute_pipelines(none, &infos, Some(callbacks)) };
                made.map(|made| made[0]).map_err(|(made, error)| {
                    assert_eq!(made[0], vk::Pipeline::null());
                    error
                })
            },
            // SAFETY: as above.
            |made, callbacks| unsafe { device.destroy_pipeline(made, Some(callbacks)) },
        );
        assert_eq!(failures, 6);
        let cache = test.cache(&[]);
        let (made, _) = test.create(cache, &[test.info()]);
        let data = test.data(cache);
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        let failures = for_each_failure(
            &host,
            // SAFETY: as above.
            |callbacks| unsafe { device.create_pipeline_cache(&info, Some(callbacks)) },
            // SAFETY: as above.
            |made, callbacks| unsafe { device.destroy_pipeline_cache(made, Some(callbacks)) },
        );
        assert_eq!(failures, 3);
        let failures = for_each_failure(
            &host,
            |callbacks| {
                let empty = vk::PipelineCacheCreateInfo::default();
                // SAFETY: as above.
                unsafe {
                    let target = device.create_pipeline_cache(&empty, Some(callbacks))?;
                    device
                        .merge_pipeline_caches(target, &[cache])
                        .map(|()| target)
                        .inspect_err(|_| device.destroy_pipeline_cache(target, Some(callbacks)))
                }
            },
            // SAFETY: as above.
            |made, callbacks| unsafe { device.destroy_pipeline_cache(made, Some(callbacks)) },
        );
        assert_eq!(failures, 3);
        test.destroy(&made);
        test.drop_cache(cache);
    }
    assert_eq!(host.live(), 0);
}
