//! The words of PTX for the enumerations of the syntax tree, in both directions, so that parser
//! and printer cannot disagree.

use crate::ast::*;

macro_rules! keyword_enum {
    ($(#[$doc:meta])* $ty:ident: $of:ident, $name:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        pub(crate) fn $of(word: &str) -> Option<$ty> {
            match word { $($word => Some($ty::$variant),)* _ => None }
        }
        #[allow(unreachable_patterns, reason = "not every enumeration has values without a keyword")]
        pub(crate) fn $name(value: $ty) -> &'static str {
            match value { $($ty::$variant => $word,)* _ => "" }
        }
    };
}

keyword_enum!(/** Types, without the dot. */ Type: type_from_keyword, type_name {
    B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
    U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
    S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
    F16 = "f16", F16x2 = "f16x2", BF16 = "bf16", BF16x2 = "bf16x2", F32 = "f32", F64 = "f64",
    TF32 = "tf32", E4M3x2 = "e4m3x2", E5M2x2 = "e5m2x2", E4M3 = "e4m3", E5M2 = "e5m2",
    U16x2 = "u16x2", S16x2 = "s16x2", Pred = "pred",
});

keyword_enum!(/** Element types of matrices, without the dot. */ MatrixType: matrix_type_from_keyword, matrix_type_name {
    F16 = "f16", BF16 = "bf16", TF32 = "tf32", F32 = "f32", F64 = "f64", S32 = "s32",
    S8 = "s8", U8 = "u8", S4 = "s4", U4 = "u4", B1 = "b1", E4M3 = "e4m3", E5M2 = "e5m2",
});

keyword_enum!(/** Comparison words. */ CmpOp: cmp_op_from_keyword, cmp_op_name {
    Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
    Lo = "lo", Ls = "ls", Hi = "hi", Hs = "hs",
    Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu",
    Num = "num", Nan = "nan",
});

keyword_enum!(/** Boolean combinations. */ BoolOp: bool_op_from_keyword, bool_op_name { And = "and", Or = "or", Xor = "xor" });

keyword_enum!(/** Roundings. */ Rounding: rounding_from_keyword, rounding_name {
    Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna",
    Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
});

