"""Looking inside: a graph as a picture, what a run would do, what the session holds, and how far a long run is."""

import os
import tempfile

import millstream as tf

n = tf.placeholder(tf.int32, [], name="n")
total = tf.Variable(0.0, name="total")
i, x = tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 0.5 + 1.0), [tf.constant(0), tf.constant(0.0)], maximum_iterations=1000)
add = total.assign_add(x)

# In a notebook the graph shows itself; elsewhere a browser shows the file. No other program is needed.
path = os.path.join(tempfile.mkdtemp(), "graph.svg")
with open(path, "w", encoding="utf-8") as file:
    file.write(tf.get_default_graph().to_svg())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    # `print(report)` prints the table with sentences below it; a notebook shows it as HTML.
    report = sess.explain(add, [n])
    for row in report.rows:
        print(row[0].strip(), row[1], row[-1])
    # Runs of more than half a second tell how far they are, on the standard error.
    with sess.progress():
        print(sess.run(add, {n: 100}))
    print(sess.explain().rows[1])
