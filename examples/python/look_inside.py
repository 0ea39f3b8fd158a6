"""Inspection: the picture of a graph, reports on runs and sessions, and the progress of long runs."""

import os
import tempfile

import millstream as tf

n = tf.placeholder(tf.int32, [], name="n")
total = tf.Variable(0.0, name="total")
i, x = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5 + 1.0), [tf.constant(0), tf.constant(0.0)], maximum_iterations=1000)
add = total.assign_add(x)

# A notebook displays the graph; elsewhere a browser can open the file. No other program is needed.
path = os.path.join(tempfile.mkdtemp(), "graph.svg")
with open(path, "w", encoding="utf-8") as file:
    file.write(tf.get_default_graph().to_svg())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    # `print(report)` prints the table with notes below it; a notebook displays it as HTML.
    report = sess.explain(add, [n])
    for row in report.rows:
        print(row[0].strip(), row[1], row[-1])
    # Runs longer than half a second report their progress on standard error.
    with sess.progress():
        print(sess.run(add, {n: 100}))
    print(sess.explain().rows[1])
