//! [`Worker`]: the thread that speaks to the server for all queues of a process.

use crate::address::Address;
use crate::link::{Link, Script, failed};
use crate::listener::listen;
use crate::queue::{Lent, read_answers};
use crate::wire;
use millstream_state::{Answer, Closing, Elsewhere, QueueSpec, Threads};
use millstream_tensor::{Code, Error, Result};
use parking_lot::{Condvar, Mutex};
use redis::Value;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The most commands and bytes of a turn. The server does nothing else during a turn, so it should be short.
const MOST_COMMANDS: usize = 1024;
const MOST_BYTES: usize = 4 << 20;

/// How long an ending process tries to say what it still has to say.
const FAREWELL: Duration = Duration::from_secs(2);

/// The pauses between attempts to connect.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// Something for the worker.
pub(crate) enum Message {
    /// A queue is used from now on.
    Open(u64, Box<Opened>),
    /// Something to say to a queue.
    Say(u64, Command),
    /// Answers are ready at the queue with this key.
    Wake(String),
    /// Answers may be ready anywhere.
    WakeAll,
    /// The report of a queue is wanted.
    Report(u64, mpsc::Sender<Value>),
    /// A queue is no longer used.
    Forget(u64),
    /// The process no longer uses the server.
    Stop,
}

/// What opening a queue takes.
pub(crate) struct Opened {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) spec: QueueSpec,
    /// The type as it is written.
    pub(crate) blob: Vec<u8>,
    pub(crate) kind: &'static str,
    pub(crate) seed: u32,
    pub(crate) to: Weak<Elsewhere>,
}

/// A command of a turn.
#[derive(Debug)]
pub(crate) enum Command {
    /// Enqueues these rows; the first `done` of them are in already.
    Enqueue {
        id: u64,
        who: String,
        rows: Vec<Vec<u8>>,
        done: usize,
    },
    Dequeue {
        id: u64,
        who: String,
        n: usize,
        up_to: bool,
    },
    Close {
        id: u64,
        who: String,
        cancels: bool,
        how: Vec<u8>,
    },
    Look {
        id: u64,
    },
    /// Items are used.
    Used {
        id: u64,
    },
    /// Nobody waits for an attempt, or its items are not used.
    Cancel {
        id: u64,
    },
}

/// The answers of a turn.
pub(crate) enum Said {
    /// How the queue is closed, if it is; answers with the rows of lent items; and whether the queue is both
    /// closed and empty, which it then stays.
    Answers { closed: Option<Closing>, answers: Vec<(String, Vec<Vec<u8>>)>, ended: bool },
    /// The queue exists with another type.
    Other(Vec<u8>),
    /// The queue does not exist any more.
    Missing,
}

/// What the worker shares with the threads that have something to say.
pub(crate) struct Shared {
    pub(crate) address: Address,
    /// The name of this process in the server. With the number of a queue it is that of a client.
    process: String,
    /// Its name for people: machine and number.
    name: String,
    next: AtomicU64,
    /// Guards only itself.
    inbox: Mutex<Vec<Message>>,
    came: Condvar,
    /// Since when the server has not answered. Guards only itself.
    silent: Mutex<Option<Instant>>,
}

impl Shared {
    /// Tells the worker something.
    pub(crate) fn say(&self, message: Message) {
        let mut inbox = self.inbox.lock();
        inbox.push(message);
        let is_first = inbox.len() == 1;
        drop(inbox);
        if is_first {
            self.came.notify_one();
        }
    }

    /// A number that nothing else has.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Relaxed)
    }

    /// For how long the server has not answered, if it does not.
    pub(crate) fn silent_for(&self) -> Option<Duration> {
        self.silent.lock().map(|since| since.elapsed())
    }

    /// The channel on which this process hears.
    pub(crate) fn channel(&self) -> String {
        format!("ms:wake:{}", self.process)
    }

    /// What has come, waiting until then at most.
    fn hear(&self, until: Instant) -> Vec<Message> {
        let mut inbox = self.inbox.lock();
        while inbox.is_empty() && !self.came.wait_until(&mut inbox, until).timed_out() {}
        std::mem::take(&mut *inbox)
    }
}

