//! Philox4x32-10, the counter-based generator of TensorFlow's CPU kernels, and the ways in which kernels
//! obtain one: [`Stream`] for ops with the attributes `seed` and `seed2`, [`from_seed`] and [`from_key`] for
//! the stateless ops.
//!
//! A generator is a key and a 128-bit counter. Each step encrypts the counter into four 32-bit words and
//! increments it. Skipping ahead is an addition, so an output can be computed alone if its first word is
//! known.

use millstream_graph::op::{BuildCx, KernelCx};
use millstream_tensor::{DType, Error, Opaque, Result, ensure, invalid};
use parking_lot::Mutex;
use std::sync::Arc;

/// The number of words in a step.
pub(crate) const WORDS: usize = 4;

/// The number of steps that TensorFlow reserves for each output, so that rejection sampling does not reach
/// into the next one's.
pub(crate) const RESERVED: u64 = 256;

/// A position in a Philox stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Philox {
    counter: u128,
    key: [u32; 2],
}

impl Philox {
    pub(crate) fn new(key: u64, counter: u128) -> Philox {
        Philox { counter, key: [key as u32, (key >> 32) as u32] }
    }

    /// Returns the next four words.
    #[inline]
    pub fn step(&mut self) -> [u32; WORDS] {
        let words = self.at();
        self.counter = self.counter.wrapping_add(1);
        words
    }

    /// Skips `steps` steps.
    pub fn skip(&mut self, steps: u64) {
        self.counter = self.counter.wrapping_add(steps.into());
    }

    /// Returns a copy that is `steps` steps ahead.
    pub fn ahead(mut self, steps: u64) -> Philox {
        self.skip(steps);
        self
    }

    fn at(&self) -> [u32; WORDS] {
        let c = self.counter;
        let mut words = [c as u32, (c >> 32) as u32, (c >> 64) as u32, (c >> 96) as u32];
        let mut key = self.key;
        for _ in 0..10 {
            words = round(words, key);
            key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
        }
        words
    }
}

#[inline]
fn round(w: [u32; WORDS], key: [u32; 2]) -> [u32; WORDS] {
    let (a, b) = (0xD251_1F53 * u64::from(w[0]), 0xCD9E_8D57 * u64::from(w[2]));
    [(b >> 32) as u32 ^ w[1] ^ key[0], b as u32, (a >> 32) as u32 ^ w[3] ^ key[1], a as u32]
}

/// A generator read one word at a time.
#[derive(Clone)]
pub(crate) struct Words {
    philox: Philox,
    step: [u32; WORDS],
    used: usize,
}

impl Words {
    /// Returns the words seeded by `seed` and `seed2`, or by random seeds if both are zero.
    pub fn seeded(seed: i64, seed2: i64) -> Result<Words> {
        Ok(Words::new(seeded(seed as u64, seed2 as u64)?))
    }

    /// Returns the words from this position on.
    pub(crate) fn new(philox: Philox) -> Words {
        Words { philox, step: [0; WORDS], used: WORDS }
    }

    /// Returns the next word.
    #[inline]
    pub fn word(&mut self) -> u32 {
        if self.used == WORDS {
            self.step = self.philox.step();
            self.used = 0;
        }
        let word = self.step[self.used];
        self.used += 1;
        word
    }
}

/// The generator that a node with `seed` and `seed2` has in its session. Each run takes the next part of the
/// stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The position at which the next run reads. The lock is held only for an addition.
    next: Mutex<Philox>,
}

impl Opaque for Stream {
    fn kind(&self) -> &'static str {
        "random stream"
    }
}

impl Stream {
    /// Returns the stream of this node in this session. It starts from the seeds, or from random ones if both
    /// are zero.
    pub fn of(cx: &BuildCx) -> Result<Arc<Stream>> {
        cx.state(|| Stream::new(cx))
    }

