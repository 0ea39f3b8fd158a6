//! Jobs of several ranks, each of them a session on a thread of its own: values, gradients, loops, and every
//! way in which ranks can fail to come together.

use millstream_autodiff::Gradients;
use millstream_graph::{Graph, Output};
use millstream_runtime::{RunOptions, Session, SessionOptions, Tier, feed};
use millstream_state::collective::{Channels, Collective, Ranks, RanksOptions, Transport};
use millstream_tensor::{Code, DType, Error, Result, Tensor, shape};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

fn graph() -> Graph {
    Graph::with_ops(millstream_ops::registry())
}

/// Far more than anything here takes: a rank that does not come is an error in this time.
const SOON: Duration = Duration::from_secs(20);

fn options() -> RanksOptions {
    RanksOptions { stall: SOON, ..RanksOptions::default() }
}

/// A rank that leaves the job at once if its test fails, so that no other waits for it.
struct Member(Arc<Ranks>);

impl Drop for Member {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.shutdown("its test failed");
        }
    }
}

/// Runs `work` on a thread for each rank of a job, and returns what it returns. No rank leaves the job before
/// all have returned, except by calling `shutdown` itself.
fn job_with<R: Send>(
    size: usize,
    options: &RanksOptions,
    work: impl Fn(usize, Arc<Ranks>) -> R + Sync,
) -> Vec<R> {
    let work = &work;
    let ended: Vec<(R, Member)> = std::thread::scope(|threads| {
        let start = |end: Channels| {
            let (rank, options) = (end.rank(), options.clone());
            threads.spawn(move || {
                let member = Member(Arc::new(Ranks::start(end, options).unwrap()));
                (work(rank, member.0.clone()), member)
            })
        };
        let ranks: Vec<_> = Channels::job(size).into_iter().map(start).collect();
        ranks.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let leave = |(result, member): (R, Member)| {
        member.0.shutdown("the test is over");
        result
    };
    ended.into_iter().map(leave).collect()
}

fn job<R: Send>(size: usize, work: impl Fn(usize, Arc<Ranks>) -> R + Sync) -> Vec<R> {
    job_with(size, &options(), work)
}

fn session(g: &Graph, ranks: Arc<Ranks>) -> Session {
    session_of(g, ranks, Tier::default())
}

fn session_of(g: &Graph, ranks: Arc<Ranks>, tier: Tier) -> Session {
    let options =
        SessionOptions { collective: Some(ranks), tier, threads: Some(2), ..SessionOptions::default() };
    Session::with_options(g, options).unwrap()
}

fn reduce<'g>(x: Output<'g>, how: &'static str) -> Output<'g> {
    x.graph().op("AllReduce").input(x).attr("reduction", how).output()
}

#[test]
fn reductions_have_the_same_bits_everywhere() {
    // More than is reduced at once in a cache, and enough for two exchanges.
    const N: usize = 30_001;
    for size in [2, 3] {
        let all = job(size, |rank, ranks| {
            let g = graph();
            let x = g.placeholder_of("x", DType::F32, shape![N]);
            let mut fetches = ["sum", "mean", "min", "max"].map(|how| reduce(x, how)).to_vec();
            // The feed is shared, so its sum needs memory of its own; that of `x + x` is made in place.
            fetches.push(reduce(x + x, "sum"));
            let values = (0..N).map(|i| ((i * 7919 + rank * 104_729) % 1000) as f32 / 7.0 - 70.0);
            let value = Tensor::from_iter([N], values).unwrap();
            let out: Vec<Tensor> = session(&g, ranks).run(fetches, feed![x => value.clone()]).unwrap();
            (value, out)
        });
        for (_, out) in &all[1..] {
            for (a, b) in out.iter().zip(&all[0].1) {
                assert!(a.bits_eq(b));
            }
        }
        let inputs: Vec<&[f32]> = all.iter().map(|(x, _)| x.as_slice().unwrap()).collect();
        for (i, &sum) in all[0].1[0].as_slice::<f32>().unwrap().iter().enumerate() {
            let one_by_one = inputs[1..].iter().fold(inputs[0][i], |sum, x| sum + x[i]);
            assert_eq!(sum.to_bits(), one_by_one.to_bits());
            let of = |k: usize| all[0].1[k].as_slice::<f32>().unwrap()[i];
            assert_eq!(of(1), sum / size as f32);
            assert_eq!(of(4), sum * 2.0);
            assert_eq!(of(2), inputs.iter().map(|x| x[i]).fold(f32::INFINITY, f32::min));
            assert_eq!(of(3), inputs.iter().map(|x| x[i]).fold(f32::NEG_INFINITY, f32::max));
        }
    }
}

/// The bits do not depend on what is fused with what.
#[test]
fn many_small_sums_are_fused() {
    let run = |fuse_bytes: usize| {
        let options = RanksOptions { fuse_bytes, ..options() };
        job_with(3, &options, |rank, ranks| {
            let g = graph();
            let x = g.placeholder_of("x", DType::F32, shape![_]);
            let sums: Vec<Output> = (1..60)
                .map(|k| reduce(x * (k as f32 / 3.0), if k % 7 == 0 { "mean" } else { "sum" }))
                .collect();
            let value = Tensor::from_iter([300], (0..300).map(|i| (i * (rank + 1)) as f32 / 9.0)).unwrap();
            let session = session(&g, ranks);
            let mut out: Vec<Tensor> = Vec::new();
            for _ in 0..3 {
                out = session.run(sums.clone(), feed![x => value.clone()]).unwrap();
            }
            out
        })
    };
    let (fused, apart) = (run(64 << 20), run(0));
    for out in fused.iter().chain(&apart) {
        assert!(out.iter().zip(&fused[0]).all(|(a, b)| a.bits_eq(b)));
    }
}

#[test]
fn rows_are_gathered_scattered_and_exchanged() {
    let all = job(3, |rank, ranks| {
        let g = graph();
        let x = g.placeholder_of("x", DType::I32, shape![_, 2]);
        let gathered = g.op("AllGather").input(x).output();
        let none = g.constant_tensor("none", Tensor::zeros(DType::I64, [0]).unwrap());
        let scattered = g.op("ReduceScatter").input(gathered).input(none).output();
        let splits = g.placeholder_of("splits", DType::I32, shape![_]);
        let exchange = g.op("CollectiveAllToAll").input(x).input(splits).finish();
        let root = g.op("Broadcast").input(g.op("CollectiveRank").output()).attr("root_rank", 2).output();
        let size = g.op("CollectiveSize").output();
        // Rank r has r + 1 rows, and gives them all to rank 2 - r, but for one that it keeps.
        let rows = (0..2 * (rank + 1)).map(|i| (10 * rank + i) as i32);
        let value = Tensor::from_iter([rank + 1, 2], rows).unwrap();
        let mut splits_value = [0i32; 3];
        splits_value[rank] += 1;
        splits_value[2 - rank] += rank as i32;
        let fetches = [gathered, scattered, exchange.output(0), exchange.output(1), root, size];
        let feeds = feed![x => value, splits => Tensor::vector(&splits_value).unwrap()];
        session(&g, ranks).run::<Vec<Tensor>>(fetches, feeds).unwrap()
    });
    let text = |rank: usize, k: usize| all[rank][k].to_string();
    for rank in 0..3 {
        assert_eq!(text(rank, 0), "i32[6,2] [[0 1] [10 11] [12 13] [20 21] [22 23] [24 25]]");
        assert_eq!((text(rank, 4), text(rank, 5)), ("i32 2".into(), "i32 3".into()));
    }
    assert_eq!(text(0, 1), "i32[2,2] [[0 3] [30 33]]");
    assert_eq!(text(2, 1), "i32[2,2] [[66 69] [72 75]]");
    // In the order of its splits, rank 2 gives its first two rows to rank 0.
    assert_eq!(
        (text(0, 2), text(0, 3)),
        ("i32[3,2] [[0 1] [20 21] [22 23]]".into(), "i32[3] [1 0 2]".into())
    );
    assert_eq!((text(1, 2), text(1, 3)), ("i32[2,2] [[10 11] [12 13]]".into(), "i32[3] [0 2 0]".into()));
    assert_eq!((text(2, 2), text(2, 3)), ("i32[1,2] [[24 25]]".into(), "i32[3] [0 0 1]".into()));
}

/// The loss of a job is the sum of all ranks' losses: its differences by each input are what `gradients`
/// returns on the rank of that input.
#[test]
fn gradients_are_those_of_the_sum_of_all_losses() {
    type Make = for<'g> fn(Output<'g>) -> Output<'g>;
    let makes: [(&str, Make); 6] = [
        ("sum", |x| reduce(x, "sum")),
        ("mean", |x| reduce(x, "mean")),
        ("gather", |x| x.graph().op("AllGather").input(x).output()),
        ("scatter", |x| {
            let none = x.graph().constant_tensor("none", Tensor::zeros(DType::I64, [0]).unwrap());
            x.graph().op("ReduceScatter").input(x).input(none).attr("reduction", "mean").output()
        }),
        ("broadcast", |x| x.graph().op("Broadcast").input(x).attr("root_rank", 1).output()),
        ("exchange", |x| {
            let splits = x.graph().constant_tensor("splits", Tensor::vector(&[2i32, 1]).unwrap());
            x.graph().op("CollectiveAllToAll").input(x).input(splits).output()
        }),
    ];
    for (name, make) in makes {
        // The total loss, and its gradient, where rank `at` adds `by` to its element `i`.
        let run = |at: usize, i: usize, by: f64| {
            job(2, |rank, ranks| {
                let g = graph();
                let x = g.placeholder_of("x", DType::F64, shape![3]);
                let y = make(x);
                let weights = g.op("Range").input(0.5).input(9.0).input(1.25).output();
                let size = g.op("Size").input(y).output();
                let begin = g.constant_tensor("begin", Tensor::vector(&[0i32]).unwrap());
                let size = g.op("Reshape").input(size).input([1]).output();
                let weights = g.op("Slice").inputs([weights, begin, size]).output();
                let weights = g.op("Cast").input(weights).attr("DstT", DType::F64).output();
                let rank_factor = g.op("CollectiveRank").output();
                let rank_factor = g.op("Cast").input(rank_factor).attr("DstT", DType::F64).output() + 1.0;
                let loss = g.op("Sum").input(y * y * weights * rank_factor).input([0]).output();
                let dx = g.gradients([loss], [x]).dense().unwrap()[0];
                let total = reduce(loss, "sum");
                let mut values = [0.3 + rank as f64, -1.1, 0.7 * (rank as f64 + 1.0)];
                if rank == at {
                    values[i] += by;
                }
                let out: Vec<Tensor> = session(&g, ranks)
                    .run([total, dx], feed![x => Tensor::vector(&values).unwrap()])
                    .unwrap();
                (out[0].to_scalar::<f64>().unwrap(), out[1].as_slice::<f64>().unwrap().to_vec())
            })
        };
        let exact = run(9, 0, 0.0);
        for rank in 0..2 {
            for i in 0..3 {
                let slope = (run(rank, i, 1e-5)[0].0 - run(rank, i, -1e-5)[0].0) / 2e-5;
                assert!(
                    (slope - exact[rank].1[i]).abs() < 1e-6,
                    "{name}, rank {rank}, {i}: {slope} {exact:?}"
                );
            }
        }
    }
}

#[test]
fn the_smallest_has_no_gradient() {
    let g = graph();
    let x = g.placeholder_of("x", DType::F32, shape![3]);
    let y = reduce(x, "min");
    let error = g.gradients([y], [x]).dense().unwrap_err();
    assert!(error.to_string().contains("the gradient of AllReduce with reduction `min`"), "{error}");
}

/// In a loop the n-th calls meet, in all tiers and however many iterations could overlap.
#[test]
fn loops_and_branches() {
    for tier in [Tier::Compiled, Tier::Dataflow, Tier::Reference] {
        let all = job(2, |rank, ranks| {
            let g = graph();
            let x = g.placeholder_of("x", DType::F32, shape![]);
            let (_, sum) = g
                .while_loop((g.constant(0), x))
                .parallel_iterations(10)
                .run(
                    |(i, _)| g.op("Less").input(i).input(20).output(),
                    |(i, sum)| {
                        let slow = g.op("Cast").input(i).attr("DstT", DType::F32).output();
                        let mean = reduce(sum + slow, "mean");
                        let odd = g.op("Equal").input(i % 2).input(1).output();
                        let kept = g.cond(odd, || reduce(mean * 2.0, "max"), || mean * 1.0).unwrap();
                        (i + 1, kept)
                    },
                )
                .unwrap();
            let session = session_of(&g, ranks, tier);
            session.run::<f32>(sum, feed![x => rank as f32]).unwrap()
        });
        let mut sum = 0.5f32;
        for i in 0..20 {
            sum += i as f32;
            sum *= if i % 2 == 1 { 2.0 } else { 1.0 };
        }
        assert_eq!(all, [sum, sum], "{tier:?}");
    }
}

#[test]
fn differences_between_ranks_are_errors() {
    let errors = job(2, |rank, ranks| {
        let g = graph();
        let x = g.op("Fill").input([3 + rank as i32]).input(1.0f32).output();
        let y = g.op("AllReduce").name("grad").input(x).output();
        session(&g, ranks).run::<Tensor>(y, ()).unwrap_err()
    });
    for error in errors {
        assert_eq!(error.code(), Code::InvalidArgument);
        let text = error.to_string();
        let part = "the ranks differ at `grad`: rank 0 calls AllReduce (sum) of f32[3], but rank 1 calls AllReduce (sum) of f32[4]";
        assert!(text.contains(part), "{text}");
        assert_eq!(error.node(), Some("grad"));
    }
}

fn reduce_named<'g>(g: &'g Graph, name: &str) -> Output<'g> {
    g.op("AllReduce").name(name).input(g.constant(1.0f32)).output()
}

