//! [`MachineCode`]: a compiled region, the memory that it lies in, and calls into it.
//!
//! All `unsafe` of this crate is here. Memory is writable while code is written and executable afterwards,
//! never both.
#![expect(unsafe_code, reason = "machine code is called by its address, and freed with its last user")]

use crate::translate::translate;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};
use millstream_exec::region::{Blocks, Calls, Code, Compiled, Exit, ListWords, Registers};
use std::ffi::c_void;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const DONE: i64 = 0;
pub(crate) const PAUSED: i64 = 1;
pub(crate) const FAILED: i64 = 2;

/// The bytes of machine code that may exist at a time. Regions beyond it are interpreted.
const MOST_BYTES: usize = 64 << 20;

/// Machine code takes whole pages.
const PAGE: usize = 4096;

/// The bytes of machine code that exist.
static BYTES: AtomicUsize = AtomicUsize::new(0);

type Entry = extern "C" fn(*mut u64, *mut RawList, *mut State) -> i32;

/// A list as code sees it.
#[repr(C)]
struct RawList {
    data: *mut u64,
    len: usize,
    room: usize,
    before: usize,
    owner: *mut ListWords,
}

/// Where code finds the fields of a list.
pub(crate) struct ListOffsets;

impl ListOffsets {
    pub(crate) const DATA: i32 = offset_of!(RawList, data) as i32;
    pub(crate) const LEN: i32 = offset_of!(RawList, len) as i32;
    pub(crate) const ROOM: i32 = offset_of!(RawList, room) as i32;
    pub(crate) const BEFORE: i32 = offset_of!(RawList, before) as i32;

    /// The offset of a list.
    pub(crate) fn of(list: usize) -> i32 {
        (list * size_of::<RawList>()) as i32
    }
}

/// What a slice begins with and leaves.
#[repr(C)]
struct State {
    at: u64,
    iterations: u64,
    units: i64,
    code: *const Code,
    blocks: *mut Blocks,
    words: *mut u64,
    calls: *const c_void,
}

/// Where code finds the fields of the state.
pub(crate) struct StateOffsets;

impl StateOffsets {
    pub(crate) const AT: i32 = offset_of!(State, at) as i32;
    pub(crate) const ITERATIONS: i32 = offset_of!(State, iterations) as i32;
    pub(crate) const UNITS: i32 = offset_of!(State, units) as i32;
}

/// The functions that code calls.
pub(crate) struct Functions {
    /// The signature of a step's function.
    pub step: Signature,
    /// The signature of [`grow`] and [`on_blocks`].
    pub grow: Signature,
    /// The address of [`grow`].
    pub grow_at: i64,
    /// The address of [`on_blocks`].
    pub on_blocks_at: i64,
}

/// Makes room for `n` more words in a list. Returns false if there is none.
extern "C" fn grow(lists: *mut RawList, list: usize, n: usize) -> u8 {
    // SAFETY: code passes the address that `MachineCode::run` gave it, and the number of one of its lists.
    // `run` keeps both the array and the owners in place, and does not touch them meanwhile.
    let (raw, owner) = unsafe {
        let raw = &mut *lists.add(list);
        let owner = &mut *raw.owner;
        (raw, owner)
    };
    owner.len = raw.len;
    let grown = owner.grow(n).is_ok();
    (raw.data, raw.room) = (owner.words.as_mut_ptr(), owner.words.len());
    grown.into()
}

/// Executes the instruction about blocks at this position. Returns false if it fails.
extern "C" fn on_blocks(state: *mut State, at: usize, _: usize) -> u8 {
    // SAFETY: code passes the address that `MachineCode::run` gave it. What the state points to is kept in
    // place by `run`, which does not touch it meanwhile, and nor does code: it reads and writes words only.
    // The words are as many as the code says, which `run` has checked.
    let (code, blocks, words, calls) = unsafe {
        let state = &*state;
        let code = &*state.code;
        let words = std::slice::from_raw_parts_mut(state.words, code.n_words);
        (code, &mut *state.blocks, words, *state.calls.cast::<&dyn Calls>())
    };
    // A panic must not pass through machine code.
    let step = std::panic::AssertUnwindSafe(|| blocks.step(code, at, words, calls));
    std::panic::catch_unwind(step).unwrap_or(false).into()
}

/// A region as machine code.
pub(crate) struct MachineCode {
    entry: Entry,
    /// The bytes of memory, whole pages.
    reserved: usize,
    /// The bytes of instructions.
    bytes: usize,
    /// Holds the memory that `entry` lies in. There until the drop.
    module: Option<JITModule>,
    code: Arc<Code>,
}

// SAFETY: once it is made, the memory is only read and executed. The module is touched again only by `drop`,
// which has the only reference.
unsafe impl Send for MachineCode {}
// SAFETY: as above; `run` takes all that it changes by `&mut`.
unsafe impl Sync for MachineCode {}

