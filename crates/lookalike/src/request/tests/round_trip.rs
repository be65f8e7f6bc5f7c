//! TOML, JSON and the builder give the same request, and it says itself back.

use std::collections::btree_map::Entry;
use std::time::Duration;

use crate::forms::{DateForm, Form, NumberForm};
use crate::request::ratio::Ratio;
use crate::request::*;
use crate::rng::Rng;

/// Some thousand random requests, with all keys.
const CASES: u64 = 4_000;

#[test]
fn a_request_is_the_same_from_toml_from_json_and_from_the_builder() {
    for seed in 0..CASES {
        let (request, built) = random(&mut Rng::new(seed));
        let toml = request.to_toml().unwrap();
        let again =
            Request::parse(&toml).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{toml}"));
        assert_eq!(again, request, "seed {seed}, by TOML:\n{toml}");
        let json = request.to_json().unwrap();
        let again =
            Request::from_json(&json).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{json}"));
        assert_eq!(again, request, "seed {seed}, by JSON:\n{json}");
        assert_eq!(built, Request::parse(&toml).unwrap(), "seed {seed}, by the builder:\n{toml}");
    }
}

#[test]
fn the_random_requests_have_every_key() {
    let mut seen: std::collections::BTreeSet<String> = Default::default();
    for seed in 0..CASES {
        let (request, _) = random(&mut Rng::new(seed));
        let value: serde_json::Value = serde_json::from_str(&request.to_json().unwrap()).unwrap();
        keys(&value, "", &mut seen);
    }
    // Every key of the structures, from a request that has them all.
    let mut all: std::collections::BTreeSet<String> = Default::default();
    keys(&serde_json::to_value(super::with_every_key()).unwrap(), "", &mut all);
    assert!(all.len() > 40, "{all:?}");
    let lacking: Vec<&String> = all.difference(&seen).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// The paths of all keys; names of columns are one key.
fn keys(value: &serde_json::Value, path: &str, into: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                let key = if path == ".columns" { "NAME" } else { key };
                keys(value, &format!("{path}.{key}"), into);
            }
        }
        serde_json::Value::Array(items) => {
            items.iter().for_each(|item| keys(item, &format!("{path}[]"), into));
        }
        _ => drop(into.insert(path.to_string())),
    }
}

/// A random request, once as a structure and once by the builder.
fn random(rng: &mut Rng) -> (Request, Request) {
    let mut request = Request::default();
    let mut built = Request::default();
    // The version is that of a text: a builder has none.
    request.version = maybe(rng, |_| 1);
    built.version = request.version;
    request.k = maybe(rng, number);
    if let Some(k) = request.k {
        built = Request { version: built.version, ..Request::new(k) };
    }
    for _ in 0..rng.below(6) {
        let name = text(rng);
        if let Entry::Vacant(place) = request.columns.entry(name.clone()) {
            let (column, more) = column(rng, &name, built);
            place.insert(column);
            built = more;
        }
    }
    if let Some(rest) = maybe(rng, |rng| pick(rng, &[Rest::Drop, Rest::Keep])) {
        request.rest = Some(rest);
        built = if rest == Rest::Drop { built.drop_others() } else { built.keep_others() };
    }
    if rng.below(2) == 0 {
        request.accept_unique = true;
        built = built.accept_unique();
    }
    if let Some(persons) = maybe(rng, |rng| pick(rng, &[Persons::Whole, Persons::Rows])) {
        request.persons = Some(persons);
        built = built.persons(persons);
    }
    if rng.below(2) == 0 {
        request.output.pseudonyms = true;
        built = built.pseudonyms();
    }
    if let Some(column) = maybe(rng, text) {
        built = built.count(&column);
        request.count = Some(column);
    }
    if let Some(persons) = maybe(rng, |rng| pick(rng, &[Persons::Whole, Persons::Rows])) {
        request.persons = Some(persons);
        built = built.persons(persons);
    }
    request.purpose = texts(rng);
    built = built.purpose(request.purpose.clone());
    request.missing = texts(rng);
    built = built.missing(request.missing.clone());
    for _ in 0..rng.below(3) {
        let (k, columns) = (number(rng), texts(rng));
        built = built.k_on(k, columns.clone());
        request.rules.push(SubsetRule { k, columns });
    }
    if let Some(persons) = maybe(rng, |rng| pick(rng, &[Persons::Whole, Persons::Rows])) {
        built = built.persons(persons);
        request.persons = Some(persons);
    }
    if let Some(path) = maybe(rng, text) {
        built = built.population(&path);
        request.risk.population = Some(path.into());
    }
    if let Some(fraction) = maybe(rng, share) {
        built = built.sampling_fraction_of(fraction);
        request.risk.sampling_fraction = Some(fraction);
    }
    built = search(rng, &mut request, built);
    built = output(rng, &mut request, built);
    (request, built)
}

