// SPDX-License-Identifier: MIT
//! The generator of random programs, its interpreter and its shrinker.
//!
//! `CORTLAND_RANDOM_FIRST` and `CORTLAND_RANDOM_SEEDS` choose other seeds.

use cortland_cts::case::{Case, Device};
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::simulated::{Options, SimulatedDevice};
use cortland_cts::random::check::seeds;
use cortland_cts::random::interpret::Executed;
use cortland_cts::random::tree::{
    Atomic, Binary, Compare, Expr, Op, Program, Scalar, Stmt, Subgroup, Unary,
};
use cortland_cts::random::{self, Config, float, interpret, shrink};
use mesa_nir::{CompilerOptions, SpirvOptions, Stage, spirv_to_nir};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

/// Every program keeps the rules, is valid SPIR-V and becomes NIR; results depend on the invocation.
#[test]
fn programs_are_valid() {
    let constant: usize = seeds(5000)
        .into_par_iter()
        .map_init(
            || Arc::new(CompilerOptions::new()),
            |options, seed| {
                let program = random::program(seed, &Config::all_types());
                assert!(float::is_safe(&program), "{program}");
                assert!(!program.has_dead_code(), "{program}");
                let memory = interpret::run(&program).unwrap_or_else(|e| panic!("{e}\n{program}"));
                let words = random::emit::module(&program);
                let spirv = SpirvOptions::vulkan_1_3();
                spirv_to_nir(&words, Stage::Compute, "main", &[], &spirv, options)
                    .unwrap_or_else(|e| panic!("{e}\n{program}"));
                let size = program.output_words as usize;
                let rows: Vec<&[u32]> = memory.output.chunks(size).collect();
                // What the program does not write differs already.
                let same = |w: usize| rows.iter().all(|r| r[w] == rows[0][w]);
                usize::from(rows.len() > 1 && (0..size).all(same))
            },
        )
        .sum();
    assert_eq!(constant, 0, "programs whose invocations all do the same");
}

/// The same seed is the same program everywhere: the hash was taken once, on x86-64.
#[test]
fn seeds_are_programs() {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for seed in 0..200 {
        let program = random::program(seed, &Config::all_types());
        assert_eq!(program, random::program(seed, &Config::all_types()));
        random::emit::module(&program)
            .iter()
            .for_each(|w| add(&w.to_le_bytes()));
        program.expected().iter().for_each(|b| add(b));
    }
    assert_eq!(
        hash, 0xd533_2029_3316_62e9,
        "a new generator? Then this is its hash: {hash:#x}"
    );
}

/// Everything that the tree has is made, often, and what is hard for a compiler happens.
#[test]
fn everything_is_covered() {
    let mut made = BTreeMap::<String, u32>::new();
    let mut total = Executed::default();
    let mut deepest = 0;
    let mut count = |name: String| *made.entry(name).or_default() += 1;
    for seed in 0..4000 {
        let program = random::program(seed, &Config::all_types());
        program.visit(&mut |s| count(statement(s)));
        program.visit(&mut |s| {
            if let Stmt::Subgroup { op, .. } = s {
                count(head(&format!("{op:?}")));
            }
            if let Stmt::Atomic(op, ..) | Stmt::SharedAtomic(op, ..) = s {
                count(format!("Atomic {op:?}"));
            }
        });
        program.visit_exprs(&mut |e| count(expression(e)));
        program.visit_exprs(&mut |e| count(format!("{:?}", e.ty.scalar)));
        program.visit_exprs(&mut |e| count(format!("size {}", e.ty.size)));
        let done = interpret::run(&program).unwrap().executed;
        total.divergent_branches += u64::from(done.divergent_branches > 0);
        total.divergent_iterations += u64::from(done.divergent_iterations > 0);
        total.divergent_jumps += u64::from(done.divergent_jumps > 0);
        total.returns += u64::from(done.returns > 0);
        total.barriers += u64::from(done.barriers > 0);
        total.full_subgroups += u64::from(done.full_subgroups > 0);
        total.partial_subgroups += u64::from(done.partial_subgroups > 0);
        let main = &program.functions[program.functions.len() - 1];
        deepest = deepest.max(main.body.iter().map(loops).max().unwrap_or(0));
    }
    let mut wanted: Vec<String> = [
        "Assign AssignComponent AssignElement SharedStore OwnStore Output Atomic SharedAtomic If Switch For \
         While DoWhile Break Continue Return Call Barrier Subgroup",
        "Elect Any All AllEqual Ballot InverseBallot BallotBitCount BroadcastFirst Broadcast Shuffle \
         ShuffleXor Combine Clustered QuadBroadcast QuadSwap",
        "Const Var Builtin Input Uniform Push Spec Own Element SharedAny SharedOwn Select Convert Bitcast \
         Compose Extract ExtractDynamic BitfieldExtract BitfieldInsert",
        "Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 F32",
    ]
    .iter()
    .flat_map(|names| names.split_whitespace().map(str::to_owned))
    .collect();
    wanted.extend(Atomic::ALL.map(|a| format!("Atomic {a:?}")));
    wanted.extend((1..=4).map(|n| format!("size {n}")));
    wanted.extend(UNARY.map(|op| format!("{op:?}")));
    wanted.extend(BINARY.map(|op| format!("{op:?}")));
    wanted.extend(COMPARE.map(|op| format!("{op:?}")));
    for name in wanted {
        let times = made.get(&name).copied().unwrap_or(0);
        assert!(times >= 20, "{name}: {times} times\n{made:?}");
    }
    println!("programs with: {total:?}; loops in loops: {deepest}");
    assert!(deepest > 6, "{deepest} loops in one another");
    for (what, programs) in [
        ("divergent branches", total.divergent_branches),
        ("divergent loops", total.divergent_iterations),
        ("divergent jumps", total.divergent_jumps),
        ("early returns", total.returns),
        ("barriers", total.barriers),
        ("subgroup operations", total.full_subgroups),
        ("subgroup operations in branches", total.partial_subgroups),
    ] {
        assert!(programs > 400, "{what} in {programs} of 4000 programs");
    }
}

