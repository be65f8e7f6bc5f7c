//! The lower bound on the loss, and how it came about.

use crate::request::{ColumnRequest, Persons, Request, Role};

/// A lower bound on the loss of every release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The weighted certainty penalty of the table: comparable to
    /// [`Loss::ncp`](crate::evaluate::loss::Loss::ncp).
    pub value: f64,
    /// How far it can be trusted, and how good it is.
    pub kind: BoundKind,
}

/// The rules that a bound knows. It depends on the table and on k, so it holds under every further
/// rule; but a further rule makes a greater loss necessary than the bound says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundScope {
    /// k on all quasi-identifiers is the only rule: loss over bound is a gap.
    #[default]
    AllRules,
    /// Beside k there is a rule on the share of values (alpha, l) of one sensitive column: a tight
    /// bound knows it, others do not.
    Shares,
    /// There are further rules: a loss above the bound says nothing about the search.
    KAlone,
}

impl BoundScope {
    /// The scope of a bound under the rules of a request, and the reading of its persons. The bound
    /// counts whole persons, but by rows it counts rows where k counts persons.
    pub fn of(request: &Request, persons: Option<Persons>) -> BoundScope {
        let is_by_rows =
            |column: &ColumnRequest| column.role == Role::Person && persons != Some(Persons::Whole);
        let ruled: Vec<&ColumnRequest> =
            request.columns.values().filter(|column| column.has_rule()).collect();
        let is_share = |column: &ColumnRequest| {
            let ColumnRequest { alpha, l, .. } = column;
            // Of two shares on one column the bound knows the stricter one alone.
            alpha.is_some() != l.is_some()
                && !ColumnRequest { alpha: None, l: None, ..column.clone() }.has_rule()
        };
        match ruled[..] {
            _ if !request.rules.is_empty() || request.columns.values().any(is_by_rows) => {
                BoundScope::KAlone
            }
            [] => BoundScope::AllRules,
            [column] if persons.is_none() && is_share(column) => BoundScope::Shares,
            _ => BoundScope::KAlone,
        }
    }

    /// True when a bound knows all rules.
    pub fn knows_rules(self, bound: &Bound) -> bool {
        match self {
            BoundScope::AllRules => true,
            BoundScope::Shares => bound.kind == BoundKind::Tight,
            BoundScope::KAlone => false,
        }
    }

    /// True when loss over bound is a gap: the bound knows all rules, or the loss has reached it,
    /// and no further rule makes a loss smaller.
    pub fn is_gap(self, bound: &Bound, loss: f64) -> bool {
        let is_certain = !matches!(bound.kind, BoundKind::Estimate { .. });
        self.knows_rules(bound) || (is_certain && loss <= bound.value + 1e-9 * bound.value.max(1.0))
    }

    /// The gap of a release, where there is one: see [`Bound::gap`].
    pub fn gap(self, bound: Option<&Bound>, loss: f64) -> Option<f64> {
        bound.filter(|bound| self.is_gap(bound, loss))?.gap(loss)
    }
}

/// How a bound came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundKind {
    /// For every row the box that loses least was found.
    Exact,
    /// The sum of dual values of the rows, which in no equivalence class add up to more than its
    /// loss: greater than the plain bound. It holds for homogeneous releases.
    Tight,
    /// The search gave up for some rows. They count with the lower bound that was proved until
    /// then, at least the loss with the last of their k nearest rows, or 0 where the budget was
    /// spent before. Weaker, still a bound.
    Weaker {
        /// The rows whose search gave up or did not start.
        rows: u64,
    },
    /// From a random sample of rows, scaled: no bound, but an estimate of it.
    Estimate {
        /// The rows in the sample.
        sample: u64,
        /// The lower end of a 95 % confidence interval of the bound.
        low: f64,
        /// Its upper end.
        high: f64,
    },
}

impl Bound {
    /// The gap of a release: its loss as a multiple of the bound, 1 or more for a bound that is no
    /// estimate; none when the bound is 0.
    pub fn gap(&self, loss: f64) -> Option<f64> {
        (self.value > 0.0).then(|| loss / self.value)
    }
}

impl BoundKind {
    /// The name in files and reports, such as `exact`.
    pub fn name(self) -> &'static str {
        match self {
            BoundKind::Exact => "exact",
            BoundKind::Tight => "tight",
            BoundKind::Weaker { .. } => "weaker",
            BoundKind::Estimate { .. } => "estimate",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_does_not_know_the_rules_has_a_gap_only_where_it_is_reached() {
        let scope = |toml: &str| BoundScope::of(&Request::parse(toml).unwrap(), None);
        let persons = Request::parse("k = 2\ncolumns.p.role = 'person'").unwrap();
        assert_eq!(BoundScope::of(&persons, Some(Persons::Whole)), BoundScope::AllRules);
        assert_eq!(BoundScope::of(&persons, Some(Persons::Rows)), BoundScope::KAlone);
        let quasi = "k = 2\ncolumns.a.role = 'quasi'";
        assert_eq!(scope(quasi), BoundScope::AllRules);
        assert_eq!(scope(&format!("{quasi}\ncolumns.s.role = 'sensitive'")), BoundScope::AllRules);
        for more in [
            "columns.s = { role = 'sensitive', distinct = 2 }",
            "columns.s = { role = 'sensitive', l = 2, t = 0.3 }",
            "columns.s = { role = 'sensitive', l = 2, alpha = 0.4 }",
            "columns.s = { role = 'sensitive', l = 2 }\ncolumns.r = { role = 'sensitive', l = 2 }",
            "columns.p.role = 'person'",
            "rules = [{ k = 5, columns = ['a'] }]",
        ] {
            let toml = format!("k = 2\n{}\ncolumns.a.role = 'quasi'", more);
            assert_eq!(scope(&toml), BoundScope::KAlone, "{more}");
        }
        for share in ["l = 2", "alpha = 0.5", "alpha = 0.5, values = ['x']"] {
            let toml = format!("{quasi}\ncolumns.s = {{ role = 'sensitive', {share} }}");
            assert_eq!(scope(&toml), BoundScope::Shares, "{share}");
        }
        let exact = Bound { value: 150.0, kind: BoundKind::Exact };
        let tight = Bound { kind: BoundKind::Tight, ..exact };
        assert_eq!(BoundScope::Shares.gap(Some(&exact), 300.0), None);
        assert_eq!(BoundScope::Shares.gap(Some(&tight), 300.0), Some(2.0));
        let sampled =
            Bound { kind: BoundKind::Estimate { sample: 9, low: 140.0, high: 160.0 }, ..exact };
        for (bound, loss, of_all, of_k) in [
            (exact, 300.0, Some(2.0), None),
            (exact, 150.0, Some(1.0), Some(1.0)),
            (sampled, 150.0, Some(1.0), None),
        ] {
            assert_eq!(BoundScope::AllRules.gap(Some(&bound), loss), of_all);
            assert_eq!(BoundScope::KAlone.gap(Some(&bound), loss), of_k);
        }
        assert_eq!(BoundScope::AllRules.gap(None, 1.0), None);
    }
}
