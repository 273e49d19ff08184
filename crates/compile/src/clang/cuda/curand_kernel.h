// cuRAND's device interface: generators that are part of a thread's state, with the sequences of cuRAND.
//
// Sources: cuRAND's documentation ("Device API Overview" and reference) for the interface; G. Marsaglia, "Xorshift RNGs" (2003) for XORWOW;
// P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators" (1999) for MRG32k3a;
// J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011) for Philox; P. Bratley and B. Fox, "Algorithm 659" (1988) and
// I. Antonov and V. Saleev (1979) for Sobol's sequences in the order of Gray codes; M. Saito and M. Matsumoto, "Variants of Mersenne Twister suitable
// for graphic processors" (2013) for MTGP32; G. Box and M. Muller (1958) for normal variables. Seeds, orders of words and roundings are those seen
// in the numbers of cuRAND's kernels, and states have the same bytes.
//
// Jumps use that a linear generator moved by n steps is a polynomial of the one-step map: x^n modulo its characteristic polynomial. Tables of such
// powers were computed by us (characteristic polynomial by Berlekamp and Massey's algorithm, powers by squaring).
#pragma once
#include "curand.h"

#define RTCG_MEMBER __inline__ __attribute__((device, always_inline))

extern "C++" {

// --- States ---

// The second half of a pair of normal variables, kept for the next call.
#define RTCG_CURAND_PAIR int kept, kept_double; float second; double second_double;
struct curandStateXORWOW { unsigned int d, v[5]; RTCG_CURAND_PAIR };
struct curandStateMRG32k3a { unsigned int s1[3], s2[3]; RTCG_CURAND_PAIR };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned int STATE; RTCG_CURAND_PAIR };
#undef RTCG_CURAND_PAIR
struct curandStateSobol32 { unsigned int i, x, c; unsigned int direction_vectors[32]; };
struct curandStateScrambledSobol32 { unsigned int i, x, c; unsigned int direction_vectors[32]; };
struct curandStateSobol64 { unsigned long long i, x, c; unsigned long long direction_vectors[64]; };
struct curandStateScrambledSobol64 { unsigned long long i, x, c; unsigned long long direction_vectors[64]; };
#define RTCG_CURAND_STATE(name) typedef struct curandState##name curandState##name##_t;
RTCG_CURAND_STATE(XORWOW) RTCG_CURAND_STATE(MRG32k3a) RTCG_CURAND_STATE(Philox4_32_10)
RTCG_CURAND_STATE(Sobol32) RTCG_CURAND_STATE(ScrambledSobol32) RTCG_CURAND_STATE(Sobol64) RTCG_CURAND_STATE(ScrambledSobol64)
#undef RTCG_CURAND_STATE
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

// --- XORWOW ---