/// Rank 0 makes `a` and then `b`, rank 1 makes `b` and then `a`: each waits for the other.
#[test]
fn orders_that_differ_are_errors_in_time() {
    let options = RanksOptions { stall: Duration::from_secs(1), ..options() };
    let together = Barrier::new(2);
    let errors = job_with(2, &options, |rank, ranks| {
        let g = graph();
        let names = if rank == 0 { ["a", "b"] } else { ["b", "a"] };
        let first = reduce_named(&g, names[0]);
        let second = g.op("AllReduce").name(names[1]).input(first).output();
        let session = session(&g, ranks);
        together.wait();
        session.run::<Tensor>(second, ()).unwrap_err()
    });
    assert!(errors[0].message().contains("`a` has waited for"), "{}", errors[0]);
    assert!(errors[1].message().contains("on rank 1 for rank 0, which did not call it"), "{}", errors[1]);
    assert!(errors[0].to_string().contains("`b` waits on rank 1 for rank 0"), "{}", errors[0]);
}

#[test]
fn whoever_waits_for_a_rank_that_ended_is_told() {
    let errors = job(3, |rank, ranks| {
        if rank == 1 {
            ranks.shutdown("ValueError: no data");
            return None;
        }
        let g = graph();
        let begin = Instant::now();
        let error = session(&g, ranks.clone()).run::<Tensor>(reduce_named(&g, "x"), ()).unwrap_err();
        assert!(begin.elapsed() < SOON);
        // And so is the next call.
        let next = session(&g, ranks).run::<Tensor>(reduce_named(&g, "y"), ()).unwrap_err();
        assert!(next.message().contains("rank 1 has ended"), "{next}");
        Some(error)
    });
    for error in errors.into_iter().flatten() {
        assert_eq!(error.code(), Code::Unavailable);
        assert!(error.message().contains("rank 1 has ended: ValueError: no data"), "{error}");
    }
}

