//! A disk in memory that fails, tears writes and loses power. [`every_fault`] runs an action once for every
//! call that it makes and every way in which the call can go wrong.
//!
//! The model knows what is durable: the bytes of a file after its sync, the names in a folder after the
//! folder's sync. A power cut keeps what is durable and an arbitrary part of the rest: changes of names
//! happen in order up to some point, or one without the others; bytes that were not synced are there, gone,
//! or half there with zeros behind.

#![allow(dead_code, reason = "each test program uses a part of it")]

use millstream_files::{Disk, DiskFile, Files, How, Kind};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// What goes wrong at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails with this error, once. A write has written a part.
    Once(i32),
    /// The call and all later ones that need space fail.
    Full,
    /// The process dies before the call.
    Before,
    /// The process dies in the call: a write has written a part.
    Within,
    /// The process dies after the call.
    After,
}

pub const FAULTS: [Fault; 6] =
    [Fault::Once(ENOSPC), Fault::Once(EIO), Fault::Full, Fault::Before, Fault::Within, Fault::After];

impl Fault {
    pub fn kills(self) -> bool {
        matches!(self, Fault::Before | Fault::Within | Fault::After)
    }
}

#[derive(Clone, Default)]
struct Inode {
    bytes: Vec<u8>,
    durable: Vec<u8>,
}

/// Changes of names that happen together: each path and what it then names.
type Change = Vec<(PathBuf, Option<u64>)>;

#[derive(Default)]
struct State {
    inodes: BTreeMap<u64, Inode>,
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    /// Changes of names that no sync has made durable.
    unsynced: Vec<Change>,
    folders: BTreeSet<PathBuf>,
    locked: BTreeMap<u64, Arc<AtomicBool>>,
    next: u64,
    n_calls: usize,
    fault: Option<(usize, Fault)>,
    dead: bool,
}

/// The disk.
#[derive(Clone)]
pub struct CrashDisk(Arc<Mutex<State>>);

impl fmt::Debug for CrashDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CrashDisk")
    }
}

/// How a call goes on.
enum Call {
    Do,
    /// A write writes half and fails; anything else fails.
    Fail(io::Error),
    /// The call is done, and then the process is dead.
    DoAndDie,
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

impl CrashDisk {
    /// An empty disk with these folders.
    pub fn new(folders: &[&str]) -> CrashDisk {
        let folders = folders.iter().map(PathBuf::from).collect();
        CrashDisk(Arc::new(Mutex::new(State { folders, ..State::default() })))
    }

