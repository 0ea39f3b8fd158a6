//! [`Remote`]: a queue in the server, as the engine uses it.

use crate::wire;
use crate::worker::{Command, Message, Opened, Said, Shared, Worker};
use millstream_state::{
    Answer, Ask, Client, Closing, Elsewhere, ItemStore, Loan, Purpose, QueueKind, QueueReport, QueueSpec,
    Take, Waiting,
};
use millstream_tensor::{Error, Result};
use redis::{FromRedisValue, Value};
use std::fmt;
use std::sync::{Arc, Weak, mpsc};
use std::time::Duration;

/// How long a report waits for the server.
const REPORTS: Duration = Duration::from_millis(500);

/// A queue in the server.
pub(crate) struct Remote {
    /// The number that this process gave it.
    number: u64,
    worker: Arc<Worker>,
    to: Weak<Elsewhere>,
}

impl Remote {
    /// Begins to use the queue. The server hears of it with the first turn.
    pub(crate) fn open(
        worker: &Arc<Worker>,
        container: &str,
        name: &str,
        spec: &QueueSpec,
        seed: u32,
        to: &Arc<Elsewhere>,
    ) -> Result<Remote> {
        let shared = worker.shared();
        let kind = match spec.kind {
            QueueKind::Fifo | QueueKind::PaddingFifo => "list",
            QueueKind::RandomShuffle => "shuffle",
            QueueKind::Priority | QueueKind::Barrier => "priority",
        };
        let opened = Opened {
            key: format!("ms:{{{}/{container}/{name}}}", shared.address.namespace),
            name: name.to_owned(),
            spec: spec.clone(),
            blob: wire::encode_spec(spec)?,
            kind,
            // The generator of the script takes seeds from 1 to 2^31 - 2.
            seed: seed % 0x7fff_fffe + 1,
            to: Arc::downgrade(to),
        };
        let number = shared.number();
        shared.say(Message::Open(number, Box::new(opened)));
        Ok(Remote { number, worker: worker.clone(), to: Arc::downgrade(to) })
    }

    fn shared(&self) -> &Arc<Shared> {
        self.worker.shared()
    }

    fn command(&self, id: u64, ask: Ask, who: &str) -> Result<Command> {
        let who = who.to_owned();
        Ok(match ask {
            Ask::Enqueue(items) => {
                let to = self.to.upgrade().ok_or_else(|| Error::internal("the queue is gone"))?;
                let (name, spec) = to.queue();
                let at = &self.shared().address;
                let rows =
                    items.iter().map(|item| wire::encode(item, spec, name, at)).collect::<Result<_>>()?;
                Command::Enqueue { id, who, rows, done: 0 }
            }
            Ask::Dequeue(take) => {
                Command::Dequeue { id, who, n: take.count(), up_to: matches!(take, Take::UpTo(_)) }
            }
            Ask::Close(closing) => {
                Command::Close { id, who, cancels: closing.cancelled_pending, how: written(&closing) }
            }
            Ask::Look => Command::Look { id },
        })
    }
}

impl ItemStore for Remote {
    fn begin(&self, id: u64, ask: Ask, who: &str) {
        match self.command(id, ask, who) {
            Ok(command) => self.shared().say(Message::Say(self.number, command)),
            Err(error) => {
                if let Some(to) = self.to.upgrade() {
                    to.answer(id, Answer::Failed(error));
                }
            }
        }
    }

    fn cancel(&self, id: u64) {
        self.shared().say(Message::Say(self.number, Command::Cancel { id }));
    }

