//! The geometry of windows that slide over images: [`Layout`] holds what the attributes of a convolution or a
//! pool say, [`Axis`] one axis of one call, and [`Windows`] all of them.
//!
//! Kernels see images as `[batch, depth, rows, columns, channels]`, whatever the data format: images of two
//! dimensions have a depth of 1, and [`Layout::channels_last`] moves the channels to the back.

use crate::shared::axes::Sizes;
use millstream_graph::Attrs;
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::{Dim, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::ops::Range;

/// The rule that decides how far windows reach beyond the image.
#[derive(Clone, Debug)]
enum Padding {
    /// Not at all.
    Valid,
    /// As far as `ceil(size / stride)` windows need.
    Same,
    /// By these numbers of cells before and behind each axis.
    Explicit(SmallVec<[(usize, usize); 3]>),
}

/// The attributes that convolutions and pools share.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The axis of the channels.
    pub channels: usize,
    /// The number of spatial axes: 2 or 3.
    pub spatial: usize,
    strides: Sizes,
    dilations: Sizes,
    padding: Padding,
}

/// Why an axis has no windows: the size that a window spans, and the size that there is.
struct TooSmall {
    spans: usize,
    size: usize,
}

impl Layout {
    /// Reads the attributes of an op over images with `spatial` axes. What TensorFlow checks in the run is
    /// not checked here: see [`Layout::check_outer`].
    pub fn of(op: &str, attrs: &Attrs, spatial: usize) -> Result<Layout> {
        let channels = channels_axis(op, attrs, spatial)?;
        let mut layout = Layout {
            channels,
            spatial,
            strides: Sizes::new(),
            dilations: Sizes::new(),
            padding: Padding::Valid,
        };
        let strides = layout.listed(op, attrs, "strides")?;
        layout.strides = layout.spatial_of(&strides, |s| format!("Stride must be > 0, but got {s}"))?;
        layout.dilations = match attrs.get("dilations") {
            Some(_) => {
                let dilations = layout.listed(op, attrs, "dilations")?;
                layout.spatial_of(&dilations, |d| format!("Dilation rate must be >= 1, but got {d}"))?
            }
            None => Sizes::from_elem(1, spatial),
        };
        layout.padding = layout.padding(attrs)?;
        Ok(layout)
    }

    /// Returns a list attribute with one entry for each axis.
    pub fn listed(&self, op: &str, attrs: &Attrs, name: &str) -> Result<Vec<i64>> {
        let (list, rank) = (attrs.ints(name)?, self.spatial + 2);
        let n = list.len();
        let words = || match name {
            // TensorFlow declares the least length of these lists.
            _ if attrs.get("ksize").is_some() || (name, rank) == ("strides", 5) => {
                format!("Attr '{name}' of '{op}' Op passed list of length {n} less than minimum {rank}.")
            }
            "strides" => {
                let format = attrs.str("data_format").map(|f| f.text().into_owned()).unwrap_or_default();
                format!(
                    "{op} on data format {format} requires the stride attribute to contain {rank} values, but got: {n}"
                )
            }
            _ => format!("{op} requires the dilation attribute to contain {rank} values, but got: {n}"),
        };
        ensure!(n == rank, "{}", words(); "{op}: `{name}` is {list:?}, which must have one entry for each of {rank} axes");
        Ok(list)
    }

    /// Returns the entries of the spatial axes, which must be positive.
    fn spatial_of(&self, list: &[i64], words: impl Fn(i64) -> String) -> Result<Sizes> {
        let spatial = (0..self.spatial).map(|i| list[self.axis(i)]);
        let size = |v: i64| {
            let size = usize::try_from(v).ok().filter(|v| 0 < *v);
            size.ok_or_else(
                || invalid!("{}", words(v); "strides, dilations and windows must be 1 or more, in {list:?}"),
            )
        };
        spatial.map(size).collect()
    }

    /// The axis of the tensor that is spatial axis `i`.
    pub fn axis(&self, i: usize) -> usize {
        if self.channels == 1 { i + 2 } else { i + 1 }
    }

