//! A folder that is gone after the test, and the program in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use arrow_array::{ArrayRef, RecordBatch};
use lookalike::table;
use serde_json::Value;
use tempfile::TempDir;

/// What stands in cells that must never be seen.
pub(crate) const CANARY: &str = "canary7341";

/// A short search, for tests that are about something else: without it `auto` takes seconds.
pub(crate) const QUICK: &str = "--steps 300 --bound none";

pub(crate) struct Workdir(TempDir);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Workdir {
    pub(crate) fn new() -> Workdir {
        let dir = Workdir(TempDir::new().unwrap());
        fs::create_dir(dir.path("tmp")).unwrap();
        dir
    }

    /// A folder with `patients.csv`, of so many rows.
    pub(crate) fn with_patients(rows: usize) -> Workdir {
        let dir = Workdir::new();
        dir.write("patients.csv", patients(rows));
        dir
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Writes a table of typed columns; the ending of the name selects the format.
    pub(crate) fn write_typed(&self, name: &str, columns: Vec<(&str, ArrayRef)>) {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let (path, file_type) = (self.path(name), table::file_type(Path::new(name)).unwrap());
        let file = fs::File::create(&path).unwrap();
        table::write(file, &path, file_type, &batch.schema(), 1, |_| Ok(batch.clone())).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// The program with the words of a command line; its temporary files go to `tmp`.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.within(
            Command::new(env!("CARGO_BIN_EXE_lookalike")),
            &line.split_whitespace().collect::<Vec<_>>(),
        )
    }

    /// A shell that runs the program as `$0`.
    pub(crate) fn shell(&self, script: &str) -> Command {
        self.within(Command::new("bash"), &["-c", script, env!("CARGO_BIN_EXE_lookalike")])
    }

    fn within(&self, mut command: Command, args: &[&str]) -> Command {
        command
            .args(args)
            .current_dir(self.0.path())
            .env("TMPDIR", self.path("tmp"))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Run {
        ended(&self.command(line).output().unwrap())
    }

    /// Runs a command line that must succeed.
    pub(crate) fn succeed(&self, line: &str) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, Some(0), "{line}\n{run:?}");
        run
    }

    /// Runs a command line that must succeed and print JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.succeed(line).stdout).unwrap()
    }

    /// Every file and folder, also hidden ones and those in `tmp`.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        list(self.0.path(), &mut found);
        found.sort();
        found
    }
}

fn list(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            list(&path, found);
        }
        found.push(path);
    }
}

pub(crate) fn ended(output: &Output) -> Run {
    Run {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A small hospital: name, age, zip, sex, diagnosis, note. Names and notes are canaries.
pub(crate) fn patients(rows: usize) -> String {
    let mut text = String::from("name,age,zip,sex,diagnosis,note\n");
    for i in 0..rows {
        let (age, zip) = (20 + i * 7 % 50, 53_700 + i * 11 % 30);
        let sex = ["female", "male"][i * 5 % 7 % 2];
        let diagnosis = ["flu", "asthma", "cancer", "HIV"][i * 3 % 11 % 4];
        text += &format!("{CANARY} {i},{age},{zip},{sex},{diagnosis},{CANARY} note {i}\n");
    }
    text
}
