//! Write: the release goes where nobody looks for it yet.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use rayon::prelude::*;

use crate::audit::Proof;
use crate::error::Result;
use crate::evaluate::uniqueness::{PlacedRows, unique_in_classes};
use crate::release::codebook::Codebook;
use crate::release::proof::proof;
use crate::release::tuple_plan::TuplePlan;
use crate::release::{Release, recoding_file};
use crate::rng::Key;
use crate::table::{self, Access, FileType, Pending};

use super::audit::{RowOrder, SourceComparison, comparison};
use super::options::{ReleaseFormat, RunPlan};
use super::report::Found;
use super::search::FoundRecoding;
use super::target::{Sink, Target};
use super::{Product, Run};

/// A release that is written, but not verified.
pub(super) struct WrittenRelease<'a> {
    pub(super) place: ReleasePlace<'a>,
    pub(super) schema: SchemaRef,
    /// Of a non-homogeneous release.
    pub(super) proof: Option<Proof>,
    /// The text of the recoding file, if the run asks for one.
    pub(super) recoding: Option<String>,
    /// The codebook, if the request asks for one.
    pub(super) codebook: Option<Codebook>,
    /// The comparison with the source that the audit makes.
    pub(super) comparison: SourceComparison,
    pub(super) guarded: u64,
    pub(super) found: Found,
}

/// Batches of one schema.
pub(super) struct Batches {
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
}

/// Where a release waits for its audit.
pub(super) enum ReleasePlace<'a> {
    File {
        pending: Pending,
        file_type: FileType,
        path: PathBuf,
    },
    Memory {
        batches: Batches,
    },
    /// The batches stay in memory where the sink cannot read them back.
    Sink {
        sink: Sink<'a>,
        batches: Option<Batches>,
    },
}

pub(super) fn write<'t>(
    run: &Run,
    plan: &RunPlan,
    mut found: FoundRecoding,
    target: Target<'t>,
) -> Result<WrittenRelease<'t>> {
    let order = match &target {
        Target::Sink(sink) if sink.reads_back() => RowOrder::Any,
        _ => RowOrder::AsWritten,
    };
    let comparison = comparison(run, plan.product, order, &mut found);
    let mut release = match plan.product {
        Product::Release => Rows::Release(released(run, plan, &found)?),
        Product::Plan => Rows::Plan(planned(run, &found)?),
    };
    if let (Rows::Release(release), Some(unique)) = (&release, &mut found.found.unique) {
        let persons = found.problem.persons().map(|persons| persons.rows.of_rows());
        let persons: Option<Vec<u32>> = persons.map(|persons| persons.iter().collect());
        let (rows, classes, counts) = release.placed();
        let placed = PlacedRows { rows, classes, counts };
        unique.with_quasi = Some(unique_in_classes(placed, &found.unchanged, persons.as_deref()));
    }
    let codebook = match &release {
        Rows::Release(release) if run.request.output.codebook => {
            let FoundRecoding { problem, outcome, table, roles, .. } = &found;
            let made = release.codebook(problem, &outcome.recoding, table, roles, &run.request)?;
            Some(made)
        }
        _ => None,
    };
    let FoundRecoding { problem, outcome, table, found, .. } = found;
    let recoding = &outcome.recoding;
    let proof = match (outcome.rings, &mut release) {
        (Some(rings), Rows::Release(release)) => Some(proof(&problem, &rings, release)?),
        (None, Rows::Release(release)) if comparison.needs_origins() => {
            release.record_origins();
            None
        }
        _ => None,
    };
    let global = recoding.published().filter(|_| run.recoding_copy.is_some());
    let recoding = global.map(|found| recoding_file::text(problem.attributes(), found));
    // The largest tables of the run are not needed any more.
    drop((problem, outcome.recoding, table));

    let place = match (target, plan.format) {
        (Target::File(path), ReleaseFormat::File(named)) => {
            let file_type = run.dialect.map_or(named, |dialect| named.in_dialect(&path, dialect));
            let access = match plan.product {
                Product::Release => Access::Usual,
                // It has the original cells.
                Product::Plan => Access::Owner,
            };
            let pending = Pending::with_access(&path, run.existing, access)?;
            let batch = |at| release.batch(run, at);
            let (file, schema) = (pending.file()?, release.schema());
            table::write(file, &path, file_type, schema, release.batches(), batch)?;
            ReleasePlace::File { pending, file_type, path }
        }
        (Target::Sink(sink), _) => to_sink(run, &release, sink)?,
        _ => ReleasePlace::Memory { batches: all_batches(run, &release)? },
    };
    let (comparison, guarded) = match &mut release {
        Rows::Release(release) => (comparison.with_origins(release), release.guarded()),
        Rows::Plan(_) => (comparison, 0),
    };
    let schema = release.schema().clone();
    Ok(WrittenRelease { place, schema, proof, recoding, codebook, comparison, guarded, found })
}

/// The rows of the product.
enum Rows {
    Release(Release),
    Plan(TuplePlan),
}

impl Rows {
    fn schema(&self) -> &SchemaRef {
        match self {
            Rows::Release(release) => release.schema(),
            Rows::Plan(plan) => plan.schema(),
        }
    }

    fn batches(&self) -> usize {
        match self {
            Rows::Release(release) => release.batches(),
            Rows::Plan(plan) => plan.batches(),
        }
    }

    /// One batch, unless the run was given up.
    fn batch(&self, run: &Run, at: usize) -> Result<RecordBatch> {
        run.cancel.check()?;
        match self {
            Rows::Release(release) => release.batch(at),
            Rows::Plan(plan) => plan.batch(at),
        }
    }
}

fn released(run: &Run, plan: &RunPlan, found: &FoundRecoding) -> Result<Release> {
    let FoundRecoding { problem, outcome, table, roles, .. } = found;
    let (key, cells) = (Key::of(run.request.seed), plan.format.cells());
    Release::new(problem, &outcome.recoding, table, roles, &run.request, key, cells)
}

fn planned(run: &Run, found: &FoundRecoding) -> Result<TuplePlan> {
    let FoundRecoding { problem, outcome, table, roles, .. } = found;
    let key = Key::of(run.request.seed);
    let name = run.tuple_name;
    TuplePlan::new(problem, &outcome.recoding, table, roles, &run.request, key, name)
}

/// All batches, made in parallel.
fn all_batches(run: &Run, release: &Rows) -> Result<Batches> {
    let batch = |at| release.batch(run, at);
    let made: Vec<_> = (0..release.batches()).into_par_iter().map(batch).collect();
    // Of several faults the first is reported, whichever thread was faster.
    let batches = made.into_iter().collect::<Result<_>>()?;
    Ok(Batches { schema: release.schema().clone(), batches })
}

/// How many batches are made at a time and then written in order.
const AT_ONCE: usize = 8;

/// Gives all batches to the sink, in order; they are kept where it cannot read them back.
fn to_sink<'t>(run: &Run, release: &Rows, mut sink: Sink<'t>) -> Result<ReleasePlace<'t>> {
    let batch = |at| release.batch(run, at);
    let mut kept = (!sink.reads_back()).then(Vec::new);
    for start in (0..release.batches()).step_by(AT_ONCE) {
        let end = (start + AT_ONCE).min(release.batches());
        let made: Vec<_> = (start..end).into_par_iter().map(batch).collect();
        for batch in made {
            let batch = batch?;
            sink.write(&batch)?;
            if let Some(kept) = &mut kept {
                kept.push(batch);
            }
        }
    }
    let schema = release.schema().clone();
    Ok(ReleasePlace::Sink { sink, batches: kept.map(|batches| Batches { schema, batches }) })
}
