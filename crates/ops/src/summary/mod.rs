//! Summary ops: values as encoded `Summary` messages, for event files.

mod histogram;
mod message;

ops! {
    audio_summary,
    histogram_summary,
    image_summary,
    merge_summary,
    scalar_summary,
    tensor_summary,
    tensor_summary_v2,
}
