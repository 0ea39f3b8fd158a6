//! What sessions share through a resource manager, and what they do not.

use crate::common::{dequeue, fifo, graph, list, shared};
use millstream_runtime::{ResourceManager, Session, SessionOptions, feed};
use millstream_tensor::{Code, DType, Result, Tensor, shape};

fn on(manager: &ResourceManager) -> SessionOptions {
    SessionOptions { resources: Some(manager.clone()), threads: Some(1), ..SessionOptions::default() }
}

/// A queue with a shared name is one queue for sessions of different graphs.
#[test]
fn a_shared_name_is_shared() -> Result<()> {
    let manager = ResourceManager::new();
    let (writes, reads) = (graph(), graph());
    let q = shared(&writes, "FIFOQueueV2", 3, shape![], "mine");
    let put = writes.op("QueueEnqueueV2").input(q).inputs([writes.constant(7)]).finish();
    let get = dequeue(shared(&reads, "FIFOQueueV2", 3, shape![], "mine"));
    let writer = Session::with_options(&writes, on(&manager))?;
    let reader = Session::with_options(&reads, on(&manager))?;
    writer.run::<()>(put, ())?;
    assert_eq!(reader.run::<i32>(get, ())?, 7);
    let entries = manager.list();
    assert_eq!((entries.len(), &*entries[0].name, entries[0].kind), (1, "mine", "queue"));
    let report = &manager.queues()[0];
    assert_eq!((report.len, report.n_in, report.n_out), (0, 1, 1));
    // Another manager has another queue.
    let stranger = Session::with_options(&writes, on(&ResourceManager::new()))?;
    stranger.run::<()>(put, ())?;
    assert_eq!(stranger.queues()[0].len, 1);
    assert_eq!(manager.queues()[0].n_in, 1);
    manager.clear("");
    assert!(manager.list().is_empty());
    writer.run::<()>(put, ())?;
    assert_eq!(manager.queues()[0].n_in, 1, "a new one");
    Ok(())
}

/// Without a shared name a queue is the session's own, whatever the node's name.
#[test]
fn what_has_no_shared_name_is_private() -> Result<()> {
    let manager = ResourceManager::new();
    let g = graph();
    let q = fifo(&g, "FIFOQueueV2", 3, shape![]);
    let put = g.op("QueueEnqueueV2").input(q).inputs([g.constant(7)]).finish();
    let (one, other) = (Session::with_options(&g, on(&manager))?, Session::with_options(&g, on(&manager))?);
    one.run::<()>(put, ())?;
    one.run::<()>(put, ())?;
    other.run::<()>(put, ())?;
    assert_eq!((one.queues()[0].len, other.queues()[0].len), (2, 1));
    assert!(manager.list().is_empty());
    Ok(())
}

#[test]
fn one_name_for_two_different_queues() -> Result<()> {
    let g = graph();
    let (q, wider) =
        (shared(&g, "FIFOQueueV2", 3, shape![], "mine"), shared(&g, "FIFOQueueV2", 4, shape![], "mine"));
    let strings = g
        .op("FIFOQueueV2")
        .attr("capacity", 3)
        .attr("component_types", list([DType::Str]))
        .attr("shapes", list([shape![]]))
        .attr("shared_name", "mine")
        .output();
    let padding = shared(&g, "PaddingFIFOQueueV2", 3, shape![], "mine");
    let size = |q| g.op("QueueSizeV2").input(q).output();
    let session = Session::new(&g)?;
    assert_eq!(session.run::<i32>(size(q), feed![])?, 0);
    for (other, parts) in [
        (wider, ["has capacity 3", "requested capacity was 4"]),
        (strings, ["component types int32", "component types were string"]),
        (padding, ["Expected FIFOQueue", "found PaddingFIFOQueueV2"]),
    ] {
        let error = session.run::<i32>(size(other), feed![]).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        for part in parts.into_iter().chain(["'mine'", "another shared_name"]) {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
    Ok(())
}

/// Handles last from run to run, also those that were picked among others; a destroyed resource is made
/// again.
#[test]
fn handles_last_until_they_are_destroyed() -> Result<()> {
    let g = graph();
    let queues = ["a", "b"].map(|name| shared(&g, "FIFOQueueV2", 9, shape![], name));
    let picked = g.op("GatherV2").input(g.op("Pack").inputs(queues).output()).input(1).input(0).output();
    let put = g.op("QueueEnqueueV2").input(picked).inputs([g.constant(7)]).finish();
    let destroy = g.op("DestroyResourceOp").input(queues[1]).finish();
    let session = Session::with_options(&g, on(&ResourceManager::new()))?;
    let put = session.make_callable(put, [])?;
    let n_in = || session.queues().iter().map(|q| (q.name.clone(), q.n_in)).collect::<Vec<_>>();
    for n in 1..4 {
        put.call(&[])?;
        assert_eq!(n_in(), [("a".to_owned(), 0), ("b".to_owned(), n)]);
    }
    session.run::<()>(destroy, ())?;
    assert_eq!(n_in(), [("a".to_owned(), 0)]);
    for n in 1..3 {
        put.call(&[])?;
        assert_eq!(n_in(), [("a".to_owned(), 0), ("b".to_owned(), n)]);
    }
    Ok(())
}

/// A tensor is kept from run to run under a handle, by the session that made the handle.
#[test]
fn a_tensor_is_kept_under_a_handle() -> Result<()> {
    let g = graph();
    let keep = g.op("GetSessionHandle").input(g.constant([1.0f32, 2.0])).output();
    let session = Session::new(&g)?;
    let handle: Tensor = session.run(keep, ())?;
    let handle = handle.as_strs().map(|s| s[0].text().into_owned()).unwrap_or_default();
    assert_eq!(session.kept_tensor(&handle)?.as_slice::<f32>()?, [1.0, 2.0]);
    assert!(Session::new(&g)?.kept_tensor(&handle).is_err());
    session.forget_tensor(&handle)?;
    assert!(session.kept_tensor(&handle).is_err() && session.forget_tensor(&handle).is_err());
    Ok(())
}
