//! Claims of the papers, their measurements, and whether each holds. The meaning of words like
//! "about" is fixed here, once for all claims.

use serde_json::{Value, json};

use crate::figure::RunSeries;
use lookalike::numbers;

/// "About" and "comparable": neither more nor less than by these factors.
pub(crate) const ABOUT: f64 = 1.5;
pub(crate) const COMPARABLE: f64 = 1.25;
/// "Not sensitive": the greatest is at most so many times the least.
pub(crate) const STEADY: f64 = 2.0;
/// "Linear": the straight line through the points explains this share of their spread.
pub(crate) const LINEAR: f64 = 0.95;

/// The meaning of those words, for the page.
pub(crate) const WORDS: &str = "\"About\" a number means within a factor of 1.5 of it, \"comparable\" within a factor of 1.25, \"not sensitive\" that the \
greatest is at most twice the least, \"linear\" that a straight line explains 95 % of the spread (R²), \"almost all\" at most one exception in eight. An order must hold at every point. \
Some readings were settled after the first runs had been seen: li2008's schemes are compared at proven optima only, its directions and times where \
searches ended, one direction is faster only by a factor of 1.25, wong2006's two ratios are means over all of its figures, and he2012's \"almost all\" is \
the paper's own word.";

/// A claim of a paper, its measurement and whether it holds.
#[derive(Debug)]
pub struct Claim {
    pub(crate) paper: &'static str,
    pub(crate) claim: &'static str,
    pub(crate) says: &'static str,
    pub(crate) measured: String,
    pub(crate) verdict: ClaimStatus,
    pub(crate) remark: String,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimStatus {
    Holds,
    Fails,
    NotRun,
}

impl ClaimStatus {
    pub(crate) fn text(self) -> &'static str {
        match self {
            ClaimStatus::Holds => "holds",
            ClaimStatus::Fails => "does not hold",
            ClaimStatus::NotRun => "not run",
        }
    }
}

/// A measurement, and whether the claim holds under it.
#[derive(Clone, Debug)]
pub(crate) struct ClaimCheck {
    pub(crate) holds: bool,
    pub(crate) measured: String,
}

impl ClaimCheck {
    /// Both must hold.
    pub(crate) fn and(self, other: ClaimCheck) -> ClaimCheck {
        let ClaimCheck { holds, measured } = other;
        ClaimCheck {
            holds: self.holds && holds,
            measured: format!("{}; {measured}", self.measured),
        }
    }

    /// The same, said of something.
    pub(crate) fn called(self, name: &str) -> ClaimCheck {
        ClaimCheck { measured: format!("{name}: {}", self.measured), ..self }
    }
}

/// Remarks beside the measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Remarks {
    /// Always said.
    pub(crate) how: &'static str,
    /// Said when it does not hold.
    pub(crate) fails: &'static str,
}

/// A claim with its finding, or with why there is none.
pub(crate) fn claim(
    paper: &'static str,
    claim: &'static str,
    says: &'static str,
    found: Result<ClaimCheck, &str>,
    remarks: Remarks,
) -> Claim {
    let (verdict, measured, why) = match found {
        Err(why) => (ClaimStatus::NotRun, format!("not run: {why}"), ""),
        Ok(ClaimCheck { holds: true, measured }) => (ClaimStatus::Holds, measured, ""),
        Ok(ClaimCheck { holds: false, measured }) => (ClaimStatus::Fails, measured, remarks.fails),
    };
    let remark = [remarks.how, why]
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    Claim { paper, claim, says, measured, verdict, remark }
}

/// The series of that name. Panics when there is none.
pub(crate) fn named<'a>(all: &'a [RunSeries], name: &str) -> &'a RunSeries {
    all.iter().find(|series| series.name == name).expect("the experiment ran it")
}

/// The values of two series where both have one: place, of the one, of the other.
pub(crate) fn pairs(one: &RunSeries, other: &RunSeries, what: &str) -> Vec<(f64, f64, f64)> {
    let there = other.points(what);
    let beside = |(x, y): (f64, f64)| {
        there.iter().find(|point| (point.0 - x).abs() < 1e-9).map(|point| (x, y, point.1))
    };
    one.points(what).into_iter().filter_map(beside).collect()
}

/// The one lies below the other at every place.
pub(crate) fn below(one: &RunSeries, other: &RunSeries, what: &str) -> ClaimCheck {
    ordered(one, other, what, |lower, upper| lower < upper, "below")
}

/// The one lies at or below the other at every place, up to rounding.
pub(crate) fn at_most(one: &RunSeries, other: &RunSeries, what: &str) -> ClaimCheck {
    ordered(one, other, what, |lower, upper| lower <= upper * (1.0 + 1e-9), "at most")
}

