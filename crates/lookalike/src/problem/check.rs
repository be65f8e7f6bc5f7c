//! Everything that can be wrong with a request and a table together, except for cells and
//! feasibility.

use arrow_schema::DataType;

use crate::codes::Code;
use crate::domain::attribute::{Attribute, Domain, Unit};
use crate::domain::encode::{ColumnSpec, present};
use crate::domain::kind::{Guess, guess};
use crate::domain::label::ANY;
use crate::domain::parse::number;
use crate::domain::scheme::Scheme;
use crate::domain::taxonomy::Taxonomy;
use crate::error::{Error, Hint, Result, Warning};
use crate::request::{ColumnRequest, HierarchySpec, Kind, Order, PSEUDONYM, Request, Roles};
use crate::table::{Coded, Table};

/// Checks the table and the output before any column is encoded.
pub(super) fn check(table: &Table, roles: &Roles, request: &Request) -> Result<()> {
    if table.rows() == 0 {
        return Err(Error::data("no-rows", "the table has no rows: there is nothing to release"));
    }
    table.check_header()?;
    check_counts(roles, request)?;
    check_pseudonyms(roles, request)?;
    check_bounds(table, roles, request)?;
    if request.missing.iter().any(|marker| marker.trim() == ANY) {
        return Err(Error::request(
            "star-means-missing",
            "`*` cannot mean missing: it is published for any value",
        ));
    }
    Ok(())
}

/// Rows that stand for several have no place in the order of the source, nor on a ring.
fn check_counts(roles: &Roles, request: &Request) -> Result<()> {
    if roles.count.is_none() {
        return Ok(());
    }
    if request.non_homogeneous {
        return Err(Error::request(
            "counted-rings",
            "rings need one row for each person: a table with a count column has homogeneous \
             releases only",
        ));
    }
    if request.output.order == Order::Input {
        return Err(Error::request(
            "counted-order",
            "rows that show the same are one row with a count, so the order of the source cannot \
             be kept: remove the order or the count column",
        ));
    }
    Ok(())
}

/// The column of pseudonyms needs a free name.
fn check_pseudonyms(roles: &Roles, request: &Request) -> Result<()> {
    let Roles { quasi, sensitive, keep, dropped, count, .. } = roles;
    let mut others = [quasi, sensitive, keep, dropped].into_iter().flatten().chain(count);
    let is_named = request.output.pseudonyms && roles.person.len() > 1;
    if is_named && others.any(|name| name == PSEUDONYM) {
        let reason = format!(
            "the pseudonyms of a key of several columns are published as `{PSEUDONYM}`, and the \
             table has another column of that name: rename it"
        );
        return Err(Error::request("pseudonym-name-taken", reason).about_column(PSEUDONYM));
    }
    Ok(())
}

/// Bounds need names that are free, and under snap intervals whose ends the request says.
fn check_bounds(table: &Table, roles: &Roles, request: &Request) -> Result<()> {
    if !request.output.publish.has_bounds() {
        return Ok(());
    }
    for name in &roles.quasi {
        for taken in ["min", "max", "center", "missing"].map(|end| format!("{name}_{end}")) {
            if table.column(&taken).is_some() || request.column(&taken).is_some() {
                return Err(Error::request(
                    "bounds-name-taken",
                    format!(
                        "bounds of column `{name}` need the name `{taken}`, which another column \
                         has: rename it"
                    ),
                )
                .about_column(name));
            }
        }
    }
    Ok(())
}

/// Refuses bounds under snap for numbers and dates with a listed hierarchy: the ends of a group are its
/// least and greatest leaf, and where the file lists the values of the table these are exact values
/// of somebody.
pub(super) fn listed_bounds(attributes: &[Attribute], request: &Request) -> Result<()> {
    if !(request.output.snap && request.output.publish.has_bounds()) {
        return Ok(());
    }
    let is_listed = |attribute: &&Attribute| {
        let line = request.column(&attribute.name);
        let hierarchy = line.and_then(|line| line.hierarchy.as_ref());
        matches!(attribute.domain, Domain::Ordered(_))
            && hierarchy.is_some_and(HierarchySpec::lists_values)
    };
    let Some(Attribute { name, .. }) = attributes.iter().find(is_listed) else { return Ok(()) };
    Err(Error::request(
        "snap-with-bounds",
        format!(
            "column `{name}`: snap publishes the groups of its hierarchy, which are listed and have \
             no ends of their own: publish labels, or give the column a hierarchy of intervals or \
             calendar units"
        ),
    )
    .about_column(name)
    .hint(Hint::SetHierarchy { column: name.clone() }))
}