// x^(d 4^k), d = 1, 2, 3, k = 0 .. 31, modulo the characteristic polynomial of the shift register; five words each, lowest first.
static const __attribute__((device)) unsigned int __rtcg_xorwow_steps[480] = {
    0x2, 0x0, 0x0, 0x0, 0x0, 0x4, 0x0, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x0, 0x10, 0x0, 0x0, 0x0, 0x0, 0x100, 0x0, 0x0, 0x0, 0x0, 0x1000, 0x0, 0x0,
    0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x1,
    0x22240f0e, 0x5d491121, 0x2baa2084, 0xf6f0337, 0xf690035, 0xbebd3534, 0x7064f5bc, 0x20be29eb, 0x536d5b32, 0x63a0069, 0x9df022be, 0x4c2ee09f,
    0x939c7c8, 0xe711c2f8, 0xc6f135ae, 0xf6ebde80, 0xf85bf4eb, 0x21f85da2, 0x6d9334b2, 0x321c1443, 0xed64ec08, 0xafc48684, 0xd81c59ee, 0x1640314f,
    0x2bf0ccef, 0x16ade0a0, 0x3ff6a2d3, 0x4746bd83, 0x2e65a497, 0x263e40a4, 0x1bd46d47, 0xde8d885d, 0x289b68b8, 0xf9b2d665, 0xd7845849, 0x9d10e028,
    0xee56d79c, 0xfb1b3286, 0xf747418, 0x26f9476d, 0x284e9f80, 0x95328d41, 0x97ec0360, 0x1e655d95, 0x60a9306f, 0x1d5c9f77, 0xb614e238, 0xe78e6fa0,
    0xf435fe3, 0xf9493fcd, 0x3f490634, 0x9ae593fc, 0x1a95bb6b, 0xda10a3fc, 0xa3abaf54, 0xa80ecea0, 0x392ca981, 0x191e801e, 0xceb66042, 0x2f4edc3f,
    0xc17e39c3, 0xedc9dffb, 0xf6e31da4, 0xe3cf0f98, 0x379838d, 0xfb9680e9, 0xbdaba0b2, 0x3986540f, 0x23fe6ccc, 0x994e82f, 0x4d53badb, 0x3e30e97d,
    0x19abbaf6, 0x5cd52f87, 0x98663641, 0xc55810c0, 0xc19e6090, 0x2a415f0b, 0xa70dfb6c, 0xd800dfbd, 0x32da6db4, 0x80135829, 0x3abd4734, 0x2060c3f9,
    0x38b2dd97, 0xbd3a57bd, 0x66101a8, 0xb4f188e, 0x16890623, 0x8bf58771, 0x6c3ac952, 0x9cc67bf5, 0x331a4ca9, 0x24019d9c, 0x7cf8f600, 0xc5b636f,
    0x4407a814, 0x60204515, 0x5bd4dbd2, 0x2509eeb5, 0xa87f2bfe, 0x143dfcb, 0x4b5142ba, 0xfd21a24b, 0x3dac4527, 0xc7b2535e, 0xddbb5a69, 0x366df4dc,
    0xae05da7b, 0xfe660265, 0x21e9179d, 0x2b57aa94, 0x5f06e1fc, 0x6735dc98, 0x9aa0181f, 0x4a85a684, 0x2ff777f0, 0x8e58b0ed, 0xd4e84a39, 0x6d37f6a0,
    0x9a979d93, 0x957e035b, 0xa40ab1dd, 0xf499cf66, 0xa70691e1, 0x793adf2b, 0x3d3e75c8, 0xb091758, 0x9deb3f50, 0xbcd116ec, 0x89c7a15d, 0x43629d41,
    0x8a870ba5, 0xa7916f56, 0x9db15489, 0xde88f3af, 0x11038546, 0x454b68e1, 0x4a3bf369, 0xaa529a8e, 0xfa8fc346, 0x694921b1, 0xf2bd4c48, 0x8b05ae1b,
    0x2de7aee2, 0xbc1bc6b9, 0xd73ea395, 0xfbdd753d, 0xe45dbacd, 0x7b16eae0, 0x72b013cd, 0x8e793909, 0xfdc92af8, 0x84af6278, 0xfbd15376, 0xf144e1f3,
    0xb9b4b3c4, 0x8222f622, 0x9072105a, 0x66083550, 0xd88a6c5e, 0x9ac20a72, 0x209ef9a8, 0xe8e4fd8a, 0x1ec855a5, 0xd5d879c1, 0xad7616b9, 0x44f8d254,
    0xfdb7fb7, 0x5c443a62, 0xbd734cf1, 0x9254a905, 0xfb38236d, 0x11e62fd3, 0xf9e7d21e, 0x8d333839, 0x69fed6df, 0x79338fde, 0xa38a8714, 0xe538bca,
    0x94ef31ec, 0xa4ccb15, 0xa56b4e14, 0xb6b7aa03, 0x75691669, 0x943999e4, 0xc05db913, 0x4e4010f3, 0x9b865d3d, 0xfd64174, 0x13da6451, 0x4f1636fa,
    0x6e523e62, 0xac374f44, 0x69a2e37f, 0xbcf00bb9, 0xa9b47f13, 0xbc68258d, 0x692e0cab, 0xad2f001c, 0x19eb1bbb, 0xbaea3750, 0xfa8f206, 0xd49dd019,
    0x9b3bccaf, 0x13e4fc6, 0x8fb0b988, 0xbad0233b, 0x63941ad7, 0xf5f02d75, 0xd5af15e1, 0x1b246f90, 0xfa7a0d28, 0x7ef5198e, 0xff745f4f, 0xc97b5642,
    0x2ebac13d, 0xbfe04058, 0x2c6a7132, 0x576780a5, 0x4add1023, 0x5f64e54e, 0xb0c250a8, 0xcf4bd212, 0x9a873149, 0x903caa90, 0x5c5f338b, 0xd1a6c65b,
    0xcb6ea012, 0xb644b1f4, 0xac5eea9, 0xa37bfcd3, 0x790ec91d, 0xba339dbc, 0xc83db5cd, 0x67dd06cb, 0xcbfe08ec, 0xf64e2fa5, 0x75fe23cf, 0xfc09983,
    0x425efe5f, 0xa0e1ca0c, 0xa762c200, 0x9be7939f, 0x7bf2caa9, 0xa33b53ff, 0x1ce9360d, 0x4727f89b, 0x5eacbcd, 0x1632278, 0x9aee97cb, 0xde7db52,
    0x74719fda, 0x51b8e04b, 0x959e9904, 0xc8cfe7ea, 0x9233bce8, 0xa614d7ad, 0xf4e7f870, 0x40bc931c, 0x22b4f98c, 0xd23a7f5a, 0x8d420edd, 0xeadda806,
    0xcfd2a002, 0x817ef0eb, 0xd19e838e, 0xb26e9dc8, 0xf5ba04fb, 0x8adf73e9, 0x39399706, 0x4efbe9e1, 0xc41aed18, 0x53a5c370, 0x29cf779e, 0xf66ad52b,
    0x3ab8e3d7, 0x1e8352a4, 0xe44a8605, 0x6c106869, 0x480973c1, 0xb4f4959e, 0x173d230a, 0x6f15e08e, 0xf07c940e, 0x346e49bb, 0x7f4d81c1, 0x5b4a5faf,
    0xed3a0693, 0x2d8bc40d, 0x79a31c08, 0xc28d5d18, 0x91649708, 0x8b1bb8f8, 0xf9158a86, 0x8e346bed, 0x85425fb6, 0xbcd60f3a, 0x4d16f104, 0xff233c77,
    0x872217a7, 0xdf5593e4, 0xabc756b2, 0x4eb8d9c, 0xd8789c72, 0x670f870e, 0xa7bb9766, 0xef013c78, 0xeb4a1373, 0x256f3323, 0x9d89e990, 0x682dbe05,
    0xc85ca267, 0x2cbf3ed6, 0xfd2d1a54, 0x8bb0929e, 0x48c21317, 0xb8ed359d, 0xc85d39f6, 0x2bbd6f83, 0xf333af18, 0x3b4e266b, 0xa872663e, 0x3888cd82,
    0x4daf13ec, 0x304ad7f4, 0x3728f391, 0xbf3ca967, 0xc7b1330d, 0x264c2cbd, 0x6181fa79, 0x7c4ca0c1, 0x3edfb21a, 0xfc6dffd5, 0x5927dfb4, 0x75689dc9,
    0x36bf3a9, 0x64ce979c, 0x3bdff14f, 0x51e43048, 0x42defd6d, 0xde992014, 0x478a54ff, 0x7802d9cb, 0xb6d27a79, 0xa84367a3, 0x26134b0b, 0x35521be0,
    0xef896efc, 0x1c806cd, 0xef06fe75, 0xefd6d1d8, 0x9319075, 0x69d568f5, 0x5b2bd898, 0x51c810c4, 0xfacd06d9, 0xe3a66475, 0x81ae21e0, 0x6418d45c,
    0x39ec7c96, 0xf0b04990, 0x92f17bfa, 0xa78d537a, 0x129a8118, 0xf05ae255, 0xc4df4ca0, 0xf032420c, 0xf44ae9f0, 0xe0298de2, 0xf9b9947b, 0x7326e30a,
    0x3366c775, 0x91d00e4c, 0x86c178cc, 0xddb234f5, 0xaa3fb963, 0x88dd302f, 0x3913d013, 0x7d5cd594, 0x2308bc9, 0xdbe74dee, 0xf4c5fe7d, 0xaac571a1,
    0xaa1f5f8b, 0x32d9c79b, 0xd1bae44, 0x2bb4e02c, 0xc92178df, 0x6632236d, 0x449302f6, 0xed2910a6, 0x74c16469, 0xe65a2589, 0x2413f7dd, 0x6e8043ca,
    0xed24ff6, 0x1e668b6a, 0x538fc45f, 0x4bfb509d, 0x9319804d, 0x48c2c289, 0xe00641cb, 0x49929826, 0x35e4c368, 0x18c2c6e3, 0x697f3521, 0xc0bb10d9,
    0x1bfe8087, 0xa2cb123, 0x9f564f7b, 0x543973e4, 0x9b33ee2c, 0x149df73a, 0x58f31585, 0xbfe990f7, 0xb6e2abc8, 0x11498fa, 0x240651ed, 0x88cb16b1,
    0x5f48b91e, 0x54420721, 0xdab44ab7, 0xed02c526, 0xc6929a1c
};
// The same of x^(2^67).
static const __attribute__((device)) unsigned int __rtcg_xorwow_subsequences[480] = {
    0x26294934, 0x77bbc248, 0x1a87dad0, 0x930052d4, 0x947e6dd2, 0x5f39c379, 0x95e20ba6, 0x20e9ff72, 0x1244ce5e, 0xe8fd228f, 0xd34e34c8, 0x63486aa2,
    0x7ff96712, 0xb90b6c6f, 0x2756bc3, 0xa7474d19, 0x37c549e0, 0x140877d2, 0x24c43924, 0xcd52ebec, 0xe0360ec5, 0xb1c96c24, 0xdbb91766, 0x666ff5dc,
    0xf19a7e52, 0xc7d2569f, 0xcea9dca7, 0x343a9caa, 0x9c4f3af0, 0xaf3023c5, 0xfcc8f692, 0x35aa698a, 0x4ebbf85, 0x448304b0, 0x82f3fd5, 0x48c289bd,
    0xe851cf98, 0x845ad581, 0xfd70752a, 0x2c3e63f6, 0x1e21ea90, 0x66483ba4, 0x367e8d5a, 0x354ec274, 0xc46eebcf, 0xe502f5b3, 0x77859d31, 0x97e1cbb3,
    0xea09047a, 0x61d5f37e, 0xb89326d0, 0x5a8655a9, 0xfb6e98f5, 0x2102162, 0x7e6fcf6f, 0xb67196a6, 0x52d14ef3, 0xf4b8b94d, 0x8dd71586, 0x8c7c93b9,
    0xb3a15db4, 0xc6df3330, 0x1a8be751, 0xf1e4b221, 0x6bb61c05, 0x133de1d0, 0x361e4422, 0xc6131fcf, 0xd9719f45, 0x9658a164, 0x1cc3f658, 0x7367a8cd,
    0x2de525a8, 0x3d325bb2, 0x11840690, 0x19e2bee8, 0xf8974218, 0x4e65536a, 0xa2570336, 0xe9b88082, 0x7863644b, 0x2a21ce84, 0x112e86f1, 0xed01ce0e,
    0xba143e84, 0xb6413ee8, 0x465624d8, 0xbef4cb2b, 0x5e4f8afa, 0x7bca03cd, 0xe2cae2e, 0xd1011279, 0x58923768, 0x2bf650ba, 0xc985bcda, 0x213a286a,
    0x6596b510, 0x6fc10eae, 0x38a13547, 0x11c7749e, 0xcbac929e, 0x575f836, 0x676f5c22, 0xfd7e35af, 0x6c6d186b, 0x146281e7, 0xa45b4452, 0xafa8c695,
    0x74a0ac94, 0x4b250e0a, 0x2306bc52, 0x790f3b4c, 0x2fe473b9, 0xbc81d7c0, 0x93efe98, 0xdb2cf4c2, 0xb49a5412, 0x5c88dea9, 0xd999bf6c, 0xffe7924e,
    0x89658c8b, 0xf3914315, 0xa73fe84b, 0x3c5fadb6, 0xadba8dd6, 0x9e49814, 0x9caf5ed, 0x6b2460d9, 0x1b9981c1, 0x2d1fefc3, 0x1b72a881, 0xb619f896,
    0x603a2235, 0x8d2ca625, 0x559de460, 0x82161afc, 0x9bb13c55, 0xfd20d7fb, 0x306d90b9, 0x92bf386f, 0x96d32350, 0xe081864, 0x69faa798, 0xe7faecf5,
    0xf1f951be, 0x6cbc8b00, 0x73322d91, 0xdb17aeef, 0xc7105b26, 0x6f38b0f6, 0x3e9058c1, 0x71da9705, 0xe2cb1f2b, 0x73456536, 0xbd6501b6, 0x990ffc6e,
    0xbfdd1b5d, 0xc83e520b, 0xe972936a, 0xac79abb9, 0xdcb155ec, 0x4b5b5d45, 0x2222715a, 0xbe2235fa, 0xe4bff931, 0xb1321eb5, 0xb06d01a2, 0x51532012,
    0x8fb59962, 0x141d3b0b, 0x3257dfe1, 0xd8a3d601, 0x3a58c735, 0x845f36e4, 0x112c611, 0x469fe933, 0xc29c7777, 0x81817897, 0x91617dc6, 0x9dc30ab,
    0xa0ffe9a4, 0xf57be00e, 0xe706880c, 0x191211ef, 0xee5664fb, 0x9a3385b8, 0xc540c30a, 0xb241d1e0, 0x626569, 0x6b355fe9, 0xc8139887, 0x7b216bcf,
    0xa60fba6a, 0x6e216202, 0x8b0ce5f8, 0xe129d45d, 0xac3e698b, 0xd61f79fd, 0x7a72a28b, 0x7f4942be, 0x612501bb, 0xae7b767d, 0xaa66c165, 0x9bfaf8e,
    0x3e55c16d, 0x81756d99, 0x1e3ceb25, 0x861dbffa, 0xe5c81156, 0x1e71d79, 0x874e26a7, 0x33bc5a47, 0xad95cba5, 0x67651c39, 0xf1f07dca, 0xb5ed0732,
    0x30e7a573, 0x5c056714, 0x2304f8fa, 0xebc584e1, 0x1785b389, 0x73f1fd00, 0x369ceae0, 0xdc47f6dd, 0x906d9421, 0x4b324c2e, 0x2bdcc5a0, 0x53eb4240,
    0xcac4fbc1, 0x13e529e7, 0xe1683e38, 0xa2339994, 0x7308a647, 0xc7c3f0b1, 0x4a3dcd33, 0x4551732f, 0x37b313bf, 0x126ac783, 0xde52f9d4, 0xfe5c05fc,
    0x5fe4b704, 0xd77445c3, 0xb80eeb3c, 0x6720fc6d, 0x7da33f71, 0xea0715d2, 0x435bf5e0, 0x8b125b82, 0x2bf15174, 0x451636c0, 0xeb575ffb, 0x26db5687,
    0xde7ed3f, 0xdec00e3b, 0x8c9fbbe7, 0x27786b0d, 0x55a8b8bb, 0xad73d087, 0x548172a6, 0xb8dcb607, 0xedbc74ac, 0x9333668e, 0x5330ec7e, 0x139bc173,
    0x8df22694, 0x4e8174b4, 0x2cc62d6a, 0x95de31c1, 0x58b25ddf, 0x5b99f7c7, 0x1e9372dd, 0xe081adcc, 0xf9650df2, 0xad599e4, 0x21aeba83, 0x81e94b95,
    0x2bd032f, 0x4241ada2, 0x7cf446d1, 0x585759bb, 0x2d04e6ba, 0x6bb860d4, 0x3040428b, 0xa09cdaeb, 0xd75ae79a, 0x552ec26f, 0x2663dad8, 0x25bf8d5e,
    0x538f9e9b, 0x804bfd4c, 0xaed86880, 0x7cc53d77, 0x2379080d, 0x66b5ba47, 0x271e9c90, 0xc1f1d1e1, 0x80b373c9, 0xb13736a3, 0x9d67096d, 0x560ffffc,
    0xab750c90, 0x454415ef, 0xd94a347c, 0xd23c81be, 0x551c7096, 0x3024c55f, 0x9b3a9b08, 0xcef11c55, 0x3019557d, 0x8303d6d, 0xff017685, 0xddd20d94,
    0x3debd92d, 0x589ae133, 0x816ea204, 0xbc6d2665, 0xc1fd8153, 0xd43c38c9, 0xd70344cc, 0x279357c0, 0x685d57df, 0xda26a2f1, 0x5174006a, 0xe55bf1f1,
    0x5f20a739, 0x81bd3638, 0x79cea3fd, 0x68213c4e, 0x3d63a6a2, 0x2f59fb9d, 0x88aced61, 0x3925e5e8, 0xc8af3caa, 0xefa299b1, 0xbc1538f8, 0x2b0ca967,
    0xf25d1aba, 0x4062850b, 0x683d0590, 0xabd1b043, 0x6b8d75cb, 0x2788be52, 0xb82627b8, 0x4f5e1168, 0x5bf8de50, 0xc3051a0a, 0x11a68894, 0xec32c75,
    0xb9e1af76, 0x45d20f13, 0xbd2198a4, 0xc68fea4b, 0x9de877e, 0x2b15c9cf, 0x7b2e8734, 0x80d6a0e0, 0xd0e1ee90, 0x70fc8e71, 0xf6503519, 0xec76ff6f,
    0x54f062f0, 0xcf7989d8, 0x443e496b, 0x17d83e81, 0xa2be8639, 0x6cb408db, 0x56912973, 0xebc71d0f, 0x21fbfabc, 0xf266d5dc, 0xa03285c2, 0x45c70fd1,
    0xc6d71ac5, 0xdaab0e46, 0x99056c6e, 0x267af43c, 0x14dfd913, 0x2dbb25b6, 0x227b1a06, 0x24402bc6, 0xac63df96, 0x4e3cf79b, 0xe20e3c11, 0x1a5771cf,
    0xc0e37c49, 0x74122840, 0xac325d00, 0x4c8674dc, 0xa859b395, 0x5c4dc0cf, 0xad66cdfe, 0x7cfa6a50, 0x8fca746a, 0x7b18f04b, 0x28eeb28f, 0xef049d6f,
    0xf7192531, 0xabc5f1de, 0x1ea75f09, 0x3be64a78, 0x666553b3, 0x2ffe6301, 0x72bc8c0, 0xffff1925, 0xbe268f7d, 0x37abb017, 0x7735fb03, 0x557fb7cd,
    0x520ea993, 0x69e4a18d, 0xc83c8e40, 0x9fb2f16f, 0xf95170a2, 0x401ffac4, 0x6b70bfeb, 0x460b439d, 0x13c37bd6, 0x2712e1f5, 0x540a97e0, 0xcbc9c3bb,
    0x53140fdd, 0xdfb37a9, 0x88772b05, 0x20be07e3, 0x128c07bd, 0x5df0aeb5, 0x9f52cccd, 0xe8b1551, 0x6935a9c, 0x648b1463, 0xa4477650, 0x644e661b,
    0xaf7ad33c, 0x4b770409, 0x7ae128ce, 0x1e72e926, 0x829ca1d2, 0x84c2bd7, 0xcea065e7, 0xd2b401bf, 0xb97fcd4, 0xd9a6c1c6, 0x705a959a, 0xcc8d909,
    0xe38aca23, 0xfc3ba0ec, 0xc4c8c3cb, 0xa48dbad8, 0xb0b5fc3, 0x824c885b, 0x93d21898, 0x97c7960e, 0xb2899f9d, 0xd528a53d, 0x4f33fca, 0x942240e,
    0xc18f6e56, 0x9551c4dd, 0x61c8179b, 0xead20f15, 0x3ddc8525, 0xec97721, 0xc7090797, 0xfdcc308f, 0xb70d560f, 0x6e1a24f, 0x4a7295af, 0x5534bfe6,
    0x452ec8f1, 0x79685920, 0xa0bcccfe, 0x2de5181c, 0x33c9d258, 0xaf27908d, 0xcfd04995, 0x94afe64a, 0xb6984c05, 0x29770db9, 0x86488548, 0xc9f60e84
};

