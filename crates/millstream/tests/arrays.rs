//! TensorArrays: values, contract, gradients; and functions over rows.

use millstream::TensorArray;
use millstream::prelude::*;

#[track_caller]
fn fails<T>(result: Result<T>, part: &str) {
    match result {
        Ok(_) => panic!("it works"),
        Err(error) => {
            let shown = format!("{error:?}");
            assert!(shown.contains(part), "{shown}");
        }
    }
}

fn near(got: &[f64], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "got {got}, want {want}");
    }
}

#[test]
fn written_in_any_order_and_read_back() -> Result<()> {
    let g = Graph::new();
    let a = TensorArray::of::<f32>(&g, 3).build().write(2, 3.0).write(0, 1.0).write(1, 2.0);
    assert_eq!(*a.element_shape(), PartialShape::scalar());
    let (all, one, some, n) = (a.stack(), a.read(1), a.gather([2, 0]), a.size());
    let (all, one, some, n): (Vec<f32>, f32, Vec<f32>, i32) =
        Session::new(&g)?.run((all, one, some, n), feed![])?;
    assert_eq!((all, one, some, n), (vec![1.0, 2.0, 3.0], 2.0, vec![3.0, 1.0], 3));
    Ok(())
}

#[test]
fn rows_in_and_out() -> Result<()> {
    let g = Graph::new();
    let x = g.constant([[1, 2], [3, 4], [5, 6]]);
    let a = TensorArray::of::<i32>(&g, 3).build().unstack(x);
    assert_eq!(a.stack().shape(), PartialShape::new([None, Some(2)]));
    let joined = a.concat();
    let b = TensorArray::of::<i32>(&g, 4).build().scatter([3, 1], g.constant([[7, 7], [8, 8]]));
    let parts = TensorArray::of::<i32>(&g, 2).infer_shape(false).build().split(x, [1i64, 2]);
    let (second, close) = (parts.read(1), a.identity().close());
    let fetched = Session::new(&g)?.run((joined, b.stack(), second, parts.concat(), close), feed![])?;
    let (joined, b, second, whole, ()): (Vec<i32>, Tensor, Tensor, Tensor, ()) = fetched;
    assert_eq!(joined, [1, 2, 3, 4, 5, 6]);
    assert_eq!(b.as_slice::<i32>()?, [0, 0, 8, 8, 0, 0, 7, 7]);
    assert_eq!(second.as_slice::<i32>()?, [3, 4, 5, 6]);
    assert_eq!(whole.shape().dims(), [3, 2]);
    Ok(())
}

