# SPDX-License-Identifier: GPL-2.0
#
# my_pmu: the module, and the lab in which it runs without a PMU.
# What is compiled is in Kbuild; what these targets do is in scripts/.

KDIR ?= /lib/modules/$(shell uname -r)/build

# For `make run` and `make list`; ARCH and KERNEL for `make kunit`, too. Empty: x86_64
ARCH ?=
# empty: 3; of riscv64 0
CPU ?=
COUNTERS ?= default
INTERVAL ?= 1000
SAMPLES ?= 5
# empty: the release's
KERNEL ?=
# empty: 4; of riscv64 1
SMP ?=
# For `make list`: as for scripts/vm --pmu
PMU ?=
# For `make report`: options of scripts/report
REPORT ?=
# For `make check`, `make lab-check` and `make endurance`: only the tests whose name
# matches; for `make compat`, the kernels.
TESTS ?=
# For `make install-lab`
PREFIX ?=
# For `make deb`: where the packages go
OUT ?= .
# For `make fuzz`
RUNS ?= 10000000

.DEFAULT_GOAL := modules

.PHONY: modules
# BTF would need pahole and the kernel's vmlinux, and serves no one here.
modules: ## build my_pmu.ko for the running kernel (KDIR= for another)
	@test -e "$(KDIR)/Makefile" || { \
		echo "no kernel headers in $(KDIR): install linux-headers-$$(uname -r)," \
		     "or say KDIR=; 'make run' needs neither" >&2; exit 1; }
	$(MAKE) -C "$(KDIR)" M="$(CURDIR)" CONFIG_DEBUG_INFO_BTF_MODULES= modules

.PHONY: tools
tools: ## build tools/my-pmu: counts for whoever does not read dmesg (docs/tool.md)
	@scripts/deps tools
	@$(MAKE) -s -C tools

.PHONY: deb
deb: export OUT := $(OUT)
deb: ## Debian packages of the module (by DKMS) and of my-pmu: into OUT=, or here
	@scripts/deps deb
	@scripts/deb "$$OUT"

.PHONY: run
run: export CPU := $(CPU)
run: export COUNTERS := $(COUNTERS)
run: export INTERVAL := $(INTERVAL)
run: export SAMPLES := $(SAMPLES)
run: export ARCH := $(ARCH)
run: export KERNEL := $(KERNEL)
run: export SMP := $(SMP)
run: export PMU := $(PMU)
run: ## the main job, in the lab: ARCH= CPU= COUNTERS= INTERVAL= SAMPLES= KERNEL= SMP= PMU=
	@scripts/run

.PHONY: list
list: export CPU := $(CPU)
list: export ARCH := $(ARCH)
list: export KERNEL := $(KERNEL)
list: export SMP := $(SMP)
list: export PMU := $(PMU)
list: ## the events of the lab's CPU, and their counters: ARCH= CPU= KERNEL= SMP= PMU=
	@scripts/list

.PHONY: report
report: export KDIR := $(KDIR)
report: ## on real hardware, as root: what the module relies on, in a page (REPORT='--cpu 3')
	@scripts/report $(REPORT)

.PHONY: check
check: ## every kind of test, the long ones in part (TESTS= for those whose name matches)
	@scripts/deps check
	@scripts/check '$(TESTS)'

.PHONY: kunit
kunit: export KUNIT_FILTER := $(TESTS)
kunit: ## the KUnit tests, under kunit.py (ARCH= KERNEL=; TESTS='my_pmu_read*': a glob)
	@scripts/deps run
	@scripts/kunit --arch '$(or $(ARCH),x86_64)' run '$(KERNEL)'

.PHONY: coverage
coverage: ## lines and branches of the module that the KUnit tests reach
	@scripts/deps run
	@tests/coverage

.PHONY: mutants
mutants: ## break the module on purpose, line by line; what notices? (TESTS=)
	@scripts/deps check
	@tests/mutants '$(TESTS)'

.PHONY: fuzz
fuzz: ## the parameters' parser, by libFuzzer (RUNS= executions)
	@scripts/deps fuzz
	@tests/fuzz-parse '$(RUNS)'

.PHONY: lab-check
lab-check: ## the lab's PMU, proved at length (TESTS= as for check)
	@scripts/deps check
	@scripts/check --lab '$(TESTS)'

.PHONY: endurance
endurance: ## the module on kernels that watch themselves, at length (TESTS= as for check)
	@scripts/deps check
	@scripts/deps fuzz
	@scripts/check --endurance '$(TESTS)'

.PHONY: fleet
fleet: ## three guests with my-pmu export, scraped by a real Prometheus (docs/fleet.md)
	@scripts/deps check
	@tests/fleet

.PHONY: compat
compat: export TESTS := $(TESTS)
compat: ## a table: does the module build, load, count on all kernels? (TESTS=)
	@scripts/deps check
	@tests/compat

.PHONY: lab-mutants
lab-mutants: ## break each rule of the lab's PMU in turn; what notices? (TESTS=)
	@scripts/deps check
	@tests/lab-mutants '$(TESTS)'

.PHONY: bench
bench: ## what counting costs, in instructions, beside perf: a table, bench.csv, bench.png
	@scripts/deps check
	@scripts/deps bench
	@scripts/bench

.PHONY: lab-speed
lab-speed: ## what the lab's PMU costs guests, in time
	@scripts/deps check
	@scripts/lab-speed

.PHONY: install-lab
install-lab: ## the lab without this checkout: PREFIX/bin/pmu-vm (PREFIX=DIR)
	@scripts/deps run
	@scripts/install-lab '$(PREFIX)'

.PHONY: dkms-check
dkms-check: ## build and install the module by dkms, in a scratch root
	@scripts/deps check
	@tests/dkms-check

.PHONY: fresh-check
fresh-check: export TESTS := $(TESTS)
fresh-check: ## make run and a part of make check on fresh Debians 12 and 13, as root (TESTS=)
	@scripts/deps fresh
	@tests/fresh-check

.PHONY: all-checks
all-checks: ## everything that is promised, whole: hours; goes on where it was interrupted
	@scripts/all-checks

.PHONY: clean-cache
clean-cache: ## remove all that was downloaded or built outside the checkout
	@scripts/cache --clean

.PHONY: clean
clean: ## remove what builds left here: of the module, of my-pmu, of packages
	@rm -rf .tmp_versions Module.symvers bench.csv bench.png
	@for dir in . users output events events/x86 events/riscv cpu samples; do [ ! -d $$dir ] || (cd $$dir && \
		rm -f modules.order *.ko *.o .*.o .*.o.d *.mod *.mod.c .*.cmd); done
	@rm -f tools/my-pmu tools/*.o my-pmu-*.deb

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12
