//! The tuned numbers of the local searches: sizes, shares and factors that no paper and no rule
//! fixes. They change how long a search takes and how much a release loses, never whether a release
//! satisfies its rules.
//!
//! The constants of `bound`, `boxes` and `global` stand in their own files. So do numbers that are
//! no choice between quality and time: numerical tolerances, and how often a loop asks for the
//! time.
//!
//! `bench/tune FIELD a,b,c` runs `lookalike anonymize --tune FIELD=a ...` on the tables of the
//! benches and prints loss and time for each value. A field that says "speed only" does not change
//! the release of a search that ends by itself or after `--steps`.

/// The type of a field: `share` and `factor` are numbers with a range, the others are counts.
macro_rules! field_type {
    (share) => {
        f64
    };
    (factor) => {
        f64
    };
    ($count:ident) => {
        $count
    };
}

/// A number as the value of a field, or why it cannot be one.
macro_rules! field_value {
    (share, $name:expr, $value:expr) => {
        share($name, $value)?
    };
    (factor, $name:expr, $value:expr) => {
        factor($name, $value)?
    };
    ($count:ident, $name:expr, $value:expr) => {
        $count::try_from(count($name, $value)?).map_err(|_| format!("{} is too large", $name))?
    };
}

/// The value of a field on tiny tables: its own, or the one that ships.
macro_rules! tiny_value {
    ($ships:expr) => {
        $ships
    };
    ($ships:expr, $tiny:expr) => {
        $tiny
    };
}