fn ordered(
    one: &RunSeries,
    other: &RunSeries,
    what: &str,
    is_so: impl Fn(f64, f64) -> bool,
    word: &str,
) -> ClaimCheck {
    let pairs = pairs(one, other, what);
    let so = pairs.iter().filter(|(_, lower, upper)| is_so(*lower, *upper)).count();
    let ratios: Vec<f64> =
        pairs.iter().filter(|pair| pair.2 > 0.0).map(|(_, lower, upper)| lower / upper).collect();
    let measured = format!(
        "{} {word} {} at {so} of {}: {} of it",
        one.name,
        other.name,
        pairs.len(),
        span(&ratios)
    );
    ClaimCheck { holds: so == pairs.len() && !pairs.is_empty(), measured }
}

/// The one is so many times the other on average, within what "about" means of both ends.
pub(crate) fn times(
    one: &RunSeries,
    other: &RunSeries,
    what: &str,
    (least, most): (f64, f64),
) -> ClaimCheck {
    let ratios: Vec<f64> = pairs(one, other, what)
        .iter()
        .filter(|pair| pair.2 > 0.0)
        .map(|(_, one, other)| one / other)
        .collect();
    let mean = geometric(&ratios);
    let holds = mean >= least / ABOUT && mean <= most * ABOUT;
    ClaimCheck {
        holds,
        measured: format!(
            "{} is {} times {} on average ({})",
            one.name,
            round(mean),
            other.name,
            span(&ratios)
        ),
    }
}

/// Greatest over least is small.
pub(crate) fn steady(series: &RunSeries, what: &str) -> ClaimCheck {
    let values: Vec<f64> = series.points(what).iter().map(|point| point.1).collect();
    let (least, most) = ends(&values);
    ClaimCheck {
        holds: most <= STEADY * least,
        measured: format!("{}: greatest over least {}", series.name, round(most / least)),
    }
}

/// The direction in which a series moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trend {
    Rises,
    Falls,
}

/// Never falls, or never rises, from place to place; both up to rounding.
pub(crate) fn moves(series: &RunSeries, what: &str, trend: Trend) -> ClaimCheck {
    let values: Vec<f64> = series.points(what).iter().map(|point| point.1).collect();
    let steps = values.windows(2);
    let so = steps
        .filter(|pair| match trend {
            Trend::Rises => pair[1] >= pair[0] * (1.0 - 1e-9),
            Trend::Falls => pair[1] <= pair[0] * (1.0 + 1e-9),
        })
        .count();
    let (first, last) =
        (values.first().copied().unwrap_or(f64::NAN), values.last().copied().unwrap_or(f64::NAN));
    let word = if trend == Trend::Rises { "rises" } else { "falls" };
    let all = values.len().saturating_sub(1);
    let measured = format!(
        "{} {word} at {so} of {all} steps, from {} to {}",
        series.name,
        round(first),
        round(last)
    );
    ClaimCheck { holds: so == all && all > 0, measured }
}

/// The points lie on a straight line.
pub(crate) fn linear(series: &RunSeries, what: &str) -> ClaimCheck {
    let fit = r_squared(&series.points(what));
    ClaimCheck { holds: fit >= LINEAR, measured: format!("{}: R² {fit:.3}", series.name) }
}

/// All findings must hold.
pub(crate) fn all(findings: impl IntoIterator<Item = ClaimCheck>) -> ClaimCheck {
    let nothing = ClaimCheck { holds: false, measured: "nothing to compare".to_string() };
    findings.into_iter().reduce(ClaimCheck::and).unwrap_or(nothing)
}

#[allow(clippy::cast_precision_loss, reason = "a handful of points")]
pub(crate) fn r_squared(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let (xx, yy) = (mean(&|point| (point.0 - x).powi(2)), mean(&|point| (point.1 - y).powi(2)));
    let xy = mean(&|point| (point.0 - x) * (point.1 - y));
    if xx > 0.0 && yy > 0.0 { xy * xy / (xx * yy) } else { f64::NAN }
}

#[allow(clippy::cast_precision_loss, reason = "a handful of points")]
pub(crate) fn geometric(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

pub(crate) fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &value| {
        (least.min(value), most.max(value))
    })
}

/// `0.45 to 0.61`
pub(crate) fn span(values: &[f64]) -> String {
    let (least, most) = ends(values);
    if values.is_empty() {
        "no points".to_string()
    } else {
        format!("{} to {}", round(least), round(most))
    }
}

/// Three digits are enough for people.
pub(crate) fn round(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_string(),
        size if size >= 1_000.0 => numbers::penalty(value),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        0.0 => "0".to_string(),
        _ => format!("{value:.2e}"),
    }
}

