# SPDX-License-Identifier: GPL-2.0
# tools/my-pmu with the module: what it prints, and what it puts back however it ends.
#
# lab: vm --with perf --with jq
# lab: my-pmu
# lab: program loop10 loop INSTRUCTIONS=10000000
# in check: 6.1
# in sample, lab: 6.12
# shellcheck shell=dash disable=SC1091,SC2016 # lib.sh is beside it in the guest; conditions for eval
. /root/guest/lib.sh

# What is started here keeps off CPU 3, which is measured.
taskset -p 7 $$ > /dev/null
echo 1 > /sys/kernel/rcu_expedited
watchdog 1

# pmu SUBCOMMAND...: what it prints is in /tmp/out and /tmp/err
pmu() {
	my-pmu "$@" > /tmp/out 2> /tmp/err
	status=$?
}

# start SUBCOMMAND...: in the background, until it has printed a line
start() {
	: > /tmp/out
	my-pmu "$@" > /tmp/out 2> /tmp/err &
	tool=$!
	await '[ -s /tmp/out ] || ! kill -0 $tool'
}

# await CONDITION: 60 s at most
await() {
	await_tries=0
	until eval "$1" || [ $await_tries -ge 200 ]; do
		await_tries=$((await_tries + 1))
		sleep 0.3
	done
}

# all_back NAME: the module is away, the watchdog is on, nothing is noted
all_back() {
	is "$1: all is as before" "$(test -e /sys/module/my_pmu && echo loaded) $(cat \
		/proc/sys/kernel/nmi_watchdog /run/my-pmu/state | tr '\n' ' ')" ' 1 end '
}

# --- without the module
pmu stat -C 3 -- true
is "no module: refused" $status 1
has "no module: where it looked, what to type" "$(cat /tmp/err)" \
	"^my-pmu: there is no module my_pmu in /lib/modules/$(uname -r | tr + .): install it.*modprobe my_pmu.*--module PATH"
pmu stat --module /root/none.ko -C 3 -- true
has "no such file: says so" "$(cat /tmp/err)" 'no module my_pmu in /root/none.ko:'

watchdog 0
load cpu=3 interval=100 log=0
pmu doctor
is "loaded by insmod, not installed: doctor takes it" "$status $(grep -c WRONG /tmp/out)" '0 0'
has "and says what it is" "$(cat /tmp/out)" "^ok +my_pmu is loaded from a file; in /lib/modules/$(uname -r | tr + .) there is none\$"
has "and how to install it" "$(cat /tmp/out)" '^ +to install it: DKMS or the Debian packages'
has "and what to type next" "$(tail -n 1 /tmp/out)" 'Next: my-pmu stat -- sleep 1$'
pmu stat -- sleep 0.1
is "which is right" $status 0
pmu doctor --module /root/none.ko
has "a --module that is not there is WRONG all the same" "$status $(cat /tmp/out)" '^WRONG there is no module my_pmu in /root/none.ko'
unload
cp /root/my_pmu.ko "/lib/modules/$(uname -r)/"
ln -s "$(readlink /sbin/insmod)" /tmp/depmod
/tmp/depmod -a
watchdog 1

# --- doctor
pmu doctor --module /root/my_pmu.ko
is "doctor: it can count" $status 0
has "doctor: the PMU" "$(cat /tmp/out)" \
	'^ok +GenuineIntel: the architectural PMU, version 4: 8 generic counters of 48 bits, 3 fixed ones$'
has "doctor: the watchdog, and what to type" "$(cat /tmp/out)" 'note +the NMI watchdog has a counter'
has "doctor: what to type next" "$(tail -n 1 /tmp/out)" \
	'^my-pmu can count here. Next: my-pmu stat --module /root/my_pmu.ko -C 0 -- sleep 1$'

# --- perf has the PMU
perf stat -e cycles sh -c 'touch /tmp/counts; exec sleep 100' 2> /dev/null &
perf=$!
await '[ -e /tmp/counts ]'
pmu stat -C 3 -- true
is "perf has the PMU: refused" $status 1
has "perf has the PMU: the module's sentence" "$(cat /tmp/err)" 'my_pmu refuses: the PMU is in use'
has "perf has the PMU: which process" "$(cat /tmp/err)" \
	"process $perf \(perf\) has perf events open.*; end it: kill $perf"
