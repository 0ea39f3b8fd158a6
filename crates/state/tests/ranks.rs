//! Jobs of several ranks without sessions: what every kind of call gives to each rank, at several sizes.

use millstream_state::Cancellation;
use millstream_state::collective::{
    Alone, Call, Caller, Channels, Collective, Finish, Ranks, RanksOptions, Reduction, Transport, What,
};
use millstream_tensor::{Code, Error, Result, Tensor, bf16, f16};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

/// Makes a call, and waits for its results.
fn call(ranks: &dyn Collective, what: What, value: Tensor, splits: &[usize]) -> Result<Vec<Tensor>> {
    let (told, heard) = mpsc::channel::<Result<Finish>>();
    let caller = Caller {
        who: format!("{what}").into(),
        cancel: Cancellation::new(),
        ended: Box::new(move |result| told.send(result).expect("the test listens")),
    };
    ranks.start(Call { what, value, splits: splits.to_vec() }, caller);
    heard.recv_timeout(SOON).expect("the ranks meet")?()
}

/// Runs `work` for each rank of a job, on a thread of its own. No rank leaves before all have returned.
fn job<R: Send>(size: usize, work: impl Fn(usize, &Ranks) -> R + Sync) -> Vec<R> {
    let work = &work;
    let ended: Vec<(R, Ranks)> = thread::scope(|threads| {
        let start = |(rank, end): (usize, Channels)| {
            threads.spawn(move || {
                let options = RanksOptions { stall: SOON, ..RanksOptions::default() };
                let ranks = Ranks::start(end, options).unwrap();
                (work(rank, &ranks), ranks)
            })
        };
        let started: Vec<_> = Channels::job(size).into_iter().enumerate().map(start).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let leave = |(result, ranks): (R, Ranks)| {
        ranks.shutdown("the test is over");
        result
    };
    ended.into_iter().map(leave).collect()
}

fn ints(values: impl IntoIterator<Item = i32>) -> Tensor {
    Tensor::vector(&values.into_iter().collect::<Vec<_>>()).unwrap()
}

/// What the ranks of a job get, as vectors.
fn results(size: usize, what: What, value: impl Fn(i32) -> Tensor + Sync, splits: &[usize]) -> Vec<Vec<i32>> {
    job(size, |rank, ranks| {
        let outputs = call(ranks, what, value(rank as i32), splits).unwrap();
        outputs[0].as_slice::<i32>().unwrap().to_vec()
    })
}

#[test]
fn reductions_are_the_same_on_all_ranks() {
    for size in 2..=5 {
        let n = size as i32;
        let value = |rank: i32| ints([rank + 1, 10, -rank]);
        for (reduction, expect) in [
            (Reduction::Sum, [n * (n + 1) / 2, 10 * n, -n * (n - 1) / 2]),
            (Reduction::Min, [1, 10, 1 - n]),
            (Reduction::Max, [n, 10, 0]),
        ] {
            assert_eq!(results(size, What::AllReduce(reduction), value, &[]), vec![expect.to_vec(); size]);
        }
    }
}

#[test]
fn every_dtype_is_summed() {
    macro_rules! check {
        ($($t:ty: $of:expr),*) => { $({
            let of: fn(f32) -> $t = $of;
            let all = job(2, |rank, ranks| {
                let value = Tensor::vector(&[of(1.0 + rank as f32), of(40.0)]).unwrap();
                let outputs = call(ranks, What::AllReduce(Reduction::Sum), value, &[]).unwrap();
                outputs[0].as_slice::<$t>().unwrap().to_vec()
            });
            assert_eq!(all, vec![vec![of(3.0), of(80.0)]; 2]);
        })* };
    }
    check!(f16: f16::from_f32, bf16: bf16::from_f32, f32: |x| x, f64: f64::from);
    check!(i8: |x| x as i8, i16: |x| x as i16, i32: |x| x as i32, i64: |x| x as i64);
    check!(u8: |x| x as u8, u16: |x| x as u16, u32: |x| x as u32, u64: |x| x as u64);
}

/// A value that its caller still has is not written to: the result has memory of its own.
#[test]
fn shared_values_stay_as_they_are() {
    /// Element `i` of what a rank has.
    type Of = fn(i32, i32) -> i32;
    let to_100 = |of: Of, rank| (0..100).map(|i| of(i, rank)).collect::<Vec<i32>>();
    let given: Of = |i, rank| i + rank;
    let cases: [(What, Of); 2] =
        [(What::Broadcast { root: 1 }, |i, _| i + 1), (What::AllReduce(Reduction::Sum), |i, _| 3 * i + 3)];
    for (what, got) in cases {
        let all = job(3, |rank, ranks| {
            let value = ints(to_100(given, rank as i32));
            let outputs = call(ranks, what, value.clone(), &[]).unwrap();
            [&value, &outputs[0]].map(|tensor| tensor.as_slice::<i32>().unwrap().to_vec())
        });
        let expect = |rank| [to_100(given, rank), to_100(got, rank)];
        assert_eq!(all, [0, 1, 2].map(expect));
    }
}

#[test]
fn a_rank_alone_gets_what_it_gave() {
    assert_eq!((Alone.rank(), Alone.size()), (0, 1));
    for what in [What::AllReduce(Reduction::Sum), What::AllGather, What::Broadcast { root: 0 }] {
        let outputs = call(&Alone, what, ints([5, 6]), &[]).unwrap();
        assert_eq!(outputs[0].as_slice::<i32>().unwrap(), [5, 6]);
    }
}

#[test]
fn a_nan_of_one_rank_is_everybodys() {
    for reduction in [Reduction::Min, Reduction::Max, Reduction::Sum, Reduction::Mean] {
        let all = job(3, |rank, ranks| {
            let value = [if rank == 1 { f32::NAN } else { 1.0 }, rank as f32];
            let outputs = call(ranks, What::AllReduce(reduction), Tensor::vector(&value).unwrap(), &[]);
            outputs.unwrap()[0].as_slice::<f32>().unwrap().to_vec()
        });
        let second = match reduction {
            Reduction::Min => 0.0,
            Reduction::Max => 2.0,
            Reduction::Sum => 3.0,
            Reduction::Mean => 1.0,
        };
        assert!(all.iter().all(|values| values[0].is_nan() && values[1] == second), "{reduction:?} {all:?}");
    }
}

#[test]
fn rows_are_gathered_and_sent() {
    for size in 2..=4 {
        let n = size as i32;
        let gathered: Vec<i32> = (0..n).flat_map(|rank| (0..=rank).map(move |_| rank)).collect();
        let rows = |rank: i32| ints((0..=rank).map(|_| rank));
        assert_eq!(results(size, What::AllGather, rows, &[]), vec![gathered; size]);
        for root in 0..size {
            let sent = vec![vec![root as i32, 7]; size];
            assert_eq!(results(size, What::Broadcast { root }, |rank| ints([rank, 7]), &[]), sent);
        }
    }
}

/// Five rows for three ranks: the first ones take one more. Then as many as each asks for.
#[test]
fn sums_are_scattered() {
    let value = |rank: i32| ints((0..5).map(|i| i + 10 * rank));
    let what = What::ReduceScatter(Reduction::Sum);
    assert_eq!(results(3, what, value, &[]), [vec![30, 33], vec![36, 39], vec![42]]);
    let own = job(3, |rank, ranks| {
        let outputs = call(ranks, what, value(rank as i32), &[[1, 0, 4][rank]]).unwrap();
        outputs[0].as_slice::<i32>().unwrap().to_vec()
    });
    assert_eq!(own, [vec![30], vec![], vec![33, 36, 39, 42]]);
}

#[test]
fn rows_change_places() {
    let all = job(3, |rank, ranks| {
        let r = 10 * rank as i32;
        let outputs = call(ranks, What::AllToAll, ints([r, r + 1, r + 2]), &[1, 0, 2]).unwrap();
        [0, 1].map(|i: usize| outputs[i].as_slice::<i32>().unwrap().to_vec())
    });
    let expect: [[&[i32]; 2]; 3] =
        [[&[0, 10, 20], &[1, 1, 1]], [&[], &[0, 0, 0]], [&[1, 2, 11, 12, 21, 22], &[2, 2, 2]]];
    assert_eq!(all, expect);
}

/// Ranks whose calls do not fit get the same error, and can go on.
#[test]
fn calls_that_do_not_fit_are_errors_on_all_ranks() {
    let sum = What::AllReduce(Reduction::Sum);
    let bad: [fn(i32) -> Tensor; 2] = [
        |rank| ints(0..=rank),
        |rank| if rank == 0 { ints([1]) } else { Tensor::vector(&[1.0f32]).unwrap() },
    ];
    for value in bad {
        let texts = job(3, |rank, ranks| {
            let error = call(ranks, sum, value(rank as i32), &[]).unwrap_err();
            assert!(call(ranks, What::Barrier, ints([]), &[]).is_ok());
            error.message().to_owned()
        });
        assert!(texts.iter().all(|text| !text.is_empty() && *text == texts[0]), "{texts:?}");
    }
}

/// A rank whose value cannot be sent says so, and the others do not wait for it.
#[test]
fn a_call_that_one_rank_cannot_make_is_an_error_on_all() {
    let texts = job(3, |rank, ranks| {
        let value = if rank == 1 { Tensor::scalar(7) } else { ints([rank as i32]) };
        let error = call(ranks, What::AllGather, value, &[]).unwrap_err();
        assert!(call(ranks, What::Barrier, ints([]), &[]).is_ok());
        error.message().to_owned()
    });
    let own = "AllGather takes rows, but a scalar has none";
    let told = format!("rank 1 cannot make its call of `AllGather`: {own}");
    assert_eq!(texts, [&told, own, &told]);
}

/// Channels that count what rank 0 sends to each rank. Those of rank 2 break after its first message.
struct Breaking {
    channels: Channels,
    sent: Arc<Mutex<Vec<usize>>>,
    broken: bool,
}

impl Transport for Breaking {
    fn rank(&self) -> usize {
        self.channels.rank()
    }
    fn size(&self) -> usize {
        self.channels.size()
    }
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        match self.rank() {
            0 => self.sent.lock().unwrap().push(to),
            2 => self.broken = true,
            _ => {}
        }
        self.channels.send(to, message)
    }
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        match self.broken {
            true => Err(Error::new(Code::Unavailable, "the cable is cut")),
            false => self.channels.receive(),
        }
    }
    fn all_gather(&mut self, data: &mut [u8], counts: &[usize]) -> Result<()> {
        self.channels.all_gather(data, counts)
    }
    fn all_to_all(&mut self, from: &[u8], sent: &[usize], to: &mut [u8], taken: &[usize]) -> Result<()> {
        self.channels.all_to_all(from, sent, to, taken)
    }
    fn broadcast(&mut self, data: &mut [u8], root: usize) -> Result<()> {
        self.channels.broadcast(data, root)
    }
    fn finish(&mut self) -> Result<()> {
        self.channels.finish()
    }
}

/// A rank that has said its last word is told the answer and nothing more: that a call failed which it had
/// begun is no news for it, and its end of the transport may be gone.
#[test]
fn a_rank_that_has_left_is_told_nothing() {
    let sent = Arc::default();
    let start = |channels| {
        let transport = Breaking { channels, sent: Arc::clone(&sent), broken: false };
        Ranks::start(transport, RanksOptions { stall: SOON, ..RanksOptions::default() }).unwrap()
    };
    let ranks: Vec<Ranks> = Channels::job(3).into_iter().map(start).collect();
    let error = call(&ranks[2], What::AllReduce(Reduction::Sum), ints([1]), &[]).unwrap_err();
    assert!(error.message().contains("the cable is cut"), "{error}");
    // The call of rank 2 fails, since rank 1 will not come to it.
    ranks[1].shutdown("it is through");
    ranks[0].shutdown("it is through");
    assert_eq!(sent.lock().unwrap().iter().filter(|to| **to == 2).count(), 1);
}
