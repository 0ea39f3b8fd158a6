"""`tf.contrib.estimator`: heads, from logits to predictions, losses and metrics."""

import numpy as np

from programs.tools import WHOLE, caught


def _near(value):
    if isinstance(value, dict):
        return {str(k): _near(v) for k, v in value.items()}
    value = np.asarray(value)
    return np.round(value, 4) if value.dtype.kind == "f" else value


def _modes(tf, make, logits, labels, features=(), penalty=None):
    """Returns what a head makes of logits in each mode."""
    found = []
    for mode in "infer", "eval", "train":
        with tf.Graph().as_default(), tf.Session() as sess:
            head = make()
            step = tf.train.get_or_create_global_step()
            inputs = {k: tf.constant(v) for k, v in dict(features).items()}
            given = labels() if callable(labels) else {k: tf.constant(v) for k, v in labels.items()} if isinstance(labels, dict) else tf.constant(labels)
            weights = tf.get_variable("w", initializer=tf.constant(logits, tf.float32))
            more = {} if penalty is None else {"regularization_losses": [tf.constant(penalty)]}
            if mode == "train":
                more["optimizer"] = tf.train.GradientDescentOptimizer(1.0)
            spec = head.create_estimator_spec(inputs, mode, tf.identity(weights), given, **more)
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
            out = [_near(sess.run(spec.predictions)), head.name, head.logits_dimension]
            if mode == "infer":
                out.append({k: type(v).__name__ for k, v in spec.export_outputs.items()})
            if mode == "eval":
                sess.run([update for _, update in spec.eval_metric_ops.values()])
                out += [_near(sess.run(spec.loss)), _near(sess.run({k: v for k, (v, _) in spec.eval_metric_ops.items()}))]
            if mode == "train":
                sess.run(spec.train_op)
                tags = [tag for summary in tf.get_collection("summaries") for tag in [tf.Summary.FromString(sess.run(summary)).value[0].tag]]
                out += [_near(sess.run([weights, step][0])), sess.run(step), sorted(tags)]
            found.append(out)
    return found


_TWO = [[1.0, -0.5], [0.5, 2.0], [-1.0, 0.25]]
_ONE = [[1.0], [-2.0], [0.5]]


def regression(tf):
    e = tf.contrib.estimator
    doubled = lambda labels, logits: tf.abs(labels - logits) * 2.0
    return (
        _modes(tf, e.regression_head, _ONE, [[1.0], [2.0], [3.0]]),
        _modes(tf, lambda: e.regression_head("n", name="r"), _ONE, [1.0, 2.0, 3.0], {"n": [[1.0], [2.0], [0.0]]}, penalty=0.5),
        _modes(tf, lambda: e.regression_head(label_dimension=2, loss_reduction="weighted_sum"), _TWO, [[1.0, 2.0], [0.0, 1.0], [3.0, 3.0]]),
        _modes(tf, lambda: e.regression_head(loss_fn=doubled, inverse_link_fn=tf.square), _ONE, [[1.0], [2.0], [3.0]]),
    )


def counts_and_shares(tf):
    e = tf.contrib.estimator
    return (
        _modes(tf, e.poisson_regression_head, _ONE, [[1.0], [2.0], [3.0]]),
        _modes(tf, lambda: e.poisson_regression_head(label_dimension=2, compute_full_loss=False, name="p"), _TWO, [[1.0, 2.0], [0.0, 1.0], [3.0, 3.0]]),
        _modes(tf, lambda: e.logistic_regression_head(name="l"), _ONE, [[1.0], [0.25], [0.0]]),
    )


def two_classes(tf):
    e = tf.contrib.estimator
    return (
        _modes(tf, lambda: e.binary_classification_head(thresholds=[0.25, 0.7], name="b"), _ONE, [[1], [0], [0]], penalty=1.0),
        _modes(tf, lambda: e.binary_classification_head("n", label_vocabulary=["x", "y"]), _ONE, [["y"], ["y"], ["x"]], {"n": [[1.0], [2.0], [0.5]]}),
    )


def three_classes(tf):
    e = tf.contrib.estimator
    logits = [[1.0, 2.0, 0.0], [0.5, -1.0, 0.0], [0.0, 0.0, 3.0]]
    own = lambda labels, logits, features: tf.cast(labels, tf.float32) + tf.reduce_sum(logits, -1, keepdims=True) + features["x"]
    return (
        _modes(tf, lambda: e.multi_class_head(3), logits, [[1], [0], [1]]),
        _modes(tf, lambda: e.multi_class_head(3, loss_fn=own, name="m"), logits, [[1], [0], [1]], {"x": [[1.0], [0.0], [2.0]]}),
        _modes(tf, lambda: e.multi_class_head(3, label_vocabulary=["a", "b", "c"]), logits, [["a"], ["c"], ["c"]]),
    )