/// Keys of the search and of the limits.
fn search(rng: &mut Rng, request: &mut Request, mut built: Request) -> Request {
    if let Some(name) = maybe(rng, text) {
        built = built.algorithm(&name);
        request.algorithm = Some(name);
    }
    if let Some(seed) = maybe(rng, number) {
        built = built.seed(seed);
        request.seed = Some(seed);
    }
    if let Some(rounds) = maybe(rng, |rng| u32::try_from(rng.below(1 << 32)).unwrap()) {
        built = built.search_rounds(rounds);
        request.rounds = Some(rounds);
    }
    if let Some(steps) = maybe(rng, number) {
        built = built.search_steps(steps);
        request.steps = Some(steps);
    }
    if let Some(scheme) = maybe(rng, text) {
        built = built.scheme(&scheme);
        request.scheme = Some(scheme);
    }
    if let Some(cost) = maybe(rng, text) {
        built = built.cost(&cost);
        request.cost = Some(cost);
    }
    if rng.below(2) == 0 {
        built = built.non_homogeneous();
        request.non_homogeneous = true;
    }
    if let Some(suppress) = maybe(rng, share) {
        built = built.suppress_up_to(suppress);
        request.limits.suppress = Some(suppress);
    }
    if let Some(price) = maybe(rng, share) {
        built = built.suppression_price_of(price);
        request.limits.suppression_price = Some(price);
    }
    if let Some(loss) = maybe(rng, share) {
        built = built.loss_up_to(loss);
        request.limits.max_loss = Some(loss);
    }
    if let Some(seconds) = maybe(rng, |rng| rng.below(1_000_000)) {
        built = built.search_time(Duration::from_secs(seconds));
        request.limits.time = Some(format!("{seconds}s"));
    }
    built
}

/// Keys of the input and the output.
fn output(rng: &mut Rng, request: &mut Request, mut built: Request) -> Request {
    if let Some(path) = maybe(rng, text) {
        built = built.input(&path);
        request.input.path = Some(path.into());
    }
    if let Some(delimiter) = maybe(rng, |rng| pick(rng, &[',', ';', '\t', '|', '"', 'ß'])) {
        built = built.delimiter(delimiter);
        request.input.delimiter = Some(delimiter);
    }
    if let Some(name) = maybe(rng, text) {
        built = built.encoding(&name);
        request.input.encoding = Some(name);
    }
    if let Some(name) = maybe(rng, text) {
        built = built.sheet(&name);
        request.input.sheet = Some(name);
    }
    if let Some(sign) = maybe(rng, |rng| pick(rng, &['.', ','])) {
        built = built.decimal(sign).thousands(sign);
        request.input.decimal = Some(sign);
        request.input.thousands = Some(sign);
    }
    if let Some(form) = maybe(rng, date_form) {
        built = built.date_format(form.clone());
        request.input.date_format = Some(form);
    }
    if rng.below(2) == 0 {
        built = built.dialect(Dialect::Plain);
        request.output.dialect = Dialect::Plain;
    }
    if let Some(name) = maybe(rng, text) {
        built = built.names([&name, "b"]);
        request.input.names = vec![name, "b".into()];
    }
    if rng.below(2) == 0 {
        built = built.header();
        request.input.header = true;
    }
    if let Some(path) = maybe(rng, text) {
        built = built.output(&path);
        request.output.path = Some(path.into());
    }
    request.output.publish =
        pick(rng, &[Publish::Label, Publish::Set, Publish::Bounds, Publish::Center]);
    built = built.publish(request.output.publish);
    if rng.below(2) == 0 {
        built = built.input_order();
        request.output.order = Order::Input;
    }
    if rng.below(2) == 0 {
        built = built.snap();
        request.output.snap = true;
    }
    if rng.below(2) == 0 {
        built = built.raw_formulas();
        request.output.raw_formulas = true;
    }
    if rng.below(2) == 0 {
        built = built.pseudonyms();
        request.output.pseudonyms = true;
    }
    if rng.below(2) == 0 {
        built = built.hash_key("key");
        request.output.hash_key = Some("key".into());
    }
    if rng.below(2) == 0 {
        built = built.proof("proof.csv");
        request.output.proof = Some("proof.csv".into());
    }
    if rng.below(2) == 0 {
        built = built.codebook();
        request.output.codebook = true;
    }
    built
}

