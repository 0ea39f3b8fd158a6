//! `millstream convert`: converts a graph file between its forms.

use crate::failure::{Failure, Outcome, file_error};
use crate::load::Limits;
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Convert a graph file between the binary and the text form
///
/// The message remains a GraphDef, a MetaGraphDef or a SavedModel. Nothing but the form is checked, and ops
/// need not be supported. The form of the input is detected.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Without --to, the extension of OUT determines the form: .pb is binary; .pbtxt, .txt and .prototxt are text.

Examples:
  millstream convert model.pb model.pbtxt
  millstream convert model.pb - --to text | less
  millstream convert edited.pbtxt model.pb"
)]
pub(crate) struct Options {
    /// The file to read, or - for standard input
    #[arg(value_name = "IN")]
    from: PathBuf,

    /// The file to write, or - for standard output
    #[arg(value_name = "OUT")]
    to: PathBuf,

    /// The form to write [default: by the name of OUT]
    #[arg(long = "to", value_name = "FORM")]
    form: Option<Form>,

    #[command(flatten)]
    limits: Limits,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Binary,
    Text,
}

pub(crate) fn run(options: Options) -> Outcome {
    let form = options.form.or_else(|| guess(&options.to)).ok_or_else(|| {
        Failure::Usage(format!(
            "the name `{}` does not determine the form: add --to binary or --to text",
            options.to.display()
        ))
    })?;
    let Options { from, limits, .. } = options;
    let convert = move || {
        let file = limits.read(&from)?.file;
        Ok(match form {
            Form::Binary => file.to_bytes(),
            Form::Text => file.to_text()?.into_bytes(),
        })
    };
    let bytes = limits.within("converting the graph", convert)?;
    if options.to.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        out.write_all(&bytes)?;
        return Ok(out.flush()?);
    }
    std::fs::write(&options.to, bytes).map_err(|e| file_error("write", &options.to, &e))?;
    Ok(())
}

fn guess(path: &Path) -> Option<Form> {
    match path.extension()?.to_str()? {
        "pb" => Some(Form::Binary),
        "pbtxt" | "prototxt" | "txt" => Some(Form::Text),
        _ => None,
    }
}
