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

/// Columns of equal width, with two spaces between. A leading `>` in a head aligns its column to
/// the right.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let aligns: Vec<Align> = heads
        .iter()
        .map(|head| if head.starts_with('>') { Align::Right } else { Align::Left })
        .collect();
    let heads: Vec<String> =
        heads.iter().map(|head| head.trim_start_matches('>').to_string()).collect();
    let cell = |text: &String| clean(text).replace('\n', "\u{fffd}");
    let lines: Vec<Vec<String>> =
        std::iter::once(&heads).chain(rows).map(|row| row.iter().map(cell).collect()).collect();
    let width = |column: usize| lines.iter().map(|line| width(&line[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let mut padded = String::new();
        for ((cell, &width), &align) in line.iter().zip(&widths).zip(&aligns) {
            padded.push_str(&pad(cell, width, align));
            padded.push_str("  ");
        }
        text.push_str(padded.trim_end());
        text.push('\n');
    }
    text
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
