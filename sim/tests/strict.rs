// SPDX-License-Identifier: MIT
//! The strict checks, each with a program that breaks the rule and with the same program corrected:
//! a check that is missing fails the first, one that is over-eager the second.

use agx_isa::asm::assemble;
use agx_sim::fault::{Fault, FaultKind};
use agx_sim::shader::strict::{Options, Strict};
use agx_sim::shader::{Exit, Stage};
use proptest::prelude::*;

mod support;
use support::{DATA, Rig};

/// Runs under these options: the fault, if there was one.
fn check(rig: &Rig, options: Options) -> Result<(), Box<Fault>> {
    rig.run_observed(
        &mut Strict::new(options),
        |_| {},
        |_, exit| match exit {
            Exit::Fault(fault) => Err(fault),
            _ => Ok(()),
        },
    )
}

/// Must pass.
fn passes(rig: &Rig, options: Options) {
    if let Err(fault) = check(rig, options) {
        panic!("{fault}");
    }
}

/// Must trap at the instruction whose text starts with `at`, with a message that holds all `parts`.
fn traps(rig: &Rig, options: Options, at: &str, parts: &[&str]) {
    let Err(fault) = check(rig, options) else {
        panic!("no trap at {at}: {parts:?}");
    };
    let FaultKind::Strict(message) = &fault.kind else {
        panic!("{fault}");
    };
    let place = fault.shader.as_ref().expect("a place");
    assert!(place.instruction.starts_with(at), "{fault}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {fault}");
    }
}

/// A rig with DATA in pairs 1, 2 and 3, and room for everything.
fn rig(text: &str) -> Rig {
    prepared(Rig::new(text))
}

fn prepared(mut rig: Rig) -> Rig {
    for pair in 1..4 {
        rig.pointer(pair, DATA + 0x1000 * u64::from(pair));
    }
    rig.pointer(4, 0x8000_0000);
    rig.scratch_bytes = 1 << 15;
    rig.threadgroup_bytes = 1 << 15;
    rig
}

/// The broken program traps where and as told, the other one passes.
fn both(bad: &str, at: &str, parts: &[&str], good: &str) {
    traps(&rig(bad), Options::COMPILER, at, parts);
    passes(&rig(good), Options::COMPILER);
}

const ALL_DEFINED: Options = Options {
    undefined: false,
    ..Options::COMPILER
};

// ---- slots (isa-2, 9.4 and 9.5) ----

#[test]
fn read_of_a_pending_register() {
    both(
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=6\n iadd r4, r2, r2",
        "iadd r4",
        &["reads r2", "slot 6", "device_load.i32 r2"],
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=6\n iadd r4, r2, r2, wait=6",
    );
    // As an address, as data, as a base; every member of a tuple.
    both(
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=1\n device_load.i32 r3, u2:u3, r2, slot=2\n or.10 r3, r3, r3, wait=2",
        "device_load.i32 r3",
        &["reads r2", "slot 1"],
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=1\n device_load.i32 r3, u2:u3, r2, wait=1, slot=2\n or.10 r3, r3, r3, wait=2",
    );
    both(
        "mov_imm r0, #0\n device_load.i32x4 r8:r11, u2:u3, r0, slot=3\n device_store.i32 r11, u4:u5, r0",
        "device_store.i32 r11",
        &["reads r11", "slot 3"],
        "mov_imm r0, #0\n device_load.i32x4 r8:r11, u2:u3, r0, slot=3\n device_store.i32 r11, u4:u5, r0, wait=3",
    );
    both(
        "mov_imm r0, #0\n device_load.i32x2 r8:r9, u2:u3, r0, slot=3\n device_load.i32 r1, r8:r9, none, slot=3\n or.10 r1, r1, r1, wait=3",
        "device_load.i32 r1",
        &["reads r8", "slot 3"],
        "mov_imm r0, #0\n device_load.i32x2 r8:r9, u2:u3, r0, slot=3\n device_load.i32 r1, r8:r9, none, wait=3, slot=3\n or.10 r1, r1, r1, wait=3",
    );
}

#[test]
fn one_wait_covers_the_group_and_only_its_slot() {
    let two = |slots: [u8; 2], wait: &str| {
        format!(
            "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot={}\n \
             device_load.i32 r3, u4:u5, r0, slot={}\n iadd r4, r2, r3{wait}",
            slots[0], slots[1]
        )
    };
    passes(&rig(&two([6, 6], ", wait=6")), Options::COMPILER);
    passes(&rig(&two([6, 1], ", wait=1|6")), Options::COMPILER);
    let options = Options::COMPILER;
    traps(
        &rig(&two([6, 1], ", wait=6")),
        options,
        "iadd",
        &["reads r3", "slot 1"],
    );
    traps(
        &rig(&two([6, 1], ", wait=1")),
        options,
        "iadd",
        &["reads r2", "slot 6"],
    );
    // An index layout names one slot.
    both(
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=4\n fadd.6 r4, r2, r2, wait=5",
        "fadd.6",
        &["reads r2", "slot 4"],
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=4\n fadd.6 r4, r2, r2, wait=4",
    );
    // Sharing a slot may be refused.
    let shared = Options {
        shared_slots: true,
        ..Options::COMPILER
    };
    traps(
        &rig(&two([6, 6], ", wait=6")),
        shared,
        "device_load.i32 r3",
        &["slot 6"],
    );
    passes(&rig(&two([6, 1], ", wait=1|6")), shared);
}

#[test]
fn write_of_a_pending_register() {
    // The members of a tuple that nobody reads belong to the load as well.
    both(
        "mov_imm r0, #0\n device_load.i32x4 r8:r11, u2:u3, r0, slot=2\n mov_imm r10, #1\n or.10 r8, r8, r8, wait=2",
        "mov_imm.2 r10",
        &["overwrites r10", "slot 2"],
        "mov_imm r0, #0\n device_load.i32x4 r8:r11, u2:u3, r0, slot=2\n or.10 r8, r8, r8, wait=2\n mov_imm r10, #1",
    );
    both(
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=2\n device_load.i32 r2, u4:u5, r0, slot=2\n or.10 r2, r2, r2, wait=2",
        "device_load.i32 r2, u4:u5",
        &["overwrites r2", "slot 2"],
        "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=2\n device_load.i32 r2, u4:u5, r0, wait=2, slot=2\n or.10 r2, r2, r2, wait=2",
    );
    // Half registers are apart.
    both(
        "mov_imm r0, #0\n device_load.i16 r2.l, u2:u3, r0, slot=2\n device_load.i16 r2.l, u4:u5, r0, slot=2\n or.10 r2, r2, r2, wait=2",
        "device_load.i16 r2.l, u4:u5",
        &["overwrites r2.l", "slot 2"],
        "mov_imm r0, #0\n device_load.i16 r2.l, u2:u3, r0, slot=2\n device_load.i16 r2.h, u4:u5, r0, slot=2\n or.10 r2, r2, r2, wait=2",
    );
}

