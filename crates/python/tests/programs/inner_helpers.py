"""Internal modules of distributions, checkpoints of objects, SavedModels, ops by name and small helpers."""

import os
import tempfile

import numpy as np

from programs.tools import WHOLE, caught, inside, mistakes, run, static


def _feedable(tf, value, shape=None):
    return tf.placeholder_with_default(tf.constant(value), shape)


def checks_of_parameters(tf):
    util = inside("python.ops.distributions.util")
    return mistakes(
        tf,
        both=lambda: util.get_logits_and_probs([1.0], [1.0]),
        none=lambda: util.get_logits_and_probs(),
        integer_logits=lambda: util.get_logits_and_probs([1]),
        integer_probs=lambda: util.get_logits_and_probs(probs=[1]),
        above_one=lambda: util.get_logits_and_probs(probs=_feedable(tf, [1.5]), validate_args=True)[1],
        no_sum=lambda: util.get_logits_and_probs(probs=_feedable(tf, [0.3, 0.3]), validate_args=True, multidimensional=True)[1],
        no_end=lambda: util.pad([1, 2], 0),
        not_bool=lambda: util.pick_vector(1, [1], [2]),
        dtypes=lambda: util.pick_vector(_feedable(tf, True, []), [1], [2.0]),
        lengths=lambda: util.process_quadrature_grid_and_probs(([1.0, 2.0], [1.0]), tf.float32, False),
        inverse=lambda: inside("python.ops.distributions.special_math").erfinv(tf.constant([0.5], tf.float16)),
    )


def values_of_distributions(tf):
    util = inside("python.ops.distributions.util")
    x, late = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), _feedable(tf, np.arange(6.0).reshape(1, 2, 3))
    pairs = [
        util.get_logits_and_probs([0.5, -1.0]),
        util.get_logits_and_probs(probs=[0.5, 0.25]),
        util.get_logits_and_probs([[0.5, -1.0]], multidimensional=True),
        util.get_logits_and_probs(probs=[0.5, 0.5], multidimensional=True, validate_args=True),
        util.process_quadrature_grid_and_probs(None, tf.float64, False),
        util.process_quadrature_grid_and_probs(([1.0, 2.0], [1.0, 3.0]), tf.float32, True),
    ]
    tensors = [
        util.log_combinations(4.0, [[1.0, 3.0], [2.0, 2.0]]),
        util.rotate_transpose(x, 1),
        util.rotate_transpose(late, -1),
        util.rotate_transpose(late, _feedable(tf, 2, [])),
        util.rotate_transpose(x, 2),
        util.pick_vector(_feedable(tf, True, []), [1, 2], [3, 4, 5]),
        util.pick_vector(_feedable(tf, False, []), [1, 2], [3, 4, 5]),
        util.same_dynamic_shape(x, late),
        util.same_dynamic_shape(x, [[1, 2, 3], [4, 5, 6]]),
        util.pad(x, 1, front=True, value=7, count=2),
        util.pad(x, -1, back=True),
        util.pad(late, 0, front=True, back=True, value=-1),
        util.pad(x, _feedable(tf, 0, []), back=True),
        util.assert_symmetric(tf.eye(2)),
        inside("python.ops.distributions.special_math").erfinv([0.0, 0.5, -0.9]),
        util.prefer_static_broadcast_shape([2, 1], _feedable(tf, [3])),
    ]
    plain = [
        util.maybe_get_static_value(tf.constant(3)),
        util.maybe_get_static_value(_feedable(tf, 3)),
        util.maybe_get_static_value(None),
        util.maybe_get_static_value(2.5, np.float64),
        util.prefer_static_rank(x),
        util.prefer_static_shape(x),
        util.prefer_static_broadcast_shape([2, 1], [3]),
        util.prefer_static_broadcast_shape(tf.TensorShape([2, None]), tf.TensorShape([2, 1])),
        util.dimension_size(x, 1),
        static(util.dimension_size(late, 1)),
        util.pick_vector(True, 1, 2),
        util.gen_new_seed(7, "salt"),
        util.gen_new_seed(None, "salt"),
    ]
    return static(*tensors), run(tf, tensors), run(tf, [list(pair) for pair in pairs]), plain


