//! What can be typed. Nothing is judged here;
//! [`RequestFlags::request`](crate::args::RequestFlags::request) does that.

mod compare;
mod hierarchy;
mod report;
mod reproduce;

pub(crate) use compare::Compare;
pub(crate) use hierarchy::{ColumnOf, Hierarchy, HierarchyCheck, HierarchyCommand, HierarchyNew};
pub(crate) use report::{Edition, Report};
pub(crate) use reproduce::Reproduce;

use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use lookalike::Algorithm;
use lookalike::request::ratio::Ratio;
use lookalike::request::{Publish, Rest};
use lookalike::search::global::{Branching, Cost, Techniques};
use lookalike::synthetic::Synthetic;

use lookalike::run::Effort;

const START: &str = "\
Start here:
  lookalike demo                                   a made-up table, before and after
  lookalike init patients.csv                      suggest a role for every column
  lookalike anonymize -c lookalike.toml -o safe.csv
  lookalike anonymize patients.csv -k 5 --qi age,zip,sex --sensitive diagnosis \\
      --rest drop -o safe.csv

Exit codes: 0 done and verified, 1 the protection does not hold or cannot be reached,
2 usage or configuration, 3 input data, 4 out of time or memory before any release,
5 reading or writing, 70 a bug, 130 interrupted. Nothing is written unless the code is 0
or the message says what is.";

/// Makes tables k-anonymous with little loss, and verifies the written file.
///
/// Every released row has at least k-1 lookalikes on the columns that you name. Nothing leaves this
/// computer.
#[derive(Debug, Parser)]
#[command(name = "lookalike", version, after_help = START, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Use this many threads; all cores when absent
    #[arg(long, global = true, value_name = "N", help_heading = "Global options")]
    pub(crate) threads: Option<usize>,
    /// End with a message when more memory is needed (500MB, 8GB, 50%); 80% of the machine's when
    /// absent
    #[arg(long, global = true, value_name = "SIZE", help_heading = "Global options")]
    pub(crate) max_memory: Option<String>,
    /// Say nothing but warnings and errors
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Profile the columns of a table and write a configuration with suggested roles
    Init(Init),
    /// Measure a table as it is: does it already hold?
    Check(Check),
    /// Make a release: search, write, read back, verify
    #[command(visible_alias = "anonymise")]
    Anonymize(Box<Anonymize>),
    /// Publish further rows by the recoding that was found for earlier ones
    Apply(Box<Apply>),
    /// Check a release, by other code than made it
    Verify(Verify),
    /// Ask a release counts and sums, and compare its answers with the truth
    Query(Box<Query>),
    /// Compare algorithms and k on one table: loss, bound, query error, time, memory
    Compare(Box<Compare>),
    /// Write one page about a release: does it hold, what was lost, what risk is left
    Report(Box<Report>),
    /// Run the experiments of four papers again and say which of their claims hold
    Reproduce(Reproduce),
    /// Make up a small hospital table, anonymize it and show both
    Demo(Demo),
    /// Make and test hierarchies
    Hierarchy(Hierarchy),
    /// Make up a table of any size
    Synth(Synth),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// Flags of `init`.
#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The table: CSV (also .gz, .zst), Parquet or Arrow; - is standard input
    pub(crate) data: PathBuf,
    /// Where the configuration goes; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "lookalike.toml")]
    pub(crate) output: PathBuf,
    /// Replace the configuration if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Flags of `check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The table; the configuration's when absent; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

/// Flags of `anonymize`.
#[derive(Debug, Args)]
pub(crate) struct Anonymize {
    /// The table: CSV (also .gz, .zst), Parquet or Arrow; the configuration's when absent; - is
    /// standard input
    pub(crate) data: Option<PathBuf>,
    /// Where the release goes; its ending (.csv, .csv.gz, .tsv, .parquet, .arrow, ...) tells the
    /// format; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the numbers of the run as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the proof of a non-homogeneous release in this file, for `verify`; it is as secret as
    /// the table
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    /// Keep the global recoding that was found in this file, for `apply`; it is as secret as the
    /// table
    #[arg(long, value_name = "FILE")]
    pub(crate) recoding: Option<PathBuf>,
    /// Take all that is random from this seed, so that a run can be repeated (not one of ring);
    /// keep it secret
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Set a tuned number of the local searches: cell_tuples=30000; can be repeated, for bench/tune
    #[arg(long, value_name = "NAME=VALUE", hide = true)]
    pub(crate) tune: Vec<String>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) release: Release,
}

