//! The messages by which ranks agree on what to do, as bytes.

use super::{Reduction, What};
use millstream_tensor::{Code, DType, Error, Result};
use std::sync::Arc;

/// A call: the name of its node, and the number of calls under this name before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) name: Arc<str>,
    pub(super) turn: u64,
}

/// What a rank says about a call that it makes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Offer {
    pub(super) what: What,
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) splits: Vec<usize>,
}

/// Calls that are performed together. `splits` are those of all ranks, where they matter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Batch {
    pub(super) keys: Vec<Key>,
    pub(super) splits: Vec<Vec<usize>>,
}

/// A message. `Go` and `Failed` come from rank 0, `Bye` from all ranks, the others go to rank 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// The rank has begun a call.
    Ready(Key, Offer),
    /// The rank has begun a call but no longer waits for it, for this reason.
    GaveUp(Key, String),
    /// The rank has come to a call that it cannot make, for this reason.
    Refused(Key, String),
    /// The last message of a rank, and the reason.
    Bye(String),
    /// All ranks perform these, in this order.
    Go(Vec<Batch>),
    /// The call ends with this error.
    Failed(Key, Code, String),
}

impl Message {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(64));
        match self {
            Message::Ready(key, offer) => {
                out.byte(0);
                out.key(key);
                let (what, by) = match offer.what {
                    What::AllReduce(reduction) => (0, reduction as usize),
                    What::AllGather => (1, 0),
                    What::Broadcast { root } => (2, root),
                    What::ReduceScatter(reduction) => (3, reduction as usize),
                    What::AllToAll => (4, 0),
                    What::Barrier => (5, 0),
                };
                out.byte(what);
                out.number(by);
                out.text(&offer.dtype.to_string());
                out.numbers(&offer.shape);
                out.numbers(&offer.splits);
            }
            Message::GaveUp(key, why) => {
                out.byte(1);
                out.key(key);
                out.text(why);
            }
            Message::Refused(key, why) => {
                out.byte(5);
                out.key(key);
                out.text(why);
            }
            Message::Bye(why) => {
                out.byte(2);
                out.text(why);
            }
            Message::Go(batches) => {
                out.byte(3);
                out.number(batches.len());
                for batch in batches {
                    out.number(batch.keys.len());
                    batch.keys.iter().for_each(|key| out.key(key));
                    out.number(batch.splits.len());
                    batch.splits.iter().for_each(|splits| out.numbers(splits));
                }
            }
            Message::Failed(key, code, text) => {
                out.byte(4);
                out.key(key);
                out.number(*code as usize);
                out.text(text);
            }
        }
        out.0
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Message> {
        let mut from = Reader(bytes);
        let message = from.message().filter(|_| from.0.is_empty());
        message.ok_or_else(|| Error::internal("a message between ranks is damaged"))
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, n: usize) {
        self.0.extend((n as u64).to_le_bytes());
    }

    fn numbers(&mut self, numbers: &[usize]) {
        self.number(numbers.len());
        numbers.iter().for_each(|&n| self.number(n));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend(text.as_bytes());
    }

    fn key(&mut self, key: &Key) {
        self.text(&key.name);
        self.0.extend(key.turn.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, n: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }

    fn word(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    fn number(&mut self) -> Option<usize> {
        self.word()?.try_into().ok()
    }

    /// A list, whose elements take at least eight bytes each.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.number()?;
        if self.0.len() / 8 < n {
            return None;
        }
        (0..n).map(|_| one(self)).collect()
    }

    fn numbers(&mut self) -> Option<Vec<usize>> {
        self.list(Self::number)
    }

    fn text(&mut self) -> Option<String> {
        let n = self.number()?;
        String::from_utf8(self.bytes(n)?.to_vec()).ok()
    }

    fn key(&mut self) -> Option<Key> {
        Some(Key { name: self.text()?.into(), turn: self.word()? })
    }

    fn what(&mut self) -> Option<What> {
        let (what, by) = (self.byte()?, self.number()?);
        let reduction = || Reduction::ALL.get(by).copied();
        Some(match what {
            0 => What::AllReduce(reduction()?),
            1 => What::AllGather,
            2 => What::Broadcast { root: by },
            3 => What::ReduceScatter(reduction()?),
            4 => What::AllToAll,
            5 => What::Barrier,
            _ => return None,
        })
    }

    fn message(&mut self) -> Option<Message> {
        Some(match self.byte()? {
            0 => {
                let key = self.key()?;
                let (what, dtype) = (self.what()?, DType::parse(&self.text()?)?);
                Message::Ready(key, Offer { what, dtype, shape: self.numbers()?, splits: self.numbers()? })
            }
            1 => Message::GaveUp(self.key()?, self.text()?),
            2 => Message::Bye(self.text()?),
            3 => Message::Go(self.list(|from| {
                Some(Batch { keys: from.list(Self::key)?, splits: from.list(Self::numbers)? })
            })?),
            4 => {
                let key = self.key()?;
                let code = Code::from_number(self.number()?.try_into().ok()?)?;
                Message::Failed(key, code, self.text()?)
            }
            5 => Message::Refused(self.key()?, self.text()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_way_and_damage_is_noticed() {
        let key = |turn| Key { name: "scope/grad".into(), turn };
        let offer = |what| Offer { what, dtype: DType::BF16, shape: vec![3, 0], splits: vec![1, 2] };
        let batch = Batch { keys: vec![key(0), key(1)], splits: vec![vec![1], vec![]] };
        let messages = [
            Message::Ready(key(7), offer(What::AllReduce(Reduction::Max))),
            Message::Ready(key(7), offer(What::Broadcast { root: 3 })),
            Message::Ready(key(7), offer(What::Barrier)),
            Message::GaveUp(key(0), "too late".into()),
            Message::Refused(key(1), "a scalar has no rows".into()),
            Message::Bye(String::new()),
            Message::Go(vec![batch.clone(), batch]),
            Message::Failed(key(2), Code::Unavailable, "rank 1 has ended".into()),
        ];
        for message in messages {
            let bytes = message.encode();
            assert_eq!(Message::decode(&bytes).unwrap(), message);
            for n in 0..bytes.len() {
                assert!(Message::decode(&bytes[..n]).is_err(), "{message:?} cut at {n}");
            }
        }
        assert!(Message::decode(&[3, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
    }
}