/// The end of rank 0, with which all others talk.
#[test]
fn the_first_rank_may_end_too() {
    let errors = job(3, |rank, ranks| {
        if rank == 0 {
            std::thread::sleep(Duration::from_millis(20));
            ranks.shutdown("it is over");
            return None;
        }
        let g = graph();
        Some(session(&g, ranks).run::<Tensor>(reduce_named(&g, "x"), ()).unwrap_err())
    });
    for error in errors.into_iter().flatten() {
        assert!(error.message().contains("rank 0 has ended: it is over"), "{error}");
    }
}

/// A transport whose rank dies at the first exchange, without a word.
struct Mortal(Channels);

impl Transport for Mortal {
    fn rank(&self) -> usize {
        self.0.rank()
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        self.0.send(to, message)
    }
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        self.0.receive()
    }
    fn all_gather(&mut self, data: &mut [u8], counts: &[usize]) -> Result<()> {
        match self.rank() {
            1 => panic!("the process dies"),
            _ => self.0.all_gather(data, counts),
        }
    }
    fn all_to_all(&mut self, from: &[u8], sent: &[usize], to: &mut [u8], taken: &[usize]) -> Result<()> {
        self.0.all_to_all(from, sent, to, taken)
    }
    fn broadcast(&mut self, data: &mut [u8], root: usize) -> Result<()> {
        self.0.broadcast(data, root)
    }
}

