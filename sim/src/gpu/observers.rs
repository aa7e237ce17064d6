// SPDX-License-Identifier: MIT
//! Which observer watches a program.
//!
//! Every thread that works on a dispatch, and every launch program, gets an observer of its own
//! from an [`ObserverFactory`] and gives it back at the end, so observers need no locks. As with
//! observers, two factories make one ([`Checks`] and [`Profiles`], say), `Option` switches one on and
//! off, and `&` lends one.

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::shader::profile::Profile;
use crate::shader::strict::{Options, Strict};
use crate::shader::trace::{Filter, Trace};
use crate::shader::{Dispatch, NoObserver, Observer, Program, Workgroup};

/// Makes observers, tells them what they cannot see themselves, and collects them.
pub trait ObserverFactory: Sync {
    /// What it makes.
    type Observer: Observer;

    /// An observer for a thread's share of a dispatch, or for a launch program.
    fn begin(&self, dispatch: &Dispatch<'_>, program: &Program) -> Self::Observer;

    /// A workgroup starts on the observer's thread: its SIMD groups and its threadgroup memory are
    /// new.
    fn workgroup(&self, _observer: &mut Self::Observer, _group: &Workgroup<'_>) {}

    /// All SIMD groups of the workgroup that have not ended have reached a barrier and go on.
    fn rendezvous(&self, _observer: &mut Self::Observer, _group: &Workgroup<'_>) {}

    /// The observer's work is done, whether or not it ended with a fault.
    fn finish(&self, _observer: Self::Observer) {}
}

/// Nobody watches.
pub struct Unobserved;

impl ObserverFactory for Unobserved {
    type Observer = NoObserver;

    fn begin(&self, _: &Dispatch<'_>, _: &Program) -> NoObserver {
        NoObserver
    }
}

/// The strict checks of the shader core.
pub struct Checks(pub Options);

impl ObserverFactory for Checks {
    type Observer = Strict;

    fn begin(&self, _: &Dispatch<'_>, _: &Program) -> Strict {
        Strict::new(self.0)
    }
}

/// Profiles of all threads, added up.
#[derive(Default)]
pub struct Profiles(Mutex<Profile>);

impl Profiles {
    /// What was counted so far.
    #[must_use]
    pub fn into_inner(self) -> Profile {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObserverFactory for Profiles {
    type Observer = Profile;

    fn begin(&self, _: &Dispatch<'_>, _: &Program) -> Profile {
        Profile::new()
    }

    fn finish(&self, observer: Profile) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sum.merge(&observer);
    }
}

/// Traces, kept in memory, one behind the other as threads end. On a GPU of one thread that is the
/// order of execution. The filter's limit counts for each launch program and each thread's share
/// of a dispatch.
pub struct Traces {
    filter: Filter,
    text: Mutex<Vec<u8>>,
}

impl Traces {
    /// Traces of what the filter admits.
    #[must_use]
    pub fn new(filter: Filter) -> Traces {
        Traces {
            filter,
            text: Mutex::new(Vec::new()),
        }
    }

    /// The text so far.
    #[must_use]
    pub fn into_text(self) -> String {
        let text = self.text.into_inner();
        let text = text.unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl ObserverFactory for Traces {
    type Observer = Trace<Vec<u8>>;

    fn begin(&self, _: &Dispatch<'_>, _: &Program) -> Self::Observer {
        Trace::new(Vec::new(), self.filter)
    }

    fn finish(&self, observer: Self::Observer) {
        // A vector takes everything that is written to it.
        let traced: io::Result<Vec<u8>> = observer.finish();
        let mut text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        text.extend_from_slice(&traced.unwrap_or_default());
    }
}

/// Both, the first one's observers in front.
impl<A: ObserverFactory, B: ObserverFactory> ObserverFactory for (A, B) {
    type Observer = (A::Observer, B::Observer);

    fn begin(&self, dispatch: &Dispatch<'_>, program: &Program) -> Self::Observer {
        (
            self.0.begin(dispatch, program),
            self.1.begin(dispatch, program),
        )
    }

    fn workgroup(&self, observer: &mut Self::Observer, group: &Workgroup<'_>) {
        self.0.workgroup(&mut observer.0, group);
        self.1.workgroup(&mut observer.1, group);
    }

    fn rendezvous(&self, observer: &mut Self::Observer, group: &Workgroup<'_>) {
        self.0.rendezvous(&mut observer.0, group);
        self.1.rendezvous(&mut observer.1, group);
    }

    fn finish(&self, observer: Self::Observer) {
        self.0.finish(observer.0);
        self.1.finish(observer.1);
    }
}

/// Observes when there is one.
impl<F: ObserverFactory> ObserverFactory for Option<F> {
    type Observer = Option<F::Observer>;

    fn begin(&self, dispatch: &Dispatch<'_>, program: &Program) -> Self::Observer {
        self.as_ref()
            .map(|factory| factory.begin(dispatch, program))
    }

    fn workgroup(&self, observer: &mut Self::Observer, group: &Workgroup<'_>) {
        if let (Some(factory), Some(observer)) = (self, observer) {
            factory.workgroup(observer, group);
        }
    }

    fn rendezvous(&self, observer: &mut Self::Observer, group: &Workgroup<'_>) {
        if let (Some(factory), Some(observer)) = (self, observer) {
            factory.rendezvous(observer, group);
        }
    }

    fn finish(&self, observer: Self::Observer) {
        if let (Some(factory), Some(observer)) = (self, observer) {
            factory.finish(observer);
        }
    }
}

/// A lent factory.
impl<F: ObserverFactory> ObserverFactory for &F {
    type Observer = F::Observer;

    fn begin(&self, dispatch: &Dispatch<'_>, program: &Program) -> Self::Observer {
        (**self).begin(dispatch, program)
    }

    fn workgroup(&self, observer: &mut Self::Observer, group: &Workgroup<'_>) {
        (**self).workgroup(observer, group);
    }

    fn rendezvous(&self, observer: &mut Self::Observer, group: &Workgroup<'_>) {
        (**self).rendezvous(observer, group);
    }

    fn finish(&self, observer: Self::Observer) {
        (**self).finish(observer);
    }
}
