#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fleet.py URL DIR COMMAND...: for tests/fleet: what Prometheus at URL says, and what the guests
have counted, whose rows are in DIR/NAME.LIFE.rows. Exits with 1, and says why, if it is not so:

  scraped NAME N [LIFE]   N scrapes have counters of that guest, and of that life of it
  exact NAME              each scrape has what the guest had counted after one of its samples
  last NAME               the last scrape has the file that the guest had at its end
  rates NAME              rate() and irate(), now, are those of the guest's own counts
  recorded NAME           so is what the rules recorded of it in the last half minute
  recorded_job            likewise of the job web, a and b together
  gap NAME                so is increase() over the time in which the guest was away
  no_spike NAME           no rate() in any window is above the largest between two scrapes
  up NAME                 it was up, then down, then up
  is EXPR VALUE           EXPR has one value, this one
  between EXPR LOW HIGH   one value, that is between these
  none EXPR               no value

Example: tests/fleet.py http://127.0.0.1:9090 /tmp/fleet is 'sum(up)' 3
"""
import csv
import glob
import itertools
import json
import sys
import time
import urllib.parse
import urllib.request

# Times are in ms, as Prometheus has them: sums of seconds would not be exact.
RANGE = 10000
# What was scraped so shortly before may not have been there yet.
ON_ITS_WAY = 1200
EVENTS = "my_pmu_events_total"
RUNNING = "my_pmu_running_seconds_total"
ENABLED = "my_pmu_enabled_seconds_total"
UNKNOWN = "my_pmu_unknown_samples_total"
MISSED = "my_pmu_missed_samples_total"
LOST = ("my_pmu_lost_rows_total", None, None)


class Wrong(Exception):
    """What is not as it must be."""


def must(condition, *what):
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


def ms(seconds):
    return round(float(seconds) * 1000)


def now():
    return ms(time.time())


def same(got, wanted, *what):
    must(abs(got - wanted) <= 1e-9 * abs(wanted), *what, "is", got, "and must be", wanted)


# ---------------------------------------------------------------- the guests' own counts

def parse_file(lines):
    """Values by (metric, cpu, event) of lines of my_pmu.prom."""
    values = {}
    for line in lines:
        if line.startswith("#"):
            continue
        name, _, rest = line.partition("{")
        if not rest:
            name, value = line.split()
            values[name, None, None] = float(value)
            continue
        labels, value = rest.rsplit("} ", 1)
        labels = dict(label.split("=", 1) for label in labels.split(","))
        cpu = labels.get("cpu")
        values[name, cpu and cpu.strip('"'), labels["event"].strip('"')] = float(value)
    return values


class Life:
    """Of a guest, from its boot to its end: what it had counted after each sample, which begins
    with what was on its disk."""

    def __init__(self, path, sums):
        with open(path, encoding="utf-8") as text:
            lines = text.read().split("\n")[:-1]
        self.found = [line[6:] for line in lines if line.startswith("found ")]
        self.last = parse_file([line[5:] for line in lines if line.startswith("last ")])
        self.states = [parse_file(self.found)] if self.found else []
        # Time in ns: sums of floats would be others.
        total = {key: round(value * 1e9) if key[0] in (RUNNING, ENABLED) else int(value)
                 for key, value in (self.states[0] if self.found else {}).items()}
        rows = csv.DictReader(line for line in lines if line[:5] not in ("found", "last ")
                              and not line.startswith("#"))
        for _, sample in itertools.groupby(rows, lambda row: row["sample"]):
            for row in sample:
                must(None not in row.values(), path, "has half a row", row)
                self.add(total, row, None if sums else row["cpu"])
            total.setdefault(LOST, 0)
            self.states.append({key: float(f"{value // 10**9}.{value % 10**9:09}")
                                if key[0] in (RUNNING, ENABLED) else float(value)
                                for key, value in total.items()})

    @staticmethod
    def add(total, row, cpu):
        for name, value in ((EVENTS, int(row["growth"] or 0)), (RUNNING, int(row["running_ns"])),
                            (ENABLED, int(row["enabled_ns"])), (UNKNOWN, int(not row["growth"])),
                            (MISSED, int(row["missed"]))):
            key = name, cpu, row["event"]
            total[key] = total.get(key, 0) + value


class Guest:
    """Its lives, and for each scrape what the guest had counted then."""

    def __init__(self, server, directory, name):
        self.name = name
        scrapes = {}
        for series in server.query(f'{{__name__=~"my_pmu_.+",instance="{name}"}}[1h]',
                                   now() - ON_ITS_WAY):
            labels = series["metric"]
            key = labels["__name__"], labels.get("cpu"), labels.get("event")
            for when, value in series["values"]:
                scrapes.setdefault(ms(when), {})[key] = float(value)
        self.scrapes = dict(sorted(scrapes.items()))
        # What a guest prints may come later than what is scraped.
        for tries in range(5):
            paths = sorted(glob.glob(f"{directory}/{name}.[0-9].rows"))
            must(paths, "there are no rows of", name)
            self.lives = [Life(path, name == "b") for path in paths]
            try:
                self.place = self.find_places()
                break
            except Wrong:
                if tries == 4:
                    raise
                time.sleep(1)
        self.times = list(self.place)

    def find_places(self):
        """By time: the life and the sample of it that a scrape has. It must have all series
        of that state, exactly, and none other, and not go back."""
        states = [(life, n) for life, one in enumerate(self.lives) for n in range(len(one.states))]
        place, at = {}, 0
        for when, values in self.scrapes.items():
            while at < len(states) and self.state(states[at]) != values:
                at += 1
            if at == len(states):
                raise Wrong(f"{self.name}: the scrape at {when} is no state of the guest: {values};"
                            f" the last one that was found: {place and list(place.items())[-1]}")
            place[when] = states[at]
        return place

    def state(self, place):
        return self.lives[place[0]].states[place[1]]

    def own(self, when, key):
        return self.state(self.place[when])[key]

    def increase(self, times, key):
        """Of a counter: one that is new counts from 0."""
        total = 0
        for before, after in zip(times, times[1:]):
            old, new = self.own(before, key), self.own(after, key)
            total += new - old if new >= old else new
        return total

    def rate(self, times, begin, end, key):
        """As Prometheus has it: what is between the first and the last scrape of a window, and
        as much for the rest of it, or for half the time between two if it is more than that. It
        does not go back to before the counter, at this rate, would have been 0."""
        increase = self.increase(times, key)
        sampled = times[-1] - times[0]
        mean = sampled / (len(times) - 1)
        before = times[0] - begin
        if increase > 0:
            before = min(before, sampled * self.own(times[0], key) / increase)
        rest = [d if d < 1.1 * mean else mean / 2 for d in (before, end - times[-1])]
        return increase * (sampled + sum(rest)) / sampled * 1000 / (end - begin)

    def window(self, end, length=RANGE):
        return [when for when in self.times if end - length <= when <= end]

    def keys(self, metric=EVENTS):
        return [key for key in self.state(self.place[self.times[-1]]) if key[0] == metric]


# ---------------------------------------------------------------- Prometheus

class Server:
    def __init__(self, url):
        self.url = url

    def get(self, path, **arguments):
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            reply = json.load(answer)
        must(reply["status"] == "success", url, reply)
        return reply["data"]["result"]

    def query(self, expression, when=None):
        return self.get("query", query=expression, time=(when or now()) / 1000)

    def value(self, expression, when=None):
        result = self.query(expression, when)
        must(len(result) == 1, expression, "has", len(result), "values:", result)
        return float(result[0]["value"][1])

    def selector(self, metric, guest, key):
        cpu = f',cpu="{key[1]}"' if key[1] else ""
        return f'{metric}{{instance="{guest.name}"{cpu},event="{key[2]}"}}'


# ---------------------------------------------------------------- the commands

def scraped(server, directory, name, count, life="1"):
    guest = Guest(server, directory, name)
    there = sum(place[0] == int(life) - 1 for place in guest.place.values())
    must(there >= int(count), name, "has", there, "scrapes")


def exact(server, directory, name):
    guest = Guest(server, directory, name)
    must(len({place for place in guest.place.values()}) >= 8, name, "does not go on:", guest.place)
    for life in guest.lives[1:]:
        must(not life.found or parse_file(life.found) in guest.lives[0].states,
             "what was on the disk is no state of the life before:", life.found)
    first, last = guest.state(guest.place[guest.times[0]]), guest.state(guest.place[guest.times[-1]])
    must(any(last[key] > first.get(key, 0) for key in guest.keys()), "nothing is counted")


def last_file(server, directory, name):
    guest = Guest(server, directory, name)
    wanted = guest.lives[-1].last
    must(wanted, name, "has not said what its file is")
    must(wanted in guest.lives[-1].states, "the file is no state of the guest:", wanted)
    got = guest.scrapes[guest.times[-1]]
    must(got == wanted, "the last scrape is", got, "and the file", wanted)


def settled(guest):
    """A time when the last scrape that is known was there."""
    return guest.times[-1] + 250


def rates(server, directory, name):
    guest = Guest(server, directory, name)
    # Now, and in windows that begin before the first scrape, between two, and at one.
    first, second, third = guest.times[:3]
    for end in settled(guest), first + RANGE - 500, second + RANGE - 500, third + RANGE:
        times = guest.window(end)
        must(len(times) > 5, "too few scrapes in the window:", times)
        positive = 0
        for key in guest.keys():
            selector = server.selector(EVENTS, guest, key)
            got = server.value(f"rate({selector}[{RANGE}ms])", end)
            same(got, guest.rate(times, end - RANGE, end, key), "rate of", key, "at", end)
            positive += got > 0
            got = server.value(f"irate({selector}[{RANGE}ms])", end)
            same(got, guest.increase(times[-2:], key) * 1000 / (times[-1] - times[-2]),
                 "irate of", key, "at", end)
        must(positive >= 3, "next to nothing is counted")


def wanted_of(guest, labels):
    """What a rule has recorded: for a window, from the guest's own counts."""
    record, event, cpu = labels["__name__"], labels.get("event"), labels.get("cpu")

    def keys(event, metric=EVENTS):
        return [key for key in guest.keys(metric)
                if key[2] == event and (cpu is None or key[1] == cpu)]

    def total(times, end, keys):
        return sum(guest.rate(times, end - RANGE, end, key) for key in keys)

    def ratio(above, below, scale=1):
        return lambda times, end: scale * total(times, end, above) / total(times, end, below)

    if ":my_pmu_ipc:" in record:
        return ratio(keys("instructions"), keys("cycles"))
    if ":my_pmu_misses:" in record:
        return ratio(keys(event), keys("instructions"), 1000)
    if ":my_pmu_running:" in record:
        return ratio(keys(event, RUNNING), keys(event, ENABLED))
    must(record.startswith("instance_event:my_pmu_events:"), "there is a rule", record)
    return lambda times, end: total(times, end, keys(event))


