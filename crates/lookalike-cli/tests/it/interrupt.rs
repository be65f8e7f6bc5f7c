//! Stopped from outside, the program leaves nothing behind.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::workdir::{Workdir, ended, patients};

#[test]
fn stopped_outside_the_search_it_leaves_nothing() {
    let dir = Workdir::new();
    for signal in ["INT", "TERM"] {
        let before = dir.files();
        // Whoever started the tests may have chosen to ignore signals.
        let script = "exec env --default-signal=INT,TERM,HUP $0 anonymize - -o out.csv -k 5 --qi age,zip --rest drop";
        let mut command = dir.shell(script);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // More than a pipe holds: once it is written the program is reading, and it waits for the end.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(patients(30_000).as_bytes()).unwrap();
        assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
        let run = ended(&child.wait_with_output().unwrap());
        drop(stdin);
        assert_eq!(run.code, Some(130), "{signal}: {run:?}");
        assert_eq!(dir.files(), before, "{signal}");
    }
}
