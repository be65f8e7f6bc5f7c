//! Xu, Wang, Pei, Wang, Shi, Fu: Utility-Based Anonymization Using Local Recoding, KDD 2006, and
//! its extended version, whose figures are the ones that are numbered here. MultiDim is `mondrian`.

mod claims;

use lookalike::evaluate::query::Workload;
use lookalike::request::{ColumnRequest, HierarchySpec, Kind, Rest, Role};
use lookalike::search::far_pair_shares;
use lookalike::synthetic::PointGrid;
use lookalike::{Algorithm, Problem, Request};

use crate::PaperResults;
use crate::data::{self, AdultRows, Data};
use crate::figure::{BY_K, C_DM, Figure, NCP, Quantity, RunSeries, SECONDS};
use crate::lab::{Experiment, Lab, Outcomes, SEED};
use crate::store::RunNumbers;
use crate::taxonomies::{self, EDUCATION, Family};
use lookalike_report::plot::AxisScale;

const PAPER: &str = "xu2006";
const METHODS: [Algorithm; 3] = [Algorithm::Mondrian, Algorithm::BottomUp, Algorithm::TopDown];
/// With the other readings of what the greedy steps keep low.
const READINGS: [Algorithm; 5] = [
    Algorithm::Mondrian,
    Algorithm::BottomUp,
    Algorithm::TopDown,
    Algorithm::BottomUpRow,
    Algorithm::TopDownRow,
];
const COUNT_ERROR: Quantity =
    Quantity::new("count_error", "mean relative error of COUNT", AxisScale::FromZero);
const SUM_ERROR: Quantity =
    Quantity::new("sum_error", "mean relative error of SUM", AxisScale::FromZero);
/// How many rounds the search for far pairs takes at most in the figure, and from how many tuples
/// it starts.
const ROUNDS: [u32; 6] = [1, 2, 3, 4, 5, 6];
const STARTS: u32 = 100;

/// Runs the experiments.
pub(crate) fn run(lab: &Lab, adult: Option<&AdultRows>) -> Outcomes<PaperResults> {
    let mut report = PaperResults::default();
    let adult = adult.map(|rows| data::adult_table("adult", rows)).transpose()?;
    let on_adult = adult.as_ref().map(|data| by_k_on_adult(lab, data, &mut report)).transpose()?;
    let rows = lab.choose(10_000, 2_000);
    let uniform = data::grid(PointGrid { columns: 4, sigma: None }, rows, SEED)?;
    let gaussian = data::grid(PointGrid { columns: 4, sigma: Some(1.0) }, rows, SEED)?;
    let shapes = Shapes {
        uniform: by_k(lab, &uniform, false)?,
        gaussian: by_k(lab, &gaussian, true)?,
        sigma: by_sigma(lab, rows)?,
        columns: by_columns(lab, rows)?,
        weights: by_weights(lab, &uniform)?,
        size: by_size(lab)?,
    };
    shapes.draw(&mut report);
    let tables = [adult.as_ref(), Some(&uniform), Some(&gaussian)];
    let seeds = far_pairs(lab, &tables.into_iter().flatten().collect::<Vec<_>>())?;
    report.figures.push(Figure::of(
        PAPER,
        "figure 22",
        "seed-distance-by-rounds",
        "Distance of the seeds over the largest",
        (
            Quantity::new("rounds", "rounds", AxisScale::Linear),
            Quantity::new("share", "share of the largest certainty penalty", AxisScale::Linear),
        ),
        &seeds,
    ));
    report.claims.extend(claims::on_adult(on_adult.as_deref()));
    report.claims.extend(claims::on_shapes(&shapes, lab));
    report.claims.push(claims::of_seeds(&seeds));
    Ok(report)
}