all_back "perf has the PMU"
umount /sys/kernel/debug/tracing 2> /dev/null
umount /sys/kernel/debug
echo 'Broken BIOS detected' > /dev/kmsg
pmu doctor --module /root/my_pmu.ko
is "doctor: it does not need debugfs" "$status $(tail -n 1 /tmp/out | cut -d : -f 1)" \
	'0 my-pmu can count here. Next'
has "doctor: who has perf events open" "$(cat /tmp/out)" "process $perf \(perf\) has perf events open"
has "doctor: and how to end it" "$(cat /tmp/out)" "^ +end it: kill $perf\$"
has "doctor: firmware" "$(cat /tmp/out)" 'note +the firmware uses counters'
kill $perf
wait $perf 2> /dev/null
pmu stat -C 3 -- true
is "without debugfs: it counts all the same" $status 0
mount -t debugfs none /sys/kernel/debug

# --- stat
pmu stat -C 3 -e instructions:u,cycles:u -- taskset 8 sh -c '/root/loop10; exit 7'
is "stat: the command's status" $status 7
count=$(awk '$2 == "instructions:u" { print $1 }' /tmp/out)
expect "stat: the loop's instructions ($count), and few others" \
	[ "$count" -gt 10000000 -a "$count" -lt 10500000 ]
has "stat: IPC" "$(cat /tmp/out)" 'instructions:u +# +1\.00 insn per cycle$'
has "stat: the time" "$(cat /tmp/out)" '^ +[0-9]+\.[0-9]+ seconds time elapsed$'
has "stat: it says what it changes" "$(cat /tmp/err)" 'the NMI watchdog is off until my-pmu ends'
has "stat: and that it loads the module" "$(cat /tmp/err)" 'my_pmu is loaded until my-pmu ends \(-C 3'
is "stat: and that it has put both back" "$(tail -n 2 /tmp/err)" "my-pmu: my_pmu is unloaded again
my-pmu: the NMI watchdog is on again (kernel.nmi_watchdog=1)"
all_back "stat"
pmu stat -C 3 -e '{instructions:u@gp0-1,cycles:u@gp0-1},{instructions:u@gp0-1,branches:u@gp0-1}' -- sleep 1
is "stat: an event that is in two groups that take turns has two lines" \
	"$(grep -c ' instructions:u ' /tmp/out)" 2

mkdir -p /etc/modprobe.d
echo 'options my_pmu freeze=0 interval=5000' > /etc/modprobe.d/my_pmu.conf
start stat -C 3 -e branches@gp0-1 -e cycles@gp0-1,instructions@gp0-1 -I 200
is "what modprobe.d says holds, and -I is stronger" \
	"$(cat /sys/module/my_pmu/parameters/freeze /sys/module/my_pmu/parameters/interval | tr '\n' ' ')" '0 200 '
rm /etc/modprobe.d/my_pmu.conf
await '[ "$(wc -l < /tmp/out)" -gt 6 ]'
has "stat: multiplexed events have their share of the time" "$(cat /tmp/out)" \
	' branches .* \([0-9.]+%\)$'
# Somebody else reads, too: this script.
exec 9< /sys/kernel/debug/my_pmu/samples
kill -INT $tool
wait $tool
is "SIGINT: it ends well" $? 0
has "a module that others use stays loaded, and that is said" "$(cat /tmp/err)" \
	'my_pmu stays loaded, .*: somebody else uses my_pmu'
exec 9<&-

# --- it is killed; meanwhile another one is refused
start stat -C 3 -e instructions@gp0 -I 200
has "the next one unloads it first" "$(cat /tmp/err)" \
	'an earlier my-pmu has left my_pmu loaded: it is unloaded now'
await 'grep -q instructions /tmp/out'
wrmsr -p 3 0x186 0
await 'grep -q stolen /tmp/out'
has "stat: what is not known is no number" "$(cat /tmp/out)" '<not known> +instructions +stolen$'
my-pmu stat -C 0 -- true 2> /tmp/err2
has "two at once: one line says who" "$(cat /tmp/err2)" \
	"^my-pmu: process $tool \(my-pmu\) is a my-pmu, too: .*end it first\$"
is "two at once: and no more" "$(wc -l < /tmp/err2)" 1
my-pmu doctor > /tmp/out2 2>&1
has "doctor: another my-pmu counts" "$(cat /tmp/out2)" "WRONG +process $tool is a my-pmu"
kill -KILL $tool
wait $tool 2> /dev/null
is "SIGKILL leaves the module, and the watchdog off" \
	"$(test -e /sys/module/my_pmu && echo loaded) $(cat /proc/sys/kernel/nmi_watchdog)" 'loaded 0'