def windows(guest, end):
    """All scrapes of the window; then, one by one, without the last ones, which Prometheus may
    have stored only after it evaluated the rule."""
    times = guest.window(end)
    yield times
    while len(times) > 2 and end - times[-1] < ON_ITS_WAY:
        times = times[:-1]
        yield times


def one_of(got, all_wanted, *what):
    must(any(abs(got - wanted) <= 1e-9 * abs(wanted) for wanted in all_wanted), *what, "is", got,
         "and must be one of", all_wanted)


def recorded(server, directory, name):
    guest = Guest(server, directory, name)
    end = settled(guest)
    series = server.query(f'{{__name__=~"instance.*:my_pmu.*",instance="{name}"}}[30s]', end)
    names = {one["metric"]["__name__"] for one in series}
    # Of b none of its CPUs, of c no misses.
    must(len(names) == {"a": 7, "b": 4, "c": 5}[name], "these are recorded:", sorted(names))
    checked = set()
    for one in series:
        wanted = wanted_of(guest, one["metric"])
        for when, value in ((ms(when), value) for when, value in one["values"]):
            # With fewer, there may be none of what a ratio divides by.
            if len(guest.window(when)) < 5:
                continue
            checked.add(one["metric"]["__name__"])
            one_of(float(value), [wanted(times, when) for times in windows(guest, when)],
                   one["metric"], "at", when)
    must(checked == names, "there is too little to compare of", names - checked)


