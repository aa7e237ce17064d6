// SPDX-License-Identifier: MIT
//! Device memory: DEV_LOAD and DEV_STORE (isa-2, 2; HW).
//!
//! **Address.** `base64 + (zero_extend(index32) << shift) + sign_extend(offset16)`, modulo 2^43
//! (isa-2, 2.1; HW). Addresses have 42 bits: with bit 42 set nothing is mapped (isa-0, 7 row 18). The
//! space is chosen by the opcode alone (isa-2, 3.1): a base of 0x80000000 here is an ordinary device
//! address, however launch, 11 words it.
//!
//! **Units.** An access is a row of elements; the address of each is rounded down to the element's
//! size by itself (isa-2, 2.5; HW). Rounding the first one down gives the same addresses, because the
//! elements follow each other at their own size.
//!
//! **Registers** (isa-2, 2.2). 32-bit elements fill whole registers. A single 16-bit element changes
//! the named half only (isa-0, 6 row 22; HW). A single 8-bit element goes, zero-extended to 16 bits,
//! into the named half as well: bits 8..15 read 0 on A18 Pro, and that bits 16..31 stay is the weakest
//! reading of "read 0 in a register not written before" (isa-2, 14 row 4). Two 16-bit elements fill
//! one register, low half first (HW). The packing of three and four 16-bit and of four 8-bit elements
//! is INFERRED: here they continue that order, low bits first; the third of three 16-bit elements
//! changes the low half of its register only. A store reads what the load of its format writes; that
//! the half bit of a narrow store picks its half is INFERRED (isa-2, 2.4). On wider formats the bit is
//! inert.
//!
//! **Faults** (isa-2, 2.6; HW). Units that are not mapped, or not with the permission, load 0 and drop
//! what is stored. Under [`super::Dispatch::strict`] such a unit faults, and so does one that is not
//! aligned to its size; nothing is stored then.
//!
//! **Order.** Lanes store in ascending order, so of several that hit one byte the highest active one
//! wins; the reference promises no order between lanes (isa-2, 7.3).
//!
//! **Speed.** Three shapes are told apart by a glance at all 32 addresses: one run of consecutive
//! elements (copied in one go), one address for all (loaded once), and the rest, lane by lane. A run
//! may be seen through inactive lanes when loading, as it reads nothing but a page that is mapped.
//!
//! **Races.** Device memory is raw bytes that the application and other workers may change at any
//! time; see [`crate::memory::Bo`]. Single elements are relaxed atomics of their width. A run is copied
//! without, in pieces of 16 bytes or more: no reference to the bytes ever exists, any bytes are valid
//! values, and what such a race yields is undefined on the hardware as well, where only atomics and
//! fences order anything (isa-4, 9.2).

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed};

use agx_isa::{File, FormId, Half, Instr, Value};

use super::lanes::{LANES, Lanes};
use super::microop::{Exec, MicroOp, Step};
use super::operand::{Dst, Place, Src};
use super::wave::{GPRS, Wave};
use crate::fault::FaultKind;
use crate::memory::{Access, PAGE_SIZE, Tlb};

/// Address arithmetic wraps here (isa-2, 2.1; HW).
pub(super) const ADDRESS_MASK: u64 = (1 << 43) - 1;

/// The addresses of all 32 lanes, or what they have in common.
#[expect(
    clippy::large_enum_variant,
    reason = "never leaves the function that made it"
)]
enum Shape {
    /// Lane l accesses this address plus l times the size of the access.
    Run(u64),
    /// All lanes access this address.
    Same(u64),
    /// Anything else.
    Each([u64; LANES]),
}