def texts_of_distributions(tf):
    util = inside("python.ops.distributions.util")

    def called(a, b=2, **kwargs):
        return util.parent_frame_arguments()

    @util.AppendDocstring("More.", {"b": "  second", "a": "first"})
    def documented():
        """Text."""

    @util.AppendDocstring("Alone.")
    def bare():
        return 3

    return [
        called(1, c=4),
        documented.__doc__,
        bare.__doc__,
        bare(),
        caught(lambda: util.AppendDocstring("", {"a b": "x"}), WHOLE),
        caught(lambda: util.AppendDocstring("", {"a": "x\ny"}), WHOLE),
    ]


def ops_by_name(tf):
    library = inside("python.framework.op_def_library").OpDefLibrary()
    op_def_pb2 = inside("core.framework.op_def_pb2")
    definition = op_def_pb2.OpDef(name="Identity")
    x = tf.constant([[1.0, 2.0]])
    if hasattr(library, "add_op"):
        ops = inside("python.framework.op_def_registry").get_registered_ops()
        for name in ("Identity", "NoOp", "Split", "TopKV2", "MatMul", "ConcatV2"):
            library.add_op(ops[name])
    results = [
        library.apply_op("Identity", input=x),
        library.apply_op("Identity", "named", input=x),
        library.apply_op("MatMul", a=x, b=x, transpose_a=False, transpose_b=True),
        library.apply_op("ConcatV2", values=[x, x], axis=0),
    ]
    split = library.apply_op("Split", split_dim=1, value=x, num_split=2)
    top = library.apply_op("TopKV2", input=x, k=1, sorted=True)
    nothing = library.apply_op("NoOp", name="nothing")
    wrong = [
        caught(lambda: library.add_op(3), WHOLE),
        caught(lambda: library.add_op_list(3), WHOLE),
        caught(lambda: library.add_op(op_def_pb2.OpDef())),
        caught(lambda: library.add_op(definition)),
        caught(lambda: library.apply_op("Nope", x=1), WHOLE),
        caught(lambda: library.apply_op("Identity"), WHOLE),
    ]
    return [r.name for r in results], run(tf, results), type(split).__name__, run(tf, split), run(tf, list(top)), nothing.name, wrong


def objects_that_hold_others(tf):
    base = inside("python.training.tracking.base")
    tracking = inside("python.training.tracking.tracking")
    structures = inside("python.training.tracking.data_structures")
    util = inside("python.training.tracking.util")
    v, w = (tf.get_variable(name, initializer=1.0, use_resource=True) for name in "vw")
    root = tracking.AutoTrackable()
    root.a, root.text = v, "text"
    root.inner = tracking.AutoTrackable()
    root.inner.w = w
    root.hidden = structures.NoDependency(w)
    root.steps = structures.List([v])
    root.steps.append(w)
    root.map = structures.Mapping(x=v)
    root.map["y"] = w
    names = [d.name for d in root._checkpoint_dependencies]
    del root.map
    plain = base.Trackable()
    plain._track_trackable(v, "one")
    wrong = [
        caught(lambda: plain._track_trackable(w, "one"), WHOLE),
        caught(lambda: plain._track_trackable(3, "two"), WHOLE),
        caught(lambda: root.steps.append(3), WHOLE),
        caught(lambda: structures.Mapping()["x"]),
        caught(lambda: structures.Mapping({1: v}), WHOLE),
    ]
    path = os.path.join(tempfile.mkdtemp(), "ckpt")
    checkpoint = tf.train.Checkpoint(root=root)
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        path = checkpoint.save(path)
        sess.run([v.assign(5.0), w.assign(6.0)])
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        values = sess.run([v, w])
    keys = [key for key, _ in tf.train.list_variables(path)]
    held = [[c.local_name for c in node.children] for node in util.object_metadata(path).nodes]
    parts = [len(util.list_objects(root)), len(util.gather_initializers(root)), root.hidden is w, root.text]
    return names, [d.name for d in root._checkpoint_dependencies], parts, values, keys, held, wrong