    /// Returns a new stream for this node, which is part of the state that its kernel keeps.
    pub fn new(cx: &BuildCx) -> Result<Stream> {
        let (seed, seed2) = (cx.node.attrs.int("seed")? as u64, cx.node.attrs.int("seed2")? as u64);
        Ok(Stream { next: Mutex::new(seeded(seed, seed2)?) })
    }

    /// Reserves `steps` steps of the stream and returns the generator at their start.
    pub fn reserve(&self, steps: u64) -> Philox {
        let mut next = self.next.lock();
        let start = *next;
        next.skip(steps);
        start
    }

    /// Reserves the steps for `outputs` outputs.
    pub fn reserve_outputs(&self, outputs: usize) -> Philox {
        self.reserve((outputs as u64).wrapping_mul(RESERVED))
    }
}

/// Returns the generator for these seeds, or for random ones if both are zero.
pub(crate) fn seeded(seed: u64, seed2: u64) -> Result<Philox> {
    let (key, high) = match (seed, seed2) {
        (0, 0) => (entropy()?, entropy()?),
        seeds => seeds,
    };
    Ok(Philox::new(key, u128::from(high) << 64))
}

fn entropy() -> Result<u64> {
    getrandom::u64()
        .map_err(|e| Error::internal(format!("the system gives no random seed: {e}")).with_help("set `seed`"))
}

/// Returns the generator of a stateless op whose seed is input `i`: two integers, scrambled by Philox itself.
pub(crate) fn from_seed(cx: &KernelCx, i: usize) -> Result<Philox> {
    let t = cx.input(i);
    ensure!(t.shape().dims() == [2], "`{}` must be two integers but has shape {}", cx.name_of(i), t.shape());
    let seed: Vec<u64> = match t.dtype() {
        DType::U32 => t.as_slice::<u32>()?.iter().map(|&v| v.into()).collect(),
        DType::U64 => t.as_slice::<u64>()?.to_vec(),
        _ => cx.ints(i)?.iter().map(|&v| v as u64).collect(),
    };
    let [low, high] = seed[..] else { return Err(invalid!("`{}` must be two integers", cx.name_of(i))) };
    let mixed = Philox::new(0x0246_1E29_3EC8_F720, u128::from(low) | u128::from(high) << 64).at();
    Ok(Philox { counter: u128::from(mixed[2]) << 64 | u128::from(mixed[3]) << 96, key: [mixed[0], mixed[1]] })
}

/// Returns the key and the counter in the layout of the ops that pass them as tensors.
pub(crate) fn key_and_counter(philox: &Philox) -> ([u64; 1], [u64; 2]) {
    let key = u64::from(philox.key[0]) | u64::from(philox.key[1]) << 32;
    ([key], [philox.counter as u64, (philox.counter >> 64) as u64])
}

/// The number of this generator in `alg` inputs and outputs.
pub(crate) const PHILOX: i32 = 1;

/// Returns the generator of a stateless op whose inputs 1, 2 and 3 are key, counter and algorithm.
pub(crate) fn from_key(cx: &KernelCx) -> Result<Philox> {
    let algorithm = cx.int(3)?;
    match algorithm {
        1 | 3 => {}
        2 => {
            return Err(Error::unimplemented(
                "`alg` 2 (ThreeFry) is not implemented; use 1 (Philox) or 3 (any)",
            ));
        }
        other => return Err(invalid!("`alg` is {other} but must be 1 (Philox) or 3 (any)")),
    }
    let (key, counter) = (cx.input(1), cx.input(2));
    ensure!(key.shape().dims() == [1], "`key` must have shape [1] but has shape {}", key.shape());
    ensure!(counter.rank() == 1, "`counter` must be a vector but has shape {}", counter.shape());
    let key = key.to_scalar::<u64>()?;
    match counter.as_slice::<u64>()? {
        [low, high, ..] => Ok(Philox::new(key, u128::from(*low) | u128::from(*high) << 64)),
        short => Err(invalid!("`counter` has {} entries but Philox needs 2", short.len())),
    }
}
