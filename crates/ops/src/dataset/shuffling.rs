//! [`Shuffle`]: elements in random order, from a buffer that is filled ahead.
//!
//! The order is TensorFlow's. The buffer is a ring of slots in which each epoch has a slice. A random element
//! of the first slice is next, and the slice's first element takes its place.

use super::datasets::{ENDLESS, Element, How, Kept, Over, Shuffles, Source, counted, source};
use crate::shared::philox::Words;
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Error, Result, ensure};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// How a dataset is shuffled.
pub(super) struct Shuffle {
    buffer_size: usize,
    seeds: (i64, i64),
    /// The seeds of passes, if they differ.
    each: Option<Arc<Mutex<Words>>>,
    /// How often the input is repeated; -1 for ever.
    count: i64,
}

impl Shuffle {
    /// One order in all passes, or another in each.
    pub(super) fn once(buffer_size: usize, seeds: (i64, i64), reshuffles: bool) -> Result<Shuffle> {
        let each = reshuffles.then(|| Words::seeded(seeds.0, seeds.1)).transpose()?;
        let each = each.map(|words| Arc::new(Mutex::new(words)));
        Ok(Shuffle { buffer_size, seeds, each, count: 1 })
    }

    /// Repeated `count` times; the buffer spans the repetitions.
    pub(super) fn repeated(buffer_size: usize, seeds: (i64, i64), count: i64) -> Shuffle {
        Shuffle { buffer_size, seeds, each: None, count }
    }

    /// The size in input 1 and the seeds in inputs 2 and 3. Two zeros are random seeds.
    pub(super) fn inputs(cx: &KernelCx) -> Result<(usize, (i64, i64))> {
        let buffer_size = cx.int(1)?;
        ensure!(buffer_size > 0, "buffer_size must be greater than zero.");
        let seeds = match (cx.int(2)?, cx.int(3)?) {
            (0, 0) => (random()?, random()?),
            seeds => seeds,
        };
        Ok((usize::try_from(buffer_size).unwrap_or(usize::MAX), seeds))
    }
}

fn random() -> Result<i64> {
    let random = getrandom::u64();
    let random = random.map_err(|e| Error::internal(format!("the system gives no random seed: {e}")))?;
    // Two zeros would be drawn again for each pass.
    Ok((random >> 1 | 1) as i64)
}

impl How for Shuffle {
    fn begin(over: &Over<Shuffle>, env: &StepEnv) -> Result<Source> {
        let how = &over.how;
        let (first, second) = match &how.each {
            None => how.seeds,
            Some(words) => {
                let mut words = words.lock();
                let first = words.word();
                (first.into(), words.word().into())
            }
        };
        let mut pass = Pass {
            input: Some(over.input.begin(env)?),
            words: Words::seeded(first, second)?,
            size: how.buffer_size,
            slots: Charged::new(),
            slices: VecDeque::from([(0, 0)]),
            filled: 0,
            epoch: 0,
            produced: false,
        };
        let (dataset, count) = (over.input.clone(), how.count);
        Ok(source(move |env| {
            pass.fill(count, env, || dataset.begin(env))?;
            Ok(pass.draw())
        }))
    }

    fn shuffles(over: &Over<Shuffle>) -> Option<Shuffles> {
        let how = &over.how;
        how.each.as_ref()?;
        Some(Shuffles { input: over.input.clone(), buffer_size: how.buffer_size, seeds: how.seeds })
    }

    fn cardinality(over: &Over<Shuffle>) -> i64 {
        match (over.input.cardinality(), over.how.count) {
            (0, _) => 0,
            (_, ..0) => ENDLESS,
            (n, count) => counted(n, |n| n.saturating_mul(count)),
        }
    }
}

/// A pass over shuffled elements.
struct Pass {
    input: Option<Source>,
    words: Words,
    size: usize,
    /// The ring. It grows up to `size` slots.
    slots: Charged<Option<Kept>>,
    /// The epochs in the buffer: the numbers of the first element and of the one after the last.
    slices: VecDeque<(usize, usize)>,
    filled: usize,
    epoch: i64,
    produced: bool,
}

impl Pass {
    /// The most epochs in the buffer at a time.
    const MOST_EPOCHS: usize = 3;

    fn fill(&mut self, count: i64, env: &StepEnv, begin: impl Fn() -> Result<Source>) -> Result<()> {
        while self.filled < self.size {
            let Some(input) = &mut self.input else { return Ok(()) };
            if let Some(element) = input.next(env)? {
                self.produced = true;
                self.put(element)?;
                continue;
            }
            self.epoch += 1;
            if !self.produced && count < 0 || 0 <= count && count <= self.epoch {
                self.input = None;
                return Ok(());
            }
            self.input = Some(begin()?);
            let end = self.slices.back().map_or(0, |slice| slice.1);
            self.slices.push_back((end, end));
            if self.slices.len() > Pass::MOST_EPOCHS {
                return Ok(());
            }
        }
        Ok(())
    }

    fn put(&mut self, element: Element) -> Result<()> {
        let Some(slice) = self.slices.back_mut() else { return Ok(()) };
        // A run that is over by now ends later, where the element is not lost.
        let _whole = uninterrupted();
        let element = Kept::of(element)?;
        let at = slice.1 % self.size;
        if at == self.slots.len() {
            self.slots.push(Some(element))?;
        } else {
            self.slots[at] = Some(element);
        }
        slice.1 += 1;
        self.filled += 1;
        Ok(())
    }

    fn draw(&mut self) -> Option<Element> {
        while self.slices.len() > 1 && self.slices.front().is_some_and(|slice| slice.0 == slice.1) {
            self.slices.pop_front();
        }
        if self.filled == 0 {
            return None;
        }
        let slice = self.slices.front_mut()?;
        let offset = self.words.word() as usize % (slice.1 - slice.0);
        let (drawn, first) = ((slice.0 + offset) % self.size, slice.0 % self.size);
        let element = self.slots[drawn].take();
        self.slots.swap(drawn, first);
        slice.0 += 1;
        self.filled -= 1;
        element.map(Kept::into_element)
    }
}
