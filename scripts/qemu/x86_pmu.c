/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architectural PMU (CPUID leaves 0AH and 23H, SDM vol 3 "Performance
 * monitoring") for QEMU's TCG x86 CPU.
 *
 * How it counts.  One instruction takes one unhalted core cycle and one
 * reference cycle; a halted CPU has none.  While some counter can count
 * (HF_PMU), every translation block begins by subtracting its number of
 * instructions from the budget of its privilege mode; the distance from
 * where the budget started is what has retired.  An instruction that faults
 * gives its part, and that of the instructions behind it, back when TCG
 * restores the CPU's state; so does each pass of a REP instruction but the
 * last.  Branches are added, by kind, where a branch leaves its block (HF_PMU_BR).
 *
 * The counters themselves are brought up to date ("folded") only when
 * somebody looks or something changes: at accesses to the PMU's registers,
 * and when a budget is spent.
 *
 * How it overflows.  The budget never exceeds the number of events that the
 * nearest counter can take.  When a block would go beyond it, the block is
 * left before its first instruction; if the counter's overflow lies inside
 * it, a shorter block is run that ends exactly there.  So a PMI is delivered
 * on the boundary behind the instruction that overflowed the counter, or, with
 * pmu-pmi-skid, as many instructions later: until then they bound the budget, too.
 *
 * EDGE needs to know in which order things happened: while such a counter
 * counts, the budget is one instruction, and each is folded by itself.
 *
 * What is not as on a CPU.  Events other than the architectural cycles,
 * instructions, reference cycles and branches are flagged absent in
 * CPUID.0AH:EBX and count nothing, except that CPUs of Skylake's models have
 * its unit masks of branches (skylake_events[]).  A fault of fetching the instruction
 * behind the very boundary of a PMI is taken first.  Code fetched from a device
 * is never restored: an instruction of it that faults counts.  So does an event
 * that VMRUN injects as a software interrupt.  No PEBS, no LBR, no uncore, no
 * SMM freeze; the enables of those fault.
 *
 * What version 6 adds: counters with holes between them, a second way to each
 * register (IA32_PMC_GPx_CTR and its neighbours), UMASK2 and EQ in the event
 * selects, and auto counter reload (reload_counters()).
 *
 * AMD's PMU (APM vol 2, "Performance Monitoring Counters"; Hygon's is the same) is
 * modelled on CPUs of theirs: four counters with MSRs at C0010000H, with perfctr-core
 * six at C0010200H, and with version 2 (PerfMonV2, CPUID leaf 80000022H) global
 * control and status.  It has no fixed counters; reserved bits are dropped and do not
 * fault; a PMI does not mask LVTPC.  An event may be an interrupt or an exception,
 * which is no instruction: see x86_pmu_delivered().
 *
 * Registers that some events need besides the event select (pmu-extra) are
 * there to be written: none of those events is modelled, so they count nothing.
 *
 * How it breaks, if told to: as PMUs do that some hypervisors make
 * (BrokenKind), one access of the guest's choice (REG_FAULT), by counters
 * that run before the guest does (firmware_uses()), by counters that are set
 * to be reloaded (leave_reloads()), or by pauses of all counters (pmu_pausing()).
 *
 * How its users are measured: whatever the counters do, each CPU's odometer
 * runs (pmu-odometer), and each CPU can read that of any other, which does not
 * notice (REG_ODOMETER).
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "cpu.h"
#include "x86_pmu_qemu.h"
#include "exec/helper-proto.h"
#include "exec/helper-gen.h"
#include "hw/boards.h"
#include "hw/i386/apic.h"
#include "migration/cpu.h"
#include "tcg/helper-tcg.h"

/* The translator's arithmetic on 64-bit budgets is one operation each. */
QEMU_BUILD_BUG_ON(TCG_TARGET_REG_BITS != 64);

/* IA32_PERFEVTSELx, SDM figure "Layout of IA32_PERFEVTSELx MSRs" */
#define EVTSEL_EVENT        0x000000ffULL
#define EVTSEL_UMASK        0x0000ff00ULL
#define EVTSEL_USR          (1ULL << 16)
#define EVTSEL_OS           (1ULL << 17)
#define EVTSEL_EDGE         (1ULL << 18)
#define EVTSEL_INT          (1ULL << 20)
#define EVTSEL_ANY          (1ULL << 21)
#define EVTSEL_EN           (1ULL << 22)
#define EVTSEL_INV          (1ULL << 23)
#define EVTSEL_CMASK_SHIFT  24
#define EVTSEL_EQ           (1ULL << 36)    /* since version 6 */
#define EVTSEL_UMASK2       (0xffULL << 40) /* since version 6 */
#define EVTSEL_BITS         0xffffffffULL
/* As firmware would, which counts instructions. */
#define EVTSEL_FIRMWARE     (EVTSEL_EN | EVTSEL_OS | EVTSEL_USR | 0xc0)

/* PERF_CTLx of AMD, where it differs; the other bits are dropped (APM2 "PERF_CTL[5:0]") */
#define AMD_EVTSEL_EVENT2   (0xfULL << 32)
#define AMD_EVTSEL_GUEST    (1ULL << 40)
#define AMD_EVTSEL_HOST     (1ULL << 41)
#define AMD_EVTSEL_BITS     (0xff000000ULL | EVTSEL_EVENT | EVTSEL_UMASK |      \
                             EVTSEL_USR | EVTSEL_OS | EVTSEL_EDGE | EVTSEL_INT | \
                             EVTSEL_EN | EVTSEL_INV | AMD_EVTSEL_EVENT2 |        \
                             AMD_EVTSEL_GUEST | AMD_EVTSEL_HOST)
/* PerfCntrGlobalStatus beyond the counters' bits: LbrFreeze, PmcFreeze */
#define AMD_STATUS_FROZEN   (3ULL << 58)
#define AMD_HWCR_IRPERF     (1ULL << 30)
#define AMD_HWCR_LOCK       (1ULL << 27)    /* of what counts freely */

/* One counter's four bits in IA32_FIXED_CTR_CTRL */
#define FIXED_OS            1ULL
#define FIXED_USR           2ULL
#define FIXED_ANY           4ULL
#define FIXED_PMI           8ULL

/* IA32_PERF_GLOBAL_STATUS beyond the counters' bits, and since when */
#define STATUS_V2           (3ULL << 62)    /* DS buffer, CondChgd */
#define STATUS_V3           (1ULL << 61)    /* uncore */
#define STATUS_V4           (7ULL << 58)    /* LBR_Frz, CTR_Frz, ASCI */
#define STATUS_CTR_FRZ      (1ULL << 59)
#define STATUS_COND_CHGD    (1ULL << 63)

/*
 * CFG_C: the value that is loaded into the counter, and enable bits.  Only the
 * last bit has an effect here: PEBS, whose record reloads the counter.
 */
#define CFG_C_RELOAD        0xffffffffULL
#define CFG_C_BITS          (CFG_C_RELOAD | 0xfULL << 35 | 3ULL << 40 | \
                             1ULL << 49 | 7ULL << 61)
#define CFG_C_EN            (1ULL << 63)
/* With pmu-reload, from reset on: 4096 events to the next overflow. */
#define CFG_C_LEFT_BEHIND   (CFG_C_EN | 0xfffff000)

/*
 * The extra registers, as on Skylake: the bits that Linux takes there
 * (intel_skl_extra_regs[]); SDM, "MSR_PEBS_FRONTEND Layout" has the same.
 */
#define OFFCORE_RSP_BITS    0x3fffff8fffULL
#define FRONTEND_BITS       0x7fff17ULL

#define DEBUGCTL_BTF        (1ULL << 1)
#define DEBUGCTL_FREEZE_PMC (1ULL << 12)

#define PERF_CAP_FW_WRITE   (1ULL << 13)
#define INUSE_PMI           (1ULL << 63)

/* IA32_MISC_ENABLE: there is a PMU; it has neither BTS nor PEBS. */
#define MISC_ENABLE_PMU     (1ULL << 7 | 1ULL << 11 | 1ULL << 12)

#define FIXED_SHIFT         32 /* of the fixed counters in the GLOBAL MSRs */
#define RDPMC_FIXED         0x40000000U

/* CPUID leaves, and bits of leaf 0AH:EDX from version 5 on */
#define PMU_LEAF            0xa
#define ANYTHREAD_DEPRECATED (1u << 15)
#define PMU_EXT_LEAF        0x23
#define PMU_EXT_FEATURE     (1u << 8)   /* leaf 7, sub-leaf 1, EAX: it exists */
/* Leaf 23H, sub-leaf 0: sub-leaves in EAX, bits of event selects in EBX */
enum { EXT_MAIN, EXT_COUNTERS, EXT_ACR, EXT_EVENTS };
#define EXT_UMASK2          (1u << 0)
#define EXT_EQ              (1u << 1)

/* AMD's: EAX is its version and what it can do, EBX the number of its counters. */
#define AMD_PMU_LEAF        0x80000022
#define AMD_V2              (1u << 0)
#define AMD_FREEZE          (1u << 2)       /* LbrAndPmcFreeze */
#define AMD_IRPERF          (1u << 1)       /* leaf 80000008H, EBX */
#define AMD_LEGACY_COUNTERS 4
#define AMD_CORE_COUNTERS   6
#define AMD_COUNTERS_MAX    15              /* in EBX[3:0] */
#define AMD_WIDTH           48
/* MSRs from here on are AMD's; those of perfctr-core. */
#define AMD_MSRS            0xc0000000
#define AMD_CORE_MSRS       0xc0010200

/* LLC references, LLC misses, branch misses: bits of leaf 0AH:EBX */
#define EBX_NOT_MODELLED    (1u << 3 | 1u << 4 | 1u << 6)
#define EBX_MODELLED_LENGTH 7

/* Indices of PMCs below this are the PMU's in every CPU, the rest is not. */
#define PMC_ALWAYS          8

/* Of pmu-paused instructions the last so many are the pause. */
#define PAUSE_LENGTH        1000

/* CPUs take fewer instructions from an overflow to its PMI; it is near, see arm(). */
#define PMI_SKID_MAX        100000

/* An overflow so many events ahead, or fewer, is near: see arm(). */
#define NEAR_EVENTS         (1 << 20)
#define BUDGET_UNLIMITED    (INT64_MAX / 2)

/* --- what the PMU is ---------------------------------------------------- */

static const X86PMUConfig *pmu_config(CPUX86State *env)
{
    return &env_archcpu(env)->pmu_config;
}

static bool pmu_on(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu;
}

static unsigned int pmu_version(CPUX86State *env)
{
    return pmu_on(env) ? pmu_config(env)->version : 0;
}

static bool pmu_has_gp(CPUX86State *env, unsigned int i)
{
    return i < MAX_GP_COUNTERS && pmu_config(env)->gp_bitmap >> i & 1;
}

static unsigned int pmu_last_gp(CPUX86State *env)
{
    return 31 - clz32(pmu_config(env)->gp_bitmap);
}

static bool pmu_has_fixed(CPUX86State *env, unsigned int i)
{
    return i < X86_PMU_FIXED_MAX && pmu_config(env)->fixed_bitmap >> i & 1;
}

/* The counter at this place, see X86_PMU_PLACES. */
static bool pmu_has_place(CPUX86State *env, unsigned int i)
{
    return i < MAX_GP_COUNTERS ? pmu_has_gp(env, i) :
                                 pmu_has_fixed(env, i - MAX_GP_COUNTERS);
}

static uint64_t pmu_gp_mask(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, pmu_config(env)->width);
}

static uint64_t pmu_fixed_mask(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, pmu_config(env)->fixed_width);
}

/* The counters' bits in GLOBAL_CTRL, GLOBAL_STATUS and GLOBAL_INUSE. */
static uint64_t pmu_counters(CPUX86State *env)
{
    return pmu_config(env)->gp_bitmap |
           (uint64_t)pmu_config(env)->fixed_bitmap << FIXED_SHIFT;
}

/* Their PMUs are others, and leaf 0AH is reserved there. */
static bool is_amd_like(CPUX86State *env)
{
    uint32_t hygon = ldl_le_p(CPUID_VENDOR_HYGON);

    return IS_AMD_CPU(env) || env->cpuid_vendor1 == hygon;
}

