//! Output: messages, results, tables in plain text.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub(crate) use lookalike::numbers::{count, counted, decimal, penalty, percent, seconds};
use lookalike::{Error, Result};
use unicode_width::UnicodeWidthStr;

/// Writes a line to standard error. A closed standard error is no reason to stop.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", clean(line));
}

/// Writes an error message.
pub(crate) fn error(why: &str) {
    say(&format!("error: {why}"));
}

/// Writes a warning; the program goes on.
pub(crate) fn warning(what: &str) {
    say(&format!("warning: {what}"));
}

/// The message for a bug of this program.
pub(crate) fn bug(what: &str) -> String {
    format!("this is a bug in lookalike: {what}; please report it with the command that you ran")
}

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let written = lookalike::table::to_stream(|stdout| stdout.write_all(text.as_bytes()));
    written.map_err(|source| Error::io("-", source))
}

/// The exit code of a command after its result was printed. A negative verdict stands even when it
/// could not be printed, and a closed pipe is no error; but a command whose result is lost does not
/// succeed.
pub(crate) fn verdict(printed: Result<()>, code: u8) -> Result<ExitCode> {
    match printed {
        Err(why) if code != 0 && !why.is_closed_output() => error(&crate::hints::error(&why)),
        Err(why) if code == 0 && !why.is_closed_output() => return Err(why),
        _ => {}
    }
    Ok(ExitCode::from(code))
}

/// Writes a JSON object to standard output.
pub(crate) fn json(object: &serde_json::Value) -> Result<()> {
    print(&format!("{object:#}\n"))
}

/// The text without control characters, which could change the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// No column of text is made narrower than this.
const NARROWEST: usize = 12;

/// Columns of equal width, with two spaces between. A leading `>` in a head aligns its column to
/// the right. On a terminal that is narrower, heads and the widest texts have several lines; a file
/// and a pipe have a line for each row.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    table_within(heads, rows, terminal.map_or(usize::MAX, |(width, _)| usize::from(width.0)))
}

/// A table of at most this width, where its texts can be broken; numbers never are.
fn table_within(heads: &[&str], rows: &[Vec<String>], most: usize) -> String {
    let aligns: Vec<Align> = heads
        .iter()
        .map(|head| if head.starts_with('>') { Align::Right } else { Align::Left })
        .collect();
    let heads: Vec<String> =
        heads.iter().map(|head| head.trim_start_matches('>').to_string()).collect();
    let cell = |text: &String| clean(text).replace('\n', "\u{fffd}");
    let lines: Vec<Vec<String>> =
        std::iter::once(&heads).chain(rows).map(|row| row.iter().map(cell).collect()).collect();
    let widths = widths(&lines, &aligns, most);
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells: Vec<Vec<String>> =
            line.iter().zip(&widths).map(|(cell, &width)| broken(cell, width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let mut padded = String::new();
            for ((cell, &width), &align) in cells.iter().zip(&widths).zip(&aligns) {
                // The last line of a head stands on its column.
                let above = if number == 0 { height - cell.len() } else { 0 };
                let part = at.checked_sub(above).and_then(|at| cell.get(at));
                padded.push_str(&pad(part.map_or("", String::as_str), width, align));
                padded.push_str("  ");
            }
            text.push_str(padded.trim_end());
            text.push('\n');
        }
    }
    text
}

/// The width of each column, so that the table fits: heads are broken first, then the
/// widest column of text, then the next.
fn widths(lines: &[Vec<String>], aligns: &[Align], most: usize) -> Vec<usize> {
    let widest = |column: usize, from: usize| {
        lines[from..].iter().map(|line| width(&line[column])).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..aligns.len()).map(|column| widest(column, 0)).collect();
    let excess = |widths: &[usize]| {
        (widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)).saturating_sub(most)
    };
    if excess(&widths) > 0 {
        let word = |column: usize| lines[0][column].split(' ').map(width).max().unwrap_or(0);
        widths = (0..aligns.len()).map(|column| widest(column, 1).max(word(column))).collect();
    }
    while excess(&widths) > 0 {
        let is_text =
            |column: &usize| aligns[*column] == Align::Left && widths[*column] > NARROWEST;
        let Some(column) = (0..aligns.len()).filter(is_text).max_by_key(|&column| widths[column])
        else {
            break;
        };
        widths[column] = widths[column].saturating_sub(excess(&widths)).max(NARROWEST);
    }
    widths
}

