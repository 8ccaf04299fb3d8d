#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-2.0
#
# pmu-events.pl [all]: scripts/pmu-events against another reading of the same
# tables. Here an event is what stands in its registers: the event select as in
# the SDM, volume 3, and a mask of the counters it may be on, fixed ones from bit 32
# on; of RISC-V the number for which the firmware is asked. What the tool prints is
# decoded to that, here and by the module's own parser. An event that it refuses must
# have the cause that it names, and one that has none must be encoded.
#
# With "all", all tables of both kernels, which takes a minute; else some, and all of RISC-V.
# Debian 13 has one of the kernels: what is about the other's tables is left out there.
#
# Example: tests/pmu-events.pl all
use strict;
use warnings;
no warnings 'portable';	# numbers have 64 bits
use FindBin;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP;
use List::Util qw(max);
require "$FindBin::Bin/../scripts/help.pl";

answer_help('', @ARGV);

my $top = "$FindBin::Bin/..";
my $work = tempdir(CLEANUP => 1);
my ($number, $failed) = (0, 0);
my @kernels = split ' ', qx(bash -c 'source "$top/scripts/lib.sh" && kernel_series');
exit 1 unless @kernels;

use constant {
	USR => 1 << 16, OS => 1 << 17, EDGE => 1 << 18, INV => 1 << 23,
	FIXED => 32,	# where fixed counters begin in a mask
};

# The generic counters that a thread of the CPU can have, by the SDM and what Intel
# has published of each; eight where hyperthreading off gives it its sibling's.
my %generic = (
	(map { $_ => 2 } qw(bonnell silvermont knightslanding)),
	(map { $_ => 4 } qw(nehalemep nehalemex westmereep-dp westmereep-sp westmereex goldmont
		goldmontplus elkhartlake snowridgex)),
	(map { $_ => 6 } qw(alderlaken alderlake/cpu_atom)),
	(map { $_ => 8 } qw(sandybridge jaketown ivybridge ivytown haswell haswellx broadwell
		broadwellde broadwellx skylake skylakex cascadelakex icelake icelakex rocketlake
		tigerlake sapphirerapids emeraldrapids graniterapids sierraforest grandridge
		alderlake/cpu_core meteorlake/cpu_core meteorlake/cpu_atom lunarlake/cpu_atom invented)),
	'lunarlake/cpu_core' => 10,
	(map { $_ => 6 } qw(amdzen1 amdzen2 amdzen3 amdzen4 amdzen5 amdinvented)),
);

# Tables that call the first fixed counter 1.
my %from_one = map { $_ => 1 } '6.1 knightslanding',
	map { ("6.1 $_", "6.12 $_") } qw(bonnell silvermont nehalemep nehalemex westmereep-dp westmereep-sp westmereex);

# Umask and event select that stand for a fixed counter.
my @fixed_select = (0x00c0, 0x003c, 0x0300, 0x0400);

# What is no part of the encoding, whatever it says.
my $harmless = qr/^(?:Brief|Public)Description$|^(?:Deprecated|Errata|Speculative|SampleAfterValue|Data_LA
	|L1_Hit_Indication|ELLC|PEBScounters|PDIR_COUNTER|CollectPEBSRecord|BriefDescript6ion)$/x;
my $meaningful = qr/^(?:EventName|EventCode|UMask|CounterMask|Invert|EdgeDetect|Counter|CounterHTOff|Unit
	|AnyThread|MSRIndex|MSRValue|Offcore|PEBS|PRECISE_STORE|TakenAlone)$/x;
my $meaningful_riscv = qr/^(?:EventName|EventCode|ConfigCode|Unit)$/;
my $meaningful_amd = qr/^(?:EventName|EventCode|UMask|CounterMask|Invert|EdgeDetect|Unit)$/;

# Causes of a refusal, and how the tool says so.
my %says = (
	paired   => qr/takes two counters/,
	uncore   => qr/outside the cores/,
	register => qr/extra register/,
	sampling => qr/precise sampling/,
	sibling  => qr/AnyThread/,
	alone    => qr/TakenAlone/,
	firmware => qr/counted by the firmware \(SBI\)/,
	none     => qr/which is no event/,
	wide     => qr/(?:8|12|48) bits in the register|is a bit in the register/,
	fixed    => qr/fixed counter/,
	counters => qr/counters are expected|counters are .* without hyperthreading|generic and fixed/,
	select   => qr/no event select/,
	digits   => qr/number.* expected/,
	unknown  => qr/is unknown and may change/,
);

# KERNEL MODEL[/UNIT]
my @tables = ('6.12 skylake', '6.12 haswell', '6.12 alderlake/cpu_core', '6.12 alderlake/cpu_atom',
	'6.12 sapphirerapids', '6.12 lunarlake/cpu_atom', '6.12 nehalemep', '6.12 goldmont',
	(map { "6.12 amdzen$_" } 1 .. 5), '6.1 amdzen2',
	'6.1 skylake', '6.1 sandybridge', '6.1 westmereex');