RTCG_DEVICE unsigned int __rtcg_xorwow_shift(unsigned int first, unsigned int last) {
    unsigned int t = first ^ (first >> 2);
    return last ^ (last << 4) ^ t ^ (t << 1);
}
RTCG_DEVICE unsigned int curand(curandStateXORWOW_t *state) {
    unsigned int v = __rtcg_xorwow_shift(state->v[0], state->v[4]);
    state->v[0] = state->v[1];
    state->v[1] = state->v[2];
    state->v[2] = state->v[3];
    state->v[3] = state->v[4];
    state->v[4] = v;
    state->d += 362437u;
    return v + state->d;
}
// The register's words form one sequence w, of which a polynomial selects: word j becomes the sum of w[i + j] over its powers i.
RTCG_DEVICE void __rtcg_xorwow_jump(unsigned int *v, unsigned long long n, const unsigned int *table) {
    unsigned int a = v[0], b = v[1], c = v[2], d = v[3], e = v[4];
#pragma unroll 1
    for (; n; n >>= 2, table += 15) {
        unsigned int digit = (unsigned int)n & 3u;
        if (!digit) continue;
        const unsigned int *powers = table + 5 * digit - 5;
        unsigned int r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0;
#pragma unroll 1
        for (int k = 0; k < 5; ++k) {
            unsigned int bits = powers[k];
#pragma unroll 4
            for (int i = 0; i < 32; ++i) {
                unsigned int chosen = 0u - (bits & 1u), next = __rtcg_xorwow_shift(a, e);
                bits >>= 1;
                r0 ^= a & chosen; r1 ^= b & chosen; r2 ^= c & chosen; r3 ^= d & chosen; r4 ^= e & chosen;
                a = b; b = c; c = d; d = e; e = next;
            }
        }
        a = r0; b = r1; c = r2; d = r3; e = r4;
    }
    v[0] = a; v[1] = b; v[2] = c; v[3] = d; v[4] = e;
}
RTCG_DEVICE void skipahead(unsigned long long n, curandStateXORWOW_t *state) {
    __rtcg_xorwow_jump(state->v, n, __rtcg_xorwow_steps);
    state->d += 362437u * (unsigned int)n;
}
RTCG_DEVICE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state) {
    __rtcg_xorwow_jump(state->v, n, __rtcg_xorwow_subsequences);
}
RTCG_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateXORWOW_t *state) {
    unsigned int t0 = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u, t1 = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
    state->v[0] = 123456789u + t0;
    state->v[1] = 362436069u ^ t0;
    state->v[2] = 521288629u + t1;
    state->v[3] = 88675123u ^ t1;
    state->v[4] = 5783321u + t0;
    state->d = 6615241u + t1 + t0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    state->kept = state->kept_double = 0;
    state->second = 0;
    state->second_double = 0;
}

