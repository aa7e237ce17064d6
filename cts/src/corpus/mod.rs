// SPDX-License-Identifier: MIT
//! The shader corpus: shaders in files, each with a description of how to run it.
//!
//! `shader-db/README.md` describes the format.

pub mod content;
mod entry;
pub mod module;
pub mod source;
pub mod yardstick;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, ensure};
use mesa_nir::SpecConstant;

pub use self::entry::CompareWith;
use self::entry::{BufferDescription, Description, Kind};
use crate::case::{Buffer, BufferKind, Case};
use crate::compare::{Rule, compare};
use crate::element::Element;

/// A shader of the corpus, not compiled yet.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its path below the corpus, without ending.
    pub name: String,
    /// The source.
    pub source: PathBuf,
    /// What results are compared with.
    pub compare_with: CompareWith,
    /// Why not with lavapipe.
    pub reason: String,
    /// Results do not depend on the subgroup size although the shader uses subgroups.
    pub any_subgroup_size: bool,
    /// lavapipe computes what is expected.
    pub lavapipe: bool,
    /// How each buffer is judged, in the case's order.
    pub checks: Vec<Check>,
    /// The case without its module.
    case: Case,
}

/// How a buffer is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// How values are compared.
    pub rule: Rule,
    /// What must be in it after the run.
    pub expect: Option<Vec<u8>>,
}

/// The corpus that belongs to this crate.
#[must_use]
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("shader-db")
}

/// Every shader of a directory and those below it, by name.
///
/// # Errors
/// All that is wrong with any of them, in one message.
pub fn load_all(directory: &Path) -> anyhow::Result<Vec<Entry>> {
    let mut files = Vec::new();
    find(directory, &mut files)?;
    files.sort();
    let mut errors = Vec::new();
    let mut entries = Vec::new();
    let descriptions: HashSet<PathBuf> = files.iter().map(|f| f.with_extension("toml")).collect();
    for file in &files {
        let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("");
        if source::EXTENSIONS.contains(&extension) {
            match load(directory, file) {
                Ok(entry) => entries.push(entry),
                Err(error) => errors.push(format!("{}: {error:#}", file.display())),
            }
        } else if extension == "toml" && !has_source(&descriptions, &files, file) {
            errors.push(format!("{}: there is no shader beside it", file.display()));
        }
    }
    for pair in entries.windows(2) {
        if pair[0].name == pair[1].name {
            errors.push(format!("{}: two sources of one name", pair[0].name));
        }
    }
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    Ok(entries)
}

