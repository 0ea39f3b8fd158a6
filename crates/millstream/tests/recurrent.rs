//! Recurrent nets against TensorFlow 1.15 (`tests/golden/rnn`): outputs, last states, and gradients with
//! respect to every weight and the input.

use millstream::prelude::*;
use millstream::rnn::*;
use millstream::{Initializer, Recurrent, TensorArray, nest};
use millstream_graph::Port;
use std::collections::BTreeMap;

/// A golden file: values by name.
struct Golden(BTreeMap<String, Tensor>);

impl Golden {
    fn read(case: &str) -> Result<Golden> {
        let path = format!("{}/../../tests/golden/rnn/{case}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).map_err(|e| Error::internal(format!("{path}: {e}")))?;
        let bad = || Error::internal(format!("{path} is no golden file"));
        let mut values = BTreeMap::new();
        for line in text.lines() {
            let (name, rest) = line.split_once(" [").ok_or_else(bad)?;
            let (shape, numbers) = rest.split_once("] ").ok_or_else(bad)?;
            let dims: Vec<usize> = shape.split(',').map(|d| d.parse().unwrap()).collect();
            let value = match name {
                "lengths" => Tensor::from_iter(dims, numbers.split(' ').map(|v| v.parse::<i32>().unwrap()))?,
                _ => Tensor::from_iter(dims, numbers.split(' ').map(|v| v.parse::<f32>().unwrap()))?,
            };
            values.insert(name.to_owned(), value);
        }
        Ok(Golden(values))
    }

    #[track_caller]
    fn get(&self, name: &str) -> Tensor {
        self.0.get(name).unwrap_or_else(|| panic!("the golden file has no `{name}`")).clone()
    }

    #[track_caller]
    fn near(&self, name: &str, got: &Tensor) {
        let want = self.get(name);
        assert_eq!(got.shape(), want.shape(), "{name}");
        let (got, want) = (got.as_slice::<f32>().unwrap(), want.as_slice::<f32>().unwrap());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() <= 2e-5 + 2e-5 * want.abs(), "{name}: got {got}, want {want}");
        }
    }
}

/// Returns the values of a nest.
fn flat<'g>(nest: &impl Nest<'g>) -> Vec<Output<'g>> {
    let mut leaves = Vec::new();
    nest.flatten(&mut leaves);
    let value = |leaf| match leaf {
        nest::Leaf::Output(output) => Some(output),
        nest::Leaf::Op(_) => None,
    };
    leaves.into_iter().filter_map(value).collect()
}

