//! Random numbers, of two kinds. Both mean the same for ever: on every machine, in every version.
//!
//! [`Rng`] is quick and serves the searches and made-up tables: xoshiro256**, its state filled by
//! splitmix64. From some of its numbers the others can be computed.
//!
//! `Draws` decides which rows of equal ones go where and which of them are suppressed. The release
//! discloses the outcome, so the draws must be unpredictable: ChaCha20 under a [`Key`] of 256 bits
//! from the system, or from a seed to repeat a run.
//!
//! # Reference
//! Blackman, Vigna: Scrambled Linear Pseudorandom Number Generators, ACM TOMS 2021. Steele, Lea,
//! Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014. Lemire: Fast Random Integer
//! Generation in an Interval, ACM TOMACS 2019. Bernstein: ChaCha, a variant of Salsa20, SASC 2008.

use std::fmt;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng};

/// The state of a generator.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of splitmix64: every bit of a 64-bit counter changes every bit of the output.
fn splitmix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*counter ^ (*counter >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Rng {
        let mut counter = seed;
        Rng { state: std::array::from_fn(|_| splitmix(&mut counter)) }
    }

    /// One of the seed's 2^64 streams, such as one for each row; streams are independent of each
    /// other.
    pub fn at(seed: u64, stream: u64) -> Rng {
        // Mixed twice: seeds and streams that differ by little must not begin with overlapping
        // counters.
        let mut counter = seed;
        let mut start = splitmix(&mut counter) ^ stream;
        Rng::new(splitmix(&mut start))
    }

    /// Sixty-four random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// A number from 0 to `n - 1`, each equally likely. Panics if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        below(n, || self.next_u64())
    }

    /// A place in a list of `n`, each equally likely. Panics if `n` is 0.
    #[inline]
    pub fn place(&mut self, n: usize) -> usize {
        usize::try_from(self.below(n as u64)).expect("below a usize")
    }

    /// A number from 0 up to but not including 1.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The number from 0 up to but not including 1 that a seed has for each stream, at the cost of
    /// one step.
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    pub fn unit_of(seed: u64, stream: u64) -> f64 {
        let mut counter = seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (splitmix(&mut counter) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Puts the items in random order, every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        shuffle(items, |n| self.below(n));
    }
}

/// The secret key of all draws. Anyone who has it can repeat the draws, so it is never printed.
#[derive(Clone, Copy)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

impl Key {
    /// The key of a seed, or a new secret key without one.
    pub fn of(seed: Option<u64>) -> Key {
        seed.map_or_else(Key::from_system, Key::from_seed)
    }

    /// A new secret key. Panics where the system has no random numbers.
    pub fn from_system() -> Key {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the system gives random numbers");
        Key(bytes)
    }

    /// The key of a seed, to repeat a run: as secret as the seed.
    pub fn from_seed(seed: u64) -> Key {
        let mut bytes = *b"12345678 lookalike draws, form 1";
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Key(bytes)
    }

    /// One of the key's 2^64 streams of draws; no stream says anything about another.
    pub(crate) fn draws(self, stream: u64) -> Draws {
        let mut generator = ChaCha20Rng::from_seed(self.0);
        generator.set_stream(stream);
        Draws(generator)
    }
}

// Streams of draws with a purpose of their own: dealing rows to classes, choosing the rows of
// mandatory suppression, numbering tuples, suppressing. Tasks of a search take streams by their
// seeds, which are random.
pub(crate) const DEALING: u64 = 0;
pub(crate) const MANDATORY: u64 = 1;
pub(crate) const NUMBERING: u64 = 2;
pub(crate) const SUPPRESSING: u64 = 3;
pub(crate) const PSEUDONYMS: u64 = 4;
pub(crate) const HASHES: u64 = 5;

/// Random numbers of cryptographic strength.
#[derive(Debug)]
pub(crate) struct Draws(ChaCha20Rng);

