//! Tensor lists in loops: inferred item shapes, and the cost of pushing.

use millstream::prelude::*;
use millstream::{DType, SessionOptions};

/// Adds a loop of `n` iterations that carries a list of items of this shape, updated by `body`.
fn looped<'g>(
    g: &'g Graph,
    n: i32,
    element_shape: &[i32],
    body: impl Fn(Output<'g>, Output<'g>) -> Output<'g>,
) -> Output<'g> {
    let list = g.list().empty_tensor_list(element_shape, -1, DType::F32);
    let looped = g.while_loop((g.constant(0), list)).run(|(i, _)| i.less(n), |(i, l)| (i + 1, body(i, l)));
    looped.unwrap().1
}

fn item_shape(g: &Graph, list: Output<'_>) -> PartialShape {
    g.list().tensor_list_get_item(list, 0, -1, DType::F32).shape()
}

#[test]
fn the_element_shape_goes_through_loops() {
    let g = Graph::new();
    let list = looped(&g, 3, &[2, -1], |i, l| {
        assert_eq!(item_shape(&g, l), shape![2, _]);
        g.list().tensor_list_push_back(l, g.fill([2, 1], i.cast::<f32>()))
    });
    assert_eq!(item_shape(&g, list), shape![2, _]);
    let all = g.list().tensor_list_stack(list, -1, DType::F32);
    assert_eq!(all.shape(), shape![_, 2, _]);
    let all: Tensor = Session::new(&g).unwrap().run(all, ()).unwrap();
    assert_eq!(all.to_string(), "f32[3,2,1] [[[0] [0]] [[1] [1]] [[2] [2]]]");
}

#[test]
fn another_list_from_the_body_is_forgotten() {
    let g = Graph::new();
    let list = looped(&g, 1, &[2], |_, _| g.list().tensor_list_reserve([3, 4], 1, DType::F32));
    assert_eq!(item_shape(&g, list), PartialShape::unknown());
    let list = looped(&g, 1, &[2], |_, _| g.list().tensor_list_reserve([3], 1, DType::F32));
    assert_eq!(item_shape(&g, list), shape![_]);
}

#[test]
fn what_the_body_made_of_the_shape_is_forgotten_too() {
    let g = Graph::new();
    // The item read is f32[2] in the first iteration and f32[3] after it.
    let start = (g.constant(0), g.list().tensor_list_reserve([2], 1, DType::F32), g.constant([0f32, 0.0]));
    let result = g.while_loop(start).run(
        |(i, _, _)| i.less(3),
        |(i, l, _)| {
            let item = g.list().tensor_list_get_item(l, 0, -1, DType::F32);
            (i + 1, g.list().tensor_list_reserve([3], 1, DType::F32), item)
        },
    );
    let error = result.unwrap_err().to_string();
    assert!(error.contains("enters as f32[2] but the body returns f32[?]"), "{error}");
}

#[test]
fn many_pushes_and_pops_change_the_list_in_place() {
    // Copying the list in each iteration would copy 2 * 10^10 handles.
    let n = 100_000;
    let g = Graph::new();
    let x = g.constant([1f32, 2.0]);
    let list = looped(&g, n, &[2], |_, l| g.list().tensor_list_push_back(l, x));
    let start = (g.list().tensor_list_length(list), list, g.constant([0f32, 0.0]));
    let (_, list, sum) = g
        .while_loop(start)
        .run(
            |(i, _, _)| i.greater(0),
            |(i, l, s)| {
                let [rest, item] = g.list().tensor_list_pop_back(l, [2], DType::F32);
                (i - 1, rest, s + item)
            },
        )
        .unwrap();
    let session = Session::new(&g).unwrap();
    let (left, sum): (i32, Vec<f32>) = session.run((g.list().tensor_list_length(list), sum), ()).unwrap();
    assert_eq!((left, sum), (0, vec![n as f32, 2.0 * n as f32]));
}

#[test]
fn a_list_that_is_still_wanted_is_copied() {
    let g = Graph::new();
    let a = g.list().tensor_list_from_tensor([1f32, 2.0], -1);
    let b = g.list().tensor_list_set_item(a, 0, 5f32);
    let stack = |l| g.list().tensor_list_stack(l, -1, DType::F32);
    let session = Session::new(&g).unwrap();
    let (a, b): (Vec<f32>, Vec<f32>) = session.run((stack(a), stack(b)), ()).unwrap();
    assert_eq!((a, b), (vec![1.0, 2.0], vec![5.0, 2.0]));
}

#[test]
fn handles_count_against_the_memory_limit() {
    let g = Graph::new();
    let n = g.placeholder::<i32>("n", shape![]);
    let list = g.list().tensor_list_reserve([2], n, DType::F32);
    let options = SessionOptions { memory_limit: Some(1 << 20), ..SessionOptions::default() };
    let session = Session::with_options(&g, options).unwrap();
    let error =
        session.run::<i32>(g.list().tensor_list_length(list), feed![n => 1_000_000]).unwrap_err().to_string();
    assert!(error.contains("out of memory") && error.contains("TensorListReserve"), "{error}");
    assert_eq!(session.run::<i32>(g.list().tensor_list_length(list), feed![n => 1000]).unwrap(), 1000);
}

#[test]
fn lists_nested_deeper_than_the_stack_are_dropped() {
    let g = Graph::new();
    let n = 200_000;
    let list = g.list().empty_tensor_list(-1, -1, DType::Variant);
    let empty = g.list().empty_tensor_list(-1, -1, DType::Variant);
    let (_, list) = g
        .while_loop((g.constant(0), list))
        .run(|(i, _)| i.less(n), |(i, l)| (i + 1, g.list().tensor_list_push_back(empty, l)))
        .unwrap();
    let session = Session::new(&g).unwrap();
    assert_eq!(session.run::<i32>(g.list().tensor_list_length(list), ()).unwrap(), 1);
}

#[test]
fn errors_of_arrays_name_the_iteration() {
    let g = Graph::new();
    let [handle, flow] = g.step().tensor_array_v3(3, DType::F32);
    let (_, flow) = g
        .while_loop((g.constant(0), flow))
        .run(
            |(i, _)| i.less(5),
            |(i, f)| (i + 1, g.step().tensor_array_write_v3(handle, i, i.cast::<f32>(), f)),
        )
        .unwrap();
    let error = Session::new(&g).unwrap().run::<f32>(flow, ()).unwrap_err().to_string();
    for part in
        ["TensorArray `TensorArrayV3`: index 3 cannot be written", "TensorArrayWriteV3", "iteration 3"]
    {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
}
