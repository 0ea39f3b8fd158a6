"""`tf.estimator`: training, evaluation, prediction and exports, and the errors of their arguments."""

import json
import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, mistakes


def _linear(tf, **more):
    """A model function: one weight and one bias, with plain gradient descent."""

    def model_fn(features, labels, mode, params):
        x = features["x"] if isinstance(features, dict) else features
        w, b = tf.get_variable("w", initializer=0.5), tf.get_variable("b", initializer=0.0)
        y = x * w + b
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": y, "twice": 2.0 * y})
        loss = tf.losses.mean_squared_error(labels, y)
        metrics = {"error": tf.metrics.mean_absolute_error(labels, y)}
        step = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=y, loss=loss, train_op=step, eval_metric_ops=metrics, **more)

    return model_fn


def _estimator(tf, **config):
    return tf.estimator.Estimator(_linear(tf), tempfile.mkdtemp(), tf.estimator.RunConfig(**config), {"rate": 0.1})


def _data(tf, num_epochs=None, batch_size=2, labels=True):
    x = np.array([1.0, 2.0, 3.0, -1.0, 0.5], np.float32)
    return tf.estimator.inputs.numpy_input_fn({"x": x}, 2 * x + 1 if labels else None, batch_size, num_epochs, shuffle=False)


def _kept(estimator):
    return sorted(f for f in os.listdir(estimator.model_dir) if "tfevents" not in f)


def trains_and_evaluates(tf):
    estimator = _estimator(tf)
    trained = estimator.train(_data(tf), steps=7)
    result = estimator.evaluate(_data(tf, 1))
    values = [estimator.get_variable_value(name) for name in ("w", "b")]
    return trained is estimator, sorted(result), [result[k] for k in sorted(result)], values, estimator.get_variable_names(), _kept(estimator)


def goes_on_from_a_checkpoint(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf), steps=3)
    other = tf.estimator.Estimator(_linear(tf), estimator.model_dir, params={"rate": 0.1})
    other.train(_data(tf), steps=2)
    other.train(_data(tf), max_steps=4)
    return other.get_variable_value("global_step"), other.get_variable_value("w"), os.path.basename(other.latest_checkpoint())


def input_that_ends(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf, 2))
    return estimator.get_variable_value("global_step"), estimator.get_variable_value("b")


def predicts(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf), steps=4)
    predictions = list(estimator.predict(_data(tf, 1, labels=False)))
    one = list(estimator.predict(_data(tf, 1), predict_keys=["y"]))
    batches = list(estimator.predict(_data(tf, 1, labels=False), yield_single_examples=False))
    return [[p["y"], p["twice"]] for p in predictions], [sorted(p) for p in one], [b["y"] for b in batches]


def without_a_checkpoint(tf):
    estimator = _estimator(tf)
    result = estimator.evaluate(_data(tf, 1))
    predictions = [p["y"] for p in estimator.predict(_data(tf, 1, labels=False))]
    return result["error"], result["global_step"], predictions, estimator.latest_checkpoint(), caught(lambda: estimator.get_variable_names())


def steps_of_an_evaluation(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf), steps=2)
    return [estimator.evaluate(_data(tf), steps=n, name="few")["error"] for n in (1, 2)], sorted(os.listdir(estimator.model_dir)).count("eval_few"), os.path.basename(estimator.eval_dir("a")), os.path.basename(estimator.eval_dir())


def summaries_of_an_evaluation(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf), steps=2)
    estimator.evaluate(_data(tf, 1))
    folder = estimator.eval_dir()
    found = {}
    for name in os.listdir(folder):
        for event in tf.train.summary_iterator(os.path.join(folder, name)):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found[value.tag] = (event.step, round(value.simple_value, 4))
    return found


def what_the_functions_get(tf):
    seen = []

    def input_fn(mode, params, config):
        seen.append((mode, params["rate"], config.tf_random_seed))
        return tf.constant([1.0]), tf.constant([3.0])

    def model_fn(features, labels, mode, params, config):
        seen.append((labels is None, mode, sorted(params), type(config).__name__, tf.get_default_graph().seed))
        w = tf.get_variable("w", initializer=0.5)
        loss = tf.reduce_sum(tf.square(w * features - (0.0 if labels is None else labels)))
        step = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, w * features, loss, step)

    config = tf.estimator.RunConfig(tf_random_seed=5)
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), config, {"rate": 0.25})
    estimator.train(input_fn, steps=2)
    estimator.evaluate(input_fn, steps=1)
    predicted = next(estimator.predict(input_fn))
    return seen, predicted, estimator.params, estimator.config.tf_random_seed


