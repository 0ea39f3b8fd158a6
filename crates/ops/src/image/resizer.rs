//! Resizing of images: [`Grid`] maps the pixels of a result to places in an image, and [`Taps`] are the
//! pixels that a result is made of, with their weights.
//!
//! A pixel `i` of the result is at `i * scale` in the image, or, with `half_pixel_centers`, at `(i + 0.5) *
//! scale - 0.5`, where the scale is the quotient of the sizes; with `align_corners` it is that of the sizes
//! less one, so that the last pixels meet. Everything is computed in f32 and in TensorFlow's order, which
//! gives its bits.

use crate::number::{Number, no_kernel};
use crate::shared::casting::To;
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef, StepEnv};
use millstream_tensor::budget::Charged;
use millstream_tensor::{
    DType, Dim, Element, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element,
};

/// Adds the attributes that say where pixels are.
pub(super) fn attrs(def: OpDef) -> OpDef {
    def.attr("align_corners", Bool.or(false)).attr("half_pixel_centers", Bool.or(false))
}

/// The shape rule of ops that resize the images in input 0 to the size in input 1.
pub(super) fn infer_sized(cx: &mut InferCx) -> Result<()> {
    let shape = sized(cx)?;
    cx.set(0, shape);
    Ok(())
}

/// The shape of the images in input 0, resized to the size in input 1.
pub(super) fn sized(cx: &InferCx) -> Result<PartialShape> {
    let images = cx.with_rank(0, 4)?;
    if let Some(n) = cx.vector(1)? {
        ensure!(n == 2, "Dimension must be 2 but is {n}"; "`size` must be a height and a width");
    }
    // As in TensorFlow, a size that is known in part counts as unknown.
    let entries = cx.ints(1);
    let side = |i: usize| -> Dim { usize::try_from(*entries.as_ref()?.get(i)?).ok() };
    let (height, width) = (side(0), side(1));
    Ok(PartialShape::from([images.dim(0), height, width, images.dim(3)]))
}

/// The shape rule of gradients whose result has the shape of input 1.
pub(super) fn infer_original(cx: &mut InferCx) -> Result<()> {
    let (grads, image) = (cx.with_rank(0, 4)?, cx.with_rank(1, 4)?);
    for i in [0, 3] {
        if let (Some(a), Some(b)) = (grads.dim(i), image.dim(i)) {
            ensure!(a == b, "`grads` has shape {grads} but `original_image` has shape {image}");
        }
    }
    cx.set(0, image);
    Ok(())
}

/// One axis of a resize: the sizes of the image and the result, and the distance of the result's pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub from: usize,
    pub to: usize,
    pub scale: f32,
}

impl Side {
    fn new(from: usize, to: usize, align_corners: bool) -> Side {
        let scale = match align_corners && 1 < to {
            true => (from - 1) as f32 / (to - 1) as f32,
            false => from as f32 / to as f32,
        };
        Side { from, to, scale }
    }

    /// The pixel of the image that is nearest to place `i`.
    fn bound(&self, i: i64) -> usize {
        i.clamp(0, self.from as i64 - 1) as usize
    }
}

/// A call: images of this size become images of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub batch: usize,
    pub rows: Side,
    pub columns: Side,
    pub channels: usize,
    align_corners: bool,
    half_pixels: bool,
}

/// The largest size of an axis.
const MOST: usize = i32::MAX as usize;

impl Grid {
    /// Reads the images in input 0 and the size in input 1.
    pub fn of(cx: &KernelCx) -> Result<Grid> {
        Grid::aligned(cx, cx.attrs().bool("align_corners")?)
    }

    /// As [`Grid::of`], for an op whose attribute of aligned corners has another name.
    pub fn aligned(cx: &KernelCx, align_corners: bool) -> Result<Grid> {
        let image = cx.input(0).shape();
        ensure!(image.rank() == 4, "input must be 4-dimensional{image}"; "`{}` must have rank 4", cx.name_of(0));
        let [height, width] = size(cx, 1)?;
        let side = |v: i64| usize::try_from(v).ok().filter(|v| 0 < *v);
        let (Some(height), Some(width)) = (side(height), side(width)) else {
            return Err(invalid!("output dimensions must be positive"; "`size` is [{height} {width}]"));
        };
        ensure!(0 < image[3], "image must have at least one channel"; "`images` has shape {image}");
        Grid::sized(cx, image, [height, width], align_corners)
    }