    fn padding(&self, attrs: &Attrs) -> Result<Padding> {
        let explicit = match attrs.get("explicit_paddings") {
            Some(_) => attrs.ints("explicit_paddings")?,
            None => Vec::new(),
        };
        let padding = match &**attrs.str("padding")? {
            b"EXPLICIT" => return self.explicit(&explicit),
            b"SAME" => Padding::Same,
            _ => Padding::Valid,
        };
        ensure!(
            explicit.is_empty(),
            "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT";
            "`explicit_paddings` is {explicit:?}, which only the padding EXPLICIT uses"
        );
        Ok(padding)
    }

    fn explicit(&self, pads: &[i64]) -> Result<Padding> {
        let wanted = 2 * (self.spatial + 2);
        ensure!(
            pads.len() == wanted,
            "explicit_paddings attribute must contain {wanted} values, but got: {}", pads.len();
            "`explicit_paddings` has two entries for each axis of the input"
        );
        ensure!(
            pads.iter().all(|p| 0 <= *p),
            "All elements of explicit_paddings must be nonnegative";
            "`explicit_paddings` is {pads:?}"
        );
        let of = |axis: usize| (pads[2 * axis] as usize, pads[2 * axis + 1] as usize);
        ensure!(
            of(0) == (0, 0) && of(self.channels) == (0, 0),
            "Nonzero explicit padding in the batch or depth dimensions is not supported";
            "`explicit_paddings` is {pads:?}"
        );
        Ok(Padding::Explicit((0..self.spatial).map(|i| of(self.axis(i))).collect()))
    }

    /// Checks that strides and dilations are 1 along the batch and the channels.
    pub fn check_outer(&self, attrs: &Attrs) -> Result<()> {
        for (name, word) in [("strides", "strides"), ("dilations", "dilations")] {
            if attrs.get(name).is_none() {
                continue;
            }
            let list = attrs.ints(name)?;
            ensure!(
                list.first() == Some(&1) && list.get(self.channels) == Some(&1),
                "Current implementation does not yet support {word} in the batch and depth dimensions.";
                "`{name}` is {list:?}"
            );
        }
        Ok(())
    }

    /// Returns the size of the output along spatial axis `i`, for shape rules.
    pub fn output(&self, i: usize, input: Dim, filter: Dim) -> Result<Dim> {
        let needs_filter = !matches!(self.padding, Padding::Same);
        let (Some(input), Some(filter)) = (input, if needs_filter { filter } else { filter.or(Some(1)) })
        else {
            return Ok(None);
        };
        let TooSmall { spans, size } = match self.windows(i, input, filter)? {
            Ok(axis) if matches!(self.padding, Padding::Same) || self.fits(i, input, filter) => {
                return Ok(Some(axis.output));
            }
            Ok(_) => self.spans(i, input, filter),
            Err(small) => small,
        };
        Err(invalid!(
            "Negative dimension size caused by subtracting {spans} from {size}";
            "the window spans {spans} cells of an axis with {size}"
        ))
    }

    /// Returns one spatial axis of a run.
    fn axis_of(&self, i: usize, input: usize, filter: usize) -> Result<Axis> {
        let stride = self.strides[i];
        self.windows(i, input, filter)?.map_err(|TooSmall { spans, size }| {
            invalid!(
                "Computed output size would be negative: -{} [input_size: {input}, effective_filter_size: {spans}, stride: {stride}]",
                (spans - size - stride) / stride;
                "the window spans {spans} cells of an axis with {size}"
            )
        })
    }

    fn spans(&self, i: usize, input: usize, filter: usize) -> TooSmall {
        let pads = match &self.padding {
            Padding::Explicit(pads) => pads[i].0.saturating_add(pads[i].1),
            Padding::Same | Padding::Valid => 0,
        };
        let spans = filter.saturating_sub(1).saturating_mul(self.dilations[i]).saturating_add(1);
        TooSmall { spans, size: input.saturating_add(pads) }
    }

    /// Whether a whole window fits the padded axis.
    fn fits(&self, i: usize, input: usize, filter: usize) -> bool {
        let TooSmall { spans, size } = self.spans(i, input, filter);
        spans <= size
    }

