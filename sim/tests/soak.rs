// SPDX-License-Identifier: MIT
//! Random programs on random data: nothing may hang, panic, or touch memory that the program has no
//! right to.
//!
//! Each program is a handful of random legal instructions of all forms, some with damaged bytes, with
//! branches to random instructions of the program itself. It runs plainly, then under all observers
//! and the strict checks. Canaries lie around and beside what it may write; what ends without a strict
//! fault must have computed the same both times.
//!
//! `CORTLAND_SOAK` is the number of programs (10,000 if unset), `CORTLAND_SOAK_SEED` the number of the
//! first. A failure prints the number of its program.

use std::collections::BTreeSet;
use std::sync::Arc;

use agx_isa::{Flow, FormId, Instr, Mode, Space, decode};
use agx_sim::fault::FaultKind;
use agx_sim::memory::{Bo, Region};
use agx_sim::shader::lower::lower;
use agx_sim::shader::profile::Profile;
use agx_sim::shader::strict::{Options, Strict, WaitRule};
use agx_sim::shader::trace::{Filter, Trace};
use agx_sim::shader::{Exit, LANES, Lanes, NoObserver, Observer, Program, Stage, Wave};

mod support;
use support::{DATA, Rig};
#[path = "../../hw/isa/tests/support/random.rs"]
mod random;
use random::Rng;

const PAGE: u64 = 0x4000;
/// Where the mappings besides the rig's own lie.
const GUARDED: u64 = DATA + 0x10_0000;
const READ_ONLY: u64 = DATA + 0x20_0000;
const WRITE_ONLY: u64 = DATA + 0x30_0000;
const REPEATED: u64 = DATA + 0x40_0000;
/// Bytes of the canaries.
const CANARY: u64 = 0x5afe_5afe_c0ff_ee00;

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect(name))
}

/// The words of a range of an object.
fn words(bo: &Bo, bytes: std::ops::Range<u64>) -> Vec<u64> {
    assert!(bytes.end <= bo.size());
    let at = |offset| bo.base().wrapping_add(offset as usize).cast::<u64>();
    // SAFETY: inside the object, aligned, and nothing runs.
    bytes.step_by(8).map(|o| unsafe { at(o).read() }).collect()
}

fn fill(bo: &Bo, mut value: impl FnMut() -> u64) {
    for offset in (0..bo.size()).step_by(8) {
        let at = bo.base().wrapping_add(offset as usize).cast::<u64>();
        // SAFETY: inside the object, aligned, and nothing runs.
        unsafe { at.write(value()) };
    }
}

/// Memory of all programs.
struct Memory {
    /// Mapped for everything.
    data: Arc<Bo>,
    /// Four pages, of which the middle two are mapped for everything.
    guarded: Arc<Bo>,
    read_only: Arc<Bo>,
    write_only: Arc<Bo>,
    /// Its second page stands at many addresses.
    repeated: Arc<Bo>,
}

impl Memory {
    fn new() -> Memory {
        let bo = |pages: u64| Arc::new(Bo::new(pages * PAGE).unwrap());
        let memory = Memory {
            data: bo(1),
            guarded: bo(4),
            read_only: bo(1),
            write_only: bo(1),
            repeated: bo(2),
        };
        for bo in [&memory.guarded, &memory.read_only, &memory.repeated] {
            fill(bo, || CANARY);
        }
        memory
    }

    fn regions(&self) -> Vec<Region> {
        let region = |start: u64, bo: &Arc<Bo>, offset, pages: u64, read, write| Region {
            start,
            end: start + pages * PAGE,
            bo: Arc::clone(bo),
            offset,
            single_page: false,
            read,
            write,
        };
        let mut repeated = region(REPEATED, &self.repeated, PAGE, 8, true, true);
        repeated.single_page = true;
        vec![
            region(GUARDED, &self.guarded, PAGE, 2, true, true),
            region(READ_ONLY, &self.read_only, 0, 1, true, false),
            region(WRITE_ONLY, &self.write_only, 0, 1, false, true),
            repeated,
        ]
    }

    fn fill(&self, rng: &mut Rng) {
        fill(&self.data, || interesting(rng) << 32 | interesting(rng));
        fill(&self.write_only, || 0);
    }

