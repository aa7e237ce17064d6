// SPDX-License-Identifier: MIT
//! Shader sources of every language that the corpus has, to SPIR-V.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, bail, ensure};

/// Endings of the files that [`compile`] reads.
pub const EXTENSIONS: [&str; 4] = ["comp", "wgsl", "spvasm", "spv"];

/// A compute shader in GLSL (`.comp`), WGSL (`.wgsl`), SPIR-V assembly (`.spvasm`) or SPIR-V
/// (`.spv`) as a SPIR-V module. The module is not validated here.
///
/// # Errors
/// The message of whoever refuses the source, or that glslangValidator is not installed.
pub fn compile(path: &Path) -> anyhow::Result<Vec<u32>> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let text = || std::fs::read_to_string(path);
    let words = match extension {
        "comp" => glsl(path, "comp", NEWEST),
        "wgsl" => text().map_err(Into::into).and_then(|text| wgsl(&text)),
        "spvasm" => text()
            .map_err(Into::into)
            .and_then(|text| Ok(mesa_nir::assemble(&text)?)),
        "spv" => std::fs::read(path)
            .map_err(Into::into)
            .and_then(|b| words(&b)),
        _ => bail!("{}: not a .{}", path.display(), EXTENSIONS.join(", .")),
    };
    words.with_context(|| path.display().to_string())
}

/// A module's words from its bytes, in either byte order.
fn words(bytes: &[u8]) -> anyhow::Result<Vec<u32>> {
    let (words, rest) = bytes.as_chunks::<4>();
    ensure!(rest.is_empty(), "a SPIR-V module has whole words");
    let swapped = words.first() == Some(&spirv::MAGIC_NUMBER.to_be_bytes());
    let word = |word: &[u8; 4]| {
        if swapped {
            u32::from_be_bytes(*word)
        } else {
            u32::from_le_bytes(*word)
        }
    };
    Ok(words.iter().map(word).collect())
}

/// A compute shader in GLSL that is in no file.
///
/// # Errors
/// As [`compile`].
pub fn compile_glsl(text: &str) -> anyhow::Result<Vec<u32>> {
    compile_glsl_stage(text, "comp")
}

/// The SPIR-V of GLSL for a stage: `comp`, `vert`, `frag`.
///
/// # Errors
/// As [`compile`].
pub fn compile_glsl_stage(text: &str, stage: &str) -> anyhow::Result<Vec<u32>> {
    compile_glsl_for(text, stage, NEWEST)
}

/// The same for a version of Vulkan: `vulkan1.1` and so on.
///
/// # Errors
/// As [`compile`].
pub fn compile_glsl_for(text: &str, stage: &str, target: &str) -> anyhow::Result<Vec<u32>> {
    let file = Temporary::new(stage);
    std::fs::write(&file.0, text).context("a temporary file")?;
    glsl(&file.0, stage, target)
}

/// What shaders are compiled for where nothing else is said.
pub const NEWEST: &str = "vulkan1.3";

/// Through Debian's glslangValidator, for a version of Vulkan.
fn glsl(path: &Path, stage: &str, target: &str) -> anyhow::Result<Vec<u32>> {
    let output = Temporary::new("spv");
    let run = Command::new("glslangValidator")
        .args(["--target-env", target, "-V", "--quiet", "-S", stage, "-o"])
        .arg(&output.0)
        .arg(path)
        .output();
    let run = match run {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("glslangValidator is not installed (Debian package glslang-tools): run ./x setup")
        }
        run => run.context("glslangValidator")?,
    };
    if !run.status.success() {
        let said = [run.stdout, run.stderr].concat();
        bail!(
            "glslangValidator: {}",
            String::from_utf8_lossy(&said).trim()
        );
    }
    words(&std::fs::read(&output.0).context("what glslangValidator wrote")?)
}

/// A name for a file that is deleted afterwards.
struct Temporary(PathBuf);

impl Temporary {
    fn new(extension: &str) -> Temporary {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("cortland-{}-{number}.{extension}", std::process::id());
        Temporary(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It is not there when the compiler failed.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// WGSL to SPIR-V through naga, as a WebGPU implementation does it: indices are kept inside their
/// arrays, and workgroup memory is zeroed by code.
///
/// # Errors
/// When naga does not accept the text.
pub fn wgsl(text: &str) -> anyhow::Result<Vec<u32>> {
    use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    let module = naga::front::wgsl::parse_str(text)
        .map_err(|error| anyhow::anyhow!("{}", error.emit_to_string(text)))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| anyhow::anyhow!("{}", error.emit_to_string(text)))?;
    let options = naga::back::spv::Options {
        lang_version: (1, 3),
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            ..BoundsCheckPolicies::default()
        },
        ..naga::back::spv::Options::default()
    };
    Ok(naga::back::spv::write_vec(&module, &info, &options, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(extension: &str, content: &[u8]) -> (Temporary, anyhow::Result<Vec<u32>>) {
        let file = Temporary::new(extension);
        std::fs::write(&file.0, content).unwrap();
        let words = compile(&file.0);
        (file, words)
    }

    #[test]
    fn every_language_gives_a_valid_module() {
        let sources: [(&str, &str); 3] = [
            (
                "comp",
                "#version 450\nlayout(local_size_x=32) in;\n\
                 layout(set=0,binding=0) buffer B { uint v[]; };\n\
                 void main() { v[gl_GlobalInvocationID.x] *= 3u; }\n",
            ),
            (
                "wgsl",
                "@group(0) @binding(0) var<storage, read_write> v: array<u32>;\n\
                 @compute @workgroup_size(32)\n\
                 fn main(@builtin(global_invocation_id) id: vec3<u32>) { v[id.x] *= 3u; }\n",
            ),
            (
                "spvasm",
                "OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
                 OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
                 %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%main = OpFunction %void None %fn\n\
                 %entry = OpLabel\nOpReturn\nOpFunctionEnd\n",
            ),
        ];
        for (extension, text) in sources {
            let (_, words) = file(extension, text.as_bytes());
            let words = words.unwrap_or_else(|e| panic!("{extension}: {e:#}"));
            mesa_nir::validate_spirv(&words, mesa_nir::BlockLayout::Scalar).unwrap();
        }
    }

    #[test]
    fn modules_of_either_byte_order() {
        let module = [spirv::MAGIC_NUMBER, 0x0001_0600];
        let little: Vec<u8> = module.iter().flat_map(|w| w.to_le_bytes()).collect();
        let big: Vec<u8> = module.iter().flat_map(|w| w.to_be_bytes()).collect();
        assert_eq!(file("spv", &little).1.unwrap(), module);
        assert_eq!(file("spv", &big).1.unwrap(), module);
        assert!(file("spv", &little[..5]).1.is_err());
    }

    #[test]
    fn errors_say_which_file_and_why() {
        for (extension, text, says) in [
            (
                "comp",
                "#version 450\nvoid main() { x = 1; }\n",
                "undeclared",
            ),
            (
                "wgsl",
                "@compute @workgroup_size(1) fn main() { x = 1; }\n",
                "x",
            ),
            ("spvasm", "OpNonsense\n", "OpNonsense"),
            ("txt", "", "not a .comp"),
        ] {
            let (path, words) = file(extension, text.as_bytes());
            let error = format!("{:#}", words.unwrap_err());
            assert!(error.contains(says), "{error}");
            assert!(error.contains(path.0.to_str().unwrap()), "{error}");
        }
    }
}
