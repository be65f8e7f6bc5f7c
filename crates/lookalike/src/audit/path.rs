//! Hierarchies as the audit reads them: for a value, the labels that cover it, nearest first.

use std::path::Path;

use jiff::Span;
use jiff::civil::Date;
use rustc_hash::{FxHashMap, FxHashSet};

use super::reading::{day_in, is_missing, number, place_of_instant, place_of_number};
use crate::error::{Error, Result};
use crate::request::{DateUnit, HierarchySpec, IntervalsSpec};

/// A hierarchy of a column, by its kind.
#[derive(Debug)]
pub(super) enum AuditHierarchy<'a> {
    File(Lines),
    Prefix(&'a [usize]),
    Date(&'a [DateUnit]),
    Intervals(&'a IntervalsSpec),
}

/// The lines of a hierarchy file, or of what was given instead of one: a leaf and its ancestors, each label once.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<(String, Vec<String>)>,
    by_text: FxHashMap<String, usize>,
    by_number: FxHashMap<i128, usize>,
    by_instant: FxHashMap<i128, usize>,
}

/// Opens the hierarchy of a column with these values.
pub(super) fn open<'a, 'v>(
    request: &'a HierarchySpec,
    values: impl IntoIterator<Item = &'v str>,
) -> Result<AuditHierarchy<'a>> {
    let given = |(line, why): (u64, &str)| {
        Error::hierarchy("hierarchy-unreadable", why).at_file("given in the request").at_line(line)
    };
    Ok(match request {
        HierarchySpec::File(path) => AuditHierarchy::File(read(path)?),
        HierarchySpec::Text(text) => {
            let text = text.text.strip_prefix('\u{feff}').unwrap_or(&text.text);
            AuditHierarchy::File(parse(text).map_err(given)?)
        }
        HierarchySpec::Rows(rows) => {
            let records: Vec<Record> = (1..).zip(rows.rows.iter().cloned()).collect();
            AuditHierarchy::File(lines(&records).map_err(given)?)
        }
        // The lines for these values, as if they stood in a file.
        HierarchySpec::Builtin(builtin) => {
            let records: Vec<Record> = (1..).zip(builtin.rows(values)).collect();
            AuditHierarchy::File(lines(&records).map_err(given)?)
        }
        HierarchySpec::Prefix(prefix) => AuditHierarchy::Prefix(&prefix.prefix),
        HierarchySpec::Date(date) => AuditHierarchy::Date(&date.date),
        HierarchySpec::Intervals(intervals) => AuditHierarchy::Intervals(intervals),
    })
}

fn read(path: &Path) -> Result<Lines> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io(path, source))?;
    parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|(line, why)| {
        Error::hierarchy("hierarchy-not-a-tree", why).at_file(path).at_line(line)
    })
}

fn parse(text: &str) -> std::result::Result<Lines, (u64, &'static str)> {
    // Lines at the head that begin with `# ` are comments.
    let (mut rest, mut comments) = (text, 0);
    while rest.starts_with("# ") {
        (rest, comments) = (rest.split_once('\n').map_or("", |(_, below)| below), comments + 1);
    }
    let read = records(rest).and_then(|records| lines(&records));
    read.map_err(|(line, why)| (line + comments, why))
}

/// The values of the lines, each with the labels above it.
fn lines(records: &[Record]) -> std::result::Result<Lines, (u64, &'static str)> {
    if let Some((line, _)) = records.iter().find(|(_, labels)| labels.is_empty()) {
        return Err((*line, "no value: write the value and its ancestors"));
    }
    // A group with the name of another value is published under another name.
    let values: FxHashSet<&str> = records.iter().map(|(_, labels)| labels[0].as_str()).collect();
    let mut shared: FxHashSet<(usize, &str)> = FxHashSet::default();
    for (_, labels) in records {
        for (column, label) in labels.iter().enumerate().take(labels.len() - 1).skip(1) {
            if *label != labels[0] && values.contains(label.as_str()) {
                shared.insert((column, label));
            }
        }
    }
    let mut all = Lines::default();
    for (line, labels) in records {
        let (leaf, above) = (&labels[0], labels.iter().enumerate().skip(1));
        let named = above.map(|(column, label)| {
            if shared.contains(&(column, label)) { format!("{label} (all)") } else { label.clone() }
        });
        let mut above: Vec<String> = named.collect();
        above.dedup();
        // A repeated value only pads the line.
        if above.len() > 1 && above[0] == *leaf {
            above.remove(0);
        }
        if above.iter().enumerate().any(|(i, label)| above[..i].contains(label)) {
            return Err((*line, "a label stands above itself"));
        }
        let at = all.lines.len();
        match all.by_text.get(leaf) {
            Some(&before) if all.lines[before].1 == above => continue,
            Some(_) => return Err((*line, "this value has another line already")),
            None => {}
        }
        if let Some(place) = place_of_number(leaf) {
            all.by_number.entry(place).or_insert(at);
        }
        if let Some(place) = place_of_instant(leaf) {
            all.by_instant.entry(place).or_insert(at);
        }
        all.by_text.insert(leaf.clone(), at);
        all.lines.push((leaf.clone(), above));
    }
    Ok(all)
}

