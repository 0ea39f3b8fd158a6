"""Blocks of a graph: default graphs, name scopes, control dependencies, devices, colocation; threads."""

import threading

from programs.tools import WHOLE, caught, initialize


def _in_thread(function):
    out = []

    def work():
        try:
            out.append(function())
        except Exception as error:
            out.append([type(error).__name__, str(error)])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return out[0]


# Default graphs.


def nested_defaults(tf):
    a, b = tf.Graph(), tf.Graph()
    with a.as_default():
        with b.as_default():
            with a.as_default():
                one = tf.get_default_graph() is a
            two = tf.get_default_graph() is b
        three = tf.get_default_graph() is a
    return one, two, three


def default_left_by_an_error(tf):
    before, g = tf.get_default_graph(), tf.Graph()
    try:
        with g.as_default():
            raise ValueError("x")
    except ValueError:
        pass
    return tf.get_default_graph() is before


def default_block_gives_the_graph(tf):
    g = tf.Graph()
    with g.as_default() as inner:
        return inner is g


def defaults_left_in_the_wrong_order(tf):
    a, b = tf.Graph().as_default(), tf.Graph().as_default()
    a.__enter__()
    b.__enter__()
    return caught(lambda: a.__exit__(None, None, None), WHOLE)


def default_graph_of_a_thread(tf):
    g = tf.get_default_graph()
    return _in_thread(lambda: tf.get_default_graph() is g)


def default_graph_given_to_a_thread(tf):
    g = tf.get_default_graph()

    def work():
        with g.as_default():
            return tf.constant(1, name="x").name, tf.get_default_graph() is g

    return _in_thread(work)


def reset_inside_a_block(tf):
    with tf.Graph().as_default():
        return caught(tf.reset_default_graph, WHOLE)


def reset_in_a_thread(tf):
    def work():
        a = tf.get_default_graph()
        tf.constant(1)
        tf.reset_default_graph()
        return tf.get_default_graph() is a, len(tf.get_default_graph().get_operations())

    return _in_thread(work)


def reset_while_a_session_is_entered(tf):
    def work():
        with tf.Session():
            return caught(tf.reset_default_graph, WHOLE)

    return _in_thread(work)


def session_block_makes_its_graph_the_default(tf):
    g = tf.Graph()
    with tf.Session(graph=g):
        inside = tf.get_default_graph() is g
    sess = tf.Session(graph=g)
    with sess.as_default():
        return inside, tf.get_default_graph() is g


def graph_control_of_the_default(tf):
    g = tf.Graph()
    with g.as_default():
        x = tf.constant(1)
    return x.graph is g, x.op.graph is g, len(g.get_operations())


# Name scopes.


def scope_of_none_and_of_nothing(tf):
    with tf.name_scope("a"):
        with tf.name_scope(None) as none:
            x = tf.constant(1, name="x").name
        with tf.name_scope("") as nothing:
            y = tf.constant(1, name="y").name
    return none, nothing, x, y


def graph_scope_of_none_and_of_nothing(tf):
    g = tf.get_default_graph()
    with g.name_scope("a"):
        with g.name_scope(None) as none:
            x = tf.constant(1, name="x").name
        with g.name_scope("") as nothing:
            y = tf.constant(1, name="y").name
    return none, nothing, x, y


def scope_entered_again(tf):
    with tf.name_scope("a") as a:
        tf.constant(1, name="x")
    with tf.name_scope("b"):
        with tf.name_scope(a) as again:
            y = tf.constant(1, name="x").name
        with tf.name_scope("a") as inner:
            z = tf.constant(1, name="x").name
    with tf.name_scope("new/") as new:
        w = tf.constant(1, name="x").name
    return a, again, inner, new, y, z, w


def op_named_with_a_slash(tf):
    with tf.name_scope("s") as scope:
        a = tf.constant(1, name=scope).name
        again = caught(lambda: tf.constant(1, name=scope), WHOLE)
    return a, again, caught(lambda: tf.constant(1, name="s/"), WHOLE)