/// The address of every lane: sources 0 and 1 are the base, source 2 the index, immediate 0 the
/// offset, immediate 1 the shift.
#[inline(always)]
pub(super) fn addresses(wave: &Wave<'_>, op: &MicroOp) -> [u64; LANES] {
    let offset = i64::from(op.imm[0] as i32) as u64;
    let shift = op.imm[1] & 7;
    let (mut t0, mut t1, mut t2) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
    let low = wave.read(&op.src[0], &mut t0);
    let high = wave.read(&op.src[1], &mut t1);
    let index = wave.read(&op.src[2], &mut t2);
    let mut out = [0; LANES];
    for lane in 0..LANES {
        let base = u64::from(low.0[lane]) | u64::from(high.0[lane]) << 32;
        let index = u64::from(index.0[lane]) << shift;
        out[lane] = base.wrapping_add(index).wrapping_add(offset) & ADDRESS_MASK;
    }
    out
}

/// What kind of addresses the lanes have, for accesses of `stride` bytes.
#[inline(always)]
fn shape(wave: &Wave<'_>, op: &MicroOp, stride: u64) -> Shape {
    if op.src[0].place == Place::Uniform {
        // The common case: a uniform base, where looking at the 32-bit index is enough.
        let base = u64::from(wave.uniform(op.src[0].index))
            | u64::from(wave.uniform(op.src[1].index)) << 32;
        let base = base.wrapping_add(i64::from(op.imm[0] as i32) as u64);
        if op.src[2].place == Place::Constant {
            return Shape::Same(base & ADDRESS_MASK);
        }
        let index = wave.gpr(op.src[2].index);
        let first = index.0[0];
        let (mut uneven, mut different) = (0, 0);
        for lane in 0..LANES {
            let step = index.0[lane].wrapping_sub(first);
            uneven |= step ^ lane as u32;
            different |= step;
        }
        let shift = op.imm[1] & 7;
        let start = base.wrapping_add(u64::from(first) << shift) & ADDRESS_MASK;
        if different == 0 {
            return Shape::Same(start);
        }
        // The index is not wrapped at 32 bits, the lane numbers found above are.
        if uneven == 0 && 1 << shift == stride && first <= u32::MAX - LANES as u32 {
            return Shape::Run(start);
        }
        return Shape::Each(addresses(wave, op));
    }
    let each = addresses(wave, op);
    let (mut uneven, mut different) = (0, 0);
    for lane in 0..LANES {
        uneven |= each[lane] ^ each[0].wrapping_add(lane as u64 * stride);
        different |= each[lane] ^ each[0];
    }
    if different == 0 {
        Shape::Same(each[0])
    } else if uneven == 0 {
        Shape::Run(each[0])
    } else {
        Shape::Each(each)
    }
}

impl Shape {
    /// Every lane's address.
    #[inline(always)]
    fn spread(self, stride: u64) -> [u64; LANES] {
        match self {
            Shape::Run(first) => {
                std::array::from_fn(|lane| first.wrapping_add(lane as u64 * stride) & ADDRESS_MASK)
            }
            Shape::Same(address) => [address; LANES],
            Shape::Each(each) => each,
        }
    }
}

/// The lanes of a mask, in ascending order.
#[inline(always)]
pub(super) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// True when `bytes` bytes from `address` on are in one page.
#[inline(always)]
fn in_page(address: u64, bytes: u64) -> bool {
    (address & (PAGE_SIZE - 1)) + bytes <= PAGE_SIZE
}

/// Registers of an access.
const fn registers(size: usize, count: usize) -> usize {
    (size * count).div_ceil(4)
}

/// One element.
///
/// # Safety
/// `host` must come from translating an address that is a multiple of `SIZE`, for reading.
#[inline(always)]
unsafe fn load_unit<const SIZE: usize>(host: *mut u8) -> u32 {
    // SAFETY: the caller translated the address: the element is inside a mapped page, hence aligned
    // as its address is, and stays mapped while the command runs. All concurrent accesses of the
    // simulator to single elements are atomic; others are outside this process's memory model.
    unsafe {
        match SIZE {
            1 => u32::from(AtomicU8::from_ptr(host).load(Relaxed)),
            2 => u32::from(AtomicU16::from_ptr(host.cast()).load(Relaxed)),
            _ => AtomicU32::from_ptr(host.cast()).load(Relaxed),
        }
    }
}

