// Forgets the macros that rtcg_half_common.h was given.
#undef RTCG_T
#undef RTCG_T2
#undef RTCG_OTHER
#undef RTCG_W
#undef RTCG_F
#undef RTCG_I
#undef RTCG_N
#undef RTCG_COMPILED
#undef RTCG_ONE
#undef RTCG_INF
#undef RTCG_BY_FMA
#undef RTCG_PACK
#undef RTCG_NO_CONVERSIONS
#undef RTCG_NO_OPERATORS
#undef RTCG_NO_OPERATORS2