def scope_names_that_are_not_valid(tf):
    return [caught(lambda n=n: tf.name_scope(n).__enter__(), WHOLE) for n in ("_a", "a b", "a:b", "-a", "/a", "a$", "\u00e9", "\\a")]


def inner_scope_names_that_are_not_valid(tf):
    out = []
    with tf.name_scope("s"):
        for n in ("_a", "-a", ".a", "a b", "a:b", "/a", "a>b"):
            try:
                with tf.name_scope(n) as scope:
                    out.append(scope)
            except ValueError as error:
                out.append(str(error))
    return out


def op_names_that_are_not_valid(tf):
    return [caught(lambda n=n: tf.constant(1, name=n), WHOLE) for n in ("_a", "a b", "a:b", "-a", "a$", "/a", "a>b")]


def op_names_that_are_valid(tf):
    return [tf.constant(1, name=n).name for n in ("a", "A.b", "0", ".x", "a-b", "a_b", "a/b", "a//b")]


def names_that_differ_in_case(tf):
    return [tf.constant(1, name=n).name for n in ("a", "A", "a", "aA", "Aa")]


def scopes_that_differ_in_case(tf):
    out = []
    for n in ("S", "s", "S"):
        with tf.name_scope(n) as scope:
            out.append(scope)
    return out


def numbered_names_that_are_taken(tf):
    return [tf.constant(1, name=n).name for n in ("a_1", "a", "a", "a_1", "a_1_1", "a")]


def scope_and_op_of_one_name(tf):
    a = tf.constant(1, name="n").name
    with tf.name_scope("n") as scope:
        b = tf.constant(1, name="n").name
    return a, scope, b


def unique_names_in_scopes(tf):
    g = tf.get_default_graph()
    with g.name_scope("s"):
        inner = [g.unique_name("a"), g.unique_name("a"), g.unique_name("b", mark_as_used=False), g.unique_name("b", False)]
    return inner, g.unique_name("s/a"), g.unique_name("s"), g.unique_name("S")


def unique_names_mark_their_scopes(tf):
    g = tf.get_default_graph()
    g.unique_name("p/q/r")
    return g.unique_name("p"), g.unique_name("p/q"), g.unique_name("P/Q/R"), g.unique_name("p/q/r")


def unique_names_not_taken(tf):
    g = tf.get_default_graph()
    out = [g.unique_name("x", mark_as_used=False), g.unique_name("x"), g.unique_name("x"), g.unique_name("x", mark_as_used=False), g.unique_name("X", False)]
    with tf.name_scope("s"):
        out.append(g.unique_name("x", mark_as_used=False))
    return out, g.unique_name("s", mark_as_used=False), g.unique_name("s", mark_as_used=False), g.unique_name("x")


def name_scope_now(tf):
    g = tf.get_default_graph()
    out = [g.get_name_scope()]
    with tf.name_scope("a"):
        with tf.name_scope("b"):
            out.append(g.get_name_scope())
            with tf.name_scope(None):
                out.append(g.get_name_scope())
    return out


def graph_scope_names_of_other_types(tf):
    g = tf.get_default_graph()
    return caught(lambda: g.name_scope(3).__enter__(), WHOLE), caught(lambda: g.name_scope(["a"]).__enter__(), WHOLE)


def scope_without_any_name(tf):
    return caught(lambda: tf.name_scope(None, None, [1]).__enter__(), WHOLE)


def scope_with_values_of_two_graphs(tf):
    a = tf.constant(1, name="a")
    with tf.Graph().as_default():
        b = tf.constant(1, name="b")
    return caught(lambda: tf.name_scope("s", values=[a, b]).__enter__(), WHOLE)


def scope_with_values_enters_their_graph(tf):
    a = tf.constant(1, name="a")
    with tf.Graph().as_default():
        with tf.name_scope("s", values=[a]):
            return tf.constant(1, name="x").graph is a.graph