// --- MRG32k3a ---

// Modulo 2^32 - fold: a fold takes the upper half off a number, and adds `fold` for each 2^32.
RTCG_DEVICE unsigned long long __rtcg_mrg_fold(unsigned long long x, unsigned int fold) { return (unsigned int)x + (x >> 32) * fold; }
RTCG_DEVICE unsigned int __rtcg_mrg_rest(unsigned long long x, unsigned int fold) {
    x = __rtcg_mrg_fold(x, fold);
    return (unsigned int)(x >= 0x100000000ull - fold ? x + fold : x);
}
// A sum of products: lower and upper halves have sums of their own, which do not overflow.
struct __rtcg_mrg_sum {
    unsigned long long low, high;
    RTCG_MEMBER __rtcg_mrg_sum plus(unsigned int x, unsigned int y, unsigned int times = 1) const {
        unsigned long long p = (unsigned long long)x * y;
        return {low + (unsigned long long)(unsigned int)p * times, high + (p >> 32) * times};
    }
    RTCG_MEMBER unsigned int rest(unsigned int fold) const { return __rtcg_mrg_rest(low + high * fold, fold); }
};
// A component s[n] = a2 s[n-1] + a1 s[n-2] + a0 s[n-3]; polynomials are modulo x^3 - a2 x^2 - a1 x - a0.
struct __rtcg_mrg_component {
    unsigned int fold, a0, a1, a2;
    RTCG_MEMBER unsigned int next(uint3 s) const { return __rtcg_mrg_sum{0, 0}.plus(a2, s.z).plus(a1, s.y).plus(a0, s.x).rest(fold); }
    RTCG_MEMBER unsigned int product(uint3 p, unsigned int x, unsigned int y, unsigned int z) const {
        return __rtcg_mrg_sum{0, 0}.plus(p.x, x).plus(p.y, y).plus(p.z, z).rest(fold);
    }
};
#define RTCG_MRG_1 __rtcg_mrg_component{209u, 4294967087u - 810728u, 1403580u, 0u}
#define RTCG_MRG_2 __rtcg_mrg_component{22853u, 4294944443u - 1370589u, 0u, 527612u}
// The state after n times as many steps as the polynomial stands for.
static __inline__ __attribute__((device)) uint3 __rtcg_mrg_jump(uint3 s, unsigned long long n, uint3 p, __rtcg_mrg_component m) {
    const __rtcg_mrg_sum zero = {0, 0};
#pragma unroll 1
    for (;;) {
        if (n & 1) {
            uint3 t = {s.y, s.z, m.next(s)};
            s = {m.product(p, s.x, s.y, s.z), m.product(p, t.x, t.y, t.z), m.product(p, t.y, t.z, m.next(t))};
        }
        if (!(n >>= 1)) return s;
        unsigned int q4 = zero.plus(p.z, p.z).rest(m.fold), q3 = zero.plus(p.y, p.z, 2).plus(m.a2, q4).rest(m.fold);
        p = {zero.plus(p.x, p.x).plus(m.a0, q3).rest(m.fold), zero.plus(p.x, p.y, 2).plus(m.a0, q4).plus(m.a1, q3).rest(m.fold),
             zero.plus(p.x, p.z, 2).plus(p.y, p.y).plus(m.a1, q4).plus(m.a2, q3).rest(m.fold)};
    }
}

