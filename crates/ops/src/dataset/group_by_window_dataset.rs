//! `GroupByWindowDataset`: elements of one key together.

use super::datasets::{
    Called, Calls, Data, Element, How, Kept, Over, Source, Spec, calls, is_interrupt, over, source,
    transforms,
};
use super::window_dataset::Few;
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::uninterrupted;
use millstream_tensor::{Result, Tensor, ensure};
use std::collections::BTreeMap;
use std::sync::Arc;

const KEY: [&str; 3] = ["key_func", "key_func_other_arguments", "Tkey_func_other_arguments"];
const REDUCE: [&str; 3] = ["reduce_func", "reduce_func_other_arguments", "Treduce_func_other_arguments"];
const SIZE: [&str; 3] =
    ["window_size_func", "window_size_func_other_arguments", "Twindow_size_func_other_arguments"];

pub(crate) fn def() -> [OpDef; 2] {
    ["GroupByWindowDataset", "ExperimentalGroupByWindowDataset"].map(|name| {
        transforms(name, run, |def| {
            [KEY, REDUCE, SIZE].into_iter().fold(def, |def, [f, args, types]| calls(def, f, args, types))
        })
        .doc(
            "Returns a dataset of the elements of the datasets that `reduce_func` returns for a key and a \
             dataset of elements with that key. `key_func` returns the key of an element, and \
             `window_size_func` the number of elements of a key that are given to `reduce_func` at a time.",
        )
    })
}

struct Groups {
    key: Called,
    reduce: Called,
    size: Called,
}

/// The bytes that a key takes in both maps.
const ENTRIES: usize = 128;

/// A pass over the groups.
struct Pass {
    elements: Calls,
    spec: Spec,
    groups: BTreeMap<i64, Charged<Kept>>,
    sizes: BTreeMap<i64, usize>,
    /// For the entries of both maps.
    room: Room,
    /// The group that is given out.
    current: Option<Source>,
    /// A full group, whose `reduce_func` has yet to end.
    full: Option<(i64, Arc<Charged<Kept>>)>,
    ended: bool,
}

impl Pass {
    fn next(&mut self, how: &Groups, env: &StepEnv) -> Result<Option<Element>> {
        loop {
            if let Some(group) = &mut self.current {
                if let Some(element) = group.next(env)? {
                    return Ok(Some(element));
                }
                self.current = None;
            }
            while self.full.is_none() && !self.ended {
                self.take(how, env)?;
            }
            if self.full.is_none() {
                let Some((key, group)) = self.groups.pop_first() else { return Ok(None) };
                self.full = Some((key, Arc::new(group)));
            }
            self.reduce(how, env)?;
        }
    }

    /// Puts the next element into its group.
    fn take(&mut self, how: &Groups, env: &StepEnv) -> Result<()> {
        let sizes = &self.sizes;
        let judged = self.elements.next(env, |element| {
            let key = how.key.call_int(element, env, "key_func")?;
            let size = match sizes.get(&key) {
                Some(size) => *size,
                None => {
                    let size = how.size.call_int(&[Tensor::scalar(key)], env, "window_size_func")?;
                    ensure!(size > 0, "Window size must be greater than zero, but got {size}.");
                    usize::try_from(size).unwrap_or(usize::MAX)
                }
            };
            Ok((key, size, element.clone()))
        })?;
        let Some((key, size, element)) = judged else {
            self.ended = true;
            return Ok(());
        };
        // A run that is over by now ends later, where the element is not lost.
        let _whole = uninterrupted();
        if self.sizes.insert(key, size).is_none() {
            self.room.add(ENTRIES)?;
        }
        let group = self.groups.entry(key).or_default();
        group.push(Kept::of(element)?)?;
        if group.len() == size {
            self.full = self.groups.remove(&key).map(|group| (key, Arc::new(group)));
        }
        Ok(())
    }

    fn reduce(&mut self, how: &Groups, env: &StepEnv) -> Result<()> {
        let Some((key, elements)) = self.full.take() else { return Ok(()) };
        let group = Data::new(Few(elements.clone(), self.spec.clone()), 0).and_then(Data::tensor);
        let pass = group
            .and_then(|group| how.reduce.call_dataset(&[Tensor::scalar(key), group], env))
            .and_then(|data| data.begin(env));
        if pass.as_ref().is_err_and(is_interrupt) {
            self.full = Some((key, elements));
        }
        self.current = Some(pass?);
        Ok(())
    }
}

impl How for Groups {
    fn begin(over: &Over<Groups>, env: &StepEnv) -> Result<Source> {
        let mut pass = Pass {
            elements: Calls::over(over.input.begin(env)?),
            spec: over.input.spec().clone(),
            groups: BTreeMap::new(),
            sizes: BTreeMap::new(),
            room: Room::default(),
            current: None,
            full: None,
            ended: false,
        };
        let how = over.how.clone();
        Ok(source(move |env| pass.next(&how, env)))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let [key, reduce, size] = [KEY, REDUCE, SIZE].map(|[f, args, _]| Called::of(cx, f, args));
    over(cx, Groups { key: key?, reduce: reduce?, size: size? })
}

cases! {
    is_a_variant: "GroupByWindowDataset(variant[]; key_func=func(f), reduce_func=func(g), window_size_func=func(h), Tkey_func_other_arguments={}, Treduce_func_other_arguments={}, Twindow_size_func_other_arguments={}, output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "ExperimentalGroupByWindowDataset(variant[]; key_func=func(f), reduce_func=func(g), window_size_func=func(h), Tkey_func_other_arguments={}, Treduce_func_other_arguments={}, Twindow_size_func_other_arguments={}, output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_functions: "GroupByWindowDataset(TensorDataset(1; output_shapes={shape[]}); key_func=func(f), reduce_func=func(g), window_size_func=func(h), Tkey_func_other_arguments={}, Treduce_func_other_arguments={}, Twindow_size_func_other_arguments={}, output_types={i32}, output_shapes={shape[]}) ! no function `f`",
}