/// A line of a file: its number and its cells.
type Record = (u64, Vec<String>);

/// The lines, cut by the first of `;`, tab and `,` that cuts every one of them; if none does, by
/// the one that cuts most.
fn records(text: &str) -> std::result::Result<Vec<Record>, (u64, &'static str)> {
    let mut best: (usize, Vec<Record>) = (0, Vec::new());
    for delimiter in [b';', b'\t', b','] {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(text.as_bytes());
        let mut lines: Vec<Record> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| {
                (error.position().map_or(0, csv::Position::line), "not readable as delimited text")
            })?;
            lines.push((
                record.position().map_or(0, csv::Position::line),
                record.iter().map(str::to_string).collect(),
            ));
        }
        let cut = lines.iter().filter(|(_, cells)| cells.len() > 1).count();
        if cut == lines.len() {
            return Ok(lines);
        }
        if cut > best.0 || best.1.is_empty() {
            best = (cut, lines);
        }
    }
    Ok(best.1)
}

impl Lines {
    /// The line of a value. When no line has its spelling, `5.0` is found as `5`, and a date by its
    /// instant.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        let by_number = || self.by_number.get(&place_of_number(text)?);
        let by_instant = || self.by_instant.get(&place_of_instant(text)?);
        self.by_text.get(text).or_else(by_number).or_else(by_instant).copied()
    }

    fn ancestors(&self, text: &str) -> Option<&[String]> {
        self.find(text).map(|at| &*self.lines[at].1)
    }

    /// The line of the missing value, if there is one.
    pub(super) fn find_missing(&self, spellings: &[String]) -> Option<usize> {
        self.lines.iter().position(|(leaf, _)| is_missing(leaf, spellings))
    }

    /// The label that all lines end in.
    pub(super) fn root(&self) -> Option<&str> {
        let root = self.lines.first()?.1.last()?;
        self.lines.iter().all(|(_, labels)| labels.last() == Some(root)).then_some(root)
    }
}

/// `53712` with 3 kept is `537**`; a shorter text is not changed.
fn masked(text: &str, kept: usize) -> String {
    text.chars().enumerate().map(|(i, c)| if i < kept { c } else { '*' }).collect()
}

/// The ISO year and week of a day: those of the Thursday of its week.
fn week(date: Date) -> Option<(i16, i16)> {
    let to_thursday = 4 - i64::from(date.weekday().to_monday_one_offset());
    match date.checked_add(Span::new().days(to_thursday)) {
        Ok(thursday) => Some((thursday.year(), (thursday.day_of_year() + 6) / 7)),
        Err(_) => None,
    }
}

/// The label of a unit for the day in a text; a year above weeks is one of whole weeks.
pub(super) fn unit_label(text: &str, units: &[DateUnit], unit: DateUnit) -> Option<String> {
    let of_weeks = units.contains(&DateUnit::Week);
    let date = day_in(text)?;
    let (year, month) = (date.year(), date.month());
    Some(match unit {
        DateUnit::Day => format!("{year:04}-{month:02}-{:02}", date.day()),
        DateUnit::Week => {
            let (year, week) = week(date)?;
            format!("{year:04}-W{week:02}")
        }
        DateUnit::Year if of_weeks => format!("{:04}-W**", week(date)?.0),
        DateUnit::Month => format!("{year:04}-{month:02}"),
        DateUnit::Quarter => format!("{year:04}-Q{}", (month + 2) / 3),
        DateUnit::HalfYear => format!("{year:04}-H{}", if month <= 6 { 1 } else { 2 }),
        DateUnit::Year => format!("{year:04}"),
        DateUnit::FiveYears => {
            let begin = year - year.rem_euclid(5);
            format!("{begin:04}-{:04}", begin + 4)
        }
        DateUnit::Decade => format!("{:04}s", year.div_euclid(10) * 10),
    })
}