#[test]
fn operands_that_are_still_in_use() {
    // isa-2, 9.4, rule 3.
    both(
        "mov_imm r1, #5\n scratch_save scr0, ^r1, slot=6\n mov_imm r1, #6\n or.10 r1, r1, r1, wait=6",
        "mov_imm.2 r1",
        &["overwrites r1", "slot 6", "scratch_save"],
        "mov_imm r1, #5\n mov_imm r2, #5\n scratch_save scr0, ^r1, slot=6\n or.10 r2, r2, r2, wait=6\n mov_imm r1, #6",
    );
    // The data of a store may be overwritten at once.
    passes(
        &rig("mov_imm r0, #0\n mov_imm r1, #5\n device_store.i32 r1, u2:u3, r0\n mov_imm r1, #6"),
        Options::COMPILER,
    );
}

#[test]
fn logic_waits_for_source_a_only() {
    let load = "mov_imm r0, #0\n mov_imm r1, #1\n device_load.i32 r2, u2:u3, r0, slot=5\n";
    both(
        &format!("{load} and r4, r1, r2, wait=5"),
        "and r4",
        &["r2", "source B", "slot 5"],
        &format!("{load} and r4, r2, r1, wait=5"),
    );
    // Recorded programs have the quirk as well.
    let rule = Options::RECORDED;
    traps(
        &rig(&format!("{load} and r4, r1, r2, wait=5")),
        rule,
        "and r4",
        &["r2"],
    );
    // Unless A belongs to the same slot.
    passes(
        &rig(&format!(
            "{load} device_load.i32 r3, u4:u5, r0, slot=5\n and r4, r3, r2, wait=5"
        )),
        Options::COMPILER,
    );
    traps(
        &rig(&format!(
            "{load} device_load.i32 r3, u4:u5, r0, slot=1\n and r4, r3, r2, wait=1|5"
        )),
        Options::COMPILER,
        "and r4",
        &["r2", "source B", "slot 5"],
    );
    // A spare register can wait for anything.
    passes(
        &rig(&format!("{load} or.10 r1, r1, r1, wait=5\n and r4, r1, r2")),
        Options::COMPILER,
    );
}

#[test]
fn only_proven_waits_count() {
    let text = "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=6\n \
                subgroup_reduce.iadd r4, r2, type=9, wait=6";
    traps(
        &rig(text),
        Options::COMPILER,
        "subgroup_reduce",
        &["reads r2", "slot 6", "not proven"],
    );
    passes(&rig(text), Options::RECORDED);
    // PRED.6 always holds 6 in the place of its wait index.
    let text = "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=6\n \
                pcmp.6.ult P0, r2, r0\n or.10 r2, r2, r2, wait=6";
    traps(&rig(text), Options::COMPILER, "pcmp", &["r2", "slot 6"]);
    passes(&rig(text), Options::RECORDED);
    // Without the wait both rules trap.
    let text = "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=6\n \
                subgroup_reduce.iadd r4, r2, type=9";
    traps(&rig(text), Options::RECORDED, "subgroup_reduce", &["r2"]);
    // The wait of a recorded ZEXT16 does not exist: it only touches the other half.
    let text = "mov_imm r0, #0\n device_load.i16 r2.l, u2:u3, r0, slot=6\n zext16 r2\n \
                device_store.i32 r2, u4:u5, r0, wait=6";
    traps(&rig(text), Options::COMPILER, "zext16", &["r2", "slot 6"]);
    passes(&rig(text), Options::RECORDED);
    let text = text.replace(".i16 r2.l", ".i32 r2");
    traps(&rig(&text), Options::RECORDED, "zext16", &["r2.h"]);
}

#[test]
fn device_atomics_wait_for_simple_data_only() {
    let one = "mov_imm r0, #0\n device_load.i32 r3, u2:u3, r0, slot=5\n";
    let end = "\n atomic_result r4, slot=6\n or.10 r4, r4, r4, wait=6";
    let atomic = "device_atomic.add.ret ^r3, u4:u5, ^r0, wait=5";
    passes(&rig(&format!("{one}{atomic}{end}")), Options::COMPILER);
    // Another operation, another load, another operand.
    let void = "device_atomic.add.void ^r3, u4:u5, ^r0, wait=5";
    traps(
        &rig(&format!("{one}{void}")),
        Options::COMPILER,
        "device_atomic",
        &["r3", "slot 5", "proven only"],
    );
    let settle = "or.10 r3, r3, r3, wait=5\n";
    passes(
        &rig(&format!("{one}{settle}{}", void.replace(", wait=5", ""))),
        Options::COMPILER,
    );
    let two = one.replace(".i32 r3", ".i32x2 r3:r4");
    traps(
        &rig(&format!("{two}{atomic}{end}")),
        Options::COMPILER,
        "device_atomic",
        &["r3", "slot 5", "proven only"],
    );
    let index = "mov_imm r3, #0\n mov_imm r1, #0\n device_load.i32 r0, u2:u3, r1, slot=5\n";
    traps(
        &rig(&format!("{index}{atomic}{end}")),
        Options::COMPILER,
        "device_atomic",
        &["r0", "slot 5", "only data"],
    );
    for text in [
        format!("{one}{void}"),
        format!("{two}{atomic}{end}"),
        format!("{index}{atomic}{end}"),
    ] {
        passes(&rig(&text), Options::RECORDED);
    }
    let pair = "mov_imm r0, #0\n mov_imm r4, #0\n device_load.i32 r3, u2:u3, r0, slot=5\n";
    let exchange = "device_atomic.cmpxchg.ret ^r3:r4, u4:u5, ^r0, wait=5";
    traps(
        &rig(&format!("{pair}{exchange}{end}")),
        Options::COMPILER,
        "device_atomic",
        &["r3", "slot 5", "proven only"],
    );
    passes(
        &rig(&format!(
            "{pair}{settle}{}{end}",
            exchange.replace(", wait=5", "")
        )),
        Options::COMPILER,
    );
    // A wait for something that the atomic does not read is not proven either: it does not count.
    let other = "mov_imm r0, #0\n mov_imm r3, #1\n device_load.i32 r9, u2:u3, r0, slot=5\n";
    let text = |wait: &str| format!("{other}{void}\n iadd r10, r9, r9{wait}");
    traps(
        &rig(&text("")),
        Options::COMPILER,
        "iadd r10",
        &["reads r9", "slot 5"],
    );
    passes(&rig(&text(", wait=5")), Options::COMPILER);
    passes(&rig(&text("")), Options::RECORDED);
}

