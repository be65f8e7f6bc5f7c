//! The command line as it was typed. Nothing is validated here:
//! [`RequestFlags::request`](crate::args::RequestFlags::request) does that.

mod coarsening;
mod compare;
mod explain;
mod hierarchy;
mod query;
mod reading;
mod report;
mod reproduce;
mod risk;
#[cfg(feature = "studio")]
mod studio;
mod values;

pub(crate) use coarsening::CoarseningArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use hierarchy::{
    HierarchyArgs, HierarchyCheckArgs, HierarchyCommand, HierarchyNew, HierarchyOutputArgs,
};
pub(crate) use query::QueryArgs;
pub(crate) use reading::ReadingArgs;
pub(crate) use report::ReportArgs;
pub(crate) use reproduce::ReproduceArgs;
pub(crate) use risk::RiskArgs;
#[cfg(feature = "studio")]
pub(crate) use studio::StudioArgs;
pub(crate) use values::{ColumnValue, KOn};

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use lookalike::Algorithm;
use lookalike::request::ratio::Ratio;
use lookalike::request::{Dialect, Persons, Publish, Rest};
use lookalike::search::global::{Branching, Cost, Techniques};
use lookalike::synthetic::Synthetic;

use lookalike::run::{Effort, Verify};

use values::{branching, dialect, effort, persons, publish, rest, rows, verify_effort, whole};

const START: &str = "\
Start here:
  lookalike demo                                   a made-up table, before and after
  lookalike init patients.csv                      suggest a role for every column
  lookalike anonymize -c lookalike.toml -o safe.csv
  lookalike anonymize patients.csv -k 5 --qi age,zip,sex --sensitive diagnosis \\
      --rest drop -o safe.csv

Exit codes: 0 success, and the release is verified; 1 the rules are not satisfied or cannot be;
2 wrong usage or configuration; 3 wrong input data; 4 out of time or memory before a release was
found; 5 reading or writing failed; 70 a bug; 130 interrupted. Nothing is written unless the code
is 0 or the message names the files.";

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
    pub(crate) global: GlobalArgs,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct GlobalArgs {
    /// Number of threads; default: all cores
    #[arg(long, global = true, value_name = "N", value_parser = whole::<usize>, help_heading = "Global options")]
    pub(crate) threads: Option<usize>,
    /// Memory limit (500MB, 8GB, 50%): the program stops with a message above it; default: 80% of
    /// the machine's memory
    #[arg(long, global = true, value_name = "SIZE", help_heading = "Global options")]
    pub(crate) max_memory: Option<String>,
    /// Print only warnings and errors
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Profile the columns of a table and write a configuration with suggested roles
    Init(InitArgs),
    /// Measure a table as it is: does it satisfy the rules already?
    Check(CheckArgs),
    /// Explain what costs the detail, and what would help: columns, k, suppression
    Explain(ExplainArgs),
    /// Make a release: search, write, read back and verify
    #[command(visible_alias = "anonymise")]
    Anonymize(Box<AnonymizeArgs>),
    /// Plan a release from distinct tuples with counts: what is published for how many rows of each
    Plan(Box<PlanArgs>),
    /// Release further rows with the recoding of an earlier release
    Apply(Box<ApplyArgs>),
    /// Check a release with independent code
    Verify(VerifyArgs),
    /// Answer counts and sums from a release and compare with the true answers
    Query(Box<QueryArgs>),
    /// Compare algorithms and values of k on one table: loss, bound, query error, time, memory
    Compare(Box<CompareArgs>),
    /// Write a page about a release: verdict, loss and remaining risk
    Report(Box<ReportArgs>),
    /// Repeat the experiments of four papers and check their claims
    Reproduce(ReproduceArgs),
    /// Anonymize a small made-up hospital table and show both tables
    Demo(DemoArgs),
    /// Open a page in the browser, on this computer alone: columns, hierarchies, rules, search, release
    #[cfg(feature = "studio")]
    Studio(StudioArgs),
    /// Make and check hierarchies
    Hierarchy(HierarchyArgs),
    /// Make a synthetic table of any size
    Synth(SynthArgs),
    /// Print a completion script for a shell
    Completions(CompletionArgs),
    /// Print the manual page of the program or of a command, or write all of them
    Man(ManArgs),
}

