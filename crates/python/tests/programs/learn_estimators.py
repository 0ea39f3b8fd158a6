"""`tf.contrib.learn`: estimators that take arrays, their metrics, monitors and columns."""

import numpy as np

from programs.tools import mistakes

_random = np.random.RandomState(0)
X = _random.randn(12, 3).astype(np.float32)
Y = (0 < X[:, 0]).astype(np.int64)
Z = X.sum(1).astype(np.float32)


def _plain(value):
    if isinstance(value, dict):
        return sorted((key, _plain(part)) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return np.round(np.asarray(value, np.float64), 4).tolist()


def _variables(model):
    return [(name, model.get_variable_value(name).shape) for name in model.get_variable_names()]


def _config(tf, **given):
    tf.logging.set_verbosity(tf.logging.FATAL)
    return tf.contrib.learn.RunConfig(tf_random_seed=1, **given)


def _model_fn(tf):
    learn = tf.contrib.learn

    def model_fn(features, labels, mode, params):
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        y = tf.squeeze(tf.matmul(features, w), 1)
        if mode == learn.ModeKeys.INFER:
            return y, None, None
        loss = tf.losses.mean_squared_error(labels, y)
        step = tf.contrib.layers.optimize_loss(loss, tf.contrib.framework.get_global_step(), params["rate"], "SGD")
        return y, loss, step

    return model_fn


def _ops_fn(tf):
    learn = tf.contrib.learn

    def model_fn(features, labels, mode):
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        y = tf.squeeze(tf.matmul(features, w), 1)
        loss = step = None
        if mode != learn.ModeKeys.INFER:
            loss = tf.losses.mean_squared_error(labels, y)
            step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return learn.ModelFnOps(mode, {"y": y, "twice": y * 2}, loss, step, eval_metric_ops={"mean": tf.metrics.mean(y)})

    return model_fn


def functions_that_return_three_values(tf):
    learn = tf.contrib.learn
    model = learn.Estimator(_model_fn(tf), params={"rate": 0.1}, config=_config(tf))
    found = [model.fit(X, Z, steps=10) is model, _variables(model), _plain(model.evaluate(X, Z, steps=1))]
    spec = learn.MetricSpec(tf.contrib.metrics.streaming_mean_squared_error)
    found += [_plain(model.evaluate(X, Z, batch_size=5, metrics={"mse": spec})), _plain(list(model.predict(X[:3])))]
    return found, _plain(model.predict(X[:5], batch_size=2, as_iterable=False)), repr(model), model.params


def functions_that_return_ops(tf):
    learn = tf.contrib.learn
    model = learn.Estimator(_ops_fn(tf), config=_config(tf))
    model.fit(X, Z, max_steps=4, batch_size=5)
    model.partial_fit(X, Z)
    found = [_variables(model), _plain(model.evaluate(X, Z, batch_size=4, steps=3)), _plain(list(model.predict(X[:2])))]
    found.append(_plain(list(model.predict(X[:2], outputs=["twice"]))))
    spec = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error, prediction_key="twice")
    found.append(_plain(model.evaluate(X, Z, steps=1, metrics={"mae": spec})))
    wrapped = learn.SKCompat(model)
    wrapped.fit(X, Z, steps=1)
    return found, _plain(wrapped.predict(X[:2])), _plain(wrapped.score(X, Z, steps=1))


def batches_of_arrays(tf):
    learn = tf.contrib.learn
    told = []

    def model_fn(features, labels, mode):
        known = [(key, one.name, one.dtype.name, str(one.shape)) for key, one in (features.items() if isinstance(features, dict) else [("", features)])]
        told.append((mode, known, None if labels is None else (labels.name, labels.dtype.name, str(labels.shape))))
        told.append([])
        first = list(features.values())[0] if isinstance(features, dict) else features
        seen.append(first)
        y = tf.reduce_sum(tf.cast(first, tf.float32), 1) * tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(y - tf.cast(labels, tf.float32)))
        return y, loss, tf.assign_add(tf.train.get_global_step(), 1).op

    seen = []

    class Seen(tf.train.SessionRunHook):
        def before_run(self, context):
            return tf.train.SessionRunArgs(seen[-1])

        def after_run(self, context, values):
            told[-1].append(np.asarray(values.results).ravel().tolist())

    column = np.arange(5.0)[:, None]
    given = [(column, np.arange(5)), (column.astype(np.int32), np.arange(5.0)), ({"a": column.astype(np.float32)}, np.arange(5)[:, None])]
    for x, y in given:
        model = learn.Estimator(model_fn, config=_config(tf))
        model.fit(x, y, steps=4, batch_size=2, monitors=[Seen()])
        told.append(_plain(model.evaluate(x, y, batch_size=2)))
        told.append(_plain(list(model.predict(x, batch_size=2))))
    return told