/* Of Intel's family 6 those that have skylake_events[]. */
static const uint8_t skylake_models[] = {
    0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6, 0x55,
};

static bool is_skylake(CPUX86State *env)
{
    uint32_t version = env->cpuid_version;
    uint8_t model = (version >> 4 & 0xf) | (version >> 12 & 0xf0);

    return IS_INTEL_CPU(env) && (version & 0x0ff00f00) == 0x600 &&
           memchr(skylake_models, model, sizeof(skylake_models));
}

static bool has_perfctr_core(CPUX86State *env)
{
    return env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE;
}

static uint64_t pmu_status_bits(CPUX86State *env)
{
    if (is_amd_like(env)) {
        return pmu_counters(env) | AMD_STATUS_FROZEN;
    }
    return pmu_counters(env) | STATUS_V2 |
           (pmu_version(env) >= 3 ? STATUS_V3 : 0) |
           (pmu_version(env) >= 4 ? STATUS_V4 : 0);
}

/* AnyThread exists in versions 3 and 4 (deprecated from 5 on). */
static bool has_any_thread(unsigned int version)
{
    return version == 3 || version == 4;
}

static bool pmu_has_pdcm(CPUX86State *env)
{
    return env->features[FEAT_1_ECX] & CPUID_EXT_PDCM;
}

static bool pmu_full_width(CPUX86State *env)
{
    return pmu_has_pdcm(env) &&
           (env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_FW_WRITE);
}

/* --- how it can be broken ----------------------------------------------- */

typedef enum BrokenKind {
    BROKEN_NOT,
    BROKEN_IGNORES_WRITES,  /* of the counter and its control */
    BROKEN_CONSTANT,        /* reads as one value; behind it, all is well */
    BROKEN_DEAD,            /* holds what is written and never counts */
    BROKEN_HALVED,          /* counts every second event */
    BROKEN_NO_OVERFLOW,     /* wraps, and nobody is told */
    BROKEN_SHORT,           /* wraps some bits early */
    BROKEN_STARVED,         /* counts only while few others do, see starves() */
} BrokenKind;

/* pmu-broken, in this order, from BROKEN_NOT + 1 on */
static const char *const broken_names[] = {
    "ignores-writes", "constant", "dead", "halved", "no-overflow", "short",
    "starved", NULL
};

/* Not 0, by which it would be noticed too easily; it fits into each width. */
#define CONSTANT_VALUE      0x1234
#define SHORT_BY            8 /* bits */

static BrokenKind broken_by_name(const char *name)
{
    unsigned int i;

    for (i = 0; name && broken_names[i]; i++) {
        if (!strcmp(broken_names[i], name)) {
            return BROKEN_NOT + 1 + i;
        }
    }
    return BROKEN_NOT;
}

/* Of the counter with this bit in the GLOBAL MSRs. */
static BrokenKind how_broken(CPUX86State *env, uint64_t status)
{
    const X86PMUConfig *c = pmu_config(env);

    return c->broken_counters & status ? c->broken_kind : BROKEN_NOT;
}

static bool has_flag(const X86PMUConfig *c, unsigned int bit)
{
    return c->flags & (1u << bit);
}

static bool pmu_has_faults(CPUX86State *env)
{
    return has_flag(pmu_config(env), X86_PMU_FAULTS_BIT);
}

static bool pmu_has_odometer(CPUX86State *env)
{
    return has_flag(pmu_config(env), X86_PMU_ODOMETER_BIT);
}

static bool pmu_has_extra(CPUX86State *env)
{
    return has_flag(pmu_config(env), X86_PMU_EXTRA_BIT);
}

/* Counters freeze on a PMI if IA32_DEBUGCTL (of AMD: DebugCtl) says so. */
static bool pmu_can_freeze(CPUX86State *env)
{
    return pmu_version(env) >= 2 &&
           (is_amd_like(env) ? has_flag(pmu_config(env), X86_PMU_FREEZE_BIT) :
                               pmu_has_pdcm(env));
}

/* IRPERF, APERF and MPERF, which are no counters of the PMU. */
static bool pmu_counts_freely(CPUX86State *env)
{
    return pmu_on(env) && has_flag(pmu_config(env), X86_PMU_FREE_BIT);
}

/* CFG_B and CFG_C are auto counter reload's. */
static bool pmu_has_acr(CPUX86State *env)
{
    return pmu_version(env) >= 6 && has_flag(pmu_config(env), X86_PMU_ACR_BIT);
}

/*
 * Does GLOBAL_CTRL read as it was written but hold all counters back?  So it
 * looks to who counts when somebody else on the CPU writes 0 to it and soon
 * what it was.
 */
static bool pmu_pausing(CPUX86State *env)
{
    uint32_t paused = pmu_config(env)->paused;

    return paused && env->pmu.phase >= paused - PAUSE_LENGTH;
}

/* --- its properties ----------------------------------------------------- */

#define VERSION_DEFAULT     4
#define GP_DEFAULT          8

/* The lowest bits, so many. */
static uint32_t below(unsigned int length)
{
    return (1ULL << length) - 1;
}

static bool in_range_or_auto(int value, int low, int high)
{
    return value == X86_PMU_AUTO || (value >= low && value <= high);
}

static bool check_ranges(const X86PMUConfig *c, Error **errp)
{
    const unsigned int fixed = X86_PMU_FIXED_MAX;

    if (c->version < 0 || c->version > 6) {
        error_setg(errp, "pmu-version=%d: 0 to 6 can be modelled", c->version);
    } else if (!in_range_or_auto(c->gp, 1, MAX_GP_COUNTERS)) {
        error_setg(errp, "pmu-gp=%d: 1 to %u generic counters can be modelled",
                   c->gp, MAX_GP_COUNTERS);
    } else if (!in_range_or_auto(c->gp_bitmap, 1, below(MAX_GP_COUNTERS))) {
        error_setg(errp, "pmu-gp-bitmap=%d: give 1 to 0x%x, generic counters "
                   "0 to %u can be modelled", c->gp_bitmap,
                   below(MAX_GP_COUNTERS), MAX_GP_COUNTERS - 1);
    } else if (c->width < 32 || c->width > 63) {
        error_setg(errp, "pmu-width=%u: counters of 32 to 63 bits can be "
                   "modelled", c->width);
    } else if (!in_range_or_auto(c->fixed_width, 32, 63)) {
        error_setg(errp, "pmu-fixed-width=%d: counters of 32 to 63 bits can "
                   "be modelled", c->fixed_width);
    } else if (!in_range_or_auto(c->fixed, 0, fixed)) {
        error_setg(errp, "pmu-fixed=%d: 0 to %u fixed counters can be modelled",
                   c->fixed, fixed);
    } else if (!in_range_or_auto(c->fixed_bitmap, 0, below(fixed))) {
        error_setg(errp, "pmu-fixed-bitmap=%d: give 0 to %u, fixed counters 0 "
                   "to %u can be modelled", c->fixed_bitmap, below(fixed),
                   fixed - 1);
    } else if (c->ebx_length > 32) {
        error_setg(errp, "pmu-ebx-length=%u: EBX has 32 bits", c->ebx_length);
    } else {
        return true;
    }
    return false;
}

static bool check_events(const X86PMUConfig *c, Error **errp)
{
    uint32_t missing = EBX_NOT_MODELLED & below(c->ebx_length) & ~c->ebx;

    if (missing) {
        error_setg(errp, "pmu-ebx=0x%x: bits 3, 4 and 6 (cache references, "
                   "cache and branch misses) are not modelled and must be "
                   "set, as in 0x%x", c->ebx, c->ebx | missing);
    }
    return !missing;
}

static bool given(int value)
{
    return value != X86_PMU_AUTO && value != 0;
}

static bool check_fixed(CPUX86State *env, const X86PMUConfig *c, Error **errp)
{
    bool hypervisor = env->features[FEAT_1_ECX] & CPUID_EXT_HYPERVISOR;

    if (c->version < 2 && (given(c->fixed) || given(c->fixed_width) ||
                           given(c->fixed_bitmap))) {
        error_setg(errp, "pmu-version=%d has no fixed counters: leave out "
                   "pmu-fixed, pmu-fixed-width and pmu-fixed-bitmap",
                   c->version);
    } else if (c->version < 5 && c->fixed_bitmap != X86_PMU_AUTO) {
        error_setg(errp, "pmu-fixed-bitmap came with version 5, this is "
                   "pmu-version=%d: use pmu-fixed", c->version);
    } else if (c->fixed != X86_PMU_AUTO && below(c->fixed) & ~c->fixed_bitmap) {
        error_setg(errp, "pmu-fixed-bitmap=%d lacks one of the %d contiguous "
                   "counters of pmu-fixed", c->fixed_bitmap, c->fixed);
    } else if (c->version >= 2 && c->version < 5 &&
               c->fixed != X86_PMU_AUTO && c->fixed < MAX_FIXED_COUNTERS &&
               !hypervisor) {
        error_setg(errp, "pmu-fixed=%d: CPUs of version %d have %u, and "
                   "software counts on it where it sees no hypervisor: "
                   "use hypervisor=on", c->fixed, c->version,
                   MAX_FIXED_COUNTERS);
    } else {
        return true;
    }
    return false;
}

static bool check_version_6(const X86PMUConfig *c, Error **errp)
{
    bool acr = has_flag(c, X86_PMU_ACR_BIT);
    bool reload = has_flag(c, X86_PMU_RELOAD_BIT);
    bool bitmap = c->gp_bitmap != X86_PMU_AUTO;

    if (c->version < 6 && (bitmap || reload || !acr)) {
        error_setg(errp, "pmu-gp-bitmap, pmu-reload=on and pmu-acr=off came "
                   "with version 6, this is pmu-version=%d", c->version);
    } else if (bitmap && c->gp > ctpop32(c->gp_bitmap)) {
        error_setg(errp, "pmu-gp=%d: of pmu-gp-bitmap=0x%x CPUID.0AH can say "
                   "1 to %u", c->gp, c->gp_bitmap, ctpop32(c->gp_bitmap));
    } else if (reload && !acr) {
        error_setg(errp, "pmu-reload=on needs pmu-acr=on, whose registers it "
                   "leaves set");
    } else {
        return true;
    }
    return false;
}

static bool check_intel(const X86PMUConfig *c, Error **errp)
{
    if (has_flag(c, X86_PMU_FREEZE_BIT) || has_flag(c, X86_PMU_FREE_BIT)) {
        error_setg(errp, "pmu-freeze and pmu-free-running are of AMD's CPUs: "
                   "use vendor=AuthenticAMD, or leave them out");
        return false;
    }
    return true;
}

/* What leaf 0AH, or leaf 23H, would describe. */
static bool check_not_intel(const X86PMUConfig *c, Error **errp)
{
    if (c->gp_bitmap != X86_PMU_AUTO || c->fixed != X86_PMU_AUTO ||
        c->fixed_width != X86_PMU_AUTO || c->fixed_bitmap != X86_PMU_AUTO) {
        error_setg(errp, "pmu-gp-bitmap and pmu-fixed, -width and -bitmap are "
                   "not of AMD's CPUs, which have no fixed counters");
    } else if (c->ebx != EBX_NOT_MODELLED || c->ebx_length != EBX_MODELLED_LENGTH) {
        error_setg(errp, "pmu-ebx and pmu-ebx-length are not of AMD's CPUs, "
                   "which do not say which events they have");
    } else if (c->width != AMD_WIDTH) {
        error_setg(errp, "pmu-width=%u: AMD's counters have %u bits", c->width,
                   AMD_WIDTH);
    } else if (!has_flag(c, X86_PMU_ACR_BIT) || has_flag(c, X86_PMU_RELOAD_BIT) ||
               has_flag(c, X86_PMU_EXTRA_BIT)) {
        error_setg(errp, "pmu-acr, pmu-reload and pmu-extra are not of AMD's "
                   "CPUs");
    } else {
        return true;
    }
    return false;
}

