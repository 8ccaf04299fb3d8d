/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architectural PMU of QEMU's TCG x86 CPU: state, properties and the
 * calls that the hooks make.  x86_pmu.c is the model and explains it.
 */
#ifndef TARGET_I386_X86_PMU_H
#define TARGET_I386_X86_PMU_H

/*
 * Bits of CPUX86State.hflags that TCG does not use.  They are part of a
 * translation block's identity, so code that counts and code that does not
 * are different blocks and a PMU at rest costs nothing.
 */
#define HF_PMU_SHIFT        29 /* some counter can count now */
#define HF_PMU_BR_SHIFT     30 /* one of them counts branches */
#define HF_PMU_MASK         (1 << HF_PMU_SHIFT)
#define HF_PMU_BR_MASK      (1 << HF_PMU_BR_SHIFT)

/* Privilege as the PMU's USR and OS bits see it: CPL 0, or CPL 1, 2 and 3. */
enum { X86_PMU_OS, X86_PMU_USR, X86_PMU_MODES };

/* What the odometer of a CPU counts: instructions by privilege, and accesses. */
enum {
    X86_PMU_ODOMETER_WRITES = X86_PMU_MODES,    /* WRMSR, of the PMU's registers */
    X86_PMU_ODOMETER_READS,                     /* RDMSR of them */
    X86_PMU_ODOMETER_RDPMC,
    X86_PMU_ODOMETER_RDTSC,                     /* and RDTSCP */
    X86_PMU_ODOMETER_LVTPC,                     /* writes of it: hw/intc/apic.c */
    X86_PMU_ODOMETERS,
};

/*
 * Fixed counters that can be modelled.  CPUX86State, and what it saves, have
 * room for MAX_FIXED_COUNTERS; those behind are in X86PMUState.
 */
#define X86_PMU_FIXED_MAX   7
/* A counter's place: generic ones first, fixed ones behind them. */
#define X86_PMU_PLACES      (MAX_GP_COUNTERS + X86_PMU_FIXED_MAX)

#define X86_PMU_OFFCORE_RSPS 2

/*
 * What an instruction is to the counters of branches.  Whether a conditional one is
 * taken its two exits know; until then it is X86_PMU_TAKEN.
 */
typedef enum X86PMUBranch {
    X86_PMU_TAKEN,
    X86_PMU_NOT_TAKEN,
    X86_PMU_JUMP,       /* near, as the next two are */
    X86_PMU_CALL,
    X86_PMU_RETURN,
    X86_PMU_FAR,
    X86_PMU_BRANCHES,
    X86_PMU_NO_BRANCH = X86_PMU_BRANCHES,
} X86PMUBranch;

/* What has happened in a mode since the counters were last brought up to date. */
typedef struct X86PMUHappened {
    uint64_t cycles;        /* and instructions; by budget[] until then */
    uint64_t branches[X86_PMU_BRANCHES];    /* retired */
    uint64_t interrupts;    /* delivered */
    uint64_t exceptions;
} X86PMUHappened;

/* Run-time state, beside the registers that CPUX86State has already. */
typedef struct X86PMUState {
    /*
     * Instructions that may still retire in each mode before a counter
     * could overflow.  Translated code subtracts; below zero it calls us.
     */
    int64_t budget[X86_PMU_MODES];
    /* What budget[] was when the counters were last brought up to date. */
    int64_t armed[X86_PMU_MODES];
    X86PMUHappened happened[X86_PMU_MODES];
    /* By GLOBAL_STATUS bit: the condition of an EDGE counter, last cycle. */
    uint64_t asserted;
    uint64_t debugctl;
    /* By GLOBAL_STATUS bit: a halved counter has seen an odd event. */
    uint64_t odd;
    /* This access to a register from now on faults, see REG_FAULT; 0: none. */
    uint64_t fault_in;
    /* Since reset, whatever the counters do: see REG_ODOMETER. */
    uint64_t odometer[X86_PMU_ODOMETERS];
    /* The fixed counters that CPUX86State has no room for. */
    uint64_t fixed_more[X86_PMU_FIXED_MAX - MAX_FIXED_COUNTERS];
    /* By place: IA32_PMC_GPx_CFG_B and CFG_C, IA32_PMC_FXx_CFG_B and CFG_C. */
    uint64_t cfg_b[X86_PMU_PLACES];
    uint64_t cfg_c[X86_PMU_PLACES];
    /* The extra registers: OFFCORE_RSP_0 and 1, and PEBS_FRONTEND. */
    uint64_t offcore_rsp[X86_PMU_OFFCORE_RSPS];
    uint64_t frontend;
    /* Instructions since the last pause ended, below pmu-paused. */
    uint64_t phase;
    /* Instructions until a PMI that is held back comes; 0: there is none. */
    uint32_t pmi_in;
    /* AMD's, with pmu-free-running=on */
    uint64_t hwcr;
    uint64_t irperf;
    uint64_t aperf;
    uint64_t mperf;
    /* Odd from fold() to arm(): armed[] and budget[] do not belong to it. */
    uint32_t folding;
} X86PMUState;

