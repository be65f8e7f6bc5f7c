//! Every key of a request changes what is made of it, or is refused. None is ignored.

use std::fmt::Write as _;
use std::path::Path;

use lookalike::evaluate::disclosure::disclosures;
use lookalike::evaluate::query::{self, Workload};
use lookalike::release::{CellFormat, Release};
use lookalike::request::{ColumnRequest, Input, Limits, Output, RiskRequest, Role};
use lookalike::rng::Key;
use lookalike::run::{coarsen, settle_purpose};
use lookalike::table::{self, Table, Treatment};
use lookalike::{
    Algorithm, Budget, Problem, Request, Result, SearchOptions, audit, problem, solve,
};

/// The column `x` has the role and the keys that are tested.
fn text() -> String {
    let mut text = "age,city,x,note\n".to_string();
    for row in 0..48 {
        let age = if row == 7 { "?".to_string() } else { (20 + row * 5 % 23).to_string() };
        let x = ["1", "2", "3", "4", "5", "5.0"][(row * row * 7 + row / 5) % 6];
        let note = if row == 3 { "=1+1" } else { "n" };
        writeln!(text, "{age},{},{x},{note}", ["Ulm", "Bonn", "Kiel"][row % 3]).unwrap();
    }
    text
}

/// Everything that the library makes of a request: roles, rules, the coded table, releases, the
/// audit's verdict, warnings, queries; or the error.
fn made(toml: &str, text: &str) -> String {
    match try_made(toml, text) {
        Ok(all) => all,
        Err(error) => format!("refused: {error}"),
    }
}

fn try_made(toml: &str, text: &str) -> Result<String> {
    let mut request = Request::parse(toml)?;
    let open = || table::open_text(text.to_string(), Path::new("data.csv"));
    let source = open()?;
    let names = source.names().to_vec();
    let roles = request.roles(&names)?;
    let mut table = source.read(&problem::treatments(&names, &roles))?;
    coarsen(&mut table, &request)?;
    settle_purpose(&table, &roles, &mut request)?;
    let problem = Problem::new(&table, &roles, &request)?;
    let all: Table = open()?.read(&vec![Treatment::Code; names.len()])?;
    let on = ["age", "x"].map(String::from).to_vec();
    let workload = Workload { queries: 30, seed: 1, on, ..Workload::default() };
    let mut said = format!("{roles:?} {:?} {:?}", request.rules(&roles)?, problem.attributes());
    said += &format!("{:?} {} {:?}", problem.schemes(), problem.allowance(), problem.warnings());
    said += &format!("{:?}", disclosures(&table, &roles, &request)?);
    if ![&roles.dropped, &roles.hashed].into_iter().flatten().any(|name| name == "x") {
        said += &format!("{:?}", query::draw(&all, &request, &workload)?);
    }
    for algorithm in [Algorithm::Mondrian, Algorithm::Optimal] {
        let outcome = solve(&problem, SearchOptions::new(algorithm, 1), &Budget::unlimited());
        let (key, cells) = (Key::from_seed(1), CellFormat::Text);
        let release =
            Release::new(&problem, &outcome.recoding, &table, &roles, &request, key, cells)?;
        let batches = release.batches();
        let mut released =
            table::in_memory(release.schema(), batches, |batch| release.batch(batch))?;
        for batch in 0..batches {
            said += &format!("{:?}", release.batch(batch)?);
        }
        if !request.output.raw_formulas {
            audit::unguard(&mut released);
        }
        let verdict = audit::audit(&released, &request)?;
        said += &format!("{:?}", verdict.rules);
    }
    Ok(said)
}

fn toml(top: &str, age: &str, x: &str) -> String {
    format!(
        "seed = 1\nmissing = ['?']\nrest = 'drop'\n{top}\n[columns]\ncity = {{ role = 'quasi' }}\n\
         age = {{ role = 'quasi'{age} }}\nx = {{ {x} }}\nnote = {{ role = 'keep' }}"
    )
}

