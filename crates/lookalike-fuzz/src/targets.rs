//! The parsers, valid samples for each, and the laws that their answers obey.

use std::path::Path;

use lookalike::audit::{self, AuditView};
use lookalike::release::{CellFormat, Release};
use lookalike::request::{HierarchySpec, Role};
use lookalike::rng::Key;
use lookalike::synthetic::{self, Synthetic};
use lookalike::table::{Table, Treatment};
use lookalike::{
    Algorithm, Budget, Problem, Request, SearchOptions, domain::hierarchy, evaluate::query,
    problem, release::proof, release::recoding_file, solve, table,
};

/// A parser under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Valid inputs.
    pub samples: fn() -> Vec<Vec<u8>>,
    /// Reads the bytes; panics when a law is broken. True when they were accepted.
    pub run: fn(&[u8]) -> bool,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every parser of input that somebody else may have written.
pub const TARGETS: [Target; 10] = [
    Target { name: "csv", samples: tables, run: csv },
    Target {
        name: "parquet",
        samples: || vec![file("t.parquet")],
        run: |bytes| binary(bytes, "t.parquet"),
    },
    Target {
        name: "arrow",
        samples: || vec![file("t.arrow")],
        run: |bytes| binary(bytes, "t.arrow"),
    },
    Target { name: "hierarchy", samples: hierarchies, run: hierarchy },
    Target { name: "recoding", samples: recodings, run: recoding },
    Target { name: "proof", samples: proofs, run: |bytes| proof::read(bytes).is_ok() },
    Target { name: "toml", samples: requests, run: request },
    Target { name: "json", samples: json_requests, run: json_request },
    Target {
        name: "queries",
        samples: queries,
        run: |bytes| as_text(bytes).is_some_and(|text| query::parse(text).is_ok()),
    },
    Target { name: "labels", samples: labels, run: label },
];

fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn tables() -> Vec<Vec<u8>> {
    texts(&[
        "a,b\n1,x\n2,\"y, \"\"z\"\"\n\"\n",
        "name;age;note\r\n\"Ann\";34;\"two\nlines\"\r\nBob;;\r\n",
        "\u{feff}zip\tsex\n02139\tf\n\tm\n",
        "x|y\n1e3|2024-03-17\n-5|2024-03-17T10:00:00+02:00\n",
        "a\n\n1\n\n",
    ])
}

/// The cells of every row of a table whose columns are all coded.
fn cells(table: &Table) -> Vec<Vec<Option<String>>> {
    let cell = |row: usize, name: &str| {
        let coded = table.coded(name);
        coded.values()[coded.codes().get(row) as usize].clone()
    };
    (0..table.rows())
        .map(|row| table.columns().iter().map(|column| cell(row, &column.name)).collect())
        .collect()
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

/// A table that is read, written and read again is the same table.
fn csv(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, bytes).expect("a file");
    let Ok(table) = read_all(&path) else { return false };
    let names: Vec<String> = table.columns().iter().map(|column| quoted(&column.name)).collect();
    let rows = cells(&table);
    let line = |row: &Vec<Option<String>>| {
        row.iter().map(|cell| cell.as_deref().map_or(String::new(), quoted)).collect::<Vec<_>>()
    };
    let lines: Vec<String> = rows.iter().map(|row| line(row).join(",")).collect();
    // A row of one empty cell would be a blank line, which is none.
    if lines.iter().any(String::is_empty) {
        return true;
    }
    let text = format!("{}\n{}\n", names.join(","), lines.join("\n"));
    let source =
        table::open_text(text, Path::new("again")).expect("what was read can be written and read");
    let all = vec![Treatment::Code; source.names().len()];
    let again = source.read(&all).expect("its rows too");
    assert_eq!(cells(&again), rows, "the same cells");
    true
}

fn read_all(path: &Path) -> lookalike::Result<Table> {
    let source = table::open(path, None)?;
    let all = vec![Treatment::CodeAndPassThrough; source.names().len()];
    source.read(&all)
}

