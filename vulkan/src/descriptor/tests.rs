// SPDX-License-Identifier: MIT
//! Descriptors through the entry points.

use ash::vk;
use proptest::prelude::*;

use super::*;
use crate::buffer::Buffer;
use crate::host::HostAllocator;
use crate::object;
use crate::physical_device::limits;
use crate::testing::{Driver, FailingHost, for_each_failure};

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;
const DYNAMIC: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER_DYNAMIC;
const INLINE: vk::DescriptorType = vk::DescriptorType::INLINE_UNIFORM_BLOCK;
const SAMPLER: vk::DescriptorType = vk::DescriptorType::SAMPLER;
const NONE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::empty();
const VARIABLE: vk::DescriptorBindingFlags = vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT;

type Listed = (u32, vk::DescriptorType, u32, vk::DescriptorBindingFlags);

fn with_info<R>(
    listed: &[Listed],
    run: impl FnOnce(&vk::DescriptorSetLayoutCreateInfo<'_>) -> R,
) -> R {
    let bindings: Vec<_> = listed
        .iter()
        .map(|(number, ty, count, _)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(*number)
                .descriptor_type(*ty)
                .descriptor_count(*count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let flags: Vec<_> = listed.iter().map(|listed| listed.3).collect();
    let mut flags = vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    run(&vk::DescriptorSetLayoutCreateInfo::default()
        .bindings(&bindings)
        .push_next(&mut flags))
}

fn layout(driver: &Driver, listed: &[Listed]) -> vk::DescriptorSetLayout {
    // SAFETY: valid structures.
    with_info(listed, |info| unsafe {
        driver.device.create_descriptor_set_layout(info, None)
    })
    .expect("a layout")
}

fn pool_with(
    driver: &Driver,
    max_sets: u32,
    sizes: &[(vk::DescriptorType, u32)],
    inline_blocks: u32,
) -> vk::DescriptorPool {
    try_pool(driver, max_sets, sizes, inline_blocks).expect("a pool")
}

fn try_pool(
    driver: &Driver,
    max_sets: u32,
    sizes: &[(vk::DescriptorType, u32)],
    inline_blocks: u32,
) -> Result<vk::DescriptorPool, vk::Result> {
    let sizes: Vec<_> = sizes
        .iter()
        .map(|(ty, count)| vk::DescriptorPoolSize {
            ty: *ty,
            descriptor_count: *count,
        })
        .collect();
    let mut inline = vk::DescriptorPoolInlineUniformBlockCreateInfo::default()
        .max_inline_uniform_block_bindings(inline_blocks);
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(max_sets)
        .pool_sizes(&sizes)
        .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)
        .push_next(&mut inline);
    // SAFETY: valid structures.
    unsafe { driver.device.create_descriptor_pool(&info, None) }
}

fn allocate(
    driver: &Driver,
    pool: vk::DescriptorPool,
    layouts: &[vk::DescriptorSetLayout],
    counts: &[u32],
) -> Result<Vec<vk::DescriptorSet>, vk::Result> {
    let mut variable =
        vk::DescriptorSetVariableDescriptorCountAllocateInfo::default().descriptor_counts(counts);
    let mut info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(layouts);
    if !counts.is_empty() {
        info = info.push_next(&mut variable);
    }
    let mut sets = vec![<vk::DescriptorSet as vk::Handle>::from_raw(u64::MAX); layouts.len()];
    // SAFETY: as many sets as layouts.
    let result =
        unsafe { allocate_descriptor_sets(driver.device.handle(), &info, sets.as_mut_ptr()) };
    if result != vk::Result::SUCCESS {
        assert!(sets.iter().all(|set| *set == vk::DescriptorSet::null()));
        return Err(result);
    }
    Ok(sets)
}

/// A buffer at an address where there is nothing: nothing looks.
fn buffer(address: u64, size: u64) -> vk::Buffer {
    object::create(global(), Buffer::at(address, size)).expect("memory")
}

fn global() -> HostAllocator {
    HostAllocator::global(vk::SystemAllocationScope::OBJECT)
}

fn bytes(set: vk::DescriptorSet) -> Vec<u8> {
    // SAFETY: a live set that no one writes.
    unsafe {
        let memory = object::get::<DescriptorSet>(set).memory();
        std::slice::from_raw_parts(memory.cpu, memory.size as usize).to_vec()
    }
}

fn clear(set: vk::DescriptorSet) {
    // SAFETY: a live set that no one uses.
    unsafe {
        let memory = object::get::<DescriptorSet>(set).memory();
        memory.cpu.write_bytes(0, memory.size as usize);
    }
}

fn descriptor(address: u64, size: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&address.to_le_bytes());
    bytes[8..12].copy_from_slice(&size.to_le_bytes());
    bytes
}

fn of(layout: vk::DescriptorSetLayout) -> &'static Layout {
    // SAFETY: a live handle, for as long as the test looks.
    unsafe { object::get::<SetLayout>(layout) }
}

