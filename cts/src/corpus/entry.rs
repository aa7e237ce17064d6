// SPDX-License-Identifier: MIT
//! What stands beside a shader: `NAME.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How to run a shader and judge what it did. Everything has a default but the buffers' bindings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// The entry point.
    #[serde(default = "main")]
    pub(super) entry: String,
    /// Workgroups.
    #[serde(default = "one_group")]
    pub(super) groups: [u32; 3],
    /// The first workgroup's index.
    #[serde(default)]
    pub(super) base_group: [u32; 3],
    /// Push constants, as `content` describes bytes.
    #[serde(default)]
    pub(super) push: String,
    /// Specialisation constants: `ID = "TYPE:value"`, or `"true"` and `"false"`.
    #[serde(default)]
    pub(super) spec: BTreeMap<String, String>,
    /// What results are compared with.
    #[serde(default)]
    pub(super) compare_with: CompareWith,
    /// Why not with lavapipe.
    #[serde(default)]
    pub(super) reason: String,
    /// Results do not depend on the subgroup size although the shader uses subgroups.
    #[serde(default)]
    pub(super) any_subgroup_size: bool,
    /// lavapipe computes what is expected; false when it cannot run the shader or gets it wrong.
    #[serde(default = "yes")]
    pub(super) lavapipe: bool,
    /// Buffers.
    #[serde(default)]
    pub(super) buffer: Vec<BufferDescription>,
}

fn main() -> String {
    "main".to_owned()
}

fn yes() -> bool {
    true
}

fn one_group() -> [u32; 3] {
    [1; 3]
}

/// What results are compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompareWith {
    /// With what Mesa's software Vulkan driver computes.
    #[default]
    Lavapipe,
    /// With values in the description. Buffers without such must be unchanged.
    Expected,
    /// With nothing: that it runs without a trap is the test.
    None,
}

/// One buffer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BufferDescription {
    /// Descriptor set.
    #[serde(default)]
    pub(super) set: u32,
    /// Binding.
    #[serde(default)]
    pub(super) binding: u32,
    /// Element of a descriptor array.
    #[serde(default)]
    pub(super) element: u32,
    /// What it is bound as.
    #[serde(default)]
    pub(super) kind: Kind,
    /// Its size; that of its content if left out.
    pub(super) bytes: Option<usize>,
    /// Its content.
    #[serde(default)]
    pub(super) init: String,
    /// How it is compared.
    #[serde(default = "bits")]
    pub(super) compare: String,
    /// What must be in it afterwards.
    pub(super) expect: Option<String>,
    /// Offset in the push constants where its address goes.
    pub(super) address_at: Option<usize>,
}

fn bits() -> String {
    "bits".to_owned()
}

/// Descriptor types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A storage buffer.
    #[default]
    Storage,
    /// A uniform buffer.
    Uniform,
    /// No descriptor.
    Address,
}