def recorded_job(server, directory):
    guests = [Guest(server, directory, name) for name in "ab"]
    end = min(settled(guest) for guest in guests)
    got = {}
    for one in server.query('{__name__=~"job.*:my_pmu.*",job="web"}[5s]', end):
        got[one["metric"]["__name__"], one["metric"].get("event")] = one["values"]
    must(len(got) == 4 + 1 + 1 + 4, "these are recorded:", sorted(got))

    def total(sets, event, when, metric=EVENTS):
        return sum(guest.rate(times, when - RANGE, when, key)
                   for guest, times in zip(guests, sets)
                   for key in guest.keys(metric) if key[2] == event)

    for (record, event), values in got.items():
        for when, value in ((ms(when), value) for when, value in values):
            must(all(len(guest.window(when)) >= 5 for guest in guests), "too few scrapes before", when)
            all_wanted = []
            for sets in itertools.product(*[windows(guest, when) for guest in guests]):
                if ":my_pmu_ipc:" in record:
                    wanted = total(sets, "instructions", when) / total(sets, "cycles", when)
                elif ":my_pmu_misses:" in record:
                    wanted = 1000 * total(sets, event, when) / total(sets, "instructions", when)
                elif ":my_pmu_running:" in record:
                    wanted = total(sets, event, when, RUNNING) / total(sets, event, when, ENABLED)
                else:
                    wanted = total(sets, event, when)
                all_wanted.append(wanted)
            one_of(float(value), all_wanted, record, event, "at", when)


