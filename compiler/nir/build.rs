// SPDX-License-Identifier: MIT
//! Builds the pinned Mesa if it is not there yet, compiles the shim and generates the bindings.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Everything of this crate that the result depends on. Cargo runs this again only when one of them changes.
const INPUTS: &[&str] = &["build.rs", "mesa", "shim"];

/// Environment variables that choose another Mesa.
const VARIABLES: &[&str] = &[
    "CORTLAND_MESA_BUILD",
    "CORTLAND_MESA_TARBALL",
    "CORTLAND_OFFLINE",
    "CORTLAND_TARGET_DIR",
];

const SHIM: &[&str] = &[
    "shim/guard.c",
    "shim/shim.c",
    "shim/validate.c",
    "shim/unsupported.c",
    "shim/export.c",
    "shim/fold.c",
    "shim/search.c",
    "shim/apple9/any_format.c",
    "shim/apple9/blend.c",
    "shim/apple9/check.c",
    "shim/apple9/filter.c",
    "shim/apple9/hoist.c",
    "shim/apple9/implicit_lod.c",
    "shim/apple9/opt_values.c",
    "shim/apple9/opt_index.c",
    "shim/apple9/opt_locals.c",
    "shim/apple9/opt_rotate.c",
    "shim/apple9/lower.c",
    "shim/apple9/lower_access.c",
    "shim/apple9/lower_alu.c",
    "shim/apple9/lower_descriptors.c",
    "shim/apple9/lower_fragment.c",
    "shim/apple9/lower_images.c",
    "shim/apple9/lower_io.c",
    "shim/apple9/lower_jumps.c",
    "shim/apple9/lower_memory.c",
    "shim/apple9/lower_pointers.c",
    "shim/apple9/lower_subgroups.c",
    "shim/apple9/lower_sysvals.c",
    "shim/apple9/lower_textures.c",
    "shim/apple9/lower_trig.c",
    "shim/apple9/lower_varyings.c",
    "shim/apple9/lower_vertex.c",
    "shim/apple9/lower_workgroup.c",
    "shim/apple9/texture_slots.c",
    "shim/apple9/tile_format.c",
];
const SHIM_HEADERS: &[&str] = &[
    "shim/guard.h",
    "shim/shim.h",
    "shim/validate.h",
    "shim/unsupported.h",
    "shim/export.h",
    "shim/copies.h",
    "shim/fold.h",
    "shim/apple9/apple9.h",
    "shim/apple9/graphics.h",
    "shim/apple9/stages.h",
    "shim/apple9/texture.h",
];

/// Mesa's enumerations that become Rust's, and the prefix of their enumerators.
const ENUMS: &[(&str, &str)] = &[
    ("nir_op", "nir_op_"),
    ("nir_intrinsic_op", "nir_intrinsic_"),
    ("nir_intrinsic_index_flag", "NIR_INTRINSIC_"),
    ("nir_atomic_op", "nir_atomic_op_"),
];