impl MachineCode {
    /// Compiles. `None` if the code is unsuited, this processor is unknown, or memory is short.
    pub(crate) fn new(code: &Arc<Code>) -> Option<MachineCode> {
        let mut module = new_module()?;
        let result = compile(&mut module, code);
        let Some((id, bytes)) = result else {
            free(module);
            return None;
        };
        let address = module.get_finalized_function(id);
        // SAFETY: the function was compiled with the signature of `Entry`, and lives as long as the module.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        let reserved = bytes.next_multiple_of(PAGE);
        Some(MachineCode { entry, reserved, bytes, module: Some(module), code: code.clone() })
    }
}

/// A module for this processor; `None` if it is unknown.
fn new_module() -> Option<JITModule> {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").ok()?;
    flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }).ok()?;
    flags.set("use_colocated_libcalls", "false").ok()?;
    flags.set("is_pic", "false").ok()?;
    let target = cranelift_native::builder().ok()?.finish(settings::Flags::new(flags)).ok()?;
    if target.pointer_type() != types::I64 {
        return None;
    }
    Some(JITModule::new(JITBuilder::with_isa(target, default_libcall_names())))
}

/// The machine code as text. Nothing is kept.
pub(crate) fn disassemble(code: &Code) -> Option<String> {
    let module = new_module()?;
    let text = context(&module, code).and_then(|mut context| {
        context.set_disasm(true);
        let compiled = context.compile(module.isa(), &mut ControlPlane::default()).ok()?;
        compiled.vcode.clone()
    });
    free(module);
    text
}

/// The function of a region, not compiled yet.
fn context(module: &JITModule, code: &Code) -> Option<Context> {
    let signature = |module: &JITModule, params: &[types::Type], result| {
        let mut signature = module.make_signature();
        signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
        signature.returns.push(AbiParam::new(result));
        signature
    };
    let word = types::I64;
    let functions = Functions {
        step: signature(module, &[word; 3], word),
        grow: signature(module, &[word; 3], types::I8),
        grow_at: grow as *const () as usize as i64,
        on_blocks_at: on_blocks as *const () as usize as i64,
    };
    let mut context = Context::new();
    context.func.signature = signature(module, &[word; 3], types::I32);
    translate(code, &mut context.func, &functions)?;
    Some(context)
}

/// Compiles into a module, and returns the function and its size.
fn compile(module: &mut JITModule, code: &Code) -> Option<(cranelift_module::FuncId, usize)> {
    let mut context = context(module, code)?;
    let id = module.declare_function("region", Linkage::Local, &context.func.signature).ok()?;
    module.define_function(id, &mut context).ok()?;
    let n_code = context.compiled_code()?.code_buffer().len();
    let bytes = n_code.next_multiple_of(PAGE);
    let before = BYTES.fetch_add(bytes, Ordering::Relaxed);
    if before + bytes > MOST_BYTES || module.finalize_definitions().is_err() {
        BYTES.fetch_sub(bytes, Ordering::Relaxed);
        return None;
    }
    Some((id, n_code))
}

fn free(module: JITModule) {
    // SAFETY: nothing calls into the module's memory any more: its functions were either never given out, or
    // belong to a `MachineCode` that is being dropped.
    unsafe { module.free_memory() }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        BYTES.fetch_sub(self.reserved, Ordering::Relaxed);
        if let Some(module) = self.module.take() {
            free(module);
        }
    }
}

impl Compiled for MachineCode {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&self, registers: &mut Registers, calls: &dyn Calls) -> Exit {
        // Code reads and writes within these sizes, without a check of its own.
        if registers.words.len() != self.code.n_words || registers.lists.len() != self.code.lists.len() {
            return Exit::Failed;
        }
        let raw = |list: &mut ListWords| RawList {
            data: list.words.as_mut_ptr(),
            len: list.len.min(list.words.len()),
            room: list.words.len(),
            before: list.before,
            owner: list,
        };
        let mut lists: Vec<RawList> = registers.lists.iter_mut().map(raw).collect();
        let words = registers.words.as_mut_ptr();
        let mut state = State {
            at: registers.at as u64,
            iterations: registers.iterations,
            units: registers.units,
            code: &*self.code,
            blocks: &mut registers.blocks,
            words,
            calls: (&raw const calls).cast(),
        };
        let exit = (self.entry)(words, lists.as_mut_ptr(), &mut state);
        let ends: Vec<(usize, usize)> = lists.iter().map(|list| (list.len, list.before)).collect();
        drop(lists);
        for (list, (len, before)) in registers.lists.iter_mut().zip(ends) {
            (list.len, list.before) = (len, before);
        }
        (registers.at, registers.iterations, registers.units) =
            (state.at as usize, state.iterations, state.units);
        match i64::from(exit) {
            DONE => Exit::Done,
            PAUSED => Exit::Paused,
            _ => {
                registers.undo();
                Exit::Failed
            }
        }
    }
}