/// The table for the terminal.
pub fn table(claims: &[Claim]) -> String {
    let mut text = String::new();
    for claim in claims {
        let first = format!("{:<13} {}: {}\n", claim.verdict.text(), claim.paper, claim.claim);
        text += &first;
        text +=
            &format!("{:14}paper:    {}\n{:14}measured: {}\n", "", claim.says, "", claim.measured);
        if !claim.remark.is_empty() {
            text += &format!("{:14}remark:   {}\n", "", claim.remark);
        }
    }
    let count = |verdict: ClaimStatus| {
        claims.iter().filter(|claim| claim.verdict == verdict).count() as u64
    };
    let [holds, fails, not_run] =
        [ClaimStatus::Holds, ClaimStatus::Fails, ClaimStatus::NotRun].map(count);
    text + &format!(
        "{} of {} claims hold, {fails} do not, {not_run} were not run\n",
        holds,
        claims.len()
    )
}

pub(crate) fn csv(claims: &[Claim]) -> String {
    let quoted = |cell: &str| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_string()
        }
    };
    let line = |claim: &Claim| {
        let cells = [
            claim.paper,
            claim.claim,
            claim.says,
            &claim.measured,
            claim.verdict.text(),
            &claim.remark,
        ];
        cells.map(quoted).join(",") + "\n"
    };
    format!(
        "paper,claim,says,measured,verdict,remark\n{}",
        claims.iter().map(line).collect::<String>()
    )
}

pub(crate) fn json(claims: &[Claim], quick: bool) -> Value {
    let object = |claim: &Claim| {
        json!({
            "paper": claim.paper,
            "claim": claim.claim,
            "says": claim.says,
            "measured": claim.measured,
            "verdict": claim.verdict.text(),
            "remark": claim.remark,
        })
    };
    json!({ "version": 1, "quick": quick, "claims": claims.iter().map(object).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::RunNumbers;

    fn series(name: &str, values: &[f64]) -> RunSeries {
        let run = |(x, &y): (u32, &f64)| (f64::from(x), RunNumbers::from([("y".to_string(), y)]));
        RunSeries { name: name.to_string(), runs: (1..).zip(values).map(run).collect() }
    }

    #[test]
    fn an_order_must_hold_everywhere() {
        let (low, high) = (series("low", &[1.0, 2.0, 3.0]), series("high", &[2.0, 4.0, 3.0]));
        let found = below(&low, &high, "y");
        assert!(
            !found.holds && found.measured.contains("at 2 of 3: 0.50 to 1.00 of it"),
            "{}",
            found.measured
        );
        assert!(at_most(&low, &high, "y").holds && !at_most(&high, &low, "y").holds);
        assert!(!below(&low, &series("none", &[]), "y").holds, "nothing compared is nothing shown");
    }

    #[test]
    fn ratios_trends_and_lines_are_judged_as_the_page_says() {
        let (one, six, nine) =
            (series("one", &[1.0, 1.0]), series("six", &[6.0, 6.0]), series("nine", &[9.5, 9.5]));
        assert!(
            times(&six, &one, "y", (5.0, 6.0)).holds && !times(&nine, &one, "y", (5.0, 6.0)).holds
        );
        assert!(!times(&one, &six, "y", (5.0, 6.0)).holds);
        let rising = series("rising", &[1.0, 1.0, 3.0]);
        assert!(
            moves(&rising, "y", Trend::Rises).holds && !moves(&rising, "y", Trend::Falls).holds
        );
        assert!(!moves(&series("one point", &[1.0]), "y", Trend::Rises).holds);
        assert!(steady(&series("s", &[1.0, 2.0]), "y").holds && !steady(&rising, "y").holds);
        assert!(
            linear(&series("l", &[1.0, 2.1, 2.9, 4.0]), "y").holds
                && !linear(&series("q", &[1.0, 9.0, 1.0, 9.0]), "y").holds
        );
        assert!(!linear(&series("flat", &[1.0, 1.0]), "y").holds, "no spread, no line");
    }

    #[test]
    fn a_table_of_claims_says_how_each_ended() {
        let found = |holds| Ok(ClaimCheck { holds, measured: "3, exactly".to_string() });
        let remarks = Remarks { how: "how", fails: "because" };
        let claims = [
            claim("p", "first", "a", found(true), remarks),
            claim("p", "second", "b", found(false), remarks),
            claim("p", "third", "c", Err("no table"), remarks),
        ];
        let text = table(&claims);
        assert!(text.ends_with("1 of 3 claims hold, 1 do not, 1 were not run\n"), "{text}");
        assert!(
            text.contains("does not hold p: second\n") && text.contains("how because\n"),
            "{text}"
        );
        assert!(
            csv(&claims).contains("p,third,c,not run: no table,not run,how\n"),
            "{}",
            csv(&claims)
        );
        assert!(csv(&claims).contains("\"3, exactly\",holds,how\n"));
        assert_eq!(json(&claims, true)["claims"][1]["verdict"], "does not hold");
    }
}