/// The thread that speaks to the server. It ends with the last owner.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread, with a connection.
    pub(crate) fn start(address: Address, link: Link) -> Result<Arc<Worker>> {
        // A number that no other process has: the standard library's hash keys are random.
        let mut random = RandomState::new().build_hasher();
        random.write_u32(std::process::id());
        let host = gethostname::gethostname().to_string_lossy().into_owned();
        let shared = Arc::new(Shared {
            address,
            process: format!("{:016x}", random.finish()),
            name: format!("{host}/{}", std::process::id()),
            next: AtomicU64::new(0),
            inbox: Mutex::default(),
            came: Condvar::new(),
            silent: Mutex::default(),
        });
        let speaks = Speaker {
            shared: shared.clone(),
            link: Some(link),
            queues: BTreeMap::new(),
            reports: Vec::new(),
            retry: Instant::now(),
            pause: FIRST_PAUSE,
            last_error: None,
        };
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let lost = |e: std::io::Error| Error::new(Code::ResourceExhausted, format!("no thread: {e}"));
        let thread = named("millstream-store").spawn(move || speaks.run()).map_err(lost)?;
        let weak = Arc::downgrade(&shared);
        named("millstream-hear").spawn(move || listen(&weak)).map_err(lost)?;
        Ok(Arc::new(Worker { shared, thread: Some(thread) }))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn address(&self) -> &Address {
        &self.shared.address
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.say(Message::Stop);
        let Some(thread) = self.thread.take() else { return };
        // The last owner may be a callback that the thread itself calls.
        if thread.thread().id() != std::thread::current().id() {
            // A panic of the thread was printed where it happened.
            let _ = thread.join();
        }
    }
}

/// A queue, as the worker knows it.
struct Known {
    /// The name by which the server knows who speaks.
    client: String,
    opened: Opened,
    /// The number of the last turn, and whether its answer has come.
    turn: u64,
    /// What the last turn says, until its answer comes.
    saying: Vec<Command>,
    is_saying: bool,
    /// What is to be said.
    todo: VecDeque<Command>,
    /// What was said and waits for its answer, to be said again if the server has given this process up.
    said: BTreeMap<u64, Command>,
    /// The number of answers that came with the last turn.
    heard: usize,
    /// Whether answers may be ready.
    is_due: bool,
    spoke: Instant,
    /// Whether the server has the queue: `None` until it is asked on this connection.
    greeted: Greeted,
    over: Option<Over>,
    /// Whether the server has forgotten the queue.
    is_gone: bool,
}

/// Why the server is asked nothing more about a queue.
enum Over {
    Failed(Error),
    /// It is closed and empty, and stays so. If the server forgets it, and another queue gets its name, this
    /// process has nothing to do with that one.
    Ended(Closing),
}

impl Over {
    /// The answer to an attempt.
    fn answer(&self, command: &Command) -> Answer {
        let closing = match self {
            Over::Failed(error) => return Answer::Failed(error.clone()),
            Over::Ended(closing) => closing.clone(),
        };
        match command {
            Command::Enqueue { .. } => Answer::ClosedToEnqueues(closing),
            &Command::Dequeue { n, .. } => Answer::ClosedToDequeues { closing, requested: n, len: 0 },
            Command::Close { cancels: false, .. } => Answer::ClosedAlready(closing),
            Command::Look { .. } => Answer::Looked(0, true),
            Command::Close { .. } | Command::Used { .. } | Command::Cancel { .. } => Answer::Done,
        }
    }
}

/// How far the server knows that this process uses the queue.
#[derive(Clone, Copy, PartialEq)]
enum Greeted {
    Never,
    /// On an earlier connection.
    Before,
    Now,
}

struct Speaker {
    shared: Arc<Shared>,
    link: Option<Link>,
    queues: BTreeMap<u64, Known>,
    reports: Vec<(u64, mpsc::Sender<Value>)>,
    /// When to try to connect again.
    retry: Instant,
    pause: Duration,
    last_error: Option<Error>,
}

impl Command {
    fn id(&self) -> u64 {
        match self {
            Command::Enqueue { id, .. }
            | Command::Dequeue { id, .. }
            | Command::Close { id, .. }
            | Command::Look { id }
            | Command::Used { id }
            | Command::Cancel { id } => *id,
        }
    }

