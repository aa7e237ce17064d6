// SPDX-License-Identifier: MIT
//! The trace, compared with text written by hand, and what observers do together.

use agx_sim::fault::FaultKind;
use agx_sim::shader::observe::DynObserver;
use agx_sim::shader::profile::Profile;
use agx_sim::shader::strict::{Options, Strict};
use agx_sim::shader::trace::{Filter, Trace};
use agx_sim::shader::{Exit, NoObserver, Observer, Program, Wave};

mod support;
use support::{CODE, DATA, Rig, stopped};

/// The trace of a program whose r1 is the lane's number times 3.
fn trace(rig: &Rig, filter: Filter) -> String {
    let mut trace = Trace::new(Vec::new(), filter);
    rig.run_observed(
        &mut trace,
        |wave| (0..32).for_each(|lane| wave.gprs[1].0[lane] = 3 * lane as u32),
        |_, _| (),
    );
    String::from_utf8(trace.finish().unwrap()).unwrap()
}

/// A head line.
fn head(offset: u64, text: &str, active: u32) -> String {
    format!(
        "[2,0,0] sg 1 {:x}: {text:<48} active {active:08x}\n",
        CODE + offset
    )
}

fn rig(text: &str) -> Rig {
    let mut rig = Rig::new(text);
    rig.id = [2, 0, 0];
    rig.simd_group = 1;
    rig
}

#[test]
fn instructions_and_values() {
    let mut rig = rig("mov_imm r0, #7\n iadd r2, r1, r0\n pcmp.6.ult P2, r1, r0");
    rig.active = 0x00ff_ff07;
    let expected = [
        head(0, "mov_imm.2 r0, #7", rig.active),
        "    r0 = 0..2: 00000007 8..23: 00000007\n".to_owned(),
        head(2, "iadd r2, r1, r0", rig.active),
        "    r2 = 0..2: 00000007 step 3 8..23: 0000001f step 3\n".to_owned(),
        head(12, "pcmp.6.ult P2, r1, r0", rig.active),
        "    P2 = 00000007\n".to_owned(),
        head(18, "stop", rig.active),
    ];
    assert_eq!(trace(&rig, Filter::ALL), expected.concat());
}

#[test]
fn halves_masks_and_pairs_of_lanes() {
    let mut rig = rig("get_sr16 r3.l, %lane\n push.if false\n mov_imm r0, #1\n else\n pop.if");
    rig.active = 0b1011;
    let expected = [
        head(0, "get_sr16 r3.l, %lane", 0b1011),
        // Two lanes with different values are no run.
        "    r3.l = 0: 00000000 1: 00000001 3: 00000003\n".to_owned(),
        head(4, "push.if false", 0b1011),
        "    active 00000000\n".to_owned(),
        // No lane, no values.
        head(8, "mov_imm.2 r0, #1", 0),
        head(10, "else", 0),
        "    active 0000000b\n".to_owned(),
        head(14, "pop.if", 0b1011),
        head(20, "stop", 0b1011),
    ];
    assert_eq!(trace(&rig, Filter::ALL), expected.concat());
}

#[test]
fn publications_arguments_and_tuples() {
    let mut rig = rig(
        "export_fadd.8 p5, r1, r1\n device_load.i32x2 r4:r5, u2:u3, none, slot=1\n device_load.i16 r4.h, u2:u3, none, offset=4, slot=1\n uniform_iadd u9, r1, #0",
    );
    rig.stage = agx_sim::shader::Stage::Launcher;
    rig.active = 2;
    rig.pointer(1, DATA);
    rig.write_words(0, &[0x11, 0x22]);
    let text = trace(&rig, Filter::ALL);
    let values: Vec<&str> = text.lines().filter(|l| l.starts_with("    ")).collect();
    // 3 is a subnormal: the sum is zero.
    assert_eq!(
        values,
        [
            "    p5 = 1: 00000000",
            "    r4 = 1: 00000011",
            "    r5 = 1: 00000022",
            "    r4.h = 1: 00000022",
            "    u9 = 00000003",
        ]
    );
}