fn has_source(descriptions: &HashSet<PathBuf>, files: &[PathBuf], toml: &Path) -> bool {
    descriptions.contains(toml)
        && files
            .iter()
            .any(|file| file != toml && file.with_extension("toml") == toml)
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let context = || directory.display().to_string();
    for file in std::fs::read_dir(directory).with_context(context)? {
        let path = file.with_context(context)?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// One shader; its description lies beside it.
fn load(directory: &Path, source: &Path) -> anyhow::Result<Entry> {
    let toml = source.with_extension("toml");
    let text = std::fs::read_to_string(&toml).with_context(|| toml.display().to_string())?;
    let name = source
        .strip_prefix(directory)
        .unwrap_or(source)
        .with_extension("");
    let name = name
        .to_string_lossy()
        .replace(std::path::MAIN_SEPARATOR, "/");
    parse(&text, &name, source)
}

/// An entry from its description.
fn parse(text: &str, name: &str, source: &Path) -> anyhow::Result<Entry> {
    let description: Description = toml::from_str(text)?;
    ensure!(
        description.compare_with == CompareWith::Lavapipe || !description.reason.is_empty(),
        "`reason` must say why it is not compared with lavapipe"
    );
    ensure!(
        description.lavapipe || description.compare_with != CompareWith::Lavapipe,
        "`lavapipe` is false, but results would be compared with it"
    );
    let push_constants =
        content::bytes(&description.push, None).map_err(|error| anyhow!("push: {error}"))?;
    let mut case = Case {
        name: name.to_owned(),
        spirv: Vec::new(),
        entry: description.entry.clone(),
        specialization: specialization(&description)?,
        groups: description.groups,
        base_group: description.base_group,
        push_constants,
        buffers: Vec::new(),
        images: Vec::new(),
    };
    let mut checks = Vec::new();
    for (index, buffer) in description.buffer.iter().enumerate() {
        let (buffer, check) =
            parse_buffer(buffer).with_context(|| format!("buffer {index} of the description"))?;
        ensure!(
            buffer
                .address_at
                .is_none_or(|at| at.is_multiple_of(8) && at + 8 <= case.push_constants.len()),
            "buffer {index}: `address_at` names no aligned 8 bytes of the push constants"
        );
        ensure!(
            check.expect.is_none() || description.compare_with == CompareWith::Expected,
            "buffer {index}: `expect` without compare_with = \"expected\""
        );
        case.buffers.push(buffer);
        checks.push(check);
    }
    case.check()?;
    let compares = |check: &Check| check.rule != Rule::Nothing;
    ensure!(
        description.compare_with == CompareWith::None || checks.iter().any(compares),
        "no buffer is compared"
    );
    ensure!(
        description.compare_with != CompareWith::Expected
            || checks.iter().any(|check| check.expect.is_some()),
        "compare_with = \"expected\", but no buffer says what is expected"
    );
    Ok(Entry {
        name: name.to_owned(),
        source: source.to_owned(),
        compare_with: description.compare_with,
        reason: description.reason,
        any_subgroup_size: description.any_subgroup_size,
        lavapipe: description.lavapipe,
        checks,
        case,
    })
}

fn specialization(description: &Description) -> anyhow::Result<Vec<SpecConstant>> {
    let mut constants = Vec::new();
    for (id, value) in &description.spec {
        let wrong = |error: String| anyhow!("spec {id}: {error}");
        let number = id.parse().map_err(|_| wrong("it is no ID".to_owned()))?;
        let bits = match value.as_str() {
            "true" => 1,
            "false" => 0,
            _ => {
                let (ty, value) = value
                    .split_once(':')
                    .ok_or_else(|| wrong(format!("`{value}` is not TYPE:value")))?;
                let element: Element = ty.parse().map_err(wrong)?;
                element.parse(value).map_err(wrong)?
            }
        };
        constants.push(SpecConstant { id: number, bits });
    }
    Ok(constants)
}

fn parse_buffer(buffer: &BufferDescription) -> anyhow::Result<(Buffer, Check)> {
    let message = |what: &'static str| move |error: String| anyhow!("{what}: {error}");
    let size = buffer.bytes;
    ensure!(
        size.is_none_or(|size| size <= content::MAX_BYTES),
        "bytes: more than {} are not allowed",
        content::MAX_BYTES
    );
    let bytes = content::bytes(&buffer.init, size).map_err(message("init"))?;
    ensure!(!bytes.is_empty(), "it has no bytes: give `bytes` or `init`");
    let expect = buffer.expect.as_deref();
    let expect = expect.map(|text| content::bytes(text, Some(bytes.len())));
    let check = Check {
        rule: buffer.compare.parse().map_err(message("compare"))?,
        expect: expect.transpose().map_err(message("expect"))?,
    };
    let kind = match buffer.kind {
        Kind::Storage => BufferKind::Storage,
        Kind::Uniform => BufferKind::Uniform,
        Kind::Address => BufferKind::Address,
    };
    let buffer = Buffer {
        set: buffer.set,
        binding: buffer.binding,
        element: buffer.element,
        kind,
        bytes,
        address_at: buffer.address_at,
    };
    Ok((buffer, check))
}

impl Entry {
    /// The case, its source compiled to SPIR-V and the module validated.
    ///
    /// # Errors
    /// When the source or the module is refused; or when it would be compared with lavapipe
    /// although its results depend on the subgroup size.
    pub fn case(&self) -> anyhow::Result<Case> {
        let spirv = source::compile(&self.source)?;
        mesa_nir::validate_spirv(&spirv, mesa_nir::BlockLayout::Scalar)
            .with_context(|| self.source.display().to_string())?;
        ensure!(
            self.compare_with != CompareWith::Lavapipe
                || self.any_subgroup_size
                || !module::uses_subgroups(&spirv),
            "{}: lavapipe's subgroups are smaller than the GPU's, so a shader that uses subgroups \
             cannot be compared with it: use compare_with = \"expected\", or say \
             any_subgroup_size = true if results do not depend on the size",
            self.name
        );
        Ok(Case {
            spirv,
            ..self.case.clone()
        })
    }

    /// Judges the buffers after a run. `reference` is what lavapipe made of them; it is not looked
    /// at unless the entry is compared with lavapipe.
    ///
    /// # Errors
    /// A line for each buffer that is not as it should be.
    pub fn judge(&self, results: &[Vec<u8>], reference: &[Vec<u8>]) -> anyhow::Result<()> {
        ensure!(
            results.len() == self.checks.len(),
            "{} results of {} buffers",
            results.len(),
            self.checks.len()
        );
        let mut wrong = Vec::new();
        for (index, (check, got)) in self.checks.iter().zip(results).enumerate() {
            let buffer = &self.case.buffers[index];
            let expected = match self.compare_with {
                CompareWith::None => continue,
                CompareWith::Lavapipe => reference.get(index).map(Vec::as_slice),
                CompareWith::Expected => Some(check.expect.as_deref().unwrap_or(&buffer.bytes)),
            };
            let expected =
                expected.ok_or_else(|| anyhow!("there is no reference to compare with"))?;
            if let Err(difference) = compare(got, expected, check.rule) {
                wrong.push(format!("{}: {difference}", buffer.describe(index)));
            }
        }
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> anyhow::Result<Entry> {
        parse(text, "test", Path::new("test.comp"))
    }

    fn refused(text: &str) -> String {
        format!("{:#}", entry(text).expect_err(text))
    }

    const FULL: &str = r#"
        entry = "other"
        groups = [4, 2, 1]
        base_group = [1, 0, 0]
        push = "u32:1,2 f32:0.5 u32:0 u64:0"
        spec = { "0" = "u32:5", "7" = "f32:1.0", "9" = "true" }
        compare_with = "expected"
        reason = "for the test"
        [[buffer]]
        set = 1
        binding = 2
        element = 3
        kind = "uniform"
        bytes = 16
        init = "ramp:u32"
        compare = "none"
        [[buffer]]
        kind = "address"
        bytes = 8
        compare = "f32:ulp:2"
        expect = "f32:1.0,2.0"
        address_at = 16
        [[buffer]]
        init = "u32:1,2,3"
    "#;

    #[test]
    fn everything_is_read() {
        let entry = entry(FULL).unwrap();
        let case = &entry.case;
        assert_eq!((case.entry.as_str(), case.groups), ("other", [4, 2, 1]));
        assert_eq!(case.base_group, [1, 0, 0]);
        assert_eq!(case.push_constants.len(), 24);
        let specialization: Vec<_> = case.specialization.iter().map(|c| (c.id, c.bits)).collect();
        assert_eq!(specialization, [(0, 5), (7, 0x3f80_0000), (9, 1)]);
        let first = &case.buffers[0];
        assert_eq!((first.set, first.binding, first.element), (1, 2, 3));
        assert_eq!(first.kind, BufferKind::Uniform);
        assert_eq!(
            first.bytes,
            [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]
        );
        assert_eq!(entry.checks[0].rule, Rule::Nothing);
        assert_eq!(case.buffers[1].address_at, Some(16));
        assert_eq!(case.buffers[2].bytes.len(), 12);
        assert_eq!(entry.checks[2].rule, "bits".parse().unwrap());
    }

    #[test]
    fn defaults() {
        let entry = entry("[[buffer]]\nbytes = 4\n").unwrap();
        assert_eq!(entry.compare_with, CompareWith::Lavapipe);
        assert_eq!((entry.case.groups, entry.case.base_group), ([1; 3], [0; 3]));
        assert_eq!(entry.case.entry, "main");
        assert_eq!(entry.case.buffers[0].kind, BufferKind::Storage);
        assert_eq!(entry.case.buffers[0].bytes, [0; 4]);
    }

    #[test]
    fn mistakes_are_named() {
        let buffer = "[[buffer]]\nbytes = 4\n";
        for (text, says) in [
            ("", "no buffer is compared"),
            ("gruops = [1,1,1]", "gruops"),
            ("groups = [1,1]", "groups"),
            (&format!("push = \"u33:1\"\n{buffer}"), "push"),
            (&format!("spec = {{ a = \"u32:1\" }}\n{buffer}"), "spec a"),
            (&format!("spec = {{ 1 = \"5\" }}\n{buffer}"), "TYPE:value"),
            (&format!("compare_with = \"none\"\n{buffer}"), "reason"),
            (&format!("compare_with = \"radv\"\n{buffer}"), "radv"),
            (
                &format!("compare_with = \"expected\"\nreason = \"r\"\n{buffer}"),
                "no buffer says",
            ),
            ("[[buffer]]\nbinding = 1\n", "no bytes"),
            ("[[buffer]]\nbytes = 4\ninit = \"u32:1,2\"\n", "8 bytes"),
            ("[[buffer]]\nbytes = 4\ncompare = \"f32\"\n", "compare"),
            (
                "[[buffer]]\nbytes = 4\nexpect = \"u32:1\"\n",
                "without compare_with",
            ),
            ("[[buffer]]\nbytes = 4\naddress_at = 0\n", "address_at"),
            ("[[buffer]]\nbytes = 9999999999\n", "more than"),
            (
                "lavapipe = false\n[[buffer]]\nbytes = 4\n",
                "`lavapipe` is false",
            ),
            (
                "[[buffer]]\nbytes = 4\ncompare = \"none\"\n",
                "no buffer is compared",
            ),
            ("[[buffer]]\nbytes = 4\n[[buffer]]\nbytes = 4\n", "twice"),
            (
                "[[buffer]]\nbytes = 4\n[[buffer]]\nbytes = 4\nelement = 1\nkind = \"uniform\"\n",
                "two kinds",
            ),
        ] {
            let error = refused(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn results_are_judged_by_each_buffers_rule() {
        let entry = entry(FULL).unwrap();
        let mut results: Vec<_> = entry.case.buffers.iter().map(|b| b.bytes.clone()).collect();
        let close = f32::from_bits(1.0f32.to_bits() + 2).to_le_bytes();
        results[1] = [close, 2.0f32.to_le_bytes()].concat();
        // Not compared.
        results[0][0] = 77;
        entry.judge(&results, &[]).unwrap();
        // Without `expect` it must be unchanged.
        results[2][4] = 77;
        let error = entry.judge(&results, &[]).unwrap_err().to_string();
        assert!(
            error.contains("buffer 2") && error.contains("got 77"),
            "{error}"
        );
        assert!(entry.judge(&results[..2], &[]).is_err());
    }

    #[test]
    fn the_reference_is_what_lavapipe_computed() {
        let entry = entry("[[buffer]]\nbytes = 4\n").unwrap();
        entry.judge(&[vec![1; 4]], &[vec![1; 4]]).unwrap();
        assert!(entry.judge(&[vec![0; 4]], &[vec![1; 4]]).is_err());
        assert!(entry.judge(&[vec![0; 4]], &[]).is_err());
    }

    #[test]
    fn a_directory_is_loaded_by_name_and_all_mistakes_reported() {
        let root = std::env::temp_dir().join(format!("cortland-corpus-{}", std::process::id()));
        std::fs::create_dir_all(root.join("sub")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        write("b.spvasm", "");
        write("b.toml", "[[buffer]]\nbytes = 4\n");
        write("sub/a.comp", "");
        write("sub/a.toml", "[[buffer]]\nbytes = 4\n");
        write("README.md", "");
        let names: Vec<_> = load_all(&root)
            .unwrap()
            .into_iter()
            .map(|e| e.name)
            .collect();
        assert_eq!(names, ["b", "sub/a"]);
        write("lonely.toml", "");
        write("bare.wgsl", "");
        write("sub/a.wgsl", "");
        let error = load_all(&root).unwrap_err().to_string();
        for says in [
            "lonely.toml: there is no shader",
            "bare.toml",
            "two sources of one name",
        ] {
            assert!(error.contains(says), "{error}");
        }
        std::fs::remove_dir_all(&root).unwrap();
    }
}
