//! Hierarchy files in the form of ARX: no header, one line for each leaf with the value and its
//! ancestors up to the root.
//!
//! Equal labels on several lines are one node; a label repeated along its line pads a short path.
//! So every label has one parent. Where a value has the name of a group of several values (`Africa`
//! beside the countries of Africa), the group is published as `Africa (all)`: two ranges never
//! share a label.

use std::borrow::Cow;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ROOT, level};
use crate::codes::RowId;
use crate::domain::taxonomy::{Taxonomy, TreeBuilder};
use crate::error::{Error, Hint, Place, Result};

/// Added to the name of a group that is also the name of a value.
const GROUP: &str = " (all)";

/// The content of a hierarchy file, or what was given instead of one; groups with the name of a
/// value are renamed.
///
/// Invariant: all rows are equally long, and every row has a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchyFile {
    /// The file's name or the column, for messages.
    pub(super) place: String,
    /// Where the rows come from.
    pub(super) origin: Origin,
    /// In each row the value, then its ancestors.
    pub(super) rows: Vec<Vec<String>>,
    /// The line of the file in which each row begins, counted from 1.
    pub(super) lines: Vec<u64>,
}

/// Where the rows of a hierarchy come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A file, which commands can read.
    File,
    /// The request itself.
    Request,
}

impl HierarchyFile {
    /// The value of each line, in the order of the file.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row[0].as_str())
    }

    /// The words for it in a message.
    pub(super) fn it(&self) -> &'static str {
        if self.origin == Origin::File { "the file" } else { "the hierarchy" }
    }
}

/// Reads a hierarchy file. Columns are separated by the first of `;`, tab and `,` that every line
/// has.
///
/// # Errors
/// When the file cannot be read, is empty or not UTF-8, or its lines differ in length.
pub fn read(path: &Path) -> Result<HierarchyFile> {
    let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
    parse(&path.display().to_string(), &bytes)
}

pub(super) const NUL: &str = "a NUL byte: remove it, no label can have one";

/// Reads the bytes of a hierarchy file.
pub(super) fn parse(place: &str, bytes: &[u8]) -> Result<HierarchyFile> {
    parse_from(Origin::File, place, bytes)
}

/// Reads the bytes of a hierarchy file, wherever they come from.
pub(super) fn parse_from(origin: Origin, place: &str, bytes: &[u8]) -> Result<HierarchyFile> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + count_lines(&bytes[..error.valid_up_to()]);
        Error::hierarchy("hierarchy-not-utf8", "not UTF-8: save the file as UTF-8")
            .at_file(place)
            .at_line(line)
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(at) = text.find('\0') {
        return Err(Error::hierarchy("hierarchy-has-nul", NUL)
            .at_file(place)
            .at_line(1 + count_lines(&text.as_bytes()[..at])));
    }
    let text = &*without_comments(text);
    // The delimiter that divides most lines, then the first of the list: in a file with one bad
    // line the line is named.
    let mut best: Option<(usize, HierarchyFile)> = None;
    for delimiter in *b";\t," {
        let rows = split(place, text, delimiter)?;
        let divided = rows.rows.iter().filter(|row| row.len() > 1).count();
        let all = divided == rows.rows.len();
        if all || best.as_ref().is_none_or(|(most, _)| divided > *most) {
            best = Some((divided, rows));
        }
        if all {
            break;
        }
    }
    let (_, rows) = best.expect("there is more than one delimiter");
    finish(HierarchyFile { origin, ..rows })
}

/// The text with empty lines in place of the comments at its head: lines that begin with `# `.
fn without_comments(text: &str) -> Cow<'_, str> {
    let is_comment = |line: &&str| line.starts_with("# ");
    let comments = || text.split_inclusive('\n').take_while(is_comment);
    match comments().count() {
        0 => Cow::Borrowed(text),
        lines => Cow::Owned("\n".repeat(lines) + &text[comments().map(str::len).sum()..]),
    }
}

/// Refuses rows of different lengths, and no rows.
pub(super) fn finish(rows: HierarchyFile) -> Result<HierarchyFile> {
    let Some(first) = rows.rows.first() else { return Err(is_empty(&rows)) };
    let columns = first.len();
    match rows.rows.iter().position(|row| row.len() != columns) {
        None => Ok(distinguish(rows)),
        Some(ragged) => {
            let why = format!(
                "{} columns where line {} has {columns}: pad a short path by repeating a label",
                rows.rows[ragged].len(),
                rows.lines[0],
            );
            Err(Error::hierarchy("hierarchy-ragged", why)
                .at_file(&rows.place)
                .at_line(rows.lines[ragged]))
        }
    }
}