/// Flags of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Table: CSV (also .gz, .zst, .zip), a workbook, Parquet or Arrow; - is standard input
    pub(crate) data: PathBuf,
    /// Output file for the configuration; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "lookalike.toml")]
    pub(crate) output: PathBuf,
    /// Replace the configuration file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// Flags of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Table; default: the table of the configuration; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) risk: RiskArgs,
}

/// Flags of `anonymize`.
#[derive(Debug, Args)]
pub(crate) struct AnonymizeArgs {
    /// Table: CSV (also .gz, .zst, .zip), a workbook, Parquet or Arrow; default: the table of the
    /// configuration; - is standard input
    pub(crate) data: Option<PathBuf>,
    /// Output file for the release; the extension (.csv, .csv.gz, .tsv, .parquet, .arrow, ...)
    /// selects the format; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Output file for the proof of a release of persons or a non-homogeneous one, for `verify` and
    /// `report`; as secret as the table; default: that of the configuration, if it names one
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    /// Output file for the global recoding, for `apply`; as secret as the table
    #[arg(long, value_name = "FILE")]
    pub(crate) recoding: Option<PathBuf>,
    /// Output file for the configuration as it was used: the one of -c with all flags over it and without
    /// the seed, for `report` and `verify`
    #[arg(long, value_name = "FILE")]
    pub(crate) save_config: Option<PathBuf>,
    /// Effort of the audit of the written release: rules, also the comparison with the source along the
    /// rows of the run (source), or by matching anew (full); default: source where it takes no longer
    /// than the search
    #[arg(long, value_name = "EFFORT", value_parser = verify_effort(), default_value = "auto", hide_default_value = true)]
    pub(crate) verify: Verify,
    /// Random seed, to make a run repeatable (a run of ring is not); keep it secret
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub(crate) seed: Option<u64>,
    /// Set a tuned number of the local searches: cell_tuples=30000; can be repeated, for bench/tune
    #[arg(long, value_name = "NAME=VALUE", hide = true)]
    pub(crate) tune: Vec<String>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) release: ReleaseArgs,
}

/// Flags of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Table of distinct tuples, one row each, with a column of counts (--count); - is standard input
    pub(crate) counts: PathBuf,
    /// Output file for the plan, as secret as the table: a row for each piece of a tuple, with the
    /// original cells, the published ones, and the numbers of its rows; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Random seed, to make a run repeatable; keep it secret
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
    #[command(flatten)]
    pub(crate) release: ReleaseArgs,
}

/// Flags for the search and for the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search and output")]
pub(crate) struct ReleaseArgs {
    /// Search algorithm
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name)))]
    pub(crate) algorithm: Option<String>,
    #[command(flatten)]
    pub(crate) how: SearchArgs,
    #[command(flatten)]
    pub(crate) writing: WritingArgs,
}

