//! Values in an order: neighbours are grouped.

use super::{Partition, Values};
use crate::domain::parse::number;
use crate::table::Table;

/// Words in their order, in lower case, letters alone.
const SCALES: [&[&str]; 9] = [
    &["none", "verylow", "low", "medium", "moderate", "high", "veryhigh"],
    &["xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"],
    &["tiny", "small", "medium", "large", "verylarge", "huge"],
    &["never", "rarely", "seldom", "sometimes", "often", "usually", "mostly", "always"],
    &["verypoor", "poor", "bad", "fair", "average", "good", "verygood", "excellent"],
    &["stronglydisagree", "disagree", "neutral", "agree", "stronglyagree"],
    &["mild", "moderate", "severe", "critical"],
    &["child", "teenager", "youngadult", "adult", "middleaged", "senior"],
    &["bronze", "silver", "gold", "platinum"],
];

/// The places of the texts in the order that they say themselves: words of one scale, or numbers
/// that they begin with, as in `1st-4th`.
pub(super) fn in_order(texts: &[String]) -> Option<Vec<usize>> {
    let on_scale = SCALES.iter().find_map(|scale| {
        let place = |text: &String| scale.iter().position(|word| *word == letters(text));
        texts.iter().map(place).collect::<Option<Vec<usize>>>()
    });
    if let Some(ranks) = on_scale {
        return sorted(&ranks, |a, b| a.cmp(b));
    }
    let firsts: Vec<f64> = texts.iter().map(|text| leading(text)).collect::<Option<_>>()?;
    sorted(&firsts, f64::total_cmp)
}

/// A column of numbers that goes with the values: each value has one number, and no two have the
/// same. The first such column, and the places of the values in its order.
pub(super) fn by_numbers(
    table: &Table,
    column: &str,
    values: &Values,
) -> Option<(String, Vec<usize>)> {
    let own = table.coded(column);
    table.columns().iter().filter(|other| other.name != column).find_map(|other| {
        let coded = table.coded(&other.name);
        let numbers: Vec<Option<f64>> =
            coded.values().iter().map(|value| value.as_deref().and_then(number)).collect();
        let mut of_value: Vec<Option<f64>> = vec![None; values.texts.len()];
        for (code, of) in own.codes().iter().zip(coded.codes().iter()) {
            let Some(place) = values.places[code as usize] else { continue };
            let number = numbers[of as usize]?;
            if of_value[place].get_or_insert(number).total_cmp(&number).is_ne() {
                return None;
            }
        }
        let of_value: Vec<f64> = of_value.into_iter().collect::<Option<_>>()?;
        Some((other.name.clone(), sorted(&of_value, f64::total_cmp)?))
    })
}

/// The places in rising order of their keys; none when two keys are equal.
fn sorted<K>(keys: &[K], compare: impl Fn(&K, &K) -> std::cmp::Ordering) -> Option<Vec<usize>> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_by(|&a, &b| compare(&keys[a], &keys[b]));
    let rises = places.windows(2).all(|pair| compare(&keys[pair[0]], &keys[pair[1]]).is_lt());
    rises.then_some(places)
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The number that a text begins with, behind signs such as `<` and words such as `under`; what is
/// below or above a number comes just before or behind it.
fn leading(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let sides = [("<", -0.5), ("under ", -0.5), ("below ", -0.5), ("less than ", -0.5)];
    let above = [(">", 0.5), ("over ", 0.5), ("above ", 0.5), ("more than ", 0.5)];
    let side = sides.into_iter().chain(above).find(|(sign, _)| text.starts_with(sign));
    let rest = text.strip_prefix(side.map_or("", |(sign, _)| sign))?;
    let rest = rest.trim_start_matches(['=', ' ', '$', '€', '[', '(']);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let digits = rest[..end.unwrap_or(rest.len())].replace(',', "");
    let first: f64 = digits.trim_end_matches('.').parse().ok()?;
    Some(first + side.map_or(0.0, |(_, step)| step))
}

/// The levels of neighbours in this order: again and again the two neighbouring groups are united
/// that cost least, until there are as many groups as each of the `targets` says. The cost is the
/// loss of publishing the group: its values times its rows.
pub(super) fn neighbours(places: &[usize], counts: &[u64], targets: &[usize]) -> Vec<Partition> {
    let mut groups: Partition = places.iter().map(|&place| vec![place]).collect();
    let loss = |group: &[usize]| {
        group.len() as u64 * group.iter().map(|&place| counts[place]).sum::<u64>()
    };
    let mut levels = Vec::new();
    for &target in targets {
        while groups.len() > target {
            let cost = |at: usize| {
                let united = [&groups[at][..], &groups[at + 1][..]].concat();
                (loss(&united) - loss(&groups[at]) - loss(&groups[at + 1]), at)
            };
            let (_, at) = (0..groups.len() - 1).map(cost).min().expect("there are two groups");
            let next = groups.remove(at + 1);
            groups[at].extend(next);
        }
        levels.push(groups.clone());
    }
    levels
}
