//! The programs of `crates/millstream/examples/probes.rs` in every tier, with one and with many iterations
//! at a time, and after a GraphDef round trip.

#[path = "../../millstream/examples/probes.rs"]
#[expect(dead_code, reason = "its table is enough")]
mod example;

use millstream::prelude::*;
use millstream_runtime::FeedList;
use millstream_testkit::graphs::{round_trip, same_target};
use millstream_testkit::tiers::{DATAFLOW, REFERENCE, Setting};
use std::time::Duration;

const SETTINGS: [Setting; 4] = [
    DATAFLOW,
    REFERENCE,
    Setting { threads: 1, parallel_iterations: Some(1), ..DATAFLOW },
    Setting { threads: 4, parallel_iterations: Some(32), hand_out_all: true, ..DATAFLOW },
];

#[test]
fn every_row_is_right_everywhere() -> Result<()> {
    for probe in example::PROBES {
        let g = Graph::new();
        let example::Fed { answer, feeds } = (probe.build)(&g)?;
        let answer = answer.reduce_sum(());
        g.check()?;
        let back = round_trip(&g).unwrap();
        for graph in [&g, &back] {
            for setting in SETTINGS {
                let session = setting.session(graph, Some(Duration::from_secs(30)))?;
                let feeds = feeds.iter().try_fold(FeedList::new(), |list, (x, value)| {
                    Ok::<_, Error>(list.and(graph.output(&x.name())?, value.clone()))
                })?;
                let target = same_target(&g, graph, millstream_runtime::Target::Value(answer.port()))?;
                let got: Vec<f32> = session.run(vec![target], feeds)?;
                let (got, right) = (f64::from(got[0]), probe.right);
                assert!(
                    (got - right).abs() < 2e-6 * right.abs(),
                    "{} ({setting}): {got}, not {right}",
                    probe.name
                );
            }
        }
    }
    Ok(())
}
