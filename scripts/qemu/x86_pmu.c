/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The architectural PMU (CPUID leaf 0AH, SDM vol 3 "Performance monitoring")
 * for QEMU's TCG x86 CPU.
 *
 * How it counts.  One instruction takes one unhalted core cycle and one
 * reference cycle; a halted CPU has none.  While some counter can count
 * (HF_PMU), every translation block begins by subtracting its number of
 * instructions from the budget of its privilege mode; the distance from
 * where the budget started is what has retired.  An instruction that faults
 * gives its part, and that of the instructions behind it, back when TCG
 * restores the CPU's state; so does each pass of a REP instruction but the
 * last.  Branches are added where a branch leaves its block (HF_PMU_BR).
 *
 * The counters themselves are brought up to date ("folded") only when
 * somebody looks or something changes: at accesses to the PMU's registers,
 * and when a budget is spent.
 *
 * How it overflows.  The budget never exceeds the number of events that the
 * nearest counter can take.  When a block would go beyond it, the block is
 * left before its first instruction; if the counter's overflow lies inside
 * it, a shorter block is run that ends exactly there.  So a PMI is delivered
 * on the boundary behind the instruction that overflowed the counter.
 *
 * Not modelled yet: EDGE counts nothing; AnyThread counts its own thread; a
 * block whose code is fetched from a device is never restored and counts
 * whole.  Events other than the architectural cycles, instructions, reference
 * cycles and branches are flagged absent in CPUID.0AH:EBX.  DEBUGCTL is not
 * migrated.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/tcg.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "exec/helper-gen.h"
#include "hw/i386/apic.h"
#include "tcg/tcg-op.h"
#include "tcg/helper-tcg.h"

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
#define EVTSEL_BITS         0xffffffffULL

/* One counter's four bits in IA32_FIXED_CTR_CTRL */
#define FIXED_OS            1ULL
#define FIXED_USR           2ULL
#define FIXED_ANY           4ULL
#define FIXED_PMI           8ULL

/* IA32_PERF_GLOBAL_STATUS beyond the counters' bits */
#define STATUS_CTR_FRZ      (1ULL << 59)
#define STATUS_COND_CHGD    (1ULL << 63)
#define STATUS_TOP_V2       (7ULL << 61)   /* uncore, DS buffer, CondChgd */
#define STATUS_TOP_V4       (0x3fULL << 58) /* and LBR_Frz, CTR_Frz, ASCI */

#define DEBUGCTL_BITS       0xffc3ULL
#define DEBUGCTL_FREEZE_PMC (1ULL << 12)

#define PERF_CAP_FW_WRITE   (1ULL << 13)
#define INUSE_PMI           (1ULL << 63)

#define FIXED_SHIFT         32 /* of the fixed counters in the GLOBAL MSRs */
#define RDPMC_FIXED         0x40000000U
#define EBX_LENGTH          7

/* An overflow so many events ahead, or fewer, is near: see arm(). */
#define NEAR_EVENTS         (1 << 20)
#define BUDGET_UNLIMITED    (INT64_MAX / 2)

/* --- what the PMU is ---------------------------------------------------- */

static const X86PMUConfig *pmu_config(CPUX86State *env)
{
    return &env_archcpu(env)->pmu_config;
}

static unsigned int pmu_version(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu ? pmu_config(env)->version : 0;
}

static unsigned int pmu_fixed(CPUX86State *env)
{
    return pmu_version(env) >= 2 ? pmu_config(env)->fixed : 0;
}

static uint64_t pmu_width_mask(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, pmu_config(env)->width);
}

/* The counters' bits in GLOBAL_CTRL, GLOBAL_STATUS and GLOBAL_INUSE. */
static uint64_t pmu_counters(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, pmu_config(env)->gp) |
           (uint64_t)((1u << pmu_fixed(env)) - 1) << FIXED_SHIFT;
}

static uint64_t pmu_status_bits(CPUX86State *env)
{
    return pmu_counters(env) |
           (pmu_version(env) >= 4 ? STATUS_TOP_V4 : STATUS_TOP_V2);
}