/// Compares a net with a golden file: its outputs and the values of the last state.
fn compare<'g>(
    g: &'g Graph,
    golden: &Golden,
    x: Output<'g>,
    weights: &[Weight<'g>],
    outputs: &[Output<'g>],
    states: &[Output<'g>],
) -> Result<()> {
    let mut names: Vec<String> =
        ["outputs", "outputs_back"][..outputs.len()].iter().map(|n| (*n).into()).collect();
    names.extend((0..states.len()).map(|i| format!("state_{i}")));
    let results: Vec<Output<'g>> = outputs.iter().chain(states).copied().collect();
    let factor = |(name, r): (&String, &Output<'g>)| {
        (*r * g.constant(golden.get(&format!("u_{name}")))).reduce_sum(())
    };
    let loss = names.iter().zip(&results).map(factor).reduce(|a, b| a + b).unwrap();
    let mut by: Vec<Output<'g>> = weights.iter().map(|w| w.value).collect();
    by.push(x);
    let grads = g.gradients([loss], by).dense()?;
    let own = |w: &Weight<'g>| w.variable.handle().op().name();
    let steps: Vec<Op<'g>> = weights.iter().map(|w| w.variable.assign(golden.get(&own(w)))).collect();
    let steps = g.group(steps);
    let s = Session::new(g)?;
    s.run::<()>(steps, feed![])?;
    let (results, grads): (Vec<Tensor>, Vec<Tensor>) =
        s.run((results, grads), feed![x => golden.get("x")])?;
    for (name, result) in names.iter().zip(&results) {
        golden.near(name, result);
    }
    let named = weights.iter().map(own).chain(["x".to_owned()]);
    for (name, grad) in named.zip(&grads) {
        golden.near(&format!("d_{name}"), grad);
    }
    Ok(())
}

/// Runs a cell along time, with and without lengths, with known and unknown shapes, at several
/// `parallel_iterations`.
fn dynamic<C: for<'g> MakeCell<'g>>(case: &str, make: C) -> Result<()> {
    for (suffix, known, pi) in
        [("", true, 32), ("", false, 1), ("_lengths", true, 1), ("_lengths", false, 32)]
    {
        let golden = Golden::read(&format!("{case}{suffix}"))?;
        let g = Graph::new();
        let x = if known {
            g.placeholder::<f32>("x", shape![3, 5, 2])
        } else {
            g.placeholder::<f32>("x", shape![_, _, 2])
        };
        let mut cell = make.make();
        let mut rnn = g.dynamic_rnn(&mut cell, x).parallel_iterations(pi);
        if suffix == "_lengths" {
            rnn = rnn.sequence_length(g.constant(golden.get("lengths")));
        }
        let (outputs, state) = rnn.run()?;
        compare(&g, &golden, x, &cell.weights(), &[outputs], &flat(&state))?;
    }
    Ok(())
}

/// Returns a cell for a graph of any lifetime.
trait MakeCell<'g> {
    type Cell: Cell<'g>;
    fn make(&self) -> Self::Cell;
}

macro_rules! dynamic {
    ($($case:ident: $ty:ty = $make:expr;)*) => { $(
        #[test]
        fn $case() -> Result<()> {
            struct Make;
            impl<'g> MakeCell<'g> for Make {
                type Cell = $ty;
                fn make(&self) -> $ty {
                    $make
                }
            }
            dynamic(stringify!($case), Make)
        }
    )* };
}
dynamic! {
    basic_rnn: BasicRnnCell<'g> = BasicRnnCell::new(4);
    basic_lstm: BasicLstmCell<'g> = BasicLstmCell::new(4);
    basic_lstm_bias: BasicLstmCell<'g> = BasicLstmCell::new(4).forget_bias(0.25);
    lstm: LstmCell<'g> = LstmCell::new(4);
    lstm_peepholes: LstmCell<'g> = LstmCell::new(4).use_peepholes(true).cell_clip(0.3);
    lstm_projection: LstmCell<'g> = LstmCell::new(4).num_proj(3).proj_clip(0.2).use_peepholes(true);
    gru: GruCell<'g> = GruCell::new(4);
    multi: MultiRnnCell<BasicLstmCell<'g>> = MultiRnnCell::new(vec![BasicLstmCell::new(4); 2]);
    mixed: (GruCell<'g>, BasicRnnCell<'g>) = (GruCell::new(4), BasicRnnCell::new(3));
    residual: ResidualWrapper<GruCell<'g>> = ResidualWrapper::new(GruCell::new(2));
}

#[test]
fn bidirectional() -> Result<()> {
    for suffix in ["", "_lengths"] {
        let golden = Golden::read(&format!("bidirectional{suffix}"))?;
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", shape![3, 5, 2]);
        let (mut fw, mut bw) = (BasicLstmCell::new(4), BasicLstmCell::new(4));
        let mut rnn = g.bidirectional_dynamic_rnn(&mut fw, &mut bw, x);
        if suffix == "_lengths" {
            rnn = rnn.sequence_length(g.constant(golden.get("lengths")));
        }
        let (outputs, states) = rnn.run()?;
        let weights = [fw.weights(), bw.weights()].concat();
        compare(&g, &golden, x, &weights, &[outputs.0, outputs.1], &flat(&states))?;
    }
    Ok(())
}

#[test]
fn unrolled() -> Result<()> {
    for suffix in ["", "_lengths"] {
        let golden = Golden::read(&format!("static{suffix}"))?;
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", shape![3, 5, 2]);
        let mut cell = BasicLstmCell::new(4);
        let mut rnn = g.static_rnn(&mut cell, g.unstack(x, 1));
        if suffix == "_lengths" {
            rnn = rnn.sequence_length(g.constant(golden.get("lengths")));
        }
        let (outputs, state) = rnn.run()?;
        compare(&g, &golden, x, &cell.weights(), &[g.stack(outputs, 1)], &flat(&state))?;
    }
    Ok(())
}

#[test]
fn the_loop_written_with_raw_rnn_is_dynamic_rnn() -> Result<()> {
    let golden = Golden::read("gru_lengths")?;
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", shape![3, 5, 2]);
    let lengths = g.constant(golden.get("lengths"));
    let rows = TensorArray::of_rows(g.transpose(x, [1, 0, 2]));
    let mut cell = GruCell::new(4);
    let zero = cell.zero_state(&g, Batch::Known(3), DType::F32)?;
    let (emitted, state, steps) = g.raw_rnn(&mut cell, |time, before| {
        let finished = g.op("GreaterEqual").inputs([time, lengths]).output();
        let input = rows.read(time.minimum(4));
        let (state, loop_state) = match before {
            None => (zero, g.constant(0)),
            Some((_, state, steps)) => (state, steps + 1),
        };
        Ok(RawStep { finished, input, state, emit: None, loop_state })
    })?;
    let outputs = g.transpose(emitted.stack(), [1, 0, 2]);
    compare(&g, &golden, x, &cell.weights(), &[outputs], &[state])?;
    let _ = steps;
    Ok(())
}

#[test]
fn the_second_derivative_of_a_net() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![2, 3, 1]);
    let mut cell = BasicLstmCell::new(2);
    let (outputs, _) = g.dynamic_rnn(&mut cell, x).sequence_length(g.constant([3, 2])).run()?;
    let y = outputs.square().reduce_sum(());
    let dx = g.gradients([y], [x]).dense()?[0];
    let ddx = g.gradients([dx.square().reduce_sum(())], [x]).dense()?[0];
    let s = Session::new(&g)?;
    s.run::<()>(g.global_variables_initializer(), feed![])?;
    let at = |v: [f64; 6]| Tensor::from_slice([2, 3, 1], &v);
    let v = [0.3, -0.2, 0.9, 0.5, 0.1, -0.7];
    let got: Tensor = s.run(ddx, feed![x => at(v)?])?;
    let f = |v: [f64; 6]| -> Result<f64> {
        let dx: Tensor = s.run(dx, feed![x => at(v)?])?;
        Ok(dx.as_slice::<f64>()?.iter().map(|d| d * d).sum())
    };
    for i in 0..6 {
        let (mut up, mut down) = (v, v);
        (up[i], down[i]) = (v[i] + 1e-5, v[i] - 1e-5);
        let want = (f(up)? - f(down)?) / 2e-5;
        let got = got.as_slice::<f64>()?[i];
        assert!((got - want).abs() < 1e-7 + 1e-5 * want.abs(), "{i}: got {got}, want {want}");
    }
    Ok(())
}

