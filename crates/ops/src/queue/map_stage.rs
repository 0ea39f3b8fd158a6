//! `MapStage`, `MapUnstage`, `MapPeek` and their relatives: elements that are put aside under keys, also part
//! by part. `OrderedMapStage` and its relatives are the same: here all such areas are ordered.

use super::staging::{Limits, Staged, area, at_once, bytes_of, user, wait};
use millstream_graph::op::spec::TypesFrom1;
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::{Given, Line, Outcome, Work};
use millstream_tensor::DType::{I32, I64};
use millstream_tensor::{Code, Error, PartialShape, Result, Tensor, ensure, invalid};
use smallvec::smallvec;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 14] {
    let of = |names: [&'static str; 7]| {
        let [stage, unstage, peek, no_key, size, incomplete, clear] = names;
        let keyed = |name| OpDef::new(name).input("key", I64).input("indices", I32);
        [
            user(keyed(stage).input_list("values", "fake_dtypes"))
                .attr("fake_dtypes", TypesFrom1)
                .doc(
                    "Puts values aside under a key, in the area `shared_name` (by default, the node's name) of \
                     `container`. They are those of an element's components at `indices`; an element is there \
                     once it has all its `dtypes`. Waits while the area holds `capacity` elements, or \
                     `memory_limit` bytes, if these are not 0.",
                )
                .kernel(Kernel::waiting(put)),
            user(keyed(unstage).output_list("values", "dtypes"))
                .doc(
                    "Takes the components at `indices` of the element with this key. Waits until it is there. An \
                     element is gone once all its components are taken.",
                )
                .kernel(Kernel::waiting(|cx, completion| get(cx, completion, true))),
            user(keyed(peek).output_list("values", "dtypes"))
                .doc(
                    "Returns the components at `indices` of the element with this key, which stays in the area. \
                     Waits until it is there.",
                )
                .kernel(Kernel::waiting(|cx, completion| get(cx, completion, false))),
            user(OpDef::new(no_key).input("indices", I32).output("key", I64).output_list("values", "dtypes"))
                .infer(|cx| {
                    cx.set(0, PartialShape::unknown_of_rank(0));
                    Ok(())
                })
                .doc("Takes the components at `indices` of the element with the least key, and returns the key, too.")
                .kernel(Kernel::waiting(get_first)),
            user(OpDef::new(size).output("size", I32))
                .infer(|cx| cx.scalars())
                .doc("Returns the number of elements in the area that have all their components.")
                .kernel(Kernel::stateful(|cx| {
                    at_once(cx, KIND, |area: &mut Area| Ok(smallvec![count(area.whole.len())]))
                })),
            user(OpDef::new(incomplete).output("size", I32))
                .infer(|cx| cx.scalars())
                .doc("Returns the number of elements in the area that lack components.")
                .kernel(Kernel::stateful(|cx| {
                    at_once(cx, KIND, |area: &mut Area| Ok(smallvec![count(area.parts.len())]))
                })),
            user(OpDef::new(clear)).doc("Takes all elements out of the area.").kernel(Kernel::stateful(|cx| {
                at_once(cx, KIND, |area: &mut Area| {
                    *area = Area::default();
                    Ok(Given::new())
                })
            })),
        ]
    };
    let [a, b, c, d, e, f, g] = of([
        "MapStage",
        "MapUnstage",
        "MapPeek",
        "MapUnstageNoKey",
        "MapSize",
        "MapIncompleteSize",
        "MapClear",
    ]);
    let [h, i, j, k, l, m, n] = of([
        "OrderedMapStage",
        "OrderedMapUnstage",
        "OrderedMapPeek",
        "OrderedMapUnstageNoKey",
        "OrderedMapSize",
        "OrderedMapIncompleteSize",
        "OrderedMapClear",
    ]);
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n]
}

const KIND: &str = "map staging area";

/// The elements that have all components, and those that lack some.
#[derive(Default)]
struct Area {
    whole: BTreeMap<i64, Staged>,
    parts: BTreeMap<i64, Staged>,
    bytes: usize,
}

fn count(n: usize) -> Tensor {
    Tensor::scalar(i32::try_from(n).unwrap_or(i32::MAX))
}

fn line(cx: &KernelCx) -> Result<Arc<Line<Area>>> {
    area(cx, KIND)
}

fn key(cx: &KernelCx) -> Result<i64> {
    ensure!(
        cx.input(0).elements() == 1,
        "key must be an int64 scalar";
        "`key` has shape {}", cx.input(0).shape()
    );
    Ok(cx.input(0).as_slice::<i64>()?[0])
}

/// The numbers of components in input `i`, ascending.
fn indices(cx: &KernelCx, i: usize) -> Result<Vec<usize>> {
    let given = cx.ints(i)?;
    let index = |v: &i64| {
        usize::try_from(*v).map_err(|_| invalid!("Index '{v}' is out of bounds"; "`indices` is {given:?}"))
    };
    let indices: Vec<usize> = given.iter().map(index).collect::<Result<_>>()?;
    ensure!(
        indices.is_sorted_by(|a, b| a < b),
        "Indices are not strictly ordered";
        "`indices` is {indices:?}, which must ascend"
    );
    Ok(indices)
}

