//! `Stage`, `Unstage`, `StagePeek`, `StageSize`, `StageClear`: elements that are put aside, in order.

use super::staging::{Limits, Staged, area, at_once, user, wait};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::{Given, Line, Outcome, Work};
use millstream_tensor::DType::I32;
use millstream_tensor::{Result, Tensor, invalid};
use smallvec::smallvec;
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 5] {
    [
        user(OpDef::new("Stage").input_list("values", "dtypes"))
            .doc(
                "Puts an element aside, in the area `shared_name` (by default, the node's name) of `container`. \
                 Waits while the area holds `capacity` elements, or `memory_limit` bytes, if these are not 0.",
            )
            .kernel(Kernel::waiting(stage)),
        user(OpDef::new("Unstage").output_list("values", "dtypes"))
            .doc("Takes the first element out of the area. Waits while it is empty.")
            .kernel(Kernel::waiting(|cx, completion| {
                let made = line(cx).map(|line| {
                    let work: Work<Area> = Box::new(|area| area.take());
                    (line, work)
                });
                wait(cx, completion, made);
            })),
        user(OpDef::new("StagePeek").input("index", I32).output_list("values", "dtypes"))
            .doc("Returns the element at `index`, which stays in the area. Waits until there are as many.")
            .kernel(Kernel::waiting(peek)),
        user(OpDef::new("StageSize").output("size", I32))
            .doc("Returns the number of elements in the area.")
            .infer(|cx| cx.scalars())
            .kernel(Kernel::stateful(|cx| {
                at_once(cx, KIND, |area: &mut Area| {
                    Ok(smallvec![Tensor::scalar(i32::try_from(area.elements.len()).unwrap_or(i32::MAX))])
                })
            })),
        user(OpDef::new("StageClear"))
            .doc("Takes all elements out of the area.")
            .kernel(Kernel::stateful(|cx| {
                at_once(cx, KIND, |area: &mut Area| {
                    *area = Area::default();
                    Ok(Given::new())
                })
            })),
    ]
}

const KIND: &str = "staging area";

/// The elements, the first one first.
#[derive(Default)]
struct Area {
    elements: VecDeque<Staged>,
    bytes: usize,
}

impl Area {
    fn take(&mut self) -> Option<Result<Outcome<Area>>> {
        let first = self.elements.pop_front()?;
        self.bytes -= first.bytes;
        let given = first.values.iter().flatten().cloned().collect();
        Some(Ok(Outcome { given, undo: Some(Box::new(|area| area.take_back(first))) }))
    }

    /// The element that was taken comes first again. The area may then hold more than it has room for.
    fn take_back(&mut self, element: Staged) {
        self.bytes += element.bytes;
        self.elements.push_front(element);
    }
}

fn line(cx: &KernelCx) -> Result<Arc<Line<Area>>> {
    area(cx, KIND)
}

fn stage(cx: &mut KernelCx, completion: Completion) {
    let made = staged(cx);
    wait(cx, completion, made);
}

fn staged(cx: &mut KernelCx) -> Result<(Arc<Line<Area>>, Work<Area>)> {
    let (line, limits) = (line(cx)?, Limits::of(cx.node)?);
    let values: Result<Vec<_>> = (0..cx.n_inputs()).map(|i| cx.take(i).kept().map(Some)).collect();
    let mut element = Some(Staged::new(values?)?);
    let work: Work<Area> = Box::new(move |area| {
        let bytes = element.as_ref()?.bytes;
        match limits.admit(bytes, area.elements.len(), area.bytes) {
            Err(error) => Some(Err(error)),
            Ok(false) => None,
            Ok(true) => {
                area.bytes += bytes;
                area.elements.push_back(element.take()?);
                Some(Ok(Given::new().into()))
            }
        }
    });
    Ok((line, work))
}

fn peek(cx: &mut KernelCx, completion: Completion) {
    let made = line(cx).and_then(|line| {
        let index = cx.int(0)?;
        let index = usize::try_from(index)
            .map_err(|_| invalid!("`index` is {index}, but elements are counted from 0"))?;
        let work: Work<Area> = Box::new(move |area| {
            let element = area.elements.get(index)?;
            Some(Ok(element.values.iter().flatten().cloned().collect::<Given>().into()))
        });
        Ok((line, work))
    });
    wait(cx, completion, made);
}

cases! {
    puts_aside: "Stage(1.0, [2 3]) =",
    nothing_there: "StageSize(; dtypes={f32}) = 0",
    clears: "StageClear(; dtypes={f32}) =",
    infers: "Unstage(; dtypes={f32, i32}) : f32[..], i32[..]",
    infers_what_it_looks_at: "StagePeek(i32[]; dtypes={f32}) : f32[..]",
    from_the_first: "StagePeek(-1; dtypes={f32}) ! `index` is -1",
    one_index: "StagePeek([1 2]; dtypes={f32}) ! `index` must be a scalar",
    within_the_limit: "Stage([1.0 2.0]; memory_limit=4) ! combined size of '8' bytes into Staging Area with a memory limit of '4'",
}