/// One element.
///
/// # Safety
/// As [`load_unit`], for writing.
#[inline(always)]
unsafe fn store_unit<const SIZE: usize>(host: *mut u8, value: u32) {
    // SAFETY: as in `load_unit`.
    unsafe {
        match SIZE {
            1 => AtomicU8::from_ptr(host).store(value as u8, Relaxed),
            2 => AtomicU16::from_ptr(host.cast()).store(value as u16, Relaxed),
            _ => AtomicU32::from_ptr(host.cast()).store(value, Relaxed),
        }
    }
}

/// Calls `f` with the number and host address of each element of one lane's access that is mapped.
#[inline(always)]
fn units<const SIZE: usize, const COUNT: usize>(
    tlb: &Tlb<'_>,
    address: u64,
    access: Access,
    mut f: impl FnMut(usize, *mut u8),
) {
    let first = address & !(SIZE as u64 - 1);
    if in_page(first, (SIZE * COUNT) as u64) {
        if let Some(host) = tlb.translate(first, access) {
            for unit in 0..COUNT {
                // SAFETY: all of them are in the page that was translated.
                f(unit, unsafe { host.add(unit * SIZE) });
            }
        }
    } else {
        for unit in 0..COUNT {
            let address = first.wrapping_add((unit * SIZE) as u64) & ADDRESS_MASK;
            if let Some(host) = tlb.translate(address, access) {
                f(unit, host);
            }
        }
    }
}

/// One lane's access, as register contents.
#[inline(always)]
fn load_lane<const SIZE: usize, const COUNT: usize>(tlb: &Tlb<'_>, address: u64) -> [u32; 4] {
    let mut words = [0; 4];
    units::<SIZE, COUNT>(tlb, address, Access::Read, |unit, host| {
        let bit = unit * SIZE * 8;
        // SAFETY: `units` translated it, aligned.
        words[bit / 32] |= unsafe { load_unit::<SIZE>(host) } << (bit % 32);
    });
    words
}

/// Loads lane by lane, the active ones.
#[inline(never)]
fn gather<const SIZE: usize, const COUNT: usize>(
    wave: &Wave<'_>,
    addresses: &[u64; LANES],
    out: &mut [Lanes; 4],
) {
    for lane in lanes_of(wave.active()) {
        let words = load_lane::<SIZE, COUNT>(wave.group.tlb, addresses[lane]);
        for register in 0..registers(SIZE, COUNT) {
            out[register].0[lane] = words[register];
        }
    }
}

/// Four by four words, rows and columns exchanged.
#[inline(always)]
fn transpose(rows: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
    #[cfg(target_arch = "x86_64")]
    {
        // The compiler builds such vectors word by word when left alone.
        use std::arch::x86_64::{
            __m128i, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
        };
        // SAFETY: these types have the same size and no invalid values, and SSE2 is part of x86-64.
        unsafe {
            let [a, b, c, d] = std::mem::transmute::<[[u32; 4]; 4], [__m128i; 4]>(rows);
            let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
            let (ef, gh) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
            std::mem::transmute::<[__m128i; 4], [[u32; 4]; 4]>([
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(ef, gh),
                _mm_unpackhi_epi64(ef, gh),
            ])
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        std::array::from_fn(|column| std::array::from_fn(|row| rows[row][column]))
    }
}

/// Words as they stand in GPU memory, or back: nothing on a little-endian host. Loops, because a call
/// of `array::map` does not always disappear.
#[inline(always)]
fn little_endian(mut rows: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
    for row in &mut rows {
        for word in row {
            *word = word.to_le();
        }
    }
    rows
}

/// Loads `N` words for each of 32 lanes, one lane's after the other's, into the first `N` of `out`.
///
/// # Safety
/// `host` must be good for reading `128 * N` bytes.
#[inline(always)]
unsafe fn load_run_words<const N: usize>(host: *const u8, out: &mut [Lanes]) {
    let mut rows = [[0u32; N]; LANES];
    // SAFETY: the caller vouches for the source; the target is as long and nobody else's. Racing
    // writers may leave a mix of bytes, each of which is a valid value (see the module's "Races").
    unsafe { std::ptr::copy_nonoverlapping(host, rows.as_mut_ptr().cast::<u8>(), LANES * N * 4) };
    for lane in 0..LANES {
        for word in 0..N {
            out[word].0[lane] = u32::from_le(rows[lane][word]);
        }
    }
}

/// As [`load_run_words`] for four words.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn load_run_4_words(host: *const u8, out: &mut [Lanes]) {
    let Some(out) = out.first_chunk_mut::<4>() else {
        return;
    };
    for start in (0..LANES).step_by(4) {
        // SAFETY: as in `load_run_words`.
        let rows = unsafe {
            host.add(start * 16)
                .cast::<[[u32; 4]; 4]>()
                .read_unaligned()
        };
        let columns = transpose(little_endian(rows));
        for word in 0..4 {
            out[word].0[start..start + 4].copy_from_slice(&columns[word]);
        }
    }
}

