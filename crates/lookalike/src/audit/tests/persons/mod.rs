//! Persons: tables made by hand, thousands of random ones against plain maps, and every fault that
//! a release, its origins or its pseudonyms can have.

mod by_hand;
mod faults;
mod made;
mod twin;
