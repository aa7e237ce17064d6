// SPDX-License-Identifier: MIT
//! What a shader finds behind its pointers, with shaders written by hand.

use agx_compiler::binary::{Pointer, Statistics};
use agx_isa::asm::assemble;

use super::*;
use crate::case::{Buffer, BufferKind};
use crate::corpus::content;

/// No compiler.
struct None;

fn device() -> SimulatedDevice<None> {
    SimulatedDevice::new(None, Options::default())
}

fn binary(text: &str, pointers: &[Pointer]) -> ShaderBinary {
    ShaderBinary {
        code: assemble(text).unwrap_or_else(|e| panic!("{e}")),
        workgroup_size: [32, 1, 1],
        pointers: pointers.to_vec(),
        stage: agx_compiler::binary::StageInfo::Compute,
        publications: 0,
        scratch_bytes: 0,
        spill_bytes: 0,
        threadgroup_bytes: 0,
        workgroup_buffer_bytes: 0,
        textures: Vec::new(),
        samplers: Vec::new(),
        resources: Vec::new(),
        stats: Statistics::default(),
    }
}

fn buffer(set: u32, binding: u32, content: &str) -> Buffer {
    Buffer {
        set,
        binding,
        element: 0,
        kind: BufferKind::Storage,
        bytes: content::bytes(content, Option::None).unwrap(),
        address_at: Option::None,
    }
}

fn case(buffers: Vec<Buffer>) -> Case {
    Case {
        name: "test".to_owned(),
        spirv: Vec::new(),
        entry: "main".to_owned(),
        specialization: Vec::new(),
        groups: [1; 3],
        base_group: [0; 3],
        push_constants: Vec::new(),
        buffers,
        images: Vec::new(),
    }
}

fn run<C>(
    device: &SimulatedDevice<C>,
    binary: &ShaderBinary,
    case: &Case,
) -> anyhow::Result<Vec<Vec<u32>>> {
    let layout = Layout::of(case)?;
    let results = device.run_binary(binary, case, &layout)?;
    let words = |bytes: Vec<u8>| {
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|w| u32::from_le_bytes(*w)).collect()
    };
    Ok(results.into_iter().map(words).collect())
}

/// to[i] = from[i] + 1, through the descriptors of a set: `to` is the second.
const THROUGH_DESCRIPTORS: &str = "
    get_sr r0, %global_id_x
    mov_imm r1, #4
    device_load.i32x2 r8:r9, u0:u1, none, slot=1
    device_load.i32x2 r10:r11, u0:u1, r1, slot=2
    device_load.i32 r2, r8:r9, r0, slot=3, wait=1
    mov_imm r3, #1
    iadd r4, r2, r3, wait=3
    device_store.i32 r4, r10:r11, r0, wait=2
    stop";

#[test]
fn buffers_are_reached_through_descriptors() {
    let binary = binary(THROUGH_DESCRIPTORS, &[Pointer::DescriptorSet(3)]);
    let mut case = case(vec![buffer(3, 9, "u32:0"), buffer(3, 2, "u32:0..64")]);
    case.buffers[0].bytes = vec![0; 256];
    case.groups = [2, 1, 1];
    let results = run(&device(), &binary, &case).unwrap();
    assert_eq!(results[0], (1..65).collect::<Vec<_>>());
    assert_eq!(results[1], (0..64).collect::<Vec<_>>());
}

#[test]
fn a_descriptor_holds_address_size_and_zero() {
    let text = "
        mov_imm r0, #0
        device_load.i32x4 r8:r11, u2:u3, none, slot=1
        device_store.i32x4 r8:r11, r8:r9, r0, wait=1
        stop";
    let binary = binary(text, &[Pointer::Unused, Pointer::DescriptorSet(0)]);
    let results = run(
        &device(),
        &binary,
        &case(vec![buffer(0, 0, "u32:1,2,3,4,5")]),
    )
    .unwrap();
    let address = u64::from(results[0][1]) << 32 | u64::from(results[0][0]);
    // 20 bytes at the end of a page, as the alignment allows.
    assert_eq!(address % 0x4000, 0x4000 - 32);
    assert_eq!(results[0][2..], [20, 0, 5]);
}