fn is_empty(rows: &HierarchyFile) -> Error {
    let what = if rows.origin == Origin::File { "the file" } else { "it" };
    let why = format!("{what} is empty: write one line for each value: the value;its group;*");
    Error::hierarchy("hierarchy-empty", why).at_file(&rows.place)
}

/// Renames groups below the root that have the name of a value and contain other values too.
fn distinguish(mut rows: HierarchyFile) -> HierarchyFile {
    let values: FxHashSet<&str> = rows.rows.iter().map(|row| row[0].as_str()).collect();
    let mut shared: FxHashSet<(usize, String)> = FxHashSet::default();
    for row in &rows.rows {
        let groups = 1..row.len().max(2) - 1;
        for (column, label) in groups.map(|column| (column, &row[column])) {
            // The same value again only pads the line.
            if *label != row[0] && values.contains(label.as_str()) {
                shared.insert((column, label.clone()));
            }
        }
    }
    for row in &mut rows.rows {
        for (column, label) in row.iter_mut().enumerate().skip(1) {
            if shared.contains(&(column, label.clone())) {
                label.push_str(GROUP);
            }
        }
    }
    rows
}

fn split(place: &str, text: &str, delimiter: u8) -> Result<HierarchyFile> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let (place_of_rows, origin) = (place.to_owned(), Origin::File);
    let mut rows =
        HierarchyFile { place: place_of_rows, origin, rows: Vec::new(), lines: Vec::new() };
    let (mut counted, mut line) = (0, 1);
    let mut record = csv::StringRecord::new();
    loop {
        // The reader's own line numbers count from before blank lines and before the second half of
        // CR LF: count from the text.
        let from = usize::try_from(reader.position().byte()).expect("the text is in memory");
        if !reader.read_record(&mut record).map_err(|error| {
            Error::hierarchy("hierarchy-unreadable", error.to_string()).at_file(place).at_line(line)
        })? {
            return Ok(rows);
        }
        let begin =
            from + text[from..].bytes().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        line += count_lines(&text.as_bytes()[counted..begin]);
        counted = begin;
        rows.rows.push(record.iter().map(str::to_owned).collect());
        rows.lines.push(line);
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte == b'\n')).sum()
}

/// The tree of a hierarchy file for a column with these distinct values; `first_row` has the first
/// row of each.
///
/// Children are in the order in which the file first names them. Leaves that no row has stay. The
/// missing value is the leaf with the empty label; if the data has one and the file has not, it
/// becomes the last child of the root.
///
/// # Example
/// ```
/// use lookalike::domain::hierarchy::{outline, read, taxonomy};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("city.csv");
/// std::fs::write(&path, "Bonn;West;*\nUlm;South;*\nKoeln;West;*\n").unwrap();
/// let tree = taxonomy(&read(&path)?, "city", &[Some("Ulm".to_string())], &[0])?;
/// assert_eq!(
///     outline(&tree, 9),
///     "*  (3 values)\n  West  (2 values)\n    Bonn\n    Koeln\n  South  (1 value)\n    Ulm\n"
/// );
/// # Ok::<(), lookalike::Error>(())
/// ```
///
/// # Errors
/// When the file is no tree, or a value is no leaf of it.
pub fn taxonomy(
    rows: &HierarchyFile,
    column: &str,
    values: &[Option<String>],
    first_row: &[RowId],
) -> Result<Taxonomy> {
    assert_eq!(values.len(), first_row.len(), "every value has a first row");
    let missing = values.iter().any(|value| value.as_deref().unwrap_or("").is_empty());
    let mut checked = check(rows)?;
    if missing && !checked.places.contains_key("") {
        checked.tree.push("", 0, 0);
    }
    let (taxonomy, _) = checked.tree.build();
    let codes = taxonomy.codes(values);
    let unknown =
        || codes.iter().zip(first_row).filter(|(code, _)| code.is_none()).map(|(_, &row)| row);
    match unknown().min() {
        None => Ok(taxonomy),
        Some(row) => {
            let row = u64::from(row) + 1;
            let what = format!("the value of column `{column}` in data row {row}");
            let place = Place { row: Some(row), ..Place::default() };
            Err(unlisted(rows, column, &what, unknown().count()).about(place))
        }
    }
}