/// A made-up table in this format.
fn file(name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    let out = std::fs::File::create(&path).expect("a file");
    let batch = |_| Ok(synthetic::batch(Synthetic::Hospital, 1, 0, 40));
    let file_type = table::file_type(&path).expect("a known ending");
    table::write(out, &path, file_type, &synthetic::schema(Synthetic::Hospital), 1, batch)
        .expect("it can be written");
    std::fs::read(&path).expect("it is there")
}

/// A damaged binary file is read or refused, never more.
fn binary(bytes: &[u8], name: &str) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    // Its decoders are allowed to panic: the reader catches that. What they let through must have
    // rows.
    read_all(&path).is_ok_and(|table| table.rows() > 0)
}

fn hierarchies() -> Vec<Vec<u8>> {
    texts(&[
        "paris;france;europe;*\nlyon;france;europe;*\nrome;italy;europe;*\n",
        "1,low,*\n2,low,*\n3,high,*\n,high,*\n",
        "\"a,b\",x,*\n\"c\"\"d\",x,*\n\"e\nf\",y,*\n",
        "europe;europe;*\n;europe;*\nasia;asia;*\n",
        "a\tg\t*\nb\tg\t*\n",
    ])
}

/// Engine and audit read a hierarchy in the same way: a release with it passes the audit against its
/// source.
fn hierarchy(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("h.csv");
    std::fs::write(&path, bytes).expect("a file");
    let Ok(rows) = hierarchy::read(&path) else { return false };
    let leaves: Vec<String> = rows.values().take(12).map(String::from).collect();
    let body: String = leaves.iter().map(|leaf| format!("{},x\n", quoted(leaf))).collect();
    let mut request = Request::parse(
        "k = 2\n[columns]\nv = { role = 'quasi', kind = 'categorical' }\nw = { role = 'keep' }",
    )
    .expect("a request");
    let table = format!("v,w\n{body}{body}");
    let mut is_released = |hierarchy: HierarchySpec| {
        if let Some(line) = request.columns.get_mut("v") {
            line.hierarchy = Some(hierarchy);
        }
        is_released_true(&table, &request)
    };
    let by_file = is_released(HierarchySpec::file(&path));
    let text = as_text(bytes).expect("a hierarchy that was read is UTF-8");
    assert_eq!(is_released(HierarchySpec::text(text)), by_file, "its text means the same");
    by_file
}

/// Anonymizes a table in memory and lets the audit compare the release with it. False when the
/// request is refused.
fn is_released_true(text: &str, request: &Request) -> bool {
    let open = || table::open_text(text.to_string(), Path::new("table"));
    let Ok(source) = open() else { return false };
    let Ok(roles) = request.roles(source.names()) else { return false };
    let treatments = problem::treatments(source.names(), &roles);
    let Ok(table) = source.read(&treatments) else { return false };
    let Ok(problem) = Problem::new(&table, &roles, request) else { return false };
    for algorithm in [Algorithm::Mondrian, Algorithm::BottomUp] {
        let outcome = solve(&problem, SearchOptions::new(algorithm, 1), &Budget::unlimited());
        let Ok(release) = Release::new(
            &problem,
            &outcome.recoding,
            &table,
            &roles,
            request,
            Key::from_seed(1),
            CellFormat::Typed,
        ) else {
            return false;
        };
        let released =
            table::in_memory(release.schema(), release.batches(), |at| release.batch(at))
                .expect("batches are text");
        let source = open().expect("it was opened before");
        let treatments = audit::treatments(source.names(), request, AuditView::Source);
        let original = source.read(&treatments).expect("it was read before");
        let verdict = audit::audit_against(&released, &original, request)
            .expect("the audit can judge what was made");
        assert!(
            verdict.holds(),
            "the engine and the audit read a table in two ways: {:?}",
            verdict.truth
        );
    }
    true
}