    /// What programs may have written, after a look at what they must not have.
    fn written(&self) -> Vec<u64> {
        let intact = |words: Vec<u64>, name| {
            assert!(words.iter().all(|&w| w == CANARY), "{name} was written");
        };
        intact(words(&self.guarded, 0..PAGE), "the page in front");
        intact(words(&self.guarded, 3 * PAGE..4 * PAGE), "the page behind");
        intact(words(&self.read_only, 0..PAGE), "read-only memory");
        intact(words(&self.repeated, 0..PAGE), "an unmapped page");
        let mut all = words(&self.data, 0..PAGE);
        all.extend(words(&self.write_only, 0..PAGE));
        all.extend(words(&self.guarded, PAGE..3 * PAGE));
        all.extend(words(&self.repeated, PAGE..2 * PAGE));
        all
    }

    /// The canaries that may be written, as they were.
    fn restore(&self) {
        fill(&self.guarded, || CANARY);
        fill(&self.repeated, || CANARY);
    }
}

/// Small numbers, special floats, anything.
fn interesting(rng: &mut Rng) -> u64 {
    const SPECIAL: [u64; 10] = [
        0,
        0x8000_0000,
        1,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0080_0000,
        0x3f80_0000,
        0xffff_ffff,
        0x7c00_fc00,
    ];
    match rng.below(4) {
        0 => rng.below(64),
        1 => SPECIAL[rng.below(10) as usize],
        _ => rng.next() & 0xffff_ffff,
    }
}

/// Addresses in, at the edges of, and between the mappings, or anywhere.
fn address(rng: &mut Rng) -> u64 {
    let base = [DATA, GUARDED, READ_ONLY, WRITE_ONLY, REPEATED][rng.below(5) as usize];
    match rng.below(8) {
        0 => rng.next(),
        1 => 0x8000_0000,
        2 => base.wrapping_sub(rng.below(64)),
        3 => base + PAGE - rng.below(64),
        4 => base + 2 * PAGE - rng.below(64),
        _ => base + rng.below(PAGE),
    }
}

/// Random legal instructions, made once.
struct Pool(Vec<(FormId, Vec<Instr>)>);

impl Pool {
    fn new(rng: &mut Rng) -> Pool {
        let of = |&id: &FormId| {
            let strict = rng.below(2) == 0;
            let some: Vec<Instr> = (0..40)
                .filter_map(|_| random::instruction(id, rng, strict))
                .collect();
            (!some.is_empty()).then_some((id, some))
        };
        Pool(FormId::ALL.iter().filter_map(of).collect())
    }

    fn draw(&self, rng: &mut Rng) -> Instr {
        loop {
            let (id, instrs) = &self.0[rng.below(self.0.len() as u64) as usize];
            let instr = instrs[rng.below(instrs.len() as u64) as usize];
            // Memory and control flow more often than by chance, what only faults less often.
            let form = id.form();
            let rarely = match () {
                () if lower(&instr).is_err() || form.flow == Flow::Trap => 80,
                () if matches!(form.memory, Some((Space::Tile | Space::Image, _))) => 80,
                // Calls in circles are all the same.
                () if matches!(form.flow, Flow::Stop | Flow::Call) => 24,
                // There are only a few of these.
                () if matches!(form.memory, Some((Space::Device, _))) => 1,
                () if form.memory.is_some() => 4,
                () if form.flow != Flow::Next => 8,
                () => 12,
            };
            if rng.below(rarely) == 0 {
                return instr;
            }
        }
    }
}

/// Machine code.
fn program(pool: &Pool, rng: &mut Rng) -> Vec<u8> {
    let mut instrs: Vec<Instr> = Vec::new();
    for _ in 0..=rng.below(12) {
        let instr = pool.draw(rng);
        instrs.push(instr);
        if instr.wants_atomic_result() && rng.below(8) != 0 {
            let landing = pool.0.iter().find(|(id, _)| *id == FormId::AtomicResult);
            instrs.extend(landing.map(|(_, some)| some[rng.below(some.len() as u64) as usize]));
        }
    }
    if rng.below(8) != 0 {
        instrs.push(Instr::new(FormId::Stop));
    }
    // Branches lead to instructions of the program.
    let mut starts = vec![0u64];
    for instr in &instrs {
        starts.push(starts[starts.len() - 1] + u64::from(instr.form().len));
    }
    for (i, instr) in instrs.iter_mut().enumerate() {
        if instr.displacement().is_some() && rng.below(16) != 0 {
            let target = starts[rng.below(starts.len() as u64) as usize];
            instr
                .set_modifier("disp", target.wrapping_sub(starts[i]))
                .expect("an even displacement");
        }
    }
    let mut bytes: Vec<u8> = instrs.iter().flat_map(|i| i.encoded().to_vec()).collect();
    if rng.below(8) == 0 {
        for _ in 0..=rng.below(3) {
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << rng.below(8);
        }
    }
    bytes
}

