"""Error messages for graphs, sessions, loops, branches, gradients, feeds and fetches."""

import numpy as np

from programs.tools import late, mistakes


def loops(tf):
    less = lambda i, *_: i < 3
    return mistakes(
        tf,
        cond_no_callable=lambda: tf.while_loop(1, lambda i: i, [0]),
        body_no_callable=lambda: tf.while_loop(less, 1, [0]),
        no_variables=lambda: tf.while_loop(less, lambda i: i, []),
        parallel=lambda: tf.while_loop(less, lambda i: i + 1, [0], parallel_iterations=0),
        body_nothing=lambda: tf.while_loop(less, lambda i: None, [0]),
        body_arguments=lambda: tf.while_loop(less, lambda: 1, [0]),
        cond_shape=lambda: tf.while_loop(lambda i: [True, False], lambda i: i, [0]),
        cond_dtype=lambda: tf.while_loop(lambda i: i, lambda i: i, [0]),
        late_cond_shape=lambda: tf.while_loop(lambda i: late(tf, [True, False]), lambda i: i, [0]),
        invariant=lambda: tf.while_loop(less, lambda i: i + 1, [0], shape_invariants=[tf.TensorShape([1])]),
        invariant_kept=lambda: tf.while_loop(
            less, lambda i, x: (i + 1, tf.zeros([3, 3])), [0, tf.zeros([2, 2])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([2, None])]),
        maximum=lambda: tf.while_loop(less, lambda i: i + 1, [0], maximum_iterations=[1, 2]),
        raised=lambda: tf.while_loop(less, lambda i: {}[3], [0]),
        used_outside=lambda: _inner(tf) + 1,
        run_error=lambda: tf.while_loop(less, lambda i: i + tf.gather([1, 2], i + 1), [0]),
        invariant_count=lambda: tf.while_loop(less, lambda i: i + 1, [0], shape_invariants=[tf.TensorShape([]), tf.TensorShape([])]),
    )


def loops_otherwise(tf):
    less = lambda i, *_: i < 3
    return mistakes(
        tf,
        body_count=lambda: tf.while_loop(less, lambda i, j: i, [0, 0]),
        body_count_more=lambda: tf.while_loop(less, lambda i: (i, i), [0]),
        body_shape=lambda: tf.while_loop(less, lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, [1.0]]),
        body_rank=lambda: tf.while_loop(less, lambda i, x: (i + 1, [x]), [0, 1.0]),
        structure=lambda: tf.while_loop(lambda a: a[0] < 3, lambda a: [a[0], a[1], 1], [(0, 1)]),
        maximum_text=lambda: tf.while_loop(less, lambda i: i + 1, [0], maximum_iterations="a"),
        of_text=lambda: tf.while_loop(less, lambda i: i + 1, "a"),
        bad_merge=lambda: tf.while_loop(less, lambda i, x: (i + 1, tf.IndexedSlices([1.0], [0])), [0, [1.0]]),
    )


def _inner(tf):
    kept = []
    tf.while_loop(lambda i: i < 3, lambda i: [kept.append(i + 1) or i + 1], [0])
    return kept[0]


