//! The peak bytes of runs, as the session counts them: values that never exist as a whole, and values written
//! in place.

use millstream::prelude::*;
use millstream::{SessionOptions, TensorArray, Tier};

const N: usize = 1 << 18;
/// The bytes of `N` floats.
const ONE: usize = N * 4;

fn session(g: &Graph, threads: usize) -> Result<Session> {
    let options =
        SessionOptions { memory_limit: Some(1 << 30), threads: Some(threads), ..SessionOptions::default() };
    Session::with_options(g, options)
}

/// Checks that a run takes `values` times [`ONE`] besides its feed, and little more.
#[track_caller]
fn takes(session: &Session, values: usize) {
    let peak = session.peak_bytes();
    assert!((values * ONE..values * ONE + ONE / 4).contains(&peak), "{peak} bytes, not {values} times {ONE}");
}

#[test]
fn the_squares_of_a_sum_of_squares_are_never_there() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f32>("x", shape![_]);
    let (sum, mean) = (x.square().reduce_sum(()), x.square().reduce_mean(()));
    let squares = x.square();
    let kept = squares.reduce_sum(());
    let feed = Tensor::from_iter([N], (0..N).map(|i| (i % 1000) as f32 * 0.01 - 3.0))?;
    let plain = SessionOptions { tier: Tier::Reference, ..SessionOptions::default() };
    let plain = Session::with_options(&g, plain)?;
    for fetches in [[sum].as_slice(), &[mean], &[sum, mean]] {
        let session = session(&g, 1)?;
        let got: Vec<Tensor> = session.run(fetches.to_vec(), feed![x => &feed])?;
        takes(&session, 0);
        let want: Vec<Tensor> = plain.run(fetches.to_vec(), feed![x => &feed])?;
        assert!(got.iter().zip(&want).all(|(a, b)| a.bits_eq(b)), "{got:?} {want:?}");
    }
    // They have another reader.
    let session = session(&g, 1)?;
    let (_, total): (Tensor, f32) = session.run((squares, kept), feed![x => &feed])?;
    takes(&session, 1);
    assert_eq!(total, session.run::<f32>(sum, feed![x => &feed])?);
    Ok(())
}

#[test]
fn the_numbers_of_a_count_are_never_there() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<bool>("x", shape![_]);
    let counts = [
        x.cast::<i32>().reduce_sum(()),
        x.cast::<i64>().reduce_sum(()),
        x.cast::<f32>().reduce_sum(()),
        x.cast::<f64>().reduce_mean(()),
        x.cast::<f32>().reduce_mean(()),
        x.cast::<i32>().reduce_mean(()),
    ];
    let plain = SessionOptions { tier: Tier::Reference, ..SessionOptions::default() };
    let plain = Session::with_options(&g, plain)?;
    for n in [0, 1, 7, N] {
        let feed = Tensor::from_iter([n], (0..n).map(|i| i % 4 != 1))?;
        let session = session(&g, 1)?;
        let got: Vec<Tensor> = session.run(counts.to_vec(), feed![x => &feed])?;
        assert!(session.peak_bytes() < ONE / 4, "{} bytes", session.peak_bytes());
        let want: Vec<Tensor> = plain.run(counts.to_vec(), feed![x => &feed])?;
        assert!(got.iter().zip(&want).all(|(a, b)| a.bits_eq(b)), "{got:?} {want:?}");
    }
    Ok(())
}

#[test]
fn the_gradient_of_a_mean_of_squares_takes_the_place_of_its_value() -> Result<()> {
    for threads in [1, 2] {
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", shape![_]);
        let y = x * 2.0;
        let loss = y.square().reduce_mean(());
        let slope = g.gradients([loss], [y]).dense()?[0];
        let session = session(&g, threads)?;
        let feed = Tensor::from_iter([N], (0..N).map(|i| i as f32))?;
        let (_, slope): (f32, Tensor) = session.run((loss, slope), feed![x => &feed])?;
        assert_eq!(slope.as_slice::<f32>()?[N / 2], N as f32 * 2.0 / N as f32);
        takes(&session, 1);
    }
    Ok(())
}

#[test]
fn what_a_loop_writes_item_by_item_is_there_once() -> Result<()> {
    let (rows, row) = (64, N / 64);
    for threads in [1, 2] {
        let g = Graph::new();
        let x = g.placeholder::<f32>("x", shape![_, row]);
        let inputs = TensorArray::of_rows(x);
        let outputs = TensorArray::of::<f32>(&g, inputs.size()).build();
        let n = inputs.size();
        let (_, outputs) = g
            .while_loop((g.constant(0), outputs))
            .run(|(i, _)| i.less(n), |(i, outputs)| (i + 1, outputs.write(i, inputs.read(i) * 2.0)))?;
        let session = session(&g, threads)?;
        let feed = Tensor::from_iter([rows, row], (0..N).map(|i| i as f32))?;
        let y: Tensor = session.run(outputs.stack(), feed![x => &feed])?;
        assert!(y.as_slice::<f32>()?.iter().enumerate().all(|(i, v)| *v == 2.0 * i as f32));
        let peak = session.peak_bytes();
        assert!(peak < ONE + ONE / 2, "{peak} bytes: the rows are there twice");
    }
    Ok(())
}