// The next number, 1 .. 4294967087.
RTCG_DEVICE unsigned int __rtcg_mrg_next(curandStateMRG32k3a_t *state) {
    unsigned int *s = state->s1, *t = state->s2;
    // The first sum has less than 54 bits, so that one fold leaves less than twice its modulus.
    unsigned int p = __rtcg_mrg_rest(1403580ull * s[1] + 810728ull * (4294967087u - s[0]), 209u);
    unsigned int q = __rtcg_mrg_rest(__rtcg_mrg_fold(527612ull * t[2] + 1370589ull * (4294944443u - t[0]), 22853u), 22853u);
    s[0] = s[1]; s[1] = s[2]; s[2] = p;
    t[0] = t[1]; t[1] = t[2]; t[2] = q;
    return p > q ? p - q : p + (4294967087u - q);
}
RTCG_DEVICE unsigned int curand(curandStateMRG32k3a_t *state) { return (unsigned int)(__rtcg_mrg_next(state) * 1.000000048662); }
RTCG_DEVICE void __rtcg_mrg_jump(curandStateMRG32k3a_t *state, unsigned long long n, uint3 first, uint3 second) {
    if (!n) return;
    uint3 s = {state->s1[0], state->s1[1], state->s1[2]}, t = {state->s2[0], state->s2[1], state->s2[2]};
    s = __rtcg_mrg_jump(s, n, first, RTCG_MRG_1);
    t = __rtcg_mrg_jump(t, n, second, RTCG_MRG_2);
    state->s1[0] = s.x; state->s1[1] = s.y; state->s1[2] = s.z;
    state->s2[0] = t.x; state->s2[1] = t.y; state->s2[2] = t.z;
}
RTCG_DEVICE void skipahead(unsigned long long n, curandStateMRG32k3a_t *state) { __rtcg_mrg_jump(state, n, uint3{0, 1, 0}, uint3{0, 1, 0}); }
// Subsequences are 2^76 numbers long, sequences 2^127.
RTCG_DEVICE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state) {
    __rtcg_mrg_jump(state, n, uint3{82758667u, 1871391091u, 4127413238u}, uint3{1511326704u, 3759209742u, 1610795712u});
}
RTCG_DEVICE void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state) {
    __rtcg_mrg_jump(state, n, uint3{2427906178u, 3580155704u, 949770784u}, uint3{1464411153u, 277697599u, 1610723613u});
}
RTCG_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStateMRG32k3a_t *state) {
    unsigned int x = (unsigned int)seed ^ 0x55555555u, y = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
    state->s1[0] = state->s1[2] = seed ? __rtcg_mrg_rest(12345ull * x, 209u) : 12345u;
    state->s1[1] = seed ? __rtcg_mrg_rest(12345ull * y, 209u) : 12345u;
    state->s2[0] = state->s2[2] = seed ? __rtcg_mrg_rest(12345ull * y, 22853u) : 12345u;
    state->s2[1] = seed ? __rtcg_mrg_rest(12345ull * x, 22853u) : 12345u;
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
    state->kept = state->kept_double = 0;
    state->second = 0;
    state->second_double = 0;
}

#undef RTCG_MRG_1
#undef RTCG_MRG_2
#undef RTCG_MEMBER

// --- Philox4x32-10 ---

static __inline__ __attribute__((device)) uint4 __rtcg_philox(uint4 c, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
        c = make_uint4((unsigned int)(b >> 32) ^ c.y ^ key.x, (unsigned int)b, (unsigned int)(a >> 32) ^ c.w ^ key.y, (unsigned int)a);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}
// Adds to the 128-bit counter, from word 2 * half on.
RTCG_DEVICE void __rtcg_philox_count(curandStatePhilox4_32_10_t *state, unsigned long long n) {
    unsigned long long low = state->ctr.x | (unsigned long long)state->ctr.y << 32, high = state->ctr.z | (unsigned long long)state->ctr.w << 32;
    high += low + n < n;
    low += n;
    state->ctr = make_uint4((unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high, (unsigned int)(high >> 32));
}
RTCG_DEVICE unsigned int __rtcg_philox_word(uint4 words, unsigned int n) {
    return n & 2u ? (n & 1u ? words.w : words.z) : (n & 1u ? words.y : words.x);
}
RTCG_DEVICE unsigned int curand(curandStatePhilox4_32_10_t *state) {
    unsigned int word = __rtcg_philox_word(state->output, state->STATE++);
    if (state->STATE == 4) {
        __rtcg_philox_count(state, 1);
        state->output = __rtcg_philox(state->ctr, state->key);
        state->STATE = 0;
    }
    return word;
}
RTCG_DEVICE uint4 curand4(curandStatePhilox4_32_10_t *state) {
    uint4 a = state->output;
    __rtcg_philox_count(state, 1);
    uint4 b = state->output = __rtcg_philox(state->ctr, state->key);
    unsigned int at = state->STATE;
    return make_uint4(__rtcg_philox_word(a, at), __rtcg_philox_word(at + 1 < 4 ? a : b, at + 1), __rtcg_philox_word(at + 2 < 4 ? a : b, at + 2),
                      __rtcg_philox_word(at + 3 < 4 ? a : b, at + 3));
}
RTCG_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state) {
    unsigned int at = state->STATE + ((unsigned int)n & 3u);
    __rtcg_philox_count(state, (n >> 2) + (at >> 2));
    state->STATE = at & 3u;
    state->output = __rtcg_philox(state->ctr, state->key);
}
// Sequences are 2^66 numbers long.
RTCG_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state) {
    unsigned long long high = (state->ctr.z | (unsigned long long)state->ctr.w << 32) + n;
    state->ctr.z = (unsigned int)high;
    state->ctr.w = (unsigned int)(high >> 32);
    state->output = __rtcg_philox(state->ctr, state->key);
}
RTCG_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, curandStatePhilox4_32_10_t *state) {
    state->ctr = make_uint4(0, 0, (unsigned int)subsequence, (unsigned int)(subsequence >> 32));
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->STATE = 0;
    skipahead(offset, state);
    state->kept = state->kept_double = 0;
    state->second = 0;
    state->second_double = 0;
}

// --- Sobol's sequences ---