def dense_classifiers(tf):
    learn = tf.contrib.learn
    columns = learn.infer_real_valued_columns_from_input(X)
    model = learn.DNNClassifier([4, 3], columns, config=_config(tf))
    model.fit(X, Y, steps=5)
    found = [_variables(model), _plain(model.evaluate(X, Y, steps=1)), _plain(list(model.predict(X[:4]))), _plain(list(model.predict_proba(X[:4])))]
    model = learn.DNNClassifier([4], columns, n_classes=3, config=_config(tf), optimizer=tf.train.AdamOptimizer(0.1), activation_fn=tf.nn.tanh)
    model.fit(X, Y + 1, steps=5, batch_size=4)
    spec = learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")
    found += [_variables(model), _plain(model.evaluate(X, Y + 1, steps=1, metrics={"acc": spec}))]
    return found + [_plain(list(model.predict(X[:2], outputs=["probabilities", "classes", "logits"]))), _plain(model.predict_classes(X[:3], as_iterable=False))]


def dense_regressors(tf):
    learn = tf.contrib.learn
    model = learn.DNNRegressor([4], learn.infer_real_valued_columns_from_input(X), config=_config(tf), gradient_clip_norm=1.0)
    model.fit(X, Z, steps=5)
    return _variables(model), _plain(model.evaluate(X, Z, steps=1)), _plain(list(model.predict(X[:3]))), _plain(model.predict_scores(X[:3], as_iterable=False))


X_NAMED = {"a": X[:4, :1], "b": X[:4, 1:]}


def _named_input(tf):
    return {"a": tf.constant(X[:, :1]), "b": tf.constant(X[:, 1:])}, tf.constant(Y)


def linear_models(tf):
    learn, column = tf.contrib.learn, tf.contrib.layers.real_valued_column
    columns = learn.infer_real_valued_columns_from_input(X)
    models = [learn.LinearClassifier(columns, config=_config(tf)), learn.LinearClassifier(columns, n_classes=3, config=_config(tf))]
    found = []
    for model in models:
        model.fit(X, Y, steps=5)
        found.append((_variables(model), _plain(model.evaluate(X, Y, steps=1)), _plain(list(model.predict(X[:3])))))
    model = learn.LinearRegressor(columns, config=_config(tf), optimizer=tf.train.GradientDescentOptimizer(0.1))
    model.fit(X, Z, steps=5)
    found.append((_variables(model), _plain(model.evaluate(X, Z, steps=1)), _plain(list(model.predict(X[:3])))))
    named = [column("a"), column("b", dimension=2)]
    model = learn.LinearClassifier(named, config=_config(tf))
    model.fit(input_fn=lambda: _named_input(tf), steps=3)
    found.append((_variables(model), _plain(list(model.predict(X_NAMED, outputs=["logits"])))))
    return found


def combined_models(tf):
    """Dense networks and linear models together: both count steps, unless told not to."""
    learn = tf.contrib.learn
    columns = learn.infer_real_valued_columns_from_input(X)
    given = {"linear_feature_columns": columns, "dnn_feature_columns": columns, "dnn_hidden_units": [4]}
    model = learn.DNNLinearCombinedClassifier(config=_config(tf), **given)
    model.fit(X, Y, steps=6)
    found = [_variables(model), _plain(model.get_variable_value("global_step")), _plain(model.evaluate(X, Y, steps=1)), _plain(list(model.predict(X[:4])))]
    regressor = learn.DNNLinearCombinedRegressor(
        config=_config(tf), fix_global_step_increment_bug=True, linear_optimizer=tf.train.GradientDescentOptimizer(0.1), dnn_optimizer="Adam", **given
    )
    regressor.fit(X, Z, steps=3)
    found += [_variables(regressor), _plain(regressor.evaluate(X, Z, steps=1)), _plain(list(regressor.predict_scores(X[:3])))]
    return found


def wide_and_deep(tf):
    """Columns of words, buckets and embeddings, as the tutorial of wide and deep models has them."""
    learn, layers = tf.contrib.learn, tf.contrib.layers
    word = layers.sparse_column_with_hash_bucket("word", 7)
    kind = layers.sparse_column_with_keys("kind", ["p", "q"])
    number = layers.real_valued_column("x")
    buckets = layers.bucketized_column(number, [-0.5, 0.0, 0.5])

    def data():
        words = tf.SparseTensor([[i, 0] for i in range(12)], ["w%d" % (i % 5) for i in range(12)], [12, 1])
        kinds = tf.SparseTensor([[i, 0] for i in range(12)], ["pq"[i % 2] for i in range(12)], [12, 1])
        return {"word": words, "kind": kinds, "x": tf.constant(X[:, 0])}, tf.constant(Y)

    deep = [layers.embedding_column(word, 3), layers.one_hot_column(kind), number]
    made = [
        learn.DNNLinearCombinedClassifier(
            linear_feature_columns=[word, kind, buckets],
            dnn_feature_columns=deep,
            dnn_hidden_units=[4, 2],
            config=_config(tf),
            fix_global_step_increment_bug=True,
            embedding_lr_multipliers={deep[0]: 0.5},
        ),
        learn.DNNLinearCombinedClassifier(n_classes=3, linear_feature_columns=[word, kind], _joint_linear_weights=True, config=_config(tf)),
        learn.LinearClassifier([word, kind, buckets, number], config=_config(tf)),
        learn.DNNClassifier([3], deep, config=_config(tf)),
    ]
    found = []
    for model in made:
        model.fit(input_fn=data, steps=3)
        found.append((_variables(model), _plain(model.evaluate(input_fn=data, steps=1))))
    return found


