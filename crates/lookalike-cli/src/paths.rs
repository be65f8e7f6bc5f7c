//! The source and the release of `verify` and `report`: those that were typed, else those of the
//! configuration. And paths as they are written into a configuration.

use std::path::{Component, Path, PathBuf};

use lookalike::{Request, Result};

use crate::request::usage;
use crate::show;

/// The release of `verify`, and its source if there is one to compare with.
#[derive(Debug)]
pub(crate) struct VerifyPaths {
    pub(crate) release: PathBuf,
    pub(crate) source: Option<PathBuf>,
    /// What the configuration decided, in words.
    pub(crate) said: Option<String>,
}

/// The tables of `verify`. The source of the configuration belongs to its own release: with a release
/// that was typed it is not used, which may be of other rows (`apply`).
pub(crate) fn of_verify(
    release: Option<&PathBuf>,
    source: Option<&PathBuf>,
    request: &Request,
) -> Result<VerifyPaths> {
    let typed = source.cloned();
    if let Some(release) = release {
        return Ok(VerifyPaths { release: release.clone(), source: typed, said: None });
    }
    let release = of_output(request, "verify RELEASE")?;
    if typed.is_some() {
        return Ok(VerifyPaths { release, source: typed, said: None });
    }
    let named = show::path(&release);
    let (source, said) = match request.input.path.as_deref() {
        Some(path) if path.is_file() => {
            let said = format!("{named} against {}, as in the configuration", show::path(path));
            (Some(path.to_path_buf()), said)
        }
        Some(path) if path != Path::new("-") => {
            let missing = show::path(path);
            (None, format!("{named} alone: the source {missing} of the configuration is not there"))
        }
        _ => (None, format!("{named} alone: the configuration names no file as the source")),
    };
    Ok(VerifyPaths { release, source, said: Some(said) })
}

/// The source and the release of `report`: both typed, or both of the configuration.
pub(crate) fn of_report(
    source: Option<&PathBuf>,
    release: Option<&PathBuf>,
    request: &Request,
) -> Result<(PathBuf, PathBuf)> {
    match (source, release) {
        (Some(source), Some(release)) => Ok((source.clone(), release.clone())),
        (Some(one), _) | (_, Some(one)) => Err(usage(format!(
            "only {} is named: name the source and the release, or neither, then both come from \
             the configuration",
            show::path(one)
        ))),
        (None, None) => {
            let release = of_output(request, "report SOURCE RELEASE")?;
            let source = request.input.path.as_deref().filter(|path| *path != Path::new("-"));
            let Some(source) = source else {
                return Err(usage(
                    "the configuration names no file as the source: add path to [input], or name \
                     both files, report SOURCE RELEASE",
                ));
            };
            if !source.is_file() {
                return Err(usage(format!(
                    "the source {} of the configuration is not there: name both files, report \
                     SOURCE RELEASE",
                    show::path(source)
                )));
            }
            Ok((source.to_path_buf(), release))
        }
    }
}

/// The proof of a release: the one that was typed, or that of the configuration, which belongs to its
/// own release.
pub(crate) fn of_proof(
    typed: Option<&PathBuf>,
    release: &Path,
    request: &Request,
) -> Option<PathBuf> {
    let is_own = request.output.path.as_deref() == Some(release);
    let kept = request.output.proof.as_ref().filter(|path| is_own && path.is_file());
    typed.or(kept).cloned()
}

/// The release that the configuration writes.
fn of_output(request: &Request, named: &str) -> Result<PathBuf> {
    match request.output.path.as_deref() {
        None => Err(usage(format!(
            "no release: name it, {named}, or give a configuration with path in [output] (-c FILE)"
        ))),
        Some(path) if path == Path::new("-") => Err(usage(format!(
            "the configuration writes the release to standard output: name the file, {named}"
        ))),
        Some(path) if !path.is_file() => Err(usage(format!(
            "the release {} of the configuration is not there: make it with lookalike anonymize, \
             or name another, {named}",
            show::path(path)
        ))),
        Some(path) => Ok(path.to_path_buf()),
    }
}

/// The path of a file as it is seen from the folder of a configuration.
pub(crate) fn seen_from(config: &Path, data: &Path) -> PathBuf {
    let is_stream = |path: &Path| path == Path::new("-");
    if is_stream(config) || is_stream(data) {
        return data.to_path_buf();
    }
    let folder = config.parent().unwrap_or(Path::new(""));
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or(path.to_path_buf());
    let from = absolute(if folder == Path::new("") { Path::new(".") } else { folder });
    let to = absolute(data);
    let (from, to): (Vec<Component>, Vec<Component>) =
        (from.components().collect(), to.components().collect());
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    // An absolute path stays one, unless the table lies below the configuration or beside it.
    let is_in_one_tree = shared == from.len() || (config.is_absolute() && shared > 1);
    if data.is_absolute() && !is_in_one_tree {
        return data.to_path_buf();
    }
    let up = from[shared..].iter().map(|_| Component::ParentDir);
    up.chain(to[shared..].iter().copied()).collect()
}
