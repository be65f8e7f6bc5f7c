//! Every key is parsed, every refusal has its message, and every rule reaches the audit.

mod round_trip;

use std::time::Duration;

use super::ratio::Ratio;
use super::*;
use crate::audit::audit;
use crate::testing;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

fn share(num: u64, den: u64) -> Option<Share> {
    Ratio::new(num, den).map(Share)
}

/// The message that refuses the rules of a request on the columns a and b (quasi) and s (sensitive,
/// with these keys).
fn rules_refused(top: &str, keys: &str) -> String {
    let toml = format!(
        "{top}\n[columns]\na = {{ role = 'quasi' }}\nb = {{ role = 'quasi' }}\n\
         s = {{ role = 'sensitive'{keys} }}"
    );
    let request = Request::parse(&toml).unwrap();
    let roles = request.roles(&names(&["a", "b", "s"])).unwrap();
    request.rules(&roles).unwrap_err().to_string()
}

/// The request of the test below, key by key.
fn with_every_key() -> Request {
    let column = ColumnRequest::new;
    let hierarchy = |spec| ColumnRequest { hierarchy: Some(spec), ..column(Role::Quasi) };
    use DateUnit::{Day, Decade, Month, Quarter, Year};
    let columns = [
        (
            "age",
            ColumnRequest {
                kind: Some(Kind::Numeric),
                weight: Some(2.5),
                scheme: Some("ghs".into()),
                ..hierarchy(HierarchySpec::Intervals(IntervalsSpec {
                    intervals: vec![5.0, 10.0],
                    origin: 1.0,
                    bottom: Some(20.0),
                    top: Some(80.0),
                }))
            },
        ),
        (
            "born",
            hierarchy(HierarchySpec::Date(DateSpec {
                date: vec![Day, Month, Quarter, Year, Decade],
            })),
        ),
        ("zip", hierarchy(HierarchySpec::Prefix(PrefixSpec { prefix: vec![4, 3] }))),
        ("work", hierarchy(HierarchySpec::File("work.csv".into()))),
        ("city", hierarchy(HierarchySpec::rows([["Ulm", "South", "*"], ["Bonn", "West", "*"]]))),
        ("job", hierarchy(HierarchySpec::text("baker;craft;*\nsmith;craft;*\n"))),
        (
            "school",
            ColumnRequest {
                kind: Some(Kind::Ordinal),
                order: Some(names(&["low", "high"])),
                ..column(Role::Quasi)
            },
        ),
        (
            "ill",
            ColumnRequest {
                kind: Some(Kind::Categorical),
                alpha: share(1, 2),
                values: Some(names(&["flu"])),
                l: Some(2),
                distinct: Some(3),
                entropy: share(15, 10),
                recursive: Some(Recursive { c: share(2, 1).unwrap(), l: 3 }),
                t: share(2, 10),
                distance: Some(Distance::Hierarchical),
                ..column(Role::Sensitive)
            },
        ),
        (
            "note",
            ColumnRequest {
                dependent: true,
                round: Some("0.5".parse().unwrap()),
                top: Some(90.into()),
                bottom: Some((-5).into()),
                reason: Some("wanted by the clinic".into()),
                ..column(Role::Keep)
            },
        ),
        ("name", ColumnRequest { hash: true, ..column(Role::Identifier) }),
        ("id", column(Role::Person)),
        ("wgt", column(Role::Weight)),
    ];
    Request {
        version: Some(1),
        k: Some(5),
        algorithm: Some("optimal".into()),
        seed: Some(7),
        rounds: Some(4),
        steps: Some(1000),
        scheme: Some("ops".into()),
        cost: Some("hdm".into()),
        non_homogeneous: true,
        rest: Some(Rest::Keep),
        accept_unique: true,
        purpose: names(&["illness"]),
        missing: names(&["?", "NA"]),
        count: Some("n".into()),
        persons: Some(Persons::Whole),
        input: Input { path: Some("a.csv".into()), delimiter: Some(';'), ..Input::default() },
        output: Output {
            path: Some("b.csv".into()),
            publish: Publish::Set,
            order: Order::Input,
            snap: true,
            raw_formulas: true,
            dialect: Dialect::Plain,
            pseudonyms: true,
            hash_key: Some("key".into()),
            hash_secret: None,
            proof: Some("proof.csv".into()),
            codebook: true,
        },
        columns: columns.map(|(name, column)| (name.to_string(), column)).into(),
        rules: vec![SubsetRule { k: 9, columns: names(&["age"]) }],
        limits: Limits {
            suppress: share(2, 100),
            suppression_price: share(1, 2),
            time: Some("5m".into()),
            max_loss: share(3, 10),
        },
        risk: RiskRequest { population: Some("all.csv".into()), sampling_fraction: share(5, 100) },
    }
}