def hooks_of_all_kinds(tf):
    calls = []

    class Hook(tf.train.SessionRunHook):
        def __init__(self, name):
            self.name = name

        def begin(self):
            calls.append(self.name + " begins")

        def after_run(self, run_context, run_values):
            calls.append(self.name)

        def end(self, session):
            calls.append(self.name + " ends")

    more = dict(training_hooks=[Hook("train")], training_chief_hooks=[Hook("chief")], evaluation_hooks=[Hook("eval")])
    estimator = tf.estimator.Estimator(_linear(tf, **more), tempfile.mkdtemp(), params={"rate": 0.1})
    estimator.train(_data(tf), [Hook("mine")], steps=2)
    first, calls[:] = list(calls), []
    estimator.evaluate(_data(tf), 2, [Hook("mine")])
    return first, calls


def listeners_of_checkpoints(tf):
    calls = []

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            calls.append("begin")

        def before_save(self, session, global_step_value):
            calls.append(("before", int(global_step_value)))

        def after_save(self, session, global_step_value):
            calls.append(("after", int(global_step_value)))

        def end(self, session, global_step_value):
            calls.append(("end", int(global_step_value)))

    estimator = _estimator(tf, save_checkpoints_steps=2)
    estimator.train(_data(tf), steps=3, saving_listeners=[Listener()])
    return calls


def checkpoints_that_are_kept(tf):
    estimator = _estimator(tf, save_checkpoints_steps=1, keep_checkpoint_max=2)
    estimator.train(_data(tf), steps=4)
    return [f for f in _kept(estimator) if f.endswith(".index")]


def trains_and_evaluates_in_turn(tf):
    estimator = _estimator(tf, save_checkpoints_steps=3)
    train = tf.estimator.TrainSpec(_data(tf), max_steps=7)
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.constant([1.0])})
    exporters = [tf.estimator.FinalExporter("final", serving), tf.estimator.BestExporter("best", serving)]
    evaluate = tf.estimator.EvalSpec(_data(tf, 1), None, exporters=exporters, throttle_secs=0)
    result, exports = tf.estimator.train_and_evaluate(estimator, train, evaluate)
    steps = set()
    for name in os.listdir(estimator.eval_dir()):
        steps |= {e.step for e in tf.train.summary_iterator(os.path.join(estimator.eval_dir(), name)) if e.summary.value}
    return [result[k] for k in sorted(result)], [type(e).__name__ for e in exports], sorted(os.listdir(os.path.join(estimator.model_dir, "export"))), sorted(steps)


def an_export(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf), steps=4)
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.constant([1.0])})
    extra = os.path.join(estimator.model_dir, "notes.txt")
    with open(extra, "w") as out:
        out.write("notes")
    path = estimator.export_saved_model(os.path.join(estimator.model_dir, "there"), serving, {"notes/a.txt": extra})
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.load(sess, ["serve"], path.decode())
        signature = meta.signature_def["serving_default"]
        y = sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1.0, 2.0]})
    return type(path).__name__, sorted(meta.signature_def), sorted(signature.inputs), sorted(signature.outputs), signature.method_name, y, os.path.exists(os.path.join(path.decode(), "assets.extra", "notes", "a.txt"))


def an_export_of_examples(tf):
    estimator = _estimator(tf)
    estimator.train(_data(tf), steps=4)
    serving = tf.estimator.export.build_parsing_serving_input_receiver_fn({"x": tf.FixedLenFeature([], tf.float32)})
    path = estimator.export_savedmodel(os.path.join(estimator.model_dir, "there"), serving)
    example = tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[2.0]))}))
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.load(sess, ["serve"], path.decode())
        signature = meta.signature_def["serving_default"]
        return sess.run(signature.outputs["y"].name, {signature.inputs["examples"].name: [example.SerializeToString()]}), sorted(signature.inputs)


