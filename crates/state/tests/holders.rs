//! What holds tensors between steps, on its own: tables, variables, TensorArrays, stacks, the maps of sparse
//! tensors and of handles, and the set of resources that holds them all.

use millstream_state::{
    Batches, Cancellation, Dense, HostFunctions, QueueKind, QueueSpec, Resources, SessionTensors,
    SparseTensorsMap, Stack, Table, TableKind, TableSpec, TensorArray, TensorArrayOptions, Variable,
};
use millstream_tensor::{Code, DType, Error, Opaque, PartialShape, Result, Shape, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};

fn ints(values: &[i64]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::vector(values).unwrap()
}

fn spec(kind: TableKind, key_shape: impl Into<Shape>) -> TableSpec {
    TableSpec {
        kind,
        key: DType::I64,
        key_shape: key_shape.into(),
        value: DType::F32,
        value_shape: Shape::scalar(),
    }
}

fn table(kind: TableKind) -> Table {
    Table::new("ages", "Ages", spec(kind, []), None).unwrap()
}

/// A dense table of four buckets, whose keys are pairs.
fn dense(empty: [i64; 2], deleted: [i64; 2]) -> Result<Table> {
    let marks = Dense { empty: ints(&empty), deleted: ints(&deleted), buckets: 4, max_load_factor: 0.8 };
    Table::new("pairs", "Pairs", spec(TableKind::Mutable, [2]), Some(marks))
}

#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T>, code: Code, parts: &[&str]) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in: {text}"));
}

#[test]
fn a_mutable_table_finds_replaces_removes_and_exports() {
    let table = table(TableKind::Mutable);
    assert!(table.is_empty());
    table.insert(&ints(&[3, 1, 2]), &floats(&[30.0, 10.0, 20.0])).unwrap();
    table.insert(&ints(&[1]), &floats(&[11.0])).unwrap();
    table.remove(&ints(&[2, 9])).unwrap();
    let found = table.find(&ints(&[1, 2, 3]), &Tensor::scalar(-1f32)).unwrap();
    assert_eq!(found.as_slice::<f32>().unwrap(), [11.0, -1.0, 30.0]);
    let (keys, values) = table.export().unwrap();
    assert_eq!(keys.as_slice::<i64>().unwrap(), [1, 3]);
    assert_eq!(values.as_slice::<f32>().unwrap(), [11.0, 30.0]);
    table.import(&ints(&[7]), &floats(&[70.0])).unwrap();
    assert_eq!(table.len(), 1);
    assert_eq!(table.spec().key, DType::I64);
    says(table.find(&ints(&[1]), &Tensor::scalar(1i32)), Code::InvalidArgument, &["default_value", "ages"]);
    says(table.insert(&floats(&[1.0]), &floats(&[1.0])), Code::InvalidArgument, &["f32[1]", "ages"]);
    says(table.insert(&ints(&[1, 2]), &floats(&[1.0])), Code::InvalidArgument, &["`values`", "f32[1]"]);
    says(table.fill(&ints(&[1]), &floats(&[1.0])), Code::InvalidArgument, &["inserted"]);
}

#[test]
fn a_fixed_table_is_filled_once() {
    let table = table(TableKind::Fixed);
    let (keys, values) = (ints(&[1, 2]), floats(&[10.0, 20.0]));
    says(table.find(&keys, &Tensor::scalar(0f32)), Code::FailedPrecondition, &["Table not initialized"]);
    let twice = table.fill(&ints(&[5, 5]), &floats(&[1.0, 2.0]));
    says(twice, Code::FailedPrecondition, &["HashTable has different value for same key", "Key 5", "1", "2"]);
    says(table.fill(&keys, &Tensor::scalar(1f32)), Code::InvalidArgument, &["i64[2]", "f32[]"]);
    table.import(&keys, &values).unwrap();
    table.fill(&keys, &values).unwrap();
    says(table.fill(&ints(&[1]), &floats(&[1.0])), Code::FailedPrecondition, &["2 keys, not 1"]);
    says(table.insert(&keys, &values), Code::Unimplemented, &["keys are not inserted"]);
    says(table.remove(&keys), Code::Unimplemented, &["keys are not removed"]);
    assert_eq!(table.find(&keys, &Tensor::scalar(0f32)).unwrap().as_slice::<f32>().unwrap(), [10.0, 20.0]);
}