/* AnyThread exists in versions 3 and 4 (deprecated from 5 on). */
static bool pmu_any_thread(CPUX86State *env)
{
    return pmu_version(env) == 3 || pmu_version(env) == 4;
}

static bool pmu_full_width(CPUX86State *env)
{
    return (env->features[FEAT_1_ECX] & CPUID_EXT_PDCM) &&
           (env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_FW_WRITE);
}

void x86_pmu_realize(CPUState *cs, Error **errp)
{
    X86CPU *cpu = X86_CPU(cs);
    X86PMUConfig *c = &cpu->pmu_config;

    if (!cpu->enable_pmu || !tcg_enabled()) {
        return;
    }
    if (icount_enabled()) {
        /* A PMI may come where icount does not expect an interrupt. */
        error_setg(errp, "pmu=on does not go together with -icount");
    } else if (c->version > 5) {
        error_setg(errp, "pmu-version=%u: 0 to 5 can be modelled", c->version);
    } else if (c->gp < 1 || c->gp > 8) {
        error_setg(errp, "pmu-gp=%u: 1 to 8 generic counters can be modelled",
                   c->gp);
    } else if (c->fixed > MAX_FIXED_COUNTERS) {
        error_setg(errp, "pmu-fixed=%u: 0 to %u fixed counters can be modelled",
                   c->fixed, MAX_FIXED_COUNTERS);
    } else if (c->width < 32 || c->width > 63) {
        error_setg(errp, "pmu-width=%u: counters have 32 to 63 bits", c->width);
    }
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx)
{
    const X86PMUConfig *c = pmu_config(env);
    unsigned int version = pmu_version(env);

    *eax = *ebx = *ecx = *edx = 0;
    if (!version) {
        return;
    }
    *eax = version | c->gp << 8 | c->width << 16 | EBX_LENGTH << 24;
    /* LLC references and misses and branch misses are absent. */
    *ebx = 1 << 3 | 1 << 4 | 1 << 6;
    if (version >= 2) {
        *edx = pmu_fixed(env) | c->width << 5;
    }
    if (version >= 5) {
        *ecx = (1u << pmu_fixed(env)) - 1;
        *edx |= 1 << 15;
    }
}

/* --- what a counter counts ---------------------------------------------- */

typedef struct Counter {
    uint64_t *value;
    uint64_t evtsel;    /* a fixed counter's is made up from its control */
    uint64_t status;    /* its bit in the GLOBAL MSRs */
} Counter;

/* IA32_FIXED_CTRx counts what these event selects would. */
static const uint16_t fixed_event[MAX_FIXED_COUNTERS] = {
    0x00c0, 0x003c, 0x013c,
};

static Counter gp_counter(CPUX86State *env, unsigned int i)
{
    return (Counter) {
        .value = &env->msr_gp_counters[i],
        .evtsel = env->msr_gp_evtsel[i],
        .status = 1ULL << i,
    };
}

static Counter fixed_counter(CPUX86State *env, unsigned int i)
{
    uint64_t ctrl = env->msr_fixed_ctr_ctrl >> 4 * i;

    return (Counter) {
        .value = &env->msr_fixed_counters[i],
        .evtsel = fixed_event[i] | EVTSEL_EN |
                  (ctrl & FIXED_OS ? EVTSEL_OS : 0) |
                  (ctrl & FIXED_USR ? EVTSEL_USR : 0) |
                  (ctrl & FIXED_PMI ? EVTSEL_INT : 0),
        .status = 1ULL << (FIXED_SHIFT + i),
    };
}

static bool counter_enabled(CPUX86State *env, const Counter *c)
{
    if (!(c->evtsel & EVTSEL_EN)) {
        return false;
    }
    if (pmu_version(env) < 2) {
        return true;
    }
    return (env->msr_global_ctrl & c->status) &&
           !(env->msr_global_status & STATUS_CTR_FRZ);
}

static bool counts_branches(uint64_t evtsel)
{
    return (evtsel & (EVTSEL_EVENT | EVTSEL_UMASK)) == 0x00c4;
}