#[test]
fn bindings_follow_one_another_by_number() {
    let driver = Driver::new();
    let layout = layout(
        &driver,
        &[
            (7, INLINE, 20, NONE),
            (2, STORAGE, 3, NONE),
            (9, DYNAMIC, 2, NONE),
            (0, SAMPLER, 16, NONE),
            (3, DYNAMIC, 1, NONE),
            (400, UNIFORM, 1, NONE),
            (5, UNIFORM, 0, NONE),
        ],
    );
    let inner = of(layout);
    let places: Vec<_> = inner
        .bindings()
        .map(|binding| (binding.number, binding.start))
        .collect();
    assert_eq!(
        places,
        [
            (0, 0),
            (2, 1024),
            (3, 0),
            (5, 1072),
            (7, 1072),
            (9, 1),
            (400, 1104)
        ]
    );
    assert_eq!((inner.size(), inner.dynamic_count()), (1120, 3));
    let described: Vec<_> = inner
        .describe(1, 10)
        .map(|b| (b.binding, b.place, b.offset, b.kind))
        .collect();
    use mesa_nir::BindingKind::{Buffer, InlineUniform, Sampler};
    use mesa_nir::Place::{Dynamic, Set};
    assert_eq!(
        described,
        [
            (0, Set(1), 0, Sampler),
            (2, Set(1), 1024, Buffer),
            (3, Dynamic, 160, Buffer),
            (7, Set(1), 1072, InlineUniform),
            (9, Dynamic, 176, Buffer),
            (400, Set(1), 1104, Buffer),
        ]
    );
    // SAFETY: a live handle.
    unsafe { driver.device.destroy_descriptor_set_layout(layout, None) };
}

#[test]
fn support_says_what_creation_does() {
    let driver = Driver::new();
    let ask = |listed: &[Listed]| {
        let mut variable = vk::DescriptorSetVariableDescriptorCountLayoutSupport::default();
        let mut support = vk::DescriptorSetLayoutSupport::default().push_next(&mut variable);
        // SAFETY: valid structures.
        with_info(listed, |info| unsafe {
            driver
                .device
                .get_descriptor_set_layout_support(info, &mut support);
        });
        let supported = support.supported != 0;
        // SAFETY: valid structures.
        let made = with_info(listed, |info| unsafe {
            driver.device.create_descriptor_set_layout(info, None)
        });
        assert_eq!(made.is_ok(), supported);
        // SAFETY: a live handle or null.
        unsafe {
            let made = made.unwrap_or_default();
            driver.device.destroy_descriptor_set_layout(made, None);
        }
        (supported, variable.max_variable_descriptor_count)
    };
    let most = limits::DESCRIPTORS;
    assert_eq!(ask(&[]), (true, 0));
    assert_eq!(ask(&[(0, STORAGE, 5, NONE)]), (true, 0));
    assert_eq!(ask(&[(0, STORAGE, most, NONE)]), (true, 0));
    assert_eq!(
        ask(&[(0, STORAGE, most, NONE), (1, STORAGE, 1, NONE)]),
        (false, 0)
    );
    assert_eq!(
        ask(&[(0, DYNAMIC, most, NONE), (1, SAMPLER, 1, NONE)]),
        (false, 0)
    );
    assert_eq!(ask(&[(0, STORAGE, u32::MAX, NONE)]), (false, 0));
    assert_eq!(
        ask(&[(0, STORAGE, 4, NONE), (1, UNIFORM, 100, VARIABLE)]),
        (true, most - 4)
    );
    assert_eq!(ask(&[(1, UNIFORM, 0, VARIABLE)]), (true, most));
    assert_eq!(ask(&[(1, SAMPLER, 9, VARIABLE)]), (true, most));
    assert_eq!(
        ask(&[(0, INLINE, limits::INLINE_UNIFORM_BYTES, NONE)]),
        (true, 0)
    );
    assert_eq!(
        ask(&[(0, INLINE, limits::INLINE_UNIFORM_BYTES + 4, NONE)]),
        (false, 0)
    );
    assert_eq!(
        ask(&[(0, INLINE, 64, VARIABLE)]),
        (true, limits::INLINE_UNIFORM_BYTES)
    );
}

