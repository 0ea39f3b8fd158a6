//! [`QueueSpec`]: the type of a queue. An op that opens an existing queue must ask for the same type.

use super::Item;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, ensure, invalid};
use std::fmt;

/// The kinds of queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// First in, first out.
    Fifo,
    /// First in, first out, with components whose dimensions may vary: a batch is padded to its largest
    /// items.
    PaddingFifo,
    /// A random item is dequeued, as long as there are more than `min_after_dequeue`.
    RandomShuffle,
    /// The item with the smallest first component, an `int64` scalar, is dequeued first.
    Priority,
    /// The complete elements of a [`Barrier`](super::Barrier), those with the smallest index first.
    Barrier,
}

impl QueueKind {
    /// Whether items are dequeued in the order of their first component.
    pub fn is_sorted(self) -> bool {
        matches!(self, QueueKind::Priority | QueueKind::Barrier)
    }
}

/// The type of a queue: its kind, capacity and components.
#[derive(Clone, Debug)]
pub struct QueueSpec {
    /// The order, and whether batches are padded.
    pub kind: QueueKind,
    /// The largest number of items in the queue.
    pub capacity: usize,
    /// The dtypes of an item's components.
    pub dtypes: Vec<DType>,
    /// The shapes of the components, if known; batches need them.
    pub shapes: Option<Vec<PartialShape>>,
    /// The number of items that a shuffling queue holds back until it is closed.
    pub min_after_dequeue: usize,
    /// The seeds of the shuffle.
    pub seeds: (i64, i64),
    /// How a padding queue builds batches.
    pub batches: Batches,
}

/// How a padding queue builds batches: options beyond TensorFlow's.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    /// The padding value of each component; if empty, zeros, false or empty strings.
    pub padding: Vec<Tensor>,
    /// The minimum to which the varying dimensions of each component are padded; if empty, they are padded to
    /// the largest item's.
    pub pad_to: Vec<usize>,
    /// The most tokens in a batch: the number of items times the length of the longest.
    pub max_tokens: Option<usize>,
}

impl Batches {
    /// Whether no option is set.
    pub fn is_default(&self) -> bool {
        self.padding.is_empty() && self.pad_to.is_empty() && self.max_tokens.is_none()
    }

    /// The options as text, for comparison. Padding values are compared as they print.
    fn text(&self) -> String {
        let padding: Vec<String> = self.padding.iter().map(ToString::to_string).collect();
        format!(
            "padding [{}], at least {:?}, max_tokens {:?}",
            padding.join(", "),
            self.pad_to,
            self.max_tokens
        )
    }
}

impl QueueSpec {
    /// The capacity that an attribute specifies; a negative number means unbounded.
    pub fn capacity_of(attr: i64) -> usize {
        usize::try_from(attr).unwrap_or(i32::MAX as usize)
    }

    /// The capacity, if it is bounded.
    pub fn bound(&self) -> Option<usize> {
        (self.capacity < i32::MAX as usize).then_some(self.capacity)
    }