/// Options of the search and of published values. Shared by `anonymize` and `compare`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Rounds of the search for two distant rows in top-down, ring and bottom-up (default 3); tries
    /// for each split in cluster (default 15)
    #[arg(long, value_name = "N", value_parser = whole::<u32>)]
    pub(crate) rounds: Option<u32>,
    /// Number of improvement steps of auto: unlike --time, the same on every machine
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub(crate) steps: Option<u64>,
    /// Price of a suppressed row, 0 to 1: with 0 every row goes that makes the others finer, with 1
    /// only one whose others gain as much as it loses. Default: 0.25
    #[arg(long, value_name = "0-1")]
    pub(crate) suppression_price: Option<Ratio>,
    /// Effort for the lower bound on the loss: none, quick, full, or tight (sharper, up to a minute)
    #[arg(long, value_name = "EFFORT", value_parser = effort(), default_value = "quick")]
    pub(crate) bound: Effort,
    /// Recoding scheme of optimal, for all columns (ghs) or for one (age=ops); can be repeated
    #[arg(long, value_name = "[COLUMN=]SCHEME")]
    pub(crate) scheme: Vec<String>,
    /// Loss measure that optimal and incognito minimize
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(Cost::ALL.map(Cost::name)))]
    pub(crate) cost: Option<String>,
    /// Branching rule of optimal: halves, or the enumeration tree from the bottom or the top
    #[arg(long, value_name = "HOW", value_parser = branching(), default_value = "halves")]
    pub(crate) branching: Branching,
    /// Pruning techniques of optimal to switch off, to measure their effect
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', value_parser = PossibleValuesParser::new(TECHNIQUES))]
    pub(crate) without: Vec<String>,
    /// Node limit of optimal: unlike --time, the same on every machine
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub(crate) nodes: u64,
    /// Allow the algorithm ring. Its releases are k-anonymous in a weaker sense: every row could be
    /// any of k released rows, but these rows differ from each other
    #[arg(long)]
    pub(crate) non_homogeneous: bool,
    /// Time limit of the search (500ms, 60s, 5m, 1h); the best release so far is written. Default:
    /// 10s for auto, none for the others
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// How a text file is written (delimiter, line ends, decimal commas, dates): as the input, or
    /// plain (commas, LF, decimal points, 2024-03-17); default: as the input
    #[arg(long, value_name = "DIALECT", value_parser = dialect())]
    pub(crate) dialect: Option<Dialect>,
    /// Form of a published range: its label, the set of its values, two columns with its bounds, or
    /// these and a third with their middle
    #[arg(long, value_name = "FORM", value_parser = publish())]
    pub(crate) publish: Option<Publish>,
    /// Publish intervals of the hierarchy instead of the exact minimum and maximum
    #[arg(long)]
    pub(crate) snap: bool,
}

/// Flags for the rows of a release.
#[derive(Debug, Args)]
pub(crate) struct WritingArgs {
    /// Keep the row order of the input. Unsafe: who knows that order can identify rows
    #[arg(long)]
    pub(crate) input_order: bool,
    /// Write no apostrophe before text cells that a spreadsheet would run as formulas
    #[arg(long)]
    pub(crate) raw_formulas: bool,
    /// Write a codebook beside the release, FILE.codebook.json and FILE.codebook.html: what each
    /// column has, and how its cells are read
    #[arg(long)]
    pub(crate) codebook: bool,
    /// Greatest loss (GCP) to accept, 30% or 0.3: above it nothing is written and the exit code is 1
    #[arg(long, value_name = "SHARE")]
    pub(crate) max_loss: Option<Ratio>,
}

/// Flags for reading a release.
#[derive(Debug, Args)]
pub(crate) struct ReleasedArgs {
    /// The release was written with --raw-formulas: its leading apostrophes belong to the data
    #[arg(long)]
    pub(crate) raw_formulas: bool,
}

/// Flags of `apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Recoding file from `anonymize --recoding`
    pub(crate) recoding: PathBuf,
    /// Further rows of the same table; - is standard input
    pub(crate) data: PathBuf,
    /// Output file for the release; the extension (.csv, .csv.gz, .tsv, .parquet, .arrow, ...)
    /// selects the format; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Effort of the audit of the written release: rules, also the comparison with the source along the
    /// rows of the run (source), or by matching anew (full); default: source where it takes no longer
    /// than the search
    #[arg(long, value_name = "EFFORT", value_parser = verify_effort(), default_value = "auto", hide_default_value = true)]
    pub(crate) verify: Verify,
    #[command(flatten)]
    pub(crate) writing: WritingArgs,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

/// Flags of `verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Release to check; default: the output of the configuration, and its table is the source where
    /// it is there
    pub(crate) release: Option<PathBuf>,
    /// Source table: also check that every released row covers a row of it
    #[arg(long, value_name = "DATA")]
    pub(crate) source: Option<PathBuf>,
    /// Table of counts: RELEASE is a plan for it; check every piece of the plan
    #[arg(long, value_name = "COUNTS", conflicts_with = "source")]
    pub(crate) plan_of: Option<PathBuf>,
    /// The release is non-homogeneous: check that every row of the source and of the release has k
    /// candidates
    #[arg(long)]
    pub(crate) non_homogeneous: bool,
    /// Proof file from `anonymize --proof`: of a non-homogeneous release, or of one whose rules count
    /// persons; default: that of the configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) released: ReleasedArgs,
    #[command(flatten)]
    pub(crate) request: RequestFlags,
}