/// A column with any keys, whether they make sense together or not; the role comes first, last or
/// all at once.
fn column(rng: &mut Rng, name: &str, mut built: Request) -> (ColumnRequest, Request) {
    let roles =
        [Role::Quasi, Role::Sensitive, Role::Identifier, Role::Keep, Role::Person, Role::Weight];
    let role = pick(rng, &roles);
    let mut column = ColumnRequest {
        kind: maybe(rng, |rng| {
            pick(rng, &[Kind::Numeric, Kind::Date, Kind::Ordinal, Kind::Categorical])
        }),
        weight: maybe(rng, float),
        format: maybe(rng, |rng| match rng.below(2) {
            0 => Form::Date(date_form(rng)),
            _ => Form::Number(NumberForm { decimal: ',', thousands: Some('.') }),
        }),
        hierarchy: maybe(rng, hierarchy),
        order: maybe(rng, texts),
        scheme: maybe(rng, text),
        dependent: rng.below(2) == 0,
        round: maybe(rng, decimal),
        top: maybe(rng, decimal),
        bottom: maybe(rng, decimal),
        hash: rng.below(2) == 0,
        reason: maybe(rng, text),
        ..ColumnRequest::new(role)
    };
    let rules = if role == Role::Sensitive { rules(rng, &mut column) } else { Vec::new() };
    let way = rng.below(3);
    if way == 0 {
        return (column.clone(), built.column_request(name, column));
    }
    let with_role = |built: Request| match role {
        Role::Quasi => built.quasi_identifiers([name]),
        Role::Sensitive => built.sensitive(name, rules),
        Role::Identifier => built.identifiers([name]),
        Role::Keep => built.keep([name]),
        Role::Person => built.person([name]),
        Role::Weight => built.sampling_weight(name),
    };
    let with_keys = |mut built: Request| {
        if let Some(kind) = column.kind {
            built = built.kind(name, kind);
        }
        if let Some(weight) = column.weight {
            built = built.weight(name, weight);
        }
        if let Some(form) = column.format.clone() {
            built = built.format(name, form);
        }
        if let Some(hierarchy) = column.hierarchy.clone() {
            built = built.hierarchy(name, hierarchy);
        }
        if let Some(order) = column.order.clone() {
            built = built.order(name, order);
        }
        if let Some(scheme) = column.scheme.clone() {
            built = built.scheme_of(name, scheme);
        }
        if column.dependent {
            built = built.accept_dependent(name);
        }
        if let Some(step) = column.round {
            built = built.round(name, step);
        }
        if let Some(limit) = column.top {
            built = built.top(name, limit);
        }
        if let Some(limit) = column.bottom {
            built = built.bottom(name, limit);
        }
        if column.hash {
            built = built.hash(name);
        }
        if let Some(reason) = column.reason.clone() {
            built = built.reason(name, reason);
        }
        built
    };
    built = if way == 1 { with_keys(with_role(built)) } else { with_role(with_keys(built)) };
    (column, built)
}

fn decimal(rng: &mut Rng) -> Decimal {
    pick(rng, &["100", "0.05", "-7", "123456789.987654321"]).parse().expect("a number")
}

fn date_form(rng: &mut Rng) -> DateForm {
    pick(rng, &["dd.mm.yyyy", "m/d/yyyy hh:mm"]).parse().expect("a form of dates")
}