#[test]
fn the_death_of_a_rank_in_an_exchange_is_an_error() {
    let begin = Instant::now();
    let threads: Vec<_> = Channels::job(3)
        .into_iter()
        .map(|end| {
            std::thread::spawn(move || {
                let ranks = Arc::new(Ranks::start(Mortal(end), options()).unwrap());
                let g = graph();
                let error = session(&g, ranks).run::<Tensor>(reduce_named(&g, "x"), ()).unwrap_err();
                error.to_string()
            })
        })
        .collect();
    let errors: Vec<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(begin.elapsed() < SOON);
    assert!(errors[0].contains("rank 1 has died"), "{errors:?}");
    assert!(errors[1].contains("panicked"), "{errors:?}");
    assert!(errors[2].contains("rank 1 has died") || errors[2].contains("rank 0 has ended"), "{errors:?}");
}

/// A run that its deadline ends gives its call up: the other rank is told, and later calls meet again.
#[test]
fn a_deadline_ends_the_wait_on_all_ranks() {
    let is_over = AtomicBool::new(false);
    let results = job(2, |rank, ranks| {
        let g = graph();
        let x = reduce_named(&g, "x");
        let session = session(&g, ranks);
        let error = match rank {
            0 => {
                let options =
                    RunOptions { timeout: Some(Duration::from_millis(50)), ..RunOptions::default() };
                let error = session.run_with::<Tensor>(x, (), &options).unwrap_err();
                is_over.store(true, Release);
                error
            }
            _ => {
                wait_for(|| is_over.load(Acquire));
                session.run::<Tensor>(x, ()).unwrap_err()
            }
        };
        (error, session.run::<f32>(x, ()).unwrap())
    });
    assert_eq!(results[0].0.code(), Code::DeadlineExceeded);
    assert_eq!(results[1].0.code(), Code::Aborted);
    let text = results[1].0.message().to_owned();
    assert!(text.contains("rank 0 gave up `x`"), "{text}");
    assert_eq!((results[0].1, results[1].1), (2.0, 2.0));
}

