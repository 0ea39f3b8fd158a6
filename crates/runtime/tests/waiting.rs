//! Kernels that wait, run for ever or panic: parked runs are woken, cancelled or timed out, and errors name
//! the right node. The ops are this file's own.

use millstream_graph::op::{Completion, Effect, Kernel, KernelCx, OpDef, Registry, ScalarKernel};
use millstream_graph::{Arg, Attr, Graph, Op, Output};
use millstream_runtime::{
    Callable, Poll, ResourceManager, RunOptions, Session, SessionOptions, Target, Tier, Watch, feed,
};
use millstream_state::Registration;
use millstream_tensor::{Code, DType, Result, Tensor, invalid, shape};
use parking_lot::Mutex;
use smallvec::smallvec;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::time::Duration;

/// Listeners of kernels that wait for cancellation. They are kept, since dropping a listener removes it.
static LISTENERS: Mutex<Vec<Registration>> = Mutex::new(Vec::new());

/// The number of such kernels that have started.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// What `FailsAfterHook` does.
static HOOK: Mutex<Option<Box<dyn Fn() + Send>>> = Mutex::new(None);

/// The number of kernels that want to be alone and are at work.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

fn passing(name: &'static str) -> OpDef {
    OpDef::new(name).doc("A test's.").input("x", DType::I32).output("y", DType::I32).infer(|cx| {
        cx.pass(0, 0);
        Ok(())
    })
}

fn graph() -> Graph {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    let make = || {
        let mut defs = millstream_ops::defs();
        // Another thread completes it a little later.
        defs.push(passing("Later").kernel(Kernel::waiting(|cx, completion| {
            let x = cx.take(0);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(2));
                completion.complete(Ok(smallvec![x]));
            });
        })));
        // Only cancellation ends it.
        defs.push(passing("Forever").kernel(Kernel::waiting(|cx, completion| {
            let listener = cx.env.cancel.on_cancel(move |cause| completion.complete(Err(cause.clone())));
            LISTENERS.lock().push(listener);
            STARTED.fetch_add(1, Release);
        })));
        // Fails while another is at work.
        defs.push(passing("Alone").kernel(Kernel::waiting(|cx, completion| {
            let x = cx.take(0);
            if INSIDE.fetch_add(1, AcqRel) != 0 {
                INSIDE.fetch_sub(1, AcqRel);
                return completion.complete(Err(invalid!("not alone")));
            }
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(2));
                INSIDE.fetch_sub(1, AcqRel);
                completion.complete(Ok(smallvec![x]));
            });
        })));
        defs.push(passing("FailsAfterHook").kernel(Kernel::stateful(|_| {
            if let Some(hook) = &*HOOK.lock() {
                hook();
            }
            Err(invalid!("the hook is done"))
        })));
        defs.push(passing("GivesUp").kernel(Kernel::waiting(|_, completion| drop(completion))));
        defs.push(passing("Panics").kernel(Kernel::stateful(|cx| match cx.int(0)? {
            0 => panic!("zero is not handled"),
            _ => {
                let x = cx.take(0);
                cx.set(0, x);
                Ok(())
            }
        })));
        // The others panic elsewhere than in a kernel.
        let ends_badly = |_: &mut KernelCx, completion: Completion| {
            completion.complete_with(|| panic!("no end"));
        };
        defs.push(passing("EndsBadly").kernel(Kernel::waiting(ends_badly)));
        let unprepared = Kernel::build(Effect::Stateful, |_| panic!("cannot be prepared"));
        defs.push(passing("Unprepared").kernel(unprepared));
        let scalar = Kernel::stateful(|_| panic!("no scalar"));
        let scalar = scalar.scalar(|_| Some(ScalarKernel::Unary(|_| panic!("no scalar"))));
        defs.push(passing("BadScalar").kernel(scalar));
        defs.push(passing("Shapeless").infer(|_| panic!("no shape")).kernel(Kernel::stateful(|_| Ok(()))));
        Registry::new(defs)
    };
    Graph::with_ops(REGISTRY.get_or_init(make))
}