#[test]
fn scratch_words() {
    // isa-2, 9.4, rule 4.
    let save = "mov_imm r1, #1\n mov_imm r2, #1\n scratch_save scr7, ^r1, slot=6\n";
    both(
        &format!("{save} scratch_fill r3, scr7, slot=5\n or.10 r2, r2, r2, wait=5|6"),
        "scratch_fill",
        &["scratch word 7", "slot 6"],
        &format!("{save} scratch_fill r3, scr7, wait=6, slot=5\n or.10 r3, r3, r3, wait=5"),
    );
    both(
        &format!(
            "{save} scratch_save scr7, ^r2, slot=5\n mov_imm r4, #0\n or.10 r4, r4, r4, wait=5|6"
        ),
        "scratch_save scr7, ^r2",
        &["scratch word 7", "slot 6"],
        &format!(
            "{save} scratch_save scr8, ^r2, slot=5\n mov_imm r4, #0\n or.10 r4, r4, r4, wait=5|6"
        ),
    );
    let fill = "scratch_fill r3, scr7, wait=6, slot=5\n";
    both(
        &format!("{save}{fill} scratch_save scr7, ^r2, slot=1\n or.10 r3, r3, r3, wait=1|5"),
        "scratch_save scr7, ^r2",
        &["scratch word 7", "slot 5"],
        // Two fills of one word are no conflict.
        &format!("{save}{fill} scratch_fill r4, scr7, slot=5\n iadd r3, r3, r4, wait=5"),
    );
}

#[test]
fn memory_order() {
    // isa-2, 9.4, rule 5; the base field decides.
    let load = "mov_imm r0, #0\n mov_imm r1, #1\n device_load.i32 r2, u2:u3, r0, slot=6\n";
    both(
        &format!("{load} device_store.i32 r1, u2:u3, r0\n or.10 r2, r2, r2, wait=6"),
        "device_store",
        &["slot 6", "same base", "device_load"],
        &format!("{load} device_store.i32 r1, u4:u5, r0\n or.10 r2, r2, r2, wait=6"),
    );
    passes(
        &rig(&format!("{load} device_store.i32 r1, u2:u3, r0, wait=6")),
        Options::COMPILER,
    );
    // A register base with the same number as a uniform base is another one.
    passes(
        &rig(
            "mov_imm r0, #0\n mov_imm r2, #0\n mov_imm r3, #32\n mov_imm r8, #1\n \
             device_load.i32 r9, u4:u5, r0, slot=6\n device_store.i32 r8, r2:r3, r0\n or.10 r9, r9, r9, wait=6",
        ),
        Options::COMPILER,
    );
    let atomic = "mov_imm r0, #0\n mov_imm r1, #1\n mov_imm r2, #0\n mov_imm r3, #9\n \
                  device_atomic.add.ret ^r1, u2:u3, ^r0\n atomic_result r4, slot=3\n";
    both(
        &format!("{atomic} device_store.i32 r3, u2:u3, r2\n or.10 r4, r4, r4, wait=3"),
        "device_store",
        &["slot 3", "same base", "atomic_result"],
        &format!("{atomic} or.10 r4, r4, r4, wait=3\n device_store.i32 r3, u2:u3, r2"),
    );
    both(
        &format!("{atomic} device_atomic.add.void ^r3, u2:u3, ^r2\n or.10 r4, r4, r4, wait=3"),
        "device_atomic.add.void",
        &["slot 3", "same base"],
        &format!("{atomic} device_atomic.add.void ^r3, u4:u5, ^r2\n or.10 r4, r4, r4, wait=3"),
    );
    let shared =
        "mov_imm r0, #0\n mov_imm r1, #1\n mov_imm r2, #0\n threadgroup_load r3, u8:u9, r0.l\n";
    both(
        &format!("{shared} threadgroup_store ^r1, u8:u9, ^r2.l\n or.10 r3, r3, r3, wait=6"),
        "threadgroup_store",
        &["slot 6", "threadgroup"],
        &format!("{shared} or.10 r3, r3, r3, wait=6\n threadgroup_store ^r1, u8:u9, ^r2.l"),
    );
    let private = "mov_imm r0, #0\n mov_imm r1, #1\n private_load r3, r0, #9\n";
    both(
        &format!("{private} private_store ^r1, r0, #9\n or.10 r3, r3, r3, wait=6"),
        "private_store",
        &["slot 6", "scratch"],
        &format!("{private} or.10 r3, r3, r3, wait=6\n private_store ^r1, r0, #9"),
    );
}

