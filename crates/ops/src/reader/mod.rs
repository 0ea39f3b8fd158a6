//! Readers: records from files whose names come from a queue.

mod readers;

ops! {
    fixed_length_record_reader,
    identity_reader,
    reader_num_records_produced,
    reader_num_work_units_completed,
    reader_read,
    reader_read_up_to,
    reader_reset,
    reader_restore_state,
    reader_serialize_state,
    text_line_reader,
    tf_record_reader,
    whole_file_reader,
}