#[test]
fn filters() {
    let rig = rig("mov_imm r0, #7\n mov_imm r2, #8");
    let whole = trace(&rig, Filter::ALL);
    assert_eq!(whole.lines().count(), 5);
    for filter in [
        Filter {
            workgroup: Some([1, 0, 0]),
            ..Filter::ALL
        },
        Filter {
            simd_group: Some(0),
            ..Filter::ALL
        },
        Filter {
            lanes: 0,
            ..Filter::ALL
        },
    ] {
        assert_eq!(trace(&rig, filter), "", "{filter:?}");
    }
    let mine = Filter {
        workgroup: Some([2, 0, 0]),
        simd_group: Some(1),
        lanes: 1 << 9,
        limit: u64::MAX,
    };
    let text = trace(&rig, mine);
    assert!(text.contains("    r0 = 9: 00000007\n"), "{text}");
    assert!(text.contains("    r2 = 9: 00000008\n"), "{text}");
    assert_eq!(text.lines().count(), 5);
}

#[test]
fn limit() {
    let rig = rig("top:\n mov_imm r0, #7\n br_any top");
    let mut endless = rig;
    endless.watchdog = 10_000;
    let filter = Filter {
        limit: 1000,
        ..Filter::ALL
    };
    let text = trace(&endless, filter);
    assert!((900..1100).contains(&text.len()), "{}", text.len());
    assert!(text.ends_with("... (the limit of the trace)\n"));
    assert_eq!(text.matches("limit").count(), 1);
}

/// Fails after some bytes.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_the_writer_are_kept() {
    let rig = rig("mov_imm r0, #7\n mov_imm r2, #8");
    for (room, fails) in [(100, true), (10_000, false)] {
        let mut trace = Trace::new(Full(room), Filter::ALL);
        // The program runs on.
        rig.run_observed(&mut trace, |_| {}, |_, exit| stopped(exit));
        let result = trace.finish();
        assert_eq!(result.is_err(), fails);
        if let Err(error) = result {
            assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        }
    }
}

#[test]
fn a_trace_in_front_shows_what_the_checks_refuse() {
    let rig = rig("mov_imm r0, #7\n iadd r2, r0, r9\n mov_imm r2, #8");
    let trace = Trace::new(Vec::new(), Filter::ALL);
    let mut observer = (trace, (Strict::new(Options::COMPILER), Profile::new()));
    let exit = rig.run_observed(&mut observer, |_| {}, |_, exit| exit);
    assert!(matches!(exit, Exit::Fault(fault) if fault.kind.is_strict()));
    let (trace, (_, profile)) = observer;
    let text = String::from_utf8(trace.finish().unwrap()).unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.contains("iadd r2, r0, r9"), "{text}");
    // What the checks refuse, the next observer does not see.
    assert_eq!(profile.total().executed, 1);
}

/// Counts calls.
#[derive(Default)]
struct Calls(u32, u32);

impl Observer for Calls {
    fn before(&mut self, _: &Wave<'_>, _: &Program, _: usize) -> Result<(), FaultKind> {
        self.0 += 1;
        Ok(())
    }

    fn after(&mut self, _: &Wave<'_>, _: &Program, _: usize) {
        self.1 += 1;
    }
}

#[test]
fn observers_compose() {
    const { assert!(!<(NoObserver, NoObserver)>::ACTIVE) };
    const { assert!(<(NoObserver, Calls)>::ACTIVE && <(Calls, NoObserver)>::ACTIVE) };
    const { assert!(!<Option<NoObserver>>::ACTIVE && <Option<Calls>>::ACTIVE) };
    let rig = rig("mov_imm r0, #7");
    let mut first = Calls::default();
    let mut boxed = Calls::default();
    {
        let dynamic: Box<dyn DynObserver + '_> = Box::new(&mut boxed);
        let mut all = (
            (&mut first, Some(Calls::default())),
            (None::<Calls>, dynamic),
        );
        rig.run_observed(&mut all, |_| {}, |_, exit| stopped(exit));
        let inner = all.0.1.as_ref().unwrap();
        assert_eq!((inner.0, inner.1), (2, 2));
    }
    assert_eq!((first.0, first.1), (2, 2));
    assert_eq!((boxed.0, boxed.1), (2, 2));
}