pmu stat -C 9 -- true
has "the next one unloads it, whatever it does" "$(cat /tmp/err)" 'an earlier my-pmu has left my_pmu loaded: it is unloaded now'
has "and has the watchdog on" "$(cat /tmp/err)" 'watchdog is on again'
has "a refusal is the module's own sentence" "$(cat /tmp/err)" \
	"my_pmu refuses: cpu: '9': no such CPU; 0-3 are there"
all_back "SIGKILL"
start stat -C 3 -e instructions -I 200
kill -KILL $tool
wait $tool 2> /dev/null
rmmod my_pmu
insmod /root/my_pmu.ko cpu=3 counters=instructions interval=200 log=0
pmu doctor
has "SIGKILL: the same module, loaded anew by somebody else" "$(cat /tmp/out)" \
	'my_pmu is loaded \(cpu=3 counters=instructions interval=200\)'
has "SIGKILL: the watchdog waits for its end" "$(cat /tmp/err)" 'stays off: somebody has loaded my_pmu$'
rmmod my_pmu
pmu doctor
has "SIGKILL: then it is on again" "$(cat /tmp/err)" 'watchdog is on again'
all_back "SIGKILL, and another load"

# --- a command that does not end, a terminal that goes, a pipe to plot
start stat -C 3 -I 200 -- sh -c 'trap "" TERM; echo $$ > /tmp/pid; while :; do sleep 1; done'
await '[ -s /tmp/pid ]'
kill -INT $tool
sleep 1
expect "stat: it waits for a command that ignores SIGTERM" grep -q '^State:.S' "/proc/$tool/status"
kill -INT $tool
wait $tool
is "stat: a second signal kills the command" "$? $(test -e "/proc/$(cat /tmp/pid)" && echo there)" '137 '
all_back "a command that ignores SIGTERM"
start stat -C 3 -I 100
kill -HUP $tool
wait $tool
is "SIGHUP ends it well" $? 0
all_back SIGHUP
: > /tmp/out
(
	trap '' HUP
	exec my-pmu stat -C 3 -I 100 > /tmp/out 2> /tmp/err
) &
tool=$!
await '[ -s /tmp/out ]'
kill -HUP $tool
sleep 0.5
expect "with nohup it does not end it" [ -e /sys/module/my_pmu ]
kill -TERM $tool
wait $tool
my-pmu stat -C 3 --csv -- sleep 0.2 2> /tmp/err | my-pmu plot - -o /tmp/x.png 2> /tmp/err2
is "stat | plot: the plot does not take its place, and lacks only gnuplot" \
	"$(grep -c 'one at a time' /tmp/err) $(cat /tmp/err2)" \
	'0 my-pmu: gnuplot draws, and is not here: apt-get install gnuplot-nox'
all_back "stat | plot"

# --- export
# value_of EVENT: the first counter of the file, on CPU 3
value_of() {
	sed -n "s/^my_pmu_events_total{cpu=\"3\",event=\"$1\"} //p" /tmp/my_pmu.prom 2> /dev/null
}
my-pmu export --textfile /tmp -C 3 -I 200 > /tmp/out 2> /tmp/err &
tool=$!
await '[ "$(value_of cycles)" ]'
kill -TERM $tool
wait $tool
is "export: SIGTERM ends it well" $? 0
all_back SIGTERM
before=$(value_of instructions)
lines=$(wc -l < /tmp/my_pmu.prom)
# The load takes more than this; and now there is another event.
my-pmu export --textfile /tmp -C 3 -e instructions,branches -I 200 > /tmp/out 2> /tmp/err &
tool=$!
await '[ "$(value_of branches)" ]'
kill -KILL $tool
wait $tool 2> /dev/null
expect "export: the counter goes on from $before" [ "$(value_of instructions)" -gt "$before" ]
is "export: what is not counted now stays, what is new comes" "$(wc -l < /tmp/my_pmu.prom)" \
	$((lines + 5))
is "export: as Prometheus wants it" "$(grep -vcE \
	'^(# (HELP|TYPE) my_pmu_[a-z_]+_total .+|my_pmu_[a-z_]+_total\{cpu="3",event="[a-z]+"\} [0-9.]+|my_pmu_lost_rows_total [0-9]+)$' \
	/tmp/my_pmu.prom)" 0