fn put(cx: &mut KernelCx, completion: Completion) {
    let made = staged(cx);
    wait(cx, completion, made);
}

fn staged(cx: &mut KernelCx) -> Result<(Arc<Line<Area>>, Work<Area>)> {
    let (line, limits, key, indices) = (line(cx)?, Limits::of(cx.node)?, key(cx)?, indices(cx, 1)?);
    let dtypes = cx.attrs().dtypes("dtypes")?;
    let values: Vec<Tensor> = (2..cx.n_inputs()).map(|i| cx.take(i).kept()).collect::<Result<_>>()?;
    ensure!(
        values.len() == indices.len(),
        "the node puts {} values aside, but `indices` has {} entries",
        values.len(),
        indices.len()
    );
    for (i, value) in indices.iter().zip(&values) {
        let dtype = dtypes.get(*i).ok_or_else(|| {
            invalid!(
                "Index '{i}' for key '{key}' was out of bounds '{}'.", dtypes.len();
                "`indices` counts the components in `dtypes` from 0"
            )
        })?;
        ensure!(
            value.dtype() == *dtype,
            "component {i} of `dtypes` is {dtype}, but its value is {}",
            value.dtype()
        );
    }
    let bytes: usize = values.iter().map(bytes_of).sum();
    let n = dtypes.len();
    let mut values = Some(values);
    let work: Work<Area> = Box::new(move |area| {
        match limits.admit(bytes, area.whole.len(), area.bytes) {
            Err(error) => return Some(Err(error)),
            Ok(false) => return None,
            Ok(true) => {}
        }
        Some(area.put(key, n, &indices, values.take()?).map(Outcome::from))
    });
    Ok((line, work))
}

impl Area {
    /// Adds components of an element of `n` components.
    fn put(&mut self, key: i64, n: usize, indices: &[usize], values: Vec<Tensor>) -> Result<Given> {
        let mut slots = match self.parts.remove(&key) {
            Some(staged) => {
                self.bytes -= staged.bytes;
                staged.values
            }
            None => vec![None; n],
        };
        let taken = indices.iter().find(|i| slots.get(**i).is_none_or(Option::is_some)).copied();
        if taken.is_none() {
            for (i, value) in indices.iter().zip(values) {
                slots[*i] = Some(value);
            }
        }
        let is_whole = slots.iter().all(Option::is_some);
        let staged = Staged::new(slots)?;
        let known = self.whole.contains_key(&key);
        if !is_whole || !known {
            self.bytes += staged.bytes;
            if is_whole {
                self.whole.insert(key, staged)
            } else {
                self.parts.insert(key, staged)
            };
        }
        match taken {
            // As in TensorFlow, an element whose key is there already is dropped.
            None => Ok(Given::new()),
            Some(i) => Err(invalid!(
                "The tensor for index '{i}' for key '{key}' was already initialized '{n}'.";
                "an element has one value for each component"
            )),
        }
    }

    /// The components at `indices` of the element with this key, which is there.
    fn get(&mut self, key: i64, indices: &[usize], takes: bool) -> Result<Outcome<Area>> {
        let Some(element) = self.whole.get_mut(&key) else {
            return Err(Error::internal("an element vanished while it was looked at"));
        };
        let mut given = Given::new();
        for i in indices {
            let n = element.values.len();
            let slot = element.values.get(*i).ok_or_else(|| {
                invalid!(
                    "Index '{i}' for key '{key}' was out of bounds '{n}'.";
                    "`indices` counts the components of an element from 0"
                )
            })?;
            let value = slot.clone().ok_or_else(|| {
                Error::new(
                    Code::InvalidArgument,
                    format!("Tensor at index '{i}' for key '{key}' has already been removed."),
                )
            })?;
            given.push(value);
        }
        if !takes {
            return Ok(given.into());
        }
        // What is taken, in its places.
        let mut taken = Staged::new(vec![None; element.values.len()])?;
        for i in indices {
            if let Some(value) = element.values[*i].take() {
                taken.bytes += bytes_of(&value);
                taken.values[*i] = Some(value);
            }
        }
        element.bytes -= taken.bytes;
        self.bytes -= taken.bytes;
        if element.values.iter().all(Option::is_none) {
            self.whole.remove(&key);
        }
        Ok(Outcome { given, undo: Some(Box::new(move |area: &mut Area| area.take_back(key, taken))) })
    }

    /// The components that were taken are there again. An element that came under their key in the meantime
    /// is dropped, as one is that comes while they are there.
    fn take_back(&mut self, key: i64, taken: Staged) {
        self.bytes += taken.bytes;
        let is_free = |(there, back): (&Option<Tensor>, &Option<Tensor>)| there.is_none() || back.is_none();
        match self.whole.get_mut(&key) {
            Some(rest) if rest.values.iter().zip(&taken.values).all(is_free) => {
                rest.bytes += taken.bytes;
                for (slot, value) in rest.values.iter_mut().zip(taken.values) {
                    *slot = slot.take().or(value);
                }
            }
            _ => {
                if let Some(later) = self.whole.insert(key, taken) {
                    self.bytes -= later.bytes;
                }
            }
        }
    }
}

