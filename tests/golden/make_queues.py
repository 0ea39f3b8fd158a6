"""Writes queues.json: the behaviour of TensorFlow 1.15's queues, step by step.

Run with TensorFlow 1.15: `python make_queues.py`. The test `queues_golden` of crates/millstream takes the
same steps. A scenario has these fields:

    kind       fifo, padding, shuffle or priority
    capacity, dtypes, shapes (null: not given; null in a shape: an unknown size), min_after_dequeue, seed,
    names, shared_name
    others     further queues with the same fields, if there are any
    steps      lists of a keyword and its arguments:
        enqueue VALUES, enqueue_many VALUES, dequeue, dequeue_many N, dequeue_up_to N, size, is_closed, close,
        close_cancel
        start NAME STEP   the step, in a thread of its own, which waits
        join NAME         the end of that thread
        timeout STEP      the step, cancelled after a moment
        on N STEP         the step with queue N, where 0 is the first and 1 the first of the others
        chosen N STEP     the step with the queue that `from_list` makes of all of them and a tensor N
    VALUES is a list, or an object if the components have names.
    ends       for each step: {"values": the result, by component or by name}, {"code": the status code of
               its error}, or {} for `start`
    chosen     dtypes, shapes and names of the queue that `from_list` makes, if it is used

Every step of a `start` has to wait.
"""

import json
import os
import threading
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = {}
MOMENT = 0.2


def queue(kind, capacity=3, dtypes=("int32",), shapes=((),), min_after_dequeue=0, seed=None, names=None, shared_name=None):
    return dict(kind=kind, capacity=capacity, dtypes=list(dtypes), shapes=shapes and [list(s) for s in shapes],
                min_after_dequeue=min_after_dequeue, seed=seed, names=names, shared_name=shared_name)


def scenario(name, kind, steps, others=(), **args):
    SCENARIOS[name] = dict(queue(kind, **args), steps=steps, others=list(others))


def make(s):
    args = dict(capacity=s["capacity"], dtypes=[tf.as_dtype(d) for d in s["dtypes"]], shapes=s["shapes"], names=s["names"],
                shared_name=s["shared_name"])
    if s["kind"] == "fifo":
        return tf.FIFOQueue(**args)
    if s["kind"] == "padding":
        return tf.PaddingFIFOQueue(**args)
    if s["kind"] == "shuffle":
        return tf.RandomShuffleQueue(min_after_dequeue=s["min_after_dequeue"], seed=s["seed"], **args)
    return tf.PriorityQueue(s["capacity"], types=args["dtypes"], shapes=args["shapes"], names=s["names"], shared_name=s["shared_name"])


def op_of(queues, step):
    word, rest = step[0], step[1:]
    if word == "on":
        return op_of([queues[rest[0]]], rest[1])
    if word == "chosen":
        return op_of([tf.QueueBase.from_list(tf.constant(rest[0]), queues)], rest[1])
    queue = queues[0]
    if word.startswith("enqueue"):
        def array(value, dtype):
            return np.array(value, dtype.as_numpy_dtype)
        if isinstance(rest[0], dict):
            dtypes = dict(zip(queue.names, queue.dtypes))
            return getattr(queue, word)({name: array(value, dtypes[name]) for name, value in rest[0].items()})
        return getattr(queue, word)([array(v, d) for v, d in zip(rest[0], queue.dtypes)])
    if word in ("dequeue_many", "dequeue_up_to"):
        return getattr(queue, word)(tf.constant(rest[0]))
    if word == "close_cancel":
        return queue.close(cancel_pending_enqueues=True)
    return getattr(queue, word)()


def plain(value):
    value = np.asarray(value).tolist()

    def text(v):
        return [text(x) for x in v] if isinstance(v, list) else v.decode() if isinstance(v, bytes) else v
    return text(value)