/// A text in lines of at most this width: broken at blanks, and within a word that is longer.
fn broken(text: &str, most: usize) -> Vec<String> {
    if width(text) <= most {
        return vec![text.to_string()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() || width(last) + 1 + width(word) <= most {
            if !last.is_empty() {
                last.push(' ');
            }
        } else {
            lines.push(String::new());
        }
        for sign in word.chars() {
            let last = lines.last_mut().expect("there is a line");
            if !last.is_empty() && width(last) + width(sign.encode_utf8(&mut [0; 4])) > most {
                lines.push(sign.to_string());
            } else {
                last.push(sign);
            }
        }
    }
    lines
}

/// The columns of a terminal that a text takes: a Chinese or Japanese character takes two, a
/// combining accent none.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

fn pad(text: &str, to: usize, align: Align) -> String {
    let blanks = " ".repeat(to.saturating_sub(width(text)));
    match align {
        Align::Left => format!("{text}{blanks}"),
        Align::Right => format!("{blanks}{text}"),
    }
}

/// Every line indented by two spaces.
pub(crate) fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Names one after the other, broken before column 80; later lines begin below the first name.
pub(crate) fn wrap(lead: &str, words: &[String]) -> String {
    let begin = width(lead);
    let mut text = lead.to_string();
    let mut at = begin;
    for (number, word) in words.iter().enumerate() {
        let word = if number + 1 < words.len() { format!("{word},") } else { word.clone() };
        let width = width(&word);
        if number > 0 && at + 1 + width > 80 {
            text.push_str(&format!("\n{:begin$}{word}", ""));
            at = begin + width;
        } else if number > 0 {
            text.push_str(&format!(" {word}"));
            at += 1 + width;
        } else {
            text.push_str(&word);
            at += width;
        }
    }
    text
}

/// A bar of at most `width` signs; a share above 0 has at least one.
pub(crate) fn bar(share: f64, width: u32) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a small width"
    )]
    let signs = (share.clamp(0.0, 1.0) * f64::from(width)).ceil() as usize;
    "#".repeat(signs)
}

/// A path as people write it.
pub(crate) fn path(path: &Path) -> String {
    if path == Path::new("-") { "standard output".to_string() } else { path.display().to_string() }
}

/// A path as an argument that can be pasted into a shell.
pub(crate) fn argument(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./,:@%+=~".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_above_0_has_a_bar() {
        assert_eq!([bar(0.0, 10), bar(0.001, 10), bar(1.0, 3)], ["", "#", "###"]);
    }

    #[test]
    fn tables_align_and_have_no_control_characters() {
        let text = table(
            &["name", ">rows"],
            &[vec!["a\x1b[31m".into(), "7".into()], vec!["bcd".into(), "1,000".into()]],
        );
        assert_eq!(text, "name     rows\na\u{fffd}[31m      7\nbcd     1,000\n");
    }

    #[test]
    fn a_table_wider_than_the_terminal_is_broken_and_loses_nothing() {
        let heads = ["column", ">rows that are unique", "role", "reason"];
        let reason = "a long reason of many words that no terminal has on one line with the others";
        let row =
            vec!["a_name_of_one_word".into(), "1,234,567".into(), "quasi".into(), reason.into()];
        let text = table_within(&heads, &[row.clone(), row], 80);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        assert!(text.lines().count() > 4);
        for word in reason.split(' ').chain(["a_name_of_one_word", "1,234,567", "unique"]) {
            assert!(text.contains(word), "{word}: {text}");
        }
        let long = "x".repeat(200);
        let text = table_within(&["name", ">n"], &[vec![long.clone(), "7".into()]], 80);
        assert!(text.lines().all(|line| width(line) <= 80), "{text}");
        assert_eq!(text.matches('x').count(), 200);
    }

    #[test]
    fn columns_align_by_the_width_on_the_terminal() {
        let rows = ["年齢", "e\u{301}té", "zip"].map(|name| vec![name.into(), "1".into()]);
        let text = table(&["column", ">n"], &rows);
        assert_eq!(text, "column  n\n年齢    1\ne\u{301}té     1\nzip     1\n");
        let words: Vec<String> = vec!["住所".to_string(); 40];
        assert!(wrap("列: ", &words).lines().all(|line| width(line) <= 80));
    }

    #[test]
    fn long_lists_break_before_column_80() {
        let words: Vec<String> = (0..30).map(|i| format!("column{i}")).collect();
        let text = wrap("columns: ", &words);
        assert!(text.lines().all(|line| line.chars().count() <= 80) && text.lines().count() > 2);
        assert!(text.lines().nth(1).unwrap().starts_with("         column"));
    }

    #[test]
    fn arguments_can_be_pasted() {
        assert_eq!(argument(Path::new("a/b.csv")), "a/b.csv");
        assert_eq!(argument(Path::new("my file's.csv")), r"'my file'\''s.csv'");
    }
}