fn get(cx: &mut KernelCx, completion: Completion, takes: bool) {
    let made = line(cx).and_then(|line| {
        let (key, indices) = (key(cx)?, indices(cx, 1)?);
        let work: Work<Area> =
            Box::new(move |area| area.whole.contains_key(&key).then(|| area.get(key, &indices, takes)));
        Ok((line, work))
    });
    wait(cx, completion, made);
}

fn get_first(cx: &mut KernelCx, completion: Completion) {
    let made = line(cx).and_then(|line| {
        let indices = indices(cx, 0)?;
        let work: Work<Area> = Box::new(move |area| {
            let key = *area.whole.keys().next()?;
            Some(area.get(key, &indices, true).map(|mut outcome| {
                outcome.given.insert(0, Tensor::scalar(key));
                outcome
            }))
        });
        Ok((line, work))
    });
    wait(cx, completion, made);
}

cases! {
    puts_aside: "MapStage(i64 3, [0 1], 1.0, [2 3]; dtypes={f32, i32}) =",
    puts_a_part_aside: "OrderedMapStage(i64 3, [1], [2 3]; dtypes={f32, i32}) =",
    nothing_there: "MapSize(; dtypes={f32}) = 0",
    no_parts_there: "OrderedMapIncompleteSize(; dtypes={f32}) = 0",
    clears: "MapClear(; dtypes={f32}) =",
    infers: "MapUnstage(i64[], i32[2]; dtypes={f32, i32}) : f32[..], i32[..]",
    infers_what_it_looks_at: "MapPeek(i64[], i32[1]; dtypes={f32}) : f32[..]",
    infers_the_key: "OrderedMapUnstageNoKey(i32[1]; dtypes={f32}) : i64[], f32[..]",
    ascending: "MapStage(i64 3, [1 0], 1.0, 2.0; dtypes={f32, f32}) ! Indices are not strictly ordered",
    within_the_element: "MapStage(i64 3, [2], 1.0; dtypes={f32, f32}) ! Index '2' for key '3' was out of bounds '2'.",
    one_key: "MapUnstage(i64 [1 2], [0]; dtypes={f32}) ! key must be an int64 scalar",
    within_the_limit: "MapStage(i64 3, [0], [1.0 2.0]; dtypes={f32}, memory_limit=4) ! memory limit of '4'",
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_state::Undo;

    /// An area that holds an element of two numbers under a key.
    fn with(key: i64, values: [f32; 2]) -> Area {
        let mut area = Area::default();
        put(&mut area, key, values);
        area
    }

    fn put(area: &mut Area, key: i64, values: [f32; 2]) {
        area.put(key, 2, &[0, 1], values.map(Tensor::scalar).into()).unwrap();
    }

    /// Takes components. Returns what takes them back.
    fn take(area: &mut Area, key: i64, indices: &[usize]) -> Undo<Area> {
        area.get(key, indices, true).unwrap().undo.unwrap()
    }

    #[track_caller]
    fn check(area: &mut Area, key: i64, expect: [f32; 2]) {
        let held = area.get(key, &[0, 1], false).unwrap().given;
        assert!(held.iter().map(|value| value.to_scalar::<f32>().unwrap()).eq(expect));
        let bytes: usize = area.whole.values().map(|element| element.bytes).sum();
        assert_eq!((area.bytes, bytes), (8 * area.whole.len(), 8 * area.whole.len()));
    }

    #[test]
    fn what_was_taken_goes_back_to_its_place() {
        let mut area = with(3, [1.0, 2.0]);
        put(&mut area, 4, [7.0, 8.0]);
        let first = take(&mut area, 3, &[0]);
        assert_eq!((area.bytes, area.whole.len()), (12, 2));
        let second = take(&mut area, 3, &[1]);
        assert_eq!((area.bytes, area.whole.len()), (8, 1));
        second(&mut area);
        assert_eq!((area.bytes, area.whole.len()), (12, 2));
        assert!(area.get(3, &[0], false).unwrap_err().message().contains("already been removed"));
        first(&mut area);
        check(&mut area, 3, [1.0, 2.0]);
        check(&mut area, 4, [7.0, 8.0]);
    }

    /// Had the first one not been taken, the later one would have been dropped.
    #[test]
    fn an_element_that_came_later_under_the_key_is_dropped() {
        let mut area = with(3, [1.0, 2.0]);
        let back = take(&mut area, 3, &[0, 1]);
        put(&mut area, 3, [5.0, 6.0]);
        check(&mut area, 3, [5.0, 6.0]);
        back(&mut area);
        check(&mut area, 3, [1.0, 2.0]);
    }
}