def scope_kept_open_after_an_error(tf):
    g = tf.get_default_graph()
    try:
        with g.name_scope("a"):
            raise KeyError("x")
    except KeyError:
        pass
    return g.get_name_scope(), tf.constant(1).name


def scope_block_used_twice(tf):
    scope = tf.name_scope("a")
    out = []
    for _ in range(2):
        with scope as s:
            out.append((s, tf.constant(1).name))
    return out


def scope_block_nested_in_itself(tf):
    scope = tf.name_scope("a")
    with scope as x:
        with scope as y:
            return x, y, tf.constant(1).name


def scope_name_property(tf):
    return tf.name_scope("a").name, tf.name_scope(None, "d").name


# Control dependencies.


def _controls(*tensors):
    return [[c.name for c in getattr(t, "op", t).control_inputs] for t in tensors]


def control_of_several_kinds(tf):
    a, b = tf.constant(1, name="a"), tf.no_op(name="b")
    v = tf.Variable(1.0, name="v")
    s = tf.IndexedSlices(tf.constant([1.0], name="sv"), tf.constant([0], name="si"))
    with tf.control_dependencies([a, b, "a:0", "b", v.op, s]):
        c = tf.constant(2)
    return _controls(c), list(c.op.node_def.input)


def control_by_a_reference_variable(tf):
    v = tf.Variable(1.0, name="v", use_resource=False)
    with tf.control_dependencies([v]):
        c = tf.constant(2)
    return _controls(c)


def control_by_a_resource_variable(tf):
    v = tf.Variable(1.0, name="v", use_resource=True)
    with tf.control_dependencies([v]):
        c = tf.constant(2)
    return _controls(c)


def control_of_the_same_twice(tf):
    a = tf.no_op(name="a")
    with tf.control_dependencies([a, a]):
        with tf.control_dependencies([a]):
            return _controls(tf.constant(1))


def control_that_an_input_implies(tf):
    a = tf.constant(1, name="a")
    with tf.control_dependencies([a]):
        b = tf.identity(a, name="b")
        c = tf.identity(b, name="c")
        d = tf.constant(2, name="d")
        e = tf.add(d, c, name="e")
    return _controls(b, c, d, e)


def control_that_an_input_outside_implies(tf):
    a = tf.constant(1, name="a")
    b = tf.identity(a, name="b")
    with tf.control_dependencies([a]):
        c = tf.identity(b, name="c")
    return _controls(c)


def control_nested_and_implied(tf):
    a, b = tf.no_op(name="a"), tf.no_op(name="b")
    with tf.control_dependencies([a]):
        x = tf.constant(1, name="x")
        with tf.control_dependencies([b]):
            y = tf.identity(x, name="y")
            z = tf.identity(y, name="z")
        w = tf.identity(y, name="w")
    return _controls(x, y, z, w)


def control_cleared_and_added(tf):
    a, b, c = [tf.no_op(name=n) for n in "abc"]
    with tf.control_dependencies([a]):
        with tf.control_dependencies(None):
            w = tf.constant(1)
            with tf.control_dependencies([b]):
                x = tf.constant(1)
        with tf.control_dependencies([c]):
            y = tf.constant(1)
    return _controls(w, x, y)


def control_of_nothing(tf):
    a = tf.no_op(name="a")
    with tf.control_dependencies([a]):
        with tf.control_dependencies([]):
            return _controls(tf.constant(1))


def control_by_strangers(tf):
    with tf.Graph().as_default():
        other = tf.constant(1, name="o")
    enter = lambda x: caught(lambda: tf.control_dependencies(x).__enter__(), WHOLE)
    return enter([3]), enter([other]), enter(["nope"]), enter([None]), enter([object()]), enter(["a:b:c"])