/// Loads a run.
///
/// # Safety
/// `host` must be good for reading `32 * SIZE * COUNT` bytes.
#[inline(always)]
unsafe fn load_run<const SIZE: usize, const COUNT: usize>(host: *const u8, out: &mut [Lanes]) {
    // SAFETY (all): the caller vouches for the source, the targets are as long and nobody else's;
    // races as in `load_run_words`.
    match (SIZE, COUNT) {
        (1, 1) => {
            let mut bytes = [0u8; LANES];
            // SAFETY: see above.
            unsafe { std::ptr::copy_nonoverlapping(host, bytes.as_mut_ptr(), LANES) };
            for lane in 0..LANES {
                out[0].0[lane] = u32::from(bytes[lane]);
            }
        }
        (2, 1) => {
            let mut halves = [0u16; LANES];
            // SAFETY: see above.
            unsafe {
                std::ptr::copy_nonoverlapping(host, halves.as_mut_ptr().cast::<u8>(), LANES * 2);
            }
            for lane in 0..LANES {
                out[0].0[lane] = u32::from(u16::from_le(halves[lane]));
            }
        }
        (2, 3) => {
            let mut rows = [[0u16; 3]; LANES];
            // SAFETY: see above.
            unsafe {
                std::ptr::copy_nonoverlapping(host, rows.as_mut_ptr().cast::<u8>(), LANES * 6);
            }
            for lane in 0..LANES {
                let [a, b, c] = rows[lane].map(|half| u32::from(u16::from_le(half)));
                out[0].0[lane] = a | b << 16;
                out[1].0[lane] = c;
            }
        }
        // Whole words, whatever their elements. SAFETY: see above.
        _ => unsafe {
            match registers(SIZE, COUNT) {
                1 => load_run_words::<1>(host, out),
                2 => load_run_words::<2>(host, out),
                3 => load_run_words::<3>(host, out),
                _ => load_run_4_words(host, out),
            }
        },
    }
}

#[inline(always)]
fn run_load<const SIZE: usize, const COUNT: usize>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let stride = (SIZE * COUNT) as u64;
    if wave.active() == 0 {
        return Step::Next;
    }
    let shape = shape(wave, op, stride);
    if wave.group.dispatch.strict {
        let each = addresses(wave, op);
        if let Some(fault) = check(wave, &each, SIZE as u32, COUNT as u32, Access::Read) {
            return fault;
        }
    }
    let registers = registers(SIZE, COUNT);
    let mut out = [Lanes::ZERO; 4];
    match shape {
        Shape::Same(address) => {
            let words = load_lane::<SIZE, COUNT>(wave.group.tlb, address);
            for register in 0..registers {
                out[register] = Lanes::splat(words[register]);
            }
        }
        Shape::Run(first) => {
            let aligned = first & !(SIZE as u64 - 1);
            if !in_page(aligned, stride * LANES as u64) {
                gather::<SIZE, COUNT>(wave, &Shape::Run(first).spread(stride), &mut out);
            } else if let Some(host) = wave.group.tlb.translate(aligned, Access::Read) {
                match op.dst {
                    // Straight to the registers; lowering has made sure that they exist.
                    Dst::Gpr(first) if wave.active() == !0 && (SIZE * COUNT).is_multiple_of(4) => {
                        let first = usize::from(first);
                        let target = &mut wave.gprs[first..first + registers];
                        // SAFETY: the whole run is in the page that was translated.
                        unsafe { load_run::<SIZE, COUNT>(host, target) };
                        return Step::Next;
                    }
                    // SAFETY: the whole run is in the page that was translated.
                    _ => unsafe { load_run::<SIZE, COUNT>(host, &mut out) },
                }
            }
        }
        Shape::Each(each) => gather::<SIZE, COUNT>(wave, &each, &mut out),
    }
    match op.dst {
        Dst::Gpr(first) => {
            for register in 0..registers {
                let number = first.wrapping_add(register as u8);
                // The last of an odd number of halves leaves the other half of its register alone.
                let dst = if SIZE == 2 && COUNT % 2 == 1 && register == COUNT / 2 {
                    Dst::Low(number)
                } else {
                    Dst::Gpr(number)
                };
                wave.write(dst, &out[register]);
            }
        }
        half => wave.write(half, &out[0]),
    }
    Step::Next
}

