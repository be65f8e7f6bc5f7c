//! The words of the command line for errors and warnings: hints name flags and commands.

use std::path::Path;

use lookalike::{Error, Hint, Warning};
use serde_json::{Value, json};

use crate::show::argument;
use crate::{files, show};

/// The message of an error. For a file that is not there it names one that is, and is probably
/// meant.
pub(crate) fn error(error: &Error) -> String {
    let message = error.message(words);
    let missing = error.place().file.as_deref().filter(|_| error.code() == "not-found");
    match missing.and_then(files::near) {
        Some(near) => format!("{message}; did you mean {}?", show::path(&near)),
        None => message,
    }
}

/// The message of a warning.
pub(crate) fn warning(warning: &Warning) -> String {
    warning.message(words)
}

/// An error as the JSON object of a command that was asked for JSON.
pub(crate) fn object(error: &Error) -> Value {
    let (kind, code, place) = (error.kind(), error.code(), error.place());
    let (reason, hints, message) = (error.reason(), error.hints(), self::error(error));
    json!({
        "version": 1,
        "error": {
            "kind": kind,
            "code": code,
            "place": place,
            "reason": reason,
            "hints": hints,
            "message": message,
        },
    })
}

/// A way out, with the flag or the command that takes it.
pub(crate) fn words(hint: &Hint) -> String {
    match hint {
        Hint::GiveRole { .. } => "give each a role (--qi, --sensitive, --identifier, --keep, or \
                                  [columns] in the configuration)"
            .into(),
        Hint::CountPersons { reading } => format!("say --persons {reading}"),
        Hint::SettleRest => "decide for all of them with --rest drop or --rest keep".into(),
        Hint::NameQuasi => {
            "name the columns that could be joined with outside data, --qi a,b,c".into()
        }
        Hint::MakeQuasi { column } => format!("make it a quasi-identifier (--qi {column})"),
        Hint::DropColumn { column } => format!("drop it (--identifier {column})"),
        Hint::RoundColumn { column } => format!("round its numbers (--round {column}=STEP)"),
        Hint::AcceptDependent { column } => format!("accept it with --accept-dependent {column}"),
        Hint::SetKind { column, kind } => format!("say --kind {column}={kind}"),
        Hint::SetOrder { column } => {
            format!("set order = [\"low\", \"high\"] or --order {column}=low,high")
        }
        Hint::SetHierarchy { column } => format!("add --hierarchy {column}=intervals:5,10"),
        Hint::MakeHierarchy { .. } => "make one (lookalike hierarchy new groups)".into(),
        Hint::CompareHierarchy { file, column } => format!(
            "`lookalike hierarchy check {file} --data DATA --column {column} --show-values` lists \
             them"
        ),
        Hint::NameMissing { texts } if texts.is_empty() => {
            "name a text that means missing (--missing TEXT)".into()
        }
        Hint::NameMissing { texts } => {
            let flags: Vec<String> = texts
                .iter()
                .map(|text| format!("--missing={}", argument(Path::new(text))))
                .collect();
            format!("name them ({}, which replace `missing` of the configuration)", flags.join(" "))
        }
        Hint::SetDelimiter => "if another delimiter is meant, name it with --delimiter".into(),
        Hint::SetEncoding => {
            "name the encoding of the file (--encoding windows-1252, utf-16le, ..)".into()
        }
        Hint::SetDecimal => {
            "say which sign stands before decimals (--decimal , or --decimal .)".into()
        }
        Hint::SetDateFormat { forms } => {
            format!("say how dates are written (--date-format {})", forms.join(", or "))
        }
        Hint::SetSheet => "name the sheet (--sheet NAME)".into(),
        Hint::SetNames => "give the names of its columns (--names a,b,c)".into(),
        Hint::TrustHeader => "say --header if the first line is the header".into(),
        Hint::SetK => "say how many rows must look alike on all quasi-identifiers (-k 5)".into(),
        Hint::AddRule { column } => {
            format!("add --distinct-l {column}=2, or a stricter --l or --alpha")
        }
        Hint::AllowSuppression { share } => {
            format!("allow {share} suppressed (--suppress {share})")
        }
        Hint::RemoveSuppression => "remove --suppress".into(),
        Hint::Overwrite => "add --force".into(),
        Hint::UseProof => {
            "verify it with the proof that was kept when it was made (--proof FILE)".into()
        }
        Hint::CheckSource => "check with lookalike verify RELEASE --source SOURCE".into(),
        Hint::GiveSource => "add --source DATA".into(),
        Hint::VerifyInstead => "use lookalike verify".into(),
        Hint::MakeRecoding => "make the file anew (anonymize --recoding FILE)".into(),
        Hint::ChooseQueryColumns => "name some, --on a,b".into(),
        Hint::FewerQueryColumns => "use fewer columns, --on a,b".into(),
        Hint::WriteRequest => "`lookalike init` writes a request".into(),
        Hint::KeepByName => "name the columns to keep one by one (--keep A,B)".into(),
        Hint::DropRest => "drop the others (--rest drop)".into(),
        Hint::AcceptUnique => "accept it with --accept-unique".into(),
        hint => of_run(hint),
    }
}

