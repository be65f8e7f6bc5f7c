//! Identifiers that are published as keyed hashes: one for each row, in the form of a hash, and the
//! hash of the source's identifier where the key is known.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::request::{HashSecret, Request};
use crate::table::Table;

/// The first half of HMAC-SHA-256, as hexadecimal digits.
pub(super) fn hash(secret: &HashSecret, text: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).expect("a key of any length");
    mac.update(text.as_bytes());
    let bytes = mac.finalize().into_bytes();
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Columns of hashes with other cells than hashes, or with one hash in two rows; a sentence each.
pub(super) fn leaks(release: &Table, request: &Request) -> Vec<String> {
    let mut leaks = Vec::new();
    for (name, _) in request.columns.iter().filter(|(_, line)| line.hash) {
        let Some(coded) = release.column(name).and_then(|column| column.coded.as_ref()) else {
            continue;
        };
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = |text: &String| text.len() == 32 && text.bytes().all(is_hex);
        if !coded.values().iter().flatten().all(is_hash) {
            leaks.push(format!("column `{name}` has cells that are no hashes of its identifiers"));
        }
        let missing = coded.values().iter().position(Option::is_none);
        let is_present = |code: &u32| Some(*code as usize) != missing;
        let present = coded.codes().iter().filter(is_present).count();
        if present > coded.values().iter().flatten().count() {
            leaks
                .push(format!("column `{name}` has one hash in several rows, which connects them"));
        }
    }
    leaks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_hmac_sha_256() {
        // Test case 2 of RFC 4231.
        let secret = HashSecret::new(b"Jefe".to_vec());
        let hash = hash(&secret, "what do ya want for nothing?");
        assert_eq!(hash, "5bdcc146bf60754e6a042426089575c7");
    }

    #[test]
    fn other_texts_and_hashes_of_several_rows_are_leaks() {
        let request = Request::parse(
            "k = 1\n[columns]\nage = { role = 'quasi' }\nid = { role = 'identifier', hash = true }",
        )
        .unwrap();
        let of = |one: &str, other: &str| {
            leaks(
                &crate::testing::table(&format!("age,id\n30,{one}\n30,{other}\n30,\n30,\n")),
                &request,
            )
        };
        let (one, other) = ("0123456789abcdef0123456789abcdef", "f123456789abcdef0123456789abcdef");
        assert!(of(one, other).is_empty(), "{:?}", of(one, other));
        assert_eq!(of(one, one).len(), 1);
        assert_eq!(of(one, "P-17").len(), 1);
        assert_eq!(of(one, &other.to_uppercase()).len(), 1);
    }
}
