//! The real program in a folder of its own: what it prints, what it writes, how it ends.

mod anonymize;
mod apply;
mod attacked;
mod attacked_format;
mod attacked_small;
mod bad_input;
mod canary;
mod check;
mod compare;
mod demo;
mod help;
mod hierarchy;
mod init;
mod interrupt;
mod query;
mod report;
mod reproduce;
mod ring;
mod synth;
mod tried;
mod tried_format;
mod verify;
mod workdir;