const RECODING: &str = "version = 1\n[columns.age]\nkind = \"numeric\"\nlevels = 1\nblocks = [\n  { show = \"[20-29]\", from = \"20\", to = \"29\", loss = 0.25, risen = 1 },\n  { show = \"*\", from = \"31\", to = \"60\", missing = true, loss = 1.0, risen = 1 },\n]\n[columns.sex]\nkind = \"categorical\"\nlevels = 1\nblocks = [{ show = \"{f, m}\", values = [\"f\", \"m\"], loss = 0.5, risen = 1 }]\n";

fn recodings() -> Vec<Vec<u8>> {
    texts(&[RECODING, &RECODING.replace("{f, m}", "*")])
}

/// A recoding file is refused, or a release with it passes the audit against its source.
fn recoding(bytes: &[u8]) -> bool {
    let Some(text) = as_text(bytes) else { return false };
    let toml =
        "k = 1\nrest = 'drop'\n[columns]\nage = { role = 'quasi' }\nsex = { role = 'quasi' }";
    let mut request = Request::parse(toml).expect("a request");
    let Ok(file) = recoding_file::parse(text, &request) else { return false };
    file.settle_kinds(&mut request);
    let table = "age,sex\n20,f\n29,m\n31,f\n,m\n60,f\n";
    let Ok(source) = table::open_text(table.to_string(), Path::new("table")) else { return false };
    let Ok(roles) = request.roles(source.names()) else { return false };
    let Ok(table) = source.read(&[Treatment::Code; 2]) else { return false };
    let Ok(problem) = Problem::new(&table, &roles, &request) else { return false };
    recoding_file::apply(&file, &problem, &request).is_ok()
}

fn proofs() -> Vec<Vec<u8>> {
    let request =
        Request::parse("k = 2\nnon_homogeneous = true\n[columns]\na = { role = 'quasi' }")
            .expect("a request");
    let source =
        table::open_text("a\n1\n2\n3\n4\n5\n6\n7\n".to_string(), Path::new("t")).expect("a table");
    let roles = request.roles(source.names()).expect("a role");
    let table = source.read(&[Treatment::Code]).expect("rows");
    let problem = Problem::new(&table, &roles, &request).expect("feasible");
    let outcome = solve(&problem, SearchOptions::new(Algorithm::Ring, 1), &Budget::unlimited());
    let release = Release::new(
        &problem,
        &outcome.recoding,
        &table,
        &roles,
        &request,
        Key::from_seed(1),
        CellFormat::Text,
    )
    .expect("a release");
    let rings = outcome.rings.expect("ring makes rings");
    let mut text = Vec::new();
    proof::write(&proof::proof(&problem, &rings, &release).expect("a proof"), &mut text)
        .expect("memory");
    vec![text]
}

const REQUEST: &str = "version = 1\nk = 3\nalgorithm = 'mondrian'\nrest = 'drop'\nmissing = ['?', 'NA']\nrules = [{ k = 4, columns = ['age'] }]\n[input]\ndelimiter = ','\n[output]\npublish = 'label'\nsnap = true\n[columns]\nage = { role = 'quasi', weight = 2, hierarchy = { intervals = [5, 10], origin = 0, bottom = 20, top = 60 } }\nzip = { role = 'quasi', hierarchy = { prefix = [4, 3, 2] } }\nday = { role = 'quasi', hierarchy = { date = ['month', 'year'] } }\nedu = { role = 'quasi', order = ['low', 'mid', 'high'] }\nill = { role = 'sensitive', alpha = 0.9, distinct = 2 }\nnote = { role = 'keep', dependent = true }\n[limits]\nsuppress = '1%'\ntime = '1s'\n";

fn requests() -> Vec<Vec<u8>> {
    texts(&[
        REQUEST,
        "k = 2\nrest = 'drop'\ncolumns.age.role = 'quasi'\n",
        &REQUEST.replace("'label'", "'bounds'").replace("snap = true", "snap = false"),
        &REQUEST.replace("'label'", "'center'"),
    ])
}

fn json_requests() -> Vec<Vec<u8>> {
    let as_json = |toml: Vec<u8>| {
        let request = as_text(&toml).and_then(|text| Request::parse(text).ok());
        request.and_then(|request| request.to_json().ok()).map(String::into_bytes)
    };
    requests().into_iter().filter_map(as_json).collect()
}

