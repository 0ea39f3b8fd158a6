//! `SampleDistortedBoundingBox` and its second version: a random part of an image that covers an object.

use super::boxes::infer_boxes;
use super::suppression::scalar;
use crate::shared::casting::cast;
use crate::shared::philox::{Stream, Words};
use millstream_graph::op::spec::{Bool, Float, FloatList, Int, OneOf, Spec};
use millstream_graph::op::{BuildCx, Effect, Gradient, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_graph::{Attr, Attrs};
use millstream_tensor::DType::{F32, I8, I16, I32, I64, U8};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    [("SampleDistortedBoundingBox", true), ("SampleDistortedBoundingBoxV2", false)].map(|(name, is_first)| {
        let list = |values: [f32; 2]| Attr::List(values.map(Attr::Float).to_vec());
        let def = OpDef::new(name)
            .doc(
                "Returns a random part of an image of size `image_size`, `[height, width, channels]`: its `begin` and \
                 `size`, as Slice takes them, and its sides as parts of the height and the width. The part covers at \
                 least the share `min_object_covered` of one of `bounding_boxes`, `[batch, n, 4]`; its area and its \
                 ratio of width to height are in these ranges. After `max_attempts` it is the whole image.",
            )
            .input("image_size", "T")
            .on_host()
            .input("bounding_boxes", F32);
        let def = if is_first { def } else { def.input("min_object_covered", F32) };
        let def = def
            .output("begin", "T")
            .output("size", "T")
            .output("bboxes", F32)
            .attr("T", OneOf(&[U8, I8, I16, I32, I64]))
            .attr("seed", Int.or(0))
            .attr("seed2", Int.or(0));
        let def = if is_first { def.attr("min_object_covered", Float.or(0.1f32)) } else { def };
        def.attr("aspect_ratio_range", FloatList.or(list([0.75, 1.33])))
            .attr("area_range", FloatList.or(list([0.05, 1.0])))
            .attr("max_attempts", Int.or(100))
            .attr("use_image_if_no_bounding_boxes", Bool.or(false))
            .infer(infer)
            .kernel(Kernel::build(Effect::Stateful, build))
            .gradient(Gradient::none("a random choice does not change by degrees"))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    if let Some(n) = cx.vector(0)? {
        ensure!(n == 3, "Dimension must be 3 but is {n}"; "`image_size` must be a height, a width and a number of channels");
    }
    infer_boxes(cx, 1, 3)?;
    if cx.n_inputs() == 3 {
        cx.scalar(2)?;
    }
    cx.set(0, PartialShape::from([3usize]));
    cx.set(1, PartialShape::from([3usize]));
    cx.set(2, PartialShape::from([1usize, 1, 4]));
    Ok(())
}

/// The limits of a part.
#[derive(Clone, Copy)]
struct Limits {
    ratio: [f32; 2],
    area: [f32; 2],
    attempts: u64,
    whole_if_none: bool,
}

impl Limits {
    fn of(attrs: &Attrs) -> Result<Limits> {
        let pair = |name: &str, words: &str| -> Result<[f32; 2]> {
            let list = attrs.floats(name)?;
            let pair: Option<[f32; 2]> = list[..].try_into().ok();
            pair.ok_or_else(|| invalid!("{words} field must specify 2 dimensions"; "`{name}` is {list:?}"))
        };
        let ratio = pair("aspect_ratio_range", "Aspect ratio range")?;
        let area = pair("area_range", "Area range")?;
        let shown = |[a, b]: [f32; 2]| format!("[{a}, {b}]");
        ensure!(ratio.iter().all(|v| 0.0 < *v), "Aspect ratio range must be non-negative: {}", shown(ratio); "it must be above 0");
        ensure!(area.iter().all(|v| 0.0 < *v), "Area range must be non-negative: {}", shown(area); "it must be above 0");
        ensure!(
            area.iter().all(|v| *v <= 1.0),
            "Area range must be less then or equal to 1.0: {}", shown(area); "`area_range` is a part of the image"
        );
        let attempts = attrs.int("max_attempts")?;
        ensure!(0 < attempts, "Max attempts must be non-negative: {attempts}"; "`max_attempts` must be above 0");
        let whole_if_none = attrs.bool("use_image_if_no_bounding_boxes")?;
        Ok(Limits { ratio, area, attempts: attempts as u64, whole_if_none })
    }
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let (limits, stream) = (Limits::of(&cx.node.attrs)?, Stream::of(cx)?);
    Ok(Box::new(move |cx: &mut KernelCx| run(cx, &limits, &stream)))
}

/// Reads input 0 as integers.
fn ints(cx: &KernelCx) -> Result<Vec<i64>> {
    Ok(cast(cx.input(0), I64)?.as_slice::<i64>()?.to_vec())
}

/// A rectangle of pixels.
#[derive(Clone, Copy)]
struct Part {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Part {
    fn area(&self) -> f32 {
        self.right.wrapping_sub(self.left).wrapping_mul(self.bottom.wrapping_sub(self.top)) as f32
    }

    /// The share of this part that `other` covers.
    fn covered(&self, other: &Part) -> f32 {
        let both = Part {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        let is_empty = both.right < both.left || both.bottom < both.top;
        (if is_empty { 0.0 } else { both.area() }) / self.area()
    }
}

fn run(cx: &mut KernelCx, limits: &Limits, stream: &Stream) -> Result<()> {
    let dtype = cx.input(0).dtype();
    let sizes = ints(cx)?;
    let [height, width, _] = sizes[..] else {
        return Err(
            invalid!("image_size must contain 3 elements{}", cx.input(0).shape(); "`image_size` is {sizes:?}"),
        );
    };
    let side = |v: i64| {
        i32::try_from(v)
            .map_err(|_| invalid!("image height cannot be >= int32 max"; "`image_size` is {sizes:?}"))
    };
    let (height, width) = (side(height)?, side(width)?);
    let least = if cx.n_inputs() == 3 { scalar(cx, 2)? } else { cx.attrs().float("min_object_covered")? };
    ensure!(0.0 <= least, "Min object covered must be non-negative: {least}"; "`min_object_covered` is {least}");
    let whole = Part { left: 0, top: 0, right: width, bottom: height };
    let objects = objects(cx, limits, whole)?;
    let mut words = Words::new(stream.reserve(limits.attempts));
    let mut part = whole;
    let mut pace = Pace::new();
    for _ in 0..limits.attempts {
        pace.spend(1 + objects.len())?;
        let [low, high] = limits.ratio;
        let ratio = unit(words.word()) * (high - low) + low;
        let Some(found) = sampled(width, height, limits.area, ratio, &mut words) else { continue };
        let covers = |o: &Part| 1.0 <= o.area() && least <= o.covered(&found);
        if 1.0 <= found.area() && objects.iter().any(covers) {
            part = found;
            break;
        }
    }
    let of_dtype = |v: [i32; 3]| cast(&Tensor::vector(&v)?, dtype);
    let (begin, size) = (
        of_dtype([part.top, part.left, 0])?,
        of_dtype([part.bottom - part.top, part.right - part.left, -1])?,
    );
    let (h, w) = (height as f32, width as f32);
    let sides = [part.top as f32 / h, part.left as f32 / w, part.bottom as f32 / h, part.right as f32 / w];
    cx.set(0, begin);
    cx.set(1, size);
    cx.set(2, Tensor::from_slice([1, 1, 4], &sides)?);
    Ok(())
}

/// Reads the boxes as rectangles of pixels.
fn objects(cx: &KernelCx, limits: &Limits, whole: Part) -> Result<Charged<Part>> {
    let boxes = cx.input(1);
    let &[_, _, 4] = boxes.shape().dims() else {
        return Err(invalid!(
            "input boxes must be 3-dimensional: [batch, num_boxes, coords]{}", boxes.shape();
            "`bounding_boxes` must have shape [batch,n,4]"
        ));
    };
    let mut list = Charged::new();
    for sides in boxes.as_slice::<f32>()?.chunks_exact(4) {
        if let Some(side) = sides.iter().find(|v| !(0.0..=1.0).contains(*v)) {
            return Err(
                invalid!("All bounding box coordinates must be in [0.0, 1.0]: {side}"; "they are parts of the image"),
            );
        }
        let (h, w) = (whole.bottom as f32, whole.right as f32);
        list.push(Part {
            left: (sides[1] * w) as i32,
            top: (sides[0] * h) as i32,
            right: (sides[3] * w) as i32,
            bottom: (sides[2] * h) as i32,
        })?;
    }
    if list.is_empty() {
        ensure!(
            limits.whole_if_none,
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes.";
            "`bounding_boxes` is empty"
        );
        list.push(whole)?;
    }
    Ok(list)
}

/// A float in 0..1 of a random word.
fn unit(word: u32) -> f32 {
    f32::from_bits(127 << 23 | word & 0x7F_FFFF) - 1.0
}

/// An integer below `n`, from as many words as it takes to have all equally likely.
fn below(words: &mut Words, n: i32) -> i32 {
    let n = n as u32;
    if n == 0 {
        words.word();
        return 0;
    }
    if n.is_power_of_two() {
        return (words.word() & (n - 1)) as i32;
    }
    let skewed = u32::MAX % n + 1;
    loop {
        let word = words.word();
        if skewed <= word {
            return (word % n) as i32;
        }
    }
}

fn rounded(v: f32) -> i32 {
    v.round_ties_even() as i32
}

/// Returns a random part whose area is in these limits, with this ratio of width to height.
fn sampled(width: i32, height: i32, area: [f32; 2], ratio: f32, words: &mut Words) -> Option<Part> {
    if width <= 0 || height <= 0 || area[1] < area[0] {
        return None;
    }
    let [least, most] = area.map(|a| a * width as f32 * height as f32);
    let mut h = rounded((least / ratio).sqrt());
    let mut highest = rounded((most / ratio).sqrt());
    if width < rounded(highest as f32 * ratio) {
        highest = ((f64::from(width) + 0.5 - f64::from(1e-7f32)) / f64::from(ratio)) as i32;
        if width < rounded(highest as f32 * ratio) {
            highest -= 1;
        }
    }
    highest = highest.min(height);
    h = h.min(highest);
    if h < highest {
        h += below(words, highest - h + 1);
    }
    let wide = |h: i32| rounded(h as f32 * ratio);
    let size = |w: i32, h: i32| w.wrapping_mul(h) as f32;
    let mut w = wide(h);
    // Roundings may have made it too small or too large.
    if size(w, h) < least {
        h += 1;
        w = wide(h);
    }
    if most < size(w, h) {
        h -= 1;
        w = wide(h);
    }
    if size(w, h) < least || most < size(w, h) || width < w || height < h || w <= 0 || h <= 0 {
        return None;
    }
    let top = if h < height { below(words, height - h) } else { 0 };
    let left = if w < width { below(words, width - w) } else { 0 };
    Some(Part { left, top, right: left + w, bottom: top + h })
}

cases! {
    a_part: "SampleDistortedBoundingBoxV2([50 60 3], [[[0.1 0.2 0.8 0.9]]], 0.1; seed=1, seed2=2) = [6 1 0], [26 26 -1], [[[0.12 0.016666668 0.64 0.45]]]",
    the_whole: "SampleDistortedBoundingBox(u8[3] [50 60 3], [[[0.8 0.2 0.1 0.9]]]; seed=1) = u8[3] [0 0 0], u8[3] [50 60 255], [[[0.0 0.0 1.0 1.0]]]",
    infers: "SampleDistortedBoundingBoxV2(i64[3], f32[?,?,4], f32[]) : i64[3], i64[3], f32[1,1,4]",
    size_of_an_image: "SampleDistortedBoundingBox(i32[2], f32[1,1,4]) ! Dimension must be 3 but is 2",
    some_box: "SampleDistortedBoundingBox([5 6 3], f32[0,0,4] []) ! No bounding boxes provided as input.",
    parts: "SampleDistortedBoundingBox([5 6 3], [[[0.1 0.2 1.8 0.9]]]) ! All bounding box coordinates must be in [0.0, 1.0]: 1.8",
    an_area: "SampleDistortedBoundingBox([5 6 3], [[[0.1 0.2 0.8 0.9]]]; area_range={0.5, 2.0}) ! Area range must be less then or equal to 1.0: [0.5, 2]",
}