/// The error for values that a file does not list.
pub(super) fn unlisted(file: &HierarchyFile, column: &str, what: &str, count: usize) -> Error {
    let (count, them) = if count == 1 {
        (String::new(), "it")
    } else {
        (format!(" ({count} values are not)"), "each")
    };
    let why = format!("{what} is not in {}{count}: add a line for {them}", file.it());
    let error =
        Error::hierarchy("hierarchy-lacks-value", why).at_file(&file.place).about_column(column);
    match file.origin {
        Origin::File => {
            error.hint(Hint::CompareHierarchy { file: file.place.clone(), column: column.into() })
        }
        Origin::Request => error,
    }
}

/// The tree of a file, found to be one, before its nodes are numbered.
pub(super) struct CheckedTree<'a> {
    pub(super) tree: TreeBuilder,
    places: FxHashMap<&'a str, u32>,
    /// For each place the row that first has it.
    pub(super) rows: Vec<usize>,
    /// For each place whether it is a value, not a group.
    pub(super) leaf: Vec<bool>,
}

pub(super) fn check(rows: &HierarchyFile) -> Result<CheckedTree<'_>> {
    let mut checked = CheckedTree {
        tree: TreeBuilder::default(),
        places: FxHashMap::default(),
        rows: Vec::new(),
        leaf: Vec::new(),
    };
    is_filled_in(rows)?;
    has_no_header(rows)?;
    for (row, labels) in rows.rows.iter().enumerate() {
        let wrong = |why: String| {
            let error = Error::hierarchy("hierarchy-not-a-tree", why);
            Err(error.at_file(&rows.place).at_line(rows.lines[row]))
        };
        if labels.len() < 2 {
            return wrong(
                "only one column: add the ancestors of each value, at least the root: value;*"
                    .into(),
            );
        }
        let path = path(labels);
        if let Some(why) = path_fault(&path, checked.tree.labels.first().map(String::as_str)) {
            return wrong(why);
        }
        let mut parent = 0;
        for (depth, &(column, label)) in path.iter().enumerate().rev() {
            let Some(&place) = checked.places.get(label) else {
                parent = checked.tree.push(label, parent, level(column));
                checked.places.insert(label, parent);
                checked.rows.push(row);
                checked.leaf.push(depth == 0);
                continue;
            };
            let at = place as usize;
            let line = rows.lines[checked.rows[at]];
            if checked.leaf[at] != (depth == 0) {
                let (here, there) =
                    if depth == 0 { ("value", "group") } else { ("group", "value") };
                return wrong(format!(
                    "the {here} `{label}` in column {} has the same label as a {there} (line \
                     {line}): rename the group, a label stands for one thing",
                    column + 1,
                ));
            }
            if place != 0 && checked.tree.parents[at] != parent {
                let (here, there) =
                    (&path[depth + 1].1, &checked.tree.labels[checked.tree.parents[at] as usize]);
                let what = if depth == 0 { "the value" } else { "the label" };
                return wrong(format!(
                    "{what} `{label}` lies below `{here}`, but below `{there}` on line {line}: \
                     keep one parent"
                ));
            }
            checked.tree.levels[at] = checked.tree.levels[at].min(level(column));
            parent = place;
        }
    }
    if checked.tree.labels.is_empty() {
        return Err(is_empty(rows));
    }
    // A label may be in different columns on different lines; a parent must still be above its
    // children.
    for place in (1..checked.tree.parents.len()).rev() {
        let parent = checked.tree.parents[place] as usize;
        checked.tree.levels[parent] =
            checked.tree.levels[parent].max(checked.tree.levels[place] + 1);
    }
    Ok(checked)
}

/// The labels of a line with their columns, without those that only pad it.
fn path(labels: &[String]) -> Vec<(usize, &str)> {
    let mut path: Vec<(usize, &str)> = labels.iter().map(String::as_str).enumerate().collect();
    path.dedup_by_key(|&mut (_, label)| label);
    path
}

