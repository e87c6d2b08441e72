//! The first line: the origin of the data.

use gc_core::model::{
    Gap, NOT_IN_THE_DUMP, Origin, Snapshot,
    gaps::{each_once, in_words, names_in_words},
};

use super::escape::visible;

/// `Context prod-eu (api.prod-eu:6443), namespace shop.`, or the dump that was read. `from` names the files, if any.
pub fn header(snapshot: &Snapshot, namespace: Option<&str>, from: &[String]) -> String {
    let origin = origin(snapshot, from);
    match namespace {
        Some(namespace) => visible(&format!("{origin}, namespace {namespace}.")).into_owned(),
        None => visible(&format!("{origin}, all namespaces.")).into_owned(),
    }
}

/// The same before a question, which names its objects: without a namespace, only the cluster.
pub fn place(snapshot: &Snapshot, namespace: Option<&str>) -> String {
    match namespace {
        Some(_) => header(snapshot, namespace, &[]),
        None => visible(&format!("{}.", origin(snapshot, &[]))).into_owned(),
    }
}

/// `Context prod-eu (api.prod-eu:6443)`
fn origin(snapshot: &Snapshot, from: &[String]) -> String {
    let origin = match &snapshot.origin {
        Origin::Cluster { context, server } if context.is_empty() => format!("Server {server}"),
        Origin::Cluster { context, server } => format!("Context {context} ({server})"),
        Origin::Dump { paths } => format!("Dump {}", paths.join(", ")),
    };
    // A snapshot file records the cluster that it was taken from.
    match &snapshot.origin {
        Origin::Cluster { .. } if !from.is_empty() => {
            format!("Snapshot {} of {}", from.join(", "), lower_first(&origin))
        }
        _ => origin,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The line that names the gaps, grouped by reason; `None` if there are no gaps.
pub fn describe_gaps(gaps: &[Gap]) -> Option<String> {
    let (objects, lists): (Vec<Gap>, Vec<Gap>) =
        each_once(gaps).into_iter().partition(|gap| gap.forbidden_objects().is_some());
    let (missing, lists): (Vec<Gap>, Vec<Gap>) =
        lists.into_iter().partition(|gap| gap.reason.as_str() == NOT_IN_THE_DUMP);
    let said = |what: &str, gaps: &[Gap]| (!gaps.is_empty()).then(|| format!("{what}: {}. ", in_words(gaps)));
    let lists = said("Could not list", &lists);
    let objects = said("Could not get", &objects);
    let mut all: String = lists.into_iter().chain(objects).collect();
    if !missing.is_empty() {
        let names = names_in_words(&missing);
        all += &format!(
            "Not in the dump, so they may exist: {names}. kubectl gc snapshot writes a whole dump; --assume-complete \
             says that this one is whole. "
        );
    }
    (!all.is_empty()).then(|| format!("{all}Results that depend on these are marked \"not certain\"."))
}

/// The line that names the resources whose tables the server did not print; `None` if there are none.
pub fn describe_statuses(gaps: &[Gap]) -> Option<String> {
    (!gaps.is_empty()).then(|| format!("READY and STATUS could not be read: {}.", in_words(gaps)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(resource: &str, namespace: Option<&str>, reason: &str) -> Gap {
        Gap { resource: resource.to_owned(), namespace: namespace.map(str::to_owned), reason: reason.into() }
    }

    #[test]
    fn gaps_of_one_reason_are_told_together() {
        assert_eq!(describe_gaps(&[]), None);
        let gaps = [
            gap("secrets", None, "forbidden"),
            gap("metrics.k8s.io/v1beta1", None, "503 Service Unavailable"),
            gap("pods", Some("shop"), "forbidden"),
            gap("nodes", None, "n: forbidden"),
            gap("secrets", Some("shop"), "s: forbidden"),
        ];
        assert_eq!(
            describe_gaps(&gaps).unwrap(),
            "Could not list: secrets, pods in namespace shop (forbidden); metrics.k8s.io/v1beta1 (503 Service \
             Unavailable). Could not get: nodes (n: forbidden). Results that depend on these are marked \"not \
             certain\"."
        );
    }

    #[test]
    fn many_gaps_are_counted() {
        let many: Vec<Gap> = (0..30).map(|number| gap(&format!("r{number}"), None, "forbidden")).collect();
        assert!(
            describe_gaps(&many)
                .unwrap()
                .starts_with("Could not list: r0, r1, r2, r3, r4, r5 and 24 more (forbidden). ")
        );
        let reasons: Vec<Gap> = (0..30).map(|number| gap("pods", None, &format!("error {number}"))).collect();
        assert!(describe_gaps(&reasons).unwrap().contains("; pods (error 3); and 26 more (-o json lists them). "));
    }
}
