// SPDX-License-Identifier: MIT
//! The instruction table: every form of the reference, in the order in which a decoder tests them
//! (isa-0, section 2). Rows live in one module per instruction family.

mod blocks;
mod compare;
mod control;
mod float;
mod fragment;
mod integer;
mod logic;
mod memory;
mod moves;
mod special;
mod subgroup;
mod texture;

pub use subgroup::reduce_type;
pub use texture::{RESULT_MASKS, TEXTURE_MODES, TextureMode, texture_mode};

pub(crate) use fragment::{BLOCK_MODE, IMAGE_KIND};
pub(crate) use memory::{DEV_ATOMIC_OP, TG_ATOMIC_OP};
pub(crate) use texture::{components, words};

use std::sync::LazyLock;

use crate::form::Form;

macro_rules! table {
    ($($id:ident = $module:ident :: $row:ident),* $(,)?) => {
        /// Names a row of [`FORMS`]; the discriminant is the row's index.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum FormId {
            $(#[doc = concat!("Row `", stringify!($id), "`.")] $id),*
        }

        /// Every instruction form, in test order.
        pub static FORMS: [Form; FormId::ALL.len()] = [$($module::$row),*];

        impl FormId {
            /// All rows, in test order.
            pub const ALL: &'static [FormId] = &[$(FormId::$id),*];

            /// The identifier as text.
            #[must_use]
            pub const fn ident(self) -> &'static str {
                match self { $(FormId::$id => stringify!($id)),* }
            }
        }
    };
}