    /// Whether an answer comes.
    fn is_attempt(&self) -> bool {
        !matches!(self, Command::Used { .. } | Command::Cancel { .. })
    }

    fn bytes(&self) -> usize {
        match self {
            Command::Enqueue { rows, done, .. } => rows[*done..].iter().map(|row| row.len() + 16).sum(),
            _ => 64,
        }
    }

    fn write(&self, to: &mut redis::Cmd) {
        match self {
            Command::Enqueue { id, who, rows, done } => {
                to.arg("E").arg(*id).arg(who).arg(rows.len() - done);
                rows[*done..].iter().for_each(|row| {
                    to.arg(row.as_slice());
                });
            }
            Command::Dequeue { id, who, n, up_to } => {
                to.arg("D").arg(*id).arg(who).arg(*n).arg(u8::from(*up_to));
            }
            Command::Close { id, who, cancels, how } => {
                to.arg("C").arg(*id).arg(who).arg(u8::from(*cancels)).arg(how.as_slice());
            }
            Command::Look { id } => {
                to.arg("L").arg(*id);
            }
            Command::Used { id } => {
                to.arg("A").arg(*id);
            }
            Command::Cancel { id } => {
                to.arg("X").arg(*id);
            }
        }
    }
}

impl Known {
    fn new(opened: Opened, client: String) -> Known {
        Known {
            client,
            opened,
            turn: 0,
            saying: Vec::new(),
            is_saying: false,
            todo: VecDeque::new(),
            said: BTreeMap::new(),
            heard: 0,
            is_due: false,
            spoke: Instant::now(),
            greeted: Greeted::Never,
            over: None,
            is_gone: false,
        }
    }

    /// Whether the server is to have the queue.
    fn is_there(&self) -> bool {
        !self.is_gone && !matches!(self.over, Some(Over::Failed(_)))
    }

    /// Whether the server must hear of this process from time to time.
    fn beats(&self) -> bool {
        self.greeted != Greeted::Never && self.is_there()
    }

    fn is_to_speak(&self) -> bool {
        self.is_there() && (self.is_saying || !self.todo.is_empty() || self.is_due)
    }

    /// Takes in what is to be said.
    fn add(&mut self, command: Command) {
        if let Command::Cancel { id } = command {
            self.said.remove(&id);
            // What was not said yet need not be taken back.
            if let Some(at) = self.todo.iter().position(|c| c.is_attempt() && c.id() == id) {
                self.todo.remove(at);
                return;
            }
        }
        if let (Some(over), true) = (&self.over, command.is_attempt()) {
            if let Some(to) = self.opened.to.upgrade() {
                to.answer(command.id(), over.answer(&command));
            }
            return;
        }
        self.todo.push_back(command);
    }

    /// The next turn, or the last one again if its answer has not come.
    fn begin_turn(&mut self) {
        self.spoke = Instant::now();
        self.is_due = false;
        if self.is_saying {
            return;
        }
        let mut bytes = 0;
        self.turn += 1;
        self.is_saying = true;
        while self.saying.len() < MOST_COMMANDS
            && let Some(command) = self.todo.pop_front()
        {
            bytes += command.bytes();
            self.saying.push(command);
            if MOST_BYTES < bytes {
                break;
            }
        }
    }

    fn write_turn(&self, shared: &Shared, to: &mut redis::Cmd) {
        to.arg(&self.client).arg(shared.address.lease.as_millis() as u64).arg(self.turn).arg(self.heard);
        match self.greeted {
            Greeted::Never => {
                let spec = &self.opened.spec;
                to.arg("O").arg(self.opened.blob.as_slice()).arg(self.opened.kind).arg(spec.capacity);
                to.arg(spec.min_after_dequeue).arg(spec.batches.max_tokens.unwrap_or(0));
                to.arg(self.opened.seed).arg(&shared.name);
            }
            Greeted::Before => {
                to.arg("N").arg(&shared.name);
            }
            Greeted::Now => {}
        }
        self.saying.iter().for_each(|command| command.write(to));
    }