    /// Reads the gradient in input 0 and the image in input 1.
    fn behind(cx: &KernelCx) -> Result<Grid> {
        let (grads, image) = (cx.input(0).shape(), cx.input(1).shape());
        ensure!(grads.rank() == 4, "input_grad must be 4-dimensional{grads}"; "`grads` must have rank 4");
        ensure!(
            image.rank() == 4,
            "original_image must be 4-dimensional{image}"; "`original_image` must have rank 4"
        );
        ensure!(
            grads[0] == image[0] && grads[3] == image[3],
            "`grads` has shape {grads} but `original_image` has shape {image}: batch and channels must be equal"
        );
        Grid::new(cx, image, [grads[1], grads[2]])
    }

    /// Reads the gradient in input 0 and the size of the image in input 1.
    pub fn behind_size(cx: &KernelCx) -> Result<Grid> {
        let grads = cx.input(0).shape();
        ensure!(grads.rank() == 4, "input must be 4-dimensional{grads}"; "`grads` must have rank 4");
        let [height, width] = size(cx, 1)?;
        let side = |v: i64| usize::try_from(v).ok().filter(|v| 0 < *v);
        let (Some(height), Some(width)) = (side(height), side(width)) else {
            return Err(invalid!("`size` must be positive but is [{height} {width}]"));
        };
        Grid::new(cx, &Shape::from([grads[0], height, width, grads[3]]), [grads[1], grads[2]])
    }

    fn new(cx: &KernelCx, image: &Shape, to: [usize; 2]) -> Result<Grid> {
        Grid::sized(cx, image, to, cx.attrs().bool("align_corners")?)
    }

    fn sized(cx: &KernelCx, image: &Shape, to: [usize; 2], align_corners: bool) -> Result<Grid> {
        let half_pixels = match cx.attrs().get("half_pixel_centers") {
            Some(_) => cx.attrs().bool("half_pixel_centers")?,
            None => false,
        };
        ensure!(
            !(align_corners && half_pixels),
            "If half_pixel_centers is True, align_corners must be False."; "{}: both are set", cx.node.op.name
        );
        ensure!(
            image.iter().chain(&to).all(|d| *d <= MOST),
            "input sizes must be between 0 and max int32"; "the image has shape {image}"
        );
        ensure!(0 < image[1] && 0 < image[2], "input image must be of non-zero size"; "it has shape {image}");
        ensure!(0 < to[0] && 0 < to[1], "a resized image has at least one pixel, not {} x {}", to[0], to[1]);
        let (rows, columns) =
            (Side::new(image[1], to[0], align_corners), Side::new(image[2], to[1], align_corners));
        Ok(Grid { batch: image[0], rows, columns, channels: image[3], align_corners, half_pixels })
    }

    /// Whether nothing is resized.
    pub fn is_identity(&self) -> bool {
        self.rows.from == self.rows.to && self.columns.from == self.columns.to
    }

    /// The shape of the result.
    pub fn shape(&self) -> Shape {
        Shape::from([self.batch, self.rows.to, self.columns.to, self.channels])
    }

    /// The shape of the images.
    pub fn image_shape(&self) -> Shape {
        Shape::from([self.batch, self.rows.from, self.columns.from, self.channels])
    }

    /// The place of pixel `i` of the result.
    fn place(&self, side: &Side, i: usize) -> f32 {
        match self.half_pixels {
            true => (i as f32 + 0.5) * side.scale - 0.5,
            false => i as f32 * side.scale,
        }
    }

    /// The pixel that is nearest to pixel `i` of the result.
    pub fn nearest(&self, side: &Side, i: usize) -> usize {
        let at = match (self.align_corners, self.half_pixels) {
            (true, _) => (i as f32 * side.scale).round(),
            (false, true) => ((i as f32 + 0.5) * side.scale).floor(),
            (false, false) => (i as f32 * side.scale).floor(),
        };
        side.bound(at as i64)
    }

    /// The pixels before and behind each pixel of the result, and the share of the second.
    pub fn pairs(&self, side: &Side) -> Result<Charged<(usize, usize, f32)>> {
        collected(side.to, |i| {
            let at = self.place(side, i);
            let below = at.floor();
            let (lower, upper) = (side.bound(below as i64), side.bound(at.ceil() as i64));
            (lower, upper, at - below)
        })
    }

    /// The four pixels that a cubic curve through each pixel of the result is made of.
    pub fn cubic(&self, side: &Side) -> Result<Charged<Taps<4>>> {
        collected(side.to, |i| {
            let at = self.place(side, i);
            let below = at.floor();
            let offset = ((at - below) * TABLE as f32).round_ties_even() as usize;
            cubic_taps(side, below as i64, offset, self.half_pixels)
        })
    }

