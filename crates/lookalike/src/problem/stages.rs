//! Stages: how rules on several sets of columns are satisfied together.
//!
//! The column sets of the rules form a chain, each set inside the next. Classes of a stage are cut
//! from the classes of the stage before, whose attributes they publish as that stage left them. A
//! class of the first stage satisfies all later rules too, so the later stages can always be
//! solved; later stages never touch its attributes, so its own rules stay satisfied.

use super::Problem;
use super::privacy::{Model, Privacy};
use crate::error::Result;
use crate::request::{ModelSpec, RuleSpec};

/// Rules on some of the attributes.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// The attributes that this stage generalizes; no earlier stage has them.
    pub(crate) attributes: Vec<usize>,
    /// The rules of its classes: its own and those of all later stages.
    pub(crate) privacy: Privacy,
}

/// A set of attributes, sorted, and the rules on them.
type RulesOnSet<'a> = (Vec<usize>, Vec<&'a RuleSpec>);

/// The stages of the rules, in the order in which they are solved.
pub(super) fn stages(
    problem: &Problem,
    rules: &[RuleSpec],
    models_of: impl Fn(&RuleSpec) -> Result<Vec<Model>>,
    totals: &[Vec<u64>],
) -> Result<Vec<Stage>> {
    let sets = chain(problem, rules);
    let mut stages = Vec::new();
    for at in 0..sets.len() {
        let earlier: &[usize] = if at == 0 { &[] } else { &sets[at - 1].0 };
        let attributes =
            sets[at].0.iter().copied().filter(|column| !earlier.contains(column)).collect();
        let own_and_later = sets[at..].iter().flat_map(|(_, rules)| rules.iter());
        let models: Vec<Vec<Model>> =
            own_and_later.map(|rule| models_of(rule)).collect::<Result<_>>()?;
        let models = models.concat();
        stages.push(Stage { attributes, privacy: Privacy::new(models, totals.to_vec()) });
    }
    Ok(stages)
}

/// The column sets of the rules, smallest first, each inside the next. A set that does not contain
/// the one before is united with it: classes of fewer columns are unions of classes of more
/// columns, so a rule that is satisfied on the latter is on the former. It may only lose more.
fn chain<'a>(problem: &Problem, rules: &'a [RuleSpec]) -> Vec<RulesOnSet<'a>> {
    let mut by_size: Vec<(Vec<usize>, &RuleSpec)> = rules
        .iter()
        .filter(|rule| !is_implied(rule, rules))
        .map(|rule| (attributes_of(rule, problem), rule))
        .collect();
    by_size.sort_by_key(|(columns, _)| columns.len());
    let mut sets: Vec<RulesOnSet> = Vec::new();
    for (columns, rule) in by_size {
        match sets.last_mut() {
            Some((last, rules))
                if *last == columns || !last.iter().all(|at| columns.contains(at)) =>
            {
                last.extend(columns);
                last.sort_unstable();
                last.dedup();
                rules.push(rule);
            }
            _ => sets.push((columns, vec![rule])),
        }
    }
    sets
}

/// The attributes of a rule's columns, sorted, each once.
fn attributes_of(rule: &RuleSpec, problem: &Problem) -> Vec<usize> {
    let index = |name: &String| {
        let found = problem.attributes.iter().position(|attribute| attribute.name == *name);
        found.expect("a quasi-identifier")
    };
    let mut columns: Vec<usize> = rule.columns.iter().map(index).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// k on fewer columns follows from the same or a greater k on more of them.
fn is_implied(rule: &RuleSpec, rules: &[RuleSpec]) -> bool {
    let follows_from = |other: &RuleSpec| match (&rule.model, &other.model) {
        (ModelSpec::K(k), ModelSpec::K(more)) => {
            more >= k
                && other.columns.len() > rule.columns.len()
                && rule.columns.iter().all(|name| other.columns.contains(name))
        }
        _ => false,
    };
    rules.iter().any(follows_from)
}
