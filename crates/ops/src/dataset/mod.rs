//! Datasets: sequences of elements that a pass makes one by one. `datasets` says what a dataset is,
//! `iterators` what an iterator is.

mod batches;
mod datasets;
#[cfg(feature = "tf-files")]
mod file_cache;
mod iterators;
#[cfg(feature = "input")]
mod records;
mod shuffling;

ops! {
    batch_dataset,
    cache_dataset,
    concatenate_dataset,
    dataset_cardinality,
    dataset_to_single_element,
    directed_interleave_dataset,
    filter_dataset,
    #[cfg(feature = "input")]
    fixed_length_record_dataset,
    flat_map_dataset,
    generator_dataset,
    group_by_window_dataset,
    ignore_errors_dataset,
    iterator,
    iterator_from_string_handle,
    iterator_get_next,
    iterator_get_next_as_optional,
    iterator_to_string_handle,
    make_iterator,
    map_and_batch_dataset,
    map_dataset,
    one_shot_iterator,
    optimize_dataset,
    padded_batch_dataset,
    parallel_interleave_dataset,
    prefetch_dataset,
    random_dataset,
    range_dataset,
    reduce_dataset,
    repeat_dataset,
    scan_dataset,
    shard_dataset,
    shuffle_dataset,
    skip_dataset,
    take_dataset,
    take_while_dataset,
    tensor_dataset,
    tensor_slice_dataset,
    #[cfg(feature = "input")]
    text_line_dataset,
    #[cfg(feature = "input")]
    tf_record_dataset,
    unbatch_dataset,
    unique_dataset,
    window_dataset,
    zip_dataset,
}