static bool counts_cycles(uint64_t evtsel)
{
    switch (evtsel & (EVTSEL_EVENT | EVTSEL_UMASK)) {
    case 0x003c: /* unhalted core cycles */
    case 0x00c0: /* instructions retired */
    case 0x013c: /* unhalted reference cycles */
        return true;
    default:
        return false;
    }
}

/*
 * What an event select makes of so many cycles in which one instruction
 * each retired, so many of them branches.
 */
static uint64_t events_in(uint64_t evtsel, uint64_t cycles, uint64_t branches)
{
    unsigned int cmask = (evtsel >> EVTSEL_CMASK_SHIFT) & 0xff;
    uint64_t events;

    if (evtsel & EVTSEL_EDGE) {
        return 0;
    }
    if (counts_branches(evtsel)) {
        events = branches;
    } else if (counts_cycles(evtsel)) {
        events = cycles;
    } else {
        return 0;
    }
    if (cmask == 0) {
        return events;
    }
    if (cmask > 1) {
        events = 0; /* a cycle has never two of them */
    }
    return evtsel & EVTSEL_INV ? cycles - events : events;
}

/* Can this counter's value change?  Only then does it bound the budget. */
static bool counter_active(CPUX86State *env, const Counter *c)
{
    return counter_enabled(env, c) &&
           (c->evtsel & (EVTSEL_OS | EVTSEL_USR)) &&
           (events_in(c->evtsel, 1, 0) || events_in(c->evtsel, 1, 1));
}

#define FOR_EACH_COUNTER(env, c, i)                                         \
    for (i = 0; i < pmu_config(env)->gp + pmu_fixed(env) &&                 \
         (c = i < pmu_config(env)->gp ?                                     \
              gp_counter(env, i) :                                          \
              fixed_counter(env, i - pmu_config(env)->gp), true); i++)

/* --- folding ------------------------------------------------------------ */

static unsigned int mode_of(uint32_t hflags)
{
    return hflags & HF_CPL_MASK ? X86_PMU_USR : X86_PMU_OS;
}

static void deliver_pmi(CPUX86State *env)
{
    DeviceState *apic = env_archcpu(env)->apic_state;
    bool locked = qemu_mutex_iothread_locked();

    if (!apic) {
        return;
    }
    if (!locked) {
        qemu_mutex_lock_iothread();
    }
    apic_deliver_pmi(apic);
    if (!locked) {
        qemu_mutex_unlock_iothread();
    }
}

/* SDM "Freezing performance counters on PMI": legacy, streamlined from v4. */
static void freeze_on_pmi(CPUX86State *env)
{
    if (!(env->pmu.debugctl & DEBUGCTL_FREEZE_PMC) || pmu_version(env) < 2) {
        return;
    }
    if (pmu_version(env) >= 4) {
        env->msr_global_status |= STATUS_CTR_FRZ;
    } else {
        env->msr_global_ctrl = 0;
    }
}

/* Add to a counter what happened; true if that asks for an interrupt. */
static bool counter_add(CPUX86State *env, const Counter *c,
                        const uint64_t *cycles)
{
    uint64_t mask = pmu_width_mask(env), events = 0, value;

    if (c->evtsel & EVTSEL_OS) {
        events += events_in(c->evtsel, cycles[X86_PMU_OS],
                            env->pmu.branches[X86_PMU_OS]);
    }
    if (c->evtsel & EVTSEL_USR) {
        events += events_in(c->evtsel, cycles[X86_PMU_USR],
                            env->pmu.branches[X86_PMU_USR]);
    }
    value = *c->value + events;
    *c->value = value & mask;
    if (value <= mask) {
        return false;
    }
    env->msr_global_status |= c->status;
    return c->evtsel & EVTSEL_INT;
}