    fn report(&self, report: &mut QueueReport) {
        let shared = self.shared();
        let (sender, receiver) = mpsc::channel();
        shared.say(Message::Report(self.number, sender));
        let told = receiver.recv_timeout(REPORTS).ok().and_then(|value| read_report(&value));
        report.place = Some(match (&told, shared.silent_for()) {
            (_, Some(time)) => format!("kept by {}, which has not answered for {time:.1?}", shared.address),
            (None, None) => format!("kept by {}, which takes its time to answer", shared.address),
            (Some(_), None) => format!("kept by {}", shared.address),
        });
        if let Some(told) = told {
            let (n_in, n_out, lent) = told.counts;
            report.len = n_in.saturating_sub(n_out) as usize;
            (report.n_in, report.n_out) = (n_in, n_out);
            [report.enqueuing, report.dequeuing] = told.lines;
            report.awaits_lent = told.closed.is_some() && 0 < lent && !report.dequeuing.is_empty();
            report.closed = told.closed;
            report.clients = told.clients;
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.shared().say(Message::Forget(self.number));
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The items of a dequeue, lent by the server.
pub(crate) struct Lent {
    pub(crate) shared: Arc<Shared>,
    pub(crate) queue: u64,
    pub(crate) id: u64,
}

impl Loan for Lent {
    fn used(self: Box<Self>) {
        self.shared.say(Message::Say(self.queue, Command::Used { id: self.id }));
    }

    fn unused(self: Box<Self>) {
        self.shared.say(Message::Say(self.queue, Command::Cancel { id: self.id }));
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Writes how a queue was closed: whether it cancelled enqueues, by whom, why.
fn written(closing: &Closing) -> Vec<u8> {
    let Closing { by, why, cancelled_pending } = closing;
    let flag = if *cancelled_pending { "1" } else { "0" };
    let by = by.replace('\0', " ");
    match why {
        Some(why) => format!("{flag}\0{by}\0{why}").into_bytes(),
        None => format!("{flag}\0{by}").into_bytes(),
    }
}

/// Reads how a queue was closed. `None`: it is open.
pub(crate) fn read_closing(bytes: &[u8]) -> Option<Closing> {
    if bytes.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(3, '\0');
    let cancelled_pending = parts.next() == Some("1");
    let by = parts.next().unwrap_or_default().to_owned();
    Some(Closing { by, why: parts.next().map(str::to_owned), cancelled_pending })
}

/// The fields of a report that the server tells.
struct Told {
    counts: (u64, u64, u64),
    closed: Option<Closing>,
    lines: [Vec<Waiting>; 2],
    clients: Vec<Client>,
}

fn read_report(value: &Value) -> Option<Told> {
    type Line = Vec<(String, String, i64)>;
    type Clients = Vec<(String, u8, i64, usize, usize)>;
    type Whole = (u64, u64, u64, Vec<u8>, Line, Line, Clients);
    let (n_in, n_out, lent, closed, enq, deq, clients) = Whole::from_redis_value(value).ok()?;
    let ms = |ms: i64| Duration::from_millis(u64::try_from(ms).unwrap_or(0));
    let line = |line: Line| {
        let waiting = |(who, kind, time): (String, String, i64)| Waiting {
            who,
            purpose: match kind.as_str() {
                "E" => Purpose::Enqueue,
                "C" => Purpose::Close,
                _ => Purpose::Dequeue,
            },
            for_time: ms(time),
        };
        line.into_iter().map(waiting).collect()
    };
    let client = |(name, own, gone, waits, lent): (String, u8, i64, usize, usize)| Client {
        name,
        is_own: own == 1,
        gone: (0 <= gone).then(|| ms(gone)),
        waits,
        lent,
    };
    Some(Told {
        counts: (n_in, n_out, lent),
        closed: read_closing(&closed),
        lines: [line(enq), line(deq)],
        clients: clients.into_iter().map(client).collect(),
    })
}

/// What a turn's answers say, with the items still as they were written.
pub(crate) fn read_answers(value: Value) -> Result<Said> {
    let cut = || Error::internal("the answer of a store cannot be read");
    let Value::Array(parts) = value else { return Err(cut()) };
    let mut parts = parts.into_iter();
    let text = |value: Option<Value>| match value {
        Some(Value::BulkString(bytes)) => Ok(bytes),
        _ => Err(cut()),
    };
    match text(parts.next())?.as_slice() {
        b"other" => return Ok(Said::Other(text(parts.next())?)),
        b"missing" => return Ok(Said::Missing),
        _ => {}
    }
    let closed = match parts.next() {
        // The client has left.
        None => return Ok(Said::Answers { closed: None, answers: Vec::new(), ended: false }),
        closed => read_closing(&text(closed)?),
    };
    let Some(Value::Array(answers)) = parts.next() else { return Err(cut()) };
    let answer = |answer: Value| {
        let Value::Array(parts) = answer else { return Err(cut()) };
        let mut parts = parts.into_iter();
        let words = String::from_utf8(text(parts.next())?).map_err(|_| cut())?;
        let rows = match parts.next() {
            Some(Value::Array(rows)) => rows.into_iter().map(|row| text(Some(row))).collect::<Result<_>>()?,
            _ => Vec::new(),
        };
        Ok((words, rows))
    };
    let answers = answers.into_iter().map(answer).collect::<Result<_>>()?;
    Ok(Said::Answers { closed, answers, ended: matches!(parts.next(), Some(Value::Int(1))) })
}
