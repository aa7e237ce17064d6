// SPDX-License-Identifier: MIT
//! VkDescriptorSetLayout: where in a set's memory each binding is.

use ash::vk;
use mesa_nir::{BindingKind, BindingLayout, Place};

use super::write::{Cursor, DynamicBuffer, Piece, Target, write_set};
use super::{ALIGNMENT, DESCRIPTOR_SIZE, MAX_SET_BYTES};
use crate::device::{self, Device};
use crate::error::VkResult;
use crate::host::{self, HostAllocator, HostVec};
use crate::image::descriptor::{SAMPLER_SIZE, STORAGE_SIZE, TEXEL_BUFFER_SIZE, TEXTURE_SIZE};
use crate::object::{self, Object};
use crate::physical_device::limits;
use crate::sampler::Sampler;
use crate::shared::Shared;
use crate::{debug, entry};

/// A descriptor set layout: one owner of what pipeline layouts and sets own too.
pub(crate) struct SetLayout {
    /// The layout.
    pub(crate) layout: Shared<Layout>,
}

impl Object for SetLayout {
    type Handle = vk::DescriptorSetLayout;
}

impl std::ops::Deref for SetLayout {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.layout
    }
}

/// The bindings of a set.
pub(crate) struct Layout {
    /// By number. Small gaps between numbers are filled with bindings that have nothing.
    bindings: HostVec<Binding>,
    /// How many of the first have their index as number.
    direct: u32,
    /// Bytes of memory, with all elements that a variable binding can have.
    size: u32,
    /// Dynamic buffers.
    dynamic_count: u32,
    /// Descriptors of immutable samplers.
    immutable: HostVec<[u8; SAMPLER_SIZE]>,
    /// Whether images or samplers may be written after the set is bound.
    late: bool,
}

/// A binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) descriptor_type: vk::DescriptorType,
    /// The same for buffers in the set's memory, [`NO_TYPE`] for all others.
    pub(crate) in_set: vk::DescriptorType,
    /// Elements; bytes of an inline uniform block.
    pub(crate) count: u32,
    /// Where the first is: an offset in the set's memory, or an index of a dynamic buffer.
    pub(crate) start: u32,
    /// A set may have fewer elements.
    pub(crate) variable: bool,
    /// Where its immutable samplers begin in the layout's list, if it has any.
    immutable: u32,
}

impl Binding {
    /// What is at a number that the application gave no binding.
    fn nothing(number: u32) -> Binding {
        Binding {
            number,
            kind: Kind::Absent,
            descriptor_type: NO_TYPE,
            in_set: NO_TYPE,
            count: 0,
            start: 0,
            variable: false,
            immutable: 0,
        }
    }

    /// All its elements.
    fn all(&self) -> Piece {
        Piece {
            kind: self.kind,
            start: self.start,
            count: self.count,
        }
    }
}

/// Adds bindings that have nothing to a sorted list where numbers are missing, as long as its
/// memory reaches.
fn fill_gaps(all: &mut HostVec<Binding>) {
    let mut next = 0;
    for at in 0..all.len() {
        let number = all[at].number;
        if number.saturating_sub(next) as usize > all.capacity() - all.len() {
            break;
        }
        all.extend((next..number).map(Binding::nothing));
        next = number.saturating_add(1);
    }
    all.sort_unstable_by_key(|binding| binding.number);
}

/// What no descriptor is.
const NO_TYPE: vk::DescriptorType = vk::DescriptorType::from_raw(-1);

/// Most bindings that are added to a layout so that numbers can be indices.
const MOST_FILLED: usize = 32;

/// How descriptors are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A buffer, in the set's memory.
    Buffer,
    /// A buffer, on the host.
    Dynamic,
    /// Bytes, in the set's memory.
    Inline,
    /// An image that is sampled, in the set's memory as all that follow.
    Texture,
    /// A sampler.
    Sampler,
    /// A sampler that the layout gives.
    FixedSampler,
    /// An image with its sampler.
    Combined,
    /// An image whose sampler the layout gives.
    FixedCombined,
    /// An image that is loaded from and stored to.
    Storage,
    /// A texel buffer.
    TexelBuffer,
    /// Not at all: what this driver does not have.
    Absent,
}

