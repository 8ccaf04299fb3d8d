/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Made by make-leaves from pmu-leaves.csv; do not edit.
 *
 * CPUID leaves of real CPUs, bare metal, and what the decoder must make of
 * them.
 */
#ifndef MY_PMU_LEAVES_H
#define MY_PMU_LEAVES_H

#include <linux/types.h>

#include "pmu_amd.h"
#include "pmu_intel.h"

/**
 * struct decoded - what leaf 0AH means
 * @version: of the PMU
 * @generic: bitmap of generic counters
 * @width: their bits
 * @fixed: bitmap of fixed counters
 * @fixed_width: their bits; 0 if there are none
 * @nr_events: architectural events that EBX speaks of
 * @events: bitmap of those that exist
 */
struct decoded {
	unsigned int version;
	u32 generic;
	unsigned int width;
	u32 fixed;
	unsigned int fixed_width;
	unsigned int nr_events;
	u32 events;
};

/**
 * struct leaf_row - a CPU and its leaf 0AH
 * @vendor: CPUID.0
 * @signature: CPUID.1:EAX
 * @name: of the CPU
 * @other_vendor: refused before its leaf 0AH is looked at
 * @leaf: leaf 0AH
 * @want: what it means
 */
struct leaf_row {
	const char *vendor, *signature, *name;
	bool other_vendor;
	struct intel_pmu_leaf leaf;
	struct decoded want;
};

enum leaf_fate {
	LEAF_NO_COUNTERS,	/* it has no bitmap of counters to compare */
	LEAF_NO_LEAF_A,		/* the CPU's leaf 0AH is not known */
	LEAF_AGREES,		/* it has the counters of leaf 0AH */
	LEAF_HAS_MORE,		/* it has them, and others */
};

/**
 * struct other_leaf_row - another leaf of a CPU
 * @vendor: CPUID.0
 * @signature: CPUID.1:EAX
 * @name: of the CPU
 * @leaf: and sub-leaf, hexadecimal
 * @eax: the leaf
 * @ebx: the leaf
 * @ecx: the leaf
 * @edx: the leaf
 * @fate: what it is to the decoder
 * @reason: why
 */
struct other_leaf_row {
	const char *vendor, *signature, *name, *leaf;
	u32 eax, ebx, ecx, edx;
	enum leaf_fate fate;
	const char *reason;
};

/**
 * struct amd_leaf_row - a CPU of AMD's with PerfMonV2
 * @name: of the CPU
 * @leaf: leaf 8000_0022H, and what goes with it
 * @counters: bitmap of counters
 * @freezes: an overflow can freeze them
 */
struct amd_leaf_row {
	const char *name;
	struct amd_pmu_leaf leaf;
	u32 counters;
	bool freezes;
};