/// Stores `N` words of each of 32 lanes, one lane's after the other's, from the first `N` of `data`.
///
/// # Safety
/// `host` must be good for writing `128 * N` bytes.
#[inline(always)]
unsafe fn store_run_words<const N: usize>(host: *mut u8, data: &[Lanes]) {
    let mut rows = [[0u32; N]; LANES];
    for lane in 0..LANES {
        for word in 0..N {
            rows[lane][word] = data[word].0[lane].to_le();
        }
    }
    // SAFETY: the caller vouches for the target, the source is as long. Racing readers may see a mix
    // of bytes (see the module's "Races").
    unsafe { std::ptr::copy_nonoverlapping(rows.as_ptr().cast::<u8>(), host, LANES * N * 4) };
}

/// As [`store_run_words`] for four words.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn store_run_4_words(host: *mut u8, data: &[Lanes]) {
    let Some(data) = data.first_chunk::<4>() else {
        return;
    };
    for start in (0..LANES).step_by(4) {
        let column = |word: usize| {
            let lanes = &data[word].0;
            [
                lanes[start],
                lanes[start + 1],
                lanes[start + 2],
                lanes[start + 3],
            ]
        };
        let rows = transpose([column(0), column(1), column(2), column(3)]);
        let rows = little_endian(rows);
        // SAFETY: as in `store_run_words`.
        unsafe {
            host.add(start * 16)
                .cast::<[[u32; 4]; 4]>()
                .write_unaligned(rows)
        };
    }
}

/// Stores a run.
///
/// # Safety
/// `host` must be good for writing `32 * SIZE * COUNT` bytes.
#[inline(always)]
unsafe fn store_run<const SIZE: usize, const COUNT: usize>(
    host: *mut u8,
    data: &[Lanes],
    shift: u32,
) {
    // SAFETY (all): the caller vouches for the target, the sources are as long; races as in
    // `store_run_words`.
    match (SIZE, COUNT) {
        (1, 1) => {
            let mut bytes = [0u8; LANES];
            for lane in 0..LANES {
                bytes[lane] = (data[0].0[lane] >> shift) as u8;
            }
            // SAFETY: see above.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, LANES) };
        }
        (2, 1) => {
            let mut halves = [0u16; LANES];
            for lane in 0..LANES {
                halves[lane] = ((data[0].0[lane] >> shift) as u16).to_le();
            }
            // SAFETY: see above.
            unsafe { std::ptr::copy_nonoverlapping(halves.as_ptr().cast(), host, LANES * 2) };
        }
        (2, 3) => {
            let mut rows = [[0u16; 3]; LANES];
            for lane in 0..LANES {
                let (a, b) = (data[0].0[lane], data[1].0[lane]);
                rows[lane] = [a as u16, (a >> 16) as u16, b as u16].map(u16::to_le);
            }
            // SAFETY: see above.
            unsafe { std::ptr::copy_nonoverlapping(rows.as_ptr().cast(), host, LANES * 6) };
        }
        // SAFETY: see above.
        _ => unsafe {
            match registers(SIZE, COUNT) {
                1 => store_run_words::<1>(host, data),
                2 => store_run_words::<2>(host, data),
                3 => store_run_words::<3>(host, data),
                _ => store_run_4_words(host, data),
            }
        },
    }
}