# Written by hand, from the SDM and from reading the tables, to anchor both programs:
# KERNEL MODEL[/UNIT], name, string or what a refusal says.
my @known = (
	[ '6.12 skylake', 'INST_RETIRED.ANY', 'cpu/event=0xc0/@fixed0-0' ],
	[ '6.12 skylake', 'CPU_CLK_UNHALTED.THREAD:u', 'cpu/event=0x3c/:u@fixed1-1' ],
	[ '6.12 skylake', 'CPU_CLK_UNHALTED.REF_TSC', 'cpu/event=0x0,umask=0x3/@fixed2-2' ],
	[ '6.12 sapphirerapids', 'TOPDOWN.SLOTS:k', 'cpu/event=0x0,umask=0x4/:k@fixed3-3' ],
	[ '6.12 nehalemep', 'INST_RETIRED.ANY', 'cpu/event=0xc0/@fixed0-0' ],
	[ '6.12 skylake', 'br_inst_retired.all_branches', 'cpu/event=0xc4/@gp0-3' ],
	[ '6.12 skylake', 'MEM_INST_RETIRED.ALL_LOADS:uk', 'cpu/event=0xd0,umask=0x81/:uk@gp0-3' ],
	[ '6.12 skylake', 'CYCLE_ACTIVITY.STALLS_L1D_MISS', 'cpu/event=0xa3,umask=0xc,cmask=0xc/@gp0-3' ],
	[ '6.12 skylake', 'UOPS_ISSUED.STALL_CYCLES', 'cpu/event=0xe,umask=0x1,cmask=0x1,inv=1/@gp0-3' ],
	[ '6.12 skylake', 'RS_EVENTS.EMPTY_END', 'cpu/event=0x5e,umask=0x1,cmask=0x1,inv=1,edge=1/@gp0-3' ],
	[ '6.12 haswell', 'L1D_PEND_MISS.PENDING', 'cpu/event=0x48,umask=0x1/@gp2-2' ],
	[ '6.12 goldmont', 'LONGEST_LAT_CACHE.MISS', 'cpu/event=0x2e,umask=0x41/' ],
	[ '6.12 alderlake/cpu_core', 'LONGEST_LAT_CACHE.REFERENCE', 'cpu/event=0x2e,umask=0x4f/' ],
	[ '6.12 alderlake/cpu_core', 'ARITH.DIV_ACTIVE', 'cpu/event=0xb0,umask=0x9,cmask=0x1/' ],
	[ '6.12 sapphirerapids', 'EXE.AMX_BUSY', 'cpu/event=0xb7,umask=0x2/' ],
	[ '6.12 sapphirerapids', 'TOPDOWN.BAD_SPEC_SLOTS', 'cpu/event=0xa4,umask=0x4/@gp0-0' ],
	[ '6.1 sapphirerapids', 'AMX_OPS_RETIRED.INT8', 'cpu/event=0xce,umask=0x1/@gp0-0' ],
	[ '6.12 amdzen1', 'ex_ret_instr:u', 'cpu/event=0xc0/:u' ],
	[ '6.12 amdzen1', 'fpu_pipe_assignment.total', 'cpu/event=0x0,umask=0xf/' ],
	[ '6.12 amdzen4', 'ls_not_halted_p0_cyc.p0_freq_cyc', 'cpu/event=0x120,umask=0x1/' ],
	[ '6.12 amdzen5', 'ex_ret_fused_instr:k', 'cpu/event=0x1d0/:k' ],
	[ '6.12 amdzen4', 'fp_ret_sse_avx_ops.all', $says{paired} ],
	[ '6.12 amdzen2', 'l3_comb_clstr_state.request_miss', $says{uncore} ],
	[ '6.12 skylake', 'CPU_CLK_UNHALTED.THREAD_ANY', $says{sibling} ],
	[ '6.12 goldmont', 'OFFCORE_RESPONSE', $says{register} ],
	[ '6.12 skylake', 'MEM_TRANS_RETIRED.LOAD_LATENCY_GT_4', $says{register} ],
	[ '6.12 haswell', 'INST_RETIRED.PREC_DIST', $says{sampling} ],
	[ '6.12 skylake', 'UNC_CLOCK.SOCKET', $says{uncore} ],
	[ '6.12 lunarlake/cpu_atom', 'TOPDOWN_FE_BOUND.ALL', $says{fixed} ],
	[ '6.12 skylake', 'tma_retiring', qr/is a metric/ ],
	[ '6.12 sifive/u74', 'CONDITIONAL_BRANCH_RETIRED:u', 'cpu/event=0x4000/:u' ],
	[ '6.12 sifive/u74', 'dcache_writeback', 'cpu/event=0x402/' ],
	[ '6.12 thead/c900-legacy', 'inst_branch:uk', 'cpu/event=0x7/:uk' ],
	[ '6.12 sifive/u74', 'FW_SET_TIMER', $says{firmware} ],
);

# perf's name of a CPU, and its table. The stepping tells some apart.
my @cpus = (
	[ 'GenuineIntel-6-5E', 'skylake' ], [ 'GenuineIntel-6-5e-3', 'skylake' ], [ 'GenuineIntel-6-55-4', 'skylakex' ],
	[ 'GenuineIntel-6-55-7', 'cascadelakex' ], [ 'AuthenticAMD-23-11-0', 'amdzen1' ],
	[ 'AuthenticAMD-23-31-0', 'amdzen2' ], [ 'AuthenticAMD-25-61-2', 'amdzen4' ],
	[ '0x489-0x8000000000000007-0x4210427', 'sifive/u74' ],
	[ '0x5B7-0x0-0x0', 'thead/c900-legacy' ],
	[ '0x67e-0x80000000db000080-0x1', 'starfive/dubhe-80' ],
	[ '0x67e-0x80000000db000090-0x20', 'starfive/dubhe-80' ],
	[ '0x31e-0x8000000000008a45-0x7', 'andes/ax45' ],
);

# What stands in /proc/cpuinfo, and its table; or what the one line says.
my @cpuinfo = (
	[ "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n" .
		"model name\t: any\nstepping\t: 7\n\n", 'cascadelakex' ],
	[ "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n" .
		"mvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\nmimpid\t\t: 0x4210427\n\n" .
		"processor\t: 1\nmvendorid\t: 0x5b7\nmarchid\t\t: 0x0\nmimpid\t\t: 0x0\n\n",
		'sifive/u74' ],
	[ "processor\t: 0\nmvendorid\t: 0x0\nmarchid\t\t: 0x1\nmimpid\t\t: 0x2\n\n",
		qr/no tables for '0x0-0x1-0x2'/ ],
	[ "processor\t: 0\nmvendorid\t: 0x489\n\n", qr/does not say what CPU this is: give --cpu/ ],
	[ "processor\t: 0\n\n", qr/does not say what CPU this is: give --cpu/ ],
);

