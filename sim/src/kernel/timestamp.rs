// SPDX-License-Identifier: MIT
//! Timestamp objects (kernel-uapi, 9).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agx_uapi::abi::{
    BindObjectFlags, GemBindObject, Timestamp, Timestamps, bind_object_op, limits,
};
use agx_uapi::{Chip, Errno};

use super::node::SimNode;
use super::scheduler::Times;
use crate::memory::{Bo, PAGE_SIZE};

/// The firmware's window on all timestamp objects of the device.
#[derive(Debug, Default)]
pub(crate) struct Aperture {
    /// End of each lease, by its start.
    leases: Mutex<BTreeMap<u64, u64>>,
}

impl Aperture {
    /// The first place that is large enough.
    fn lease(self: &Arc<Self>, size: u64) -> Option<Lease> {
        let mut leases = self.leases.lock().unwrap();
        let mut start = 0;
        for (&next, &end) in leases.iter() {
            if next - start >= size {
                break;
            }
            start = end;
        }
        let end = start
            .checked_add(size)
            .filter(|&end| end <= limits::TIMESTAMP_APERTURE_SIZE)?;
        leases.insert(start, end);
        Some(Lease {
            aperture: self.clone(),
            start,
        })
    }
}

/// A part of the [`Aperture`].
#[derive(Debug)]
pub(crate) struct Lease {
    aperture: Arc<Aperture>,
    start: u64,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.aperture.leases.lock().unwrap().remove(&self.start);
    }
}

/// A part of a buffer that commands may write times to.
#[derive(Debug)]
pub(crate) struct TimestampObject {
    pub(crate) bo: Arc<Bo>,
    offset: u64,
    range: u64,
    _lease: Lease,
}

/// Eight bytes of a timestamp object.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    object: Arc<TimestampObject>,
    offset: u64,
}

impl Slot {
    /// Stores a time.
    pub(crate) fn write(&self, nanoseconds: u64) {
        self.object.bo.store_u64(self.offset, nanoseconds);
    }
}

impl SimNode {
    /// GEM_BIND_OBJECT (kernel-uapi, 9).
    pub(super) fn gem_bind_object(&self, args: &mut GemBindObject) -> Result<(), Errno> {
        if args.pad != 0 || args.vm_id != 0 {
            return Err(Errno::EINVAL);
        }
        match args.op {
            bind_object_op::BIND => self.bind_timestamps(args),
            bind_object_op::UNBIND => self.unbind_timestamps(args),
            _ => Err(Errno::EINVAL),
        }
    }

    fn bind_timestamps(&self, args: &mut GemBindObject) -> Result<(), Errno> {
        let aligned = (args.offset | args.range).is_multiple_of(PAGE_SIZE);
        if args.flags != BindObjectFlags::USAGE_TIMESTAMPS || args.range == 0 || !aligned {
            return Err(Errno::EINVAL);
        }
        let bo = self.gem(args.handle)?.bo.clone();
        if args
            .offset
            .checked_add(args.range)
            .is_none_or(|end| end > bo.size())
        {
            return Err(Errno::EINVAL);
        }
        self.wait_for_firmware()?;
        let lease = self
            .device
            .aperture
            .lease(args.range)
            .ok_or(Errno::ENOSPC)?;
        let object = TimestampObject {
            bo,
            offset: args.offset,
            range: args.range,
            _lease: lease,
        };
        let inserted = self.tables().timestamps.insert(Arc::new(object));
        args.object_handle = inserted.map_err(|_| self.chip().ids_exhausted())?;
        Ok(())
    }

    fn unbind_timestamps(&self, args: &GemBindObject) -> Result<(), Errno> {
        let fields = args.offset | args.range | u64::from(args.handle | args.flags.bits());
        if fields != 0 {
            return Err(Errno::EINVAL);
        }
        if self.tables().timestamps.get(args.object_handle).is_none() {
            return Err(Errno::ENOENT);
        }
        self.wait_for_firmware()?;
        let mut tables = self.tables();
        let object = tables
            .timestamps
            .remove(args.object_handle)
            .ok_or(Errno::ENOENT)?;
        if self.chip() == Chip::M4 {
            // The firmware's mapping and the pages stay until the file is closed.
            tables.unbound_timestamps.push(object);
        }
        Ok(())
    }

    fn wait_for_firmware(&self) -> Result<(), Errno> {
        match self.chip() {
            Chip::M4 => self
                .device
                .scheduler
                .wait_device(self.device.config.internal_wait),
            Chip::A18Pro => Ok(()),
        }
    }

    /// The slots that a command names.
    ///
    /// # Errors
    /// `ENOENT`: unknown object. `EINVAL`: a misaligned offset, or one outside the object; an offset
    /// without an object.
    pub(super) fn times(&self, times: &Timestamps) -> Result<Times, Errno> {
        Ok(Times {
            start: self.slot(times.start)?,
            end: self.slot(times.end)?,
            ..Times::default()
        })
    }

    fn slot(&self, timestamp: Timestamp) -> Result<Option<Slot>, Errno> {
        let offset = u64::from(timestamp.offset);
        if timestamp.handle == 0 {
            return if offset == 0 {
                Ok(None)
            } else {
                Err(Errno::EINVAL)
            };
        }
        let object = self
            .tables()
            .timestamps
            .get(timestamp.handle)
            .cloned()
            .ok_or(Errno::ENOENT)?;
        if !offset.is_multiple_of(8) || offset + 8 > object.range {
            return Err(Errno::EINVAL);
        }
        let offset = object.offset + offset;
        Ok(Some(Slot { object, offset }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hole_that_fits_is_taken() {
        let aperture = Arc::new(Aperture::default());
        let mut leases: Vec<_> = (1..=4)
            .map(|pages| aperture.lease(pages * PAGE_SIZE).unwrap())
            .collect();
        let starts: Vec<_> = leases.iter().map(|lease| lease.start / PAGE_SIZE).collect();
        assert_eq!(starts, [0, 1, 3, 6]);
        leases.remove(1);
        assert_eq!(aperture.lease(3 * PAGE_SIZE).unwrap().start / PAGE_SIZE, 10);
        let first = aperture.lease(PAGE_SIZE).unwrap();
        assert_eq!(first.start / PAGE_SIZE, 1);
        assert_eq!(aperture.lease(PAGE_SIZE).unwrap().start / PAGE_SIZE, 2);
        let rest = limits::TIMESTAMP_APERTURE_SIZE - 10 * PAGE_SIZE;
        assert!(aperture.lease(rest + PAGE_SIZE).is_none());
        let rest = aperture.lease(rest).unwrap();
        assert_eq!(rest.start / PAGE_SIZE, 10);
        drop((leases, first, rest));
        assert_eq!(
            aperture
                .lease(limits::TIMESTAMP_APERTURE_SIZE)
                .unwrap()
                .start,
            0
        );
    }
}
