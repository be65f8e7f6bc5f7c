//! A file that is written but not yet published: killed at any moment, there is either no file or a
//! verified one.
//!
//! Until it is published only its owner can read it. A register knows every such file and every one
//! that was published, so that whoever ends the program at once ([`give_up`]) leaves nothing behind
//! and can say truly what was written.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempDir};

use super::leftover::{self, leftovers};
use crate::error::{Error, Hint, Result};

/// A file that nobody knows of until [`publish`](Pending::publish); dropping it removes it.
#[derive(Debug)]
pub struct Pending(PendingFile);

#[derive(Debug)]
enum PendingFile {
    /// In the target's own folder, so that publishing is one rename.
    Beside {
        temp: NamedTempFile,
        waiting: Waiting,
        target: PathBuf,
        existing: Existing,
        access: Access,
    },
    /// For standard output: in a folder that only its owner can enter.
    Private { file: PathBuf, folder: TempDir, waiting: Waiting },
}

/// The fate of a file that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is refused.
    Keep,
    /// The new one takes its place.
    Overwrite,
}

impl Existing {
    /// By a flag such as `--force`.
    pub fn overwrite_if(is_forced: bool) -> Existing {
        if is_forced { Existing::Overwrite } else { Existing::Keep }
    }
}

/// Who can read a file once it is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As any new file; in the place of another file, nobody who could not read that one.
    Usual,
    /// Its owner alone: it is as secret as the table.
    Owner,
}

/// The files that this program has written so far: published, or waiting to be.
#[derive(Debug, Default)]
struct Register {
    waiting: Vec<PathBuf>,
    published: Vec<PathBuf>,
    stream: StdoutState,
    /// Folders that were searched for files of killed runs.
    searched: Vec<PathBuf>,
    /// What was found there.
    left: Vec<PathBuf>,
}

/// How much of a file standard output has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StdoutState {
    /// Nothing.
    #[default]
    Nothing,
    /// Possibly a part.
    Part,
    /// All of it.
    Whole,
}

/// The complete files at the moment when the program gave up.
#[derive(Debug)]
pub struct PublishedFiles {
    /// Files that are complete, under the names that were asked for.
    pub files: Vec<PathBuf>,
    /// Standard output.
    pub stream: StdoutState,
}

fn register() -> MutexGuard<'static, Register> {
    static REGISTER: Mutex<Register> = Mutex::new(Register {
        waiting: Vec::new(),
        published: Vec::new(),
        stream: StdoutState::Nothing,
        searched: Vec::new(),
        left: Vec::new(),
    });
    REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file that is not published, and keeps any from being published or made from now
/// on: only for whoever ends the program right after. Waits for a publication that has begun.
pub fn give_up() -> PublishedFiles {
    let mut register = register();
    for file in &register.waiting {
        // A file, or the folder in which one waits for standard output.
        let _ = if file.is_dir() { fs::remove_dir_all(file) } else { fs::remove_file(file) };
    }
    let written =
        PublishedFiles { files: std::mem::take(&mut register.published), stream: register.stream };
    std::mem::forget(register);
    written
}

/// The files that killed runs left in the folders into which this program writes; each is named
/// once. They are not verified, and nobody removes them but their owner.
pub fn take_leftovers() -> Vec<PathBuf> {
    std::mem::take(&mut register().left)
}

/// Says something while no other thread can end the program: last words come last. Where another
/// thread has called [`give_up`] and is about to end the program, it does not come back: what fails
/// because files are gone is no error of its own.
pub fn undisturbed<T>(say: impl FnOnce() -> T) -> T {
    let _register = register();
    say()
}

/// Writes to standard output such that the register knows of it.
///
/// # Errors
/// When the system refuses.
pub fn to_stream(
    write: impl FnOnce(&mut io::StdoutLock<'static>) -> io::Result<()>,
) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    register().stream = StdoutState::Part;
    write(&mut stdout).and_then(|()| stdout.flush())?;
    register().stream = StdoutState::Whole;
    Ok(())
}