fn main() {
    for input in INPUTS {
        println!("cargo::rerun-if-changed={input}");
    }
    for variable in VARIABLES {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mesa = Mesa::find();
    compile_shim(&mesa);
    println!("cargo::rustc-env=CORTLAND_BUILD_ID={}", mesa.build_id());
    mesa.write_implied_capabilities(&out.join("implied.rs"));
    generate_bindings(&mesa, &out.join("bindings.rs"));
    link(&mesa);
}

/// A finished run of mesa/build.sh.
struct Mesa {
    dir: PathBuf,
    /// Include directories and preprocessor flags.
    flags: Vec<String>,
}

impl Mesa {
    /// The build that the user names, or the one in the target directory, which build.sh makes when it is missing.
    fn find() -> Self {
        let dir = env::var_os("CORTLAND_MESA_BUILD").map_or_else(Self::build, PathBuf::from);
        if !dir.is_absolute() {
            fail(&format!(
                "CORTLAND_MESA_BUILD must be an absolute path, not {}",
                dir.display()
            ));
        }
        let text = read(&dir, "cflags");
        let mut flags = Vec::new();
        let includes = [
            dir.join("guard"),
            dir.join("src/include"),
            dir.join("src/src"),
            dir.join("src/src/compiler"),
            dir.join("src/src/compiler/nir"),
            dir.join("build/src"),
            dir.join("build/src/compiler"),
            dir.join("build/src/compiler/nir"),
            dir.join("build/src/compiler/spirv"),
        ];
        flags.extend(includes.iter().map(|i| format!("-I{}", i.display())));
        flags.extend(text.lines().map(str::to_owned));
        Self { dir, flags }
    }

    /// Names all the C that this crate is made of: build.sh's hash of what went into Mesa, and one of the shim.
    fn build_id(&self) -> String {
        let mut hasher = DefaultHasher::new();
        for name in SHIM.iter().chain(SHIM_HEADERS) {
            let text = std::fs::read(name).unwrap_or_else(|e| fail(&format!("{name}: {e}")));
            (name, text).hash(&mut hasher);
        }
        format!(
            "{}-{:016x}",
            read(&self.dir, "stamp").trim(),
            hasher.finish()
        )
    }

    /// The table of capabilities that imply others, as a Rust expression.
    fn write_implied_capabilities(&self, to: &Path) {
        let text = read(&self.dir, "implied");
        let pairs = text.lines().map(|l| format!("({}),", l.replace(' ', ", ")));
        let table = format!("&[{}]", pairs.collect::<String>());
        std::fs::write(to, table).unwrap_or_else(|e| fail(&format!("{}: {e}", to.display())));
    }

    fn build() -> PathBuf {
        let (host, target) = (variable("HOST"), variable("TARGET"));
        if host != target {
            fail(&format!(
                "mesa/build.sh builds for this machine ({host}) only: to build for {target}, \
                 set CORTLAND_MESA_BUILD to a build of Mesa's NIR for it"
            ));
        }
        let output = Command::new("bash")
            .arg("mesa/build.sh")
            .env("CORTLAND_TARGET_DIR", target_dir())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .unwrap_or_else(|e| fail(&format!("cannot run bash: {e}")));
        if !output.status.success() {
            fail(
                "mesa/build.sh could not build Mesa's NIR (its messages are above). \
                 Run ./x setup to install what it needs.",
            );
        }
        let dir = String::from_utf8(output.stdout).expect("build.sh prints a path in UTF-8");
        PathBuf::from(dir.trim_end())
    }
}

/// Where Mesa is built: what the user names, or cargo's target directory. Cargo's own variables may be relative to a
/// directory that is unknown here, so that one is found from OUT_DIR: target/[triple/]profile/build/.../out.
fn target_dir() -> PathBuf {
    if let Some(dir) = env::var_os("CORTLAND_TARGET_DIR").map(PathBuf::from) {
        if dir.is_relative() {
            fail(&format!(
                "CORTLAND_TARGET_DIR must be an absolute path, not {}",
                dir.display()
            ));
        }
        return dir;
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let build = out.ancestors().find(|d| d.ends_with("build"));
    let mut dir = build.and_then(|d| d.parent()?.parent());
    if dir.is_some_and(|d| d.ends_with(variable("TARGET"))) {
        dir = dir.and_then(Path::parent);
    }
    dir.map(Path::to_owned).unwrap_or_else(|| {
        fail(&format!(
            "{} is in no target directory of cargo's: set CORTLAND_TARGET_DIR",
            out.display()
        ))
    })
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| fail(&format!("{name}: {e}")))
}

/// A file of a finished build.
fn read(dir: &Path, name: &str) -> String {
    std::fs::read_to_string(dir.join(name)).unwrap_or_else(|e| {
        fail(&format!(
            "{} is not a finished build of Mesa's NIR ({name}: {e}): run ./x setup",
            dir.display()
        ))
    })
}

fn compile_shim(mesa: &Mesa) {
    let mut build = cc::Build::new();
    build
        .files(SHIM)
        .warnings(false)
        .opt_level(2)
        .define("_GNU_SOURCE", None);
    for flag in &mesa.flags {
        build.flag(flag);
    }
    // A function that is not there is an error here, not when programs are linked. (With -w it would be neither.)
    build
        .flag("-Werror=implicit-function-declaration")
        .compile("cortland_shim");
}

/// Takes the prefix off the enumerators of [`ENUMS`].
#[derive(Debug)]
struct Enumerators;

impl bindgen::callbacks::ParseCallbacks for Enumerators {
    fn enum_variant_name(
        &self,
        name: Option<&str>,
        variant: &str,
        _: bindgen::callbacks::EnumVariantValue,
    ) -> Option<String> {
        let name = name?.trim_start_matches("enum ");
        let (_, prefix) = ENUMS.iter().find(|(e, _)| *e == name)?;
        variant.strip_prefix(prefix).map(str::to_owned)
    }
}

fn generate_bindings(mesa: &Mesa, to: &Path) {
    let mut builder = bindgen::Builder::default().parse_callbacks(Box::new(Enumerators));
    for (name, _) in ENUMS {
        builder = builder
            .rustified_non_exhaustive_enum(name)
            .allowlist_type(name);
    }
    builder
        .header("shim/shim.h")
        .clang_args(&mesa.flags)
        .allowlist_function("cortland_.*|apple9_(allows_.*|operation_of)")
        .blocklist_function("cortland_(malloc|calloc|realloc|mesa_free|guard_shared)")
        .allowlist_type("cortland_(failure_kind|export_node|export_instr|place|binding_kind|numeric|packing|colour|factor|blend_op|logic_op|varying_mode)|gl_frag_depth_layout|nir_lower_packing_op")
        .allowlist_var("CORTLAND_(MEMORY_BUDGET|MOST_ATTACHMENTS|VERTEX_.*|FRAGMENT_.*|LOCATION_.*|MOST_TEXTURES|MOST_SAMPLERS|MOST_SLICES|EXPORT_MAGIC|EXPORT_DEPTH|ALU_.*|.*_PAGES?_(HIGH|LOW))")
        .allowlist_function("spirv_capabilities_(get|set)")
        .allowlist_function("glsl_type_singleton_.*")
        .allowlist_type("spirv_to_nir_options|nir_spirv_specialization|nir_spirv_debug_level")
        .allowlist_type("nir_address_format|nir_spirv_execution_environment")
        .allowlist_type(
            "nir_shader_compiler_options|nir_lower_int64_options|nir_lower_doubles_options",
        )
        .allowlist_type("gl_shader_stage|gl_subgroup_size|float_controls|pipe_shader_type")
        .opaque_type("nir_shader|nir_instr|nir_variable|blake3_hash")
        .blocklist_type("FILE|_IO_FILE")
        .constified_enum("SpvCapability_")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .derive_default(true)
        .layout_tests(false)
        .generate_comments(false)
        .merge_extern_blocks(true)
        .formatter(bindgen::Formatter::None)
        .generate()
        .unwrap_or_else(|e| fail(&format!("bindgen: {e}")))
        .write_to_file(to)
        .unwrap_or_else(|e| fail(&format!("{}: {e}", to.display())));
}

fn link(mesa: &Mesa) {
    println!(
        "cargo::rustc-link-search=native={}",
        mesa.dir.join("lib").display()
    );
    println!("cargo::rustc-link-lib=static=mesa_nir");
    println!("cargo::rustc-link-lib=dylib=m");
    if env::var_os("CARGO_FEATURE_BUNDLED_SPIRV_TOOLS").is_none() {
        link_spirv_tools();
    }
}

/// The system's SPIR-V validator: the static library if it has one, as Debian does, else the shared one.
fn link_spirv_tools() {
    let library = |name: &str| pkg_config::Config::new().cargo_metadata(false).probe(name);
    if library("SPIRV-Tools").is_err() && library("SPIRV-Tools-shared").is_err() {
        fail(
            "pkg-config finds no SPIRV-Tools. Run ./x setup (Debian: package spirv-tools), \
             or build with --features bundled-spirv-tools",
        );
    }
    let dir = pkg_config::get_variable("SPIRV-Tools", "libdir").unwrap_or_default();
    if Path::new(&dir).join("libSPIRV-Tools.a").exists() {
        println!("cargo::rustc-link-search=native={dir}");
        println!("cargo::rustc-link-lib=static=SPIRV-Tools");
        println!("cargo::rustc-link-lib=dylib=stdc++");
    } else if let Err(e) = pkg_config::Config::new().probe("SPIRV-Tools-shared") {
        fail(&e.to_string());
    }
}

/// Stop the build with a message for a person, not a backtrace.
fn fail(message: &str) -> ! {
    for line in message.lines() {
        println!("cargo::error={line}");
    }
    std::process::exit(1)
}
