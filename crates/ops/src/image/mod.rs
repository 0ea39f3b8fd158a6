//! Ops over images: resizing, colours, boxes, and files of images.

mod colours;
mod resizer;

ops! {
    adjust_contrast_v2,
    adjust_hue,
    adjust_saturation,
    hsv_to_rgb,
    resize_area,
    resize_bicubic,
    resize_bicubic_grad,
    resize_bilinear,
    resize_bilinear_grad,
    resize_nearest_neighbor,
    resize_nearest_neighbor_grad,
    rgb_to_hsv,
}
