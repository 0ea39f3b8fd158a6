//! The knobs: every setting that a session takes, with its type, default and doc, in one table that front ends list.

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Its name, as the command line spells it.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: &'static str,
    /// What it is when it is not given.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// All of them.
pub const KNOBS: &[Knob] = &[
    Knob {
        name: "threads",
        kind: "count",
        default: "one per core",
        doc: "How many threads run kernels. The result is the same for any number.",
    },
    Knob {
        name: "memory-limit",
        kind: "bytes",
        default: "80 % of the machine's memory",
        doc: "How many bytes of tensors may be alive at a time; going over it is an error that names the op.",
    },
    Knob { name: "timeout", kind: "seconds", default: "none", doc: "How long a run may take." },
    Knob {
        name: "parallel-iterations",
        kind: "count",
        default: "what each loop says",
        doc: "How many iterations of a loop may be alive at a time, for all loops. The result is the same for any number.",
    },
    Knob {
        name: "stall-grace",
        kind: "seconds, or never",
        default: "600",
        doc: "For how long nothing may happen before a run that waits for a queue ends with an error; sooner where no thread could end the wait.",
    },
    Knob {
        name: "trace",
        kind: "flag",
        default: "off",
        doc: "Record every execution of every node; slows the run down.",
    },
];
