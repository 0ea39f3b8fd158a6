//! The open blocks of each thread: name scopes, control dependencies, devices and attributes.
//!
//! A name scope applies only to the thread that entered it. The other blocks apply to all threads that build
//! the graph, until [`Graph::switch_to_thread_local`]. From then on each thread has blocks of its own, which
//! start as those open at that moment.
//!
//! [`GraphData`] holds the blocks of one thread, where the builders read them; those of other threads are
//! parked. Taking the graph's lock swaps them in. A thread that builds alone pays for one comparison.

use crate::graph::{ControlScope, Graph, GraphData};
use crate::within::Overlay;
use millstream_state::this_thread;
use std::collections::HashMap;
use std::sync::Arc;

/// The open blocks of a thread.
#[derive(Clone, Default)]
pub(crate) struct Blocks {
    /// The current name scope, with its closing `/` unless empty.
    pub scope: String,
    pub controls: Vec<ControlScope>,
    pub device: Arc<str>,
    /// The attributes that the open blocks add to new nodes, the innermost last.
    pub overlays: Vec<Overlay>,
}

/// The blocks of threads other than the one that built last.
#[derive(Default)]
pub(crate) struct Parked {
    /// The thread whose blocks the graph holds.
    thread: u64,
    of: HashMap<u64, Blocks>,
    /// The blocks that a thread starts with, once blocks belong to threads.
    local: Option<Blocks>,
}

impl Graph {
    /// From now on, blocks (control dependencies, devices, ..) apply only to the nodes of the thread that
    /// enters them.
    pub fn switch_to_thread_local(&self) {
        let mut g = self.lock();
        if g.parked.local.is_some() {
            return;
        }
        let start = Blocks { scope: String::new(), ..g.blocks.clone() };
        for parked in g.parked.of.values_mut() {
            *parked = Blocks { scope: std::mem::take(&mut parked.scope), ..start.clone() };
        }
        g.parked.local = Some(start);
    }
}

impl GraphData {
    /// Swaps this thread's blocks in.
    #[inline]
    pub(crate) fn change_thread(&mut self) {
        let thread = this_thread();
        if self.parked.thread != thread {
            self.park(thread);
        }
    }

    fn park(&mut self, thread: u64) {
        let old = std::mem::replace(&mut self.parked.thread, thread);
        let mine = self.parked.of.remove(&thread);
        match &self.parked.local {
            None => {
                let scope =
                    std::mem::replace(&mut self.blocks.scope, mine.map(|b| b.scope).unwrap_or_default());
                // Threads come and go, so empty scopes are not kept.
                if !scope.is_empty() {
                    self.parked.of.insert(old, Blocks { scope, ..Blocks::default() });
                }
            }
            Some(start) => {
                let mine = mine.unwrap_or_else(|| start.clone());
                let theirs = std::mem::replace(&mut self.blocks, mine);
                if !theirs.is_like(start) {
                    self.parked.of.insert(old, theirs);
                }
            }
        }
    }
}

impl Blocks {
    /// Whether these are the blocks `start` that a thread starts with. Comparing lengths is enough, because
    /// blocks are left in reverse order.
    fn is_like(&self, start: &Blocks) -> bool {
        self.scope.is_empty()
            && self.controls.len() == start.controls.len()
            && self.overlays.len() == start.overlays.len()
            && self.device == start.device
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::Graph;
    use crate::op::Registry;
    use std::sync::LazyLock;

    fn graph() -> Graph {
        static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::new([]));
        Graph::with_ops(&REGISTRY)
    }

    #[test]
    fn name_scopes_are_the_threads() {
        let g = graph();
        let _a = g.enter_name_scope("a");
        let _d = g.enter_device("/cpu:1");
        let there = g.clone();
        let seen = std::thread::spawn(move || (there.scope(), there.current_device())).join().unwrap();
        assert_eq!(seen, (String::new(), "/cpu:1".to_owned()));
        assert_eq!(g.scope(), "a/");
    }

    #[test]
    fn other_blocks_are_when_asked() {
        let g = graph();
        let outer = g.enter_device("/cpu:1");
        g.switch_to_thread_local();
        let _inner = g.enter_device("/cpu:2");
        let there = g.clone();
        let work = move || {
            let first = there.current_device();
            let _mine = there.enter_device("/cpu:3");
            (first, there.current_device())
        };
        assert_eq!(std::thread::spawn(work).join().unwrap(), ("/cpu:1".to_owned(), "/cpu:3".to_owned()));
        assert_eq!(g.current_device(), "/cpu:2");
        drop(_inner);
        assert_eq!(g.current_device(), "/cpu:1");
        drop(outer);
        assert_eq!(g.current_device(), "");
    }
}