#[test]
fn a_dense_table_exports_its_buckets_and_reads_them_back() {
    let table = dense([0, 0], [-1, -1]).unwrap();
    let keys = Tensor::from_iter([3, 2], [1i64, 2, 3, 4, 5, 6]).unwrap();
    table.insert(&keys, &floats(&[1.0, 2.0, 3.0])).unwrap();
    let (buckets, values) = table.export().unwrap();
    assert_eq!((&buckets.shape()[..], &values.shape()[..]), (&[4, 2][..], &[4, 1][..]));
    assert_eq!(values.as_slice::<f32>().unwrap().iter().sum::<f32>(), 6.0);
    let more = Tensor::from_iter([1, 2], [7i64, 8]).unwrap();
    table.insert(&more, &floats(&[4.0])).unwrap();
    assert_eq!(&table.export().unwrap().0.shape()[..], [8, 2], "four of four buckets are more than 0.8");
    let other = dense([0, 0], [-1, -1]).unwrap();
    other.import(&buckets, &values).unwrap();
    assert_eq!(other.len(), 3, "free buckets are no keys");
    let found = other.find(&keys, &Tensor::scalar(0f32)).unwrap();
    assert_eq!(found.as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0]);
    let mark = Tensor::from_iter([1, 2], [0i64, 0]).unwrap();
    says(
        other.insert(&mark, &floats(&[1.0])),
        Code::InvalidArgument,
        &["[0, 0]", "cannot be one of its keys"],
    );
    says(other.find(&ints(&[1]), &Tensor::scalar(0f32)), Code::InvalidArgument, &["i64[2]"]);
    says(dense([0, 0], [0, 0]), Code::InvalidArgument, &["`empty_key` and `deleted_key` must differ"]);
}

#[test]
fn marks_and_buckets_of_a_dense_table_are_checked() {
    let make = |empty: Tensor, buckets, max_load_factor| {
        let dense = Dense { empty, deleted: Tensor::scalar(-1i64), buckets, max_load_factor };
        Table::new("d", "D", spec(TableKind::Mutable, []), Some(dense))
    };
    assert!(make(Tensor::scalar(0i64), 4, 0.5).is_ok());
    says(make(ints(&[0]), 4, 0.5), Code::InvalidArgument, &["i64[]", "i64[1]"]);
    says(make(Tensor::scalar(0i64), 3, 0.5), Code::InvalidArgument, &["power of 2", "3"]);
    for factor in [0.0, 1.0, f32::NAN] {
        says(make(Tensor::scalar(0i64), 4, factor), Code::InvalidArgument, &["max_load_factor"]);
    }
}

#[test]
fn tables_are_of_keys_and_values_that_they_can_hold() {
    let with =
        |key, value| Table::new("t", "T", TableSpec { key, value, ..spec(TableKind::Fixed, []) }, None);
    says(with(DType::F32, DType::F32), Code::InvalidArgument, &["i32, i64 or strings"]);
    says(with(DType::I64, DType::Variant), Code::InvalidArgument, &["numbers, bools or strings"]);
    let table = with(DType::I32, DType::F32).unwrap();
    assert!(table.check_same("T", table.spec()).is_ok());
    says(table.check_same("U", table.spec()), Code::InvalidArgument, &["is a T of i32", "not a U"]);
    table.fill(&Tensor::vector(&[2i32, 1]).unwrap(), &floats(&[2.0, 1.0])).unwrap();
    assert_eq!(table.export().unwrap().0.as_slice::<i32>().unwrap(), [1, 2]);
    assert_eq!(table.kind(), "table");
}

