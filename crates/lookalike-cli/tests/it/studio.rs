//! `lookalike studio` by raw requests: who is answered, what is opened, and the whole way from a table
//! to a verified release. The page itself is tested in a browser (tests/studio).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::workdir::Workdir;

/// A server that ends with the test.
struct Studio {
    child: Child,
    port: u16,
    token: String,
}

/// A status, the lines of the head, and the body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.status, self.body))
    }
}

impl Studio {
    fn start(dir: &Workdir, line: &str) -> Studio {
        let mut command = dir.command(&format!("studio --no-browser {line}"));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.strip_prefix("studio    http://127.0.0.1:");
        let address = address.unwrap_or_else(|| panic!("no address: {line}"));
        let (port, token) = address.trim().split_once("/#").unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_string());
        // Whatever else it says is read, so that it never waits for us.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Studio { child, port, token }
    }

    /// Sends a head and a body as they are.
    fn raw(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(stream, "{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let all = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = all.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
            true => unchunked(body),
            false => body.to_string(),
        };
        Answer { status, head: head.to_string(), body }
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let host = format!("127.0.0.1:{}", self.port);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}",
            self.token
        );
        self.raw(&head, &if body.is_null() { String::new() } else { body.to_string() })
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, &Value::Null);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.call("POST", path, body);
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.body);
        answer.json()
    }

    /// Waits until the table is read.
    fn ready(&self) -> Value {
        let begun = Instant::now();
        loop {
            let project = self.get("/api/project");
            if project["state"] != "reading" || begun.elapsed() > Duration::from_secs(60) {
                return project;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Runs a job to its end; the last event.
    fn job(&self, work: &Value) -> (String, Value) {
        let id = self.post("/api/jobs", work)["id"].as_u64().unwrap();
        let events = self.call("GET", &format!("/api/jobs/{id}/events"), &Value::Null).body;
        let event = |text: &str| {
            let line =
                |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
            Some((line("event:")?.to_string(), serde_json::from_str(line("data:")?).ok()?))
        };
        events.split("\n\n").filter_map(event).last().unwrap_or_else(|| panic!("{events}"))
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || after.len() < size {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}

#[test]
fn only_the_page_with_the_token_is_answered() {
    let dir = Workdir::with_patients(60);
    let studio = Studio::start(&dir, "patients.csv");
    let port = studio.port;
    let token = &studio.token;
    assert_eq!(token.len(), 64, "256 bits");
    let host = format!("Host: 127.0.0.1:{port}");
    let bearer = format!("Authorization: Bearer {token}");
    let get = |lines: &[&str]| {
        studio.raw(&format!("GET /api/project HTTP/1.1\r\n{}", lines.join("\r\n")), "")
    };
    assert_eq!(get(&[&host, &bearer]).status, 200);
    assert_eq!(get(&[&format!("Host: localhost:{port}"), &bearer]).status, 200);
    // No token, a wrong one, one of another length, another scheme.
    let wrong = format!("Authorization: Bearer {}", "0".repeat(64));
    for line in
        ["X: y", &wrong, "Authorization: Bearer 0", &format!("Authorization: Basic {token}")]
    {
        let answer = get(&[&host, line]);
        assert_eq!(answer.status, 401, "{line}");
        assert!(!answer.body.contains("patients"), "{}", answer.body);
    }
    // A name that was made to point here, another port, no host at all.
    for other in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1"] {
        let answer = get(&[&format!("Host: {other}"), &bearer]);
        assert_eq!(answer.status, 403, "{other}");
    }
    let page = studio.raw(&format!("GET / HTTP/1.1\r\nHost: evil.example:{port}"), "");
    assert_eq!(page.status, 403, "also the page itself");
    // A page of another site or port, even with the token.
    for site in ["cross-site", "same-site"] {
        let answer = get(&[&host, &bearer, &format!("Sec-Fetch-Site: {site}")]);
        assert_eq!(answer.status, 403, "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(
            get(&[&host, &bearer, &format!("Sec-Fetch-Site: {site}")]).status,
            200,
            "{site}"
        );
    }
    // Another machine cannot even connect: the address is that of loopback.
    let listening = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    if let Some(line) =
        listening.lines().find(|line| line.contains(&format!(":{port:04X} 00000000:0000")))
    {
        assert!(line.contains("0100007F:"), "{line}");
    }
}

#[test]
fn every_answer_has_the_policy_and_no_cookie() {
    let dir = Workdir::with_patients(60);
    let studio = Studio::start(&dir, "patients.csv");
    let host = format!("Host: 127.0.0.1:{}", studio.port);
    for path in ["/", "/app.js", "/app.css", "/api/project", "/nothing"] {
        let answer = studio.raw(&format!("GET {path} HTTP/1.1\r\n{host}"), "");
        let head = answer.head.to_lowercase();
        for part in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
            "require-trusted-types-for 'script'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(part), "{path} lacks {part}: {head}");
        }
        assert!(!head.contains("set-cookie") && !head.contains("access-control"), "{head}");
    }
    let page = studio.raw(&format!("GET / HTTP/1.1\r\n{host}"), "").body;
    assert!(page.contains("<!doctype html") || page.contains("<!DOCTYPE html"), "{page}");
    assert!(!page.contains(&studio.token) && !page.contains("patients"), "no data in the page");
}

#[test]
fn only_files_below_the_folder_are_opened_and_written() {
    let dir = Workdir::with_patients(60);
    std::fs::create_dir(dir.path("inside")).unwrap();
    dir.write("inside/t.csv", "age,sex\n30,f\n30,f\n31,m\n31,m\n");
    dir.write("outside.csv", "age,sex\n30,f\n30,f\n");
    let studio = Studio::start(&dir, "inside");
    assert_eq!(studio.ready()["state"], "choose");
    let files = studio.get("/api/files");
    assert_eq!(files["entries"][0]["name"], "t.csv");
    let outside = dir.path("outside.csv").display().to_string();
    for path in ["../outside.csv", "/etc/passwd", &outside, "inside/../../outside.csv", ".."] {
        let answer = studio.call("POST", "/api/open", &json!({ "path": path }));
        assert_eq!(answer.status, 403, "{path}: {}", answer.body);
    }
    assert_eq!(studio.call("POST", "/api/open", &json!({ "path": "no.csv" })).status, 404);
    studio.post("/api/open", &json!({ "path": "t.csv" }));
    let project = studio.ready();
    assert_eq!(project["state"], "ready", "{project}");
    // A request from the page cannot name files elsewhere either.
    for (section, key) in [("input", "path"), ("output", "path"), ("output", "hash_key")] {
        let mut request = project["request"].clone();
        request[section][key] = json!("../outside.csv");
        let sent = json!({ "etag": project["etag"], "request": request });
        assert_eq!(studio.call("PUT", "/api/project", &sent).status, 403, "{section}.{key}");
    }
    let mut request = project["request"].clone();
    request["columns"]["age"] = json!({ "role": "quasi", "hierarchy": "../outside.csv" });
    let sent = json!({ "etag": project["etag"], "request": request });
    assert_eq!(studio.call("PUT", "/api/project", &sent).status, 403);
    let rows = json!({ "rows": [["f", "*"]], "file": "../outside.csv" });
    assert_eq!(studio.call("PUT", "/api/columns/sex/hierarchy", &rows).status, 403);
    for file in ["t.csv", "t.toml", "x.exe"] {
        let rows = json!({ "rows": [["f", "a", "*"]], "file": file });
        assert!(studio.call("PUT", "/api/columns/sex/hierarchy", &rows).status >= 400, "{file}");
    }
    assert_eq!(dir.text("outside.csv"), "age,sex\n30,f\n30,f\n");
    assert_eq!(dir.text("inside/t.csv").lines().count(), 5);
    assert_eq!(studio.call("POST", "/api/show", &json!({ "path": "t.csv" })).status, 404);
}

/// From a table to a verified release, its report and codebook; the command line runs what was saved.
#[test]
fn the_whole_way_gives_what_the_command_line_gives() {
    let dir = Workdir::with_patients(300);
    let studio = Studio::start(&dir, "patients.csv");
    let project = studio.ready();
    assert_eq!((&project["state"], &project["rows"]), (&json!("ready"), &json!(300)), "{project}");
    let columns = studio.get("/api/columns");
    let names: Vec<&str> =
        columns["columns"].as_array().unwrap().iter().filter_map(|c| c["name"].as_str()).collect();
    assert!(names.contains(&"age") && names.contains(&"zip"), "{names:?}");
    // Roles of our own, saved; the old file is kept.
    let mut request = project["request"].clone();
    request["k"] = json!(4);
    request["columns"] = json!({
        "age": { "role": "quasi", "hierarchy": { "intervals": [5, 10] } },
        "sex": { "role": "quasi" },
        "diagnosis": { "role": "sensitive", "distinct": 2 },
    });
    request["rest"] = json!("drop");
    request["seed"] = json!(7);
    request["steps"] = json!(200);
    let sent = json!({ "etag": project["etag"], "request": request });
    let saved = studio.call("PUT", "/api/project", &sent);
    assert_eq!(saved.status, 200, "{}", saved.body);
    let saved = saved.json();
    assert_eq!((&saved["undo"], &saved["request"]["k"]), (&json!(1), &json!(4)));
    assert_eq!(studio.call("PUT", "/api/project", &sent).status, 412, "an old tag");
    let measured = studio.post("/api/measure", &json!({}));
    assert_eq!(measured["quasi"], json!(["age", "sex"]));
    assert!(
        measured["below_k"].as_u64().unwrap() > 0 && measured["feasible"] == true,
        "{measured}"
    );
    // The search, its numbers, a sample, and the file.
    let (event, done) = studio.job(&json!({ "kind": "search", "time": "20s" }));
    assert_eq!(event, "done", "{done}");
    let id = done["result"].as_u64().unwrap();
    let result = studio.get(&format!("/api/results/{id}"));
    assert!(result["smallest"].as_u64().unwrap() >= 4, "{result}");
    assert_eq!(result["columns"].as_array().unwrap().len(), 2);
    assert!(!result["columns"][0]["before"].as_array().unwrap().is_empty(), "{result}");
    let sample = studio.get(&format!("/api/results/{id}/sample"));
    assert!(!sample["rows"].as_array().unwrap().is_empty(), "{sample}");
    let write = json!({ "kind": "write", "result": id, "path": "safe.csv", "codebook": true });
    let (event, written) = studio.job(&write);
    assert_eq!((event.as_str(), &written["verified"]), ("done", &json!(true)), "{written}");
    assert!(dir.path("safe.codebook.html").exists());
    let again = studio.job(&write);
    assert_eq!(again.0, "failed", "the file exists");
    // The command line makes the same bytes, and verifies them.
    dir.succeed("anonymize -c patients.toml -o same.csv --time 20s");
    assert_eq!(dir.text("safe.csv"), dir.text("same.csv"));
    dir.succeed("verify safe.csv -c patients.toml --source patients.csv");
    let report =
        json!({ "kind": "report", "path": "safe.csv", "edition": "internal", "to": "r.html" });
    let (event, made) = studio.job(&report);
    assert_eq!((event.as_str(), &made["holds"]), ("done", &json!(true)), "{made}");
    let address = studio.post("/api/show", &json!({ "path": "r.html" }))["address"].clone();
    let look = |path: &str| {
        studio.raw(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}", studio.port), "")
    };
    let shown = look(address.as_str().unwrap());
    assert_eq!(shown.status, 200);
    assert!(shown.head.contains("sandbox") && shown.body.contains("4-anonymous"), "{}", shown.head);
    assert_eq!(look(address.as_str().unwrap()).status, 404, "one look");
    let (event, verified) = studio.job(&json!({ "kind": "verify", "path": "safe.csv" }));
    assert_eq!((event.as_str(), &verified["holds"]), ("done", &json!(true)), "{verified}");
    let same = studio.post("/api/same", &json!({ "path": "safe.csv" }));
    assert!(same["command"].as_str().unwrap().contains("anonymize -c patients.toml -o safe.csv"));
    // What the command line changes, the page notices; undo goes back to what init wrote.
    let first = dir.text("patients.toml.bak");
    dir.write("patients.toml", dir.text("patients.toml") + "\n# a hand\n");
    assert_eq!(studio.call("POST", "/api/undo", &Value::Null).status, 412);
    studio.post("/api/reload", &json!({}));
    studio.post("/api/undo", &json!({}));
    assert_eq!(dir.text("patients.toml"), first);
    studio.post("/api/redo", &json!({}));
    assert!(dir.text("patients.toml").contains("k = 4"));
}

#[test]
fn a_hierarchy_is_edited_in_its_file_and_undone() {
    let dir = Workdir::new();
    let rows = ["nurse,31", "midwife,35", "welder,40", "smith,60"];
    dir.write("t.csv", format!("job,age\n{}\n", rows.repeat(10).join("\n")));
    let studio = Studio::start(&dir, "t.csv");
    studio.ready();
    let put = json!({ "put": ["nurse", "midwife"], "level": 1, "group": "Health" });
    let first = studio.post("/api/columns/job/hierarchy/edit", &put);
    assert_eq!((&first["covered"], &first["total"]), (&json!(2), &json!(4)), "{first}");
    let put = json!({ "put": ["welder", "smith"], "level": 1, "group": "Metal" });
    let whole = studio.post("/api/columns/job/hierarchy/edit", &put);
    assert_eq!((&whole["covered"], &whole["problems"]), (&json!(4), &json!([])), "{whole}");
    let file = dir.text("job.csv");
    assert!(file.contains("nurse;Health;*") && file.contains("smith;Metal;*"), "{file}");
    assert!(dir.text("t.toml").contains("job.csv"));
    dir.succeed("hierarchy check job.csv --data t.csv --column job");
    studio.post("/api/undo", &json!({}));
    assert!(dir.text("job.csv").contains("smith;;*"));
    studio.post("/api/undo", &json!({}));
    assert!(!dir.path("job.csv").exists(), "the file was not there before");
    studio.post("/api/redo", &json!({}));
    assert!(dir.text("job.csv").contains("nurse;Health;*"));
    let found = studio.post("/api/find", &json!({ "values": { "job": "nur" } }));
    assert_eq!(found["rows"], 10);
    let values = studio.get("/api/columns/job/values?find=m&limit=1");
    assert_eq!((&values["found"], values["values"].as_array().unwrap().len()), (&json!(2), 1));
}

#[test]
fn a_search_is_stopped_and_kept_or_abandoned_and_one_runs_at_a_time() {
    let dir = Workdir::with_patients(2000);
    let studio = Studio::start(&dir, "patients.csv");
    studio.ready();
    let work = json!({ "kind": "search", "time": "60s" });
    let id = studio.post("/api/jobs", &work)["id"].as_u64().unwrap();
    assert_eq!(studio.call("POST", "/api/jobs", &work).status, 409);
    assert_eq!(studio.call("POST", "/api/open", &json!({ "path": "patients.csv" })).status, 409);
    std::thread::sleep(Duration::from_millis(700));
    let begun = Instant::now();
    studio.post(&format!("/api/jobs/{id}/stop"), &json!({}));
    let events = studio.call("GET", &format!("/api/jobs/{id}/events"), &Value::Null).body;
    assert!(events.contains("event: done"), "{events}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it was stopped");
    assert_eq!(studio.get("/api/project")["results"].as_array().unwrap().len(), 1);
    let id = studio.post("/api/jobs", &work)["id"].as_u64().unwrap();
    studio.post(&format!("/api/jobs/{id}/abandon"), &json!({}));
    let events = studio.call("GET", &format!("/api/jobs/{id}/events"), &Value::Null).body;
    assert!(events.contains("event: failed"), "{events}");
    assert_eq!(studio.get("/api/project")["results"].as_array().unwrap().len(), 1);
    let (event, frontier) =
        studio.job(&json!({ "kind": "frontier", "ks": [2, 5, 5000], "time": "300ms" }));
    assert_eq!(event, "done", "{frontier}");
    let points = frontier["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    assert!(points[0]["loss"].as_f64().unwrap() <= points[1]["loss"].as_f64().unwrap());
    assert!(points[2]["loss"].is_null() && points[2]["error"].as_str().unwrap().contains("2000"));
    studio.post("/api/quit", &json!({}));
    let begun = Instant::now();
    let mut studio = studio;
    while studio.child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(10), "it ends when the page asks for it");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn broken_calls_get_a_sentence_and_no_cell() {
    let dir = Workdir::with_patients(60);
    let studio = Studio::start(&dir, "patients.csv");
    studio.ready();
    for (method, path, body) in [
        ("POST", "/api/measure", json!({ "request": { "k": "five" } })),
        ("POST", "/api/measure", json!({ "request": { "kk": 5 } })),
        ("POST", "/api/jobs", json!({ "kind": "dance" })),
        ("POST", "/api/jobs", json!([1, 2])),
        ("GET", "/api/columns/no/values", Value::Null),
        ("GET", "/api/columns/no/hierarchy", Value::Null),
        ("GET", "/api/results/99", Value::Null),
        ("POST", "/api/columns/age/hierarchy/edit", json!({ "put": "x" })),
        ("POST", "/api/columns/age/hierarchy/dance", json!({})),
        ("PUT", "/api/project", json!({ "request": 5 })),
        ("PATCH", "/api/project", Value::Null),
    ] {
        let answer = studio.call(method, path, &body);
        assert!(
            (400..500).contains(&answer.status),
            "{method} {path}: {} {}",
            answer.status,
            answer.body
        );
        assert!(
            answer.status == 405 || answer.json()["error"]["message"].is_string(),
            "{path}: {}",
            answer.body
        );
    }
    let garbage = studio.raw(
        &format!(
            "POST /api/find HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}",
            studio.port, studio.token
        ),
        "{ no json",
    );
    assert_eq!(garbage.status, 400);
    assert_eq!(studio.get("/api/project")["state"], "ready", "it goes on");
}