/* Bring all counters up to date with what has retired. */
static void fold(CPUX86State *env)
{
    uint64_t cycles[X86_PMU_MODES];
    bool pmi = false;
    unsigned int i;
    Counter c;

    for (i = 0; i < X86_PMU_MODES; i++) {
        cycles[i] = env->pmu.armed[i] - env->pmu.budget[i];
    }
    FOR_EACH_COUNTER(env, c, i) {
        if (counter_active(env, &c)) {
            pmi |= counter_add(env, &c, cycles);
        }
    }
    memset(env->pmu.branches, 0, sizeof(env->pmu.branches));
    if (pmi) {
        freeze_on_pmi(env);
        deliver_pmi(env);
    }
}

static void bound(int64_t *limit, const Counter *c, int64_t left)
{
    if (c->evtsel & EVTSEL_OS) {
        limit[X86_PMU_OS] = MIN(limit[X86_PMU_OS], left);
    }
    if (c->evtsel & EVTSEL_USR) {
        limit[X86_PMU_USR] = MIN(limit[X86_PMU_USR], left);
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
    int64_t limit[X86_PMU_MODES] = { BUDGET_UNLIMITED, BUDGET_UNLIMITED };
    unsigned int running = mode_of(env->hflags), i;
    bool near = false;
    uint32_t flags = 0;
    int64_t left;
    Counter c;

    FOR_EACH_COUNTER(env, c, i) {
        if (!counter_active(env, &c)) {
            continue;
        }
        flags |= HF_PMU_MASK;
        flags |= counts_branches(c.evtsel) ? HF_PMU_BR_MASK : 0;
        left = MIN(pmu_width_mask(env) - *c.value + 1, BUDGET_UNLIMITED);
        near |= left <= NEAR_EVENTS;
        bound(limit, &c, left <= NEAR_EVENTS ? left : left / 2);
    }
    if (near) {
        limit[!running] = 0;
    }
    for (i = 0; i < X86_PMU_MODES; i++) {
        env->pmu.budget[i] = env->pmu.armed[i] = limit[i];
    }
    env->hflags = (env->hflags & ~(HF_PMU_MASK | HF_PMU_BR_MASK)) | flags;
}

/* Fold and arm; between instructions. */
void x86_pmu_refresh(CPUX86State *env)
{
    if (pmu_version(env)) {
        fold(env);
        arm(env);
    }
}

/* After the registers came from elsewhere (migration): nothing to fold. */
void x86_pmu_load(CPUX86State *env)
{
    if (pmu_version(env)) {
        arm(env);
    }
}

void x86_pmu_reset(CPUX86State *env)
{
    if (pmu_version(env)) {
        /* SDM: bits n-1:0 set, so that version 1 software works. */
        env->msr_global_ctrl = pmu_version(env) >= 2 ?
                               MAKE_64BIT_MASK(0, pmu_config(env)->gp) : 0;
        memset(&env->pmu, 0, sizeof(env->pmu));
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

/* HLT has retired and nothing will run: its overflow cannot wait. */
void x86_pmu_hlt(CPUX86State *env)
{
    if ((env->hflags & HF_PMU_MASK) &&
        env->pmu.budget[mode_of(env->hflags)] <= 0) {
        x86_pmu_refresh(env);
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
        env->pmu.branches[mode_of(flags)]++;
    }
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

    cpu_restore_state(cs, GETPC());
    x86_pmu_refresh(env);
    budget = env->pmu.budget[mode_of(env->hflags)];
    if (budget < count) {
        cs->cflags_next_tb = (cflags & ~CF_COUNT_MASK) | budget;
    }
    cpu_loop_exit_noexc(cs);
}

/* --- registers ---------------------------------------------------------- */

enum RegKind {
    REG_EVTSEL, REG_PMC, REG_A_PMC, REG_FIXED, REG_FIXED_CTRL, REG_STATUS,
    REG_CTRL, REG_OVF_CTRL, REG_STATUS_SET, REG_INUSE, REG_DEBUGCTL,
    REG_PERF_CAPABILITIES,
};

typedef struct RegRange {
    uint32_t first;
    uint8_t number;     /* of addresses that belong to the PMU */
    uint8_t kind;
    uint8_t version;    /* where it appeared */
    bool read_only;
} RegRange;

static const RegRange reg_ranges[] = {
    { 0x0c1, 8, REG_PMC, 1 },
    { 0x186, 8, REG_EVTSEL, 1 },
    { 0x1d9, 1, REG_DEBUGCTL, 1 },
    { 0x309, 16, REG_FIXED, 2 },
    { 0x345, 1, REG_PERF_CAPABILITIES, 1, true },
    { 0x38d, 1, REG_FIXED_CTRL, 2 },
    { 0x38e, 1, REG_STATUS, 2, true },
    { 0x38f, 1, REG_CTRL, 2 },
    { 0x390, 1, REG_OVF_CTRL, 2 },
    { 0x391, 1, REG_STATUS_SET, 4 },
    { 0x392, 1, REG_INUSE, 4, true },
    { 0x4c1, 8, REG_A_PMC, 1 },
};

static const RegRange *find_reg(uint32_t msr)
{
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(reg_ranges); i++) {
        if (msr - reg_ranges[i].first < reg_ranges[i].number) {
            return &reg_ranges[i];
        }
    }
    return NULL;
}

static bool reg_exists(CPUX86State *env, const RegRange *reg, unsigned int i)
{
    if (pmu_version(env) < reg->version) {
        return false;
    }
    switch (reg->kind) {
    case REG_EVTSEL:
    case REG_PMC:
        return i < pmu_config(env)->gp;
    case REG_A_PMC:
        return i < pmu_config(env)->gp && pmu_full_width(env);
    case REG_FIXED:
        return i < pmu_fixed(env);
    case REG_PERF_CAPABILITIES:
        return env->features[FEAT_1_ECX] & CPUID_EXT_PDCM;
    default:
        return true;
    }
}

/* Bits that must be written as zeros. */
static uint64_t reserved_bits(CPUX86State *env, const RegRange *reg)
{
    uint64_t field = FIXED_OS | FIXED_USR | FIXED_PMI;
    uint64_t fields = 0;
    unsigned int i;

    switch (reg->kind) {
    case REG_EVTSEL:
        return ~EVTSEL_BITS | (pmu_any_thread(env) ? 0 : EVTSEL_ANY);
    case REG_A_PMC:
    case REG_FIXED:
        return ~pmu_width_mask(env);
    case REG_FIXED_CTRL:
        field |= pmu_any_thread(env) ? FIXED_ANY : 0;
        for (i = 0; i < pmu_fixed(env); i++) {
            fields |= field << 4 * i;
        }
        return ~fields;
    case REG_CTRL:
        return ~pmu_counters(env);
    case REG_OVF_CTRL:
        return ~pmu_status_bits(env);
    case REG_STATUS_SET:
        return ~pmu_status_bits(env) | STATUS_COND_CHGD;
    case REG_DEBUGCTL:
        return ~DEBUGCTL_BITS;
    default:
        return 0;
    }
}

/* IA32_PERF_GLOBAL_INUSE, computed from the controls. */
static uint64_t read_inuse(CPUX86State *env)
{
    uint64_t inuse = 0;
    unsigned int i;
    Counter c;

    FOR_EACH_COUNTER(env, c, i) {
        bool used = i < pmu_config(env)->gp ?
                    c.evtsel & EVTSEL_EVENT :
                    c.evtsel & (EVTSEL_OS | EVTSEL_USR);

        inuse |= used ? c.status : 0;
        inuse |= c.evtsel & EVTSEL_INT ? INUSE_PMI : 0;
    }
    return inuse;
}

static uint64_t read_reg(CPUX86State *env, const RegRange *reg, unsigned int i)
{
    switch (reg->kind) {
    case REG_EVTSEL:
        return env->msr_gp_evtsel[i];
    case REG_PMC:
    case REG_A_PMC:
        return env->msr_gp_counters[i];
    case REG_FIXED:
        return env->msr_fixed_counters[i];
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
    default: /* OVF_CTRL and STATUS_SET hold nothing */
        return 0;
    }
}

static void write_reg(CPUX86State *env, const RegRange *reg, unsigned int i,
                      uint64_t val)
{
    switch (reg->kind) {
    case REG_EVTSEL:
        env->msr_gp_evtsel[i] = val;
        break;
    case REG_PMC: /* only EAX counts, sign-extended from bit 31 */
        env->msr_gp_counters[i] = (int64_t)(int32_t)val & pmu_width_mask(env);
        break;
    case REG_A_PMC:
        env->msr_gp_counters[i] = val;
        break;
    case REG_FIXED:
        env->msr_fixed_counters[i] = val;
        break;
    case REG_FIXED_CTRL:
        env->msr_fixed_ctr_ctrl = val;
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
    default:
        g_assert_not_reached();
    }
}

static G_NORETURN void raise_gp(CPUX86State *env, uintptr_t ra)
{
    raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
}

/* True if the MSR is the PMU's. */
bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val, uintptr_t ra)
{
    const RegRange *reg = find_reg(msr);

    if (!reg || !pmu_version(env)) {
        return false;
    }
    if (!reg_exists(env, reg, msr - reg->first)) {
        raise_gp(env, ra);
    }
    begin_access(env);
    *val = read_reg(env, reg, msr - reg->first);
    end_access(env);
    return true;
}

bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, uintptr_t ra)
{
    const RegRange *reg = find_reg(msr);

    if (!reg || !pmu_version(env)) {
        return false;
    }
    if (!reg_exists(env, reg, msr - reg->first) || reg->read_only ||
        (val & reserved_bits(env, reg))) {
        raise_gp(env, ra);
    }
    begin_access(env);
    write_reg(env, reg, msr - reg->first, val);
    end_access(env);
    return true;
}