def signatures_of_an_export(tf):
    def model_fn(features, labels, mode):
        tf.train.get_or_create_global_step()
        scores = features["x"] * tf.get_variable("w", initializer=2.0)
        export = tf.estimator.export
        outputs = {
            "serving_default": export.PredictOutput({"scores": scores}),
            "classes": export.ClassificationOutput(scores=tf.expand_dims(scores, 1)),
            "value": export.RegressionOutput(scores),
            "one": export.PredictOutput(scores),
        }
        step = tf.train.get_global_step().assign_add(1)
        return tf.estimator.EstimatorSpec(mode, {"scores": scores}, tf.reduce_sum(scores), step, export_outputs=outputs)

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(lambda: {"x": tf.constant([1.0])}, steps=1)
    serving = tf.estimator.export.build_parsing_serving_input_receiver_fn({"x": tf.FixedLenFeature([], tf.float32)})
    raw = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.constant([1.0])})
    found = []
    for receiver in (serving, raw):
        path = estimator.export_saved_model(tempfile.mkdtemp(), receiver)
        with tf.Graph().as_default(), tf.Session() as sess:
            signatures = tf.saved_model.load(sess, ["serve"], path.decode()).signature_def
            found.append({k: [s.method_name, sorted(s.inputs), sorted(s.outputs)] for k, s in signatures.items()})
    return found


def run_configs(tf):
    config = tf.estimator.RunConfig(model_dir="/tmp/a", save_checkpoints_steps=5)
    other = config.replace(save_checkpoints_secs=7, tf_random_seed=3)
    plain = tf.estimator.RunConfig()
    names = "save_checkpoints_steps save_checkpoints_secs tf_random_seed model_dir keep_checkpoint_max log_step_count_steps save_summary_steps is_chief master evaluation_master num_ps_replicas num_worker_replicas task_type task_id global_id_in_cluster service session_config keep_checkpoint_every_n_hours protocol train_distribute".split()
    return [[getattr(c, n) for n in names] for c in (config, other, plain)]


def mistakes_in_configurations(tf):
    config = tf.estimator.RunConfig
    return mistakes(
        tf,
        both=lambda: config(save_checkpoints_steps=1, save_checkpoints_secs=1),
        both_replaced=lambda: config().replace(save_checkpoints_steps=1, save_checkpoints_secs=1),
        negative=lambda: config(save_summary_steps=-1),
        seed=lambda: config(tf_random_seed=1.5),
        hours=lambda: config(keep_checkpoint_every_n_hours=0),
        log=lambda: config(log_step_count_steps=0),
        session=lambda: config(session_config=5),
        folder=lambda: config(model_dir=""),
        kept=lambda: config(keep_checkpoint_max=-1),
        protocol=lambda: config(protocol="http"),
    )


def mistakes_in_estimators(tf):
    model_fn = _linear(tf)
    make = tf.estimator.Estimator

    def estimator():
        return make(model_fn, tempfile.mkdtemp(), params={"rate": 0.1})

    def other(result):
        return make(lambda features, labels, mode: result(mode), tempfile.mkdtemp())

    def input_fn():
        return tf.constant([1.0]), tf.constant([1.0])

    def loss(mode):
        return tf.estimator.EstimatorSpec(mode, loss=tf.constant(1.0), eval_metric_ops={"loss": tf.metrics.mean(1.0)})

    return mistakes(
        tf,
        no_model=lambda: make(None, "/tmp/a"),
        folders=lambda: make(lambda features: None, "/tmp/a", tf.estimator.RunConfig(model_dir="/tmp/b")),
        both=lambda: estimator().train(input_fn, steps=1, max_steps=1),
        steps=lambda: estimator().train(input_fn, steps=0),
        max_steps=lambda: estimator().train(input_fn, max_steps=-1),
        evaluation=lambda: estimator().evaluate(input_fn, steps=0),
        no_spec=lambda: other(lambda mode: 5).train(input_fn, steps=1),
        no_loss=lambda: other(lambda mode: tf.estimator.EstimatorSpec(mode, train_op=tf.no_op())).train(input_fn, steps=1),
        no_train_op=lambda: other(lambda mode: tf.estimator.EstimatorSpec(mode, loss=tf.constant(1.0))).train(input_fn, steps=1),
        no_predictions=lambda: next(other(lambda mode: tf.estimator.EstimatorSpec(mode)).predict(lambda: tf.constant([1.0]))),
        labels=lambda: make(lambda features, mode: None, tempfile.mkdtemp()).train(input_fn, steps=1),
        three=lambda: estimator().train(lambda: (1, 2, 3), steps=1),
        metric=lambda: other(loss).evaluate(input_fn, steps=1),
        keys=lambda: next(estimator().predict(_data(tf, 1, labels=False), ["z"])),
        no_export=lambda: estimator().export_saved_model("/tmp/a", None),
    )