    pub fn files(&self) -> Files {
        Files::on(Arc::new(self.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The number of calls since the last [`CrashDisk::arm`].
    pub fn n_calls(&self) -> usize {
        self.state().n_calls
    }

    /// Makes all names durable.
    pub fn settle(&self) {
        let mut state = self.state();
        state.durable_names = state.names.clone();
        state.unsynced.clear();
    }

    /// From now on, call number `at` goes wrong.
    pub fn arm(&self, at: usize, fault: Option<Fault>) {
        let mut state = self.state();
        state.n_calls = 0;
        state.fault = fault.map(|fault| (at, fault));
    }

    /// The names of the files.
    pub fn names(&self) -> Vec<String> {
        self.state().names.keys().map(|path| path.display().to_string()).collect()
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(Path::new(path)).map(|inode| state.inodes[inode].bytes.clone())
    }

    /// The disks that another process may find: after the death of this one, or after a power cut.
    pub fn restarts(&self) -> Vec<(String, CrashDisk)> {
        let state = self.state();
        let mut found = vec![("kill".to_owned(), state.restart(state.names.clone(), |i| i.bytes.clone()))];
        let n = state.unsynced.len();
        let prefixes = (0..=n).map(|k| (format!("the first {k} names"), (0..k).collect::<Vec<_>>()));
        let singles = (0..n).map(|k| (format!("only name {k}"), vec![k]));
        for (which, changes) in prefixes.chain(singles) {
            let mut names = state.durable_names.clone();
            for &(ref path, inode) in changes.iter().flat_map(|&k| &state.unsynced[k]) {
                match inode {
                    Some(inode) => drop(names.insert(path.clone(), inode)),
                    None => drop(names.remove(path)),
                }
            }
            let half = |i: &Inode| {
                let kept = i.durable.len().min(i.bytes.len());
                let mut bytes = i.bytes.clone();
                bytes[kept + (i.bytes.len() - kept) / 2..].fill(0);
                bytes
            };
            found.push((
                format!("power cut, {which}, synced bytes"),
                state.restart(names.clone(), |i| i.durable.clone()),
            ));
            found
                .push((format!("power cut, {which}, half of the bytes"), state.restart(names.clone(), half)));
            found.push((format!("power cut, {which}, all bytes"), state.restart(names, |i| i.bytes.clone())));
        }
        found
    }
}

impl State {
    fn restart(&self, names: BTreeMap<PathBuf, u64>, bytes: impl Fn(&Inode) -> Vec<u8>) -> CrashDisk {
        let settled = |inode: &Inode| {
            // A file that was synced keeps its bytes, whatever happens to others.
            let bytes = if inode.bytes == inode.durable { inode.bytes.clone() } else { bytes(inode) };
            Inode { durable: bytes.clone(), bytes }
        };
        CrashDisk(Arc::new(Mutex::new(State {
            inodes: self.inodes.iter().map(|(id, inode)| (*id, settled(inode))).collect(),
            durable_names: names.clone(),
            names,
            folders: self.folders.clone(),
            next: self.next,
            ..State::default()
        })))
    }

    fn call(&mut self, needs_space: bool) -> io::Result<Call> {
        if self.dead {
            return Err(dead());
        }
        let now = self.n_calls;
        self.n_calls += 1;
        let Some((at, fault)) = self.fault else { return Ok(Call::Do) };
        match fault {
            Fault::Full if at <= now && needs_space => Ok(Call::Fail(io::Error::from_raw_os_error(ENOSPC))),
            Fault::Full => Ok(Call::Do),
            _ if now != at => Ok(Call::Do),
            Fault::Once(error) => Ok(Call::Fail(io::Error::from_raw_os_error(error))),
            Fault::Before => {
                self.dead = true;
                Err(dead())
            }
            Fault::Within => {
                self.dead = true;
                Ok(Call::Fail(dead()))
            }
            Fault::After => Ok(Call::DoAndDie),
        }
    }

    fn change(&mut self, change: Change) {
        for (path, inode) in &change {
            match inode {
                Some(inode) => drop(self.names.insert(path.clone(), *inode)),
                None => drop(self.names.remove(path)),
            }
        }
        self.unsynced.push(change);
    }

    fn inode(&self, path: &Path) -> io::Result<u64> {
        self.names.get(path).copied().ok_or(ErrorKind::NotFound.into())
    }
}

/// Runs a call that changes names or nothing, with the fault that is due.
fn run<T>(
    disk: &CrashDisk,
    needs_space: bool,
    call: impl FnOnce(&mut State) -> io::Result<T>,
) -> io::Result<T> {
    let mut state = disk.state();
    match state.call(needs_space)? {
        Call::Do => call(&mut state),
        Call::Fail(error) => Err(error),
        Call::DoAndDie => {
            let done = call(&mut state);
            state.dead = true;
            done.and(Err(dead()))
        }
    }
}

impl Disk for CrashDisk {
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let inode = run(self, matches!(how, How::New | How::Create | How::Append), |state| {
            let there = state.inode(path);
            match (how, there) {
                (How::New, Ok(_)) => Err(ErrorKind::AlreadyExists.into()),
                (How::New | How::Create | How::Append, Err(_)) => {
                    if !state.folders.contains(path.parent().unwrap_or(Path::new(""))) {
                        return Err(ErrorKind::NotFound.into());
                    }
                    let inode = state.next;
                    state.next += 1;
                    state.inodes.insert(inode, Inode::default());
                    state.change(vec![(path.to_owned(), Some(inode))]);
                    Ok(inode)
                }
                (How::Create, Ok(inode)) => {
                    if let Some(inode) = state.inodes.get_mut(&inode) {
                        inode.bytes.clear();
                    }
                    Ok(inode)
                }
                (_, there) => there,
            }
        })?;
        Ok(Box::new(CrashFile { disk: self.clone(), inode, at: 0, open: Arc::new(AtomicBool::new(true)) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        run(self, true, |state| {
            let inode = state.inode(from)?;
            state.change(vec![(from.to_owned(), None), (to.to_owned(), Some(inode))]);
            Ok(())
        })
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        run(self, true, |state| {
            let inode = state.inode(from)?;
            if state.inode(to).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            state.change(vec![(to.to_owned(), Some(inode))]);
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        run(self, false, |state| {
            state.inode(path)?;
            state.change(vec![(path.to_owned(), None)]);
            Ok(())
        })
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        run(self, true, |state| match state.folders.insert(path.to_owned()) {
            true => Ok(()),
            false => Err(ErrorKind::AlreadyExists.into()),
        })
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        run(self, false, |state| match state.folders.remove(path) {
            true => Ok(()),
            false => Err(ErrorKind::NotFound.into()),
        })
    }

    fn each_name(&self, folder: &Path, each: &mut dyn FnMut(&OsStr) -> io::Result<()>) -> io::Result<()> {
        let names: Vec<OsString> = run(self, false, |state| {
            let inside = state.names.keys().filter(|path| path.parent() == Some(folder));
            Ok(inside.filter_map(|path| path.file_name()).map(OsString::from).collect())
        })?;
        names.iter().try_for_each(|name| each(name))
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        run(self, false, |state| match state.folders.contains(path) {
            true => Ok(Kind::Folder),
            false => state.inode(path).map(|_| Kind::File),
        })
    }

    fn is_there(&self, path: &Path) -> io::Result<bool> {
        Ok(self.kind(path).is_ok())
    }

    fn read_link(&self, _path: &Path) -> io::Result<PathBuf> {
        Err(ErrorKind::InvalidInput.into())
    }

    fn copy_mode(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        run(self, false, |_| Ok(()))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        run(self, true, |state| {
            // A change that concerns the folder is durable, and so is what happened before it.
            let inside = |change: &Change| change.iter().any(|(path, _)| path.parent() == Some(folder));
            let Some(last) = state.unsynced.iter().rposition(inside) else { return Ok(()) };
            for (path, inode) in state.unsynced.drain(..=last).flatten() {
                match inode {
                    Some(inode) => drop(state.durable_names.insert(path, inode)),
                    None => drop(state.durable_names.remove(&path)),
                }
            }
            Ok(())
        })
    }

    fn lock_folder(&self, _folder: &Path) -> io::Result<Option<Box<dyn Any + Send>>> {
        run(self, false, |_| Ok(Some(Box::new(()) as Box<dyn Any + Send>)))
    }

    fn is_first_visit(&self, _folder: &Path) -> bool {
        true
    }
}

/// An open file of the disk.
#[derive(Debug)]
struct CrashFile {
    disk: CrashDisk,
    inode: u64,
    at: usize,
    /// Whether the file is open: its lock ends with it.
    open: Arc<AtomicBool>,
}

impl CrashFile {
    fn with<T>(&self, see: impl FnOnce(&mut Inode) -> T) -> io::Result<T> {
        let mut state = self.disk.state();
        state.inodes.get_mut(&self.inode).map(see).ok_or(ErrorKind::NotFound.into())
    }

    fn put(&mut self, bytes: &[u8], inode: &mut Inode) {
        let end = self.at + bytes.len();
        if inode.bytes.len() < end {
            inode.bytes.resize(end, 0);
        }
        inode.bytes[self.at..end].copy_from_slice(bytes);
        self.at = end;
    }
}

impl Drop for CrashFile {
    fn drop(&mut self) {
        self.open.store(false, SeqCst);
    }
}

impl Read for CrashFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let at = self.at;
        let n = self.with(|inode| {
            let left = inode.bytes.get(at..).unwrap_or_default();
            let n = left.len().min(to.len());
            to[..n].copy_from_slice(&left[..n]);
            n
        })?;
        self.at += n;
        Ok(n)
    }
}

impl Write for CrashFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let disk = self.disk.clone();
        let mut state = disk.state();
        let call = state.call(true)?;
        let mut inode = state.inodes.remove(&self.inode).ok_or(ErrorKind::NotFound)?;
        let part = if matches!(call, Call::Fail(_)) { &bytes[..bytes.len() / 2] } else { bytes };
        self.put(part, &mut inode);
        state.inodes.insert(self.inode, inode);
        match call {
            Call::Do => Ok(bytes.len()),
            Call::Fail(error) => Err(error),
            Call::DoAndDie => {
                state.dead = true;
                Err(dead())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for CrashFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at as usize,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by as isize),
            SeekFrom::End(by) => self.with(|inode| inode.bytes.len())?.saturating_add_signed(by as isize),
        };
        Ok(self.at as u64)
    }
}

impl DiskFile for CrashFile {
    fn kind(&self) -> io::Result<Kind> {
        Ok(Kind::File)
    }

    fn n_bytes(&self) -> io::Result<u64> {
        self.with(|inode| inode.bytes.len() as u64)
    }

    fn sync(&self) -> io::Result<()> {
        let own = self.inode;
        run(&self.disk, true, |state| {
            if let Some(inode) = state.inodes.get_mut(&own) {
                inode.durable.clone_from(&inode.bytes);
            }
            Ok(())
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let own = self.inode;
        run(&self.disk, false, |state| {
            if let Some(inode) = state.inodes.get_mut(&own) {
                inode.bytes.resize(len as usize, 0);
            }
            Ok(())
        })
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.disk.state();
        if state.locked.get(&self.inode).is_some_and(|open| open.load(SeqCst)) {
            return Ok(false);
        }
        state.locked.insert(self.inode, self.open.clone());
        Ok(true)
    }

    fn is_linked(&self) -> io::Result<bool> {
        Ok(self.disk.state().names.values().any(|inode| *inode == self.inode))
    }

    fn is_ready(&self, _to_write: bool, _wait: Duration) -> io::Result<bool> {
        Ok(true)
    }
}

/// What happened to an action: whether it returned without an error, the fault, and whether the process died.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub fine: bool,
    pub died: bool,
    pub what: String,
}

/// Runs `act` on a disk that `before` has prepared, for every call that `act` makes and every fault, and
/// shows what is then on the disk, in every state that it can be in, to `check`. Returns the number of
/// states.
pub fn every_fault<T, E>(
    folders: &[&str],
    before: impl Fn(&Files),
    act: impl Fn(&Files) -> Result<T, E>,
    check: impl Fn(&CrashDisk, &Outcome),
) -> usize {
    let fresh = || {
        let disk = CrashDisk::new(folders);
        before(&disk.files());
        disk.settle();
        disk
    };
    let disk = fresh();
    disk.arm(0, None);
    assert!(act(&disk.files()).is_ok(), "the action works on a disk without faults");
    let n_calls = disk.n_calls();
    let mut n_states = 0;
    for (at, fault) in (0..n_calls).flat_map(|at| FAULTS.map(|fault| (at, fault))) {
        let disk = fresh();
        disk.arm(at, Some(fault));
        let fine = act(&disk.files()).is_ok();
        let what = format!("{fault:?} at call {at} of {n_calls}");
        // Before `check` writes to the disk.
        let restarts = disk.restarts();
        if fault.kills() {
            assert!(!fine || disk.state().dead, "{what}: the fault has happened");
        } else {
            // The process lives on, and the disk is well again.
            disk.arm(0, None);
            check(&disk, &Outcome { fine, died: false, what: what.clone() });
            n_states += 1;
        }
        for (how, restarted) in restarts {
            check(&restarted, &Outcome { fine, died: true, what: format!("{what}, {how}") });
            n_states += 1;
        }
    }
    n_states
}
