//! Seeded synthetic tables for demonstrations, tests and benchmarks. Nobody in them exists.
//!
//! Row `i` depends on the seed and on `i` alone: any division into batches, made in any order or in
//! parallel, gives the same table. The values are drawn from integer weights, without
//! floating-point functions whose last digit differs between machines.
//!
//! # Example
//! ```
//! use lookalike::synthetic::{Synthetic, batch, schema};
//!
//! let hospital: Synthetic = "hospital".parse()?;
//! let rows = batch(hospital, 1, 0, 100);
//! assert_eq!((rows.num_rows(), rows.num_columns()), (100, 8));
//! assert_eq!(rows.schema(), schema(hospital));
//! assert_eq!(rows.slice(40, 10), batch(hospital, 1, 40, 10));
//! # Ok::<(), lookalike::Error>(())
//! ```

mod census;
mod grid;
mod hospital;
mod workers;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::names::names;
use crate::rng::Rng;

pub use grid::{PointGrid, grid_batch, grid_schema};

/// The synthetic tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synthetic {
    /// Admissions to a hospital: small, readable, with names and diagnoses.
    Hospital,
    /// Eight quasi-identifiers and an income, with domain sizes, skew and correlations like those
    /// of a census: for benchmarks.
    Census,
    /// Workers in numbers, with the columns and domain sizes of SAL (He et al. 2012): seven
    /// quasi-identifiers and an occupation.
    Sal,
    /// Workers in numbers, with the columns and domain sizes of INCOME (He et al. 2012): eight
    /// quasi-identifiers and an income.
    Income,
    /// Four columns of whole numbers from 1 to 16, uniformly distributed (Xu et al. 2006).
    Uniform,
    /// The same, but normally distributed around the middle with a standard deviation of 1.
    Gaussian,
}

names!(Synthetic, "table", {
    Hospital => "hospital",
    Census => "census",
    Sal => "sal",
    Income => "income",
    Uniform => "uniform",
    Gaussian => "gaussian",
});

impl Synthetic {
    /// The number of rows unless another is requested.
    pub fn default_rows(self) -> u64 {
        match self {
            Synthetic::Hospital => 2_000,
            Synthetic::Census => 100_000,
            Synthetic::Sal => 500_000,
            Synthetic::Income => 600_000,
            Synthetic::Uniform | Synthetic::Gaussian => 10_000,
        }
    }
}

/// The names and types of the columns.
pub fn schema(kind: Synthetic) -> SchemaRef {
    match kind {
        Synthetic::Hospital => hospital::schema(),
        Synthetic::Census => census::schema(),
        Synthetic::Sal => workers::schema(&workers::SAL),
        Synthetic::Income => workers::schema(&workers::INCOME),
        Synthetic::Uniform => grid_schema(&PointGrid::UNIFORM),
        Synthetic::Gaussian => grid_schema(&PointGrid::GAUSSIAN),
    }
}

/// The `rows` rows that begin with row `first_row`, counted from 0.
pub fn batch(kind: Synthetic, seed: u64, first_row: u64, rows: usize) -> RecordBatch {
    match kind {
        Synthetic::Hospital => hospital::batch(seed, first_row, rows),
        Synthetic::Census => census::batch(seed, first_row, rows),
        Synthetic::Sal => workers::batch(&workers::SAL, seed, first_row, rows),
        Synthetic::Income => workers::batch(&workers::INCOME, seed, first_row, rows),
        Synthetic::Uniform => grid_batch(&PointGrid::UNIFORM, seed, first_row, rows),
        Synthetic::Gaussian => grid_batch(&PointGrid::GAUSSIAN, seed, first_row, rows),
    }
}

/// One random generator for each row of a batch.
fn row_generators(seed: u64, first_row: u64, rows: usize) -> impl Iterator<Item = Rng> {
    (first_row..first_row + rows as u64).map(move |row| Rng::at(seed, row))
}

/// Draws places in a list, with probabilities in proportion to their weights, in constant time.
///
/// Every place has one slot of equal size; the rest of a slot that its own place does not fill
/// belongs to one other place. (Walker's alias method, as Vose builds it: IEEE Transactions on
/// Software Engineering 1991.)
struct Pick {
    slots: Vec<AliasSlot>,
}

/// One slot of a [`Pick`].
struct AliasSlot {
    /// Draws below this part of 2^32 give the place itself.
    keep: u64,
    /// All other draws give this place.
    other: usize,
}

impl Pick {
    fn new(weights: &[u64]) -> Pick {
        let n = weights.len() as u64;
        let slot: u64 = weights.iter().sum();
        assert!(0 < slot && slot < 1 << 32 && n < 1 << 16, "the sums below fit in 64 bits");
        let mut left: Vec<u64> = weights.iter().map(|weight| weight * n).collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&i| left[i] < slot);
        let mut slots: Vec<AliasSlot> =
            (0..weights.len()).map(|i| AliasSlot { keep: 1 << 32, other: i }).collect();
        while let (Some(p), Some(&r)) = (poor.pop(), rich.last()) {
            // Rounded up, so that only places of weight 0 can never be drawn.
            slots[p] = AliasSlot { keep: (left[p] << 32).div_ceil(slot), other: r };
            left[r] -= slot - left[p];
            if left[r] < slot {
                poor.extend(rich.pop());
            }
        }
        Pick { slots }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "the place is below the number of slots")]
    fn draw(&self, rng: &mut Rng) -> usize {
        let bits = rng.next_u64();
        let place = (((bits >> 32) * self.slots.len() as u64) >> 32) as usize;
        let slot = &self.slots[place];
        if bits & 0xffff_ffff < slot.keep { place } else { slot.other }
    }
}

