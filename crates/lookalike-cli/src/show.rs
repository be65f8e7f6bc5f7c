//! How things are written: tables in plain text, numbers for people, and the two streams.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lookalike::{Error, ErrorKind, Result};

/// Writes a line of talk. A closed standard error is no reason to stop.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", clean(line));
}

/// Writes why the program stops.
pub(crate) fn error(why: &str) {
    say(&format!("error: {why}"));
}

/// Writes what the user should know although the program goes on.
pub(crate) fn warning(what: &str) {
    say(&format!("warning: {what}"));
}

/// Writes a result to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let written = lookalike::table::to_stream(|stdout| stdout.write_all(text.as_bytes()));
    written.map_err(|source| ErrorKind::Io { path: PathBuf::from("-"), source }.into())
}

/// The exit code of a command whose result was printed, or could not be. A verdict against the
/// table stands whatever becomes of standard output, and whoever closed it has seen enough; but
/// nothing is called done whose result is lost.
pub(crate) fn verdict(printed: Result<()>, code: u8) -> Result<ExitCode> {
    match printed {
        Err(why) if code != 0 && !is_closed_pipe(&why) => error(&why.to_string()),
        Err(why) if code == 0 && !is_closed_pipe(&why) => return Err(why),
        _ => {}
    }
    Ok(ExitCode::from(code))
}

/// True when nobody reads standard output any more.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io { path, source }
        if path == Path::new("-") && source.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Writes a JSON object to standard output.
pub(crate) fn json(object: &serde_json::Value) -> Result<()> {
    print(&format!("{object:#}\n"))
}

/// Names and file contents may hold characters that steer a terminal: none passes.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// A penalty: in whole numbers, or with decimals where these would hide it.
pub(crate) fn penalty(loss: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a loss lies between 100 and rows times weights"
    )]
    match loss {
        100.0.. => count(loss.round() as u64),
        10.0.. => format!("{loss:.1}"),
        _ => decimal(loss),
    }
}

/// On which side the cells of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Columns of equal width, two blanks between. The heads name the sides: a leading `>` aligns a
/// column to the right.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let sides: Vec<Side> = heads
        .iter()
        .map(|head| if head.starts_with('>') { Side::Right } else { Side::Left })
        .collect();
    let heads: Vec<String> =
        heads.iter().map(|head| head.trim_start_matches('>').to_string()).collect();
    let cell = |text: &String| clean(text).replace('\n', "\u{fffd}");
    let lines: Vec<Vec<String>> =
        std::iter::once(&heads).chain(rows).map(|row| row.iter().map(cell).collect()).collect();
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for ((cell, &width), side) in line.iter().zip(&widths).zip(&sides) {
            match side {
                Side::Left => shown.push_str(&format!("{cell:<width$}  ")),
                Side::Right => shown.push_str(&format!("{cell:>width$}  ")),
            }
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

/// Every line moved to the right.
pub(crate) fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Names one after the other, broken before column 80; later lines begin below the first name.
pub(crate) fn wrap(lead: &str, words: &[String]) -> String {
    let begin = lead.chars().count();
    let mut text = lead.to_string();
    let mut at = begin;
    for (number, word) in words.iter().enumerate() {
        let word = if number + 1 < words.len() { format!("{word},") } else { word.clone() };
        let width = word.chars().count();
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

/// `30,162`
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `30,162 rows`
pub(crate) fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// `12.5 %`; what is not nothing never shows as nothing.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.000_5 {
        "<0.1 %".to_string()
    } else {
        format!("{:.1} %", share * 100.0)
    }
}

/// A number with at most four decimals, as few as needed.
pub(crate) fn decimal(number: f64) -> String {
    if !number.is_finite() {
        return "unbounded".to_string();
    }
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `0.21 s`, `84 s`
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.0} s") }
}

/// A bar of at most `width` signs; what is not nothing has at least one.
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
    fn numbers_are_written_for_people() {
        assert_eq!(
            [count(0), count(999), count(1000), count(1_234_567)],
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [percent(0.0), percent(0.000_01), percent(0.125), percent(1.0)],
            ["0.0 %", "<0.1 %", "12.5 %", "100.0 %"]
        );
        assert_eq!(
            [decimal(0.5), decimal(3.0), decimal(1.0 / 3.0), decimal(f64::INFINITY)],
            ["0.5", "3", "0.3333", "unbounded"]
        );
        assert_eq!(
            [penalty(1_234.5), penalty(84.852_8), penalty(0.25), penalty(0.0)],
            ["1,235", "84.9", "0.25", "0"]
        );
        assert_eq!([seconds(0.214), seconds(84.2)], ["0.21 s", "84 s"]);
        assert_eq!([bar(0.0, 10), bar(0.001, 10), bar(1.0, 3)], ["", "#", "###"]);
    }

    #[test]
    fn tables_align_and_nothing_steers_the_terminal() {
        let text = table(
            &["name", ">rows"],
            &[vec!["a\x1b[31m".into(), "7".into()], vec!["bcd".into(), "1,000".into()]],
        );
        assert_eq!(text, "name     rows\na\u{fffd}[31m      7\nbcd     1,000\n");
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