def play(s):
    with tf.Graph().as_default():
        queues = [make(s)] + [make(other) for other in s["others"]]
        built = []
        for step in s["steps"]:
            inner = step[2] if step[0] == "start" else step[1] if step[0] == "timeout" else step
            built.append(None if step[0] == "join" else op_of(queues, inner))
        with tf.Session() as sess:
            def run(op, options=tf.RunOptions(timeout_in_ms=10000)):
                try:
                    got = sess.run(op, options=options)
                    if got is None:
                        return {"values": []}
                    if isinstance(got, dict):
                        return {"values": {name: plain(v) for name, v in got.items()}}
                    return {"values": [plain(v) for v in (got if isinstance(got, list) else [got])]}
                except tf.errors.OpError as e:
                    assert e.error_code != tf.errors.DEADLINE_EXCEEDED or options.timeout_in_ms < 10000, "waits for ever"
                    return {"code": e.error_code}
            threads, found, ends = {}, {}, []
            for step, op in zip(s["steps"], built):
                if step[0] == "start":
                    name = step[1]
                    threads[name] = threading.Thread(target=lambda name=name, op=op: found.update({name: run(op)}))
                    threads[name].start()
                    time.sleep(MOMENT)
                    assert name not in found, "%s does not wait" % name
                    ends.append({})
                elif step[0] == "join":
                    threads[step[1]].join(10)
                    ends.append(found[step[1]])
                elif step[0] == "timeout":
                    ends.append(run(op, tf.RunOptions(timeout_in_ms=int(MOMENT * 1000))))
                else:
                    ends.append(run(op))
            if any(step[0] == "chosen" for step in s["steps"]):
                chosen = tf.QueueBase.from_list(tf.constant(0), queues)
                s["chosen"] = dict(dtypes=[d.name for d in chosen.dtypes], names=chosen.names,
                                   shapes=[None if shape.ndims is None else shape.as_list() for shape in chosen.shapes])
            return ends


scenario("first_in_first_out", "fifo", [
    ["enqueue", [10]], ["enqueue", [20]], ["size"], ["dequeue"], ["enqueue", [30]], ["dequeue"], ["dequeue"], ["size"], ["is_closed"]])
scenario("many_go_in_row_by_row", "fifo", [
    ["enqueue_many", [[1, 2, 3], [0.5, 1.5, 2.5]]], ["size"], ["dequeue"], ["dequeue_many", 2]], dtypes=["int32", "float32"], shapes=[[], []])
scenario("no_rows_are_nothing", "fifo", [["enqueue_many", [[]]], ["size"], ["close"], ["enqueue_many", [[]]], ["enqueue", [1]]])
scenario("no_items_are_an_empty_batch", "fifo", [["dequeue_many", 0], ["dequeue_up_to", 0], ["close"], ["dequeue_many", 0], ["dequeue_up_to", 0]],
         dtypes=["int32", "string"], shapes=[[2], []])
scenario("without_shapes", "fifo", [["enqueue", [[1, 2]]], ["enqueue", [3]], ["dequeue"], ["dequeue"]], shapes=None)
scenario("closed_and_empty", "fifo", [["close"], ["is_closed"], ["dequeue"], ["dequeue_many", 2], ["dequeue_up_to", 2], ["enqueue", [1]], ["close"]])
scenario("closed_with_items", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["close"], ["dequeue_many", 5], ["size"], ["dequeue"], ["dequeue_many", 2], ["dequeue"]])
scenario("closed_with_a_rest", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["close"], ["dequeue_up_to", 2], ["dequeue_up_to", 2], ["dequeue_up_to", 2]])
scenario("closed_twice", "fifo", [["close"], ["close"], ["close_cancel"]])
scenario("cancelled_twice", "fifo", [["close_cancel"], ["close_cancel"], ["is_closed"]])
scenario("enqueue_waits_for_room", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["start", "a", ["enqueue", [4]]], ["size"], ["dequeue"], ["join", "a"], ["size"], ["dequeue_many", 3]])
scenario("dequeue_waits_for_an_item", "fifo", [["start", "a", ["dequeue"]], ["enqueue", [7]], ["join", "a"], ["size"]])
scenario("dequeues_are_served_in_order", "fifo", [
    ["start", "a", ["dequeue"]], ["start", "b", ["dequeue_many", 2]], ["start", "c", ["dequeue"]],
    ["enqueue", [1]], ["join", "a"], ["enqueue", [2]], ["enqueue", [3]], ["join", "b"], ["enqueue", [4]], ["join", "c"]])
scenario("enqueues_are_served_in_order", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["start", "a", ["enqueue", [4]]], ["start", "b", ["enqueue_many", [[5, 6]]]], ["start", "c", ["enqueue", [7]]],
    ["dequeue_many", 7], ["join", "a"], ["join", "b"], ["join", "c"]])
