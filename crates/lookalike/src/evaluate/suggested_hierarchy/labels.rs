//! Labels that say what is in a group: its first and last value, its prefix, its common word, or its
//! most frequent values.

use std::collections::BTreeMap;

use super::words::words;
use super::{GroupedBy, Partition, Values};

/// Values that a label names.
const NAMED: usize = 3;

/// Characters of a value in a label.
const LONGEST: usize = 24;

/// The lines of the hierarchy file: groups in their order, values within them the most frequent
/// first; every label means one set of values.
pub(super) fn rows(values: &Values, by: &GroupedBy, levels: &[Partition]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = values.texts.iter().map(|text| vec![text.clone()]).collect();
    let mut meaning: BTreeMap<String, Vec<usize>> =
        values.texts.iter().enumerate().map(|(place, text)| (text.clone(), vec![place])).collect();
    meaning.insert("*".to_string(), Vec::new());
    for (number, groups) in levels.iter().enumerate() {
        for group in groups {
            let mut set = group.clone();
            set.sort_unstable();
            let known = meaning.iter().find(|(_, other)| **other == set).map(|(label, _)| label);
            let label =
                known.cloned().unwrap_or_else(|| free(&label(values, by, number, group), &meaning));
            meaning.insert(label.clone(), set);
            group.iter().for_each(|&place| rows[place].push(label.clone()));
        }
    }
    rows.iter_mut().for_each(|row| row.push("*".to_string()));
    // Down from the coarsest groups, so that the lines of a group stand together.
    let mut order = vec![Vec::new(); rows.len()];
    for groups in levels.iter().rev() {
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|&place| order[place].push(number));
        }
    }
    let in_group = |place: usize| {
        levels.first().and_then(|groups| {
            groups.iter().find_map(|group| group.iter().position(|&member| member == place))
        })
    };
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by_key(|&place| (order[place].clone(), in_group(place)));
    places.into_iter().map(|place| rows[place].clone()).collect()
}

/// The label, or with a number behind it where it means other values already.
fn free(label: &str, meaning: &BTreeMap<String, Vec<usize>>) -> String {
    let is_free = |label: &String| !meaning.contains_key(label);
    let numbered = (2..).map(|number| format!("{label} ({number})"));
    std::iter::once(label.to_string())
        .chain(numbered)
        .find(is_free)
        .expect("there are more numbers than groups")
}

fn label(values: &Values, by: &GroupedBy, level: usize, group: &[usize]) -> String {
    let text = |place: usize| values.texts[place].as_str();
    if let [place] = group {
        return text(*place).to_string();
    }
    match by {
        GroupedBy::Order | GroupedBy::OrderOf(_) => {
            format!("{} .. {}", short(text(group[0])), short(text(group[group.len() - 1])))
        }
        GroupedBy::Prefix => prefix(group.iter().map(|&place| text(place))),
        GroupedBy::Words if level == 0 => match common_word(values, group) {
            Some(word) => format!("{word} ({} values)", group.len()),
            None => listed(values, group),
        },
        GroupedBy::Words | GroupedBy::Company => listed(values, group),
    }
}

/// The most frequent values and the number of the others.
fn listed(values: &Values, group: &[usize]) -> String {
    let mut places = group.to_vec();
    places.sort_unstable();
    let named = if places.len() == NAMED + 1 { NAMED + 1 } else { NAMED };
    let mut names: Vec<String> =
        places.iter().take(named).map(|&place| short(&values.texts[place])).collect();
    if places.len() > named {
        names.push(format!("{} more", places.len() - named));
    }
    names.join(" | ")
}

/// The longest common beginning, and a star for each further character.
fn prefix<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<Vec<char>> = texts.map(|text| text.chars().collect()).collect();
    let first = &texts[0];
    let same = |at: &usize| texts.iter().all(|text| text.get(*at) == first.get(*at));
    let kept = (0..first.len()).take_while(same).count();
    first[..kept].iter().copied().chain(std::iter::repeat_n('*', first.len() - kept)).collect()
}

/// The longest word that all values of the group have, as the first of them writes it.
fn common_word(values: &Values, group: &[usize]) -> Option<String> {
    let of = |place: usize| words(&values.texts[place]);
    let common = of(group[0])
        .into_iter()
        .filter(|word| group.iter().all(|&place| of(place).contains(word)))
        .max_by_key(|word| word.chars().count())?;
    let written = |word: &&str| word.to_lowercase() == common;
    let text = &values.texts[group[0]];
    let found = text.split(|c: char| !c.is_alphanumeric()).find(written).map(str::to_string);
    Some(found.unwrap_or(common))
}

/// At most so many characters of a value, without braces, which would read as a set.
fn short(text: &str) -> String {
    let text: String = text.chars().map(|c| if matches!(c, '{' | '}') { '_' } else { c }).collect();
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