/// The first buffer's address is the first 8 bytes of the push constants. Copies `count` words from
/// another pointer to it.
fn copy(count: u32) -> String {
    let ty = if count == 1 {
        "i32".to_owned()
    } else {
        format!("i32x{count}")
    };
    let last = 11 + count;
    format!(
        "mov_imm r0, #0
         device_load.i32x2 r8:r9, u0:u1, none, slot=1
         device_load.{ty} r12:r{last}, u2:u3, none, slot=2
         or.10 r8, r8, r8, wait=1
         device_store.{ty} r12:r{last}, r8:r9, r0, wait=2
         stop"
    )
}

fn addressed(content: &str) -> Case {
    let mut case = case(vec![buffer(0, 0, content)]);
    case.buffers[0].kind = BufferKind::Address;
    case.buffers[0].address_at = Some(0);
    case.push_constants = content::bytes("u64:0 u32:11,12", Option::None).unwrap();
    case
}

#[test]
fn pointers_lead_where_they_should() {
    let device = device();
    let mut case = addressed("u32:9,9,9,9");
    case.groups = [3, 1, 2];
    case.base_group = [5, 6, 7];
    let pointers = |pointer| {
        let push = Pointer::PushConstants;
        [push, pointer, Pointer::BaseWorkgroup]
    };
    let counts = binary(&copy(3), &pointers(Pointer::WorkgroupCounts));
    assert_eq!(run(&device, &counts, &case).unwrap()[0], [3, 1, 2, 9]);
    let base = binary(&copy(3), &pointers(Pointer::BaseWorkgroup));
    assert_eq!(run(&device, &base, &case).unwrap()[0], [5, 6, 7, 9]);
    let push = binary(&copy(4), &pointers(Pointer::PushConstants));
    assert_eq!(run(&device, &push, &case).unwrap()[0][2..], [11, 12]);
    let mut workgroup = binary(&copy(4), &pointers(Pointer::WorkgroupBuffer));
    workgroup.workgroup_buffer_bytes = 16;
    assert_eq!(
        run(&device, &workgroup, &case).unwrap()[0],
        [0xcdcd_cdcd; 4]
    );
}

#[test]
fn device_memory_of_workgroups_covers_each_of_them() {
    // Writes the last word of the last workgroup's part, then one word further.
    let text = |index: u32| {
        format!(
            "mov_imm r0, #{index}
             mov_imm r1, #5
             device_store.i32 r1, u0:u1, r0
             stop"
        )
    };
    let device = device();
    let mut case = case(Vec::new());
    case.groups = [2, 3, 1];
    for (index, fits) in [(6 * 4 - 1, true), (6 * 4, false)] {
        let mut binary = binary(&text(index), &[Pointer::WorkgroupBuffer]);
        binary.workgroup_buffer_bytes = 16;
        assert_eq!(run(&device, &binary, &case).is_ok(), fits);
    }
}

#[test]
fn threadgroup_memory() {
    let text = "
        get_sr r0, %global_id_x
        device_load.i32x2 r8:r9, u0:u1, none, slot=1
        mov_imm r1, #7
        iadd r1, r1, r0
        threadgroup_store ^r1, u2:u3, r0.l
        or.10 r8, r8, r8, wait=1
        barrier.threadgroup
        threadgroup_load r2, u2:u3, r0.l
        or.10 r2, r2, r2, wait=6
        device_store.i32 r2, r8:r9, r0
        stop";
    let pointers = [Pointer::PushConstants, Pointer::ThreadgroupRoot];
    let mut binary = binary(text, &pointers);
    binary.threadgroup_bytes = 128;
    let mut case = addressed("u32:0");
    case.buffers[0].bytes = vec![0; 128];
    let results = run(&device(), &binary, &case).unwrap();
    assert_eq!(results[0], (7..39).collect::<Vec<_>>());
}

/// Stores to the first buffer at a signed offset in words.
fn store_at(offset: &str) -> ShaderBinary {
    let text = format!(
        "mov_imm r0, #{offset}
         mov_imm r1, #5
         device_load.i32x2 r8:r9, u0:u1, none, slot=1
         or.10 r8, r8, r8, wait=1
         device_store.i32 r1, r8:r9, r0
         stop"
    );
    binary(&text, &[Pointer::PushConstants, Pointer::Unused])
}