/// How a release is searched for and written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search and output")]
pub(crate) struct Release {
    /// How classes are found
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name)))]
    pub(crate) algorithm: Option<String>,
    #[command(flatten)]
    pub(crate) how: How,
    #[command(flatten)]
    pub(crate) writing: Writing,
}

/// How an algorithm goes about it and what a class shows. Shared by `anonymize` and `compare`.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// How many rounds top-down, ring and bottom-up look for two rows far apart (3), how many tries
    /// cluster has for a cut (15)
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// How many steps auto takes to improve its classes: unlike --time, the same on every machine
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<u64>,
    /// How long to look for what no release can lose less than: not at all, about as long as for
    /// the release, to the end, or for a sharper one that takes longer
    #[arg(long, value_name = "EFFORT", value_parser = effort(), default_value = "quick")]
    pub(crate) bound: Effort,
    /// Which partitions of a column's values optimal may choose, for all columns or for one: ghs,
    /// or age=ops; can be repeated
    #[arg(long, value_name = "[COLUMN=]SCHEME")]
    pub(crate) scheme: Vec<String>,
    /// What optimal and incognito make as small as they can
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Cost::ALL.map(Cost::name)))]
    pub(crate) cost: Option<String>,
    /// How optimal divides a part of the search: in halves, or as the enumeration tree from either
    /// end
    #[arg(long, value_name = "HOW", value_parser = branching(), default_value = "halves")]
    pub(crate) branching: Branching,
    /// Techniques that optimal does without, to see what each saves
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = PossibleValuesParser::new(TECHNIQUES))]
    pub(crate) without: Vec<String>,
    /// End the search of optimal after so many nodes: unlike --time, the same on every machine
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub(crate) nodes: u64,
    /// Allow the algorithm ring, whose releases are k-anonymous in another sense: every row could
    /// be any of k released rows, but these rows do not show the same
    #[arg(long)]
    pub(crate) non_homogeneous: bool,
    /// End the search after this time (500ms, 60s, 5m, 1h) with what it has; auto ends after 10s,
    /// or sooner when nothing gets better
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// How a range is written: its label, the set of its values, or two typed columns
    #[arg(long, value_name = "FORM", value_parser = publish())]
    pub(crate) publish: Option<Publish>,
    /// Show intervals of the hierarchy, not the exact least and greatest number
    #[arg(long)]
    pub(crate) snap: bool,
}

/// How the rows of a release are written.
#[derive(Debug, Args)]
pub(crate) struct Writing {
    /// Keep the rows in the order of the input: whoever knows that order knows who is who
    #[arg(long)]
    pub(crate) input_order: bool,
    /// Write text cells that a spreadsheet would run as formulas without a guarding apostrophe
    #[arg(long)]
    pub(crate) raw_formulas: bool,
    /// Write nothing and exit with 1 when the release would lose more than this share of the detail
    /// (GCP): 30% or 0.3
    #[arg(long, value_name = "SHARE")]
    pub(crate) max_loss: Option<Ratio>,
}

/// How the cells of a release are read.
#[derive(Debug, Args)]
pub(crate) struct Released {
    /// The release was written with --raw-formulas: read apostrophes before formulas as they are
    #[arg(long)]
    pub(crate) raw_formulas: bool,
}

/// Flags of `apply`.
#[derive(Debug, Args)]
pub(crate) struct Apply {
    /// The recoding file that `anonymize --recoding` kept
    pub(crate) recoding: PathBuf,
    /// Further rows of the same table; - is standard input
    pub(crate) data: PathBuf,
    /// Where the release goes; its ending (.csv, .csv.gz, .tsv, .parquet, .arrow, ...) tells the
    /// format; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the numbers of the run as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) writing: Writing,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

/// Flags of `verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The release
    pub(crate) release: PathBuf,
    /// The table it was made from: checks that every released row covers a row of it
    #[arg(long, value_name = "DATA")]
    pub(crate) source: Option<PathBuf>,
    /// The release is non-homogeneous: judge it against its source, every row of the source and of
    /// the release having k candidates
    #[arg(long, requires = "source")]
    pub(crate) non_homogeneous: bool,
    /// The proof that `anonymize --proof` kept of a non-homogeneous release
    #[arg(long, value_name = "FILE", requires = "source")]
    pub(crate) proof: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) released: Released,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

