"""Profiles of graphs: parameters and float operations in trees of names, options; the projector's file."""

import os
import tempfile



def _model(tf):
    x = tf.placeholder(tf.float32, [4, 3])
    with tf.variable_scope("a"):
        hidden = tf.layers.dense(x, 5, tf.nn.relu, name="d")
        image = tf.layers.conv2d(tf.ones([2, 6, 6, 3]), 4, 3, name="c")
    with tf.variable_scope("b"):
        w = tf.get_variable("w", [5, 2])
        y = tf.matmul(hidden, w)
        tf.reduce_mean(tf.square(y)[0]) + tf.reduce_sum(image)
    tf.get_variable("not_trained", [7], trainable=False)


def _tree(node):
    numbers = [node.float_ops, node.total_float_ops, node.parameters, node.total_parameters]
    return [node.name, numbers, [_tree(child) for child in node.children]]


def _silent(options):
    return dict(options, output="none")


def parameters(tf):
    _model(tf)
    builder = tf.profiler.ProfileOptionBuilder
    found = tf.profiler.profile(tf.get_default_graph(), options=_silent(builder.trainable_variables_parameter()))
    deep = builder(_silent(builder.trainable_variables_parameter())).with_max_depth(1).build()
    some = builder(_silent(builder.trainable_variables_parameter())).with_min_parameters(10).order_by("params").build()
    others = [_tree(tf.profiler.profile(tf.get_default_graph(), options=o)) for o in (deep, some)]
    return _tree(found), found.total_definition_count, others


def float_operations(tf):
    _model(tf)
    builder = tf.profiler.ProfileOptionBuilder
    found = tf.profiler.profile(tf.get_default_graph(), options=_silent(builder.float_operation()))
    no_initializers = builder(_silent(builder.float_operation())).with_node_names(hide_name_regexes=[".*Initializer.*"]).build()
    return _tree(found), tf.profiler.profile(tf.get_default_graph(), options=no_initializers).total_float_ops


def kinds(tf):
    _model(tf)
    options = _silent(tf.profiler.ProfileOptionBuilder.float_operation())
    node = tf.profiler.profile(tf.get_default_graph(), cmd="op", options=options)
    found = []
    while node.children:
        node = node.children[0]
        found.append((node.name, node.float_ops, node.total_float_ops, sorted(n.name for n in node.graph_nodes)))
    return found


def graph_alone(tf):
    _model(tf)
    options = _silent(tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())
    return tf.profiler.profile(tf.get_default_graph(), cmd="graph", options=options).total_parameters


def options(tf):
    builder = tf.profiler.ProfileOptionBuilder
    made = builder(builder.time_and_memory(min_micros=3)).with_max_depth(5).with_accounted_types(["MatMul"]).with_min_occurrence(2)
    made = made.with_min_memory(4, 5).with_min_execution_time(6).with_min_float_operations(7).account_displayed_op_only(False).with_step(3)
    return builder().build(), builder.trainable_variables_parameter(), builder.float_operation(), made.select(["bytes"]).with_empty_output().build()


def predecessors(tf):
    _model(tf)
    analyzer = tf.contrib.tfprof.model_analyzer
    given = dict(analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, output="none")
    found = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=given)
    flops = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=dict(analyzer.FLOAT_OPS_OPTIONS, output="none"))
    return found.total_parameters, flops.total_float_ops, sorted(analyzer.PRINT_ALL_TIMING_MEMORY["select"])


def projector(tf):
    plugin = tf.contrib.tensorboard.plugins.projector
    folder = tempfile.mkdtemp()
    config = plugin.ProjectorConfig(model_checkpoint_path="model.ckpt")
    one = config.embeddings.add()
    one.tensor_name, one.metadata_path = "w:0", os.path.join("somewhere", "words.tsv")
    one.sprite.image_path = "sprite.png"
    one.sprite.single_image_dim.extend([28, 28])
    config.embeddings.add(tensor_name="v:0", tensor_shape=[3, 4])
    plugin.visualize_embeddings(tf.summary.FileWriter(folder), config)
    with open(os.path.join(folder, "projector_config.pbtxt")) as source:
        text = source.read()
    return text, plugin.ProjectorConfig.FromString(config.SerializeToString()) == config