impl Draws {
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `n - 1`, each equally likely. Panics if `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        below(n, || self.next_u64())
    }

    /// Puts the items in random order, every order equally likely.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        shuffle(items, |n| below(n, || self.next_u64()));
    }
}

/// A number from 0 to `n - 1`, each equally likely, from random bits.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "the product's two halves are wanted one by one"
)]
fn below(n: u64, mut bits: impl FnMut() -> u64) -> u64 {
    assert!(n > 0, "there is no number below 0");
    // The high half of a product with n; the few draws that would favour some numbers are thrown
    // away.
    loop {
        let product = u128::from(bits()) * u128::from(n);
        let low = product as u64;
        // The remainder is below n, so the first test mostly saves the division.
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 64) as u64;
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a number up to an index is an index")]
fn shuffle<T>(items: &mut [T], mut below: impl FnMut(u64) -> u64) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(i as u64 + 1) as usize);
    }
}

/// A seed from the system's randomness. Panics where the system has no random numbers.
pub fn seed_from_system() -> u64 {
    getrandom::u64().expect("the system gives random numbers")
}

/// A number from 0 to `n - 1` straight from the system's randomness, each equally likely and
/// unpredictable. Panics if `n` is 0, and where the system has no random numbers.
pub fn below_from_system(n: u64) -> u64 {
    below(n, seed_from_system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_algorithms_give_the_published_outputs() {
        let mut counter = 1_234_567;
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        assert_eq!(std::array::from_fn(|_| splitmix(&mut counter)), published);
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let published = [
            11_520,
            0,
            1_509_978_240,
            1_215_971_899_390_074_240,
            1_216_172_134_540_287_360,
            607_988_272_756_665_600,
        ];
        assert_eq!(std::array::from_fn(|_| rng.next_u64()), published);
    }

    #[test]
    fn numbers_from_the_system_are_below_their_bound_and_all_of_them_come() {
        let mut seen = [0_u32; 7];
        (0..7_000).for_each(|_| seen[usize::try_from(below_from_system(7)).unwrap()] += 1);
        assert!(seen.iter().all(|&times| (700..1_300).contains(&times)), "{seen:?}");
        assert_eq!(below_from_system(1), 0);
        assert!((0..100).map(|_| below_from_system(u64::MAX)).any(|draw| draw > u64::MAX / 2));
    }

    #[test]
    fn seeds_mean_the_same_for_ever() {
        let first = |mut rng: Rng| [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        assert_eq!(
            first(Rng::new(0)),
            [0x99ec_5f36_cb75_f2b4, 0xbf6e_1f78_4956_452a, 0x1a5f_849d_4933_e6e0]
        );
        assert_eq!(
            first(Rng::at(7, 3)),
            [0x8056_8daa_a2ae_92db, 0x3bd7_dfdf_1447_d9e7, 0x0b0e_e703_f039_d915]
        );
        let mut rng = Rng::new(42);
        let dice: Vec<u64> = (0..10).map(|_| rng.below(6)).collect();
        assert_eq!(dice, [0, 2, 4, 5, 5, 4, 4, 5, 4, 3]);
        let mut letters = *b"abcdefgh";
        rng.shuffle(&mut letters);
        assert_eq!(&letters, b"ahdgbecf");
        assert_eq!(rng.unit().to_bits(), 0x3feb_3e96_6a9d_8708);
    }

    #[test]
    fn seeds_and_streams_next_to_each_other_do_not_agree() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            for stream in 0..50 {
                let mut rng = Rng::at(seed, stream);
                assert!(
                    (0..8).all(|_| seen.insert(rng.next_u64())),
                    "seed {seed}, stream {stream} repeats another"
                );
            }
        }
    }

    #[test]
    fn below_is_even_also_where_n_does_not_divide_the_range() {
        let mut rng = Rng::new(1);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(rng.below(7)).unwrap()] += 1;
        }
        assert!(counts.iter().all(|&n| (9_600..10_400).contains(&n)), "{counts:?}");
        // With n two thirds of 2^64, three draws meet two numbers: if none were thrown away, evens
        // would be twice as common.
        let n = (u64::MAX / 3) * 2;
        let evens = (0..30_000).filter(|_| rng.below(n).is_multiple_of(2)).count();
        assert!((14_500..15_500).contains(&evens), "{evens}");
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn units_lie_in_the_half_open_interval_around_a_half() {
        let mut rng = Rng::new(9);
        let draws: Vec<f64> = (0..10_000).map(|_| rng.unit()).collect();
        assert!(draws.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = draws.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn shuffling_gives_every_order_equally_often() {
        let mut rng = Rng::new(5);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [1, 2, 3];
            rng.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }

    #[test]
    fn the_system_gives_other_seeds_and_keys_each_time() {
        assert_ne!(seed_from_system(), seed_from_system());
        assert_ne!(Key::from_system().0, Key::from_system().0);
        assert_eq!(format!("{:?}", Key::from_seed(7)), "Key(secret)");
    }

    #[test]
    fn draws_are_those_of_chacha20_and_streams_differ() {
        // The keystream of an all-zero key, from RFC 8439, appendix A.1, test vector 1.
        assert_eq!(
            Key([0; 32]).draws(0).next_u64(),
            u64::from_le_bytes([0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90])
        );
        let first = |seed: u64, stream: u64| Key::from_seed(seed).draws(stream).next_u64();
        let all: std::collections::BTreeSet<u64> =
            (0..50).flat_map(|seed| (0..50).map(move |at| first(seed, at))).collect();
        assert_eq!(all.len(), 2_500);
        assert_eq!(first(7, 3), 489_072_339_836_765_002, "a seed means the same for ever");
    }
}
