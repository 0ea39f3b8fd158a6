//! Crops of images at boxes, resized to one size: what `CropAndResize` and its gradients share.

use super::boxes::{infer_boxes, infer_count};
use crate::number::no_kernel;
use crate::shared::casting::To;
use crate::shared::elementwise::fresh;
use crate::shared::pieces::in_pieces;
use millstream_graph::op::{InferCx, KernelCx, StepEnv};
use millstream_tensor::DType::{self, F32};
use millstream_tensor::{Code, Element, Error, Result, Shape, Tensor, ensure, invalid, with_element};

/// The dtypes of images that are cropped.
pub(super) const IMAGES: &[DType] =
    &[DType::U8, DType::U16, DType::I8, DType::I16, DType::I32, DType::I64, DType::F16, F32, DType::F64];

/// Checks the boxes in input `i` and the numbers of their images in the input behind it. Returns their
/// number.
pub(super) fn infer_where(cx: &InferCx, i: usize) -> Result<millstream_tensor::Dim> {
    infer_boxes(cx, i, 2)?;
    cx.vector(i + 1)?;
    infer_count(cx, i, i + 1)
}

/// A call: boxes, the images that they are in, and the sizes.
pub(super) struct Crops<'a> {
    env: &'a StepEnv,
    boxes: &'a [f32],
    images: &'a [i32],
    /// The batch, height, width and depth of the images.
    image: [usize; 4],
    /// The height and width of a crop.
    crop: [usize; 2],
    nearest: bool,
}

/// The place of a row or column of a crop in the image: the pixels before and behind it, and the share of the
/// second.
#[derive(Clone, Copy)]
struct Place {
    at: f32,
    before: usize,
    behind: usize,
    share: f32,
}

impl Place {
    fn new(at: f32, size: usize) -> Option<Place> {
        if !(0.0..=(size - 1) as f32).contains(&at) {
            return None;
        }
        let before = at.floor();
        Some(Place { at, before: before as usize, behind: at.ceil() as usize, share: at - before })
    }

    fn nearest(&self) -> usize {
        self.at.round() as usize
    }
}