fn less<'g>(a: Output<'g>, b: impl Into<Arg<'g>>) -> Output<'g> {
    a.graph().op("Less").input(a).input(b).output()
}

fn call<'g>(op: &'static str, x: Output<'g>) -> Output<'g> {
    x.graph().op(op).input(x).output()
}

fn session(g: &Graph, threads: usize) -> Result<Session> {
    Session::with_options(g, SessionOptions { threads: Some(threads), ..SessionOptions::default() })
}

#[track_caller]
fn fails<T>(result: Result<T>, code: Code, parts: &[&str]) {
    let Err(error) = result else { panic!("that should have failed") };
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "no `{part}` in\n{error}");
    }
}

const BRIEF: RunOptions = RunOptions {
    timeout: Some(Duration::from_millis(30)),
    trace: false,
    watch: Vec::new(),
    why: None,
    poll: None,
    progress: None,
};

#[test]
fn parked_nodes_are_woken_from_other_threads() -> Result<()> {
    let g = graph();
    let n = g.placeholder_of("n", DType::I32, shape![]);
    let i: Output = g.while_loop(0).run(|i| less(i, n), |i| call("Later", i) + 1)?;
    let both = call("Later", n) + call("Later", n);
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        let (i, both): (i32, i32) = session.run((i, both), feed![n => 20])?;
        assert_eq!((i, both), (20, 40));
    }
    Ok(())
}

/// Iterations whose waits overlap take less time than they would one after another.
#[test]
fn waits_in_many_iterations_all_come_back() -> Result<()> {
    let g = graph();
    let (_, sum): (Output, Output) = g
        .while_loop((0, 0))
        .parallel_iterations(32)
        .run(|(i, _)| less(i, 200), |(i, sum)| (i + 1, sum + call("Later", i)))?;
    assert_eq!(session(&g, 1)?.run::<i32>(sum, ())?, 199 * 100);
    // Nothing but the kernel that waits keeps an iteration of the second loop.
    let last: Output = g.while_loop(0).run(|i| less(i, 20), |i| call("Later", i + 1))?;
    for tier in [Tier::Reference, Tier::Dataflow] {
        let options = SessionOptions { tier, ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        assert_eq!(session.run::<(i32, i32)>((sum, last), ())?, (199 * 100, 20), "{tier:?}");
    }
    Ok(())
}

#[test]
fn parked_runs_time_out() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let stuck = call("Forever", x);
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        fails(
            session.run_with::<i32>(stuck, feed![x => 1], &BRIEF),
            Code::DeadlineExceeded,
            &["did not end in the time allowed", "`Forever` waits (Forever)"],
        );
        assert_eq!(session.run::<i32>(x + 1, feed![x => 1])?, 2);
    }
    Ok(())
}

/// A watch's finding is reported though something else would wait for ever.
#[test]
fn watched_runs_end_though_something_waits() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let (early, late) = (call("Later", x), x + 1);
    let stuck = call("Forever", x);
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        let run = |watch| {
            let options = RunOptions { watch, ..RunOptions::default() };
            session.run_with::<(i32, i32, i32)>((early, late, stuck), feed![x => 1], &options)
        };
        fails(run(vec![Watch::on(late)]), Code::InvalidArgument, &["a watch stopped the run", "i32 2"]);
        fails(run(vec![Watch::on(early)]), Code::InvalidArgument, &["a watch stopped the run", "`Later:0`"]);
        assert_eq!(session.run::<i32>(early + late, feed![x => 1])?, 3);
    }
    Ok(())
}

#[test]
fn endless_loops_time_out() -> Result<()> {
    let g = graph();
    let i: Output = g.while_loop(0).run(|i| less(i, 10), |i| i - i)?;
    let j: Output = g.while_loop(0).run(|_| g.constant(true), |j| j)?;
    for threads in [1, 2] {
        for endless in [i, j] {
            let session = session(&g, threads)?;
            let name = endless.op().name().replace("/Exit", "/while_context");
            let says = ["time allowed", "the run was in iteration ", &format!(" of loop `{name}`")];
            fails(session.run_with::<i32>(endless, (), &BRIEF), Code::DeadlineExceeded, &says);
        }
    }
    Ok(())
}