def control_inputs_that_are_no_list(tf):
    return caught(lambda: tf.control_dependencies(3)), caught(lambda: tf.control_dependencies(tf.constant(1)))


def control_block_from_a_generator(tf):
    a, b = tf.no_op(name="a"), tf.no_op(name="b")
    with tf.control_dependencies(x for x in (a, b)):
        return _controls(tf.constant(1))


def control_of_consts_and_operators(tf):
    a = tf.no_op(name="a")
    x = tf.constant(1.0, name="x")
    with tf.control_dependencies([a]):
        y = x + 1.0
        z = tf.reduce_sum(tf.ones([2]), 0)
    return [(o.name, [i.name for i in o.control_inputs]) for o in tf.get_default_graph().get_operations()]


def control_of_graph_method(tf):
    g = tf.get_default_graph()
    a = tf.no_op(name="a")
    with g.control_dependencies([a]):
        with g.name_scope("s"):
            return _controls(tf.constant(1))


def control_added_by_hand(tf):
    a, b, c = tf.no_op(name="a"), tf.no_op(name="b"), tf.no_op(name="c")
    c._add_control_input(a)
    c._add_control_inputs([a, b])
    return _controls(c), list(c.node_def.input)


def control_in_order_of_what_is_given(tf):
    ops = [tf.no_op(name=n) for n in "dbca"]
    with tf.control_dependencies(ops):
        x = tf.no_op()
    with tf.control_dependencies([ops[3]]):
        with tf.control_dependencies(ops[:2]):
            y = tf.no_op()
    return _controls(x, y), list(x.node_def.input), list(y.node_def.input)


def control_of_a_group(tf):
    a, b = tf.no_op(name="a"), tf.constant(1, name="b")
    g = tf.group(a, b, name="g")
    t = tf.tuple([b], control_inputs=[a])
    return g.type, _controls(g), _controls(t[0]), [o.name for o in tf.get_default_graph().get_operations()]


def with_dependencies(tf):
    a, b = tf.no_op(name="a"), tf.constant(1, name="b")
    x = tf.identity_n([b, b])[0]
    with tf.control_dependencies([a]):
        y = tf.group(name="g")
    return _controls(x, y)


# Devices.


def _devices(tf, *blocks):
    """Returns the device of a constant created within these blocks."""
    if not blocks:
        return tf.constant(1).device
    with tf.device(blocks[0]):
        return _devices(tf, *blocks[1:])


def device_names(tf):
    names = ["/cpu:0", "/gpu:1", "/device:GPU:0", "/job:ps", "/job:ps/task:2/cpu:0", "cpu:0", "/job:a/replica:1/task:2/device:CPU:3", "/CPU:0", "", "/device:cpu:0", "/device:TPU:0"]
    return [_devices(tf, n) for n in names]


def device_names_that_are_not_valid(tf):
    return [caught(lambda n=n: _devices(tf, n), WHOLE) for n in ("nope", "/cpu:x", "/job:a/nope:1", "/cpu:0/gpu:0", "a:b:c", 3)]


def devices_merged(tf):
    return [
        _devices(tf, "/job:a", "/task:1", "/cpu:0"),
        _devices(tf, "/cpu:0", "/gpu:1"),
        _devices(tf, "/job:a/task:1", "/job:b"),
        _devices(tf, "/job:a", None, "/cpu:0"),
        _devices(tf, "/job:a", "", "/cpu:0"),
        _devices(tf, "/job:a/device:CPU:0", "/device:CPU:*"),
    ]


def device_specs(tf):
    return [
        _devices(tf, tf.DeviceSpec(job="a", task=1)),
        _devices(tf, tf.DeviceSpec(job="a"), tf.DeviceSpec(device_type="GPU", device_index=2)),
        _devices(tf, "/job:x", tf.DeviceSpec(device_type="cpu")),
        _devices(tf, tf.DeviceSpec()),
    ]