impl<'a> Crops<'a> {
    /// Reads the boxes in input `i`.
    pub fn of(
        cx: &KernelCx<'_>,
        env: &'a StepEnv,
        (boxes, images): (&'a Tensor, &'a Tensor),
        image: [usize; 4],
        crop: [usize; 2],
    ) -> Result<Crops<'a>> {
        let &[n, 4] = boxes.shape().dims() else {
            return Err(invalid!("boxes must be 2-D{}", boxes.shape(); "`boxes` must have shape [n,4]"));
        };
        ensure!(
            images.shape().dims() == [n],
            "box_index has incompatible shape"; "`box_ind` has shape {} but there are {n} boxes", images.shape()
        );
        let [batch, height, width, _] = image;
        ensure!(0 < height && 0 < width, "image dimensions must be positive"; "images have {height} x {width} pixels");
        ensure!(
            [height, width].iter().chain(&crop).all(|d| *d <= i32::MAX as usize),
            "images and crops have at most {} pixels on a side",
            i32::MAX
        );
        let images = images.as_slice::<i32>()?;
        if images.iter().any(|i| usize::try_from(*i).map_or(true, |i| batch <= i)) {
            return Err(Error::new(
                Code::OutOfRange,
                format!("`box_ind` names images beyond the {batch} there are"),
            )
            .led_by("box_index has values outside [0, batch_size)"));
        }
        let nearest = **cx.attrs().str("method")? == *b"nearest";
        Ok(Crops { env, boxes: boxes.as_slice()?, images, image, crop, nearest })
    }

    fn sides(&self, b: usize) -> [f32; 4] {
        let sides = &self.boxes[4 * b..][..4];
        [sides[0], sides[1], sides[2], sides[3]]
    }

    /// The place of row or column `i` of a crop. `axis` is 0 for rows, 1 for columns.
    fn place(&self, sides: &[f32; 4], axis: usize, i: usize) -> Option<Place> {
        let (from, to, size, n) = (sides[axis], sides[axis + 2], self.image[axis + 1], self.crop[axis]);
        let last = (size - 1) as f32;
        let at = match n {
            1 => (0.5 * f64::from(from + to) * f64::from(last)) as f32,
            _ => from * last + i as f32 * ((to - from) * last / (n - 1) as f32),
        };
        Place::new(at, size)
    }

    fn pixel<'t, T>(&self, images: &'t [T], b: usize, y: usize, x: usize) -> &'t [T] {
        let [_, height, width, depth] = self.image;
        &images[((b * height + y) * width + x) * depth..][..depth]
    }

    /// Fills the crops. Pixels beyond the image are `beyond`.
    pub fn cut<T: Element + To<f32> + Sync>(&self, images: &[T], beyond: f32, out: &mut [f32]) -> Result<()> {
        let depth = self.image[3];
        let row = self.crop[1] * depth;
        in_pieces(self.env, out, row, out_work(self.images.len() * self.crop[0], row), |i, cells| {
            let (b, y) = (i / self.crop[0], i % self.crop[0]);
            let (sides, image) = (self.sides(b), self.images[b] as usize);
            let row = self.place(&sides, 0, y);
            for (x, cells) in cells.chunks_exact_mut(depth).enumerate() {
                let (Some(row), Some(column)) = (row, self.place(&sides, 1, x)) else {
                    cells.fill(beyond);
                    continue;
                };
                if self.nearest {
                    let pixel = self.pixel(images, image, row.nearest(), column.nearest());
                    cells.iter_mut().zip(pixel).for_each(|(cell, v)| *cell = (*v).to());
                    continue;
                }
                let at = |y, x| self.pixel(images, image, y, x);
                let (a, b) = (at(row.before, column.before), at(row.before, column.behind));
                let (p, q) = (at(row.behind, column.before), at(row.behind, column.behind));
                for (c, cell) in cells.iter_mut().enumerate() {
                    let [a, b, p, q]: [f32; 4] = [a[c].to(), b[c].to(), p[c].to(), q[c].to()];
                    let (top, bottom) = (a + (b - a) * column.share, p + (q - p) * column.share);
                    *cell = top + (bottom - top) * row.share;
                }
            }
            Ok(())
        })
    }

    /// Adds the gradients of the crops to the pixels that they are made of.
    pub fn spread<T: Element + crate::number::Number>(&self, grads: &[f32], out: &mut [T]) -> Result<()>
    where
        f32: To<T>,
    {
        let [_, height, width, depth] = self.image;
        let mut add = |image: usize, y: usize, x: usize, c: usize, g: f32| {
            let cell = &mut out[((image * height + y) * width + x) * depth + c];
            *cell = cell.add(g.to());
        };
        self.each_pixel(grads, |b, _, [row, column], grads| {
            let image = self.images[b] as usize;
            for (c, g) in grads.iter().enumerate() {
                if self.nearest {
                    add(image, row.nearest(), column.nearest(), c, *g);
                    continue;
                }
                let (top, bottom) = ((1.0 - row.share) * g, row.share * g);
                add(image, row.before, column.before, c, (1.0 - column.share) * top);
                add(image, row.before, column.behind, c, column.share * top);
                add(image, row.behind, column.before, c, (1.0 - column.share) * bottom);
                add(image, row.behind, column.behind, c, column.share * bottom);
            }
        })
    }

    /// Adds the gradients by the sides of the boxes.
    pub fn by_sides<T: Element + To<f32>>(&self, grads: &[f32], images: &[T], out: &mut [f32]) -> Result<()> {
        self.each_pixel(grads, |b, places, [row, column], grads| {
            let image = self.images[b] as usize;
            let at = |y, x| self.pixel(images, image, y, x);
            let (a, d) = (at(row.before, column.before), at(row.before, column.behind));
            let (p, q) = (at(row.behind, column.before), at(row.behind, column.behind));
            for (c, g) in grads.iter().enumerate() {
                let [a, d, p, q]: [f32; 4] = [a[c].to(), d[c].to(), p[c].to(), q[c].to()];
                let down = ((1.0 - column.share) * (p - a) + column.share * (q - d)) * g;
                let across = ((1.0 - row.share) * (d - a) + row.share * (q - p)) * g;
                for (axis, slope) in [down, across].into_iter().enumerate() {
                    let last = (self.image[axis + 1] - 1) as f32;
                    let (first, second) = match self.crop[axis] {
                        1 => (0.5 * last, 0.5 * last),
                        n => {
                            let part = places[axis] as f32 * (last / (n - 1) as f32);
                            (last - part, part)
                        }
                    };
                    out[4 * b + axis] += slope * first;
                    out[4 * b + axis + 2] += slope * second;
                }
            }
        })
    }

    /// Calls `take` with each pixel of the crops that is within its image: the box, the row and column, their
    /// places, and the pixel's part of `cells`.
    fn each_pixel(
        &self,
        cells: &[f32],
        mut take: impl FnMut(usize, [usize; 2], [Place; 2], &[f32]),
    ) -> Result<()> {
        let [height, width] = self.crop;
        let depth = self.image[3];
        for b in 0..self.images.len() {
            self.env.cancel.check()?;
            let sides = self.sides(b);
            for y in 0..height {
                let Some(row) = self.place(&sides, 0, y) else { continue };
                for x in 0..width {
                    let Some(column) = self.place(&sides, 1, x) else { continue };
                    let at = ((b * height + y) * width + x) * depth;
                    take(b, [y, x], [row, column], &cells[at..at + depth]);
                }
            }
        }
        Ok(())
    }
}

/// An estimate of the work of rows.
fn out_work(rows: usize, row: usize) -> f64 {
    rows as f64 * row as f64 * 8.0
}

/// Returns the dimensions of an image.
pub(super) fn image_dims(shape: &Shape) -> Result<[usize; 4]> {
    let dims: Option<[usize; 4]> = shape.dims().try_into().ok();
    dims.ok_or_else(
        || invalid!("input image must be 4-D{shape}"; "images must have rank 4 but have shape {shape}"),
    )
}

/// Cuts crops out of images of any dtype.
pub(super) fn cut(crops: &Crops, images: &Tensor, beyond: f32, op: &str) -> Result<Tensor> {
    let shape = Shape::from([crops.images.len(), crops.crop[0], crops.crop[1], crops.image[3]]);
    let mut out = Tensor::anything(F32, shape)?;
    with_element!(images.dtype(), T in [U8 U16 I8 I16 I32 I64 F16 F32 F64] => crops.cut::<T>(images.as_slice()?, beyond, fresh(&mut out)?),
        else => Err(no_kernel(op, images.dtype())))?;
    Ok(out)
}