/// An entry of the register; it goes when the file does.
#[derive(Debug)]
struct Waiting(Option<PathBuf>);

impl Waiting {
    fn new(register: &mut Register, path: &Path) -> Waiting {
        register.waiting.push(path.to_path_buf());
        Waiting(Some(path.to_path_buf()))
    }

    fn end(&mut self, register: &mut Register) {
        if let Some(path) = self.0.take() {
            register.waiting.retain(|other| *other != path);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.0.is_some() {
            self.end(&mut register());
        }
    }
}

impl Pending {
    /// Makes the empty file; `-` is standard output.
    ///
    /// # Errors
    /// When the target exists and is to be kept, is no regular file, or its folder does not
    /// allow a new file.
    pub fn beside(target: &Path, existing: Existing) -> Result<Pending> {
        Pending::with_access(target, existing, Access::Usual)
    }

    /// The same, for whoever may read it in the end.
    ///
    /// # Errors
    /// As [`beside`](Pending::beside).
    pub fn with_access(target: &Path, existing: Existing, access: Access) -> Result<Pending> {
        // From here to the entry nobody can end the program and miss the file.
        let mut register = register();
        if target == Path::new("-") {
            let folder = private_folder().map_err(|source| Error::io(target, source))?;
            let file = folder.path().join("release");
            new_file(&file, 0o600).map_err(|source| Error::io(&file, source))?;
            // Nothing may fail between the entry and the end of the lock, which the entry would
            // wait for.
            let waiting = Waiting::new(&mut register, folder.path());
            drop(register);
            return Ok(Pending(PendingFile::Private { file, folder, waiting }));
        }
        let mut real = target.to_path_buf();
        if fs::symlink_metadata(target).is_ok() {
            match fs::metadata(target) {
                Ok(about) if about.is_dir() => {
                    return Err(Error::request(
                        "output-is-a-folder",
                        format!("{} is a folder: add a file name", target.display()),
                    )
                    .about_file(target));
                }
                // Renaming over a device would replace it.
                Ok(about) if !about.is_file() => {
                    return Err(Error::request(
                        "output-not-a-file",
                        format!(
                            "{} is no regular file: use - for standard output",
                            target.display()
                        ),
                    )
                    .about_file(target));
                }
                _ if existing == Existing::Keep => return Err(exists(target)),
                _ => real = real_place(target).unwrap_or(real),
            }
        }
        let folder = folder_of(&real);
        if !folder.is_dir() {
            let why = format!("there is no folder {}: make it first", folder.display());
            return Err(Error::io(target, io::Error::new(ErrorKind::NotFound, why)));
        }
        if !register.searched.iter().any(|searched| searched == folder) {
            register.searched.push(folder.to_path_buf());
            register.left.extend(leftovers(folder));
        }
        // Only its owner can read a new temporary file.
        let temp = tempfile::Builder::new().prefix(leftover::PREFIX).tempfile_in(folder);
        let temp = temp.map_err(|source| Error::io(target, source.kind().into()))?;
        leftover::mark(temp.as_file());
        let waiting = Waiting::new(&mut register, temp.path());
        drop(register);
        Ok(Pending(PendingFile::Beside { temp, waiting, target: real, existing, access }))
    }

    /// A handle to write through; the file is emptied.
    ///
    /// # Errors
    /// When the system refuses to open it again.
    pub fn file(&self) -> Result<File> {
        let opened = match &self.0 {
            PendingFile::Beside { temp, .. } => temp.reopen(),
            PendingFile::Private { file, .. } => File::options().read(true).write(true).open(file),
        };
        opened
            .and_then(|file| file.set_len(0).map(|()| file))
            .map_err(|source| Error::io(self.path(), source))
    }

    /// Where it lies for now, to be read back.
    pub fn path(&self) -> &Path {
        match &self.0 {
            PendingFile::Beside { temp, .. } => temp.path(),
            PendingFile::Private { file, .. } => file,
        }
    }

