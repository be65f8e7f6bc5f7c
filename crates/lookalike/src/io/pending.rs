//! A release that is written but not yet published: killed at any moment, there is either no file or a verified one.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::{Error, Result};

/// A file that nobody knows of until [`publish`](Pending::publish); dropping it removes it.
#[derive(Debug)]
pub struct Pending(Kind);

#[derive(Debug)]
enum Kind {
    /// In the target's own folder, so that publishing is one rename.
    Beside { temp: NamedTempFile, target: PathBuf, force: bool },
    /// For standard output: in a folder that only its owner can enter.
    Private { file: PathBuf, folder: TempDir },
}

impl Pending {
    /// Makes the empty file; `-` is standard output.
    ///
    /// # Errors
    /// When the target exists and `force` is false, is no regular file, or its folder does not allow a new file.
    pub fn beside(target: &Path, force: bool) -> Result<Pending> {
        if target == Path::new("-") {
            let folder = tempfile::Builder::new().prefix("lookalike-").tempdir().map_err(|source| Error::io(target, source))?;
            let file = folder.path().join("release");
            File::create(&file).map_err(|source| Error::io(&file, source))?;
            return Ok(Pending(Kind::Private { file, folder }));
        }
        let mut real = target.to_path_buf();
        if fs::symlink_metadata(target).is_ok() {
            match fs::metadata(target) {
                Ok(about) if about.is_dir() => {
                    return Err(Error::config(format!("{} is a folder: add a file name", target.display())));
                }
                // Renaming over a device would replace it.
                Ok(about) if !about.is_file() => {
                    return Err(Error::config(format!("{} is no regular file: use - for standard output", target.display())));
                }
                _ if !force => return Err(exists(target)),
                // Through a link, what it points to is replaced; a link to nothing is replaced itself.
                _ => real = fs::canonicalize(target).unwrap_or(real),
            }
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lookalike-");
        // The release shall have the rights of any new file, not those of a temporary one; the umask has the last word.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temp = builder.tempfile_in(folder_of(&real)).map_err(|source| Error::io(target, source))?;
        Ok(Pending(Kind::Beside { temp, target: real, force }))
    }

    /// A handle to write through; the file is emptied.
    ///
    /// # Errors
    /// When the system refuses to open it again.
    pub fn file(&self) -> Result<File> {
        let opened = match &self.0 {
            Kind::Beside { temp, .. } => temp.reopen(),
            Kind::Private { file, .. } => File::options().read(true).write(true).open(file),
        };
        opened.and_then(|file| file.set_len(0).map(|()| file)).map_err(|source| Error::io(self.path(), source))
    }

    /// Where it lies for now, to be read back.
    pub fn path(&self) -> &Path {
        match &self.0 {
            Kind::Beside { temp, .. } => temp.path(),
            Kind::Private { file, .. } => file,
        }
    }

    /// Puts the file where it was asked for: renames it over the target, or copies it to standard output.
    ///
    /// # Errors
    /// When a file of that name has appeared meanwhile and `force` was false, or the system refuses. Then nothing is published; only
    /// standard output may have got a part.
    pub fn publish(self) -> Result<()> {
        match self.0 {
            Kind::Beside { temp, target, force } => {
                let failed = |source| Error::io(&target, source);
                temp.as_file().sync_all().map_err(failed)?;
                let moved = if force { temp.persist(&target) } else { temp.persist_noclobber(&target) };
                moved.map_err(|refused| match refused.error.kind() {
                    ErrorKind::AlreadyExists => exists(&target),
                    _ => failed(refused.error),
                })?;
                sync_folder(folder_of(&target)).map_err(failed)
            }
            Kind::Private { file, folder } => {
                let failed = |source| Error::io(Path::new("-"), source);
                let mut stdout = io::stdout().lock();
                io::copy(&mut File::open(&file).map_err(failed)?, &mut stdout).map_err(failed)?;
                stdout.flush().map_err(failed)?;
                folder.close().map_err(failed)
            }
        }
    }
}

fn exists(target: &Path) -> Error {
    Error::config(format!("{} exists: choose another name or add --force", target.display()))
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
        // Some network file systems cannot sync a folder, and some folders may be written but not read.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied) => {
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
    use super::*;
    use crate::error::ErrorKind as Kind;

    fn files(folder: &TempDir) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn fill(pending: &Pending, text: &str) {
        pending.file().unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_dropped_release_leaves_nothing() {
        let folder = TempDir::new().unwrap();
        let pending = Pending::beside(&folder.path().join("out.csv"), false).unwrap();
        fill(&pending, "a\n");
        assert_eq!(files(&folder).len(), 1);
        assert_eq!(fs::read_to_string(pending.path()).unwrap(), "a\n");
        drop(pending);
        assert!(files(&folder).is_empty());

        let private = Pending::beside(Path::new("-"), false).unwrap();
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
        let pending = Pending::beside(&target, false).unwrap();
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
        let error = Pending::beside(&target, false).unwrap_err();
        assert!(matches!(error.kind(), Kind::Config { .. }) && error.to_string().ends_with("choose another name or add --force"));
        let pending = Pending::beside(&target, true).unwrap();
        fill(&pending, "new\n");
        assert_eq!(fs::read_to_string(&target).unwrap(), "old\n");
        pending.publish().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new\n");
    }

    #[test]
    fn a_file_that_appeared_meanwhile_is_not_overwritten() {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("out.csv");
        let pending = Pending::beside(&target, false).unwrap();
        fill(&pending, "ours\n");
        fs::write(&target, "theirs\n").unwrap();
        let error = pending.publish().unwrap_err();
        assert!(matches!(error.kind(), Kind::Config { .. }), "{error}");
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
        let pending = Pending::beside(&link, true).unwrap();
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
        assert!(matches!(Pending::beside(&link, false).unwrap_err().kind(), Kind::Config { .. }));
        let pending = Pending::beside(&link, true).unwrap();
        fill(&pending, "new\n");
        pending.publish().unwrap();
        assert_eq!(fs::read_to_string(&link).unwrap(), "new\n");
    }

    #[test]
    fn folders_devices_and_missing_folders_are_refused() {
        let folder = TempDir::new().unwrap();
        assert!(matches!(Pending::beside(folder.path(), true).unwrap_err().kind(), Kind::Config { .. }));
        assert!(matches!(Pending::beside(&folder.path().join("no/out.csv"), false).unwrap_err().kind(), Kind::Io { .. }));
        #[cfg(unix)]
        assert!(matches!(Pending::beside(Path::new("/dev/null"), true).unwrap_err().kind(), Kind::Config { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn the_release_has_the_rights_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let (ours, other) = (folder.path().join("out.csv"), folder.path().join("other.csv"));
        Pending::beside(&ours, false).unwrap().publish().unwrap();
        File::create(&other).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }
}
