//! Ways out of an error or a warning, as data.

use serde::Serialize;

/// One way out. Several are alternatives, the likeliest first.
///
/// A hint says what could be done, not how: the command line names a flag, a program sets a key of
/// the [`Request`](crate::Request), a page offers a button. [`Hint::words`] are the words of the
/// library, which name keys of the request.
///
/// # Example
/// ```
/// use lookalike::{Hint, Request};
///
/// let request = Request::parse("k = 2\ncolumns.age.role = 'quasi'")?;
/// let names = ["age", "zip"].map(String::from);
/// let error = request.roles(&names).unwrap_err();
/// assert_eq!(error.code(), "no-role");
/// assert_eq!(error.hints()[0], Hint::GiveRole { columns: vec!["zip".into()] });
/// let flag = |hint: &Hint| if *hint == Hint::SettleRest { "--rest drop" } else { "--qi zip" };
/// assert_eq!(
///     error.message(|hint| flag(hint).to_string()),
///     "no role for `zip`: --qi zip or --rest drop"
/// );
/// # Ok::<(), lookalike::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "way", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Hint {
    /// Advice that reads the same everywhere, mostly about the table itself.
    Plain {
        /// The advice, as a command: `fix the cell`.
        words: String,
    },
    /// Another name was probably meant.
    DidYouMean {
        /// The column of that name.
        column: String,
    },
    /// Give each of these columns a role.
    GiveRole {
        /// The columns without a role.
        columns: Vec<String>,
    },
    /// Count persons in the other reading (`persons`).
    CountPersons {
        /// `whole` or `rows`.
        reading: String,
    },
    /// Decide for all columns without a role (`rest`).
    SettleRest,
    /// Name the columns to be kept one by one.
    KeepByName,
    /// Do not publish the columns without a role (`rest`).
    DropRest,
    /// Publish the columns without a role although many rows are unique on what is published
    /// (`accept_unique`).
    AcceptUnique,
    /// Name the quasi-identifiers.
    NameQuasi,
    /// Name the column that says which person a row is of: then persons are counted.
    NamePerson {
        /// The column.
        column: String,
    },
    /// Make this column a quasi-identifier.
    MakeQuasi {
        /// The column.
        column: String,
    },
    /// Do not publish this column.
    DropColumn {
        /// The column.
        column: String,
    },
    /// Publish the numbers of this column rounded (`round`).
    RoundColumn {
        /// The column.
        column: String,
    },
    /// Publish a column although it determines a quasi-identifier (`dependent`).
    AcceptDependent {
        /// The column.
        column: String,
    },
    /// Set the kind of a column.
    SetKind {
        /// The column.
        column: String,
        /// The kind that helps: `numeric`, `date`, `ordinal` or `categorical`.
        kind: String,
    },
    /// List the labels of a column in their order.
    SetOrder {
        /// The column.
        column: String,
    },
    /// Give a column a hierarchy.
    SetHierarchy {
        /// The column.
        column: String,
    },
    /// Make the hierarchy file that a column names.
    MakeHierarchy {
        /// The column.
        column: String,
    },
    /// Compare a hierarchy file with the values of a column.
    CompareHierarchy {
        /// The hierarchy file.
        file: String,
        /// The column.
        column: String,
    },
    /// Name the texts that mean missing.
    NameMissing {
        /// Those that commonly do; empty where it is another text.
        texts: Vec<String>,
    },
    /// Name what stands between the cells of the file.
    SetDelimiter,
    /// Name the encoding of the file.
    SetEncoding,
    /// Say which sign stands before decimals.
    SetDecimal,
    /// Say how the dates are written.
    SetDateFormat {
        /// Forms that fit.
        forms: Vec<String>,
    },
    /// Give the names of the columns of a file without a header line.
    SetNames,
    /// Say that the first line of the file is its header (`header`).
    TrustHeader,
    /// Name the sheet of a workbook.
    SetSheet,
    /// Require that k rows look alike on all quasi-identifiers.
    SetK,
    /// Protect a sensitive column by a rule.
    AddRule {
        /// The sensitive column.
        column: String,
    },
    /// Allow that rows are suppressed.
    AllowSuppression {
        /// The least share that suffices, as a percentage.
        share: String,
    },
    /// Allow no suppression.
    RemoveSuppression,
    /// Allow a greater loss (`max_loss`).
    AllowLoss,
    /// Give the search more time.
    MoreTime,
    /// Use another algorithm.
    OtherAlgorithm,
    /// Use one of these algorithms.
    UseAlgorithm {
        /// Their names.
        names: Vec<String>,
    },
    /// Allow releases that are k-anonymous in the non-homogeneous sense only.
    AllowNonHomogeneous,
    /// Publish labels or bounds, not sets.
    PublishLabels,
    /// Sort the rows by what they publish, not as in the source.
    SortRows,
    /// Name the column that says for how many rows each row stands.
    NameCount,
    /// Limit the share of those values of a sensitive column that need it (`alpha`, `values`).
    ProtectValues {
        /// The sensitive column.
        column: String,
    },
    /// Allow a greater distance of a sensitive column from the whole table.
    AllowDistance {
        /// The sensitive column.
        column: String,
    },
    /// Replace the file that exists.
    Overwrite,
    /// Verify with the proof that was kept when the release was made.
    UseProof,
    /// Check that a release was made from this source.
    CheckSource,
    /// Give the source of the release too.
    GiveSource,
    /// Verify the release: no page describes it.
    VerifyInstead,
    /// Make a new recoding file.
    MakeRecoding,
    /// Choose the columns that random queries have conditions on.
    ChooseQueryColumns,
    /// Let random queries have conditions on fewer columns.
    FewerQueryColumns,
    /// Let the program write a first request for the table.
    WriteRequest,
}