#[test]
fn pools_hold_what_they_are_made_for_and_no_more() {
    let driver = Driver::new();
    let one = layout(&driver, &[(0, STORAGE, 3, NONE), (1, INLINE, 20, NONE)]);
    let pool = pool_with(&driver, 1000, &[(STORAGE, 3000), (INLINE, 20_000)], 1000);
    for _ in 0..2 {
        let sets: Vec<_> = (0..10)
            .flat_map(|_| allocate(&driver, pool, &[one; 100], &[]).expect("room"))
            .collect();
        let mut starts: Vec<_> = sets
            .iter()
            // SAFETY: live sets.
            .map(|set| unsafe { object::get::<DescriptorSet>(*set) }.address())
            .collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 80));
        assert!(starts.iter().all(|start| start.is_multiple_of(16)));
        assert_eq!(
            allocate(&driver, pool, &[one], &[]),
            Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY)
        );
        // SAFETY: no one uses the sets.
        unsafe {
            // From both ends and the middle, and a null one.
            driver
                .device
                .free_descriptor_sets(pool, &[sets[0], sets[999], sets[500]])
                .expect("freed");
            driver
                .device
                .free_descriptor_sets(pool, &[vk::DescriptorSet::null()])
                .expect("nothing");
        }
        assert_eq!(
            allocate(&driver, pool, &[one; 4], &[]),
            Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY)
        );
        allocate(&driver, pool, &[one; 3], &[]).expect("room");
        // SAFETY: as above.
        unsafe {
            let flags = vk::DescriptorPoolResetFlags::empty();
            driver
                .device
                .reset_descriptor_pool(pool, flags)
                .expect("reset");
        }
    }
    // SAFETY: live handles.
    unsafe {
        driver.device.destroy_descriptor_pool(pool, None);
        driver.device.destroy_descriptor_set_layout(one, None);
    }
}

#[test]
fn room_in_pieces_is_fragmentation() {
    let driver = Driver::new();
    let (one, two) = (
        layout(&driver, &[(0, STORAGE, 1, NONE)]),
        layout(&driver, &[(0, STORAGE, 2, NONE)]),
    );
    let pool = pool_with(&driver, 10, &[(STORAGE, 4)], 0);
    let sets = allocate(&driver, pool, &[one; 4], &[]).expect("room");
    // SAFETY: no one uses the sets.
    unsafe {
        driver
            .device
            .free_descriptor_sets(pool, &[sets[0], sets[2]])
    }
    .expect("freed");
    assert_eq!(
        allocate(&driver, pool, &[two], &[]),
        Err(vk::Result::ERROR_FRAGMENTED_POOL)
    );
    // SAFETY: as above.
    unsafe { driver.device.free_descriptor_sets(pool, &[sets[1]]) }.expect("freed");
    allocate(&driver, pool, &[two], &[]).expect("room");
    // The layouts may go before the sets.
    // SAFETY: live handles.
    unsafe {
        driver.device.destroy_descriptor_set_layout(one, None);
        driver.device.destroy_descriptor_set_layout(two, None);
        driver.device.destroy_descriptor_pool(pool, None);
    }
}

#[test]
fn sets_have_the_variable_count_that_they_ask_for() {
    let driver = Driver::new();
    let many = layout(
        &driver,
        &[(0, STORAGE, 1, NONE), (1, UNIFORM, 1000, VARIABLE)],
    );
    let pool = pool_with(&driver, 10, &[(STORAGE, 1), (UNIFORM, 8)], 0);
    assert_eq!(
        allocate(&driver, pool, &[many], &[9]),
        Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY)
    );
    let set = allocate(&driver, pool, &[many], &[8]).expect("room")[0];
    assert_eq!(bytes(set).len(), 9 * 16);
    clear(set);
    let target = buffer(0x1000, 64);
    let infos = [vk::DescriptorBufferInfo {
        buffer: target,
        offset: 16,
        range: vk::WHOLE_SIZE,
    }; 9];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(1)
        .descriptor_type(UNIFORM);
    // SAFETY: the set is the test's alone.
    unsafe {
        driver
            .device
            .update_descriptor_sets(&[write.dst_array_element(7).buffer_info(&infos[..1])], &[]);
    }
    let mut expected = vec![0; 9 * 16];
    expected[128..].copy_from_slice(&descriptor(0x1010, 48));
    assert_eq!(bytes(set), expected);
    // More than the set has: nothing is written.
    // SAFETY: as above.
    unsafe {
        driver
            .device
            .update_descriptor_sets(&[write.dst_array_element(8).buffer_info(&infos[..1])], &[]);
        driver
            .device
            .update_descriptor_sets(&[write.dst_array_element(0).buffer_info(&infos)], &[]);
        driver.device.update_descriptor_sets(
            &[write.dst_array_element(u32::MAX).buffer_info(&infos)],
            &[],
        );
        driver
            .device
            .update_descriptor_sets(&[write.dst_binding(2).buffer_info(&infos)], &[]);
        driver.device.update_descriptor_sets(
            &[write.descriptor_type(STORAGE_TEXEL).buffer_info(&infos)],
            &[],
        );
        driver
            .device
            .update_descriptor_sets(&[write.descriptor_type(DYNAMIC).buffer_info(&infos)], &[]);
    }
    assert_eq!(bytes(set), expected);
    // SAFETY: live handles.
    unsafe {
        object::destroy::<Buffer>(global(), target);
        driver.device.destroy_descriptor_pool(pool, None);
        driver.device.destroy_descriptor_set_layout(many, None);
    }
}

const STORAGE_TEXEL: vk::DescriptorType = vk::DescriptorType::STORAGE_TEXEL_BUFFER;