def values_of_an_object(tf):
    base = inside("python.training.tracking.base")
    saveable_object = inside("python.training.saving.saveable_object")

    class Held(saveable_object.SaveableObject):
        def __init__(self, variable, name):
            super(Held, self).__init__(variable, [saveable_object.SaveSpec(variable + 0.0, "", name)], name)

        def restore(self, restored_tensors, restored_shapes):
            return tf.assign(self.op, restored_tensors[0])

    class Own(base.Trackable):
        def __init__(self, variable):
            self.variable = variable

        def _gather_saveables_for_checkpoint(self):
            return {"VALUE": lambda name="value": Held(self.variable, name)}

    v = tf.get_variable("v", initializer=2.0)
    checkpoint = tf.train.Checkpoint(own=Own(v))
    path = os.path.join(tempfile.mkdtemp(), "ckpt")
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = checkpoint.save(path)
        sess.run(v.assign(5.0))
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        value = sess.run(v)
    return value, [key for key, _ in tf.train.list_variables(path)]


def modules_in_checkpoints(tf):
    class Line(tf.Module):
        def __init__(self, name=None):
            super(Line, self).__init__(name=name)
            self.w = tf.Variable(2.0, name="w", use_resource=True)
            self.rest = [tf.Variable(1.0, name="b", use_resource=True)]
            self.count = 3

    both = Line("both")
    both.inner = Line("inner")
    path = os.path.join(tempfile.mkdtemp(), "ckpt")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(model=both).save(path)
    return tf.train.list_variables(path)


def layers_in_containers(tf):
    utils = inside("python.training.tracking.layer_utils")
    structures = inside("python.training.tracking.data_structures")
    a, b = tf.layers.Dense(2, name="a"), tf.layers.Dense(3, name="b", trainable=False)
    b(a(tf.ones([1, 2])))
    held = structures.List([a, b])
    v = tf.get_variable("v", initializer=1.0)
    return [
        [utils.is_layer(x) for x in (a, 3, held)],
        [utils.has_weights(x) for x in (a, 3, held)],
        [x.name for x in held.layers],
        [x.name for x in utils.filter_empty_layer_containers([held, a])],
        [x.name for x in utils.gather_trainable_weights(True, [a, b], [v])],
        [x.name for x in utils.gather_trainable_weights(False, [a, b], [v])],
        [x.name for x in utils.gather_non_trainable_weights(True, [a], [v])],
        [x.name for x in utils.gather_non_trainable_weights(False, [a], [v])],
    ]


def resources_and_their_trackers(tf):
    tracking = inside("python.training.tracking.tracking")

    class Mine(tracking.TrackableResource):
        def _create_resource(self):
            return tf.constant("handle")

    tracker = tracking.ResourceTracker()
    with tracking.resource_tracker_scope(tracker):
        one = Mine()
    two = Mine()
    calls = []

    class Cached(object):
        @tracking.cached_per_instance
        def value(self):
            calls.append(1)
            return len(calls)

    c = Cached()
    asset = tracking.TrackableAsset("/tmp/words")
    return [
        tracker.resources == [one],
        one.resource_handle is one.resource_handle,
        run(tf, two.resource_handle),
        [c.value(), c.value(), Cached().value()],
        run(tf, asset.asset_path),
        len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)),
        caught(lambda: tracking.CapturableResource().resource_handle, WHOLE),
    ]