/// Roles of columns and privacy rules. Shared by `check`, `anonymize`, `apply`, `verify`, `query`,
/// `report` and, except for the file, `compare`.
#[derive(Debug, Args)]
pub(crate) struct RequestFlags {
    /// Configuration file in TOML (see init); flags override it, column by column
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// Roles and kinds of columns. A name with a comma or an equals sign in it can only be given in
/// the TOML file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns (a name with a comma or = in it needs the TOML file)")]
pub(crate) struct ColumnArgs {
    /// Quasi-identifiers: others may know them of a person; generalized
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) qi: Vec<String>,
    /// Sensitive columns: must not be inferred of a person; published unchanged, under rules
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) sensitive: Vec<String>,
    /// Identifiers, such as names and numbers of persons; dropped
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) identifier: Vec<String>,
    /// Insensitive columns: published unchanged
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) keep: Vec<String>,
    /// Columns that name the person of a row (together): k counts persons, not rows; dropped
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) person: Vec<String>,
    /// How rows of one person count: whole (all in one class; each person counts once) or rows (in
    /// any classes; k counts persons); default: whole, unless many persons change over their rows
    #[arg(long, value_name = "HOW", value_parser = persons())]
    pub(crate) persons: Option<Persons>,
    /// Publish a random number for each person in place of the person key; new for each release
    #[arg(long)]
    pub(crate) pseudonyms: bool,
    /// Sampling weight of a survey: for the risk; published unchanged
    #[arg(long, value_name = "COLUMN")]
    pub(crate) sampling_weight: Vec<String>,
    /// Columns without a role: drop them or keep them unchanged
    #[arg(long, value_name = "WHAT", value_parser = rest())]
    pub(crate) rest: Option<Rest>,
    /// With --rest keep: publish the columns although many rows are unique on those published
    /// unchanged
    #[arg(long)]
    pub(crate) accept_unique: bool,
    /// Kind of a column: numeric, date, ordinal or categorical
    #[arg(long, value_name = "COLUMN=KIND")]
    pub(crate) kind: Vec<ColumnValue>,
    /// Weight of a column in the loss; default 1; a column of weight 0 is not counted
    #[arg(long, value_name = "COLUMN=NUMBER")]
    pub(crate) weight: Vec<ColumnValue>,
    /// Columns that the release is made for, kept or sensitive: the weights of quasi-identifiers
    /// without --weight are set from what each tells about them
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) purpose: Vec<String>,
    /// Generalization hierarchy of a column: FILE, intervals:5,10,20, prefix:4,3,2,
    /// date:month,year or builtin:countries (see hierarchy list)
    #[arg(long, value_name = "COLUMN=HOW")]
    pub(crate) hierarchy: Vec<ColumnValue>,
    /// Labels of an ordinal column, lowest first: a file with one label per line, or a list a,b,c
    #[arg(long, value_name = "COLUMN=LABELS")]
    pub(crate) order: Vec<ColumnValue>,
    /// Text that means "missing", in addition to the empty cell; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) missing: Vec<String>,
    /// Column that says for how many rows each row of the table stands
    #[arg(long, value_name = "COLUMN")]
    pub(crate) count: Option<String>,
    /// Publish this kept or sensitive column although it determines a quasi-identifier
    #[arg(long = "accept-dependent", alias = "dependent", value_name = "COLUMN")]
    pub(crate) dependent: Vec<String>,
    #[command(flatten)]
    pub(crate) coarsening: CoarseningArgs,
    /// Why a column has its role: a text for the record in the report
    #[arg(long, value_name = "COLUMN=TEXT")]
    pub(crate) reason: Vec<ColumnValue>,
}

