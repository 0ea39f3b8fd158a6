//! Lookup tables: values by key, which outlive a run.

mod tables;

ops! {
    hash_table,
    initialize_table,
    #[cfg(feature = "input")]
    initialize_table_from_text_file,
    lookup_table_export,
    lookup_table_find,
    lookup_table_import,
    lookup_table_insert,
    lookup_table_remove,
    lookup_table_size,
    mutable_dense_hash_table,
    mutable_hash_table,
    mutable_hash_table_of_tensors,
}
