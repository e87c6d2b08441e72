//! Guesses what a dump doesn't contain, by Kubernetes' own rules: plurals, and which version is preferred.

use std::cmp::Ordering;

/// The plural of a kind, by apimachinery's `UnsafeGuessKindToResource`.
pub(super) fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with("endpoints") {
        return singular;
    }
    match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if singular.ends_with('s') => format!("{singular}es"),
        None => format!("{singular}s"),
    }
}

/// Compares versions by Kubernetes' order of preference (`CompareKubeAwareVersionStrings`): stable, beta, alpha, then
/// the higher number first; other names last, alphabetically.
pub(crate) fn by_preference(a: &str, b: &str) -> Ordering {
    match (stability(a), stability(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stage (stable 2, beta 1, alpha 0), major and minor number of `v1`, `v2beta1`.
fn stability(version: &str) -> Option<(u8, u64, u64)> {
    let numbers = version.strip_prefix('v')?;
    let number = |text: &str| if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None };
    for (word, stage) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = numbers.split_once(word) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((2, number(numbers)?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_guessed_as_apimachinery_does() {
        let cases = [
            ("Pod", "pods"),
            ("Ingress", "ingresses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Endpoints", "endpoints"),
        ];
        for (kind, expected) in cases.into_iter().chain([("Gateway", "gatewaies"), ("Bus", "buses"), ("Y", "ies")]) {
            assert_eq!(plural(kind), expected);
        }
    }

    #[test]
    fn versions_are_preferred_as_apimachinery_does() {
        let mut versions =
            ["foo10", "v3alpha1", "v1", "v11alpha2", "v10", "foo1", "v2", "v10beta3", "v3beta1", "v12alpha1", "v1x"];
        versions.sort_by(|a, b| by_preference(a, b));
        let expected =
            ["v10", "v2", "v1", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "v3alpha1", "foo1", "foo10", "v1x"];
        assert_eq!(versions, expected);
        assert_eq!(stability("v99999999999999999999"), None);
        assert_eq!(stability("v+1"), None);
    }
}
