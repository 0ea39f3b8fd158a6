//! Queues in use: by structure, by name, from a list; runners that sessions start, also those of imported
//! graphs.

use millstream::prelude::*;
use millstream::{Code, Coordinator, HostFunctions, Queue, Queues, RunQueues, SessionOptions, interop};
use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

#[test]
fn components_go_in_by_structure_and_come_out_by_name() -> Result<()> {
    let g = Graph::new();
    let q = Queue::fifo(&g, 10, [DType::I32, DType::F32])
        .shapes([shape![], shape![2]])
        .names(["length", "values"])
        .build()?;
    assert_eq!(q.name(), "fifo_queue");
    let put = q.enqueue((1, g.constant([0.5f32, 1.5])))?;
    assert_eq!(put.name(), "fifo_queue_enqueue");
    let many = q.enqueue_many((g.constant([2, 3]), g.constant([[1f32, 2.0], [3.0, 4.0]])))?;
    let one = q.dequeue()?;
    let batch = q.dequeue_many(2)?;
    assert_eq!(batch[1].shape(), shape![2, 2]);
    assert_eq!(q.dequeue_up_to(2)?[1].shape(), shape![_, 2]);
    assert_eq!(batch.named("values")?.name(), batch[1].name());
    let missing = batch.named("x").unwrap_err().to_string();
    assert!(missing.contains(r#"no component `x`, but ["length", "values"]"#), "{missing}");
    let session = Session::new(&g)?;
    session.run::<()>(put, feed![])?;
    session.run::<()>(many, feed![])?;
    let [length, values] = one.all()?;
    let (length, values): (i32, Vec<f32>) = session.run((length, values), feed![])?;
    assert_eq!((length, values), (1, vec![0.5, 1.5]));
    let (lengths, values): (Vec<i32>, Tensor) = session.run((batch[0], batch[1]), feed![])?;
    assert_eq!((lengths, values.to_string()), (vec![2, 3], "f32[2,2] [[1 2] [3 4]]".into()));
    Ok(())
}

/// The values of a map are enqueued by name, in any order.
#[test]
fn components_go_in_by_name() -> Result<()> {
    let g = Graph::new();
    let q = Queue::fifo(&g, 10, [DType::I32, DType::I32]).names(["to", "from"]).build()?;
    let map = |names: &[&str]| -> BTreeMap<String, Output<'_>> {
        names.iter().map(|name| ((*name).to_owned(), g.constant(name.len() as i32))).collect()
    };
    let put = q.enqueue(map(&["from", "to"]))?;
    let [to, from] = q.dequeue()?.all()?;
    for wrong in [map(&["from"]), map(&["from", "into"]), map(&["from", "to", "too"])] {
        let error = q.enqueue(wrong).unwrap_err().to_string();
        assert!(
            error.contains(r#"the components of `fifo_queue` are ["to", "from"], not ["from""#),
            "{error}"
        );
    }
    let nested: BTreeMap<String, _> = [("from".to_owned(), vec![g.constant(1); 2])].into();
    assert!(q.enqueue(nested).is_err(), "a component is one value");
    let nameless = Queue::fifo(&g, 10, [DType::I32]).build()?;
    let error = nameless.enqueue(map(&["to"])).unwrap_err().to_string();
    assert!(error.contains("have no names, so a map cannot be enqueued"), "{error}");
    let session = Session::new(&g)?;
    session.run::<()>(put, feed![])?;
    assert_eq!(session.run::<(i32, i32)>((to, from), feed![])?, (2, 4));
    Ok(())
}

#[test]
fn a_queue_is_chosen_when_the_program_runs() -> Result<()> {
    let g = Graph::new();
    let queue = |value: i32| -> Result<_> {
        let q = Queue::fifo(&g, 2, [DType::I32]).shapes([shape![]]).build()?;
        Ok((q.enqueue(value)?, q))
    };
    let ((put_a, a), (put_b, b)) = (queue(10)?, queue(20)?);
    let which = g.placeholder::<i32>("which", shape![]);
    let [chosen] = Queue::from_list(which, &[a, b])?.dequeue()?.all()?;
    let session = Session::new(&g)?;
    session.run::<()>((put_a, put_b), feed![])?;
    assert_eq!(session.run::<i32>(chosen, feed![which => 1])?, 20);
    assert_eq!(session.run::<i32>(chosen, feed![which => 0])?, 10);
    Ok(())
}

fn drain(make: fn(&Graph) -> Result<(Op<'_>, Output<'_>)>) -> Result<Vec<i32>> {
    let g = Graph::new();
    let (put, get) = make(&g)?;
    let session = Session::new(&g)?;
    session.run::<()>(put, feed![])?;
    session.run(get, feed![])
}

fn shuffled(g: &Graph) -> Result<(Op<'_>, Output<'_>)> {
    let q = Queue::shuffle(g, 100, 0, [DType::I32]).shapes([shape![]]).seed(7).build()?;
    Ok((q.enqueue_many(g.constant([1, 2, 3, 4, 5, 6, 7, 8]))?, q.dequeue_many(8)?[0]))
}

#[test]
fn shuffles_follow_their_seed_and_priorities_their_order() -> Result<()> {
    let first = drain(shuffled)?;
    assert_ne!(first, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(first, drain(shuffled)?);
    let sorted = drain(|g| {
        let q = Queue::priority(g, 100, [DType::I32]).shapes([shape![]]).build()?;
        Ok((q.enqueue_many((g.constant([3i64, 1, 2]), g.constant([30, 10, 20])))?, q.dequeue_many(3)?[1]))
    })?;
    assert_eq!(sorted, [10, 20, 30]);
    Ok(())
}

#[test]
fn runners_survive_a_meta_graph() -> Result<()> {
    let g = Graph::new();
    let q = Queue::fifo(&g, 3, [DType::I32]).shapes([shape![]]).build()?;
    g.add_queue_runner(&q.runner([q.enqueue(5)?]));
    let batch = q.dequeue_many(4)?[0].name();
    let meta = interop::export_meta_graph(&g)?;
    let again = Graph::new();
    interop::import_meta_graph(&again, &meta, &interop::ImportOptions::default())?;
    assert_eq!(again.queue_runners().len(), 1);
    let session = Session::new(&again)?;
    let batch = again.output(&batch)?;
    let got: Option<Vec<i32>> = session.with_queue_runners(|_| session.run(batch, feed![]))?;
    assert_eq!(got, Some(vec![5, 5, 5, 5]));
    Ok(())
}

/// A runner whose operation fails stops all, and the caller gets its error.
#[test]
fn the_error_of_a_runner_comes_back() -> Result<()> {
    let g = Graph::new();
    let q = Queue::fifo(&g, 3, [DType::I32]).shapes([shape![]]).build()?;
    let bad = g.gather(g.constant([1, 2]), 7, 0);
    g.add_queue_runner(&q.runner([q.enqueue(bad)?]));
    let [one] = q.dequeue()?.all()?;
    let session = Session::new(&g)?;
    let error = session.with_queue_runners(|_| session.run::<i32>(one, feed![])).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains("7"), "{error}");
    Ok(())
}

#[test]
fn mistakes_are_named_where_they_are_made() -> Result<()> {
    let g = Graph::new();
    let says =
        |error: Error, part: &str| assert!(error.to_string().contains(part), "no `{part}` in\n{error}");
    let q = Queue::fifo(&g, 3, [DType::I32]).build()?;
    says(q.dequeue_many(2).unwrap_err(), "require the components to have specified shapes");
    says(q.enqueue((1, 2)).unwrap_err(), "has 1 components, not 2");
    says(q.enqueue(g.constant(1.5f32)).unwrap_err(), "component 0 of `fifo_queue` is i32, not f32");
    says(q.enqueue_many(1).unwrap_err(), "cannot be a scalar");
    let q = Queue::fifo(&g, 3, [DType::I32]).shapes([shape![_]]).build()?;
    says(q.dequeue_many(2).unwrap_err(), "they are known in part");
    says(q.enqueue(1).unwrap_err(), "has shape [?], not []");
    let none: [PartialShape; 0] = [];
    says(Queue::padding(&g, 3, [DType::I32]).build().unwrap_err(), "needs the shapes of its components");
    says(
        Queue::fifo(&g, 3, [DType::I32]).shapes(none).build().unwrap_err(),
        "1 components was given 0 shapes",
    );
    says(Queue::fifo(&g, 3, []).build().unwrap_err(), "at least one component");
    says(
        Queue::shuffle(&g, 3, 3, [DType::I32]).build().unwrap_err(),
        "cannot hold back min_after_dequeue = 3",
    );
    says(Queue::from_list(0, &[]).unwrap_err(), "the list of queues is empty");
    Ok(())
}

/// Starting the runners again starts none.
#[test]
fn runners_start_once() -> Result<()> {
    let g = Graph::new();
    let q = Queue::fifo(&g, 64, [DType::I32]).shapes([shape![]]).build()?;
    let seen: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
    let who = seen.clone();
    let none: [Output<'_>; 0] = [];
    let x = g.host_function(none, [DType::I32], move |_| {
        who.lock().unwrap().insert(std::thread::current().id());
        std::thread::sleep(Duration::from_millis(2));
        Ok(vec![Tensor::scalar(1i32)])
    })?;
    g.add_queue_runner(&q.runner([q.enqueue(x[0].set_shape(shape![]))?]));
    let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    let session = Session::with_options(&g, options)?;
    let coordinator = Coordinator::with_clean_stops([Code::OutOfRange, Code::Cancelled]);
    session.start_queue_runners(&coordinator)?;
    session.start_queue_runners(&coordinator)?;
    std::thread::sleep(Duration::from_millis(100));
    coordinator.request_stop();
    coordinator.join()?;
    assert_eq!(seen.lock().unwrap().len(), 1, "one runner of one operation is one thread");
    Ok(())
}

/// Threads of runners do not outlive a panic of the work that they serve.
#[test]
fn a_panic_stops_the_runners() -> Result<()> {
    let g = Graph::new();
    let q = Queue::fifo(&g, 4, [DType::F32]).shapes([shape![]]).build()?;
    g.add_queue_runner(&q.runner([q.enqueue(g.constant(1f32))?]));
    let [one] = q.dequeue()?.all()?;
    let session = Session::new(&g)?;
    let kept = Mutex::new(None);
    let work = |coordinator: &Coordinator| -> Result<()> {
        *kept.lock().unwrap() = Some(coordinator.clone());
        session.run::<f32>(one, feed![])?;
        panic!("the work has a fault");
    };
    let panic = catch_unwind(AssertUnwindSafe(|| session.with_queue_runners(work))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the work has a fault"));
    let coordinator = kept.lock().unwrap().take().unwrap();
    assert!(coordinator.should_stop() && coordinator.running().is_empty(), "{coordinator:?}");
    assert!(session.queues()[0].closed.is_some());
    Ok(())
}

/// A batch that the memory limit refuses, or whose items have different ranks, stays in the queue, in its
/// order, whether the items were there or came later.
#[test]
fn batches_that_cannot_be_made_stay_in_the_queue() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder_of("x", DType::F32, PartialShape::unknown());
    let fifo = Queue::fifo(&g, 10, [DType::F32]).shapes([shape![262144]]);
    let padding = Queue::padding(&g, 10, [DType::F32]).shapes([PartialShape::unknown()]);
    for (q, sizes) in [(fifo.build()?, [1 << 18; 3]), (padding.build()?, [1, 2, 3])] {
        let [one] = q.dequeue()?.all()?;
        let [many] = q.dequeue_many(3)?.all()?;
        let put = q.enqueue(x)?;
        // A batch has 3 MiB.
        let limit = SessionOptions { memory_limit: Some(2 << 20), ..SessionOptions::default() };
        let session = Session::with_options(&g, limit)?;
        let item = |i: usize| {
            let n: usize = sizes[i];
            let shape = if n < 9 { vec![1; n] } else { vec![n] };
            Tensor::fill(Shape::new(shape), &Tensor::scalar(i as f32))
        };
        for late in [false, true] {
            let fill = || (0..3).try_for_each(|i| session.run::<()>(put, feed![x => item(i)?]));
            let error = match late {
                false => {
                    fill()?;
                    session.run::<Tensor>(many, feed![]).unwrap_err()
                }
                true => std::thread::scope(|s| {
                    let waits = s.spawn(|| session.run::<Tensor>(many, feed![]));
                    while session.queues().iter().all(|q| q.dequeuing.is_empty()) {
                        std::thread::yield_now();
                    }
                    fill()?;
                    waits
                        .join()
                        .unwrap()
                        .map(drop)
                        .map_or_else(Ok, |_| Err(Error::invalid("a batch of those?")))
                })?,
            };
            let codes = [Code::ResourceExhausted, Code::InvalidArgument];
            assert!(codes.contains(&error.code()), "{error}");
            let report = session.queues().into_iter().find(|queue| queue.len > 0).unwrap();
            assert_eq!((report.len, report.n_in - report.n_out), (3, 3), "{report}");
            for i in 0..3 {
                let value: Tensor = session.run(one, feed![])?;
                assert_eq!(value.as_slice::<f32>()?[0], i as f32, "in their order");
            }
        }
    }
    Ok(())
}