echo 'node_load1 3' >> /tmp/my_pmu.prom
pmu export --textfile /tmp -C 3
has "export: a file of others is not overwritten" "$(cat /tmp/err)" \
	"/tmp/my_pmu.prom: line $((lines + 6)) is not from my-pmu export"
all_back "export"

# --- top, in a terminal of tmux
export LC_ALL=C.UTF-8
# await_screen REGEX: until a line of the screen, which is in /tmp/screen then, is like this
await_screen() {
	await 'tmux capture-pane -p > /tmp/screen; grep -qE -- '"'$1'"' /tmp/screen'
}
heads() {
	grep ^CPU /tmp/screen
}
# The first words of the lines from the heads to an empty one.
rows() {
	sed -n '/^CPU/,/^$/s/ .*//p' /tmp/screen | tr '\n' ' '
}
keys() {
	tmux send-keys "$@"
}
tmux -f /dev/null new-session -d -x 80 -y 12 \
	'TERM=screen my-pmu top -C 1-3 -I 200 2> /tmp/err; echo $? > /tmp/ended'
await_screen '^3  .* 1\.00'
sed 's/^/#  |/' /tmp/screen
is "top: a line for each CPU, and their sum" "$(rows)" 'CPU+ all 1 2 3 '
has "top: events, and what they allow" "$(heads)" 'instructions +cycles +IPC +GHz$'
has "top: keys" "$(cat /tmp/screen)" '^q quit  space pause '
keys r '>' Space
await_screen PAUSED
has "top: by instructions, the other order" "$(heads)" 'instructions-'
cp /tmp/screen /tmp/paused
sleep 0.5
await_screen PAUSED
expect "top: paused" cmp /tmp/paused /tmp/screen
keys Space '<' i
await_screen '^interval in ms: 200'
has "top: the old value is selected" "$(tmux capture-pane -p -e)" "^interval in ms: $(printf '\033')\[7m200"
has "top: and the last line says what to type" "$(cat /tmp/screen)" '^type a new one, or edit it with arrows and Backspace'
# 200, with the 0 in the middle away and a 5 there; one in front, and away.
keys Left BSpace 5 Home 7 Left DC End
await_screen '^interval in ms: 250$'
expect "top: an edited value is not selected" sh -c "! tmux capture-pane -p -e | grep -qE '^interval.*$(printf '\033')\[7m'"
keys Enter
await_screen 'every 250 ms'
keys e 'cycles,nothing' Enter
await_screen refused
has "top: a refused event has the module's sentence" "$(tr -d '\n' < /tmp/screen)" \
	"refused: .*no event 'nothing'; known are instructions, .*rUUEE"
await_screen '^3  .* 1\.00'
is "top: and goes on as before, by CPU in the other order" "$(rows)" 'CPU- all 3 2 1 '
tmux resize-window -x 36 -y 8
# Any key takes the sentence away.
keys Left
await 'tmux capture-pane -p > /tmp/screen; ! grep -q refused /tmp/screen'
is "top: of four lines three fit" "$(sed -n '/^CPU/,/^q/s/ .*//p' /tmp/screen | tr '\n' ' ')" 'CPU- all 3 2 q '
keys Right Down
await_screen '^CPU-<'
sed 's/^/#  |/' /tmp/screen
is "top: arrows show the rest" "$(heads | tr -s ' ') $(sed -n '/^CPU/,/^q/s/ .*//p' /tmp/screen | tr '\n' ' ')" \
	'CPU-< cycles IPC GHz CPU-< 3 2 1 q '
keys Left Up
keys e 'cycles' Enter i '100' Enter
await_screen 'every 100 ms'
await_screen '^CPU.*cycles.*GHz'
sed 's/^/#  |/' /tmp/screen
is "top: another event, on a narrow terminal" \
	"$(sed -n 's/^cpu3 .* counting //p' /sys/kernel/debug/my_pmu/counters)" cycles