def conds(tf):
    yes = lambda: tf.placeholder_with_default(True, [])
    return mistakes(
        tf,
        python_bool=lambda: tf.cond(True, lambda: 1, lambda: 2),
        no_callables=lambda: tf.cond(yes(), 1, 2),
        second_no_callable=lambda: tf.cond(yes(), lambda: 1, 2),
        dtypes=lambda: tf.cond(yes(), lambda: 1, lambda: 2.0),
        none=lambda: tf.cond(yes(), lambda: None, lambda: None),
        one_none=lambda: tf.cond(yes(), lambda: 1, lambda: None),
        predicate_shape=lambda: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2),
        late_predicate=lambda: tf.cond(late(tf, [True, False]), lambda: 1, lambda: 2),
        both_arguments=lambda: tf.cond(yes(), lambda: 1, lambda: 2, fn1=lambda: 1),
        case_no_pairs=lambda: tf.case([1]),
        case_predicate=lambda: tf.case([(True, lambda: 1)]),
        case_callable=lambda: tf.case([(yes(), 1)]),
        case_default=lambda: tf.case([(yes(), lambda: 1)], default=2),
        case_none=lambda: tf.case([(late(tf, False), lambda: 1)]),
        switch_empty=lambda: tf.switch_case(late(tf, 1), []),
        switch_keys=lambda: tf.switch_case(late(tf, 1), {0: lambda: 1, 2: lambda: 2}),
        inside=lambda: tf.cond(yes(), lambda: tf.gather([1, 2], 7), lambda: 2),
        counts=lambda: tf.cond(yes(), lambda: (1, 2), lambda: 1),
        structures=lambda: tf.cond(yes(), lambda: [1, 2], lambda: (1, (2,))),
        predicate_dtype=lambda: tf.cond(tf.constant(1), lambda: 1, lambda: 2),
        switch_dtype=lambda: tf.switch_case(tf.constant(1.0), [lambda: 1]),
    )


def conds_otherwise(tf):
    yes = lambda: tf.placeholder_with_default(True, [])
    return mistakes(
        tf,
        case_empty=lambda: tf.case([]),
        case_exclusive=lambda: tf.case([(yes(), lambda: 1), (yes(), lambda: 2)], exclusive=True),
    )


def raw_control(tf):
    return mistakes(
        tf,
        switch_shape=lambda: list(tf.raw_ops.Switch(data=1, pred=late(tf, [True, False]))),
        switch_static=lambda: tf.raw_ops.Switch(data=1, pred=[True, False]),
        switch_dtype=lambda: tf.raw_ops.Switch(data=1, pred=1),
        merge_dtypes=lambda: tf.raw_ops.Merge(inputs=[tf.constant(1), tf.constant(1.0)]),
        loop_cond=lambda: tf.raw_ops.LoopCond(input=1),
        positional=lambda: tf.raw_ops.Switch(1, True),
        missing=lambda: tf.raw_ops.Switch(data=1),
        unknown=lambda: tf.raw_ops.Switch(data=1, pred=True, other=1),
        abort_message=lambda: tf.raw_ops.Where(condition=late(tf, True)),
    )


def raw_control_otherwise(tf):
    return mistakes(
        tf,
        ref_select=lambda: tf.raw_ops.RefSelect(index=2, inputs=[tf.Variable(1.0), tf.Variable(2.0)]),
    )


def higher_order(tf):
    return mistakes(
        tf,
        map_no_callable=lambda: tf.map_fn(1, [1, 2]),
        map_scalar=lambda: tf.map_fn(lambda x: x, tf.constant(1)),
        map_dtype=lambda: tf.map_fn(lambda x: tf.cast(x, tf.float32), [1, 2]),
        map_structure=lambda: tf.map_fn(lambda x: (x, x), [1, 2]),
        fold_no_callable=lambda: tf.foldl(1, [1, 2]),
        scan_no_callable=lambda: tf.scan(1, [1, 2]),
        rnn_inputs=lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), tf.zeros([2, 3])),
        rnn_no_state=lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), tf.zeros([2, 3, 4])),
        rnn_lengths=lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), tf.zeros([2, 3, 4]), sequence_length=[[1]], dtype=tf.float32),
    )


def higher_order_otherwise(tf):
    return mistakes(
        tf,
        map_lengths=lambda: tf.map_fn(lambda x: x[0], (tf.constant([1, 2]), tf.constant([1]))),
        fold_scalar=lambda: tf.foldr(lambda a, x: a, tf.constant(1)),
        fold_shape=lambda: tf.foldl(lambda a, x: [a, a], tf.constant([1, 2])),
        scan_scalar=lambda: tf.scan(lambda a, x: a, tf.constant(1)),
        scan_structure=lambda: tf.scan(lambda a, x: (a, x), tf.constant([1, 2])),
        rnn_depth=lambda: tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32),
    )