def savers_of_saveables(tf):
    util = inside("python.training.saving.saveable_object_util")
    functional = inside("python.training.saving.functional_saver")
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    w = tf.get_variable("w", initializer=[2.0, 3.0], use_resource=True)
    saveables = util.validate_and_slice_inputs({"b": w, "a": v})
    prefix = os.path.join(tempfile.mkdtemp(), "ckpt")
    saver = functional._SingleDeviceSaver(saveables)
    save, restore = saver.save(prefix), saver.restore(prefix)
    with tf.Session() as sess:
        sess.run([v.initializer, w.initializer])
        sess.run(save)
        sess.run([v.assign(7.0), w.assign([8.0, 9.0])])
        sess.run(list(restore.values()))
        values = sess.run([v, w])
    definition = functional.MultiDeviceSaver(saveables).to_proto()
    return [
        [s.name for s in saveables],
        sorted(restore),
        values,
        sorted(key for key, _ in tf.train.list_variables(prefix)),
        sorted(util.op_list_to_dict([v, w])),
        [s.name for s in util.saveable_objects_for_op(v, "name")],
        util.set_cpu0("/job:ps/task:1/device:GPU:3"),
        definition.filename_tensor_name,
        definition.version,
        caught(lambda: util.op_list_to_dict(3), WHOLE),
        caught(lambda: list(util.saveable_objects_for_op(v, 3))),
    ]


def signatures_and_folders(tf):
    utils = inside("python.saved_model.utils_impl")
    signatures = inside("python.saved_model.signature_def_utils_impl")
    builder = inside("python.saved_model.builder_impl")
    x, y = tf.placeholder(tf.float32, [2], name="x"), tf.constant(1.0, name="y")
    step = tf.no_op(name="step")
    train = signatures.supervised_train_signature_def({"x": x}, {"loss": y}, {"p": y}, {"m": y})
    evaluate = signatures.supervised_eval_signature_def({"x": x}, {"loss": y})
    named = signatures.op_signature_def(step, "key")
    folder = tempfile.mkdtemp()
    made = [utils.get_or_create_assets_dir(folder), utils.get_or_create_variables_dir(folder), utils.get_variables_path(folder)]
    files = [os.path.join(tempfile.mkdtemp(), "b.txt") for _ in range(3)]
    for path, text in zip(files, ("one", "other", "one")):
        with open(path, "w") as file:
            file.write(text)
    missing = signatures.op_signature_def(step, "key")
    missing.outputs["key"].name = "nope"
    return [
        [(s.method_name, sorted(s.inputs), sorted(s.outputs)) for s in (train, evaluate, named)],
        named.outputs["key"].name,
        named.outputs["key"].tensor_shape.unknown_rank,
        signatures.load_op_from_signature_def(named, "key").name,
        caught(lambda: signatures.load_op_from_signature_def(missing, "key"), "could not be found in the graph"),
        caught(lambda: signatures.supervised_train_signature_def({}, None), WHOLE),
        [os.path.relpath(path, folder) for path in made],
        [os.path.isdir(path) for path in made],
        builder.get_asset_filename_to_add("/a/b.txt", {}),
        builder.get_asset_filename_to_add("/a/b.txt", {"b.txt": "/a/b.txt"}),
        tf.compat.as_str(builder.get_asset_filename_to_add(files[0], {"b.txt": files[1]})),
        builder.get_asset_filename_to_add(files[0], {"b.txt": files[2]}),
    ]


