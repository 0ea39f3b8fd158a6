//! How tasks reach threads, and what the threads other than the caller do.

use super::team::Team;
use super::{PANICKED, TURN};
use crate::machine::{Machine, Mailbox, Task};
use crate::sync::{Instant, Ordering::*};
use millstream_graph::op::caught;
use millstream_tensor::budget;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How long a thread lingers: about what it costs to wake it.
const LINGER: Duration = Duration::from_micros(50);

/// A task, and whether no other ran when it was taken: its kernel may then use all threads.
pub(super) type Work = (Task, bool);

/// Tasks on offer, and the threads that may take them.
#[derive(Default)]
pub(super) struct Offers {
    tasks: VecDeque<Task>,
    n_lingering: usize,
    /// Threads of the pool that take part.
    n_workers: usize,
}

impl Team {
    /// Drives until nothing is ready. Gives extra tasks to the pool, and returns one to do if there is room
    /// for it.
    pub(super) fn turn(self: &Arc<Self>, machine: &mut Machine) -> Option<Work> {
        let mailbox: Arc<dyn Mailbox> = self.clone();
        loop {
            if self.has_mail.swap(false, AcqRel) {
                let mail = std::mem::take(&mut *self.mail.lock());
                for done in mail {
                    machine.done(&self.plan, &self.env, done);
                }
            }
            let more = machine.error.is_none() && machine.drive(&self.plan, &self.env, TURN);
            if let Some(progress) = &self.progress {
                progress.look(machine, &self.plan);
            }
            if machine.has_waits() {
                machine.start_waits(&self.plan, &self.env, &mailbox);
            }
            // The others start while there is still more to find.
            while machine.tasks.len() > 1 && machine.running + 1 < self.threads {
                self.hand_out(machine);
            }
            if more && machine.tasks.len() == 1 && machine.running < self.threads && self.threads > 1 {
                self.hand_out(machine);
            }
            // A loop may keep this thread busy for ever.
            if let Err(error) = self.check(machine) {
                machine.stop(error);
                return None;
            }
            if !more && !self.has_mail.load(Acquire) {
                break;
            }
        }
        if machine.running < self.threads
            && let Some(task) = machine.next_task()
        {
            machine.running += 1;
            return Some((task, machine.running == 1));
        }
        None
    }

    fn hand_out(self: &Arc<Self>, machine: &mut Machine) {
        if let Some(task) = machine.next_task() {
            machine.running += 1;
            let mut offers = self.offers.lock();
            let lingers = offers.tasks.len() < offers.n_lingering;
            if lingers || offers.n_workers + 1 >= self.threads {
                offers.tasks.push_back(task);
                self.has_offers.store(true, Release);
                drop(offers);
                if !lingers {
                    self.rouse();
                }
                return;
            }
            offers.n_workers += 1;
            drop(offers);
            let team = self.clone();
            self.env.host.spawn(Box::new(move || {
                let worker = || {
                    team.clone().worker(task);
                    Ok(())
                };
                if let Err(error) = caught(worker, PANICKED) {
                    team.offers.lock().n_workers -= 1;
                    team.machine.lock().stop(error);
                    team.rouse();
                }
            }));
        }
    }

    /// Runs a task, on a thread that works for the run. `alone`: no other ran when it was taken, so its
    /// kernel may use all threads.
    pub(super) fn work(&self, task: Task, alone: bool) {
        let done = task.run(&self.plan, self.env_of(alone));
        self.post(done);
    }

    /// A worker's part: does its task, then drives on as long as no other thread does.
    fn worker(self: Arc<Self>, task: Task) {
        let _budget = budget::enter_run(self.budget.as_ref(), self.deadline, self.env.cancel.stop());
        let mut next = Some((task, false));
        loop {
            if let Some((task, alone)) = next.take() {
                self.work(task, alone);
            }
            let Some(mut machine) = self.machine.try_lock() else {
                // The thread that has the machine looks into the mailbox before it unlocks. It may have
                // looked just before the result was there, and not have unlocked yet, so the caller looks
                // too.
                self.rouse();
                next = self.linger_as_worker();
                match next {
                    Some(_) => continue,
                    None => return,
                }
            };
            next = self.turn(&mut machine);
            let over = machine.running == 0 && machine.is_idle() || machine.error.is_some();
            drop(machine);
            if over {
                self.rouse();
            }
            if next.is_none() && !self.has_mail.load(Acquire) {
                next = self.linger_as_worker();
                if next.is_none() {
                    return;
                }
            }
        }
    }

    /// A worker's lingering: without a task it no longer takes part.
    fn linger_as_worker(&self) -> Option<Work> {
        let task = self.linger(|| self.over.load(Acquire), |offers| offers.n_workers -= 1);
        task.map(|task| (task, false))
    }

    /// Waits a little for a task on offer, or until `enough`. If there is none `leave` is called, before
    /// another can come.
    pub(super) fn linger(&self, enough: impl Fn() -> bool, leave: impl FnOnce(&mut Offers)) -> Option<Task> {
        self.offers.lock().n_lingering += 1;
        let until = Instant::now() + LINGER;
        while !self.has_offers.load(Acquire) && !enough() && Instant::now() < until {
            std::hint::spin_loop();
        }
        let mut offers = self.offers.lock();
        offers.n_lingering -= 1;
        let task = offers.tasks.pop_front();
        self.has_offers.store(!offers.tasks.is_empty(), Release);
        if task.is_none() {
            leave(&mut offers);
        }
        task
    }
}