// The lowest bit that is 0, at most the last: its vector leads to the next number.
RTCG_DEVICE int __rtcg_sobol_bit(unsigned int i) { return __ffs(~i | 0x80000000u) - 1; }
RTCG_DEVICE int __rtcg_sobol_bit(unsigned long long i) { return __ffsll(~i | 0x8000000000000000ull) - 1; }
template <class State, class Word> RTCG_DEVICE Word __rtcg_sobol_next(State *state, Word index) {
    Word x = state->x;
    state->x = x ^ state->direction_vectors[__rtcg_sobol_bit(index)];
    state->i = index + 1;
    return x;
}
// Goes to a number of the sequence: the vectors that its Gray code selects.
template <class State, class Word> RTCG_DEVICE void __rtcg_sobol_go(State *state, Word index) {
    Word gray = index ^ index >> 1, x = state->c;
#pragma unroll 1
    for (int k = 0; gray; ++k, gray >>= 1) x ^= state->direction_vectors[k] & (Word(0) - (gray & 1));
    state->i = index;
    state->x = x;
}
#define RTCG_CURAND_SOBOL(name, word, n) \
    RTCG_DEVICE word curand(curandState##name##_t *state) { return __rtcg_sobol_next(state, state->i); } \
    RTCG_DEVICE void skipahead(word n, curandState##name##_t *state) { __rtcg_sobol_go(state, state->i + n); } \
    RTCG_DEVICE void __rtcg_sobol_start(const word *vectors, word scramble, word offset, curandState##name##_t *state) { \
        for (int k = 0; k < 8 * (int)sizeof(word); ++k) state->direction_vectors[k] = vectors[k]; \
        state->c = scramble; \
        __rtcg_sobol_go(state, offset); \
    }
RTCG_CURAND_SOBOL(Sobol32, unsigned int, n)
RTCG_CURAND_SOBOL(ScrambledSobol32, unsigned int, n)
RTCG_CURAND_SOBOL(Sobol64, unsigned long long, n)
RTCG_CURAND_SOBOL(ScrambledSobol64, unsigned long long, n)
#undef RTCG_CURAND_SOBOL
RTCG_DEVICE void curand_init(const unsigned int *vectors, unsigned int offset, curandStateSobol32_t *state) {
    __rtcg_sobol_start(vectors, 0u, offset, state);
}
RTCG_DEVICE void curand_init(const unsigned int *vectors, unsigned int scramble, unsigned int offset, curandStateScrambledSobol32_t *state) {
    __rtcg_sobol_start(vectors, scramble, offset, state);
}
RTCG_DEVICE void curand_init(const unsigned long long *vectors, unsigned long long offset, curandStateSobol64_t *state) {
    __rtcg_sobol_start(vectors, 0ull, offset, state);
}
RTCG_DEVICE void curand_init(const unsigned long long *vectors, unsigned long long scramble, unsigned long long offset, curandStateScrambledSobol64_t *state) {
    __rtcg_sobol_start(vectors, scramble, offset, state);
}

// --- MTGP32 ---

// One of these per block of threads. The parameters are tables that the host fills.
struct mtgp32_kernel_params {
    unsigned int pos_tbl[200], param_tbl[200][16], temper_tbl[200][16], single_temper_tbl[200][16], sh1_tbl[200], sh2_tbl[200], mask[1];
};
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;
struct curandStateMtgp32 { unsigned int s[1024]; int offset, pIdx; mtgp32_kernel_params_t *k; };
typedef struct curandStateMtgp32 curandStateMtgp32_t;

// `count` threads make a number each, thread `index` the one of that number; all threads of the block have to come here.
RTCG_DEVICE unsigned int __rtcg_mtgp32_next(curandStateMtgp32_t *state, int index, int count, const unsigned int (*temper)[16], int shift) {
    const mtgp32_kernel_params_t *k = state->k;
    int set = state->pIdx, at = state->offset + index, pos = k->pos_tbl[set];
    unsigned int x = (state->s[at & 1023] & k->mask[0]) ^ state->s[(at + 1) & 1023];
    x ^= x << k->sh1_tbl[set];
    x ^= state->s[(at + pos) & 1023] >> k->sh2_tbl[set];
    x ^= k->param_tbl[set][x & 15];
    unsigned int t = state->s[(at + pos - 1) & 1023];
    state->s[(at + 351) & 1023] = x;
    t ^= t >> 16;
    t ^= t >> 8;
    x = x >> shift ^ temper[set][t & 15];
    __syncthreads();
    if (index == 0) state->offset = (state->offset + count) & 1023;
    __syncthreads();
    return x;
}
RTCG_DEVICE int __rtcg_block_index() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
RTCG_DEVICE int __rtcg_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
RTCG_DEVICE unsigned int curand(curandStateMtgp32_t *state) {
    return __rtcg_mtgp32_next(state, __rtcg_block_index(), __rtcg_block_size(), state->k->temper_tbl, 0);
}
RTCG_DEVICE unsigned int curand_mtgp32_specific(curandStateMtgp32_t *state, unsigned char index, unsigned char n) {
    return __rtcg_mtgp32_next(state, index, n, state->k->temper_tbl, 0);
}
// Floats in [1, 2).
RTCG_DEVICE float curand_mtgp32_single(curandStateMtgp32_t *state) {
    return __uint_as_float(__rtcg_mtgp32_next(state, __rtcg_block_index(), __rtcg_block_size(), state->k->single_temper_tbl, 9));
}
RTCG_DEVICE float curand_mtgp32_single_specific(curandStateMtgp32_t *state, unsigned char index, unsigned char n) {
    return __uint_as_float(__rtcg_mtgp32_next(state, index, n, state->k->single_temper_tbl, 9));
}

// --- Uniform numbers in (0, 1] ---

RTCG_DEVICE float __rtcg_uniform(unsigned int x) { return x * 2.3283064365386963e-10f + 1.1641532182693481e-10f; }
RTCG_DEVICE float __rtcg_uniform(unsigned long long x) { return __rtcg_uniform((unsigned int)(x >> 32)); }
RTCG_DEVICE double __rtcg_uniform_double(unsigned int x) { return x * 2.3283064365386963e-10 + 2.3283064365386963e-10; }
RTCG_DEVICE double __rtcg_uniform_double(unsigned long long x) { return (x >> 11) * 1.1102230246251565e-16 + 5.5511151231257827e-17; }
RTCG_DEVICE double __rtcg_uniform_double(unsigned int x, unsigned int y) {
    return (x ^ (unsigned long long)y << 21) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}

RTCG_DEVICE float curand_uniform(curandStateMRG32k3a_t *state) { return (float)(__rtcg_mrg_next(state) * 2.3283065498378288e-10); }
RTCG_DEVICE double curand_uniform_double(curandStateMRG32k3a_t *state) { return __rtcg_mrg_next(state) * 2.3283065498378288e-10; }
RTCG_DEVICE double __rtcg_two_words(curandStateXORWOW_t *state) { unsigned int x = curand(state), y = curand(state); return __rtcg_uniform_double(x, y); }
#define RTCG_CURAND_UNIFORM(name, wide) \
    RTCG_DEVICE float curand_uniform(curandState##name##_t *state) { return __rtcg_uniform(curand(state)); } \
    RTCG_DEVICE double curand_uniform_double(curandState##name##_t *state) { return wide; }
RTCG_CURAND_UNIFORM(XORWOW, __rtcg_two_words(state))
RTCG_CURAND_UNIFORM(Philox4_32_10, __rtcg_uniform_double(curand(state)))
RTCG_CURAND_UNIFORM(Mtgp32, __rtcg_uniform_double(curand(state)))
RTCG_CURAND_UNIFORM(Sobol32, __rtcg_uniform_double(curand(state)))
RTCG_CURAND_UNIFORM(ScrambledSobol32, __rtcg_uniform_double(curand(state)))
RTCG_CURAND_UNIFORM(Sobol64, __rtcg_uniform_double(curand(state)))
RTCG_CURAND_UNIFORM(ScrambledSobol64, __rtcg_uniform_double(curand(state)))
#undef RTCG_CURAND_UNIFORM
RTCG_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t *state) {
    uint4 x = curand4(state);
    return make_float4(__rtcg_uniform(x.x), __rtcg_uniform(x.y), __rtcg_uniform(x.z), __rtcg_uniform(x.w));
}
RTCG_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state) {
    uint4 x = curand4(state);
    return make_double2(__rtcg_uniform_double(x.x, x.y), __rtcg_uniform_double(x.z, x.w));
}
RTCG_DEVICE double4 curand_uniform4_double(curandStatePhilox4_32_10_t *state) {
    double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}

// --- Normal and log-normal variables: pairs by Box and Muller's transformation ---

RTCG_DEVICE float2 __rtcg_box_muller_angle(float u, float v) {
    float r = sqrtf(-2.0f * logf(u));
    return make_float2(r * __sinf(v), r * __cosf(v));
}
RTCG_DEVICE double2 __rtcg_box_muller_turns(double u, double v) {
    double s, c, r = sqrt(-2.0 * log(u));
    sincospi(v, &s, &c);
    return make_double2(r * s, r * c);
}
RTCG_DEVICE float2 __rtcg_box_muller(unsigned int x, unsigned int y) {
    return __rtcg_box_muller_angle(__rtcg_uniform(x), y * 1.46291807e-09f + 7.31459036e-10f);
}
RTCG_DEVICE double2 __rtcg_box_muller_double(uint4 x) {
    return __rtcg_box_muller_turns(__rtcg_uniform_double(x.x, x.y), 2.0 * __rtcg_uniform_double(x.z, x.w));
}
RTCG_DEVICE float2 curand_normal2(curandStateXORWOW_t *state) { unsigned int x = curand(state), y = curand(state); return __rtcg_box_muller(x, y); }
RTCG_DEVICE float2 curand_normal2(curandStatePhilox4_32_10_t *state) { unsigned int x = curand(state), y = curand(state); return __rtcg_box_muller(x, y); }
RTCG_DEVICE float2 curand_normal2(curandStateMRG32k3a_t *state) {
    float u = curand_uniform(state), v = curand_uniform(state);
    return __rtcg_box_muller_angle(u, v * 6.28318531f);
}
RTCG_DEVICE double2 curand_normal2_double(curandStateXORWOW_t *state) {
    unsigned int x = curand(state), y = curand(state), z = curand(state), w = curand(state);
    return __rtcg_box_muller_double(make_uint4(x, y, z, w));
}
RTCG_DEVICE double2 curand_normal2_double(curandStatePhilox4_32_10_t *state) { return __rtcg_box_muller_double(curand4(state)); }
RTCG_DEVICE double2 curand_normal2_double(curandStateMRG32k3a_t *state) {
    double u = curand_uniform_double(state), v = curand_uniform_double(state);
    return __rtcg_box_muller_turns(u, 2.0 * v);
}
RTCG_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t *state) {
    uint4 x = curand4(state);
    float2 a = __rtcg_box_muller(x.x, x.y), b = __rtcg_box_muller(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
RTCG_DEVICE double4 curand_normal4_double(curandStatePhilox4_32_10_t *state) {
    double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}
RTCG_DEVICE float __rtcg_log_normal(float x, float mean, float stddev) { return expf(mean + stddev * x); }
RTCG_DEVICE double __rtcg_log_normal(double x, double mean, double stddev) { return exp(mean + stddev * x); }
#define RTCG_CURAND_LOG_2(name, suffix, real) \
    RTCG_DEVICE real##2 curand_log_normal2##suffix(curandState##name##_t *state, real mean, real stddev) { \
        real##2 x = curand_normal2##suffix(state); \
        return make_##real##2(__rtcg_log_normal(x.x, mean, stddev), __rtcg_log_normal(x.y, mean, stddev)); \
    }
#define RTCG_CURAND_LOG_4(name, suffix, real) \
    RTCG_DEVICE real##4 curand_log_normal4##suffix(curandState##name##_t *state, real mean, real stddev) { \
        real##4 x = curand_normal4##suffix(state); \
        return make_##real##4(__rtcg_log_normal(x.x, mean, stddev), __rtcg_log_normal(x.y, mean, stddev), __rtcg_log_normal(x.z, mean, stddev), \
                              __rtcg_log_normal(x.w, mean, stddev)); \
    }