# ARGUMENTS, exit status, what the one line says.
my @bad = (
	[ '', 2, qr/give list, search or encode/ ],
	[ 'count', 2, qr/give list, search or encode/ ],
	[ '--cpu skylake encode', 2, qr/names of events, or --all/ ],
	[ '--cpu skylake encode --all INST_RETIRED.ANY', 2, qr/names of events, or --all/ ],
	[ '--cpu skylake search', 2, qr/one REGEX/ ],
	[ '--cpu skylake search (', 2, qr/no regular expression/ ],
	[ '--cpu skylake search no.such.words', 1, qr/nothing matches/ ],
	[ '--cpu skylake list all', 2, qr/takes no words/ ],
	[ '--cpu skylake --color list', 2, qr/--color/ ],
	[ '--cpu skylark list', 2, qr/no tables for 'skylark'.* haswell .* skylake / ],
	[ '--cpu GenuineIntel-6-5 list', 2, qr/no tables for 'GenuineIntel-6-5'/ ],
	[ '--cpu GenuineIntel-6-55 list', 2, qr/no tables for/ ],
	[ '--cpu HygonGenuine-24-1-1 list', 2, qr/no tables for/ ],
	[ '--cpu alderlake list', 2, qr/--unit cpu_atom or --unit cpu_core/ ],
	[ '--cpu skylake --unit cpu_core list', 2, qr/leave out --unit/ ],
	[ '--cpu skylake --unit cpu list', 2, qr/--unit/ ],
	[ '--cpu 0x489-0x1-0x1 list', 2,
		qr{no tables for '0x489-0x1-0x1'.* knows 0x489-\S+ \(sifive/u74\), 0x5b7-0x0-0x0 \(thead/} ],
	[ '--cpu 0x5b7-0x0 list', 2, qr/no tables for '0x5b7-0x0'/ ],
	[ '--cpu sifive/u47 list', 2, qr{no tables for 'sifive/u47'.* sifive/u74 } ],
	[ '--cpu sifive/u74 --unit cpu_core list', 2, qr/leave out --unit/ ],
	[ '--cpu sifive/u74 search FW_SET', 1, qr/nothing matches/ ],
	[ '--cpu skylake encode MEM_INST_RETIRED.ALL_LOAD', 1, qr/no such event.*MEM_INST_RETIRED\.ALL_LOADS/ ],
	(map { [ "--cpu skylake encode INST_RETIRED.ANY:$_", 1, qr/modifiers .*u \(user\), k \(kernel\)/ ] }
		'p', 'uu', '', 'u:k', 'U'),
);

# Each is a flaw of the tool that must be noticed: what, the text to replace, by
# what, and with which table.
my @mutants = (
	[ 'a umask that is shifted', 'f"umask={umask:#x}"', 'f"umask={umask << 4:#x}"', '6.12 haswell' ],
	[ 'no umask', 'if umask:', 'if False:', '6.12 haswell' ],
	[ 'no cmask', 'if number(event, "CounterMask"):', 'if False:', '6.12 haswell' ],
	[ 'no inv', 'if number(event, "Invert"):', 'if False:', '6.12 haswell' ],
	[ 'no edge', 'if number(event, "EdgeDetect"):', 'if False:', '6.12 haswell' ],
	[ 'inv for edge', '"edge=1"', '"inv=1"', '6.12 haswell' ],
	[ 'decimal for hexadecimal', '[f"event={code:#x}"]', '[f"event={code}"]', '6.12 haswell' ],
	[ 'no constraint', 'else at("gp", members)', 'else ""', '6.12 haswell' ],
	[ 'a pin for a constraint', '{kind}{first}-{last}', '{kind}{first}', '6.12 haswell' ],
	[ 'a hole that is forgotten', 'pairs[-1][1] == member - 1', 'pairs', 'invented invented' ],
	[ 'hyperthreading is never off', 'SHARED_COUNTERS = 8', 'SHARED_COUNTERS = 4', '6.12 haswell' ],
	[ 'the wrong fixed counter', 'return code, umask, at("fixed", {counter})',
		'return code, umask, at("fixed", members)', '6.12 nehalemep' ],
	[ 'no base of fixed counters', 'counter + table.fixed_base', 'counter', '6.12 nehalemep' ],
	[ 'no counter is all counters', "6.12's.\n    text = event.get(field, \"0\")",
		"\n    text = event.get(field, '0,1,2,3')", '6.1 westmereex' ],
	[ 'registers are not refused', '("MSRIndex", "MSRValue", "Offcore")', '()', '6.12 goldmont' ],
	[ 'nor where only the event select tells', 'if (code, umask) in table.extra:', 'if False:', '6.12 goldmont' ],
	[ 'PEBS is not refused', 'not in ("0", "1")', 'not in ("0", "1", "2")', '6.12 haswell' ],
	[ 'AnyThread is not refused', 'if number(event, "AnyThread"):', 'if False:', '6.12 haswell' ],
	[ 'TakenAlone is not refused', 'if number(event, "TakenAlone"):', 'if False:', 'invented invented' ],
	[ 'uncore is not refused', 'if not is_core(event):', 'if False:', '6.12 haswell' ],
	[ 'pairs of counters are not refused', 'in PAIRED:', 'in ():', '6.12 amdzen4' ],
	[ "AMD's events have eight bits", '"AuthenticAMD": 12', '"AuthenticAMD": 8', '6.12 amdzen4' ],
	[ "AMD's events have more than twelve", '"AuthenticAMD": 12', '"AuthenticAMD": 13', 'invented amdinvented' ],
	[ 'AMD has fields of Intel', 'refuse_unknown_fields(event, table.vendor)',
		'refuse_unknown_fields(event, "GenuineIntel")', 'invented amdinvented' ],
	[ 'Merge is no pair', 'PAIRED = {0x003, 0xfff}', 'PAIRED = {0x003}', 'invented amdinvented' ],
	[ 'nine bits are not refused', '"UMask": 8', '"UMask": 9', 'invented invented' ],
	[ 'unknown fields are not refused', 'if not is_zero(event[field]):', 'if False:', 'invented invented' ],
	[ 'one more field is ignored', '"BriefDescription", "Public', '"ExtSel", "BriefDescription", "Public',
		'invented invented' ],
	[ 'all is refused', 'refuse_wide(event, table.vendor)' . "\n\n\n", "raise Refused('extra register')\n\n\n", '6.12 haswell' ],
	[ 'an event is left out', '"", table) for event in table.events]', '"", table) for event in table.events[1:]]',
		'6.12 haswell' ],
	[ "the firmware's events are the CPU's", '>> 63 == 1', '>> 63 == 2', '6.12 sifive/u74' ],
	[ 'standard events are unknown', 'if name and name.lower() in known:', 'if False:',
		'6.12 sifive/u74' ],
	[ 'a standard event goes before the row', '{**known[name.lower()], **own}',
		'{**own, **known[name.lower()]}', 'invented invented/rv' ],
	[ "RISC-V's events have 49 bits", '"riscv": 48', '"riscv": 49', 'invented invented/rv' ],
	[ 'ConfigCode does not matter', '"ConfigCode" if "ConfigCode" in event else "EventCode"',
		'"EventCode"', 'invented invented/rv' ],
	[ 'no event is one', "config_field(event))\n    if code == 0:",
		"config_field(event))\n    if False:", 'invented invented/rv' ],
);

# Events with what the real tables do not have (yet), each with one such thing.
my @invented = (
	{},
	{ Counter => '0,1,2,3,4,5,6,7', ExtSel => '0', UMaskExt => '0x00' },
	{ Counter => '0,1,4,5,7' },
	{ EventName => 'CPU_CLK_UNHALTED.THREAD', Counter => '33', EventCode => '0x00', UMask => '0x2' },
	(map { { $_ => '1' } } qw(ExtSel UMaskExt ConfigCode EventidCode Filter PortMask FCMask ArchStdEvent
		UMask2 EqualTo TakenAlone PRECISE_STORE AnyThread)),
	{ EventCode => '0xb8', Offcore => '1' }, { EventCode => '0xb9', MSRValue => '0x10' },
	{ EventCode => '0xba', MSRIndex => '0x1ab', MSRValue => '0x1' }, { EventCode => '0xba' },
	{ EventCode => '0x1c2' }, { EventCode => '0xb7,0xbb' }, { EventCode => '0x00' }, { EventCode => 'c2' },
	{ UMask => '0x100' }, { CounterMask => '256' }, { Invert => '2' }, { EdgeDetect => '3' },
	{ UMask => 'all' }, { Counter => 'many' }, { Counter => '3,32' }, { Counter => 'Fixed counter 4' },
	{ Counter => '36' }, { PEBS => '3' }, { Unit => 'CBO' },
	{ Counter => '0,1', CounterHTOff => '0,2' },
);

# Likewise of AMD.
my @invented_amd = (
	{}, { EventCode => '0x1c7', UMask => '0x20' }, { EventCode => '0xfff' }, { EventCode => '0x003' },
	{ EventCode => '0x1000' }, { EventCode => '0x103' }, { EventCode => '0x00', UMask => '0x0f' }, { EventCode => '0x00' },
	{ UMask => '0x100' }, { CounterMask => '4', Invert => '1', EdgeDetect => '1' }, { Invert => '2' },
	{ UMask => 'all' }, { Unit => 'L3PMC', EnAllCores => '0x1' }, { EnAllCores => '0x1' },
	{ Counter => '0,1' }, { AnyThread => '1' }, { Counter => '0' },
);

# Likewise of RISC-V; rows that name events of the architecture, and these.
my @invented_riscv = (
	{}, { EventCode => '0xffffffffffff' }, { EventCode => '0x1000000000000' },
	{ EventCode => '0x00' }, { EventCode => '0x1,0x2' }, { EventCode => '17' },
	{ ConfigCode => '0x30000' }, { ConfigCode => '0x20000', EventCode => '0x00' },
	{ ConfigCode => '0xffff000000000000' }, { ConfigCode => '0x8000000000000005' },
	{ ConfigCode => '0x4000000000000005' }, { ConfigCode => 'all' },
	{ Unit => 'L3' }, { UMask => '0x1' }, { UMask => '0x0' },
	{ Counter => '0,1' }, { EventidCode => '0x1' },
);
my @naming_riscv = (
	{ ArchStdEvent => 'INVENTED_TRAP' }, { ArchStdEvent => 'NOT_INVENTED' },
	{ ArchStdEvent => 'invented_walk', BriefDescription => 'Walks.' },
	{ ArchStdEvent => 'INVENTED_WALK', EventCode => '0x78' },
);
my @standard_riscv = (
	{ EventName => 'INVENTED_TRAP', ConfigCode => '0x8000000000000009' },
	{ EventName => 'INVENTED_WALK', EventCode => '0x77' },
);

sub result {
	my ($name, @complaints) = @_;

	$number++;
	$failed = 1 if @complaints;
	print @complaints ? 'not ok' : 'ok', " $number - $name\n";
	splice @complaints, 5, @complaints, '... and ' . (@complaints - 5) . ' more' if @complaints > 6;
	print map { "#   $_\n" } @complaints;
}

# Returns standard output, standard error and the exit status.
sub run {
	my @command = @_;

	open my $stderr, '>&', \*STDERR or die "pmu-events.pl: $!\n";
	open STDERR, '>', "$work/err" or die "pmu-events.pl: $!\n";
	my $started = open my $pipe, '-|', @command;
	open STDERR, '>&', $stderr or die "pmu-events.pl: $!\n";
	die "pmu-events.pl: $command[0]: $!\n" unless $started;
	my $output = do { local $/; <$pipe> } // '';
	close $pipe;
	my $status = $? >> 8;
	return ($output, slurp("$work/err"), $status);
}

sub slurp {
	my ($path) = @_;

	open my $file, '<', $path or die "pmu-events.pl: $path: $!\n";
	local $/;
	return <$file> // '';
}

sub spill {
	my ($path, $text) = @_;

	open my $file, '>', $path or die "pmu-events.pl: $path: $!\n";
	print $file $text;
	close $file or die "pmu-events.pl: $path: $!\n";
}

# Kernel, model and unit. A model of RISC-V has a slash, too.
sub parts {
	return $_[0] =~ m{^(\S+) (.+?)(?:/(cpu_.+))?$};
}

# The tool's arguments for a table.
sub arguments {
	my ($table) = @_;
	my ($kernel, $model, $unit) = parts($table);

	return ('--kernel', $kernel, '--cpu', $model, $unit ? ('--unit', $unit) : ());
}

# ---------------------------------------------------------------- the tables

my %source;

# Whether there is the kernel that a table's name begins with.
sub is_here {
	my ($table) = @_;

	return grep { $table =~ /^\Q$_\E(?: |$)/ } @kernels, 'invented';
}

# Where a kernel's tables are, of an architecture.
sub tables_of {
	my ($kernel, $architecture) = @_;

	unless ($source{$kernel}) {
		($source{$kernel}) = $kernel eq 'invented' ? "$work/source" :
			run("$top/scripts/lab-source", $kernel);
		chomp $source{$kernel};
	}
	return "$source{$kernel}/tools/perf/pmu-events/arch/$architecture";
}

# The tables of RISC-V that a kernel has. Linux 6.1 has none.
sub riscv_tables {
	my ($kernel) = @_;
	my $top = tables_of($kernel, 'riscv');

	return map { "$kernel $_" } map { s{^\Q$top/\E}{}r } grep { -d } glob "$top/*/*";
}

# All of RISC-V have a vendor's folder.
sub is_riscv {
	my ($table) = @_;

	return (parts($table))[1] =~ m{/};
}

# Objects of files, in their order.
sub objects {
	return map { ref eq 'ARRAY' ? @$_ : () } map { JSON::PP->new->utf8->decode(slurp($_)) } @_;
}

my %raw;

# All that has a name, in the files' order.
sub raw_events {
	my ($kernel, $model) = @_;
	my $architecture = is_riscv("$kernel $model") ? 'riscv' : 'x86';
	my $path = tables_of($kernel, $architecture);

	return @{$raw{"$kernel $model"}} if $raw{"$kernel $model"};
	my @events = objects(grep { !/metric/ } sort glob "$path/$model/*.json");
	@events = with_standard(\@events, objects(glob "$path/*.json")) if $architecture eq 'riscv';
	$raw{"$kernel $model"} = [ grep { ref $_ && defined $_->{EventName} } @events ];
	return @{$raw{"$kernel $model"}};
}

# ArchStdEvent names an event of the architecture, of which a row may change something.
sub with_standard {
	my ($events, @standard) = @_;
	my %standard = map { uc $_->{EventName} => $_ } @standard;

	for my $event (@$events) {
		my $name = $event->{ArchStdEvent} // next;

		$event->{EventName} //= $name;
		next unless $standard{uc $name};
		delete @$event{qw(ArchStdEvent EventName)};
		$event->{$_} //= $standard{uc $name}{$_} for keys %{$standard{uc $name}};
	}
	return @$events;
}

sub on {
	my ($value) = @_;

	return defined $value && $value !~ /^(?:0x)?0*$/;
}

sub value {
	my ($text) = @_;

	$text //= 0;
	return $text =~ /^\s*0x/i ? hex $text =~ s/\s//gr : $text =~ /^\d+$/ ? $text : -1;
}

sub core {
	my ($event) = @_;

	return !defined $event->{Unit} || $event->{Unit} =~ /^cpu_(?:core|atom)$/;
}

# "select/umask", of which there are two if the event select goes with a register.
sub keys_of {
	my ($event) = @_;

	return map { value($_) . '/' . value($event->{UMask}) } split /\s*,\s*/, $event->{EventCode} // 0;
}

sub has_register {
	my ($event) = @_;

	return scalar grep { on($event->{$_}) } qw(MSRIndex MSRValue Offcore);
}

# The counter mask of what the table says; undef if that is nothing sensible.
sub listed {
	my ($text, $table) = @_;
	my $mask = 0;

	$text //= 0;	# what is 0 is left out
	return 1 << (FIXED + $1 - ($from_one{$table} // 0)) if $text =~ /^Fixed counter (\d)$/;
	return undef unless $text =~ /^[\d, ]+$/;
	$mask |= 1 << $_ for split /,/, $text;
	return $mask;
}

# All causes for which an event is to be refused.
sub causes {
	my ($event, $table, $with_register) = @_;

	return 'uncore' unless core($event);
	return causes_riscv($event) if is_riscv($table);
	return causes_amd($event) if $table =~ / amd/;
	my $mask = listed($event->{Counter}, $table);
	my $off = listed($event->{CounterHTOff} // $event->{Counter}, $table);
	my $is_fixed = defined $mask && $mask >> FIXED;
	my @codes = split /,/, $event->{EventCode} // 0;
	return (
		('digits') x !!(grep { defined $_ && !/^\s*(?:0x[\da-f]+|\d+)\s*$/i } $event->{UMask}, @codes),
		('unknown') x !!(grep { !/$harmless/ && !/$meaningful/ && on($event->{$_}) } keys %$event),
		('register') x !!(has_register($event) || @codes > 1 || grep { $with_register->{$_} } keys_of($event)),
		('sibling') x !!on($event->{AnyThread}),
		('alone') x !!on($event->{TakenAlone}),
		('sampling') x !!(($event->{PEBS} // 0) > 1 || on($event->{PRECISE_STORE})),
		('wide') x !!(grep { value($_) > 255 } @codes, map { $event->{$_} // 0 } qw(UMask CounterMask)),
		('wide') x !!(grep { ($event->{$_} // 0) > 1 } qw(Invert EdgeDetect)),
		('counters') x !!(!defined $mask || $mask & ~$off || ($is_fixed && $mask & 0xffffffff)),
		('fixed') x !!($is_fixed && $mask >> (FIXED + @fixed_select)),
		('select') x !!(!$is_fixed && !on($event->{EventCode})),
	);
}

sub causes_amd {
	my ($event) = @_;
	my $code = value($event->{EventCode});

	return (
		('digits') x !!(grep { defined $_ && !/^(?:0x[\da-f]+|\d+)$/i } @$event{qw(UMask EventCode)}),
		('unknown') x !!(grep { !/$harmless/ && !/$meaningful_amd/ && on($event->{$_}) } keys %$event),
		('wide') x !!($code >> 12 || grep { value($_) > 255 } @$event{qw(UMask CounterMask)}),
		('wide') x !!(grep { ($event->{$_} // 0) > 1 } qw(Invert EdgeDetect)),
		('paired') x !!($code == 3 || $code == 0xfff),
	);
}

# The number by the table.
sub config_riscv {
	my ($event) = @_;

	return $event->{ConfigCode} // $event->{EventCode} // 0;
}

sub causes_riscv {
	my ($event) = @_;
	my $code = config_riscv($event);

	return 'digits' unless $code =~ /^(?:0x[\da-f]+|\d+)$/i;
	return 'firmware' if value($code) >> 63;
	return (
		('unknown') x !!(grep { !/$harmless|$meaningful_riscv/ && on($event->{$_}) } keys %$event),
		('wide') x !!(value($code) >> 48),
		('none') x !value($code),
	);
}

# Event select and counters by the table.
sub registers {
	my ($event, $table) = @_;
	my $mask = listed($event->{Counter}, $table);

	if ($mask >> FIXED) {
		my ($counter) = grep { $mask >> (FIXED + $_) == 1 } 0 .. $#fixed_select;

		return (USR | OS | $fixed_select[$counter], $mask);
	}
	my $code = value($event->{EventCode});
	my $select = USR | OS | ($code & 0xff) | $code >> 8 << 32 | value($event->{UMask}) << 8 |
		value($event->{CounterMask}) << 24;
	$select |= INV if on($event->{Invert});
	$select |= EDGE if on($event->{EdgeDetect});
	return ($select, $table =~ / (amd\w+)/ ? (1 << $generic{$1}) - 1 : $mask);
}

# ---------------------------------------------------------------- the strings

my %shift = (event => 0, umask => 8, cmask => 24, inv => 23, edge => 18);
my $order = 'event umask cmask inv edge';

# Event select and counters of a string, or what is wrong with it.
sub decode {
	my ($string, $all) = @_;
	my ($terms, $modifiers, $set) = $string =~ m{^cpu/([a-z0-9=,]+)/(?::(u|k|uk|ku))?(?:\@([a-z0-9+-]+))?$}
		or return 'it is no event';
	my ($select, $mask, @seen) = (0, 0);

	for (split /,/, $terms) {
		my ($key, $number) = /^(event|umask|cmask)=0x(0|[1-9a-f][0-9a-f]?)$/ ? ($1, hex $2) :
			/^(event)=0x([1-9a-f][0-9a-f]{2})$/ ? ($1, hex($2) & 0xff | hex($2) >> 8 << 32) :
			/^(inv|edge)=1$/ ? ($1, 1) : return "term $_";

		return "term $_ says nothing" unless $number || $key eq 'event';
		$select |= $number << $shift{$key};
		push @seen, $key;
	}
	my $pattern = join ' (?:\w+ )*?', @seen;
	return "terms @seen" unless "$order " =~ /^$pattern /;
	$select |= USR if !defined $modifiers || $modifiers =~ /u/;
	$select |= OS if !defined $modifiers || $modifiers =~ /k/;
	for (split /\+/, $set // '') {
		my ($kind, $first, $last) = /^(gp|fixed)(\d+)-(\d+)$/ or return "$_ is no range";

		return "$_ is no range" if $first > $last;
		$mask |= 1 << ($_ + ($kind eq 'gp' ? 0 : FIXED)) for $first .. $last;
	}
	return 'the constraint is all counters' if $mask == $all;
	return (undef, $select, $mask || $all);
}

# The module's parser on the host, in tests/fuzz/.
sub build_parser {
	my ($architecture) = @_;
	my @sources = ("$top/tests/fuzz/parse_lines.c", "$top/events/pmu_parse.c", "$top/events/pmu_encode.c");
	my @include = map { "-I$top/$_" } "events/$architecture", "arch/$architecture",
		qw(tests/fuzz events arch .);
	my (undef, $errors, $status) = run(qw(gcc -O2 -Wall -Wextra -Wno-missing-field-initializers -funsigned-char),
		@include, @sources, '-o', "$work/parse_$architecture");

	die "pmu-events.pl: $errors" if $status;
}

# What it makes of these strings: of each "SELECT COUNTERS MODES", or "refused: REASON".
sub module_reads {
	my ($architecture, @strings) = @_;
	my %reads;

	spill("$work/strings", join '', map { "$_\n" } @strings);
	my ($output) = run('sh', '-c', "'$work/parse_$architecture' < '$work/strings'");
	@reads{@strings} = split /\n/, $output;
	return \%reads;
}

# ---------------------------------------------------------------- to compare

# What is wrong with a line of the tool's.
sub complain {
	my ($event, $table, $all, $with_register, $what, $text, $module) = @_;
	my @causes = causes($event, $table, $with_register);

	if ($what eq 'refused') {
		return 'is refused, without a cause' unless @causes;
		return (grep { $text =~ $says{$_} } @causes) ? () : "is refused for another reason than @causes: $text";
	}
	return "is encoded, but: @causes" if @causes;
	return complain_riscv($event, $text, $module) if is_riscv($table);
	my ($wrong, $select, $mask) = decode($text, $all);
	return "$text: $wrong" if defined $wrong;
	my ($want_select, $want_mask) = registers($event, $table);
	return sprintf '%s is %#x on %#x, and should be %#x on %#x', $text, $select, $mask, $want_select, $want_mask
		if $select != $want_select || $mask != $want_mask;
	my $want_module = ($select & ~(USR | OS)) . ' ' . ($mask == $all ? 0 : $mask) . ' u k';
	return "$text is $module to the module, and should be $want_module" if $module ne $want_module;
	return;
}

sub complain_riscv {
	my ($event, $text, $module) = @_;
	my $want = value(config_riscv($event));
	my $want_module = "$want 0 u k";
	my ($digits) = $text =~ m{^cpu/event=0x([1-9a-f][0-9a-f]{0,11})/$} or
		return "$text is no event of 48 bits";

	return sprintf '%s should be %#x', $text, $want if hex $digits != $want;
	return "$text is $module to the module, and should be $want_module" if $module ne $want_module;
	return;
}

# compare TOOL TABLE [COUNT]: the complaints about all of the table's events. COUNT
# gets how many were encoded and refused, by reason.
sub compare {
	my ($tool, $table, $count) = @_;
	my ($kernel, $model, $unit) = parts($table);
	my $all = (1 << ($generic{$unit ? "$model/$unit" : $model} // 0)) - 1;
	my @events = grep { !$unit || !core($_) || $_->{Unit} eq $unit } raw_events($kernel, $model);
	my %with_register = map { $_ => 1 } map { keys_of($_) } grep { core($_) && has_register($_) } @events;
	my ($output, $errors, $status) = run($tool, arguments($table), 'encode', '--all');
	my @complaints = ($errors) x !!length $errors;
	my $module = module_reads(is_riscv($table) ? 'riscv' : 'x86',
		$output =~ /^[^\t]+\tencoded\t([^\t\n]+)$/mg);
	my %waiting;

	push @complaints, "exit status $status" if $status;
	push @{$waiting{$_->{EventName}}}, $_ for @events;
	for (split /\n/, $output) {
		my ($name, $what, $text) = /^([^\t]+)\t(encoded|refused)\t([^\t]+)$/ or return "a line is '$_'";
		my $event = shift @{$waiting{$name} // []} or return "$name is in no table";

		push @complaints, map { "$name $_" } complain($event, $table, $all, \%with_register, $what, $text,
			$module->{$text} // 'nothing');
		$count->{$what eq 'encoded' ? $what : (grep { $text =~ $says{$_} } sort keys %says)[0] // 'other'}++;
	}
	push @complaints, map { "$_ is not there" } grep { @{$waiting{$_}} } sort keys %waiting;
	push @complaints, 'there are no events' unless @events;
	return @complaints;
}

sub test_table {
	my ($tool, $table) = @_;
	my %count;
	my @complaints = compare($tool, $table, \%count);
	my $encoded = delete $count{encoded} // 0;

	result("the events of $table", @complaints);
	print "#   $encoded encoded; refused: ", join(', ', map { "$count{$_} $_" } sort keys %count) || 'none', "\n";
	return ($encoded, \%count);
}

sub test_known {
	my ($tool) = @_;

	for (grep { is_here($_->[0]) } @known) {
		my ($table, $name, $want) = @$_;
		my ($output, $errors, $status) = run($tool, arguments($table), 'encode', $name);
		my $right = ref $want ? $status == 1 && $output eq '' && $errors =~ /^pmu-events: \Q$name\E: .*$want.*\n\z/ :
			$status == 0 && $output eq "$want\n" && $errors eq '';

		result("$name of $table", $right ? () : "$output$errors" =~ s/\n/ /gr . "(exit status $status)");
	}
}

sub test_cpus {
	my ($tool) = @_;
	my @wrong;

	for (@cpus) {
		my ($cpu, $model) = @$_;
		my (undef, $errors) = run($tool, '--cpu', $cpu, 'encode', 'X');

		push @wrong, "$cpu: $errors" unless $errors =~ /in the tables of \Q$model\E;/;
	}
	result("CPUs by perf's name", @wrong);
}

# This machine's CPU, by a file that stands for /proc/cpuinfo.
sub test_cpuinfo {
	my $text = slurp("$top/scripts/pmu-events");
	my $times = $text =~ s{"/proc/cpuinfo"}{"$work/cpuinfo"}g;
	my $tool = copy_tool($text);
	my @wrong = ("it reads /proc/cpuinfo $times times") x ($times != 1);

	for (@cpuinfo) {
		my ($cpuinfo, $want) = @$_;

		spill("$work/cpuinfo", $cpuinfo);
		my (undef, $errors, $status) = run($tool, qw(encode X));
		my $right = ref $want ? $status == 2 && $errors =~ /^[^\n]*$want[^\n]*\n\z/ :
			$status == 1 && $errors =~ /in the tables of \Q$want\E;/;
		push @wrong, $errors unless $right;
	}
	result("this machine's CPU", @wrong);
}

sub test_bad {
	my ($tool) = @_;

	for (@bad) {
		my ($arguments, $want, $line) = @$_;
		my ($output, $errors, $status) = run($tool, split / /, $arguments);
		my $right = $output eq '' && $errors =~ /^[^\n]*$line[^\n]*\n\z/ && $status == $want;

		result("bad usage: pmu-events $arguments", $right ? () : "$output$errors" =~ s/\n/ /gr . "(exit status $status)");
	}
}

# A name that is refused does not keep the others from being encoded. This is the
# tool itself, where it is: it has to find the tables.
sub test_mixed {
	my ($tool) = @_;
	my ($output, $errors, $status) = run($tool, qw(--cpu GenuineIntel-6-5E-3 encode INST_RETIRED.ANY NO_SUCH.EVENT
		CPU_CLK_UNHALTED.THREAD_ANY BR_INST_RETIRED.ALL_BRANCHES:k));
	my $right = $status == 1 && $output eq "cpu/event=0xc0/\@fixed0-0\ncpu/event=0xc4/:k\@gp0-3\n" &&
		$errors =~ /^pmu-events: NO_SUCH.*\npmu-events: CPU_CLK_UNHALTED.*\n\z/;

	result('names that are refused among others', $right ? () : "$output$errors (exit status $status)");
	(undef, $errors, $status) = run($tool, qw(--kernel six --cpu skylake list));
	$right = $status == 1 && $errors =~ /^[^\n]*no source is called six[^\n]*\n\z/;
	result('a kernel that is not there', $right ? () : $errors);
}

sub test_list {
	my ($tool) = @_;
	my @core = grep { core($_) } raw_events('6.12', 'skylake');
	my ($output) = run($tool, qw(--cpu skylake list));
	my ($found) = run($tool, qw(--cpu skylake search), '^rs_events.*end$');
	my ($described) = run($tool, '--cpu', 'skylake', 'search', 'RETIRED load');
	my @cpu = grep { !/^FW_/ } map { $_->{EventName} } raw_events('6.12', 'sifive/u74');
	my ($riscv) = run($tool, qw(--cpu sifive/u74 list));
	my ($json, undef, $status) = run($tool, qw(--cpu skylake --json encode INST_RETIRED.ANY X));

	my @listed = sort map { /^([^\t]+)\t./ } split /\n/, $output;
	my @wanted = sort map { $_->{EventName} } @core;
	result('list has all events of the core', "@listed" eq "@wanted" ? () : "@listed");
	@listed = sort map { /^([^\t]+)\t./ } split /\n/, $riscv;
	@wanted = sort @cpu;
	result("list has all events of a RISC-V CPU, and none of the firmware",
		@wanted && "@listed" eq "@wanted" ? () : "@listed");
	result('search in names', $found =~ /^RS_EVENTS\.EMPTY_END\t[^\n]+\n\z/ ? () : $found);
	my $right = $described =~ /retired load/i && $described !~ /RETIRED load/;
	result('search in descriptions, in any case', $right ? () : $described);
	my $rows = JSON::PP->new->decode($json);
	result('--json', $rows->[0]{string} eq 'cpu/event=0xc0/@fixed0-0' && !$rows->[1]{encoded} &&
		$rows->[1]{reason} =~ /no such event/ && $status == 1 ? () : $json);
}

# %generic, by the longest list in tables that also tell of hyperthreading off.
sub test_generic {
	my @wrong;

	return unless is_here('6.1');
	for my $dir (grep { -d && !m{/amd} } glob tables_of('6.1', 'x86') . '/*') {
		my ($model) = $dir =~ m{([^/]+)$};
		my %longest;

		for (raw_lines($dir)) {
			my ($list, $unit) = @$_;

			$longest{$unit ? "$model/$unit" : $model} = max($longest{$unit ? "$model/$unit" : $model} // 0,
				grep { $_ <= FIXED } map { $_ + 1 } split /,/, $list);
		}
		push @wrong, map { "$_ has $longest{$_}" } grep { $longest{$_} != ($generic{$_} // 0) } sort keys %longest;
	}
	result("counters are as many as the longest list of 6.1's tables has", @wrong);
}

# Lists of counters and their units, by the text alone: JSON::PP takes its time.
sub raw_lines {
	my ($dir) = @_;
	my @lists;

	for (grep { !m{/uncore-|metric} } glob "$dir/*.json") {
		for my $object (split /\}/, slurp($_)) {
			my ($unit) = $object =~ /"Unit": "(\w+)"/;

			push @lists, map { [ $_, $unit ] } $object =~ /"Counter(?:HTOff)?": "([\d,]+)"/g;
		}
	}
	return @lists;
}

# A kernel's source with three tables, of @invented, @invented_amd and @invented_riscv.
sub invent {
	my ($x86, $riscv) = map { tables_of('invented', $_) } qw(x86 riscv);

	make_path("$x86/invented", "$x86/amdinvented", "$riscv/invented/rv", "$work/scripts");
	spill("$x86/mapfile.csv", "Family-model,Version,Filename,EventType\n" .
		"GenuineIntel-6-FF,v1,invented,core\nAuthenticAMD-99-1,v1,amdinvented,core\n");
	spill("$riscv/mapfile.csv", "# of no CPU\n#MVENDORID-MARCHID-MIMPID,Version,Filename,core\n" .
		"0x1-0x2-0x[[:xdigit:]]+,v1,invented/rv,core\n");
	invent_table("$x86/invented", { Counter => '0,1,2,3', EventCode => '0xc2', UMask => '0x1' },
		@invented);
	invent_table("$x86/amdinvented", { EventCode => '0xc2' }, @invented_amd);
	invent_table("$riscv/invented/rv", { EventCode => '0x123456789abc' }, @invented_riscv);
	spill("$riscv/invented/rv/firmware.json", JSON::PP->new->encode(\@naming_riscv));
	spill("$riscv/standard.json", JSON::PP->new->encode(\@standard_riscv));
}

sub invent_table {
	my ($path, $usual, @events) = @_;
	my $n = 0;

	@events = map { { EventName => 'INVENTED.' . $n++, %$usual, %$_ } } @events;
	spill("$path/core.json", JSON::PP->new->encode(\@events));
}

# A copy of the tool with another text, which finds all tables where they are here.
sub copy_tool {
	my ($text) = @_;

	spill("$work/scripts/pmu-events", $text);
	chmod 0755, "$work/scripts/pmu-events";
	return "$work/scripts/pmu-events";
}

# Stands for scripts/lab-source, and does not ask each time whether there is a newer
# one.
sub stub_source {
	my @cases = map { "$_) echo " . (tables_of($_, 'x86') =~ s{/tools/.*}{}r) . ' ;;' }
		@kernels, 'invented';

	spill("$work/scripts/lab-source", join "\n", '#!/bin/sh', 'case $1 in', @cases, "esac\n");
	chmod 0755, "$work/scripts/lab-source";
}

sub test_mutants {
	for (grep { is_here($_->[3]) } @mutants) {
		my ($what, $from, $to, $table) = @$_;
		my $text = slurp("$top/scripts/pmu-events");
		my $times = $text =~ s/\Q$from\E/$to/g || 0;
		my @complaints = compare(copy_tool($text), $table);

		result("noticed: $what", $times != 1 ? "the text to break is there $times times" : @complaints ? () : $table);
		print "#   $complaints[0]\n" if @complaints;
	}
}

sub all_tables {
	my @all;

	for my $kernel (reverse @kernels) {
		push @all, riscv_tables($kernel);
		for my $dir (grep { -d } glob tables_of($kernel, 'x86') . '/*') {
			my ($model) = $dir =~ m{([^/]+)$};
			my @units = grep { /^\Q$model\E\// } sort keys %generic;

			push @all, map { "$kernel $_" } @units ? @units : $model;
		}
	}
	return @all;
}

die "usage: tests/pmu-events.pl [all]\n" if @ARGV > 1 || (@ARGV && $ARGV[0] ne 'all');
$| = 1;
@tables = grep { is_here($_) } @tables;
@tables = @ARGV ? all_tables() : (@tables, map { riscv_tables($_) } @kernels);
build_parser($_) for qw(x86 riscv);
invent();
stub_source();
my $tool = copy_tool(slurp("$top/scripts/pmu-events"));
my ($encoded, %refused) = (0);
for (@tables) {
	my ($some, $count) = test_table($tool, $_);

	$encoded += $some;
	$refused{$_} += $count->{$_} for keys %$count;
}
print "# in all: $encoded encoded; refused: ", join(', ', map { "$refused{$_} $_" } sort keys %refused), "\n";
test_table($tool, "invented $_") for 'invented', 'amdinvented', 'invented/rv';
test_generic();
test_known($tool);
test_cpus($tool);
test_mixed("$top/scripts/pmu-events");
test_list($tool);
test_bad($tool);
test_cpuinfo();
test_mutants();
print "1..$number\n";
exit $failed;
