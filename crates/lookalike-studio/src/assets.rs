//! The files of the page. They are part of the program: nothing is loaded from elsewhere.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// Address, type and text of each file.
const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("../page/index.html")),
    ("/app.css", STYLE, include_str!("../page/app.css")),
    ("/app.js", SCRIPT, include_str!("../page/app.js")),
    ("/icon.svg", PICTURE, include_str!("../page/icon.svg")),
    ("/lib/api.js", SCRIPT, include_str!("../page/lib/api.js")),
    ("/lib/charts.js", SCRIPT, include_str!("../page/lib/charts.js")),
    ("/lib/dom.js", SCRIPT, include_str!("../page/lib/dom.js")),
    ("/lib/format.js", SCRIPT, include_str!("../page/lib/format.js")),
    ("/lib/jobs.js", SCRIPT, include_str!("../page/lib/jobs.js")),
    ("/lib/store.js", SCRIPT, include_str!("../page/lib/store.js")),
    ("/lib/ui.js", SCRIPT, include_str!("../page/lib/ui.js")),
    ("/lib/words.js", SCRIPT, include_str!("../page/lib/words.js")),
    ("/screens/choose.js", SCRIPT, include_str!("../page/screens/choose.js")),
    ("/screens/columns.js", SCRIPT, include_str!("../page/screens/columns.js")),
    ("/screens/hierarchies.js", SCRIPT, include_str!("../page/screens/hierarchies.js")),
    ("/screens/release.js", SCRIPT, include_str!("../page/screens/release.js")),
    ("/screens/result.js", SCRIPT, include_str!("../page/screens/result.js")),
    ("/screens/rules.js", SCRIPT, include_str!("../page/screens/rules.js")),
    ("/screens/search.js", SCRIPT, include_str!("../page/screens/search.js")),
];

pub(crate) fn file(path: &str) -> Response {
    match FILES.iter().find(|(address, ..)| *address == path) {
        Some((_, kind, text)) => ([(CONTENT_TYPE, *kind)], *text).into_response(),
        None => Failure::not_found("there is no such page").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every file of the folder, with its address.
    fn files(folder: &std::path::Path, at: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = format!("{at}/{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => files(&entry.path(), &name, found),
                false => found.push(name),
            }
        }
    }

    #[test]
    fn every_file_of_the_page_is_part_of_the_program_and_loads_nothing_from_elsewhere() {
        let mut found = Vec::new();
        files(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page"), "", &mut found);
        for name in found {
            let address = if name == "/index.html" { "/" } else { &name };
            let text = FILES.iter().find(|(known, ..)| *known == address).map(|(.., text)| text);
            let text = text.unwrap_or_else(|| panic!("{name} is not in the list"));
            // Names of namespaces, and the form of our own address.
            let own = ["http://www.w3.org/", "http://127.0.0.1"];
            let text = own.iter().fold((*text).to_string(), |text, own| text.replace(own, ""));
            let outside = ["https://", "http://", ".innerHTML", " eval("];
            let used = outside.iter().filter(|word| text.contains(**word));
            assert_eq!(used.count(), 0, "{name}");
        }
    }
}