RTCG_CURAND_LOG_2(XORWOW, , float) RTCG_CURAND_LOG_2(MRG32k3a, , float) RTCG_CURAND_LOG_2(Philox4_32_10, , float)
RTCG_CURAND_LOG_2(XORWOW, _double, double) RTCG_CURAND_LOG_2(MRG32k3a, _double, double) RTCG_CURAND_LOG_2(Philox4_32_10, _double, double)
RTCG_CURAND_LOG_4(Philox4_32_10, , float) RTCG_CURAND_LOG_4(Philox4_32_10, _double, double)
#undef RTCG_CURAND_LOG_2
#undef RTCG_CURAND_LOG_4
// The second of a pair is kept for the next call of the same kind.
#define RTCG_CURAND_KEPT(name, suffix, real) \
    RTCG_DEVICE real curand_normal##suffix(curandState##name##_t *state) { \
        bool kept = state->kept##suffix == 1; \
        state->kept##suffix = !kept; \
        if (kept) return state->second##suffix; \
        real##2 pair = curand_normal2##suffix(state); \
        state->second##suffix = pair.y; \
        return pair.x; \
    } \
    RTCG_DEVICE real curand_log_normal##suffix(curandState##name##_t *state, real mean, real stddev) { \
        bool kept = state->kept##suffix == 2; \
        state->kept##suffix = kept ? 0 : 2; \
        if (kept) return state->second##suffix; \
        real##2 pair = curand_log_normal2##suffix(state, mean, stddev); \
        state->second##suffix = pair.y; \
        return pair.x; \
    }
RTCG_CURAND_KEPT(XORWOW, , float) RTCG_CURAND_KEPT(Philox4_32_10, , float) RTCG_CURAND_KEPT(MRG32k3a, , float)
RTCG_CURAND_KEPT(XORWOW, _double, double) RTCG_CURAND_KEPT(Philox4_32_10, _double, double) RTCG_CURAND_KEPT(MRG32k3a, _double, double)
#undef RTCG_CURAND_KEPT

// --- Normal and log-normal variables by the inverse of the distribution, symmetric about the middle ---

