//! Namespaces of archived objects that are not in the archive themselves.

use std::collections::BTreeSet;

use futures::StreamExt as _;

use crate::{act::update, cluster::path, restore::Item};

use super::{AT_ONCE, Run};

impl Run<'_> {
    /// Finds the namespaces that don't exist: nothing can be created in them. If a namespace can't be read, creating
    /// its objects shows whether it exists.
    pub(super) async fn look_for_namespaces(&mut self) {
        let Some(resource) = self.resource("v1", "Namespace") else { return };
        let is_namespace = |item: &&Item| item.archived.place.is("", "Namespace") && item.left_out.is_none();
        let archived: BTreeSet<&str> =
            self.plan.items.iter().filter(is_namespace).map(|item| item.archived.place.name.as_str()).collect();
        let wanted = self
            .plan
            .items
            .iter()
            .filter(|item| item.left_out.is_none())
            .map(|item| item.archived.place.namespace.as_str());
        let wanted: BTreeSet<&str> =
            wanted.filter(|namespace| !namespace.is_empty() && !archived.contains(namespace)).collect();
        let paths = wanted.into_iter().filter_map(|name| Some((name, path::of_object(resource, "", name)?)));
        let looks =
            futures::stream::iter(paths).map(async |(name, path)| (name, update::get(self.connection, &path).await));
        let found: Vec<_> = looks.buffer_unordered(AT_ONCE).collect().await;
        let missing = found.into_iter().filter(|(_, there)| matches!(there, Ok(None)));
        self.missing_namespaces = missing.map(|(name, _)| name.to_owned()).collect();
    }
}
