// SPDX-License-Identifier: MIT
//! VM_BIND against a model that keeps every page by itself (kernel-uapi, 7.5).

mod kernel_support;

use agx_sim::memory::Access as GpuAccess;
use agx_uapi::{Access, Bind, Caching, Chip, Errno, Kernel};
use kernel_support::*;
use proptest::prelude::*;

const BASE: u64 = 0x30_0000_0000;
const PAGES: u64 = 48;
const BUFFER_PAGES: [u64; 3] = [16, 16, 5];

#[derive(Clone, Debug)]
enum Op {
    Bind {
        page: u64,
        count: u64,
        buffer: usize,
        offset: u64,
        access: Access,
        single: bool,
    },
    Unbind {
        page: u64,
        count: u64,
    },
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        Just(Access::Read),
        Just(Access::Write),
        Just(Access::ReadWrite)
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let range = (0..PAGES, 1..9u64).prop_map(|(page, count)| (page, count.min(PAGES - page)));
    let bind = (range.clone(), 0..3usize, 0..18u64, access(), any::<bool>()).prop_map(
        |((page, count), buffer, offset, access, single)| Op::Bind {
            page,
            count,
            buffer,
            offset,
            access,
            single,
        },
    );
    let unbind = range.prop_map(|(page, count)| Op::Unbind { page, count });
    prop_oneof![3 => bind, 2 => unbind]
}

/// What a page shows: buffer, page in it, access.
type Page = Option<(usize, u64, Access)>;

/// Applies an operation page by page.
fn apply(model: &mut [Page], op: &Op, overlap: Errno) -> Result<(), Errno> {
    match *op {
        Op::Unbind { page, count } => model[page as usize..][..count as usize].fill(None),
        Op::Bind {
            page,
            count,
            buffer,
            offset,
            access,
            single,
        } => {
            let needed = if single { 1 } else { count };
            if offset + needed > BUFFER_PAGES[buffer] {
                return Err(Errno::EINVAL);
            }
            let pages = &mut model[page as usize..][..count as usize];
            if pages.iter().any(Option::is_some) {
                return Err(overlap);
            }
            for (index, page) in pages.iter_mut().enumerate() {
                let step = if single { 0 } else { index as u64 };
                *page = Some((buffer, offset + step, access));
            }
        }
    }
    Ok(())
}

fn marker(buffer: usize, page: u64) -> u64 {
    0xb0f0_0000 + buffer as u64 * 0x100 + page
}

fn check(chip: Chip, ops: &[Op]) {
    let rig = Rig::new(chip);
    rig.mock.keep_mappings(true);
    let gems = BUFFER_PAGES.map(|pages| {
        rig.kernel
            .gem_create(pages * PAGE, Caching::WriteBack, None)
            .unwrap()
    });
    let mapped: Vec<_> = gems
        .iter()
        .zip(BUFFER_PAGES)
        .map(|(gem, pages)| rig.kernel.gem_map(*gem, (pages * PAGE) as usize).unwrap())
        .collect();
    for (buffer, mapping) in mapped.iter().enumerate() {
        for page in 0..BUFFER_PAGES[buffer] {
            store(mapping, (page * PAGE) as usize, marker(buffer, page));
        }
    }
    let overlap = if chip == Chip::M4 {
        Errno::EEXIST
    } else {
        Errno::EINVAL
    };
    let mut model: Vec<Page> = vec![None; PAGES as usize];
    for (index, op) in ops.iter().enumerate() {
        let bind = match *op {
            Op::Unbind { page, count } => Bind::Unbind {
                addr: BASE + page * PAGE,
                size: count * PAGE,
            },
            Op::Bind {
                page,
                count,
                buffer,
                offset,
                access,
                single,
            } => {
                let (addr, size) = (BASE + page * PAGE, count * PAGE);
                let (gem, offset) = (gems[buffer], offset * PAGE);
                if single {
                    Bind::Page {
                        addr,
                        size,
                        gem,
                        offset,
                        access,
                    }
                } else {
                    Bind::Object {
                        addr,
                        size,
                        gem,
                        offset,
                        access,
                    }
                }
            }
        };
        let expected = apply(&mut model, op, overlap);
        assert_eq!(rig.kernel.vm_bind(rig.vm, &[bind]), expected, "{op:?}");
        // What a command sees must be right after each change, not only at the end.
        if index % 8 != 7 && index + 1 != ops.len() {
            continue;
        }
        rig.run(stream(0));
        let seen = rig.mock.mappings(stream(0));
        for (page, expected) in model.iter().enumerate() {
            let va = BASE + page as u64 * PAGE;
            let Some(region) = seen.find(va) else {
                assert_eq!(*expected, None, "page {page} is not mapped");
                continue;
            };
            let (buffer, offset, access) =
                expected.unwrap_or_else(|| panic!("page {page} is mapped"));
            // SAFETY: the region holds the page; nobody writes to it now.
            let word = unsafe { region.host(va).cast::<u64>().read_volatile() };
            assert_eq!(word, marker(buffer, offset), "page {page}");
            let last = region.host(va + PAGE - 1) as usize;
            assert_eq!(last - region.host(va) as usize, PAGE as usize - 1);
            assert_eq!(
                seen.covers(va, PAGE, GpuAccess::Read),
                access != Access::Write
            );
            assert_eq!(
                seen.covers(va, PAGE, GpuAccess::Write),
                access != Access::Read
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_page_is_what_the_model_says(ops in prop::collection::vec(op(), 1..60)) {
        check(Chip::M4, &ops);
    }

    #[test]
    fn every_page_is_what_the_model_says_on_the_a18(ops in prop::collection::vec(op(), 1..30)) {
        check(Chip::A18Pro, &ops);
    }
}