RTCG_DEVICE float __rtcg_normal_of(unsigned int x) {
    bool upper = x > 0x80000000u;
    float z = -1.4142135623730951f * erfcinvf(2.0f * __rtcg_uniform(upper ? ~x : x));
    return upper ? -z : z;
}
RTCG_DEVICE float __rtcg_normal_of(unsigned long long x) { return __rtcg_normal_of((unsigned int)(x >> 32)); }
RTCG_DEVICE double __rtcg_normal_double_of(unsigned int x) {
    bool upper = x > 0x80000000u;
    double z = -1.4142135623730951 * erfcinv(2.0 * ((upper ? ~x : x) * 2.3283064365386963e-10 + 1.1641532182693481e-10));
    return upper ? -z : z;
}
RTCG_DEVICE double __rtcg_normal_double_of(unsigned long long x) {
    bool upper = x > 0x8000000000000000ull;
    double z = -1.4142135623730951 * erfcinv(2.0 * __rtcg_uniform_double(upper ? ~x : x));
    return upper ? -z : z;
}
#define RTCG_CURAND_INVERSE(name) \
    RTCG_DEVICE float curand_normal(curandState##name##_t *state) { return __rtcg_normal_of(curand(state)); } \
    RTCG_DEVICE double curand_normal_double(curandState##name##_t *state) { return __rtcg_normal_double_of(curand(state)); } \
    RTCG_DEVICE float curand_log_normal(curandState##name##_t *state, float mean, float stddev) { \
        return __rtcg_log_normal(curand_normal(state), mean, stddev); \
    } \
    RTCG_DEVICE double curand_log_normal_double(curandState##name##_t *state, double mean, double stddev) { \
        return __rtcg_log_normal(curand_normal_double(state), mean, stddev); \
    }
RTCG_CURAND_INVERSE(Mtgp32) RTCG_CURAND_INVERSE(Sobol32) RTCG_CURAND_INVERSE(ScrambledSobol32)
RTCG_CURAND_INVERSE(Sobol64) RTCG_CURAND_INVERSE(ScrambledSobol64)
#undef RTCG_CURAND_INVERSE

// --- Poisson variables ---

// From one number: the least k whose probability of k or less reaches u; means from 1000 on as rounded normal variables. Terms of the sum are scaled
// so that the first does not vanish.
RTCG_DEVICE unsigned int __rtcg_rounded_normal(double mean, double z) { return __double2uint_rz(sqrt(mean) * z + mean + 0.5); }
static __inline__ __attribute__((device)) unsigned int __rtcg_poisson_quantile(double mean, double u) {
    double scale = mean > 500.0 ? 500.0 : 0.0, p = exp(scale - mean), sum = p, goal = u * exp(scale);
    unsigned int k = 0;
#pragma unroll 1
    while (sum < goal && k < 2000u) sum += p *= mean / ++k;
    return k;
}
// ln k! after Stirling.
RTCG_DEVICE double __rtcg_log_factorial(double k) {
    double x = k + 1.0, y = 1.0 / x;
    return (x - 0.5) * log(x) - x + 0.91893853320467274 + y * (0.083333333333333333 - y * y * 0.0027777777777777778);
}
// A number in (0, 1) from one of the engine.
template <class State> RTCG_DEVICE double __rtcg_unit(State *state) { return curand(state) * 2.3283064365386963e-10 + 1.1641532182693481e-10; }
RTCG_DEVICE double __rtcg_unit(curandStateMRG32k3a_t *state) { return curand_uniform_double(state); }
// W. Hoermann, "The transformed rejection method for generating Poisson random variables" (1993), algorithm PTRS. cuRAND rejects by a way of its own
// for these means, so numbers differ.
template <class State> static __inline__ __attribute__((device)) unsigned int __rtcg_poisson_rejection(State *state, double mean) {
    double root = sqrt(mean), l = log(mean), b = 0.931 + 2.53 * root, a = 0.02483 * b - 0.059;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), r = 0.9277 - 3.6224 / (b - 2.0);
#pragma unroll 1
    for (;;) {
        double u = __rtcg_unit(state) - 0.5, v = __rtcg_unit(state), us = 0.5 - fabs(u), k = floor((2.0 * a / us + b) * u + mean + 0.43);
        if ((us >= 0.07 && v <= r) ||
            (k >= 0.0 && !(us < 0.013 && v > us) && log(v * inverse / (a / (us * us) + b)) <= k * l - mean - __rtcg_log_factorial(k)))
            return (unsigned int)k;
    }
}
// Means below 64 by products of uniform numbers (D. E. Knuth, TAOCP 2, 3.4.1), those above 4000 as rounded normal variables.
template <class State> RTCG_DEVICE unsigned int __rtcg_poisson(State *state, double mean) {
    if (mean > 4000.0) return __rtcg_rounded_normal(mean, curand_normal_double(state));
    if (mean >= 64.0) return __rtcg_poisson_rejection(state, mean);
    float product = expf((float)mean) * curand_uniform(state);
    unsigned int k = 0;
#pragma unroll 1
    for (; product > 1.0f; ++k) product *= curand_uniform(state);
    return k;
}
#define RTCG_CURAND_POISSON(name) \
    RTCG_DEVICE unsigned int curand_poisson(curandState##name##_t *state, double lambda) { return __rtcg_poisson(state, lambda); }
RTCG_CURAND_POISSON(XORWOW) RTCG_CURAND_POISSON(MRG32k3a) RTCG_CURAND_POISSON(Philox4_32_10)
#undef RTCG_CURAND_POISSON
#define RTCG_CURAND_POISSON(name, unit) \
    RTCG_DEVICE unsigned int curand_poisson(curandState##name##_t *state, double lambda) { \
        return lambda >= 1000.0 ? __rtcg_rounded_normal(lambda, curand_normal_double(state)) : __rtcg_poisson_quantile(lambda, unit); \
    }
RTCG_CURAND_POISSON(Mtgp32, __rtcg_unit(state)) RTCG_CURAND_POISSON(Sobol32, __rtcg_unit(state)) RTCG_CURAND_POISSON(ScrambledSobol32, __rtcg_unit(state))
RTCG_CURAND_POISSON(Sobol64, curand_uniform_double(state)) RTCG_CURAND_POISSON(ScrambledSobol64, curand_uniform_double(state))
#undef RTCG_CURAND_POISSON
RTCG_DEVICE uint4 curand_poisson4(curandStatePhilox4_32_10_t *state, double lambda) {
    if (lambda > 4000.0) {
        double4 z = curand_normal4_double(state);
        return make_uint4(__rtcg_rounded_normal(lambda, z.x), __rtcg_rounded_normal(lambda, z.y), __rtcg_rounded_normal(lambda, z.z),
                          __rtcg_rounded_normal(lambda, z.w));
    }
    unsigned int k[4];
#pragma unroll 1
    for (int i = 0; i < 4; ++i) k[i] = __rtcg_poisson(state, lambda);
    return make_uint4(k[0], k[1], k[2], k[3]);
}

// Distributions are made by functions of cuRAND's library on the host, in a form that is not documented.
#define RTCG_CURAND_DISCRETE(name) \
    __attribute__((device, unavailable("distributions are made by cuRAND's host library in a form of its own"))) \
    unsigned int curand_discrete(curandState##name##_t *state, curandDiscreteDistribution_t distribution);
RTCG_CURAND_DISCRETE(XORWOW) RTCG_CURAND_DISCRETE(MRG32k3a) RTCG_CURAND_DISCRETE(Philox4_32_10) RTCG_CURAND_DISCRETE(Mtgp32)
RTCG_CURAND_DISCRETE(Sobol32) RTCG_CURAND_DISCRETE(ScrambledSobol32) RTCG_CURAND_DISCRETE(Sobol64) RTCG_CURAND_DISCRETE(ScrambledSobol64)
#undef RTCG_CURAND_DISCRETE
}
