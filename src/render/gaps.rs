//! Resources that could not be read, in a few words. With rights in one namespace only, sixty resources share one
//! reason.

use crate::model::{Gap, gaps::each_once};

/// At most this many resources are named for one reason.
const NAMED: usize = 6;
/// At most this many reasons are given.
const REASONS: usize = 4;

/// The line that names the gaps, grouped by reason; `None` if there are no gaps.
pub fn describe(gaps: &[Gap]) -> Option<String> {
    let (objects, lists): (Vec<Gap>, Vec<Gap>) =
        each_once(gaps).into_iter().partition(|gap| gap.forbidden_objects().is_some());
    let lists = by_reason(&lists).map(|lists| format!("Could not list: {lists}. "));
    let objects = by_reason(&objects).map(|objects| format!("Could not get: {objects}. "));
    let all: String = lists.into_iter().chain(objects).collect();
    (!all.is_empty()).then(|| format!("{all}Results that depend on these are marked \"not certain\"."))
}

/// The line that names the resources whose tables the server did not print; `None` if there are none.
pub fn describe_statuses(gaps: &[Gap]) -> Option<String> {
    Some(format!("READY and STATUS could not be read: {}.", by_reason(gaps)?))
}

fn by_reason(gaps: &[Gap]) -> Option<String> {
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for gap in gaps {
        match by_reason.iter_mut().find(|(reason, _)| *reason == gap.reason.as_str()) {
            Some((_, names)) => names.push(gap.place()),
            None => by_reason.push((gap.reason.as_str(), vec![gap.place()])),
        }
    }
    if by_reason.is_empty() {
        return None;
    }
    let reasons: Vec<String> =
        by_reason.iter().take(REASONS).map(|(reason, names)| format!("{} ({reason})", list(names))).collect();
    let untold: usize = by_reason.iter().skip(REASONS).map(|(_, names)| names.len()).sum();
    let rest = if untold == 0 { String::new() } else { format!("; and {untold} more (-o json lists them)") };
    Some(format!("{}{rest}", reasons.join("; ")))
}

fn list(names: &[String]) -> String {
    let named = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED { format!("{named} and {} more", names.len() - NAMED) } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(resource: &str, namespace: Option<&str>, reason: &str) -> Gap {
        Gap { resource: resource.to_owned(), namespace: namespace.map(str::to_owned), reason: reason.into() }
    }

    #[test]
    fn gaps_of_one_reason_are_told_together() {
        assert_eq!(describe(&[]), None);
        let gaps = [
            gap("secrets", None, "forbidden"),
            gap("metrics.k8s.io/v1beta1", None, "503 Service Unavailable"),
            gap("pods", Some("shop"), "forbidden"),
            gap("nodes", None, "n: forbidden"),
            gap("secrets", Some("shop"), "s: forbidden"),
        ];
        assert_eq!(
            describe(&gaps).unwrap(),
            "Could not list: secrets, pods in namespace shop (forbidden); metrics.k8s.io/v1beta1 (503 Service \
             Unavailable). Could not get: nodes (n: forbidden). Results that depend on these are marked \"not \
             certain\"."
        );
    }

    #[test]
    fn many_gaps_are_counted() {
        let many: Vec<Gap> = (0..30).map(|number| gap(&format!("r{number}"), None, "forbidden")).collect();
        assert!(
            describe(&many).unwrap().starts_with("Could not list: r0, r1, r2, r3, r4, r5 and 24 more (forbidden). ")
        );
        let reasons: Vec<Gap> = (0..30).map(|number| gap("pods", None, &format!("error {number}"))).collect();
        assert!(describe(&reasons).unwrap().contains("; pods (error 3); and 26 more (-o json lists them). "));
    }
}
