// SPDX-License-Identifier: MIT
//! Every way in which a case gives a shader its data, on lavapipe.

use super::*;
use crate::case::{Buffer, BufferKind};
use crate::corpus::content;
use mesa_nir::SpecConstant;

fn glsl(source: &str) -> Vec<u32> {
    let name = format!("cortland-lavapipe-{:x}.comp", {
        use std::hash::{BuildHasher as _, RandomState};
        RandomState::new().hash_one(source)
    });
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, source).unwrap();
    let words = crate::corpus::source::compile(&path);
    std::fs::remove_file(&path).unwrap();
    words.unwrap()
}

fn buffer(set: u32, binding: u32, content: &str) -> Buffer {
    Buffer {
        set,
        binding,
        element: 0,
        kind: BufferKind::Storage,
        bytes: content::bytes(content, None).unwrap(),
        address_at: None,
    }
}

fn case(source: &str, buffers: Vec<Buffer>) -> Case {
    Case {
        name: "test".to_owned(),
        spirv: glsl(source),
        entry: "main".to_owned(),
        specialization: Vec::new(),
        groups: [1; 3],
        base_group: [0; 3],
        push_constants: Vec::new(),
        buffers,
        images: Vec::new(),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

fn run(case: &Case) -> Vec<Vec<u32>> {
    let results = Lavapipe::shared().unwrap().run(case).unwrap();
    results.iter().map(|bytes| words(bytes)).collect()
}

#[test]
fn sets_bindings_arrays_and_kinds() {
    let source = "#version 450
        layout(local_size_x = 4) in;
        layout(set=0, binding=5) uniform U { uvec4 u; };
        layout(set=2, binding=0) buffer A { uint a[]; } arrays[3];
        layout(set=2, binding=9) buffer B { uint b[]; };
        void main() {
            uint i = gl_LocalInvocationIndex;
            b[i] = u[i] + arrays[0].a[0] + arrays[2].a[i];
            arrays[2].a[i] = 0;
        }";
    let mut uniform = buffer(0, 5, "u32:1000,2000,3000,4000");
    uniform.kind = BufferKind::Uniform;
    let mut last = buffer(2, 0, "u32:1,2,3,4");
    last.element = 2;
    let first = buffer(2, 0, "u32:10");
    let buffers = vec![buffer(2, 9, "u32:9,9,9,9,9"), last, uniform, first];
    let results = run(&case(source, buffers));
    assert_eq!(results[0], [1011, 2012, 3013, 4014, 9]);
    assert_eq!(results[1], [0; 4]);
    assert_eq!(results[2], [1000, 2000, 3000, 4000]);
    assert_eq!(results[3], [10]);
}

#[test]
fn push_constants_addresses_and_specialisation() {
    let source = "#version 460
        #extension GL_EXT_buffer_reference : require
        #extension GL_EXT_shader_explicit_arithmetic_types : require
        layout(constant_id = 3) const uint factor = 1;
        layout(constant_id = 4) const uint64_t wide = 1;
        layout(constant_id = 5) const bool flag = false;
        layout(buffer_reference, std430) buffer R { uint v[]; };
        layout(push_constant) uniform P { uint addend; uint pad; R r; };
        layout(set=0, binding=0) buffer B { uint b[]; };
        void main() {
            b[0] = r.v[1] * factor + addend;
            b[1] = uint(wide >> 32);
            b[2] = flag ? 7 : 8;
            r.v[0] = 5;
        }";
    let mut pointed = buffer(0, 0, "u32:1,20");
    pointed.kind = BufferKind::Address;
    pointed.address_at = Some(8);
    let mut case = case(source, vec![pointed, buffer(0, 0, "u32:0,0,0")]);
    case.push_constants = content::bytes("u32:3,0 u64:0", None).unwrap();
    case.specialization = [(3, 10), (4, 7 << 32), (5, 1), (99, 1)]
        .map(|(id, bits)| SpecConstant { id, bits })
        .to_vec();
    let results = run(&case);
    assert_eq!(results[0], [5, 20]);
    assert_eq!(results[1], [203, 7, 7]);
}

#[test]
fn base_groups_and_counts() {
    let source = "#version 450
        layout(local_size_x = 2, local_size_y = 2) in;
        layout(set=0, binding=0) buffer B { uint b[]; };
        void main() {
            uvec3 id = gl_GlobalInvocationID;
            b[id.x + 16 * id.y] = 1 + gl_WorkGroupID.x + 10 * gl_WorkGroupID.y
                + 100 * gl_NumWorkGroups.x;
        }";
    let mut case = case(source, vec![buffer(0, 0, "u32:00x256")]);
    case.groups = [2, 1, 1];
    case.base_group = [3, 2, 0];
    let result = &run(&case)[0];
    assert_eq!(result[6 + 16 * 4], 1 + 3 + 20 + 200);
    assert_eq!(result[9 + 16 * 5], 1 + 4 + 20 + 200);
    assert_eq!(result.iter().filter(|v| **v != 0).count(), 8);
}

#[test]
fn wide_and_narrow_types() {
    let source = "#version 460
        #extension GL_EXT_shader_explicit_arithmetic_types : require
        #extension GL_EXT_shader_16bit_storage : require
        #extension GL_EXT_shader_8bit_storage : require
        layout(set=0, binding=0, std430) buffer B { uint8_t a[4]; uint16_t h[2]; uint64_t w[2]; };
        void main() { a[1] += uint8_t(250); h[1] *= uint16_t(3); w[1] = w[0] * 5ul; }";
    let case = case(
        source,
        vec![buffer(0, 0, "u8:1,10,3,4 u16:1,30000 u64:0x100000001,0")],
    );
    let result = &Lavapipe::shared().unwrap().run(&case).unwrap()[0];
    let expected = "u8:1,4,3,4 u16:1,24464 u64:0x100000001,0x500000005";
    assert_eq!(*result, content::bytes(expected, None).unwrap());
}

#[test]
fn what_cannot_run_is_refused() {
    let source = "#version 450
        layout(set=0, binding=0) buffer B { uint b[]; };
        void main() { b[0] = 1; }";
    let lavapipe = Lavapipe::shared().unwrap();
    let refused = |change: &dyn Fn(&mut Case)| {
        let mut case = case(source, vec![buffer(0, 0, "u32:0")]);
        change(&mut case);
        format!("{:#}", lavapipe.run(&case).unwrap_err())
    };
    assert!(refused(&|case| case.buffers[0].set = 99).contains("set 99"));
    assert!(refused(&|case| case.buffers[0].bytes.clear()).contains("no bytes"));
    assert!(refused(&|case| case.push_constants = vec![0; 4096]).contains("push constants"));
    let uniform = |case: &mut Case| {
        case.buffers[0].kind = BufferKind::Uniform;
        case.buffers[0].bytes = vec![0; 1 << 20];
    };
    assert!(refused(&uniform).contains("more than"));
}

#[test]
fn subgroups_are_as_wide_as_vectors() {
    let lavapipe = Lavapipe::shared().unwrap();
    assert!([4, 8, 16].contains(&lavapipe.subgroup_size()));
    assert!(
        lavapipe.description().contains("llvmpipe"),
        "{}",
        lavapipe.description()
    );
}

#[test]
fn the_validation_layer_is_heard() {
    let lavapipe = match Lavapipe::open(Options { validation: true }) {
        Ok(lavapipe) => lavapipe,
        // It is not among the packages that ./x setup installs.
        Err(error) => {
            assert!(
                format!("{error:#}").contains("validation layer"),
                "{error:#}"
            );
            return;
        }
    };
    let source = "#version 450
        layout(set=0, binding=0) buffer B { uint b[]; };
        void main() { b[0] = 1; }";
    let mut case = case(source, vec![buffer(0, 0, "u32:0")]);
    assert_eq!(lavapipe.run(&case).unwrap(), [vec![1, 0, 0, 0]]);
    // The shader uses a binding that the layout does not have.
    case.buffers[0].binding = 1;
    let error = format!(
        "{:#}",
        lavapipe.compile(&case).map(|_| ()).map_or_else(
            |error| error,
            |()| anyhow::anyhow!("{}", lavapipe.instance.take_messages().join("\n")),
        )
    );
    assert!(
        error.contains("binding") || error.contains("Binding"),
        "{error}"
    );
}
