//! Files of records. One whose name ends in `.gz` is compressed.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::Path,
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};

use super::record::{self, Record};

/// Reads the records of a file.
pub fn read(path: &Path) -> io::Result<Vec<Record>> {
    let text = if is_compressed(path) {
        let mut text = String::new();
        MultiGzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
        text
    } else {
        fs::read_to_string(path)?
    };
    Ok(record::parse(&text))
}

/// Replaces the file with these records. The same records always give the same bytes.
pub fn write(path: &Path, records: &[Record]) -> io::Result<()> {
    let text = records.iter().map(Record::to_string).collect::<Vec<_>>().join("\n");
    if !is_compressed(path) {
        return fs::write(path, text);
    }
    let mut file = GzEncoder::new(File::create(path)?, Compression::best());
    file.write_all(text.as_bytes())?;
    file.finish()?.sync_all()
}

fn is_compressed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("gz"))
}