#[test]
fn every_key_of_a_request_is_heeded_or_refused() {
    // A new key does not compile here until it has been sorted in.
    let Request { version: _, k: _, scheme: _, rest: _, missing: _, rules: _, columns: _, .. } =
        Request::default();
    // Heeded by the run, which has tests of its own.
    let Request {
        algorithm: _,
        seed: _,
        rounds: _,
        steps: _,
        cost: _,
        non_homogeneous: _,
        version: _,
        k: _,
        scheme: _,
        rest: _,
        accept_unique: _,
        purpose: _,
        missing: _,
        count: _,
        persons: _,
        rules: _,
        columns: _,
        input:
            Input {
                path: _,
                delimiter: _,
                encoding: _,
                names: _,
                header: _,
                sheet: _,
                decimal: _,
                thousands: _,
                date_format: _,
            },
        output:
            Output {
                path: _,
                publish: _,
                order: _,
                snap: _,
                raw_formulas: _,
                dialect: _,
                pseudonyms: _,
                hash_key: _,
                // Part of no text.
                hash_secret: _,
                // Heeded by the command line, like the path.
                proof: _,
                codebook: _,
            },
        limits: Limits { suppress: _, suppression_price: _, time: _, max_loss: _ },
        // Heeded by the measures of risk, which have tests of their own.
        risk: RiskRequest { population: _, sampling_fraction: _ },
    } = Request::default();
    let text = text();
    let x = "role = 'quasi'";
    let base = made(&toml("k = 3", "", x), &text);
    assert!(!base.starts_with("refused"), "{base}");
    for (key, other) in [
        ("version", toml("k = 3\nversion = 2", "", x)),
        ("k", toml("k = 5", "", x)),
        ("scheme", toml("k = 3\nscheme = 'bhs'", "", x)),
        ("rest", toml("k = 3", "", x).replace("'drop'", "'keep'").replace("note", "age ")),
        ("accept_unique", toml("k = 3\naccept_unique = true", "", x)),
        ("purpose", toml("k = 3\npurpose = ['note']", "", x)),
        ("missing", toml("k = 3", "", x).replace("['?']", "['n']")),
        ("rules", toml("k = 3\nrules = [{ k = 20, columns = ['age'] }]", "", x)),
        ("publish", toml("k = 3\noutput.publish = 'set'", "", x)),
        ("publish", toml("k = 3\noutput.publish = 'bounds'", "", x)),
        ("publish", toml("k = 3\noutput.publish = 'center'", "", x)),
        ("order", toml("k = 3\noutput.order = 'input'", "", x)),
        ("raw_formulas", toml("k = 3\noutput.raw_formulas = true", "", x)),
        ("suppress", toml("k = 3\nlimits.suppress = 0.1", "", x)),
        ("columns", toml("k = 3", ", kind = 'categorical'", x)),
    ] {
        assert_ne!(made(&other, &text), base, "{key} is ignored");
    }
    let intervals = ", hierarchy = { intervals = [5, 10] }";
    let with_intervals = made(&toml("k = 3", intervals, x), &text);
    let snapped = made(&toml("k = 3\noutput.snap = true", intervals, x), &text);
    assert_ne!(with_intervals, snapped, "snap is ignored");
    for keys in ["origin = 2", "bottom = 30", "top = 40"] {
        let other = format!(", hierarchy = {{ intervals = [5, 10], {keys} }}");
        assert_ne!(made(&toml("k = 3", &other, x), &text), with_intervals, "{keys} is ignored");
    }
}

