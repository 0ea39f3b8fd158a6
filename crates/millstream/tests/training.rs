//! Variables, optimizers, clipping, schedules, against TensorFlow 1.15's nodes and values
//! (`tests/golden/make_training.py`).

use millstream::prelude::*;
use millstream::train::{Clipping, Optimizer, Schedules};
use millstream::{
    CollectionItem, Fan, GLOBAL_VARIABLES, Grad, IndexedSlices, Initializer, REGULARIZATION_LOSSES, Reuse,
    Spread, VariableScopes,
};
use serde_json::Value;

fn golden(part: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/training.json");
    let text = std::fs::read_to_string(path).expect("the golden file");
    serde_json::from_str::<Value>(&text).expect("JSON")[part].take()
}

fn numbers(value: &Value) -> Vec<f32> {
    let number = |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok()).expect("a number") as f32;
    value.as_array().expect("a list").iter().map(number).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a text")).collect()
}

#[track_caller]
fn near(got: &[f32], want: &[f32], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (g, w) in got.iter().zip(want) {
        let same = g == w || g.is_nan() && w.is_nan() || (g - w).abs() <= 1e-6 + 2e-6 * w.abs();
        assert!(same, "{what}: {got:?} is not {want:?}");
    }
}

fn floats(t: &Tensor) -> Vec<f32> {
    match t.dtype() {
        DType::I64 => t.as_slice::<i64>().expect("i64").iter().map(|&v| v as f32).collect(),
        _ => t.as_slice::<f32>().expect("f32").to_vec(),
    }
}

/// Returns the nodes as in the golden file.
fn nodes(g: &Graph) -> Vec<String> {
    g.check().expect("no mistakes");
    let line = |op: Op<'_>| {
        let inputs: Vec<String> = op.inputs().iter().map(|i| i.name()).collect();
        let inputs = if inputs.is_empty() { "-".into() } else { inputs.join(",") };
        let mut controls: Vec<String> =
            op.control_inputs().iter().map(|c| format!(" ^{}", c.name())).collect();
        controls.sort();
        format!("{} {} {inputs}{}", op.name(), op.op_type(), controls.concat())
    };
    g.operations().into_iter().map(line).collect()
}

#[track_caller]
fn same_nodes(g: &Graph, want: &Value, case: &str) {
    let (got, want) = (nodes(g), texts(want));
    for (got, want) in got.iter().zip(&want) {
        // TensorFlow 1.15 uses `AddV2` only for Python's `+`; we use it everywhere else too.
        assert_eq!(got.replace(" AddV2 ", " Add "), want.replace(" AddV2 ", " Add "), "{case}");
    }
    assert_eq!(got.len(), want.len(), "{case}: {:?}", got.get(want.len()));
}

fn optimizer<'g>(name: &str) -> Optimizer<'g> {
    match name {
        "gradient_descent" => Optimizer::gradient_descent(0.1),
        "momentum" => Optimizer::momentum(0.1, 0.9),
        "nesterov" => Optimizer::nesterov(0.1, 0.9),
        "adagrad" => Optimizer::adagrad(0.1, 0.1),
        "rms_prop" => Optimizer::rms_prop(0.1, 0.9, 0.5, 1e-8),
        "centered_rms_prop" => Optimizer::centered_rms_prop(0.1, 0.9, 0.5, 1e-8),
        "adam" => Optimizer::adam(0.1),
        "adam_w" => Optimizer::adam_w(0.01, 0.1),
        other => panic!("no optimizer {other}"),
    }
}

fn names(g: &Graph) -> Vec<String> {
    g.global_variables().iter().map(|v| v.name()).collect()
}

