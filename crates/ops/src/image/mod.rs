//! Ops over images: resizing, colours, boxes, and files of images.

mod boxes;
mod colours;
mod crops;
mod files;
mod gif;
mod jpeg;
mod png;
mod resizer;
mod suppression;

ops! {
    adjust_contrast_v2,
    adjust_hue,
    adjust_saturation,
    combined_non_max_suppression,
    crop_and_resize,
    decode_bmp,
    decode_gif,
    decode_jpeg,
    decode_png,
    draw_bounding_boxes,
    encode_jpeg,
    encode_png,
    extract_glimpse,
    extract_jpeg_shape,
    fused_resize_and_pad_conv2d,
    hsv_to_rgb,
    non_max_suppression,
    non_max_suppression_with_overlaps,
    resize_area,
    resize_bicubic,
    resize_bicubic_grad,
    resize_bilinear,
    resize_bilinear_grad,
    resize_nearest_neighbor,
    resize_nearest_neighbor_grad,
    rgb_to_hsv,
    sample_distorted_bounding_box,
    scale_and_translate,
}
