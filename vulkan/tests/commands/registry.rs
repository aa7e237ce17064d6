// SPDX-License-Identifier: MIT
//! Khronos' registry, `vk.xml`: as much of it as the tests ask for.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};

/// Where Debian's libvulkan-dev and other distributions put it.
const PATH: &str = "/usr/share/vulkan/registry/vk.xml";

/// The registry.
pub(crate) struct Registry {
    /// The type of each command's first parameter; commands without one have none.
    pub(crate) commands: BTreeMap<String, Option<String>>,
    /// Versions of the core, as (major, minor), and what they bring.
    pub(crate) versions: BTreeMap<(u32, u32), Vec<Require>>,
    /// Extensions of Vulkan.
    pub(crate) extensions: BTreeMap<String, Extension>,
    /// Structures that extend others.
    pub(crate) structures: BTreeMap<String, Structure>,
    /// Names of structures that are others' under another name.
    aliases: BTreeMap<String, String>,
    /// Numbers of VkStructureType.
    structure_types: BTreeMap<String, u32>,
}

/// An extension.
pub(crate) struct Extension {
    /// Whether it is an instance's.
    pub(crate) of_instance: bool,
    /// Without what it cannot be.
    pub(crate) depends: Option<String>,
    /// The version that it has become a part of.
    pub(crate) promoted: Option<String>,
    /// What it brings.
    pub(crate) requires: Vec<Require>,
}

/// What a version or extension brings under a condition.
pub(crate) struct Require {
    /// The condition.
    pub(crate) depends: Option<String>,
    /// Commands.
    pub(crate) commands: Vec<String>,
    /// Types.
    pub(crate) types: Vec<String>,
}

/// A structure.
pub(crate) struct Structure {
    /// What it is chained to.
    pub(crate) extends: Vec<String>,
    /// Its number in VkStructureType.
    pub(crate) number: u32,
    /// The types of its members behind the header.
    pub(crate) members: Vec<String>,
}

impl Registry {
    /// The installed one.
    pub(crate) fn installed() -> Registry {
        let text = std::fs::read_to_string(PATH)
            .unwrap_or_else(|error| panic!("{PATH} (package libvulkan-dev): {error}"));
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{PATH}: {error}"));
        Registry::read(document.root_element())
    }

    fn read(root: Node<'_, '_>) -> Registry {
        let mut registry = Registry {
            commands: BTreeMap::new(),
            versions: BTreeMap::new(),
            extensions: BTreeMap::new(),
            structures: BTreeMap::new(),
            aliases: BTreeMap::new(),
            structure_types: BTreeMap::new(),
        };
        registry.read_commands(root);
        for feature in children(root, "feature").filter(of_vulkan) {
            let number = feature.attribute("number").expect("versions have numbers");
            let (major, minor) = number.split_once('.').expect("major.minor");
            let version = (number_of(major), number_of(minor));
            let requires = registry.read_requires(feature, None);
            registry
                .versions
                .entry(version)
                .or_default()
                .extend(requires);
        }
        let extensions = children(root, "extensions").flat_map(|all| children(all, "extension"));
        for extension in extensions.filter(of_vulkan) {
            let name = name_of(extension);
            let number = number_of(extension.attribute("number").expect("a number"));
            let requires = registry.read_requires(extension, Some(number));
            let depends = extension
                .attribute("depends")
                .map(str::to_owned)
                .or_else(|| {
                    // Before 1.3.241: all of a list, and a version.
                    let requires = extension.attribute("requires").unwrap_or_default();
                    let core = extension.attribute("requiresCore");
                    let core = core.map(|core| format!("VK_VERSION_{}", core.replace('.', "_")));
                    let names = requires.split(',').filter(|name| !name.is_empty());
                    let all: Vec<_> = names.map(str::to_owned).chain(core).collect();
                    (!all.is_empty()).then(|| all.join("+"))
                });
            let read = Extension {
                of_instance: extension.attribute("type") == Some("instance"),
                depends,
                promoted: extension.attribute("promotedto").map(str::to_owned),
                requires,
            };
            registry.extensions.insert(name, read);
        }
        registry.read_structures(root);
        registry
    }

