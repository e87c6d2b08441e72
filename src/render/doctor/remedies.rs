//! Remedies as a script, to be read before it is run.

use super::DoctorView;

impl DoctorView<'_> {
    /// A shell script: of each finding the remedy that does the least harm, and the others commented out.
    pub fn remedies(&self) -> String {
        let mut script = String::from("#!/bin/sh\n# Read this before you run it: it changes the cluster.\nset -eu\n");
        for finding in &self.diagnosis.findings {
            script.push_str(&format!("\n# {}: {}\n# {}\n", finding.code.name(), finding.message, finding.consequence));
            for (index, remedy) in finding.remedies.iter().enumerate() {
                script.push_str(&format!("# {}:\n", remedy.what));
                for command in &remedy.commands {
                    script.push_str(&format!("{}{command}\n", if index == 0 { "" } else { "# " }));
                }
            }
        }
        script
    }
}