fn wait_for(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < SOON, "it never happens");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_session_that_closes_ends_the_wait() {
    job(2, |rank, ranks| {
        if rank == 1 {
            return;
        }
        let g = graph();
        let x = reduce_named(&g, "x");
        let session = session(&g, ranks);
        std::thread::scope(|threads| {
            let begin = Instant::now();
            let run = threads.spawn(|| session.run::<Tensor>(x, ()).unwrap_err());
            std::thread::sleep(Duration::from_millis(50));
            session.close();
            let error: Error = run.join().unwrap();
            assert_eq!(error.code(), Code::Cancelled);
            assert!(begin.elapsed() < SOON / 2, "it waited for the other rank");
        });
    });
}

/// Two runs of one node at a time could meet the wrong ones of the other rank.
#[test]
fn runs_of_one_name_must_not_overlap() {
    job(2, |rank, ranks| {
        if rank == 1 {
            return;
        }
        let g = graph();
        let x = reduce_named(&g, "x");
        let session = session(&g, ranks.clone());
        std::thread::scope(|threads| {
            let (send, errors) = std::sync::mpsc::channel();
            for send in [send.clone(), send] {
                let session = &session;
                threads.spawn(move || send.send(session.run::<Tensor>(x, ()).unwrap_err()));
            }
            // One of them waits for the other rank, and the other one is refused.
            let error = errors.recv().unwrap();
            assert!(error.message().contains("in another run"), "{error}");
            ranks.shutdown("enough");
            let error = errors.recv().unwrap();
            assert!(error.message().contains("was shut down"), "{error}");
        });
    });
}

