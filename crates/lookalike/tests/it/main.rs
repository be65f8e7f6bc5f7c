//! The library from outside: laws over all algorithms, brute force, real tables, and who may use
//! whom.

mod architecture;
mod contract;
mod draws;
mod optimal;
mod oracle;
mod papers;
mod query;
mod real;
mod support;
