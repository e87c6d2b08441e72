//! Records of who deleted what: audit logs and archives. Where the collector was away, they show whether the dependents
//! of an object that is gone should go, too.

use rustc_hash::FxHashMap;

/// A DELETE that the API server accepted, or an archive that was written for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDelete {
    /// The user who sent it; `None` if the record doesn't say.
    pub by: Option<String>,
    /// In Unix seconds.
    pub time: Option<i64>,
    /// `Background`, `Foreground` or `Orphan`; `None` if the record doesn't say.
    pub propagation: Option<String>,
    /// Whether the record tells the uid. Otherwise it may be about another object that had the name.
    pub is_sure: bool,
    /// The controller of kube-controller-manager that sent it, as its user agent says: `generic-garbage-collector`.
    pub controller: Option<String>,
    /// The file of the record.
    pub source: String,
}

/// The coordinates of an object in an audit log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordedName {
    pub group: String,
    /// The plural name of the resource.
    pub resource: String,
    /// Empty for cluster scope.
    pub namespace: String,
    /// Empty for a delete of a collection.
    pub name: String,
}

/// All records.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    by_uid: FxHashMap<String, RecordedDelete>,
    /// All records of audit logs.
    by_name: FxHashMap<RecordedName, Vec<RecordedDelete>>,
}

impl Evidence {
    /// Adds a record about an object with this uid. One that says who it was tells more than one that doesn't; of two
    /// such, the earlier one counts: later deletes find the object terminating.
    pub fn add(&mut self, uid: &str, record: RecordedDelete) {
        let rank = |record: &RecordedDelete| (record.by.is_none(), record.time.is_none(), record.time);
        let known = self.by_uid.entry(uid.to_owned()).or_insert_with(|| record.clone());
        if rank(&record) < rank(known) {
            *known = record;
        }
    }

    /// Adds a record about the object that had this name then; [`Evidence::add`] those that tell its uid, too.
    pub fn add_named(&mut self, name: RecordedName, record: RecordedDelete) {
        self.by_name.entry(name).or_default().push(record);
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.by_uid.is_empty() && self.by_name.is_empty()
    }

    /// The delete of the object with this uid; of those without a uid, the first about that name since `since`, when
    /// an object refers to it: its successors were deleted later.
    pub(super) fn of(
        &self,
        uid: &str,
        name: impl FnOnce() -> Option<RecordedName>,
        since: Option<i64>,
    ) -> Option<&RecordedDelete> {
        if self.is_empty() {
            return None;
        }
        if let Some(record) = self.by_uid.get(uid) {
            return Some(record);
        }
        let since = since?;
        let unsure = self.by_name.get(&name()?)?.iter().filter(|record| !record.is_sure);
        unsure.filter(|record| record.time.is_some_and(|time| time >= since)).min_by_key(|record| record.time)
    }

    /// The last delete of an object with this name, or else of a collection that may have held it.
    pub(super) fn last_of(&self, name: &RecordedName) -> Option<(&RecordedDelete, bool)> {
        let last = |name: &RecordedName| self.by_name.get(name)?.iter().max_by_key(|record| record.time);
        let collection = || last(&RecordedName { name: String::new(), ..name.clone() });
        last(name).map(|record| (record, false)).or_else(|| Some((collection()?, true)))
    }

    /// What people and operators deleted in a namespace, or of the cluster, in so many seconds before a time: the
    /// latest first.
    pub(super) fn before(&self, namespace: &str, time: i64, seconds: i64) -> Vec<(&RecordedName, &RecordedDelete)> {
        let here = self.by_name.iter().filter(|(name, _)| name.namespace.is_empty() || name.namespace == namespace);
        let all = here.flat_map(|(name, records)| records.iter().map(move |record| (name, record)));
        let is_before = |record: &RecordedDelete| {
            record.controller.is_none() && record.time.is_some_and(|own| (time - seconds..=time).contains(&own))
        };
        let mut found: Vec<_> = all.filter(|(_, record)| is_before(record)).collect();
        found.sort_by_key(|(name, record)| (std::cmp::Reverse(record.time), &name.resource, &name.name));
        found
    }
}

impl RecordedDelete {
    /// Whether it certainly asked for the dependents of this object to go.
    pub(super) fn takes_dependents(&self) -> bool {
        self.is_sure && matches!(self.propagation.as_deref(), Some("Background" | "Foreground"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time: i64) -> RecordedDelete {
        let by = Some("alice".to_owned());
        let source = "audit.log".to_owned();
        RecordedDelete { by, time: Some(time), propagation: None, is_sure: false, controller: None, source }
    }

    fn web() -> RecordedName {
        let [group, resource, namespace, name] = ["apps", "deployments", "shop", "web"].map(str::to_owned);
        RecordedName { group, resource, namespace, name }
    }

    #[test]
    fn a_record_without_a_uid_is_about_the_first_that_was_deleted_since() {
        let mut evidence = Evidence::default();
        for time in [30, 10, 20] {
            evidence.add_named(web(), record(time));
        }
        let of = |since| evidence.of("u", || Some(web()), since).and_then(|record| record.time);
        assert_eq!([of(Some(11)), of(Some(20)), of(Some(31)), of(None)], [Some(20), Some(20), None, None]);
        assert_eq!(evidence.of("u", || None, Some(0)), None);
        evidence.add("u", RecordedDelete { by: None, ..record(35) });
        for time in [50, 40, 60] {
            evidence.add("u", record(time));
        }
        evidence.add("u", RecordedDelete { by: None, ..record(30) });
        assert_eq!(evidence.of("u", || Some(web()), Some(0)).and_then(|record| record.time), Some(40));
    }
}