def device_functions(tf):
    seen = []

    def chosen(op):
        seen.append((op.name, op.type))
        return "/cpu:0" if op.type == "Const" else "/gpu:0"

    with tf.device(chosen):
        a = tf.constant(1, name="a")
        b = tf.no_op(name="b")
    return a.device, b.device, seen


def device_functions_nested(tf):
    first = lambda op: "/job:ps/device:CPU:0"
    second = lambda op: op.device + "/task:7" if op.device else "/task:1"
    return [
        _devices(tf, first, "/task:3"),
        _devices(tf, "/task:3", first),
        _devices(tf, second, first),
        _devices(tf, first, second),
        _devices(tf, first, None),
        caught(lambda: _devices(tf, first, lambda op: None), WHOLE),
        _devices(tf, lambda op: tf.DeviceSpec(job="w")),
        _devices(tf, "/cpu:0", lambda op: ""),
    ]


def device_function_called_for_each_op(tf):
    count = []
    with tf.device(lambda op: count.append(op.name) or ""):
        x = tf.constant(1.0) + 2.0
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="w")
    return count


def device_of_a_loop(tf):
    with tf.device("/cpu:0"):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="w")
    with tf.device(lambda op: "/cpu:%d" % len(op.name)):
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="v")
    return [(o.name, o.device) for o in tf.get_default_graph().get_operations()]


def device_function_sees_inputs(tf):
    seen = []

    def chosen(op):
        seen.append([i.name for i in op.inputs])
        return "/cpu:1"

    x = tf.constant(1, name="x")
    with tf.device(chosen):
        return tf.identity(x).device, seen


def device_function_that_raises(tf):
    def fail(op):
        raise KeyError("mine")

    def work():
        with tf.device(fail):
            tf.constant(1)

    return caught(work, WHOLE)


def device_merger(tf):
    with tf.device("/job:a"):
        with tf.device(tf.DeviceSpec.from_string("/task:1")):
            with tf.device("/cpu:0"):
                return tf.constant(1).device


def device_of_a_tensor_and_of_its_op(tf):
    with tf.device("/cpu:0"):
        x = tf.constant(1)
    return x.device, x.op.device, x.op.node_def.device


def device_set_by_hand(tf):
    x = tf.constant(1)
    x.op._set_device("/job:a/cpu:0")
    first = x.device
    x.op._set_device(tf.DeviceSpec(job="b"))
    return first, x.device, x.op.node_def.device


def replica_device_setter(tf):
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        a, b, c = [tf.Variable(1.0, name=n, use_resource=False) for n in "abc"]
        d = tf.constant(1.0)
    return [v.device for v in (a, b, c)], d.device


def device_of_graph_method(tf):
    g = tf.get_default_graph()
    with g.device("/cpu:0"):
        a = tf.constant(1).device
        with g.device(None):
            b = tf.constant(1).device
    return a, b


# Colocation.


def colocated(tf):
    a = tf.constant(1, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2, name="b")
        with tf.colocate_with(b):
            c = tf.constant(3, name="c")
    with tf.colocate_with(c):
        d = tf.constant(4, name="d")
    return [x.op.colocation_groups() for x in (a, b, c, d)]


def colocated_with_several(tf):
    a, b = tf.constant(1, name="b"), tf.constant(1, name="a")
    with tf.colocate_with(a):
        with tf.colocate_with(b):
            c = tf.constant(1, name="c")
    return c.op.colocation_groups(), c.op.get_attr("_class")


def colocated_ignoring_others(tf):
    a, b = tf.constant(1, name="a"), tf.constant(1, name="b")
    with tf.device("/cpu:1"):
        with tf.colocate_with(a):
            with tf.colocate_with(b, ignore_existing=True):
                c = tf.constant(1, name="c")
            with tf.colocate_with(None, ignore_existing=True):
                d = tf.constant(1, name="d")
            e = tf.constant(1, name="e")
    return [(x.op.colocation_groups(), x.device) for x in (c, d, e)]