impl Kind {
    pub(crate) fn of(descriptor_type: vk::DescriptorType) -> Kind {
        match descriptor_type {
            vk::DescriptorType::UNIFORM_BUFFER | vk::DescriptorType::STORAGE_BUFFER => Kind::Buffer,
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC
            | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC => Kind::Dynamic,
            vk::DescriptorType::INLINE_UNIFORM_BLOCK => Kind::Inline,
            vk::DescriptorType::SAMPLED_IMAGE | vk::DescriptorType::INPUT_ATTACHMENT => {
                Kind::Texture
            }
            vk::DescriptorType::SAMPLER => Kind::Sampler,
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER => Kind::Combined,
            vk::DescriptorType::STORAGE_IMAGE => Kind::Storage,
            vk::DescriptorType::UNIFORM_TEXEL_BUFFER | vk::DescriptorType::STORAGE_TEXEL_BUFFER => {
                Kind::TexelBuffer
            }
            _ => Kind::Absent,
        }
    }

    /// The same where the layout gives the samplers.
    fn fixed(self) -> Kind {
        match self {
            Kind::Sampler => Kind::FixedSampler,
            Kind::Combined => Kind::FixedCombined,
            other => other,
        }
    }

    /// As a descriptor type says it, wherever samplers come from.
    pub(super) fn plain(self) -> Kind {
        match self {
            Kind::FixedSampler => Kind::Sampler,
            Kind::FixedCombined => Kind::Combined,
            other => other,
        }
    }

    /// Bytes from one element to the next, in the set's memory.
    #[inline]
    pub(crate) fn stride(self) -> u32 {
        match self {
            Kind::Buffer => DESCRIPTOR_SIZE,
            Kind::Inline => 1,
            Kind::Texture => TEXTURE_SIZE as u32,
            Kind::Sampler | Kind::FixedSampler => SAMPLER_SIZE as u32,
            Kind::Combined | Kind::FixedCombined => (TEXTURE_SIZE + SAMPLER_SIZE) as u32,
            Kind::Storage => STORAGE_SIZE as u32,
            Kind::TexelBuffer => TEXEL_BUFFER_SIZE as u32,
            Kind::Dynamic | Kind::Absent => 0,
        }
    }

    /// Whether its records are gathered into tables that the texture unit reads.
    pub(crate) fn is_gathered(self) -> bool {
        !matches!(
            self,
            Kind::Buffer | Kind::Dynamic | Kind::Inline | Kind::Absent
        )
    }

    /// Whether both kinds are kept in the same memory, that of the set or that of the host.
    pub(crate) fn lies_with(self, other: Kind) -> bool {
        (self == Kind::Dynamic) == (other == Kind::Dynamic)
    }

    /// From the start of one element to that of the next, in bytes or dynamic buffers.
    #[inline]
    pub(crate) fn step(self) -> u32 {
        match self {
            Kind::Dynamic => 1,
            _ => self.stride(),
        }
    }

    /// Bytes of so many elements in the set's memory.
    pub(crate) fn bytes(self, count: u32) -> u64 {
        let bytes = u64::from(count) * u64::from(self.stride());
        bytes.next_multiple_of(u64::from(ALIGNMENT))
    }

    /// How many descriptors so many elements count as.
    fn descriptors(self, count: u32) -> u64 {
        match self {
            Kind::Inline => 1,
            _ => u64::from(count),
        }
    }
}

/// What a creation structure asks for, without its order.
#[derive(Clone, Copy, Default)]
struct Extent {
    bytes: u64,
    descriptors: u64,
    /// The binding whose count may vary.
    variable: Option<(Kind, u32)>,
    inline_too_large: bool,
}