/// Adult with eight quasi-identifiers, education in its order, two trees.
fn utility() -> Request {
    let mut request = Request { rest: Some(Rest::Drop), ..Request::default() };
    for name in &data::NINE[..8] {
        let mut column = ColumnRequest::new(Role::Quasi);
        match *name {
            "age" => column.kind = Some(Kind::Numeric),
            "education" => column.order = Some(EDUCATION.map(String::from).to_vec()),
            _ => {}
        }
        if let Some(tree) = taxonomies::file(Family::Utility, name) {
            column.hierarchy = Some(HierarchySpec::text(tree));
        }
        request.columns.insert((*name).to_string(), column);
    }
    request
}

/// RunNumbers in all columns of a grid.
fn grid_config(columns: usize, weights: &[f64]) -> Request {
    let mut request = Request { rest: Some(Rest::Drop), ..Request::default() };
    for at in 0..columns {
        let mut column = ColumnRequest::new(Role::Quasi);
        (column.kind, column.weight) = (Some(Kind::Numeric), weights.get(at).copied());
        request.columns.insert(format!("a{}", at + 1), column);
    }
    request
}

fn queries(lab: &Lab) -> u64 {
    lab.choose(1_000, 200)
}

/// Random counts over all columns, and random sums of one.
fn counts_and_sums(lab: &Lab, sum: &str) -> Vec<(String, Workload)> {
    let counts = Workload { queries: queries(lab), seed: SEED, ..Workload::default() };
    let sums = Workload { sum: Some(sum.to_string()), ..counts.clone() };
    vec![("count_error".to_string(), counts), ("sum_error".to_string(), sums)]
}

/// One series a method.
fn sweep(
    lab: &Lab,
    methods: &[Algorithm],
    places: &[f64],
    run: impl Fn(&Lab, Algorithm, f64) -> Outcomes<RunNumbers>,
) -> Outcomes<Vec<RunSeries>> {
    let mut all: Vec<RunSeries> = methods
        .iter()
        .map(|method| RunSeries { name: method.to_string(), runs: Vec::new() })
        .collect();
    for &place in places {
        for (series, &method) in all.iter_mut().zip(methods) {
            series.runs.push((place, run(lab, method, place)?));
        }
    }
    Ok(all)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers on an axis"
)]
fn whole(place: f64) -> u64 {
    place as u64
}

fn ks(lab: &Lab) -> &'static [f64] {
    lab.choose(&[2.0, 5.0, 10.0, 25.0, 50.0, 100.0], &[2.0, 10.0, 50.0])
}

fn by_k_on_adult(lab: &Lab, adult: &Data, report: &mut PaperResults) -> Outcomes<Vec<RunSeries>> {
    let request = utility();
    let all = sweep(lab, &READINGS, ks(lab), |lab, method, k| {
        let request = Request { k: Some(whole(k)), ..request.clone() };
        lab.run(&Experiment {
            workloads: counts_and_sums(lab, "age"),
            ..Experiment::new(PAPER, adult, request, method)
        })
    })?;
    for (of, name, title, y) in [
        ("figure 7", "certainty-penalty-by-k", "Certainty penalty on Adult", NCP),
        ("figure 8", "discernability-by-k", "Discernability penalty on Adult", C_DM),
        ("figure 9 (a)", "count-error-by-k", "Query error on Adult: COUNT", COUNT_ERROR),
        ("figure 9 (b)", "sum-error-by-k", "Query error on Adult: SUM", SUM_ERROR),
        ("figure 10", "time-by-k", "Search time on Adult", SECONDS),
    ] {
        report.figures.push(Figure::of(PAPER, of, name, title, (BY_K, y), &all));
    }
    Ok(all)
}

fn by_k(lab: &Lab, data: &Data, is_asked: bool) -> Outcomes<Vec<RunSeries>> {
    sweep(lab, &METHODS, ks(lab), |lab, method, k| {
        let request = Request { k: Some(whole(k)), ..grid_config(4, &[]) };
        let workloads = if is_asked { counts_and_sums(lab, "a1") } else { Vec::new() };
        lab.run(&Experiment { workloads, ..Experiment::new(PAPER, data, request, method) })
    })
}

