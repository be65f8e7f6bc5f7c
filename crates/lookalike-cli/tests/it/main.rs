//! The real program in a folder of its own: what it prints, what it writes, how it ends.

mod anonymize;
mod apply;
mod attacked;
mod bad_input;
mod canary;
mod check;
mod compare;
mod counts;
mod demo;
mod help;
mod hierarchy;
mod init;
mod interrupt;
mod messages;
mod person_audit;
mod published;
mod query;
mod report;
mod reproduce;
mod ring;
mod risk;
mod synth;
mod tried;
mod verify;
mod visits;
mod workdir;