    /// Computes the windows along spatial axis `i`. As in TensorFlow's kernels, an axis that is too small by
    /// less than two strides has no window, but no error.
    fn windows(&self, i: usize, input: usize, filter: usize) -> Result<std::result::Result<Axis, TooSmall>> {
        let (stride, dilation) = (self.strides[i], self.dilations[i]);
        ensure!(0 < filter, "a window of size 0 along spatial axis {i} covers nothing");
        let small = self.spans(i, input, filter);
        let TooSmall { spans, size } = small;
        // With this bound, no position overflows.
        let most = [size, spans, stride].into_iter().max().unwrap_or(0);
        ensure!(
            most <= 1 << 60,
            "a window of {filter} cells with dilation {dilation} and stride {stride} over an axis of {size} is too large"
        );
        let (before, output) = match &self.padding {
            Padding::Same => {
                let output = input.div_ceil(stride);
                let needed = (output.saturating_sub(1) * stride + spans).saturating_sub(input);
                (needed / 2, output)
            }
            padding => {
                let before = match padding {
                    Padding::Explicit(pads) => pads[i].0,
                    _ => 0,
                };
                match (size + stride).checked_sub(spans) {
                    Some(room) => (before, room / stride),
                    None if spans - size - stride < stride => (before, 0),
                    None => return Ok(Err(small)),
                }
            }
        };
        Ok(Ok(Axis { input, filter, output, stride, dilation, before }))
    }

    /// Returns the windows of a run over an input of this shape, whose rank has been checked.
    pub fn windows_over(&self, input: &Shape, filter: &[usize]) -> Result<Windows> {
        let mut axes = [Axis::UNIT; 3];
        for i in 0..self.spatial {
            axes[3 - self.spatial + i] = self.axis_of(i, input[self.axis(i)], filter[i])?;
        }
        Ok(Windows { batch: input[0], axes, channels: input[self.channels] })
    }

    /// Returns the shape of a tensor with these dimensions in the order of the data format.
    pub fn shape<D: Copy>(&self, batch: D, spatial: &[D], channels: D) -> SmallVec<[D; 5]> {
        let mut dims: SmallVec<[D; 5]> = SmallVec::new();
        dims.push(batch);
        dims.extend_from_slice(spatial);
        dims.insert(self.channels, channels);
        dims
    }

    /// Returns the shape of the output of these windows, with this number of channels.
    pub fn output_shape(&self, windows: &Windows, channels: usize) -> Shape {
        let spatial: Sizes = windows.axes[3 - self.spatial..].iter().map(|a| a.output).collect();
        Shape::new(self.shape(windows.batch, &spatial, channels))
    }

    /// Returns the shape rule's view of `shape`: the batch, the spatial axes and the channels.
    pub fn parts(&self, shape: &PartialShape) -> (Dim, SmallVec<[Dim; 3]>, Dim) {
        let spatial = (0..self.spatial).map(|i| shape.dim(self.axis(i))).collect();
        (shape.dim(0), spatial, shape.dim(self.channels))
    }

    /// Returns images with the channels moved to the last axis.
    pub fn channels_last(&self, images: Tensor) -> Result<Tensor> {
        let rank = images.rank();
        if self.channels + 1 == rank {
            return Ok(images);
        }
        let order: SmallVec<[usize; 5]> = std::iter::once(0).chain(2..rank).chain([1]).collect();
        permuted(&images, &order)
    }

    /// Returns images, whose channels are on the last axis, in the order of the data format.
    pub fn in_format(&self, images: Tensor) -> Result<Tensor> {
        let rank = images.rank();
        if self.channels + 1 == rank {
            return Ok(images);
        }
        let order: SmallVec<[usize; 5]> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        permuted(&images, &order)
    }
}

/// The axis of the channels. They are last if the op has no data format.
fn channels_axis(op: &str, attrs: &Attrs, spatial: usize) -> Result<usize> {
    if attrs.get("data_format").is_none() {
        return Ok(spatial + 1);
    }
    match &**attrs.str("data_format")? {
        b"NHWC" | b"NDHWC" => Ok(spatial + 1),
        b"NCHW" | b"NCDHW" => Ok(1),
        other => {
            let format = String::from_utf8_lossy(other);
            Err(Error::unimplemented(format!(
                "{op} has no kernel for the data format {format}: use NHWC or NCHW"
            )))
        }
    }
}