/* The caller has checked the privilege; ECX[31] is reserved with a PMU. */
uint64_t x86_pmu_rdpmc(CPUX86State *env, uint32_t index, uintptr_t ra)
{
    unsigned int i = index & ~RDPMC_FIXED;
    bool fixed = index & RDPMC_FIXED;
    unsigned int number = fixed ? pmu_fixed(env) : pmu_config(env)->gp;
    uint64_t val;

    if (!pmu_version(env) || i >= number) {
        raise_gp(env, ra);
    }
    begin_access(env);
    val = fixed ? env->msr_fixed_counters[i] : env->msr_gp_counters[i];
    end_access(env);
    return val;
}

/* --- translation -------------------------------------------------------- */

static void gen_add(size_t offset, int64_t n)
{
    TCGv_i64 t = tcg_temp_new_i64();

    tcg_gen_ld_i64(t, cpu_env, offset);
    tcg_gen_addi_i64(t, t, n);
    tcg_gen_st_i64(t, cpu_env, offset);
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
    tcg_gen_ld_i64(budget, cpu_env, offset);
    tcg_gen_sub_i64(budget, budget, tcg_constant_i64(0));
    start = tcg_last_op();
    tcg_gen_st_i64(budget, cpu_env, offset);
    tcg_gen_brcondi_i64(TCG_COND_GE, budget, 0, enough);
    gen_helper_pmu_budget_spent(cpu_env);
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

/* By the translator's opcode (0x1xx for 0F xx); it knows FF /2 to /5 itself. */
bool x86_pmu_is_branch(int opcode)
{
    switch (opcode) {
    case 0x70 ... 0x7f:     /* Jcc */
    case 0x180 ... 0x18f:
    case 0xe0 ... 0xe3:     /* LOOP, JCXZ */
    case 0xe8 ... 0xeb:     /* CALL, JMP */
    case 0x9a:              /* far CALL */
    case 0xc2 ... 0xc3:     /* RET */
    case 0xca ... 0xcb:     /* far RET */
    case 0xcf:              /* IRET */
    case 0x105:             /* SYSCALL */
    case 0x107:             /* SYSRET */
    case 0x134 ... 0x135:   /* SYSENTER, SYSEXIT */
        return true;
    default:
        return false;
    }
}

/* Here a branch leaves its block. */
void x86_pmu_gen_branch(uint32_t flags)
{
    if (flags & HF_PMU_BR_MASK) {
        gen_add(offsetof(CPUX86State, pmu.branches[mode_of(flags)]), 1);
    }
}
