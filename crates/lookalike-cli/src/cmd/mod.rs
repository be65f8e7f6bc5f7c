//! One file for each command.

pub(crate) mod anonymize;
pub(crate) mod apply;
pub(crate) mod beside;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod complete;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod hierarchy;
pub(crate) mod init;
pub(crate) mod legend;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod risk;
pub(crate) mod saved_config;
#[cfg(feature = "studio")]
pub(crate) mod studio;
pub(crate) mod synth;
pub(crate) mod verify;
