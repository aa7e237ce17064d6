// SPDX-License-Identifier: MIT
//! What must end in a fault, and what the message says.

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::ppp::{ObjectType, PassType, Visibility};
use agx_hw::scissor::Scissor;
use agx_hw::vdm::{Primitive, Record, Update};
use agx_sim::fault::Fault;

use crate::depth::{cover, draw_of};
use crate::shaders::{self, CLOSE, OPEN};
use crate::studio::{Setup, Studio, gpu, object, words};

fn studio() -> Studio {
    let mut studio = Studio::new([32, 32], Samples::One, 8);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    studio
}

fn setup(studio: &mut Studio) -> Setup {
    let fragment = shaders::constant(studio, 1);
    draw_of(studio, &cover(0.5, [0.0; 4]), fragment)
}

#[track_caller]
fn fails(studio: &mut Studio, text: &str) -> Box<Fault> {
    let fault = match studio.render(&gpu(2)) {
        Ok(()) => panic!("no fault about \"{text}\""),
        Err(fault) => fault,
    };
    let message = fault.to_string();
    assert!(message.contains(text), "{message} instead of {text}");
    fault
}

#[track_caller]
fn fragment_fails(text: &str, message: &str) {
    let mut studio = studio();
    let mut setup = setup(&mut studio);
    setup.fragment = studio.shader(text);
    studio.draw(&setup);
    let fault = fails(&mut studio, message);
    assert!(fault.record.is_some());
    assert_eq!(fault.shader.unwrap().stage, "fragment");
}

#[test]
fn fragment_programs() {
    fragment_fails(
        &format!("{OPEN} iter r1, cf5, none\n {CLOSE}"),
        "coefficient 5",
    );
    fragment_fails(
        &format!("{OPEN} mov_imm r1, #0\n tile_store tw2, r1, r12.l\n {CLOSE}"),
        "tile word 2",
    );
    fragment_fails(
        "mov_imm r1, #0\n tile_store tw0, r1, #1\n stop",
        "outside a transaction",
    );
    fragment_fails(
        "tile_access imm=0x80c\n tile_fence imm=0x20c\n stop",
        "no ACCESS 0x600",
    );
    fragment_fails(
        "tile_access imm=0x600\n tile_access imm=0x80c\n stop",
        "FENCE 0x20c is missing",
    );
    fragment_fails(
        "tile_access imm=0x600\n tile_access imm=0x808\n mov_imm r1, #0\n tile_store tw0, r1, #1\n stop",
        "ACCESS 0x80c is missing",
    );
    fragment_fails("tile_fence imm=0x20c\n stop", "not open");
    fragment_fails(
        "get_sr r0, %vertex_id\n or.10 r0, r0, r0, wait=1\n stop",
        "no value in a fragment program",
    );
    fragment_fails(
        "get_sr r0, %sample_id\n stop",
        "no value in a fragment program",
    );
    fragment_fails(
        &format!("{OPEN} iter_flat r4:r6, cf1, slot=2\n or.10 r6, r6, r6, wait=2\n {CLOSE}"),
        "not bound flat",
    );
    // Discarding without a pass type that says so.
    fragment_fails(
        "tile_access imm=0x600\n mov_imm r8, #0x110\n or p0, r8, r8, slot=1\n coverage p0, wait=1\n stop",
        "pass type",
    );
    fragment_fails(
        "tile_access imm=0x700
         mov_imm r0, #0
         or p0, r0, r0, slot=1
         or p1, r0, r0, slot=1
         or p2, r0, r0, slot=1
         or.10 r0, r0, r0, wait=1
         block_store.2d.norm8 p0, img0
         tile_fence imm=0x300
         stop",
        "end-of-tile",
    );
}

#[test]
fn late_programs_test_every_sample() {
    let mut studio = studio();
    let mut setup = setup(&mut studio);
    setup.control2.pass = PassType::PunchThrough;
    studio.draw(&setup);
    fails(&mut studio, "still to be tested");
    let mut studio = self::studio();
    let mut setup = self::setup(&mut studio);
    setup.fragment = studio.shader("tile_access imm=0x600\n stop");
    setup.control2.pass = PassType::PunchThrough;
    studio.draw(&setup);
    fails(&mut studio, "neither killed nor tested");
}