impl AuditHierarchy<'_> {
    /// Every label below the root that may be published for this value; intervals are read as
    /// intervals, not listed.
    pub(super) fn labels(&self, text: &str) -> Vec<String> {
        match self {
            AuditHierarchy::File(lines) => lines.ancestors(text).unwrap_or_default().to_vec(),
            AuditHierarchy::Prefix(_) => {
                (0..text.chars().count()).map(|kept| masked(text, kept)).collect()
            }
            AuditHierarchy::Date(units) => {
                units.iter().filter_map(|&unit| unit_label(text, units, unit)).collect()
            }
            AuditHierarchy::Intervals(_) => Vec::new(),
        }
    }

    /// The nodes above a value, nearest first and without the root, for the distance in the tree;
    /// none when it has no place. A file's root is the last of its labels.
    pub(super) fn nodes(&self, text: &str) -> Option<Vec<String>> {
        let mut nodes = match self {
            AuditHierarchy::File(lines) => return lines.ancestors(text).map(<[String]>::to_vec),
            AuditHierarchy::Prefix(lengths) => {
                lengths.iter().map(|&kept| masked(text, kept)).collect()
            }
            AuditHierarchy::Date(units) => units
                .iter()
                .map(|&unit| unit_label(text, units, unit))
                .collect::<Option<Vec<_>>>()?,
            AuditHierarchy::Intervals(request) => {
                let x = number(text)?;
                let side = if request.bottom.is_some_and(|bottom| x < bottom) {
                    Some("low")
                } else {
                    request.top.is_some_and(|top| x >= top).then_some("high")
                };
                let node = |(level, width): (usize, &f64)| match side {
                    Some(side) => format!("{level} {side}"),
                    None => format!("{level} {}", ((x - request.origin) / width).floor()),
                };
                request.intervals.iter().enumerate().map(node).collect()
            }
        };
        nodes.dedup();
        Some(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_with_either_delimiter_quotes_and_padding() {
        let lines = parse("\"a; b, c\";X;X;*\nd;Y;*\n").unwrap();
        assert_eq!(lines.ancestors("a; b, c").unwrap(), ["X", "*"]);
        assert_eq!(lines.root(), Some("*"));
        let lines = parse("5,0-9,*\n\"x;y\",z,any\n").unwrap();
        assert_eq!(lines.ancestors("5.0").unwrap(), ["0-9", "*"]);
        assert_eq!(lines.ancestors("6"), None);
        assert_eq!(lines.root(), None);
        assert_eq!(parse("\"x;y\",G,*\nz,G,*\n").unwrap().ancestors("x;y").unwrap(), ["G", "*"]);
        assert_eq!(
            parse("x;y,G,*\nz,G,*\n").unwrap().ancestors("x;y").unwrap(),
            ["G", "*"],
            "all lines decide"
        );
        assert_eq!(
            parse("\"two\nlines\",G,*\n\"a;b\",G,*\n").unwrap().ancestors("two\nlines").unwrap(),
            ["G", "*"]
        );
        assert_eq!(parse("a;X;*\na;Y;*\n").unwrap_err().0, 2);
        let lines = parse("# made\n# by hand\n#1;X;*\n\"# 2\";X;*\n").unwrap();
        assert_eq!(lines.lines.len(), 2, "comments stand at the head alone");
        assert_eq!(
            (lines.ancestors("# 2").unwrap(), lines.find("#1")),
            (&["X", "*"].map(String::from)[..], Some(0))
        );
        assert_eq!(parse("# made\na;X;*\na;Y;*\n").unwrap_err().0, 3);
        assert_eq!(parse("a;X;*\nb;X;Y;X\n").unwrap_err().0, 2);
    }

    #[test]
    fn one_line_hierarchies_give_their_labels() {
        assert_eq!(
            AuditHierarchy::Prefix(&[4, 3]).labels("5371"),
            ["****", "5***", "53**", "537*"]
        );
        assert_eq!(AuditHierarchy::Prefix(&[3, 1]).nodes("5371").unwrap(), ["537*", "5***"]);
        let units =
            [DateUnit::Day, DateUnit::Month, DateUnit::Quarter, DateUnit::Year, DateUnit::Decade];
        let labels = AuditHierarchy::Date(&units).labels("2024-03-17 10:00:00");
        assert_eq!(labels, ["2024-03-17", "2024-03", "2024-Q1", "2024", "2020s"]);
        assert_eq!(AuditHierarchy::Date(&[DateUnit::Quarter]).labels("2024-12-01"), ["2024-Q4"]);
        let steps = [DateUnit::HalfYear, DateUnit::FiveYears];
        assert_eq!(AuditHierarchy::Date(&steps).labels("2024-07-01"), ["2024-H2", "2020-2024"]);
        assert_eq!(AuditHierarchy::Date(&steps).labels("1975-06-30"), ["1975-H1", "1975-1979"]);
        let weeks = AuditHierarchy::Date(&[DateUnit::Week, DateUnit::Year]);
        for (day, labels) in [
            ("2021-01-03", ["2020-W53", "2020-W**"]),
            ("2024-03-03", ["2024-W09", "2024-W**"]),
            ("2024-12-30", ["2025-W01", "2025-W**"]),
            ("9999-12-31", ["9999-W52", "9999-W**"]),
        ] {
            assert_eq!(weeks.labels(day), labels, "{day}");
        }
    }
}
