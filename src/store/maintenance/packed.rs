//! The file of an export: two gzip members, which every tool reads as one text.
//!
//! The first holds all lines but the last. The second holds the trailer, uncompressed inside, so that its bytes follow
//! from its content alone: a reader builds it and compares. The trailer carries the digest of the first member's
//! bytes, so that no byte of the file can change unseen, not even one that a decompressor skips.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};

use crate::domain::{Digest, Hasher};

/// The header of the second member: gzip, deflate, no flags, no time, no system.
const MEMBER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// The longest trailer; it holds some counts and two digests.
const MAX_TRAILER_BYTES: usize = 16 * 1024;

/// The second member, whole.
fn tail(trailer: &[u8]) -> io::Result<Vec<u8>> {
    let too_long = |_| io::Error::other("the trailer is too long");
    let length = u16::try_from(trailer.len()).map_err(too_long)?;
    let mut crc = Crc::new();
    crc.update(trailer);
    let mut bytes = MEMBER.to_vec();
    // One stored block, the last one.
    bytes.push(1);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&(!length).to_le_bytes());
    bytes.extend_from_slice(trailer);
    bytes.extend_from_slice(&crc.sum().to_le_bytes());
    bytes.extend_from_slice(&u32::from(length).to_le_bytes());
    Ok(bytes)
}

/// Counts a digest over everything that passes.
struct Hashed<T> {
    inner: T,
    sum: Hasher,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Hashed<T> {
        Hashed { inner, sum: Hasher::new() }
    }
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: BufRead> Read for Hashed<T> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let taken = self.inner.fill_buf()?.read(into)?;
        self.consume(taken);
        Ok(taken)
    }
}

impl<T: BufRead> BufRead for Hashed<T> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        if let Ok(buffer) = self.inner.fill_buf() {
            self.sum.update(buffer.get(..bytes).unwrap_or_default());
        }
        self.inner.consume(bytes);
    }
}

/// Writes a file of lines.
pub(super) struct Packer {
    gzip: GzEncoder<Hashed<BufWriter<File>>>,
    sum: Hasher,
}

impl Packer {
    pub(super) fn new(file: File) -> Packer {
        let gzip = GzEncoder::new(Hashed::new(BufWriter::new(file)), Compression::default());
        Packer { gzip, sum: Hasher::new() }
    }

    /// Adds a line; it holds no line break.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        for part in [line, b"\n"] {
            self.sum.update(part);
            self.gzip.write_all(part)?;
        }
        Ok(())
    }

    /// Adds the trailer that `make` makes of the two digests, and syncs.
    pub(super) fn finish(self, make: impl FnOnce(Digest, Digest) -> io::Result<Vec<u8>>) -> io::Result<()> {
        let Hashed { inner: mut file, sum } = self.gzip.finish()?;
        let trailer = make(self.sum.finish(), sum.finish())?;
        file.write_all(&tail(&trailer)?)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// Reads a file of lines.
pub(super) struct Unpacker {
    lines: BufReader<GzDecoder<Hashed<BufReader<File>>>>,
    sum: Hasher,
    max_line: u64,
}

impl Unpacker {
    pub(super) fn new(file: File, max_line: u64) -> Unpacker {
        let lines = BufReader::new(GzDecoder::new(Hashed::new(BufReader::new(file))));
        Unpacker { lines, sum: Hasher::new(), max_line }
    }

    /// The next line; false after the last one.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        line.clear();
        (&mut self.lines).take(self.max_line).read_until(b'\n', line)?;
        self.sum.update(&*line);
        match line.pop() {
            None => Ok(false),
            Some(b'\n') => Ok(true),
            Some(_) => Err(io::Error::other("a line has no end, or is too long")),
        }
    }

    /// Whether what follows the lines is exactly the trailer that `make` makes of the two digests, and nothing more.
    pub(super) fn ends_with(
        self,
        make: impl FnOnce(Digest, Digest) -> io::Result<Vec<u8>>,
    ) -> io::Result<bool> {
        let Hashed { inner: file, sum } = self.lines.into_inner().into_inner();
        let trailer = make(self.sum.finish(), sum.finish())?;
        let mut found = Vec::new();
        file.take(MAX_TRAILER_BYTES as u64).read_to_end(&mut found)?;
        Ok(found == tail(&trailer)?)
    }
}