    /// Fills the rows of the result. `fill` gets the number of an image, that of a row, and the row.
    pub fn each_row<T: Send>(
        &self,
        env: &StepEnv,
        out: &mut [T],
        per_value: f64,
        fill: impl Fn(usize, usize, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let row = self.columns.to * self.channels;
        let rows = (PIECE / row.max(1)).max(1);
        let work = out.len() as f64 * per_value;
        in_pieces(env, out, rows * row, work, |i, piece| {
            for (j, cells) in piece.chunks_exact_mut(row).enumerate() {
                let at = i * rows + j;
                fill(at / self.rows.to, at % self.rows.to, cells)?;
            }
            Ok(())
        })
    }

    /// The elements of row `y` of image `n`.
    pub fn row<'t, T>(&self, images: &'t [T], n: usize, y: usize) -> &'t [T] {
        let row = self.columns.from * self.channels;
        &images[(n * self.rows.from + y) * row..][..row]
    }

    /// The elements of row `y` of image `n` of the result.
    pub fn result_row<'t, T>(&self, cells: &'t [T], n: usize, y: usize) -> &'t [T] {
        let row = self.columns.to * self.channels;
        &cells[(n * self.rows.to + y) * row..][..row]
    }

    /// Fills the images. `fill` gets the number of an image, and the image.
    pub fn each_image<T: Send>(
        &self,
        env: &StepEnv,
        out: &mut [T],
        fill: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let size = self.rows.from * self.columns.from * self.channels;
        let cells = self.batch as f64 * self.rows.to as f64 * self.columns.to as f64;
        in_pieces(env, out, size, cells * self.channels as f64 * 8.0, fill)
    }
}

/// The number of elements of a piece of work.
const PIECE: usize = 1 << 14;

/// Returns a list with one entry for each of `n` pixels.
fn collected<T>(n: usize, entry: impl Fn(usize) -> T) -> Result<Charged<T>> {
    let mut list = Charged::with_room(n)?;
    for i in 0..n {
        list.push(entry(i))?;
    }
    Ok(list)
}

/// Reads input `i`, a height and a width.
pub(super) fn size(cx: &KernelCx, i: usize) -> Result<[i64; 2]> {
    let t = cx.input(i);
    ensure!(t.rank() == 1, "shape_t must be 1-dimensional{}", t.shape(); "`{}` must be a vector", cx.name_of(i));
    match cx.ints(i)?[..] {
        [height, width] => Ok([height, width]),
        _ => Err(invalid!(
            "shape_t must have two elements{}", t.shape(); "`{}` must be a height and a width", cx.name_of(i)
        )),
    }
}

/// The pixels of an axis that a pixel of the result is the sum of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taps<const N: usize> {
    pub at: [usize; N],
    pub weight: [f32; N],
}

/// The number of steps between two pixels for which the cubic weights are computed.
const TABLE: usize = 1 << 10;