fn by_sigma(lab: &Lab, rows: usize) -> Outcomes<Vec<RunSeries>> {
    let places: &[f64] = lab.choose(&[0.5, 1.0, 1.5, 2.0, 3.0, 4.0], &[0.5, 1.0, 2.0, 4.0]);
    sweep(lab, &METHODS, places, |lab, method, sigma| {
        let data = data::grid(PointGrid { columns: 4, sigma: Some(sigma) }, rows, SEED)?;
        lab.run(&Experiment::new(
            PAPER,
            &data,
            Request { k: Some(10), ..grid_config(4, &[]) },
            method,
        ))
    })
}

fn by_columns(lab: &Lab, rows: usize) -> Outcomes<Vec<RunSeries>> {
    let places: &[f64] = lab.choose(&[2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[2.0, 4.0, 6.0]);
    sweep(lab, &METHODS, places, |lab, method, columns| {
        let columns = usize::try_from(whole(columns)).unwrap_or(4);
        let data = data::grid(PointGrid { columns, sigma: Some(1.0) }, rows, SEED)?;
        lab.run(&Experiment::new(
            PAPER,
            &data,
            Request { k: Some(10), ..grid_config(columns, &[]) },
            method,
        ))
    })
}

fn by_size(lab: &Lab) -> Outcomes<Vec<RunSeries>> {
    let places: &[f64] = lab.choose(
        &[10_000.0, 25_000.0, 50_000.0, 75_000.0, 100_000.0],
        &[5_000.0, 10_000.0, 20_000.0],
    );
    sweep(lab, &METHODS, places, |lab, method, rows| {
        let rows = usize::try_from(whole(rows)).unwrap_or(10_000);
        let data = data::grid(PointGrid { columns: 4, sigma: None }, rows, SEED)?;
        lab.run(&Experiment::new(
            PAPER,
            &data,
            Request { k: Some(10), ..grid_config(4, &[]) },
            method,
        ))
    })
}

/// Queries on the first one to four columns, of releases with and without weights.
fn by_weights(lab: &Lab, uniform: &Data) -> Outcomes<Vec<RunSeries>> {
    let on = |columns: usize| (1..=columns).map(|at| format!("a{at}")).collect::<Vec<_>>();
    let workload = |columns: usize| {
        (
            columns.to_string(),
            Workload { queries: queries(lab), seed: SEED, on: on(columns), ..Workload::default() },
        )
    };
    let mut series = Vec::new();
    for method in [Algorithm::BottomUp, Algorithm::TopDown] {
        for (name, weights) in [("", &[][..]), (", weighted", &[8.0, 4.0, 2.0, 1.0][..])] {
            let request = Request { k: Some(10), ..grid_config(4, weights) };
            let workloads = (1..=4).map(workload).collect();
            let numbers = lab.run(&Experiment {
                workloads,
                ..Experiment::new(PAPER, uniform, request, method)
            })?;
            let error = |columns: u8| {
                let error = numbers.get(&columns.to_string()).copied();
                (
                    f64::from(columns),
                    error.map(|error| ("count_error".to_string(), error)).into_iter().collect(),
                )
            };
            series.push(RunSeries {
                name: format!("{method}{name}"),
                runs: (1..=4).map(error).collect(),
            });
        }
    }
    Ok(series)
}

/// How far apart the seeds are, by the rounds of the search, on each table.
fn far_pairs(lab: &Lab, tables: &[&Data]) -> Outcomes<Vec<RunSeries>> {
    let mut series = Vec::new();
    for data in tables {
        let request = if data.name == "adult" { utility() } else { grid_config(4, &[]) };
        let request = Request { k: Some(10), ..request };
        let what = format!("{} {ROUNDS:?} {STARTS} {SEED}", data.fingerprint);
        let numbers = lab.kept(PAPER, &format!("{}, far pairs", data.name), &what, || {
            let names: Vec<String> =
                data.table.columns().iter().map(|column| column.name.clone()).collect();
            let problem = Problem::new(&data.table, &request.roles(&names)?, &request)?;
            let shares = far_pair_shares(&problem, &ROUNDS, STARTS, SEED);
            Ok(ROUNDS
                .iter()
                .zip(shares)
                .map(|(rounds, share)| (rounds.to_string(), share))
                .collect())
        })?;
        let share = |rounds: &u32| {
            let share = numbers.get(&rounds.to_string()).copied();
            (
                f64::from(*rounds),
                share.map(|share| ("share".to_string(), share)).into_iter().collect(),
            )
        };
        let name = data.name.split(',').next().unwrap_or_default().to_string();
        series.push(RunSeries { name, runs: ROUNDS.iter().map(share).collect() });
    }
    Ok(series)
}

/// The runs on made-up tables.
struct Shapes {
    uniform: Vec<RunSeries>,
    gaussian: Vec<RunSeries>,
    sigma: Vec<RunSeries>,
    columns: Vec<RunSeries>,
    weights: Vec<RunSeries>,
    size: Vec<RunSeries>,
}

impl Shapes {
    fn draw(&self, report: &mut PaperResults) {
        let by_sigma = Quantity::new("sigma", "sigma", AxisScale::Linear);
        let by_columns = Quantity::new("columns", "dimensionality", AxisScale::Linear);
        let on =
            Quantity::new("columns", "queries on the first so many attributes", AxisScale::Linear);
        let size = Quantity::new("rows", "tuples", AxisScale::Linear);
        for (of, name, title, x, y, all) in [
            (
                "figure 11",
                "uniform-certainty-penalty-by-k",
                "Certainty penalty, uniform",
                BY_K,
                NCP,
                &self.uniform,
            ),
            (
                "figure 12",
                "gaussian-certainty-penalty-by-k",
                "Certainty penalty, Gaussian",
                BY_K,
                NCP,
                &self.gaussian,
            ),
            (
                "figure 13",
                "certainty-penalty-by-sigma",
                "Certainty penalty by sigma",
                by_sigma,
                NCP,
                &self.sigma,
            ),
            (
                "figure 14",
                "certainty-penalty-by-dimensionality",
                "Certainty penalty by dimensionality",
                by_columns,
                NCP,
                &self.columns,
            ),
            (
                "figure 15",
                "uniform-discernability-by-k",
                "Discernability, uniform",
                BY_K,
                C_DM,
                &self.uniform,
            ),
            (
                "figure 16",
                "gaussian-discernability-by-k",
                "Discernability, Gaussian",
                BY_K,
                C_DM,
                &self.gaussian,
            ),
            (
                "figure 17",
                "discernability-by-sigma",
                "Discernability by sigma",
                by_sigma,
                C_DM,
                &self.sigma,
            ),
            (
                "figure 18",
                "discernability-by-dimensionality",
                "Discernability by dimensionality",
                by_columns,
                C_DM,
                &self.columns,
            ),
            (
                "figure 19",
                "weighted-count-error",
                "Weights 8, 4, 2, 1 and query error, uniform",
                on,
                COUNT_ERROR,
                &self.weights,
            ),
            (
                "figure 20 (a)",
                "gaussian-count-error-by-k",
                "Query error: COUNT, Gaussian",
                BY_K,
                COUNT_ERROR,
                &self.gaussian,
            ),
            (
                "figure 20 (b)",
                "gaussian-sum-error-by-k",
                "Query error: SUM, Gaussian",
                BY_K,
                SUM_ERROR,
                &self.gaussian,
            ),
            (
                "figure 21",
                "time-by-size",
                "Search time by tuples, uniform",
                size,
                SECONDS,
                &self.size,
            ),
        ] {
            report.figures.push(Figure::of(PAPER, of, name, title, (x, y), all));
        }
    }
}