const UNARY: [Unary; 16] = [
    Unary::LogicalNot,
    Unary::Not,
    Unary::Neg,
    Unary::Abs,
    Unary::Sign,
    Unary::BitReverse,
    Unary::BitCount,
    Unary::FindLsb,
    Unary::FindMsb,
    Unary::FNeg,
    Unary::FAbs,
    Unary::Floor,
    Unary::Ceil,
    Unary::Trunc,
    Unary::RoundEven,
    Unary::Sane,
];

const BINARY: [Binary; 25] = [
    Binary::LogicalAnd,
    Binary::LogicalOr,
    Binary::LogicalEqual,
    Binary::LogicalNotEqual,
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::MulHigh,
    Binary::Carry,
    Binary::Borrow,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::Shr,
    Binary::Div,
    Binary::Rem,
    Binary::Mod,
    Binary::Min,
    Binary::Max,
    Binary::FAdd,
    Binary::FSub,
    Binary::FMul,
    Binary::FMin,
    Binary::FMax,
];

const COMPARE: [Compare; 6] = [
    Compare::Equal,
    Compare::NotEqual,
    Compare::Less,
    Compare::LessEqual,
    Compare::Greater,
    Compare::GreaterEqual,
];

/// The name at the beginning of what `Debug` prints.
fn head(text: &str) -> String {
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn statement(stmt: &Stmt) -> String {
    head(&format!("{stmt:?}"))
}

fn expression(e: &Expr) -> String {
    match e.op {
        Op::Unary(op) => format!("{op:?}"),
        Op::Binary(op) => format!("{op:?}"),
        Op::Compare(op) => format!("{op:?}"),
        op => head(&format!("{op:?}")),
    }
}

/// Loops in one another.
fn loops(stmt: &Stmt) -> usize {
    let inner = stmt
        .blocks()
        .into_iter()
        .flatten()
        .map(loops)
        .max()
        .unwrap_or(0);
    inner + usize::from(stmt.is_loop())
}

/// The interpreter, the emitter and lavapipe agree, with and without subgroup operations.
///
/// Programs run in processes of their own, because LLVM 15 crashes on one in about a thousand, and with settings that
/// only the environment can make: vectors of four lanes, with which it does so least often, and no cache of shaders,
/// which would hide it.
#[test]
fn lavapipe_agrees() {
    let all: Vec<u64> = seeds(200).collect();
    let aborted: Vec<u64> = all
        .par_chunks(25)
        .flat_map_iter(|chunk| {
            let count = chunk.len() as u64;
            if lavapipe_runs(chunk[0], count) {
                return vec![];
            }
            let alone = chunk.iter().copied();
            alone.filter(|&seed| !lavapipe_runs(seed, 1)).collect()
        })
        .collect();
    println!("LLVM crashed on {aborted:?}");
    assert!(aborted.len() <= 1 + all.len() / 100, "{aborted:?}");
}

/// Runs [`on_lavapipe`] in a process; false if LLVM crashes in it.
fn lavapipe_runs(first: u64, count: u64) -> bool {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "on_lavapipe", "--ignored", "--nocapture"])
        .env("CORTLAND_RANDOM_FIRST", first.to_string())
        .env("CORTLAND_RANDOM_SEEDS", count.to_string())
        .env("LP_NATIVE_VECTOR_WIDTH", "128")
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .output()
        .unwrap();
    let [out, err] = [run.stdout, run.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
    // A signal: LLVM's own abort() or trap. What fails in this program is a panic, which ends with a status.
    let aborted = run.status.code().is_none();
    let which = format!("{count} seeds from {first}: {}", run.status);
    assert!(run.status.success() || aborted, "{which}\n{out}\n{err}");
    // The test may have been renamed.
    assert!(aborted || out.contains("1 passed"), "{out}");
    !aborted
}

