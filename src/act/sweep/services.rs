//! Which group versions the APIServices name, for a sweep that keeps running: discovery may lack one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{cluster::WatchEvent, model::group_version_of_service};

/// The APIServices, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Services {
    /// The group version that each living one names, by uid.
    named: BTreeMap<String, String>,
    /// The uids in the list that is being read.
    listed: Option<BTreeSet<String>>,
}

impl Services {
    /// Takes in an event of an APIService.
    pub(super) fn apply(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::Listing => self.listed = Some(BTreeSet::new()),
            WatchEvent::Seen { object, gone } => {
                let uid = object.uid.to_string();
                match group_version_of_service(&object.name).filter(|_| !gone && object.deleted.is_none()) {
                    Some(group_version) => self.named.insert(uid.clone(), group_version),
                    None => self.named.remove(&uid),
                };
                if let Some(listed) = &mut self.listed {
                    listed.insert(uid);
                }
            }
            WatchEvent::Listed => {
                if let Some(listed) = self.listed.take() {
                    self.named.retain(|uid, _| listed.contains(uid));
                }
            }
            WatchEvent::Failing { .. }
            | WatchEvent::Recovered
            | WatchEvent::Polled { .. }
            | WatchEvent::Lost { .. } => {}
        }
    }

    /// The group versions that they name.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        self.named.values().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RawObject;

    fn seen(name: &str, deleted: Option<i64>, gone: bool) -> WatchEvent {
        let object = RawObject {
            name: name.to_owned().into(),
            uid: format!("u-{name}").into(),
            deleted,
            ..RawObject::default()
        };
        WatchEvent::Seen { object: Box::new(object), gone }
    }

    #[test]
    fn what_goes_or_is_not_listed_again_names_nothing() {
        let mut services = Services::default();
        let mut after = |events: &[WatchEvent]| {
            events.iter().for_each(|event| services.apply(event));
            services.named().map(str::to_owned).collect::<Vec<_>>()
        };
        let (a, b) = (|| seen("v1.a.io", None, false), || seen("v1.b.io", None, false));
        let listing = || WatchEvent::Listing;
        let listed = || WatchEvent::Listed;
        assert_eq!(after(&[listing(), a(), b(), seen("v1.", None, false), listed()]), ["a.io/v1", "b.io/v1"]);
        assert_eq!(after(&[seen("v1.a.io", Some(1), false)]), ["b.io/v1"]);
        assert_eq!(after(&[a(), seen("v1.b.io", None, true)]), ["a.io/v1"]);
        assert_eq!(after(&[listing(), b()]), ["a.io/v1", "b.io/v1"], "the list has not ended");
        assert_eq!(after(&[listed()]), ["b.io/v1"]);
    }
}