/// Sets of more values than this are too many to choose from.
const MOST_IN_SETS: usize = 1_000;

/// The scheme that the request names, or one that fits the values.
pub(super) fn scheme(attribute: &Attribute, request: &Request) -> Result<Scheme> {
    let name = &attribute.name;
    let requested =
        request.column(name).and_then(|column| column.scheme.as_ref()).or(request.scheme.as_ref());
    let requested = requested
        .map(|text| text.parse::<Scheme>().map_err(|error| error.at_column(name)))
        .transpose()?;
    match (&attribute.domain, requested) {
        (Domain::Ordered(ordered), None) => {
            Ok(if ordered.intervals().is_some() { Scheme::Ghs } else { Scheme::Ops })
        }
        (Domain::Tree(_), None) => Ok(Scheme::Ghs),
        (Domain::Ordered(ordered), Some(scheme)) => {
            let is_of_nodes = matches!(scheme, Scheme::Bhs | Scheme::Ghs);
            if ordered.published().is_some() && !is_of_nodes {
                return Err(Error::request(
                    "scheme-cuts-intervals",
                    format!(
                        "snap publishes whole intervals of the hierarchy, and {scheme} would cut \
                         them: use ghs or bhs, or remove snap"
                    ),
                )
                .at_column(name));
            }
            Ok(scheme.on_a_line())
        }
        (Domain::Tree(tree), Some(Scheme::Sps | Scheme::Gsps)) if tree.leaves() > MOST_IN_SETS => {
            Err(Error::request(
                "too-many-for-sets",
                format!(
                    "column `{name}` has {} values, too many to choose sets from: use ghs, gops \
                     or ops for it",
                    tree.leaves()
                ),
            )
            .about_column(name))
        }
        (Domain::Tree(_), Some(scheme)) => Ok(scheme),
    }
}

/// Instants of a column whose type has a time zone are published in it.
pub(super) fn keep_zone(attribute: &mut Attribute, table: &Table) {
    let data_type = table.column(&attribute.name).map(|column| &column.data_type);
    if let (Some(DataType::Timestamp(_, Some(zone))), Domain::Ordered(ordered)) =
        (data_type, &mut attribute.domain)
    {
        ordered.set_zone(Some(zone.to_string()));
    }
}

/// A warning for each column of numbers with a listed hierarchy and no kind: which of the two it was
/// taken for.
pub(super) fn listed_numbers(attributes: &[Attribute], request: &Request) -> Vec<Warning> {
    let is_open = |line: &&ColumnRequest| {
        let lists = |hierarchy: &HierarchySpec| {
            hierarchy.lists_values() && !matches!(hierarchy, HierarchySpec::Builtin(_))
        };
        line.kind.is_none() && line.hierarchy.as_ref().is_some_and(lists)
    };
    let warning = |attribute: &Attribute| {
        let name = &attribute.name;
        request.column(name).filter(is_open)?;
        let (warning, kind) = match &attribute.domain {
            Domain::Ordered(_) => {
                let reason = format!(
                    "column `{name}` stays numeric, because the groups of its hierarchy are \
                     intervals: ranges are published with exact ends, and with snap as these groups"
                );
                (Warning::new("numbers-stay-numbers", reason), "categorical")
            }
            Domain::Tree(tree) if has_numbers(tree) => {
                let reason = format!(
                    "column `{name}` has numbers that are taken as codes, because the groups of its \
                     hierarchy have names or are no intervals: these groups are published"
                );
                (Warning::new("numbers-as-labels", reason), "numeric")
            }
            Domain::Tree(_) => return None,
        };
        let other = Hint::SetKind { column: name.clone(), kind: kind.into() };
        Some(warning.about_column(name).hint(other))
    };
    attributes.iter().filter_map(warning).collect()
}

