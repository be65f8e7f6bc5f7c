//! The codebook beside the release: `safe.codebook.json` and, where the caller has a page for it,
//! `safe.codebook.html`. Both get their names together with the release.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::release::codebook::Codebook;
use crate::request::Request;
use crate::table::{Access, Existing, FileType, Format, Pending};

use super::target::Target;
use super::{Product, Run};

/// Makes the page of a codebook.
pub type CodebookPage = fn(&Codebook) -> String;

/// The files of the codebook of a release: its name without the end that tells the format.
pub(super) fn paths(release: &Path, page: Option<CodebookPage>) -> Vec<PathBuf> {
    let name = release.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let ends = ["json"].into_iter().chain(page.map(|_| "html"));
    ends.map(|end| release.with_file_name(format!("{stem}.codebook.{end}"))).collect()
}

/// A codebook needs a release, and a file to lie beside.
pub(super) fn refuse(run: &Run, target: &Target, product: Product) -> Result<()> {
    if !run.request.output.codebook {
        return Ok(());
    }
    let why = match target {
        _ if product == Product::Plan => "a plan has no codebook, for it is not published",
        Target::File(path) if path == Path::new("-") => return Err(no_name()),
        Target::Sink(_) => "the codebook is written beside the file of a release, and here is none",
        Target::File(path) => {
            let mut files = paths(path, run.codebook_page).into_iter();
            return files.try_for_each(|path| Pending::beside(&path, run.existing).map(drop));
        }
        Target::Memory => return Ok(()),
    };
    Err(Error::request("no-codebook", format!("{why}: remove `codebook`")))
}

/// The error of a codebook beside standard output.
pub(super) fn no_name() -> Error {
    let reason = "the codebook is written beside the release, and standard output has no name: name \
                  a file for the release, or remove `codebook`";
    Error::request("no-codebook", reason)
}

/// Writes the files of the codebook, which have no names yet.
pub(super) fn pending(
    codebook: &Codebook,
    page: Option<CodebookPage>,
    release: &Path,
    existing: Existing,
) -> Result<Vec<Pending>> {
    let texts = [codebook.json()].into_iter().chain(page.map(|page| page(codebook)));
    paths(release, page)
        .into_iter()
        .zip(texts)
        .map(|(path, text)| {
            let pending = Pending::with_access(&path, existing, Access::Usual)?;
            let mut file = pending.file()?;
            file.write_all(text.as_bytes()).map_err(|source| Error::io(&path, source))?;
            Ok(pending)
        })
        .collect()
}

/// The codebook of a release in this file.
pub(super) fn of_file(
    codebook: Codebook,
    path: &Path,
    file_type: FileType,
    request: &Request,
) -> Codebook {
    let raw_formulas = request.output.raw_formulas;
    let is_text = matches!(file_type.format, Format::Csv { .. });
    let codebook = match file_type.format {
        Format::Csv(dialect) => codebook.in_text(char::from(dialect.delimiter), request),
        Format::Parquet | Format::Arrow => codebook,
    };
    let release = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let codebook = if is_text && !raw_formulas { codebook.guarded() } else { codebook };
    Codebook { release, ..codebook }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codebook_has_the_name_of_the_release_without_its_format() {
        let page: CodebookPage = |_| String::new();
        for (release, stem) in [
            ("safe.csv", "safe"),
            ("a/b.2024.csv.gz", "a/b.2024"),
            ("/x/safe.tsv.zst", "/x/safe"),
            ("safe.parquet", "safe"),
        ] {
            let [json, html] = &paths(Path::new(release), Some(page))[..] else { panic!() };
            assert_eq!(json, Path::new(&format!("{stem}.codebook.json")));
            assert_eq!(html, Path::new(&format!("{stem}.codebook.html")));
            assert_eq!(paths(Path::new(release), None), std::slice::from_ref(json));
        }
    }
}