#[test]
fn vertex_programs() {
    let check = |text: &str, message: &str| {
        let mut studio = studio();
        let mut setup = setup(&mut studio);
        setup.vertex = studio.shader(text);
        studio.draw(&setup);
        let fault = fails(&mut studio, message);
        assert_eq!(fault.shader.unwrap().stage, "vertex");
    };
    let store = |slot: u32| format!("or p0, r0, r0, slot=1\n vary_store out{slot}, p0, wait=1\n");
    let slots = |range: std::ops::Range<u32>| range.map(store).collect::<String>();
    check("stop", "without output slot 0");
    check(
        &format!("mov_imm r0, #0\n {} stop", slots(0..3)),
        "without output slot 3",
    );
    check(
        &format!("mov_imm r0, #0\n {} stop", slots(0..7)),
        "without output slot 7",
    );
    check(
        &format!("mov_imm r0, #0\n {} stop", slots(0..9)),
        "output slot 8",
    );
    // The publication is not waited for.
    check(
        "mov_imm r0, #0\n or p0, r0, r0, slot=1\n vary_store out0, p0\n stop",
        "pending on slot 1",
    );
    check(
        "get_sr r0, %coverage\n or.10 r0, r0, r0, wait=1\n stop",
        "no value in a vertex program",
    );
    check("iter r0, cf0, none\n stop", "fragment stage");
}

#[test]
fn state() {
    // Every piece is needed.
    let mut complete = studio();
    let whole = setup(&mut complete);
    complete.draw(&whole);
    let records = complete.records.clone();
    for missing in 0..9 {
        // Barrier, vertex state, nine updates of 8 bytes, draw.
        let mut cut = records.clone();
        let at = 4 + 28 + 8 * missing;
        cut.drain(at..at + 8);
        complete.records = cut;
        let fault = fails(&mut complete, "without the piece");
        assert!(fault.record.is_some());
    }
    let mut cut = records.clone();
    cut.drain(4..32);
    complete.records = cut;
    fails(&mut complete, "without vertex state");
    complete.records = records;
    complete.render(&gpu(1)).unwrap();

    let check = |change: &dyn Fn(&mut Studio, &mut Setup), message: &str| {
        let mut studio = studio();
        let mut setup = setup(&mut studio);
        change(&mut studio, &mut setup);
        studio.draw(&setup);
        fails(&mut studio, message);
    };
    check(&|_, setup| setup.topology = Primitive::Lines, "object type");
    check(
        &|_, setup| object(&mut setup.control2, ObjectType::Line),
        "object type",
    );
    check(
        &|_, setup| setup.control.visibility = Visibility::Counting,
        "without results",
    );
    check(
        &|_, setup| {
            setup.topology = Primitive::Points;
            object(&mut setup.control2, ObjectType::PointUv01);
        },
        "whose size nothing says",
    );
    check(
        &|studio, setup| {
            studio.size = [64, 64];
            setup.scissors = vec![Scissor::new([0, 0], [64, 64], [0.0, 1.0]).unwrap()];
        },
        "does not cover its scissor",
    );
    // A launcher for other tile memory.
    check(&|studio, _| studio.tile_bytes = 16, "ALLOC");
    check(&|studio, _| studio.samples = Samples::Two, "");
}

#[test]
fn streams() {
    let mut bad = studio();
    bad.records.extend(words(&[0xa000_0000]));
    fails(&mut bad, "type");
    // State that is no piece.
    let mut bad = studio();
    let at = bad.state.place(&words(&[0x1234_5678, 0]), 4);
    let at = agx_hw::window::ContextAddress::new(at).unwrap();
    bad.record(&Record::Update(Update::new(at, 2).unwrap()));
    fails(&mut bad, "header");
    // A link to itself.
    let mut bad = studio();
    bad.records.extend(words(&[0x8000_0000, 0x0400_0004]));
    fails(&mut bad, "loop");
}

#[test]
fn commands() {
    let render = |change: &dyn Fn(&mut agx_uapi::abi::CmdRender), message: &str| {
        let mut studio = studio();
        let mut command = studio.finish();
        change(&mut command.render);
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let result = agx_sim::processor::Processor::render(&gpu(1), &command, &cancel, &mut || {});
        let message_found = result.unwrap_err().to_string();
        assert!(message_found.contains(message), "{message_found}");
    };
    render(&|c| c.utile_height_px = 16, "tiles of 32x16");
    render(&|c| c.ppp_ctrl |= 1, "clip volume");
    render(&|c| c.ppp_ctrl |= 4, "ppp_ctrl");
    render(&|c| c.ppp_multisamplectl = 0x8888, "ppp_multisamplectl");
    render(
        &|c| c.zls_ctrl = agx_uapi::abi::ZlsControl::from_bits_retain(1 << 15),
        "without a surface",
    );
    render(
        &|c| c.zls_ctrl = agx_uapi::abi::ZlsControl::from_bits_retain(1 << 2),
        "compressed",
    );
    render(&|c| c.sample_size_b = 0, "ALLOC");
}