scenario("many_go_in_as_there_is_room", "fifo", [
    ["start", "a", ["enqueue_many", [[1, 2, 3, 4, 5]]]], ["size"], ["dequeue"], ["dequeue"], ["join", "a"], ["size"], ["dequeue_many", 3]])
scenario("a_batch_larger_than_the_queue", "fifo", [["start", "a", ["enqueue_many", [[1, 2, 3, 4, 5, 6, 7]]]], ["dequeue_many", 7], ["join", "a"]])
scenario("closing_waits_for_enqueues", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["start", "a", ["enqueue", [4]]], ["start", "b", ["close"]], ["is_closed"], ["dequeue"], ["join", "a"], ["join", "b"],
    ["is_closed"], ["dequeue_up_to", 9], ["dequeue"]])
scenario("closing_cancels_enqueues", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["start", "a", ["enqueue", [4]]], ["start", "b", ["enqueue_many", [[5, 6]]]], ["close_cancel"], ["join", "a"], ["join", "b"],
    ["size"], ["dequeue_many", 3], ["dequeue"]])
scenario("closing_cancels_the_rest_of_many", "fifo", [
    ["start", "a", ["enqueue_many", [[1, 2, 3, 4, 5]]]], ["close_cancel"], ["join", "a"], ["size"], ["dequeue_up_to", 9]])
scenario("closing_cancels_a_closing", "fifo", [
    ["enqueue_many", [[1, 2, 3]]], ["start", "a", ["enqueue", [4]]], ["start", "b", ["close"]], ["close_cancel"], ["join", "a"], ["join", "b"], ["dequeue_many", 3]])
scenario("closing_ends_a_dequeue", "fifo", [["start", "a", ["dequeue"]], ["close"], ["join", "a"]])
scenario("closing_ends_a_batch_and_gives_back", "fifo", [
    ["enqueue_many", [[1, 2]]], ["start", "a", ["dequeue_many", 5]], ["start", "b", ["dequeue"]], ["close"], ["join", "a"], ["join", "b"], ["size"]])
scenario("closing_ends_a_batch_with_the_rest", "fifo", [
    ["enqueue_many", [[1, 2]]], ["start", "a", ["dequeue_up_to", 5]], ["close"], ["join", "a"], ["dequeue_up_to", 5]])
scenario("a_batch_takes_as_they_come", "fifo", [["enqueue_many", [[1, 2, 3]]], ["start", "a", ["dequeue_many", 5]], ["size"], ["enqueue_many", [[4, 5, 6]]],
                                                 ["join", "a"], ["size"], ["dequeue"]])
# When a batch is cancelled, TensorFlow loses the elements it had taken. Nothing here depends on that.
scenario("what_is_called_off_takes_nothing", "fifo", [
    ["timeout", ["dequeue_many", 3]], ["timeout", ["dequeue"]], ["enqueue_many", [[1, 2]]], ["dequeue"], ["size"]])
scenario("what_is_called_off_stays_in", "fifo", [
    ["timeout", ["enqueue_many", [[1, 2, 3, 4, 5]]]], ["size"], ["timeout", ["enqueue", [6]]], ["dequeue_many", 3], ["enqueue", [7]], ["dequeue"]])
scenario("strings", "fifo", [["enqueue_many", [["a", "", "c"]]], ["dequeue"], ["dequeue_up_to", 2]], dtypes=["string"])
scenario("matrices", "fifo", [["enqueue", [[[1, 2], [3, 4]]]], ["enqueue_many", [[[[5, 6], [7, 8]]]]], ["dequeue_many", 2]], shapes=[[2, 2]])

scenario("pads_to_the_largest", "padding", [
    ["enqueue", [[1]]], ["enqueue", [[2, 3, 4]]], ["enqueue", [[]]], ["dequeue_many", 3]], shapes=[[None]])
scenario("pads_strings_and_matrices", "padding", [
    ["enqueue", [["a"], [[1.0], [2.0]]]], ["enqueue", [["b", "c"], [[3.0, 4.0, 5.0]]]], ["dequeue_many", 2]],
    dtypes=["string", "float32"], shapes=[[None], [None, None]])
scenario("pads_in_the_middle", "padding", [
    ["enqueue", [[[[1], [2]]]]], ["enqueue", [[[[3]], [[4]]]]], ["dequeue_many", 2]], shapes=[[None, None, 1]])
