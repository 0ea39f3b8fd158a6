//! Loops built from the primitives, run by the machine.

use millstream::prelude::*;
use millstream::{Arg, RunOptions, SessionOptions};

/// A counter from 0 to a fed limit, built by hand.
fn counter(g: &Graph) -> (Output<'_>, Output<'_>) {
    let limit = g.placeholder_of("limit", DType::I32, shape![]);
    let zero = g.constant_tensor("zero", Tensor::scalar(0));
    let enter = |x: Output<'_>, constant: bool| {
        g.op("Enter").input(x).attr("frame_name", "loop").attr("is_constant", constant).output().port()
    };
    let (i, n) = (enter(zero, false), enter(limit, true));
    let (i, n) = (Output::new(g, i), Output::new(g, n));
    let merge = g.op("Merge").input(i).input(Arg::open()).finish();
    let less = g.op("Less").input(merge.output(0)).input(n).output();
    let cond = g.op("LoopCond").input(less).output();
    let switch = g.op("Switch").input(merge.output(0)).input(cond).finish();
    let body = g.op("Identity").input(switch.output(1)).output();
    let one = g.op("Const").attr("dtype", DType::I32).attr("value", Tensor::scalar(1)).control(body).output();
    let next = g.op("AddV2").input(body).input(one).output();
    let next = g.op("NextIteration").input(next).output();
    g.close_back_edge(merge, next).unwrap();
    (limit, g.op("Exit").input(switch.output(0)).output())
}

#[test]
fn counts() -> Result<()> {
    let g = Graph::new();
    let (limit, out) = counter(&g);
    for threads in [1, 2] {
        for parallel in [1, 2, 10] {
            let options = SessionOptions {
                threads: Some(threads),
                parallel_iterations: Some(parallel),
                ..SessionOptions::default()
            };
            let session = Session::with_options(&g, options)?;
            for n in [0, 1, 2, 1000] {
                let i: i32 = session.run(out, feed![limit => n])?;
                assert_eq!(i, n);
            }
        }
    }
    Ok(())
}

#[test]
fn traces_every_execution() -> Result<()> {
    let g = Graph::new();
    let (limit, out) = counter(&g);
    let session = Session::new(&g)?;
    let options = RunOptions { trace: true, ..RunOptions::default() };
    let (i, meta): (i32, _) = session.run_with(out, feed![limit => 3], &options)?;
    assert_eq!(i, 3);
    let trace = meta.trace.unwrap();
    let adds = trace.events.iter().filter(|e| e.op == "AddV2" && !e.dead).count();
    assert_eq!(adds, 3);

    // What trace viewers read: a row for each frame, an entry for each execution.
    let json: serde_json::Value = serde_json::from_str(&trace.to_chrome_json()).unwrap();
    let entries = json["traceEvents"].as_array().unwrap();
    let rows = entries.iter().filter(|e| e["ph"] == "M").map(|e| e["args"]["name"].as_str().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), ["root", "loop"]);
    let runs: Vec<_> = entries.iter().filter(|e| e["ph"] == "X").collect();
    assert_eq!(runs.len(), trace.events.len());
    let add = runs.iter().filter(|e| e["name"] == "AddV2" && e["cat"] == "run");
    assert_eq!(add.map(|e| e["args"]["iteration"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2]);
    Ok(())
}
