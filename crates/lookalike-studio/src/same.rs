//! The command and the Python lines that do what the page does.

use std::path::Path;

use serde_json::{Value, json};

/// Both, for a configuration, its table and the name of a release, as seen from their folder.
pub(crate) fn same(config: &str, data: &str, out: &str) -> Value {
    let (config_word, out_word) = (argument(config), argument(out));
    let command = format!(
        "lookalike anonymize -c {config_word} -o {out_word}\nlookalike verify {out_word} -c \
         {config_word}\nlookalike report -c {config_word} -o report.html"
    );
    let python = format!(
        "import lookalike as la\n\nconfig = la.Config.read({config:?})\nout = la.anonymize({data:?}, config)\n\
         out.write({out:?})"
    );
    json!({ "command": command, "python": python })
}

/// A word of a shell.
fn argument(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        return text.to_string();
    }
    let safe = if text.starts_with('-') {
        Path::new("./").join(text).display().to_string()
    } else {
        text.into()
    };
    format!("'{}'", safe.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell_are_quoted() {
        let both = same("my data.toml", "my data.csv", "it's.csv");
        let command = both["command"].as_str().unwrap();
        assert!(
            command.starts_with("lookalike anonymize -c 'my data.toml' -o 'it'\\''s.csv'"),
            "{command}"
        );
        assert!(both["python"].as_str().unwrap().contains("la.anonymize(\"my data.csv\", config)"));
    }
}
