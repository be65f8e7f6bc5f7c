//! Requests as JSON: the same keys as in TOML.
//!
//! Somebody may pass a table by mistake, so a message has keys and places, never a value.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::Request;
use crate::error::{Error, Result};

impl Request {
    /// Parses a JSON object with the keys of the TOML configuration. A key that is null is absent.
    ///
    /// # Example
    /// ```
    /// use lookalike::Request;
    ///
    /// let request = Request::from_json(r#"{"k": 5, "columns": {"age": {"role": "quasi"}}}"#)?;
    /// assert_eq!(request, Request::new(5).quasi_identifiers(["age"]));
    ///
    /// let unknown = r#"{"k": 5, "columns": {"age": {"role": "quasi", "wait": 2}}}"#;
    /// let error = Request::from_json(unknown).unwrap_err().to_string();
    /// assert!(error.starts_with("columns.age.wait: unknown field"));
    /// # Ok::<(), lookalike::Error>(())
    /// ```
    ///
    /// # Errors
    /// When it is no JSON, has an unknown key or a key twice, or a version other than 1.
    pub fn from_json(text: &str) -> Result<Request> {
        let keys: BTreeMap<String, IgnoredAny> = serde_json::from_str(text).map_err(|error| {
            let is_object = !error.is_data();
            let why = if is_object { reason(&error) } else { "it is no object".to_string() };
            let (line, column) = (error.line(), error.column());
            let reason =
                format!("this is not a request in JSON: {why} (line {line}, column {column})");
            Error::request("not-json", reason)
        })?;
        if !keys.is_empty() && !keys.keys().any(|key| is_key(key)) {
            return Err(Error::request(
                "not-json",
                "this is not a request in JSON: none of its keys is a key of a request, such as k \
                 or columns",
            ));
        }
        let request: Request = serde_json::from_str(text).map_err(|error| {
            let path = key_path(text, &error);
            let (line, column) = (error.line(), error.column());
            let why = reason(&error);
            // One line is the text of a program, in which a person finds no column.
            let place = match text.contains('\n') {
                true => format!(" (line {line}, column {column})"),
                false => String::new(),
            };
            let reason = format!("{path}{place}: {why}");
            Error::request("bad-request", reason)
        })?;
        request.of_known_version()
    }

    /// The request as JSON: [`Request::from_json`] gives the same request.
    ///
    /// # Errors
    /// As [`Request::to_toml`].
    pub fn to_json(&self) -> Result<String> {
        self.check_conflicts()?;
        serde_json::to_string_pretty(self).map_err(super::not_written)
    }
}

/// True for a key of a request.
fn is_key(key: &str) -> bool {
    let alone = serde_json::json!({ key: null });
    match serde_json::from_value::<Request>(alone) {
        Ok(_) => true,
        Err(error) => !error.to_string().starts_with("unknown field"),
    }
}

/// What is wrong, without the value that is at fault and without its place.
fn reason(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    // "invalid type: string \"Bob\", expected u64", "unknown variant `Bob`, expected `quasi`".
    for (begin, short) in [
        ("invalid type: ", "invalid type"),
        ("invalid value: ", "invalid value"),
        ("invalid length ", "invalid length"),
        ("unknown variant ", "unknown name"),
        ("unknown field ", "unknown field"),
    ] {
        if said.starts_with(begin) {
            let said = super::plain_types(said);
            let expected = said.rfind(", expected ").map_or("", |at| &said[at..]);
            return format!("{short}{expected}");
        }
    }
    said.to_string()
}

/// The path of the key at which an error was found: `columns.age.weight`, `rules[0].k`.
fn key_path(text: &str, error: &serde_json::Error) -> String {
    // Some errors are found when the end of the object comes into sight.
    let read = &text[..offset(text, error)];
    let mut path = path_at(read.strip_suffix('}').unwrap_or(read));
    // A lacking key is not the latest one.
    if error.to_string().starts_with("missing field") {
        path.pop();
    }
    match path.concat().trim_start_matches('.') {
        "" => "the request".to_string(),
        path => path.to_string(),
    }
}

/// The byte at which an error was found.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (before..=(before + error.column()).min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// An object or a list that is open, and the place in it.
enum OpenValue {
    /// The latest key, and whether the next text is a key.
    Object { key: String, is_key_next: bool },
    /// The number of the element, from 0.
    List(usize),
}

/// The steps from the top to the latest key in the beginning of a JSON text.
fn path_at(text: &str) -> Vec<String> {
    let mut open: Vec<OpenValue> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        at += 1;
        match (byte, open.last_mut()) {
            (b'{', _) => open.push(OpenValue::Object { key: String::new(), is_key_next: true }),
            (b'[', _) => open.push(OpenValue::List(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(OpenValue::List(element))) => *element += 1,
            (b',', Some(OpenValue::Object { is_key_next, .. })) => *is_key_next = true,
            (b'"', within) => {
                let end = at + string_length(&text.as_bytes()[at..]);
                if let Some(OpenValue::Object { key, is_key_next: next @ true }) = within {
                    *next = false;
                    *key = serde_json::from_str(&text[at - 1..end]).unwrap_or_default();
                }
                at = end;
            }
            _ => {}
        }
    }
    let step = |level: OpenValue| match level {
        OpenValue::List(element) => format!("[{element}]"),
        OpenValue::Object { key, .. } => {
            let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let is_bare = !key.is_empty() && key.chars().all(is_plain);
            if is_bare { format!(".{key}") } else { format!(".{key:?}") }
        }
    };
    open.into_iter().map(step).collect()
}

/// The length of a string behind its first quote, with the last quote.
fn string_length(bytes: &[u8]) -> usize {
    let mut is_escaped = false;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}