impl Extent {
    /// # Safety
    /// The structure is valid.
    unsafe fn of(info: &vk::DescriptorSetLayoutCreateInfo<'_>) -> Extent {
        let mut extent = Extent::default();
        // SAFETY: the caller's promise.
        for (binding, flags) in unsafe { bindings(info) } {
            let (kind, count) = (Kind::of(binding.descriptor_type), binding.descriptor_count);
            extent.bytes += kind.bytes(count);
            extent.descriptors += kind.descriptors(count);
            if flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT) {
                extent.variable = Some((kind, count));
            }
            extent.inline_too_large |= kind == Kind::Inline && count > limits::INLINE_UNIFORM_BYTES;
        }
        extent
    }

    fn fits(&self) -> bool {
        self.bytes <= u64::from(MAX_SET_BYTES)
            && self.descriptors <= u64::from(limits::DESCRIPTORS)
            && !self.inline_too_large
    }

    /// The most elements of the variable binding, given the others.
    fn most(&self) -> u32 {
        let Some((kind, count)) = self.variable else {
            return 0;
        };
        let bytes = u64::from(MAX_SET_BYTES).saturating_sub(self.bytes - kind.bytes(count));
        let others = self.descriptors - kind.descriptors(count);
        let descriptors = u64::from(limits::DESCRIPTORS).saturating_sub(others);
        let most = match kind {
            Kind::Inline => bytes.min(u64::from(limits::INLINE_UNIFORM_BYTES)),
            Kind::Dynamic | Kind::Absent => descriptors,
            _ => descriptors.min(bytes / u64::from(kind.stride())),
        };
        u32::try_from(most).unwrap_or(u32::MAX)
    }
}

/// The bindings that a creation structure lists, with their flags.
///
/// # Safety
/// The structure is valid for `'a`.
unsafe fn bindings<'a>(
    info: &'a vk::DescriptorSetLayoutCreateInfo<'a>,
) -> impl Iterator<
    Item = (
        vk::DescriptorSetLayoutBinding<'a>,
        vk::DescriptorBindingFlags,
    ),
> {
    type Flags<'a> = vk::DescriptorSetLayoutBindingFlagsCreateInfo<'a>;
    // SAFETY: the caller's promise.
    let (listed, flags) = unsafe {
        let flags = entry::find::<Flags<'a>>(info.p_next);
        let flags = flags.map_or(&[][..], |f| {
            entry::slice(f.p_binding_flags, f.binding_count)
        });
        (entry::slice(info.p_bindings, info.binding_count), flags)
    };
    let listed = listed.iter().enumerate();
    listed.map(|(at, binding)| (*binding, flags.get(at).copied().unwrap_or_default()))
}

/// The immutable samplers of a binding; none where it has none.
///
/// # Safety
/// The structure is valid for `'a`.
unsafe fn immutable_samplers<'a>(
    binding: &vk::DescriptorSetLayoutBinding<'a>,
) -> &'a [vk::Sampler] {
    // For other types the pointer is ignored.
    match Kind::of(binding.descriptor_type) {
        // SAFETY: the caller's promise.
        Kind::Sampler | Kind::Combined if !binding.p_immutable_samplers.is_null() => unsafe {
            entry::slice(binding.p_immutable_samplers, binding.descriptor_count)
        },
        _ => &[],
    }
}

impl Layout {
    /// # Safety
    /// The structure is valid.
    unsafe fn new(
        host: HostAllocator,
        info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    ) -> VkResult<Layout> {
        // SAFETY: the caller's promise.
        if !unsafe { Extent::of(info) }.fits() {
            debug::error(&format_args!(
                "a descriptor set layout beyond the limits: {MAX_SET_BYTES} bytes, \
                 {} descriptors, {} bytes of an inline block",
                limits::DESCRIPTORS,
                limits::INLINE_UNIFORM_BYTES
            ));
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        let mut all = host.vec();
        let most = info.binding_count as usize + MOST_FILLED;
        // SAFETY: the caller's promise.
        let last = unsafe { bindings(info) }
            .map(|(binding, _)| binding.binding)
            .max();
        let room = last.map_or(0, |last| most.min((last as usize).saturating_add(1)));
        all.try_reserve_exact(room.max(info.binding_count as usize))
            .map_err(|_| crate::host::OUT_OF_HOST)?;
        let mut immutable = host.vec();
        let mut late = false;
        // SAFETY: the caller's promise.
        for (binding, flags) in unsafe { bindings(info) } {
            let mut kind = Kind::of(binding.descriptor_type);
            // SAFETY: as above.
            let samplers = unsafe { immutable_samplers(&binding) };
            let first = immutable.len() as u32;
            if !samplers.is_empty() {
                kind = kind.fixed();
                immutable
                    .try_reserve(samplers.len())
                    .map_err(|_| host::OUT_OF_HOST)?;
                // SAFETY: as above.
                immutable.extend(
                    samplers
                        .iter()
                        .map(|sampler| unsafe { object::get::<Sampler>(*sampler).descriptor }),
                );
            }
            late |=
                flags.contains(vk::DescriptorBindingFlags::UPDATE_AFTER_BIND) && kind.is_gathered();
            // There is room.
            all.push(Binding {
                number: binding.binding,
                kind,
                descriptor_type: binding.descriptor_type,
                in_set: match kind {
                    Kind::Buffer => binding.descriptor_type,
                    _ => NO_TYPE,
                },
                count: binding.descriptor_count,
                start: 0,
                variable: flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT),
                immutable: first,
            });
        }
        all.sort_unstable_by_key(|binding: &Binding| binding.number);
        fill_gaps(&mut all);
        let direct = all
            .iter()
            .zip(0..)
            .take_while(|(binding, at)| binding.number == *at);
        let direct = direct.count() as u32;
        let (mut size, mut dynamic_count) = (0, 0);
        for binding in &mut all {
            match binding.kind {
                Kind::Dynamic => {
                    binding.start = dynamic_count;
                    dynamic_count += binding.count;
                }
                _ => {
                    binding.start = size;
                    // Fits: the sum was checked above.
                    size += binding.kind.bytes(binding.count) as u32;
                }
            }
        }
        Ok(Layout {
            bindings: all,
            direct,
            size,
            dynamic_count,
            immutable,
            late,
        })
    }

