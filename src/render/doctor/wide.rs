//! The details of a finding: every object, related objects, the reference at fault, and their uids.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use crate::{
    doctor::Finding,
    model::{ObjectId, ResourceId, Symbol},
    render::{escape::visible, table::column, words::plural},
    wording::thousands,
};

use super::DoctorView;

impl DoctorView<'_> {
    /// Writes the affected objects by kind and namespace, one per line, and then the related ones.
    pub(super) fn write_details(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        self.write_by_kind("", &finding.objects, out)?;
        self.write_by_kind("Related: ", &finding.related, out)?;
        let text = |symbol| self.snapshot.text(symbol);
        let flag = |name: &str, value: Option<bool>| value.map_or(String::new(), |value| format!("  {name}: {value}"));
        for (index, reference) in finding.references.iter().enumerate() {
            if index == 0 {
                writeln!(out, "  {}:", if finding.references.len() == 1 { "Reference" } else { "References" })?;
            }
            let reference = format!(
                "{} {}/{}  {}{}{}",
                text(reference.api_version),
                text(reference.kind),
                text(reference.name),
                text(reference.uid),
                flag("controller", reference.controller),
                flag("blockOwnerDeletion", reference.block_owner_deletion)
            );
            writeln!(out, "    {}", visible(&reference))?;
        }
        Ok(())
    }

    fn write_by_kind(&self, label: &str, objects: &[ObjectId], out: &mut dyn Write) -> io::Result<()> {
        let mut groups: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
        for id in objects {
            let object = self.snapshot.object(*id);
            groups.entry((object.resource, object.namespace)).or_default().push(*id);
        }
        for ((resource, _), ids) in groups {
            let resource = self.snapshot.resources.get(resource);
            let kind = plural(resource, ids.len());
            let head =
                format!("{label}{} {kind} ({}){}:", thousands(ids.len()), resource.api_version(), self.place(&ids));
            writeln!(out, "  {}", visible(&head))?;
            let names: Vec<_> =
                ids.iter().map(|id| visible(self.snapshot.text(self.snapshot.object(*id).name))).collect();
            for (id, name) in ids.iter().zip(column(names.iter().map(|name| name.as_ref()))) {
                let uid = self.snapshot.text(self.snapshot.object(*id).uid);
                writeln!(out, "    {name}  {}", visible(uid))?;
            }
        }
        Ok(())
    }
}
