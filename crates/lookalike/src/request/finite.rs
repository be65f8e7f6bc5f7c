//! Numbers of a request that are written as text: only finite ones, because JSON has no other.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

type Written<S> = std::result::Result<<S as Serializer>::Ok, <S as Serializer>::Error>;

pub(super) fn one<S: Serializer>(number: &f64, serializer: S) -> Written<S> {
    check::<S>(&[*number])?;
    number.serialize(serializer)
}

pub(super) fn some<S: Serializer>(number: &Option<f64>, serializer: S) -> Written<S> {
    check::<S>(number.as_slice())?;
    number.serialize(serializer)
}

pub(super) fn all<S: Serializer>(numbers: &[f64], serializer: S) -> Written<S> {
    check::<S>(numbers)?;
    numbers.serialize(serializer)
}

fn check<S: Serializer>(numbers: &[f64]) -> std::result::Result<(), S::Error> {
    if numbers.iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(S::Error::custom("a weight, or a number of a hierarchy, is not finite"))
}