    fn read_commands(&mut self, root: Node<'_, '_>) {
        let mut aliases = Vec::new();
        let commands = children(root, "commands").flat_map(|all| children(all, "command"));
        for command in commands.filter(for_vulkan) {
            if let Some(alias) = command.attribute("alias") {
                aliases.push((name_of(command), alias.to_owned()));
                continue;
            }
            let text = |node, tag| {
                let found = children(node, tag).next();
                found.and_then(|found| found.text()).map(str::to_owned)
            };
            let proto = children(command, "proto").next().expect("a prototype");
            let name = text(proto, "name").expect("a name");
            let first = children(command, "param").find(for_vulkan);
            self.commands
                .insert(name, first.and_then(|first| text(first, "type")));
        }
        for (name, of) in aliases {
            let first = self.commands.get(&of).unwrap_or_else(|| panic!("{of}"));
            self.commands.insert(name, first.clone());
        }
    }

    /// What a version or extension brings; takes note of structures' numbers on the way.
    fn read_requires(&mut self, of: Node<'_, '_>, extension: Option<u32>) -> Vec<Require> {
        let mut requires = Vec::new();
        for require in children(of, "require").filter(for_vulkan) {
            let names = |tag| children(require, tag).map(name_of).collect();
            let conditions = ["depends", "feature", "extension"];
            let conditions: Vec<_> = conditions
                .iter()
                .filter_map(|name| require.attribute(*name))
                .collect();
            requires.push(Require {
                depends: (!conditions.is_empty()).then(|| conditions.join("+")),
                commands: names("command"),
                types: names("type"),
            });
            for constant in children(require, "enum") {
                if constant.attribute("extends") != Some("VkStructureType") {
                    continue;
                }
                let Some(offset) = constant.attribute("offset") else {
                    continue;
                };
                let extension = constant.attribute("extnumber").map(number_of).or(extension);
                let extension = extension.expect("the number of an extension");
                // Vulkan's style guide, "Assigning Extension Token Values".
                let value = 1_000_000_000 + (extension - 1) * 1000 + number_of(offset);
                self.structure_types.insert(name_of(constant), value);
            }
        }
        requires
    }

    fn read_structures(&mut self, root: Node<'_, '_>) {
        for constants in children(root, "enums") {
            if constants.attribute("name") == Some("VkStructureType") {
                for constant in children(constants, "enum") {
                    if let Some(value) = constant.attribute("value") {
                        self.structure_types
                            .insert(name_of(constant), number_of(value));
                    }
                }
            }
        }
        let types = children(root, "types").flat_map(|all| children(all, "type"));
        for structure in types.filter(for_vulkan) {
            if structure.attribute("category") != Some("struct") {
                continue;
            }
            if let Some(alias) = structure.attribute("alias") {
                self.aliases.insert(name_of(structure), alias.to_owned());
                continue;
            }
            let Some(extends) = structure.attribute("structextends") else {
                continue;
            };
            let mut members = children(structure, "member").filter(for_vulkan);
            let kind = members.next().and_then(|first| first.attribute("values"));
            let number = kind.and_then(|kind| self.structure_types.get(kind));
            let Some(&number) = number else {
                continue;
            };
            // The chain's pointer.
            members.next();
            let kind = |member| {
                let kind = children(member, "type").next().expect("a type");
                kind.text().expect("a name").to_owned()
            };
            let read = Structure {
                extends: extends.split(',').map(str::to_owned).collect(),
                number,
                members: members.map(kind).collect(),
            };
            self.structures.insert(name_of(structure), read);
        }
    }

