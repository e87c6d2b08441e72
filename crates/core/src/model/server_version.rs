//! The version of an API server, and whether this program was tested with it.

use std::{cmp::Ordering, ops::RangeInclusive};

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

/// The minor versions of Kubernetes 1 that the tests run; `docs/versions.md` says what they ran.
pub const TESTED: RangeInclusive<u32> = 33..=36;

/// A longer version isn't shown as it is.
const LONGEST: usize = 60;

/// A version that a server has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersion {
    text: String,
    major: u32,
    minor: u32,
}

impl Serialize for ServerVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ServerVersion", 2)?;
        fields.serialize_field("version", self.as_str())?;
        fields.serialize_field("tested", &self.is_tested())?;
        fields.end()
    }
}

impl ServerVersion {
    /// Reads `/version`: `v1.33.4-eks-abc`, and where that is no version, `1` and `33+`. `None` if the server doesn't
    /// say which version it has; v0.0.0 is what a server calls itself that was built without being told.
    pub fn read(git_version: &str, major: &str, minor: &str) -> Option<Self> {
        let told = numbers(git_version.trim_start_matches('v'));
        let numbers = told.or_else(|| numbers(&format!("{major}.{minor}")));
        let (major, minor) = numbers.filter(|(major, _)| *major > 0)?;
        let is_harmless = |c: char| c.is_ascii_alphanumeric() || "-+._~".contains(c);
        let text = match told {
            Some(_) if git_version.len() <= LONGEST && git_version.chars().all(is_harmless) => git_version.to_owned(),
            _ => format!("v{major}.{minor}"),
        };
        Some(ServerVersion { text, major, minor })
    }

    /// As the server calls itself: `v1.33.4-eks-abc`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is older than this minor version of Kubernetes 1.
    pub fn is_before(&self, minor: u32) -> bool {
        (self.major, self.minor) < (1, minor)
    }

    /// Whether it is older than the versions of [`TESTED`], among them, or newer.
    fn compare(&self) -> Ordering {
        match (self.major, self.minor) {
            _ if self.is_before(*TESTED.start()) => Ordering::Less,
            version if version > (1, *TESTED.end()) => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// Whether the tests run this minor version.
    pub fn is_tested(&self) -> bool {
        self.compare() == Ordering::Equal
    }

    /// What to tell of a version that the tests don't run.
    pub fn warning(&self) -> Option<String> {
        let differs = match self.compare() {
            Ordering::Equal => return None,
            Ordering::Less => "older",
            Ordering::Greater => "newer",
        };
        let (first, last) = (TESTED.start(), TESTED.end());
        Some(format!(
            "Server {} is {differs} than the versions this was tested with (1.{first} to 1.{last}): predictions may \
             differ.",
            self.text
        ))
    }
}

/// The first two numbers of `1.33.4-eks-abc` or `1.33+`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((major.parse().ok()?, rest[..end].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(git_version: &str, major: &str, minor: &str) -> Option<(String, u32, u32)> {
        ServerVersion::read(git_version, major, minor).map(|it| (it.text, it.major, it.minor))
    }

    #[test]
    fn versions_of_every_vendor_are_read() {
        for (git_version, minor) in [
            ("v1.36.3", 36),
            ("v1.33.4-eks-abc1234", 33),
            ("v1.34.1+k3s1", 34),
            ("v1.34.1+rke2r1", 34),
            ("v1.33.5-gke.1080000", 33),
            ("v1.27.16-aliyun.1", 27),
            ("v1.33.0-rc.1", 33),
            ("1.33.4", 33),
            ("v1.33", 33),
        ] {
            assert_eq!(read(git_version, "", ""), Some((git_version.to_owned(), 1, minor)), "{git_version}");
        }
        assert_eq!(read("", "1", "33+"), Some(("v1.33".to_owned(), 1, 33)));
        assert_eq!(read("release-1.33", "1", "33"), Some(("v1.33".to_owned(), 1, 33)));
        assert_eq!(read("v1.33.4\u{1b}[2J", "1", "33"), Some(("v1.33".to_owned(), 1, 33)), "no control characters");
        assert_eq!(read(&format!("v1.33.4-{}", "x".repeat(100)), "", ""), Some(("v1.33".to_owned(), 1, 33)));
        for unknown in ["", "v0.0.0-master+$Format:%H$", "latest", "v1", "v1.x", "v.33", "v99999999999.1"] {
            assert_eq!(read(unknown, "", ""), None, "{unknown}");
        }
        assert_eq!(read("v0.0.0-master+$Format:%H$", "", "36+"), None);
    }

    #[test]
    fn what_was_not_tested_is_told() {
        let warning = |text: &str| ServerVersion::read(text, "", "").unwrap().warning();
        let (first, last) = (*TESTED.start(), *TESTED.end());
        for minor in TESTED {
            assert_eq!(warning(&format!("v1.{minor}.0-eks-1")), None);
        }
        let tested = format!("than the versions this was tested with (1.{first} to 1.{last}): predictions may differ.");
        assert_eq!(warning("v1.29.4-gke.1"), Some(format!("Server v1.29.4-gke.1 is older {tested}")));
        assert_eq!(
            warning(&format!("v1.{}.9", first - 1)),
            Some(format!("Server v1.{}.9 is older {tested}", first - 1))
        );
        assert_eq!(warning(&format!("v1.{}.0", last + 1)), Some(format!("Server v1.{}.0 is newer {tested}", last + 1)));
        assert_eq!(warning("v2.0.0"), Some(format!("Server v2.0.0 is newer {tested}")));
        let version = ServerVersion::read("v1.33.1", "", "").unwrap();
        assert!(version.is_before(34) && !version.is_before(33));
    }
}
