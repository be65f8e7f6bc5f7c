//! Texts that commonly mean "missing".

/// Texts that commonly stand where a value is missing, in any case and with blanks around them. None
/// of them shows who a person is, so messages may name them.
pub const MISSING_TEXTS: [&str; 42] = [
    "NA",
    "N/A",
    "n.a.",
    "#N/A",
    "#NA",
    "NaN",
    "NULL",
    "None",
    "nil",
    "missing",
    "unknown",
    "?",
    "??",
    "-",
    "--",
    "---",
    ".",
    "..",
    "(null)",
    "<NA>",
    "<null>",
    "not available",
    "not known",
    "k.A.",
    "k. A.",
    "keine Angabe",
    "unbekannt",
    "fehlt",
    "inconnu",
    "desconocido",
    "sconosciuto",
    "onbekend",
    "brak danych",
    "leer",
    "leeg",
    "vide",
    "vacio",
    "vuoto",
    "vazio",
    "puste",
    "blank",
    "empty",
];

/// Which of the texts are common ones for missing, as they are written, each once.
pub fn missing_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> =
        texts.into_iter().map(str::trim).filter(|text| is_missing(text)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// True for a text that commonly means "missing".
pub fn is_missing(text: &str) -> bool {
    let text = text.trim();
    // Most texts that are asked for are numbers. The longest of the list has fourteen bytes.
    text.len() <= 14
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && MISSING_TEXTS.iter().any(|known| known.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_found_in_any_case_and_numbers_are_not() {
        for known in MISSING_TEXTS {
            assert!(known.is_ascii() && known.len() <= 14, "{known}");
            assert!(is_missing(&format!(" {} ", known.to_uppercase())), "{known}");
        }
        assert_eq!(missing_texts(["5", "na", "x", " NA ", "na", "-5"]), ["NA", "na"]);
    }
}