def several_labels(tf):
    e = tf.contrib.estimator
    sparse = lambda values: lambda: tf.SparseTensor([[0, 0], [0, 1], [2, 0]], values, [3, 2])
    return (
        _modes(tf, lambda: e.multi_label_head(2, thresholds=[0.4]), _TWO, [[1, 0], [1, 1], [0, 1]]),
        _modes(tf, lambda: e.multi_label_head(2, "n", name="m"), _TWO, sparse([0, 1, 1]), {"n": [[1.0], [2.0], [0.5]]}),
        _modes(tf, lambda: e.multi_label_head(2, label_vocabulary=["a", "b"], classes_for_class_based_metrics=["b"]), _TWO, sparse(["a", "b", "a"])),
        _modes(tf, lambda: e.multi_label_head(2, classes_for_class_based_metrics=[0, 1]), _TWO, [[1, 0], [1, 1], [0, 1]], penalty=0.5),
    )


def several_heads(tf):
    e = tf.contrib.estimator
    heads = lambda: [e.regression_head(name="r"), e.binary_classification_head(name="b")]
    labels = {"r": [[1.0], [2.0], [3.0]], "b": [[1], [0], [0]]}
    return (
        _modes(tf, lambda: e.multi_head(heads()), _TWO, labels),
        _modes(tf, lambda: e.multi_head(heads(), [0.5, 2.0]), _TWO, labels),
    )


def refused(tf):
    e = tf.contrib.estimator
    with tf.Graph().as_default():
        logits = tf.constant(_TWO)
        head = e.regression_head()
        return [
            caught(call, WHOLE)
            for call in (
                lambda: e.regression_head(label_dimension=0),
                lambda: e.regression_head(loss_reduction="none"),
                lambda: e.regression_head(loss_fn=lambda labels: labels),
                lambda: e.regression_head(loss_fn=lambda labels, logits, more: labels),
                lambda: e.binary_classification_head(thresholds=[0.5, 1.0]),
                lambda: e.binary_classification_head(label_vocabulary="ab"),
                lambda: e.multi_class_head(2),
                lambda: e.multi_label_head(1),
                lambda: e.multi_label_head(2, thresholds=[0.0]),
                lambda: e.multi_label_head(2, label_vocabulary=["a"]),
                lambda: e.multi_head([]),
                lambda: e.multi_head([e.regression_head(name="a")], [1.0, 2.0]),
                lambda: head.create_estimator_spec({}, "infer", logits),
                lambda: head.create_estimator_spec({}, "train", logits[:, :1], tf.constant([1.0, 2.0, 3.0])),
            )
        ]


def functions_of_logits(tf):
    e = tf.contrib.estimator
    found = []
    for mode in "train", "eval":
        with tf.Graph().as_default(), tf.Session() as sess:
            features = {"x": tf.constant([[1.0], [2.0]])}
            columns = [tf.feature_column.numeric_column("x")]
            with tf.variable_scope("s", initializer=tf.ones_initializer()):
                linear = e.linear_logit_fn_builder(2, columns)
                deep = e.dnn_logit_fn_builder(3, [4, 2], columns, tf.nn.relu, None, None, True)
                logits = [e.call_logit_fn(fn, features, mode, {}, None) for fn in (linear, deep)]
            sess.run([tf.global_variables_initializer()])
            found.append((_near(sess.run(logits[0])), logits[1].shape.as_list(), sorted((v.name, v.shape.as_list()) for v in tf.global_variables())))
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(2.0)
        fn = lambda features, params, config: {"y": features * params + config}
        found.append(sess.run(e.call_logit_fn(fn, x, "eval", 3.0, 1.0)))
        found.append(caught(lambda: e.call_logit_fn(lambda features: 3, x, "eval", {}, None), WHOLE))
        found.append(caught(lambda: e.call_logit_fn(lambda features: {"a": 1}, x, "eval", {}, None), WHOLE))
        found.append(caught(lambda: e.dnn_logit_fn_builder(2.0, [], [], None, None, None, False), WHOLE))
    return found