    /// Whether images or samplers may be written after the set is bound.
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    /// Puts the immutable samplers into the memory of a new set, as far as it reaches.
    ///
    /// # Safety
    /// The memory is valid for so many bytes and used by nobody else.
    pub(crate) unsafe fn initialise(&self, memory: *mut u8, size: u32) {
        for binding in &self.bindings {
            let skip = match binding.kind {
                Kind::FixedSampler => 0,
                Kind::FixedCombined => TEXTURE_SIZE as u32,
                _ => continue,
            };
            let samplers = self.immutable.iter().skip(binding.immutable as usize);
            for (element, sampler) in samplers.take(binding.count as usize).enumerate() {
                let start = binding.start + element as u32 * binding.kind.stride() + skip;
                if start + SAMPLER_SIZE as u32 > size {
                    break;
                }
                // SAFETY: inside the memory; the caller's promise.
                unsafe {
                    let to = memory.add(start as usize).cast::<[u8; SAMPLER_SIZE]>();
                    to.write_unaligned(*sampler);
                }
            }
        }
    }

    /// Bytes of a set's memory, a multiple of 16. Sets with fewer elements of a variable binding
    /// have less.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Bytes of the memory of a set with so many elements of its variable binding.
    pub(crate) fn size_with(&self, variable: u32) -> u32 {
        match self.bindings.last() {
            Some(last) if last.variable && last.kind != Kind::Dynamic => {
                last.start + last.kind.bytes(variable.min(last.count)) as u32
            }
            _ => self.size,
        }
    }

    /// Dynamic buffers of a set.
    pub(crate) fn dynamic_count(&self) -> u32 {
        self.dynamic_count
    }

    /// The bindings that the application listed, by number.
    #[cfg(test)]
    pub(crate) fn bindings(&self) -> impl Iterator<Item = &Binding> {
        let all = self.bindings.iter();
        all.filter(|binding| binding.descriptor_type != NO_TYPE)
    }

    /// The first bindings whose index is their number and whose elements are all in memory of so
    /// many bytes and dynamic buffers.
    pub(super) fn whole(&self, size: u32, dynamic_count: u32) -> &[Binding] {
        let direct = &self.bindings[..self.direct as usize];
        if size >= self.size && dynamic_count >= self.dynamic_count {
            return direct;
        }
        let fits = |binding: &&Binding| {
            let room = match binding.kind {
                Kind::Dynamic => dynamic_count,
                _ => size,
            };
            binding.all().end() <= u64::from(room)
        };
        &direct[..direct.iter().take_while(fits).count()]
    }