def gradients(tf):
    v = lambda: tf.Variable(1.0, name="v")
    return mistakes(
        tf,
        no_variables=lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)),
        no_gradients=lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0), var_list=[v()]),
        apply_nothing=lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([]),
        apply_none=lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([(None, v())]),
        grad_ys_count=lambda: tf.gradients([v()], [v()], grad_ys=[1.0, 2.0]),
        clip=lambda: tf.clip_by_norm([1, 2], 1),
        stop=lambda: tf.gradients(tf.constant(1.0), [tf.constant(1.0)], unconnected_gradients="other"),
    )


def gradients_otherwise(tf):
    v = lambda: tf.Variable(1.0, name="v")
    return mistakes(
        tf,
        not_differentiable=lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.argmax([v(), v()])),
        apply_tensor=lambda: tf.train.GradientDescentOptimizer(0.1).apply_gradients([(1.0, tf.constant(1.0))]),
        of_integers=lambda: tf.train.AdamOptimizer().minimize(tf.Variable(1, name="i")),
        grad_ys_dtype=lambda: tf.gradients([v() * 2.0], [v()], grad_ys=[tf.constant(1)]),
        grad_ys_shape=lambda: tf.gradients([v() * 2.0], [tf.constant(1.0)], grad_ys=[[1.0, 2.0]]),
        of_list=lambda: tf.gradients("a", [v()]),
        missing=lambda: tf.gradients(tf.raw_ops.Cross(a=[1.0, 2.0], b=[1.0, 2.0]), [v()]),
        clip_global=lambda: tf.clip_by_global_norm(1.0, 1.0),
    )


def naming(tf):
    g = tf.get_default_graph
    return mistakes(
        tf,
        no_operation=lambda: g().get_operation_by_name("nothing"),
        no_tensor=lambda: g().get_tensor_by_name("nothing:0"),
        tensor_name=lambda: g().get_tensor_by_name("nothing"),
        output_number=lambda: [tf.constant(1, name="c"), g().get_tensor_by_name("c:1")],
        operation_for_tensor=lambda: [tf.constant(1, name="c"), g().as_graph_element("c", allow_operation=False)],
        tensor_for_operation=lambda: [tf.constant(1, name="c"), g().as_graph_element("c:0", allow_tensor=False)],
        element_of_number=lambda: g().as_graph_element(3),
        other_graph=lambda: g().as_graph_element(_elsewhere(tf)),
        node_name=lambda: tf.constant(1, name="a b"),
        scope_name=lambda: tf.name_scope("a b").__enter__(),
        control=lambda: tf.control_dependencies([1]).__enter__(),
        control_elsewhere=lambda: tf.control_dependencies([_elsewhere(tf)]).__enter__(),
        device=lambda: tf.device("/nothing:0").__enter__() or tf.constant(1),
        finalized=lambda: [g().finalize(), tf.constant(1)],
        inputs_elsewhere=lambda: tf.add(tf.constant(1), _elsewhere(tf)),
        attr=lambda: tf.constant(1).op.get_attr("nothing"),
        group=lambda: tf.group(1),
        tuple_none=lambda: tf.tuple([None]),
        colocate=lambda: tf.colocate_with(1).__enter__() and None,
        override=lambda: g().gradient_override_map({"A": 1}).__enter__(),
        collection=lambda: g().get_collection_ref(["a"]),
        set_shape=lambda: tf.placeholder(tf.float32, [2]).set_shape([3]),
        eval_without_session=lambda: tf.constant(1).eval(),
        run_without_session=lambda: tf.no_op().run(),
        hashing=lambda: tf.constant(1).get_shape()[0],
        not_bool=lambda: bool(tf.constant(True)),
        index_update=lambda: tf.constant(1).op._update_input(0, tf.constant(1)),
    )


