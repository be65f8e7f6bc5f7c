//! The library from outside: laws over all algorithms, brute force, real tables, and who may use
//! whom.

mod architecture;
mod categories;
mod center;
mod codebook;
mod contract;
mod draws;
mod errors;
mod nothing_ignored;
mod optimal;
mod oracle;
mod papers;
mod persons;
mod query;
mod real;
mod run;
mod streams;
mod support;
mod table_to_file;