def monitors(tf):
    learn, told = tf.contrib.learn, []

    class All(learn.monitors.BaseMonitor):
        def begin(self, max_steps=None):
            told.append(("begin", max_steps))

        def step_begin(self, step):
            told.append(("step_begin", step))
            return ["w:0"]

        def step_end(self, step, output):
            told.append(("step_end", step, sorted(output)))
            return 8 <= step

        def post_step(self, step, session):
            told.append(("post_step", step))

        def end(self, session=None):
            told.append(("end", session is None))

    class Some(learn.monitors.EveryN):
        def every_n_step_begin(self, step):
            told.append(("some", step))

        def every_n_step_end(self, step, outputs):
            told.append(("some end", step))

    model = learn.Estimator(_ops_fn(tf), config=_config(tf, save_checkpoints_steps=1))
    model.fit(X, Z, steps=3, monitors=[All(), Some(2, 1)])
    model.fit(X, Z, max_steps=12, monitors=[All()])
    values = learn.monitors.CaptureVariable("w", every_n=2, first_n=1)
    model.fit(X, Z, steps=4, monitors=[values, learn.monitors.StopAtStep(num_steps=3)])
    return told, sorted((step, _plain(value)) for step, value in values.values.items()), _plain(model.get_variable_value("global_step"))


def validation(tf):
    learn = tf.contrib.learn
    model = learn.Estimator(_ops_fn(tf), config=_config(tf, save_checkpoints_steps=1))
    watch = learn.monitors.ValidationMonitor(X, Z, every_n_steps=2, check_interval_secs=0)
    model.fit(X, Z, steps=6, monitors=[watch])
    worse = learn.monitors.ValidationMonitor(X, Z, every_n_steps=1, check_interval_secs=0, early_stopping_rounds=3, early_stopping_metric_minimize=False)
    model.fit(X, Z, steps=20, monitors=[worse])
    told = [(one.best_step, _plain(one.best_value), one.early_stopped) for one in (watch, worse)]
    return told, _plain(model.get_variable_value("global_step"))


def columns(tf):
    learn, layers = tf.contrib.learn, tf.contrib.layers
    found = learn.infer_real_valued_columns_from_input(X) + learn.infer_real_valued_columns_from_input(X.astype(np.int32))
    found += learn.infer_real_valued_columns_from_input({"a": X}) + [layers.real_valued_column("x", 3, default_value=1.0)]
    found += learn.infer_real_valued_columns_from_input_fn(lambda: ({"b": tf.ones([2, 3]), "a": tf.ones([4])}, None))
    return [repr(one) for one in found], found[0].name, found[3].key


def wrong_combinations(tf):
    learn = tf.contrib.learn
    columns = learn.infer_real_valued_columns_from_input(X)
    return mistakes(
        tf,
        none=lambda: learn.DNNLinearCombinedClassifier(),
        none_to_regress=lambda: learn.DNNLinearCombinedRegressor(),
        units=lambda: learn.DNNLinearCombinedClassifier(dnn_feature_columns=columns).fit(X, Y, steps=1),
    )


def keys(tf):
    learn = tf.contrib.learn
    spec = learn.MetricSpec(tf.metrics.accuracy, prediction_key="c", label_key="l", weight_key="w")
    words = learn.PredictionKey.CLASSES, learn.PredictionKey.SCORES, learn.ProblemType.LOGISTIC_REGRESSION
    return str(spec), words, learn.ModelFnOps("infer", 3).loss is None


def wrong_arguments(tf):
    learn = tf.contrib.learn
    _config(tf)
    columns = learn.infer_real_valued_columns_from_input(X)
    new = lambda: learn.Estimator(_ops_fn(tf))
    return mistakes(
        tf,
        nothing=lambda: new().fit(steps=3),
        both=lambda: new().fit(X, Z, input_fn=lambda: _named_input(tf), steps=1),
        both_steps=lambda: new().fit(X, Z, steps=1, max_steps=2),
        params=lambda: learn.Estimator(_ops_fn(tf), params={"x": 1}) and None,
        classes=lambda: learn.DNNClassifier([3], columns, n_classes=1) and None,
        predict=lambda: list(new().predict()),
        dimension=lambda: tf.contrib.layers.real_valued_column("x", dimension=0) and None,
        dtype=lambda: tf.contrib.layers.real_valued_column("x", dtype=tf.string) and None,
        text=lambda: learn.infer_real_valued_columns_from_input({"a": np.array(["x"])}) and None,
    )
