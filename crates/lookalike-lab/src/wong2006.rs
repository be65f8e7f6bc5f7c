//! Wong, Li, Fu, Wang: (alpha,k)-Anonymity, KDD 2006: Top Down is `specialize`, eIncognito is
//! `incognito` with the same rule.

use lookalike::request::ratio::Ratio;
use lookalike::request::{ColumnRequest, HierarchySpec, Kind, Rest, Role, Share};
use lookalike::search::global::Cost;
use lookalike::{Algorithm, Request, SearchOptions};

use crate::PaperResults;
use crate::claims::{Claim, ClaimCheck, Remarks, Trend, all, at_most, claim, moves, named, times};
use crate::data::{self, AdultRows, Data, FETCH, NINE};
use crate::figure::{Figure, Quantity, RunSeries, SECONDS};
use crate::lab::{Experiment, Lab, Outcomes, SEED};
use crate::store::RunNumbers;
use crate::taxonomies::{self, Family};
use lookalike_report::plot::AxisScale;

const PAPER: &str = "wong2006";
const METHODS: [(&str, Algorithm); 2] = [
    ("Top Down (specialize)", Algorithm::Specialize),
    ("eIncognito (incognito)", Algorithm::Incognito),
];
const DISTORTION: Quantity = Quantity::new("distortion", "distortion ratio", AxisScale::FromZero);
const BY_ALPHA: Quantity = Quantity::new("alpha", "alpha", AxisScale::Linear);
const BY_SIZE: Quantity = Quantity::new("columns", "quasi-identifier size", AxisScale::Linear);
const KS: [u64; 2] = [2, 10];

/// The runs under one k.
struct Wong2006Runs {
    k: u64,
    by_alpha: Vec<RunSeries>,
    by_size: Vec<RunSeries>,
}

/// Runs the experiments.
pub(crate) fn run(lab: &Lab, adult: Option<&AdultRows>) -> Outcomes<PaperResults> {
    let mut report = PaperResults::default();
    let Some(rows) = adult else {
        report.claims = claims(None);
        return Ok(report);
    };
    let data = data::adult_table("adult, both parts", rows)?;
    let mut found = Vec::new();
    for k in KS {
        found.push(Wong2006Runs {
            k,
            by_alpha: by_alpha(lab, &data, k)?,
            by_size: by_size(lab, &data, k)?,
        });
    }
    for found in &found {
        found.draw(&mut report);
    }
    report.claims = claims(Some(&found));
    Ok(report)
}

/// The first so many columns are quasi-identifiers, and high salaries fill at most so many tenths
/// of a class.
fn run_one(
    lab: &Lab,
    data: &Data,
    algorithm: Algorithm,
    size: usize,
    tenths: u32,
    k: u64,
) -> Outcomes<RunNumbers> {
    let mut request = Request { k: Some(k), rest: Some(Rest::Drop), ..Request::default() };
    request.output.snap = true;
    for name in &NINE[..size] {
        let mut column = ColumnRequest::new(Role::Quasi);
        let tree = match *name {
            "age" => taxonomies::ages(0, 100, 0),
            _ => taxonomies::file(Family::Usual, name).unwrap_or_default(),
        };
        column.kind = (*name == "age").then_some(Kind::Numeric);
        column.hierarchy = Some(HierarchySpec::text(tree));
        request.columns.insert((*name).to_string(), column);
    }
    let mut salary = ColumnRequest::new(Role::Sensitive);
    salary.alpha = Ratio::new(u64::from(tenths), 10).map(Share);
    salary.values = Some(vec![">50K".to_string()]);
    request.columns.insert("salary-class".to_string(), salary);
    let search = SearchOptions { cost: Cost::Distortion, ..SearchOptions::new(algorithm, SEED) };
    lab.run(&Experiment { search, ..Experiment::new(PAPER, data, request, algorithm) })
}

fn series(
    places: &[u32],
    run: impl Fn(Algorithm, u32) -> Outcomes<(f64, RunNumbers)>,
) -> Outcomes<Vec<RunSeries>> {
    let mut all = Vec::new();
    for (name, algorithm) in METHODS {
        let runs =
            places.iter().map(|&place| run(algorithm, place)).collect::<Outcomes<Vec<_>>>()?;
        // What no release can meet has no numbers.
        let runs =
            runs.into_iter().filter(|(_, numbers)| !numbers.contains_key("infeasible")).collect();
        all.push(RunSeries { name: name.to_string(), runs });
    }
    Ok(all)
}

fn by_alpha(lab: &Lab, data: &Data, k: u64) -> Outcomes<Vec<RunSeries>> {
    let places: &[u32] = lab.choose(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[1, 3, 5, 9]);
    series(places, |algorithm, tenths| {
        Ok((f64::from(tenths) / 10.0, run_one(lab, data, algorithm, 8, tenths, k)?))
    })
}

fn by_size(lab: &Lab, data: &Data, k: u64) -> Outcomes<Vec<RunSeries>> {
    let places: &[u32] = lab.choose(&[2, 3, 4, 5, 6, 7, 8], &[2, 5, 8]);
    series(places, |algorithm, size| {
        Ok((f64::from(size), run_one(lab, data, algorithm, size as usize, 5, k)?))
    })
}