def _elsewhere(tf):
    with tf.Graph().as_default():
        return tf.constant(1)


def sessions(tf):
    def used(make):
        with tf.Session() as sess:
            return make(sess)

    def closed():
        sess = tf.Session()
        sess.close()
        return sess.run(tf.constant(1))

    x = lambda: tf.placeholder(tf.float32, [2], name="x")

    def feed(value, **given):
        y = tf.placeholder(tf.float32, [2], name="x")
        return used(lambda sess: sess.run(y + 1.0, {y: value}, **given))

    def empty_graph():
        with tf.Session(graph=tf.Graph()) as sess:
            sess.run(tf.constant(1))

    return mistakes(
        tf,
        closed=closed,
        not_fed=lambda: x() + 1.0,
        not_fed_unknown=lambda: tf.placeholder(tf.int32, name="y") + 1,
        feed_shape=lambda: feed([1.0, 2.0, 3.0]),
        feed_value=lambda: feed("a"),
        feed_none=lambda: feed(None),
        feed_tensor=lambda: feed(tf.constant([1.0, 2.0])),
        feed_int_overflow=lambda: used(lambda s: s.run(tf.constant(1), {tf.placeholder(tf.int32): 2**40})),
        feed_key=lambda: used(lambda s: s.run(tf.constant(1), {"nothing:0": 1})),
        feed_key_number=lambda: used(lambda s: s.run(tf.constant(1), {3: 1})),
        feed_operation=lambda: used(lambda s: s.run(tf.constant(1), {tf.no_op(): 1})),
        feed_elsewhere=lambda: used(lambda s: s.run(tf.constant(1), {_elsewhere(tf): 1})),
        fetch_none=lambda: used(lambda s: s.run(None)),
        fetch_number=lambda: used(lambda s: s.run(1)),
        fetch_in_list=lambda: used(lambda s: s.run([tf.constant(1), 2])),
        fetch_name=lambda: used(lambda s: s.run("nothing:0")),
        fetch_operation_name=lambda: used(lambda s: s.run("nothing")),
        fetch_elsewhere=lambda: used(lambda s: s.run(_elsewhere(tf))),
        fetch_set=lambda: used(lambda s: s.run({tf.constant(1)})),
        empty_graph=empty_graph,
        target=lambda: tf.Session(3),
        config=lambda: tf.Session(config=3),
        graph=lambda: tf.Session(graph=3),
        timeout=lambda: used(lambda s: s.run(tf.FIFOQueue(1, tf.int32).dequeue(), options=tf.RunOptions(timeout_in_ms=50))),
        fetch_bad_name=lambda: used(lambda s: s.run("x:y:z")),
    )


def sessions_otherwise(tf):
    def used(make):
        with tf.Session() as sess:
            return make(sess)

    def closed():
        sess = tf.Session()
        sess.close()
        return sess.run(tf.constant(1))

    x = lambda: tf.placeholder(tf.float32, [2], name="x")

    def feed(value, **given):
        y = tf.placeholder(tf.float32, [2], name="x")
        return used(lambda sess: sess.run(y + 1.0, {y: value}, **given))

    def empty_graph():
        with tf.Session(graph=tf.Graph()) as sess:
            sess.run(tf.constant(1))

    return mistakes(
        tf,
        feed_ragged=lambda: feed([[1.0], [1.0, 2.0]]),
        feed_no_dict=lambda: used(lambda s: s.run(tf.constant(1), 3)),
        options=lambda: used(lambda s: s.run(tf.constant(1), options=3)),
        partial=lambda: used(lambda s: s.partial_run("nothing", tf.constant(1))),
    )


