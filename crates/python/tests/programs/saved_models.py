"""SavedModels: saving, loading, signatures."""

import os
import tempfile

from programs.tools import WHOLE, caught, run


def _model(tf, folder, **given):
    """Saves a linear model to a directory."""
    x = tf.placeholder(tf.float32, [None], name="x")
    v = tf.Variable(2.0, name="v")
    r = tf.Variable(3.0, name="r", use_resource=True, trainable=False)
    y = tf.identity(x * v + r, name="y")
    signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(sess, ["serve"], {"serving_default": signature}, **given)
        builder.add_meta_graph(["serve", "gpu"], {"serving_default": signature})
        return os.path.basename(builder.save()), os.path.basename(builder.save(as_text=True))


def _loaded(tf, folder, use, tags=("serve",), **given):
    with tf.Session(graph=tf.Graph()) as sess:
        model = tf.saved_model.load(sess, list(tags), folder, **given)
        return use(sess, model)


def written_and_read(tf):
    with tempfile.TemporaryDirectory() as folder:
        written = _model(tf, folder)
        files = sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)

        def use(sess, model):
            inputs, outputs = model.signature_def["serving_default"].inputs, model.signature_def["serving_default"].outputs
            values = sess.run(outputs["y"].name, {inputs["x"].name: [1.0, 2.0]})
            return values, [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()], list(model.meta_info_def.tags)

        return written, files, _loaded(tf, folder, use)


def read_into_a_scope(tf):
    with tempfile.TemporaryDirectory() as folder:
        _model(tf, folder)
        return _loaded(tf, folder, lambda sess, model: sess.run("in/y:0", {"in/x:0": [1.0]}), import_scope="in")


def read_as_text(tf):
    with tempfile.TemporaryDirectory() as folder:
        _model(tf, folder)
        os.remove(os.path.join(folder, "saved_model.pb"))
        return _loaded(tf, folder, lambda sess, model: sess.run("y:0", {"x:0": [1.0]}), tags=("gpu", "serve"))


def files_come_along(tf):
    with tempfile.TemporaryDirectory() as above:
        words = os.path.join(above, "words.txt")
        with open(words, "w") as out:
            out.write("a\nb\n")
        path = tf.constant(words, name="words")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
        found = tf.Variable("", name="found", trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        first = tf.group(found.assign(path), name="first")
        folder = os.path.join(above, "model")
        _model(tf, folder, assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), main_op=first)
        os.remove(words)

        def use(sess, model):
            return os.path.relpath(sess.run("found:0").decode(), folder), sess.run(tf.read_file(sess.graph.get_tensor_by_name("found:0")))

        return _loaded(tf, folder, use)


def a_loop_in_a_model(tf):
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "model")
        n = tf.placeholder(tf.int32, [], name="n")
        w = tf.get_variable("w", initializer=2.0)
        power = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * w), [0, 1.0])[1]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(sess, folder, {"n": n}, {"power": power})

        def use(sess, model):
            signature = model.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
            value = tf.saved_model.get_tensor_from_tensor_info(signature.outputs["power"])
            (gradient,) = tf.gradients(value, [tf.trainable_variables()[0]])
            return signature.method_name, sess.run([value, gradient], {signature.inputs["n"].name: 5})

        return _loaded(tf, folder, use, tags=[tf.saved_model.tag_constants.SERVING])


def without_variables(tf):
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "model")
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.Session() as sess:
            tf.saved_model.simple_save(sess, folder, {"x": x}, {"y": tf.square(x, name="y")})
        return sorted(os.listdir(folder)), _loaded(tf, folder, lambda sess, model: sess.run("y:0", {"x:0": [1.0, 3.0]}))


def folders_refused(tf):
    with tempfile.TemporaryDirectory() as folder:
        _model(tf, folder)
        return (
            tf.saved_model.maybe_saved_model_directory(folder),
            tf.saved_model.loader.maybe_saved_model_directory("/no/such"),
            tf.saved_model.contains_saved_model("/no/such"),
            caught(lambda: tf.saved_model.builder.SavedModelBuilder(folder), "Export directory already exists, and isn't empty. Please choose a different export directory, or delete all the contents of the specified directory: "),
            caught(lambda: _loaded(tf, folder, None, tags=["nope"]), "MetaGraphDef associated with tags 'nope' could not be found in SavedModel. To inspect available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`"),
            caught(lambda: _loaded(tf, "/no/such", None), "SavedModel file does not exist at: /no/such/{saved_model.pbtxt|saved_model.pb}"),
        )