scenario("pads_nothing_alone", "padding", [["enqueue", [[1, 2]]], ["enqueue", [[3]]], ["dequeue"], ["dequeue_many", 1]], shapes=[[None]])
scenario("pads_a_rest", "padding", [
    ["enqueue", [[1]]], ["enqueue", [[2, 3]]], ["close"], ["dequeue_up_to", 5], ["dequeue_up_to", 5]], shapes=[[None]])
scenario("pads_and_gives_back", "padding", [
    ["enqueue", [[1]]], ["enqueue", [[2, 3]]], ["close"], ["dequeue_many", 3], ["dequeue"], ["dequeue"]], shapes=[[None]])
scenario("pads_rows_of_many", "padding", [["enqueue_many", [[[1, 2], [3, 4]]]], ["enqueue", [[5]]], ["dequeue_many", 3]], shapes=[[None]])
scenario("an_empty_padded_batch", "padding", [["dequeue_many", 0]], dtypes=["int32", "float32"], shapes=[[None], [2, None]])
scenario("pads_where_all_is_known", "padding", [["enqueue_many", [[1, 2, 3]]], ["dequeue_many", 2], ["dequeue"]])

scenario("shuffles_by_seed", "shuffle", [
    ["enqueue_many", [list(range(20))]], ["dequeue"], ["dequeue_many", 9], ["enqueue_many", [[20, 21, 22]]], ["dequeue_many", 13]], capacity=40, seed=11)
scenario("shuffles_by_another_seed", "shuffle", [["enqueue_many", [list(range(10))]], ["close"], ["dequeue_up_to", 4], ["dequeue_up_to", 99]], capacity=10, seed=12)
scenario("holds_items_back", "shuffle", [
    ["enqueue_many", [[1, 1, 1, 1]]], ["dequeue_many", 2], ["size"], ["timeout", ["dequeue"]], ["enqueue", [1]], ["dequeue"], ["close"], ["dequeue_many", 2], ["dequeue"]],
    capacity=9, min_after_dequeue=2, seed=1)
scenario("holds_back_from_batches", "shuffle", [
    ["enqueue_many", [[1, 1, 1, 1]]], ["start", "a", ["dequeue_many", 3]], ["size"], ["enqueue", [1]], ["join", "a"], ["size"]],
    capacity=9, min_after_dequeue=2, seed=1)
scenario("holds_nothing_back_at_the_end", "shuffle", [
    ["enqueue_many", [[5, 5]]], ["start", "a", ["dequeue_up_to", 4]], ["close"], ["join", "a"], ["dequeue"]], capacity=9, min_after_dequeue=3, seed=1)
scenario("shuffles_and_gives_back", "shuffle", [
    ["enqueue_many", [[4, 4, 4]]], ["close"], ["dequeue_many", 4], ["size"], ["dequeue_many", 3]], capacity=9, seed=3)

scenario("the_smallest_first", "priority", [
    ["enqueue", [5, "e"]], ["enqueue", [-1, "a"]], ["enqueue", [3, "c"]], ["dequeue"], ["enqueue", [0, "b"]], ["dequeue_many", 3]],
    dtypes=["string"], capacity=9)
scenario("equal_priorities", "priority", [
    ["enqueue_many", [[2, 2, 1, 1, 2], [1, 2, 3, 4, 5]]], ["dequeue_many", 5]], capacity=9)
scenario("a_sorted_batch_waits_for_all", "priority", [
    ["enqueue_many", [[5, 9], [50, 90]]], ["start", "a", ["dequeue_many", 3]], ["size"], ["enqueue", [7, 70]], ["join", "a"]], capacity=9)
# A sorted batch that is too small loses items in TensorFlow; nothing here depends on that.
scenario("a_sorted_rest", "priority", [
    ["enqueue_many", [[5, 9, 2], [50, 90, 20]]], ["close"], ["dequeue_up_to", 2], ["dequeue"], ["dequeue"]], capacity=9)

scenario("by_name", "fifo", [
    ["enqueue", {"to": 1, "from": 2}], ["enqueue_many", {"from": [4, 6], "to": [3, 5]}], ["dequeue"], ["dequeue_up_to", 1], ["dequeue_many", 1]],
    dtypes=["int32", "int32"], shapes=[[], []], names=["to", "from"])