/// Reads input `i`, the shape of images. TensorFlow's `words` lead the error
/// of one with another rank.
pub(super) fn sizes(cx: &KernelCx, i: usize, rank: usize, words: impl Fn() -> String) -> Result<Shape> {
    let what = cx.name_of(i);
    ensure!(cx.input(i).rank() == 1, "`{what}` must be a vector but has shape {}", cx.input(i).shape());
    let dims = cx.ints(i)?;
    ensure!(dims.len() == rank, "{}", words(); "`{what}` is {dims:?}, a shape of rank {} instead of {rank}", dims.len());
    let size = |d: i64| {
        usize::try_from(d).map_err(|_| invalid!("Dimension {d} must be >= 0"; "`{what}` is {dims:?}"))
    };
    let shape = Shape::new(dims.iter().map(|d| size(*d)).collect::<Result<SmallVec<[usize; 5]>>>()?);
    shape.checked_elements()?;
    Ok(shape)
}

/// Sets the shape of output 0 to the one in input `i`, which must have this rank.
pub(super) fn infer_sizes(cx: &mut InferCx, i: usize, rank: usize) -> Result<()> {
    cx.vector(i)?;
    let shape = cx.as_shape(i)?;
    let sized = shape.merge(&PartialShape::unknown_of_rank(rank)).ok_or_else(|| {
        invalid!("{}", shape.not_of_rank(rank); "`{}` is the shape {shape}, which must have rank {rank}", cx.name_of(i))
    })?;
    cx.set(0, sized);
    Ok(())
}

fn permuted(images: &Tensor, order: &[usize]) -> Result<Tensor> {
    let (shape, strides) = (images.shape(), images.shape().strides());
    let dims: SmallVec<[usize; 5]> = order.iter().map(|&a| shape[a]).collect();
    let strides: SmallVec<[isize; 5]> = order.iter().map(|&a| strides[a] as isize).collect();
    images.strided(Shape::new(dims), 0, &strides)
}

/// One spatial axis: window `o` covers the cells `o * stride + f * dilation - before` for each `f` in
/// `0..filter`, as far as they are in `0..input`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub input: usize,
    pub filter: usize,
    pub output: usize,
    pub stride: usize,
    pub dilation: usize,
    pub before: usize,
}

impl Axis {
    const UNIT: Axis = Axis { input: 1, filter: 1, output: 1, stride: 1, dilation: 1, before: 0 };

    /// An axis that is cut into windows of this size.
    pub fn blocks(input: usize, size: usize) -> Axis {
        Axis { input, filter: size, output: input / size, stride: size, ..Axis::UNIT }
    }

    /// The positions within window `o` whose cells are in the image.
    #[inline(always)]
    fn inside(&self, o: usize) -> Range<usize> {
        let start = o * self.stride;
        let reached = |cell: usize| cell.saturating_sub(start).div_ceil(self.dilation).min(self.filter);
        reached(self.before)..reached(self.input + self.before)
    }

    /// The cell at position `f`, which is inside, of window `o`.
    #[inline(always)]
    fn cell(&self, o: usize, f: usize) -> usize {
        o * self.stride + f * self.dilation - self.before
    }

    /// Whether each window is one cell, in order.
    fn is_identity(&self) -> bool {
        self.filter == 1 && self.stride == 1 && self.before == 0 && self.output == self.input
    }
}

/// The windows of a call, over images `[batch, depth, rows, columns, channels]`. A window has a row of
/// `taps * channels` elements, those beyond the image are zeros.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    pub batch: usize,
    pub axes: [Axis; 3],
    pub channels: usize,
}

impl Windows {
    /// The windows over rows of one channel.
    pub fn of_rows(rows: usize, axis: Axis) -> Windows {
        Windows { batch: rows, axes: [Axis::UNIT, Axis::UNIT, axis], channels: 1 }
    }

    /// The number of cells of a window. Windows of a pool may be larger than any tensor: they are never
    /// stored.
    pub fn taps(&self) -> usize {
        self.axes.iter().fold(1, |n: usize, a| n.saturating_mul(a.filter))
    }

    /// The number of elements of a window.
    pub fn width(&self) -> usize {
        self.taps().saturating_mul(self.channels)
    }