#[test]
fn a_variable_takes_what_fits_and_keeps_the_old_value_otherwise() {
    let variable = Variable::new("w", DType::F32, PartialShape::unknown_of_rank(1));
    assert_eq!((variable.name(), variable.dtype()), ("w", DType::F32));
    assert!(!variable.is_initialized() && variable.read().is_err());
    variable.assign(floats(&[1.0, 2.0])).unwrap();
    says(variable.assign(ints(&[1])), Code::InvalidArgument, &["`w`", "f32", "i64"]);
    says(variable.assign(Tensor::scalar(1f32)), Code::InvalidArgument, &["`w`"]);
    let old = variable.update(|held| held.replace(floats(&[3.0]))).unwrap();
    assert_eq!(old.as_slice::<f32>().unwrap(), [1.0, 2.0]);
    variable
        .update(|held| {
            *held.in_place() = floats(&[4.0, 5.0]);
            Ok(())
        })
        .unwrap();
    assert_eq!(variable.update(|held| Ok(held.elements())).unwrap(), 2);
    variable.assign_any_shape(Tensor::scalar(6f32)).unwrap();
    assert_eq!(variable.read().unwrap().to_scalar::<f32>().unwrap(), 6.0);
    assert_eq!(format!("{variable:?}"), "variable `w` f32[?]");
    variable.clear();
    says(variable.update(|_| Ok(())), Code::FailedPrecondition, &["w"]);
    assert_eq!((variable.shape().rank(), variable.kind()), (Some(1), "variable"));
}

fn array(len: usize, dynamic_size: bool) -> TensorArray {
    let options = TensorArrayOptions {
        element_shape: PartialShape::unknown(),
        dynamic_size,
        clear_after_read: true,
        identical_element_shapes: true,
    };
    TensorArray::new("a", DType::F32, len, options).unwrap()
}

fn add(a: Tensor, b: Tensor) -> Result<Tensor> {
    let pairs = a.as_slice::<f32>()?.iter().zip(b.as_slice::<f32>()?).map(|(a, b)| a + b);
    Tensor::from_iter(a.shape().clone(), pairs)
}

#[test]
fn an_array_is_written_once_read_once_and_closed() {
    let array = array(2, false);
    assert_eq!((array.len().unwrap(), array.is_empty().unwrap()), (2, false));
    assert_eq!((array.dtype(), array.has_dynamic_size(), array.kind()), (DType::F32, false, "TensorArray"));
    array.write([(0, floats(&[1.0]))], &add).unwrap();
    assert_eq!(array.element_shape().to_string(), "[1]", "as the first element has it");
    says(array.write([(0, floats(&[2.0]))], &add), Code::InvalidArgument, &["already been written"]);
    says(array.write([(1, ints(&[2]))], &add), Code::InvalidArgument, &["dtype"]);
    says(array.write([(1, floats(&[1.0, 2.0]))], &add), Code::InvalidArgument, &["[2]", "infer_shape"]);
    says(
        array.write([(2, floats(&[1.0]))], &add),
        Code::InvalidArgument,
        &["not resizeable", "dynamic_size"],
    );
    says(array.write([(-1, floats(&[1.0]))], &add), Code::InvalidArgument, &["-1"]);
    says(array.constrain(&PartialShape::unknown_of_rank(2)), Code::InvalidArgument, &["[1]"]);
    let read = array.read([0]).unwrap();
    assert_eq!(read[0].as_slice::<f32>().unwrap(), [1.0]);
    says(array.read([0]), Code::InvalidArgument, &["cannot be read again"]);
    says(array.write([(0, floats(&[2.0]))], &add), Code::InvalidArgument, &["already been read"]);
    array.close();
    array.close();
    assert!(array.len().is_err() && array.read([1]).is_err());
}

