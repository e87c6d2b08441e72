//! The first line: where this comes from.

use crate::model::{Origin, Snapshot};

/// `Context prod-eu (api.prod-eu:6443), namespace shop.`, or the dump that was read.
pub fn header(snapshot: &Snapshot, namespace: Option<&str>) -> String {
    let origin = match &snapshot.origin {
        Origin::Cluster { context, server } if context.is_empty() => format!("Server {server}"),
        Origin::Cluster { context, server } => format!("Context {context} ({server})"),
        Origin::Dump { paths } => format!("Dump {}", paths.join(", ")),
    };
    let whole = if matches!(snapshot.origin, Origin::Dump { .. }) { "all namespaces" } else { "whole cluster" };
    match namespace {
        Some(namespace) => format!("{origin}, namespace {namespace}."),
        None => format!("{origin}, {whole}."),
    }
}