/// Returns the bytes that the loops of a graph push on lists per iteration, sorted.
fn saved_bytes(g: &Graph) -> Vec<usize> {
    let mut saved: Vec<usize> = g.read(|g| {
        let pushes = g.nodes().iter().filter(|n| n.op() == "TensorListPushBack");
        let bytes = |p: Port| g.shape_of(p).elements().unwrap() * g.type_of(p).unwrap().dtype.size().unwrap();
        pushes.map(|n| bytes(n.inputs[1])).collect()
    });
    saved.sort();
    saved
}

// The saved values of a step of `b` rows and `h` units: the four gates, the previous memory, and the previous
// output, which the outputs share. The new memory, its tanh, and the kernel's input are recomputed.
#[test]
fn what_an_lstm_saves() -> Result<()> {
    for (b, h) in [(8, 16), (32, 64), (64, 256)] {
        for forget_bias in [0.0, 1.0] {
            let g = Graph::new();
            let mut cell = BasicLstmCell::new(h).forget_bias(forget_bias);
            let x = g.placeholder::<f32>("x", shape![_, b, h]);
            let (outputs, _) = g.dynamic_rnn(&mut cell, x).time_major(true).run()?;
            let loss = outputs.square().reduce_mean(());
            g.gradients([loss], cell.weights().iter().map(|w| w.value)).dense()?;
            assert_eq!(saved_bytes(&g), vec![b * h * 4; 6], "{b} {h} {forget_bias}");
        }
    }
    Ok(())
}

