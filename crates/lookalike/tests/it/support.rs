//! From a table on disk to a verified release, as a user of the library would write it.

use std::path::{Path, PathBuf};

use lookalike::audit::{self, AuditView, Verdict};
use lookalike::evaluate::loss::{Loss, loss};
use lookalike::release::{CellFormat, Release};
use lookalike::request::Roles;
use lookalike::rng::{Key, Rng};
use lookalike::run::{Effort, Run, Verify};
use lookalike::search::global::Techniques;
use lookalike::synthetic::{self, Synthetic};
use lookalike::table::{Existing, Table};
use lookalike::{
    Algorithm, Budget, Outcome, Problem, Request, Result, SearchOptions, problem, release::proof,
    solve, table,
};

/// The quasi-identifiers of Adult in the order of the papers.
pub(crate) const EIGHT: [&str; 8] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
];

/// Those of some file names whose format this build has.
pub(crate) fn built<'a>(names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| table::file_type(Path::new(name)).is_ok()).collect()
}

/// The release of a table, and its audit.
pub(crate) struct Done {
    pub(crate) loss: Loss,
    /// Classes of the recoding; those in the verdict are counted in the file.
    pub(crate) classes: u64,
    pub(crate) verdict: Verdict,
    pub(crate) bytes: Vec<u8>,
}

/// Anonymizes `input` into `output` by the run of the library, which audits the file against its
/// source.
pub(crate) fn publish(
    input: &Path,
    output: &Path,
    request: &Request,
    algorithm: Algorithm,
    seed: u64,
) -> Result<Done> {
    let request = Request {
        seed: Some(seed),
        algorithm: Some(algorithm.name().to_string()),
        non_homogeneous: !algorithm.is_homogeneous(),
        steps: Some(200),
        ..request.clone()
    };
    let run = Run::new(&request).techniques(few_nodes()).bound(Effort::None).verify(Verify::Full);
    let report = run.existing(Existing::Overwrite).to_file(input, output)?;
    let (loss, classes) = (report.found.loss, report.verdict.measures.classes);
    let bytes = std::fs::read(output).unwrap();
    Ok(Done { loss, classes, verdict: report.verdict, bytes })
}

/// An exact search may take very long; after a few nodes it has a valid release like any other.
fn few_nodes() -> Techniques {
    Techniques { seeding: false, most_nodes: 4, ..Techniques::default() }
}

/// A table under a request, read once for all algorithms and formats.
pub(crate) struct Input {
    request: Request,
    seed: u64,
    table: Table,
    roles: Roles,
    problem: Problem,
    /// The table as the audit reads it.
    original: Table,
}

impl Input {
    pub(crate) fn read(path: &Path, request: &Request, seed: u64) -> Result<Input> {
        let request = Request { seed: Some(seed), ..request.clone() };
        let source = table::open(path, None)?;
        let roles = request.roles(source.names())?;
        let treatments = problem::treatments(source.names(), &roles);
        let table = source.read(&treatments)?;
        let problem = Problem::new(&table, &roles, &request)?;
        let original = read(path, &request, AuditView::Source)?;
        Ok(Input { request, seed, table, roles, problem, original })
    }

    pub(crate) fn solve(&self, algorithm: Algorithm) -> Solved<'_> {
        let options = SearchOptions {
            techniques: few_nodes(),
            steps: Some(200),
            ..SearchOptions::new(algorithm, self.seed)
        };
        Solved { input: self, outcome: solve(&self.problem, options, &Budget::unlimited()) }
    }
}

/// The outcome of a search, which can be written in several formats.
pub(crate) struct Solved<'a> {
    input: &'a Input,
    outcome: Outcome,
}

impl Solved<'_> {
    /// Writes the release to a file.
    pub(crate) fn write(&self, output: &Path) -> Result<Release> {
        let Input { request, seed, table, roles, problem, .. } = self.input;
        let file_type = table::file_type(output)?;
        let format = if matches!(file_type.format, table::Format::Csv { .. }) {
            CellFormat::Text
        } else {
            CellFormat::Typed
        };
        let key = Key::from_seed(*seed);
        let recoding = &self.outcome.recoding;
        let release = Release::new(problem, recoding, table, roles, request, key, format)?;
        let pending = table::Pending::beside(output, table::Existing::Overwrite)?;
        table::write(
            pending.file()?,
            output,
            file_type,
            release.schema(),
            release.batches(),
            |index| release.batch(index),
        )?;
        pending.publish()?;
        Ok(release)
    }

    /// Writes the release to a file and audits the file against its source.
    pub(crate) fn publish(&self, output: &Path) -> Result<Done> {
        let Input { request, problem, original, .. } = self.input;
        let release = self.write(output)?;
        let released = read(output, request, AuditView::ReleaseAgainstSource)?;
        let verdict = match &self.outcome.rings {
            None => audit::audit_against(&released, original, request)?,
            Some(rings) => {
                let proof = proof::proof(problem, rings, &release)?;
                audit::audit_rings(&released, original, request, Some(&proof))?
            }
        };
        Ok(Done {
            loss: loss(problem, &self.outcome.recoding),
            classes: self.outcome.recoding.classes().len() as u64,
            verdict,
            bytes: std::fs::read(output).unwrap(),
        })
    }
}

pub(crate) fn read(path: &Path, request: &Request, view: AuditView) -> Result<Table> {
    let source = table::open(path, None)?;
    let treatments = audit::treatments(source.names(), request, view);
    let is_guarded = view != AuditView::Source && source.is_csv() && !request.output.raw_formulas;
    let mut table = source.read(&treatments)?;
    if is_guarded {
        audit::unguard(&mut table);
    }
    Ok(table)
}

/// Writes a seeded made-up hospital table as CSV.
pub(crate) fn hospital(folder: &Path, seed: u64, rows: usize) -> PathBuf {
    let path = folder.join("hospital.csv");
    let file = std::fs::File::create(&path).unwrap();
    let schema = synthetic::schema(Synthetic::Hospital);
    let batch = |_| Ok(synthetic::batch(Synthetic::Hospital, seed, 0, rows));
    table::write(file, &path, table::file_type(&path).unwrap(), &schema, 1, batch).unwrap();
    path
}

/// A tiny seeded table: two numbers, a category, a sensitive value; cells may be missing.
pub(crate) fn tiny(folder: &Path, seed: u64, rows: u64) -> PathBuf {
    let mut rng = Rng::new(seed);
    let mut text = "age,pay,town,ill\n".to_string();
    for _ in 0..rows {
        let age = if rng.below(8) == 0 { String::new() } else { (20 + rng.below(5)).to_string() };
        let town = ["A", "B", "C"][usize::try_from(rng.below(3)).unwrap()];
        let ill = ["flu", "gout"][usize::try_from(rng.below(2)).unwrap()];
        text += &format!("{age},{},{town},{ill}\n", rng.below(4) * 10);
    }
    let path = folder.join("tiny.csv");
    std::fs::write(&path, text).unwrap();
    path
}

/// The folder of real tables; none, with a message, where it is absent.
pub(crate) fn real_tables() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("LOOKALIKE_DATA").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!(
        "skipped: no real tables at {}; set LOOKALIKE_DATA to their folder",
        folder.display()
    );
    None
}