impl Wong2006Runs {
    fn draw(&self, report: &mut PaperResults) {
        let k = self.k;
        let parts = if k == KS[0] {
            ["figure 2 (a)", "figure 2 (b)", "figure 2 (c)", "figure 2 (d)"]
        } else {
            ["figure 3 (a)", "figure 3 (b)", "figure 3 (c)", "figure 3 (d)"]
        };
        for (of, name, title, x, y, all) in [
            (parts[0], "time-by-alpha", "Search time by alpha", BY_ALPHA, SECONDS, &self.by_alpha),
            (
                parts[1],
                "time-by-size",
                "Search time by QI size, alpha = 0.5",
                BY_SIZE,
                SECONDS,
                &self.by_size,
            ),
            (
                parts[2],
                "distortion-by-alpha",
                "Distortion ratio by alpha",
                BY_ALPHA,
                DISTORTION,
                &self.by_alpha,
            ),
            (
                parts[3],
                "distortion-by-size",
                "Distortion ratio by QI size, alpha = 0.5",
                BY_SIZE,
                DISTORTION,
                &self.by_size,
            ),
        ] {
            let (name, title) = (format!("k-{k}-{name}"), format!("{title}, k = {k}"));
            report.figures.push(Figure::of(PAPER, of, &name, &title, (x, y), all));
        }
    }

    fn with_k(&self, finding: &dyn Fn(&Wong2006Runs) -> ClaimCheck) -> ClaimCheck {
        finding(self).called(&format!("k = {}", self.k))
    }
}

fn claims(found: Option<&[Wong2006Runs]>) -> Vec<Claim> {
    let of = |finding: &dyn Fn(&[Wong2006Runs]) -> ClaimCheck| found.map(finding).ok_or(FETCH);
    let [top_down, incognito] = METHODS.map(|(name, _)| name);
    let each = |finding: &dyn Fn(&Wong2006Runs) -> ClaimCheck, found: &[Wong2006Runs]| {
        all(found.iter().map(|found| found.with_k(finding)))
    };
    // The paper averages over all of its figures.
    let ratio = |what: &'static str, wanted: f64| {
        move |found: &[Wong2006Runs]| {
            let everything = |name: &str| {
                let series = found.iter().flat_map(|found| [&found.by_alpha, &found.by_size]);
                let runs = series.flat_map(|all_of| named(all_of, name).runs.clone());
                RunSeries {
                    name: name.to_string(),
                    runs: (0_u32..).map(f64::from).zip(runs.map(|run| run.1)).collect(),
                }
            };
            times(&everything(incognito), &everything(top_down), what, (wanted, wanted))
        }
    };
    type Along = fn(&Wong2006Runs) -> &Vec<RunSeries>;
    let (along_alpha, along_size): (Along, Along) =
        (|found| &found.by_alpha, |found| &found.by_size);
    let trending = |what: &'static str, along: Along, trend: Trend| {
        move |found: &[Wong2006Runs]| {
            let series = |found: &Wong2006Runs| -> ClaimCheck {
                all(along(found).iter().map(|series| moves(series, what, trend)))
            };
            all(found.iter().map(|found| found.with_k(&series)))
        }
    };
    let by_k = |found: &[Wong2006Runs]| {
        all(METHODS.map(|(name, _)| {
            let rename = |found: &Wong2006Runs| {
                let runs = named(&found.by_alpha, name).runs.clone();
                RunSeries { name: format!("{name} at k = {}", found.k), runs }
            };
            at_most(&rename(&found[0]), &rename(&found[1]), "distortion")
        }))
    };
    let time_and_alpha = |found: &[Wong2006Runs]| {
        each(
            &|found| {
                moves(named(&found.by_alpha, incognito), "seconds", Trend::Rises).and(moves(
                    named(&found.by_alpha, top_down),
                    "seconds",
                    Trend::Falls,
                ))
            },
            found,
        )
    };
    let rule = Remarks {
        how: "45,222 rows, eight attributes, the sensitive value is >50K; the trees are not the paper's, which it does not print.",
        fails: "",
    };
    let seconds = Remarks {
        how: "One thread each; the least of three times; mostly tenths of a second, on a machine with other work.",
        fails: "eIncognito works on distinct tuples here and rolls its tables up; the paper does not say what its own did.",
    };
    vec![
        claim(
            PAPER,
            "time of Top Down",
            "about 4 times faster than eIncognito",
            of(&ratio("seconds", 4.0)),
            seconds,
        ),
        claim(
            PAPER,
            "distortion of Top Down",
            "about 3 times smaller than eIncognito's",
            of(&ratio("distortion", 3.0)),
            rule,
        ),
        claim(
            PAPER,
            "distortion and alpha",
            "falls as alpha rises",
            of(&trending("distortion", along_alpha, Trend::Falls)),
            Remarks { how: rule.how, fails: "" },
        ),
        claim(
            PAPER,
            "distortion and QI size",
            "rises",
            of(&trending("distortion", along_size, Trend::Rises)),
            rule,
        ),
        claim(PAPER, "distortion and k", "rises", of(&by_k), rule),
        claim(
            PAPER,
            "time and alpha",
            "eIncognito's rises, Top Down's falls",
            of(&time_and_alpha),
            seconds,
        ),
        claim(
            PAPER,
            "time and QI size",
            "rises",
            of(&trending("seconds", along_size, Trend::Rises)),
            seconds,
        ),
    ]
}