/// A way out of a run that cannot begin, or whose search found too little.
fn of_run(hint: &Hint) -> String {
    match hint {
        Hint::NamePerson { column } => format!("count persons instead (--person {column})"),
        Hint::AllowLoss => "allow a greater loss (--max-loss)".into(),
        Hint::MoreTime => "give the search more time (--time 60s)".into(),
        Hint::OtherAlgorithm => "take another --algorithm".into(),
        Hint::UseAlgorithm { names } => format!("use --algorithm {}", names.join(" or ")),
        Hint::AllowNonHomogeneous => "add --non-homogeneous if you want that".into(),
        Hint::PublishLabels => "use --publish label or --publish bounds".into(),
        Hint::SortRows => "remove --input-order".into(),
        Hint::NameCount => "name the column with the counts (--count COLUMN)".into(),
        Hint::ProtectValues { column } => format!(
            "limit only the values that need it (--alpha {column}=0.5 --values {column}=A,B)"
        ),
        Hint::AllowDistance { column } => format!("allow more, such as --t {column}=0.2"),
        // Words that name nothing of a face.
        hint => hint.words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flag of a hint, without its value.
    fn flags(words: &str) -> Vec<String> {
        let is_of_flag = |c: char| c.is_ascii_lowercase() || c == '-';
        words
            .split(|c| !is_of_flag(c))
            .filter(|word| word.starts_with("--"))
            .map(String::from)
            .collect()
    }

    #[test]
    fn every_flag_that_a_hint_names_exists() {
        use clap::CommandFactory;
        let column = || "c".to_string();
        let hints = [
            Hint::GiveRole { columns: vec![column()] },
            Hint::SettleRest,
            Hint::CountPersons { reading: "whole".into() },
            Hint::KeepByName,
            Hint::DropRest,
            Hint::AcceptUnique,
            Hint::NameQuasi,
            Hint::NamePerson { column: column() },
            Hint::MakeQuasi { column: column() },
            Hint::DropColumn { column: column() },
            Hint::RoundColumn { column: column() },
            Hint::AcceptDependent { column: column() },
            Hint::SetKind { column: column(), kind: "numeric".into() },
            Hint::SetOrder { column: column() },
            Hint::SetHierarchy { column: column() },
            Hint::CompareHierarchy { file: "f".into(), column: column() },
            Hint::NameMissing { texts: Vec::new() },
            Hint::NameMissing { texts: vec!["NA".into(), "?".into()] },
            Hint::NameCount,
            Hint::UseAlgorithm { names: vec!["ring".into()] },
            Hint::AllowNonHomogeneous,
            Hint::PublishLabels,
            Hint::SortRows,
            Hint::AllowDistance { column: column() },
            Hint::ProtectValues { column: column() },
            Hint::SetDelimiter,
            Hint::SetEncoding,
            Hint::SetNames,
            Hint::TrustHeader,
            Hint::SetSheet,
            Hint::SetDecimal,
            Hint::SetDateFormat { forms: vec!["dd.mm.yy".into()] },
            Hint::AddRule { column: column() },
            Hint::AllowSuppression { share: "1%".into() },
            Hint::RemoveSuppression,
            Hint::AllowLoss,
            Hint::MoreTime,
            Hint::OtherAlgorithm,
            Hint::Overwrite,
            Hint::UseProof,
            Hint::CheckSource,
            Hint::GiveSource,
            Hint::MakeRecoding,
            Hint::ChooseQueryColumns,
            Hint::FewerQueryColumns,
        ];
        let cli = crate::args::Cli::command();
        let of_command = |command: &clap::Command| -> Vec<String> {
            command.get_arguments().filter_map(|arg| arg.get_long()).map(String::from).collect()
        };
        let commands = || cli.get_subcommands().flat_map(|one| one.get_subcommands().chain([one]));
        let known: Vec<String> = commands().flat_map(of_command).collect();
        for hint in hints {
            let found = flags(&words(&hint));
            assert!(!found.is_empty(), "{hint:?} names no flag");
            for flag in found {
                assert!(known.contains(&flag[2..].to_string()), "{hint:?}: {flag}");
            }
        }
        assert_eq!(words(&Hint::plain("fix the cell")), "fix the cell");
    }

    #[test]
    fn an_error_is_an_object_with_its_message() {
        let error = Error::request("no-role", "no role for `zip`").hint(Hint::SettleRest);
        let object = object(&error);
        assert_eq!(object["error"]["code"], "no-role");
        assert_eq!(object["error"]["hints"], json!([{ "way": "settle-rest" }]));
        assert!(object["error"]["message"].as_str().unwrap().contains("--rest drop"), "{object}");
    }
}