#[test]
fn drain_points() {
    // isa-2, 9.4, rule 6.
    let load = "mov_imm r0, #0\n device_load.i32 r2, u2:u3, r0, slot=4\n";
    let settle = "or.10 r2, r2, r2, wait=4\n";
    let good = |rest: &str| format!("{load}{settle}{rest}");
    for (drain, rest) in [
        ("stop", ""),
        ("barrier", "barrier.threadgroup"),
        ("fence", "fence.device flags=0xa"),
        ("br_any", "br_any .+10"),
        ("br_none", "br_none .+10"),
        ("push.loop", "push.loop true\n pop.loop"),
        ("push.if", "push.if true\n else\n pop.if"),
    ] {
        both(
            &format!("{load}{rest}"),
            drain,
            &["slot 4", "r2", "drain"],
            &good(rest),
        );
    }
    // Inside a scope.
    for (drain, rest) in [
        ("else", "else\n pop.if"),
        ("pop.if", "pop.if"),
        (
            "loop_update",
            "pcmp.10.ieq P1, r0, r0\n loop_update P1\n pop.if",
        ),
        (
            "break",
            "pcmp.10.ieq P1, r0, r0\n break P1, scopes2=3\n pop.if\n pop.loop",
        ),
    ] {
        let tail = if rest.contains("loop_update") {
            "\n pop.loop"
        } else {
            ""
        };
        let good = format!("mov_imm r0, #0\n push.if true\n {load}{settle}{rest}{tail}");
        both(
            &good.replace(settle, ""),
            drain,
            &["slot 4", "r2", "drain"],
            &good,
        );
    }
    // PUSH has a proven wait of its own.
    passes(
        &rig(&format!("{load} push.loop true, wait=4\n pop.loop")),
        Options::COMPILER,
    );
    // The end of a block: a branch leads to the instruction behind the load.
    both(
        &format!("{load} head:\n mov_imm r5, #1\n or.10 r2, r2, r2, wait=4\n br_none head"),
        "mov_imm.2 r5",
        &["slot 4", "r2", "branch"],
        &format!("{load}{settle} head:\n mov_imm r5, #1\n br_none head"),
    );
}

#[test]
fn landing_records() {
    let atomic = "mov_imm r0, #0\n mov_imm r1, #1\n device_atomic.add.ret ^r1, u2:u3, ^r0\n";
    both(
        "atomic_result r4, slot=3\n or.10 r4, r4, r4, wait=3",
        "atomic_result",
        &["atomic"],
        &format!("{atomic} atomic_result r4, slot=3\n or.10 r4, r4, r4, wait=3"),
    );
    // A second one.
    traps(
        &rig(&format!(
            "{atomic} atomic_result r4, slot=3\n atomic_result r5, slot=2"
        )),
        Options::COMPILER,
        "atomic_result r5",
        &["atomic"],
    );
    // A result that is not waited for, and one that is overwritten.
    traps(
        &rig(&format!(
            "{atomic} atomic_result r4, slot=3\n iadd r5, r4, r4, wait=2"
        )),
        Options::COMPILER,
        "iadd r5",
        &["reads r4", "slot 3", "atomic_result"],
    );
}

#[test]
fn returning_atomics_need_scratch() {
    // isa-0, 6, row 34.
    let returning = "mov_imm r0, #0\n mov_imm r1, #1\n device_atomic.add.ret ^r1, u2:u3, ^r0\n \
                     atomic_result r4, slot=3\n or.10 r4, r4, r4, wait=3";
    let mut rig = rig(returning);
    rig.scratch_bytes = 3;
    traps(&rig, Options::COMPILER, "device_atomic", &["extent A"]);
    rig.scratch_bytes = 4;
    passes(&rig, Options::COMPILER);
    let mut void =
        self::rig("mov_imm r0, #0\n mov_imm r1, #1\n device_atomic.add.void ^r1, u2:u3, ^r0");
    void.scratch_bytes = 0;
    passes(&void, Options::COMPILER);
}

#[test]
fn publications_are_late() {
    // p1 is written late; a second export to it must wait. Both name the same slot.
    both(
        "mov_imm r0, #0\n export_fmul.8 p1, r0, r0, slot=3\n export_fmul.8 p1, r0, r0, slot=3\n or.10 r0, r0, r0, wait=3",
        "export_fmul.8 p1",
        &["overwrites p1", "slot 3"],
        "mov_imm r0, #0\n export_fmul.8 p1, r0, r0, slot=3\n export_fmul.8 p1, r0, r0, wait=3, slot=3\n or.10 r0, r0, r0, wait=3",
    );
}

// ---- lost and undefined values ----

#[test]
fn released_registers() {
    both(
        "mov_imm r1, #1\n iadd r2, ^r1, r1\n iadd r3, r1, r2",
        "iadd r3",
        &["reads r1", "lost since", "iadd r2"],
        "mov_imm r1, #1\n iadd r2, r1, r1\n iadd r3, r1, r2",
    );
    // Read and released, and written again by the same instruction.
    passes(
        &rig("mov_imm r1, #1\n iadd r1, ^r1, ^r1\n iadd r3, ^r1, ^r1"),
        Options::COMPILER,
    );
    // Destroyed without a release bit: data of stores, of atomics, spilled registers.
    for (destroys, register) in [
        ("threadgroup_store ^r1, u8:u9, r0.l", "r1"),
        ("private_store ^r1, r0, #0", "r1"),
        ("device_atomic.add.void ^r1, u2:u3, ^r5", "r1"),
        ("device_atomic.add.void ^r5, u2:u3, ^r1", "r1"),
        (
            "scratch_save scr0, ^r1, slot=6\n or.10 r5, r5, r5, wait=6",
            "r1",
        ),
        ("ballot r6, ^r1", "r1"),
    ] {
        let start = "mov_imm r0, #0\n mov_imm r1, #1\n mov_imm r5, #2\n";
        both(
            &format!("{start}{destroys}\n iadd r3, r0, {register}"),
            "iadd r3",
            &["reads r1", "lost since"],
            &format!("{start}{destroys}\n mov_imm r1, #1\n iadd r3, r0, {register}"),
        );
    }
    // Halves go one by one.
    both(
        "mov_imm r1, #0x3c003c00\n f16_to_f32 r2, ^r1.l\n f16_to_f32 r3, r1.l",
        "f16_to_f32 r3",
        &["reads r1.l", "lost since"],
        "mov_imm r1, #0x3c003c00\n f16_to_f32 r2, ^r1.l\n f16_to_f32 r3, ^r1.h",
    );
    // The switch.
    let off = Options {
        released: false,
        ..Options::COMPILER
    };
    passes(
        &rig("mov_imm r1, #1\n iadd r2, ^r1, r1\n iadd r3, r1, r2"),
        off,
    );
}