table! {
    MovImm7 = moves::MOV_IMM7,
    GetSr32 = moves::GET_SR32,
    MovImm32 = moves::MOV_IMM32,
    ExportImm32 = moves::EXPORT_IMM32,
    ScrFill = memory::SCR_FILL,
    AtomicResult = moves::ATOMIC_RESULT,
    GetSr16 = moves::GET_SR16,
    Zext16 = moves::ZEXT16,
    Logic16 = logic::LOGIC16,
    Stop = moves::STOP,
    Filler = moves::FILLER,
    Argw = moves::ARGW,
    ExportMove4 = moves::EXPORT_MOVE4,
    Umov = moves::UMOV,
    Zero = moves::ZERO,
    Logic4 = logic::LOGIC_4,
    ScrSave = memory::SCR_SAVE,
    Logic1 = logic::LOGIC1,
    LogicI = logic::LOGICI,
    Logic = logic::LOGIC,
    Pred6 = compare::PRED_6,
    PredI6 = compare::PREDI_6,
    Pred10 = compare::PRED_10,
    PredI10 = compare::PREDI_10,
    MinMax = compare::MINMAX,
    HMinMax = compare::HMINMAX,
    Select10 = compare::SELECT_10,
    Select14 = compare::SELECT_14,
    SelectI10 = compare::SELECTI_10,
    SelectX14 = compare::SELECTX_14,
    SelectI14 = compare::SELECTI_14,
    Select8 = compare::SELECT_8,
    H2_6 = float::H2_6,
    HFma8 = float::HFMA_8,
    H2_4 = float::H2_4,
    CvtF32F16 = float::CVT_F32_F16,
    HMulMix = float::HMULMIX,
    CvtF16F32 = float::CVT_F16_F32,
    F2_4 = float::F2_4,
    F2M4 = float::F2M_4,
    FmaAcc4 = float::FMA_4,
    F2I6 = float::F2I_6,
    F2X6 = float::F2X_6,
    F2_6 = float::F2_6,
    F2I8 = float::F2I_8,
    F2X8 = float::F2X_8,
    F2_8 = float::F2_8,
    FAddAbs10 = float::FADDABS_10,
    FMulAbs12 = float::FMULABS_12,
    Fma6 = float::FMA_6,
    Fma8 = float::FMA_8,
    Fma10 = float::FMA_10,
    Fma12 = float::FMA_12,
    FProj8 = float::FPROJ_8,
    IAdd = integer::IADD,
    IAddIA = integer::IADDIA,
    IAddIB = integer::IADDIB,
    IAdd16A = integer::IADD16A,
    IAdd64 = integer::IADD64,
    UAdd = integer::UADD,
    IMad = integer::IMAD,
    IMulW = integer::IMULW,
    UMad = integer::UMAD,
    UMulW = integer::UMULW,
    AsrI = integer::ASRI,
    AsrR = integer::ASRR,
    LsI = integer::LSI,
    UBfe = integer::UBFE,
    LsR = integer::LSR,
    LsR16 = integer::LSR16,
    RotR = integer::ROTR,
    PopCount = integer::POPCOUNT,
    BitRevMsb = integer::BITREV_MSB,
    I2F = integer::I2F,
    F2I = integer::F2I,
    Rcp = special::RCP,
    Sfu = special::SFU,
    SfuRsqrt = special::SFU_RSQRT,
    SfuExp2 = special::SFU_EXP2,
    SfuRsqrt3 = special::SFU_RSQRT3,
    PackN = special::PACKN,
    UnpackN = special::UNPACKN,
    Deriv = special::DERIV,
    Cube = special::CUBE,
    DevLoad = memory::DEV_LOAD,
    DevStore = memory::DEV_STORE,
    TgLoad0 = memory::TG_LOAD0,
    TgLoad = memory::TG_LOAD,
    TgStore0 = memory::TG_STORE0,
    TgStore = memory::TG_STORE,
    DevAtomic = memory::DEV_ATOMIC,
    DevAtomic0 = memory::DEV_ATOMIC0,
    TgAtomic0 = memory::TG_ATOMIC0,
    TgAtomic = memory::TG_ATOMIC,
    PrivLoad = memory::PRIV_LOAD,
    PrivStore = memory::PRIV_STORE,
    Branch = control::BRANCH,
    Else = control::ELSE,
    Push = control::PUSH,
    Pop = control::POP,
    LoopUpdate = control::LOOP_UPDATE,
    Break = control::BREAK,
    CallBr = control::CALL_BR,
    Ret = control::RET,
    CallFrame = control::CALL_FRAME,
    CallLink = control::CALL_LINK,
    Term = moves::TERM,
    Barrier = control::BARRIER,
    TileAccess = control::TILE_ACCESS,
    TileFence = control::TILE_FENCE,
    SgReduce = subgroup::SG_REDUCE,
    SgShuffle = subgroup::SG_SHUFFLE,
    SgShuffle12 = subgroup::SG_SHUFFLE12,
    SgBallot = subgroup::SG_BALLOT,
    SgBallotC = subgroup::SG_BALLOTC,
    Tex = texture::TEX,
    ImageStore = fragment::IMAGE_STORE,
    BlockStore = fragment::BLOCK_STORE,
    Iter = fragment::ITER,
    IterFlat = fragment::ITER_FLAT,
    InterpPos = fragment::INTERP_POS,
    TileLoad = fragment::TILE_LOAD,
    TileLoadMask = fragment::TILE_LOAD_MASK,
    TileLoadCoords = fragment::TILE_LOAD_COORDS,
    TileStore = fragment::TILE_STORE,
    Coverage = fragment::COVERAGE,
    DepthStore = fragment::DEPTH_STORE,
    VaryStore = fragment::VARY_STORE,
    Alloc = control::ALLOC,
    Target = control::TARGET,
    Frame = control::FRAME,
    FShR = integer::FSHR,
    IAddSh = integer::IADDSH,
}

/// For each row, the earlier rows of its length that overlap with it: the tie-breaks of isa-0, 1.3.
static EARLIER: LazyLock<Vec<Vec<FormId>>> = LazyLock::new(|| {
    let overlap = |a: &Form, b: &Form| a.len == b.len && (a.value ^ b.value) & a.mask & b.mask == 0;
    let earlier = |(i, form): (usize, &Form)| {
        let rows = FormId::ALL[..i].iter().copied();
        rows.filter(|id| overlap(id.form(), form)).collect()
    };
    FORMS.iter().enumerate().map(earlier).collect()
});

/// The rows that win over row `id`.
pub(crate) fn earlier_rows(id: FormId) -> &'static [FormId] {
    &EARLIER[id as usize]
}

/// The row before `id` that these bits select.
pub(crate) fn earlier_claim(id: FormId, bits: u128) -> Option<FormId> {
    let claims = |row: &&FormId| bits & row.form().mask == row.form().value;
    earlier_rows(id).iter().find(claims).copied()
}

impl FormId {
    /// The row.
    #[inline]
    #[must_use]
    pub const fn form(self) -> &'static Form {
        &FORMS[self as usize]
    }
}

impl std::fmt::Debug for FormId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.ident())
    }
}
