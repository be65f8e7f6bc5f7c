//! Does a column look like the names of persons, or like free text, in which persons are named?

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_cast::cast;
use arrow_schema::DataType;

use crate::table::Column;

/// A column of texts with fewer values is a list of labels.
const MANY_VALUES: u64 = 200;

/// The form of so many cells is looked at.
const SAMPLE: usize = 1_000;

/// True for a column of texts that few rows share, most of which have several words: of `rows`
/// rows, `values` are different.
pub(super) fn looks_like_names(column: &Column, values: u64, rows: u64) -> bool {
    // At least one value for five rows: a list of labels has fewer.
    if values <= MANY_VALUES || values * 5 < rows {
        return false;
    }
    let texts = texts(column);
    let words = texts.iter().filter(|text| has_words(text)).count();
    !texts.is_empty() && words * 2 > texts.len()
}

/// At least two words that begin with a letter.
fn has_words(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).count() >= 2
}

/// The first cells of a column with a value, or its first values.
fn texts(column: &Column) -> Vec<String> {
    if let Some(coded) = &column.coded {
        return coded.values().iter().flatten().take(SAMPLE).cloned().collect();
    }
    let mut texts = Vec::new();
    for chunk in column.passthrough.iter().flatten() {
        let Ok(cells) = cast(&chunk.slice(0, chunk.len().min(SAMPLE)), &DataType::Utf8) else {
            return texts;
        };
        texts.extend(cells.as_string::<i32>().iter().flatten().map(String::from));
        if texts.len() >= SAMPLE {
            break;
        }
    }
    texts
}
