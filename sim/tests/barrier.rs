// SPDX-License-Identifier: MIT
//! Barriers between the SIMD groups of a workgroup, fences between workgroups.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use agx_isa::asm::assemble;
use agx_sim::fault::FaultKind;
use agx_sim::memory::{Bo, Mappings, Region, Tlb};
use agx_sim::shader::{
    Dispatch, Exit, Lanes, NoObserver, Program, Stage, UniformFile, Wave, Workgroup,
};

mod support;
use support::{CODE, DATA, Rig, stopped};

/// Hands two SIMD groups of one workgroup over to `body`, with the program they run.
fn two_groups(code: &[u8], body: impl FnOnce(&Program, [&mut Wave<'_>; 2])) {
    let bo = Bo::new(code.len() as u64).unwrap();
    // SAFETY: the object is at least as long, and nobody else knows of it yet.
    unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), bo.base(), code.len()) };
    let mappings = Mappings::new(vec![Region {
        start: CODE,
        end: CODE + bo.size(),
        bo: Arc::new(bo),
        offset: 0,
        single_page: false,
        read: true,
        write: false,
    }]);
    let program = Program::build(&mappings, CODE);
    let uniforms = UniformFile::default();
    // Pair 4: the threadgroup root.
    uniforms.set(8, 0x8000_0000);
    uniforms.set(9, 0);
    let cancel = AtomicBool::new(false);
    let dispatch = Dispatch {
        stage: Stage::Compute,
        uniforms: &uniforms,
        global: [64, 1, 1],
        local: [64, 1, 1],
        groups: [1, 1, 1],
        scratch_bytes: 0,
        threadgroup_bytes: 256,
        watchdog: 10_000,
        cancel: &cancel,
        strict: true,
        late_tests: false,
    };
    let tlb = Tlb::new(&mappings);
    let shared = vec![Cell::new(0); 64];
    let group = Workgroup {
        dispatch: &dispatch,
        tlb: &tlb,
        id: [0; 3],
        shared: &shared,
    };
    let mut first = Wave::new(&group, 0, !0);
    let mut second = Wave::new(&group, 1, !0);
    body(&program, [&mut first, &mut second]);
}

fn run(wave: &mut Wave<'_>, program: &Program) -> Exit {
    wave.run(program, 1000, &mut NoObserver)
}

/// isa-2, 7: the `exec` bit decides, whatever class and flags say.
#[test]
fn only_the_execution_bit_matters() {
    for byte3 in 0..=255u8 {
        for flags in [0x00, 0x06, 0x08, 0x09, 0x0a, 0x0e, 0xff] {
            let code = [0x07, 0x04, 0x54, byte3, flags, 0x00, 0x0e, 0, 0, 0];
            two_groups(&code, |program, [wave, _]| {
                if byte3 & 1 == 1 {
                    let exit = run(wave, program);
                    assert!(
                        matches!(exit, Exit::Barrier),
                        "{byte3:#x} {flags:#x}: {exit:?}"
                    );
                }
                stopped(run(wave, program));
            });
        }
    }
}

/// Each lane reads what the other SIMD group's lane stored: it needs the barrier in between.
#[test]
fn exchange_through_threadgroup_memory() {
    let exchange = |between: &str| {
        let text = format!(
            "threadgroup_store r0, u8:u9, r1.l\n{between}threadgroup_load r2, u8:u9, r3.l\nstop\n"
        );
        let mut right = 0;
        two_groups(&assemble(&text).unwrap(), |program, mut waves| {
            for (n, wave) in waves.iter_mut().enumerate() {
                wave.gprs[0] = Lanes::from_fn(|lane| (1000 + 32 * n + lane) as u32);
                wave.gprs[1] = Lanes::from_fn(|lane| (32 * n + lane) as u32);
                wave.gprs[3] = Lanes::from_fn(|lane| (63 - 32 * n - lane) as u32);
            }
            // As a scheduler does: each up to its barrier or end, then all go on.
            let mut running = vec![true; 2];
            while running.contains(&true) {
                for (wave, running) in waves.iter_mut().zip(&mut running) {
                    if *running {
                        *running = matches!(run(wave, program), Exit::Barrier);
                    }
                }
            }
            for wave in waves {
                right += (0..32)
                    .filter(|&lane| wave.gprs[2].0[lane] == 1000 + wave.gprs[3].0[lane])
                    .count();
            }
        });
        right
    };
    assert_eq!(exchange("barrier.threadgroup\n"), 64);
    assert_eq!(exchange("barrier.none\n"), 64);
    // Without it, the first group reads too early.
    assert_eq!(exchange(""), 32);
    assert_eq!(exchange("fence.device\n"), 32);
}

/// isa-4, 9.2: data, fence, flag on one side; flag, fence, data on the other.
#[test]
fn messages_between_workgroups() {
    const MESSAGES: u32 = 300;
    // r1 = message, stored to 32 words; then the flag at word 64.
    let producer = Rig::new(
        "device_store.i32 r1, u6:u7, r10, scale=lsl2
         fence.device
         device_atomic.xchg.void r2, u6:u7, r11",
    );
    let mut consumer = Rig::new(
        "device_atomic.or.ret r3, u6:u7, r11
         atomic_result r4, slot=1
         fence.device
         device_load.i32 r5, u6:u7, r10, scale=lsl2",
    );
    consumer.data = Arc::clone(&producer.data);
    for rig in [&producer, &consumer] {
        rig.pointer(3, DATA);
    }
    let registers = |wave: &mut Wave<'_>| {
        wave.gprs[10] = Lanes::from_fn(|lane| lane as u32);
        wave.gprs[11] = Lanes::splat(64);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for message in 1..=MESSAGES {
                producer.run(
                    |wave| {
                        registers(wave);
                        wave.gprs[1] = Lanes::splat(message);
                        wave.gprs[2] = Lanes::splat(message);
                    },
                    |_, exit| stopped(exit),
                );
            }
        });
        let mut seen = 0;
        while seen < MESSAGES {
            let (flag, data) = consumer.run(registers, |wave, exit| {
                stopped(exit);
                (wave.gprs[4].0[31], wave.gprs[5])
            });
            assert!(flag >= seen);
            // What is read is the flag's message or a later one.
            assert!(data.0.iter().all(|&word| word >= flag), "{flag}: {data:?}");
            seen = flag;
        }
    });
}

#[test]
fn tile_transactions_are_refused() {
    for hex in ["87 02 54 00 06 00", "07 02 54 0c 02 00"] {
        Rig::hex(&format!("{hex} 0e 00 00 00")).run(
            |_| {},
            |_, exit| match exit {
                Exit::Fault(fault) => {
                    assert!(
                        matches!(fault.kind, FaultKind::IllegalInstruction(_)),
                        "{fault}"
                    );
                }
                other => panic!("{other:?}"),
            },
        );
    }
}