impl Hint {
    /// Advice that reads the same everywhere.
    pub fn plain(words: impl Into<String>) -> Hint {
        Hint::Plain { words: words.into() }
    }

    /// The hint in the words of the library: a command, without a full stop.
    pub fn words(&self) -> String {
        match self {
            Hint::Plain { words } => words.clone(),
            Hint::DidYouMean { column } => format!("did you mean `{column}`?"),
            Hint::GiveRole { .. } => "give each a role".into(),
            Hint::CountPersons { reading } => format!("set `persons = \"{reading}\"`"),
            Hint::SettleRest => "set `rest` to \"drop\" or \"keep\" for all of them".into(),
            Hint::KeepByName => "give the role `keep` to the columns that are needed".into(),
            Hint::DropRest => "drop the others (`rest = \"drop\"`)".into(),
            Hint::AcceptUnique => "accept it with `accept_unique = true`".into(),
            Hint::NameQuasi => {
                "give the role `quasi` to the columns that could be joined with outside data".into()
            }
            Hint::NamePerson { column } => {
                format!("give column `{column}` the role `person`: then persons are counted")
            }
            Hint::MakeQuasi { .. } => "make it a quasi-identifier".into(),
            Hint::DropColumn { .. } => "drop it".into(),
            Hint::RoundColumn { .. } => "round it".into(),
            Hint::AcceptDependent { column } => {
                format!("accept it with `dependent = true` for column `{column}`")
            }
            Hint::SetKind { column, kind } => {
                format!("set `kind` of column `{column}` to \"{kind}\"")
            }
            Hint::SetOrder { column } => {
                format!("set `order` of column `{column}`, as in [\"low\", \"high\"]")
            }
            Hint::SetHierarchy { column } => format!("give column `{column}` a hierarchy"),
            Hint::MakeHierarchy { .. } => "make the file".into(),
            Hint::CompareHierarchy { column, .. } => {
                format!("compare the file with the values of column `{column}`")
            }
            Hint::NameMissing { texts } if texts.is_empty() => {
                "name a text that means missing in `missing`".into()
            }
            Hint::NameMissing { texts } => format!("name them: `missing = {texts:?}`"),
            Hint::SetDelimiter => "if another delimiter is meant, set `delimiter`".into(),
            Hint::SetEncoding => {
                "name the encoding of the file in `encoding`, such as `windows-1252`".into()
            }
            Hint::SetSheet => "name the sheet in `sheet`".into(),
            Hint::SetDecimal => "set `decimal` to the sign before decimals".into(),
            Hint::SetDateFormat { forms } => {
                format!("set `date_format`, as in `{}`", forms.join("` or `"))
            }
            Hint::SetNames => "give the names of its columns in `names`".into(),
            Hint::TrustHeader => "set `header = true` if the first line is the header".into(),
            Hint::SetK => "set `k`, the number of rows that must look alike".into(),
            Hint::AddRule { column } => {
                format!(
                    "add a rule, as in `distinct = 2` for column `{column}`, or a stricter `l` or `alpha`"
                )
            }
            Hint::AllowSuppression { share } => {
                format!("allow {share} of the rows to be suppressed (`suppress`)")
            }
            Hint::RemoveSuppression => "remove `suppress`".into(),
            Hint::AllowLoss => "allow a greater loss (`max_loss`)".into(),
            Hint::MoreTime => "give the search more time (`time`)".into(),
            Hint::OtherAlgorithm => "use another algorithm".into(),
            Hint::UseAlgorithm { names } => format!("use {}", names.join(" or ")),
            Hint::AllowNonHomogeneous => "set `non_homogeneous` if you want that".into(),
            Hint::PublishLabels => "publish labels or bounds".into(),
            Hint::SortRows => "remove `order`".into(),
            Hint::NameCount => "name the column with the counts (`count`)".into(),
            Hint::ProtectValues { column } => format!(
                "limit only the values of column `{column}` that need it (`alpha` with `values`)"
            ),
            Hint::AllowDistance { column } => {
                format!("allow more, such as `t = 0.2` for column `{column}`")
            }
            Hint::Overwrite => "allow that it is overwritten".into(),
            Hint::UseProof => "verify it with the proof that was kept when it was made".into(),
            Hint::CheckSource => "verify the release against the source".into(),
            Hint::GiveSource => "give its source too".into(),
            Hint::VerifyInstead => "verify it instead".into(),
            Hint::MakeRecoding => "make the recoding file anew".into(),
            Hint::ChooseQueryColumns => "name some".into(),
            Hint::FewerQueryColumns => "use fewer columns".into(),
            Hint::WriteRequest => "let the program write a request for the table".into(),
        }
    }
}

/// Alternatives in one phrase: `a`, `a or b`, `a, b, or c`.
pub(super) fn alternatives(ways: &[String]) -> String {
    let is_short = |way: &String| !way.contains([',', ';']) && !way.contains(" or ");
    match ways {
        [] => String::new(),
        [only] => only.clone(),
        [one, other] if is_short(one) && is_short(other) => format!("{one} or {other}"),
        [first @ .., last] => format!("{}, or {last}", first.join(", ")),
    }
}