/* How many counters there are CPUID says from version 2 on; before that it is known. */
static bool check_amd(CPUX86State *env, const X86PMUConfig *c, Error **errp)
{
    bool core = has_perfctr_core(env);
    int gp = core ? AMD_CORE_COUNTERS : AMD_LEGACY_COUNTERS;

    if (c->version < 0 || c->version > 2) {
        error_setg(errp, "pmu-version=%d: AMD's are 1, and 2 (PerfMonV2)",
                   c->version);
    } else if (c->version == 2 && !core) {
        error_setg(errp, "pmu-version=2 needs perfctr-core=on, whose counters "
                   "it controls");
    } else if (c->version != 2 && !in_range_or_auto(c->gp, gp, gp)) {
        error_setg(errp, "pmu-gp=%d: with perfctr-core=%s there are %d; another "
                   "number takes pmu-version=2", c->gp, core ? "on" : "off", gp);
    } else if (!in_range_or_auto(c->gp, 1, AMD_COUNTERS_MAX)) {
        error_setg(errp, "pmu-gp=%d: CPUID can say 1 to %u", c->gp,
                   AMD_COUNTERS_MAX);
    } else if (c->version != 2 && has_flag(c, X86_PMU_FREEZE_BIT)) {
        error_setg(errp, "pmu-freeze=on came with pmu-version=2");
    } else {
        return check_not_intel(c, errp);
    }
    return false;
}

static bool check_extra(const X86PMUConfig *c, Error **errp)
{
    bool useless = !c->version && has_flag(c, X86_PMU_EXTRA_BIT);

    if (useless) {
        error_setg(errp, "pmu-extra=on: pmu-version=0 has no event that could "
                   "need another register");
    }
    return !useless;
}

static bool check_pauses(const X86PMUConfig *c, Error **errp)
{
    if (c->paused && c->paused < 2 * PAUSE_LENGTH) {
        error_setg(errp, "pmu-paused=%u: give 0, or %u instructions or more; "
                   "a pause takes %u", c->paused, 2 * PAUSE_LENGTH,
                   PAUSE_LENGTH);
    } else if (c->paused && c->version < 2) {
        error_setg(errp, "pmu-paused=%u: version %d has no GLOBAL_CTRL that "
                   "could pause its counters", c->paused, c->version);
    } else {
        return true;
    }
    return false;
}

static bool check_skid(const X86PMUConfig *c, Error **errp)
{
    if (c->pmi_skid > PMI_SKID_MAX) {
        error_setg(errp, "pmu-pmi-skid=%u: a PMI can be held back for 0 to %u "
                   "instructions", c->pmi_skid, PMI_SKID_MAX);
    } else if (c->pmi_skid && !c->version) {
        error_setg(errp, "pmu-pmi-skid=%u: pmu-version=0 has no PMI that could "
                   "be held back", c->pmi_skid);
    } else {
        return true;
    }
    return false;
}

static bool check_starved(const X86PMUConfig *c, Error **errp)
{
    if (c->starved == X86_PMU_AUTO) {
        return true;
    }
    if (broken_by_name(c->broken) != BROKEN_STARVED) {
        error_setg(errp, "pmu-starved=%d: say with pmu-broken=starved that "
                   "counters are", c->starved);
    } else if (c->starved < 1 || c->starved > X86_PMU_PLACES) {
        error_setg(errp, "pmu-starved=%d: 1 to %u counters can count at a time",
                   c->starved, X86_PMU_PLACES);
    } else {
        return true;
    }
    return false;
}

static bool check_broken(const X86PMUConfig *c, Error **errp)
{
    g_autofree char *names = g_strjoinv(", ", (char **)broken_names);

    if (!c->version && (c->broken || c->broken_counters != X86_PMU_ALL ||
                        c->firmware || has_flag(c, X86_PMU_FAULTS_BIT) ||
                        has_flag(c, X86_PMU_ODOMETER_BIT))) {
        error_setg(errp, "pmu-version=0 has nothing that could break: leave "
                   "out pmu-broken, pmu-broken-counters, pmu-firmware, "
                   "pmu-faults and pmu-odometer");
    } else if (c->broken && !broken_by_name(c->broken)) {
        error_setg(errp, "pmu-broken=%s: give one of %s", c->broken, names);
    } else if (!c->broken && c->broken_counters != X86_PMU_ALL) {
        error_setg(errp, "pmu-broken-counters=0x%" PRIx64 ": say with "
                   "pmu-broken what is wrong with them: %s",
                   c->broken_counters, names);
    } else if (!c->broken_counters) {
        error_setg(errp, "pmu-broken-counters=0x0 are none: leave out "
                   "pmu-broken");
    } else {
        return true;
    }
    return false;
}

/* Only of counters that exist; to be asked once the configuration is complete. */
static bool check_mask(CPUX86State *env, const char *name, uint64_t mask,
                       Error **errp)
{
    uint64_t all = pmu_counters(env);

    if (mask & ~all) {
        error_setg(errp, "%s=0x%" PRIx64 ": the counters there are, are "
                   "0x%" PRIx64, name, mask, all);
    }
    return !(mask & ~all);
}

static bool check_masks(CPUX86State *env, const X86PMUConfig *c, Error **errp)
{
    return !c->version ||
           ((c->broken_counters == X86_PMU_ALL ||
             check_mask(env, "pmu-broken-counters", c->broken_counters, errp)) &&
            check_mask(env, "pmu-firmware", c->firmware, errp));
}

/* QEMU itself only warns, and goes on without full-width writes. */
static bool lacks_pdcm(X86CPU *cpu)
{
    return cpu->env.user_features[FEAT_PERF_CAPABILITIES] &
           cpu->filtered_features[FEAT_PERF_CAPABILITIES] &
           PERF_CAP_FW_WRITE;
}

static bool check_cpu(X86CPU *cpu, const X86PMUConfig *c, Error **errp)
{
    CPUX86State *env = &cpu->env;

    if (!c->version) {
        return true;
    } else if (icount_enabled()) {
        /* A PMI may come where icount does not expect an interrupt. */
        error_setg(errp, "pmu=on does not go together with -icount: use "
                   "pmu=off");
    } else if (env->cpuid_level < PMU_LEAF) {
        error_setg(errp, "pmu=on: CPUID leaf 0AH describes the PMU, and "
                   "level=%u ends before it: use pmu=off",
                   env->cpuid_level);
    } else if (c->version >= 6 && env->cpuid_level < PMU_EXT_LEAF &&
               env->cpuid_level != env->cpuid_min_level) {
        error_setg(errp, "pmu-version=%d: CPUID leaf 23H describes it, and "
                   "level=%u ends before it", c->version, env->cpuid_level);
    } else if (lacks_pdcm(cpu)) {
        error_setg(errp, "full-width-write=on needs pdcm=on, which tells that "
                   "there is IA32_PERF_CAPABILITIES");
    } else if (has_any_thread(c->version) &&
               MACHINE(qdev_get_machine())->smp.threads > 1) {
        error_setg(errp, "pmu-version=%d has AnyThread, which is modelled for "
                   "cores of one thread only: use -smp threads=1, another "
                   "version, or pmu=off", c->version);
    } else {
        return true;
    }
    return false;
}

/* What was not given follows from what was. */
static void complete_config(X86PMUConfig *c)
{
    /*
     * EAX[15:8] is the number of those that exist, as the SDM has it.  With
     * holes it is of no use, and software for version 6 asks leaf 23H; but
     * Linux asks that only if this number is 2 or more.  Software that does
     * not know leaf 23H takes so many from the first on, and meets the holes.
     * CPUs therefore say less here than there (Arrow Lake HX: 8 and 10): so
     * does a pmu-gp that is given.
     */
    if (c->gp == X86_PMU_AUTO) {
        c->gp = c->gp_bitmap == X86_PMU_AUTO ? GP_DEFAULT :
                                               ctpop32(c->gp_bitmap);
    }
    if (c->gp_bitmap == X86_PMU_AUTO) {
        c->gp_bitmap = below(c->gp);
    }
    if (c->starved == X86_PMU_AUTO) {
        c->starved = 1;
    }
    if (c->fixed == X86_PMU_AUTO) {
        c->fixed = c->version < 2 ? 0 :
                   c->fixed_bitmap == X86_PMU_AUTO ? MAX_FIXED_COUNTERS :
                   cto32(c->fixed_bitmap);
    }
    if (c->fixed_bitmap == X86_PMU_AUTO) {
        c->fixed_bitmap = below(c->fixed);
    }
    if (c->fixed_width == X86_PMU_AUTO) {
        c->fixed_width = c->width;
    }
    if (c->ebx_length > EBX_MODELLED_LENGTH) {
        c->ebx |= ~below(EBX_MODELLED_LENGTH);
    }
    c->ebx &= below(c->ebx_length);
}

/* Counts belong into the counters before anything is saved. */
static void vm_state_changed(void *opaque, bool running, RunState state)
{
    X86CPU *cpu = opaque;

    if (!running) {
        x86_pmu_refresh(&cpu->env);
    }
}

/* By the first reset, behind which realizing the CPU does not fail. */
static void watch_vm_state(X86CPU *cpu)
{
    X86PMUConfig *c = &cpu->pmu_config;

    if (!c->stop_entry) {
        c->stop_entry = qemu_add_vm_change_state_handler(vm_state_changed, cpu);
    }
}

/* That there is leaf 23H. */
static void announce_extension(CPUX86State *env)
{
    env->cpuid_level = MAX(env->cpuid_level, PMU_EXT_LEAF);
    env->cpuid_level_func7 = MAX(env->cpuid_level_func7, 1);
    env->features[FEAT_7_1_EAX] |= PMU_EXT_FEATURE;
}

/* Of AMD's; and CPUID says so. */
static void complete_amd(CPUX86State *env, X86PMUConfig *c)
{
    bool core = has_perfctr_core(env);

    if (c->gp == X86_PMU_AUTO) {
        c->gp = core ? AMD_CORE_COUNTERS : AMD_LEGACY_COUNTERS;
    }
    c->fixed = c->fixed_bitmap = 0;
    if (c->version >= 2) {
        env->cpuid_xlevel = MAX(env->cpuid_xlevel, AMD_PMU_LEAF);
    }
    if (has_flag(c, X86_PMU_FREE_BIT)) {
        env->features[FEAT_8000_0008_EBX] |= AMD_IRPERF;
    }
}

static bool check_config(X86CPU *cpu, X86PMUConfig *c, Error **errp)
{
    CPUX86State *env = &cpu->env;
    bool amd = is_amd_like(env);

    if (c->version == X86_PMU_AUTO) {
        c->version = amd ? 1 : VERSION_DEFAULT;
    }
    if (amd) {
        return check_amd(env, c, errp);
    }
    return check_ranges(c, errp) && check_cpu(cpu, c, errp) &&
           check_fixed(env, c, errp) && check_events(c, errp) &&
           check_version_6(c, errp) && check_intel(c, errp);
}

void x86_pmu_realize(CPUState *cs, Error **errp)
{
    X86CPU *cpu = X86_CPU(cs);
    X86PMUConfig *c = &cpu->pmu_config;

    if (is_amd_like(&cpu->env) && icount_enabled()) {
        /* -cpu max is one of them, and has pmu=on if not told otherwise. */
        cpu->enable_pmu = false;
    }
    if (!cpu->enable_pmu) {
        c->version = 0;
        return;
    }
    if (!check_config(cpu, c, errp) ||
        !check_broken(c, errp) || !check_extra(c, errp) ||
        !check_pauses(c, errp) || !check_starved(c, errp) ||
        !check_skid(c, errp)) {
        return;
    }
    if (is_amd_like(&cpu->env)) {
        complete_amd(&cpu->env, c);
    }
    complete_config(c);
    if (!check_masks(&cpu->env, c, errp)) {
        return;
    }
    c->broken_kind = broken_by_name(c->broken);
    c->broken_counters &= pmu_counters(&cpu->env);
    if (!c->version) {
        cpu->env.features[FEAT_1_ECX] &= ~CPUID_EXT_PDCM;
    }
    if (c->version >= 6) {
        announce_extension(&cpu->env);
    }
    if (is_skylake(&cpu->env)) {
        c->flags |= 1u << X86_PMU_SKYLAKE_BIT;
    }
}