/// Makes the struct, its two sets of values and the access by name out of one list.
macro_rules! tuning {
    ($($(#[$doc:meta])* $name:ident: $kind:ident = $ships:expr $(, tiny $tiny:expr)?;)*) => {
        /// The numbers that tune local searches. The default is what ships.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Tuning {
            $($(#[$doc])* pub $name: field_type!($kind),)*
        }

        impl Default for Tuning {
            fn default() -> Tuning {
                Tuning { $($name: $ships,)* }
            }
        }

        impl Tuning {
            /// The names of all fields.
            pub const NAMES: &[&str] = &[$(stringify!($name),)*];

            /// Numbers so small that a table of some dozen rows takes the paths of a large one:
            /// several batches, several cells, work in parallel. For tests.
            pub const fn tiny() -> Tuning {
                Tuning { $($name: tiny_value!($ships $(, $tiny)?),)* }
            }

            /// The value of a field by its name; none when there is no such field.
            pub fn get(&self, name: &str) -> Option<f64> {
                $(if name == stringify!($name) {
                    return Some(self.$name as f64);
                })*
                None
            }

            /// Changes a field by its name.
            ///
            /// # Errors
            /// The names of all fields when there is no such field; the range of the field when the
            /// value lies outside.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
                $(if name == stringify!($name) {
                    self.$name = field_value!($kind, name, value);
                    return Ok(());
                })*
                Err(format!(
                    "there is no tuned number `{name}`; there are {}",
                    Tuning::NAMES.join(", ")
                ))
            }
        }
    };
}

tuning! {
    // auto, cells, stages

    /// Tuples. Up to so many, `auto` tries every start on the whole table; a larger table is
    /// solved in cells. More: less loss on tables of that size, and time that grows faster than
    /// the table. `bench/tune small_tuples 10000,30000,100000`
    small_tuples: usize = 30_000, tiny 60;
    /// Share of the time for the starts of `auto` on a small table; the rest is for refinement. They
    /// mostly end sooner. `bench/tune starts_share 0.3,0.5,0.8`
    starts_share: share = 0.8;
    /// The same on a large table, where a better start gains more than refinement does.
    /// `bench/tune large_starts_share 0.5,0.8,0.9`
    large_starts_share: share = 0.8;
    /// Tuples. A cell of a large table has at most so many. More: less is lost at the borders of
    /// cells, and a cell takes longer. On acs2024 (k = 10, 20,000 steps, no time limit) 10,000 lost
    /// 680,569 and 100,000 lost 671,560; but when time is short, large cells are not done in time and
    /// fall back to `mondrian`: 1,355,512 and 1,439,483 (lab notes).
    /// `bench/tune cell_tuples 10000,30000,100000`
    cell_tuples: usize = 10_000, tiny 20;
    /// Cells. A set of more than so many full cells is cut level by level, a smaller one to its
    /// end by one thread. Speed only. `bench/tune cell_levels 2,4,8`
    cell_levels: usize = 4;
    /// Share of the time for each local algorithm that `auto` runs on the whole table under rules on
    /// sensitive values. `bench/tune rules_share 0.03,0.1`
    rules_share: share = 0.1;
    /// Tries of `cluster` for each cut when `auto` calls it; 15 as in its paper. More: less loss,
    /// longer. `bench/tune cluster_tries 5,15,30`
    cluster_tries: u32 = 15;
    /// Share of the time for each of the other algorithms that go through all stages before `auto`
    /// does, when a request has rules on several column sets. `bench/tune staged_share 0.05,0.1`
    staged_share: share = 0.1;
    /// Rows. A group takes at most k rows from a donor, or so many if k is less: under rules on
    /// shares it could take hundreds. More: fewer merges, longer.
    /// `bench/tune longest_transfer 8,16,32`
    longest_transfer: u64 = 16, tiny 3;

    // suppress

    /// Share of the time for the search where rows may be suppressed after it.
    /// `bench/tune suppress_search_share 0.8,0.9,0.95`
    suppress_search_share: share = 0.9;
    /// Tuples. A class of more gives up no row: its box hardly depends on a few.
    /// `bench/tune suppress_tuples 200,1000,5000`
    suppress_tuples: usize = 1000;
    /// Tuples. A class of more is not dissolved. `bench/tune dissolve_tuples 20,100,500`
    dissolve_tuples: usize = 100;

    // mondrian

    /// Pieces. Up to so many a set is cut to its end by one thread. Speed only.
    /// `bench/tune mondrian_parallel 1024,4096,16384`
    mondrian_parallel: usize = 4096, tiny 4;
    /// Pieces. A set of more is measured and cut by several threads. Speed only.
    /// `bench/tune mondrian_large 32768,131072`
    mondrian_large: usize = 1 << 17, tiny 8;
    /// Codes a piece. An attribute with fewer than so many codes a piece, and
    /// `mondrian_count_least` more, is counted code by code, a wider one is sorted. Speed only.
    /// `bench/tune mondrian_count 2,4,8`
    mondrian_count: usize = 4;
    /// Codes. See `mondrian_count`. Speed only. `bench/tune mondrian_count_least 16,64,256`
    mondrian_count_least: usize = 64;

    // cluster

    /// Pieces. Up to so many a set is cut to its end by one thread. Speed only.
    /// `bench/tune cluster_parallel 1024,4096,16384`
    cluster_parallel: usize = 4096, tiny 4;
    /// When the groups of a deal break a rule, one in so many groups less is tried. More: more
    /// groups in the end, and more tries. `bench/tune deal_fewer 4,8,16`
    deal_fewer: usize = 8;

    // top_down

    /// Pieces. Up to so many a set is cut to its end by one thread. Speed only.
    /// `bench/tune top_down_parallel 1024,2048,8192`
    top_down_parallel: usize = 2048, tiny 4;
    /// Under rules on sensitive values: from so many rows the search for two rows far apart is
    /// started before a set is left whole. More: smaller classes, longer.
    /// `bench/tune top_down_tries 1,4,8`
    top_down_tries: usize = 4;
    /// Undersized groups that look for partners and donors at the same time. Speed only.
    /// `bench/tune adjust_batch 16,64,256`
    adjust_batch: usize = 64, tiny 5;
    /// Groups. After so many adjustments the tree over the groups is built again. Speed only.
    /// `bench/tune adjust_rebuild 5000,20000`
    adjust_rebuild: usize = 20_000;
    /// Or after one in so many of the undersized groups, if those are fewer. Speed only.
    /// `bench/tune adjust_rebuild_part 2,4,8`
    adjust_rebuild_part: usize = 4;
    /// Groups. But after no fewer adjustments than this. Speed only.
    /// `bench/tune adjust_rebuild_least 16,64,256`
    adjust_rebuild_least: usize = 64;

    // bottom_up

    /// Undersized groups that look for partners at the same time. Speed only.
    /// `bench/tune bottom_up_batch 16,64,256`
    bottom_up_batch: usize = 64, tiny 7;
    /// Groups that a thread puts together at a time after a round. Speed only.
    /// `bench/tune bottom_up_chunk 256,1024`
    bottom_up_chunk: usize = 1024, tiny 5;
    /// Rounds beyond log2(k), which k alone takes. From then on an undersized group goes on merging
    /// in the same round: under rules on shares a few groups may have to merge with hundreds, and a
    /// round takes time for the whole table. `bench/tune bottom_up_late 2,4,8`
    bottom_up_late: u32 = 4, tiny 1;

    // specialize, ring

    /// Pieces. Up to so many a group is specialized to its end by one thread. Speed only.
    /// `bench/tune specialize_parallel 512,2048,8192`
    specialize_parallel: usize = 2048, tiny 4;
    /// Different rows. A larger class, which only rules on sensitive values leave, goes on its
    /// ring in the order of its codes, not from each row to the nearest. More: tighter boxes,
    /// time that grows with the square. `bench/tune ring_tour 2048,8192`
    ring_tour: usize = 8192;
    /// A window that breaks a rule grows by one in so many of its places. More: shorter windows,
    /// more tries. `bench/tune ring_window_part 2,4,8`
    ring_window_part: usize = 4;

    // peel

    /// Patterns. Up to so many all are listed, beyond they are drawn at random. More: less loss on
    /// tables with many columns, longer. `bench/tune peel_listed 5000,25000,100000`
    peel_listed: usize = 25_000, tiny 200;
    /// Patterns drawn in a round. `bench/tune peel_drawn 500,2000,8000`
    peel_drawn: usize = 2000, tiny 20;
    /// Tuples among which a drawn pattern looks for the neighbours of its tuple.
    /// `bench/tune peel_sample 1000,3000,10000`
    peel_sample: usize = 3000, tiny 50;
    /// Drawing ends when a round takes less than this share of the tuples that are left.
    /// `bench/tune peel_worth 0.01,0.02,0.05`
    peel_worth: share = 0.02;
    /// Share of the time of `peel` for patterns; the tuples left then go into cells.
    /// `bench/tune peel_patterns_share 0.4,0.6,0.8`
    peel_patterns_share: share = 0.6;
    /// How many times the windows on a line are halved: the narrowest is 1/16 of the line. More:
    /// finer patterns, and many more of them. `bench/tune peel_halvings 3,4,5`
    peel_halvings: i32 = 4;
    /// Mean share of a window that a class needs: it scales the estimated loss of windows when
    /// patterns are put in order. `bench/tune peel_window_share 0.5,0.7,0.9`
    peel_window_share: share = 0.7;
    /// Levels of a hierarchy that patterns know, without the values themselves and `*`.
    /// `bench/tune peel_levels 3,6,12`
    peel_levels: usize = 6;
    /// Codes with which each code is compared to find those levels.
    /// `bench/tune peel_neighbours 16,64,256`
    peel_neighbours: usize = 64;
    /// Share of the patterns' logarithm on the attributes that are grouped first; their groups are
    /// kept between patterns. Speed only. `bench/tune peel_first_share 0.4,0.6,0.8`
    peel_first_share: share = 0.6;
    /// Kept groups are made again when the tuples have become fewer by this factor. Speed only.
    /// `bench/tune peel_regroup 2,4`
    peel_regroup: usize = 2;

    // refine

    /// Steps at the same time. More: more threads have work, and more steps want the same classes.
    /// `bench/tune refine_batch 16,32,64`
    refine_batch: usize = 32, tiny 5;
    /// Steps for each class with which the full temperature of a refinement pays; in a run that has
    /// time for fewer it is lower. `bench/tune refine_steps 60,150,300`
    refine_steps: u64 = 150;
    /// Steps. But no fewer than this. `bench/tune refine_least_steps 200,500,2000`
    refine_least_steps: u64 = 500;
    /// The first run of a refinement without a limit of its own has so many times these steps.
    /// `bench/tune refine_longest 1,3,8`
    refine_longest: u64 = 3;
    /// Another run, with twice the steps, follows one that lowered the loss by this share.
    /// `bench/tune refine_worth 0.0005,0.001,0.002`
    refine_worth: share = 1e-3;
    /// Share of the steps that keep the classes and only exchange rows: exchanges alone end where
    /// no exchange helps, rebuilding alone loses more. `bench/tune refine_keep 0.1,0.3,0.5`
    refine_keep: share = 0.3;
    /// Share of the steps with neighbours by the loss of the whole table, not of one row of the
    /// union: 16,341 against 17,652 at k = 10 after four seconds (lab notes).
    /// `bench/tune refine_by_table 0.5,0.7,0.9`
    refine_by_table: share = 0.7;
    /// Share by which the value of each neighbour changes at random.
    /// `bench/tune refine_noise 0.1,0.2,0.4`
    refine_noise: share = 0.2;
    /// Attempts to make better classes of the same neighbours, until one is accepted. More: fewer
    /// searches for neighbours, which take half of a step when k is small.
    /// `bench/tune refine_attempts 1,2,3`
    refine_attempts: u32 = 3;
    /// Temperature at the start: the mean loss of a row, times this, may be lost in a step. It
    /// gains where there is time and nothing in two seconds (lab notes).
    /// `bench/tune refine_temperature 1.5,3,5`
    refine_temperature: factor = 3.0;
    /// Each further run starts at the temperature of the last one divided by this.
    /// `bench/tune refine_cool_by 1.5,2,4`
    refine_cool_by: factor = 2.0;
    /// From this share of a run on the temperature is 0. `bench/tune refine_cooled 0.8,0.9,1`
    refine_cooled: share = 0.9;
    /// Before this share of its time a run does not compare its pace with the clock.
    /// `bench/tune refine_early 0.01,0.02,0.05`
    refine_early: share = 0.02;
    /// A step begins at a class that is drawn for sure when a row of it loses the greatest loss of
    /// a row divided by this, and in proportion when it loses less. `bench/tune refine_draw 1,2,4`
    refine_draw: factor = 2.0;
    /// The greatest loss of a row, divided by this, is added to the loss of each class when it is
    /// drawn, so that no class is out of reach. `bench/tune refine_draw_any 80,160,320`
    refine_draw_any: factor = 160.0;
    /// Draws for each place in a batch, after which any class is taken.
    /// `bench/tune refine_draws 30,60`
    refine_draws: u64 = 60;
    /// Draws for each place in a batch, after which the batch stays smaller.
    /// `bench/tune refine_most_draws 64,128`
    refine_most_draws: u64 = 64;
    /// The tree over the classes is built again after changes of one in so many classes ...
    /// `bench/tune refine_reindex_part 1,2,4`
    refine_reindex_part: usize = 2;
    /// ... and this many changes more. `bench/tune refine_reindex_changes 20,50,200`
    refine_reindex_changes: usize = 50;
    /// Or when so many classes have come that the tree does not know.
    /// `bench/tune refine_reindex_new 10,20,50`
    refine_reindex_new: usize = 20;
    /// Rows. A pool has about this number of rows: neighbours = this / k, in the two limits that
    /// follow. Eight classes of 50 rows were 0.8 % worse than three (lab notes).
    /// `bench/tune pool_rows 15,30,60`
    pool_rows: usize = 30;
    /// Neighbours, at most, when k is large. `bench/tune pool_least 1,2,3`
    pool_least: usize = 2;
    /// Neighbours, at most, when k is small. `bench/tune pool_most 3,5,8`
    pool_most: usize = 5;
    /// Rows. A pool of at most so many may be solved exactly, in time that triples with each row.
    /// `bench/tune exact_rows 8,10,12`
    exact_rows: u64 = 10;
    /// Share of the pools of `exact_rows` rows, or one less, that are solved exactly; smaller ones
    /// always are. `bench/tune exact_share 0.1,0.25,1`
    exact_share: share = 0.25;
    /// Rounds of moves and exchanges over all classes of a pool, at most.
    /// `bench/tune polish_rounds 5,20`
    polish_rounds: u32 = 20;
    /// Share of the rebuildings that shrink classes, not grow them, when classes have few rows.
    /// Growing wins with small k, shrinking with large (lab notes). `bench/tune shrink_few
    /// 0,0.1,0.3`
    shrink_few: share = 0.1;
    /// The same when classes have `shrink_rows` rows or more.
    /// `bench/tune shrink_many 0.3,0.5,0.8`
    shrink_many: share = 0.5;
    /// Rows. Classes of this least size or more take `shrink_many`.
    /// `bench/tune shrink_rows 10,20,40`
    shrink_rows: u64 = 20;
    /// Share by which the loss of a tuple may look larger at random while a class grows, in every
    /// other rebuilding: not always the nearest comes next. `bench/tune grow_noise 0.2,0.5,1`
    grow_noise: share = 0.5;
    /// Share of the gain of a step of shrinking that is random.
    /// `bench/tune shrink_noise 0.2,0.4,0.8`
    shrink_noise: share = 0.4;
    /// One in so many rebuildings makes one class less than there could be: 95 to 98 % of tiny
    /// tables then end in their best partition, without it 93 % (lab notes).
    /// `bench/tune rebuild_fewer 2,4,8`
    rebuild_fewer: u64 = 4;
}

fn count(name: &str, value: f64) -> Result<u32, String> {
    if value < 1.0 || value > f64::from(u32::MAX) || value.fract() != 0.0 || value.is_nan() {
        return Err(format!("{name} is a whole number from 1 on, not {value}"));
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number in the range"
    )]
    Ok(value as u32)
}

fn share(name: &str, value: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{name} is a share from 0 to 1, not {value}"))
    }
}