keyword_enum!(/** Scopes. */ MemoryScope: scope_from_keyword, scope_name { Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys" });

keyword_enum!(/** Atomic operations. */ AtomOp: atom_op_from_keyword, atom_op_name {
    Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor",
    Exch = "exch", Inc = "inc", Dec = "dec", Cas = "cas",
});

keyword_enum!(/** Modes of `prmt`. */ PrmtMode: prmt_mode_from_keyword, prmt_mode_name {
    F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
});

keyword_enum!(/** Modes of `shfl`. */ ShflMode: shfl_mode_from_keyword, shfl_mode_name { Up = "up", Down = "down", Bfly = "bfly", Idx = "idx" });

keyword_enum!(/** Modes of `vote`. */ VoteMode: vote_mode_from_keyword, vote_mode_name { All = "all", Any = "any", Uni = "uni", Ballot = "ballot" });

keyword_enum!(/** State spaces as instructions write them. */ Space: plain_space_from_keyword, space_name {
    Global = "global", Shared = "shared", Local = "local", Const = "const", Param = "param",
});

/// A state space in an instruction.
pub(crate) fn space_from_keyword(word: &str) -> Option<Space> {
    match word {
        // A block is a cluster of its own.
        "shared::cta" | "shared::cluster" => Some(Space::Shared),
        "param::entry" | "param::func" => Some(Space::Param),
        _ => plain_space_from_keyword(word),
    }
}

fn dim3_component_from_keyword(word: &str) -> Option<Dim3Component> {
    Some(match word {
        "x" => Dim3Component::X,
        "y" => Dim3Component::Y,
        "z" => Dim3Component::Z,
        "w" => Dim3Component::W,
        _ => return None,
    })
}

fn dim3_component_name(dim: Dim3Component) -> &'static str {
    match dim {
        Dim3Component::X => "x",
        Dim3Component::Y => "y",
        Dim3Component::Z => "z",
        Dim3Component::W => "w",
    }
}

/// A number glued to a name, below `limit`.
fn number_after_prefix(name: &str, prefix: &str, limit: u8) -> Option<u8> {
    let digits = name.strip_prefix(prefix)?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    digits.parse().ok().filter(|&n| plain && n < limit)
}

/// The special register `name` (with `%`), and its component if one is written.
pub(crate) fn special_reg_from_name(name: &str, component: Option<&str>) -> Option<SpecialReg> {
    use SpecialReg::*;
    if let Some(component) = component {
        let dim = dim3_component_from_keyword(component)?;
        return Some(match name {
            "%tid" => Tid(dim),
            "%ntid" => Ntid(dim),
            "%ctaid" => Ctaid(dim),
            "%nctaid" => Nctaid(dim),
            "%clusterid" => ClusterId(dim),
            "%nclusterid" => NClusterId(dim),
            "%cluster_ctaid" => ClusterCtaid(dim),
            "%cluster_nctaid" => ClusterNctaid(dim),
            _ => return None,
        });
    }
    let plain = SCALAR_SPECIALS.iter().find(|(word, _)| *word == name).map(|&(_, reg)| reg);
    plain
        .or_else(|| number_after_prefix(name, "%envreg", 32).map(Envreg))
        .or_else(|| number_after_prefix(name, "%pm", 8).map(Pm))
        .or_else(|| number_after_prefix(name, "%reserved_smem_offset_", 2).map(ReservedSmemOffset))
}

const SCALAR_SPECIALS: &[(&str, SpecialReg)] = &[
    ("%laneid", SpecialReg::LaneId),
    ("%warpid", SpecialReg::WarpId),
    ("%nwarpid", SpecialReg::NWarpId),
    ("%smid", SpecialReg::SmId),
    ("%nsmid", SpecialReg::NSmId),
    ("%gridid", SpecialReg::GridId),
    ("%lanemask_eq", SpecialReg::LaneMaskEq),
    ("%lanemask_le", SpecialReg::LaneMaskLe),
    ("%lanemask_lt", SpecialReg::LaneMaskLt),
    ("%lanemask_ge", SpecialReg::LaneMaskGe),
    ("%lanemask_gt", SpecialReg::LaneMaskGt),
    ("%clock", SpecialReg::Clock),
    ("%clock_hi", SpecialReg::ClockHi),
    ("%clock64", SpecialReg::Clock64),
    ("%globaltimer", SpecialReg::GlobalTimer),
    ("%globaltimer_lo", SpecialReg::GlobalTimerLo),
    ("%globaltimer_hi", SpecialReg::GlobalTimerHi),
    ("%dynamic_smem_size", SpecialReg::DynamicSmemSize),
    ("%total_smem_size", SpecialReg::TotalSmemSize),
    ("%aggr_smem_size", SpecialReg::AggrSmemSize),
    ("%cluster_ctarank", SpecialReg::ClusterCtarank),
    ("%cluster_nctarank", SpecialReg::ClusterNctarank),
    ("%is_explicit_cluster", SpecialReg::IsExplicitCluster),
    ("%current_graph_exec", SpecialReg::CurrentGraphExec),
    ("%reserved_smem_offset_begin", SpecialReg::ReservedSmemBegin),
    ("%reserved_smem_offset_end", SpecialReg::ReservedSmemEnd),
    ("%reserved_smem_offset_cap", SpecialReg::ReservedSmemCap),
];

/// How a special register is written.
pub(crate) fn special_reg_name(reg: SpecialReg) -> String {
    use SpecialReg::*;
    let vector = |name: &str, dim| format!("%{name}.{}", dim3_component_name(dim));
    match reg {
        Tid(d) => vector("tid", d),
        Ntid(d) => vector("ntid", d),
        Ctaid(d) => vector("ctaid", d),
        Nctaid(d) => vector("nctaid", d),
        ClusterId(d) => vector("clusterid", d),
        NClusterId(d) => vector("nclusterid", d),
        ClusterCtaid(d) => vector("cluster_ctaid", d),
        ClusterNctaid(d) => vector("cluster_nctaid", d),
        Envreg(n) => format!("%envreg{n}"),
        Pm(n) => format!("%pm{n}"),
        ReservedSmemOffset(n) => format!("%reserved_smem_offset_{n}"),
        _ => SCALAR_SPECIALS.iter().find(|(_, r)| *r == reg).map_or(String::new(), |(word, _)| (*word).into()),
    }
}

/// The type a special register is read at.
pub(crate) fn special_reg_type(reg: SpecialReg) -> Type {
    use SpecialReg::*;
    match reg {
        GridId | Clock64 | GlobalTimer | CurrentGraphExec => Type::U64,
        IsExplicitCluster => Type::Pred,
        _ => Type::U32,
    }
}

keyword_enum!(/** Shapes of textures and surfaces. */ TextureGeometry: geometry_from_keyword, geometry_name {
    D1 = "1d", D2 = "2d", D3 = "3d", A1 = "a1d", A2 = "a2d", Cube = "cube", ACube = "acube",
});

keyword_enum!(/** Queries of `txq` and `suq`. */ TexQuery: tex_query_from_keyword, tex_query_name {
    Width = "width", Height = "height", Depth = "depth",
    ChannelDataType = "channel_data_type", ChannelOrder = "channel_order",
    NormalizedCoords = "normalized_coords", ArraySize = "array_size",
    NumMipmapLevels = "num_mipmap_levels", NumSamples = "num_samples", MemoryLayout = "memory_layout",
    ForceUnnormalizedCoords = "force_unnormalized_coords", FilterMode = "filter_mode",
    AddrMode0 = "addr_mode_0", AddrMode1 = "addr_mode_1", AddrMode2 = "addr_mode_2",
});

keyword_enum!(/** What surface accesses do out of bounds. */ SurfaceClamp: surface_clamp_from_keyword, surface_clamp_name {
    Trap = "trap", Clamp = "clamp", Zero = "zero",
});

keyword_enum!(/** Operations of `sured`. */ SurfOp: surf_op_from_keyword, surf_op_name {
    Add = "add", Min = "min", Max = "max", And = "and", Or = "or",
});

keyword_enum!(/** Types of opaque variables. */ OpaqueType: opaque_type_from_keyword, opaque_type_name {
    Texture = "texref", Sampler = "samplerref", Surface = "surfref",
});