void x86_pmu_unrealize(CPUState *cs)
{
    X86PMUConfig *c = &X86_CPU(cs)->pmu_config;

    if (c->stop_entry) {
        qemu_del_vm_change_state_handler(c->stop_entry);
        c->stop_entry = NULL;
    }
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx)
{
    const X86PMUConfig *c = pmu_config(env);
    unsigned int version = pmu_version(env);

    *eax = *ebx = *ecx = *edx = 0;
    if (!version || is_amd_like(env)) {
        return;
    }
    *eax = version | c->gp << 8 | c->width << 16 | (uint32_t)c->ebx_length << 24;
    *ebx = c->ebx;
    if (version >= 2) {
        *edx = c->fixed | c->fixed_width << 5;
    }
    if (version >= 5) {
        *ecx = c->fixed_bitmap;
        *edx |= ANYTHREAD_DEPRECATED;
    }
}

/* Leaf 23H.  Its events are those of leaf 0AH, but a one means: it exists. */
void x86_pmu_cpuid_ext(CPUX86State *env, uint32_t subleaf, uint32_t *eax,
                       uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    const X86PMUConfig *c = pmu_config(env);

    *eax = *ebx = *ecx = *edx = 0;
    if (pmu_version(env) < 6) {
        return;
    }
    switch (subleaf) {
    case EXT_MAIN:
        *eax = 1u << EXT_MAIN | 1u << EXT_COUNTERS | 1u << EXT_EVENTS |
               (pmu_has_acr(env) ? 1u << EXT_ACR : 0);
        *ebx = EXT_UMASK2 | EXT_EQ;
        break;
    case EXT_COUNTERS:
        *eax = c->gp_bitmap;
        *ebx = c->fixed_bitmap;
        break;
    case EXT_ACR: /* those that can be reloaded; those whose overflow does it */
        if (pmu_has_acr(env)) {
            *eax = *ecx = c->gp_bitmap;
            *ebx = *edx = c->fixed_bitmap;
        }
        break;
    case EXT_EVENTS:
        *eax = ~c->ebx & below(c->ebx_length);
        break;
    }
}

/* Leaf 80000022H. */
void x86_pmu_cpuid_amd(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                       uint32_t *ecx, uint32_t *edx)
{
    const X86PMUConfig *c = pmu_config(env);

    *eax = *ebx = *ecx = *edx = 0;
    if (pmu_version(env) >= 2 && is_amd_like(env)) {
        *eax = AMD_V2 | (has_flag(c, X86_PMU_FREEZE_BIT) ? AMD_FREEZE : 0);
        *ebx = c->gp;
    }
}

/* Leaf 6, ECX[0]: are there APERF and MPERF? */
bool x86_pmu_has_aperf(CPUX86State *env)
{
    return pmu_counts_freely(env);
}

/* --- what a counter counts ---------------------------------------------- */

typedef enum Event {
    EVENT_NONE,
    EVENT_CYCLE,
    EVENT_BRANCH,           /* of the kinds in Counter.branches */
    EVENT_FLOW,             /* branches, interrupts and exceptions */
    EVENT_FAR,              /* far ones of these branches, and the other two */
    EVENT_INTERRUPT,
} Event;

#define ALL_BRANCHES        MAKE_64BIT_MASK(0, X86_PMU_BRANCHES)

typedef struct Counter {
    uint64_t *value;
    uint64_t mask;      /* of its width */
    uint64_t evtsel;    /* a fixed counter's is made up from its control */
    uint64_t status;    /* its bit in the GLOBAL MSRs */
    Event event;
    uint8_t branches;   /* bits of X86PMUBranch */
    BrokenKind broken;
} Counter;

/* The events of leaf 0AH that are modelled, by their bit in EBX. */
static const struct {
    uint16_t select;    /* umask and event */
    uint8_t bit;
    uint8_t event;
} arch_events[] = {
    { 0x003c, 0, EVENT_CYCLE },     /* unhalted core cycles */
    { 0x00c0, 1, EVENT_CYCLE },     /* instructions retired */
    { 0x013c, 2, EVENT_CYCLE },     /* unhalted reference cycles */
    { 0x00c4, 5, EVENT_BRANCH },    /* branch instructions retired */
};

/*
 * AMD's, by event and umask (PPRs; perf's tables for amdzen1 to 5).  Cycles not in
 * halt; retired instructions; retired branches; far control transfers; interrupts
 * taken; with umask 1 cycles not in halt at the rate of P-state 0.
 */
static const struct {
    uint16_t event;
    uint8_t umask;          /* 0: whichever */
    uint8_t what;
} amd_events[] = {
    { 0x076, 0, EVENT_CYCLE },
    { 0x0c0, 0, EVENT_CYCLE },
    { 0x0c2, 0, EVENT_FLOW },
    { 0x0c6, 0, EVENT_FAR },
    { 0x02c, 0, EVENT_INTERRUPT },
    { 0x120, 1, EVENT_CYCLE },
};

static Event amd_event(uint64_t evtsel)
{
    uint16_t event = (evtsel & EVTSEL_EVENT) | (evtsel & AMD_EVTSEL_EVENT2) >> 24;
    uint8_t umask = (evtsel & EVTSEL_UMASK) >> 8;
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(amd_events); i++) {
        if (amd_events[i].event == event &&
            (!amd_events[i].umask || amd_events[i].umask == umask)) {
            return amd_events[i].what;
        }
    }
    return EVENT_NONE;
}

/*
 * BR_INST_RETIRED of Skylake beyond the architectural one, by umask and event (perf's
 * tables skylake, skylakex and cascadelakex).  Those are no matter of CPUID.0AH:EBX.
 * What has PEBS there counts the same without it.
 */
static const struct {
    uint16_t select;
    uint8_t branches;       /* the kinds that it counts */
} skylake_events[] = {
    { 0x01c4, 1 << X86_PMU_TAKEN | 1 << X86_PMU_NOT_TAKEN },
    { 0x02c4, 1 << X86_PMU_CALL },
    { 0x04c4, ALL_BRANCHES },
    { 0x08c4, 1 << X86_PMU_RETURN },
    { 0x10c4, 1 << X86_PMU_NOT_TAKEN },
    { 0x20c4, ALL_BRANCHES & ~(1 << X86_PMU_NOT_TAKEN | 1 << X86_PMU_FAR) },
    { 0x40c4, 1 << X86_PMU_FAR },
};

/* Sets the event of a generic counter of Intel's. */
static void select_event(const X86PMUConfig *config, Counter *c)
{
    uint64_t select = c->evtsel & (EVTSEL_EVENT | EVTSEL_UMASK | EVTSEL_UMASK2);
    unsigned int i, bit;

    for (i = 0; i < ARRAY_SIZE(arch_events); i++) {
        bit = arch_events[i].bit;
        if (select == arch_events[i].select && bit < config->ebx_length &&
            !(config->ebx >> bit & 1)) {
            c->event = arch_events[i].event;
            c->branches = ALL_BRANCHES;
        }
    }
    if (!has_flag(config, X86_PMU_SKYLAKE_BIT)) {
        return;
    }
    for (i = 0; i < ARRAY_SIZE(skylake_events); i++) {
        if (select == skylake_events[i].select) {
            c->event = EVENT_BRANCH;
            c->branches = skylake_events[i].branches;
        }
    }
}

static Counter gp_counter(CPUX86State *env, unsigned int i)
{
    Counter c = {
        .value = &env->msr_gp_counters[i],
        .mask = pmu_gp_mask(env),
        .evtsel = env->msr_gp_evtsel[i],
        .status = 1ULL << i,
        .event = EVENT_NONE,
    };

    if (is_amd_like(env)) {
        c.event = amd_event(c.evtsel);
    } else {
        select_event(pmu_config(env), &c);
    }
    return c;
}

/*
 * Instructions, cycles, reference cycles, slots, bad speculation, frontend
 * bound, retiring.  A cycle of ours has one slot, in which an instruction
 * retires: none is lost to speculation or to the frontend.
 */
static Event fixed_event(unsigned int i)
{
    return i == 4 || i == 5 ? EVENT_NONE : EVENT_CYCLE;
}

static uint64_t *fixed_value(CPUX86State *env, unsigned int i)
{
    return i < MAX_FIXED_COUNTERS ?
           &env->msr_fixed_counters[i] :
           &env->pmu.fixed_more[i - MAX_FIXED_COUNTERS];
}

static Counter fixed_counter(CPUX86State *env, unsigned int i)
{
    uint64_t ctrl = env->msr_fixed_ctr_ctrl >> 4 * i;

    return (Counter) {
        .value = fixed_value(env, i),
        .mask = pmu_fixed_mask(env),
        .evtsel = EVTSEL_EN |
                  (ctrl & FIXED_OS ? EVTSEL_OS : 0) |
                  (ctrl & FIXED_USR ? EVTSEL_USR : 0) |
                  (ctrl & FIXED_PMI ? EVTSEL_INT : 0),
        .status = 1ULL << (FIXED_SHIFT + i),
        .event = fixed_event(i),
    };
}

static void break_counter(CPUX86State *env, Counter *c)
{
    c->broken = how_broken(env, c->status);
    if (c->broken == BROKEN_DEAD) {
        c->event = EVENT_NONE;
    } else if (c->broken == BROKEN_SHORT) {
        c->mask >>= SHORT_BY;
    }
}

/* Fills in c for the counter that stands at place i; false if none does. */
static bool get_counter(CPUX86State *env, unsigned int i, Counter *c)
{
    if (!pmu_has_place(env, i)) {
        return false;
    }
    *c = i < MAX_GP_COUNTERS ? gp_counter(env, i) :
                               fixed_counter(env, i - MAX_GP_COUNTERS);
    break_counter(env, c);
    return true;
}

#define FOR_EACH_COUNTER(env, c, i)                                         \
    for (i = 0; i < X86_PMU_PLACES; i++)                                    \
        if (get_counter(env, i, &(c)))

/*
 * AMD's Guest and Host bits.  With EFER.SVME a counter with one of them counts in that
 * world, with none or both in both worlds; without it one with either counts nothing
 * (APM2, table "Host/Guest Only").
 */
static bool counts_world(CPUX86State *env, const Counter *c)
{
    uint64_t worlds = c->evtsel & (AMD_EVTSEL_GUEST | AMD_EVTSEL_HOST);

    if (!worlds) {
        return true;
    }
    return (env->efer & MSR_EFER_SVME) &&
           (worlds & (env->hflags & HF_GUEST_MASK ? AMD_EVTSEL_GUEST :
                                                    AMD_EVTSEL_HOST));
}

static bool counter_enabled(CPUX86State *env, const Counter *c)
{
    if (!(c->evtsel & EVTSEL_EN) || (is_amd_like(env) && !counts_world(env, c))) {
        return false;
    }
    if (pmu_version(env) < 2) {
        return true;
    }
    return (env->msr_global_ctrl & c->status) &&
           !(env->msr_global_status & STATUS_CTR_FRZ) && !pmu_pausing(env);
}

/* Of these kinds. */
static uint64_t branches_in(const X86PMUHappened *h, uint64_t kinds)
{
    uint64_t branches = 0;
    unsigned int i;

    for (i = 0; i < X86_PMU_BRANCHES; i++) {
        branches += kinds >> i & 1 ? h->branches[i] : 0;
    }
    return branches;
}

/*
 * How many events a counter sees in what has happened, without EDGE.  An interrupt or
 * exception lies between two cycles: no comparison of CMASK sees it.
 */
static uint64_t events_in(const Counter *c, const X86PMUHappened *h)
{
    unsigned int cmask = (c->evtsel >> EVTSEL_CMASK_SHIFT) & 0xff;
    uint64_t events = 0, between = 0;

    switch (c->event) {
    case EVENT_NONE:
        return 0;
    case EVENT_CYCLE:
        events = h->cycles;
        break;
    case EVENT_BRANCH:
        events = branches_in(h, c->branches);
        break;
    case EVENT_FLOW:
        events = branches_in(h, ALL_BRANCHES);
        between = h->interrupts + h->exceptions;
        break;
    case EVENT_FAR:
        events = h->branches[X86_PMU_FAR];
        between = h->interrupts + h->exceptions;
        break;
    case EVENT_INTERRUPT:
        between = h->interrupts;
        break;
    }
    if (cmask == 0 && !(c->evtsel & EVTSEL_EQ)) {
        return events + between; /* INV has nothing to invert */
    }
    if (cmask == 0) {
        events = h->cycles - events; /* those that have none */
    }
    if (cmask > 1) {
        events = 0; /* a cycle has never two of them */
    }
    return c->evtsel & EVTSEL_INV ? h->cycles - events : events;
}

