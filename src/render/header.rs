//! The first line: the origin of the data.

use gc_core::model::{Origin, Snapshot};

use super::escape::visible;

/// `Context prod-eu (api.prod-eu:6443), namespace shop.`, or the dump that was read. `from` names the files, if any.
pub fn header(snapshot: &Snapshot, namespace: Option<&str>, from: &[String]) -> String {
    let origin = match &snapshot.origin {
        Origin::Cluster { context, server } if context.is_empty() => format!("Server {server}"),
        Origin::Cluster { context, server } => format!("Context {context} ({server})"),
        Origin::Dump { paths } => format!("Dump {}", paths.join(", ")),
    };
    // A snapshot file records the cluster that it was taken from.
    let origin = match &snapshot.origin {
        Origin::Cluster { .. } if !from.is_empty() => {
            format!("Snapshot {} of {}", from.join(", "), lower_first(&origin))
        }
        _ => origin,
    };
    let whole = if matches!(snapshot.origin, Origin::Dump { .. }) { "all namespaces" } else { "whole cluster" };
    let describe = match namespace {
        Some(namespace) => format!("{origin}, namespace {namespace}."),
        None => format!("{origin}, {whole}."),
    };
    visible(&describe).into_owned()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
