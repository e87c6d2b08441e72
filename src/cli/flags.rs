//! The meaning of kubectl's delete flags.

use crate::operations::{OperationError, usage};

use super::args::GraceArgs;

/// The grace period that kubectl derives from its flags (R1.41); none uses each pod's own.
///
/// # Errors
/// Contradictory flags.
pub(super) fn grace_period(args: &GraceArgs) -> Result<Option<i64>, OperationError> {
    if args.now && args.grace_period >= 0 {
        return usage("--now and --grace-period contradict each other: use one of them");
    }
    if args.force && (args.grace_period > 0 || args.now) {
        return usage("--force means no grace period: it cannot be used with --now or a --grace-period above 0");
    }
    Ok(match (args.force, args.now, args.grace_period) {
        (true, ..) => Some(0),
        (_, true, _) => Some(1),
        // Without --force, kubectl turns 0 into 1.
        (_, _, 0) => Some(1),
        (_, _, seconds) if seconds > 0 => Some(seconds),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// kubectl flag: `--grace-period`, `--now`, `--force` | same
    #[test]
    fn grace_flags_mean_what_they_mean_in_kubectl() {
        let grace = |grace_period, now, force| grace_period_of(grace_period, now, force).map_err(|_| ());
        fn grace_period_of(grace_period: i64, now: bool, force: bool) -> Result<Option<i64>, OperationError> {
            super::grace_period(&GraceArgs { grace_period, now, force })
        }
        assert_eq!(grace(-1, false, false), Ok(None));
        assert_eq!(grace(0, false, false), Ok(Some(1)));
        assert_eq!(grace(7, false, false), Ok(Some(7)));
        assert_eq!(grace(-1, true, false), Ok(Some(1)));
        assert_eq!(grace(-1, false, true), Ok(Some(0)));
        assert_eq!(grace(0, false, true), Ok(Some(0)));
        assert_eq!(grace(7, false, true), Err(()));
        assert_eq!(grace(7, true, false), Err(()));
        assert_eq!(grace(-1, true, true), Err(()));
    }
}