/// P0 = lane < 10, in r0 the lane's index.
const DIVERGE: &str =
    "get_sr r0, %global_id_x\n mov_imm r9, #10\n pcmp.6.ult P0, r0, r9\n push.if P0\n";

#[test]
fn divergent_releases_and_definitions() {
    // Each arm releases r1 for its own lanes, each defines r2.
    let arms = |then: &str, other: &str, behind: &str| {
        format!("mov_imm r1, #1\n {DIVERGE} {then}\n else\n {other}\n pop.if\n {behind}")
    };
    passes(
        &rig(&arms(
            "iadd r2, ^r1, r0",
            "iadd r2, ^r1, r9",
            "iadd r3, r2, r2",
        )),
        Options::COMPILER,
    );
    traps(
        &rig(&arms(
            "iadd r2, ^r1, r0",
            "mov_imm r2, #0",
            "iadd r3, r2, r1",
        )),
        Options::COMPILER,
        "iadd r3",
        &["reads r1", "lost since", "lanes 0x000003ff"],
    );
    traps(
        &rig(&arms("mov_imm r2, #0", "mov_imm r3, #0", "iadd r4, r2, r2")),
        Options::COMPILER,
        "iadd r4",
        &["reads r2", "never written", "lanes 0xfffffc00"],
    );
    // Rewritten in some lanes only.
    traps(
        &rig(&arms(
            "mov_imm r1, #3",
            "mov_imm r2, #0",
            "iadd r4, ^r1, ^r1\n push.if P0\n mov_imm r1, #1\n else\n pop.if\n iadd r5, r1, r1",
        )),
        Options::COMPILER,
        "iadd r5",
        &["reads r1", "lost since", "lanes 0xfffffc00"],
    );
    // In an arm that no lane takes nothing is read.
    passes(
        &rig("push.if false\n iadd r1, r2, r3\n else\n pop.if"),
        Options::COMPILER,
    );
}

#[test]
fn registers_never_written() {
    both(
        "iadd r1, r2, r2",
        "iadd r1",
        &["reads r2", "never written"],
        "mov_imm r2, #1\n iadd r1, r2, r2",
    );
    // The hardware's start state has no predicates, publications or scratch either (isa-2, 10.4).
    both(
        "push.if P3\n else\n pop.if",
        "push.if P3",
        &["reads P3", "never written"],
        "mov_imm r0, #1\n pcmp.6.ult P3, r0, r0\n push.if P3\n else\n pop.if",
    );
    both(
        "mov_imm r1, #1\n scratch_fill r3, scr2, slot=6\n or.10 r1, r1, r1, wait=6",
        "scratch_fill",
        &["scratch word 2", "never saved"],
        "mov_imm r1, #1\n mov_imm r2, #1\n scratch_save scr2, ^r1, slot=6\n scratch_fill r3, scr2, wait=6, slot=6\n or.10 r3, r3, r3, wait=6",
    );
    // Any register will do to wait with (isa-2, 9.4), but that defines nothing.
    let save = "mov_imm r1, #1\n scratch_save scr2, ^r1, slot=6\n or.10 r5, r5, r5, wait=6";
    both(
        &format!("{save}\n iadd r2, r5, r5"),
        "iadd r2",
        &["reads r5", "never written"],
        save,
    );
    both(
        &format!("{}\n iadd r2, r1, r1", save.replace("r5", "r1")),
        "iadd r2",
        &["reads r1", "lost since", "scratch_save"],
        &format!("{save}\n mov_imm r1, #1\n iadd r2, r1, r1"),
    );
    // Half a register.
    both(
        "get_sr16 r1.l, %lane\n iadd r2, r1, r1",
        "iadd r2",
        &["reads r1.h", "16-bit result"],
        "get_sr16 r1.l, %lane\n zext16 r1\n iadd r2, r1, r1",
    );
    // The switch.
    passes(&rig("iadd r1, r2, r2"), ALL_DEFINED);
}

#[test]
fn bits_above_a_narrow_load() {
    let narrow = Options {
        narrow: true,
        ..Options::COMPILER
    };
    for load in [
        "device_load.i16 r2.l, u2:u3, r0, slot=6",
        "device_load.i8 r2.l, u2:u3, r0, slot=6",
    ] {
        let start =
            format!("mov_imm r0, #0\n mov_imm r1, #127\n {load}\n or.10 r2, r2, r2, wait=6\n");
        let used = format!("{start} iadd r3, r2, r2");
        traps(&rig(&used), narrow, "iadd r3", &["reads r2.h", "narrow"]);
        passes(&rig(&used), Options::COMPILER);
        passes(
            &rig(&format!("{start} and r3, r2, r1\n iadd r3, r3, r3")),
            narrow,
        );
        passes(
            &rig(&format!("{start} zext16 r2\n iadd r3, r2, r2")),
            narrow,
        );
        // A copy has the same bits.
        let copied = format!("{start} or.10 r4, r2, r2\n iadd r3, r4, r4");
        traps(&rig(&copied), narrow, "iadd r3", &["reads r4.h", "narrow"]);
    }
    // A half that was defined before stays so, also when that is so in some lanes only.
    passes(
        &rig(&format!(
            "{DIVERGE} mov_imm r8, #0\n mov_imm r2, #0\n device_load.i16 r2.l, u2:u3, r8, slot=6\n \
             iadd r3, r2, r2, wait=6\n else\n pop.if"
        )),
        narrow,
    );
    passes(
        &rig(
            "mov_imm r0, #0\n mov_imm r2, #0\n device_load.i16 r2.l, u2:u3, r0, slot=6\n iadd r3, r2, r2, wait=6",
        ),
        narrow,
    );
}

// ---- single instructions ----

