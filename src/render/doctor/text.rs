//! Findings for people.

use std::io::{self, Write};

use crate::{
    doctor::Finding,
    model::effects::Severity,
    render::{go_quote::visible, style::Tone, tree::Options, words::wrapped},
    wording::count,
};

use super::DoctorView;

impl DoctorView<'_> {
    /// Writes every finding: what is so, what it leads to, what to do.
    pub fn write(&self, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
        let findings = &self.diagnosis.findings;
        if findings.is_empty() {
            return writeln!(
                out,
                "{}: nothing is wrong with what owns what, and no deletion is stuck.",
                options.style.paint(Tone::Good, "HEALTHY")
            );
        }
        for (index, finding) in findings.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            self.write_one(finding, options, out)?;
        }
        Ok(())
    }

    fn write_one(&self, finding: &Finding, options: &Options<'_>, out: &mut dyn Write) -> io::Result<()> {
        let (word, tone) = match finding.severity {
            Severity::Error => ("ERROR", Tone::Error),
            Severity::Warning => ("WARNING", Tone::Warning),
            Severity::Info => ("INFO", Tone::Quiet),
        };
        let subject = match finding.objects.as_slice() {
            [] => String::new(),
            [one] => format!(": {}", self.named(*one)),
            [first, rest @ ..] => format!(": {} and {}", self.named(*first), count(rest.len(), "more", "more")),
        };
        writeln!(out, "{} {}{}", options.style.paint(tone, word), finding.code.name(), visible(&subject))?;
        let width = options.width.unwrap_or(usize::MAX).saturating_sub(8);
        let section = |head: &str, text: &str, out: &mut dyn Write| -> io::Result<()> {
            for (index, line) in wrapped(visible(text).split(' '), width).iter().enumerate() {
                writeln!(out, "  {:<6}{line}", if index == 0 { head } else { "" })?;
            }
            Ok(())
        };
        section("", &finding.message, out)?;
        section("Then:", &finding.consequence, out)?;
        for (index, remedy) in finding.remedies.iter().enumerate() {
            section(if index == 0 { "Do:" } else { "" }, &remedy.what, out)?;
            for command in remedy.commands.iter().take(2) {
                writeln!(out, "        {}", visible(command))?;
            }
        }
        Ok(())
    }

    fn named(&self, id: crate::model::ObjectId) -> String {
        let namespace = self.snapshot.text(self.snapshot.object(id).namespace);
        if namespace.is_empty() || self.namespace == Some(namespace) {
            self.snapshot.short_name(id)
        } else {
            format!("{} -n {namespace}", self.snapshot.short_name(id))
        }
    }
}