/* Is there anything that it counts: an instruction that is no branch, each that is? */
static bool counts_anything(const Counter *c)
{
    static const X86PMUHappened some[] = {
        { .cycles = 1 },
        { .cycles = X86_PMU_BRANCHES, .branches = { 1, 1, 1, 1, 1, 1 } },
        { .interrupts = 1 },
    };
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(some); i++) {
        if (events_in(c, &some[i])) {
            return true;
        }
    }
    return false;
}

/*
 * A hypervisor gives each counter of the guest one of its own, as long as it
 * has some: of those that are enabled the first do count.
 */
static bool starves(CPUX86State *env, const Counter *c)
{
    int before = 0;
    unsigned int i;
    Counter other;

    if (c->broken != BROKEN_STARVED) {
        return false;
    }
    FOR_EACH_COUNTER(env, other, i) {
        if (other.status < c->status && other.broken == BROKEN_STARVED &&
            (other.evtsel & (EVTSEL_OS | EVTSEL_USR)) &&
            counter_enabled(env, &other)) {
            before++;
        }
    }
    return before >= pmu_config(env)->starved;
}

/* Can this counter's value change?  Only then does it bound the budget. */
static bool counter_active(CPUX86State *env, const Counter *c)
{
    return counter_enabled(env, c) &&
           (c->evtsel & (EVTSEL_OS | EVTSEL_USR)) &&
           counts_anything(c) && !starves(env, c);
}

/* --- folding ------------------------------------------------------------ */

static unsigned int mode_of(uint32_t hflags)
{
    return hflags & HF_CPL_MASK ? X86_PMU_USR : X86_PMU_OS;
}

static void deliver_pmi(CPUX86State *env)
{
    /* Its type is not the same in all versions of QEMU. */
    typeof(env_archcpu(env)->apic_state) apic = env_archcpu(env)->apic_state;
    bool locked = bql_locked();

    if (!apic) {
        return;
    }
    if (!locked) {
        bql_lock();
    }
    apic_deliver_pmi(apic, !is_amd_like(env));
    if (!locked) {
        bql_unlock();
    }
}

/*
 * SDM "Freezing performance counters on PMI": legacy, streamlined from v4.  CPUs
 * freeze at the overflow.  What becomes of the PMI does not matter: it may be held
 * back, or dropped because LVTPC is masked.
 */
static void freeze_on_pmi(CPUX86State *env)
{
    if (!(env->pmu.debugctl & DEBUGCTL_FREEZE_PMC)) {
        return;
    }
    if (pmu_version(env) >= 4 || is_amd_like(env)) {
        env->msr_global_status |= STATUS_CTR_FRZ;
    } else {
        env->msr_global_ctrl = 0;
    }
}

/* What has happened since the counters were up to date. */
typedef struct Past {
    X86PMUHappened mode[X86_PMU_MODES];
    uint64_t cycles;    /* of both */
} Past;

static uint64_t events_of(const Counter *c, const Past *past)
{
    uint64_t events = 0;

    if (c->evtsel & EVTSEL_OS) {
        events += events_in(c, &past->mode[X86_PMU_OS]);
    }
    if (c->evtsel & EVTSEL_USR) {
        events += events_in(c, &past->mode[X86_PMU_USR]);
    }
    return events;
}

/* The past is one cycle, or none: arm() sees to it.  1 if it is an edge. */
static uint64_t edges_of(CPUX86State *env, const Counter *c, const Past *past)
{
    bool before = env->pmu.asserted & c->status;
    bool now = events_of(c, past);

    if (!past->cycles) {
        return 0;
    }
    env->pmu.asserted &= ~c->status;
    env->pmu.asserted |= now ? c->status : 0;
    return now && !before;
}

/* What a counter counts of so many events: all, if it is not broken. */
static uint64_t counted_of(CPUX86State *env, const Counter *c, uint64_t events)
{
    if (c->broken != BROKEN_HALVED) {
        return events;
    }
    events += env->pmu.odd & c->status ? 1 : 0;
    env->pmu.odd &= ~c->status;
    env->pmu.odd |= events & 1 ? c->status : 0;
    return events / 2;
}

/* How many events make it overflow. */
static int64_t events_left(CPUX86State *env, const Counter *c)
{
    int64_t left = MIN(c->mask - *c->value + 1, BUDGET_UNLIMITED);

    if (c->broken == BROKEN_HALVED) {
        left = 2 * left - (env->pmu.odd & c->status ? 1 : 0);
    }
    return MIN(left, BUDGET_UNLIMITED);
}

/*
 * Add to a counter what happened, and its bit to overflowed if that was too
 * much; true if that asks for an interrupt.
 */
static bool counter_add(CPUX86State *env, const Counter *c, const Past *past,
                        uint64_t *overflowed)
{
    uint64_t value = *c->value, events;

    events = c->evtsel & EVTSEL_EDGE ? edges_of(env, c, past) :
                                       events_of(c, past);
    value += counted_of(env, c, events);
    *c->value = value & c->mask;
    if (value <= c->mask) {
        return false;
    }
    if (c->broken == BROKEN_NO_OVERFLOW) {
        return false;
    }
    env->msr_global_status |= c->status;
    *overflowed |= c->status;
    return c->evtsel & EVTSEL_INT;
}

/*
 * Auto counter reload: an overflow that CFG_B names, or with PEBS a counter's
 * own, puts CFG_C's value into the counter if that counts at the time.  The
 * value is taken to be negative, as a distance to an overflow is.  No record
 * is written.
 */
static void reload_counters(CPUX86State *env, uint64_t overflowed)
{
    unsigned int i;
    uint64_t by;
    Counter c;

    FOR_EACH_COUNTER(env, c, i) {
        by = env->pmu.cfg_b[i] |
             (env->pmu.cfg_c[i] & CFG_C_EN ? c.status : 0);
        if ((by & overflowed) && counter_active(env, &c)) {
            *c.value = (int64_t)(int32_t)env->pmu.cfg_c[i] & c.mask;
        }
    }
}

/*
 * Is a PMI to be delivered now?  So many instructions have retired; the last one
 * made a counter overflow that interrupts, or did not.  With pmu-pmi-skid the PMI
 * is held back for so many more, and an overflow meanwhile joins it.
 */
static bool pmi_due(CPUX86State *env, uint64_t instructions, bool overflow)
{
    if (env->pmu.pmi_in) {
        env->pmu.pmi_in -= MIN(env->pmu.pmi_in, instructions);
    } else if (overflow) {
        env->pmu.pmi_in = pmu_config(env)->pmi_skid;
    } else {
        return false;
    }
    return !env->pmu.pmi_in;
}

/* IRPERF, APERF, MPERF: a cycle of ours is one at any rate. */
static void count_freely(CPUX86State *env, uint64_t cycles)
{
    if (env->pmu.hwcr & AMD_HWCR_IRPERF) {
        env->pmu.irperf += cycles;
    }
    env->pmu.aperf += cycles;
    env->pmu.mperf += cycles;
}

/* Bring all counters up to date with what has retired; arm() is to follow. */
static void fold(CPUX86State *env)
{
    uint64_t overflowed = 0;
    bool pmi = false;
    unsigned int i;
    Past past;
    Counter c;

    qatomic_set(&env->pmu.folding, env->pmu.folding | 1);
    smp_wmb();
    past.cycles = 0;
    for (i = 0; i < X86_PMU_MODES; i++) {
        past.mode[i] = env->pmu.happened[i];
        past.mode[i].cycles = env->pmu.armed[i] - env->pmu.budget[i];
        past.cycles += past.mode[i].cycles;
        env->pmu.happened[i] = (X86PMUHappened) { };
        qatomic_set(&env->pmu.odometer[i],
                    env->pmu.odometer[i] + past.mode[i].cycles);
    }
    count_freely(env, past.cycles);
    FOR_EACH_COUNTER(env, c, i) {
        if (counter_active(env, &c)) {
            pmi |= counter_add(env, &c, &past, &overflowed);
        }
    }
    if (overflowed) {
        reload_counters(env, overflowed);
    }
    if (pmu_config(env)->paused) {
        env->pmu.phase = (env->pmu.phase + past.cycles) %
                         pmu_config(env)->paused;
    }
    if (pmi) {
        freeze_on_pmi(env);
    }
    if (pmi_due(env, past.cycles, pmi)) {
        deliver_pmi(env);
    }
}

/* What the counters ask of the budgets. */
typedef struct Bounds {
    int64_t limit[X86_PMU_MODES];
    bool near;          /* an overflow, a PMI, a pause's ends, an EDGE counter */
    uint32_t flags;
} Bounds;

/* Something happens after so many events of these modes. */
static void bound_modes(Bounds *b, int64_t left, uint64_t modes)
{
    b->flags |= HF_PMU_MASK;
    if (left <= NEAR_EVENTS) {
        b->near = true;
    } else {
        left /= 2;
    }
    if (modes & EVTSEL_OS) {
        b->limit[X86_PMU_OS] = MIN(b->limit[X86_PMU_OS], left);
    }
    if (modes & EVTSEL_USR) {
        b->limit[X86_PMU_USR] = MIN(b->limit[X86_PMU_USR], left);
    }
}

static void bound(CPUX86State *env, Bounds *b, const Counter *c)
{
    b->flags |= c->event != EVENT_CYCLE ? HF_PMU_BR_MASK : 0;
    if (c->evtsel & EVTSEL_EDGE) {
        /* The mode that it does not count in deasserts its condition. */
        bound_modes(b, 1, EVTSEL_OS | EVTSEL_USR);
    } else {
        bound_modes(b, events_left(env, c),
                    c->evtsel & (EVTSEL_OS | EVTSEL_USR));
    }
}

/* The next pause begins, or this one ends. */
static void bound_by_pause(CPUX86State *env, Bounds *b)
{
    uint64_t until = pmu_config(env)->paused;

    if (until) {
        until -= pmu_pausing(env) ? 0 : PAUSE_LENGTH;
        bound_modes(b, until - env->pmu.phase, EVTSEL_OS | EVTSEL_USR);
    }
}

/* A PMI that is held back comes in any mode, and though no counter counts. */
static void bound_by_pmi(CPUX86State *env, Bounds *b)
{
    if (env->pmu.pmi_in) {
        bound_modes(b, env->pmu.pmi_in, EVTSEL_OS | EVTSEL_USR);
    }
}

/*
 * Set the budgets by the nearest overflow, and what the translator needs.
 *
 * A mode may be left on the very instruction that overflows a counter, and
 * that must be seen before the other mode's first.  So when an overflow is
 * near, the mode that does not run has no budget: its first block asks again.
 * When it is far, half of the way to it is far enough to ask again there.
 */
static void arm(CPUX86State *env)
{
    Bounds b = { .limit = { BUDGET_UNLIMITED, BUDGET_UNLIMITED } };
    unsigned int i;
    Counter c;

    b.flags = pmu_has_odometer(env) || pmu_counts_freely(env) ? HF_PMU_MASK : 0;
    FOR_EACH_COUNTER(env, c, i) {
        if (counter_active(env, &c)) {
            bound(env, &b, &c);
        } else {
            env->pmu.asserted &= ~c.status;
        }
    }
    bound_by_pause(env, &b);
    bound_by_pmi(env, &b);
    if (b.near) {
        b.limit[!mode_of(env->hflags)] = 0;
    }
    for (i = 0; i < X86_PMU_MODES; i++) {
        env->pmu.budget[i] = env->pmu.armed[i] = b.limit[i];
    }
    env->hflags = (env->hflags & ~(HF_PMU_MASK | HF_PMU_BR_MASK)) | b.flags;
    smp_wmb();
    qatomic_set(&env->pmu.folding, (env->pmu.folding | 1) + 1);
}