scenario("a_priority_by_name", "priority", [
    ["enqueue", {"priority": 3, "x": 30}], ["enqueue", {"x": 10, "priority": 1}], ["dequeue"], ["dequeue_many", 1]],
    capacity=9, names=["priority", "x"])
scenario("shared_by_name", "fifo", [["enqueue", [1]], ["on", 1, ["enqueue", [2]]], ["size"], ["dequeue"], ["on", 1, ["dequeue"]], ["on", 1, ["close"]], ["is_closed"]],
         others=[queue("fifo", shared_name="both")], shared_name="both")
scenario("shared_by_name_with_another_capacity", "fifo", [["size"], ["on", 1, ["size"]]], others=[queue("fifo", capacity=4, shared_name="both")], shared_name="both")
scenario("shared_by_name_with_other_dtypes", "fifo", [["size"], ["on", 1, ["size"]]], others=[queue("fifo", dtypes=["int64"], shared_name="both")],
         shared_name="both")
scenario("shared_by_name_with_other_shapes", "fifo", [["size"], ["on", 1, ["size"]]], others=[queue("fifo", shapes=[[2]], shared_name="both")], shared_name="both")
scenario("shared_by_name_of_another_kind", "fifo", [["size"], ["on", 1, ["size"]]], others=[queue("padding", shared_name="both")], shared_name="both")
scenario("of_a_list", "fifo", [
    ["chosen", 0, ["enqueue", [1]]], ["chosen", 1, ["enqueue_many", [[10, 20, 30]]]], ["size"], ["on", 1, ["size"]], ["chosen", 1, ["size"]],
    ["on", 1, ["dequeue"]], ["chosen", 1, ["dequeue_many", 2]], ["chosen", 0, ["dequeue_up_to", 1]], ["start", "a", ["chosen", 1, ["dequeue"]]],
    ["chosen", 0, ["close"]], ["is_closed"], ["chosen", 1, ["is_closed"]], ["chosen", 0, ["dequeue"]], ["chosen", 1, ["close_cancel"]], ["join", "a"],
    ["on", 1, ["is_closed"]]], others=[queue("fifo", capacity=5)])
scenario("outside_of_a_list", "fifo", [["enqueue", [1]], ["chosen", 2, ["dequeue"]], ["chosen", -1, ["size"]], ["size"]], others=[queue("fifo")])
scenario("of_a_list_of_one", "shuffle", [["enqueue_many", [[1, 2, 3, 4]]], ["chosen", 0, ["dequeue_many", 4]]], capacity=4, seed=5)
scenario("of_a_list_of_other_shapes", "fifo", [
    ["enqueue", [[1, 2]]], ["on", 1, ["enqueue", [[3, 4, 5]]]], ["on", 2, ["enqueue", [[6]]]], ["on", 2, ["enqueue", [[7, 8]]]], ["chosen", 0, ["dequeue_many", 1]],
    ["chosen", 1, ["dequeue"]], ["chosen", 2, ["dequeue_many", 2]]],
    shapes=[[2]], others=[queue("fifo", shapes=[[3]]), queue("padding", shapes=[[None]])])
scenario("of_a_list_of_unknown_shapes", "fifo", [
    ["enqueue", [[1, 2]]], ["on", 1, ["enqueue", [3]]], ["chosen", 0, ["dequeue"]], ["chosen", 1, ["dequeue"]]],
    shapes=[[2]], others=[queue("fifo", shapes=None)])
scenario("of_a_list_by_name", "fifo", [
    ["chosen", 1, ["enqueue", {"b": 1, "a": 2.5}]], ["on", 1, ["dequeue"]], ["enqueue", {"b": 3, "a": 4.5}], ["chosen", 0, ["dequeue"]]],
    dtypes=["int32", "float32"], shapes=[[], []], names=["b", "a"],
    others=[queue("fifo", dtypes=["int32", "float32"], shapes=[[], []], names=["b", "a"])])


def main():
    out = []
    for name in SCENARIOS:
        print(name)
        s = dict(SCENARIOS[name], name=name)
        s["ends"] = play(s)
        out.append(json.dumps(s, sort_keys=True))
    with open(os.path.join(HERE, "queues.json"), "w") as f:
        f.write("[\n%s\n]\n" % ",\n".join(out))


if __name__ == "__main__":
    main()
