//! Values with common words, and codes with common prefixes.

use std::collections::BTreeMap;

use super::Partition;

/// Words that say nothing about a value.
const EMPTY_WORDS: [&str; 12] = [
    "and",
    "or",
    "of",
    "the",
    "in",
    "with",
    "for",
    "other",
    "others",
    "unknown",
    "etc",
    "specified",
];

/// Words that turn the next one round: `Never-married` is not one of the married.
const NEGATIONS: [&str; 5] = ["never", "not", "non", "no", "without"];

/// Levels of prefixes, where the values are codes of one length with digits: `A01`, `A02`, `B10`.
pub(super) fn by_prefix(texts: &[String]) -> Option<Vec<Partition>> {
    let length = texts[0].chars().count();
    let is_code = |text: &String| {
        text.chars().count() == length
            && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
            && text.chars().any(|c| c.is_ascii_digit())
    };
    if !texts.iter().all(is_code) {
        return None;
    }
    let groups = |kept: usize| {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, text) in texts.iter().enumerate() {
            groups.entry(text.chars().take(kept).collect()).or_default().push(place);
        }
        groups.into_values().collect::<Partition>()
    };
    let mut levels: Vec<Partition> = Vec::new();
    for level in (1..length).rev().map(groups) {
        let before = levels.last().map_or(texts.len(), Vec::len);
        if 1 < level.len() && level.len() < before && levels.len() < 3 {
            levels.push(level);
        }
    }
    (!levels.is_empty()).then_some(levels)
}

/// Groups of values with a common word, the largest first, and the others each alone; none where
/// fewer than a third of the values have one.
pub(super) fn by_word(texts: &[String]) -> Option<Partition> {
    let mut of_word: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, text) in texts.iter().enumerate() {
        let mut words = words(text);
        words.sort_unstable();
        words.dedup();
        words.into_iter().for_each(|word| of_word.entry(word).or_default().push(place));
    }
    let mut is_left = vec![true; texts.len()];
    let mut groups: Partition = Vec::new();
    loop {
        let left = |places: &Vec<usize>| -> Vec<usize> {
            places.iter().copied().filter(|&place| is_left[place]).collect()
        };
        let largest = of_word
            .iter()
            .filter(|(_, places)| places.len() < texts.len())
            .map(|(word, places)| (left(places), word))
            .max_by_key(|(left, word)| (left.len(), word.len(), std::cmp::Reverse(*word)));
        match largest {
            Some((places, _)) if places.len() > 1 => {
                places.iter().for_each(|&place| is_left[place] = false);
                groups.push(places);
            }
            _ => break,
        }
    }
    let grouped: usize = groups.iter().map(Vec::len).sum();
    groups.extend((0..texts.len()).filter(|&place| is_left[place]).map(|place| vec![place]));
    (grouped * 3 >= texts.len() && groups.len() > 1).then_some(groups)
}

/// The words of a value in lower case, without those that say nothing; a word behind a negation is
/// one with it.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut negation = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if NEGATIONS.contains(&word.as_str()) {
            negation = word + " ";
            continue;
        }
        let says_nothing = EMPTY_WORDS.contains(&word.as_str())
            || word.chars().count() < 3
            || word.chars().all(|c| c.is_ascii_digit());
        if !says_nothing {
            words.push(format!("{negation}{word}"));
        }
        negation.clear();
    }
    words
}
