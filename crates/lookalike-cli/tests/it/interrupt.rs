//! Stopped from outside, the program ends well: with the best so far, or with nothing left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use crate::workdir::{Workdir, ended, patients};

/// Whoever started the tests may have chosen to ignore signals: the program shall not.
fn start(dir: &Workdir, line: &str) -> Child {
    let script = format!("exec env --default-signal=INT,TERM,HUP $0 {line}");
    dir.shell(&script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(signal: &str, child: &Child) {
    assert!(
        Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// Starts a run on the census table, stops it as soon as it searches, and returns what it had printed
/// on standard error.
pub(crate) fn stopped_in_the_search(dir: &Workdir, line: &str) -> (Child, String) {
    let mut child = start(dir, line);
    // The warning about the sensitive column is the last word before the search.
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut reported = String::new();
    stderr.read_line(&mut reported).unwrap();
    assert!(reported.starts_with("warning: column `income`"), "{reported}");
    send("INT", &child);
    stderr.read_to_string(&mut reported).unwrap();
    (child, reported)
}

#[test]
fn stopped_outside_the_search_it_leaves_nothing() {
    let dir = Workdir::new();
    for signal in ["INT", "TERM"] {
        let before = dir.files();
        let mut child = start(&dir, "anonymize - -o out.csv -k 5 --qi age,zip --rest drop");
        // More than a pipe holds: once it is written the program is reading, and it waits for the
        // end.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(patients(30_000).as_bytes()).unwrap();
        send(signal, &child);
        let run = ended(&child.wait_with_output().unwrap());
        drop(stdin);
        assert_eq!(run.code, Some(130), "{signal}: {run:?}");
        assert_eq!(dir.files(), before, "{signal}");
    }
}

#[test]
fn in_the_search_it_writes_what_it_has() {
    let dir = Workdir::new();
    dir.succeed("synth census --rows 400000 -o census.csv");
    let flags = "-k 2 --qi age,sex,race,marital,education,birthplace,occupation,workclass --sensitive income";
    // On a machine under load the signal may come when the search is over: then the program must
    // have stopped like elsewhere.
    for _ in 0..10 {
        let before = dir.files();
        let (mut child, reported) = stopped_in_the_search(
            &dir,
            &format!("anonymize census.csv -o out.csv {flags} --threads 1 --bound none"),
        );
        if child.wait().unwrap().code() == Some(0)
            && reported.contains("the search was stopped on your request")
        {
            assert!(reported.contains("ok      k = 2 (smallest class "), "{reported}");
            dir.succeed(&format!("verify out.csv {flags}"));
            return;
        }
        assert_eq!(dir.files(), before, "{reported}");
    }
    panic!("the search was never stopped");
}