/// The text of a program, for messages.
fn text(bytes: &[u8]) -> String {
    let mut lines = String::new();
    let mut at = 0;
    while at < bytes.len() {
        match decode(&bytes[at..], Mode::Lenient) {
            Ok(instr) => {
                lines += &format!("{at:4x} {instr:?}\n");
                at += usize::from(instr.form().len);
            }
            Err(error) => {
                lines += &format!("{at:4x} {error}\n");
                break;
            }
        }
    }
    lines
}

/// Says which program was running when a test fails.
struct Report<'a>(u64, &'a [u8]);

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("program {} (CORTLAND_SOAK_SEED):\n{}", self.0, text(self.1));
        }
    }
}

/// The forms that were executed without a fault.
#[derive(Default)]
struct Executed(BTreeSet<&'static str>);

impl Observer for Executed {
    fn before(&mut self, _: &Wave<'_>, _: &Program, _: usize) -> Result<(), FaultKind> {
        Ok(())
    }

    fn after(&mut self, _: &Wave<'_>, program: &Program, index: usize) {
        let instr = program.info()[index].instr;
        self.0.extend(instr.map(|instr| instr.form().name));
    }
}

/// How a run ended, and everything it left behind.
#[derive(Debug, PartialEq)]
struct Outcome {
    fault: Option<FaultKind>,
    gprs: Vec<Lanes>,
    predicates: [u32; 6],
    active: u32,
    arguments: Vec<u32>,
    memory: Vec<u64>,
    /// Memory beside the rig's own has changed.
    stored: bool,
}

fn run(rig: &mut Rig, memory: &Memory, seed: u64, observer: &mut impl Observer) -> Outcome {
    let mut rng = Rng::new(seed ^ 0xda7a);
    memory.fill(&mut rng);
    memory.restore();
    for pair in 0..128 {
        if pair < 8 || rng.below(2) == 0 {
            rig.pointer(pair, address(&mut rng));
        }
    }
    let gprs: Vec<Lanes> = (0..96)
        .map(|_| match rng.below(4) {
            0 => Lanes::splat(interesting(&mut rng) as u32),
            // Indices into memory.
            1 | 2 => {
                let (start, step) = (rng.below(64) as u32, rng.below(5) as u32);
                Lanes::from_fn(|lane| start + step * lane as u32)
            }
            _ => Lanes::from_fn(|_| interesting(&mut rng) as u32),
        })
        .collect();
    let pairs: Vec<u64> = (0..48).map(|_| address(&mut rng)).collect();
    let predicates: [u32; 6] = std::array::from_fn(|_| rng.next() as u32);
    let mut outcome = rig.run_observed(
        observer,
        |wave| {
            wave.gprs.copy_from_slice(&gprs);
            for (i, pair) in pairs.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
                for lane in 0..LANES {
                    let value = pair.wrapping_add(4 * lane as u64);
                    wave.gprs[2 * i].0[lane] = value as u32;
                    wave.gprs[2 * i + 1].0[lane] = (value >> 32) as u32;
                }
            }
            wave.predicates = predicates;
        },
        |wave, exit| Outcome {
            fault: match exit {
                Exit::Fault(fault) => {
                    // Messages are made without trouble, too.
                    assert!(!fault.to_string().is_empty());
                    Some(fault.kind)
                }
                _ => None,
            },
            gprs: wave.gprs.to_vec(),
            predicates: wave.predicates,
            active: wave.active(),
            arguments: Vec::new(),
            memory: Vec::new(),
            stored: false,
        },
    );
    outcome.arguments = (0..=255).map(|word| rig.uniforms.get(word)).collect();
    outcome.memory = memory.written();
    let beside = &outcome.memory[(PAGE / 8) as usize..];
    outcome.stored = beside.iter().any(|&word| word != 0 && word != CANARY);
    outcome
}