/// Run by [`lavapipe_agrees`].
#[test]
#[ignore = "lavapipe_agrees runs it in other processes"]
fn on_lavapipe() {
    let device = Lavapipe::shared().expect("lavapipe");
    let portable = Config::all_types().portable();
    let subgroups = Config {
        subgroups: true,
        subgroup_size: device.subgroup_size(),
        // It has no others.
        shuffles: false,
        ..portable.clone()
    };
    for config in [portable, subgroups] {
        for seed in seeds(200) {
            if let Err(failure) = random::check(seed, &config, device) {
                panic!("{failure}");
            }
        }
    }
}

/// A device that runs nothing.
struct Idle;

impl Device for Idle {
    fn run(&self, case: &Case) -> anyhow::Result<Vec<Vec<u8>>> {
        Ok(case.buffers.iter().map(|b| b.bytes.clone()).collect())
    }
}

/// A device that refuses all.
struct Stubborn;

impl Device for Stubborn {
    fn run(&self, _: &Case) -> anyhow::Result<Vec<Vec<u8>>> {
        anyhow::bail!("no")
    }
}

#[test]
fn failures_are_found_and_shrunk() {
    for seed in 0..5 {
        let failure = random::check(seed, &Config::all_types(), &Idle).unwrap_err();
        assert!(failure.message.contains("differ"), "{failure}");
        let mut statements = 0;
        failure.program.visit(&mut |_| statements += 1);
        assert_eq!(statements, 1, "{failure}");
        let failure = random::check(seed, &Config::all_types(), &Stubborn).unwrap_err();
        assert_eq!(failure.message, "no");
    }
}

/// Shrinking keeps what makes a program fail, and the rules.
#[test]
fn shrinking_keeps_the_cause() {
    let has_cause = |program: &Program| {
        let mut found = false;
        program.visit(&mut |s| {
            if let Stmt::For { body, .. } = s {
                found |= body.iter().any(|s| matches!(s, Stmt::If(..)));
            }
        });
        let mut product = false;
        program.visit_exprs(&mut |e| {
            product |= e.op == Op::Binary(Binary::FMul) && e.ty.scalar == Scalar::F32;
        });
        found && product
    };
    let seed = (0..)
        .find(|&s| has_cause(&random::program(s, &Config::default())))
        .unwrap();
    let program = random::program(seed, &Config::default());
    let small = shrink::shrink(&program, 10_000, &mut |p| has_cause(p));
    assert!(has_cause(&small) && float::is_safe(&small) && interpret::run(&small).is_ok());
    let mut statements = 0;
    small.visit(&mut |_| statements += 1);
    assert!(statements <= 3, "{small}");
    assert_eq!(small.groups, [1; 3]);
}

/// Programs for the whole of subgroups have the operations that need it; others do not.
#[test]
fn configurations_are_kept() {
    for seed in 0..300 {
        let portable = random::program(seed, &Config::all_types().portable());
        portable.visit(&mut |s| assert!(!matches!(s, Stmt::Subgroup { .. }), "{portable}"));
        let small = random::program(
            seed,
            &Config {
                shuffles: false,
                ..Config::default()
            },
        );
        small.visit(&mut |s| {
            if let Stmt::Subgroup { op, .. } = s {
                let shuffle = matches!(
                    op,
                    Subgroup::Shuffle
                        | Subgroup::ShuffleXor(_)
                        | Subgroup::Clustered(..)
                        | Subgroup::QuadSwap(_)
                        | Subgroup::QuadBroadcast(_)
                );
                assert!(!shuffle, "{small}");
            }
        });
        small.visit_exprs(&mut |e| {
            let wide = matches!(
                e.ty.scalar,
                Scalar::I64 | Scalar::U64 | Scalar::F16 | Scalar::I8
            );
            assert!(!wide, "{small}");
        });
    }
}

/// Programs with subgroup operations in divergent loops keep the rules; they are valid where the validator knows the
/// extension, which that of Debian 12 does not.
#[test]
fn maximal_reconvergence() {
    let config = Config {
        maximal_reconvergence: true,
        ..Config::default()
    };
    let mut declared = 0;
    for seed in 0..300 {
        let mut program = random::program(seed, &config);
        interpret::run(&program).unwrap_or_else(|e| panic!("{e}\n{program}"));
        declared += usize::from(program.reconvergence);
        program.reconvergence = false;
        let words = random::emit::module(&program);
        let valid = mesa_nir::validate_spirv(&words, mesa_nir::BlockLayout::Scalar);
        valid.unwrap_or_else(|e| panic!("{e}\n{program}"));
    }
    assert!(declared > 100, "{declared}");
}

/// The compiler's code computes what the interpreter says, without a trap of strict mode.
fn simulate(name: &str, config: &Config, count: u64) {
    let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
    let failures: Vec<String> = seeds(count)
        .into_par_iter()
        .filter_map(|seed| {
            let failure = random::check(seed, config, &device).err()?;
            Some(format!("{name} seed {seed}: {failure}"))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {count} programs failed:\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

#[test]
fn the_simulated_gpu_runs_them() {
    simulate("default", &Config::default(), 3000);
}

#[test]
fn the_simulated_gpu_runs_those_of_all_types() {
    simulate("all types", &Config::all_types(), 3000);
}