    /// The turn has been made: what it said now waits for answers.
    fn end_turn(&mut self) {
        self.is_saying = false;
        self.greeted = Greeted::Now;
        for command in std::mem::take(&mut self.saying) {
            if command.is_attempt() {
                self.said.insert(command.id(), command);
            }
        }
    }

    /// Ends the queue's attempts, and all later ones.
    fn end(&mut self, over: Over) {
        self.is_saying = false;
        let said = std::mem::take(&mut self.said).into_values();
        let commands = said.chain(std::mem::take(&mut self.saying)).chain(std::mem::take(&mut self.todo));
        for command in commands.filter(Command::is_attempt) {
            if let Some(to) = self.opened.to.upgrade() {
                to.answer(command.id(), over.answer(&command));
            }
        }
        self.over = Some(over);
    }

    /// Takes back attempts that have ended in this process.
    fn withdraw(&mut self, ids: &[u64]) {
        let is_over = |c: &Command| c.is_attempt() && ids.binary_search(&c.id()).is_ok();
        self.todo.retain(|c| !is_over(c));
        // The turn keeps its number: if the server has made it, it is not made again, else it says less.
        self.saying.retain(|c| !is_over(c));
        for &id in ids {
            self.said.remove(&id);
            self.todo.push_back(Command::Cancel { id });
        }
    }
}

impl Speaker {
    fn run(mut self) {
        Threads::engines_began();
        loop {
            let until = self.next_look();
            let mut stops = false;
            for message in self.shared.clone().hear(until) {
                stops |= self.take(message);
            }
            if stops {
                self.leave();
                break;
            }
            self.beat();
            let asked = Instant::now();
            if let Err(error) = self.speak() {
                self.lost(error, asked);
            }
            self.give_up();
        }
        Threads::engines_ended();
    }

    fn beat_time(&self) -> Duration {
        self.shared.address.lease / 3
    }

    /// When to look again if nothing comes.
    fn next_look(&self) -> Instant {
        let now = Instant::now();
        if self.link.is_none() {
            return self.retry;
        }
        if self.queues.values().any(Known::is_to_speak) {
            return now;
        }
        let beats =
            self.queues.values().filter(|known| known.beats()).map(|known| known.spoke + self.beat_time());
        beats.min().unwrap_or(now + Duration::from_secs(60))
    }

    /// Notes a message. Returns whether it is the last.
    fn take(&mut self, message: Message) -> bool {
        match message {
            Message::Open(number, opened) => {
                let client = format!("{}-{number}", self.shared.process);
                self.queues.insert(number, Known::new(*opened, client));
            }
            Message::Say(number, command) => {
                if let Some(known) = self.queues.get_mut(&number) {
                    known.add(command);
                }
            }
            Message::Wake(key) => {
                let of = |known: &&mut Known| known.opened.key == key;
                self.queues.values_mut().filter(of).for_each(|known| known.is_due = true);
            }
            Message::WakeAll => {
                let used = |known: &&mut Known| known.greeted != Greeted::Never;
                self.queues.values_mut().filter(used).for_each(|known| known.is_due = true);
            }
            Message::Report(number, sender) => self.reports.push((number, sender)),
            Message::Forget(number) => self.forget(number),
            Message::Stop => return true,
        }
        false
    }

    /// Makes turns due, so that the server hears of this process before the lease ends.
    fn beat(&mut self) {
        let (now, every) = (Instant::now(), self.beat_time());
        for known in self.queues.values_mut().filter(|known| known.beats()) {
            known.is_due |= known.spoke + every <= now;
        }
    }

    /// Says what there is to say, and hears the answers, until there is nothing more.
    fn speak(&mut self) -> Result<()> {
        if self.link.is_none() && Instant::now() < self.retry {
            return Ok(());
        }
        if self.reports.is_empty() && self.link.is_some() && !self.queues.values().any(Known::is_to_speak) {
            return Ok(());
        }
        if self.link.is_none() {
            self.link = Some(Link::new(&self.shared.address)?);
            self.last_error = None;
            for known in self.queues.values_mut().filter(|known| known.greeted == Greeted::Now) {
                known.greeted = Greeted::Before;
                known.is_due = true;
            }
        }
        self.say_and_hear()?;
        *self.shared.silent.lock() = None;
        self.pause = FIRST_PAUSE;
        Ok(())
    }

