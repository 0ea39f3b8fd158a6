//! [`Registers`]: what a running region changes.

use super::blocks::Blocks;
use super::code::{Code, List};
use millstream_graph::Entity;
use millstream_tensor::Result;
use millstream_tensor::budget::Charged;

/// How a slice of a region ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The loop is over: the outputs are there.
    Done,
    /// The slice is used up. The next one goes on.
    Paused,
    /// Something failed. The variables are as they were at the start of the outermost iteration.
    Failed,
}

/// The registers and lists of a running region.
#[derive(Debug, Default)]
pub struct Registers {
    /// The words.
    pub words: Vec<u64>,
    /// The lists.
    pub lists: Vec<ListWords>,
    /// The values that are too large for words.
    pub blocks: Blocks,
    /// The `Loop` at which the next slice goes on, by its position; at first the first instruction.
    pub at: usize,
    /// The number of outermost iterations that have begun; one more than those that are over.
    pub iterations: u64,
    /// The units that may still be spent.
    pub units: i64,
}

/// The items of a list, as words.
#[derive(Debug, Default)]
pub struct ListWords {
    /// The words of the items, and room for more behind them.
    pub words: Charged<u64>,
    /// The number of words that items take.
    pub len: usize,
    /// What `len` was at the start of the outermost iteration.
    pub before: usize,
}

impl Registers {
    /// The registers of a region that has yet to start. Its constants are there, its inputs are zeros.
    pub fn new(code: &Code) -> Registers {
        let mut words = vec![0; code.n_words];
        for (reg, word) in &code.constants {
            words[reg.index()] = *word;
        }
        let lists = code.lists.iter().map(|_| ListWords::default()).collect();
        Registers { words, lists, blocks: Blocks::new(code), at: 0, iterations: 0, units: 0 }
    }

    /// An outermost iteration begins.
    pub(super) fn begin(&mut self) {
        self.iterations += 1;
        for list in &mut self.lists {
            list.before = list.len;
        }
        self.blocks.begin();
    }

    /// Lists are as at the start of the outermost iteration again. A region either pushes to a list or pops
    /// from it, so what was popped still stands behind the end.
    pub fn undo(&mut self) {
        for list in &mut self.lists {
            list.len = list.before;
        }
        self.blocks.undo();
    }
}

impl ListWords {
    /// The items of a list.
    pub fn holding(words: Charged<u64>) -> ListWords {
        let len = words.len();
        ListWords { words, len, before: len }
    }

    /// The words of the items.
    pub fn items(&self) -> &[u64] {
        self.words.get(..self.len).unwrap_or(&[])
    }

    /// Makes room for `n` more words.
    ///
    /// # Errors
    ///
    /// `RESOURCE_EXHAUSTED` beyond the memory limit of the run.
    pub fn grow(&mut self, n: usize) -> Result<()> {
        let wanted = self.len.saturating_add(n);
        if self.words.len() < wanted {
            let room = wanted.max(self.words.len().saturating_mul(2)).max(64);
            self.words.resize_with(room, || 0)?;
        }
        Ok(())
    }

    pub(super) fn push(&mut self, item: &[u64]) -> Result<()> {
        self.grow(item.len())?;
        if let Some(to) = self.words.get_mut(self.len..self.len + item.len()) {
            to.copy_from_slice(item);
            self.len += item.len();
        }
        Ok(())
    }

    pub(super) fn pop(&mut self, item: &mut [u64]) -> bool {
        let Some(start) = self.len.checked_sub(item.len()) else { return false };
        let Some(from) = self.words.get(start..self.len) else { return false };
        item.copy_from_slice(from);
        self.len = start;
        true
    }
}

impl std::ops::Index<List> for Registers {
    type Output = ListWords;
    fn index(&self, list: List) -> &ListWords {
        &self.lists[list.index()]
    }
}
