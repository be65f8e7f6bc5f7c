//! Closed sets with a name for every member: the names of the command line and of request files.

/// Gives an enum its `ALL`, `name`, `Display` and `FromStr` from one list of names. The second
/// argument is the noun of the error message: "there is no scheme `x`; there are bhs, ghs, ...".
macro_rules! names {
    ($type:ident, $what:literal, { $($variant:ident => $name:literal),+ $(,)? }) => {
        impl $type {
            #[doc = concat!("Every ", $what, ".")]
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// The name on the command line and in request files.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::error::Error;

            fn from_str(text: &str) -> crate::error::Result<$type> {
                $type::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| {
                    let all = $type::ALL.map($type::name).join(", ");
                    let reason =
                        format!(concat!("there is no ", $what, " `{}`; there are {}"), text, all);
                    crate::error::Error::request("unknown-name", reason)
                })
            }
        }
    };
}

pub(crate) use names;
