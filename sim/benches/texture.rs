// SPDX-License-Identifier: MIT
//! Rates of the texture unit on one core: fetches, bilinear and trilinear samples, stores. An item is one
//! lane's result.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_hw::format::{Format, StoreFrom};
use agx_hw::sampler::{Filter, MipFilter, Sampler, Wrap};
use agx_hw::store::{self, Store};
use agx_hw::texture::{Dimension, Levels, Memory, Texture, Tiling};
use agx_isa::asm::assemble;
use agx_sim::memory::{Bo, Mappings, Region, Tlb};
use agx_sim::rig::{CODE, DATA};
use agx_sim::shader::{
    Dispatch, Exit, Lanes, NoObserver, Program, Stage, UniformFile, Wave, Workgroup,
};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// Where texels lie.
const TEXELS: u64 = DATA + (1 << 30);
/// Instructions in a run.
const COUNT: usize = 1000;
const SIZE: u32 = 256;

/// Regions with one instruction many times, its records and its texels.
fn memory(text: &str, format: Format, levels: Levels, sampler: Sampler) -> Mappings {
    let mut program = String::new();
    for word in 0..8 {
        program += &format!("or.10 p{word}, r{r}, r{r}, slot=1\n", r = 32 + word);
    }
    program += "or.10 r90, r90, r90, wait=1\n";
    program += &format!("{text}\n").repeat(COUNT);
    program += "stop\n";
    let code = assemble(&program).unwrap_or_else(|e| panic!("{e}"));
    let dimension = Dimension::D2;
    let mut texture = Texture::tiled(format, dimension, SIZE, SIZE, TEXELS);
    texture.memory = Memory::Tiled(Tiling {
        dimension,
        levels,
        page_aligned: false,
        compression: None,
    });
    let mut tables = vec![0; 0x2000];
    texture.pack(&mut tables).unwrap();
    if !format.is_compressed() {
        let dimension = store::Dimension::D2;
        let store = Store::tiled(format, StoreFrom::Shader, dimension, SIZE, SIZE, TEXELS);
        store.unwrap().pack(&mut tables[32..]).unwrap();
    }
    sampler.pack(&mut tables[0x1000..]).unwrap();
    let region = |start: u64, size: u64, bytes: &[u8]| {
        let bo = Bo::new(size).unwrap();
        // SAFETY: the object is at least as long and nobody else knows of it yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), bo.base(), bytes.len()) };
        Region {
            start,
            end: start + bo.size(),
            bo: Arc::new(bo),
            offset: 0,
            single_page: false,
            read: true,
            write: true,
        }
    };
    let texels = texture.layout().unwrap().size();
    Mappings::new(vec![
        region(DATA, tables.len() as u64, &tables),
        region(TEXELS, texels, &[]),
        region(CODE, code.len() as u64, &code),
    ])
}

/// Runs it: lanes are an 8 by 4 block of neighbouring texels, off their middles.
fn run(bencher: Bencher<'_, '_>, mappings: &Mappings, whole: bool) {
    let program = Program::build(mappings, CODE);
    let uniforms = UniformFile::default();
    for (word, value) in [DATA, DATA >> 32, DATA + 0x1000, DATA >> 32]
        .into_iter()
        .enumerate()
    {
        uniforms.set(word as u8, value as u32);
    }
    let cancel = AtomicBool::new(false);
    let dispatch = Dispatch {
        stage: Stage::Compute,
        uniforms: &uniforms,
        global: [32, 1, 1],
        local: [32, 1, 1],
        groups: [1, 1, 1],
        scratch_bytes: 0,
        threadgroup_bytes: 0,
        watchdog: u64::MAX,
        cancel: &cancel,
        strict: false,
        late_tests: false,
    };
    let tlb = Tlb::new(mappings);
    let group = Workgroup {
        dispatch: &dispatch,
        tlb: &tlb,
        id: [0; 3],
        shared: &[],
    };
    let mut wave = Wave::new(&group, 0, !0);
    for index in 0..8 {
        wave.gprs[32 + index] = Lanes::from_fn(|lane| {
            let (x, y) = ((lane % 8) as u32 + 100, (lane / 8) as u32 + 60);
            match index {
                0 | 1 if whole => [x, y][index],
                0 | 1 => (([x, y][index] as f32 + 0.3) / SIZE as f32).to_bits(),
                // Level 1.25.
                3 if !whole => 80 << 16,
                _ => 0,
            }
        });
    }
    bencher
        .counter(ItemsCount::new(32 * COUNT))
        .bench_local(|| {
            wave.pc = 0;
            let exit = wave.run(&program, 2 * COUNT as u64, &mut NoObserver);
            assert!(matches!(exit, Exit::Stop), "{exit:?}");
        });
}

fn linear(mip: MipFilter) -> Sampler {
    Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        mip,
        wrap: [Wrap::Repeat; 3],
        ..Sampler::default()
    }
}

const FORMATS: [Format; 3] = [
    Format::R8G8B8A8Unorm,
    Format::R32G32B32A32Sfloat,
    Format::Bc1RgbaUnormBlock,
];

#[divan::bench(args = FORMATS)]
fn fetch(bencher: Bencher<'_, '_>, format: Format) {
    let text = "texture.2d_fetch.load r0:r3, p0, tex0, samp0, slot=1";
    let memory = memory(text, format, Levels::Single, Sampler::fetch());
    run(bencher, &memory, true);
}

#[divan::bench(args = FORMATS)]
fn nearest(bencher: Bencher<'_, '_>, format: Format) {
    let text = "texture.2d.sample r0:r3, p0, tex0, samp0, slot=1";
    let memory = memory(text, format, Levels::Single, Sampler::default());
    run(bencher, &memory, false);
}

#[divan::bench(args = FORMATS)]
fn bilinear(bencher: Bencher<'_, '_>, format: Format) {
    let text = "texture.2d.sample r0:r3, p0, tex0, samp0, slot=1";
    let memory = memory(text, format, Levels::Single, linear(MipFilter::None));
    run(bencher, &memory, false);
}

#[divan::bench(args = FORMATS)]
fn trilinear(bencher: Bencher<'_, '_>, format: Format) {
    let text = "texture.2d_lod.sample r0:r3, p0, tex0, samp0, slot=1";
    let levels = Levels::View { first: 0, last: 8 };
    let memory = memory(text, format, levels, linear(MipFilter::Linear));
    run(bencher, &memory, false);
}

#[divan::bench(args = [Format::R8G8B8A8Unorm, Format::R32G32B32A32Sfloat])]
fn store(bencher: Bencher<'_, '_>, format: Format) {
    let text = "image_store.2d p0, img1";
    let memory = memory(text, format, Levels::Single, Sampler::default());
    run(bencher, &memory, true);
}
