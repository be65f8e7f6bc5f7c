//! The words of the page for ways out of an error or a warning: they name screens and fields.

use lookalike::Hint;

/// A way out, and where it is on the page.
pub(crate) fn hint(hint: &Hint) -> String {
    match hint {
        Hint::GiveRole { .. } => "give each a role on screen 1".into(),
        Hint::SettleRest => "decide for all of them at the end of screen 1".into(),
        Hint::KeepByName => "give the role Keep on screen 1 to those that are needed".into(),
        Hint::DropRest => "drop the columns without a role (end of screen 1)".into(),
        Hint::AcceptUnique => "accept it at the end of screen 1".into(),
        Hint::NameQuasi => {
            "give the role Quasi on screen 1 to columns that could be joined with outside data"
                .into()
        }
        Hint::NamePerson { column } => {
            format!("give column {column} the role Person on screen 1: then persons are counted")
        }
        Hint::MakeQuasi { .. } => "make it a quasi-identifier on screen 1".into(),
        Hint::DropColumn { .. } => "drop it on screen 1".into(),
        Hint::RoundColumn { .. } => "round it (screen 1, its settings)".into(),
        Hint::AcceptDependent { column } => {
            format!("accept it (screen 1, settings of {column})")
        }
        Hint::SetKind { column, kind } => {
            format!("choose the kind {kind} for {column} (screen 1, its settings)")
        }
        Hint::SetHierarchy { column } => format!("give column {column} a hierarchy on screen 2"),
        Hint::MakeHierarchy { .. } => "make its hierarchy on screen 2".into(),
        Hint::CompareHierarchy { column, .. } => {
            format!("look at the hierarchy of {column} on screen 2")
        }
        Hint::NameMissing { texts } if texts.is_empty() => {
            "name the text that means missing at the end of screen 1".into()
        }
        Hint::NameMissing { texts } => {
            format!("name them as missing at the end of screen 1: {}", texts.join("; "))
        }
        Hint::SetDelimiter => opened("if another delimiter is meant, name it"),
        Hint::SetEncoding => opened("name the encoding, such as windows-1252,"),
        Hint::SetSheet => opened("name the sheet"),
        Hint::SetNames => opened("give the names of its columns"),
        Hint::TrustHeader => opened("say that the first line is the header"),
        other => of_rules(other),
    }
}

/// The choice of a table has fields for how it is read.
fn opened(what: &str) -> String {
    format!("{what} under “How the file is read”, where the table is chosen")
}

fn of_rules(hint: &Hint) -> String {
    match hint {
        Hint::SetK => "set k on screen 3".into(),
        Hint::CountPersons { reading } => {
            format!("choose “{reading}” on screen 3 under “Persons”")
        }
        Hint::AddRule { column } => {
            format!("add a rule for {column} on screen 3, such as at least 2 different values")
        }
        Hint::ProtectValues { column } => {
            format!("limit only those values of {column} that need it (screen 3, “More rules”)")
        }
        Hint::AllowDistance { column } => {
            format!("allow a greater t for {column} on screen 3, such as 0.2")
        }
        Hint::AllowSuppression { share } => {
            format!("allow on screen 3 that {share} of the rows are suppressed")
        }
        Hint::RemoveSuppression => "allow no suppressed rows on screen 3".into(),
        Hint::AllowLoss => "allow a greater loss on screen 3".into(),
        Hint::MoreTime => "give the search more time on screen 4".into(),
        Hint::PublishLabels => "publish labels or two columns (screen 6)".into(),
        Hint::Overwrite => "choose another name, or tick “Overwrite” on screen 6".into(),
        Hint::CheckSource => "verify the release on screen 6".into(),
        Hint::VerifyInstead => "verify it on screen 6 instead".into(),
        other => other.words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_out_name_places_of_the_page_and_no_keys() {
        let column = || "zip".to_string();
        let hints = [
            Hint::SettleRest,
            Hint::AcceptUnique,
            Hint::SetK,
            Hint::AddRule { column: column() },
            Hint::SetKind { column: column(), kind: "numeric".into() },
            Hint::AcceptDependent { column: column() },
            Hint::NameMissing { texts: vec!["NA".into()] },
            Hint::AllowSuppression { share: "1 %".into() },
            Hint::MoreTime,
            Hint::SetEncoding,
        ];
        for way in hints {
            let words = hint(&way);
            assert!(!words.contains(['`', '=']) && !words.contains("--"), "{words}");
        }
    }
}
