//! The functions on top of the ops: their values, and their nodes, which are those of TensorFlow 1.15's
//! Python functions.

use millstream::prelude::*;

/// Returns the nodes that `build` adds after the placeholder `x: f32[2,3]`: `name Op`, joined by commas.
#[track_caller]
fn check(build: impl FnOnce(&Graph, Output<'_>), expect: &str) {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", [2, 3]);
    build(&g, x);
    g.check().unwrap();
    let nodes = g.operations().into_iter().skip(1).map(|op| format!("{} {}", op.name(), op.op_type()));
    let mut nodes: Vec<String> = nodes.collect();
    let mut expect: Vec<&str> = expect.split(", ").collect();
    nodes.sort();
    expect.sort();
    assert_eq!(nodes, expect);
}

/// Only the nodes matter.
fn done<T>(_: T) {}

#[test]
fn nodes_are_named_as_tensorflow_names_them() {
    check(|g, x| done(g.concat(0, [x, x])), "concat/axis Const, concat ConcatV2");
    check(|g, x| done(g.stack([x, x], 0)), "stack Pack");
    check(|g, x| done(g.unstack(x, 0)), "unstack Unpack");
    check(|g, x| done(g.gather(x, [0], 0)), "GatherV2/indices Const, GatherV2/axis Const, GatherV2 GatherV2");
    check(|g, x| done(g.transpose(x, ())), "transpose/perm Const, transpose Transpose");
    check(|g, _| done(g.zeros::<f32>([2])), "zeros Const");
    check(|g, _| done(g.ones::<f32>([100, 100])), "ones/shape_as_tensor Const, ones/Const Const, ones Fill");
    check(
        |g, _| done(g.range(0, 3, 1)),
        "range/start Const, range/limit Const, range/delta Const, range Range",
    );
    check(|_, x| done(x.cast::<i32>()), "Cast Cast");
    check(|_, x| done(x.cast::<f32>().less(1.0)), "Less/y Const, Less Less");
    check(|g, x| done(g.with("transpose_b", true).matmul(x, x)), "MatMul MatMul");
    check(|g, x| done(g.named("p").with("transpose_b", true).linalg().mat_mul(x, x)), "p MatMul");
    check(
        |_, x| done(x.index(0)),
        "strided_slice/stack Const, strided_slice/stack_1 Const, strided_slice/stack_2 Const, strided_slice StridedSlice",
    );
    check(|_, x| done(x.reduce_mean(())), "Const Const, Mean Mean");
    check(|_, x| done(x.reduce_mean([1])), "Mean/reduction_indices Const, Mean Mean");
    check(|g, x| done(g.print(x, [x, g.constant(1.0f32)], "m")), "Const Const, Print Print");
    check(
        |g, _| done(g.variable("v", 1.0f32)),
        "v/Initializer/initial_value Const, v VarHandleOp, v/IsInitialized/VarIsInitializedOp VarIsInitializedOp, \
         v/Assign AssignVariableOp, v/Read/ReadVariableOp ReadVariableOp",
    );
    check(
        |g, _| {
            g.ref_variable("v", 1.0f32).assign(2.0);
            g.global_variables_initializer();
        },
        "v/initial_value Const, v VariableV2, v/Assign Assign, v/read Identity, Assign/value Const, Assign Assign, init NoOp",
    );
    check(
        |g, _| done(g.random_uniform([2], 0.0f32, 1.0, None)),
        "random_uniform/shape Const, random_uniform/min Const, random_uniform/max Const, random_uniform/RandomUniform \
         RandomUniform, random_uniform/sub Sub, random_uniform/mul Mul, random_uniform Add",
    );
}

#[test]
fn seeds_follow_the_graph_and_the_number_of_nodes() {
    let g = Graph::new();
    g.placeholder::<f32>("x", [2, 3]);
    g.set_seed(7);
    g.random_uniform([2], 0.0f32, 1.0, None);
    g.random_normal([2], 0.0f32, 1.0, None);
    g.random_uniform([2], 0i32, 5, None);
    g.truncated_normal([2], 0.0f32, 1.0, None);
    g.check().unwrap();
    let seed2 = |name: &str| {
        let id = g.operation(name).unwrap().id();
        g.read(|d| d.nodes()[id.index()].info.attrs.int("seed2").unwrap())
    };
    let names = ["random_uniform/RandomUniform", "random_normal/RandomStandardNormal", "random_uniform_1"];
    assert_eq!(names.map(seed2), [4, 11, 17]);
    assert_eq!(seed2("truncated_normal/TruncatedNormal"), 21);
}

#[test]
fn values() -> Result<()> {
    let g = Graph::new();
    let m = g.constant([[1, 2, 3], [4, 5, 6]]);
    let session = Session::new(&g)?;
    assert_eq!(session.run::<Vec<i32>>(m.index(-1), feed![])?, [4, 5, 6]);
    assert_eq!(session.run::<Vec<i32>>(m.index(0), feed![])?, [1, 2, 3]);
    let columns: Tensor = session.run(m.slice_axis(1, 1..3), feed![])?;
    assert_eq!(columns.as_slice::<i32>()?, [2, 3, 5, 6]);
    assert_eq!(session.run::<Vec<i32>>(m.reduce_sum(0), feed![])?, [5, 7, 9]);
    assert_eq!(session.run::<i32>(m.reduce_max(()), feed![])?, 6);
    let flipped: Tensor = session.run(m.transpose(()), feed![])?;
    assert_eq!(flipped.as_slice::<i32>()?, [1, 4, 2, 5, 3, 6]);
    let parts = g.split(m, 3, 1);
    let middle: Tensor = session.run(parts[1], feed![])?;
    assert_eq!(middle.as_slice::<i32>()?, [2, 5]);
    let [values, places] = g.nn().top_k_v2(m, 1);
    let (values, places): (Tensor, Tensor) = session.run((values, places), feed![])?;
    assert_eq!((values.as_slice::<i32>()?, places.as_slice::<i32>()?), (&[3, 6][..], &[2, 2][..]));
    Ok(())
}

#[test]
fn variables_of_both_kinds_last() -> Result<()> {
    let g = Graph::new();
    for v in [g.variable("a", [1.0f32, 2.0]), g.ref_variable("b", [1.0f32, 2.0])] {
        let (init, add, sub) = (v.initializer(), v.assign_add([1.0, 1.0]), v.assign_sub([0.5f32, 0.5]));
        let now = v.read();
        g.check()?;
        let session = Session::new(&g)?;
        for op in [init, add, sub] {
            session.run::<()>(op, feed![])?;
        }
        assert_eq!(session.run::<Vec<f32>>(now, feed![])?, [1.5, 2.5]);
    }
    Ok(())
}

/// The expected numbers are TensorFlow 1.15's for graph seed 7, after one placeholder.
#[test]
fn random_numbers_are_tensorflows() -> Result<()> {
    let g = Graph::new();
    g.placeholder::<f32>("x", [2, 3]);
    g.set_seed(7);
    let (u, n) = (g.random_uniform([2], 0.0f32, 1.0, None), g.random_normal([2], 0.0f32, 1.0, None));
    let i = g.random_uniform([2], 0i32, 5, None);
    let (u, n, i): (Vec<f32>, Vec<f32>, Vec<i32>) = Session::new(&g)?.run((u, n, i), feed![])?;
    assert_eq!((u, n, i), (vec![0.19530785, 0.5389501], vec![1.6056037, 2.2249544], vec![2, 3]));
    Ok(())
}

/// `?` turns an error of a file into an [`Error`] with TensorFlow's code.
#[test]
fn errors_of_files_have_codes() {
    let read = || -> Result<String> { Ok(std::fs::read_to_string("/no/such/file")?) };
    assert_eq!(read().unwrap_err().code(), millstream::Code::NotFound);
}

/// A graph's text form is parsed over the whole op library.
#[test]
fn a_graph_is_parsed_from_its_text() -> Result<()> {
    let g = Graph::default();
    g.nn().bias_add(g.constant([[1.0f32]]), [2.0f32]);
    assert_eq!(Graph::parse(&g.to_string())?.to_string(), g.to_string());
    Ok(())
}