def graphs_refused(tf):
    with tempfile.TemporaryDirectory() as above:
        x = tf.placeholder(tf.float32, [2], name="x")
        builder = tf.saved_model.Builder(os.path.join(above, "model"))
        early = caught(lambda: builder.add_meta_graph(["a"]), WHOLE)
        with tf.Session() as sess:
            builder.add_meta_graph_and_variables(sess, ["a"])
            twice = caught(lambda: builder.add_meta_graph_and_variables(sess, ["b"]), WHOLE)
        empty = tf.saved_model.build_signature_def({"a": tf.TensorInfo()})
        return early, twice, caught(lambda: builder.add_meta_graph(["a"], main_op=3), WHOLE), caught(lambda: builder.add_meta_graph(["a"], {"k": empty}))


def tensors_as_messages(tf):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    sparse = tf.SparseTensor(tf.placeholder(tf.int64, [None, 2], name="i"), tf.placeholder(tf.float32, [None], name="v"), tf.constant([3, 4], tf.int64, name="s"))
    dense_info, sparse_info = tf.saved_model.utils.build_tensor_info(x), tf.saved_model.build_tensor_info(sparse)
    again = tf.saved_model.get_tensor_from_tensor_info(sparse_info)
    return (
        str(dense_info),
        str(sparse_info),
        tf.saved_model.get_tensor_from_tensor_info(dense_info).name,
        [again.indices.name, again.values.name, again.dense_shape.name],
        caught(lambda: tf.saved_model.build_tensor_info(3), "'int' object has no attribute 'dtype'"),
    )


def signatures(tf):
    x, text = tf.placeholder(tf.float32, [None, 2], name="x"), tf.placeholder(tf.string, [None], name="text")
    of = tf.saved_model.signature_def_utils
    made = [
        of.classification_signature_def(text, text, x),
        of.classification_signature_def(text, None, x),
        of.regression_signature_def(text, x),
        of.predict_signature_def({"a": x}, {"b": text}),
        of.build_signature_def(),
        of.build_signature_def({"a": tf.saved_model.build_tensor_info(x)}, None, "mine"),
    ]
    shown = [(s.method_name, sorted((k, v.name) for k, v in s.inputs.items()), sorted((k, v.name) for k, v in s.outputs.items())) for s in made]
    return shown, [tf.saved_model.is_valid_signature(s) for s in made], tf.saved_model.is_valid_signature(None)


def signatures_refused(tf):
    x, text = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.string, [None])
    of = tf.saved_model
    return [
        caught(lambda: of.classification_signature_def(None, text, x), WHOLE),
        caught(lambda: of.classification_signature_def(x, None, None), WHOLE),
        caught(lambda: of.classification_signature_def(x, text, None), WHOLE),
        caught(lambda: of.classification_signature_def(text, x, None), WHOLE),
        caught(lambda: of.classification_signature_def(text, None, text), WHOLE),
        caught(lambda: of.regression_signature_def(None, x), WHOLE),
        caught(lambda: of.regression_signature_def(text, None), WHOLE),
        caught(lambda: of.regression_signature_def(x, x), WHOLE),
        caught(lambda: of.regression_signature_def(text, text), WHOLE),
        caught(lambda: of.predict_signature_def({}, {"a": x}), WHOLE),
        caught(lambda: of.predict_signature_def({"a": x}, None), WHOLE),
    ]


def names_of_constants(tf):
    m = tf.saved_model
    return [
        [m.ASSETS_DIRECTORY, m.ASSETS_KEY, m.LEGACY_INIT_OP_KEY, m.MAIN_OP_KEY, m.SAVED_MODEL_FILENAME_PB, m.SAVED_MODEL_FILENAME_PBTXT, m.SAVED_MODEL_SCHEMA_VERSION],
        [m.VARIABLES_DIRECTORY, m.VARIABLES_FILENAME, m.constants.VARIABLES_FILENAME],
        [m.CLASSIFY_INPUTS, m.CLASSIFY_METHOD_NAME, m.CLASSIFY_OUTPUT_CLASSES, m.CLASSIFY_OUTPUT_SCORES, m.DEFAULT_SERVING_SIGNATURE_DEF_KEY],
        [m.PREDICT_INPUTS, m.PREDICT_METHOD_NAME, m.PREDICT_OUTPUTS, m.REGRESS_INPUTS, m.REGRESS_METHOD_NAME, m.REGRESS_OUTPUTS],
        [m.GPU, m.SERVING, m.TPU, m.TRAINING, m.tag_constants.TRAINING],
    ]


def first_operations(tf):
    found = tf.Variable(5, name="found", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    first = tf.saved_model.main_op.main_op()
    with tf.Session() as sess:
        sess.run(first)
        value = sess.run(found)
    return value, run(tf, tf.constant(1))


def first_operation_of_all_variables(tf):
    v = tf.Variable(5, name="v")
    with tf.Session() as sess:
        sess.run(tf.saved_model.main_op.main_op())
        return sess.run(v)