/* Of a property: as the others make it. */
#define X86_PMU_AUTO        (-1)
#define X86_PMU_ALL         UINT64_MAX

/* X86PMUConfig.flags */
#define X86_PMU_FAULTS_BIT  0
#define X86_PMU_ODOMETER_BIT 1
#define X86_PMU_ACR_BIT     2
#define X86_PMU_RELOAD_BIT  3
#define X86_PMU_EXTRA_BIT   4
#define X86_PMU_FREEZE_BIT  5
#define X86_PMU_FREE_BIT    6
#define X86_PMU_SKYLAKE_BIT 7   /* no property: the CPU's model */

/* What the PMU is; CPU properties, fixed once the CPU is realized. */
typedef struct X86PMUConfig {
    int32_t version;        /* EAX[7:0]; AMD's: 2 is PerfMonV2 */
    int32_t gp;             /* EAX[15:8]: generic counters */
    int32_t gp_bitmap;      /* those that exist; leaf 23H from version 6 on */
    uint8_t width;          /* EAX[23:16]: their width */
    uint8_t ebx_length;     /* EAX[31:24] */
    uint32_t ebx;           /* events that are absent */
    int32_t fixed;          /* EDX[4:0]: contiguous fixed counters */
    int32_t fixed_width;    /* EDX[12:5] */
    int32_t fixed_bitmap;   /* all of them; ECX from version 5 on */
    /* What no PMU should be; masks of counters are laid out as GLOBAL_CTRL. */
    char *broken;           /* the name of what is wrong; or NULL */
    uint8_t broken_kind;    /* the same, of BrokenKind */
    uint64_t broken_counters;
    int32_t starved;        /* how many of the starved ones count at a time */
    uint64_t firmware;      /* counters that run from reset on */
    uint32_t paused;        /* instructions from pause to pause; or 0 */
    uint32_t pmi_skid;      /* instructions from an overflow to its PMI */
    uint32_t flags;
    struct VMChangeStateEntry *stop_entry;
} X86PMUConfig;

#define X86_PMU_PROPERTIES                                                  \
    DEFINE_PROP_INT32("pmu-version", X86CPU, pmu_config.version,            \
                      X86_PMU_AUTO),                                        \
    DEFINE_PROP_INT32("pmu-gp", X86CPU, pmu_config.gp, X86_PMU_AUTO),       \
    DEFINE_PROP_INT32("pmu-gp-bitmap", X86CPU, pmu_config.gp_bitmap,        \
                      X86_PMU_AUTO),                                        \
    DEFINE_PROP_UINT8("pmu-width", X86CPU, pmu_config.width, 48),           \
    DEFINE_PROP_UINT32("pmu-ebx", X86CPU, pmu_config.ebx, 0x58),            \
    DEFINE_PROP_UINT8("pmu-ebx-length", X86CPU, pmu_config.ebx_length, 7),  \
    DEFINE_PROP_INT32("pmu-fixed", X86CPU, pmu_config.fixed, X86_PMU_AUTO), \
    DEFINE_PROP_INT32("pmu-fixed-width", X86CPU, pmu_config.fixed_width,    \
                      X86_PMU_AUTO),                                        \
    DEFINE_PROP_INT32("pmu-fixed-bitmap", X86CPU, pmu_config.fixed_bitmap,  \
                      X86_PMU_AUTO),                                        \
    DEFINE_PROP_STRING("pmu-broken", X86CPU, pmu_config.broken),            \
    DEFINE_PROP_UINT64("pmu-broken-counters", X86CPU,                       \
                       pmu_config.broken_counters, X86_PMU_ALL),            \
    DEFINE_PROP_INT32("pmu-starved", X86CPU, pmu_config.starved,            \
                      X86_PMU_AUTO),                                        \
    DEFINE_PROP_UINT64("pmu-firmware", X86CPU, pmu_config.firmware, 0),     \
    DEFINE_PROP_UINT32("pmu-paused", X86CPU, pmu_config.paused, 0),         \
    DEFINE_PROP_UINT32("pmu-pmi-skid", X86CPU, pmu_config.pmi_skid, 0),     \
    DEFINE_PROP_BIT("pmu-acr", X86CPU, pmu_config.flags,                    \
                    X86_PMU_ACR_BIT, true),                                 \
    DEFINE_PROP_BIT("pmu-reload", X86CPU, pmu_config.flags,                 \
                    X86_PMU_RELOAD_BIT, false),                             \
    DEFINE_PROP_BIT("pmu-extra", X86CPU, pmu_config.flags,                  \
                    X86_PMU_EXTRA_BIT, false),                              \
    DEFINE_PROP_BIT("pmu-freeze", X86CPU, pmu_config.flags,                 \
                    X86_PMU_FREEZE_BIT, false),                             \
    DEFINE_PROP_BIT("pmu-free-running", X86CPU, pmu_config.flags,           \
                    X86_PMU_FREE_BIT, false),                               \
    DEFINE_PROP_BIT("pmu-faults", X86CPU, pmu_config.flags,                 \
                    X86_PMU_FAULTS_BIT, false),                             \
    DEFINE_PROP_BIT("pmu-odometer", X86CPU, pmu_config.flags,               \
                    X86_PMU_ODOMETER_BIT, false)