/// Refuses a file with empty groups, such as a new one that nobody has filled in.
fn is_filled_in(rows: &HierarchyFile) -> Result<()> {
    let empty = |labels: &Vec<String>| {
        path(labels).iter().skip(1).find(|(_, label)| label.is_empty()).map(|&(column, _)| column)
    };
    let unfilled = || (0..).zip(&rows.rows).filter_map(|(row, labels)| Some((row, empty(labels)?)));
    let Some((row, column)): Option<(usize, usize)> = unfilled().next() else { return Ok(()) };
    let why = format!(
        "column {} is empty: {} of {} values have no group yet; write the name of a group there, or \
         repeat the label before it",
        column + 1,
        unfilled().count(),
        rows.rows.len()
    );
    Err(Error::hierarchy("hierarchy-not-filled", why).at_file(&rows.place).at_line(rows.lines[row]))
}

/// Refuses a first line that alone has another root.
fn has_no_header(rows: &HierarchyFile) -> Result<()> {
    let (Some((first, others)), [line, ..]) = (rows.rows.split_first(), &*rows.lines) else {
        return Ok(());
    };
    let Some(root) = others.first().and_then(|row| row.last()) else { return Ok(()) };
    let is_header = first.last() != Some(root)
        && (others.len() > 1 || root == ROOT)
        && others.iter().all(|row| row.last() == Some(root));
    if !is_header {
        return Ok(());
    }
    let why = format!(
        "all other lines end in `{root}`; if this line is a header, remove it (a hierarchy file \
         has none), else end it in `{root}` too"
    );
    Err(Error::hierarchy("hierarchy-has-header", why).at_file(&rows.place).at_line(*line))
}

/// The fault of one line by itself, given the root of the first line.
fn path_fault(path: &[(usize, &str)], root: Option<&str>) -> Option<String> {
    let (_, last) = *path.last()?;
    if let [(_, only)] = path {
        return Some(format!(
            "the value `{only}` is its own root: add a column with a root above all values, such \
             as *"
        ));
    }
    if let Some((column, _)) = path[..path.len() - 1].iter().find(|(_, label)| *label == ROOT) {
        return Some(format!(
            "`*` in column {}: it is published for any value, so only the root may have it: rename \
             it",
            column + 1
        ));
    }
    if let Some((column, label)) = own_ancestor(path) {
        return Some(format!("`{label}` is its own ancestor in column {}", column + 1));
    }
    match root {
        Some(root) if root != last => Some(format!(
            "the root is `{last}` here and `{root}` on the first line: end every line alike"
        )),
        _ => None,
    }
}