    /// Puts the file where it was asked for: renames it over the target, or copies it to standard
    /// output.
    ///
    /// # Errors
    /// When a file of that name has appeared meanwhile and is to be kept, or the system
    /// refuses. Then nothing is published; only standard output may have got a part. The message
    /// says so where the file is there all the same.
    pub fn publish(self) -> Result<()> {
        match self.0 {
            // What is bound first is dropped last: a file is gone before the register forgets it.
            PendingFile::Beside { mut waiting, temp, target, existing, access } => {
                let failed = |source| Error::io(&target, source);
                temp.as_file().sync_all().map_err(failed)?;
                // Whoever wants to end the program waits until it is sure what is there.
                let mut register = register();
                allow(temp.as_file(), access, &target).map_err(failed)?;
                let moved = match existing {
                    Existing::Keep => temp.persist_noclobber(&target),
                    Existing::Overwrite => temp.persist(&target),
                };
                moved.map_err(|refused| match refused.error.kind() {
                    ErrorKind::AlreadyExists => exists(&target),
                    _ => failed(refused.error),
                })?;
                waiting.end(&mut register);
                register.published.push(target.clone());
                sync_folder(folder_of(&target)).map_err(|source| {
                    let why =
                        format!("the file is written, but may be gone after a power cut: its folder cannot be synced: {source}");
                    failed(io::Error::new(source.kind(), why))
                })
            }
            PendingFile::Private { mut waiting, folder, file } => {
                let failed = |source| Error::io(Path::new("-"), source);
                let mut source = File::open(&file).map_err(failed)?;
                to_stream(|stdout| io::copy(&mut source, stdout).map(|_| ())).map_err(failed)?;
                // All was written: what cannot be removed now is no error of the release.
                let _ = folder.close();
                waiting.end(&mut register());
                Ok(())
            }
        }
    }
}

/// Writes a text: the whole file or nothing. `-` is standard output.
///
/// # Errors
/// [`Request`](crate::ErrorKind::Request) when the file exists and must be kept,
/// [`Io`](crate::ErrorKind::Io) when it cannot be written.
pub fn write_text(path: &Path, existing: Existing, access: Access, text: &str) -> Result<()> {
    let pending = Pending::with_access(path, existing, access)?;
    pending.file()?.write_all(text.as_bytes()).map_err(|source| Error::io(path, source))?;
    pending.publish()
}

/// Where a file will be, whether or not it is there: through a link, the file that it points to; a
/// link to nothing is itself replaced.
///
/// None when its folder does not exist.
pub fn real_place(path: &Path) -> Option<PathBuf> {
    let itself = || Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(itself)
}

/// A folder that only its owner can enter.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("lookalike-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// An empty file with these rights, less those that the system takes away from any new file.
fn new_file(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

/// Lets those read a file who may read it in the place of its target.
#[cfg(unix)]
fn allow(file: &File, access: Access, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).map(|about| about.permissions().mode() & 0o777);
    let usual = || -> io::Result<u32> {
        // The system alone knows what it takes away from a new file. Linux says it; elsewhere here
        // is one, where nobody else can see it.
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        if let Some(mask) = mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()) {
            return Ok(0o666 & !mask);
        }
        let folder = private_folder()?;
        let new = folder.path().join("new");
        new_file(&new, 0o666)?;
        mode(&new)
    };
    let allowed = match access {
        Access::Owner => 0o600,
        Access::Usual => usual().unwrap_or(0o600) & mode(target).unwrap_or(0o777),
    };
    file.set_permissions(fs::Permissions::from_mode(allowed))
}

#[cfg(not(unix))]
fn allow(_: &File, _: Access, _: &Path) -> io::Result<()> {
    Ok(())
}