/// Weights that fall fast: the r-th is 1/r^2 of the first.
fn falling(n: usize) -> Vec<u64> {
    (1..=n as u64).map(|rank| 1_000_000_000 / (rank * rank)).collect()
}

/// Weights that fall slowly (Zipf): the r-th is 1/r of the first.
fn zipf(n: usize) -> Vec<u64> {
    (1..=n as u64).map(|rank| 100_000_000 / rank).collect()
}

/// The number of ends that are at or below a number.
fn band<T: PartialOrd + Copy>(number: T, ends: &[T]) -> usize {
    ends.iter().filter(|&end| number >= *end).count()
}

/// True with a probability of `percent` percent.
fn chance(rng: &mut Rng, percent: u64) -> bool {
    rng.below(100) < percent
}

#[cfg(test)]
mod tests {
    use arrow_select::concat::concat_batches;

    use super::*;

    #[test]
    fn any_batching_gives_the_same_table() {
        for kind in Synthetic::ALL {
            let whole = batch(kind, 11, 0, 1_000);
            let parts: Vec<RecordBatch> = [(0, 1), (1, 399), (400, 0), (400, 600)]
                .iter()
                .map(|&(first, rows)| batch(kind, 11, first, rows))
                .collect();
            assert_eq!(concat_batches(&schema(kind), &parts).unwrap(), whole, "{kind:?}");
            assert_ne!(batch(kind, 12, 0, 1_000), whole, "{kind:?}");
            assert_eq!(whole.schema(), schema(kind));
        }
    }

    #[test]
    fn seeds_mean_the_same_table_for_ever() {
        let csv = |kind| crate::testing::csv(&batch(kind, 1, 0, 3));
        let census = "age,sex,race,marital,education,birthplace,occupation,workclass,income\n\
                      36,Male,White,Married,Bachelor,USA,BUS01,Private,60000\n\
                      0,Male,White,Single,,USA,,,\n\
                      58,Male,White,Married,College,IND,,,6000\n";
        let hospital = "name,age,zip,sex,marital,admission,diagnosis,ward\n\
                        Hanna W. Penrose,23,53215,female,single,2023-04-29,asthma,North 2\n\
                        Noah D. Colburn,44,53726,male,divorced,2024-06-06,diabetes,North 1\n\
                        Bella T. Ingram,56,54926,female,married,2023-12-07,fracture,South 1\n";
        let sal = "age,gender,education,marital,race,workclass,country,occupation\n\
                   36,1,14,1,1,1,1,3\n54,1,12,1,1,1,1,28\n59,1,14,6,1,3,1,17\n";
        let income = "age,occupation,birthplace,gender,education,race,workclass,marital,income\n\
                      36,30,9,1,14,1,1,1,3800\n54,410,1,1,12,1,1,1,8000\n\
                      59,248,47,1,14,1,3,6,3900\n";
        assert_eq!(csv(Synthetic::Uniform), "a1,a2,a3,a4\n7,15,1,2\n1,11,5,11\n10,14,4,1\n");
        assert_eq!(csv(Synthetic::Gaussian), "a1,a2,a3,a4\n7,10,7,8\n7,9,8,9\n9,9,8,7\n");
        assert_eq!(csv(Synthetic::Sal), sal);
        assert_eq!(csv(Synthetic::Income), income);
        assert_eq!(csv(Synthetic::Census), census);
        assert_eq!(csv(Synthetic::Hospital), hospital);
    }

    #[test]
    fn names_are_found_again() {
        assert!(
            Synthetic::ALL.iter().all(|kind| kind.name().parse::<Synthetic>().unwrap() == *kind)
        );
        assert_eq!(
            "nothing".parse::<Synthetic>().unwrap_err().to_string(),
            "there is no table `nothing`; there are hospital, census, sal, income, uniform, \
             gaussian"
        );
    }

    #[test]
    fn places_are_drawn_as_often_as_their_weights_say() {
        let weights = [0, 1, 50, 9, 40, 0, 900];
        let pick = Pick::new(&weights);
        let mut rng = Rng::new(3);
        let mut counts = [0_u64; 7];
        for _ in 0..100_000 {
            counts[pick.draw(&mut rng)] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            assert!(
                count.abs_diff(weight * 100) <= weight * 10 + u64::from(weight > 0) * 40,
                "{counts:?}"
            );
        }
    }

    #[test]
    fn a_single_weight_is_always_drawn() {
        let pick = Pick::new(&[7]);
        let mut rng = Rng::new(3);
        assert!((0..100).all(|_| pick.draw(&mut rng) == 0));
    }
}
