// SPDX-License-Identifier: MIT
//! The shader cache on disk, as processes one after another find it.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use agx_vulkan::entry::loader;
use ash::vk;

const MODULE: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 8 1 1
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
       %main = OpFunction %void None %fn
      %start = OpLabel
               OpReturn
               OpFunctionEnd
"#;

/// What a process prints: whether a pipeline was there without compiling it.
const FOUND: &str = "found on disk";
const COMPILED: &str = "compiled";

/// Not a test: what the other test runs in processes of its own.
#[test]
#[ignore = "run by the other test"]
fn process() {
    let words = mesa_nir::assemble(MODULE).expect("assembles");
    // SAFETY: valid structures; objects are destroyed once, and not used afterwards.
    unsafe {
        let entry = ash::Entry::from_static_fn(ash::StaticFn {
            get_instance_proc_addr: loader::get_instance_proc_addr,
        });
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None);
        let instance = instance.expect("an instance");
        let physical = instance.enumerate_physical_devices().expect("devices")[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance
            .create_device(physical, &info, None)
            .expect("a device");
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = device.create_shader_module(&info, None).expect("a module");
        let info = vk::PipelineLayoutCreateInfo::default();
        let layout = device
            .create_pipeline_layout(&info, None)
            .expect("a layout");
        let name: &CStr = c"main";
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(name);
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        let only_found = info.flags(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED);
        let create =
            |info| device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        let pipeline = match create(only_found) {
            Ok(made) => {
                println!("{FOUND}");
                made[0]
            }
            Err((_, vk::Result::PIPELINE_COMPILE_REQUIRED)) => {
                println!("{COMPILED}");
                create(info).expect("a pipeline")[0]
            }
            Err((_, error)) => panic!("{error:?}"),
        };
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_shader_module(module, None);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
}

/// Runs [`process`] with a cache directory; whether it found the shader there.
fn finds(directory: &Path, debug: &str) -> bool {
    let output = Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "process", "--ignored", "--nocapture"])
        .env("XDG_CACHE_HOME", directory)
        .env("CORTLAND_DEBUG", debug)
        .env("CORTLAND_DEVICE", "sim")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_ne!(text.contains(FOUND), text.contains(COMPILED), "{text}");
    text.contains(FOUND)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory.join("cortland")) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn a_shader_is_compiled_once_for_all_processes() {
    let name = format!("cortland-processes-{}", std::process::id());
    let directory = env::temp_dir().join(name);
    let _ = fs::remove_dir_all(&directory);

    assert!(!finds(&directory, "nocache"));
    assert_eq!(files(&directory), [] as [PathBuf; 0]);
    assert!(!finds(&directory, ""));
    assert_eq!(files(&directory).len(), 1);
    assert!(finds(&directory, ""));
    assert!(!finds(&directory, "nocache"));

    // A damaged file is compiled anew, and then good again.
    let file = &files(&directory)[0];
    let good = fs::read(file).expect("there");
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(file, &bad).expect("written");
    assert!(!finds(&directory, ""));
    assert_eq!(fs::read(file).expect("there"), good);
    fs::write(file, &good[..good.len() / 2]).expect("written");
    assert!(!finds(&directory, ""));
    assert!(finds(&directory, ""));
    fs::remove_dir_all(&directory).expect("there");
}
