//! Every error message, word by word. The commands in `messages/` provoke them; text and exit code
//! of each are kept in one file for each topic in `snapshots/messages`. `UPDATE=1 cargo test
//! messages` rewrites the files.
//!
//! A second test reads the source and collects the texts of all error messages. It fails when a text
//! is in no snapshot and its place is not in the list of [`EXCEPTIONS`].

mod audit_persons;
mod coarsening;
mod columns;
mod commands;
mod counts;
mod files;
mod person_key;
mod releases;
mod requests;
mod risk;
mod source;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::workdir::{Run, Workdir, ended};

/// A topic and the function that runs its commands.
type Topic = (&'static str, fn(&mut Recorder));

const TOPICS: [Topic; 23] = [
    ("coarsening", coarsening::coarsening),
    ("purpose", coarsening::purpose),
    ("csv", files::csv),
    ("typed-files", files::typed_files),
    ("outputs", files::outputs),
    ("flags", requests::flags),
    ("configuration", requests::configuration),
    ("rules", requests::rules),
    ("feasibility", requests::feasibility),
    ("values", columns::values),
    ("hierarchy", columns::hierarchy),
    ("hierarchy-command", columns::hierarchy_command),
    ("published-values", columns::published_values),
    ("counts", counts::counts),
    ("person-key", person_key::person_key),
    ("risk", risk::risk),
    ("ring", releases::ring),
    ("recoding-file", releases::recoding_file),
    ("verify", releases::verify),
    ("audit-persons", audit_persons::audit_persons),
    ("query", commands::query),
    ("compare-report", commands::compare_and_report),
    ("reproduce", commands::reproduce),
];

/// Places whose messages no test can provoke, and the reason: file and function.
const EXCEPTIONS: [(&str, &str, &str); 135] = [
    ("run/purpose.rs", "nothing_told", "a warning, in purpose.rs"),
    ("problem/check.rs", "text_among_numbers", "a warning, in published.rs"),
    ("cli/src/cmd/anonymize.rs", "output", "needs a terminal"),
    ("cli/src/cmd/anonymize.rs", "summary", "a note, not an error"),
    ("run/codebook.rs", "refuse", "a sink of a caller; in codebook.rs"),
    ("run/publish.rs", "after_others", "needs a disk that fills up in between"),
    ("run/forms.rs", "forms_warning", "a warning, in local_forms.rs"),
    ("run/forms.rs", "refuse_text_among", "needs many rows; in local_forms.rs"),
    ("report/src/suggest.rs", "doubt_warning", "a warning, in local_forms.rs"),
    ("evaluate/profile/plain.rs", "text_among_numbers", "a warning, in init.rs; has a unit test"),
    ("evaluate/profile/mixed_dates.rs", "mixed_dates", "a warning; has a unit test"),
    ("evaluate/profile/far_codes.rs", "far_codes", "a warning; has a unit test"),
    ("evaluate/profile/mod.rs", "to_toml", "a comment of a configuration, in mistakes.rs"),
    ("run/warnings.rs", "one_row", "a warning"),
    ("run/warnings.rs", "of_release", "a warning, in tried.rs"),
    ("run/warnings.rs", "no_detail", "a warning, in tried.rs"),
    ("run/warnings.rs", "unused", "a warning"),
    ("run/warnings.rs", "unused_price", "a warning; in run.rs"),
    ("run/in_time.rs", "solve_for_run", "needs a search that hangs"),
    ("run/audit.rs", "is_quick", "needs a file that changes; in attacked/small.rs"),
    ("run/audit.rs", "source", "the run keeps what it needs"),
    ("run/mod.rs", "configured", "the command line names its files"),
    ("run/dictionaries.rs", "check", "a bug message; has a unit test"),
    ("run/table_to_file.rs", "read_back", "a bug message; has a unit test"),
    ("release/text_cells.rs", "has_nul", "a release in memory; in table_to_file.rs"),
    ("table/read/batches.rs", "of_schema", "a stream of a caller; in streams.rs"),
    ("audit/along.rs", "check", "origins of another run; has unit tests"),
    ("audit/source_check.rs", "number_together", "needs four billion rows"),
    ("domain/table_domain/mod.rs", "not_of_domain", "a domain of a library; has tests there"),
    ("domain/table_domain/mod.rs", "all_in_domain", "a domain of a library; has tests there"),
    ("domain/table_domain/stored.rs", "deserialize", "a stored domain; has tests there"),
    ("domain/table_domain/stored.rs", "try_from", "a stored domain; has tests there"),
    ("domain/table_domain/stored.rs", "build", "a stored domain; has tests there"),
    ("domain/taxonomy.rs", "from_parts", "a stored domain; has tests there"),
    ("problem/fit.rs", "new", "a domain of a library; has tests there"),
    ("audit/plan.rs", "cover", "a bug message"),
    ("audit/plan_tuples.rs", "rows_named", "a plan by numbers is a library's; has tests there"),
    ("domain/table_domain/mod.rs", "from_json", "a stored domain; has tests there"),
    ("problem/part_rules.rs", "infeasible", "cells of a library; has tests there"),
    ("problem/part_rules.rs", "part_numbers", "cells of a library; has tests there"),
    ("run/cells.rs", "refuse", "cells of a library; has tests there"),
    ("run/cells.rs", "refuse_unrepeatable", "cells of a library; has tests there"),
    ("run/cells.rs", "domain_of_columns", "cells of a library; has tests there"),
    ("run/cells.rs", "count_column", "cells of a library; has tests there"),
    ("run/cells.rs", "value_counts", "cells of a library; has tests there"),
    ("run/cells.rs", "cuts", "cells of a library; has tests there"),
    ("run/cells.rs", "merge_cells", "cells of a library; has tests there"),
    ("search/cuts/mod.rs", "from_json", "stored cuts; has tests there"),
    ("search/cuts/mod.rs", "try_from", "stored cuts; has tests there"),
    ("table/read/archive.rs", "only_file", "needs an archive; has tests there"),
    ("table/read/archive.rs", "sheet", "a warning, and a workbook without cells"),
    ("table/read/csv_header.rs", "skipped_comments", "a warning"),
    ("table/read/csv_header.rs", "skipped_title", "a warning, in init.rs"),
    ("table/read/encoding.rs", "of", "a warning"),
    ("table/read/archive.rs", "table", "needs a workbook; has tests there"),
    ("problem/assemble.rs", "assemble", "a warning"),
    ("release/mod.rs", "new", "the request refuses it first"),
    ("run/options.rs", "recoding", "apply has no such flags"),
    ("run/options.rs", "refuse_ring", "a sink of a caller"),
    ("run/options.rs", "refuse_persons", "a sink of a caller"),
    ("problem/fit.rs", "refuse_persons", "a domain of a library; has tests there"),
    ("run/warnings.rs", "pseudonyms", "a warning"),
    ("run/warnings.rs", "hashes", "a warning; in coarsening.rs"),
    ("release/mod.rs", "refuse_unhashed", "a run hashes first; in nothing_ignored.rs"),
    ("run/warnings.rs", "unused_by_a_file", "a warning"),
    ("report/src/suggest.rs", "suggest_and_keep", "the reader refuses an empty table first"),
    ("report/src/suggest.rs", "header_warning", "a warning"),
    ("cli/src/cmd/synth.rs", "write", "needs a 32-bit machine"),
    ("cli/src/hints.rs", "of_run", "hints of warnings; or needs a search that hangs"),
    ("evaluate/disclosure.rs", "pairs", "a warning"),
    ("evaluate/sampling_weight.rs", "column", "the command line reads the column"),
    ("profile/persons.rs", "repeated_persons", "a warning, in tried.rs"),
    ("problem/check.rs", "without_intervals", "a warning"),
    ("problem/check.rs", "listed_numbers", "a warning; in hierarchy.rs"),
    ("problem/check.rs", "numbers_by_prefix", "a warning; in hierarchy.rs"),
    ("problem/sensitive_rules.rs", "absent_values", "a warning"),
    ("problem/sensitive_rules.rs", "similar_values", "a warning"),
    ("evaluate/profile/persons.rs", "similar_persons", "a warning, in person_audit.rs"),
    ("cli/src/main.rs", "bug", "a bug message; has a unit test"),
    ("cli/src/memory.rs", "limit", "needs a system that does not report memory"),
    ("cli/src/memory.rs", "parse", "needs a system that does not report memory"),
    ("lab/src/he2012.rs", "claims", "a remark on the page"),
    ("lab/src/lab.rs", "new", "needs a system without threads"),
    ("audit/measure.rs", "rules_on", "the request refuses it first"),
    ("audit/persons/count.rs", "new", "needs 500 million persons"),
    ("audit/persons/origins.rs", "refuse_others", "the reader of proofs refuses it first"),
    ("audit/mod.rs", "coded", "a bug message"),
    ("audit/path.rs", "lines", "the engine's reader refuses it first"),
    ("audit/path.rs", "records", "the engine's reader refuses it first"),
    ("audit/rings.rs", "by_search", "needs millions of rows"),
    ("audit/surface.rs", "surface", "needs four billion rows"),
    ("audit/source_check.rs", "sides", "has a unit test"),
    ("audit/plan.rs", "check", "has a unit test"),
    ("audit/source_check.rs", "alike", "a bug message"),
    ("audit/source_check.rs", "quasi", "a bug message"),
    ("query/field.rs", "new", "the reader refuses an empty table first"),
    ("query/mod.rs", "released", "no short table for it yet"),
    ("problem/check.rs", "check", "the reader refuses an empty table first"),
    ("problem/check.rs", "scheme", "no short table for it yet"),
    ("privacy/feasible.rs", "nearest", "the reader refuses an empty table first"),
    ("problem/sensitive_rules.rs", "new", "no short table for it yet"),
    ("release/mod.rs", "as_type", "a bug message"),
    ("release/mod.rs", "gathering", "a bug message"),
    ("release/published.rs", "same_label", "no short table for it yet"),
    ("release/bounds.rs", "bounds", "the parser of dates refuses such times first"),
    ("release/recoding_file/apply.rs", "blocks", "the columns are compared first"),
    ("table/build.rs", "check_rows", "needs four billion rows"),
    ("table/build.rs", "new", "no type is known that can be coded but not written"),
    ("table/read/csv.rs", "more", "needs two gibibytes"),
    ("hierarchy/date.rs", "moments", "the kind of the column is checked first"),
    ("suggested_hierarchy/mod.rs", "refuse", "needs 500 values; has a unit test"),
    ("hierarchy/builtin.rs", "example", "the command reads files itself"),
    ("hierarchy/file_intervals.rs", "file_intervals", "no short table for it yet"),
    ("release/recoding_file/apply.rs", "apply", "no short table for it yet"),
    ("table/build.rs", "take", "needs a damaged typed cell"),
    ("table/plain.rs", "unpack", "needs a damaged typed cell"),
    ("table/read/csv_header.rs", "header", "the line is refused first"),
    ("table/read/csv_header.rs", "check_names", "needs a file format without columns"),
    ("table/read/parquet.rs", "check_codec", "needs a codec that no crate here writes"),
    ("table/read/bytes.rs", "guarded", "needs a decoder that panics; in bad_input.rs"),
    ("table/read/bytes.rs", "damaged", "needs a large damaged file; in bad_input.rs"),
    ("table/write/mod.rs", "unwritable", "needs a damaged typed cell"),
    ("table/write/pending.rs", "publish", "needs a folder that cannot be synced"),
    ("search/tuning.rs", "set", "a hidden flag for bench/tune; has a unit test"),
    ("search/tuning.rs", "count", "a hidden flag for bench/tune; has a unit test"),
    ("search/tuning.rs", "share", "a hidden flag for bench/tune; has a unit test"),
    ("search/tuning.rs", "factor", "a hidden flag for bench/tune; has a unit test"),
    ("table/read/bytes.rs", "new", "needs a build without a feature"),
    ("table/read/bytes.rs", "left_out", "needs a build without a feature"),
    ("table/write/mod.rs", "check_features", "needs a build without a feature"),
    ("request/effect.rs", "check_conflicts", "needs a builder; in request/tests"),
    ("request/finite.rs", "check", "needs a builder; in request/tests"),
    ("request/json.rs", "from_json", "needs a request in JSON; in request/tests"),
    ("request/mod.rs", "visit_map", "needs a request in JSON; in request/tests"),
    ("request/mod.rs", "not_written", "needs a builder; in request/tests"),
];

/// Runs commands that must fail and keeps their messages.
pub(crate) struct Recorder {
    pub(crate) dir: Workdir,
    text: String,
    /// Files that were written since the last command: they belong to the next message.
    new: Vec<String>,
    /// Commands that did not fail, or that failed by a bug.
    wrong: Vec<String>,
}

impl Recorder {
    fn new() -> Recorder {
        Recorder {
            dir: Workdir::with_patients(40),
            text: String::new(),
            new: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// Writes a file, and shows its beginning in the snapshot.
    pub(crate) fn file(&mut self, name: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        self.dir.write(name, content);
        let shown = String::from_utf8_lossy(&content[..content.len().min(160)]).into_owned();
        let more = if content.len() > 160 { " ..." } else { "" };
        self.new.push(format!("# {name}: {shown:?}{more}\n"));
    }

    /// Runs a command line that must fail.
    pub(crate) fn fails(&mut self, line: &str) {
        let run = self.dir.run(line);
        self.record(&format!("lookalike {line}"), &run);
    }

    /// Runs a shell script, in which `$0` is the program, that must fail.
    pub(crate) fn script_fails(&mut self, script: &str) {
        let run = ended(&self.dir.shell(script).output().unwrap());
        self.record(&script.replace("$0", "lookalike"), &run);
    }

    /// Writes one file and runs one command.
    pub(crate) fn with(&mut self, name: &str, content: impl AsRef<[u8]>, line: &str) {
        self.file(name, content);
        self.fails(line);
    }

    fn record(&mut self, line: &str, run: &Run) {
        let code = run.code.map_or("none".to_string(), |code| code.to_string());
        if run.code == Some(0) || run.code == Some(70) {
            self.wrong.push(format!("{line}\n{run:?}"));
            let _ = std::fs::remove_file(self.dir.path("out.csv"));
            return;
        }
        let folder = self.dir.path("").display().to_string();
        let said = run.stderr.replace(&folder, "DIR/");
        let files: String = self.new.drain(..).collect();
        self.text += &format!("{files}$ {line}\n[exit {code}] {}\n\n", said.trim_end());
    }
}

/// The messages of every topic. The topics run at the same time.
static RECORDED: LazyLock<Vec<(&str, Recorder)>> = LazyLock::new(|| {
    let run = |(name, commands): Topic| {
        let mut recorder = Recorder::new();
        commands(&mut recorder);
        (name, recorder)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            TOPICS.into_iter().map(|topic| scope.spawn(move || run(topic))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a topic failed")).collect()
    })
});

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots/messages")
}

#[test]
fn every_message_is_as_before() {
    let is_update = std::env::var_os("UPDATE").is_some();
    let mut differing = Vec::new();
    for (name, Recorder { text, wrong, .. }) in RECORDED.iter() {
        differing.extend(wrong.iter().map(|what| format!("{name} must fail: {what}")));
        let file = snapshots().join(format!("{name}.txt"));
        if is_update {
            std::fs::create_dir_all(snapshots()).unwrap();
            std::fs::write(&file, text).unwrap();
        }
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let lines = |text: &str| text.lines().map(String::from).collect::<BTreeSet<_>>();
        if before != *text {
            let new = &lines(text) - &lines(&before);
            differing.push(format!("{name}.txt: {}", Vec::from_iter(new).join("\n    ")));
        }
    }
    assert!(
        differing.is_empty(),
        "messages differ: look at them, then UPDATE=1\n{}",
        differing.join("\n")
    );
}

#[test]
fn every_message_in_the_source_is_in_a_snapshot() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let recorded = words(&RECORDED.iter().map(|(_, on)| on.text.as_str()).collect::<String>());
    let sites = source::message_sites();
    assert!(sites.len() > 150, "only {} messages were found in the source", sites.len());
    let is_recorded =
        |site: &source::MessageSite| site.fragments.iter().all(|part| recorded.contains(part));
    let is_exception = |site: &source::MessageSite| {
        EXCEPTIONS
            .iter()
            .any(|(file, function, _)| site.file.ends_with(file) && site.function == *function)
    };
    let missing: Vec<String> = sites
        .iter()
        .filter(|site| !is_recorded(site) && !is_exception(site))
        .map(|site| format!("{}:{} fn {}: {}", site.file, site.line, site.function, site.text))
        .collect();
    assert!(
        missing.is_empty(),
        "{} messages are in no snapshot: provoke them in tests/it/messages, or add their places to \
         EXCEPTIONS with a reason\n{}",
        missing.len(),
        missing.join("\n")
    );
    // An exception without a message that needs it is out of date.
    let is_stale = |(file, function, _): &&(&str, &str, &str)| {
        let needs = |site: &source::MessageSite| {
            site.file.ends_with(file) && site.function == *function && !is_recorded(site)
        };
        !sites.iter().any(needs)
    };
    let stale: Vec<_> = EXCEPTIONS.iter().filter(is_stale).collect();
    assert!(stale.is_empty(), "no message needs these exceptions: {stale:#?}");
}