    /// One turn of every queue that has something to say, all on their way at once.
    fn say_and_hear(&mut self) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        let address = &self.shared.address;
        let broken = |error: redis::RedisError| failed(address, &error);
        let mut turns = Vec::new();
        for (&number, known) in self.queues.iter_mut().filter(|(_, known)| known.is_to_speak()) {
            known.begin_turn();
            let mut command = link.call(Script::Turn, &known.opened.key);
            known.write_turn(&self.shared, &mut command);
            link.send(&command.get_packed_command()).map_err(broken)?;
            turns.push(number);
        }
        let reports = std::mem::take(&mut self.reports);
        for (number, _) in &reports {
            let known = self.queues.get(number).map(|known| (known.opened.key.as_str(), &*known.client));
            let (key, client) = known.unwrap_or_default();
            let mut command = link.call(Script::Report, key);
            command.arg(client);
            link.send(&command.get_packed_command()).map_err(broken)?;
        }
        for number in turns {
            let value = link.receive().map_err(broken)?;
            if let Some(known) = self.queues.get_mut(&number) {
                hear(&self.shared, number, known, value)?;
            }
        }
        for (_, sender) in reports {
            // Nobody may wait for it any more.
            let _ = sender.send(link.receive().map_err(broken)?);
        }
        Ok(())
    }

    /// The connection is broken: what was asked then has no answer.
    fn lost(&mut self, error: Error, asked: Instant) {
        self.link = None;
        self.reports.clear();
        self.last_error = Some(error);
        self.shared.silent.lock().get_or_insert(asked);
        self.retry = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LAST_PAUSE);
    }

    /// Ends attempts that the server has not answered for too long.
    fn give_up(&mut self) {
        let patience = self.shared.address.patience;
        let Some(silent) = self.shared.silent_for().filter(|&silent| patience <= silent) else { return };
        let Some(then) = Instant::now().checked_sub(patience) else { return };
        for known in self.queues.values_mut() {
            let Some(to) = known.opened.to.upgrade() else { continue };
            let text = format!(
                "queue '{}' in {}: the server has not answered for {silent:.1?}",
                known.opened.name, self.shared.address
            );
            let mut error = Error::new(Code::Unavailable, text).with_help(
                "start the server, or see what keeps the network from it; `reconnect_ms` in the address is \
                 how long an operation waits",
            );
            if let Some(cause) = &self.last_error {
                error = error.note(cause.message().to_owned());
            }
            let ids = to.fail_older(then, &error);
            known.withdraw(&ids);
        }
    }

    /// Says goodbye to a queue.
    fn forget(&mut self, number: u64) {
        let Some(known) = self.queues.get_mut(&number) else { return };
        if self.link.is_some() && known.beats() {
            // What was said before it counts; nobody waits for an answer.
            let _ = self.speak().and_then(|()| self.say_goodbye(number));
        }
        self.queues.remove(&number);
    }

    fn say_goodbye(&mut self, number: u64) -> Result<()> {
        let (Some(link), Some(known)) = (&mut self.link, self.queues.get_mut(&number)) else { return Ok(()) };
        known.begin_turn();
        let mut command = link.call(Script::Turn, &known.opened.key);
        known.write_turn(&self.shared, &mut command);
        command.arg("B").arg(0);
        let broken = |error| failed(&self.shared.address, &error);
        link.send(&command.get_packed_command()).map_err(broken)?;
        link.receive().map_err(broken)?;
        Ok(())
    }

    /// Says what is left to say, and goodbye, if the server hears it in time.
    fn leave(&mut self) {
        let end = Instant::now() + FAREWELL;
        while self.queues.values().any(Known::is_to_speak) && Instant::now() < end {
            let asked = Instant::now();
            if let Err(error) = self.speak() {
                self.lost(error, asked);
            }
            if self.link.is_none() {
                std::thread::sleep(self.pause);
            }
        }
        let numbers: Vec<u64> = self.queues.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.forget(number));
    }
}

