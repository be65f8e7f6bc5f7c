//! Runs that ended, a small JSON file each, so that a stopped command goes on where it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lookalike::table::{Access, Existing, write_text};
use lookalike::{Error, Result};
use serde_json::{Value, json};

use crate::data::Hash;

/// The measurements of a run, by name: `ncp`, `seconds`.
pub(crate) type RunNumbers = BTreeMap<String, f64>;

/// The folder of the runs.
#[derive(Debug)]
pub(crate) struct Store(PathBuf);

impl Store {
    /// Makes the folder if there is none.
    pub(crate) fn new(folder: &Path) -> Result<Store> {
        std::fs::create_dir_all(folder).map_err(|source| Error::io(folder, source))?;
        Ok(Store(folder.to_path_buf()))
    }

    /// The measurements under this key; none when there are none or the file is damaged.
    pub(crate) fn get(&self, key: &str) -> Option<RunNumbers> {
        let text = std::fs::read_to_string(self.file(key)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        if value["key"].as_str()? != key {
            return None;
        }
        let numbers = value["numbers"]
            .as_object()?
            .iter()
            .map(|(name, number)| Some((name.clone(), number.as_f64()?)));
        numbers.collect()
    }

    /// Keeps what was measured.
    pub(crate) fn put(&self, key: &str, numbers: &RunNumbers) -> Result<()> {
        write_text(
            &self.file(key),
            Existing::Overwrite,
            Access::Usual,
            &format!("{:#}\n", json!({ "key": key, "numbers": numbers })),
        )
    }

    fn file(&self, key: &str) -> PathBuf {
        let mut hash = Hash::default();
        hash.add(key.as_bytes());
        self.0.join(format!("{}.json", hash.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_got_and_what_is_damaged_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path()).unwrap();
        let numbers =
            RunNumbers::from([("ncp".to_string(), 0.1 + 0.2), ("seconds".to_string(), 3.0)]);
        store.put("one", &numbers).unwrap();
        assert_eq!((store.get("one"), store.get("other")), (Some(numbers.clone()), None));
        let file = store.file("one");
        let text = std::fs::read_to_string(&file).unwrap();
        for damaged in [
            &text[..text.len() / 2],
            "",
            "{}",
            &text.replace("one", "two"),
            &text.replace("3.0", "\"x\""),
        ] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(store.get("one"), None, "{damaged}");
        }
        store.put("one", &numbers).unwrap();
        assert_eq!(store.get("one"), Some(numbers));
    }
}