/// Sets keys of rules, and gives the same rules as values.
fn rules(rng: &mut Rng, column: &mut ColumnRequest) -> Vec<SensitiveRule> {
    let mut rules = Vec::new();
    if let Some(l) = maybe(rng, number) {
        column.l = Some(l);
        rules.push(l_diversity(l));
    }
    if let Some(values) = maybe(rng, number) {
        column.distinct = Some(values);
        rules.push(distinct(values));
    }
    if let Some(l) = maybe(rng, share) {
        column.entropy = Some(l);
        rules.push(entropy(l));
    }
    if let Some((c, l)) = maybe(rng, |rng| (share(rng), number(rng))) {
        column.recursive = Some(Recursive { c, l });
        rules.push(recursive(c, l));
    }
    if let Some(share) = maybe(rng, share) {
        column.alpha = Some(share);
        column.values = maybe(rng, texts);
        rules.push(match column.values.clone() {
            None => alpha(share),
            Some(values) => alpha_of(share, values),
        });
    }
    if let Some(t) = maybe(rng, share) {
        column.t = Some(t);
        column.distance = maybe(rng, |rng| {
            pick(rng, &[Distance::Equal, Distance::Ordered, Distance::Hierarchical])
        });
        rules.push(match column.distance {
            None => t_closeness(t),
            Some(distance) => t_closeness_with(t, distance),
        });
    }
    rules
}

fn hierarchy(rng: &mut Rng) -> HierarchySpec {
    match rng.below(7) {
        0 => HierarchySpec::file(text(rng)),
        1 => HierarchySpec::intervals((0..rng.below(4)).map(|_| float(rng)).collect::<Vec<_>>()),
        2 => HierarchySpec::Intervals(IntervalsSpec {
            intervals: (0..rng.below(4)).map(|_| float(rng)).collect(),
            origin: float(rng),
            bottom: maybe(rng, float),
            top: maybe(rng, float),
        }),
        3 => HierarchySpec::prefix((0..rng.below(4)).map(|_| usize_below(rng, 9))),
        4 => HierarchySpec::dates((0..rng.below(4)).map(|_| {
            use DateUnit::{Day, Decade, Month, Quarter, Year};
            pick(rng, &[Day, Month, Quarter, Year, Decade])
        })),
        5 => HierarchySpec::rows((0..rng.below(4)).map(|_| texts(rng)).collect::<Vec<_>>()),
        _ => HierarchySpec::text(text(rng)),
    }
}

fn maybe<T>(rng: &mut Rng, make: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    (rng.below(2) == 0).then(|| make(rng))
}

fn pick<T: Clone>(rng: &mut Rng, from: &[T]) -> T {
    from[usize_below(rng, from.len() as u64)].clone()
}

fn usize_below(rng: &mut Rng, below: u64) -> usize {
    usize::try_from(rng.below(below)).unwrap()
}

/// Small and large whole numbers, those that only u64 has among them.
fn number(rng: &mut Rng) -> u64 {
    let large = [0, 1, u64::from(u32::MAX), i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX];
    if rng.below(4) == 0 { pick(rng, &large) } else { rng.below(1_000) }
}

fn share(rng: &mut Rng) -> Share {
    Share(Ratio::new(number(rng), number(rng).max(1)).unwrap())
}

fn float(rng: &mut Rng) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "any number will do")]
    let x = (rng.below(1 << 53) as f64 / 9.0 - 1e14)
        * 10f64.powi(i32::try_from(rng.below(40)).unwrap() - 20);
    pick(rng, &[x, x.round(), 0.0, -0.5, 5.0, 1e300, f64::MIN_POSITIVE, 0.1 + 0.2])
}

/// Texts that are hard to quote.
fn text(rng: &mut Rng) -> String {
    let parts = [
        "",
        "a",
        "age",
        ".",
        "\"",
        "'",
        "\\",
        " ",
        "=",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        "#",
        "\n",
        "\r",
        "\t",
        "\u{0}",
        "\u{7f}",
        "\u{1b}",
        "ü",
        "名",
        "🦀",
        "\u{202e}",
        "\u{feff}",
        "\u{2028}",
        "0",
        "-",
        "true",
        "null",
        "'''",
        "\"\"\"",
        "*",
        "$serde_json::private::Number",
        "$__toml_private_datetime",
    ];
    (0..rng.below(4)).map(|_| pick(rng, &parts)).collect()
}

