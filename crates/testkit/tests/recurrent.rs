//! Recurrent nets as a whole: what is done to make them fast is done, and changes no bit.

use millstream::prelude::*;
use millstream::rnn::{BasicLstmCell, BasicRnnCell, Cell, GruCell};
use millstream::{Pass, Passes, Recurrent, SessionOptions, Tier};

const UNITS: usize = 64;
const BATCH: usize = 8;

/// The gradients of the weights of a net, by a loss that depends on every step.
fn gradients<'g, C: Cell<'g>>(g: &'g Graph, cell: &mut C, x: Output<'g>, lengths: bool) -> Vec<Output<'g>> {
    let net = g.dynamic_rnn(cell, x).time_major(true);
    let net = match lengths {
        true => net.sequence_length(g.constant((0..BATCH as i32).map(|i| i % 5 + 2).collect::<Vec<_>>())),
        false => net,
    };
    let (outputs, _) = net.run().unwrap();
    let loss = outputs.square().reduce_mean(());
    g.gradients([loss], cell.weights().iter().map(|w| w.value)).dense().unwrap()
}

/// What a run of these gradients gives, as bits.
fn run(g: &Graph, wanted: &[Output<'_>], x: Output<'_>, options: SessionOptions) -> Vec<Vec<u32>> {
    let session = Session::with_options(g, options).unwrap();
    session.run::<()>(g.global_variables_initializer(), feed![]).unwrap();
    let values: Vec<f32> = (0..6 * BATCH * UNITS).map(|i| (i % 97) as f32 / 64.0 - 0.75).collect();
    let x_value = Tensor::from_slice([6, BATCH, UNITS], &values).unwrap();
    let results: Vec<Tensor> = session.run(wanted.to_vec(), feed![x => x_value]).unwrap();
    results.iter().map(|t| t.as_slice::<f32>().unwrap().iter().map(|v| v.to_bits()).collect()).collect()
}

/// The options of each way to run a net.
fn ways() -> Vec<SessionOptions> {
    let mut ways = Vec::new();
    for (tier, parallel_iterations) in
        [(Tier::Compiled, None), (Tier::Dataflow, Some(1)), (Tier::Dataflow, Some(32))]
    {
        ways.push(SessionOptions { tier, parallel_iterations, ..SessionOptions::default() });
    }
    for pass in Pass::ALL {
        ways.push(SessionOptions { passes: Passes::default().without(pass), ..SessionOptions::default() });
    }
    ways.push(SessionOptions { hand_out_all: true, ..SessionOptions::default() });
    ways
}

fn has_the_same_bits_everywhere<'g, C: Cell<'g>>(g: &'g Graph, mut cell: C, lengths: bool) {
    let x = g.placeholder::<f32>("x", shape![_, BATCH, UNITS]);
    let wanted = gradients(g, &mut cell, x, lengths);
    let want = run(g, &wanted, x, SessionOptions { tier: Tier::Reference, ..SessionOptions::default() });
    assert!(want.iter().flatten().any(|bits| f32::from_bits(*bits) != 0.0));
    for options in ways() {
        let shown = format!("{options:?}");
        assert!(run(g, &wanted, x, options) == want, "{shown}");
    }
    // The weights' gradients are summed up in place: it is the kernels' that are large.
    let listing = |passes: Passes| {
        let options = SessionOptions { passes, ..SessionOptions::default() };
        Session::with_options(g, options).unwrap().listing(wanted.clone(), [x]).unwrap()
    };
    assert!(listing(Passes::default()).contains(" with MatMul"));
    let neither = Passes::default().without(Pass::Accumulate).without(Pass::Narrow);
    assert!(!listing(neither).contains(" with MatMul"));
    // The gates of a step are computed together.
    assert!(listing(Passes::default()).contains(" nodes: "));
    assert!(!listing(Passes::default().without(Pass::Fuse)).contains(" nodes: "));
}

fn seeded() -> Graph {
    let g = Graph::new();
    g.set_seed(5);
    g
}

#[test]
fn lstm() {
    has_the_same_bits_everywhere(&seeded(), BasicLstmCell::new(UNITS), false);
}

#[test]
fn lstm_with_lengths() {
    has_the_same_bits_everywhere(&seeded(), BasicLstmCell::new(UNITS), true);
}

#[test]
fn gru_with_lengths() {
    has_the_same_bits_everywhere(&seeded(), GruCell::new(UNITS), true);
}

#[test]
fn plain_cell() {
    has_the_same_bits_everywhere(&seeded(), BasicRnnCell::new(4 * UNITS), false);
}

/// The backward loop multiplies with the transpose of the kernel, which is made once, outside of the loop.
#[test]
fn kernels_are_transposed_once() {
    let g = seeded();
    let x = g.placeholder::<f32>("x", shape![_, BATCH, UNITS]);
    let wanted = gradients(&g, &mut BasicLstmCell::new(UNITS), x, false);
    let listing = Session::new(&g).unwrap().listing(wanted, [x]).unwrap();
    let (outside, loops) = listing.split_once("\nframe1 ").unwrap();
    let (loops, _) = loops.split_once("\nplan of ").unwrap();
    assert_eq!(outside.matches(" Transpose `").count(), 1, "{listing}");
    assert!(!loops.contains(" Transpose `"), "{listing}");
}

/// The inputs need no gradient, so only the part of the product that goes back to the state is computed.
#[test]
fn gradients_of_inputs_are_not_computed() {
    let g = seeded();
    let x = g.placeholder::<f32>("x", shape![_, BATCH, UNITS]);
    let wanted = gradients(&g, &mut BasicLstmCell::new(UNITS), x, false);
    let listing = |passes: Passes| {
        let options = SessionOptions { passes, ..SessionOptions::default() };
        Session::with_options(&g, options).unwrap().listing(wanted.clone(), [x]).unwrap()
    };
    let narrowed = |text: String| {
        text.lines().filter(|line| line.contains(" with MatMul") && line.contains(" Slice `")).count()
    };
    assert_eq!(narrowed(listing(Passes::default())), 1);
    assert_eq!(narrowed(listing(Passes::default().without(Pass::Narrow))), 0);
}
