//! Compiles the `.proto` files to Rust structs and to the descriptors that the text form needs, in pure Rust:
//! `protoc` is not used.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;

const ROOT: &str = "proto";

// These files import all the others.
const ENTRY_POINTS: [&str; 8] = [
    "tensorflow/meta_graph.proto",
    "tensorflow/control_flow.proto",
    "tensorflow/state.proto",
    "tensorflow/checkpoint.proto",
    "tensorflow/event.proto",
    "tensorflow/run_metadata.proto",
    "tensorflow/example.proto",
    "tensorflow/config.proto",
];

// A oneof is as large as its largest variant, and most attributes are small. Without the boxes, every
// attribute of every node would take as much memory as a whole tensor message.
const BOXED: [&str; 8] = [
    ".tensorflow.AttrValue.value.tensor",
    ".tensorflow.AttrValue.value.list",
    ".tensorflow.Summary.Value.value.tensor",
    ".tensorflow.NodeDef.experimental_debug_info",
    ".tensorflow.NodeDef.experimental_type",
    ".tensorflow.StructuredValue.kind.bounded_tensor_spec_value",
    ".tensorflow.StructuredValue.kind.tensor_value",
    ".tensorflow.StructuredValue.kind.numpy_value",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);

    let mut files = protox::compile(ENTRY_POINTS, [ROOT])?;
    let mut config = prost_build::Config::new();
    config.btree_map(["."]).enable_type_names().include_file("messages.rs");
    for path in BOXED {
        config.boxed(path);
    }
    config.compile_fds(files.clone())?;

    // The comments are in the generated structs; at run time they would only take space.
    for file in &mut files.file {
        file.source_code_info = None;
    }
    fs::write(out_dir.join("descriptors.bin"), files.encode_to_vec())?;
    Ok(())
}