#[test]
fn every_key_of_a_column_is_heeded_or_refused_in_each_role() {
    let ColumnRequest {
        role: _,
        kind: _,
        weight: _,
        format: _,
        hierarchy: _,
        order: _,
        scheme: _,
        alpha: _,
        values: _,
        l: _,
        distinct: _,
        entropy: _,
        recursive: _,
        t: _,
        distance: _,
        dependent: _,
        round: _,
        top: _,
        bottom: _,
        // The tests of the command line have tables with identifiers.
        hash: _,
        // For the record of the report, which has tests of its own.
        reason: _,
        // No key of a text.
        conflict: _,
    } = ColumnRequest::new(Role::Quasi);
    // It is heeded where a table is read; the tests of the command line have such tables.
    for role in ["identifier", "keep", "person"] {
        let format = format!("role = '{role}', format = '1.234,5'");
        let made = made(&toml("k = 3", "", &format), &text());
        assert!(made.contains("`format` has no effect there"), "{role}");
    }
    // A run hashes when it has read the table; nobody else publishes identifiers.
    let hashed = made(&toml("k = 3", "", "role = 'identifier', hash = true"), &text());
    assert!(hashed.contains("the identifiers were not hashed"), "{hashed}");
    let rows = "hierarchy = { rows = [['1', 'a', '*'], ['2', 'a', '*'], ['3', 'a', '*'], \
                ['4', 'b', '*'], ['5', 'b', '*'], ['5.0', 'b', '*']] }";
    let order = "order = ['5.0', '1', '2', '3', '4', '5']";
    // The roles that heed a key; all others refuse it.
    let keys: [(&str, &[&str]); 18] = [
        ("kind = 'categorical'", &["quasi", "keep"]),
        ("kind = 'numeric', l = 2", &["sensitive"]),
        ("weight = 7", &["quasi"]),
        (rows, &["quasi", "sensitive"]),
        (order, &["quasi", "sensitive"]),
        ("scheme = 'bhs'", &["quasi"]),
        ("alpha = 0.9", &["sensitive"]),
        ("alpha = 0.9, values = ['1']", &["sensitive"]),
        ("l = 2", &["sensitive"]),
        ("distinct = 2", &["sensitive"]),
        ("entropy = 1.5", &["sensitive"]),
        ("recursive = { c = 9, l = 2 }", &["sensitive"]),
        ("t = 0.9", &["sensitive"]),
        ("t = 0.9, distance = 'ordered', kind = 'numeric'", &["sensitive"]),
        ("dependent = true", &["sensitive", "keep", "weight"]),
        ("round = 2", &["sensitive", "keep"]),
        ("top = 4", &["sensitive", "keep"]),
        ("bottom = 2", &["sensitive", "keep"]),
    ];
    // In it x determines the age: `dependent` decides.
    let determined: String = "age,city,x,note\n".to_string()
        + &(0..48).map(|row| format!("{0},Ulm,{0},n\n", 1 + row % 8)).collect::<String>();
    for (keys, heeded) in keys {
        let text = if keys.contains("dependent") { determined.clone() } else { text() };
        for role in ["quasi", "sensitive", "identifier", "keep", "person", "weight"] {
            let without = made(&toml("k = 3", "", &format!("role = '{role}'")), &text);
            let with = made(&toml("k = 3", "", &format!("role = '{role}', {keys}")), &text);
            if heeded.contains(&role) {
                assert_ne!(with, without, "{keys} is ignored in the role {role}");
                assert!(!with.starts_with("refused"), "{keys} in the role {role}: {with}");
            } else if !keys.starts_with("kind") || role == "identifier" {
                let is_named =
                    ["has no effect there", "but another role", "is no quasi-identifier"]
                        .iter()
                        .any(|why| with.contains(why))
                        || with.contains("a weight belongs to a quasi-identifier");
                assert!(with.starts_with("refused: column `x` ") && is_named, "{role}: {with}");
            }
        }
    }
}

#[test]
fn keys_that_exclude_each_other_are_refused() {
    let order = "order = ['1', '2', '3', '4', '5', '5.0']";
    for (keys, why) in [
        (format!("kind = 'numeric', {order}"), "a kind that is not ordinal: remove one of them"),
        (format!("kind = 'date', {order}"), "a kind that is not ordinal: remove one of them"),
        (format!("kind = 'categorical', {order}"), "a kind that is not ordinal: remove one"),
        (format!("{order}, hierarchy = {{ prefix = [1] }}"), "its hierarchy has no effect"),
        (format!("kind = 'ordinal', {order}, hierarchy = 'x.csv'"), "its hierarchy has no effect"),
        ("kind = 'ordinal', hierarchy = { rows = [] }".into(), "its hierarchy has no effect"),
        (
            "kind = 'numeric', hierarchy = { prefix = [1] }".into(),
            "a prefix hierarchy is for codes",
        ),
        ("kind = 'categorical', hierarchy = { intervals = [2] }".into(), "need kind numeric"),
        ("hierarchy = { rows = [], text = '' }".into(), "a hierarchy is one of: a file name"),
        ("hierarchy = { prefix = [1], top = 3 }".into(), "belong to a hierarchy of intervals"),
    ] {
        let said = made(&toml("k = 3", "", &format!("role = 'quasi', {keys}")), &text());
        assert!(said.starts_with("refused") && said.contains(why), "{keys}: {said}");
    }
}