#[test]
fn the_gradient_of_an_array_sums_what_is_written_twice() {
    let array = array(0, true);
    array.write([(1, floats(&[1.0, 2.0]))], &add).unwrap();
    array.mark_len(2);
    let gradient = array.gradient("grads", &Shape::scalar()).unwrap();
    assert!(Arc::ptr_eq(&gradient, &array.gradient("grads", &Shape::scalar()).unwrap()));
    assert!(!array.has_dynamic_size(), "an array with a gradient does not grow");
    gradient.write([(1, floats(&[1.0, 1.0]))], &add).unwrap();
    says(gradient.write([(1, floats(&[1.0]))], &add), Code::InvalidArgument, &["[2]", "[1]"]);
    gradient.write([(1, floats(&[2.0, 3.0]))], &add).unwrap();
    says(gradient.gradient("again", &Shape::scalar()), Code::InvalidArgument, &["summed"]);
    assert_eq!(gradient.whole_len().unwrap(), 2);
    let read = gradient.read([1]).unwrap();
    assert_eq!(read[0].as_slice::<f32>().unwrap(), [3.0, 4.0]);
}

#[test]
fn a_stack_is_bounded_and_ends_when_closed() {
    let stack = Stack::new("s", DType::I64, Some(1));
    says(stack.pop(), Code::InvalidArgument, &["empty"]);
    stack.push(ints(&[1])).unwrap();
    says(stack.push(ints(&[2])), Code::InvalidArgument, &["overflowed", "1"]);
    says(stack.push(floats(&[2.0])), Code::InvalidArgument, &["i64", "f32"]);
    assert_eq!(stack.pop().unwrap().as_slice::<i64>().unwrap(), [1]);
    stack.close();
    says(stack.push(ints(&[1])), Code::InvalidArgument, &["closed"]);
    assert_eq!((stack.dtype(), stack.kind()), (DType::I64, "stack"));
}

#[test]
fn a_map_of_sparse_tensors_gives_all_or_nothing() {
    let map = SparseTensorsMap::new("m", DType::F32);
    let sparse = || [ints(&[0]), floats(&[1.0]), ints(&[1])];
    assert_eq!(
        (map.add([sparse(), sparse()].into_iter()).unwrap(), map.add([sparse()].into_iter()).unwrap()),
        (0, 2)
    );
    says(map.take(&[0, 7]), Code::InvalidArgument, &["Unable to find SparseTensor: 7"]);
    assert_eq!(map.len(), 3, "the first number was put back");
    assert_eq!(map.take(&[0, 2, 1]).unwrap().len(), 3);
    assert!(map.is_empty() && map.check_dtype(map.dtype()).is_ok());
    says(map.check_dtype(DType::I32), Code::InvalidArgument, &["f32, not i32"]);
}

#[test]
fn a_handle_is_good_until_it_is_deleted() {
    let kept = SessionTensors::default();
    let (a, b) = (kept.keep("n", ints(&[1])), kept.keep("n", ints(&[2])));
    assert_ne!(a, b);
    assert_eq!(kept.get(&b).unwrap().as_slice::<i64>().unwrap(), [2]);
    kept.delete(&b).unwrap();
    says(kept.delete(&b), Code::InvalidArgument, &["Failed to delete"]);
    says(kept.get(&b), Code::InvalidArgument, &["is not in the session store"]);
    assert!(kept.len() == 1 && !kept.is_empty());
    assert_eq!(format!("{kept:?}"), "1 tensors kept under handles");
}

#[test]
fn resources_are_found_by_container_name_and_kind() {
    let resources = Resources::new();
    let made = AtomicUsize::new(0);
    let make = || {
        made.fetch_add(1, Relaxed);
        Ok(Stack::new("s", DType::F32, None))
    };
    let first = resources.get_or_create("c", "s", make).unwrap();
    assert!(Arc::ptr_eq(&first, &resources.get_or_create("c", "s", make).unwrap()));
    assert_eq!(made.load(Relaxed), 1);
    says(resources.get::<Stack>("d", "s"), Code::NotFound, &["`d`", "`s`"]);
    says(resources.get::<Variable>("c", "s"), Code::InvalidArgument, &["`s`", "stack"]);
    let fails = || Err::<Stack, _>(Error::invalid("cannot be made"));
    says(resources.get_or_create("c", "t", fails), Code::InvalidArgument, &["cannot be made"]);
    assert_eq!(resources.list(), [("c".to_owned(), "s".to_owned(), "stack")]);
    assert!(format!("{resources:?}").contains("stack"));
    let epoch = resources.epoch();
    resources.clear("d");
    assert_eq!(resources.all::<Stack>().len(), 1);
    resources.clear("c");
    assert!(resources.all::<Stack>().is_empty() && epoch < resources.epoch());
    assert!(!resources.remove("c", "s"));
}

