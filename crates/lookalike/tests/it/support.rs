//! From a table on disk to a verified release, as a user of the library would write it.

use std::path::{Path, PathBuf};

use lookalike::audit::{self, Verdict, View};
use lookalike::evaluate::loss::{Loss, loss};
use lookalike::release::{Cells, Release};
use lookalike::rng::{Key, Rng};
use lookalike::synthetic::{self, Synthetic};
use lookalike::table::Table;
use lookalike::{
    Algorithm, Budget, Problem, Request, Result, SearchOptions, Techniques, problem,
    release::proof, solve, table,
};

/// Those of some file names whose format this build has.
pub(crate) fn built<'a>(names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| table::file_type(Path::new(name)).is_ok()).collect()
}

/// What became of a table.
pub(crate) struct Done {
    pub(crate) loss: Loss,
    /// Classes as the engine counts them; the verdict has them as a reader of the file does.
    pub(crate) classes: u64,
    pub(crate) verdict: Verdict,
    pub(crate) bytes: Vec<u8>,
}

/// Anonymizes `input` into `output` and lets the audit judge the file against its source.
pub(crate) fn publish(
    input: &Path,
    output: &Path,
    request: &Request,
    algorithm: Algorithm,
    seed: u64,
) -> Result<Done> {
    let request = &Request { seed: Some(seed), ..request.clone() };
    let source = table::open(input, None)?;
    let roles = request.roles(source.names())?;
    let treatments = problem::treatments(source.names(), &roles);
    let table = source.read(&treatments)?;
    let problem = Problem::new(&table, &roles, request)?;
    // An exact search may go on for ever; after a few nodes it has a valid release like any other.
    let techniques = Techniques { seeding: false, most_nodes: 4, ..Techniques::default() };
    let outcome = solve(
        &problem,
        SearchOptions { techniques, steps: Some(200), ..SearchOptions::new(algorithm, seed) },
        &Budget::unlimited(),
    );
    let file_type = table::file_type(output)?;
    let cells = if matches!(file_type.format, table::Format::Csv { .. }) {
        Cells::Text
    } else {
        Cells::Typed
    };
    let release = Release::new(
        &problem,
        &outcome.recoding,
        &table,
        &roles,
        request,
        Key::from_seed(seed),
        cells,
    )?;
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
    let released = read(output, request, View::ReleaseAgainstSource)?;
    let original = read(input, request, View::Source)?;
    let verdict = match &outcome.rings {
        None => audit::audit_against(&released, &original, request)?,
        Some(rings) => audit::audit_rings(
            &released,
            &original,
            request,
            Some(&proof::proof(&problem, rings, &release)?),
        )?,
    };
    let classes = outcome.recoding.classes().len() as u64;
    Ok(Done {
        loss: loss(&problem, &outcome.recoding),
        classes,
        verdict,
        bytes: std::fs::read(output).unwrap(),
    })
}

pub(crate) fn read(path: &Path, request: &Request, view: View) -> Result<Table> {
    let source = table::open(path, None)?;
    let treatments = audit::treatments(source.names(), request, view);
    let is_guarded = view != View::Source && source.is_csv() && !request.output.raw_formulas;
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

/// The folder of real tables, or none with a visible word.
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