/// The error of a loop within a loop names the iterations of both.
#[test]
fn endless_loops_say_where_they_are() -> Result<()> {
    let g = graph();
    let inside = |i| g.while_loop(i).name("inner").run(|j| less(j, i + 1), |j| j - j + i);
    let outer: Output = g.while_loop(0).name("outer").run(
        |i| less(i, 10),
        |i| {
            let j: Output = inside(i)?;
            Ok::<_, millstream_tensor::Error>(j + 1)
        },
    )?;
    let compiled = "iteration 0 of loop `outer/while_context` (which contains `outer/inner/while_context`)";
    let by_tokens = " of loop `outer/inner/while_context`, in iteration 0 of loop `outer/while_context`";
    for (tier, says) in [(Tier::Compiled, compiled), (Tier::Dataflow, by_tokens)] {
        let options = SessionOptions { threads: Some(2), tier, ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        fails(session.run_with::<i32>(outer, (), &BRIEF), Code::DeadlineExceeded, &[says]);
    }
    Ok(())
}

/// Whatever ends a run early, its error names a node that waits.
#[test]
fn interrupted_runs_name_what_waits() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let stuck = call("Forever", x);
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        let since = std::time::Instant::now();
        let poll = Poll::new(move || match since.elapsed() < Duration::from_millis(100) {
            true => Ok(()),
            false => Err(millstream_tensor::Error::new(Code::Unknown, "a key was pressed")),
        });
        let options = RunOptions { poll: Some(poll), ..RunOptions::default() };
        let says = ["a key was pressed", "`Forever` waits (Forever)"];
        fails(session.run_with::<i32>(stuck, feed![x => 1], &options), Code::Unknown, &says);
    }
    Ok(())
}

#[test]
fn close_ends_what_runs_and_what_waits() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let stuck = call("Forever", x);
    let endless: Output = g.while_loop(0).run(|i| less(i, 10), |i| i - i)?;
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        std::thread::scope(|s| {
            let before = STARTED.load(Acquire);
            let waiting = s.spawn(|| session.run::<i32>(stuck, feed![x => 1]));
            let running = s.spawn(|| session.run::<i32>(endless, ()));
            while STARTED.load(Acquire) == before {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(20));
            session.close();
            for run in [waiting, running] {
                fails(run.join().expect("no panic"), Code::Cancelled, &["the session was closed"]);
            }
        });
        fails(session.run::<i32>(stuck, feed![x => 1]), Code::Cancelled, &["the session was closed"]);
    }
    Ok(())
}

#[test]
fn a_completion_dropped_is_an_error() -> Result<()> {
    let g = graph();
    let y = g.op("GivesUp").input(g.constant(1)).name("lazy").output();
    fails(session(&g, 2)?.run::<i32>(y, ()), Code::Internal, &["`lazy` (GivesUp)", "gave its completion up"]);
    Ok(())
}

#[test]
fn a_panic_names_its_node_and_the_session_lives() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let y = g.op("Panics").input(x).name("shaky").output();
    for (threads, hand_out_all) in [(1, false), (2, false), (4, true)] {
        let options = SessionOptions { threads: Some(threads), hand_out_all, ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        for _ in 0..3 {
            fails(
                session.run::<i32>(y, feed![x => 0]),
                Code::Internal,
                &["`shaky` (Panics)", "panicked: zero is not handled"],
            );
            assert_eq!(session.run::<i32>(y, feed![x => 5])?, 5);
        }
    }
    Ok(())
}