#[test]
fn ranges_are_cut_to_the_buffer_and_to_what_shaders_can_reach() {
    let driver = Driver::new();
    let one = layout(&driver, &[(0, STORAGE, 1, NONE), (1, DYNAMIC, 1, NONE)]);
    let pool = pool_with(&driver, 1, &[(STORAGE, 1), (DYNAMIC, 1)], 0);
    let set = allocate(&driver, pool, &[one], &[]).expect("room")[0];
    let (small, large) = (buffer(0x4_0000, 100), buffer(0x10_0000_0000, 6 << 30));
    let cases = [
        (small, 0, vk::WHOLE_SIZE, 0x4_0000, 100),
        (small, 16, vk::WHOLE_SIZE, 0x4_0010, 84),
        (small, 16, 20, 0x4_0010, 20),
        (small, 16, 200, 0x4_0010, 84),
        (small, 100, 4, 0x4_0064, 0),
        (small, 1 << 60, 4, 0x4_0064, 0),
        (
            large,
            0,
            vk::WHOLE_SIZE,
            0x10_0000_0000,
            limits::STORAGE_BUFFER_RANGE,
        ),
        (large, 5 << 30, vk::WHOLE_SIZE, 0x11_4000_0000, 1 << 30),
        (vk::Buffer::null(), 0, vk::WHOLE_SIZE, 0, 0),
    ];
    for (buffer, offset, range, address, size) in cases {
        let info = [vk::DescriptorBufferInfo {
            buffer,
            offset,
            range,
        }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .buffer_info(&info);
        let writes = [
            write.descriptor_type(STORAGE),
            write.descriptor_type(DYNAMIC).dst_binding(1),
        ];
        // SAFETY: the set is the test's alone.
        unsafe { driver.device.update_descriptor_sets(&writes, &[]) };
        assert_eq!(bytes(set), descriptor(address, size));
        // SAFETY: as above.
        let dynamic = unsafe { object::get::<DescriptorSet>(set).dynamic() };
        assert_eq!(dynamic, [DynamicBuffer { address, size }]);
    }
    // SAFETY: live handles.
    unsafe {
        object::destroy::<Buffer>(global(), small);
        object::destroy::<Buffer>(global(), large);
        driver.device.destroy_descriptor_pool(pool, None);
        driver.device.destroy_descriptor_set_layout(one, None);
    }
}

/// A layout with every kind, and holes in its numbers.
const MIXED: &[Listed] = &[
    (0, STORAGE, 2, NONE),
    (1, STORAGE, 3, NONE),
    (2, STORAGE, 0, NONE),
    (4, STORAGE, 4, NONE),
    (5, DYNAMIC, 2, NONE),
    (6, DYNAMIC, 3, NONE),
    (8, INLINE, 24, NONE),
    (9, INLINE, 8, NONE),
    (10, UNIFORM, 2, NONE),
];

/// Elements of [`MIXED`] in order, by binding, as a specification-minded reader lists them.
fn elements() -> Vec<(u32, u32, vk::DescriptorType)> {
    let each = MIXED
        .iter()
        .flat_map(|(number, ty, count, _)| (0..*count).map(move |element| (*number, element, *ty)));
    each.collect()
}

/// What a set of [`MIXED`] contains, element by element.
#[derive(Clone, Debug, PartialEq)]
struct Contents(Vec<(u64, u32)>);

impl Contents {
    fn of(set: vk::DescriptorSet) -> Contents {
        let memory = bytes(set);
        // SAFETY: a live set.
        let dynamic = unsafe { object::get::<DescriptorSet>(set).dynamic() };
        let (mut at, mut index) = (0, 0);
        let mut all = Vec::new();
        for (_, ty, count, _) in MIXED {
            for _ in 0..*count {
                all.push(match *ty {
                    DYNAMIC => {
                        let DynamicBuffer { address, size } = dynamic[index];
                        index += 1;
                        (address, size)
                    }
                    INLINE => {
                        at += 1;
                        (memory[at - 1].into(), 0)
                    }
                    _ => {
                        let one = &memory[at..at + 16];
                        at += 16;
                        let address = u64::from_le_bytes(one[..8].try_into().expect("eight"));
                        let size = u32::from_le_bytes(one[8..12].try_into().expect("four"));
                        (address, size)
                    }
                });
            }
            at = at.next_multiple_of(16);
        }
        Contents(all)
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// First element (of all), how many, seed; through a template or not.
    Write(usize, u32, u8, bool),
    /// From, to, how many.
    Copy(usize, usize, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let total = elements().len();
    let write = (0..total, 1u32..12, any::<u8>(), any::<bool>())
        .prop_map(|(first, count, seed, template)| Step::Write(first, count, seed, template));
    let copy =
        (0..total, 0..total, 1u32..6).prop_map(|(from, to, count)| Step::Copy(from, to, count));
    prop::collection::vec(prop_oneof![3 => write, 1 => copy], 1..12)
}

/// How many elements there are from one on, of its type.
fn run(first: usize) -> u32 {
    let all = elements();
    let ty = all[first].2;
    all[first..]
        .iter()
        .take_while(|element| element.2 == ty)
        .count() as u32
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Writes, templates and copies change the elements that they name, across bindings, and no
    /// others.
    #[test]
    fn updates_do_what_a_list_of_elements_does(steps in steps()) {
        let driver = Driver::new();
        let layout = layout(&driver, MIXED);
        let sizes = [(STORAGE, 22), (UNIFORM, 4), (DYNAMIC, 10), (INLINE, 64)];
        let pool = pool_with(&driver, 2, &sizes, 4);
        let sets = allocate(&driver, pool, &[layout; 2], &[]).expect("room");
        sets.iter().for_each(|set| clear(*set));
        let untouched = bytes(sets[1]);
        let set = sets[0];
        let buffers: Vec<_> = (0..256u64).map(|seed| buffer(seed << 20, 4096 + seed)).collect();
        let all = elements();
        let mut model = Contents::of(set);
        for step in steps {
            match step {
                Step::Write(first, count, seed, through_template) => {
                    let (number, element, ty) = all[first];
                    let count = count.min(run(first));
                    let values: Vec<u8> = (0..count).map(|at| seed.wrapping_add(at as u8)).collect();
                    for (at, value) in values.iter().enumerate() {
                        model.0[first + at] = match ty {
                            INLINE => (u64::from(*value), 0),
                            _ => (u64::from(*value) << 20, 4096 + u32::from(*value)),
                        };
                    }
                    let infos: Vec<_> = values.iter().map(|value| vk::DescriptorBufferInfo {
                        buffer: buffers[usize::from(*value)],
                        offset: 0,
                        range: vk::WHOLE_SIZE,
                    }).collect();
                    if through_template {
                        // Padding in front and between.
                        let stride = if ty == INLINE { 1 } else { 40 };
                        let mut data = vec![0u8; 8 + 40 * values.len()];
                        for (at, value) in values.iter().enumerate() {
                            match ty {
                                INLINE => data[8 + at] = *value,
                                _ => {
                                    // SAFETY: plain data.
                                    let info: [u8; 24] = unsafe { std::mem::transmute(infos[at]) };
                                    data[8 + 40 * at..][..24].copy_from_slice(&info);
                                }
                            }
                        }
                        let entries = [vk::DescriptorUpdateTemplateEntry {
                            dst_binding: number,
                            dst_array_element: element,
                            descriptor_count: count,
                            descriptor_type: ty,
                            offset: 8,
                            stride,
                        }];
                        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
                            .descriptor_update_entries(&entries)
                            .descriptor_set_layout(layout);
                        // SAFETY: valid structures; data of the template's form.
                        unsafe {
                            let template = driver.device.create_descriptor_update_template(&info, None).expect("a template");
                            driver.device.update_descriptor_set_with_template(set, template, data.as_ptr().cast());
                            driver.device.destroy_descriptor_update_template(template, None);
                        }
                    } else {
                        let mut block = vk::WriteDescriptorSetInlineUniformBlock::default().data(&values);
                        let mut write = vk::WriteDescriptorSet::default()
                            .dst_set(set)
                            .dst_binding(number)
                            .dst_array_element(element)
                            .descriptor_type(ty);
                        if ty == INLINE {
                            write = write.push_next(&mut block);
                            write.descriptor_count = count;
                        } else {
                            write = write.buffer_info(&infos);
                        }
                        // SAFETY: valid structures.
                        unsafe { driver.device.update_descriptor_sets(&[write], &[]) };
                    }
                }
                Step::Copy(from, to, count) => {
                    let (source, target) = (all[from], all[to]);
                    let count = count.min(run(from)).min(run(to));
                    // Overlapping copies are not defined.
                    if source.2 != target.2 || from.abs_diff(to) < count as usize {
                        continue;
                    }
                    for at in 0..count as usize {
                        model.0[to + at] = model.0[from + at];
                    }
                    let copy = vk::CopyDescriptorSet::default()
                        .src_set(set)
                        .src_binding(source.0)
                        .src_array_element(source.1)
                        .dst_set(set)
                        .dst_binding(target.0)
                        .dst_array_element(target.1)
                        .descriptor_count(count);
                    // SAFETY: valid structures.
                    unsafe { driver.device.update_descriptor_sets(&[], &[copy]) };
                }
            }
            prop_assert_eq!(&Contents::of(set), &model);
        }
        prop_assert_eq!(bytes(sets[1]), untouched);
        // SAFETY: live handles.
        unsafe {
            for buffer in buffers {
                object::destroy::<Buffer>(global(), buffer);
            }
            driver.device.destroy_descriptor_pool(pool, None);
            driver.device.destroy_descriptor_set_layout(layout, None);
        }
    }
}

/// An entry of a template: binding, first element, elements, place of its first element in the
/// data, stride in the data; in infos or, for inline uniform blocks, bytes.
type Entry = (u32, u32, u32, usize, usize);

/// Infos in the data of a template.
const DATA: usize = 64;

fn layouts() -> impl Strategy<Value = Vec<Listed>> {
    let ty = prop::sample::select(vec![STORAGE, STORAGE, UNIFORM, DYNAMIC, INLINE]);
    let numbers = prop::collection::btree_set(prop_oneof![8 => 0u32..12, 1 => 12u32..5000], 1..9);
    let others = prop::collection::vec((ty, 0u32..5), 9);
    (numbers, others).prop_map(|(numbers, others)| {
        let listed = numbers.into_iter().zip(others);
        let listed = listed.map(|(number, (ty, count))| {
            let count = if ty == INLINE { 4 * count } else { count };
            (number, ty, count, NONE)
        });
        listed.collect()
    })
}

fn entries() -> impl Strategy<Value = Vec<(prop::sample::Index, Entry)>> {
    let number = prop_oneof![1 => 0u32..12, 0 => Just(0)];
    let entry = (number, 0u32..5, 0u32..9, 0usize..24, 0usize..5);
    prop::collection::vec((any::<prop::sample::Index>(), entry), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A template does what its entries do as writes one after the other, whatever the layout, also
    /// where they go beyond it.
    #[test]
    fn templates_do_what_writes_do(listed in layouts(), entries in entries(), near in any::<bool>()) {
        let driver = Driver::new();
        let layout = layout(&driver, &listed);
        let sizes = [(STORAGE, 100), (UNIFORM, 100), (DYNAMIC, 100), (INLINE, 400)];
        let pool = pool_with(&driver, 2, &sizes, 20);
        let sets = allocate(&driver, pool, &[layout; 2], &[]).expect("room");
        sets.iter().for_each(|set| clear(*set));
        let buffers: Vec<_> = (1..=8u64).map(|at| buffer(at << 20, 4096 + at)).collect();
        let infos: Vec<_> = (0..DATA).map(|at| vk::DescriptorBufferInfo {
            buffer: *buffers.get(at % 9).unwrap_or(&vk::Buffer::null()),
            offset: 16 * at as u64,
            range: if at % 5 == 0 { vk::WHOLE_SIZE } else { 100 * at as u64 },
        }).collect();
        let size = size_of::<vk::DescriptorBufferInfo>();
        let mut template = Vec::new();
        // Where the last entry ended: entries that go on there may be joined.
        let (mut next, mut next_data) = ((0, 0), 0);
        for (which, (number, element, count, data, stride)) in entries {
            let (listed_number, ty, ..) = listed[which.index(listed.len())];
            let (number, element, data) = match (near, element) {
                (true, 0..4) => (next.0, next.1, next_data),
                _ => (if number == 11 { number } else { listed_number }, element, data),
            };
            let ty = listed.iter().find(|listed| listed.0 == number).map_or(ty, |listed| listed.1);
            let count = count.min(((DATA - data.min(DATA - 1)) / stride.max(1)) as u32);
            let data = data.min(DATA - 1);
            let (unit, stride) = if ty == INLINE { (1, 0) } else { (size, stride) };
            let (count, element) = if ty == INLINE { (4 * count, 4 * element) } else { (count, element) };
            template.push(vk::DescriptorUpdateTemplateEntry {
                dst_binding: number,
                dst_array_element: element,
                descriptor_count: count,
                descriptor_type: ty,
                offset: data * size,
                stride: stride * unit,
            });
            let room = listed.iter().find(|listed| listed.0 == number).map_or(0, |listed| listed.2);
            next = match element + count < room {
                true => (number, element + count),
                false => (number + 1, 0),
            };
            next_data = data + count as usize * stride;
        }
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&template)
            .descriptor_set_layout(layout);
        let start = infos.as_ptr().cast::<u8>();
        // SAFETY: valid structures; the entries stay in the data.
        unsafe {
            let made = driver.device.create_descriptor_update_template(&info, None).expect("a template");
            driver.device.update_descriptor_set_with_template(sets[0], made, start.cast());
            driver.device.destroy_descriptor_update_template(made, None);
        }
        for entry in &template {
            let picked: Vec<_> = (0..entry.descriptor_count as usize)
                .filter_map(|at| infos.get((entry.offset + at * entry.stride) / size).copied())
                .collect();
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[1])
                .dst_binding(entry.dst_binding)
                .dst_array_element(entry.dst_array_element)
                .descriptor_type(entry.descriptor_type);
            // SAFETY: inside the data; valid structures.
            unsafe {
                let bytes = std::slice::from_raw_parts(start, size * DATA);
                let bytes = &bytes[entry.offset..];
                let bytes = &bytes[..bytes.len().min(entry.descriptor_count as usize)];
                let mut block = vk::WriteDescriptorSetInlineUniformBlock::default().data(bytes);
                let mut write = match entry.descriptor_type {
                    INLINE => write.push_next(&mut block),
                    _ => write.buffer_info(&picked),
                };
                write.descriptor_count = entry.descriptor_count;
                driver.device.update_descriptor_sets(&[write], &[]);
            }
        }
        // SAFETY: live sets that no one writes.
        unsafe {
            let of = |set| object::get::<DescriptorSet>(set).dynamic();
            prop_assert_eq!(of(sets[0]), of(sets[1]));
        }
        prop_assert_eq!(bytes(sets[0]), bytes(sets[1]));
        // SAFETY: live handles.
        unsafe {
            for buffer in buffers {
                object::destroy::<Buffer>(global(), buffer);
            }
            driver.device.destroy_descriptor_pool(pool, None);
            driver.device.destroy_descriptor_set_layout(layout, None);
        }
    }
}

#[test]
fn bindings_are_found_by_number_alone_as_far_as_numbers_are_dense() {
    let driver = Driver::new();
    let whole = |listed: &[Listed], bytes: u32, dynamic: u32| {
        let layout = layout(&driver, listed);
        let numbers: Vec<_> = of(layout)
            .whole(bytes, dynamic)
            .iter()
            .map(|b| b.number)
            .collect();
        // SAFETY: a live handle.
        unsafe { driver.device.destroy_descriptor_set_layout(layout, None) };
        numbers
            .iter()
            .zip(0..)
            .for_each(|(number, at)| assert_eq!(*number, at));
        numbers.len()
    };
    let gaps = [
        (2, STORAGE, 3, NONE),
        (5, DYNAMIC, 2, NONE),
        (7, UNIFORM, 1, NONE),
        (400, UNIFORM, 1, NONE),
    ];
    assert_eq!(whole(&gaps, 80, 2), 8);
    // Not all of 7, of 5, of 2.
    assert_eq!(whole(&gaps, 63, 2), 7);
    assert_eq!(whole(&gaps, 80, 1), 5);
    assert_eq!(whole(&gaps, 47, 2), 2);
    assert_eq!(whole(&gaps, 0, 0), 2);
    assert_eq!(whole(&[], 0, 0), 0);
    assert_eq!(whole(&[(30, STORAGE, 1, NONE)], 16, 0), 31);
    assert_eq!(whole(&[(u32::MAX, STORAGE, 1, NONE)], 16, 0), 0);
    // Against the rules: no number can be its index.
    assert_eq!(whole(&[(1, STORAGE, 1, NONE); 3], 48, 0), 0);
}

#[test]
fn what_is_no_buffer_or_no_set_ends_a_call_and_writes_nothing() {
    let driver = Driver::new();
    let one = layout(&driver, &[(0, STORAGE, 4, NONE)]);
    let pool = pool_with(&driver, 1, &[(STORAGE, 4)], 0);
    let set = allocate(&driver, pool, &[one], &[]).expect("room")[0];
    clear(set);
    let good = buffer(0x1000, 64);
    let bad = <vk::Buffer as vk::Handle>::from_raw(vk::Handle::as_raw(one));
    let info = |buffer| vk::DescriptorBufferInfo {
        buffer,
        offset: 0,
        range: vk::WHOLE_SIZE,
    };
    let (fine, wrong, mixed) = ([info(good)], [info(bad)], [info(good), info(bad)]);
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(STORAGE);
    let update = |writes: &[vk::WriteDescriptorSet<'_>]| {
        // SAFETY: valid structures, but for a handle that is that of a live object of another kind.
        unsafe { driver.device.update_descriptor_sets(writes, &[]) };
    };
    update(&[write.buffer_info(&wrong)]);
    update(&[write.buffer_info(&wrong), write.buffer_info(&fine)]);
    update(&[write
        .dst_set(<vk::DescriptorSet as vk::Handle>::from_raw(
            vk::Handle::as_raw(one),
        ))
        .buffer_info(&fine)]);
    update(&[write.dst_set(vk::DescriptorSet::null()).buffer_info(&fine)]);
    assert_eq!(bytes(set), [0; 64]);
    update(&[
        write.dst_array_element(2).buffer_info(&mixed),
        write.buffer_info(&fine),
    ]);
    assert_eq!(
        bytes(set),
        [[0; 16], [0; 16], descriptor(0x1000, 64), [0; 16]].concat()
    );
    update(&[
        write.buffer_info(&fine),
        write.dst_array_element(1).buffer_info(&wrong),
    ]);
    let one_more = [
        descriptor(0x1000, 64),
        [0; 16],
        descriptor(0x1000, 64),
        [0; 16],
    ];
    assert_eq!(bytes(set), one_more.concat());
    // SAFETY: live handles.
    unsafe {
        object::destroy::<Buffer>(global(), good);
        driver.device.destroy_descriptor_pool(pool, None);
        driver.device.destroy_descriptor_set_layout(one, None);
    }
}

#[test]
fn push_descriptors_are_written_into_any_memory() {
    let driver = Driver::new();
    let set = layout(&driver, &[(0, STORAGE, 1, NONE), (3, UNIFORM, 2, NONE)]);
    let layouts = [set];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
    // SAFETY: valid structures.
    let pipeline_layout = unsafe { driver.device.create_pipeline_layout(&info, None) };
    let pipeline_layout = pipeline_layout.expect("a pipeline layout");
    let target = buffer(0x7000, 256);
    let infos = [vk::DescriptorBufferInfo {
        buffer: target,
        offset: 64,
        range: 32,
    }; 2];
    let write = vk::WriteDescriptorSet::default()
        .dst_binding(3)
        .descriptor_type(UNIFORM)
        .buffer_info(&infos);
    let mut memory = vec![0; of(set).size() as usize];
    // SAFETY: valid structures.
    unsafe { of(set).write(&mut memory, &mut [], &write) };
    let one = descriptor(0x7040, 32);
    assert_eq!(memory, [[0; 16], one, one].concat());
    // Memory that is too small is left alone.
    let mut little = vec![0; 40];
    // SAFETY: valid structures.
    unsafe { of(set).write(&mut little, &mut [], &write) };
    assert_eq!(little, [0; 40]);

    let entries = [vk::DescriptorUpdateTemplateEntry {
        dst_binding: 3,
        dst_array_element: 0,
        descriptor_count: 2,
        descriptor_type: UNIFORM,
        offset: 0,
        stride: 24,
    }];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
        .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
        .pipeline_layout(pipeline_layout)
        .set(0);
    // SAFETY: valid structures, and live handles.
    unsafe {
        let template = driver
            .device
            .create_descriptor_update_template(&info, None)
            .expect("a template");
        // A pipeline layout may go before its templates, a set layout before its pipeline layouts.
        driver.device.destroy_descriptor_set_layout(set, None);
        driver.device.destroy_pipeline_layout(pipeline_layout, None);
        let mut again = vec![0; 48];
        let inner = object::get::<UpdateTemplate>(template);
        inner.write(&mut again, &mut [], infos.as_ptr().cast());
        assert_eq!(again, memory);
        driver
            .device
            .destroy_descriptor_update_template(template, None);
        object::destroy::<Buffer>(global(), target);
    }
}

#[test]
fn every_refusal_of_host_memory_is_told_and_leaks_nothing() {
    let host = FailingHost::new();
    let driver = Driver::with_host(&host);
    let device = &driver.device;
    let failures = with_info(MIXED, |info| {
        for_each_failure(
            &host,
            // SAFETY: valid structures and live handles, here and below.
            |callbacks| unsafe { device.create_descriptor_set_layout(info, Some(callbacks)) },
            // SAFETY: as above.
            |made, callbacks| unsafe {
                device.destroy_descriptor_set_layout(made, Some(callbacks));
            },
        )
    });
    assert_eq!(failures, 3);
    let set_layout = layout(&driver, MIXED);
    let layouts = [set_layout; 2];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
    let failures = for_each_failure(
        &host,
        // SAFETY: as above.
        |callbacks| unsafe { device.create_pipeline_layout(&info, Some(callbacks)) },
        // SAFETY: as above.
        |made, callbacks| unsafe { device.destroy_pipeline_layout(made, Some(callbacks)) },
    );
    assert_eq!(failures, 2);
    let sizes = [vk::DescriptorPoolSize {
        ty: STORAGE,
        descriptor_count: 100,
    }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(4)
        .pool_sizes(&sizes);
    let failures = for_each_failure(
        &host,
        // SAFETY: as above.
        |callbacks| unsafe { device.create_descriptor_pool(&info, Some(callbacks)) },
        // SAFETY: as above.
        |made, callbacks| unsafe { device.destroy_descriptor_pool(made, Some(callbacks)) },
    );
    assert_eq!(failures, 2);
    let failures = for_each_failure(
        &host,
        |_| {
            let pool = try_pool(&driver, 4, &[(STORAGE, 100)], 4)?;
            let sets = allocate(&driver, pool, &[set_layout; 3], &[]);
            // SAFETY: as above.
            sets.map(|_| pool)
                .inspect_err(|_| unsafe { device.destroy_descriptor_pool(pool, None) })
        },
        // SAFETY: as above.
        |pool, _| unsafe { device.destroy_descriptor_pool(pool, None) },
    );
    assert!(failures >= 6, "{failures}");
    // Two blocks with a gap between them, so that one entry becomes two writes.
    let entries = [vk::DescriptorUpdateTemplateEntry {
        dst_binding: 8,
        descriptor_count: 32,
        descriptor_type: INLINE,
        ..Default::default()
    }];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .descriptor_set_layout(set_layout);
    let failures = for_each_failure(
        &host,
        // SAFETY: as above.
        |callbacks| unsafe { device.create_descriptor_update_template(&info, Some(callbacks)) },
        // SAFETY: as above.
        |made, callbacks| unsafe {
            device.destroy_descriptor_update_template(made, Some(callbacks));
        },
    );
    assert_eq!(failures, 3);
    // SAFETY: as above.
    unsafe { device.destroy_descriptor_set_layout(set_layout, None) };
}