/// A warning for each column in which most values are numbers and some are text: it was taken for
/// labels, whose only range is `*`. Where nearly all values are numbers, it is an error instead.
pub(super) fn text_among_numbers<'t>(
    attributes: &[Attribute],
    request: &Request,
    coded: impl Fn(&str) -> &'t Coded,
) -> Vec<Warning> {
    let warning = |attribute: &Attribute| {
        let name = &attribute.name;
        let is_said = |line: &ColumnRequest| {
            line.kind.is_some() || line.order.is_some() || line.hierarchy.is_some()
        };
        if attribute.domain.unit().is_some() || request.column(name).is_some_and(is_said) {
            return None;
        }
        let column = coded(name);
        let values = present(ColumnSpec::new(name, request), column);
        let (numbers, texts): (Vec<usize>, Vec<usize>) = (0..values.len())
            .filter(|&at| values[at].is_some())
            .partition(|&at| values[at].as_deref().and_then(number).is_some());
        // 02139 is a code.
        let is_code = |&at: &usize| {
            let text = values[at].as_deref().unwrap_or_default();
            text.len() > 1 && text.starts_with('0') && !text.contains('.')
        };
        if numbers.len() < 2 || numbers.len() <= texts.len() || numbers.iter().any(is_code) {
            return None;
        }
        let is_text: Vec<bool> = values
            .iter()
            .map(|value| value.as_deref().is_some_and(|text| number(text).is_none()))
            .collect();
        let rows = column.codes().iter().filter(|&code| is_text[code as usize]).count();
        let reason = format!(
            "column `{name}` is taken for labels, which have no ranges: most of its values are \
             numbers, but {} text",
            match rows {
                1 => "1 row has".to_string(),
                rows => format!("{} rows have", crate::numbers::count(rows as u64)),
            }
        );
        let labels = Hint::SetKind { column: name.clone(), kind: "categorical".into() };
        let warning = Warning::new("text-among-few-numbers", reason).about_column(name);
        Some(warning.hint(Hint::NameMissing { texts: Vec::new() }).hint(labels))
    };
    attributes.iter().filter_map(warning).collect()
}

/// A warning for each column of numbers with a hierarchy of prefixes and no kind: its cells are cut
/// like text.
pub(super) fn numbers_by_prefix(attributes: &[Attribute], request: &Request) -> Vec<Warning> {
    let is_prefix = |line: &ColumnRequest| {
        line.kind.is_none() && matches!(line.hierarchy, Some(HierarchySpec::Prefix(_)))
    };
    // Codes such as postal codes have one length.
    let has_lengths = |tree: &Taxonomy| {
        let leaves = Code::try_from(tree.leaves()).expect("codes have 32 bits");
        let lengths =
            (0..leaves).map(|leaf| tree.leaf_label(leaf).len()).filter(|&length| length > 0);
        lengths.collect::<std::collections::BTreeSet<usize>>().len() > 1
    };
    let warning = |attribute: &Attribute| {
        let name = &attribute.name;
        request.column(name).filter(|line| is_prefix(line))?;
        match &attribute.domain {
            Domain::Tree(tree) if has_numbers(tree) && has_lengths(tree) => {}
            _ => return None,
        }
        let reason = format!(
            "column `{name}` has numbers, and its prefixes cut them like text: 12 and 120 are in \
             one group, 9 and 10 are not"
        );
        let codes = Hint::SetKind { column: name.clone(), kind: "categorical".into() };
        let numbers = Hint::SetHierarchy { column: name.clone() };
        Some(Warning::new("numbers-by-prefix", reason).about_column(name).hint(numbers).hint(codes))
    };
    attributes.iter().filter_map(warning).collect()
}

fn has_numbers(tree: &Taxonomy) -> bool {
    let leaves = Code::try_from(tree.leaves()).expect("codes have 32 bits");
    let text = |leaf| Some(tree.leaf_label(leaf).to_string()).filter(|text| !text.is_empty());
    let values: Vec<Option<String>> = (0..leaves).map(text).collect();
    tree.height() > 1 && guess(&values) == Guess::Kind(Kind::Numeric)
}

/// A warning for each column without intervals where the request wants them published: of dates, and
/// of numbers where no column has any. Beside columns with intervals it is said once, in the
/// configuration of `init` and in the codebook, that numbers without a hierarchy have exact ends.
pub(super) fn without_intervals(attributes: &[Attribute], request: &Request) -> Vec<Warning> {
    let ordered = |attribute: &Attribute| match &attribute.domain {
        Domain::Ordered(ordered) if ordered.unit() != Unit::Place => {
            Some((ordered.intervals().is_some(), ordered.unit()))
        }
        _ => None,
    };
    let has_some = attributes.iter().any(|attribute| matches!(ordered(attribute), Some((true, _))));
    let is_exact = |attribute: &&Attribute| match ordered(attribute) {
        Some((false, Unit::Day | Unit::Second)) => request.output.snap,
        Some((false, _)) => request.output.snap && !has_some,
        _ => false,
    };
    let warning = |attribute: &Attribute| {
        let name = &attribute.name;
        let reason =
            format!("snap: column `{name}` has no hierarchy, its exact ends are published");
        Warning::new("snap-without-hierarchy", reason)
            .about_column(name)
            .hint(Hint::SetHierarchy { column: name.clone() })
    };
    attributes.iter().filter(is_exact).map(warning).collect()
}