/// A rank that has given a call up which all have made takes part in it before it leaves.
#[test]
fn a_rank_that_leaves_performs_what_is_ready() {
    // Rank 0 waits this long before it decides again.
    let options = RanksOptions { cycle: Duration::from_millis(200), ..options() };
    for _ in 0..5 {
        let values = job_with(2, &options, |rank, ranks| {
            let g = graph();
            let (x, y) = (reduce_named(&g, "x"), reduce_named(&g, "y"));
            let session = session(&g, ranks.clone());
            session.run::<f32>(x, ()).unwrap();
            if rank == 0 {
                return session.run::<f32>(y, ());
            }
            let options = RunOptions { timeout: Some(Duration::from_millis(50)), ..RunOptions::default() };
            let own = session.run_with::<f32>(y, (), &options).map(|(sum, _)| sum);
            ranks.shutdown("it is done");
            own
        });
        for value in values {
            match value {
                Ok(sum) => assert_eq!(sum, 2.0),
                Err(error) if error.code() == Code::DeadlineExceeded => {}
                Err(error) => assert!(error.message().contains("rank 1 gave up"), "{error}"),
            }
        }
    }
}

/// A thousand calls of many ranks in an order of each rank's own.
#[test]
fn many_ranks_many_calls() {
    let sums = job(4, |rank, ranks| {
        let g = graph();
        let mut sums: Vec<Output> = (0..50)
            .map(|k| {
                g.op("AllReduce").name(format!("x{k}")).input(g.constant((k * (rank + 1)) as i32)).output()
            })
            .collect();
        let session = session(&g, ranks);
        let straight = sums.clone();
        sums.rotate_left(rank * 11);
        if rank % 2 == 1 {
            sums.reverse();
        }
        for _ in 0..5 {
            session.run::<Vec<Tensor>>(sums.clone(), ()).unwrap();
        }
        let out: Vec<Tensor> = session.run(straight, ()).unwrap();
        out.iter().map(|t| t.to_scalar::<i32>().unwrap()).collect::<Vec<_>>()
    });
    for of_rank in sums {
        assert_eq!(of_rank, (0..50).map(|k| k * 10).collect::<Vec<_>>());
    }
}

#[test]
fn a_job_of_one() {
    let mut ends = Channels::job(1);
    let ranks = Arc::new(Ranks::start(ends.remove(0), options()).unwrap());
    assert_eq!((ranks.rank(), ranks.size()), (0, 1));
    let g = graph();
    assert_eq!(session(&g, ranks).run::<f32>(reduce_named(&g, "x"), ()).unwrap(), 1.0);
}