#[test]
fn a_loop_variable_at_any_depth() -> Result<()> {
    let g = Graph::new();
    let n = g.placeholder::<i32>("n", shape![]);
    let (a, b) =
        (TensorArray::of::<i32>(&g, n).build(), TensorArray::of::<f64>(&g, 0).dynamic_size(true).build());
    let (_, (held, _)) = g.while_loop((g.constant(0), (vec![a], b))).parallel_iterations(3).run(
        |(i, _)| i.less(n),
        |(i, (mut held, b))| {
            let a = held.remove(0).write(i, i * 2);
            (i + 1, (vec![a], b.write(i, i.cast::<f64>())))
        },
    )?;
    // The element shape inferred in the body is known outside.
    assert_eq!(held[0].stack().shape(), PartialShape::new([None]));
    let all: Vec<i32> = Session::new(&g)?.run(held[0].stack(), feed![n => 100])?;
    assert_eq!(all, (0..100).map(|i| 2 * i).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn what_is_wrong_is_said_while_the_graph_is_built() {
    let wrong = |build: &dyn Fn(&Graph), part: &str| {
        let g = Graph::new();
        build(&g);
        fails(g.check(), part);
    };
    wrong(
        &|g| drop(TensorArray::of::<f32>(g, 2).build().write(0, 1.0).write(1, [1.0])),
        "have shape [] but the value written has shape [1]",
    );
    wrong(&|g| drop(TensorArray::of::<f32>(g, 2).element_shape([2]).build().write(0, [1.0])), "f32[1]");
    wrong(
        &|g| drop(TensorArray::of::<f32>(g, 2).build().unstack([1.0, 2.0, 3.0])),
        "cannot write 3 elements to a TensorArray of size 2",
    );
    wrong(&|g| drop(TensorArray::of::<f32>(g, 2).build().write(0, g.constant(1))), "f32");
    wrong(
        &|g| drop(TensorArray::of::<f32>(g, 2).build().write(0, 1.0).split([1.0], [1i64])),
        "that nothing has been written to",
    );
    wrong(&|g| drop(TensorArray::of::<f32>(g, -1).build()), "must not be negative");
}

#[test]
fn what_is_wrong_is_said_when_it_runs() -> Result<()> {
    type Make = for<'g> fn(TensorArray<'g>, Output<'g>) -> Output<'g>;
    let wrong = |make: Make, value: i32, part: &str| -> Result<()> {
        let g = Graph::new();
        let i = g.placeholder::<i32>("i", shape![]);
        let result = make(TensorArray::of::<f32>(&g, 2).build(), i);
        g.check()?;
        fails(Session::new(&g)?.run::<Tensor>(result, feed![i => value]), part);
        Ok(())
    };
    wrong(|a, i| a.write(i, 1.0).stack(), 2, "index 2 is out of range for a list of length 2")?;
    wrong(|a, i| a.write(i, 1.0).stack(), -1, "index -1 is out of range")?;
    wrong(
        |a, i| a.write(0, 1.0).write(i, 1.0).stack(),
        0,
        "element 0 of the TensorArray has been written already",
    )?;
    wrong(|a, i| a.read(i), 1, "item 1 has not been written")?;
    wrong(|a, i| a.write(0, 1.0).read(i), 5, "index 5 is out of range")?;
    wrong(
        |a, i| a.unstack(i.graph().zeros::<f32>([3]).slice_axis(0, 0..1).fill_to(i)).stack(),
        3,
        "another size",
    )?;
    wrong(
        |a, i| a.scatter(i.expand_dims(0), [1.0]).stack(),
        2,
        "index 2 is out of range for a TensorArray of size 2",
    )
}

trait FillTo<'g> {
    fn fill_to(self, n: Output<'g>) -> Output<'g>;
}

impl<'g> FillTo<'g> for Output<'g> {
    /// A vector of `n` zeros.
    fn fill_to(self, n: Output<'g>) -> Output<'g> {
        self.graph().op("Fill").input(n.expand_dims(0)).input(0f32).output()
    }
}

#[test]
fn the_iteration_is_named() -> Result<()> {
    let g = Graph::new();
    let a = TensorArray::of::<f32>(&g, 2).build();
    let (_, a) =
        g.while_loop((g.constant(0), a)).run(|(i, _)| i.less(5), |(i, a)| (i + 1, a.write(i, 1.0)))?;
    let error = Session::new(&g)?.run::<Tensor>(a.stack(), feed![]).map(|_| ()).unwrap_err();
    let shown = format!("{error:?}");
    assert!(
        shown.contains("index 2 is out of range for a list") && shown.contains("TensorArrayWrite"),
        "{shown}"
    );
    Ok(())
}

#[test]
fn gradients_of_any_order() -> Result<()> {
    // y_i = x_i · y_{i-1}², reading one array and writing another.
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![4]);
    let inputs = TensorArray::of_rows(x);
    let outputs = TensorArray::of::<f64>(&g, 4).build();
    let (_, _, outputs) = g.while_loop((g.constant(0), g.constant(1.0f64), outputs)).run(
        |(i, _, _)| i.less(4),
        |(i, y, outputs)| {
            let y = inputs.read(i) * y * y;
            (i + 1, y, outputs.write(i, y))
        },
    )?;
    let total = outputs.stack().reduce_sum(());
    let dx = g.gradients([total], [x]).dense()?[0];
    let ddx = g.gradients([dx], [x]).dense()?[0];
    let by_elements = inputs.grad([total])?.stack();
    let v = [0.9, 1.1, 0.8, 1.2];
    let fetched: (Vec<f64>, Vec<f64>, Vec<f64>) =
        Session::new(&g)?.run((dx, ddx, by_elements), feed![x => v])?;
    let f = |v: [f64; 4]| {
        let mut y = 1.0;
        v.iter()
            .map(|x| {
                y = x * y * y;
                y
            })
            .sum::<f64>()
    };
    let moved = |i: usize, e: f64| {
        let mut v = v;
        v[i] += e;
        v
    };
    for i in 0..4 {
        let want = (f(moved(i, 1e-6)) - f(moved(i, -1e-6))) / 2e-6;
        assert!((fetched.0[i] - want).abs() < 1e-6, "{} {want}", fetched.0[i]);
        let e = 1e-3;
        let row: f64 = (0..4)
            .map(|j| {
                let at = |a: f64, b: f64| {
                    let mut v = moved(i, a);
                    v[j] += b;
                    f(v)
                };
                (at(e, e) - at(e, -e) - at(-e, e) + at(-e, -e)) / (4.0 * e * e)
            })
            .sum();
        assert!((fetched.1[i] - row).abs() < 1e-3 * row.abs().max(1.0), "{} {row}", fetched.1[i]);
    }
    near(&fetched.2, &fetched.0);
    Ok(())
}

#[test]
fn gradients_of_every_method() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![3, 2]);
    let w = g.constant([[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let array = || TensorArray::of::<f64>(&g, 3).build();
    let all = [
        (array().unstack(x).stack() * w).reduce_sum(()),
        (array().unstack(x).gather([2, 2, 0]) * w).reduce_sum(()),
        (array().scatter([1, 2, 0], x).stack() * w).reduce_sum(()),
        (array().unstack(x).concat() * w.reshape([6])).reduce_sum(()),
        (array().split(x, [0i64, 1, 2]).concat() * w).reduce_sum(()),
    ];
    let grads: Result<Vec<Output<'_>>> =
        all.into_iter().map(|y| Ok(g.gradients([y], [x]).dense()?[0])).collect();
    let grads =
        Session::new(&g)?.run::<Vec<Tensor>>(grads?, feed![x => Tensor::zeros(DType::F64, [3, 2])?])?;
    let want: [[f64; 6]; 5] = [
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        [5.0, 6.0, 0.0, 0.0, 4.0, 6.0],
        [3.0, 4.0, 5.0, 6.0, 1.0, 2.0],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    ];
    for (got, want) in grads.iter().zip(&want) {
        near(got.as_slice()?, want);
    }
    Ok(())
}

#[test]
fn maps_run_over_nests_and_their_gradients_too() -> Result<()> {
    let g = Graph::new();
    let (x, y) = (g.placeholder::<f64>("x", shape![_]), g.placeholder::<f64>("y", shape![_, 2]));
    let (sums, squares) = g.map_fn((x, y)).run(|(x, y)| (x * y.reduce_sum(()), vec![x * x]))?;
    let total = sums.reduce_sum(()) + squares[0].reduce_sum(());
    let dx = g.gradients([total], [x]).dense()?[0];
    let ddx = g.gradients([dx], [x]).dense()?[0];
    let feeds = feed![x => [1.0, 2.0, 3.0], y => [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]];
    let (sums, dx, ddx): (Vec<f64>, Vec<f64>, Vec<f64>) = Session::new(&g)?.run((sums, dx, ddx), feeds)?;
    near(&sums, &[2.0, 8.0, 18.0]);
    near(&dx, &[4.0, 8.0, 12.0]);
    near(&ddx, &[2.0, 2.0, 2.0]);
    Ok(())
}

#[test]
fn folds_and_scans() -> Result<()> {
    let g = Graph::new();
    let x = g.placeholder::<f64>("x", shape![_]);
    let product = g.foldl(x).run(|a, b| a * b)?;
    let horner = g.foldr(x).parallel_iterations(1).run_from(0.0f64, |acc, c| acc * 2.0 + c)?;
    let products = g.scan(x).run(|a, b| a * b)?;
    let back = g.scan(x).reverse(true).run(|a, b| a * b)?;
    let (counts, _) = g.scan(x).run_from((g.constant(0), 1.0f64), |(n, a), x| (n + 1, a * x))?;
    let d = g.gradients([products.reduce_sum(())], [x]).dense()?[0];
    let dd = g.gradients([d], [x]).dense()?[0];
    let fetched = Session::new(&g)?
        .run((product, horner, products, back, counts, (d, dd)), feed![x => [2.0, 3.0, 5.0]])?;
    type Fetched = (f64, f64, Vec<f64>, Vec<f64>, Vec<i32>, (Vec<f64>, Vec<f64>));
    let (product, horner, products, back, counts, (d, dd)): Fetched = fetched;
    near(&[product, horner], &[30.0, 28.0]);
    near(&products, &[2.0, 6.0, 30.0]);
    near(&back, &[30.0, 15.0, 5.0]);
    assert_eq!(counts, [1, 2, 3]);
    // a + ab + abc
    near(&d, &[1.0 + 3.0 + 15.0, 2.0 + 10.0, 6.0]);
    near(&dd, &[1.0 + 5.0 + 3.0, 1.0 + 5.0 + 2.0, 3.0 + 2.0]);
    Ok(())
}

#[test]
fn rows_must_be_as_many() {
    let g = Graph::new();
    let (x, y) = (g.zeros::<f32>([2]), g.zeros::<f32>([3]));
    fails(g.map_fn((x, y)).run(|(x, y)| x + y), "has 2 rows but");
    fails(g.map_fn(g.constant(1.0f32)).run(|x| x), "it has no rows");
    fails(g.map_fn(x).parallel_iterations(0).run(|x| x), "positive integer");
    fails(g.foldl(x).run_from(g.constant(0), |a, _| Ok::<_, Error>(a.cast::<f32>())), "enters as i32");
}