def outputs_and_modes(tf):
    modes = inside("python.saved_model.model_utils.mode_keys")
    output = inside("python.saved_model.model_utils.export_output")
    utils = inside("python.saved_model.model_utils.export_utils")
    x, loss = tf.placeholder(tf.float32, [2], name="x"), tf.constant(1.0, name="loss")
    metric = (tf.constant(0.5, name="value"), tf.no_op(name="update"))
    trained = output.TrainOutput(loss, {"p": x}, {"acc": metric, ("a", "b"): (loss, loss)})
    kept = modes.ModeKeyMap(train=1, eval=2, infer=3)
    signature = trained.as_signature_def({"x": x})
    chosen = utils.export_outputs_for_mode("eval", loss=loss, predictions={"p": x})
    every = utils.build_all_signature_defs(x, {"train": trained, "serving_default": output.PredictOutput({"y": x})}, serving_only=False)
    return [
        sorted(trained.loss),
        sorted(trained.predictions),
        sorted(trained.metrics),
        [signature.method_name, sorted(signature.outputs)],
        [[f(m) for m in ("train", "test", "eval", "predict", "infer", "x")] for f in (modes.is_train, modes.is_eval, modes.is_predict)],
        [kept["train"], kept["test"], kept["eval"], kept["predict"], len(kept), sorted(kept)],
        [sorted(chosen), type(chosen["eval"]).__name__],
        sorted(every),
        os.path.basename(utils.get_temp_export_dir("/tmp/123")),
        caught(lambda: output.TrainOutput("x"), WHOLE),
        caught(lambda: output.TrainOutput({3: loss}), WHOLE),
        caught(lambda: output.EvalOutput(loss, None, {"a": (3, loss)}), WHOLE),
        caught(lambda: output.EvalOutput(loss, None, {"a": (loss, 3)}), WHOLE),
        caught(lambda: modes.ModeKeyMap(train=1, x=2), WHOLE),
        caught(lambda: modes.ModeKeyMap(test=1, eval=2), WHOLE),
        caught(lambda: utils.get_export_outputs(3, None), WHOLE),
    ]


