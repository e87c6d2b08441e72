//! Repeats a simulation until no reads are missing.

/// The limit on rounds: each may reveal another level of owners.
pub const ROUNDS: usize = 32;

/// Simulates, lets `learn` read what the result lacks, and simulates again while that brings anything new, at most
/// `rounds` times.
///
/// # Errors
/// The first error of either.
pub fn complete<S: ?Sized, T, E>(
    rounds: usize,
    state: &mut S,
    mut simulate: impl FnMut(&mut S) -> Result<T, E>,
    mut learn: impl FnMut(&mut S, &T) -> Result<bool, E>,
) -> Result<T, E> {
    for _ in 0..rounds {
        let result = simulate(state)?;
        if !learn(state, &result)? {
            return Ok(result);
        }
    }
    simulate(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often it simulates if `to_learn` rounds of reads bring something new.
    fn simulations(rounds: usize, to_learn: usize) -> usize {
        let mut simulated = 0;
        let mut left = to_learn;
        let result = complete(
            rounds,
            &mut left,
            |left| {
                simulated += 1;
                Ok::<usize, ()>(*left)
            },
            |left, seen| {
                assert_eq!(left, seen, "what was learnt was simulated");
                let news = *left > 0;
                *left = left.saturating_sub(1);
                Ok(news)
            },
        );
        assert_eq!(result, Ok(to_learn.saturating_sub(rounds)));
        simulated
    }

    #[test]
    fn it_ends_when_nothing_is_missing_or_after_the_last_round() {
        assert_eq!(simulations(32, 0), 1);
        assert_eq!(simulations(32, 3), 4);
        assert_eq!(simulations(4, 100), 5);
    }

    #[test]
    fn errors_end_it() {
        assert_eq!(complete(3, &mut (), |()| Err::<(), _>("simulate"), |(), ()| Ok(true)), Err("simulate"));
        assert_eq!(complete(3, &mut (), |()| Ok(()), |(), ()| Err("learn")), Err("learn"));
    }
}