#[test]
fn dropout_keeps_the_mean_and_lets_all_pass_at_one() -> Result<()> {
    let g = Graph::new();
    g.set_seed(7);
    let keep = g.placeholder::<f32>("keep", shape![]);
    let x = g.ones::<f32>([1, 400, 5]);
    let of_fives = || BasicRnnCell::new(5).activation(|x| x).initializer(Initializer::zeros());
    // With a cell that outputs zero, the result is what the residual adds: the dropped input.
    let wrapped = DropoutWrapper::new(ResidualWrapper::new(of_fives())).input_keep_prob(keep);
    let mut free = wrapped.clone();
    let mut same = wrapped.variational_recurrent(true);
    let (free, _) = g.dynamic_rnn(&mut free, x).scope("free").run()?;
    let (same, _) = g.dynamic_rnn(&mut same, x).scope("same").run()?;
    let s = Session::new(&g)?;
    s.run::<()>(g.global_variables_initializer(), feed![])?;
    let (all, _): (Tensor, Tensor) = s.run((free, same), feed![keep => 1.0f32])?;
    assert!(all.as_slice::<f32>()?.iter().all(|v| *v == 1.0));
    let (free, same): (Tensor, Tensor) = s.run((free, same), feed![keep => 0.5f32])?;
    let free = free.as_slice::<f32>()?;
    assert!(free.iter().all(|v| *v == 0.0 || *v == 2.0));
    let mean = free.iter().sum::<f32>() / free.len() as f32;
    assert!((mean - 1.0).abs() < 0.1, "{mean}");
    let same = same.as_slice::<f32>()?;
    assert!(same.chunks(5).all(|row| row == &same[..5]), "the same values in all steps");
    Ok(())
}

#[test]
fn mistakes_are_named() {
    let shown = |build: &dyn Fn(&Graph) -> Result<()>| format!("{:?}", build(&Graph::new()).unwrap_err());
    let x = |g: &Graph, shape: PartialShape| g.placeholder_of("x", DType::F32, shape).port();
    let run = |g: &Graph, shape: PartialShape, lengths: Option<Tensor>| -> Result<()> {
        let x = Output::new(g, x(g, shape));
        let mut cell = GruCell::new(2);
        let rnn = g.dynamic_rnn(&mut cell, x);
        let rnn = if let Some(lengths) = lengths { rnn.sequence_length(g.constant(lengths)) } else { rnn };
        rnn.run().map(|_| ())
    };
    let error = shown(&|g| run(g, shape![3, 4], None));
    assert!(error.contains("must have shape [batch, time, features]"), "{error}");
    let error = shown(&|g| run(g, shape![3, 4, _], None));
    assert!(error.contains("the number of features of an input must be known"), "{error}");
    let error = shown(&|g| run(g, shape![3, 4, 2], Some(Tensor::vector(&[1, 2])?)));
    assert!(error.contains("`sequence_length` has shape [2], expected the batch shape [3]"), "{error}");
    let error = shown(&|g| run(g, shape![3, 4, 2], None).and_then(|()| run(g, shape![3, 4, 2], None)));
    assert!(error.contains("Variable rnn/gru_cell/gates/kernel already exists"), "{error}");
}