#[test]
fn argument_words() {
    both(
        "iadd r1, u40, u2",
        "iadd r1",
        &["argument word u40", "never written"],
        "iadd r1, u3, u2",
    );
    // As a base.
    both(
        "mov_imm r0, #0\n device_store.i32 r0, u40:u41, r0",
        "device_store",
        &["argument word u40"],
        "mov_imm r0, #0\n device_store.i32 r0, u2:u3, r0",
    );
    // Half of a pair.
    let half =
        rig("mov_imm r0, #0\n device_load.i32 r1, u40:u41, r0, slot=6\n or.10 r1, r1, r1, wait=6");
    half.uniforms.set(40, DATA as u32);
    traps(
        &half,
        Options::COMPILER,
        "device_load",
        &["argument word u41"],
    );
    half.uniforms.set(41, (DATA >> 32) as u32);
    passes(&half, Options::COMPILER);
    // Written by the main program.
    for text in [
        "mov_imm r5, #1\n uniform_iadd u20, ^r5, #0",
        "mov_imm r5, #1\n arg_move u20, r5",
    ] {
        let mut rig = rig(text);
        traps(
            &rig,
            Options::COMPILER,
            text.lines().nth(1).unwrap().trim(),
            &["u20", "outside"],
        );
        rig.stage = Stage::Launcher;
        rig.active = 1;
        passes(&rig, Options::COMPILER);
    }
    // The switch.
    let off = Options {
        arguments: false,
        ..Options::COMPILER
    };
    passes(&rig("iadd r1, u40, u2"), off);
}

fn launcher(text: &str) -> Rig {
    let mut rig = rig(text);
    rig.stage = Stage::Launcher;
    rig.active = 1;
    rig
}

#[test]
fn blocks_of_four_argument_words() {
    // launch, 5.2: with an odd number of pointers the rest of the last block may be overwritten.
    let copies = "mov_imm r5, #1\n arg_move u8, r5\n arg_move u9, r5\n";
    let bad = launcher(&format!("{copies} uniform_iadd u10, r5, #0"));
    traps(
        &bad,
        Options::COMPILER,
        "uniform_iadd u10",
        &["u10", "block of four"],
    );
    passes(
        &launcher(&format!("{copies} uniform_iadd u12, r5, #0")),
        Options::COMPILER,
    );
    let bad = launcher(&format!(
        "mov_imm r5, #1\n uniform_iadd u11, r5, #0\n {copies}"
    ));
    traps(
        &bad,
        Options::COMPILER,
        "arg_move u8",
        &["u8", "block of four"],
    );
}

#[test]
fn set_up_code_is_linear() {
    for (text, at) in [
        ("push.if true\n else\n pop.if", "push.if"),
        (
            "mov_imm r1, #1\n mov_imm r2, #1\n scratch_save scr0, ^r1, slot=6\n or.10 r2, r2, r2, wait=6",
            "scratch_save",
        ),
    ] {
        traps(&launcher(text), Options::COMPILER, at, &["set-up code"]);
        passes(&rig(text), Options::COMPILER);
    }
    passes(&launcher("br_any .+10"), Options::COMPILER);
}

#[test]
fn reserved_encodings() {
    // Class 0x11 of a fence is in no list; lenient decoding keeps it.
    let bad = Rig::hex("07 04 54 22 0a 00 0e 00 00 00");
    traps(&bad, Options::COMPILER, "fence", &["reserved", "class"]);
    passes(
        &bad,
        Options {
            reserved: false,
            ..Options::COMPILER
        },
    );
    passes(
        &Rig::hex("07 04 54 84 0a 00 0e 00 00 00"),
        Options::COMPILER,
    );
    // Forms that a compiler must not emit are no reserved encodings.
    passes(&rig("zero r1\n iadd r2, r1, r1"), Options::COMPILER);
}

#[test]
fn barriers_and_ends_in_divergent_code() {
    let inside = |what: &str| format!("{DIVERGE} {what}\n else\n pop.if");
    let behind = |what: &str| format!("{DIVERGE} else\n pop.if\n {what}");
    both(
        &inside("barrier.threadgroup"),
        "barrier.threadgroup",
        &["divergent", "0xfffffc00"],
        &behind("barrier.threadgroup"),
    );
    // A fence may stand anywhere; so may a barrier in an arm that all lanes take.
    passes(&rig(&inside("fence.device flags=0xa")), Options::COMPILER);
    passes(
        &rig("push.if true\n barrier.threadgroup\n else\n pop.if"),
        Options::COMPILER,
    );
    // Lanes that the workgroup has not.
    let mut small = rig(&behind("barrier.threadgroup"));
    small.active = 0xf_ffff;
    passes(&small, Options::COMPILER);
    both(
        &inside("stop"),
        "stop",
        &["inside 1 scopes"],
        &behind("stop"),
    );
    both(
        "mov_imm r0, #0\n get_sr r1, %global_id_x\n pcmp.10.ieq P0, r0, r1\n loop_update P0",
        "stop",
        &["partial mask", "0x00000001"],
        "mov_imm r0, #0\n get_sr r1, %global_id_x\n pcmp.10.ieq P0, r0, r1\n loop_update P0\n pop.loop",
    );
    // The switch.
    let off = Options {
        control: false,
        ..Options::COMPILER
    };
    passes(&rig(&inside("barrier.threadgroup")), off);
}

#[test]
fn scopes_that_do_not_match() {
    both(
        "pop.if",
        "pop.if",
        &["none"],
        "push.if true\n else\n pop.if",
    );
    both(
        "push.loop true\n pop.if\n pop.loop",
        "pop.if",
        &["kind 2"],
        "push.loop true\n pop.loop",
    );
    both(
        "push.if true\n pop.loop\n pop.if",
        "pop.loop",
        &["kind 1"],
        "push.if true\n pop.if\n pop.loop",
    );
    both(
        "push.loop true\n else\n pop.loop",
        "else",
        &["no conditional"],
        "push.if true\n else\n pop.if",
    );
    let leave = |scopes2: u8, bank: u8| {
        format!(
            "mov_imm r0, #0\n pcmp.10.ieq P{bank}, r0, r0\n push.if true\n break P{bank}, scopes2={scopes2}\n \
             else\n pop.if\n pop.loop"
        )
    };
    both(
        &leave(4, 1),
        "break",
        &["2 scopes", "1 inside"],
        &leave(3, 1),
    );
    both(&leave(3, 2), "break", &["depth 2"], &leave(3, 1));
}

// ---- the listings of the reference ----

/// The bytes of a listing: the second column.
fn listing(text: &str) -> Rig {
    let bytes = |line: &str| -> String {
        let code = line.split(';').next().unwrap_or_default();
        let words = code.split_whitespace();
        words
            .filter(|w| w.len() == 2 && w.bytes().all(|b| b.is_ascii_hexdigit()))
            .collect()
    };
    let hex: String = text.lines().map(bytes).collect();
    assert!(!hex.is_empty());
    prepared(Rig::hex(&hex))
}