def importing(tf):
    def graph(text):
        from google.protobuf import text_format

        return text_format.Parse(text, tf.GraphDef())

    two = 'node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } } '
    load = lambda text, **given: tf.import_graph_def(graph(text), name="", **given)
    return mistakes(
        tf,
        not_a_graph=lambda: tf.import_graph_def(3),
        missing_input=lambda: load('node { name: "a" op: "Identity" input: "b" attr { key: "T" value { type: DT_INT32 } } }'),
        twice=lambda: load(two + two),
        input_map=lambda: load(two, input_map={"nothing:0": tf.constant(1)}),
        input_map_key=lambda: load(two, input_map={3: tf.constant(1)}),
        returned=lambda: load(two, return_elements=["nothing:0"]),
        returned_type=lambda: load(two, return_elements=[3]),
        allowed_values=lambda: load(
            'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } } '
            'node { name: "b" op: "Sqrt" input: "p" attr { key: "T" value { type: DT_STRING } } }'),
        shapes=lambda: load(
            'node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { dim { size: 2 } } } } } '
            'node { name: "m" op: "MatMul" input: "p" input: "p" attr { key: "T" value { type: DT_FLOAT } } }'),
        meta_graph=lambda: tf.train.import_meta_graph("/nothing/there.meta"),
    )


def importing_otherwise(tf):
    def graph(text):
        from google.protobuf import text_format

        return text_format.Parse(text, tf.GraphDef())

    two = 'node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 } } } } '
    load = lambda text, **given: tf.import_graph_def(graph(text), name="", **given)
    return mistakes(
        tf,
        unknown_op=lambda: load('node { name: "a" op: "Nothing" }'),
        missing_output=lambda: load(two + 'node { name: "b" op: "Identity" input: "a:1" attr { key: "T" value { type: DT_INT32 } } }'),
        missing_attr=lambda: load('node { name: "a" op: "Placeholder" }'),
        input_dtype=lambda: load(two + 'node { name: "b" op: "Identity" input: "a" attr { key: "T" value { type: DT_FLOAT } } }'),
        too_many_inputs=lambda: load(two + 'node { name: "b" op: "Identity" input: "a" input: "a" attr { key: "T" value { type: DT_INT32 } } }'),
        too_few_inputs=lambda: load('node { name: "b" op: "Identity" attr { key: "T" value { type: DT_INT32 } } }'),
        bad_attr=lambda: load('node { name: "a" op: "Placeholder" attr { key: "dtype" value { i: 3 } } }'),
        disallowed=lambda: load(two + 'node { name: "b" op: "LogicalNot" input: "a" }'),
    )


def saving(tf):
    import os
    import tempfile

    def saved(make, restore):
        path = os.path.join(tempfile.mkdtemp(), "model")
        with tf.Graph().as_default(), tf.Session() as sess:
            make()
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, path)
        with tf.Graph().as_default(), tf.Session() as sess:
            restore()
            tf.train.Saver().restore(sess, path)

    v = lambda shape, name="v", dtype=tf.float32: tf.get_variable(name, shape, dtype, initializer=tf.zeros_initializer())
    return mistakes(
        tf,
        nothing=lambda: tf.train.Saver(),
        none=lambda: tf.train.Saver([tf.constant(1)]),
        restore_none=lambda: _saver(tf).restore(tf.Session(), None),
        shape=lambda: saved(lambda: v([2]), lambda: v([3])),
        no_list=lambda: tf.train.Saver(3),
    )


def saving_otherwise(tf):
    import os
    import tempfile

    def saved(make, restore):
        path = os.path.join(tempfile.mkdtemp(), "model")
        with tf.Graph().as_default(), tf.Session() as sess:
            make()
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, path)
        with tf.Graph().as_default(), tf.Session() as sess:
            restore()
            tf.train.Saver().restore(sess, path)

    v = lambda shape, name="v", dtype=tf.float32: tf.get_variable(name, shape, dtype, initializer=tf.zeros_initializer())
    return mistakes(
        tf,
        twice=lambda: tf.train.Saver([tf.Variable(1, name="a"), _same(tf)]),
    )


def _saver(tf):
    tf.get_variable("v", [2])
    return tf.train.Saver()


def _same(tf):
    return tf.get_default_graph().get_tensor_by_name("a:0")