#[test]
fn a_queue_is_shared_only_by_those_who_ask_for_the_same() {
    let spec = QueueSpec {
        kind: QueueKind::Fifo,
        capacity: 3,
        dtypes: vec![DType::F32],
        shapes: None,
        min_after_dequeue: 1,
        seeds: (1, 2),
        batches: Batches::default(),
    };
    assert!(spec.check_same(&spec, "q", "FIFOQueue").is_ok());
    let shapes = Some(vec![PartialShape::unknown_of_rank(1)]);
    let batches = Batches { max_tokens: Some(9), ..Batches::default() };
    for (other, what) in [
        (QueueSpec { kind: QueueKind::Priority, ..spec.clone() }, "has type"),
        (QueueSpec { capacity: 4, ..spec.clone() }, "capacity 3 but requested capacity was 4"),
        (QueueSpec { dtypes: vec![DType::I32], ..spec.clone() }, "component types"),
        (
            QueueSpec { shapes, ..spec.clone() },
            "component shapes [] but requested component shapes were [[?]]",
        ),
        (QueueSpec { min_after_dequeue: 0, ..spec.clone() }, "min_after_dequeue 1"),
        (QueueSpec { batches, ..spec.clone() }, "batches with"),
        (QueueSpec { seeds: (1, 3), ..spec.clone() }, "random seeds (1, 2) but requested seeds are (1, 3)."),
    ] {
        says(spec.check_same(&other, "q", "FIFOQueue"), Code::InvalidArgument, &["Shared queue 'q'", what]);
    }
}

#[test]
fn a_cancellation_tells_its_listeners_once() {
    let (cancel, told) = (Cancellation::default(), Arc::new(AtomicUsize::new(0)));
    let count = || {
        let told = told.clone();
        cancel.on_cancel(move |_| {
            told.fetch_add(1, Relaxed);
        })
    };
    let (stays, goes) = (count(), count());
    assert!(format!("{stays:?} {cancel:?}").contains("cancelled: false"));
    drop(goes);
    assert!(cancel.check().is_ok());
    cancel.cancel(Error::invalid("enough"));
    cancel.cancel(Error::invalid("more"));
    says(cancel.check(), Code::InvalidArgument, &["enough"]);
    assert_eq!(told.load(Relaxed), 1);
    drop(count());
    assert_eq!(told.load(Relaxed), 2, "who comes later is told at once");
}

#[test]
fn a_graph_without_host_functions_calls_none() {
    let functions = HostFunctions::default();
    assert!(functions.call("token", Vec::new(), &Cancellation::default()).is_none());
    assert_eq!(format!("{functions:?}"), "HostFunctions { functions: 0, .. }");
}

/// It would wait for itself. The object is as it was, and other threads wait and go on.
#[test]
fn a_closure_cannot_come_back_to_what_runs_it() {
    let panics = |work: &dyn Fn()| {
        let reason = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
        reason.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let variable = Variable::new("v", DType::F32, [1].into());
    variable.assign(floats(&[1.0])).unwrap();
    let text = panics(&|| _ = variable.update(|_| variable.read()));
    assert!(text.contains("given to `Variable::update` called a method of the same object"), "{text}");
    let resources = Resources::new();
    let make = || Ok(Stack::new("s", DType::F32, None));
    let text = panics(&|| {
        let made = resources.get_or_create("", "s", || {
            resources.get_or_create("", "t", make)?;
            make()
        });
        drop(made);
    });
    assert!(text.contains("given to `Resources::get_or_create` called"), "{text}");
    assert!(resources.list().is_empty() && variable.is_initialized());
    let value = std::thread::scope(|scope| {
        let other = variable.update(|_| Ok(scope.spawn(|| variable.read()))).unwrap();
        other.join().unwrap().unwrap()
    });
    assert!(value.bits_eq(&floats(&[1.0])));
}