/// The weight of a pixel at distance `x / TABLE` (at most 1), or, if `far`, one more. `a` is the slope of the
/// curve at distance 1. As in TensorFlow, the sums are in f64, of a distance in f32.
fn cubic_weight(a: f64, x: usize, far: bool) -> f32 {
    let x = (x as f64 / TABLE as f64) as f32;
    match far {
        false => {
            let x = f64::from(x);
            (((a + 2.0) * x - (a + 3.0)) * x * x + 1.0) as f32
        }
        true => {
            let x = f64::from(x + 1.0);
            (((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a) as f32
        }
    }
}

// With half-pixel centers, pixels beyond the image have no weight. Otherwise the border's pixel is repeated.
fn cubic_taps(side: &Side, below: i64, offset: usize, half_pixels: bool) -> Taps<4> {
    let a = if half_pixels { -0.5 } else { -0.75 };
    let mut taps = Taps { at: [0; 4], weight: [0.0; 4] };
    let weights = [(offset, true), (offset, false), (TABLE - offset, false), (TABLE - offset, true)];
    for (i, (x, far)) in weights.into_iter().enumerate() {
        let place = below + i as i64 - 1;
        taps.at[i] = side.bound(place);
        if !half_pixels || taps.at[i] as i64 == place {
            taps.weight[i] = cubic_weight(a, x, far);
        }
    }
    if half_pixels {
        let [w0, w1, w2, w3] = taps.weight;
        let sum = w0 + w1 + w2 + w3;
        if 1000.0 * f32::MIN_POSITIVE <= sum.abs() {
            taps.weight = taps.weight.map(|w| w * (1.0 / sum));
        }
    }
    taps
}

/// The two pixels around each pixel of the result, with their weights.
pub(super) fn linear_taps(grid: &Grid, side: &Side) -> Result<Charged<Taps<2>>> {
    let pairs = grid.pairs(side)?;
    collected(side.to, |i| {
        let (lower, upper, share) = pairs[i];
        Taps { at: [lower, upper], weight: [1.0 - share, share] }
    })
}

/// The kernel of a gradient by images of floats: adds each pixel of `grads` to the pixels that it is made of.
/// The shares of a pixel are computed in f32, or, if `in_own`, in the dtype of the image.
pub(super) fn run_scatter<const N: usize>(
    cx: &mut KernelCx,
    taps: fn(&Grid, &Side) -> Result<Charged<Taps<N>>>,
    in_own: bool,
) -> Result<()> {
    let grid = Grid::behind(cx)?;
    let (rows, columns) = (taps(&grid, &grid.rows)?, taps(&grid, &grid.columns)?);
    let grads = cx.take(0);
    let grads = grads.as_slice::<f32>()?;
    let dtype = cx.input(1).dtype();
    let out = with_element!(dtype, T in [F16 BF16 F32 F64] => {
        let mut out = Tensor::zeros(dtype, grid.image_shape())?;
        grid.each_image(cx.env, fresh::<T>(&mut out)?, |n, image| {
            for (y, tap) in rows.iter().enumerate() {
                cx.env.cancel.check()?;
                let grads = grid.result_row(grads, n, y);
                match in_own {
                    true => scatter_row(&grid, grads, tap, &columns, image, product_in_own::<T>),
                    false => scatter_row(&grid, grads, tap, &columns, image, product_in_f32::<T>),
                }
            }
            Ok(())
        })?;
        Ok(out)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, out);
    Ok(())
}

#[inline(always)]
fn product_in_own<T: Number>(g: f32, a: f32, b: f32) -> T
where
    f32: To<T>,
{
    g.to().mul(a.to()).mul(b.to())
}

#[inline(always)]
fn product_in_f32<T>(g: f32, a: f32, b: f32) -> T
where
    f32: To<T>,
{
    (g * a * b).to()
}

#[inline(always)]
fn scatter_row<T: Element + Number, const N: usize>(
    grid: &Grid,
    grads: &[f32],
    row: &Taps<N>,
    columns: &[Taps<N>],
    image: &mut [T],
    product: impl Fn(f32, f32, f32) -> T,
) {
    let (depth, width) = (grid.channels, grid.columns.from);
    for (grads, column) in grads.chunks_exact(depth).zip(columns) {
        for (y, by_row) in row.at.iter().zip(row.weight) {
            for (x, by_column) in column.at.iter().zip(column.weight) {
                let cells = &mut image[(y * width + x) * depth..][..depth];
                for (cell, g) in cells.iter_mut().zip(grads) {
                    *cell = cell.add(product(*g, by_row, by_column));
                }
            }
        }
    }
}

/// The gradient of a resize: that op, of the gradient and the images.
pub(super) fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    if !cx.wants(0) {
        return Ok(());
    }
    let (dy, images) = (cx.grad(0), cx.input(0));
    let dx = with_places(cx, back, [dy, images]);
    cx.give(0, dx);
    Ok(())
}

/// The gradient of such a gradient, which is linear: a resize to the size of what it read.
pub(super) fn grad_of_grad(cx: &mut GradCx, resize: &'static str) -> Result<()> {
    if cx.wants(0) {
        let dy = cx.grad(0);
        let size = image_size(cx, 0);
        let dx = with_places(cx, resize, [dy, size]);
        cx.give(0, dx);
    }
    Ok(())
}

/// The height and width of the images in input `i`.
pub(super) fn image_size<'g>(cx: &mut GradCx<'g, '_>, i: usize) -> Output<'g> {
    let shape = cx.input_shape(i);
    let side = |axis: usize| shape.dim(axis).and_then(|d| i32::try_from(d).ok());
    if let (Some(height), Some(width)) = (side(1), side(2)) {
        return cx.ints(&[height, width]);
    }
    let shape = cx.shape_of_input(i);
    cx.call("Slice", [shape, cx.ints(&[1]), cx.ints(&[2])])
}

/// A node with the attributes of this one that say where pixels are.
pub(super) fn with_places<'g>(cx: &GradCx<'g, '_>, op: &'static str, inputs: [Output<'g>; 2]) -> Output<'g> {
    let attrs = cx.attrs();
    let mut node = cx.op(op).inputs(inputs);
    for name in ["align_corners", "half_pixel_centers"] {
        if let Some(value) = attrs.get(name) {
            node = node.attr(name, value.clone());
        }
    }
    node.output()
}

/// The dtypes of images that can be resized.
pub(super) const IMAGES: &[DType] = &[
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::I64,
    DType::BF16,
    DType::F16,
    DType::F32,
    DType::F64,
];
