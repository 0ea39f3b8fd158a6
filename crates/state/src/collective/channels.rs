//! [`Channels`]: a transport between threads of one process, for tests and for trying a program out.

use super::{Transport, starts};
use millstream_tensor::{Code, Error, Result};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// A rank's end of a transport between threads.
#[derive(Debug)]
pub struct Channels {
    rank: usize,
    world: Arc<World>,
    finished: bool,
}

#[derive(Debug)]
struct World {
    size: usize,
    /// Guards everything that is on its way. No other lock is taken under it.
    mail: Mutex<Mail>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Mail {
    /// The messages for each rank, with their senders.
    messages: BTreeMap<usize, VecDeque<(usize, Vec<u8>)>>,
    /// The parts on their way, by sender and receiver.
    parts: BTreeMap<(usize, usize), VecDeque<Vec<u8>>>,
    /// The ranks whose end was dropped before it had [finished](Transport::finish).
    dead: Vec<usize>,
}

impl Channels {
    /// The ends of a job of this size, in the order of the ranks.
    pub fn job(size: usize) -> Vec<Channels> {
        let world = Arc::new(World { size, mail: Mutex::default(), came: Condvar::new() });
        (0..size).map(|rank| Channels { rank, world: world.clone(), finished: false }).collect()
    }

    fn send_part(&self, to: usize, part: &[u8]) {
        self.world.mail.lock().parts.entry((self.rank, to)).or_default().push_back(part.to_vec());
        self.world.came.notify_all();
    }

    fn take_part(&self, from: usize, part: &mut [u8]) -> Result<()> {
        let mut mail = self.world.mail.lock();
        loop {
            if let Some(came) = mail.parts.get_mut(&(from, self.rank)).and_then(VecDeque::pop_front) {
                if came.len() != part.len() {
                    return Err(Error::internal(format!(
                        "rank {from} sent {} bytes instead of {}",
                        came.len(),
                        part.len()
                    )));
                }
                part.copy_from_slice(&came);
                return Ok(());
            }
            if let Some(error) = mail.dead(self.rank) {
                return Err(error);
            }
            self.world.came.wait(&mut mail);
        }
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        let rank = self.rank;
        (0..self.world.size).filter(move |&r| r != rank)
    }
}

impl Mail {
    fn dead(&self, me: usize) -> Option<Error> {
        let who = self.dead.iter().find(|&&r| r != me)?;
        Some(Error::new(Code::Unavailable, format!("rank {who} has died")))
    }
}

impl Transport for Channels {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.world.size
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        self.world.mail.lock().messages.entry(to).or_default().push_back((self.rank, message));
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        let mut mail = self.world.mail.lock();
        match mail.messages.get_mut(&self.rank).and_then(VecDeque::pop_front) {
            Some(message) => Ok(Some(message)),
            None => mail.dead(self.rank).map_or(Ok(None), Err),
        }
    }

    fn all_gather(&mut self, data: &mut [u8], counts: &[usize]) -> Result<()> {
        let starts = starts(counts);
        let own = starts[self.rank]..starts[self.rank] + counts[self.rank];
        self.others().for_each(|r| self.send_part(r, &data[own.clone()]));
        self.others().try_for_each(|r| self.take_part(r, &mut data[starts[r]..starts[r] + counts[r]]))
    }

    fn all_to_all(&mut self, from: &[u8], sent: &[usize], to: &mut [u8], taken: &[usize]) -> Result<()> {
        let (out, into) = (starts(sent), starts(taken));
        self.others().for_each(|r| self.send_part(r, &from[out[r]..out[r] + sent[r]]));
        self.others().try_for_each(|r| self.take_part(r, &mut to[into[r]..into[r] + taken[r]]))
    }

    fn broadcast(&mut self, data: &mut [u8], root: usize) -> Result<()> {
        if self.rank != root {
            return self.take_part(root, data);
        }
        self.others().for_each(|r| self.send_part(r, data));
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.finished = true;
        Ok(())
    }
}

impl Drop for Channels {
    fn drop(&mut self) {
        if !self.finished {
            self.world.mail.lock().dead.push(self.rank);
            self.world.came.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_rank_is_noticed() {
        let mut job = Channels::job(2);
        let last = job.pop();
        assert!(job[0].receive().unwrap().is_none());
        drop(last);
        assert!(job[0].receive().unwrap_err().message().contains("rank 1 has died"));
        let error = job[0].all_gather(&mut [1, 0], &[1, 1]).unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
    }
}