#[test]
fn five_steps_with_given_gradients() -> Result<()> {
    let golden = golden("optimizers");
    let cases = golden.as_object().expect("cases");
    assert_eq!(cases.len(), 32);
    for (case, want) in cases {
        let mut words = case.rsplitn(3, '_');
        let sparse = words.next() == Some("sparse");
        let by_ref = words.next() == Some("ref");
        let name = words.next().expect("an optimizer");
        let g = Graph::new();
        let first = g.constant(Tensor::from_slice([4, 2], &numbers(&want["first"]))?);
        let w = g.get_variable_from("layer/w", first).use_resource(!by_ref).build()?;
        let shape = if sparse { [3, 2] } else { [4, 2] };
        let grad = g.placeholder::<f32>("grad", shape);
        let given = match sparse {
            false => Grad::Dense(grad),
            true => Grad::Slices(IndexedSlices {
                values: grad,
                indices: g.constant([2, 0, 2]),
                dense_shape: Some(g.constant([4, 2])),
            }),
        };
        // In TensorFlow it is a reference by default.
        let step = g
            .get_variable("global_step", [])
            .dtype(DType::I64)
            .trainable(false)
            .use_resource(false)
            .build()?;
        let train = optimizer(name).apply_gradients([(Some(given), w)], Some(step))?;
        if by_ref && !sparse && name != "adam_w" {
            same_nodes(&g, &want["nodes"], case);
        }
        assert_eq!(names(&g), texts(&want["variables"]), "{case}");
        let init = g.global_variables_initializer();
        let session = Session::new(&g)?;
        session.run::<()>(init, feed![])?;
        let values: Vec<Output<'_>> = g.global_variables().iter().map(|v| v.value()).collect();
        for (fed, after) in
            want["grads"].as_array().expect("steps").iter().zip(want["values"].as_array().expect("steps"))
        {
            session.run::<()>(train, feed![grad => Tensor::from_slice(shape, &numbers(fed))?])?;
            let got: Vec<Tensor> = session.run(values.clone(), feed![])?;
            for ((got, want), name) in got.iter().zip(after.as_array().expect("variables")).zip(names(&g)) {
                near(&floats(got), &numbers(want), &format!("{case}: {name}"));
            }
        }
    }
    Ok(())
}

#[test]
fn a_line_is_fitted() -> Result<()> {
    for (case, want) in golden("regression").as_object().expect("cases") {
        let (name, kind) = case.rsplit_once('_').expect("a kind");
        let g = Graph::new();
        let (w, b) = g.variable_scope("net").use_resource(kind == "resource").run(|_| -> Result<_> {
            let w = g
                .get_variable("w", [2, 1])
                .initializer(Initializer::constant(Tensor::scalar(0.5)))
                .build()?;
            Ok((w, g.get_variable("b", [1]).initializer(Initializer::zeros()).build()?))
        })?;
        let x = g.constant([[1.0f32, 2.0], [3.0, -1.0], [0.5, 0.0], [-2.0, 1.0]]);
        let y = g.constant([[1.0f32], [2.0], [0.0], [-1.0]]);
        let loss = (x.matmul(w.value()) + b.value() - y).square().reduce_sum(()) * 0.25;
        let step = g.global_step()?;
        let train = optimizer(name).minimize(loss, Some(step))?;
        assert_eq!(names(&g), texts(&want["variables"]), "{case}");
        let init = g.global_variables_initializer();
        let session = Session::new(&g)?;
        session.run::<()>(init, feed![])?;
        let mut losses = Vec::new();
        for _ in 0..5 {
            session.run::<()>(train, feed![])?;
            losses.push(session.run::<f32>(loss, feed![])?);
        }
        near(&losses, &numbers(&want["losses"]), case);
        for (v, want) in g.global_variables().iter().zip(want["values"].as_array().expect("variables")) {
            near(
                &floats(&session.run::<Tensor>(v.value(), feed![])?),
                &numbers(want),
                &format!("{case}: {}", v.name()),
            );
        }
        let trained: Vec<String> = g.trainable_variables().iter().map(|v| v.name()).collect();
        assert_eq!(trained, ["net/w", "net/b"]);
    }
    Ok(())
}

fn initializer(name: &str) -> (Option<Initializer>, Vec<usize>) {
    let seed = Some(3);
    let (initializer, shape): (_, &[usize]) = match name {
        "zeros" => (Initializer::zeros(), &[2, 3]),
        "many_zeros" => (Initializer::zeros(), &[50, 30]),
        "ones" => (Initializer::ones(), &[3]),
        "constant" => (Initializer::constant(Tensor::scalar(2.5)), &[2, 2]),
        "constants" => {
            (Initializer::constant(Tensor::vector(&[1.0, 2.0, 3.0, 4.0]).expect("a vector")), &[2, 2])
        }
        "random_uniform" => (Initializer::random_uniform(-2.0, 3.0, Some(5)), &[2, 3]),
        "random_normal" => (Initializer::random_normal(1.0, 2.0, Some(5)), &[2, 3]),
        "truncated_normal" => (Initializer::truncated_normal(1.0, 2.0, Some(5)), &[2, 3]),
        "glorot_uniform" => (Initializer::glorot_uniform(seed), &[4, 5]),
        "glorot_normal" => (Initializer::glorot_normal(seed), &[4, 5]),
        "he_uniform" => (Initializer::he_uniform(seed), &[3, 3, 2, 4]),
        "he_normal" => (Initializer::he_normal(seed), &[4, 5]),
        "lecun_uniform" => (Initializer::lecun_uniform(seed), &[7]),
        "lecun_normal" => (Initializer::lecun_normal(seed), &[4, 5]),
        "scaled_normal" => (Initializer::variance_scaling(1.5, Fan::Out, Spread::Normal, seed), &[4, 5]),
        "identity" => (Initializer::identity(2.0), &[3, 3]),
        "wide_identity" => (Initializer::identity(2.0), &[2, 3]),
        "default" => return (None, vec![4, 5]),
        other => panic!("no initializer {other}"),
    };
    (Some(initializer), shape.to_vec())
}

