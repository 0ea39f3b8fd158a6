"""Reads an event file that Millstream wrote with TensorBoard's own reader.

    python check_events.py target/tmp/events

Run it after the tests of crates/millstream, with the package `tensorboard` installed.

The test `event_files` of crates/millstream writes the file and documents its contents.
"""

import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.compat.proto import config_pb2


def main(folder):
    everything = {k: 0 for k in event_accumulator.DEFAULT_SIZE_GUIDANCE}
    events = event_accumulator.EventAccumulator(folder, size_guidance=everything, purge_orphaned_data=False)
    events.Reload()
    tags = events.Tags()
    print("file version", events.file_version)
    print("tags", {k: v for k, v in tags.items() if v})
    sums = events.Scalars("total")
    assert [(e.step, e.value) for e in sums] == [(i, float(i - 1)) for i in range(1, 21)], sums
    assert [(e.step, e.value) for e in events.Scalars("validation/loss")] == [(20, 0.25)]
    histograms = events.Histograms("values")
    assert len(histograms) == 20
    last = histograms[-1].histogram_value
    assert (last.min, last.max, last.num, last.sum) == (-1.0, 20.0, 3.0, 19.0), last
    assert len(last.bucket) == len(last.bucket_limit) and sum(last.bucket) == 3
    graph = events.Graph()
    nodes = {n.name: n for n in graph.node}
    assert nodes["layer/Tanh"].op == "Tanh" and len(nodes) == len(graph.node)
    assert [d.size for d in nodes["layer/Tanh"].attr["_output_shapes"].list.shape[0].dim] == [3]
    meta = events.MetaGraph()
    assert "while_context" in meta.collection_def and "summaries" in meta.collection_def
    run = events.RunMetadata("step 20")
    assert isinstance(run, config_pb2.RunMetadata)
    ran = [n.node_name for d in run.step_stats.dev_stats for n in d.node_stats]
    assert ran.count("while/mul") == 4, ran
    print("%d nodes in the graph, %d histograms, %d executions in the trace: as they should be" % (len(nodes), len(histograms), len(ran)))


main(sys.argv[1])