/// Takes in the answer of a turn.
fn hear(shared: &Arc<Shared>, number: u64, known: &mut Known, value: Value) -> Result<()> {
    if let Value::ServerError(error) = &value {
        let error = failed(&shared.address, &error.clone().into());
        // The server has lost its scripts: they are sent with the next connection.
        if error.message().contains("NOSCRIPT") {
            return Err(error);
        }
        // It refuses, for want of memory or of the right to write: that is for the attempts of the turn.
        let refused = std::mem::take(&mut known.saying);
        known.is_saying = false;
        for command in refused {
            match known.opened.to.upgrade() {
                Some(to) if command.is_attempt() => to.answer(command.id(), Answer::Failed(error.clone())),
                _ => known.todo.push_back(command),
            }
        }
        return Ok(());
    }
    match read_answers(value)? {
        Said::Answers { closed, answers, ended } => {
            known.end_turn();
            known.heard = answers.len();
            let mut again = Vec::new();
            for (words, rows) in answers {
                again.extend(hear_one(shared, number, known, closed.as_ref(), &words, rows));
            }
            // In the order of the lines that they were in.
            again.into_iter().rev().for_each(|command| known.todo.push_front(command));
            if ended && known.over.is_none() {
                known.end(Over::Ended(closed.unwrap_or_default()));
            }
        }
        Said::Other(blob) => {
            let asked = &known.opened;
            let theirs = wire::decode_spec(&blob);
            match theirs
                .and_then(|have| have.check_same(&asked.spec, &asked.name, &asked.spec.kind.to_string()))
            {
                // Types that need not be equal: the first is the queue's.
                Ok(()) => known.opened.blob = blob,
                Err(error) => {
                    known.end(Over::Failed(error.note(format!("the queue is in {}", shared.address))));
                }
            }
        }
        Said::Missing if known.over.is_some() => known.is_gone = true,
        Said::Missing => {
            let text = format!("queue '{}' is no longer in {}", known.opened.name, shared.address);
            known.end(Over::Failed(Error::new(Code::DataLoss, text).with_help(
                "the server was restarted without its data, or its keys were removed: let it write an \
                 append-only file (`appendonly yes`), and begin a new session",
            )));
        }
    }
    Ok(())
}

/// Takes in one answer. Returns a command that must be given again.
fn hear_one(
    shared: &Arc<Shared>,
    number: u64,
    known: &mut Known,
    closed: Option<&Closing>,
    words: &str,
    rows: Vec<Vec<u8>>,
) -> Option<Command> {
    let mut words = words.split(' ');
    let kind = words.next()?;
    let mut next = || words.next().and_then(|word| word.parse::<u64>().ok());
    let id = next()?;
    let to = known.opened.to.upgrade();
    let said = known.said.remove(&id);
    if kind == "G" {
        // The server had given this process up. What waits still, waits again.
        let done = next().unwrap_or(0) as usize;
        let mut said = said.filter(|_| to.is_some_and(|to| to.waits(id)))?;
        if let Command::Enqueue { done: before, .. } = &mut said {
            *before += done;
        }
        return Some(said);
    }
    let closing = || closed.cloned().unwrap_or_default();
    let answer = match kind {
        "K" => Answer::Done,
        "S" => Answer::ClosedToEnqueues(closing()),
        "Y" => Answer::ClosedAlready(closing()),
        "Q" => Answer::CalledOff(closing()),
        "L" => Answer::Looked(next()? as usize, next()? == 1),
        "T" => Answer::ClosedToDequeues {
            closing: closing(),
            requested: next()? as usize,
            len: next()? as usize,
        },
        "I" => {
            let Opened { spec, name, .. } = &known.opened;
            let items = rows.iter().map(|row| wire::decode(row, spec, name, &shared.address)).collect();
            match items {
                Ok(items) => {
                    Answer::Items(items, Box::new(Lent { shared: shared.clone(), queue: number, id }))
                }
                Err(error) => {
                    known.todo.push_back(Command::Cancel { id });
                    Answer::Failed(error)
                }
            }
        }
        _ => Answer::Failed(Error::internal("a store answered in words that are unknown here")),
    };
    match (to, answer) {
        (Some(to), answer) => to.answer(id, answer),
        (None, Answer::Items(_, loan)) => loan.unused(),
        (None, _) => {}
    }
    None
}
