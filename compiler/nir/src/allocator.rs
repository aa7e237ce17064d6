// SPDX-License-Identifier: MIT
//! The shim's allocator for Rust.

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc,
    mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// mimalloc, which the shim calls, as Rust's global allocator.
///
/// It asks for an alignment only where that is more than every block has, as mimalloc takes twice as long to look after
/// one.
#[derive(Debug, Clone, Copy)]
pub struct Allocator;

/// The alignment that blocks have which are as large as that.
const NATURAL: usize = 16;

/// Whether any block of so many bytes is aligned like this.
fn is_natural(size: usize, align: usize) -> bool {
    align <= NATURAL && align <= size
}

// SAFETY: mimalloc is an allocator, as GlobalAlloc wants it: it does not unwind, blocks are as large and aligned as was
// asked for, or aligned by `is_natural`, and its functions for allocated blocks take those of either kind.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: any size, and an alignment that is a power of two.
        let block = unsafe {
            if is_natural(size, align) {
                mi_malloc(size)
            } else {
                mi_malloc_aligned(size, align)
            }
        };
        block.cast()
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: as above.
        let block = unsafe {
            if is_natural(size, align) {
                mi_zalloc(size)
            } else {
                mi_zalloc_aligned(size, align)
            }
        };
        block.cast()
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller's promise: a block of this allocator.
        unsafe { mi_free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let align = layout.align();
        // SAFETY: as above, both.
        let block = unsafe {
            if is_natural(size, align) {
                mi_realloc(block.cast(), size)
            } else {
                mi_realloc_aligned(block.cast(), size, align)
            }
        };
        block.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_zeroed_and_kept_when_they_grow() {
        for size in 1..200 {
            for align in [1, 2, 4, 8, 16, 32, 64, 4096] {
                let layout = Layout::from_size_align(size, align).expect("a power of two");
                let larger = Layout::from_size_align(3 * size, align).expect("a power of two");
                // SAFETY: no size is zero, every block is given back once, and only its bytes are read.
                unsafe {
                    let plain = Allocator.alloc(layout);
                    let block = Allocator.alloc_zeroed(layout);
                    assert!((0..size).all(|i| *block.add(i) == 0));
                    block.write_bytes(7, size);
                    let grown = Allocator.realloc(block, layout, larger.size());
                    assert!((0..size).all(|i| *grown.add(i) == 7));
                    for block in [plain, grown] {
                        assert_eq!(block.align_offset(align), 0, "{size} bytes, {align}");
                    }
                    Allocator.dealloc(plain, layout);
                    Allocator.dealloc(grown, larger);
                }
            }
        }
    }
}
