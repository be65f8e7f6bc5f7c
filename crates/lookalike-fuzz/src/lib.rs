//! Hostile input for every parser: valid texts and files, damaged at random, and the laws that each
//! parser's answer must obey. No parser may panic, and what it accepts must have a meaning.
//!
//! A case is a target, a seed and nothing else: [`case`] makes the same bytes for ever.
//! `src/main.rs` runs any number of them, `tests/few.rs` a few hundred in every check.

mod targets;

use lookalike::rng::Rng;

pub use targets::{TARGETS, Target};

/// The bytes of a case: one of the target's samples, changed here and there, sometimes mixed with
/// another one.
pub fn case(target: &Target, seed: u64) -> Vec<u8> {
    let samples = (target.samples)();
    let mut rng = Rng::at(seed, 0x5eed);
    let mut bytes = samples[rng.place(samples.len())].clone();
    let other = &samples[rng.place(samples.len())];
    // One in eight stays as it is: a valid input must pass.
    for _ in 0..rng.below(8) {
        change(&mut bytes, other, &mut rng);
    }
    bytes
}

/// Bytes with a meaning in at least one of the formats.
const SPECIAL: [&[u8]; 24] = [
    b"\"",
    b"'",
    b",",
    b";",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"*",
    b"{",
    b"}",
    b"[",
    b"]",
    b" .. ",
    b"-",
    b"=1+1",
    b"''=x",
    b"1e999",
    b"-0",
    b"NaN",
    b"9223372036854775808",
    b"2024-02-30",
    b"\xe2\x80\xae",
];

fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let at = if bytes.is_empty() { 0 } else { rng.place(bytes.len()) };
    let upto = |rng: &mut Rng, most: usize| if most == 0 { 0 } else { 1 + rng.place(most.min(64)) };
    match rng.below(9) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [0, 0x7f, 0x80, 0xff, b'"', b'\n'][rng.place(6)];
            }
        }
        2 => bytes.truncate(at),
        3 => {
            let end = at + upto(rng, bytes.len() - at);
            bytes.drain(at..end);
        }
        4 => {
            let end = at + upto(rng, bytes.len() - at);
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        5 => {
            let telling = SPECIAL[rng.place(SPECIAL.len())];
            bytes.splice(at..at, telling.iter().copied());
        }
        6 => {
            let end = at + upto(rng, bytes.len() - at);
            bytes.splice(at..end, SPECIAL[rng.place(SPECIAL.len())].iter().copied());
        }
        7 if !other.is_empty() => {
            let from = rng.place(other.len());
            let to = from + upto(rng, other.len() - from);
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        // A length or an offset in a binary file.
        _ => {
            let value = [0, 1, u32::MAX, i32::MAX as u32, 1 << 16, 255][rng.place(6)].to_le_bytes();
            for (byte, new) in bytes[at..].iter_mut().zip(value) {
                *byte = new;
            }
        }
    }
}
