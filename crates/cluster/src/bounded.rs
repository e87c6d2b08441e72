//! Reads input that may have no end, up to a limit.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::mpsc,
    time::Duration,
};

/// The limit for files that a person writes: kubeconfigs, certificates, tokens, manifests.
pub const LARGEST_SETTING: u64 = 64 << 20;
/// So long a pipe that a person names may take to give its content.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Reads to the end.
///
/// # Errors
/// The reader's; `FileTooLarge` if there is more than the limit allows.
pub fn read(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// A reader that fails once there is more than a limit allows.
pub struct Limited<R> {
    from: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Limited<R> {
    pub fn of(from: R, limit: u64) -> Self {
        Limited { from, limit, left: limit }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| too_large(self.limit))?;
        Ok(read)
    }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {}", size(limit)))
}

/// Reads a file that a person writes.
///
/// # Errors
/// As [`read`]; `TimedOut` if it is a pipe or a device that gives nothing for a while.
pub fn read_setting(path: &Path) -> io::Result<Vec<u8>> {
    read_within(path, LONGEST_WAIT)
}

/// The same with a limit for the time, if it is no regular file: those have an end.
fn read_within(path: &Path, limit: Duration) -> io::Result<Vec<u8>> {
    if path.metadata()?.is_file() {
        return read(File::open(path)?, LARGEST_SETTING);
    }
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    // To open a pipe waits for its writer. Nothing ends this thread before the process.
    std::thread::spawn(move || sender.send(File::open(path).and_then(|file| read(file, LARGEST_SETTING))));
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        let waited = format!("it is a pipe or a device, and did not end within {} s", limit.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, waited))
    })
}

/// The units of sizes, as in Kubernetes' quantities, and their powers of two.
const UNITS: [(&str, u32); 4] = [("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];

/// A number of bytes in the largest unit that fits: `64Mi`.
pub fn size(bytes: u64) -> String {
    let fits = |power: &u32| bytes > 0 && bytes.is_multiple_of(1 << power);
    match UNITS.iter().find(|(_, power)| fits(power)) {
        Some((unit, power)) => format!("{}{unit}", bytes >> power),
        None => format!("{bytes} bytes"),
    }
}

/// Reads a size: a number of bytes, perhaps with a unit.
///
/// # Errors
/// What it should be instead.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (number, power) =
        UNITS.iter().find_map(|(unit, power)| Some((text.strip_suffix(unit)?, *power))).unwrap_or((text, 0));
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << power));
    size.filter(|size| *size > 0)
        .ok_or_else(|| "it has to be a number of bytes, or one with Ki, Mi, Gi or Ti".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_limit_is_an_error() {
        assert_eq!(read(&b"abc"[..], 3).unwrap(), b"abc");
        let error = read(io::repeat(0), 3 << 10).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::FileTooLarge, "it is larger than 3Ki".to_owned())
        );
    }

    /// kubectl credential: a certificate authority that is a pipe without a writer | different: refused after 10 s;
    ///   kubectl waits for ever
    #[cfg(unix)]
    #[test]
    fn a_pipe_that_nobody_writes_to_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let [silent, pipe] = ["silent", "pipe"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").args([&silent, &pipe]).status().unwrap().success());
        let error = read_within(&silent, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");

        // A shell's <(…) is such a pipe.
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, "abc")
        });
        assert_eq!(read_within(&pipe, Duration::MAX).unwrap(), b"abc");
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [("1", 1), ("512Mi", 512 << 20), ("2Gi", 2 << 30), ("1Ti", 1 << 40), ("3Ki", 3 << 10)] {
            assert_eq!(parse_size(text), Ok(bytes));
            assert_eq!(parse_size(&size(bytes).replace(" bytes", "")), Ok(bytes));
        }
        for wrong in ["", "0", "-1", "1G", "Gi", "99999999999Ti", "1.5Gi"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