/// The code blocks of a section of isa-2.
fn listings(section: &str) -> Vec<Rig> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/hw/isa-2-memory-control.md"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find(&format!("\n### {section} ")).unwrap();
    let section = &text[start + 4..];
    let end = section
        .find("\n## ")
        .into_iter()
        .chain(section.find("\n### "));
    let section = &section[..end.min().unwrap_or(section.len())];
    section
        .split("```\n")
        .skip(1)
        .step_by(2)
        .map(listing)
        .collect()
}

#[test]
fn listings_of_the_reference_pass() {
    for (section, count) in [("6.12", 2), ("6.13", 2), ("6.14", 1), ("9.6", 2)] {
        let listings = listings(section);
        assert_eq!(listings.len(), count, "{section}");
        for rig in listings {
            passes(&rig, Options::COMPILER);
            passes(&rig, Options::RECORDED);
        }
    }
}

#[test]
fn the_wrong_variant_traps_where_the_reference_says() {
    let mut rig = listings("9.6").remove(0);
    assert_eq!(rig.code[0x20..0x23], [0x9f, 0x01, 0x56]);
    rig.code[0x22] = 0x54;
    traps(&rig, Options::COMPILER, "iadd r4", &["reads r2", "slot 6"]);
    let fault = check(&rig, Options::COMPILER).unwrap_err();
    assert_eq!(fault.shader.unwrap().pc, support::CODE + 0x20);
}

/// launch, 12.5, with the table in our buffer.
#[test]
fn launcher_of_the_reference() {
    let code = "2c 80 02 00 10 00 80 04 3c 80 02 00 04 00 00 00
        67 00 54 24 02 00 00 00 57 00 00 40 26 00 77 00 2a 41 00 00 00 00
        77 01 aa 07 00 00 00 02 80 00 f7 00 2a 00 00 00 00 00 00 00
        0b 24 09 44 1b 26 09 04 2b 28 09 04 3b 2a 09 04 0e 00 00 00";
    let mut rig = Rig::hex(code);
    rig.stage = Stage::Launcher;
    rig.active = 1;
    passes(&rig, Options::COMPILER);
    // The first copy without its wait; with a wait for another slot.
    for byte in [0x04, 0x24] {
        let mut bad = Rig::bytes(rig.code.clone());
        bad.stage = Stage::Launcher;
        bad.active = 1;
        bad.code[0x3d] = byte;
        traps(
            &bad,
            Options::COMPILER,
            "arg_move u0",
            &["reads r18", "slot 2"],
        );
    }
}

// ---- many programs ----

/// Whole programs that ran on an M4 or an A18 Pro.
#[test]
fn recorded_programs_pass() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../hw/isa/vectors/exec.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in text.lines() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        if record["form"] != "kernel" {
            continue;
        }
        let mut rig = Rig::hex(record["hex"].as_str().unwrap());
        let names = [&record["inputs"], &record["expected"]];
        let names = names.iter().filter_map(|v| v.as_object());
        let numbers = names.flat_map(|v| v.keys());
        let numbers = numbers.filter_map(|k| k.strip_prefix("buffer")?.parse::<u8>().ok());
        let buffers = numbers.max().unwrap_or(0) + 1;
        for buffer in 0..buffers {
            rig.pointer(buffer, DATA + 0x1000 * u64::from(buffer));
        }
        // The threadgroup root or constant words.
        rig.pointer(buffers, 0x8000_0000);
        let threads = record["inputs"]["threads"].as_u64().unwrap().min(32) as u32;
        rig.local = [threads, 1, 1];
        rig.active = !0 >> (32 - threads);
        rig.scratch_bytes = 4096;
        rig.threadgroup_bytes = 4096;
        let id = record["id"].as_str().unwrap();
        if id == "g17.k.fmov_logic" {
            // Made by hand: copies r0 as `r0 and not r4`, where r4 was never written.
            traps(
                &rig,
                Options::RECORDED,
                "andn2",
                &["reads r4", "never written"],
            );
            passes(
                &rig,
                Options {
                    undefined: false,
                    ..Options::RECORDED
                },
            );
            continue;
        }
        if let Err(fault) = check(&rig, Options::RECORDED) {
            panic!("{id}: {fault}");
        }
        count += 1;
    }
    assert!(count >= 100, "{count}");
}

/// A straight program in which every load is waited for as late as possible.
#[derive(Clone, Debug)]
struct Straight {
    lines: Vec<String>,
    /// Lines whose wait for a slot is needed.
    needed: Vec<(usize, u8)>,
}

/// Draws loads into r8.. on random slots and sums that consume them.
fn straight() -> impl Strategy<Value = Straight> {
    let step = (0u8..3, 1u8..7, 0u8..8, 0u8..8);
    proptest::collection::vec(step, 1..24).prop_map(|steps| {
        let mut lines = vec!["mov_imm r0, #0".to_owned()];
        lines.extend((0..8).map(|i| format!("mov_imm r{}, #{i}", 8 + i)));
        let mut needed = Vec::new();
        // The slot that each of r8..r15 waits for.
        let mut pending = [0u8; 8];
        let settle = |pending: &mut [u8; 8], slot: u8| {
            pending
                .iter_mut()
                .filter(|s| **s == slot)
                .for_each(|s| *s = 0);
        };
        for (kind, slot, a, b) in steps {
            let (ra, rb) = (8 + a, 8 + b);
            let owed = pending[usize::from(a)];
            let wait = if owed == 0 {
                String::new()
            } else {
                format!(", wait={owed}")
            };
            if owed != 0 {
                needed.push((lines.len(), owed));
                settle(&mut pending, owed);
            }
            if kind > 0 {
                lines.push(format!(
                    "device_load.i32 r{ra}, u2:u3, r0{wait}, slot={slot}"
                ));
                pending[usize::from(a)] = slot;
            } else {
                // Source B must not be pending.
                let b = if pending[usize::from(b)] == 0 { rb } else { ra };
                lines.push(format!("iadd r{ra}, r{ra}, r{b}{wait}"));
            }
        }
        for slot in 1..7 {
            if let Some(register) = pending.iter().position(|&s| s == slot) {
                let r = 8 + register;
                needed.push((lines.len(), slot));
                lines.push(format!("or.10 r{r}, r{r}, r{r}, wait={slot}"));
                settle(&mut pending, slot);
            }
        }
        Straight { lines, needed }
    })
}