/// A request in JSON is refused, or says itself back.
fn json_request(bytes: &[u8]) -> bool {
    let Some(Ok(request)) = as_text(bytes).map(Request::from_json) else { return false };
    let json = request.to_json().expect("what was text can be text again");
    assert_eq!(Request::from_json(&json).ok(), Some(request), "{json}");
    true
}

/// A request is refused, or a release for it passes the audit against its source.
fn request(bytes: &[u8]) -> bool {
    let Some(Ok(request)) = as_text(bytes).map(Request::parse) else { return false };
    let mut body = "age,zip,day,edu,ill,note\n".to_string();
    for row in 0..24 {
        let edu = ["low", "mid", "high"][row % 3];
        let ill = ["flu", "gout", "cold", "flu"][row * 5 % 4];
        body += &format!(
            "{},5{}{}1,2024-0{}-1{},{edu},{ill},n{row}\n",
            15 + row * 7 % 60,
            row % 3,
            row % 2,
            1 + row % 9,
            row % 9
        );
    }
    // The source of the comparison has all columns.
    if request.columns.values().any(|line| matches!(line.hierarchy, Some(HierarchySpec::File(_))))
        || request.non_homogeneous
    {
        return true;
    }
    let is_new =
        |name: &String| !["age", "zip", "day", "edu", "ill", "note"].contains(&name.as_str());
    if request.columns.keys().any(is_new)
        || !request.columns.values().any(|line| line.role == Role::Quasi)
    {
        return true;
    }
    is_released_true(&body, &request)
}

fn queries() -> Vec<Vec<u8>> {
    texts(&[
        "[[query]]\nwhere = { age = [20, 30], sex = \"Female\", marital = { node = \"Married\" } }\n",
        "[[query]]\nsum = \"age\"\nwhere = { day = { from = \"2024-01-01\", to = \"2024-03-31\" }, zip = [\"53711\", \"53712\"] }\n",
    ])
}

fn labels() -> Vec<Vec<u8>> {
    texts(&[
        "[20-30]",
        "[20-30)",
        "[-5 .. 5]",
        "<20",
        ">=80",
        "*",
        "{a, b}",
        "{a,b,\"c,d\"}",
        "{\"\", x}",
        "'=1+1",
        "''=x",
        "europe (all)",
        "2024-03-17",
        "[2024-01-01 .. 2024-02-01]",
        "0.5e1",
        "",
    ])
}

/// The audit can read any label, and a value that is no label covers itself.
fn label(bytes: &[u8]) -> bool {
    let Some(text) = as_text(bytes).filter(|text| !text.contains('\0')) else { return false };
    for kind in ["numeric", "date", "categorical"] {
        let request =
            Request::parse(&format!("k = 1\n[columns]\nv = {{ role = 'quasi', kind = '{kind}' }}"))
                .expect("a request");
        let table = |cells: [&str; 2]| {
            let body: String = cells.iter().map(|cell| format!("{}\n", quoted(cell))).collect();
            let source = table::open_text(format!("v\n{body}"), Path::new("t")).ok()?;
            source.read(&[Treatment::Code]).ok()
        };
        let value = ["20", "2024-03-17", "a"][["numeric", "date", "categorical"]
            .iter()
            .position(|known| *known == kind)
            .unwrap_or(0)];
        let (Some(release), Some(source)) = (table([text, value]), table([value, value])) else {
            continue;
        };
        let _ = audit::audit_against(&release, &source, &request);
        // A text in braces is a set, and `*` is any value: such values are written in another way,
        // or refused.
        if kind == "categorical" && !text.is_empty() && text != "*" && !text.starts_with('{') {
            let (Some(release), Some(source)) = (table([text, value]), table([text, value])) else {
                continue;
            };
            let verdict =
                audit::audit_against(&release, &source, &request).expect("labels are text");
            assert!(
                verdict.truth.is_none_or(|truth| truth.holds()),
                "a value does not cover itself"
            );
        }
    }
    true
}