/* Fold and arm; between instructions. */
void x86_pmu_refresh(CPUX86State *env)
{
    if (pmu_version(env)) {
        fold(env);
        arm(env);
    }
}

/*
 * An interrupt is about to be taken: has the last instruction made a counter
 * overflow, or is a PMI due that was held back?  That is noticed when the next
 * block begins, which would be the interrupt's; but an NMI has priority over it
 * (SDM volume 3, "Priority among concurrent events").
 */
bool x86_pmu_overflow_due(CPUX86State *env)
{
    if (!(env->hflags & HF_PMU_MASK) || env->pmu.budget[mode_of(env->hflags)]) {
        return false;
    }
    x86_pmu_refresh(env);
    return true;
}

/*
 * After the registers came from elsewhere: nothing to fold.  hflags may have
 * come with them, from a CPU with another PMU.
 */
void x86_pmu_load(CPUX86State *env)
{
    env->hflags &= ~(HF_PMU_MASK | HF_PMU_BR_MASK);
    if (pmu_version(env)) {
        arm(env);
    }
}

/*
 * Before INIT, which keeps the PMU's registers: an overflow that lies on this
 * boundary must not wake the CPU afterwards, while it waits for a SIPI.  A PMI
 * that is held back is lost, as one is that is pending.
 */
void x86_pmu_init(CPUX86State *env)
{
    x86_pmu_refresh(env);
    env->pmu.pmi_in = 0;
    env->pmu.asserted = 0; /* nor has it a cycle while it waits */
}

/* Counters that firmware has left running. */
static void firmware_uses(CPUX86State *env, uint64_t counters)
{
    unsigned int i;
    Counter c;

    FOR_EACH_COUNTER(env, c, i) {
        if (!(c.status & counters)) {
            continue;
        } else if (i < MAX_GP_COUNTERS) {
            env->msr_gp_evtsel[i] = EVTSEL_FIRMWARE;
        } else {
            env->msr_fixed_ctr_ctrl |= (FIXED_OS | FIXED_USR) <<
                                       4 * (i - MAX_GP_COUNTERS);
            env->msr_global_ctrl |= c.status;
        }
    }
}

/*
 * Of disabled counters Linux's perf does not clear CFG_B and CFG_C: as if it
 * had used all of them to be reloaded by any other.
 */
static void leave_reloads(CPUX86State *env)
{
    unsigned int i;
    Counter c;

    FOR_EACH_COUNTER(env, c, i) {
        env->pmu.cfg_b[i] = pmu_counters(env);
        env->pmu.cfg_c[i] = CFG_C_LEFT_BEHIND;
    }
}

void x86_pmu_reset(CPUX86State *env)
{
    if (pmu_version(env)) {
        /* SDM: bits n-1:0 set, so that version 1 software works. */
        env->msr_global_ctrl = pmu_version(env) >= 2 ?
                               pmu_config(env)->gp_bitmap : 0;
        env->msr_ia32_misc_enable |= MISC_ENABLE_PMU;
        firmware_uses(env, pmu_config(env)->firmware);
        watch_vm_state(env_archcpu(env));
        memset(&env->pmu, 0, sizeof(env->pmu));
        if (has_flag(pmu_config(env), X86_PMU_RELOAD_BIT)) {
            leave_reloads(env);
        }
        arm(env);
    }
}

/*
 * Fold, and then arm, inside an instruction that ends its block: it has been
 * subtracted but has not retired.  Of two WRMSRs that enable and disable a
 * counter it counts the first, which has not retired when it takes effect.
 */
static void begin_access(CPUX86State *env)
{
    if (env->hflags & HF_PMU_MASK) {
        env->pmu.budget[mode_of(env->hflags)]++;
    }
    fold(env);
}

static void end_access(CPUX86State *env)
{
    arm(env);
    if (env->hflags & HF_PMU_MASK) {
        env->pmu.budget[mode_of(env->hflags)]--;
    }
}

/* Between instructions: before and after a #VMEXIT, which changes what counts. */
void x86_pmu_world_changes(CPUX86State *env)
{
    if (is_amd_like(env)) {
        x86_pmu_refresh(env);
    }
}

/* Around what changes it inside an instruction that ends its block: EFER.SVME, VMRUN. */
void x86_pmu_begin_change(CPUX86State *env)
{
    if (is_amd_like(env) && pmu_version(env)) {
        begin_access(env);
    }
}

void x86_pmu_end_change(CPUX86State *env)
{
    if (is_amd_like(env) && pmu_version(env)) {
        end_access(env);
    }
}

/*
 * HLT has retired and nothing will run: its overflow cannot wait, nor can a PMI
 * that is held back, for instructions that do not come.
 */
void x86_pmu_hlt(CPUX86State *env)
{
    if (env->hflags & HF_PMU_MASK) {
        fold(env);
        if (env->pmu.pmi_in) {
            env->pmu.pmi_in = 0;
            deliver_pmi(env);
        }
        arm(env);
        env->pmu.asserted = 0; /* a halted CPU has no cycle */
    }
}

/* A block was left before its last insns instructions had retired. */
void x86_pmu_restore(CPUX86State *env, uint32_t flags, int insns)
{
    if (flags & HF_PMU_MASK) {
        env->pmu.budget[mode_of(flags)] += insns;
    }
}

/*
 * INT n, INT3 or INTO has been delivered, which may fault and then it has not
 * retired.  flags are those of the mode that executed it.
 */
void x86_pmu_int(CPUX86State *env, uint32_t flags)
{
    if (flags & HF_PMU_MASK) {
        env->pmu.budget[mode_of(flags)]--;
        env->pmu.happened[mode_of(flags)].branches[X86_PMU_FAR]++;
    }
}

/*
 * An interrupt, NMI or exception has been delivered.  It is counted in the mode that
 * it has interrupted; no instruction retires that would show that a counter of
 * it overflows, so it is looked for here.
 */
void x86_pmu_delivered(CPUX86State *env, uint32_t flags, bool interrupt)
{
    X86PMUHappened *h = &env->pmu.happened[mode_of(flags)];

    if (!(flags & HF_PMU_BR_MASK) || !is_amd_like(env)) {
        return;
    }
    h->interrupts += interrupt;
    h->exceptions += !interrupt;
    x86_pmu_refresh(env);
}

/*
 * The block about to run would go beyond the budget.  Leave it, fold, and
 * run on; a block that must end on an overflow is bounded by CF_COUNT_MASK.
 */
void helper_pmu_budget_spent(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    uint32_t cflags = curr_cflags(cs);
    int64_t count = cflags & CF_COUNT_MASK ?: CF_COUNT_MASK + 1;
    int64_t budget;

    if (!cpu_restore_state(cs, GETPC())) {
        /* Fetched from a device: one instruction, and nobody knows of it. */
        env->pmu.budget[mode_of(env->hflags)]++;
    }
    x86_pmu_refresh(env);
    budget = env->pmu.budget[mode_of(env->hflags)];
    g_assert(budget > 0);
    if (budget < count) {
        cs->cflags_next_tb = (cflags & ~CF_COUNT_MASK) | budget;
    }
    cpu_loop_exit_noexc(cs);
}

/*
 * What the registers that QEMU saves for KVM's sake lack.  Those again that
 * reset, with pmu-firmware, may leave not 0, because QEMU saves none when all
 * of them are 0.  The PMU must be the one that was saved.
 */
static bool vmstate_needed(void *opaque)
{
    X86CPU *cpu = opaque;

    return tcg_enabled() && pmu_version(&cpu->env);
}

const VMStateDescription vmstate_x86_pmu = {
    .name = "cpu/x86_pmu",
    .version_id = 9,
    .minimum_version_id = 9,
    .needed = vmstate_needed,
    .fields = (VMStateField[]) {
        VMSTATE_INT32_EQUAL(pmu_config.version, X86CPU, "pmu-version differs"),
        VMSTATE_INT32_EQUAL(pmu_config.gp, X86CPU, "pmu-gp differs"),
        VMSTATE_INT32_EQUAL(pmu_config.gp_bitmap, X86CPU,
                            "the generic counters differ"),
        VMSTATE_UINT8_EQUAL(pmu_config.width, X86CPU, "pmu-width differs"),
        VMSTATE_INT32_EQUAL(pmu_config.fixed_bitmap, X86CPU,
                            "the fixed counters differ"),
        VMSTATE_INT32_EQUAL(pmu_config.fixed_width, X86CPU,
                            "pmu-fixed-width differs"),
        VMSTATE_UINT8_EQUAL(pmu_config.broken_kind, X86CPU,
                            "pmu-broken differs"),
        VMSTATE_UINT64_EQUAL(pmu_config.broken_counters, X86CPU,
                             "pmu-broken-counters differs"),
        VMSTATE_INT32_EQUAL(pmu_config.starved, X86CPU, "pmu-starved differs"),
        VMSTATE_UINT64_EQUAL(pmu_config.firmware, X86CPU,
                             "pmu-firmware differs"),
        VMSTATE_UINT32_EQUAL(pmu_config.paused, X86CPU, "pmu-paused differs"),
        VMSTATE_UINT32_EQUAL(pmu_config.pmi_skid, X86CPU,
                             "pmu-pmi-skid differs"),
        VMSTATE_UINT32_EQUAL(pmu_config.flags, X86CPU,
                             "pmu-extra, pmu-faults, pmu-odometer, pmu-acr, "
                             "pmu-reload, pmu-freeze or pmu-free-running "
                             "differs, or one CPU has Skylake's events"),
        VMSTATE_UINT64(env.msr_global_ctrl, X86CPU),
        VMSTATE_UINT64(env.msr_fixed_ctr_ctrl, X86CPU),
        VMSTATE_UINT64_ARRAY(env.msr_gp_evtsel, X86CPU, MAX_GP_COUNTERS),
        VMSTATE_UINT64(env.pmu.debugctl, X86CPU),
        VMSTATE_UINT64(env.pmu.asserted, X86CPU),
        VMSTATE_UINT64(env.pmu.odd, X86CPU),
        VMSTATE_UINT64(env.pmu.fault_in, X86CPU),
        VMSTATE_UINT64_ARRAY(env.pmu.odometer, X86CPU, X86_PMU_ODOMETERS),
        VMSTATE_UINT64_ARRAY(env.pmu.fixed_more, X86CPU,
                             X86_PMU_FIXED_MAX - MAX_FIXED_COUNTERS),
        VMSTATE_UINT64_ARRAY(env.pmu.cfg_b, X86CPU, X86_PMU_PLACES),
        VMSTATE_UINT64_ARRAY(env.pmu.cfg_c, X86CPU, X86_PMU_PLACES),
        VMSTATE_UINT64_ARRAY(env.pmu.offcore_rsp, X86CPU,
                             X86_PMU_OFFCORE_RSPS),
        VMSTATE_UINT64(env.pmu.frontend, X86CPU),
        VMSTATE_UINT64(env.pmu.phase, X86CPU),
        VMSTATE_UINT32(env.pmu.pmi_in, X86CPU),
        VMSTATE_UINT64(env.pmu.hwcr, X86CPU),
        VMSTATE_UINT64(env.pmu.irperf, X86CPU),
        VMSTATE_UINT64(env.pmu.aperf, X86CPU),
        VMSTATE_UINT64(env.pmu.mperf, X86CPU),
        VMSTATE_END_OF_LIST()
    }
};

/* --- registers ---------------------------------------------------------- */

enum RegKind {
    REG_ABSENT, REG_EVTSEL, REG_PMC, REG_A_PMC, REG_FIXED, REG_FIXED_CTRL,
    REG_STATUS, REG_CTRL, REG_OVF_CTRL, REG_STATUS_SET, REG_INUSE,
    REG_DEBUGCTL, REG_PERF_CAPABILITIES,
    /* Of version 6; the other two are by place. */
    REG_GP_CTR, REG_CFG_B, REG_CFG_C,
    /* With pmu-extra=on: the extra registers. */
    REG_OFFCORE_RSP, REG_FRONTEND,
    /* AMD's: its counters, and with pmu-free-running=on those that are none. */
    REG_AMD_CTR, REG_HWCR, REG_MPERF, REG_APERF, REG_IRPERF,
    /*
     * Ours, with pmu-faults=on: writing N makes the Nth access from then on,
     * of those that this PMU would allow, fault instead; it reads as how many
     * are left until then.
     */
    REG_FAULT,
    /*
     * Ours, with pmu-odometer=on: seven for each CPU, that of CPU 0 first, in the
     * order of X86PMUState.odometer[]. What another CPU has done in a mode is
     * exact while it is halted, or in the other mode.
     */
    REG_ODOMETER,
};