/// The same tree as a file, as rows and as text: the same request but for its form.
#[test]
fn a_hierarchy_means_the_same_as_a_file_as_rows_and_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree.csv");
    let forms = |rows: &[&[&str]]| {
        let list = |row: &&[&str]| format!("{row:?}");
        let lists: Vec<String> = rows.iter().map(list).collect();
        let line = |row: &&[&str]| format!("{}\n", row.join(";"));
        let text: String = rows.iter().map(line).collect();
        std::fs::write(&path, &text).unwrap();
        [
            format!("hierarchy = {:?}", path.display().to_string()),
            format!("hierarchy = {{ rows = [{}] }}", lists.join(", ")),
            format!("hierarchy = {{ text = {text:?} }}"),
        ]
    };
    let tree: &[&[&str]] = &[
        &["1", "low", "*"],
        &["2", "low", "*"],
        &["3", "mid", "*"],
        &["4", "5", "*"],
        &["5", "5", "*"],
        &["5.0", "5", "*"],
        &["", "none", "*"],
    ];
    let numbers: &[&[&str]] =
        &[&["1", "a", "*"], &["2", "a", "*"], &["3", "b", "*"], &["4", "b", "*"], &["5", "b", "*"]];
    let with_gap = text().replacen(",1,n", ",,n", 1);
    for (keys, rows, is_released) in [
        ("role = 'quasi'", tree, true),
        ("role = 'quasi', kind = 'numeric'", numbers, true),
        ("role = 'quasi', kind = 'numeric'", tree, false),
        ("role = 'sensitive', t = 0.9, distance = 'hierarchical'", tree, true),
        // Faults: they are the same but for the place.
        ("role = 'quasi'", numbers, false),
        ("role = 'quasi'", &[], false),
        ("role = 'quasi'", &[&["1", "a", "*"], &["2", "*"]], false),
        ("role = 'quasi'", &[&["1"]], false),
        ("role = 'quasi'", &[&["1", "a", "*"], &["1", "b", "*"]], false),
        ("role = 'quasi'", &[&["1", "a", "*"], &["2", "?", "*"]], false),
    ] {
        let made = forms(rows).map(|form| {
            made(&toml("k = 3\noutput.snap = true", "", &format!("{keys}, {form}")), &with_gap)
        });
        assert_eq!(!made[0].starts_with("refused"), is_released, "{rows:?}: {}", made[0]);
        if is_released {
            assert!(made[0] == made[1] && made[0] == made[2], "{keys} {rows:?}");
            continue;
        }
        let what = |said: &str| {
            let said = said.replace(&path.display().to_string(), "PLACE");
            let said = ["rows of column `x`", "text of column `x`"]
                .iter()
                .fold(said, |said, place| said.replace(place, "PLACE"));
            let said = said.replace("the file", "it").replace("the hierarchy", "it");
            said.split("; compare").next().unwrap_or_default().to_string()
        };
        assert!(made[1].contains("rows of column `x`"), "{}", made[1]);
        assert!(made[2].contains("text of column `x`"), "{}", made[2]);
        assert_eq!((what(&made[0]), what(&made[0])), (what(&made[1]), what(&made[2])));
    }
    let nul = "role = 'quasi', hierarchy = { rows = [['1', 'a', '*'], ['2', \"a\\u0000\", '*']] }";
    assert!(made(&toml("k = 3", "", nul), &text()).contains("line 2: a NUL byte"));
    let empty = "role = 'quasi', hierarchy = { rows = [['1', '*'], []] }";
    assert!(made(&toml("k = 3", "", empty), &text()).contains("line 2: no value"));
}

/// The audit refuses a row without a value too, and says where.
#[test]
fn the_audit_reads_rows_and_text_by_itself() {
    let release = "x\na\na\n".to_string();
    let judged = |hierarchy: &str| {
        let keys = format!("role = 'sensitive', t = 0.9, distance = 'hierarchical', {hierarchy}");
        let toml = format!("k = 2\n[columns]\nq = {{ role = 'quasi' }}\nx = {{ {keys} }}");
        let text = release.replace("x\n", "q,x\n").replace("a\n", "1,a\n");
        let table = table::open_text(text, Path::new("r.csv"))?.read(&[Treatment::Code; 2])?;
        Ok::<_, lookalike::Error>(audit::audit(&table, &Request::parse(&toml)?)?.holds())
    };
    assert!(judged("hierarchy = { rows = [['a', 'x', '*'], ['b', 'x', '*']] }").unwrap());
    assert!(judged("hierarchy = { text = \"\\uFEFFa;x;*\\nb;x;*\\n\" }").unwrap());
    for (hierarchy, why) in [
        ("hierarchy = { rows = [['a', '*'], []] }", "line 2: no value"),
        ("hierarchy = { rows = [['a', 'x', '*'], ['a', 'y', '*']] }", "line 2: this value has"),
        ("hierarchy = { text = \"a;x;*\\na;y;*\\n\" }", "line 2: this value has another line"),
        ("hierarchy = { rows = [['b', '*']] }", "data row 1: it does not list the value"),
    ] {
        let error = judged(hierarchy).unwrap_err().to_string();
        assert!(error.contains(why), "{hierarchy}: {error}");
    }
}