def mistakes_in_specs(tf):
    spec, train = tf.estimator.EstimatorSpec, tf.estimator.ModeKeys.TRAIN
    one = tf.constant

    with tf.Graph().as_default():
        elsewhere = tf.constant(1.0, name="far")
    return mistakes(
        tf,
        train_op=lambda: spec(train, loss=one(1.0)),
        loss=lambda: spec(train, train_op=tf.no_op()),
        vector=lambda: spec(train, loss=tf.placeholder(tf.float32, [2], name="v"), train_op=tf.no_op()),
        predictions=lambda: spec("infer"),
        number=lambda: spec("infer", predictions=5),
        numbers=lambda: spec("infer", predictions={"a": 5}),
        other_graph=lambda: spec("infer", predictions=elsewhere),
        other_loss=lambda: spec("eval", loss=elsewhere),
        metrics=lambda: spec("eval", loss=one(1.0), eval_metric_ops=[1]),
        metric=lambda: spec("eval", loss=one(1.0), eval_metric_ops={"a": 1}),
        hook=lambda: spec("eval", loss=one(1.0), evaluation_hooks=[5]),
        scaffold=lambda: spec("eval", loss=one(1.0), scaffold=5),
        outputs=lambda: spec("infer", predictions=one([1.0]), export_outputs=5),
        outputs_default=lambda: spec("infer", predictions=one([1.0]), export_outputs={"a": tf.estimator.export.PredictOutput(one(1.0)), "b": tf.estimator.export.PredictOutput(one(1.0))}),
        scores=lambda: tf.estimator.export.ClassificationOutput(scores=5),
        neither=lambda: tf.estimator.export.ClassificationOutput(),
        regression=lambda: tf.estimator.export.RegressionOutput("a"),
        output=lambda: tf.estimator.export.PredictOutput({"a": 5}),
        output_key=lambda: tf.estimator.export.PredictOutput({5: one(1.0)}),
        features=lambda: tf.estimator.export.ServingInputReceiver(None, {}),
        feature=lambda: tf.estimator.export.ServingInputReceiver({"a": 5}, {}),
        receiver=lambda: tf.estimator.export.ServingInputReceiver({"a": one(1.0)}, None),
        train_spec=lambda: tf.estimator.TrainSpec(5),
        train_steps=lambda: tf.estimator.TrainSpec(lambda: None, max_steps=0),
        train_hooks=lambda: tf.estimator.TrainSpec(lambda: None, hooks=[5]),
        eval_steps=lambda: tf.estimator.EvalSpec(lambda: None, steps=0),
        eval_name=lambda: tf.estimator.EvalSpec(lambda: None, name=5),
        exporters=lambda: tf.estimator.EvalSpec(lambda: None, exporters=5),
        same_names=lambda: tf.estimator.EvalSpec(lambda: None, exporters=[tf.estimator.FinalExporter("a", None)] * 2),
        throttle=lambda: tf.estimator.EvalSpec(lambda: None, throttle_secs=-1),
        kept=lambda: tf.estimator.BestExporter(exports_to_keep=0),
        compare=lambda: tf.estimator.BestExporter(compare_fn=None),
        evaluated=lambda: tf.estimator.train_and_evaluate(5, 5, 5),
        shuffle=lambda: tf.estimator.inputs.numpy_input_fn(np.zeros(2)),
        empty=lambda: tf.estimator.inputs.numpy_input_fn({}, shuffle=False)(),
        no_array=lambda: tf.estimator.inputs.numpy_input_fn([1], shuffle=False)(),
        lengths=lambda: tf.estimator.inputs.numpy_input_fn({"x": np.zeros(2)}, np.zeros(3), shuffle=False)(),
        duplicates=lambda: tf.estimator.inputs.numpy_input_fn({"x": np.zeros(2)}, {"x": np.zeros(2)}, shuffle=False)(),
    )


def loss_of_one_element(tf):
    spec = tf.estimator.EstimatorSpec("eval", loss=tf.constant([[2.0]]))
    return str(spec.loss.shape), spec.mode, spec.predictions, spec.eval_metric_ops, spec.export_outputs, type(spec.scaffold).__name__, spec._replace(loss=tf.constant(1.0)).loss.shape