const CONFIDENTIAL: &str = "\
What this command prints is counted in the source, not taken from the release: keep it
as confidential as the source, above all what --each lists.";

/// Flags of `query`.
#[derive(Debug, Args)]
#[command(after_help = CONFIDENTIAL)]
pub(crate) struct Query {
    /// The table that the release was made from
    pub(crate) source: PathBuf,
    /// The release
    pub(crate) release: PathBuf,
    /// Ask the queries of this TOML file, not random ones (docs/queries.md has the form)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["count", "seed", "on", "sum"])]
    pub(crate) queries: Option<PathBuf>,
    /// How many random queries to draw, of counts and of sums each
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    /// Draw them from this seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The columns that random queries have conditions on; all quasi-identifiers when absent
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) on: Vec<String>,
    /// The column that random queries sum; the first numeric quasi-identifier when absent
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sum: Option<String>,
    /// List every query with its truth: confidential
    #[arg(long)]
    pub(crate) each: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) released: Released,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

/// How a table is read.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// What stands between the cells of a CSV file; guessed when absent
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<char>,
}

/// What the columns are and what must hold. Shared by `check`, `anonymize`, `apply`, `verify`,
/// `query`, `report` and, but for the file, `compare`.
#[derive(Debug, Args)]
pub(crate) struct RequestFlags {
    /// Read the request from a TOML file (see init); flags win over it, column by column
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) columns: Columns,
    #[command(flatten)]
    pub(crate) rules: Rules,
}

/// What the columns are. A name with a comma or an equals sign in it can only be given in the TOML
/// file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns (a name with a comma or = in it needs the TOML file)")]
pub(crate) struct Columns {
    /// Quasi-identifiers: could be joined with outside data; generalized
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) qi: Vec<String>,
    /// Sensitive: must not be inferred; published, and what the rules are about
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) sensitive: Vec<String>,
    /// Point at a person, such as names and numbers; dropped
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) identifier: Vec<String>,
    /// Published as they are
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// What happens to columns that nobody named
    #[arg(long, value_name = "WHAT", value_parser = rest())]
    pub(crate) rest: Option<Rest>,
    /// How values relate: numeric, date, ordinal or categorical
    #[arg(long, value_name = "COLUMN=KIND")]
    pub(crate) kind: Vec<Pair>,
    /// How much a column's loss counts; 1 when absent; the loss of a column of weight 0 is not
    /// counted
    #[arg(long, value_name = "COLUMN=NUMBER")]
    pub(crate) weight: Vec<Pair>,
    /// What may be shown instead of a value: FILE, intervals:5,10,20, prefix:4,3,2 or
    /// date:month,year
    #[arg(long, value_name = "COLUMN=HOW")]
    pub(crate) hierarchy: Vec<Pair>,
    /// The labels of an ordinal column, least first: a file with a label a line, or a list a,b,c
    #[arg(long, value_name = "COLUMN=LABELS")]
    pub(crate) order: Vec<Pair>,
    /// A text that means "missing", beside the empty cell; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) missing: Vec<String>,
    /// Publish this kept or sensitive column although it determines a quasi-identifier
    #[arg(long, value_name = "COLUMN")]
    pub(crate) dependent: Vec<String>,
}

/// What must hold.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct Rules {
    /// Every class has at least this many rows
    #[arg(short, value_name = "K")]
    pub(crate) k: Option<u64>,
    /// A further k on some of the quasi-identifiers: 1000:state,county
    #[arg(long, value_name = "K:A,B,..")]
    pub(crate) k_on: Vec<KOn>,
    /// No sensitive value fills more than this share of a class
    #[arg(long, value_name = "COLUMN=SHARE")]
    pub(crate) alpha: Vec<Pair>,
    /// The values that alpha is about, taken together: diagnosis=HIV,Flu
    #[arg(long, value_name = "COLUMN=A,B,..")]
    pub(crate) values: Vec<Pair>,
    /// No sensitive value fills more than 1/L of a class
    #[arg(long, value_name = "COLUMN=L")]
    pub(crate) l: Vec<Pair>,
    /// At least L different values in a class
    #[arg(long, value_name = "COLUMN=L")]
    pub(crate) distinct_l: Vec<Pair>,
    /// The entropy of a class is at least the logarithm of L
    #[arg(long, value_name = "COLUMN=L")]
    pub(crate) entropy_l: Vec<Pair>,
    /// Recursive (C,L)-diversity
    #[arg(long, value_name = "COLUMN=C:L")]
    pub(crate) recursive: Vec<Pair>,
    /// t-closeness: no class is farther from the whole table
    #[arg(long, value_name = "COLUMN=T")]
    pub(crate) t: Vec<Pair>,
    /// The ground distance of t-closeness: equal, ordered or hierarchical
    #[arg(long, value_name = "COLUMN=HOW")]
    pub(crate) distance: Vec<Pair>,
    /// The share of rows that may be left out: 1% or 0.01
    #[arg(long, value_name = "SHARE")]
    pub(crate) suppress: Option<Ratio>,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// How many rows to make up
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) rows: u64,
    /// From which seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder for patients.csv, lookalike.toml and safe.csv, which are written anew each time
    #[arg(short, long, value_name = "DIR", default_value = "lookalike-demo")]
    pub(crate) output: PathBuf,
}