#[test]
fn panics_outside_of_kernels_fail_the_run_and_the_session_lives() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let error = g.op("Shapeless").input(x).name("odd").try_finish().map(|op| op.name()).unwrap_err();
    fails::<()>(Err(error), Code::Internal, &["`odd` (Shapeless)", "the shape rule panicked: no shape"]);
    let calls = ["EndsBadly", "Unprepared", "BadScalar"].map(|op| call(op, x));
    let good = call("Later", x);
    for (threads, hand_out_all) in [(1, false), (2, false), (4, true)] {
        let options = SessionOptions { threads: Some(threads), hand_out_all, ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        for (y, says) in calls.iter().zip(["panicked: no end", "panicked: cannot be prepared", "no scalar"]) {
            // Beside kernels that wait and that run.
            fails(session.run::<(i32, i32)>((*y, good), feed![x => 1]), Code::Internal, &[says]);
            assert_eq!(session.run::<i32>(good, feed![x => 5])?, 5);
        }
    }
    Ok(())
}

/// The error of one task ends the waits of others.
#[test]
fn an_error_wakes_those_that_wait() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let out = call("Forever", x) + call("Panics", call("Later", x));
    for threads in [1, 4] {
        let options =
            SessionOptions { threads: Some(threads), hand_out_all: threads > 1, ..SessionOptions::default() };
        let session = Session::with_options(&g, options)?;
        fails(session.run::<i32>(out, feed![x => 0]), Code::Internal, &["(Panics)"]);
    }
    Ok(())
}