fn texts(rng: &mut Rng) -> Vec<String> {
    (0..rng.below(4)).map(|_| text(rng)).collect()
}

#[test]
fn numbers_as_shares_and_times_are_the_same_in_all_three() {
    let built = Request::new(2)
        .sensitive("s", [alpha(0.29), entropy(2.5), t_closeness(0.125), recursive(2.0, 3)])
        .search_time(Duration::from_millis(500));
    let keys = "role = 'sensitive', alpha = 0.29, entropy = 2.5, t = 0.125, \
                recursive = { c = 2.0, l = 3 }";
    let toml = format!("k = 2\nlimits.time = '500ms'\ncolumns.s = {{ {keys} }}");
    assert_eq!(built, Request::parse(&toml).unwrap());
    let json = r#"{"k": 2, "limits": {"time": "500ms"}, "columns": {"s": {"role": "sensitive",
        "alpha": 0.29, "entropy": 2.5, "t": 0.125, "recursive": {"c": 2.0, "l": 3}}}}"#;
    assert_eq!(built, Request::from_json(json).unwrap());
    for hundredths in 1..100 {
        let json = format!(r#"{{"limits": {{"suppress": 0.{hundredths:02}}}}}"#);
        let share = Request::from_json(&json).unwrap().suppress().unwrap();
        assert!(
            share.at_least_share(hundredths, 100) && !share.at_least_share(hundredths + 1, 100)
        );
    }
    for time in [
        Duration::ZERO,
        Duration::from_secs(90),
        Duration::from_millis(1_500),
        Duration::from_nanos(1),
        Duration::new(3_600, 123_456_789),
        Duration::from_secs(1_000_000),
    ] {
        assert_eq!(Request::new(2).search_time(time).time().unwrap(), Some(time));
    }
    assert!(Request::new(2).search_time(Duration::MAX).time().is_err());
}

#[test]
fn what_a_builder_cannot_mean_is_refused_when_the_request_is_used() {
    let names = ["a", "b"].map(String::from);
    let refused = |request: &Request| {
        let error = request.roles(&names).unwrap_err().to_string();
        assert_eq!(request.rules(&Roles::default()).unwrap_err().to_string(), error);
        assert_eq!(request.to_toml().unwrap_err().to_string(), error);
        assert_eq!(request.to_json().unwrap_err().to_string(), error);
        error
    };
    let base = || Request::new(2).quasi_identifiers(["a"]);
    assert_eq!(
        refused(&base().keep(["b", "a"])),
        "column `a` has two roles, quasi and keep: a column has one role"
    );
    assert_eq!(
        refused(&base().sensitive("b", [alpha_of(0.2, ["x"]), alpha_of(0.5, ["y"])])),
        "column `b` has two rules of the kind `alpha`: a column has one rule of a kind"
    );
    assert_eq!(
        refused(&base().weight("b", 2.0)),
        "column `b` has keys but no role: name it as a quasi-identifier, sensitive, an identifier, \
         kept, the person or the weight"
    );
    assert_eq!(
        refused(&base().column_request("a", ColumnRequest::new(Role::Quasi))),
        "column `a` is described twice: describe it once"
    );
    assert!(base().weight("b", 2.0).quasi_identifiers(["b", "b"]).roles(&names).is_ok());
    let of_both = base().sensitive("b", [l_diversity(2)]).sensitive("b", [distinct(2)]);
    assert_eq!((of_both.columns["b"].l, of_both.columns["b"].distinct), (Some(2), Some(2)));
}

#[test]
fn a_number_that_is_no_share_is_refused_when_the_request_is_used() {
    let roles = Roles { quasi: vec!["a".into()], sensitive: vec!["s".into()], ..Roles::default() };
    for number in [-1.0, -0.01, f64::NAN, f64::INFINITY, 1e15] {
        for (rule, message) in [
            (alpha(number), "alpha of column `s` must be above 0 and at most 1"),
            (entropy(number), "entropy of column `s` must be at least 1"),
            (recursive(number, 2), "c in recursive of column `s` must be above 0"),
            (t_closeness(number), "t of column `s` must be from 0 to 1"),
        ] {
            let request = Request::new(2).quasi_identifiers(["a"]).sensitive("s", [rule]);
            assert_eq!(request.rules(&roles).unwrap_err().to_string(), message, "{number}");
        }
        assert!(Request::new(2).suppress_up_to(number).suppress().is_err(), "{number}");
        let price = Request::new(2).suppression_price_of(number);
        assert!(price.suppression_price().is_err(), "{number}");
        assert!(Request::new(2).loss_up_to(number).max_loss().is_err(), "{number}");
        let weighty = Request::new(2).quasi_identifiers(["a"]).weight("a", f64::NAN);
        assert!(weighty.to_json().is_err() && weighty.to_toml().is_err());
    }
}