/// Flags of `synth`.
#[derive(Debug, Args)]
pub(crate) struct Synth {
    /// Which table
    #[arg(value_parser = PossibleValuesParser::new(Synthetic::ALL.map(Synthetic::name)))]
    pub(crate) kind: String,
    /// How many rows; 2,000 (hospital), 100,000 (census), 500,000 (sal), 600,000 (income) or 10,000
    /// (uniform, gaussian) when absent
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<u64>,
    /// From which seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where the table goes; the ending tells the format; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// For which shell
    pub(crate) shell: clap_complete::Shell,
}

/// `COLUMN=VALUE`, cut at the first equals sign.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) column: String,
    pub(crate) value: String,
}

impl FromStr for Pair {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Pair, &'static str> {
        let (column, value) = text.split_once('=').ok_or("write it as COLUMN=VALUE")?;
        Ok(Pair { column: column.to_string(), value: value.to_string() })
    }
}

/// `K:COLUMN,COLUMN`
#[derive(Clone, Debug)]
pub(crate) struct KOn {
    pub(crate) k: u64,
    pub(crate) columns: Vec<String>,
}

impl FromStr for KOn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<KOn, &'static str> {
        let bad = "write it as K:COLUMN,COLUMN, for example 1000:state,county";
        let (k, columns) = text.split_once(':').ok_or(bad)?;
        Ok(KOn {
            k: k.parse().map_err(|_| bad)?,
            columns: columns.split(',').map(String::from).collect(),
        })
    }
}

/// The names of what `optimal` can do without.
const TECHNIQUES: [&str; 8] = [
    "seeding",
    "both-sides",
    "charge",
    "useless",
    "useful",
    "node-order",
    "applicator-order",
    "deferral",
];

impl How {
    /// How `optimal` goes about it.
    pub(crate) fn techniques(&self) -> Techniques {
        let with = |name: &str| !self.without.iter().any(|without| without == name);
        let [seeding, both_sides, charge, useless, useful, nodes, applicators, deferred] =
            TECHNIQUES.map(with);
        let (branching, most_nodes) = (self.branching, self.nodes);
        Techniques {
            branching,
            seeding,
            both_sides,
            charge,
            useless,
            useful,
            nodes,
            applicators,
            deferred,
            most_nodes,
        }
    }
}

fn branching() -> impl TypedValueParser<Value = Branching> {
    PossibleValuesParser::new(["halves", "bottom-up", "top-down"]).map(|text| match text.as_str() {
        "bottom-up" => Branching::BottomUp,
        "top-down" => Branching::TopDown,
        _ => Branching::Halves,
    })
}

fn effort() -> impl TypedValueParser<Value = Effort> {
    PossibleValuesParser::new(["none", "quick", "full", "tight"]).map(|text| match text.as_str() {
        "none" => Effort::None,
        "full" => Effort::Full,
        "tight" => Effort::Tight,
        _ => Effort::Quick,
    })
}

fn rest() -> impl TypedValueParser<Value = Rest> {
    PossibleValuesParser::new(["drop", "keep"])
        .map(|text| if text == "drop" { Rest::Drop } else { Rest::Keep })
}

fn publish() -> impl TypedValueParser<Value = Publish> {
    PossibleValuesParser::new(["label", "set", "bounds"]).map(|text| match text.as_str() {
        "set" => Publish::Set,
        "bounds" => Publish::Bounds,
        _ => Publish::Label,
    })
}

fn delimiter(text: &str) -> Result<char, &'static str> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | "\\t", _, _) => Ok('\t'),
        (_, Some(delimiter), None) => Ok(delimiter),
        _ => Err("one character, or tab"),
    }
}