static const struct leaf_row leaf_rows[] = {
	{
		"CentaurHauls", "00006F1", "CNA_Isaiah", false,
		{ 0x06280302, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000007, 40, 0x00000007, 40, 6, 0x0000003f },
	},
	{
		"CentaurHauls", "00006F8", "CNB_Isaiah", false,
		{ 0x06280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 6, 0x0000003f },
	},
	{
		"CentaurHauls", "00006FA", "CNC_Isaiah", false,
		{ 0x06280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 6, 0x0000003f },
	},
	{
		"CentaurHauls", "00006FC", "CNQ_Isaiah", false,
		{ 0x06280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 6, 0x0000003f },
	},
	{
		"CentaurHauls", "00307B0", "6640MA", false,
		{ 0x07300402, 0x00000000, 0x00000000, 0x00000603 },
		{ 2, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"CentaurHauls", "00307B1", "ZXE", false,
		{ 0x07300402, 0x00000000, 0x00000000, 0x00000603 },
		{ 2, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"CentaurHauls", "00307B2", "KX6000_01", false,
		{ 0x07300402, 0x00000000, 0x00000000, 0x00000603 },
		{ 2, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"CentaurHauls", "00507B3", "KX40000_01", false,
		{ 0x07300402, 0x00000000, 0x00000000, 0x00000603 },
		{ 2, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00006E4", "PM_Yonah", false,
		{ 0x07280201, 0x00000000, 0x00000000, 0x00000000 },
		{ 1, 0x00000003, 40, 0x00000000, 0, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00006E8", "PM_Yonah", false,
		{ 0x07280201, 0x00000000, 0x00000000, 0x00000000 },
		{ 1, 0x00000003, 40, 0x00000000, 0, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00006F4", "Conroe", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000000 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00006F7", "Clovertown", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000000 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00006F9", "Tigerton", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00006FB", "Conroe", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0010661", "ConroeL", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000000 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0010676", "Harpertown", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "001067A", "Penryn", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106A1", "Nehalem", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106A2", "Nehalem-DP", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106A4", "Bloomfield", false,
		{ 0x07300403, 0x00000040, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000003f },
	},
	{
		"GenuineIntel", "00106C2", "Diamondville", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00002501 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106CA", "PineviewD", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106D0", "Dunnington", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106D1", "Dunnington", false,
		{ 0x07280202, 0x00000000, 0x00000000, 0x00000503 },
		{ 2, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00106E0", "Lynnfield", false,
		{ 0x07300403, 0x00000044, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000003b },
	},
	{
		"GenuineIntel", "00106F1", "Auburndale", false,
		{ 0x07300403, 0x00000040, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000003f },
	},
	{
		"GenuineIntel", "0020652", "Clarkdale", false,
		{ 0x07300403, 0x00000004, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007b },
	},
	{
		"GenuineIntel", "0020661", "TunnelCreek", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0020672", "Medfield", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00206A2", "SandyBridge", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00206A7", "SandyBridge", false,
		{ 0x07300803, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00206A7", "SandyBridge2", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00206D5", "SandyBridgeEP", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00206D6", "SandyBridgeE", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00206E4", "Beckton", false,
		{ 0x07300403, 0x00000044, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000003b },
	},
	{
		"GenuineIntel", "00206E5", "Beckton", false,
		{ 0x07300403, 0x00000044, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000003b },
	},
	{
		"GenuineIntel", "00206F2", "Eagleton", false,
		{ 0x07300403, 0x00000004, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007b },
	},
	{
		"GenuineIntel", "0030661", "Cedarview", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0030669", "Centerton", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0030673", "Silvermont", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00004503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0030679", "Silvermont", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00004503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00306A9", "IvyBridge", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00306D4", "Broadwell", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00306E4", "IvyBridgeE", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00306F2", "HaswellE2", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0040661", "CrystalWell", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0040671", "BroadwellH", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00406C3", "Braswell", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00406D8", "Avoton", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00004503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00406E3", "Skylake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050654", "SkylakeD", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050654", "SkylakeXeon", false,
		{ 0x07300804, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050656", "CascadeLakeSP", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050657", "CascadeLakeSP", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050662", "BroadwellDE", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050664", "BroadwellDE", false,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0050670", "KnightsLanding", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00000503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00506A0", "Moorefield", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00004503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00506C9", "Goldmont", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00506D1", "SoFIA", false,
		{ 0x07280203, 0x00000000, 0x00000000, 0x00004503 },
		{ 3, 0x00000003, 40, 0x00000007, 40, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00506E3", "Skylake", false,
		{ 0x07300804, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00506F1", "Denverton", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0060663", "CannonLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00606A6", "ICX", false,
		{ 0x08300805, 0x00000000, 0x0000000f, 0x00008604 },
		{ 5, 0x000000ff, 48, 0x0000000f, 48, 8, 0x000000ff },
	},
	{
		"GenuineIntel", "00606C1", "ICX_01v", false,
		{ 0x08300805, 0x00000000, 0x0000000f, 0x00008604 },
		{ 5, 0x000000ff, 48, 0x0000000f, 48, 8, 0x000000ff },
	},
	{
		"GenuineIntel", "00706A1", "GoldmontPlus", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00008603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00706A8", "GoldmontPlus", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00008603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00806D1", "TigerLakeH", false,
		{ 0x08300805, 0x00000000, 0x0000000f, 0x00008604 },
		{ 5, 0x000000ff, 48, 0x0000000f, 48, 8, 0x000000ff },
	},
	{
		"GenuineIntel", "00806E9", "AmberLakeY", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00806EA", "Kabylake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00806EB", "WhiskeyLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00806EC", "CometLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00806F8", "SapphireRapids_05", false,
		{ 0x08300805, 0x00000000, 0x0000000f, 0x00008604 },
		{ 5, 0x000000ff, 48, 0x0000000f, 48, 8, 0x000000ff },
	},
	{
		"GenuineIntel", "0090661", "ElkhartLake", false,
		{ 0x07300405, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0090672", "AlderLake_01_LC_BC", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "0090675", "AlderLake_00", false,
		{ 0x08300805, 0x00000000, 0x0000000f, 0x00008604 },
		{ 5, 0x000000ff, 48, 0x0000000f, 48, 8, 0x000000ff },
	},
	{
		"GenuineIntel", "00906A2", "AlderLakeP_00", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00906E9", "Kabylake", false,
		{ 0x07300804, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00906EA", "Coffeelake", false,
		{ 0x07300804, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00906EC", "CoffeeLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00A0652", "CometLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00A0654", "CometLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00A0655", "CometLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00A0660", "CometLake", false,
		{ 0x07300404, 0x00000000, 0x00000000, 0x00000603 },
		{ 4, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00A06A4", "MeteorLake_07", false,
		{ 0x07300805, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00A06D1", "GraniteRapids_03", false,
		{ 0x08300805, 0x00000000, 0x0000000f, 0x00008604 },
		{ 5, 0x000000ff, 48, 0x0000000f, 48, 8, 0x000000ff },
	},
	{
		"GenuineIntel", "00B0650", "ArrowLakeU_03", false,
		{ 0x07300805, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x000000ff, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00B0671", "RaptorLake_01", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00B0674", "BartlettLake_01", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00B06A2", "RaptorLakeP_03", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00B06E0", "AlderLakeN_02", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00B06F2", "RaptorLakeS_02", false,
		{ 0x07300605, 0x00000000, 0x00000007, 0x00008603 },
		{ 5, 0x0000003f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
	{
		"GenuineIntel", "00C0662", "ArrowLakeHX_01", false,
		{ 0x0d300806, 0x00000280, 0x00000007, 0x00008603 },
		{ 6, 0x000000ff, 48, 0x00000007, 48, 13, 0x00001d7f },
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", false,
		{ 0x0d300806, 0x00000280, 0x00000007, 0x00008603 },
		{ 6, 0x000000ff, 48, 0x00000007, 48, 13, 0x00001d7f },
	},
	{
		"GenuineIotel", "00306C3", "Haswell", true,
		{ 0x07300403, 0x00000000, 0x00000000, 0x00000603 },
		{ 3, 0x0000000f, 48, 0x00000007, 48, 7, 0x0000007f },
	},
};

static const struct other_leaf_row other_leaf_rows[] = {
	{
		"GenuineIntel", "00A06A4", "MeteorLake_07", "23.00",
		0x0000000b, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00A06A4", "MeteorLake_07", "23.00",
		0x0000000b, 0x00000000, 0x00000006, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00A06A4", "MeteorLake_07", "23.01",
		0x000000ff, 0x00000007, 0x00000000, 0x00000000,
		LEAF_AGREES, "the same counters",
	},
	{
		"GenuineIntel", "00A06A4", "MeteorLake_07", "23.01",
		0x000000ff, 0x0000000f, 0x00000000, 0x00000000,
		LEAF_HAS_MORE, "hybrid: leaf 0AH has what the kinds of cores have in common",
	},
	{
		"GenuineIntel", "00A06A4", "MeteorLake_07", "23.03",
		0x0000007f, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00A06D1", "GraniteRapids_03", "23.00",
		0x0000000b, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00A06D1", "GraniteRapids_03", "23.01",
		0x000000ff, 0x0000000f, 0x00000000, 0x00000000,
		LEAF_AGREES, "the same counters",
	},
	{
		"GenuineIntel", "00A06D1", "GraniteRapids_03", "23.03",
		0x00000dff, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00B0650", "ArrowLakeU_03", "23.00",
		0x0000000b, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00B0650", "ArrowLakeU_03", "23.00",
		0x0000000b, 0x00000000, 0x00000006, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00B06D1", "LunarLake_04", "23.01",
		0x000003ff, 0x0000000f, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00B06D1", "LunarLake_04", "23.03",
		0x00001dff, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.00",
		0x0000000b, 0x00000000, 0x00000006, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.00",
		0x0000000b, 0x00000003, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.00",
		0x0000000f, 0x00000003, 0x00000008, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.01",
		0x000000ff, 0x00000007, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.01",
		0x000003ff, 0x0000000f, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.02",
		0x000000fc, 0x00000003, 0x000000fc, 0x00000003,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.03",
		0x0000007f, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.03",
		0x00001dff, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0652", "ArrowLakeH_04", "23.03",
		0x00001f7f, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C0662", "ArrowLakeHX_01", "23.00",
		0x0000000b, 0x00000003, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00C0662", "ArrowLakeHX_01", "23.03",
		0x00001dff, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00C0662", "ArrowLakeHX_01", "23.03",
		0x00001f7f, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00C06C3", "PantherLakeL_01", "23.00",
		0x0000003f, 0x00000003, 0x00000008, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C06C3", "PantherLakeL_01", "23.01",
		0x000000ff, 0x00000077, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C06C3", "PantherLakeL_01", "23.02",
		0x000000fc, 0x00000003, 0x000000fc, 0x00000003,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C06C3", "PantherLakeL_01", "23.03",
		0x00001dff, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C06C3", "PantherLakeL_01", "23.04",
		0x00000000, 0x60060338, 0x00000000, 0x00000000,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00C06C3", "PantherLakeL_01", "23.05",
		0x000003ff, 0x00000003, 0x0000000f, 0x00000001,
		LEAF_NO_LEAF_A, "no row has leaf 0AH of this CPU",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.00",
		0x0000003b, 0x00000003, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.00",
		0x0000003f, 0x00000003, 0x00000008, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.01",
		0x000000ff, 0x00000077, 0x00000000, 0x00000000,
		LEAF_HAS_MORE, "hybrid: leaf 0AH has what the kinds of cores have in common",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.01",
		0x000003ff, 0x0000000f, 0x00000000, 0x00000000,
		LEAF_HAS_MORE, "hybrid: leaf 0AH has what the kinds of cores have in common",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.03",
		0x00001f7f, 0x00000000, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.04",
		0x00000000, 0x60060378, 0x00000000, 0x00000000,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
	{
		"GenuineIntel", "00D0651", "WildcatLake_02", "23.05",
		0x000000ff, 0x00000003, 0x00000077, 0x00000001,
		LEAF_NO_COUNTERS, "not the sub-leaf of the counters",
	},
};

static const struct amd_leaf_row amd_leaf_rows[] = {
	{ "K19_Genoa_01",
	  { 0x0a10f11, 0x00800000, 0x00000007, 0x00304106 }, 0x0000003f, true },
	{ "K19_Genoa_02",
	  { 0x0a10f11, 0x00800000, 0x00000007, 0x00044106 }, 0x0000003f, true },
	{ "K19_StormPeak_01",
	  { 0x0a10f81, 0x00800000, 0x00000003, 0x00204106 }, 0x0000003f, false },
	{ "K19_StormPeak_03",
	  { 0x0a10f81, 0x00800000, 0x00000003, 0x00104106 }, 0x0000003f, false },
	{ "K19_Raphael_05",
	  { 0x0a60f12, 0x00800000, 0x00000007, 0x00084106 }, 0x0000003f, true },
	{ "K19_Phoenix_03",
	  { 0x0a70f41, 0x00800000, 0x00000007, 0x00081106 }, 0x0000003f, true },
	{ "K19_HawkPoint_01",
	  { 0x0a70f52, 0x00800000, 0x00000003, 0x00081106 }, 0x0000003f, false },
	{ "K19_HawkPoint2_01",
	  { 0x0a70fc0, 0x00800000, 0x00000007, 0x00101106 }, 0x0000003f, true },
	{ "K19_Bergamo_04",
	  { 0x0aa0f02, 0x00800000, 0x00000003, 0x00204106 }, 0x0000003f, false },
	{ "K20_Turin_01",
	  { 0x0b00f21, 0x00800000, 0x00000007, 0x00304106 }, 0x0000003f, true },
	{ "K20_ShimadaPeak_03",
	  { 0x0b00f81, 0x00800000, 0x00000007, 0x00204106 }, 0x0000003f, true },
	{ "K20_GorgonPoint_01",
	  { 0x0b20f40, 0x00800000, 0x00000007, 0x00102106 }, 0x0000003f, true },
	{ "K20_GraniteRidge_02",
	  { 0x0b40f40, 0x00800000, 0x00000007, 0x00084106 }, 0x0000003f, true },
	{ "K20_GorgonPoint_01",
	  { 0x0b60f80, 0x00800000, 0x00000007, 0x00104106 }, 0x0000003f, true },
};

#endif
