//! Summaries: values as encoded `Summary` messages, for event files.

mod histogram;
mod message;

ops! { histogram_summary, merge_summary, scalar_summary, tensor_summary_v2 }