def arrays_in_batches(tf):
    found = []
    for x, y, epochs in (
        (np.arange(5), None, 1),
        ({"a": np.arange(5), "b": np.arange(10.0).reshape(5, 2)}, np.arange(5) * 2, 1),
        ({"a": np.arange(3)}, {"l": np.array(["x", "y", "z"])}, 2),
    ):
        with tf.Graph().as_default():
            batch = tf.estimator.inputs.numpy_input_fn(x, y, 2, epochs, shuffle=False)()
            with tf.train.MonitoredSession() as sess:
                while not sess.should_stop():
                    found.append(sess.run(batch))
    return found


def all_of_shuffled_arrays(tf):
    x = np.arange(20)
    batch = tf.estimator.inputs.numpy_input_fn(x, None, 6, 1, shuffle=True)()
    found = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            found.extend(sess.run(batch).tolist())
    return sorted(found), found != sorted(found)


def a_classifier(tf):
    """A small network with dropout, summaries and its own saver, through three rounds."""
    rng = np.random.RandomState(0)
    x = rng.rand(40, 3).astype(np.float32)
    labels = (x.sum(1) > 1.5).astype(np.int32)

    def model_fn(features, labels, mode, params):
        hidden = tf.layers.dense(features["x"], params["hidden"], tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.1))
        logits = tf.layers.dense(hidden, 2, kernel_initializer=tf.constant_initializer(np.linspace(-1, 1, 2 * params["hidden"])))
        classes = tf.argmax(logits, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"class": classes, "probs": tf.nn.softmax(logits)})
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        tf.summary.scalar("mean_logit", tf.reduce_mean(logits))
        if mode == tf.estimator.ModeKeys.EVAL:
            metrics = {"accuracy": tf.metrics.accuracy(labels, classes), "precision": tf.metrics.precision(labels, classes)}
            return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        step = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params={"hidden": 4})
    inputs = tf.estimator.inputs.numpy_input_fn
    results = []
    for _ in range(3):
        estimator.train(inputs({"x": x}, labels, 8, None, shuffle=False), steps=10)
        result = estimator.evaluate(inputs({"x": x}, labels, 16, 1, shuffle=False))
        results.append([result[k] for k in sorted(result)])
    predictions = [int(p["class"]) for p in estimator.predict(inputs({"x": x}, batch_size=7, shuffle=False))]
    events = [f for f in os.listdir(estimator.model_dir) if "tfevents" in f]
    tags = set()
    for name in events:
        for event in tf.train.summary_iterator(os.path.join(estimator.model_dir, name)):
            tags |= {v.tag for v in event.summary.value}
    return results, predictions, sorted(t for t in tags if t != "global_step/sec" and "fraction" not in t), sorted(estimator.get_variable_names())


def clusters_of_the_environment(tf):
    """What a configuration refuses of `TF_CONFIG`."""

    def configured(cluster, **task):
        os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task})
        try:
            config = tf.estimator.RunConfig()
            return config.task_type, config.task_id, config.is_chief, config.num_worker_replicas
        finally:
            del os.environ["TF_CONFIG"]

    one = {"chief": ["a:1"]}
    return [configured(one, type="chief", index=0)] + [
        caught(lambda: configured({"worker": ["a:1"]}, type="worker", index=0), WHOLE),
        caught(lambda: configured({"chief": ["a:1", "b:1"]}, type="chief", index=0), WHOLE),
        caught(lambda: configured(one, index=0), WHOLE),
        caught(lambda: configured(one, type="chief"), WHOLE),
        caught(lambda: configured(one, type="chief", index=-1), WHOLE),
        caught(lambda: configured(one, type="worker", index=0), "not a valid task_type"),
        caught(lambda: configured(one, type="chief", index=2), "not a valid task_id"),
    ]


def members_of_subclasses(tf):
    class Trained(tf.estimator.Estimator):
        def train(self, *args, **kwargs):
            return self

    class Extended(tf.estimator.Estimator):
        def trained(self):
            return "yes"

    def model(features, labels, mode):
        return None

    folder = tempfile.mkdtemp()
    wrong = caught(lambda: tf.estimator.RunConfig(device_fn=lambda: "/cpu:0"), WHOLE)
    return Extended(model, folder).trained(), caught(lambda: Trained(model, folder), "cannot override members of Estimator"), wrong