#[test]
fn a_callable_is_called_from_several_threads() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let y = call("Later", x) * 2;
    let session = session(&g, 2)?;
    let callable: Callable = session.make_callable(y, [x])?;
    drop(session);
    std::thread::scope(|s| {
        for w in 0..8 {
            let callable = &callable;
            s.spawn(move || {
                for k in 0..20 {
                    let got = callable.call_as::<i32>(&[Tensor::scalar(w * 20 + k)]).expect("runs");
                    assert_eq!(got, (w * 20 + k) * 2);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn parts_of_a_run_wait_too() -> Result<()> {
    let g = graph();
    let [x, y] = ["x", "y"].map(|name| g.placeholder_of(name, DType::I32, shape![]));
    let first = call("Later", x);
    let second = first + call("Later", y);
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        let run = session.partial_run_setup((first, second), [x, y])?;
        assert_eq!(session.partial_run::<i32>(&run, first, feed![x => 1])?, 1);
        assert_eq!(session.partial_run::<i32>(&run, second, feed![y => 2])?, 3);
    }
    Ok(())
}

fn section<'g>(mutex: Output<'g>, x: Output<'g>) -> Output<'g> {
    let g = x.graph();
    let lock = g.op("MutexLock").input(mutex).control(x.op()).output();
    let alone = g.op("Alone").input(x).control(lock.op()).output();
    let left = g.op("ConsumeMutexLock").input(lock).control(alone.op()).finish();
    g.op("Identity").input(alone).control(left).output()
}

/// Of the sections of a mutex, one is inside at a time: in one run, in several, and in a loop.
#[test]
fn sections_take_turns() -> Result<()> {
    let g = graph();
    let mutex = g.op("MutexV2").output();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let sum = (section(mutex, x) + section(mutex, x)) + (section(mutex, x) + section(mutex, x));
    let (_, in_loop): (Output, Output) = g
        .while_loop((0, x))
        .run(|(i, _)| less(i, 3), |(i, y)| (i + 1, section(mutex, y) + section(mutex, x)))?;
    for threads in [1, 2] {
        let session = session(&g, threads)?;
        assert_eq!(session.run::<(i32, i32)>((sum, in_loop), feed![x => 1])?, (4, 4));
        std::thread::scope(|scope| {
            let runs = [(); 3].map(|()| scope.spawn(|| session.run::<i32>(sum, feed![x => 2])));
            runs.into_iter().try_for_each(|run| {
                assert_eq!(run.join().expect("no panic")?, 8);
                Ok::<(), millstream_tensor::Error>(())
            })
        })?;
    }
    // Without the mutex they meet, if not in the first run on a busy machine.
    let two = call("Alone", x) + call("Alone", x);
    let session = session(&g, 1)?;
    let met = (0..50).find_map(|_| session.run::<i32>(two, feed![x => 1]).err());
    fails(met.map_or(Ok(()), Err), Code::InvalidArgument, &["not alone"]);
    Ok(())
}

/// A run that fails inside a section leaves the mutex free, also for those that wait for it.
#[test]
fn a_section_that_fails_is_over() -> Result<()> {
    let g = graph();
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let mutex = g.op("MutexV2").output();
    let lock = g.op("MutexLock").input(mutex).output();
    let inside = g.op("Panics").input(g.op("Later").input(x).control(lock.op()).output()).output();
    let left = g.op("ConsumeMutexLock").input(lock).control(inside.op()).finish();
    let session = session(&g, 2)?;
    std::thread::scope(|scope| {
        let run = |value: i32| {
            scope.spawn({
                let session = &session;
                move || session.run::<()>(left, feed![x => value])
            })
        };
        let runs = [0, 1, 0, 1].map(|value| (value, run(value)));
        for (value, run) in runs {
            assert_eq!(run.join().expect("no panic").is_ok(), value == 1);
        }
    });
    Ok(())
}

/// What comes to a run that fails before it can use it goes back: elements of staging areas and of queues,
/// and the sum of an accumulator.
#[test]
fn what_comes_to_a_run_that_fails_goes_back() -> Result<()> {
    let g = graph();
    let staged = |op: &'static str, name: &str| {
        g.op(op).attr("dtypes", Attr::List(vec![DType::F32.into()])).attr("shared_name", name)
    };
    let (value, key) = (g.constant(7.0f32), g.constant(3i64));
    let first = || g.constant(vec![0]);
    let put_mapped = |name| staged("MapStage", name).input(key).input(first()).inputs([value]).finish();
    let queue = g
        .op("FIFOQueueV2")
        .attr("component_types", Attr::List(vec![DType::F32.into()]))
        .attr("shared_name", "queue")
        .output();
    let sum = g.op("ConditionalAccumulator").attr("dtype", DType::F32).attr("shape", shape![]);
    let sum = sum.attr("shared_name", "sum").output();
    // What puts a value there, what takes it, and what counts those that are there.
    let take_sum = g.op("AccumulatorTakeGradient").input(sum).input(g.constant(1)).attr("dtype", DType::F32);
    let dequeue = g.op("QueueDequeueV2").input(queue);
    let cases = [
        (
            staged("Stage", "line").inputs([value]).finish(),
            staged("Unstage", "line").output(),
            staged("StageSize", "line").output(),
        ),
        (
            put_mapped("keyed"),
            staged("MapUnstage", "keyed").input(key).input(first()).output(),
            staged("MapSize", "keyed").output(),
        ),
        (
            put_mapped("map"),
            staged("MapUnstageNoKey", "map").input(first()).finish().output(1),
            staged("MapSize", "map").output(),
        ),
        (
            g.op("QueueEnqueueV2").input(queue).inputs([value]).finish(),
            dequeue.attr("component_types", Attr::List(vec![DType::F32.into()])).output(),
            g.op("QueueSizeV2").input(queue).output(),
        ),
        (
            g.op("AccumulatorApplyGradient").input(sum).input(g.constant(0i64)).input(value).finish(),
            take_sum.output(),
            g.op("AccumulatorNumAccumulated").input(sum).output(),
        ),
    ];
    let soon = RunOptions { timeout: Some(Duration::from_secs(20)), ..RunOptions::default() };
    // It begins when what waits has begun to.
    let fails_later = call("FailsAfterHook", call("Later", g.constant(0)));
    let manager = ResourceManager::new();
    let options =
        || SessionOptions { resources: Some(manager.clone()), threads: Some(1), ..SessionOptions::default() };
    for (put, get, size) in cases {
        // The run's only thread is in the kernel while the value comes, and the kernel fails.
        let other = Session::with_options(&g, options())?;
        let (put, size) = (Target::Operation(put.id()), Target::Value(size.port()));
        *HOOK.lock() = Some(Box::new(move || {
            other.run::<()>(put, ()).expect("there is room");
            assert_eq!(other.run::<i32>(size, ()).expect("counts"), 0, "it is taken");
        }));
        let session = Session::with_options(&g, options())?;
        fails(
            session.run::<(Tensor, Tensor)>((get, fails_later), ()),
            Code::InvalidArgument,
            &["the hook is done"],
        );
        assert_eq!(session.run_with::<f32>(get, (), &soon)?.0, 7.0);
    }
    Ok(())
}

/// The handle of an iterator, and the operation that begins its pass over these elements.
fn iterator<'g>(g: &'g Graph, elements: Vec<i32>) -> (Output<'g>, Op<'g>) {
    let [types, shapes] = [Attr::from(DType::I32), Attr::from(shape![])].map(|attr| Attr::List(vec![attr]));
    let iterator = g.op("IteratorV2").attr("shared_name", "elements").attr("container", "");
    let iterator = iterator.attr("output_types", types).attr("output_shapes", shapes.clone()).output();
    let slices = g.op("TensorSliceDataset").inputs([g.constant(elements)]).attr("output_shapes", shapes);
    let begin = g.op("MakeIterator").input(slices.output()).input(iterator).finish();
    (iterator, begin)
}

fn next_of(iterator: Output<'_>) -> Output<'_> {
    let [types, shapes] = [Attr::from(DType::I32), Attr::from(shape![])].map(|attr| Attr::List(vec![attr]));
    let next = iterator.graph().op("IteratorGetNext").input(iterator);
    next.attr("output_types", types).attr("output_shapes", shapes).output()
}

/// A dequeue, after `x`, of a queue that nothing is put into.
fn waits_after(x: Output<'_>) -> Output<'_> {
    let types = || Attr::List(vec![DType::I32.into()]);
    let queue = x.graph().op("FIFOQueueV2").attr("component_types", types()).output();
    let dequeue = x.graph().op("QueueDequeueV2").input(queue).control(x.op());
    dequeue.attr("component_types", types()).output()
}

/// Waits until a run waits in a dequeue.
fn until_one_waits(session: &Session) {
    while session.queues().iter().all(|q| q.dequeuing.is_empty()) {
        std::thread::yield_now();
    }
}

/// Elements that a run took from an iterator return to it, in their order, if the run is called off before
/// anything comes of them.
#[test]
fn elements_of_runs_that_are_called_off_return_to_their_iterator() -> Result<()> {
    let g = graph();
    let (elements, begin) = iterator(&g, vec![1, 2, 3, 0, 4, 5, 6, 7, -1, 8, 9]);
    let next = next_of(elements);
    let two = next + next_of(elements);
    let (_, sum): (Output, Output) =
        g.while_loop((0, 0)).run(|(i, _)| less(i, 3), |(i, sum)| (i + 1, sum + next_of(elements)))?;
    let [next_waits, two_wait, sum_waits] = [next, two, sum].map(|x| call("Forever", x));
    let (next_fails, next_dequeues) = (call("Panics", next), waits_after(next));
    let handle = g.op("VarHandleOp").attr("dtype", DType::I32).attr("shape", shape![]).output();
    let init = g.op("AssignVariableOp").input(handle).input(g.constant(0)).finish();
    let counted = g.op("AssignAddVariableOp").input(handle).input(next).finish();
    let counted_waits = g.op("Forever").input(g.constant(0)).control(counted).output();
    let queue = g.op("FIFOQueueV2").attr("component_types", Attr::List(vec![DType::I32.into()])).output();
    let queued = g.op("QueueEnqueueV2").input(queue).inputs([next]).finish();
    let queued_waits = g.op("Forever").input(g.constant(0)).control(queued).output();
    let waited_waits = call("Forever", call("Later", next));
    for (tier, threads) in [(Tier::Dataflow, 1), (Tier::Dataflow, 2), (Tier::Reference, 1)] {
        let manager = ResourceManager::new();
        let options = || SessionOptions {
            threads: Some(threads),
            tier,
            resources: Some(manager.clone()),
            ..SessionOptions::default()
        };
        let [session, other] = [Session::with_options(&g, options())?, Session::with_options(&g, options())?];
        let late = |x: Output| fails(session.run_with::<i32>(x, (), &BRIEF), Code::DeadlineExceeded, &[]);
        // Time enough for what comes before the wait, on a machine that is busy.
        let enough = RunOptions { timeout: Some(Duration::from_millis(300)), ..RunOptions::default() };
        let late_after =
            |x: Output| fails(session.run_with::<i32>(x, (), &enough), Code::DeadlineExceeded, &[]);
        let gives = |value: i32| assert_eq!(session.run::<i32>(next, ()).expect("an element"), value);
        session.run::<((), ())>((begin, init), ())?;
        [next_waits, two_wait, sum_waits].into_iter().for_each(late);
        gives(1);
        late(two_wait);
        assert_eq!(session.run::<i32>(two, ())?, 2 + 3);
        // A run that fails by itself has used its element, as has one that has changed something with it.
        fails(session.run::<i32>(next_fails, ()), Code::Internal, &["zero is not handled"]);
        late_after(counted_waits);
        gives(5);
        late_after(queued_waits);
        gives(7);
        late_after(waited_waits);
        // The caller interrupts the run, or the session is closed.
        let before = STARTED.load(Acquire);
        let stop = Poll::new(move || match STARTED.load(Acquire) == before {
            true => Ok(()),
            false => Err(millstream_tensor::Error::new(Code::Unknown, "a key was pressed")),
        });
        let interrupted = RunOptions { poll: Some(stop), ..RunOptions::default() };
        fails(session.run_with::<i32>(next_waits, (), &interrupted), Code::Unknown, &["a key was pressed"]);
        std::thread::scope(|s| {
            let waiting = s.spawn(|| other.run::<i32>(next_dequeues, ()));
            until_one_waits(&other);
            let meanwhile = session.run::<i32>(next, ());
            other.close();
            fails(waiting.join().expect("no panic"), Code::Cancelled, &["the session was closed"]);
            assert_eq!(meanwhile.expect("an element"), 9);
        });
        gives(8);
        fails(session.run::<i32>(next, ()), Code::OutOfRange, &["End of sequence"]);
    }
    Ok(())
}

/// What a part of a run has given its caller does not return, nor does an element of a pass that is over.
#[test]
fn elements_that_were_given_do_not_return() -> Result<()> {
    let g = graph();
    let (elements, begin) = iterator(&g, vec![1, 2, 3]);
    let next = next_of(elements);
    let x = g.placeholder_of("x", DType::I32, shape![]);
    let (waits, dequeues) = (call("Forever", next + x), waits_after(next));
    let options = SessionOptions { timeout: Some(Duration::from_millis(500)), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    session.run::<()>(begin, ())?;
    let whole = session.partial_run_setup((next, waits), [x])?;
    fails(session.partial_run::<i32>(&whole, waits, feed![x => 0]), Code::DeadlineExceeded, &[]);
    let run = session.partial_run_setup((next, waits), [x])?;
    assert_eq!(session.partial_run::<i32>(&run, next, ())?, 1);
    fails(session.partial_run::<i32>(&run, waits, feed![x => 0]), Code::DeadlineExceeded, &[]);
    assert_eq!(session.run::<i32>(next, ())?, 2);
    std::thread::scope(|s| {
        let waiting = s.spawn(|| session.run::<i32>(dequeues, ()));
        until_one_waits(&session);
        session.run::<()>(begin, ())?;
        fails(waiting.join().expect("no panic"), Code::DeadlineExceeded, &[]);
        assert_eq!(session.run::<i32>(next, ())?, 1);
        assert_eq!(session.run::<i32>(next, ())?, 2);
        Ok(())
    })
}