# The samples of the module, which was not loaded anew.
dd if=/dev/my_pmu bs=1000000 count=1 2> /dev/null > /tmp/rows
is "top: and interval" "$(tail -n 1 /tmp/rows | awk -F , '{ print ($4 < 190e6) }')" 1
has "top: the module was not loaded anew" "$(cat /tmp/rows)" '"instructions"'
is "top: lines are cut, and stay their own" "$(head -n 2 /tmp/screen)" "my-pmu top - CPUs 1-3, every 100 ms,
cycles"
keys q
await '[ -e /tmp/ended ]'
is "top: q ends it" "$(cat /tmp/ended)" 0
all_back top
rm /tmp/ended
tmux -f /dev/null new-session -d -x 80 -y 12 \
	'trap : INT; TERM=screen my-pmu top -C 1 -I 100 2> /tmp/err; echo $? > /tmp/ended'
await_screen '^1  .* 1\.00'
keys i 0 Enter
await_screen refused
keys C-c
await '[ -e /tmp/ended ]'
is "top: Control-C ends it, and what was refused is not said again" \
	"$(cat /tmp/ended) $(grep -c refused /tmp/err)" '0 0'
all_back "top, by Control-C"

# --- somebody else has loaded it
watchdog 0
load cpu=2-3 counters=instructions,cycles interval=100
pmu stat --json -A -I 100 -- sleep 0.3
is "stat --json: each line is an object, for each CPU and event" \
	"$(jq -r '"\(.cpu) \(.event) \(."counter-value" > 0) \(."pcnt-running") \(.interval > 0)"' /tmp/out | sort -u)" \
	"2 cycles true 100 true
2 instructions true 100 true
3 cycles true 100 true
3 instructions true 100 true"
has "loaded already: it says so" "$(cat /tmp/err)" \
	'loaded already \(-C 2-3 -e instructions,cycles -I 100\): it stays as it is'
pmu stat --csv -- sleep 0.3
is "stat --csv: the module's head line" "$(head -n 1 /tmp/out)" \
	"$(head -n 1 /sys/kernel/debug/my_pmu/samples)"
is "stat --csv: the total, for each CPU and event" "$(sed 1d /tmp/out | cut -d , -f 2,7 | tr '\n' ' ')" \
	'2,"instructions" 2,"cycles" 3,"instructions" 3,"cycles" '
pmu stat -- /root/no-such-command
is "stat: a command that does not exist" "$status $(tail -n 1 /tmp/err)" \
	'127 my-pmu: /root/no-such-command: No such file or directory'
# What the last one said must not be taken for this one's.
: > /tmp/err
my-pmu stat > /tmp/out 2> /tmp/err &
tool=$!
await 'grep -q "stays as it is" /tmp/err'
dmesg -c > /dev/null
await '[ "$(dmesg | grep -c "my_pmu: all ")" -ge 5 ]'
kill -INT $tool
wait $tool
is "stat: without a command the total until SIGINT" "$? $(grep -c ' instructions .* insn per cycle$' /tmp/out)" '0 1'
my-pmu stat -I 100 > /dev/full 2> /tmp/err
is "stat: a full disk ends it" "$? $(tail -n 1 /tmp/err)" '1 my-pmu: cannot write: No space left on device'
my-pmu stat -I 100 2> /tmp/err | head -n 3 > /tmp/out
is "stat: so does a reader who has enough, silently" "$(wc -l < /tmp/out) $(wc -l < /tmp/err)" '3 1'
my-pmu top > /dev/full 2> /tmp/err
is "top: a full disk ends it" "$? $(tail -n 1 /tmp/err)" '1 my-pmu: cannot write: No space left on device'
pmu top -n 2
is "top: without a terminal, tables of CPUs and their sum" "$status $(grep -c \
	'^CPU .* instructions .* IPC ' /tmp/out) $(grep -cE '^(all|2|3) .* 1\.00 ' /tmp/out)" '0 2 6'
# The module keeps samples; whoever is started anew has them already.
# exported: the seconds that are counted in one second by an export
exported() {
	rm -f /tmp/my_pmu.prom
	timeout 1 my-pmu export --textfile /tmp 2> /tmp/err
	sed -n 's/^my_pmu_enabled_seconds_total{cpu="2",event="cycles"} \([0-9]*\).*/\1/p' /tmp/my_pmu.prom
}
expect "loaded already: an export counts nothing from before" [ "$(exported)" -le 1 ]
pmu stat -C 0 -- true
has "loaded already: with other CPUs it is refused" "$(cat /tmp/err)" 'loaded already .*: rmmod my_pmu, or leave'
expect "loaded already: it stays" unload

finish