def loading_in_steps(tf):
    loader = inside("python.saved_model.loader_impl")
    folder = os.path.join(tempfile.mkdtemp(), "model")
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.multiply(x, tf.get_variable("w", initializer=3.0), name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": y})
    one = loader.SavedModelLoader(folder)
    with tf.Graph().as_default(), tf.Session() as sess:
        saver, (found,) = one.load_graph(sess.graph, ["serve"], return_elements=["y:0"])
        one.restore_variables(sess, saver)
        one.run_init_ops(sess, ["serve"])
        value = sess.run(found, {"x:0": 2.0})
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = one.load(sess, ["serve"])
        again = sess.run("y:0", {"x:0": 2.0})
    return [
        value,
        again,
        sorted(meta.signature_def),
        os.path.relpath(one.variables_path, folder),
        one.export_dir == folder,
        len(loader.parse_saved_model(folder).meta_graphs),
        loader.get_asset_tensors(folder, meta),
        loader.get_train_op(meta),
        caught(lambda: one.get_meta_graph_def_from_tags(["nope"]), "MetaGraphDef associated with tags"),
        caught(lambda: loader.SavedModelLoader("/nonexistent"), "SavedModel file does not exist at:"),
    ]


def small_helpers_of_arrays(tf):
    arrays, maths = inside("python.ops.array_ops"), inside("python.ops.math_ops")
    late = _feedable(tf, [[1, 2], [3, 4]])
    tensors = [
        arrays.convert_to_int_tensor([1, 2], "n"),
        arrays.convert_to_int_tensor(np.int64(3), "n", tf.int64),
        arrays.tile_one_dimension(tf.constant([[1, 2]]), 1, 2),
        arrays.tile_one_dimension(late, 0, 2),
        arrays.shape_internal(tf.ones([2, 3]), optimize=False),
        arrays.size_internal(tf.ones([2, 3]), optimize=False, out_type=tf.int64),
        arrays.rank_internal(tf.ones([2, 3]), optimize=False),
        arrays.zeros_like_impl(late, None, None),
        arrays.ones_like_impl(late, tf.float32, "ones"),
        maths.reduced_shape([2, 3, 4], [0, -1]),
        maths.reduced_shape(_feedable(tf, [2, 3, 4]), [0, -1]),
        maths.DivideDelegateWithName(tf.constant(7), "d") // 2,
        maths.DivideDelegateWithName(tf.constant(7), "d") / 2,
    ]
    wrong = mistakes(
        tf,
        floats=lambda: arrays.convert_to_int_tensor(1.5, "n"),
        text=lambda: arrays.get_positive_axis("a", 2),
        beyond=lambda: arrays.get_positive_axis(2, 2),
        before=lambda: arrays.get_positive_axis(-3, 2),
        unknown=lambda: arrays.get_positive_axis(-1, None),
    )
    axes = [arrays.get_positive_axis(1, 2), arrays.get_positive_axis(-1, 2), arrays.get_positive_axis(3, None)]
    repeated = run(tf, arrays.repeat_with_axis([[1, 2], [3, 4]], [2, 1], 1))
    return static(*tensors), run(tf, tensors), repeated, axes, wrong


def small_helpers_of_losses(tf):
    util, nn = inside("python.ops.losses.util"), inside("python.ops.nn_impl")
    x, late = tf.constant([[1.0], [2.0]]), _feedable(tf, [[1.0], [2.0]])
    shapes = [
        run(tf, [part for part in util.squeeze_or_expand_dimensions(a, b, w) if part is not None])
        for a, b, w in (
            (x, None, tf.constant([1.0, 2.0])),
            (x, tf.constant([1.0, 2.0]), tf.constant(3.0)),
            (tf.constant([1.0, 2.0]), None, x),
            (late, _feedable(tf, [1.0, 2.0]), _feedable(tf, [4.0, 5.0])),
            (late, None, late),
        )
    ]
    unit, norm = nn.normalize([[3.0, 4.0], [6.0, 8.0]], axis=1)
    tensors = [
        util.scale_losses_by_sample_weight(tf.constant([1.0, 2.0]), [3.0, 4.0]),
        nn.compute_average_loss(tf.constant([1.0, 2.0])),
        nn.compute_average_loss(tf.constant([1.0, 2.0]), sample_weight=[1.0, 0.5], global_batch_size=10),
        unit,
        norm,
        inside("python.ops.linalg.linalg_impl").matrix_exponential([[0.0, 1.0], [0.0, 0.0]]),
    ]
    wrong = mistakes(
        tf,
        scalar=lambda: nn.compute_average_loss(tf.constant(1.0)),
        late=lambda: nn.compute_average_loss(_feedable(tf, 1.0)),
    )
    return shapes, static(*tensors), run(tf, tensors), wrong


def labels_of_sequences(tf):
    ctc = inside("python.ops.ctc_ops")
    sparse = ctc.dense_labels_to_sparse(tf.constant([[1, 2, 3], [4, 0, 0]]), tf.constant([2, 1]))
    logits = tf.constant(np.random.RandomState(0).randn(4, 2, 5), tf.float32)
    loss = ctc.ctc_loss_dense(tf.constant([[1, 2], [3, 0]]), logits, tf.constant([2, 1]), tf.constant([4, 3]))
    return run(tf, sparse), np.round(run(tf, loss).astype(np.float64), 4)


def stand_ins_for_sessions(tf):
    kind = inside("python.client.session").SessionInterface

    class Mine(kind):
        def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
            return "mine"

    mine = Mine()
    return [
        mine.run(1),
        issubclass(tf.Session, kind),
        caught(lambda: mine.graph, WHOLE),
        caught(lambda: mine.sess_str, WHOLE),
        caught(lambda: mine.partial_run_setup(1), WHOLE),
        caught(lambda: mine.partial_run(1, 2), WHOLE),
    ]


def queues_of_wrong_parts(tf):
    barriers = inside("python.ops.data_flow_ops")
    handle = tf.constant(1)
    taken = barriers.Barrier(tf.float32, shapes=[[2]]).take_many(2)
    return [
        caught(lambda: tf.QueueBase([tf.float32], [[]], ["a", "b"], handle), WHOLE),
        caught(lambda: tf.QueueBase([tf.float32], [[], []], None, handle), WHOLE),
        list(taken._fields),
    ]