#[test]
fn json_errors_have_the_path_of_the_key_and_never_a_value() {
    let mut wrong = String::new();
    let long = r#"{"k": 5,
        "columns": {"a.b": {"role": "quasi"}, "größe": {"role": "Bob"}}}"#;
    for (json, message) in [
        (r#"{"k": 5, "kay": 1}"#, "kay: unknown field, expected one of `version`"),
        (r#"{"k": "Bob, expected x"}"#, "k: invalid type, expected a whole number"),
        (r#"{"k": -5}"#, "k: invalid value, expected a whole number"),
        (
            r#"{"rules": [{"k": 2, "columns": ["a"]}, {"k": 2, "colums": []}]}"#,
            "rules[1].colums: unknown field",
        ),
        (r#"{"columns": {"a": {"kind": "numeric"}}}"#, "columns.a: missing field `role`"),
        (
            r#"{"columns": {"a": {"role": "quasi", "hierarchy": {"prefix": [2], "Bob": 3}}}}"#,
            "columns.a.hierarchy.Bob: unknown field",
        ),
        (
            r#"{"columns": {"a": {"role": "quasi", "hierarchy": {"prefix": [2], "top": 3}}}}"#,
            "columns.a.hierarchy.top: origin, bottom and top belong to a hierarchy of",
        ),
        (
            r#"{"columns": {"a": {"role": "sensitive", "alpha": "Bob"}}}"#,
            "columns.a.alpha: not a ratio: write it as",
        ),
        (long, "columns.größe.role (line 2, column 71): unknown name, expected one of `quasi`"),
        (r#"{"k": 1, "k": 2}"#, "k: duplicate field `k`"),
        (
            r#"{"columns": {"a": {"role": "keep"}, "a": {"role": "keep"}}}"#,
            "columns.a: this column is named twice",
        ),
        (r#"{"k": 5, "a\"b": {}}"#, "\"a\\\"b\": unknown field"),
        (r#"{"input": {"path": 5}}"#, "input.path: invalid type, expected"),
        (r#"{"columns": ["Bob"]}"#, "columns: invalid type, expected a map"),
        (r#"{"version": 2}"#, "configuration version 2 is unknown"),
        // Tables by mistake.
        (
            r#"[{"name": "Bob"}]"#,
            "this is not a request in JSON: it is no object (line 1, column 0)",
        ),
        (r#"{"name": "Bob"}"#, "this is not a request in JSON: none of its keys is a key of a"),
        (
            "{\"name\": \"Bob\"}\n{\"name\": \"Eve\"}",
            "this is not a request in JSON: trailing characters (line 2, column 1)",
        ),
        ("name,age\nBob,34", "this is not a request in JSON: expected ident (line 1, column 2)"),
        ("Bob", "this is not a request in JSON: expected value (line 1, column 1)"),
        ("\"Bob\"", "this is not a request in JSON: it is no object"),
        ("", "this is not a request in JSON: EOF while parsing a value (line 1, column 0)"),
        ("[]", "this is not a request in JSON: it is no object"),
        ("{\"k\": 5", "this is not a request in JSON: EOF while parsing an object"),
    ] {
        let error = Request::from_json(json).unwrap_err();
        let said = error.to_string();
        if !said.starts_with(message) {
            wrong += &format!("{json}\n{said}\n{message}\n");
        }
        assert_eq!(error.kind(), crate::ErrorKind::Request);
        assert!(!said.replace("hierarchy.Bob", "").contains("Bob"), "{said}");
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(Request::from_json("{}").unwrap(), Request::default());
    assert_eq!(Request::from_json(r#"{"k": 5, "seed": null}"#).unwrap(), Request::new(5));
}
