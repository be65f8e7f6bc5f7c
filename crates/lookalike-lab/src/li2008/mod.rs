//! Li, Li: Towards Optimal k-Anonymization, DKE 2008: the six schemes, the two directions, the
//! techniques that prune.

mod claims;

use std::time::Duration;

use lookalike::request::ratio::Ratio;
use lookalike::request::{ColumnRequest, HierarchySpec, Kind, Rest, Role, Share};
use lookalike::search::global::{Branching, Cost, Techniques};
use lookalike::{Algorithm, Request, SearchOptions};

use crate::PaperResults;
use crate::data::{self, AdultRows, Data, NINE};
use crate::figure::{BY_K, Figure, Quantity, RunSeries, SECONDS};
use crate::lab::{Experiment, Lab, Outcomes, SEED};
use crate::store::RunNumbers;
use crate::taxonomies::{self, Family};
use lookalike_report::plot::AxisScale;

const PAPER: &str = "li2008";
const FOUR: [&str; 4] = ["age", "marital-status", "race", "sex"];
const SCHEMES: [&str; 6] = ["BHS", "GHS", "GOPS", "OPS", "GSPS", "SPS"];
const DIRECTIONS: [(&str, Branching); 2] =
    [("bottom-up", Branching::BottomUp), ("top-down", Branching::TopDown)];
const BY_SIZE: Quantity = Quantity::new("columns", "quasi-identifier size", AxisScale::Linear);
const NODES: Quantity = Quantity::new("nodes", "nodes looked at", AxisScale::Log);
/// The question of one exact search.
struct Exact<'a> {
    columns: &'a [&'a str],
    scheme: &'a str,
    cost: Cost,
    k: f64,
    techniques: Techniques,
}

/// Runs the experiments.
pub(crate) fn run(lab: &Lab, adult: Option<&AdultRows>) -> Outcomes<PaperResults> {
    let mut report = PaperResults::default();
    let Some(rows) = adult else {
        report.claims = claims::claims(None);
        return Ok(report);
    };
    let data = data::adult_in_intervals("adult in intervals", rows)?;
    let ks: &[f64] = lab.choose(&[2.0, 5.0, 10.0, 50.0, 100.0], &[2.0, 10.0, 50.0]);
    let found = Li2008Runs {
        dm: by_scheme(lab, &data, ks, Cost::Dm)?,
        hdm: by_scheme(lab, &data, ks, Cost::Hdm)?,
        size: by_size(lab, &data)?,
        by_k: directions(lab, &data, &ks.iter().map(|&k| (k, &FOUR[..], k)).collect::<Vec<_>>())?,
        by_columns: directions(lab, &data, &columns_of(lab))?,
        pruning: pruning(lab, &data)?,
    };
    found.draw(&mut report);
    report.claims = claims::claims(Some(&found));
    Ok(report)
}

/// The first two and more of the nine columns, at k = 5.
fn columns_of(lab: &Lab) -> Vec<(f64, &'static [&'static str], f64)> {
    let sizes: &[(f64, usize)] =
        lab.choose(&[(2.0, 2), (3.0, 3), (4.0, 4), (5.0, 5)], &[(2.0, 2), (3.0, 3)]);
    sizes.iter().map(|&(place, size)| (place, &NINE[..size], 5.0)).collect()
}

fn exact(lab: &Lab, data: &Data, wanted: &Exact) -> Outcomes<RunNumbers> {
    let mut request = Request { rest: Some(Rest::Drop), ..Request::default() };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small whole number"
    )]
    let k = wanted.k as u64;
    request.k = Some(k);
    // Any number of rows may be suppressed: the metric counts them.
    request.limits.suppress = Ratio::new(9_999, 10_000).map(Share);
    for name in wanted.columns {
        let mut column = ColumnRequest::new(Role::Quasi);
        column.kind = Some(Kind::Categorical);
        let tree = match *name {
            "age" => taxonomies::five_years(),
            "workclass" => taxonomies::file(Family::Utility, name).unwrap_or_default(),
            _ => taxonomies::file(Family::Usual, name).unwrap_or_default(),
        };
        column.hierarchy = Some(HierarchySpec::text(tree));
        // Ages stand on a line: sets of them are intervals.
        let scheme = match (*name, wanted.scheme) {
            ("age", "SPS") => "OPS",
            ("age", "GSPS") => "GOPS",
            (_, scheme) => scheme,
        };
        column.scheme = Some(scheme.to_lowercase());
        request.columns.insert((*name).to_string(), column);
    }
    let search = SearchOptions {
        cost: wanted.cost,
        techniques: wanted.techniques,
        ..SearchOptions::new(Algorithm::Optimal, SEED)
    };
    let time = Some(Duration::from_secs(lab.choose(10, 1)));
    lab.run(&Experiment {
        search,
        time,
        ..Experiment::new(PAPER, data, request, Algorithm::Optimal)
    })
}

/// The least cost of each scheme for each k, on four columns.
fn by_scheme(lab: &Lab, data: &Data, ks: &[f64], cost: Cost) -> Outcomes<Vec<RunSeries>> {
    let mut series = Vec::new();
    for scheme in SCHEMES {
        let mut runs = Vec::new();
        for &k in ks {
            runs.push((
                k,
                exact(
                    lab,
                    data,
                    &Exact { columns: &FOUR, scheme, cost, k, techniques: Techniques::default() },
                )?,
            ));
        }
        series.push(RunSeries { name: scheme.to_string(), runs });
    }
    Ok(series)
}