typedef struct RegRange {
    uint32_t first;
    uint16_t number;    /* of addresses that belong to the PMU */
    uint8_t kind;
    uint8_t version;    /* where it appeared */
    bool read_only;
    uint8_t step;       /* from one to the next; 0 is 1, too */
    uint8_t place;      /* of the first, if there is one for each counter */
} RegRange;

static const RegRange intel_ranges[] = {
    { 0x00c1, MAX_GP_COUNTERS, REG_PMC, 1 },
    { 0x0186, MAX_GP_COUNTERS, REG_EVTSEL, 1 },
    { 0x01a6, X86_PMU_OFFCORE_RSPS, REG_OFFCORE_RSP, 1 },
    { 0x01d9, 1, REG_DEBUGCTL, 0 },
    { 0x0309, 16, REG_FIXED, 2 },
    { 0x0329, 1, REG_ABSENT }, /* PERF_METRICS */
    { 0x0345, 1, REG_PERF_CAPABILITIES, 1, true },
    { 0x038d, 1, REG_FIXED_CTRL, 2 },
    { 0x038e, 1, REG_STATUS, 2, true },
    { 0x038f, 1, REG_CTRL, 2 },
    { 0x0390, 1, REG_OVF_CTRL, 2 },
    { 0x0391, 1, REG_STATUS_SET, 4 },
    { 0x0392, 1, REG_INUSE, 4, true },
    { 0x03f1, 1, REG_ABSENT }, /* PEBS_ENABLE */
    { 0x03f7, 1, REG_FRONTEND, 1 },
    { 0x04c1, MAX_GP_COUNTERS, REG_A_PMC, 1 },
    { 0x1900, MAX_GP_COUNTERS, REG_GP_CTR, 6, false, 4 },
    { 0x1901, MAX_GP_COUNTERS, REG_EVTSEL, 6, false, 4 },
    { 0x1902, MAX_GP_COUNTERS, REG_CFG_B, 6, false, 4 },
    { 0x1903, MAX_GP_COUNTERS, REG_CFG_C, 6, false, 4 },
    { 0x1980, X86_PMU_FIXED_MAX, REG_FIXED, 6, false, 4 },
    { 0x1982, X86_PMU_FIXED_MAX, REG_CFG_B, 6, false, 4, MAX_GP_COUNTERS },
    { 0x1983, X86_PMU_FIXED_MAX, REG_CFG_C, 6, false, 4, MAX_GP_COUNTERS },
    { 0x1900, 0x100, REG_ABSENT }, /* what is left between them */
    /* No CPU has registers there. */
    { 0x4000f000, 1, REG_FAULT, 1 },
    { 0x4000f100, X86_PMU_ODOMETERS * 64, REG_ODOMETER, 1, true },
};

/*
 * The first four counters have two addresses.  What version 2 adds is there with
 * version 2 only; a write of the status is ignored, and does not fault.
 */
static const RegRange amd_ranges[] = {
    { 0x000000e7, 1, REG_MPERF, 1 },
    { 0x000000e8, 1, REG_APERF, 1 },
    { 0x000001d9, 1, REG_DEBUGCTL, 1 },
    { 0xc00000e7, 1, REG_MPERF, 1, true },
    { 0xc00000e8, 1, REG_APERF, 1, true },
    { 0xc00000e9, 1, REG_IRPERF, 1 },
    { 0xc0000300, 1, REG_STATUS, 2 },
    { 0xc0000301, 1, REG_CTRL, 2 },
    { 0xc0000302, 1, REG_OVF_CTRL, 2 },
    { 0xc0000303, 1, REG_STATUS_SET, 2 },
    { 0xc0010000, AMD_LEGACY_COUNTERS, REG_EVTSEL, 1 },
    { 0xc0010004, AMD_LEGACY_COUNTERS, REG_AMD_CTR, 1 },
    { 0xc0010015, 1, REG_HWCR, 1 },
    { 0xc0010200, AMD_COUNTERS_MAX, REG_EVTSEL, 1, false, 2 },
    { 0xc0010201, AMD_COUNTERS_MAX, REG_AMD_CTR, 1, false, 2 },
    /* No CPU has registers there. */
    { 0x4000f000, 1, REG_FAULT, 1 },
    { 0x4000f100, X86_PMU_ODOMETERS * 64, REG_ODOMETER, 1, true },
};

static bool is_extra(const RegRange *reg)
{
    return reg->kind == REG_OFFCORE_RSP || reg->kind == REG_FRONTEND;
}

static bool counts_freely(const RegRange *reg)
{
    return reg->kind == REG_HWCR || reg->kind == REG_MPERF ||
           reg->kind == REG_APERF || reg->kind == REG_IRPERF;
}

/* Of Intel's ranges. */
static bool is_per_gp(const RegRange *reg)
{
    return !reg->step && reg->first < AMD_MSRS &&
           (reg->kind == REG_EVTSEL || reg->kind == REG_PMC ||
            reg->kind == REG_A_PMC);
}

/* The index of a register within its range, or the place of its counter. */
static unsigned int reg_index(const RegRange *reg, uint32_t msr)
{
    return (msr - reg->first) / (reg->step ?: 1) + reg->place;
}

/*
 * Addresses behind the eighth PMC are other registers' on most CPUs; there
 * only those of counters that exist are the PMU's.
 */
static bool reg_covers(CPUX86State *env, const RegRange *reg, uint32_t msr)
{
    unsigned int offset = msr - reg->first, number = reg->number;
    unsigned int step = reg->step ?: 1;

    if (is_per_gp(reg)) {
        number = MIN(number, MAX(pmu_last_gp(env) + 1, PMC_ALWAYS));
    } else if ((reg->kind == REG_FAULT && !pmu_has_faults(env)) ||
               (reg->kind == REG_ODOMETER && !pmu_has_odometer(env)) ||
               (is_extra(reg) && !pmu_has_extra(env)) ||
               (counts_freely(reg) && !pmu_counts_freely(env))) {
        number = 0;
    }
    return offset / step < number && offset % step == 0;
}

static const RegRange *find_reg(CPUX86State *env, uint32_t msr)
{
    bool amd = is_amd_like(env);
    const RegRange *reg = amd ? amd_ranges : intel_ranges;
    const RegRange *end = reg + (amd ? ARRAY_SIZE(amd_ranges) :
                                       ARRAY_SIZE(intel_ranges));

    for (; reg < end; reg++) {
        if (reg_covers(env, reg, msr)) {
            return reg;
        }
    }
    return NULL;
}

static bool reg_exists(CPUX86State *env, const RegRange *reg, unsigned int i)
{
    if (pmu_version(env) < reg->version) {
        return false;
    }
    if (reg->kind == REG_IRPERF && env->pmu.hwcr & AMD_HWCR_LOCK) {
        return false;
    }
    switch (reg->kind) {
    case REG_ABSENT:
        return false;
    case REG_EVTSEL:
    case REG_PMC:
    case REG_GP_CTR:
    case REG_AMD_CTR:
        return pmu_has_gp(env, i) && (reg->first < AMD_CORE_MSRS ||
                                      has_perfctr_core(env));
    case REG_A_PMC:
        return pmu_has_gp(env, i) && pmu_full_width(env);
    case REG_CFG_B:
    case REG_CFG_C:
        return pmu_has_place(env, i) && pmu_has_acr(env);
    case REG_FIXED:
        return pmu_has_fixed(env, i);
    case REG_PERF_CAPABILITIES:
        return pmu_has_pdcm(env);
    case REG_ODOMETER:
        return qemu_get_cpu(i / X86_PMU_ODOMETERS);
    default:
        return true;
    }
}

static uint64_t fixed_ctrl_bits(CPUX86State *env)
{
    uint64_t field = FIXED_OS | FIXED_USR | FIXED_PMI;
    uint64_t bits = 0;
    unsigned int i;

    field |= has_any_thread(pmu_version(env)) ? FIXED_ANY : 0;
    for (i = 0; i < X86_PMU_FIXED_MAX; i++) {
        bits |= pmu_has_fixed(env, i) ? field << 4 * i : 0;
    }
    return bits;
}

/* Bits that may be written as ones; of AMD's, other ones are dropped. */
static uint64_t writable_bits(CPUX86State *env, const RegRange *reg)
{
    switch (reg->kind) {
    case REG_EVTSEL:
        if (is_amd_like(env)) {
            return AMD_EVTSEL_BITS;
        }
        return (EVTSEL_BITS &
                ~(has_any_thread(pmu_version(env)) ? 0 : EVTSEL_ANY)) |
               (pmu_version(env) >= 6 ? EVTSEL_EQ | EVTSEL_UMASK2 : 0);
    case REG_A_PMC:
    case REG_GP_CTR:
    case REG_AMD_CTR:
    case REG_MPERF:
    case REG_APERF:
        return pmu_gp_mask(env);
    case REG_IRPERF:
        return pmu_gp_mask(env);
    case REG_HWCR:
        return AMD_HWCR_IRPERF | AMD_HWCR_LOCK;
    case REG_STATUS: /* of AMD's, the only ones that can be written */
        return 0;
    case REG_FIXED:
        return pmu_fixed_mask(env);
    case REG_FIXED_CTRL:
        return fixed_ctrl_bits(env);
    case REG_CTRL:
    case REG_CFG_B:
        return pmu_counters(env);
    case REG_CFG_C:
        return CFG_C_BITS;
    case REG_OFFCORE_RSP:
        return OFFCORE_RSP_BITS;
    case REG_FRONTEND:
        return FRONTEND_BITS;
    case REG_OVF_CTRL:
        return pmu_status_bits(env);
    case REG_STATUS_SET:
        return pmu_status_bits(env) & ~STATUS_COND_CHGD;
    case REG_DEBUGCTL:
        return DEBUGCTL_BTF | (pmu_can_freeze(env) ? DEBUGCTL_FREEZE_PMC : 0);
    default: /* a PMC takes EAX and ignores EDX */
        return UINT64_MAX;
    }
}

/* IA32_PERF_GLOBAL_INUSE, computed from the controls. */
static uint64_t read_inuse(CPUX86State *env)
{
    uint64_t inuse = 0;
    unsigned int i;
    Counter c;

    FOR_EACH_COUNTER(env, c, i) {
        bool used = i < MAX_GP_COUNTERS ?
                    c.evtsel & EVTSEL_EVENT :
                    c.evtsel & (EVTSEL_OS | EVTSEL_USR);

        inuse |= used ? c.status : 0;
        inuse |= c.evtsel & EVTSEL_INT ? INUSE_PMI : 0;
    }
    return inuse;
}

/* The counter at place i, which exists. */
static uint64_t read_counter(CPUX86State *env, unsigned int i)
{
    Counter c;

    get_counter(env, i, &c);
    return c.broken == BROKEN_CONSTANT ? CONSTANT_VALUE : *c.value;
}

static void write_counter(CPUX86State *env, unsigned int i, uint64_t val)
{
    Counter c;

    get_counter(env, i, &c);
    if (c.broken != BROKEN_IGNORES_WRITES) {
        *c.value = val & c.mask;
        env->pmu.odd &= ~c.status;
    }
}

static void write_evtsel(CPUX86State *env, unsigned int i, uint64_t val)
{
    if (how_broken(env, 1ULL << i) != BROKEN_IGNORES_WRITES) {
        env->msr_gp_evtsel[i] = val;
    }
}

