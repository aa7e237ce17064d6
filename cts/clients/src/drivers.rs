// SPDX-License-Identifier: MIT
//! The two drivers, and processes that run on one of them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail, ensure};

use crate::outcome::Outcome;

/// A driver to run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// What to call it.
    pub name: &'static str,
    /// The manifest that the loader reads.
    pub manifest: PathBuf,
    /// The simulator splits render commands after each draw, as if its memory for geometry were full.
    pub partial_renders: bool,
}

impl Driver {
    /// Debian's software driver.
    ///
    /// # Errors
    /// When it is not installed.
    pub fn lavapipe() -> anyhow::Result<Driver> {
        let directory = Path::new("/usr/share/vulkan/icd.d");
        let files = std::fs::read_dir(directory).context(
            "no Vulkan driver is installed (Debian package mesa-vulkan-drivers): run ./x setup",
        )?;
        let manifest = files
            .filter_map(|file| Some(file.ok()?.path()))
            .find(|path| {
                let name = path.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.starts_with("lvp_icd"))
            });
        Ok(Driver {
            name: "lavapipe",
            manifest: manifest.ok_or_else(|| anyhow!("{}: no lavapipe", directory.display()))?,
            partial_renders: false,
        })
    }

    /// This project's driver: that of the manifest in `CORTLAND_MANIFEST`, or the one beside the
    /// running test or benchmark.
    ///
    /// # Errors
    /// When it is not there.
    pub fn cortland() -> anyhow::Result<Driver> {
        let manifest = match std::env::var_os("CORTLAND_MANIFEST") {
            Some(manifest) => PathBuf::from(manifest),
            None => manifest()?,
        };
        Ok(Driver {
            name: "Cortland",
            manifest,
            partial_renders: false,
        })
    }

    /// Has a command's process run on this driver alone, on the simulator at its strictest.
    pub fn choose(&self, command: &mut Command) {
        command
            .env("VK_DRIVER_FILES", &self.manifest)
            .env("VK_ICD_FILENAMES", &self.manifest)
            // Mesa's layer that reorders devices: it is everywhere where lavapipe is.
            .env("NODEVICE_SELECT", "1")
            .env("CORTLAND_DEVICE", "sim")
            .env("CORTLAND_SIM_STRICT", "1")
            // Window systems get the buffers of the simulated GPU, too: those of scenarios know what they are.
            .env("CORTLAND_DEBUG", "dmabuf")
            .env_remove("VK_ADD_DRIVER_FILES")
            .env_remove("VK_INSTANCE_LAYERS");
        if self.partial_renders {
            command.env("CORTLAND_SIM_PARTIAL", "1");
        }
    }

    /// Runs a scenario in a process of the suite's program.
    ///
    /// # Errors
    /// When the process ends by a signal or without an outcome, with what it wrote.
    pub fn run(&self, program: &Path, scenario: &str, validate: bool) -> anyhow::Result<Outcome> {
        let output = Temporary::new();
        let mut command = Command::new(program);
        command.args(["run", scenario, "--output"]).arg(&output.0);
        if validate {
            command.arg("--validate");
        }
        self.choose(&mut command);
        let said =
            finish(command, TIME_LIMIT).with_context(|| format!("{scenario} on {}", self.name))?;
        let outcome = std::fs::read(&output.0).map_err(anyhow::Error::from);
        let outcome = outcome.and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        outcome.with_context(|| format!("{scenario} on {}: no outcome\n{said}", self.name))
    }
}

/// After which a scenario counts as hanging.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Writes a manifest for the driver that Cargo has built for the running test or benchmark.
fn manifest() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let library = program.with_file_name("libvulkan_cortland.so");
    ensure!(
        library.exists(),
        "{}: not there. It is built for tests and benchmarks",
        library.display()
    );
    let manifest = program.with_file_name("cortland_icd.json");
    let text = serde_json::json!({
        "file_format_version": "1.0.1",
        "ICD": { "library_path": library, "api_version": "1.3.0" },
    });
    // Of several processes and threads that write it, all write the same; renaming keeps readers whole.
    static WRITERS: AtomicU32 = AtomicU32::new(0);
    let writer = WRITERS.fetch_add(1, Ordering::Relaxed);
    let new = manifest.with_extension(format!("{}.{writer}.new", std::process::id()));
    std::fs::write(&new, text.to_string())?;
    std::fs::rename(&new, &manifest)?;
    Ok(manifest)
}

/// Runs a process to its end; what it wrote.
///
/// # Errors
/// When it takes longer than it may or ends by a signal.
pub fn finish(mut command: Command, limit: Duration) -> anyhow::Result<String> {
    let log = Temporary::new();
    let file = std::fs::File::create(&log.0)?;
    let mut child = command
        .stdin(std::process::Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .with_context(|| format!("{}", command.get_program().display()))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let said = std::fs::read(&log.0)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    match status {
        None => bail!("it hangs: ended after {} s\n{said}", limit.as_secs()),
        Some(status) if status.code().is_none() => bail!("{status}\n{said}"),
        Some(_) => Ok(said),
    }
}

/// A name for a file that is deleted afterwards.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Temporary {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("cortland-clients-{}-{number}", std::process::id());
        Temporary(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It is not there when the process wrote nothing.
        let _ = std::fs::remove_file(&self.0);
    }
}