#[test]
fn initializers_make_the_same_nodes_and_numbers() -> Result<()> {
    for (case, want) in golden("initializers").as_object().expect("cases") {
        let (name, kind) = case.rsplit_once('_').expect("a kind");
        let g = Graph::new();
        g.set_seed(11);
        let (initializer, shape) = initializer(name);
        let mut v = g.get_variable("v", &shape[..]).use_resource(kind == "resource");
        if let Some(initializer) = initializer {
            v = v.initializer(initializer);
        }
        let v = v.build()?;
        same_nodes(&g, &want["nodes"], case);
        let session = Session::new(&g)?;
        session.run::<()>(v.initializer(), feed![])?;
        near(&floats(&session.run::<Tensor>(v.value(), feed![])?), &numbers(&want["value"]), case);
    }
    Ok(())
}

#[test]
fn scopes_name_as_tensorflow_does() -> Result<()> {
    let want = golden("scopes");
    let g = Graph::new();
    let var =
        |name: &str| g.get_variable(name, [2]).initializer(Initializer::zeros()).use_resource(false).build();
    let both = || -> Result<()> {
        var("v")?;
        node(&g);
        Ok(())
    };
    both()?;
    let a = g.variable_scope("a").run(|a| -> Result<_> {
        both()?;
        g.variable_scope("b").run(|_| both())?;
        g.unique_variable_scope("d").run(|_| both())?;
        g.unique_variable_scope("d").run(|_| both())?;
        Ok(a.clone())
    })?;
    g.name_scope("n", || -> Result<()> {
        var("in_name_scope")?;
        g.variable_scope("a").reuse(Reuse::Yes).run(|_| both())?;
        g.variable_scope(&a).reuse(Reuse::Auto).run(|_| {
            var("v")?;
            var("new")?;
            node(&g);
            g.unique_variable_scope("d").run(|_| both())
        })
    })?;
    g.variable_scope("a/x/y").run(|_| both())?;
    g.variable_scope(&a).without_name_scope().run(|_| {
        var("plain")?;
        node(&g);
        Ok::<(), Error>(())
    })?;
    let regular = || g.variable_scope("r").regularizer(|w| Some((w * w).reduce_sum(())));
    regular().run(|_| var("v"))?;
    regular().reuse(Reuse::Yes).run(|_| var("v"))?;
    same_nodes(&g, &want["nodes"], "scopes");
    let losses = g.collection(REGULARIZATION_LOSSES).into_iter().map(|item| match item {
        CollectionItem::Node(name) => name,
        _ => panic!("a node"),
    });
    assert_eq!(losses.collect::<Vec<_>>(), texts(&want["losses"]));

    let mut errors = vec![g.variable_scope("a").run(|_| var("v")).map(drop)];
    g.variable_scope("a").reuse(Reuse::Yes).run(|_| {
        errors.push(var("missing").map(drop));
        errors.push(g.get_variable("v", [3]).build().map(drop));
        errors.push(g.get_variable("v", [2]).dtype(DType::F64).build().map(drop));
    });
    errors.push(g.get_variable("c", [2]).dtype(DType::C64).build().map(drop));
    for (error, want) in errors.into_iter().zip(texts(&want["errors"])) {
        // Shapes and dtypes are written in our notation.
        let want = want.replace("(3,)", "[3]").replace("(2,)", "[2]").replace("float32_ref", "float32");
        let want = want.replace("<dtype: 'complex64'>", "complex64");
        assert_eq!(error.expect_err("refused").message(), want);
    }
    Ok(())
}

fn node(g: &Graph) {
    g.constant_tensor("c", Tensor::scalar(1.0f32));
}