/// Privacy rules.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArgs {
    /// Least number of rows in a class (k-anonymity)
    #[arg(short, value_name = "K", value_parser = rows, allow_negative_numbers = true)]
    pub(crate) k: Option<u64>,
    /// Another k on some of the quasi-identifiers: 1000:state,county
    #[arg(long, value_name = "K:A,B,..")]
    pub(crate) k_on: Vec<KOn>,
    /// Greatest share of a sensitive value in a class
    #[arg(long, value_name = "COLUMN=SHARE")]
    pub(crate) alpha: Vec<ColumnValue>,
    /// Values under the rule alpha, counted together: diagnosis=HIV,Flu
    #[arg(long, value_name = "COLUMN=A,B,..")]
    pub(crate) values: Vec<ColumnValue>,
    /// l-diversity: no sensitive value has more than 1/L of a class
    #[arg(long, value_name = "COLUMN=L")]
    pub(crate) l: Vec<ColumnValue>,
    /// Distinct l-diversity: at least L different values in a class
    #[arg(long, value_name = "COLUMN=L")]
    pub(crate) distinct_l: Vec<ColumnValue>,
    /// Entropy l-diversity: the entropy of a class is at least log L
    #[arg(long, value_name = "COLUMN=L")]
    pub(crate) entropy_l: Vec<ColumnValue>,
    /// Recursive (C,L)-diversity
    #[arg(long, value_name = "COLUMN=C:L")]
    pub(crate) recursive: Vec<ColumnValue>,
    /// t-closeness: greatest distance of a class from the whole table
    #[arg(long, value_name = "COLUMN=T")]
    pub(crate) t: Vec<ColumnValue>,
    /// Ground distance of t-closeness: equal, ordered or hierarchical
    #[arg(long, value_name = "COLUMN=HOW")]
    pub(crate) distance: Vec<ColumnValue>,
    /// Greatest share of rows to suppress: 1% or 0.01
    #[arg(long, value_name = "SHARE")]
    pub(crate) suppress: Option<Ratio>,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) rows: u64,
    /// Random seed of the table
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for patients.csv, lookalike.toml and safe.csv; they are replaced each time
    #[arg(short, long, value_name = "DIR", default_value = "lookalike-demo")]
    pub(crate) output: PathBuf,
}

/// Flags of `synth`.
#[derive(Debug, Args)]
pub(crate) struct SynthArgs {
    /// Kind of table
    #[arg(value_parser = PossibleValuesParser::new(Synthetic::ALL.map(Synthetic::name)))]
    pub(crate) kind: String,
    /// Number of rows; default: 2,000 (hospital), 100,000 (census), 500,000 (sal), 600,000 (income),
    /// 10,000 (uniform, gaussian)
    #[arg(long, value_name = "N")]
    pub(crate) rows: Option<u64>,
    /// Random seed of the table
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Output file; the extension selects the format; - is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// Name of the shell
    pub(crate) shell: clap_complete::Shell,
}

/// Flags of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Command, such as anonymize or hierarchy new; default: the program itself
    #[arg(conflicts_with = "to")]
    pub(crate) command: Vec<String>,
    /// Folder for all pages: lookalike.1, lookalike-anonymize.1, ...
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: Option<PathBuf>,
    /// Replace pages that exist
    #[arg(long, requires = "to")]
    pub(crate) force: bool,
}

/// The techniques of `optimal` that can be switched off.
const TECHNIQUES: [&str; 9] = [
    "seeding",
    "both-sides",
    "charge",
    "prices",
    "useless",
    "useful",
    "node-order",
    "applicator-order",
    "deferral",
];

impl SearchArgs {
    /// The techniques of `optimal`.
    pub(crate) fn techniques(&self) -> Techniques {
        let with = |name: &str| !self.without.iter().any(|without| without == name);
        let [seeding, both_sides, charge, prices, useless, useful, nodes, applicators, deferred] =
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
            unpriced: if prices { Techniques::default().unpriced } else { u64::MAX },
            most_nodes,
        }
    }
}