static void write_fixed_ctrl(CPUX86State *env, uint64_t val)
{
    uint64_t ignored = 0;
    unsigned int i;

    for (i = 0; i < X86_PMU_FIXED_MAX; i++) {
        if (how_broken(env, 1ULL << (FIXED_SHIFT + i)) == BROKEN_IGNORES_WRITES) {
            ignored |= 0xfULL << 4 * i;
        }
    }
    env->msr_fixed_ctr_ctrl = (env->msr_fixed_ctr_ctrl & ignored) |
                              (val & ~ignored);
}

/* Of a CPU that may be running, and folding. */
static uint64_t read_moving_odometer(X86PMUState *pmu, unsigned int mode)
{
    uint32_t folding;
    uint64_t val;

    do {
        folding = qatomic_read(&pmu->folding) & ~1u;
        smp_rmb();
        val = qatomic_read(&pmu->odometer[mode]) +
              qatomic_read(&pmu->armed[mode]) -
              qatomic_read(&pmu->budget[mode]);
        smp_rmb();
    } while (folding != qatomic_read(&pmu->folding));
    return val;
}

/* By a CPU that has folded its own. */
static uint64_t read_odometer(CPUX86State *env, unsigned int cpu, unsigned int i)
{
    X86PMUState *pmu = &X86_CPU(qemu_get_cpu(cpu))->env.pmu;

    if (pmu == &env->pmu || i >= X86_PMU_MODES) {
        return qatomic_read(&pmu->odometer[i]);
    }
    return read_moving_odometer(pmu, i);
}

static uint64_t read_reg(CPUX86State *env, const RegRange *reg, unsigned int i)
{
    switch (reg->kind) {
    case REG_EVTSEL:
        return env->msr_gp_evtsel[i];
    case REG_PMC:
    case REG_A_PMC:
    case REG_GP_CTR:
    case REG_AMD_CTR:
        return read_counter(env, i);
    case REG_MPERF:
        return env->pmu.mperf;
    case REG_APERF:
        return env->pmu.aperf;
    case REG_IRPERF:
        return env->pmu.irperf;
    case REG_HWCR:
        return env->pmu.hwcr;
    case REG_CFG_B:
        return env->pmu.cfg_b[i];
    case REG_CFG_C:
        return env->pmu.cfg_c[i];
    case REG_OFFCORE_RSP:
        return env->pmu.offcore_rsp[i];
    case REG_FRONTEND:
        return env->pmu.frontend;
    case REG_FIXED:
        return read_counter(env, MAX_GP_COUNTERS + i);
    case REG_FIXED_CTRL:
        return env->msr_fixed_ctr_ctrl;
    case REG_STATUS:
        return env->msr_global_status;
    case REG_CTRL:
        return env->msr_global_ctrl;
    case REG_INUSE:
        return read_inuse(env);
    case REG_DEBUGCTL:
        return env->pmu.debugctl;
    case REG_PERF_CAPABILITIES:
        return env->features[FEAT_PERF_CAPABILITIES];
    case REG_FAULT:
        return env->pmu.fault_in;
    case REG_ODOMETER:
        return read_odometer(env, i / X86_PMU_ODOMETERS,
                             i % X86_PMU_ODOMETERS);
    default: /* OVF_CTRL and STATUS_SET hold nothing */
        return 0;
    }
}

static void write_reg(CPUX86State *env, const RegRange *reg, unsigned int i,
                      uint64_t val)
{
    switch (reg->kind) {
    case REG_EVTSEL:
        write_evtsel(env, i, val);
        break;
    case REG_PMC: /* only EAX counts, sign-extended from bit 31 */
        write_counter(env, i, (int64_t)(int32_t)val);
        break;
    case REG_A_PMC:
    case REG_GP_CTR:
    case REG_AMD_CTR:
        write_counter(env, i, val);
        break;
    case REG_MPERF:
        env->pmu.mperf = val;
        break;
    case REG_APERF:
        env->pmu.aperf = val;
        break;
    case REG_IRPERF:
        env->pmu.irperf = val;
        break;
    case REG_HWCR:
        env->pmu.hwcr = val;
        break;
    case REG_STATUS:
        break;
    case REG_CFG_B:
        env->pmu.cfg_b[i] = val;
        break;
    case REG_CFG_C:
        env->pmu.cfg_c[i] = val;
        break;
    case REG_OFFCORE_RSP:
        env->pmu.offcore_rsp[i] = val;
        break;
    case REG_FRONTEND:
        env->pmu.frontend = val;
        break;
    case REG_FIXED:
        write_counter(env, MAX_GP_COUNTERS + i, val);
        break;
    case REG_FIXED_CTRL:
        write_fixed_ctrl(env, val);
        break;
    case REG_CTRL:
        env->msr_global_ctrl = val;
        break;
    case REG_OVF_CTRL:
        env->msr_global_status &= ~val;
        break;
    case REG_STATUS_SET:
        env->msr_global_status |= val;
        break;
    case REG_DEBUGCTL:
        env->pmu.debugctl = val;
        break;
    case REG_FAULT:
        env->pmu.fault_in = val;
        break;
    default:
        g_assert_not_reached();
    }
}

static G_NORETURN void raise_gp(CPUX86State *env, uintptr_t ra)
{
    raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
}

/* Before an access that is all right otherwise. */
static void may_inject(CPUX86State *env, uintptr_t ra)
{
    if (env->pmu.fault_in && !--env->pmu.fault_in) {
        raise_gp(env, ra);
    }
}

/*
 * Before an access to an MSR. Ours are not the PMU's: they do not fault when one
 * of them shall, nor are they an access to whoever counts those.
 */
static void note_msr(CPUX86State *env, const RegRange *reg, unsigned int odometer,
                     uintptr_t ra)
{
    if (reg->kind != REG_FAULT && reg->kind != REG_ODOMETER) {
        may_inject(env, ra);
        env->pmu.odometer[odometer]++;
    }
}

/* True if the MSR is the PMU's. */
bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val, uintptr_t ra)
{
    const RegRange *reg = find_reg(env, msr);

    if (!reg || !pmu_on(env)) {
        return false;
    }
    if (!reg_exists(env, reg, reg_index(reg, msr))) {
        raise_gp(env, ra);
    }
    note_msr(env, reg, X86_PMU_ODOMETER_READS, ra);
    begin_access(env);
    *val = read_reg(env, reg, reg_index(reg, msr));
    end_access(env);
    return true;
}

bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, uintptr_t ra)
{
    const RegRange *reg = find_reg(env, msr);

    if (!reg || !pmu_on(env)) {
        return false;
    }
    if (is_amd_like(env)) {
        val &= writable_bits(env, reg);
    }
    if (!reg_exists(env, reg, reg_index(reg, msr)) || reg->read_only ||
        (val & ~writable_bits(env, reg))) {
        raise_gp(env, ra);
    }
    note_msr(env, reg, X86_PMU_ODOMETER_WRITES, ra);
    begin_access(env);
    write_reg(env, reg, reg_index(reg, msr), val);
    end_access(env);
    return true;
}

static bool rdpmc_index_ok(CPUX86State *env, uint32_t index)
{
    if (!pmu_version(env)) {
        return false;
    }
    if (index & RDPMC_FIXED && !is_amd_like(env)) {
        return pmu_has_fixed(env, index & ~RDPMC_FIXED);
    }
    return pmu_has_gp(env, index);
}

/* The caller has checked the privilege; ECX[31] is reserved with a PMU. */
uint64_t x86_pmu_rdpmc(CPUX86State *env, uint32_t index, uintptr_t ra)
{
    uint64_t val;

    if (!rdpmc_index_ok(env, index)) {
        raise_gp(env, ra);
    }
    may_inject(env, ra);
    env->pmu.odometer[X86_PMU_ODOMETER_RDPMC]++;
    begin_access(env);
    val = read_counter(env, index & RDPMC_FIXED ?
                            MAX_GP_COUNTERS + (index & ~RDPMC_FIXED) : index);
    end_access(env);
    return val;
}

/* Whoever reads the TSC; that costs time as accesses to the PMU do. */
void x86_pmu_rdtsc(CPUX86State *env)
{
    env->pmu.odometer[X86_PMU_ODOMETER_RDTSC]++;
}

/* --- translation -------------------------------------------------------- */

static void gen_add(size_t offset, int64_t n)
{
    TCGv_i64 t = tcg_temp_new_i64();

    tcg_gen_ld_i64(t, tcg_env, offset);
    tcg_gen_addi_i64(t, t, n);
    tcg_gen_st_i64(t, tcg_env, offset);
    tcg_temp_free_i64(t);
}

/*
 * The block's first code.  How many instructions it has is known only at
 * its end: the subtraction is returned, for x86_pmu_gen_tb_stop() to mend.
 */
TCGOp *x86_pmu_gen_tb_start(uint32_t flags)
{
    size_t offset = offsetof(CPUX86State, pmu.budget[mode_of(flags)]);
    TCGLabel *enough;
    TCGv_i64 budget;
    TCGOp *start;

    if (!(flags & HF_PMU_MASK)) {
        return NULL;
    }
    enough = gen_new_label();
    budget = tcg_temp_new_i64();
    tcg_gen_ld_i64(budget, tcg_env, offset);
    tcg_gen_sub_i64(budget, budget, tcg_constant_i64(0));
    start = tcg_last_op();
    tcg_gen_st_i64(budget, tcg_env, offset);
    tcg_gen_brcondi_i64(TCG_COND_GE, budget, 0, enough);
    gen_helper_pmu_budget_spent(tcg_env);
    gen_set_label(enough);
    tcg_temp_free_i64(budget);
    return start;
}

void x86_pmu_gen_tb_stop(TCGOp *start, int insns)
{
    if (start) {
        tcg_set_insn_param(start, 2, tcgv_i64_arg(tcg_constant_i64(insns)));
    }
}

/* Here the block's last instruction leaves it without having retired. */
void x86_pmu_gen_unretire(uint32_t flags)
{
    if (flags & HF_PMU_MASK) {
        gen_add(offsetof(CPUX86State, pmu.budget[mode_of(flags)]), 1);
    }
}

/* FF /2 to /5 */
X86PMUBranch x86_pmu_branch_ff(int op)
{
    switch (op) {
    case 2:
        return X86_PMU_CALL;
    case 4:
        return X86_PMU_JUMP;
    case 3:                 /* far CALL */
    case 5:                 /* far JMP */
        return X86_PMU_FAR;
    default:
        return X86_PMU_NO_BRANCH;
    }
}

/* By the translator's opcode (0x1xx for 0F xx); that of FF does not tell. */
X86PMUBranch x86_pmu_branch(int opcode)
{
    switch (opcode) {
    case 0x70 ... 0x7f:     /* Jcc */
    case 0x180 ... 0x18f:
    case 0xe0 ... 0xe3:     /* LOOP, JCXZ */
        return X86_PMU_TAKEN;
    case 0xe8:
        return X86_PMU_CALL;
    case 0xe9:              /* JMP */
    case 0xeb:
        return X86_PMU_JUMP;
    case 0xc2 ... 0xc3:
        return X86_PMU_RETURN;
    case 0xea:              /* far JMP */
    case 0x9a:              /* far CALL */
    case 0xca ... 0xcb:     /* far RET */
    case 0xcf:              /* IRET */
    case 0x105:             /* SYSCALL */
    case 0x107:             /* SYSRET */
    case 0x134 ... 0x135:   /* SYSENTER, SYSEXIT */
        return X86_PMU_FAR;
    default:
        return X86_PMU_NO_BRANCH;
    }
}

/* The branch by which a block is left through its exit 0 or 1, which is not taken. */
X86PMUBranch x86_pmu_exit(X86PMUBranch branch, int exit)
{
    if (branch == X86_PMU_TAKEN || branch == X86_PMU_NOT_TAKEN) {
        return exit ? X86_PMU_NOT_TAKEN : X86_PMU_TAKEN;
    }
    return branch;
}

/* Here a branch leaves its block. */
void x86_pmu_gen_branch(uint32_t flags, X86PMUBranch branch)
{
    size_t mode = offsetof(CPUX86State, pmu.happened[mode_of(flags)]);

    if (branch != X86_PMU_NO_BRANCH && (flags & HF_PMU_BR_MASK)) {
        gen_add(mode + offsetof(X86PMUHappened, branches) +
                branch * sizeof(uint64_t), 1);
    }
}
