//! `lookalike studio` by raw requests: who is answered, what is opened, and the whole way from a table
//! to a verified release. The page itself is tested in a browser (tests/studio).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::workdir::Workdir;

/// A server that ends with the test.
struct Studio {
    child: Child,
    port: u16,
    token: String,
    /// All that it says on standard error after the address.
    said: Arc<Mutex<String>>,
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
        Studio::spawn(dir.command(&format!("studio --no-browser {line}")))
    }

    fn spawn(mut command: Command) -> Studio {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.strip_prefix("studio    http://127.0.0.1:");
        let address = address.unwrap_or_else(|| panic!("no address: {line}"));
        let (port, token) = address.trim().split_once("/#").unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_string());
        // Whatever else it says is read, so that it never waits for us.
        let all = Arc::new(Mutex::new(String::new()));
        let of_thread = Arc::clone(&all);
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                of_thread.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Studio { child, port, token, said: all }
    }

    /// Reads a stream of events until it says this.
    fn until(&self, path: &str, wanted: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let (port, token) = (self.port, &self.token);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
        .unwrap();
        let (mut all, mut part) = (String::new(), [0; 4096]);
        while !all.contains(wanted) {
            let length = stream.read(&mut part).unwrap_or_else(|_| panic!("no {wanted}: {all}"));
            assert!(length > 0, "no {wanted}: {all}");
            all.push_str(&String::from_utf8_lossy(&part[..length]));
        }
        all
    }

    /// A request with other columns, saved.
    fn save(&self, columns: &Value, more: &[(&str, Value)]) -> Value {
        let project = self.get("/api/project");
        let mut request = project["request"].clone();
        request["columns"] = columns.clone();
        more.iter().for_each(|(key, value)| request[*key] = value.clone());
        let sent = json!({ "etag": project["etag"], "request": request });
        let saved = self.call("PUT", "/api/project", &sent);
        assert_eq!(saved.status, 200, "{}", saved.body);
        saved.json()
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
    // A second header that another reader might believe, in either order.
    let evil = "Host: evil.example";
    assert!(
        get(&[&host, evil, &bearer]).status >= 400 && get(&[evil, &host, &bearer]).status >= 400
    );
    let sites = ["Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"];
    assert_eq!(get(&[&host, &bearer, sites[0], sites[1]]).status, 403);
    assert_eq!(get(&[&host, &bearer, sites[1], sites[0]]).status, 403);
    // An address with another host before the path.
    let absolute = |of: &str| {
        let line = format!("GET http://{of}/api/project HTTP/1.1\r\n{host}\r\n{bearer}");
        studio.raw(&line, "").status
    };
    assert_eq!(absolute(&format!("evil.example:{port}")), 403);
    assert_eq!(absolute(&format!("127.0.0.1:{port}")), 200);
    // An older browser says where a call comes from by `Origin` alone.
    for other in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        assert_eq!(get(&[&host, &bearer, &format!("Origin: {other}")]).status, 403, "{other}");
    }
    assert_eq!(get(&[&host, &bearer, &format!("Origin: http://127.0.0.1:{port}")]).status, 200);
    // A tab may be sent to the page from elsewhere: it has no data. Nothing else may.
    let sent = |path: &str, dest: &str| {
        let how = format!(
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: {dest}"
        );
        studio.raw(&format!("GET {path} HTTP/1.1\r\n{host}\r\n{bearer}\r\n{how}"), "").status
    };
    assert_eq!(sent("/", "document"), 200);
    for (path, dest) in [("/", "iframe"), ("/api/project", "document"), ("/app.js", "document")] {
        assert_eq!(sent(path, dest), 403, "{path} {dest}");
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
        assert!(!head.contains("blob:") && !head.contains("data:"), "{head}");
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

/// Paths from the page lead nowhere else: not by `..`, not by an absolute path, not through a link.
#[cfg(unix)]
#[test]
fn no_file_outside_of_the_folder_is_read_for_a_hierarchy() {
    let dir = Workdir::new();
    std::fs::create_dir_all(dir.path("inside")).unwrap();
    std::fs::create_dir_all(dir.path("outside/deep")).unwrap();
    dir.write("inside/t.csv", "age,sex\n".to_string() + &"30,f\n31,m\n".repeat(20));
    dir.write("outside/secret.csv", "f;SECRETGROUP;*\nm;SECRETGROUP;*\n");
    std::os::unix::fs::symlink(dir.path("outside/deep"), dir.path("inside/link")).unwrap();
    std::os::unix::fs::symlink(dir.path("outside/secret.csv"), dir.path("inside/file.csv"))
        .unwrap();
    let studio = Studio::start(&dir, "inside/t.csv");
    let project = studio.ready();
    let absolute = dir.path("outside/secret.csv").display().to_string();
    let paths =
        ["../outside/secret.csv", &absolute, "file.csv", "link/../secret.csv", "/etc/passwd"];
    for path in paths {
        let preview = "/api/columns/sex/hierarchy/preview";
        let mut request = project["request"].clone();
        request["columns"]["sex"] = json!({ "role": "sensitive", "t": 0.5, "hierarchy": path });
        let saved = json!({ "etag": project["etag"], "request": request });
        for (method, place, body) in [
            ("POST", preview, json!({ "spec": path })),
            ("PUT", "/api/columns/sex/hierarchy", json!({ "spec": path })),
            ("PUT", "/api/project", saved),
            ("POST", "/api/measure", json!({ "request": request })),
        ] {
            let answer = studio.call(method, place, &body);
            assert_eq!(answer.status, 403, "{place} {path}: {}", answer.body);
            assert!(
                !answer.body.contains("SECRETGROUP") && !answer.body.contains("root:"),
                "{path}"
            );
        }
    }
    // A hand that writes such a path into the configuration does not open it either.
    let text = "k = 2\nrest = 'drop'\n[columns.sex]\nrole = 'quasi'\nhierarchy = 'file.csv'\n";
    dir.write("inside/t.toml", text);
    let reloaded = studio.call("POST", "/api/reload", &Value::Null);
    assert_eq!(reloaded.status, 403, "{}", reloaded.body);
    assert!(
        !studio.call("GET", "/api/columns/sex/hierarchy", &Value::Null).body.contains("SECRET")
    );
}

#[test]
fn no_output_replaces_the_table_the_configuration_or_a_hierarchy() {
    let dir = Workdir::with_patients(200);
    let studio = Studio::start(&dir, "patients.csv");
    studio.ready();
    studio.save(
        &json!({ "age": { "role": "quasi" }, "sex": { "role": "quasi" } }),
        &[("rest", json!("drop")), ("k", json!(3))],
    );
    let put = json!({ "put": ["female"], "level": 1, "group": "any" });
    studio.post("/api/columns/sex/hierarchy/edit", &put);
    let put = json!({ "put": ["male"], "level": 1, "group": "any" });
    studio.post("/api/columns/sex/hierarchy/edit", &put);
    let (event, found) = studio.job(&json!({ "kind": "search", "time": "2s" }));
    assert_eq!(event, "done", "{found}");
    let write = |path: &str| json!({ "kind": "write", "result": 1, "path": path, "force": true });
    let (event, _) = studio.job(&write("safe.csv"));
    assert_eq!(event, "done");
    let before: Vec<String> =
        ["patients.csv", "patients.toml", "sex.csv"].map(|name| dir.text(name)).to_vec();
    for name in ["patients.csv", "patients.toml", "sex.csv", "./patients.csv"] {
        let report = json!({
            "kind": "report", "path": "safe.csv", "edition": "internal", "to": name, "force": true,
        });
        for work in [write(name), report] {
            let (event, said) = studio.job(&work);
            assert_eq!(event, "failed", "{work}: {said}");
        }
    }
    let report =
        |to: &str| json!({ "kind": "report", "path": "safe.csv", "edition": "public", "to": to });
    let (event, said) = studio.job(&report("report.csv"));
    assert!(event == "failed" && said.to_string().contains(".html"), "{said}");
    let after: Vec<String> =
        ["patients.csv", "patients.toml", "sex.csv"].map(|name| dir.text(name)).to_vec();
    assert_eq!(before, after);
    assert_eq!(studio.job(&report("report.html")).0, "done");
}

#[test]
fn a_file_that_another_program_changed_is_noticed_and_not_written_over() {
    let dir = Workdir::new();
    let rows = ["nurse,31", "midwife,35", "welder,40", "smith,60"];
    dir.write("t.csv", format!("job,age\n{}\n", rows.repeat(10).join("\n")));
    let studio = Studio::start(&dir, "t.csv");
    studio.ready();
    studio.save(
        &json!({ "job": { "role": "quasi" }, "age": { "role": "quasi" } }),
        &[("k", json!(2)), ("seed", json!(3))],
    );
    let put = |values: Value, group: &str| json!({ "put": values, "level": 1, "group": group });
    let edit = "/api/columns/job/hierarchy/edit";
    studio.post(edit, &put(json!(["nurse", "midwife"]), "Health"));
    studio.post(edit, &put(json!(["welder", "smith"]), "Metal"));
    let search = json!({ "kind": "search", "time": "1s" });
    assert_eq!(studio.job(&search).0, "done");
    let is_stale = || studio.get("/api/project")["results"][0]["stale"].clone();
    assert_eq!(is_stale(), false);
    // Another program writes the hierarchy.
    let theirs = "nurse;All;*\nmidwife;All;*\nwelder;All;*\nsmith;All;*\n";
    dir.write("job.csv", theirs);
    let said = studio.until("/api/changes", "event: disk");
    assert!(said.contains("\"files\":[\"job.csv\"]"), "{said}");
    for (path, body) in [
        ("/api/undo", Value::Null),
        (edit, put(json!(["smith"]), "Health")),
        ("/api/jobs", search.clone()),
    ] {
        let answer = studio.call("POST", path, &body);
        assert_eq!(answer.status, 412, "{path}: {}", answer.body);
        assert!(answer.body.contains("job.csv"), "{}", answer.body);
    }
    assert_eq!(dir.text("job.csv"), theirs);
    studio.post("/api/reload", &json!({}));
    assert_eq!(is_stale(), true, "the result was made with another hierarchy");
    studio.post("/api/undo", &json!({}));
    assert!(dir.text("job.csv").contains("smith;;*"), "after the taking, undo works again");
    studio.post("/api/redo", &json!({}));
    assert_eq!(dir.text("job.csv"), theirs, "and theirs is a step of it");
    // The table: nothing can be searched in a table that is not the one in memory.
    dir.write("t.csv", format!("job,age\n{}\n", rows.repeat(11).join("\n")));
    assert!(studio.until("/api/changes", "event: disk").contains("\"table\":true"));
    assert_eq!(studio.call("POST", "/api/jobs", &search).status, 409);
    studio.post("/api/open-again", &json!({}));
    let project = studio.ready();
    assert_eq!((&project["rows"], &project["results"]), (&json!(44), &json!([])), "{project}");
    assert_eq!(studio.job(&search).0, "done");
    // k is the only rule here, and the frontier sets it.
    let (event, points) =
        studio.job(&json!({ "kind": "frontier", "ks": [2, 11], "time": "300ms" }));
    assert_eq!(event, "done", "{points}");
    assert!(points["points"][1]["query_error"].is_f64(), "{points}");
    // The configuration is gone.
    std::fs::remove_file(dir.path("t.toml")).unwrap();
    assert!(studio.until("/api/changes", "event: disk").contains("\"files\":[\"t.toml\"]"));
    assert_eq!(studio.call("POST", "/api/jobs", &search).status, 412);
}

#[test]
fn a_result_is_shown_when_it_is_audited_and_measured_afterwards() {
    let dir = Workdir::with_patients(400);
    let studio = Studio::start(&dir, "patients.csv");
    studio.ready();
    studio.save(
        &json!({
            "age": { "role": "quasi" }, "zip": { "role": "quasi" }, "sex": { "role": "quasi" },
            "diagnosis": { "role": "sensitive", "distinct": 2 },
        }),
        &[("rest", json!("drop")), ("k", json!(4))],
    );
    let id = studio.post("/api/jobs", &json!({ "kind": "search", "time": "2s" }))["id"].clone();
    let events = studio.call("GET", &format!("/api/jobs/{id}/events"), &Value::Null).body;
    let place = |event: &str| events.find(event).unwrap_or_else(|| panic!("{event}: {events}"));
    assert!(place("event: result") < place("\"stage\":\"measure\""), "{events}");
    assert!(place("\"stage\":\"measure\"") < place("event: done"), "{events}");
    let result = studio.get("/api/results/1");
    assert_eq!(result["measured"], "done", "{result}");
    // The bound is there, and says that it does not know the rule on the diagnosis.
    assert!(result["bound"].as_f64().unwrap() > 0.0 && result["gap"].is_null(), "{result}");
    assert_eq!(result["bound_of"], "k");
    let age = &result["columns"][0];
    assert_eq!(age["name"], "age");
    let width = age["mean_width"]["width"].as_f64().unwrap();
    assert!(width > 0.0 && width < 100.0, "{age}");
    assert_eq!(result["queries"].as_array().unwrap().len(), 3, "{result}");
    assert!(result["risk"]["uniques_before"].is_u64(), "{result}");
    assert_eq!(result["risk"]["above"][0]["rows"], 0, "k = 4 leaves no unique row");
    // It can be measured again, as after a stop.
    let (event, _) = studio.job(&json!({ "kind": "measure", "result": 1 }));
    assert_eq!(event, "done");
    assert_eq!(studio.get("/api/results/1")["queries"].as_array().unwrap().len(), 3);
    let ks: Vec<u64> = (2..23).collect();
    let (event, said) = studio.job(&json!({ "kind": "frontier", "ks": ks, "time": "1s" }));
    assert!(event == "failed" && said.to_string().contains("20"), "{said}");
}

#[test]
fn no_cell_of_the_table_is_said_on_standard_error() {
    let dir = Workdir::new();
    let rows: Vec<String> =
        (0..200).map(|row| format!("{},QWXZ{},JKVP{}", 20 + row % 40, row % 7, row % 5)).collect();
    dir.write("t.csv", format!("age,town,illness\n{}\n", rows.join("\n")));
    let mut studio = Studio::start(&dir, "t.csv");
    studio.ready();
    studio.save(
        &json!({
            "age": { "role": "quasi" }, "town": { "role": "quasi" },
            "illness": { "role": "sensitive", "distinct": 2 },
        }),
        &[("k", json!(3))],
    );
    for (path, body) in [
        ("/api/find", json!({ "values": { "town": "QWXZ1", "age": "x" } })),
        ("/api/columns/town/hierarchy/edit", json!({ "put": ["QWXZ1"], "level": 9, "group": "a" })),
        ("/api/columns/town/hierarchy/preview", json!({ "spec": { "intervals": [5] } })),
        ("/api/columns/age/hierarchy/compare", json!({ "text": "QWXZ1;JKVP1;*" })),
        ("/api/measure", json!({ "request": { "QWXZ1": "JKVP1" } })),
    ] {
        studio.call("POST", path, &body);
    }
    assert_eq!(studio.job(&json!({ "kind": "search", "time": "1s" })).0, "done");
    assert_eq!(studio.job(&json!({ "kind": "explain", "time": "1s" })).0, "done");
    studio.job(&json!({ "kind": "write", "result": 1, "path": "safe.csv" }));
    studio.job(&json!({ "kind": "verify", "path": "t.csv" }));
    studio.post("/api/quit", &json!({}));
    studio.child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let said = studio.said.lock().unwrap().clone();
    assert!(said.contains("ended"), "{said}");
    assert!(!said.contains("QWXZ") && !said.contains("JKVP"), "{said}");
}

/// Other users see the words of every command: the token is in none of them.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_gets_a_file_and_not_the_token() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Workdir::with_patients(60);
    std::fs::create_dir(dir.path("bin")).unwrap();
    dir.write("bin/xdg-open", "#!/bin/sh\nstat -c '%a %n' \"$@\" > said.part\ncat \"$1\" >> said.part\nenv >> said.part\nmv said.part said\n");
    std::fs::set_permissions(dir.path("bin/xdg-open"), PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = dir.command("studio patients.csv");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", dir.path("bin").display()));
    let studio = Studio::spawn(command);
    let begun = Instant::now();
    while !dir.path("said").exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "no browser was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = dir.text("said");
    let (first, page) = said.split_once('\n').unwrap();
    let (mode, file) = first.split_once(' ').unwrap();
    assert!(mode == "600" && !file.contains(&studio.token), "{first}");
    assert!(
        page.contains(&format!("http://127.0.0.1:{}/#{}", studio.port, studio.token)),
        "{page}"
    );
    // Settings of the server's memory are not those of the browser.
    let own = std::fs::read(format!("/proc/{}/environ", studio.child.id())).unwrap();
    let is_set = String::from_utf8_lossy(&own).contains("MALLOC_ARENA_MAX=2");
    assert_eq!(is_set, cfg!(target_env = "gnu"));
    assert!(!page.contains("MALLOC_ARENA_MAX"), "{page}");
    let mut studio = studio;
    studio.post("/api/quit", &json!({}));
    studio.child.wait().unwrap();
    assert!(!std::path::Path::new(file).exists(), "it is removed at the end");
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
fn a_change_after_an_undo_is_undone_too() {
    let dir = Workdir::with_patients(60);
    let studio = Studio::start(&dir, "patients.csv");
    let first = studio.ready();
    for k in [7, 8, 9] {
        let mut request = studio.get("/api/project")["request"].clone();
        request["k"] = json!(k);
        let etag = studio.get("/api/project")["etag"].clone();
        let saved =
            studio.call("PUT", "/api/project", &json!({ "etag": etag, "request": request }));
        assert_eq!(saved.status, 200, "{}", saved.body);
        let undone = studio.post("/api/undo", &json!({}));
        assert_eq!(undone["request"]["k"], first["request"]["k"], "after k = {k}");
    }
    studio.post("/api/redo", &json!({}));
    std::fs::remove_file(dir.path("patients.toml")).unwrap();
    let gone = studio.call("POST", "/api/reload", &json!({}));
    assert!(gone.status == 404 && gone.body.contains("not there any more"), "{}", gone.body);
}

#[test]
fn a_column_to_decide_has_the_settings_that_init_would_write() {
    let dir = Workdir::new();
    let line = |row: u32| {
        let (age, day, income) = (20 + row % 60, 1 + row % 28, 10_000 + row * 137 % 90_000);
        let (thousands, rest) = (income / 1000, income % 1000);
        format!("{age};{day:02}.03.2024;{thousands}.{rest:03},50;{},{}\n", 1 + row % 3, row % 4)
    };
    let rows: String = (0..400).map(line).collect();
    dir.write("people.csv", format!("Alter;Aufnahme;Einkommen;Gewichtung\n{rows}"));
    let studio = Studio::start(&dir, "people.csv");
    for round in 0..2 {
        studio.ready();
        let columns = studio.get("/api/columns");
        let columns = columns["columns"].as_array().unwrap();
        let settings = |name: &str| {
            columns.iter().find(|column| column["name"] == name).unwrap()["settings"].clone()
        };
        assert!(settings("Einkommen")["round"].is_number(), "{round}: {columns:?}");
        assert_eq!(settings("Gewichtung")["format"], "1234,5", "{round}");
        assert!(settings("Aufnahme")["hierarchy"]["date"].is_array(), "{round}: {columns:?}");
        // Read again, now with its configuration.
        studio.post("/api/open-again", &json!({}));
    }
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