/// Stores lane by lane, the lanes of `mask`.
#[inline(never)]
fn scatter<const SIZE: usize, const COUNT: usize>(
    tlb: &Tlb<'_>,
    mask: u32,
    addresses: &[u64; LANES],
    data: &[Lanes],
    shift: u32,
) {
    for lane in lanes_of(mask) {
        units::<SIZE, COUNT>(tlb, addresses[lane], Access::Write, |unit, host| {
            let bit = unit * SIZE * 8;
            let value = data[bit / 32].0[lane] >> (bit as u32 % 32 + shift);
            // SAFETY: `units` translated it, aligned.
            unsafe { store_unit::<SIZE>(host, value) };
        });
    }
}

/// Immediate 2 is the first data register, immediate 3 the bit at which narrow data starts.
#[inline(always)]
fn run_store<const SIZE: usize, const COUNT: usize>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let stride = (SIZE * COUNT) as u64;
    if wave.storing() == 0 {
        return Step::Next;
    }
    let shape = shape(wave, op, stride);
    if wave.group.dispatch.strict {
        let each = addresses(wave, op);
        if let Some(fault) = check(wave, &each, SIZE as u32, COUNT as u32, Access::Write) {
            return fault;
        }
    }
    let tlb = wave.group.tlb;
    let active = wave.storing();
    // Lowering has made sure that the registers exist.
    let first = op.imm[2] as usize;
    let data = &wave.gprs[first..first + registers(SIZE, COUNT)];
    let shift = op.imm[3] & 16;
    match shape {
        Shape::Run(start) if active == !0 => {
            let aligned = start & !(SIZE as u64 - 1);
            if in_page(aligned, stride * LANES as u64) {
                if let Some(host) = tlb.translate(aligned, Access::Write) {
                    // SAFETY: the whole run is in the page that was translated.
                    unsafe { store_run::<SIZE, COUNT>(host, data, shift) };
                }
            } else {
                let each = Shape::Run(start).spread(stride);
                scatter::<SIZE, COUNT>(tlb, active, &each, data, shift);
            }
        }
        Shape::Same(address) => {
            // All but the last would be overwritten.
            let last = 1 << (31 - active.leading_zeros());
            scatter::<SIZE, COUNT>(tlb, last, &[address; LANES], data, shift);
        }
        other => scatter::<SIZE, COUNT>(tlb, active, &other.spread(stride), data, shift),
    }
    Step::Next
}

/// Strict mode: the fault of the first unit that is misaligned or may not be accessed.
#[cold]
#[inline(never)]
pub(super) fn check(
    wave: &mut Wave<'_>,
    addresses: &[u64; LANES],
    size: u32,
    count: u32,
    access: Access,
) -> Option<Step> {
    let tlb = wave.group.tlb;
    let lanes = match access {
        Access::Read => wave.active(),
        Access::Write | Access::ReadWrite => wave.storing(),
    };
    for lane in lanes_of(lanes) {
        for unit in 0..count {
            let va = addresses[lane].wrapping_add(u64::from(unit * size)) & ADDRESS_MASK;
            let reason = if va & u64::from(size - 1) != 0 {
                "not aligned to its element size"
            } else if tlb.translate(va, access).is_none() {
                match tlb.mappings().find(va) {
                    None => "not mapped",
                    Some(region) if region.read => "mapped read-only",
                    Some(region) if region.write => "mapped write-only",
                    Some(_) => "mapped without access",
                }
            } else {
                continue;
            };
            let fault = FaultKind::Memory {
                access: match access {
                    Access::Read => "load",
                    Access::Write => "store",
                    Access::ReadWrite => "atomic",
                },
                va,
                bytes: size,
                reason,
            };
            return Some(wave.fail(fault, Some(lane as u8)));
        }
    }
    None
}