/// The time of each scheme for the first so many columns, k = 5.
fn by_size(lab: &Lab, data: &Data) -> Outcomes<Vec<RunSeries>> {
    let sizes: &[(f64, usize)] = lab.choose(
        &[(2.0, 2), (3.0, 3), (4.0, 4), (5.0, 5), (6.0, 6), (7.0, 7), (8.0, 8), (9.0, 9)],
        &[(2.0, 2), (3.0, 3), (4.0, 4)],
    );
    let mut series = Vec::new();
    for scheme in SCHEMES {
        let mut runs: Vec<(f64, RunNumbers)> = Vec::new();
        for &(place, size) in sizes {
            // Where one more column is out of reach, so are two.
            if runs
                .iter()
                .rev()
                .take(2)
                .filter(|(_, numbers)| numbers.get("proven") == Some(&0.0))
                .count()
                == 2
            {
                break;
            }
            let wanted = Exact {
                columns: &NINE[..size],
                scheme,
                cost: Cost::Dm,
                k: 5.0,
                techniques: Techniques::default(),
            };
            runs.push((place, exact(lab, data, &wanted)?));
        }
        series.push(RunSeries { name: scheme.to_string(), runs });
    }
    Ok(series)
}

/// The enumeration tree from either end, with OPS and SPS.
fn directions(lab: &Lab, data: &Data, cases: &[(f64, &[&str], f64)]) -> Outcomes<Vec<RunSeries>> {
    let mut series = Vec::new();
    for scheme in ["OPS", "SPS"] {
        for (name, branching) in DIRECTIONS {
            let mut runs = Vec::new();
            for &(place, columns, k) in cases {
                let techniques = Techniques { branching, ..Techniques::default() };
                runs.push((
                    place,
                    exact(lab, data, &Exact { columns, scheme, cost: Cost::Hdm, k, techniques })?,
                ));
            }
            series.push(RunSeries { name: format!("{scheme}, {name}"), runs });
        }
    }
    Ok(series)
}

/// The enumeration tree from below with the two techniques that look for a good answer early, with
/// one, and with none.
fn pruning(lab: &Lab, data: &Data) -> Outcomes<Vec<RunSeries>> {
    let ks: &[f64] = lab.choose(&[2.0, 5.0, 10.0, 25.0, 50.0], &[2.0, 5.0, 10.0]);
    let mut series = Vec::new();
    for (name, seeding, deferred) in [
        ("neither", false, false),
        ("seeding", true, false),
        ("modified BFS", false, true),
        ("both", true, true),
    ] {
        let techniques = Techniques {
            branching: Branching::BottomUp,
            seeding,
            deferred,
            nodes: false,
            ..Techniques::default()
        };
        let mut runs = Vec::new();
        for &k in ks {
            runs.push((
                k,
                exact(
                    lab,
                    data,
                    &Exact { columns: &FOUR, scheme: "OPS", cost: Cost::Hdm, k, techniques },
                )?,
            ));
        }
        series.push(RunSeries { name: name.to_string(), runs });
    }
    Ok(series)
}

/// The runs of all figures.
struct Li2008Runs {
    dm: Vec<RunSeries>,
    hdm: Vec<RunSeries>,
    size: Vec<RunSeries>,
    by_k: Vec<RunSeries>,
    by_columns: Vec<RunSeries>,
    pruning: Vec<RunSeries>,
}

impl Li2008Runs {
    fn draw(&self, report: &mut PaperResults) {
        let cost = |column, label| Quantity::new(column, label, AxisScale::FromZero);
        for (of, name, title, x, y, all) in [
            (
                "figure 10 (a)",
                "directions-time-by-k",
                "Bottom-up and top-down by k, four attributes",
                BY_K,
                SECONDS,
                &self.by_k,
            ),
            (
                "figure 10 (a), in nodes",
                "directions-nodes-by-k",
                "Nodes of bottom-up and top-down by k",
                BY_K,
                NODES,
                &self.by_k,
            ),
            (
                "figure 10 (b)",
                "directions-time-by-size",
                "Bottom-up and top-down by QI size, k = 5",
                BY_SIZE,
                SECONDS,
                &self.by_columns,
            ),
            (
                "figure 10 (b), in nodes",
                "directions-nodes-by-size",
                "Nodes by QI size, k = 5",
                BY_SIZE,
                NODES,
                &self.by_columns,
            ),
            (
                "figure 11 (a)",
                "time-by-size",
                "Search time by QI size, k = 5, DM",
                BY_SIZE,
                SECONDS,
                &self.size,
            ),
            (
                "figure 11 (b)",
                "time-by-k",
                "Search time by k, four attributes, DM",
                BY_K,
                SECONDS,
                &self.dm,
            ),
            (
                "figure 12 (a)",
                "dm-by-k",
                "Least discernibility (DM) by scheme",
                BY_K,
                cost("value", "DM"),
                &self.dm,
            ),
            (
                "figure 12 (b)",
                "hdm-by-k",
                "Least hierarchical discernibility (HDM) by scheme",
                BY_K,
                cost("value", "HDM"),
                &self.hdm,
            ),
            (
                "section 5.2.4",
                "pruning-time-by-k",
                "What the two techniques save, OPS, HDM",
                BY_K,
                SECONDS,
                &self.pruning,
            ),
            (
                "section 5.2.4, in nodes",
                "pruning-nodes-by-k",
                "Nodes with and without the two techniques",
                BY_K,
                NODES,
                &self.pruning,
            ),
        ] {
            report.figures.push(Figure::of(PAPER, of, name, title, (x, y), all));
        }
    }
}