def colocated_takes_the_device(tf):
    with tf.device("/cpu:1"):
        a = tf.constant(1, name="a")
    with tf.device("/gpu:0"):
        with tf.colocate_with(a):
            b = tf.constant(1, name="b")
        c = tf.constant(1)
    return b.device, c.device


def colocated_and_a_device(tf):
    with tf.device("/cpu:1"):
        a = tf.constant(1, name="a")
    n = tf.constant(1, name="n")
    with tf.colocate_with(a), tf.device("/gpu:0"):
        b = tf.constant(1, name="b")
    with tf.colocate_with(n), tf.device("/gpu:0"):
        c = tf.constant(1, name="c")
    with tf.colocate_with(a), tf.colocate_with(c):
        d = tf.constant(1, name="d")
    return [(x.device, x.op.colocation_groups()) for x in (b, c, d)]


def colocated_with_nothing(tf):
    return caught(lambda: tf.colocate_with(None).__enter__(), WHOLE), caught(lambda: tf.get_default_graph().colocate_with(None).__enter__(), WHOLE)


def colocated_with_variables(tf):
    v, r = tf.Variable(1.0, name="v", use_resource=False), tf.Variable(1.0, name="r", use_resource=True)
    with tf.colocate_with(v):
        a = tf.constant(1)
    with tf.colocate_with(r):
        b = tf.constant(1)
    with tf.colocate_with(r.handle):
        c = tf.constant(1)
    return [x.op.colocation_groups() for x in (a, b, c)]


def colocated_by_name(tf):
    a = tf.constant(1, name="a")
    with tf.get_default_graph().colocate_with(a.op):
        b = tf.constant(1, name="b")
    return b.op.colocation_groups(), str(b.op.node_def.attr["_class"]).split()


def colocation_of_what_is_not(tf):
    a = tf.constant(1, name="a")
    return a.op.colocation_groups(), "_class" in a.op.node_def.attr


# Containers, attributes, gradient overrides.


def containers_nested(tf):
    out = []
    g = tf.get_default_graph()
    make = lambda: tf.FIFOQueue(1, [tf.int32]).queue_ref.op.get_attr("container")
    with tf.container("a"):
        out.append(make())
        with g.container("b"):
            out.append(make())
        with tf.container(""):
            out.append(make())
        out.append(make())
    out.append(make())
    return out


def container_block_gives_its_name(tf):
    with tf.get_default_graph().container("c") as c:
        return c


def containers_are_apart(tf):
    with tf.container("a"):
        a = tf.Variable(1.0, name="x")
    with tf.container("b"):
        b = tf.Variable(2.0, name="x")
    with tf.Session() as sess:
        initialize(tf, sess)
        return sess.run([a, b]), [v.op.get_attr("container") for v in (a, b)]


def gradient_override_of_other_types(tf):
    g = tf.get_default_graph()
    enter = lambda m: caught(lambda: g.gradient_override_map(m).__enter__(), WHOLE)
    return enter(3), enter({1: "a"}), enter({"a": 1})


def gradient_override_says_so(tf):
    g = tf.get_default_graph()
    with g.gradient_override_map({"Identity": "Mine"}):
        a = tf.identity(1.0)
        with g.gradient_override_map({"Identity": "Other"}):
            b = tf.identity(1.0)
        c = tf.negative(1.0)
        d = tf.identity(1.0)
    e = tf.identity(1.0)
    return [x.op.get_attr("_gradient_op_type") for x in (a, b, d)], ["_gradient_op_type" in x.op.node_def.attr for x in (c, e)]


def attributes_of_blocks(tf):
    g = tf.get_default_graph()
    one = tf.AttrValue(s=b"one")
    with g._attr_scope({"_mine": one, "_count": tf.AttrValue(i=3)}):
        a = tf.constant(1)
        with g._attr_scope({"_mine": tf.AttrValue(s=b"two")}):
            b = tf.constant(1)
        with g._attr_scope({"_mine": None}):
            c = tf.constant(1)
        d = tf.constant(1)
    read = lambda x: [x.op.get_attr(k) for k in ("_mine", "_count") if k in x.op.node_def.attr]
    return [read(x) for x in (a, b, c, d, tf.constant(1))]