#[test]
fn schedules_follow_the_step() -> Result<()> {
    let golden = golden("schedules");
    let g = Graph::new();
    let s = g.placeholder::<i32>("step", shape![]);
    let rates = [
        ("exponential", g.exponential_decay(0.1, s, 10.0, 0.9, false)),
        ("staircase", g.exponential_decay(0.1, s, 10.0, 0.9, true)),
        ("natural_exp", g.natural_exp_decay(0.1, s, 10.0, 0.5, false)),
        ("inverse_time", g.inverse_time_decay(0.1, s, 10.0, 0.5, false)),
        ("polynomial", g.polynomial_decay(0.1, s, 20.0, 0.01, 2.0, false)?),
        ("cycle", g.polynomial_decay(0.1, s, 10.0, 0.01, 0.5, true)?),
        ("cosine", g.cosine_decay(0.1, s, 20.0, 0.1)),
        ("piecewise", g.piecewise_constant(s, &[6, 15], &[0.1, 0.05, 0.01])?),
    ];
    let session = Session::new(&g)?;
    for (name, rate) in rates {
        let got = numbers(&golden["steps"])
            .into_iter()
            .map(|step| session.run::<f32>(rate, feed![s => step as i32]));
        near(&got.collect::<Result<Vec<f32>>>()?, &numbers(&golden["rates"][name]), name);
    }
    let warm = g.linear_warm_up(0.5f32, s, 4.0);
    let session = Session::new(&g)?;
    for (step, want) in [(0, 0.0), (1, 0.125), (4, 0.5), (9, 0.5)] {
        assert_eq!(session.run::<f32>(warm, feed![s => step])?, want);
    }
    assert!(g.piecewise_constant(s, &[6], &[0.1]).is_err());
    Ok(())
}

#[test]
fn clipping_clips() -> Result<()> {
    let g = Graph::new();
    let a = g.placeholder::<f32>("a", [3, 2]);
    let b = g.placeholder::<f32>("b", [4]);
    let dense = |grad: &Grad<'_>| match grad {
        Grad::Dense(x) => x.name(),
        _ => panic!("dense"),
    };
    let all = [Some(Grad::Dense(a)), None, Some(Grad::Dense(b))];
    let (clipped, own) = g.clip_by_global_norm(&all, 2.0f32)?;
    assert!(clipped[1].is_none());
    let of = |i: usize| dense(clipped[i].as_ref().expect("a gradient"));
    let fetches = [
        ("value", g.clip_by_value(a, -1.0f32, 2.0f32).name()),
        ("norm", dense(&g.clip_by_norm(a, 1.5f32)?)),
        ("norm_small", dense(&g.clip_by_norm(a, 100.0f32)?)),
        ("average", g.clip_by_average_norm(a, 0.1f32).name()),
        ("global_norm", g.global_norm(&all)?.name()),
        ("global_a", of(0)),
        ("global_b", of(2)),
        ("own", own.name()),
    ];
    let session = Session::new(&g)?;
    for (case, want) in golden("clips").as_object().expect("cases") {
        for (name, fetch) in &fetches {
            let feeds = feed![
                a => Tensor::from_slice([3, 2], &numbers(&want["a"]))?,
                b => Tensor::from_slice([4], &numbers(&want["b"]))?
            ];
            let got: Tensor = session.run(g.output(fetch)?, feeds)?;
            near(&floats(&got), &numbers(&want["values"][name]), &format!("{case}: {name}"));
        }
    }
    Ok(())
}

#[test]
fn what_cannot_be_trained_is_refused() -> Result<()> {
    #[track_caller]
    fn refused<T>(result: Result<T>, why: &str) {
        let error = result.err().expect(why);
        assert!(error.to_string().contains(why), "{error}");
    }
    let g = Graph::new();
    let loss = g.placeholder::<f32>("loss", shape![]);
    let sgd = Optimizer::gradient_descent(0.1);
    refused(sgd.minimize(loss, None), "No variables to optimize.");
    let w = g.variable("w", [1.0f32]);
    refused(sgd.minimize(loss, None), "No gradients provided for any variable");
    refused(sgd.apply_gradients([], None), "No gradients provided");
    let wrong = g.constant([1.0f64]);
    refused(sgd.apply_gradients([(Some(Grad::Dense(wrong)), w)], None), "is f64 but the variable is f32");
    let grad = || Some(Grad::Dense(g.constant([1.0f32])));
    refused(sgd.apply_gradients([(grad(), w)], Some(w)), "the global step `w` is f32");
    refused(Optimizer::adagrad(0.1, 0.0).apply_gradients([(grad(), w)], None), "must be positive");
    let count = g.constant(1);
    refused(sgd.minimize(count, None), "must be a float");
    assert_eq!(g.collection(GLOBAL_VARIABLES).len(), 1);
    Ok(())
}