fn exists(target: &Path) -> Error {
    Error::request("file-exists", format!("{} exists", target.display()))
        .about_file(target)
        .hint(Hint::plain("choose another name"))
        .hint(Hint::Overwrite)
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Without this a power cut after the rename could bring the old name back.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems cannot sync a folder, and some folders may be written but not
        // read.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::ErrorKind as Kind;

    fn files(folder: &TempDir) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn fill(pending: &Pending, text: &str) {
        pending.file().unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_dropped_release_leaves_nothing() {
        let folder = TempDir::new().unwrap();
        let pending = Pending::beside(&folder.path().join("out.csv"), Existing::Keep).unwrap();
        fill(&pending, "a\n");
        assert_eq!(files(&folder).len(), 1);
        assert_eq!(fs::read_to_string(pending.path()).unwrap(), "a\n");
        drop(pending);
        assert!(files(&folder).is_empty());

        let private = Pending::beside(Path::new("-"), Existing::Keep).unwrap();
        fill(&private, "a\n");
        let place = private.path().to_path_buf();
        assert!(place.exists());
        drop(private);
        assert!(!place.exists() && !place.parent().unwrap().exists());
    }

    #[test]
    fn publishing_shows_the_last_text_written_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out.csv");
        let pending = Pending::beside(&target, Existing::Keep).unwrap();
        fill(&pending, "a longer first try\n");
        fill(&pending, "second\n");
        assert!(!target.exists());
        pending.publish().unwrap();
        assert_eq!(files(&folder), ["out.csv"]);
        assert_eq!(fs::read_to_string(target).unwrap(), "second\n");
    }

    #[test]
    fn an_existing_target_needs_force() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out.csv");
        fs::write(&target, "old\n").unwrap();
        let error = Pending::beside(&target, Existing::Keep).unwrap_err();
        assert!(
            error.kind() == Kind::Request
                && error.code() == "file-exists"
                && error.hints().contains(&Hint::Overwrite)
        );
        let pending = Pending::beside(&target, Existing::Overwrite).unwrap();
        fill(&pending, "new\n");
        assert_eq!(fs::read_to_string(&target).unwrap(), "old\n");
        pending.publish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new\n");
    }

    #[test]
    fn a_file_that_appeared_meanwhile_is_not_overwritten() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out.csv");
        let pending = Pending::beside(&target, Existing::Keep).unwrap();
        fill(&pending, "ours\n");
        fs::write(&target, "theirs\n").unwrap();
        let error = pending.publish().unwrap_err();
        assert!(matches!(error.kind(), Kind::Request), "{error}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "theirs\n");
        assert_eq!(files(&folder), ["out.csv"]);
    }

    #[cfg(unix)]
    #[test]
    fn through_a_link_the_file_it_points_to_is_replaced() {
        let folder = TempDir::new().unwrap();
        let elsewhere = TempDir::new().unwrap();
        let real = elsewhere.path().join("real.csv");
        fs::write(&real, "old\n").unwrap();
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let pending = Pending::beside(&link, Existing::Overwrite).unwrap();
        fill(&pending, "new\n");
        pending.publish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_also_needs_force() {
        let folder = TempDir::new().unwrap();
        let link = folder.path().join("link.csv");
        std::os::unix::fs::symlink(folder.path().join("gone.csv"), &link).unwrap();
        assert!(matches!(
            Pending::beside(&link, Existing::Keep).unwrap_err().kind(),
            Kind::Request
        ));
        let pending = Pending::beside(&link, Existing::Overwrite).unwrap();
        fill(&pending, "new\n");
        pending.publish().unwrap();
        assert_eq!(fs::read_to_string(&link).unwrap(), "new\n");
    }

    #[test]
    fn folders_devices_and_missing_folders_are_refused() {
        let folder = TempDir::new().unwrap();
        assert!(matches!(
            Pending::beside(folder.path(), Existing::Overwrite).unwrap_err().kind(),
            Kind::Request
        ));
        assert!(matches!(
            Pending::beside(&folder.path().join("no/out.csv"), Existing::Keep).unwrap_err().kind(),
            Kind::Io
        ));
        #[cfg(unix)]
        assert!(matches!(
            Pending::beside(Path::new("/dev/null"), Existing::Overwrite).unwrap_err().kind(),
            Kind::Request
        ));
    }

    #[cfg(unix)]
    #[test]
    fn the_release_has_the_rights_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let (ours, other) = (folder.path().join("out.csv"), folder.path().join("other.csv"));
        Pending::beside(&ours, Existing::Keep).unwrap().publish().unwrap();
        File::create(&other).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&ours), mode(&other));
    }

    #[cfg(unix)]
    #[test]
    fn what_waits_is_its_owners_alone_and_what_replaces_a_file_is_no_more_open_than_that_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let target = folder.path().join("out.csv");
        let pending = Pending::beside(&target, Existing::Keep).unwrap();
        assert_eq!(mode(pending.path()), 0o600);
        pending.publish().unwrap();
        for (before, after) in
            [(0o600, 0o600), (0o640, 0o640), (0o400, 0o400), (0o777, mode(&target))]
        {
            fs::set_permissions(&target, fs::Permissions::from_mode(before)).unwrap();
            Pending::beside(&target, Existing::Overwrite).unwrap().publish().unwrap();
            assert_eq!(mode(&target), after, "{before:o}");
        }
        fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).unwrap();
        Pending::with_access(&target, Existing::Overwrite, Access::Owner)
            .unwrap()
            .publish()
            .unwrap();
        assert_eq!(mode(&target), 0o600);
        let private = Pending::beside(Path::new("-"), Existing::Keep).unwrap();
        assert_eq!((mode(private.path().parent().unwrap()), mode(private.path())), (0o700, 0o600));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_a_killed_run_is_named_once_and_one_of_a_run_that_is_alive_is_not() {
        let folder = TempDir::new().unwrap();
        let (target, old) =
            (folder.path().join("out.csv"), std::time::SystemTime::now() - Duration::from_secs(60));
        let file = |name: &str| {
            let path = folder.path().join(name);
            File::create(&path).unwrap().set_modified(old).unwrap();
            path
        };
        let (left, _other) = (file(".lookalike-left"), file("lookalike-other"));
        let alive = file(".lookalike-alive");
        let lock = File::open(&alive).unwrap();
        lock.lock().unwrap();
        // However slow this test is, this file stays young.
        let young = File::create(folder.path().join(".lookalike-young")).unwrap();
        young.set_modified(std::time::SystemTime::now() + Duration::from_secs(3_600)).unwrap();
        std::os::unix::fs::symlink(&left, folder.path().join(".lookalike-link")).unwrap();
        fs::create_dir(folder.path().join(".lookalike-folder")).unwrap();
        let here = || {
            let left = take_leftovers().into_iter();
            left.filter(|path| path.starts_with(folder.path())).collect::<Vec<_>>()
        };
        // Other tests take what was found too: search the folder itself.
        let only = std::slice::from_ref(&left);
        assert_eq!(leftovers(folder.path()), only);
        let pending = Pending::beside(&target, Existing::Keep).unwrap();
        pending.file().unwrap().set_modified(old).unwrap();
        assert_eq!(here(), only);
        assert_eq!(leftovers(folder.path()), only, "what waits here is alive");
        drop(Pending::beside(&target, Existing::Keep).unwrap());
        assert!(here().is_empty(), "named once");
        drop(lock);
        assert_eq!(leftovers(folder.path()), [alive, left.clone()]);
    }

    #[test]
    fn the_register_knows_what_waits_and_what_was_published() {
        let folder = TempDir::new().unwrap();
        let [one, other] = ["one.csv", "other.csv"].map(|name| folder.path().join(name));
        let of =
            |paths: &[PathBuf]| paths.iter().filter(|path| path.starts_with(folder.path())).count();
        let known = || {
            let register = register();
            (of(&register.waiting), of(&register.published))
        };
        let (first, second) = (
            Pending::beside(&one, Existing::Keep).unwrap(),
            Pending::beside(&other, Existing::Keep).unwrap(),
        );
        assert_eq!(known(), (2, 0));
        drop(second);
        assert_eq!(known(), (1, 0));
        first.publish().unwrap();
        assert_eq!(known(), (0, 1));
        let late = Pending::beside(&other, Existing::Keep).unwrap();
        fs::write(&other, "theirs").unwrap();
        assert!(late.publish().is_err());
        assert_eq!(known(), (0, 1));
    }
}