proptest! {
    /// Correct programs pass; without any one of their waits they trap there.
    #[test]
    fn every_wait_is_needed(program in straight(), choice in any::<prop::sample::Index>()) {
        passes(&rig(&program.lines.join("\n")), Options::COMPILER);
        if program.needed.is_empty() {
            return Ok(());
        }
        let (line, slot) = program.needed[choice.index(program.needed.len())];
        let mut lines = program.lines.clone();
        lines[line] = lines[line].replace(&format!(", wait={slot}"), "");
        let at = lines[line].split(',').next().unwrap().to_owned();
        let slot = format!("slot {slot}");
        traps(&rig(&lines.join("\n")), Options::COMPILER, &at, &["pending", &slot]);
    }
}

/// What one SIMD group left behind is nothing to the next one.
#[test]
fn every_group_starts_afresh() {
    let run = |strict: &mut Strict, text: &str| {
        rig(text).run_observed(strict, |_| {}, |_, exit| !matches!(exit, Exit::Fault(_)))
    };
    // Ends in the middle of things: a load is outstanding, r1 is lost.
    let broken = "mov_imm r0, #0\n mov_imm r1, #1\n iadd r1, ^r1, r0\n iadd r3, ^r1, r0\n \
                  device_load.i32 r2, u2:u3, r0, slot=6\n scratch_save scr0, ^r3, slot=5\n iadd r4, r2, r2";
    let mut strict = Strict::new(ALL_DEFINED);
    let arms = format!("{DIVERGE} iadd r2, ^r1, r0\n else\n iadd r2, r1, r0\n pop.if");
    for text in [
        "mov_imm r0, #0\n device_load.i32 r8, u2:u3, r0, slot=6\n mov_imm r2, #1\n or.10 r8, r8, r8, wait=6",
        &arms,
        "mov_imm r2, #1\n iadd r4, r2, r2",
        "iadd r4, r1, r1",
        "mov_imm r3, #1\n barrier.threadgroup",
    ] {
        assert!(!run(&mut strict, broken));
        assert!(run(&mut strict, text), "{text}");
        assert_eq!(strict.watched(), 0);
    }
    let mut strict = Strict::new(Options::COMPILER);
    let fill = "scratch_fill r1, scr0, slot=6\n or.10 r1, r1, r1, wait=6";
    let save = "mov_imm r1, #1\n mov_imm r2, #1\n scratch_save scr0, ^r1, slot=6\n or.10 r2, r2, r2, wait=6";
    assert!(run(&mut strict, save));
    assert!(run(&mut strict, &format!("{save}\n {fill}")));
    assert!(!run(&mut strict, fill));
    // The blocks of argument words, too.
    let run = |strict: &mut Strict, text: &str| {
        launcher(text).run_observed(strict, |_| {}, |_, exit| !matches!(exit, Exit::Fault(_)))
    };
    assert!(run(&mut strict, "mov_imm r5, #1\n arg_move u8, r5"));
    assert!(run(&mut strict, "mov_imm r5, #1\n uniform_iadd u8, r5, #0"));
    assert!(run(&mut strict, "mov_imm r5, #1\n arg_move u8, r5"));
}

/// Several SIMD groups under one observer, taking turns.
#[test]
fn one_observer_for_many_groups() {
    use agx_sim::memory::{Bo, Mappings, Region, Tlb};
    use agx_sim::shader::{Dispatch, Program, UniformFile, Wave, Workgroup};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    let text = "mov_imm r0, #0\n scratch_fill r1, scr0, slot=5\n barrier.threadgroup\nstop\n";
    let good = "mov_imm r0, #0\n mov_imm r1, #0\n barrier.threadgroup\n iadd r1, ^r0, ^r1\nstop\n";
    for (text, bad) in [(good, false), (text, true)] {
        let bytes = assemble(text).unwrap();
        let bo = Bo::new(bytes.len() as u64).unwrap();
        // SAFETY: the object is at least as long and nobody else knows of it yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), bo.base(), bytes.len()) };
        let mappings = Mappings::new(vec![Region {
            start: support::CODE,
            end: support::CODE + bo.size(),
            bo: Arc::new(bo),
            offset: 0,
            single_page: false,
            read: true,
            write: false,
        }]);
        let program = Program::build(&mappings, support::CODE);
        let uniforms = UniformFile::default();
        let cancel = AtomicBool::new(false);
        let dispatch = Dispatch {
            stage: Stage::Compute,
            uniforms: &uniforms,
            global: [96, 1, 1],
            local: [96, 1, 1],
            groups: [1, 1, 1],
            scratch_bytes: 64,
            threadgroup_bytes: 0,
            watchdog: 1000,
            cancel: &cancel,
            strict: true,
            late_tests: false,
        };
        let tlb = Tlb::new(&mappings);
        let group = Workgroup {
            dispatch: &dispatch,
            tlb: &tlb,
            id: [0; 3],
            shared: &[],
        };
        let mut strict = Strict::new(Options::COMPILER);
        let mut waves: Vec<_> = (0..3).map(|i| Wave::new(&group, i, !0)).collect();
        // The same objects twice, as a worker uses them for one workgroup after the other.
        for _ in 0..2 {
            for wave in &mut waves {
                let exit = wave.run(&program, 100, &mut strict);
                match exit {
                    Exit::Barrier => assert!(!bad),
                    Exit::Fault(fault) => assert!(bad && fault.kind.is_strict(), "{fault}"),
                    exit => panic!("{exit:?}"),
                }
            }
            for wave in &mut waves {
                if !bad {
                    let exit = wave.run(&program, 100, &mut strict);
                    assert!(matches!(exit, Exit::Stop), "{exit:?}");
                }
                let index = wave.simd_group;
                wave.restart(&group, index, !0);
            }
            assert_eq!(strict.watched(), 0);
        }
    }
}