    /// Starts at an element of a binding; nothing when there is no such binding.
    pub(super) fn cursor(&self, number: u32, element: u32) -> Option<Cursor<'_>> {
        let at = if number < self.direct {
            number as usize
        } else {
            let found = self.bindings.binary_search_by_key(&number, |b| b.number);
            found.ok()?
        };
        Some(Cursor::new(&self.bindings[at..], element))
    }

    /// Writes descriptors into memory laid out like this; for push descriptors, where `dynamic` is
    /// empty. What does not fit is left out, with a message.
    ///
    /// # Safety
    /// The structure and what it refers to are valid.
    pub(crate) unsafe fn write(
        &self,
        memory: &mut [u8],
        dynamic: &mut [DynamicBuffer],
        write: &vk::WriteDescriptorSet<'_>,
    ) {
        let [size, count] = [memory.len(), dynamic.len()].map(|len| len.min(u32::MAX as usize));
        let target = Target::new(self.whole(size as u32, count as u32), memory, dynamic);
        // SAFETY: exclusive memory; the caller's promise.
        unsafe { write_set(self, &target, write) };
    }

    /// What the compiler must know, as the set of a number with its dynamic buffers from an index.
    pub(crate) fn describe(
        &self,
        set: u32,
        dynamic_start: u32,
    ) -> impl Iterator<Item = BindingLayout> {
        self.bindings.iter().filter_map(move |binding| {
            let place = match binding.kind {
                Kind::Dynamic => Place::Dynamic,
                _ => Place::Set(set as u8),
            };
            let kind = match binding.kind {
                Kind::Buffer | Kind::Dynamic => BindingKind::Buffer,
                Kind::Inline => BindingKind::InlineUniform,
                Kind::Texture => BindingKind::Texture,
                Kind::Sampler | Kind::FixedSampler => BindingKind::Sampler,
                Kind::Combined | Kind::FixedCombined => BindingKind::CombinedImageSampler,
                Kind::Storage => BindingKind::StorageImage,
                Kind::TexelBuffer => match binding.descriptor_type {
                    vk::DescriptorType::UNIFORM_TEXEL_BUFFER => BindingKind::UniformTexelBuffer,
                    _ => BindingKind::StorageTexelBuffer,
                },
                Kind::Absent => return None,
            };
            let offset = match binding.kind {
                Kind::Dynamic => (dynamic_start + binding.start) * DESCRIPTOR_SIZE,
                _ => binding.start,
            };
            (binding.count != 0).then_some(BindingLayout {
                set,
                binding: binding.number,
                place,
                offset,
                stride: match binding.kind {
                    Kind::Dynamic => DESCRIPTOR_SIZE,
                    // The block is not an array.
                    Kind::Inline => DESCRIPTOR_SIZE,
                    other => other.stride(),
                },
                count: binding.count,
                kind,
            })
        })
    }
}

/// vkCreateDescriptorSetLayout.
pub(crate) unsafe extern "system" fn create_descriptor_set_layout(
    device: vk::Device,
    info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::DescriptorSetLayout,
) -> vk::Result {
    entry::try_guard("vkCreateDescriptorSetLayout", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let made = SetLayout {
                layout: Shared::new(device.host, Layout::new(device.host, &*info)?)?,
            };
            *layout = object::create(device.allocator(allocator), made)?;
        }
        Ok(())
    })
}

/// vkDestroyDescriptorSetLayout.
pub(crate) unsafe extern "system" fn destroy_descriptor_set_layout(
    device: vk::Device,
    layout: vk::DescriptorSetLayout,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<SetLayout>(
            "vkDestroyDescriptorSetLayout",
            device,
            layout,
            allocator,
        )
    };
}

/// vkGetDescriptorSetLayoutSupport.
pub(crate) unsafe extern "system" fn get_descriptor_set_layout_support(
    _device: vk::Device,
    info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
    support: *mut vk::DescriptorSetLayoutSupport<'_>,
) {
    type Variable = vk::DescriptorSetVariableDescriptorCountLayoutSupport<'static>;
    entry::guard("vkGetDescriptorSetLayoutSupport", || {
        // SAFETY: valid by the specification.
        unsafe {
            let extent = Extent::of(&*info);
            (*support).supported = extent.fits().into();
            for link in entry::chain_mut((*support).p_next) {
                if (*link).s_type == <Variable as vk::TaggedStructure>::STRUCTURE_TYPE {
                    let variable = link.cast::<Variable>();
                    (*variable).max_variable_descriptor_count =
                        if extent.fits() { extent.most() } else { 0 };
                }
            }
        }
    });
}
