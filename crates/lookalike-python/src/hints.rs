//! The words of Python for errors and warnings: hints name keyword arguments and methods.

use lookalike::{Error, Hint, Warning};

/// The message of an error.
pub(crate) fn error(error: &Error) -> String {
    error.message(words)
}

/// The message of a warning.
pub(crate) fn warning(warning: &Warning) -> String {
    warning.message(words)
}

/// A way out, with the argument that takes it.
pub(crate) fn words(hint: &Hint) -> String {
    match hint {
        Hint::GiveRole { .. } => {
            "give each a role (quasi=, sensitive=, keep=, identifiers=, or \"columns\" of the \
             configuration)"
                .into()
        }
        Hint::CountPersons { reading } => format!("use persons={reading:?}"),
        Hint::SettleRest => "decide for all of them with rest=\"drop\" or rest=\"keep\"".into(),
        Hint::KeepByName => "name the columns to keep one by one (keep=[...])".into(),
        Hint::DropRest => "drop the others (rest=\"drop\")".into(),
        Hint::AcceptUnique => "accept it with accept_unique=True".into(),
        Hint::NameQuasi => {
            "name the columns that could be joined with outside data, quasi=[...]".into()
        }
        Hint::NamePerson { column } => format!("count persons instead (person=[{column:?}])"),
        Hint::MakeQuasi { column } => format!("make it a quasi-identifier (quasi=[{column:?}])"),
        Hint::RoundColumn { column } => format!("round its numbers (round={{{column:?}: STEP}})"),
        Hint::DropColumn { column } => format!("drop it (identifiers=[{column:?}])"),
        Hint::AcceptDependent { column } => format!("accept it with accept_dependent=[{column:?}]"),
        Hint::SetKind { column, kind } => {
            format!("set its kind (quasi={{{column:?}: {{\"kind\": {kind:?}}}}})")
        }
        Hint::SetOrder { column } => {
            format!("list its labels (quasi={{{column:?}: {{\"order\": [\"low\", \"high\"]}}}})")
        }
        Hint::SetHierarchy { column } => {
            format!("give it a hierarchy (quasi={{{column:?}: lookalike.intervals(5, 10)}})")
        }
        Hint::MakeHierarchy { column } => {
            format!("give its rows instead (quasi={{{column:?}: lookalike.hierarchy(rows)}})")
        }
        Hint::NameMissing { texts } if texts.is_empty() => {
            "name a text that means missing (missing=[...])".into()
        }
        Hint::NameMissing { texts } => format!("name them (missing={texts:?})"),
        Hint::SetEncoding => {
            "name the encoding of the file: {\"input\": {\"encoding\": \"windows-1252\"}} in the \
             configuration"
                .into()
        }
        Hint::SetSheet => {
            "name the sheet: {\"input\": {\"sheet\": \"...\"}} in the configuration".into()
        }
        Hint::SetDecimal => {
            "say which sign stands before decimals: {\"input\": {\"decimal\": \",\"}} in the \
             configuration"
                .into()
        }
        Hint::SetDateFormat { forms } => format!(
            "say how dates are written: {{\"input\": {{\"date_format\": \"{}\"}}}} in the configuration",
            forms.first().map_or("dd/mm/yyyy", String::as_str)
        ),
        Hint::SetNames => {
            "give the names of its columns: {\"input\": {\"names\": [...]}} in the configuration"
                .into()
        }
        Hint::TrustHeader => {
            "say {\"input\": {\"header\": True}} in the configuration if the first line is the header"
                .into()
        }
        Hint::SetDelimiter => {
            "if another delimiter is meant, set {\"input\": {\"delimiter\": \";\"}} in the \
                                 configuration"
                .into()
        }
        Hint::SetK => "say how many rows must look alike on all quasi-identifiers (k=5)".into(),
        Hint::AddRule { column } => {
            format!("add a rule (sensitive={{{column:?}: lookalike.rules(l=2)}})")
        }
        Hint::AllowSuppression { share } => {
            format!("allow {share} suppressed (suppress={share:?})")
        }
        Hint::RemoveSuppression => "use suppress=0".into(),
        Hint::Overwrite => "use force=True".into(),
        Hint::UseProof => {
            "verify it with the proof that was kept when it was made (proof=...)".into()
        }
        Hint::CheckSource => "use lookalike.verify(release, config, source=...)".into(),
        Hint::GiveSource => "give its source too (source=...)".into(),
        Hint::VerifyInstead => "use lookalike.verify(release, config, source=...)".into(),
        Hint::MakeRecoding => {
            "make the recoding anew (anonymize(..., algorithm=\"optimal\").recoding)".into()
        }
        Hint::ChooseQueryColumns => "name some, on=[...]".into(),
        Hint::FewerQueryColumns => "use fewer columns, on=[...]".into(),
        Hint::WriteRequest => "lookalike.suggest(data) proposes a configuration".into(),
        Hint::AllowLoss => "allow a greater loss (max_loss=)".into(),
        Hint::MoreTime => "give the search more time (time=60)".into(),
        Hint::OtherAlgorithm => "use another algorithm=".into(),
        Hint::UseAlgorithm { names } => {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("use algorithm={}", names.join(" or "))
        }
        Hint::AllowNonHomogeneous => "use non_homogeneous=True if you want that".into(),
        Hint::PublishLabels => "use publish=\"label\" or publish=\"bounds\"".into(),
        Hint::SortRows => "leave \"order\" out of the configuration's \"output\"".into(),
        Hint::NameCount => "name the column with the counts (count=\"n\")".into(),
        Hint::ProtectValues { column } => format!(
            "limit only the values that need it, as in sensitive={{{column:?}: \
             lookalike.rules(alpha=0.5, values=[...])}}"
        ),
        Hint::AllowDistance { column } => {
            format!("allow more, as in sensitive={{{column:?}: lookalike.rules(t=0.2)}}")
        }
        // Words that name nothing of a face.
        hint => hint.words(),
    }
}
