//! Flags of `studio`.

use std::path::PathBuf;

use clap::Args;

const ABOUT: &str = "\
The page is served on 127.0.0.1 alone, under a random token that is part of the address: nobody else
can open it. It opens files of one folder only: that of DATA, or the current one. What it saves is the
configuration (TOML) and hierarchy files beside the table, which the other commands read. From another
machine: ssh -L PORT:127.0.0.1:PORT HOST, then open the printed address.";

/// Flags of `studio`.
#[derive(Debug, Args)]
#[command(after_help = ABOUT)]
pub(crate) struct StudioArgs {
    /// Table or configuration to begin with, or a folder to choose from; default: the current folder
    pub(crate) data: Option<PathBuf>,
    /// Port of the page; default: a free one
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Print the address, and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// End when no page was open for so many minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) idle: u64,
}