    /// The number of windows of an image.
    pub fn per_image(&self) -> usize {
        self.axes.iter().map(|a| a.output).product()
    }

    /// The number of elements of an image.
    pub fn image(&self) -> usize {
        self.axes.iter().map(|a| a.input).product::<usize>() * self.channels
    }

    /// Whether the rows of the windows are the input as it is.
    pub fn are_identity(&self) -> bool {
        self.axes.iter().all(Axis::is_identity)
    }

    /// Whether the window at `place` is wholly inside its image.
    #[inline(always)]
    fn is_whole(&self, place: [usize; 3]) -> bool {
        self.axes.iter().zip(place).all(|(a, o)| a.inside(o) == (0..a.filter))
    }

    /// The position of window `p` of an image.
    #[inline(always)]
    fn place(&self, p: usize) -> [usize; 3] {
        let [_, b, c] = &self.axes;
        [p / (b.output * c.output), p / c.output % b.output, p % c.output]
    }

    /// Calls `run` with each contiguous part of a window that is in the image: the positions in the window's
    /// row and in the image, and the length. Parts come in the order of the image.
    #[inline(always)]
    fn runs(&self, place: [usize; 3], mut run: impl FnMut(usize, usize, usize)) {
        let ([a, b, c], depth) = (&self.axes, self.channels);
        let columns = c.inside(place[2]);
        for f0 in a.inside(place[0]) {
            for f1 in b.inside(place[1]) {
                // In a window larger than any tensor this wraps. Only pools have such windows.
                let row = f0.wrapping_mul(b.filter).wrapping_add(f1).wrapping_mul(c.filter);
                let line = (a.cell(place[0], f0) * b.input + b.cell(place[1], f1)) * c.input;
                if c.dilation == 1 && !columns.is_empty() {
                    let cell = line + c.cell(place[2], columns.start);
                    run(
                        row.wrapping_add(columns.start).wrapping_mul(depth),
                        cell * depth,
                        columns.len() * depth,
                    );
                    continue;
                }
                for f2 in columns.clone() {
                    run(
                        row.wrapping_add(f2).wrapping_mul(depth),
                        (line + c.cell(place[2], f2)) * depth,
                        depth,
                    );
                }
            }
        }
    }

    /// Calls `tap` with the position in the image of each cell of window `p` that is in the image, in order.
    #[inline(always)]
    pub fn cells(&self, p: usize, mut tap: impl FnMut(usize)) {
        let depth = self.channels;
        self.runs(self.place(p), |_, at, length| (at..at + length).step_by(depth.max(1)).for_each(&mut tap));
    }

    /// Calls `tap` with the number in the window and the position in the image of each cell of window `p`
    /// that is in the image.
    #[inline(always)]
    pub fn taps_of(&self, p: usize, mut tap: impl FnMut(usize, usize)) {
        let depth = self.channels.max(1);
        self.runs(self.place(p), |row, at, length| {
            for i in (0..length).step_by(depth) {
                tap((row + i) / depth, at + i);
            }
        });
    }

    /// Fills `rows` with the rows of the windows from `from` on, which are counted over all images.
    pub fn gather<T: Copy + Default>(&self, input: &[T], from: usize, rows: &mut [T]) {
        let per_image = self.per_image();
        for (i, row) in rows.chunks_exact_mut(self.width()).enumerate() {
            let place = self.place((from + i) % per_image);
            let image = &input[(from + i) / per_image * self.image()..][..self.image()];
            if !self.is_whole(place) {
                row.fill(T::default());
            }
            self.runs(place, |at, cell, n| row[at..at + n].copy_from_slice(&image[cell..cell + n]));
        }
    }

    /// Adds the rows of the windows from `from` on, which are counted in the image, to the image's cells.
    pub fn scatter<T: Copy + std::ops::AddAssign>(&self, rows: &[T], from: usize, image: &mut [T]) {
        for (i, row) in rows.chunks_exact(self.width()).enumerate() {
            self.runs(self.place(from + i), |at, cell, n| {
                image[cell..cell + n].iter_mut().zip(&row[at..at + n]).for_each(|(sum, v)| *sum += *v);
            });
        }
    }
}