#[test]
fn writes_outside_of_buffers_are_errors() {
    let device = device();
    let mut case = addressed("u32:1,1,1,1,1");
    // Five words end 12 bytes before an aligned end.
    let error = run(&device, &store_at("5"), &case).unwrap_err();
    assert!(
        format!("{error:#}").contains("outside all buffers"),
        "{error:#}"
    );
    case.buffers[0].bytes = vec![1; 64];
    let trap = run(&device, &store_at("16"), &case).unwrap_err();
    assert!(format!("{trap:#}").contains("store of 4 bytes"), "{trap:#}");
    // The device is lost, the next run gets another.
    let results = run(&device, &store_at("15"), &case).unwrap();
    assert_eq!(results[0][14..], [0x0101_0101, 5]);
}

#[test]
fn missing_waits_are_errors() {
    let text = "
        device_load.i32x2 r8:r9, u0:u1, none, slot=1
        mov_imm r1, #5
        mov_imm r0, #0
        device_store.i32 r1, r8:r9, r0
        stop";
    let binary = binary(text, &[Pointer::PushConstants, Pointer::Unused]);
    let error = run(&device(), &binary, &addressed("u32:0")).unwrap_err();
    assert!(format!("{error:#}").contains("slot 1"), "{error:#}");
}

#[test]
fn what_cannot_be_launched_is_refused() {
    let device = device();
    let good = || binary("stop", &[Pointer::Unused]);
    let refused = |binary: &ShaderBinary, case: &Case, says: &str| {
        let error = run(&device, binary, case).unwrap_err();
        assert!(format!("{error:#}").contains(says), "{error:#}");
    };
    let mut case = case(vec![buffer(0, 0, "u32:0")]);
    run(&device, &good(), &case).unwrap();
    let large = ShaderBinary {
        threadgroup_bytes: 0x8001,
        ..good()
    };
    refused(&large, &case, "threadgroup");
    let many = ShaderBinary {
        pointers: vec![Pointer::Unused; 30],
        ..good()
    };
    refused(&many, &case, "30 pointers");
    let dynamic = ShaderBinary {
        pointers: vec![Pointer::DynamicBuffers],
        ..good()
    };
    refused(&dynamic, &case, "dynamic");
    let empty = ShaderBinary {
        code: Vec::new(),
        ..good()
    };
    refused(&empty, &case, "no code");
    case.base_group = [1, 0, 0];
    refused(&good(), &case, "base workgroup");
    case.base_group = [0; 3];
    case.groups = [70000, 1, 1];
    refused(&good(), &case, "workgroups on an axis");
    case.groups = [0, 1, 1];
    assert_eq!(run(&device, &good(), &case).unwrap(), [[0]]);
}

#[test]
fn code_of_any_length_runs_and_leaves_nothing_behind() {
    let device = device();
    let pointers = [Pointer::PushConstants, Pointer::Unused];
    let long = format!(
        "{}{}",
        "mov_imm r5, #1\n".repeat(100_000),
        copy(1).replace("u2", "u0").replace("u3", "u1")
    );
    run(&device, &binary(&long, &pointers), &addressed("u32:0")).unwrap();
    // Falls off its end, where the long shader's code was.
    let error = run(
        &device,
        &binary("mov_imm r5, #1", &pointers),
        &addressed("u32:0"),
    );
    assert!(error.is_err());
}

#[test]
fn many_buffers_of_all_sizes() {
    let device = device();
    let mut case = addressed("u32:1");
    for size in [1, 16383, 16384, 16385, 3 << 20] {
        let mut buffer = buffer(0, size, "u8:1");
        buffer.bytes = (0..size).map(|i| i as u8).collect();
        case.buffers.push(buffer);
    }
    let before: Vec<_> = case.buffers.iter().map(|b| b.bytes.clone()).collect();
    let binary = binary("stop", &[Pointer::PushConstants, Pointer::DescriptorSet(0)]);
    let layout = Layout::of(&case).unwrap();
    assert_eq!(device.run_binary(&binary, &case, &layout).unwrap(), before);
}

#[test]
fn runs_from_several_threads_do_not_meet() {
    let device = device();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let device = &device;
            scope.spawn(move || {
                for round in 0..20 {
                    let binary = binary(THROUGH_DESCRIPTORS, &[Pointer::DescriptorSet(0)]);
                    let first = 1000 * thread + round;
                    let range = format!("u32:{first}..{}", first + 32);
                    let mut case = case(vec![buffer(0, 0, &range), buffer(0, 1, "u32:0")]);
                    case.buffers[1].bytes = vec![0; 128];
                    let results = run(device, &binary, &case).unwrap();
                    let expected: Vec<_> = (first + 1..first + 33).collect();
                    assert_eq!(results[1], expected);
                }
            });
        }
    });
}
