//! The details of a finding: every object, related objects, the reference at fault, and their uids.

use std::collections::BTreeMap;

use crate::{
    doctor::Finding,
    model::{ObjectId, ResourceId, Symbol},
    render::{lines::Line, sections::Said, style::Tone, words::plural},
    wording::thousands,
};

use super::DoctorView;

impl DoctorView<'_> {
    /// The affected objects by kind and namespace, one per line, then the related ones, and the references.
    pub(super) fn details(&self, finding: &Finding) -> Vec<Said> {
        let text = |symbol| self.snapshot.text(symbol);
        let flag = |name: &str, value: Option<bool>| value.map(|value| format!("{name}: {value}"));
        let references = finding.references.iter().map(|reference| {
            let (version, kind, name) = (text(reference.api_version), text(reference.kind), text(reference.name));
            let flags =
                [flag("controller", reference.controller), flag("blockOwnerDeletion", reference.block_owner_deletion)];
            let line = Line::new(&format!("{version} {kind}/{name}")).remarked(Tone::Plain, [text(reference.uid)]);
            line.remarked(Tone::Plain, flags.into_iter().flatten())
        });
        let title = if finding.references.len() == 1 { "reference:" } else { "references:" };
        let references = Said::Lines(title.to_owned(), references.collect());
        let mut said = self.by_kind("", &finding.objects);
        said.extend(self.by_kind("related: ", &finding.related));
        said.extend((!finding.references.is_empty()).then_some(references));
        said
    }

    fn by_kind(&self, label: &str, objects: &[ObjectId]) -> Vec<Said> {
        let mut groups: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
        for id in objects {
            let object = self.snapshot.object(*id);
            groups.entry((object.resource, object.namespace)).or_default().push(*id);
        }
        let said = |((resource, _), ids): ((ResourceId, Symbol), Vec<ObjectId>)| {
            let resource = self.snapshot.resources.get(resource);
            let kind = plural(resource, ids.len());
            let (version, place) = (resource.api_version(), self.place(&ids));
            let line = |id: &ObjectId| {
                let object = self.snapshot.object(*id);
                Line::new(self.snapshot.text(object.name)).remarked(Tone::Plain, [self.snapshot.text(object.uid)])
            };
            let title = format!("{label}{} {kind} ({version}){place}:", thousands(ids.len()));
            Said::Lines(title, ids.iter().map(line).collect())
        };
        groups.into_iter().map(said).collect()
    }
}