    /// Whether a condition holds for a version and a set of extensions.
    pub(crate) fn holds(&self, condition: &Option<String>, has: &dyn Fn(&str) -> bool) -> bool {
        let Some(condition) = condition else {
            return true;
        };
        let mut tokens = tokens(condition).into_iter().peekable();
        let holds = expression(&mut tokens, has);
        assert!(tokens.next().is_none(), "{condition}");
        holds
    }

    /// The structure of a name.
    pub(crate) fn structure(&self, name: &str) -> Option<(&str, &Structure)> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let (name, structure) = self.structures.get_key_value(name)?;
        Some((name, structure))
    }

    /// All that versions up to one and extensions bring.
    pub(crate) fn brought<'a>(
        &'a self,
        has: &dyn Fn(&str) -> bool,
    ) -> impl Iterator<Item = (String, &'a Require)> {
        let versions = self.versions.iter().flat_map(|((major, minor), requires)| {
            let name = format!("VK_VERSION_{major}_{minor}");
            requires.iter().map(move |require| (name.clone(), require))
        });
        let extensions = self.extensions.iter().flat_map(|(name, extension)| {
            let requires = extension.requires.iter();
            requires.map(|require| (name.clone(), require))
        });
        let all: Vec<_> = versions
            .chain(extensions)
            .filter(|(name, require)| has(name) && self.holds(&require.depends, has))
            .collect();
        all.into_iter()
    }

    /// Names of all extensions.
    pub(crate) fn extension_names(&self) -> BTreeSet<&str> {
        self.extensions.keys().map(String::as_str).collect()
    }
}

fn children<'a, 'i>(node: Node<'a, 'i>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| child.has_tag_name(tag))
}

fn name_of(node: Node<'_, '_>) -> String {
    node.attribute("name").expect("a name").to_owned()
}

fn number_of(digits: &str) -> u32 {
    digits.parse().unwrap_or_else(|_| panic!("{digits}"))
}

fn is_vulkan(apis: &str) -> bool {
    let mut apis = apis.split(',');
    apis.any(|api| api.starts_with("vulkan") && api != "vulkansc")
}

/// Whether a version or extension is one of Vulkan, and not of Vulkan SC only.
fn of_vulkan(node: &Node<'_, '_>) -> bool {
    let apis = node
        .attribute("api")
        .or_else(|| node.attribute("supported"));
    is_vulkan(apis.unwrap_or_default())
}

/// Whether a declaration is not for Vulkan SC only.
fn for_vulkan(node: &Node<'_, '_>) -> bool {
    node.attribute("api").is_none_or(is_vulkan)
}

fn tokens(condition: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    for c in condition.chars() {
        if "+,()".contains(c) {
            tokens.extend([c.to_string(), String::new()]);
        } else if let Some(last) = tokens.last_mut() {
            last.push(c);
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

type Tokens = std::iter::Peekable<std::vec::IntoIter<String>>;

/// `+` is and, `,` is or, both from left to right.
fn expression(tokens: &mut Tokens, has: &dyn Fn(&str) -> bool) -> bool {
    let mut holds = term(tokens, has);
    while let Some(operator) = tokens.next_if(|token| token == "+" || token == ",") {
        let other = term(tokens, has);
        holds = if operator == "+" {
            holds & other
        } else {
            holds | other
        };
    }
    holds
}

fn term(tokens: &mut Tokens, has: &dyn Fn(&str) -> bool) -> bool {
    let token = tokens.next().expect("a name or a parenthesis");
    if token != "(" {
        return has(&token);
    }
    let holds = expression(tokens, has);
    assert_eq!(tokens.next().as_deref(), Some(")"));
    holds
}

#[test]
fn conditions_are_read() {
    let registry = Registry::installed();
    let has = |name: &str| name == "A" || name == "B";
    let holds = |condition: &str| registry.holds(&Some(condition.to_owned()), &has);
    assert!(holds("A"));
    assert!(!holds("C"));
    assert!(holds("A+B") && !holds("A+C") && holds("A,C") && holds("C,B"));
    assert!(holds("(A+C),B") && !holds("(A,B)+C"));
}