def attributes_by_a_function(tf):
    g = tf.get_default_graph()
    with g._attr_scope({"_name": lambda node: tf.AttrValue(s=node.name.encode()) if node.op == "Const" else None}):
        a, b = tf.constant(1, name="a"), tf.no_op()
    return a.op.get_attr("_name"), "_name" in b.node_def.attr


def attribute_blocks_of_other_types(tf):
    g = tf.get_default_graph()
    return caught(lambda: g._attr_scope(3).__enter__(), WHOLE), caught(lambda: g._attr_scope({"a": 3}).__enter__(), WHOLE), caught(lambda: g._attr_scope({3: tf.AttrValue()}).__enter__(), WHOLE)


def kernel_labels(tf):
    g = tf.get_default_graph()
    with g._kernel_label_map({"Const": "mine"}):
        a = tf.constant(1)
    return a.op.get_attr("_kernel"), caught(lambda: g._kernel_label_map(3).__enter__(), WHOLE), caught(lambda: g._kernel_label_map({"a": 3}).__enter__(), WHOLE)


def original_op_blocks(tf):
    g = tf.get_default_graph()
    a = tf.constant(1, name="a")
    with g._original_op(a.op):
        b = tf.identity(a)
    return b.op._original_op is a.op, a.op._original_op


# Threads.


def blocks_of_other_threads_by_default(tf):
    g = tf.get_default_graph()
    with g.name_scope("s"):
        with g.device("/cpu:0"):
            with g.control_dependencies([tf.no_op(name="c")]):

                def work():
                    with g.as_default():
                        x = tf.constant(1, name="x")
                        return x.name, x.device, [c.name for c in x.op.control_inputs]

                return _in_thread(work)


def blocks_of_other_threads_when_local(tf):
    g = tf.get_default_graph()
    g.switch_to_thread_local()
    with g.name_scope("s"):
        with g.device("/cpu:0"):
            with g.control_dependencies([tf.no_op(name="c")]):

                def work():
                    with g.as_default():
                        x = tf.constant(1, name="x")
                        return x.name, x.device, [c.name for c in x.op.control_inputs]

                return _in_thread(work), tf.constant(1, name="y").name


def blocks_that_stood_when_it_became_local(tf):
    g = tf.get_default_graph()
    a = tf.constant(1, name="a")
    with g.device("/cpu:0"), g.control_dependencies([a]), g.colocate_with(a):
        g.switch_to_thread_local()

        def work():
            with g.as_default():
                x = tf.constant(1, name="x")
                return x.device, [c.name for c in x.op.control_inputs], x.op.colocation_groups()

        return _in_thread(work)


def local_blocks_of_two_threads_at_once(tf):
    g = tf.get_default_graph()
    g.switch_to_thread_local()
    entered, left = threading.Event(), threading.Event()

    def work():
        with g.as_default(), g.device("/cpu:7"), g.control_dependencies([tf.no_op(name="t")]):
            entered.set()
            left.wait(10)
            y = tf.constant(1, name="y")
            out.append((y.device, [c.name for c in y.op.control_inputs]))

    out = []
    thread = threading.Thread(target=work)
    thread.start()
    entered.wait(10)
    with g.device("/cpu:1"):
        x = tf.constant(1, name="x")
        left.set()
        thread.join()
        z = tf.constant(1, name="z")
    return out, x.device, z.device, [c.name for c in z.op.control_inputs]


def local_twice(tf):
    g = tf.get_default_graph()
    g.switch_to_thread_local()
    g.switch_to_thread_local()
    with g.device("/cpu:0"):
        return tf.constant(1).device