/// A rig for this program, the same each time.
fn rig(code: &[u8], memory: &Memory, seed: u64) -> Rig {
    let mut rng = Rng::new(seed ^ 0x0716);
    let pick = |rng: &mut Rng, some: &[u32]| some[rng.below(some.len() as u64) as usize];
    let mut rig = Rig::bytes(code.to_vec());
    rig.data = Arc::clone(&memory.data);
    rig.more = memory.regions();
    rig.active = match rng.below(4) {
        0 => pick(&mut rng, &[0, 1, 0x8000_0000, 0xffff]),
        1 => rng.next() as u32,
        _ => !0,
    };
    if rng.below(4) == 0 {
        rig.stage = Stage::Launcher;
        rig.active = 1;
    }
    rig.scratch_bytes = pick(&mut rng, &[0, 3, 4, 64, 4096, 1 << 15]);
    rig.threadgroup_bytes = pick(&mut rng, &[0, 128, 4096, 1 << 15]);
    rig.id = [rng.below(3) as u32, 0, 7];
    rig.simd_group = rng.below(4) as u32;
    rig.watchdog = 200;
    rig
}

/// What became of many programs.
#[derive(Default)]
struct Totals {
    /// Programs that ended without a fault, plainly and strictly.
    ended: [u64; 2],
    /// Programs that stored something.
    stored: u64,
    profile: Profile,
    executed: Executed,
}

impl Totals {
    fn merge(mut self, other: Totals) -> Totals {
        for (mine, more) in self.ended.iter_mut().zip(other.ended) {
            *mine += more;
        }
        self.stored += other.stored;
        self.profile.merge(&other.profile);
        self.executed.0.extend(other.executed.0);
        self
    }
}

/// Program number `seed`.
fn one(pool: &Pool, memory: &Memory, seed: u64, totals: &mut Totals) {
    let mut rng = Rng::new(seed);
    let code = program(pool, &mut rng);
    let _report = Report(seed, &code);
    let plain = run(&mut rig(&code, memory, seed), memory, seed, &mut NoObserver);
    if let Some(kind) = &plain.fault {
        assert!(!kind.is_strict(), "a strict fault in a plain run: {kind}");
    }
    let waits = [WaitRule::Proven, WaitRule::Recorded][rng.below(2) as usize];
    let mut any = || rng.below(2) == 0;
    let options = Options {
        waits,
        undefined: any() && any(),
        released: any(),
        arguments: any(),
        reserved: any(),
        control: any(),
        narrow: any(),
        shared_slots: any() && any(),
    };
    let filter = Filter {
        limit: 10_000,
        ..Filter::ALL
    };
    let trace = Trace::new(std::io::sink(), filter);
    let counters = (&mut totals.profile, &mut totals.executed);
    let mut observers = (trace, (Strict::new(options), counters));
    let mut rig = rig(&code, memory, seed);
    rig.strict = true;
    let strict = run(&mut rig, memory, seed, &mut observers);
    match &strict.fault {
        Some(kind) if kind.is_strict() => {}
        _ => assert_eq!(plain, strict, "the checks changed something"),
    }
    totals.ended[0] += u64::from(plain.fault.is_none());
    totals.ended[1] += u64::from(strict.fault.is_none());
    totals.stored += u64::from(plain.stored);
}

#[test]
fn random_programs() {
    let count = variable("CORTLAND_SOAK", 10_000);
    let first = variable("CORTLAND_SOAK_SEED", 0);
    // The same pool for every program, so that its number alone says what it is.
    let pool = Pool::new(&mut Rng::new(0x900d));
    assert!(pool.0.len() > 125, "{}", pool.0.len());
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let totals = std::thread::scope(|scope| {
        let work = |worker: u64| {
            let pool = &pool;
            scope.spawn(move || {
                let memory = Memory::new();
                let mut totals = Totals::default();
                for seed in (first + worker..first + count).step_by(workers as usize) {
                    one(pool, &memory, seed, &mut totals);
                }
                totals
            })
        };
        let workers: Vec<_> = (0..workers).map(work).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Totals>| {
            worker.join().expect("a program failed")
        };
        workers
            .into_iter()
            .map(join)
            .fold(Totals::default(), Totals::merge)
    });
    let Totals {
        ended,
        stored,
        profile,
        executed,
    } = totals;
    println!("without a fault: {ended:?}; with stores: {stored}\n{profile}");
    // It must have been about something: the forms of compute programs have run.
    if count >= 10_000 {
        let forms = executed.0.len();
        assert!(forms >= 100, "{forms} forms: {:?}", executed.0);
        assert!(ended[0] > count / 10, "{ended:?}");
        assert!(ended[1] > count / 100, "{ended:?}");
        assert!(stored > count / 20, "{stored}");
    }
}