def gap(server, directory, name):
    guest = Guest(server, directory, name)
    end = settled(guest)
    back = next(n for n, when in enumerate(guest.times) if guest.place[when][0] == 1)
    must(back >= 6, "there is too little before the gap")
    # A scrape is less than a second after the window's begin.
    length = (end - guest.times[back - 5]) // 1000 * 1000 + 1000
    times = guest.window(end, length)
    must(max(b - a for a, b in zip(times, times[1:])) > 5000, "there is no gap:", times)
    for key in guest.keys():
        got = server.value(f"increase({server.selector(EVENTS, guest, key)}[{length}ms])", end)
        same(got, guest.rate(times, end - length, end, key) * length / 1000, "increase of", key)


def no_spike(server, directory, name):
    guest = Guest(server, directory, name)
    end = settled(guest)
    for key in guest.keys():
        most = max(guest.increase([a, b], key) * 1000 / (b - a)
                   for a, b in zip(guest.times, guest.times[1:]))
        for length in (3, 5, 10, 60):
            expression = f"rate({server.selector(EVENTS, guest, key)}[{length}s])"
            result = server.get("query_range", query=expression, step=0.5,
                                start=guest.times[0] / 1000, end=end / 1000)
            got = [float(value) for _, value in result[0]["values"]]
            must(len(got) > 20, expression, "has few values")
            must(max(got) <= most * (1 + 1e-9), expression, "is up to", max(got),
                 "and what was counted between two scrapes up to", most)


def up(server, _, name):
    values = server.query(f'up{{instance="{name}"}}[1h]')[0]["values"]
    runs = [(value, [ms(when) for when, _ in run])
            for value, run in itertools.groupby(values, lambda one: one[1])]
    # Scrapes that take too long, on a busy host, are some zeros.
    was = [value for value, times in runs if value == "1" or times[-1] - times[0] > 4000]
    was = "".join(value for value, _ in itertools.groupby(was))
    # It was not there yet when Prometheus began.
    must(was.lstrip("0") == "101", "it was", was)


def is_value(server, _, expression, wanted):
    same(server.value(expression), float(wanted), expression)


def between(server, _, expression, low, high):
    got = server.value(expression)
    must(float(low) <= got <= float(high), expression, "is", got)


def none(server, _, expression):
    result = server.query(expression)
    must(not result, expression, "has", result)


COMMANDS = {"scraped": scraped, "exact": exact, "last": last_file, "rates": rates,
            "recorded": recorded, "recorded_job": recorded_job, "gap": gap, "no_spike": no_spike,
            "up": up, "is": is_value, "between": between, "none": none}


def main():
    if sys.argv[1:] in ([], ["-h"], ["--help"]):
        print(__doc__, end="")
        return 0
    if sys.argv[1].startswith("-") or len(sys.argv) < 4 or sys.argv[3] not in COMMANDS:
        print(f"fleet.py: there is no {' '.join(sys.argv[1:])}; --help says what there is",
              file=sys.stderr)
        return 2
    url, directory, command, *arguments = sys.argv[1:]
    try:
        COMMANDS[command](Server(url), directory, *arguments)
    except (Wrong, OSError, LookupError, ArithmeticError, StopIteration) as wrong:
        print(f"{command} {' '.join(arguments)}: {wrong!r}")
        return 1
    return 0


sys.exit(main())