/// The first label of a path that is on it twice, and the column of its second place.
fn own_ancestor<'a>(path: &[(usize, &'a str)]) -> Option<(usize, &'a str)> {
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    let again = path.iter().enumerate().filter_map(|(depth, &(column, label))| {
        let earlier = *first.entry(label).or_insert(depth);
        (earlier != depth).then_some((earlier, column, label))
    });
    again.min().map(|(_, column, label)| (column, label))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;

    use super::super::file_intervals;
    use super::*;
    use crate::codes::CodeRange;
    use crate::domain::taxonomy::tests::Dice;

    fn some(values: &[&str]) -> Vec<Option<String>> {
        values.iter().map(|value| (!value.is_empty()).then(|| (*value).to_owned())).collect()
    }

    fn tree(text: &str) -> Result<Taxonomy> {
        taxonomy(&parse("w.csv", text.as_bytes())?, "work", &[], &[])
    }

    fn fault_of(text: &str) -> String {
        tree(text).unwrap_err().to_string()
    }

    fn labels(tree: &Taxonomy) -> Vec<&str> {
        (0..level(tree.leaves())).map(|code| tree.leaf_label(code)).collect()
    }

    #[test]
    fn comments_stand_at_the_head_alone() {
        let file = parse("w.csv", b"# suggested\n# by nobody\n#1;X;*\n\"# 2\";X;*\n").unwrap();
        assert_eq!(file.values().collect::<Vec<_>>(), ["#1", "# 2"]);
        assert_eq!(file.lines, [3, 4]);
        assert!(fault_of("# made\na;X;*\na;Y;*\n").contains("line 3: "));
        assert!(fault_of("# made\n").contains("is empty"));
    }

    #[test]
    fn a_file_that_is_not_filled_in_says_how_much_is_left() {
        let error = tree("a;;*\nb;X;*\nc;;*\n").unwrap_err();
        assert_eq!(error.code(), "hierarchy-not-filled");
        assert!(
            error.to_string().contains("line 1: column 2 is empty: 2 of 3 values have no group")
        );
        assert!(tree("a;a;*\n;;*\n").is_ok(), "the missing value pads its line too");
    }

    #[test]
    fn a_header_is_recognised() {
        for text in ["work;group;all\na;X;*\nb;X;*\n", "work;group;all\na;X;*\n"] {
            let error = tree(text).unwrap_err();
            assert_eq!((error.code(), error.place().line), ("hierarchy-has-header", Some(1)));
        }
        assert_eq!(tree("a;X;*\nb;X;any\n").unwrap_err().code(), "hierarchy-not-a-tree");
    }

    #[test]
    fn a_file_is_read_whatever_separates_its_columns() {
        let plain = parse("w.csv", b"a;X;*\nb;X;*\n").unwrap();
        for text in [
            "a,X,*\nb,X,*",
            "a\tX\t*\nb\tX\t*\n",
            "\u{feff}a;X;*\r\nb;X;*\r\n",
            "\"a\";X;\"*\"\nb;\"X\";*\n",
        ] {
            assert_eq!(parse("w.csv", text.as_bytes()).unwrap(), plain, "{text:?}");
        }
        let quoted = parse("w.csv", b"\"a;b\";x, y;*\nsay \"\"c;x, y;*\n").unwrap();
        assert_eq!(quoted.rows[0], ["a;b", "x, y", "*"]);
    }

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        let rows = parse("w.csv", b"\r\na;*\r\n\r\n\"b\nb\";*\r\nc;*\n\n\nd;*").unwrap();
        assert_eq!(rows.lines, [2, 4, 6, 9]);
    }

    #[test]
    fn a_file_that_is_no_table_is_refused_with_its_line() {
        let refused = |bytes: &[u8]| parse("w.csv", bytes).unwrap_err().to_string();
        assert!(refused(b"").contains("empty") && refused(b"\n\n").contains("empty"));
        assert!(
            refused(b"a;X;*\nb;*\n")
                .starts_with("hierarchy w.csv, line 2: 2 columns where line 1 has 3")
        );
        assert!(refused(b"a;*\n\xff;*\n").starts_with("hierarchy w.csv, line 2: not UTF-8"));
        assert!(
            read(Path::new("/nowhere/w.csv")).unwrap_err().to_string().contains("/nowhere/w.csv")
        );
    }

    #[test]
    fn leaves_stand_in_tree_order_and_groups_in_order_of_appearance() {
        let tree = tree("d;Y;*\na;X;*\nc;c;*\ne;Y;*\nb;X;*\n").unwrap();
        assert_eq!(labels(&tree), ["d", "e", "a", "b", "c"]);
        assert_eq!((tree.nodes(), tree.height()), (8, 2));
        assert_eq!(tree.label(tree.at_level(4, 1)), "c");
        assert_eq!(tree.parent(4), Some(tree.root()), "padding adds no node");
    }

    #[test]
    fn a_label_may_be_padded_from_below_or_from_above() {
        let tree = tree("a;X;X;*\nb;b;X;*\nc;c;c;*\nd;Z;Y;*\n").unwrap();
        assert_eq!(labels(&tree), ["a", "b", "c", "d"]);
        let levels: Vec<(&str, u32)> =
            (4..=tree.root()).map(|node| (tree.label(node), tree.level(node))).collect();
        assert_eq!(levels, [("Z", 1), ("Y", 2), ("X", 1), ("*", 3)]);
    }

    #[test]
    fn a_repeated_line_is_harmless_and_another_path_is_not() {
        assert_eq!(labels(&tree("a;X;*\nb;X;*\na;X;*\n").unwrap()), ["a", "b"]);
        assert!(fault_of("a;X;*\nb;Y;*\na;Y;*\n").starts_with(
            "hierarchy w.csv, line 3: the value `a` lies below `Y`, but below `X` on line 1"
        ));
    }

    #[test]
    fn a_file_that_is_no_tree_is_refused_with_its_line() {
        let two_parents = fault_of("a;X;P;*\nb;X;Q;*\n");
        assert!(
            two_parents.starts_with(
                "hierarchy w.csv, line 2: the label `X` lies below `Q`, but below `P` on line 1"
            ),
            "{two_parents}"
        );
        assert!(fault_of("a;*\na;b;a;*\n").contains("line 2"), "ragged first");
        assert!(fault_of("a;b;a;*\n").contains("line 1: `a` is its own ancestor in column 3"));
        assert!(fault_of("a;X;*\nb;Y;any\n").contains("line 2: the root is `any` here and `*`"));
        assert!(fault_of("a\nb\n").contains("line 1: only one column"));
        assert!(fault_of("a;*\nb;b\n").contains("line 2: the value `b` is its own root"));
        assert!(fault_of("a;;*\n").contains("line 1: column 2 is empty"));
        assert!(fault_of("a;X;*\n*;*;*\n").contains("line 2: the value `*` is its own root"));
    }

    #[test]
    fn a_group_with_the_name_of_one_of_its_values_gets_a_name_of_its_own() {
        for text in [
            "Private;Private;*\nOwn;Private;*\nOther;Other;*\n",
            "Own;Private;*\nPrivate;Private;*\nOther;Other;*\n",
        ] {
            let tree = tree(text).unwrap();
            let codes = tree.codes(&[Some("Own".into()), Some("Private".into())]);
            let (own, private) = (codes[0].unwrap(), codes[1].unwrap());
            let both = CodeRange { lo: own.min(private), hi: own.max(private) };
            assert_eq!(tree.label(tree.cover(both)), "Private (all)");
            assert_eq!(tree.label(tree.cover(CodeRange::one(private))), "Private");
        }
        let taken = fault_of("Private;Private;*\nOwn;Private;*\nPrivate (all);*;*\n");
        assert!(taken.contains("line 3: the value `Private (all)`"), "{taken}");
    }

    #[test]
    fn a_value_without_a_leaf_is_named_by_its_row_only() {
        let rows = parse("w.csv", b"a;X;*\nb;X;*\n").unwrap();
        let error = taxonomy(&rows, "work", &some(&["zzz", "a", "yyy"]), &[8, 0, 4]).unwrap_err();
        let way = Hint::CompareHierarchy { file: "w.csv".into(), column: "work".into() };
        assert_eq!((error.place().row, error.hints()), (Some(5), &[way][..]));
        let error = error.to_string();
        assert!(
            error.starts_with(
                "hierarchy of w.csv: the value of column `work` in data row 5 is not in the file (2 values are not)"
            )
        );
        assert!(!error.contains("zzz") && !error.contains("yyy"), "{error}");
    }

    #[test]
    fn a_missing_value_is_the_blank_leaf_or_becomes_one() {
        let with = parse("w.csv", b";None;*\na;X;*\n").unwrap();
        let without = parse("w.csv", b"a;X;*\nb;X;*\n").unwrap();
        let labels_of = |rows, values: &[&str]| {
            let tree = taxonomy(rows, "work", &some(values), &[0, 1][..values.len()]).unwrap();
            (
                labels(&tree).join(","),
                tree.parent(tree.codes(&[None])[0].unwrap_or(0))
                    .map(|up| tree.label(up).to_owned()),
            )
        };
        assert_eq!(labels_of(&with, &["a", ""]), (",a".into(), Some("None".into())));
        assert_eq!(labels_of(&without, &["a", ""]), ("a,b,".into(), Some("*".into())));
        assert_eq!(labels_of(&without, &["a"]).0, "a,b");
    }

    /// Labels without the repetitions that pad.
    fn path(row: &[String]) -> Vec<&str> {
        let mut path: Vec<&str> = row.iter().map(String::as_str).collect();
        path.dedup();
        path
    }

    /// What a file must be, said of whole paths: the way up from a label is the same wherever it
    /// stands.
    fn is_tree(rows: &[Vec<String>]) -> bool {
        let mut up: BTreeMap<&str, BTreeSet<Vec<&str>>> = BTreeMap::new();
        let (mut values, mut groups) = (BTreeSet::new(), BTreeSet::new());
        for row in rows {
            let path = path(row);
            if path.len() < 2
                || path[1..].contains(&"")
                || path.iter().collect::<BTreeSet<_>>().len() < path.len()
            {
                return false;
            }
            values.insert(path[0]);
            groups.extend(path[1..].iter().copied());
            for (depth, label) in path.iter().enumerate() {
                up.entry(label).or_default().insert(path[depth..].to_vec());
            }
        }
        let roots: BTreeSet<&str> = rows.iter().map(|row| row.last().unwrap().as_str()).collect();
        roots.len() == 1 && values.is_disjoint(&groups) && up.values().all(|ways| ways.len() == 1)
    }

    #[test]
    fn exactly_the_files_that_are_trees_are_accepted() {
        let mut dice = Dice(3);
        let (mut accepted, mut refused) = (0, 0);
        for round in 0..20_000 {
            let mut pick =
                |labels: &[&str]| labels[dice.roll(level(labels.len())) as usize].to_owned();
            let rows: Vec<Vec<String>> = (0..2 + round % 4)
                .map(|_| {
                    vec![
                        pick(&["a", "b", "c", "d", ""]),
                        pick(&["a", "b", "X", "Y", "Z"]),
                        pick(&["X", "Y", "Z"]),
                        pick(&["*", "*", "*", "*", "*", "Z"]),
                    ]
                })
                .collect();
            let file = HierarchyFile {
                origin: Origin::File,
                place: "w.csv".into(),
                lines: (1..=rows.len() as u64).collect(),
                rows,
            };
            let made = taxonomy(&file, "work", &[], &[]);
            assert_eq!(made.is_ok(), is_tree(&file.rows), "{:?}: {made:?}", file.rows);
            let Ok(tree) = made else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let leaves: BTreeSet<&str> = file.rows.iter().map(|row| row[0].as_str()).collect();
            assert_eq!(tree.leaves(), leaves.len());
            for row in &file.rows {
                let leaf = tree.codes(&[Some(row[0].clone())])[0].unwrap();
                let up: Vec<&str> = std::iter::successors(Some(leaf), |&node| tree.parent(node))
                    .map(|node| tree.label(node))
                    .collect();
                assert_eq!(up, path(row));
            }
            for node in 0..=tree.root() {
                let below = file
                    .rows
                    .iter()
                    .filter(|row| row.iter().any(|label| label == tree.label(node)))
                    .map(|row| &row[0]);
                let range = tree.range(node);
                let covered: BTreeSet<&str> =
                    (range.lo..=range.hi).map(|code| tree.leaf_label(code)).collect();
                assert_eq!(covered, below.map(String::as_str).collect());
                assert!(tree.parent(node).is_none_or(|up| tree.level(node) < tree.level(up)));
                assert!(tree.level(node) <= 3);
            }
        }
        assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
    }

    #[test]
    fn real_hierarchies_say_what_their_files_say() {
        let folder = std::env::var_os("LOOKALIKE_DATA")
            .map_or_else(
                || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
                PathBuf::from,
            )
            .join("hierarchies");
        if !folder.is_dir() {
            eprintln!(
                "skipped: no hierarchies at {}; set LOOKALIKE_DATA to the folder of the real tables",
                folder.display()
            );
            return;
        }
        let sorted = |folder: &Path| {
            let mut files: Vec<PathBuf> =
                std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            files
        };
        let mut read_well = 0;
        for file in sorted(&folder)
            .iter()
            .flat_map(|folder| sorted(folder))
            .filter(|file| file.extension().is_some_and(|e| e == "csv"))
        {
            let rows = read(&file).unwrap();
            let values: Vec<Option<String>> =
                rows.rows.iter().map(|row| Some(row[0].clone())).collect();
            let tree = taxonomy(&rows, "c", &values, &vec![0; values.len()]).unwrap();
            assert_eq!(tree.leaves(), rows.rows.len());
            for (row, code) in rows.rows.iter().zip(tree.codes(&values)) {
                for (column, label) in row.iter().enumerate() {
                    assert_eq!(
                        tree.label(tree.at_level(code.unwrap(), level(column))),
                        label,
                        "{}",
                        file.display()
                    );
                }
            }
            if ["age.csv", "AGEP.csv"].iter().any(|name| file.ends_with(name)) {
                let texts: Vec<String> = (17..=90).map(|age| age.to_string()).collect();
                let numbers: Vec<f64> = (17..=90).map(f64::from).collect();
                let ages = file_intervals(&rows, "age", &numbers, &texts).unwrap();
                assert_eq!(ages.taxonomy().leaves(), 74);
            }
            read_well += 1;
        }
        assert!(read_well >= 35, "{read_well}");
    }
}