#[test]
fn every_key_is_parsed_and_written_again() {
    let request = Request::parse(
        "version = 1
         k = 5
         algorithm = 'optimal'
         seed = 7
         rounds = 4
         steps = 1000
         scheme = 'ops'
         cost = 'hdm'
         non_homogeneous = true
         rest = 'keep'
         accept_unique = true
         purpose = ['illness']
         missing = ['?', 'NA']
         count = 'n'
         persons = 'whole'
         rules = [{ k = 9, columns = ['age'] }]
         [input]
         path = 'a.csv'
         delimiter = ';'
         [output]
         path = 'b.csv'
         publish = 'set'
         order = 'input'
         snap = true
         raw_formulas = true
         dialect = 'plain'
         pseudonyms = true
         hash_key = 'key'
         proof = 'proof.csv'
         codebook = true
         [limits]
         suppress = '2%'
         suppression_price = '1/2'
         time = '5m'
         max_loss = 0.3
         [risk]
         population = 'all.csv'
         sampling_fraction = '5%'
         [columns.age]
         role = 'quasi'
         kind = 'numeric'
         weight = 2.5
         scheme = 'ghs'
         hierarchy = { intervals = [5, 10], origin = 1, bottom = 20, top = 80 }
         [columns.born]
         role = 'quasi'
         hierarchy = { date = ['day', 'month', 'quarter', 'year', 'decade'] }
         [columns.zip]
         role = 'quasi'
         hierarchy = { prefix = [4, 3] }
         [columns.work]
         role = 'quasi'
         hierarchy = 'work.csv'
         [columns.city]
         role = 'quasi'
         hierarchy = { rows = [['Ulm', 'South', '*'], ['Bonn', 'West', '*']] }
         [columns.job]
         role = 'quasi'
         hierarchy = { text = \"baker;craft;*\\nsmith;craft;*\\n\" }
         [columns.school]
         role = 'quasi'
         kind = 'ordinal'
         order = ['low', 'high']
         [columns.ill]
         role = 'sensitive'
         kind = 'categorical'
         alpha = '1/2'
         values = ['flu']
         l = 2
         distinct = 3
         entropy = 1.5
         recursive = { c = 2, l = 3 }
         t = 0.2
         distance = 'hierarchical'
         [columns.note]
         role = 'keep'
         dependent = true
         round = 0.5
         top = 90
         bottom = -5
         reason = 'wanted by the clinic'
         [columns.name]
         role = 'identifier'
         hash = true
         [columns.id]
         role = 'person'
         [columns.wgt]
         role = 'weight'",
    )
    .unwrap();
    assert_eq!(request, with_every_key());
    assert_eq!(Request::parse(&toml::to_string(&request).unwrap()).unwrap(), request);
}

#[test]
fn the_default_asks_for_nothing() {
    let request = Request::parse("").unwrap();
    assert_eq!(request, Request::default());
    assert_eq!((request.output.publish, request.output.order), (Publish::Label, Order::Canonical));
    assert_eq!(request.suppress().unwrap().num(), 0);
    assert_eq!((request.time().unwrap(), request.max_loss().unwrap()), (None, None));
    assert_eq!((request.rounds().unwrap(), request.suppression_price().unwrap()), (None, None));
}

#[test]
fn a_text_that_is_no_request_is_refused() {
    for (toml, message) in [
        ("kay = 5", "unknown field `kay`"),
        ("columns.a.role = 'quasy'", "unknown variant `quasy`"),
        ("columns.a = { role = 'quasi', colour = 1 }", "unknown field `colour`"),
        ("columns.a = { kind = 'numeric' }", "missing field `role`"),
        ("columns.a = { role = 'quasi', hierarchy = 5 }", "a hierarchy: a file name in quotes"),
        ("columns.a = { role = 'sensitive', alpha = true }", "a ratio is a number such as 0.25"),
        ("columns.a = { role = 'sensitive', alpha = 'half' }", "not a ratio: write it as 0.25"),
        ("columns.a = { role = 'sensitive', recursive = 3 }", "expected struct Recursive"),
        ("version = 2", "configuration version 2 is unknown; this program knows version 1"),
        ("name,age\nBob,34", "this is not a request in TOML: it has no line KEY = VALUE"),
    ] {
        let error = Request::parse(toml).unwrap_err();
        assert!(error.to_string().contains(message), "{toml}: {error}");
        assert!(matches!(error.kind(), crate::ErrorKind::Request));
        assert!(!error.to_string().contains("Bob"), "a row is never quoted: {error}");
    }
}

#[test]
fn paths_are_relative_to_the_folder_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("request.toml");
    let toml = "[input]\npath = 'a.csv'\n[output]\npath = '-'\n[risk]\npopulation = 'all.csv'\n\
                [columns]\na = { role = 'quasi', hierarchy = 'a.tree' }";
    std::fs::write(&path, toml).unwrap();
    let request = Request::read(&path).unwrap();
    assert_eq!(request.input.path, Some(folder.path().join("a.csv")));
    assert_eq!(request.output.path, Some("-".into()));
    assert_eq!(request.risk.population, Some(folder.path().join("all.csv")));
    let hierarchy = request.columns["a"].hierarchy.clone();
    assert_eq!(hierarchy, Some(HierarchySpec::File(folder.path().join("a.tree"))));
    std::fs::write(&path, "kay = 5").unwrap();
    let error = Request::read(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: ", path.display())), "{error}");
    assert!(Request::read(&folder.path().join("none.toml")).is_err());
    let json = folder.path().join("request.json");
    std::fs::write(
        &json,
        request.to_json().unwrap().replace(&*folder.path().to_string_lossy(), "."),
    )
    .unwrap();
    let again = Request::read(&json).unwrap();
    assert_eq!(again.output.path, Some("-".into()));
    assert_eq!(again.input.path, Some(folder.path().join("./a.csv")));
    let refused = Request::read(&path).unwrap_err().to_string();
    assert!(refused.contains("TOML"), "the name decides: {refused}");
}

#[test]
fn every_column_gets_its_role() {
    let toml = "columns.a.role = 'quasi'\ncolumns.b.role = 'sensitive'\n\
                columns.c.role = 'identifier'\ncolumns.d.role = 'keep'\n";
    let all = names(&["e", "d", "c", "b", "a"]);
    let roles = |rest: &str| Request::parse(&format!("{rest}{toml}")).unwrap().roles(&all);
    let dropped = roles("rest = 'drop'\n").unwrap();
    assert_eq!((dropped.quasi, dropped.sensitive), (names(&["a"]), names(&["b"])));
    assert_eq!((dropped.keep, dropped.dropped), (names(&["d"]), names(&["e", "c"])));
    assert_eq!(roles("rest = 'keep'\n").unwrap().keep, names(&["e", "d"]));
    assert_eq!(
        roles("").unwrap_err().to_string(),
        "no role for `e`: give each a role, or set `rest` to \"drop\" or \"keep\" for all of them"
    );
}

#[test]
fn a_column_that_the_table_does_not_have_is_named_with_the_likely_one() {
    let refused = |name: &str, known: &[&str]| {
        let request = Request::parse(&format!("rest = 'drop'\ncolumns.'{name}'.role = 'quasi'"));
        request.unwrap().roles(&names(known)).unwrap_err().to_string()
    };
    assert_eq!(
        refused("agee", &["name", "age"]),
        "there is no column `agee` (the table has `name`, `age`): did you mean `age`?"
    );
    for (name, known, near) in [
        ("AGE", &["age"][..], Some("age")),
        (" age", &["age"], Some("age")),
        ("gae", &["age", "page"], Some("age")),
        ("zip", &["age", "sip", "zipp"], Some("sip")),
        ("postcode", &["age", "city"], None),
        ("xy", &["ab"], None),
        ("größe", &["grösse"], Some("grösse")),
    ] {
        let message = refused(name, known);
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        assert_eq!(message.contains("did you mean"), hint.is_some(), "{message}");
        assert!(hint.is_none_or(|hint| message.contains(&hint)), "{message}");
    }
    assert!(
        refused("age", &["age_min", "age_max"])
            .contains("use verify, for it was published as bounds")
    );
    let many: Vec<String> = (0..15).map(|n| format!("c{n:02}")).collect();
    assert!(list(&many).ends_with("`c11` and 3 more"), "{}", list(&many));
    let error = Request::parse("rest = 'keep'").unwrap().roles(&names(&["a"])).unwrap_err();
    assert_eq!((error.code(), error.hints()), ("no-quasi-identifier", &[Hint::NameQuasi][..]));
}

#[test]
fn limits_out_of_their_range_are_refused() {
    let refused = |toml: &str| {
        let request = Request::parse(toml).unwrap();
        let price = request.suppression_price().err();
        let errors =
            [request.suppress().err(), request.max_loss().err(), request.rounds().err(), price];
        errors.into_iter().flatten().next().unwrap().to_string()
    };
    assert_eq!(
        refused("limits.suppress = 1.0"),
        "suppress must be below 100%: a release needs rows; 1 percent is written 1% or 0.01"
    );
    assert!(refused("limits.max_loss = 30").contains("for thirty percent write 30% or 0.3"));
    assert!(refused("limits.suppression_price = 1.01").starts_with("suppression_price is from 0"));
    let free = |price: &str| Request::parse(&format!("limits.suppression_price = {price}"));
    assert_eq!(free("0").unwrap().suppression_price().unwrap(), Some(0.0));
    assert_eq!(free("'100%'").unwrap().suppression_price().unwrap(), Some(1.0));
    assert_eq!(refused("rounds = 0"), "rounds must be at least 1");
    let request = Request::parse("rounds = 1\nlimits = { suppress = '1%', max_loss = 1 }").unwrap();
    assert_eq!((request.rounds().unwrap(), request.max_loss().unwrap()), (Some(1), Some(1.0)));
    assert!(request.suppress().unwrap().at_least_share(1, 100));
}

#[test]
fn a_time_is_one_number_with_one_unit() {
    let time = |text: &str| {
        let limits = Limits { time: Some(text.to_string()), ..Limits::default() };
        Request { limits, ..Request::default() }.time()
    };
    for (text, millis) in [
        ("500ms", 500),
        ("60s", 60_000),
        ("5m", 300_000),
        ("1h", 3_600_000),
        ("60", 60_000),
        ("1.5h", 5_400_000),
        (".5s", 500),
        ("2 m", 120_000),
        ("0s", 0),
    ] {
        assert_eq!(time(text).unwrap(), Some(Duration::from_millis(millis)), "{text}");
    }
    for text in ["", "s", "-5s", "1h30m", "5 minutes", "PT5M", "1d", "1e3s", "NaN", "9e99", "5S"] {
        let error = time(text).unwrap_err().to_string();
        assert_eq!(error, "time is a number and a unit: 500ms, 60s, 5m, 1h", "{text}");
    }
    // The reasons not to parse by jiff.
    let by_jiff = |text: &str| text.parse::<jiff::SignedDuration>();
    assert!(["1h30m", "PT5M", "-5s"].iter().all(|text| by_jiff(text).is_ok()));
    assert!(by_jiff("60").is_err());
}

#[test]
fn a_rule_out_of_its_range_is_refused() {
    let of_s = |keys: &str| rules_refused("k = 2", &format!(", {keys}"));
    for (keys, message) in [
        ("alpha = 0", "alpha of column `s` must be above 0 and at most 1"),
        ("alpha = 1.01", "alpha of column `s` must be above 0 and at most 1"),
        (
            "alpha = 0.5, values = []",
            "values of column `s` is an empty list: name a value or remove the key",
        ),
        (
            "values = ['x']",
            "column `s` names values but no alpha: add alpha = 0.5 or remove the values",
        ),
        ("l = 0", "l of column `s` must be at least 1"),
        ("distinct = 0", "distinct of column `s` must be at least 1"),
        ("entropy = 0.99", "entropy of column `s` must be at least 1"),
        ("recursive = { c = 0, l = 1 }", "c in recursive of column `s` must be above 0"),
        ("recursive = { c = 1, l = 0 }", "recursive of column `s` must be at least 1"),
        ("t = 1.5", "t of column `s` must be from 0 to 1"),
        (
            "distance = 'equal'",
            "column `s` names a distance but no t: add t = 0.2 or remove the distance",
        ),
        ("weight = 1", "column `s` is sensitive: a weight belongs to a quasi-identifier"),
    ] {
        assert_eq!(of_s(keys), message);
    }
    assert_eq!(
        rules_refused("k = 0", ""),
        "k must be at least 1, and 1 protects nobody: use at least 2, better 5"
    );
    assert_eq!(
        rules_refused("k = 2\nlimits.suppress = 0.1", ", t = 0.2"),
        "t-closeness compares each class with the whole table, so no row may be suppressed: remove \
         `suppress` or remove t"
    );
    assert_eq!(rules_refused("", ""), "no rule: set `k`, the number of rows that must look alike");
    assert_eq!(
        rules_refused("rules = [{ k = 2, columns = ['s'] }]", ""),
        "a rule names column `s`, which is not a quasi-identifier; those are `a`, `b`"
    );
    assert_eq!(
        rules_refused("k = 2\nrules = [{ k = 2, columns = [] }]", ""),
        "a rule names no columns: columns = [\"a\", \"b\"]"
    );
    assert_eq!(
        rules_refused("k = 2\nrules = [{ k = 0, columns = ['a'] }]", ""),
        "k of a rule must be at least 1"
    );
    assert_eq!(
        rules_refused("rules = [{ k = 2, columns = ['a'] }]", ""),
        "no rule is about `b`, so it would be published unchanged: set `k`, the number \
         of rows that must look alike, or give it the role keep"
    );
}

#[test]
fn a_key_on_a_column_of_another_role_is_refused() {
    let refused = |line: &str| {
        let toml = format!("k = 2\n[columns]\nq = {{ role = 'quasi' }}\na = {{ {line} }}");
        let request = Request::parse(&toml).unwrap();
        let roles = request.roles(&names(&["q", "a"])).unwrap();
        request.rules(&roles).unwrap_err().to_string()
    };
    for rule in [
        "alpha = 0.5",
        "values = ['x']",
        "l = 2",
        "distinct = 2",
        "entropy = 2",
        "recursive = { c = 1, l = 2 }",
        "t = 0.1",
        "distance = 'equal'",
    ] {
        for role in ["quasi", "identifier", "keep"] {
            assert_eq!(
                refused(&format!("role = '{role}', {rule}")),
                "column `a` has a rule for a sensitive column but another role: set role = \
                 \"sensitive\" or remove the rule"
            );
        }
    }
    for key in ["weight = 2", "hierarchy = 'a.csv'", "order = ['x']"] {
        assert_eq!(
            refused(&format!("role = 'keep', {key}")),
            "column `a` has a weight, hierarchy or order but is no quasi-identifier: set role = \
             \"quasi\" or remove them"
        );
    }
    for weight in ["-1", "2e9", "nan", "inf"] {
        let message = refused(&format!("role = 'quasi', weight = {weight}"));
        assert_eq!(message, "weight of column `a` must be a number from 0 to 1000000000");
    }
}

#[test]
fn every_key_that_is_a_rule_is_in_the_verdict_of_the_audit() {
    // Engine and audit take their rules from one function: a rule that it forgot would be forgotten
    // by both. A new key does not compile here until it has been sorted in.
    let Request {
        // These make no rules.
        version: _,
        algorithm: _,
        seed: _,
        rounds: _,
        steps: _,
        scheme: _,
        cost: _,
        non_homogeneous: _,
        rest: _,
        accept_unique: _,
        purpose: _,
        missing: _,
        count: _,
        persons: _,
        input: _,
        output: _,
        limits: _,
        risk: _,
        // These do.
        k: _,
        columns: _,
        rules: _,
    } = Request::default();
    let ColumnRequest {
        // These make no rules.
        role: _,
        kind: _,
        weight: _,
        format: _,
        hierarchy: _,
        order: _,
        scheme: _,
        dependent: _,
        round: _,
        top: _,
        bottom: _,
        hash: _,
        reason: _,
        conflict: _,
        // These do, or are parameters of alpha and t.
        alpha: _,
        values: _,
        l: _,
        distinct: _,
        entropy: _,
        recursive: _,
        t: _,
        distance: _,
    } = ColumnRequest::new(Role::Sensitive);
    let of_column = [
        ("alpha = 0.9", "alpha = 0.9 on s", 0.9),
        ("alpha = 0.7, values = ['1', '2']", "alpha = 0.7 on 2 values of s together", 0.7),
        ("l = 4", "l = 4 on s", 4.0),
        ("distinct = 3", "distinct = 3 on s", 3.0),
        ("entropy = 1.5", "entropy = 1.5 on s", 1.5),
        ("recursive = { c = 2, l = 3 }", "recursive c = 2, l = 3 on s", 2.0),
        ("t = 0.25", "t = 0.25 on s, equal distance", 0.25),
        ("t = 0.25, distance = 'ordered'", "t = 0.25 on s, ordered distance", 0.25),
    ];
    let of_request = [
        ("k = 6", "k = 6 on a, b", 6.0),
        ("k = 1\nrules = [{ k = 3, columns = ['b'] }]", "k = 3 on b", 3.0),
    ];
    let columns = "[columns]\na = { role = 'quasi' }\nb = { role = 'quasi' }\n\
                   s = { role = 'sensitive'";
    let asked = of_column
        .map(|(keys, rule, limit)| (format!("{columns}, {keys} }}"), rule, limit))
        .into_iter()
        .chain(of_request.map(|(top, rule, limit)| (format!("{top}\n{columns} }}"), rule, limit)));
    // A single class of two rows breaks every rule.
    let release = testing::table("a,b,s\n1,1,1\n1,1,1\n2,2,2\n2,2,3\n2,2,4\n");
    for (toml, rule, limit) in asked {
        let verdict = audit(&release, &Request::parse(&toml).unwrap()).unwrap();
        let found = verdict.rules.iter().find(|found| found.rule == rule);
        let found = found.unwrap_or_else(|| panic!("no {rule} in {:?}", verdict.rules));
        assert!((found.limit - limit).abs() < 1e-12, "{rule}: {}", found.limit);
        assert!(found.violations > 0 && !verdict.holds(), "{rule} is not judged");
    }
}