fn factor(name: &str, value: f64) -> Result<f64, String> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!("{name} is a number from 0 on, not {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_set_by_its_name_and_no_other_changes() {
        assert!(Tuning::NAMES.len() > 60);
        for (at, name) in Tuning::NAMES.iter().enumerate() {
            assert!(!Tuning::NAMES[..at].contains(name));
            let (shipped, mut tuning) = (Tuning::default(), Tuning::default());
            let before = shipped.get(name).unwrap();
            let after = if (before - 1.0).abs() < 1e-12 { 0.5 } else { 1.0 };
            tuning.set(name, after).unwrap();
            assert_eq!(tuning.get(name), Some(after), "{name}");
            for other in Tuning::NAMES.iter().filter(|other| *other != name) {
                assert_eq!(tuning.get(other), shipped.get(other), "{name} and {other}");
            }
            tuning.set(name, before).unwrap();
            assert_eq!(tuning, shipped, "{name}");
            assert!(tuning.set(name, -1.0).is_err() && tuning.set(name, f64::NAN).is_err());
            assert!(tuning.set(name, f64::INFINITY).is_err());
            assert_eq!(tuning, shipped, "{name}");
        }
    }

    #[test]
    fn what_is_no_name_or_out_of_range_is_an_error_that_says_so() {
        let mut tuning = Tuning::default();
        let error = tuning.set("cell", 3.0).unwrap_err();
        assert!(error.contains("`cell`") && error.contains("cell_tuples, cell_levels"), "{error}");
        assert_eq!(tuning.get("cell"), None);
        for (name, value) in
            [("cell_tuples", 0.0), ("cell_tuples", 1.5), ("cell_tuples", 1e10), ("peel_worth", 1.1)]
        {
            let error = tuning.set(name, value).unwrap_err();
            assert!(error.starts_with(name), "{error}");
        }
        assert_eq!(tuning, Tuning::default());
    }

    #[test]
    fn tiny_tables_are_large_for_the_tiny_numbers() {
        let (shipped, tiny) = (Tuning::default(), Tuning::tiny());
        for name in Tuning::NAMES {
            assert!(tiny.get(name).unwrap() <= shipped.get(name).unwrap(), "{name}");
        }
        assert!(tiny.cell_tuples < tiny.small_tuples && tiny.small_tuples < 100);
    }
}