struct CPUArchState;
struct TCGOp;

#ifndef CONFIG_USER_ONLY

/* The CPU's life: cpu.c, helper.c, machine.c */
extern const struct VMStateDescription vmstate_x86_pmu;
void x86_pmu_realize(CPUState *cs, Error **errp);
void x86_pmu_unrealize(CPUState *cs);
void x86_pmu_reset(struct CPUArchState *env);
void x86_pmu_refresh(struct CPUArchState *env);
bool x86_pmu_overflow_due(struct CPUArchState *env);
void x86_pmu_load(struct CPUArchState *env);
void x86_pmu_init(struct CPUArchState *env);
void x86_pmu_cpuid(struct CPUArchState *env, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx);
void x86_pmu_cpuid_ext(struct CPUArchState *env, uint32_t subleaf,
                       uint32_t *eax, uint32_t *ebx, uint32_t *ecx,
                       uint32_t *edx);
void x86_pmu_cpuid_amd(struct CPUArchState *env, uint32_t *eax, uint32_t *ebx,
                       uint32_t *ecx, uint32_t *edx);
bool x86_pmu_has_aperf(struct CPUArchState *env);

/* Instructions: tcg/misc_helper.c, tcg/sysemu/, tcg/tcg-cpu.c */
bool x86_pmu_rdmsr(struct CPUArchState *env, uint32_t msr, uint64_t *val,
                   uintptr_t ra);
bool x86_pmu_wrmsr(struct CPUArchState *env, uint32_t msr, uint64_t val,
                   uintptr_t ra);
uint64_t x86_pmu_rdpmc(struct CPUArchState *env, uint32_t index, uintptr_t ra);
void x86_pmu_rdtsc(struct CPUArchState *env);
void x86_pmu_hlt(struct CPUArchState *env);
void x86_pmu_restore(struct CPUArchState *env, uint32_t flags, int insns);
void x86_pmu_int(struct CPUArchState *env, uint32_t flags);
void x86_pmu_delivered(struct CPUArchState *env, uint32_t flags, bool interrupt);
void x86_pmu_world_changes(struct CPUArchState *env);
void x86_pmu_begin_change(struct CPUArchState *env);
void x86_pmu_end_change(struct CPUArchState *env);

/* Translation: tcg/translate.c */
X86PMUBranch x86_pmu_branch(int opcode);
X86PMUBranch x86_pmu_branch_ff(int op);
X86PMUBranch x86_pmu_exit(X86PMUBranch branch, int exit);
struct TCGOp *x86_pmu_gen_tb_start(uint32_t flags);
void x86_pmu_gen_tb_stop(struct TCGOp *start, int insns);
void x86_pmu_gen_unretire(uint32_t flags);
void x86_pmu_gen_branch(uint32_t flags, X86PMUBranch branch);

#else /* programs under user-mode emulation see no PMU */

#define x86_pmu_realize(cs, errp)                       ((void)0)
#define x86_pmu_reset(env)                              ((void)0)
#define x86_pmu_restore(env, flags, insns)              ((void)0)
#define x86_pmu_cpuid(env, eax, ebx, ecx, edx)          \
    (*(eax) = *(ebx) = *(ecx) = *(edx) = 0)
#define x86_pmu_cpuid_ext(env, subleaf, eax, ebx, ecx, edx)                 \
    (*(eax) = *(ebx) = *(ecx) = *(edx) = 0)
#define x86_pmu_cpuid_amd(env, eax, ebx, ecx, edx)      \
    (*(eax) = *(ebx) = *(ecx) = *(edx) = 0)
#define x86_pmu_has_aperf(env)                          (false)
#define x86_pmu_rdpmc(env, index, ra)                   (0)
#define x86_pmu_rdtsc(env)                              ((void)0)
#define x86_pmu_branch(opcode)                          (X86_PMU_NO_BRANCH)
#define x86_pmu_branch_ff(op)                           (X86_PMU_NO_BRANCH)
#define x86_pmu_exit(branch, exit)                      (branch)
#define x86_pmu_delivered(env, flags, interrupt)        ((void)0)
#define x86_pmu_gen_tb_start(flags)                     (NULL)
#define x86_pmu_gen_tb_stop(start, insns)               ((void)(start))
#define x86_pmu_gen_unretire(flags)                     ((void)0)
#define x86_pmu_gen_branch(flags, branch)               ((void)0)

#endif

#endif