    /// Returns an error if no queue can have this type.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.dtypes.is_empty(), "a queue needs at least one component");
        if let Some(shapes) = &self.shapes {
            ensure!(
                shapes.len() == self.dtypes.len(),
                "a {} of {} components was given {} shapes",
                self.kind,
                self.dtypes.len(),
                shapes.len()
            );
        }
        match self.kind {
            QueueKind::PaddingFifo => ensure!(
                self.shapes.is_some(),
                "a {} needs the shapes of its components, with unknown dimensions where they vary",
                self.kind
            ),
            QueueKind::RandomShuffle => ensure!(
                self.min_after_dequeue < self.capacity,
                "min_after_dequeue {} must be < capacity {}",
                self.min_after_dequeue,
                self.capacity;
                "a {} of capacity {} cannot hold back min_after_dequeue = {}",
                self.kind,
                self.capacity,
                self.min_after_dequeue
            ),
            QueueKind::Priority => {
                let first = self.shapes.as_ref().map(|shapes| &shapes[0]);
                ensure!(
                    self.dtypes[0] == DType::I64 && first.is_none_or(|s| s.rank().is_none_or(|r| r == 0)),
                    "the first component of a {}, the priority, must be an int64 scalar, not {}{}",
                    self.kind,
                    self.dtypes[0],
                    first.unwrap_or(&PartialShape::unknown_of_rank(0))
                );
            }
            QueueKind::Fifo | QueueKind::Barrier => {}
        }
        let Batches { padding, pad_to, max_tokens } = &self.batches;
        ensure!(
            self.kind == QueueKind::PaddingFifo || self.batches.is_default(),
            "a {} does not pad batches, so it takes no options for padding",
            self.kind
        );
        let n = self.dtypes.len();
        ensure!(
            (padding.is_empty() || padding.len() == n) && (pad_to.is_empty() || pad_to.len() == n),
            "a {} of {n} components was given {} padding values and {} sizes to pad to",
            self.kind,
            padding.len(),
            pad_to.len()
        );
        for (i, (value, dtype)) in padding.iter().zip(&self.dtypes).enumerate() {
            ensure!(
                value.rank() == 0 && value.dtype() == *dtype,
                "component {i} of a {} is {dtype}, so it cannot be padded with {}{}",
                self.kind,
                value.dtype(),
                value.shape()
            );
        }
        ensure!(*max_tokens != Some(0), "a batch of at most 0 tokens has no room for any item");
        Ok(())
    }

    /// The number of tokens in an item: its largest varying dimension, at least 1.
    pub fn tokens_of(&self, item: &[Tensor]) -> usize {
        let shapes = self.shapes.iter().flatten().filter_map(PartialShape::dims);
        let varying = item.iter().zip(shapes).flat_map(|(value, known)| {
            value.shape().dims().iter().zip(known).filter(|(_, known)| known.is_none()).map(|(&dim, _)| dim)
        });
        varying.max().unwrap_or(1).max(1)
    }

    /// TensorFlow's message for an item whose components do not match.
    pub fn signature_mismatch(&self, components: &[Tensor]) -> String {
        let have = dtype_names(components.iter().map(Tensor::dtype));
        format!(
            "Signature mismatch, have: resource, {have}-> expected: resource, {}->",
            dtype_names(self.dtypes.iter().copied())
        )
    }

    /// The error for a component of the wrong shape: of an item, or of many items, with the rows as the first
    /// dimension. TensorFlow's words, then the queue.
    pub fn shape_mismatch(
        &self,
        component: usize,
        expected: &PartialShape,
        got: &(impl fmt::Display + ?Sized),
        queue: &str,
    ) -> Error {
        invalid!("Shape mismatch in tuple component {component}. Expected {expected}, got {got}")
            .note(format!("enqueued in {} '{queue}'", self.kind))
    }

    /// Returns an error unless `item` fits the queue.
    pub fn check_item(&self, item: &Item, queue: &str) -> Result<()> {
        ensure!(
            item.len() == self.dtypes.len(),
            "{}", self.signature_mismatch(item);
            "an item of {} '{queue}' has {} components, not {}",
            self.kind,
            self.dtypes.len(),
            item.len()
        );
        for (i, (value, &dtype)) in item.iter().zip(&self.dtypes).enumerate() {
            ensure!(
                value.dtype() == dtype,
                "{}", self.signature_mismatch(item);
                "component {i} of {} '{queue}' is {dtype}, not {}",
                self.kind,
                value.dtype()
            );
            if let Some(shapes) = &self.shapes {
                ensure!(
                    shapes[i].admits(value.shape()),
                    "Shape mismatch in tuple component {i}. Expected {}, got {}",
                    shapes[i],
                    value.shape();
                    "an item of {} '{queue}' must have this shape there, with ? for any size", self.kind
                );
            }
        }
        if let Some(most) = self.batches.max_tokens {
            let tokens = self.tokens_of(item);
            if tokens > most {
                return Err(invalid!(
                    "an item of {} '{queue}' has {tokens} tokens, more than the {most} that a batch may have",
                    self.kind
                )
                .with_help("raise the limit, or filter such items out first"));
            }
        }
        if self.kind == QueueKind::Priority {
            ensure!(
                item[0].rank() == 0,
                "Shape mismatch in tuple component 0. Expected [], got {}",
                item[0].shape();
                "the priority of an item of {} '{queue}' must be a scalar, not of shape {}",
                self.kind,
                item[0].shape()
            );
        }
        Ok(())
    }

    /// Returns an error that names both types if a queue of this type cannot serve an op `asker` that asks
    /// for the type `asked`.
    ///
    /// The error is in TensorFlow's words, which programs look for.
    pub fn check_same(&self, asked: &QueueSpec, queue: &str, asker: &str) -> Result<()> {
        let help = "give one of them another shared_name, or make both alike";
        let differs = |what: &str, have: String, want: String| {
            let (asked, end) = match what {
                "component types" | "component shapes" => (format!("{what} were"), ""),
                "random seeds" => ("seeds are".to_owned(), "."),
                "min_after_dequeue" => (format!("{what} was"), "."),
                _ => (format!("{what} was"), ""),
            };
            Err(invalid!("Shared queue '{queue}' has {what} {have} but requested {asked} {want}{end}")
                .with_help(help))
        };
        if self.kind != asked.kind {
            let error = invalid!(
                "Shared queue '{queue}' has type '{}' that does not match type of Node '{queue}': {asker}. Expected {}, found {asker}",
                self.kind,
                self.kind
            );
            return Err(error.with_help(help));
        }
        if self.capacity != asked.capacity {
            return differs("capacity", self.capacity.to_string(), asked.capacity.to_string());
        }
        if self.dtypes != asked.dtypes {
            let [have, want] = [self, asked].map(|spec| dtype_names(spec.dtypes.iter().copied()));
            return differs("component types", have, want);
        }
        let shapes = |spec: &QueueSpec| match &spec.shapes {
            Some(shapes) => {
                format!("[{}]", shapes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
            None => "[]".to_owned(),
        };
        let alike = match (&self.shapes, &asked.shapes) {
            // The shapes of a padding queue need only be compatible.
            (Some(have), Some(want)) if self.kind == QueueKind::PaddingFifo => {
                have.iter().zip(want).all(|(a, b)| a.is_compatible(b))
            }
            (have, want) => have == want,
        };
        if !alike {
            return differs("component shapes", shapes(self), shapes(asked));
        }
        if self.min_after_dequeue != asked.min_after_dequeue {
            let [have, want] = [self, asked].map(|s| s.min_after_dequeue.to_string());
            return differs("min_after_dequeue", have, want);
        }
        if self.batches.text() != asked.batches.text() {
            return differs("batches with", self.batches.text(), asked.batches.text());
        }
        if self.seeds != asked.seeds {
            return differs("random seeds", format!("{:?}", self.seeds), format!("{:?}", asked.seeds));
        }
        Ok(())
    }
}

/// A list of dtypes, as in messages of TensorFlow's runtime.
pub fn dtype_names(dtypes: impl Iterator<Item = DType>) -> String {
    dtypes.map(DType::kernel_name).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for QueueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QueueKind::Fifo => "FIFOQueue",
            QueueKind::PaddingFifo => "PaddingFIFOQueue",
            QueueKind::RandomShuffle => "RandomShuffleQueue",
            QueueKind::Priority => "PriorityQueue",
            QueueKind::Barrier => "Barrier",
        })
    }
}