crate::kernel! {
    load_8 = run_load::<1, 1>;
    load_8x4 = run_load::<1, 4>;
    load_16 = run_load::<2, 1>;
    load_16x2 = run_load::<2, 2>;
    load_16x3 = run_load::<2, 3>;
    load_16x4 = run_load::<2, 4>;
    load_32 = run_load::<4, 1>;
    load_32x2 = run_load::<4, 2>;
    load_32x3 = run_load::<4, 3>;
    load_32x4 = run_load::<4, 4>;
    store_8 = run_store::<1, 1>;
    store_8x4 = run_store::<1, 4>;
    store_16 = run_store::<2, 1>;
    store_16x2 = run_store::<2, 2>;
    store_16x3 = run_store::<2, 3>;
    store_16x4 = run_store::<2, 4>;
    store_32 = run_store::<4, 1>;
    store_32x2 = run_store::<4, 2>;
    store_32x3 = run_store::<4, 3>;
    store_32x4 = run_store::<4, 4>;
}

/// The two words of an address operand: a uniform pair or a pair of registers.
pub(super) fn base(instr: &Instr, index: usize) -> Option<[Src; 2]> {
    let Value::Reg(reg) = instr.arg(index).value else {
        return None;
    };
    let word = |place, index: u16| {
        Some(Src {
            place,
            index: u8::try_from(index).ok()?,
            and: !0,
            xor: 0,
        })
    };
    match reg.file {
        File::UniformPair => Some([
            word(Place::Uniform, 2 * reg.index)?,
            word(Place::Uniform, 2 * reg.index + 1)?,
        ]),
        File::Gpr if usize::from(reg.index) + 1 < GPRS => Some([
            word(Place::Gpr, reg.index)?,
            word(Place::Gpr, reg.index + 1)?,
        ]),
        _ => None,
    }
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let load = match instr.id() {
        FormId::DevLoad => true,
        FormId::DevStore => false,
        _ => return None,
    };
    let format = instr.device_format()?;
    let exec: Exec = match (load, format.element_bytes, format.components) {
        (true, 1, 1) => load_8(),
        (true, 1, 4) => load_8x4(),
        (true, 2, 1) => load_16(),
        (true, 2, 2) => load_16x2(),
        (true, 2, 3) => load_16x3(),
        (true, 2, 4) => load_16x4(),
        (true, 4, 1) => load_32(),
        (true, 4, 2) => load_32x2(),
        (true, 4, 3) => load_32x3(),
        (true, 4, 4) => load_32x4(),
        (false, 1, 1) => store_8(),
        (false, 1, 4) => store_8x4(),
        (false, 2, 1) => store_16(),
        (false, 2, 2) => store_16x2(),
        (false, 2, 3) => store_16x3(),
        (false, 2, 4) => store_16x4(),
        (false, 4, 1) => store_32(),
        (false, 4, 2) => store_32x2(),
        (false, 4, 3) => store_32x3(),
        (false, 4, 4) => store_32x4(),
        _ => return None,
    };
    let shift = match instr.modifier("scale")? {
        0 => 4,
        code @ 1..=4 => code as u32 - 1,
        _ => return None,
    };
    let offset = i32::from(instr.modifier("offset")? as u16 as i16);
    let [low, high] = base(instr, 1)?;
    let index = match instr.arg(2).value {
        Value::Absent(_) => Src::ZERO,
        _ => Src::of(instr, 2)?,
    };
    let Value::Reg(data) = instr.arg(0).value else {
        return None;
    };
    if usize::from(data.index) + usize::from(format.registers) > GPRS {
        return None;
    }
    let number = data.index as u8;
    let high_half = format.narrow && data.half == Half::High;
    let dst = match (load, format.narrow) {
        (false, _) => Dst::None,
        (true, false) => Dst::Gpr(number),
        (true, true) if high_half => Dst::High(number),
        (true, true) => Dst::Low(number),
    };
    Some(MicroOp::new(exec).dst(dst).srcs([low, high, index]).imms([
        offset as u32,
        shift,
        u32::from(number),
        if high_half { 16 } else { 0 },
    ]))
}
